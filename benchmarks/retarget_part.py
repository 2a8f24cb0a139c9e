# SPDX-License-Identifier: GPL-3.0-or-later
"""The example clip for figures of other proportions and other rest poses: *Retarget*, and Blender's constraints.

With Blender, an object hangs on each bone of the source, turned as the figure's bone is in its rest pose once that is
matched; the bone gets *Copy Rotation* from it, the hips also *Copy Location* by the ratio of the legs. `nla.bake` makes
keys of it. Which bones belong together, where figures face, and how their limbs lie at rest, is given to it; *Retarget*
finds it out. With `--clips` other motions go to figures that are unlike people.

Contacts: how far (F1) the frames on which a foot stands are those of the source. Wrong: the share of frames on which a
knee bends backward where the source's does not. Ground: how far a foot sinks in at most, beyond the
source's. Inside: the share of frames on which a leg is in the other one, or a forearm in the trunk, and the source's is
not. Steps: by how much further a part turns from a frame to the next, the worst of a hundred.
"""

import contextlib
import io
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from report import Result, Row, number

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "characters"))

import measure  # noqa: E402
from clips import Clip, clip  # noqa: E402
from film import STANDS  # noqa: E402
from retargeted import FIGURES as KNOWN  # noqa: E402
from retargeted import UNLIKE, Film, clips_of, far_tails, hands, retarget, slides, steps  # noqa: E402

import build  # noqa: E402

CLIP = ROOT / "examples" / "cmu_01_01.bvh"
FIGURES = ("mixamo", "vroid", "toon", "gorilla", "smpl", "unreal", "daz")
RATE = 30  # frames a second
MOST = 150  # frames of each motion of `--clips`
LOW = 0.02  # of the leg above its lowest place: where a foot stands
SHIN, TRUNK = 0.04, 0.1  # of the leg: radii of shins, and of the trunk with a forearm
BELOW = {"collar": "arm", "arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot", "foot": "toes"}
PARTS = ("hips", "spine", "neck", "head", "hand", "toes", *BELOW)
Roles = dict[tuple[str, str], str]


def run(arguments: Namespace) -> Result:
    """Retarget to all figures in all ways."""
    measure.load()
    if arguments.clips:
        rows = [_row(figure, captured, name, arguments.frames) for captured in clips_of(arguments.clips, MOST, RATE)
                for figure in UNLIKE for name in WAYS]  # fmt: skip
    else:
        rows = [_row(figure, clip(str(CLIP)), name, arguments.frames) for figure in FIGURES for name in WAYS]
    return Result(rows, [
        ("clip", lambda row: str(row["clip"])),
        ("figure", lambda row: str(row["figure"])),
        ("way", lambda row: str(row["way"])),
        ("slide beyond the source's, median", number("slide", ".2f", 1.0, " %/s")),
        ("worst", number("slide_worst", ".1f", 1.0, " %/s")),
        ("contacts", number("contacts", ".2f")),
        ("wrong", number("wrong", ".1f", 100.0, " %")),
        ("ground", number("ground", ".1f", 100.0, " %")),
        ("inside", number("inside", ".1f", 100.0, " %")),
        ("steps", number("pop", ".1f", 1.0, " deg")),
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


def _row(figure: str, captured: Clip, name: str, frames: int) -> Row:
    pair, truths = made(figure, captured, frames)
    began = time.process_time()
    WAYS[name](pair)
    took = time.process_time() - began
    before, after = (Film(ob, truth, pair.frames) for ob, truth in zip(pair[:2], truths, strict=True))
    slid, apart = slides(before, after, RATE), 100.0 * np.abs(hands(after) - hands(before))
    films = before, after
    wrong, inside, stands = ([which(film, before) for film in films] for which in (_wrong, _inside, _stands))
    both = (stands[0] & stands[1]).sum()
    turned = np.max([*steps(before, after).values()], axis=0)
    return {
        "clip": captured.name, "figure": figure, "way": name, "slide": float(np.median(slid)) if len(slid) else None,
        "slide_worst": float(slid.max()) if len(slid) else None,
        "contacts": float(2.0 * both / max(stands[0].sum() + stands[1].sum(), 1)),
        "wrong": float(np.mean(wrong[1] & ~wrong[0])), "ground": max(_sunk(after, before) - _sunk(before, before), 0.0),
        "inside": float(np.mean(inside[1] & ~inside[0])), "pop": float(np.percentile(turned, 99.0)),
        "hands": float(np.median(apart)), "hands_worst": float(apart.max()), "seconds": took,
    }  # fmt: skip


def made(figure: str, captured: Clip, frames: int) -> tuple[Pair, tuple[dict, dict]]:
    """A figure and a source in an empty file, and the true roles of their bones, of the source's first."""
    character = KNOWN[figure]
    with contextlib.redirect_stdout(io.StringIO()):
        ob = measure.made(character, "native")
        source = captured.add()
    if figure == "big feet":
        far_tails(ob)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    scene.frame_end = min(scene.frame_start + frames - 1, scene.frame_end) if frames else scene.frame_end
    truths = captured.truth(), build.truth(character)
    span = range(scene.frame_start, scene.frame_end + 1)
    return Pair(source, ob, _roles(source, truths[0]), _roles(ob, truths[1]), span), truths


def _wrong(film: Film, _: Film) -> np.ndarray:
    """Whether (2, F) knees bend backward."""
    return np.array([film.bend("thigh", "shin", "foot", side) < -np.sin(np.radians(measure.BACKWARD)) for side in "LR"])


def _stands(film: Film, source: Film) -> np.ndarray:
    """Whether (2, F - 1) feet stand: slow, and as low as they get."""
    found = []
    for side in "LR":
        ball, leg = film.ball(side, source), film.leg()
        slow = np.linalg.norm(np.diff(ball[:, :2], axis=0), axis=-1) / leg * RATE < STANDS
        found.append(slow & (ball[1:, 2] < np.percentile(ball[:, 2], 2.0) + LOW * leg))
    return np.array(found)


def _sunk(film: Film, source: Film) -> float:
    """How far the lowest ball of a foot is below the ground at most, in lengths of a leg; they rest on the ground."""
    balls = np.array([film.ball(side, source)[:, 2] for side in "LR"])
    return float(np.median(balls.min(0)) - balls.min()) / film.leg()


def _inside(film: Film, _: Film) -> np.ndarray:
    """Whether (3, F) a shin is in the other one, and each forearm in the trunk, whose radii are a part of the leg."""
    leg = film.leg()
    shins = [(film.at("shin", side), film.at("foot", side)) for side in "LR"]
    trunk = film.at("hips"), film.at("neck")
    arms = [(film.at("forearm", side), film.at("hand", side)) for side in "LR"]
    return np.array([_apart(*shins) < 2.0 * SHIN * leg, *(_apart(trunk, arm) < TRUNK * leg for arm in arms)])


def _apart(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The distance (F,) of two lines with ends (F, 3), of nine points on each."""
    shares = np.linspace(0.0, 1.0, 9)[:, None, None]
    first, second = (line[0] + shares * (line[1] - line[0]) for line in (one, other))
    return np.linalg.norm(first[:, None] - second[None], axis=-1).min((0, 1))


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
