"""`sparing detect` on several inputs: the sample video cut and scaled in different ways by the
program's own rendering, and inputs that are wrong in each known way."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import raw_video
import sparing_testing as st

QUIET = ("--quiet",)


def grey_video(path, width, height, frames, rate):
    """Noise-free pictures with a lighter square that moves: nothing to detect, something to follow."""
    pictures = []
    for i in range(frames):
        luma = bytearray(b"\x60" * (width * height))
        for y in range(height // 4, height // 2):
            start = y * width + (i * 3) % (width // 2)
            luma[start:start + width // 8] = b"\xc0" * (width // 8)
        pictures.append(bytes(luma) + b"\x80" * (2 * ((width + 1) // 2) * ((height + 1) // 2)))
    times = [round(1000 * i / rate) for i in range(frames)]
    return raw_video.matroska(path, b"I420", width, height, pictures, times)


class StreamsTest(st.CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "boxes.jsonl"

    def detect(self, *arguments, **options):
        return st.sparing("detect", *arguments, **options)

    def assert_frames(self, lines, *counts):
        """Each stream's frames 0, 1, 2, ... in order, with growing times."""
        for stream, count in enumerate(counts):
            own = [line for line in lines if line["stream"] == stream]
            self.assertEqual([line["frame"] for line in own], list(range(count)), f"stream {stream}")
            times = [line["time"] for line in own]
            self.assertEqual(times, sorted(set(times)))
        self.assertEqual(len(lines), sum(counts))

    def cut_sample(self, bytes_kept, name="cut.avi"):
        path = self.dir / name
        path.write_bytes(st.SAMPLE.read_bytes()[:bytes_kept])
        return path


class Outputs(StreamsTest):
    def test_two_inputs_in_one_file(self):
        run = self.detect(st.SAMPLE, st.SAMPLE, "--max-frames", 60, "--out", self.out, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        lines = st.read_jsonl(self.out)
        self.assert_frames(lines, 60, 60)
        summary = json.loads(run.stdout)
        self.assertEqual(summary["frames"], 120)
        self.assertEqual([s["frames"] for s in summary["streams"]], [60, 60])
        self.assertEqual([s["dropped_frames"] for s in summary["streams"]], [[], []])
        boxes = [box for line in lines for box in line["detections"]]
        self.assertEqual(len(boxes), summary["detections"])
        origins = [box["origin"] for box in boxes]
        for origin in ("detected", "interpolated", "propagated"):
            told = sum(s["boxes"][origin] for s in summary["streams"])
            self.assertEqual(origins.count(origin), told, origin)
        self.assertGreater(origins.count("detected"), 50)
        for line in lines:
            if not line["inspected"]:
                self.assertNotIn("detected", [box["origin"] for box in line["detections"]])
            for x0, y0, x1, y1 in (box["box"] for box in line["detections"]):
                self.assertTrue(0 <= x0 < x1 <= 768 and 0 <= y0 < y1 <= 576, (x0, y0, x1, y1))
        detector = summary["detector"]
        self.assertAlmostEqual(detector["times_spared"],
                               detector["whole_frame_seconds"] / detector["planned_seconds"])

    def test_one_file_an_input(self):
        links = [self.dir / "cam-a.avi", self.dir / "cam-b.avi"]
        for link in links:
            link.symlink_to(st.SAMPLE.resolve())
        run = self.detect(*links, "--max-frames", 20, "--out", self.dir / "{name}.json", "--out",
                          self.dir / "{stream}.txt", "--out", self.dir / "s{stream}.jsonl", "--render",
                          self.dir / "{name}.mp4", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(
            sorted(os.listdir(self.dir)),
            sorted(["0.txt", "1.txt", "cam-a.avi", "cam-a.json", "cam-a.mp4", "cam-b.avi",
                    "cam-b.json", "cam-b.mp4", "s0.jsonl", "s1.jsonl"]))
        summary = json.loads(run.stdout)
        self.assertEqual(len(summary["outputs"]), 8)
        for stream, name in enumerate(("cam-a", "cam-b")):
            boxes = json.loads((self.dir / f"{name}.json").read_text())
            self.assertEqual(len(boxes), summary["streams"][stream]["detections"])
            rows = (self.dir / f"{stream}.txt").read_text().splitlines()
            self.assertEqual(len(rows), len(boxes))
            self.assertTrue(all(int(row.split(",")[1]) > 0 for row in rows))
            lines = st.read_jsonl(self.dir / f"s{stream}.jsonl")
            self.assertEqual({line["stream"] for line in lines}, {stream})
            self.assertEqual(len(lines), 20)
            again = self.detect(self.dir / f"{name}.mp4", "--size", "192x160", "--json")
            self.assertEqual(json.loads(again.stdout)["frames"], 20, again.stderr)

    def test_lengths_sizes_and_rates_that_differ(self):
        small = grey_video(self.dir / "small.mkv", 96, 64, 7, 5)
        odd = grey_video(self.dir / "odd.mkv", 161, 119, 60, 30)
        run = self.detect(small, st.SAMPLE, odd, "--max-frames", 45, "--out", self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = st.read_jsonl(self.out)
        self.assert_frames(lines, 7, 45, 45)
        sizes = {line["stream"]: (line["width"], line["height"]) for line in lines}
        self.assertEqual(sizes, {0: (96, 64), 1: (768, 576), 2: (161, 119)})

    def test_one_input_with_a_mode(self):
        for mode in ("packed", "frame", "tiles"):
            run = self.detect(st.SAMPLE, "--mode", mode, "--max-frames", 15, "--out", self.out,
                              "--json")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assert_frames(st.read_jsonl(self.out), 15)
            way = {"packed": "packed", "frame": "frame", "tiles": "tiles"}[mode]
            self.assertGreater(json.loads(run.stdout)["streams"][0]["windows"][way], 0)

    def test_explain_and_export(self):
        why, canvases = self.dir / "why", self.dir / "canvases"
        run = self.detect(st.SAMPLE, "--mode", "packed", "--max-frames", 30, "--explain", why,
                          "--export-canvases", canvases, "--out", self.out, *QUIET)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_frames(st.read_jsonl(self.out), 30)
        self.assertGreater(len(json.loads((why / "trace.json").read_text())), 10)
        self.assertIn(".png", (why / "index.html").read_text())
        self.assertTrue(list(why.glob("window-*/canvas-*.png")))
        labels = json.loads((canvases / "annotations.json").read_text())
        self.assertGreater(len(labels["annotations"]), 0)
        for image in labels["images"]:
            self.assertTrue((canvases / "images" / image["file_name"]).exists(), image)

    def test_standard_output_and_summary(self):
        run = self.detect(st.SAMPLE, st.SAMPLE, "--max-frames", 12, "--out", "-")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_frames([json.loads(line) for line in run.stdout.splitlines()], 12, 12)
        self.assertIn("24 frames of 2 streams", run.stderr)
        self.assertIn("detector time", run.stderr)

    def test_pictures_that_are_a_video(self):
        frames = self.dir / "frames"
        frames.mkdir()
        for i in range(12):
            run = st.sparing("import", st.SAMPLE, "--frame", i, "--out", frames / f"{i:03}.png",
                             "--quiet")
            self.assertEqual(run.returncode, 0, run.stderr)
        run = self.detect(frames, "--sequence", "--mode", "packed", "--out", self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = st.read_jsonl(self.out)
        self.assert_frames(lines, 12)
        self.assertIn("origin", lines[0]["detections"][0])
        # Without it they are pictures: whole, and nothing is filled in.
        run = self.detect(frames, *QUIET, "--out", self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("origin", st.read_jsonl(self.out)[0]["detections"][0])
        self.assert_error(self.detect(frames, "--mode", "packed", "--out", self.out), 2, "frames",
                          "--sequence")
        pictures = sorted(frames.glob("*.png"))
        self.assert_error(self.detect(*pictures, "--out", self.out), 2, "000.png", "quoted")


class Determinism(StreamsTest):
    def test_two_runs_are_equal_byte_by_byte(self):
        grey = grey_video(self.dir / "grey.mkv", 160, 120, 40, 25)
        outputs = []
        for _ in range(2):
            run = self.detect(st.SAMPLE, grey, st.SAMPLE, "--max-frames", 60, "--deterministic",
                              "--out", "-", *QUIET)
            self.assertEqual(run.returncode, 0, run.stderr)
            outputs.append(run.stdout)
        self.assertEqual(len(outputs[0].splitlines()), 160)
        self.assertEqual(*outputs)

    def test_the_clock_is_refused(self):
        for option in (("--paced",), ("--fps", 30), ("--duration", 1)):
            self.assert_error(self.detect(st.SAMPLE, "--deterministic", *option, "--out", self.out), 2,
                              option[0], "deterministic")


class Failures(StreamsTest):
    def test_a_file_that_is_cut_off_disturbs_no_other(self):
        run = self.detect(self.cut_sample(1 << 20), st.SAMPLE, "--max-frames", 150, "--out", self.out,
                          *QUIET)
        self.assertEqual(run.returncode, 8, run.stderr)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertIn("cut.avi", lines[0])
        written = st.read_jsonl(self.out)
        frames = sum(line["stream"] == 0 for line in written)
        self.assertGreater(frames, 50)
        self.assertIn(f"the {frames} frames before are kept", lines[0])
        self.assert_frames(written, frames, 150)

    def test_a_file_that_is_no_video_disturbs_no_other(self):
        broken = self.dir / "broken.mp4"
        broken.write_bytes(b"this is no video" * 1000)
        run = self.detect(st.SAMPLE, broken, "--max-frames", 12, "--out", self.out, "--render",
                          self.dir / "{name}.mkv.mp4", "--json")
        self.assertEqual(run.returncode, 8, run.stderr)
        self.assertIn("broken.mp4", run.stderr)
        self.assert_frames(st.read_jsonl(self.out), 12, 0)
        summary = json.loads(run.stdout)
        self.assertIsNone(summary["streams"][0]["error"])
        self.assertIn("broken.mp4", summary["streams"][1]["error"])
        self.assertFalse((self.dir / "broken.mkv.mp4").exists())
        self.assertTrue((self.dir / f"{st.SAMPLE.stem}.mkv.mp4").exists())

    def test_a_full_disk_keeps_the_other_outputs_and_the_summary_says_what_they_hold(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))

        # Of two streams' JSON Lines, MOT text, and a video, which cannot be kept when it is cut.
        run = self.detect(st.SAMPLE, st.SAMPLE, "--no-cache", "--out", self.dir / "{stream}.txt",
                          "--render", self.dir / "{stream}.mp4", "--out", self.out, "--json",
                          "--max-frames", 150, preexec_fn=small_files)
        self.assertEqual(run.returncode, 5, run.stderr)
        summary = json.loads(run.stdout)
        held = {pathlib.Path(h["output"]).name: h for h in summary["held"]}
        self.assertEqual(sorted(held), ["0.mp4", "0.txt", "1.mp4", "1.txt", "boxes.jsonl"])
        failed = [name for name, h in held.items() if h["error"]]
        good = [name for name, h in held.items() if not h["error"]]
        self.assertTrue(failed)
        errors = run.stderr.splitlines()
        self.assertEqual(len(errors), len(failed) + bool(good), run.stderr)
        for name in failed:
            own = [line for line in errors if name in line and "the other outputs" not in line]
            self.assertEqual(len(own), 1, run.stderr)
            self.assertRegex(own[0], r"\(at frame \d+ of stream [01]; it holds \d+ frames\)|"
                                     r"\(when it was completed; it holds \d+ frames\)")
            self.assertIn(f"it holds {held[name]['frames']} frames", own[0])
        for name in good:
            self.assertIn(f"{name}' {held[name]['frames']} frames", errors[-1])
        # No other files are left, and what there is holds what was said.
        names = [name for name in held if held[name]["frames"] > 0]
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(names))
        lines = st.read_jsonl(self.out)
        self.assertEqual(len(lines), held["boxes.jsonl"]["frames"])
        self.assertFalse(held["0.mp4"]["frames"] and held["0.mp4"]["error"])
        for number, stream in enumerate(summary["streams"]):
            rows = [row.split(",") for row in
                    (self.dir / f"{number}.txt").read_text().splitlines()]
            own = [line for line in lines if line["stream"] == number]
            kept = {"text": held[f"{number}.txt"]["frames"], "lines": len(own),
                    "video": held[f"{number}.mp4"]["frames"]}
            self.assertEqual(stream["frames"], max(kept.values()))
            self.assertLessEqual(max(int(row[0]) for row in rows), kept["text"])
            if kept["text"] == stream["frames"]:
                self.assertEqual(len(rows), stream["detections"])
            if kept["lines"] == stream["frames"]:
                self.assertEqual(sum(len(x["detections"]) for x in own), stream["detections"])
            self.assertEqual(sum(stream["boxes"].values()), stream["detections"])
        self.assertEqual(summary["frames"], sum(s["frames"] for s in summary["streams"]))

    def test_a_look_into_the_run_that_cannot_be_written_does_not_end_it(self):
        # The pictures of whole frames do not fit, the boxes do.
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))

        why = self.dir / "why"
        run = self.detect(st.SAMPLE, "--mode", "packed", "--no-cache", "--max-frames", 30,
                          "--explain", why, "--out", self.out, "--json", preexec_fn=small_files)
        self.assertEqual(run.returncode, 9, run.stderr)
        self.assert_frames(st.read_jsonl(self.out), 30)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for word in "warning", f"--explain '{why}'", "window ", "File too large", "goes on":
            self.assertIn(word, run.stderr)
        summary = json.loads(run.stdout)
        self.assertIsNone(summary["error"])
        lacking, = summary["lacking"]
        self.assertIn(f"window {lacking['window']}:", run.stderr)
        self.assertEqual(lacking["windows"], summary["detector"]["windows"] - lacking["window"])
        self.assertGreater(lacking["canvases"], 0)
        json.loads((why / "trace.json").read_text())

    def test_all_broken(self):
        broken = self.dir / "broken.mp4"
        broken.write_bytes(b"this is no video" * 1000)
        other = self.dir / "other.mp4"
        other.write_bytes(b"nor is this" * 1000)
        run = self.detect(broken, other, "--out", self.out)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual([word for word in ("broken.mp4", "other.mp4") if word in run.stderr],
                         ["broken.mp4", "other.mp4"], run.stderr)
        self.assertEqual(len(run.stderr.strip().splitlines()), 2, run.stderr)
        self.assertFalse(self.out.exists())

    def test_a_name_that_is_wrong_ends_it_before_it_begins(self):
        self.assert_error(self.detect(st.SAMPLE, "nowhere.mp4", "--out", self.out), 3, "nowhere.mp4")
        self.assertFalse(self.out.exists())

    def test_interrupt_keeps_what_was_found(self):
        process = subprocess.Popen([st.BINARY, "detect", st.SAMPLE, st.SAMPLE, "--loop", "--out",
                                    self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        # The first window of a run may wait for a profile to be measured.
        deadline = time.time() + 120
        while time.time() < deadline and process.poll() is None:
            partial = [p for p in self.dir.iterdir() if p.name.startswith(".boxes")]
            if partial and partial[0].stat().st_size > 100000:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        lines = st.read_jsonl(self.out)
        self.assertIn(f"interrupted after {len(lines)} frames of 2 inputs", errors)
        self.assert_frames(lines, *[sum(x["stream"] == s for x in lines) for s in (0, 1)])
        self.assertEqual(os.listdir(self.dir), ["boxes.jsonl"])

    def test_a_silent_pipe_holds_up_no_file(self):
        with subprocess.Popen([st.BINARY, "detect", "-", st.SAMPLE, "--max-frames", "40", "--stall",
                               "0.2", "--out", "-", "--quiet"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            # Enough of the file that it is opened and gives some frames; then silence.
            process.stdin.write(st.SAMPLE.read_bytes()[:400000])
            process.stdin.flush()
            # Were the file held up, nothing would come any more.
            alarm = threading.Timer(120, process.kill)
            alarm.start()
            lines = []
            while sum(line["stream"] == 1 for line in lines) < 40:
                text = process.stdout.readline()
                self.assertTrue(text, "the file waits for the pipe")
                lines.append(json.loads(text))
            alarm.cancel()
            process.stdin.close()
            lines += [json.loads(line) for line in process.stdout.read().splitlines()]
            errors = process.stderr.read().decode()
        self.assertEqual(process.returncode, 8, errors)
        self.assert_frames(lines, sum(line["stream"] == 0 for line in lines), 40)


class Usage(StreamsTest):
    def test_formats_that_hold_one_input(self):
        for name in ("a.json", "a.txt", "a.mp4"):
            self.assert_error(self.detect(st.SAMPLE, st.SAMPLE, "--out", self.dir / name), 2, name,
                              "{stream}")
        self.assert_error(self.detect(st.SAMPLE, st.SAMPLE, "--render", self.dir / "a.mp4"), 2,
                          "a-{stream}.mp4")
        self.assert_error(self.detect(st.SAMPLE, st.SAMPLE, "--out", "-", "--format", "coco"), 2,
                          "jsonl")
        self.assertEqual(os.listdir(self.dir), [])

    def test_one_name_for_two_inputs(self):
        self.assert_error(self.detect(st.SAMPLE, st.SAMPLE, "--out", self.dir / "{name}.json"), 2,
                          "twice", "{stream}")

    def test_values(self):
        for arguments, words in ((("--mode", "best"), ("--mode", "best", "packed")),
                                 (("--budget", 0), ("--budget", "0")),
                                 (("--size", "320x320"), ("--size", "--scale")),
                                 (("--dump-inputs", "x"), ("--dump-inputs",)),
                                 (("--processors", "cpu:int9:1"), ("--processors", "int9")),
                                 (("--processors", "cpu:f32:1", "--threads", 1),
                                  ("--processors", "--threads")),
                                 (("--processors", "cpu:bf16"), ("--processors", "cpu:bf16")),
                                 (("--processors", "cpu:f32:4000"), ("--processors", "cores")),
                                 (("--profile", "a", "--profile", "b"), ("--profile",)),
                                 (("--scales", "nowhere.json"), ("nowhere.json",)),
                                 (("--tile", "0x0"), ("--tile", "0x0")),
                                 (("--tile", "10x10"), ("--tile", "10x10", "64x64")),
                                 (("--mode", "tiles", "--tile", "64x64", "--scale", 8),
                                  ("--tile", "10800 tiles of a frame of 768x576", "128x128")),
                                 (("--budget", "25m"), ("--budget", "'25m'", "25ms")),
                                 (("--budget", "0.001us"), ("--budget", "'0.001us'", "ms")),
                                 (("--window", "2h"), ("--window", "'2h'", "60 s")),
                                 (("--score-half-life", "1x"), ("--score-half-life", "'1x'")),
                                 (("--roi-reduction", 3), ("--roi-reduction", "'3'"))):
            run = self.detect(st.SAMPLE, st.SAMPLE, *arguments, "--out", self.out)
            self.assertIn(run.returncode, (2, 4), run.stderr)
            self.assert_error(run, run.returncode, *words)
        self.assertEqual(os.listdir(self.dir), [])

    def test_times_with_a_unit_and_without_are_the_same(self):
        grey = grey_video(self.dir / "grey.mkv", 160, 120, 50, 25)
        outputs = []
        for window, budget, smooth in (("400ms", "0.01s", "1.5s"), ("0.4", "10", "1500 ms"),
                                       ("0.4s", "10ms", "1.5")):
            run = self.detect(grey, "--deterministic", "--window", window, "--budget", budget,
                              "--score-half-life", smooth, "--out", self.out, "--json")
            self.assertEqual(run.returncode, 0, run.stderr)
            summary = json.loads(run.stdout)["detector"]
            outputs.append((self.out.read_text(), summary["windows"], summary["canvas_pixels"]))
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])
        self.assertGreater(outputs[0][1], 4)
        self.assertIn("--budget TIME[ms]", self.detect("--help").stdout)

    def test_a_budget_that_sees_next_to_nothing_is_told_and_the_one_that_is_named_is_enough(self):
        def summary(budget):
            run = self.detect(st.SAMPLE, "--deterministic", "--mode", "packed", "--max-frames", 100,
                              "--budget", budget, "--out", self.out, "--json")
            self.assertEqual(run.returncode, 0, run.stderr)
            return json.loads(run.stdout), run.stderr

        found, errors = summary("0.1ms")
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertEqual(errors, f"sparing: warning: {found['warnings'][0]}\n")
        stream, = found["streams"]
        dropped = sum(d["count"] for d in stream["dropped_regions"])
        self.assertIn(f"({dropped} of {dropped + stream['regions']})", errors)
        keys = stream["unseen_key_frames"], stream["unseen_key_frames"] + stream["key_frames"]
        self.assertIn("(%d of %d)" % keys, errors)
        for _ in range(4):  # with more to see it may be that more is asked for
            enough = re.search(r"at least --budget ([0-9.]+ms)", errors)
            if not enough:
                break
            found, errors = summary(enough[1])
        self.assertEqual(errors, "")
        self.assertEqual(found["warnings"], [])
        self.assertGreater(found["streams"][0]["boxes"]["detected"], 50)

    def test_options_that_contradict_each_other_or_do_nothing(self):
        for arguments, other in ((("--fps", 50, "--budget", 5), "--budget"),
                                 (("--speed", 2), "--paced"),
                                 (("--track-continue-score", 0.3), "--follow-score"),
                                 (("--track-continue-score", 0.2, "--follow-score", 0.1),
                                  "--follow-score"),
                                 (("--sequence",), "pictures"),
                                 (("--paced-queue", 9), "--paced"),
                                 (("--max-every", 3, "--every", 2), "--every"),
                                 (("--tile", "320x320", "--mode", "packed"), "--mode"),
                                 (("--tile-overlap", 0.1, "--mode", "frame"), "--mode"),
                                 (("--target-recall", 0.9, "--mode", "packed"), "--mode auto"),
                                 (("--export-canvases", self.dir / "c", "--mode", "tiles"),
                                  "--mode"),
                                 (("--export-canvases", self.dir / "c", "--explain",
                                   f"{self.dir}/./c/"), "--explain"),
                                 (("--stall", 1, "--deterministic"), "--deterministic"),
                                 (("--explain-frames", 1), "--explain"),
                                 (("--export-score", 0.5), "--export-canvases")):
            run = self.detect(st.SAMPLE, *arguments, "--out", self.out)
            self.assert_error(run, 2, f"sparing: {arguments[0]}: ", other, ";")
        self.assertEqual(os.listdir(self.dir), [])
        # With what they are for they are taken.
        run = self.detect(st.SAMPLE, "--max-frames", 6, "--mode", "auto", "--every", 0, "--tile",
                          "320x320", "--max-every", 3, "--target-recall", 0.9, "--out", self.out,
                          *QUIET)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_loops_end_with_the_frames_that_were_asked_for(self):
        grey = grey_video(self.dir / "grey.mkv", 96, 64, 10, 25)
        run = self.detect(grey, "--loop", "--max-frames", 25, "--out", self.out)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_frames(st.read_jsonl(self.out), 25)

    def test_files_that_are_no_text_are_not_shown_to_the_terminal(self):
        for first in b"\xff\xfe\x00", b"\x89PNG", b"\xc2\x9b31m":
            path = self.dir / "scales.json"
            path.write_bytes(first + bytes(range(256)))
            for option in "--scales", "--profile":
                process = subprocess.run([st.BINARY, "detect", st.SAMPLE, option, path, "--out",
                                          self.out], capture_output=True, timeout=60)
                self.assertEqual(process.returncode, 4, process.stderr)
                text = process.stderr.decode()  # valid UTF-8
                self.assertTrue(text.rstrip("\n").isprintable(), text)

    def test_placeholders(self):
        for argument in "--out", "--render":
            run = self.detect(st.SAMPLE, st.SAMPLE, argument, self.dir / "{nmae}.mp4")
            self.assert_error(run, 2, "{nmae}", "{name}", "{stream}")
        self.assertEqual(os.listdir(self.dir), [])

    def test_windows_that_are_longer_than_was_said(self):
        grey = grey_video(self.dir / "grey.mkv", 96, 64, 30, 10)
        for every, said in ((10, False), (20, True)):
            run = self.detect(grey, "--mode", "frame", "--every", every, "--out", self.out)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual("--every 20 is a frame in 2.0 s of" in run.stderr, said, run.stderr)

    def test_standard_input_is_one_video(self):
        self.assert_error(self.detect("-", "-", "--out", self.out), 2, "twice")


class Paced(StreamsTest):
    def test_frames_that_come_too_fast_are_counted(self):
        run = self.detect(st.SAMPLE, st.SAMPLE, "--max-frames", 300, "--paced", "--speed", 100,
                          "--paced-queue", 5, "--mode", "frame", "--every", 1, "--budget", 10000,
                          "--out", self.out, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        summary = json.loads(run.stdout)
        kept = summary["frames"]
        if kept < 290:
            self.assertIn(f"({600 - kept} of 600), as they came faster", run.stderr)
        elif kept > 310:
            self.assertEqual(run.stderr, "")
        dropped = 0
        for number, stream in enumerate(summary["streams"]):
            own = {d["reason"]: d["count"] for d in stream["dropped_frames"]}
            dropped += own.get("arrived faster than it could be processed", 0)
            self.assertEqual(stream["frames"] + sum(own.values()), 300)
            self.assertGreater(stream["frames"], 0)
            self.assertGreater(stream["latency"]["p95_seconds"], 0)
            frames = [x["frame"] for x in st.read_jsonl(self.out) if x["stream"] == number]
            self.assertEqual(len(frames), stream["frames"])
            self.assertEqual(frames, sorted(set(frames)))
        self.assertGreater(dropped, 0)

    def test_duration_and_loop(self):
        grey = grey_video(self.dir / "grey.mkv", 96, 64, 10, 25)
        run = self.detect(grey, "--loop", "--duration", 2, "--paced", "--out", self.out, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = st.read_jsonl(self.out)
        self.assertGreater(len(lines), 10)
        self.assertLess(len(lines), 60)
        self.assertFalse(json.loads(run.stdout)["interrupted"])
        times = [line["time"] for line in lines]
        self.assertEqual(times, sorted(set(times)))


if __name__ == "__main__":
    st.skip_without_model_and_sample()
    unittest.main()
