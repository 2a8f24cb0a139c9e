# SPDX-License-Identifier: GPL-3.0-or-later
"""The example clip for figures of other proportions and other rest poses: *Retarget*, and Blender's constraints.

With Blender, an object hangs on each bone of the source, turned as the figure's bone is in its rest pose once that is
matched; the bone gets *Copy Rotation* from it, the hips also *Copy Location* by the ratio of the legs. `nla.bake` makes
keys of it. Which bones belong together, where figures face, and how their limbs lie at rest, is given to it; *Retarget*
finds it out.
"""

import contextlib
import io
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from report import Result, Row, number

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "characters"))

import measure  # noqa: E402
from clips import clip  # noqa: E402
from retargeted import Film, angle, hands, retarget, slides  # noqa: E402

import build  # noqa: E402

CLIP = ROOT / "examples" / "cmu_01_01.bvh"
FIGURES = ("mixamo", "vroid", "toon", "gorilla", "smpl", "unreal", "daz")
RATE = 30  # frames a second
BELOW = {"collar": "arm", "arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot", "foot": "toes"}
PARTS = ("hips", "spine", "neck", "head", "hand", "toes", *BELOW)
Roles = dict[tuple[str, str], str]


def run(arguments: Namespace) -> Result:
    """Retarget to all figures in all ways."""
    measure.load()
    rows = [_row(figure, name, way, arguments.frames) for figure in FIGURES for name, way in WAYS.items()]
    return Result(rows, [
        ("figure", lambda row: str(row["figure"])),
        ("way", lambda row: str(row["way"])),
        ("slide beyond the source's, median", number("slide", ".2f", 1.0, " %/s")),
        ("worst", number("slide_worst", ".1f", 1.0, " %/s")),
        ("wrong knees", number("wrong", ".1f", 100.0, " %")),
        ("step added", number("pop", ".1f", 1.0, " deg")),
        ("hands off, median", number("hands", ".1f", 1.0, " %")),
        ("worst", number("hands_worst", ".1f", 1.0, " %")),
        ("CPU s", number("seconds", ".2f")),
    ])  # fmt: skip


class Pair(NamedTuple):
    """A source and a figure, with the bones of their roles."""

    source: bpy.types.Object
    ob: bpy.types.Object
    from_: Roles
    to: Roles
    frames: range

    def ratio(self) -> float:
        """The figure's legs by the source's."""
        return _leg(self.ob, self.to) / _leg(self.source, self.from_)


def _row(figure: str, name: str, way: Callable[[Pair], None], frames: int) -> Row:
    character = measure.BY_NAME[figure]
    captured = clip(str(CLIP))
    with contextlib.redirect_stdout(io.StringIO()):
        ob = measure.made(character, "native")
        source = captured.add()
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    scene.frame_end = frames or scene.frame_end
    span = range(scene.frame_start, scene.frame_end + 1)
    pair = Pair(source, ob, _roles(source, captured.truth()), _roles(ob, build.truth(character)), span)
    began = time.process_time()
    way(pair)
    took = time.process_time() - began
    before, after = Film(source, captured.truth(), span), Film(ob, build.truth(character), span)
    slid, apart = slides(before, after, RATE), 100.0 * np.abs(hands(after) - hands(before))
    knees = np.array([after.bend("thigh", "shin", "foot", side) for side in "LR"])
    wrong = np.mean(knees < -np.sin(np.radians(measure.BACKWARD)))
    steps = [np.array([angle(film.axes[1:, film.row(part, side)], film.axes[:-1, film.row(part, side)])
                       for part in ("thigh", "shin") for side in "LR"]) for film in (before, after)]  # fmt: skip
    return {
        "figure": figure, "way": name, "slide": float(np.median(slid)), "slide_worst": float(slid.max()),
        "wrong": float(wrong), "pop": float((steps[1] - steps[0]).max()), "hands": float(np.median(apart)),
        "hands_worst": float(apart.max()), "seconds": took,
    }  # fmt: skip


def _roles(ob: bpy.types.Object, truth: dict[str, tuple[str, str] | None]) -> Roles:
    """The first bone of each role."""
    found: Roles = {}
    for bone in ob.pose.bones:
        role = truth.get(bone.name)
        if role is not None and role[0] in PARTS:
            found.setdefault(tuple(role), bone.name)
    return found


def _leg(ob: bpy.types.Object, roles: Roles) -> float:
    places = [ob.matrix_world @ ob.data.bones[roles[part, "L"]].head_local for part in ("thigh", "shin", "foot")]
    return (places[1] - places[0]).length + (places[2] - places[1]).length


# -- the ways ----------------------------------------------------------------------------------------------------------


def _retarget(pair: Pair) -> None:
    retarget(pair.source, pair.ob, pair.frames)


def _copy(pair: Pair) -> None:
    """Blender's constraints on the figure's bones, and its bake."""
    ob = pair.ob
    for role in set(pair.from_) & set(pair.to):
        leads = ob.pose.bones[pair.to[role]].constraints.new("COPY_ROTATION")
        leads.target = _hung(pair, role)
    hips = ob.pose.bones[pair.to["hips", ""]].constraints.new("COPY_LOCATION")
    hips.target = _scaled(pair, ("hips", ""))
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = True
    done = bpy.ops.nla.bake(frame_start=pair.frames[0], frame_end=pair.frames[-1], only_selected=True,
                            visual_keying=True, clear_constraints=True, bake_types={"POSE"})  # fmt: skip
    if done != {"FINISHED"}:
        raise RuntimeError("Blender's bake did not finish")


def _hung(pair: Pair, role: tuple[str, str]) -> bpy.types.Object:
    """An object that hangs on the source's bone, turned as the figure's is where the limbs of both lie alike."""
    bone, own = pair.source.data.bones[pair.from_[role]], pair.ob.data.bones[pair.to[role]]
    rest = (pair.ob.matrix_world @ own.matrix_local).to_quaternion()
    empty = bpy.data.objects.new(" ".join(role), None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, empty.parent_type, empty.parent_bone = pair.source, "BONE", bone.name
    carrier = (pair.source.matrix_world @ bone.matrix_local).to_quaternion()
    empty.rotation_mode = "QUATERNION"
    empty.rotation_quaternion = carrier.inverted() @ _matched(pair, role) @ rest
    return empty


def _matched(pair: Pair, role: tuple[str, str]) -> Quaternion:
    """The turn in the world that faces the figure as the source at rest, and lays a limb of both alike."""
    both = (pair.ob, pair.to), (pair.source, pair.from_)
    left = [_head(ob, roles["thigh", "L"]) - _head(ob, roles["thigh", "R"]) for ob, roles in both]
    faced = Quaternion((0.0, 0.0, 1.0), np.arctan2(left[1].y, left[1].x) - np.arctan2(left[0].y, left[0].x))
    below = (BELOW.get(role[0], ""), role[1])
    if below not in pair.from_ or below not in pair.to:
        return faced
    ways = [_head(ob, roles[below]) - _head(ob, roles[role]) for ob, roles in both]
    return (faced @ ways[0]).rotation_difference(ways[1]) @ faced


def _head(ob: bpy.types.Object, bone: str) -> Vector:
    return ob.matrix_world @ ob.data.bones[bone].head_local


def _scaled(pair: Pair, role: tuple[str, str]) -> bpy.types.Object:
    """An object with keys: where the source's bone is, by the ratio of the legs."""
    empty = bpy.data.objects.new(f"{role[0]} {role[1]} place", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame in pair.frames:
        bpy.context.scene.frame_set(frame)
        shown = pair.source.evaluated_get(bpy.context.evaluated_depsgraph_get())
        place: Matrix = shown.matrix_world @ shown.pose.bones[pair.from_[role]].matrix
        empty.location = pair.ratio() * place.translation
        empty.keyframe_insert("location", frame=frame)
    return empty


WAYS = {"dqik.retarget": _retarget, "Copy Rotation, nla.bake": _copy}
