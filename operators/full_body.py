# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for a whole human figure by one press."""

import bpy
from bpy.props import BoolProperty

from ..rig.setup import full_body
from .common import ArmatureOperator, armature


class DQIK_OT_setup_full_body(ArmatureOperator, bpy.types.Operator):
    """Make goals for the hands, feet and head of a human figure, with targets to move, and let its hips move"""

    bl_idname = "dqik.setup_full_body"
    bl_label = "Set Up Full Body"
    bl_options = {"REGISTER", "UNDO"}

    use_rotation: BoolProperty(
        name="Rotation", description="Turn hands, feet and head as their targets are turned", default=True
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the goals."""
        ob = armature(context)
        done = full_body.set_up(ob, context.scene, self.use_rotation)
        if not done.made and not done.there:
            self.report({"WARNING"}, f"{ob.name!r} has no bones that are named as hands, feet or a head: "
                        "name them as Rigify, Mixamo or VRM does, or add goals by hand")  # fmt: skip
            return {"CANCELLED"}
        told = [f"Made goals for {len(done.made)} bones" if done.made else "Made no goals"]
        if done.there:
            told.append(f"{len(done.there)} had one already")
        if done.hips:
            told.append(f"{done.hips!r} may move")
        if done.missing:
            told.append(f"not found: {', '.join(done.missing)}")
        self.report({"WARNING"} if done.missing else {"INFO"}, "; ".join(told))
        return {"FINISHED"}


CLASSES = (DQIK_OT_setup_full_body,)
