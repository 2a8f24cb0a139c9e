# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured motion in a scene of another frame rate, as the panel warns of it."""

from pathlib import Path

import bpy
import captured
import pytest
import rigs


def note(ob: bpy.types.Object):
    return rigs.part("rig.clip.frame_rate").note(ob, bpy.context.scene)


@pytest.fixture
def jumper(tmp_path: Path) -> bpy.types.Object:
    """The example's jumps, of 30 frames a second."""
    ob = captured.clip(tmp_path, range(360))
    bpy.context.scene.render.fps_base = 1.0
    return ob


@pytest.mark.parametrize("played", [12, 24, 30, 60, 120])
def test_a_captured_motion_tells_its_rate(jumper: bpy.types.Object, played: int) -> None:
    bpy.context.scene.render.fps = played
    found = note(jumper)
    if played == 30:
        assert found is None
    else:
        assert found.code.startswith("This motion moves as if made for {} frames a second, but the scene plays {}")
        assert found.values == (30, str(played))


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_scaled_and_turned_figures_tell_the_same(jumper: bpy.types.Object, scale: float) -> None:
    """Nothing where time is stretched to their rate."""
    jumper.scale = (scale,) * 3
    jumper.rotation_euler.z = 1.0
    bpy.context.view_layer.update()
    render = bpy.context.scene.render
    render.fps = 60
    assert note(jumper).values[0] == 30
    render.frame_map_old, render.frame_map_new = 100, 200
    assert note(jumper) is None


def test_few_keys_and_short_motions_tell_nothing(jumper: bpy.types.Object, tmp_path: Path) -> None:
    bpy.context.scene.render.fps = 60
    for curve in rigs.fcurves(jumper):
        for number in reversed([k for k in range(len(curve.keyframe_points)) if k % 4]):
            curve.keyframe_points.remove(curve.keyframe_points[number])
    assert note(jumper) is None
    rigs.new_file()
    short = captured.clip(tmp_path, range(25))
    bpy.context.scene.render.fps = 60
    assert note(short) is None
