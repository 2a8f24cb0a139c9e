# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk, keyed on the controls of a full body and baked, and two loops of it: mended, and on other bodies."""

from collections.abc import Sequence
from math import cos, pi, sin

import bpy
import numpy as np
from mathutils import Vector
from people import fist, person, quietly
from shapes import SHAPES, Shape, reshape
from stage import TILES, Motion, Point, coat, look, tiled

RATE, CYCLE = 30, 36  # frames a second, and of two steps
STRIDE = 1.3  # metres of two steps
CYCLES = 5  # in a loop
_STANDS = 0.6  # share of a cycle for which a foot stands
_ROLLS = ((0.0, -0.32), (0.09, 0.0), (0.32, 0.0), (0.6, 0.75), (0.7, 0.5), (0.85, -0.1), (1.0, -0.32))
_BAD, _GOOD = (0.85, 0.06, 0.03), (0.08, 0.55, 0.12)


def walk(ob: bpy.types.Object, targets: dict[str, bpy.types.Object], cycles: int) -> None:
    """Bake a walk along -Y. It starts at frame 1, as each cycle does, with the left heel on the ground."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = RATE, 1, 1 + cycles * CYCLE
    rest = {bone: target.location.copy() for bone, target in targets.items()}
    for side in "LR":
        fist(ob, side, 0.22)
    for target in targets.values():
        target.rotation_mode = "XYZ"
    for frame in range(scene.frame_start, scene.frame_end + 1):
        step = (frame - 1) / CYCLE
        _pose(targets, rest, step)
        for target in targets.values():
            for channel in ("location", "rotation_euler", "dqik_roll"):
                target.keyframe_insert(channel, frame=frame)
    bpy.context.view_layer.objects.active = ob
    quietly(bpy.ops.dqik.bake, frame_start=scene.frame_start, frame_end=scene.frame_end)
    ob.dqik.goals.clear()


def _pose(targets: dict[str, bpy.types.Object], rest: dict[str, Vector], step: float) -> None:
    """Put the targets where they are after a number of cycles."""
    turn = 2.0 * pi * step
    on = Vector((0.022 * sin(turn + 0.6), -STRIDE * (step + 0.3), 0.016 * -cos(2.0 * turn - 0.4)))
    targets["hips"].location = rest["hips"] + on + Vector((0.0, 0.0, -0.045))
    targets["hips"].rotation_euler = (0.05, 0.05 * sin(turn + 0.4), -0.13 * cos(turn))
    targets["head"].location = rest["head"] + Vector((0.6 * on.x, on.y - 0.04, 0.8 * on.z - 0.045))
    for side, sign, own in (("L", 1.0, step), ("R", -1.0, step + 0.5)):
        foot, hand = targets[f"foot.{side}"], targets[f"hand.{side}"]
        number, share = divmod(own, 1.0)
        swing = max(share - _STANDS, 0.0) / (1.0 - _STANDS)
        along = number + 0.5 - 0.5 * cos(pi * swing) - (0.5 if side == "R" else 0.0)
        foot.location = rest[f"foot.{side}"] + Vector((-0.02 * sign, -STRIDE * (along + 0.57), 0.05 * sin(pi * swing)))
        foot.dqik_roll = float(np.interp(share, *zip(*_ROLLS, strict=True)))
        back = cos(2.0 * pi * own)  # the arm is behind when the own heel lands
        place = Vector((0.255 * sign, 0.19 * back - 0.09, 0.93 + 0.035 * back * back - 0.02 * back))
        hand.location = place + on


def follow(ob: bpy.types.Object, bone: str, frames: Sequence[int]) -> np.ndarray:
    """Where the head of a bone is (F, 3)."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(shown.matrix_world @ shown.pose.bones[bone].head)
    return np.array(found)


def show(frame: float) -> None:
    """Go to a frame or between two."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)


def _floor(tile: float, colors: Sequence[Point] = TILES) -> None:
    """Lay other squares on the floor."""
    bpy.data.objects.remove(next(one for one in bpy.data.objects if one.name.startswith("Plane")))
    tiled((400.0, 400.0), tile, colors)


# -- mended ------------------------------------------------------------------------------------------------------------


class Smear:
    """What a foot leaves on the floor while it stands: a round spot, or a long one if it slides."""

    def __init__(self, way: np.ndarray, first: int, color: Point) -> None:
        """Of the places (F, 3) from the frame `first` on."""
        self.way, self.first = way[:, :2], first
        mesh = bpy.data.meshes.new("Smear")
        mesh.from_pydata([(0.0, 0.0, 0.0)] * 32, [], [tuple(range(32))])
        self.ob = bpy.data.objects.new("Smear", mesh)
        bpy.context.scene.collection.objects.link(self.ob)
        coat(self.ob, color, 0.7, glow=0.25)

    def grow(self, frame: float) -> None:
        """Reach to where the foot is at a frame."""
        age = frame - self.first
        since = min(age, len(self.way) - 1.0)
        self.ob.hide_render = since < 0.0
        if since < 0.0:
            return
        end = np.array([np.interp(since, range(len(self.way)), self.way[:, axis]) for axis in range(2)])
        start = self.way[0]
        line = end - start if np.linalg.norm(end - start) > 1e-6 else np.array((0.0, -1e-6))
        heading = np.arctan2(line[1], line[0])
        turn = heading + np.linspace(0.5 * pi, 1.5 * pi, 16)
        radius = 0.075 * min(max(5.4 - 2.0 * age / CYCLE, 0.0), 1.0)  # old ones vanish, so that the loop closes
        around = radius * np.stack([np.cos(turn), np.sin(turn)], -1)
        points = np.zeros((32, 3), dtype=np.float32)
        points[:16, :2], points[16:, :2], points[:, 2] = start + around, end - around, 0.004
        self.ob.data.vertices.foreach_set("co", points.ravel())
        self.ob.data.update()


def mend() -> Motion:
    """A walk whose feet slide, and beside it the same walk mended; spots on the floor show where feet stand."""
    ob, targets, body = person()
    walk(ob, targets, CYCLES + 4)
    stride = _spoil(ob)
    _floor(CYCLES * stride / 16.0)
    mended = _copy(ob, body)
    ob.location, mended.location = (-0.7, -0.5, 0.0), (0.7, 0.35, 0.0)
    bpy.context.view_layer.objects.active = mended
    quietly(bpy.ops.dqik.mend_motion)
    smears = [*_smears(ob, mended, _BAD), *_smears(mended, mended, _GOOD)]
    first = 1 + 3 * CYCLE
    dolly = bpy.data.objects.new("Dolly", None)
    bpy.context.scene.collection.objects.link(dolly)
    start = float(np.mean([follow(one, "hips", [first])[0, 1] for one in (ob, mended)]))
    camera = look((0.0, start + 0.14, 0.93), 6.0, 54.0, 20.0)
    camera.parent = dolly
    for one, words in ((ob, "before"), (mended, "after")):
        place = follow(one, "head", [first])[0]
        _caption(words, (one.location.x, place[1], 1.9), camera).parent = dolly

    def move(share: float) -> None:
        frame = first + CYCLES * CYCLE * share
        show(frame)
        dolly.location.y = -CYCLES * stride * share
        for smear in smears:
            smear.grow(frame)

    return move


def _spoil(ob: bpy.types.Object) -> float:
    """Let the hips go a shorter way than the feet, and from side to side. Returns how far a cycle goes then."""
    hips, scene = ob.pose.bones["hips"], bpy.context.scene
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        ahead = hips.location.z  # the bone points up, with its Z forward
        hips.location.z = 0.68 * ahead
        hips.location.x += 0.03 * sin(2.0 * pi * frame / CYCLE)
        hips.keyframe_insert("location", frame=frame)
    return 0.68 * STRIDE


def _copy(ob: bpy.types.Object, body: bpy.types.Object) -> bpy.types.Object:
    """Another figure with the same motion."""
    other, skin = ob.copy(), body.copy()
    other.data, skin.parent = ob.data.copy(), other
    skin.modifiers["Armature"].object = other
    for one in (other, skin):
        bpy.context.scene.collection.objects.link(one)
    return other


def _smears(ob: bpy.types.Object, listed: bpy.types.Object, color: Point) -> list[Smear]:
    """One for each contact of the ball of a foot in the list of a figure."""
    found = []
    for contact in (contact for contact in listed.dqik.contacts if contact.part == "BALL"):
        frames = range(int(contact.frame_start), int(contact.frame_end) + 1)
        toes = contact.bone.replace("foot", "toe")
        found.append(Smear(follow(ob, toes, frames), frames[0], color))
    return found


def _caption(words: str, place: Point, camera: bpy.types.Object) -> bpy.types.Object:
    """Words that face the camera."""
    curve = bpy.data.curves.new(words, "FONT")
    curve.body, curve.size, curve.align_x = words, 0.2, "CENTER"
    made = bpy.data.objects.new(words, curve)
    bpy.context.scene.collection.objects.link(made)
    made.location, made.rotation_euler = place, camera.matrix_world.to_euler()
    coat(made, (0.95, 0.95, 0.95), glow=0.6)
    return made


# -- on other bodies ---------------------------------------------------------------------------------------------------


def bodies() -> Motion:
    """The same walk on five bodies, each on a belt that goes as fast as it walks."""
    source, targets, skin = person()
    walk(source, targets, 3)
    source.name, skin.hide_render = "Walk", True
    _floor(300.0, ((0.16, 0.18, 0.21),) * 2)
    first, walkers = 1 + CYCLE, []
    place = -0.5 * sum(shape.wide for shape in SHAPES)
    for shape in SHAPES:
        place += 0.5 * shape.wide
        walkers.append(_walker(shape, source, place, first))
        place += 0.5 * shape.wide
    bpy.context.scene.frame_set(first)
    look((0.11, 0.07, 0.92), 8.5, 24.0, 13.0)

    def move(share: float) -> None:
        phase = CYCLES * share % 1.0
        show(first + CYCLE * phase)
        for ob, belt, start, stride in walkers:
            ob.location.y = start + stride * phase
            belt.location.y = stride * phase

    return move


def _walker(
    shape: Shape, source: bpy.types.Object, place: float, first: int
) -> tuple[bpy.types.Object, bpy.types.Object, float, float]:  # fmt: skip
    """A figure of a shape with the source's walk, its belt, where it starts, and how far a cycle goes."""
    ob = reshape(shape)
    bpy.context.view_layer.objects.active = ob
    quietly(bpy.ops.dqik.retarget, source=source.name, frame_start=1, frame_end=1 + 3 * CYCLE)
    ways = follow(ob, "hips", [first, first + CYCLE])
    stride, start = float(ways[0, 1] - ways[1, 1]), -float(ways[0, 1])
    ob.location.x = place - float(ways[0, 0])
    belt = tiled((0.92 * shape.wide, 200.0), 0.5 * stride / max(round(stride / 0.5), 1))
    belt.location = (place, 0.0, 0.004)
    return ob, belt, start, stride
