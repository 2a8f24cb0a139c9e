# SPDX-License-Identifier: GPL-3.0-or-later
"""CCD: cyclic coordinate descent, which turns one joint after the other to the best place for its goals.

    maximise  tr(R^T B),   B = sum w_p^2 b a^T + 1/2 sum w_r^2 R_target R_current^T

(Parent, "Procedurally determining the angles"; Welman 1993; Kenwright II.) Seen from a joint, `a` is the effector of
each goal that it moves and `b` the target. The joint makes the turn `R` with the lowest weighted sum of squared
distances; an orientation counts by the chord, `1/2 |R R_current - R_target|^2`, which is the angle's square for small
angles. For a ball this is Wahba's problem (`aim.py`), for a hinge an `atan2`; a slide moves by the mean of its goals'
errors.

Limits are applied joint by joint: exactly for a hinge and a slide, whose best value inside an interval is the end
nearest to the free optimum; for a limited ball by descent in twist and swing. No visit takes the goals of its joint
further from their targets. A sweep is cheap for all joints and limits. But the joints visited first do most of the work
(a stiffness reduces every turn by its share), many goals converge slowly, and in a straight chain whose target lies on
its line no joint turns.

A visit has no part for a pull toward the base pose (`Options.pull`): it turns its joint for the goals alone, and the
first visits leave nothing to the others. A pull decides the pose to start from; once the goals are met, damped steps
lead nearer to it (`group/plan.py`).

With `Options.unit_angle` CCD follows MikuMikuDance's rule instead (`mmd.py`).
"""

from collections.abc import Callable

import numpy as np

from ..algebra import quaternion, twist_swing
from ..iterate import aim, mmd
from ..iterate.descent import Minimum, Settings
from ..iterate.linear_step import dot
from ..iterate.sweeps import repeat
from ..model.limits import FULL_TURN
from ..model.options import Options
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, stand
from ..space.posture import Posture, Visit, visits
from ..space.tasks import Tasks, turned_to_pole
from .table import Method

NOTHING = 1e-24  # of B's square: below this a hinge has nothing to turn
LEAST_GAIN = 2e-15  # of B's size: a limited ball stays if it would gain less, which may be rounding alone
ROUNDS = 3  # of descent for a limited ball
STEPS = np.array([0.5, 1.0, 2.0, 4.0])[:, None]  # tried in each round, in units of a step that cannot overshoot
SHARES = np.array([0.25, 0.5, 1.0])[:, None]  # tried first, of the way to its free optimum, brought inside the limits


def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
    """Sweep over the joints until the goals are met or the sweeps gain nothing more."""
    if settings.options.unit_angle is not None:
        return mmd.minimise(tasks, space, settings, start, frames)
    order = in_order(tasks, space, settings.options)

    def advance(point: Point, request: Request, _: int) -> State:
        posture = Posture(tasks, point, request)
        for visit in order:
            serve(space, posture, visit)
        return swivelled(tasks, space, posture.state, request)

    if tasks.poles:
        start = stand(tasks, swivelled(tasks, space, start.state, frames), frames)
    return repeat(tasks, settings, start, frames, advance)


def in_order(tasks: Tasks, space: JointSpace, options: Options) -> list[Visit]:
    """The joints of a sweep, in the order of their visits."""
    order = visits(tasks, space)
    return order[::-1] if options.order == "TIP_TO_ROOT" else order


def serve(space: JointSpace, posture: Posture, visit: Visit) -> None:
    """Move one joint to the best place for its goals, as far as its limits and its stiffness allow."""
    arms, ends = posture.arms(visit)
    weights = posture.places[:, visit.goals, None]
    if visit.kind.slides:
        _slide(space, posture, visit, arms, ends, weights)
        return
    alone = visit.goals.size == 1 and not visit.turning.size
    if visit.kind.freedoms == 3 and alone and not bounded(space, visit):
        aim.turn(space, posture, visit, quaternion.between(arms[:, 0], ends[:, 0]), visit.share)
        return
    matrix = np.swapaxes(weights * ends, -1, -2) @ arms
    if visit.turning.size:
        current, target = posture.orientations(visit)
        turning = 0.5 * (posture.turns[:, visit.turning] * visit.turn_shares)[..., None, None]
        matrix += (turning * (target @ np.swapaxes(current, -1, -2))).sum(1)
    if visit.kind.freedoms == 1:
        _hinge(space, posture, visit, matrix)
    elif bounded(space, visit):
        _limited_ball(space, posture, visit, matrix, (arms[:, 0], ends[:, 0]) if alone else None)
    else:
        aim.turn(space, posture, visit, best_turn(matrix), visit.share)


def bounded(space: JointSpace, visit: Visit) -> bool:
    """Whether a joint has any limits."""
    return bool(np.isfinite(space.lo[visit.block]).any())


def _slide(
    space: JointSpace, posture: Posture, visit: Visit, arms: np.ndarray, ends: np.ndarray, weights: np.ndarray
) -> None:
    axis = posture.axis(visit)
    miss = (ends - arms) @ axis[..., None]
    by = (weights * miss).sum(1) / weights.sum(1)
    x = posture.state.x[:, visit.block]
    posture.slide(visit, axis, x + visit.share * (space.project_block(x + by, visit.block) - x))


def _hinge(space: JointSpace, posture: Posture, visit: Visit, matrix: np.ndarray) -> None:
    axis, own = posture.axis(visit), space.skeleton.axis[visit.joint]
    sine = dot(axis, torque(matrix))
    cosine = matrix.trace(0, 1, 2) - dot(axis, (matrix @ axis[..., None])[..., 0])
    some = sine * sine + cosine * cosine > NOTHING * (matrix * matrix).sum((1, 2))
    x = posture.state.x[:, visit.block]
    best = x + np.where(some, np.arctan2(sine, cosine), 0.0)[:, None]
    if space.lo[visit.block] > -np.inf:
        middle = 0.5 * (space.lo[visit.block] + space.hi[visit.block])
        best = space.project_block(best + FULL_TURN * np.round((middle - best) / FULL_TURN), visit.block)

    def gain(to: np.ndarray) -> np.ndarray:
        by = (to - x)[:, 0]
        return cosine * (np.cos(by) - 1.0) + sine * np.sin(by)

    best = _share_of_way(x, best, visit.share, gain)
    turn = quaternion.to_matrix(quaternion.exp(axis * (best - x))[:, None])
    posture.turn(visit, turn[:, 0], quaternion.exp(own * best), best)


def _limited_ball(
    space: JointSpace, posture: Posture, visit: Visit, matrix: np.ndarray, alone: tuple[np.ndarray, np.ndarray] | None
) -> None:
    """Turn a limited ball by descent in twist and swing.

    For a rest frame `P`, `R = P m_new (P m)^-1` and `tr(R^T B) = tr(m_new^T (P^T B P m))`.

    alone : arm and end (F, 3) of the only goal, a position, which leaves the twist open; None where there are more.
    """
    block, motion = visit.block, posture.state.rotations[:, None, visit.joint]
    align = quaternion.between(np.array([0.0, 1.0, 0.0]), space.skeleton.axis[visit.joint])
    undo, world = quaternion.conjugate(align), posture.matrices[:, None, visit.joint]
    rest = np.swapaxes(world @ quaternion.to_matrix(quaternion.product(quaternion.conjugate(motion), align)), -1, -2)
    here = world @ quaternion.to_matrix(align)
    matrix = rest @ matrix[:, None] @ here
    x = posture.state.x[:, None, block]

    def value(at: np.ndarray) -> np.ndarray:
        return (quaternion.to_matrix(twist_swing.compose(at)) * matrix).sum((-2, -1))

    if alone is None:
        best = best_turn(matrix[:, 0])
    else:
        arm, end = np.swapaxes(here[:, 0], -1, -2) @ alone[0][..., None], rest[:, 0] @ alone[1][..., None]
        best = quaternion.between(arm[..., 0], end[..., 0])
    free = quaternion.product(quaternion.product(align, best[:, None]), undo)
    step = (space.nearest(block, free[:, 0])[1][:, None] - x) * SHARES
    size = np.sqrt((matrix * matrix).sum((-2, -1)))
    unit, slack = 1.0 / np.maximum(size, np.finfo(float).tiny)[..., None], LEAST_GAIN * size
    best, most = x, value(x)
    for _ in range(1 + ROUNDS):
        candidates = np.concatenate([best, best + step], 1)  # (F, K, 3)
        values = np.concatenate([most + slack, value(candidates[:, 1:])], 1)
        chosen = np.argmax(values, 1)[:, None]
        best = np.take_along_axis(candidates, chosen[..., None], 1)
        most = np.where(chosen == 0, most, np.take_along_axis(values, chosen, 1))
        left = torque(np.swapaxes(quaternion.to_matrix(twist_swing.compose(best)), -1, -2) @ matrix)
        uphill = (left[..., None, :] @ twist_swing.body_jacobian(best))[..., 0, :] * unit
        to = best + uphill * STEPS
        step = space.project_block(to.reshape(-1, 3), block).reshape(to.shape) - best
    best = _share_of_way(x[:, 0], best[:, 0], visit.share, lambda to: (value(to[:, None]) - value(x))[:, 0])
    own = quaternion.product(quaternion.product(align, twist_swing.compose(best[:, None])), undo)
    posture.move(space, visit, own[:, 0])


def best_turn(matrix: np.ndarray) -> np.ndarray:
    """The turn `R` (F, 4) with the largest `tr(R^T B)` for B (F, 3, 3): it takes each axis toward its column of B."""
    axes = np.broadcast_to(np.eye(3), matrix.shape)
    return aim.about_point(axes, np.swapaxes(matrix, -1, -2), np.ones(matrix.shape[:2]))


def torque(matrix: np.ndarray) -> np.ndarray:
    """`sum w p x t` (..., 3) of `sum w t p^T` (..., 3, 3)."""
    return matrix[..., [2, 0, 1], [1, 2, 0]] - matrix[..., [1, 2, 0], [2, 0, 1]]


def _share_of_way(
    x: np.ndarray, best: np.ndarray, share: float, gain: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """A share of the way from `x` to `best` (F, k), or all of it in frames where the share would lose."""
    if share == 1.0:
        return best
    part = x + share * (best - x)
    return np.where((gain(part) >= 0.0)[:, None], part, best)


def swivelled(tasks: Tasks, space: JointSpace, state: State, frames: Request) -> State:
    """`state` with each pole's chain turned about the line from its root to its end, where this lowers the error.

    The goals count together with the poles: a hand with a goal for its orientation is not turned away from it.
    """
    for pole in tasks.poles.swivelling if tasks.poles else ():
        point = stand(tasks, state, frames)
        turned = stand(tasks, turned_to_pole(space, state, point.kinematics, frames.targets, pole), frames)
        better = ((turned.error**2).sum(-1) < (point.error**2).sum(-1))[:, None]
        state = State(
            np.where(better[..., None], turned.state.rotations, state.rotations),
            np.where(better, turned.state.x, state.x),
        )
    return state


METHOD = Method(minimise, reaches_only=True, returns=True)
