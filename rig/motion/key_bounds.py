# SPDX-License-Identifier: GPL-3.0-or-later
"""The bounds of a motion whose keys are reduced: where keys must be, and where Blender shows it beyond the bounds."""

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.motion import Keys, Part, find_contacts, fine_time, runs, total_errors
from ..clip import rest_legs
from ..clip.clip import Clip
from ..controls import goals
from ..figure.character import Character
from .reduce_keys import Bounds, Dense, key_of

PASSES = 16
CALIBRATIONS = 2  # of these, that lower limits at all times
FIRST = 0.985  # of the bounds, since what keys do is not quite in proportion to them
_LESS = 0.9  # of what would just do
_LEAST = 0.02  # the smallest limit
_FEW, _MOST = 0.4, 0.9  # smaller errors, and the times at which errors are largest, do not count for what is usual


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
