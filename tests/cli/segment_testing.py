"""What the tests of `sparing segment` share: small pictures and videos that are made here, what the program
wrote read back without it, and the model that comes with Sparing."""

import json
import os
import pathlib
import sys

import sparing_testing as st

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing (scripts/setup --test)")
    sys.exit(77)

import raw_video

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CAMVID = pathlib.Path(os.environ.get("SPARING_CAMVID", ROOT.parent / "shared" / "data" / "camvid"))
MODELS = ROOT / "models"
LABELS = json.loads((MODELS / "street.json").read_text())["labels"]
SIZE = (96, 72)  # width, height
# Small, so that a frame takes milliseconds.
FAST = ("--model", "street", "--size", "96x96", "--aux-width", 48, "--aux-height", 48)


def texture(seed, width=SIZE[0], height=SIZE[1]):
    """Luma with structure at all scales: something for the network to name and for flow to follow."""
    random = np.random.default_rng(seed)
    picture = np.zeros((height, width))
    for cell in (3, 6, 12, 24):
        small = random.normal(size=(-(-height // cell), -(-width // cell))) * cell
        picture += np.kron(small, np.ones((cell, cell)))[:height, :width]
    picture -= picture.min()
    return picture * 219 / picture.max() + 16


def clip(path, frames, seeds=(1,), blank=(), **options):
    """A picture that moves a pixel a frame; another one from each further seed on, in equal parts; `blank`
    frames are black."""
    pictures = []
    width, height = SIZE
    random = np.random.default_rng(99)
    for i in range(frames):
        part = i * len(seeds) // frames
        scene = texture(seeds[part], width + frames)
        luma = scene[:, i:i + width] + random.normal(size=(height, width)) * 2
        if i in blank:
            luma = np.full((height, width), 16)
        chroma = np.kron(np.random.default_rng(seeds[part]).integers(100, 156, (2, height // 12, width // 12)),
                         np.ones((6, 6)))
        pictures.append(np.clip(luma, 0, 255).astype(np.uint8).tobytes() + chroma.astype(np.uint8).tobytes())
    return raw_video.matroska(path, b"I420", width, height, pictures, **options)


def read_picture(path):
    width, height, channels, rows = raw_video.read_png(path)
    return np.frombuffer(b"".join(rows), np.uint8).reshape(height, width, channels)


def read_folder(folder):
    return [read_picture(path) for path in sorted(folder.iterdir())]


def decode_rle(rle):
    """COCO's compressed run lengths, after the definition."""
    counts, at, text = [], 0, rle["counts"]
    while at < len(text):
        value, shift, more = 0, 0, True
        while more:
            c = ord(text[at]) - 48
            at += 1
            value |= (c & 31) << shift
            shift += 5
            more = bool(c & 32)
            if not more and c & 16:
                value |= -1 << shift
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
    height, width = rle["size"]
    flat = np.repeat(np.arange(len(counts)) % 2, counts)
    return flat.reshape(width, height).T.astype(bool)


def labels_of(line):
    """The label map of a line of run lengths."""
    width, height = line["mask_size"]
    labels = np.full((height, width), 255, np.uint8)
    for entry in line["masks"]:
        mask = decode_rle(entry["rle"])
        assert (labels[mask] == 255).all(), "a pixel in two masks"
        labels[mask] = entry["class"]
    return labels


def write_png(path, pixels):
    """8-bit grey of (h, w), RGB of (h, w, 3)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw_video.write_png(path, np.asarray(pixels).astype(np.uint8))


class SegmentTest(st.CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "masks.jsonl"

    def segment(self, *arguments, **options):
        return st.sparing("segment", *arguments, **options)

    def run_json(self, *arguments):
        run = self.segment(*arguments, *FAST, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        return json.loads(run.stdout)

    def clip(self, frames=6, name="clip.mkv", **options):
        return clip(self.dir / name, frames, **options)

    def assert_files(self, *names):
        """Only these are there: nothing temporary is left."""
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(names))

    def manifest(self, model, **changes):
        """street's manifest, or street-aux's, with changes; None removes a field."""
        manifest = json.loads((MODELS / f"{model}.json").read_text())
        manifest["file"] = os.path.relpath(MODELS / manifest["file"], self.dir)
        manifest.update(changes)
        path = self.dir / f"{manifest['name']}.json"
        path.write_text(json.dumps({k: v for k, v in manifest.items() if v is not None}))
        return path
