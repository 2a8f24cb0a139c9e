# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures DQIK on all test characters: roles, goals, drift at rest, and moves and turns of their targets.

    python tests/characters/measure.py [--summary] [--ways native,fbx] [--moves 120] [--natural 1] [--jobs 2]
        [--pictures FOLDER] [character ...]

Run it with a Python that has bpy. It prints a table as Markdown. Several processes share the characters. A target
counts as met if its bone is within 0.1 % of the figure's height and 1 degree. Backward is a knee or elbow bent the
wrong way by more than 8 degrees, sideways one that is out of its plane by more than 60.
"""

import argparse
import contextlib
import importlib.util
import sys
from math import degrees, radians
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import jobs  # noqa: E402
import poses  # noqa: E402
import sketch  # noqa: E402
from conventions import CHARACTERS, Character  # noqa: E402
from metarigs import METARIGS, Metarig  # noqa: E402

import build  # noqa: E402

BY_NAME = {character.name: character for character in (*CHARACTERS, *METARIGS)}
WAYS = ("native", "fbx", "fbx auto", "gltf")
NEAR, TURNED = 1e-3, 1.0  # of the height, and degrees: what counts as met
BACKWARD, SIDEWAYS = 8.0, 60.0


def load() -> None:
    """Register the extension from its source."""
    root = HERE.parent.parent
    spec = importlib.util.spec_from_file_location("dqik", root / "__init__.py", submodule_search_locations=[str(root)])
    sys.modules["dqik"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()


def made(character: Character | Metarig, way: str) -> bpy.types.Object:
    """The character, alone in an empty file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    ob = build.native(character)
    ob = ob if way == "native" else build.through(ob, way)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    return ob


def place(ob: bpy.types.Object, bone: str) -> Matrix:
    """A bone's evaluated matrix in the world."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return shown.matrix_world @ shown.pose.bones[bone].matrix


def end(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> Vector:
    """The point of a goal's bone that goes to its target, in the world."""
    matrix = place(ob, goal.bone)
    return matrix @ Vector((0.0, ob.data.bones[goal.bone].length, 0.0)) if goal.use_tail else matrix.translation


def heads(ob: bpy.types.Object) -> np.ndarray:
    """All bones' heads in the world, as evaluated."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([shown.matrix_world @ bone.head for bone in shown.pose.bones])


def measure(
    name: str, way: str, limited: bool, moves: int, natural: float, verbose: bool, pictures: Path | None
) -> dict[str, object]:  # fmt: skip
    """One row of the table. natural : the amount of the natural pose. verbose : print each target that is missed."""
    character = BY_NAME[name]
    ob, truth = made(character, way), build.truth(character)
    found = sys.modules["dqik.rig.figure.character"].Character.of(ob).figure
    names = [bone.name for bone in ob.pose.bones]
    by_name = {names[bone]: tuple(role) for bone, role in found.roles.items()}
    row: dict[str, object] = {"wrong roles": sum(by_name.get(name) != role for name, role in truth.items())}
    limbs = poses.limbs(character, truth, ob)
    random = np.random.default_rng(7)
    asked = [(limb.bones[2], poses.reach(ob, limb, random))
             for limb in (limbs[k % len(limbs)] for k in range(moves) if limbs)]  # fmt: skip
    bpy.ops.dqik.setup_full_body(targets="EMPTIES")
    for goal in ob.dqik.goals:  # places are taken with their rotation in the world
        goal.rotation_follows = 0.0
    ob.dqik.natural_pose = natural
    goals = {goal.bone: goal for goal in ob.dqik.goals}
    row["goals"] = len(goals)
    if limited:
        with contextlib.suppress(RuntimeError):
            bpy.ops.dqik.limits_preset()
        row["limits"] = sum(bone.dqik_use_limits for bone in ob.pose.bones)
    bpy.context.view_layer.update()
    before, height = heads(ob), float(np.ptp(heads(ob), axis=0).max())
    ob.dqik.live = True
    bpy.context.view_layer.update()
    row["drift"] = float(np.linalg.norm(heads(ob) - before, axis=-1).max() / height)
    row |= moved(ob, goals, asked, limbs, height, verbose)
    nudges = [nudge(ob, goals, height, random) for _ in range(moves // 4 if limbs else 0)]
    row |= {f"near {name}": value for name, value in moved(ob, goals, nudges, limbs, height, verbose).items()}
    if pictures is not None:
        picture(ob, goals, asked, pictures / f"{character.name}_{way}_{'limits' if limited else 'free'}.png")
    return row


def nudge(ob: bpy.types.Object, goals: dict, height: float, random: np.random.Generator) -> tuple[str, Matrix]:
    """A bone with a goal, and where its target goes: up to 6 % of the height and 20 degrees from its place."""
    bone = str(random.choice(sorted(goals)))
    away = Vector(random.normal(size=3)).normalized() * random.uniform(0.0, 0.06) * height
    turn = Quaternion(Vector(random.normal(size=3)).normalized(), radians(random.uniform(0.0, 20.0)))
    _, rotation, scale = place(ob, bone).decompose()
    return bone, Matrix.LocRotScale(place(ob, bone).translation + away, turn @ rotation, scale)


def picture(ob: bpy.types.Object, goals: dict, asked: list, path: Path) -> None:
    """Draw the figure with the first target of each goal, bones as sticks from joint to joint."""
    for bone, matrix in dict(reversed(asked)).items():
        if bone in goals:
            goals[bone].target.matrix_world = matrix
    bpy.context.view_layer.update()
    sketch.draw(ob, path)


def moved(
    ob: bpy.types.Object, goals: dict, asked: list, limbs: list[poses.Limb], height: float, verbose: bool
) -> dict[str, object]:  # fmt: skip
    """Move and turn one target after the other, and put it back."""
    count = met = backward = sideways = 0
    others = 0.0
    rest = {own: goal.target.matrix_world.copy() for own, goal in goals.items()}
    ends = {own: end(ob, goal) for own, goal in goals.items() if goal.priority >= 0}  # the hips follow the others
    for bone, matrix in asked:
        goal = goals.get(bone)
        if goal is None:
            count += 1
            continue
        target = goal.target
        target.matrix_world = matrix
        bpy.context.view_layer.update()
        now = place(ob, bone)
        away = (now.translation - matrix.translation).length / height
        angle = degrees(now.to_quaternion().rotation_difference(matrix.to_quaternion()).angle)
        angle = min(angle, 360.0 - angle)
        count += 1
        met += away < NEAR and angle < TURNED
        if verbose and not (away < NEAR and angle < TURNED):
            print("missed", bone, f"{100 * away:.2f} % H, {angle:.1f} degrees", file=sys.stderr)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for one in limbs:
            bent, side = poses.bend(shown, one)
            backward += bent < -BACKWARD and abs(side) < SIDEWAYS
            sideways += abs(side) > SIDEWAYS
        others = max([others, *((end(ob, goals[other]) - ends[other]).length / height for other in ends
                                if other != bone)])  # fmt: skip
        target.matrix_world = rest[bone]
        bpy.context.view_layer.update()
    return {"moves": count, "met": met, "backward": backward, "sideways": sideways, "others": others}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("characters", nargs="*")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--moves", type=int, default=120)
    parser.add_argument("--natural", type=float, default=1.0, help="amount of the natural pose")
    parser.add_argument("--jobs", type=int, default=jobs.usual(), help="number of processes")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--summary", action="store_true", help="one row a character, the worst of all ways")
    parser.add_argument("--verbose", action="store_true", help="print each target that is missed")
    arguments = parser.parse_args()
    print("| character | way | wrong roles | goals | limits | drift, % H | met | back, side | others, % H | near: met "
          "| back, side | others, % H |", file=sys.stderr)  # fmt: skip
    print("|" + "---|" * 12, file=sys.stderr)
    ways, names = arguments.ways.split(","), arguments.characters or list(BY_NAME)
    more = arguments.moves, arguments.natural, arguments.verbose, arguments.pictures
    tasks = [(name, way, limited, *more) for name in names for way in ways for limited in (False, True)]
    rows = jobs.each(measure, tasks, load, arguments.jobs)
    for name in names:
        pairs = [[next(rows), next(rows)] for _ in ways]
        if arguments.summary:
            _print(name, f"{len(ways)} ways", [_worst([pair[k] for pair in pairs]) for k in range(2)])
        else:
            for way, pair in zip(ways, pairs, strict=True):
                _print(name, way, pair)


def _worst(rows: list[dict[str, object]]) -> dict[str, object]:
    """The worst of each number: the least of those that are met, the largest of others."""
    return {part: (min if part.endswith("met") or part == "limits" else max)(row[part] for row in rows)
            for part in rows[0]}  # fmt: skip


def _print(name: str, way: str, rows: list[dict[str, object]]) -> None:
    """A row of the table, from one without limits and one with them."""
    parts = [f"{rows[0][part]}" for part in ("wrong roles", "goals")] + [str(rows[1]["limits"])]
    parts.append(" / ".join(f"{100 * row['drift']:.3f}" for row in rows))
    for kind in ("", "near "):
        parts.append(" / ".join(f"{row[kind + 'met']}" for row in rows) + f" of {rows[0][kind + 'moves']}")
        parts.append(" / ".join(f"{row[kind + 'backward']}, {row[kind + 'sideways']}" for row in rows))
        parts.append(" / ".join(f"{100 * row[kind + 'others']:.2f}" for row in rows))
    print(f"| {name} | {way} | {' | '.join(parts)} |", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
