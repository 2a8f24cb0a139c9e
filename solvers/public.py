# SPDX-License-Identifier: GPL-3.0-or-later
"""The public names of `solvers`, each from the file that has it."""

from . import papers as papers  # offers its solvers, which are imported when they are asked for
from .api import Prepared, prepare, solve, solve_frames
from .clips import solve_clip
from .compiled.library import kernel
from .methods.table import SOLVERS
from .model.angles import angles_from_pose, column_joints, pose_from_angles
from .model.contacts import Box, Capsule, Contacts, Plane
from .model.convex import Convex
from .model.coupling import Coupling
from .model.curve import along_curve
from .model.errors import (
    DqikError,
    InvalidGoal,
    InvalidLimits,
    InvalidOptions,
    InvalidPose,
    InvalidSkeleton,
    UnknownJoint,
    UnknownSolver,
)
from .model.frames import FrameArrays, Motion
from .model.goals import Goal
from .model.kinds import GOAL_KINDS
from .model.limits import Range, TwistSwing
from .model.options import Options
from .model.skeleton import Joint, Pose, Skeleton
from .model.solution import Batch, Solution
from .model.urdf import skeleton_from_urdf
from .model.world import World, forward
from .space.jacobian import (
    dual_quaternion_jacobian,
    exponential_map_jacobian,
    finite_difference_jacobian,
    twist_jacobian,
    velocity_jacobian,
)
from .space.null_space import toward_posture
from .tracked_motion import TrackedMotion
from .tracking import Tracker, track

__all__ = [
    "GOAL_KINDS", "SOLVERS", "Batch", "Box", "Capsule", "Contacts", "Convex", "Coupling", "DqikError", "FrameArrays",
    "Goal", "InvalidGoal", "InvalidLimits", "InvalidOptions", "InvalidPose", "InvalidSkeleton", "Joint", "Motion",
    "Options", "Plane", "Pose", "Prepared", "Range", "Skeleton", "Solution", "TrackedMotion", "Tracker", "TwistSwing",
    "UnknownJoint", "UnknownSolver", "World", "along_curve", "angles_from_pose", "column_joints",
    "dual_quaternion_jacobian", "exponential_map_jacobian", "finite_difference_jacobian", "forward", "kernel",
    "pose_from_angles", "prepare", "skeleton_from_urdf", "solve", "solve_clip", "solve_frames", "toward_posture",
    "track", "twist_jacobian", "velocity_jacobian",
]  # fmt: skip
