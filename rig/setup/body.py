# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure at rest: its left, up and forward, and the directions of its limbs from joint to joint. NumPy only."""

from functools import cached_property

import numpy as np

from ..blender.armature import Armature
from . import roles
from .roles import Role

_ALONG = np.cos(np.radians(30.0))  # bones nearer than this to their limbs lie along them
_SHORT = 1e-3  # of the figure's size: joints nearer than this are in one place
_SHARED = ("spine", "neck", "head", "collar")  # parts whose bones share one range
_NEXT = {"collar": "arm", "arm": "forearm", "forearm": "hand", "hip_joint": "thigh", "thigh": "shin", "shin": "foot",
         "foot": "toes"}  # fmt: skip
_STRAIGHT = {"forearm": "arm", "hand": "forearm", "shin": "thigh"}  # parts that continue the one above if in doubt


class Body:
    """The directions of a figure at rest, in armature space."""

    def __init__(self, armature: Armature, bone_roles: dict[int, Role]) -> None:
        self.armature, self.roles = armature, bone_roles
        self._by_role: dict[Role, int] = {}
        for bone in sorted(bone_roles, key=lambda bone: len(armature.above(bone))):
            self._by_role.setdefault(bone_roles[bone], bone)
        self.left, self.up, self.forward = self._directions()

    def bone(self, name: str, side: str = roles.MIDDLE) -> int | None:
        """The first bone of a role, from the root."""
        return self._by_role.get(Role(name, side))

    def share(self, role: Role) -> float:
        """The share of a range for each of the bones that have it in common."""
        if role.name not in _SHARED:
            return 1.0
        names = ("neck", "head") if role.name in ("neck", "head") else (role.name,)
        return 1.0 / sum(other.name in names and other.side == role.side for other in self.roles.values())

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

    def along(self, bone: int) -> np.ndarray | None:
        """The unit direction of a bone's limb, from its joint to the next one; None if that is not known.

        At the ends of limbs it leads to the furthest joint below, or along the bone if bones lie along their limbs.
        """
        role, heads = self.roles[bone], self.armature.heads
        for following in self._following(bone, role):
            line = heads[following] - heads[bone]
            if np.linalg.norm(line) > _SHORT * self.armature.size:
                return unit(line)
        if self._bones_lie_along:
            return self.armature.rest[bone, :3, 1].copy()
        if role.name in ("spine", "neck", "head"):
            return self.up
        if role.name == "foot":
            return self.direction("FFD", role.side)
        if role.name == "toes":
            return self.forward
        above = self.bone(_STRAIGHT.get(role.name, ""), role.side)
        return None if above is None else self.along(above)

    def _following(self, bone: int, role: Role) -> list[int]:
        """The joints that a bone's limb may lead to, the best first."""
        below = [b for b in range(len(self.armature.parent)) if bone in self.armature.above(b)[1:]]
        if role.name in ("spine", "neck", "hips"):
            trunk = [b for b in below if b in self.roles and self.roles[b].name in ("spine", "neck", "head")]
            return sorted(trunk, key=lambda b: len(self.armature.above(b)))
        if role.name == "twist":
            limb = [b for b in below if b in self.roles and self.roles[b].name not in ("twist", "finger")]
            return sorted(limb, key=lambda b: len(self.armature.above(b)))
        if role.name == "head":
            return []
        following = self.bone(_NEXT.get(role.name, ""), role.side)
        if following in below:
            return [following]
        if role.name == "hand":  # the furthest fingertip
            below = [b for b in below if self.roles.get(b, Role("")).name == "finger"] or below
        away = np.linalg.norm(self.armature.heads[below] - self.armature.heads[bone], axis=-1)
        return [below[int(away.argmax())]] if below and role.name in ("hand", "foot", "toes") else []

    @cached_property
    def _bones_lie_along(self) -> bool:
        """Whether most bones of the limbs point from joint to joint."""
        votes = []
        for name in ("arm", "forearm", "thigh", "shin"):
            for side in (roles.LEFT, roles.RIGHT):
                upper, lower = self.bone(name, side), self.bone(_NEXT[name], side)
                if upper is not None and lower is not None:
                    line = self.armature.heads[lower] - self.armature.heads[upper]
                    votes.append(float(self.armature.rest[upper, :3, 1] @ unit(line)) > _ALONG)
        return sum(votes) * 2 > len(votes) if votes else True

    def _directions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Left, up and forward: from pairs of limbs, and from the hips, or else the knees, to the head."""
        heads = self.armature.heads
        pairs = [(self.bone(name, roles.LEFT), self.bone(name, roles.RIGHT))
                 for name in ("thigh", "arm", "shin", "hip_joint", "collar")]  # fmt: skip
        across = [heads[a] - heads[b] for a, b in pairs if a is not None and b is not None]
        left = next((unit(line) for line in across if np.linalg.norm(line) > _SHORT * self.armature.size),
                    np.array([1.0, 0, 0]))  # fmt: skip
        low = next((b for b in (self.bone("hips"), self.bone("shin", roles.LEFT)) if b is not None), None)
        high = next((b for b in map(self.bone, ("head", "neck")) if b is not None), self._chest())
        up = np.array([0.0, 0, 1]) if low is None or high is None else heads[high] - heads[low]
        if np.linalg.norm(np.cross(left, up)) < _SHORT * self.armature.size:
            up = np.array([0.0, 0, 1])
        forward = unit(np.cross(left, up))
        return left, np.cross(forward, left), forward

    def _chest(self) -> int | None:
        spine = [b for b, role in self.roles.items() if role.name == "spine"]
        return max(spine, key=lambda bone: len(self.armature.above(bone)), default=None)


def unit(vector: np.ndarray) -> np.ndarray:
    """A vector (3,) of length 1; zero if it has none."""
    length = np.linalg.norm(vector)
    return vector / length if length > 1e-12 else np.zeros(3)
