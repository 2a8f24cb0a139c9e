# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that are hidden in renders.

Blender evaluates an object that is hidden in renders only if something that is rendered depends on it, and a goal is no
dependency for Blender. So while a script or the command line renders, an empty depends on these targets.
"""

import threading
from collections.abc import Iterator

import bpy

from ..blender import animation
from ..blender.dependencies import aims_of

_NAME = "DQIK targets hidden in renders"
_MADE = "dqik_made"  # a custom property


def targets(scene: bpy.types.Scene) -> set[tuple[bpy.types.Object, str]]:
    """What live armatures of a scene read of other objects, each with its bone, and is hidden in renders."""
    aims = {
        aim for ob in scene.objects if ob.type == "ARMATURE" and (ob.dqik.live or animation.animates(ob, "dqik.live"))
        for aim in aims_of(ob)
    }  # fmt: skip
    rendered = set(_rendered(scene.collection)) if aims else set()
    shown = {ob for layer in scene.view_layers for ob in layer.objects} if aims else set()
    return {aim for aim in aims if aim[0] in shown and aim[0] not in rendered}


def include(scene: bpy.types.Scene) -> None:
    """Make renders of a scene evaluate all hidden targets of live armatures in it, until `remove`.

    Not in a render that the window starts, because it runs in a thread: objects that are added there crash Blender,
    also while the interface is locked.
    """
    if scene.library is not None or threading.current_thread() is not threading.main_thread():
        return
    hidden = targets(scene)
    if not hidden:
        return
    helper = bpy.data.objects.new(_NAME, None)
    helper[_MADE] = True
    for target, bone in hidden:
        made = helper.constraints.new("COPY_LOCATION")
        made.target, made.subtarget = target, bone
    scene.collection.objects.link(helper)


def remove() -> None:
    """Undo `include`. Objects of the user may have the same name, so ours are known by their mark."""
    for ob in [ob for ob in bpy.data.objects if ob.name.startswith(_NAME) and _MADE in ob and ob.library is None]:
        bpy.data.objects.remove(ob)


def _rendered(collection: bpy.types.Collection) -> Iterator[bpy.types.Object]:
    """The objects of a collection and its children that are not hidden in renders."""
    if not collection.hide_render:
        yield from (ob for ob in collection.objects if not ob.hide_render)
        for child in collection.children:
            yield from _rendered(child)
