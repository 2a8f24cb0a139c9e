# SPDX-License-Identifier: GPL-3.0-or-later
"""The advice to lock the interface, where renders start: in the Render menu and beside the output settings."""

import bpy

from .common import paragraph


def is_needed(context: bpy.types.Context) -> bool:
    """Whether an armature of the scene is live while the interface is not locked."""
    scene = context.scene
    return not scene.render.use_lock_interface and any(ob.type == "ARMATURE" and ob.dqik.live for ob in scene.objects)


def _in_output(panel: bpy.types.Panel, context: bpy.types.Context) -> None:
    if is_needed(context):
        box = panel.layout.box().column()
        paragraph(context, box, "DQIK is live: lock the interface before you render", "ERROR")
        box.operator("dqik.lock_interface", icon="LOCKED")


def _in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    if is_needed(context):
        menu.layout.separator()
        menu.layout.operator("dqik.lock_interface", text="Lock Interface for DQIK", icon="ERROR")


def start() -> None:
    """Show the advice where it is needed from now on."""
    bpy.types.RENDER_PT_output.prepend(_in_output)
    bpy.types.TOPBAR_MT_render.append(_in_menu)


def stop() -> None:
    """Show the advice no longer."""
    bpy.types.RENDER_PT_output.remove(_in_output)
    bpy.types.TOPBAR_MT_render.remove(_in_menu)
