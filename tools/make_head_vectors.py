"""Writes the test vectors of the detection heads: src/sparing/models/testdata/heads/*.json.

    python make_head_vectors.py [FOLDER]

Development only; run it again after a change of reference_heads.py or of the head fields in
models/README.md. The bytes depend on nothing else.

One file is one case, a JSON object:
  case             its name, that of the file
  input_size       [width, height] of the network's input tensor
  classes          number of labels
  head             the "head" object of a manifest, as in models/README.md
  score_threshold, iou_threshold
  tensors          the raw outputs: [{"name", "shape", "data"}], data a flat list of float32 in C
                   order, or the name of a float32 file beside it, with "offset" in floats
  objects          the boxes that were encoded, [x0, y0, x1, y1, score, class], in tensor pixels
  detections       what the head gives before NMS, in the order of the outputs, decoded by
                   reference_heads.py from the tensors as written
  kept             {"class_aware": ..., "class_agnostic": ...}: after NMS, best score first
Compare boxes to 0.01 px and scores to 1e-4. No score and no overlap lies near its threshold, and
no two scores are equal, so both lists are safe to compare one by one.
"""

import itertools
import json
import pathlib
import sys

import numpy as np

import reference_heads as heads

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "src/sparing/models/testdata/heads"
CLASSES = 3
THRESHOLD = 0.3
IOU_THRESHOLD = 0.6
# (box, score, class, level, (column, row)) on 96x64: two objects, one seen by two cells more, one
# of another class on the same spot, one that reaches beyond the edge where the head can say so.
OBJECTS = (
    ((10.25, 8.5, 30.75, 40.0), 0.92, 0, 0, (2, 3)),
    ((11.0, 9.25, 31.5, 41.0), 0.81, 0, 0, (3, 3)),
    ((9.5, 8.0, 29.0, 39.0), 0.55, 0, 1, (1, 1)),
    ((10.75, 9.0, 31.0, 40.5), 0.74, 2, 0, (2, 4)),
    ((40.0, 5.5, 90.5, 60.25), 0.67, 1, 2, (2, 1)),
    ((45.5, 30.0, 60.0, 37.5), 0.38, 2, 0, (6, 4)),
)
BEYOND_EDGE = ((70.0, 44.0, 103.5, 69.0), 0.61, 0, 1, (5, 3))


def float32(array):
    return np.asarray(array, np.float32)


def spread(objects, random, count):
    """The objects for outputs without cells: (box, score, class, row), rows drawn at random."""
    rows = random.permutation(count)[:len(objects)]
    return [(box, score, label, int(row)) for (box, score, label, *_), row in zip(objects, rows)]


def vector(case, size, head, tensors, objects, detections):
    check_margins(detections, case)
    return {
        "case": case, "input_size": list(size), "classes": CLASSES, "head": head,
        "score_threshold": THRESHOLD, "iou_threshold": IOU_THRESHOLD,
        "tensors": [{"name": name, "shape": [1, *array.shape], "data": shortest(array)}
                    for name, array in tensors.items()],
        "objects": [[*box, score, label] for box, score, label, *_ in objects],
        "detections": rounded(detections),
        "kept": {name: rounded(heads.nms(detections, IOU_THRESHOLD, name == "class_aware"))
                 for name in ("class_aware", "class_agnostic")}}


def check_margins(detections, case, margin=0.01):
    scores = sorted(d[4] for d in detections)
    assert all(b - a > margin for a, b in zip([THRESHOLD] + scores, scores)), (case, scores)
    overlaps = [heads.iou(a, b) for a, b in itertools.combinations(detections, 2)]
    assert all(abs(o - IOU_THRESHOLD) > margin for o in overlaps), (case, overlaps)


def rounded(detections):
    return [[round(v, 4) for v in d[:4]] + [round(d[4], 6), d[5]] for d in detections]


def shortest(array):
    """Numbers with the fewest digits that give the same float32."""
    return [float(str(v)) if v != int(v) else int(v) for v in float32(array).reshape(-1)]


def coarse(array):
    """Fewer digits where it does not matter: the noise of small test data."""
    return np.round(np.asarray(array, np.float64), 3)


def nanodet(case, size, strides, reg_max, offset, activation, combined, objects, random):
    scores, distribution = heads.encode_nanodet(objects, size, strides, CLASSES, reg_max, offset,
                                                activation, random)
    scores, distribution = ([float32(coarse_unless(a, objects, size, strides, i))
                             for i, a in enumerate(part)] for part in (scores, distribution))
    head = {"type": "nanodet", "strides": list(strides), "reg_max": reg_max,
            "cell_offset": offset, "score_activation": activation}
    if combined:
        head["outputs"] = {"combined": "output"}
        tensors = {"output": np.concatenate([np.concatenate(p, axis=1)
                                             for p in zip(scores, distribution)])}
    else:
        head["outputs"] = {"scores": [f"scores_{s}" for s in strides],
                           "distribution": [f"distribution_{s}" for s in strides]}
        tensors = {**dict(zip(head["outputs"]["scores"], scores)),
                   **dict(zip(head["outputs"]["distribution"], distribution))}
    detections = heads.decode_nanodet(scores, distribution, size, strides, reg_max, offset,
                                      activation, THRESHOLD)
    return vector(case, size, head, tensors, objects, detections)


def coarse_unless(array, objects, size, strides, level):
    out = coarse(array)
    for *_, object_level, place in objects:
        if object_level == level:
            cell = heads.cells(size, strides[level]).index(place)
            out[cell] = array[cell]
    return out


def yolox(case, size, decoded, activation, objects, random):
    strides = (8, 16, 32)
    raw = float32(heads.encode_yolox(objects, size, strides, CLASSES, decoded, activation, random))
    head = {"type": "yolox", "outputs": {"predictions": "output"}, "strides": list(strides),
            "decoded": decoded, "score_activation": activation}
    detections = heads.decode_yolox(raw, size, strides, decoded, activation, THRESHOLD)
    return vector(case, size, head, {"output": raw}, objects, detections)


def yolov8(case, size, box_format, activation, transposed, random):
    placed = spread(OBJECTS, random, 60)
    raw = float32(heads.encode_yolov8(placed, 60, CLASSES, box_format, activation, random))
    head = {"type": "yolov8", "outputs": {"predictions": "output0"}, "box_format": box_format,
            "score_activation": activation}
    detections = heads.decode_yolov8(raw, box_format, activation, THRESHOLD)
    return vector(case, size, head, {"output0": raw.T if transposed else raw}, placed, detections)


def end2end_rows(case, size, random):
    placed = spread(OBJECTS, random, 20)
    rows = np.zeros((20, 6))
    rows[:, :4] = random.uniform(1, 60, (20, 4))
    rows[:, 4] = random.uniform(0, 0.25, 20)
    rows[:, 5] = random.integers(0, CLASSES, 20)
    for box, score, label, row in placed:
        rows[row] = (*box, score, label)
    empty = next(r for r in range(20) if r not in [p[3] for p in placed])
    rows[empty, 4:] = 0.9, -1  # an empty row, whatever its score
    rows = float32(rows)
    head = {"type": "end2end", "outputs": {"detections": "output0"}}
    return vector(case, size, head, {"output0": rows}, placed,
                  heads.decode_rows(rows, "xyxy", THRESHOLD))


def end2end_boxes(case, size, options, with_labels, random):
    """options: box_format, normalized, score_activation, background."""
    placed = spread(OBJECTS, random, 25)
    boxes, scores = heads.encode_boxes(placed, 25, CLASSES, size, options["box_format"],
                                       options["normalized"], options["score_activation"],
                                       options["background"], random)
    boxes, scores, labels = float32(boxes), float32(scores), None
    head = {"type": "end2end", "outputs": {"boxes": "boxes", "scores": "scores"}, **options}
    tensors = {"boxes": boxes, "scores": scores}
    if with_labels:
        head["outputs"]["labels"] = "labels"
        labels = float32(scores.argmax(axis=1))
        scores = scores.max(axis=1)
        tensors = {"labels": labels, "boxes": boxes, "scores": scores}
    detections = heads.decode_boxes(boxes, scores, labels, size, options["box_format"],
                                    options["normalized"], options["score_activation"],
                                    options["background"], THRESHOLD)
    return vector(case, size, head, tensors, placed, detections)


def boxes_options(box_format, normalized, activation, background):
    return {"box_format": box_format, "normalized": normalized, "score_activation": activation,
            "background": background}


def cases():
    """Each case has a random generator of its own, so that new cases change no old ones."""
    size, random = (96, 64), np.random.default_rng
    edge = OBJECTS + (BEYOND_EDGE,)
    yield nanodet("nanodet", size, (8, 16, 32), 7, 0.5, "none", False, edge, random(1))
    # No multiple of the strides, reference points on the cells' corners, scores still logits.
    yield nanodet("nanodet_plus_combined", (100, 70), (8, 16, 32, 64), 7, 0.0, "sigmoid", True,
                  edge, random(2))
    yield yolox("yolox", size, False, "none", edge, random(4))
    yield yolox("yolox_decoded_logits", size, True, "sigmoid", OBJECTS, random(5))
    yield yolov8("yolov8", size, "cxcywh", "none", False, random(6))
    yield yolov8("yolov8_transposed_logits_xyxy", size, "xyxy", "sigmoid", True, random(7))
    yield end2end_rows("end2end_rows", size, random(8))
    yield end2end_boxes("end2end_detr", size,
                        boxes_options("cxcywh", True, "softmax", "last"), False, random(9))
    yield end2end_boxes("end2end_background_first", size,
                        boxes_options("xyxy", True, "softmax", "first"), False, random(10))
    yield end2end_boxes("end2end_sigmoid", size,
                        boxes_options("cxcywh", False, "sigmoid", "none"), False, random(11))
    yield end2end_boxes("end2end_labels", size,
                        boxes_options("xyxy", False, "none", "none"), True, random(12))


def write(folder, content):
    text = json.dumps(content, separators=(",", ":"))
    for key in ("head", "tensors", "objects", "detections", "kept"):
        text = text.replace(f'"{key}":', f'\n"{key}":')
    path = folder / f"{content['case']}.json"
    path.write_text(text + "\n", encoding="utf-8")


def main(arguments):
    folder = pathlib.Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for content in cases():
        write(folder, content)


if __name__ == "__main__":
    main(sys.argv[1:])
