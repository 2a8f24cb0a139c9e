# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms and legs in a hierarchy of bones: by the names along a path, or by the shape of the figure alone.

By names, each path from the root to an end is matched with the parts of a limb in their order, and the path with the
greatest weight is the limb. By shape, a limb is one of a pair of branches that mirror each other; its two longest
segments of nearly equal length are its upper and its lower bone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...solvers.algebra import quaternion
from .bone_names import BoneName
from .tree import Tree

PARTS = {"arm": ("collar", "arm", "forearm", "hand", "finger"), "leg": ("hip_joint", "thigh", "shin", "foot", "toes")}
_NEEDED = 1.0  # weight for a path that has the upper bone, the lower bone, or the end of the limb
_REACH = 0.15  # of the figure's size: shorter branches are no limbs
_ALIKE = 0.05  # of their length: branches that differ by less mirror each other
_BRANCHES = 0.3  # weight for a hand that branches into fingers
_SKIPPED = 0.2  # weight against each joint between those of the limb


@dataclass
class Limb:
    """A limb: its bones by part, and the path of bones that it was found on, downward."""

    bones: dict[str, int]
    path: list[int]


def by_names(tree: Tree, names: Sequence[BoneName], kind: str, side: str) -> Limb | None:
    """The limb of a kind and a side that names describe best; None if none has both an upper and a lower bone."""
    best: tuple[float, Limb] | None = None
    for end in range(len(names)):
        if tree.children[end] and any(names[child].side == side for child in tree.children[end]):
            continue  # only ends of paths
        path = [bone for bone in tree.paths[end] if names[bone].side == side]
        weight, bones = _matched(path, names, PARTS[kind])
        if {PARTS[kind][1], PARTS[kind][2]} <= bones.keys() and (best is None or weight > best[0]):
            best = weight, Limb(bones, tree.paths[end])
    return None if best is None else best[1]


def _matched(path: list[int], names: Sequence[BoneName], parts: Sequence[str]) -> tuple[float, dict[str, int]]:
    """The best assignment of parts, in their order, to bones of a path, and its weight."""
    states: list[tuple[float, dict[str, int]]] = [(0.0, {})] * (len(parts) + 1)  # with the first k parts passed
    for bone in path:
        new = list(states)
        for k, part in enumerate(parts):
            own = names[bone].parts.get(part, 0.0)
            if own <= 0.0:
                continue
            own += _NEEDED if own >= 1.0 and 1 <= k <= 3 else 0.0
            before = max(states[: k + 1], key=lambda state: state[0])
            if before[0] + own > new[k + 1][0] + 1e-9:
                new[k + 1] = before[0] + own, {**before[1], part: bone}
        states = new
    return max(states, key=lambda state: state[0])


def pairs(tree: Tree) -> list[tuple[int, int]]:
    """Pairs of branches with a common parent that mirror each other, those nearest to the root first."""
    found = []
    for children in tree.children:
        long = [child for child in children if tree.reach[child] > _REACH * tree.size]
        for k, a in enumerate(long):
            for b in long[k + 1 :]:
                one, other = tree.farthest(a), tree.farthest(b)
                same = len(one) == len(other) and abs(tree.reach[a] - tree.reach[b]) < _ALIKE * tree.reach[a]
                if same and tree.distance(one[-1], other[-1]) > 0.5 * _REACH * tree.size:
                    found.append((a, b))
    return sorted(found, key=lambda pair: (tree.depth(pair[0]), -tree.reach[pair[0]]))


def by_shape(tree: Tree, root: int, kind: str) -> Limb | None:
    """The limb that begins with a bone, by the lengths of its segments."""
    path, total = tree.farthest(root), tree.reach[root]
    branching = next((bone for bone in path[2:] if len(tree.children[bone]) > 1), None)
    best: tuple[float, dict[str, int]] | None = None
    for i in range(min(3, len(path))):
        for j in range(i + 1, len(path)):
            for k in range(j + 1, len(path)):
                upper, lower = tree.distance(path[i], path[j]), tree.distance(path[j], path[k])
                if min(upper, lower) <= 0.0:
                    continue
                weight = min(upper, lower) / max(upper, lower) * (upper + lower) / total
                weight += (_BRANCHES if path[k] == branching else 0.0) - _SKIPPED * (k - i - 2)
                if best is None or weight > best[0]:
                    best = weight, _parts(path, (i, j, k), PARTS[kind])
    return None if best is None else Limb(best[1], tree.paths[root][:-1] + path)


def _parts(path: list[int], triple: tuple[int, int, int], parts: Sequence[str]) -> dict[str, int]:
    """Bones by part, of a path whose upper, lower and end bones are at three places."""
    i, j, k = triple
    bones = {parts[1]: path[i], parts[2]: path[j], parts[3]: path[k]}
    if i > 0:
        bones[parts[0]] = path[0]
    if parts[4] == "toes" and k + 1 < len(path):
        bones[parts[4]] = path[k + 1]
    return bones


def left(tree: Tree, legs: tuple[Limb, Limb], top: int | None) -> np.ndarray:
    """The direction (3,) to the figure's left: the feet point forward, and the head is up.

    top : a bone at the top of the figure, if known. Figures whose feet say nothing face -Y, or +Z if they stand on Y.
    """
    heads = tree.heads
    hips, feet, ends = (
        0.5 * sum(heads[leg.bones.get(part, leg.path[-1])] for leg in legs) for part in ("thigh", "foot", "")
    )
    up = _unit(hips - feet if top is None else heads[top] - hips)
    forward = ends - feet
    forward = forward - up * (up @ forward)
    if np.linalg.norm(forward) < 0.02 * tree.size:
        forward = np.array([0.0, -1.0, 0.0]) if abs(up[1]) < 0.7 else np.array([0.0, 0.0, 1.0])
    return quaternion.cross(up, forward)


def _unit(vector: np.ndarray) -> np.ndarray:
    length = math.sqrt(vector @ vector)
    return vector / length if length > 1e-12 else np.zeros(3)
