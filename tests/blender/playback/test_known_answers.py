# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that were found once are not searched again, and never stand where another question was asked."""

import gc

import bpy
import numpy as np
import pytest
import rigs

FRAMES = (1, 4, 7, 10)


def playing(start_from: str = "POSE") -> bpy.types.Object:
    """A live figure whose left hand follows a keyed target."""
    ob = rigs.figure()
    for bone in ("hand.L", "foot.R"):
        rigs.goal(ob, bone, rigs.empty(0.8 * rigs.tail(ob, bone), bone))
    rigs.key_path(bpy.data.objects["hand.L"], (1, 10), ((0.5, -0.3, 1.2), (0.3, -0.4, 1.6)))
    ob.dqik.start_from = start_from
    ob.dqik.live = True
    return ob


def loop(ob: bpy.types.Object) -> np.ndarray:
    """The channels (F, N, C) on some frames."""
    shown = [rigs.channels(ob) for _ in rigs.visited(FRAMES)]
    return np.stack(shown)


def known() -> int:
    """How many answers are remembered."""
    return len(rigs.part("rig.frame.sessions").sessions.known)


def forget() -> None:
    rigs.part("rig.frame.sessions").sessions.known.clear()


@pytest.mark.parametrize("start_from", ["POSE", "REST"])
def test_the_second_loop_is_the_first_to_the_bit(start_from: str) -> None:
    ob = playing(start_from)
    np.testing.assert_array_equal(loop(ob), loop(ob))
    assert ob.dqik.status.converged


def test_channels_of_other_rotation_modes_are_left_alone() -> None:
    ob = playing()
    for k, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = ("XYZ", "AXIS_ANGLE", "QUATERNION", "ZYX")[k % 4]
    unused = {"QUATERNION": [7, 8, 9, 10, 11, 12, 13], "AXIS_ANGLE": [3, 4, 5, 6, 7, 8, 9]}
    euler = [3, 4, 5, 6, 10, 11, 12, 13]
    for bone in ob.pose.bones:
        for path, value in (("quaternion", (0.5, 0.1, 0.2, 0.3)), ("axis_angle", (0.1, 0.2, 0.3, 0.4))):
            if not bone.rotation_mode.startswith(path.split("_")[0].upper()):
                setattr(bone, f"rotation_{path}", value)
        if bone.rotation_mode in unused:
            bone.rotation_euler = (0.3, 0.2, 0.1)
    rigs.update()
    before = rigs.channels(ob)
    shown = loop(ob)
    assert (np.ptp(shown, axis=0) > 0.01).any()
    for row, bone in enumerate(ob.pose.bones):
        left = unused.get(bone.rotation_mode, euler)
        np.testing.assert_array_equal(shown[:, row, left], np.tile(before[row, left], (len(FRAMES), 1)))


def test_previous_frame_goes_on_from_a_known_answer() -> None:
    """Frames that follow one that was not solved again are those that follow it when it was."""
    ob = playing()
    shown = []
    for _ in range(3):
        rigs.visit(FRAMES)
        ob.dqik.start_from = "PREVIOUS"
        rigs.at_frame(11)
        shown.append(rigs.channels(ob))
        ob.dqik.start_from = "POSE"
        if len(shown) == 2:
            forget()
    np.testing.assert_array_equal(shown[1], shown[0])
    np.testing.assert_array_equal(shown[2], shown[0])


def test_a_bake_after_playback_is_the_bake_without_it() -> None:
    """Keys that are the same whether the frames were played before, some of them, or none."""
    baked = []
    for frames in ((), FRAMES[:2], range(1, 11)):
        rigs.new_file()
        ob = playing()
        forget()
        rigs.visit(frames)
        rigs.made_active(ob)
        assert bpy.ops.dqik.bake(frame_start=1, frame_end=10) == {"FINISHED"}
        baked.append(rigs.keys(ob))
    for other in baked[1:]:
        assert other.keys() == baked[0].keys()
        for path, points in baked[0].items():
            np.testing.assert_allclose(other[path], points, atol=1e-6)


def test_memory_is_bounded_and_what_was_not_asked_for_longest_goes_first() -> None:
    ik = rigs.part("solvers")
    module = rigs.part("rig.frame.step.known_answers")
    skeleton = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 1, 0))])
    prepared = ik.prepare(skeleton, [ik.Goal("hand", position=(0, 0, 0))])
    answers, arrays = module.KnownAnswers(10_000), prepared.arrays()

    def ask(place: float) -> tuple:
        arrays.positions[:] = place
        return answers.question(prepared, None, False, arrays.questions()[0])

    for place in range(50):
        question = ask(place)
        prepared.solve_into(arrays)
        answers.keep(question, arrays.answers()[0])
        assert answers.get(ask(0.0)) is not None  # asked for again and again
    assert 2 <= len(answers) < 20
    assert answers.get(ask(49.0)) is not None
    assert answers.get(ask(10.0)) is None


@pytest.mark.parametrize("setting", ["dqik_stiffness", "dqik_hold"])
def test_memory_is_bounded_where_each_frame_is_prepared_anew(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting of a bone that is keyed on all frames makes another prepared solve of each."""
    solvers = rigs.part("solvers")
    prepared_rig = rigs.part("rig.frame.memory.prepared_rig")
    most = 5
    monkeypatch.setattr(prepared_rig, "_MOST", most)
    ob = playing()
    bone = ob.pose.bones["spine"]
    rigs.key_path(bone, (1, 100), (0.0, 0.9), setting)

    def count() -> int:
        gc.collect()
        return sum(type(one) is solvers.Prepared for one in gc.get_objects())

    others = count()  # those of other tests
    rigs.visit(range(1, 41))
    assert count() <= others + most + 5
