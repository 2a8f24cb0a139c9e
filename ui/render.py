# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice where renders start, in the Render menu and beside the output settings: what to lock, to show and to bake."""

from collections.abc import Iterable

import bpy

from ..rig.blender.words import iface_
from ..rig.frame import hidden_in_render
from ..rig.frame.sessions import sessions
from ..rig.notes import Note
from .tab.common import paragraph


def is_needed(context: bpy.types.Context) -> bool:
    """Whether an armature of the scene is live while the interface is not locked."""
    return not context.scene.render.use_lock_interface and bool(_live(context))


def _live(context: bpy.types.Context) -> list[bpy.types.Object]:
    return [ob for ob in context.scene.objects if ob.type == "ARMATURE" and ob.dqik.live]


def _names(found: Iterable[bpy.types.Object]) -> str:
    return ", ".join(sorted({repr(ob.name) for ob in found}))


def hidden_targets(context: bpy.types.Context) -> Note | None:
    """A note about targets of live armatures that are hidden in renders; None if there are none."""
    names = _names(target for target, _ in hidden_in_render.targets(context.scene))
    return Note("Enable these targets in renders, or they stand still there: {}", names) if names else None


def unbaked_simulations(context: bpy.types.Context) -> Note | None:
    """A note about simulations that follow live armatures and are not baked; None if there are none."""
    names = ", ".join(sorted({repr(name) for name in sessions.simulations.unbaked(context.scene)}))
    return Note("Bake these simulations before you render: {}", names) if names else None


def unbaked_lag(context: bpy.types.Context) -> Note | None:
    """A note about live armatures that lag behind their targets; None if there are none."""
    names = _names(ob for ob in _live(context) if ob.dqik.start_from == "FOLLOW")
    return Note("Renders do not show how {} lags behind its targets: bake it first", names) if names else None


def unsolved_shots(context: bpy.types.Context) -> Note | None:
    """A note about live armatures whose shot is not solved as one motion yet; None if there are none."""
    names = _names(ob for ob in _live(context) if ob.dqik.start_from == "SHOT" and ob.dqik.status.shot < 1.0)
    return Note("Renders show {} frame by frame until the shot is solved: press Solve Shot first",
                names) if names else None


ADVICE = hidden_targets, unbaked_simulations, unbaked_lag, unsolved_shots


def in_output(panel: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Draws the advice beside the output settings."""
    if is_needed(context):
        box = panel.layout.box().column()
        paragraph(context, box, "DQIK is live: lock the interface before you render", "ERROR")
        box.operator("dqik.lock_interface", icon="LOCKED")
    for note in filter(None, (each(context) for each in ADVICE)):
        paragraph(context, panel.layout.box().column(), note, "ERROR")


def in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Draws the advice in the Render menu."""
    if is_needed(context):
        menu.layout.separator()
        menu.layout.operator("dqik.lock_interface", text="Lock Interface for DQIK", icon="ERROR")
    for note in filter(None, (each(context) for each in ADVICE)):
        menu.layout.label(text=note.words(iface_), translate=False, icon="ERROR")
