# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured motion from a BVH file as a skeleton of balls, goals at hips, hands, feet and head, and their targets."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import solvers as ik

GOALS = ("Hips", "LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head")
KNEES = {"LeftLeg": (0.35, 0.0, 0.0), "RightLeg": (0.35, 0.0, 0.0)}  # [rad] how they like to bend
STILL = ("Finger", "Thumb")  # stubs at the hands
ROOM = np.radians(5.0)  # of limits beyond the captured motion
CORNERS = 1.42  # an ellipse so much larger holds the corners of what was captured


class Captured(NamedTuple):
    """A motion to rebuild."""

    skeleton: ik.Skeleton
    goals: list[ik.Goal]
    positions: np.ndarray  # (F, G, 3)
    rotations: np.ndarray  # (F, G, 4)
    start: ik.Pose
    poses: list[ik.Pose]  # as captured


class _Bone(NamedTuple):
    name: str
    parent: int
    offset: list[float]
    channels: list[str]


def read(path: Path, limited: bool, turns: bool) -> Captured:
    """The motion of a file.

    limited : limits a little wider than the captured motion. turns : goals with rotations.
    """
    head, _, motion = path.read_text(encoding="utf-8").partition("MOTION")
    bones = _bones(head)
    values = np.array([[float(word) for word in line.split()] for line in motion.strip().splitlines()[2:]])
    root, turned = _channels(bones, values)
    joints = [
        ik.Joint(f"move {axis}", number - 1, "prismatic", (0, 0, 0), axis=np.eye(3)[number])
        for number, axis in enumerate("xyz")
    ]
    for index, bone in enumerate(bones):
        along = next((np.array(one.offset) for one in bones if one.parent == index), np.array([0.0, 1.0, 0.0]))
        axis = along if np.linalg.norm(along) > 1e-6 else np.array([0.0, 1.0, 0.0])
        joints.append(ik.Joint(
            bone.name, bone.parent + 3 if index else 2, "ball", bone.offset if index else (0, 0, 0), axis=axis,
            limits=_limits(turned[:, index], axis) if limited and index else None, preferred=KNEES.get(bone.name),
            stiffness=float(any(part in bone.name for part in STILL)),
        ))  # fmt: skip
    skeleton = ik.Skeleton(joints)
    poses = []
    for place, own in zip(root, turned, strict=True):
        translations = np.zeros((len(skeleton), 3))
        translations[:3] = np.diag(place)
        poses.append(ik.Pose(np.concatenate([np.tile([1.0, 0, 0, 0], (3, 1)), own]), translations))
    world = [ik.forward(skeleton, pose) for pose in poses]
    at = [skeleton.index(name) for name in GOALS]
    goals = [ik.Goal(name, (0, 0, 0), (1, 0, 0, 0) if turns else None) for name in GOALS]
    start = ik.Pose(skeleton.rest_pose().rotations, poses[0].translations)
    return Captured(skeleton, goals, np.array([one.positions[at] for one in world]),
                    np.array([one.rotations[at] for one in world]), start, poses)  # fmt: skip


def _bones(text: str) -> list[_Bone]:
    """The bones of a file's hierarchy, without the ends."""
    bones: list[_Bone] = []
    open_bones: list[int] = []
    now = -1
    for words in filter(None, (line.split() for line in text.splitlines())):
        if words[0] in ("ROOT", "JOINT"):
            bones.append(_Bone(words[1], open_bones[-1] if open_bones else -1, [], []))
            now = len(bones) - 1
        elif words[0] == "End":
            now = -1
        elif words[0] == "{":
            open_bones.append(now)
        elif words[0] == "}":
            open_bones.pop()
        elif open_bones and open_bones[-1] >= 0:
            own = bones[open_bones[-1]]
            (own.offset if words[0] == "OFFSET" else own.channels).extend(
                [float(word) for word in words[1:]] if words[0] == "OFFSET" else words[2:]
            )
    return bones


def _channels(bones: list[_Bone], values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The root's places (F, 3) and the bones' turns (F, B, 4)."""
    root, turned, column = np.zeros((len(values), 3)), np.zeros((len(values), len(bones), 4)), 0
    for index, bone in enumerate(bones):
        turn = Rotation.identity(len(values))
        for channel in bone.channels:
            value, axis = values[:, column], "XYZ".index(channel[0])
            column += 1
            if channel.endswith("position"):
                root[:, axis] = value
            else:
                turn = turn * Rotation.from_rotvec(np.radians(value)[:, None] * np.eye(3)[axis])
        turned[:, index] = turn.as_quat(scalar_first=True)
    return root, turned


def _limits(turned: np.ndarray, axis: np.ndarray) -> ik.TwistSwing:
    """Limits around the turns (F, 4) of a ball with a twist axis."""
    up, axis = np.array([0.0, 1.0, 0.0]), axis / np.linalg.norm(axis)
    carry, _ = Rotation.align_vectors(axis[None], up[None]) if abs(axis[1]) < 1 - 1e-9 else (Rotation.identity(), 0)
    turn = carry.inv() * Rotation.from_quat(turned, scalar_first=True) * carry
    w, y = turn.as_quat(scalar_first=True)[:, [0, 2]].T
    twist = 2.0 * np.arctan2(y, w)
    twist = (twist + np.pi) % (2 * np.pi) - np.pi
    swing = (turn * Rotation.from_rotvec(-twist[:, None] * up)).as_rotvec()[:, [0, 2]]
    lo, hi = CORNERS * np.minimum(swing.min(0), -ROOM) - ROOM, CORNERS * np.maximum(swing.max(0), ROOM) + ROOM
    return ik.TwistSwing((twist.min() - ROOM, twist.max() + ROOM), (lo[0], hi[0]), (lo[1], hi[1]))
