# SPDX-License-Identifier: GPL-3.0-or-later
"""A person ducks: hips and knees give before a neck folds, and hips are led by their own control."""


import bpy
import numpy as np
import pytest
import rigs
from conventions import BY_NAME
from mathutils import Vector
from motions import Puppet, stand
from person import Figure

import build

CHARACTERS = ["mixamo", "unreal", "valve", "toon"]  # 3, 5 and 4 bones of the spine; short legs and a large head


class Standing:
    """A standing character with a full body. Its parts are known by their roles."""

    def __init__(self, name: str, limited: bool = False, at_rest: bool = False) -> None:
        """`at_rest` : as it is at rest, with the arms of a T-pose, and not as people stand."""
        character = BY_NAME[name]
        self.ob = rigs.made_active(build.native(character))
        self.figure = Figure(self.ob, build.truth(character))
        if not at_rest:
            Puppet(self.figure).take(stand())
        rigs.update()
        assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
        if limited:
            assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
        self.targets = {goal.bone: goal.target for goal in self.ob.dqik.goals}
        self.before = {name: target.matrix_world.copy() for name, target in self.targets.items()}
        rigs.live(self.ob)
        rigs.update()
        self.turns = {name: self.turn(name) for name in self.necks}

    @property
    def necks(self) -> list[str]:
        """The bones of the neck, and the head."""
        return [*self.figure.bones["neck", ""], self.figure.bone("head")]

    def turn(self, name: str) -> np.ndarray:
        """The rotation (4,) of a bone against its parent."""
        return np.array(rigs.local_rotation(self.ob, name))

    def put(self, role: str, side: str = "", left: float = 0.0, forward: float = 0.0, up: float = 0.0) -> None:
        """Put a target at a distance from its place at first, in heights of the figure."""
        name, own = self.figure.bone(role, side), self.figure
        way = own.size * (left * own.left + forward * own.forward + up * own.up)
        self.targets[name].matrix_world.translation = self.before[name].translation + way
        rigs.update()

    def away(self, role: str, side: str = "") -> float:
        """How far a bone is from its target, in heights."""
        name = self.figure.bone(role, side)
        return (rigs.head(self.ob, name) - self.targets[name].matrix_world.translation).length / self.figure.size

    def lower(self) -> float:
        """How much lower the hips are than at first, in heights."""
        return -self._moved_hips().dot(self.figure.up) / self.figure.size

    def back(self) -> float:
        """How much further back the hips are than at first, in heights."""
        return -self._moved_hips().dot(self.figure.forward) / self.figure.size

    def _moved_hips(self) -> Vector:
        name = self.figure.bone("hips")
        return rigs.head(self.ob, name) - self.before[name].translation

    def bend(self) -> float:
        """The largest turn of a bone of the neck or of the head from its pose at first, in degrees."""
        cosines = [abs(float(self.turn(name) @ before)) for name, before in self.turns.items()]
        return float(np.degrees(2.0 * np.arccos(min(1.0, min(cosines)))))


@pytest.mark.parametrize("limited", [False, True], ids=["plain", "limits"])
@pytest.mark.parametrize("name", CHARACTERS)
def test_a_lowered_head_takes_the_hips_along_and_folds_no_neck(name: str, limited: bool) -> None:
    """Head and feet are at their targets, down to a deep squat. Hips at their control folded the neck by 120."""
    one = Standing(name, limited)
    for down in (0.02, 0.06, 0.12, 0.2, 0.3, *([] if limited else [0.4])):
        one.put("head", up=-down)
        assert one.bend() < 25.0, down
        assert one.lower() > 0.8 * down
        assert max(one.away("head"), one.away("foot", "L"), one.away("foot", "R")) < 1e-4


@pytest.mark.parametrize("limited", [False, True], ids=["plain", "limits"])
@pytest.mark.parametrize("name", ["mixamo", "valve", "daz"])
def test_arms_of_a_t_pose_come_along_with_a_duck(name: str, limited: bool) -> None:
    """Straight arms would hold the shoulders up and fold the neck by 137. Where the head comes back, hands are back."""
    one, misses = Standing(name, limited, at_rest=True), list[float]()
    for down in (0.0, 0.01, 0.02, 0.03, 0.06, 0.09, 0.12, 0.0):
        one.put("head", up=-down)
        assert one.bend() < 25.0, down
        assert max(one.away("head"), one.away("foot", "L"), one.away("foot", "R")) < 1e-4
        misses.append(max(one.away("hand", "L"), one.away("hand", "R")))
    assert misses[0] < 1e-4 and misses[-1] < 1e-4
    assert max(misses) < 0.035
    assert max(np.abs(np.diff(misses[:4]))) < 0.002


def test_hands_that_are_within_reach_of_a_duck_stay() -> None:
    """Those that were led nearer, or that hang at its sides, are at their targets."""
    for at_rest in (True, False):
        one = Standing("mixamo", at_rest=at_rest)
        if at_rest:
            one.put("hand", "L", left=-0.1, up=0.05)
            one.put("hand", "R", left=0.1, forward=0.1)
        for down in (0.03, 0.08, 0.12):
            one.put("head", up=-down)
            assert max(one.away("hand", "L"), one.away("hand", "R")) < 1e-4
            assert one.bend() < 25.0


def test_a_squat_goes_down_evenly_and_does_not_fall_back() -> None:
    """In steps of 0.01 heights hips go down and back all the way; back by no more than feet carry."""
    one, ways = Standing("mixamo"), list[tuple[float, float]]()
    for step in range(46):
        one.put("head", up=-0.01 * step)
        ways.append((one.lower(), one.back()))
    down, back = np.diff(ways, axis=0).T
    assert (down > 0.008).all() and (down < 0.012).all()
    assert (back > 0.0).all() and 0.09 < ways[-1][1] < 0.13


@pytest.mark.parametrize("name", CHARACTERS)
def test_hips_that_are_lowered_with_the_head_are_at_their_control(name: str) -> None:
    """They are led by it, also once the head has been lowered first."""
    one = Standing(name)
    one.put("head", up=-0.1)
    one.put("hips", up=-0.1)
    assert one.away("hips") < 1e-4
    assert one.bend() < 5.0
    one.put("hips", up=-0.1, forward=0.005)
    assert one.away("hips") < 1e-3


def test_hips_with_the_priority_of_the_head_stay_and_so_do_those_of_pins() -> None:
    """Whoever wants them at their place has them there."""
    one = Standing("mixamo")
    goal = next(goal for goal in one.ob.dqik.goals if goal.bone == one.figure.bone("hips"))
    goal.priority, goal.position_weight = 0, 3.5
    one.put("head", up=-0.03)
    assert one.away("hips") < 1e-3
    goal.priority = -1
    rigs.update()
    assert one.lower() > 0.02


@pytest.mark.parametrize("limited", [False, True], ids=["plain", "limits"])
@pytest.mark.parametrize("name", ["mixamo", "valve"])
def test_a_foot_led_through_the_floor_is_to_blame_all_the_way(name: str, limited: bool) -> None:
    """It misses by what it is led further, there and back, and no other part leaves its target."""
    one = Standing(name, limited)
    depths = [0.02 * step for step in (*range(1, 11), *range(9, 0, -1))]
    misses = list[float]()
    for depth in depths:
        one.put("foot", "L", up=-depth)
        misses.append(one.away("foot", "L"))
        others = [one.away(*part) for part in (("head", ""), ("hand", "L"), ("hand", "R"), ("foot", "R"))]
        assert max(others) < 1e-3, depth
    np.testing.assert_allclose(np.diff(misses), np.diff(depths), atol=5e-3)


def test_hips_with_keys_of_their_own_stay_on_them() -> None:
    """Keys say where they are: a lowered head does not take them along."""
    one = Standing("mixamo")
    hips = one.ob.pose.bones[one.figure.bone("hips")]
    one.put("head", up=-0.03)
    free = one.lower()
    one.put("head")
    rigs.key(hips, 1.0)
    rigs.at_frame(1)
    one.put("head", up=-0.03)
    assert free > 0.02
    assert abs(one.lower()) < 0.005
