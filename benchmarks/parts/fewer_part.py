# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer Keys on captured motions of a body of 65 bones with fingers, beside `nla.bake`, which made their keys.

The motion of each clip is retargeted to a figure with Mixamo's bones, whose fingers bend and spread by slow waves, and
baked. What is measured is what Blender shows, on frames and half way between two.
"""

import contextlib
import io
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Quaternion
from report import Result, Row, number

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "characters"))

import measure  # noqa: E402
from clips import Clip, clip, poses  # noqa: E402
from retargeted import retarget  # noqa: E402

EXAMPLE = str(ROOT / "examples" / "cmu_01_01.bvh")
RATE, FRAMES = 30, 100  # frames a second, and of each clip
WAYS = {"limbs": True, "each channel": False}
PREFIX = "mixamorig:"
LIMBS = [[side + bone for bone in bones] for side in ("Left", "Right")
         for bones in (("Shoulder", "Arm", "ForeArm", "Hand"), ("UpLeg", "Leg", "Foot", "ToeBase"))]  # fmt: skip
EDITED = "LeftArm", "RightForeArm", "LeftUpLeg"
EDIT = np.radians(30.0)
FREQUENCIES = 0.3, 1.2  # Hz, of fingers
BEND, WAVES, SPREAD = 0.5, 0.12, 0.05  # rad
STILL = 1e-3  # what moves by less does not


def run(arguments: Namespace) -> Result:
    """Reduce all clips in all ways."""
    measure.load()
    rows = [_row(path, way, whole, min(arguments.frames or FRAMES, FRAMES))
            for path in arguments.clips or [EXAMPLE] for way, whole in WAYS.items()]  # fmt: skip
    return Result(rows, [
        ("clip", lambda row: str(row["clip"])),
        ("keys on", lambda row: str(row["way"])),
        ("frames", number("frames", ".0f")),
        ("CPU ms a frame", number("milliseconds", ".1f")),
        ("/ nla.bake", number("ratio", ".1f")),
        ("keys before", number("before", ".0f")),
        ("after", number("after", ".0f")),
        ("times fewer", number("fewer", ".1f")),
        ("of what moves", number("moving", ".1f")),
        ("off, joints", number("angle", ".2f", 1.0, " deg")),
        ("ends", number("distance", ".2f", 100.0, " %")),
        ("edit leaks", number("leak", ".1f", 1.0, " deg")),
        ("frames with a whole limb", number("whole", ".0f", 100.0, " %")),
    ])  # fmt: skip


def _row(path: str, way: str, whole: bool, frames: int) -> Row:
    ob, span = _figure(path, frames)
    scene = bpy.context.scene
    with _quiet():
        began = time.process_time()
        bpy.ops.nla.bake(frame_start=span[0], frame_end=span[-1], only_selected=False, visual_keying=True,
                         bake_types={"POSE"})  # fmt: skip
        baked = time.process_time() - began
        halves = np.arange(span[0], span[-1] + 0.25, 0.5)
        before, keys = _film(ob, halves), _keys(ob)
        began = time.process_time()
        bpy.ops.dqik.unbake(frame_start=span[0], frame_end=span[-1], whole=whole)
        took = time.process_time() - began
    after, left = _film(ob, halves), _keys(ob)
    size = sys.modules["dqik.rig.figure.character"].scaled_size(ob)
    scene.frame_set(span[0])
    return {
        "clip": path.rpartition(":")[2] if ":" in path else Path(path).stem, "way": way, "frames": len(span),
        "milliseconds": 1e3 * took / len(span), "baked": 1e3 * baked / len(span), "ratio": took / baked,
        "before": keys[0], "after": left[0], "fewer": keys[0] / left[0], "moving": keys[1] / left[1],
        "angle": float(_angles(ob, before, after).max()), "distance": _ends(ob, before, after) / size,
        "leak": max(_leak(ob, after, halves, PREFIX + bone) for bone in EDITED), "whole": _whole(ob),
    }  # fmt: skip


# -- the figure --------------------------------------------------------------------------------------------------------


def _figure(path: str, frames: int) -> tuple[bpy.types.Object, range]:
    """The figure with a clip's motion and moving fingers, and the frames."""
    with _quiet():
        ob, source = measure.made(measure.BY_NAME["mixamo"], "native"), _captured(path).add()
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    span = range(scene.frame_start, min(scene.frame_end, scene.frame_start + frames - 1) + 1)
    retarget(source, ob, span)
    bpy.data.objects.remove(source)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    edited = ob.data.edit_bones
    for bone in [bone for bone in edited if "Hand" in bone.name and bone.name.endswith("3")]:
        tip = edited.new(bone.name[:-1] + "4")
        tip.head, tip.tail, tip.roll = bone.tail, bone.tail + 0.5 * (bone.tail - bone.head), bone.roll
        tip.parent, tip.use_connect = bone, True
    bpy.ops.object.mode_set(mode="POSE")
    _bend_fingers(ob, span)
    bpy.ops.pose.select_all(action="SELECT")
    return ob, span


def _captured(path: str) -> Clip:
    """The clip of a BVH file, or of a file of arrays and a name in it (`FILE.npz:NAME`)."""
    file, _, name = path.rpartition(":")
    return poses(file, name, slice(FRAMES)) if file.endswith(".npz") else clip(path)


def _bend_fingers(ob: bpy.types.Object, span: range) -> None:
    draw = np.random.default_rng(3)
    for bone in [bone for bone in ob.pose.bones if "Hand" in bone.name and bone.name[-1] in "123"]:
        waves, starts = draw.uniform(*FREQUENCIES, 3), draw.uniform(0.0, 2.0 * np.pi, 3)
        for frame in span:
            turns = np.sin(2.0 * np.pi * waves * frame / RATE + starts)
            bend = Euler((BEND + WAVES * turns.sum(), 0.0, SPREAD * turns[0]))
            bone.rotation_quaternion = bend.to_quaternion()
            bone.keyframe_insert("rotation_quaternion", frame=frame)


# -- what is measured --------------------------------------------------------------------------------------------------


def _curves(ob: bpy.types.Object, bone: str = "") -> list[bpy.types.FCurve]:
    """The curves of the action; of a bone, those of its rotation."""
    data = ob.animation_data
    layered = hasattr(data, "action_slot")
    found = data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves if layered else data.action.fcurves
    return [curve for curve in found if not bone or curve.data_path == f'pose.bones["{bone}"].rotation_quaternion']


def _frames(curve: bpy.types.FCurve) -> set[int]:
    return {round(key.co[0]) for key in curve.keyframe_points}


def _keys(ob: bpy.types.Object) -> tuple[int, int]:
    """The number of all keys, and of those of properties that move."""
    count, moves = dict[str, int](), set[str]()
    for curve in _curves(ob):
        count[curve.data_path] = count.get(curve.data_path, 0) + len(curve.keyframe_points)
        if np.ptp([key.co[1] for key in curve.keyframe_points]) > STILL:
            moves.add(curve.data_path)
    return sum(count.values()), sum(count[path] for path in moves)


def _film(ob: bpy.types.Object, times: np.ndarray) -> np.ndarray:
    """Matrices (F, N, 4, 4) of the bones in the object."""
    found = np.empty((len(times), len(ob.pose.bones), 4, 4), dtype=np.float32)
    for row, at in enumerate(times):
        bpy.context.scene.frame_set(int(at // 1.0), subframe=at % 1.0)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        shown.foreach_get("matrix", found[row].reshape(-1))
    return np.swapaxes(found, -1, -2).astype(float)


def _angles(ob: bpy.types.Object, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The angles [deg] (F, N) between the joints of two films, each against the bone above."""
    above = [ob.pose.bones.find(bone.parent.name) if bone.parent else -1 for bone in ob.pose.bones]
    local = []
    for film in (one, other):
        axes = film[..., :3, :3] / np.linalg.norm(film[..., :3, :3], axis=-2, keepdims=True)
        carried = np.concatenate([axes, np.broadcast_to(np.eye(3), (len(axes), 1, 3, 3))], 1)[:, above]
        local.append(np.swapaxes(carried, -1, -2) @ axes)
    chord = np.linalg.norm(local[0] - local[1], axis=(-1, -2)) / np.sqrt(8.0)
    return np.degrees(2.0 * np.arcsin(np.clip(chord, 0.0, 1.0)))


def _ends(ob: bpy.types.Object, one: np.ndarray, other: np.ndarray) -> float:
    """How far the ends of chains are from each other in two films, at most, in the world."""
    worst = 0.0
    for row, bone in enumerate(ob.pose.bones):
        if not bone.children:
            tail = np.array([0.0, bone.length, 0.0, 1.0])
            worst = max(worst, float(np.linalg.norm((one[:, row] - other[:, row]) @ tail, axis=-1).max()))
    return worst * max(ob.matrix_world.to_scale())


def _leak(ob: bpy.types.Object, before: np.ndarray, times: np.ndarray, name: str) -> float:
    """By how much [deg] a bone that is turned and keyed on one of its frames turns beyond the frames beside it."""
    curves, bone = _curves(ob, name), ob.pose.bones[name]
    frames = sorted(set.union(*map(_frames, curves)))
    middle = len(frames) // 2
    if len(frames) < 3:
        return 0.0
    action = ob.animation_data.action
    ob.animation_data.action = action.copy()
    bpy.context.scene.frame_set(frames[middle])
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1.0, 0.0, 0.0), EDIT)
    bone.keyframe_insert("rotation_quaternion", frame=frames[middle])
    turned = _angles(ob, before, _film(ob, times))[:, ob.pose.bones.find(name)]
    ob.animation_data.action = action
    outside = (times < frames[middle - 1] - 0.01) | (times > frames[middle + 1] + 0.01)
    return float(turned[outside].max(initial=0.0))


def _whole(ob: bpy.types.Object) -> float:
    """The share of the frames with keys of an arm or a leg on which all of its moving channels have one."""
    shares = []
    for bones in LIMBS:
        frames = [_frames(curve) for bone in bones for curve in _curves(ob, PREFIX + bone)
                  if np.ptp([key.co[1] for key in curve.keyframe_points]) > STILL]  # fmt: skip
        shares.append(len(set.intersection(*frames)) / len(set.union(*frames)))
    return float(np.mean(shares))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield
