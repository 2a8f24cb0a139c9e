# SPDX-License-Identifier: GPL-3.0-or-later
"""The last steps of a stage: without the pull, then without poles and holds if these keep goals from being met.

Sweeps know no pull: where they have met the goals, damped steps lead along the goals' null space toward the base pose.
"""


from ..iterate.descent import Minimum, Settings, damped
from ..iterate.linear_step import dot
from ..methods import dls
from ..space.point import Point, Request, stand
from .stage import Stage

RETURN_NEARER = 0.99  # of the pull's objective: a pose that is hardly nearer to the base pose is not worth a step
_damped_steps = damped(dls.step)


def polish(stage: Stage, minimum: Minimum, frame: Request) -> Minimum:
    """A few steps without the pull, so that it costs no accuracy.

    Then more steps, without poles and holds, if these keep goals from being met.
    """
    runs = stage.runs
    if runs.polishing is None:
        return minimum
    minimum = _on(stage, runs.polishing, minimum, frame)
    if runs.insisting is not None:
        point = minimum.point
        minimum.point = Point(point.state, point.kinematics, stage.hard_tasks.errors(point.kinematics, frame.targets))
        if not stage.met(point):
            minimum = _on(stage, runs.insisting, minimum, frame, poles=False)
    # solvers that take many small steps may settle before they meet the goals
    left = runs.spend - int(minimum.iterations[0])
    if left > 0 and not stage.met(minimum.point):
        minimum = _on(stage, runs.polishing._replace(iterations=left), minimum, frame, poles=False)
    return _returned(stage, minimum, frame) if runs.returning and stage.met(minimum.point) else minimum


def _on(stage: Stage, settings: Settings, minimum: Minimum, frame: Request, poles: bool = True) -> Minimum:
    """A minimum after a further run of the iteration, with the iterations of both."""
    after = stage.minimise(settings, minimum.point, frame, poles)
    return Minimum(after.point, minimum.iterations + after.iterations, minimum.cost)


def _returned(stage: Stage, minimum: Minimum, frame: Request) -> Minimum:
    """Damped steps toward the base pose, and back to the goals, with the iterations that are left.

    They count if the goals stay met and the pose is nearer.
    """
    pulled, arriving = stage.runs.returning
    left = min(stage.runs.spend - arriving.iterations - int(minimum.iterations[0]), pulled.iterations)
    if left <= 0:
        return minimum
    first = stand(stage.tasks, minimum.point.state, frame)
    led = _damped_steps(stage.tasks, stage.space, pulled._replace(iterations=left), first, frame)
    begin = stand(stage.hard_tasks, led.point.state, frame)
    after = _damped_steps(stage.hard_tasks, stage.space, arriving, begin, frame)
    away, before = (_away(stage, point, frame) for point in (after.point, minimum.point))
    point = after.point if away < RETURN_NEARER * before and stage.met(after.point) else minimum.point
    return Minimum(point, minimum.iterations + led.iterations + after.iterations, minimum.cost)


def _away(stage: Stage, point: Point, frame: Request) -> float:
    """`v^T W v`, `v` the difference from the base pose."""
    v = stage.space.difference(point.state, frame.base)
    return float(dot(stage.settings.weights * v, v)[0])
