# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures contacts on drawn motions: a person's hands are led through the body, above a floor and beside obstacles.

Overlaps are measured apart from the solver, by projecting from one axis to the other until it settles. A joint's step
counts as new if it turns more than 15 degrees with contacts and did not without. It is excused where a target crosses
an axis, or the middle of an obstacle: where the direction that leads two bodies apart, which overlap without contacts,
turns more than 20 degrees in this step. Times are processor time, of the fastest of the rounds.
"""

import time
from argparse import Namespace
from itertools import pairwise

import numpy as np
from bodied import depths, goals, motion, person, segments
from measures import turned_by
from report import Result, Row, number

import solvers as ik
from solvers.compiled.apart import CompiledApart
from solvers.group.apart import Apart
from solvers.model import frames
from solvers.model.contacts import pairs_of

MOTIONS, FRAMES = 20, 120
LARGE, CROSSES = 15.0, 20.0  # [degrees]
AFRESH = ik.Options(warm_start=False)
FOOT = [3, 4]  # goals


def run(arguments: Namespace) -> Result:
    """Measure with the kernel, if there is one, and with NumPy on a quarter of the motions."""
    rows: list[Row] = []
    for title, obstacles in _workloads().items():
        prepared = _prepared(obstacles)
        ways = {"NumPy": (max(MOTIONS // 4, 1), 1)}
        if isinstance(prepared.apart, CompiledApart):
            ways = {"kernel": (MOTIONS, arguments.rounds), **ways}
        rows += [_measured(title, way, prepared, *counts) for way, counts in ways.items()]
    return Result(rows, [
        ("workload", lambda row: str(row["workload"])),
        ("way", lambda row: str(row["way"])),
        ("frames pushed", number("pushed", ".0f")),
        ("deepest before", number("before", ".1f", 1e3, " mm")),
        ("after", number("after", ".3f", 1e3, " mm")),
        ("under the floor", number("floor", ".3f", 1e3, " mm")),
        ("new steps over 15 deg", number("new", ".0f")),
        ("not excused", number("bare", ".0f")),
        ("largest of these", number("step", ".0f", 1.0, " deg")),
        ("feet, median move", number("feet", ".2f", 1e3, " mm")),
        ("solve", number("solve", ".3f", 1.0, " ms")),
        ("push", number("push", ".3f", 1.0, " ms")),
        ("nothing near", number("idle", ".4f", 1.0, " ms")),
    ])  # fmt: skip


def _workloads() -> dict[str, list[ik.Plane | ik.Box | ik.Convex]]:
    table = ik.Box((0.1, 0.45, 0.98), (0.9, 0.5, 0.06))
    post = [(x, y, z) for z in (0.0, 1.6) for x, y in ((0.32, 0.3), (0.44, 0.3), (0.38, 0.42))]
    faces = [(0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]
    return {"body, floor": [ik.Plane()], "body, floor, table, post": [ik.Plane(), table, ik.Convex(post, faces)]}


def _prepared(obstacles: list[ik.Plane | ik.Box | ik.Convex]) -> ik.Prepared:
    skeleton, capsules = person()
    return ik.prepare(skeleton, goals(), options=AFRESH, contacts=ik.Contacts(capsules, obstacles))


def _measured(title: str, way: str, prepared: ik.Prepared, motions: int, rounds: int) -> Row:
    skeleton, capsules = person()
    apart = prepared.apart
    assert apart is not None
    plain = apart.numpy if isinstance(apart, CompiledApart) else apart
    apart = plain if way == "NumPy" else apart
    sums = {"pushed": 0, "new": 0, "bare": 0, "before": 0.0, "after": 0.0, "floor": 0.0, "step": 0.0}
    times = {"solve": [], "push": [], "idle": []}
    feet: list[float] = []
    for seed in range(motions):
        targets = prepared.targets(_drawn_motion(seed, FRAMES))
        arrays = frames.asking(targets, prepared.start(None), skeleton.links)
        solver = prepared.compiled or prepared.numpy
        solver.solve_into(arrays)
        free = arrays.batch()
        deep = apart.overlaps(arrays)
        pushed = deep > 1e-6
        _time(times, arrays, free, apart, solver, pushed, rounds)
        arrays.answer(slice(None), free)
        crossings = _crossings(plain, arrays)
        apart.solve_into(arrays)
        before, after = (_poses(one) for one in (free, arrays.batch()))
        steps, steps_before = (_steps(poses) for poses in (after, before))
        new = (steps > LARGE) & (steps_before <= LARGE)
        bare = new & ~crossings[:, None]
        sums["pushed"] += int(pushed.sum())
        sums["new"] += int(new.sum())
        sums["bare"] += int(bare.sum())
        sums["step"] = max(sums["step"], float(steps[bare].max(initial=0.0)))
        sums["before"] = max(sums["before"], _deepest(skeleton, capsules, before))
        sums["after"] = max(sums["after"], _deepest(skeleton, capsules, after))
        sums["floor"] = max(sums["floor"], -_lowest(skeleton, capsules, after))
        moved = np.abs(arrays.position_errors - free.position_errors)[pushed][:, FOOT]
        feet += moved.ravel().tolist()
    least = {name: float(np.mean(values)) if values else None for name, values in times.items()}
    return {"workload": title, "way": way, **sums, **least, "feet": float(np.median(feet))}


def _time(
    times: dict[str, list[float]], arrays: frames.FrameArrays, free: ik.Batch, apart, solver, pushed: np.ndarray,
    rounds: int,
) -> None:  # fmt: skip
    """Add a motion's milliseconds a frame: of solves without contacts, of pushed frames, and of those without near."""
    parts = [arrays.part(frame, frame + 1) for frame in range(len(arrays))]
    near, far = ([part for part, is_pushed in zip(parts, pushed, strict=True) if is_pushed == want]
                 for want in (True, False))  # fmt: skip
    for name, call, some in (
        ("push", apart.solve_into, near), ("idle", apart.solve_into, far), ("solve", solver.solve_into, parts),
    ):  # fmt: skip
        took: list[float] = []
        for _ in range(rounds if some else 0):
            arrays.answer(slice(None), free)
            began = time.process_time()
            for part in some:
                call(part)
            took.append(1e3 * (time.process_time() - began) / len(some))
        times[name] += [min(took)] if took else []


def _poses(batch: ik.Batch) -> list[ik.Pose]:
    return [ik.Pose(*pose) for pose in zip(batch.rotations, batch.translations, strict=True)]


def _steps(poses: list[ik.Pose]) -> np.ndarray:
    """Turns (F - 1, J) of joints from frame to frame [degrees]."""
    return np.degrees([turned_by(a, b) for a, b in pairwise(poses)])


def _pairs(skeleton: ik.Skeleton, capsules: list[ik.Capsule]) -> np.ndarray:
    """Numbers (K, 2) of the capsules that may meet, without those that overlap at rest with few bodies between."""
    joint = np.array([skeleton.index(one.joint) for one in capsules])
    pairs, near = pairs_of(skeleton, ik.Contacts(capsules), joint, np.arange(len(skeleton)))
    at_rest = depths(skeleton, capsules, skeleton.rest_pose())[pairs[:, 0], pairs[:, 1]]
    return pairs[~near | (at_rest <= 0.0)]


def _deepest(skeleton: ik.Skeleton, capsules: list[ik.Capsule], poses: list[ik.Pose]) -> float:
    i, k = _pairs(skeleton, capsules).T
    rest = np.maximum(depths(skeleton, capsules, skeleton.rest_pose())[i, k], 0.0)
    return max(float((depths(skeleton, capsules, pose)[i, k] - rest).max()) for pose in poses)


def _lowest(skeleton: ik.Skeleton, capsules: list[ik.Capsule], poses: list[ik.Pose]) -> float:
    radius = np.array([one.radius for one in capsules])
    return min(
        float((end[:, 2] - radius).min())
        for pose in poses for end in segments(*ik.forward(skeleton, pose), skeleton, capsules)
    )  # fmt: skip


def _crossings(apart: Apart, free: frames.FrameArrays) -> np.ndarray:
    """Steps (F - 1,) in which the direction that leads two overlapping bodies apart turns by more than `CROSSES`."""
    over, normals = apart.directions(free)
    lengths = np.linalg.norm(normals[1:], axis=-1) * np.linalg.norm(normals[:-1], axis=-1)
    turns = (normals[1:] * normals[:-1]).sum(-1) < lengths * np.cos(np.radians(CROSSES))
    return (turns & (over[1:] | over[:-1])).any(-1)


def _drawn_motion(seed: int, count: int) -> np.ndarray:
    """As `bodied.motion`, with hands on smooth closed paths, drawn from a seed, before, beside and through the body."""
    generator = np.random.default_rng(seed)
    places, u = motion(count), np.linspace(0.0, 2.0 * np.pi, count)
    for hand, side in ((1, 1.0), (2, -1.0)):
        middle = (side * generator.uniform(-0.05, 0.3), generator.uniform(0.08, 0.3), generator.uniform(0.85, 1.5))
        waves = sum(generator.normal(size=3) * wave(k * u)[:, None] for k in (1, 2) for wave in (np.cos, np.sin))
        places[:, hand] = np.array(middle) + waves * generator.uniform(0.08, 0.2) / np.abs(waves).max(0)
    return places
