# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a captured clip on figures of other proportions: a row for each moment, the source on the left.

    python benchmarks/draw_retarget.py docs/images/retarget.png [--clip examples/cmu_01_01.bvh] [character ...]

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

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "characters"))

import measure  # noqa: E402
import retargeted  # noqa: E402
import sketch  # noqa: E402
from clips import clip  # noqa: E402
from film import ALONG, Film  # noqa: E402

import build  # noqa: E402

FIGURES = ("mixamo", "toon", "chinese", "gorilla", "rigify human")
MOMENTS = (152, 130, 300)  # frames: one below the other
AROUND = 0.7  # radians by which figures are turned from the front
GAP, SIZE = 0.12, 190  # between figures, in their heights, and pixels of a height

_END = 0.13  # of the height: how far last bones are drawn at most
Lines = list[tuple[str, Vector, Vector]]
"""The bones of a figure: side, and from where to where."""


def main() -> None:
    """Draw all figures at all moments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("characters", nargs="*")
    parser.add_argument("--clip", default=str(ROOT / "examples" / "cmu_01_01.bvh"))
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
            columns.append(column(Film(one, truth, frames), [frame - frames[0] for frame in options.moments]))
    render(columns, options.picture)


def column(film: Film, moments: list[int]) -> list[Lines]:
    """The bones that have a role at some frames of a film, about the hips' place on the ground, in heights."""
    above, heads = _above(film), film.rows.get(("head", ""), ())
    sides = {row: side for (_, side), rows in film.rows.items() for row in rows if row in above}
    height = float(np.ptp(film.rest[list(above)], axis=0).max())
    ends = film.heads + film.axes[..., 1] * np.minimum(film.lengths, _END * height)[:, None]
    feet = [row for (name, _), rows in film.rows.items() for row in rows if name in ("foot", "toes")]
    low, found = min(film.heads[:, feet, 2].min(), ends[:, feet, 2].min()), list[Lines]()
    for moment in moments:
        base, own = np.array([*film.heads[moment, film.row("thigh", "L"), :2], low]), Lines()
        for row, parent in above.items():
            pairs = [] if parent < 0 else [(film.heads[moment, parent], film.heads[moment, row])]
            if row in heads:  # its bone may point anywhere
                up = film.axes[moment, row] @ film.rest_axes[row].T @ film.body()[:, 2]
                pairs.append((film.heads[moment, row], film.heads[moment, row] + _END * height * up))
            elif row not in above.values():
                pairs.append((film.heads[moment, row], ends[moment, row]))
            own += [(sides[row], *(Vector((end - base) / height) for end in pair)) for pair in pairs]
        found.append(own)
    return found


def _above(film: Film) -> dict[int, int]:
    """What each bone with a role hangs on, of such bones, or -1; without twists; loose feet hang on shins."""
    rows = [row for (name, _), own in film.rows.items() for row in own if name != "twist"]
    found = dict[int, int]()
    for row in sorted(rows):
        parent = film.parents[row]
        while parent >= 0 and parent not in rows:
            parent = film.parents[parent]
        found[row] = parent
    for name, side in film.rows:
        if name in ALONG and film.has(ALONG[name], side):
            found[film.row(ALONG[name], side)] = film.row(name, side)
    return found


def render(columns: list[list[Lines]], path: Path) -> None:
    """All figures in one picture, on white, each row as high and each column as wide as what it shows."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    turn = Matrix.Rotation(AROUND, 3, "Z")
    seen = [[np.array([[turn @ end for end in ends] for _, *ends in figure]) for figure in each] for each in columns]
    widths = [max(np.ptp(ends[..., 0]) for ends in column) + GAP for column in seen]
    heights = [max(ends[..., 2].max() for ends in row) + GAP for row in zip(*seen, strict=True)]
    wide, high = sum(widths), sum(heights)
    for column, figures in enumerate(columns):
        for row, figure in enumerate(figures):
            across, middle = sum(widths[:column]) + 0.5 * widths[column], seen[column][row][..., 0]
            place = Vector((across - 0.5 * (middle.min() + middle.max()), 0.0, -sum(heights[: row + 1]) + 0.3 * GAP))
            for side, a, b in figure:
                sketch.stick(place + turn @ a, place + turn @ b, 0.022, sketch.COLOURS[side])
            ends = (Vector((across + sign * 0.4 * widths[column], 1.0, place.z)) for sign in (-1.0, 1.0))
            sketch.stick(*ends, 0.004, sketch.COLOURS[""])
    middle, turn = Vector((wide / 2.0, 0.0, -high / 2.0)), Euler((np.pi / 2.0, 0.0, 0.0)).to_quaternion()
    pixels = round(wide * SIZE), round(high * SIZE)
    sketch.photograph(path, pixels, middle, turn, max(wide, high), color_type="OBJECT", background_type="VIEWPORT",
                      background_color=(1.0, 1.0, 1.0))  # fmt: skip


if __name__ == "__main__":
    main()
