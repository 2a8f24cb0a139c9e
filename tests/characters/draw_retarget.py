# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a captured clip on figures of other proportions: a row for each moment, the source on the left.

    python tests/characters/draw_retarget.py docs/images/retarget.png [--clip examples/cmu_01_01.bvh] [character ...]

Needs a Python with the bpy package.
"""

import argparse
import contextlib
import io
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import measure  # noqa: E402
import retargeted  # noqa: E402
import sketch  # noqa: E402
from clips import clip  # noqa: E402

import build  # noqa: E402

FIGURES = ("mixamo", "toon", "chinese", "gorilla", "rigify human")
MOMENTS = (152, 130, 300)  # frames: one below the other
AROUND = 0.7  # radians by which figures are turned from the front
WIDE, HIGH, SIZE = 0.85, 1.45, 190  # of a figure's place, in its heights, and pixels of its height

Lines = list[tuple[str, Vector, Vector]]
"""The bones of a figure: side, and from where to where."""


def main() -> None:
    """Draw all figures at all moments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("characters", nargs="*")
    parser.add_argument("--clip", default=str(HERE.parent.parent / "examples" / "cmu_01_01.bvh"))
    parser.add_argument("--moments", type=int, nargs="+", default=MOMENTS)
    options = parser.parse_args()
    measure.load()
    columns = list[list[Lines]]()
    for name in options.characters or FIGURES:
        character = measure.BY_NAME[name]
        ob, captured = measure.made(character, "native"), clip(options.clip)
        with contextlib.redirect_stdout(io.StringIO()):
            source = captured.add()
        scene = bpy.context.scene
        frames = range(scene.frame_start, scene.frame_end + 1)
        retargeted.retarget(source, ob, frames)
        for one, truth in ((source, captured.truth()), (ob, build.truth(character)))[bool(columns) :]:
            low = ground(one, truth, frames)
            columns.append([lines(one, truth, frame, low) for frame in options.moments])
    render(columns, options.picture)


def lines(ob: bpy.types.Object, truth: dict, frame: int, low: float) -> Lines:
    """The bones that have a role at a frame, with their sides, about the hips' place and in heights of the figure.

    low : the ground [m].
    """
    bpy.context.scene.frame_set(frame)
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world, rest = shown.matrix_world, ob.matrix_world
    named = [bone for bone in shown.pose.bones if truth.get(bone.name) is not None]
    heights = [(rest @ bone.bone.head_local).z for bone in named]
    height = max(heights) - min(heights)
    hips = next(world @ bone.head for bone in named if truth[bone.name][0] == "hips")
    base, names, found = Vector((hips.x, hips.y, low)), {bone.name for bone in named}, Lines()
    for bone in named:
        role, side = truth[bone.name]
        above, head = bone.parent, world @ bone.head
        while above is not None and above.name not in names:
            above = above.parent
        if above is not None:
            found.append((side, (world @ above.head - base) / height, (head - base) / height))
        if role == "head":  # its bone may point anywhere
            turn = (world @ bone.matrix).to_quaternion() @ (rest @ bone.bone.matrix_local).to_quaternion().inverted()
            found.append((side, (head - base) / height, (head - base) / height + turn @ Vector((0.0, 0.0, 0.13))))
        elif not any(child.name in names for child in bone.children_recursive):
            found.append((side, (head - base) / height, (world @ bone.tail - base) / height))
    return found


def ground(ob: bpy.types.Object, truth: dict, frames: range) -> float:
    """The lowest place of any foot in a motion [m]."""
    feet, low = [bone.name for bone in ob.pose.bones if (truth.get(bone.name) or ("", ""))[0] in ("foot", "toes")], []
    for frame in frames[::3]:
        bpy.context.scene.frame_set(frame)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        low += [(ob.matrix_world @ spot).z for name in feet
                for spot in (shown.pose.bones[name].head, shown.pose.bones[name].tail)]  # fmt: skip
    return min(low)


def render(columns: list[list[Lines]], path: Path) -> None:
    """All figures in one picture, on white."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    turn = Matrix.Rotation(AROUND, 3, "Z")
    wide, high = WIDE * len(columns), HIGH * len(columns[0])
    for column, figures in enumerate(columns):
        for row, figure in enumerate(figures):
            place = Vector((WIDE * (column + 0.5), 0.0, -HIGH * (row + 0.95)))
            for side, a, b in figure:
                sketch.stick(place + turn @ a, place + turn @ b, 0.022, sketch.COLOURS[side])
            sketch.stick(place + Vector((-0.4, 1.0, 0.0)), place + Vector((0.4, 1.0, 0.0)), 0.004, sketch.COLOURS[""])
    middle, turn = Vector((wide / 2.0, 0.0, -high / 2.0)), Euler((np.pi / 2.0, 0.0, 0.0)).to_quaternion()
    pixels = round(wide * SIZE), round(high * SIZE)
    sketch.photograph(path, pixels, middle, turn, max(wide, high), color_type="OBJECT", background_type="VIEWPORT",
                      background_color=(1.0, 1.0, 1.0))  # fmt: skip


if __name__ == "__main__":
    main()
