# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured motion: skeletons with roles, and clips as world rotations of joints away from the rest pose."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

UNSEEN = (
    "x_te_soccer_1", "x_te_washwindow_1", "x_tr_basketball_signal_2", "x_tr_basketball_3", "x_tr_walking_16",
    "x_tr_soccer_2", "x_tr_jumping_2", "x_tr_running_3", "x_tr_directing_traffic_4",
)  # fmt: skip
"""Clips left out of the learning, besides all of subject 01: the measurements are taken on them."""

_ASF = {
    "root": "hips", "lowerback": "spine", "upperback": "spine", "thorax": "spine", "lowerneck": "neck",
    "upperneck": "neck", "head": "head", "clavicle": "collar", "humerus": "arm", "radius": "forearm", "wrist": "hand",
    "hipjoint": "hip_joint", "femur": "thigh", "tibia": "shin", "foot": "foot", "toes": "toes",
}  # fmt: skip
_BVH = {
    "Hips": "hips", "LowerBack": "spine", "Spine": "spine", "Spine1": "spine", "Neck": "neck", "Neck1": "neck",
    "Head": "head", "Shoulder": "collar", "Arm": "arm", "ForeArm": "forearm", "Hand": "hand", "HipJoint": "hip_joint",
    "UpLeg": "thigh", "Leg": "shin", "Foot": "foot", "ToeBase": "toes",
}  # fmt: skip


@dataclass
class Skeleton:
    """A captured skeleton at rest, Y up, facing +Z, left at +X.

    names, parents (J,). offsets : (J, 3) from the parent's head to the own one. tails : (J, 3) from the own head.
    roles : (name, side) by joint.
    """

    names: list[str]
    parents: np.ndarray
    offsets: np.ndarray
    tails: np.ndarray
    roles: dict[int, tuple[str, str]]

    def joint(self, name: str, side: str = "") -> int:
        """The first joint of a role."""
        return next(joint for joint, role in self.roles.items() if role == (name, side))

    def heads(self) -> np.ndarray:
        """Rest places (J, 3)."""
        heads = self.offsets.copy()
        for joint, parent in enumerate(self.parents.tolist()):
            heads[joint] += heads[parent] if parent >= 0 else 0.0
        return heads


@dataclass
class Clip:
    """A clip: the name of its skeleton, world rotations (F, J, 4) away from rest, and places (F, 3) of the root."""

    name: str
    skeleton: str
    turns: np.ndarray
    root: np.ndarray

    @property
    def is_unseen(self) -> bool:
        """Whether the learning leaves it out."""
        return self.name in UNSEEN or self.name.startswith("01_")


def load(path: Path) -> tuple[dict[str, Skeleton], list[Clip]]:
    """Skeletons by name, and clips, of `cmu_poses.npz`."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    skeletons = {name: _asf(arrays, name) for name in ("asf01", "asf02", "asf03")}
    skeletons["bvh"] = _bvh(arrays)
    clips = []
    for name in sorted(key[:-2] for key in arrays if key.endswith("/q")):
        kind = "bvh" if name.startswith("x_") else f"asf{name[:2]}"
        turns = arrays[f"{name}/q"].astype(float)
        turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
        clips.append(Clip(name, kind, turns, arrays[f"{name}/root"].astype(float)))
    return skeletons, clips


def _asf(arrays: dict[str, np.ndarray], name: str) -> Skeleton:
    names, parents = [str(one) for one in arrays[f"{name}/names"]], arrays[f"{name}/parents"].astype(int)
    tails = arrays[f"{name}/offsets"].astype(float)
    offsets = np.where((parents > 0)[:, None], tails[parents], 0.0)  # a head is the parent's tail; the root has none
    roles = {}
    for joint, own in enumerate(names):
        for side, letter in (("L", "l"), ("R", "r"), ("", "")):
            if own.startswith(letter) and own[len(letter):] in _ASF and (side == "") == (own in _ASF):
                roles[joint] = _ASF[own[len(letter):]], side
    return Skeleton(names, parents, offsets, tails, roles)


def _bvh(arrays: dict[str, np.ndarray]) -> Skeleton:
    names, parents = [str(one) for one in arrays["bvh/names"]], arrays["bvh/parents"].astype(int)
    rest = arrays["bvh/rest"].astype(float)
    offsets = np.where((parents >= 0)[:, None], rest - rest[parents], 0.0)
    children = [offsets[parents == joint] for joint in range(len(names))]
    tails = np.array([own.mean(0) if len(own) else np.array([0.0, 0.05, 0.0]) for own in children])
    roles = {}
    for joint, own in enumerate(names):
        for side, words in (("L", ("Left", "L")), ("R", ("Right", "R"))):
            word = next((word for word in words if own.startswith(word) and own[len(word):] in _BVH), None)
            if word is not None and own not in _BVH and _BVH[own[len(word):]] not in ("hips", "spine", "neck", "head"):
                roles[joint] = _BVH[own[len(word):]], side
        if own in _BVH and _BVH[own] in ("hips", "spine", "neck", "head"):
            roles[joint] = _BVH[own], ""
    return Skeleton(names, parents, offsets, tails, roles)
