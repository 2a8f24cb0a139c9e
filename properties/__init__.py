# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties that DQIK saves in the .blend: settings and goals of armature objects, limits of pose bones.

Goals are a collection on the object, and the values of a bone are single properties of the pose bone. Only there do
they survive library overrides and can be keyed in every supported Blender.
"""

import bpy
from bpy.props import PointerProperty

from ..rig.blender import words
from .bone import armature_properties, bone_properties
from .common import OVERRIDE, roll_property, set_aside_properties
from .contact import DqikContact, action_properties
from .goal import DqikGoal
from .object import DqikSettings
from .relations import DqikCoupling, DqikObstacle
from .retarget import DqikRetarget, DqikRetargetArm, DqikRetargetLeg, DqikRetargetLimbs
from .status import DqikMissedFrame, DqikStatus

CLASSES = (DqikGoal, DqikCoupling, DqikObstacle, DqikContact, DqikMissedFrame, DqikStatus,
           DqikRetargetArm, DqikRetargetLeg, DqikRetargetLimbs, DqikRetarget, DqikSettings)
_OF_TYPES = ((bpy.types.Action, action_properties), (bpy.types.PoseBone, bone_properties),
             (bpy.types.Bone, armature_properties))  # fmt: skip


def register() -> None:
    """Register the classes and attach the properties."""
    for cls in CLASSES:
        words.register_class(cls)
    bpy.types.Object.dqik = PointerProperty(
        type=DqikSettings, name="DQIK", description="Whole-armature inverse kinematics", override=OVERRIDE
    )
    bpy.types.Object.dqik_roll = words.in_context(roll_property())
    for name, prop in set_aside_properties().items():
        setattr(bpy.types.Object, name, prop)
    for kind, own in _OF_TYPES:
        for name, prop in own().items():
            setattr(kind, name, words.in_context(prop))


def unregister() -> None:
    """Undo `register`, in reverse."""
    for kind, own in reversed(_OF_TYPES):
        for name in reversed(own()):
            delattr(kind, name)
    for name in set_aside_properties():
        delattr(bpy.types.Object, name)
    del bpy.types.Object.dqik_roll, bpy.types.Object.dqik
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
