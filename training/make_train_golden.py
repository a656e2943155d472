#!/usr/bin/env python3
"""Records what PyTorch makes of small networks in 20 training steps, for src/sparing/train/golden_test.cc.

For each network below it writes NAME.onnx, and for each way to train it NAME-WAY.onnx: the same graph
with the weights (and running statistics) after 20 steps, computed in float64. Pictures, labels and
class weights follow from formulas that the test has, too. Needs torch and onnx:

  python3 training/make_train_golden.py src/sparing/train/testdata
"""
import io
import sys
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional as F

STEPS = 20
CLASSES = 5
SIZE = (20, 16)  # width, height
# name -> (batch norm's statistics, optimiser)
WAYS = {
    "sgd-frozen": ("frozen", lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=1e-3)),
    "adam-frozen": ("frozen", lambda p: torch.optim.Adam(p, 2e-3)),
    "sgd-live": ("live", lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=1e-3)),
    "adam-live": ("live", lambda p: torch.optim.Adam(p, 2e-3)),
}


def noise(seed, count):
    """Numbers in (-1, 1): those of `Noise` in graph_builder_test_util.h."""
    state = (seed * 2654435761 + 1) & 0xFFFFFFFF
    values = []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values.append(((state >> 8) - (1 << 23)) / (1 << 23))
    return torch.tensor(values, dtype=torch.float64)


def unit(inputs, outputs, stride=1, kernel=3, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs))


class Branches(nn.Module):
    """Two resolutions that exchange by resizing and adding, and a gate on the channels."""

    def __init__(self):
        super().__init__()
        self.stem = unit(3, 8, 2)
        self.high = unit(8, 8)
        self.low = unit(8, 12, 2)
        self.lift = unit(12, 8, kernel=1)
        self.squeeze = nn.Conv2d(8, 4, 1)
        self.expand = nn.Conv2d(4, 8, 1)
        self.classify = nn.Conv2d(20, CLASSES, 1)

    def forward(self, x):
        stem = F.relu(self.stem(x))
        low = F.hardswish(self.low(stem))
        up = F.interpolate(self.lift(low), size=(8, 10), mode="bilinear", align_corners=True)
        high = F.relu(self.high(stem) + up)
        gate = F.hardsigmoid(self.expand(F.relu(self.squeeze(high.mean((2, 3), keepdim=True)))))
        low = F.interpolate(low, scale_factor=2.0, mode="nearest")
        y = self.classify(torch.cat([high * gate, low], 1))
        return F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)


class Encoder(nn.Module):
    """Depthwise and dilated convolutions, pooling, PReLU, a transposed convolution, a softmax."""

    def __init__(self):
        super().__init__()
        self.first = unit(3, 8)
        self.slope = nn.PReLU(8)
        self.depthwise = unit(8, 8, groups=8)
        self.dilated = nn.Conv2d(8, 12, 3, padding=2, dilation=2, groups=2)
        self.project = nn.Conv2d(8, 12, 2)
        self.up = nn.ConvTranspose2d(12, 8, 4, 2, 1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.classify = nn.Conv2d(16, CLASSES, 3, padding=1)
        self.softmax = False

    def forward(self, x):
        x = self.slope(self.first(x))
        y = F.relu6(self.depthwise(F.max_pool2d(x, 3, 2, 1)))
        y = F.leaky_relu(self.dilated(y), 0.1) + self.project(F.pad(F.avg_pool2d(x, 2), (1, 0, 1, 0)))
        y = torch.sigmoid(self.norm(self.up(y)))
        y = self.classify(torch.cat([x, y], 1))
        return torch.softmax(y, 1) if self.softmax else y


def export(net):
    buffer = io.BytesIO()
    picture = torch.zeros(1, 3, SIZE[1], SIZE[0])
    torch.onnx.export(net, (picture,), buffer, opset_version=17, input_names=["image"],
                      output_names=["scores"], dynamo=False,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    model = onnx.load_from_string(buffer.getvalue())
    model.producer_name = model.producer_version = ""
    for node in model.graph.node:
        node.doc_string = ""
    del model.graph.value_info[:]
    return model


def with_weights(model, net):
    """The model with the module's present weights. Initializers have the module's own names."""
    state = net.state_dict()
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for tensor in result.graph.initializer:
        values = state[tensor.name].float().numpy().reshape(tuple(tensor.dims))
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return result


def train(net, way):
    statistics, make_optimiser = WAYS[way]
    net.train(statistics == "live")
    optimiser = make_optimiser(net.parameters())
    weights = 1 + 0.5 * noise(7, CLASSES)
    pixels = SIZE[0] * SIZE[1]
    losses = []
    for step in range(STEPS):
        image = noise(100 + step, 3 * pixels).reshape(1, 3, SIZE[1], SIZE[0])
        # One label more than there are classes: ignored.
        labels = ((noise(500 + step, pixels) + 1) / 2 * (CLASSES + 1)).long()
        labels = labels.where(labels < CLASSES, torch.tensor(255)).reshape(1, SIZE[1], SIZE[0])
        loss = F.cross_entropy(net(image), labels, weight=weights, ignore_index=255)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in (("branches", Branches), ("encoder", Encoder)):
        for way in WAYS:
            torch.manual_seed(3)
            net = make()
            for module in net.modules():
                if isinstance(module, nn.BatchNorm2d):
                    nn.init.uniform_(module.weight, 0.5, 1.5)
                    nn.init.uniform_(module.bias, -0.3, 0.3)
                    nn.init.uniform_(module.running_mean, -0.2, 0.2)
                    nn.init.uniform_(module.running_var, 0.5, 1.5)
            net.eval()
            if hasattr(net, "softmax"):
                net.softmax = True
            model = export(net)
            if hasattr(net, "softmax"):
                net.softmax = False
            onnx.save(with_weights(model, net), folder / f"{name}.onnx")
            before = {k: v.clone() for k, v in net.state_dict().items()}
            losses = train(net.double(), way)
            onnx.save(with_weights(model, net), folder / f"{name}-{way}.onnx")
            moved = max((v.float() - before[k]).abs().max().item()
                        for k, v in net.state_dict().items() if v.is_floating_point())
            print(f"{name} {way}: loss {losses[0]:.6f} to {losses[-1]:.6f}, moved up to {moved:.3f}")


if __name__ == "__main__":
    main()
