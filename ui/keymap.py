# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyboard shortcuts, which the user can change in the add-on's preferences or Blender's keymap."""

from collections.abc import Iterator
from typing import NamedTuple

import bpy

from .common import is_available


class Shortcut(NamedTuple):
    """An operator with its key, pressed together with Shift and Alt."""

    operator: str
    key: str


SHORTCUTS = (
    Shortcut("dqik.goal_add", "A"), Shortcut("dqik.pin", "P"), Shortcut("dqik.unpin", "U"),
    Shortcut("dqik.solve", "V"), Shortcut("dqik.targets_to_pose", "T"), Shortcut("dqik.bake", "B"),
)  # fmt: skip
KEYMAPS = ("Pose", "Object Mode")

_added: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def available() -> Iterator[Shortcut]:
    """The shortcuts whose operators exist."""
    return (shortcut for shortcut in SHORTCUTS if is_available(shortcut.operator))


def items(context: bpy.types.Context) -> Iterator[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]:
    """The shortcuts as the user has them, with their keymaps."""
    names = {shortcut.operator for shortcut in available()}
    for name in KEYMAPS:
        keymap = context.window_manager.keyconfigs.user.keymaps.get(name)
        if keymap is not None:
            yield from ((keymap, item) for item in keymap.keymap_items if item.idname in names)


def start() -> None:
    """Add the shortcuts; Blender has no keymap for them in background mode."""
    config = bpy.context.window_manager.keyconfigs.addon
    if config is None:
        return
    for name in KEYMAPS:
        keymap = config.keymaps.new(name=name)
        for shortcut in available():
            item = keymap.keymap_items.new(shortcut.operator, shortcut.key, "PRESS", shift=True, alt=True)
            _added.append((keymap, item))


def stop() -> None:
    """Remove the shortcuts."""
    while _added:
        keymap, item = _added.pop()
        keymap.keymap_items.remove(item)
