# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blender scene of the demonstration: profile, extension, clip, targets, and each solver's set-up on the rig."""

import contextlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import addon_utils
import bpy
import mannequin
from measure import Motion

WINDOW = Path(__file__).resolve().parent / "window.blend"  # an empty file whose sidebar shows the tab
WINDOW_OF = (5, 2, 0)  # the Blender that wrote it; older ones cannot read all of it
METRES = 0.056444  # in one unit of the clip, which is 1/0.45 inch
EXTENSION = "bl_ext.user_default.dqik"
CAPTURED, SOLVED = "Captured", "DQIK"
BESIDE = 1.1  # of the figure's height, between the two figures in the saved scene


def install(zip_path: Path) -> None:
    """Install and enable the extension in the present profile, as Install from Disk does; begin with an empty file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if bpy.app.version >= WINDOW_OF:
        bpy.ops.wm.open_mainfile(filepath=str(WINDOW))
    bpy.ops.extensions.package_install_files(filepath=str(zip_path), repo="user_default", enable_on_install=True)
    if not hasattr(bpy.types.Object, "dqik"):
        raise RuntimeError(f"{zip_path} was installed but did not register")


def import_clip(path: Path, most: int, scale: float) -> tuple[bpy.types.Object, list[int]]:
    """Import a BVH file. Returns its armature and its frames: the first `most`, or all if that is 0."""
    if not hasattr(bpy.types, "IMPORT_ANIM_OT_bvh"):
        addon_utils.enable("io_anim_bvh")
    with contextlib.redirect_stdout(io.StringIO()):  # the importer prints a lot
        bpy.ops.import_anim.bvh(
            filepath=str(path), global_scale=scale, rotate_mode="QUATERNION", frame_start=1, update_scene_fps=True
        )
    ob, scene = bpy.context.object, bpy.context.scene
    ob.name = ob.data.name = CAPTURED
    last = int(ob.animation_data.action.frame_range[1])
    last = min(last, most or last)
    scene.render.fps_base = 1.0
    scene.frame_start, scene.frame_end = 1, last
    return ob, list(range(1, last + 1))


def solved_rig(captured: bpy.types.Object, hips: str) -> bpy.types.Object:
    """A copy of the captured armature in which only the hips move."""
    rig = captured.copy()
    rig.data = captured.data.copy()
    rig.name = rig.data.name = SOLVED
    bpy.context.scene.collection.objects.link(rig)
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    source, own = captured.pose.bones[hips], rig.pose.bones[hips]
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        for path in ("location", "rotation_quaternion"):
            setattr(own, path, getattr(source, path))
            own.keyframe_insert(path, frame=frame)
    rig.animation_data.action.name = "Hips"
    return rig


def keyed_target(
    captured: bpy.types.Object, bone: str, motion: Motion, frames: Sequence[int], size: float
) -> bpy.types.Object:
    """An empty that repeats the position of a bone's tail and the bone's rotation."""
    empty = bpy.data.objects.new(f"{bone} target", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.empty_display_type, empty.empty_display_size, empty.show_in_front = "CUBE", size, True
    empty.rotation_mode = "QUATERNION"
    row = captured.pose.bones.find(bone)
    for k, frame in enumerate(frames):
        empty.location = motion.tails[k, row]
        empty.rotation_quaternion = motion.rotations[k, row]
        empty.keyframe_insert("location", frame=frame)
        empty.keyframe_insert("rotation_quaternion", frame=frame)
    return empty


def chains(rig: bpy.types.Object, effectors: Sequence[str], hips: str) -> dict[str, list[str]]:
    """For each effector, the bones from it up to, not including, the hips."""
    found = {}
    for effector in effectors:
        bone, above = rig.pose.bones[effector], []
        while bone.name != hips:
            above.append(bone.name)
            bone = bone.parent
        found[effector] = above
    return found


def use(
    rig: bpy.types.Object, solver: str, targets: Mapping[str, bpy.types.Object], allowed: Mapping[str, Sequence[str]]
) -> None:
    """Set a solver up on the rig: `legacy` and `itasc` are Blender's, `POSE` and `PREVIOUS` are DQIK's."""
    for bone, target in targets.items():
        length = len(allowed[bone])
        if solver in ("legacy", "itasc"):
            rig.pose.ik_solver = solver.upper()
            constraint = rig.pose.bones[bone].constraints.new("IK")
            constraint.target, constraint.chain_count, constraint.use_rotation = target, length, True
        else:
            _active(rig)
            bpy.ops.dqik.goal_add(bone=bone, target=target.name, chain_length=length, use_rotation=True)
    if solver not in ("legacy", "itasc"):
        rig.dqik.start_from = solver
        rig.dqik.live = True


def bake(rig: bpy.types.Object, frames: Sequence[int]) -> None:
    """Solve and key all frames. The operator switches live solving off and leaves the rig with the new action."""
    _active(rig)
    if bpy.ops.dqik.bake(frame_start=frames[0], frame_end=frames[-1]) != {"FINISHED"}:
        raise RuntimeError("the bake did not finish")
    rig.animation_data.action.name = f"Baked, start from {rig.dqik.start_from.title()}"
    rig.animation_data.action.use_fake_user = True


def clear(rig: bpy.types.Object, hips: str) -> None:
    """Undo `use` and `bake`, so that only the hips are animated."""
    rig.dqik.live = False
    rig.dqik.goals.clear()
    rig.animation_data.action = bpy.data.actions["Hips"]
    for bone in rig.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        if bone.name != hips:
            bone.matrix_basis.identity()


def present(
    captured: bpy.types.Object, rig: bpy.types.Object, targets: Mapping[str, bpy.types.Object],
    chains: Mapping[str, Sequence[str]], height: float, truth: Motion,
) -> None:  # fmt: skip
    """Arrange the scene for a viewer: DQIK beside Blender's IK, dressed and named, a target selected, ready to play.

    height : of the figure.
    """
    away = BESIDE * height
    other = _by_blenders_ik(rig, targets, chains, away)
    bpy.data.objects.remove(captured)
    middle, low = truth.heads[:, 0].mean(0), float(truth.tails[..., 2].min())
    mannequin.floor((middle[0] + 0.5 * away, middle[1], low - 0.02 * height), 12.0 * height)
    for ob, shirt, shift in ((rig, mannequin.SHIRT, 0.0), (other, mannequin.OTHER_SHIRT, away)):
        mannequin.dress(ob, height, shirt)
        mannequin.name(ob, ob.name, (middle[0] + shift, middle[1] - 0.75 * height, low), 0.11 * height)
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    for ob in bpy.context.view_layer.objects:
        ob.select_set(False)
    rig.dqik.active_goal = next(k for k, goal in enumerate(rig.dqik.goals) if "Hand" in goal.bone)
    target = rig.dqik.goals[rig.dqik.active_goal].target
    _active(target)
    target.select_set(True)
    mannequin.show((middle[0] + 0.5 * away, middle[1], 0.75 * middle[2]), height)


def _by_blenders_ik(
    rig: bpy.types.Object, targets: Mapping[str, bpy.types.Object], chains: Mapping[str, Sequence[str]], away: float
) -> bpy.types.Object:  # fmt: skip
    """A copy of the rig beside it, with the targets beside theirs, solved by Blender's own IK."""
    other = rig.copy()
    other.data = rig.data.copy()
    other.name = other.data.name = "Blender's IK"
    bpy.context.scene.collection.objects.link(other)
    other.dqik.live = False
    other.dqik.goals.clear()
    other.location.x += away
    place = bpy.data.objects.new("Targets of Blender's IK", None)
    place.location.x = away
    bpy.context.scene.collection.objects.link(place)
    own = {}
    for bone, target in targets.items():
        own[bone] = target.copy()
        own[bone].name = f"{target.name} of Blender's IK"
        bpy.context.scene.collection.objects.link(own[bone])
        own[bone].parent = place
    use(other, "legacy", own, chains)
    return other


def save(path: Path) -> None:
    """Save the scene."""
    path.parent.mkdir(parents=True, exist_ok=True)
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


def open_saved(path: Path) -> bpy.types.Object:
    """Open a saved scene and return its solved rig."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects[SOLVED]


def worst_miss(rig: bpy.types.Object, frame: int) -> float:
    """Go to a frame and return the largest distance of a goal's bone from its target."""
    bpy.context.scene.frame_set(frame)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return max(
        (evaluated.matrix_world @ evaluated.pose.bones[goal.bone].tail - goal.target.matrix_world.translation).length
        for goal in rig.dqik.goals
    )


def _active(ob: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = ob
