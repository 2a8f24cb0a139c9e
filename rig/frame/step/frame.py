# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of one armature: changes -> read -> solve -> write. Playback, edits, bakes and comparisons all take it."""

import time
from dataclasses import dataclass

import bpy
import numpy as np

from ....solvers import FrameArrays
from ...blender import channels
from ...blender.channels import Channels
from ..read import own_answers, rendered, targets
from ..read import question as frame
from ..read.question import FrameInput, Reading
from ..read.targets import GoalsRead
from ..read.view import View
from . import write
from .report import Solved
from .session import Session
from .start_mode import Way
from .steady import SteadyFrames

_MORE_PASSES = 3  # where bodies that keep apart, or the natural pose, tie goals that share no bone
_STILL = 1e-7  # of the rig's size: targets that move by less stand still


def read(
    session: Session, ob: bpy.types.Object, view: View, active: bool = True, settled: bool = False
) -> Reading:  # fmt: skip
    """Bring a session up to date with an original object in a view, and read the frame.

    active : whether the goals count; if not, bones that hold an answer go back to their base pose.
    settled : as in `PoseMemory.adopt_edits`.
    """
    prepared, pose, steady = session.rig, session.pose, session.steady
    if steady is not None and active and steady.read(prepared, pose, ob, view):
        return steady.reading
    session.steady = None
    evaluated = ob.evaluated_get(view.depsgraph)
    if active and evaluated.dqik.goals.keys() != ob.dqik.goals.keys():
        ob.update_tag(refresh={"OBJECT"})  # remove(), clear() and move() on a collection cause no update in Blender
        view.evaluate()  # drivers set the goals that have their numbers now
    edited = prepared.look(ob, evaluated, view)
    if pose.written is None:
        prepared.newly_keyed.clear()  # keyed while Live was off
    pose.fit(ob, prepared.modes, edited)
    now = channels.read(ob.pose.bones, prepared.modes)
    # in the viewport the evaluated channels are the original ones, unless something animates them
    alike = prepared.unanimated and view.in_viewport and not edited
    posed = now if alike else channels.read(evaluated.pose.bones, prepared.modes)
    if view.in_viewport:
        pose.adopt_edits(ob, now, prepared, view, settled)
    of_bones = prepared.animation.bones
    goals = targets.read(evaluated, view, prepared.goals, edited, of_bones) if active else GoalsRead()
    prepared.update(ob, evaluated, goals, edited, view)
    goals = prepared.goals._replace(places=goals.places)
    pose.come_back(ob, now, posed, prepared, view)
    start, rig = pose.start(ob, posed, prepared.free, view), prepared.rig
    pose.leave_scales(prepared.animation.scaled)
    start.scales = pose.unscaled
    if rig is None:
        return Reading(posed, now, start, None)
    if (pose.bones & ~prepared.solved).any() or (prepared.follows_itself and pose.rows.size):
        now, posed = _evaluate_start(session, ob, start, now, posed, view)
        goals = goals._replace(places=targets.same(evaluated, goals.facts, view) or goals.places)
    at_rest = ob.dqik.start_from == "REST"
    if at_rest:
        solved = rig.solved_bones[prepared.solved[rig.solved_bones]]
        start.rotations[solved] = prepared.modes.at_rest(solved)
        start.locations[rig.bones[rig.slide_row]] *= ~rig.slide_free
    frame_input = frame.read(evaluated, rig, start, goals)
    frame_input.shaping = prepared.natural.look(evaluated, rig, prepared.by_keys, edited)
    keeps_keys = ob.dqik.hold_keyed and not at_rest
    frame_input.keyed = keeps_keys and prepared.is_keyed_whole(rig.solved_bones)
    if keeps_keys and ob.dqik.own_answers:
        frame_input.own = own_answers.read(ob.dqik.own_answers)
    reading = Reading(posed, now, start, frame_input)
    if rig.plan.passes and active:
        _follow_goals(session, ob, reading, goals, view)
    if SteadyFrames.fit(prepared, reading, view):
        session.steady = SteadyFrames(prepared, pose, reading, view)
    return reading


def _evaluate_start(
    session: Session, ob: bpy.types.Object, start: Channels, now: Channels, posed: Channels, view: View
) -> tuple[Channels, Channels]:
    """Have Blender evaluate an original object's start pose instead of our last answer; the new `now` and `posed`.

    It is needed where what the solve reads depends on bones that hold our last answer. The other bones' channels in
    `start` become those that Blender evaluates then.
    """
    pose, evaluated = session.pose, ob.evaluated_get(view.depsgraph)
    if _is_borrowed(ob, view):
        view.borrowed.append(rendered.show(ob, evaluated, start, session.rig.animation))
    else:
        pose.note_written(write.apply(ob, start, pose.rows, now, posed))
    view.evaluate()
    posed = channels.read(evaluated.pose.bones, start.modes)
    start.put(posed, ~pose.bones)
    return channels.read(ob.pose.bones, start.modes), posed


def _follow_goals(
    session: Session, ob: bpy.types.Object, reading: Reading, goals: GoalsRead, view: View
) -> None:  # fmt: skip
    """Put targets that follow bones of other goals to where Blender has them once these goals are solved, in place.

    All goals are solved each time. Those that follow no other have their answers from the first time on, since they
    share no bone with the others, those that follow these from the second time on, and so on.
    """
    frame_input, evaluated = reading.frame_input, ob.evaluated_get(view.depsgraph)
    assert frame_input is not None
    rig, start, now = frame_input.rig, reading.start, reading.now.copy()
    for _ in range(rig.plan.passes + _MORE_PASSES):
        arrays = frame_input.prepared.arrays()
        frame_input.ask(arrays)
        frame_input.solve_afresh(arrays)
        new = write.answer(arrays.rotations[0], arrays.translations[0], start, frame_input)
        if _is_borrowed(ob, view):
            view.borrowed.append(rendered.show(ob, evaluated, new, session.rig.animation))
        else:
            write.apply(ob, new, rig.solved_bones, now, reading.posed)
        view.evaluate()
        reading.posed = channels.read(evaluated.pose.bones, start.modes)
        places, before = targets.same(evaluated, goals.facts, view), frame_input.targets
        if places is None:
            break
        posed = goals._replace(places=places)
        frame_input.targets = frame.targets_of(
            evaluated, rig, frame_input.prepared, posed, frame_input.links, frame_input.posed
        )
        both = zip(before[:3], frame_input.targets[:3], strict=True)
        if all(np.abs(part - new).max(initial=0.0) <= _STILL * rig.armature.size for part, new in both):
            break
    if not _is_borrowed(ob, view):
        channels.write(ob, reading.now)
        ob.update_tag(refresh={"OBJECT"})


def _is_borrowed(ob: bpy.types.Object, view: View) -> bool:
    """Whether an original object has the answer for a while only: in renders, unless it is linked.

    The bones of linked objects cannot be read and set in bulk.
    """
    return not view.in_viewport and ob.library is None


def may_show_again(session: Session) -> bool:
    """Whether an armature may show an answer before a frame is evaluated, as far as its session tells.

    Not where keys set the bones, where what a frame asks may depend on the answer that they hold, or where Blender
    would evaluate the armature only because of the answer.
    """
    prepared, pose = session.rig, session.pose
    if prepared.rig is None or pose.written is None or prepared.stale:
        return False
    if not (prepared.moves_itself and prepared.unanimated) or prepared.follows_itself or prepared.rig.plan.passes:
        return False
    return not (pose.bones & ~prepared.solved).any()


def show_again(session: Session, ob: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Give bones what they showed last at a scene's new frame, before Blender evaluates it, where that is known.

    A frame that asks what it asked then has its answer already, so Blender evaluates it once; any other is solved and
    evaluated again, as where nothing is known. Nothing is done where an edit of the bones was not adopted yet. The
    session is one that `may_show_again`.
    """
    prepared, pose = session.rig, session.pose
    rig, written = prepared.rig, pose.written
    assert rig is not None and written is not None
    if ob.mode == "EDIT" or ob.data.pose_position == "REST":  # such frames are not solved
        return
    shown = pose.history.shown_last((scene.session_uid, scene.frame_current_final, prepared.action))
    if shown is None and session.steady is not None and Way.of(ob, scene).whole:
        expected = session.motion.shot.expected(scene.frame_current_final)
        shown = None if expected is None else session.steady.shown(*expected)
    if shown is None or shown.modes != written.modes or channels.modes(ob.pose.bones, shown.modes) is not shown.modes:
        return
    now = channels.read(ob.pose.bones, shown.modes)
    if not now.alike(written, pose.rows):
        return
    new = now.copy()
    new.rotations[pose.rows], new.scales = shown.rotations[pose.rows], shown.scales
    new.locations.reshape(-1)[rig.slid] = shown.locations.take(rig.slid)  # other locations are the animator's
    pose.note_written(write.apply(ob, new, pose.rows, now, now))
    if session.steady is not None:
        session.steady.note(now)


def solve(session: Session, ob: bpy.types.Object, view: View, active: bool = True) -> "FrameAnswer":
    """Solve an armature in a view without writing the answer. Arguments as for `read`."""
    began = time.perf_counter()
    answer = _solve(session, ob, view, active, began)
    return answer if session.pose.unsettled is None else _settle(session, ob, view, active, began, answer)


def _settle(
    session: Session, ob: bpy.types.Object, view: View, active: bool, began: float, answer: "FrameAnswer"
) -> "FrameAnswer":
    """Solve a frame to which a pose was changed before: by an edit, or by a tool that puts back what it found.

    answer : without the change. If the change has made the pose that the frame shows without it, or showed before the
    last edits, it was put back. So were these edits, where the frame shows the pose with the state from before them.
    """
    pose, free, edited = session.pose, session.rig.free, session.pose.unsettled
    assert edited is not None

    def solved(settled: bool) -> FrameAnswer:
        session.steady = None
        pose.ask_again(edited)
        return _solve(session, ob, view, active, began, settled)

    if answer.channels is None:
        return answer
    shows, present = pose.shows(answer.channels, edited, free, view), pose.state(ob)
    found, followed = pose.earlier(ob, view, session.rig.action, edited, free)
    if shows and (found is None or found.equals(present)):
        return answer
    if found is not None:
        pose.go_back(ob, found)
        tried = solved(settled=False)
        # where the frames before decide, the same state may have shown both
        followed |= session.motion.followed and found.equals(present)
        if followed or (tried.channels is not None and pose.shows(tried.channels, edited, free, view)):
            pose.note_gone_back(ob, edited, view)
            return tried
        if not answer.bones.any():  # nothing is solved here, so the holds alone can come back
            present = present._replace(holds=found.holds)
        pose.go_back(ob, present)
    return solved(settled=not shows)


def _solve(
    session: Session, ob: bpy.types.Object, view: View, active: bool, began: float, settled: bool = False
) -> "FrameAnswer":
    """Solve an armature in a view. began : the time. Other arguments as for `read`."""
    reading = read(session, ob, view, active, settled)
    frame_input = reading.frame_input
    if frame_input is None:
        if view.in_viewport:
            session.report.clear(session.rig.refusal if active else None)
        session.motion.stop()
        return FrameAnswer(reading, reading.start, np.zeros_like(session.pose.bones))
    way = Way.of(ob, view.depsgraph.scene)
    if way.whole:
        session.motion.shot.cover(view.depsgraph.scene.original, ob.dqik.smooth)
    if view.in_viewport:
        arrays = session.motion.solve(frame_input, view, way)
    else:
        arrays = session.motion.solve_aside(frame_input, view, way)
    rotations, translations = arrays.rotations[0], arrays.translations[0]
    new = None
    if not reading.is_steady:
        new = write.answer(rotations, translations, reading.start, frame_input)
    if view.in_viewport:
        _note(session, view, frame_input, arrays, reading.now if new is None else new, began)
    return FrameAnswer(reading, new, session.rig.solved)


def _note(
    session: Session, view: View, frame_input: FrameInput, arrays: FrameArrays, written: Channels, began: float
) -> None:
    """Have the report made from a solve, on request."""
    notes = [*frame_input.rig.plan.notes, *session.rig.natural.notes, *session.rig.unseen, *session.rig.unkeyed,
             *session.pose.notes, *session.motion.shot.notes]  # fmt: skip
    session.report.note(Solved(
        frame_input.rig, frame_input.prepared, arrays, time.perf_counter() - began, written, session.rig.goals,
        view.scene_uid, view.frame, notes, session.motion.lags,
    ))  # fmt: skip


@dataclass
class FrameAnswer:
    """Channels to write, None after a steady frame, and the bones (N,) bool that hold our answer afterwards."""

    reading: Reading
    channels: Channels | None
    bones: np.ndarray


def write_answer(session: Session, ob: bpy.types.Object, answer: FrameAnswer, view: View) -> None:
    """Write an answer to an original object; bones that are no longer solved go back to their base pose or keys.

    In a render, the object has it until the frame has been rendered.
    """
    pose, steady, reading = session.pose, session.steady, answer.reading
    shown = view, session.rig.action, view.in_viewport and session.motion.followed
    if answer.channels is None:
        if steady is not None:
            motion = session.motion
            pose.note_shown(steady.write(ob, pose.rows, motion.arrays, motion.known), *shown)
        return
    changing = np.flatnonzero(pose.bones | answer.bones)
    if not changing.size:
        if view.in_viewport and pose.written is not None:
            pose.note_shown(reading.now, *shown)
        return
    if _is_borrowed(ob, view):
        evaluated = ob.evaluated_get(view.depsgraph)
        view.borrowed.append(rendered.show(ob, evaluated, answer.channels, session.rig.animation))
        return
    pose.occupy(ob, answer.bones, reading.now)
    pose.note_shown(write.apply(ob, answer.channels, changing, reading.now, reading.posed), *shown)
    if steady is not None:
        steady.note(reading.now)
