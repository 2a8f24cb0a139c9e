# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that tools put into curves: what is around keeps its shape, and they are as keys that the user inserts."""


import bpy
import numpy as np
import pytest
import rigs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest import MonkeyPatch

ENUMS = bpy.types.Keyframe.bl_rna.properties
HANDLES = [item.identifier for item in ENUMS["handle_left_type"].enum_items]
INTERPOLATIONS = [item.identifier for item in ENUMS["interpolation"].enum_items]
EASINGS = [item.identifier for item in ENUMS["easing"].enum_items]
NEAR = 1e-4  # of the size of a curve's values: F-curves have single precision, also of steep slopes
UPRIGHT = 3e-3  # *Circular* is upright at one end, where single precision of time decides, and *Elastic* is steep

VALUES = st.floats(-3.0, 3.0, width=32)
KEY = st.tuples(
    st.integers(1, 12), VALUES, st.sampled_from(HANDLES), st.sampled_from(HANDLES), st.sampled_from(INTERPOLATIONS),
    st.sampled_from(EASINGS), st.floats(0.02, 0.6), VALUES, st.floats(0.02, 0.6), VALUES,
)  # fmt: skip


def curve_of(keys: list[tuple], smoothing: str, extrapolation: str) -> bpy.types.FCurve:
    """A curve of an empty, new for each example, whose keys are so many frames apart; handles in shares of that."""
    ob = rigs.empty((0, 0, 0))
    ob.animation_data_clear()
    ob.keyframe_insert("location", index=0, frame=0)
    [curve] = rigs.fcurves(ob)
    curve.auto_smoothing, curve.extrapolation = smoothing, extrapolation
    points, frame = curve.keyframe_points, 0.0
    points.add(len(keys) - 1)
    gaps = [key[0] for key in [*keys[1:], keys[-1]]]
    for point, gap, (step, value, left, right, kind, easing, before, lower, after, upper) in zip(
        points, gaps, keys, strict=True
    ):
        frame, before, after = frame + step, before * step, after * gap
        point.co = (frame, value)
        point.handle_left_type, point.handle_right_type = left, right
        point.handle_left, point.handle_right = (frame - before, value + lower), (frame + after, value + upper)
        point.interpolation, point.easing = kind, easing
        point.back, point.amplitude, point.period = 1.7, 0.8, 4.1
    curve.update()
    return curve


def values(curve: bpy.types.FCurve, times: np.ndarray) -> np.ndarray:
    return np.array([curve.evaluate(time) for time in times])


def near(keys: list[tuple], before: np.ndarray) -> float:
    """By how much values may differ."""
    return (UPRIGHT if any(key[4] in ("CIRC", "ELASTIC") for key in keys) else NEAR) * max(np.abs(before).max(), 1.0)


RANDOM = settings(
    max_examples=150, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # fmt: skip
CURVES = {"keys": st.lists(KEY, min_size=1, max_size=6), "share": st.floats(-0.3, 1.3),
          "smoothing": st.sampled_from(["NONE", "CONT_ACCEL"]),
          "extrapolation": st.sampled_from(["CONSTANT", "LINEAR"])}  # fmt: skip


@RANDOM
@given(**CURVES)
def test_a_key_put_in_leaves_the_curve(keys: list, share: float, smoothing: str, extrapolation: str) -> None:
    """Whatever its keys, handles, easings and smoothing are, and wherever the key is put: before, between, behind."""
    curve = curve_of(keys, smoothing, extrapolation)
    first, last = curve.range()
    time = first + share * (last - first) if last > first else first + 20.0 * (share - 0.5)
    times = np.linspace(first - 10.0, last + 10.0, 241)
    before = values(curve, times)
    key = rigs.part("rig.keys.splits").split(curve, time)
    assert abs(key.co.x - time) <= 0.01
    assert np.abs(values(curve, times) - before).max() < near(keys, before)
    frames = [point.co.x for point in curve.keyframe_points]
    assert min(np.diff(frames), default=1.0) > 0.01


@RANDOM
@given(**CURVES)
def test_a_key_that_jumps_leaves_both_sides(keys: list, share: float, smoothing: str, extrapolation: str) -> None:
    """The key after it, and those behind, are the animator's; between it and that key nothing overshoots."""
    curve = curve_of(keys, smoothing, extrapolation)
    first, last = curve.range()
    time = first + share * (last - first + 1.0)
    own = [point.co.x for point in curve.keyframe_points]
    following = min((frame for frame in own if frame > time + 0.01), default=np.inf)
    end = min(following, last + 10.0)
    times = np.append(np.linspace(first - 10.0, time, 101), np.linspace(end, last + 10.0, 101))
    before, most = values(curve, times), near(keys, values(curve, np.linspace(first - 10.0, last + 10.0, 241)))
    rigs.part("rig.keys.splits").split(curve, time, after=False)
    assert np.abs(values(curve, times) - before).max() < most
    assert not [point for point in curve.keyframe_points if time + 0.01 < point.co.x < following]


@pytest.mark.parametrize("time", [12.0, 12.01])
def test_of_two_keys_as_near_as_blender_allows_the_nearer_one_is_taken(time: float) -> None:
    ob = rigs.empty((0, 0, 0))
    ob.keyframe_insert("location", index=0, frame=2)
    [curve] = rigs.fcurves(ob)
    curve.keyframe_points.add(2)
    for point, frame in zip(curve.keyframe_points, (2.0, 12.0, 12.01), strict=True):
        point.co = (frame, frame)
    curve.update()
    assert rigs.part("rig.keys.splits").split(curve, time).co[0] == pytest.approx(time, abs=1e-4)
    assert len(curve.keyframe_points) == 3


@pytest.mark.parametrize("kind", HANDLES)
@pytest.mark.parametrize("frames", [(10.0,), (9.0, 10.0), tuple(np.arange(8.0, 14.0))])
def test_new_keys_have_the_handles_of_the_preferences(monkeypatch: MonkeyPatch, kind: str, frames: tuple) -> None:
    """As a key that Blender inserts; the animator's own keys keep theirs, and the curve beyond them stays."""
    monkeypatch.setattr(bpy.context.preferences.edit, "keyframe_new_handle_type", kind)
    ob = rigs.empty((0, 0, 0))
    rigs.key_path(ob, (1, 5, 20, 30), [(0, 0, 0), (2, 0, 0), (-1, 0, 0), (1, 0, 0)])
    curve = rigs.fcurves(ob)[0]
    for point in curve.keyframe_points:
        point.handle_left_type = point.handle_right_type = "AUTO"
    curve.update()
    times = np.append(np.linspace(-5.0, 5.0, 41), np.linspace(20.0, 35.0, 61))
    before = values(curve, times)
    writer = rigs.part("rig.curves").Writer(ob, ob.animation_data.action)
    writer.write("location", 0, "", np.array(frames), np.full(len(frames), 7.0))
    writer.finish()
    new = [point for point in curve.keyframe_points if point.co.x in frames]
    assert len(new) == len(frames)
    assert {(point.handle_left_type, point.handle_right_type) for point in new} == {(kind, kind)}
    assert np.abs(values(curve, times) - before).max() < NEAR
    assert all(abs(point.handle_left.x - point.co.x) < 6.0 for point in new)


@pytest.mark.parametrize("kind", ["CONSTANT", "LINEAR", "BEZIER", "SINE"])
def test_keys_have_the_interpolation_of_the_preferences(monkeypatch: MonkeyPatch, kind: str) -> None:
    """On new curves; else that of the key before, as Blender's have. Keys of a motion go on between the frames."""
    monkeypatch.setattr(bpy.context.preferences.edit, "keyframe_new_interpolation_type", kind)
    ob = rigs.empty((0, 0, 0))
    rigs.key_path(ob, (1, 9), [(0, 0, 0), (1, 0, 0)])
    for point in rigs.fcurves(ob)[0].keyframe_points:
        point.interpolation = "QUAD"
    writer = rigs.part("rig.curves").Writer(ob, ob.animation_data.action)
    writer.write("scale", 0, "", np.array([4.0]), np.array([2.0]))
    writer.write("scale", 1, "", np.arange(1.0, 9.0), np.arange(8.0))
    writer.write("location", 0, "", np.array([5.0]), np.array([0.0]))
    writer.finish()
    found = {(curve.data_path, curve.array_index): [point.interpolation for point in curve.keyframe_points]
             for curve in rigs.fcurves(ob)}  # fmt: skip
    assert found["scale", 0] == [kind]
    assert set(found["scale", 1]) == {"BEZIER"}
    assert found["location", 0] == ["QUAD"] * 3


@pytest.mark.parametrize(("handle", "kind"), [("VECTOR", "LINEAR"), ("FREE", "BEZIER"), ("AUTO", "CONSTANT")])
def test_a_pressed_key_has_what_the_preferences_say(monkeypatch: MonkeyPatch, handle: str, kind: str) -> None:
    """A key that is there keeps what it has, and one between two takes its neighbour's easing."""
    keying = rigs.part("rig.keys.keying")
    edit = bpy.context.preferences.edit
    ob = rigs.bent_arm()
    bone = ob.pose.bones[0]
    bone.keyframe_insert("location", frame=1)
    monkeypatch.setattr(edit, "keyframe_new_handle_type", handle)
    monkeypatch.setattr(edit, "keyframe_new_interpolation_type", kind)
    for frame in (1.0, 8.0, 4.0):
        keying.key_path(bone, "location", frame, bone.name)
        keying.key_path(ob, "location", frame)
    for curve in rigs.fcurves(ob):
        points = [(point.handle_left_type, point.interpolation) for point in curve.keyframe_points]
        own = (handle, kind) if curve.data_path == "location" else ("AUTO_CLAMPED", "BEZIER")
        assert points == [own, (handle, own[1]), (handle, kind)]
