"""Converts a TensorFlow.js graph model to ONNX.

    python tfjs_to_onnx.py MODEL.json OUT.onnx [--layout nchw|nhwc] [--multiple-of N]
                           [--input NODE=NAME]... [--output NODE=NAME]...

The ONNX graph is NCHW whatever the order of the TensorFlow.js graph, and (with --multiple-of)
takes every height and width that are multiples of N. The same input gives the same bytes.

How it works: one pass over the nodes that the outputs need. Every op is one row of OPS in
tfjs/ops.py: its emitter, and optionally a numpy function that folds it when all its inputs are
constants. A Value knows its TensorFlow shape and the order in which its axes are really stored,
so a transpose emits nothing: it only relabels the axes, and a Transpose node appears only where
an op insists on an order that the stored tensor does not have. Padding is kept pending in the
same way, until the convolution or pooling behind it takes it over.

Heights and widths are Dims, ratio x (input size) + offset, so that padding and scale factors
derived from one size are known to hold for all of them; where they would not, that is an error.
"""

import argparse
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from tfjs.builder import NHWC_AS_NCHW, Builder, constant
from tfjs.graph import ConversionError, load_graph, parse_reference
from tfjs.ops import OPS

OPSET = 17
IR_VERSION = 8  # what OPSET needs; fixed, for the bytes must not change with the onnx package
PRODUCER, PRODUCER_VERSION = "sparing-tfjs-to-onnx", "1"
_TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}


def convert(graph, name, layout="nhwc", multiple_of=0, inputs=None, outputs=None):
    """A TfjsGraph as an onnx.ModelProto.

    layout: axis order of the TensorFlow.js graph's own input, "nchw" or "nhwc".
    multiple_of: 0 keeps the graph's shape, N makes height and width open in multiples of N.
    inputs, outputs: {TensorFlow.js node: ONNX name}; outputs also chooses which, and their order.
    """
    wanted = [(parse_reference(node), onnx_name) for node, onnx_name in (outputs or {}).items()] \
        or [((node, index), f"{node}:{index}" if index else node)
            for node, index in graph.outputs]
    order = needed_nodes(graph, [reference for reference, _ in wanted])
    builder = Builder(layout, multiple_of, inputs or {}, count_uses(order, wanted))
    values = {}
    for node in order:
        results = convert_node(builder, graph, node, [values[r] for r in node.inputs])
        values.update(((node.name, i), value) for i, value in enumerate(results))
    missing = set(inputs or {}) - {n.name for n in order if n.op == "Placeholder"}
    if missing:
        raise ConversionError(f"input '{min(missing)}': no Placeholder of this name is used")
    infos = emit_outputs(builder, values, wanted)
    model = helper.make_model(
        helper.make_graph(builder.nodes, name, builder.inputs, infos,
                          [tensor(n, a) for n, a in builder.initializers.items()]),
        opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
        producer_name=PRODUCER, producer_version=PRODUCER_VERSION)
    onnx.checker.check_model(model)
    return model


def convert_node(builder, graph, node, inputs):
    if node.op == "Const":
        if node.name not in graph.constants:
            builder.fail(node, "its weights are not in the weights manifest")
        return [constant(node.name, graph.constants[node.name])]
    op = OPS.get(node.op)
    if op is None:
        builder.fail(node, f"this op is unknown; known are {', '.join(OPS)}")
    if inputs and all(v.const is not None for v in inputs):
        if op.fold is None:
            builder.fail(node, "all its inputs are constants, and it cannot be folded")
        return [constant(node.name, np.asarray(op.fold(*(v.const for v in inputs))))]
    if op.emit is None:
        builder.fail(node, "only constant inputs are supported")
    result = op.emit(builder, node, inputs)
    return result if isinstance(result, list) else [result]


def needed_nodes(graph, references):
    """The nodes that the outputs need, each behind its inputs."""
    order, state = [], {}
    stack = [name for name, _ in reversed(references)]
    while stack:
        name = stack[-1]
        node = graph.nodes.get(name)
        if node is None:
            raise ConversionError(f"node '{name}': the graph has no such node")
        pending = [i for i, _ in reversed(node.inputs) if state.get(i) != "done"]
        if pending and state.get(name) == "open":
            raise ConversionError(f"node '{name}' ({node.op}): depends on itself")
        if pending:
            state[name] = "open"
            stack.extend(pending)
            continue
        stack.pop()
        if state.get(name) != "done":
            state[name] = "done"
            order.append(node)
    return order


def count_uses(nodes, wanted):
    uses = {}
    for reference in [r for n in nodes for r in n.inputs] + [r for r, _ in wanted]:
        uses[reference] = uses.get(reference, 0) + 1
    return uses


def emit_outputs(builder, values, wanted):
    """Stores the outputs in their order of axes under their names; returns their descriptions."""
    if len({name for _, name in wanted}) != len(wanted):
        raise ConversionError("outputs: two of them have the same name")
    tensors, infos = [], []
    for reference, name in wanted:
        if reference not in values:
            raise ConversionError(
                f"output '{reference[0]}:{reference[1]}': the graph has no such tensor")
        value = values[reference]
        if value.const is not None:
            raise ConversionError(f"output '{reference[0]}': is a constant")
        is_image = len(value.dims) == 4 and builder.layout == "nhwc"
        order = NHWC_AS_NCHW if is_image else tuple(range(len(value.dims)))
        tensors.append((builder.stored(value, order), name))
        # An open size is named after its input axis where it is that, else after the output.
        dims = [(axis, value.dims[axis]) for axis in order]
        infos.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [
            d.now if not d.axis else
            d.axis if (d.ratio, d.offset) == (1, 0) else f"{name}_{axis}" for axis, d in dims]))
    builder.name_outputs(tensors)
    return infos


def tensor(name, array):
    little_endian = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    return helper.make_tensor(name, _TYPES[array.dtype.name], array.shape,
                              little_endian.tobytes(), raw=True)


def serialize(model):
    return model.SerializeToString(deterministic=True)


def main(arguments):
    parser = argparse.ArgumentParser(
        description="Converts a TensorFlow.js graph model to ONNX (NCHW).")
    parser.add_argument("model", help="model.json; its weight files lie beside it")
    parser.add_argument("out", help="the ONNX file to write")
    parser.add_argument("--name", help="name of the ONNX graph (default: that of OUT)")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nhwc",
                        help="axis order of the TensorFlow.js graph's own input (default: nhwc)")
    parser.add_argument("--multiple-of", type=int, default=0, metavar="N",
                        help="open height and width in multiples of N (default: shape as it is)")
    for option in ("--input", "--output"):
        parser.add_argument(option, action="append", default=[], metavar="NODE=NAME",
                            help=f"name an {option[2:]} (may be repeated)")
    options = parser.parse_args(arguments)
    stem = os.path.splitext(os.path.basename(options.out))[0]
    pairs = [dict(text.rpartition("=")[::2] for text in texts)
             for texts in (options.input, options.output)]
    try:
        model = convert(load_graph(options.model), options.name or stem, options.layout,
                        options.multiple_of, *pairs)
        partial = options.out + ".part"
        with open(partial, "wb") as file:
            file.write(serialize(model))
        os.replace(partial, options.out)
    except (ConversionError, OSError) as error:
        print(f"tfjs_to_onnx: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
