# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys one stretch of a long motion after the other, so that it takes no more memory at once than one of them.

All bones and controls have the motion's own values where stretches meet, so no stretch has to know the others.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import bpy
import numpy as np

from ...solvers.motion import Keys, Part, fit_keys, key_limits, total_errors
from . import key_effects
from .reduce_keys import Bounds, Dense, DenseMotion

_LENGTH = 300  # frames of a stretch, at most

_Steps = Generator[float, None, None]
PASSES = 16
CALIBRATIONS = 2  # of these, that lower limits at all times
FIRST = 0.985  # of the bounds, since what keys do is not quite in proportion to them


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
            shares = np.concatenate([off / most for off, most in zip(self.off, bounds, strict=True)], 1)
            seen = limits, shares, self._expected(parts)
            if number >= CALIBRATIONS or not key_limits.calibrate(*seen):
                key_limits.tighten(*seen)
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
            errors = self._expected(parts)[1::2]
            self.off[0][1::2] = bounds.angle * errors[:, :bones]
            self.off[1][1::2] = bounds.distance * errors[:, bones:]
            self.unseen = self.unseen[self.unseen % 2 == 0]

    def _expected(self, parts: Sequence[Part]) -> np.ndarray:
        """How far (H, N + E) the keys should lead bones and ends, as a share of the bounds."""
        errors = total_errors(self._times, parts, self.keys, self._whole().shape[1])
        return np.linalg.norm(errors[:, : self._limits.shape[1]], axis=-1)

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
    every = zip(*(one.keys for one in stretches), strict=True)
    return [Keys.joined([one.at.start for one in stretches], keys) for keys in every]


def _changed(before: Sequence[Keys], after: Sequence[Keys], times: np.ndarray) -> np.ndarray:
    """The times, by their numbers, at which keys show other values than others do."""
    changed = np.zeros(len(times), dtype=bool)
    for one, other in zip(before, after, strict=True):
        if one is not other:
            changed |= (one.shown(times) != other.shown(times)).any(1)
    return np.flatnonzero(changed)
