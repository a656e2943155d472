"""The command line end to end, on the sample video and on inputs that are wrong in each known way."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import raw_video
import sparing_testing as st

FAST = ("--size", "192x160", "--quiet")


class CliTest(st.CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "boxes.jsonl"

    def detect(self, *arguments, **options):
        return st.sparing("detect", *arguments, **options)

    def assert_clean(self, *names):
        """Only these files are there: nothing temporary is left."""
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(names))

    def cut_sample(self, bytes_kept):
        path = self.dir / "cut.avi"
        path.write_bytes(st.SAMPLE.read_bytes()[:bytes_kept])
        return path


class Detect(CliTest):
    def test_all_outputs_at_once_with_a_summary(self):
        coco, mot, video = self.dir / "a.json", self.dir / "b.txt", self.dir / "c.mp4"
        run = self.detect(st.SAMPLE, "--size", "384x288", "--max-frames", 20, "--out", self.out,
                          "--out", coco, "--out", mot, "--render", video, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        summary = json.loads(run.stdout)
        self.assertEqual(summary["frames"], 20)
        self.assertEqual(summary["input_size"], [384, 288])
        self.assertIsNone(summary["error"])
        self.assertEqual(set(summary["stages"]),
                         {"decode", "import", "inference", "post-processing", "output"})
        self.assertEqual(len(summary["outputs"]), 4)
        lines = st.read_jsonl(self.out)
        self.assertEqual([line["frame"] for line in lines], list(range(20)))
        found = sum(len(line["detections"]) for line in lines)
        self.assertEqual(found, summary["detections"])
        self.assertGreater(found, 20)
        self.assertEqual(len(json.loads(coco.read_text())), found)
        self.assertEqual(len(mot.read_text().splitlines()), found)
        self.assert_clean("boxes.jsonl", "a.json", "b.txt", "c.mp4")
        again = self.detect(video, *FAST, "--json")
        self.assertEqual(json.loads(again.stdout)["frames"], 20, again.stderr)

    def test_classes_and_score_are_kept(self):
        run = self.detect(st.SAMPLE, *FAST, "--max-frames", 10, "--classes", "person", "--score",
                          0.4, "--out", "-")
        self.assertEqual(run.returncode, 0, run.stderr)
        detections = [d for line in run.stdout.splitlines() for d in json.loads(line)["detections"]]
        self.assertTrue(detections)
        self.assertEqual({d["label"] for d in detections}, {"person"})
        self.assertGreaterEqual(min(d["score"] for d in detections), 0.4)

    def test_standard_input_gives_the_same_boxes(self):
        first = self.detect(st.SAMPLE, *FAST, "--max-frames", 10, "--out", "-")
        with open(st.SAMPLE, "rb") as file:
            second = self.detect("-", *FAST, "--max-frames", 10, "--out", "-", stdin=file)
        self.assertEqual(second.returncode, 0, second.stderr)
        strip = lambda text: [json.loads(line)["detections"] for line in text.splitlines()]
        self.assertEqual(strip(first.stdout), strip(second.stdout))

    def test_two_runs_are_equal_byte_by_byte(self):
        runs = [self.detect(st.SAMPLE, *FAST, "--max-frames", 30, "--streams", streams, "--threads",
                            2, "--out", "-").stdout for streams in (2, 2)]
        self.assertTrue(runs[0])
        self.assertEqual(*runs)

    def test_hdr_is_told_once(self):
        for transfer, frames in (("pq", 3), ("sdr", 0)):
            video = raw_video.matroska(self.dir / "a.mkv", b"Y3\x0b\x0a", 64, 48,
                                       [b"\0\2" * (64 * 48 * 3 // 2)] * 3, transfer=transfer)
            run = self.detect(video, "--size", "192x160", "--out", self.out, "--json")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(json.loads(run.stdout)["hdr_frames"], frames)
            self.assertEqual(run.stderr.count("not tone-mapped"), min(frames, 1))
            self.assertEqual(self.detect(video, *FAST, "--out", self.out).stderr, "")

    def test_no_progress_without_a_terminal(self):
        run = self.detect(st.SAMPLE, "--size", "192x160", "--max-frames", 3, "--out", self.out)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr, "")
        self.assertIn("3 frames", run.stdout)
        self.assertIn(str(self.out), run.stdout)

    def test_signals_keep_what_was_found(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.interrupt(number)
                self.out.unlink()
                (self.dir / "c.mp4").unlink()

    def interrupt(self, number):
        video = self.dir / "c.mp4"
        process = subprocess.Popen([st.BINARY, "detect", st.SAMPLE, "--size", "768x576", "--out",
                                    self.out, "--render", video], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while len(os.listdir(self.dir)) < 2 and process.poll() is None:
            time.sleep(0.02)
        time.sleep(2)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted after", errors)
        frames = len(st.read_jsonl(self.out))
        self.assertGreater(frames, 0)
        self.assertLess(frames, 795)
        self.assertIn(f"after {frames} frames", errors)
        self.assert_clean("boxes.jsonl", "c.mp4")
        again = self.detect(video, *FAST, "--json")
        self.assertEqual(json.loads(again.stdout)["frames"], frames)

    def test_signals_that_were_ignored_stay_ignored(self):
        video = raw_video.matroska(self.dir / "a.mkv", b"I420", 64, 48,
                                   [b"\x60" * (64 * 48 * 3 // 2)] * 5).read_bytes()
        for number in (signal.SIGHUP, signal.SIGINT):
            with self.subTest(number):
                process = subprocess.Popen(
                    [st.BINARY, "detect", "-", "--size", "192x160", "--out", self.out],
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
                time.sleep(1)
                process.send_signal(number)
                _, errors = process.communicate(video, timeout=60)
                self.assertEqual(process.returncode, 0, errors)
                self.assertEqual(len(st.read_jsonl(self.out)), 5)

    def test_one_ignored_signal_leaves_the_others(self):
        process = subprocess.Popen(
            ["nohup", st.BINARY, "detect", "-", "--out", self.out], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        _, errors = st.end_of(process, 60)
        self.assertEqual(process.returncode, 130, errors)

    def test_ctrl_c_while_standard_input_is_silent(self):
        process = subprocess.Popen([st.BINARY, "detect", "-", "--out", self.out],
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, errors = st.end_of(process, 20)
        self.assertEqual(process.returncode, 130, errors)


class WrongInput(CliTest):
    def test_missing(self):
        self.assert_error(self.detect("nowhere.mp4", "--out", self.out), 3, "nowhere.mp4", "no such")
        self.assert_clean()

    def test_empty(self):
        (self.dir / "empty.mp4").touch()
        self.assert_error(self.detect(self.dir / "empty.mp4", "--out", self.out), 3, "empty.mp4")
        self.assert_clean("empty.mp4")

    def test_not_a_video(self):
        self.assert_error(self.detect(__file__, "--out", self.out), 3, "cli_test.py")

    def test_folder_without_images(self):
        (self.dir / "sub").mkdir()
        (self.dir / "sub" / "readme.txt").write_text("hello")
        self.assert_error(self.detect(self.dir / "sub", "--out", self.out), 3, "sub", "image")

    def test_pattern_without_match(self):
        self.assert_error(self.detect(self.dir / "*.png", "--out", self.out), 3, "*.png")

    def test_unreadable(self):
        # Its permissions allow reading, even to root; each read fails.
        self.assert_error(self.detect("/proc/self/mem", "--out", self.out), 3, "/proc/self/mem")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_no_permission(self):
        path = self.cut_sample(100000)
        path.chmod(0)
        self.assert_error(self.detect(path, "--out", self.out), 3, "cut.avi", "ermission")

    def test_truncated_keeps_the_frames_before(self):
        run = self.detect(self.cut_sample(1 << 20), *FAST, "--out", self.out)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("cut.avi", run.stderr.splitlines()[0])
        frames = len(st.read_jsonl(self.out))
        self.assertGreater(frames, 50)
        self.assertIn(f"the {frames} frames before are kept", run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)


class WrongOutput(CliTest):
    def test_folder_that_cannot_be_made(self):
        (self.dir / "file").touch()
        self.assert_error(self.detect(st.SAMPLE, "--out", self.dir / "file" / "a.jsonl"), 5, "file")

    def test_a_folder_is_in_the_way(self):
        self.out.mkdir()
        self.assert_error(self.detect(st.SAMPLE, *FAST, "--max-frames", 2, "--out", self.out), 5,
                          "boxes.jsonl")

    def test_the_input_is_never_overwritten(self):
        video, link = self.dir / "in.avi", self.dir / "link.mp4"
        shutil.copy(st.SAMPLE, video)
        os.link(video, link)
        before = video.read_bytes()
        for arguments in (("--render", link), ("--out", video, "--format", "jsonl")):
            self.assert_error(self.detect(video, *FAST, "--max-frames", 2, *arguments), 2, "input")
        self.assertEqual(video.read_bytes(), before)
        self.assert_clean("in.avi", "link.mp4")

    def test_two_outputs_under_one_name(self):
        again = self.dir / "." / "boxes.jsonl"
        self.assert_error(self.detect(st.SAMPLE, "--out", self.out, "--out", again), 2, "twice")
        run = self.detect(st.SAMPLE, *FAST, "--max-frames", 2, "--out", "/dev/null", "--format",
                          "jsonl", "--out", "/dev/null")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_run_without_a_frame_leaves_the_old_output(self):
        self.out.write_text("old")
        path = self.dir / "unfit.json"
        path.write_text("{}")
        self.assertEqual(self.detect(st.SAMPLE, "--model", path, "--out", self.out).returncode, 4)
        self.assertEqual(self.out.read_text(), "old")

    def test_unknown_ending(self):
        self.assert_error(self.detect(st.SAMPLE, "--out", self.dir / "a.doc"), 2, "a.doc", "jsonl")

    def test_no_output(self):
        self.assert_error(self.detect(st.SAMPLE), 2, "--out")

    def test_full_disk_keeps_whole_lines(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        run = self.detect(st.SAMPLE, *FAST, "--no-cache", "--out", self.out,
                          preexec_fn=small_files)
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("boxes.jsonl", run.stderr.splitlines()[0])
        lines = st.read_jsonl(self.out)
        self.assertGreater(len(lines), 3)
        self.assertLess(self.out.stat().st_size, 20001)
        self.assert_clean("boxes.jsonl")

    def test_closed_pipe(self):
        process = subprocess.Popen([st.BINARY, "detect", st.SAMPLE, *FAST, "--out", "-"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 5, errors)


class WrongModel(CliTest):
    def test_unknown_name(self):
        self.assert_error(self.detect(st.SAMPLE, "--model", "yolo99", "--out", self.out), 4, "yolo99",
                          "nanodet-g")

    def test_not_a_model(self):
        path = self.dir / "fake.onnx"
        path.write_bytes(b"this is not a model" * 100)
        self.assert_error(self.detect(st.SAMPLE, "--model", path, "--out", self.out), 4, "fake.onnx")

    def test_unknown_head(self):
        path = pathlib.Path(__file__).resolve().parents[2] / "src/sparing/backends/testdata/add.onnx"
        self.assertTrue(path.exists())
        for command in (("detect", st.SAMPLE, "--model", path, "--out", self.out),
                        ("models", "inspect", path)):
            run = st.sparing(*command)
            self.assertEqual(run.returncode, 4, run.stderr)
            for head in ("NanoDet", "YOLOX", "YOLOv8", "DETR"):
                self.assertIn(head, run.stderr)

    def test_missing_and_wrong_hash(self):
        environment = {**os.environ, "SPARING_MODELS_DIR": str(self.dir / "models")}
        run = self.detect(st.SAMPLE, "--out", self.out, env=environment)
        self.assert_error(run, 4, "nanodet-g", "sparing models get nanodet-g")
        (self.dir / "models").mkdir()
        data = bytearray(st.model_file().read_bytes())
        data[len(data) // 2] ^= 1
        (self.dir / "models" / "nanodet-g.onnx").write_bytes(data)
        run = self.detect(st.SAMPLE, "--out", self.out, env=environment)
        self.assert_error(run, 4, "nanodet-g", "sparing models get nanodet-g")
        self.assertIn("SHA-256", run.stderr)

    def test_inspect_the_default(self):
        run = st.sparing("models", "inspect", st.model_file())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("nanodet", run.stdout)
        self.assertIn("[1,3,?,?]", run.stdout)


class Usage(CliTest):
    def test_values_out_of_range(self):
        for arguments, words in ((("--score", 2), ("--score", "2")),
                                 (("--size", "100x100"), ("size", "100x100", "32")),
                                 (("--classes", "unicorn"), ("unicorn", "person")),
                                 (("--threads", -1), ("--threads",)),
                                 (("--precision", "f64"), ("--precision", "f64", "bf16"))):
            run = self.detect(st.SAMPLE, *arguments, "--out", self.out)
            self.assert_error(run, 2, *words)
        self.assert_clean()

    def test_no_command_and_unknown_options(self):
        self.assert_error(st.sparing(), 2, "--help")
        self.assert_error(st.sparing("detect", "--nonsense"), 2, "--nonsense", "detect --help")
        self.assert_error(st.sparing("dance"), 2, "dance")
        self.assert_error(st.sparing("eval", "a.jsonl"), 2, "--gt", "eval --help")

    def test_a_list_ends_at_the_next_word(self):
        run = self.detect("--classes", "person,car", st.SAMPLE, *FAST, "--max-frames", 2, "--out",
                          self.out)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_full_frames_are_told(self):
        run = self.detect(st.SAMPLE, *FAST, "--max-frames", 3, "--score", 0, "--max-detections", 5,
                          "--out", self.out, "--json")
        summary = json.loads(run.stdout)
        self.assertEqual((summary["detections"], summary["full_frames"]), (15, 3))

    def test_help_and_version(self):
        for command in ((), ("detect",), ("eval",), ("models",), ("info",), ("models", "get")):
            run = st.sparing(*command, "--help")
            self.assertEqual(run.returncode, 0)
            self.assertIn("sage", run.stdout)
        self.assertRegex(st.sparing("version").stdout, r"^sparing \d+\.\d+\.\d+\n$")
        info = json.loads(st.sparing("info", "--json").stdout)
        self.assertIn("CPU", [device["name"] for device in info["devices"]])


class Eval(CliTest):
    def test_detections_against_themselves(self):
        run = self.detect(st.SAMPLE, *FAST, "--max-frames", 30, "--classes", "person", "--out",
                          self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        truth = self.dir / "gt.txt"
        with open(truth, "w", encoding="utf-8") as file:
            for line in st.read_jsonl(self.out):
                for number, d in enumerate(line["detections"], 1):
                    x0, y0, x1, y1 = d["box"]
                    file.write(f"{line['frame'] + 1},{number},{x0},{y0},{x1 - x0},{y1 - y0},1,1,1\n")
        run = st.sparing("eval", self.out, "--gt", truth, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        result = json.loads(run.stdout)
        self.assertAlmostEqual(result["ap50_voc"], 1)
        self.assertAlmostEqual(result["ap_coco"], 1)
        self.assertIn("person", st.sparing("eval", self.out, "--gt", truth).stdout)

    def test_wrong_files(self):
        bad = self.dir / "bad.jsonl"
        bad.write_text('{"schema":1}\nnot json\n')
        self.assert_error(st.sparing("eval", bad, "--gt", bad), 3, "bad.jsonl")
        self.assert_error(st.sparing("eval", "nowhere.jsonl", "--gt", "nowhere.txt"), 3, "nowhere")


if __name__ == "__main__":
    st.skip_without_model_and_sample()
    unittest.main()
