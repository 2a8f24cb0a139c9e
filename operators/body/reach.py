# SPDX-License-Identifier: GPL-3.0-or-later
"""Computing the reach of a goal, for the overlay."""

import bpy
from bpy.props import IntProperty

from ...rig.frame import offline
from ...rig.frame.step.session import Session
from ...rig.notes import Note, Refused
from ...rig.overlay import workspace
from ...solvers.reach import POSTURES
from ..common import Said, Steps, Tool


class DQIK_OT_reach_show(Tool, bpy.types.Operator):
    """Estimate where the active goal's bone can go inside its joint limits, and show the border of that space"""

    bl_label = "Show Reach"
    on_goals = True
    stores = False
    bl_options = {"REGISTER"}

    postures: IntProperty(
        name="Postures", description="Number of random postures; more of them give a fuller shell", default=POSTURES,
        min=1000, soft_max=1_000_000,
    )  # fmt: skip

    doing = Note("Computing the reach")
    stopped = Note("Stopped")

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
        depsgraph = context.evaluated_depsgraph_get()
        reading = Session(stored=False)
        found = offline.bake_frame(reading, ob, depsgraph).frame_input
        numbers = [] if found is None else [goal.number for goal in found.rig.goals]
        if ob.dqik.active_goal not in numbers:
            raise Refused(reading.rig.refusal or Note("The active goal is muted or incomplete"))
        goal = numbers.index(ob.dqik.active_goal)
        computed = yield from workspace.compute(ob.evaluated_get(depsgraph), found, goal, self.postures)
        workspace.last.keep(ob.session_uid, computed)
        overlay = context.window_manager.dqik_overlay
        overlay.show = overlay.reach = True
        if len(computed.shell.dexterous):
            return None
        return Note("{} reaches no place in half of all orientations", computed.goal)


class DQIK_OT_reach_hide(Tool, bpy.types.Operator):
    """Forget the computed reach"""

    bl_label = "Hide Reach"
    on_goals = True
    stores = False
    bl_options = {"REGISTER"}

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        workspace.last.keep(ob.session_uid, None)
