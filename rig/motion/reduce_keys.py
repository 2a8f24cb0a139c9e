# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys: a dense motion of bones and of their controls becomes few keys, within bounds that Blender checks."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import Keys, find_contacts, fine_time, runs
from ...solvers.rest import LIMBS
from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.places import Owner, bone_of
from ..clip import rest_legs
from ..clip.clip import Clip
from ..controls import goals
from ..figure.character import Character
from ..keys import keyable, splits

SCALE = 0.002  # by which a scale may differ
_STILL = 0.002  # of the bounds: what changes by less does not move
_LIMBS = {part: limb for limb, parts in LIMBS.items() for part in parts} | {
    "finger": "fingers", "spine": "trunk", "neck": "trunk", "head": "trunk",
}  # fmt: skip

_Limb = tuple[str, ...]


class Bounds(NamedTuple):
    """How far the motion may differ: joints and rotations of targets [rad], places of effectors (world units)."""

    angle: float
    distance: float


class DenseMotion(NamedTuple):
    """At H times: rotations (H, N, 4) of all bones from rest, and world places (H, E, 3) of ends, as float32.

    heads : (H, N, 3), where the bones are in the world. spaces : (H, D, 4, 4), the axes of the
    channels of owners of keys, and where these are.
    """

    turns: np.ndarray
    places: np.ndarray
    heads: np.ndarray
    spaces: np.ndarray

    def rows(self, at: np.ndarray | slice) -> "DenseMotion":
        """The motion at some of its times, as float64."""
        return DenseMotion(*(one[at].astype(float) for one in self))

    def doubled(self) -> "DenseMotion":
        """The motion also half way between its times, as the mean of both."""
        found = list[np.ndarray]()
        for one in self:
            whole = np.empty((2 * len(one) - 1, *one.shape[1:]), dtype=one.dtype)
            whole[::2], whole[1::2] = one, 0.5 * (one[1:] + one[:-1])
            found.append(whole)
        return DenseMotion(*found)

    def differs(self, other: "DenseMotion") -> tuple[np.ndarray, np.ndarray]:
        """By how much from another: angles (H, N) and distances (H, E)."""
        return quaternion.angle(self.turns, other.turns), np.linalg.norm(self.places - other.places, axis=-1)


@dataclass
class Dense:
    """An object or a bone with dense keys: its curves by path and index, and their values (H, C) at the times.

    moving : the columns (M,) of properties of which a channel moves; others stay, with two keys. must : times that get
    keys in any case. limb : what has the same number is keyed on the same frames; None if each channel has its own.
    """

    ob: bpy.types.Object
    bone: str
    curves: dict[tuple[str, int], int] = field(default_factory=dict)  # to the column of the values
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    moving: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    must: set[int] = field(default_factory=set)
    limb: int | None = None
    keys: int = 0

    @property
    def owner(self) -> Owner:
        """The object, or its bone."""
        return self.ob.pose.bones[self.bone] if self.bone else self.ob

    def turned(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """What makes rotations (n, 4) of values (n, C); None if none of these turn it."""
        mode = self.owner.rotation_mode
        path = rotation.PATHS[mode]
        turning = {index: self.curves[path, index] for index in range(4) if (path, index) in self.curves}
        if not turning:
            return None
        usual = np.resize(np.array(getattr(self.owner, path), dtype=float), 4)
        channels, own = list(turning), list(turning.values())

        def rotations(values: np.ndarray) -> np.ndarray:
            whole = np.empty((len(values), 4))
            whole[:] = usual
            whole[:, channels] = values[:, own]
            return rotation.to_quaternion(mode, whole)

        return rotations


def is_plain(ob: bpy.types.Object) -> bool:
    """Whether bones are where their keys put them, and nothing else moves them.

    Then what keys do between two frames follows from what they do on these, and frames alone need to be looked at.
    """
    data, bones = ob.animation_data, () if ob.pose is None else ob.pose.bones
    moved = ob.dqik.live or len(ob.constraints) or any(len(bone.constraints) for bone in bones)
    return not (moved or (data is not None and (len(data.drivers) or len(data.nla_tracks))))


def key_of(owner: Owner) -> tuple[str, str]:
    """The names of an object and of its bone, which is empty for the object itself."""
    return owner.id_data.name, bone_of(owner)


def dense(ob: bpy.types.Object, names: Iterable[str], times: np.ndarray) -> Generator[float, None, list[Dense]]:
    """What has transform keys in an object's action, of the object itself (an empty name) and some of its bones.

    Yields the progress from 0 to 1.
    """
    found = {name: Dense(ob, name) for name in names}
    columns: dict[str, list[np.ndarray]] = {name: [] for name in found}
    every = curves.fcurves(ob.animation_data)
    for number, curve in enumerate(every, 1):
        name, path = animation.split_path(ob, curve.data_path)
        if name in found and path in scene_state.TRANSFORM and not curve.mute:
            keys = curves.Keys.of(curve, ("co", "handle_left", "handle_right", "interpolation"))
            count = int(((keys.times >= times[0] - 0.01) & (keys.times <= times[-1] + 0.01)).sum())
            if count >= 2:
                one = found[name]
                one.curves[path, curve.array_index] = len(columns[name])
                one.keys += count
                columns[name].append(_values(curve, keys, times))
        yield number / len(every)
    for name, one in found.items():
        one.values = np.array(columns[name]).T
    return [one for one in found.values() if one.curves]


def find_moving(every: Iterable[Dense], bounds: Bounds) -> None:
    """Find out what moves: a property none of whose channels does so by more than it may tremble stays."""
    for one in every:
        size = max(abs(scale) for scale in one.ob.matrix_world.to_scale())
        most = {"location": bounds.distance / max(size, 1e-12), "scale": SCALE}
        sizes = np.ptp(one.values, axis=0) / _STILL
        paths = {path for (path, _), column in one.curves.items() if sizes[column] > most.get(path, bounds.angle)}
        one.moving = np.array(sorted(column for (path, _), column in one.curves.items() if path in paths), dtype=int)


def _values(curve: bpy.types.FCurve, keys: curves.Keys, times: np.ndarray) -> np.ndarray:
    """The values of a curve at times."""
    ends = np.concatenate([keys.columns[name][:, 1] for name in ("co", "handle_left", "handle_right")])
    if not len(curve.modifiers) and (ends == ends[0]).all():
        return np.full(len(times), float(ends[0]))
    is_linear = (keys.columns["interpolation"] == curves.LINEAR).all() and not len(curve.modifiers)
    if is_linear and keys.times[0] <= times[0] and times[-1] <= keys.times[-1]:
        return np.interp(times, *keys.columns["co"].T.astype(float))
    return np.array([curve.evaluate(time) for time in times.tolist()])


def untwist(every: Sequence[Dense], times: np.ndarray) -> None:
    """Give keys of quaternions that follow each other frame by frame between the times one sign, and the values too.

    times : those of frames and of the halves between them. The rotations on all frames stay; a bone that spun between
    two frames, from a key to one of the opposite sign, does not any more.
    """
    frame = times[:3][-1] - times[0]
    for one in every:
        found = {index: curve for index in range(4) if (
            curve := curves.find(one.ob, curves.path_of(one.owner, "rotation_quaternion"), index))}  # fmt: skip
        own = [curves.Keys.of(curve, ("co",)) for curve in found.values()]
        if len(own) < 4 or any(not np.array_equal(keys.times, own[0].times) for keys in own):
            continue
        q, at = np.stack([keys.columns["co"][:, 1] for keys in own], -1), own[0].times
        inside = (at >= times[0] - 0.01) & (at <= times[-1] + 0.01)
        short = np.diff(at) < frame + 0.01
        flips = ((q[1:] * q[:-1]).sum(-1) < 0.0) & inside[1:] & inside[:-1] & short
        if not flips.any():
            continue
        stays = np.append(False, ~short) & np.append(flips, False), np.append(~short, False) & np.append(False, flips)
        signs = np.cumprod(np.append(1.0, np.where(flips, -1.0, 1.0)))  # of keys behind the times too
        for index, curve in found.items():
            keys = curves.Keys.of(curve)
            for name in ("co", "handle_left", "handle_right"):
                keys.columns[name][:, 1] *= signs
            _stay(keys, *stays)
            keys.into(curve)
            column = one.curves["rotation_quaternion", index]
            one.values[:, column] = [curve.evaluate(time) for time in times.tolist()]


def _stay(keys: curves.Keys, before: np.ndarray, after: np.ndarray) -> None:
    """Let the handles before or after some keys (K,) stay, and with them the frames of the longer ways there.

    Automatic ones would move with a neighbour's new sign. On the other side these keys get straight ones.
    """
    third = np.diff(keys.columns["co"], axis=0) / 3.0
    keys.columns["handle_right"][:-1][before[:-1]] = (keys.columns["co"][:-1] + third)[before[:-1]]
    keys.columns["handle_left"][1:][after[1:]] = (keys.columns["co"][1:] - third)[after[1:]]
    for name in ("handle_left_type", "handle_right_type"):
        keys.columns[name][before | after] = curves.FREE


def check(every: Sequence[Dense]) -> None:
    """Raise `Refused` if fewer keys, in copies of the actions, would not be seen or would change other frames."""
    for ob in dict.fromkeys(one.ob for one in every):
        own = (one for one in every if one.ob == ob)
        paths = [curves.path_of(one.owner, path) for one in own for path, _ in one.curves]
        keyable.check(ob, paths, copied=True)


def write(every: Sequence[Dense], keys: Sequence[Keys], times: np.ndarray, actions: dict[str, bpy.types.Action]) -> int:
    """Write keys into the actions of their objects, by the objects' names; the number of keys."""
    count = 0
    for name in dict.fromkeys(one.ob.name for one in every):
        writer = curves.Writer(bpy.data.objects[name], actions[name])
        for one, own in zip(every, keys, strict=True):
            if one.ob.name != name:
                continue
            for path in {path for path, _ in one.curves}:
                splits.keep_outside(one.owner, path, times[::2])  # whole frames
            moving = {int(column): number for number, column in enumerate(one.moving)}
            for (path, index), column in one.curves.items():
                at, values, slopes = times[[0, -1]], np.repeat(one.values[:1, column], 2), None
                if column in moving:
                    number = moving[column]
                    rows = np.flatnonzero(own.kept[:, number])
                    at, values = times[own.samples[rows]], own.values[rows, number]
                    slopes = own.slopes[rows, :, number]
                whole, group = curves.path_of(one.owner, path), curves.group_of(one.owner, path)
                writer.write(whole, index, group, at, values, slopes)
                count += len(values)
        writer.finish()
    return count


def motion(
    ob: bpy.types.Object, ends: Sequence[str], clips: Mapping[str, Clip], every: Sequence[Dense] = ()
) -> DenseMotion:
    """The motion in clips, by the names of objects, and the spaces of owners of keys. ends : bones, by their tails."""
    shown, bones = clips[ob.name], ob.pose.bones
    places = np.empty((len(shown.world), len(ends), 3), dtype=np.float32)
    spaces = np.empty((len(shown.world), len(every), 4, 4), dtype=np.float32)
    for column, name in enumerate(ends):
        places[:, column] = shown.points(bones.find(name), (0.0, bones[name].length, 0.0))
    for column, one in enumerate(every):
        spaces[:, column] = clips[one.ob.name].channel_space(one.ob.pose.bones.find(one.bone) if one.bone else None)
    return DenseMotion(shown.quaternions, places, shown.bones()[..., :3, 3].astype(np.float32), spaces)


def effectors(ob: bpy.types.Object, names: Iterable[str]) -> list[str]:
    """The bones whose places the distance bounds: those of goals, else the ends of all chains that some bones move."""
    own = [goal.bone for goal in goals.counting(ob)]
    if own:
        return list(dict.fromkeys(own))
    moving = set(names)
    return [bone.name for bone in ob.pose.bones
            if not bone.children and any(one.name in moving for one in (bone, *bone.parent_recursive))]  # fmt: skip


def key_stances(ob: bpy.types.Object, every: Sequence[Dense], shown: Clip, step: int, rate: float) -> None:
    """Have the bones and the controls of feet keyed where these begin and end to stand.

    shown : of which every `step`th time is a frame. rate : frames a second.
    """
    character, names = Character.of(ob), ob.pose.bones.keys()
    legs = rest_legs.of(ob, character)
    if legs is None:
        return
    points, hips = rest_legs.marks(character.armature, legs, lambda bone: shown.bones(bone)[::step])
    on_ground = fine_time.on_frames(find_contacts(points, hips, rate, rest_legs.length(ob, legs)), rate)
    for leg, stands in zip(legs, np.moveaxis(on_ground, 1, 0), strict=True):
        frames = {frame for point in stands.T for begin, end in runs(point) for frame in (begin, end - 1)}
        own = [names[bone] for bone in leg.bones]
        led = [goal for goal in goals.counting(ob) if goal.bone == own[-1]]
        owners = {key_of(target) for target in goals.target_owners(led)} | {(ob.name, name) for name in own}
        for one in every:
            if (one.ob.name, one.bone) in owners:
                one.must = {2 * frame for frame in frames}


def number_limbs(ob: bpy.types.Object, every: Sequence[Dense]) -> None:
    """Give everything that has dense keys the number of its limb.

    Limbs are arms, legs, the fingers of a hand, and spine, neck and head as one. A bone without a role goes with the
    one above if that has no other child, so tails and strands of hair are limbs too. A control goes with the bones that
    its goals lead.
    """
    bones = _of_bones(ob)
    led = dict[tuple[str, str], set[_Limb]]()
    for goal in goals.counting(ob):
        for target in goals.target_owners([goal]):
            led.setdefault(key_of(target), set()).add(bones[goal.bone])
    numbers = dict[_Limb, int]()
    for one in every:
        key = one.ob.name, one.bone
        limb: _Limb = bones.get(one.bone, key) if one.ob == ob else key
        if len(led.get(key, ())) == 1:
            limb = next(iter(led[key]))
        one.limb = numbers.setdefault(limb, len(numbers))


def _of_bones(ob: bpy.types.Object) -> dict[str, _Limb]:
    """The limb of each bone."""
    names, found = ob.pose.bones.keys(), dict[str, _Limb]()
    roles = {names[bone]: role for bone, role in Character.of(ob).figure.all_roles.items() if role.name != "twist"}
    for bone in sorted(ob.pose.bones, key=lambda bone: len(bone.parent_recursive)):
        role, above = roles.get(bone.name), bone.parent
        if role is not None:
            found[bone.name] = _LIMBS.get(role.name, role.name), role.side
        elif above is not None and len(above.children) == 1:
            found[bone.name] = found[above.name]
        else:
            found[bone.name] = bone.name, "only"
    return found
