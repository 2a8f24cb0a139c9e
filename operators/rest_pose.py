# SPDX-License-Identifier: GPL-3.0-or-later
"""Making the pose of a frame the rest pose, with its motion kept."""

import bpy

from ..rig.setup import rest_pose
from .common import ArmatureOperator, armature
from .messages import translated


class DQIK_OT_pose_to_rest(ArmatureOperator, bpy.types.Operator):
    """Make this pose the rest pose and keep the motion, for captures that are folded or lie down at rest"""

    bl_idname = "dqik.pose_to_rest"
    bl_label = "Use Pose as Rest"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the armature has no goals yet; if it has, sets the message."""
        if not super().poll(context):
            return False
        if armature(context).dqik.goals:
            cls.poll_message_set(translated("Remove the goals first"))
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Change the rest pose."""
        ob = armature(context)
        if hindrance := rest_pose.hindrance(ob):
            self.report({"WARNING"}, hindrance)
            return {"CANCELLED"}
        count = rest_pose.apply(ob)
        self.report({"INFO"}, f"This pose is the rest pose now; the keys of {count} bones are counted from it")
        return {"FINISHED"}


CLASSES = (DQIK_OT_pose_to_rest,)
