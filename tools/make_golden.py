"""Writes golden outputs of NanoDet-g's real weights: src/sparing/models/testdata/golden/.

    python make_golden.py MODELS_FOLDER VIDEO

Development only (needs onnxruntime and the ffmpeg program); run it again when the converted model
changes. MODELS_FOLDER holds nanodet-g.onnx, VIDEO is the sample video vtest.avi.

  nanodet_g.json  in the format of make_head_vectors.py; its tensors lie in nanodet_g.f32 (float32,
                  little-endian): the outputs for a part of one video frame, as ONNX Runtime gives
                  them, and the detections that reference_heads.py reads from them
  nanodet_g_probe.json
                  for a test of the whole network on any engine without any picture:
                  input_size   [width, height]
                  input        the value at channel c, row y, column x of the input tensor, as a
                               formula
                  outputs      {name: {"shape", "index": [flat indices], "value": [...]}}
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime

import make_head_vectors
import reference_heads as heads

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "src/sparing/models/testdata/golden"
FRAME = 60
CROP = (350, 168, 96, 96)  # x, y, width, height; three people
PROBE_SIZE = (96, 64)
THRESHOLD = 0.3


def read_frame(video, index):
    """One frame as (height, width, 3) BGR bytes."""
    command = ["ffmpeg", "-v", "error", "-i", video, "-vf", f"select=eq(n\\,{index})",
               "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "bgr24", "-"]
    raw = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(576, 768, 3)


def golden(run, manifest, picture):
    values = manifest["input"]
    tensor = (picture.astype(np.float32) - np.float32(values["mean"])) / np.float32(values["std"])
    outputs = run(tensor.transpose(2, 0, 1)[None])
    head = manifest["head"]
    size = picture.shape[1::-1]
    levels = [[outputs[name][0] for name in head["outputs"][role]]
              for role in ("scores", "distribution")]
    detections = heads.decode_nanodet(*levels, size, head["strides"], head["reg_max"],
                                      head["cell_offset"], head["score_activation"], THRESHOLD)
    make_head_vectors.check_margins(detections, "golden", 1e-4)
    tensors, offset = [], 0
    for name, array in outputs.items():
        tensors.append({"name": name, "shape": list(array.shape), "data": "nanodet_g.f32",
                        "offset": offset})
        offset += array.size
    kept = {mode: heads.nms(detections, manifest["iou_threshold"], mode == "class_aware")
            for mode in ("class_aware", "class_agnostic")}
    content = {"case": "nanodet_g", "input_size": list(size), "classes": len(manifest["labels"]),
               "head": head, "score_threshold": THRESHOLD,
               "iou_threshold": manifest["iou_threshold"], "tensors": tensors,
               "detections": make_head_vectors.rounded(detections),
               "kept": {mode: make_head_vectors.rounded(d) for mode, d in kept.items()}}
    return content, b"".join(np.ascontiguousarray(a, "<f4").tobytes() for a in outputs.values())


def probe(run):
    width, height = PROBE_SIZE
    c, y, x = np.ogrid[:3, :height, :width]
    tensor = ((7 * x + 13 * y + 29 * c + x * y) % 97 / np.float32(48) - 1).astype(np.float32)
    outputs = {}
    for name, array in run(tensor[None]).items():
        flat = array.reshape(-1)
        picks = sorted({*np.linspace(0, flat.size - 1, 8).astype(int), *np.argsort(flat)[-4:]})
        outputs[name] = {"shape": list(array.shape), "index": [int(i) for i in picks],
                         "value": make_head_vectors.shortest(flat[picks])}
    return {"input_size": list(PROBE_SIZE),
            "input": "((7 * x + 13 * y + 29 * c + x * y) % 97) / 48 - 1", "outputs": outputs}


def main(arguments):
    models, video = arguments
    manifest = json.loads((HERE.parent / "models/nanodet-g.json").read_text(encoding="utf-8"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # sums in one order
    session = onnxruntime.InferenceSession(str(pathlib.Path(models, manifest["file"])), options,
                                           providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]

    def run(tensor):
        return dict(zip(names, session.run(names, {"input": np.ascontiguousarray(tensor)})))

    x, y, width, height = CROP
    picture = read_frame(video, FRAME)[y:y + height, x:x + width]
    content, data = golden(run, manifest, picture)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "nanodet_g.f32").write_bytes(data)
    make_head_vectors.write(FOLDER, content)
    (FOLDER / "nanodet_g_probe.json").write_text(
        json.dumps(probe(run)).replace('{"shape"', '\n{"shape"') + "\n", encoding="utf-8")
    for mode, detections in content["kept"].items():
        print(mode, len(content["detections"]), "->", len(detections), detections)


if __name__ == "__main__":
    main(sys.argv[1:])
