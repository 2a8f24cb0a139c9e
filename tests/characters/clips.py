# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured clips as characters: BVH files with the skeleton of the Carnegie Mellon motion capture database, and arrays.

A file of arrays (`.npz`) has for each clip `<clip>/q` (F, J, 4) int16, the world rotations of joints from rest as `w x
y z` times 32767, and `<clip>/root` (F, 3) in metres, Y up, at 30 frames a second. Clips `x_*` have the skeleton `bvh`
with `names`, `parents` and `rest` (J, 3), places of joints; others `asf` and their first two figures, with `offsets`
(J, 3) from the head of each bone to its tail.
"""

from dataclasses import dataclass, field
from pathlib import Path

import addon_utils
import bpy
import numpy as np
from mathutils import Quaternion, Vector
from metarigs import Metarig

_ROLES = {
    "hips": "Hips", "spine": "LowerBack Spine Spine1", "neck": "Neck Neck1", "head": "Head", "collar": "{}Shoulder",
    "arm": "{}Arm", "forearm": "{}ForeArm", "hand": "{}Hand", "thigh": "{}UpLeg", "shin": "{}Leg", "foot": "{}Foot",
    "toes": "{}ToeBase",
}  # fmt: skip
_ACCLAIM = {
    "hips": "root", "spine": "lowerback upperback thorax", "neck": "lowerneck upperneck", "head": "head",
    "collar": "{}clavicle", "arm": "{}humerus", "forearm": "{}radius", "hand": "{}wrist", "thigh": "{}femur",
    "shin": "{}tibia", "foot": "{}foot", "toes": "{}toes",
}  # fmt: skip
_RATE = 30


@dataclass(frozen=True)
class Clip(Metarig):
    """A figure with its captured motion. `operator` is the path of its file."""

    def truth(self) -> dict[str, tuple[str, str] | None]:
        """The true role of each bone that has one, by name."""
        sides = {"L": "Left", "R": "Right"} if "Hips" in self.roles["hips"] else {"L": "l", "R": "r"}
        return {
            name.format(sides.get(side)): (role, side)
            for role, names in self.roles.items() for name in names.split()
            for side in (sides if "{}" in name else [""])
        }  # fmt: skip

    def add(self) -> bpy.types.Object:
        """The figure, and its action."""
        addon_utils.enable("io_anim_bvh", default_set=True)
        bpy.ops.import_anim.bvh(filepath=self.operator, rotate_mode="QUATERNION", update_scene_duration=True)
        return bpy.context.object


@dataclass(frozen=True)
class Poses(Clip):
    """A clip of a file of arrays. frames : those that are taken. rate : of keys; frames between are interpolated."""

    frames: slice = field(default_factory=lambda: slice(None))
    rate: int = _RATE

    def add(self) -> bpy.types.Object:
        """The figure, with a key on each captured frame; the first one is frame 1."""
        with np.load(self.operator) as data:
            kind = "bvh" if self.name.startswith("x_") else f"asf{self.name[:2]}"
            names, parents = data[f"{kind}/names"].tolist(), data[f"{kind}/parents"].tolist()
            if kind == "bvh":
                heads = data["bvh/rest"] - data["bvh/rest"][0]
                tails = np.array([next((heads[k] for k in reversed(range(len(names))) if parents[k] == j), head)
                                  for j, head in enumerate(heads)])  # fmt: skip
            else:
                tails, heads = np.zeros((2, len(names), 3))
                for j, above in enumerate(parents):
                    heads[j] = tails[above] if above >= 0 else 0.0
                    tails[j] = heads[j] + data[f"{kind}/offsets"][j]
            q, root = data[f"{self.name}/q"][self.frames] / 32767.0, data[f"{self.name}/root"][self.frames]
        turns = np.concatenate([q[..., :1], _standing(q[..., 1:])], -1)
        ob = _armature(self.name, names, parents, *(_standing(ends) for ends in (heads, tails)))
        _key(ob, names, parents, turns, _standing(root), self.rate // _RATE)
        scene = bpy.context.scene
        scene.render.fps, scene.render.fps_base = self.rate, 1.0
        scene.frame_start, scene.frame_end = 1, 1 + (len(q) - 1) * (self.rate // _RATE)
        return ob


def _standing(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) with Y up as ones with Z up."""
    return np.stack([vectors[..., 0], -vectors[..., 2], vectors[..., 1]], -1)


def _armature(name: str, names: list[str], parents: list[int], heads: np.ndarray, tails: np.ndarray):
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = [ob.data.edit_bones.new(bone) for bone in names]
    for bone, above, head, tail in zip(bones, parents, heads, tails, strict=True):
        bone.head, bone.tail = head, tail if np.linalg.norm(tail - head) > 1e-3 else (*head[:2], head[2] + 0.03)
        bone.parent = bones[above] if above >= 0 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def _key(ob: bpy.types.Object, names: list[str], parents: list[int], turns: np.ndarray, root: np.ndarray, step: int):
    """Key the turns (F, J, 4) from rest in the world, and the root's places (F, 3)."""
    for j, name in enumerate(names):
        bone = ob.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        rest = bone.bone.matrix_local.to_quaternion()
        for number, whole in enumerate(turns):
            above = Quaternion(whole[parents[j]]) if parents[j] >= 0 else Quaternion()
            turn = (rest.inverted() @ above.inverted() @ Quaternion(whole[j]) @ rest).normalized()
            turn.make_compatible(bone.rotation_quaternion)
            bone.rotation_quaternion = turn
            bone.keyframe_insert("rotation_quaternion", frame=1 + step * number)
            if parents[j] < 0:
                bone.location = rest.inverted() @ (Vector(root[number]) - bone.bone.head_local)
                bone.keyframe_insert("location", frame=1 + step * number)


def clip(path: str) -> Clip:
    """The clip of a file."""
    return Clip(Path(path).stem, str(Path(path).resolve()), _ROLES, human=True)


def poses(path: str, name: str, frames: slice = slice(None), rate: int = _RATE) -> Poses:
    """A clip of a file of arrays."""
    roles = _ROLES if name.startswith("x_") else _ACCLAIM
    return Poses(name, str(Path(path).resolve()), roles, human=True, frames=frames, rate=rate)
