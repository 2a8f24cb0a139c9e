# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow-through of a tail in Blender: what is keyed is what plays, it closes loops, and limits hold."""

from collections.abc import Sequence
from itertools import pairwise
from math import pi, radians, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from films import probed
from live_rigs import film_here
from mathutils import Euler, Quaternion

TAIL = ("tail.1", "tail.2", "tail.3")


def _dog(mode: str = "QUATERNION", across: bool = False, rate: int = 24) -> bpy.types.Object:
    """A body with a tail of three bones, of which the body is turned to and fro in a second, and closes.

    across : the tail's bones point up, as those of imported figures may do. rate : frames a second.
    """
    bones = [rigs.Bone("body", (0, 0, 1), (0, -1, 1))]
    for number, name in enumerate(TAIL):
        head, way = np.array([0, 0.3 * number, 1]), (0, 0, 0.1) if across else (0, 0.3, 0)
        bones.append(rigs.Bone(name, tuple(head), tuple(head + way), "body" if not number else TAIL[number - 1],
                               bool(number) and not across, roll=0.4))  # fmt: skip
    ob = rigs.armature(bones)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, rate + 1
    scene.render.fps, scene.render.fps_base = rate, 1.0
    body = ob.pose.bones["body"]
    body.rotation_mode = "XYZ"
    for frame in range(1, rate + 2):
        turned = 2.0 * pi * (frame - 1) / rate
        rigs.keyed(body, frame, rotation_euler=(0.0, 0.1, 0.6 * sin(turned)), location=(0.2 * sin(2.0 * turned), 0, 0))
    for name in TAIL:
        ob.pose.bones[name].rotation_mode = mode
    rigs.select(ob, *TAIL)
    return ob


def _tips(ob: bpy.types.Object, frames: range, name: str = "tail.3") -> np.ndarray:
    return np.array([rigs.tail(ob, name)[:] for _ in rigs.visited(frames)])


@pytest.mark.parametrize("mode", rigs.ROTATION_MODES)
def test_a_tail_follows_and_its_loop_closes(mode: str) -> None:
    """In every rotation mode alike: Blender plays the same tips, in any order of frames."""
    ob = _dog(mode)
    before, body = _tips(ob, range(1, 26)), _tips(ob, range(1, 26), "body")
    assert bpy.ops.dqik.overlap(frequency=1.5) == {"FINISHED"}
    after = _tips(ob, range(1, 26))
    assert np.abs(after - before).max() > 0.1
    assert after[0] == pytest.approx(after[-1], abs=1e-5)
    assert _tips(ob, range(25, 0, -1))[::-1] == pytest.approx(after, abs=1e-6)
    assert np.abs(_tips(ob, range(1, 26), "body") - body).max() < 1e-6
    steps = np.linalg.norm(np.diff(np.concatenate([after, after[1:3]]), 2, axis=0), axis=-1)
    assert steps.max() < 0.15  # no jump, over the seam of the loop too
    bpy.ops.object.mode_set(mode="OBJECT")
    reference = _dog()
    bpy.ops.dqik.overlap(frequency=1.5)
    assert _tips(reference, range(1, 26)) == pytest.approx(after, abs=1e-4)


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY", "AXIS_ANGLE"])
def test_a_tail_that_goes_round_does_not_spin_between_its_keys(mode: str) -> None:
    """Its channels go on from frame to frame, however far they have turned."""
    ob = _dog(mode)
    for frame in range(1, 26):
        angle = 2.5 * pi * (frame - 1) / 24.0
        bone = ob.pose.bones["tail.1"]
        rigs.posed(bone, Quaternion((0.0, 1.0, 0.0), angle))
        if mode == "AXIS_ANGLE":
            bone.rotation_axis_angle = (angle, 0.0, 1.0, 0.0)
        elif mode != "QUATERNION":
            bone.rotation_euler = (0.0, angle, 0.0)
        elif angle > pi:
            bone.rotation_quaternion = Quaternion((0.0, 1.0, 0.0), angle)
        bone.keyframe_insert(rigs.ROTATION_PATHS[mode], frame=frame)
    assert bpy.ops.dqik.overlap(frequency=1.5) == {"FINISHED"}
    shown = [np.array(rigs.evaluated(ob).pose.bones["tail.1"].matrix) for _ in rigs.visited(np.arange(1.0, 25.25, 0.5))]
    steps = [rigs.turn(one, other) for one, other in pairwise(shown)]
    assert max(steps) < 0.6  # a spin turns by half a turn in half a frame


def test_bones_that_point_across_their_chain_follow_alike() -> None:
    """What swings is the way from bone to bone, and the last one goes on like that."""
    found = []
    for across in (False, True):
        ob = _dog(across=across)
        rest = np.array(ob.data.bones["tail.3"].matrix_local.to_3x3())
        bpy.ops.dqik.overlap(frequency=1.5)
        motion = [np.array(rigs.evaluated(ob).pose.bones["tail.3"].matrix)[:3] for _ in rigs.visited(range(1, 26))]
        turns, heads = np.array(motion)[:, :, :3] @ rest.T, np.array(motion)[:, :, 3]
        found.append(np.concatenate([heads, turns @ (0, 0.3, 0)], 1))
        bpy.ops.object.mode_set(mode="OBJECT")
    assert np.ptp(found[0], axis=0).max() > 0.3
    assert found[0] == pytest.approx(found[1], abs=1e-4)


@pytest.mark.parametrize(("rate", "size"), [(60, 1.0), (24, 0.01)])
def test_frame_rates_and_scales_swing_alike(rate: int, size: float) -> None:
    """The tip of a tail of 0.9, in the units of the figure."""
    found = []
    for frames, scale in ((24, 1.0), (rate, size)):
        ob = _dog(rate=frames)
        ob.scale = (scale, scale, scale)
        bpy.ops.dqik.overlap(loop="OFF")
        found.append(_tips(ob, range(1, frames + 2, frames // 12)) / scale)
        bpy.ops.object.mode_set(mode="OBJECT")
    assert np.ptp(found[0], axis=0).max() > 0.3
    assert found[1] == pytest.approx(found[0], abs=0.03)


def test_limits_hold_on_every_frame() -> None:
    ob = _dog()
    for name in TAIL:
        bone = ob.pose.bones[name]
        bone.dqik_use_limits = True
        bone.dqik_swing_x_min, bone.dqik_swing_x_max = -0.1, 0.1
        bone.dqik_swing_z_min, bone.dqik_swing_z_max = -0.1, 0.1
        bone.dqik_twist_min, bone.dqik_twist_max = -0.05, 0.05
    bpy.ops.dqik.overlap(frequency=1.0)
    angles = []
    for _ in rigs.visited(range(1, 26)):
        angles += [Quaternion(ob.pose.bones[name].rotation_quaternion).angle for name in TAIL]
    assert radians(3) < max(angles) < 0.12


def test_a_bone_that_hangs_on_an_unselected_one_and_does_not_inherit_rotation() -> None:
    """It keeps its direction in the world but for the way of its head."""
    ob = _dog()
    ob.data.bones["tail.2"].use_inherit_rotation = False
    ob.rotation_euler, ob.scale = Euler((0.3, 0.2, 1.0)), (2.0, 2.0, 2.0)
    rigs.select(ob, "tail.2", "tail.3")
    assert bpy.ops.dqik.overlap(loop="OFF") == {"FINISHED"}
    assert np.isfinite(_tips(ob, range(1, 26))).all()


def test_what_goals_move_is_refused_by_name() -> None:
    ob = _dog()
    rigs.select(ob, "tail.3")
    bpy.ops.dqik.goal_add()
    rigs.live(ob, at=2)
    rigs.select(ob, "tail.3", "tail.2")
    rigs.refuses(bpy.ops.dqik.overlap, r"'tail\.\d' is moved by a goal: mute the goal")
    ob.dqik.goals[0].chain_length = 1
    rigs.couple(ob, "tail.1", "tail.3")
    rigs.select(ob, "tail.1")
    rigs.refuses(bpy.ops.dqik.overlap, r"'tail\.1' is moved by a goal")


def _beast() -> tuple[bpy.types.Object, list[str]]:
    """A body that a goal moves in a loop of 24 frames, with a tail, ears and hair; and the names of these."""
    bones = [rigs.Bone("root", (0, 0.5, 1), (0, 0.2, 1)), rigs.Bone("body", (0, 0.2, 1), (0, -1, 1), "root", True)]
    loose = list[str]()
    parts = [("tail", (0, 0.5, 1), (0, 0.3, 0)), ("ear.L", (0.1, -1, 1.1), (0.1, 0, 0.2)),
             ("ear.R", (-0.1, -1, 1.1), (-0.1, 0, 0.2)), ("hair", (0, -0.9, 1.1), (0, 0.1, 0.1))]  # fmt: skip
    for part, start, way in parts:
        above = "root" if part == "tail" else "body"
        for number in range(3):
            ends = [tuple(np.add(start, np.multiply(way, number + k))) for k in (0, 1)]
            loose.append(f"{part}.{number}")
            bones.append(rigs.Bone(loose[-1], *ends, above, number > 0, roll=0.2 * number))
            above = loose[-1]
    ob = rigs.armature(bones)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base = 1, 25, 24, 1.0
    target = rigs.empty((0, -1, 1))
    angles = [2.0 * pi * (frame - 1) / 24.0 for frame in range(1, 26)]
    rigs.key_path(target, range(1, 26), [(0.5 * sin(a), -0.9, 1.0 + 0.2 * sin(2.0 * a)) for a in angles])
    rigs.goal(ob, "body", target)
    ob.dqik.live = True
    rigs.select(ob, *loose)
    return ob, loose


def test_playback_renders_and_a_bake_show_one_overlap_in_any_order(tmp_path: Path) -> None:
    """Of a solved body, with ears, hair and a tail: also the loop closes."""
    ob, loose = _beast()
    frames = range(1, 26)

    def film(order: Sequence[int] = frames) -> np.ndarray:
        return np.array([film_here(ob) for frame in rigs.visited(order)])[np.argsort(order)]

    before = film()
    assert bpy.ops.dqik.overlap(frequency=2.0, loop="AUTO") == {"FINISHED"}
    played = film()
    rows = [ob.pose.bones.find(name) for name in loose]
    assert (np.abs(played - before)[:, rows].max((0, 2, 3)) > 0.02).all()
    assert played[0] == pytest.approx(played[-1], abs=1e-5)
    mixed = np.random.default_rng(3).permutation(25) + 1
    assert np.abs(film(mixed.tolist()) - played).max() < 1e-6
    scene = bpy.context.scene
    with probed(lambda depsgraph: film_here(ob, depsgraph), tmp_path) as seen:
        for _ in rigs.visited(mixed[:6].tolist()):
            bpy.ops.render.render()
        scene.frame_start, scene.frame_end = 10, 14
        bpy.ops.render.render(animation=True)
    assert max(np.abs(pose - played[frame - 1]).max() for frame, pose in seen.items()) < 1e-6
    scene.frame_start, scene.frame_end = 1, 25
    assert bpy.ops.dqik.bake() == {"FINISHED"}
    ob.dqik.live = False
    assert np.abs(film() - played).max() < 1e-6


@pytest.mark.parametrize("keyed", [False, True])
def test_before_and_after_a_range_the_tail_moves_as_it_did(keyed: bool) -> None:
    """A tail with a few keys of its own, or none, in the middle of a motion."""
    ob = _dog()
    for frame in (1, 13, 25) if keyed else ():
        rigs.keyed(ob.pose.bones["tail.1"], frame, rotation_quaternion=rigs.rotation((1, 0, 0), 2.0 * frame))
    before = _tips(ob, range(-2, 29))
    rigs.at_frame(1)
    assert bpy.ops.dqik.overlap(frame_start=6, frame_end=16, loop="OFF") == {"FINISHED"}
    away = np.abs(_tips(ob, range(-2, 29)) - before).max(-1)
    assert away[range(-2, 29).index(6) : range(-2, 29).index(17)].max() > 0.02
    assert away[: range(-2, 29).index(6)].max() < 1e-5
    assert away[range(-2, 29).index(17) :].max() < 1e-5
