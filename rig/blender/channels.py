# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose channels of a whole armature as arrays, read and written by one call for each channel.

The arrays have single precision, as Blender's channels have, so that equal bytes mean equal poses.
"""

from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ...solvers.algebra import quaternion
from . import bulk, rotation

_MODES = {0: rotation.QUATERNION, **dict(enumerate(rotation.EULER_ORDERS, 1)), -1: rotation.AXIS_ANGLE}


class Modes:
    """The rotation modes of N bones; equal if all bones have the same.

    Attributes
    ----------
    numbers : Blender's numbers of the modes as bytes.
    groups : (mode, bones) for each mode in use. of_bone : (N,) names.
    paths : (path, size) of each rotation channel in use. places : (N, 4) where the rotation channels of the bones are
        among the numbers of these paths, one path after the other; the number after the last one stands for none.
    quaternions_only : whether all bones turn in quaternions.
    """

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers.tobytes()
        self.groups = [(_MODES[int(number)], np.flatnonzero(numbers == number)) for number in np.unique(numbers)]
        self.of_bone = [_MODES[int(number)] for number in numbers]
        used = {rotation.PATHS[mode] for mode, _ in self.groups}
        self.paths = [(path, size) for path, size in rotation.PATH_SIZES.items() if path in used]
        self.places = self._places(len(numbers))
        self.quaternions_only = all(mode == rotation.QUATERNION for mode, _ in self.groups)
        self._of_rows: tuple[np.ndarray | None, list[tuple[str, np.ndarray]]] = None, []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Modes) and self.numbers == other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def quaternions(self, channels: np.ndarray, bones: np.ndarray) -> np.ndarray:
        """Unit quaternions (S, 4) of the rotation channels (S, 4) of some `bones` (S,)."""
        if self.quaternions_only:
            return quaternion.normalize(channels.astype(float))
        q = np.empty((len(bones), 4))
        for mode, rows in self._rows(bones):
            q[rows] = rotation.to_quaternion(mode, channels[rows].astype(float))
        return q

    def channels(self, q: np.ndarray, bones: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Rotation channels (S, 4) of `bones` (S,) from unit quaternions (S, 4), nearest to `reference` (S, 4)."""
        if self.quaternions_only:
            return rotation.from_quaternion(rotation.QUATERNION, q, reference).astype(np.float32)
        channels = np.empty((len(bones), 4), dtype=np.float32)
        for mode, rows in self._rows(bones):
            channels[rows] = rotation.from_quaternion(mode, q[rows], reference[rows].astype(float))
        return channels

    def at_rest(self, bones: np.ndarray) -> np.ndarray:
        """Rotation channels (S, 4) of `bones` (S,) without rotation."""
        return np.array([rotation.NO_ROTATION[self.of_bone[bone]] for bone in bones], dtype=np.float32).reshape(-1, 4)

    def _places(self, count: int) -> np.ndarray:
        """See `places`. count : N."""
        places = np.full((count, 4), count * sum(size for _, size in self.paths))
        begin = 0
        for path, size in self.paths:
            for mode, bones in self.groups:
                if rotation.PATHS[mode] == path:
                    places[bones, :size] = begin + size * bones[:, None] + np.arange(size)
            begin += size * count
        return places

    def _rows(self, bones: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """The modes of some bones, each with its rows among them; a frame asks for the same ones as the last."""
        known = self._of_rows
        if bones is not known[0]:
            by_mode = ((mode, np.flatnonzero(np.isin(bones, members))) for mode, members in self.groups)
            known = self._of_rows = bones, [(mode, rows) for mode, rows in by_mode if rows.size]
        return known[1]


class Which(NamedTuple):
    """Some channels of N bones, as bool: of their rotations (N, 4) and locations (N, 3)."""

    rotations: np.ndarray
    locations: np.ndarray

    def __and__(self, other: "Which") -> "Which":
        return Which(self.rotations & other.rotations, self.locations & other.locations)

    def __or__(self, other: "Which") -> "Which":
        return Which(self.rotations | other.rotations, self.locations | other.locations)

    def __invert__(self) -> "Which":
        return Which(~self.rotations, ~self.locations)

    def of(self, bones: np.ndarray) -> "Which":
        """Those of some bones (n,)."""
        return Which(self.rotations[bones], self.locations[bones])

    def any(self) -> bool:
        """Whether there is one."""
        return bool(self.rotations.any() or self.locations.any())

    def all(self) -> bool:
        """Whether they are all there are."""
        return bool(self.rotations.all() and self.locations.all())

    def whole(self) -> "Which":
        """All of a rotation or a location of which there is one, as (N, 1)."""
        return Which(self.rotations.any(-1, keepdims=True), self.locations.any(-1, keepdims=True))


class Scales(NamedTuple):
    """The scales (K, 3) of some bones (K,); float32."""

    bones: np.ndarray
    values: np.ndarray

    @staticmethod
    def none(bones: np.ndarray) -> "Scales":
        """Bones (K,) that are not scaled."""
        return Scales(bones, np.ones((len(bones), 3), dtype=np.float32))

    @property
    def scaled(self) -> np.ndarray:
        """The bones (k,) that are scaled."""
        return self.bones[(self.values != 1.0).any(-1)]

    def __or__(self, other: "Scales") -> "Scales":
        """These, and those of other bones."""
        new = ~np.isin(other.bones, self.bones)
        return Scales(*(np.concatenate([own, more[new]]) for own, more in zip(self, other, strict=True)))


@dataclass
class Channels:
    """Rotation channels (N, 4), each in its bone's own mode, and locations (N, 3) of all pose bones; float32.

    scales : of the bones that solves lengthen, where channels are an answer; no other scales are ever written.
    """

    rotations: np.ndarray
    locations: np.ndarray
    modes: Modes
    scales: Scales | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the rotations and locations."""
        return self.rotations.nbytes + self.locations.nbytes

    def copy(self) -> "Channels":
        """An independent copy."""
        return Channels(self.rotations.copy(), self.locations.copy(), self.modes, self.scales)

    def alike(self, other: "Channels", bones: np.ndarray) -> bool:
        """Whether some bones have the same channels in another pose, to the bit."""
        return _alike(self.rotations, other.rotations, bones) and _alike(self.locations, other.locations, bones)

    def put(self, other: "Channels", bones: np.ndarray) -> None:
        """Take the channels of some bones from another pose."""
        self.rotations[bones], self.locations[bones] = other.rotations[bones], other.locations[bones]

    def put_some(self, other: "Channels", which: Which) -> None:
        """Take some channels from another pose."""
        np.copyto(self.rotations, other.rotations, where=which.rotations)
        np.copyto(self.locations, other.locations, where=which.locations)

    def away(self, other: "Channels", most: float) -> Which:
        """The channels that differ by more than `most`, or are no numbers."""
        return Which(~(np.abs(self.rotations - other.rotations) <= most),
                     ~(np.abs(self.locations - other.locations) <= most))  # fmt: skip

    def unlike(self, other: "Channels") -> Which:
        """The channels that differ."""
        return Which(self.rotations != other.rotations, self.locations != other.locations)

    def in_modes(self, modes: Modes) -> "Channels":
        """The same pose in other rotation modes."""
        rotations = modes.channels(self.quaternions(), np.arange(len(self.rotations)), self.rotations)
        return Channels(rotations, self.locations, modes, self.scales)

    def quaternions(self) -> np.ndarray:
        """Unit quaternions (N, 4) of all bones."""
        return self.modes.quaternions(self.rotations, np.arange(len(self.rotations)))

    def matrix(self, bone: int, scale: Vector) -> Matrix:
        """A bone's matrix relative to rest, computed as Blender does, to the last bit where mathutils allows."""
        mode, turn = self.modes.of_bone[bone], self.rotations[bone]
        if mode == rotation.QUATERNION:
            turned = Quaternion(turn).normalized().to_matrix()
        elif mode == rotation.AXIS_ANGLE:
            turned = Matrix.Rotation(turn[0], 3, Vector(turn[1:]))
        else:
            turned = Euler(turn[:3], mode).to_matrix()
        return Matrix.Translation(self.locations[bone]) @ turned.to_4x4() @ Matrix.Diagonal(scale).to_4x4()


def _alike(one: np.ndarray, other: np.ndarray, bones: np.ndarray) -> bool:
    """Whether some rows of two arrays are the same to the bit; mostly all are, which is cheaper to see."""
    same = one.tobytes() == other.tobytes()
    return same or one.take(bones, axis=0).tobytes() == other.take(bones, axis=0).tobytes()


def modes(bones: bpy.types.bpy_prop_collection, before: Modes | None = None) -> Modes:
    """The rotation modes of the bones. before : those read last, which are returned if they still hold."""
    numbers = bulk.read(bones, "rotation_mode", kind=np.int32)
    return before if before is not None and numbers.tobytes() == before.numbers else Modes(numbers)


def read(bones: bpy.types.bpy_prop_collection, of_modes: Modes | None = None) -> Channels:
    """The channels of all pose bones, original or evaluated."""
    of_modes, count = modes(bones) if of_modes is None else of_modes, len(bones)
    if of_modes.quaternions_only:
        rotations = bulk.read(bones, rotation.PATHS[rotation.QUATERNION], 4, count=count)
    else:
        rotations = _all_paths(bones, of_modes)[0].take(of_modes.places)
    return Channels(rotations, bulk.read(bones, "location", 3, count=count), of_modes)


def _all_paths(
    bones: bpy.types.bpy_prop_collection, of_modes: Modes
) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:  # fmt: skip
    """The numbers of all bones in all rotation channels in use, and a 0, in one array; and each path with its part."""
    count, begin, parts = len(of_modes.of_bone), 0, list[tuple[str, np.ndarray]]()
    numbers = np.zeros(count * sum(size for _, size in of_modes.paths) + 1, dtype=np.float32)
    for path, size in of_modes.paths:
        part = numbers[begin : begin + size * count]
        bones.foreach_get(path, part)
        parts.append((path, part.reshape(count, size)))
        begin += size * count
    return numbers, parts


def write(ob: bpy.types.Object, new: Channels) -> None:
    """Write the rotation channels in use, the locations, and what scales there are. Those of other modes stay."""
    write_rotations(ob, new)
    write_locations(ob, new)
    write_scales(ob, new)


def write_rotations(ob: bpy.types.Object, new: Channels) -> None:
    """Write the rotation channels in use. Channels of other modes do not change."""
    if new.modes.quaternions_only:
        _set(ob, "rotation_quaternion", new.rotations)
        return
    numbers, parts = _all_paths(ob.pose.bones, new.modes)
    numbers[new.modes.places] = new.rotations
    for path, part in parts:
        _set(ob, path, part)


def write_locations(ob: bpy.types.Object, new: Channels) -> None:
    """Write the locations."""
    _set(ob, "location", new.locations)


def write_scales(ob: bpy.types.Object, new: Channels) -> bool:
    """Write the scales, if there are any and they differ; returns whether they did."""
    if new.scales is None:
        return False
    bones, values = new.scales
    present = bulk.read(ob.pose.bones, "scale", 3)
    if present[bones].tobytes() == values.tobytes():
        return False
    present[bones] = values
    _set(ob, "scale", present)
    return True


def _set(ob: bpy.types.Object, path: str, values: np.ndarray) -> None:
    """Set one channel (N, ...) of all bones."""
    if ob.library is None:
        ob.pose.bones.foreach_set(path, values.reshape(-1))
    else:  # foreach_set() refuses linked bones
        for bone, value in zip(ob.pose.bones, values, strict=True):
            setattr(bone, path, value)
