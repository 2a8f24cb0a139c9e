# SPDX-License-Identifier: GPL-3.0-or-later
"""Any number of iterations may be asked for: a search ends where it gains nothing more."""

import pytest
from skeletons import chain

import solvers as ik
from solvers.model.numbers import LARGEST

MOST = 1000  # iterations that a solver takes on these targets, whatever it may take


def arm() -> ik.Skeleton:
    """A shoulder, an elbow that bends one way, a wrist with limits, and a hand."""
    return ik.Skeleton([
        ik.Joint("shoulder", -1, "ball", (0, 0, 0)),
        ik.Joint("elbow", 0, "hinge", (0, 1, 0), axis=(1, 0, 0), limits=ik.Range(0, 2.5)),
        ik.Joint("wrist", 1, "ball", (0, 1, 0), limits=ik.TwistSwing((-0.5, 0.5), (-1, 1), (-1, 1))),
        ik.Joint("hand", 2, "fixed", (0, 0.5, 0)),
    ])  # fmt: skip


@pytest.mark.compiled
@pytest.mark.parametrize(("kernel", "pull"), [(True, 0.0), (False, 1e-5)])
@pytest.mark.parametrize("solver", [*ik.SOLVERS, "CCD by a unit angle"])
def test_a_target_out_of_reach_ends_the_search_of_every_solver(solver: str, pull: float, kernel: bool) -> None:
    """With a thousand million iterations, too."""
    name, _, unit = solver.partition(" ")
    turned = None, (0.3, 0.5, 0.1, 0.7)
    for skeleton, place, rotation in ((arm(), (2.0, 3.0, 1.0), turned[kernel]),
                                      (chain(12, length=0.3), (9.0, 3.0, 1.0), turned[not kernel])):  # fmt: skip
        goal = ik.Goal(len(skeleton) - 1, position=place, rotation=rotation)
        options = ik.Options(iterations=LARGEST, pull=pull, unit_angle=0.1 if unit else None)
        try:
            solve = ik.prepare(skeleton, [goal], name, options)
        except ik.InvalidGoal:
            continue
        if not kernel:
            solve.compiled = None
        solution = solve([place], [rotation or (1, 0, 0, 0)])
        assert solution.iterations < MOST
        assert not solution.converged


def test_a_search_that_still_gains_goes_on() -> None:
    """Slow steps that lead to a target in reach are all taken: the transpose meets it to a millionth."""
    skeleton = chain(6, length=0.3)
    options = ik.Options(iterations=LARGEST, tolerance=1e-6)
    solution = ik.solve(skeleton, [ik.Goal(5, position=(0.5, 0.6, 0.7))], None, "TRANSPOSE", options)
    assert solution.converged
