# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving the current frame once, keeping or resetting the pose, and the frames that miss their goals."""

from collections.abc import Sequence

import bpy
from bpy.props import EnumProperty
from mathutils import Matrix

from ...rig.blender import scene_state
from ...rig.controls import controls
from ...rig.frame import commands, offline
from ...rig.frame.memory import stored_base
from ...rig.frame.sessions import sessions
from ...rig.frame.step import missed
from ...rig.frame.step.report import GoalError
from ...rig.frame.step.session import Session
from ...rig.keys import keyable, keying
from ...rig.notes import Code, Note, counted
from ..common import NotDone, Said, Steps, Tool, refuse
from ..frames import FramesTool


class DQIK_OT_solve(Tool, bpy.types.Operator):
    """Solve the current frame once, without Live"""

    bl_label = "Solve"
    on_goals = True
    stores = False

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        report = commands.solve(ob, context.evaluated_depsgraph_get())
        if not report.solved:
            raise NotDone("ERROR", *report.notes)
        if report.converged:
            return Note("All goals met")
        if report.lags:
            return Note("At frame {} the bones lag behind their targets, as Follow has them", f"{report.frame:g}")
        errors = missed.worst_first(report.goals)
        self.tell({"WARNING"}, missed.at_frame(context.scene, ob, errors, report.frame))
        return None


class DQIK_OT_keep_pose(Tool, bpy.types.Operator):
    """Switch Live off and keep the pose as it is now, to go on without targets. Bake does so for a range of frames"""

    bl_label = "Keep Pose"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        if not ob.dqik.live:
            raise NotDone("WARNING", Note("Live is off already"))
        moved = [ob.pose.bones[number].name for number in stored_base.own(ob)]
        auto = keying.is_auto(context.scene)
        if auto:
            refuse(keyable.of_owners([ob.pose.bones[name] for name in moved]))
        commands.keep_pose(ob)
        if auto:
            for name in moved:
                keying.key(ob.pose.bones[name], context.scene.frame_current_final, auto=True)


class DQIK_OT_reset_pose(Tool, bpy.types.Operator):
    """Put the bones that the goals move, and the control bones, back to rest. Solves start from there afterwards"""

    bl_label = "Reset Pose"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        for bone in controls.of(ob):
            bone.matrix_basis = Matrix()
        commands.put_to_rest(ob, context.evaluated_depsgraph_get())


class DQIK_OT_check_range(FramesTool, bpy.types.Operator):
    """Measure on every frame of a range how far the goals are missed, and mark these frames in the timeline"""

    bl_label = "Check Range"
    on_goals = True

    doing = Note("Checking")
    stopped = Note("Check stopped, the marks are as before")

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        scene, reading = context.scene, Session(stored=False)
        errors: list[tuple[int, Sequence[GoalError]]] = []
        with scene_state.restored(scene, context.view_layer, ob) as visits:
            for index, frame in enumerate(frames):
                errors.append((frame, offline.shown_errors(reading, ob, visits.visit(frame))))
                yield (index + 1) / len(frames)
        if not any(found for _, found in errors):
            notes = sessions.status(ob).notes or (reading.rig.refusal or Note("There is nothing to check"),)
            raise NotDone("ERROR", *notes)
        missed.store(ob, errors)
        misses = missed.summary(scene, ob)
        lagging = sum(any(error.lags and not error.met for error in found) for _, found in errors)
        count = counted(len(frames), Code.ONE_FRAME, Code.FRAMES)
        if misses is not None:
            self.tell({"WARNING"}, Note("Checked {}", count), misses)
            return None
        if lagging:
            return Note("Checked {}: none missed, on {} of them the bones lag behind", count, lagging)
        return Note("Checked {}: all met", count)


class DQIK_OT_missed_frame(Tool, bpy.types.Operator):
    """Go to the next or previous frame on which the last bake or check missed a goal"""

    bl_label = "Go to Missed Frame"
    stores = False

    direction: EnumProperty(
        name="Direction", description="Which missed frame to go to",
        items=[("NEXT", "Next", "The next one after this frame"), ("PREVIOUS", "Previous", "The last one before it")],
    )  # fmt: skip

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        now = context.scene.frame_current
        sign = 1 if self.direction == "NEXT" else -1
        ahead = [one.frame for one in ob.dqik.missed_frames if sign * (one.frame - now) > 0]
        if not ahead:
            raise NotDone("INFO", Note("There is no further frame that misses a goal"))
        context.scene.frame_set(min(ahead, key=lambda frame: abs(frame - now)))


class DQIK_OT_missed_clear(Tool, bpy.types.Operator):
    """Remove the marks of the frames that missed a goal"""

    bl_label = "Clear Marks"

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Said:
        ob.dqik.missed_frames.clear()
