"""The pictures of `sparing segment`: effects, colours, and the comparison with MainNet."""

import json
import os
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import sparing_testing as st
from segment_testing import (CAMVID, FAST, LABELS, MODELS, SIZE, SegmentTest, labels_of, read_folder,
                             texture, write_png)  # skips without NumPy

import numpy as np


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
        fast = FAST[2:] if "--model" in arguments else FAST
        run = self.segment(self.frames, *fast, *arguments, "--render", f"{folder}/", "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(os.listdir(folder)), [f"{i:06d}.png" for i in range(self.COUNT)])
        return np.array(read_folder(folder)).astype(int)

    def labels(self):
        run = self.segment(self.frames, *FAST, "--out", self.out, "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        return np.array([labels_of(line) for line in st.read_jsonl(self.out)])

    def nothing_in_front(self):
        """A label that no channel of the network stands for, as the foreground: its probability is 0."""
        manifest = json.loads((MODELS / "street.json").read_text())
        shutil.copy(MODELS / manifest["file"], self.dir / "street.onnx")
        manifest.update(name="nothing", file="street.onnx", labels=manifest["labels"] + ["nothing"])
        manifest["segmentation"]["class_map"] = list(range(11))
        for field in ("aux", "palette"):
            del manifest[field]
        file = self.dir / "nothing.json"
        file.write_text(json.dumps(manifest))
        return "--model", file, "--foreground", "nothing"

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

    def test_no_effect_is_the_picture_itself(self):
        self.assert_colors(self.render("--background", "none"), self.plain)

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

    def test_truth_of_other_classes(self):
        frames, truth = self.frames_and_truth()
        self.assert_error(self.segment(frames, *FAST, "--compare", "main", "--gt", truth, "--render",
                                       self.dir / "panel.mp4", "--quiet"), 3, "frame 0", "label 11",
                          "--ignore")

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


if __name__ == "__main__":
    unittest.main()
