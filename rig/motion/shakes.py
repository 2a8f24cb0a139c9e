# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove Shakes: the channels that have a key on each frame, as arrays, and these without what shakes in them."""

from collections.abc import Generator, Iterable, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import fine_time, shakes
from .. import curves
from ..blender import rotation
from ..blender.places import Owner
from ..clip import clip
from ..keys import keyable
from ..notes import Note, Refused
from . import reduce_keys

_DENSE = 0.9  # keys a frame: a few may be missing
_BESIDE = 0.5  # seconds of the motion before and after the range that are looked at
_STILL = 1e-5  # what changes by less has no shakes
_SEEN_TURN, _SEEN_WAY = np.radians(0.05), 5e-5  # [rad], of the size: changes that are smaller are not seen
_FEWEST = 8  # frames of a motion in which shakes can be told


class Channel(NamedTuple):
    """The rotation or the location of an object or a bone: its path, and its numbers (F, 3 or 4) on the frames."""

    ob: bpy.types.Object
    bone: str
    path: str
    values: np.ndarray

    @property
    def owner(self) -> Owner:
        """The object, or its bone."""
        return self.ob.pose.bones[self.bone] if self.bone else self.ob

    @property
    def unit(self) -> float:
        """How much a small change of 1 in its numbers is: a way in the world [m], or a rotation [rad]."""
        return max(map(abs, self.ob.matrix_world.to_scale())) if self.path == "location" else 2.0

    def plain(self) -> np.ndarray:
        """Its numbers (F, 4) without jumps where nothing moves: places and a 0, or quaternions of one sign."""
        if self.path == "location":
            return np.pad(self.values, ((0, 0), (0, 1)))
        return fine_time.one_sign(rotation.to_quaternion(self.owner.rotation_mode, self.values))

    def keyed(self, plain: np.ndarray) -> np.ndarray:
        """The numbers to key for others than `plain`: of rotations those nearest to the old ones, inside limits."""
        if self.path == "location":
            return plain[:, :3]
        turned = quaternion.normalize(plain)
        if self.bone:
            turned = clip.inside_limits(self.owner, self.plain())(turned)
        return rotation.from_quaternion(self.owner.rotation_mode, turned, self.values)


class Report(NamedTuple):
    """What was taken out: of how many channels, the largest shakes in the mean [rad], [m], and frames that jumped.

    jumped : those that were put right. is_seen : whether anything was changed by as much as is seen.
    """

    channels: int
    turn: float
    way: float
    jumped: int
    is_seen: bool


def around(ob: bpy.types.Object, frames: Sequence[int], rate: float) -> tuple[list[int], slice]:
    """Frames with those before and after them that have keys and are near, and where in these the frames are."""
    step = frames[1] - frames[0] if len(frames) > 1 else 1
    action = curves.action_of(ob)
    first, last = (frames[0], frames[-1]) if action is None else action.frame_range
    wide = round(_BESIDE * rate)
    before = [frame for frame in range(frames[0] - wide * step, frames[0], step) if frame >= first]
    after = [frame for frame in range(frames[-1] + step, frames[-1] + (wide + 1) * step, step) if frame <= last]
    return [*before, *frames, *after], slice(len(before), len(before) + len(frames))


def channels(
    ob: bpy.types.Object, names: Iterable[str], times: Sequence[float]
) -> Generator[float, None, list[Channel]]:
    """The rotations and locations with a key on each of some times, of an object (an empty name) and of its bones.

    Yields the progress from 0 to 1.
    """
    every = yield from reduce_keys.dense(ob, names, np.array(times))
    return [found for one in every for path in ("location", rotation.PATHS[one.owner.rotation_mode])
            if (found := _channel(one, path, times)) is not None]  # fmt: skip


def _channel(one: reduce_keys.Dense, path: str, times: Sequence[float]) -> Channel | None:
    """A channel that moves, if any of its curves has a key on each of the times; others have what they have there."""
    columns = {index: column for (name, index), column in one.curves.items() if name == path}
    whole = curves.path_of(one.owner, path)
    if all(_count(one.ob, whole, index, times) < _DENSE * len(times) for index in columns):
        return None
    size = 3 if path == "location" else 4
    values = np.empty((len(times), size))
    values[:] = np.resize(np.array(getattr(one.owner, path), dtype=float), size)
    for index, column in columns.items():
        values[:, index] = one.values[:, column]
    if np.ptp(values, axis=0).max() < _STILL:
        return None
    return Channel(one.ob, one.bone, path, values)


def _count(ob: bpy.types.Object, path: str, index: int, times: Sequence[float]) -> int:
    """The keys of a curve from the first of some times to the last."""
    curve = curves.find(ob, path, index)
    keys = np.zeros(0) if curve is None else curves.Keys.of(curve, ("co",)).times
    return int(((keys >= times[0] - curves.SAME_FRAME) & (keys <= times[-1] + curves.SAME_FRAME)).sum())


def check(every: Sequence[Channel], name: str, frames: Sequence[int]) -> None:
    """Raise `Refused` if there are no channels, few frames, or keys, in copies of the actions, would not be seen.

    every : those with a key on each of the frames.
    """
    if not every:
        raise Refused(Note("Nothing of {} has a key on each frame from {} to {}: shakes are taken out of captured or "
                           "baked motion", repr(name), frames[0], frames[-1]))
    if len(every[0].values) < _FEWEST:
        raise Refused(Note("Choose at least {} frames, or shakes cannot be told from motion", _FEWEST))
    for ob in dict.fromkeys(one.ob for one in every):
        keyable.check(ob, [curves.path_of(one.owner, one.path) for one in every if one.ob == ob], copied=True)


def quiet(
    every: Sequence[Channel], rate: float, amount: float, size: float
) -> Generator[float, None, tuple[list[np.ndarray], Report]]:
    """The numbers to key of channels without their shakes, and what was taken out; yields the progress from 0 to 1.

    size [m] : of the figure.
    """
    before = np.stack([one.plain() for one in every], 1)
    own = yield from shakes.without_shakes(before, rate, amount)
    keyed = [one.keyed(values) for one, values in zip(every, own.values.swapaxes(0, 1), strict=True)]
    units = np.array([one.unit for one in every])
    noise = np.sqrt(3.0) * own.noise * units  # in the mean, of noise that is as large along three axes
    places = np.array([one.path == "location" for one in every])
    seen = units * np.abs(own.values - before).max(-1) > np.where(places, _SEEN_WAY * size, _SEEN_TURN)
    return keyed, Report(
        len(every), noise[~places].max(initial=0.0), noise[places].max(initial=0.0),
        int((own.jumped & seen).any(1).sum()), bool(seen.any()),
    )  # fmt: skip


def write(every: Sequence[Channel], values: Sequence[np.ndarray], inside: slice, times: Sequence[float]) -> None:
    """Key channels at times, which are some of their frames."""
    for ob in dict.fromkeys(one.ob for one in every):
        own = {(one.bone, one.path): value[inside] for one, value in zip(every, values, strict=True) if one.ob == ob}
        clip.write(ob, own, times)
