# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of every function of the kernel, with what Python packs for them."""

import importlib.util
import json
import sys
from ctypes import addressof
from pathlib import Path
from types import ModuleType

import bodied
import golden
import numpy as np
from drawn import drawn
from image import Image
from kernel_and_numpy import asked, filled

import solvers as ik
from solvers.compiled import clip
from solvers.compiled.apart import CompiledApart
from solvers.compiled.declare import Packer
from solvers.compiled.library import load
from solvers.compiled.structures import BAND, CLIP_MOTION
from solvers.model.frames import asking
from solvers.model.goals import Targets

ROWS = json.loads(golden.STORED.read_text(encoding="utf-8"))
"""Solver, seed and stored answer of the golden problems."""
_CLIP = 6  # frames


def layout(image: Image) -> None:
    """The contract that the library was made for."""
    image.call("dqik_layout", result="layout")


def goldens(image: Image) -> None:
    """Fixed problems, for which `golden.json` has answers: a frame is solved afresh, and some are followed."""
    for solver, seed, _ in ROWS:
        problem = golden.problem(solver, seed)
        targets, start, links = asked(problem, golden.FRAMES, seed)
        prepared = ik.Prepared(problem.skeleton, problem.goals, problem.solver, problem.options)
        stages, name = prepared.compiled, f"{solver} {seed}"
        assert stages is not None
        first, frames = filled((targets.take(slice(0, 1)), start, links[:1])), filled((targets, start, links))
        motion, work = stages.motion(), image.work(len(stages.memory.doubles))
        image.hold(stages.packer, motion._packer, motion._last)
        image.compare(f"{name} first", first)
        image.compare(f"{name} frames", frames)
        image.call("dqik_work", stages.address, result=f"{name} work")
        image.call("dqik_solve", stages.address, first.address, 0, 1, work)
        image.call("dqik_follow", stages.address, motion._address, frames.address, 0, golden.FRAMES, work)


def golden_numbers(results: dict[str, np.ndarray], solver: str, seed: int) -> list[float]:
    """A problem's answer as `golden.json` stores it."""
    found = list[float]()
    for label in ("first", "frames"):
        turns, places = (results[f"{solver} {seed} {label}: {name}"][-1] for name in ("rotations", "translations"))
        found += [*np.where(turns[..., :1] < 0.0, -turns, turns).ravel().tolist(), *places.ravel().tolist()]
    return found


def contacts(image: Image) -> None:
    """A person whose hands lead through the body, in solved frames: how deep, and pushed apart."""
    skeleton, capsules = bodied.person()
    bodies = ik.Contacts(capsules, [ik.Plane((0, 0, 0), (0, 0, 1))])
    prepared = ik.Prepared(skeleton, bodied.goals(), "PGS", ik.Options(), bodies)
    apart, places = prepared.apart, bodied.motion(12)
    assert isinstance(apart, CompiledApart)
    own = prepared.targets(places, np.tile([1.0, 0.0, 0.0, 0.0], (*places.shape[:2], 1)))
    rest = skeleton.rest_pose()
    frames = asking(_spread(own, len(places)), ik.Pose(*(part[None] for part in rest)), skeleton.links)
    prepared.numpy.solve_into(frames)
    overlaps, work = np.zeros((2, len(frames))), image.work(len(apart.memory.doubles))
    image.hold(apart._packer)
    image.compare("overlaps", overlaps)
    image.compare("apart", frames)
    image.call("dqik_contacts_work", *apart._addresses, result="work")
    common = *apart._addresses, frames.address, 0, len(frames)
    image.call("dqik_overlaps", *common, overlaps[0].ctypes.data, work)
    image.call("dqik_push_apart", *common, overlaps[1].ctypes.data, work, None)


def _spread(targets: Targets, frames: int) -> Targets:
    """Targets whose points are given for each frame."""
    points = targets.points
    return targets if points is None else targets._replace(points=np.broadcast_to(points, (frames, *points.shape[1:])))


def _natural() -> ModuleType:
    """The figures of `tests/test_natural_pose.py`, of whose name there is another file."""
    path = Path(__file__).parents[1] / "test_natural_pose.py"
    spec = importlib.util.spec_from_file_location("figures_of_natural_pose", path)
    assert spec is not None and spec.loader is not None
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def natural_pose(image: Image) -> None:
    """Base poses of a figure from rest and from an animator's pose."""
    natural = _natural()
    rig = natural.rig()
    generator = np.random.default_rng(1)
    posed = rig.rest.rotations + 0.1 * generator.normal(size=rig.rest.rotations.shape)
    posed[:, 0] = (1.0, 0.0, 0.0, 0.0)
    posed /= np.linalg.norm(posed, axis=-1, keepdims=True)
    for label, turns in (("rest", rig.rest.rotations), ("posed", posed)):
        prior = natural.Prior(rig.figure).compiled
        targets, start = rig.targets(natural.REACH, natural.TURN), rig.pose(turns)
        arrays = [
            np.ascontiguousarray(part)
            for part in (*start, rig.links, targets.positions, targets.rotations, np.ones(1))
        ]  # fmt: skip
        base, moved = np.zeros_like(turns), targets.positions.copy()
        image.hold(prior._packer, *arrays, moved)
        image.compare(label, base)
        counts = 1, 1, 1, len(rig.goals)
        image.call("dqik_figure_base", prior._figure, prior._start, *counts, *(one.ctypes.data for one in arrays), 0.0,
                   base.ctypes.data, moved.ctypes.data)  # fmt: skip


def bands(image: Image) -> None:
    """Linear systems of whole clips, of one, some and many unknowns."""
    generator, kernel = np.random.default_rng(1), load()
    assert kernel is not None
    for frames, n in ((17, 1), (16, 7), (30, 40)):
        blocks = [generator.normal(size=(frames - k, n, n)) for k in range(3)]
        blocks[0] = blocks[0] + np.swapaxes(blocks[0], 1, 2) + 12.0 * (n + 3) * np.eye(n)
        x, packer, label = generator.normal(size=(frames, n)), Packer(), f"{frames} frames of {n}"
        band = addressof(packer.fill(BAND, frames=frames, n=n, diagonal=blocks[0], first=blocks[1], second=blocks[2]))
        work = image.work(kernel.clip_band_work(frames, n))
        image.hold(packer)
        image.compare(label, x)
        image.call("dqik_clip_band_work", frames, n, result=f"{label}: work")
        image.call("dqik_clip_band_begin", band, work)
        for half in (0, 1):
            image.call("dqik_clip_band_half", band, x.ctypes.data, work, half, result=f"{label}: half {half}")
        image.call("dqik_clip_band_join", band, x.ctypes.data, work, result=f"{label}: joined")


def clips(image: Image) -> None:
    """Error rows, Jacobians, smoothness and a step of all frames, of stages as they are drawn."""
    for seed in range(8):
        problem, generator = drawn(seed), np.random.default_rng(seed)
        prepared = ik.Prepared(problem.skeleton, problem.goals, "PGS", problem.options)
        targets, _, links = asked(problem, _CLIP, seed)
        for number, stage in enumerate(prepared.stages):
            own = clip.compiled_stage(prepared, number) if stage.space.n else None
            if own is not None:
                rows = clip.CompiledRows(own, targets.of_goals(stage.indices), links)
                _clip(image, f"{seed} {number}", own, rows, problem.start, generator)


def _clip(
    image: Image, label: str, own: clip.CompiledStage, rows: clip.CompiledRows, start: ik.Pose,
    generator: np.random.Generator,
) -> None:  # fmt: skip
    """A stage's calls, in states about a start."""
    space, n, every = own.stage.space, own.stage.space.n, own.stage.tasks.all
    at = space.state(start, _CLIP)
    state, base = (space.step(at, 0.2 * generator.normal(size=(_CLIP, n)) * space.units) for _ in range(2))
    turns, x = np.array(state.rotations, order="C"), np.array(state.x, order="C")
    d, packer = 0.1 * generator.normal(size=(_CLIP, n)), Packer()
    motion = packer.fill(
        CLIP_MOTION, frames=_CLIP, corrects=True, weight=0.7, far=0.5, near=generator.uniform(size=len(space.blocks)),
        rotations=turns, x=x, base_rotations=base.rotations, base_x=base.x,
    )  # fmt: skip
    results = {
        "rows": np.zeros((_CLIP, every)), "columns": np.zeros((_CLIP, n, every)), "costs": np.zeros(len(space.blocks)),
        "gradient": np.zeros((_CLIP, n)), **{f"block {k}": np.zeros((_CLIP - k, n, n)) for k in range(3)},
        "moved turns": turns, "moved x": x,
    }  # fmt: skip
    image.hold(own._packer, packer, rows._arrays, d)
    for name, array in results.items():
        image.compare(f"{label} {name}", array)
    found, columns, *smoothness, to_turns, to_x = (one.ctypes.data for one in results.values())
    work = image.work(len(own.memory.doubles))
    image.call("dqik_clip_rows", own.address, rows._arrays.address, 0, _CLIP, to_turns, to_x, found, columns, work)
    image.call("dqik_clip_smoothness", own.address, addressof(motion), 0, len(space.blocks), *smoothness)
    image.call("dqik_clip_step", own.address, 0, _CLIP, d.ctypes.data, to_turns, to_x)


PARTS = {one.__name__: one for one in (layout, goldens, contacts, natural_pose, bands, clips)}
