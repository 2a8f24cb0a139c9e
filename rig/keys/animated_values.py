# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated values that the user has changed and not keyed yet, kept while other frames are visited.

Transforms of objects and bones are left to `scene_state.restored`.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress

import bpy

from ..blender import animation, scene_state

_KINDS = (
    "scenes", "objects", "armatures", "meshes", "shape_keys", "curves", "lattices", "cameras", "lights", "materials",
    "worlds", "node_groups", "textures", "speakers", "lightprobes", "metaballs", "collections", "particles", "masks",
)  # fmt: skip
_WITH_NODES = ("scenes", "lights", "materials", "worlds", "textures")

_Place = tuple[bpy.types.ID, str, int]


@contextmanager
def kept() -> Generator[None]:
    """Give all animated values back at the end that they have at the beginning, on the same frame."""
    before = dict(_values())
    try:
        yield
    finally:
        now = dict(_values())
        for place, value in before.items():
            if place in now and now[place] != value:
                with suppress(ReferenceError, AttributeError, TypeError, ValueError):  # removed, or not to be written
                    animation.set_value(*place, value)


def _values() -> Iterator[tuple[_Place, object]]:
    for owner in _owners():
        for path, index, value in animation.present_values(owner):
            if path.rpartition(".")[2] not in scene_state.TRANSFORM:
                yield (owner, path, index), value


def _owners() -> Iterator[bpy.types.ID]:
    """All that has curves of its own and can be written."""
    for kind in _KINDS:
        for one in getattr(bpy.data, kind):
            tree = getattr(one, "node_tree", None) if kind in _WITH_NODES else None
            for owner in (one, tree):
                if owner is not None and owner.library is None and getattr(owner, "animation_data", None) is not None:
                    yield owner
