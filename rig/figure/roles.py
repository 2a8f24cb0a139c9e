# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles of bones in a figure, recognised by their names, their place in the hierarchy and the figure's shape.

Names are those of Rigify, Mixamo, VRM, Unreal, Unity, Auto-Rig Pro, Advanced Skeleton, Valve, 3ds Max Biped, motion
capture, MakeHuman, MikuMikuDance and the like (`bone_names`). Limbs without such names are found by shape (`limbs`).
The user's own choice for a bone comes first.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.rest import Tree
from ..blender.armature import Armature, matrices
from ..blender.dependencies import control_bones
from ..notes import Code, Note
from . import beside, bone_names, eyes, recognise
from .beside import FurtherLimb
from .bone_names import BoneName, NamedTree
from .parts import ROLES, Role

_BY_IDENTIFIER = {role.identifier: role for role in ROLES}


class Figure(NamedTuple):
    """The roles of a figure's bones by number.

    loose : the roles of feet and hands that are bones of their own, and of their toes (`beside.loose_ends`); they are
    not among `roles`. eyes : the roles of eyes, which are not among them either: no pose of the body is about them.
    not_human : why human limits do not fit it; None if they do. controlled : why goals cannot move its bones, because
    other bones control them by constraints; None if they can. folded : whether it would be human if it rested as it
    stands in its present pose.
    """

    roles: dict[int, Role]
    not_human: Note | None = None
    controlled: Note | None = None
    folded: bool = False
    loose: Mapping[int, Role] = MappingProxyType({})
    eyes: Mapping[int, Role] = MappingProxyType({})

    @property
    def all_roles(self) -> dict[int, Role]:
        """The roles of all bones, also of loose ones and of eyes."""
        return {**self.roles, **self.loose, **self.eyes}

    def role(self, bone: int) -> Role | None:
        """The role of a bone, also of a loose one or an eye; None if it has none."""
        return self.roles.get(bone) or self.loose.get(bone) or self.eyes.get(bone)

    def loose_end(self, role: Role) -> int | None:
        """The loose bone of a role."""
        return next((bone for bone, own in self.loose.items() if own == role), None)


FOLDED = Note(Code.FOLDED)


def items() -> list[tuple[str, str, str, int]]:
    """The choices of a bone's role in the panel."""
    return [
        ("AUTO", "Automatic", "Recognise the bone by its name and its place", 0),
        ("NONE", "None", "The bone is no part of the figure", 1),
        *((role.identifier, role.label, "", role.number) for role in ROLES),
    ]  # fmt: skip


def mirrored(choice: str) -> str:
    """The choice of a role for the other side."""
    role = _BY_IDENTIFIER.get(choice)
    return choice if role is None else role.mirrored.identifier


def read(ob: bpy.types.Object, armature: Armature) -> Figure:
    """The roles of an armature object's bones, with the user's corrections. `Character.of` keeps them."""
    tree = named_tree(ob, armature)
    roles, chosen = recognise.find(tree), [bone.dqik_role for bone in ob.pose.bones]
    _correct(roles, chosen)
    own_eyes = {bone: role for bone, role in roles.items() if role.name == "eye"}
    roles = {bone: role for bone, role in roles.items() if bone not in own_eyes}
    free = {bone for bone, choice in enumerate(chosen) if choice == "AUTO" and ob.pose.bones[bone].bone.use_deform}
    loose = beside.loose_ends(tree, roles, free)
    roles = {bone: role for bone, role in roles.items() if bone not in loose}
    not_human = recognise.not_human(tree, roles)
    folded = recognise.leans(tree, roles) and not recognise.not_human(_posed(ob, tree), roles)
    controlled = None if armature.kind else _controlled(ob, roles)
    if armature.kind is None:  # in a generated rig, what is named as an eye is a control before the face
        auto = {bone for bone, choice in enumerate(chosen) if choice == "AUTO"}
        found = eyes.find(tree, roles, auto)
        own_eyes |= {bone: role for bone, role in found.items() if role not in own_eyes.values()}
    return Figure(roles, FOLDED if folded else not_human, controlled, folded, loose, own_eyes)


def named_tree(ob: bpy.types.Object, armature: Armature) -> NamedTree:
    """An armature object's bones with their names; control bones and those that goals cannot move are helpers."""
    names = bone_names.read([name or "" for name in armature.names])
    for bone in np.flatnonzero(~armature.controls).tolist():
        names[bone] = BoneName(helper=True)
    for bone in control_bones(ob) & armature.index.keys():
        names[armature.index[bone]] = BoneName(helper=True)
    return NamedTree(armature.control_tree, names)


def ik_followers(ob: bpy.types.Object, armature: Armature, figure: Figure) -> dict[int, int]:
    """IK bones of games, and the bones of the figure that they go with, by number (`beside.ik_followers`)."""
    return beside.ik_followers(named_tree(ob, armature), {**figure.roles, **figure.loose})


def further_limbs(ob: bpy.types.Object, armature: Armature, figure: Figure) -> list[FurtherLimb]:
    """The limbs of a figure beside its two arms and two legs (`beside.further_limbs`)."""
    return beside.further_limbs(named_tree(ob, armature), figure.roles, not figure.not_human)


def _posed(ob: bpy.types.Object, tree: NamedTree) -> NamedTree:
    return NamedTree(Tree(tree.parent, matrices(ob.pose.bones, "matrix")[:, :3, 3]), tree.names)


def _correct(roles: dict[int, Role], chosen: list[str]) -> None:
    """Put the user's choices into `roles`; a role that one bone has goes over to the chosen one."""
    for bone, choice in enumerate(chosen):
        if choice == "AUTO":
            continue
        roles.pop(bone, None)
        role = _BY_IDENTIFIER.get(choice)
        if role is None:
            continue
        if not role.part.several:
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
    return Note("Bones such as {} follow the controls of this rig, so goals cannot move them: set up the rig that it "
                "was made from, or add goals for its FK controls", repr(led[0].name))
