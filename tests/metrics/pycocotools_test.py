"""Compares sparing::evaluate with pycocotools and with a plain re-reading of the VOC kit.

usage: pycocotools_test.py EVALUATE_PROGRAM [unittest arguments]

Exit code 77 (skipped, for ctest) when numpy or pycocotools is missing.
"""

import contextlib
import dataclasses
import io
import random
import subprocess
import sys
import unittest

try:
    import numpy as np
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
except ImportError as error:
    print(f"SKIPPED: {error}; scripts/setup --test installs the packages of the references")
    sys.exit(77)

PROGRAM = ""
TOLERANCE = 1e-6
NO_LIMIT = 10**6
IGNORED_AREA = 2e10  # pycocotools ignores objects outside its area range, and no others but crowds
NAMES = ("objects", "detections", "ap50_voc", "ap50_coco", "ap_coco", "precision", "recall", "f1")


@dataclasses.dataclass
class Object:
    image: int
    kind: int
    box: tuple  # x0, y0, x1, y1, exact in float32
    crowd: bool = False
    ignore: bool = False


@dataclasses.dataclass
class Found:
    image: int
    kind: int
    box: tuple
    score: float  # exact in float32


@dataclasses.dataclass
class Case:
    objects: list
    found: list
    confidence: float = 0.5
    iou: float = 0.5
    max_detections: int = 100


def xywh(box):
    x0, y0, x1, y1 = box
    return [x0, y0, x1 - x0, y1 - y0]


# --- the program under test ----------------------------------------------------------------------

def run_program(case):
    """Returns {"all" or class id: {name: value}}."""
    lines = [f"options {case.confidence!r} {case.iou!r} {case.max_detections}"]
    for o in case.objects:
        box = " ".join(map(repr, o.box))
        lines.append(f"object {o.image} {o.kind} {box} {int(o.crowd)} {int(o.ignore)} -1")
    for f in case.found:
        lines.append(f"detection {f.image} {f.kind} {' '.join(map(repr, f.box))} {f.score!r}")
    text = "\n".join(lines) + "\n"
    done = subprocess.run([PROGRAM], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    rows = {}
    for line in done.stdout.splitlines():
        key, *values = line.split()
        rows[key if key == "all" else int(key)] = dict(zip(NAMES, map(float, values), strict=True))
    return rows


# --- references ----------------------------------------------------------------------------------

def make_coco(images, kinds, annotations):
    coco = COCO()
    coco.dataset = {
        "images": [{"id": i} for i in sorted(images)],
        "categories": [{"id": k, "name": str(k)} for k in sorted(kinds)],
        "annotations": annotations,
    }
    coco.createIndex()
    return coco


def run_coco(case, found, thresholds, max_detections):
    """A COCOeval after evaluate() and accumulate(), or None when there is nothing at all."""
    kinds = {x.kind for x in case.objects + case.found}
    images = {x.image for x in case.objects + case.found}
    if not kinds:
        return None
    objects = []
    for o in case.objects:
        box = xywh(o.box)
        area = IGNORED_AREA if o.ignore else max(box[2], 0) * max(box[3], 0)
        objects.append({"id": len(objects) + 1, "image_id": o.image, "category_id": o.kind,
                        "bbox": box, "area": area, "iscrowd": int(o.crowd)})
    results = []
    for f in found:  # as COCO.loadRes does, which cannot read an empty list
        box = xywh(f.box)
        results.append({"id": len(results) + 1, "image_id": f.image, "category_id": f.kind,
                        "bbox": box, "area": box[2] * box[3], "iscrowd": 0, "score": f.score})
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = COCOeval(make_coco(images, kinds, objects), make_coco(images, kinds, results),
                              "bbox")
        if thresholds is not None:
            evaluation.params.iouThrs = np.array(thresholds)
        evaluation.params.maxDets = [max_detections or NO_LIMIT]
        evaluation.params.areaRng = [[0, 1e10]]
        evaluation.params.areaRngLbl = ["all"]
        evaluation.evaluate()
        evaluation.accumulate()
    return evaluation


def mean_or_none(values):
    values = values[values > -1]
    return float(values.mean()) if values.size else -1.0


def coco_aps(case):
    """{"all" or class: (ap50, ap)}"""
    evaluation = run_coco(case, case.found, None, case.max_detections)
    if evaluation is None:
        return {"all": (-1.0, -1.0)}
    precision = evaluation.eval["precision"][:, :, :, 0, 0]  # threshold, recall, class
    aps = {"all": (mean_or_none(precision[0]), mean_or_none(precision))}
    for i, kind in enumerate(evaluation.params.catIds):
        aps[kind] = (mean_or_none(precision[0, :, i]), mean_or_none(precision[:, :, i]))
    return aps


def coco_rates(case):
    """{"all" or class: (precision, recall, f1)}, counted from pycocotools' matches."""
    found = [f for f in case.found if f.score >= np.float32(case.confidence)]
    evaluation = run_coco(case, found, [case.iou], 0)
    counts = {"all": np.zeros(3)}
    for image in evaluation.evalImgs if evaluation else []:
        if image is None:
            continue
        counted = ~np.array(image["dtIgnore"][0], dtype=bool)
        matched = np.array(image["dtMatches"][0]) > 0
        objects = np.count_nonzero(np.array(image["gtIgnore"]) == 0)
        one = np.array([(counted & matched).sum(), (counted & ~matched).sum(), objects])
        counts["all"] += one
        counts[image["category_id"]] = counts.get(image["category_id"], np.zeros(3)) + one
    rates = {}
    for key, (hits, alarms, objects) in counts.items():
        precision = hits / (hits + alarms) if hits + alarms else 0.0
        recall = hits / objects if objects else 0.0
        total = precision + recall
        rates[key] = (precision, recall, 2 * precision * recall / total if total else 0.0)
    return rates


def overlap(a, b, own_area):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    own = (a[2] - a[0]) * (a[3] - a[1])
    both = own + (b[2] - b[0]) * (b[3] - b[1]) - w * h
    return w * h / (own if own_area else both)


def voc_ap(case, kind):
    """VOCevaldet.m, with continuous boxes, difficult = ignored, and crowds as the header says."""
    objects = [o for o in case.objects if o.kind == kind]
    found = sorted((f for f in case.found if f.kind == kind), key=lambda f: (-f.score, f.image))
    positives = sum(not (o.ignore or o.crowd) for o in objects)
    if positives == 0:
        return -1.0
    taken = set()
    tp, fp = [], []
    for f in found:
        best, best_overlap, in_crowd = None, 0.0, False
        # Counted objects first: of equal overlaps the first wins.
        for i, o in sorted(enumerate(objects), key=lambda item: item[1].ignore):
            if o.image != f.image:
                continue
            value = overlap(f.box, o.box, o.crowd)
            if o.crowd:
                in_crowd = in_crowd or value >= 0.5
            elif value > best_overlap:
                best, best_overlap = i, value
        if best_overlap >= 0.5:
            if objects[best].ignore:
                continue
            tp.append(best not in taken)
            taken.add(best)
        elif in_crowd:
            continue
        else:
            tp.append(False)
        fp.append(not tp[-1])
    tp, fp = np.cumsum(tp), np.cumsum(fp)
    recall = np.concatenate([[0.0], tp / positives, [1.0]])
    precision = np.concatenate([[0.0], tp / np.maximum(tp + fp, 1), [0.0]])
    for i in range(len(precision) - 2, -1, -1):
        precision[i] = max(precision[i], precision[i + 1])
    steps = np.where(recall[1:] != recall[:-1])[0]
    return float(np.sum((recall[steps + 1] - recall[steps]) * precision[steps + 1]))


# --- cases ---------------------------------------------------------------------------------------

def f32(value):
    return float(np.float32(value))


class Maker:
    """Random boxes. `grid` makes coordinates, and so overlaps, coincide often."""

    def __init__(self, seed, grid=None):
        self.random = random.Random(seed)
        self.grid = grid

    def number(self, low, high):
        value = self.random.uniform(low, high)
        return f32(round(value / self.grid) * self.grid) if self.grid else f32(value)

    def box(self):
        x, y = self.number(0, 200), self.number(0, 150)
        return (x, y, f32(x + self.number(4, 80)), f32(y + self.number(4, 80)))

    def near(self, box, noise):
        x0, y0, x1, y1 = (f32(v + self.number(-noise, noise)) for v in box)
        return (x0, y0, max(x0, x1), max(y0, y1))

    def score(self, steps):
        if steps:
            return f32(self.random.randrange(steps + 1) / steps)
        return f32(self.random.random())

    def case(self, images=8, kinds=3, objects=6, score_steps=0, crowd=0.0, ignore=0.0, **options):
        made = Case([], [], **options)
        pick = self.random
        for image in pick.sample(range(1000), images):
            for _ in range(pick.randrange(objects + 1)):
                o = Object(image, pick.randrange(kinds), self.box(), pick.random() < crowd,
                           pick.random() < ignore)
                made.objects.append(o)
                for _ in range(pick.choice((0, 1, 1, 2, 3))):
                    box = self.near(o.box, pick.choice((1, 4, 12)))
                    made.found.append(Found(image, o.kind, box, self.score(score_steps)))
            for _ in range(pick.randrange(4)):
                kind = pick.randrange(kinds)
                made.found.append(Found(image, kind, self.box(), self.score(score_steps)))
        pick.shuffle(made.objects)
        pick.shuffle(made.found)
        return made


class Comparison(unittest.TestCase):
    def check(self, case):
        actual = run_program(case)
        aps = coco_aps(case)
        rates = coco_rates(case)
        kinds = {x.kind for x in case.objects + case.found}
        self.assertEqual(set(actual), kinds | {"all"})
        voc = {kind: voc_ap(case, kind) for kind in kinds}
        voc["all"] = mean_or_none(np.array([voc[kind] for kind in sorted(kinds)]))
        for key, row in actual.items():
            expected = {
                "ap50_voc": voc[key], "ap50_coco": aps[key][0], "ap_coco": aps[key][1],
                **dict(zip(("precision", "recall", "f1"), rates.get(key, (0, 0, 0)), strict=True)),
                "objects": sum(not (o.crowd or o.ignore) and key in ("all", o.kind)
                               for o in case.objects),
                "detections": sum(key in ("all", f.kind) for f in case.found),
            }
            for name, value in expected.items():
                self.assertLessEqual(abs(row[name] - value), TOLERANCE,
                                     f"{name} of class {key}: {row[name]}, not {value}, in {case}")
        return actual

    def test_random(self):
        for seed in range(40):
            with self.subTest(seed=seed):
                self.check(Maker(seed).case(confidence=0.3))

    def test_coinciding_boxes_and_equal_scores(self):
        for seed in range(60):
            with self.subTest(seed=seed):
                self.check(Maker(seed, grid=4).case(images=5, objects=8, score_steps=4))

    def test_crowds_and_ignored_objects(self):
        for seed in range(80):
            with self.subTest(seed=seed):
                maker = Maker(seed, grid=(None, 4)[seed % 2])
                self.check(maker.case(images=4, kinds=2, objects=8, score_steps=(0, 5)[seed % 2],
                                      crowd=0.2, ignore=0.3))

    def test_other_thresholds(self):
        for seed in range(40):
            with self.subTest(seed=seed):
                pick = random.Random(seed)
                self.check(Maker(seed, grid=2).case(
                    score_steps=10, crowd=0.1, ignore=0.1,
                    confidence=pick.choice((0.0, 0.1, 0.3, 0.7, 0.9, 1.0)),
                    iou=pick.choice((0.1, 0.3, 0.6, 0.75, 0.95, 1.0))))

    def test_limited_detections(self):
        for seed in range(20):
            for limit in (1, 2, 5, 0):
                with self.subTest(seed=seed, limit=limit):
                    self.check(Maker(seed, grid=8).case(images=3, kinds=1, objects=12,
                                                        score_steps=3, max_detections=limit))

    def test_more_than_a_hundred_detections(self):
        maker = Maker(1)
        case = maker.case(images=2, kinds=1, objects=10)
        box = (10.0, 10.0, 60.0, 60.0)
        case.objects.append(Object(0, 0, box))
        for _ in range(250):
            case.found.append(Found(0, 0, maker.box(), maker.score(0)))
        limited = self.check(case)
        unlimited = self.check(dataclasses.replace(case, max_detections=0))
        self.assertNotEqual(limited["all"]["ap_coco"], unlimited["all"]["ap_coco"])
        self.assertEqual(limited["all"]["ap50_voc"], unlimited["all"]["ap50_voc"])

    def test_many_classes(self):
        self.check(Maker(2).case(images=20, kinds=80, objects=30))

    def test_one_image(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                self.check(Maker(seed, grid=4).case(images=1, kinds=1, score_steps=3))

    def test_nothing_on_one_side(self):
        full = Maker(3).case()
        self.check(Case([], []))
        self.check(Case(full.objects, []))
        self.check(Case([], full.found))
        self.check(Case([dataclasses.replace(o, crowd=True) for o in full.objects], full.found))
        self.check(Case([dataclasses.replace(o, ignore=True) for o in full.objects], full.found))

    def test_boxes_without_size(self):
        point = (5.0, 5.0, 5.0, 5.0)
        line = (5.0, 5.0, 5.0, 25.0)
        box = (0.0, 0.0, 20.0, 30.0)
        for a in (point, line, box):
            for b in (point, line, box):
                for crowd in (False, True):
                    with self.subTest(a=a, b=b, crowd=crowd):
                        objects = [Object(0, 0, a, crowd), Object(1, 0, box)]
                        self.check(Case(objects, [Found(0, 0, b, 0.75), Found(1, 0, box, 0.5)]))

    def test_perfect_detections(self):
        full = Maker(4).case()
        found = [Found(o.image, o.kind, o.box, 1.0) for o in full.objects]
        for iou in (0.5, 1.0):
            rows = self.check(Case(full.objects, found, iou=iou))
            for name in ("ap_coco", "ap50_voc", "f1"):
                self.assertAlmostEqual(rows["all"][name], 1.0)

    def test_all_scores_equal(self):
        case = Maker(5, grid=4).case(images=6, objects=8)
        for f in case.found:
            f.score = 0.5
        self.check(case)

    def test_huge_boxes(self):
        huge = (0.0, 0.0, 131072.0, 131072.0)  # more than 10^10 square pixels
        box = (0.0, 0.0, 50.0, 50.0)
        found = [Found(0, 0, huge, 0.75), Found(0, 0, box, 0.5), Found(1, 0, box, 0.25)]
        evaluation = run_coco(Case([Object(0, 0, box), Object(1, 0, box)], found), found, None, 100)
        case = Case([Object(0, 0, box), Object(1, 0, box)], found)
        self.assertAlmostEqual(run_program(case)["all"]["ap_coco"],
                               mean_or_none(evaluation.eval["precision"]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
