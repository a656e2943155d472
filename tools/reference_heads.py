"""Detection heads in plain numpy: the independent reference of the C++ heads.

A decoder for every head of models/README.md, and encoders that write known boxes into raw output
tensors. Written from the definitions, one loop a cell; shares nothing with the C++ code. A
detection is (x0, y0, x1, y1, score, class) in tensor pixels; decoders return them in the order of
the outputs, before NMS. Tensors have no batch axis here.
"""

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-np.asarray(x, np.float64)))


def softmax(x):
    e = np.exp(np.asarray(x, np.float64) - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def activate(scores, activation):
    return {"none": lambda s: np.asarray(s, np.float64), "sigmoid": sigmoid,
            "softmax": softmax}[activation](scores)


def deactivate(scores, activation):
    """Raw values that the activation turns into these scores."""
    scores = np.asarray(scores, np.float64)
    return {"none": lambda s: s, "sigmoid": lambda s: np.log(s / (1 - s)),
            "softmax": np.log}[activation](scores)


def iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - width * height
    return width * height / union


def nms(detections, iou_threshold, class_aware=True):
    """Greedy: best score first (ties: the earlier one); drops what overlaps a kept box by more."""
    kept = []
    for candidate in sorted(detections, key=lambda d: -d[4]):
        if all(iou(candidate, k) <= iou_threshold for k in kept
               if not class_aware or k[5] == candidate[5]):
            kept.append(candidate)
    return kept


def cells(size, stride):
    """(column, row) of every cell of a stride, row by row. size: (width, height)."""
    columns, rows = -(-size[0] // stride), -(-size[1] // stride)
    return [(c, r) for r in range(rows) for c in range(columns)]


def corners(box, box_format):
    if box_format == "xyxy":
        return tuple(float(v) for v in box)
    x, y, w, h = (float(v) for v in box)
    return (x - w / 2, y - h / 2, x + w / 2, y + h / 2)


def center_size(box):
    return ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0], box[3] - box[1])


# --- nanodet: scores and distributions are lists, one (cells, ...) array a stride ---


def decode_nanodet(scores, distribution, size, strides, reg_max, cell_offset, activation="none",
                   threshold=0.3):
    """Every class of a cell that reaches the threshold is a detection."""
    detections = []
    for level, stride in enumerate(strides):
        probabilities = activate(scores[level], activation)
        places = cells(size, stride)
        assert len(places) == len(probabilities)
        for cell in np.nonzero(probabilities.max(axis=1) >= threshold)[0]:
            logits = np.reshape(distribution[level][cell], (4, reg_max + 1))
            left, top, right, bottom = softmax(logits) @ np.arange(reg_max + 1) * stride
            x, y = ((p + cell_offset) * stride for p in places[cell])
            box = (max(x - left, 0), max(y - top, 0), min(x + right, size[0]),
                   min(y + bottom, size[1]))
            detections += [(*map(float, box), float(p), label)
                           for label, p in enumerate(probabilities[cell]) if p >= threshold]
    return detections


def encode_nanodet(objects, size, strides, classes, reg_max, cell_offset, activation, random):
    """objects: (box, score, class, level, (column, row)). Inverse of decode_nanodet."""
    scores = [deactivate(random.uniform(0.01, 0.2, (len(cells(size, s)), classes)), activation)
              for s in strides]
    distribution = [random.normal(size=(len(cells(size, s)), 4 * (reg_max + 1))) for s in strides]
    for box, score, label, level, place in objects:
        stride = strides[level]
        cell = cells(size, stride).index(place)
        scores[level][cell, label] = deactivate(score, activation)
        x, y = ((p + cell_offset) * stride for p in place)
        for side, distance in enumerate((x - box[0], y - box[1], box[2] - x, box[3] - y)):
            position = distance / stride
            assert 0 <= position <= reg_max, f"{box} does not fit cell {place} of stride {stride}"
            # The two neighbouring bins share the probability; the shift must not matter.
            low = min(int(position), reg_max - 1)
            bins = np.full(reg_max + 1, 1e-12)
            bins[low], bins[low + 1] = max(1 - (position - low), 1e-12), max(position - low, 1e-12)
            first = side * (reg_max + 1)
            distribution[level][cell, first:first + reg_max + 1] = \
                np.log(bins) + random.uniform(-3, 3)
    return scores, distribution


# --- yolox: (cells, 5 + classes) ---


def decode_yolox(predictions, size, strides, decoded, activation="none", threshold=0.3):
    """The best class of a cell."""
    places = [(c, r, s) for s in strides for c, r in cells(size, s)]
    assert len(places) == len(predictions)
    detections = []
    for (column, row, stride), values in zip(places, np.asarray(predictions, np.float64)):
        objectness, probabilities = (activate(v, activation) for v in (values[4], values[5:]))
        label = int(np.argmax(probabilities))
        score = float(objectness * probabilities[label])
        if score >= threshold:
            x, y, w, h = values[:4]
            if not decoded:
                x, y, w, h = ((x + column) * stride, (y + row) * stride, np.exp(w) * stride,
                              np.exp(h) * stride)
            detections.append((*corners((x, y, w, h), "cxcywh"), score, label))
    return detections


def encode_yolox(objects, size, strides, classes, decoded, activation, random):
    places = [(s, (c, r)) for s in strides for c, r in cells(size, s)]
    out = random.normal(size=(len(places), 5 + classes))
    if decoded:
        out[:, :4] = random.uniform(1, 60, (len(places), 4))
    out[:, 4] = deactivate(random.uniform(0.01, 0.2, len(places)), activation)
    out[:, 5:] = deactivate(random.uniform(0.01, 0.9, (len(places), classes)), activation)
    for box, score, label, level, place in objects:
        stride = strides[level]
        cell = places.index((stride, place))
        x, y, w, h = center_size(box)
        if not decoded:
            x, y, w, h = (x / stride - place[0], y / stride - place[1], np.log(w / stride),
                          np.log(h / stride))
        out[cell, :4] = x, y, w, h
        # score = objectness x class score, neither of them 1
        objectness = np.sqrt(score) * 0.98
        out[cell, 4] = deactivate(objectness, activation)
        out[cell, 5:] = deactivate(0.05, activation)
        out[cell, 5 + label] = deactivate(score / objectness, activation)
    return out


# --- yolov8: (4 + classes, candidates) ---


def decode_yolov8(predictions, box_format="cxcywh", activation="none", threshold=0.3):
    """The best class of a candidate."""
    detections = []
    for values in np.asarray(predictions, np.float64).T:
        probabilities = activate(values[4:], activation)
        label = int(np.argmax(probabilities))
        if probabilities[label] >= threshold:
            detections.append((*corners(values[:4], box_format), float(probabilities[label]),
                               label))
    return detections


def encode_yolov8(objects, candidates, classes, box_format, activation, random):
    """objects: (box, score, class, candidate)."""
    out = np.empty((4 + classes, candidates))
    out[:4] = random.uniform(1, 60, (4, candidates))
    out[4:] = deactivate(random.uniform(0.01, 0.2, (classes, candidates)), activation)
    for box, score, label, candidate in objects:
        out[:4, candidate] = box if box_format == "xyxy" else center_size(box)
        out[4 + label, candidate] = deactivate(score, activation)
    return out


# --- end2end ---


def decode_rows(rows, box_format="xyxy", threshold=0.3):
    """(N, 6): box, score, class."""
    return [(*corners(r[:4], box_format), float(r[4]), int(r[5]))
            for r in np.asarray(rows, np.float64) if r[4] >= threshold and r[5] >= 0]


def decode_boxes(boxes, scores, labels, size, box_format, normalized, activation="none",
                 background="none", threshold=0.3):
    """boxes (N, 4); scores (N) with labels (N), or (N, K) with labels None."""
    detections = []
    for i, box in enumerate(np.asarray(boxes, np.float64)):
        values = activate(scores[i], activation)
        if labels is None:
            # The background took part in the softmax, and is not reported.
            values = {"none": values, "first": values[1:], "last": values[:-1]}[background]
            label = int(np.argmax(values))
            score = float(values[label])
        else:
            label, score = int(labels[i]), float(values)
        if score >= threshold and label >= 0:
            unit = (*size, *size) if normalized else (1, 1, 1, 1)
            detections.append((*corners(np.multiply(box, unit), box_format), score, label))
    return detections


def encode_boxes(objects, count, classes, size, box_format, normalized, activation, background,
                 random):
    """objects: (box, score, class, row). Returns boxes (count, 4) and scores (count, K)."""
    unit = (*size, *size) if normalized else (1, 1, 1, 1)
    first = 1 if background == "first" else 0
    width = classes + (background != "none")
    boxes = random.uniform(0.1, 0.6, (count, 4)) if normalized else \
        random.uniform(1, 60, (count, 4))
    # Under softmax they share one probability, and the wanted class may need most of it.
    scores = random.uniform(0.005, 0.03 if activation == "softmax" else 0.2, (count, width))
    for box, score, label, row in objects:
        boxes[row] = np.divide(box if box_format == "xyxy" else center_size(box), unit)
        scores[row, first + label] = score
    if activation == "softmax":
        # What the wanted classes leave over goes to the background.
        spare = first + classes if background == "last" else 0
        scores[:, spare] = 0
        scores[:, spare] = 1 - scores.sum(axis=1)
        assert (scores > 0).all()
    raw = deactivate(scores, activation)
    if activation == "softmax":
        raw += random.uniform(-5, 5, (count, 1))  # the shift must not matter
    return boxes, raw
