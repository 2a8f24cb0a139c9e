# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves a stage for a batch of frames: afresh, or one frame from the frame before it.

With a pull the answer is the pose nearest to the base pose that meets the goals: a solve afresh finds it by
continuation. Without a pull it is one descent from the start. Frames that miss their goals are solved again.
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
from .side_by_side import alone, put, rows_of
from .stage import Stage
from .staged import far_off, keep_better, solve_in_stages
from .starts import arched, begin, folded, swivelled

FOLLOW_JUMP = (
    0.25  # [skeleton lengths] an error that grows by more in one frame is a jump, and the frame is solved afresh
)
FOLLOW_LOST = 1e-3  # [skeleton lengths] with a pull, a frame whose error is larger and has grown is solved afresh


def solve(
    stage: Stage, start: Pose, targets: Targets, links: np.ndarray | None, home: np.ndarray
) -> tuple[Point, np.ndarray]:  # fmt: skip
    """Solve frames afresh from their start poses; returns their end points and iterations (F,).

    home : (F or 1, J, 4) as `FrameArrays.home_rotations`.
    """
    first, frames = begin(stage, start, start, targets, links)
    minimum = _solved(stage, first, frames)
    shared = serve_in_order(stage, minimum, frames, start, home)
    return _no_worse(stage, minimum.point, first, shared), minimum.iterations.sum(-1)


def _solved(stage: Stage, first: Point, frames: Request) -> Minimum:
    """Solve frames afresh, with all goals at once."""
    minimum = continued(stage, frames) if stage.runs.continues else _descent(stage, first, frames)
    minimum = polish(stage, minimum, frames)
    if stage.arcs and not stage.settings.pull:
        _unstick(stage, minimum, first, frames)
    solve_in_stages(stage, minimum, frames)
    for frame, lane in np.argwhere(far_off(stage, minimum, frames)).tolist():
        part, best, _, one = alone(stage, lane, frame, minimum, first, frames)
        part.attempts.middle(best, 0, one)
        put(stage, minimum, frame, lane, best)
    restarts = stage.options.restarts > 0
    if stage.recovers or restarts:
        for frame, lane in np.argwhere(stage.missed(minimum.point, frames)).tolist():
            part, best, before, one = alone(stage, lane, frame, minimum, first, frames)
            recovers = _recovers(part, before, best.point, one, met_before=False)
            met = recovers and part.attempts.near(best, 0, one, before.state)
            if not met and restarts:
                part.attempts.restart(best, 0, one, settled=not stage.runs.phases[0].abandons)
            put(stage, minimum, frame, lane, best)
    return minimum


def follow(
    stage: Stage, previous: Pose, start: Pose, targets: Targets, links: np.ndarray | None, residual: np.ndarray | None,
    home: np.ndarray,
) -> tuple[Point, np.ndarray]:  # fmt: skip
    """Solve one frame from the frame before it; afresh if the targets jumped or the error is too large.

    residual : (1, m) the last error rows of the frame before; None if unknown. home : (1, J, 4) as in `solve`.
    """
    settings, rows, m = stage.settings, stage.lanes.rows, stage.tasks.m
    first, frames = begin(stage, previous, start, targets, links)
    before = np.zeros((1, m)) if residual is None else residual[:, :m]
    jumped = rows.largest(np.abs(first.error[:, :m] - before)) > FOLLOW_JUMP
    if jumped.all():
        return solve(stage, start, targets, links, home)
    if jumped.any():
        frames.lanes = ~jumped
    minimum = _followed(stage, first, frames)
    error, afresh = rows.largest(np.abs(minimum.point.error[:, :m])), jumped
    if settings.pull:
        afresh = jumped | (error > np.maximum(FOLLOW_LOST, 1.1 * rows.largest(np.abs(before))))
    more = 0
    again = first
    if afresh.any():
        again, request = begin(stage, start, start, targets, links)
        request.lanes = afresh
        solved = _solved(stage, again, request)
        more = solved.iterations.sum(-1)
        better = jumped | (afresh & (stage.squares(solved.point.error) < stage.squares(minimum.point.error)))
        minimum.point = solved.point.where(stage.lanes, better, minimum.point)
    if stage.recovers or stage.options.restarts:
        for _, lane in np.argwhere(stage.missed(minimum.point, frames)).tolist():
            part, best, warm, one = alone(stage, lane, 0, minimum, first, frames)
            lane_residual = None if residual is None else residual[:, rows_of(stage, lane, residual)]
            _retry(part, best, warm, one, lane_residual)
            put(stage, minimum, 0, lane, best)
    frames.lanes = None
    shared, point = serve_in_order(stage, minimum, frames, start, home), minimum.point
    if jumped.any():
        point = replace(point, error=point.error[:, :m])
        point = _no_worse(stage, point, again, shared).where(stage.lanes, jumped, point)
    return point, minimum.iterations.sum(-1) + more


def _descent(stage: Stage, first: Point, frames: Request) -> Minimum:
    """One descent: with a pull from folded limbs, without one from the start."""
    if stage.settings.pull:
        first = stand(stage.tasks, folded(stage, frames, limb.SWIVELS[:1]), frames)
    elif stage.poles:
        first = stand(stage.tasks, swivelled(stage, first.state, frames), frames)
    return stage.minimise(stage.runs.phases[0], first, frames)


def _followed(stage: Stage, first: Point, frames: Request) -> Minimum:
    """A short descent from the frame before, and a longer one if goals are missed after it."""
    minimum = polish(stage, stage.minimise(stage.runs.following, first, frames), frames)
    missed = stage.missed(minimum.point, frames)
    if stage.runs.polishing is None or not missed.any():
        return minimum
    again = replace(frames, lanes=missed)
    longer = stage.minimise(stage.runs.following_missed, stand(stage.tasks, minimum.point.state, frames), again)
    longer = polish(stage, longer, again)
    longer.iterations += minimum.iterations
    return longer


def _unstick(stage: Stage, minimum: Minimum, first: Point, frames: Request) -> None:
    """Descend again, from an arc, in frames that missed a goal with a straight chain."""
    lane = stage.lanes.goals[[one.goal for one in stage.arcs]]
    at, arcs = minimum.point.kinematics, list(zip(stage.arcs, lane.tolist(), strict=True))
    straight = [
        arc.stuck(at, frames.targets, [one for one, own in arcs if own == number])
        for number in range(stage.lanes.count)
    ]
    stuck = stage.missed(minimum.point, frames) & np.stack(straight, -1)
    index = np.flatnonzero(stuck.any(-1))
    if not index.size:
        return
    some = replace(frames.take(index), lanes=stuck[index])
    bent = stand(stage.tasks, arched(stage, first.state.take(index), some.targets, some.links), some)
    again = polish(stage, stage.minimise(stage.runs.phases[0], bent, some), some)
    keep_better(stage, minimum, again, index, stuck, 1.0)


def _retry(stage: Stage, minimum: Minimum, warm: Point, frames: Request, residual: np.ndarray | None) -> None:
    """Attempts from other starts for a frame that misses its goals: starts near the frame before, then restarts."""
    met_before = residual is not None and bool(stage.met(residual).all())
    request = replace(frames, base=warm.state)
    restarts = stage.options.restarts > 0
    near = restarts or _recovers(stage, warm, minimum.point, frames, met_before)
    if near and stage.attempts.near(minimum, 0, request, warm.state):
        return
    if restarts:
        stage.attempts.restart(minimum, 0, request, settled=True)


def _recovers(stage: Stage, first: Point, last: Point, frames: Request, met_before: bool) -> bool:
    """Whether another start may meet the goals of a frame (1,) that began near them and misses them.

    It may if the frame before met its goals, or if the descent has brought them much nearer: so targets that stay out
    of reach do not make every frame slow. With a pull only the first counts: poses far from the one before would not
    follow the targets continuously.
    """
    links = stage.skeleton.links if frames.links is None else frames.links
    if not stage.recovers or stage.yielding.beyond(first.kinematics.positions, links, frames.targets).any():
        return False
    if stage.settings.pull:
        return met_before
    near = np.abs(first.error[:, : stage.tasks.m]).max(initial=0.0) <= RECOVER_ERROR
    nearer = stage.squares(last.error) < RECOVER_SHARE**2 * stage.squares(first.error)
    return bool(met_before or (near and nearer.all()))


def _no_worse(stage: Stage, last: Point, first: Point, targets: Targets) -> Point:
    """The point `last`, or `first` in lanes where that is nearer and `last` misses the tolerances.

    Goals that are met do not count.

    targets : with the shares by which errors are compared.
    """
    missed = ~stage.met(last.error)
    if not missed.any():
        return last
    last_square, first_square = (_square_missed(stage, point, targets) for point in (last, first))
    worse = missed & (last_square > first_square)
    if worse.any():
        last = replace(last, error=last.error[:, : stage.tasks.m])
        first = replace(first, error=first.error[:, : stage.tasks.m])
        last = first.where(stage.lanes, worse, last)
    return last


def _square_missed(stage: Stage, point: Point, targets: Targets) -> np.ndarray:
    """Sums (F, L) of squares of the error rows of goals that are missed."""
    distances, angles = stage.hard_tasks.report(point.kinematics, targets)
    missed = (distances > stage.options.tolerance) | (angles > stage.options.rotation_tolerance)
    shares = missed if targets.shares is None else missed * targets.shares
    return stage.squares(stage.hard_tasks.errors(point.kinematics, targets._replace(shares=shares)))
