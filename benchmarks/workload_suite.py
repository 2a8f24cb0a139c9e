# SPDX-License-Identifier: GPL-3.0-or-later
"""The workloads of the comparison: an arm, a hand, a planar chain, a body and chains of many balls.

    A   seven hinges, one goal with place and rotation (the arm of Amino's tutorial), with wide and with tight limits
    B   the hand of the tests: 22 degrees of freedom, five goals, with or without rotation
    C   Soch & Lorencz's planar chain of six segments, led once around their ellipse
    D   the body of the tests: 57 degrees of freedom, five goals
    E   N balls in a straight line of length 1, one goal with a place

Targets are drawn from seeds and can be reached. The targets of a *cold* workload are independent, and each is solved
from the same pose. Those of a *coherent* workload form a motion, and each is solved from the answer before.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import workloads

import solvers as ik

SEED = 7
COLD = {"A wide": 100, "A tight": 100, "B places": 100, "B poses": 100, "D body": 50}  # targets
FRAMES = 200
STEPS = 50  # frames from one pose of a motion to the next
MOTION_SHARE = 0.7  # of the limits: range of the motions
RESTARTS = 20
SIZES = (10, 25, 50, 100, 200, 400)  # balls
BALL_TARGETS = 50
REACH = (0.3, 0.9)  # of a chain's length: range of its targets' distances
SEGMENTS = (90.0, 60.0, 90.0, 150.0, 150.0, 90.0)  # Soch & Lorencz's chain, from (-230, 0) to (400, 0)
ELLIPSE = (400.0, 50.0)


@dataclass(frozen=True)
class Workload:
    """Targets (F, G, 3) and (F, G, 4) of a figure, from a pose.

    `tolerance` [length units], `rotation_tolerance` [rad]: within these a target counts as met. `motion` (F, J, 4): the
    joints' turns in the motion from which a coherent workload's targets were taken, if there is one.
    """

    key: str
    skeleton: ik.Skeleton
    goals: list[ik.Goal]
    tolerance: float
    rotation_tolerance: float
    start: ik.Pose
    positions: np.ndarray
    rotations: np.ndarray
    coherent: bool = False
    restarts: int = 0
    motion: np.ndarray | None = None
    size: int | None = None

    @property
    def title(self) -> str:
        """Its name in tables."""
        if self.coherent:
            return f"{self.key}, coherent"
        return f"{self.key}, cold" + (f", {self.restarts} restarts" if self.restarts else "")

    def head(self, count: int) -> "Workload":
        """The same workload with its first targets only."""
        motion = None if self.motion is None else self.motion[:count]
        return replace(self, positions=self.positions[:count], rotations=self.rotations[:count], motion=motion)


def suite() -> Iterator[Workload]:
    """Every workload, in the order of the tables."""
    for wide in (True, False):
        arm, goals = seven_joint_arm(wide)
        yield from _figure("A wide" if wide else "A tight", arm, goals, 1e-3, moving=not wide)
    hand, goals = workloads.hand()
    yield from _figure("B places", hand, [replace(goal, rotation=None) for goal in goals], 2e-4)
    yield from _figure("B poses", hand, goals, 2e-4)
    yield ellipse()
    yield from _figure("D body", *workloads.body(), 1e-3)
    yield from (balls(count) for count in SIZES)


def seven_joint_arm(wide: bool) -> tuple[ik.Skeleton, list[ik.Goal]]:
    """The arm of Amino's tutorial [m]: shoulder, elbow and wrist; a goal with place and rotation on the hand.

    wide : limits of half a turn to either side, which limit nothing; else as tight as a human arm's.
    """
    shoulder, elbow, wrist = ((-np.pi, np.pi),) * 3 if wide else ((-2.0, 2.0), (0.0, 2.6), (-1.6, 1.6))
    joints = [
        ("s0", 0.0, (1, 0, 0), shoulder), ("s1", 0.0, (0, 1, 0), shoulder), ("s2", 0.0, (1, 0, 0), shoulder),
        ("e", 1.0, (0, 1, 0), elbow),
        ("w0", 1.0, (1, 0, 0), wrist), ("w1", 0.0, (0, 1, 0), wrist), ("w2", 0.0, (0, 0, 1), wrist),
    ]  # fmt: skip
    arm = ik.Skeleton([
        ik.Joint(name, index - 1, "hinge", (along, 0, 0), axis=axis, limits=ik.Range(*limits))
        for index, (name, along, axis, limits) in enumerate(joints)
    ])  # fmt: skip
    return arm, [ik.Goal(6, (0, 0, 0), (1, 0, 0, 0), offset=(0.0809, 0, 0))]


def planar_chain() -> tuple[ik.Skeleton, list[ik.Goal]]:
    """Soch & Lorencz's chain: hinges about Z along +X, from (-230, 0) to its tip at (400, 0), without limits."""
    offsets = [-230.0, *SEGMENTS[:-1]]
    joints = [ik.Joint(f"joint {i}", i - 1, "hinge", (along, 0, 0), axis=(0, 0, 1)) for i, along in enumerate(offsets)]
    return ik.Skeleton(joints), [ik.Goal(len(joints) - 1, (0, 0, 0), offset=(SEGMENTS[-1], 0, 0))]


def ellipse(steps: int = FRAMES) -> Workload:
    """The planar chain led once around the ellipse, from straight; met within 0.1 of its units."""
    chain, goals = planar_chain()
    turn = 2 * np.pi * np.arange(1, steps + 1) / steps
    places = np.stack([ELLIPSE[0] * np.cos(turn), ELLIPSE[1] * np.sin(turn), np.zeros(steps)], -1)
    return Workload(
        "C ellipse", chain, goals, 0.1, 1.0, chain.rest_pose(), places[:, None], _no_turns(steps), coherent=True
    )


def balls(count: int) -> Workload:
    """Balls in a straight line of length 1, its targets at 0.3 to 0.9 of it in any direction; met within a mm."""
    joints = [
        ik.Joint(f"ball {i}", i - 1, "ball", (1.0 / count if i else 0.0, 0, 0), axis=(1, 0, 0)) for i in range(count)
    ]
    chain, goals = ik.Skeleton(joints), [ik.Goal(count - 1, (0, 0, 0), offset=(1.0 / count, 0, 0))]
    generator = np.random.default_rng([SEED, count])
    towards = generator.normal(size=(BALL_TARGETS, 3))
    places = generator.uniform(*REACH, (BALL_TARGETS, 1)) * towards / np.linalg.norm(towards, axis=-1, keepdims=True)
    turns = _no_turns(BALL_TARGETS)
    return Workload(f"E {count} balls", chain, goals, 1e-3, 1.0, chain.rest_pose(), places[:, None], turns, size=count)


def _figure(
    key: str, skeleton: ik.Skeleton, goals: list[ik.Goal], tolerance: float, moving: bool = True
) -> Iterator[Workload]:
    """A limited figure's workloads: cold from the middle of its limits, the same with restarts, and a motion."""
    generator = np.random.default_rng([SEED, *key.encode()])
    lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in skeleton.joints]).T
    places, turns = workloads.targets(skeleton, goals, workloads.coordinates(skeleton, generator, COLD[key]))
    middle = workloads.posed(skeleton, 0.5 * (lo + hi))
    cold = Workload(key, skeleton, goals, tolerance, 1e-2, middle, places, turns)
    yield cold
    yield replace(cold, restarts=RESTARTS)
    if moving:
        knots = workloads.coordinates(skeleton, generator, FRAMES // STEPS + 1, MOTION_SHARE)
        x = workloads.motion(knots, STEPS)
        start, motion = (
            workloads.posed(skeleton, x[0]),
            np.array([workloads.posed(skeleton, row).rotations for row in x]),
        )
        places, turns = workloads.targets(skeleton, goals, x)
        yield Workload(key, skeleton, goals, tolerance, 1e-2, start, places, turns, coherent=True, motion=motion)


def _no_turns(count: int) -> np.ndarray:
    """Unused rotations (F, 1, 4)."""
    return np.tile([1.0, 0, 0, 0], (count, 1, 1))
