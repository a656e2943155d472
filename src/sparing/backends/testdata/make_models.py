#!/usr/bin/env python3
"""Writes the tiny models beside this file, which the backend tests run.

Development only: the models are committed, and tests need no Python. To write them again:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install onnx==1.23.2 numpy openvino==2026.4.1
    /tmp/venv/bin/python src/sparing/backends/testdata/make_models.py

The values are chosen so that the tests' expectations can be worked out by hand.
"""
import pathlib

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
OPSET = 13
F32 = TensorProto.FLOAT


def value(name, shape, element_type=F32):
    return helper.make_tensor_value_info(name, element_type, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(name, nodes, inputs, outputs, constants=(), domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(constants))
    opsets = [helper.make_opsetid("", OPSET)]
    opsets += [helper.make_opsetid(domain, 1) for domain in domains]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="sparing")
    if not domains:
        onnx.checker.check_model(made, full_check=True)
    (HERE / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))


def add():
    # sum = a + b, product = a * b
    model("add",
          [helper.make_node("Add", ["a", "b"], ["sum"]),
           helper.make_node("Mul", ["a", "b"], ["product"])],
          [value("a", [2, 3]), value("b", [2, 3])],
          [value("sum", [2, 3]), value("product", [2, 3])])


def conv():
    # 3x3 sum of neighbours (zero outside) plus 0.5
    model("conv",
          [helper.make_node("Conv", ["image", "weight", "bias"], ["map"], pads=[1, 1, 1, 1])],
          [value("image", [1, 1, 3, 4])], [value("map", [1, 1, 3, 4])],
          [constant("weight", np.ones((1, 1, 3, 3), np.float32)),
           constant("bias", np.full(1, 0.5, np.float32))])


def dynamic():
    # 2x2 maximum with stride 2, any height, width and batch
    model("dynamic",
          [helper.make_node("MaxPool", ["image"], ["pooled"], kernel_shape=[2, 2],
                            strides=[2, 2])],
          [value("image", ["n", 3, "h", "w"])], [value("pooled", ["n", 3, "ho", "wo"])])


def argmax():
    # int64 output
    model("argmax",
          [helper.make_node("ArgMax", ["scores"], ["best"], axis=1, keepdims=0)],
          [value("scores", [2, 3])], [value("best", [2], TensorProto.INT64)])


def bytes_in():
    # uint8 and int32 inputs, int32 output, float16 output
    model("types",
          [helper.make_node("Cast", ["u8"], ["wide"], to=TensorProto.INT32),
           helper.make_node("Add", ["wide", "i32"], ["total"]),
           helper.make_node("Cast", ["total"], ["half"], to=TensorProto.FLOAT16)],
          [value("u8", [4], TensorProto.UINT8), value("i32", [4], TensorProto.INT32)],
          [value("total", [4], TensorProto.INT32), value("half", [4], TensorProto.FLOAT16)])


def identity():
    # an output that is an input, and a constant output: engines like to hand out their own memory
    model("identity",
          [helper.make_node("Identity", ["x"], ["same"]),
           helper.make_node("Identity", ["k"], ["fixed"])],
          [value("x", [2, 2])], [value("same", [2, 2]), value("fixed", [3])],
          [constant("k", np.array([7, 8, 9], np.float32))])


def nonzero():
    # an output whose shape depends on the data
    model("nonzero",
          [helper.make_node("NonZero", ["x"], ["where"])],
          [value("x", [4])], [value("where", [1, "count"], TensorProto.INT64)])


def picky():
    # only heights of 4 fit
    model("picky",
          [helper.make_node("Add", ["image", "k"], ["y"])],
          [value("image", [1, 1, "h", 2])], [value("y", [1, 1, "ho", 2])],
          [constant("k", np.arange(8, dtype=np.float32).reshape(1, 1, 4, 2))])


def scalar():
    model("scalar",
          [helper.make_node("Mul", ["x", "factor"], ["y"])],
          [value("x", [2]), value("factor", [])], [value("y", [2])])


def rounding():
    # 1x1 convolution by 1 + 2^-10, which bfloat16 (8 significant bits) rounds to 1 and float16
    # (11 bits) holds exactly
    weight = np.zeros((16, 16, 1, 1), np.float32)
    weight[range(16), range(16)] = 1 + 2.0**-10
    model("rounding",
          [helper.make_node("Conv", ["image", "weight"], ["map"])],
          [value("image", [1, 16, 8, 8])], [value("map", [1, 16, 8, 8])],
          [constant("weight", weight)])


def boolean():
    # an element type that tensors do not have
    model("boolean",
          [helper.make_node("Greater", ["a", "b"], ["more"])],
          [value("a", [2]), value("b", [2])], [value("more", [2], TensorProto.BOOL)])


def unsupported():
    model("unsupported",
          [helper.make_node("Frobnicate", ["x"], ["y"], domain="org.example")],
          [value("x", [2])], [value("y", [2])], domains=["org.example"])


def damaged():
    whole = (HERE / "conv.onnx").read_bytes()
    (HERE / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (HERE / "text.onnx").write_text("This is no model.\n")


def intermediate_representation():
    openvino.save_model(openvino.Core().read_model(HERE / "conv.onnx"), HERE / "conv_ir.xml",
                        compress_to_fp16=False)


def main():
    for make in (add, conv, dynamic, argmax, bytes_in, identity, nonzero, picky, scalar, rounding,
                 boolean, unsupported, damaged, intermediate_representation):
        make()


if __name__ == "__main__":
    main()
