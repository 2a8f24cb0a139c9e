# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles of bones in a human figure, recognised by their names and their place in the hierarchy.

It recognises the names of Rigify, Mixamo, VRM, Unreal, 3ds Max Biped, motion capture (CMU and other BVH) and
MikuMikuDance. Some names mean different bones in different rigs ("LeftLeg", "LeftShoulder", "spine.004"); the bones
above and below decide.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

LEFT, RIGHT, MIDDLE = "L", "R", ""

_SIDES = {"l": LEFT, "left": LEFT, "lft": LEFT, "左": LEFT, "r": RIGHT, "right": RIGHT, "rgt": RIGHT, "右": RIGHT}
_NOISE = {"mixamorig", "bip", "j", "c", "def", "org", "character", "ccbase", "cc", "base", "bone", "jnt", "skel"}
_HELPERS = {
    "ik", "fk", "mch", "pole", "target", "ctrl", "control", "tweak", "twist", "roll", "helper", "end", "nub", "site",
    "heel", "parent", "master", "捩", "捩れ", "先", "親",
}  # fmt: skip
_WORDS = {
    "hips": "hips hip pelvis 下半身 センター",
    "spine": "spine chest upperchest lowerback back torso abdomen waist lumbar thorax 上半身",
    "neck": "neck 首",
    "head": "head skull 頭",
    "collar": "collar clavicle collarbone shoulder 肩",
    "arm": "arm upperarm uparm humerus shldr 腕",
    "forearm": "forearm lowerarm lowarm elbow radius ひじ",
    "hand": "hand wrist 手首",
    "thigh": "thigh upleg upperleg femur 足",
    "shin": "shin calf leg lowerleg lowleg knee tibia ひざ",
    "foot": "foot ankle 足首",
    "toes": "toe toes toebase ball つま先",
    "hip_joint": "hipjoint",
}
_ROLE = {word: role for role, words in _WORDS.items() for word in words.split()}
_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[左右]|[^\W\d_a-zA-Z左右]+")
_LIMBS = {"collar", "arm", "forearm", "hand", "thigh", "shin", "foot", "toes", "hip_joint"}


class Role(NamedTuple):
    """A role: hips, spine, neck or head; or, with a side, collar, arm, forearm, hand, thigh, shin, foot or toes.

    A hip_joint is a short bone between hips and thigh.
    """

    name: str
    side: str = MIDDLE


def find(names: Sequence[str], parent: Sequence[int]) -> dict[int, Role]:
    """The roles of the bones that are recognised.

    names, parent : of all bones; -1 for no parent. Parents may come after children.
    """
    above = [_above(bone, parent) for bone in range(len(names))]
    roles: dict[int, Role] = {}
    for bone in sorted(range(len(names)), key=lambda bone: len(above[bone])):
        role = _by_name(names[bone])
        if role is not None:
            roles[bone] = role
    _settle_limbs(roles, above)
    _settle_trunk(roles, above)
    return roles


def _by_name(name: str) -> Role | None:
    """The role that a name alone suggests."""
    tokens = [token.lower() for token in _TOKEN.findall(name)]
    if _HELPERS & set(tokens):
        return None
    sides = {_SIDES[token] for token in tokens if token in _SIDES}
    words = "".join(token for token in tokens if token not in _SIDES and token not in _NOISE)
    role = _ROLE.get(words)
    if role is None and "base" in tokens:  # in "ToeBase" base is part of the name
        role = _ROLE.get(words + "base")
    if role is None and not sides and words[:1] in ("l", "r"):  # "lThigh" is two tokens, "lthigh" is one
        role, sides = _ROLE.get(words[1:]), {_SIDES[words[0]]}
    side = next(iter(sides)) if len(sides) == 1 else MIDDLE
    if role == "hips" and side:
        role = "hip_joint"
    if role is None or len(sides) > 1 or (role in _LIMBS) != bool(side):
        return None
    return Role(role, side)


def _above(bone: int, parent: Sequence[int]) -> list[int]:
    """The bones above a bone, the nearest first."""
    path: list[int] = []
    while parent[bone] >= 0:
        bone = parent[bone]
        path.append(bone)
    return path


def _settle_limbs(roles: dict[int, Role], above: Sequence[Sequence[int]]) -> None:
    """Resolve ambiguous names by the bones below them, and keep one bone for each role."""
    for side in (LEFT, RIGHT):
        limb = {name: [b for b, role in roles.items() if role == (name, side)] for name in _LIMBS}
        if not limb["thigh"]:
            # "LeftLeg" is the thigh if a shin is below it; "LeftHip" if nothing else is the thigh
            legs = [b for b in limb["shin"] if any(b in above[other] for other in limb["shin"])]
            hips = [b for b in limb["hip_joint"] if any(b in above[other] for other in limb["shin"])]
            for bone in (legs or hips)[:1]:
                roles[bone] = Role("thigh", side)
        if not limb["arm"] and limb["collar"]:
            # "LeftShoulder" is the upper arm if the forearm is below it
            for bone in [b for b in limb["collar"] if any(b in above[other] for other in limb["forearm"])][-1:]:
                roles[bone] = Role("arm", side)
        for name in _LIMBS:
            for bone in [b for b, role in roles.items() if role == (name, side)][1:]:
                del roles[bone]  # segments below the first, or copies


def _settle_trunk(roles: dict[int, Role], above: Sequence[Sequence[int]]) -> None:
    """Assign the trunk: the legs meet at the hips, the spine leads to the arms, neck and head are above."""
    chest = _meeting(roles, above, ("arm", "collar"))
    hips = _hips(roles, above, chest)
    for bone in [b for b, role in roles.items() if role.name == "hips" and hips not in (None, b)]:
        if hips in above[bone]:
            roles[bone] = Role("spine")
        else:
            del roles[bone]
    if hips is not None:
        roles[hips] = Role("hips")
    if chest is None or chest == hips:
        return
    for bone in [chest, *above[chest]]:
        if bone == hips:
            break
        if bone not in roles:
            roles[bone] = Role("spine")
    over = [b for b, role in roles.items() if role.name == "spine" and chest in above[b]]
    heads = [b for b, role in roles.items() if role.name == "head"]
    if over and not heads:
        top = max(over, key=lambda bone: len(above[bone]))
        roles[top] = Role("head")
        over.remove(top)
    for bone in over:
        roles[bone] = Role("neck")
    for bone in sorted(heads, key=lambda bone: len(above[bone]))[1:]:
        del roles[bone]


def _hips(roles: dict[int, Role], above: Sequence[Sequence[int]], chest: int | None) -> int | None:
    """The common ancestor of legs and trunk, or a bone above it that has the name of hips."""
    legs = _meeting(roles, above, ("thigh", "hip_joint"))
    if legs is None:
        return next((b for b, role in roles.items() if role.name == "hips"), None)
    paths = [legs, *above[legs]]
    core = next((bone for bone in paths if chest is None or bone in (chest, *above[chest])), legs)
    named = (bone for bone in (core, *above[core]) if roles.get(bone) == Role("hips"))
    return next(named, core)


def _meeting(roles: dict[int, Role], above: Sequence[Sequence[int]], limbs: Sequence[str]) -> int | None:
    """The lowest common ancestor of a left and a right limb."""
    for name in limbs:
        ends = [next((b for b, role in roles.items() if role == (name, side)), None) for side in (LEFT, RIGHT)]
        if ends[0] is not None and ends[1] is not None:
            return next((bone for bone in above[ends[0]] if bone in above[ends[1]]), None)
    return None
