# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants the targets of goals over a range of frames, by keys."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...solvers.algebra import quaternion
from ..blender import scene_state
from ..blender.armature import Armature
from ..blender.places import owner_of, world_matrix
from ..figure import foot, roles
from ..frame import aside
from ..notes import Code, Note, Refused
from ..setup import foot_roll, goals
from . import keys, planting

FADE, SHORTEST = 0.125, 0.08  # seconds: the usual fade, and the shortest time that counts as standing
SPEED = 0.2  # of the figure's size in a second: a foot or a hand that is slower stands
HEIGHT = 0.05  # of the figure's size: a foot that is higher above its lowest place does not stand
_LOOK = 300  # frames in which the ends of a standing foot's range are looked for, to both sides
_MOVES = 1e-5  # a space whose matrix changes more moves: a target that stands in the world gets a key a frame
_UP = Vector((0.0, 0.0, 1.0))


class Planted(NamedTuple):
    """Of a goal that was planted: its number, and the first and the last frame."""

    goal: int
    first: int
    last: int


class _Way(NamedTuple):
    """World places (F, 3) and turns (F, 4) of a target on frames from `first` on, and what (F, 4, 4) it is posed in."""

    first: int
    places: np.ndarray
    turns: np.ndarray
    spaces: np.ndarray


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
    fade = fade or max(round(FADE * _rate(scene)), 1)
    feet = {number: foot_of(ob, ob.dqik.goals[number]) for number in numbers}
    around = (now - _LOOK, now + _LOOK) if span is None else span
    if span is None:
        first, last = scene_state.shown_range(scene)
        around = max(around[0], min(first, now)), min(around[1], max(last, now))
    window = range(around[0] - fade, around[1] + fade + 1)
    with aside.session(ob), scene_state.restored(scene, context.view_layer, ob) as visits:
        ways = _read(ob, numbers, window, visits, context)
        done = [_span(ob, number, ways[number], feet[number], span, fade, now) for number in numbers]
        wanted: dict[int, dict[int, goals.Place]] = {}
        owners = {one.goal: _owner(ob.dqik.goals[one.goal]) for one in done}
        kept: dict[int, set[int]] = {}
        for one in done:
            kept[one.goal] = _plan(ob, one, ways[one.goal], feet[one.goal] if rolls else None, fade, now,
                                   _key_times(owners[one.goal]), wanted)  # fmt: skip
        put, left = list[tuple[float, int, scene_state.Transform]](), set[str]()
        for frame in sorted(wanted):
            visits.visit(frame)
            left |= set(goals.put_targets(ob, wanted[frame], context.evaluated_depsgraph_get()))
            put += [(scene.frame_current_final, number, scene_state.transform(owners[number]))
                    for number in wanted[frame]]  # fmt: skip
        done = [one for one in done if ob.dqik.goals[one.goal].name not in left]
        for one in done:
            _clear(owners[one.goal], one.first - fade, one.last + fade, kept[one.goal])
        keyed = {one.goal for one in done}
        for time, number, values in put:
            if number in keyed:
                scene_state.set_transform(owners[number], values)
                goals.key_target(owners[number], time)
        for one in done:
            _ease(owners[one.goal], one.first - fade, one.last + fade)
    scene_state.visit(scene, scene.frame_current + scene.frame_subframe)
    return done, sorted(left)


def _rate(scene: bpy.types.Scene) -> float:
    """Frames a second."""
    return scene.render.fps / scene.render.fps_base


# -- reading -----------------------------------------------------------------------------------------------------------


def _owner(goal: bpy.types.PropertyGroup) -> keys.Owner:
    return owner_of(goal.target, goal.subtarget) or goal.target


def _read(
    ob: bpy.types.Object, numbers: Sequence[int], frames: range, visits: scene_state.Visits, context: bpy.types.Context
) -> dict[int, _Way]:
    """The ways of the goals' targets over some frames."""
    found: dict[int, list[tuple[Matrix, Matrix]]] = {number: [] for number in numbers}
    for frame in frames:
        visits.visit(frame)
        depsgraph = context.evaluated_depsgraph_get()
        for number in numbers:
            goal = ob.dqik.goals[number]
            matrix = world_matrix(goal.target, goal.subtarget, depsgraph).copy()
            found[number].append((matrix, _space(owner_of(goal.target.evaluated_get(depsgraph), goal.subtarget))))
    return {
        number: _Way(
            frames[0], np.array([matrix.translation[:] for matrix, _ in both]),
            np.array([matrix.to_quaternion()[:] for matrix, _ in both]), np.array([space for _, space in both]),
        ) for number, both in found.items()
    }  # fmt: skip


def _space(owner: keys.Owner) -> Matrix:
    """The world matrix of what an evaluated object or bone is posed in."""
    ob = owner.id_data
    if owner == ob:
        return ob.matrix_world @ ob.matrix_basis.inverted_safe()
    return ob.matrix_world @ owner.parent.matrix if owner.parent else ob.matrix_world.copy()


def foot_of(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> planting.Foot | None:
    """What the foot of a goal rolls about, in its target's frame; None for a goal of no foot, or that turns nothing."""
    if not goal.use_rotation or goal.rotation_follows > 0.0:
        return None
    armature = Armature(ob)
    bone = armature.index[goal.bone]
    found = foot.of(armature, roles.of(ob, armature), bone)
    if found is None:
        return None
    found = foot_roll.seen_from_goal(armature, found, bone, goal.use_tail)
    scale = max(map(abs, ob.matrix_world.to_scale()))
    return planting.Foot(scale * found.ball, scale * found.heel)


def _span(
    ob: bpy.types.Object, number: int, way: _Way, foot: planting.Foot | None, span: tuple[int, int] | None,
    fade: int, now: int,
) -> Planted:  # fmt: skip
    """The frames over which to plant a goal: the span, or those around the frame `now` on which its target stands."""
    if span is not None:
        return Planted(number, *span)
    size = Armature(ob).size * max(map(abs, ob.matrix_world.to_scale()))
    points = way.places[None]
    if foot is not None:
        points = np.stack([way.places + quaternion.rotate(way.turns, point) for point in foot])
    rate = _rate(bpy.context.scene)
    speed = SPEED * size / rate
    height = HEIGHT * size if foot is not None else np.inf
    points, first = points[:, fade : points.shape[1] - fade], way.first + fade
    found = planting.still(points, now - first, speed, height, np.array(_UP))
    if found is None or found[1] - found[0] < SHORTEST * rate:
        raise Refused(Note(Code.DOES_NOT_STAND, repr(ob.dqik.goals[number].name)))
    return Planted(number, first + found[0], first + found[1])


# -- keys --------------------------------------------------------------------------------------------------------------


def _plan(
    ob: bpy.types.Object, one: Planted, way: _Way, foot: planting.Foot | None, fade: int, now: int,
    times: Iterable[float], wanted: dict[int, dict[int, goals.Place]],
) -> set[int]:  # fmt: skip
    """Add where a goal's target has to be to `wanted`, by frame and goal; the frames that get keys.

    times : of the keys that the target has.
    """
    begin, end = one.first - way.first, one.last - way.first
    at = now - way.first if one.first <= now <= one.last else (begin + end) // 2
    up = np.array(_UP)
    if foot is not None:
        at = planting.standing(way.places, way.turns, begin, end, at, foot, up)
    places, turns = planting.way(way.places, way.turns, begin, end, fade, at, foot, up)
    frames = {one.first - fade, one.first, one.last, one.last + fade}
    zone = range(one.first - fade, one.last + fade + 1)
    frames |= {round(time) for time in times if round(time) in zone and not one.first < round(time) < one.last}
    carried = np.ptp(way.spaces[begin : end + 1], axis=0).max() > _MOVES
    frames |= set(range(one.first, one.last + 1) if carried else ())
    if foot is not None:
        rolled = np.flatnonzero(planting.roll(way.turns, at, foot, up)[begin : end + 1]) + one.first
        for frame in rolled.tolist():
            frames |= {max(frame - 1, one.first), frame, min(frame + 1, one.last)}
    for frame in frames:
        row = frame - way.first
        turn = Quaternion(turns[row])
        wanted.setdefault(frame, {})[one.goal] = goals.Place(Matrix.LocRotScale(Vector(places[row]), turn, None), None)
    return frames


def _key_times(owner: keys.Owner) -> list[float]:
    """When the place or the rotation of an object or a bone has keys."""
    return sorted({point.co.x for curve in keys.curves_of(owner) for point in curve.keyframe_points})


def _clear(owner: keys.Owner, first: int, last: int, kept: set[int]) -> None:
    """Remove the keys between two frames that get no new ones."""
    for curve in keys.curves_of(owner):
        points = curve.keyframe_points
        for number in reversed(range(len(points))):
            time = points[number].co.x
            if first < time < last and time not in kept:
                points.remove(points[number], fast=True)
        curve.update()


def _ease(owner: keys.Owner, first: int, last: int) -> None:
    """Handles between two frames that pass no key: between equal keys nothing moves."""
    for curve in keys.curves_of(owner):
        for point in curve.keyframe_points:
            if first <= point.co.x <= last:
                point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()
