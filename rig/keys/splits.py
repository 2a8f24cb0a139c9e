# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that are put into F-curves without changing their shape.

What is between two keys is a row of Bezier pieces. For Blender's Bezier interpolation that is one piece, as it
evaluates it; for its easings it is as many as they need: one for a polynomial of third degree, arcs for *Circular*, and
else so many that the curve stays within `_NEAR`.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf

import bpy
import numpy as np

from .. import curves
from ..blender.places import Owner
from ..curves import ALIGNED, BEZIER, CONSTANT, LINEAR, Keys

_ROUNDS = 60  # of halving
_NEAR = 4e-6  # of the change between two keys: an easing that is replaced by pieces differs by no more
_HALVINGS = 10  # of a piece that is not near enough
_EASE_IN, _EASE_OUT, _EASE_IN_OUT = 1, 2, 3
_CIRCULAR, _BACK, _BOUNCE, _ELASTIC = 5, 3, 4, 7  # numbers of interpolations
_BOUNCES = (1.0 / 2.75, 2.0 / 2.75, 2.5 / 2.75)  # where a ball that bounces out touches the ground
_ARCS = 4  # of a quarter of a circle: a Bezier piece is then within 1e-7 of it
_BY_SAMPLES = np.array([[-5.0, 18.0, -9.0, 2.0], [2.0, -9.0, 18.0, -5.0]]) / 6.0  # inner values of a cubic by thirds
_SHORTEST = 0.03  # frames: a piece that is not halved
_LEVEL = 4.0  # frames: the handle of a last key, which Blender shortens when it gets a neighbour

Value = Callable[[float], float]
"""Gives the value of a curve at a time."""


def split(curve: bpy.types.FCurve, time: float, after: bool = True) -> bpy.types.Keyframe:
    """The key of a curve at a time; one that leaves the curve as it is, if there was none.

    The handles of this key and of those beside it stay as they are when other keys change. after : whether the curve
    stays behind the key too; else it goes on from there to its next key as Blender has it, without further keys.
    """
    keys = Keys.of(curve)
    number = curves.number_at(curve, time)
    if number is None:
        number = int(np.searchsorted(keys.times, time))
        inside = 0 < number < len(keys.times)
        if number == len(keys.times) - 1 and curve.extrapolation == "LINEAR":
            keys = _with_slope(keys)
        keys, number = _divided(keys, number, time, curve, after) if inside else _extended(keys, number, time, curve)
    near = np.abs(np.arange(len(keys.times)) - number) <= 1
    keys.fixed(near).into(curve, stays=True)
    return curve.keyframe_points[number]


def keep_outside(owner: Owner, path: str, times: Sequence[float], still: bool = False) -> None:
    """Let a property that gets keys at some times stay as it is before the first and after the last of them.

    Where its curves go on there, or those of the object where it has none, it gets a key on each side, as far away as
    those times are from each other. still : whether it stays too where the object has no curves at all.
    """
    ob, whole = owner.id_data, curves.path_of(owner, path)
    own = [curve for index in range(4) if (curve := curves.find(ob, whole, index)) and len(curve.keyframe_points)]
    every = own or [curve for curve in curves.fcurves(ob.animation_data) if len(curve.keyframe_points)]
    ranges = [curve.range() for curve in every]
    step = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 1.0
    ranges = ranges or [(-inf, inf) if still else (times[0], times[-1])]
    first, last = min(one[0] for one in ranges), max(one[1] for one in ranges)
    beside = [(max(times[0] - step, first), False)] if first < times[0] - curves.SAME_FRAME else []
    beside += [(min(times[-1] + step, last), True)] if last > times[-1] + curves.SAME_FRAME else []
    for time, after in beside:
        for curve in own:
            split(curve, time, after)
        if not own:
            owner.keyframe_insert(path, frame=time, group=curves.group_of(owner, path))


def level(curve: bpy.types.FCurve, time: float) -> None:
    """Let a curve begin without slope after its key at a time, which has jumped; what is before stays."""
    points = curve.keyframe_points
    number = curves.number_at(curve, time)
    if number is None:
        return
    key = points[number]
    key.handle_left_type = key.handle_right_type = "FREE"
    length = (points[number + 1].co[0] - key.co[0]) / 3.0 if number + 1 < len(points) else _LEVEL
    key.handle_right = (key.co[0] + length, key.co[1])
    curve.update()


def _divided(keys: Keys, number: int, time: float, curve: bpy.types.FCurve, after: bool) -> tuple[Keys, int]:
    """Keys with another one between two, and its number. number : of the key after it."""
    left, right = number - 1, number
    kind = int(keys.columns["interpolation"][left])
    if kind in (CONSTANT, LINEAR):
        (x0, y0), (x1, y1) = keys.columns["co"][[left, right]].astype(float)
        value = y0 if kind == CONSTANT else y0 + (y1 - y0) * (time - x0) / (x1 - x0)
        slope = 0.0 if kind == CONSTANT else (y1 - y0) / (x1 - x0)
        third = np.array([1.0, slope]) * min(time - x0, x1 - time) / 3.0
        made = _like(keys, left, np.array([[time, value]]))
        made.columns |= {"handle_left": made.columns["co"] - third, "handle_right": made.columns["co"] + third}
        return keys.joined(made), number
    pieces = [_bezier(keys, left)] if kind == BEZIER else _easing(keys, left, curve.evaluate)
    at = next(k for k, piece in enumerate(pieces) if piece[3, 0] > time - curves.SAME_FRAME)
    if pieces[at][3, 0] > time + curves.SAME_FRAME:
        pieces[at : at + 1] = _halves(pieces[at], time)
    new = at + 1  # the number of pieces before the key
    shown = pieces if after or kind == BEZIER else pieces[:new]
    ends = range(1, len(pieces) if after else new + 1)
    made = _like(keys, left, np.array([pieces[k - 1][3] for k in ends]))
    made.columns["handle_left"] = np.array([pieces[k - 1][2] for k in ends])
    made.columns["handle_right"] = np.array([pieces[k][1] for k in ends])
    made.columns["interpolation"][: len(shown) - 1 + (len(shown) < len(pieces))] = BEZIER
    columns = {name: column.copy() for name, column in keys.columns.items()}
    columns["interpolation"][left] = BEZIER
    columns["handle_right"][left] = pieces[0][1]
    if len(shown) == len(pieces):
        columns["handle_left"][right] = pieces[-1][2]
    own = Keys(columns)
    if kind != BEZIER:  # its handles had no effect on this side
        own = own.fixed(np.isin(np.arange(len(own.times)), (left, right)), smooth=False)
        made = made.fixed(np.ones(len(made.times), dtype=bool), smooth=False)
        if len(shown) < len(pieces):
            made.columns["interpolation"][-1] = kind
    return own.joined(made), left + new


def _extended(keys: Keys, number: int, time: float, curve: bpy.types.FCurve) -> tuple[Keys, int]:
    """Keys with another one before the first or after the last, as the curve goes on there, and its number."""
    end, kind = max(number - 1, 0), int(keys.columns["interpolation"][max(number - 1, 0)])
    co = np.array([time, curve.evaluate(time)])
    own = keys.columns["co"][end].astype(float)
    third = np.abs(own[0] - time) / 3.0 * np.array([1.0, (own[1] - co[1]) / (own[0] - time)])
    columns = {name: column.copy() for name, column in keys.columns.items()}
    inner = "handle_right" if number else "handle_left"
    columns[inner][end] = own + third if number else own - third
    if kind not in (CONSTANT, LINEAR):
        columns["interpolation"][end] = BEZIER if number else kind
    made = _like(keys, end, co[None])
    made.columns |= {"handle_left": (co - third)[None], "handle_right": (co + third)[None]}
    made.columns["interpolation"][:] = kind if kind in (CONSTANT, LINEAR) else BEZIER
    which = np.arange(len(keys.times)) == end
    return Keys(columns).fixed(which, smooth=False).joined(made), number


def _with_slope(keys: Keys) -> Keys:
    """Keys whose last one, if it is linear, goes on by its own handle instead of by the key before it."""
    if len(keys.times) < 2 or keys.columns["interpolation"][-1] != LINEAR:
        return keys
    columns = {name: column.copy() for name, column in keys.columns.items()}
    columns["interpolation"][-1] = BEZIER
    columns["handle_right"][-1] = 2.0 * columns["co"][-1] - columns["co"][-2]
    return Keys(columns).fixed(np.arange(len(keys.times)) == len(keys.times) - 1, smooth=False)


def _like(keys: Keys, number: int, co: np.ndarray) -> Keys:
    """Keys at points (K, 2) with all else of another one, and handles that stay."""
    columns = {name: np.repeat(column[number][None], len(co), 0) for name, column in keys.columns.items()}
    made = Keys(columns | {"co": co})
    made.columns |= dict.fromkeys(("handle_left_type", "handle_right_type"), np.full(len(co), ALIGNED))
    return made


# -- pieces ------------------------------------------------------------------------------------------------------------


def _bezier(keys: Keys, left: int) -> np.ndarray:
    """The Bezier piece (4, 2) after a key, with its handles shortened as Blender does."""
    a, d = keys.columns["co"][[left, left + 1]].astype(float)
    inner = []
    for end, handle in ((a, keys.columns["handle_right"][left]), (d, keys.columns["handle_left"][left + 1])):
        by = handle - end
        inner.append(end + min((d[0] - a[0]) / max(abs(by[0]), 1e-9), 1.0) * by)
    return np.array([a, *inner, d])


def _halves(piece: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """The two pieces into which one is divided at a time (de Casteljau)."""
    lo, hi = 0.0, 1.0
    for _ in range(_ROUNDS):
        half = 0.5 * (lo + hi)
        lo, hi = (half, hi) if _cut(piece, half)[0][3, 0] < time else (lo, half)
    return _cut(piece, 0.5 * (lo + hi))


def _cut(piece: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
    a, b, c, d = piece
    ab, bc, cd = a + s * (b - a), b + s * (c - b), c + s * (d - c)
    abc, bcd = ab + s * (bc - ab), bc + s * (cd - bc)
    middle = abc + s * (bcd - abc)
    return np.array([a, ab, abc, middle]), np.array([middle, bcd, cd, d])


def _easing(keys: Keys, left: int, value: Value) -> list[np.ndarray]:
    """The pieces of an easing after a key."""
    kind, easing = (int(keys.columns[name][left]) for name in ("interpolation", "easing"))
    easing = easing or (_EASE_OUT if kind in (_BACK, _BOUNCE, _ELASTIC) else _EASE_IN)
    ends = keys.columns["co"][[left, left + 1]].astype(float)
    if kind == _CIRCULAR:
        return [ends[0] + piece * (ends[1] - ends[0]) for piece in _circle(easing)]
    knots = np.array([0.0, *(_BOUNCES if kind == _BOUNCE else ()), 1.0])
    knots = knots if easing == _EASE_OUT else np.sort(1.0 - knots)
    if easing == _EASE_IN_OUT:
        knots = np.append(0.5 * knots, 1.0 - 0.5 * knots[-2::-1])
    times = ends[0, 0] + knots * (ends[1, 0] - ends[0, 0])
    near = _NEAR * (np.abs(ends[1, 1] - ends[0, 1]) + 0.1 * np.abs(ends[:, 1]).max())
    found = list[np.ndarray]()
    for start, end in pairwise(times.tolist()):
        found += _cubics(value, start, end, near, _HALVINGS)
    found[0][0], found[-1][3] = ends
    return found


def _cubics(value: Value, start: float, end: float, near: float, halvings: int) -> list[np.ndarray]:
    """Pieces through the values of a curve at thirds of their times, halved until they are near to it between."""
    times = np.linspace(start, end, 4)
    values = np.array([value(time) for time in times])
    piece = np.stack([times, [values[0], *(_BY_SAMPLES @ values), values[3]]], -1)
    if halvings and end - start > _SHORTEST:
        between = (_cut(piece, s)[0][3] for s in (1 / 6, 1 / 2, 5 / 6))
        if max(abs(value(time) - wanted) for time, wanted in between) > near:
            halves = ((start, 0.5 * (start + end)), (0.5 * (start + end), end))
            return [piece for half in halves for piece in _cubics(value, *half, near, halvings - 1)]
    return [piece]


def _circle(easing: int) -> list[np.ndarray]:
    """The pieces of *Circular* from (0, 0) to (1, 1)."""
    if easing == _EASE_IN_OUT:
        return [*(0.5 * piece for piece in _circle(_EASE_IN)), *(0.5 + 0.5 * piece for piece in _circle(_EASE_OUT))]
    if easing == _EASE_OUT:
        return [1.0 - piece[::-1] for piece in reversed(_circle(_EASE_IN))]
    angles = np.linspace(0.0, 0.5 * np.pi, _ARCS + 1)
    points = np.stack([np.sin(angles), 1.0 - np.cos(angles)], -1)
    along = np.stack([np.cos(angles), np.sin(angles)], -1) * 4.0 / 3.0 * np.tan(np.pi / 8.0 / _ARCS)
    return [np.array([points[k], points[k] + along[k], points[k + 1] - along[k + 1], points[k + 1]])
            for k in range(_ARCS)]  # fmt: skip
