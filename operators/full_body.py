# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for a whole human figure in one press."""

import bpy
from bpy.props import BoolProperty

from ..rig.setup import full_body, roles
from .common import ArmatureOperator, armature


class DQIK_OT_setup_full_body(ArmatureOperator, bpy.types.Operator):
    """Add goals and targets for the hands, feet and head of a human figure, and let its hips move"""

    bl_idname = "dqik.setup_full_body"
    bl_label = "Set Up Full Body"
    bl_options = {"REGISTER", "UNDO"}

    use_rotation: BoolProperty(
        name="Rotation", description="Turn hands, feet and head with their targets", default=True
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the goals."""
        ob = armature(context)
        if refusal := roles.of(ob).controlled:
            self.report({"WARNING"}, refusal)
            return {"CANCELLED"}
        result = full_body.set_up(ob, context.scene, self.use_rotation)
        if not result.new_goals and not result.old_goals:
            self.report({"WARNING"}, f"No bone of {ob.name!r} is named as a hand, a foot or a head: "
                        "name them as Rigify, Mixamo or VRM does, or use Add Goal")  # fmt: skip
            return {"CANCELLED"}
        count = len(result.new_goals)
        parts = [f"Added goals for {count} bones" if count else "Added no goals"]
        if result.old_goals:
            parts.append(f"{len(result.old_goals)} bones had goals already")
        if result.hips:
            parts.append(f"{result.hips!r} may move")
        if result.missing:
            parts.append(f"not found: {', '.join(result.missing)}")
        self.report({"WARNING"} if result.missing else {"INFO"}, "; ".join(parts))
        return {"FINISHED"}


CLASSES = (DQIK_OT_setup_full_body,)
