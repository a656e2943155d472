"""The ONNX graph while it grows, and what is known of its tensors."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from onnx import helper

from tfjs.graph import ConversionError

NHWC_AS_NCHW = (0, 3, 1, 2)


@dataclass(frozen=True)
class Dim:
    """A size: ratio x (height or width of the input) + offset; a plain number if axis is ''."""
    now: int  # at the size that the TensorFlow.js graph was made for
    axis: str = ""  # '', 'height', 'width', or '?' for another function of them
    ratio: Fraction = Fraction(0)
    offset: int = 0

    def plus(self, amount):
        return replace(self, now=self.now + amount, offset=self.offset + amount)


@dataclass(frozen=True)
class Value:
    """A tensor. dims, pad: in TensorFlow's axis order; stored axis i is its axis order[i]."""
    name: str
    dims: tuple
    order: tuple
    const: object = None  # numpy array in TensorFlow's order; no tensor is stored yet
    pad: tuple = ()  # pending ((before, after), ...); dims count it already
    pad_value: float = 0.0


def constant(name, array):
    return Value(name, tuple(Dim(n) for n in array.shape), tuple(range(array.ndim)), array)


class Builder:
    """The emitters work through its methods."""

    def __init__(self, layout, multiple_of, input_names, uses):
        self.layout, self.multiple_of, self.input_names = layout, multiple_of, input_names
        self.uses = uses  # (TensorFlow node name, output index) -> number of uses
        self.nodes, self.inputs, self.initializers = [], [], {}
        self.producer = {}  # tensor name -> its ONNX node

    def fail(self, node, problem):
        raise ConversionError(f"node '{node.name}' ({node.op}): {problem}")

    # --- building ---

    def emit(self, op, inputs, output, **attrs):
        node = helper.make_node(op, inputs, [output] if isinstance(output, str) else output,
                                name=output if isinstance(output, str) else output[0])
        # Sorted, and without None, so that the bytes depend on the graph alone.
        node.attribute.extend(helper.make_attribute(k, v) for k, v in sorted(attrs.items())
                              if v is not None)
        self.nodes.append(node)
        self.producer.update((name, node) for name in node.output)
        return output

    def name_outputs(self, outputs):
        """Gives the tensors of [(tensor, output name)] their final names."""
        finals, copies = {}, []
        for tensor, name in outputs:
            if name in self.initializers or name in [i.name for i in self.inputs]:
                raise ConversionError(f"output '{name}': an input or constant has this name")
            if tensor in self.producer and tensor not in finals:
                finals[tensor] = name
            else:  # the input itself, or an output already
                copies.append((tensor, name))
        for name in [n for _, n in outputs if n in self.producer and n not in finals]:
            finals[name] = self.unique(name + "/inner")
        for node in self.nodes:
            node.name = finals.get(node.name, node.name)
            for names in (node.input, node.output):
                names[:] = [finals.get(name, name) for name in names]
        for tensor, name in copies:
            self.emit("Identity", [finals.get(tensor, tensor)], name)

    def initializer(self, name, array):
        name = self.unique(name)
        self.initializers[name] = np.asarray(array)
        return name

    def numbers(self, node, value):
        """The integers of an input that must be a constant."""
        if value.const is None:
            self.fail(node, f"input '{value.name}' is not a constant")
        return [int(n) for n in value.const.reshape(-1)]

    def materialize_pad(self, value):
        if not value.pad:
            return value
        pads = [value.pad[axis] for axis in value.order]
        flat = np.array([p[0] for p in pads] + [p[1] for p in pads], np.int64)
        name = self.unique(value.name + "/pad")
        self.emit("Pad", [value.name, self.initializer(name + "/pads", flat),
                          self.initializer(name + "/value", np.float32(value.pad_value))], name)
        return replace(value, name=name, pad=())

    def unique(self, name):
        candidate, number = name, 1
        while candidate in self.producer or candidate in self.initializers:
            number += 1
            candidate = f"{name}_{number}"
        return candidate

    def stored(self, value, order):
        """The tensor's name, its axes stored in this order."""
        if value.const is not None:
            return self.initializer(value.name, value.const.transpose(order))
        value = self.materialize_pad(value)
        if value.order == order:
            return value.name
        perm = [value.order.index(axis) for axis in order]
        name = value.name + "/order" + "".join(map(str, order))
        return name if name in self.producer else self.emit("Transpose", [value.name], name,
                                                            perm=perm)

    def spatial(self, node, value, pad_value):
        """NCHW tensor name, and pending ((top, bottom), (left, right)) that the op takes over."""
        if len(value.dims) != 4:
            self.fail(node, f"input has {len(value.dims)} axes, 4 are needed")
        if node.attrs.get("data_format", "NHWC") != "NHWC":
            self.fail(node, f"data_format {node.attrs['data_format']} is not supported, only NHWC")
        taken = value.pad and value.pad_value == pad_value and \
            value.pad[0] == value.pad[3] == (0, 0)
        pads = value.pad[1:3] if taken else ((0, 0), (0, 0))
        return self.stored(replace(value, pad=()) if taken else value, NHWC_AS_NCHW), pads

    # --- sizes ---

    def divide(self, node, dim, divisor, up):
        """(dim / divisor) rounded up or down, valid for every input size or an error."""
        now = -(-dim.now // divisor) if up else dim.now // divisor
        if not dim.axis:
            return Dim(now)
        if dim.axis == "?" or (dim.ratio * self.multiple_of) % divisor:
            self.fail(node, f"stride {divisor} does not divide the {dim.axis} of every input; "
                            f"multiple_of must be a greater power of two than {self.multiple_of}")
        offset = -(-dim.offset // divisor) if up else dim.offset // divisor
        return Dim(now, dim.axis, dim.ratio / divisor, offset)

    def slide(self, node, dim, window, stride):
        """Size and (before, after) padding of a sliding window that spans `window` pixels."""
        padding = node.attrs.get("padding", "VALID")
        if padding == "VALID":
            return self.divide(node, dim.plus(-window), stride, up=False).plus(1), (0, 0)
        if padding != "SAME":
            self.fail(node, f"padding {padding} is not supported")
        out = self.divide(node, dim, stride, up=True)
        size, count = (dim.offset, out.offset) if dim.axis else (dim.now, out.now)
        total = max((count - 1) * stride + window - size, 0)
        return out, (total // 2, total - total // 2)
