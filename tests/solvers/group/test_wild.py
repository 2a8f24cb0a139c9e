# SPDX-License-Identifier: GPL-3.0-or-later
"""Wild problems for the solvers that are compiled, solved by the kernel or by NumPy; `make kernel-fuzz` solves more."""

from collections.abc import Iterable

import pytest
from measures import with_kernel
from wild import faults, wild

SINGULAR = (102, 168, 225)  # where rounding loses what a clip's goals ask for


@pytest.mark.parametrize("seeds", [(*range(1, 5), *SINGULAR), *with_kernel(range(5, 21))])
def test_wild_problems_get_finite_answers_inside_limits_that_are_no_worse_than_the_start(seeds: Iterable[int]) -> None:
    """Of any scale, out of reach, with bones without length, all kinds of goals, and bad numbers in a frame beside."""
    wrong = {seed: found for seed in seeds if (found := faults(wild(seed)))}
    assert not wrong
