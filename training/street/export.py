"""Writes a checkpoint's averaged weights as ONNX (opset 13, batch 1, float32, height and width free).

Example: python export.py --net aux --checkpoint aux0.pt --out ../../models/street/street-aux.onnx
Batch norm stays as BatchNormalization nodes, since the runtime's trainer reads the graph.
"""
import argparse
import io
from collections import Counter

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from nets import NETS, cost

ALLOWED = {"Conv", "BatchNormalization", "Relu", "Add", "Concat", "Resize"}


def graph_of(net, width, height):
    buffer = io.BytesIO()
    torch.onnx.export(net, (torch.zeros(1, 3, height, width),), buffer, opset_version=13,
                      input_names=["image"], output_names=["logits"], dynamo=False,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      dynamic_axes={"image": {2: "height", 3: "width"},
                                    "logits": {2: "out_height", 3: "out_width"}})
    return onnx.load_from_string(buffer.getvalue())


def tidy(model):
    """Constants, and what only joins constants (the scales of Resize), become named initializers."""
    graph = model.graph
    known = {}
    kept = []
    for node in graph.node:
        if node.op_type == "Constant":
            known[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        elif node.op_type == "Concat" and all(name in known for name in node.input):
            known[node.output[0]] = np.concatenate([known[name] for name in node.input])
        else:
            kept.append(node)
    used = {name for node in kept for name in node.input}
    for name in known:
        if name in used:
            graph.initializer.append(numpy_helper.from_array(known[name], name))
    for node in kept:
        if node.op_type == "Resize":  # attributes that bilinear resizing does not read
            rest = [a for a in node.attribute if a.name in ("mode", "coordinate_transformation_mode")]
            del node.attribute[:]
            node.attribute.extend(rest)
    del graph.node[:]
    graph.node.extend(kept)
    del graph.value_info[:]
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--net", choices=sorted(NETS), required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    make, (width, height) = NETS[args.net]
    net = make().eval()
    net.load_state_dict(torch.load(args.checkpoint, weights_only=False)["ema"])
    model = tidy(graph_of(net, width, height))
    model.graph.name = "street-" + args.net
    onnx.checker.check_model(model, full_check=True)
    kinds = Counter(node.op_type for node in model.graph.node)
    assert set(kinds) <= ALLOWED and kinds["BatchNormalization"] > 0, kinds
    onnx.save(model, args.out)

    import onnxruntime
    session = onnxruntime.InferenceSession(args.out, providers=["CPUExecutionProvider"])
    image = torch.randn(1, 3, height, width, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        ours = net(image).numpy()
    theirs = session.run(["logits"], {"image": image.numpy()})[0]
    assert theirs.shape == ours.shape, (theirs.shape, ours.shape)
    macs, parameters = cost(args.net)
    print("%s: %s, %.4f GMACs at %dx%d, %d parameters, largest difference to PyTorch %.1e" %
          (args.out, dict(kinds), macs / 1e9, width, height, parameters,
           float(np.abs(ours - theirs).max())))


if __name__ == "__main__":
    main()
