# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of the commands for other programs: imported again, they have the motion that the .blend has."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from farm_files import clip, imported, report, run, shot

SAME = 2e-3  # of the figure's size
FORMATS = ("fbx", "glb", "bvh")


def heads(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """The heads (F, 3) of the bones in the world, from the first to the last key."""
    first, last = ob.animation_data.action.frame_range
    found: dict[str, list[np.ndarray]] = {}
    for _ in rigs.visited(range(round(first), round(last) + 1)):
        shown = rigs.evaluated(ob)
        for bone in shown.pose.bones:
            found.setdefault(bone.name, []).append(np.array(shown.matrix_world @ bone.head))
    return {name: np.array(places) for name, places in found.items()}


def assert_same_motion(one: Path, other: Path) -> None:
    """Blender writes .bvh with Z up."""
    before = heads(imported(one, "Z"))
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    after = heads(imported(other, "Z"))
    assert bpy.context.scene.render.fps / bpy.context.scene.render.fps_base == pytest.approx(rate, rel=0.01)
    assert before.keys() <= after.keys()
    size = max(np.ptp(np.array(list(before.values()))[:, 0], axis=0))
    for name, places in before.items():
        assert len(after[name]) == len(places), name
        assert np.abs(after[name] - places).max() < SAME * size, name
    moved = max(np.ptp(places, axis=0).max() for places in before.values())
    assert moved > 20 * SAME * size


@pytest.mark.parametrize("kind", FORMATS)
def test_a_mended_clip_is_the_same_motion_in_another_format(kind: str, tmp_path: Path) -> None:
    walk, said = clip(tmp_path / "walk.bvh", 60), tmp_path / "report.json"
    assert run("dqik_mend", "--input", walk, "--output", tmp_path / "blend") == 0
    words = ("--input", walk, "--format", kind, "--output", tmp_path / "out", "--report", said)
    assert run("dqik_mend", *words) == 0
    made = tmp_path / "out" / ("walk.bvh" if kind == "bvh" else f"walk.bvh.{kind}")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [made.name]
    assert report(said)[0]["output"] == str(made)
    assert_same_motion(tmp_path / "blend" / "walk.bvh.blend", made)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_baked_shot_is_the_same_motion_by_the_name_of_the_output(kind: str, tmp_path: Path) -> None:
    """With a mesh that the armature deforms, while the armature itself is hidden; a part of the frames."""
    source = shot(tmp_path / "shot.blend")
    ob = bpy.data.objects["Arm"]
    rigs.skin(ob, rigs.mesh(((0, 0, 0), (0, 0.1, 1), (0.1, 0, 1)), [(0, 1, 2)], "Skin"), "a")
    ob.hide_set(True)
    bpy.ops.wm.save_mainfile()
    words = ("--input", source, "--start", 3, "--end", 9)
    assert run("dqik_bake", *words, "--output", tmp_path / "baked.blend") == 0
    assert run("dqik_bake", *words, "--output", tmp_path / f"baked.{kind}") == 0
    assert not (tmp_path / f"baked.{kind}").is_dir()
    assert_same_motion(tmp_path / "baked.blend", tmp_path / f"baked.{kind}")
    assert ("Skin" in bpy.data.objects) == (kind != "bvh")


def test_a_bvh_holds_one_armature(tmp_path: Path) -> None:
    source, said = shot(tmp_path / "shot.blend", arms=2), tmp_path / "report.json"
    words = ("--input", source, "--output", tmp_path / "arms.bvh", "--report", said)
    assert run("dqik_bake", *words) == 1
    assert all("holds one armature" in entry["reason"] for entry in report(said))
    assert not (tmp_path / "arms.bvh").exists()
    assert run("dqik_bake", *words, "--armature", "Arm 2") == 0
    assert (tmp_path / "arms.bvh").is_file()
    assert run("dqik_bake", "--input", source, "--output", tmp_path / "arms.glb") == 0
