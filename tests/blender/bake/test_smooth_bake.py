# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth bakes: all frames as one motion. Goals and limits hold as in the usual bake, and limbs do not pop."""

from collections.abc import Callable, Generator
from math import cos, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
import situations
from mathutils import Quaternion, Vector

FRAMES = range(1, 61)
def swinging_arm(reach: Callable[[float], Vector] | None = None) -> bpy.types.Object:
    """An arm of three bones whose hand passes close by its shoulder, where the nearest answer changes sides."""
    ob = rigs.made_active(rigs.chain([(0, 0, 0), (1, -0.1, 0), (2, 0.1, 0), (2.6, 0, 0)], "Arm"))
    target = rigs.empty((0, 0, 0), "Target")

    def passing(t: float) -> Vector:
        return Vector((1.6 - 3.2 * t, 0.12, 0.25 * sin(6.0 * t)))

    rigs.key_path(target, FRAMES, [(reach or passing)((f - 1) / (len(FRAMES) - 1)) for f in FRAMES])
    rigs.goal(ob, "c", target)
    rigs.at_frame(1)
    return ob


def bake(**settings: object) -> set[str]:
    """Bake all frames, or as said."""
    return bpy.ops.dqik.bake(**{"frame_start": FRAMES[0], "frame_end": FRAMES[-1], **settings})


def turns(ob: bpy.types.Object) -> np.ndarray:
    """Rotations (F, N, 4) of all bones as Blender evaluates them, relative to rest and their parents."""
    return np.array([[rigs.local_rotation(ob, bone.name) for bone in ob.pose.bones] for _ in rigs.visited(FRAMES)])


def steps(poses: np.ndarray) -> np.ndarray:
    """Rotation vectors (F - 1, N, 3) from each frame to the next."""
    return np.array([
        [tuple(Quaternion(one).rotation_difference(Quaternion(other)).to_exponential_map())
         for one, other in zip(before, after, strict=True)]
        for before, after in zip(poses[:-1], poses[1:], strict=True)
    ])  # fmt: skip


def roughness(poses: np.ndarray) -> float:
    """The mean squared acceleration of the bones."""
    return float((np.diff(steps(poses), axis=0) ** 2).sum(-1).mean())


def largest_step(poses: np.ndarray) -> float:
    """Radians."""
    return float(np.linalg.norm(steps(poses), axis=-1).max())


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest angle between bones of the same frames [rad]."""
    return float(2.0 * np.arccos(np.minimum(np.abs((one.astype(float) * other).sum(-1)), 1.0)).max())


def worst_miss(ob: bpy.types.Object) -> float:
    """Of the hand, in any frame."""
    found = [rigs.miss(ob, "c", bpy.data.objects["Target"]) for _ in rigs.visited(FRAMES)]
    return max(found)


def both(build: Callable[[], bpy.types.Object], smooth: float = 1.0) -> Generator[bpy.types.Object]:
    """The armature after the usual bake, and, built again, after a smooth one."""
    for amount in (0.0, smooth):
        rigs.new_file()
        ob = build()
        assert bake(smooth=amount) == {"FINISHED"}
        yield ob


def test_without_smooth_the_bake_is_the_usual_one() -> None:
    """To the bit, in keys and in the report."""
    found = []
    for settings in ({}, {"smooth": 0.0}):
        rigs.new_file()
        ob = swinging_arm()
        bake(**settings)
        found.append((rigs.keys(ob), ob.dqik.own_answers, [one.name for one in ob.dqik.missed_frames]))
    assert found[0] == found[1]


def test_a_limb_that_popped_moves_smoothly() -> None:
    """The largest step and the accelerations fall, goals are met as well, and the rest of the report is the same."""
    usual, smooth = [(turns(ob), worst_miss(ob), len(ob.dqik.missed_frames)) for ob in both(swinging_arm)]
    assert largest_step(usual[0]) > 0.5
    assert largest_step(smooth[0]) < 0.5 * largest_step(usual[0])
    assert roughness(smooth[0]) < 0.2 * roughness(usual[0])
    assert smooth[1] <= max(usual[1], 1e-3)
    assert smooth[2] <= usual[2]


def keyed_arm() -> bpy.types.Object:
    """An arm keyed on all frames with an accent in the middle, whose target is a little beside where its hand is."""
    ob = swinging_arm()
    keyed = []
    for frame in FRAMES:
        turns_of = {"a": 10.0 * sin(0.1 * frame), "b": 50.0 - 20.0 * cos(0.07 * frame), "c": 30.0}
        turns_of["a"] += 25.0 if frame >= 30 else 0.0
        for name, turn in turns_of.items():
            rigs.keyed(ob.pose.bones[name], frame, rotation_quaternion=rigs.rotation((0, 0, 1), turn))
        rigs.update()
        keyed.append(rigs.tail(ob, "c"))
    target = ob.dqik.goals[0].target
    target.animation_data_clear()
    away = np.clip((np.array(FRAMES) - 15) / 30.0, 0.0, 1.0)
    rigs.key_path(target, FRAMES, [
        place + Vector((0, 0.1, 0.15)) * float(part * part * (3 - 2 * part))
        for part, place in zip(away, keyed, strict=True)
    ])  # fmt: skip
    rigs.at_frame(1)
    return ob


def test_a_keyed_motion_keeps_its_accents() -> None:
    """Where all bones are keyed, what changes smoothly is the difference from the keys; a sudden turn stays one, and
    frames that meet their goals stay."""
    keys = turns(keyed_arm())
    usual, smooth = [(turns(ob), worst_miss(ob)) for ob in both(keyed_arm)]
    accent = np.linalg.norm(steps(keys)[28, 0])
    assert accent > 0.3
    assert np.linalg.norm(steps(smooth[0])[28, 0]) == pytest.approx(accent, rel=0.1)
    assert smooth[1] <= max(usual[1], 1e-3)
    assert apart(keys[:10], smooth[0][:10]) < 0.01
    assert apart(keys[-1:], smooth[0][-1:]) > 0.05


def test_live_leaves_the_baked_frames_as_they_are() -> None:
    """Switched on after the bake, also where a target is out of reach."""
    ob = swinging_arm(lambda t: Vector((2.9 - 3.2 * t, 0.12, 0.2)))
    bake(smooth=1.0)
    assert ob.dqik.missed_frames
    baked = turns(ob)
    ob.dqik.live = True
    assert np.abs(np.abs((turns(ob) * baked).sum(-1)) - 1.0).max() < 1e-6


def test_a_goal_muted_in_between_parts_the_motion() -> None:
    """Each part is solved by itself, and frames without a goal stay as they are."""
    ob = swinging_arm()
    goal = ob.dqik.goals[0]
    rigs.key_path(goal, (1, 30, 32), (False, True, False), "mute")
    assert bake(smooth=1.0) == {"FINISHED"}
    for _ in rigs.visited((1, 29, 32, 60)):
        assert rigs.miss(ob, "c", goal.target) < 1e-3
    rigs.at_frame(30)
    assert rigs.tail(ob, "c").x == pytest.approx(2.6, abs=1e-4)


def test_a_library_override_is_baked(tmp_path: Path) -> None:
    """Goals met, without pops."""
    swinging_arm()
    ob = rigs.made_active(situations.overridden(tmp_path / "library.blend"))
    assert bake(smooth=1.0) == {"FINISHED"}
    assert largest_step(turns(ob)) < 0.5
    for _ in rigs.visited((1, 20, 60)):
        assert rigs.miss(ob, "c", ob.dqik.goals[0].target) < 1e-3


def test_what_a_smooth_bake_cannot_do_is_refused() -> None:
    """A lag, in one sentence that says what to do; nothing changes."""
    ob = swinging_arm()
    had = rigs.keys(ob)
    ob.dqik.start_from = "FOLLOW"
    rigs.refuses(bake, "Follow lags behind .* or Smooth 0", smooth=0.5)
    assert rigs.keys(ob) == had


def test_the_command_line_bakes_smoothly(tmp_path: Path) -> None:
    """The written file moves as the operator's bake does."""
    ob = swinging_arm()
    module = rigs.part("operators.commands.command_line")
    out = tmp_path / "out.blend"
    arguments = ["--armature", ob.name, "--start", "1", "--end", "60", "--output", str(out)]
    assert module.bake([*arguments, "--smooth", "2"]) == 2
    assert module.bake([*arguments, "--smooth", "1"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    found = turns(bpy.data.objects["Arm"])
    rigs.new_file()
    ob = swinging_arm()
    bake(smooth=1.0)
    assert np.array_equal(turns(ob), found)


def test_a_target_that_trembles_is_steadied_in_smooth_bakes_only() -> None:
    noise = np.random.default_rng(0).uniform(-0.004, 0.004, (len(FRAMES), 3))
    places = [Vector((1.6, 0.4 - t, 0.3 * sin(3.0 * t))) for t in np.linspace(0.0, 1.0, len(FRAMES)).tolist()]
    paths = {}
    for share, smooth in ((0.0, 0.3), (0.25, 0.3), (0.25, 0.0)):
        rigs.new_file()
        ob = swinging_arm(lambda t: places[round(t * (len(FRAMES) - 1))] + Vector(noise[round(t * (len(FRAMES) - 1))]))
        ob.dqik.goals[0].smooth = share
        assert bake(smooth=smooth) == {"FINISHED"}
        paths[share, smooth] = np.array([tuple(rigs.tail(ob, "c")) for _ in rigs.visited(FRAMES)])
    exact, steady, alone = paths.values()
    assert np.abs(alone - exact).max() < 1e-3
    assert 0.002 < np.linalg.norm(steady - exact, axis=-1).max() < 0.25 * 0.02 * 2.7 + 1e-3
    roughness_of = [np.sqrt((np.diff(path, 2, axis=0) ** 2).sum(-1).mean()) for path in (steady, exact)]
    assert roughness_of[0] < 0.3 * roughness_of[1]
