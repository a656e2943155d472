#!/usr/bin/env python3
"""A training step (forward, backward, update) against PyTorch's: same network, size and threads.

PyTorch and `sparing-bench train-step` take turns; each round gives a ratio of medians, and the figure is
the median of the rounds' ratios. PyTorch runs in both memory layouts, and its faster one counts. Frozen
batch norm, SGD with momentum, cross-entropy, as the adaptation loop does it. Needs torch and onnx:

  python3 training/bench_step.py --model models/street/street-aux.onnx --threads 2
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch.nn import functional as F

from onnx_torch import OnnxNet

ROOT = Path(__file__).resolve().parent.parent
# figure -> (our row, autocast to bfloat16 in PyTorch)
FIGURES = {
    "train.vs_torch_f32": ("train.f32_ms", False),
    "train.vs_torch_bf16": ("train.bf16_ms", True),
    "train.vs_torch_bf16_gradients": ("train.bf16_gradients_ms", True),
}


class TorchStep:
    def __init__(self, path, width, height, bf16, layout):
        self.net = OnnxNet(path).to(memory_format=layout)
        self.optimiser = torch.optim.SGD(self.net.parameters(), 1e-6, momentum=0.9)
        generator = torch.Generator().manual_seed(1)
        self.image = torch.randn(1, 3, height, width, generator=generator).to(memory_format=layout)
        self.bf16 = bf16
        with torch.no_grad():
            shape = self.net(self.image).shape
        self.labels = torch.randint(0, shape[1], (1, *shape[2:]), generator=generator)

    def step(self):
        begin = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
            logits = self.net(self.image)
        loss = F.cross_entropy(logits.float(), self.labels)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return (time.perf_counter() - begin) * 1e3


def ours(args):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([args.bench, "train-step", "--model", args.model, "--size", args.size,
                        "--threads", str(args.threads), "--rounds", str(args.steps), "--json",
                        file.name], check=True, stdout=subprocess.DEVNULL)
        return {f["id"]: f["value"] for f in json.load(open(file.name))["figures"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(ROOT / "models/street/street-aux.onnx"))
    parser.add_argument("--size", default="240x180", help="WxH of the input")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=20, help="steps of each in a round")
    parser.add_argument("--bench", default=str(ROOT / "build/release/bin/sparing-bench"))
    parser.add_argument("--json", help="write the figures into this file, too")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    width, height = (int(v) for v in args.size.split("x"))
    layouts = (torch.contiguous_format, torch.channels_last)
    theirs = {bf16: [TorchStep(args.model, width, height, bf16, layout) for layout in layouts]
              for bf16 in (False, True)}
    for steps in theirs.values():
        for contender in steps:
            for _ in range(3):
                contender.step()
    ratios = {figure: [] for figure in FIGURES}
    times = {}
    for _ in range(args.rounds):
        mine = ours(args)
        for bf16, contenders in theirs.items():
            medians = [statistics.median(c.step() for _ in range(args.steps)) for c in contenders]
            best = min(medians)
            times.setdefault("torch " + ("bf16" if bf16 else "f32"), []).append(best)
            for figure, (row, wanted) in FIGURES.items():
                if wanted == bf16 and row in mine:
                    ratios[figure].append(mine[row] / best)
                    times.setdefault(row, []).append(mine[row])
    print(f"torch {torch.__version__}, {args.threads} thread(s), {args.size}, {args.model}")
    for name, values in times.items():
        print(f"  {name:26} {statistics.median(values):8.2f} ms")
    figures = []
    for figure, values in ratios.items():
        if not values:
            print(f"  {figure:30} skipped: no bfloat16 here")
            continue
        figures.append({"id": figure, "value": statistics.median(values), "unit": "x",
                        "note": f"{min(values):.3f} to {max(values):.3f} in {len(values)} rounds"})
        print(f"  {figure:30} {figures[-1]['value']:.3f} ({figures[-1]['note']})")
    if args.json:
        Path(args.json).write_text(json.dumps({"schema": 1, "figures": figures}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
