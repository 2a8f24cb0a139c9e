# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes captured clips as BVH files, as they are or with another rest pose: `python bvh.py POSES.npz FOLDER`."""

import sys
from pathlib import Path

import numpy as np
import poses
from package import module

quaternion = module("solvers.algebra.quaternion")

ELBOWS, HANDS = 30.0, 20.0  # degrees by which the captured elbows and hands are turned about the arm at rest
LOWERED = 50.0  # degrees by which the arms hang in the figures that rest in an A pose


def rested(skeleton: poses.Skeleton, turns: np.ndarray, lowered: float) -> tuple[poses.Skeleton, np.ndarray]:
    """A skeleton whose arms hang by `lowered` degrees at rest, and the turns (F, J, 4) of the same motion."""
    offsets, tails, turns = skeleton.offsets.copy(), skeleton.tails.copy(), turns.copy()
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turn = quaternion.exp(np.array([0.0, 0.0, -sign * np.radians(lowered)]))
        top = skeleton.joint("arm", side)
        for joint in range(len(offsets)):
            if top in _above(skeleton, joint):
                if joint != top:
                    offsets[joint] = quaternion.rotate(turn, offsets[joint])
                tails[joint] = quaternion.rotate(turn, tails[joint])
                turns[:, joint] = quaternion.product(turns[:, joint], quaternion.conjugate(turn))
    return poses.Skeleton(skeleton.names, skeleton.parents, offsets, tails, skeleton.roles), turns


def plain_elbows(skeleton: poses.Skeleton, turns: np.ndarray) -> np.ndarray:
    """The turns (F, J, 4) of the same motion if forearms bent straight forward at rest, as on most rigs.

    In the captured rest pose the arms are turned about their length, the hands somewhat less.
    """
    heads, turns = skeleton.heads(), turns.copy()
    for side, sign in (("L", 1.0), ("R", -1.0)):
        top, end = skeleton.joint("arm", side), skeleton.joint("hand", side)
        line = heads[end] - heads[top]
        axis = -sign * line / np.linalg.norm(line)
        for joint in (joint for joint in range(len(heads)) if top in _above(skeleton, joint)):
            turn = HANDS if end in _above(skeleton, joint) else ELBOWS
            turns[:, joint] = quaternion.product(turns[:, joint], quaternion.exp(np.radians(turn) * axis))
    return turns


def _above(skeleton: poses.Skeleton, joint: int) -> list[int]:
    path = [joint]
    while skeleton.parents[path[-1]] >= 0:
        path.append(int(skeleton.parents[path[-1]]))
    return path


def write(path: Path, skeleton: poses.Skeleton, turns: np.ndarray, root: np.ndarray) -> None:
    """A BVH file of world turns (F, J, 4) away from rest and root places (F, 3)."""
    order: list[int] = []
    lines = ["HIERARCHY", *_tree(skeleton, 0, 0, order)]
    lines += ["MOTION", f"Frames: {len(turns)}", "Frame Time: 0.033333"]
    parents = skeleton.parents
    local = quaternion.relative(turns[:, np.maximum(parents, 0)], turns)
    local[:, parents < 0] = turns[:, parents < 0]
    angles = np.degrees(_zyx(quaternion.to_matrix(local)))  # (F, J, 3)
    rows = np.concatenate([root, angles[:, order].reshape(len(turns), -1)], 1)
    path.write_text("\n".join(lines + [" ".join(f"{value:.5f}" for value in row) for row in rows]) + "\n")


def _zyx(m: np.ndarray) -> np.ndarray:
    """Angles (..., 3) about Z, then the turned Y, then the turned X, of matrices (..., 3, 3) [rad]."""
    return np.stack([
        np.arctan2(m[..., 1, 0], m[..., 0, 0]), np.arcsin(np.clip(-m[..., 2, 0], -1.0, 1.0)),
        np.arctan2(m[..., 2, 1], m[..., 2, 2]),
    ], -1)  # fmt: skip


def _tree(skeleton: poses.Skeleton, joint: int, depth: int, order: list[int]) -> list[str]:
    pad, offset = "\t" * depth, skeleton.offsets[joint]
    place = "Xposition Yposition Zposition " if depth == 0 else ""
    lines = [
        f"{pad}{'JOINT' if depth else 'ROOT'} {skeleton.names[joint]}", pad + "{",
        f"{pad}\tOFFSET {offset[0]:.6f} {offset[1]:.6f} {offset[2]:.6f}",
        f"{pad}\tCHANNELS {6 if depth == 0 else 3} {place}Zrotation Yrotation Xrotation",
    ]  # fmt: skip
    order.append(joint)
    children = np.flatnonzero(skeleton.parents == joint)
    for child in children:
        lines += _tree(skeleton, int(child), depth + 1, order)
    if not len(children):
        tail = skeleton.tails[joint]
        lines += [f"{pad}\tEnd Site", pad + "\t{", f"{pad}\t\tOFFSET {tail[0]:.6f} {tail[1]:.6f} {tail[2]:.6f}",
                  pad + "\t}"]  # fmt: skip
    return [*lines, pad + "}"]


def main() -> None:
    """Write the unseen clips, and some of subject 01: as they are, with plain elbows, and with lowered arms at rest."""
    skeletons, clips = poses.load(Path(sys.argv[1]))
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for clip in clips:
        if clip.name not in (*poses.UNSEEN, "01_01", "01_07", "01_14"):
            continue
        own, captured = skeletons[clip.skeleton], clip.turns[:600]
        plain = plain_elbows(own, captured)
        for name, turns, lowered in (("", captured, 0.0), ("_plain", plain, 0.0), ("_lowered", plain, LOWERED)):
            write(folder / f"{clip.name}{name}.bvh", *rested(own, turns, lowered), clip.root[:600])


if __name__ == "__main__":
    main()
