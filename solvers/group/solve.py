# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a stage for one frame: afresh, or from the frame before it.

With a pull the answer is the pose nearest to the base pose that meets the goals: a solve afresh finds it by
continuation. Without a pull it is one descent from the start. A frame that misses its goals is solved again.
"""

from dataclasses import replace

import numpy as np

from ..iterate.descent import Minimum
from ..model.goals import Targets
from ..model.skeleton import Pose
from ..space import arc, limb
from ..space.point import Point, Request, stand
from .attempts import RECOVER_ERROR, RECOVER_SHARE
from .continuation import continued
from .polish import polish
from .precedence import serve_in_order
from .stage import Stage
from .staged import better, far_off, solve_in_stages
from .starts import arched, begin, folded, swivelled

FOLLOW_JUMP = (
    0.25  # [skeleton lengths] an error that grows by more in one frame is a jump, and the frame is solved afresh
)
FOLLOW_LOST = 1e-3  # [skeleton lengths] with a pull, a frame whose error is larger and has grown is solved afresh


def solve(
    stage: Stage, start: Pose, targets: Targets, links: np.ndarray | None, home: np.ndarray
) -> tuple[Point, int]:
    """Solve a frame afresh from its start pose; returns its end point and iterations.

    home : (1, J, 4) as `FrameArrays.home_rotations`.
    """
    first, frame = begin(stage, start, start, targets, links)
    minimum, shared = serve_in_order(stage, _solved(stage, first, frame), frame, start, home)
    return _no_worse(stage, minimum.point, first, shared), int(minimum.iterations[0])


def _solved(stage: Stage, first: Point, frame: Request) -> Minimum:
    """Solve a frame afresh, with all goals at once."""
    minimum = continued(stage, frame) if stage.runs.continues else _descent(stage, first, frame)
    minimum = polish(stage, minimum, frame)
    if stage.arcs and not stage.settings.pull and not stage.met(minimum.point):
        minimum = _unstuck(stage, minimum, first, frame)
    if far_off(stage, minimum, frame):
        minimum = solve_in_stages(stage, minimum, frame)
        if far_off(stage, minimum, frame):
            minimum = stage.attempts.middle(minimum, frame)
    if stage.met(minimum.point):
        return minimum
    met = False
    if _recovers(stage, first, minimum.point, frame, met_before=False):
        minimum, met = stage.attempts.near(minimum, frame, first.state)
    if not met and stage.options.restarts:
        minimum = stage.attempts.restart(minimum, frame, settled=not stage.runs.phases[0].abandons)
    return minimum


def follow(
    stage: Stage, previous: Pose, start: Pose, targets: Targets, links: np.ndarray | None, residual: np.ndarray | None,
    home: np.ndarray,
) -> tuple[Point, int]:  # fmt: skip
    """Solve a frame from the frame before it; afresh if the targets jumped or the error is too large.

    residual : (1, m) the last error rows of the frame before; None if unknown. home : (1, J, 4) as in `solve`.
    """
    first, frame = begin(stage, previous, start, targets, links)
    m = stage.tasks.m
    before = np.zeros((1, m)) if residual is None else residual[:, :m]
    if np.abs(first.error[:, :m] - before).max(initial=0.0) > FOLLOW_JUMP:
        return solve(stage, start, targets, links, home)
    minimum = _followed(stage, first, frame)
    more, lost = 0, max(FOLLOW_LOST, 1.1 * np.abs(before).max(initial=0.0))
    if stage.settings.pull and stage.largest_error(minimum.point) > lost:
        afresh = _solved(stage, *begin(stage, start, start, targets, links))
        more = int(afresh.iterations[0])
        if stage.square(afresh.point) < stage.square(minimum.point):
            minimum.point = afresh.point
    if not stage.met(minimum.point):
        minimum = _retried(stage, minimum, first, frame, residual)
    minimum, _ = serve_in_order(stage, minimum, frame, start, home)
    return minimum.point, int(minimum.iterations[0]) + more


def _descent(stage: Stage, first: Point, frame: Request) -> Minimum:
    """One descent: with a pull from folded limbs, without one from the start."""
    if stage.settings.pull:
        first = stand(stage.tasks, folded(stage, frame, limb.SWIVELS[:1]), frame)
    elif stage.poles:
        first = stand(stage.tasks, swivelled(stage, first.state, frame), frame)
    return stage.minimise(stage.runs.phases[0], first, frame)


def _followed(stage: Stage, first: Point, frame: Request) -> Minimum:
    """A short descent from the frame before, and a longer one if goals are missed after it."""
    minimum = polish(stage, stage.minimise(stage.runs.following, first, frame), frame)
    if stage.runs.polishing is None or stage.met(minimum.point):
        return minimum
    again = stand(stage.tasks, minimum.point.state, frame)
    longer = polish(stage, stage.minimise(stage.runs.following_missed, again, frame), frame)
    longer.iterations = longer.iterations + minimum.iterations
    return longer


def _unstuck(stage: Stage, minimum: Minimum, first: Point, frame: Request) -> Minimum:
    """Descend again, from an arc, if the chain of a missed goal is straight."""
    if not arc.stuck(minimum.point.kinematics, frame.targets, stage.arcs)[0]:
        return minimum
    bent = stand(stage.tasks, arched(stage, first.state, frame.targets, frame.links), frame)
    return better(stage, minimum, polish(stage, stage.minimise(stage.runs.phases[0], bent, frame), frame), 1.0)


def _retried(
    stage: Stage, minimum: Minimum, warm: Point, frame: Request, residual: np.ndarray | None
) -> Minimum:
    """Attempts from other starts for a frame that misses its goals: starts near the frame before, then restarts."""
    request, restarts = replace(frame, base=warm.state), stage.options.restarts > 0
    met_before = residual is not None and stage.met(replace(warm, error=residual))
    if restarts or _recovers(stage, warm, minimum.point, frame, met_before):
        minimum, met = stage.attempts.near(minimum, request, warm.state)
        if restarts and not met:
            minimum = stage.attempts.restart(minimum, request, settled=True)
    return minimum


def _recovers(stage: Stage, first: Point, last: Point, frame: Request, met_before: bool) -> bool:
    """Whether another start may meet the goals of a frame that began near them and misses them.

    It may if the frame before met its goals, or if the descent has brought them much nearer: so targets that stay out
    of reach do not make every frame slow. With a pull only the first counts: poses far from the one before would not
    follow the targets continuously.
    """
    if not stage.recovers or stage.beyond_reach(first, frame):
        return False
    if stage.settings.pull:
        return met_before
    near = stage.largest_error(first) <= RECOVER_ERROR
    return met_before or (near and stage.square(last) < RECOVER_SHARE**2 * stage.square(first))


def _no_worse(stage: Stage, last: Point, first: Point, targets: Targets) -> Point:
    """The point `last`, or `first` if that is nearer and `last` misses the tolerances.

    Goals that are met do not count.

    targets : with the shares by which errors are compared.
    """
    if stage.met(last):
        return last
    last_square, first_square = (_square_missed(stage, point, targets) for point in (last, first))
    return first if last_square > first_square else last


def _square_missed(stage: Stage, point: Point, targets: Targets) -> float:
    """The sum of squares of the error rows of goals that are missed."""
    distances, angles = stage.hard_tasks.report(point.kinematics, targets)
    missed = (distances > stage.options.tolerance) | (angles > stage.options.rotation_tolerance)
    shares = missed if targets.shares is None else missed * targets.shares
    errors = stage.hard_tasks.errors(point.kinematics, targets._replace(shares=shares))
    return stage.square(replace(point, error=errors))
