# SPDX-License-Identifier: GPL-3.0-or-later
"""Computing the reach of a goal, for the overlay."""

import bpy
from bpy.props import IntProperty

from ...rig.frame import offline
from ...rig.frame.step.session import Session
from ...rig.notes import Note
from ...rig.overlay import workspace
from ...rig.overlay.reach import POSTURES
from ..common import GoalsOperator, armature
from ..frames import SteppedOperator, Steps


class DQIK_OT_reach_show(SteppedOperator, GoalsOperator, bpy.types.Operator):
    """Estimate where the active goal's bone can go inside its joint limits, and show the border of that space"""

    stores = False

    bl_idname = "dqik.reach_show"
    bl_label = "Show Reach"
    bl_options = {"REGISTER"}

    postures: IntProperty(
        name="Postures", description="Number of random postures; more of them give a fuller shell", default=POSTURES,
        min=1000, soft_max=1_000_000,
    )  # fmt: skip

    doing = Note("Computing the reach")
    stopped = Note("Stopped")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: work in steps."""
        del event
        self._from_panel = True
        return self.execute(context)

    def _run(self, context: bpy.types.Context) -> Steps:
        """Sample the chain of the active goal."""
        ob, depsgraph = armature(context), context.evaluated_depsgraph_get()
        reading = Session(stored=False)
        found = offline.bake_frame(reading, ob, depsgraph).frame_input
        numbers = [] if found is None else [goal.index for goal in found.rig.goals]
        if ob.dqik.active_goal not in numbers:
            self.tell({"ERROR"}, reading.rig.refusal or Note("The active goal is muted or incomplete"))
            return {"CANCELLED"}
        goal = numbers.index(ob.dqik.active_goal)
        computed = yield from workspace.compute(ob.evaluated_get(depsgraph), found, goal, self.postures)
        workspace.remember(ob, computed)
        overlay = context.window_manager.dqik_overlay
        overlay.show = overlay.reach = True
        if not len(computed.shell.dexterous):
            self.tell({"INFO"}, Note("{} reaches no place in half of all orientations", computed.goal))
        return {"FINISHED"}


class DQIK_OT_reach_hide(GoalsOperator, bpy.types.Operator):
    """Forget the computed reach"""

    stores = False

    bl_idname = "dqik.reach_hide"
    bl_label = "Hide Reach"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Forget it."""
        workspace.remember(armature(context), None)
        return {"FINISHED"}


CLASSES = (DQIK_OT_reach_show, DQIK_OT_reach_hide)
