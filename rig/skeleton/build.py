# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the prepared solve of an armature: everything that depends on the rig but not on the frame."""

import bpy
import numpy as np

from ... import solvers as ik
from ..notes import Note, note_of
from . import limits
from .bone_joints import BoneJoints
from .goal_facts import GoalFacts
from .menus import THOROUGH_RESTARTS
from .plan import plan
from .rig import Rig

PULL = 1e-5


def solver_options(settings: bpy.types.PropertyGroup, solver: str, size: float) -> ik.Options:
    """The solver options of an armature's settings; `size` is that of the armature."""
    as_mmd = solver == "CCD" and settings.unit_angle > 0.0
    return ik.Options(
        iterations=settings.iterations,
        tolerance=settings.tolerance * size,
        rotation_tolerance=settings.rotation_tolerance,
        damping=settings.damping or None,
        pull=0.0 if as_mmd else PULL,
        restarts=THOROUGH_RESTARTS if solver == "SQP" else 0,
        order=settings.order,
        unit_angle=settings.unit_angle or None,
        objective=settings.objective,
    )


def build(
    ob: bpy.types.Object, facts: tuple[GoalFacts, ...], driven: frozenset[str], holds: np.ndarray, gains: np.ndarray,
    solver: str = "", scaled: frozenset[str] = frozenset(),
) -> Rig | Note:
    """Prepare an evaluated armature object for solving. Returns the reason if there is nothing to solve.

    driven, scaled : as in `plan`. holds, gains : (N,) of all bones. solver : replaces the armature's own solver.
    """
    solve_plan, settings, pose = plan(ob, facts, driven, scaled), ob.dqik, ob.pose.bones
    if isinstance(solve_plan, Note):
        return solve_plan
    for bone in solve_plan.bones:
        if wrong := limits.wrong(pose[bone]):
            return wrong
    name = solver or settings.solver
    options = solver_options(settings, name, solve_plan.armature.size)
    try:
        joints = BoneJoints(pose, solve_plan)
        goals = joints.goals(solve_plan)
        couplings = [joints.coupling(link) for link in solve_plan.links]
        skeleton = ik.Skeleton(joints.joints, couplings=couplings)
        longest = max((float(np.linalg.norm(goal.offset)) for goal in goals), default=0.0)
        if longest > skeleton.length:  # the skeleton has joints only: the goals' own bones may be its longest levers
            skeleton = ik.Skeleton(joints.joints, longest, couplings)
        prepared = ik.prepare(skeleton, goals, name, options, joints.contacts(solve_plan))
        return Rig(ob, solve_plan, joints, prepared, len(facts)).with_holds(holds, gains)
    except ik.DqikError as error:  # for example if the solver does not support these goals
        return note_of(error)
