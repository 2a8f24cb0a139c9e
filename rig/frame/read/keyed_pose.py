# SPDX-License-Identifier: GPL-3.0-or-later
"""The keyed pose: the channels as animation gives them at a frame, for bones that hold an answer of ours instead.

It is read here where the last change of frame left no copy of it: after loading, undo, or a visit of another scene.
"""

import bpy

from ...blender import animation, channels, rotation
from ...blender.channels import Channels
from .view import View


def read(ob: bpy.types.Object, base: Channels, view: View) -> Channels:
    """The channels of an original object at the view's frame. Those that nothing animates are as in `base`."""
    layer = getattr(bpy.context, "view_layer", None)
    if animation.uses_nla(ob) and layer is not None and layer.depsgraph == view.depsgraph:
        return _evaluated(ob, base, view)
    return from_curves(ob, base, view.frame)


def from_curves(ob: bpy.types.Object, base: Channels, frame: float) -> Channels:
    """`base` with the values of the assigned action's curves."""
    found = base.copy()
    for curve in animation.counting(ob):
        (name, path), value = animation.split_path(ob, curve.data_path), curve.evaluate(frame)
        number = ob.pose.bones.find(name)
        if number >= 0 and path == "location":
            found.locations[number, curve.array_index] = value
        elif number >= 0 and path == rotation.PATHS[found.modes.of_bone[number]]:
            found.rotations[number, curve.array_index] = value
    return found


def _evaluated(ob: bpy.types.Object, base: Channels, view: View) -> Channels:
    """The channels after Blender has evaluated the animation again. The original object keeps its channels."""
    before = channels.read(ob.pose.bones, base.modes)
    ob.update_tag(refresh={"TIME"})
    view.evaluate()
    found = channels.read(ob.evaluated_get(view.depsgraph).pose.bones, base.modes)
    channels.write(ob, before)
    ob.update_tag(refresh={"DATA"})
    return found
