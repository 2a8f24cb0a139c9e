# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure measured for a motion that comes from another body: what its bones do in anatomical terms.

Each bone of a known role gets a frame at rest: limbs have one along the limb with the axis of their elbow or knee, feet
one that is level and heads where they point, the trunk has left, up and forward. In whatever pose a figure rests and
whatever axes its bones have, equal directions of these frames are equal poses.
"""

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.rest import nearest_axis, unit
from ..blender import animation
from ..blender.armature import Armature
from ..figure import ends, foot, roles, skin
from ..figure.body import RestBody
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT, Role
from ..notes import Note, Refused
from . import rest_legs, volumes
from .rest_legs import RestLeg
from .volumes import Skin

Key = tuple[str, str, int]
"""A chain of bones: its role's name and side, and a number for fingers and what else there is several of."""

SIDES = (LEFT, RIGHT)
_SNAP = np.cos(np.radians(20.0))  # trunks nearer than this to the armature's axes stand upright
_BEHIND = 0.35  # of the way from the ankle to the ball: the heel behind the ankle
_SHORT, _FOOT, _PAW = 0.05, 0.3, 0.1  # of the thigh: feet of unknown direction are shorter, how far their ball is ahead
_HAND = 3  # fingers, of which the furthest tells where a hand points; hands with fewer ones go on from their forearm
_LEANS, _IS_LEVEL = np.cos(np.radians(35.0)), np.cos(np.radians(60.0))  # of the trunk, from the line of the legs
_EVEN = 1.02  # of scales along the axes of an object
_FRONT = ("arm", "forearm", "hand")
_ABOVE = {"foot": "shin", "hand": "forearm"}
_UPPER = {"arm": "forearm", "forearm": "forearm", "hand": "forearm", "thigh": "shin", "shin": "shin"}
RELATIVE = ("finger", "twist")
"""Parts that go along with the limb that they hang on, by their turn."""


class Person(NamedTuple):
    """A figure at rest, in armature space.

    chains : the bones of each role downward. bases : the bone that each chain of fingers and twist bones hangs on.
    frames : (4,) the anatomical frame of each bone. legs : the left and the right one, and those in front if it goes on
    four. leg : the mean length of the first two. forward : the direction (3,) in which it goes. floor : the height of
    the ground under the feet, along `up` (3,). skin : its parts with their skin. attached : the parents, -1 for none,
    of bones that hang on others in `armature` than in Blender: loose feet and hands hang on their limbs, and IK bones
    of games on what they stand for.
    """

    armature: Armature
    chains: dict[Key, list[int]]
    bases: dict[Key, int]
    frames: dict[int, np.ndarray]
    legs: list[RestLeg]
    leg: float
    forward: np.ndarray
    up: np.ndarray
    floor: float
    skin: Skin
    attached: dict[int, int]

    @property
    def four(self) -> bool:
        """Whether it goes on four legs."""
        return len(self.legs) > len(SIDES)

    @property
    def bones(self) -> list[int]:
        """All bones of chains."""
        return sorted({bone for chain in self.chains.values() for bone in chain})


def of(ob: bpy.types.Object, armature: Armature | None = None) -> Person:
    """Measure an armature object's figure. Raises `Refused` if it has no hips or no whole legs.

    armature : its bones, in another pose at rest if they are folded in their own (`standing`).
    """
    character, attached = _attached(ob, Character.of(ob, armature))
    armature, body = character.armature, character.body
    if body.bone("hips") is None or any(body.bone(part, side) is None for part in rest_legs.PARTS for side in SIDES):
        raise Refused(Note("{} has no hips, thighs, shins and feet that are recognised: set their Role in the Bone "
                           "panel", repr(ob.name)))
    axes, paws = _standing(body)
    trunk = quaternion.from_matrix(axes)
    up = axes[:, 1]
    skinned = skin.points(ob, character)
    legs = [_paw(body, skinned, parts, axes, side) for parts in paws for side in SIDES]
    legs = legs or [_leg(ob, character, up, side) for side in SIDES]
    frames = {bone: _frame(body, legs, trunk, bone) for bone, role in body.roles.items() if role.name not in RELATIVE}
    chains, bases = _chains(armature, body, frames, {leg.foot for leg in legs if leg.is_paw})
    for key, base in bases.items():
        frames.update(dict.fromkeys(chains[key], frames[base]))
    length = float(np.mean([leg.length for leg in legs[:2]]))
    floor = min(float((armature.heads[leg.foot] + leg.ball) @ up) for leg in legs)
    middle = [chains.get((name, "", 0), []) for name in ("hips", "spine", "neck")]
    parts = volumes.measured(ob, character, middle, frames)
    return Person(armature, chains, bases, frames, legs, length, axes[:, 2], up, floor, parts, attached)


def _attached(ob: bpy.types.Object, own: Character) -> tuple[Character, dict[int, int]]:
    """The figure with its bones as they hang on each other, and the parents of those that hang elsewhere.

    Loose feet and hands hang on their limbs, and IK bones of games on what they stand for if nothing else moves them.
    """
    armature, figure = own.armature, own.figure
    hung = {bone: one for bone, role in figure.loose.items() for one, own in figure.roles.items()
            if own == Role(_ABOVE.get(role.name, ""), role.side)}  # fmt: skip
    if hung:  # with the toes below them; feet that are named as IK bones would have no role
        below = {bone: role for bone, role in roles.read(ob, armature.hung(hung)).roles.items()
                 if role not in figure.loose.values()}  # fmt: skip
        figure = figure._replace(roles={**below, **figure.loose})
    driven = animation.animation(ob).driven
    for bone, other in roles.ik_followers(ob, armature, figure).items():
        follower = ob.pose.bones[bone]
        if follower.name not in driven and all(one.mute for one in follower.constraints):
            hung[bone] = other
    parents = {bone: int(armature.parent[bone]) for bone in hung}
    return Character(armature.hung(hung), figure), parents


def check_alike(people: Mapping[bpy.types.Object, Person]) -> None:
    """Raise `Refused` for figures that go on two and on four legs, and for scales that turn or bend limbs."""
    four, two = ([ob for ob, person in people.items() if person.four == is_four] for is_four in (True, False))
    if four and two:
        raise Refused(Note("{} goes on four legs and {} on two: Retarget needs two figures that go alike",
                           repr(four[0].name), repr(two[0].name)))
    for ob in people:
        axes = np.array(ob.matrix_world)[:3, :3]
        lengths = np.linalg.norm(axes, axis=0)
        if np.linalg.det(axes) < 0.0 or lengths.max() > _EVEN * lengths.min():
            raise Refused(Note("{} is mirrored or scaled unevenly: apply its scale (Object > Apply > Scale)",
                               repr(ob.name)))


def _standing(body: RestBody) -> tuple[np.ndarray, list[Sequence[str]]]:
    """Left, up and forward (3, 3) of a figure as it stands, and the parts of its legs if it stands on toes.

    The trunk tells what is up, unless it leans far from the line of the legs: animals stand on theirs. An animal's head
    may be far above its trunk, so its shoulders tell how that lies.
    """
    heads, up = body.armature.heads, body.up
    legs = list[Sequence[str]]()
    hips, feet = (np.mean([heads[body.bone(part, side)] for side in SIDES], axis=0) for part in ("thigh", "foot"))
    front = [[body.bone(part, side) for part in _FRONT] for side in SIDES]
    has_front = all(None not in bones for bones in front)
    trunk = unit(np.mean([heads[bones[0]] for bones in front], axis=0) - hips) if has_front else up
    if not body.human and unit(hips - feet) @ trunk < _LEANS:
        up = nearest_axis(hips - feet)
        low = has_front and all((heads[bones[-1]] - feet) @ up < 0.5 * (hips - feet) @ up for bones in front)
        legs += (rest_legs.PARTS, _FRONT) if low and up @ trunk < _IS_LEVEL else (rest_legs.PARTS,)
    up = _snapped(up)
    left = _snapped(unit(body.left - up * (up @ body.left)))
    return np.stack([left, up, np.cross(left, up)], -1), legs


def _snapped(direction: np.ndarray) -> np.ndarray:
    """The axis of the armature that is near to a unit direction, or the direction itself."""
    axis = nearest_axis(direction)
    return axis if direction @ axis > _SNAP else direction


def _paw(
    body: RestBody, skinned: Mapping[int, np.ndarray], parts: Sequence[str], axes: np.ndarray, side: str
) -> RestLeg:
    """A leg of an animal, which stands on its toes: there is hardly a heel. skinned : the skin of bones."""
    bones = upper, lower, end = [body.bone(part, side) for part in parts]
    heads, up = body.armature.heads, axes[:, 1]
    below = body.armature.tree.below(end)
    low = min(float(point @ up) for bone in (end, *below) for point in (heads[bone], ends.of(body, bone)))
    paw = [skinned[bone] for bone in (end, *below) if bone in skinned]
    if paw:
        low = float((np.concatenate(paw) @ up).min())
    toes = [bone for bone in below if body.armature.parent[bone] == end]
    toes = [bone for bone in toes if bone in body.roles and body.roles[bone].name in ("toes", "finger")] or toes
    ball = (heads[np.array(toes)].mean(0) if toes else ends.of(body, end)) - heads[end]
    ball += up * (low - up @ (heads[end] + ball))
    heel = ball - _PAW * np.linalg.norm(heads[lower] - heads[upper]) * axes[:, 2]
    return RestLeg.of(body.armature, bones, heel, ball, is_paw=True)


def _leg(ob: bpy.types.Object, character: Character, up: np.ndarray, side: str) -> RestLeg:
    heads, body = character.armature.heads, character.body
    thigh, shin, ankle = (body.bone(part, side) for part in rest_legs.PARTS)
    points = foot.of(ob, character, ankle)
    heel, ball, level = points.heel - heads[ankle], points.ball - heads[ankle], body.posture(Role("foot", side))
    if not np.allclose(level, np.eye(3)):  # the foot hangs at rest
        ball = level @ (points.joint - heads[ankle])
        ahead = ball - up * (up @ ball)
        heel = up * (up @ ball) - _BEHIND * ahead
    if np.linalg.norm(ball - heel) < _SHORT * np.linalg.norm(heads[shin] - heads[thigh]):  # it points on along the shin
        ahead = _FOOT * np.linalg.norm(heads[shin] - heads[thigh]) * body.forward
        ahead -= up * (up @ ahead)
        heel, ball = up * (up @ ball) - _BEHIND * ahead, up * (up @ ball) + ahead
    return RestLeg.of(character.armature, (thigh, shin, ankle), level.T @ heel, level.T @ ball)


def _frame(body: RestBody, legs: Sequence[RestLeg], trunk: np.ndarray, bone: int) -> np.ndarray:
    """The anatomical frame (4,) of a bone at rest."""
    role = body.roles[bone]
    up = quaternion.to_matrix(trunk)[:, 1]
    paw = next((leg for leg in legs if leg.foot == bone and leg.is_paw), None)
    if paw is not None:
        return _along(paw.ball - paw.heel, up)
    if role.name in ("foot", "toes"):
        leg = legs[SIDES.index(role.side)]
        return _along(leg.ball - leg.heel, up if leg.is_paw else body.posture(role).T @ up)
    lower = body.bone(_UPPER.get(role.name, ""), role.side)
    straight = role.name == "hand" and lower is not None and _fingers(body, bone) < _HAND
    line = None if lower is None else body.along(lower if straight else bone)
    if lower is None or line is None:
        return trunk
    return _along(line, body.posture(body.roles[lower]).T @ body.hinge(lower)[0])


def _fingers(body: RestBody, hand: int) -> int:
    tree = body.armature.tree
    fingers = [bone for bone in tree.below(hand) if bone in body.roles and body.roles[bone].name == "finger"]
    return sum(int(body.armature.parent[bone]) not in fingers for bone in fingers)


def _along(line: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The frame (4,) with X along a line and Z as near to an axis as it may be."""
    x = unit(line)
    z = unit(axis - x * (x @ axis))
    if not z.any():
        z = unit(np.eye(3)[int(np.abs(x).argmin())] - x * x[int(np.abs(x).argmin())])
    return quaternion.from_matrix(np.stack([x, np.cross(z, x), z], -1))


def _chains(
    armature: Armature, body: RestBody, frames: dict[int, np.ndarray], paws: Container[int]
) -> tuple[dict[Key, list[int]], dict[Key, int]]:
    """The bones of each role downward, and what fingers and twist bones hang on.

    Fingers are counted from the thumb, and those of paws from the outermost.
    """
    chains, bases = dict[Key, list[int]](), dict[Key, int]()
    tops = dict[tuple[str, int], list[list[int]]]()
    for bone in sorted(body.roles, key=lambda bone: (len(armature.above(bone)), bone)):
        role = body.roles[bone]
        if role.name not in RELATIVE:
            name = "neck" if role.name == "head" else role.name
            own = chains.setdefault((name, role.side, 0), [])
            if role.part.several or name == "neck" or not own:
                own.append(bone)
            continue
        base = next((one for one in armature.above(bone)[1:] if one in frames), None)
        if base is None:
            continue
        found = tops.setdefault((role.name, base), [])
        chain = next((one for one in found if one[-1] in armature.above(bone)[1:]), None)
        if chain is None:
            found.append([bone])
        else:
            chain.append(bone)
    for (name, base), found in tops.items():
        above = body.roles[base]
        across = quaternion.to_matrix(frames[base])[:, 1]  # to the thumb; of a paw to the left
        if base in paws and above.side == RIGHT:
            across = -across
        found.sort(key=lambda chain: -float(armature.heads[chain[0]] @ across))
        for number, chain in enumerate(found):
            key = (f"{name} {above.name}", above.side, number)
            chains[key], bases[key] = chain, base
    return chains, bases


def several(chains: dict[Key, list[int]], key: Key) -> list[Key]:
    """The chains of the same kind and side as one."""
    return sorted(other for other in chains if other[:2] == key[:2])
