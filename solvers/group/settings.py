# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the runs of the outer iteration that solve a stage, one after the other."""

from typing import NamedTuple

import numpy as np

from ..iterate.descent import ANY, Settings
from ..model.options import Options

PULL = 1e-5
FIRST_DAMPING = 1e-2  # without a pull
FIRST_DAMPING_GROWTH = 1.5  # power of (degrees of freedom / rows): many joints together move a goal far
CONTINUATION = (1e3, 1e2)  # multiples of the pull in the phases before the last
CONTINUATION_ITERATIONS = 4
CONTINUATION_POLE_ITERATIONS = 8  # a limb may have to turn by half a turn to its pole
CONTINUATION_SETTLED = 5e-2  # [rad] step below which a phase with one strength of the pull ends
SETTLED = 1e-3  # [rad] the same for the last phase
UNSETTLED = 1e-4  # [rad] and the predicted remaining motion: 0.006 degrees
FOLLOW_DAMPING = 1e-4
FOLLOW_ITERATIONS = 6
FOLLOW_MISSED_ITERATIONS = 20  # if a goal is missed, so that it does not drag others along
FOLLOW_SETTLED, FOLLOW_UNSETTLED = 5e-2, 3e-2
POLISH_ITERATIONS = 3
POLISH_DAMPING = 1e-8
POLISH_SHARE = 0.2  # of the tolerances: target of the steps without the pull
RETURN_PULL, RETURN_ITERATIONS = 1e-3, 30  # of steps toward the base pose, after sweeps that know no pull
RETURN_SHARE = 1e-4  # of the tolerances: target of the steps after these, so that analytic answers stay as exact
INSIST_ITERATIONS = 20  # without poles and holds, if these keep goals from being met
NEAR_ITERATIONS = 12
APPROACH_ITERATIONS, APPROACH_SETTLED = 10, 2e-2
STAGES, STAGED_ITERATIONS = 4, 12  # of the targets' way from the base pose, each but the last with so many steps
YIELD_SHARE, YIELD_DAMPING = 0.25, 1e-3  # of all iterations: for a descent in which goals yield to those before them
FIRST_SHARE, FIRST_GOALS_DAMPING = 0.5, 1e-4  # the same for the descent after it, which meets those
FIRST_SHARE_LIMITED = 2.0  # with limits, where it takes longer to come to rest: a descent that is cut off trembles


class Runs(NamedTuple):
    """The settings of all runs that a solve may need, as NumPy and the compiled kernel use them."""

    continues: bool
    phases: list[Settings]  # of a solve afresh
    following: Settings
    following_missed: Settings
    polishing: Settings | None
    insisting: Settings | None
    staging: list[Settings]  # one for each stage of the targets' way; none without limits
    yielding: list[Settings]  # one after the other; none if all goals are equal
    returning: list[Settings]  # toward the base pose, and back to the goals; none for solvers that follow the pull
    nearby: Settings  # from a near start
    approaching: Settings | None  # with a pull to the pose before; None for solvers without continuation
    arriving: Settings  # after it, without the pull
    descending: Settings  # from a restart
    finishing: Settings  # the best attempt's last descent if none meets the goals
    spend: int  # iterations in all, if those left are spent on missed goals; else 0


def first_damping(freedoms: int, rows: int) -> float:
    """The first damping of a descent without a pull."""
    return FIRST_DAMPING * max(1.0, freedoms / max(rows, 1)) ** FIRST_DAMPING_GROWTH


def last_phase(
    options: Options, pull: float, damping: float, reluctance: np.ndarray,
    weights: np.ndarray, poles: bool,
) -> Settings:
    """The settings of the last phase: with the pull itself, and most of the iterations.

    damping : as `first_damping`. reluctance : (n,). weights : (n,) of the pull.
    poles : whether any goal has one.
    """
    polish = min(POLISH_ITERATIONS, options.iterations) if pull or poles else 0
    return Settings(
        options.iterations - polish, options.tolerance, options.rotation_tolerance, options.damping, pull or damping,
        pull, SETTLED, reluctance, weights, options, UNSETTLED,
    )  # fmt: skip


def runs(
    settings: Settings, damping: float, released: np.ndarray | None, eased: Settings, poles: bool, precise: bool,
    abandons: bool, ordered: bool, limited: bool, any_limits: bool, returns: bool,
) -> Runs:  # fmt: skip
    """All runs of a stage whose last phase has these `settings`.

    damping : as `first_damping`.
    released : (n,) the reluctance without holds and gains, if holds or poles can keep goals from being met; else None.
    eased : `settings` without holds of limbs: goals that yield, as that of hips, do so to held trunks, not to limbs.
    poles : whether any task is soft. precise : whether the solver supports continuation. abandons : whether a first
    descent may end early, because other starts follow it. ordered : whether some goals come before others. limited :
    whether any of the stage's joints has limits.
    any_limits : whether any joint of the skeleton has, so that all stages take as many steps.
    returns : whether the solver's iteration knows no pull.
    """
    options, pull, polishes = settings.options, settings.pull, bool(settings.pull or poles)
    continues = bool(pull) and precise
    following = settings._replace(first_damping=FOLLOW_DAMPING)
    if polishes:
        most = FOLLOW_ITERATIONS if precise else options.iterations
        following = settings._replace(
            iterations=min(settings.iterations, most), settle=FOLLOW_SETTLED, unsettled=FOLLOW_UNSETTLED
        )
    missed = min(settings.iterations, FOLLOW_MISSED_ITERATIONS)
    polishing = settings._replace(
        pull=0.0, iterations=min(POLISH_ITERATIONS, options.iterations), first_damping=POLISH_DAMPING,
        tolerance=POLISH_SHARE * options.tolerance, rotation_tolerance=POLISH_SHARE * options.rotation_tolerance,
    )  # fmt: skip
    yielding = [
        eased._replace(iterations=int(YIELD_SHARE * options.iterations), first_damping=YIELD_DAMPING),
        polishing._replace(
            reluctance=eased.reluctance, weights=eased.weights,
            iterations=int((FIRST_SHARE_LIMITED if any_limits else FIRST_SHARE) * options.iterations),
            first_damping=FIRST_GOALS_DAMPING,
        ),
    ]
    returning = [
        settings._replace(
            pull=RETURN_PULL, first_damping=RETURN_PULL, damping=None, iterations=RETURN_ITERATIONS
        ),
        polishing._replace(
            tolerance=RETURN_SHARE * options.tolerance, rotation_tolerance=RETURN_SHARE * options.rotation_tolerance,
            damping=None, iterations=POLISH_ITERATIONS,
        ),
    ]
    descending = settings._replace(pull=0.0, first_damping=damping, abandons=precise)
    nearby = descending._replace(first_damping=FOLLOW_DAMPING, iterations=min(NEAR_ITERATIONS, options.iterations))
    approaching = nearby._replace(
        pull=PULL, first_damping=PULL, settle=APPROACH_SETTLED, unsettled=ANY, abandons=False,
        weights=settings.reluctance, iterations=min(APPROACH_ITERATIONS, options.iterations),
    )  # fmt: skip
    phases = _continuation(settings, poles, ordered) if continues else [settings._replace(abandons=abandons)]
    stage = settings._replace(
        iterations=min(settings.iterations, STAGED_ITERATIONS), settle=CONTINUATION_SETTLED, unsettled=ANY
    )
    return Runs(
        continues,
        phases,
        following,
        following._replace(iterations=missed, resigns=ordered) if polishes else following,
        polishing if polishes else None,
        None
        if released is None
        else polishing._replace(
            iterations=min(INSIST_ITERATIONS, options.iterations),
            first_damping=FIRST_DAMPING,
            reluctance=released,
        ),
        [*[stage] * (STAGES - 1), phases[-1]] if continues and limited else [],
        yielding if ordered else [],
        returning if returns and pull and not poles else [],  # their pull is stronger than a pole
        nearby,
        approaching if precise else None,
        nearby._replace(first_damping=POLISH_DAMPING, abandons=False),
        descending,
        descending._replace(abandons=False),
        0 if precise else options.iterations,
    )


def _continuation(settings: Settings, poles: bool, resigns: bool) -> list[Settings]:
    """Phases with a pull that weakens step by step; the last one has these `settings`."""
    limit = CONTINUATION_POLE_ITERATIONS if poles else CONTINUATION_ITERATIONS
    most = min(limit, settings.iterations // (len(CONTINUATION) + 1))
    phases = [
        settings._replace(
            pull=factor * settings.pull, first_damping=factor * settings.pull, settle=CONTINUATION_SETTLED,
            unsettled=ANY, iterations=most,
        ) for factor in CONTINUATION
    ]  # fmt: skip
    last = settings._replace(iterations=settings.iterations - most * len(CONTINUATION), resigns=resigns)
    return [*phases, last]
