# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the roles of a figure's bones by their names, their place in the hierarchy, and the figure's shape."""

from itertools import pairwise

import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.rest import LIMBS, SMALL, LimbBones, Tree, branches, directions, unit
from ..notes import Code, Note
from . import beside, bone_names, limbs
from .bone_names import BoneName, NamedTree
from .parts import LEFT, MIDDLE, OTHER, RIGHT, TRUNK, Role

_GIRDLE = {"collar", "hip_joint"}  # parts above the upper bones of limbs
_MIDPLANE = 0.03  # of the figure's size: bones nearer than this to the plane between both sides belong to the trunk
_POINTS, _BEHIND = 0.3, -0.7  # level part of toes that point somewhere; cosine of those that point back
_BENT = 0.003  # of the figure's size: a knee that is bent
_DOWN = 0.7  # of the way that legs go down: legs in front do so too
_OFF_LINE = 0.25  # of a segment's length: bones that divide it are nearer to its line
_HOCK = np.radians(50.0)  # legs of people who stand are bent by less from joint to joint
_BACK = -0.2  # cosine against the trunk's direction below which bones above the chest lead back, as hair does
_CROWN, _FACE = 1.3, 0.25  # length of the last segment of the trunk against the one before: above the head, or on it
_LEANING = np.cos(np.radians(65.0))  # trunks that lean more against the legs are not those of people
_ACROSS = np.cos(np.radians(45.0))  # ... with arms that point as the legs do, if they lean by more than this
_LEGS = ("thigh", ("foot", "shin"))  # where legs begin, and end if they have that
_ARMS = ("arm", ("hand", "forearm"))
_PARALLEL = np.cos(np.radians(50.0))
_LONG, _MOST_PAIRS = 0.3, 2  # of the figure's size: branches that count as limbs, and how many pairs people have


def find(tree: NamedTree) -> dict[int, Role]:
    """The roles of the bones that are recognised."""
    named = _named(tree)
    _complete(tree, named)
    roles: dict[int, Role] = {}
    for (kind, side), limb in named.items():
        _assign_limb(tree, roles, limb, kind, side)
    _assign_trunk(tree, roles, named)
    _assign_girdles(tree, roles)
    viewed = not_human(tree, roles) is None and _faces_backward(tree, roles)
    return {bone: role.mirrored for bone, role in roles.items()} if viewed else roles


def _faces_backward(tree: Tree, roles: dict[int, Role]) -> bool:
    """Whether sides are named from the viewer's side, as in some games: toes and knees point to the figure's back.

    A leg that is bent far at rest is that of a bird, whose hock says nothing: names are believed there.
    """
    bones = {role: bone for bone, role in roles.items()}
    left, up = directions.of_limbs(tree, roles)
    legs = [Role(name, side) for name in ("thigh", "shin", "foot") for side in (LEFT, RIGHT)]
    if left is None or up is None or not bones.keys() >= set(legs):
        return False
    forward = quaternion.cross(left, up)
    forward = forward / max(np.linalg.norm(forward), 1e-12)
    if any(_bend(tree, bones, side) > _HOCK for side in (LEFT, RIGHT)):
        return False
    knees = [float(_knee(tree, bones, side) @ forward) / tree.size for side in (LEFT, RIGHT)]
    toes = [tree.heads[bones[Role("toes", side)]] - tree.heads[bones[Role("foot", side)]]
            for side in (LEFT, RIGHT) if Role("toes", side) in bones]  # fmt: skip
    level = [toe - up * (toe @ up) for toe in toes]
    points = [np.linalg.norm(one) > _POINTS * np.linalg.norm(toe) for one, toe in zip(level, toes, strict=True)]
    if len(level) == 2 and all(points):
        ahead = max(float(forward @ toe / np.linalg.norm(toe)) for toe in level)
        return ahead < _BEHIND and max(knees) < _BENT
    return max(knees) < -_BENT


def _bend(tree: Tree, bones: dict[Role, int], side: str) -> float:
    """The angle [rad] by which the line of a leg turns most from joint to joint, between thigh and foot."""
    thigh, foot = (bones[Role(name, side)] for name in ("thigh", "foot"))
    path = tree.paths[foot]
    lines = np.diff(tree.heads[path[path.index(thigh) :]], axis=0)
    units = [unit(line) for line in lines if np.linalg.norm(line) > SMALL * tree.size]
    return max((float(np.arccos(np.clip(a @ b, -1.0, 1.0))) for a, b in pairwise(units)), default=0.0)


def _knee(tree: Tree, bones: dict[Role, int], side: str) -> np.ndarray:
    """The vector (3,) by which a knee is off the line from thigh to foot."""
    thigh, shin, foot = (tree.heads[bones[Role(name, side)]] for name in ("thigh", "shin", "foot"))
    line = (foot - thigh) / max(np.linalg.norm(foot - thigh), 1e-12)
    return (shin - thigh) - line * ((shin - thigh) @ line)


# -- limbs -------------------------------------------------------------------------------------------------------------


def _named(tree: NamedTree) -> dict[tuple[str, str], LimbBones]:
    """The limbs that names tell. Wings are arms only of a figure that has neither arms nor legs in front."""
    names = (BoneName(name.side, helper=True) if bone_names.is_wing(name) else name for name in tree.names)
    bare = NamedTree(tree, names)
    keys = [(kind, side) for kind in LIMBS for side in (LEFT, RIGHT)]
    found = {key: limb for key in keys if (limb := limbs.by_names(bare, *key)) is not None}
    if bare.names == tree.names or any(("arm", side) in found for side in (LEFT, RIGHT)):
        return found
    winged = {("arm", side): limb for side in (LEFT, RIGHT)
              if (limb := limbs.by_names(tree, "arm", side)) is not None}  # fmt: skip
    if winged:
        _complete(bare, found)
        front = [found.get(("arm", side)) for side in (LEFT, RIGHT)]
        if None not in front and all(_stands(tree, found, limb) for limb in front):
            return found
    return {key: limb for key, limb in found.items() if key[0] == "leg"} | winged


def _stands(tree: Tree, found: dict[tuple[str, str], LimbBones], limb: LimbBones) -> bool:
    """Whether a limb reaches as far down as the legs do."""
    legs = [found[key] for key in (("leg", LEFT), ("leg", RIGHT)) if key in found]
    if not legs:
        return False
    top, foot = (
        np.mean([tree.heads[leg.bones.get(part, leg.path[-1])] for leg in legs], axis=0) for part in ("thigh", "foot")
    )
    down = foot - top
    return float((tree.heads[limb.path[-1]] - top) @ down) > _DOWN * float(down @ down)


def _complete(tree: NamedTree, found: dict[tuple[str, str], LimbBones]) -> None:
    """Add legs and arms that names do not tell, by shape, to those that they do."""
    missing = [kind for kind in LIMBS if not any((kind, side) in found for side in (LEFT, RIGHT))]
    if not missing:
        return
    pairs = [pair for pair in branches.pairs(tree) if _is_free(tree, found, pair)]
    girdle = {bone for bone, name in enumerate(tree.names) if name.parts and name.parts.keys() <= _GIRDLE}
    made = branches.chosen(tree, pairs, missing, girdle)
    if not made and len(missing) == len(LIMBS) == len({pair.one[0] for pair in pairs}):  # without hands or feet
        made = branches.chosen(tree, pairs, missing, girdle, short=True)
    left = _left(tree, found)
    if left is None and "leg" in made:
        top = tree.common(*(limb.bones["arm"] for limb in made["arm"])) if "arm" in made else None
        left = branches.left_by_shape(tree, made["leg"], top)
    for kind, (one, other) in made.items():
        told = _told_side(tree, one), _told_side(tree, other)
        told = told[0] or OTHER[told[1]], told[1] or OTHER[told[0]]
        if set(told) == {LEFT, RIGHT}:
            found[kind, told[0]], found[kind, told[1]] = one, other
        elif left is not None:
            is_left = float((tree.heads[one.path[-1]] - tree.heads[other.path[-1]]) @ left) > 0.0
            found[kind, LEFT], found[kind, RIGHT] = (one, other) if is_left else (other, one)


def _told_side(tree: NamedTree, limb: LimbBones) -> str:
    """The side that the names of a limb's bones agree on; `MIDDLE` if there is none."""
    sides = {tree.names[bone].side for bone in limb.bones.values()} - {MIDDLE}
    return sides.pop() if len(sides) == 1 else MIDDLE


def _is_free(tree: NamedTree, found: dict[tuple[str, str], LimbBones], pair: branches.Pair) -> bool:
    """Whether two branches may be limbs: names do not tell otherwise, and they hold no limb that is found."""
    ends = pair.one[0], pair.other[0]
    sides = [tree.names[bone].side for bone in ends]
    if MIDDLE in sides and sides[0] != sides[1] and not bone_names.are_alike(*(tree.names[bone] for bone in ends)):
        return False
    used = {bone for limb in found.values() for bone in limb.bones.values()}
    return not any(
        tree.names[bone].helper or tree.names[bone].parts.keys() & TRUNK
        or any(tree.is_above(bone, other) or tree.is_above(other, bone) for other in used)
        for bone in ends
    )  # fmt: skip


def _left(tree: Tree, found: dict[tuple[str, str], LimbBones]) -> np.ndarray | None:
    """The figure's left, from limbs that are found on both sides."""
    for kind, parts in LIMBS.items():
        one, other = (found.get((kind, side)) for side in (LEFT, RIGHT))
        if one is not None and other is not None:
            return tree.heads[one.bones[parts[2]]] - tree.heads[other.bones[parts[2]]]
    return None


def _assign_limb(tree: NamedTree, roles: dict[int, Role], limb: LimbBones, kind: str, side: str) -> None:
    """The roles of a limb's bones, of bones that divide it, and of its fingers."""
    parts, bones = LIMBS[kind], limb.bones
    for part, bone in bones.items():
        roles[bone] = Role(part, side)
    for above, below in pairwise(parts[:4]):
        if above in bones and below in bones:
            path = tree.paths[bones[below]]
            for bone in path[path.index(bones[above]) + 1 : -1]:
                if above == "collar":
                    roles[bone] = Role("collar", side)
                elif _off_line(tree, bones[above], bone, bones[below]) < _OFF_LINE:  # else it is a joint that bends
                    roles[bone] = Role("twist", side)
    end = bones.get(parts[3])
    if kind == "arm" and end is not None:
        for bone in tree.below(end):
            if not tree.names[bone].helper:
                roles.setdefault(bone, Role("finger", side))


def _off_line(tree: Tree, start: int, bone: int, end: int) -> float:
    """How far a joint is off the line between two others, as a share of its length."""
    line, there = (tree.heads[one] - tree.heads[start] for one in (end, bone))
    length = max(float(np.linalg.norm(line)), 1e-12)
    return float(np.linalg.norm(there - line * (there @ line) / length**2)) / length


# -- trunk -------------------------------------------------------------------------------------------------------------


def _assign_trunk(tree: NamedTree, roles: dict[int, Role], found: dict[tuple[str, str], LimbBones]) -> None:
    """The trunk: the legs meet at the hips, the spine leads to the arms, neck and head are above."""
    legs, chest = _meeting(tree, found, "leg"), _meeting(tree, found, "arm")
    hips = _hips(tree, legs, chest)
    if hips is not None:
        roles[hips] = Role("hips")
    if chest is not None and hips is not None and chest != hips and tree.is_above(hips, chest):
        for bone in tree.paths[chest][tree.depth(hips) + 1 :]:
            named = _best(tree.names[bone])
            # claws may hang on the head
            roles.setdefault(bone, Role(named if bone == chest and named in ("neck", "head") else "spine"))
    top = hips if chest is None else chest
    if top is None:
        _assign_bare_trunk(tree, roles)
        return
    if roles.get(top) == Role("head"):
        return
    head = _head(tree, roles, top)
    if head is None:
        return
    roles[head] = Role("head")
    for bone in tree.paths[head][tree.depth(top) + 1 : -1]:
        part = _best(tree.names[bone]) if chest is None else "neck"
        roles.setdefault(bone, Role(part if part in ("spine", "neck") else "neck"))


def _assign_bare_trunk(tree: NamedTree, roles: dict[int, Role]) -> None:
    """The head of a figure without limbs, as a snake's, and what carries it, as far as names tell."""
    heads = [b for b, name in enumerate(tree.names) if _best(name) == "head" and not name.side]
    head = min(heads, key=tree.depth, default=-1)
    if roles or head < 0 or tree.depth(head) == 0:
        return
    roles[head] = Role("head")
    for bone in tree.paths[head][:-1]:
        if (part := _best(tree.names[bone])) in ("spine", "neck"):
            roles[bone] = Role(part)


def _best(name: BoneName) -> str:
    return max(name.parts, key=lambda part: name.parts[part], default="")


def _assign_girdles(tree: NamedTree, roles: dict[int, Role]) -> None:
    """The bones above arms and legs are collar bones and hip joints if names say nothing and they are not the trunk."""
    for part, upper in (("collar", "arm"), ("hip_joint", "thigh")):
        uppers = {role.side: bone for bone, role in roles.items() if role.name == upper}
        above = {side: tree.parent[bone] for side, bone in uppers.items() if Role(part, side) not in roles.values()}
        if len(above) == 2 and len(set(above.values())) == 2:
            for side, bone in above.items():
                if bone >= 0 and bone not in roles and not tree.names[bone].parts and not tree.names[bone].helper:
                    roles[bone] = Role(part, side)


def _meeting(tree: Tree, found: dict[tuple[str, str], LimbBones], kind: str) -> int | None:
    """The lowest bone above a left and a right limb."""
    one, other = (found.get((kind, side)) for side in (LEFT, RIGHT))
    if one is None or other is None:
        return None
    upper = LIMBS[kind][1]
    return tree.common(one.bones[upper], other.bones[upper])


def _hips(tree: NamedTree, legs: int | None, chest: int | None) -> int | None:
    """The bone where legs and trunk meet, or one above it that has the name of hips."""
    if legs is None:
        return next((b for b, name in enumerate(tree.names) if _best(name) == "hips"), None)
    core = next((b for b in tree.paths[legs][::-1] if chest is None or tree.is_above(b, chest)), legs)
    named = (b for b in tree.paths[core][::-1] if _best(tree.names[b]) == "hips")
    return next(named, core)


def _head(tree: NamedTree, roles: dict[int, Role], top: int) -> int | None:
    """The head above the chest: by its name, or the end of the trunk."""
    above = [b for b in tree.below(top) if b not in roles and not tree.names[b].side and not tree.names[b].helper]
    named = [b for b in above if _best(tree.names[b]) == "head"]
    if named:
        return min(named, key=tree.depth)
    trunk = [b for b in above if _best(tree.names[b]) in ("spine", "neck")]
    if trunk:
        return max(trunk, key=tree.depth)
    ways = {b: tree.paths[b][tree.depth(top) + 1 :] for b in above}
    free = [b for b, way in ways.items() if not any(tree.names[one].helper or one in roles for one in way)]
    return _head_by_shape(tree, roles, top, free)


def _head_by_shape(tree: Tree, roles: dict[int, Role], top: int, free: list[int]) -> int | None:
    """The head among free bones above the chest: the end of the longest path in the midplane that leads on.

    Hair and ears lead back or aside. The head is the last joint, or the one before if that is its crown or in its face.
    """
    left, on = directions.of_limbs(tree, roles)
    middle = set(free)
    if left is not None:
        middle = {b for b in free if abs((tree.heads[b] - tree.heads[top]) @ left) < _MIDPLANE * tree.size} or middle
    paths = [path for b in middle if (path := _leading_on(tree, tree.paths[b][tree.depth(top) :], middle, on))]
    if not paths:
        return None
    path = max(paths, key=lambda path: sum(tree.distance(a, b) for a, b in pairwise(path)))
    before = tree.distance(path[-2], path[-3]) if len(path) > 2 else 0.0
    if before > SMALL * tree.size:
        ratio = tree.distance(path[-1], path[-2]) / before
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
        if np.linalg.norm(line) > SMALL * tree.size or len(kept) == 1:
            kept.append(bone)
    return kept if len(kept) > 1 else []


def not_human(tree: NamedTree, roles: dict[int, Role]) -> Note | None:
    """Why a figure is not human; None for a human one."""
    bones = {role: bone for bone, role in roles.items()}
    if any(tree.names[bone].animal for bone in roles):
        return Note("This figure has wings, paws or hooves, so Human Limits does not fit it: set limits bone by bone")
    armed = any(Role("arm", side) in bones for side in (LEFT, RIGHT))
    if directions.mean_line(tree, roles, *_LEGS) is None and _pairs_of_limbs(tree) > _MOST_PAIRS:
        return Note(Code.MORE_LIMBS)
    others = beside.further_limbs(tree, roles, human=armed) if roles else []
    if any(beside.is_leg(tree, limb) for limb in others) or (not armed and len(others) > _MOST_PAIRS):
        return Note(Code.MORE_LIMBS)
    if leans(tree, roles):
        return Note("This figure stands on four legs or leans like a bird, so Human Limits does not fit it: set limits "
                    "bone by bone")
    return None


def leans(tree: Tree, roles: dict[int, Role]) -> bool:
    """Whether a figure's trunk leans against its legs more than that of people who stand."""
    shoulders = [Role(name, side) for side in (LEFT, RIGHT) for name in ("collar", "arm")]
    roots = (Role("hips"), Role("thigh", LEFT), Role("thigh", RIGHT))
    trunk = next((one for root in roots if (one := directions.line(tree, roles, root, *shoulders)) is not None), None)
    legs, arms = (directions.mean_line(tree, roles, *limb) for limb in (_LEGS, _ARMS))
    if trunk is None or legs is None:
        return False
    upright = float(-trunk @ legs)
    return upright < _LEANING or (upright < _ACROSS and arms is not None and float(arms @ legs) > _PARALLEL)


def _pairs_of_limbs(tree: NamedTree) -> int:
    """The number of pairs of long branches that mirror each other and are nothing that a figure wears."""
    own = [
        pair for pair in branches.pairs(tree)
        if pair.length > _LONG * tree.size and not any(tree.names[bone].helper for bone in (pair.one[0], pair.other[0]))
    ]  # fmt: skip
    tops = [{pair.one[0], pair.other[0]} for pair in own]
    return sum(not any(tops[k] & other for other in tops[:k]) for k in range(len(tops)))
