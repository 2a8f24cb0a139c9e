# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole clips beside the same motions solved frame by frame, afresh (*Pose*) and from the frame before (*Previous*).

The captured example clip, with and without limits and rotations, and drawn motions of a body with limits. Of each: the
worst miss, the mean squared acceleration of the joints relative to frame by frame, the largest pop, and times.
"""

import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import captured
import numpy as np
import workloads
from report import Result, Row, number
from scipy.spatial.transform import Rotation

import solvers as ik

CLIP = Path(__file__).resolve().parents[2] / "examples" / "cmu_01_01.bvh"
DRAWN, FRAMES, SHARE = 20, 60, 0.7
WAYS = ("pose", "previous", "clip")


def run(arguments: Namespace) -> Result:
    """Measure all motions."""
    rows = [*_captured(arguments.frames), *(_drawn(seed) for seed in range(DRAWN))]
    rows.append(_median("median of drawn", rows[-DRAWN:]))
    return Result(rows, [
        ("motion", lambda row: str(row["motion"])),
        ("acceleration / Pose", number("to_pose", ".2f")),
        ("/ Previous", number("to_previous", ".2f")),
        ("worst miss, frame by frame", number("miss_frames", ".1e")),
        ("clip", number("miss_clip", ".1e")),
        ("pop, captured", number("pop_captured", ".1f", 1.0, " deg")),
        ("Pose", number("pop_pose", ".1f", 1.0, " deg")),
        ("Previous", number("pop_previous", ".1f", 1.0, " deg")),
        ("clip", number("pop_clip", ".1f", 1.0, " deg")),
        ("Pose", number("ms_pose", ".2f", 1.0, " ms")),
        ("Previous", number("ms_previous", ".2f", 1.0, " ms")),
        ("clip", number("ms_clip", ".2f", 1.0, " ms")),
    ])  # fmt: skip


def _captured(frames: int) -> Iterator[Row]:
    """So many frames of the clip, 0 for all."""
    for limited in (False, True):
        for turns in (False, True):
            work = captured.read(CLIP, limited, turns)
            own = slice(0, frames or None)
            title = f"captured, {'poses' if turns else 'places'}, {'limits' if limited else 'no limits'}"
            options = ik.Options(tolerance=1e-4 * work.skeleton.length, pull=1e-5)
            row = _row(title, work.skeleton, work.goals, work.positions[own], work.rotations[own], work.start, options)
            above = [joint for goal in captured.GOALS for joint in work.skeleton.path(work.skeleton.index(goal))]
            yield {**row, "pop_captured": float(np.degrees(_pops(_steps(work.poses[own]))[:, above].max()))}


def _drawn(seed: int) -> Row:
    """A body with limits, led through random postures; every other one with rotations."""
    skeleton, goals = workloads.body()
    if seed % 2:
        goals = [ik.Goal(goal.joint, (0, 0, 0), offset=goal.offset) for goal in goals]
    x = workloads.motion(workloads.coordinates(skeleton, np.random.default_rng(seed), 3, SHARE), FRAMES // 2)
    targets = workloads.targets(skeleton, goals, x)
    return _row(f"drawn {seed}", skeleton, goals, *targets, workloads.posed(skeleton, x[0]), ik.Options())


def _row(
    title: str, skeleton: ik.Skeleton, goals: list[ik.Goal], positions: np.ndarray, rotations: np.ndarray,
    start: ik.Pose, options: ik.Options,
) -> Row:  # fmt: skip
    """One motion, solved in all ways."""
    asked = skeleton, goals, positions, rotations, start, "PGS"
    fresh = ik.Options(**{**vars(options), "warm_start": False})
    ways = {
        "pose": lambda: ik.solve_frames(*asked, fresh), "previous": lambda: ik.solve_frames(*asked, options),
        "clip": lambda: ik.solve_clip(*asked, options),
    }  # fmt: skip
    row: dict[str, object] = {"motion": title, "frames": len(positions)}
    rough, misses = {}, {}
    for name in WAYS:
        began = time.perf_counter()
        solutions = ways[name]()
        row[f"ms_{name}"] = 1e3 * (time.perf_counter() - began) / len(positions)
        steps = _steps([one.pose for one in solutions])
        rough[name] = float((np.diff(steps, axis=0) ** 2).sum(-1).mean())
        row[f"pop_{name}"] = float(np.degrees(_pops(steps).max()))
        misses[name] = max(max(one.position_errors.max(), one.rotation_errors.max()) for one in solutions)
    return {
        **row, "to_pose": rough["clip"] / rough["pose"], "to_previous": rough["clip"] / rough["previous"],
        "miss_frames": max(misses["pose"], misses["previous"]), "miss_clip": misses["clip"],
    }  # fmt: skip


def _steps(poses: list[ik.Pose]) -> np.ndarray:
    """Turns (F - 1, J, 3) of the joints from frame to frame."""
    turned = [Rotation.from_quat(pose.rotations, scalar_first=True) for pose in poses]
    return np.array([(one.inv() * other).as_rotvec() for one, other in pairwise(turned)])


def _pops(steps: np.ndarray) -> np.ndarray:
    """By how much (F - 3, J) each step is off the mean of the steps beside it."""
    return np.linalg.norm(steps[1:-1] - 0.5 * (steps[2:] + steps[:-2]), axis=-1)


def _median(title: str, rows: list[Row]) -> Row:
    """The median of each number."""
    names = [name for name in rows[0] if name != "motion"]
    return {"motion": title, **{name: float(np.median([row[name] for row in rows])) for name in names}}
