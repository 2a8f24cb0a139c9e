# SPDX-License-Identifier: GPL-3.0-or-later
"""PGS and DLS side by side, on the hand and the body that the tests use."""

import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace

import measures
import numpy as np
import workloads
from report import Result, Row, number

import solvers as ik

SOLVERS = ("PGS", "DLS")
TOLERANCE = {"hand": 2e-4, "body": 1e-3}  # [m]
ROTATION_TOLERANCE = 1e-2  # [rad]
RESTARTS = 20
COLD = {"hand": 60, "body": 12}  # targets
STEPS = 40  # frames from one pose of a motion to the next
ROUNDING = 1.0 + 1e-6


@dataclass(frozen=True)
class Workload:
    """Targets (F, G, ...) of a figure, from a pose; solved afresh if `restarts` is given, else warm-started."""

    figure: str
    title: str
    positions: np.ndarray
    rotations: np.ndarray
    start: ik.Pose
    restarts: int | None = None


def run(arguments: Namespace) -> Result:
    """Measure every workload; times are the least of the rounds, the rest is the same in each."""
    rows = []
    for figure, make in {"hand": workloads.hand, "body": workloads.body}.items():
        skeleton, goals = make()
        for workload in _workloads(figure, skeleton, goals):
            rows += _measured(workload, skeleton, goals, arguments.rounds)
    return Result(rows, [
        ("workload", lambda row: f"{row['figure']}, {row['workload']}"),
        ("solver", lambda row: str(row["solver"])),
        ("solves", number("solves", ".0f")),
        ("met", number("met", ".1f", 100.0, " %")),
        ("steps, median", number("steps_median", ".0f")),
        ("95 %", number("steps_p95", ".0f")),
        ("worst", number("steps_max", ".0f")),
        ("ms, median", number("ms_median", ".2f")),
        ("worst", number("ms_max", ".1f")),
        ("to PGS", number("ms_median_to_pgs", ".2f")),
        ("CPU ms, mean", number("cpu_ms_mean", ".2f")),
        ("to PGS", number("cpu_to_pgs", ".2f")),
        ("outside limits, worst", number("outside_max", ".0e")),
    ])  # fmt: skip


def _workloads(figure: str, skeleton: ik.Skeleton, goals: list[ik.Goal]) -> list[Workload]:
    generator = np.random.default_rng(1)

    def reached(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return workloads.targets(skeleton, goals, x)

    lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in skeleton.joints]).T
    middle = workloads.posed(skeleton, 0.5 * (lo + hi))
    moving = workloads.motion(workloads.coordinates(skeleton, generator, 4, share=0.7), STEPS)
    tremble = moving[:1] + np.radians(1.0) * generator.uniform(-1, 1, (STEPS, len(skeleton)))
    start = workloads.posed(skeleton, moving[0])
    cold = reached(workloads.coordinates(skeleton, generator, COLD[figure]))
    return [
        Workload(figure, "at rest", *reached(tremble), start),
        Workload(figure, "coherent motion", *reached(moving), start),
        Workload(figure, "cold", *cold, middle, 0),
        Workload(figure, f"cold, {RESTARTS} restarts", *cold, middle, RESTARTS),
    ]


def _measured(workload: Workload, skeleton: ik.Skeleton, goals: list[ik.Goal], rounds: int) -> list[Row]:
    """A row for each solver; they take turns, so that other load on the machine affects both."""
    options = ik.Options(
        tolerance=TOLERANCE[workload.figure], rotation_tolerance=ROTATION_TOLERANCE, restarts=workload.restarts or 0
    )
    solve = _follow if workload.restarts is None else _each_afresh
    found, milliseconds, cpu = {}, *({solver: [] for solver in SOLVERS} for _ in range(2))
    for _ in range(rounds):
        for solver in SOLVERS:
            began = time.process_time()
            found[solver] = solve(workload, skeleton, goals, solver, options)
            cpu[solver].append(1000.0 * (time.process_time() - began) / len(found[solver]))
            milliseconds[solver].append([1000.0 * solution.seconds for solution in found[solver]])
    rows = []
    for solver, solutions in found.items():
        steps = np.array([solution.iterations for solution in solutions])
        took, peer = np.min(milliseconds[solver], axis=0), np.min(milliseconds["PGS"], axis=0)
        rows.append({
            "figure": workload.figure, "workload": workload.title, "solver": solver, "solves": len(solutions),
            "met": float(np.mean(_met(workload, skeleton, goals, [s.pose for s in solutions]))),
            "steps_median": float(np.median(steps)), "steps_p95": float(np.percentile(steps, 95)),
            "steps_max": int(steps.max()), "ms_median": float(np.median(took)), "ms_max": float(took.max()),
            "ms_median_to_pgs": float(np.median(took) / np.median(peer)),
            "cpu_ms_mean": min(cpu[solver]), "cpu_to_pgs": min(cpu[solver]) / min(cpu["PGS"]),
            "outside_max": max(
                measures.outside_limits(skeleton, solution.pose, joint)
                for solution in solutions for joint in range(len(skeleton))
            ),
        })  # fmt: skip
    return rows


def _follow(
    workload: Workload, skeleton: ik.Skeleton, goals: list[ik.Goal], solver: str, options: ik.Options
) -> list[ik.Solution]:
    """Solve frames one at a time, each from the one before."""
    return ik.solve_frames(skeleton, goals, workload.positions, workload.rotations, workload.start, solver, options)


def _each_afresh(
    workload: Workload, skeleton: ik.Skeleton, goals: list[ik.Goal], solver: str, options: ik.Options
) -> list[ik.Solution]:
    """Solve targets one at a time from the same pose, to measure single calls."""
    prepared: Callable = ik.prepare(skeleton, goals, solver, options)
    found = []
    for positions, rotations in zip(workload.positions, workload.rotations, strict=True):
        began = time.perf_counter()
        solution = prepared(positions, rotations, workload.start)
        found.append(replace(solution, seconds=time.perf_counter() - began))
    return found


def _met(workload: Workload, skeleton: ik.Skeleton, goals: list[ik.Goal], poses: list[ik.Pose]) -> list[bool]:
    """Whether poses meet all goals, computed by SciPy, not reported by the solver."""
    met = []
    for pose, positions, rotations in zip(poses, workload.positions, workload.rotations, strict=True):
        errors = [
            measures.goal_errors(
                skeleton, pose, replace(goal, position=place, rotation=None if goal.rotation is None else turn)
            )
            for goal, place, turn in zip(goals, positions, rotations, strict=True)
        ]
        allowed = ROUNDING * np.array([TOLERANCE[workload.figure], ROTATION_TOLERANCE])
        met.append(bool((np.array(errors) <= allowed).all()))
    return met
