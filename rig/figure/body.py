# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure at rest: its left, up and forward, and the directions of its limbs from joint to joint. NumPy only."""

from functools import cached_property

import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.rest import SMALL, directions, unit
from ..blender.armature import Armature
from .parts import LEFT, MIDDLE, OTHER, PARTS, RIGHT, Role
from .roles import Figure

NEUTRAL = {"arm": "O", "thigh": "D", "foot": "FFD"}
"""Directions that the ranges of parts are about, on figures whose limbs are far from them at rest."""
_HINGES = {"forearm": ("arm", "F"), "shin": ("thigh", "B")}  # the bones above them, and the directions they bend toward
_FAR = np.radians(50.0)  # limbs further than this from their neutral direction are far from it
_BENT = np.radians(4.0)  # a limb bent by less at rest counts as straight
_POSED = np.radians(45.0)  # a limb bent by more is posed, as a raised hand: its upper bone may turn the bend anywhere
_CLEARLY_BENT = np.radians(20.0)  # from here on the axis of the bend counts alone, below it in part
_DEGENERATE = 0.3  # sine of the angle to a direction below which a bone cannot bend toward it
_ALONG = np.cos(np.radians(30.0))  # bones nearer than this to their limbs lie along them
_NEAR = 1.5  # times the length of the bone above: last bones of limbs are no longer
_TO_HEAD = 0.87  # of a person's height: from the joints of the toes to that of the head
_ON = np.cos(np.radians(40.0))  # feet nearer than this to their shins point on along them


class RestBody:
    """The directions of a figure at rest, in armature space."""

    def __init__(self, armature: Armature, figure: Figure) -> None:
        self.armature, self.roles, self.human = armature, figure.roles, not figure.not_human
        self._joints = [bone for bone, role in {**figure.roles, **figure.loose}.items() if role.name != "finger"]
        self._by_role: dict[Role, int] = {}
        for bone in sorted(self.roles, key=lambda bone: len(armature.above(bone))):
            self._by_role.setdefault(self.roles[bone], bone)
        self.left, self.up, self.forward = directions.of_roles(armature.heads, armature.size, self.bone, self._chest())
        self.has_trunk = None not in directions.trunk_ends(self.bone, self._chest())  # else up and forward are a guess
        self._postures: dict[tuple[str, str], np.ndarray] = {}
        for name in NEUTRAL:
            for side in (LEFT, RIGHT):
                self._postures[name, side] = self._to_neutral(name, side)

    def bone(self, name: str, side: str = MIDDLE) -> int | None:
        """The first bone of a role, from the root."""
        return self._by_role.get(Role(name, side))

    @cached_property
    def height(self) -> float:
        """The height of a person with these joints; tails and what a figure wears say nothing about it."""
        return float(np.ptp(self.armature.heads[self._joints] @ self.up)) / _TO_HEAD if self._joints else 0.0

    def way(self, start: int, end: int) -> float:
        """The length of the line from joint to joint down to a bone; straight if this is not below the other."""
        path = self.armature.tree.paths[end]
        path = path[path.index(start) :] if start in path else [start, end]
        return float(np.linalg.norm(np.diff(self.armature.heads[path], axis=0), axis=-1).sum())

    def share(self, role: Role) -> float:
        """The share of a range for each of the bones that have it in common."""
        names = role.part.shares
        return 1.0 / max(sum(other.name in names and other.side == role.side for other in self.roles.values()), 1)

    def direction(self, letters: str, side: str) -> np.ndarray:
        """The unit sum of directions by their letters; `side` is that of the limb, for O and I."""
        out = -self.left if side == RIGHT else self.left
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

    def along(self, bone: int) -> np.ndarray | None:
        """The unit direction of a bone's limb, from its joint to the next one; None if that is not known.

        At the ends of limbs it leads to the furthest joint below, or along the bone if bones lie along their limbs.
        """
        role, heads = self.roles[bone], self.armature.heads
        for following in self._following(bone, role):
            line = heads[following] - heads[bone]
            if np.linalg.norm(line) > SMALL * self.armature.size:
                return unit(line)
        if self.bones_lie_along and not self._continues(bone, role) and self._are_near(bone, role):
            return self.armature.rest[bone, :3, 1].copy()
        if role.name in ("spine", "neck", "head"):
            return self.up
        if role.name == "foot":
            return self.direction("FFD", role.side)
        if role.name == "toes":
            return self.forward
        above = self.bone(role.part.continues, role.side)
        return None if above is None else self.along(above)

    def _continues(self, bone: int, role: Role) -> bool:
        """Whether a foot without toes points on along its shin, as the last bones of imported limbs do."""
        shin = self.bone("shin", role.side) if role.name == "foot" else None
        line = None if shin is None else self.along(shin)
        return line is not None and float(self.armature.rest[bone, :3, 1] @ line) > _ON

    def _are_near(self, bone: int, role: Role) -> bool:
        """Whether a bone and its mirrored one end near their heads: if one tail says nothing, the other is chance."""
        other = self.bone(role.name, OTHER[role.side]) if role.side and not role.part.several else None
        return self._is_near(bone) and (other is None or self._is_near(other))

    def _is_near(self, bone: int) -> bool:
        """Whether a bone ends near its head: importers put the tails of last bones anywhere, and far away."""
        above = int(self.armature.parent[bone])
        line = 0.0 if above < 0 else float(np.linalg.norm(self.armature.heads[bone] - self.armature.heads[above]))
        return line < SMALL * self.armature.size or float(self.armature.length[bone]) <= _NEAR * line

    def posture(self, role: Role) -> np.ndarray:
        """The rotation (3, 3) in armature space from rest to the posture in which its directions are those of people.

        It is none for figures that rest as people stand, with their arms anyhow between out and down.
        """
        return self._postures.get((role.part.posture or role.name, role.side), np.eye(3))

    def own_posture(self, role: Role) -> np.ndarray:
        """The rotation (3, 3) of a part alone, against the one above it, to that posture."""
        if role.name not in NEUTRAL:
            return np.eye(3)
        above = self._postures["thigh", role.side] if role.name == "foot" else np.eye(3)
        return above.T @ self.posture(role)

    def _to_neutral(self, name: str, side: str) -> np.ndarray:
        bone = self.bone(name, side)
        along = None if bone is None else self.along(bone)
        above = self._postures["thigh", side] if name == "foot" else np.eye(3)
        if along is None:
            return above
        along, neutral = above @ along, self.direction(NEUTRAL[name], side)
        if np.arccos(np.clip(along @ neutral, -1.0, 1.0)) <= _FAR:
            return above
        return quaternion.to_matrix(quaternion.between(along, neutral)) @ above

    def hinge(self, lower: int) -> tuple[np.ndarray, float]:
        """The unit axis of an elbow or a knee, in its posture, and the angle by which it is bent at rest.

        A limb that is clearly bent at rest has the axis of that bend, unless it is bent sideways and hardly posed. The
        less it is bent, the nearer its axis is to that of a straight limb: a joint out of place by a little turns the
        axis of a slight bend by a lot.
        """
        role = self.roles[lower]
        above, letter = _HINGES[role.name]
        turned, upper = self.posture(role), self.bone(above, role.side)
        along, toward = turned @ self.along(lower), self.direction(letter, role.side)
        axis = quaternion.cross(along, toward)
        clear = np.linalg.norm(axis) >= _DEGENERATE
        direction = None if upper is None else self.along(upper)
        if direction is not None:
            normal = quaternion.cross(turned @ direction, along)
            bent = float(np.arctan2(np.linalg.norm(normal), turned @ direction @ along))
            sideways = abs(unit(normal) @ unit(axis)) <= 0.5
            if bent >= _BENT and (not clear or (sideways and bent >= _POSED)):
                return unit(normal), bent
            if bent >= _BENT and not sideways:
                sign = 1.0 if normal @ axis > 0.0 else -1.0
                clear_bend = min((bent - _BENT) / (_CLEARLY_BENT - _BENT), 1.0)
                return unit(clear_bend * sign * unit(normal) + (1.0 - clear_bend) * unit(axis)), sign * bent
        if not clear:
            axis = quaternion.cross(along, self.direction("I" if role.name == "forearm" else "F", role.side))
        return unit(axis), 0.0

    def _following(self, bone: int, role: Role) -> list[int]:
        """The joints that a bone's limb may lead to, the best first."""
        below = sorted(self.armature.tree.below(bone))
        if role.name in ("spine", "neck", "hips"):
            trunk = [b for b in below if b in self.roles and self.roles[b].name in ("spine", "neck", "head")]
            return sorted(trunk, key=lambda b: len(self.armature.above(b)))
        if role.name == "twist":
            limb = [b for b in below if b in self.roles and self.roles[b].name not in ("twist", "finger")]
            return sorted(limb, key=lambda b: len(self.armature.above(b)))
        if role.name == "head":
            return []
        following = self.bone(role.part.following, role.side)
        if following in below:
            return [following]
        if role.name == "hand":  # the furthest fingertip
            below = [b for b in below if self.roles.get(b, Role("")).name == "finger"] or below
        away = np.linalg.norm(self.armature.heads[below] - self.armature.heads[bone], axis=-1)
        return [below[int(away.argmax())]] if below and role.name in ("hand", "foot", "toes") else []

    @cached_property
    def bones_lie_along(self) -> bool:
        """Whether most bones of the limbs point from joint to joint."""
        votes = []
        for name in ("arm", "forearm", "thigh", "shin"):
            for side in (LEFT, RIGHT):
                upper, lower = self.bone(name, side), self.bone(PARTS[name].following, side)
                if upper is not None and lower is not None:
                    line = self.armature.heads[lower] - self.armature.heads[upper]
                    votes.append(float(self.armature.rest[upper, :3, 1] @ unit(line)) > _ALONG)
        return sum(votes) * 2 > len(votes) if votes else True

    def _chest(self) -> int | None:
        spine = [b for b, role in self.roles.items() if role.name == "spine"]
        return max(spine, key=lambda bone: len(self.armature.above(bone)), default=None)
