# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems drawn from a seed, with every feature of skeletons, goals and options, in numbers without special values.

`drawn` draws places and rotations; the families below it draw what else may be asked for.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation
from skeletons import random_pose, wxyz

import solvers as ik
from solvers.algebra import dual_quaternion, quaternion
from solvers.model.goals import Targets, own_points, resolve_goals
from solvers.space.tasks.curve import joints_on_curve

WEDGE = np.array([(x, y, z) for y in (-0.3, 0.35) for x, z in ((-0.2, 0.0), (0.25, 0.0), (0.05, 0.4))])
WEDGE_FACES = [(0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (2, 1, 4, 5), (0, 2, 5, 3)]


@dataclass
class Problem:
    """A problem to solve."""

    skeleton: ik.Skeleton
    goals: list[ik.Goal]
    start: ik.Pose
    solver: str
    options: ik.Options

    def solve(self, start: ik.Pose | None = None) -> ik.Solution:
        """The answer from `start`, or from the problem's own start."""
        return ik.solve(self.skeleton, self.goals, start or self.start, self.solver, self.options)


def _interval(generator: np.random.Generator, most: float) -> tuple[float, float]:
    """An interval around zero, one beside it, or a single value."""
    lo, hi = np.sort(generator.uniform(-most, most, 2))
    kind = generator.integers(5)
    if kind == 0:
        return float(lo), float(lo)
    if kind == 1:
        return float(abs(lo)), float(abs(lo) + abs(hi))
    if kind == 2:
        return -float(abs(lo) + abs(hi)), -float(abs(hi))
    return -float(abs(lo)), float(abs(hi))


def _limits(generator: np.random.Generator, kind: str) -> object:
    if kind == "fixed" or generator.integers(3) == 0:
        return None
    full = (-np.pi, np.pi)
    if kind == "ball":
        twist = full if generator.integers(4) == 0 else _interval(generator, 1.4)
        swings = [_interval(generator, 1.2) for _ in range(2)]
        return ik.TwistSwing(twist, *([full, full] if generator.integers(5) == 0 else swings))
    if kind == "hinge" and generator.integers(5) == 0:
        return ik.Range(*full)
    return ik.Range(*_interval(generator, 1.4 if kind == "hinge" else 0.4))


def _skeleton(generator: np.random.Generator, most: int) -> ik.Skeleton:
    count = int(generator.integers(1, most + 1))
    place = generator.permutation(count) if generator.integers(4) == 0 else np.arange(count)
    joints: list[ik.Joint | None] = [None] * count
    branching, limited, limbs = generator.integers(3), generator.integers(4), generator.integers(2)
    kinds = ["ball"] if generator.integers(2) else ["ball", "ball", "hinge", "hinge", "prismatic", "fixed"]
    for step in range(count):
        above = int(generator.integers(max(step - 1 - branching, 0), step)) if step else -1
        if step and branching == 2 and generator.integers(6) == 0:
            above = -1
        kind = str(generator.choice(kinds))
        joints[place[step]] = ik.Joint(
            f"joint {place[step]}", int(place[above]) if above >= 0 else -1, kind,
            generator.normal(size=3) * 0.4 * (generator.integers(8) > 0),
            rest=wxyz(Rotation.from_rotvec(generator.normal(size=3) * generator.integers(2))),
            axis=generator.normal(size=3) if generator.integers(2) else None,
            limits=_limits(generator, kind) if limited else None,
            stiffness=float(generator.choice([0.0, 0.0, 0.0, 0.4, 1.0])),
            preferred=0.2 * generator.normal(size=3) if limbs and generator.integers(2) else None,
            inherit_rotation=kind == "prismatic" or above < 0 or generator.integers(8) > 0,
        )  # fmt: skip
    return ik.Skeleton(joints)


def _goals(generator: np.random.Generator, skeleton: ik.Skeleton) -> list[ik.Goal]:
    reached = ik.forward(skeleton, random_pose(skeleton, generator))
    far = 3.0 if generator.integers(3) == 0 else 1.0
    goals = []
    for _ in range(int(generator.integers(1, 5))):
        joint, what, offset = int(generator.integers(len(skeleton))), generator.integers(3), np.zeros(3)
        if generator.integers(2):
            offset = 0.3 * generator.normal(size=3)
        place = reached.positions[joint] + Rotation.from_quat(reached.rotations[joint], scalar_first=True).apply(offset)
        above = np.flatnonzero(skeleton.ancestors[joint])
        goals.append(ik.Goal(
            joint, None if what == 1 else far * place, None if what == 0 else reached.rotations[joint], offset,
            float(generator.choice([1.0, 1.0, 1.0, 0.3, 3.0, 0.0])), float(generator.choice([1.0, 1.0, 0.3, 3.0, 0.0])),
            int(generator.choice([0, 0, 0, 1, 5])),
            None if generator.integers(3) else [int(j) for j in above if generator.integers(3)],
            generator.normal(size=3) if generator.integers(4) == 0 else None, float(generator.normal()),
            float(generator.choice([0.0, 0.0, 0.0, 0.4, 1.0])),
        ))  # fmt: skip
    return goals


def drawn(seed: int, most: int = 8) -> Problem:
    """A problem on up to `most` joints."""
    generator = np.random.default_rng(seed)
    skeleton = _skeleton(generator, most)
    options = ik.Options(
        pull=[None, None, 0.0, 1e-5, 1e-3][generator.integers(5)], bias=str(generator.choice(["START", "MIDDLE"])),
        damping=[None, None, None, 0.0, 1e-2][generator.integers(5)], seed=int(generator.integers(2**40)),
    )  # fmt: skip
    start = random_pose(skeleton, generator, float(generator.choice([0.1, 0.7, 2.5])))
    goals = _goals(generator, skeleton)
    return Problem(skeleton, goals, start, str(generator.choice(["PGS", "DLS"])), options)


def moving(problem: Problem, frames: int, seed: int, speed: float = 0.02) -> tuple[Targets, np.ndarray]:
    """Targets of frames that drift from the goals' own targets, and changing links for each frame."""
    generator = np.random.default_rng(seed)
    goals, links = problem.goals, problem.skeleton.links
    steps = generator.normal(size=(frames, len(goals), 3)).cumsum(0) * speed
    turns = generator.normal(size=(frames, len(goals), 3)).cumsum(0) * speed
    places = np.array([np.zeros(3) if goal.position is None else goal.position for goal in goals]) + steps
    rotations = np.array([[1.0, 0, 0, 0] if goal.rotation is None else goal.rotation for goal in goals])
    poles = np.array([np.zeros(3) if goal.pole is None else goal.pole for goal in goals]) + steps
    given = np.tile(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), (frames, 1, 1))
    turned = quaternion.product(quaternion.exp(turns), given)
    drift = generator.normal(size=(2, frames, len(links), 3)).cumsum(1) * 0.1 * speed
    motion = wxyz(Rotation.from_rotvec(drift[0].reshape(-1, 3))).reshape(frames, -1, 4)
    points = own_points(resolve_goals(problem.skeleton, goals))
    targets = Targets(places, turned, poles, points=np.tile(points, (frames, 1, 1)) if len(points) else None)
    return targets, dual_quaternion.product(links, dual_quaternion.from_parts(motion, drift[1]))


# -- families of problems ---------------------------------------------------------------------------------------------


def pulled(seed: int, most: int = 6, **settings: list[float]) -> Problem:
    """A problem with a pull, and settings of joints drawn from lists of values: `hold`, `gain`."""
    problem, generator = drawn(seed, most), np.random.default_rng(seed)
    own = {name: generator.choice(values, len(problem.skeleton)).tolist() for name, values in settings.items()}
    joints = [replace(joint, **{name: values[index] for name, values in own.items()})
              for index, joint in enumerate(problem.skeleton.joints)]  # fmt: skip
    return replace(problem, skeleton=ik.Skeleton(joints), options=replace(problem.options, pull=1e-5))


def some_kind(skeleton: ik.Skeleton, generator: np.random.Generator, kind: str, chains: bool = True) -> ik.Goal:
    """A goal of a kind with any target, weights and chain; one that a pose of the skeleton meets, or nearly."""
    joint, offset = int(generator.integers(len(skeleton))), generator.normal(size=3)
    world = ik.forward(skeleton, random_pose(skeleton, generator))
    place = world.positions[joint] + Rotation.from_quat(world.rotations[joint], scalar_first=True).apply(offset)
    side = ik.GOAL_KINDS[kind].sides
    above = [int(j) for j in np.flatnonzero(skeleton.ancestors[joint])]
    goal = ik.Goal(
        joint, position=place + 0.3 * generator.normal(size=3), rotation=generator.normal(size=4), offset=offset,
        position_weight=generator.uniform(0.2, 2), rotation_weight=generator.uniform(0.2, 2),
        priority=int(generator.integers(2)), kind=kind, axis=generator.normal(size=3),
        target_axis=generator.normal(size=3),
        distance=float(generator.uniform(0.1, 0.6)), side=str(generator.choice(side)) if side else None,
        chain=None if not chains or kind == "CURVE" or generator.integers(2) else above,
        points=place + generator.normal(size=(int(generator.integers(1, 7)), 3)),
    )  # fmt: skip
    if kind != "CURVE":
        return goal
    path = joints_on_curve(skeleton, replace(goal, chain=None))
    return replace(goal, points=np.array([*world.positions[path], place]))


def with_kinds(seed: int, kinds: tuple[str, ...] = tuple(kind for kind in ik.GOAL_KINDS if kind != "REACH")) -> Problem:
    """A problem with one or two goals of other kinds."""
    problem, generator = drawn(seed, most=6), np.random.default_rng(seed + 7)
    chosen = generator.choice(kinds, size=int(generator.integers(1, 3)))
    goals = problem.goals[: int(generator.integers(3))]
    return replace(problem, goals=[*goals, *[some_kind(problem.skeleton, generator, str(kind)) for kind in chosen]])


CARRIED = tuple(kind for kind, own in ik.GOAL_KINDS.items() if "target_joint" in own.takes)


def carried(seed: int) -> Problem | None:
    """A problem with one or two goals whose targets joints carry; None for a skeleton of one joint."""
    problem, generator = drawn(seed, most=6), np.random.default_rng(seed + 11)
    goals, count = problem.goals[: int(generator.integers(3))], len(problem.skeleton)
    if count < 2:
        return None
    for kind in generator.choice(CARRIED, size=int(generator.integers(1, 3))):
        goal = some_kind(problem.skeleton, generator, str(kind), chains=bool(generator.integers(2)))
        other = int(generator.choice([joint for joint in range(count) if joint != goal.joint]))
        goals = [*goals, replace(goal, target_joint=other, position=0.5 * generator.normal(size=3))]
    return replace(problem, goals=goals)


def coupled_skeleton(generator: np.random.Generator, limited: bool) -> ik.Skeleton:
    """A branching skeleton of limited balls, hinges and slides with couplings of any axes, some through others."""
    count = int(generator.integers(4, 9))
    joints = []
    for j in range(count):
        kind = str(generator.choice(["ball", "ball", "hinge", "prismatic"]))
        wide = generator.uniform(0.3, 1.2, (3, 2)) * [-1, 1]
        limits = ik.TwistSwing(*map(tuple, wide)) if kind == "ball" else ik.Range(*(wide[0] * 0.5))
        joints.append(ik.Joint(
            f"j{j}", int(generator.integers(max(j - 2, 0), j)) if j else -1, kind, generator.normal(size=3) * 0.4,
            limits=limits if limited or generator.integers(2) else None,
        ))  # fmt: skip
    couplings, taken = [], set()
    for _ in range(int(generator.integers(1, 5))):
        leader, joint = sorted(generator.choice(count, 2, replace=False).tolist())
        axis = str(generator.choice(list("XYZ"))) if joints[joint].kind == "ball" else "X"
        if (joint, axis) not in taken:
            taken.add((joint, axis))
            couplings.append(ik.Coupling(
                f"j{joint}", axis, leader, str(generator.choice(list("XYZ"))), float(generator.uniform(-1, 1)),
                float(generator.choice([0.0, 0.05])),
            ))  # fmt: skip
    return ik.Skeleton(joints, couplings=couplings)


def coupled(seed: int, soft: bool = False) -> Problem | None:
    """Coupled joints and two or three goals, one-sided ones among them; None if the limits leave no room."""
    generator = np.random.default_rng(seed)
    skeleton = coupled_skeleton(generator, bool(seed % 2))
    if soft:
        stiff = generator.choice([0.2, 0.9, 1.0], len(skeleton.couplings)).tolist()
        couplings = [replace(one, stiffness=value) for one, value in zip(skeleton.couplings, stiff, strict=True)]
        skeleton = ik.Skeleton(skeleton.joints, couplings=couplings)
    last = len(skeleton) - 1
    goals = [ik.Goal(last, position=generator.normal(size=3), offset=(0, 0.3, 0)),
             ik.Goal(int(generator.integers(last)), position=generator.normal(size=3))]  # fmt: skip
    if generator.integers(3) == 0:
        goals.append(ik.Goal(last, kind="PLANE", position=generator.normal(size=3) * 0.2,
                             rotation=(1, 0.1, 0.2, 0.3), side="ABOVE"))  # fmt: skip
    start, solver = random_pose(skeleton, generator), str(generator.choice(["PGS", "DLS"]))
    try:
        ik.Prepared(skeleton, goals)
    except ik.InvalidSkeleton:
        return None
    return Problem(skeleton, goals, start, solver, ik.Options())


def bodied(seed: int) -> tuple[Problem, ik.Contacts]:
    """A problem, some with couplings or goals of other kinds, and bodies on its joints and about it."""
    generator = np.random.default_rng([seed, 7])
    problem = drawn(seed)
    if seed % 4 == 1:
        skeleton = coupled_skeleton(generator, bool(generator.integers(2)))
        last = len(skeleton) - 1
        reach = ik.Goal(last, position=generator.normal(size=3), offset=(0, 0.3, 0))
        problem = Problem(skeleton, [reach], skeleton.rest_pose(), "PGS", ik.Options())
    elif seed % 4 == 3:
        other = some_kind(problem.skeleton, generator, str(generator.choice(["LOOK_AT", "DISTANCE", "PLANE"])))
        problem = replace(problem, goals=[*problem.goals, other])
    skeleton = problem.skeleton
    size = max(skeleton.length, 0.1)
    last = len(skeleton) - 1
    capsules = [
        ik.Capsule(joint, 0.1 * size * generator.normal(size=3), 0.3 * size * generator.normal(size=3),
                   size * generator.uniform(0.02, 0.15))
        for joint in range(last + 1) if generator.integers(3) or joint == last
    ]  # fmt: skip
    at = size * generator.normal(size=(3, 3)) * 0.6
    turn = quaternion.exp(generator.normal(size=3))
    obstacles = [
        ik.Plane(at[0], generator.normal(size=3)),
        ik.Box(at[1], size * generator.uniform(0.1, 0.6, 3), turn),
        ik.Convex(at[2] + size * WEDGE, WEDGE_FACES),
    ]
    some = [one for one in obstacles if generator.integers(2)]
    return problem, ik.Contacts(capsules, some or obstacles, margin=size * float(generator.choice([0.0, 0.02])))
