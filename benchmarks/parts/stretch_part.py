# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that stretch and shorten: a target led out past full reach, or in to where they cannot fold.

Blender's IK has *IK Stretch*, and DQIK *Stretch* and *Shortest*. Each chain lies along X and is a little bent at rest.
Turns are over a hundredth of a figure's height, of which an arm's reach is a third, wherever that begins.
"""

from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
import scene
from report import Result, Row, number


class Lead(NamedTuple):
    """A chain and how it is led: all in shares of its reach.

    lengths : of its bones. first, last : where the target begins and ends. own : from there to the first its bones keep
    their lengths. within : from there to the first it can be met so. beyond : and up to here with other lengths. fold :
    how far its second bone turns from rest; 0 for as far as it likes.
    """

    lengths: tuple[float, ...]
    first: float
    last: float
    own: float
    within: float
    beyond: float
    fold: float = 0.0


def _out(*lengths: float) -> Lead:
    return Lead(lengths, 0.6, 1.3, 0.9, 0.99, 1.19)


CHAINS: dict[str, Lead] = {
    "arm, equal bones": _out(1.0, 1.0), "arm, 0.30 and 0.25": _out(0.3, 0.25),
    "leg of three bones": _out(0.4, 0.4, 0.3),
    "pushed: arm whose elbow bends by 90": Lead((1.0, 1.0), 0.9, 0.42, 0.72, 0.72, 0.43, np.radians(70.0)),
    "pushed: arm, 0.30 and 0.20": Lead((0.3, 0.2), 0.5, 0.11, 0.21, 0.21, 0.11),
    "pushed: piston": Lead((1.0,), 1.0, 0.55, 1.0, 1.0, 0.56),
}  # fmt: skip
BEND = np.radians(20.0)  # at rest, in turn to one side and the other
STEP, STEPS = 0.003, 10  # of the reach, and how many are a hundredth of the height
ITERATIONS = 500
WAYS: dict[str, tuple[str, float, float]] = {
    "Blender, no stretch": ("blender", 0.0, 1.0), "Blender, IK Stretch 0.1": ("blender", 0.1, 1.0),
    "Blender, IK Stretch 1": ("blender", 1.0, 1.0), "DQIK, Stretch 0": ("dqik", 0.0, 1.0),
    "DQIK, Stretch 0.05": ("dqik", 0.05, 1.0), "DQIK, Stretch 0.2": ("dqik", 0.2, 1.0),
    "DQIK, Stretch 10": ("dqik", 10.0, 1.0), "DQIK, Shortest 0.9": ("dqik", 0.0, 0.9),
    "DQIK, Shortest 0.5": ("dqik", 0.0, 0.5),
}  # fmt: skip


def run(arguments: Namespace) -> Result:
    """Lead all chains in all ways."""
    scene.install(arguments.zip)
    rows = [_row(chain, way) for chain, lead in CHAINS.items() for way in WAYS if _matters(lead, *WAYS[way])]
    return Result(rows, [
        ("chain", lambda row: str(row["chain"])), ("solver", lambda row: str(row["solver"])),
        ("worst miss where it can be met", number("miss_within", ".1e")), ("beyond", number("miss_beyond", ".1e")),
        ("lengths where it bends, least", number("least", ".3f")), ("most", number("most", ".3f")),
        ("largest turn in 0.01 H", number("turn", ".1f", 1.0, " deg")),
        ("largest change of a length", number("change", ".3f")),
    ])  # fmt: skip


def _matters(lead: Lead, kind: str, stretch: float, shortest: float) -> bool:
    """Whether a setting says anything about a chain that is led so."""
    return kind == "blender" or not (stretch if lead.last < lead.first else shortest < 1.0)


def _row(chain: str, way: str) -> Row:
    """Lead one chain in one way: misses as shares of the reach, lengths as those at rest."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    lead, (kind, stretch, shortest) = CHAINS[chain], WAYS[way]
    ob, target = _limb(lead.lengths), bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    names = [bone.name for bone in ob.pose.bones]
    for bone in ob.pose.bones:
        bone.ik_stretch, bone.dqik_stretch = (stretch, 0.0) if kind == "blender" else (0.0, stretch)
        bone.dqik_shortest = shortest
        bone.bone.inherit_scale = "FULL" if kind == "blender" else "NONE"
    if lead.fold:
        _fold(ob.pose.bones[1], lead.fold)
    if kind == "blender":
        made = ob.pose.bones[names[-1]].constraints.new("IK")
        made.target, made.iterations, made.use_stretch = target, ITERATIONS, stretch > 0.0
    else:
        goal = ob.dqik.goals.add()
        goal.bone, goal.target, ob.dqik.live = names[-1], target, True
    reach, found = sum(lead.lengths), []
    way_in = np.sign(lead.last - lead.first)
    shares = np.arange(lead.first, lead.last, way_in * STEP)
    for share in shares:
        target.location = (share * reach, 0.0, 0.0)
        bpy.context.view_layer.update()
        found.append(_shown(ob, target))
    misses, scales, turns = (np.array(part) for part in zip(*found, strict=True))
    scales = scales / lead.lengths
    own, within, beyond = (way_in * shares <= way_in * end for end in (lead.own, lead.within, lead.beyond))
    return {
        "chain": chain, "solver": way, "miss_within": misses[within].max() / reach,
        "miss_beyond": misses[beyond].max() / reach, "least": scales[own].min(), "most": scales[own].max(),
        "turn": float(np.degrees(np.abs(turns[STEPS:] - turns[:-STEPS]).max(initial=0.0))),
        "change": float(np.abs(scales[STEPS:] - scales[:-STEPS]).max()),
    }  # fmt: skip


def _fold(bone: bpy.types.PoseBone, most: float) -> None:
    """Let a bone turn by so much from rest to all sides, for both solvers."""
    bone.lock_ik_y = bone.use_ik_limit_x = bone.use_ik_limit_z = bone.dqik_use_limits = True
    bone.dqik_twist_min = bone.dqik_twist_max = 0.0
    for axis in "xz":
        for end, value in (("min", -most), ("max", most)):
            setattr(bone, f"ik_{end}_{axis}", value)
            setattr(bone, f"dqik_swing_{axis}_{end}", value)


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
