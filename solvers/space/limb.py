# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone limbs: their preferred bend, and where the law of cosines puts them.

A joint with a `preferred` rotation vector whose parent is a ball joint is the middle of a limb (a knee, an elbow).
A straight limb is singular: the nearest answer may bend it either way, and changes its mind as the target passes.
So the pose that the pull aims at has its limbs slightly bent, and a solve from afresh starts with the limbs folded
to the distance of their targets (Parent, "analytic IK"), already on the right side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.goals import Goal, Targets
from ..model.skeleton import Skeleton
from .tasks import Kinematics

SWIVELS = np.radians([0.0, 45.0, -45.0])
"""Starts tried for each frame: limbs turned about the line from root to target; the cheapest answer wins."""


NO_LENGTH = 1e-9  # of a limb: what is left of a bone's direction then is rounding
EASE = 0.05  # [skeleton lengths] targets nearer to where the start pose has their goals bend its limbs less
SAME_SIZE = 0.01  # limbs whose bones are as long as each other's, to so much, are a left and a right one


@dataclass(frozen=True)
class Limb:
    """`upper` and `lower` joint, the `end` joint below them (-1: the effector itself), the goal served, the bend.

    `axis` (3,) is a unit vector in the lower joint's own frame about which a positive angle folds the limb,
    `upper_axis` (3,) the same in the upper joint's frame at rest, `bend` the preferred angle [rad]. `side` is +1 or
    -1, so that the swivels of a left and a right limb, which are of one size, mirror each other.
    """

    upper: int
    lower: int
    end: int
    goal: int
    axis: np.ndarray
    upper_axis: np.ndarray
    bend: float
    side: float


def find_limbs(skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray) -> list[Limb]:
    """The limbs of the joints that prefer a bend and may move, each with the first goal that can fold it."""
    limbs: list[Limb] = []
    sizes: list[np.ndarray] = []
    offsets = np.linalg.norm(dual_quaternion.translation(skeleton.links), axis=-1)
    for lower in np.flatnonzero(np.abs(skeleton.preferred).max(-1) > 0.0):
        upper = int(skeleton.parent[lower])
        if upper < 0 or skeleton.kinds[upper] != "ball" or skeleton.stiffness[[upper, lower]].max() >= 1.0:
            continue
        both = chains[:, lower] & chains[:, upper]
        serving = [g for g, goal in enumerate(goals) if both[g] and goal.position is not None]
        if not serving:
            continue
        joint = goals[serving[0]].joint
        path = [j for j in range(len(skeleton)) if skeleton.ancestors[joint, j] and skeleton.parent[j] == lower]
        bend = float(np.linalg.norm(skeleton.preferred[lower]))
        axis = skeleton.preferred[lower] / bend
        end = path[0] if path else -1
        size = np.array([offsets[lower], np.linalg.norm(goals[serving[0]].offset) if end < 0 else offsets[end]])
        twins = sum(bool(np.allclose(size, other, rtol=SAME_SIZE)) for other in sizes)
        sizes.append(size)
        side = -1.0 if twins % 2 else 1.0
        limbs.append(Limb(upper, int(lower), end, serving[0], axis,
                          quaternion.rotate(skeleton.links[lower, :4], axis), bend, side))  # fmt: skip
    return limbs


def bend_base(rotations: np.ndarray, limbs: Sequence[Limb], shares: np.ndarray) -> np.ndarray:
    """Base rotations (F, J, 4) with every limb that is straighter bent by its preferred angle.

    Half of it is taken back by the upper joint, so that the limb's end stays near its line.

    shares : (F, L) of the bend that is missing, by which each limb is bent.
    """
    if not limbs:
        return rotations
    bent = rotations.copy()
    for limb, share in zip(limbs, shares.T, strict=True):
        own = rotations[:, limb.lower]
        already = 2.0 * np.arctan2(own[:, 1:] @ limb.axis, own[:, 0])
        already = np.where(np.abs(already) > np.pi, 0.0, already)
        missing = (share * np.clip(limb.bend - already, 0.0, limb.bend))[:, None]
        bent[:, limb.lower] = quaternion.product(own, quaternion.exp(missing * limb.axis))
        back = quaternion.exp(-0.5 * missing * limb.upper_axis)
        bent[:, limb.upper] = quaternion.product(rotations[:, limb.upper], back)
    return bent


def fold(
    limbs: Sequence[Limb],
    goals: Sequence[Goal],
    rotations: np.ndarray,
    kinematics: Kinematics,
    targets: Targets,
    swivel: float,
) -> np.ndarray:
    """Base rotations (F, J, 4) with every limb folded to its target's distance and turned to point at it.

    Parameters
    ----------
    rotations, kinematics : the base pose.
    swivel : [rad] by which each limb is turned about its line to the target, mirrored between the sides.
    """
    folded = rotations.copy()
    matrices, positions = kinematics.matrices, kinematics.positions
    for limb in limbs:
        goal, effector = goals[limb.goal], kinematics.effectors[:, limb.goal]
        end = effector if limb.end < 0 else positions[:, limb.end]
        beyond = effector - end
        if goal.rotation is not None and limb.end >= 0:
            own = np.swapaxes(matrices[:, goal.joint], -1, -2) @ beyond[..., None]
            beyond = quaternion.rotate(targets.rotations[:, limb.goal], own[..., 0])
        wanted = targets.positions[:, limb.goal] - beyond
        root, middle = positions[:, limb.upper], positions[:, limb.lower]
        matrix = matrices[:, limb.lower]
        bend, needed = bends(root, middle, end, np.linalg.norm(wanted - root, axis=-1), matrix @ limb.axis)
        # towards the positive side, whichever side it is on: a limb bent the other way passes through straight
        fold_turn = quaternion.exp((needed - bend)[:, None] * limb.axis)
        folded[:, limb.lower] = quaternion.product(rotations[:, limb.lower], fold_turn)
        own_end = np.swapaxes(matrix, -1, -2) @ (end - middle)[..., None]
        moved = middle + (matrix @ quaternion.rotate(fold_turn, own_end[..., 0])[..., None])[..., 0]
        aim = quaternion.between(moved - root, wanted - root)
        if swivel:
            line = wanted - root
            line = line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-12)
            aim = quaternion.product(quaternion.exp(limb.side * swivel * line), aim)
        world = quaternion.log(aim)[..., None]
        own_turn = (np.swapaxes(matrices[:, limb.upper], -1, -2) @ world)[..., 0]
        folded[:, limb.upper] = quaternion.product(rotations[:, limb.upper], quaternion.exp(own_turn))
    return folded


def bends(
    root: np.ndarray, middle: np.ndarray, end: np.ndarray, distance: np.ndarray, axis: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far (F,) the middle joint is bent about unit axes (F, 3), and how far (F,) it must be for a distance (F,).

    The first has the axis' sign, the second is from 0, straight, to pi: the law of cosines for the distance of the end
    from the root, in the plane square to the axis, what lies along the axis set apart. Distances that no bend gives
    are answered by straight and by folded. Where a bone has no length, or lies along the axis, no bend does anything:
    both are 0.
    """
    upper, lower = middle - root, end - middle
    least = NO_LENGTH * (np.linalg.norm(upper, axis=-1) + np.linalg.norm(lower, axis=-1))
    along_upper, along_lower = ((axis * part).sum(-1, keepdims=True) for part in (upper, lower))
    height = (along_upper + along_lower)[:, 0]
    upper, lower = upper - along_upper * axis, lower - along_lower * axis
    bend = np.arctan2((axis * np.cross(upper, lower)).sum(-1), (upper * lower).sum(-1))
    a, b = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
    d = np.clip(np.sqrt(np.maximum(distance * distance - height * height, 0.0)), np.abs(a - b), a + b)
    # tan^2 of half the bend is (1 - cos) / (1 + cos), here in factors: exact where the limb is straight or folded
    short, long = (a + b - d) * (a + b + d), (d - np.abs(a - b)) * (d + np.abs(a - b))
    wanted = 2.0 * np.arctan2(np.sqrt(np.maximum(short, 0.0)), np.sqrt(np.maximum(long, 0.0)))
    acts = np.minimum(a, b) > least
    return np.where(acts, bend, 0.0), np.where(acts, wanted, 0.0)
