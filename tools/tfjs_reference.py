"""A plain numpy interpreter of TensorFlow.js graph models: what the converter is tested against.

Follows TensorFlow's definitions in float64 and NHWC, reads the model files by itself, and shares
no code with the converter.
"""

import base64
import json
import pathlib

import numpy as np


def load(model_json):
    """(list of graph nodes as in the file, {name: array})."""
    folder = pathlib.Path(model_json).parent
    model = json.loads(pathlib.Path(model_json).read_text(encoding="utf-8"))
    weights = {}
    for group in model["weightsManifest"]:
        data = b"".join((folder / p).read_bytes() for p in group["paths"])
        for w in group["weights"]:
            q = w.get("quantization")
            kind = q["dtype"] if q else w["dtype"]
            kind = {"float16": "<f2", "float32": "<f4", "int32": "<i4", "uint8": "u1",
                    "uint16": "<u2", "bool": "u1"}[kind]
            n = 1
            for extent in w["shape"]:
                n *= extent
            used = n * int(kind[-1])
            array = np.frombuffer(data[:used], kind).reshape(w["shape"])
            data = data[used:]
            if q and "scale" in q:
                array = np.float64(q["scale"]) * array + q["min"]
            weights[w["name"]] = array.astype(np.float64 if w["dtype"] == "float32" else np.int64)
    return model["modelTopology"]["node"], weights


def run(nodes, weights, feeds, outputs):
    """Values of the outputs ("node" or "node:1"). feeds: {Placeholder: array}."""
    by_name = {n["name"]: n for n in nodes}
    values = {}

    def value(reference):
        name, _, index = reference.partition(":")
        if name not in values:
            node = by_name[name]
            if node["op"] == "Placeholder":
                result = np.asarray(feeds[name], np.float64)
            elif node["op"] == "Const":
                result = weights[name]
            else:
                inputs = [value(i) for i in node.get("input", []) if i[0] != "^"]
                result = OPERATIONS[node["op"]](Attributes(node), *inputs)
            values[name] = result if isinstance(result, list) else [result]
        return values[name][int(index or 0)]

    return [value(o) for o in outputs]


class Attributes:
    def __init__(self, node):
        self.raw = node.get("attr", {})

    def text(self, key, default=""):
        return base64.b64decode(self.raw[key]["s"]).decode() if key in self.raw else default

    def number(self, key, default=0.0):
        return float(self.raw[key].get("f", self.raw[key].get("i"))) if key in self.raw \
            else default

    def flag(self, key):
        return bool(self.raw.get(key, {}).get("b", False))

    def ints(self, key):
        return [int(i) for i in self.raw[key]["list"]["i"]]

    def texts(self, key):
        return [base64.b64decode(s).decode() for s in self.raw[key]["list"]["s"]]


def same_or_valid(padding, size, window, stride):
    """(output size, padding before, padding after) by TensorFlow's definition."""
    if padding == "VALID":
        return (size - window) // stride + 1, 0, 0
    assert padding == "SAME"
    out = int(np.ceil(size / stride))
    total = max((out - 1) * stride + window - size, 0)
    return out, total // 2, total - total // 2


def windows(x, attributes, kernel, strides, dilations, fill):
    """Yields (row, column, the input pixel under this tap for every output pixel)."""
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    (rows, top, bottom), (columns, left, right) = (
        same_or_valid(attributes.text("padding"), x.shape[1 + i], spans[i], strides[i])
        for i in (0, 1))
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            r, c = i * dilations[0], j * dilations[1]
            yield i, j, x[:, r:r + rows * strides[0]:strides[0],
                          c:c + columns * strides[1]:strides[1]][:, :rows, :columns]


def conv2d(attributes, x, w):
    return sum(tap @ w[i, j] for i, j, tap in windows(
        x, attributes, w.shape[:2], attributes.ints("strides")[1:3],
        attributes.ints("dilations")[1:3], 0.0))


def depthwise(attributes, x, w):
    total = sum(tap[..., :, None] * w[i, j] for i, j, tap in windows(
        x, attributes, w.shape[:2], attributes.ints("strides")[1:3],
        attributes.ints("dilations")[1:3], 0.0))
    return total.reshape(*total.shape[:3], -1)


def sigmoid(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)  # does not overflow


def fused(plain):
    def operation(attributes, x, w, bias):
        y = plain(attributes, x, w) + bias
        for name in attributes.texts("fused_ops")[1:]:
            y = {"Relu": lambda v: np.maximum(v, 0), "Relu6": lambda v: np.clip(v, 0, 6),
                 "Sigmoid": sigmoid,
                 "LeakyRelu": lambda v: np.where(
                     v > 0, v, v * attributes.number("leakyrelu_alpha", 0.2))}[name](y)
        return y
    return operation


def conv2d_backprop_input(attributes, sizes, w, x):
    """The gradient of a convolution: every input pixel adds its stamp to the output."""
    n, height, width, channels = (int(s) for s in sizes)
    stride_y, stride_x = attributes.ints("strides")[1:3]
    kernel_y, kernel_x = w.shape[:2]
    _, top, _ = same_or_valid(attributes.text("padding"), height, kernel_y, stride_y)
    _, left, _ = same_or_valid(attributes.text("padding"), width, kernel_x, stride_x)
    out = np.zeros((n, height, width, channels))
    for r in range(x.shape[1]):
        for c in range(x.shape[2]):
            for i in range(kernel_y):
                for j in range(kernel_x):
                    y_at, x_at = r * stride_y + i - top, c * stride_x + j - left
                    if 0 <= y_at < height and 0 <= x_at < width:
                        out[:, y_at, x_at] += x[:, r, c] @ w[i, j].T
    return out


def max_pool(attributes, x):
    return np.max([tap for _, _, tap in windows(
        x, attributes, attributes.ints("ksize")[1:3], attributes.ints("strides")[1:3], (1, 1),
        -np.inf)], axis=0)


def avg_pool(attributes, x):
    """Padding does not count."""
    kernel, strides = attributes.ints("ksize")[1:3], attributes.ints("strides")[1:3]
    sums, counts = (sum(tap for _, _, tap in windows(v, attributes, kernel, strides, (1, 1), 0.0))
                    for v in (x, np.ones_like(x)))
    return sums / counts


def resize_bilinear(attributes, x, size):
    for axis, new in zip((1, 2), size):
        old, new = x.shape[axis], int(new)
        lines = []
        for i in range(new):
            if attributes.flag("align_corners"):
                source = i * (old - 1) / (new - 1) if new > 1 else 0.0
            elif attributes.flag("half_pixel_centers"):
                source = (i + 0.5) * old / new - 0.5
            else:
                source = i * old / new
            low, part = int(np.floor(source)), source - np.floor(source)
            a, b = (np.take(x, min(max(k, 0), old - 1), axis) for k in (low, low + 1))
            lines.append(a * (1 - part) + b * part)
        x = np.stack(lines, axis)
    return x


def split_v(attributes, x, sizes, axis):
    sizes = [int(s) for s in sizes]
    sizes = [x.shape[int(axis)] - sum(s for s in sizes if s >= 0) if s < 0 else s for s in sizes]
    return np.split(x, np.cumsum(sizes)[:-1], int(axis))


def sparse_to_dense(_, indices, shape, values, default):
    out = np.full([int(s) for s in shape], default)
    for position, v in zip(indices.reshape(-1, len(shape)), np.atleast_1d(values)):
        out[tuple(position)] = v
    return out


OPERATIONS = {
    "Identity": lambda a, x: x,
    "Transpose": lambda a, x, perm: np.transpose(x, perm),
    "Reshape": lambda a, x, shape: np.reshape(x, shape),
    "SparseToDense": sparse_to_dense,
    "Conv2D": conv2d,
    "_FusedConv2D": fused(conv2d),
    "DepthwiseConv2dNative": depthwise,
    "FusedDepthwiseConv2dNative": fused(depthwise),
    "Conv2DBackpropInput": conv2d_backprop_input,
    "MaxPool": max_pool,
    "AvgPool": avg_pool,
    "Pad": lambda a, x, pads: np.pad(x, pads),
    "PadV2": lambda a, x, pads, fill: np.pad(x, pads, constant_values=float(fill)),
    "Add": lambda a, x, y: x + y,
    "AddV2": lambda a, x, y: x + y,
    "BiasAdd": lambda a, x, y: x + y,
    "AddN": lambda a, *xs: sum(xs),
    "Mul": lambda a, x, y: x * y,
    "Relu": lambda a, x: np.maximum(x, 0),
    "Relu6": lambda a, x: np.clip(x, 0, 6),
    "LeakyRelu": lambda a, x: np.where(x > 0, x, x * a.number("alpha", 0.2)),
    "Sigmoid": lambda a, x: sigmoid(x),
    "ConcatV2": lambda a, *xs: np.concatenate(xs[:-1], int(xs[-1])),
    "Split": lambda a, axis, x: np.split(x, int(a.number("num_split")), int(axis)),
    "SplitV": split_v,
    "ResizeBilinear": resize_bilinear,
}
