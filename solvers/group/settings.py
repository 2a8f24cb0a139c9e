# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the runs of the outer iteration that solve a stage, one after the other."""

from typing import Any

import numpy as np

from ..iterate.descent import ANY, Settings
from ..model.options import Options

PULL = 1e-5
FIRST_DAMPING = 1e-2  # without a pull
FIRST_DAMPING_GROWTH = 1.5  # power of (degrees of freedom / rows): many joints together move a goal far
CONTINUATION = (1e3, 1e2)  # multiples of the pull in the phases before the last
SETTLED = 1e-3  # [rad] step below which the last phase ends
UNSETTLED = 1e-4  # [rad] and the predicted remaining motion: 0.006 degrees
BRIEF = {"settle": 5e-2, "unsettled": ANY}  # [rad] of a run that only leads to the next
NEAR_DAMPING = 1e-4
POLISH_ITERATIONS, POLISH_DAMPING = 3, 1e-8
POLISH_SHARE = 0.2  # of the tolerances: target of the steps without the pull
RETURN_PULL = 1e-3
RETURN_SHARE = 1e-4  # of the tolerances: target of the steps after a return, so that analytic answers stay as exact


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
) -> dict[str, list[Settings]]:  # fmt: skip
    """All runs of a stage whose last phase has these `settings`, by name, as NumPy and the compiled kernel use them.

    damping : as `first_damping`.
    released : (n,) the reluctance without holds and gains, if holds or poles can keep goals from being met; else None.
    eased : `settings` without holds of limbs, nor those up to `KEYED`: goals that yield, as that
        of hips, do so to held trunks. A hand beyond reach would else go back to where a keyed trunk has it.
    poles : whether any task is soft. precise : whether the solver supports continuation. abandons : whether a first
    descent may end early, because other starts follow it. ordered : whether some goals come before others. limited :
    whether any of the stage's joints has limits.
    any_limits : whether any joint of the skeleton has, so that all stages take as many steps.
    returns : whether the solver's iteration knows no pull.
    """
    options, pull, polishes = settings.options, settings.pull, bool(settings.pull or poles)
    most, continues = options.iterations, bool(pull) and precise
    warming = min(8 if poles else 4, settings.iterations // (len(CONTINUATION) + 1))  # a limb may turn far to its pole

    def within(share: float) -> dict[str, Any]:
        return {"tolerance": share * options.tolerance, "rotation_tolerance": share * options.rotation_tolerance}

    rows: list[tuple[str, bool, str, dict[str, Any]]] = [  # name, when it is made, like which other, changes to that
        ("phase", not continues, "last", {"abandons": abandons}),
        *(("phase", continues, "last", {"pull": by * pull, "first_damping": by * pull, "iterations": warming, **BRIEF})
          for by in CONTINUATION),
        ("phase", continues, "last",
         {"iterations": settings.iterations - warming * len(CONTINUATION), "resigns": ordered}),
        # from the frame before
        ("following", not polishes, "last", {"first_damping": NEAR_DAMPING}),
        ("following", polishes, "last",
         {"iterations": min(settings.iterations, 6 if precise else most), "settle": 5e-2, "unsettled": 3e-2}),
        # and further if a goal is missed, so that it does not drag others along
        ("following_missed", not polishes, "last", {"first_damping": NEAR_DAMPING}),
        ("following_missed", polishes, "following", {"iterations": min(settings.iterations, 20), "resigns": ordered}),
        ("polishing", polishes, "last",
         {"pull": 0.0, "iterations": min(POLISH_ITERATIONS, most), "first_damping": POLISH_DAMPING,
          **within(POLISH_SHARE)}),
        # without poles and holds, if these keep goals from being met
        ("insisting", released is not None, "polishing",
         {"iterations": min(20, most), "first_damping": FIRST_DAMPING, "reluctance": released}),
        # the targets' way from the base pose, in four stages
        *[("staging", continues and limited, "last", {"iterations": min(settings.iterations, 12), **BRIEF})] * 3,
        ("staging", continues and limited, "phase", {"abandons": True}),
        # goals yield to those before them, which a second descent meets: it ends when it has. With limits it takes
        # longer, and a descent that is cut off trembles. Without a pull it would creep on along a flat valley
        ("yielding", ordered, "eased", {"iterations": int(0.25 * most), "first_damping": 1e-3}),
        ("yielding", ordered, "polishing",
         {"iterations": int((2.0 if any_limits else 0.5) * most), "first_damping": 1e-4,
          "reluctance": eased.reluctance, "weights": eased.weights, "serves": True}),
        # in a motion the next frame goes on from here
        ("yielding_on", ordered, "yielding", {"slow_steps": 2, "slow_share": 0.05}),
        # toward the base pose, and back to the goals; this pull is stronger than a pole
        ("returning", returns and bool(pull) and not poles, "last",
         {"pull": RETURN_PULL, "first_damping": RETURN_PULL, "damping": None, "iterations": 30}),
        ("returning", returns and bool(pull) and not poles, "polishing",
         {"damping": None, "iterations": POLISH_ITERATIONS, **within(RETURN_SHARE)}),
        # from a restart; the best attempt's last descent if none meets the goals
        ("descending", True, "last", {"pull": 0.0, "first_damping": damping, "abandons": precise}),
        ("finishing", True, "descending", {"abandons": False}),
        # from a near start; then with a pull to the pose before, and without it
        ("nearby", True, "descending", {"iterations": min(12, most), "first_damping": NEAR_DAMPING}),
        ("approaching", precise, "nearby",
         {"pull": PULL, "first_damping": PULL, "settle": 2e-2, "unsettled": ANY, "abandons": False,
          "weights": settings.reluctance, "iterations": min(10, most)}),
        ("arriving", True, "nearby", {"first_damping": POLISH_DAMPING, "abandons": False}),
    ]  # fmt: skip
    made, found = {"last": settings, "eased": eased}, dict[str, list[Settings]]()
    for name, when, like, changes in rows:
        own, each = made[like]._replace(**changes), found.setdefault(name, [])
        if when or name not in made:
            made[name] = own
        if when:
            each.append(own)
    return found
