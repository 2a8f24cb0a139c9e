# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion for twelve figures that differ in all that figures differ in: *Retarget*, and Blender's constraints.

The example clip, or those that `--clips` names; motions of animals go to six animals. With Blender, an object hangs
on each bone of the source, turned as the figure's bone is in its rest pose once that is matched; the bone gets *Copy
Rotation* from it, the hips also *Copy Location* by the ratio of the legs. `nla.bake` makes keys of it. Which bones
belong together, where figures face, and how their limbs lie at rest, is given to it; *Retarget* finds it out.

Slide: by how much faster a foot goes over the ground than the source's, on frames on which that one stands, in legs.
Contacts: how far (F1) the frames on which a foot or a hand stands on the ground are those of the source. Knees and
elbows: the share of frames on which one bends backward where the source's does not. Ground: how far a foot, knee, hand,
the hips or the head are below it at most, beyond the source's. Inside: the share of frames on which a leg is in the
other one, or a forearm in the trunk, and the source's is not. Steps: by how much further a part turns from a frame to
the next at most. Hands: by how much the distances of hands from each other and from the head differ, in arms.
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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "characters"))

import draw_retarget  # noqa: E402
import measure  # noqa: E402
import twelve  # noqa: E402
from clips import Clip, clip  # noqa: E402
from film import STANDS, Film  # noqa: E402
from retargeted import clips_of, elbow_turns, hands, retarget, slides, steps  # noqa: E402

CLIP = ROOT / "examples" / "cmu_01_01.bvh"
FIGURES = tuple(twelve.FIGURES)
RATE = 30  # frames a second
MOST = 90  # frames of each motion of `--clips`
MOMENTS = 4  # that are drawn
LOW, PALM = 0.06, 0.3  # of the leg above the lowest place of feet: where a foot stands, and a wrist
SHIN, TRUNK = 0.04, 0.1  # of the leg: radii of shins, and of the trunk with a forearm
BELOW = {"collar": "arm", "arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot", "foot": "toes"}
LOWEST = (("head", ""), ("hips", ""), *((part, side) for part in ("shin", "hand") for side in "LR"))
PARTS = ("hips", "spine", "neck", "head", "hand", "toes", *BELOW)
WRONG = 90.0  # degrees by which the plane of a bent elbow differs that bends backward
ANIMAL = "animal"  # how clips of animals are called
Roles = dict[tuple[str, str], list[str]]


def run(arguments: Namespace) -> Result:
    """Retarget to all figures in all ways."""
    measure.load()
    motions = clips_of(arguments.clips, MOST, RATE) if arguments.clips else [clip(str(CLIP))]
    rows = [row for captured in motions for row in _rows(captured, arguments)]
    return Result(rows, [
        ("clip", lambda row: str(row["clip"])),
        ("figure", lambda row: str(row["figure"])),
        ("way", lambda row: str(row["way"])),
        ("slide, median", number("slide", ".2f", 1.0, " %/s")),
        ("worst", number("slide_worst", ".1f", 1.0, " %/s")),
        ("contacts", number("contacts", ".2f")),
        ("knees", number("knees", ".1f", 100.0, " %")),
        ("elbows", number("elbows", ".1f", 100.0, " %")),
        ("ground", number("ground", ".1f", 100.0, " %")),
        ("inside", number("inside", ".1f", 100.0, " %")),
        ("steps", number("steps", ".1f", 1.0, " deg")),
        ("hands, median", number("hands", ".1f", 1.0, " %")),
        ("worst", number("hands_worst", ".1f", 1.0, " %")),
        ("CPU s", number("seconds", ".2f")),
    ])  # fmt: skip


class Pair(NamedTuple):
    """A source and a figure, with the bones of their roles, and the joints of the figure's body."""

    source: bpy.types.Object
    ob: bpy.types.Object
    from_: Roles
    to: Roles
    frames: range
    body: dict

    def ratio(self) -> float:
        """The figure's legs by the source's."""
        return _leg(self.ob, self.to) / _leg(self.source, self.from_)


def _rows(captured: Clip, arguments: Namespace) -> list[Row]:
    """The rows of a clip, and its sheet of pictures: the source and the figures of *Retarget* at some moments."""
    rows, columns = list[Row](), []
    for figure in twelve.ANIMALS if captured.name.startswith(ANIMAL) else FIGURES:
        pair, truths = made(figure, captured, arguments.frames)
        moments = np.linspace(0, len(pair.frames) - 1, MOMENTS + 2).astype(int)[1:-1].tolist()
        before = Film(pair.source, truths[0], pair.frames)
        for name, way in WAYS.items():
            after, took = _filmed(pair, truths[1], way)
            labels = {"clip": captured.name, "figure": figure, "way": name}
            rows.append(labels | _measures(before, after) | {"seconds": took})
            if figure in twelve.ANIMALS:  # whose necks and legs in front are as long as they are
                rows[-1] |= {"hands": None, "hands_worst": None}
            if way is _retarget:
                columns += [draw_retarget.column(film, moments) for film in (before, after)[bool(columns) :]]
    if arguments.clips and arguments.page is None:  # beside the documented table there are none
        draw_retarget.render(columns, arguments.out / f"retarget {captured.name}.png")
    return rows


def _filmed(pair: Pair, truth: dict, way: Callable[[Pair], None]) -> tuple[Film, float]:
    """What a way makes of a figure that has no motion, and its time [s] of the processor."""
    pair.ob.animation_data_clear()
    for bone in pair.ob.pose.bones:
        bone.matrix_basis = Matrix()
    began = time.process_time()
    way(pair)
    took = time.process_time() - began
    for ob in bpy.context.scene.objects:
        ob.hide_viewport = ob.type == "MESH"
    return Film(pair.ob, truth, pair.frames, pair.body), took


def _measures(before: Film, after: Film) -> dict[str, object]:
    films = before, after
    slid, apart = slides(before, after, RATE), 100.0 * np.abs(hands(after) - hands(before))
    knees, inside, stands = ([which(film, before) for film in films] for which in (_knees, _inside, _stands))
    both = (stands[0] & stands[1]).sum()
    return {
        "slide": float(np.median(slid)) if len(slid) else None,
        "slide_worst": float(slid.max()) if len(slid) else None,
        "contacts": float(2.0 * both / max(stands[0].sum() + stands[1].sum(), 1)),
        "knees": float(np.mean(knees[1] & ~knees[0])), "elbows": float(np.mean(elbow_turns(*films) > WRONG)),
        "ground": max(_sunk(after, before) - _sunk(before, before), 0.0),
        "inside": float(np.mean(inside[1] & ~inside[0])), "steps": float(np.max([*steps(before, after).values()])),
        "hands": float(np.median(apart)), "hands_worst": float(apart.max()),
    }  # fmt: skip


def made(figure: str, captured: Clip, frames: int) -> tuple[Pair, tuple[dict, dict]]:
    """A figure and a source in an empty file, and the true roles of their bones, of the source's first."""
    ob, truth = twelve.made(figure)
    with contextlib.redirect_stdout(io.StringIO()):
        source = captured.add()
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    first, last = map(round, source.animation_data.action.frame_range)
    scene.frame_start, scene.frame_end = first, min(first + (frames or MOST) - 1, last)
    span, truths = range(scene.frame_start, scene.frame_end + 1), (captured.truth(), truth)
    return Pair(source, ob, *map(_roles, (source, ob), truths), span, twelve.body(figure)), truths


def _knees(film: Film, _: Film) -> np.ndarray:
    """Whether (2, F) knees bend backward."""
    return np.array([film.bend("thigh", "shin", "foot", side) < -np.sin(np.radians(measure.BACKWARD)) for side in "LR"])


def _ground(film: Film, source: Film) -> float:
    """Where the ground is: the feet are there now and then."""
    return float(np.percentile(np.min([film.ball(side, source)[:, 2] for side in "LR"], axis=0), 10.0))


def _stands(film: Film, source: Film) -> np.ndarray:
    """Whether (4, F - 1) feet and hands stand: slow, and on the ground."""
    leg, found = film.leg(), []
    for points, low in ((film.ball, LOW), (lambda side, _: film.at("hand", side), PALM)):
        for side in "LR":
            place = points(side, source)
            slow = np.linalg.norm(np.diff(place[:, :2], axis=0), axis=-1) / leg * RATE < STANDS
            found.append(slow & (place[1:, 2] < _ground(film, source) + low * leg))
    return np.array(found)


def _sunk(film: Film, source: Film) -> float:
    """How far the lowest ball, knee, hand, the hips or the head are below the ground at most, in lengths of a leg."""
    places = [film.ball(side, source) for side in "LR"] + [film.at(*part) for part in LOWEST if film.has(*part)]
    return float(_ground(film, source) - np.array(places)[..., 2].min()) / film.leg()


def _inside(film: Film, _: Film) -> np.ndarray:
    """Whether (3, F) a shin is in the other one, and each forearm in the trunk, whose radii are a part of the leg."""
    leg = film.leg()
    shins = [(film.at("shin", side), film.at("foot", side)) for side in "LR"]
    trunk = film.at("hips"), film.at("arm", "L") + 0.5 * (film.at("arm", "R") - film.at("arm", "L"))
    arms = [(film.at("forearm", side), film.at("hand", side)) for side in "LR"]
    return np.array([_apart(*shins) < 2.0 * SHIN * leg, *(_apart(trunk, arm) < TRUNK * leg for arm in arms)])


def _apart(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The distance (F,) of two lines with ends (F, 3), of nine points on each."""
    shares = np.linspace(0.0, 1.0, 9)[:, None, None]
    first, second = (line[0] + shares * (line[1] - line[0]) for line in (one, other))
    return np.linalg.norm(first[:, None] - second[None], axis=-1).min((0, 1))


def _roles(ob: bpy.types.Object, truth: dict[str, tuple[str, str] | None]) -> Roles:
    """The bones of each role."""
    found: Roles = {}
    for bone in ob.pose.bones:
        role = truth.get(bone.name)
        if role is not None and role[0] in PARTS:
            found.setdefault(tuple(role), []).append(bone.name)
    return found


def _leg(ob: bpy.types.Object, roles: Roles) -> float:
    places = [ob.matrix_world @ ob.data.bones[roles[part, "L"][0]].head_local for part in ("thigh", "shin", "foot")]
    return (places[1] - places[0]).length + (places[2] - places[1]).length


# -- the ways ----------------------------------------------------------------------------------------------------------


def _retarget(pair: Pair) -> None:
    retarget(pair.source, pair.ob, pair.frames)


def _copy(pair: Pair) -> None:
    """Blender's constraints on the figure's bones, and its bake."""
    ob = pair.ob
    for role in set(pair.from_) & set(pair.to):
        for theirs, own in _alike(pair.from_[role], pair.to[role]):
            ob.pose.bones[own].constraints.new("COPY_ROTATION").target = _hung(pair, role, theirs, own)
    hips = ob.pose.bones[pair.to["hips", ""][0]].constraints.new("COPY_LOCATION")
    hips.target = _scaled(pair)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = True
    done = bpy.ops.nla.bake(frame_start=pair.frames[0], frame_end=pair.frames[-1], only_selected=True,
                            visual_keying=True, clear_constraints=True, bake_types={"POSE"})  # fmt: skip
    if done != {"FINISHED"}:
        raise RuntimeError("Blender's bake did not finish")


def _alike(theirs: list[str], own: list[str]) -> list[tuple[str, str]]:
    """The bones of two chains that go together: first and last ones, and those between."""
    last = max(min(len(theirs), len(own)) - 1, 1)
    return [tuple(chain[round(number * (len(chain) - 1) / last)] for chain in (theirs, own))
            for number in range(min(len(theirs), len(own)))]  # fmt: skip


def _hung(pair: Pair, role: tuple[str, str], theirs: str, name: str) -> bpy.types.Object:
    """An object that hangs on the source's bone, turned as the figure's is where the limbs of both lie alike."""
    bone, own = pair.source.data.bones[theirs], pair.ob.data.bones[name]
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
    left = [_head(ob, roles["thigh", "L"][0]) - _head(ob, roles["thigh", "R"][0]) for ob, roles in both]
    faced = Quaternion((0.0, 0.0, 1.0), np.arctan2(left[1].y, left[1].x) - np.arctan2(left[0].y, left[0].x))
    below = (BELOW.get(role[0], ""), role[1])
    if below not in pair.from_ or below not in pair.to:
        return faced
    ways = [_head(ob, roles[below][0]) - _head(ob, roles[role][0]) for ob, roles in both]
    return (faced @ ways[0]).rotation_difference(ways[1]) @ faced


def _head(ob: bpy.types.Object, bone: str) -> Vector:
    return ob.matrix_world @ ob.data.bones[bone].head_local


def _scaled(pair: Pair) -> bpy.types.Object:
    """An object with keys: where the source's hips are, by the ratio of the legs."""
    empty = bpy.data.objects.new("hips", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame in pair.frames:
        bpy.context.scene.frame_set(frame)
        shown = pair.source.evaluated_get(bpy.context.evaluated_depsgraph_get())
        place: Matrix = shown.matrix_world @ shown.pose.bones[pair.from_["hips", ""][0]].matrix
        empty.location = pair.ratio() * place.translation
        empty.keyframe_insert("location", frame=frame)
    return empty


WAYS = {"dqik.retarget": _retarget, "Copy Rotation, nla.bake": _copy}
