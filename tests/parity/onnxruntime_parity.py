"""Our float32 boxes against ONNX Runtime's, on the sample video.

The program writes its boxes and the tensors its network saw; ONNX Runtime runs the same model on these
tensors, and tools/reference_heads.py decodes the outputs independently. At least 99 % of the
detections above 0.3, of either side, must have a partner of the same class within 1 px and 0.01.
"""

import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "tools")]

import sparing_testing as st

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error} (scripts/setup --test)")
    sys.exit(77)

import reference_heads

SCORE, NMS_IOU, STRIDES, REG_MAX = 0.3, 0.6, (8, 16, 32), 10


def reference_boxes(session, tensor, frame_size):
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, {session.get_inputs()[0].name: tensor})))
    height, width = tensor.shape[2:]
    # A lower threshold than the comparison's, so that rounding decides nothing.
    found = reference_heads.decode_nanodet(
        [outputs[f"scores_{s}"][0] for s in STRIDES],
        [outputs[f"distribution_{s}"][0] for s in STRIDES],
        (width, height), STRIDES, REG_MAX, 0.5, threshold=SCORE - 0.02)
    sx, sy = frame_size[0] / width, frame_size[1] / height
    return [(d[0] * sx, d[1] * sy, d[2] * sx, d[3] * sy, d[4], d[5])
            for d in reference_heads.nms(found, NMS_IOU)]


def has_partner(box, others):
    return any(o[5] == box[5] and abs(o[4] - box[4]) <= 0.01
               and max(abs(a - b) for a, b in zip(o[:4], box[:4])) <= 1 for o in others)


def compare(session, size, frames):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = st.sparing("detect", st.SAMPLE, "--precision", "f32", "--size", size,
                         "--score", SCORE - 0.02, "--max-frames", frames, "--quiet",
                         "--out", folder / "boxes.jsonl", "--dump-inputs", folder / "inputs")
        assert run.returncode == 0, run.stderr
        lines = st.read_jsonl(folder / "boxes.jsonl")
        assert len(lines) == frames
        total = good = 0
        for line in lines:
            tensor = np.load(folder / "inputs" / f"{line['frame']:06d}.npy")
            ours = [(*d["box"], d["score"], d["class"]) for d in line["detections"]]
            theirs = reference_boxes(session, tensor, (line["width"], line["height"]))
            for one, other in ((ours, theirs), (theirs, ours)):
                counted = [box for box in one if box[4] >= SCORE]
                total += len(counted)
                good += sum(has_partner(box, other) for box in counted)
    share = good / total
    print(f"{size}: {good} of {total} detections agree ({100 * share:.2f} %), {frames} frames")
    return total > 0 and share >= 0.99


def main():
    st.skip_without_model_and_sample()
    session = onnxruntime.InferenceSession(str(st.model_file()), providers=["CPUExecutionProvider"])
    results = [compare(session, "768x576", 25), compare(session, "384x288", 100)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
