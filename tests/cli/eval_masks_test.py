"""sparing eval-masks: figures against values computed here with NumPy from their definitions, pairing of
files and frames, what is printed, and errors."""

import json
import pathlib
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

NONE = 255
SIZE = (96, 64)  # width, height


def write_png(path, pixels):
    """8-bit grey of (h, w), RGB of (h, w, 3)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw_video.write_png(path, np.asarray(pixels, np.uint8))


def texture(seed=1):
    """A grey picture with structure at all scales that an optical flow can follow."""
    random = np.random.default_rng(seed)
    width, height = SIZE
    picture = np.zeros((height, width))
    for cell in (4, 8, 16, 32):
        small = random.normal(size=(height // cell, width // cell))
        picture += np.kron(small, np.ones((cell, cell)))
    picture -= picture.min()
    return (picture * 255 / picture.max()).astype(np.uint8)


def scores(pairs, classes, ignored):
    """mIoU, IoUs, pixel accuracy and mean accuracy of (truth, found) pairs."""
    truth = np.concatenate([t.ravel() for t, _ in pairs])
    found = np.concatenate([f.ravel() for _, f in pairs])
    known = ~np.isin(truth, [NONE, *ignored])
    truth, found = truth[known], found[known]
    ious, recalls = [], []
    for c in range(classes):
        both = ((truth == c) & (found == c)).sum()
        either = ((truth == c) | (found == c)).sum()
        ious.append(both / either if either else None)
        if (truth == c).any():
            recalls.append(both / (truth == c).sum())
    there = [iou for iou in ious if iou is not None]
    return np.mean(there), ious, (truth == found).mean(), np.mean(recalls)


def encode(mask):
    """COCO's compressed run lengths, column by column."""
    flat = np.asarray(mask, bool).ravel(order="F")
    edges = np.flatnonzero(np.diff(flat.astype(int), prepend=0)) if flat.size else []
    counts = np.diff(np.concatenate([[0], edges, [flat.size]]))
    if flat.size and counts[-1] == 0 and len(counts) > 1:
        counts = counts[:-1]
    text = ""
    for i, count in enumerate(counts):
        value = int(count - counts[i - 2]) if i > 2 else int(count)
        while True:
            bits, value = value & 31, value >> 5
            done = value == (-1 if bits & 16 else 0)
            text += chr(48 + (bits if done else bits | 32))
            if done:
                break
    return text


def write_lines(path, maps, stream=0):
    """{frame: labels} as the jsonl output has it."""
    lines = []
    for frame, labels in maps.items():
        height, width = labels.shape
        masks = [{"class": int(c), "rle": {"size": [height, width], "counts": encode(labels == c)}}
                 for c in np.unique(labels[labels != NONE])]
        lines.append(json.dumps({"schema": 1, "stream": stream, "frame": frame,
                                 "mask_size": [width, height], "masks": masks}))
    path.write_text("\n".join(lines) + "\n")


class EvalMasksTest(st.CommandTest):
    """Five frames that all show the same picture, labels of three classes, 9 is ignored."""

    COUNT = 5

    def setUp(self):
        super().setUp()
        self.frames, self.gt, self.masks = (self.dir / name for name in ("f", "gt", "m"))
        random = np.random.default_rng(7)
        self.truth, self.found = [], []
        for i in range(self.COUNT):
            write_png(self.frames / f"p{i}.png", texture())
            truth = np.kron(random.choice([0, 0, 1, 2, 9, NONE], (8, 12)), np.ones((8, 8)))
            found = np.where(np.kron(random.random((16, 24)) < 0.2, np.ones((4, 4))),
                             random.integers(0, 3), truth)
            found = np.where(found == 9, 1, found)
            self.truth.append(truth.astype(np.uint8))
            self.found.append(found.astype(np.uint8))
            write_png(self.gt / f"p{i}.png", self.truth[-1])
            write_png(self.masks / f"p{i}.png", self.found[-1])

    def run_eval(self, masks=None, *arguments, frames=None, gt=None, **options):
        return st.sparing("eval-masks", masks or self.masks, "--gt", gt or self.gt, "--frames",
                          frames or self.frames, "--classes", 3, "--ignore", 9, *arguments,
                          **options)

    def report(self, *arguments, **options):
        run = self.run_eval(*arguments, "--json", **options) if arguments else self.run_eval(
            None, "--json", **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)


class Figures(EvalMasksTest):
    def test_against_numpy(self):
        report = self.report()
        miou, ious, pixels, mean = scores(list(zip(self.truth, self.found)), 3, [9])
        self.assertAlmostEqual(report["miou"], miou, places=12)
        self.assertAlmostEqual(report["pixel_accuracy"], pixels, places=12)
        self.assertAlmostEqual(report["mean_accuracy"], mean, places=12)
        self.assertEqual([row["class"] for row in report["classes"]], [0, 1, 2])
        np.testing.assert_allclose([row["iou"] for row in report["classes"]], ious, rtol=1e-12)
        self.assertEqual((report["frames"], report["ground_truth_frames"], report["pairs"]),
                         (5, 5, 4))
        # Nothing moves: F-TC compares a frame's labels with those of the frame before.
        pairs = [(a.copy(), b.copy()) for a, b in zip(self.found, self.found[1:])]
        for a, b in pairs:
            a[(b == NONE) | (b == 9)] = NONE
        self.assertAlmostEqual(report["ftc"], scores(pairs, 3, [9])[0], places=9)
        changed = np.concatenate([(a != b)[(a != NONE) & (b != NONE)] for a, b in pairs])
        self.assertAlmostEqual(report["flicker"], changed.mean(), places=9)
        self.assertLess(report["pc"], 1)
        self.assertFalse(report["interrupted"])

    def test_the_truth_itself_is_perfect(self):
        for i in range(self.COUNT):
            write_png(self.gt / f"p{i}.png", self.truth[0])
        report = self.report(self.gt)
        for name in ("miou", "pixel_accuracy", "mean_accuracy", "ftc", "pc"):
            self.assertAlmostEqual(report[name], 1, places=6, msg=name)
        self.assertEqual(report["flicker"], 0)

    def test_run_lengths_give_the_same(self):
        lines = self.dir / "m.jsonl"
        write_lines(lines, dict(enumerate(self.found)))
        expected, found = self.report(), self.report(lines)
        for report in (expected, found):
            del report["masks"], report["masks_paired"]
        self.assertEqual(found, expected)

    def test_labels_come_from_a_file(self):
        names = self.dir / "names.txt"
        names.write_text("sky\r\n\ngrüne Wiese\nroad\n", encoding="utf-8")
        run = st.sparing("eval-masks", self.masks, "--gt", self.gt, "--frames", self.frames,
                         "--labels", names, "--ignore", "9", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([row["label"] for row in json.loads(run.stdout)["classes"]],
                         ["sky", "grüne Wiese", "road"])

    def test_threads_and_flow_do_not_change_what_they_must_not(self):
        one, four = self.report(None, "--threads", 1), self.report(None, "--threads", 4)
        self.assertEqual(one, four)
        fast = self.report(None, "--flow", "ultrafast", "--occlusion", "--no-pc")
        self.assertIsNone(fast["pc"])
        self.assertEqual(fast["miou"], one["miou"])

    def test_per_frame_figures(self):
        file = self.dir / "sub" / "frames.jsonl"
        (self.gt / "p0.png").unlink()
        report = self.report(None, "--per-frame", file)
        lines = st.read_jsonl(file)
        self.assertEqual([line["frame"] for line in lines], list(range(5)))
        self.assertEqual(lines[2]["file"], str(self.frames / "p2.png"))
        for i, line in enumerate(lines[1:], 1):
            self.assertAlmostEqual(line["miou"],
                                   scores([(self.truth[i], self.found[i])], 3, [9])[0], places=12)
            self.assertIsNotNone(line["ftc"])
        for name in ("miou", "ftc", "pc", "flicker"):
            self.assertIsNone(lines[0][name])
            self.assertEqual(lines[-1]["so_far"][name], report[name])

    def test_the_table(self):
        run = self.run_eval()
        self.assertEqual(run.returncode, 0, run.stderr)
        miou = scores(list(zip(self.truth, self.found)), 3, [9])[0]
        self.assertRegex(run.stdout, rf"mIoU +{100 * miou:.2f} ")
        for word in ("F-TC", "PC", "flicker", "5 frames, 5 with ground truth (paired by name)"):
            self.assertIn(word, run.stdout)
        self.assertEqual(self.run_eval(None, "--quiet").stdout, "")


class Pairing(EvalMasksTest):
    def clip(self, count=EvalMasksTest.COUNT):
        grey = texture().tobytes() + bytes([128]) * (SIZE[0] * SIZE[1] // 2)
        return raw_video.matroska(self.dir / "clip.mkv", b"I420", *SIZE, [grey] * count)

    def test_a_videos_frames_by_number(self):
        numbered = self.dir / "numbered"
        for i in (0, 1, 2, 3, 4, 77):
            write_png(numbered / f"{i:06d}.png", self.found[i % self.COUNT])
        sparse = self.dir / "sparse"
        write_png(sparse / "2.png", self.truth[2])
        report = self.report(numbered, frames=self.clip(), gt=sparse)
        self.assertEqual((report["masks_paired"], report["ground_truth_paired"]),
                         ("by number", "by number"))
        self.assertEqual((report["frames"], report["ground_truth_frames"], report["unused_masks"],
                          report["unused_ground_truth"], report["pairs"]), (5, 1, 1, 0, 4))
        self.assertAlmostEqual(report["miou"],
                               scores([(self.truth[2], self.found[2])], 3, [9])[0], places=12)

    def test_by_order_all_of_them(self):
        report = self.report(self.masks, frames=self.clip())
        self.assertEqual(report["masks_paired"], "by order")
        (self.masks / "p4.png").unlink()
        self.assert_error(self.run_eval(self.masks, frames=self.clip()), 3,
                          "there are 4, but more frames")
        write_png(self.masks / "p4.png", self.found[4])
        write_png(self.masks / "p5.png", self.found[4])
        self.assert_error(self.run_eval(self.masks, frames=self.clip()), 3, "1 more than frames")

    def test_a_frame_without_a_mask_breaks_the_pairs(self):
        (self.masks / "p2.png").unlink()
        report = self.report()
        self.assertEqual((report["frames"], report["frames_without_mask"], report["pairs"]),
                         (4, 1, 2))
        self.assertIn("1 frame without a mask", self.run_eval().stdout)

    def test_one_of_several_streams(self):
        lines = self.dir / "m.jsonl"
        write_lines(lines, dict(enumerate(self.found)), stream=1)
        write_lines(self.dir / "n.jsonl", dict(enumerate(self.truth)), stream=0)
        lines.write_text(lines.read_text() + (self.dir / "n.jsonl").read_text())
        self.assertEqual(self.report(lines, "--stream", 1)["miou"], self.report()["miou"])
        self.assert_error(self.run_eval(lines), 3, "name one with --stream")

    def test_max_frames(self):
        report = self.report(None, "--max-frames", 2)
        self.assertEqual((report["frames"], report["unused_masks"]), (2, 0))


class Errors(EvalMasksTest):
    def test_steadiness_is_not_shown_without_ground_truth(self):
        run = st.sparing("eval-masks", self.masks, "--frames", self.frames, "--classes", "3")
        self.assert_error(run, 2, "--gt", "F-TC and PC say nothing without mIoU")
        other = self.dir / "other"
        write_png(other / "p0.png", np.full(SIZE[::-1], NONE))
        run = self.run_eval(gt=other)
        self.assert_error(run, 3, "not shown without mIoU")
        self.assertEqual(run.stdout, "")

    def test_options(self):
        base = ("eval-masks", self.masks, "--gt", self.gt, "--frames", self.frames)
        self.assert_error(st.sparing(*base), 2, "--classes", "is missing")
        self.assert_error(st.sparing(*base[:4]), 2, "--frames", "is missing")
        self.assert_error(st.sparing(*base, "--classes", 0), 2, "--classes")
        self.assert_error(st.sparing(*base, "--classes", 256), 2, "--classes")
        self.assert_error(st.sparing(*base, "--classes", 3, "--ignore", "256"), 2, "--ignore")
        self.assert_error(st.sparing(*base, "--classes", 1, "--ignore", "0"), 2, "ignored labels")
        self.assert_error(st.sparing(*base, "--classes", 3, "--flow", "slow"), 2, "slow")
        self.assert_error(st.sparing(*base, "--labels", self.dir / "none"), 3, "labels", "read")
        names = self.dir / "names"
        names.write_text("a\nb\n")
        self.assert_error(st.sparing(*base, "--labels", names, "--classes", 3), 2, "--labels has 2")

    def test_labels_outside_the_map(self):
        run = st.sparing("eval-masks", self.masks, "--gt", self.gt, "--frames", self.frames,
                         "--classes", "3")
        self.assert_error(run, 3, "frame 0 (", "label 9 at", "none of the 3 classes")

    def test_sizes_that_differ(self):
        write_png(self.masks / "p1.png", np.zeros((32, 48)))
        self.assert_error(self.run_eval(), 3, "frame 1 (", "48x32", "96x64")

    def test_inputs(self):
        self.assert_error(self.run_eval(self.dir / "none"), 3, "none", "No such file")
        self.assert_error(self.run_eval(frames=self.dir / "none"), 3, "none")
        self.assert_error(self.run_eval(gt=self.dir / "none"), 3, "none", "No such file")
        rgb = self.dir / "rgb"
        write_png(rgb / "p0.png", np.zeros((64, 96, 3)))
        self.assert_error(self.run_eval(rgb), 3, "8-bit RGB")
        text = self.dir / "a.jsonl"
        text.write_text("{}\n")
        self.assert_error(self.run_eval(text), 3, "line 1", "'schema' is missing")
        small = self.dir / "small"
        for i in range(2):
            write_png(small / f"p{i}.png", np.zeros((20, 20)))
        self.assert_error(self.run_eval(frames=small), 3, "frame 1 (", "20x20")

    def test_outputs(self):
        self.assert_error(self.run_eval(None, "--per-frame", self.masks / "p0.png" / "x"), 5)
        before = (self.frames / "p0.png").read_bytes()
        run = self.run_eval(None, "--per-frame", self.frames / "p0.png")
        self.assert_error(run, 2, "file of the input")
        self.assertEqual((self.frames / "p0.png").read_bytes(), before)

    def test_an_interrupt_ends_it(self):
        process = subprocess.Popen(
            [st.BINARY, "eval-masks", str(self.masks), "--gt", str(self.gt), "--frames", "-",
             "--classes", "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, errors = st.end_of(process, 20)
        self.assertEqual(process.returncode, 130, errors)

    def test_an_interrupt_keeps_the_figures_so_far(self):
        lines, truth, frames = (self.dir / name for name in ("m.jsonl", "t.jsonl", "f.jsonl"))
        write_lines(lines, dict(enumerate(self.found)))
        write_lines(truth, dict(enumerate(self.truth)))
        clip = Pairing.clip(self, 300)  # more than is read ahead of a pipe
        process = subprocess.Popen(
            [st.BINARY, "eval-masks", str(lines), "--gt", str(truth), "--frames", "-",
             "--classes", "3", "--ignore", "9", "--json", "--per-frame", str(frames)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(clip.read_bytes())
        process.stdin.flush()
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, errors = st.end_of(process, 20)
        self.assertEqual(process.returncode, 130, errors)
        report = json.loads(out)
        self.assertTrue(report["interrupted"])
        self.assertGreater(report["frames"], 0)
        self.assertIn(f"interrupted after {report['frames']} frame", errors.decode())
        self.assertEqual(len(st.read_jsonl(frames)), report["frames"])


if __name__ == "__main__":
    unittest.main()
