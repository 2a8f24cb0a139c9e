# SPDX-License-Identifier: GPL-3.0-or-later
"""Lead controls of characters along smooth paths, live at one frame, and count the joints that jump on the way.

    python benchmarks/drags.py [--only mixamo ...] [--parts hand ...] [--every 1] [--at-rest] [--details FILE.json]

Run it with a Python that has the bpy package. Twelve characters of different build are set up, people standing, or in
T-poses with --at-rest, and all others at rest; single limbs, a chain and a spine get one goal. Hand, foot, head and
hips are led along six paths and back, in steps of 0.01 of the figure's height, without limits and with them. Printed is
for each character in how many steps a joint turns by more than 15 and by more than 30 degrees, the largest turn, and in
how many percent of the points the pose differs by more than a degree, and by how much at most: on the way back from
that on the way out, in the drag from the pose that the frame shows afresh, and from this again when the drag has
stopped for a quarter of a second.
"""

import argparse
import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "characters"), str(ROOT / "tests" / "blender")]

import measure  # noqa: E402
import rigs  # noqa: E402
from conventions import BY_NAME  # noqa: E402
from motions import Puppet, stand  # noqa: E402
from person import Figure  # noqa: E402

import build  # noqa: E402

STEP = 0.01  # [heights] of the target
JUMPS = (15.0, 30.0)  # [degrees] of a joint in a step
OTHER = 1.0  # [degrees] a pose that differs by more is another one
BODIES = (
    "mixamo", "unreal", "valve", "auto-rig pro", "toon", "gorilla", "dog", "horse with human names", "arm", "leg",
    "chain", "spine",
)  # fmt: skip
PARTS = {"hand": ("hand", "L"), "foot": ("foot", "L"), "head": ("head", ""), "hips": ("hips", "")}
LIMITS = ((-40.0, 40.0), (-60.0, 50.0), (-45.0, 60.0))  # [degrees] of single limbs: twist, swing about X and Z
RESTS = 16  # updates of an unchanged scene after which a drag is let go: a quarter of a second of Blender's
RADIUS = {"hand": 0.45, "foot": 0.35, "head": 0.2, "hips": 0.15, "whole": 0.45}  # [lengths of the limb] of the paths


class Led(NamedTuple):
    """What is led: its target, where its limb begins, the limb's length, directions, the figure's height, its part."""

    target: bpy.types.Object
    root: Vector
    length: float
    left: Vector
    forward: Vector
    up: Vector
    height: float
    part: str


class Count(NamedTuple):
    """What a path has shown.

    turns, bones : the largest turn in each step [degrees], and whose. rests : the same while it rests.
    back, moving, rested : degrees from poses to others, of the way back to those of the way out, in a drag and after a
    rest to those that frames show afresh.
    """

    turns: list[float]
    bones: list[str]
    rests: list[float]
    back: list[float]
    moving: list[float]
    rested: list[float]


# -- paths -------------------------------------------------------------------------------------------------------------


def line(led: Led, home: Vector, radius: float) -> list[Vector]:
    """Forward, up and aside."""
    return [home, home + 1.6 * radius * (0.75 * led.forward + 0.6 * led.up + 0.3 * led.left)]


def circle(led: Led, home: Vector, radius: float) -> list[Vector]:
    """From the side, as a wheel in front of the place."""
    turns = [2.0 * pi * k / 48 for k in range(49)]
    return [home + radius * ((1.0 - cos(t)) * led.forward + sin(t) * led.up) for t in turns]


def eight(led: Led, home: Vector, radius: float) -> list[Vector]:
    """A lying figure of eight."""
    turns = [2.0 * pi * k / 64 for k in range(65)]
    side = (led.up + led.forward).normalized()
    return [home + radius * (sin(t) * led.left + 0.7 * sin(2.0 * t) * side) for t in turns]


def edge(led: Led, home: Vector, radius: float) -> list[Vector]:
    """Along the edge of reach: from the side overhead to the front; for the trunk a cap above its place."""
    if led.part in ("head", "hips"):
        middle, length = home - 0.6 * radius * led.up, 0.75 * radius
    else:
        middle, length = led.root, led.length
    ways = [(led.left * cos(t) + led.forward * sin(t), s) for t, s in
            ((0.0, -0.6), (0.2, 0.0), (0.5, 0.4), (0.9, 0.5), (1.3, 0.3), (1.6, -0.2))]  # fmt: skip
    if led.part == "foot":
        ways = [(way, -abs(s) - 0.6) for way, s in ways]
    points = [middle + length * (way * cos(s) + led.up * sin(s)) for way, s in ways]
    return [home, *(middle + length * ((a.lerp(b, k / 6) - middle).normalized())
                    for a, b in pairwise(points) for k in range(7))]  # fmt: skip


def crossing(led: Led, home: Vector, radius: float) -> list[Vector]:
    """In front of the body to its other side, and up there."""
    over = home - 2.2 * radius * led.left + 0.7 * radius * led.forward
    return [home, home + 0.9 * radius * led.forward, over, over + radius * led.up]


def straight(led: Led, home: Vector, radius: float) -> list[Vector]:
    """Away from the limb's root until it is straight, a little further, and in again to where it is folded."""
    if led.part in ("head", "hips"):
        return [home, home + 0.7 * radius * led.up, home - 1.2 * radius * led.up]
    way = (home - led.root).normalized().lerp(led.forward, 0.4).normalized()
    return [home, led.root + 1.04 * led.length * way, led.root + 0.45 * led.length * way]


PATHS: tuple[Callable[[Led, Vector, float], list[Vector]], ...] = (line, circle, eight, edge, crossing, straight)


def steps(points: list[Vector], step: float) -> list[Vector]:
    """A line through points, in steps of one length."""
    made, left = [points[0].copy()], step
    for a, b in pairwise(points):
        length = (b - a).length
        while left <= length:
            made.append(a.lerp(b, left / length))
            left += step
        left -= length
    return made


# -- characters --------------------------------------------------------------------------------------------------------


def made(name: str, limited: bool, at_rest: bool) -> tuple[bpy.types.Object, list[Led]]:
    """A character with goals, live, and what is led of it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    ob, led = _single(name, limited) if name in SINGLE else _whole(name, limited, at_rest)
    rigs.live(ob)
    return ob, led


def _whole(name: str, limited: bool, at_rest: bool) -> tuple[bpy.types.Object, list[Led]]:
    character = BY_NAME[name]
    ob = rigs.made_active(build.native(character))
    figure = Figure(ob, build.truth(character))
    if character.human and not at_rest:
        Puppet(figure).take(stand())
        rigs.update()
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    if limited:
        bpy.ops.dqik.limits_preset()
    low = min(figure.at("foot", side).dot(figure.up) for side in "LR")
    found = []
    for part, role in PARTS.items():
        goal = next((one for one in ob.dqik.goals if one.bone in figure.bones.get(role, ())), None)
        if goal is None:
            continue
        limb = {"hand": ("arm", "forearm", "hand"), "foot": ("thigh", "shin", "foot")}.get(part)
        joints = [rigs.head(ob, figure.bones[one, "L"][0]) for one in limb or ()]
        length = sum((b - a).length for a, b in pairwise(joints)) if limb else 0.5 * figure.size
        root = joints[0] if limb else figure.at("hips") + (low - figure.at("hips").dot(figure.up)) * figure.up
        found.append(Led(goal.target, root, length, figure.left, figure.forward, figure.up, figure.size, part))
    return ob, found


def _limb(*points: tuple[float, float, float]) -> bpy.types.Object:
    return rigs.made_active(rigs.chain(points))


SINGLE: dict[str, Callable[[], bpy.types.Object]] = {
    "arm": lambda: _limb((0, 0, 1.4), (0.27, 0.02, 1.4), (0.52, 0, 1.4), (0.6, 0, 1.4)),
    "leg": lambda: _limb((0.1, 0, 0.9), (0.1, -0.03, 0.5), (0.1, 0.03, 0.08), (0.1, -0.12, 0.02)),
    "chain": lambda: _limb(*((0.1 * k, 0.004 * k * (9 - k), 1.0) for k in range(10))),
    "spine": lambda: _limb(*((0.0, 0.01 * sin(1.3 * k), 0.12 * k) for k in range(8))),
}


def _single(name: str, limited: bool) -> tuple[bpy.types.Object, list[Led]]:
    """One chain with a goal at its end, which turns with it."""
    ob = SINGLE[name]()
    last = ob.pose.bones[-1]
    target = rigs.empty(rigs.tail(ob, last.name))
    rigs.reach(ob, last.name, target)
    for bone in ob.pose.bones if limited else ():
        rigs.limit(bone, *LIMITS)
    length = sum(bone.length for bone in ob.data.bones)
    root, y = rigs.head(ob, ob.pose.bones[0].name), Vector((0, -1, 0))
    height = {"arm": 1.75, "leg": 1.75}.get(name, length)
    return ob, [Led(target, root, length, Vector((1, 0, 0)), y, Vector((0, 0, 1)), height, "whole")]


# -- measures ----------------------------------------------------------------------------------------------------------


def turned(before: np.ndarray, after: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Degrees (N,) by which joints turn between matrices (N, 3, 3) of the bones. above : (N,) parents, -1 for none."""
    own = [np.where((above < 0)[:, None, None], one, np.swapaxes(one[above], -1, -2) @ one) for one in (before, after)]
    sine = np.linalg.norm(own[0] - own[1], axis=(-2, -1)) / 8.0**0.5
    return np.degrees(2.0 * np.arcsin(np.minimum(sine, 1.0)))


def shown(ob: bpy.types.Object) -> np.ndarray:
    """Orientations (N, 3, 3) of the bones, in armature space."""
    return rigs.matrices(ob)[:, :3, :3]


def count(ob: bpy.types.Object, led: Led, path: list[Vector], every: int) -> Count:
    """Lead a target along a path and back, and let it rest and go on every so many-th point; it is put back."""
    home, above = led.target.location.copy(), np.array(rigs.parents(ob))
    names, poses, found = [bone.name for bone in ob.pose.bones], list[np.ndarray](), Count([], [], [], [], [], [])
    last = shown(ob)
    for number, point in enumerate([*path, *path[-2::-1]]):
        led.target.location, before = point, last
        rigs.update()
        last = shown(ob)
        turns = turned(before, last, above)
        found.turns.append(float(turns.max()))
        found.bones.append(names[int(turns.argmax())])
        poses.append(last)
        if number >= len(path):
            found.back.append(float(turned(poses[2 * len(path) - 2 - number], last, above).max()))
        if number % every == every - 1:
            for _ in range(RESTS):
                ob.update_tag()
                rigs.update()
                before, last = last, shown(ob)
                found.rests.append(float(turned(before, last, above).max()))
            rigs.at_frame(bpy.context.scene.frame_current)
            afresh = shown(ob)
            found.moving.append(float(turned(poses[-1], afresh, above).max()))
            found.rested.append(float(turned(last, afresh, above).max()))
            last = afresh
    led.target.location = home
    rigs.update()
    return found


def drags(names: list[str], parts: list[str], every: int, at_rest: bool) -> Iterator[tuple[str, bool, str, str, Count]]:
    """All drags: character, with limits or without, part, path, and what it has shown."""
    for name in names:
        for limited in (False, True):
            with contextlib.redirect_stdout(io.StringIO()):
                ob, found = made(name, limited, at_rest)
            for led in found:
                if led.part not in (*parts, "whole"):
                    continue
                home, radius = led.target.matrix_world.translation.copy(), RADIUS[led.part] * led.length
                led.target.location = home
                for path in PATHS:
                    points = steps(path(led, home, radius), STEP * led.height)
                    yield name, limited, led.part, path.__name__, count(ob, led, points, every)


def _row(found: list[Count]) -> str:
    """The figures of some paths."""
    turns = np.array([turn for one in found for turn in (*one.turns, *one.rests)])
    over = [f"{int((turns > jump).sum())}" for jump in JUMPS]
    row = [f"{sum(len(one.turns) for one in found)}", *over, f"{turns.max():.1f}"]
    for part in ("back", "moving", "rested"):
        off = np.array([turn for one in found for turn in getattr(one, part)] or [0.0])
        row += [f"{100.0 * (off > OTHER).mean():.1f}", f"{off.max():.1f}"]
    return " | ".join(row)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Count the joints that jump while controls are dragged.")
    parser.add_argument("--only", nargs="+", default=list(BODIES), help="characters")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), help="what is led")
    parser.add_argument("--every", type=int, default=10, help="points from one release to the next")
    parser.add_argument("--at-rest", action="store_true", help="do not let people stand")
    parser.add_argument("--details", type=Path, help="where all turns are written, as JSON")
    arguments = parser.parse_args()
    measure.load()
    sys.modules["dqik.rig.blender.views"].is_dragging = lambda: True  # as in Blender's transforms, which need a window
    rows, details = dict[tuple[str, bool], list[Count]](), []
    for name, limited, part, path, found in drags(arguments.only, arguments.parts, arguments.every, arguments.at_rest):
        rows.setdefault((name, limited), []).append(found)
        details.append([name, limited, part, path, *found])
    print(f"\n| character | steps | over {JUMPS[0]:.0f} | over {JUMPS[1]:.0f} | largest | back, % | most "
          f"| moving, % | most | rested, % | most |\n|---|{'--:|' * 10}")  # fmt: skip
    for limited in (False, True):
        mine = {name: found for (name, is_limited), found in rows.items() if is_limited == limited}
        every = [one for found in mine.values() for one in found]
        for title, found in {**mine, "all": every}.items():
            print(f"| {title}{', limits' if limited else ''} | {_row(found)} |")
    if arguments.details:
        arguments.details.write_text(json.dumps(details))


if __name__ == "__main__":
    main()
