"""The two street nets: dense 3x3 convolutions at two resolutions, batch norm, ReLU.

Only operators that the runtime's trainer reads are used: Conv, BatchNormalization, Relu, Add, Concat
and bilinear Resize by a whole factor. Channel counts are multiples of 16 (what oneDNN likes best).
Every layer halves or thirds its input exactly, so no Shape arithmetic gets into the exported graph:
MainNet takes any multiple of 24 pixels, AuxNet any multiple of 12.
"""
import torch
from torch import nn
from torch.nn import functional as F

CLASSES = ["sky", "building", "pole", "road", "pavement", "tree", "sign", "fence", "car",
           "pedestrian", "bicyclist"]
# Per channel (red, green, blue) of 0..255 values; not part of the exported graphs.
MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]
MAIN_SIZE = (480, 360)  # width, height of the input
AUX_SIZE = (240, 180)
OUTPUT_SIZE = (240, 180)  # of both nets' logits


def upsample(x, factor):
    return F.interpolate(x, scale_factor=float(factor), mode="bilinear", align_corners=False)


class ConvBn(nn.Sequential):
    def __init__(self, inputs, outputs, kernel=3, stride=1, dilation=1, relu=True):
        # A kernel as large as its stride tiles the input: no padding.
        padding = 0 if kernel == 1 or stride == 3 else dilation
        layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, bias=False),
                  nn.BatchNorm2d(outputs)]
        super().__init__(*layers, *([nn.ReLU()] if relu else []))


class Block(nn.Module):
    """Two 3x3 convolutions around a shortcut; in training left out at random, image by image."""

    def __init__(self, channels, dilation=1, drop=0.0):
        super().__init__()
        self.first = ConvBn(channels, channels, dilation=dilation)
        self.second = ConvBn(channels, channels, dilation=dilation, relu=False)
        self.drop = drop

    def forward(self, x):
        y = self.second(self.first(x))
        if self.training and self.drop > 0:
            keep = 1 - self.drop
            mask = torch.empty(x.shape[0], 1, 1, 1, dtype=y.dtype).bernoulli_(keep) / keep
            y = y * mask
        return F.relu(x + y)


class MainNet(nn.Module):
    def __init__(self, drop=0.1):
        super().__init__()
        n = len(CLASSES)
        self.stem = ConvBn(3, 16, stride=2)
        self.quarter = nn.Sequential(ConvBn(16, 32, stride=2), Block(32), Block(32))
        self.eighth = nn.Sequential(ConvBn(32, 64, stride=2), Block(64, 1, drop), Block(64, 2, drop))
        self.low = nn.Sequential(ConvBn(64, 96, stride=3), Block(96, 1, drop), Block(96, 2, drop))
        self.low_out = ConvBn(96, 64, 1, relu=False)
        self.fuse = Block(64, 1, drop)
        self.to_quarter = ConvBn(64, 32, 1)
        self.at_quarter = ConvBn(64, 32)
        self.to_half = ConvBn(32, 16, 1)
        self.at_half = ConvBn(32, 16)
        self.classify = nn.Conv2d(16, n, 1)
        self.deep = nn.Conv2d(64, n, 1)  # deep supervision, in training only

    def forward(self, x):
        half = self.stem(x)
        quarter = self.quarter(half)
        eighth = self.eighth(quarter)
        low = self.low_out(self.low(eighth))
        fused = self.fuse(F.relu(eighth + upsample(low, 3)))
        y = self.at_quarter(torch.cat([upsample(self.to_quarter(fused), 2), quarter], 1))
        y = self.at_half(torch.cat([upsample(self.to_half(y), 2), half], 1))
        y = self.classify(y)
        return (y, self.deep(fused)) if self.training else y


class AuxNet(nn.Module):
    def __init__(self, drop=0.05):
        super().__init__()
        n = len(CLASSES)
        self.stem = ConvBn(3, 16, stride=2)
        self.quarter = nn.Sequential(ConvBn(16, 32, stride=2), ConvBn(32, 32))
        self.low = nn.Sequential(ConvBn(32, 64, stride=3), Block(64, 1, drop), Block(64, 2, drop))
        self.low_out = ConvBn(64, 32, 1, relu=False)
        self.fuse = ConvBn(32, 32)
        self.to_half = ConvBn(32, 16, 1, relu=False)
        self.at_half = ConvBn(16, 16)
        self.classify = nn.Conv2d(16, n, 1)
        self.deep = nn.Conv2d(32, n, 1)  # deep supervision, in training only

    def forward(self, x):
        half = self.stem(x)
        quarter = self.quarter(half)
        fused = self.fuse(F.relu(quarter + upsample(self.low_out(self.low(quarter)), 3)))
        y = self.at_half(F.relu(half + upsample(self.to_half(fused), 2)))
        y = upsample(self.classify(y), 2)
        return (y, self.deep(fused)) if self.training else y


NETS = {"main": (MainNet, MAIN_SIZE), "aux": (AuxNet, AUX_SIZE)}


def cost(name):
    """(multiply-accumulates of the convolutions at the net's input size, parameters exported)."""
    make, (width, height) = NETS[name]
    net = make().eval()
    macs = [0]

    def count(module, _, output):
        kernel = module.weight[0].numel()
        macs[0] += kernel * output.shape[1] * output.shape[2] * output.shape[3]

    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(count)
    with torch.no_grad():
        net(torch.zeros(1, 3, height, width))
    parameters = sum(t.numel() for k, t in net.state_dict().items()
                     if not k.startswith("deep") and not k.endswith("num_batches_tracked"))
    return macs[0], parameters


if __name__ == "__main__":
    for key in NETS:
        print(key, "%.4f GMACs, %d parameters" % (cost(key)[0] / 1e9, cost(key)[1]))
