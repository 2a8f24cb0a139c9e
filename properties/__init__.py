# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties that DQIK saves in the .blend: settings and goals of armature objects, limits of pose bones.

Goals are a collection on the object, and the values of a bone are single properties of the pose bone. Only there do
they survive library overrides and can be keyed in every supported Blender.
"""

import bpy
from bpy.props import PointerProperty

from .bone import bone_properties
from .common import OVERRIDE
from .goal import DqikGoal
from .object import DqikSettings
from .relations import DqikCoupling, DqikObstacle
from .roll import roll_property
from .status import DqikMissedFrame, DqikStatus

CLASSES = (DqikGoal, DqikCoupling, DqikObstacle, DqikMissedFrame, DqikStatus, DqikSettings)


def register() -> None:
    """Register the classes and attach the properties."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.dqik = PointerProperty(
        type=DqikSettings, name="DQIK", description="Whole-armature inverse kinematics", override=OVERRIDE
    )
    bpy.types.Object.dqik_roll = roll_property()
    for name, prop in bone_properties().items():
        setattr(bpy.types.PoseBone, name, prop)


def unregister() -> None:
    """Undo `register`, in reverse."""
    for name in reversed(bone_properties()):
        delattr(bpy.types.PoseBone, name)
    del bpy.types.Object.dqik_roll, bpy.types.Object.dqik
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
