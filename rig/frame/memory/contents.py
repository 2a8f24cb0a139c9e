# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that an armature's prepared solve depends on, read in bulk so that changes are found by comparison.

Counts and update flags alone are not reliable. Settings, rotation modes, the goals' names, bones and targets, and what
animates the armature are read on every frame. The rest pose, names, settings of bones and goals, constraints and data
paths change only with an edit. They are read when there may have been one: at every evaluation that is not a change of
frame, after a property's update callback, when Blender reports a change of an armature or of the scene's relations (as
it does for new curves), and on every frame if settings or constraints are animated.
"""

from typing import NamedTuple

import bpy
import numpy as np

from ...blender import bulk
from ...blender.dependencies import Dependencies, acts
from ...figure import skin
from ...keys import keyable
from ...skeleton import couplings, limits, obstacles
from ...skeleton.goal_facts import GoalFacts

_REST = (("matrix_local", 16, np.float32), ("head", 3, np.float32), ("length", 1, np.float32),
         ("use_inherit_rotation", 1, bool), ("use_local_location", 1, bool), ("use_connect", 1, bool),
         ("inherit_scale", 1, np.int32))  # fmt: skip
_BONE_SETTINGS = (
    *((name, 1, bool) for name in ("dqik_translate", "dqik_use_limits", "dqik_lock", "dqik_keep_volume")),
    *((f"dqik_{part}_{end}", 1, np.float32) for part in limits.PARTS for end in ("min", "max")),
    ("dqik_limits_axes", 4, np.float32), ("dqik_limits_zero", 4, np.float32), ("dqik_stiffness", 1, np.float32),
    ("dqik_preferred_angle", 3, np.float32), ("dqik_role", 1, np.int32), ("dqik_radius", 1, np.float32),
    ("dqik_stretch", 1, np.float32), ("dqik_shortest", 1, np.float32),
)  # fmt: skip


class Contents(NamedTuple):
    """Everything that a prepared solve depends on, in parts that are compared.

    settings, goals, modes : of the armature object. holds : of all bones with their gains, as bytes. driven, scaled :
    names of the bones that drivers turn or move, and of those whose scale is animated. edited : the result of `edited`.
    """

    settings: tuple
    goals: tuple[GoalFacts, ...]
    modes: bytes
    holds: bytes
    driven: frozenset[str]
    scaled: frozenset[str]
    edited: tuple


def settings(ob: bpy.types.Object) -> tuple:
    """The solver and its options, and of the original, since removing one causes no update, couplings and obstacles."""
    own = ob.dqik
    return (
        own.solver, own.iterations, own.tolerance, own.rotation_tolerance, own.damping, own.order, own.unit_angle,
        own.objective, ob.data.original.session_uid, keyable.is_system_override(ob.original),
        *map(couplings.values, ob.original.dqik.couplings),
        *obstacles.settings(ob.original),
    )  # fmt: skip


def of_bones(ob: bpy.types.Object) -> tuple:
    """The names, rest pose and settings of an evaluated object's bones."""
    pose, rest = ob.pose.bones, ob.data.bones
    names = tuple(pose.keys()), tuple(rest.keys())
    return *names, bulk.contents(rest, _REST), bulk.contents(pose, _BONE_SETTINGS)


def edited(ob: bpy.types.Object, goals: tuple[GoalFacts, ...]) -> tuple:
    """The parts of an evaluated object that only edits change: rest pose, names, bone settings, constraints."""
    pose, behind, avoided = ob.pose.bones, Dependencies(), obstacles.settings(ob.original)
    return (
        *of_bones(ob),
        bulk.contents(ob.original.pose.bones, (("lock_location", 3, bool),)),
        [_constraints(bone) for bone in pose if bone.constraints],
        [frozenset((other.original.session_uid, bone) for other, bone in behind.bones_behind_goal(goal))
         for goal in ob.dqik.goals],
        obstacles.contents(ob) if avoided else (),
        skin.contents(ob) if avoided or any(goal.rolls for goal in goals) else (),
    )  # fmt: skip


def _constraints(bone: bpy.types.PoseBone) -> tuple:
    return bone.name, [
        (c.type, acts(c), c.influence == 1.0, getattr(c, "owner_space", ""),
         getattr(c, "mix_mode", ""), getattr(c, "chain_count", 0), getattr(c, "use_tail", True),
         [getattr(c, f"use_{axis}", True) for axis in "xyz"])
        for c in bone.constraints
    ]  # fmt: skip
