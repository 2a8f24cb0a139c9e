# SPDX-License-Identifier: GPL-3.0-or-later
"""Malformed and extreme questions to the compiled kernel, to be run with its sanitizers.

    gcc -std=c11 -O1 -g -fPIC -fno-math-errno -fsanitize=address,undefined -fno-sanitize-recover=undefined \
        -Ikernel/src -shared kernel/src/*.c kernel/src/*/*.c -o /tmp/libdqik_checked.so -lm
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
        ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 DQIK_KERNEL=/tmp/libdqik_checked.so \
        python tests/kernel/fuzz.py [seconds] [first seed]

The same variables before `python -m pytest tests/solvers` check the whole suite. NumPy's arrays come from malloc, so
that a step over the end of any of them, and of the working memory, is found. A seed that fails is printed: give it as
the first.

Asserted: no crash; finite input gives finite answers inside the limits; input that is not finite gives NaN.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "solvers")]

from drawn import drawn, moving  # noqa: E402
from measures import outside_limits  # noqa: E402

import solvers as ik  # noqa: E402
from solvers.clip import solve_into  # noqa: E402
from solvers.model.frames import asking  # noqa: E402

EXTREMES = [0.0, -0.0, 1e-320, -1e-300, 1e-12, 1.0, 1e9, -1e30, 1e150, -1e300, np.pi, -np.pi]
NO_NUMBERS = [np.nan, np.inf, -np.inf]


def spoil(array: np.ndarray, values: list[float], generator: np.random.Generator) -> None:
    """Overwrite some of an array's numbers."""
    if array.size:
        at = generator.integers(array.size, size=int(generator.integers(1, 4)))
        array.reshape(-1)[at] = generator.choice(values, at.size)


def one(seed: int) -> None:
    """Ask once, in batch and tracked."""
    generator = np.random.default_rng(seed)
    most = int(generator.choice([1, 2, 6, 12, 40, 300], p=[0.1, 0.1, 0.4, 0.3, 0.08, 0.02]))
    problem = drawn(seed, most)
    options = replace(problem.options, restarts=int(generator.choice([0, 0, 2])),
                      iterations=int(generator.choice([0, 1, 5, 12])))  # fmt: skip
    goals = problem.goals if generator.integers(12) else []
    solver = str(generator.choice(["PGS", "DLS", "CCD"]))
    try:
        prepared = ik.Prepared(problem.skeleton, goals, solver, options)
    except ik.DqikError:
        return
    frames = int(generator.choice([1, 2, 20]))
    targets, links = moving(replace(problem, goals=goals), frames, seed) if goals else (
        ik.prepare(problem.skeleton, []).targets(np.zeros((frames, 0, 3)), np.zeros((frames, 0, 4))),
        np.tile(problem.skeleton.links, (frames, 1, 1)),
    )  # fmt: skip
    start = ik.Pose(*(np.tile(part, (frames, 1, 1)) for part in problem.start))
    arrays = [targets.positions, targets.rotations, np.array(targets.poles), *start, links]
    targets = targets._replace(poles=arrays[2])
    kind = generator.choice(["plain", "extreme", "not a number"])
    if kind != "plain":
        for _ in range(int(generator.integers(1, 4))):
            spoil(arrays[generator.integers(6)], EXTREMES if kind == "extreme" else NO_NUMBERS, generator)
    batches = [prepared.solve_batch(targets, start, links)]
    motion = prepared.motion()
    if np.isfinite(batches[0].rotations[0]).all():
        motion.begin(ik.Pose(batches[0].rotations[0], batches[0].translations[0]))
    followed = asking(targets, start, links)
    for _ in range(2):
        motion.solve_into(followed)
        batches.append(followed.batch())
    if most <= 40:
        solve_into(prepared, prepared, followed, corrects=bool(generator.integers(2)))
        batches.append(followed.batch())
    for batch in batches:
        number = np.isfinite(batch.rotations).all((-1, -2))
        assert (number | np.isnan(batch.rotations).all((-1, -2))).all(), "half an answer"
        assert kind == "not a number" or number.all(), "an answer that is no number"
        assert not (batch.converged & ~number).any(), "no number, and converged"
        if kind == "plain":
            moved = np.unique([j for stage in prepared.stages for j in stage.space.joint]).astype(int)
            for joint in moved[:12]:
                pose = ik.Pose(batch.rotations[0], batch.translations[0])
                assert outside_limits(problem.skeleton, pose, joint) < 1e-9, f"joint {joint} outside its limits"


def main(seconds: float, seed: int) -> None:
    """One seed after the other."""
    assert ik.kernel() == "compiled", ik.kernel()
    began, count = time.perf_counter(), 0
    with np.errstate(all="ignore"):
        while time.perf_counter() - began < seconds:
            try:
                one(seed)
            except BaseException:
                print(f"seed {seed}", flush=True)
                raise
            seed, count = seed + 1, count + 1
    print(f"{count} questions, the next seed is {seed}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
