# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a human figure.

The ranges are those of the American Academy of Orthopaedic Surgeons ("AAOS" in docs/references.md), and Neumann's for
the collar bone. They are given in anatomical directions such as "forward" or "toward the midline". The X and Z axes of
bones differ from rig to rig, so the ranges are converted in the rest pose, from the figure's left, up and forward and
the direction of the bone. The limits are simpler than real joints: an ellipse of swing about the rest pose, equal for
both sexes and any age.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from ..blender.armature import Armature
from . import limits, roles
from .bend import BEND, unit
from .roles import Role

ALIGNED = np.radians(20.0)  # a bend axis this near to the bone's X or Z axis is rounded to it
_BENT = np.radians(4.0)  # a limb bent by more at rest bends about the axis of that bend
_DEGENERATE = 0.3  # sine of the angle to a direction below which a bone cannot bend toward it


@dataclass(frozen=True)
class Motion:
    """A range [degrees] toward a direction and away from it, from the `neutral` direction or by default the rest pose.

    Directions are sums of letters: L left, U up, D down, F forward, B back, O out (away from the midline), I in.
    """

    toward: str
    most: float
    least: float
    neutral: str = ""


@dataclass(frozen=True)
class Twist:
    """A range [degrees] of twist about the bone: it moves the direction `side` toward `toward`, and away from it."""

    side: str
    toward: str
    most: float
    least: float


@dataclass(frozen=True)
class Range:
    """A joint's range: its main bend, the bend across it, and its twist. A `hinge` has no bend across."""

    bend: Motion
    across: Motion
    twist: Twist
    hinge: bool = False


_NO = Motion("O", 0.0, 0.0)
_TRUNK_TWIST = ("F", "L")

RANGES = {
    "spine": Range(Motion("F", 80, 25), Motion("L", 35, 35), Twist(*_TRUNK_TWIST, 45, 45)),  # shared by its bones
    "neck": Range(Motion("F", 45, 45), Motion("L", 45, 45), Twist(*_TRUNK_TWIST, 60, 60)),  # shared with the head
    "collar": Range(Motion("U", 45, 10), Motion("F", 30, 30), Twist("F", "D", 10, 10)),
    # raised sideways 180, across the body 45; horizontally forward 135 and back 45, hanging back 60
    "arm": Range(Motion("UO", 90, 135, "O"), Motion("F", 135, 60, "O"), Twist("F", "D", 70, 90)),
    "forearm": Range(Motion("F", 150, 0), _NO, Twist("F", "D", 80, 80), hinge=True),
    "hand": Range(Motion("DI", 80, 70), Motion("F", 20, 30), Twist("F", "D", 10, 10)),
    "hip_joint": Range(Motion("F", 0, 0), _NO, Twist("F", "I", 0, 0)),  # the pelvis is one bone
    "thigh": Range(Motion("F", 120, 30, "D"), Motion("O", 45, 30, "D"), Twist("F", "I", 45, 45)),
    "shin": Range(Motion("B", 135, 0), _NO, Twist("F", "I", 0, 0), hinge=True),
    "foot": Range(Motion("UF", 20, 50), Motion("O", 10, 10), Twist("U", "I", 15, 35)),
    "toes": Range(Motion("UF", 70, 45), Motion("O", 5, 5), Twist("U", "I", 0, 0)),
}
RANGES["head"] = RANGES["neck"]


@dataclass
class Preset:
    """The result of a preset: names of the bones that got limits, and of bones whose axes do not fit their joint."""

    limited: list[str]
    rolled: list[str]


def apply(ob: bpy.types.Object, chosen: Iterable[bpy.types.PoseBone]) -> Preset:
    """Set limits and preferred bends of the chosen bones that are recognised; others do not change."""
    armature = Armature(ob)
    bone_roles = roles.find(list(armature.index), armature.parent.tolist())
    body = Body(armature, bone_roles)
    preset = Preset([], [])
    for bone in chosen:
        number = armature.index[bone.name]
        role = bone_roles.get(number)
        if role is None or role.name not in RANGES:
            continue
        fitted = body.fit(number, role)
        if fitted is None:
            preset.rolled.append(bone.name)
            continue
        lo, hi, preferred = fitted
        limits.put(bone, lo, hi)
        if preferred.any():
            bone.dqik_preferred_angle = preferred
        preset.limited.append(bone.name)
    return preset


class Body:
    """A figure at rest: its directions, and the bones that share a range."""

    def __init__(self, armature: Armature, bone_roles: dict[int, Role]) -> None:
        self.armature = armature
        by_role = {role: bone for bone, role in bone_roles.items()}
        heads = armature.heads
        pairs = [(by_role.get(Role(name, roles.LEFT)), by_role.get(Role(name, roles.RIGHT)))
                 for name in ("thigh", "arm", "hip_joint", "collar")]  # fmt: skip
        left = next((heads[a] - heads[b] for a, b in pairs if a is not None and b is not None), np.array([1.0, 0, 0]))
        low = next((by_role[role] for role in (Role("hips"), Role("shin", roles.LEFT)) if role in by_role), None)
        high = next((by_role[Role(name)] for name in ("head", "neck", "spine") if Role(name) in by_role), None)
        up = np.array([0.0, 0, 1]) if low is None or high is None else heads[high] - heads[low]
        self.left = unit(left)
        self.forward = unit(np.cross(self.left, up))
        self.up = np.cross(self.forward, self.left)
        chest = max((b for b, role in bone_roles.items() if role.name == "spine"), key=self._depth, default=None)
        self.shares = {
            "spine": 0 if chest is None else sum(
                bone_roles.get(b, Role("")).name == "spine" for b in armature.above(chest)
            ),
            "neck": sum(role.name in ("neck", "head") for role in bone_roles.values()),
        }
        self.shares["head"] = self.shares["neck"]

    def _depth(self, bone: int) -> int:
        return len(self.armature.above(bone))

    def direction(self, letters: str, side: str) -> np.ndarray:
        """The unit sum of directions by their letters; `side` is that of the limb, for O and I."""
        out = -self.left if side == roles.RIGHT else self.left
        directions = {
            "L": self.left,
            "U": self.up,
            "F": self.forward,
            "O": out,
            "D": -self.up,
            "B": -self.forward,
            "I": -out,
        }
        return unit(sum((directions[letter] for letter in letters), np.zeros(3)))

    def fit(self, bone: int, role: Role) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Limits of a bone, `lo` and `hi` of twist, swing X and swing Z, and its preferred bend, all in radians.

        None if the bone is a hinge and neither its X nor its Z axis is near the axis of the hinge.
        """
        joint, share = RANGES[role.name], 1.0 / max(self.shares.get(role.name, 1), 1)
        rest = self.armature.rest[bone, :3, :3]
        axis, bent = self._bend(bone, joint, role)
        along = rest[:, 1]
        ranges = np.radians([
            self._range(along, motion, role.side) for motion in (joint.bend, joint.across)
        ])  # fmt: skip
        ranges *= share
        if joint.hinge:
            ranges[0] += (-bent, bent)
        across = unit(np.cross(axis, along))
        if across @ np.cross(along, self.direction(joint.across.toward, role.side)) < 0.0:
            across = -across
        local = np.array([rest[:, (0, 2)].T @ axis, rest[:, (0, 2)].T @ across])  # axes of both bends in X and Z
        aligned, off = _aligned(local)
        if joint.hinge and off > ALIGNED:
            return None
        if off <= ALIGNED:
            local = aligned
        swing = _radii(local, np.maximum(ranges, 0.0))
        twist = np.radians(self._twist(along, joint.twist, role.side)) * share
        lo, hi = 0.0 - np.array([twist[1], *swing[:, 1]]), np.array([twist[0], *swing[:, 0]])
        preferred = np.zeros(3)
        if joint.hinge and 0.0 <= bent < BEND:
            preferred[[0, 2]] = (BEND - bent) * local[0]
        return np.maximum(lo, -np.pi), np.minimum(hi, np.pi), preferred

    def _bend(self, bone: int, joint: Range, role: Role) -> tuple[np.ndarray, float]:
        """The unit axis of a bone's main bend, and for a hinge its angle at rest."""
        along = self.armature.rest[bone, :3, 1]
        axis = np.cross(along, self.direction(joint.bend.toward, role.side))
        above = int(self.armature.parent[bone])
        if joint.hinge and above >= 0:
            upper = self.armature.rest[above, :3, 1]
            normal = np.cross(upper, along)
            bent = float(np.arctan2(np.linalg.norm(normal), upper @ along))
            if np.linalg.norm(axis) < _DEGENERATE:
                return unit(normal), bent
            if bent >= _BENT and abs(unit(normal) @ unit(axis)) > 0.5:
                sign = 1.0 if normal @ axis > 0.0 else -1.0
                return sign * unit(normal), sign * bent
        if np.linalg.norm(axis) < _DEGENERATE:
            axis = np.cross(along, self.forward if abs(along @ self.forward) < 0.9 else self.up)
        return unit(axis), 0.0

    def _range(self, along: np.ndarray, motion: Motion, side: str) -> tuple[float, float]:
        """The range in degrees from the rest pose, toward the direction and away from it."""
        if not motion.neutral:
            return motion.most, motion.least
        toward, neutral = (self.direction(letters, side) for letters in (motion.toward, motion.neutral))
        toward = unit(toward - neutral * (toward @ neutral))
        there = float(np.degrees(np.arctan2(along @ toward, along @ neutral)))
        return motion.most - there, motion.least + there

    def _twist(self, along: np.ndarray, twist: Twist, side: str) -> tuple[float, float]:
        """The range of twist in degrees, in the positive and the negative direction."""
        turned = np.cross(along, self.direction(twist.side, side))
        positive = turned @ self.direction(twist.toward, side) >= 0.0
        return (twist.most, twist.least) if positive else (twist.least, twist.most)


def _aligned(local: np.ndarray) -> tuple[np.ndarray, float]:
    """The axes (2, 2) of two bends rounded to the bone's X and Z, and the angle between the first and its rounding."""
    nearest = int(np.abs(local[0]).argmax())
    rounded = np.zeros((2, 2))
    rounded[0, nearest] = np.copysign(1.0, local[0, nearest])
    rounded[1, 1 - nearest] = np.copysign(1.0, local[1, 1 - nearest])
    return rounded, float(np.arccos(np.clip(abs(local[0, nearest]) / np.linalg.norm(local[0]), 0.0, 1.0)))


def _radii(local: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """The radii (2, 2) of an ellipse of swing along a bone's X and Z axes, in positive and negative direction.

    local : axes (2, 2) of the two bends in X and Z. ranges : (2, 2) of each [rad], positive and negative.
    """
    radii = np.empty((2, 2))
    for axis in range(2):
        for way, sign in enumerate((1.0, -1.0)):
            parts = sign * local[:, axis]
            reach = np.where(parts >= 0.0, ranges[:, 0], ranges[:, 1])
            used = np.abs(parts) > 1e-6
            blocked = (used & (reach <= 0.0)).any()
            radii[axis, way] = 0.0 if blocked else 1.0 / np.sqrt(((parts[used] / reach[used]) ** 2).sum())
    return radii
