# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel and NumPy side by side: both asked the same, and how far their answers are apart.

Problems come from fixed seeds (`drawn.py`). Hypothesis draws other ones with other modules loaded, and a few problems
in a thousand are decided by rounding.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from drawn import Problem, moving
from scipy.spatial.transform import Rotation
from skeletons import wxyz

import solvers as ik
from solvers.algebra import dual_quaternion, quaternion
from solvers.model.frames import FrameArrays, asking
from solvers.model.goals import Targets
from solvers.model.solution import Batch

EQUAL = 1e-9  # [rad or length units]
FIELDS = ("rotations", "translations", "position_errors", "rotation_errors", "iterations", "converged", "at_limit")
Question = tuple[Targets, ik.Pose, np.ndarray]
"""Targets, start and links of some frames."""


def both(problem: Problem, **options: object) -> tuple[ik.Prepared, ik.Prepared]:
    """The same problem prepared for the kernel and for NumPy, in the same stages."""
    asked = replace(problem.options, **options)
    compiled, plain = (ik.Prepared(problem.skeleton, problem.goals, problem.solver, asked) for _ in range(2))
    assert compiled.compiled is not None
    plain.compiled = None
    return compiled, plain


def asked(problem: Problem, frames: int, seed: int = 1, speed: float = 0.02) -> Question:
    """Frames of a problem whose targets and links drift, with one start."""
    start = ik.Pose(problem.start.rotations[None], problem.start.translations[None])
    targets, links = moving(problem, frames, seed, speed)
    return targets, start, links


def nearly(problem: Problem, question: Question, seed: int) -> Question:
    """The same problem in a rotated frame, with its numbers changed a few digits before their last.

    Rig and targets are rotated together, so only rounding changes the pose of the rig. What joints carry or other kinds
    of goals ask for may be no place in this frame: with such goals nothing is rotated.
    """
    generator, skeleton = np.random.default_rng(seed), problem.skeleton
    turn = wxyz(Rotation.random(random_state=generator))
    if any(goal.kind != "REACH" or goal.target_joint is not None for goal in problem.goals):
        turn = quaternion.IDENTITY

    def changed(value: np.ndarray) -> np.ndarray:
        return value * (1.0 + 1e-13 * generator.normal(size=value.shape))

    targets, start, links = question
    positions, rotations, poles = targets[:3]
    turned = np.array(links)
    for joint in range(len(skeleton)):
        if skeleton.parent[joint] < 0 or joint in skeleton.detached:
            place = dual_quaternion.translation(links[:, joint])
            if skeleton.parent[joint] < 0:
                place = quaternion.rotate(turn, place)
            turned[:, joint] = dual_quaternion.from_parts(quaternion.product(turn, links[:, joint, :4]), place)
    asked = quaternion.rotate(turn, positions), quaternion.product(turn, rotations), quaternion.rotate(turn, poles)
    points = None if targets.points is None else changed(targets.points)
    return Targets(*map(changed, asked), points=points), ik.Pose(*map(changed, start)), changed(turned)


def solved(prepared: ik.Prepared, question: Question) -> list[Batch]:
    """The answers of the frames, each solved afresh."""
    return [prepared.solve_batch(*question)]


def followed(prepared: ik.Prepared, question: Question) -> list[Batch]:
    """The answers of frames, each solved from the one before, one call per frame."""
    arrays, motion = filled(question), prepared.motion()
    answers: list[Batch] = []
    for frame in range(len(arrays)):
        one = arrays.part(frame, frame + 1)
        motion.solve_into(one)
        answers.append(one.batch())
    return answers


def filled(question: Question) -> FrameArrays:
    """Arrays with the inputs of frames."""
    return asking(*question)


def apart(some: list[Batch], others: list[Batch]) -> float:
    """The largest difference of any number in two answers; q and -q are the same rotation."""
    most = 0.0
    for one, other in zip(some, others, strict=True):
        turns = np.minimum(*(np.abs(one.rotations + sign * other.rotations).max(-1) for sign in (1, -1)))
        rest = (np.abs(getattr(one, name) - getattr(other, name)) for name in FIELDS[1:4])
        most = max(most, *(float(part.max(initial=0.0)) for part in (turns, *rest)))
    return most


def is_same(problem: Problem, question: Question, answer: Callable, **options: object) -> bool:
    """Whether the kernel's answers are as near to NumPy's as NumPy's are to each other if its input hardly changes.

    Mostly that is `EQUAL`. It is larger for nearly singular problems, which the kernel may solve by degrees of
    freedom and NumPy by rows, and for choices between equally good answers.
    """
    compiled, plain = both(problem, **options)
    found, expected = answer(compiled, question), answer(plain, question)
    difference, pairs = apart(found, expected), list(zip(found, expected, strict=True))
    if difference <= EQUAL:
        for one, other in pairs:
            met = one.converged  # elsewhere rounding decides whether the last steps gain anything
            assert np.abs(one.iterations - other.iterations)[met].max(initial=0) <= 5
        return all(
            np.array_equal(getattr(one, name), getattr(other, name))
            for one, other in pairs
            for name in ("converged", "at_limit")
        )
    changed = [answer(both(problem, **options)[1], nearly(problem, question, seed)) for seed in range(3)]
    return difference <= EQUAL + 1000.0 * max(apart(other, expected) for other in changed)
