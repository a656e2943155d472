"""mIoU of an exported pair on camvid/val with onnxruntime: MainNet, AuxNet and the sum of both.

Example: python evaluate.py --data DIR --main street-main.onnx --aux street-aux.onnx
The frame is normalised, AuxNet gets the 2x2 means; logits (240x180) are upsampled bilinearly to
480x360 at half-pixel centres. The ensemble adds the two softmaxes (--logits: the two logits) at
240x180 and upsamples the sum. All frames go into one confusion matrix; label 11 is left out.
"""
import argparse
import json

import numpy as np
import onnxruntime
import torch
from torch.nn import functional as F

import data
from metrics import Confusion
from nets import CLASSES


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    net = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda image: torch.from_numpy(net.run(["logits"], {"image": image.numpy()})[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--part", default="val")
    parser.add_argument("--main", required=True)
    parser.add_argument("--aux", required=True)
    parser.add_argument("--logits", action="store_true", help="ensemble: add logits")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", help="file for the figures")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    main_net, aux_net = session(args.main, args.threads), session(args.aux, args.threads)
    rows = {name: Confusion() for name in ("main", "aux", "ensemble")}
    frames, labels, _ = data.load(args.data, args.part)
    for frame, label in zip(frames, labels):
        image = data.normalise(frame)[None]
        maps = {"main": main_net(image), "aux": aux_net(F.avg_pool2d(image, 2))}
        if args.logits:
            maps["ensemble"] = maps["main"] + maps["aux"]
        else:
            maps["ensemble"] = maps["main"].softmax(1) + maps["aux"].softmax(1)
        for name, values in maps.items():
            whole = F.interpolate(values, size=label.shape, mode="bilinear", align_corners=False)
            rows[name].add(label.numpy(), whole[0].argmax(0).numpy())
    for name, confusion in rows.items():
        print("%-9s" % name, confusion.text())
    if args.json:
        figures = {name: {"miou": c.miou(), "accuracy": float(c.accuracy()),
                          "iou": dict(zip(CLASSES, map(float, c.iou())))}
                   for name, c in rows.items()}
        with open(args.json, "w") as out:
            json.dump(figures, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
