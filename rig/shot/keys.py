# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of objects and bones on many frames, a whole curve at a time."""

from collections.abc import Iterable, Sequence

import bpy
import numpy as np

from .. import curves
from ..blender import animation, rotation, scene_state
from ..blender.places import Owner
from ..keys import attachments, keying, splits

_SAME = 1e-6  # values that differ by less are the same
_STILL = 1e-3  # values that change by less do not move anything: noise of recorded motion
_MOVED = 1e-5  # what differs by more from its keys was moved


def channels_of(owner: Owner) -> tuple[str, str]:
    """The location and the rotation in the owner's own rotation mode."""
    return "location", rotation.PATHS[owner.rotation_mode]


def posed_channels(bone: bpy.types.PoseBone) -> tuple[str, ...]:
    """The channels that pose a bone: its rotation and, if it may move, its location."""
    place, turn = channels_of(bone)
    return (place, turn) if bone.dqik_translate else (turn,)


def curves_of(owner: Owner, *channels: str) -> list[bpy.types.FCurve]:
    """The curves with keys of channels, by default the location and the rotation, in the assigned action."""
    return curves.keyed(owner.id_data, [curves.path_of(owner, channel) for channel in channels or channels_of(owner)])


def stays(owner: Owner, first: int, last: int) -> bool:
    """Whether neither keys nor drivers move an object or a bone between two frames."""
    ob, paths = owner.id_data, {curves.path_of(owner, channel) for channel in channels_of(owner)}
    if ob.animation_data is None:
        return True
    if animation.in_nla(ob, paths) or any(driver.data_path in paths for driver in ob.animation_data.drivers):
        return False
    values = [[curve.evaluate(frame) for frame in range(first, last + 1)] for curve in curves_of(owner)]
    return all(np.ptp(one) < _STILL for one in values)


def has_curve(owner: Owner, channel: str) -> bool:
    """Whether the assigned action or the NLA moves a channel of an object or a bone."""
    return animation.animates(owner.id_data, curves.path_of(owner, channel))


def shows(owner: Owner, channel: str, times: Sequence[float], transforms: Sequence[scene_state.Transform]) -> bool:
    """Whether the curves of a channel in the assigned action have these values already, for all of its numbers."""
    at, path = scene_state.TRANSFORM.index(channel), curves.path_of(owner, channel)
    own = {c.array_index: c for c in curves.fcurves(owner.id_data.animation_data) if c.data_path == path and not c.mute}
    return len(own) == len(transforms[0][at]) and all(
        abs(curve.evaluate(time) - transform[at][index]) < _SAME
        for index, curve in own.items() for time, transform in zip(times, transforms, strict=True)
    )  # fmt: skip


def unkeyed(ob: bpy.types.Object, time: float) -> list[str]:
    """The channels of an object with keys in which it stands elsewhere than these have it at a time: it was moved.

    An object that strips move too counts as not moved.
    """
    data, found = ob.animation_data, list[str]()
    if data is None or len(data.nla_tracks):
        return found
    wanted = attachments.paths(ob)
    for curve in curves.fcurves(data):
        if curve.data_path in wanted and not curve.mute and not curve.is_empty:
            shown = getattr(ob, curve.data_path)[curve.array_index]
            if abs(curve.evaluate(time) - shown) > _MOVED * max(1.0, abs(shown)):
                found.append(curve.data_path)
    return list(dict.fromkeys(found))


def make_room(owner: Owner, channel: str, outside: Sequence[float]) -> None:
    """Put keys into the curves of a channel at one or two times; what is before the first and behind the second stays.

    Between two times all keys go; behind a single one the curves go on to their next keys.
    """
    for curve in curves_of(owner, channel):
        for time in outside:
            splits.split(curve, time, after=len(outside) > 1)
        own = curves.Keys.of(curve)
        inside = (own.times > outside[0] + curves.SAME_FRAME) & (own.times < outside[-1] - curves.SAME_FRAME)
        if inside.any():
            own.chosen(~inside).into(curve, stays=True)


def values_at(owner: Owner, channel: str, time: float) -> np.ndarray | None:
    """The values of a channel's curves at a time, with its present ones where it has none; None if it has no curve."""
    found = curves_of(owner, channel)
    values = np.array(getattr(owner, channel), dtype=float)
    for curve in found:
        values[curve.array_index] = curve.evaluate(time)
    return values if found else None


def jump(owner: Owner, channel: str, times: Sequence[float], until: float | None = None) -> None:
    """Let the values of a channel's keys at times stay until the next keys, where the curves jump.

    until : a time of a key behind the last jump, from where on the curves begin without slope.
    """
    for curve in curves_of(owner, channel):
        for key in filter(None, (keying.key_at(curve, time) for time in times)):
            key.interpolation = "CONSTANT"
        if until is not None and keying.key_at(curve, until) is not None:
            splits.level(curve, until)


def ease(owner: Owner, channel: str, time: float) -> None:
    """Let the values of a channel go over smoothly from its keys at a time to the next ones."""
    for curve in curves_of(owner, channel):
        key = keying.key_at(curve, time)
        if key is not None:
            key.interpolation = "BEZIER"
            splits.level(curve, time)


def write(
    owner: Owner, channel: str, times: np.ndarray, transforms: Iterable[scene_state.Transform], halves: bool = False,
    is_stepped: bool = False,
) -> None:  # fmt: skip
    """Key a channel; keys before and after the times stay.

    halves : every other time is the middle between two keys, through which their handles lead. is_stepped : values
    stay until the next key.
    """
    at = scene_state.TRANSFORM.index(channel)
    values = np.array([transform[at] for transform in transforms])
    writer, step, path = curves.Writer.of(owner.id_data), 2 if halves else 1, curves.path_of(owner, channel)
    for index in range(values.shape[1]):
        slopes = _slopes(times, values[:, index]) if halves and not is_stepped else None
        group = curves.group_of(owner, channel)
        writer.write(path, index, group, times[::step], values[::step, index], slopes, is_stepped)
    writer.finish()


def write_steps(ob: bpy.types.Object, path: str, group: str, times: Sequence[float], values: Sequence[float]) -> None:
    """Key a property of an object; each value stays until the next key."""
    writer = curves.Writer.of(ob)
    writer.write(path, 0, group, np.array(times), np.array(values), is_stepped=True)
    writer.finish()


def _slopes(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Slopes (K, 2) before and after each of K keys for parabolas through their values and those in the middle.

    times, values : (2 K - 1,) of the keys and of the middle between each two.
    """
    span, change = np.diff(times[::2]), np.diff(values[::2])
    bulge = 4.0 * (values[1::2] - 0.5 * (values[:-1:2] + values[2::2]))
    slopes = np.zeros((len(times[::2]), 2))
    slopes[1:, 0], slopes[:-1, 1] = (change - bulge) / span, (change + bulge) / span
    return slopes
