# SPDX-License-Identifier: GPL-3.0-or-later
"""Curve tasks: three rows for each joint of a chain that lies on a curve.

The joints are those of the chain below its first one, then the effector. Each goes to a point of the goal;
`along_curve` finds such points, as far apart as the joints are.
"""

from typing import Any

import numpy as np

from ...algebra import dual_quaternion
from ...model.errors import InvalidGoal
from ...model.goals import Goal, Targets
from ...model.skeleton import Skeleton
from .kind import Kind
from .setup import Columns, Kinematics, Points, Setup, Target, effector, of_kind, points_in, weights_of


def joints_on_curve(skeleton: Skeleton, goal: Goal) -> list[int]:
    """The joints of a resolved goal's chain that go to its points, before the effector."""
    chain = np.flatnonzero(skeleton.ancestors[goal.joint]) if goal.chain is None else goal.chain
    path = [joint for joint in skeleton.order if joint in set(map(int, chain))]
    return path[1:]


class CurveTasks(Kind):
    """The curve tasks of a stage, one for each point; see `Kind`."""

    kind, name, size, unit = "CURVE", "curve", 3, "length"
    data = (
        ("int32", "joint place", "place: of the point among those of all goals"),
        ("double[3]", "offset", ""),
    )

    def __init__(self, setup: Setup) -> None:
        own, joints, offsets, places = list[int](), list[int](), list[tuple[float, ...]](), list[int]()
        for g in map(int, of_kind(setup, self.kind)):
            goal, points = setup.goals[g], setup.points[g]
            path = joints_on_curve(setup.skeleton, goal)
            if len(path) + 1 != points.stop - points.start:
                raise InvalidGoal(
                    f"goal {g} (joint {setup.skeleton.names[goal.joint]!r}): got {points.stop - points.start} points; "
                    f"expected {len(path) + 1}, one for each joint of its chain below the first, and the effector"
                )
            own += [g] * (len(path) + 1)
            joints += [*path, int(goal.joint)]
            offsets += [(0.0, 0.0, 0.0)] * len(path) + [tuple(goal.offset)]
            places += range(points.start, points.stop)
        self.goals, self._places = np.array(own, dtype=np.intp), np.array(places, dtype=np.intp)
        self.weights = weights_of(setup, self.goals, self.unit)
        at = np.array(offsets, dtype=float).reshape(-1, 3)
        self._on = Points(setup, np.array(joints, dtype=np.intp), at, setup.moves[self.goals])
        self.acts = self._on.moves > 0.0

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Vectors (F, T, 3) from the joints to their points [length units]."""
        return points_in(targets)[:, self._places] - self._on.at(kinematics)

    def jacobian(self, columns: Columns, kinematics: Kinematics, targets: Targets, out: np.ndarray) -> None:
        """Velocity columns of the joints, weighted, to `out` (F, 3 T, n)."""
        del targets
        moved = self._on.columns(columns, kinematics, self._on.at(kinematics))
        out[...] = (moved * self.weights[:, None, None]).reshape(out.shape)

    def target_motion(self, now: Targets, then: Targets) -> np.ndarray:
        """Motion (F, T, 3) of the points [length units]."""
        return (points_in(then) - points_in(now))[:, self._places]

    @staticmethod
    def ease(skeleton: Skeleton, goal: Goal, left: float, world: np.ndarray, target: Target) -> Target:
        """See `Kind`: the points toward where the joints are."""
        places = dual_quaternion.translation(world[joints_on_curve(skeleton, goal)])
        joints = np.array([*places, effector(goal, world)])
        return target._replace(points=target.points + left * (joints - target.points))

    def pack(self, index: int) -> dict[str, Any]:
        """The data of one task that only its kind has, for the kernel."""
        values = {"joint": self._on.joint[index], "offset": self._on.offsets[index], "place": self._places[index]}
        return {"levers": self._on.levers[index], "data": values}
