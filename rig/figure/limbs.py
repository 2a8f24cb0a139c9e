# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms and legs in a hierarchy of bones by the names along a path.

Each path from the root to an end is matched with the parts of a limb in their order, and the path with the greatest
weight is the limb.
"""

from collections.abc import Sequence

from ...solvers.rest import LIMBS, SMALL, LimbBones
from .bone_names import NamedTree
from .parts import MIDDLE

_NEEDED = 1.0  # weight for a path that has the upper bone, the lower bone, or the end of the limb
_END = 0.5  # of the upper bone's length: the lower bone of a limb is at least as long


def by_names(tree: NamedTree, kind: str, side: str) -> LimbBones | None:
    """The limb of a kind and a side that names describe best; None if none has both an upper and a lower bone."""
    best: tuple[float, int, LimbBones] | None = None
    for end in range(len(tree.names)):
        if tree.children[end] and any(tree.names[child].side == side for child in tree.children[end]):
            continue  # only ends of paths
        path = [bone for bone in tree.paths[end] if tree.names[bone].side == side]
        weight, bones = _matched(tree, path, LIMBS[kind])
        if {LIMBS[kind][1], LIMBS[kind][2]} <= bones.keys() and (best is None or (weight, len(path)) > best[:2]):
            best = weight, len(path), LimbBones(bones, tree.paths[end])
    if best is None:
        return None
    _find_end(tree, best[2].bones, LIMBS[kind], side)
    if kind == "leg":
        find_toes(tree, best[2].bones, side)
    return best[2]


def _find_end(tree: NamedTree, bones: dict[str, int], parts: Sequence[str], side: str) -> None:
    """Add the hand or foot of a limb if its name says nothing: the bone below, or the one above fingers or toes."""
    _, upper, lower, end, last = parts
    if end in bones:
        return
    below = tree.paths[bones[last]][:-1] if last in bones else tree.children[bones[lower]]
    length = tree.distance(bones[upper], bones[lower])
    free = [
        bone for bone in below
        if bone != bones[lower] and tree.is_above(bones[lower], bone) and tree.names[bone].side in (side, MIDDLE)
        and not (tree.names[bone].helper or tree.names[bone].twist or tree.names[bone].parts.keys() - {upper, lower})
        and tree.distance(bones[lower], bone) > _END * length
    ]  # fmt: skip
    if free:
        bones[end] = max(free, key=lambda bone: tree.distance(bones[lower], bone))


def find_toes(tree: NamedTree, bones: dict[str, int], side: str) -> None:
    """Add the toes of a leg that are not found: by their names on the foot, or if these say nothing or digits."""
    foot, told = bones.get("foot"), {"thigh", "shin", "foot", "finger", "toes", "hand"}  # a forefoot is also a paw
    free = [
        bone for bone in ([] if foot is None or "toes" in bones else tree.children[foot])
        if tree.names[bone].side in (side, MIDDLE) and not tree.names[bone].helper
        and not tree.names[bone].parts.keys() - told and tree.distance(foot, bone) > SMALL * tree.size
    ]  # fmt: skip
    if free:
        bones["toes"] = max(free, key=lambda bone: tree.distance(foot, bone))


def _matched(tree: NamedTree, path: list[int], parts: Sequence[str]) -> tuple[float, dict[str, int]]:
    """The best assignment of parts, in their order, to bones of a path, and its weight."""
    states: list[tuple[float, dict[str, int]]] = [(0.0, {})] * (len(parts) + 1)  # with the first k parts passed
    for bone in path:
        new = list(states)
        for k, part in enumerate(parts):
            own = tree.names[bone].parts.get(part, 0.0)
            if own <= 0.0:
                continue
            own += _NEEDED if own >= 1.0 and 1 <= k <= 3 else 0.0
            before = max(states[: k + 1], key=lambda state: state[0])
            if before[0] + own > new[k + 1][0] + 1e-9:
                new[k + 1] = before[0] + own, {**before[1], part: bone}
        states = new
    return max(states, key=lambda state: state[0])
