# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers of the literature beside those of the core, for comparison and for special chains."""

from ..methods.table import offer

offer(__name__, {
    "SQP":
        "Quadratic programs with a BFGS Hessian (Amino): for hard targets near the limits, with restarts",
    "PINV":
        "Pseudo-inverse: the shortest step, undamped; fast while limbs are bent, rough where they are straight",
    "SVD":
        "Damped singular values: damped least squares with a constant damping that you set",
    "TSVD":
        "Truncated singular values: skips directions in which the chain hardly moves; calm where limbs are straight",
    "SDLS":
        "Selectively damped least squares: damps each direction as much as it needs; for targets out of reach",
    "TRANSPOSE":
        "Jacobian transpose: steepest descent in many cheap steps; spreads motion over all joints",
    "ALTERNATIVE":
        "Pseudo-inverse with levers that end at the goals: calm while targets are far away",
    "EXTENDED":
        "Extended Jacobian: holds the shape of neighbouring joints; for chains and tails that start out straight",
    "NEWTON":
        "Newton's method with second derivatives: few but costly steps where targets are out of reach",
    "BROYDEN":
        "Broyden's method: updates the Jacobian from its steps instead of computing it; for comparison",
    "GAUSS_SEIDEL":
        "Plain projected Gauss-Seidel sweeps with a fixed damping (Kenwright's algorithm 1); for comparison with PGS",
    "FABRIK":
        "Forward and backward reaching: positions only, no rotations; cheap sweeps for short free chains",
    "TWO_BONE":
        "The law of cosines: exact in one step, for arms and legs of two bones and a third one that turns the end",
})  # fmt: skip
