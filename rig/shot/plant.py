# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants the targets of goals over a range of frames, by keys; the controls of feet that roll."""

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...solvers.algebra import quaternion
from ...solvers.motion import planting
from .. import curves
from ..blender import scene_state
from ..blender.dependencies import acts
from ..blender.places import Owner, owner_of, world_matrix
from ..controls import goals, selection
from ..curves import Keys
from ..figure import character, foot
from ..figure.character import Character
from ..figure.foot import Foot
from ..frame import offline
from ..frame.sessions import sessions
from ..frame.step.report import GoalError
from ..keys import attachments, keyable, keying, splits
from ..notes import Note, Refused
from ..skeleton import foot_roll
from . import keys

FADE, SHORTEST = 0.125, 0.08  # seconds: the usual fade, and the shortest time that counts as standing
SPEED = 0.2  # of the figure's size in a second: a foot or a hand that is slower stands
HEIGHT = 0.05  # of the figure's size: a foot that is higher above its lowest place does not stand
_LOOK = 300  # frames in which the ends of a standing foot's range are looked for, to both sides
_MOVES = 1e-5  # a space whose matrix changes more moves: a target that stands in the world gets a key a frame
_UP = Vector((0.0, 0.0, 1.0))
NEAR = 1e-3  # frames between keys that count as one


class Planted(NamedTuple):
    """Of a goal that was planted: its number, and the first and the last frame."""

    goal: int
    first: int
    last: int


class Miss(NamedTuple):
    """A frame on which a goal is missed, and by how much."""

    frame: int
    error: GoalError


class _Way(NamedTuple):
    """World places (F, 3) and turns (F, 4) of a target on frames from `first` on, and what (F, 4, 4) it is posed in.

    rolls : (F,) of its foot, by its own number [rad]. times : (F,) of keys on these frames.
    """

    first: int
    places: np.ndarray
    turns: np.ndarray
    spaces: np.ndarray
    rolls: np.ndarray
    times: np.ndarray


class _Plan(NamedTuple):
    """Where a target has to be on some frames, and the roll of its foot at some times, which is empty if it stays.

    ends : the times between which other keys go. times : of the places.
    """

    owner: keys.Owner
    ends: tuple[float, float]
    places: dict[int, goals.Place]
    times: list[float]
    rolls: dict[float, float]

    def is_end(self, time: float) -> bool:
        """Whether a time is one of the ends, where curves stay as they were."""
        return any(abs(time - end) < NEAR for end in self.ends)

    def changed(self) -> list[tuple[bpy.types.FCurve, list[float]]]:
        """The curves that it changes, each with the times at which it gets keys."""
        rolled = curves.of_property(self.owner, foot_roll.ROLL) if self.rolls else []
        placed = keys.curves_of(self.owner)
        return [*((curve, self.times) for curve in placed), *((curve, [*self.rolls]) for curve in rolled)]


def plant(
    ob: bpy.types.Object, numbers: Sequence[int], span: tuple[int, int] | None, fade: int, rolls: bool,
    context: bpy.types.Context,
) -> tuple[list[Planted], list[str]]:  # fmt: skip
    """Plant the targets of goals over a span of frames; what was planted, and the goals whose targets cannot be moved.

    span : the first and the last frame; None finds for each target the frames around the present one on which it is
    slow, and a foot low. fade : in frames; 0 takes the usual one. rolls : feet roll about ball and heel as they did,
    else they keep their turn. Raises `Refused` if a target does not stand on the present frame, and
    `scene_state.Disturbed`.
    """
    scene, now = context.scene, context.scene.frame_current
    fade = fade or max(round(FADE * scene_state.rate(scene)), 1)
    feet = {number: foot_of(ob, ob.dqik.goals[number]) for number in numbers}
    around = (now - _LOOK, now + _LOOK) if span is None else span
    if span is None:
        first, last = scene_state.shown_range(scene)
        around = max(around[0], min(first, now)), min(around[1], max(last, now))
    window = range(around[0] - fade, around[1] + fade + 1)
    with offline.session(ob), scene_state.restored(scene, context.view_layer, ob) as visits:
        ways = _read(ob, numbers, window, visits, context)
        done = [_span(ob, number, ways[number], feet[number], span, fade, now) for number in numbers]
        plans = {one.goal: _plan(ob, one, ways[one.goal], feet[one.goal] if rolls else None, fade, now) for one in done}
        put, left = list[tuple[float, int, scene_state.Transform]](), set[str]()
        for frame in sorted({frame for own in plans.values() for frame in own.places}):
            depsgraph = visits.visit(frame)
            wanted = {number: own.places[frame] for number, own in plans.items() if frame in own.places}
            left |= set(goals.put_targets(ob, wanted, depsgraph))
            time = scene.frame_current_final
            put += [(time, number, scene_state.transform(plans[number].owner)) for number in wanted]
        done = [one for one in done if ob.dqik.goals[one.goal].name not in left]
        for one in done:
            _key(plans[one.goal], [(time, values) for time, number, values in put if number == one.goal])
        sessions.of(ob).rig.touch()  # the keys of an empty's roll are not among the armature's own
    scene_state.look_again(scene)
    return done, sorted(left)


def worst_misses(ob: bpy.types.Object, done: Sequence[Planted], context: bpy.types.Context) -> list[Miss]:
    """Where Live misses the planted goals the most, over the frames of each; none of one that it meets."""
    shown = dict[int, Sequence[GoalError]]()
    with scene_state.restored(context.scene, context.view_layer, ob) as visits:
        for frame in sorted({frame for one in done for frame in range(one.first, one.last + 1)}):
            visits.visit(frame)
            shown[frame] = sessions.status(ob).goals
    found = list[Miss]()
    for one in done:
        missed = [Miss(frame, error) for frame in range(one.first, one.last + 1)
                  for error in shown[frame] if error.goal == one.goal and error.missed]  # fmt: skip
        found += [max(missed, key=lambda miss: miss.error.distance)] if missed else []
    return found


# -- reading -----------------------------------------------------------------------------------------------------------


def _read(
    ob: bpy.types.Object, numbers: Sequence[int], frames: range, visits: scene_state.Visits, context: bpy.types.Context
) -> dict[int, _Way]:
    """The ways of the goals' targets over some frames."""
    found: dict[int, list[tuple[Matrix, Matrix, float]]] = {number: [] for number in numbers}
    times = list[float]()
    for frame in frames:
        depsgraph = visits.visit(frame)
        times.append(context.scene.frame_current_final)
        for number in numbers:
            goal = ob.dqik.goals[number]
            matrix = world_matrix(goal.target, goal.subtarget, depsgraph).copy()
            owner = owner_of(goal.target.evaluated_get(depsgraph), goal.subtarget)
            roll = owner.dqik_roll if foot_roll.may_roll(goal) else 0.0
            found[number].append((matrix, _space(owner, depsgraph), roll))
    return {
        number: _Way(
            frames[0], np.array([matrix.translation[:] for matrix, _, _ in own]),
            np.array([matrix.to_quaternion()[:] for matrix, _, _ in own]), np.array([space for _, space, _ in own]),
            np.array([roll for _, _, roll in own]), np.array(times),
        ) for number, own in found.items()
    }  # fmt: skip


def _space(owner: keys.Owner, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """The world matrix of what an evaluated object or bone is posed in, as attachments carry it."""
    ob = owner.id_data
    if owner == ob:
        return ob.matrix_world @ ob.matrix_basis.inverted_safe()
    above = ob.matrix_world @ owner.parent.matrix if owner.parent else ob.matrix_world.copy()
    free = attachments.before(ob.original, owner.name, Matrix(), depsgraph)
    return above if free is None else free.inverted_safe() @ above


def foot_of(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> planting.Foot | None:
    """What the foot of a goal rolls about, in its target's frame; None for a goal of no foot, or that turns nothing."""
    found = _rolling_foot(ob, goal)
    return None if found is None else planting.Foot(found.ball, found.heel)


def _span(
    ob: bpy.types.Object, number: int, way: _Way, foot: planting.Foot | None, span: tuple[int, int] | None,
    fade: int, now: int,
) -> Planted:  # fmt: skip
    """The frames over which to plant a goal: the span, or those around the frame `now` on which its target stands."""
    if span is not None:
        return Planted(number, *span)
    size = character.scaled_size(ob)
    points = way.places[None]
    if foot is not None:
        places, turns = way.places, way.turns
        if way.rolls.any():
            motions = _rolled(_rolling_foot(ob, ob.dqik.goals[number]), way.rolls)
            places, turns = planting.rolled(places, turns, motions)
        points = np.stack([places + quaternion.rotate(turns, point) for point in foot])
    rate = scene_state.rate(bpy.context.scene)
    speed = SPEED * size / rate
    height = HEIGHT * size if foot is not None else np.inf
    points, first = points[:, fade : points.shape[1] - fade], way.first + fade
    found = planting.still(points, now - first, speed, height, np.array(_UP))
    if found is None or found[1] - found[0] < SHORTEST * rate:
        raise Refused(Note("Goal {}: its target moves on this frame: go to a frame on which it stands, or give a range",
                           repr(ob.dqik.goals[number].name)))
    return Planted(number, first + found[0], first + found[1])


# -- keys --------------------------------------------------------------------------------------------------------------


def _plan(ob: bpy.types.Object, one: Planted, way: _Way, foot: planting.Foot | None, fade: int, now: int) -> _Plan:
    """Where a goal's target has to be, on the frames that get keys, and how its foot rolls meanwhile by its number."""
    goal, up = ob.dqik.goals[one.goal], np.array(_UP)
    begin, end = one.first - way.first, one.last - way.first
    at = now - way.first if one.first <= now <= one.last else (begin + end) // 2
    rolling, motions, angles = None, None, np.zeros(len(way.places))
    if foot is not None:
        at = planting.standing(way.places, way.turns, begin, end, at, foot, up)
        angles = planting.roll(way.turns, at, foot, up)
        rolls = bool(angles[begin : end + 1].any())
        rolling = _rolls_by_number(ob, goal, one.first - fade, one.last + fade) if rolls else None
        motions = (planting.over_ball_and_heel(angles, way.turns[at], foot, up) if rolling is None
                   else _rolled(rolling, angles))  # fmt: skip
    rolled = (np.flatnonzero(angles[begin : end + 1]) + one.first).tolist()
    places, turns = planting.way(way.places, way.turns, begin, end, fade, at, motions)
    if rolling is not None:  # what the foot rolls in the range is in its number, which fades as the target does
        angles = angles[np.clip(np.arange(len(angles)), begin, end)] * planting.shares(len(angles), begin, end, fade)
        places, turns = planting.unrolled(places, turns, _rolled(rolling, angles))
        way = way._replace(rolls=way.rolls + angles)
    edges = {one.first - fade, one.first, one.last, one.last + fade}
    zone = range(one.first - fade, one.last + fade + 1)
    owner = owner_of(goal.target, goal.subtarget) or goal.target
    keyed = (round(time) for time in curves.times(keys.curves_of(owner)))
    edges |= {frame for frame in keyed if frame in zone and not one.first < frame < one.last}
    turning = {near for frame in rolled for near in range(max(frame - 1, one.first), min(frame + 1, one.last) + 1)}
    carried = np.ptp(way.spaces[begin : end + 1], axis=0).max() > _MOVES
    frames = edges | set(range(one.first, one.last + 1) if carried else ()) | (turning if rolling is None else set())
    def time(frame: int) -> float:
        return float(way.times[frame - way.first])

    return _Plan(
        owner, (time(zone[0]), time(zone[-1])),
        {frame: goals.Place(_matrix(places[frame - way.first], turns[frame - way.first]), None) for frame in frames},
        [time(frame) for frame in frames],
        {} if rolling is None else {time(frame): float(way.rolls[frame - way.first]) for frame in edges | turning},
    )  # fmt: skip


def _matrix(place: np.ndarray, turn: np.ndarray) -> Matrix:
    return Matrix.LocRotScale(Vector(place), Quaternion(turn), None)


def _key(plan: _Plan, put: Sequence[tuple[float, scene_state.Transform]]) -> None:
    """Key a target where it was put at times, and its roll, in place of what other keys are between the ends."""
    owner, (first, last) = plan.owner, plan.ends
    had = {channel for channel in keys.channels_of(owner) if keys.has_curve(owner, channel)}
    had_rolls = bool(curves.of_property(owner, foot_roll.ROLL))
    for curve, times in plan.changed():
        for end in plan.ends:
            splits.split(curve, end)
        found = Keys.of(curve)
        is_new = (np.abs(found.times[:, None] - np.array(times)) < NEAR).any(1)
        stays = is_new | (found.times < first + NEAR) | (found.times > last - NEAR)
        found.chosen(stays).into(curve, stays=True)
    for time, values in put:
        scene_state.set_transform(owner, values)
        for channel in keys.channels_of(owner):
            if not (plan.is_end(time) and channel in had):
                keying.key_path(owner, channel, time)
    for time, roll in plan.rolls.items():
        if not (plan.is_end(time) and had_rolls):
            owner.dqik_roll = roll
            keying.key_path(owner, foot_roll.ROLL, time)
    for curve, _ in plan.changed():  # handles within that pass no key: between equal keys nothing moves
        for point in curve.keyframe_points:
            if first + NEAR < point.co.x < last - NEAR:
                point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()


def _rolling_foot(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> Foot | None:
    """What the foot of a goal rolls about, in its target's frame and the world's units; None if it cannot roll."""
    if not foot_roll.may_roll(goal):
        return None
    own = Character.of(ob)
    bone = own.armature.index[goal.bone]
    found = foot.of(ob, own, bone)
    if found is None:
        return None
    found = foot_roll.seen_from_goal(own.armature, found, bone, goal.use_tail)
    scale = max(map(abs, ob.matrix_world.to_scale()))
    heel, ball, tip, joint = (scale * point for point in found[:4])
    return Foot(heel, ball, tip, joint, found.axis, found.toes)


def _rolls_by_number(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, first: int, last: int) -> Foot | None:
    """As `foot_of`, if the number of the foot's control can roll it between two frames; else None.

    It cannot where it cannot be keyed, nor where the toes would not stay flat by it: they are animated themselves, or
    nothing solves them.
    """
    found, held = _rolling_foot(ob, goal), foot_roll.owner(goal)
    if found is None or held is None:
        return None
    if keyable.problem(held.id_data, [foot_roll.path_of(held)]) is not None:
        return None
    return found if found.toes < 0 or _stay_flat(ob, goal, ob.pose.bones[found.toes], first, last) else None


def _rolled(rolling: Foot, rolls: Sequence[float]) -> planting.Motions:
    """How a foot moves by the number, on F frames."""
    moved = [foot.rolled(rolling, float(roll)) for roll in rolls]
    return planting.Motions(np.array([one.offset for one in moved]), np.array([one.turn for one in moved]))


def _stay_flat(
    ob: bpy.types.Object, goal: bpy.types.PropertyGroup, toes: bpy.types.PoseBone, first: int, last: int
) -> bool:  # fmt: skip
    """Whether toes that a roll bends stay flat between two frames: nothing animates them, and a solve turns them."""
    if not keys.stays(toes, first, last):
        return False
    for other in ob.dqik.goals:
        if other.mute or other.bone not in ob.pose.bones:
            continue
        if other.bone == toes.name:
            held: Any = None if other.target is None else owner_of(other.target, other.subtarget)
            return held is not None and other.kind == "REACH" and other.use_rotation and keys.stays(held, first, last)
        if toes in ob.pose.bones[other.bone].parent_recursive:
            return False
    solved = not toes.dqik_lock and toes.bone.use_inherit_rotation and not any(acts(one) for one in toes.constraints)
    return solved and toes.parent is not None and toes.parent.name == goal.bone


def rolling_control(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> Owner | None:
    """The control of a foot that rolls by it: the goal's target; None for another goal."""
    held = foot_roll.owner(goal) if foot_roll.may_roll(goal) else None
    if held is None:
        return None
    rig = sessions.of(ob).rig.rig  # whose figure is known
    figure = Character.of(ob).figure if rig is None else rig.plan.character.figure
    role = figure.role(ob.pose.bones.find(goal.bone))
    return held if role is not None and role.name == "foot" else None


def selected_feet(
    ob: bpy.types.Object, names: Container[str], objects: Container[bpy.types.Object]
) -> list[tuple[bpy.types.PropertyGroup, Owner]]:  # fmt: skip
    """The goals of selected feet, with their controls. names : of bones. objects : that are selected."""
    chosen = [goal for goal in ob.dqik.goals if selection.holds_goal(ob, goal, names, objects)]
    both = ((goal, rolling_control(ob, goal)) for goal in chosen)
    return [(goal, held) for goal, held in both if held is not None]
