# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms and legs in a hierarchy of bones by the shape of the figure alone.

A limb is one of a pair of branches that mirror each other; its two longest segments of nearly equal length are its
upper and its lower bone.
"""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise, product
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from .directions import SMALL, unit
from .tree import Tree

LIMBS = {"arm": ("collar", "arm", "forearm", "hand", "finger"), "leg": ("hip_joint", "thigh", "shin", "foot", "toes")}
"""The parts of limbs, downward."""

_REACH = 0.15  # of the figure's size: shorter branches are no limbs
_FARTHER = 0.3  # weight against limbs of unknown names for each bone by which they are further from the root
_LENGTH = 0.3  # ... by how their length differs from a usual one, as a logarithm: wings and long hair are longer
_ARM = 0.8  # usual length of an arm against that of a leg
_APART = 0.05  # of their length: branches that end nearer than this are one limb twice
_ALIKE = 0.05  # of their length: segments that differ by less have the same length
_STRAIGHT = 0.01  # radians by which a joint is bent that lies on a straight line
_BRANCHES = 0.3  # weight for a hand that branches into fingers
_MOST = 20  # joints from the first one of a path to the end of a limb
_AS_MANY = 0.05  # weight for an arm with as many joints as a leg
_SKIPPED = 0.35  # weight against each joint between those of the limb
_PASSED = 0.02  # ... that lies on the straight line between its neighbours
_TWO = 0.5  # weight of a limb of two bones


@dataclass(frozen=True)
class LimbBones:
    """A limb: its bones by part, and the path of bones that it was found on, downward."""

    bones: dict[str, int]
    path: list[int]


class Pair(NamedTuple):
    """Two branches below one bone that mirror each other: their bones downward as far as they do, and their length."""

    one: list[int]
    other: list[int]
    length: float


def pairs(tree: Tree) -> list[Pair]:
    """The branches that are long enough for limbs and mirror each other, those nearest to the root first.

    Branches mirror each other if their segments have the same lengths, so a pose at rest need not be symmetrical, and a
    hand may hold something.
    """
    found = list[Pair]()
    for parent, children in enumerate(tree.children):
        long = [child for child in children if tree.reach[child] > _REACH * tree.size]
        for a, b in combinations(long, 2):
            if _same_length(tree, tree.distance(parent, a), tree.distance(parent, b)):
                length, one, other = _mirrored(tree, a, b)
                if length > _REACH * tree.size and tree.distance(one[-1], other[-1]) > _APART * length:
                    found.append(Pair(one, other, length))
    return sorted(found, key=lambda pair: (tree.depth(pair.one[0]), -pair.length))


def chosen(
    tree: Tree, candidates: list[Pair], missing: list[str], girdle: Container[int] = (), short: bool = False
) -> dict[str, tuple[LimbBones, LimbBones]]:  # fmt: skip
    """The pairs of branches that are the missing limbs: legs are the nearest to the root, arms the most like limbs.

    A single pair is not enough to tell limbs from fins, if none has a name. girdle : bones that are above limbs, as
    their names say. short : limbs may end at their lower bone.
    """
    found: dict[str, tuple[LimbBones, LimbBones]] = {}
    legs: Pair | None = None
    shapes: dict[tuple[int, ...], tuple[float, LimbBones] | None] = {}
    for kind in sorted(missing, reverse=True):
        best: tuple[float, Pair, tuple[LimbBones, LimbBones]] | None = None
        for pair in candidates if legs is None else _arms(tree, candidates, legs):
            joints = 0 if legs is None else len(legs.one)
            for path in pair[:2]:
                if (*path, joints) not in shapes:
                    shapes[*path, joints] = by_shape(tree, path, kind, joints, girdle, short)
            one, other = (shapes[*path, joints] for path in pair[:2])
            if one is None or other is None:
                continue
            weight = one[0]
            long = pair.length / (candidates[0].length if legs is None else _ARM * legs.length)
            farther = tree.depth(pair.one[0]) - tree.depth(candidates[0].one[0])
            weight -= (_FARTHER if kind == "arm" else 1.0) * farther + _LENGTH * abs(np.log(long))
            if best is None or weight > best[0]:
                best = weight, pair, (one[1], other[1])
        if best is not None:
            found[kind], legs = best[2], best[1]
    return found if len(found) == len(missing) else {}


def left_by_shape(tree: Tree, legs: Sequence[LimbBones], top: int | None) -> np.ndarray:
    """The direction (3,) to the figure's left: feet or knees point forward, and the head is up.

    top : a bone at the top of the figure, if known. Figures whose legs say nothing face -Y, or +Z if they stand on Y.
    """
    heads = tree.heads
    parts = ([heads[leg.bones.get(part, leg.path[-1])] for leg in legs] for part in ("thigh", "foot", ""))
    hips, feet, ends = (0.5 * np.sum(places, axis=0) for places in parts)
    up = unit(hips - feet if top is None else heads[top] - hips)
    forward = ends - feet
    forward = forward - up * (up @ forward)
    if np.linalg.norm(forward) < 0.05 * tree.size:
        knees = 0.5 * np.sum([heads[leg.bones["shin"]] for leg in legs], axis=0)
        line = unit(feet - hips)
        forward = (knees - hips) - line * (line @ (knees - hips))
    if np.linalg.norm(forward) < 0.005 * tree.size:
        forward = np.array([0.0, -1.0, 0.0]) if abs(up[1]) < 0.7 else np.array([0.0, 0.0, 1.0])
    return quaternion.cross(up, forward)


def _arms(tree: Tree, candidates: list[Pair], legs: Pair) -> list[Pair]:
    """The pairs that may be arms: further from the root than legs, and not below them."""
    lowest = tree.depth(legs.one[0])
    return [pair for pair in candidates if tree.depth(pair.one[0]) > lowest
            and not any(tree.is_above(leg[0], pair.one[0]) for leg in legs[:2])]  # fmt: skip


def _mirrored(tree: Tree, a: int, b: int) -> tuple[float, list[int], list[int]]:
    """The length and the bones of the longest paths below two bones whose segments have the same lengths."""
    path = [(a, b, product(tree.children[a], tree.children[b]), 0.0)]  # pairs of bones, and their segments' lengths
    best: list[tuple[float, list[int], list[int]]] = [(0.0, [], [])]  # below each pair of the path
    while True:
        a, b, below, segment = path[-1]
        for x, y in below:
            length = tree.distance(a, x)
            may_be_longer = length + min(tree.reach[x], tree.reach[y]) * (1.0 + 2.0 * _ALIKE) > best[-1][0]
            if may_be_longer and _same_length(tree, length, tree.distance(b, y)):
                path.append((x, y, product(tree.children[x], tree.children[y]), length))
                best.append((0.0, [], []))
                break
        else:
            longest, one, other = best.pop()
            path.pop()
            if not path:
                return longest, [a, *one], [b, *other]
            if segment + longest > best[-1][0]:
                best[-1] = segment + longest, [a, *one], [b, *other]


def _same_length(tree: Tree, one: float, other: float) -> bool:
    return abs(one - other) < _ALIKE * max(one, other) + SMALL * tree.size


def by_shape(
    tree: Tree, path: list[int], kind: str, joints: int = 0, girdle: Container[int] = (), short: bool = False
) -> tuple[float, LimbBones] | None:  # fmt: skip
    """The limb on a path of bones by the lengths of its segments, and how much it is like one; None for short paths.

    Bones that only twist lie on the straight line between their neighbours, and may be passed over. joints : the number
    of a leg's, or 0; the front legs of animals have as many below their shoulder blades. girdle : bones that are above
    the limb. short : whether two bones do.
    """
    if short and len(path) == 2:
        return _TWO, LimbBones(dict(zip(LIMBS[kind][1:3], path, strict=True)), tree.paths[path[0]][:-1] + path)
    total = sum(tree.distance(a, b) for a, b in pairwise(path))
    turns = {k for k in range(1, len(path) - 1) if not _is_straight(tree, *path[k - 1 : k + 2])}
    branching = next((k for k in range(2, len(path)) if kind == "arm" and _branches(tree, path, k)), None)
    costs = [_SKIPPED if k in turns else _PASSED for k in range(len(path))]
    passed = [0.0, *accumulate(costs)]
    best: tuple[float, dict[str, int]] | None = None
    for i, j, k in combinations(range(min(len(path), _MOST)), 3):
        if i > 2:
            break
        if path[i] in girdle:
            continue
        upper, lower = tree.distance(path[i], path[j]), tree.distance(path[j], path[k])
        if min(upper, lower) <= SMALL * tree.size:
            continue
        weight = min(upper, lower) / max(upper, lower) * (upper + lower) / total
        weight += _BRANCHES if k == branching else 0.0
        weight -= passed[k] - passed[i + 1] - costs[j]
        weight += _AS_MANY if len(path) - i == joints else 0.0
        if kind == "leg":  # a bone between hips and thigh is short, a collar bone need not be
            weight -= sum(tree.distance(a, b) for a, b in pairwise(path[: i + 1])) / total
        if best is None or weight > best[0]:
            best = weight, _parts(path, (i, j, k), LIMBS[kind])
    return None if best is None else (best[0], LimbBones(best[1], tree.paths[path[0]][:-1] + path))


def _is_straight(tree: Tree, a: int, b: int, c: int) -> bool:
    """Whether a joint lies on the straight line between two others."""
    first, second = tree.heads[b] - tree.heads[a], tree.heads[c] - tree.heads[b]
    return math.sqrt(((unit(first) - unit(second)) ** 2).sum()) < _STRAIGHT or not first.any() or not second.any()


def _branches(tree: Tree, path: list[int], k: int) -> bool:
    """Whether a bone of a path has fingers: children off the line to the next bone, not at its own joint."""
    others = [child for child in tree.children[path[k]] if child not in path]
    if k + 1 == len(path):
        return len(others) > 1
    return any(
        tree.distance(path[k], child) > SMALL * tree.size
        and not _is_straight(tree, path[k], child, path[k + 1]) for child in others
    )  # fmt: skip


def _parts(path: list[int], triple: tuple[int, int, int], parts: Sequence[str]) -> dict[str, int]:
    """Bones by part, of a path whose upper, lower and end bones are at three places."""
    i, j, k = triple
    bones = {parts[1]: path[i], parts[2]: path[j], parts[3]: path[k]}
    if i > 0:
        bones[parts[0]] = path[0]
    if parts[4] == "toes" and k + 1 < len(path):
        bones[parts[4]] = path[k + 1]
    return bones
