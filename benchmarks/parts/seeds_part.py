# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures over many seeds: hands and bodies followed frame by frame, and targets solved from cold beside the stick.

Motions pass through random postures, a knot every fifty frames: hands within all of their limits, so that fingers pass
straight and rest on limits; bodies within 70 % of them.
"""

import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import judge
import kernel_part
import numpy as np
import stick
import workload_suite
import workloads
from measures import turned_by
from report import Result, Row, number
from workload_suite import Workload

import solvers as ik

SEEDS = 32
FRAMES, STEPS = 500, 50
SHARES = {"hand poses": 1.0, "hand places": 1.0, "body": 0.7}
COLD = 50  # targets a seed
RESTARTS = 100
SOLVER = "PGS"


def run(_: Namespace) -> Result:
    """Measure motions both ways, then cold targets, over the seeds."""
    rows = [_followed(key, way, SEEDS) for key in SHARES for way in ("one call", "a call a frame")]
    rows += list(_cold(SEEDS))
    return Result(rows, [
        ("workload", lambda row: str(row["workload"])),
        ("way", lambda row: str(row["solver"])),
        ("solves", number("solves", ".0f")),
        ("met", number("met", ".2f", 100.0, " %")),
        ("worst seed", number("worst", ".1f", 100.0, " %")),
        ("largest step", number("step", ".3f", 1.0, " rad")),
        ("steps, mean", number("steps_mean", ".2f")),
        ("us, mean", number("us_mean", ".1f")),
        ("99 %", number("us_p99", ".0f")),
    ])  # fmt: skip


def motion(key: str, seed: int) -> Workload:
    """A figure led through random postures."""
    skeleton, goals = workloads.body() if key == "body" else workloads.hand()
    if key == "hand places":
        goals = [ik.Goal(goal.joint, (0, 0, 0), offset=goal.offset) for goal in goals]
    generator = np.random.default_rng([seed, *key.encode()])
    knots = workloads.coordinates(skeleton, generator, FRAMES // STEPS + 1, SHARES[key])
    x = workloads.motion(knots, STEPS)
    tolerance = 1e-3 if key == "body" else 2e-4
    start = workloads.posed(skeleton, x[0])
    reached = workloads.targets(skeleton, goals, x)
    return Workload(key, skeleton, goals, tolerance, 1e-2, start, *reached, coherent=True)


def _followed(key: str, way: str, seeds: int) -> Row:
    """A motion of each seed, in one call or in prepared calls from the pose before."""
    met: list[float] = []
    steps: list[float] = []
    iterations: list[float] = []
    took = 0.0
    for seed in range(seeds):
        work = motion(key, seed)
        options = ik.Options(tolerance=work.tolerance, rotation_tolerance=work.rotation_tolerance)
        began = time.perf_counter()
        solutions = _solutions(work, way, options)
        took += time.perf_counter() - began
        poses = [solution.pose for solution in solutions]
        arrived = judge.judged(work, poses, range(len(poses))).met
        moved = np.array([turned_by(a, b).max() for a, b in pairwise(poses)])
        met.append(float(arrived.mean()))
        steps.append(float(moved[arrived[1:] & arrived[:-1]].max(initial=0.0)))
        iterations.append(float(np.mean([solution.iterations for solution in solutions])))
    return {
        "workload": f"{key}, {seeds} seeds", "solver": way, "solves": seeds * FRAMES, "met": float(np.mean(met)),
        "worst": min(met), "step": max(steps), "steps_mean": float(np.mean(iterations)),
        "us_mean": 1e6 * took / (seeds * FRAMES), "us_p99": None,
    }  # fmt: skip


def _solutions(work: Workload, way: str, options: ik.Options) -> list[ik.Solution]:
    if way == "one call":
        asked = work.skeleton, work.goals, work.positions, work.rotations, work.start, SOLVER, options
        return ik.solve_frames(*asked)
    prepared, pose = ik.prepare(work.skeleton, work.goals, SOLVER, options), work.start
    solutions: list[ik.Solution] = []
    for positions, rotations in zip(work.positions, work.rotations, strict=True):
        solutions.append(prepared(positions, rotations, pose))
        pose = solutions[-1].pose
    return solutions


def _cold(seeds: int) -> Iterator[Row]:
    """Targets of all seeds, each from cold, with restarts, beside the stick."""
    with tempfile.TemporaryDirectory() as folder:
        library = stick.build(Path(folder))
        for key, figure, tolerance in [
            ("arm", workload_suite.seven_joint_arm(wide=False), 1e-3), ("hand", workloads.hand(), 2e-4),
            ("body", workloads.body(), 1e-3),
        ]:  # fmt: skip
            work, starts = _targets(key, *figure, tolerance, seeds)
            ways = {SOLVER: kernel_part.dqik(work, starts, SOLVER)}
            if library is not None:
                ways[kernel_part.STICK] = kernel_part.measured_by_stick(library, work, starts)
            for row in kernel_part.rows_of(work, ways, rounds=1):
                yield {**row, "workload": f"{work.title}, {seeds} seeds", "worst": None, "step": None}


def _targets(
    key: str, skeleton: ik.Skeleton, goals: list[ik.Goal], tolerance: float, seeds: int
) -> tuple[Workload, list[ik.Pose]]:
    """Targets within the limits, and where their solves begin: the arm's at random, others in the middle."""
    drawn: list[np.ndarray] = []
    begun: list[np.ndarray] = []
    for seed in range(seeds):
        generator = np.random.default_rng([seed, *key.encode()])
        drawn.append(workloads.coordinates(skeleton, generator, COLD))
        begun.append(workloads.coordinates(skeleton, generator, COLD, 1.0 if key == "arm" else 0.0))
    starts = [workloads.posed(skeleton, x) for x in np.concatenate(begun)]
    reached = workloads.targets(skeleton, goals, np.concatenate(drawn))
    return Workload(key, skeleton, goals, tolerance, 1e-2, starts[0], *reached, restarts=RESTARTS), starts
