# SPDX-License-Identifier: GPL-3.0-or-later
"""A ponytail that swings by Overlap while the person looks around and hops."""

from math import cos, pi

import bpy
import numpy as np
from mathutils import Vector
from people import fist, person, quietly
from stage import FRAMES, RATE, SECONDS, Motion, coat, look

_STEP = 2  # frames of the scene for each of the loop
_LINE = ((0.0, 0.115, 1.715), (0.0, 0.185, 1.705), (0.0, 0.235, 1.63), (0.0, 0.255, 1.53), (0.0, 0.26, 1.43),
         (0.0, 0.26, 1.33), (0.0, 0.255, 1.235))  # fmt: skip
_RADII = (0.024, 0.036, 0.047, 0.05, 0.046, 0.034, 0.004)
_LOOKS = ((0.0, 0.0), (0.04, 0.0), (0.13, 1.0), (0.24, 1.0), (0.36, -1.0), (0.47, -1.0), (0.57, 0.0), (1.0, 0.0))
_JUMPS = ((0.6, 0.0), (0.67, -0.15), (0.70, -0.15), (0.745, 0.04), (0.77, 0.07), (0.795, 0.04), (0.85, -0.1),
          (0.94, 0.0), (1.0, 0.0))  # fmt: skip


def hair() -> Motion:
    """A person looks to one side and the other and hops; the ponytail lags, swings over and comes to rest."""
    ob, targets, body = person()
    for side in "LR":
        fist(ob, side, 0.22)
    _act(targets)
    scene = bpy.context.scene
    bpy.context.view_layer.objects.active = ob
    quietly(bpy.ops.dqik.bake, frame_start=scene.frame_start, frame_end=scene.frame_end)
    names = _bones(ob)
    _tail(ob, names, body.data.materials[7])
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        _select(bone, bone.name in names)
    quietly(bpy.ops.dqik.overlap, frame_start=scene.frame_start, frame_end=scene.frame_end, frequency=3.0,
            damping=0.45, drag=0.1, loop="ON")  # fmt: skip
    bpy.ops.object.mode_set(mode="OBJECT")
    look((0.0, 0.1, 1.36), 3.0, 128.0, 8.0)

    def move(share: float) -> None:
        scene.frame_set(1 + round(FRAMES * _STEP * share))

    return move


def _select(bone: bpy.types.PoseBone, wanted: bool) -> None:
    """Select a bone; from Blender 5 on it is the bone of the pose that is selected."""
    (bone if hasattr(bone, "select") else bone.bone).select = wanted


def _eased(keys: tuple, share: float) -> float:
    """A value between keys (share, value), slow at each."""
    place = np.interp(share, [key[0] for key in keys], range(len(keys)))
    number = min(int(place), len(keys) - 2)
    return float(keys[number][1] + (keys[number + 1][1] - keys[number][1]) * (0.5 - 0.5 * cos(pi * (place - number))))


def _act(targets: dict[str, bpy.types.Object]) -> None:
    """Key the targets: looks to both sides, then a hop."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = RATE * _STEP, 1, 1 + RATE * SECONDS * _STEP
    rest = {bone: target.location.copy() for bone, target in targets.items()}
    for target in targets.values():
        target.rotation_mode = "XYZ"
    for frame in range(scene.frame_start, scene.frame_end + 1):
        share = (frame - 1) / (scene.frame_end - 1)
        turn, high = _eased(_LOOKS, share), _eased(_JUMPS, max(share, 0.6))
        for bone, target in targets.items():
            target.location = rest[bone] + Vector((0.0, -0.12 * min(high, 0.0) * (bone == "hips"), high))
            if bone.startswith("foot"):
                target.location.z = rest[bone].z + max(high, 0.0)
            if bone.startswith("hand"):
                side = 1.0 if bone.endswith("L") else -1.0
                target.location += Vector((-0.2 * side, -0.1 * side * turn - 0.05, -0.1 + 0.5 * max(high, 0.0)))
            target.rotation_euler.z = turn * {"head": 0.95, "hips": 0.3}.get(bone, 0.0)
            target.keyframe_insert("location", frame=frame)
            target.keyframe_insert("rotation_euler", frame=frame)


def _bones(ob: bpy.types.Object) -> list[str]:
    """Add the bones of a ponytail to the head."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    above, names = ob.data.edit_bones["head"], list[str]()
    for number in range(len(_LINE) - 1):
        bone = ob.data.edit_bones.new(f"hair{number + 1}")
        bone.head, bone.tail, bone.parent = _LINE[number], _LINE[number + 1], above
        above = bone
        names.append(bone.name)
    bpy.ops.object.mode_set(mode="OBJECT")
    return names


def _tail(ob: bpy.types.Object, names: list[str], material: bpy.types.Material) -> None:
    """The skin of the ponytail: a tube along its bones."""
    around, fine = 20, 6
    line, spots = np.array(_LINE), np.linspace(0.0, len(names), fine * len(names) + 1)
    middle = np.stack([np.interp(spots, range(len(_LINE)), line[:, axis]) for axis in range(3)], -1)
    for _ in range(4):
        middle[1:-1] = 0.25 * (middle[:-2] + middle[2:]) + 0.5 * middle[1:-1]
    along = np.gradient(middle, axis=0)
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    side = np.array((1.0, 0.0, 0.0))
    out, radius = np.cross(along, side), np.interp(spots, range(len(_RADII)), _RADII)
    turn = np.linspace(0.0, 2.0 * pi, around, endpoint=False)[:, None]
    points = np.concatenate([at + r * (np.cos(turn) * side + np.sin(turn) * to)
                             for at, r, to in zip(middle, radius, out, strict=True)])  # fmt: skip
    faces = [(i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
             for i in range(len(spots) - 1) for j in range(around)]  # fmt: skip
    mesh = bpy.data.meshes.new("Ponytail")
    mesh.from_pydata(points.tolist(), [], faces)
    mesh.shade_smooth()
    mesh.materials.append(material)
    made = bpy.data.objects.new("Ponytail", mesh)
    bpy.context.scene.collection.objects.link(made)
    made.parent = ob
    made.modifiers.new("Armature", "ARMATURE").object = ob
    for number, name in enumerate(names):
        group = made.vertex_groups.new(name=name)
        for ring, spot in enumerate(spots):
            weight = max(0.0, 1.0 - abs(spot - number - 0.5)) if 0.5 < spot < len(names) - 0.5 else float(
                number == (0 if spot <= 0.5 else len(names) - 1))  # fmt: skip
            if weight > 0.0:
                group.add(list(range(ring * around, (ring + 1) * around)), weight, "REPLACE")
    _band(ob)


def _band(ob: bpy.types.Object) -> None:
    """A band around the root of the ponytail."""
    bpy.ops.mesh.primitive_torus_add(major_radius=0.028, minor_radius=0.011, location=_LINE[0], rotation=(1.65, 0, 0))
    made = bpy.context.object
    bpy.ops.object.shade_smooth()
    coat(made, (0.8, 0.12, 0.1), 0.5)
    matrix = made.matrix_world.copy()
    made.parent, made.parent_type, made.parent_bone = ob, "BONE", "head"
    bpy.context.view_layer.update()
    made.matrix_world = matrix
