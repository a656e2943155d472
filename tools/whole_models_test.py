"""The whole graphs of the real models, converted, against the plain numpy interpreter.

Runs where the models' source files are: those that `sparing models get` keeps in nanodet-g.source and
people.source in the models folder, or else in the folder SPARING_TEST_SOURCE.
"""

import hashlib
import json
import os
import pathlib
import sys
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tfjs_reference  # noqa: E402
import tfjs_to_onnx  # noqa: E402
from tfjs_testing import evaluate, nchw, operators  # noqa: E402


def source_file(model, name):
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    models = os.environ.get("SPARING_MODELS_DIR") or pathlib.Path(cache, "sparing", "models")
    folders = [os.environ.get("SPARING_TEST_SOURCE"), pathlib.Path(models, f"{model}.source")]
    for folder in folders:
        if folder and pathlib.Path(folder, name).is_file():
            return pathlib.Path(folder, name)
    raise unittest.SkipTest(f"{name} is not in {folders[-1]}; run `sparing models get {model}`, "
                            "or set SPARING_TEST_SOURCE to a folder that has it")


class WholeModelTest(unittest.TestCase):
    def compare(self, graph, model, image, feed, changes=None):
        """Greatest absolute error over all outputs, and greatest value. `graph` as loaded."""
        nodes, weights = graph[0], {**graph[1], **(changes or {})}
        outputs = [o for o, _ in self.outputs]
        name = next(n["name"] for n in nodes if n["op"] == "Placeholder")
        expected = tfjs_reference.run(nodes, weights, {name: image}, outputs)
        found = evaluate(model, {"input": feed})
        worst = peak = 0.0
        for (_, onnx_name), reference in zip(self.outputs, expected):
            reference = nchw(reference) if feed is not image else reference
            self.assertEqual(found[onnx_name].shape, reference.shape)
            worst = max(worst, float(np.abs(found[onnx_name] - reference).max()))
            peak = max(peak, float(np.abs(reference).max()))
        return worst, peak

    def convert(self, name, file):
        path = source_file(name, file)
        manifest = json.loads((HERE.parent / "models" / f"{name}.json").read_text())
        recipe = manifest["source"]["convert"]
        self.outputs = list(recipe["outputs"].items())
        model = tfjs_to_onnx.convert(
            tfjs_to_onnx.load_graph(path), manifest["name"], recipe["layout"],
            recipe["multiple_of"], recipe["inputs"], recipe["outputs"])
        digest = hashlib.sha256(tfjs_to_onnx.serialize(model)).hexdigest()
        self.assertEqual(digest, manifest["sha256"])
        return tfjs_reference.load(path), model

    def test_probe_is_up_to_date(self):
        _, model = self.convert("nanodet-g", "nanodet.json")
        probe = json.loads((HERE.parent / "src/sparing/models/testdata/golden"
                            / "nanodet_g_probe.json").read_text())
        width, height = probe["input_size"]
        c, y, x = np.ogrid[:3, :height, :width]
        self.assertEqual(probe["input"], "((7 * x + 13 * y + 29 * c + x * y) % 97) / 48 - 1")
        image = (((7 * x + 13 * y + 29 * c + x * y) % 97) / 48 - 1).astype(np.float32)
        found = evaluate(model, {"input": image[None]})
        self.assertEqual(set(found), set(probe["outputs"]))
        for name, expected in probe["outputs"].items():
            self.assertEqual(list(found[name].shape), expected["shape"])
            np.testing.assert_allclose(found[name].reshape(-1)[expected["index"]],
                                       expected["value"], rtol=1e-4, atol=1e-5)

    def test_nanodet(self):
        graph, model = self.convert("nanodet-g", "nanodet.json")
        # Convolutions run NCHW with nothing between them: the only transposes put the outputs'
        # cells first.
        self.assertEqual(operators(model)["Transpose"], len(self.outputs))
        self.assertEqual(operators(model)["Pad"], 0)
        nodes, weights = graph
        written = {n["input"][1]: weights[n["input"][1]] for n in nodes
                   if n["op"] == "ResizeBilinear"}
        for height, width in ((416, 416), (320, 320), (320, 416), (96, 64)):
            scale = np.array([height, width]) / 416
            changes = {name: size * scale for name, size in written.items()}
            image = np.random.default_rng(3).standard_normal((1, 3, height, width))
            image = image.astype(np.float32)
            worst, peak = self.compare(graph, model, image, image, changes)
            print(f"nanodet {width}x{height}: greatest error {worst:.2e}, value {peak:.2f}")
            self.assertGreater(peak, 1)
            self.assertLess(worst, 1e-3)

    def test_people(self):
        (nodes, weights), model = self.convert("people", "selfie.json")
        self.assertEqual(operators(model)["Transpose"], 0)
        self.assertEqual(operators(model)["Pad"], 0)
        sizes = [(n["op"], n["input"][0 if n["op"] == "Conv2DBackpropInput" else 1])
                 for n in nodes if n["op"] in ("ResizeBilinear", "Conv2DBackpropInput")]
        self.assertEqual(len(sizes), 4)
        for height, width in ((256, 256), (160, 256), (256, 448), (128, 128)):
            scale = np.array([height, width]) / 256
            # Sizes that the graph has written into it; windows of its global averages.
            changes = {}
            for op, name in sizes:
                size = weights[name].copy()
                rows = slice(1, 3) if op == "Conv2DBackpropInput" else slice(0, 2)
                size[rows] = size[rows] * scale
                changes[name] = size
            here = []
            for node in nodes:
                if node["op"] == "AvgPool":
                    window = [int(i) for i in node["attr"]["ksize"]["list"]["i"]]
                    window[1:3] = [int(w * s) for w, s in zip(window[1:3], scale)]
                    pool = {"list": {"i": [str(w) for w in window]}}
                    node = {**node, "attr": {**node["attr"], "ksize": pool, "strides": pool}}
                here.append(node)
            image = np.random.default_rng(3).random((1, height, width, 3)).astype(np.float32)
            worst, peak = self.compare((here, weights), model, image, nchw(image), changes)
            print(f"people {width}x{height}: greatest error {worst:.2e}, value {peak:.2f}")
            # Noise shows no person: the logits go down to some -900.
            self.assertGreater(peak, 10)
            self.assertLess(worst, 1e-5 * peak)


if __name__ == "__main__":
    unittest.main()
