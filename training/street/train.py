"""Trains one street net. Example: python train.py --net main --data DIR --out main0.pt --seed 0

A checkpoint is written after every epoch; the same command goes on from it.
"""
import argparse
import copy
import math
import os
import time

import torch
from torch.nn import functional as F

import data
from metrics import Confusion
from nets import CLASSES, NETS


# What seed 0 ended with; a UNIT above 1 (2 for AuxNet) draws the frame smaller.
VIEWS = {"main": "384x288@1:50,480x360@1:6", "aux": "240x180@2:60"}


def views_of(text):
    """((width, height), unit) of every epoch."""
    views = []
    for part in text.split(","):
        size, rest = part.split("@")
        unit, epochs = rest.split(":")
        views += [(tuple(int(v) for v in size.split("x")), float(unit))] * int(epochs)
    return views


def loss_of(logits, label, weights):
    """Weighted cross-entropy + 0.7 soft Jaccard (over the batch, classes that are present)."""
    n = len(CLASSES)
    known = (label >= 0) & (label < n)
    target = torch.where(known, label, 0)[:, None]
    log_p = logits.float().log_softmax(1)
    weight = weights[target] * known[:, None]
    entropy = -(log_p.gather(1, target) * weight).sum() / weight.sum().clamp(min=1)
    p = log_p.exp() * known[:, None]
    truth = torch.zeros_like(p).scatter_(1, target, 1.0) * known[:, None]
    area = truth.sum((0, 2, 3))
    both = (p * truth).sum((0, 2, 3))
    jaccard = 1 - (both + 1) / (p.sum((0, 2, 3)) + area - both + 1)
    return entropy + 0.7 * jaccard[area > 0].mean()


def training_loss(net, image, label, weights):
    """Loss at the output's size; one label of each tile is drawn, the same place for the batch."""
    with torch.autocast("cpu", torch.bfloat16):
        logits, deep = net(image)
    return loss_of(logits, thin(label, logits), weights) + 0.3 * loss_of(
        deep, thin(label, deep), weights)


def thin(label, logits):
    step = label.shape[2] // logits.shape[3]
    y, x = torch.randint(step, (2,)).tolist()
    return label[:, y::step, x::step].contiguous()


@torch.no_grad()
def evaluate(net, frames, labels, shrink):
    net.eval()
    confusion = Confusion()
    for frame, label in zip(frames, labels):
        image = data.normalise(frame)[None]
        if shrink > 1:
            image = F.avg_pool2d(image, shrink)
        logits = F.interpolate(net(image.contiguous(memory_format=torch.channels_last)),
                               size=label.shape, mode="bilinear", align_corners=False)
        confusion.add(label.numpy(), logits[0].argmax(0).numpy())
    return confusion


def finite(module):
    return all(bool(torch.isfinite(t).all()) for t in module.state_dict().values())


def average(ema, net, step):
    """Exponential moving average of weights and batch norm statistics, shorter at the start."""
    decay = min(0.998, (1 + step) / (10 + step))
    with torch.no_grad():
        for old, new in zip(ema.state_dict().values(), net.state_dict().values()):
            if old.dtype.is_floating_point:
                old.lerp_(new, 1 - decay)
            else:
                old.copy_(new)


class Run:
    def __init__(self, args):
        self.args = args
        torch.manual_seed(args.seed)
        make, (width, _) = NETS[args.net]
        self.shrink = 480 // width
        self.net = make().to(memory_format=torch.channels_last)
        self.ema = copy.deepcopy(self.net)
        decayed = [p for p in self.net.parameters() if p.dim() > 1]
        others = [p for p in self.net.parameters() if p.dim() <= 1]
        self.optimiser = torch.optim.AdamW([{"params": decayed, "weight_decay": args.decay},
                                            {"params": others, "weight_decay": 0.0}], lr=args.rate)
        frames, labels, _ = data.load(args.data, "train")
        self.set = data.Training(frames, labels, args.seed)
        self.weights = data.class_weights(labels)
        self.views = views_of(args.views or VIEWS[args.net])
        self.epoch, self.step = 0, 0
        if os.path.exists(args.out):
            self.restore()
            print("goes on from epoch", self.epoch, flush=True)

    def restore(self):
        state = torch.load(self.args.out, weights_only=False)
        self.net.load_state_dict(state["net"])
        self.ema.load_state_dict(state["ema"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.epoch, self.step = state["epoch"], state["step"]

    def save(self):
        state = {"net": self.net.state_dict(), "ema": self.ema.state_dict(), "epoch": self.epoch,
                 "step": self.step, "optimiser": self.optimiser.state_dict(),
                 "args": vars(self.args)}
        torch.save(state, self.args.out + ".new")
        os.replace(self.args.out + ".new", self.args.out)

    def rate(self):
        a = self.args
        steps = len(self.views) * (len(self.set) // a.batch)
        warm = min(1.0, (self.step + 1) / 100)
        return a.rate * warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * self.step / steps)))

    def train_epoch(self):
        """False if the weights or several losses in a row were no numbers."""
        a = self.args
        self.set.epoch = self.epoch
        self.set.size, self.set.unit = self.views[self.epoch]
        torch.manual_seed(a.seed * 100003 + self.epoch)
        loader = torch.utils.data.DataLoader(self.set, a.batch, shuffle=True, drop_last=True,
                                             num_workers=a.workers, prefetch_factor=3)
        total, count, bad = 0.0, 0, 0
        self.net.train()
        for image, label in loader:
            for group in self.optimiser.param_groups:
                group["lr"] = self.rate()
            image = image.contiguous(memory_format=torch.channels_last)
            loss = training_loss(self.net, image, label, self.weights)
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
            self.step += 1
            if not (torch.isfinite(loss) and torch.isfinite(norm)):
                bad += 1
                if bad > 3:
                    return False
                continue
            self.optimiser.step()
            average(self.ema, self.net, self.step)
            total, count, bad = total + float(loss.detach()), count + 1, 0
        self.loss = total / max(count, 1)
        return finite(self.net) and finite(self.ema)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--net", choices=sorted(NETS), required=True)
    parser.add_argument("--data", required=True, help="folder with train, train_labels, val, ...")
    parser.add_argument("--out", required=True, help="checkpoint, read if it is there")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--views", help="WxH@UNIT:EPOCHS,... (defaults: VIEWS); UNIT: the frame's "
                        "pixels in one of the view")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--decay", type=float, default=0.05)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--report-every", type=int, default=10, help="epochs between val figures")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    run = Run(args)
    val = data.load(args.data, "val") if args.report_every else None
    failures = 0
    while run.epoch < len(run.views):
        start = time.monotonic()
        if not run.train_epoch():
            failures += 1
            if failures > 5 or not os.path.exists(args.out):
                raise SystemExit("training diverged; lower --rate")
            run.restore()
            print("diverged; back to epoch", run.epoch, flush=True)
            torch.manual_seed(args.seed + 7919 * failures)
            continue
        run.epoch += 1
        run.save()
        line = "epoch %d loss %.4f seconds %.0f" % (run.epoch, run.loss, time.monotonic() - start)
        last = run.epoch == len(run.views)
        if val and (last or run.epoch % args.report_every == 0):
            line += "  val " + evaluate(run.ema, val[0], val[1], run.shrink).text()
        print(line, flush=True)


if __name__ == "__main__":
    main()
