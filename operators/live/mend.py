# SPDX-License-Identifier: GPL-3.0-or-later
"""Mending what the panel warns of, and what makes renders safe."""

import bpy
from bpy.props import EnumProperty

from ...rig.blender.dependencies import aims_of
from ...rig.notes import Code, Note, Refused
from ...rig.skeleton import stretch
from ..common import Said, Tool

MENDED_BY: dict[str, tuple[str, str, str]] = {
    Code.REST_POSITION: ("dqik.mend", "POSE_POSITION", "Show the Pose"),
    Code.CANNOT_SLIDE: ("dqik.mend", "TRANSLATE", "Switch Translate Off"),
    Code.NOTHING_TO_MOVE: ("dqik.mend", "USE_TAIL", "Switch Use Tail On"),
    Code.TARGET_DISABLED: ("dqik.mend", "SHOW_TARGETS", "Enable It"),
    Code.TARGET_DISABLED_BY_KEYS: ("dqik.mend", "SHOW_TARGETS", "Enable It"),
    Code.SHEARED: ("dqik.mend", "INHERIT_SCALE", "Keep Their Size"),
    Code.LEFT_TO_IK: ("dqik.goals_from_constraints", "", "Make Goals of Them"),
    Code.LINKED: ("object.make_override_library", "", "Make Library Override"),
    Code.FOLDED: ("dqik.pose_to_rest", "", "Use Pose as Rest"),
    Code.CONTROLS_UNKEYED: ("dqik.key_from_motion", "", "Key Controls from Motion"),
    Code.SYSTEM_OVERRIDE: ("object.make_override_library", "", "Make It Editable"),
}
"""Button for each warning: the operator, its kind, and the button's text."""


class DQIK_OT_mend(Tool, bpy.types.Operator):
    """Mend what the panel warns of"""

    bl_label = "Mend"
    stores = False

    kind: EnumProperty(
        name="Kind", description="What to mend",
        items=[
            ("POSE_POSITION", "Pose Position", "Show the armature's pose instead of its rest position"),
            ("TRANSLATE", "Translate", "Switch Translate off for connected bones, which cannot move"),
            ("USE_TAIL", "Use Tail", "Bring the tails of root bones to their targets instead of their heads"),
            ("INHERIT_SCALE", "Inherit Scale", "Let what hangs on bones that stretch keep its size"),
            ("SHOW_TARGETS", "Enable Targets", "Enable targets that are disabled in the viewport"),
        ],
    )  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if self.kind == "POSE_POSITION":
            ob.data.pose_position = "POSE"
        elif self.kind == "TRANSLATE":
            for bone in ob.pose.bones:
                if bone.dqik_translate and bone.parent is not None and bone.bone.use_connect:
                    bone.dqik_translate = False
        elif self.kind == "USE_TAIL":
            for goal in ob.dqik.goals:
                bone = ob.pose.bones.get(goal.bone)
                if bone is not None and bone.parent is None:
                    goal.use_tail = True
        elif self.kind == "INHERIT_SCALE":
            if ob.data.library is not None:
                raise Refused(Note("The bones of {} belong to a library file: set their Inherit Scale there",
                                   repr(ob.name)))
            stretch.keep_sizes(ob)
        else:
            for target, _ in aims_of(ob):
                if target.hide_viewport:
                    target.hide_viewport = False


class DQIK_OT_lock_interface(bpy.types.Operator):
    """Switch on Lock Interface for renders of this scene. Without it, rendering while Live is on can crash Blender"""

    bl_idname = "dqik.lock_interface"
    bl_label = "Lock Interface"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.scene.render.use_lock_interface = True
        return {"FINISHED"}
