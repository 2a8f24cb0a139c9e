# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows an answer in a render without changing the scene.

A render's depsgraph has its own values of animated channels. When an armature object is tagged, Blender copies the
original object over them and does not evaluate the animation again. So for a render's frame, the original object gets
the answer and all other animated values of that frame, and afterwards its own values back.
"""

from collections.abc import Callable

import bpy
import numpy as np

from ...blender import bulk, channels
from ...blender.animation import Animation
from ...blender.channels import Channels
from ...blender.places import owner_of

_CHANNELS = (
    ("rotation_mode", 1, np.int32), ("location", 3, np.float32), ("scale", 3, np.float32),
    ("rotation_quaternion", 4, np.float32), ("rotation_euler", 3, np.float32), ("rotation_axis_angle", 4, np.float32),
)  # fmt: skip
_OF_CONSTRAINTS = (("influence", 1, np.float32), ("mute", 1, bool))


def show(
    ob: bpy.types.Object, evaluated: bpy.types.Object, new: Channels, animated: Animation
) -> Callable[[], None]:
    """Give an original object the channels `new`, and otherwise the values of a render's evaluated object.

    Call the result when the frame has been rendered: it gives the object its own values back.
    """
    lists = [(ob.pose.bones, evaluated.pose.bones, _CHANNELS)]
    for name in animated.bones if animated.constraints else ():
        if name in ob.pose.bones:
            own, shown = (pose.bones[name].constraints for pose in (ob.pose, evaluated.pose))
            lists.append((own, shown, _OF_CONSTRAINTS))
    before = [(own, part[0], bulk.read(own, *part).reshape(-1)) for own, _, parts in lists for part in parts]
    for own, shown, parts in lists:
        for part in parts:
            own.foreach_set(part[0], bulk.read(shown, *part).reshape(-1))
    custom = []
    for bone, name in animated.custom:
        owner, shown = owner_of(ob, bone), owner_of(evaluated, bone)
        if owner is not None and shown is not None and name in owner:
            custom.append((owner, name, owner[name]))
            owner[name] = shown[name]
    channels.write(ob, new)
    ob.update_tag(refresh={"DATA"})  # evaluates the pose, but not the object's place

    def give_back() -> None:
        for own, path, values in before:
            own.foreach_set(path, values)
        for owner, name, value in custom:
            owner[name] = value
        ob.update_tag(refresh={"DATA"})

    return give_back
