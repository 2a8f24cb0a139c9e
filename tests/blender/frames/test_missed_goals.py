# SPDX-License-Identifier: GPL-3.0-or-later
"""Each goal's own error, and the frames that miss a goal after a bake or a check."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest
import rigs
from situations import NEAR

FRAMES = (1, 12)
FAR = 7  # from this frame on the left target is out of reach


def rig() -> tuple[bpy.types.Object, dict[str, bpy.types.Object]]:
    """Two arms; the right hand's target stays in reach, the left one's leaves it."""
    ob = rigs.figure()
    targets = {}
    for side, sign in (("L", 1), ("R", -1)):
        bone = f"hand.{side}"
        targets[bone] = rigs.empty((sign * 0.6, -0.3, 1.4), bone)
        rigs.goal(ob, bone, targets[bone], chain_length=3)
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        far = frame >= FAR
        targets["hand.L"].location.x = 0.6 + (1.0 + 0.1 * frame if far else 0.0)
        targets["hand.L"].keyframe_insert("location", frame=frame)
    rigs.at_frame(1)
    return rigs.made_active(ob), targets


def missing_frames(ob: bpy.types.Object, targets: dict[str, bpy.types.Object]) -> list[int]:
    """The frames on which Blender shows a hand away from its target."""
    return [frame for frame in rigs.visited(range(FRAMES[0], FRAMES[1] + 1))
            if max(rigs.miss(ob, bone, target) for bone, target in targets.items()) > NEAR]  # fmt: skip


def guide(ob: bpy.types.Object) -> None:
    rigs.constrain(ob.pose.bones["forearm.R"], "COPY_ROTATION", rigs.empty((0, 0, 0), "Guide"), influence=0.7)


@pytest.mark.parametrize("constrained", [False, True])
def test_each_goal_has_the_error_that_blender_shows(constrained: bool) -> None:
    """Of its own bone, also where a constraint turns a bone that the solver did not expect."""
    ob, targets = rig()
    if constrained:
        guide(ob)
    ob.dqik.live = True
    for _ in rigs.visited((3, 9)):
        for goal in ob.dqik.goals:
            miss = rigs.miss(ob, goal.bone, targets[goal.bone])
            assert abs(goal.error - miss) < 1e-4
            assert goal.missed == (miss > NEAR)
        assert ob.dqik.status.converged == (not any(goal.missed for goal in ob.dqik.goals))
        assert ob.dqik.status.error == pytest.approx(max(goal.error for goal in ob.dqik.goals))


def test_goals_that_all_move_nothing_are_not_missing() -> None:
    """One is muted, the other has no influence, as after *To FK*: there is none to be added."""
    ob, _ = rig()
    ob.dqik.goals[0].mute, ob.dqik.goals[1].influence = True, 0.0
    rigs.live(ob)
    assert "all are muted" in ob.dqik.status.message


@pytest.mark.parametrize(("distort", "options"), [
    (lambda ob: rigs.put(ob.pose.bones["arm.R"], scale=(1.0, 0.6, 1.6)), {}), (guide, {}),
    (lambda ob: rigs.select(ob, "hand.L"), {"only_selected": True}), (None, {}), (None, {"clear_goals": True}),
], ids=["uneven scale", "constraint", "some bones", "plain", "goals cleared"])  # fmt: skip
def test_the_missed_frames_of_a_bake_are_those_that_blender_shows(distort: Callable | None, options: dict) -> None:
    """Where Blender makes another pose of the keys than the one that was solved, its pose counts."""
    ob, targets = rig()
    if distort is not None:
        distort(ob)
    bpy.ops.dqik.bake(frame_start=FRAMES[0], frame_end=FRAMES[1], **options)
    missed = {entry.frame: entry.error for entry in ob.dqik.missed_frames}
    assert list(missed) == missing_frames(ob, targets)
    assert (len(missed) > FRAMES[1] - FAR + 1) == (distort is not None)
    assert distort is not None or {entry.name for entry in ob.dqik.missed_frames} == {"hand.L"}
    for frame, error in missed.items():
        rigs.at_frame(frame)
        assert error == pytest.approx(max(rigs.miss(ob, bone, target) for bone, target in targets.items()), abs=1e-4)


def test_a_goal_of_a_priority_below_0_is_a_wish_that_is_not_reported() -> None:
    """It keeps its own error; the panel, the check and the worst error count the others only."""
    ob, targets = rig()
    ob.dqik.goals[0].priority = -1
    rigs.live(ob, at=9)
    wish, other = ob.dqik.goals
    assert wish.error > 0.1
    assert wish.error == pytest.approx(rigs.miss(ob, wish.bone, targets[wish.bone]), abs=1e-4)
    assert not wish.missed
    assert not other.missed
    assert ob.dqik.status.converged
    assert ob.dqik.status.error == pytest.approx(other.error)
    for priority, frames in ((1, range(FAR, FRAMES[1] + 1)), (-1, ())):  # the second check removes the marks
        wish.priority = priority
        bpy.ops.dqik.check_range(frame_start=FRAMES[0], frame_end=FRAMES[1])
        assert [entry.frame for entry in ob.dqik.missed_frames] == list(frames)


def test_a_rotation_that_is_missed_has_its_angle() -> None:
    ob, targets = rig()
    goal = ob.dqik.goals[1]
    goal.use_rotation, goal.use_position = True, False
    limited = ("collar.R", "arm.R", "forearm.R", "hand.R")
    for name in limited:
        rigs.limit(ob.pose.bones[name], (-5, 5), (-5, 5), (-5, 5))
    rigs.live(ob, at=2)
    shown, target = rigs.evaluated(ob).pose.bones["hand.R"], rigs.evaluated(targets["hand.R"])
    angle = shown.matrix.to_quaternion().rotation_difference(target.matrix_world.to_quaternion()).angle
    assert goal.missed
    assert goal.rotation_error == pytest.approx(min(angle, 2 * np.pi - angle), abs=1e-3)


def test_goals_that_are_not_solved_miss_nothing() -> None:
    ob, _ = rig()
    assert not any(goal.missed or goal.error for goal in ob.dqik.goals)
    ob.dqik.goals[0].mute, ob.dqik.live = True, True
    rigs.at_frame(9)
    assert not ob.dqik.goals[0].missed
    assert ob.dqik.status.converged
    ob.dqik.live = False
    assert not any(goal.missed for goal in ob.dqik.goals)


def test_solve_names_the_missed_goal_and_the_frame() -> None:
    """By the part of the body, whatever the bone's name."""
    ob, _ = rig()
    rigs.put(ob.pose.bones["hand.L"], dqik_role="HAND_L")
    ob.data.bones["hand.L"].name = "hand, L"
    rigs.at_frame(9)
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    scene, missed = bpy.context.scene, rigs.part("rig.frame.step.missed")
    status = rigs.part("rig.frame.sessions").sessions.status(ob)
    text = str(missed.at_frame(scene, ob, missed.worst_first(status.goals), status.frame))
    assert "frame 9" in text
    assert "Left Hand" in text
    assert "Right Hand" not in text
    bpy.ops.dqik.check_range(frame_start=9, frame_end=9)
    assert "Left Hand" in str(missed.summary(scene, ob))
    assert [entry.name for entry in ob.dqik.missed_frames] == ["hand, L"]


@pytest.mark.parametrize("live", [False, True])
def test_a_check_marks_the_frames_that_miss_as_they_are_shown(live: bool) -> None:
    """With Live off a pose that nothing has solved is checked as it stands; nothing but the marks changes."""
    ob, targets = rig()
    ob.dqik.live = live
    expected = missing_frames(ob, targets)
    rigs.at_frame(4)
    before = rigs.matrices(ob)
    assert bpy.ops.dqik.check_range(frame_start=FRAMES[0], frame_end=FRAMES[1]) == {"FINISHED"}
    assert [entry.frame for entry in ob.dqik.missed_frames] == expected
    assert len(expected) == (FRAMES[1] - FAR + 1 if live else FRAMES[1])
    assert bpy.context.scene.frame_current == 4
    assert rigs.turn(before, rigs.matrices(ob)) < 1e-3


def test_a_check_after_a_bake_sees_keys_that_were_changed() -> None:
    ob, targets = rig()
    bpy.ops.dqik.bake(frame_start=FRAMES[0], frame_end=FRAMES[1])
    for curve in rigs.fcurves(ob):
        if '"arm.R"' in curve.data_path:
            curve.keyframe_points[2].co.y += 0.4
            curve.update()
    expected = missing_frames(ob, targets)
    assert 3 in expected
    bpy.ops.dqik.check_range(frame_start=FRAMES[0], frame_end=FRAMES[1])
    assert [entry.frame for entry in ob.dqik.missed_frames] == expected


def test_going_from_one_missed_frame_to_the_next() -> None:
    ob, _ = rig()
    ob.dqik.live = True
    bpy.ops.dqik.check_range(frame_start=1, frame_end=12)
    rigs.at_frame(1)
    assert bpy.ops.dqik.missed_frame(direction="PREVIOUS") == {"CANCELLED"}
    for frame in (FAR, FAR + 1):
        assert bpy.ops.dqik.missed_frame(direction="NEXT") == {"FINISHED"}
        assert bpy.context.scene.frame_current == frame
    assert bpy.ops.dqik.missed_frame(direction="PREVIOUS") == {"FINISHED"}
    assert bpy.context.scene.frame_current == FAR
    assert bpy.ops.dqik.missed_clear() == {"FINISHED"}
    assert not len(ob.dqik.missed_frames)


@pytest.mark.parametrize(("end", "length", "times"), [
    ("hand.L", 3, 1.2), ("foot.L", 3, 1.5), ("forearm.R", 2, 2.0), ("head", 0, 1.2), ("head", 0, 2.0),
])  # fmt: skip
def test_a_lone_limb_stretches_toward_a_target_far_away_and_turns_with_it(end: str, length: int, times: float) -> None:
    """The target goes round the limb in 120 steps at so many times its reach: no bone turns far in any step."""
    ob = rigs.figure()
    bones = [ob.pose.bones[end], *ob.pose.bones[end].parent_recursive]
    bones = bones[: length or None]
    root, tip = rigs.head(ob, bones[-1].name), rigs.tail(ob, end)
    ahead = (tip - root).normalized()
    side = ahead.cross(rigs.Vector((0.3, 0.9, 0.2))).normalized()
    target = rigs.empty(tip)
    rigs.goal(ob, end, target, chain_length=length)
    ob.dqik.live = True
    before, worst = None, 0.0
    for step in range(121):
        way = rigs.rotation(ahead, 3.0 * step) @ (rigs.rotation(side, 52.0) @ ahead)
        target.location = root + times * sum(bone.length for bone in bones) * way
        pose = rigs.matrices(ob)
        worst = max(worst, 0.0 if before is None else rigs.turn(before, pose))
        before = pose
        assert (rigs.tail(ob, end) - root).angle(way) < np.radians(0.1)
    assert worst < np.radians(6.0)  # the target turns by 2.4 in a step


def test_a_goal_that_another_one_draws_off_by_a_millimetre_is_not_missed() -> None:
    """Alone, the same distance is a miss."""
    report = rigs.part("rig.frame.step.report")
    size = 1.8
    far, slight, seen, turned = ((0.4, 0.0), (0.002, 0.005), (0.01, 0.0), (0.001, 0.1))

    def missed(*errors: tuple[float, float]) -> list[bool]:
        goals = [report.GoalError(number, *error, met=False) for number, error in enumerate(errors)]
        return [error.missed for error in report._without_slight(goals, size)]

    assert missed(far, slight, seen, turned) == [True, False, True, True]
    assert missed(slight, seen) == [True, True]
    assert missed(slight) == [True]


def test_a_limb_that_is_left_to_its_keys_hides_no_miss() -> None:
    """It leads the body, its control is far away, and the other hand is a millimetre off: that one is missed."""
    ob, targets = rig()
    led, other = rigs.goal_of(ob, "hand.L"), rigs.goal_of(ob, "hand.R")
    led.leads_body, other.use_rotation = True, False
    rigs.key_path(led, (1, 2), (1.0, 0.0), "influence")
    wrist, tip = rigs.head(ob, "hand.R"), rigs.tail(ob, "hand.R")
    other.chain_length, targets["hand.R"].location = 1, tip + 0.0015 * (tip - wrist).normalized()
    rigs.live(ob, at=FAR)
    assert rigs.miss(ob, "hand.L", targets["hand.L"]) > 0.1
    assert (led.missed, other.missed, ob.dqik.status.converged) == (False, True, False)


@pytest.mark.parametrize("constrained", [False, True])
def test_a_bake_counts_no_miss_of_a_limb_that_is_left_to_its_keys(constrained: bool) -> None:
    """It leads the body until frame 9, and from frame 7 its control is out of reach."""
    ob, _ = rig()
    if constrained:
        guide(ob)
    led = rigs.goal_of(ob, "hand.L")
    led.leads_body = True
    rigs.key_path(led, (1, 8, 9), (1.0, 1.0, 0.0), "influence")
    ob.dqik.live = True
    assert bpy.ops.dqik.bake(frame_start=FRAMES[0], frame_end=FRAMES[1]) == {"FINISHED"}
    assert [one.frame for one in ob.dqik.missed_frames if "hand.L" in one.name] == [7, 8]


def test_a_body_that_misses_in_a_motion_takes_few_steps_a_frame() -> None:
    """Hands, head, feet and hips are led where they cannot all be: what lowers the cost no more is not gone on with.

    Steps are counted, which no machine changes: 45 a frame, and 68 where the descent goes on to its last one.
    """
    ob = rigs.set_up(rigs.made_active(rigs.figure()), targets="EMPTIES")
    ob.dqik.start_from = "PREVIOUS"
    generator = np.random.default_rng(2)
    for goal in ob.dqik.goals:
        at = np.array(goal.target.location)
        rigs.key_path(goal.target, range(1, 121, 20), at + generator.uniform(-0.1, 0.1, (6, 3)))
    report = ob.dqik.status
    steps = [report.iterations for _ in rigs.visited(range(1, 52)) if not report.converged]
    assert len(steps) > 25
    assert np.mean(steps) < 50.0


@pytest.mark.parametrize("start_from", ["POSE", "SHOT"])
def test_hips_do_not_jump_for_little_between_frames_of_a_baked_body_beyond_its_reach(start_from: str) -> None:
    """The hips' target is a wish far off, hands are a little out of reach, keys are a little off the bake's answers."""
    ob = rigs.set_up(rigs.made_active(rigs.figure()), targets="EMPTIES", on=False)
    generator, frames = np.random.default_rng(2), range(1, 25)
    rigs.goal_of(ob, "hips").priority = -1
    for bone, away in (("hips", (0.05, 0.12, -0.05)), ("hand.L", (0.0, 0.0, 0.0)), ("hand.R", (0.0, 0.0, 0.0))):
        target, keys = rigs.goal_of(ob, bone).target, frames[::6]
        rigs.key_path(target, keys, np.array(target.location) + away + generator.uniform(-0.1, 0.1, (len(keys), 3)))
    ob.dqik.live = True
    assert bpy.ops.dqik.bake(frame_start=frames[0], frame_end=frames[-1]) == {"FINISHED"}
    assert len(ob.dqik.missed_frames) > 12
    for curve in rigs.fcurves(ob):
        for key in curve.keyframe_points:
            key.co.y += generator.uniform(-2e-3, 2e-3)
        curve.update()
    keyed = np.array([rigs.head(ob, "hips") for _ in rigs.visited(frames)])
    ob.dqik.start_from, ob.dqik.live = start_from, True
    if start_from == "SHOT":
        assert bpy.ops.dqik.solve_shot() == {"FINISHED"}
    moved = np.array([rigs.head(ob, "hips") for _ in rigs.visited(frames)]) - keyed
    assert np.linalg.norm(np.diff(moved, axis=0), axis=-1).max() < 0.012
