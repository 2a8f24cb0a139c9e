# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of every kind with wild numbers, drawn from a seed, and what must hold of every answer to them."""

from dataclasses import replace

import numpy as np
from drawn import WEDGE, WEDGE_FACES, Problem, drawn, some_kind
from measures import EXACT, chain_of, goal_errors, outside_limits
from standing import targets_of

import solvers as ik
from solvers.clip import solve_into
from solvers.model.frames import QUESTIONS, FrameArrays

KINDS = [kind for kind in ik.GOAL_KINDS if kind != "REACH"]
SCALES = [1.0, 1.0, 1.0, 1e-9, 1e-4, 1e4, 1e9]
FAR = [1.0, 1.0, 1.0, 0.0, 10.0, 1e6]
BAD = [np.nan, np.inf, -np.inf, 1e308, 5e-324]


def wild(seed: int) -> Problem:
    """A problem for a compiled solver: of any scale, with targets out of reach, bones without length, and so on.

    Every seed gives the same problem.
    """
    generator = np.random.default_rng([seed, 1])
    problem = drawn(seed, most=int(generator.choice([2, 6, 12])))
    solver = str(generator.choice(["PGS", "DLS", "CCD"]))
    goals = problem.goals
    if solver != "CCD" and generator.integers(2):
        kinds = generator.choice(KINDS, size=int(generator.integers(1, 4)))
        goals = [*goals, *(some_kind(problem.skeleton, generator, str(kind)) for kind in kinds)]
        goals = [_carried(goal, len(problem.skeleton), seed) for goal in goals]
    options = replace(
        problem.options, iterations=int(generator.choice([0, 1, 5, 50])), restarts=int(generator.choice([0, 0, 0, 2])),
        pull=[None, 0.0, 1e-5, 1e-5, 10.0][generator.integers(5)], tolerance=float(generator.choice([1e-4, 0.0])),
        rotation_tolerance=float(generator.choice([1e-3, 0.0])), damping=[None, None, 0.0, 1e6][generator.integers(4)],
        order=str(generator.choice(["TIP_TO_ROOT", "ROOT_TO_TIP"])),
        unit_angle=0.1 if solver == "CCD" and not generator.integers(3) else None,
    )  # fmt: skip
    far = float(generator.choice(FAR))
    goals = [goal if goal.position is None else replace(goal, position=far * np.array(goal.position)) for goal in goals]
    joints = [_changed(joint, generator) for joint in problem.skeleton.joints]
    scale = float(generator.choice(SCALES))
    skeleton = ik.Skeleton([_scaled_joint(joint, scale) for joint in joints])
    return Problem(skeleton, [_scaled_goal(goal, scale) for goal in goals], problem.start, solver, options)


def _carried(goal: ik.Goal, joints: int, seed: int) -> ik.Goal:
    """Every other goal of a kind that takes one with a target that another joint carries."""
    generator = np.random.default_rng([seed, int(goal.joint)])
    others = [joint for joint in range(joints) if joint != goal.joint]
    if "target_joint" not in ik.GOAL_KINDS[goal.kind].takes or not others or generator.integers(2):
        return goal
    return replace(goal, target_joint=int(generator.choice(others)), pole=None, rotation_follows=0.0)


def _changed(joint: ik.Joint, generator: np.random.Generator) -> ik.Joint:
    """Now and then a joint without length, of special numbers, or held."""
    what = generator.integers(8)
    if what == 0:
        return replace(joint, offset=(0, 0, 0))
    if what == 1:
        return replace(joint, offset=(0, 1, 0), rest=(1, 0, 0, 0), axis=(1, 0, 0) if joint.kind == "hinge" else None)
    if what == 2:
        return replace(joint, hold=float(generator.choice([0.3, 1.0])))
    return joint


def _scaled_joint(joint: ik.Joint, scale: float) -> ik.Joint:
    slides = joint.kind == "prismatic" and joint.limits is not None
    limits = ik.Range(scale * joint.limits.lo, scale * joint.limits.hi) if slides else joint.limits
    return replace(joint, offset=scale * np.array(joint.offset), limits=limits)


def _scaled_goal(goal: ik.Goal, scale: float) -> ik.Goal:
    given = {name: getattr(goal, name) for name in ("position", "offset", "pole", "points")}
    lengths = {name: scale * np.array(value) for name, value in given.items() if value is not None}
    return replace(goal, **lengths, distance=scale * goal.distance)


# -- what must hold ---------------------------------------------------------------------------------------------------


def faults(problem: Problem) -> list[str]:
    """What is wrong with the answers to a problem: nothing, as a rule.

    All numbers are finite; joints that move end inside their limits; errors are those of the pose; a goal alone ends no
    further away than it began, and of several not all end further away; a frame with bad numbers spoils no other.
    """
    found = []
    begin = replace(problem, options=replace(problem.options, iterations=0, restarts=0, pull=0.0)).solve().pose
    solution = problem.solve(begin)
    size = max(1.0, problem.skeleton.length, np.abs(solution.pose.translations).max())
    for name, array in (
        ("rotations", solution.pose.rotations), ("translations", solution.pose.translations),
        ("position errors", solution.position_errors), ("rotation errors", solution.rotation_errors),
    ):  # fmt: skip
        if not np.isfinite(array).all():
            return [f"{name}: {array.tolist()}"]
    lengths = np.linalg.norm(solution.pose.rotations, axis=1)
    if np.abs(lengths - 1.0).max() > 1e-9:
        found.append(f"quaternions of length {lengths.tolist()}")
    for joint in np.flatnonzero(_movable(problem)):
        off = outside_limits(problem.skeleton, solution.pose, joint)
        if off > EXACT * (size if problem.skeleton.kinds[joint] == "prismatic" else 1.0):
            found.append(f"joint {joint} is {off:g} outside its limits")
    return found + _reached(problem, begin, solution) + _spoiled(problem) + _pushed(problem) + _as_clip(problem)


def _movable(problem: Problem) -> np.ndarray:
    """(J,) bool: joints that a goal may move."""
    above = [joint for joint in problem.skeleton.parent if joint >= 0]  # they carry the bones, which have the mass
    carriers = problem.skeleton.ancestors[above].any(axis=0)
    chains = [
        carriers if goal.kind == "BALANCE" and goal.chain is None else chain_of(problem.skeleton, goal)
        for goal in problem.goals
    ]
    return np.any(chains, axis=0) & (problem.skeleton.stiffness < 1.0)


def _reached(problem: Problem, begin: ik.Pose, solution: ik.Solution) -> list[str]:
    """What is wrong with the errors, measured by SciPy for the goals that it can measure."""
    found, reaches = [], [(i, goal) for i, goal in enumerate(problem.goals) if goal.kind == "REACH"]
    size = problem.skeleton.length + max([_far(goal) for _, goal in reaches], default=0.0)
    size += np.abs(solution.pose.translations).max() + solution.position_errors.max()
    before, after = [], []
    for i, goal in reaches:
        before.append(goal_errors(problem.skeleton, begin, goal))
        after.append(goal_errors(problem.skeleton, solution.pose, goal))
        told = solution.position_errors[i], solution.rotation_errors[i]
        off = abs(told[0] - after[-1][0]) > 1e-9 * size
        if off or (not goal.rotation_follows and abs(told[1] - after[-1][1]) > 1e-6):
            found.append(f"goal {i} reports {told}, and misses by {after[-1]}")
    follows = any(goal.rotation_follows for goal in problem.goals)
    if len(reaches) < len(problem.goals) or not reaches or follows or problem.options.unit_angle is not None:
        return found  # MikuMikuDance's rule makes no promise either
    weights = np.array([(g.position_weight / problem.skeleton.length, 0.25 * g.rotation_weight) for _, g in reaches])
    slack = [max(problem.options.tolerance, 1e-7 * size), max(problem.options.rotation_tolerance, 1e-6)]
    counted = (weights > 0.0) & (np.array(after) > slack)
    slightly = np.array([1e-7 * size, 1e-6])
    worse = (np.array(after) > np.array(before) + slightly) & counted
    better = (np.array(after) < np.array(before)) & (weights > 0.0)
    if worse.any() and not better.any():
        found.append(f"all goals end further away: {before} became {after}")
    costs = [float(np.square(weights * errors).sum()) for errors in (before, after)]
    if len(reaches) == 1 and not _beyond(problem, begin) and counted.any() and costs[1] > costs[0] * (1 + 1e-7) + 1e-14:
        found.append(f"the goal ends further away: {before} became {after}")
    return found


def _beyond(problem: Problem, begin: ik.Pose) -> bool:
    """Whether the only goal's target is beyond its chain's reach, so that it counts as if it were just beyond it."""
    skeleton, goal = problem.skeleton, problem.goals[0]
    path = [joint for joint in np.flatnonzero(_movable(problem)).tolist() if skeleton.kinds[joint] != "fixed"]
    if goal.position is None or goal.rotation is None or not path:
        return False
    top = next(joint for joint in skeleton.order if joint in path)
    below = skeleton.ancestors[goal.joint] & skeleton.ancestors[:, top] & (np.arange(len(skeleton)) != top)
    reach = sum(np.linalg.norm(skeleton.joints[joint].offset) for joint in np.flatnonzero(below))
    away = np.linalg.norm(np.asarray(goal.position) - ik.forward(skeleton, begin).positions[top])
    return bool(away > reach + np.linalg.norm(goal.offset))


def _far(goal: ik.Goal) -> float:
    """The largest number in the goal's target and offset."""
    return max(np.abs(0.0 if goal.position is None else goal.position).max(), np.abs(goal.offset).max())


def _spoiled(problem: Problem) -> list[str]:
    """Frames of a batch and of a motion, of which one has numbers that are not finite or not usable."""
    prepared = ik.Prepared(problem.skeleton, problem.goals, problem.solver, problem.options)
    generator = np.random.default_rng(len(problem.skeleton))
    found = []
    for way in ("batch", "motion"):
        good, bad = _asked(prepared, problem), _asked(prepared, problem)
        inputs = [one for one in (bad.positions, bad.start_rotations, bad.links, bad.points) if one[1].size]
        part = inputs[generator.integers(len(inputs))][1]
        part.flat[generator.integers(part.size)] = generator.choice(BAD)
        for arrays in (good, bad):
            with np.errstate(all="ignore"):  # NumPy warns of an overflow in the bad frame
                (prepared if way == "batch" else prepared.motion()).solve_into(arrays)
        others = [0, 2] if way == "batch" else [0]  # what follows a bad frame of a motion may differ
        changed = [frame for frame in others if not np.array_equal(good.rotations[frame], bad.rotations[frame])]
        found += [f"frame {frame} of a {way} is another beside a bad one" for frame in changed]
        if not np.isfinite(good.rotations).all() or not np.isfinite(good.translations).all():
            found.append(f"a {way} has answers that are not finite")
        if way == "motion" and not np.isfinite(bad.rotations[2]).all():
            found.append("a motion does not go on after a bad frame")
    return found


def _as_clip(problem: Problem) -> list[str]:
    """What is wrong with a clip of a few frames, of which one may have numbers that are not finite."""
    prepared, generator = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options), np.random.default_rng(3)
    frames, spoiled = prepared.arrays(6), bool(len(problem.skeleton) % 2)
    one = _asked(prepared, problem)
    for name in QUESTIONS:
        getattr(frames, name)[:] = getattr(one, name)[:1]
    frames.positions[:] *= 1.0 + 0.05 * generator.normal(size=(6, 1, 1)).cumsum(0)
    if spoiled:
        frames.links[2].flat[0] = generator.choice(BAD)
    with np.errstate(all="ignore"):
        solve_into(prepared, prepared, frames)
    some = [frame for frame in range(6) if frame != 2 or not spoiled]
    if not np.isfinite(frames.rotations[some]).all() or not np.isfinite(frames.translations[some]).all():
        return ["a clip has answers that are not finite"]
    size = max(1.0, problem.skeleton.length, np.abs(frames.translations[some]).max())
    poses = [ik.Pose(frames.rotations[frame], frames.translations[frame]) for frame in some]
    moved = np.flatnonzero(_movable(problem))
    off = max((outside_limits(problem.skeleton, pose, joint) for pose in poses for joint in moved), default=0.0)
    return [f"a joint of a clip is {off:g} outside its limits"] if off > EXACT * size else []


def _pushed(problem: Problem) -> list[str]:
    """What is wrong with answers whose bodies are pushed apart: of capsules of any size, a floor, a box and a wedge."""
    skeleton, generator = problem.skeleton, np.random.default_rng([len(problem.skeleton), 5])
    size = skeleton.length * float(generator.choice([1.0, 1.0, 1e-6, 1e3])) or 1.0
    ends = size * generator.normal(size=(len(skeleton), 2, 3))
    ends[generator.integers(2, size=len(skeleton)) > 0, 1] = 0.0
    radii = size * generator.choice([1e-3, 0.05, 0.3], len(skeleton))
    capsules = [ik.Capsule(joint, *ends[joint], float(radii[joint])) for joint in range(len(skeleton))]
    obstacles = [ik.Plane(size * generator.normal(size=3), generator.normal(size=3)),
                 ik.Box(size * generator.normal(size=3), size * generator.uniform(1e-3, 1.0, 3)),
                 ik.Convex(size * WEDGE, WEDGE_FACES)]  # fmt: skip
    contacts = ik.Contacts(capsules, obstacles[: generator.integers(4)])
    prepared = ik.Prepared(skeleton, problem.goals, problem.solver, problem.options, contacts)
    answer = ik.solve(skeleton, problem.goals, problem.start, problem.solver, problem.options, contacts)
    if not np.isfinite(answer.pose.rotations).all() or not np.isfinite(answer.pose.translations).all():
        return ["an answer with contacts is not finite"]
    off = [outside_limits(skeleton, answer.pose, joint) for joint in np.flatnonzero(_movable(problem))]
    allowed = EXACT * max(1.0, skeleton.length, np.abs(answer.pose.translations).max())
    found = [f"a joint is {max(off):g} outside its limits beside bodies"] if max(off, default=0.0) > allowed else []
    frames = _asked(prepared, problem)
    prepared.solve_into(frames)
    same = np.array_equal(frames.rotations[0], frames.rotations[1])
    return found if same else [*found, "equal frames are pushed apart in different ways"]


def _asked(prepared: ik.Prepared, problem: Problem) -> FrameArrays:
    """Three equal frames of a problem."""
    arrays = prepared.arrays(3)
    arrays.positions[:], arrays.orientations[:], _ = targets_of(prepared.goals)[:3]
    arrays.start_rotations[:], arrays.start_translations[:] = problem.start
    return arrays
