# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyboard shortcuts, which the user can change in the add-on's preferences or Blender's keymap."""

from collections.abc import Iterator
from typing import NamedTuple

import bpy
from rna_keymap_ui import draw_kmi


class Shortcut(NamedTuple):
    """An operator with its key, pressed together with Shift and Alt, or a mouse button, pressed alone."""

    operator: str
    key: str
    path: str = ""  # what it switches or shows, if it is Blender's own operator
    keymaps: tuple[str, ...] = ("Pose", "Object Mode")


SHORTCUTS = (
    Shortcut("dqik.goal_add", "A"), Shortcut("dqik.pin", "P"), Shortcut("dqik.unpin", "U"),
    Shortcut("dqik.solve", "V"), Shortcut("dqik.targets_to_pose", "T"), Shortcut("dqik.bake", "B"),
    Shortcut("dqik.keep_pose", "K"), Shortcut("wm.context_toggle", "L", "object.dqik.live"),
    Shortcut("dqik.grab", "G", keymaps=("Pose",)), Shortcut("wm.call_menu_pie", "Q", "DQIK_MT_pie", keymaps=("Pose",)),
    Shortcut("dqik.contact_drag", "LEFTMOUSE", keymaps=("Dopesheet",)),
)  # fmt: skip
_PATHS = {"wm.context_toggle": "data_path", "wm.call_menu_pie": "name"}  # the property of Blender's own operators
KEYMAPS = {"Pose": "EMPTY", "Object Mode": "EMPTY", "Dopesheet": "DOPESHEET_EDITOR"}
"""The keymaps with their editors."""

_added: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def items(context: bpy.types.Context) -> Iterator[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]:
    """The shortcuts as the user has them, with their keymaps."""
    names = {(shortcut.operator, shortcut.path) for shortcut in SHORTCUTS}
    for name in KEYMAPS:
        keymap = context.window_manager.keyconfigs.user.keymaps.get(name)
        if keymap is not None:
            yield from ((keymap, item) for item in keymap.keymap_items if (item.idname, _path(item)) in names)


def _path(item: bpy.types.KeyMapItem) -> str:
    name = _PATHS.get(item.idname)
    return "" if name is None else getattr(item.properties, name, "")


class DqikPreferences(bpy.types.AddonPreferences):
    """Keyboard shortcuts of DQIK"""

    bl_idname = __package__.rpartition(".")[0]

    def draw(self, context: bpy.types.Context) -> None:
        """Show each shortcut, to be changed or switched off."""
        column = self.layout.column()
        column.label(text="Shortcuts")
        shown = ""
        for keys, item in items(context):
            if keys.name != shown:
                column.label(text=keys.name)
                shown = keys.name
            column.context_pointer_set("keymap", keys)
            draw_kmi([], context.window_manager.keyconfigs.user, keys, item, column, 0)


def start() -> None:
    """Add the shortcuts; Blender has no keymap for them in background mode."""
    config = bpy.context.window_manager.keyconfigs.addon
    if config is None:
        return
    for name, editor in KEYMAPS.items():
        keymap = config.keymaps.new(name=name, space_type=editor)
        for shortcut in (one for one in SHORTCUTS if name in one.keymaps):
            held = not shortcut.key.endswith("MOUSE")
            item = keymap.keymap_items.new(shortcut.operator, shortcut.key, "PRESS", shift=held, alt=held)
            if shortcut.path:
                setattr(item.properties, _PATHS[shortcut.operator], shortcut.path)
            _added.append((keymap, item))


def stop() -> None:
    """Remove the shortcuts."""
    while _added:
        keymap, item = _added.pop()
        keymap.keymap_items.remove(item)
