# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions in .fbx, .glb, .gltf and .usd files for the commands: what Mend finds does not depend on the format."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import addon_utils
import bpy
import pytest
import rigs
from farm_files import clip, imported, keys, report, run

EXPORTERS = {
    "fbx": ("export_scene", "fbx", {}), "glb": ("export_scene", "gltf", {}),
    "gltf": ("export_scene", "gltf", {"export_format": "GLTF_SEPARATE"}),
    "usda": ("wm", "usd_export", {"export_animation": True}), "usdc": ("wm", "usd_export", {"export_animation": True}),
}  # fmt: skip


def exported(folder: Path, name: str, *endings: str) -> None:
    """Export the open scene."""
    for ending in endings:
        module, operator, options = EXPORTERS[ending]
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # exporters of Blender use what is deprecated
            for add_on in ("io_scene_fbx", "io_scene_gltf2"):
                addon_utils.enable(add_on)
            getattr(getattr(bpy.ops, module), operator)(filepath=str(folder / f"{name}.{ending}"), **options)


def with_skin(ob: bpy.types.Object) -> bpy.types.Object:
    """Give an armature a mesh: without one, an .fbx has no rest pose."""
    places, faces = [], []
    for bone in ob.data.bones:
        faces.append((len(places), len(places) + 1, len(places) + 2))
        along = bone.tail_local - bone.head_local
        places += [bone.head_local, bone.tail_local, bone.head_local + 0.1 * along.orthogonal()]
    skin = rigs.child(rigs.mesh(places, faces, "Skin"), ob)
    for bone, corners in zip(ob.data.bones, faces, strict=True):
        skin.vertex_groups.new(name=bone.name).add(corners, 1.0, "REPLACE")
    rigs.skin(ob, skin)
    return ob


def contacts(path: Path) -> set[tuple[str, int]]:
    """Which part of which foot is on the ground on which frame, in a file that was mended."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    return {(f"{one.bone} {one.part}", frame) for one in ob.dqik.contacts
            for frame in range(one.frame_start, one.frame_end + 1)}  # fmt: skip


def test_what_mend_finds_does_not_depend_on_the_format(tmp_path: Path) -> None:
    """Nor on the scale and the turn of the object, and motions keep their rate: a glTF has times without frames.

    The Python package of Blender 4.2 has no library that tells the rate of a USD file.
    """
    walk, folder, out = clip(tmp_path / "walk.bvh", 60), tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    said = tmp_path / "report.json"
    for name, scale in (("as it was", 1.0), ("small", 0.01)):
        ob = with_skin(imported(walk))
        bpy.context.scene.frame_end = 60
        ob.scale, ob.rotation_euler = (scale,) * 3, (0.0, 0.0, 1.0 if scale < 1.0 else 0.0)
        exported(folder, name, "fbx", "glb", *(() if scale < 1.0 else ("usdc",)))
    assert run("dqik_mend", "--input", walk, folder, "--output", out, "--report", said) == 0
    found = {Path(entry["file"]).name: entry for entry in report(said)}
    assert len(found) == 6
    first = found.pop("walk.bvh")
    real = contacts(out / "walk.bvh.blend")
    for name, entry in found.items():
        assert (entry["start"], entry["end"]) == (1, 60), name
        assert entry["slide_before"] == pytest.approx(first["slide_before"], rel=0.25), name  # toes differ
        assert entry["slide_after"] < 0.01 * entry["slide_before"], name
        own = contacts(out / f"{name}.blend")
        assert 2 * len(own & real) > 0.97 * (len(own) + len(real)), name
        render, lost = bpy.context.scene.render, name.endswith("usdc") and bpy.app.version < (4, 4, 0)
        assert render.fps / render.fps_base == pytest.approx(24.0 if lost else 30.0, abs=0.01), name


def test_files_that_are_cut_off_are_not_mended(tmp_path: Path) -> None:
    folder, said = tmp_path / "in", tmp_path / "report.json"
    folder.mkdir()
    imported(clip(tmp_path / "walk.bvh", 20))
    exported(folder, "whole", *EXPORTERS)
    for path in list(folder.glob("whole.*")):
        data = path.read_bytes()
        (folder / f"cut{path.suffix}").write_bytes(data[: 2 * len(data) // 3])
        (folder / f"text{path.suffix}").write_text("no clip")
        path.unlink()
    (folder / "cut.gltf").write_text('{"animations": [{"samplers": []}], "asset": {"version": "2.0"}, "buffers": '
                                     '[{"uri": "none.bin", "byteLength": 4}]}')  # fmt: skip
    (folder / "still.gltf").write_text('{"asset": {"version": "2.0"}}')
    (folder / "bad.gltf").write_text('{"animations": [{"samplers": [{"input": 3}]}], "accessors": []}')
    assert run("dqik_mend", "--input", folder, "--output", tmp_path / "out", "--report", said, "--allow-refused") == 1
    found = report(said)
    assert len(found) == 2 * len(EXPORTERS) + 2 and not list((tmp_path / "out").iterdir())
    for entry in found:
        assert not entry["mended"] and re.fullmatch(r"(?!Traceback).+", entry["reason"])
    reasons = {Path(entry["file"]).name: entry["reason"] for entry in found}
    assert "it is cut off" in reasons["cut.glb"] and reasons["still.gltf"] == "it has no motion"
    assert reasons["bad.gltf"] == "its motion is damaged"


def test_a_clip_of_another_program_is_retargeted(tmp_path: Path) -> None:
    """At its own rate, with nothing of it left in the file but its motion."""
    hero = tmp_path / "hero.blend"
    rigs.new_file()
    rigs.figure("Hero")
    bpy.ops.wm.save_as_mainfile(filepath=str(hero))
    imported(clip(tmp_path / "walk.bvh", 30))
    exported(tmp_path, "walk", "glb")
    words = ("--body", hero, "--input", tmp_path / "walk.glb", "--output", tmp_path / "out.blend")
    assert run("dqik_retarget", *words) == 0
    assert list(keys(tmp_path / "out.blend")) == ["Hero"]
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (1, 30, 30)
    assert [ob.name for ob in bpy.data.objects if ob.type == "ARMATURE"] == ["Hero"]


def test_a_bvh_whose_z_is_up(tmp_path: Path) -> None:
    """The same motion with other axes: the same contacts, if told so."""
    walk = clip(tmp_path / "y.bvh", 60)
    head, motion = walk.read_text().split("MOTION")
    # (x, y, z) becomes (x, -z, y): so do places and the axes of rotations
    head = re.sub(r"OFFSET (\S+) (\S+) (\S+)", lambda found: f"OFFSET {found[1]} {_minus(found[3])} {found[2]}", head)
    head = head.replace("Yrotation", "*").replace("Zrotation", "Yrotation").replace("*", "Zrotation")
    lines = motion.splitlines()
    turned = re.findall(r"([XYZ])rotation", head)
    for number in range(3, len(lines)):
        x, y, z, *angles = lines[number].split()
        signed = [_minus(angle) if axis == "Y" else angle for axis, angle in zip(turned, angles, strict=True)]
        lines[number] = " ".join([x, _minus(z), y, *signed])
    (tmp_path / "z.bvh").write_text(head + "MOTION" + "\n".join([*lines, ""]))
    for name in "yz":
        words = ("--input", tmp_path / f"{name}.bvh", "--output", tmp_path / "out", "--up", name.upper())
        assert run("dqik_mend", *words) == 0
    assert contacts(tmp_path / "out" / "z.bvh.blend") == contacts(tmp_path / "out" / "y.bvh.blend")


def _minus(number: str) -> str:
    return f"{-float(number):g}"
