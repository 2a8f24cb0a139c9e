# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the files of earlier versions that `tests/blender/bake/test_landed_files.py` opens.

    .venv-4.2/bin/python tests/files/make.py            all commits
    .venv-4.2/bin/python tests/files/make.py ebdd3eb    these

Each commit is installed in Blender 4.2, in a profile of its own, without a compiled kernel. It saves two files:
`<commit>-live.blend` with a figure and a full body that are live, and `<commit>-off.blend` with the same figure, Live
switched off. Beside each file, a JSON says what that version itself showed when it opened the file again.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import radians
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
COMMITS = ("ebdd3eb", "ba4e591", "b7db689", "4b7afa9", "6bd2adc", "af0ae92", "ebbaec5")
PARTS = (
    "blender_manifest.toml", "__init__.py", "live.py", "properties.py", "properties", "operators", "rig", "solvers",
    "ui",
)  # fmt: skip
FRAMES = (1, 7, 12, 20)
SAVED_AT = 12
PLAIN = ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM")
MEASURED = {"error", "rotation_error", "missed", "active_goal", "has_base", "adoptions", "version", "live"}
"""Properties that are no settings."""


def main(commits: list[str]) -> None:
    """Run Blender once for each commit; 4.2 crashes at its end, so each process leaves by itself."""
    for commit in commits or COMMITS:
        with tempfile.TemporaryDirectory(prefix="dqik-landed-") as folder:
            archive = Path(folder) / "dqik.zip"
            names = subprocess.check_output(["git", "ls-tree", "--name-only", commit], cwd=ROOT, text=True).split()
            parts = [part for part in PARTS if part in names]
            subprocess.run(
                ["git", "archive", "--format=zip", f"--output={archive}", commit, *parts], cwd=ROOT, check=True
            )
            environment = {**os.environ, "BLENDER_USER_RESOURCES": str(Path(folder) / "profile")}
            subprocess.run([sys.executable, __file__, "--save", commit, str(archive)], env=environment, check=True)


def save(commit: str, archive: str) -> None:
    """Install the commit's extension, and save and measure its files."""
    import bpy
    import zstandard

    sys.path.insert(0, str(ROOT / "tests" / "blender"))
    Path(bpy.utils.user_resource("EXTENSIONS", path="user_default")).mkdir(parents=True, exist_ok=True)
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    bpy.context.preferences.filepaths.save_version = 0
    for name in ("live", "off"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        _make_figure()
        if name == "live":
            _make_body()
        bpy.context.scene.frame_set(SAVED_AT)
        for ob in _armatures():
            ob.dqik.live = name == "live"
        bpy.context.view_layer.update()
        path = FOLDER / f"{commit}-{name}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
        path.write_bytes(zstandard.ZstdCompressor(level=19).compress(path.read_bytes()))  # a seventh smaller
        facts = {"commit": commit, "figures": {ob.name: _settings(ob) for ob in _armatures()}}
        for ob_name, figure in facts["figures"].items():
            bpy.ops.wm.open_mainfile(filepath=str(path))
            figure |= _shown(ob_name)
        path.with_suffix(".json").write_text(json.dumps(facts, separators=(",", ":")) + "\n", encoding="utf-8")
        print(path.name, path.stat().st_size, path.with_suffix(".json").stat().st_size, flush=True)


# -- what is saved -----------------------------------------------------------------------------------------------------


def _make_figure() -> None:
    """A figure with all that a file can hold: keys, poses by hand, rotation modes, a slide, limits, goals."""
    import rigs
    from mathutils import Quaternion

    ob = rigs.figure("Figure")
    bones = ob.pose.bones
    bones["spine"].rotation_mode, bones["neck"].rotation_mode = "XYZ", "ZYX"
    bones["forearm.L"].rotation_mode = "AXIS_ANGLE"
    for name, axis, degrees in (
        ("spine", (1, 0, 0), 12), ("neck", (0, 0, 1), 20), ("forearm.L", (1, 0, 0), 35), ("collar.R", (0, 1, 0), 15),
        ("thigh.R", (1, 0, 0), -30), ("shin.R", (1, 0, 0), 50), ("foot.R", (1, 0, 0), -10), ("thigh.L", (1, 0, 0), -15),
    ):  # fmt: skip
        rigs.posed(bones[name], Quaternion(axis, radians(degrees)))
    bones["hips"].location = (0.05, 0.02, -0.03)
    bones["hips"].dqik_translate = True
    for name, degrees in (("arm.R", (10, 40)), ("shin.L", (5, 30))):
        for frame, angle in zip((1, 20), degrees, strict=True):
            bones[name].rotation_quaternion = Quaternion((1, 0, 0), radians(angle))
            bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    rigs.limit(bones["forearm.L"], (-20, 20), (-140, 150), (-5, 5))
    rigs.limit(bones["spine"], (-30, 30), (-25, 40), (-20, 20))
    bones["chest"].dqik_stiffness = 0.6
    places = {
        "hand.L": ((0.7, -0.3, 1.4), (0.4, -0.5, 1.1)), "hand.R": ((-0.6, -0.3, 1.5), (-0.5, -0.5, 1.3)),
        "head": ((0.0, -0.1, 1.78), (0.08, -0.15, 1.72)), "foot.L": ((0.12, -0.25, 0.05), (0.15, -0.35, 0.2)),
    }  # fmt: skip
    for name, points in places.items():
        rigs.key_path(rigs.empty(points[0], f"at {name}"), (1, 20), points)
    things = _objects()
    things["at hand.L"].rotation_quaternion = Quaternion((1, 1, 0), radians(40))
    pole = rigs.empty((0.5, 0.8, 1.2), "pole.L")
    rigs.goal(ob, "hand.L", things["at hand.L"], use_rotation=True, chain_length=4, pole_target=pole, pole_angle=0.3)
    rigs.goal(ob, "hand.R", things["at hand.R"], chain_length=3, position_weight=0.8)
    rigs.goal(ob, "head", things["at head"], priority=1, influence=0.7)
    rigs.goal(ob, "foot.L", things["at foot.L"], chain_length=3)
    rigs.goal(ob, "foot.R", things["at foot.L"], mute=True)
    ob.dqik.iterations, ob.dqik.tolerance, ob.dqik.solver = 70, 0.0005, "DLS"


def _make_body() -> None:
    """A figure two metres beside, with a full body; its hand and hips are posed."""
    import bpy
    import rigs

    ob = rigs.figure("Body")
    ob.location.x = 2.0
    rigs.update()
    rigs.made_active(ob)
    bpy.ops.dqik.setup_full_body()
    rigs.update()
    for goal in ob.dqik.goals:
        move = {"hand.L": (-0.3, -0.3, -0.2), "hips": (0.0, 0.05, -0.12), "foot.R": (0.0, -0.2, 0.15)}.get(goal.bone)
        if move is None:
            continue
        owner = goal.target.pose.bones[goal.subtarget] if goal.subtarget else goal.target
        for frame, share in ((1, 0.2), (20, 1.0)):
            owner.location = [share * x for x in move] if goal.subtarget else owner.location
            if not goal.subtarget:
                start = owner.get("start") or tuple(owner.location)
                owner["start"] = start
                owner.location = [a + share * x for a, x in zip(start, move, strict=True)]
            owner.keyframe_insert("location", frame=frame)


def _objects() -> object:
    import bpy

    return bpy.data.objects


def _armatures() -> list:
    return [ob for ob in _objects() if ob.type == "ARMATURE"]


# -- what a version says about it --------------------------------------------------------------------------------------


def _settings(ob: object) -> dict:
    """Settings of the armature, its goals and its bones, whether the armature is live, and its pose when saved."""
    return {
        "live": ob.dqik.live,
        "at_save": _pose(ob),
        "settings": dict(_plain(ob.dqik)),
        "goals": [
            {**dict(_plain(goal)), "target": _name(goal.target), "pole_target": _name(goal.pole_target)}
            for goal in ob.dqik.goals
        ],
        "bones": {
            bone.name: {
                name: value for name, value in _plain(bone, "dqik_")
                if bone.is_property_set(name) and not name.startswith(("dqik_base", "dqik_owner", "dqik_hold"))
            }
            for bone in ob.pose.bones
        },
        "modes": {bone.name: bone.rotation_mode for bone in ob.pose.bones},
    }  # fmt: skip


def _name(ob: object) -> str:
    return "" if ob is None else ob.name


def _plain(owner: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The properties of an owner, with names that begin with a prefix, that are numbers, words or lists of numbers."""
    for prop in owner.bl_rna.properties:
        name = prop.identifier
        if prop.type not in PLAIN or name in MEASURED or prop.is_readonly or not name.startswith(prefix):
            continue
        value = getattr(owner, name)
        if prop.type == "FLOAT":
            value = [round(x, 6) for x in value] if prop.is_array else round(value, 6)
        yield name, value


def _shown(name: str) -> dict:
    """What the open file shows of a figure: its pose on frames, and pose and channels after Live is switched off."""
    import bpy

    ob, scene = bpy.data.objects[name], bpy.context.scene
    facts: dict = {"frames": {}}
    for frame in FRAMES:
        scene.frame_set(frame)
        facts["frames"][frame] = _pose(ob)
    scene.frame_set(SAVED_AT)
    if ob.dqik.live:
        ob.dqik.live = False
        bpy.context.view_layer.update()
    facts["channels_off"], facts["pose_off"] = _channels(ob), _pose(ob)
    return facts


def _pose(ob: object) -> dict[str, list[float]]:
    """Location and rotation of the evaluated bones in armature space."""
    import bpy

    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {
        bone.name: [round(x, 5) for x in (*bone.matrix.translation, *bone.matrix.to_quaternion())]
        for bone in evaluated.pose.bones
    }


def _channels(ob: object) -> dict[str, list[float]]:
    """Location and the rotation channels of each bone's mode."""
    paths = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return {
        bone.name: [
            round(x, 6) for x in (*bone.location, *getattr(bone, paths.get(bone.rotation_mode, "rotation_euler")))
        ]
        for bone in ob.pose.bones
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--save"]:
        save(*sys.argv[2:])
        sys.stdout.flush()
        os._exit(0)
    main(sys.argv[1:])
