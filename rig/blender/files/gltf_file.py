# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads of a .glb or .gltf whether all of it is there and at which rate its motions are sampled.

A glTF has times in seconds and no frames: imported at another rate, keys lie between frames.
"""

import json
import struct
from pathlib import Path
from typing import Any

_MAGIC, _JSON = b"glTF", b"JSON"
_HEAD = struct.Struct("<4sIII4s")  # magic, version, length of all; length and kind of the first chunk
_SLOWEST = 10.0  # keys a second; motions with fewer are not sampled


def fault(path: str) -> str | None:
    """What is wrong with a file, as a sentence; None if nothing is. Raises `OSError` if it cannot be read."""
    data = Path(path).read_bytes()
    if data[:4] == _MAGIC and len(data) >= _HEAD.size and len(data) < (length := _HEAD.unpack_from(data)[2]):
        return f"it should have {length} bytes, but has {len(data)}: it is cut off"
    document = _document(data)
    if document is None:
        return "it is no glTF file, or its beginning alone"
    try:
        rate(path)
    except (LookupError, TypeError, AttributeError):
        return "its motion is damaged"
    return None if document.get("animations") else "it has no motion"


def rate(path: str) -> float | None:
    """Keys a second of the motion in a file that has most of them; None if it is not sampled."""
    document = _document(Path(path).read_bytes()) or {}
    accessors = document.get("accessors", [])
    samplers = [sampler for one in document.get("animations", []) for sampler in one.get("samplers", [])]
    times = [accessors[number] for number in {sampler["input"] for sampler in samplers}]
    found = [(one["count"] - 1) / (one["max"][0] - one["min"][0]) for one in times if one["max"][0] > one["min"][0]]
    return max((one for one in found if one >= _SLOWEST), default=None)


def _document(data: bytes) -> dict[str, Any] | None:
    """The JSON part of a file; None if it has none."""
    if data[:4] == _MAGIC:
        if len(data) < _HEAD.size:
            return None
        _, _, _, size, kind = _HEAD.unpack_from(data)
        data = data[_HEAD.size : _HEAD.size + size] if kind == _JSON else b""
    try:
        document = json.loads(data)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
