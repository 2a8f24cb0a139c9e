# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys: a dense motion of bones and of their controls becomes few keys, within bounds that Blender checks."""

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.clip import Keys, Miss, few_keys
from .. import curves
from ..blender import channels, rotation, scene_state
from ..blender.places import Owner
from . import finite_motion
from .stances import Mark

_SCALE = 0.002  # by which a scale may differ
_STILL = 1e-7  # values that differ by less do not move


class Bounds(NamedTuple):
    """How far the motion may differ: joints and rotations of targets [rad], places of effectors (world units)."""

    angle: float
    distance: float


class Motion(NamedTuple):
    """At H times: rotations (H, N, 4) of all bones from rest, and world places (H, E, 3) of marks."""

    turns: np.ndarray
    places: np.ndarray

    def differs(self, other: "Motion") -> tuple[np.ndarray, np.ndarray]:
        """By how much from another: angles (H, N) and distances (H, E)."""
        return _angles(self.turns, other.turns), np.linalg.norm(self.places - other.places, axis=-1)


def _angles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The angles (...) between rotations (..., 4)."""
    sines = np.linalg.norm(quaternion.relative(one, other)[..., 1:], axis=-1)
    return 2.0 * np.arcsin(np.minimum(sines, 1.0))


@dataclass
class Dense:
    """An object or a bone with dense keys: its curves by path and index, and their values (H, C) at the times.

    shares : (2, H) of the bounds that its own keys may use: of the angle, and of the distance. must : times that get
    keys in any case. whole : all channels are keyed together.
    """

    ob: bpy.types.Object
    bone: str
    curves: dict[tuple[str, int], int] = field(default_factory=dict)  # to the column of the values
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    shares: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))
    must: set[int] = field(default_factory=set)
    whole: bool = False
    keys: int = 0

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
        one.values, one.shares = np.array(columns[name]).T, np.ones((2, len(times)))
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


def fitted(
    every: Sequence[Dense], before: Sequence[Keys], changed: Collection[int], times: np.ndarray, bounds: Bounds
) -> Generator[float, None, list[Keys]]:  # fmt: skip
    """Few keys of all owners; those whose numbers are not `changed` have them already."""
    found = list[Keys]()
    for number, one in enumerate(every):
        found.append(reduced(one, times, bounds) if number in changed else before[number])
        yield (number + 1) / len(every)
    return found


def reduced(one: Dense, times: np.ndarray, bounds: Bounds) -> Keys:
    """Few keys of an owner, at whole frames: every other time."""
    own = misses(one, bounds)

    def miss(at: slice, values: np.ndarray) -> np.ndarray:
        return (own(at, values) / one.shares[:, at]).max(0)

    return few_keys(times, one.values, miss, 2, one.must, one.whole)


def misses(one: Dense, bounds: Bounds) -> Miss:
    """What says how far (2, n) an owner's values are off, as shares of the angle and of the distance."""
    ob = one.ob if one.bone else one.ob.parent
    scale = 1.0 if ob is None else max(map(abs, ob.matrix_world.to_scale()))
    turned, places = _turned(one), list[tuple[list[int], float]]()
    for channel, allowed in (("location", bounds.distance / scale), ("scale", _SCALE)):
        moving = [column for (name, _), column in one.curves.items() if name == channel]
        if moving:
            places.append((moving, allowed))
    before = None if turned is None else turned(one.values)

    def measure(at: slice, values: np.ndarray) -> np.ndarray:
        found = np.zeros((2, len(values)))
        if turned is not None and before is not None:
            found[0] = _angles(before[at], turned(values)) / bounds.angle
        for moving, allowed in places:
            off = np.linalg.norm(values[:, moving] - one.values[at][:, moving], axis=-1) / allowed
            np.maximum(found[1], off, out=found[1])
        return found

    return measure


def _turned(one: Dense) -> Callable[[np.ndarray], np.ndarray] | None:
    """What makes rotations (n, 4) of an owner's values (n, C); None if none of these turn it."""
    mode = one.owner.rotation_mode
    path = rotation.PATHS[mode]
    turning = {index: one.curves[path, index] for index in range(4) if (path, index) in one.curves}
    if not turning:
        return None
    usual = np.resize(np.array(getattr(one.owner, path), dtype=float), 4)
    channels, own = list(turning), list(turning.values())

    def turned(values: np.ndarray) -> np.ndarray:
        whole = np.empty((len(values), 4))
        whole[:] = usual
        whole[:, channels] = values[:, own]
        return rotation.to_quaternion(mode, whole)

    return turned


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
                rows = [0, -1] if still else np.flatnonzero(own.kept[:, column])
                values = own.values[rows, column] if not still else np.repeat(one.values[:1, column], 2)
                slopes = None if still else own.slopes[rows, :, column]
                whole = curves.bone_path(one.bone, path) if one.bone else path
                writer.write(whole, index, one.bone or "Object Transforms", times[own.samples[rows]], values, slopes)
                count += len(values)
        writer.finish()
    return count


def read(
    context: bpy.types.Context, ob: bpy.types.Object, marks: Sequence[Mark], frames: Sequence[float],
    visits: scene_state.Visits,
) -> Generator[float, None, Motion]:  # fmt: skip
    """The motion that Blender shows on frames, which may lie between two."""
    turns, places = list[np.ndarray](), list[np.ndarray]()
    for count, frame in enumerate(frames, 1):
        visits.visit(frame)
        shown = ob.evaluated_get(context.evaluated_depsgraph_get())
        turns.append(channels.read(shown.pose.bones).quaternions())
        matrices = {name: shown.matrix_world @ shown.pose.bones[name].matrix for name in {mark.bone for mark in marks}}
        places.append(np.array([(matrices[mark.bone] @ mark.place)[:] for mark in marks]))
        yield count / len(frames)
    finite_motion.check(ob, np.array(places))
    return Motion(np.array(turns), np.array(places).reshape(len(places), -1, 3))


def effectors(ob: bpy.types.Object, names: Iterable[str]) -> list[str]:
    """The bones whose places the distance bounds: those of goals, else the ends of all chains that some bones move."""
    own = [goal.bone for goal in ob.dqik.goals if not goal.mute and goal.bone in ob.pose.bones]
    if own:
        return list(dict.fromkeys(own))
    moving = set(names)
    return [bone.name for bone in ob.pose.bones
            if not bone.children and any(one.name in moving for one in (bone, *bone.parent_recursive))]  # fmt: skip
