"""Import against PIL itself: Filter::kTriangle is its BILINEAR (and antialias=True of those who took it
over), kNearest its NEAREST, and kArea its BOX where the ratio is whole.

PIL resamples 8-bit pictures in two passes and rounds to 8 bits after each; its mode "F" does the same
arithmetic on floats, without rounding, and so tells how near the definitions are.
"""

import sys
import unittest

import numpy as np
import PIL.Image
from PIL.Image import Resampling

import peers
from peers import Agreement, import_frame

SIZES = [(320, 240), (224, 224), (97, 71), (700, 500), (384, 288)]
# Import itself may be off by this much (docs/import.md), and PIL's floats by a little.
EXACT = 0.03


def boxes(picture):
    """Whole and fractional, as (x, y, width, height); PIL keeps them as float32."""
    height, width = picture.shape[:2]
    return [(0.0, 0.0, float(width), float(height)),
            (width / 4 + 5 / 16, height // 8 + 45 / 64, width / 2 + 27 / 64, height // 2 + 9 / 64),
            (3.5, 2.25, width - 20.75, height - 30.5)]


def resize(picture, size, resampling, box):
    corners = (box[0], box[1], box[0] + box[2], box[1] + box[3])
    return np.asarray(PIL.Image.fromarray(picture).resize(size, resampling, box=corners))


def resize_floats(picture, size, resampling, box):
    return np.stack([resize(picture[:, :, c].astype(np.float32), size, resampling, box)
                     for c in range(3)], axis=-1)


def aside(box):
    return (box[0] + 0.25, *box[1:])


class Triangle(peers.PeerTest):
    def compare(self, path, resizer, tensor_type, move=lambda box: box):
        agreement = Agreement()
        for picture in peers.pictures():
            for size in SIZES:
                for box in boxes(picture):
                    ours = import_frame(picture, "RGB24", size, path, filter="triangle",
                                        rect=move(box), type=tensor_type)
                    agreement.add(ours, resizer(picture, size, Resampling.BILINEAR, box))
        return agreement

    def test_bilinear_of_bytes(self):
        for path in peers.PATHS:
            agreement = self.compare(path, resize, "float32")
            self.assert_agree(f"BILINEAR, float32 ({path})", agreement, 1 + EXACT, within_half=0.79)
            agreement = self.compare(path, resize, "uint8")
            self.assert_agree(f"BILINEAR, uint8 ({path})", agreement, 1, within_half=0.79)
        self.assert_broken(self.compare("fast", resize, "float32", aside), 1 + EXACT)

    def test_bilinear_of_floats(self):
        for path in peers.PATHS:
            agreement = self.compare(path, resize_floats, "float32")
            self.assert_agree(f"BILINEAR of mode F ({path})", agreement, EXACT)
        self.assert_broken(self.compare("fast", resize_floats, "float32", aside), EXACT)


class Area(peers.PeerTest):
    # PIL's BOX counts a sample that is partly covered in full or not at all, so that it equals the
    # covered part's mean only where there are no such samples.
    WHOLE = [((0, 0, 288, 192), (96, 64)), ((5, 3, 200, 150), (100, 50)), ((1, 0, 300, 200), (20, 40))]
    PARTLY = [((0, 0, 288, 192), (100, 70)), ((0.5, 0, 288, 192), (96, 64))]

    def compare(self, path, cases, dx=0.0):
        agreement = Agreement()
        for picture in peers.pictures():
            for (x, y, width, height), size in cases:
                ours = import_frame(picture, "RGB24", size, path, filter="area",
                                    rect=(x + dx, y, width, height))
                theirs = resize_floats(picture, size, Resampling.BOX, (x, y, width, height))
                agreement.add(ours, theirs)
        return agreement

    def test_box_at_whole_ratios(self):
        for path in peers.PATHS:
            self.assert_agree(f"BOX of mode F ({path})", self.compare(path, self.WHOLE), EXACT)
        self.assert_broken(self.compare("fast", self.WHOLE, 0.25), EXACT)

    def test_box_differs_elsewhere(self):
        self.assertGreater(self.compare("reference", self.PARTLY).largest, 10)


class Nearest(peers.PeerTest):
    def compare(self, path, move=lambda box: box):
        agreement = Agreement()
        for picture in peers.pictures():
            for size in SIZES:
                for box in boxes(picture):
                    ours = import_frame(picture, "RGB24", size, path, filter="nearest",
                                        rect=move(box), type="uint8")
                    theirs = resize(picture, size, Resampling.NEAREST, box)
                    columns = peers.untied(box[0], box[2], size[0], 1e-6)
                    rows = peers.untied(box[1], box[3], size[1], 1e-6)
                    agreement.add(ours[rows][:, columns], theirs[rows][:, columns])
        return agreement

    def test_nearest(self):
        for path in peers.PATHS:
            self.assert_agree(f"NEAREST, uint8 ({path})", self.compare(path), 0)
        self.assert_broken(self.compare("fast", aside), 0)

    def test_nearest_on_borders(self):
        """At 2:1 all centres lie on a border between samples, exactly."""
        picture = peers.noise()[:202, :300]
        theirs = resize(picture, (150, 101), Resampling.NEAREST, (0, 0, 300, 202))
        for path in peers.PATHS:
            ours = import_frame(picture, "RGB24", (150, 101), path, filter="nearest", type="uint8")
            self.assert_agree(f"NEAREST at 2:1 ({path})", Agreement().add(ours, theirs), 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
