# SPDX-License-Identifier: GPL-3.0-or-later
"""The keyed targets of a figure's goals on the frames between its keyed poses: they go along with the bones they lead.

A target is as far from its bone as at the two keys, which is not at all where it is met, and a pole goes with the bone
that points at it. What has equal keys around a gap stays where it is: feet that are planted do not slide. Pins and what
is attached to something are left alone.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...solvers.algebra import quaternion
from ...solvers.motion import fine_time
from ..blender import rotation
from ..blender.dependencies import acts
from ..blender.places import Owner, converted, owner_of
from ..clip import clip
from ..controls.goals import PIN
from ..shot import attachable, keys

_STAYS = 1e-5  # channels at two keys that differ by less are equal


class KeyedTarget(NamedTuple):
    """A target or a pole with keys.

    ob, bone : what it is; an object has no bone. paths : its channels with keys. beside : the number of the bone that
    it goes with. point : (3,), where that is wanted, from the bone's head at rest; None for poles.
    """

    ob: bpy.types.Object
    bone: str
    paths: list[str]
    beside: int
    point: np.ndarray | None

    @property
    def owner(self) -> Owner:
        """The object, or its bone."""
        return self.ob.pose.bones[self.bone] if self.bone else self.ob

    @property
    def number(self) -> int:
        """Of its bone; -1 for an object."""
        return self.ob.pose.bones.find(self.bone) if self.bone else -1


class Gaps(NamedTuple):
    """F frames between keys: the rows (K,) of keys among them, the gap (F,) of each, and how far (F,) it is in it.

    times : (F,), at which keys are evaluated.
    """

    rows: np.ndarray
    number: np.ndarray
    share: np.ndarray
    times: Sequence[float]

    @classmethod
    def of(cls, frames: Sequence[int], keyed: Sequence[int], times: Sequence[float]) -> "Gaps":
        """Of frames, some of which are keys; both sorted, the first and the last frame among the keys."""
        number = np.clip(np.searchsorted(keyed, frames, side="right") - 1, 0, len(keyed) - 2)
        begin, end = np.asarray(keyed)[number], np.asarray(keyed)[number + 1]
        return cls(np.searchsorted(frames, keyed), number, (np.asarray(frames) - begin) / (end - begin), times)

    def eased(self, values: np.ndarray) -> np.ndarray:
        """What is (F, n) between values (K, n) at the keys."""
        rise = (self.share * self.share * (3.0 - 2.0 * self.share))[:, None]
        return (1.0 - rise) * values[self.number] + rise * values[self.number + 1]

    def in_all(self, at_keys: np.ndarray) -> np.ndarray:
        """The frames (F,) of gaps at both of whose keys (K,) something holds."""
        return (at_keys[:-1] & at_keys[1:])[self.number]


def keyed(ob: bpy.types.Object) -> list[KeyedTarget]:
    """The targets and poles with keys of an armature object's goals, but for pins and what is attached or solved."""
    found, solved = dict[tuple[bpy.types.Object, str], KeyedTarget](), attachable.solved_bones(ob)
    for goal in ob.dqik.goals:
        bone = ob.pose.bones.get(goal.bone)
        if bone is None or goal.kind != "REACH" or goal.close_loop or goal.pin == PIN:
            continue
        line = np.array(bone.bone.tail_local - bone.bone.head_local) * goal.use_tail
        bends = bone if goal.use_tail or bone.parent is None else bone.parent
        for target, name, beside, point in ((goal.target, goal.subtarget, bone, line),
                                            (goal.pole_target, goal.pole_subtarget, bends, None)):  # fmt: skip
            own = target if target is None or target.type != "ARMATURE" else owner_of(target, name)
            if own is None or (target == ob and (own == ob or own.name in solved)) or any(map(acts, own.constraints)):
                continue
            paths = [path for path in keys.channels_of(own) if keys.curves_of(own, path)]
            where = target, "" if own == target else own.name
            if paths and where not in found:
                found[where] = KeyedTarget(*where, paths, ob.pose.bones.find(beside.name), point)
    return list(found.values())


class Trajectory(NamedTuple):
    """World turns (F, 4) and places (F, 3)."""

    turns: np.ndarray
    places: np.ndarray


def trajectory(target: KeyedTarget, shown: clip.Clip, bone: Trajectory, unit: float, gaps: Gaps) -> Trajectory:
    """Where a target goes beside its bone, whose head goes somewhere and turns from rest.

    shown : of the target's object. unit : the scale of the figure, below 0 if it is mirrored.
    """
    before = (shown.bones(target.number) if target.bone else shown.world.astype(float))[gaps.rows]
    back, heads = quaternion.conjugate(bone.turns[gaps.rows]), bone.places[gaps.rows]
    turned = fine_time.one_sign(quaternion.product(back, clip.turns_of(before)))
    turns = quaternion.product(bone.turns, quaternion.normalize(gaps.eased(turned)))
    if target.point is None:
        line = gaps.eased(quaternion.rotate(back, before[:, :3, 3] - heads))
        return Trajectory(turns, bone.places + quaternion.rotate(bone.turns, line))
    line = np.broadcast_to(unit * target.point, bone.places.shape)
    ends = bone.places + quaternion.rotate(bone.turns, line)
    return Trajectory(turns, ends + gaps.eased(before[:, :3, 3] - ends[gaps.rows]))


class Placed:
    """Where (F, 4, 4) the bones of an object are in the world, once some of them are elsewhere than shown."""

    def __init__(self, ob: bpy.types.Object, shown: clip.Clip) -> None:
        self._bones, self._own, self.shown = ob.pose.bones, dict[int, np.ndarray](), shown

    def put(self, bone: int, own: Trajectory) -> None:
        """Put a bone somewhere; it keeps its size."""
        matrix = self.shown.bones(bone)
        sizes = self.shown.unit * np.linalg.norm(matrix[:, :3, :3], axis=-2, keepdims=True)
        matrix[:, :3, :3], matrix[:, :3, 3] = sizes * quaternion.to_matrix(own.turns), own.places
        self._own[bone] = matrix

    def pose(self, bone: int, bases: Sequence[Matrix]) -> None:
        """Pose a bone, whose parent stays from here on, by what it is posed in."""
        above = self.above(bone)
        local = [np.array(converted(self._bones[bone].bone, basis, None if above is None else Matrix(above[row])))
                 for row, basis in enumerate(bases)]  # fmt: skip
        self._own[bone] = self.shown.world.astype(float) @ np.array(local)

    def above(self, bone: int) -> np.ndarray | None:
        """Where (F, 4, 4) a bone's parent is in the object; None without one."""
        parent = self._bones[bone].parent
        if parent is None:
            return None
        return np.linalg.inv(self.shown.world.astype(float)) @ self.of(self._bones.find(parent.name))

    def of(self, bone: int) -> np.ndarray:
        """Where a bone is: what carries it takes it along."""
        if bone not in self._own:
            before, parent = self.shown.bones(bone), self._bones[bone].parent
            if parent is not None:
                up = self._bones.find(parent.name)
                after = self.of(up) @ np.linalg.inv(self.shown.bones(up)) @ before
                if not self._bones[bone].bone.use_inherit_rotation:
                    after[:, :3, :3] = before[:, :3, :3]
                before = after
            self._own[bone] = before
        return self._own[bone]


def channels(
    target: KeyedTarget, shown: clip.Clip, own: Trajectory, placed: Placed | None, gaps: Gaps
) -> dict[tuple[str, str], np.ndarray]:  # fmt: skip
    """The channels, as of `clip.write`, of a target that goes somewhere; as they are at keys, and between equal ones.

    placed : the bones of the target's object, among which it is put; None for objects.
    """
    owner, found, number = target.owner, dict[tuple[str, str], np.ndarray](), target.number
    above = None if placed is None else placed.above(number)
    bases = [_basis(target, shown, row, turn, place, None if above is None else above[row])
             for row, (turn, place) in enumerate(zip(own.turns, own.places, strict=True))]  # fmt: skip
    for path in target.paths:
        kept = values(owner, path, gaps.times)
        if path == "location":
            new = np.array([basis.translation[:] for basis in bases])
        else:
            turned = np.array([basis.to_quaternion()[:] for basis in bases])
            new = clip.continuous(owner.rotation_mode, turned, kept[0])
        equal = np.abs(np.diff(kept[gaps.rows], axis=0)).max(-1) < _STAYS
        found[target.bone, path] = mixed(path, new, kept, ~equal[gaps.number], gaps.rows)
    if placed is not None:
        placed.pose(number, _bases(owner, found, target.bone, shown.bases[:, number]))
    return found


def _bases(
    owner: Owner, found: Mapping[tuple[str, str], np.ndarray], bone: str, before: np.ndarray
) -> list[Matrix]:  # fmt: skip
    """What (F,) channels of a bone make of its bases (F, 4, 4)."""
    made = list[Matrix]()
    for row, basis in enumerate(before):
        place, turn, scale = Matrix(basis).decompose()
        if (bone, "location") in found:
            place = Vector(found[bone, "location"][row])
        for path in found.keys() - {(bone, "location")}:
            turn = Quaternion(rotation.to_quaternion(owner.rotation_mode, found[path][row]))
        made.append(Matrix.LocRotScale(place, turn, scale))
    return made


def values(owner: Owner, path: str, times: Sequence[float]) -> np.ndarray:
    """The values (F, 3) of the location or (F, 4) of the rotation that an owner's curves have at times."""
    found = np.array([keys.values_at(owner, path, time) for time in times], dtype=float)
    return np.pad(found, ((0, 0), (0, path != "location" and 4 - found.shape[1])))


def mixed(path: str, new: np.ndarray, kept: np.ndarray, changes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """New values (F, n) of a channel on frames (F,) that change, and else those that are kept, as on rows of keys."""
    changes = changes.copy()
    changes[rows] = False
    found = np.where(changes[:, None], new, kept)
    return fine_time.one_sign(found) if path == rotation.PATHS[rotation.QUATERNION] else found


def _basis(
    target: KeyedTarget, shown: clip.Clip, row: int, turn: np.ndarray, place: np.ndarray, above: np.ndarray | None
) -> Matrix:  # fmt: skip
    """The basis with which a target is turned and placed in the world on a frame."""
    wanted, world = Matrix.LocRotScale(Vector(place), Quaternion(turn), None), Matrix(shown.world[row])
    if not target.bone:
        return (world @ Matrix(shown.basis[row]).inverted_safe()).inverted_safe() @ wanted
    carried = None if above is None else Matrix(above)
    return converted(target.owner.bone, world.inverted_safe() @ wanted, carried, invert=True)
