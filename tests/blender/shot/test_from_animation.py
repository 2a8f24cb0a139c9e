# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up on a character that moves: its controls are keyed from its motion, and Live shows that motion."""

from collections.abc import Sequence
from math import radians, sin

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import frames_of
from mathutils import Euler, Quaternion, Vector
from situations import as_strip, installed

FRAMES = range(1, 17)
EXACT = 1e-6  # 0.001 mm


def walker(mode: str = "QUATERNION", interpolation: str = "LINEAR", every: int = 1) -> bpy.types.Object:
    """A figure that goes along Y and sways, with knees and elbows bent; its bones are keyed on every few frames."""
    ob = rigs.figure()
    swings = {
        "spine": (0.05, 0.05, 0.05), "chest": (0.1, 0.1, 0.0), "head": (0.1, 0.2, 0.1),
        "arm.L": (0.2, 0.2, 0.2), "arm.R": (0.2, 0.1, 0.2), "forearm.L": (0.1, 0.0, 0.1), "forearm.R": (0.1, 0.0, 0.1),
        "hand.L": (0.2, 0.1, 0.1), "thigh.L": (0.1, 0.0, 0.05), "thigh.R": (-0.1, 0.0, 0.05),
        "shin.L": (0.1, 0.0, 0.0), "shin.R": (0.1, 0.0, 0.0), "foot.L": (0.1, 0.0, 0.0), "foot.R": (0.1, 0.0, 0.1),
    }  # fmt: skip
    bent = {"arm.L": (-0.8, 0, 0), "arm.R": (-0.8, 0, 0), "forearm.L": (0, 0, 1.3), "forearm.R": (0, 0, -1.3),
            "thigh.L": (-0.8, 0, 0), "thigh.R": (-0.8, 0, 0), "shin.L": (1.4, 0, 0), "shin.R": (1.4, 0, 0)}  # fmt: skip
    rigs.rotate_by(ob, mode)
    for frame in FRAMES[::every]:
        phase = 0.4 * frame
        hips = ob.pose.bones["hips"]
        rigs.keyed(hips, frame, location=(0.02 * sin(phase), -0.16 + 0.02 * sin(2 * phase), 0.03 * frame))
        for number, (name, sizes) in enumerate(swings.items()):
            angles = Vector(bent.get(name, (0, 0, 0))) + Vector(sizes) * sin(phase + number)
            rigs.posed(ob.pose.bones[name], Euler(angles).to_quaternion(), frame)
    rigs.interpolate(ob, interpolation)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4  # others than the keys have
    rigs.at_frame(5)
    return ob


def body(ob: bpy.types.Object) -> list[str]:
    return [bone.name for bone in ob.pose.bones if not bone.name.startswith("DQIK")]


def away(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference between places [m] and between directions of axes."""
    return float(np.abs(one - other).max())


def move_keys(ob: bpy.types.Object, control: str, way: Sequence[float], frame: float | None = None) -> None:
    """Move the location keys of a control, which is not turned at rest, by a way in the armature; all, or one."""
    local = ob.data.bones[control].matrix_local.to_3x3().inverted() @ Vector(way)
    if not ob.data.bones[control].use_local_location:
        local = Vector(way)
    for curve in rigs.fcurves(ob):
        if curve.data_path == f'pose.bones["{control}"].location':
            for key in curve.keyframe_points:
                if frame is None or key.co.x == frame:
                    key.co.y += local[curve.array_index]
            curve.update()
    ob.update_tag(refresh={"TIME"})


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
@pytest.mark.parametrize("mode, interpolation, every", [
    ("QUATERNION", "LINEAR", 1), ("XYZ", "BEZIER", 5), ("QUATERNION", "CONSTANT", 5),
])  # fmt: skip
def test_live_shows_the_motion(targets: str, mode: str, interpolation: str, every: int) -> None:
    """On every frame of the action, whatever the scene's range is; half frames differ by what keys cannot hold."""
    ob = walker(mode, interpolation, every)
    ob.matrix_world = rigs.facing(3)
    halves = [frame + 0.5 for frame in FRAMES[:-1]]
    motion, between = frames_of(ob, FRAMES), frames_of(ob, halves)
    rigs.at_frame(5)
    assert bpy.ops.dqik.setup_full_body(targets=targets) == {"FINISHED"}
    assert bpy.context.scene.frame_current == 5
    ob.dqik.live = True
    assert away(frames_of(ob, FRAMES), motion) < EXACT
    assert away(frames_of(ob, halves), between) < 5e-4
    assert all(goal.influence == 1.0 and not goal.mute for goal in ob.dqik.goals)


@pytest.mark.parametrize("strip", [False, True])
def test_what_has_no_keys_stays_with_the_motion_too(strip: bool) -> None:
    """Of a motion that turns only some bones, and of strips of the NLA."""
    ob = walker()
    if strip:
        as_strip(ob)
        bpy.context.scene.frame_end = 16
    for curve in list(rigs.fcurves(ob)) if not strip else ():
        if any(f'"{part}' in curve.data_path for part in ("spine", "chest", "forearm", "hand", "foot")):
            curve.mute = True
    motion = frames_of(ob, FRAMES)
    rigs.set_up(ob)
    assert away(frames_of(ob, FRAMES), motion) < EXACT


@pytest.mark.parametrize("way", [(0.0, 0.0, -0.25), (0.0, 0.0, 0.1), (0.1, 0.05, -0.15)])
def test_hips_follow_their_control_fully(way: tuple[float, float, float]) -> None:
    """By all that its keys are moved, on all frames; feet and hands stay on their motion, the head goes along."""
    ob = walker()
    frames = FRAMES[::5]
    motion = frames_of(ob, frames)
    bpy.ops.dqik.setup_full_body()
    move_keys(ob, "DQIK hips", way)
    ob.dqik.live = True
    now, bones = frames_of(ob, frames), body(ob)
    for name in ("hips", "head", "hand.L", "hand.R", "foot.L", "foot.R"):
        went = now[:, bones.index(name), :3, 3] - motion[:, bones.index(name), :3, 3]
        assert np.abs(went - (way if name in ("hips", "head") else 0.0)).max() < 1e-3, name


def test_a_corrected_hand_leaves_other_frames_alone() -> None:
    """The frames before and after the corrected key; on its own frame the rest of the body nearly stays."""
    ob = walker()
    motion, bones = frames_of(ob, FRAMES), body(ob)
    bpy.ops.dqik.setup_full_body()
    move_keys(ob, "DQIK hand.L", (0.0, -0.08, 0.05), frame=8.0)
    ob.dqik.live = True
    now = frames_of(ob, FRAMES)
    other = [number for number, frame in enumerate(FRAMES) if frame != 8]
    assert away(now[other], motion[other]) < EXACT
    changed = now[7, :, :3, 3] - motion[7, :, :3, 3]
    assert np.abs(changed[bones.index("hand.L")] - (0.0, -0.08, 0.05)).max() < 1e-3
    for name in ("hips", "head", "hand.R", "foot.L", "foot.R"):
        assert np.abs(changed[bones.index(name)]).max() < 1e-3, name


def test_without_the_option_and_without_motion_nothing_is_keyed() -> None:
    """A pose that is keyed once does not move, and a script may leave the keys out."""
    ob = rigs.figure()
    ob.pose.bones["arm.L"].keyframe_insert("rotation_quaternion", frame=3)
    bpy.ops.dqik.setup_full_body()
    assert not any("DQIK" in path for path, _ in rigs.keys(ob))
    rigs.new_file()
    ob = walker()
    bpy.ops.dqik.setup_full_body(from_animation=False)
    assert not any("DQIK" in path for path, _ in rigs.keys(ob))


def test_a_range_of_the_user_s() -> None:
    """Keys are made on its frames alone; one that ends before it starts is refused, and nothing is added."""
    ob = walker()
    rigs.refuses(bpy.ops.dqik.setup_full_body, "ends at frame 3, before it starts at 9", frame_start=9, frame_end=3)
    assert not ob.dqik.goals
    assert bpy.ops.dqik.setup_full_body(frame_start=3, frame_end=9) == {"FINISHED"}
    keys = rigs.keys(ob)[('pose.bones["DQIK hips"].location', 0)]
    assert [frame for frame, _ in keys] == [3, 4, 5, 6, 7, 8, 9]


def test_a_cycle_is_keyed_over_the_scene() -> None:
    """Its keys end before the motion does."""
    ob = walker()
    for curve in rigs.fcurves(ob):
        curve.modifiers.new("CYCLES")
    ob.animation_data.action.update_tag()
    bpy.context.scene.frame_end = 24
    frames = [1, 16, 20, 24]
    motion = frames_of(ob, frames)
    rigs.set_up(ob)
    assert away(frames_of(ob, frames), motion) < EXACT


def test_an_action_that_another_figure_plays_gets_no_keys() -> None:
    """Controls are added, it is said why they have no keys, and the motion of the hips is kept."""
    ob = walker()
    other = ob.copy()
    bpy.context.scene.collection.objects.link(other)
    motion = frames_of(ob, [9])
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert not any("DQIK" in path for path, _ in rigs.keys(ob))
    ob.dqik.live = True
    hips = body(ob).index("hips")
    assert away(frames_of(ob, [9])[:, hips, :3, 3], motion[:, hips, :3, 3]) < 5e-3


def test_goals_that_are_there_keep_their_targets() -> None:
    """With Live on for a goal of the user, the others are keyed from the motion that shows it."""
    ob = walker()
    rigs.at_frame(1)
    hand = rigs.empty(rigs.tail(ob, "hand.L") + Vector((0.0, -0.05, 0.1)))
    rigs.goal(ob, "hand.L", hand, chain_length=3)
    ob.dqik.live = True
    frames = FRAMES[::5]
    motion = frames_of(ob, frames)
    bpy.ops.dqik.setup_full_body()
    assert len(ob.dqik.goals) == 6
    assert not any(bone.dqik_hold for bone in ob.pose.bones)
    now, bones = frames_of(ob, frames), body(ob)
    for name in ("hips", "head", "hand.R", "foot.L"):
        assert away(now[:, bones.index(name)], motion[:, bones.index(name)]) < 5e-3, name


def test_an_armature_that_a_handler_removes_meanwhile_is_named() -> None:
    walker()

    def remove(*_: object) -> None:
        if bpy.context.scene.frame_current == 7 and "Figure" in bpy.data.objects:
            bpy.data.objects.remove(bpy.data.objects["Figure"])

    with installed("frame_change_post", remove):
        rigs.refuses(bpy.ops.dqik.setup_full_body, "was removed meanwhile")


KINDS = ("CHEST", "SHOULDERS", "ELBOWS", "KNEES", "MASTER")


@pytest.mark.parametrize("order", [(set(KINDS),), (set(), *({kind} for kind in KINDS)), (set(), {"MASTER"}, {"CHEST"})])
def test_further_controls_are_keyed_from_the_motion_too(order: Sequence[set[str]]) -> None:
    """In one press or one after the other: Live shows the motion as before, and each control is where its bone is."""
    ob = walker()
    motion = frames_of(ob, FRAMES)
    for kinds in order:
        rigs.at_frame(5)
        rigs.set_up(ob, controls=kinds)
        assert away(frames_of(ob, FRAMES), motion) < EXACT, kinds
    rigs.at_frame(11)
    assert all(goal.influence == 1.0 and not goal.mute for goal in ob.dqik.goals)
    assert max(max(goal.error, goal.rotation_error) for goal in ob.dqik.goals) < 1e-4
    keyed = {path.split('"')[1] for path, _ in rigs.keys(ob) if path.endswith("location")}
    assert {goal.subtarget for goal in ob.dqik.goals} < keyed


@pytest.mark.parametrize("first", [True, False])
def test_a_chest_that_moves_follows_its_control(first: bool) -> None:
    """By all that its keys are moved, and the head comes along; hips, hands and feet stay on their motion."""
    ob = walker()
    frames = FRAMES[::5]
    motion, bones, way = frames_of(ob, frames), body(ob), (0.0, 0.0, -0.03)
    if not first:
        bpy.ops.dqik.setup_full_body()
    bpy.ops.dqik.setup_full_body(controls={"CHEST"})
    move_keys(ob, "DQIK chest", way)
    ob.dqik.live = True
    went = frames_of(ob, frames)[..., :3, 3] - motion[..., :3, 3]
    for name in ("chest", "head"):
        along = went[:, bones.index(name)]
        assert np.abs(np.linalg.norm(along, axis=-1) - 0.03).max() < 3e-3, name
    for name in ("hips", "hand.L", "hand.R", "foot.L", "foot.R"):
        assert np.abs(went[:, bones.index(name)]).max() < 3e-3, name


@pytest.mark.parametrize("controls", [{"ELBOWS"}, {"ELBOWS", "KNEES", "MASTER"}])
def test_straight_arms_keep_their_roll_with_controls_of_elbows(controls: set[str]) -> None:
    """Where the elbow points is rounding there, which does not turn the arm to its control."""
    ob = rigs.figure()
    for frame, turn in ((1, (-0.4, 0.3, -0.3)), (3, (0.4, -0.2, -0.3)), (6, (0.2, 0.1, -0.4))):
        for name in ("hips", "spine", "chest", "thigh.L"):
            rigs.posed(ob.pose.bones[name], Euler(turn).to_quaternion(), frame)
    halves = np.arange(1.0, 6.25, 0.5).tolist()
    before = frames_of(ob, halves)
    rigs.set_up(rigs.made_active(ob), from_animation=True, controls=controls)
    after = frames_of(ob, halves)
    assert max(rigs.turn(one, other) for one, other in zip(before, after, strict=True)) < 0.005
    assert np.abs(before - after)[..., :3, 3].max() < 1e-4


STRAIGHT_LIMBS = {
    "arm.L": {1: (-0.489, 0.097, 0.411), 3: (-0.066, -0.144, -0.465), 6: (-0.255, 0.151, 0.092)},
    "shin.L": {1: (-0.175, 0.281, 0.163), 6: (-0.444, 0.034, -0.431)},
    "chest": {1: (-0.346, 0.338, -0.373), 3: (0.411, 0.409, 0.146), 6: (0.389, 0.176, -0.401)},
    "foot.R": {1: (-0.233, -0.36, 0.338), 3: (-0.336, 0.068, 0.335)},
    "arm.R": {1: (-0.021, -0.393, 0.086), 3: (-0.331, -0.377, -0.453), 6: (0.415, 0.245, -0.468)},
}


def random_turns(seed: int) -> dict[str, dict[int, tuple[float, ...]]]:
    """Angles of five random bones at two or three frames; all other bones stay as they rest, so limbs are straight."""
    draw = np.random.default_rng(seed)
    names = draw.choice(["spine", "chest", "head", "arm.L", "arm.R", "forearm.L", "thigh.L", "shin.L", "foot.R"], 5)
    return {str(name): {f: tuple(draw.uniform(-0.5, 0.5, 3)) for f in (1, 3, 6)} for name in names}


@pytest.mark.parametrize(
    ("turns", "place", "of_hips"),
    [(STRAIGHT_LIMBS, (0, 0, 0), False), (random_turns(0), (0, 0, 0), False),
     (random_turns(1), (30, -20, 1), False), (random_turns(2), (10, -7, 0.3), False),
     (random_turns(1), (10, -7, 0.3), True), (random_turns(3), (125, -82, 4), True)],
)  # fmt: skip
def test_straight_limbs_stay_straight(turns: dict, place: tuple[float, ...], of_hips: bool) -> None:
    """They could bend or roll within the tolerances; also far away, where numbers are rounded more."""
    ob = rigs.figure()
    if of_hips:
        ob.pose.bones["hips"].location = place
        ob.pose.bones["hips"].keyframe_insert("location", frame=1)
    else:
        ob.location = place
    for name, angles in turns.items():
        rigs.key_path(ob.pose.bones[name], angles,
                      [Euler(angle).to_quaternion() for angle in angles.values()], "rotation_quaternion")  # fmt: skip
    halves = np.arange(1.0, 6.25, 0.5).tolist()
    before = frames_of(ob, halves)
    rigs.set_up(rigs.made_active(ob), from_animation=True, controls={"ELBOWS"})
    after = frames_of(ob, halves)
    assert max(rigs.turn(one, other) for one, other in zip(before, after, strict=True)) < 1e-4
    assert away(before, after) < 1e-5


@pytest.mark.parametrize("degrees", [0.5, 2.0])
def test_elbows_follow_poles_that_turn_by_little(degrees: float) -> None:
    """A pose that meets all but its poles is not taken for the answer."""
    ob = walker()
    rigs.set_up(ob, from_animation=True, controls={"ELBOWS"})
    rigs.at_frame(5)
    goal = rigs.goal_of(ob, "hand.L")
    pole, bones = ob.pose.bones[goal.pole_subtarget], ob.pose.bones
    root, end = bones["arm.L"].head.copy(), bones["hand.L"].head.copy()
    elbow = bones["forearm.L"].head.copy()
    turn = Quaternion(end - root, radians(degrees))
    place = pole.matrix.copy()
    place.translation = root + turn @ (place.translation - root)
    pole.matrix = place
    bpy.context.view_layer.update()
    line = (end - root).normalized()
    was, now = (each - root - line * (each - root).dot(line) for each in (elbow, bones["forearm.L"].head))
    assert np.degrees(was.angle(now)) == pytest.approx(degrees, rel=0.3)
