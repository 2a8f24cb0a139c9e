# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers by name. Each is a module with a `METHOD`, which is imported when the solver is first asked for."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..iterate.descent import Minimise
from ..iterate.linear_step import Inner
from ..model.errors import InvalidGoal, UnknownSolver
from ..model.goals import Goal, label
from ..model.names import suggestions
from ..model.skeleton import Skeleton

Check = Callable[[Skeleton, Sequence[Goal], np.ndarray], None]
"""Raises `InvalidGoal` if a solver cannot solve these goals with these chains (G, J)."""

SOLVERS: dict[str, str] = {}
"""Names and one-line descriptions of the solvers."""

_MODULES: dict[str, str] = {}


@dataclass(frozen=True)
class Method:
    """A solver.

    Attributes
    ----------
    minimise : its iteration. step : the linear step of one iteration, for solvers that take one.
    continues : whether it is precise enough for continuation (`group/plan.py`), which leads to the answer
        nearest to the base pose. The others start from folded limbs and keep the answer that they find.
    reaches_only : whether it solves goals of the kind REACH only.
    check : refuses goals that it cannot solve, or None.
    returns : whether its iteration knows no pull, so that damped steps toward the base pose follow it (`plan.py`).
    """

    minimise: Minimise
    step: Inner | None = None
    continues: bool = False
    check: Check | None = None
    reaches_only: bool = False
    returns: bool = False


def offer(package: str, solvers: Mapping[str, str]) -> None:
    """Add solvers by name, with their descriptions; the module of each has its name in small letters."""
    for name, description in solvers.items():
        SOLVERS[name], _MODULES[name] = description, f"{package}.{name.lower()}"


@cache
def method_of(name: str) -> Method:
    """The solver of a name in `SOLVERS`."""
    return importlib.import_module(_MODULES[name]).METHOD


def solver_named(name: str) -> str:
    """The name as spelt in `SOLVERS`, for any case, spaces and hyphens; `UnknownSolver` if it is not there."""
    key = name.strip().upper().replace("-", "_").replace(" ", "_") if isinstance(name, str) else ""
    if key not in SOLVERS:
        names = suggestions(str(name), SOLVERS, "{}")
        raise UnknownSolver(f"solver {name!r} is not known; the solvers are {names}")
    return key


def refuse_kinds(name: str, skeleton: Skeleton, goals: Sequence[Goal]) -> None:
    """Raise `InvalidGoal` for a goal of a kind that a solver cannot solve, and for couplings."""
    if not method_of(name).reaches_only:
        return
    if skeleton.couplings:
        raise InvalidGoal(
            "{} cannot solve joints that move together; joint {!r} is coupled to another: take PGS",
            name, skeleton.names[int(skeleton.couplings[0].joint)],
        )
    for index, goal in enumerate(goals):
        if not goal.reaches:
            raise InvalidGoal(
                "{} solves positions and rotations only; goal {} (joint {!r}) is a {} goal: take PGS",
                name, *label(skeleton, index, goal), "closed-loop" if goal.is_carried else goal.kind,
            )
