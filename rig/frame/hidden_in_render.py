# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that are hidden in renders.

Blender evaluates an object that is hidden in renders only if something that is rendered depends on it, and a goal is no
dependency for Blender. So for the time of a render, an empty depends on these targets.
"""

from collections.abc import Iterator

import bpy

from ..blender import animation

_NAME = "DQIK targets hidden in renders"


def include(scene: bpy.types.Scene) -> None:
    """Make renders of a scene evaluate all targets and poles of live armatures in it, until `remove`."""
    aims = {
        aim for ob in scene.objects if ob.type == "ARMATURE" and (ob.dqik.live or animation.animates(ob, "dqik.live"))
        for goal in ob.dqik.goals
        for aim in ((goal.target, goal.subtarget), (goal.pole_target, goal.pole_subtarget)) if aim[0] is not None
    }  # fmt: skip
    if {aim for aim, _ in aims}.issubset(_rendered(scene.collection)):
        return
    shown = {ob for layer in scene.view_layers for ob in layer.objects}
    helper = bpy.data.objects.new(_NAME, None)
    for aim, bone in aims:
        if aim in shown:
            made = helper.constraints.new("COPY_LOCATION")
            made.target, made.subtarget = aim, bone if aim.type == "ARMATURE" else ""
    scene.collection.objects.link(helper)


def remove() -> None:
    """Undo `include`."""
    for ob in [ob for ob in bpy.data.objects if ob.name.startswith(_NAME) and ob.library is None]:
        bpy.data.objects.remove(ob)


def _rendered(collection: bpy.types.Collection) -> Iterator[bpy.types.Object]:
    """The objects of a collection and its children that are not hidden in renders."""
    if not collection.hide_render:
        yield from (ob for ob in collection.objects if not ob.hide_render)
        for child in collection.children:
            yield from _rendered(child)
