# SPDX-License-Identifier: GPL-3.0-or-later
"""The example clip rebuilt live: Blender's two IK solvers and DQIK on the same rig, in one process, in turns."""

import time
from argparse import Namespace
from collections.abc import Sequence

import measure
import numpy as np
import rebuild
from report import Result, Row, number
from stage import ITASC, LEGACY, Stage, build

PEERS = {LEGACY: "legacy IK", ITASC: "iTaSC"}
FREE = "none"  # nothing is solved


def run(arguments: Namespace) -> Result:
    """Measure every solver with and without the targets' rotation, in turns."""
    stage = build(arguments.zip, arguments.frames)
    rows = []
    for rotation in (True, False):
        motions, cpu = ({solver: [] for solver in (FREE, *rebuild.SOLVERS)} for _ in range(2))
        for _ in range(arguments.rounds):
            _play(stage, FREE, motions, cpu)
            for solver in rebuild.SOLVERS:
                stage.use(solver, rotation)
                _play(stage, solver, motions, cpu)
                stage.clear()
        rows.append(_times(FREE, "Blender, nothing solved", rotation, motions))
        for solver, title in rebuild.SOLVERS.items():
            times = _times(solver, title, rotation, motions)
            used = (min(cpu[solver]) - min(cpu[FREE])) / len(stage.frames)
            rows.append({**times, "cpu_us_mean": 1e6 * used, **_errors(stage, motions[solver], rotation)})
    columns = [
        ("goals", lambda row: "place, rotation" if row["rotation"] else "place"),
        ("solver", lambda row: str(row["solver"])),
        ("miss, mean", number("miss_mean", ".1e")),
        ("worst", number("miss_max", ".1e")),
        ("turn, mean", number("turn_mean_deg", ".3f", unit="°")),
        ("worst", number("turn_max_deg", ".3f", unit="°")),
        ("pop, worst", number("pop_max_deg", ".1f", unit="°")),
        ("frames", number("pop_frames", ".0f")),
        ("pose, mean", number("pose_mean_deg", ".1f", unit="°")),
        ("worst", number("pose_max_deg", ".1f", unit="°")),
        ("us, median", number("us_median", ".0f")),
        ("99 %", number("us_p99", ".0f")),
        ("worst", number("us_max", ".0f")),
    ]
    for peer, title in PEERS.items():
        columns += [(f"to {title}", number(f"to_{peer}", ".2f")), ("worst", number(f"to_{peer}_worst", ".2f"))]
    columns.append(("CPU us, mean", number("cpu_us_mean", ".0f")))
    return Result(rows, columns)


def _play(stage: Stage, solver: str, motions: dict[str, list], cpu: dict[str, list]) -> None:
    """Play the clip and record the motion and the processor time of all threads."""
    began = time.process_time()
    motions[solver].append(stage.record())
    cpu[solver].append(time.process_time() - began)


def _times(solver: str, title: str, rotation: bool, motions: dict[str, list[measure.Motion]]) -> Row:
    """Times of a frame over all rounds, and the medians' ratios to the peers': of all rounds, and of the worst."""
    seconds = {name: np.array([motion.seconds for motion in found]) for name, found in motions.items()}
    took = 1e6 * seconds[solver]
    row = {
        "rotation": rotation, "solver": title, "us_median": float(np.median(took)),
        "us_p99": float(np.percentile(took, 99)), "us_max": float(took.max()),
    }  # fmt: skip
    if solver not in (FREE, *PEERS):
        for peer in PEERS:
            row[f"to_{peer}"] = float(np.median(seconds[solver]) / np.median(seconds[peer]))
            each = np.median(seconds[solver], axis=1) / np.median(seconds[peer], axis=1)
            row[f"to_{peer}_worst"] = float(each.max())
    return row


def _errors(stage: Stage, motions: Sequence[measure.Motion], rotation: bool) -> Row:
    """Errors over all rounds; the worst is the worst of all rounds."""
    task = stage.task
    truth = measure.joint_rotations(task, task.truth)
    captured_step = measure.angles(truth[1:], truth[:-1]).max(-1)
    miss = np.array([stage.misses(motion) for motion in motions])
    pose = np.array([measure.pose_differences(task, motion) for motion in motions])
    target_rotations = task.truth.rotations[:, task.rows]
    turn = np.degrees([measure.angles(motion.rotations[:, task.rows], target_rotations) for motion in motions])
    joints = [measure.joint_rotations(task, motion) for motion in motions]
    pop = np.degrees([measure.angles(turned[1:], turned[:-1]).max(-1) - captured_step for turned in joints])
    return {
        "miss_mean": float(miss.mean()), "miss_max": float(miss.max()),
        "turn_mean_deg": float(turn.mean()) if rotation else None,
        "turn_max_deg": float(turn.max()) if rotation else None,
        "pop_max_deg": float(pop.max()), "pop_frames": int((pop > measure.POP).sum(-1).max()),
        "pose_mean_deg": float(pose.mean()), "pose_max_deg": float(pose.max()),
    }  # fmt: skip
