# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers of the core: each turns a linear system into a step, or goes from joint to joint."""

from .table import offer

offer(__name__, {
    "PGS":
        "Projected Gauss-Seidel with subspace minimisation: rests exactly on joint limits. The one to start with",
    "DLS":
        "Damped least squares with an active set for the limits: the robot builder's standard, smooth and robust",
    "CCD":
        "Cyclic coordinate descent: joint by joint, inside limits, cheap and predictable; for chains and MMD rigs",
})  # fmt: skip
