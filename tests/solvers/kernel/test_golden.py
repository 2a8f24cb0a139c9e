# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled solvers still give the answers that are stored, whether the kernel or NumPy solves."""

import json

import numpy as np
import pytest
from golden import CLOSE, SOLVERS, STORED, answers

ROWS = json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("solver", SOLVERS)
def test_answers_are_those_stored(solver: str) -> None:
    """A frame solved afresh and the last one of a motion. `make golden` stores other answers, if that is intended."""
    rows = [(seed, stored) for name, seed, stored in ROWS if name == solver]
    assert len(rows) >= 15
    apart = {seed: float(np.abs(np.subtract(answers(solver, seed), stored)).max()) for seed, stored in rows}
    changed = {seed: difference for seed, difference in apart.items() if not difference <= CLOSE}
    assert not changed, f"{solver}: changed answers by seed: {changed}; `make golden` if that is right"
