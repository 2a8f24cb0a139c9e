# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers by name, each with a summary of what it is for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..iterate.descent import Minimise, damped, shortened
from ..model.errors import InvalidGoal, UnknownSolver
from ..model.goals import Goal, label
from ..model.names import suggestions
from ..model.skeleton import Skeleton
from . import (
    alternative,
    broyden,
    ccd,
    dls,
    extended,
    fabrik,
    gauss_seidel,
    newton,
    pgs,
    pinv,
    sdls,
    sqp,
    svd,
    transpose,
    tsvd,
    two_bone,
)

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
    "SQP": Method(
        3, "Thorough (SQP)",
        "Quadratic programs with a BFGS Hessian (Amino): for hard targets near the limits, with restarts",
        sqp.minimise, continues=True,
    ),
    "PINV": Method(
        4, "Pseudo-Inverse (PINV)",
        "Pseudo-inverse: the shortest step, undamped; fast while limbs are bent, rough where they are straight",
        shortened(pinv.step),
    ),
    "SVD": Method(
        5, "Singular Values (SVD)",
        "Damped singular values: damped least squares with a constant damping that you set",
        shortened(svd.step),
    ),
    "TSVD": Method(
        6, "Truncated Singular Values (TSVD)",
        "Truncated singular values: skips directions in which the chain hardly moves; calm where limbs are straight",
        shortened(tsvd.step),
    ),
    "SDLS": Method(
        7, "Selectively Damped (SDLS)",
        "Selectively damped least squares: damps each direction as much as it needs; for targets out of reach",
        shortened(sdls.step),
    ),
    "TRANSPOSE": Method(
        8, "Jacobian Transpose",
        "Jacobian transpose: steepest descent in many cheap steps; spreads motion over all joints",
        shortened(transpose.step),
    ),
    "ALTERNATIVE": Method(
        9, "Alternative Jacobian",
        "Pseudo-inverse with levers that end at the goals: calm while targets are far away",
        shortened(alternative.step, alternative.GoalLevers),
    ),
    "EXTENDED": Method(
        10, "Tails (Extended)",
        "Extended Jacobian: holds the shape of neighbouring joints; for chains and tails that start out straight",
        extended.minimise, continues=True,
    ),
    "NEWTON": Method(
        13, "Newton",
        "Newton's method with second derivatives: few but costly steps where targets are out of reach",
        damped(newton.step, newton.SecondOrder), continues=True,
    ),
    "BROYDEN": Method(
        14, "Broyden",
        "Broyden's method: updates the Jacobian from its steps instead of computing it; for comparison",
        damped(broyden.step, broyden.Secant), continues=True,
    ),
    "GAUSS_SEIDEL": Method(
        15, "Plain Sweeps (Gauss-Seidel)",
        "Plain projected Gauss-Seidel sweeps with a fixed damping (Kenwright's algorithm 1); for comparison with PGS",
        shortened(gauss_seidel.step),
    ),
    "FABRIK": Method(
        11, "Back and Forth (FABRIK)",
        "Forward and backward reaching: positions only, no rotations; cheap sweeps for short free chains",
        fabrik.minimise, check=fabrik.check, reaches_only=True, returns=True,
    ),
    "TWO_BONE": Method(
        12, "Two-Bone",
        "The law of cosines: exact in one step, for arms and legs of two bones and a third one that turns the end",
        two_bone.minimise, check=two_bone.check, reaches_only=True, returns=True,
    ),
}  # fmt: skip


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
