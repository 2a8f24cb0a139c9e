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
from ...rig.notes import Note, note_of
from ...solvers import DqikError
from ..common import ArmatureOperator, GoalsOperator, armature
from ..frames import FramesOperator, Steps


class DQIK_OT_check_range(FramesOperator, GoalsOperator, bpy.types.Operator):
    """Measure on every frame of a range how far the goals are missed, and mark these frames in the timeline"""

    bl_idname = "dqik.check_range"
    bl_label = "Check Range"
    bl_options = {"REGISTER", "UNDO"}

    doing = Note("Checking")
    stopped = Note("Check stopped, the marks are as before")

    def draw(self, context: bpy.types.Context) -> None:
        """The options, in the dialog and in the panel that adjusts the last operation."""
        del context
        self.draw_range()

    def _run(self, context: bpy.types.Context) -> Steps:
        """Visit the frames, then store those that miss."""
        scene, ob = context.scene, armature(context)
        frames = self._frames(scene)
        if not frames:
            return {"CANCELLED"}
        reading = Session(stored=False)
        errors: list[tuple[int, Sequence[GoalError]]] = []
        try:
            with scene_state.restored(scene, context.view_layer, ob) as visits:
                for index, frame in enumerate(frames):
                    visits.visit(frame)
                    errors.append((frame, offline.shown_errors(reading, ob, context.evaluated_depsgraph_get())))
                    yield (index + 1) / len(frames)
        except DqikError as error:
            self.tell({"ERROR"}, note_of(error))
            return {"CANCELLED"}
        if not any(found for _, found in errors):
            notes = sessions.status(ob).notes or (reading.rig.refusal or Note("There is nothing to check"),)
            self.tell({"ERROR"}, *notes)
            return {"CANCELLED"}
        missed.store(ob, errors)
        misses = missed.summary(scene, ob)
        lagging = sum(any(error.lags and not error.met for error in found) for _, found in errors)
        if misses is None and lagging:
            self.tell({"INFO"}, Note("Checked {} frames: none missed, on {} of them the bones lag behind",
                                     len(frames), lagging))
        elif misses is None:
            self.tell({"INFO"}, Note("Checked {} frames: all met", len(frames)))
        else:
            self.tell({"WARNING"}, Note("Checked {} frames", len(frames)), misses)
        return {"FINISHED"}


class DQIK_OT_missed_frame(ArmatureOperator, bpy.types.Operator):
    """Go to the next or previous frame on which the last bake or check missed a goal"""

    stores = False

    bl_idname = "dqik.missed_frame"
    bl_label = "Go to Missed Frame"
    bl_options = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        name="Direction", description="Which missed frame to go to",
        items=[("NEXT", "Next", "The next one after this frame"), ("PREVIOUS", "Previous", "The last one before it")],
    )  # fmt: skip

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Change the scene's frame."""
        now = context.scene.frame_current
        frames = sorted(entry.frame for entry in armature(context).dqik.missed_frames)
        ahead = [frame for frame in frames if frame > now] if self.direction == "NEXT" else [
            frame for frame in reversed(frames) if frame < now
        ]  # fmt: skip
        if not ahead:
            self.tell({"INFO"}, Note("There is no further frame that misses a goal"))
            return {"CANCELLED"}
        context.scene.frame_set(ahead[0])
        return {"FINISHED"}


class DQIK_OT_missed_clear(ArmatureOperator, bpy.types.Operator):
    """Remove the marks of the frames that missed a goal"""

    bl_idname = "dqik.missed_clear"
    bl_label = "Clear Marks"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Forget the missed frames."""
        armature(context).dqik.missed_frames.clear()
        return {"FINISHED"}


CLASSES = (DQIK_OT_check_range, DQIK_OT_missed_frame, DQIK_OT_missed_clear)
