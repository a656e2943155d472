"""What the comparisons of import with other libraries share: pictures, our own import through
import_tool, and how agreement is measured.

Environment: SPARING_IMPORT_TOOL, and SPARING_SAMPLE (the sample video, for natural content). A test
that lacks its reference exits with 77, which ctest reports as skipped.
"""

import functools
import os
import pathlib
import subprocess
import sys
import unittest

try:
    import cv2
    import numpy as np
    import PIL.Image
except ImportError as error:
    print(f"skipped: {error} (scripts/setup --test)")
    sys.exit(77)

TOOL = os.environ.get("SPARING_IMPORT_TOOL", "build/release/bin/import_tool")
SAMPLE = pathlib.Path(os.environ.get("SPARING_SAMPLE", ".deps/samples/vtest.avi"))
TYPES = {"float32": np.float32, "uint8": np.uint8}
# Import's two implementations: what holds for one must hold for the other.
PATHS = ("fast", "reference")
BT601 = {"matrix": "601", "range": "limited"}


def import_frame(pixels, picture_format, size, path="fast", frame_size=None, **options):
    """One import. pixels: an array whose bytes are the planes; its first two dimensions are the frame's
    height and width unless frame_size (width, height) says otherwise. size: (width, height) of the
    tensor, which comes back as [height, width, channels], or [channels, height, width] for layout=nchw.
    """
    width, height = frame_size or (pixels.shape[1], pixels.shape[0])
    words = [TOOL, picture_format, f"{width}x{height}", f"size={size[0]}x{size[1]}"]
    if path == "reference":
        words.append("reference=1")
    for key, value in options.items():
        text = ",".join(map(repr, value)) if isinstance(value, (tuple, list)) else value
        words.append(f"{key}={text}")
    run = subprocess.run(words, input=np.ascontiguousarray(pixels).tobytes(), capture_output=True,
                         timeout=300)
    if run.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {run.stderr.decode()}")
    channels = int(options.get("channels", 3))
    values = np.frombuffer(run.stdout, TYPES[options.get("type", "float32")])
    if options.get("layout") == "nchw":
        return values.reshape(channels, size[1], size[0])
    return values.reshape(size[1], size[0], channels)


@functools.cache
def natural():
    """An RGB frame of the sample video, or None where that is missing."""
    if not SAMPLE.exists():
        return None
    video = cv2.VideoCapture(str(SAMPLE))
    video.set(cv2.CAP_PROP_POS_FRAMES, 100)
    read, frame = video.read()
    if not read:
        raise RuntimeError(f"{SAMPLE}: no frame")
    return frame[:, :, ::-1].copy()


@functools.cache
def noise():
    """The hardest picture for a resampler: each sample on its own. Odd sides."""
    return np.random.default_rng(1).integers(0, 256, (203, 301, 3), dtype=np.uint8)


def pictures():
    return [noise()] if natural() is None else [noise(), natural()]


def untied(origin, extent, pixels, distance):
    """Which of an axis' tensor pixels have their centre farther than `distance` from the border between
    two samples, where the rounding of positions decides. All, where positions are not rounded."""
    if (origin * 64) % 1 == 0 and (extent * 64 / pixels) % 1 == 0:
        return np.full(pixels, True)
    centers = origin + (np.arange(pixels) + .5) * extent / pixels
    return np.abs(centers - np.round(centers)) > distance


def in_gamut(picture):
    """The picture with less contrast, so that its colours stay within 0..255 after a loss of chroma
    resolution, and clamping plays no part."""
    return (picture * 0.4 + 76.5).astype(np.uint8)


class Agreement:
    """Differences of any number of comparisons, in 8-bit steps."""

    def __init__(self):
        self.largest = 0.0
        self.histogram = np.zeros(2048, np.int64)  # in steps of 1/8

    def add(self, ours, theirs):
        if ours.shape != theirs.shape:
            raise ValueError(f"shapes {ours.shape} and {theirs.shape}")
        difference = np.abs(ours.astype(np.float64) - theirs)
        self.largest = max(self.largest, float(difference.max()))
        steps = np.ceil(difference * 8 - 1e-9).astype(np.int64)
        self.histogram += np.bincount(steps.ravel(), minlength=2048)
        return self

    def share_within(self, bound):
        """bound: a multiple of 1/8."""
        return float(self.histogram[:round(bound * 8) + 1].sum() / self.histogram.sum())

    def __str__(self):
        shares = ", ".join(f"{100 * self.share_within(b):.3f} % within {b}" for b in (.5, 1, 2))
        return f"largest {self.largest:.4f}, {shares} of {self.histogram.sum()} values"


class PeerTest(unittest.TestCase):
    """A claim of agreement names its bounds, and a control beside it shows that they are tight: the same
    import a quarter of a sample aside must break them."""

    def assert_agree(self, name, agreement, largest, within_half=0.0):
        print(f"{self.id()}: {name}: {agreement}")
        self.assertLessEqual(agreement.largest, largest, f"{name}: {agreement}")
        self.assertGreaterEqual(agreement.share_within(.5), within_half, f"{name}: {agreement}")

    def assert_broken(self, agreement, largest):
        self.assertGreater(agreement.largest, largest, f"control: {agreement}")
