# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the compiled kernel as a user calls it, next to a solver in plain C, on the same targets in turns."""

import gc
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import judge
import numpy as np
import stick
import workload_suite
import workloads
from report import Result, Row, number
from workload_suite import RESTARTS, SEED, SIZES, Workload

import solvers as ik

SOLVERS = ("PGS", "DLS")
STICK = "stick"
COUNT = {"A": 1000, "B": 400, "D": 200}  # cold targets
FRAMES = 500
STEPS = 50  # frames from one pose of a motion to the next
ITERATIONS = {"E": 200}

Starts = list[ik.Pose]
Round = Callable[[], tuple[list[ik.Pose], np.ndarray, np.ndarray]]
"""One round: the answers, the steps (F,) and the seconds (F,) they took."""


def run(arguments: Namespace) -> Result:
    """Measure every workload; times are the least of the rounds, the rest is the same in each."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        library = stick.build(Path(folder))
        for workload, starts in _suite():
            ways = {solver: dqik(workload, starts, solver) for solver in SOLVERS}
            if library is not None:
                ways[STICK] = measured_by_stick(library, workload, starts)
            rows += rows_of(workload, ways, arguments.rounds)
    return Result(rows, [
        ("workload", lambda row: str(row["workload"])),
        ("solver", lambda row: str(row["solver"])),
        ("solves", number("solves", ".0f")),
        ("met", number("met", ".1f", 100.0, " %")),
        ("steps, mean", number("steps_mean", ".1f")),
        ("us, mean", number("us_mean", ".1f")),
        ("median", number("us_median", ".1f")),
        ("99 %", number("us_p99", ".0f")),
        ("to stick, mean", number("mean_to_stick", ".2f")),
        ("us a step", number("us_step", ".2f")),
    ])  # fmt: skip


def _suite() -> Iterator[tuple[Workload, Starts]]:
    """Workloads A with tight limits, B with poses, D and E, each with its start poses."""
    for key, figure, tolerance in [
        ("A tight", workload_suite.seven_joint_arm(wide=False), 1e-3), ("B poses", workloads.hand(), 2e-4),
        ("D body", workloads.body(), 1e-3),
    ]:  # fmt: skip
        skeleton, goals = figure
        generator = np.random.default_rng([SEED, *key.encode()])
        count = COUNT[key[0]]
        lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in skeleton.joints]).T
        middle = workloads.posed(skeleton, 0.5 * (lo + hi))
        reached = workloads.targets(skeleton, goals, workloads.coordinates(skeleton, generator, count))
        cold = Workload(key, skeleton, goals, tolerance, 1e-2, middle, *reached, restarts=RESTARTS)
        seeds = workloads.coordinates(skeleton, generator, count)
        if key[0] == "A":
            yield replace(cold, key=f"{key}, random starts"), [workloads.posed(skeleton, x) for x in seeds]
            continue
        yield cold, [middle] * count
        generator = np.random.default_rng([SEED, *b"motion"])
        knots = workloads.coordinates(skeleton, generator, FRAMES // STEPS + 1, workload_suite.MOTION_SHARE)
        x = workloads.motion(knots, STEPS)
        start = workloads.posed(skeleton, x[0])
        reached = workloads.targets(skeleton, goals, x)
        yield Workload(key, skeleton, goals, tolerance, 1e-2, start, *reached, coherent=True), [start]
    for size in SIZES:
        chain = workload_suite.balls(size)
        yield chain, [chain.start] * len(chain.positions)


def dqik(workload: Workload, starts: Starts, solver: str) -> Round:
    """A round of prepared solves, or of a motion in one call of `solve_frames`."""
    options = ik.Options(
        tolerance=workload.tolerance, rotation_tolerance=workload.rotation_tolerance, restarts=workload.restarts,
        iterations=ITERATIONS.get(workload.key[0], ik.Options.iterations),
    )  # fmt: skip
    begins = starts if len(starts) > 1 else starts * len(workload.positions)
    frames = list(zip(workload.positions, workload.rotations, begins, strict=True))
    prepared = ik.prepare(workload.skeleton, workload.goals, solver, options)

    def each_afresh() -> tuple[list[ik.Pose], np.ndarray, np.ndarray]:
        solutions, seconds = [], []
        for positions, rotations, pose in frames:
            began = time.thread_time()
            solution = prepared(positions, rotations, pose)
            seconds.append(time.thread_time() - began)
            solutions.append(solution)
        return [s.pose for s in solutions], np.array([s.iterations for s in solutions]), np.array(seconds)

    def motion() -> tuple[list[ik.Pose], np.ndarray, np.ndarray]:
        began = time.thread_time()
        solutions = ik.solve_frames(
            workload.skeleton, workload.goals, workload.positions, workload.rotations, starts[0], solver, options
        )
        seconds = (time.thread_time() - began) / len(solutions)
        steps = np.array([solution.iterations for solution in solutions])
        return [solution.pose for solution in solutions], steps, np.full(len(solutions), seconds)

    return motion if workload.coherent else each_afresh


def measured_by_stick(library: object, workload: Workload, starts: Starts) -> Round:
    """A round of the stick: all targets in one call, or one a call where each is timed by itself."""
    count = len(workload.positions)
    parts = [workload] if workload.coherent else [
        replace(workload, positions=workload.positions[f : f + 1], rotations=workload.rotations[f : f + 1])
        for f in range(count)
    ]  # fmt: skip
    sticks = [stick.Stick(library, part, workload.restarts) for part in parts]
    tree = sticks[0].tree
    begin = np.array([tree.coordinates(pose) for pose in starts])

    def solved() -> tuple[list[ik.Pose], np.ndarray, np.ndarray]:
        answers, steps, seconds = [], [], []
        for number_of, one in enumerate(sticks):
            q = np.tile(begin[:1], (count, 1)) if workload.coherent else begin[number_of : number_of + 1].copy()
            began = time.thread_time()
            steps.append(one.solve(q))
            seconds += [(time.thread_time() - began) / len(q)] * len(q)
            answers.append(q)
        return [tree.pose(row) for row in np.concatenate(answers)], np.concatenate(steps), np.array(seconds)

    return solved


def rows_of(workload: Workload, ways: dict[str, Round], rounds: int) -> list[Row]:
    """A row for each way to solve a workload."""
    found: dict[str, tuple] = {}
    least: dict[str, np.ndarray] = {}
    for _ in range(rounds):
        for way, solve in ways.items():
            gc.collect()
            found[way] = solve()
            seconds = found[way][2]
            least[way] = np.minimum(least.get(way, seconds), seconds)
    rows = []
    for way, (poses, steps, _) in found.items():
        took = 1e6 * least[way]
        met = judge.judged(workload, poses, range(len(poses))).met
        rows.append({
            "workload": workload.title, "size": workload.size, "solver": way, "solves": len(poses),
            "met": float(met.mean()), "steps_mean": float(steps.mean()), "us_mean": float(took.mean()),
            "us_median": float(np.median(took)), "us_p99": float(np.percentile(took, 99)),
            "mean_to_stick": float(took.mean() / (1e6 * least[STICK]).mean()) if STICK in least else None,
            "us_step": float(took.sum() / max(steps.sum(), 1)),
        })  # fmt: skip
    return rows
