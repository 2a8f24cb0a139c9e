# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature at rest, as arrays."""

from functools import cached_property
from math import isfinite

import bpy
import numpy as np
from mathutils import Matrix

from . import bulk
from .tree import Tree


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
    heads, tails : (N, 3). size : the largest extent of the armature.
    """

    def __init__(self, ob: bpy.types.Object) -> None:
        bones = [bone.bone for bone in ob.pose.bones]
        self.index = {bone.name: number for number, bone in enumerate(bones)}
        parents = [-1 if bone.parent is None else self.index[bone.parent.name] for bone in bones]
        self.parent = np.array(parents, dtype=np.intp)
        # bones added later have different positions in the pose and in the armature
        order = [ob.data.bones.find(bone.name) for bone in bones]
        self.rest = matrices(ob.data.bones, "matrix_local")[order]
        self.length = np.array([bone.length for bone in bones])
        self.heads = self.rest[:, :3, 3]
        self.tails = self.heads + self.rest[:, :3, 1] * self.length[:, None]
        ends = np.concatenate([self.heads, self.tails, np.zeros((0 if bones else 1, 3))])
        self.size = max(float(np.ptp(ends, axis=0).max()), 1e-6)

    @cached_property
    def tree(self) -> Tree:
        """The hierarchy of the bones."""
        return Tree(self.parent.tolist(), self.heads)

    def above(self, bone: int) -> list[int]:
        """A bone and all its ancestors, from the bone upward."""
        return self.tree.paths[bone][::-1]
