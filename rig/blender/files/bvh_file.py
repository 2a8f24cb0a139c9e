# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a .bvh as far as it shows whether all of it is there: Blender's importer takes what it finds of a cut file."""

import math
import re
from pathlib import Path

import numpy as np


def fault(path: str) -> str | None:
    """What is wrong with a .bvh file, as a sentence; None if nothing is. Raises `OSError` if it cannot be read."""
    text = Path(path).read_text(encoding="latin-1")
    hierarchy, motion, rest = text.partition("MOTION")
    head = re.match(r"\s*Frames:\s*(\S+)\s+Frame Time:\s*(\S+)", rest)
    if not motion or head is None or not hierarchy.split() or hierarchy.split()[0].upper() != "HIERARCHY":
        return "it is no .bvh file, or its beginning alone"
    channels = sum(int(count) for count in re.findall(r"CHANNELS\s+(\d+)", hierarchy))
    frames, seconds = _number(head[1]), _number(head[2])
    if not frames >= 1.0 or not channels:
        return "it has no frames"
    if not 0.0 < seconds < math.inf:
        return f"its Frame Time is {head[2]}"
    try:
        values = np.array(rest[head.end() :].split(), dtype=float)
    except ValueError as error:
        return f"its motion is not made of numbers: {error}"
    if len(values) != frames * channels:
        return (f"it should have {frames:g} frames of {channels} numbers, but has {len(values) / channels:.1f}: it is "
                "cut off or damaged")  # fmt: skip
    wrong = np.flatnonzero(~np.isfinite(values))
    return f"frame {wrong[0] // channels + 1} has a number that is not finite" if len(wrong) else None


def _number(word: str) -> float:
    """A number in a text; NaN if it is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan
