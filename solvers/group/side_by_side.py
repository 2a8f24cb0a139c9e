# SPDX-License-Identifier: GPL-3.0-or-later
"""Independent stages solved side by side as the lanes of one stage, and one of its lanes solved alone."""

from collections.abc import Sequence

import numpy as np

from ..iterate.descent import Minimum
from ..methods.table import Method
from ..model.goals import Goal
from ..space.joint_space import State
from ..space.point import Point, Request
from .stage import Stage


def side_by_side(goals: Sequence[Goal], chains: np.ndarray, method: Method, stages: Sequence[Stage]) -> list[Stage]:
    """Join independent stages that are solved by the same steps into stages with several lanes.

    The other arguments as for `Stage`. For solvers without lanes the stages stay separate.
    """
    alike: dict[tuple[float, bool, bool, bool, bool, int], list[Stage]] = {}
    for number, stage in enumerate(stages):
        tasks, n = stage.tasks, stage.space.n
        unlike = -1 if method.lanes and n and not stage.skeleton.couplings else number
        kind = stage.settings.pull, stage.holds, tasks.all > tasks.m, n < tasks.m, n < tasks.all, unlike
        alike.setdefault(kind, []).append(stage)
    return [
        parts[0] if len(parts) == 1 else Stage(
            parts[0].skeleton, goals, sorted(int(g) for part in parts for g in part.indices), chains, method,
            parts[0].options, parts,
        ) for parts in alike.values()
    ]  # fmt: skip


def rows_of(stage: Stage, lane: int, error: np.ndarray) -> np.ndarray:
    """The columns of a lane in error rows (F, m)."""
    return np.flatnonzero(stage.tasks.lanes.rows.of[: error.shape[-1]] == lane)


def alone(
    stage: Stage, lane: int, frame: int, minimum: Minimum, start: Point, frames: Request
) -> tuple[Stage, Minimum, Point, Request]:
    """A lane's own stage, and its part of one frame: its minimum, its start, and its request."""
    index, goals = np.array([frame]), np.flatnonzero(stage.lanes.goals == lane)
    freedoms = np.flatnonzero(stage.lanes.freedoms.of == lane)

    def part(state: State) -> State:
        return State(state.rotations, state.x[:, freedoms])

    def point(whole: Point) -> Point:
        state, at = part(whole.state), whole.kinematics
        at = at._replace(effectors=at.effectors[:, goals], coordinates=state.x)
        return Point(state, at, whole.error[:, rows_of(stage, lane, whole.error)])

    one = frames.take(index)
    request = Request(part(one.base), one.targets.of_goals(goals), one.links)
    best = Minimum(point(minimum.point.take(index)), minimum.iterations[index][:, [lane]], np.zeros((1, 1)))
    return stage.parts[lane], best, point(start.take(index)), request


def put(stage: Stage, minimum: Minimum, frame: int, lane: int, part: Minimum) -> None:
    """Copy the minimum `part` of a lane's own stage into one frame of `minimum`."""
    minimum.iterations[frame, lane] = part.iterations[0, 0]
    whole, lanes, point = minimum.point, stage.lanes, part.point
    whole.error = whole.error[:, : stage.tasks.m]
    joints = np.flatnonzero(lanes.joints == lane)
    whole.state.rotations[frame, joints] = point.state.rotations[0, joints]
    for x in (whole.state.x, whole.kinematics.coordinates):
        x[frame, lanes.freedoms.of == lane] = point.state.x[0]
    for mine, theirs in zip(whole.kinematics[:3], point.kinematics[:3], strict=True):
        mine[frame, joints] = theirs[0, joints]
    whole.kinematics.effectors[frame, lanes.goals == lane] = point.kinematics.effectors[0]
    whole.error[frame, lanes.rows.of == lane] = point.error[0, : point.error.shape[-1]]
