"""sparing import: tensors against values computed here with NumPy by the definition of
docs/import.md, pictures, summaries and errors."""

import json
import pathlib
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import sparing_testing as st

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing (scripts/setup --test)")
    sys.exit(77)

import raw_video

WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


class Picture:
    """A random picture in a raw format, and its samples by component."""

    # Chroma shifts, bits a sample.
    FORMATS = {"I420": (1, 1, 8), "I422": (1, 0, 8), "I444": (0, 0, 8), "NV12": (1, 1, 8),
               "NV21": (1, 1, 8), "YUYV": (1, 0, 8), "UYVY": (1, 0, 8), "I420P10": (1, 1, 10),
               "I422P10": (1, 0, 10), "I444P10": (0, 0, 10)}
    FOURCC = {"I420": b"I420", "I422": b"Y42B", "I444": b"444P", "NV12": b"NV12", "NV21": b"NV21",
              "YUYV": b"YUY2", "UYVY": b"UYVY", "I420P10": b"Y3\x0b\x0a", "I422P10": b"Y3\x0a\x0a",
              "I444P10": b"Y3\x00\x0a"}

    def __init__(self, name, width, height, seed=1):
        self.name, self.width, self.height = name, width, height
        self.shift_x, self.shift_y, self.bits = self.FORMATS[name]
        random = np.random.default_rng(seed)
        chroma = (-(-height // (1 << self.shift_y)), -(-width // (1 << self.shift_x)))
        self.y, self.u, self.v = (random.integers(0, 1 << self.bits, size)
                                  for size in ((height, width), chroma, chroma))

    def bytes(self):
        kind = "<u2" if self.bits > 8 else "u1"
        y, u, v = (plane.astype(kind) for plane in (self.y, self.u, self.v))
        if self.name in ("NV12", "NV21"):
            pair = (u, v) if self.name == "NV12" else (v, u)
            return y.tobytes() + np.stack(pair, axis=-1).tobytes()
        if self.name in ("YUYV", "UYVY"):
            first, second = y[:, 0::2], y[:, 1::2]
            order = (first, u, second, v) if self.name == "YUYV" else (u, first, v, second)
            return np.stack(order, axis=-1).tobytes()
        return y.tobytes() + u.tobytes() + v.tobytes()


def taps(positions, count, nearest):
    """The two sample indices and the weight of the second at each position."""
    if nearest:
        index = np.clip(np.floor(positions + 0.5), 0, count - 1).astype(int)
        return index, index, np.zeros(len(index))
    positions = np.clip(positions, 0, count - 1)
    lower = np.floor(positions).astype(int)
    return lower, np.minimum(lower + 1, count - 1), positions - lower


def sample(plane, u, v, nearest):
    """plane at columns u and rows v, in units of its own samples, their centres at whole numbers."""
    x0, x1, fx = taps(u, plane.shape[1], nearest)
    y0, y1, fy = taps(v, plane.shape[0], nearest)
    rows = plane[:, x0] * (1 - fx) + plane[:, x1] * fx
    return rows[y0] * (1 - fy)[:, None] + rows[y1] * fy[:, None]


def rgb(picture, rect, size, matrix="bt601", range="limited", siting="left", nearest=False,
        replicate=False):
    """[3, h, w] on 0..255; with one channel's luma in front: [4, h, w]."""
    x, y, w, h = rect
    u = x + (np.arange(size[0]) + 0.5) * w / size[0]  # luma coordinates
    v = y + (np.arange(size[1]) + 0.5) * h / size[1]
    luma = sample(picture.y, u - 0.5, v - 0.5, nearest)
    planes = picture.u, picture.v
    if replicate:  # to luma's resolution first
        planes = [np.repeat(np.repeat(p, 1 << picture.shift_y, 0), 1 << picture.shift_x, 1)
                  [:picture.height, :picture.width] for p in planes]
        cu, cv = u - 0.5, v - 0.5
    else:
        left, top = siting != "center", siting == "top-left"
        cu = u / 2 - (0.25 if left else 0.5) if picture.shift_x else u - 0.5
        cv = v / 2 - (0.25 if top else 0.5) if picture.shift_y else v - 0.5
    chroma = [sample(p, cu, cv, nearest) for p in planes]
    more = 2.0 ** (picture.bits - 8)
    if range == "limited":
        luma = (luma / more - 16) * 255 / 219
        cb, cr = ((c / more - 128) * 255 / 224 for c in chroma)
    else:
        top = 2.0 ** picture.bits - 1
        luma = luma * 255 / top
        cb, cr = ((c - 2 ** (picture.bits - 1)) * 255 / top for c in chroma)
    kr, kb = WEIGHTS[matrix]
    kg = 1 - kr - kb
    channels = [luma + 2 * (1 - kr) * cr,
                luma - 2 * kb * (1 - kb) / kg * cb - 2 * kr * (1 - kr) / kg * cr,
                luma + 2 * (1 - kb) * cb]
    return np.clip(np.stack([luma] + channels), 0, 255)


class ImportTest(st.CommandTest):
    def setUp(self):
        super().setUp()
        self.npy = self.dir / "a.npy"
        self.png = self.dir / "a.png"

    def run_import(self, *arguments, **options):
        run = st.sparing("import", *arguments, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def tensor(self, *arguments, **options):
        self.run_import(*arguments, "--out", self.npy, "--quiet", **options)
        return np.load(self.npy)

    def summary(self, *arguments):
        return json.loads(self.run_import(*arguments, "--json").stdout)

    def video(self, *pictures, name="a.mkv", **color):
        first = pictures[0]
        return raw_video.matroska(self.dir / name, Picture.FOURCC[first.name], first.width,
                                  first.height, [p.bytes() for p in pictures], **color)

    def assert_close(self, found, expected, tolerance=0.03):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(np.abs(found.astype(float) - expected).max(), tolerance)


class Values(ImportTest):
    def test_every_yuv_format_at_its_own_size(self):
        for name in Picture.FORMATS:
            with self.subTest(name):
                # FFmpeg's own parts differ about the last chroma sample of packed odd widths.
                picture = Picture(name, 34 if name in ("YUYV", "UYVY") else 33, 17)
                video = self.video(picture)
                size = (picture.width, picture.height)
                self.assert_close(self.tensor(video)[0], rgb(picture, (0, 0, *size), size)[1:])
                self.assertEqual(self.summary(video)["format"], name)

    def test_rgb_and_grey_pictures(self):
        pixels = np.random.default_rng(2).integers(0, 256, (17, 33, 3), dtype=np.uint8)
        ppm, pgm, deep = self.dir / "a.ppm", self.dir / "a.pgm", self.dir / "deep.pgm"
        ppm.write_bytes(b"P6\n33 17\n255\n" + pixels.tobytes())
        pgm.write_bytes(b"P5\n33 17\n255\n" + pixels[..., 0].tobytes())
        values = np.random.default_rng(3).integers(0, 65536, (17, 33), dtype=np.uint16)
        deep.write_bytes(b"P5\n33 17\n65535\n" + values.astype(">u2").tobytes())
        self.assert_close(self.tensor(ppm)[0], pixels.transpose(2, 0, 1).astype(float))
        self.assert_close(self.tensor(pgm)[0], np.stack([pixels[..., 0]] * 3).astype(float))
        self.assert_close(self.tensor(deep, "--channels", 1)[0, 0], values * (255 / 65535))
        self.assertEqual(self.summary(deep)["format"], "GRAY16")
        luma = pixels @ np.array([0.299, 0.587, 0.114])
        self.assert_close(self.tensor(ppm, "--channels", 1)[0, 0], luma)

    def test_rectangles_and_sizes(self):
        picture = Picture("I420", 97, 61)
        video = self.video(picture)
        for rect, size in (((10, 20, 30, 24), (30, 24)), ((3.25, 7.5, 61.5, 40.25), (50, 31)),
                           ((0, 0, 97, 61), (200, 150)), ((0.5, 0.5, 96, 60), (13, 11)),
                           ((-20.5, -10, 140, 90), (64, 48))):
            for nearest in (False, True):
                with self.subTest((rect, size, nearest)):
                    found = self.tensor(video, "--rect", ",".join(map(str, rect)), "--size",
                                        f"{size[0]}x{size[1]}", "--filter",
                                        "nearest" if nearest else "bilinear")
                    self.assert_close(found[0], rgb(picture, rect, size, nearest=nearest)[1:])

    def test_the_default_size_is_the_rectangles_own(self):
        video = self.video(Picture("I420", 97, 61))
        self.assertEqual(self.tensor(video, "--rect", "1,2,30.5,20.4").shape, (1, 3, 20, 31))

    def test_colour_by_the_stream_and_by_option(self):
        picture = Picture("I420", 40, 30)
        size, rect = (40, 30), (0, 0, 40, 30)
        tagged = self.video(picture, name="tagged.mkv", matrix="bt2020", range="full",
                            siting="center")
        self.assert_close(self.tensor(tagged)[0],
                          rgb(picture, rect, size, "bt2020", "full", "center")[1:])
        colour = self.summary(tagged)["color"]
        self.assertEqual({key: fact["value"] for key, fact in colour.items()},
                         {"matrix": "bt2020", "range": "full", "siting": "center"})
        self.assertEqual({fact["from"] for fact in colour.values()}, {"stream"})
        options = ("--matrix", "bt709", "--range", "limited", "--siting", "top-left")
        self.assert_close(self.tensor(tagged, *options)[0],
                          rgb(picture, rect, size, "bt709", "limited", "top-left")[1:])
        self.assertEqual({fact["from"] for fact in self.summary(tagged, *options)["color"].values()},
                         {"option"})
        self.assertEqual({f["from"] for f in self.summary(self.video(picture))["color"].values()},
                         {"rule"})

    def test_chroma_replicated(self):
        picture = Picture("I420", 40, 30)
        found = self.tensor(self.video(picture), "--chroma", "replicate", "--size", "31x22")
        self.assert_close(found[0], rgb(picture, (0, 0, 40, 30), (31, 22), replicate=True)[1:])

    def test_area_filter_of_a_whole_ratio_is_the_mean(self):
        picture = Picture("I444", 60, 40)
        found = self.tensor(self.video(picture, range="full"), "--channels", 1, "--size", "20x10",
                            "--filter", "area")
        self.assert_close(found[0, 0], picture.y.reshape(10, 4, 20, 3).mean(axis=(1, 3)))

    def test_types_layouts_and_normalisation(self):
        picture = Picture("I420", 33, 17)
        video = self.video(picture)
        luma, *color = rgb(picture, (0, 0, 33, 17), (33, 17))
        color = np.stack(color)
        kinds = {"f32": "float32", "f16": "float16", "bf16": "uint16", "u8": "uint8", "i8": "int8",
                 "i32": "int32", "i64": "int64"}
        for name, kind in kinds.items():
            with self.subTest(name):
                found = self.tensor(video, "--type", name, "--layout", "nhwc", "--order", "bgr")
                self.assertEqual(found.dtype, np.dtype(kind))
                self.assertEqual(found.shape, (1, 17, 33, 3))
                if name == "bf16":
                    found = (found.astype(np.uint32) << 16).view(np.float32)
                limit = 127 if name == "i8" else 255
                tolerance = {"f32": 0.03, "f16": 0.1, "bf16": 0.6}.get(name, 0.55)
                expected = np.minimum(color[::-1].transpose(1, 2, 0), limit)
                self.assert_close(found[0], expected, tolerance)
        mean, std = np.array([10, 20.5, 30]), np.array([2, 4, -8])
        found = self.tensor(video, "--mean", "10,20.5,30", "--std", "2,4,-8")
        self.assert_close(found[0], (color - mean[:, None, None]) / std[:, None, None])
        found = self.tensor(video, "--mean", "127.5", "--std", "127.5", "--channels", "1")
        self.assert_close(found[0, 0], (luma - 127.5) / 127.5)
        found = self.tensor(video, "--channels", 4, "--alpha", 7)
        self.assert_close(found[0, :3], color)
        self.assertTrue((found[0, 3] == 7).all())
        found = self.tensor(video, "--type", "i8", "--quantize", "0.5,-128", "--mean", "10")
        self.assert_close(found[0], np.clip((color - 10) / 0.5 - 128, -128, 127), 0.6)

    def test_letterbox_and_crop(self):
        picture = Picture("I420", 40, 20)
        video = self.video(picture)
        whole = rgb(picture, (0, 0, 40, 20), (20, 10))[1:]
        found = self.tensor(video, "--size", "20x20", "--fit", "letterbox", "--pad", "50,60,70")
        self.assert_close(found[0, :, 5:15], whole)
        self.assert_close(found[0, :, :5], np.broadcast_to(
            np.array([50, 60, 70.0])[:, None, None], (3, 5, 20)))
        found = self.tensor(video, "--size", "20x20", "--fit", "letterbox", "--anchor", "top-left")
        self.assert_close(found[0, :, :10], whole)
        found = self.tensor(video, "--size", "10x10", "--fit", "crop")
        self.assert_close(found[0], rgb(picture, (10, 0, 20, 20), (10, 10))[1:])
        summary = self.summary(video, "--size", "10x10", "--fit", "crop")
        self.assertEqual(summary["map"], [2, 0, 10, 0, 2, 0])

    def test_outside_is_clamped_or_padded(self):
        picture = Picture("I444", 20, 10)
        video = self.video(picture, range="full")
        arguments = (video, "--rect", "-5,-5,30,20", "--channels", 1)
        expected = np.pad(picture.y, 5, mode="edge").astype(float)
        self.assert_close(self.tensor(*arguments)[0, 0], expected)
        expected = np.pad(picture.y, 5, constant_values=33).astype(float)
        found = self.tensor(*arguments, "--outside", "pad", "--pad", 33)
        self.assert_close(found[0, 0], expected)

    def test_turned_and_mirrored(self):
        picture = Picture("I444", 20, 11)
        video = self.video(picture)
        upright = rgb(picture, (0, 0, 20, 11), (20, 11))[1:]
        for turns in range(4):
            for flip in (False, True):
                expected = np.rot90(upright, -turns, (1, 2))
                arguments = ["--rotate", 90 * turns]
                if flip:
                    expected = expected[:, :, ::-1]
                    arguments.append("--flip")
                with self.subTest(arguments):
                    self.assert_close(self.tensor(video, *arguments)[0], expected)

    def test_reference_and_threads_agree(self):
        picture = Picture("NV12", 211, 137)
        arguments = (self.video(picture), "--size", "101x67", "--filter", "triangle")
        one = self.tensor(*arguments)
        self.assertEqual(one.tobytes(), self.tensor(*arguments, "--threads", 3).tobytes())
        self.assert_close(self.tensor(*arguments, "--reference"), one.astype(float), 0.02)


class Pictures(ImportTest):
    def check_png(self, path, expected):
        """expected: [h, w, c] on 0..255."""
        width, height, channels, rows = raw_video.read_png(path)
        self.assertEqual((height, width, channels), expected.shape)
        found = np.frombuffer(b"".join(rows), np.uint8).reshape(expected.shape)
        self.assert_close(found, expected, 1.1)

    def test_png_shows_what_the_tensor_holds_whatever_its_form(self):
        picture = Picture("I420", 33, 17)
        video = self.video(picture)
        luma, *color = rgb(picture, (0, 0, 33, 17), (33, 17))
        expected = np.stack(color, axis=-1)
        for arguments in ((), ("--order", "bgr", "--mean", "103.5,116,123", "--std", "57,58,59"),
                          ("--type", "u8", "--layout", "nhwc"), ("--type", "f16", "--channels", 4),
                          ("--type", "bf16", "--std", 255),
                          ("--type", "i8", "--mean", "127.5", "--quantize", "1,0"),
                          ("--type", "i32", "--quantize", "0.001,5", "--std", "255")):
            with self.subTest(arguments):
                self.run_import(video, *arguments, "--out", self.png)
                self.check_png(self.png, expected)
        self.run_import(video, "--channels", 1, "--out", self.png)
        self.check_png(self.png, luma[..., None])

    def test_several_outputs_and_their_folders(self):
        video = self.video(Picture("I420", 32, 16))
        out = self.dir / "new" / "folder"
        run = self.run_import(video, "--out", out / "a.npy", "--out", out / "b.PNG")
        self.assertIn(str(out / "a.npy"), run.stdout)
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["a.npy", "b.PNG"])


class Frames(ImportTest):
    def setUp(self):
        super().setUp()
        self.pictures = [Picture("I420", 32, 16, seed) for seed in range(5)]
        self.clip = raw_video.matroska(self.dir / "clip.mkv", b"I420", 32, 16,
                                       [p.bytes() for p in self.pictures],
                                       times=[0, 40, 90, 1000, 1040])

    def shown(self, *arguments, video=None):
        found = self.tensor(video or self.clip, *arguments)[0]
        errors = [np.abs(found - rgb(p, (0, 0, 32, 16), (32, 16))[1:]).max() for p in self.pictures]
        self.assertLess(min(errors), 0.03)
        return int(np.argmin(errors))

    def test_by_number(self):
        self.assertEqual([self.shown("--frame", i) for i in range(5)], [0, 1, 2, 3, 4])
        self.assertEqual(self.shown(), 0)

    def test_by_time(self):
        for seconds, frame in ((0, 0), (0.039, 0), (0.04, 1), (0.5, 2), (1, 3), (1.05, 4)):
            self.assertEqual(self.shown("--time", seconds), frame, seconds)
        self.assertEqual(self.summary(self.clip, "--time", 0.5)["time_seconds"], 0.09)

    def test_standard_input_and_folders(self):
        with open(self.clip, "rb") as file:
            found = self.tensor("-", "--frame", 2, stdin=file)
        self.assert_close(found[0], rgb(self.pictures[2], (0, 0, 32, 16), (32, 16))[1:])
        folder = self.dir / "pictures"
        folder.mkdir()
        for number in (2, 10):
            (folder / f"img{number}.ppm").write_bytes(b"P6\n1 1\n255\n" + bytes([number] * 3))
        self.assertEqual(self.tensor(folder, "--frame", 1).ravel().tolist(), [10, 10, 10])
        self.assertEqual(self.summary(folder, "--frame", 1)["file"], str(folder / "img10.ppm"))

    def test_beyond_the_end(self):
        self.assert_error(st.sparing("import", self.clip, "--frame", 5), 2, "--frame", "5 frames",
                          "give 0 to 4")
        self.assert_error(st.sparing("import", self.clip, "--time", 3), 2, "--time", "3 s",
                          "clip.mkv")

    def test_the_sample_video(self):
        if not st.SAMPLE.exists():
            self.skipTest("no sample video")
        summary = self.summary(st.SAMPLE, "--frame", 300, "--size", "384x288")
        self.assertEqual((summary["frame"], summary["time_seconds"]), (300, 30))
        self.assertEqual(summary["display_size"], [768, 576])
        self.assertEqual(summary["map"], [2, 0, 0, 0, 2, 0])

    def test_ctrl_c_while_standard_input_is_silent(self):
        process = subprocess.Popen([st.BINARY, "import", "-", "--out", self.npy],
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, errors = st.end_of(process, 20)
        self.assertEqual(process.returncode, 130, errors)
        self.assertFalse(self.npy.exists())

    def test_a_second_interrupt_ends_a_slow_computation(self):
        video = self.video(Picture("I420", 32, 16))
        before = set(self.dir.iterdir())
        process = subprocess.Popen(
            [st.BINARY, "import", str(video), "--reference", "--size", "16000x16000", "--type", "u8",
             "--out", self.npy], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = st.end_of(process, 20)
        self.assertEqual(process.returncode, -signal.SIGINT, errors)
        self.assertEqual(set(self.dir.iterdir()), before)


class Summary(ImportTest):
    def test_a_converted_stream_is_told(self):
        random = np.random.default_rng(4)
        pixels = random.integers(0, 65536, (8, 16, 3)).astype(">u2")
        rows = b"".join(b"\0" + row.tobytes() for row in pixels)
        deep = self.dir / "deep.png"
        deep.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in ((b"IHDR", struct.pack(">IIBBBBB", 16, 8, 16, 2, 0, 0, 0)),
                               (b"IDAT", zlib.compress(rows)), (b"IEND", b""))))
        few = raw_video.matroska(self.dir / "few.mkv", b"YUV9", 32, 16, [bytes(32 * 16 + 2 * 8 * 4)])
        own = self.video(Picture("I420", 32, 16))
        for path, stream, format, converted in ((deep, "rgb48be", "RGB24", True),
                                                (few, "yuv410p", "I420", True),
                                                (own, "yuv420p", "I420", False)):
            with self.subTest(stream):
                summary = self.summary(path)
                self.assertEqual((summary["stream_format"], summary["format"],
                                  summary["converted"]), (stream, format, converted))
                text = self.run_import(path).stdout
                (self.assertIn if converted else self.assertNotIn)(
                    f"{stream}, converted to {format}", text)

    def test_text_says_what_was_used(self):
        video = self.video(Picture("I420P10", 32, 16), matrix="bt2020", transfer="pq")
        run = self.run_import(video, "--rect", "4,2,16,8.5", "--size", "8x4", "--type", "bf16",
                              "--out", self.npy)
        self.assertEqual(run.stderr, "")
        for words in (f"{video}, frame 0 at 0 s", "32x16 I420P10, rawvideo", "bt2020 (stream)",
                      "limited (rule)", "16 x 8.5 at 4,2", "bfloat16 [1,3,4,8] nchw, rgb",
                      "x = 2 tx + 4, y = 2.125 ty + 2", "HDR", "not tone-mapped", "uint16",
                      str(self.npy)):
            self.assertIn(words, run.stdout)

    def test_statistics_are_the_tensors(self):
        video = self.video(Picture("I420", 32, 16))
        arguments = (video, "--order", "bgr", "--mean", "1,2,3", "--std", "50", "--type", "f16")
        summary = self.summary(*arguments)
        tensor = self.tensor(*arguments)[0].astype(float)
        self.assertEqual([c["name"] for c in summary["channels"]], ["B", "G", "R"])
        for channel, values in zip(summary["channels"], tensor):
            self.assertEqual((channel["min"], channel["max"]), (values.min(), values.max()))
            self.assertAlmostEqual(channel["mean"], values.mean(), places=6)

    def test_hdr(self):
        for transfer, hdr in (("sdr", False), ("pq", True), ("hlg", True)):
            summary = self.summary(self.video(Picture("I420P10", 32, 16), transfer=transfer))
            self.assertEqual(summary["hdr"], hdr, transfer)
            self.assertEqual(any("tone-mapped" in note for note in summary["notes"]), hdr)

    def test_a_models_input(self):
        manifest = self.dir / "m.json"
        known = pathlib.Path(__file__).resolve().parents[2] / "models" / "nanodet-g.json"
        model = json.loads(known.read_text())
        model["input"].update(mean=[10, 20, 30], std=[2, 4, 8], fit="letterbox", pad=[1, 2, 3],
                              size={"default": [64, 32], "multiple_of": 32, "min": 32, "max": 96})
        manifest.write_text(json.dumps(model))
        video = self.video(Picture("I420", 32, 32))
        explicit = ("--size", "64x32", "--order", "bgr", "--mean", "10,20,30", "--std", "2,4,8",
                    "--fit", "letterbox", "--pad", "1,2,3")
        by_model = self.tensor(video, "--model", manifest)
        self.assertEqual(by_model.tobytes(), self.tensor(video, *explicit).tobytes())
        changed = self.tensor(video, "--model", manifest, "--order", "rgb", "--size", "96x64")
        self.assertEqual(changed.shape, (1, 3, 64, 96))
        self.assert_error(st.sparing("import", video, "--model", manifest, "--size", "33x32"), 2,
                          "33 is not a multiple")
        self.assertEqual(self.summary(video, "--model", "nanodet-g")["channels"][0]["name"], "B")


class Errors(ImportTest):
    def test_usage(self):
        video = self.video(Picture("I420", 32, 16))
        for arguments, words in (
                (("--out", "a.jpg"), ("a.jpg", ".npy or .png")),
                (("--out", "-"), ("output '-'", ".png")),
                (("--frame", -3), ("--frame", "-3")),
                (("--frame", 1, "--time", 1), ("--frame and --time",)),
                (("--rect", "1,2,3"), ("--rect", "1,2,3", "X,Y,WIDTH,HEIGHT")),
                (("--rect", "1,2,3,x"), ("--rect", "1,2,3,x")),
                (("--rect", "100,0,8,8"), ("rectangle", "100", "32x16")),
                (("--rect", "0,0,0,8"), ("rectangle",)),
                (("--rect", "0,0,nan,8"), ("rectangle", "nan")),
                (("--size", "32"), ("--size", "'32'", "768x576")),
                (("--size", "40000x40000"), ("40000x40000", "smaller --size")),
                (("--rect", "0,0,900000,900000"), ("900000", "smaller --size")),
                (("--mean", "1,2"), ("--mean", "'1,2'", "2 values")),
                (("--mean", "1,2,x"), ("--mean", "'1,2,x'")),
                (("--std", "1,0,1"), ("--std", "'0'")),
                (("--frame", -1), ("--frame", "'-1'", "from 0 to 2147483646")),
                (("--frame", "1.5"), ("--frame", "'1.5'", "whole number", "from 0 to")),
                (("--frame", "010"), ("--frame", "'010'", "whole number")),
                (("--frame", "99999999999"), ("--frame", "'99999999999'", "out of range")),
                (("--frame", ""), ("--frame", "''")),
                (("--time", -1), ("--time", "'-1'", "SECONDS")),
                (("--time", "nan"), ("--time", "'nan' is not a number")),
                (("--time", "1e999"), ("--time", "'1e999'", "out of range")),
                (("--threads", "2000"), ("--threads", "'2000'", "from 1 to 1024")),
                (("--decoder-threads", "two"), ("--decoder-threads", "'two'", "from 1 to 64")),
                (("--type", "f16", "--type", "u8"), ("--type", "'f16', 'u8'", "once")),
                (("--rect", "0,0,8,8", "--rect", "1,1,8,8"), ("--rect", "0,0,8,8,1,1,8,8")),
                (("--out",), ("--out", "missing")),
                (("--rect", "0,0,1e9,1e9"), ("1000000000x1000000000", "smaller --size")),
                (("--rect", "0,0,1e12,8"), ("--rect", "larger than", "--size")),
                (("--size", "20000x80000"), ("20000x80000", "smaller --size")),
                (("--mean", "1e39"), ("--mean", "'1e39' is out of range")),
                (("--mean", "1,inf,3"), ("--mean", "'inf' is out of range")),
                (("--std", "0"), ("--std", "'0' is out of range", "other than 0")),
                (("--pad", "256"), ("--pad", "'256'", "0 to 255")),
                (("--pad", "-1"), ("--pad", "'-1'", "0 to 255")),
                (("--pad", "1,2,3", "--channels", 1), ("--pad", "3 values", "1 number")),
                (("--quantize", "0.5,0"), ("--quantize", "f32", "--type")),
                (("--quantize", "0,0", "--type", "i8"), ("scale", "0")),
                (("--quantize", "1,2.5", "--type", "i8"), ("--quantize", "'1,2.5'")),
                (("--type", "f64"), ("--type", "f64", "f32|f16")),
                (("--fit", "fill"), ("--fit", "fill", "letterbox")),
                (("--rotate", "45"), ("--rotate", "45", "0|90|180|270")),
                (("--channels", "2"), ("--channels", "2", "1|3|4")),
                (("--threads", "0"), ("--threads", "0")),
                (("--decoder-threads", "99"), ("--decoder-threads", "99")),
                ((video,), ("inputs", "2 were given")),
                (("--colour", "x"), ("--colour",))):
            with self.subTest(arguments):
                self.assert_error(st.sparing("import", video, *arguments), 2, *words)

    def test_an_empty_value_is_not_an_absent_one(self):
        video = self.video(Picture("I420", 32, 16))
        for option in ("out", "time", "rect", "size", "model", "layout", "channels", "type", "order",
                       "mean", "std", "fit", "anchor", "pad", "filter", "outside", "chroma",
                       "quantize", "alpha", "rotate", "matrix", "range", "siting", "threads",
                       "decoder-threads"):
            with self.subTest(option):
                self.assert_error(st.sparing("import", video, f"--{option}", ""), 2,
                                  f"--{option}: ''")

    def test_words_that_are_no_choice(self):
        video = self.video(Picture("I420", 32, 16))
        for option, choice in (("layout", "nhwc"), ("order", "bgr"), ("fit", "crop"),
                               ("filter", "area"), ("matrix", "bt709"), ("range", "full"),
                               ("siting", "left"), ("anchor", "center"), ("outside", "pad"),
                               ("chroma", "replicate"), ("type", "f32")):
            with self.subTest(option):
                self.assert_error(st.sparing("import", video, f"--{option}", "odd"), 2,
                                  f"--{option}: 'odd'", choice)

    def test_detect_refuses_the_same(self):
        video = self.video(Picture("I420", 32, 16))
        for arguments, words in ((("--score", -1), ("--score", "'-1'", "from 0 to 1")),
                                 (("--iou", -1), ("--iou", "'-1'", "from 0 to 1")),
                                 (("--max-detections", 0), ("--max-detections", "'0'", "from 1")),
                                 (("--max-frames", -1), ("--max-frames", "'-1'", "from 0")),
                                 (("--decoder-threads", 0), ("--decoder-threads", "'0'")),
                                 (("--size", ""), ("--size", "''")),
                                 (("--render", ""), ("--render", "''")),
                                 (("--format", ""), ("--format", "''")),
                                 (("--dump-inputs", ""), ("--dump-inputs", "''")),
                                 (("--classes", ""), ("--classes", "''")),
                                 (("--streams", "1.5"), ("--streams", "'1.5'", "whole"))):
            with self.subTest(arguments):
                run = st.sparing("detect", video, "--out", self.dir / "a.jsonl", *arguments)
                self.assert_error(run, 2, *words)

    def test_inputs_models_and_outputs(self):
        video = self.video(Picture("I420", 32, 16))
        self.assert_error(st.sparing("import", self.dir / "nowhere.mkv"), 3, "nowhere.mkv")
        text = self.dir / "a.txt"
        text.write_text("no video\n")
        self.assert_error(st.sparing("import", text), 3, "a.txt", "not a video")
        self.assert_error(st.sparing("import", "rtsp://host/x"), 6, "network")
        self.assert_error(st.sparing("import", video, "--model", "nobody"), 4, "nobody",
                          "nanodet-g")
        self.assert_error(st.sparing("import", video, "--model", self.dir / "x.json"), 4, "x.json")
        self.assert_error(st.sparing("import", video, "--out", "/proc/nowhere/a.npy"), 5,
                          "/proc/nowhere/a.npy")
        picture = self.dir / "in.png"
        self.run_import(video, "--out", picture)
        before = picture.read_bytes()
        self.assert_error(st.sparing("import", picture, "--out", picture), 2, "in.png",
                          "would replace")
        self.assertEqual(picture.read_bytes(), before)

    def test_a_cut_video_gives_what_is_there(self):
        pictures = [Picture("I420", 32, 16, seed).bytes() for seed in range(5)]
        video = raw_video.matroska(self.dir / "a.mkv", b"I420", 32, 16, pictures)
        video.write_bytes(video.read_bytes()[:-800])
        self.run_import(video, "--frame", 2)
        self.assert_error(st.sparing("import", video, "--frame", 4), 3, "a.mkv", "truncated")


if __name__ == "__main__":
    unittest.main()
