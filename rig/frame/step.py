# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of one armature: changes -> read -> solve -> write. Playback, edits, bakes and comparisons all take it."""

import time
from dataclasses import dataclass

import bpy
import numpy as np

from ...solvers import InvalidPose, Pose
from ..blender import channels
from ..blender.channels import Channels
from . import read as frame
from . import targets, write
from .read import FrameInput
from .report import Solved
from .session import Session
from .view import SolvedPose, View


@dataclass
class Reading:
    """What one frame's solve starts from.

    posed, now : the evaluated and the original bones' channels. start : the channels as they would be without DQIK.
    frame_input : the solver's input; None if there is nothing to solve.
    """

    posed: Channels
    now: Channels
    start: Channels
    frame_input: FrameInput | None


def read(session: Session, ob: bpy.types.Object, view: View, active: bool = True) -> Reading:
    """Bring a session up to date with an original object in a view, and read the frame.

    active : whether the goals count; if not, bones that hold an answer go back to their base pose.
    """
    evaluated = ob.evaluated_get(view.depsgraph)
    prepared, pose = session.rig, session.pose
    edited = prepared.look(ob, evaluated, view)
    pose.fit(ob, prepared.modes, edited)
    posed, now = channels.read(evaluated.pose.bones, prepared.modes), channels.read(ob.pose.bones, prepared.modes)
    if view.in_viewport:
        pose.adopt_edits(ob, now, prepared.free, view)
    facts, places, influences = targets.read(evaluated, view, prepared.facts, edited) if active else ((), [], [])
    prepared.update(evaluated, facts, pose.bones, edited, view)
    start = pose.start(ob, posed, prepared.free, view)
    rig = prepared.rig
    if rig is None:
        return Reading(posed, now, start, None)
    if ob.dqik.start_from == "REST":
        start.rotations[rig.solved_bones] = prepared.modes.at_rest(rig.solved_bones)
        start.locations[rig.bones[rig.slide_row]] = 0.0
    return Reading(posed, now, start, frame.read(evaluated, rig, start, places, influences, view))


def solve(session: Session, ob: bpy.types.Object, view: View, active: bool = True) -> "Answer":
    """Solve an armature in a view without writing the answer. Arguments as for `read`."""
    began = time.perf_counter()
    reading = read(session, ob, view, active)
    frame_input = reading.frame_input
    if frame_input is None or session.rig.refusal:
        session.report.clear(session.rig.refusal if active else "")
        session.motion.stop()
        if frame_input is not None and view.others_follow:
            _show_followers(ob, view, frame_input, frame_input.start)
        return Answer(reading, reading.start, np.zeros_like(session.pose.bones))
    follow = ob.dqik.start_from == "PREVIOUS" and view.in_viewport
    arrays = session.motion.solve(frame_input, view, follow)
    if not np.isfinite(arrays.rotations).all():
        raise InvalidPose("The bones' pose is not a number: reset it and switch Live on again")
    rig, rotations, translations = frame_input.rig, arrays.rotations[0], arrays.translations[0]
    new = write.answer(rig, rotations, translations, reading.start, frame_input.slide_scale)
    session.report.note(Solved(
        frame_input, arrays.position_errors[0].copy(), arrays.rotation_errors[0].copy(), int(arrays.iterations[0]),
        bool(arrays.converged[0]), arrays.at_limit[0].copy(), time.perf_counter() - began, new, view.scene_uid,
        view.frame, [*rig.notes, *session.rig.unseen],
    ))  # fmt: skip
    if view.others_follow:
        _show_followers(ob, view, frame_input, Pose(rotations[None], translations[None]))
    return Answer(reading, new, session.rig.solved)


def _show_followers(ob: bpy.types.Object, view: View, frame_input: FrameInput, pose: Pose) -> None:
    """Let the targets of other armatures that follow this one use its answer in the same evaluation."""
    world = frame_input.rig.skeleton.transforms(pose.rotations, pose.translations, frame_input.links)[0]
    view.solved[ob.session_uid] = SolvedPose(ob.evaluated_get(view.depsgraph), frame_input.rig, world)


@dataclass
class Answer:
    """Channels to write, and the bones (N,) bool that hold our answer afterwards."""

    reading: Reading
    channels: Channels
    bones: np.ndarray


def write_answer(session: Session, ob: bpy.types.Object, answer: Answer) -> None:
    """Write an answer to an original object; bones that are no longer solved go back to their base pose or keys."""
    pose = session.pose
    changing = pose.rows if answer.bones is pose.bones else np.flatnonzero(pose.bones | answer.bones)
    if not changing.size:
        return
    pose.occupy(ob, answer.bones, answer.reading.now)
    pose.note_written(write.apply(ob, answer.channels, changing, answer.reading.now, answer.reading.posed))
