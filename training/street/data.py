"""CamVid frames in memory, and the augmentation of training.

Every random choice of a sample comes from (seed, epoch, index), so a resumed run sees what an
uninterrupted one would have seen.
"""
import os

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

from nets import CLASSES, MEAN, STD

IGNORE = len(CLASSES)
# Classes that cover few pixels; cut out of other frames and pasted.
RARE = [CLASSES.index(c) for c in ("pole", "sign", "fence", "car", "pedestrian", "bicyclist")]


def load(folder, part):
    """(frames [n, 3, h, w] uint8, labels [n, h, w] uint8, names) of one part (train or val)."""
    frames, labels, names = [], [], []
    for name in sorted(os.listdir(os.path.join(folder, part))):
        stem = os.path.splitext(name)[0]
        image = Image.open(os.path.join(folder, part, name)).convert("RGB")
        label = Image.open(os.path.join(folder, part + "_labels", stem + ".png"))
        frames.append(torch.from_numpy(np.array(image)).permute(2, 0, 1))
        labels.append(torch.from_numpy(np.array(label)))
        names.append(stem)
    return torch.stack(frames), torch.stack(labels), names


def normalise(frames):
    """0..255 values [..., 3, h, w] to what the nets take."""
    mean = torch.tensor(MEAN).view(3, 1, 1)
    std = torch.tensor(STD).view(3, 1, 1)
    return (frames.float() - mean) / std


class Frames:
    """Frames and their halves (2x2 means), so that small views are drawn without aliasing."""

    def __init__(self, frames, labels):
        halves = [F.avg_pool2d(f[None].float(), 2)[0].round().byte() for f in frames]
        self.levels = [frames, torch.stack(halves)]
        self.labels = labels

    def view(self, rng, index, size, unit):
        """A random view of size (w, h): flip, scale, stretch, small turn, place.

        unit: pixels of the frame in one of the view at scale 1. Outside the frame the label is -1.
        """
        height, width = self.labels[index].shape
        scale = np.exp(rng.uniform(np.log(0.6), np.log(1.9)))
        stretch = np.exp(rng.uniform(-0.1, 0.1))
        angle = np.deg2rad(rng.uniform(-5, 5))
        flip = -1.0 if rng.random() < 0.5 else 1.0
        # Half the view's extent in the frame, as a share of half the frame.
        x = size[0] * unit / scale * stretch / width
        y = size[1] * unit / scale / stretch / height
        at_x, at_y = rng.uniform(-1, 1) * abs(1 - x), rng.uniform(-1, 1) * abs(1 - y)
        cos, sin = np.cos(angle), np.sin(angle)
        theta = torch.tensor([[flip * cos * x, -sin * y * height / width, at_x],
                              [flip * sin * x * width / height, cos * y, at_y]],
                             dtype=torch.float32)
        grid = F.affine_grid(theta[None], [1, 1, size[1], size[0]], align_corners=False)
        frame = self.levels[1 if unit / scale > 1.8 else 0][index]
        mean = torch.tensor(MEAN).view(3, 1, 1)
        seen = F.grid_sample((frame.float() - mean)[None], grid, align_corners=False)[0] + mean
        # Shifted by one, so that what is outside becomes -1.
        ids = F.grid_sample((self.labels[index].float() + 1)[None, None], grid, mode="nearest",
                            align_corners=False)[0, 0]
        return seen, ids.long() - 1


def jitter(rng, image):
    """Ordinary colour jitter of 0..255 values: brightness, contrast, saturation, gamma, tint."""
    if rng.random() < 0.2:
        return image
    image = image * rng.uniform(0.7, 1.3)
    grey = (image * torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)).sum(0, keepdim=True)
    image = grey + (image - grey) * rng.uniform(0.5, 1.5)
    image = grey.mean() + (image - grey.mean()) * rng.uniform(0.7, 1.3)
    image = image * torch.from_numpy(rng.uniform(0.94, 1.06, (3, 1, 1))).float()
    image = image.clamp(0, 255)
    return 255 * (image / 255) ** float(np.exp(rng.uniform(-0.25, 0.25)))


class Training(torch.utils.data.Dataset):
    """Augmented samples (image, label): image normalised, label -1 or 11 where nothing is known."""

    def __init__(self, frames, labels, seed):
        self.frames = Frames(frames, labels)
        self.seed = seed
        self.size, self.unit, self.epoch = (480, 360), 1.0, 0  # set before each epoch
        self.holders = {c: [i for i in range(len(labels)) if int((labels[i] == c).sum()) > 60]
                        for c in RARE}

    def __len__(self):
        return len(self.frames.labels)

    def __getitem__(self, index):
        rng = np.random.default_rng([self.seed, self.epoch, index])
        image, label = self.frames.view(rng, index, self.size, self.unit)
        if rng.random() < 0.5:
            image, label = self.paste(rng, image, label)
        return normalise(jitter(rng, image)), label

    def paste(self, rng, image, label):
        """The rare classes of another frame's view, each with probability 0.6, over this one."""
        wanted = RARE[rng.integers(len(RARE))]
        other = self.holders[wanted][rng.integers(len(self.holders[wanted]))]
        seen, ids = self.frames.view(rng, other, self.size, self.unit)
        mask = torch.zeros_like(ids, dtype=torch.bool)
        for c in RARE:
            if c == wanted or rng.random() < 0.6:
                mask |= ids == c
        return torch.where(mask, seen, image), torch.where(mask, ids, label)


def class_weights(labels):
    """Square root of the inverse frequency, mean 1 over the pixels."""
    counts = torch.bincount(labels.flatten().long(), minlength=IGNORE + 1)[:IGNORE].double()
    share = counts / counts.sum()
    weights = share.rsqrt()
    return (weights / (weights * share).sum()).float()
