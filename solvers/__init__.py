# SPDX-License-Identifier: GPL-3.0-or-later
"""Inverse kinematics of whole skeletons: the mathematics behind DQIK, with NumPy alone and no Blender.

Quaternions are `w x y z`. Angles are radians. Lengths are in whatever unit the skeleton is given in.
"""

from .api import SOLVERS, Prepared, prepare, solve, solve_frames
from .compiled.library import kernel
from .model.errors import (
    DqikError,
    InvalidGoal,
    InvalidLimits,
    InvalidOptions,
    InvalidPose,
    InvalidSkeleton,
    UnknownSolver,
)
from .model.frames import FrameArrays, Motion
from .model.goals import Goal
from .model.limits import Range, TwistSwing
from .model.options import Options
from .model.skeleton import Joint, Pose, Skeleton, World, forward
from .model.solution import Batch, Solution
from .space.jacobian import (
    column_joints,
    dual_quaternion_jacobian,
    exponential_map_jacobian,
    finite_difference_jacobian,
    twist_jacobian,
    velocity_jacobian,
)
from .tracking import track

__all__ = [
    "SOLVERS", "Batch", "DqikError", "FrameArrays", "Goal", "InvalidGoal", "InvalidLimits", "InvalidOptions", "InvalidPose",
    "InvalidSkeleton", "Joint", "Motion", "Options", "Pose", "Prepared", "Range", "Skeleton", "Solution", "TwistSwing",
    "UnknownSolver", "World", "column_joints", "dual_quaternion_jacobian", "exponential_map_jacobian",
    "finite_difference_jacobian", "forward", "kernel", "prepare", "solve", "solve_frames", "track", "twist_jacobian",
    "velocity_jacobian",
]  # fmt: skip
