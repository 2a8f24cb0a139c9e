# SPDX-License-Identifier: GPL-3.0-or-later
"""The published results that do not take long."""

import numpy as np
import planar
import pytest
from published import FIRST, LENGTHS, extended_jacobian, led_round, pseudo_inverse


@pytest.mark.parametrize("count", [200, 100])
def test_figure_4_of_soch_and_lorencz(count: int) -> None:
    """From the straight start the pseudo-inverse is over 200 units off in its first steps, the other within 7."""
    jump, calm = led_round(pseudo_inverse, count), led_round(extended_jacobian(1.0), count)
    assert jump.errors[:FIRST].max() > 200
    assert calm.errors[:FIRST].max() < 7
    turned = [np.abs(np.diff(turn.angles[: FIRST + 1], axis=0)).max() for turn in (jump, calm)]
    assert turned[0] > np.pi / 2 > np.pi / 9 > turned[1]


def test_the_test_begins_where_the_paper_says() -> None:
    """Straight from (-230, 0), the effector on the ellipse at (400, 0)."""
    assert planar.effector(LENGTHS, np.zeros(6)) - [230, 0] == pytest.approx([400, 0])
    # what a straight chain cannot do at first is move along its own line
    assert led_round(pseudo_inverse, 200).errors[0] == pytest.approx(400 * (1 - np.cos(np.pi / 100)), rel=0.02)
