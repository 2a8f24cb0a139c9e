# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys: a dense motion of bones and of their controls becomes few keys, within bounds that Blender checks."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.clip import Keys, Miss, few_keys
from .. import curves
from ..blender import channels, rotation, scene_state
from ..blender.places import Owner
from ..setup import goals

PASSES = 8
_SHARE, _LESS = 0.8, 0.7  # of the bounds that each owner may use at first; of that, after the whole misses a bound
_SCALE = 0.002  # by which a scale may differ
_STILL = 1e-7  # values that differ by less do not move


class Bounds(NamedTuple):
    """How far the motion may differ: joints and rotations of targets [rad], places of effectors (world units)."""

    angle: float
    distance: float


class Motion(NamedTuple):
    """At H times: rotations (H, N, 4) of all bones from rest, and world places (H, E, 3) of the effectors."""

    turns: np.ndarray
    places: np.ndarray

    def differs(self, other: "Motion") -> tuple[np.ndarray, np.ndarray]:
        """By how much from another: angles (N,) and distances (E,), the largest of all times."""
        return _angles(self.turns, other.turns).max(0), np.linalg.norm(self.places - other.places, axis=-1).max(0)


def _angles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The angles (...) between rotations (..., 4)."""
    return np.linalg.norm(quaternion.log(quaternion.relative(one, other)), axis=-1)


@dataclass
class Dense:
    """An object or a bone with dense keys: its curves by path and index, and their values (H, C) at the times.

    share : of the bounds that its own keys may use.
    """

    ob: bpy.types.Object
    bone: str
    curves: dict[tuple[str, int], int] = field(default_factory=dict)  # to the column of the values
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    keys: int = 0
    share: float = _SHARE

    @property
    def owner(self) -> Owner:
        """The object, or its bone."""
        return self.ob.pose.bones[self.bone] if self.bone else self.ob


def dense(ob: bpy.types.Object, names: Iterable[str], times: np.ndarray) -> list[Dense]:
    """What has transform keys in an object's action, of the object itself (an empty name) and some of its bones."""
    found = {name: Dense(ob, name) for name in names}
    columns: dict[str, list[np.ndarray]] = {name: [] for name in found}
    for curve in curves.fcurves(ob.animation_data):
        name, path = _owner(curve.data_path)
        if name not in found or path not in scene_state.TRANSFORM or curve.mute:
            continue
        inside = [key for key in curve.keyframe_points if times[0] - 0.01 <= key.co.x <= times[-1] + 0.01]
        if len(inside) < 2:
            continue
        one = found[name]
        one.curves[path, curve.array_index] = len(columns[name])
        one.keys += len(inside)
        columns[name].append(np.array([curve.evaluate(time) for time in times.tolist()]))
    for name, one in found.items():
        one.values = np.array(columns[name]).T
        _untwist(one)
    return [one for one in found.values() if one.curves]


def _owner(path: str) -> tuple[str, str]:
    """The bone, or an empty name, and the property of a data path."""
    if not path.startswith('pose.bones["'):
        return "", path
    name, _, rest = path.removeprefix('pose.bones["').rpartition('"].')
    return bpy.utils.unescape_identifier(name), rest


def _untwist(one: Dense) -> None:
    """Let quaternions of equal rotations that have opposite signs follow each other without a jump."""
    own = [column for (path, _), column in one.curves.items() if path == "rotation_quaternion"]
    if len(own) < 4:
        return
    q = one.values[:, own]
    signs = np.cumprod(np.where((q[1:] * q[:-1]).sum(-1) < 0.0, -1.0, 1.0))
    one.values[1:, own] = q[1:] * signs[:, None]


def reduced(one: Dense, times: np.ndarray, bounds: Bounds) -> Keys:
    """Few keys of an owner, at whole frames: every other time."""
    ob = one.ob if one.bone else one.ob.parent
    scale = 1.0 if ob is None else max(map(abs, ob.matrix_world.to_scale()))
    return few_keys(times, one.values, _miss(one, bounds, scale), step=2)


def _miss(one: Dense, bounds: Bounds, scale: float) -> Miss:
    """Scale : world units in one of its locations."""
    path = rotation.PATHS[one.owner.rotation_mode]
    measures: list[Callable[[slice, np.ndarray], np.ndarray]] = []
    turning = [one.curves.get((path, index)) for index in range(rotation.PATH_SIZES[path])]
    if any(column is not None for column in turning):
        mode, usual = one.owner.rotation_mode, np.array(getattr(one.owner, path))

        def turned(values: np.ndarray) -> np.ndarray:
            whole = np.tile(np.resize(usual, 4).astype(float), (len(values), 1))
            for index, column in enumerate(turning):
                if column is not None:
                    whole[:, index] = values[:, column]
            return rotation.to_quaternion(mode, whole)

        own = turned(one.values)
        measures.append(lambda at, values: _angles(own[at], turned(values)) / (one.share * bounds.angle))
    for channel, allowed in (("location", bounds.distance / scale), ("scale", _SCALE)):
        moving = [column for (name, _), column in one.curves.items() if name == channel]
        if moving:
            measures.append(lambda at, values, moving=moving, allowed=allowed: np.linalg.norm(
                values[:, moving] - one.values[at][:, moving], axis=-1) / (one.share * allowed))  # fmt: skip
    return lambda at, values: np.max([np.zeros(len(values)), *(measure(at, values) for measure in measures)], axis=0)


def write(every: Sequence[Dense], keys: Sequence[Keys], times: np.ndarray, actions: dict[str, bpy.types.Action]) -> int:
    """Write keys into the actions of their objects, by the objects' names; the number of keys."""
    count = 0
    for name in dict.fromkeys(one.ob.name for one in every):
        writer = curves.Writer(bpy.data.objects[name], actions[name])
        for one, own in zip(every, keys, strict=True):
            if one.ob.name != name:
                continue
            for (path, index), column in one.curves.items():
                still = np.ptp(one.values[:, column]) < _STILL
                rows = [0, -1] if still else slice(None)
                values = own.values[rows, column] if not still else np.repeat(one.values[:1, column], 2)
                slopes = None if still else own.slopes[:, :, column]
                whole = curves.bone_path(one.bone, path) if one.bone else path
                writer.write(whole, index, one.bone or "Object Transforms", times[own.samples[rows]], values, slopes)
                count += len(values)
        writer.finish()
    return count


def read(
    context: bpy.types.Context, ob: bpy.types.Object, effectors: Sequence[str], frames: Sequence[float],
    visits: scene_state.Visits,
) -> Generator[float, None, Motion]:  # fmt: skip
    """The motion that Blender shows on frames, which may lie between two."""
    turns, places = list[np.ndarray](), list[np.ndarray]()
    for count, frame in enumerate(frames, 1):
        visits.visit(frame)
        shown = ob.evaluated_get(context.evaluated_depsgraph_get())
        turns.append(channels.read(shown.pose.bones).quaternions())
        places.append(np.array([(shown.matrix_world @ shown.pose.bones[name].tail)[:] for name in effectors]))
        yield count / len(frames)
    return Motion(np.array(turns), np.array(places).reshape(len(places), -1, 3))


def effectors(ob: bpy.types.Object, names: Iterable[str]) -> list[str]:
    """The bones whose places the distance bounds: those of goals, else the ends of all chains that some bones move."""
    own = [goal.bone for goal in ob.dqik.goals if not goal.mute and goal.bone in ob.pose.bones]
    if own:
        return list(dict.fromkeys(own))
    moving = set(names)
    return [bone.name for bone in ob.pose.bones
            if not bone.children and any(one.name in moving for one in (bone, *bone.parent_recursive))]  # fmt: skip


def tighten(ob: bpy.types.Object, every: Sequence[Dense], ends: Sequence[str], misses: tuple[np.ndarray, np.ndarray],
            bounds: Bounds) -> list[Dense]:  # fmt: skip
    """Allow less to all that may have led joints or effectors beyond the bounds; these, none if all is within."""
    angles, distances = misses
    guilty = set[tuple[str, str]]()
    for bone in np.flatnonzero(angles > bounds.angle).tolist():
        guilty |= _above(ob, ob.pose.bones[bone].name)
    for number in np.flatnonzero(distances > bounds.distance).tolist():
        guilty |= _above(ob, ends[number])
    if guilty:
        for goal in ob.dqik.goals:
            if not goal.mute and (ob.name, goal.bone) in guilty:
                guilty |= {(target.id_data.name, target.name if target != target.id_data else "")
                           for target in goals.target_owners([goal])}  # fmt: skip
    found = [one for one in every if (one.ob.name, one.bone) in guilty]
    for one in found:
        one.share *= _LESS
    return found


def _above(ob: bpy.types.Object, name: str) -> set[tuple[str, str]]:
    """A bone, those that it hangs on, and those that hang on it and have goals."""
    bone = ob.pose.bones[name]
    goal_bones = {goal.bone for goal in ob.dqik.goals}
    below = (one for one in bone.children_recursive if one.name in goal_bones)
    return {(ob.name, one.name) for one in (bone, *bone.parent_recursive, *below)} | {(ob.name, "")}

