"""Masks as run lengths against pycocotools, both ways, on random label maps.

usage: rle_test.py RLE_PROGRAM [unittest arguments]

Exit code 77 (skipped, for ctest) when numpy or pycocotools is missing.
"""

import subprocess
import sys
import unittest

try:
    import numpy as np
    from pycocotools import mask as coco
except ImportError as error:
    print(f"SKIPPED: {error}; scripts/setup --test installs the packages of the references")
    sys.exit(77)

PROGRAM = ""
NONE = 255


def run_program(lines):
    done = subprocess.run([PROGRAM], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()


def coco_masks(labels):
    """{class: compressed counts}"""
    masks = {}
    for label in np.unique(labels[labels != NONE]):
        encoded = coco.encode(np.asfortranarray((labels == label).astype(np.uint8)))
        assert tuple(encoded["size"]) == labels.shape
        masks[int(label)] = encoded["counts"].decode("ascii")
    return masks


def random_maps(seed):
    random = np.random.default_rng(seed)
    for height, width in ((1, 1), (1, 50), (50, 1), (7, 9), (48, 64), (121, 203), (360, 480)):
        for classes in (1, 2, 12, 255):
            # Patches of all sizes, from single pixels to half a picture.
            labels = np.full((height, width), NONE, np.uint8)
            for _ in range(random.integers(0, 60)):
                y, x = random.integers(0, height), random.integers(0, width)
                h, w = (1 + int(n * random.random() ** 3) for n in (height, width))
                choice = NONE if random.random() < 0.1 else random.integers(0, classes)
                labels[y:y + h, x:x + w] = choice
            yield labels
        yield random.integers(0, 256, (height, width)).astype(np.uint8)
        yield np.full((height, width), NONE, np.uint8)


class RunLengths(unittest.TestCase):
    def test_encode(self):
        maps = list(random_maps(1))
        lines = [f"encode {m.shape[1]} {m.shape[0]} " + " ".join(map(str, m.ravel()))
                 for m in maps]
        for labels, answer in zip(maps, run_program(lines), strict=True):
            words = answer.split()
            found = dict(zip(map(int, words[0::2]), words[1::2], strict=True))
            self.assertEqual(found, coco_masks(labels), labels.shape)

    def test_decode(self):
        maps = list(random_maps(2))
        lines = []
        for labels in maps:
            masks = coco_masks(labels)
            words = " ".join(f"{label} {counts}" for label, counts in masks.items())
            lines.append(f"decode {labels.shape[1]} {labels.shape[0]} {words}")
        for labels, answer in zip(maps, run_program(lines), strict=True):
            self.assertNotIn("error", answer)
            found = np.array(answer.split(), np.uint8).reshape(labels.shape)
            np.testing.assert_array_equal(found, labels)

    def test_overlap(self):
        self.assertEqual(run_program(["decode 2 2 1 04 3 13"]),
                         ["error: pixel (0, 1) is of class 1 already"])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
