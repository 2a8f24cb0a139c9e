# SPDX-License-Identifier: GPL-3.0-or-later
"""Two people who touch, for figures of other sizes and proportions: *Retarget* alone, and with a partner.

Both people are the example clip, beside or before each other, with arms that are bent so that hands meet (or lie on a
shoulder) for a stretch of frames. Each goes to a figure of its own: alone; with a partner that stays as it is; and with
one that gives too.

Gap: by how much the distance of what touches (the middles of two hands, or of a hand and a shoulder's joint) differs
from that of the sources, scaled by the mean of the heights, on the frames of the touch; in millimetres on figures whose
mean height is 1.75 m. Steps: by how much further a part turns between two frames than the source's, the worst of a
hundred, and the worst. Slide: of feet that stand, beyond the source's.
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
from mathutils import Matrix, Vector
from report import Result, Row, number

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "characters"))

import measure  # noqa: E402
from clips import clip  # noqa: E402
from film import Film  # noqa: E402
from retargeted import FIGURES as KNOWN  # noqa: E402
from retargeted import slides, steps  # noqa: E402

import build  # noqa: E402

CLIP = ROOT / "examples" / "cmu_01_01.bvh"
FIGURES = (("mixamo", "vroid"), ("toon", "unreal"), ("gorilla", "mixamo"), ("mixamo", "child"))
FIRST, LAST = 80, 180  # frames of the clip: two jumps
HEIGHT = 1750.0  # millimetres
PALM = 0.055  # of the height: from the wrist to the middle of a hand


class Meeting(NamedTuple):
    """How two people touch, in heights of one.

    place : of the second one from the first, left and forward. faces : the turn [degrees] of the second one. hands :
    which hands meet, of the first and of the second one; `shoulder` : or lie on which shoulder of the second one.
    high : the place above the ground where they meet. frames : in which they do, and ease : in how many before and
    after the arms go there.
    """

    place: tuple[float, float]
    faces: float
    hands: tuple[tuple[str, str], ...]
    high: float
    frames: range
    ease: int
    shoulder: bool = False


MEETINGS = {
    "hand in hand": Meeting((0.38, 0.0), 0.0, (("L", "R"),), 0.5, range(20, 70), 12),
    "both hands": Meeting((0.0, 0.5), 180.0, (("L", "R"), ("R", "L")), 0.6, range(20, 70), 12),
    "high five": Meeting((0.0, 0.6), 180.0, (("R", "R"),), 0.85, range(44, 48), 6),
    "on a shoulder": Meeting((0.4, 0.0), 0.0, (("L", "R"),), 0.0, range(20, 70), 12, shoulder=True),
}
SHOWN = tuple(MEETINGS)


class Pair(NamedTuple):
    """Two sources, their two figures, and the true roles of the bones of all four."""

    sources: list[bpy.types.Object]
    figures: list[bpy.types.Object]
    truths: list[dict]
    own: list[dict]
    frames: range


def run(arguments: Namespace) -> Result:
    """Retarget all pairs in all ways."""
    measure.load()
    rows = [row for names in FIGURES for meeting in SHOWN for row in _rows(names, meeting, arguments.frames)]
    return Result(rows, [
        ("touch", lambda row: str(row["touch"])),
        ("figures", lambda row: str(row["figures"])),
        ("way", lambda row: str(row["way"])),
        ("gap, median", number("gap", ".0f", 1.0, " mm")),
        ("worst", number("gap_worst", ".0f", 1.0, " mm")),
        ("slide beyond the source's, median", number("slide", ".2f", 1.0, " %/s")),
        ("worst", number("slide_worst", ".1f", 1.0, " %/s")),
        ("steps", number("pop", ".1f", 1.0, " deg")),
        ("worst", number("pop_worst", ".1f", 1.0, " deg")),
        ("said", lambda row: str(row["said"])),
        ("CPU s", number("seconds", ".2f")),
    ])  # fmt: skip


def _rows(names: tuple[str, str], meeting: str, frames: int) -> list[Row]:
    pair = made(names, MEETINGS[meeting], frames)
    rows = []
    for way, options in WAYS.items():
        began = time.process_time()
        _retarget(pair, 0, {})
        _retarget(pair, 1, options)
        took = time.process_time() - began
        films = [[Film(ob, truth, pair.frames) for ob, truth in zip(obs, truths, strict=True)]
                 for obs, truths in ((pair.sources, pair.truths), (pair.figures, pair.own))]  # fmt: skip
        gaps = 1e3 * _gaps(pair, MEETINGS[meeting], films)
        slid = np.concatenate([slides(*both, _rate()) for both in zip(*films, strict=True)])
        turned = np.concatenate([np.max([*steps(*both).values()], axis=0) for both in zip(*films, strict=True)])
        said = sys.modules["dqik.rig.clip.last_report"].of(pair.figures[1])
        row: dict[str, object] = {"touch": meeting, "figures": " + ".join(names), "way": way}
        for name, values in (("gap", gaps), ("slide", slid)):
            if len(values):
                row |= {name: float(np.median(values)), f"{name}_worst": float(values.max())}
        row |= {"pop": float(np.percentile(turned, 99.0)), "pop_worst": float(turned.max())}
        rows.append(row | {"said": str(said.notes[-1]) if options else "-", "seconds": took})
    return rows


WAYS = {"alone": {}, "partner stays": {"both_give": False}, "both give": {"both_give": True}}


def _rate() -> float:
    return bpy.context.scene.render.fps / bpy.context.scene.render.fps_base


def _gaps(pair: Pair, meeting: Meeting, films: list[list[Film]]) -> np.ndarray:
    """The gaps (F, T) [m] of all touches."""
    apart = [np.stack([np.linalg.norm(
        _palm(first, one) - (second.at("arm", other) if meeting.shoulder else _palm(second, other)), axis=-1)
        for one, other in meeting.hands], -1) for first, second in films]  # fmt: skip
    heights = [np.mean([_height(film) for film in both]) for both in films]
    rows = [row for row in meeting.frames if row < len(apart[0])]
    return np.abs(apart[1][rows] / heights[1] - apart[0][rows] / heights[0]) * HEIGHT * 1e-3


def _palm(film: Film, side: str) -> np.ndarray:
    """The middle of a hand (F, 3), on along the forearm as it is at rest."""
    hand, forearm = film.row("hand", side), film.row("forearm", side)
    line = film.rest[hand] - film.rest[forearm]
    place = PALM * _height(film) * film.rest_axes[hand].T @ line / np.linalg.norm(line)
    return film.at("hand", side) + film.axes[:, hand] @ place


def _height(film: Film) -> float:
    """From the feet to the head's joint, at rest."""
    return float(abs((film.rest[film.row("head")] - film.rest[film.row("foot", "L")]) @ film.body()[:, 2]))


def _retarget(pair: Pair, number: int, options: dict[str, object]) -> None:
    ob, other = pair.figures[number], pair.figures[1 - number]
    for one in bpy.context.view_layer.objects:
        one.select_set(one == ob)
    bpy.context.view_layer.objects.active = ob
    more = {"partner": other.name, **options} if options else {}
    with contextlib.redirect_stdout(io.StringIO()):
        done = bpy.ops.dqik.retarget(source=pair.sources[number].name, frame_start=pair.frames[0],
                                     frame_end=pair.frames[-1], **more)  # fmt: skip
    if done != {"FINISHED"}:
        raise RuntimeError("Retarget did not finish")


# -- the people --------------------------------------------------------------------------------------------------------


def made(names: tuple[str, str], meeting: Meeting, frames: int = 0) -> Pair:
    """Two figures and two people who meet, in an empty file."""
    characters = [KNOWN[name] for name in names]
    captured = clip(str(CLIP))
    with contextlib.redirect_stdout(io.StringIO()):
        figures = [measure.made(characters[0], "native"), build.native(characters[1])]
        sources = [captured.add(), captured.add()]
    for ob, character in zip(figures, characters, strict=True):
        ob.scale = (1.0 / character.unit,) * 3  # all in metres
    scene = bpy.context.scene
    count = min(LAST - FIRST, frames or LAST)
    scene.frame_start, scene.frame_end = 1, count
    for source in sources:
        _thinned(source, count)
    truths = [captured.truth()] * 2
    _meet(sources, truths[0], meeting, range(1, count + 1))
    return Pair(sources, figures, truths, [build.truth(one) for one in characters], range(1, count + 1))


def _thinned(source: bpy.types.Object, count: int) -> None:
    """Leave a part of a motion, with a key on each frame from 1."""
    action = source.animation_data.action
    for curve in _curves(action):
        values = [curve.evaluate(FIRST + row) for row in range(count)]
        curve.keyframe_points.clear()
        curve.keyframe_points.add(count)
        curve.keyframe_points.foreach_set("co", np.stack([np.arange(1.0, count + 1.0), values], -1).ravel())
        curve.update()


def _curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    if hasattr(action, "layers") and len(action.layers):
        return [curve for bag in action.layers[0].strips[0].channelbags for curve in bag.fcurves]
    return list(action.fcurves)


def _meet(sources: list[bpy.types.Object], truth: dict, meeting: Meeting, frames: range) -> None:
    """Place the second person, and bend arms so that wrists meet."""
    first = Film(sources[0], truth, frames)
    height = _height(first) / 0.87
    scene = bpy.context.scene
    middle = first.at("hips").mean(0)
    turn = Matrix.Rotation(np.radians(meeting.faces), 4, "Z")
    left = np.mean(first.at("thigh", "L") - first.at("thigh", "R"), axis=0) * (1.0, 1.0, 0.0)
    left /= np.linalg.norm(left)
    forward = np.array([left[1], -left[0], 0.0])
    place = middle + height * (meeting.place[0] * left + meeting.place[1] * forward)
    ground = Vector((*middle[:2], 0.0))
    moved = Matrix.Translation(Vector((*place[:2], 0.0))) @ turn @ Matrix.Translation(-ground)
    sources[1].matrix_world = moved @ sources[1].matrix_world
    bpy.context.view_layer.update()
    names = {role: name for name, role in truth.items()}
    for frame in frames:
        row = frame - frames[0]
        ease = min(row - meeting.frames[0], meeting.frames[-1] - row)
        share = min(max(1.0 + ease / meeting.ease, 0.0), 1.0)
        scene.frame_set(frame)
        for one, other in meeting.hands:
            bones = [[source.pose.bones[names[part, side]] for part in ("arm", "forearm", "hand")]
                     for source, side in zip(sources, (one, other), strict=True)]  # fmt: skip
            starts = [source.matrix_world @ arm[0].head for source, arm in zip(sources, bones, strict=True)]
            between = 0.5 * (starts[0] + starts[1])
            between.z = meeting.high * height + starts[0].z - middle[2] - 0.28 * height
            line = starts[1] - starts[0]
            apart = 0.02 * height * Vector((line.x, line.y, 0.0)).normalized()
            if meeting.shoulder:
                _bend(sources[0], bones[0], starts[1] + Vector((0.0, 0.0, 0.04 * height)), share)
                continue
            for source, arm, away in zip(sources, bones, (-apart, apart), strict=True):
                _bend(source, arm, between + away, share)
        for source in sources:
            for side in "LR":
                for part in ("arm", "forearm"):
                    source.pose.bones[names[part, side]].keyframe_insert("rotation_quaternion", frame=frame)


def _bend(source: bpy.types.Object, arm: list[bpy.types.PoseBone], target: Vector, share: float) -> None:
    """Bend an arm so that its wrist is at a share of the way to a place in the world: the sides of a triangle."""
    upper, lower, hand = arm
    inverse = source.matrix_world.inverted()
    shoulder, elbow, wrist = (bone.head.copy() for bone in arm)
    target = wrist.lerp(inverse @ target, 3.0 * share**2 - 2.0 * share**3)
    one, two = (elbow - shoulder).length, (wrist - elbow).length
    line = target - shoulder
    reach = min(line.length, 0.999 * (one + two))
    along = (one**2 - two**2 + reach**2) / (2.0 * reach)
    side = elbow - shoulder
    side -= side.project(line)
    knee = shoulder + along * line.normalized() + float(np.sqrt(max(one**2 - along**2, 0.0))) * side.normalized()
    for bone, end in ((upper, knee), (lower, shoulder + reach * line.normalized())):
        bpy.context.view_layer.update()
        head, tail = bone.head.copy(), (lower if bone == upper else hand).head
        swing = (tail - head).rotation_difference(end - head).to_matrix().to_4x4()
        bone.matrix = Matrix.Translation(head) @ swing @ Matrix.Translation(-head) @ bone.matrix
        bpy.context.view_layer.update()
