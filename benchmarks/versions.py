# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare builds of DQIK in Blender, in turns on the same machine: synthetic scenes, live and baked.

    python benchmarks/versions.py OLD.zip [OLD.zip ...] NEW.zip [--rounds 3] [--scenes ...]

Run it with a Python that has the bpy package, and nothing else on the machine. Every round starts all builds, each in a
process and a Blender profile of its own, and has them play each scene in turns, several times: a processor that is
faster for some seconds so helps all alike. Prints the least time of each scene over all rounds, and the new build's as
a share of each old one's: the median, over the rounds, of the median over the turns. There are two Markdown tables: the
first pass over the frames, in which every frame is new, and the passes after it, in which *Pose* knows its answers. A
frame's time includes Blender's own evaluation.
"""

import argparse
import functools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
from scene import install

FRAMES = 100
KEY_STEP = 10  # frames between the keys of targets and bones
AWAY = 0.12  # [m] from its bone's tail to a target, at most, in each direction
TURN = 0.1  # of a keyed bone: the quaternion's x, y and z, or Euler angles [rad]
PASSES = 4  # over the frames of a scene
TURNS = 5  # in which all builds play a scene, in each round
LIMBS = {"handL": 3, "handR": 3, "footL": 2, "footR": 2, "head": 3}  # bones that their goals move
SPINE = [("root", None, (0, 0, 0), (0, 0.2, 0)), ("hips", "root", (0, 0, 1), (0, 0, 1.1)),
         *((f"spine{i}", f"spine{i - 1}" if i else "hips", (0, 0, 1.1 + 0.12 * i), (0, 0, 1.22 + 0.12 * i))
           for i in range(4)),
         ("neck", "spine3", (0, 0, 1.58), (0, 0, 1.68)), ("head", "neck", (0, 0, 1.68), (0, 0, 1.88))]  # fmt: skip
LEFT = [("clav", "spine3", (0.03, 0, 1.58), (0.15, 0, 1.58)), ("arm", "clav", (0.15, 0, 1.58), (0.43, 0.02, 1.58)),
        ("fore", "arm", (0.43, 0.02, 1.58), (0.68, 0, 1.58)), ("hand", "fore", (0.68, 0, 1.58), (0.78, 0, 1.58)),
        ("finger", "hand", (0.78, 0, 1.58), (0.86, 0, 1.58)), ("leg", "hips", (0.1, 0, 1), (0.1, -0.02, 0.55)),
        ("shin", "leg", (0.1, -0.02, 0.55), (0.1, 0, 0.1)), ("foot", "shin", (0.1, 0, 0.1), (0.1, -0.15, 0.03)),
        ("toe", "foot", (0.1, -0.15, 0.03), (0.1, -0.22, 0.03))]  # fmt: skip


def main() -> int:
    """Compare builds, or play scenes with one and print their figures as JSON."""
    parser = argparse.ArgumentParser(description="Compare builds of DQIK in Blender.")
    parser.add_argument("zips", nargs="+", type=Path, metavar="ZIP",
                        help="the old builds, then the new one; one alone plays the scenes that it reads")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scenes", nargs="*", choices=SCENES, default=list(SCENES))
    arguments = parser.parse_args()
    builds: list[Path] = arguments.zips
    if len(builds) == 1:
        return _measure(builds[0].resolve())
    rounds: list[dict[str, list[list[list[float]]]]] = []
    for number in range(arguments.rounds):
        rounds.append(_round(builds, arguments.scenes))
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    names = [path.stem for path in builds]
    for column, title in enumerate(("first pass", "later passes")):
        headings = [title, *names, *(f"{names[-1]} / {name}" for name in names[:-1])]
        print(f"\n| {' | '.join(headings)} |\n|---|{'---:|' * (len(headings) - 1)}")
        for name in arguments.scenes:
            if column < len(rounds[0][name][0][0]):
                times = [[[build[column] for build in turn] for turn in one[name]] for one in rounds]
                shares = [
                    statistics.median(statistics.median(turn[-1] / turn[old] for turn in one) for one in times)
                    for old in range(len(builds) - 1)
                ]
                least = [min(own) for own in zip(*(turn for one in times for turn in one), strict=True)]
                cells = [f"{own:.4g}" for own in least] + [f"{share:.2f}" for share in shares]
                print(f"| {name} | {' | '.join(cells)} |")
    return 0


def _round(builds: list[Path], scenes: list[str]) -> dict[str, list[list[list[float]]]]:
    """The figures of each scene in each turn, of each build, measured in a process and a profile of its own."""
    with ExitStack() as stack:
        running: list[subprocess.Popen[str]] = []
        for path in builds:
            environment = os.environ | {"BLENDER_USER_RESOURCES": stack.enter_context(tempfile.TemporaryDirectory())}
            command = [sys.executable, str(Path(__file__).resolve()), str(path)]
            running.append(stack.enter_context(subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )))  # fmt: skip
        return {name: [[_asked(one, name) for one in running] for _ in range(TURNS)] for name in scenes}


def _asked(process: "subprocess.Popen[str]", scene: str) -> list[float]:
    """The figures of a scene, which a process plays now."""
    assert process.stdin is not None and process.stdout is not None
    print(scene, file=process.stdin, flush=True)
    while not (line := process.stdout.readline()).startswith("["):  # what Blender says comes before
        if not line:
            raise RuntimeError(f"{process.args} has ended: see above")
    return json.loads(line)


def _measure(path: Path) -> int:
    """Install a build and play the scenes that are asked for, a name a line, until there is none."""
    install(path)
    for line in sys.stdin:
        print(json.dumps(SCENES[line.strip()]()), flush=True)
    os._exit(0)  # Blender 4.2 crashes in its own clean-up


# -- the figures -------------------------------------------------------------------------------------------------------


def _figure(name: str = "Rig", x: float = 0.0, euler: bool = False, keyed: bool = False, seed: int = 0):
    """A figure of 26 bones, and targets that move near their bones' tails."""
    scene, drawn = bpy.context.scene, random.Random(seed)
    armature = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, armature)
    ob.location.x = x
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    sided = [(side, mirror, *bone) for side, mirror in (("L", 1.0), ("R", -1.0)) for bone in LEFT]
    names = {bone[0] for bone in LEFT}
    for side, mirror, bone, parent, head, tail in [("", 1.0, *bone) for bone in SPINE] + sided:
        made = armature.edit_bones.new(bone + side)
        made.head, made.tail = ((mirror * place[0], *place[1:]) for place in (head, tail))
        if parent is not None:
            made.parent = armature.edit_bones[parent + side if parent in names else parent]
            made.use_connect = (made.head - made.parent.tail).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")
    targets = {}
    for bone in LIMBS:
        target = bpy.data.objects.new(f"{name}.{bone}", None)
        scene.collection.objects.link(target)
        _move(target, ob.matrix_basis @ armature.bones[bone].tail_local, drawn)
        targets[bone] = target
    for bone in ob.pose.bones:
        bone.rotation_mode = "XYZ" if euler else "QUATERNION"
        for frame in range(1, FRAMES + 1, KEY_STEP) if keyed else ():
            turn = Vector(drawn.uniform(-TURN, TURN) for _ in range(3))
            path, value = ("rotation_euler", turn) if euler else ("rotation_quaternion", (1.0, *turn))
            setattr(bone, path, value)
            bone.keyframe_insert(path, frame=frame)
    return ob, targets


def _move(target, around, drawn: random.Random) -> None:
    for frame in range(1, FRAMES + 1, KEY_STEP):
        target.location = around + Vector(drawn.uniform(-AWAY, AWAY) for _ in range(3))
        target.keyframe_insert("location", frame=frame)


def _new_scene() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False, load_ui=False)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES


def _with_goals(start_from: str, rotation: bool = False, whole: bool = False, moving: bool = True, **kind: object):
    """A figure alone in a scene with goals for its limbs; `whole`: their chains reach to the root."""
    ob, targets = _figure(**kind)
    bpy.context.view_layer.objects.active = ob
    for bone, target in targets.items():
        length = 0 if whole else LIMBS[bone]
        bpy.ops.dqik.goal_add(bone=bone, target=target.name, chain_length=length, use_rotation=rotation)
        if not moving:
            target.animation_data_clear()
    ob.dqik.start_from = start_from
    return ob


def _played() -> list[float]:
    """Microseconds a frame: of the first pass, and the least of those after it."""
    scene, passes = bpy.context.scene, []
    for _ in range(PASSES):
        scene.frame_set(1)
        began = time.perf_counter()
        for frame in range(2, FRAMES + 1):
            scene.frame_set(frame)
        passes.append(1e6 * (time.perf_counter() - began) / (FRAMES - 1))
    return [passes[0], min(passes[1:])]


# -- the scenes --------------------------------------------------------------------------------------------------------


def _live(start_from: str = "PREVIOUS", **kind: object) -> list[float]:
    _new_scene()
    _with_goals(start_from, **kind).dqik.live = True
    return _played()


def _full_body(start_from: str) -> list[float]:
    _new_scene()
    ob, targets = _figure()
    for target in targets.values():
        bpy.data.objects.remove(target)
    bpy.context.view_layer.objects.active = ob
    choices = bpy.ops.dqik.setup_full_body.get_rna_type().properties.keys()
    bpy.ops.dqik.setup_full_body(**({"targets": "EMPTIES"} if "targets" in choices else {}))
    goals = ob.dqik.goals
    for number in reversed([number for number, goal in enumerate(goals) if goal.bone == "hips"]):
        goals.remove(number)  # old builds make none
    drawn = random.Random(3)
    for goal in goals:
        _move(goal.target, goal.target.location.copy(), drawn)
    ob.dqik.start_from, ob.dqik.live = start_from, True
    return _played()


def _many() -> list[float]:
    _new_scene()
    for number in range(20):
        _with_goals("PREVIOUS", name=f"Rig{number}", x=2.0 * number, seed=number).dqik.live = True
    return _played()


def _first() -> list[float]:
    least = float("inf")
    for _ in range(6):
        _new_scene()
        ob = _with_goals("PREVIOUS")
        bpy.context.scene.frame_set(1)
        ob.dqik.live = True
        began = time.perf_counter()
        bpy.context.scene.frame_set(2)
        least = min(least, time.perf_counter() - began)
    return [1e3 * least]


def _bake(start_from: str) -> list[float]:
    least = float("inf")
    for _ in range(PASSES):
        _new_scene()
        _with_goals(start_from)
        bpy.context.scene.frame_set(1)
        began = time.perf_counter()
        bpy.ops.dqik.bake(frame_start=1, frame_end=FRAMES)
        least = min(least, time.perf_counter() - began)
    return [1e3 * least]


SCENES: dict[str, Callable[[], list[float]]] = {
    "limbs of 3 bones, *Previous*": _live,
    "limbs of 3 bones, *Pose*": functools.partial(_live, "POSE"),
    "the same with rotations, *Previous*": functools.partial(_live, rotation=True),
    "bones in Euler mode, *Previous*": functools.partial(_live, euler=True),
    "bones with keys, *Previous*": functools.partial(_live, keyed=True),
    "bones with keys in Euler mode, *Previous*": functools.partial(_live, keyed=True, euler=True),
    "full body with sliding hips, *Previous*": functools.partial(_full_body, "PREVIOUS"),
    "full body with sliding hips, *Pose*": functools.partial(_full_body, "POSE"),
    "20 rigs live, *Previous*": _many,
    "nothing moves": functools.partial(_live, moving=False),
    "all chains to a fixed root, targets mostly out of reach": functools.partial(_live, whole=True),
    "first solve, ms": _first,
    "bake of 100 frames, *Previous*, ms": functools.partial(_bake, "PREVIOUS"),
    "bake of 100 frames, *Pose*, ms": functools.partial(_bake, "POSE"),
}


if __name__ == "__main__":
    sys.exit(main())
