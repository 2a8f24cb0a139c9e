# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance tasks: rows for each goal that keeps the centre of mass over a point, or over an area.

Seen along the Z axis of the target's rotation, the centre of mass is over the point: two rows. Or it is on the inner
side of each edge of the convex hull of the goal's points, some distance away from it: a one-sided row for each edge.
The hull of points in a line has two edges along it and two at its ends; that of one point has four.
"""

from typing import Any

import numpy as np

from ...algebra import dual_quaternion, quaternion
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .kind import Kind
from .setup import Columns, Kinematics, Points, Setup, Target, of_kind, points_in, weights_of

LEAST_EDGE = 1e-9  # [skeleton lengths] points nearer to each other are one corner
FEWEST_EDGES = 4


class BalanceTasks(Kind):
    """The balance tasks of a stage, T of them; see `Kind`. `size` is that of the goal with most points."""

    kind, name, unit = "BALANCE", "balance", "length"
    data = (
        ("int32", "within upright points place parts", ""),
        ("double", "distance least", ""),
        ("int32[]", "joint", "(parts)"),
        ("double[]", "centre share", "(parts, 3), (parts)"),
        ("uint8[]", "moved", "(parts, n)"),
    )

    def __init__(self, setup: Setup) -> None:
        skeleton = setup.skeleton
        self.goals = of_kind(setup, self.kind)
        self.weights = weights_of(setup, self.goals, self.unit)
        goals = setup.some(self.goals)
        self._places = [setup.points[int(g)] for g in self.goals]
        self.size = max([FEWEST_EDGES, *(len(goal.points or ()) for goal in goals)])
        self.one_sided = self._within = np.array([goal.side == "WITHIN" for goal in goals], dtype=bool)
        self._distance = np.array([goal.distance for goal in goals])
        self._upright = np.array([goal.rotation is None for goal in goals], dtype=bool)
        self._least = LEAST_EDGE * skeleton.length
        self._parts: list[Points] = []
        self._shares: list[np.ndarray] = []
        for g, goal in zip(self.goals.tolist(), goals, strict=True):
            masses = goal.masses or ()
            joint = np.array([part[0] for part in masses], dtype=np.intp)
            centres, mass = np.array([part[1] for part in masses]), np.array([part[2] for part in masses])
            self._parts.append(Points(setup, joint, centres, np.tile(setup.moves[g], (len(joint), 1))))
            self._shares.append(mass / mass.sum())
        acts = [parts.moves.any(0) for parts in self._parts]
        self.acts = np.array(acts, dtype=bool).reshape(len(goals), setup.space.n)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Errors (F, T, size) [length units]; those of edges are below 0 where the centre is inside."""
        normals, heights = self._edges(targets)
        both = zip(self._parts, self._shares, strict=True)
        centre = np.stack([share @ parts.at(kinematics) for parts, share in both], 1)
        return (normals @ centre[..., None])[..., 0] - heights

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Weighted rows to `out` (F, size T, n)."""
        normals, _ = self._edges(targets)
        rows = out.reshape(len(out), len(self.goals), self.size, out.shape[-1])
        for t, (parts, share) in enumerate(zip(self._parts, self._shares, strict=True)):
            moved = parts.columns(columns, kinematics, parts.at(kinematics))
            centre = (share @ moved.reshape(len(moved), len(share), -1)).reshape(len(moved), 3, -1)
            rows[:, t] = -self.weights[t] * (normals[:, t] @ centre)

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `Kind`: the target, or the middle of the area, toward the centre of mass."""
        del skeleton
        parts = goal.masses or ()
        mass = np.array([part[2] for part in parts])
        at = [dual_quaternion.transform(world[part[0]], np.asarray(part[1], dtype=float)) for part in parts]
        centre = mass @ np.array(at) / mass.sum()
        points = target.points
        if goal.side == "WITHIN":
            points = points + left * (centre - points.mean(0))
        return target._replace(position=target.position + left * (centre - target.position), points=points)

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        parts, places = self._parts[index], self._places[index]
        values = {
            "within": self._within[index], "upright": self._upright[index], "distance": self._distance[index],
            "least": self._least, "points": places.stop - places.start, "place": places.start,
            "parts": len(parts.joint), "joint": parts.joint, "centre": parts.offsets, "share": self._shares[index],
            "moved": parts.moves > 0.0,
        }  # fmt: skip
        return {"levers": parts.levers, "data": values}

    def _edges(self, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Outward normals (F, T, size, 3) and heights (F, T, size) of the edges; zeros for rows without one.

        Without an area: the two axes across the target's Z axis, through the target.
        """
        frames, shape = len(targets.positions), (len(targets.positions), len(self.goals), self.size)
        normals, heights = np.zeros((*shape, 3)), np.zeros(shape)
        for t, goal in enumerate(self.goals.tolist()):
            turn = targets.rotations[:, goal]
            axes = np.tile(np.eye(3), (frames, 1, 1)) if self._upright[t] else quaternion.to_matrix(turn)
            if not self._within[t]:
                normals[:, t, :2] = np.swapaxes(axes[..., :2], -1, -2)
                heights[:, t, :2] = (normals[:, t, :2] @ targets.positions[:, goal, :, None])[..., 0]
                continue
            corners = points_in(targets)[:, self._places[t]] @ axes[..., :2]  # (F, K, 2)
            for frame in range(frames):
                flat, height = hull_edges(corners[frame], self._least)
                normals[frame, t, : len(flat)] = flat @ axes[frame, :, :2].T
                heights[frame, t, : len(flat)] = height - self._distance[t]
        return normals, heights


def hull_edges(corners: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Outward unit normals (E, 2) and heights (E,) of the edges of the convex hull of points (K, 2).

    Andrew's monotone chain (1979). Points nearer than `least` to a line count as on it.
    """
    order: list[tuple[float, float]] = sorted((float(x), float(y)) for x, y in corners)
    hull = [*_chain(order, least)[:-1], *_chain(order[::-1], least)[:-1]]
    if len(hull) < 3:  # a line, or a point: edges along it and at its ends
        along = np.subtract(order[-1], order[0])
        length = float(np.sqrt(along @ along))
        along = along / length if length > least else np.array([1.0, 0.0])
        across = np.array([-along[1], along[0]])
        normals = np.stack([along, across, -along, -across])
    else:
        edges = np.roll(hull, -1, 0) - np.array(hull)
        normals = np.stack([edges[:, 1], -edges[:, 0]], -1) / np.sqrt((edges * edges).sum(-1, keepdims=True))
    return normals, (normals @ corners.T).max(-1)


def _chain(order: list[tuple[float, float]], least: float) -> list[tuple[float, float]]:
    """The corners of one half of the hull of sorted points, counterclockwise."""
    chain: list[tuple[float, float]] = []
    for point in order:
        while len(chain) > 1 and _left(chain[-2], chain[-1], point) <= least * _far(chain[-2], point):
            chain.pop()
        chain.append(point)
    return chain


def _left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Twice the area of the triangle a b c, above 0 if it turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _far(a: tuple[float, float], b: tuple[float, float]) -> float:
    return float(np.hypot(b[0] - a[0], b[1] - a[1]))
