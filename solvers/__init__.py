# SPDX-License-Identifier: GPL-3.0-or-later
"""Inverse kinematics of whole skeletons: the mathematics behind DQIK, with NumPy alone and no Blender.

Quaternions are `w x y z`. Angles are radians. Lengths are in whatever unit the skeleton is given in.
"""

from .errors import (
    DqikError,
    InvalidGoal,
    InvalidLimits,
    InvalidOptions,
    InvalidPose,
    InvalidSkeleton,
    UnknownSolver,
)
from .goals import Goal
from .jacobian import (
    column_joints,
    dual_quaternion_jacobian,
    exponential_map_jacobian,
    finite_difference_jacobian,
    twist_jacobian,
    velocity_jacobian,
)
from .limits import Range, TwistSwing
from .skeleton import Joint, Pose, Skeleton, World, forward
from .solution import Batch, Options, Solution
from .solve import SOLVERS, Prepared, prepare, solve, solve_frames
from .tracking import track

__all__ = [
    "SOLVERS", "Batch", "DqikError", "Goal", "InvalidGoal", "InvalidLimits", "InvalidOptions", "InvalidPose",
    "InvalidSkeleton", "Joint", "Options", "Pose", "Prepared", "Range", "Skeleton", "Solution", "TwistSwing",
    "UnknownSolver", "World", "column_joints", "dual_quaternion_jacobian", "exponential_map_jacobian",
    "finite_difference_jacobian", "forward", "prepare", "solve", "solve_frames", "track", "twist_jacobian",
    "velocity_jacobian",
]  # fmt: skip
