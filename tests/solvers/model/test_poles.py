# SPDX-License-Identifier: GPL-3.0-or-later
"""Poles: their angle by hand geometry, its gradient by differences, and the swivel that makes it zero."""

import math

import numpy as np
import pytest

from solvers.space import poles


def rows(*points: tuple) -> list[np.ndarray]:
    """Points as arrays of one frame."""
    return [np.array([point], dtype=float) for point in points]


@pytest.mark.parametrize(("middle", "angle"), [
    ((0, 1, 1), 0.0), ((1, 1, 0), 0.5), ((-1, 1, 0), -0.5), ((1, 1, 1), 0.25), ((1, 1, -1), 0.75),
])  # fmt: skip
def test_the_angle_is_from_the_pole_to_the_middle_about_the_line(middle: tuple, angle: float) -> None:
    """For a limb up Y and a pole toward Z, a middle toward X is at a quarter turn, by the right-hand rule about Y."""
    found, _ = poles.angles_and_gradients(*rows((0, 0, 0), middle, (0, 2, 0), (0, 1, 5)))
    assert found[0] == pytest.approx(angle * math.pi, abs=0.01)  # a limb bent this far has next to no fading


def test_the_offset_is_where_the_middle_should_be_from_the_pole() -> None:
    """With an offset of a quarter turn, a middle at a quarter turn from the pole has no error."""
    for middle, angle in [((1, 1, 0), 0.0), ((0, 1, 1), -0.5), ((1, 1, -1), 0.25)]:
        found, _ = poles.angles_and_gradients(*rows((0, 0, 0), middle, (0, 2, 0), (0, 1, 5)), 0.5 * math.pi)
        assert found[0] == pytest.approx(angle * math.pi, abs=0.01)


def test_the_error_fades_out_on_a_straight_limb() -> None:
    """For any pole, a middle on the line has an error of 0, and one near it a small error."""
    sizes = [poles.angles_and_gradients(*rows((0, 0, 0), (bend, 1, 0), (0, 2, 0), (0, 1, 5)))[0][0]
             for bend in (0.0, 1e-5, 1e-3, 0.3)]  # fmt: skip
    assert sizes[0] == 0
    assert 0 < sizes[1] < 0.01
    assert sizes[1] < sizes[2] < sizes[3] < 0.5 * math.pi


@pytest.mark.parametrize("points", [
    ((0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 1, 5)),  # a straight limb
    ((0, 0, 0), (1, 1, 0), (0, 2, 0), (0, 5, 0)),  # a pole on the line
    ((0, 0, 0), (1, 1, 0), (0, 0, 0), (0, 1, 5)),  # an end on the root
    ((0, 0, 0), (0, 0, 0), (0, 2, 0), (0, 1, 5)),  # a zero-length bone
    ((0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)),  # all in one place
])  # fmt: skip
def test_degenerate_limbs_and_poles_have_finite_angles_and_gradients(points: tuple) -> None:
    """No NaN, no infinity, no angle beyond a half turn."""
    angle, gradient = poles.angles_and_gradients(*rows(*points))
    assert abs(angle[0]) <= math.pi
    assert np.isfinite(gradient).all()


def test_a_straight_limb_and_a_pole_on_its_line_ask_for_no_swivel() -> None:
    """With the middle or the pole on the line the swivel is 0, whatever the last digits are."""
    line, aside = np.random.default_rng(4).normal(size=(2, 50, 3))
    on_line, root = 0.3 * line, np.zeros_like(line)
    for middle, pole in [(on_line, aside), (aside, on_line), (on_line * (1 + 1e-15 * aside), aside)]:
        assert not poles.swivel_vector(root, middle, line, pole, 0.4).any()
    single = on_line.astype(np.float32) * (1 + np.float32(1e-7) * aside.astype(np.float32))  # as Blender has them
    assert not poles.swivel_vector(root, single, line.astype(np.float32), aside, 0.4).any()
    far = [(points + 40.0).astype(np.float32).astype(float) for points in (root, on_line, line, aside)]
    assert not poles.swivel_vector(*far, 0.4).any()  # and far from the origin


def test_a_pole_has_no_say_where_its_limb_has_no_length() -> None:
    """Root, middle and end in one place, up to rounding: no angle, no gradient, no turn."""
    generator, place = np.random.default_rng(3), np.array([0.3, -0.8, 0.5])
    a, m, b = (place + 1e-16 * generator.normal(size=(50, 3)) for _ in range(3))
    pole = np.tile(place + np.array([0.2, 0.4, -1.0]), (50, 1))
    angle, gradient = poles.angles_and_gradients(a, m, b, pole, 0.4)
    assert not angle.any()
    assert not gradient.any()
    assert not poles.swivel_vector(a, m, b, pole, 0.4).any()
