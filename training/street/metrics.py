"""One confusion matrix over all frames; intersection over union per class."""
import numpy as np

from nets import CLASSES


class Confusion:
    def __init__(self):
        self.counts = np.zeros((len(CLASSES), len(CLASSES)), np.int64)  # [truth, prediction]

    def add(self, truth, prediction):
        n = len(CLASSES)
        known = truth < n
        pairs = truth[known].astype(np.int64) * n + prediction[known].astype(np.int64)
        self.counts += np.bincount(pairs, minlength=n * n).reshape(n, n)

    def iou(self):
        both = np.diag(self.counts)
        return 100.0 * both / np.maximum(self.counts.sum(0) + self.counts.sum(1) - both, 1)

    def miou(self):
        return float(self.iou().mean())

    def accuracy(self):
        return 100.0 * np.diag(self.counts).sum() / self.counts.sum()

    def text(self):
        return "mIoU %.2f  accuracy %.2f  " % (self.miou(), self.accuracy()) + " ".join(
            "%s %.1f" % pair for pair in zip(CLASSES, self.iou()))
