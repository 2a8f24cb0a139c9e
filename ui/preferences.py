# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's preferences: its keyboard shortcuts."""

import bpy
from rna_keymap_ui import draw_kmi

from . import keymap


class DqikPreferences(bpy.types.AddonPreferences):
    """Keyboard shortcuts of DQIK"""

    bl_idname = __package__.rpartition(".")[0]

    def draw(self, context: bpy.types.Context) -> None:
        """Show each shortcut, to be changed or switched off."""
        column = self.layout.column()
        column.label(text="Shortcuts")
        shown = ""
        for keys, item in keymap.items(context):
            if keys.name != shown:
                column.label(text=keys.name)
                shown = keys.name
            column.context_pointer_set("keymap", keys)
            draw_kmi([], context.window_manager.keyconfigs.user, keys, item, column, 0)


CLASSES = (DqikPreferences,)
