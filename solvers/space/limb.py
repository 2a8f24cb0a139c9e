# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone limbs: their preferred bend, and their fold by the law of cosines.

A joint with a `preferred` rotation vector whose parent is a ball joint is the middle of a limb (a knee, an elbow). A
straight limb is singular: the nearest answer may bend it to either side, and changes sides as the target passes. So in
the base pose of the pull limbs are bent, slightly or for near targets further, and a solve afresh starts with the limbs
folded to the distance of their targets (Parent, "analytic IK"), on the right side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.goals import Goal, Targets
from ..model.skeleton import KEYED, Skeleton
from .tasks import Kinematics

SWIVELS = np.radians([0.0, 45.0, -45.0])
"""Starts tried for each frame: limbs turned about the line from root to target; the cheapest answer wins."""

BEND_SHARE = 0.35  # of the bend that a target needs beyond the preferred one: share of it in a limited limb's base pose

EASE = 0.05  # [skeleton lengths] targets nearer than this to their effectors in the start pose bend its limbs less
NO_LENGTH = 1e-9  # of a limb: the direction of a shorter bone is rounding
AT_ONCE = 0.05  # least share of the bend with which held straight limbs bend as needed; below, that angle is rounding
HELD_BEND = 0.02  # least share of the bend of held joints in the base pose: enough to decide the side
AS_NEEDED = 0.1  # of the bend that a target needs: a limb bent to the other side by as much, within this, stays there
WITH_LIMB = 0.5  # a goal whose rotation follows by more than this has its end folded with the limb
SAME_SIZE = 0.01  # limbs whose bone lengths agree to this count as left and right


@dataclass(frozen=True)
class Limb:
    """`upper` and `lower` joint, the `end` joint below them (-1: the effector itself), the goal served, the bend.

    `axis` (3,) is a unit vector in the lower joint's own frame about which a positive angle folds the limb,
    `upper_axis` (3,) the same in the upper joint's frame at rest, `bend` the preferred angle [rad]. `side` is +1 or -1,
    so that the swivels of a left and a right limb, which have the same size, mirror each other. `share` is the part of
    the bend needed for a near target that the base pose has: 0 if no joint from the limb's root to its effector has
    limits, or if the root slides to an unknown place. `kept` is the part of the preferred bend in the base pose: a held
    limb has less of it and of the share, so that its base pose is the start. If it starts straight, it has the bend
    that its target needs instead (`bend_base`).
    """

    upper: int
    lower: int
    end: int
    goal: int
    axis: np.ndarray
    upper_axis: np.ndarray
    bend: float
    side: float
    share: float
    kept: float


def find_limbs(skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray) -> list[Limb]:
    """The limbs of joints that prefer a bend and may move, none held, each with the first goal that folds it."""
    limbs: list[Limb] = []
    sizes: list[np.ndarray] = []
    offsets = np.linalg.norm(dual_quaternion.translation(skeleton.links), axis=-1)
    sliding = chains.any(0) & skeleton.slides
    still = skeleton.slides & ~sliding
    moves = (skeleton.freedoms > 0) & ~still
    for lower in np.flatnonzero(np.abs(skeleton.preferred).max(-1) > 0.0):
        upper = _above(skeleton, int(lower), moves)
        if upper < 0 or not skeleton.balls[upper] or skeleton.stiffness[[upper, lower]].max() >= 1.0:
            continue
        both = chains[:, lower] & chains[:, upper]
        serving = [g for g, goal in enumerate(goals) if both[g] and goal.has_place]
        if not serving:
            continue
        joint = goals[serving[0]].joint
        path = [
            j for j in skeleton.path(joint) if j != lower and not still[j]
            and _above(skeleton, j, moves) == lower and (j == joint or moves[j])
        ]  # fmt: skip
        bend = float(np.linalg.norm(skeleton.preferred[lower]))
        axis = skeleton.preferred[lower] / bend
        end = path[0] if path else -1
        size = np.array([offsets[lower], np.linalg.norm(goals[serving[0]].offset) if end < 0 else offsets[end]])
        twins = sum(bool(np.allclose(size, other, rtol=SAME_SIZE)) for other in sizes)
        sizes.append(size)
        side = -1.0 if twins % 2 else 1.0
        below = skeleton.ancestors[joint] & ~skeleton.ancestors[upper]
        limited = any(skeleton.joints[j].limits is not None for j in (upper, *np.flatnonzero(below)))
        share = BEND_SHARE if limited and not (sliding & skeleton.ancestors[upper]).any() else 0.0
        upper_axis = axis
        between = [j for j in skeleton.path(lower) if skeleton.ancestors[j, upper]]
        for link in skeleton.links[between[:0:-1], :4]:  # from the lower joint's frame up to the upper one's
            upper_axis = quaternion.rotate(link, upper_axis)
        limbs.append(Limb(upper, int(lower), end, serving[0], axis, upper_axis, bend, side, share, 1.0))
    return limbs


def held(limbs: Sequence[Limb], skeleton: Skeleton, hold: np.ndarray) -> list[Limb]:
    """The limbs as the holds of their joints leave them. hold : (J,) as `Stage.hold`."""
    both = [[one.upper, one.lower] for one in limbs]
    return [
        replace(one, share=one.share * (1.0 - float(hold[joints].max())), kept=kept_bend(skeleton.hold[joints]))
        for one, joints in zip(limbs, both, strict=True)
    ]


def _above(skeleton: Skeleton, joint: int, moves: np.ndarray) -> int:
    """The nearest joint above of those that may move (J,); -1 for none.

    Fixed joints, such as twist bones, only divide a bone, and slides that no goal moves only lengthen it.
    """
    above = int(skeleton.parent[joint])
    while above >= 0 and not moves[above]:
        above = int(skeleton.parent[above])
    return above


def kept_bend(hold: np.ndarray) -> float:
    """The share of its bend that a limb or chain has in the base pose if its joints have these holds."""
    return max(HELD_BEND, 1.0 - float(hold.max()) / KEYED)


def bend_base(
    limbs: Sequence[Limb], rotations: np.ndarray, kinematics: Kinematics, positions: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """Base rotations (F, J, 4) with every limb bent by at least its preferred angle, and further for near targets.

    The bend that a near target needs is the one with which the lower joint alone brings the effector to the target's
    distance from the limb's root. The base pose has the limb's `share` of it. With less, two answers can compete if the
    joints below are limited: one bends the limb, the other stretches it and turns those joints, and the cheaper one
    changes from frame to frame. The upper joint turns back by half of the bend, so that the limb's end stays near its
    line.

    A held limb keeps its own bend. But a straight one shows no plane and would fold in any: the joints above, which are
    not held, would turn until it folds sideways. So the straighter it is, the more of the bend that its target needs
    the base pose has.

    Parameters
    ----------
    rotations, kinematics : the pose to be bent. positions : (F, G, 3) of the targets.
    shares : (F, 1 or L) factors of each limb's bend; what straight held limbs need counts in full from `AT_ONCE` on.
    """
    lower, upper = [limb.lower for limb in limbs], [limb.upper for limb in limbs]
    goal, share = [limb.goal for limb in limbs], np.array([limb.share for limb in limbs])
    axis, upper_axis = np.array([(limb.axis, limb.upper_axis) for limb in limbs]).swapaxes(0, 1)
    preferred, kept = np.array([(limb.bend, limb.kept) for limb in limbs]).T
    own, above = rotations[:, lower], rotations[:, upper]
    sine, cosine = (own[..., 1:] * axis).sum(-1), own[..., 0]  # of half the angle; q and -q are the same rotation
    already = 2.0 * np.arctan2(np.where(cosine < 0.0, -sine, sine), np.abs(cosine))
    missing = np.clip(kept * preferred - already, 0.0, kept * preferred)
    if not share.any() and (kept == 1.0).all():
        missing *= shares
    else:
        root, middle = kinematics.positions[:, upper], kinematics.positions[:, lower]
        distance = np.linalg.norm(positions[:, goal] - root, axis=-1)
        matrix, end = kinematics.matrices[:, lower], kinematics.effectors[:, goal]
        bend, needed = bends(root, middle, end, distance, (matrix @ axis[..., None])[..., 0])
        missing += share * np.maximum(needed - bend - missing, 0.0)
        straight = (1.0 - kept) * np.maximum(1.0 - _swings(own, matrix, end - middle) / preferred, 0.0)
        needs = np.minimum(shares / AT_ONCE, 1.0) * straight * (needed - np.abs(bend))
        missing = np.maximum(shares * missing, needs)
    missing = missing[..., None]
    turned = quaternion.product(own, quaternion.exp(missing * axis))
    back = quaternion.product(above, quaternion.exp(-0.5 * missing * upper_axis))
    bent = rotations.copy()
    for number, limb in enumerate(limbs):
        bent[:, limb.lower], bent[:, limb.upper] = turned[:, number], back[:, number]
    return bent


def _swings(rotations: np.ndarray, matrices: np.ndarray, bones: np.ndarray) -> np.ndarray:
    """The angles (F, K) by which joints with motions (F, K, 4) and orientations (F, K, 3, 3) swing bones (F, K, 3)."""
    own = (np.swapaxes(matrices, -1, -2) @ bones[..., None])[..., 0]
    swung = quaternion.rotate(rotations, own)
    return np.arctan2(np.linalg.norm(quaternion.cross(own, swung), axis=-1), (own * swung).sum(-1))


def fold(
    limbs: Sequence[Limb],
    goals: Sequence[Goal],
    rotations: np.ndarray,
    kinematics: Kinematics,
    targets: Targets,
    swivels: np.ndarray,
) -> np.ndarray:
    """Base rotations (S, F, J, 4) with every limb folded to its target's distance and turned toward it.

    Parameters
    ----------
    rotations, kinematics : the base pose. targets : rotations that follow a limb are those that it carries there.
    swivels : (S,) [rad] by which each limb is turned about its line to the target, mirrored between the sides.
    """
    upper, lower = [limb.upper for limb in limbs], [limb.lower for limb in limbs]
    axis = np.array([limb.axis for limb in limbs])
    root, middle = kinematics.positions[:, upper], kinematics.positions[:, lower]
    matrix = kinematics.matrices[:, lower]
    end, wanted = _ends(limbs, goals, kinematics, targets)
    line = wanted - root
    distance = np.linalg.norm(line, axis=-1)
    bend, needed = bends(root, middle, end, distance, (matrix @ axis[..., None])[..., 0])
    # to the positive side, through straight if need be, but not where the limb is bent as its target needs
    needed = np.where(np.abs(needed + bend) < AS_NEEDED * needed, -needed, needed)
    fold_turn = quaternion.exp((needed - bend)[..., None] * axis)
    own_end = np.swapaxes(matrix, -1, -2) @ (end - middle)[..., None]
    moved = middle + (matrix @ quaternion.to_matrix(fold_turn) @ own_end)[..., 0]
    about = np.array([limb.side for limb in limbs])[:, None] * line / np.maximum(distance, 1e-12)[..., None]
    swivel = quaternion.exp(swivels[:, None, None, None] * about)
    world = quaternion.log(quaternion.product(swivel, quaternion.between(moved - root, line)))
    own_turn = (np.swapaxes(kinematics.matrices[:, upper], -1, -2) @ world[..., None])[..., 0]
    turned = quaternion.product(rotations[:, upper], quaternion.exp(own_turn))
    bent = np.broadcast_to(quaternion.product(rotations[:, lower], fold_turn), turned.shape)
    folded = np.repeat(rotations[None], len(swivels), 0)
    for number, limb in enumerate(limbs):
        folded[:, :, limb.lower], folded[:, :, limb.upper] = bent[:, :, number], turned[:, :, number]
    return folded


def _ends(
    limbs: Sequence[Limb], goals: Sequence[Goal], kinematics: Kinematics, targets: Targets
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of limbs (F, K, 3), and where they belong if what is below them is turned as its goal asks."""
    goal, end = [limb.goal for limb in limbs], np.array([limb.end for limb in limbs])
    effector, inner = kinematics.effectors[:, goal], (end >= 0)[:, None]
    ends = np.where(inner, kinematics.positions[:, end], effector)
    beyond = effector - ends
    turns = inner & np.array([[goals[g].rotation is not None] for g in goal])
    if turns.any():
        own = np.swapaxes(kinematics.matrices[:, [goals[g].joint for g in goal]], -1, -2) @ beyond[..., None]
        beyond = np.where(turns, quaternion.rotate(targets.rotations[:, goal], own[..., 0]), beyond)
        # with such a goal the end keeps its turn from the lower bone while the limb folds
        with_limb = turns & np.array([[goals[g].rotation_follows > WITH_LIMB] for g in goal])
        ends, beyond = np.where(with_limb, ends + beyond, ends), np.where(with_limb, 0.0, beyond)
    return ends, targets.positions[:, goal] - beyond


def bends(
    root: np.ndarray, middle: np.ndarray, end: np.ndarray, distance: np.ndarray, axis: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The bend (...) of the middle joint about unit axes (..., 3), and the bend needed for a distance (...).

    The first is signed by the axis, the second is from 0 (straight) to pi: by the law of cosines for the distance of
    the end from the root, in the plane perpendicular to the axis, after components along the axis. For distances out of
    range the limb is straight or folded. If a bone has no length, or lies along the axis, both are 0.
    """
    upper, lower = middle - root, end - middle
    least = NO_LENGTH * (np.linalg.norm(upper, axis=-1) + np.linalg.norm(lower, axis=-1))
    along_upper, along_lower = ((axis * part).sum(-1, keepdims=True) for part in (upper, lower))
    height = (along_upper + along_lower)[..., 0]
    upper, lower = upper - along_upper * axis, lower - along_lower * axis
    bend = np.arctan2((axis * quaternion.cross(upper, lower)).sum(-1), (upper * lower).sum(-1))
    a, b = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
    d = np.clip(np.sqrt(np.maximum(distance * distance - height * height, 0.0)), np.abs(a - b), a + b)
    # tan^2 of half the bend is (1 - cos) / (1 + cos), factored to be exact where the limb is straight or folded
    short, long = (a + b - d) * (a + b + d), (d - np.abs(a - b)) * (d + np.abs(a - b))
    needed = 2.0 * np.arctan2(np.sqrt(np.maximum(short, 0.0)), np.sqrt(np.maximum(long, 0.0)))
    acts = np.minimum(a, b) > least
    return np.where(acts, bend, 0.0), np.where(acts, needed, 0.0)
