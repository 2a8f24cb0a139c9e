# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking the example clip: DQIK's operator against stepping through the frames and Blender's IK with nla.bake."""

import time
from argparse import Namespace
from collections.abc import Callable

import bpy
import numpy as np
import scene
from report import Result, number
from stage import ITASC, LEGACY, Stage, build

STEPPING = "stepping"
WAYS = {
    STEPPING: "only stepping through the frames",
    "POSE": "dqik.bake, start from Pose",
    "PREVIOUS": "dqik.bake, start from Previous",
    LEGACY: "legacy IK, nla.bake",
    ITASC: "iTaSC, nla.bake",
}
BAKES = [way for way in WAYS if way != STEPPING]
PEERS = {STEPPING: "stepping", LEGACY: "legacy IK", ITASC: "iTaSC"}


def run(arguments: Namespace) -> Result:
    """Bake with each method in turns, and play the result of each."""
    stage = build(arguments.zip, arguments.frames)
    seconds, cpu = ({way: [] for way in WAYS} for _ in range(2))
    baked = {}
    for _ in range(arguments.rounds):
        _time(lambda: _step_through(stage), seconds[STEPPING], cpu[STEPPING])
        for way in BAKES:
            stage.use(way)
            bake = (lambda: _bake_blender(stage)) if way in (LEGACY, ITASC) else (lambda: _bake_dqik(stage))
            _time(bake, seconds[way], cpu[way])
            baked[way] = stage.record()
            _forget_action(stage)
    rows = []
    for way, took in seconds.items():
        row = {"way": WAYS[way], "seconds_median": float(np.median(took)), "seconds_max": float(max(took))}
        row["cpu_seconds"] = min(cpu[way])
        for peer in PEERS:
            ratios = np.array(took) / seconds[peer]
            row[f"to_{peer}"], row[f"to_{peer}_worst"] = float(np.median(ratios)), float(ratios.max())
        if way in baked:
            miss = stage.misses(baked[way])
            row |= {"miss_mean": float(miss.mean()), "miss_max": float(miss.max())}
        rows.append(row)
    columns = [
        ("way", lambda row: str(row["way"])),
        ("s, median", number("seconds_median", ".3f")),
        ("worst", number("seconds_max", ".3f")),
        ("CPU s", number("cpu_seconds", ".3f")),
    ]
    for peer, title in PEERS.items():
        columns += [(f"to {title}", number(f"to_{peer}", ".3g")), ("worst", number(f"to_{peer}_worst", ".3g"))]
    columns += [("miss, mean", number("miss_mean", ".1e")), ("worst", number("miss_max", ".1e"))]
    return Result(rows, columns)


def _time(work: Callable[[], None], seconds: list[float], cpu: list[float]) -> None:
    """Measure the elapsed seconds, from the first frame of the clip on, and the processor time of all threads."""
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    began, cpu_began = time.perf_counter(), time.process_time()
    work()
    seconds.append(time.perf_counter() - began)
    cpu.append(time.process_time() - cpu_began)


def _step_through(stage: Stage) -> None:
    """Make Blender evaluate every frame without solving."""
    for frame in stage.frames:
        bpy.context.scene.frame_set(frame)
        bpy.context.evaluated_depsgraph_get()


def _bake_dqik(stage: Stage) -> None:
    scene.bake(stage.task.rig, stage.frames)


def _bake_blender(stage: Stage) -> None:
    """Visual keys of the rotations of the solved bones, in a copy of the action, as DQIK writes them."""
    rig = stage.task.rig
    rig.animation_data.action = rig.animation_data.action.copy()  # keep the hips' keys, to which the new ones are added
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    solved = set(stage.task.solved.tolist())
    for row, bone in enumerate(rig.pose.bones):
        (bone if hasattr(bone, "select") else bone.bone).select = row in solved
    done = bpy.ops.nla.bake(
        frame_start=stage.frames[0], frame_end=stage.frames[-1], only_selected=True, visual_keying=True,
        clear_constraints=True, use_current_action=True, bake_types={"POSE"}, channel_types={"ROTATION"},
    )  # fmt: skip
    bpy.ops.object.mode_set(mode="OBJECT")
    if done != {"FINISHED"}:
        raise RuntimeError("Blender's bake did not finish")


def _forget_action(stage: Stage) -> None:
    """Remove the baked action, so that only the hips are animated."""
    action = stage.task.rig.animation_data.action
    stage.clear()
    bpy.data.actions.remove(action)
