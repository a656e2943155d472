"""`sparing segment` with the model that comes with Sparing, on small pictures made here: what is written,
what is said, and what is refused."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import sparing_testing as st

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing (scripts/setup --test)")
    sys.exit(77)

import raw_video

try:
    from pycocotools import mask as coco_mask
except ImportError:
    coco_mask = None

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


class Masks(SegmentTest):
    def test_png_and_run_lengths_hold_the_same_labels(self):
        folder = self.dir / "masks"
        summary = self.run_json(self.clip(), "--out", folder, "--out", self.out)
        self.assertEqual(sorted(os.listdir(folder)), [f"{i:06d}.png" for i in range(6)])
        lines = st.read_jsonl(self.out)
        self.assertEqual([line["frame"] for line in lines], list(range(6)))
        seen = set()
        for line, picture in zip(lines, read_folder(folder)):
            self.assertEqual((line["width"], line["height"]), SIZE)
            self.assertEqual(line["mask_size"], list(SIZE))
            labels = labels_of(line)
            np.testing.assert_array_equal(labels, picture[..., 0])
            for entry in line["masks"]:
                self.assertEqual(entry["label"], LABELS[entry["class"]])
                if coco_mask is not None:
                    np.testing.assert_array_equal(coco_mask.decode(entry["rle"]), labels == entry["class"])
            seen |= set(np.unique(labels))
        self.assertGreater(len(seen), 1)  # else all of this would say little
        self.assertLess(max(seen), len(LABELS))
        self.assertEqual([held["frames"] for held in summary["held"]], [6, 6])

    def test_standard_output_and_standard_input(self):
        video = self.clip()
        run = self.segment(video, *FAST, "--out", self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        piped = subprocess.run([st.BINARY, "segment", "-", *map(str, FAST), "--out", "-"],
                               input=video.read_bytes(), capture_output=True, timeout=120)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        lines = [json.loads(line) for line in piped.stdout.splitlines()]
        self.assertEqual({line["source"] for line in lines}, {"standard input"})
        self.assertIn(b"6 frames", piped.stderr)
        self.assertEqual([line["masks"] for line in lines],
                         [line["masks"] for line in st.read_jsonl(self.out)])

    def test_pictures_keep_their_names_and_sizes(self):
        folder = self.dir / "frames"
        sizes = {"img2": (96, 72), "img10": (95, 71), "img11": (64, 96)}
        for seed, (name, (width, height)) in enumerate(sizes.items()):
            write_png(folder / f"{name}.png", np.dstack([texture(seed, width, height)] * 3))
        self.run_json(folder, "--out", self.dir / "masks", "--out", self.out)
        lines = st.read_jsonl(self.out)
        self.assertEqual([pathlib.Path(line["file"]).stem for line in lines], list(sizes))
        for line, (name, size) in zip(lines, sizes.items()):
            self.assertEqual(tuple(line["mask_size"]), size)
            picture = read_picture(self.dir / "masks" / f"{name}.png")
            np.testing.assert_array_equal(picture[..., 0], labels_of(line))

    def test_max_frames(self):
        summary = self.run_json(self.clip(), "--max-frames", 2, "--out", self.out)
        self.assertEqual((summary["frames"], len(st.read_jsonl(self.out))), (2, 2))


class Summary(SegmentTest):
    def test_fields(self):
        video = self.clip()
        summary = self.run_json(video, "--mode", "auxadapt+temporal", "--out", self.out)
        self.assertEqual(
            set(summary),
            {"schema", "input", "model", "aux", "mode", "device", "precision", "threads", "streams",
             "input_size", "mask_size", "frames", "main_looks", "cuts", "blank_frames", "wall_seconds",
             "fps", "stages", "learning", "damaged_frames", "hdr_frames", "unusable_pixels",
             "dropped_frames", "last_time_seconds", "interrupted", "error", "outputs", "held"})
        expected = {"schema": 1, "input": str(video), "model": "street", "aux": "street-aux",
                    "mode": "auxadapt+temporal", "input_size": [96, 96], "mask_size": [48, 48],
                    "frames": 6, "main_looks": 6, "cuts": 0, "blank_frames": 0, "damaged_frames": 0,
                    "hdr_frames": 0, "unusable_pixels": {"not_finite": 0, "unknown_class": 0},
                    "dropped_frames": [], "last_time_seconds": 0.2, "interrupted": False,
                    "error": None, "outputs": [str(self.out)]}
        for name, value in expected.items():
            self.assertEqual(summary[name], value, name)
        self.assertEqual(set(summary["learning"]), {"steps", "refused", "resets", "loss", "distance"})
        self.assertEqual(summary["learning"]["steps"], 6)
        self.assertGreater(summary["learning"]["distance"], 0)
        self.assertEqual(set(summary["stages"]), {"decode", "motion", "import", "MainNet", "AuxNet",
                                                  "fusion", "labels", "learning", "output"})
        for name, stage in summary["stages"].items():
            self.assertGreaterEqual(stage["count"], 6, name)

    def test_the_text(self):
        run = self.segment(self.clip(), *FAST, "--mode", "auxadapt", "--main-every", 2, "--out", self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        for words in ("6 frames in", "mode auxadapt", "street at 96x96, masks at 48x48, with street-aux",
                      "MainNet looked at 3 of them", "AuxNet learnt 3 times", str(self.out)):
            self.assertIn(words, run.stdout)
        run = self.segment(self.clip(), *FAST, "--quiet", "--out", self.out)
        self.assertEqual((run.stdout, run.stderr), ("", ""))

    def test_modes(self):
        video = self.clip()
        maps = {}
        for mode, really, aux in (("auto", "ensemble+temporal", True), ("main", "main", False),
                                  ("aux", "aux", True), ("ensemble", "ensemble", True),
                                  ("ema", "ema", False), ("emaflow", "emaflow", False),
                                  ("temporal", "temporal", False), ("auxadapt", "auxadapt", True)):
            summary = self.run_json(video, "--mode", mode, "--out", self.out)
            self.assertEqual(summary["mode"], really)
            self.assertEqual(summary["aux"], "street-aux" if aux else None, mode)
            self.assertEqual(summary["main_looks"], 0 if mode == "aux" else 6, mode)
            self.assertEqual(summary["learning"]["steps"], 6 if mode == "auxadapt" else 0, mode)
            maps[mode] = np.array([labels_of(line) for line in st.read_jsonl(self.out)])
        # Before anything is learnt or averaged they are the same.
        np.testing.assert_array_equal(maps["main"][0], maps["temporal"][0])
        np.testing.assert_array_equal(maps["ensemble"][0], maps["auxadapt"][0])
        for one, other in (("main", "aux"), ("main", "ensemble"), ("main", "temporal"),
                           ("ensemble", "auto")):
            self.assertTrue((maps[one] != maps[other]).any(), (one, other))

    def test_tent_is_there_to_compare_with(self):
        summary = self.run_json(self.clip(2), "--mode", "tent", "--out", self.out)
        self.assertEqual((summary["mode"], summary["main_looks"], summary["learning"]["steps"]),
                         ("tent", 0, 2))


class OverTime(SegmentTest):
    def test_main_looks_less_often(self):
        video = self.clip(12)
        self.assertEqual(self.run_json(video)["main_looks"], 12)
        summary = self.run_json(video, "--main-every", 4, "--out", self.out)
        self.assertEqual((summary["frames"], summary["main_looks"]), (12, 3))
        self.assertEqual(len(st.read_jsonl(self.out)), 12)

    def test_after_a_cut_it_looks_at_once(self):
        summary = self.run_json(self.clip(12, seeds=(1, 2)), "--main-every", 4)
        # Frames 0, 4, 6 (the cut) and 10.
        self.assertEqual((summary["cuts"], summary["main_looks"]), (1, 4))

    def test_blank_frames_are_no_scene(self):
        summary = self.run_json(self.clip(8, blank=(3, 4)), "--mode", "auxadapt+temporal")
        self.assertEqual((summary["blank_frames"], summary["cuts"]), (2, 0))
        self.assertEqual(summary["learning"]["steps"], 6)

    def test_learning_options(self):
        video = self.clip(6, seeds=(1, 2))

        def learn(*arguments):
            return self.run_json(video, "--mode", "auxadapt", *arguments)["learning"]

        plain = learn()
        self.assertEqual(learn("--learn-every", 3)["steps"], 2)
        self.assertEqual(learn("--reset-at-cut")["resets"], 1)
        self.assertEqual(learn("--reset-every", 2)["resets"], 3)
        self.assertLess(learn("--pull", 0.5)["distance"], plain["distance"])
        self.assertGreater(learn("--rate", 0.01)["distance"], plain["distance"])
        # Of what is trained.
        last = learn("--train", "last")["distance"]
        self.assertNotIn(last, (0, plain["distance"]))
        self.assertEqual(learn("--train", "none")["distance"], 0)
        refused = learn("--loss-limit", 1e-6)
        self.assertEqual((refused["steps"], refused["refused"], refused["distance"]), (0, 6, 0))

    def test_two_runs_are_equal_byte_by_byte(self):
        video = self.clip(8, seeds=(1, 2))
        for mode in ("auxadapt+temporal", "auto"):
            outputs = []
            for _ in range(2):
                run = self.segment(video, *FAST, "--mode", mode, "--main-every", 2, "--deterministic",
                                   "--out", "-", "--quiet")
                self.assertEqual(run.returncode, 0, run.stderr)
                outputs.append(run.stdout)
            self.assertEqual(len(outputs[0].splitlines()), 8)
            self.assertEqual(*outputs)

    def test_a_budget_that_is_hardly_anything(self):
        summary = self.run_json(self.clip(80), "--budget", "1us")
        self.assertEqual(summary["frames"], 80)
        self.assertLess(summary["main_looks"], 40)
        self.assertGreaterEqual(summary["main_looks"], 10)  # until the first decision
        self.assertEqual(self.run_json(self.clip(12), "--budget", "1h")["main_looks"], 12)


def write_png(path, pixels):
    """8-bit grey of (h, w), RGB of (h, w, 3)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw_video.write_png(path, np.asarray(pixels).astype(np.uint8))


class Pictures(SegmentTest):
    """Effects, from PNG to PNG, so that what is compared is what was composed; of grey pictures, which come
    through 4:2:0 as they are."""

    COUNT = 2

    def setUp(self):
        super().setUp()
        self.frames = self.dir / "frames"
        scene = texture(1, SIZE[0] + 2)
        self.plain = np.array([np.dstack([scene[:, i:i + SIZE[0]].astype(np.uint8)] * 3)
                               for i in range(self.COUNT)]).astype(int)
        for i, picture in enumerate(self.plain):
            write_png(self.frames / f"{i}.png", picture)

    def render(self, *arguments, name="out"):
        folder = self.dir / name
        run = self.segment(self.frames, *FAST, *arguments, "--render", f"{folder}/", "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(os.listdir(folder)), [f"{i:06d}.png" for i in range(self.COUNT)])
        return np.array(read_folder(folder)).astype(int)

    def labels(self):
        run = self.segment(self.frames, *FAST, "--out", self.out, "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        return np.array([labels_of(line) for line in st.read_jsonl(self.out)])

    def nothing_in_front(self):
        """A class that is nowhere, as the foreground; sure of it only where the mask is made hard."""
        labels = self.labels()
        absent = next(name for i, name in enumerate(LABELS) if not (labels == i).any())
        return "--foreground", absent, "--contrast", 100

    def assert_colors(self, pixels, expected, tolerance=4):
        np.testing.assert_allclose(pixels, np.broadcast_to(expected, pixels.shape), atol=tolerance)

    def test_all_is_foreground_or_nothing_is(self):
        everything = self.render("--background", "colour=#ff0000", "--foreground", ",".join(LABELS))
        self.assert_colors(everything, self.plain)
        red = self.render("--background", "colour=#ff0000", *self.nothing_in_front(), name="red")
        self.assert_colors(red, [255, 0, 0])

    def test_blur_and_replacement(self):
        nothing = self.nothing_in_front()
        blurred = self.render("--background", "blur:40", *nothing, name="blurred")
        self.assertLess(blurred.std(axis=(1, 2)).max(), 0.7 * self.plain.std(axis=(1, 2)).min())
        self.assertLess(abs(blurred.mean() - self.plain.mean()), 10)
        write_png(self.dir / "beach.png", np.broadcast_to([10, 200, 90], (72, 96, 3)))
        beach = self.render("--background", f"replace={self.dir / 'beach.png'}", *nothing, name="beach")
        self.assert_colors(beach, [10, 200, 90])

    def test_a_cutout_has_alpha_and_keeps_no_background(self):
        first = LABELS[np.bincount(self.labels().ravel()).argmax()]
        cut = self.render("--background", "cutout", "--foreground", first, "--contrast", 100)
        self.assertEqual(cut.shape[-1], 4)
        clear, solid = cut[..., 3] == 0, cut[..., 3] == 255
        self.assertTrue(clear.any() and solid.any())
        # Its luma is black; on the way to PNG colours may reach over from beside it.
        self.assertLess((cut[clear][:, :3] @ [0.299, 0.587, 0.114]).max(), 12)
        self.assert_colors(cut[solid][:, :3], self.plain[solid])

    def test_privacy(self):
        labels = self.labels()
        self.assert_colors(self.render("--privacy", ",".join(LABELS), name="black"), 0)
        hidden = int(labels.min())
        inside = labels == hidden
        some = self.render("--privacy", f"{LABELS[hidden]}:colour=#ffffff", name="some")
        self.assert_colors(some[inside], 255)
        # A margin of 1 pixel at 72 rows, and no more than that.
        near, padded = inside.copy(), np.pad(inside, ((0, 0), (2, 2), (2, 2)))
        for dy in range(5):
            for dx in range(5):
                near |= padded[:, dy:dy + SIZE[1], dx:dx + SIZE[0]]
        self.assertTrue((~near).any() and near.sum() > inside.sum())
        self.assert_colors(some[~near], self.plain[~near])
        by_number = self.render("--privacy", f"{hidden}:colour=#ffffff", name="number")
        np.testing.assert_array_equal(by_number, some)
        # Blocks are 8x8: their means are few.
        pixelated = self.render("--privacy", ",".join(LABELS) + ":pixelate", name="pixelated")
        self.assertLessEqual(len(np.unique(pixelated[0].reshape(-1, 3), axis=0)), 9 * 12)
        self.assertLess(abs(pixelated.mean() - self.plain.mean()), 3)
        self.assertLess(self.render("--privacy", ",".join(LABELS) + ":blur", name="blur").std(),
                        0.9 * self.plain.std())

    def test_colours_of_classes(self):
        labels = self.labels()
        palette = json.loads((MODELS / "street.json").read_text())["palette"]
        colors = np.array([[int(c[i:i + 2], 16) for i in (1, 3, 5)] for c in palette])[labels]
        # Away from borders between classes, where dark lines are drawn and chroma is mixed.
        inner = np.ones(labels.shape, bool)
        for dy in range(-3, 4):
            for dx in range(-3, 4):
                inner &= np.roll(labels, (dy, dx), (1, 2)) == labels
        self.assertTrue(inner.any())
        painted = self.render("--overlay", "--overlay-strength", 1)
        self.assert_colors(painted[inner], colors[inner])
        unasked = self.render("--overlay-strength", 1, name="unasked")
        np.testing.assert_array_equal(unasked, painted)
        half = self.render("--overlay", name="half")
        self.assert_colors(half[inner], (colors[inner] + self.plain[inner]) / 2, 8)
        legend = self.render("--overlay", "--legend", name="legend")
        self.assertTrue((legend != half).any())

    def test_videos_can_be_read_again(self):
        for name, effect in (("a.mp4", ("--overlay",)), ("a.mov", ("--background", "cutout")),
                             ("a.webm", ("--background", "cutout"))):
            video = self.dir / name
            run = self.segment(self.frames, *FAST, *effect, *(
                ("--foreground", "car") if "--background" in effect else ()), "--render", video,
                "--quiet")
            self.assertEqual(run.returncode, 0, run.stderr)
            again = self.run_json(video)
            self.assertEqual((again["frames"], again["damaged_frames"]), (self.COUNT, 0), name)


class Compare(SegmentTest):
    def frames_and_truth(self, size=SIZE):
        frames, truth = self.dir / "frames", self.dir / "truth"
        for i in range(3):
            write_png(frames / f"{i}.png", np.dstack([texture(seed, 110)[:, i:i + SIZE[0]]
                                                      for seed in (1, 2, 3)]))
            labels = np.kron(np.arange(12).reshape(3, 4), np.ones((size[1] // 3, size[0] // 4)))
            write_png(truth / f"{i}.png", labels)  # 11 stands for no class
        return frames, truth

    def test_side_by_side(self):
        frames, truth = self.frames_and_truth()
        panels = {}
        for name, arguments in (("with", ("--gt", truth, "--ignore", 11)), ("without", ())):
            summary = self.run_json(frames, "--compare", "main", *arguments, "--render",
                                    f"{self.dir / name}/")
            self.assertEqual(summary["frames"], 3)
            panels[name] = read_folder(self.dir / name)
            self.assertEqual(len(panels[name]), 3)
            for panel in panels[name]:
                height, width, _ = panel.shape
                self.assertGreaterEqual(width, 3 * SIZE[0])
                self.assertGreater(height, SIZE[1])
                self.assertEqual((width % 2, height % 2), (0, 0))
        # Figures and their curve are there with ground truth only.
        self.assertGreater(panels["with"][0].shape[0], panels["without"][0].shape[0])

    def test_masks_are_the_same_as_without(self):
        video = self.clip()
        self.run_json(video, "--main-every", 2, "--out", self.out)
        with_panel = self.dir / "with.jsonl"
        summary = self.run_json(video, "--main-every", 2, "--compare", "main", "--render",
                                self.dir / "panel.mp4", "--out", with_panel)
        self.assertEqual(summary["main_looks"], 3)
        self.assertEqual(with_panel.read_text(), self.out.read_text())

    def test_truth_that_does_not_fit(self):
        frames, truth = self.frames_and_truth((48, 36))
        panel = self.dir / "panel.mp4"
        panel.write_text("of an earlier run")
        run = self.segment(frames, *FAST, "--compare", "main", "--gt", truth, "--ignore", 11, "--render",
                           panel)
        self.assert_error(run, 3, "frame 0", "48x36", "96x72")
        self.assertEqual(panel.read_text(), "of an earlier run")
        self.assert_files("frames", "panel.mp4", "truth")

    @unittest.skipUnless((CAMVID / "val").is_dir(), "no CamVid")
    def test_a_labelled_drive(self):
        masks = self.dir / "masks"
        run = self.segment(CAMVID / "val", "--model", "street", "--max-frames", 3, "--compare", "main",
                           "--gt", CAMVID / "val_labels", "--ignore", 11, "--out", masks, "--render",
                           f"{self.dir / 'panels'}/", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(read_folder(self.dir / "panels")), 3)
        evaluation = st.sparing("eval-masks", masks, "--gt", CAMVID / "val_labels", "--frames",
                                CAMVID / "val", "--max-frames", 3, "--classes", 11, "--ignore", 11,
                                "--no-pc", "--json")
        self.assertEqual(evaluation.returncode, 0, evaluation.stderr)
        # Chance would be at a tenth of it.
        self.assertGreater(json.loads(evaluation.stdout)["miou"], 0.4)


class Refusals(SegmentTest):
    def test_options_that_contradict_each_other_or_do_nothing(self):
        video, render = self.clip(), ("--render", self.dir / "out.mp4")
        out = ("--out", self.out)
        for arguments, other in (
                ((*out, "--background", "blur"), "--render"),
                ((*out, "--privacy", "car"), "--render"),
                ((*out, "--overlay"), "--render"),
                ((*out, "--compare", "main"), "--render"),
                ((*out, "--crf", 20), "--render"),
                ((*render, "--foreground", "car"), "--background"),
                ((*render, "--contrast", 3), "--background"),
                ((*render, "--refine"), "--background"),
                ((*render, "--background", "blur", "--foreground", "car", "--legend"), "--overlay"),
                ((*render, "--background", "blur", "--foreground", "car", "--overlay-strength", 0.3),
                 "--overlay"),
                ((*render, "--gt", self.dir), "--compare"),
                ((*render, "--compare", "main", "--ignore", 11), "--gt"),
                ((*render, "--format", "png"), "--out"),
                ((*out, "--budget", "40ms", "--main-every", 2), "--main-every"),
                ((*out, "--budget", "40ms", "--deterministic"), "--deterministic")):
            flag = next((str(a) for a in arguments[2:] if str(a).startswith("--") and
                         str(a) not in ("--background", "--compare")), arguments[2])
            if "--foreground" in arguments and "--background" in arguments:
                flag = next(a for a in arguments if a in ("--legend", "--overlay-strength"))
            with self.subTest(flag):
                run = self.segment(video, *FAST, *arguments)
                self.assert_error(run, 2, f"sparing: {flag}: ", other, ";")
        self.assert_files("clip.mkv")

    def test_values(self):
        video = self.clip()
        for arguments, words in (
                (("--mode", "best"), ("--mode", "best", "auxadapt")),
                (("--main-every", 0), ("--main-every", "1 to 100")),
                (("--budget", "fast"), ("--budget", "fast")),
                (("--fusion-weight", 1), ("--fusion-weight", "0.99")),
                (("--motion-flow", "slow"), ("slow", "medium")),
                (("--aux-weight", -1), ("--aux-weight",)),
                (("--train", "first"), ("--train", "first", "decoder")),
                (("--mode", "auxadapt", "--train-from", "nowhere"), ("nowhere",)),
                (("--optimizer", "rmsprop"), ("rmsprop", "adam")),
                (("--format", "bmp"), ("bmp", "rle")),
                (("--contrast", 0.5), ("--contrast", "1 to 100")),
                (("--crf", 52), ("--crf", "0 to 51")),
                (("--compare", "aux"), ("--compare", "aux")),
                (("--out", "-", "--json"), ("--json", "--out -")),
                (("--out", self.dir / "masks.bmp"), ("bmp", ".jsonl"))):
            with self.subTest(arguments):
                run = self.segment(video, *FAST, *(() if "--out" in arguments else ("--out", self.out)),
                                   *arguments)
                self.assert_error(run, 2, *words)
        for size, words in (("96", ("'96'",)), ("97x96", ("97x96", "multiple", "24")), ("72x96", ("72", "96..4080"))):
            self.assert_error(self.segment(video, "--model", "street", "--size", size, "--out", self.out),
                              2, *words)
        self.assert_files("clip.mkv")

    def test_effects(self):
        video = self.clip()
        foreground = ("--foreground", "car")
        for arguments, words in (
                (("--background", "sharpen", *foreground), ("sharpen", "blur", "cutout")),
                (("--background", "blur:-3", *foreground), ("'-3' is no radius",)),
                (("--background", "colour=#12", *foreground), ("'#12' is no colour", "#rrggbb")),
                (("--background", "replace", *foreground), ("names no file", "replace=PATH")),
                (("--background", "cutout:3", *foreground), ("cutout:3",)),
                (("--background", "blur"), ("has no class 'background'", "--foreground")),
                (("--background", "blur", "--foreground", "person"),
                 ("--foreground", "no class 'person'", "pedestrian")),
                (("--privacy", "person"), ("no class 'person'", "pedestrian")),
                (("--privacy", "11"), ("no class '11'",)),
                (("--privacy", "car,"), ("a class is missing",)),
                (("--privacy", "car:hide"), ("no fill 'hide'", "pixelate")),
                (("--compare", "main", "--gt", self.dir, "--ignore", "eleven"),
                 ("--ignore", "'eleven' is no label", "0 to 255")),
                (("--compare", "main", "--gt", self.dir, "--ignore", "256"), ("'256' is no label",))):
            with self.subTest(arguments):
                run = self.segment(video, *FAST, *arguments, "--render", self.dir / "out.mp4")
                self.assert_error(run, 2, *words)
        self.assert_error(self.segment(video, *FAST, "--background", "replace=nowhere.jpg", *foreground,
                                       "--render", self.dir / "out.mp4"), 3, "nowhere.jpg", "no such")
        self.assert_error(self.segment(video, *FAST, "--background", "cutout", *foreground, "--render",
                                       self.dir / "out.mp4"), 2, "out.mp4", "transparency", ".mov",
                          ".webm", "folder")
        for name in ("out", "out.avi"):
            self.assert_error(self.segment(video, *FAST, "--render", self.dir / name), 2, name, ".mp4")
        self.assert_files("clip.mkv")

    def test_inputs(self):
        self.assert_error(self.segment("nowhere.mp4", *FAST, "--out", self.out), 3, "nowhere.mp4",
                          "no such")
        broken = self.dir / "broken.mp4"
        broken.write_bytes(b"this is no video" * 1000)
        self.assert_error(self.segment(broken, *FAST, "--out", self.out), 3, "broken.mp4")
        (self.dir / "empty").mkdir()
        self.assert_error(self.segment(self.dir / "empty", *FAST, "--out", self.out), 3, "empty")
        video = self.clip()
        self.assert_error(self.segment(video, *FAST, "--compare", "main", "--gt", self.dir / "none",
                                       "--render", self.dir / "out.mp4"), 3, "none")
        run = self.segment(*FAST, "--out", self.out)
        self.assertEqual(run.returncode, 2)
        self.assert_files("broken.mp4", "clip.mkv", "empty")

    def test_models(self):
        video = self.clip()
        out = ("--out", self.out)
        self.assert_error(self.segment(video, "--model", "nope", *out), 4, "nope", "street")
        self.assert_error(self.segment(video, "--model", "street", "--aux", "nope", *out), 4, "nope")
        self.assert_error(self.segment(video, "--model", "nowhere.onnx", *out), 4, "nowhere.onnx")
        if st.model_file().exists():
            self.assert_error(self.segment(video, "--model", "nanodet-g", *out), 4, "nanodet-g",
                              "cannot segment", "sparing detect")
            self.assert_error(self.segment(video, "--model", "street", "--aux", "nanodet-g", *out), 4,
                              "nanodet-g", "cannot segment")
        other = self.manifest("street-aux", name="other", labels=["heaven", *LABELS[1:]])
        self.assert_error(self.segment(video, "--model", "street", "--aux", other, *out), 4, "street",
                          "other", "label 0 is 'sky' and 'heaven'")
        self.assert_files("clip.mkv", "other.json")

    def test_a_model_without_an_auxnet(self):
        video = self.clip(2)
        alone = self.manifest("street", name="alone", aux=None)
        for mode in ("auxadapt", "ensemble", "auxadapt+temporal", "aux", "ensemble+temporal"):
            run = self.segment(video, "--model", alone, "--mode", mode, "--out", self.out)
            self.assert_error(run, 2, f"--mode {mode}", "AuxNet", "'alone'", "--aux", "--mode temporal")
        run = self.segment(video, *FAST[2:], "--model", alone, "--out", self.out, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        summary = json.loads(run.stdout)
        self.assertEqual((summary["mode"], summary["aux"]), ("temporal", None))
        run = self.segment(video, *FAST[2:], "--model", alone, "--aux", "street-aux", "--out", self.out,
                           "--json")
        self.assertEqual(json.loads(run.stdout)["mode"], "ensemble+temporal", run.stderr)

    def test_the_input_is_never_replaced(self):
        video = self.clip(name="clip.mp4")  # Matroska: the content tells
        link = self.dir / "link.jsonl"
        link.symlink_to(video)
        before = video.read_bytes()
        for arguments in (("--render", video), ("--out", link), ("--out", video, "--format", "rle")):
            run = self.segment(video, *FAST, *arguments)
            self.assert_error(run, 2, str(arguments[1]), "file of the input")
            self.assertEqual(video.read_bytes(), before)
        frames = self.dir / "frames"
        write_png(frames / "000000.png", np.dstack([texture(1)] * 3))
        before = (frames / "000000.png").read_bytes()
        for option in "--render", "--out":
            self.assert_error(self.segment(frames, *FAST, option, frames), 2, "frames", "another folder")
        self.assertEqual((frames / "000000.png").read_bytes(), before)

    def test_outputs_that_cannot_be_written(self):
        video = self.clip(2)
        for arguments in (("--out", video / "masks.jsonl"), ("--render", video / "out.mp4"),
                          ("--render", f"{video}/out/")):
            self.assert_error(self.segment(video, *FAST, *arguments), 5, "clip.mkv")
        self.assert_files("clip.mkv")


class Endings(SegmentTest):
    def start(self, *arguments):
        return subprocess.Popen([st.BINARY, "segment", "-", *map(str, (*FAST, *arguments))],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_an_interrupt_keeps_what_was_made(self):
        video = self.clip(60).read_bytes()  # more than is read ahead of a pipe
        render = self.dir / "out.mp4"
        process = self.start("--out", self.out, "--render", render, "--overlay", "--json")
        process.stdin.write(video[:-1000])
        process.stdin.flush()
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        out, errors = st.end_of(process, 60)
        self.assertEqual(process.returncode, 130, errors)
        summary = json.loads(out)
        self.assertTrue(summary["interrupted"])
        self.assertGreater(summary["frames"], 0)
        self.assertIn(f"interrupted after {summary['frames']} frames", errors.decode())
        self.assertEqual(len(st.read_jsonl(self.out)), summary["frames"])
        self.assertEqual(self.run_json(render)["frames"], summary["frames"])
        self.assert_files("clip.mkv", "masks.jsonl", "out.mp4")

    def test_an_interrupt_before_the_first_frame_leaves_what_was_there(self):
        self.out.write_text("of an earlier run\n")
        process = self.start("--out", self.out, "--render", self.dir / "out.mp4")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, errors = st.end_of(process, 20)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(self.out.read_text(), "of an earlier run\n")
        self.assert_files("masks.jsonl")

    def test_a_file_that_is_cut_off_keeps_what_came_before(self):
        video = self.clip(6)
        video.write_bytes(video.read_bytes()[:-SIZE[0] * SIZE[1] * 2])
        run = self.segment(video, *FAST, "--out", self.out, "--quiet")
        lines = st.read_jsonl(self.out)
        self.assertIn(len(lines), (4, 5))
        self.assert_error(run, 3, "clip.mkv", f"the {len(lines)} frames before are kept")


class Help(SegmentTest):
    def test_the_manual_names_every_option_and_no_other(self):
        run = self.segment("--help")
        self.assertEqual(run.returncode, 0, run.stderr)
        # Of options that are on by default, CLI11 shows the way to turn them off behind them.
        known = set(re.findall(r"(?:^|[ ,])(--[a-z][a-z0-9-]*)", run.stdout.split("Examples:")[0]))
        known -= {"--help", "--aux-batch"}  # a stream's step is of one picture
        self.assertGreater(len(known), 50)
        manual = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
        section = manual.split("\n## segment\n")[1].split("\n## ")[0]
        named = set(re.findall(r"`(--[a-z][a-z0-9-]*)", section))
        self.assertEqual(named - known, set())
        self.assertEqual(known - named - self.inside_help_texts(run.stdout), set())

    @staticmethod
    def inside_help_texts(text):
        """Options that only other options' descriptions name."""
        own = set(re.findall(r"^ +(?:-[a-z],)?(--[a-z0-9-]+)", text, re.MULTILINE))
        own |= set(re.findall(r"^ +-[a-z], *(--[a-z0-9-]+)", text, re.MULTILINE))
        return set(re.findall(r"--[a-z][a-z0-9-]*", text)) - own

    def test_defaults_are_those_of_the_manual(self):
        manual = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
        section = manual.split("\n## segment\n")[1].split("\n## ")[0]
        # "--crf INT=23", "--fusion-error grey levels=12"
        shown = dict(re.findall(r"^ +(--[a-z0-9-]+) [A-Za-z\[\] ]+=(\S+)", self.segment("--help").stdout,
                                re.MULTILINE))
        self.assertGreater(len(shown), 30)
        examples = {"--main-every 4", "--budget 40ms", "--ignore 11"}
        checked = 0
        for option, value in re.findall(r"`(--[a-z0-9-]+) ([a-z0-9.]+)`", section):
            if f"{option} {value}" in examples or option not in shown:
                continue
            checked += 1
            same = value == shown[option] or float(value) == float(shown[option])
            self.assertTrue(same, (option, value, shown[option]))
        self.assertGreater(checked, 20)

    def test_examples_of_the_guide_are_commands(self):
        """Options that the guide and the front page use exist."""
        known = set(re.findall(r"--[a-z][a-z0-9-]*", self.segment("--help").stdout))
        for page in (ROOT / "docs" / "segment.md", ROOT / "README.md"):
            for line in page.read_text(encoding="utf-8").splitlines():
                if re.match(r"^    \S*sparing segment ", line):
                    for option in re.findall(r" (--[a-z][a-z0-9-]*)", line.split("  #")[0]):
                        self.assertIn(option, known, line)


if __name__ == "__main__":
    unittest.main()
