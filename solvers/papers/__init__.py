# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers of the literature beside those of the core, for comparison and for special chains."""

from ..iterate.descent import damped, shortened
from ..methods.table import METHODS, Method
from . import (
    alternative,
    broyden,
    extended,
    fabrik,
    gauss_seidel,
    newton,
    pinv,
    sdls,
    sqp,
    svd,
    transpose,
    tsvd,
    two_bone,
)

METHODS.update({
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
})  # fmt: skip
