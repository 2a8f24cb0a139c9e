# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature at rest, as arrays."""

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from math import isfinite

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.rest import Tree
from . import bulk, generated_rigs, leaders

_LONGEST = 2.0  # times the longest way between two joints: a bone that is longer has been given a length by an importer
_SHORT = 1e-4  # of the longest bone: heads that are nearer to each other are in one place


def matrices(bones: bpy.types.bpy_prop_collection, name: str) -> np.ndarray:
    """4 x 4 matrices (N, 4, 4) of bones, read by one call."""
    return bulk.read(bones, name, 16).reshape(-1, 4, 4).swapaxes(1, 2).astype(float)


def is_finite(matrix: Matrix) -> bool:
    """Whether a matrix holds numbers only."""
    x, y, z = matrix.translation
    return isfinite(x + y + z + matrix.determinant())


class Armature:
    """The bones of an armature object at rest, in the order of its pose bones and in armature space.

    Attributes
    ----------
    index : {name: number}. parent : (N,) numbers, -1 for none. rest : (N, 4, 4). length : (N,).
    heads, tails : (N, 3). size : the largest extent of the armature, without tails that importers have put far away.

    In a generated rig (`generated_rigs`), goals move FK controls. `names` say what these are, None for other bones, and
    a bone whose constraints make it follow one other bone as a child would is the child of that one. follows, placed :
    (N,) bool, such bones, and those that do so with their place, but not with their rotation. controls : (N,) bool, the
    bones that goals may move: in other rigs all.
    """

    def __init__(self, ob: bpy.types.Object) -> None:
        bones = [bone.bone for bone in ob.pose.bones]
        self.index = {bone.name: number for number, bone in enumerate(bones)}
        parents = [-1 if bone.parent is None else self.index[bone.parent.name] for bone in bones]
        # bones added later have different positions in the pose and in the armature
        order = [ob.data.bones.find(bone.name) for bone in bones]
        self.rest = matrices(ob.data.bones, "matrix_local")[order]
        self.kind = generated_rigs.kind_of(self.index.keys())
        self.names = [name if self.kind is None else self.kind.name(name) for name in self.index]
        self.controls = np.array([name is not None for name in self.names], dtype=bool)
        self.follows, self.placed = np.zeros((2, len(bones)), dtype=bool)
        if self.kind is not None:
            self._follow(ob, parents)
        self.parent = np.array(parents, dtype=np.intp)
        self.length = np.array([bone.length for bone in bones])
        self.heads = self.rest[:, :3, 3]
        self.tails = self.heads + self.rest[:, :3, 1] * self.length[:, None]
        ends = np.concatenate([self.heads, self._near_tails(), np.zeros((0 if bones else 1, 3))])
        self.size = max(float(np.ptp(ends, axis=0).max()), 1e-6)

    def _near_tails(self) -> np.ndarray:
        """The tails (N, 3) of bones that are no longer than all but ends of limbs may be."""
        inner = np.flatnonzero(self.parent >= 0)
        ways = np.linalg.norm(self.heads[inner] - self.heads[self.parent[inner]], axis=-1)
        longest = float(ways.max(initial=0.0))
        if longest < _SHORT * float(self.length.max(initial=0.0)):  # all bones begin in one place, but for rounding
            return self.tails
        return self.tails[self.length <= _LONGEST * longest]

    @cached_property
    def tree(self) -> Tree:
        """The hierarchy of the bones."""
        return Tree(self.parent.tolist(), self.heads)

    @cached_property
    def control_tree(self) -> Tree:
        """The hierarchy of the bones that goals may move; of a generated rig, without the bones between them."""
        if self.kind is None:
            return self.tree
        parents = np.full(len(self.parent), -1)
        for bone in np.flatnonzero(self.controls).tolist():
            parents[bone] = next((one for one in self.above(bone)[1:] if self.controls[one]), -1)
        return Tree(parents.tolist(), self.heads)

    def hung(self, parents: Mapping[int, int]) -> "Armature":
        """The same bones, of which some hang on other ones than in the armature."""
        other = self._copied()
        other.parent = self.parent.copy()
        other.parent[list(parents)] = list(parents.values())
        return other

    def resting(self, rest: np.ndarray) -> "Armature":
        """The same bones at rest in another pose: (N, 4, 4), without scale."""
        other = self._copied()
        other.rest, other.heads = rest, rest[:, :3, 3]
        other.tails = other.heads + rest[:, :3, 1] * self.length[:, None]
        return other

    def _copied(self) -> "Armature":
        """A copy whose hierarchy is read again."""
        other = copy(self)
        for name in ("tree", "control_tree"):
            other.__dict__.pop(name, None)
        return other

    def _follow(self, ob: bpy.types.Object, parents: list[int]) -> None:
        """Put the bones that other bones follow into their `parents`."""
        for number in np.flatnonzero(~self.controls).tolist():
            bone = ob.pose.bones[number]
            led = leaders.of(bone, self.index, self.rest) if bone.constraints else None
            if led is None or (not led.turns and any(self.controls[self.index[a.name]] for a in bone.parent_recursive)):
                continue
            above = led.number
            while above not in (-1, number):
                above = parents[above]
            if above < 0:  # a bone does not follow its own children
                parents[number] = led.number
                (self.follows if led.turns else self.placed)[number] = True

    def above(self, bone: int) -> list[int]:
        """A bone and all its ancestors, from the bone upward."""
        return self.tree.paths[bone][::-1]
