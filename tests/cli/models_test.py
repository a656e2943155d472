"""`sparing models` and `sparing train-scale` end to end.

Quantising needs the environment of `scripts/setup --quantize`; those tests are skipped without it.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import sparing_testing as st

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SMALL = ("--size", "192x160", "--frames", 12)


def quantize_python():
    deps = os.environ.get("SPARING_DEPS_DIR") or ROOT / ".deps"
    return pathlib.Path(os.environ.get("SPARING_QUANTIZE_PYTHON") or
                        pathlib.Path(deps) / "python-quantize" / "bin" / "python3")


class ModelsTest(st.CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "out"

    def quantize(self, *arguments, **options):
        return st.sparing("models", "quantize", *arguments, "--out", self.out, "-q", **options)

    def assert_error(self, run, code, *words):
        super().assert_error(run, code, *words)
        self.assert_nothing_left()

    def assert_nothing_left(self):
        self.assertEqual(list(self.out.iterdir()) if self.out.exists() else [], [])


class QuantizeErrors(ModelsTest):
    """What is told before there is work, wherever the quantiser's environment is."""

    def setUp(self):
        super().setUp()
        python = self.dir / "python3"
        python.write_text("#!/bin/sh\nexit 9\n")
        python.chmod(0o755)
        self.environment = {**os.environ, "SPARING_QUANTIZE_PYTHON": str(python)}

    def test_wrong_arguments(self):
        env = self.environment
        self.assert_error(self.quantize("unicorn", "--calib", st.SAMPLE, env=env), 4, "unicorn",
                          st.MODEL)
        self.assert_error(self.quantize(st.MODEL, "--calib", self.dir / "none.mp4", env=env), 3,
                          "none.mp4")
        self.assert_error(self.quantize(st.MODEL, "--calib", "-", env=env), 2, "--calib")
        self.assertEqual(self.quantize(st.MODEL, env=env).returncode, 2)
        for option, value in (("--frames", 0), ("--max-drop", 2), ("--preset", "tiny"),
                              ("--size", "100x100"), ("--gt", self.dir / "none.txt")):
            run = self.quantize(st.MODEL, "--calib", st.SAMPLE, option, value, env=env)
            self.assertIn(run.returncode, (2, 3), run.stderr)
            self.assertIn(str(value), run.stderr)
            self.assert_nothing_left()
        run = self.quantize("street", "--calib", st.SAMPLE, "--gt", self.dir, env=env)
        self.assert_error(run, 2, "--gt", "for detectors")
        for name in (st.MODEL, "Bad Name", "../escaped"):
            run = self.quantize(st.MODEL, "--calib", st.SAMPLE, "--name", name, env=env)
            self.assertIn(run.returncode, (2, 4), run.stderr)
            self.assertIn(name, run.stderr)
            self.assert_nothing_left()

    def test_no_environment(self):
        env = {**os.environ, "SPARING_QUANTIZE_PYTHON": "", "SPARING_DEPS_DIR": str(self.dir)}
        run = self.quantize(st.MODEL, "--calib", st.SAMPLE, env=env)
        self.assert_error(run, 6, "scripts/setup --quantize", "SPARING_QUANTIZE_PYTHON")
        env["SPARING_QUANTIZE_PYTHON"] = str(self.dir / "none")
        run = self.quantize(st.MODEL, "--calib", st.SAMPLE, *SMALL, env=env)
        self.assert_error(run, 6, str(self.dir / "none"))

    def test_a_folder_that_cannot_be_made(self):
        self.out.write_text("a file")
        run = st.sparing("models", "quantize", st.MODEL, "--calib", st.SAMPLE, "-q", "--out",
                         self.out, env=self.environment)
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn(str(self.out), run.stderr)

    def test_a_tool_that_fails_leaves_nothing(self):
        run = self.quantize(st.MODEL, "--calib", st.SAMPLE, *SMALL, env=self.environment)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assert_nothing_left()


class ListAndInspect(ModelsTest):
    """Of segmentation models; those of detectors are in cli_test.py."""

    def manifest(self, name, **changes):
        text = {"schema": 1, "name": name, "task": "segment",
                "input": {"size": {"default": [96, 64]}}, "segmentation": {}, "labels": ["a", "b"]}
        path = self.dir / f"{name}.json"
        path.write_text(json.dumps({**text, **changes}))
        return path

    def test_list_has_the_task_of_each(self):
        run = st.sparing("models", "list")
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = {line.split()[0]: line.split() for line in run.stdout.splitlines()}
        self.assertEqual(lines["name"][2], "task")
        self.assertEqual(lines["nanodet-g"][2], "detect")
        for name in ("people", "street", "street-aux"):
            self.assertEqual(lines[name][2], "segment")
        # These come with the project: no command fetches them, and none is needed.
        self.assertEqual((lines["street"][1], lines["street-aux"][1]), ("yes", "yes"))
        self.assertEqual(lines["street"][3], "CC-BY-NC-4.0")

    def test_get_takes_several_names_and_knows_what_it_can_fetch(self):
        for names in (("street",), ("nanodet-g", "street")):
            run = st.sparing("models", "get", *names)
            self.assert_error(run, 4, "street", "choose from: nanodet-g, people")
        run = st.sparing("models", "get", "nanodet-g", "nanodet-g")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.count("already there"), 2)

    def test_inspect_and_its_manifest(self):
        model = ROOT / "models" / "street" / "street-main.onnx"
        run = st.sparing("models", "inspect", model)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ("[1,3,?,?]", "segment", "logits (softmax) of 11 channels, [1,11,h,w]",
                     "classes 11", f"sparing segment VIDEO --model {model}"):
            self.assertIn(text, run.stdout)
        run = st.sparing("models", "inspect", model, "--manifest")
        self.assertEqual(run.returncode, 0, run.stderr)
        manifest = json.loads(run.stdout)
        self.assertEqual((manifest["task"], len(manifest["labels"])), ("segment", 11))
        self.assertEqual(manifest["segmentation"],
                         {"kind": "scores", "output": "logits", "layout": "nchw",
                          "activation": "softmax"})
        self.assertNotIn("head", manifest)
        # It is good as it is.
        path = self.dir / "guess.json"
        path.write_text(run.stdout)
        run = st.sparing("models", "profile", path, "--shapes", "96x96", "--runs", 1, "--out",
                         self.dir / "profile.json")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_model_of_the_other_task(self):
        run = st.sparing("detect", st.SAMPLE, "--model", "street", "--out", self.dir / "x.jsonl")
        self.assert_error(run, 4, "street", "it segments", "sparing segment")

    def test_wrong_manifests(self):
        for changes, words in (
                ({"head": {"type": "yolox"}}, ("'head'", 'belongs to task "detect"')),
                ({"task": "detect", "head": {"type": "yolox"}}, ("'segmentation'", '"segment"')),
                ({"segmentation": {"class_map": [0, 7]}}, ("'segmentation.class_map[1]'", "label 7")),
                ({"segmentation": {"kind": "foreground"}, "labels": ["a"]}, ("'labels'", "two")),
                ({"palette": ["red", "#000000"]}, ("'palette[0]'", "#rrggbb")),
                ({"aux": "no name"}, ("'aux'", "no name"))):
            run = st.sparing("models", "profile", self.manifest("wrong", **changes))
            self.assert_error(run, 4, "wrong.json", *words)

    def test_a_graph_that_is_not_as_its_manifest_says(self):
        street = json.loads((ROOT / "models" / "street.json").read_text())
        street["file"] = str(ROOT / "models" / street["file"])
        for changes, words in (
                ({"labels": street["labels"][:10], "palette": street["palette"][:10]},
                 ("[1,11,?,?]", "[1,10,h,w]", "class_map")),
                ({"segmentation": {**street["segmentation"], "output": "scores"}},
                 ("'scores' is missing", "'logits'")),
                ({"segmentation": {"kind": "foreground"}, "labels": ["a", "b"], "palette": ["#000000"] * 2},
                 ("[1,11,?,?]", "[1,h,w,1]")),
                ({"input": {**street["input"], "layout": "nhwc"}}, ("'image'", "[1,3,?,?]"))):
            path = self.dir / "wrong.json"
            path.write_text(json.dumps({**street, "name": "wrong", **changes}))
            run = st.sparing("models", "profile", path, "--shapes", "96x96", "--runs", 1, "--out",
                             self.dir / "profile.json")
            self.assert_error(run, 4, "wrong", *words)


@unittest.skipUnless(quantize_python().exists(), "scripts/setup --quantize has not been run")
class Quantize(ModelsTest):
    def test_segmentation_by_the_labels_that_stay(self):
        quantize = ("street-aux", "--calib", st.SAMPLE, "--frames", 12, "--size", "240x180")
        run = self.quantize(*quantize, "--max-drop", 0.9, "--json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.out)),
                         [f"street-aux-int8.{ending}" for ending in ("bin", "json", "xml")])
        report = json.loads(run.stdout)
        for check in report["checks"]:
            self.assertEqual(check["size"], [240, 180])
            self.assertEqual(check["pixels"], 12 * 240 * 180)
            self.assertAlmostEqual(check["drop"], 1 - check["miou"])
            self.assertGreater(check["pixel_accuracy"], 0.7)
            self.assertNotIn("boxes", check)
        manifest = json.loads((self.out / "street-aux-int8.json").read_text())
        self.assertEqual((manifest["task"], manifest["licence"]["spdx"]),
                         ("segment", "CC-BY-NC-4.0"))
        self.assertEqual(len(manifest["palette"]), 11)
        run = st.sparing("models", "profile", self.out / "street-aux-int8.json", "--shapes", "240x180",
                         "--runs", 1, "--out", self.dir / "profile.json")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_too_few_labels_that_stay_are_refused(self):
        run = self.quantize("street-aux", "--calib", st.SAMPLE, "--frames", 12, "--max-drop", 0)
        self.assert_error(run, 7, "refused", "of the mIoU", "--max-drop 0", "240x180")

    def test_the_new_model_is_kept_and_used(self):
        run = self.quantize(st.MODEL, "--calib", st.SAMPLE, *SMALL, "--max-drop", 0.2, "--json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.out)),
                         [f"{st.MODEL}-int8.{ending}" for ending in ("bin", "json", "xml")])
        report = json.loads(run.stdout)
        self.assertTrue(report["kept"])
        self.assertLess(report["bytes_after"], report["bytes_before"] / 3)
        self.assertEqual(report["calibration_frames"], 12)
        for check in report["checks"]:
            self.assertEqual(check["size"], [192, 160])
            self.assertGreater(check["boxes"], 10)
            self.assertAlmostEqual(check["drop"], 1 - check["agreement"])
            self.assertLessEqual(check["drop"], 0.2)
        manifest = self.out / f"{st.MODEL}-int8.json"
        text = json.loads(manifest.read_text())
        self.assertIn("8-bit", text["licence"]["notice"])
        self.assertNotIn("source", text)
        detect = ("detect", st.SAMPLE, "--model", manifest, "--size", "192x160", "--max-frames", 5)
        run = st.sparing(*detect, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["model"], f"{st.MODEL}-int8")
        weights = manifest.with_suffix(".bin")
        data = bytearray(weights.read_bytes())
        data[len(data) // 2] ^= 1
        weights.write_bytes(data)
        run = st.sparing(*detect, "--json")
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertIn("SHA-256", run.stderr)

    def test_too_great_a_drop_is_refused(self):
        run = self.quantize(st.MODEL, "--calib", st.SAMPLE, *SMALL, "--max-drop", 0)
        self.assert_error(run, 7, "refused", "--max-drop 0", "192x160")

    def test_ground_truth_decides_where_there_is_one(self):
        # All of it in one corner: neither model finds it, so no AP is lost, and none is there.
        truth = self.dir / "gt.txt"
        truth.write_text("".join(f"{i},1,0,0,5,5,1,1,1\n" for i in range(1, 796)))
        run = self.quantize(st.MODEL, "--calib", st.SAMPLE, *SMALL, "--max-drop", 0, "--gt", truth,
                            "--labels", "person", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        for check in json.loads(run.stdout)["checks"]:
            self.assertEqual((check["ap_before"], check["ap_after"], check["drop"]), (0, 0, 0))
            self.assertLess(check["agreement"], 1)

    def test_interrupted_leaves_nothing(self):
        for step in ("running", "quantising", "comparing", "timing"):
            with self.subTest(step):
                self.interrupt_in(step)

    def interrupt_in(self, step):
        process = subprocess.Popen(
            [st.BINARY, "models", "quantize", st.MODEL, "--calib", st.SAMPLE, "--out", self.out,
             "--size", "384x288", "--frames", "60", "--max-drop", "1"], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if step in line:
                break
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assert_nothing_left()


class Profile(ModelsTest):
    def profile(self, *arguments, **options):
        return st.sparing("models", "profile", *arguments, **options)

    def test_table_and_file(self):
        cache = {**os.environ, "XDG_CACHE_HOME": str(self.dir),
                 "SPARING_MODELS_DIR": str(st.model_file().parent)}
        run = self.profile(st.MODEL, "--threads", 1, "--precision", "f32", "--no-cache", "--shapes",
                           "320x256,64x64,320x256", "--runs", 3, env=cache)
        self.assertEqual(run.returncode, 0, run.stderr)
        path = self.dir / "sparing" / "profiles" / f"{st.MODEL}.cpu-f32-1.json"
        self.assertIn(str(path), run.stdout)
        self.assertIn("320x256", run.stdout)
        profile = json.loads(path.read_text())
        self.assertEqual((profile["schema"], profile["model"], profile["processor"]),
                         (1, st.MODEL, "cpu:f32:1"))
        # A CPU runs whatever the model takes.
        self.assertEqual((profile["largest-width"], profile["largest-height"]), (4096, 4096))
        points = [(p["width"], p["height"]) for p in profile["points"]]
        self.assertEqual(points, [(64, 64), (320, 256)])
        self.assertTrue(all(p["ms"] > 0 for p in profile["points"]))

    def test_runs_on_streams_measure_once_and_leave_the_file(self):
        cache = {**os.environ, "XDG_CACHE_HOME": str(self.dir),
                 "SPARING_MODELS_DIR": str(st.model_file().parent)}
        path = self.dir / "sparing" / "profiles" / f"{st.MODEL}.cpu-f32-1.json"

        def detect():
            run = st.sparing("detect", st.SAMPLE, "--mode", "packed", "--max-frames", 20, "--threads", 1,
                             "--precision", "f32", "--out", self.dir / "boxes.jsonl", env=cache)
            self.assertEqual(run.returncode, 0, run.stderr)
            return json.loads(path.read_text())

        first = detect()
        self.assertEqual(first["processor"], "cpu:f32:1")
        # A run plans with what was stored, measures nothing again, and does not write what it
        # observes: the times of one busy run would be the plans of the next.
        first["points"] = [{**point, "ms": 1e-3 * (1 + i)} for i, point in enumerate(first["points"])]
        path.write_text(json.dumps(first))
        second = detect()
        self.assertEqual(second["points"], first["points"])
        # One of another machine is measured again.
        path.write_text(json.dumps({**second, "machine": "another"}))
        third = detect()
        self.assertNotEqual(third["machine"], "another")
        self.assertGreater(third["points"][0]["ms"], 0.1)

    def test_json_is_what_is_written(self):
        path = self.dir / "p.json"
        run = self.profile(st.MODEL, "--shapes", "64x64", "--runs", 1, "--out", path, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, path.read_text())

    def test_wrong_arguments(self):
        for arguments, code, words in (
                (("unicorn",), 4, ("unicorn", st.MODEL)),
                ((st.MODEL, "--shapes", "100x100"), 2, ("--shapes", "100x100", "32")),
                ((st.MODEL, "--shapes", "big"), 2, ("--shapes", "big")),
                ((st.MODEL, "--runs", 0), 2, ("--runs", "0")),
                ((st.MODEL, "--precision", "int3"), 2, ("--precision", "int3")),
                ((st.MODEL, "--device", "gpu"), 6, ("gpu",)),
                ((st.MODEL, "--shapes", "64x64", "--runs", 1, "--out", "/dev/full/x"), 5,
                 ("/dev/full",))):
            run = self.profile(*arguments)
            self.assert_error(run, code, *words)


@unittest.skipUnless(st.SAMPLE.exists(), "the sample video is not there")
class TrainScale(ModelsTest):
    def train(self, *arguments, **options):
        return st.sparing("train-scale", *arguments, **options)

    def test_learns_from_a_clip_and_keeps_the_better_predictor(self):
        path = self.dir / "scales.json"
        run = self.train(st.SAMPLE, "--frames", "0-99", "--every", 5, "--classes", "person",
                         "--precision", "f32", "--out", path, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        model = json.loads(path.read_text())
        self.assertEqual((model["schema"], model["model"], model["precision"]), (1, st.MODEL, "f32"))
        self.assertEqual(model["predictor"], report["predictor"])
        self.assertEqual(model["tree-under-rate"], report["tree"]["under_rate"])
        self.assertEqual(model["height-under-rate"], report["height"]["under_rate"])
        self.assertEqual(report["frames"], 20)
        for predictor in "tree", "height", "defaults":
            errors = report[predictor]
            self.assertEqual(errors["samples"], report["test_samples"])
            self.assertTrue(0 <= errors["under_rate"] <= 1 and errors["area_share"] > 0, errors)
        # People there are shrunk to a half of their pixels and less on the whole.
        self.assertLess(report["height"]["safe_area_share"], 0.6)
        self.assertLess(report[report["predictor"]]["under_rate"], 0.3)
        self.assertEqual(len(model["tree"]["features"]), 7)

    def test_too_few_objects(self):
        path = self.dir / "out" / "scales.json"
        run = self.train(st.SAMPLE, "--frames", "0-4", "--every", 2, "--precision", "f32", "-q",
                         "--out", path)
        self.assert_error(run, 3, st.SAMPLE.name, "too few", "3 frames", "--every")

    def test_a_clip_that_is_cut_off_is_used_as_far_as_it_goes(self):
        cut, path = self.dir / "cut.avi", self.dir / "scales.json"
        cut.write_bytes(st.SAMPLE.read_bytes()[:1 << 20])
        run = self.train(cut, "--every", 5, "--classes", "person", "--precision", "f32", "--out", path,
                         "--json", "-q")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, r"warning: .*cut\.avi.*truncated.*the \d+ frames before are used")
        self.assertGreater(json.loads(run.stdout)["frames"], 10)
        self.assertTrue(path.exists())

    def test_wrong_arguments(self):
        path = self.out / "scales.json"
        for arguments, code, words in (
                ((self.dir / "none.mp4",), 3, ("none.mp4",)),
                ((st.SAMPLE, "--frames", "9-3"), 2, ("--frames", "9-3")),
                ((st.SAMPLE, "--frames", "x"), 2, ("--frames", "x")),
                ((st.SAMPLE, "--every", 0), 2, ("every", "0")),
                ((st.SAMPLE, "--classes", "unicorn"), 2, ("unicorn",)),
                ((st.SAMPLE, "--model", "unicorn"), 4, ("unicorn",))):
            run = self.train(*arguments, "--precision", "f32", "--out", path)
            self.assert_error(run, code, *words)
        # What cannot be written is told before there is work.
        taken = self.dir / "taken"
        taken.mkdir()
        for place in "/dev/full/x.json", "/dev/full/deep/x.json", taken:
            run = self.train(st.SAMPLE, "--precision", "f32", "--out", place)
            self.assert_error(run, 5, str(place))

    def test_interrupted_leaves_nothing(self):
        process = subprocess.Popen(
            [st.BINARY, "train-scale", st.SAMPLE, "--precision", "f32", "--out",
             self.out / "scales.json"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertIn("labelling", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("stopped", stderr)
        self.assert_nothing_left()


if __name__ == "__main__":
    st.skip_without_model_and_sample()
    unittest.main()
