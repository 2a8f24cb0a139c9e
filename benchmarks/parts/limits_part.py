# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares ways to enforce limits on the same solves. Everything else, including the outer iteration, is the same.

    none             limits are ignored: the reference for the others
    clamp            the step of damped least squares, then every joint moved inside its limits
    penalty          error rows that grow with how far a joint is outside, soft or stiff (Soch & Lorencz 1.4.3)
    new variables    x = middle + half sin(y): no y is outside (Soch & Lorencz 1.4.2)
    sweeps           Gauss-Seidel, joint by joint, each projected on its limits at once (Kenwright)
    active set       joints that the step moves outside are put on their limit, and the others are solved again: DLS
    PGS              the active set; sweeps find joints that should leave their limit, and exact steps follow

Poses of `none` and `penalty` can end outside. They are moved inside before they are judged.
"""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import judge
import numpy as np
import plots
import workloads
from matplotlib import pyplot as plt
from report import Result, Row, number
from workload_suite import Workload, seven_joint_arm

import solvers as ik
from solvers.iterate.descent import Inner, Minimise, Minimum, Settings, damped
from solvers.iterate.linear_step import LinearSystem, free_step
from solvers.methods import dls, pgs
from solvers.methods.table import Method, offer
from solvers.model.goals import Targets
from solvers.space.joint_space import JointSpace, State
from solvers.space.point import Point, Request, evaluate
from solvers.space.tasks import ROTATION_LENGTH, Kinematics, Tasks

SEED = 11
SOFT, STIFF = 0.3, 10.0  # weight of a radian outside, relative to a radian of a goal's rotation
OUTSIDE = 1e-3  # [rad or share of the skeleton's length] outside the limits: tolerance of a solve with penalties
SWEEPS = 10  # of Gauss-Seidel, without exact steps between them
STEPS = 20  # frames from one pose of a motion to the next
KNOTS = 3
WIDE = 1.6  # of the limits: of poses drawn from this range and clipped, over a third of the joints are on a limit
FIGURES = {"arm": (1e-3, 100, 8), "hand": (2e-4, 40, 6), "body": (1e-3, 10, 3)}  # tolerance [m], cold targets, motions
ROTATION_TOLERANCE = 1e-2  # [rad]
BEYOND = "cold, beyond limits"


# -- the ways ---------------------------------------------------------------------------------------------------------


def clamped(system: LinearSystem) -> np.ndarray:
    """The free step, each joint then moved inside its limits."""
    return system.space.project(system.x + free_step(system)) - system.x


def swept(system: LinearSystem) -> np.ndarray:
    """Projected Gauss-Seidel sweeps from a step of 0."""
    return pgs.sweeps(system, np.zeros_like(system.x), pgs.block_inverses(system), SWEEPS)


def substituted(system: LinearSystem) -> np.ndarray:
    """The free step of `y`, where `x = middle + half sin(y)` between the limits of hinges and slides."""
    space = system.space
    middle, half = 0.5 * (space.hi + space.lo), 0.5 * (space.hi - space.lo)
    y = np.arcsin(np.clip((system.x - middle) / half, -1.0, 1.0))
    slope = half * np.cos(y)
    turned = replace(system, jacobian=system.jacobian * slope[:, None, :])
    return middle + half * np.sin(y + free_step(turned)) - system.x


class PenaltyTasks:
    """Goals, and a row for each coordinate: `weight` times how far it is outside its limits (hinges and slides)."""

    def __init__(self, tasks: Tasks, space: JointSpace, weight: float) -> None:
        self.tasks, self.space, self.poles = tasks, space, None
        self._weight = weight * np.where(space.turns, ROTATION_LENGTH, 1.0 / tasks.length)
        self._x = np.zeros((0, space.n))

    def __getattr__(self, name: str) -> object:
        """What is no error and no Jacobian, as the goals have it."""
        return getattr(self.tasks, name)

    def kinematics(self, state: State, links: np.ndarray | None) -> Kinematics:
        """The goals' kinematics. Stores the coordinates, because the next call of `errors` does not get them."""
        self._x = state.x
        return self.tasks.kinematics(state, links)

    def errors(self, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """The goals' rows (F, m), then the penalties' (F, n)."""
        outside = self.space.project(self._x) - self._x
        return np.concatenate([self.tasks.errors(kinematics, targets), self._weight * outside], -1)

    def jacobian(self, state: State, kinematics: Kinematics, targets: Targets) -> np.ndarray:
        """Of both, (F, m + n, n)."""
        outside = self.space.project(state.x) != state.x
        rows = (self._weight * outside)[:, :, None] * np.eye(self.space.n)
        return np.concatenate([self.tasks.jacobian(state, kinematics, targets), rows], 1)

    def within(
        self, error: np.ndarray, tolerance: float, rotation_tolerance: float, leading: bool = False
    ) -> np.ndarray:
        """Frames (F,) with their goals met and no joint outside by more than the tolerance."""
        inside = np.abs(error[:, self.tasks.m :]) <= ROTATION_LENGTH * OUTSIDE * self._weight / self._weight.min()
        return inside.all(-1) & self.tasks.within(error[:, : self.tasks.m], tolerance, rotation_tolerance, leading)


def penalised(weight: float) -> Minimise:
    """The damped iteration on goals and penalties together."""
    free = damped(free_step)

    def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
        penalty_tasks = PenaltyTasks(tasks, space, weight)
        found = free(penalty_tasks, space, settings, evaluate(penalty_tasks, start.state, frames), frames)
        return Minimum(evaluate(tasks, found.point.state, frames), found.iterations, found.cost)

    return minimise


def way(what: Inner | Minimise, is_step: bool = True) -> Method:
    """A way to enforce limits, as a solver that a stage can use."""
    return Method(damped(what) if is_step else what, continues=True)


WAYS = {
    "none": way(free_step),
    "clamp": way(clamped),
    "penalty, soft": way(penalised(SOFT), is_step=False),
    "penalty, stiff": way(penalised(STIFF), is_step=False),
    "new variables": way(substituted),
    "sweeps": way(swept),
    "active set (DLS)": way(dls.step),
    "PGS": way(pgs.step),
}


# -- the solves -------------------------------------------------------------------------------------------------------


class Summarised(Result):
    """A result that is shown with its summary below it."""

    def table(self) -> str:
        """Both tables."""
        return f"{super().table()}\n\n{summary(self.rows).table()}"


def summary(rows: Sequence[Row]) -> Result:
    """A row for each way: its means over the figures, ratios to PGS as geometric means."""

    def of(way: str, measure: str, *titles: str) -> np.ndarray:
        chosen = [row for row in rows if row["way"] == way and (not titles or row["workload"] in titles)]
        return np.array([row[measure] for row in chosen])

    def to_pgs(way: str, measure: str, *titles: str) -> float:
        return float(np.exp(np.mean(np.log(of(way, measure, *titles) / of("PGS", measure, *titles)))))

    titles = list(dict.fromkeys(row["workload"] for row in rows))
    shown = [title for title in titles if title != BEYOND]
    lines = [
        {"way": way, "outside_max": of(way, "outside_max").max(), "left": to_pgs(way, "left_mean_mm", BEYOND),
         "steps": to_pgs(way, "steps_mean"), "cpu": to_pgs(way, "cpu_ms_mean"),
         **{title: of(way, "met_inside", title).mean() for title in shown}}
        for way in dict.fromkeys(row["way"] for row in rows)
    ]  # fmt: skip
    return Result(lines, [
        ("way", lambda row: str(row["way"])),
        *((title, number(title, ".0f", 100.0, " %")) for title in shown),
        ("outside, worst", number("outside_max", ".0e")),
        (f"{BEYOND}: left, to PGS", number("left", ".2f")),
        ("steps, to PGS", number("steps", ".2f")),
        ("CPU, to PGS", number("cpu", ".2f")),
    ])  # fmt: skip


def run(arguments: Namespace) -> Result:
    """Measure every way on every workload, and draw them."""
    offer("ways", {_solver(name): "" for name in WAYS})
    for name, method in WAYS.items():  # where the table imports a solver from
        module = ModuleType(f"ways.{_solver(name).lower()}")
        module.METHOD, sys.modules[module.__name__] = method, module
    rows = [row for figure in FIGURES for title, parts in _workloads(figure)
            for row in _measured(figure, title, parts)]  # fmt: skip
    draw(rows, arguments.pictures / "limits.png")
    return Summarised(rows, [
        ("workload", lambda row: f"{row['figure']}, {row['workload']}"),
        ("way", lambda row: str(row["way"])),
        ("solves", number("solves", ".0f")),
        ("met", number("met", ".1f", 100.0, " %")),
        ("met inside", number("met_inside", ".1f", 100.0, " %")),
        ("outside, worst", number("outside_max", ".0e")),
        ("left, mean mm", number("left_mean_mm", ".3f")),
        ("steps, median", number("steps_median", ".0f")),
        ("95 %", number("steps_p95", ".0f")),
        ("CPU ms", number("cpu_ms_mean", ".2f")),
    ])  # fmt: skip


def _workloads(figure: str) -> Iterator[tuple[str, list[Workload]]]:
    """Motions, warm-started, and single poses from the middle of the limits; along and beyond the limits, too."""
    makers = {"arm": lambda: seven_joint_arm(wide=False), "hand": workloads.hand, "body": workloads.body}
    skeleton, goals = makers[figure]()
    tolerance, cold, motions = FIGURES[figure]
    generator = np.random.default_rng([SEED, *figure.encode()])
    lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in skeleton.joints]).T
    middle = workloads.posed(skeleton, 0.5 * (lo + hi))

    def workload(x: np.ndarray, coherent: bool) -> Workload:
        places, turns = workloads.targets(skeleton, goals, x)
        start = workloads.posed(skeleton, x[0]) if coherent else middle
        return Workload(figure, skeleton, goals, tolerance, ROTATION_TOLERANCE, start, places, turns, coherent)

    def drawn(count: int, share: float) -> np.ndarray:
        return workloads.coordinates(skeleton, generator, count, share)

    def motion(share: float) -> np.ndarray:
        return np.clip(workloads.motion(drawn(KNOTS, share), STEPS), lo, hi)

    yield "motion", [workload(motion(0.7), True) for _ in range(motions)]
    yield "motion along limits", [workload(motion(WIDE), True) for _ in range(motions)]
    yield "cold", [workload(drawn(cold, 1.0), False)]
    yield "cold, on limits", [workload(np.clip(drawn(cold, WIDE), lo, hi), False)]
    yield BEYOND, [workload(drawn(cold, WIDE), False)]


def _measured(figure: str, title: str, parts: Sequence[Workload]) -> Iterator[Row]:
    """A row for each way."""
    first = parts[0]
    options = ik.Options(tolerance=first.tolerance, rotation_tolerance=first.rotation_tolerance, pull=0.0)
    space = ik.prepare(first.skeleton, first.goals).stages[0].space
    allowed = judge.ROUNDING * np.array([first.tolerance, first.rotation_tolerance])
    for name in WAYS:
        began = time.thread_time()
        solved = [_solved(part, _solver(name), options) for part in parts]
        seconds = time.thread_time() - began
        raw = _judged(parts, [[solution.pose for solution in some] for some in solved])
        inside = _judged(parts, [[_inside(space, solution.pose) for solution in some] for some in solved])
        left = np.hypot(inside["distances"], ROTATION_LENGTH * first.skeleton.length * inside["angles"])
        steps = np.array([solution.iterations for some in solved for solution in some])
        near = (raw["distances"] <= allowed[0]) & (raw["angles"] <= allowed[1])
        yield {
            "figure": figure, "workload": title, "way": name, "solves": len(steps), "met": float(near.all(-1).mean()),
            "met_inside": float(inside["met"].mean()), "outside_max": float(raw["outside"].max()),
            "left_mean_mm": float(1000.0 * left.mean()), "left_max_mm": float(1000.0 * left.max()),
            "steps_mean": float(steps.mean()), "steps_median": float(np.median(steps)),
            "steps_p95": float(np.percentile(steps, 95)), "cpu_ms_mean": 1000.0 * seconds / len(steps),
        }  # fmt: skip


def _solver(way: str) -> str:
    """The name under which a way to hold a limit stands among the solvers."""
    return f"LIMITS_{way.upper().replace(' ', '_')}"


def _judged(parts: Sequence[Workload], poses: Sequence[Sequence[ik.Pose]]) -> dict[str, np.ndarray]:
    """The verdicts on all parts' poses, by their fields, in one array each."""
    verdicts = [vars(judge.judged(part, some, range(len(some)))) for part, some in zip(parts, poses, strict=True)]
    return {name: np.concatenate([verdict[name] for verdict in verdicts]) for name in verdicts[0]}


def _solved(workload: Workload, solver: str, options: ik.Options) -> list[ik.Solution]:
    """Solve frames one at a time: each from the one before, or each from the same start."""
    if workload.coherent:
        motion = workload.positions, workload.rotations, workload.start
        return ik.solve_frames(workload.skeleton, workload.goals, *motion, solver, options)
    prepared = ik.prepare(workload.skeleton, workload.goals, solver, options)
    targets = zip(workload.positions, workload.rotations, strict=True)
    return [prepared(places, turns, workload.start) for places, turns in targets]


def _inside(space: JointSpace, pose: ik.Pose) -> ik.Pose:
    """A pose of figures without slides, with its joints moved inside their limits."""
    return ik.Pose(space.state(pose).rotations[0], pose.translations)


# -- the picture ------------------------------------------------------------------------------------------------------

PANELS = [
    ("met_inside", "goals met, inside the limits", 100.0, "%"),
    ("left_mean_mm", "error left, mean", 1.0, "mm"),
    ("cpu_ms_mean", "processor time of a solve", 1.0, "ms"),
]
MARKS = ["o", "s", "^", "D", "v"]
COLOURS = ["#1f77b4", "#17becf", "#ff7f0e", "#d62728", "#7f6000"]


def draw(rows: Sequence[Row], path: Path) -> None:
    """For each figure and measure a line for each way, on it a mark for each workload."""
    titles = list(dict.fromkeys(row["workload"] for row in rows))
    names = list(dict.fromkeys(row["way"] for row in rows))
    with plots.style():
        figure, grid = plt.subplots(
            len(PANELS), len(FIGURES), figsize=(13.0, 9.5), sharey=True, squeeze=False, layout="constrained"
        )
        for (measure, label, scale, unit), line in zip(PANELS, grid, strict=True):
            for who, ax in zip(FIGURES, line, strict=True):
                for place, title in enumerate(titles):
                    some = [row for row in rows if row["figure"] == who and row["workload"] == title]
                    values = [max(scale * row[measure], 1e-4) for row in some]
                    heights = [names.index(row["way"]) + 0.12 * (place - 2) for row in some]
                    ax.plot(values, heights, MARKS[place], color=COLOURS[place], label=title)
                ax.set_title(f"{who}: {label}")
                ax.set_xlabel(unit)
                ax.set_xscale("linear" if unit == "%" else "log")
                ax.set_yticks(range(len(names)), names)
        grid[0, 0].invert_yaxis()
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(titles))
        plots.save(figure, path)
        plt.close(figure)
