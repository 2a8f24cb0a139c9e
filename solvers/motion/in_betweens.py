# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses between two keys as people move: a spline through the keys, and what captured motion adds to it. Arrays only.

The spline goes through the keys' rotations and places (Catmull & Rom 1974, for keys at uneven times). What is added is
learnt: of each part a change of its velocity at both keys and a bulge between them, by kernel ridge regression
(Schoelkopf & Smola 2002) from the two keys, the one before, the one after, and their times. It is scaled by how much
the part itself moves among these keys: what stands still stays still. Keys unlike all captured ones get the spline
alone. Both are smooth through the keys, and keys stay as they are.

Learnt from captured motion: the data used in this project was obtained from mocap.cs.cmu.edu. The database was created
with funding from NSF EIA-0196217.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion

LIMB_PARTS = ("collar", "arm", "forearm", "hand", "thigh", "shin", "foot", "toes")
PARTS = ("hips", "spine", "spine", "spine", "neck", "neck", "neck", *LIMB_PARTS, *LIMB_PARTS)
"""The parts that are turned: the trunk upward, with the head as the last of the neck, then the left and right limbs."""
TRUNK_LINES = 4  # hips to chest, chest to neck, neck to head, and the head's own
LIMB_LINES = 8  # of each side, the own ones of its parts
_LINES = TRUNK_LINES + 2 * LIMB_LINES + 1  # the last one from the right to the left hip joint
_OWN = ([0, _LINES - 1], [0], [0], [0], [1, 2], [1, 2], [3], *([TRUNK_LINES + row] for row in range(2 * LIMB_LINES)))
BULGES = 5
_UP = np.array([0.0, 0.0, 1.0])
_USUAL = 0.4  # seconds between keys that count as usual
_STILL = 1e-3  # of unit directions
_OTHERS = 0.4  # of the movement of all parts counts for each
_WEIGHTS = {
    "pose": 1.7, "move": 0.9, "height": 2.0, "foot": 16.0, "step": 5.0, "missing": 0.7, "time": 2.0, "rate": 1.0,
}  # fmt: skip
_HIGHEST, _WIDEST = 0.4, 1.0  # of the leg: feet that are higher, or step further, are told as this far
_UNLIKE, _LIKE = 0.25, 0.5  # kernels of the nearest captured keys: up to which nothing learnt counts, and all of it
_LEVEL = 0.2  # a line between the hip joints that is steeper tells no direction

Weights = dict[str, np.ndarray]
"""`mean` (n,) and `project` (n, d) of inputs, `centres` (M, d), and the map of kernels to outputs, `first` (M, r) times
`last` (r, outputs)."""


class KeyPoses(NamedTuple):
    """K poses of a figure in the world, whose third axis is up.

    times : (K,) seconds. parts : (B,), the numbers in `PARTS` of its B bones, and turns : (K, B, 4) of these, each away
    from any rest. hips : (K, 3), the place between the hip joints. lines : (K, 21, 3), unit directions: of the trunk's
    four, upward, of the left and of the right limbs' parts, and from the right to the left hip joint. feet : (K, 2, 2,
    3), the places of heel and ball of both feet. leg : the length of a leg, in the unit of the places. facing : 1, or
    -1 for a figure that is mirrored, which faces the other way than its left side tells.
    """

    times: np.ndarray
    parts: np.ndarray
    turns: np.ndarray
    hips: np.ndarray
    lines: np.ndarray
    feet: np.ndarray
    leg: float
    facing: float = 1.0


class Between(NamedTuple):
    """F poses: turns (F, B, 4), and places of the hips (F, 3)."""

    turns: np.ndarray
    hips: np.ndarray


class Inputs(NamedTuple):
    """What is told of N windows: numbers (N, n), axes (N, 3, 3) of the figure in rows, and the scales (N, P + 1)."""

    told: np.ndarray
    axes: np.ndarray
    scales: np.ndarray


@cache
def load() -> Weights:
    """The weights that come with the extension."""
    with np.load(Path(__file__).with_name("in_betweens.npz")) as file:
        return {name: file[name].astype(np.float64) for name in file.files}


def in_betweens(poses: KeyPoses, times: np.ndarray, weights: Weights | None = None) -> Between:
    """The poses at times (F,) [s] within those of K keys, two at least. weights : by default those of the extension."""
    last = len(poses.times) - 2
    gap = np.clip(np.searchsorted(poses.times, times, side="right") - 1, 0, last)
    rows, missing = windows(np.arange(last + 1), last + 2)
    inputs, span = inputs_of(poses, rows, missing), np.diff(poses.times)
    learnt = outputs(inputs, load() if weights is None else weights)
    bulges = np.einsum("nji,nbpj->nbpi", inputs.axes, learnt)
    bulges[:, :, :-1] *= poses.facing  # turns seen in a mirror go the other way
    shared = 0.5 * (bulges[1:, 0] / span[1:, None, None] + bulges[:-1, 1] / span[:-1, None, None])
    bulges[1:, 0], bulges[:-1, 1] = shared * span[1:, None, None], shared * span[:-1, None, None]
    share = (times - poses.times[gap]) / span[gap]
    turns, hips = spline(poses, rows[gap], missing[gap], share[:, None])
    added = np.einsum("fb,fbpi->fpi", bulge_shapes(share), bulges[gap])
    turned = quaternion.product(quaternion.exp(added[:, poses.parts]), turns[:, 0])
    return Between(turned, hips[:, 0] + poses.leg * added[:, -1])


def windows(gaps: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows (N, 4) of the keys about gaps (N,) of `count` keys, and whether (N, 2) the outer ones are missing."""
    rows = gaps[:, None] + np.arange(-1, 3)
    inside = np.clip(rows, 0, count - 1)
    return inside, (inside != rows)[:, [0, 3]].astype(float)


def inputs_of(poses: KeyPoses, rows: np.ndarray, missing: np.ndarray) -> Inputs:
    """What is told of windows (N, 4) of keys, in the axes of the figure; a missing key is the one beside it."""
    axes = figure_axes(poses, rows)
    lines = np.einsum("nij,nkpj->nkpi", axes, poses.lines[rows])
    ways = np.einsum("nij,nkj->nki", axes, np.diff(poses.hips[rows], axis=1)) / poses.leg
    feet = poses.feet[rows[:, 1:3]] / poses.leg
    low = feet[..., 2].min((1, 2, 3))
    height = (poses.hips[rows[:, 1], 2] / poses.leg - low)[:, None]
    raised = np.minimum(feet[..., 2] - low[:, None, None, None], _HIGHEST)
    steps = np.einsum("nij,nlkj->nlki", axes, feet[:, 1] - feet[:, 0])
    steps *= np.minimum(_WIDEST / np.maximum(np.linalg.norm(steps, axis=-1, keepdims=True), 1e-12), 1.0)
    turned = np.diff(lines, axis=1)
    each = (turned**2).sum(-1).mean(1)
    way = (ways**2).sum(-1).mean(1)
    whole = np.sqrt(each.mean(1) + 0.3 * way + _STILL**2)[:, None]
    own = np.stack([each[:, lines_of].mean(1) for lines_of in _OWN] + [way], 1)
    spans = spans_of(poses.times[rows])
    moves = np.concatenate([turned.reshape(len(rows), -1), ways.reshape(len(rows), -1)], 1) / whole
    told = [_WEIGHTS["pose"] * lines[:, 1:3].mean(1).reshape(len(rows), -1), _WEIGHTS["move"] * moves,
            _WEIGHTS["height"] * height, _WEIGHTS["foot"] * raised.reshape(len(rows), -1),
            _WEIGHTS["step"] * steps.reshape(len(rows), -1), _WEIGHTS["missing"] * missing,
            _WEIGHTS["time"] * np.log(spans[:, 1:2] / _USUAL),
            _WEIGHTS["rate"] * np.log(spans[:, ::2] / spans[:, 1:2])]  # fmt: skip
    return Inputs(np.concatenate(told, 1), axes, np.sqrt(own + (_OTHERS * whole) ** 2))


def figure_axes(poses: KeyPoses, rows: np.ndarray) -> np.ndarray:
    """Left, up and forward (N, 3, 3), in rows, of the figure by the lines between its hip joints in windows (N, 4)."""
    first, second = poses.lines[rows[:, 1:3], -1].swapaxes(0, 1)
    level = np.array([1.0, 1.0, 0.0])
    left = (first + second) * level
    for other in (first * level, np.broadcast_to([1.0, 0.0, 0.0], first.shape)):
        left = np.where(np.linalg.norm(left, axis=-1, keepdims=True) < _LEVEL, other, left)
    left = left / np.linalg.norm(left, axis=-1, keepdims=True)
    up = np.broadcast_to(_UP, left.shape)
    return np.stack([left, up, poses.facing * np.cross(left, up)], 1)


def spans_of(times: np.ndarray) -> np.ndarray:
    """The times (N, 3) between keys at times (N, 4); a missing one is as that in the middle."""
    spans = np.diff(times, axis=1)
    return np.where(spans > 0.0, spans, spans[:, 1:2])


def outputs(inputs: Inputs, weights: Weights) -> np.ndarray:
    """The bulges (N, 5, P + 1, 3), of parts [rad] and hips [leg], in the figure's axes.

    They are 0 where no captured keys are alike.
    """
    near = kernels(projected(inputs, weights), weights["centres"])
    like = np.clip((near.max(1) - _UNLIKE) / (_LIKE - _UNLIKE), 0.0, 1.0)
    found = (like * like * (3.0 - 2.0 * like))[:, None] * (near @ weights["first"] @ weights["last"])
    return found.reshape(len(found), BULGES, len(PARTS) + 1, 3) * inputs.scales[:, None, :, None]


def projected(inputs: Inputs, weights: Weights) -> np.ndarray:
    """The inputs (N, d) of the kernels."""
    return (inputs.told - weights["mean"]) @ weights["project"]


def kernels(inputs: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Gaussians (N, M) of inputs (N, d) about centres (M, d)."""
    square = (inputs**2).sum(1)[:, None] + (centres**2).sum(1) - 2.0 * inputs @ centres.T
    return np.exp(-0.5 * np.maximum(square, 0.0))


def bulge_shapes(share: np.ndarray) -> np.ndarray:
    """What is added at shares (...) of a gap, (..., 5): for the velocities at both keys, and for what is between."""
    s, middle = share, 2.0 * share - 1.0
    hill = 4.0 * (s * (1.0 - s)) ** 2
    return np.stack([s * (1.0 - s) ** 2, -s * s * (1.0 - s), hill, hill * middle, hill * middle * middle], -1)


def spline(
    poses: KeyPoses, rows: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Turns (N, S, B, 4) and hips (N, S, 3) at shares (N, S) of the gaps of windows (N, 4), on splines through them."""
    turns, count = poses.turns[rows].copy(), len(rows)
    for key, beside in ((2, 1), (0, 1), (3, 2)):
        away = (turns[:, key] * turns[:, beside]).sum(-1, keepdims=True) < 0.0
        turns[:, key] = np.where(away, -turns[:, key], turns[:, key])
    values = np.concatenate([turns.reshape(count, 4, -1), poses.hips[rows]], -1)
    found, _ = hermite(values, spans_of(poses.times[rows]), missing, shares)
    return quaternion.normalize(found[..., :-3].reshape(*shares.shape, -1, 4)), found[..., -3:]


def hermite(
    values: np.ndarray, spans: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Values and changes a second (N, S, n) of splines through windows of values (N, 4, n) with `spans_of` (N, 3)."""
    chords = np.diff(values, axis=1) / spans[..., None]
    no_first, no_last = (missing[:, end, None] > 0.0 for end in (0, 1))
    before, own, after = chords.swapaxes(0, 1)
    before_span, span, after_span = spans[..., None].swapaxes(0, 1)
    start = (before * span + own * before_span) / (before_span + span)
    end = (own * after_span + after * span) / (span + after_span)
    start, end = (np.where(no_first, np.where(no_last, own, 1.5 * own - 0.5 * end), start),
                  np.where(no_last, np.where(no_first, own, 1.5 * own - 0.5 * start), end))  # fmt: skip
    start, own, end, s, rest = start[:, None], own[:, None], end[:, None], shares[..., None], 1.0 - shares[..., None]
    rise = s * s * (3.0 - 2.0 * s)
    found = (1.0 - rise) * values[:, 1:2] + rise * values[:, 2:3]
    found += span[:, None] * s * rest * (rest * start - s * end)
    return found, 6.0 * s * rest * own + rest * (1.0 - 3.0 * s) * start + s * (3.0 * s - 2.0) * end
