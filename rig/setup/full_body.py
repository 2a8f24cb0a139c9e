# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for hands, feet, head and hips of a human figure, with defaults that suit a body."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np

from ..blender import animation
from ..blender.armature import Armature
from ..figure import roles
from ..figure.anatomy import FREE_FOOT, Anatomy, with_rotation
from ..figure.body import RestBody
from ..figure.parts import LEFT, PARTS, RIGHT, Role
from . import control_looks, control_parents, control_shapes, controls, goals

HIPS = Role("hips")


WRIST = 0.1  # weight of a hand's rotation: where limits do not allow both, the hand is at its target, turned otherwise


class End(NamedTuple):
    """A part of the body that gets a goal: its words, priority and weight, and its control's shape and size.

    rotation : weight of its rotation as a share of that of its position. along : the share of its bone's limb at which
    the shape is drawn.
    """

    words: str
    priority: int
    weight: float
    shape: str
    size: float
    rotation: float = 1.0
    along: float = 0.0


ENDS = {
    HIPS: End("hips", -1, 0.3, control_shapes.RING, 0.25),
    Role("head"): End("head", 0, 2.2, control_shapes.RING, 0.14, along=0.5),
    Role("hand", LEFT): End("left hand", 0, 1.0, control_shapes.BOX, 0.05, WRIST, 0.4),
    Role("hand", RIGHT): End("right hand", 0, 1.0, control_shapes.BOX, 0.05, WRIST, 0.4),
    Role("foot", LEFT): End("left foot", 0, 3.5, control_shapes.BOX, 0.07, along=0.4),
    Role("foot", RIGHT): End("right foot", 0, 3.5, control_shapes.BOX, 0.07, along=0.4),
}
"""A hand that is out of reach lifts no foot and hardly moves the head; hips follow the others.

Measured over reaches and moves of hips: with lighter feet or heavier hips, a hand out of reach lifts feet by more than
a millimetre, or hips that should follow keep it from its target.
"""

_EXTREMITIES = ENDS.keys() - {HIPS}
_ABOVE = {"hand": "forearm", "foot": "shin"}

# hands out of reach would turn collars, a crouch ankles, as far as they can
LIMITED = {"collar": PARTS["collar"].range, "foot": FREE_FOOT, "toes": PARTS["toes"].range}


@dataclass
class SetUp:
    """Bones with a new goal, bones that had a goal before, the hips that may now move, and the parts not found.

    taken : the bones with a new goal by the words for their parts.

    keyed_hips : the hips have keys and their target has none, so their goal holds them there
        (`goals.KEYED_INFLUENCE`).
    """

    new_goals: list[str] = field(default_factory=list)
    old_goals: list[str] = field(default_factory=list)
    hips: str = ""
    keyed_hips: bool = False
    missing: list[str] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)


def set_up(
    ob: bpy.types.Object, scene: bpy.types.Scene, use_rotation: bool, as_bones: bool, in_motion: bool = False
) -> SetUp:
    """Add goals for hands, feet, head and hips. They move all bones up to the hips, which may move as well as turn.

    Targets are control bones, or empties in a collection of their own. They are at the bones' heads (wrists, ankles,
    the top of the neck), or at the tails of hands, feet and head if `use_rotation` is off. Bones that have a goal keep
    it. in_motion : the targets will be keyed from the body's motion, so the hips follow theirs as firmly as the others.
    """
    armature, result = Armature(ob), SetUp()
    figure = roles.of(ob, armature)
    names, bone_roles = list(armature.index), figure.roles
    bones = {role: bone for bone, role in bone_roles.items()}
    hips = bones.get(HIPS)
    bones_with_goals = {goal.bone for goal in ob.dqik.goals}
    new: list[tuple[int, Role, str]] = []
    for role, end in ENDS.items():
        bone, turns = bones.get(role), use_rotation
        if bone is None and role.name in _ABOVE:  # a limb that ends without has its goal at the end of the bone above
            bone, turns = bones.get(Role(_ABOVE[role.name], role.side)), False
        if bone is None:
            result.missing.append(end.words)
        elif names[bone] in bones_with_goals:
            result.old_goals.append(names[bone])
        elif role != HIPS or not _EXTREMITIES.isdisjoint(bones):
            result.taken[end.words] = names[bone]
            new.append((_add_goal(ob, armature, bone, role, hips, turns or role == HIPS), role, names[bone]))
    result.new_goals = [name for _, _, name in new]
    if hips is not None and (result.new_goals or result.old_goals):
        result.hips = names[hips]
        goals.let_translate(ob.pose.bones[names[hips]])
    for bone, role in bone_roles.items() if new else ():
        if role.part.stiffness:
            goals.stiffen(ob.pose.bones[names[bone]], role.part.stiffness)
    body = RestBody(armature, figure)
    for bone in _between_hips_and_legs(armature, figure) if new and armature.kind else ():
        goals.stiffen(ob.pose.bones[bone], PARTS["spine"].stiffness)
    if new and not figure.not_human:
        _limit(ob, Anatomy(body))
    _add_targets(ob, scene, new, result.hips, control_parents.master(ob, root_of(armature, hips)), as_bones, body)
    if as_bones:
        control_parents.add_pivots(ob, root_of(armature, hips))
        control_parents.turn_with_master(ob)
    goal = next((ob.dqik.goals[number] for number, role, _ in new if role == HIPS), None)
    if goal is not None and in_motion:
        goal.priority = 0
    elif goal is not None and animation.moves(ob, result.hips):
        goal.influence, result.keyed_hips = goals.KEYED_INFLUENCE, True
    return result


def is_set_up(ob: bpy.types.Object) -> bool:
    """Whether a hand, a foot, the head or the hips of a figure have a goal with a target of its own."""
    own = {goal.bone for goal in ob.dqik.goals if goal.own_target}
    return any(role in ENDS and ob.pose.bones[bone].name in own for bone, role in roles.of(ob).roles.items())


def chain_length(armature: Armature, bone: int, hips: int | None, use_tail: bool) -> int:
    """The number of bones in a chain from a bone to the hips; 0 (to the root) if the hips are the root."""
    above = armature.above(bone)
    if hips not in above or above[-1] == hips:
        return 0
    if bone == hips:
        return 1
    return above.index(hips) + (1 if use_tail else 0)  # the chain of a goal at the head begins with the parent


def root_of(armature: Armature, hips: int | None) -> str:
    """The name of the root bone above the hips; empty if there is none."""
    if hips is None or armature.parent[hips] < 0:
        return ""
    return list(armature.index)[armature.above(hips)[-1]]


def _between_hips_and_legs(armature: Armature, figure: roles.Figure) -> set[int]:
    """The bones by which the legs of a generated rig hang on its hips: they bend as a spine does."""
    bones = {role: bone for bone, role in figure.roles.items()}
    found, hips = set[int](), bones.get(HIPS)
    for thigh in (bones.get(Role("thigh", side)) for side in (LEFT, RIGHT)):
        above = [] if thigh is None else armature.above(thigh)[1:]
        if hips in above:
            found.update(bone for bone in above[: above.index(hips)] if armature.controls[bone])
    return found


def _add_goal(
    ob: bpy.types.Object, armature: Armature, bone: int, role: Role, hips: int | None, use_rotation: bool
) -> int:
    """Add a goal without a target; returns its number."""
    name = ob.pose.bones[bone].name
    goal = goals.new_goal(ob, name, chain_length(armature, bone, hips, not use_rotation), use_rotation)
    goal.use_tail, goal.priority = not use_rotation, ENDS[role].priority
    goal.position_weight, goal.rotation_weight = ENDS[role].weight, ENDS[role].weight * ENDS[role].rotation
    goal.rotation_follows = float(use_rotation and role.name == "hand")
    return len(ob.dqik.goals) - 1


def _limit(ob: bpy.types.Object, anatomy: Anatomy) -> None:
    """Limit the bones of some roles, unless they have limits or keys. Their present pose is inside the limits."""
    for number, role in anatomy.body.roles.items():
        bone = ob.pose.bones[number]
        if role.name not in LIMITED or bone.dqik_use_limits or animation.moves(ob, bone.name):
            continue
        fit = anatomy.fit(number, role, LIMITED[role.name])
        if fit is not None:
            pose = np.array(bone.matrix_basis.to_quaternion())
            goals.limit(bone, *with_rotation(fit.frame, pose, fit.lo, fit.hi), fit.frame)


def _add_targets(
    ob: bpy.types.Object, scene: bpy.types.Scene, new: Sequence[tuple[int, Role, str]], hips: str, root: str,
    as_bones: bool, body: RestBody,
) -> None:  # fmt: skip
    """Add the targets of new goals, given by number, role and bone.

    hips : the hips' bone, or empty. root : parent of control bones, or empty. The head's control follows that of the
    hips, so that these can move.
    """
    if not new:
        return
    if not as_bones:
        for number, _, _ in new:
            goals.add_empty(ob, number, _collection(ob, scene))
        return
    of_hips = next((goal.subtarget for goal in ob.dqik.goals if goal.bone == hips and goal.target == ob), "")
    if HIPS in (role for _, role, _ in new):
        of_hips = controls.PREFIX + HIPS.name
    wanted: list[tuple[int, controls.Control]] = []
    for number, role, name in new:
        end, follows, bone = ENDS[role], role.name == "head" and bool(of_hips), body.armature.index[name]
        wanted.append((number, controls.Control(
            f"{role.name}.{role.side}" if role.side else role.name, name, ob.dqik.goals[number].use_tail,
            of_hips if follows else root, not follows, role.side, end.shape,
            control_looks.size(body, role, end.size), shift=control_looks.shift(body, bone, end.along),
            normal=control_looks.normal(body, bone),
        )))  # fmt: skip
    goals.add_control_bones(ob, wanted)


def _collection(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection of an armature's targets; created if there is none."""
    name = f"{ob.name} targets"
    collection = next((child for child in scene.collection.children_recursive if child.name == name), None)
    if collection is None:
        collection = bpy.data.collections.new(name)
        collection[goals.MADE] = True
        scene.collection.children.link(collection)
    return collection
