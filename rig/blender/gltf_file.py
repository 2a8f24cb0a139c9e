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
    try:
        document = _document(Path(path).read_bytes())
    except ValueError as error:
        return str(error)
    return None if document.get("animations") else "it has no motion"


def rate(path: str) -> float | None:
    """Keys a second of the motion in a file that has most of them; None if it is not sampled."""
    document = _document(Path(path).read_bytes())
    accessors = document.get("accessors", [])
    samplers = [sampler for one in document.get("animations", []) for sampler in one.get("samplers", [])]
    times = [accessors[number] for number in {sampler["input"] for sampler in samplers}]
    found = [(one["count"] - 1) / (one["max"][0] - one["min"][0]) for one in times if one["max"][0] > one["min"][0]]
    return max((one for one in found if one >= _SLOWEST), default=None)


def _document(data: bytes) -> dict[str, Any]:
    """The JSON part of a file. Raises `ValueError` with a sentence if there is none, or not all of the file."""
    if data[:4] == _MAGIC:
        if len(data) < _HEAD.size:
            raise ValueError("it is cut off")
        _, _, length, size, kind = _HEAD.unpack_from(data)
        if len(data) < length or kind != _JSON:
            raise ValueError(f"it should have {length} bytes, but has {len(data)}: it is cut off or damaged")
        data = data[_HEAD.size : _HEAD.size + size]
    try:
        document = json.loads(data)
    except ValueError:
        raise ValueError("it is no glTF file, or its beginning alone") from None
    if not isinstance(document, dict):
        raise ValueError("it is no glTF file")
    return document
