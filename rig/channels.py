# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose channels of a whole armature as arrays: read and written by one call a channel."""

from dataclasses import dataclass

import bpy
import numpy as np

from . import rotation

_MODES = {0: rotation.QUATERNION, **dict(enumerate(rotation.EULER_ORDERS, 1)), -1: rotation.AXIS_ANGLE}
_NUMBERS = {mode: number for number, mode in _MODES.items()}


class Groups(list[tuple[str, np.ndarray]]):
    """Bones of each rotation mode in use, and the modes of all bones as Blender numbers them."""

    numbers: bytes = b""


@dataclass
class Channels:
    """Rotation channels (N, 4), in each bone's own mode, and locations (N, 3) of all pose bones.

    `groups` lists the bones of each rotation mode in use.
    """

    rotations: np.ndarray
    locations: np.ndarray
    groups: Groups

    def copy(self) -> "Channels":
        """An independent copy."""
        return Channels(self.rotations.copy(), self.locations.copy(), self.groups)

    def fits(self, bones: bpy.types.bpy_prop_collection) -> bool:
        """Whether these are channels of as many bones, in the same rotation modes."""
        return len(self.rotations) == len(bones) and modes(bones, self.groups) is self.groups

    def quaternions(self) -> np.ndarray:
        """Unit quaternions (N, 4) of all bones."""
        if len(self.groups) == 1:
            return rotation.to_quaternion(self.groups[0][0], self.rotations)
        q = np.empty_like(self.rotations)
        for mode, bones in self.groups:
            q[bones] = rotation.to_quaternion(mode, self.rotations[bones])
        return q

    def put(self, bones: np.ndarray, q: np.ndarray, reference: np.ndarray) -> None:
        """Set the rotations of some `bones` (S,) from quaternions (S, 4), nearest to `reference` (N, 4) channels."""
        if len(self.groups) == 1:
            self.rotations[bones] = rotation.from_quaternion(self.groups[0][0], q, reference[bones])
            return
        where = np.full(len(self.rotations), -1)
        where[bones] = np.arange(len(bones))
        for mode, members in self.groups:
            mine = members[where[members] >= 0]
            if mine.size:
                self.rotations[mine] = rotation.from_quaternion(mode, q[where[mine]], reference[mine])

    def modes(self) -> list[str]:
        """Each bone's rotation mode (N,)."""
        modes = [""] * len(self.rotations)
        for mode, bones in self.groups:
            for bone in bones:
                modes[bone] = mode
        return modes


def modes(bones: bpy.types.bpy_prop_collection, known: Groups | None = None) -> Groups:
    """The bones of each rotation mode in use; `known` itself where that has not changed."""
    numbers = np.empty(len(bones), dtype=np.int32)
    bones.foreach_get("rotation_mode", numbers)
    packed = numbers.tobytes()
    if known is not None and packed == known.numbers:
        return known
    groups = Groups((_MODES[int(number)], np.flatnonzero(numbers == number)) for number in np.unique(numbers))
    groups.numbers = packed
    return groups


class Room:
    """Room to read an armature's channels into frame after frame, to tell whether they have changed."""

    def __init__(self, count: int, groups: Groups) -> None:
        self.groups = groups
        paths = {rotation.PATHS[mode]: rotation.SIZES[mode] for mode, _ in groups} | {"location": 3}
        self._parts = [(path, np.empty(size * count, dtype=np.float32)) for path, size in paths.items()]

    def read(self, bones: bpy.types.bpy_prop_collection) -> bytes:
        """All channels in use, as Blender keeps them."""
        for path, part in self._parts:
            bones.foreach_get(path, part)
        return b"".join([part.tobytes() for _, part in self._parts])


def rounded(values: np.ndarray) -> np.ndarray:
    """Values as Blender's single precision keeps them."""
    return values.astype(np.float32).astype(float)


def read(bones: bpy.types.bpy_prop_collection, groups: Groups | None = None) -> Channels:
    """The channels of all pose bones, original or evaluated."""
    count = len(bones)
    groups = modes(bones) if groups is None else groups
    rotations = np.zeros((count, 4), dtype=np.float32)
    for path in {rotation.PATHS[mode] for mode, _ in groups}:
        size = 3 if path == "rotation_euler" else 4
        buffer = np.empty((count, size), dtype=np.float32)
        bones.foreach_get(path, buffer.reshape(-1))
        for mode, members in groups:
            if rotation.PATHS[mode] == path:
                rotations[members, :size] = buffer[members]
    locations = np.empty((count, 3), dtype=np.float32)
    bones.foreach_get("location", locations.reshape(-1))
    return Channels(rotations.astype(float), locations.astype(float), groups)


def write(bones: bpy.types.bpy_prop_collection, new: Channels, location: bool) -> None:
    """Write all rotation channels in use, and the locations if asked; other modes' channels are left alone."""
    for path in {rotation.PATHS[mode] for mode, _ in new.groups}:
        size = 3 if path == "rotation_euler" else 4
        members = np.concatenate([bones_of for mode, bones_of in new.groups if rotation.PATHS[mode] == path])
        buffer = np.empty((len(new.rotations), size), dtype=np.float32)
        if len(members) < len(buffer):
            bones.foreach_get(path, buffer.reshape(-1))
        buffer[members] = new.rotations[members, :size]
        bones.foreach_set(path, buffer.reshape(-1))
    if location:
        bones.foreach_set("location", np.ascontiguousarray(new.locations, dtype=np.float32).reshape(-1))
