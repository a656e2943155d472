"""One emitter an op of TensorFlow.js, and the table of them all, OPS."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from onnx import TensorProto, helper

from tfjs.builder import NHWC_AS_NCHW, Dim, Value

# Emitters: (builder, node, inputs) -> Value or list of Values.

def emit_placeholder(c, node, _):
    shape = list(node.attrs.get("shape") or [])
    if len(shape) != 4:
        c.fail(node, f"the input's shape is {shape}; 4 axes are needed")
    height, width = (2, 3) if c.layout == "nchw" else (1, 2)
    dims = [Dim(1 if i == 0 and n < 1 else n) for i, n in enumerate(shape)]
    for axis, label in ((height, "height"), (width, "width")):
        now = shape[axis] if shape[axis] > 0 else 8 * c.multiple_of
        if c.multiple_of:
            if now % c.multiple_of:
                c.fail(node, f"{label} {now} is not a multiple of multiple_of {c.multiple_of}")
            dims[axis] = Dim(now, label, Fraction(1), 0)
    if any(d.now < 1 for d in dims):
        c.fail(node, f"the input's shape {shape} is open; multiple_of must be given")
    order = (0, 1, 2, 3) if c.layout == "nchw" else NHWC_AS_NCHW
    name = c.input_names.get(node.name, node.name)
    c.inputs.append(helper.make_tensor_value_info(
        name, TensorProto.FLOAT, [dims[a].axis or dims[a].now for a in order]))
    return Value(name, tuple(dims), order)


def emit_identity(c, node, inputs):
    return inputs[0]


def emit_transpose(c, node, inputs):
    value, perm = inputs[0], c.numbers(node, inputs[1])
    order = tuple(perm.index(axis) for axis in value.order)
    return replace(value, dims=tuple(value.dims[p] for p in perm), order=order,
                   pad=tuple(value.pad[p] for p in perm) if value.pad else ())


def unary(op, *constants, **fixed):
    def emit(c, node, inputs):
        value = c.materialize_pad(inputs[0])
        attrs = {k: v(node) for k, v in fixed.items()}
        extra = [c.initializer(f"{node.name}/{x}", np.float32(x)) for x in constants]
        return replace(value, name=c.emit(op, [value.name] + extra, node.name, **attrs))
    return emit


def binary(op):
    def emit(c, node, inputs):
        inputs = [c.materialize_pad(v) for v in inputs]
        base = max((v for v in inputs if v.const is None), key=lambda v: len(v.dims))
        if op == "Add" and fuse_bias(c, node, inputs):
            return base
        names = [operand(c, node, v, base) for v in inputs]
        rank = len(base.dims)
        padded = [(Dim(1),) * (rank - len(v.dims)) + v.dims for v in inputs]
        dims = tuple(y if x.now == 1 else x for x, y in zip(*padded))
        return Value(c.emit(op, names, node.name), dims, base.order)
    return emit


def operand(c, node, value, base):
    """A name that broadcasts against `base` as stored."""
    rank = len(base.dims)
    if value.const is not None:
        if value.const.size == 1:
            return c.initializer(value.name, value.const.reshape(()))
        return c.initializer(value.name, with_rank(value.const, rank).transpose(base.order))
    if len(value.dims) != rank:
        if base.order != tuple(range(rank)):
            c.fail(node, f"broadcasting {len(value.dims)} axes against {rank} axes in another "
                         "order is not supported")
        return c.stored(value, tuple(range(len(value.dims))))
    return c.stored(value, base.order)


def with_rank(array, rank):
    return array.reshape((1,) * (rank - array.ndim) + array.shape)


def fuse_bias(c, node, inputs):
    """A constant added to each channel of a convolution used nowhere else becomes its bias."""
    for value, other, reference in ((*inputs, node.inputs[0]), (*inputs[::-1], node.inputs[1])):
        producer = c.producer.get(value.name)
        # The reference must be the convolution itself: relabelled by a transpose in between, the
        # tensor could have other users that are not counted here.
        if (other.const is None or producer is None or len(producer.input) != 2 or
                producer.op_type not in ("Conv", "ConvTranspose") or
                reference != (value.name, 0) or c.uses[reference] != 1 or other.const.ndim > 4):
            continue
        bias = with_rank(other.const, 4).transpose(value.order)
        if bias.shape == (1, value.dims[value.order[1]].now, 1, 1):
            producer.input.append(c.initializer(value.name + "/bias", bias.reshape(-1)))
            return True
    return False


def emit_add_n(c, node, inputs):
    inputs = [c.materialize_pad(v) for v in inputs]
    base = next(v for v in inputs if v.const is None)
    names = [operand(c, node, v, base) for v in inputs]
    return replace(base, name=c.emit("Sum", names, node.name))


def convolution(depthwise):
    def emit(c, node, inputs):
        value, weights = inputs[0], inputs[1].const
        if weights is None:
            c.fail(node, "the filter is not a constant")
        tensor, taken = c.spatial(node, value, 0.0)
        strides, dilations = (node.attrs.get(k, [1, 1, 1, 1])[1:3] for k in
                              ("strides", "dilations"))
        kernel = weights.shape[:2]
        slid = [c.slide(node, value.dims[1 + i], dilations[i] * (kernel[i] - 1) + 1, strides[i])
                for i in (0, 1)]
        pads = [(t[0] + p[0], t[1] + p[1]) for t, (_, p) in zip(taken, slid)]
        if depthwise:
            groups, channels = weights.shape[2], weights.shape[2] * weights.shape[3]
            filters = weights.transpose(2, 3, 0, 1).reshape(channels, 1, *kernel)
        else:
            groups, channels = value.dims[3].now // weights.shape[2], weights.shape[3]
            filters = weights.transpose(3, 2, 0, 1)
        names = [tensor, c.initializer(node.name + "/filter", filters)]
        c.emit("Conv", names, node.name, strides=strides, dilations=dilations,
               kernel_shape=kernel, group=groups, pads=[pads[0][0], pads[1][0], pads[0][1],
                                                        pads[1][1]])
        dims = (value.dims[0], slid[0][0], slid[1][0], Dim(channels))
        return Value(node.name, dims, NHWC_AS_NCHW)
    return emit


# What may follow BiasAdd in fused_ops: name -> emitter.
ACTIVATIONS = {
    "Relu": unary("Relu"),
    "Relu6": unary("Clip", 0, 6),
    "Sigmoid": unary("Sigmoid"),
    "LeakyRelu": unary("LeakyRelu", alpha=lambda n: n.attrs.get("leakyrelu_alpha", 0.2)),
}


def fused_convolution(depthwise):
    plain = convolution(depthwise)

    def emit(c, node, inputs):
        fused = list(node.attrs.get("fused_ops", []))
        activation = fused[1] if fused[1:] else None
        if fused[:1] != ["BiasAdd"] or fused[2:] or activation not in (None, *ACTIVATIONS):
            c.fail(node, f"fused_ops {fused} are not supported; BiasAdd and one of "
                         f"{', '.join(ACTIVATIONS)} are")
        name = node.name + "/conv" if activation else node.name
        value = plain(c, replace(node, name=name), inputs)
        c.producer[name].input.append(c.initializer(name + "/bias", inputs[2].const.reshape(-1)))
        return ACTIVATIONS[activation](c, node, [value]) if activation else value
    return emit


def emit_conv_transpose(c, node, inputs):
    sizes, weights, value = c.numbers(node, inputs[0]), inputs[1].const, inputs[2]
    tensor, taken = c.spatial(node, value, 0.0)
    if taken != ((0, 0), (0, 0)):
        c.fail(node, "padding in front of a transposed convolution is not supported")
    strides, kernel = node.attrs["strides"][1:3], weights.shape[:2]
    dims, pads, extra = [], [], []
    for i in (0, 1):
        size, stride = value.dims[1 + i], strides[i]
        full = stride * (size.now - 1) + kernel[i]
        total = max(full - sizes[1 + i], 0)
        dim = replace(size, now=sizes[1 + i], ratio=size.ratio * stride,
                      offset=size.offset * stride + sizes[1 + i] - size.now * stride)
        dims.append(dim)
        pads.append((total // 2, total - total // 2))
        extra.append(sizes[1 + i] - full + total)
    c.emit("ConvTranspose", [tensor, c.initializer(node.name + "/filter",
                                                   weights.transpose(3, 2, 0, 1))], node.name,
           strides=strides, kernel_shape=kernel, output_padding=extra if any(extra) else None,
           pads=[pads[0][0], pads[1][0], pads[0][1], pads[1][1]])
    return Value(node.name, (value.dims[0], *dims, Dim(weights.shape[2])), NHWC_AS_NCHW)


def pool(op, pad_value):
    def emit(c, node, inputs):
        value = inputs[0]
        tensor, taken = c.spatial(node, value, pad_value)
        kernel, strides = (node.attrs[k][1:3] for k in ("ksize", "strides"))
        is_global = all(d.now == k == s for d, k, s in zip(value.dims[1:3], kernel, strides))
        if op == "AveragePool" and is_global and any(d.axis for d in value.dims[1:3]):
            # The window is the whole picture, so it is meant to be at every other size too.
            name = c.emit("GlobalAveragePool", [tensor], node.name)
            return Value(name, (value.dims[0], Dim(1), Dim(1), value.dims[3]), NHWC_AS_NCHW)
        slid = [c.slide(node, value.dims[1 + i], kernel[i], strides[i]) for i in (0, 1)]
        pads = [(t[0] + p[0], t[1] + p[1]) for t, (_, p) in zip(taken, slid)]
        name = c.emit(op, [tensor], node.name, kernel_shape=kernel, strides=strides,
                      pads=[pads[0][0], pads[1][0], pads[0][1], pads[1][1]])
        return Value(name, (value.dims[0], slid[0][0], slid[1][0], value.dims[3]), NHWC_AS_NCHW)
    return emit


def emit_pad(c, node, inputs):
    value = c.materialize_pad(inputs[0])
    flat = c.numbers(node, inputs[1])
    pads = tuple(zip(flat[::2], flat[1::2]))
    fill = float(inputs[2].const.reshape(())) if inputs[2:] else 0.0
    return replace(value, dims=tuple(d.plus(a + b) for d, (a, b) in zip(value.dims, pads)),
                   pad=pads, pad_value=fill)


def emit_concat(c, node, inputs):
    *parts, axis = inputs
    rank = len(parts[0].dims)
    axis = c.numbers(node, axis)[0] % rank
    order = next(v.order for v in parts if v.const is None)
    names = [c.stored(v, order) for v in parts]
    sizes = [v.dims[axis] for v in parts]
    joined = sizes[0]
    for size in sizes[1:]:
        if "?" in (joined.axis, size.axis) or (joined.axis and size.axis not in ("", joined.axis)):
            joined = Dim(joined.now + size.now, "?")
        else:
            joined = Dim(joined.now + size.now, joined.axis or size.axis,
                         joined.ratio + size.ratio,
                         sum(d.offset if d.axis else d.now for d in (joined, size)))
    dims = parts[0].dims[:axis] + (joined,) + parts[0].dims[axis + 1:]
    return Value(c.emit("Concat", names, node.name, axis=order.index(axis)), dims, order)


def emit_split(c, node, inputs):
    if node.op == "Split":
        value = inputs[1]
        axis = c.numbers(node, inputs[0])[0] % len(value.dims)
        count = node.attrs["num_split"]
        sizes = [value.dims[axis].now // count] * count
    else:
        value, sizes = inputs[0], c.numbers(node, inputs[1])
        axis = c.numbers(node, inputs[2])[0] % len(value.dims)
        rest = value.dims[axis].now - sum(n for n in sizes if n >= 0)
        sizes = [rest if n < 0 else n for n in sizes]
    if value.dims[axis].axis:
        c.fail(node, f"splits the {value.dims[axis].axis}, which is not fixed")
    value = c.materialize_pad(value)
    names = [node.name if i == 0 else f"{node.name}:{i}" for i in range(len(sizes))]
    c.emit("Split", [value.name, c.initializer(node.name + "/sizes", np.array(sizes, np.int64))],
           names, axis=value.order.index(axis))
    return [replace(value, name=name, dims=value.dims[:axis] + (Dim(size),) +
                    value.dims[axis + 1:]) for name, size in zip(names, sizes)]


def emit_reshape(c, node, inputs):
    value, shape = inputs[0], c.numbers(node, inputs[1])
    total = int(np.prod([d.now for d in value.dims]))
    fixed = int(np.prod([d.now for d in value.dims if not d.axis]))
    is_open = any(d.axis for d in value.dims)
    full = [total // -int(np.prod(shape)) if n < 0 else n for n in shape]
    if int(np.prod(full)) != total:
        c.fail(node, f"cannot make {shape} of {[d.now for d in value.dims]}")
    if is_open:
        # The open sizes must all end up in one place, which is then -1; a number found there is
        # a leftover of the size that the graph was made for.
        places = [i for i in range(len(full))
                  if fixed % int(np.prod(full[:i] + full[i + 1:])) == 0]
        if shape.count(-1):
            places = [i for i in places if shape[i] == -1]
        if len(places) != 1:
            c.fail(node, f"shape {shape} cannot hold for inputs of every height and width")
        shape = [-1 if i == places[0] else n for i, n in enumerate(full)]
    name = c.stored(value, tuple(range(len(value.dims))))
    c.emit("Reshape", [name, c.initializer(node.name + "/shape", np.array(shape, np.int64))],
           node.name)
    dims = tuple(Dim(n, "?" if is_open and s == -1 else "") for n, s in zip(full, shape))
    return Value(node.name, dims, tuple(range(len(dims))))


def emit_resize_bilinear(c, node, inputs):
    value, size = inputs[0], c.numbers(node, inputs[1])
    tensor, _ = c.spatial(node, c.materialize_pad(value), 0.0)
    if node.attrs.get("align_corners"):
        mode = "align_corners"
    else:
        mode = "half_pixel" if node.attrs.get("half_pixel_centers") else "asymmetric"
    dims = [resized(c, node, dim, now) for dim, now in zip(value.dims[1:3], size)]
    if any(d.axis for d in dims):
        scales = [np.float32(n / d.now) for d, n in zip(value.dims[1:3], size)]
        names = [tensor, "", c.initializer(node.name + "/scales",
                                           np.array([1, 1, *scales], np.float32))]
    else:
        sizes = [value.dims[0].now, value.dims[3].now, *size]
        names = [tensor, "", "", c.initializer(node.name + "/sizes", np.array(sizes, np.int64))]
    c.emit("Resize", names, node.name, mode="linear", coordinate_transformation_mode=mode)
    return Value(node.name, (value.dims[0], *dims, value.dims[3]), NHWC_AS_NCHW)


def resized(c, node, dim, now):
    """The size written into the graph, as a function of the input's size."""
    if not dim.axis or dim.now == now:
        return replace(dim, now=now) if dim.axis else Dim(now)
    scale = Fraction(now, dim.now)
    power_of_two = not scale.numerator & (scale.numerator - 1) and \
        not scale.denominator & (scale.denominator - 1)
    if dim.axis == "?" or dim.offset or not power_of_two or \
            (dim.ratio * scale * c.multiple_of).denominator != 1:
        c.fail(node, f"{dim.now} to {now} is no fixed power of two for inputs of every size")
    return Dim(now, dim.axis, dim.ratio * scale, 0)


def sparse_to_dense(indices, shape, values, default):
    dense = np.full([int(n) for n in shape], default, default.dtype)
    rows = indices.reshape(len(indices), -1) if indices.size else np.zeros((0, len(shape)), int)
    for i, row in enumerate(rows):
        dense[tuple(row)] = values if values.ndim == 0 else values[i]
    return dense


@dataclass(frozen=True)
class Op:
    emit: object = None  # None: can only be folded
    fold: object = None  # numpy function of the inputs, if all are constants


# Every op of TensorFlow.js that is known: to add one, write its emitter and its row.
OPS = {
    "Placeholder": Op(emit_placeholder),
    "Identity": Op(emit_identity, lambda a: a),
    "Transpose": Op(emit_transpose, lambda a, perm: a.transpose(perm)),
    "Reshape": Op(emit_reshape, lambda a, shape: a.reshape(shape)),
    "SparseToDense": Op(None, sparse_to_dense),
    "Conv2D": Op(convolution(depthwise=False)),
    "_FusedConv2D": Op(fused_convolution(depthwise=False)),
    "DepthwiseConv2dNative": Op(convolution(depthwise=True)),
    "FusedDepthwiseConv2dNative": Op(fused_convolution(depthwise=True)),
    "Conv2DBackpropInput": Op(emit_conv_transpose),
    "MaxPool": Op(pool("MaxPool", -np.inf)),
    "AvgPool": Op(pool("AveragePool", None)),
    "Pad": Op(emit_pad),
    "PadV2": Op(emit_pad),
    "Add": Op(binary("Add"), np.add),
    "AddV2": Op(binary("Add"), np.add),
    "BiasAdd": Op(binary("Add"), np.add),
    "AddN": Op(emit_add_n),
    "Mul": Op(binary("Mul"), np.multiply),
    "Relu": Op(unary("Relu")),
    "Relu6": Op(unary("Clip", 0, 6)),
    "LeakyRelu": Op(unary("LeakyRelu", alpha=lambda n: n.attrs.get("alpha", 0.2))),
    "Sigmoid": Op(unary("Sigmoid")),
    "ConcatV2": Op(emit_concat),
    "Split": Op(emit_split),
    "SplitV": Op(emit_split),
    "ResizeBilinear": Op(emit_resize_bilinear),
}
