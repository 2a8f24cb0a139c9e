# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the parts of a frame's time on armatures of 30, 150 and 300 bones, and the first solve after enabling."""

import importlib
import sys
import time
from argparse import Namespace
from collections.abc import Callable

import bpy
import numpy as np
import scene
from mathutils import Quaternion, Vector
from report import Result, Row, number

SIZES = (30, 150, 300)  # bones
FIGURE, SPINE, LIMB = 30, 4, 5  # bones: of a figure, of its spine, of each of its five limbs
FRAMES = 100
KEYS = 10  # frames from one key of a target to the next
AWAY = 0.25  # [m] radius within which targets move about their bones' ends


class Clock:
    """Counts the seconds spent in the functions that it wraps."""

    def __init__(self) -> None:
        self.spent = 0.0

    def around(self, function: Callable) -> Callable:
        """The function, timed."""

        def timed(*arguments: object, **named: object) -> object:
            began = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                self.spent += time.perf_counter() - began

        return timed


def run(arguments: Namespace) -> Result:
    """Install the extension, and play a motion on each armature with and without solving."""
    scene.install(arguments.zip)
    clocks = {part: Clock() for part in ("handlers", "solve", "write")}
    rows = [_measured(bones, clocks, arguments.rounds) for bones in SIZES]
    return Result(rows, [
        ("bones", number("bones", ".0f")), ("goals", number("goals", ".0f")),
        ("first frame, ms", number("ms_first", ".1f")), ("second, ms", number("ms_second", ".2f")),
        ("us a frame, median", number("us_frame", ".0f")), ("Blender alone", number("us_idle", ".0f")),
        ("read", number("us_read", ".0f")), ("solve", number("us_solve", ".0f")),
        ("write", number("us_write", ".0f")), ("evaluated again", number("us_again", ".0f")),
    ])  # fmt: skip


def _measured(bones: int, clocks: dict[str, Clock], rounds: int) -> Row:
    """Per stage, the median over the frames of the least time of the rounds."""
    rig, targets = _armature(bones)
    idle = np.min([_play(clocks)["frame"] for _ in range(rounds)], axis=0)
    bpy.context.view_layer.objects.active = rig
    for bone, (target, length) in targets.items():
        bpy.ops.dqik.goal_add(bone=bone, target=target.name, chain_length=length, use_rotation=True)
    bpy.context.scene.frame_set(1)
    rig.dqik.live = True
    first = []
    for frame in (2, 3):
        began = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        first.append(time.perf_counter() - began)
    _watch(clocks)
    played = [_play(clocks) for _ in range(rounds)]
    took = {name: np.min([one[name] for one in played], axis=0) for name in played[0]}
    rig.dqik.live = False
    stage = {name: 1e6 * float(np.median(seconds)) for name, seconds in took.items()}
    us_idle = 1e6 * float(np.median(idle))
    for ob in (rig, *[target for target, _ in targets.values()]):
        bpy.data.objects.remove(ob)
    return {
        "bones": bones, "goals": len(targets), "ms_first": 1e3 * first[0], "ms_second": 1e3 * first[1],
        "us_frame": stage["frame"], "us_idle": us_idle,
        "us_read": stage["handlers"] - stage["solve"] - stage["write"], "us_solve": stage["solve"],
        "us_write": stage["write"], "us_again": stage["frame"] - us_idle - stage["handlers"],
    }  # fmt: skip


def _play(clocks: dict[str, Clock]) -> dict[str, np.ndarray]:
    """Seconds of every frame of the motion: in total, and counted by the clocks."""
    spent: dict[str, list[float]] = {name: [] for name in ("frame", *clocks)}
    for frame in range(1, FRAMES + 1):
        for clock in clocks.values():
            clock.spent = 0.0
        began = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        spent["frame"].append(time.perf_counter() - began)
        for name, clock in clocks.items():
            spent[name].append(clock.spent)
    return {name: np.array(seconds[KEYS:]) for name, seconds in spent.items()}


def _watch(clocks: dict[str, Clock]) -> None:
    """Put clocks around the extension's handlers, its solves and its writing; once."""
    step = importlib.import_module(f"{scene.EXTENSION}.rig.frame.step.frame")
    if hasattr(step, "watched"):
        return
    step.watched = True
    for handlers in (bpy.app.handlers.frame_change_post, bpy.app.handlers.depsgraph_update_post):
        for index, handler in enumerate(handlers):
            if sys.modules[handler.__module__].__name__.startswith(scene.EXTENSION):
                handlers[index] = clocks["handlers"].around(handler)
    step.write_answer = clocks["write"].around(step.write_answer)
    for module, name in [("compiled.stages", "CompiledStages"), ("compiled.stages", "CompiledMotion"),
                         ("group.stages", "Stages"), ("group.stages", "StagesMotion")]:  # fmt: skip
        owner = getattr(importlib.import_module(f"{scene.EXTENSION}.solvers.{module}"), name)
        owner.solve_into = clocks["solve"].around(owner.solve_into)


def _armature(bones: int) -> tuple[bpy.types.Object, dict[str, tuple[bpy.types.Object, int]]]:
    """Figures of 30 bones in one armature: hips, a spine, two limbs on the hips and three on the spine's end.

    Returns it, and for the last bone of each limb a moving target and how many bones it may move.
    """
    data = bpy.data.armatures.new("Figures")
    rig = bpy.data.objects.new("Figures", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    ends: dict[str, tuple[Vector, int]] = {}
    for figure in range(bones // FIGURE):
        origin = Vector((2.0 * figure, 0.0, 1.0))
        hips = _bones(data, f"{figure} hips", None, origin, Vector((0, 0, 0.1)), 1)
        spine = _bones(data, f"{figure} spine", hips[-1], origin + Vector((0, 0, 0.1)), Vector((0, 0.02, 0.12)), SPINE)
        for number_of in range(5):
            on_hips, turn = number_of < 2, 2.0 * np.pi * number_of / 5
            base = hips[-1] if on_hips else spine[-1]
            along = Vector((0.12 * np.cos(turn), 0.12 * np.sin(turn), -0.12 if on_hips else 0.03))
            limb = _bones(data, f"{figure} limb {number_of}", base, base.tail.copy(), along, LIMB)
            ends[limb[-1].name] = limb[-1].tail.copy(), LIMB if on_hips else LIMB + SPINE
    bpy.ops.object.mode_set(mode="OBJECT")
    generator = np.random.default_rng(1)
    targets = {name: (_target(name, place, generator), length) for name, (place, length) in ends.items()}
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    return rig, targets


def _bones(data: bpy.types.Armature, name: str, parent: object, head: Vector, along: Vector, count: int) -> list:
    """Bones one after the other from a head, each as long as `along`, a little bent."""
    found = []
    for index in range(count):
        bone = data.edit_bones.new(f"{name} {index}")
        bone.head, bone.tail, bone.parent = head, head + along, parent
        parent, head = bone, bone.tail.copy()
        along = Quaternion((1, 0, 0), 0.1) @ along
        found.append(bone)
    return found


def _target(name: str, place: Vector, generator: np.random.Generator) -> bpy.types.Object:
    """An empty that moves and turns about a place."""
    empty = bpy.data.objects.new(f"{name} target", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.rotation_mode = "QUATERNION"
    for frame in range(1, FRAMES + KEYS, KEYS):
        empty.location = place + Vector(AWAY * generator.uniform(-1.0, 0.2, 3))
        empty.rotation_quaternion = Quaternion(generator.normal(size=3), 0.3 * generator.uniform())
        for path in ("location", "rotation_quaternion"):
            empty.keyframe_insert(path, frame=frame)
    return empty
