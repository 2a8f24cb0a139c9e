# SPDX-License-Identifier: GPL-3.0-or-later
"""The share of all orientations in which a place is reached, against shares that are known: cones, rolls, planes."""

from collections.abc import Generator
from math import cos, pi, radians
from types import ModuleType

import numpy as np
import pytest
import rigs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.newest
DRAWN = 500  # postures at a time
MANY = 4000  # rotations: shares are right to about a three-hundredth


@pytest.fixture(scope="module")
def ik() -> ModuleType:
    return rigs.part("solvers")


@pytest.fixture(scope="module")
def reach() -> ModuleType:
    return rigs.part("solvers.reach.reach")


def limits(ik: ModuleType, twist: tuple, swing_x: tuple, swing_z: tuple) -> object:
    """Limits in degrees."""
    return ik.TwistSwing(*(tuple(np.radians(part)) for part in (twist, swing_x, swing_z)))


def grid_of(
    reach: ModuleType, ik: ModuleType, joints: list, offset: tuple, postures: int, cells: int, turns: int
) -> object:
    """The grid of a chain of joints."""
    skeleton = ik.Skeleton(joints)
    goal = ik.Goal(joints[-1].name, position=(0, 0, 0), offset=offset)
    chain = reach.SampledChain(skeleton, goal, skeleton.links, skeleton.rest_pose())
    orientations = reach.Orientations(chain.wrist(), turns)
    drawn = chain.draw(DRAWN)
    grid = reach.Grid(drawn.places, cells, turns)
    for _ in range(postures // DRAWN):
        grid.add(drawn.places)
        grid.turn(*orientations.reached(drawn.heads, drawn.frames))
        drawn = chain.draw(DRAWN)
    return grid


def finished(steps: Generator) -> object:
    """What a generator returns in the end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_the_rotations_are_spread_evenly() -> None:
    """Shares of caps of any direction and angle, in which rotations are counted by their distance from another."""
    spread = rigs.part("solvers.algebra").rotations.spread
    found = Rotation.from_quat(spread(MANY), scalar_first=True)
    for seed in range(40):
        generator = np.random.default_rng(seed)
        angle = generator.uniform(0.2, pi)
        near = (found * Rotation.random(random_state=generator)).magnitude() < angle
        assert near.mean() == pytest.approx((angle - np.sin(angle)) / pi, abs=0.006)
    assert np.allclose(np.linalg.norm(spread(7), axis=-1), 1.0)


@settings(max_examples=15)
@given(st.floats(20, 175), st.floats(20, 175), st.floats(-170, 170), st.sampled_from([None, (1, 0, 0), (1, 2, -2)]))
def test_a_limited_wrist_has_its_cone_and_twist(cone: float, twist: float, middle: float, axis: tuple | None) -> None:
    """Of all directions a cone with half-angle `c` has `(1 - cos c) / 2`, of all rolls the twist's range over a turn.

    Whatever axis the joint twists about, where its frame stands, and where the range's middle is.
    """
    ik, reach = (rigs.part(name) for name in ("solvers", "solvers.reach.reach"))
    wrist_limits = limits(ik, (middle - twist, middle + twist), (-cone, cone), (-cone, cone))
    joints = [ik.Joint("wrist", -1, "ball", (0, 0, 0), axis=axis, limits=wrist_limits)]
    skeleton = ik.Skeleton(joints)
    goal = ik.Goal("wrist", position=(0, 0, 0))
    wrist = reach.SampledChain(skeleton, goal, skeleton.links, skeleton.rest_pose()).wrist()
    frame = Rotation.random(random_state=3).as_quat(scalar_first=True)
    numbers, places = reach.Orientations(wrist, MANY).reached(np.zeros((1, 3)), frame[None])
    expected = 0.5 * (1.0 - cos(radians(cone))) * twist / 180.0
    assert len(numbers) / MANY == pytest.approx(expected, abs=0.01)
    assert not places.any()


def test_an_uneven_swing_is_counted_as_random_rotations_are(ik: ModuleType, reach: ModuleType) -> None:
    """A quarter of an ellipse on each side; drawn by SciPy, and measured by twist and swing worked out anew."""
    grid = grid_of(
        reach, ik, [ik.Joint("wrist", -1, "ball", (0, 0, 0), limits=limits(ik, (-60, 100), (-70, 40), (-20, 110)))],
        (0, 0, 0), DRAWN, 3, MANY,
    )  # fmt: skip
    w, x, y, z = Rotation.random(200_000, random_state=1).as_quat(scalar_first=True).T
    h = np.hypot(w, y)
    twist = np.degrees(2.0 * np.arctan2(y, w) + pi) % 360.0 - 180.0
    swing = np.degrees(2.0 * np.arccos(np.minimum(h, 1.0))) / np.sqrt(np.maximum(1.0 - h * h, 1e-15)) / h
    one, other = swing * (x * w + z * y), swing * (z * w - x * y)
    level = (one / np.where(one > 0, 40, 70)) ** 2 + (other / np.where(other > 0, 110, 20)) ** 2
    expected = ((level <= 1.0) & (twist >= -60) & (twist <= 100)).mean()
    assert grid.shares().max() == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("span", [360.0, 120.0])
def test_an_arm_in_a_plane_turns_its_hand_about_one_axis_only(ik: ModuleType, reach: ModuleType, span: float) -> None:
    """Three hinges: the hand's orientations are a curve, counted with a tolerance of 15 degrees: `(1 - cos 15) / 2`.

    Of the last hinge's turns it has all, since the others turn the hand too.
    """
    joints = [ik.Joint(f"{k}", k - 1, "hinge", (0, 0, 0), axis=(0, 0, 1)) for k in range(2)]
    half = radians(0.5 * span)
    joints.append(ik.Joint("hand", 1, "hinge", (0, 0, 0), axis=(0, 0, 1), limits=ik.Range(-half, half)))
    grid = grid_of(reach, ik, joints, (0, 0, 0), DRAWN, 3, MANY)
    assert grid.shares().max() == pytest.approx(0.5 * (1.0 - cos(radians(15.0))), abs=0.002)
    alone = grid_of(reach, ik, [ik.Joint("hand", -1, "hinge", (0, 0, 0), axis=(0, 0, 1), limits=ik.Range(-half, half))],
                    (0, 0, 0), DRAWN, 3, MANY)  # fmt: skip
    assert alone.shares().max() == pytest.approx(0.5 * (1.0 - cos(radians(15.0))) * span / 360.0, abs=0.002)


def test_a_forearm_adds_its_twist_to_a_wrist_without_one(ik: ModuleType, reach: ModuleType) -> None:
    """A forearm that twists by 80 degrees to both sides, a wrist that swings by 50: rolls of 80 and the tolerance."""
    none = (0.0, 0.0)
    grid = grid_of(reach, ik, [
        ik.Joint("forearm", -1, "ball", (0, 0, 0), limits=limits(ik, (-80, 80), none, none)),
        ik.Joint("wrist", 0, "ball", (0, 0, 0), limits=limits(ik, none, (-50, 50), (-50, 50))),
    ], (0, 0, 0), 8000, 3, MANY)  # fmt: skip
    assert grid.shares().max() == pytest.approx(0.5 * (1.0 - cos(radians(50.0))) * 190.0 / 360.0, abs=0.006)


def test_a_hand_on_a_free_wrist_is_dexterous_within_reach(ik: ModuleType, reach: ModuleType) -> None:
    """Free balls, lengths 1 and 0.5 and a hand of 0.5, so that the wrist reaches from 0.5 to 1.5.

    A place at a distance `r` is reached from the directions in which the wrist is within 1.5: those with
    `cos >= (r^2 - 2) / r`, and all of them up to 1. Rolls are free. A cell has the share of its middle at least, up to
    random gaps, and of its nearest corner at most.
    """
    cells, turns = 16, 128
    grid = grid_of(reach, ik, [
        ik.Joint("shoulder", -1, "ball", (0, 0, 0)), ik.Joint("elbow", 0, "ball", (0, 1, 0)),
        ik.Joint("wrist", 1, "ball", (0, 0.5, 0)),
    ], (0, 0.5, 0), 48_000, cells, turns)  # fmt: skip
    shares, size = grid.shares(), grid.size
    middles = grid.origin + size * (np.stack(np.indices(shares.shape), -1) + 0.5)
    far = np.linalg.norm(middles, axis=-1)

    def expected(r: np.ndarray) -> np.ndarray:
        return np.clip(0.5 * (1.0 - (r * r - 2.0) / np.maximum(r, 1e-9)), 0.0, 1.0)

    whole = np.abs(far - 0.75) < 0.1
    assert whole.sum() > 30 and shares[whole].mean() > 0.95
    for r in (1.25, 1.5, 1.75):
        band = np.abs(far - r) < 0.06
        least, most = expected(far[band]), expected(far[band] - 0.5 * 3.0**0.5 * size)
        assert least.mean() - 0.05 < shares[band].mean() < most.mean() + 0.01
    assert shares[far > 2.0 + size].max(initial=0.0) == 0.0


def test_where_nothing_turns_nothing_is_dexterous(ik: ModuleType, reach: ModuleType) -> None:
    skeleton = ik.Skeleton([ik.Joint("root", -1, "fixed", (0, 0, 0)), ik.Joint("end", 0, "fixed", (0, 1, 0))])
    chain = reach.SampledChain(skeleton, ik.Goal("end", position=(0, 0, 0)), skeleton.links, skeleton.rest_pose())
    found = finished(reach.shell(chain, 4000))
    assert chain.wrist() is None
    np.testing.assert_allclose(found.reachable, [(0, 1, 0)], atol=1e-12)
    assert not len(found.dexterous)


def test_the_shell_holds_the_places_of_the_share_that_is_asked_for(ik: ModuleType, reach: ModuleType) -> None:
    """The same arm reaches 0.95, a half and a tenth of all directions where `(r^2 - 2) / r` is -0.9, 0 and 0.8.

    A cell counts for its place, which may be its furthest corner.
    """
    arm = ik.Skeleton([
        ik.Joint("shoulder", -1, "ball", (0, 0, 0)), ik.Joint("elbow", 0, "ball", (0, 1, 0)),
        ik.Joint("wrist", 1, "ball", (0, 0.5, 0)),
    ])  # fmt: skip
    goal = ik.Goal("wrist", position=(0, 0, 0), offset=(0, 0.5, 0))
    furthest = []
    for share in (0.95, 0.5, 0.1):
        chain = reach.SampledChain(arm, goal, arm.links, arm.rest_pose())
        found = finished(reach.shell(chain, 48_000, cells=16, share=share))
        furthest.append(np.linalg.norm(found.dexterous, axis=-1).max())
        assert np.linalg.norm(found.reachable, axis=-1).max() > 1.9
    cell = 4.4 / 16
    for far, expected in zip(furthest, (1.03, 1.41, 1.87), strict=True):
        assert expected - cell < far < expected + 3.0**0.5 * cell
    assert furthest == sorted(furthest)
