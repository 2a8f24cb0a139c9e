# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the motion of an armature, and compares motions."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

POP = 20.0  # [deg]: a step that exceeds the captured one by more is a pop

EXPLANATION = """

target miss    distance of hands, head and toes from their targets; 1 is the figure's height
rotation miss  angle of hands, head and toes from their targets
pop            largest turn of a joint from frame to frame, minus the largest in the captured motion,
               and the number of frames in which that is more than {pop:.0f}°
pose           mean angle between the solved and the captured joints
time           time of a frame; Blender alone, without IK, takes {alone:.0f} us"""


@dataclass
class Motion:
    """An armature of N bones over F frames, in world space.

    heads, tails (F, N, 3); rotations (F, N, 4) `w x y z`; channels (F, N, 4) what the bones' own rotation channels
    hold; seconds (F,) that Blender took to change to each frame, solving included.
    """

    heads: np.ndarray
    tails: np.ndarray
    rotations: np.ndarray
    channels: np.ndarray
    seconds: np.ndarray


@dataclass
class Task:
    """The task of all solvers: the captured `truth`, the effectors that should reach it, and the bones to move.

    metres : in a unit of the scene.
    """

    truth: Motion
    rig: bpy.types.Object
    effectors: Sequence[str]
    chains: Mapping[str, Sequence[str]]
    metres: float

    def __post_init__(self) -> None:
        bones = self.rig.pose.bones
        self.rows = np.array([bones.find(name) for name in self.effectors])
        self.solved = np.unique([bones.find(name) for chain in self.chains.values() for name in chain])
        self.parents = np.array([bones.find(bone.parent.name) if bone.parent else -1 for bone in bones])
        rest = [bone.matrix_local.translation.z for bone in self.rig.data.bones]
        rest += [bone.tail_local.z for bone in self.rig.data.bones]
        self.height = max(rest) - min(rest)


def record(ob: bpy.types.Object, frames: Sequence[int]) -> Motion:
    """Play the frames and record the evaluated pose of each."""
    count = len(ob.pose.bones)
    motion = Motion(*(np.zeros((len(frames), count, size)) for size in (3, 3, 4, 4)), np.zeros(len(frames)))
    channels = np.zeros(4 * count, dtype=np.float32)
    scene, place = bpy.context.scene, ob.matrix_world.copy()
    for k, frame in enumerate(frames):
        began = time.perf_counter()
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        motion.seconds[k] = time.perf_counter() - began
        bones = ob.evaluated_get(depsgraph).pose.bones
        for row, bone in enumerate(bones):
            motion.heads[k, row], motion.tails[k, row] = place @ bone.head, place @ bone.tail
            motion.rotations[k, row] = (place @ bone.matrix).to_quaternion()
        bones.foreach_get("rotation_quaternion", channels)
        motion.channels[k] = channels.reshape(-1, 4)
    return motion


def angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles (...,) [rad] of the shorter rotations between rotations (..., 4); precise for small angles too."""
    relative = product(conjugate(a), b)
    return 2.0 * np.arctan2(np.linalg.norm(relative[..., 1:], axis=-1), np.abs(relative[..., 0]))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion product (..., 4)."""
    w = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(-1, keepdims=True)
    return np.concatenate([w, a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])], -1)


def conjugate(q: np.ndarray) -> np.ndarray:
    """Quaternion conjugate (..., 4)."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def largest_difference(a: Motion, b: Motion) -> float:
    """The largest angle [rad] between two motions' rotation channels, over all bones and frames."""
    return float(angles(a.channels, b.channels).max())


def joint_rotations(task: Task, motion: Motion) -> np.ndarray:
    """Rotations (F, S, 4) of the solved bones against their parents."""
    above = motion.rotations[:, task.parents[task.solved]]
    return product(conjugate(above), motion.rotations[:, task.solved])


def misses(task: Task, motion: Motion) -> np.ndarray:
    """Distances (F, G) [m] of the effectors from their targets."""
    return np.linalg.norm(motion.tails[:, task.rows] - task.truth.tails[:, task.rows], axis=-1)


def pose_differences(task: Task, motion: Motion) -> np.ndarray:
    """Mean angle (F,) [deg] between the solved and the captured joints."""
    return np.degrees(angles(joint_rotations(task, motion), joint_rotations(task, task.truth))).mean(-1)


def table(task: Task, motions: Mapping[str, Motion], titles: Mapping[str, str]) -> str:
    """A table with a line for each solver."""
    lines = [
        f"{'':26}{'target miss / height':^22}{'rotation miss':^18}{'pop':^18}{'pose':>8}{'time':>11}",
        f"{'':26}{'mean':>10}{'max':>10}  {'mean':>8}{'max':>8}  {'max':>8}{'frames':>8}  {'mean':>6}{'median':>11}",
    ]
    truth = joint_rotations(task, task.truth)
    captured_step = np.degrees(angles(truth[1:], truth[:-1])).max(-1)
    for solver, title in titles.items():
        motion = motions[solver]
        joints = joint_rotations(task, motion)
        miss = misses(task, motion) / task.height
        turn = np.degrees(angles(motion.rotations[:, task.rows], task.truth.rotations[:, task.rows]))
        pop = np.degrees(angles(joints[1:], joints[:-1])).max(-1) - captured_step
        lines.append(
            f"{title:26}{miss.mean():>10.1e}{miss.max():>10.1e}  {turn.mean():>7.3f}°{turn.max():>7.3f}°"
            f"  {pop.max():>7.1f}°{int((pop > POP).sum()):>8}  {pose_differences(task, motion).mean():>5.1f}°"
            f"{1e6 * np.median(motion.seconds):>8.0f} us"
        )
    alone = 1e6 * np.median(motions["none"].seconds)
    return "\n".join(lines) + EXPLANATION.format(pop=POP, alone=alone)
