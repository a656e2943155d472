"""Converted graphs give what the plain numpy interpreter gives (tfjs_reference.py).

Runs under ONNX Runtime when it is installed, else under onnx's own reference evaluator.
"""

import itertools
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tfjs_to_onnx  # noqa: E402
from tfjs_testing import Toy, ToyTest, evaluate, onnxruntime, operators  # noqa: E402


class ConvolutionTest(ToyTest):
    def test_strides_padding_dilations_and_kernels(self):
        cases = itertools.product(("SAME", "VALID"), ((1, 1), (2, 2), (1, 2)), (1, 2),
                                  ((1, 1), (3, 3), (2, 5)), ((11, 14), (12, 9)))
        for padding, stride, dilation, kernel, size in cases:
            if dilation > 1 and stride != (1, 1):
                continue  # TensorFlow does not allow it
            with self.subTest(padding=padding, stride=stride, dilation=dilation, kernel=kernel,
                              size=size):
                toy = Toy((1, *size, 3))
                toy.add("Conv2D", "image", self.normal(*kernel, 3, 4), name="out",
                        strides=[1, *stride, 1], dilations=[1, dilation, dilation, 1],
                        padding=padding, data_format="NHWC")
                self.check(toy, "out")

    def test_depthwise_multiplier(self):
        for multiplier, stride, padding in itertools.product((1, 3), (1, 2), ("SAME", "VALID")):
            with self.subTest(multiplier=multiplier, stride=stride, padding=padding):
                toy = Toy((1, 9, 10, 4))
                toy.add("DepthwiseConv2dNative", "image", self.normal(3, 3, 4, multiplier),
                        name="out", strides=[1, stride, stride, 1], dilations=[1, 1, 1, 1],
                        padding=padding)
                self.check(toy, "out")

    def test_fused_bias_and_activation(self):
        for op, filters in (("_FusedConv2D", (3, 3, 4, 6)),
                            ("FusedDepthwiseConv2dNative", (3, 3, 4, 2))):
            for activation in ([], ["Relu"], ["Relu6"], ["Sigmoid"], ["LeakyRelu"]):
                with self.subTest(op=op, activation=activation):
                    channels = filters[3] * (4 if op.startswith("FusedD") else 1)
                    toy = Toy((1, 8, 7, 4))
                    toy.add(op, "image", 3 * self.normal(*filters), self.normal(channels),
                            name="out", strides=[1, 2, 2, 1], dilations=[1, 1, 1, 1],
                            padding="SAME", fused_ops=["BiasAdd"] + activation,
                            leakyrelu_alpha=0.3)
                    self.check(toy, "out")

    def test_bias_joins_its_convolution(self):
        for op in ("Add", "AddV2", "BiasAdd"):
            for swapped in (False, True) if op != "BiasAdd" else (False,):
                with self.subTest(op=op, swapped=swapped):
                    toy = self.conv_toy()
                    operands = ["conv", toy.constant(self.normal(5))]
                    toy.add(op, *(operands[::-1] if swapped else operands), name="out")
                    self.assertEqual(operators(self.check(toy, "out")), {"Conv": 1})

    def test_bias_stays_apart_when_the_convolution_has_other_users(self):
        toy = self.conv_toy()
        toy.add("Add", "conv", self.normal(5), name="biased")
        toy.add("Mul", "conv", "biased", name="out")
        self.check(toy, "out")
        toy = self.conv_toy()
        toy.add("Transpose", "conv", [0, 3, 1, 2], name="turned")
        toy.add("Add", "turned", self.normal(5, 1, 1), name="biased")
        toy.add("Mul", "turned", "biased", name="out")
        self.check(toy, "out")
        toy = self.conv_toy()
        toy.add("Add", "conv", self.normal(5), name="biased")
        self.check(toy, ["biased", "conv"])

    def conv_toy(self):
        toy = Toy((1, 6, 7, 3))
        toy.add("Conv2D", "image", self.normal(3, 3, 3, 5), name="conv", strides=[1, 1, 1, 1],
                dilations=[1, 1, 1, 1], padding="SAME")
        return toy

    def test_transposed(self):
        cases = itertools.product((2, 3, 4), (2, 3), ("SAME", "VALID"), (0, 1))
        for kernel, stride, padding, extra in cases:
            size = [4, 5]
            if padding == "SAME":
                out = [s * stride - extra for s in size]
            else:
                out = [(s - 1) * stride + kernel + (extra if stride > extra else 0) for s in size]
            with self.subTest(kernel=kernel, stride=stride, padding=padding, out=out):
                toy = Toy((1, *size, 3))
                toy.add("Conv2DBackpropInput", [1, *out, 2], self.normal(kernel, kernel, 2, 3),
                        "image", name="transposed", strides=[1, stride, stride, 1],
                        dilations=[1, 1, 1, 1], padding=padding)
                toy.add("Add", "transposed", self.normal(2), name="out")
                self.check(toy, "out")


class PoolingTest(ToyTest):
    def test_pools(self):
        cases = itertools.product(("MaxPool", "AvgPool"), ("SAME", "VALID"), (2, 3), (1, 2))
        for op, padding, kernel, stride in cases:
            with self.subTest(op=op, padding=padding, kernel=kernel, stride=stride):
                if not onnxruntime and (op, padding, kernel) == ("MaxPool", "SAME", 2):
                    self.skipTest("onnx's evaluator gets MaxPool with uneven padding wrong; "
                                  "install onnxruntime")
                toy = Toy((1, 9, 12, 3))
                toy.add(op, "image", name="out", ksize=[1, kernel, kernel, 1],
                        strides=[1, stride, stride, 1], padding=padding)
                self.check(toy, "out")

    def test_global_average_follows_the_size(self):
        toy = Toy((1, 32, 32, 3))
        toy.add("AvgPool", "image", name="out", ksize=[1, 32, 32, 1], strides=[1, 32, 32, 1],
                padding="VALID")
        model = self.check(toy, "out", multiple_of=32)
        self.assertEqual(operators(model), {"GlobalAveragePool": 1})
        found = evaluate(model, {"image": np.ones((1, 3, 64, 96), np.float32)})
        self.assertEqual(found["out"].shape, (1, 3, 1, 1))

    def test_padding_is_taken_over_only_where_it_means_the_same(self):
        pads = [[0, 0], [1, 0], [2, 1], [0, 0]]
        cases = ((-np.inf, "MaxPool", 0), (0.0, "MaxPool", 1), (0.0, "AvgPool", 1),
                 (0.0, "Conv2D", 0), (1.5, "Conv2D", 1))
        for padding in ("VALID", "SAME"):
            for fill, op, pad_nodes in cases:
                with self.subTest(fill=fill, op=op, padding=padding):
                    toy = Toy((1, 8, 9, 3))
                    toy.add("PadV2", "image", pads, toy.constant(np.float32(fill)), name="pad")
                    if op == "Conv2D":
                        toy.add(op, "pad", self.normal(3, 3, 3, 2), name="out",
                                strides=[1, 2, 2, 1], dilations=[1, 1, 1, 1], padding=padding)
                    else:
                        toy.add(op, "pad", name="out", ksize=[1, 3, 3, 1],
                                strides=[1, 2, 2, 1], padding=padding)
                    self.assertEqual(operators(self.check(toy, "out"))["Pad"], pad_nodes)

    def test_padding_of_channels_is_not_taken_over(self):
        toy = Toy((1, 8, 9, 3))
        toy.add("Pad", "image", [[0, 0], [1, 1], [1, 1], [1, 0]], name="pad")
        toy.add("Conv2D", "pad", self.normal(3, 3, 4, 2), name="out", strides=[1, 1, 1, 1],
                dilations=[1, 1, 1, 1], padding="VALID")
        self.check(toy, "out")

    def test_padding_for_other_users(self):
        toy = Toy((1, 4, 5, 2))
        toy.add("Pad", "image", [[0, 0], [1, 2], [0, 3], [1, 0]], name="pad")
        toy.add("Relu", "pad", name="relu")
        toy.add("Add", "pad", "relu", name="sum")
        toy.add("Pad", "pad", [[0, 0], [0, 0], [1, 1], [0, 0]], name="twice")
        self.check(toy, ["sum", "pad", "twice"])


class ElementwiseTest(ToyTest):
    def test_unary(self):
        for op, attrs in (("Relu", {}), ("Relu6", {}), ("Sigmoid", {}), ("Identity", {}),
                          ("LeakyRelu", {"alpha": 0.1}), ("LeakyRelu", {})):
            with self.subTest(op=op, attrs=attrs):
                toy = Toy((1, 4, 5, 2))
                toy.add("Mul", "image", np.float32(6), name="scaled")
                toy.add(op, "scaled", name="out", **attrs)
                self.check(toy, "out")

    def test_binary_broadcasting_in_any_order(self):
        for op, shape, turned in itertools.product(
                ("Add", "AddV2", "Mul"), ((), (3,), (5, 1), (4, 5, 3), (1, 4, 1, 1)),
                (False, True)):
            with self.subTest(op=op, shape=shape, turned=turned):
                toy = Toy((1, 4, 5, 3))
                other = toy.constant(self.normal(*shape))
                operands = ["image", other] if turned else [other, "image"]
                toy.add(op, *operands, name="out")
                self.check(toy, "out")

    def test_tensors_in_different_orders(self):
        toy = Toy((1, 4, 4, 4))
        toy.add("Transpose", "image", [0, 2, 3, 1], name="turned")
        toy.add("Add", "image", "turned", name="sum")
        toy.add("Mul", "turned", "image", name="product")
        toy.add("AddN", "sum", "product", "turned", self.normal(4), name="out")
        self.check(toy, ["out", "sum"])

    def test_small_tensor_scales_channels(self):
        toy = Toy((1, 6, 6, 4))
        toy.add("AvgPool", "image", name="pool", ksize=[1, 6, 6, 1], strides=[1, 6, 6, 1],
                padding="VALID")
        toy.add("Mul", "pool", "image", name="out")
        self.check(toy, "out")


class ShapeTest(ToyTest):
    def test_transposes_vanish_between_convolutions(self):
        toy = Toy((1, 3, 8, 8))
        toy.add("Transpose", "image", [0, 2, 3, 1], name="to_nhwc")
        toy.add("Conv2D", "to_nhwc", self.normal(3, 3, 3, 4), name="conv", strides=[1, 1, 1, 1],
                dilations=[1, 1, 1, 1], padding="SAME")
        toy.add("Transpose", "conv", [0, 3, 1, 2], name="to_nchw")
        toy.add("Relu", "to_nchw", name="relu")
        toy.add("Pad", "relu", [[0, 0], [0, 0], [1, 1], [2, 0]], name="pad")
        toy.add("Transpose", "pad", [0, 2, 3, 1], name="back")
        toy.add("Conv2D", "back", self.normal(3, 3, 4, 2), name="conv2", strides=[1, 2, 2, 1],
                dilations=[1, 1, 1, 1], padding="VALID")
        toy.add("Transpose", "conv2", [0, 3, 1, 2], name="out")
        model = self.check(toy, "out", layout="nchw")
        self.assertEqual(operators(model), {"Conv": 2, "Relu": 1})

    def test_transpose_that_remains(self):
        for perm in ([0, 2, 1, 3], [0, 3, 1, 2], [0, 1, 3, 2]):
            with self.subTest(perm=perm):
                toy = Toy((1, 4, 5, 3))
                toy.add("Transpose", "image", perm, name="turned")
                toy.add("Relu", "turned", name="out")
                self.check(toy, "out")

    def test_concat_on_every_axis(self):
        for axis in (0, 1, 2, 3, -1, -3):
            with self.subTest(axis=axis):
                toy = Toy((1, 4, 4, 4))
                toy.add("Transpose", "image", [0, 2, 1, 3], name="turned")
                toy.add("ConcatV2", "turned", "image", self.normal(1, 4, 4, 4), axis, name="out",
                        N=3)
                self.check(toy, "out")

    def test_split(self):
        for axis in (1, 2, 3, -1):
            with self.subTest(axis=axis):
                toy = Toy((1, 6, 6, 6))
                toy.add("Split", axis, "image", name="parts", num_split=3)
                toy.add("Add", "parts:2", "parts", name="out")
                self.check(toy, ["out", "parts:1"])

    def test_split_v(self):
        for sizes in ([4, 2, 3], [4, -1, 3]):
            with self.subTest(sizes=sizes):
                toy = Toy((1, 5, 4, 9))
                toy.add("SplitV", "image", sizes, 3, name="parts", num_split=3)
                self.check(toy, ["parts", "parts:1", "parts:2"])

    def test_reshape(self):
        for shape in ([1, 60, 2], [1, -1, 2], [5, 24], [120]):
            with self.subTest(shape=shape):
                toy = Toy((1, 5, 12, 2))
                toy.add("Reshape", "image", shape, name="out")
                self.check(toy, "out")

    def test_reshape_of_open_sizes(self):
        for shape in ([1, 3, -1], [1, 3, 32 * 64], [3, -1], [3, 32 * 64]):
            with self.subTest(shape=shape):
                toy = Toy((1, 3, 32, 64))
                toy.add("Reshape", "image", shape, name="out")
                model = self.check(toy, "out", layout="nchw", multiple_of=32)
                image = self.normal(1, 3, 96, 32)
                found = evaluate(model, {"image": image})["out"]
                expected = [96 * 32 if n in (-1, 32 * 64) else n for n in shape]
                np.testing.assert_array_equal(found, image.reshape(expected))

    def test_constants_are_folded(self):
        toy = Toy((1, 4, 5, 3))
        toy.add("SparseToDense", np.zeros((0, 1), np.int32), [3], np.zeros(0, np.int32), 0,
                name="zeros")
        toy.add("AddV2", [1, 3, -1], "zeros", name="shape")
        toy.add("Identity", "shape", name="same")
        toy.add("Reshape", "image", "same", name="reshaped")
        toy.add("SparseToDense", np.array([[0], [2]]), [3], self.normal(2), np.float32(0.5),
                name="dense")
        toy.add("Reshape", "dense", [3, 1], name="column")
        toy.add("Transpose", self.normal(20, 3), [1, 0], name="turned")
        toy.add("Mul", "turned", "column", name="product")
        toy.add("Add", "reshaped", "product", name="out")
        self.assertEqual(operators(self.check(toy, "out")),
                         {"Reshape": 1, "Add": 1, "Transpose": 1})


class WeightTest(ToyTest):
    def test_quantised_weights_and_shards(self):
        for kind, shards in itertools.product((None, "float16", "uint8", "uint16"), (1, 3)):
            with self.subTest(kind=kind, shards=shards):
                toy = Toy((1, 8, 9, 3))
                filters = toy.constant(self.normal(3, 3, 3, 4), kind)
                toy.add("Conv2D", "image", filters, name="conv", strides=[1, 1, 1, 1],
                        dilations=[1, 1, 1, 1], padding="SAME")
                toy.add("BiasAdd", "conv", toy.constant(self.normal(4), kind), name="out")
                self.check(toy, "out", shards=shards)

    def test_quantised_integers_are_rounded_halves_up(self):
        toy = Toy()
        name = toy.constant([-255, 0, 255], "uint8")
        toy.weights[0]["quantization"].update(scale=0.5, min=-3)
        path = toy.save(self.folder, [])
        codes = np.frombuffer((path.parent / "weights0.bin").read_bytes(), np.uint8)
        np.testing.assert_array_equal(codes, [0, 128, 255])
        codes = np.array([1, 2, 3], np.uint8)  # -2.5, -2, -1.5
        (path.parent / "weights0.bin").write_bytes(codes.tobytes())
        np.testing.assert_array_equal(tfjs_to_onnx.load_graph(path).constants[name],
                                      [-2, -2, -1])

    def test_damaged_weights_are_refused(self):
        toy = Toy((1, 4, 4, 3))
        toy.add("Mul", "image", self.normal(4, 4, 3), name="out")
        for damage, message in ((lambda d: d[:-1], "end too early"),
                                (lambda d: d + b"x", "193 bytes, but the manifest describes 192")):
            path = toy.save(self.folder, ["out"])
            weights = path.parent / "weights0.bin"
            weights.write_bytes(damage(weights.read_bytes()))
            with self.assertRaisesRegex(tfjs_to_onnx.ConversionError, message):
                tfjs_to_onnx.load_graph(path)
        path = toy.save(self.folder, ["out"])
        (path.parent / "weights0.bin").unlink()
        with self.assertRaisesRegex(tfjs_to_onnx.ConversionError, "No such file"):
            tfjs_to_onnx.load_graph(path)
        path.write_text("{}")
        with self.assertRaisesRegex(tfjs_to_onnx.ConversionError, "not a TensorFlow.js graph"):
            tfjs_to_onnx.load_graph(path)


class DriverTest(ToyTest):
    def toy(self):
        toy = Toy((1, 8, 8, 3))
        toy.add("Relu", "image", name="a")
        toy.add("Sigmoid", "a", name="b")
        return toy

    def test_unknown_op_is_named_with_its_node(self):
        toy = self.toy()
        toy.add("FancyNewOp", "b", name="block/fancy")
        toy.add("Relu", "block/fancy", name="out")
        with self.assertRaisesRegex(tfjs_to_onnx.ConversionError,
                                    r"node 'block/fancy' \(FancyNewOp\): this op is unknown"):
            self.convert(toy, ["out"])

    def test_what_no_output_needs_is_left_out(self):
        toy = self.toy()
        toy.add("FancyNewOp", "b", name="unused")
        self.assertEqual(operators(self.check(toy, ["a"])), {"Relu": 1})

    def test_names(self):
        model = self.convert(self.toy(), ["a"], inputs={"image": "frame"},
                             outputs={"b": "first", "a": "second"})
        self.assertEqual([i.name for i in model.graph.input], ["frame"])
        self.assertEqual([o.name for o in model.graph.output], ["first", "second"])
        image = self.normal(1, 3, 8, 8)
        found = evaluate(model, {"frame": image})
        np.testing.assert_array_equal(found["second"], np.maximum(image, 0))

    def test_an_output_may_take_the_name_of_an_inner_tensor(self):
        model = self.convert(self.toy(), ["a"], outputs={"b": "a"})
        self.assertEqual([o.name for o in model.graph.output], ["a"])
        self.assertEqual(operators(model), {"Relu": 1, "Sigmoid": 1})

    def test_one_tensor_as_two_outputs_and_the_input_as_output(self):
        toy = self.toy()
        toy.add("Identity", "b", name="again")
        toy.add("Identity", "image", name="through")
        self.check(toy, ["again", "b", "through"])

    def test_wrong_names_are_refused(self):
        for options, message in (({"outputs": {"nothing": "x"}}, "node 'nothing'"),
                                 ({"outputs": {"a:3": "x"}}, "output 'a:3'"),
                                 ({"inputs": {"nothing": "x"}}, "input 'nothing'"),
                                 ({"outputs": {"a": "image"}}, "output 'image': an input"),
                                 ({"outputs": {"a": "x", "b": "x"}}, "the same name")):
            with self.assertRaisesRegex(tfjs_to_onnx.ConversionError, message):
                self.convert(self.toy(), ["a"], **options)

    def test_cycle_is_refused(self):
        toy = Toy((1, 4, 4, 3))
        toy.add("Add", "image", "b", name="a")
        toy.add("Relu", "a", name="b")
        with self.assertRaisesRegex(tfjs_to_onnx.ConversionError, "depends on itself"):
            self.convert(toy, ["b"])

    def test_command_line(self):
        path = self.toy().save(self.folder, ["b"])
        out = path.parent / "out.onnx"
        self.assertEqual(tfjs_to_onnx.main([str(path), str(out), "--output", "a=relu"]), 0)
        first = out.read_bytes()
        self.assertEqual(tfjs_to_onnx.main([str(path), str(out), "--output", "a=relu"]), 0)
        self.assertEqual(out.read_bytes(), first)
        self.assertEqual([p.name for p in path.parent.glob("*.part")], [])


if __name__ == "__main__":
    unittest.main()
