# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a figure is a person who stands, so that the limits and poses of people fit it."""

import numpy as np

from ..blender.tree import Tree
from ..notes import Code, Note
from . import beside, limbs
from .bone_names import BoneName
from .directions import line, mean_line
from .parts import LEFT, RIGHT, Role

_LEANING = np.cos(np.radians(65.0))  # trunks that lean more against the legs are not those of people
_ACROSS = np.cos(np.radians(45.0))  # ... with arms that point as the legs do, if they lean by more than this
_LEGS = ("thigh", ("foot", "shin"))  # where legs begin, and end if they have that
_PARALLEL = np.cos(np.radians(50.0))
_LONG, _MOST_PAIRS = 0.3, 2  # of the figure's size: branches that count as limbs, and how many pairs people have


def not_human(tree: Tree, names: list[BoneName], roles: dict[int, Role]) -> Note | None:
    """Why a figure is not human; None for a human one."""
    bones = {role: bone for bone, role in roles.items()}
    if any(names[bone].animal for bone in roles):
        return Note("This figure has wings, paws or hooves, so Human Limits does not fit it: set limits bone by bone")
    armed = any(Role("arm", side) in bones for side in (LEFT, RIGHT))
    if mean_line(tree, bones, *_LEGS) is None and _pairs_of_limbs(tree, names) > _MOST_PAIRS:
        return Note(Code.MORE_LIMBS)
    others = beside.further_limbs(tree, names, roles, human=armed) if roles else []
    if any(beside.is_leg(names, limb) for limb in others) or (not armed and len(others) > _MOST_PAIRS):
        return Note(Code.MORE_LIMBS)
    if leans(tree, roles):
        return Note("This figure stands on four legs or leans like a bird, so Human Limits does not fit it: set limits "
                    "bone by bone")
    return None


def leans(tree: Tree, roles: dict[int, Role]) -> bool:
    """Whether a figure's trunk leans against its legs more than that of people who stand."""
    bones = {role: bone for bone, role in roles.items()}
    shoulders = [Role(name, side) for side in (LEFT, RIGHT) for name in ("collar", "arm")]
    roots = (Role("hips"), Role("thigh", LEFT), Role("thigh", RIGHT))
    trunk = next((one for root in roots if (one := line(tree, bones, root, *shoulders)) is not None), None)
    legs, arms = mean_line(tree, bones, *_LEGS), mean_line(tree, bones, "arm", ("hand", "forearm"))
    if trunk is None or legs is None:
        return False
    upright = float(-trunk @ legs)
    return upright < _LEANING or (upright < _ACROSS and arms is not None and float(arms @ legs) > _PARALLEL)


def _pairs_of_limbs(tree: Tree, names: list[BoneName]) -> int:
    """The number of pairs of long branches that mirror each other and are nothing that a figure wears."""
    own = [
        pair for pair in limbs.pairs(tree)
        if pair.length > _LONG * tree.size and not any(names[bone].helper for bone in (pair.one[0], pair.other[0]))
    ]  # fmt: skip
    tops = [{pair.one[0], pair.other[0]} for pair in own]
    return sum(not any(tops[k] & other for other in tops[:k]) for k in range(len(tops)))
