# SPDX-License-Identifier: GPL-3.0-or-later
"""More words of the walks: what Blender's own operators, exporters, simulations and other add-ons do to a file."""

import os
from collections.abc import Sequence
from functools import partial

import bpy
import rigs
from rigs import at_frame, fcurves, update
from vocabulary import FOLDER, SLOTS, active, select

# -- copying and joining -----------------------------------------------------------------------------------------------


def copy_pose(of: bpy.types.Object, names: Sequence[str]) -> None:
    """Ctrl C on some bones of a figure."""
    select(of, names)
    bpy.ops.pose.copy()
    active(of)


def paste_pose(to: bpy.types.Object, flipped: bool = False) -> None:
    """Ctrl V on all bones of a figure, with an undo step of its own as in the window."""
    select(to, [one.name for one in to.pose.bones])
    bpy.ops.pose.paste("EXEC_DEFAULT", True, flipped=flipped)
    for one in to.pose.bones:
        if one.rotation_axis_angle[0] != one.rotation_axis_angle[0]:  # Blender makes NaN of quaternions longer than 1
            one.rotation_axis_angle = (0.0, 0.0, 1.0, 0.0)
    update()
    active(to)


def join(into: bpy.types.Object, other: bpy.types.Object) -> None:
    """Ctrl J."""
    active(into)
    other.select_set(True)
    bpy.ops.object.join()


def duplicate(of: bpy.types.Object) -> None:
    """Shift D."""
    active(of)
    bpy.ops.object.duplicate()


def take_from_saved(names: Sequence[str], link: bool) -> None:
    """Save a copy of the file, and append or link objects from it into this one."""
    path = os.path.join(FOLDER, f"stock{len(bpy.data.libraries)}.blend")  # a file that is linked is not overwritten
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path, link=link) as (there, wanted):
        wanted.objects = [name for name in names if name in there.objects]
    for ob in wanted.objects:
        if ob is not None and ob.name not in bpy.context.scene.collection.objects:
            bpy.context.scene.collection.objects.link(ob)


# -- scripts and exporters ---------------------------------------------------------------------------------------------


def second_action(of: bpy.types.Object, keys: dict[str, tuple[str, dict[float, Sequence[float]]]]) -> None:
    """Another action of a figure's in the file, which is not assigned. keys : path and values of bones."""
    data = of.animation_data or of.animation_data_create()
    before, slot = data.action, getattr(data, "action_slot", None)
    data.action = bpy.data.actions.new("Second")
    data.action.use_fake_user = True
    for name, (path, values) in keys.items():
        one = of.pose.bones[name]
        kept = tuple(getattr(one, path))
        for frame, value in values.items():
            setattr(one, path, value)
            one.keyframe_insert(path, frame=frame)
        setattr(one, path, kept)
    data.action = before
    if SLOTS and before is not None and slot is not None:
        data.action_slot = slot


def export(kind: str) -> None:
    """Export the file, with the exporter's default settings."""
    path = os.path.join(FOLDER, f"out.{kind}")
    if bpy.context.view_layer.objects.active is not None and bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    operators = {
        "fbx": "export_scene.fbx", "glb": "export_scene.gltf", "usdc": "wm.usd_export", "abc": "wm.alembic_export",
        "bvh": "export_anim.bvh",
    }  # fmt: skip
    words = {"fbx": {}, "usdc": {"export_animation": True}, "abc": {"start": 1, "end": 4},
             "bvh": {"frame_start": 1, "frame_end": 4}, "glb": {}}[kind]  # fmt: skip
    module, name = operators[kind].split(".")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    getattr(getattr(bpy.ops, module), name)(filepath=path, **words)


def step_through(of: bpy.types.Object, frames: Sequence[int], updates: bool) -> None:
    """What a script does to measure: step through actions and frames, clear bones, look, and put everything back."""
    scene, data = bpy.context.scene, of.animation_data
    frame = scene.frame_current
    action, slot = (data.action, getattr(data, "action_slot", None)) if data else (None, None)
    pose, place = [one.matrix_basis.copy() for one in of.pose.bones], (of.location[:], of.rotation_quaternion[:])
    for other in [action, *bpy.data.actions] if action is not None else [None]:
        if data is not None and other is not None:
            data.action = other
        for number in frames:
            scene.frame_set(number)
            for one in of.pose.bones:
                one.matrix_basis.identity()
            if updates:
                bpy.context.view_layer.update()
            sum(one.head.length for one in of.pose.bones)
    if data is not None and action is not None:
        data.action = action
        if SLOTS and slot is not None:
            data.action_slot = slot
    if not SLOTS:  # the actions of targets move the armature there
        of.location, of.rotation_quaternion = place
    for one, matrix in zip(of.pose.bones, pose, strict=True):
        one.matrix_basis = matrix
    scene.frame_set(frame)
    for one, matrix in zip(of.pose.bones, pose, strict=True):
        one.matrix_basis = matrix
    update()


# -- other add-ons -----------------------------------------------------------------------------------------------------


def _move(name: str, place: Sequence[float], scene: bpy.types.Scene, *_: object) -> None:
    ob = bpy.data.objects.get(name)
    if ob is not None:
        at = scene.frame_current_final
        ob.location = (place[0] + 0.05 * at, place[1] - 0.03 * at, place[2])


def _turn(rig: str, name: str, path: str, value: Sequence[float], scene: bpy.types.Scene, *_: object) -> None:
    ob = bpy.data.objects.get(rig)
    if ob is not None and ob.pose is not None and name in ob.pose.bones:
        share = 0.02 * scene.frame_current_final
        setattr(ob.pose.bones[name], path, [x * (1.0 + share) for x in value])


def add_mover(name: str, place: Sequence[float], first: bool) -> None:
    """Another add-on's handler that moves an object at each frame, before ours or after it. Loading removes it."""
    handlers = bpy.app.handlers.frame_change_post
    handlers.insert(0 if first else len(handlers), partial(_move, name, tuple(place)))


def add_turner(rig: str, name: str, path: str, value: Sequence[float], first: bool) -> None:
    """Another add-on's handler that turns a bone at each frame."""
    handlers = bpy.app.handlers.frame_change_post
    handlers.insert(0 if first else len(handlers), partial(_turn, rig, name, path, tuple(value)))


def other_handlers() -> list[partial]:
    """The handlers that were added here and are still there."""
    return [one for one in bpy.app.handlers.frame_change_post if isinstance(one, partial)]


def remove_handlers() -> None:
    for one in other_handlers():
        bpy.app.handlers.frame_change_post.remove(one)


def turns_bones() -> bool:
    """Whether one of them turns bones."""
    return any(one.func is _turn for one in other_handlers())


# -- simulations -------------------------------------------------------------------------------------------------------


def make_cloth(name: str, of: bpy.types.Object, bone: str) -> None:
    """A strip of cloth whose upper edge is pinned to a bone."""
    head = of.matrix_world @ of.pose.bones[bone].bone.head_local
    corners = [(head.x + 0.2 * x, head.y + 0.05, head.z - 0.2 * z) for z in range(3) for x in range(3)]
    faces = [(3 * z + x, 3 * z + x + 1, 3 * z + x + 4, 3 * z + x + 3) for z in range(2) for x in range(2)]
    ob = rigs.mesh(corners, faces, name)
    for group in ("Pin", bone):
        ob.vertex_groups.new(name=group).add([0, 1, 2] if group == "Pin" else list(range(9)), 1.0, "REPLACE")
    rigs.skin(of, ob)
    cloth = ob.modifiers.new("Cloth", "CLOTH")
    cloth.settings.vertex_group_mass = "Pin"
    cloth.settings.quality = 2


def make_passive(name: str, of: bpy.types.Object, bone: str) -> None:
    """A passive rigid body that a bone carries, and a body that falls on it."""
    scene = bpy.context.scene
    if scene.rigidbody_world is None:
        bpy.ops.rigidbody.world_add()
    for word, kind in ((name, "PASSIVE"), (f"{name}_ball", "ACTIVE")):
        ob = rigs.mesh([(-0.1, -0.1, 0), (0.1, -0.1, 0), (0, 0.1, 0), (0, 0, 0.1)],
                       [(0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)], word)  # fmt: skip
        if kind == "PASSIVE":
            rigs.child(ob, of, bone)
        else:
            ob.location = (0, 0, 3)
        rigs.made_active(ob)
        bpy.ops.rigidbody.object_add(type=kind)
        ob.rigid_body.kinematic = kind == "PASSIVE"
        ob.rigid_body.mesh_source = "BASE"  # Blender reads freed meshes for the others when it sets up the bodies anew


# -- hanging on targets ------------------------------------------------------------------------------------------------


def hang(name: str, on: bpy.types.Object, part: str, way: str) -> None:
    """An empty that follows an object, or one of its bones, as a child, by a constraint or by a driver."""
    ob = rigs.empty((0.3, 0.2, 0.1), name)
    if way == "child":
        rigs.child(ob, on, part)
    elif way == "constraint":
        rigs.constrain(ob, "COPY_LOCATION", on, subtarget=part)
    else:
        for axis in range(3):
            rigs.drive_by(ob, "location", axis, on, part, f"LOC_{'XYZ'[axis]}")


def mute_in_strips(of: bpy.types.Object, words: str, muted: bool) -> None:
    """Mute curves, or unmute them, inside the strips of an object's tracks."""
    for track in of.animation_data.nla_tracks:
        for strip in track.strips:
            for curve in strip_curves(strip):
                if words in curve.data_path:
                    curve.mute = muted


def strip_curves(strip: bpy.types.NlaStrip) -> list[bpy.types.FCurve]:
    """The F-curves of a strip of the NLA."""
    if strip.action is None:
        return []
    if not SLOTS:
        return list(strip.action.fcurves)
    bags = [bag for layer in strip.action.layers for part in layer.strips for bag in part.channelbags]
    return [curve for bag in bags if bag.slot == strip.action_slot for curve in bag.fcurves]


def muted_curves(of: bpy.types.Object) -> bool:
    """Whether curves of an object's action are muted, alone or with their group."""
    return any(curve.mute or (curve.group is not None and curve.group.mute) for curve in fcurves(of))


def jump(frames: Sequence[float]) -> None:
    """Visit frames one after the other."""
    for frame in frames:
        at_frame(frame)
