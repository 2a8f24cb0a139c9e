# SPDX-License-Identifier: GPL-3.0-or-later
"""Editing one frame of a motion so that its neighbours follow: the change fades away to both sides, by keys."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender import rotation
from ..blender.places import Owner
from ..keys import keyable, keying, splits
from ..shot import keys

_SAME = 1e-6  # values that differ by less are the same
_BESIDE = (-2.0, -1.0, 1.0, 2.0)  # frames, and the cubic through their values in the middle
_CUBIC = np.array([-1.0, 4.0, 4.0, -1.0]) / 6.0
_HANDLES = ("handle_left", "handle_right")


class OwnerChange(NamedTuple):
    """How an object or a bone was moved at a frame, in the space that it is posed in.

    move : (3,). turn : (4,). curves : of its location and rotation, by channel and index. keyed : what its keys at this
    frame were before it was keyed there as it stands now, a location (3,) and a rotation (4,); None if it was not.
    """

    owner: Owner
    move: np.ndarray
    turn: np.ndarray
    curves: dict[tuple[str, int], bpy.types.FCurve]
    keyed: tuple[np.ndarray, np.ndarray] | None = None


def change_of(owner: Owner, time: float) -> OwnerChange | None:
    """How an owner stands beside its curves at a time; None if it does not, or has no curves.

    If Auto Keying has just keyed it on a frame of a dense motion, that key stands out among those beside it.
    """
    own = {(curve.data_path.rpartition(".")[2], curve.array_index): curve for curve in keys.curves_of(owner)}
    if not own:
        return None
    now = _state(owner)
    found = _difference(owner, own, now, _state(owner, own, time))
    if found is not None or not all(keying.key_at(curve, time + step) for curve in own.values() for step in _BESIDE):
        return found
    beside = [_state(owner, own, time + step) for step in _BESIDE]
    places = np.array([place for place, _ in beside])
    turned = np.array([turn for _, turn in beside])
    turned *= np.copysign(1.0, turned @ turned[0])[:, None]
    smooth = _CUBIC @ places, quaternion.normalize(_CUBIC @ turned)
    own_turn = np.copysign(1.0, now[1] @ smooth[1]) * now[1]
    pairs = zip((now[0], own_turn), smooth, (places, turned), strict=True)
    stands_out = [np.linalg.norm(one - middle) > np.linalg.norm(np.diff(others, axis=0), axis=-1)[[0, 2]].max()
                  for one, middle, others in pairs]  # fmt: skip
    if not any(stands_out):
        return None
    before = tuple(middle if out else one for one, middle, out in zip(now, smooth, stands_out, strict=True))
    found = _difference(owner, own, now, before)
    return None if found is None else found._replace(keyed=before)


def check(ob: bpy.types.Object, changes: Sequence[OwnerChange]) -> None:
    """Raise `Refused` if keys of an object's changes would move other frames or figures, or would be hidden."""
    own = (curve for change in changes if change.owner.id_data == ob for curve in change.curves.values())
    keyable.check(ob, [curve.data_path for curve in own])


def _state(
    owner: Owner, own: Mapping[tuple[str, int], bpy.types.FCurve] = {}, time: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The location (3,) and the rotation (4,) of an owner: as it stands or, with curves, as these have it at a time."""
    place, turned = _values(owner, own, time).values()
    return place, rotation.to_quaternion(owner.rotation_mode, turned)


def _difference(
    owner: Owner, own: dict[tuple[str, int], bpy.types.FCurve], now: tuple[np.ndarray, np.ndarray],
    before: tuple[np.ndarray, np.ndarray],
) -> OwnerChange | None:  # fmt: skip
    move, turn = now[0] - before[0], quaternion.product(now[1], quaternion.conjugate(before[1]))
    if np.abs(move).max() < _SAME and np.linalg.norm(quaternion.log(turn)) < _SAME:
        return None
    return OwnerChange(owner, move, turn, own)


def standing(change: OwnerChange, time: float, points: np.ndarray, slow: float, most: int = 300) -> tuple[float, float]:
    """The first and the last time around a time at which the owner stands, whole frames away from it.

    points : (K, 3) of the owner, in its own axes, one of which is still where it stands. slow : the way in a frame that
    counts as still.
    """
    axes = _axes(change.owner)

    def places(at: float) -> np.ndarray:
        place, turned = _state(change.owner, change.curves, at)
        return place + quaternion.rotate(quaternion.product(axes, turned), points)

    ends = []
    for step in (-1.0, 1.0):
        end, own = time, places(time)
        while abs(end - time) < most:
            further = places(end + step)
            if np.linalg.norm(further - own, axis=-1).min() > slow:
                break
            end, own = end + step, further
        ends.append(end if abs(end - time) < most else time)  # what never moves stands nowhere
    return ends[0], ends[1]


def whole(change: OwnerChange, time: float) -> tuple[float, float]:
    """The times of the first and the last key of an owner, with a time between or beyond them."""
    times = [key.co.x for curve in change.curves.values() for key in curve.keyframe_points]
    return min(time, *times), max(time, *times)


def _axes(owner: Owner) -> np.ndarray:
    """The rotation (4,) from an owner's own axes at rest to those of its location."""
    if isinstance(owner, bpy.types.PoseBone) and not owner.bone.use_local_location:
        return np.array(owner.bone.matrix_local.to_quaternion())
    return np.array(quaternion.IDENTITY)


def fade(times: np.ndarray, begin: float, end: float, radius: float) -> np.ndarray:
    """The share (F,) of a change: 1 from `begin` to `end`, smoothly to 0 at a radius before and after."""
    away = np.maximum(np.maximum(begin - times, times - end), 0.0) / max(radius, _SAME)
    rest = np.clip(1.0 - away, 0.0, 1.0)
    return rest * rest * (3.0 - 2.0 * rest)


def apply(change: OwnerChange, time: float, span: tuple[float, float], radius: float) -> None:
    """Change the keys of an owner: wholly at a time and over a span around it, and less until the radius.

    Where curves that change have no key at the time and at both ends of the radius, they get one that leaves them as
    they are.
    """
    first, last = span[0] - radius, span[1] + radius
    mode, turn = change.owner.rotation_mode, quaternion.log(change.turn)
    changed = {"location": np.abs(change.move).max() >= _SAME, rotation.PATHS[mode]: np.linalg.norm(turn) >= _SAME}
    own = {key: curve for key, curve in change.curves.items() if changed[key[0]]}
    if change.keyed is not None:
        place, turned = change.keyed
        path = rotation.PATHS[mode]
        channels = rotation.from_quaternion(mode, turned, _values(change.owner, change.curves, time)[path])
        for (name, index), curve in own.items():
            _raise(keying.key_at(curve, time), float((place if name == "location" else channels)[index]))
    for curve in own.values():
        for at in (first, *dict.fromkeys((span[0], time, span[1])), last):
            splits.split(curve, at)
    times = sorted({key.co.x for curve in own.values() for key in curve.keyframe_points if first <= key.co.x <= last})
    for curve in own.values():
        for at in times:
            splits.split(curve, at)
    shares = fade(np.array(times), *span, radius)
    path = rotation.PATHS[mode]
    old = [_values(change.owner, change.curves, at) for at in times]
    moved = dict[tuple[str, int], list[float]]()
    for share, values in zip(shares.tolist(), old, strict=True):
        place = values["location"] + share * change.move
        turned = rotation.to_quaternion(mode, values[path])
        after = rotation.from_quaternion(mode, quaternion.product(quaternion.exp(share * turn), turned), values[path])
        for name, index in own:
            moved.setdefault((name, index), []).append(float((place if name == "location" else after)[index]))
    for (name, index), curve in own.items():
        for at, share, value in zip(times, shares.tolist(), moved[name, index], strict=True):
            if share > 0.0:
                _raise(keying.key_at(curve, at), value)
        curve.update()


def _values(owner: Owner, own: Mapping[tuple[str, int], bpy.types.FCurve], time: float) -> dict[str, np.ndarray]:
    """The location (3,) and the rotation channels (4,) at a time."""
    values = {name: np.array(getattr(owner, name), dtype=float) for name in keys.channels_of(owner)}
    values = {name: value if name == "location" else np.resize(value, 4) for name, value in values.items()}
    for (name, index), curve in own.items():
        values[name][index] = curve.evaluate(time)
    return values


def _raise(key: bpy.types.Keyframe | None, value: float) -> None:
    """Give a key a value; its handles go with it."""
    if key is None:
        return
    by = value - key.co.y
    for name in ("co", *_HANDLES):
        x, y = getattr(key, name)
        setattr(key, name, (x, y + by))
