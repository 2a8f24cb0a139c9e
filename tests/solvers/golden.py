# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored answers of the compiled solvers to fixed problems, so that no answer changes unnoticed.

`make golden` stores the present answers, on purpose. Numbers are stored, and not their hash: functions such as sine
differ in their last digit between processors and C libraries, and rounding before hashing only makes that rarer.
Problems whose answer depends on such digits are left out.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import numpy as np  # noqa: E402
from drawn import Problem, drawn  # noqa: E402
from kernel_and_numpy import Question, apart, asked, both, followed, solved  # noqa: E402

import solvers as ik  # noqa: E402
from solvers.model.goals import Targets  # noqa: E402
from solvers.model.solution import Batch  # noqa: E402

STORED = Path(__file__).with_name("golden.json")
SOLVERS = ("PGS", "DLS", "CCD")
COUNT = 20  # problems for each solver
FRAMES = 4  # of the motion that follows the first frame
CLOSE = 1e-6  # [rad or length units]
_DIGITS = 9


def problem(solver: str, seed: int) -> Problem:
    """One of the fixed problems."""
    one = drawn(seed, most=7)
    return replace(one, solver=solver, options=replace(one.options, pull=1e-5))


def answers(solver: str, seed: int) -> list[float]:
    """A frame solved afresh and the last one of a motion: rotations and translations, by the kernel if there is one."""
    one = problem(solver, seed)
    prepared = ik.Prepared(one.skeleton, one.goals, one.solver, one.options)
    return _numbers(_both_ways(prepared, asked(one, FRAMES, seed)))


def _both_ways(prepared: ik.Prepared, question: Question) -> list[Batch]:
    targets, start, links = question
    first = targets.take(slice(0, 1)), start, links[:1]
    return [*solved(prepared, first), followed(prepared, question)[-1]]


def _numbers(batches: list[Batch]) -> list[float]:
    """Rotations with a scalar part that is not negative, then translations."""
    found: list[float] = []
    for batch in batches:
        turns = np.where(batch.rotations[..., :1] < 0.0, -batch.rotations, batch.rotations)
        found += [*turns.ravel().tolist(), *batch.translations.ravel().tolist()]
    return found


def _is_isolated(solver: str, seed: int) -> bool:
    """Whether kernel and NumPy agree, and the answer changes little with its input."""
    one = problem(solver, seed)
    question = targets, start, links = asked(one, FRAMES, seed)
    compiled, plain = both(one)
    answer = _both_ways(compiled, question)
    if apart(answer, _both_ways(plain, question)) > 1e-9 or not _is_signed(answer):
        return False
    generator = np.random.default_rng(seed)
    for _ in range(4):
        positions, rotations, poles, *pose = (
            part + 1e-9 * generator.normal(size=part.shape) for part in (*targets[:3], *start)
        )
        changed = Targets(positions, rotations, poles), ik.Pose(*pose), links
        if apart(answer, _both_ways(compiled, changed)) > 2e-8:
            return False
    return True


def _is_signed(batches: list[Batch]) -> bool:
    """Whether no rotation is so near half a turn that rounding chooses its sign."""
    return all(np.abs(batch.rotations[..., 0]).min() > 1e-4 for batch in batches)


def main() -> None:
    """Choose the problems and store the answers."""
    if ik.kernel() != "compiled":
        sys.exit(f"The answers of the compiled solvers are stored, and there is no kernel: {ik.kernel()}")
    lines = []
    for solver in SOLVERS:
        seeds = [seed for seed in range(3 * COUNT) if _is_isolated(solver, seed)][:COUNT]
        for seed in seeds:
            numbers = [round(number, _DIGITS) for number in answers(solver, seed)]
            lines.append(json.dumps([solver, seed, numbers]))
        print(f"{solver}: {len(seeds)} answers")
    STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"Stored in {STORED.relative_to(ROOT)}: see `git diff --stat` for what has changed.")


if __name__ == "__main__":
    main()
