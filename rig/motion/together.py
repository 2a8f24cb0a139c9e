# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that touch each other: their ways over the ground go together, and which of their touches are kept.

Figures of different sizes go different ways, so two that hold hands would part. Together, both ways are scaled by the
mean of their sizes, from the same point. Beside a figure that keeps its motion, the way of the other one is scaled as
that one's, and both are as far apart as the sources are, by the mean of their sizes.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from ...solvers.motion import runs
from ..clip import volumes
from ..clip.person_frames import SIDES
from ..clip.volumes import PartKey
from .retargeted_body import ScaledPlaces, Source, TouchedFigure, hip_middle

_LEVEL = np.array([1.0, 1.0, 0.0])
_TOUCHING = 0.02  # of the height: hands that are nearer to a skin touch it


class Touches(NamedTuple):
    """How many touches the sources have, how many are kept, and the largest gap left [length units]."""

    count: int
    kept: int
    gap: float


class Together(NamedTuple):
    """Where the places of a source are for a figure, and how far (F, 3) over the ground it goes further than these."""

    places: ScaledPlaces
    way: np.ndarray


def places(figures: Sequence[ScaledPlaces], stays: TouchedFigure | None = None) -> list[Together]:
    """The places of figures that go together, on the last one's ground, or each beside one that keeps its motion."""
    last = figures[-1]
    still = np.zeros_like(last.hips())
    if stays is None:
        if len(figures) == 1:
            return [Together(last, still)]
        size = float(np.mean([one.size for one in figures]))
        return [Together(_beside(one, size, last.ground - size * last.source.start), still) for one in figures]
    theirs, own = (hip_middle(one.person, one.motion) for one in stays)
    ground, found = np.median(own - stays.size * theirs, axis=0), list[Together]()
    for one in figures:
        beside, hips = _beside(one, stays.size, ground), hip_middle(one.source.person, one.source.motion)
        wanted = own + 0.5 * (one.size + stays.size) * (hips - theirs)
        found.append(Together(beside, _LEVEL * (wanted - beside.hips())))
    return found


def _beside(one: ScaledPlaces, wide: float, origin: np.ndarray) -> ScaledPlaces:
    """Places that are `wide` times as far from where the world's origin goes, (3,), over the ground."""
    ground = _LEVEL * (origin + wide * one.source.start) + (1.0 - _LEVEL) * one.ground
    return one._replace(wide=wide, ground=ground)


def touches(figures: Sequence[TouchedFigure]) -> Touches:
    """What became of the touches of hands between figures. A touch of two hands counts once."""
    gaps, kept = list[float](), 0
    for (first, figure), (second, other) in permutations(enumerate(figures), 2):
        for side in SIDES:
            found = _gaps(figure, other, side, hands=first < second)
            kept += sum(gap < _TOUCHING * figure.own.person.skin.height * figure.own.scale for gap in found)
            gaps += found
    return Touches(len(gaps), kept, max(gaps, default=0.0))


def _gaps(figure: TouchedFigure, other: TouchedFigure, side: str, hands: bool) -> list[float]:
    """How much larger the gap is at most in each touch than that of the sources, scaled. hands : those of both too."""
    parts = [key for key in other.own.person.skin.parts if key in other.source.person.skin.parts]
    parts = [key for key in parts if hands or key[0] != "hand"]
    if not parts or any(side not in one.person.skin.hands for one in figure):
        return []
    theirs, own = (np.array([_gap(one, another, side, key) for key in parts])
                   for one, another in zip(figure, other, strict=True))  # fmt: skip
    nearest, every = theirs.argmin(0), np.arange(theirs.shape[1])
    heights = [one.person.skin.height * one.scale for one in figure]
    before, after = (np.maximum(one[nearest, every], 0.0) for one in (theirs, own))
    left = np.maximum(after - heights[1] / heights[0] * before, 0.0)
    return [float(left[begin:end].max()) for begin, end in runs(before < _TOUCHING * heights[0])]


def _gap(one: Source, other: Source, side: str, key: PartKey) -> np.ndarray:
    """How far (F,) a hand is from the skin of another figure's part."""
    person, shown, scale, _ = one
    skin = person.skin
    points = volumes.carried(shown, skin.parts["hand", side].bones[0], person.armature.heads, scale, skin.hands[side])
    person, shown, scale, _ = other
    part = person.skin.parts[key]
    nodes, axes = volumes.posed(part, shown, person.armature.heads, scale)
    return volumes.seen(part, nodes, axes, scale, points).gap.min(1)
