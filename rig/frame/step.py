# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of one armature: changes -> read -> solve -> write. Playback, edits, bakes and comparisons all take it."""

import time
from contextlib import suppress
from dataclasses import dataclass

import bpy
import numpy as np

from ...solvers import FrameArrays, InvalidPose, Pose
from ..blender import channels
from ..blender.channels import Channels
from . import read as frame
from . import targets, write
from .read import FrameInput
from .report import Solved
from .session import Session
from .steady import SteadyFrames
from .view import SolvedPose, View


@dataclass
class Reading:
    """What one frame's solve starts from.

    posed, now : the evaluated and the original bones' channels. start : the channels as they would be without DQIK.
    frame_input : the solver's input; None if there is nothing to solve. leaving : the pose of the bones that hold an
    answer and are not solved any more; None if there are none.
    """

    posed: Channels
    now: Channels
    start: Channels
    frame_input: FrameInput | None
    leaving: SolvedPose | None


def read(session: Session, ob: bpy.types.Object, view: View, active: bool = True) -> Reading:
    """Bring a session up to date with an original object in a view, and read the frame.

    active : whether the goals count; if not, bones that hold an answer go back to their base pose.
    """
    evaluated = ob.evaluated_get(view.depsgraph)
    prepared, pose = session.rig, session.pose
    edited = prepared.look(ob, evaluated, view)
    pose.fit(ob, prepared.modes, edited)
    now = channels.read(ob.pose.bones, prepared.modes)
    # in the viewport the evaluated channels are the original ones, unless something animates them
    alike = prepared.unanimated and view.in_viewport and not edited
    posed = now if alike else channels.read(evaluated.pose.bones, prepared.modes)
    if view.in_viewport:
        pose.adopt_edits(ob, now, prepared.free, view)
    facts, places, influences = targets.read(evaluated, view, prepared.facts, edited) if active else ((), [], [])
    prepared.update(evaluated, facts, influences, edited, view)
    start = pose.start(ob, posed, prepared.free, view)
    leaving = None if pose.bones is prepared.solved else _leaving(evaluated, pose.bones & ~prepared.solved, start)
    rig = prepared.rig
    if rig is None:
        return Reading(posed, now, start, None, leaving)
    if ob.dqik.start_from == "REST":
        start.rotations[rig.solved_bones] = prepared.modes.at_rest(rig.solved_bones)
        start.locations[rig.bones[rig.slide_row]] = 0.0
    frame_input = frame.read(evaluated, rig, start, places, prepared.influences, view, leaving)
    return Reading(posed, now, start, frame_input, leaving)


def _leaving(ob: bpy.types.Object, leaving: np.ndarray, start: Channels) -> SolvedPose | None:
    """The pose of bones (N,) bool of an evaluated object that go back to `start`; None if there are none."""
    rows = np.flatnonzero(leaving).tolist()
    bones = [(row, ob.pose.bones[row]) for row in rows]
    bases = {
        bone.name: start.matrix(row, bone.scale)
        for row, bone in bones
        if not bone.is_in_ik_chain and all(c.mute or c.influence <= 0.0 for c in bone.constraints)
    }
    return SolvedPose(ob, {}, np.zeros((0, 8)), bases) if bases else None


def solve(session: Session, ob: bpy.types.Object, view: View, active: bool = True) -> "Answer":
    """Solve an armature in a view without writing the answer. Arguments as for `read`."""
    began = time.perf_counter()
    follow = ob.dqik.start_from == "PREVIOUS" and view.in_viewport
    steady = session.steady if active and view.fresh and view.in_viewport else None
    if steady is not None and steady.read(session.rig, ob, view, session.motion.arrays):
        with suppress(InvalidPose):  # the whole step says what is not a number
            arrays = session.motion.solve_arrays(view, follow)
            _note(session, view, steady.frame_input, arrays, session.pose.written, began)
            return Answer(None, None, session.rig.solved)
    session.steady = None
    reading = read(session, ob, view, active)
    frame_input = reading.frame_input
    if frame_input is None:
        session.report.clear(session.rig.refusal if active else "")
        session.motion.stop()
        if reading.leaving is not None and view.others_follow:
            view.solved[ob.session_uid] = reading.leaving
        return Answer(reading, reading.start, np.zeros_like(session.pose.bones))
    arrays = session.motion.solve(frame_input, view, follow)
    rig, rotations, translations = frame_input.rig, arrays.rotations[0], arrays.translations[0]
    new = write.answer(rig, rotations, translations, reading.start, frame_input.slide_scale)
    _note(session, view, frame_input, arrays, new, began)
    if view.others_follow:
        _show_followers(ob, view, reading, Pose(rotations[None], translations[None]))
    return Answer(reading, new, session.rig.solved)


def _note(
    session: Session, view: View, frame_input: FrameInput, arrays: FrameArrays, written: Channels, began: float
) -> None:
    """Have the report made from a solve, on request."""
    session.report.note(Solved(
        frame_input.rig, frame_input.prepared, arrays, time.perf_counter() - began, written, view.scene_uid, view.frame,
        [*frame_input.rig.notes, *session.rig.unseen],
    ))  # fmt: skip


def _show_followers(ob: bpy.types.Object, view: View, reading: Reading, pose: Pose) -> None:
    """Let the targets of other armatures that follow this one use its answer in the same evaluation."""
    frame_input, bases = reading.frame_input, {} if reading.leaving is None else reading.leaving.bases
    rig, evaluated = frame_input.rig, ob.evaluated_get(view.depsgraph)
    world = rig.skeleton.transforms(pose.rotations, pose.translations, frame_input.links)[0]
    view.solved[ob.session_uid] = SolvedPose(evaluated, rig.joint_of_bone, world, bases)


@dataclass
class Answer:
    """Channels to write, and the bones (N,) bool that hold our answer afterwards; for a steady frame only the bones."""

    reading: Reading | None
    channels: Channels | None
    bones: np.ndarray


def write_answer(session: Session, ob: bpy.types.Object, answer: Answer, view: View) -> None:
    """Write an answer to an original object; bones that are no longer solved go back to their base pose or keys."""
    pose = session.pose
    if answer.reading is None or answer.channels is None:
        if session.steady is not None:
            session.steady.write(session.pose, ob, session.motion.arrays)
        return
    changing = pose.rows if answer.bones is pose.bones else np.flatnonzero(pose.bones | answer.bones)
    if not changing.size:
        return
    pose.occupy(ob, answer.bones, answer.reading.now)
    pose.note_written(write.apply(ob, answer.channels, changing, answer.reading.now, answer.reading.posed))
    frame_input = answer.reading.frame_input
    if frame_input is not None and SteadyFrames.fit(session.rig, pose, frame_input, view):
        session.steady = SteadyFrames(session.rig, pose, frame_input, answer.reading.start, view)
