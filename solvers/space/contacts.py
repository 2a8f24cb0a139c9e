# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps between capsules, and between capsules and obstacles, and the gaps' Jacobian.

A gap is `g = |pa - pb| - ra - rb` between the closest points of two segments, and with an obstacle
`g = distance(p) - r`, where the distance is signed: below 0 inside. The closest points are extremal, so to first order
their slide along the segments does not change the gap: `dg = n . (v(pa) - v(pb))`, with the unit normal `n` from b
to a. A box is a convex body with six faces.
"""

from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from ..model.contacts import POINTS, Box, CapsuleArrays, Contacts, Plane, pairs_of
from ..model.convex import CUBE, Convex
from ..model.goals import Targets
from ..model.skeleton import Skeleton
from ..model.world import forward
from .convex import nearest, placed
from .joint_space import JointSpace
from .tasks.setup import Columns, Kinematics, points_in, velocities

LEAST = 1e-9  # [length units] below which the direction between two axes is undefined
PARALLEL = 1e-12  # square of the sine below which two axes count as parallel


class Gap(NamedTuple):
    """The gaps of F frames."""

    gaps: np.ndarray  # (F, K)
    normals: np.ndarray  # (F, K, 3) from the second body to the first
    first: np.ndarray  # (F, K, 3) closest point on the axis of the first
    second: np.ndarray  # (F, K, 3) on the axis of the second; of an obstacle not used


class ContactGaps:
    """The gaps of K contacts.

    In this order: pairs of capsules, ends of capsules over planes, capsules and convex bodies.

    Attributes
    ----------
    capsules : C of them, as arrays. pairs : (P, 2) numbers of capsules. ends : (E, 2) of a capsule and a plane, the
        start of each capsule before its end. free : (B,) capsules that the solve moves, which keep out of bodies.
    above : (C,) the capsule that each hangs on, or itself.
    bodies : of convex obstacles, the obstacle's number and its shape.
    moves : (C, n) 1 where a degree of freedom moves a capsule. levers : (C, n) as in `Skeleton.levers`.
    first : (K,) the first capsule of each gap. count : K. least : (K,) the least gap of each.
    placing : number of the points that place the obstacles.
    """

    def __init__(self, skeleton: Skeleton, space: JointSpace, contacts: Contacts) -> None:
        capsules = CapsuleArrays(skeleton, contacts.capsules)
        self.capsules, self.placing = capsules, POINTS * len(contacts.obstacles)
        self.pairs, near = pairs_of(skeleton, contacts, capsules.joint, space.moved)
        rest = forward(skeleton, skeleton.rest_pose())
        segments = self._segments(rest.positions, quaternion.to_matrix(rest.rotations))
        at_rest = self._of_pairs(*(part[None] for part in segments)).gaps[0]
        apart = ~near | (at_rest >= 0.0)
        self.pairs, at_rest = self.pairs[apart], at_rest[apart]
        self.moves = skeleton.ancestors[capsules.joint][:, space.joint].astype(float)
        self.levers = skeleton.levers(capsules.joint, space.joint)
        self._detached = bool(skeleton.detached)
        self.above = _above(skeleton, capsules.joint)
        self.free = np.flatnonzero(self.moves.any(-1))
        planes = [number for number, one in enumerate(contacts.obstacles) if isinstance(one, Plane)]
        self.bodies = [
            (number, CUBE if isinstance(one, Box) else one)
            for number, one in enumerate(contacts.obstacles) if not isinstance(one, Plane)
        ]  # fmt: skip
        both_ends = [(capsule, number) for number in planes for capsule in self.free for _ in range(2)]
        self.ends = np.array(both_ends, dtype=np.intp).reshape(-1, 2)
        self._at_end = np.arange(len(self.ends)) % 2 == 1
        self.first = np.concatenate([self.pairs[:, 0], self.ends[:, 0], np.tile(self.free, len(self.bodies))])
        self.count = len(self.first)
        self.least = np.full(self.count, contacts.margin)
        self.least[: len(self.pairs)] = np.minimum(contacts.margin, at_rest)

    def at(self, kinematics: Kinematics, targets: Targets, within: float = np.inf) -> Gap:
        """The gaps in a pose; the last of the targets' points place the obstacles.

        within : of a convex body further away than this [length units] the gap may be given as less than it is.
        """
        points = points_in(targets)
        points = points[:, points.shape[1] - self.placing :]
        start, end = self._segments(kinematics.positions, kinematics.matrices)
        places = points.reshape(len(points), self.placing // POINTS, POINTS, 3)
        parts = [self._of_pairs(start, end), self._over_planes(start, end, places)]
        parts += [self._to_convex(start, end, places[:, number], convex, within) for number, convex in self.bodies]
        return Gap(*(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))

    def jacobian(
        self, gap: Gap, columns: Columns, kinematics: Kinematics, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """The derivatives (F, K, n) of the gaps, or those of some `rows` (R,), as (F, R, n)."""
        rows = np.arange(self.count) if rows is None else rows
        normals, capsule = gap.normals[:, rows], self.first[rows]
        along = self._along(normals, gap.first[:, rows], capsule, columns, kinematics)
        paired = np.flatnonzero(rows < len(self.pairs))
        second = self.pairs[rows[paired], 1]
        along[:, paired] -= self._along(normals[:, paired], gap.second[:, rows[paired]], second, columns, kinematics)
        return along

    def _along(
        self, normals: np.ndarray, points: np.ndarray, capsule: np.ndarray, columns: Columns, kinematics: Kinematics
    ) -> np.ndarray:
        """How fast points (F, R, 3) of capsules (R,) move along the normals, as (F, R, n)."""
        moved = velocities(columns, kinematics, points, self.levers[capsule], self._detached)
        return (normals[..., None, :] @ moved)[..., 0, :] * self.moves[capsule]

    def _segments(self, positions: np.ndarray, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ends (..., C, 3) of the capsules' segments in a pose."""
        joint = self.capsules.joint
        start, end = (
            positions[..., joint, :] + (matrices[..., joint, :, :] @ local[..., None])[..., 0]
            for local in (self.capsules.start, self.capsules.end)
        )
        return start, end

    def _of_pairs(self, start: np.ndarray, end: np.ndarray) -> Gap:
        i, k = self.pairs.T
        a, b = closest(start[:, i], end[:, i], start[:, k], end[:, k])
        away = a - b
        far = np.sqrt((away * away).sum(-1))
        normals = away / np.maximum(far, LEAST)[..., None]
        return Gap(far - self.capsules.radius[i] - self.capsules.radius[k], normals, a, b)

    def _over_planes(self, start: np.ndarray, end: np.ndarray, places: np.ndarray) -> Gap:
        capsule, obstacle = self.ends.T
        point = np.where(self._at_end[:, None], end[:, capsule], start[:, capsule])
        foot = places[:, obstacle, 0]
        normals = _unit(places[:, obstacle, 3] - foot)
        return Gap((normals * (point - foot)).sum(-1) - self.capsules.radius[capsule], normals, point, point)

    def _to_convex(
        self, start: np.ndarray, end: np.ndarray, places: np.ndarray, convex: Convex, within: float
    ) -> Gap:
        """Of capsules whose spheres are further from the body's sphere than `within`, the gap of these spheres."""
        a, b = start[:, self.free], end[:, self.free]
        radius = self.capsules.radius[self.free]
        corners = placed(convex, places)
        centre = corners.mean(1)
        reach = np.sqrt(((corners - centre[:, None]) ** 2).sum(-1)).max(-1)
        away = 0.5 * (a + b) - centre[:, None]
        spheres = np.sqrt((away * away).sum(-1)) - 0.5 * np.sqrt(((b - a) ** 2).sum(-1)) - reach[:, None] - radius
        gap = Gap(spheres, np.zeros_like(a), a.copy(), a)
        near = np.flatnonzero((spheres <= within).any(0))
        if near.size:
            a, b = a[:, near], b[:, near]
            hung = self.above[self.free[near]]
            found = nearest(convex, corners, a, b, closest, (start[:, hung], end[:, hung]))
            gap.gaps[:, near] = found.distance - radius[near]
            gap.normals[:, near], gap.first[:, near] = found.normals, a + found.share[..., None] * (b - a)
        return gap


def _above(skeleton: Skeleton, joint: np.ndarray) -> np.ndarray:
    """(C,) the nearest capsule above each, or itself where there is none. joint : (C,) of capsules."""
    depth = skeleton.ancestors.sum(-1)
    found = np.arange(len(joint))
    for k, own in enumerate(joint.tolist()):
        over = [i for i, other in enumerate(joint.tolist()) if other != own and skeleton.ancestors[own, other]]
        found[k] = max(over, key=lambda i: int(depth[joint[i]]), default=k)
    return found


def closest(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The closest points (..., 3) of segments from p to q and from r to s; of several, as on parallel ones, the first.

    They lie inside both segments, where the line between them is at right angles to both, or one is an end.
    """
    d, e, between = q - p, s - r, p - r
    dd, ee, de = (np.maximum((d * d).sum(-1), LEAST**2), np.maximum((e * e).sum(-1), LEAST**2), (d * e).sum(-1))
    db, eb = (d * between).sum(-1), (e * between).sum(-1)
    denominator = dd * ee - de * de
    crossing = denominator > PARALLEL * dd * ee
    inner = (de * eb - ee * db) / np.where(crossing, denominator, 1.0)
    other = (dd * eb - de * db) / np.where(crossing, denominator, 1.0)
    inside = crossing & (inner >= 0.0) & (inner <= 1.0) & (other >= 0.0) & (other <= 1.0)
    zero, one = np.zeros_like(dd), np.ones_like(dd)
    onto: list[np.ndarray] = [np.clip(eb / ee, 0.0, 1.0), np.clip((eb + de) / ee, 0.0, 1.0),
            np.clip(-db / dd, 0.0, 1.0), np.clip((de - db) / dd, 0.0, 1.0)]  # fmt: skip
    shares = np.stack([np.where(inside, inner, 0.0), zero, one, onto[2], onto[3]], -1)
    others = np.stack([np.where(inside, other, onto[0]), onto[0], onto[1], zero, one], -1)
    a = p[..., None, :] + shares[..., None] * d[..., None, :]
    b = r[..., None, :] + others[..., None] * e[..., None, :]
    best = np.argmin(((a - b) ** 2).sum(-1), axis=-1)[..., None, None]
    return np.take_along_axis(a, best, -2)[..., 0, :], np.take_along_axis(b, best, -2)[..., 0, :]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.sqrt((vectors * vectors).sum(-1)), LEAST)[..., None]
