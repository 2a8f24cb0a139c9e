# SPDX-License-Identifier: GPL-3.0-or-later
"""A problem and its start in the solvers' own data structures, for tests of single steps."""

import numpy as np
from measures import UPRIGHT, chain_of

import solvers as ik
from solvers.model.goals import Targets
from solvers.space.joint_space import JointSpace, State
from solvers.space.point import Point, Request, evaluate
from solvers.space.poles import POLE_WEIGHT, Pole
from solvers.space.tasks import Tasks


def targets_of(goals: list[ik.Goal]) -> Targets:
    """The targets of one frame, as a solve makes them from the goals."""
    positions = [(0, 0, 0) if goal.position is None else goal.position for goal in goals]
    rotations = [UPRIGHT if goal.rotation is None else goal.rotation for goal in goals]
    poles = [(0, 0, 0) if goal.pole is None else goal.pole for goal in goals]
    rotations = np.array([rotations], dtype=float)
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    return Targets(np.array([positions], dtype=float), rotations, np.array([poles], dtype=float))


def standing(skeleton: ik.Skeleton, goals: list[ik.Goal], start: ik.Pose) -> tuple[Tasks, JointSpace, Point, Request]:
    """Tasks, degrees of freedom, the start as a point, and the request of its one frame; poles are on whole chains."""
    chains = np.array([chain_of(skeleton, goal) for goal in goals])
    space = JointSpace(skeleton, np.any(chains, axis=0))
    paths = [[j for j in skeleton.order if chain[j]] for chain in chains]
    poles = [
        Pole(g, path[0], tuple(path[1:]), -1, goal.pole_angle, POLE_WEIGHT)
        for g, (goal, path) in enumerate(zip(goals, paths, strict=True)) if goal.pole is not None and len(path) > 1
    ]  # fmt: skip
    tasks = Tasks(skeleton, goals, space, chains, poles)
    frames = Request(space.state(start), targets_of(goals), None)
    return tasks, space, evaluate(tasks, frames.base, frames), frames


def pose_of(space: JointSpace, state: State, start: ik.Pose) -> ik.Pose:
    """The pose of a state's first frame; joints that may not slide keep the translations of `start`."""
    translations, slides = start.translations.copy(), space.slides(state.x)
    joints = space.joint[~space.turns]
    if slides is not None:
        translations[joints] = slides[0, joints]
    return ik.Pose(state.rotations[0], translations)
