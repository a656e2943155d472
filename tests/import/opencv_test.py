"""Import against OpenCV itself, as detectors' training code calls it: cvtColor, resize, letterbox, blob.

OpenCV rounds to 8 bits after each of these steps, and import once at the end. On float32 pictures its
resize does not round, and so tells how near the definitions are.
"""

import sys
import unittest

import cv2
import numpy as np

import peers
from peers import BT601, Agreement, import_frame

SIZES = [(320, 240), (640, 640), (224, 224), (97, 71), (1000, 700), (384, 288)]
SMALLER = [(224, 200), (97, 71), (255, 201), (192, 144), (100, 58)]  # than any picture
# Import itself may be off by this much (docs/import.md), and OpenCV's floats by a little.
EXACT = 0.03


def aside(picture):
    return {"rect": (0.25, 0.0, float(picture.shape[1]), float(picture.shape[0]))}


def nothing(_):
    return {}


class Resize(peers.PeerTest):
    def compare(self, path, our_filter, interpolation, tensor_type="float32", floats=False,
                options=nothing):
        agreement = Agreement()
        for picture in peers.pictures():
            for size in SMALLER if our_filter == "area" else SIZES:
                ours = import_frame(picture, "RGB24", size, path, filter=our_filter,
                                    type=tensor_type, **options(picture))
                source = picture.astype(np.float32) if floats else picture
                agreement.add(ours, cv2.resize(source, size, interpolation=interpolation))
        return agreement

    def check(self, name, our_filter, interpolation, largest, within_half):
        for path in peers.PATHS:
            agreement = self.compare(path, our_filter, interpolation)
            self.assert_agree(f"{name}, float32 ({path})", agreement, largest, within_half)
            agreement = self.compare(path, our_filter, interpolation, "uint8")
            self.assert_agree(f"{name}, uint8 ({path})", agreement, 1, within_half)
            agreement = self.compare(path, our_filter, interpolation, floats=True)
            self.assert_agree(f"{name} of floats ({path})", agreement, EXACT)
        for floats, bound in ((False, largest), (True, EXACT)):
            agreement = self.compare("fast", our_filter, interpolation, floats=floats, options=aside)
            self.assert_broken(agreement, bound)

    def test_linear(self):
        self.check("INTER_LINEAR", "bilinear", cv2.INTER_LINEAR, 0.9, 0.85)

    def test_area(self):
        self.check("INTER_AREA", "area", cv2.INTER_AREA, 0.5 + EXACT, 0.95)

    def nearest(self, path, dx=0.0):
        agreement = Agreement()
        for picture in peers.pictures():
            height, width = picture.shape[:2]
            for size in SIZES:
                ours = import_frame(picture, "RGB24", size, path, filter="nearest", type="uint8",
                                    rect=(dx, 0.0, float(width), float(height)))
                theirs = cv2.resize(picture, size, interpolation=cv2.INTER_NEAREST_EXACT)
                # Its positions are whole multiples of 2^-16 along a row.
                columns = peers.untied(0, width, size[0], 0.01)
                rows = peers.untied(0, height, size[1], 0.01)
                agreement.add(ours[rows][:, columns], theirs[rows][:, columns])
        return agreement

    def test_nearest_exact(self):
        for path in peers.PATHS:
            self.assert_agree(f"INTER_NEAREST_EXACT ({path})", self.nearest(path), 0)
        self.assert_broken(self.nearest("fast", 0.25), 0)

    def test_nearest_is_half_a_pixel_aside(self):
        """INTER_NEAREST takes the sample under a pixel's corner. A rectangle half a tensor pixel up and
        left does so too."""
        for path in peers.PATHS:
            agreement = Agreement()
            for picture in peers.pictures():
                height, width = picture.shape[:2]
                for size in SIZES:
                    rect = (-width / size[0] / 2, -height / size[1] / 2, float(width), float(height))
                    ours = import_frame(picture, "RGB24", size, path, filter="nearest",
                                        type="uint8", rect=rect)
                    theirs = cv2.resize(picture, size, interpolation=cv2.INTER_NEAREST)
                    columns = peers.untied(rect[0], width, size[0], 1e-6)
                    rows = peers.untied(rect[1], height, size[1], 1e-6)
                    agreement.add(ours[rows][:, columns], theirs[rows][:, columns])
            self.assert_agree(f"INTER_NEAREST ({path})", agreement, 0)
        self.assert_broken(self.compare("fast", "nearest", cv2.INTER_NEAREST), 0)

    def test_crop_first(self):
        """Code that cuts the picture before it resizes never sees the neighbours of the cut. As the
        frame's visible rectangle a crop is such a cut; as the source rectangle it is not."""
        picture = peers.noise()
        cut = picture[40:140, 30:190]
        for our_filter, interpolation in (("bilinear", cv2.INTER_LINEAR), ("area", cv2.INTER_AREA)):
            theirs = cv2.resize(cut.astype(np.float32), (120, 67), interpolation=interpolation)
            for path in peers.PATHS:
                def ours(key):
                    return import_frame(picture, "RGB24", (120, 67), path, filter=our_filter,
                                        **{key: (30, 40, 160, 100)})
                agreement = Agreement().add(ours("visible"), theirs)
                self.assert_agree(f"crop, then {our_filter} ({path})", agreement, EXACT)
                inner = np.s_[1:-1, 1:-1]
                agreement = Agreement().add(ours("rect")[inner], theirs[inner])
                self.assert_agree(f"the same inside the rim ({path})", agreement, EXACT)
        theirs = cv2.resize(cut.astype(np.float32), (320, 200))
        wide = import_frame(picture, "RGB24", (320, 200), rect=(30, 40, 160, 100))
        self.assert_broken(Agreement().add(wide, theirs), EXACT)


class AlignCorners(peers.PeerTest):
    """The first and the last samples' centres on the tensor's: older TensorFlow and align_corners=True."""

    @staticmethod
    def rect(picture, size, dx=0.0):
        steps = [(samples - 1) / (pixels - 1) for samples, pixels in zip(picture.shape[1::-1], size)]
        return (0.5 - steps[0] / 2 + dx, 0.5 - steps[1] / 2, steps[0] * size[0], steps[1] * size[1])

    @staticmethod
    def by_formula(picture, size):
        columns = np.linspace(0, picture.shape[1] - 1, size[0])
        rows = np.linspace(0, picture.shape[0] - 1, size[1])
        left, top = (np.minimum(np.floor(at).astype(int), last - 1)
                     for at, last in ((columns, picture.shape[1] - 1), (rows, picture.shape[0] - 1)))
        fx, fy = (columns - left)[None, :, None], (rows - top)[:, None, None]
        upper, lower = (picture[top + k][:, left] * (1 - fx) + picture[top + k][:, left + 1] * fx
                        for k in (0, 1))
        return upper * (1 - fy) + lower * fy

    def compare(self, path, dx=0.0):
        agreement = Agreement()
        for picture in peers.pictures():
            for size in SIZES:
                ours = import_frame(picture, "RGB24", size, path, rect=self.rect(picture, size, dx))
                agreement.add(ours, self.by_formula(picture, size))
        return agreement

    def test_rectangle(self):
        for path in peers.PATHS:
            self.assert_agree(f"align_corners ({path})", self.compare(path), EXACT)
        self.assert_broken(self.compare("fast", 0.25), EXACT)


class Yuv(peers.PeerTest):
    """cvtColor gives each chroma sample to all its pixels and clamps the colours; then resize blends
    these. Import blends first and clamps last, so that saturated edges differ."""

    FORMATS = (("I420", cv2.COLOR_YUV2RGB_I420), ("NV12", cv2.COLOR_YUV2RGB_NV12))
    FILTERS = (("bilinear", cv2.INTER_LINEAR, SIZES), ("area", cv2.INTER_AREA, SMALLER))

    def setUp(self):
        if peers.natural() is None:
            self.skipTest(f"{peers.SAMPLE} is missing (scripts/setup)")

    @staticmethod
    def planes(picture, name):
        height, width = picture.shape[:2]
        i420 = cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420)
        if name == "I420":
            return i420
        chroma = i420[height:].reshape(2, -1).T  # U and V side by side
        return np.concatenate([i420[:height].ravel(), chroma.ravel()]).reshape(-1, width)

    def compare(self, path, picture, dx=0.0, **options):
        agreement = Agreement()
        height, width = picture.shape[:2]
        for name, code in self.FORMATS:
            planes = self.planes(picture, name)
            rgb = cv2.cvtColor(planes, code)
            for our_filter, interpolation, sizes in self.FILTERS:
                for size in sizes:
                    ours = import_frame(
                        planes, name, size, path, frame_size=(width, height), filter=our_filter,
                        rect=(dx, 0.0, float(width), float(height)),
                        **{"chroma": "replicate", **BT601, **options})
                    agreement.add(ours, cv2.resize(rgb, size, interpolation=interpolation))
        return agreement

    def test_natural(self):
        for path in peers.PATHS:
            agreement = self.compare(path, peers.natural())
            self.assert_agree(f"cvtColor + resize ({path})", agreement, 60, within_half=0.75)
            self.assertGreaterEqual(agreement.share_within(2), 0.997)
            self.assertGreaterEqual(agreement.share_within(1), 0.99)
        for control in (self.compare("fast", peers.natural(), 0.25),
                        self.compare("fast", peers.natural(), chroma="interpolate"),
                        self.compare("fast", peers.natural(), matrix="709")):
            self.assertLess(control.share_within(2), 0.98, f"control: {control}")

    def test_without_clamping(self):
        """Where no colour has to be clamped nothing but OpenCV's rounding remains."""
        picture = peers.in_gamut(peers.natural())
        for path in peers.PATHS:
            agreement = self.compare(path, picture)
            self.assert_agree(f"cvtColor + resize in gamut ({path})", agreement, 1.5, within_half=0.75)
        self.assert_broken(self.compare("fast", picture, 0.25), 1.5)
        self.assert_broken(self.compare("fast", picture, chroma="interpolate"), 1.5)

    def test_blob(self):
        """The whole way of a detector's example code, in one call."""
        mean, std, size = (123.675, 116.28, 103.53), 58.0, (416, 320)
        picture = peers.in_gamut(peers.natural())
        height, width = picture.shape[:2]
        planes = self.planes(picture, "NV12")
        bgr = cv2.cvtColor(planes, cv2.COLOR_YUV2BGR_NV12)
        theirs = cv2.dnn.blobFromImage(bgr, 1 / std, size, mean, swapRB=True)[0]
        for order, expected in (("rgb", theirs), ("bgr", theirs[::-1])):
            for path in peers.PATHS:
                ours = import_frame(planes, "NV12", size, path, frame_size=(width, height),
                                    layout="nchw", mean=mean if order == "rgb" else mean[::-1],
                                    std=(std, std, std), order=order, chroma="replicate", **BT601)
                agreement = Agreement().add(ours * std, expected * std)
                self.assert_agree(f"blobFromImage, {order} ({path})", agreement, 1.5)
        self.assert_broken(Agreement().add(ours * std, theirs * std), 1.5)  # the wrong order


def yolo_letterbox(picture, size):
    """As the YOLO repositories have it."""
    height, width = picture.shape[:2]
    scale = min(size[0] / width, size[1] / height)
    inner = round(width * scale), round(height * scale)
    dw, dh = (size[0] - inner[0]) / 2, (size[1] - inner[1]) / 2
    resized = cv2.resize(picture, inner, interpolation=cv2.INTER_LINEAR)
    return cv2.copyMakeBorder(resized, round(dh - 0.1), round(dh + 0.1), round(dw - 0.1),
                              round(dw + 0.1), cv2.BORDER_CONSTANT, value=(114, 114, 114))


class Letterbox(peers.PeerTest):
    SIZES = [(640, 640), (416, 416), (640, 384), (333, 512), (320, 192), (200, 411)]

    def compare(self, path, dx=0.0, **options):
        agreement = Agreement()
        odd = 0
        for picture in peers.pictures():
            for size in self.SIZES:
                theirs = yolo_letterbox(picture, size)
                scale = min(size[0] / picture.shape[1], size[1] / picture.shape[0])
                odd += (size[1] - round(picture.shape[0] * scale)) % 2
                rect = (dx, 0.0, float(picture.shape[1]), float(picture.shape[0]))
                ours = import_frame(picture, "RGB24", size, path, fit="letterbox", rect=rect, **options)
                agreement.add(ours, theirs)
        self.assertGreater(odd, 0, "no case has an odd pixel of border")
        return agreement

    def test_yolo(self):
        for path in peers.PATHS:
            self.assert_agree(f"letterbox ({path})", self.compare(path), 0.9, within_half=0.85)
        self.assert_broken(self.compare("fast", pad=(115, 115, 115)), 0.9)
        self.assert_broken(self.compare("fast", 0.25), 0.9)

    def test_half_a_pixel_of_content(self):
        """Content of 150.5 rows: Python's round() makes it 150, import 151, so that one row differs."""
        picture = np.full((301, 400, 3), 7, np.uint8)
        theirs = yolo_letterbox(picture, (200, 200))
        ours = import_frame(picture, "RGB24", (200, 200), fit="letterbox", type="uint8")
        self.assertEqual((theirs[:, 0, 0] == 7).sum(), 150)
        self.assertEqual((ours[:, 0, 0] == 7).sum(), 151)


if __name__ == "__main__":
    sys.exit(unittest.main())
