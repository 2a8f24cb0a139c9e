# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals whose target is a bone that is solved with them: a four-bar linkage, a delta robot, a bar in two hands."""

from collections.abc import Iterable
from math import acos, atan2, cos, hypot, pi, radians, sin, sqrt

import bpy
import numpy as np
import pytest
import rigs

CLOSED = 1e-4  # of a figure's size
GROUND, CRANK, COUPLER, ROCKER = 4.0, 1.0, 3.5, 3.0
TURN = 73  # the last frame of the crank's turn


def pin(frame: float) -> tuple[float, float]:
    """Where coupler and rocker meet above the ground: the upper one of two points on two circles."""
    crank = 2 * pi * (frame - 1) / (TURN - 1)
    x, y = CRANK * cos(crank), CRANK * sin(crank)
    across, up = GROUND - x, -y
    far = hypot(across, up)
    along = (COUPLER**2 - ROCKER**2 + far**2) / (2 * far)
    off = sqrt(COUPLER**2 - along**2)
    return x + (along * across - off * up) / far, y + (along * up + off * across) / far


def four_bar(inherit: bool = False) -> bpy.types.Object:
    """A crank that is keyed, a coupler on it, and a rocker on the ground, with a bone where the coupler is pinned."""
    x, y = pin(1)
    ob = rigs.armature([
        rigs.Bone("ground", (0, 0, -1), (0, 0, 0)),
        rigs.Bone("crank", (0, 0, 0), (CRANK, 0, 0), "ground"),
        rigs.Bone("coupler", (CRANK, 0, 0), (x, y, 0), "crank", True),
        rigs.Bone("rocker", (GROUND, 0, 0), (x, y, 0), "ground"),
        rigs.Bone("pin", (x, y, 0), (x, y + 0.3, 0), "rocker"),
    ], "Linkage")  # fmt: skip
    for name in ("coupler", "rocker"):
        rigs.limit(ob.pose.bones[name], (0, 0), (0, 0), (-180, 180))
    ob.data.bones["coupler"].use_inherit_rotation = inherit
    crank = ob.pose.bones["crank"]
    crank.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (TURN, 2 * pi)):
        crank.rotation_euler.z = angle
        rigs.key(crank, frame)
    rigs.interpolate(ob, "LINEAR")
    rigs.goal(ob, "coupler", ob, subtarget="pin", chain_length=1, close_loop=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, TURN
    return ob


def gaps(ob: bpy.types.Object) -> list[float]:
    """How far the loops of an armature are open, as shares of its size."""
    size = max(ob.dimensions)
    ends = [(goal.bone, goal.subtarget) for goal in ob.dqik.goals if goal.subtarget]
    return [(rigs.tail(ob, bone) - rigs.head(ob, target)).length / size for bone, target in ends]


def check_turn(ob: bpy.types.Object, frames: Iterable[float]) -> None:
    """Assert that the linkage is closed on frames, with its pin where circles have it, always above the ground."""
    for frame in rigs.visited(frames):
        assert gaps(ob)[0] < CLOSED
        assert np.linalg.norm(np.array(rigs.head(ob, "pin"))[:2] - pin(frame)) < 1e-3


ANY_ORDER = (40, 1, 64, 13, 55, 22.5, 31, 73)


@pytest.mark.parametrize("start_from", ["POSE", "SHOT"])
def test_a_four_bar_linkage_turns_on_frames_in_any_order(start_from: str) -> None:
    ob = four_bar()
    ob.dqik.start_from = start_from
    rigs.live(ob)
    if start_from == "SHOT":
        assert bpy.ops.dqik.solve_shot() == {"FINISHED"}
    assert rigs.message(ob) == ""
    check_turn(ob, (frame for frame in ANY_ORDER if start_from == "POSE" or frame % 1 == 0))


def test_it_turns_in_playback_from_the_frame_before() -> None:
    """A coupler that turns with its crank would start on the other side of the ground, were it not for that frame."""
    ob = four_bar(inherit=True)
    ob.dqik.start_from = "PREVIOUS"
    rigs.live(ob)
    check_turn(ob, range(1, TURN + 1))


@pytest.mark.parametrize("smooth", [0.0, 0.3])
def test_a_bake_of_it_is_closed(smooth: float) -> None:
    ob = four_bar()
    rigs.at_frame(1)
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=TURN, smooth=smooth) == {"FINISHED"}
    assert not ob.dqik.live
    check_turn(ob, range(1, TURN + 1, 8))


# -- delta robot ------------------------------------------------------------------------------------------------------

BASE, MOTOR, ROD, PLATFORM, HALF = 0.5, 0.6, 1.2, 0.2, 0.1  # radii, lengths, half the distance of two rods
ARMS = [2 * pi * k / 3 for k in range(3)]
HOME = (0.0, 0.0, -1.0)


def motor_angle(arm: float, centre: tuple) -> float:
    """How far the motor at an angle about Z turns its arm down, for the platform's centre (Clavel 1991)."""
    out = np.array([cos(arm), sin(arm), 0.0])
    way = np.array(centre) + (PLATFORM - BASE) * out
    a, e = way @ out, way[2]
    return -atan2(e, a) - acos((MOTOR**2 + way @ way - ROD**2) / (2 * MOTOR * hypot(a, e)))


def circle(frame: float) -> tuple[float, float, float]:
    turn = 2 * pi * frame / 24
    return 0.25 * cos(turn), 0.25 * sin(turn), -1.0 + 0.1 * sin(2 * turn)


def delta(moved: int) -> bpy.types.Object:
    """Three motors, two rods on each of their arms, and a platform. moved : bones that the goals of the rods move."""
    bones = [rigs.Bone("base", (0, 0, 0), (0, 0, 0.3)), rigs.Bone("platform", HOME, (0, 0, -0.9), "base")]
    sides = [np.array([-sin(arm), cos(arm), 0.0]) for arm in ARMS]
    for k, (arm, side) in enumerate(zip(ARMS, sides, strict=True)):
        out, angle = np.array([cos(arm), sin(arm), 0.0]), motor_angle(arm, HOME)
        elbow = BASE * out + MOTOR * (cos(angle) * out - sin(angle) * np.array([0.0, 0.0, 1.0]))
        bones.append(rigs.Bone(f"motor {k}", BASE * out, elbow, "base"))
        for end, off in (("a", HALF * side), ("b", -HALF * side)):
            x, y, z = np.array(HOME) + PLATFORM * out + off
            bones += [rigs.Bone(f"rod {k}{end}", elbow + off, (x, y, z), f"motor {k}"),
                      rigs.Bone(f"socket {k}{end}", (x, y, z), (x, y, z + 0.1), "platform")]  # fmt: skip
    ob = rigs.armature(bones, "Delta")
    with rigs.edit_mode(ob) as edited:
        for k, side in enumerate(sides):
            edited[f"motor {k}"].align_roll(side.tolist())
    ob.pose.bones["platform"].dqik_translate = True
    for k in range(3):
        rigs.limit(ob.pose.bones[f"motor {k}"], (0, 0), (0, 0), (-90, 90))
        for end in "ab":
            rigs.goal(ob, f"rod {k}{end}", ob, subtarget=f"socket {k}{end}", chain_length=moved, close_loop=True)
    return ob


def down(ob: bpy.types.Object, k: int) -> float:
    """How far an arm is turned down."""
    way = np.array(rigs.tail(ob, f"motor {k}") - rigs.head(ob, f"motor {k}"))
    return atan2(-way[2], way @ [cos(ARMS[k]), sin(ARMS[k]), 0.0])


def test_a_delta_robot_is_led_by_its_platform() -> None:
    """Its motors turn as its inverse kinematics say, on frames in any order; only the platform has a target outside."""
    ob, lead = delta(2), rigs.empty(HOME, "Lead")
    rigs.key_path(lead, range(25), map(circle, range(25)))
    rigs.goal(ob, "platform", lead, use_tail=False, chain_length=1)
    rigs.live(ob)
    for frame in rigs.visited((7, 1, 19, 13, 5)):
        assert max(gaps(ob)) < CLOSED
        assert (rigs.head(ob, "platform") - rigs.place(lead)).length < 1e-4
        assert max(abs(down(ob, k) - motor_angle(arm, circle(frame))) for k, arm in enumerate(ARMS)) < 1e-3


def test_a_delta_robot_is_led_by_its_motors() -> None:
    """No goal but those of the rods moves the platform: it comes to where the motors put it, level."""
    ob = delta(1)
    for k, arm in enumerate(ARMS):
        motor = ob.pose.bones[f"motor {k}"]
        motor.rotation_mode = "XYZ"
        for frame in range(25):
            motor.rotation_euler.z = motor_angle(arm, circle(frame)) - motor_angle(arm, HOME)
            rigs.key(motor, frame)
    rigs.live(ob)
    level = rigs.world(ob, "platform").to_quaternion()
    for frame in rigs.visited((7, 1, 19, 13, 5)):
        assert max(gaps(ob)) < CLOSED
        assert np.linalg.norm(np.array(rigs.head(ob, "platform")) - circle(frame)) < 1e-3
        assert rigs.world(ob, "platform").to_quaternion().rotation_difference(level).angle < 1e-3


# -- hands ------------------------------------------------------------------------------------------------------------


def carrier() -> bpy.types.Object:
    """A trunk with a head and two arms, and a bar with two grips between the hands."""
    bones = [rigs.Bone("spine", (0, 0, 0.6), (0, 0, 1)), rigs.Bone("chest", (0, 0, 1), (0, 0, 1.4), "spine", True),
             rigs.Bone("head", (0, 0, 1.45), (0, 0, 1.65), "chest"),
             rigs.Bone("bar", (0, -0.2, 1.05), (0, -0.3, 1.05), "chest")]  # fmt: skip
    for side, sign in (("L", 1), ("R", -1)):
        elbow, wrist = (0.3 * sign, 0.05, 1.15), (0.2 * sign, -0.2, 1.05)
        bones += [rigs.Bone(f"upper.{side}", (0.2 * sign, 0, 1.4), elbow, "chest"),
                  rigs.Bone(f"fore.{side}", elbow, wrist, f"upper.{side}", True),
                  rigs.Bone(f"hand.{side}", wrist, (0.2 * sign, -0.3, 1.05), f"fore.{side}", True),
                  rigs.Bone(f"grip.{side}", wrist, (0.2 * sign, -0.25, 1.05), "bar")]  # fmt: skip
    ob = rigs.armature(bones, "Carrier")
    ob.pose.bones["bar"].dqik_translate = True
    return ob


def carrying(priority: int) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Both forearms carry the bar, which has a goal of its own. priority : of the hands."""
    ob, lead = carrier(), rigs.empty((0, -0.2, 1.05), "Lead")
    for side in "LR":
        rigs.goal(ob, f"fore.{side}", ob, subtarget=f"grip.{side}", chain_length=2, close_loop=True, priority=priority)
    rigs.goal(ob, "bar", lead, chain_length=1, use_tail=False)
    return rigs.live(ob), lead


@pytest.mark.parametrize("place", [(0.1, -0.35, 1.1), (0, -0.3, 1.5)])
def test_two_hands_carry_a_bar_that_is_led(place: tuple) -> None:
    ob, lead = carrying(0)
    lead.location = place
    rigs.update()
    assert max(gaps(ob)) < CLOSED
    assert (rigs.head(ob, "bar") - rigs.place(lead)).length < 1e-4
    assert ob.dqik.status.converged


@pytest.mark.parametrize("priority", [0, 1])
def test_a_bar_out_of_reach_is_missed_and_hands_of_a_higher_priority_hold_it(priority: int) -> None:
    """With one priority all share the miss: the loops are open too, and each goal says by how much."""
    ob, lead = carrying(priority)
    lead.location = (0, -1.5, 1.5)
    rigs.update()
    assert (max(gaps(ob)) < CLOSED) == (priority > 0)
    assert [goal.missed for goal in ob.dqik.goals] == [priority == 0, priority == 0, True]
    assert ob.dqik.goals["bar"].error > 0.5


@pytest.mark.parametrize("influence", [1.0, 0.5])
def test_a_hand_stays_at_the_head_that_its_own_chain_carries(influence: float) -> None:
    """Without Close Loop, since goals move the head already: in place and turn, with limits about other axes."""
    ob, lead = carrier(), rigs.empty((0.1, -0.2, 1.6), "Lead")
    for name, axes in (("head", (0.9, 0.1, -0.3, 0.2)), ("hand.L", (0.5, 0.5, -0.5, 0.5))):
        rigs.limit(ob.pose.bones[name], (-170, 170), (-150, 150), (-160, 160))
        ob.pose.bones[name].dqik_limits_axes = axes
    rigs.goal(ob, "head", lead)
    start = (rigs.head(ob, "hand.L") - rigs.head(ob, "head")).length
    rigs.goal(ob, "hand.L", ob, subtarget="head", use_tail=False, use_rotation=True, influence=influence)
    rigs.live(ob)
    for place in ((0.1, -0.2, 1.6), (-0.1, -0.3, 1.5)):
        lead.location = place
        rigs.update()
        gap = (rigs.head(ob, "hand.L") - rigs.head(ob, "head")).length
        turn = rigs.world(ob, "hand.L").to_quaternion().rotation_difference(rigs.world(ob, "head").to_quaternion())
        assert rigs.message(ob) == ""
        if influence == 1.0:
            assert gap < 1e-3
            assert min(turn.angle, 2 * pi - turn.angle) < 2e-3
        else:
            assert 0.3 * start < gap < 0.7 * start
        assert rigs.miss(ob, "head", lead) < 1e-3


@pytest.mark.parametrize("target", ["upper.L", "hand.L", ""])
def test_close_loop_says_what_target_it_needs(target: str) -> None:
    """Not one above or below the goal's bone, and not an empty: the goal is solved as without it, or left out."""
    ob = carrier()
    aim = {"target": ob, "subtarget": target} if target else {"target": rigs.empty((0.2, -0.2, 1.1))}
    rigs.put(rigs.goal(ob, "fore.L", None, chain_length=2, close_loop=True), **aim)
    rigs.live(ob)
    assert "Close Loop has no effect" in rigs.message(ob)


def test_what_a_loop_holds_carries_no_weight() -> None:
    """The grip moves with the goals, so nothing can stand on it."""
    ob, _ = carrying(1)
    for goal in ob.dqik.goals:
        goal.use_support = goal.close_loop
    rigs.goal(ob, "spine", None, kind="BALANCE", side="WITHIN")
    rigs.update()
    assert "no goal carries weight" in rigs.message(ob)


def test_a_drag_keeps_a_loop_closed_and_put_together_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame's own answer is the other way to put the linkage together; no closed pose lies between the two."""
    monkeypatch.setattr(rigs.part("rig.blender.views"), "is_dragging", lambda: True)
    ob = four_bar(inherit=True)
    ob.animation_data_clear()
    rigs.live(ob)
    for step in range(1, 25):
        angle = radians(12.0 * min(step, 15))
        ob.pose.bones["crank"].rotation_euler.z = angle
        ob.update_tag()
        rigs.update()
        assert gaps(ob)[0] < CLOSED
        assert np.linalg.norm(np.array(rigs.head(ob, "pin"))[:2] - pin(1 + angle / (2 * pi) * (TURN - 1))) < 1e-3
    monkeypatch.undo()
    ob.update_tag()
    rigs.update()
    assert gaps(ob)[0] < CLOSED
    assert rigs.head(ob, "pin").y < 0.0


def test_a_check_without_live_finds_the_frames_on_which_a_loop_is_open() -> None:
    """The bones stay as they are on the first frame, while the crank turns."""
    ob = four_bar()
    assert bpy.ops.dqik.check_range(frame_start=1, frame_end=5) == {"FINISHED"}
    assert [entry.frame for entry in ob.dqik.missed_frames] == [2, 3, 4, 5]
