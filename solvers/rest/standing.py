# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that are folded at rest, as they stand in their motion.

The bones of some captured figures all point one way at rest, or have the axes of a modelling program, and only the
motion unfolds them. Such a rest tells nothing about the figure. The pose in which it stands straightest takes its
place: with hips, spine, neck and head turned as they are on average while it stands, and each foot as it is where it is
lowest. An animal stands on four: with its trunk level, and shins and forearms down.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from .directions import LEFT, RIGHT, SMALL, Key, unit
from .tree import Tree

BENT, _LEANING = np.cos(np.radians(35.0)), np.cos(np.radians(65.0))  # of a trunk to a leg: bent, and leaning at rest
_APART = np.cos(np.radians(120.0))  # from here on legs point away from each other
_STANDS, _UPRIGHT = np.cos(np.radians(40.0)), np.cos(np.radians(20.0))  # who leans by less stands; or stands upright
_STRAIGHT, _UNTWISTED = 1.0, 0.5  # how much straight legs and trunks that are not twisted count beside upright ones
_NEARLY = 0.3  # less than the straightest pose: poses in which a figure stands as well
_FEET, _SPINE, _PAWS = ("foot", "toes"), ("spine", "neck", "head"), ("foot", "toes", "hand", "finger")
_LOW = 0.25  # of the frames on which an animal stands: each paw is on the ground on so many
_LINE = np.cos(np.radians(30.0))  # bones of a spine in line are nearer to it
_DOWN, _HEADWARD = np.cos(np.radians(50.0)), np.cos(np.radians(135.0))  # limbs on four; legs that rest along the trunk


class FigureLines(NamedTuple):
    """Unit directions (3,): of the trunk upward, of both legs down, and of hips and shoulders to the left.

    straight : the cosine by which the more bent leg is straight. limbs : of shins and forearms, or arms without them.
    """

    trunk: np.ndarray
    legs: list[np.ndarray]
    straight: float
    left: tuple[np.ndarray, np.ndarray]
    limbs: list[np.ndarray]

    @property
    def upright(self) -> float:
        """The cosine between the trunk and the middle of both legs, upward; -1 if these point away from each other."""
        apart = self.legs[0] @ self.legs[1] < _APART
        return -1.0 if apart else -float(self.trunk @ unit(self.legs[0] + self.legs[1]))

    @property
    def straightness(self) -> float:
        """How straight the figure stands."""
        return self.upright + _STRAIGHT * self.straight + _UNTWISTED * float(self.left[0] @ self.left[1])

    def on_four(self, up: np.ndarray) -> float:
        """How straight the figure stands on four; -1 if it does not. up : (3,) away from the ground."""
        down = -float(np.mean(self.limbs, axis=0) @ up)
        level = abs(float(self.trunk @ up)) < _LEANING
        return down + _UNTWISTED * float(self.left[0] @ self.left[1]) if level and down > _DOWN else -1.0


class RestBones(NamedTuple):
    """The N bones of a figure at rest.

    rest : (N, 4, 4). lengths : (N,). roles : by number. alone : those that do not inherit rotation.
    """

    tree: Tree
    rest: np.ndarray
    lengths: np.ndarray
    roles: Mapping[int, Key]
    alone: set[int]

    def tips(self, poses: np.ndarray) -> np.ndarray:
        """The tails (..., N, 3) of bones in poses (..., N, 4, 4)."""
        return poses[..., :3, 3] + self.lengths[:, None] * poses[..., :3, 1]


class Stand(NamedTuple):
    """How a folded figure stands on F frames, of which it has `lines` and `ups` (F, 3) away from the ground.

    straight : (F,) how straight it stands. on_four : whether it is an animal. nowhere : whether it stands on no frame.
    """

    lines: Sequence[FigureLines]
    ups: np.ndarray
    straight: np.ndarray
    on_four: bool
    nowhere: bool


def of_motion(rest: FigureLines, lines: Sequence[FigureLines], ups: np.ndarray) -> Stand | None:
    """How a figure with some lines at rest stands on frames, as of `Stand`; None if it is not folded at rest."""
    upright = np.array([one.upright for one in lines])
    straight = np.array([one.on_four(up) for one, up in zip(lines, ups, strict=True)])
    if (straight > -1.0).sum() > (upright > _STANDS).sum():
        is_folded = all(rest.on_four(up) == -1.0 for up in ups)
        return Stand(lines, ups, straight, True, False) if is_folded else None
    if not _is_folded(rest, upright):
        return None
    return Stand(lines, ups, np.array([one.straightness for one in lines]), False, bool(upright.max() < _STANDS))


def _is_folded(rest: FigureLines, upright: np.ndarray) -> bool:
    """Whether a figure that is bent at rest is not so built. upright : (F,) in its motion.

    Nobody rests with legs that point away from each other, or forward along the trunk unless they stay so. An animal
    leans in most of its motion too, whatever it does on some frames, and people who are bent stay so.
    """
    if rest.upright == -1.0 or (rest.upright < _HEADWARD and np.median(upright) > _HEADWARD):
        return True
    return bool(np.median(upright) > _LEANING) if rest.upright < _LEANING else bool(np.median(upright) > _UPRIGHT)


def pose(bones: RestBones, stand: Stand, poses: np.ndarray) -> np.ndarray:
    """The pose (N, 4, 4) of bones that stand, of those (F, N, 4, 4) of a motion.

    Where spine, neck and head are in one line at rest, they are straight there, however that line lies. From the first
    bone of a spine that does not inherit rotation on, the line says nothing of how they are turned. The neck of an
    animal rises: it stands on average, and each paw as it is while it is low.
    """
    tree, roles, straight, ups = bones.tree, bones.roles, stand.straight, stand.ups
    best = int(straight.argmax())
    turns = quaternion.from_matrix(poses[..., :3, :3] / np.linalg.norm(poses[..., :3, :3], axis=2, keepdims=True))
    body = np.array([_facing(one.left[0], up if up @ one.trunk > _LEANING else one.trunk)
                     for one, up in zip(stand.lines, ups, strict=True)])  # fmt: skip
    seen = quaternion.product(quaternion.conjugate(body)[:, None], turns)  # by the figure itself
    stands = straight > straight[best] - _NEARLY
    heights, found = (poses[..., :3, 3] * ups[:, None]).sum(-1), turns[best].copy()
    if stand.on_four:
        paws = [bone for bone, (name, _) in roles.items() if name in _PAWS]
        tips = bones.tips(poses) @ ups[best]
        low = stands[:, None] & (tips <= np.quantile(tips[stands], _LOW, axis=0))
        for bone in range(len(found)):
            rows = low[:, bone] if bone in paws else stands
            found[bone] = quaternion.product(body[best], _mean(seen[rows, bone]))
        found = _placed(tree, poses[best], turns[best], found)
        ground = min(tips[low[:, paw], paw].mean() for paw in paws)
        found[:, :3, 3] += (ground - (bones.tips(found)[paws] @ ups[best]).min()) * ups[best]
        return found
    spine = sorted((bone for bone, (name, _) in roles.items() if name in _SPINE), key=tree.depth)
    for bone, (name, side) in roles.items():
        if not side:
            found[bone] = quaternion.product(body[best], _mean(seen[stands, bone]))
        elif name in _FEET:
            foot = [one for one, (other, other_side) in roles.items() if other_side == side and other in _FEET]
            low = int(np.where(stands, heights[:, foot].sum(-1), np.inf).argmin())
            found[bone] = quaternion.product(body[best], seen[low, bone])
    spine = spine[: next((place for place, bone in enumerate(spine) if place and bone in bones.alone), None)]
    if spine and _is_straight(tree.heads[spine]):
        rest = quaternion.from_matrix(bones.rest[spine, :3, :3])
        turned = quaternion.product(found[spine], quaternion.conjugate(rest))
        trunk = [roles[bone][0] == "spine" for bone in spine]
        found[spine] = quaternion.product(_mean(turned[trunk if any(trunk) else slice(None)]), rest)
    return _placed(tree, poses[best], turns[best], found)


def _placed(tree: Tree, pose: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """A pose (N, 4, 4) with other turns (N, 4) of its bones, whose joints stay together."""
    found = np.tile(np.eye(4), (len(pose), 1, 1))
    found[:, :3, :3] = quaternion.to_matrix(after)
    for bone in sorted(range(len(pose)), key=tree.depth):
        above = tree.parent[bone]
        line = pose[bone, :3, 3] - (pose[above, :3, 3] if above >= 0 else 0.0)
        if above >= 0:
            more = quaternion.product(after[above], quaternion.conjugate(before[above]))
            line = found[above, :3, 3] + quaternion.rotate(more, line)
        found[bone, :3, 3] = line
    return found


def _is_straight(joints: np.ndarray) -> bool:
    """Whether joints (K, 3) are in one line."""
    whole = joints[-1] - joints[0]
    lines = [line for line in np.diff(joints, axis=0) if np.linalg.norm(line) > SMALL * np.linalg.norm(whole)]
    return all(float(unit(line) @ unit(whole)) > _LINE for line in lines)


def _mean(turns: np.ndarray) -> np.ndarray:
    """The mean (4,) of rotations (F, 4)."""
    _, vectors = np.linalg.eigh(turns.T @ turns)
    return vectors[:, -1]


def _facing(left: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The turn (4,) of a figure whose left and up are known."""
    left = unit(left - up * (left @ up))
    return quaternion.from_matrix(np.stack([left, up, np.cross(left, up)], -1))


def lines(tree: Tree, roles: Mapping[int, Key]) -> FigureLines | None:
    """The lines of a figure by its joints; None if it has not both legs and both arms."""
    bones = {role: bone for bone, role in sorted(roles.items(), reverse=True)}

    def heads(*names: str) -> list[np.ndarray]:
        own = (next((bones[name, side] for name in names if (name, side) in bones), None) for side in (LEFT, RIGHT))
        return [tree.heads[bone] for bone in own if bone is not None]

    joints = thighs, shins, feet, arms = heads("thigh"), heads("shin"), heads("foot", "shin"), heads("arm", "collar")
    if any(len(both) < 2 for both in joints):
        return None
    lower = [(shins, feet), (heads("forearm", "arm", "collar"), heads("hand", "forearm", "arm", "collar"))]
    limbs = [unit(end - start) for both in lower for start, end in zip(*both, strict=True)]
    legs = [unit(foot - thigh) for foot, thigh in zip(feet, thighs, strict=True)]
    straight = min(float(unit(shin - thigh) @ leg) for shin, thigh, leg in zip(shins, thighs, legs, strict=True))
    trunk = unit(arms[0] + arms[1] - thighs[0] - thighs[1])
    return FigureLines(trunk, legs, straight, (unit(thighs[0] - thighs[1]), unit(arms[0] - arms[1])), limbs)
