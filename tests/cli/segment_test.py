"""`sparing segment`: masks, what is said, what happens over time, and what is refused."""

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
from segment_testing import (FAST, LABELS, MODELS, ROOT, SIZE, SegmentTest, labels_of, read_folder,
                             read_picture, texture, write_png)  # skips without NumPy

import numpy as np

try:
    from pycocotools import mask as coco_mask
except ImportError:
    coco_mask = None


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
        self.assertEqual(summary["learning"]["steps"], 3)  # on every other frame
        self.assertGreater(summary["learning"]["distance"], 0)
        self.assertEqual(set(summary["stages"]), {"decode", "motion", "import", "MainNet", "AuxNet",
                                                  "fusion", "labels", "learning", "output"})
        for name, stage in summary["stages"].items():
            self.assertGreaterEqual(stage["count"], 3 if name == "learning" else 6, name)

    def test_the_text(self):
        run = self.segment(self.clip(), *FAST, "--mode", "auxadapt", "--main-every", 2, "--out", self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        for words in ("6 frames in", "mode auxadapt", "street at 96x96, masks at 48x48, with street-aux",
                      "MainNet looked at 3 of them", "AuxNet learnt 2 times", str(self.out)):
            self.assertIn(words, run.stdout)
        run = self.segment(self.clip(), *FAST, "--quiet", "--out", self.out)
        self.assertEqual((run.stdout, run.stderr), ("", ""))

    def test_modes(self):
        video = self.clip()
        maps = {}
        for mode, really, aux in (("auto", "auxadapt+temporal", True), ("main", "main", False),
                                  ("aux", "aux", True), ("ensemble", "ensemble", True),
                                  ("ema", "ema", False), ("emaflow", "emaflow", False),
                                  ("temporal", "temporal", False), ("auxadapt", "auxadapt", True)):
            summary = self.run_json(video, "--mode", mode, "--out", self.out)
            self.assertEqual(summary["mode"], really)
            self.assertEqual(summary["aux"], "street-aux" if aux else None, mode)
            self.assertEqual(summary["main_looks"], 0 if mode == "aux" else 6, mode)
            self.assertEqual(summary["learning"]["steps"], 3 if "auxadapt" in really else 0, mode)
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
                         ("tent", 0, 1))


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
        # On frames 0, 2 and 6; 4 is blank.
        self.assertEqual(summary["learning"]["steps"], 3)

    def test_learning_options(self):
        video = self.clip(12, seeds=(1, 2))

        def learn(*arguments):
            return self.run_json(video, "--mode", "auxadapt", *arguments)["learning"]

        plain = learn()
        self.assertEqual(learn("--learn-every", 3)["steps"], 4)
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


class Models(SegmentTest):
    def test_unknown_and_unfit(self):
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
        self.assertEqual(json.loads(run.stdout)["mode"], "auxadapt+temporal", run.stderr)

    def test_a_bare_auxnet_takes_mainnets_labels(self):
        run = self.segment(self.clip(2), *FAST, "--aux", MODELS / "street" / "street-aux.onnx", "--mode",
                           "ensemble", "--out", self.out, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["aux"], "street-aux")

    def test_two_bare_files_are_a_pair(self):
        video = self.clip(3)
        self.run_json(video, "--mode", "auxadapt", "--out", self.out)
        bare = self.dir / "bare.jsonl"
        street = MODELS / "street"
        run = self.segment(video, *FAST[2:], "--model", street / "street-main.onnx", "--aux",
                           street / "street-aux.onnx", "--mode", "auxadapt", "--out", bare, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["aux"], "street-aux")
        # What is guessed is what the manifests say, but for the names.
        for one, other in zip(st.read_jsonl(bare), st.read_jsonl(self.out), strict=True):
            np.testing.assert_array_equal(labels_of(one), labels_of(other))
            self.assertEqual([m["label"] for m in one["masks"]],
                             [f"class{m['class']}" for m in other["masks"]])

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

    def test_a_run_for_nothing_is_refused(self):
        self.assert_error(self.segment(self.clip(), *FAST), 2, "outputs", "none was given", "--out",
                          "--render")

    def test_effects_beside_a_comparison_are_refused(self):
        compare = ("--compare", "main", "--render", self.dir / "out.mp4")
        for effect in (("--background", "blur", "--foreground", "car"), ("--privacy", "car"),
                       ("--overlay",)):
            self.assert_error(self.segment(self.clip(), *FAST, *compare, *effect), 2, effect[0],
                              "--compare")

    def test_colours_without_anything_to_colour_are_refused(self):
        for option in (("--legend",), ("--overlay-strength", 0.3)):
            self.assert_error(self.segment(self.clip(), *FAST, *option, "--out", self.out), 2, option[0],
                              "--render")
            self.assert_error(self.segment(self.clip(), *FAST, *option, "--privacy", "car", "--render",
                                           self.dir / "out.mp4"), 2, option[0], "--overlay")

    def test_outputs_that_were_named_twice(self):
        video = self.clip()
        for first, second in ((self.out, self.out), ("-", "-"), (self.out, f"{self.dir}/./masks.jsonl")):
            self.assert_error(self.segment(video, *FAST, "--out", first, "--out", second), 2, "twice")
        self.assert_error(self.segment(video, *FAST, "--out", f"{self.dir}/m/", "--render",
                                       f"{self.dir}/m/"), 2, "twice")
        self.assert_files("clip.mkv")

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
        pictures = self.dir / "masks"
        process = self.start("--out", self.out, "--out", pictures, "--render", render, "--overlay",
                             "--json")
        process.stdin.write(video[:-1000])
        process.stdin.flush()
        end = time.monotonic() + 100
        while not (pictures / "000000.png").exists():
            self.assertLess(time.monotonic(), end, "no frame was written")
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, errors = st.end_of(process, 60)
        self.assertEqual(process.returncode, 130, errors)
        summary = json.loads(out)
        self.assertTrue(summary["interrupted"])
        self.assertGreater(summary["frames"], 0)
        self.assertIn(f"interrupted after {summary['frames']} frames", errors.decode())
        self.assertEqual(len(st.read_jsonl(self.out)), summary["frames"])
        self.assertEqual(len(os.listdir(pictures)), summary["frames"])
        self.assertEqual(self.run_json(render)["frames"], summary["frames"])
        self.assert_files("clip.mkv", "masks", "masks.jsonl", "out.mp4")

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
