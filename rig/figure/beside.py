# SPDX-License-Identifier: GPL-3.0-or-later
"""What a figure has beside the bones of its roles: loose feet and hands, further limbs, and IK bones of games."""

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...solvers.rest import LIMBS, Tree, branches
from . import bone_names, limbs
from .bone_names import BoneName, NamedTree
from .parts import LEFT, OTHER, RIGHT, TRUNK, Role

_NEAR, _FAR = 0.3, 3.0  # of the upper bone's length: how far a loose foot is from its knee
_LONG, _NAMED = 0.2, 0.1  # of the figure's size: shorter branches are no further limbs, nor those named for two sides
_SAME = 0.01  # of the figure's size: an IK bone rests in the place of the bone that it stands for


class FurtherLimb(NamedTuple):
    """A limb beside two arms and two legs, as a wing or a spider's third leg: its side, and its bones downward."""

    side: str
    bones: list[int]


def loose_ends(tree: NamedTree, roles: Mapping[int, Role], usable: Container[int]) -> dict[int, Role]:
    """Feet and hands that do not hang on their limbs, and their roles: exporters bake IK feet so. Toes go with them.

    It is a bone of a foot's role that is not below its shin. If a limb has no end, it is one with such a name, or with
    that of an IK control or another bone of the limb, which is about as far from the knee as the hip is. usable : bones
    that may be.
    """
    bones = {role: bone for bone, role in roles.items()}
    found = dict[int, Role]()
    for kind, (_, upper, lower, end, _) in LIMBS.items():
        for side in (LEFT, RIGHT):
            limb = [bones.get(Role(part, side)) for part in (upper, lower)]
            own, role = bones.get(Role(end, side)), Role(end, side)
            if own is None and None not in limb:
                own = _loose_end(tree, roles, limb, kind, side, usable)
                if own is not None:
                    found[own] = role
            elif own is not None and limb[1] is not None and not tree.is_above(limb[1], own):
                found[own] = role
    for foot, role in [(bone, role) for bone, role in found.items() if role.name == "foot"]:
        parts = {"foot": foot} | {name.name: bone for name, bone in bones.items() if name == Role("toes", role.side)}
        limbs.find_toes(tree, parts, role.side)
        if "toes" in parts and parts["toes"] not in roles:
            found[parts["toes"]] = Role("toes", role.side)
    return found


def _loose_end(
    tree: NamedTree, roles: Mapping[int, Role], limb: Sequence[int], kind: str, side: str,
    usable: Container[int],
) -> int | None:  # fmt: skip
    upper, lower = limb
    length, end = tree.distance(upper, lower), LIMBS[kind][3]
    best: tuple[float, int, int] | None = None
    for bone, name in enumerate(tree.names):
        if name.side != side or bone in roles or bone not in usable or tree.is_above(bone, lower):
            continue
        if tree.is_above(upper, bone) or not _NEAR * length <= tree.distance(lower, bone) <= _FAR * length:
            continue
        weight = _end_weight(name, tree.names[lower], kind, end)
        if weight > 0.0 and (best is None or (weight, -tree.depth(bone)) > best[:2]):
            best = weight, -tree.depth(bone), bone
    return None if best is None else best[2]


def _end_weight(name: BoneName, lower: BoneName, kind: str, end: str) -> float:
    """How much a name is that of the end of a limb whose other bones are known. lower : that of the bone above.

    It is 2 if it names the end, 1.5 if it may, less if it is that of the bone above but for a number, and 1 if it is
    that of a control of the limb's IK.
    """
    if name.helper:
        return float("ik" in name.words and not bone_names.without_helpers(name).parts.keys().isdisjoint(LIMBS[kind]))
    if max(name.parts, key=lambda part: name.parts[part], default="") == end:
        return 2.0
    if end in name.parts:
        return 1.5
    return 1.25 * (not name.parts.keys().isdisjoint(LIMBS[kind]) and name.words == lower.words)


def further_limbs(tree: NamedTree, roles: Mapping[int, Role], human: bool) -> list[FurtherLimb]:
    """The pairs of limbs that have no roles: mirrored branches that are long enough, and nothing that a figure wears.

    Those that hang on the head, as ears and antlers do, are none, nor those that rest in the place of known limbs, as
    those of controls. Of a human figure only those count that are named as wings or limbs.
    """
    no_limbs = {bone for bone, role in roles.items() if role.side or role.name == "head"}
    taken, found = set(roles), list[FurtherLimb]()
    named = [pair for pair in _named_pairs(tree) if pair.length > _NAMED * tree.size]
    for pair in (*named, *(pair for pair in branches.pairs(tree) if pair.length > _LONG * tree.size)):
        tops = pair.one[0], pair.other[0]
        below = {bone for top in tops for bone in (top, *tree.below(top))}
        if min(len(pair.one), len(pair.other)) < 2 or not taken.isdisjoint(below):
            continue
        if any(
            tree.names[top].helper or tree.names[top].parts.keys() & TRUNK
            or (human and not (tree.names[top].animal or tree.names[top].parts)) or _is_known(tree, roles, top)
            or not no_limbs.isdisjoint(tree.paths[top]) for top in tops
        ):  # fmt: skip
            continue
        taken |= below
        sides = [_side(tree, path, other) for path, other in ((pair.one, pair.other), (pair.other, pair.one))]
        for path, side in zip((pair.one, pair.other), sides, strict=True):
            own = [bone for bone in path if not tree.names[bone].helper]
            if len(own) > 1:
                found.append(FurtherLimb(side, own))
    return found


def is_leg(tree: NamedTree, limb: FurtherLimb) -> bool:
    """Whether names say that a limb is a leg."""
    return any(not tree.names[bone].parts.keys().isdisjoint(LIMBS["leg"]) for bone in limb.bones)


def _is_known(tree: Tree, roles: Mapping[int, Role], top: int) -> bool:
    """Whether a branch has a joint in the place of one of a known limb."""
    known = tree.heads[[bone for bone, role in roles.items() if role.side and role.name != "twist"]].reshape(-1, 3)
    below = tree.heads[tree.below(top)].reshape(-1, 3)
    return bool((np.linalg.norm(below[:, None] - known, axis=-1) < _SAME * tree.size).any())


def _named_pairs(tree: NamedTree) -> list[branches.Pair]:
    """The branches of one bone that have the same name but for its side, even if they do not mirror each other."""
    found, others = list[branches.Pair](), dict[tuple, int]()
    for bone, name in enumerate(tree.names):
        key = tree.parent[bone], bone_names.unsided(name)
        if name.side and key[1] and others.setdefault((*key, name.side), bone) == bone:
            other = others.get((*key, OTHER[name.side]))
            if other is not None:
                paths = tree.longest(bone), tree.longest(other)
                found.append(branches.Pair(*paths, min(tree.reach[bone], tree.reach[other])))
    return found


def _side(tree: NamedTree, path: Sequence[int], other: Sequence[int]) -> str:
    """The side that names tell, or else X."""
    told = {tree.names[bone].side for bone in path} - {""}
    if len(told) == 1:
        return told.pop()
    return LEFT if tree.heads[path[-1]][0] > tree.heads[other[-1]][0] else RIGHT


def ik_followers(tree: NamedTree, roles: Mapping[int, Role]) -> dict[int, int]:
    """IK bones of games, and the bone of the figure that each of them stands for: they rest where it does.

    As `ik_foot_l` stands for `foot_l` in Unreal, and `ik_hand_gun` for the right hand.
    """
    ends = {bone: role for bone, role in roles.items() if role.name in ("hand", "foot")}
    found = dict[int, int]()
    for bone, name in enumerate(tree.names):
        if "ik" not in name.words or bone in roles:
            continue
        near = [one for one, role in ends.items() if role.side == name.side or not name.side]
        near = [one for one in near if tree.distance(bone, one) < _SAME * tree.size]
        if near:
            found[bone] = min(near, key=lambda one: tree.distance(bone, one))
    return found
