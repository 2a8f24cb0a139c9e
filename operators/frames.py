# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools that process a range of frames: at once from a script, in steps with progress from the panel."""

from collections.abc import Generator, Sequence
from typing import ClassVar, TypeVar

import bpy
from bpy.props import IntProperty

from ..rig import bake, curves
from ..rig.blender import scene_state
from ..rig.blender.channels import Channels
from ..rig.blender.places import bone_of
from ..rig.controls import goals, selection
from ..rig.frame import offline
from ..rig.frame.read.question import FrameInput
from ..rig.frame.step.session import Session
from ..rig.notes import Code, Note, Refused
from .common import Steps, Tool, armature

_Result = TypeVar("_Result")


class FramesTool(Tool):
    """A tool that asks for a range of frames and options in a dialog, then does its `work` on them."""

    in_dialog: ClassVar[tuple[str, ...]] = ()  # its own properties, in their order
    has_step: ClassVar[bool] = True  # whether frames can be left out
    whole_motion: ClassVar[bool] = False  # whether the dialog proposes the frames of the motion, else the scene's

    frame_start: IntProperty(name="Start", description="First frame. Start 0 and End -1 take the scene's range",
                             default=0, options={"SKIP_SAVE"})  # fmt: skip
    frame_end: IntProperty(name="End", description="Last frame", default=-1, options={"SKIP_SAVE"})
    step: IntProperty(name="Step", description="1 takes every frame, 2 every second one", default=1, min=1)

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        """Do the work on these frames."""
        raise NotImplementedError

    def run(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps:
        return self.work(context, ob, self._frames(context.scene))

    def ask(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """From the panel: show the dialog, then work in steps."""
        del event
        if not self.is_set("frame_start", "frame_end"):
            ob, scene = self._moved(context), context.scene
            shown = scene.frame_start, scene.frame_end
            span = action_range(ob, scene) if self.whole_motion and ob is not None else shown
            self.frame_start, self.frame_end = span if span[0] < span[1] else shown
        return self.dialog(context)

    def _moved(self, context: bpy.types.Context) -> bpy.types.Object | None:
        """The object whose motion is read."""
        return armature(context)

    def draw(self, context: bpy.types.Context) -> None:
        """The range and the options, in the dialog and in the panel that adjusts the last operation."""
        self.draw_range()
        for name in self.in_dialog:
            if name == "only_selected":
                self.draw_only_selected(context)
            else:
                self.layout.prop(self, name)

    def draw_only_selected(self, context: bpy.types.Context) -> None:
        """The option that leaves other bones alone, disabled while none is selected."""
        row = self.layout.row()
        row.enabled = bool(context.selected_pose_bones) or self.only_selected
        row.prop(self, "only_selected")

    def draw_range(self) -> None:
        """The range alone."""
        self.column("frame_start", "frame_end", *(["step"] if self.has_step else []))

    def owners(self, context: bpy.types.Context, ob: bpy.types.Object) -> dict[bpy.types.Object, list[str]]:
        """What is keyed: the armature and the targets of its goals with names of bones, empty for the object itself."""
        if self.only_selected:
            return {ob: selection.selected(context, ob)}
        found = {ob: ["", *ob.pose.bones.keys()]}
        for target in goals.target_owners(ob.dqik.goals):
            names, name = found.setdefault(target.id_data, []), bone_of(target)
            names += [] if name in names else [name]
        return found

    def rate(self, scene: bpy.types.Scene) -> float:
        """Returns the number of requested frames that the scene plays in a second."""
        return scene_state.rate(scene) / self.step

    def _frames(self, scene: bpy.types.Scene) -> list[int]:
        """The requested frames; an end that is not set is the scene's."""
        start, end = self.span(scene.frame_start, scene.frame_end)
        if end < start:
            raise Refused(Note(Code.RANGE_REVERSED, end, start))
        return list(range(start, end + 1, self.step))


def read_frames(
    context: bpy.types.Context, ob: bpy.types.Object, frames: Sequence[int], reading: Session,
    visits: scene_state.Visits, solving: bake.Solving | None = None,
) -> Generator[float, None, tuple[list[FrameInput | None], list[Channels]]]:  # fmt: skip
    """Visit frames and read the solver's input and the start channels of each; yields the progress from 0 to 1.

    reading : the session to read them with. visits : visits the frames. solving : solves them meanwhile; then the
    inputs' links and targets are overwritten. Raises `Refused` if there is nothing to
    solve.
    """
    times = scene_state.times(context.scene, frames)
    inputs: list[FrameInput | None] = []
    starts: list[Channels] = []
    for index, frame in enumerate(frames):
        frame_reading = offline.bake_frame(reading, ob, visits.visit(frame))
        if solving is not None:
            solving.add(frame_reading.frame_input, times[index])
        else:
            frame_reading = frame_reading.copy()
        inputs.append(frame_reading.frame_input)
        starts.append(frame_reading.start)
        yield (index + 1) / len(frames)
    if not any(inputs):
        raise Refused(reading.rig.refusal or Note(Code.ADD_GOAL))
    return inputs, starts


def action_range(ob: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """The frames of an object's action, or those of its scene if it has none."""
    action = curves.action_of(ob)
    start, end = (scene.frame_start, scene.frame_end) if action is None else action.frame_range
    return round(start), round(end)


def shares(steps: Generator[float, None, _Result], start: float, end: float) -> Generator[float, None, _Result]:
    """Scale the progress of steps that are a part of a larger task, from `start` to `end`."""
    while True:
        try:
            share = next(steps)
        except StopIteration as end_of_steps:
            return end_of_steps.value
        yield start + (end - start) * share
