# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits: what they refuse, and their projections against a dense search and the properties of convex sets."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measures import outside_ellipse
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

import solvers as ik
from solvers import InvalidLimits, Range, TwistSwing
from solvers.model.limits import project_swing, swing_normal

ends = st.floats(-2.5, 2.5, allow_subnormal=False)
points = st.tuples(st.floats(-4, 4), st.floats(-4, 4)).map(np.array)


@st.composite
def ellipses(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Limits `lo`, `hi` (2,): around zero or beside it, wide, thin or closed on a side."""
    pairs = [sorted(draw(st.tuples(ends, ends))) for _ in range(2)]
    closed = draw(st.sampled_from([None, None, None, (0, 0), (0, 1), (1, 0), (1, 1)]))
    if closed:
        which, side = closed
        pairs[which][side] = 0.0
        pairs[which] = sorted(pairs[which])
    lo, hi = np.array(pairs).T
    return lo, hi


def nearest(point: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> float:
    """The distance from a point outside to the boundary, by search over each quadrant's arc."""
    centre = np.clip(0.0, lo, hi)
    best = math.inf
    for sx, sy in [(1, 1), (1, -1), (-1, 1), (-1, -1)]:
        a = hi[0] - centre[0] if sx > 0 else centre[0] - lo[0]
        b = hi[1] - centre[1] if sy > 0 else centre[1] - lo[1]

        def away(t: float, a=sx * a, b=sy * b) -> float:
            return math.hypot(centre[0] + a * math.cos(t) - point[0], centre[1] + b * math.sin(t) - point[1])

        coarse = np.linspace(0, math.pi / 2, 65)
        start = int(np.argmin([away(t) for t in coarse]))
        low, high = coarse[max(start - 1, 0)], coarse[min(start + 1, 64)]
        found = minimize_scalar(away, bounds=(low, high), method="bounded", options={"xatol": 1e-12})
        best = min(best, found.fun, away(coarse[start]))
        if a == 0.0 or b == 0.0:  # a quadrant closed on one side is a segment from the centre to the other's end
            end = np.array([sx * a, sy * b])
            share = np.clip((point - centre) @ end / max(end @ end, 1e-300), 0, 1)
            best = min(best, float(np.linalg.norm(centre + share * end - point)))
    return best


# -- what limits refuse -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Range(2, 1), r"Range.*2.*above.*1"),
    (lambda: Range(math.nan, 1), r"Range.*finite.*nan"),
    (lambda: Range("low", 1), r"Range.*two numbers.*low"),
    (lambda: Range("0", "1"), r"Range.*two numbers.*'0'"),
    (lambda: TwistSwing(twist=(False, True)), r"TwistSwing twist.*two numbers.*False"),
    (lambda: TwistSwing(swing_z=(1, 2, 3)), r"TwistSwing swing_z.*two numbers.*\(1, 2, 3\)"),
    (lambda: TwistSwing(swing_x=3), r"TwistSwing swing_x.*two numbers.*3"),
    (lambda: TwistSwing(swing_x=(-7, 7)), r"TwistSwing swing_x.*full turn.*-7"),
])  # fmt: skip
def test_bad_limits_are_refused_by_name(make, message: str) -> None:
    with pytest.raises(InvalidLimits, match=message):
        make()


def test_limits_cannot_be_changed_once_made() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Range(0, 1).lo = 2


@pytest.mark.parametrize(("span", "free"), [(2 * math.pi, True), (7, True), (2 * math.pi - 1e-6, False), (3, False)])
def test_a_twist_of_a_full_turn_or_more_is_free(span: float, free: bool) -> None:
    """A span just short of a full turn is a limit."""
    assert TwistSwing(twist=(0.3 - span / 2, 0.3 + span / 2)).twist_free is free


def test_a_swing_is_free_where_both_its_axes_span_a_full_turn() -> None:
    """One open axis alone does not make the swing free."""
    full = (-math.pi, math.pi)
    assert TwistSwing().swing_free
    assert TwistSwing().twist_free
    assert TwistSwing(twist=(-1, 1), swing_x=full, swing_z=full).swing_free
    assert not TwistSwing(swing_x=full, swing_z=(-1, 1)).swing_free
    assert not TwistSwing(swing_x=(-1, 1), swing_z=full).swing_free


# -- the ellipse ------------------------------------------------------------------------------------------------------


@given(points, ellipses())
def test_project_swing_finds_the_nearest_point_inside(point: np.ndarray, limits: tuple) -> None:
    """Inside points stay; outside points go to the set, as near as in a dense search over its boundary."""
    lo, hi = limits
    found = project_swing(point, lo, hi)
    assert outside_ellipse(found, lo, hi) <= 1e-12
    if outside_ellipse(point, lo, hi) == 0.0:
        assert_allclose(found, point, rtol=0, atol=1e-12)
    else:
        assert np.linalg.norm(found - point) == pytest.approx(nearest(point, lo, hi), abs=1e-6)


@pytest.mark.parametrize("thin", [1e-2, 1e-4, 1e-6, 1e-9, 1e-13])
@pytest.mark.parametrize("point", [(4.0, 4.0), (0.5, 1.0), (1e-7, 3.0), (3.2, 1e-9), (0.0, 2.0), (3.0, 1e-3)])
def test_project_swing_on_a_thin_ellipse(thin: float, point: tuple) -> None:
    """The nearest point is right for a swing of 180 degrees along one axis and almost none along the other."""
    lo, hi, point = np.array([-math.pi, -thin]), np.array([math.pi, thin]), np.array(point)
    found = project_swing(point, lo, hi)
    assert outside_ellipse(found, lo, hi) <= 1e-12
    # the nearest point of a thin ellipse differs from that of the segment by no more than its thickness
    on_segment = np.array([np.clip(point[0], -math.pi, math.pi), 0.0])
    best = np.linalg.norm(on_segment - point)
    assert best - thin - 1e-12 <= np.linalg.norm(found - point) <= best + 1e-9


def test_project_swing_of_an_ellipse_closed_on_both_axes() -> None:
    """Two single values allow one swing only."""
    lo = hi = np.array([0.2, -0.3])
    assert_allclose(project_swing(np.array([[1.0, 1.0], [0.2, -0.3], [0, 0]]), lo, hi), np.tile(lo, (3, 1)))


def test_swing_normal_points_from_the_boundary_to_what_was_projected() -> None:
    """The direction from the nearest point to the outside point is the outward unit normal, in every quadrant."""
    generator = np.random.default_rng(9)
    directions = generator.uniform(-math.pi, math.pi, 200)
    outside = 4.0 * np.stack([np.cos(directions), np.sin(directions)], -1)
    lo, hi = generator.uniform(-2, -0.1, (200, 2)), generator.uniform(0.1, 2, (200, 2))
    away = outside - project_swing(outside, lo, hi)
    expected = away / np.linalg.norm(away, axis=1, keepdims=True)
    assert_allclose(swing_normal(project_swing(outside, lo, hi), lo, hi), expected, atol=1e-6)


def test_swing_normal_is_zero_inside_and_within_its_slack_of_the_boundary_it_is_not() -> None:
    """A swing counts as on the ellipse from a level of 1 - slack on."""
    lo, hi = np.array([-1.0, -1.0]), np.array([2.0, 1.0])
    swings = np.array([(0, 0), (1.9, 0), (2 - 1e-6, 0), (2 - 1e-12, 0), (2, 0), (-1, 0), (0, -1)])
    expected = [(0, 0), (0, 0), (0, 0), (1, 0), (1, 0), (-1, 0), (0, -1)]
    assert_allclose(swing_normal(swings, lo, hi), expected, atol=1e-15)
    assert_allclose(swing_normal(swings[2], lo, hi, slack=1e-5), [1, 0])


@pytest.mark.parametrize("width", [1e-300, 1e-160, 1e-38, 1e-13, 1e-12, 2e-12, 1e-11])
def test_a_side_of_next_to_no_width_is_closed(width: float) -> None:
    """For any thin side there is no overflow and no NaN: outside points come back to within the width."""
    lo, hi = np.array([0.0, -1.0]), np.array([width, 1.0])
    for point in [(1.0, 0.0), (1.0, 0.5), (-1.0, 2.0), (width, 1.0), (0.5 * width, 0.2)]:
        found = project_swing(np.array(point), lo, hi)
        assert -1e-15 <= found[0] <= width * (1 + 1e-9)
        assert found[1] == pytest.approx(np.clip(point[1], -1, 1), abs=1e-9)
        assert np.isfinite(swing_normal(found, lo, hi)).all()


# -- degrees given for radians -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [(-90, 90), (0, 26), (-26, -25), (-13, 13), (0, 360)])
def test_a_hinges_limits_in_degrees_are_refused(ends: tuple) -> None:
    """Beyond four turns the error says that angles are radians, and converts the values."""
    radians = rf"\({np.radians(ends[0]):.4g}, {np.radians(ends[1]):.4g}\)"
    message = rf"joint 'elbow' limits: .* is more than 4 turns; angles are radians.*np.radians gives {radians}"
    with pytest.raises(ik.InvalidLimits, match=message):
        ik.Skeleton([ik.Joint("elbow", -1, "hinge", (0, 0, 0), limits=ik.Range(*ends))])


@pytest.mark.parametrize("name", ["twist", "swing_x", "swing_z"])
def test_a_balls_limits_in_degrees_are_refused(name: str) -> None:
    """For twist and swing."""
    with pytest.raises(ik.InvalidLimits, match=rf"TwistSwing {name}: \(-45, 45\) is more than 4 turns; .*-0\.7854"):
        ik.TwistSwing(**{name: (-45, 45)})


def test_a_few_turns_are_free_and_lengths_are_not_touched() -> None:
    """A hinge's limits of two turns each way mean free; a slide may have limits of 90."""
    for ends in ((-2 * np.pi, 2 * np.pi), (-4 * np.pi, 4 * np.pi)):
        door = ik.Skeleton([ik.Joint("door", -1, "hinge", (0, 0, 0), axis=(0, 0, 1), limits=ik.Range(*ends))])
        goal = ik.Goal("door", rotation=(0.0871557, 0, 0, -0.9961947))  # by -170 degrees
        found = ik.solve(door, [goal], ik.pose_from_angles(door, [3.0]))
        assert found.converged
        assert not found.at_limit.any()
    assert ik.TwistSwing(twist=(-2 * np.pi, 2 * np.pi)).twist_free
    rail = ik.Skeleton([ik.Joint("rail", -1, "prismatic", (0, 0, 0), axis=(1, 0, 0), limits=ik.Range(-90, 90))])
    assert ik.solve(rail, [ik.Goal("rail", (80, 0, 0))]).converged
