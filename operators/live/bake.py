# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking solved frames to keyframes."""

from collections.abc import Iterator, Sequence

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ...rig import bake, curves
from ...rig.bake import keys, whole_shot
from ...rig.blender import rotation, scene_state
from ...rig.clip import last_report
from ...rig.controls import goals, selection
from ...rig.frame import offline
from ...rig.frame.read import own_answers
from ...rig.frame.read.question import FrameInput
from ...rig.frame.sessions import sessions
from ...rig.frame.step import missed
from ...rig.frame.step.report import GoalError, goal_errors
from ...rig.frame.step.session import Session
from ...rig.frame.step.start_mode import Way
from ...rig.keys import keyable
from ...rig.notes import Code, Note, Refused, counted
from ...solvers import Batch
from ..common import Steps
from ..frames import FramesTool, read_frames, shares


class DQIK_OT_bake(FramesTool, bpy.types.Operator):
    """Solve a range of frames and key the solved bones. Esc stops the bake and changes nothing"""

    bl_label = "Bake"
    on_goals = True

    action: EnumProperty(
        name="Action",
        description="The action that gets the keys",
        items=[
            ("NEW", "New", "Key a copy of the armature's action. The old action stays in the file"),
            ("CURRENT", "Current", "Key the armature's own action. Keys outside the range stay"),
        ],
        default="NEW",
    )
    only_selected: BoolProperty(name="Only Selected Bones", description="Key selected bones only")
    reduce: FloatProperty(
        name="Reduce", description="How far leaving out keys may move a curve: lengths in Blender units, Euler angles "
        "in radians, quaternions by their numbers. 0 keys every frame", default=0.0, min=0.0, soft_max=0.1, precision=4,
    )  # fmt: skip
    smooth: FloatProperty(
        name="Smooth", description="Solve all frames as one motion whose joints turn evenly: goals are met as before, "
        "and limbs only pop where their goals force them to. 1 smooths over some 35 frames, 0 solves each frame on its "
        "own", default=0.0, min=0.0, max=1.0, subtype="FACTOR",
    )  # fmt: skip
    clear_goals: BoolProperty(name="Clear Goals", description="Remove the goals after the bake")

    doing = Note("Baking")
    stopped = Note("Bake stopped, nothing was changed")

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_range()
        layout = self.layout
        layout.row().prop(self, "action", expand=True)
        layout.prop(self, "reduce")
        layout.prop(self, "smooth", slider=True)
        self.draw_only_selected(context)
        column = layout.column(heading="Afterwards")
        column.prop(self, "clear_goals")

    def work(self, context: bpy.types.Context, ob: bpy.types.Object, frames: list[int]) -> Steps:
        scene = context.scene
        way = Way.of(ob, scene)
        if way.gain is not None and self.step > 1:
            raise Refused(Note("Follow moves bones from each frame to the next: bake with Step 1"))
        keys.check(ob, self.action)
        shot = None
        if way.whole:
            yield from shares(whole_shot.finish(context, ob), 0.0, 0.3)
            shot = sessions.of(ob).motion.shot
        with bake.Solving(way, sessions.known, self.smooth, shot) as solving:
            with offline.session(ob) as reading, scene_state.restored(scene, context.view_layer, ob) as visits:
                steps = read_frames(context, ob, frames, reading, visits, solving)
                inputs, starts = yield from shares(steps, 0.0, 0.6)
            batches = yield from shares(solving.batches(), 0.6, 0.95)
        visits.check()
        solved = bake.answers(inputs, starts, batches)
        rigs = list({id(one.rig): one.rig for one in inputs if one}.values())
        options = bake.Options(self.action, self._bones(context, ob), self.reduce)
        in_strips = _are_in_strips(ob, reading.rig.solved.tolist())
        count = bake.write_keys(ob, rigs, scene_state.times(scene, frames), solved, options)
        ob.dqik.live = False
        own_answers.store(ob, bake.digests(inputs, solved, solving.goals))
        sessions.known.clear()
        errors = dict(_errors(inputs, frames, batches, solving.lags))
        unlike = [
            frame for frame, one in zip(frames, inputs, strict=True) if one and (one.distorted or self.only_selected)
        ]
        if unlike:
            try:
                _measure(context, ob, unlike, errors)
            except scene_state.Disturbed as disturbed:
                unknown = Note("The keys are written, but the missed frames are not known")
                self.tell({"WARNING"}, unknown, disturbed.note)
                return
        missed.store(ob, errors.items())
        if self.clear_goals and (kept := goals.remove(ob, range(len(ob.dqik.goals)))):
            self.tell({"WARNING"}, *kept)
        ob.update_tag(refresh={"TIME"})  # this object only: others may have unkeyed edits
        context.view_layer.update()
        misses = missed.summary(scene, ob)
        for note in reading.rig.unseen:
            self.tell({"WARNING"}, note)
        done = [Note("Baked {}, {}", counted(len(frames), Code.ONE_FRAME, Code.FRAMES),
                     counted(count, Code.ONE_KEY, Code.KEYS)), *([misses] if misses else [])]
        if in_strips and _hides_strips(ob, frames, scene):
            done.append(Note("before and after them the keys hide the strips of the NLA: bake all frames that are to "
                             "be seen"))
        self.tell({"INFO"}, *done)
        last_report.remember(ob, done, misses is None)

    def _bones(self, context: bpy.types.Context, ob: bpy.types.Object) -> frozenset[int] | None:
        """The bones to key; None for all solved bones."""
        if not self.only_selected:
            return None
        return frozenset(ob.pose.bones.find(bone.name) for bone in selection.selected_bones(context, ob))


def _are_in_strips(ob: bpy.types.Object, solved: Sequence[bool]) -> bool:
    """Whether strips of the NLA move bones that are `solved`."""
    bones = [bone for bone, is_solved in zip(ob.pose.bones, solved, strict=True) if is_solved]
    found = keyable.of_curves(ob, [curves.bone_path(bone.name, rotation.PATHS[bone.rotation_mode]) for bone in bones])
    return found is not None and found.code == Code.MOVED_BY_NLA


def _hides_strips(ob: bpy.types.Object, frames: Sequence[int], scene: bpy.types.Scene) -> bool:
    """Whether the action that was baked into counts on frames that play and were not baked."""
    data, (first, last) = ob.animation_data, scene_state.shown_range(scene)
    if data.action_extrapolation != "HOLD":
        first, last = max(first, data.action.frame_range[0]), min(last, data.action.frame_range[1])
    return first < frames[0] or last > frames[-1]


def _errors(
    inputs: Sequence[FrameInput | None], frames: Sequence[int], batches: Sequence[tuple[int, Batch]], lags: set[int]
) -> Iterator[tuple[int, tuple[GoalError, ...]]]:
    """Each solved frame with the errors of its goals, but for those whose limbs are left to keys.

    lags : as of `bake.Solving`.
    """
    for first, batch in batches:
        for k, errors in enumerate(zip(batch.position_errors, batch.rotation_errors, strict=True)):
            solved = inputs[first + k]
            if solved is not None:
                acting = {binding.number for binding in solved.rig.goals} - solved.led
                yield frames[first + k], goal_errors(solved.rig, solved.prepared, *errors, first + k in lags, acting)


def _measure(
    context: bpy.types.Context, ob: bpy.types.Object, frames: Sequence[int], errors: dict[int, tuple[GoalError, ...]]
) -> None:
    """Replace the errors of baked frames by those of the pose that Blender shows, where these can be measured."""
    reading = Session(stored=False)
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for frame in frames:
            found = offline.shown_errors(reading, ob, visits.visit(frame))
            shown = {error.goal: error for error in found}
            errors[frame] = tuple(shown.get(error.goal, error)._replace(lags=error.lags) for error in errors[frame])
