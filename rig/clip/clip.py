# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion as arrays: what Blender shows of objects over frames, and the whole curves that are written for it."""

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion, twist_swing
from ...solvers.model import project_swing
from ...solvers.motion import BodyMotion
from .. import curves
from ..blender import channels, limit_frame, rotation, scene_state
from ..blender.armature import matrices
from ..blender.places import Owner
from ..keys import splits
from ..notes import Note, Refused
from ..skeleton import limits

_TINY = 1e-8  # what Blender adds to the axes of a matrix that has no inverse


class Space(NamedTuple):
    """Where an armature object is: its place (3,) or (F, 3), turn (4,) or (F, 4) and scale."""

    place: np.ndarray
    turn: np.ndarray
    scale: float

    @classmethod
    def of(cls, ob: bpy.types.Object) -> "Space":
        """Of an object as it is shown."""
        place, turn, scale = ob.matrix_world.decompose()
        return cls(np.array(place), np.array(turn), float(max(map(abs, scale))))

    def part(self, frames: slice) -> "Space":
        """Where it is on some of the F frames."""
        return self if self.place.ndim == 1 else Space(self.place[frames], self.turn[frames], self.scale)

    @property
    def level(self) -> float:
        """How high it is."""
        return float(np.median(self.place[..., 2]))


class Clip:
    """What Blender shows of an object over F frames, in single precision as Blender has it.

    Attributes
    ----------
    name : of the object. world, basis : (F, 4, 4), where it is, and that without what carries it. poses : (F, N, 4, 4)
    of its N bones in the object, and bases : (F, N, 4, 4) without what carries them. rotations : channels (F, N, 4),
    each in its bone's own mode. locations : (F, N, 3).
    """

    def __init__(self, ob: bpy.types.Object, count: int) -> None:
        """Make room for `count` frames."""
        self._ob, self.name, bones = ob, ob.name, 0 if ob.pose is None else len(ob.pose.bones)
        self._modes = list[channels.Modes | None]([None] * count)
        shapes = (4, 4), (4, 4), (bones, 4, 4), (bones, 4, 4), (bones, 4), (bones, 3)
        self.world, self.basis, self.poses, self.bases, self.rotations, self.locations = (
            np.empty((count, *shape), dtype=np.float32) for shape in shapes)  # fmt: skip

    def take(self, row: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Read a frame, as it is evaluated."""
        shown = self._ob.evaluated_get(depsgraph)
        self.world[row], self.basis[row] = np.array(shown.matrix_world), np.array(shown.matrix_basis)
        if shown.pose is not None:
            bones = shown.pose.bones
            self._modes[row] = modes = channels.modes(bones, self._modes[row - 1])
            values = channels.read(bones, modes)
            self.poses[row], self.bases[row] = matrices(bones, "matrix"), matrices(bones, "matrix_basis")
            self.rotations[row], self.locations[row] = values.rotations, values.locations

    @cached_property
    def quaternions(self) -> np.ndarray:
        """Unit quaternions (F, N, 4) of the rotations; ask for them once all frames are read."""
        found = np.empty_like(self.rotations)
        for modes in dict.fromkeys(one for one in self._modes if one is not None):
            rows = np.flatnonzero([own == modes for own in self._modes])
            for mode, bones in modes.groups:
                own = np.ix_(rows, bones)
                found[own] = rotation.to_quaternion(mode, self.rotations[own].astype(float))
        return found

    def bones(self, numbers: int | Sequence[int] | slice = slice(None)) -> np.ndarray:
        """The matrices (F, ..., 4, 4) of bones in the world."""
        poses = self.poses[:, numbers].astype(float)
        return self.world.astype(float).reshape(-1, *[1] * (poses.ndim - 3), 4, 4) @ poses

    def points(self, bone: int, place: Sequence[float]) -> np.ndarray:
        """The places (F, 3) in the world of a point in a bone's frame."""
        matrix = self.bones(bone)
        return matrix[:, :3, :3] @ np.asarray(place, dtype=float) + matrix[:, :3, 3]

    def space(self) -> Space:
        """Where the object is."""
        scales = np.linalg.norm(self.world[:, :3, :3].astype(float), axis=1)
        return Space(self.world[:, :3, 3].astype(float), turns_of(self.world), float(np.median(scales.max(-1))))

    def channel_space(self, bone: int | None) -> np.ndarray:
        """The axes (F, 4, 4) in the world that the channels of a bone or the object have, and where their owner is."""
        place = self.world.astype(float) if bone is None else self.bones(bone)
        basis = (self.basis if bone is None else self.bases[:, bone]).astype(float)
        found = place @ np.linalg.inv(basis + _TINY * (np.linalg.det(basis) == 0.0)[:, None, None] * np.eye(4))
        found[:, :3, 3] = place[:, :3, 3]
        return found

    @property
    def unit(self) -> float:
        """1, or -1 where the object is mirrored: by it, points in frames of bones are turned to where they are."""
        return -1.0 if np.linalg.det(self.world[0, :3, :3]) < 0.0 else 1.0

    def body(self, rest: np.ndarray) -> BodyMotion:
        """The motion of its bones, which have matrices (N, 4, 4) at rest."""
        world = self.bones()
        turns = quaternion.product(turns_of(world), quaternion.conjugate(quaternion.from_matrix(rest[:, :3, :3])))
        return BodyMotion(world[..., :3, 3], turns)


def turns_of(matrix: np.ndarray) -> np.ndarray:
    """The rotations (..., 4) of matrices (..., 4, 4) that may be scaled.

    Of mirrored ones those of their negative, as Blender has it: one relative to another is the same.
    """
    axes = matrix[..., :3, :3].astype(float)
    lengths = np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), 1e-300)
    return quaternion.from_matrix(axes / np.where(np.linalg.det(axes)[..., None, None] < 0.0, -lengths, lengths))


def read(
    objects: Sequence[bpy.types.Object], frames: Sequence[float], visits: scene_state.Visits
) -> Generator[float, None, list[Clip]]:
    """What Blender shows of objects on frames, which may lie between two; yields the progress from 0 to 1.

    Raises `Refused` if places are no numbers: nothing is keyed from what is not.
    """
    found = [Clip(ob, len(frames)) for ob in objects]
    for row, frame in enumerate(frames):
        depsgraph = visits.visit(frame)
        for clip in found:
            clip.take(row, depsgraph)
        yield (row + 1) / len(frames)
    for ob, clip in zip(objects, found, strict=True):
        if not (np.isfinite(clip.world).all() and np.isfinite(clip.poses).all()):
            raise Refused(Note("The motion of {} has values that are no numbers: reset its place and its pose",
                               repr(ob.name)))
    return found


def continuous(mode: str, turns: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Rotation channels (F, 4) of a mode for rotations (F, 4), each nearest to the one before, the first to `start`."""
    found = np.empty(turns.shape)
    for row, turn in enumerate(turns):
        start = found[row] = rotation.from_quaternion(mode, turn, start)
    return found


def write(
    ob: bpy.types.Object, values: Mapping[tuple[str, str], np.ndarray], times: Sequence[float], still: bool = False
) -> int:  # fmt: skip
    """Key channels (F, 3 or 4) at times, by the bone, empty for the object, and their name; the number of keys.

    Before and after the times the action stays as it is; `still` : and the pose where the object has no keys. Of
    rotations, the numbers count that the channel has.
    """
    writer, count = curves.Writer.of(ob), 0
    for (bone, path), columns in values.items():
        owner: Owner = ob.pose.bones[bone] if bone else ob
        splits.keep_outside(owner, path, times, still)
        for index in range(rotation.PATH_SIZES.get(path, columns.shape[1])):
            whole, group = curves.path_of(owner, path), curves.group_of(owner, path)
            writer.write(whole, index, group, np.array(times), columns[:, index])
            count += len(times)
    writer.finish()
    return count


def inside_limits(bone: bpy.types.PoseBone, before: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function that takes rotations (F, 4) of a bone from rest to the nearest ones inside its limits.

    If some of its rotations `before` (F, 4) are outside, these may be as far outside as the furthest: to take a
    captured bone into its limits would take all that it carries from its place.
    """
    if not bone.dqik_use_limits:
        return lambda turned: turned
    frame, (lo, hi) = limit_frame.of(bone), limits.of(bone)

    def project(turned: np.ndarray) -> np.ndarray:
        x = twist_swing.coordinates(limit_frame.motions(turned, frame.start, frame.axes))
        if limits.is_twist_limited(lo[None], hi[None])[0]:
            x[:, 0] = np.clip(x[:, 0], lo[0], hi[0])
        if limits.is_swing_limited(lo[None], hi[None])[0]:
            x[:, 1:] = project_swing(x[:, 1:], *(np.broadcast_to(end[1:], (len(x), 2)) for end in (lo, hi)))
        return twist_swing.compose(x) @ limit_frame.to_rotations(frame.start, frame.axes)

    outside = quaternion.angle(before, project(before)).max()

    def allowed(turned: np.ndarray) -> np.ndarray:
        inside = project(turned)
        out = quaternion.log(quaternion.relative(inside, turned))
        share = outside / np.maximum(np.linalg.norm(out, axis=-1), outside + _TINY)
        return quaternion.product(inside, quaternion.exp(share[:, None] * out))

    return allowed
