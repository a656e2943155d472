"""Runs an ONNX graph with PyTorch, so that the very file that the trainer steps can be stepped there."""
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional as F


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


class OnnxNet(nn.Module):
    """Convolutions, batch norm with frozen statistics, activations, sums, concatenation, resizing."""

    def __init__(self, path):
        super().__init__()
        graph = onnx.load(path).graph
        self.nodes = list(graph.node)
        self.input, self.output = graph.input[0].name, graph.output[0].name
        self.weights = nn.ParameterDict()
        self.constants = {}
        trained = set()
        for node in self.nodes:
            if node.op_type in ("Conv", "ConvTranspose", "PRelu"):
                trained.update(node.input[1:])
            elif node.op_type == "BatchNormalization":
                trained.update(node.input[1:3])
        for tensor in graph.initializer:
            value = torch.from_numpy(numpy_helper.to_array(tensor).copy())
            if tensor.name in trained:
                self.weights[tensor.name.replace(".", "/")] = nn.Parameter(value)
            else:
                self.constants[tensor.name] = value

    def forward(self, image):
        known = dict(self.constants)
        known[self.input] = image
        get = lambda name: self.weights[name.replace(".", "/")] if name not in known else known[name]
        for node in self.nodes:
            inputs = [get(name) if name else None for name in node.input]
            known[node.output[0]] = self.run(node, inputs)
        return known[self.output]

    @staticmethod
    def run(node, x):
        a = attributes(node)
        kind = node.op_type
        if kind == "Conv":
            pads = a.get("pads", [0, 0, 0, 0])
            assert pads[:2] == pads[2:], "uneven padding"
            return F.conv2d(x[0], x[1], x[2] if len(x) > 2 else None, a.get("strides", [1, 1]),
                            pads[:2], a.get("dilations", [1, 1]), a.get("group", 1))
        if kind == "BatchNormalization":
            return F.batch_norm(x[0], x[3], x[4], x[1], x[2], False, eps=a.get("epsilon", 1e-5))
        if kind == "Relu":
            return F.relu(x[0])
        if kind == "Add":
            return x[0] + x[1]
        if kind == "Concat":
            return torch.cat(x, a["axis"])
        if kind == "Resize":
            scale = [float(s) for s in x[2][2:]]
            assert a["mode"] == b"linear" and a.get(
                "coordinate_transformation_mode", b"half_pixel") in (b"half_pixel",
                                                                     b"pytorch_half_pixel")
            return F.interpolate(x[0], scale_factor=scale, mode="bilinear", align_corners=False)
        raise NotImplementedError(kind)
