# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that stretch: a target led out past full reach, by Blender's IK with *IK Stretch* and by DQIK with *Stretch*.

Each chain lies along X and is a little bent at rest. Turns are over a hundredth of a figure's height, of which an arm's
reach is a third, wherever that begins.
"""

from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise

import bpy
import numpy as np
import scene
from report import Result, Row, number

CHAINS: dict[str, tuple[float, ...]] = {
    "arm, equal bones": (1.0, 1.0), "arm, 0.30 and 0.25": (0.3, 0.25), "leg of three bones": (0.4, 0.4, 0.3),
}  # fmt: skip
BEND = np.radians(20.0)  # at rest, in turn to one side and the other
STEP, STEPS = 0.003, 10  # of the reach, and how many are a hundredth of the height
FIRST, LAST = 0.6, 1.3  # of the reach
ITERATIONS = 500
WAYS: dict[str, tuple[str, float]] = {
    "Blender, no stretch": ("blender", 0.0), "Blender, IK Stretch 0.1": ("blender", 0.1),
    "Blender, IK Stretch 1": ("blender", 1.0), "DQIK, Stretch 0": ("dqik", 0.0), "DQIK, Stretch 0.05": ("dqik", 0.05),
    "DQIK, Stretch 0.2": ("dqik", 0.2), "DQIK, Stretch 10": ("dqik", 10.0),
}  # fmt: skip


def run(arguments: Namespace) -> Result:
    """Lead all chains out in all ways."""
    scene.install(arguments.zip)
    rows = [_row(chain, way) for chain in CHAINS for way in WAYS]
    return Result(rows, [
        ("chain", lambda row: str(row["chain"])), ("solver", lambda row: str(row["solver"])),
        ("worst miss to 0.99 of the reach", number("miss_within", ".1e")), ("to 1.19", number("miss_beyond", ".1e")),
        ("lengths to 0.9, least", number("least", ".3f")), ("most", number("most", ".3f")),
        ("largest turn in 0.01 H", number("turn", ".1f", 1.0, " deg")),
    ])  # fmt: skip


def _row(chain: str, way: str) -> Row:
    """Lead one chain out in one way: misses as shares of the reach, lengths as those at rest."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    kind, stretch = WAYS[way]
    lengths = CHAINS[chain]
    ob, target = _limb(lengths), bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    names = [bone.name for bone in ob.pose.bones]
    for bone in ob.pose.bones:
        bone.ik_stretch, bone.dqik_stretch = (stretch, 0.0) if kind == "blender" else (0.0, stretch)
        bone.bone.inherit_scale = "FULL" if kind == "blender" else "NONE"
    if kind == "blender":
        made = ob.pose.bones[names[-1]].constraints.new("IK")
        made.target, made.iterations, made.use_stretch = target, ITERATIONS, stretch > 0.0
    else:
        goal = ob.dqik.goals.add()
        goal.bone, goal.target, ob.dqik.live = names[-1], target, True
    reach, found = sum(lengths), []
    shares = np.arange(FIRST, LAST, STEP)
    for share in shares:
        target.location = (share * reach, 0.0, 0.0)
        bpy.context.view_layer.update()
        found.append(_shown(ob, target))
    misses, scales, turns = (np.array(part) for part in zip(*found, strict=True))
    inside = shares < 0.9
    scales = scales[inside] / lengths
    return {
        "chain": chain, "solver": way, "miss_within": misses[shares < 0.99].max() / reach,
        "miss_beyond": misses[shares < 1.19].max() / reach, "least": scales.min(), "most": scales.max(),
        "turn": float(np.degrees(np.abs(turns[STEPS:] - turns[:-STEPS]).max())),
    }  # fmt: skip


def _limb(lengths: Sequence[float]) -> bpy.types.Object:
    """Connected bones of these lengths, each bent against the one before."""
    ob = bpy.data.objects.new("Limb", bpy.data.armatures.new("Limb"))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    head, above, angle = np.zeros(3), None, 0.5 * BEND
    for number_of_bone, length in enumerate(lengths):
        bone = ob.data.edit_bones.new(f"bone {number_of_bone}")
        bone.head, bone.tail = head, head + length * np.array([np.cos(angle), np.sin(angle), 0.0])
        bone.parent, bone.use_connect = above, above is not None
        head, above, angle = np.array(bone.tail), bone, -angle
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def _shown(ob: bpy.types.Object, target: bpy.types.Object) -> tuple[float, list[float], list[float]]:
    """The miss, the lengths of the bones, and the angles [rad] between each two, as Blender shows them."""
    bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    lines = [bone.tail - bone.head for bone in bones]
    angles = [one.angle(other) for one, other in pairwise(lines)]
    return (bones[-1].tail - target.location).length, [line.length for line in lines], angles
