"""Reads a TensorFlow.js graph model: model.json and the weight files beside it.

Gives plain data: nodes with decoded attributes, constants as numpy arrays. Knows nothing of ONNX.
"""

import base64
import json
import pathlib
from dataclasses import dataclass

import numpy as np


class ConversionError(Exception):
    """A model that cannot be converted; the message is one line and names the place."""


@dataclass(frozen=True)
class Node:
    op: str
    name: str
    inputs: tuple  # of (node name, output index); control inputs are left out
    attrs: dict


@dataclass(frozen=True)
class TfjsGraph:
    nodes: dict  # name -> Node, in file order
    constants: dict  # name -> numpy array
    outputs: tuple  # (node name, output index) of the signature, sorted by name


def parse_reference(text):
    """'name', 'name:1' -> (name, index)."""
    name, colon, index = text.rpartition(":")
    return (name, int(index)) if colon and index.isdigit() else (text, 0)


def load_graph(model_json):
    path = pathlib.Path(model_json)
    try:
        model = json.loads(path.read_text(encoding="utf-8"))
        topology = model["modelTopology"]["node"]
        groups = model["weightsManifest"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConversionError(
            f"{path}: not a TensorFlow.js graph model ({describe(error)})") from error
    constants = {}
    for group in groups:
        constants.update(_read_weight_group(path.parent, group))
    nodes = {}
    for entry in topology:
        references = [parse_reference(i) for i in entry.get("input", []) if not i.startswith("^")]
        attrs = {k: _decode_attr(v) for k, v in entry.get("attr", {}).items()}
        nodes[entry["name"]] = Node(entry["op"], entry["name"], tuple(references), attrs)
    outputs = model.get("signature", {}).get("outputs", {})
    return TfjsGraph(nodes, constants,
                     tuple(sorted(parse_reference(o["name"]) for o in outputs.values())))


def describe(error):
    return f"no field {error}" if isinstance(error, KeyError) else str(error)


def _decode_attr(value):
    """{"i": "3"} -> 3, {"s": base64} -> "text", {"list": {...}} -> [...], a shape -> [...]."""
    for kind, raw in value.items():
        if kind == "list":
            for item_kind, items in raw.items():
                return [_decode_attr({item_kind: item}) for item in items]
            return []
        if kind == "s":
            return base64.b64decode(raw).decode("utf-8")
        if kind == "i":
            return int(raw)
        if kind == "shape":
            return [int(d.get("size", -1)) for d in raw.get("dim", [])]
        return raw  # f, b, type
    return None


_STORED_TYPES = {"float32": "<f4", "int32": "<i4", "bool": "|u1", "float16": "<f2",
                 "uint8": "|u1", "uint16": "<u2"}


def _read_weight_group(folder, group):
    data = b""
    for name in group["paths"]:
        if pathlib.PurePosixPath(name).name != name:
            raise ConversionError(f"weight file '{name}': must be a plain name beside model.json")
        try:
            data += (folder / name).read_bytes()
        except OSError as error:
            raise ConversionError(f"weight file '{folder / name}': {error.strerror}") from error
    offset = 0
    for spec in group["weights"]:
        quantization = spec.get("quantization", {})
        stored = quantization.get("dtype", spec["dtype"])
        if stored not in _STORED_TYPES or spec["dtype"] not in ("float32", "int32", "bool"):
            raise ConversionError(
                f"weight '{spec['name']}': type {spec['dtype']} stored as {stored} is unknown")
        count = int(np.prod(spec["shape"], dtype=np.int64))
        size = count * np.dtype(_STORED_TYPES[stored]).itemsize
        if offset + size > len(data):
            raise ConversionError(f"weight '{spec['name']}': the weight files end too early "
                                  f"({len(data)} bytes, {offset + size} needed)")
        raw = np.frombuffer(data, _STORED_TYPES[stored], count, offset).reshape(spec["shape"])
        offset += size
        yield spec["name"], _dequantize(raw, spec["dtype"], quantization)
    if offset != len(data):
        raise ConversionError(f"weight files {', '.join(group['paths'])}: {len(data)} bytes, "
                              f"but the manifest describes {offset}")


def _dequantize(raw, dtype, quantization):
    if quantization.get("dtype") in ("uint8", "uint16"):
        values = raw.astype(np.float64) * quantization["scale"] + quantization["min"]
        # JavaScript's Math.round, as TensorFlow.js does: halves go up.
        return np.floor(values + 0.5).astype(np.int32) if dtype == "int32" \
            else values.astype(np.float32)
    return raw.astype({"float32": np.float32, "int32": np.int32, "bool": np.bool_}[dtype])
