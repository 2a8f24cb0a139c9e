# SPDX-License-Identifier: GPL-3.0-or-later
"""The left, up and forward of a figure, its mirror plane, and the lines of its limbs.

How they are found depends on what is known: the roles of all bones, those of the limbs, or the shape alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..algebra import quaternion
from .tree import Tree

LEFT, RIGHT = "L", "R"
Key = tuple[str, str]
"""A role: the name of a part of the body, and its side, empty for those of the trunk."""

SMALL = 1e-3  # of the figure's size: joints nearer than this are in one place


def unit(vector: np.ndarray) -> np.ndarray:
    """A vector (3,) of length 1; zero if it has none."""
    length = math.sqrt(vector @ vector)
    return vector / length if length > 1e-12 else np.zeros(3)


def nearest_axis(direction: np.ndarray) -> np.ndarray:
    """The axis (3,) of the armature that is nearest to a direction."""
    number = int(np.abs(direction).argmax())
    return np.eye(3)[number] * np.sign(direction[number])


def of_roles(
    heads: np.ndarray, size: float, bone: Callable[..., int | None], chest: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left, up and forward: from pairs of limbs, and from the hips, or else the knees, to the head.

    bone : gives the first bone of a role, by name and side. chest : where there is neither head nor neck.
    """
    pairs = [(bone(name, LEFT), bone(name, RIGHT))
             for name in ("thigh", "arm", "shin", "hip_joint", "collar")]  # fmt: skip
    across = [heads[a] - heads[b] for a, b in pairs if a is not None and b is not None]
    left = next((unit(line) for line in across if np.linalg.norm(line) > SMALL * size),
                np.array([1.0, 0, 0]))  # fmt: skip
    low, high = trunk_ends(bone, chest)
    up = np.array([0.0, 0, 1]) if low is None or high is None else heads[high] - heads[low]
    if np.linalg.norm(quaternion.cross(left, up)) < SMALL * size:
        up = np.array([0.0, 0, 1])
    forward = unit(quaternion.cross(left, up))
    return left, quaternion.cross(forward, left), forward


def trunk_ends(bone: Callable[..., int | None], chest: int | None) -> tuple[int | None, int | None]:
    """The bones at the lower and the upper end of the trunk, as for `of_roles`; None for one that is not known."""
    low = next((b for b in (bone("hips"), bone("shin", LEFT)) if b is not None), None)
    return low, next((b for b in map(bone, ("head", "neck")) if b is not None), chest)


def of_limbs(tree: Tree, roles: Mapping[int, Key]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The unit directions to the figure's left and along its trunk, as far as limbs on both sides tell them.

    roles : by bone, here and below.
    """
    bones = {role: bone for bone, role in roles.items()}
    lines = (line(tree, roles, (name, RIGHT), (name, LEFT)) for name in ("arm", "thigh"))
    left = next((line for line in lines if line is not None), None)
    roots = [(name, side) for name in ("arm", "thigh") for side in (LEFT, RIGHT)]
    if not bones.keys() >= set(roots):
        return left, None
    one, other, third, fourth = (tree.heads[bones[role]] for role in roots)
    on = one + other - third - fourth
    return left, on / max(np.linalg.norm(on), 1e-9)


def line(tree: Tree, roles: Mapping[int, Key], first: Key, *ends: Key) -> np.ndarray | None:
    """The unit direction between two roles' heads, to the first of `ends` that is there."""
    bones = {role: bone for bone, role in roles.items()}
    end = next((bones[role] for role in ends if role in bones), None)
    if first not in bones or end is None:
        return None
    line = tree.heads[end] - tree.heads[bones[first]]
    length = np.linalg.norm(line)
    return line / length if length > SMALL * tree.size else None


def mean_line(tree: Tree, roles: Mapping[int, Key], upper: str, ends: Sequence[str]) -> np.ndarray | None:
    """The mean unit direction of both limbs of a kind."""
    both = [line(tree, roles, (upper, side), *((end, side) for end in ends)) for side in (LEFT, RIGHT)]
    lines = [line for line in both if line is not None]
    total = np.sum(lines, axis=0) if lines else np.zeros(3)
    return total / np.linalg.norm(total) if np.linalg.norm(total) > 1e-6 else None


def across(lines: Sequence[np.ndarray]) -> np.ndarray:
    """The mean unit direction (3,) of lines from right to left, the normal of the mirror plane; X if they have none."""
    total = np.sum(lines, axis=0) if lines else np.zeros(3)
    return total / np.linalg.norm(total) if np.linalg.norm(total) > 1e-9 else np.array([1.0, 0.0, 0.0])


def reflection(normal: np.ndarray) -> np.ndarray:
    """(3, 3) the reflection in the plane through the origin with a unit normal."""
    return np.eye(3) - 2.0 * np.outer(normal, normal)
