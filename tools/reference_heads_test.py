"""The reference heads find the boxes that were encoded, and the written vectors are up to date."""

import filecmp
import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import make_head_vectors  # noqa: E402
import reference_heads as heads  # noqa: E402


class VectorTest(unittest.TestCase):
    def test_every_encoded_box_comes_back_and_nothing_else(self):
        for case in make_head_vectors.cases():
            with self.subTest(case=case["case"]):
                width, height = case["input_size"]
                expected = [[*np.clip(o[:4], 0, (width, height) * 2), *o[4:]]
                            for o in case["objects"]] if case["head"]["type"] == "nanodet" \
                    else case["objects"]
                found = sorted(case["detections"], key=lambda d: -d[4])
                expected = sorted(expected, key=lambda o: -o[4])
                self.assertEqual(len(found), len(expected))
                np.testing.assert_allclose(found, expected, atol=1e-3)

    def test_suppression_has_something_to_do(self):
        for case in make_head_vectors.cases():
            with self.subTest(case=case["case"]):
                counts = [len(case["detections"]), len(case["kept"]["class_aware"]),
                          len(case["kept"]["class_agnostic"])]
                self.assertEqual(counts, sorted(counts, reverse=True))
                self.assertEqual(len(set(counts)), 3)

    def test_written_files_are_up_to_date(self):
        with tempfile.TemporaryDirectory() as folder:
            make_head_vectors.main([folder])
            names = sorted(p.name for p in pathlib.Path(folder).iterdir())
            self.assertEqual(names, sorted(p.name for p in make_head_vectors.FOLDER.iterdir()))
            _, different, errors = filecmp.cmpfiles(folder, make_head_vectors.FOLDER, names,
                                                    shallow=False)
            self.assertEqual((different, errors), ([], []), "run make_head_vectors.py")

    def test_numbers_are_exactly_float32(self):
        for path in make_head_vectors.FOLDER.iterdir():
            for tensor in json.loads(path.read_text())["tensors"]:
                values = np.array(tensor["data"])
                self.assertEqual(values.size, np.prod(tensor["shape"]))
                np.testing.assert_allclose(np.float32(values), values, rtol=1e-7)


class ReferenceTest(unittest.TestCase):
    def test_iou(self):
        self.assertAlmostEqual(heads.iou((0, 0, 2, 2), (1, 1, 3, 3)), 1 / 7)
        self.assertEqual(heads.iou((0, 0, 2, 2), (2, 0, 3, 2)), 0)
        self.assertEqual(heads.iou((1, 1, 1, 1), (1, 1, 1, 1)), 0)

    def test_nms_compares_with_kept_boxes_only(self):
        # b overlaps a and falls; c overlaps b, but not a, and stays.
        a, b, c = (0, 0, 10, 10, 0.9, 0), (4, 0, 14, 10, 0.8, 0), (8, 0, 18, 10, 0.7, 0)
        self.assertEqual(heads.nms([c, b, a], 0.4), [a, c])
        other = (0, 0, 10, 10, 0.6, 1)
        self.assertEqual(heads.nms([a, other], 0.4), [a, other])
        self.assertEqual(heads.nms([a, other], 0.4, class_aware=False), [a])

    def test_distribution_by_hand(self):
        # One cell of stride 8 at (4, 4): bins 0 and 1 equally likely give 0.5 cells on each side.
        scores = [np.array([[0.9, 0.5]])]
        distribution = [np.array([[7.0, 7.0, -90.0] * 4])]
        self.assertEqual(heads.decode_nanodet(scores, distribution, (8, 8), (8,), 2, 0.5),
                         [(0.0, 0.0, 8.0, 8.0, 0.9, 0), (0.0, 0.0, 8.0, 8.0, 0.5, 1)])


if __name__ == "__main__":
    unittest.main()
