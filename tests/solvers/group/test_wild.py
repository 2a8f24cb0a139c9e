# SPDX-License-Identifier: GPL-3.0-or-later
"""Wild problems for the solvers that are compiled, solved by the kernel or by NumPy; `make kernel-fuzz` solves more."""

from wild import faults, wild

SINGULAR = (102, 168, 225)  # where rounding loses what a clip's goals ask for


def test_wild_problems_get_finite_answers_inside_limits_that_are_no_worse_than_the_start() -> None:
    """Of any scale, out of reach, with bones without length, all kinds of goals, and bad numbers in a frame beside."""
    wrong = {seed: found for seed in (*range(1, 21), *SINGULAR) if (found := faults(wild(seed)))}
    assert not wrong
