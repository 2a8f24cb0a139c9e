# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers by name, each with a summary of what it is for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..iterate.descent import Minimise, damped
from ..model.errors import InvalidGoal, UnknownSolver
from ..model.goals import Goal, label
from ..model.names import suggestions
from ..model.skeleton import Skeleton
from . import ccd, dls, pgs

Check = Callable[[Skeleton, Sequence[Goal], np.ndarray], None]
"""Raises `InvalidGoal` if a solver cannot solve these goals with these chains (G, J)."""


@dataclass(frozen=True)
class Method:
    """A solver.

    Attributes
    ----------
    number : in .blend files, where it stays: a new solver takes the next one. label : whom it serves, or what its paper
        calls it. summary : one line for users. minimise : its iteration.
    continues : whether it is precise enough for continuation (`group/continuation.py`), which leads to the answer
        nearest to the base pose. The others start from folded limbs and keep the answer that they find.
    lanes : whether it solves stages with several lanes. reaches_only : whether it solves goals of the kind REACH only.
    check : refuses goals that it cannot solve, or None.
    returns : whether its iteration knows no pull, so that damped steps toward the base pose follow it (`polish.py`).
    """

    number: int
    label: str
    summary: str
    minimise: Minimise
    continues: bool = False
    lanes: bool = False
    check: Check | None = None
    reaches_only: bool = False
    returns: bool = False


METHODS: dict[str, Method] = {
    "PGS": Method(
        0, "Balanced (PGS)",
        "Projected Gauss-Seidel with subspace minimisation: rests exactly on joint limits. The one to start with",
        damped(pgs.step), continues=True, lanes=True,
    ),
    "DLS": Method(
        1, "Fast (DLS)",
        "Damped least squares with an active set for the limits: the robot builder's standard, smooth and robust",
        damped(dls.step), continues=True, lanes=True,
    ),
    "CCD": Method(
        2, "Joint by Joint (CCD)",
        "Cyclic coordinate descent: joint by joint, inside limits, cheap and predictable; for chains and MMD rigs",
        ccd.minimise, reaches_only=True, returns=True,
    ),
}  # fmt: skip
"""Those of the core; `papers` adds its own."""


def solver_named(name: str) -> str:
    """The name as spelt in `METHODS`, for any case, spaces and hyphens; `UnknownSolver` if it is not there."""
    key = name.strip().upper().replace("-", "_").replace(" ", "_") if isinstance(name, str) else ""
    if key not in METHODS:
        names = suggestions(str(name), METHODS, "{}")
        raise UnknownSolver(f"solver {name!r} is not known; the solvers are {names}")
    return key


def refuse_kinds(name: str, method: Method, skeleton: Skeleton, goals: Sequence[Goal]) -> None:
    """Raise `InvalidGoal` for a goal of a kind that a solver, called `name`, cannot solve, and for couplings."""
    if method.reaches_only and skeleton.couplings:
        raise InvalidGoal(
            "{} cannot solve joints that move together; joint {!r} is coupled to another: take PGS",
            name, skeleton.names[int(skeleton.couplings[0].joint)],
        )
    for index, goal in enumerate(goals):
        if method.reaches_only and goal.kind != "REACH":
            raise InvalidGoal(
                "{} solves positions and rotations only; goal {} (joint {!r}) is a {} goal: take PGS",
                name, *label(skeleton, index, goal), goal.kind,
            )
