# SPDX-License-Identifier: GPL-3.0-or-later
"""One property of all items of a collection, read by one call."""

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np


def read(
    items: bpy.types.bpy_prop_collection, name: str, size: int = 1, kind: Any = np.float32, count: int = -1
) -> np.ndarray:  # fmt: skip
    """A property of each item, (N,) or (N, size) if it has several numbers.

    kind : Blender's type of it, as a dtype. count : N, where it is known: Blender counts bones one by one.
    """
    count = len(items) if count < 0 else count
    values = np.empty(count * size, dtype=kind)
    items.foreach_get(name, values)
    return values if size == 1 else values.reshape(count, size)


def contents(items: bpy.types.bpy_prop_collection, properties: Iterable[tuple[str, int, Any]]) -> tuple[bytes, ...]:
    """Several properties of all items, to be compared. properties : name, numbers of an item and dtype of each."""
    return tuple(read(items, name, size, kind).tobytes() for name, size, kind in properties)
