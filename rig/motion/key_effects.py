# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones and controls do to a figure: how its joints turn and its ends move if one of their channels changes a bit.

Bones carry what hangs on them. Controls of goals carry the ends of these, and the bones that lead there turn so as to
follow: by least squares, as the solver has it near the pose that it has found.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import Part, extremes
from ..controls import goals
from ..shot import attachable
from .reduce_keys import SCALE, Bounds, Dense, DenseMotion, key_of

_PLAIN = 0.03  # by which a channel may differ, so that what it does is in proportion to that
_UNKNOWN = 0.3  # of the bounds, for controls of which it is not known what they do
_STEP = 1e-4
_STIFF = 1e-3  # of what a free joint gives way, for the stiffest
_SOFT = 1e-4  # of the figure's size: how solves near straight limbs give way
_LITTLE = 0.02  # of a part's largest effect: smaller ones on other joints do not count
_OWN = 4  # vectors of a part alone: its place, its scale, and two for all its channels


class _Change(NamedTuple):
    """A small change of a bone or a control in the world: what turns (H, 3) about a place (H, 3) and moves (H, 3)."""

    about: np.ndarray
    turn: np.ndarray
    move: np.ndarray

    def at(self, places: np.ndarray) -> np.ndarray:
        """How far (H, ..., 3) places (H, ..., 3) that it carries go."""
        about, turn, move = (one.reshape(len(one), *[1] * (places.ndim - 2), 3) for one in self)
        return np.cross(turn, places - about) + move


class _Goal(NamedTuple):
    """A goal that is followed: its bone, the key of its target's owner, its end, and the place (H, 3) it brings there.

    follows : its rotation is that against the bone above.
    """

    bone: int
    owner: tuple[str, str]
    end: int
    place: np.ndarray
    moves: bool
    turns: bool
    follows: bool


class _Solve:
    """How the bones that goals move follow changes, near the poses of a motion.

    goals : the followed ones. joints : (L,), the bones that they move.
    """

    def __init__(self, ob: bpy.types.Object, ends: Sequence[str], motion: DenseMotion, size: float) -> None:
        bones = ob.pose.bones
        self.numbers = numbers = {bone.name: number for number, bone in enumerate(bones)}
        self.motion, self.lever = motion, 0.1 * size
        self.goals = list[_Goal]()
        for goal in goals.counting(ob) if ob.dqik.live else ():
            owner = next(iter(goals.target_owners([goal])), None)
            if goal.kind != "REACH" or owner is None:
                continue
            bone, end = numbers[goal.bone], ends.index(goal.bone)
            place = motion.places[:, end] if goal.use_tail else motion.heads[:, bone]
            self.goals.append(_Goal(bone, key_of(owner), end, place, goal.use_position, goal.use_rotation,
                                    goal.rotation_follows > 0.5))  # fmt: skip
        moved = attachable.solved_bones(ob) if self.goals else set[str]()
        free = [name for name in moved if not bones[name].dqik_lock]
        self.joints = np.array(sorted(numbers[name] for name in free), dtype=int)
        self.above = [{numbers[one.name] for one in (bone, *bone.parent_recursive)} for bone in bones]
        if not len(self.joints):  # goals that are refused, such as one whose target is in its own chain, move nothing
            self.goals.clear()
        if not self.goals:
            return
        columns, weights, still = list[np.ndarray](), list[float](), np.zeros((len(motion.heads), 3))
        for joint in self.joints.tolist():
            unit = [_Change(motion.heads[:, joint], still + axis, still) for axis in np.eye(3)]
            columns += [self.rows_of_bone(joint, change) for change in unit]
            weights += [(1.0 - bones[joint].dqik_stiffness) ** 2 + _STIFF] * 3
        for joint in [joint for joint in self.joints.tolist() if bones[joint].dqik_translate]:
            unit = [_Change(motion.heads[:, joint], still, still + axis) for axis in np.eye(3)]
            columns += [self.rows_of_bone(joint, change) for change in unit]
            weights += [size * size] * 3
        jacobian = np.stack(columns, -1)  # (H, M, K)
        weighted = jacobian * np.array(weights)
        square = weighted @ np.swapaxes(jacobian, 1, 2)
        square += (_SOFT * size) ** 2 * np.eye(square.shape[-1])
        self._answer = np.swapaxes(np.linalg.solve(square, weighted), 1, 2)[:, : 3 * len(self.joints)]

    def rows_of_bone(self, bone: int, change: _Change) -> np.ndarray:
        """What (H, M) a change of a bone of the figure does to what the goals bring to their targets."""
        return self.rows([bone in self.above[goal.bone] for goal in self.goals], change, bone)

    def rows(self, carried: Sequence[bool], change: _Change, bone: int | None = None) -> np.ndarray:
        """What (H, M) a change of the targets that it carries, or of a bone, asks of the goals."""
        found = list[np.ndarray]()
        for goal, is_carried in zip(self.goals, carried, strict=True):
            if goal.moves:
                found.append(is_carried * change.at(goal.place))
            if goal.turns:
                is_turned = is_carried and (not goal.follows or bone is None or bone == goal.bone)
                found.append(self.lever * is_turned * change.turn)
        return np.concatenate(found, -1) if found else np.zeros((len(change.turn), 0))

    def turns(self, rows: np.ndarray) -> np.ndarray:
        """How (H, L, 3) the moved bones turn so that the rows (H, M) come true."""
        return (self._answer @ rows[..., None])[..., 0].reshape(len(rows), -1, 3)


def parts(ob: bpy.types.Object, every: Sequence[Dense], ends: Sequence[str], motion: DenseMotion, size: float,
          bounds: Bounds) -> list[Part]:  # fmt: skip
    """The parts of a motion, with their effects on all vectors.

    These are the turns of all N bones, the places of the E ends, and some of each part alone.
    """
    solve = _Solve(ob, ends, motion, size)
    return [_part(ob, solve, ends, number, one, motion, bounds) for number, one in enumerate(every)]


def count(ob: bpy.types.Object, ends: Sequence[str], every: Sequence[Dense]) -> int:
    """The number of vectors."""
    return len(ob.pose.bones) + len(ends) + _OWN * len(every)


def _part(
    ob: bpy.types.Object, solve: _Solve, ends: Sequence[str], number: int, one: Dense, motion: DenseMotion,
    bounds: Bounds,
) -> Part:  # fmt: skip
    names = solve.numbers
    bone = names[one.bone] if one.ob == ob and one.bone else None
    followed = {goal.end for goal in solve.goals}
    free = [end for end, name in enumerate(ends) if end not in followed and one.ob == ob
            and (bone is None or bone in solve.above[names[name]])]  # fmt: skip
    carried = [_carries(one, goal.owner) for goal in solve.goals]
    is_unknown = not any(carried) and key_of(one.owner) in {key_of(own) for own in goals.target_owners(ob.dqik.goals)}
    own = len(names) + len(ends) + _OWN * number
    found, count, joints = list[dict[int, np.ndarray]](), len(one.values), solve.joints.tolist()
    for (path, index), (change, scaled) in _changes(one, motion.spaces[:, number]):
        effects = {own: (change.move if path == "location" else np.zeros((count, 3))) / bounds.distance,
                   own + 1: np.full((count, 3), scaled / SCALE / np.sqrt(3.0))}  # fmt: skip
        ways = change.at(motion.places[:, free]) / bounds.distance
        effects |= {len(names) + end: ways[:, row] for row, end in enumerate(free)}
        for goal, is_carried in zip(solve.goals, carried, strict=True):
            if is_carried:
                effects[len(names) + goal.end] = change.at(motion.places[:, goal.end]) / bounds.distance
        if is_unknown:
            effects[own] = effects[own] / _UNKNOWN
        rows = None  # of what the solve makes up for, or does
        if len(solve.joints) and bone is not None and not any(carried) and not is_unknown:
            rows = -solve.rows_of_bone(bone, change)
        if any(carried) and not all(carried):
            rows = solve.rows(carried, change)
        turns = {} if rows is None else dict(zip(joints, np.swapaxes(solve.turns(rows), 0, 1), strict=True))
        if bone is not None:
            turns[bone] = turns.get(bone, 0.0) + change.turn / (_UNKNOWN if is_unknown else 1.0)
        effects |= {joint: turn / bounds.angle for joint, turn in turns.items()}
        if path not in ("location", "scale"):
            plain = effects[own + 2 + index // 3] = np.zeros((count, 3))
            plain[:, index % 3] = 1.0 / _PLAIN
        found.append(effects)
    part = _packed(found, one, set(range(len(names))) - {bone})
    if bone is not None and free:
        ways = motion.places[::2, free] - motion.heads[::2, None, bone]
        part.likely = (2 * extremes(ways.reshape(len(ways), -1))).tolist()
    return part


def _packed(found: Sequence[dict[int, np.ndarray]], one: Dense, joints: set[int]) -> Part:
    """A part of what each channel does to vectors, without those of `joints` that hardly change."""
    values, none = one.values[:, one.moving], np.zeros((len(one.values), 3))
    vectors = np.array(sorted({vector for effects in found for vector in effects}), dtype=int)
    if not found:
        return Part(values, np.zeros((0, len(values), 0, 3)), vectors, limb=one.limb)
    whole = np.stack([[effects.get(vector, none) for vector in vectors] for effects in found]).swapaxes(1, 2)
    sizes = np.abs(whole).max((0, 1, 3))
    counts = (sizes > _LITTLE * sizes.max()) | ~np.isin(vectors, list(joints))
    effects = np.ascontiguousarray(whole[:, :, counts], dtype=np.float32)
    return Part(values, effects, vectors[counts], one.must, limb=one.limb)


def _changes(one: Dense, spaces: np.ndarray) -> Iterator[tuple[tuple[str, int], tuple[_Change, float]]]:
    """What a unit of each moving channel does in the world, and to the scale.

    spaces : (H, 4, 4), the axes that the channels have, and where their owner is.
    """
    axes, about, none = spaces[:, :3, :3], spaces[:, :3, 3], np.zeros((len(one.values), 3))
    bone, moving = one.ob.data.bones[one.bone] if one.bone else None, axes
    if bone is not None and not bone.use_local_location:
        moving = axes @ np.array(bone.matrix_local.to_3x3()).T
    size = np.cbrt(np.abs(np.linalg.det(axes)))[:, None]
    turned, paths = one.turned(), sorted(one.curves, key=one.curves.__getitem__)
    back = None if turned is None else quaternion.conjugate(turned(one.values))
    for column in one.moving.tolist():
        path, index = paths[column]
        turn, move = none, moving[:, :, index] if path == "location" else none
        if path not in ("location", "scale") and turned is not None:
            after = one.values.copy()
            after[:, column] += _STEP
            way = quaternion.log(quaternion.product(turned(after), back)) / _STEP
            turn = (axes @ way[..., None])[..., 0] / size
        yield paths[column], (_Change(about, turn, move), float(path == "scale"))


def _carries(one: Dense, owner: tuple[str, str]) -> bool:
    """Whether a bone or an object carries the owner of a target."""
    if (one.ob.name, one.bone) == owner or (one.ob.name, "") == (owner[0], one.bone):
        return True
    if one.ob.name != owner[0] or not owner[1]:
        return False
    return one.bone in {above.name for above in one.ob.pose.bones[owner[1]].parent_recursive}

