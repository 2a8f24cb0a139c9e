# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys one stretch of a long motion after the other, so that it takes no more memory at once than one of them.

All bones and controls have the motion's own values where stretches meet, so no stretch has to know the others. The
bounds are read here too: where keys must be, and where Blender shows the motion beyond what was allowed.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.motion import Keys, Part, find_contacts, fine_time, fit_keys, runs, total_errors
from ..clip import rest_legs
from ..clip.clip import Clip
from ..controls import goals
from ..figure.character import Character
from ..figure.parts import LIMBS
from . import key_effects
from .reduce_keys import Bounds, Dense, DenseMotion, key_of

_LENGTH = 300  # frames of a stretch, at most

_Steps = Generator[float, None, None]
PASSES = 16
CALIBRATIONS = 2  # of these, that lower limits at all times
FIRST = 0.985  # of the bounds, since what keys do is not quite in proportion to them
_LESS = 0.9  # of what would just do
_LEAST = 0.02  # the smallest limit
_FEW, _MOST = 0.4, 0.9  # smaller errors, and the times at which errors are largest, do not count for what is usual
_LIMBS = {part: limb for limb, parts in LIMBS.items() for part in parts} | {
    "finger": "fingers", "spine": "trunk", "neck": "trunk", "head": "trunk",
}  # fmt: skip

_Limb = tuple[str, ...]


@dataclass(frozen=True)
class DenseFigure:
    """What is reduced: the armature, everything dense, the bounded ends, the motion at the times (H,), and bounds.

    is_plain : as of the function, so that it is looked at on frames only, which are every other time.
    """

    ob: bpy.types.Object
    every: Sequence[Dense]
    ends: Sequence[str]
    times: np.ndarray
    motion: DenseMotion
    size: float
    bounds: Bounds
    is_plain: bool


class Stretch:
    """Some samples of a figure's motion: its keys, its limits, and how far Blender shows it from the motion.

    at : the samples. keys : of all parts, from the stretch's first sample on. unseen : (n,), the samples, counted from
    the first one, at which the keys have changed since Blender showed them.
    """

    def __init__(self, figure: DenseFigure, begin: int, end: int) -> None:
        self.at, count = slice(begin, end + 1), end + 1 - begin
        widths = len(figure.ob.pose.bones), len(figure.ends)
        self.keys, self.unseen = list[Keys](), np.arange(count)
        self.off = tuple(np.zeros((count, width), dtype=np.float32) for width in widths)
        self._limits = np.full((count, sum(widths)), FIRST, dtype=np.float32)
        self._figure, self._times, self._passes = figure, figure.times[self.at], 0

    def fit(self) -> _Steps:
        """Find keys; yields the progress from 0 to 1."""
        parts = self._parts()
        self.keys = yield from fit_keys(self._times, parts, self._whole(), 2)
        self._expect(parts)

    def rows(self) -> list[int]:
        """The `unseen` samples, counted from the motion's first one."""
        return (self.unseen + self.at.start).tolist()

    def worst(self) -> tuple[float, float]:
        """The largest angle and distance by which Blender shows it from the motion."""
        angles, distances = self.off
        return float(angles.max(initial=0.0)), float(distances.max(initial=0.0))

    def see(self, shown: DenseMotion) -> None:
        """Compare with the motion what Blender shows at the `unseen` samples."""
        before = self._figure.motion.rows(np.array(self.rows(), dtype=int))
        for off, new in zip(self.off, before.differs(shown), strict=True):
            off[self.unseen] = new
        self.unseen = self.unseen[:0]

    def improve(self) -> _Steps:
        """Find other keys where what Blender shows is beyond the bounds; yields the progress from 0 to 1."""
        bounds = self._figure.bounds
        while self._passes < PASSES and (np.array(self.worst()) > bounds).any():
            parts, limits, number = self._parts(), self._whole(), self._passes
            self._passes += 1
            seen = Seen(self._times, parts, self.keys, limits, self.off, bounds)
            if number >= CALIBRATIONS or not calibrate(seen):
                tighten(seen)
            new = yield from fit_keys(self._times, parts, limits, 2)
            self._limits[:] = limits[:, : self._limits.shape[1]]
            self.unseen, self.keys = _changed(self.keys, new, self._times), new
            self._expect(parts)
            if len(self.unseen):  # else the keys are the same, and get less room once more
                return

    def _expect(self, parts: Sequence[Part]) -> None:
        """Of a plain figure, take what is expected between frames for what Blender shows."""
        if self._figure.is_plain:
            bones, bounds = self.off[0].shape[1], self._figure.bounds
            errors = np.linalg.norm(total_errors(self._times, parts, self.keys, self._whole().shape[1]), axis=-1)[1::2]
            self.off[0][1::2] = bounds.angle * errors[:, :bones]
            self.off[1][1::2] = bounds.distance * errors[:, bones : self._limits.shape[1]]
            self.unseen = self.unseen[self.unseen % 2 == 0]

    def _parts(self) -> list[Part]:
        """The parts of the motion. They take much memory, so they are worked out anew for each use."""
        figure = self._figure
        inside = range(self.at.stop)[self.at]
        every = [replace(one, values=one.values[self.at], must={key - inside[0] for key in one.must if key in inside})
                 for one in figure.every]  # fmt: skip
        motion = figure.motion.rows(self.at)
        return key_effects.parts(figure.ob, every, figure.ends, motion, figure.size, figure.bounds)

    def _whole(self) -> np.ndarray:
        """The limits of all vectors, those of single parts too."""
        figure = self._figure
        count = key_effects.count(figure.ob, figure.ends, figure.every)
        whole = np.full((len(self._times), count), FIRST)
        whole[:, : self._limits.shape[1]] = self._limits
        return whole


def split(figure: DenseFigure) -> list[Stretch]:
    """The stretches of a figure's motion, of equal lengths; each begins with the last sample of the one before."""
    frames = (len(figure.times) - 1) // 2
    meets = 2 * np.linspace(0, frames, max(-(-frames // _LENGTH), 1) + 1).round().astype(int)
    return [Stretch(figure, begin, end) for begin, end in pairwise(meets.tolist())]


def joined(stretches: Sequence[Stretch]) -> list[Keys]:
    """The keys of all stretches as one, of each part."""
    return [_joined([(one.at.start, one.keys[part]) for one in stretches]) for part in range(len(stretches[0].keys))]


def _joined(every: Sequence[tuple[int, Keys]]) -> Keys:
    """Keys of one part, each with the sample at which it begins: where they meet there is one key."""
    begin, whole = every[0]
    whole = whole._replace(samples=whole.samples + begin)
    for begin, keys in every[1:]:
        slopes = np.concatenate([whole.slopes, keys.slopes[1:]])
        slopes[len(whole.samples) - 1, 1] = keys.slopes[0, 1]
        whole = Keys(np.concatenate([whole.samples, keys.samples[1:] + begin]),
                     np.concatenate([whole.values, keys.values[1:]]), slopes,
                     np.concatenate([whole.kept, keys.kept[1:]]))  # fmt: skip
    return whole


def _changed(before: Sequence[Keys], after: Sequence[Keys], times: np.ndarray) -> np.ndarray:
    """The times, by their numbers, at which keys show other values than others do."""
    changed = np.zeros(len(times), dtype=bool)
    for one, other in zip(before, after, strict=True):
        if one is not other:
            changed |= (one.shown(times) != other.shown(times)).any(1)
    return np.flatnonzero(changed)


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


class Seen(NamedTuple):
    """What Blender shows of keys: the parts of a motion, their keys, the limits (H, V) of these, and how far it is off.

    off : angles (H, N) of all bones and distances (H, E) of the ends, as `DenseMotion.differs` has them.
    """

    times: np.ndarray
    parts: Sequence[Part]
    keys: Sequence[Keys]
    limits: np.ndarray
    off: tuple[np.ndarray, ...]
    bounds: Bounds

    def shares(self) -> np.ndarray:
        """How far (H, N + E) bones and ends are off, as a share of what is allowed."""
        return np.concatenate([self.off[0] / self.bounds.angle, self.off[1] / self.bounds.distance], 1)

    def expected(self) -> np.ndarray:
        """How far (H, N + E) the keys should have led these."""
        count = self.off[0].shape[1] + self.off[1].shape[1]
        errors = total_errors(self.times, self.parts, self.keys, self.limits.shape[1])
        return np.linalg.norm(errors[:, :count], axis=-1)


def calibrate(seen: Seen) -> bool:
    """Lower the limits of bones and ends that are often further off than expected; whether there are any."""
    shares = seen.shares()
    ratios = np.quantile(shares / np.maximum(seen.expected(), _FEW), _MOST, axis=0)
    is_off = (shares.max(0) > 1.0) & (ratios > 1.0)
    seen.limits[:, : shares.shape[1]] /= np.where(is_off, ratios, 1.0)
    return bool(is_off.any())


def tighten(seen: Seen) -> None:
    """Lower the limits where bones or ends are beyond the bounds."""
    shares = seen.shares()
    limits, around = seen.limits[:, : shares.shape[1]], _around(shares, 1)
    new = np.minimum(np.maximum(_LESS * seen.expected() / np.maximum(around, 1.0), _LEAST), limits)
    limits[around > 1.0] = new[around > 1.0]


def _around(values: np.ndarray, steps: int) -> np.ndarray:
    """The largest of values (H, ...) within some steps."""
    padded = np.pad(values, ((steps, steps), (0, 0)))
    return np.max([padded[step : step + len(values)] for step in range(2 * steps + 1)], axis=0)


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
