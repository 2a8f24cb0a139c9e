# SPDX-License-Identifier: GPL-3.0-or-later
"""Making the pose of a frame the rest pose, with its motion kept."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ...rig.controls import rest_pose
from ...rig.notes import Note
from ..common import ArmatureOperator, armature


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
            cls.poll_message_set(Note("Remove the goals first").words(iface_))
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Change the rest pose."""
        ob = armature(context)
        if hindrance := rest_pose.hindrance(ob):
            self.tell({"WARNING"}, hindrance)
            return {"CANCELLED"}
        count = rest_pose.apply(ob)
        self.tell({"INFO"}, Note("This pose is the rest pose now; the keys of {} bones are counted from it", count))
        return {"FINISHED"}


CLASSES = (DQIK_OT_pose_to_rest,)
