# SPDX-License-Identifier: GPL-3.0-or-later
"""Records in Blender what the solver is given for BVH clips: `python record.py FOLDER` (a Python that has bpy).

For each clip two files are written beside it, with and without the targets' rotations. Five effectors lead the rig,
the hips keep their captured motion, and all other bones are solved, as in the demonstration.
"""

import importlib
import importlib.util
import pickle
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

ROOT = Path(__file__).resolve().parents[2]
NAME = "dqik_arrays"  # as in package.py, so that both read the same pickles
FRAMES = 150
EFFECTORS = ("hand", "toes", "head")


def load() -> None:
    """Register the extension from its source."""
    spec = importlib.util.spec_from_file_location(NAME, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    sys.modules[NAME] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()


def record(path: Path, rotation: bool) -> dict[str, object]:
    """What the solver is given for a clip, and the captured motion."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_anim.bvh(filepath=str(path), rotate_mode="QUATERNION", update_scene_duration=True, frame_start=1)
    ob, scene = bpy.context.object, bpy.context.scene
    roles = sys.modules[NAME + ".rig.figure.roles"].of(ob).roles
    armature = sys.modules[NAME + ".rig.blender.armature"].Armature(ob)
    bones = {role: ob.pose.bones[number] for number, role in sorted(roles.items(), reverse=True)}
    ends = [bone for (name, _), bone in bones.items() if name in EFFECTORS]
    hips = next(bone for (name, _), bone in bones.items() if name == "hips")
    last = int(ob.animation_data.action.frame_range[1])
    frames = list(range(1, last + 1, max(last // FRAMES, 1)))[:FRAMES]
    posed = []
    for frame in frames:
        scene.frame_set(frame)
        posed.append(np.array([bone.matrix for bone in ob.pose.bones]))
    posed = np.array(posed)
    ob.animation_data_clear()
    for bone in ob.pose.bones:
        bone.matrix_basis = Matrix()
    for bone in ends:
        empty = bpy.data.objects.new(bone.name, None)
        scene.collection.objects.link(empty)
        goal = ob.dqik.goals.add()
        goal.bone, goal.target, goal.use_rotation = bone.name, empty, rotation
        goal.chain_length = len(bone.parent_recursive) - len(hips.parent_recursive)
    sessions = sys.modules[NAME + ".rig.frame.sessions"].sessions
    ob.dqik.live = True
    bpy.context.view_layer.update()
    rig = sessions.of(ob).rig.rig
    return {"name": path.stem, "rig": arrays(rig, roles, armature), **motion(rig, armature, posed)}


def arrays(rig: object, roles: dict, armature: object) -> dict[str, object]:
    """The arguments of `figure.of`, and the prepared solve."""
    of_rig = importlib.import_module(NAME + ".rig.skeleton.natural_figure")
    return {"of": of_rig.read(rig, {b: tuple(role) for b, role in roles.items()}, armature), "prepared": rig.prepared}


def motion(rig: object, armature: object, posed: np.ndarray) -> dict[str, object]:
    """Links, targets and captured joint motions in F frames."""
    quaternion = sys.modules[NAME + ".solvers.algebra.quaternion"]
    dual = sys.modules[NAME + ".solvers.algebra.dual_quaternion"]
    count, rows = len(posed), rig.roots
    links = np.tile(rig.rest_links, (count, 1, 1))
    above = rig.parent[rows]
    turned = quaternion.product(quaternion.from_matrix(posed[:, above, :3, :3]), rig.own_rest[rows])
    heads, along = posed[:, :, :3, 3], posed[:, :, :3, 1]
    places = heads[:, above] + (posed[:, above, :3, :3] @ rig.rest_offset[rows][..., None])[..., 0]
    links[:, rig.main[rows]] = dual.from_parts(turned, places)
    goals = [rig.bones[row] for row in rig.goal_rows]
    tails = heads[:, goals] + along[:, goals] * armature.length[goals][:, None]
    parent = rig.parent[rig.solved]
    own = rig.bones[rig.solved]
    rest = quaternion.from_matrix(np.linalg.inv(armature.rest[parent, :3, :3]) @ armature.rest[own, :3, :3])
    now = quaternion.from_matrix(np.linalg.inv(posed[:, parent, :3, :3]) @ posed[:, own, :3, :3])
    truth = np.tile(quaternion.IDENTITY, (count, len(rig.skeleton), 1))
    truth[:, rig.solved_joints] = rig.to_joints(quaternion.relative(rest, now))
    return {
        "links": links, "positions": tails, "rotations": quaternion.from_matrix(posed[:, goals, :3, :3]),
        "truth": truth, "solved": rig.solved_joints, "height": armature.size,
    }  # fmt: skip


def main() -> None:
    """Record all clips of a folder, or those named."""
    import addon_utils

    if not hasattr(bpy.types, "IMPORT_ANIM_OT_bvh"):
        addon_utils.enable("io_anim_bvh")
    load()
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    for path in sorted(folder.glob("*.bvh")):
        if names and path.stem not in names:
            continue
        for rotation in (True, False):
            out = path.with_suffix(f".{'turned' if rotation else 'placed'}.pickle")
            out.write_bytes(pickle.dumps(record(path, rotation)))
        print(path.stem, flush=True)


if __name__ == "__main__":
    main()
