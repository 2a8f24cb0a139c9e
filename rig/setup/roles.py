# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles of bones in a figure, recognised by their names, their place in the hierarchy and the figure's shape.

Names are those of Rigify, Mixamo, VRM, Unreal, Unity, Auto-Rig Pro, Advanced Skeleton, Valve, 3ds Max Biped, motion
capture, MakeHuman, MikuMikuDance and the like (`bone_names`). Limbs without such names are found by shape (`limbs`).
The user's own choice for a bone comes first.
"""

from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..blender.armature import Armature, matrices
from ..notes import Code, Note
from . import bone_names, limbs
from .bone_names import LEFT, MIDDLE, RIGHT, BoneName
from .limbs import PARTS, Limb
from .tree import Tree

TRUNK = {"hips": 2, "spine": 3, "neck": 4, "head": 5}
SIDED = {"collar": 6, "arm": 8, "forearm": 10, "hand": 12, "finger": 14, "hip_joint": 16, "thigh": 18, "shin": 20,
         "foot": 22, "toes": 24, "twist": 26}  # fmt: skip
"""Roles and their numbers in .blend files, which stay as they are: a new role takes the next free number. Those of the
right side are one more than those of the left, which are given."""

_SEVERAL = ("spine", "neck", "collar", "finger", "twist")  # roles that several bones have
_LEANING = np.cos(np.radians(65.0))  # trunks that lean more against the legs are not those of people
_ACROSS = np.cos(np.radians(45.0))  # ... with arms that point as the legs do, if they lean by more than this
_LEGS = ("thigh", ("foot", "shin"))  # where legs begin, and end if they have that
_PARALLEL = np.cos(np.radians(50.0))
_MIDPLANE = 0.03  # of the figure's size: bones nearer than this to the plane between both sides belong to the trunk
_POINTS, _BEHIND = 0.3, -0.7  # level part of toes that point somewhere; cosine of those that point back
_BENT = 0.003  # of the figure's size: a knee that is bent
_LONG, _MOST_PAIRS = 0.3, 2  # of the figure's size: branches that count as limbs, and how many pairs people have
_BACK = -0.2  # cosine against the trunk's direction below which bones above the chest lead back, as hair does
_CROWN, _FACE = 1.3, 0.25  # length of the last segment of the trunk against the one before: above the head, or on it


class Role(NamedTuple):
    """A role: hips, spine, neck or head; or, with a side, one of `SIDED`.

    A hip_joint is a bone between hips and thigh, and a twist one that divides a limb's upper or lower bone.
    """

    name: str
    side: str = MIDDLE


NONE = Role("")
_EVERY = [Role(name) for name in TRUNK] + [Role(name, side) for name in SIDED for side in (LEFT, RIGHT)]


class Figure(NamedTuple):
    """The roles of a figure's bones by number.

    not_human : why human limits do not fit it; None if they do. controlled : why goals cannot move its bones, because
    other bones control them by constraints; None if they can. folded : whether it
    would be human if it rested as it stands in its present pose.
    """

    roles: dict[int, Role]
    not_human: Note | None = None
    controlled: Note | None = None
    folded: bool = False


FOLDED = Note(Code.FOLDED)


def items() -> list[tuple[str, str, str, int]]:
    """The choices of a bone's role in the panel."""
    return [
        ("AUTO", "Automatic", "Recognise the bone by its name and its place", 0),
        ("NONE", "None", "The bone is no part of the figure", 1),
        *((_identifier(role), label(role), "", _number(role)) for role in _EVERY),
    ]  # fmt: skip


def _number(role: Role) -> int:
    return TRUNK[role.name] if role.side == MIDDLE else SIDED[role.name] + (role.side == RIGHT)


def label(role: Role) -> str:
    """What the panel calls a role, as *Left Forearm*, before it is translated."""
    side = {LEFT: "Left ", RIGHT: "Right ", MIDDLE: ""}[role.side]
    return f"{side}{role.name.replace('_', ' ').title()}"


def mirrored(choice: str) -> str:
    """The choice of a role for the other side."""
    name, _, side = choice.rpartition("_")
    return f"{name}_{RIGHT if side == LEFT else LEFT}" if side in (LEFT, RIGHT) else choice


def swap_sides(ob: bpy.types.Object) -> int:
    """Choose the mirrored role of every bone that has a side; returns their number."""
    sided = {bone: role for bone, role in of(ob).roles.items() if role.side}
    for bone, role in sided.items():
        ob.pose.bones[bone].dqik_role = mirrored(_identifier(role))
    return len(sided)


def of(ob: bpy.types.Object, armature: Armature | None = None) -> Figure:
    """The roles of an armature object's bones, with the user's corrections."""
    armature = Armature(ob) if armature is None else armature
    tree = Tree(armature.parent, armature.heads)
    names = bone_names.read(list(armature.index))
    for bone in _target_bones(ob):
        if bone in armature.index:
            names[armature.index[bone]] = BoneName(helper=True)
    roles = find(tree, names)
    _correct(roles, [bone.dqik_role for bone in ob.pose.bones])
    not_human = _not_human(tree, names, roles)
    folded = _leans(tree, roles) and not _not_human(_posed(ob, tree), names, roles)
    return Figure(roles, FOLDED if folded else not_human, _controlled(ob, roles), folded)


def _posed(ob: bpy.types.Object, tree: Tree) -> Tree:
    """The bones as they are posed."""
    return Tree(tree.parent, matrices(ob.pose.bones, "matrix")[:, :3, 3])


def _target_bones(ob: bpy.types.Object) -> set[str]:
    """Names of the bones that are targets or poles of the armature's own goals."""
    aims = [(goal.target, goal.subtarget) for goal in ob.dqik.goals]
    aims += [(goal.pole_target, goal.pole_subtarget) for goal in ob.dqik.goals]
    return {bone for target, bone in aims if target is not None and target.original == ob.original}


def find(tree: Tree, names: list[BoneName]) -> dict[int, Role]:
    """The roles of the bones that are recognised."""
    found = {(kind, side): limbs.by_names(tree, names, kind, side) for kind in PARTS for side in (LEFT, RIGHT)}
    named = {key: limb for key, limb in found.items() if limb is not None}
    _complete(tree, names, named)
    roles: dict[int, Role] = {}
    for (kind, side), limb in named.items():
        _assign_limb(tree, names, roles, limb, kind, side)
    _assign_trunk(tree, names, roles, named)
    _assign_girdles(tree, names, roles)
    return swapped(roles) if _faces_backward(tree, roles) else roles


def swapped(roles: dict[int, Role]) -> dict[int, Role]:
    """The roles with left and right exchanged."""
    other = {LEFT: RIGHT, RIGHT: LEFT, MIDDLE: MIDDLE}
    return {bone: Role(role.name, other[role.side]) for bone, role in roles.items()}


def _faces_backward(tree: Tree, roles: dict[int, Role]) -> bool:
    """Whether sides are named from the viewer's side, as in some games: toes and knees point to the figure's back."""
    bones = {role: bone for bone, role in roles.items()}
    left, up = _directions(tree, roles)
    legs = [Role(name, side) for name in ("thigh", "shin", "foot") for side in (LEFT, RIGHT)]
    if left is None or up is None or not bones.keys() >= set(legs):
        return False
    forward = quaternion.cross(left, up)
    forward = forward / max(np.linalg.norm(forward), 1e-12)
    knees = [float(_knee(tree, bones, side) @ forward) / tree.size for side in (LEFT, RIGHT)]
    toes = [tree.heads[bones[Role("toes", side)]] - tree.heads[bones[Role("foot", side)]]
            for side in (LEFT, RIGHT) if Role("toes", side) in bones]  # fmt: skip
    level = [toe - up * (toe @ up) for toe in toes]
    points = [np.linalg.norm(one) > _POINTS * np.linalg.norm(toe) for one, toe in zip(level, toes, strict=True)]
    if len(level) == 2 and all(points):
        ahead = max(float(forward @ toe / np.linalg.norm(toe)) for toe in level)
        return ahead < _BEHIND and max(knees) < _BENT
    return max(knees) < -_BENT


def _knee(tree: Tree, bones: dict[Role, int], side: str) -> np.ndarray:
    """The vector (3,) by which a knee is off the line from thigh to foot."""
    thigh, shin, foot = (tree.heads[bones[Role(name, side)]] for name in ("thigh", "shin", "foot"))
    line = (foot - thigh) / max(np.linalg.norm(foot - thigh), 1e-12)
    return (shin - thigh) - line * ((shin - thigh) @ line)


# -- limbs -------------------------------------------------------------------------------------------------------------


def _complete(tree: Tree, names: list[BoneName], found: dict[tuple[str, str], Limb]) -> None:
    """Add legs and arms that names do not tell, by shape, to those that they do."""
    missing = [kind for kind in PARTS if not any((kind, side) in found for side in (LEFT, RIGHT))]
    if not missing:
        return
    pairs = [pair for pair in limbs.pairs(tree) if _is_free(tree, names, found, pair)]
    made = limbs.chosen(tree, pairs, missing)
    left = _left(tree, found)
    if left is None and "leg" in made:
        top = tree.common(*(limb.bones["arm"] for limb in made["arm"])) if "arm" in made else None
        left = limbs.left(tree, made["leg"], top)
    for kind, (one, other) in made.items():
        if left is not None:
            is_left = float((tree.heads[one.path[-1]] - tree.heads[other.path[-1]]) @ left) > 0.0
            found[kind, LEFT], found[kind, RIGHT] = (one, other) if is_left else (other, one)


def _is_free(
    tree: Tree, names: list[BoneName], found: dict[tuple[str, str], Limb], pair: limbs.Pair
) -> bool:  # fmt: skip
    """Whether two branches may be limbs: names do not tell otherwise, and they hold no limb that is found."""
    ends = pair.one[0], pair.other[0]
    sides = [names[bone].side for bone in ends]
    if MIDDLE in sides and sides[0] != sides[1]:
        return False
    used = {bone for limb in found.values() for bone in limb.bones.values()}
    return not any(
        names[bone].helper or names[bone].parts.keys() & set(TRUNK)
        or any(tree.is_above(bone, other) or tree.is_above(other, bone) for other in used)
        for bone in ends
    )  # fmt: skip


def _left(tree: Tree, found: dict[tuple[str, str], Limb]) -> np.ndarray | None:
    """The figure's left, from limbs that are found on both sides."""
    for kind, parts in PARTS.items():
        one, other = (found.get((kind, side)) for side in (LEFT, RIGHT))
        if one is not None and other is not None:
            return tree.heads[one.bones[parts[2]]] - tree.heads[other.bones[parts[2]]]
    return None


def _assign_limb(
    tree: Tree, names: list[BoneName], roles: dict[int, Role], limb: Limb, kind: str, side: str
) -> None:  # fmt: skip
    """The roles of a limb's bones, of bones that divide it, and of its fingers."""
    parts, bones = PARTS[kind], limb.bones
    for part, bone in bones.items():
        roles[bone] = Role(part, side)
    for above, below in pairwise(parts[:4]):
        if above in bones and below in bones:
            path = tree.paths[bones[below]]
            for bone in path[path.index(bones[above]) + 1 : -1]:
                roles[bone] = Role("collar" if above == "collar" else "twist", side)
    end = bones.get(parts[3])
    if kind == "arm" and end is not None:
        for bone in tree.below(end):
            if not names[bone].helper:
                roles.setdefault(bone, Role("finger", side))


# -- trunk -------------------------------------------------------------------------------------------------------------


def _assign_trunk(
    tree: Tree, names: list[BoneName], roles: dict[int, Role], found: dict[tuple[str, str], Limb]
) -> None:  # fmt: skip
    """The trunk: the legs meet at the hips, the spine leads to the arms, neck and head are above."""
    legs, chest = _meeting(tree, found, "leg"), _meeting(tree, found, "arm")
    hips = _hips(tree, names, legs, chest)
    if hips is not None:
        roles[hips] = Role("hips")
    if chest is not None and hips is not None and chest != hips and tree.is_above(hips, chest):
        for bone in tree.paths[chest][tree.depth(hips) + 1 :]:
            named = _best(names[bone])
            # claws may hang on the head
            roles.setdefault(bone, Role(named if bone == chest and named in ("neck", "head") else "spine"))
    top = hips if chest is None else chest
    if top is None or roles.get(top) == Role("head"):
        return
    head = _head(tree, names, roles, top)
    if head is None:
        return
    roles[head] = Role("head")
    for bone in tree.paths[head][tree.depth(top) + 1 : -1]:
        part = _best(names[bone]) if chest is None else "neck"
        roles.setdefault(bone, Role(part if part in ("spine", "neck") else "neck"))


def _best(name: BoneName) -> str:
    return max(name.parts, key=lambda part: name.parts[part], default="")


def _assign_girdles(tree: Tree, names: list[BoneName], roles: dict[int, Role]) -> None:
    """The bones above arms and legs are collar bones and hip joints if names say nothing and they are not the trunk."""
    for part, upper in (("collar", "arm"), ("hip_joint", "thigh")):
        uppers = {role.side: bone for bone, role in roles.items() if role.name == upper}
        above = {side: tree.parent[bone] for side, bone in uppers.items() if Role(part, side) not in roles.values()}
        if len(above) == 2 and len(set(above.values())) == 2:
            for side, bone in above.items():
                if bone >= 0 and bone not in roles and not names[bone].parts and not names[bone].helper:
                    roles[bone] = Role(part, side)


def _meeting(tree: Tree, found: dict[tuple[str, str], Limb], kind: str) -> int | None:
    """The lowest bone above a left and a right limb."""
    one, other = (found.get((kind, side)) for side in (LEFT, RIGHT))
    if one is None or other is None:
        return None
    upper = PARTS[kind][1]
    return tree.common(one.bones[upper], other.bones[upper])


def _hips(tree: Tree, names: list[BoneName], legs: int | None, chest: int | None) -> int | None:
    """The bone where legs and trunk meet, or one above it that has the name of hips."""
    if legs is None:
        return next((b for b, name in enumerate(names) if _best(name) == "hips"), None)
    core = next((b for b in tree.paths[legs][::-1] if chest is None or tree.is_above(b, chest)), legs)
    named = (b for b in tree.paths[core][::-1] if _best(names[b]) == "hips")
    return next(named, core)


def _head(tree: Tree, names: list[BoneName], roles: dict[int, Role], top: int) -> int | None:
    """The head above the chest: by its name, or the end of the trunk."""
    above = [b for b in tree.below(top) if b not in roles and not names[b].side and not names[b].helper]
    named = [b for b in above if _best(names[b]) == "head"]
    if named:
        return min(named, key=tree.depth)
    trunk = [b for b in above if _best(names[b]) in ("spine", "neck")]
    if trunk:
        return max(trunk, key=tree.depth)
    free = [b for b in above if not any(names[x].helper or x in roles for x in tree.paths[b][tree.depth(top) + 1 :])]
    return _head_by_shape(tree, roles, top, free)


def _head_by_shape(tree: Tree, roles: dict[int, Role], top: int, free: list[int]) -> int | None:
    """The head among free bones above the chest: the end of the longest path in the midplane that leads on.

    Hair and ears lead back or aside. The head is the last joint, or the one before if that is its crown or in its face.
    """
    left, on = _directions(tree, roles)
    middle = set(free)
    if left is not None:
        middle = {b for b in free if abs((tree.heads[b] - tree.heads[top]) @ left) < _MIDPLANE * tree.size} or middle
    paths = [path for b in middle if (path := _leading_on(tree, tree.paths[b][tree.depth(top) :], middle, on))]
    if not paths:
        return None
    path = max(paths, key=lambda path: sum(tree.distance(a, b) for a, b in pairwise(path)))
    if len(path) > 2:
        ratio = tree.distance(path[-1], path[-2]) / tree.distance(path[-2], path[-3])
        if ratio < _FACE or (ratio > _CROWN and len(path) > 3):
            return path[-2]
    return path[-1]


def _leading_on(tree: Tree, path: list[int], middle: set[int], on: np.ndarray | None) -> list[int]:
    """A path from the chest as far as it is in the midplane and leads on; joints in one place are the first of them."""
    kept = path[:1]
    for bone in path[1:]:
        line = tree.heads[bone] - tree.heads[kept[-1]]
        if bone not in middle or (on is not None and line @ on < _BACK * np.linalg.norm(line) and len(kept) > 1):
            break
        if np.linalg.norm(line) > limbs.SMALL * tree.size or len(kept) == 1:
            kept.append(bone)
    return kept if len(kept) > 1 else []


def _directions(tree: Tree, roles: dict[int, Role]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The unit directions to the figure's left and along its trunk, as far as limbs on both sides tell them."""
    bones = {role: bone for bone, role in roles.items()}
    lines = (_line(tree, bones, Role(name, RIGHT), Role(name, LEFT)) for name in ("arm", "thigh"))
    left = next((line for line in lines if line is not None), None)
    roots = [Role(name, side) for name in ("arm", "thigh") for side in (LEFT, RIGHT)]
    if not bones.keys() >= set(roots):
        return left, None
    one, other, third, fourth = (tree.heads[bones[role]] for role in roots)
    on = one + other - third - fourth
    return left, on / max(np.linalg.norm(on), 1e-9)


# -- corrections, controls and animals ---------------------------------------------------------------------------------


def _identifier(role: Role) -> str:
    return f"{role.name}_{role.side}".rstrip("_").upper()


def _correct(roles: dict[int, Role], chosen: list[str]) -> None:
    """Put the user's choices into `roles`; a role that one bone has goes over to the chosen one."""
    by_identifier = {_identifier(role): role for role in _EVERY}
    for bone, choice in enumerate(chosen):
        if choice == "AUTO":
            continue
        roles.pop(bone, None)
        role = by_identifier.get(choice)
        if role is None:
            continue
        if role.name not in _SEVERAL:
            for other in [b for b, own in roles.items() if own == role and chosen[b] == "AUTO"]:
                del roles[other]
        roles[bone] = role


def _controlled(ob: bpy.types.Object, roles: dict[int, Role]) -> Note | None:
    """A note about a figure whose limbs follow other bones by constraints, as in generated rigs; else None.

    IK and limits do not count: goals replace the one, and the other leaves the bones free.
    """
    limbs = [ob.pose.bones[bone] for bone, role in roles.items() if role.name in ("arm", "forearm", "thigh", "shin")]
    led = [bone for bone in limbs if any(
        not c.mute and c.type not in ("IK", "SPLINE_IK") and not c.type.startswith("LIMIT_") for c in bone.constraints
    )]  # fmt: skip
    if 2 * len(led) <= len(limbs):
        return None
    return Note(Code.CONTROLLED, repr(led[0].name))


def _pairs_of_limbs(tree: Tree, names: list[BoneName]) -> int:
    """The number of pairs of long branches that mirror each other and are nothing that a figure wears."""
    own = [
        pair for pair in limbs.pairs(tree)
        if pair.length > _LONG * tree.size and not any(names[bone].helper for bone in (pair.one[0], pair.other[0]))
    ]  # fmt: skip
    tops = [{pair.one[0], pair.other[0]} for pair in own]
    return sum(not any(tops[k] & other for other in tops[:k]) for k in range(len(tops)))


def _not_human(tree: Tree, names: list[BoneName], roles: dict[int, Role]) -> Note | None:
    """Why a figure is not human; None for a human one."""
    bones = {role: bone for bone, role in roles.items()}
    if any(names[bone].animal for bone in roles):
        return Note(Code.WINGS_OR_HOOVES)
    if _lines(tree, bones, *_LEGS) is None and _pairs_of_limbs(tree, names) > _MOST_PAIRS:
        return Note(Code.MORE_LIMBS)
    if _leans(tree, roles):
        return Note(Code.FOUR_LEGS)
    return None


def _leans(tree: Tree, roles: dict[int, Role]) -> bool:
    """Whether a figure's trunk leans against its legs more than that of people who stand."""
    bones = {role: bone for bone, role in roles.items()}
    shoulders = [Role(name, side) for side in (LEFT, RIGHT) for name in ("collar", "arm")]
    roots = (Role("hips"), Role("thigh", LEFT), Role("thigh", RIGHT))
    trunk = next((line for root in roots if (line := _line(tree, bones, root, *shoulders)) is not None), None)
    legs, arms = _lines(tree, bones, *_LEGS), _lines(tree, bones, "arm", ("hand", "forearm"))
    if trunk is None or legs is None:
        return False
    upright = float(-trunk @ legs)
    return upright < _LEANING or (upright < _ACROSS and arms is not None and float(arms @ legs) > _PARALLEL)


def _line(tree: Tree, bones: dict[Role, int], first: Role, *ends: Role) -> np.ndarray | None:
    """The unit direction between two roles' heads, to the first of `ends` that is there."""
    end = next((bones[role] for role in ends if role in bones), None)
    if first not in bones or end is None:
        return None
    line = tree.heads[end] - tree.heads[bones[first]]
    length = np.linalg.norm(line)
    return line / length if length > limbs.SMALL * tree.size else None


def _lines(tree: Tree, bones: dict[Role, int], upper: str, ends: tuple[str, ...]) -> np.ndarray | None:
    """The mean unit direction of both limbs of a kind."""
    both = [_line(tree, bones, Role(upper, side), *(Role(end, side) for end in ends)) for side in (LEFT, RIGHT)]
    lines = [line for line in both if line is not None]
    total = np.sum(lines, axis=0) if lines else np.zeros(3)
    return total / np.linalg.norm(total) if np.linalg.norm(total) > 1e-6 else None
