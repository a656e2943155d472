"""Uncompressed video in Matroska, and PNG files, read and written without any library, so that a
test knows every sample on its own account."""

import struct
import zlib


def _element(name, payload):
    size = (1 << 56 | len(payload)).to_bytes(8, "big")
    return bytes.fromhex(name) + size + payload


def _number(name, value):
    return _element(name, value.to_bytes(8, "big"))


# Matroska's numbers are those of ITU-T H.273.
MATRIX = {"bt709": 1, "bt601": 6, "bt2020": 9}
RANGE = {"limited": 1, "full": 2}
SITING = {"left": (1, 2), "center": (2, 2), "top-left": (1, 1)}
TRANSFER = {"sdr": 1, "pq": 16, "hlg": 18}


def matroska(path, fourcc, width, height, frames, times=None, **color):
    """frames: bytes of each, planes one after another without padding. times: milliseconds.
    color: matrix, range, siting, transfer by the names above."""
    times = times or [40 * i for i in range(len(frames))]
    tags = b""
    if "matrix" in color:
        tags += _number("55B1", MATRIX[color["matrix"]])
    if "range" in color:
        tags += _number("55B9", RANGE[color["range"]])
    if "siting" in color:
        horizontal, vertical = SITING[color["siting"]]
        tags += _number("55B7", horizontal) + _number("55B8", vertical)
    if "transfer" in color:
        tags += _number("55BA", TRANSFER[color["transfer"]])
    picture = _number("B0", width) + _number("BA", height) + _element("2EB524", fourcc)
    if tags:
        picture += _element("55B0", tags)
    track = (_number("D7", 1) + _number("73C5", 1) + _number("83", 1) +
             _element("86", b"V_UNCOMPRESSED") + _element("E0", picture))
    blocks = b"".join(_element("A3", b"\x81" + struct.pack(">h", time) + b"\x80" + frame)
                      for time, frame in zip(times, frames))
    head = (_number("4286", 1) + _number("42F7", 1) + _number("42F2", 4) + _number("42F3", 8) +
            _element("4282", b"matroska") + _number("4287", 4) + _number("4285", 2))
    info = (_number("2AD7B1", 1000000) + _element("4D80", b"test") + _element("5741", b"test"))
    segment = (_element("1549A966", info) + _element("1654AE6B", _element("AE", track)) +
               _element("1F43B675", _number("E7", 0) + blocks))
    path.write_bytes(_element("1A45DFA3", head) + _element("18538067", segment))
    return path


def read_png(path):
    """(width, height, channels, rows of bytes) of an 8-bit grey, RGB or RGBA PNG without interlacing."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, header = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    width, height, bits, color, _, _, interlaced = header
    assert (bits, interlaced) == (8, 0)
    channels = {0: 1, 2: 3, 6: 4}[color]
    raw, stride = zlib.decompress(packed), width * channels
    assert len(raw) == height * (stride + 1)
    rows, above = [], bytes(stride)
    for y in range(height):
        line = raw[y * (stride + 1):(y + 1) * (stride + 1)]
        row = bytearray(line[1:])
        for i in range(stride):
            a = row[i - channels] if i >= channels else 0
            b = above[i]
            c = above[i - channels] if i >= channels else 0
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = row[i] + (0, a, b, (a + b) // 2, nearest)[line[0]] & 0xFF
        rows.append(bytes(row))
        above = row
    return width, height, channels, rows


def write_png(path, pixels):
    """pixels: uint8 array of (height, width) for grey, (height, width, 3) for RGB."""
    height, width = pixels.shape[:2]
    kind = 2 if pixels.ndim == 3 else 0
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
              (b"IDAT", zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks))
