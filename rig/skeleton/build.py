# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the prepared solve of an armature: everything that depends on the rig but not on the frame."""

import bpy
import numpy as np

from ... import solvers as ik
from ..blender import dependencies
from ..blender.dependencies import acts
from ..notes import Note, note_of
from . import limits, rolled_feet
from .bone_joints import BoneJoints
from .goal_facts import GoalFacts
from .menus import THOROUGH_RESTARTS
from .plan import plan
from .rig import GoalBinding, Rig

PULL = 1e-5
_LOCAL = {"LOCAL", "LOCAL_WITH_PARENT"}


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
    solver: str = "",
) -> Rig | Note:
    """Prepare an evaluated armature object for solving. Returns the reason if there is nothing to solve.

    driven : as in `plan`. holds, gains : (N,) of all bones. solver : replaces the armature's own solver.
    """
    solve_plan, settings, pose = plan(ob, facts, driven), ob.dqik, ob.pose.bones
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
    except ik.DqikError as error:  # for example if the solver does not support these goals
        return note_of(error)
    bones = np.array(solve_plan.bones)
    rig = Rig(
        armature=solve_plan.armature,
        figure=solve_plan.figure,
        skeleton=skeleton,
        prepared=prepared,
        goals=[
            GoalBinding(goal.number, goal.facts.has_pole, goal.of_foot, goal.facts.tells_turn)
            for goal in solve_plan.goals
        ],
        bones=bones,
        parent=solve_plan.armature.parent[bones],
        main=np.array([joints.main[bone] for bone in solve_plan.bones]),
        rooted=np.array(joints.rooted),
        detached=np.array(joints.detached),
        constrained=solve_plan.constrained[bones],
        own_rest=np.array(joints.own_rest),
        rest_offset=np.array(joints.rest_offset),
        slide_joint=np.array(list(joints.slides.values()), dtype=np.intp),
        slide_row=np.array([solve_plan.bones.index(bone) for bone in joints.slides], dtype=np.intp),
        slide_free=np.array(joints.slide_free, dtype=bool).reshape(-1, 3),
        location_frame=np.array(joints.location_frame),
        solved=np.flatnonzero(solve_plan.moved[bones]),
        loose=np.array([pose[bone].parent is None or not pose[bone].bone.use_connect for bone in solve_plan.bones]),
        held_rows=frozenset(np.flatnonzero(joints.held).tolist()),
        held_with=solve_plan.held_with(),
        local_rows=frozenset(
            row for row, bone in enumerate(solve_plan.bones)
            if _is_local(pose[bone]) or (solve_plan.constrained[bone] and not solve_plan.armature.controls[bone])
        ),
        placed_rows=frozenset(np.flatnonzero(solve_plan.placed[bones]).tolist()),
        frames=joints.solved_frames(solve_plan),
        frame_axes=np.array([joints.frames[bone].axes for bone in solve_plan.bones]),
        supports=joints.supports(solve_plan),
        rolled_feet=rolled_feet.of(ob, solve_plan),
        obstacles=solve_plan.obstacles,
        all_goals=len(facts),
        left_out=solve_plan.left_out,
        passes=solve_plan.passes,
        all_obstacles=len(dependencies.obstacles(ob)),
        locked_bones=[bone for bone in solve_plan.bones if pose[bone].dqik_lock and pose[bone].dqik_use_limits],
        notes=solve_plan.notes,
    )
    try:
        return rig.with_holds(holds, gains)
    except ik.DqikError as error:
        return note_of(error)


def _is_local(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone has active constraints, and all act in the frame of its parent."""
    active = [c for c in bone.constraints if acts(c)]
    return bool(active) and all(c.owner_space in _LOCAL and c.type not in {"IK", "SPLINE_IK"} for c in active)
