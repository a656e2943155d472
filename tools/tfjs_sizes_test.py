"""Resizing, and graphs whose height and width are open, against the plain numpy interpreter."""

import itertools
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tfjs_to_onnx  # noqa: E402
from tfjs_testing import Toy, ToyTest  # noqa: E402


class ResizeTest(ToyTest):
    MODES = ({}, {"align_corners": True}, {"half_pixel_centers": True})

    def test_modes_and_sizes(self):
        for attrs, size in itertools.product(self.MODES, ([8, 10], [3, 4], [7, 13], [4, 10])):
            with self.subTest(attrs=attrs, size=size):
                toy = Toy((1, 4, 5, 2))
                toy.add("ResizeBilinear", "image", size, name="out", **attrs)
                self.check(toy, "out")

    def test_written_sizes_become_scales(self):
        for attrs, size, factor in itertools.product(self.MODES, (None, (96, 32), (32, 160)),
                                                     (2, 0.5)):
            with self.subTest(attrs=attrs, size=size, factor=factor):
                toy = Toy((1, 64, 32, 2))
                target = toy.constant([int(64 * factor), int(32 * factor)])
                toy.add("ResizeBilinear", "image", target, name="out", **attrs)
                now = {target: np.array(size or (64, 32)) * factor}
                self.check(toy, "out", size, now, multiple_of=32)


class OpenSizeTest(ToyTest):
    """Height and width are open: what was derived at one size holds at the others."""

    SIZES = (None, (32, 96), (160, 64))

    def test_strided_chain(self):
        for padding, size in itertools.product(("SAME", "VALID"), self.SIZES):
            with self.subTest(padding=padding, size=size):
                toy = Toy((1, 64, 32, 2))
                last = "image"
                for i, stride in enumerate((2, 1, 2, 2) if padding == "SAME" else (2, 1, 2)):
                    last = toy.add("Conv2D", last, self.normal(3, 3, 2, 2), padding=padding,
                                   strides=[1, stride, stride, 1], dilations=[1, 1, 1, 1])
                    if i == 1:
                        last = toy.add("MaxPool", last, ksize=[1, 3, 3, 1],
                                       strides=[1, 2, 2, 1], padding=padding)
                model = self.check(toy, last, size, multiple_of=32)
                shape = model.graph.input[0].type.tensor_type.shape.dim
                self.assertEqual([d.dim_param or d.dim_value for d in shape],
                                 [1, 2, "height", "width"])

    def test_transposed_convolution(self):
        for size in self.SIZES:
            with self.subTest(size=size):
                toy = Toy((1, 64, 32, 3))
                target = toy.constant([1, 128, 64, 2])
                toy.add("Conv2DBackpropInput", target, self.normal(3, 3, 2, 3), "image",
                        name="out", strides=[1, 2, 2, 1], dilations=[1, 1, 1, 1], padding="SAME")
                height, width = size or (64, 32)
                self.check(toy, "out", size, {target: np.array([1, 2 * height, 2 * width, 2])},
                           multiple_of=32)

    def test_transposed_convolution_before_a_strided_one(self):
        for size in self.SIZES:
            with self.subTest(size=size):
                toy = Toy((1, 64, 32, 3))
                target = toy.constant([1, 129, 65, 2])
                toy.add("Conv2DBackpropInput", target, self.normal(3, 3, 2, 3), "image",
                        name="up", strides=[1, 2, 2, 1], dilations=[1, 1, 1, 1],
                        padding="VALID")
                self.add_strided(toy, "up")
                height, width = size or (64, 32)
                now = np.array([1, 2 * height + 1, 2 * width + 1, 2])
                self.check(toy, "out", size, {target: now}, multiple_of=32)

    def test_concat_of_open_sizes(self):
        for size in self.SIZES:
            with self.subTest(size=size):
                toy = Toy((1, 64, 32, 2))
                toy.add("Pad", "image", [[0, 0], [1, 0], [0, 0], [0, 0]], name="more")
                toy.add("ConcatV2", "image", "more", 1, name="tall")
                self.add_strided(toy, "tall")
                toy.add("ConcatV2", "image", "image", 1, name="twice")
                # Twice a multiple of 32 is a multiple of 64.
                toy.add("MaxPool", "twice", name="pool", ksize=[1, 64, 1, 1],
                        strides=[1, 64, 1, 1], padding="SAME")
                self.check(toy, ["out", "pool"], size, multiple_of=32)

    def add_strided(self, toy, source):
        """Its SAME padding differs between even and odd sizes."""
        toy.add("Conv2D", source, self.normal(3, 3, 2, 2), name="out", strides=[1, 2, 2, 1],
                dilations=[1, 1, 1, 1], padding="SAME")

    def refused(self, toy, message, **options):
        with self.assertRaisesRegex(tfjs_to_onnx.ConversionError, message):
            self.convert(toy, ["out"], **options)

    def test_what_cannot_hold_for_every_size_is_refused(self):
        toy = Toy((1, 64, 32, 2))
        toy.add("MaxPool", "image", name="out", ksize=[1, 64, 64, 1], strides=[1, 64, 64, 1],
                padding="SAME")
        self.refused(toy, r"node 'out' \(MaxPool\): stride 64 .*multiple_of", multiple_of=32)
        toy = Toy((1, 64, 32, 2))
        toy.add("ResizeBilinear", "image", [100, 32], name="out")
        self.refused(toy, r"node 'out' \(ResizeBilinear\): 64 to 100", multiple_of=32)
        toy = Toy((1, 64, 32, 2))
        toy.add("Reshape", "image", [1, 64, 64], name="out")
        self.refused(toy, r"node 'out' \(Reshape\): shape \[1, 64, 64\]", multiple_of=32)
        toy = Toy((1, 64, 32, 2))
        toy.add("Split", 1, "image", name="out", num_split=2)
        self.refused(toy, r"node 'out' \(Split\): splits the height", multiple_of=32)
        toy = Toy((1, 60, 32, 2))
        toy.add("Relu", "image", name="out")
        self.refused(toy, "height 60 is not a multiple", multiple_of=32)


if __name__ == "__main__":
    unittest.main()
