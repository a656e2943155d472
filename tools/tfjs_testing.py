"""For the tests of the converter: small TensorFlow.js graph models, and running ONNX models."""

import base64
import collections
import json
import pathlib
import tempfile
import unittest

import numpy as np

import tfjs_reference
import tfjs_to_onnx

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def attribute(value):
    if isinstance(value, bool):
        return {"b": value}
    if isinstance(value, int):
        return {"i": str(value)}
    if isinstance(value, float):
        return {"f": value}
    if isinstance(value, str):
        return {"s": base64.b64encode(value.encode()).decode()}
    if value and isinstance(value[0], str):
        return {"list": {"s": [attribute(v)["s"] for v in value]}}
    return {"list": {"i": [str(v) for v in value]}}


class Toy:
    """Nodes in the order they are added; the methods return the new node's name."""

    def __init__(self, shape=None):
        self.nodes, self.weights, self.data = [], [], b""
        if shape:
            dims = {"dim": [{"size": str(n)} for n in shape]}
            self.nodes.append({"op": "Placeholder", "name": "image",
                               "attr": {"shape": {"shape": dims}}})

    def add(self, op, *inputs, name=None, **attrs):
        name = name or f"{op}_{len(self.nodes)}"
        references = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append({"op": op, "name": name, "input": references,
                           "attr": {k: attribute(v) for k, v in attrs.items()}})
        return name

    def constant(self, value, quantization=None):
        """quantization: None, "float16", "uint8" or "uint16"."""
        array = np.asarray(value)
        array = array.astype("<f4" if array.dtype.kind == "f" else "<i4")
        name = f"const_{len(self.weights)}"
        spec = {"name": name, "shape": list(array.shape),
                "dtype": "float32" if array.dtype.kind == "f" else "int32"}
        if quantization == "float16":
            spec["quantization"] = {"dtype": "float16", "original_dtype": "float32"}
            array = array.astype("<f2")
        elif quantization:
            top = {"uint8": 255, "uint16": 65535}[quantization]
            low, high = float(array.min()), float(array.max())
            scale = (high - low) / top or 1.0
            spec["quantization"] = {"dtype": quantization, "scale": scale, "min": low}
            array = np.round((array - low) / scale).astype(
                {"uint8": "u1", "uint16": "<u2"}[quantization])
        self.weights.append(spec)
        self.data += array.tobytes()
        self.nodes.append({"op": "Const", "name": name})
        return name

    def save(self, folder, outputs, shards=1):
        """Writes model.json and the weight files; returns model.json's path."""
        folder = pathlib.Path(folder)
        cuts = [len(self.data) * i // shards for i in range(shards + 1)]
        paths = [f"weights{i}.bin" for i in range(shards)]
        for path, start, end in zip(paths, cuts, cuts[1:]):
            (folder / path).write_bytes(self.data[start:end])
        model = {"format": "graph-model", "modelTopology": {"node": self.nodes},
                 "signature": {"outputs": {o: {"name": o} for o in outputs}},
                 "weightsManifest": [{"paths": paths, "weights": self.weights}]}
        (folder / "model.json").write_text(json.dumps(model))
        return folder / "model.json"


def evaluate(model, feeds):
    """{output name: array} of an onnx.ModelProto."""
    names = [o.name for o in model.graph.output]
    if onnxruntime:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        return dict(zip(names, session.run(names, feeds)))
    from onnx.reference import ReferenceEvaluator
    return dict(zip(names, ReferenceEvaluator(model).run(names, feeds)))


def nchw(array):
    return array.transpose(0, 3, 1, 2) if array.ndim == 4 else array


def operators(model):
    return collections.Counter(n.op_type for n in model.graph.node)


class ToyTest(unittest.TestCase):
    """A new random generator for each test, so that its data do not depend on the others."""

    def setUp(self):
        self.random = np.random.default_rng(7)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def convert(self, toy, signature, shards=1, **options):
        graph = tfjs_to_onnx.load_graph(toy.save(self.folder, signature, shards))
        return tfjs_to_onnx.convert(graph, "toy", **options)

    def check(self, toy, outputs, size=None, resizes=None, **options):
        """Converts, runs both at `size` (height, width), compares; returns the ONNX model.

        resizes: {constant: value} for the sizes that the TensorFlow.js graph has written into it.
        """
        if isinstance(outputs, str):
            outputs = [outputs]
        model = self.convert(toy, outputs, **options)
        nodes, weights = tfjs_reference.load(pathlib.Path(self.folder) / "model.json")
        weights.update(resizes or {})
        is_nhwc = options.get("layout", "nhwc") == "nhwc"
        shape = [int(d["size"]) for d in nodes[0]["attr"]["shape"]["shape"]["dim"]]
        if size:
            start = 1 if is_nhwc else 2
            shape[start:start + 2] = size
        image = self.normal(*shape)
        expected = tfjs_reference.run(nodes, weights, {"image": image}, outputs)
        found = evaluate(model, {"image": nchw(image) if is_nhwc else image})
        self.assertEqual([o.name for o in model.graph.output], sorted(outputs))
        for name, reference in zip(outputs, expected):
            reference = nchw(reference) if is_nhwc else reference
            self.assertEqual(found[name].shape, reference.shape)
            np.testing.assert_allclose(found[name], reference, rtol=1e-4, atol=1e-4)
        return model
