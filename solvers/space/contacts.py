# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps between capsules, and between capsules and obstacles, and the gaps' Jacobian.

A gap is `g = |pa - pb| - ra - rb` between the closest points of two segments, and with an obstacle
`g = distance(p) - r`, where the distance is signed: below 0 inside. The closest points are extremal, so to first order
their slide along the segments does not change the gap: `dg = n . (v(pa) - v(pb))`, with the unit normal `n` from b
to a.
"""

from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from ..model.contacts import POINTS, Box, CapsuleArrays, Contacts, Plane, pairs_of
from ..model.convex import Convex
from ..model.goals import Targets
from ..model.skeleton import Skeleton
from ..model.world import forward
from .convex import nearest
from .joint_space import JointSpace
from .tasks.setup import Columns, Kinematics, points_in, velocities

LEAST = 1e-9  # [length units] below which the direction between two axes is undefined
SEARCH_STEPS = 48  # of the closest point to a box: each leaves 0.62 of the interval
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


class Gap(NamedTuple):
    """The gaps of F frames."""

    gaps: np.ndarray  # (F, K)
    normals: np.ndarray  # (F, K, 3) from the second body to the first
    first: np.ndarray  # (F, K, 3) closest point on the axis of the first
    second: np.ndarray  # (F, K, 3) on the axis of the second; of an obstacle not used


class ContactGaps:
    """The gaps of K contacts.

    In this order: pairs of capsules, ends of capsules over planes, capsules and boxes, capsules and convex bodies.

    Attributes
    ----------
    count : K. least : (K,) the least gap of each.
    """

    def __init__(self, skeleton: Skeleton, space: JointSpace, contacts: Contacts) -> None:
        capsules = CapsuleArrays(skeleton, contacts.capsules)
        self._capsules, self._placing = capsules, POINTS * len(contacts.obstacles)
        self._pairs, near = pairs_of(skeleton, contacts, capsules.joint, space.moved)
        rest = forward(skeleton, skeleton.rest_pose())
        segments = self._segments(rest.positions, quaternion.to_matrix(rest.rotations))
        at_rest = self._of_pairs(*(part[None] for part in segments)).gaps[0]
        apart = ~near | (at_rest >= 0.0)
        self._pairs, at_rest = self._pairs[apart], at_rest[apart]
        moves = skeleton.ancestors[capsules.joint][:, space.joint]  # (C, n)
        free = np.flatnonzero(moves.any(-1))
        planes, boxes = (
            [number for number, one in enumerate(contacts.obstacles) if isinstance(one, kind)]
            for kind in (Plane, Box)
        )
        self._free = free
        self._convex = [(number, one) for number, one in enumerate(contacts.obstacles) if isinstance(one, Convex)]
        self._ends = np.array([(c, o) for o in planes for c in free for _ in range(2)], dtype=np.intp).reshape(-1, 2)
        self._boxed = np.array([(c, o) for o in boxes for c in free], dtype=np.intp).reshape(-1, 2)
        self._at_end = np.arange(len(self._ends)) % 2 == 1
        hulled = np.tile(free, len(self._convex))
        first = np.concatenate([self._pairs[:, 0], self._ends[:, 0], self._boxed[:, 0], hulled])
        second = self._pairs[:, 1]
        self.count = len(first)
        self._moves = moves[first].astype(float), moves[second].astype(float)
        self._levers = tuple(skeleton.levers(capsules.joint[rows], space.joint) for rows in (first, second))
        self._detached = bool(skeleton.detached)
        self.least = np.full(self.count, contacts.margin)
        self.least[: len(self._pairs)] = np.minimum(contacts.margin, at_rest)

    def at(self, kinematics: Kinematics, targets: Targets) -> Gap:
        """The gaps in a pose; the last of the targets' points place the obstacles."""
        points = points_in(targets)
        points = points[:, points.shape[1] - self._placing :]
        start, end = self._segments(kinematics.positions, kinematics.matrices)
        places = points.reshape(len(points), -1, POINTS, 3)
        parts = [self._of_pairs(start, end), self._over_planes(start, end, places), self._to_boxes(start, end, places)]
        parts += [self._to_convex(start, end, places[:, number], convex) for number, convex in self._convex]
        return Gap(*(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))

    def jacobian(self, gap: Gap, columns: Columns, kinematics: Kinematics) -> np.ndarray:
        """The derivatives (F, K, n) of the gaps."""
        pairs = len(self._pairs)
        rows = self._along(gap.normals, gap.first, 0, columns, kinematics)
        rows[:, :pairs] -= self._along(gap.normals[:, :pairs], gap.second[:, :pairs], 1, columns, kinematics)
        return rows

    def _along(
        self, normals: np.ndarray, points: np.ndarray, body: int, columns: Columns, kinematics: Kinematics
    ) -> np.ndarray:
        """How fast points (F, K, 3) of the first or second bodies move along the normals, as (F, K, n)."""
        moved = velocities(columns, kinematics, points, self._levers[body], self._detached)
        return (normals[..., None, :] @ moved)[..., 0, :] * self._moves[body]

    def _segments(self, positions: np.ndarray, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ends (..., C, 3) of the capsules' segments in a pose."""
        joint = self._capsules.joint
        start, end = (
            positions[..., joint, :] + (matrices[..., joint, :, :] @ local[..., None])[..., 0]
            for local in (self._capsules.start, self._capsules.end)
        )
        return start, end

    def _of_pairs(self, start: np.ndarray, end: np.ndarray) -> Gap:
        i, k = self._pairs.T
        a, b = closest(start[:, i], end[:, i], start[:, k], end[:, k])
        away = a - b
        far = np.sqrt((away * away).sum(-1))
        normals = away / np.maximum(far, LEAST)[..., None]
        return Gap(far - self._capsules.radius[i] - self._capsules.radius[k], normals, a, b)

    def _over_planes(self, start: np.ndarray, end: np.ndarray, places: np.ndarray) -> Gap:
        capsule, obstacle = self._ends.T
        point = np.where(self._at_end[:, None], end[:, capsule], start[:, capsule])
        foot = places[:, obstacle, 0]
        normals = _unit(places[:, obstacle, 3] - foot)
        return Gap((normals * (point - foot)).sum(-1) - self._capsules.radius[capsule], normals, point, point)

    def _to_boxes(self, start: np.ndarray, end: np.ndarray, places: np.ndarray) -> Gap:
        """The signed distance to a convex body is convex along a segment, so a search finds its least."""
        capsule, obstacle = self._boxed.T
        if not capsule.size:
            none = np.zeros((len(start), 0, 3))
            return Gap(none[..., 0], none, none, none)
        centre = places[:, obstacle, 0]
        axes = places[:, obstacle, 1:] - centre[:, :, None]  # (F, B, 3, 3), a row for each face
        half = np.sqrt((axes * axes).sum(-1))
        axes = axes / np.maximum(half, LEAST)[..., None]
        a, b = ((axes @ (part[:, capsule] - centre)[..., None])[..., 0] for part in (start, end))
        low, high = np.zeros(a.shape[:2]), np.ones(a.shape[:2])

        def distance(share: np.ndarray) -> np.ndarray:
            return box_distance(a + share[..., None] * (b - a), half)[0]

        for _ in range(SEARCH_STEPS):
            width = GOLDEN * (high - low)
            left, right = high - width, low + width
            lower = distance(left) <= distance(right)
            low, high = np.where(lower, low, left), np.where(lower, right, high)
        share = 0.5 * (low + high)[..., None]
        far, normals = box_distance(a + share * (b - a), half)
        point = start[:, capsule] + share * (end - start)[:, capsule]
        turned = (np.swapaxes(axes, -1, -2) @ normals[..., None])[..., 0]
        return Gap(far - self._capsules.radius[capsule], turned, point, point)

    def _to_convex(self, start: np.ndarray, end: np.ndarray, places: np.ndarray, convex: Convex) -> Gap:
        a, b = start[:, self._free], end[:, self._free]
        found = nearest(convex, places, a, b, closest)
        point = a + found.share[..., None] * (b - a)
        return Gap(found.distance - self._capsules.radius[self._free], found.normals, point, point)


def closest(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The closest points (..., 3) of segments from p to q and from r to s; of several, as on parallel ones, the first.

    They lie inside both segments, where the line between them is at right angles to both, or one is an end.
    """
    d, e, between = q - p, s - r, p - r
    dd, ee, de = (np.maximum((d * d).sum(-1), LEAST**2), np.maximum((e * e).sum(-1), LEAST**2), (d * e).sum(-1))
    db, eb = (d * between).sum(-1), (e * between).sum(-1)
    denominator = dd * ee - de * de
    crossing = denominator > 1e-12 * dd * ee
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


def box_distance(points: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed distances (...,) of points (..., 3) from a box about the origin, and their gradients (..., 3)."""
    over, side = np.abs(points) - half, np.where(points < 0.0, -1.0, 1.0)
    out = np.maximum(over, 0.0)
    far = np.sqrt((out * out).sum(-1))
    outside = far > 0.0
    face = np.arange(3) == np.argmax(over, axis=-1)[..., None]
    distance = np.where(outside, far, np.max(over, axis=-1))
    return distance, side * np.where(outside[..., None], out / np.where(outside, far, 1.0)[..., None], face)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.sqrt((vectors * vectors).sum(-1)), LEAST)[..., None]
