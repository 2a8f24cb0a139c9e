# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames that miss their goals: finding them over a range, going from one to the next, forgetting them."""

from collections.abc import Sequence

import bpy
from bpy.props import EnumProperty

from ...rig.blender import scene_state
from ...rig.frame import offline
from ...rig.frame.sessions import sessions
from ...rig.frame.step import missed
from ...rig.frame.step.report import GoalError
from ...rig.frame.step.session import Session
from ...rig.notes import Note
from ..common import NotDone, Said, Steps, Tool
from ..frames import FramesTool


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
                visits.visit(frame)
                errors.append((frame, offline.shown_errors(reading, ob, context.evaluated_depsgraph_get())))
                yield (index + 1) / len(frames)
        if not any(found for _, found in errors):
            notes = sessions.status(ob).notes or (reading.rig.refusal or Note("There is nothing to check"),)
            raise NotDone("ERROR", *notes)
        missed.store(ob, errors)
        misses = missed.summary(scene, ob)
        lagging = sum(any(error.lags and not error.met for error in found) for _, found in errors)
        if misses is not None:
            self.tell({"WARNING"}, Note("Checked {} frames", len(frames)), misses)
            return None
        if lagging:
            return Note("Checked {} frames: none missed, on {} of them the bones lag behind", len(frames), lagging)
        return Note("Checked {} frames: all met", len(frames))


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
