# SPDX-License-Identifier: GPL-3.0-or-later
"""The eyes of a figure, and where its face looks at rest. NumPy only.

Eyes are known by their names, or else by their place: the one pair of bones that ends in front of the head.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.rest import Tree, directions, unit
from . import bone_names
from .bone_names import NamedTree
from .parts import LEFT, OTHER, RIGHT, Role

_AHEAD, _ABOVE = 0.015, 0.005  # of the figure's size: eyes without names are so far before and above the head's joint
_ASIDE = 0.008, 0.12  # ... and between these aside from its middle
_ALIKE = 0.01  # ... and by less than this no mirror images of each other
_LEVEL = np.cos(np.radians(25.0))  # an axis of the armature that is nearer to the direction upward is that direction


def find(tree: NamedTree, roles: Mapping[int, Role], free: Collection[int]) -> dict[int, Role]:
    """The roles of eyes, of which there may be one or none. free : the bones that may be eyes."""
    head = next((bone for bone, role in roles.items() if role.name == "head"), None)
    below = range(len(tree.names)) if head is None else tree.below(head)
    own = sorted(bone for bone in below if bone in free and bone not in roles)
    found = _by_names(tree, own)
    if not found and head is not None:
        found = _by_place(tree, roles, head, own)
    left = directions.of_limbs(tree, roles)[0]
    if left is not None and found.keys() == {LEFT, RIGHT} and _across(tree, found) @ left < 0.0:
        found = {OTHER[side]: bone for side, bone in found.items()}  # the figure's sides are named from the front
    return {bone: Role("eye", side) for side, bone in found.items()}


def front(tree: Tree, roles: Mapping[int, Role], eyes: Mapping[int, Role]) -> np.ndarray:
    """The unit direction (3,) in which a figure's face looks at rest: across the line of its eyes, and level.

    Eye bones themselves say nothing: importers turn them anyhow.
    """
    sides = {role.side: bone for bone, role in eyes.items()}
    left = _across(tree, sides) if sides.keys() == {LEFT, RIGHT} else np.zeros(3)
    if not left.any():
        left = directions.of_limbs(tree, roles)[0]
    return unit(quaternion.cross(np.array([1.0, 0.0, 0.0]) if left is None else left, _up(tree, roles)))


def _up(tree: Tree, roles: Mapping[int, Role]) -> np.ndarray:
    """The unit direction upward: from the feet, as four-legged figures have it too, or along the trunk, then Z.

    It is the armature's axis if it is near to one: hips are seldom just below the head.
    """
    down, up = directions.mean_line(tree, roles, "thigh", ("foot", "shin")), None
    if down is None:
        up = directions.line(tree, roles, Role("hips"), Role("head"), Role("neck"))
    up = -down if down is not None else np.array([0.0, 0.0, 1.0]) if up is None else up
    axis = np.sign(up) * (np.abs(up) == np.abs(up).max())
    return axis if float(axis @ up) > _LEVEL else up


def _across(tree: Tree, sides: Mapping[str, int]) -> np.ndarray:
    """The unit direction (3,) from the right one of two bones to the left one; zero if they are in one place."""
    return unit(tree.heads[sides[LEFT]] - tree.heads[sides[RIGHT]])


def _by_names(tree: NamedTree, own: Sequence[int]) -> dict[str, int]:
    """The eyes that names tell, by side: of both sides if two have the same name; plain names and upper bones first."""
    named = [bone for bone in own if tree.names[bone].side and bone_names.is_eye(tree.names[bone])]
    named.sort(key=lambda bone: (len(tree.names[bone].words), tree.depth(bone), bone))
    for one in named:
        for other in named:
            alike = bone_names.unsided(tree.names[one]) == bone_names.unsided(tree.names[other])
            if alike and (tree.names[one].side, tree.names[other].side) == (LEFT, RIGHT):
                return {LEFT: one, RIGHT: other}
    return {tree.names[bone].side: bone for bone in named[:1]}


def _by_place(tree: NamedTree, roles: Mapping[int, Role], head: int, own: Sequence[int]) -> dict[str, int]:
    """The one pair of bones that mirror each other in front of the head, by side; none if there are several."""
    left, up = directions.of_limbs(tree, roles)[0], _up(tree, roles)
    if left is None:
        return {}
    axes = np.stack([left, unit(quaternion.cross(left, up)), up])
    ends = [bone for bone in own if not tree.children[bone] and not tree.names[bone].helper]
    places = {bone: axes @ (tree.heads[bone] - tree.heads[head]) / tree.size for bone in ends
              if bone_names.is_meaningless(tree.names[bone])}  # fmt: skip
    before = [bone for bone, (aside, ahead, above) in places.items()
              if ahead > _AHEAD and above > _ABOVE and _ASIDE[0] < abs(aside) < _ASIDE[1]]  # fmt: skip
    mirror = np.array([-1.0, 1.0, 1.0])
    pairs = [(one, other) for one, other in combinations(before, 2)
             if np.linalg.norm(places[one] * mirror - places[other]) < _ALIKE]  # fmt: skip
    if len(pairs) != 1:
        return {}
    one, other = sorted(pairs[0], key=lambda bone: -places[bone][0])
    return {LEFT: one, RIGHT: other}
