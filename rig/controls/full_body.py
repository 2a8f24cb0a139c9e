# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for hands, feet, head and hips of a human figure, with defaults that suit a body."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.rest import LIMBS, SMALL
from ..blender import animation
from ..blender.armature import Armature
from ..figure import roles
from ..figure.anatomy import FREE_FOOT, Anatomy, with_rotation
from ..figure.body import RestBody
from ..figure.character import Character
from ..figure.parts import LEFT, PARTS, RIGHT, Role
from . import control_parents, control_shapes, controls, goals

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

_FURTHER = End("", 0, 1.0, control_shapes.BOX, 0.05, 1.0)  # a limb beside two arms and two legs
_TIP = 0.6  # of the longest bone of such a limb: a last bone that is shorter is a foot, and turns with its control

_EXTREMITIES = ENDS.keys() - {HIPS}
_ABOVE = {"hand": "forearm", "foot": "shin"}

_ASIDE = np.radians(15.0)  # a shin that points further from its loose foot than this does not end there
_WHOLE, _WHOLE_SIZE = {"foot": "leg", "hand": "arm"}, 0.015  # the control of a limb's end on that of its loose foot

# hands out of reach would turn collars, a crouch ankles, as far as they can
LIMITED = {"collar": PARTS["collar"].range, "foot": FREE_FOOT, "toes": PARTS["toes"].range}


@dataclass
class SetUp:
    """Bones with a new goal, bones that had a goal before, the hips that may now move, and the parts not found.

    taken : the bones with a new goal by the words for their parts. further : those of limbs that have no part.

    keyed_hips : the hips have keys and their target has none, so their goal holds them there
        (`goals.KEYED_INFLUENCE`).
    """

    new_goals: list[str] = field(default_factory=list)
    old_goals: list[str] = field(default_factory=list)
    hips: str = ""
    keyed_hips: bool = False
    missing: list[str] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)
    further: list[str] = field(default_factory=list)


class _New(NamedTuple):
    """A new goal: its number, its role, its bone, and what kind of end it is. name : of its control."""

    number: int
    role: Role
    bone: str
    end: End
    name: str


def set_up(
    ob: bpy.types.Object, scene: bpy.types.Scene, use_rotation: bool, as_bones: bool, in_motion: bool = False
) -> SetUp:
    """Add goals for hands, feet, head and hips. They move all bones up to the hips, which may move as well as turn.

    Targets are control bones, or empties in a collection of their own. They are at the bones' heads (wrists, ankles,
    the top of the neck), or at the tails of hands, feet and head if `use_rotation` is off. Bones that have a goal keep
    it. in_motion : the targets will be keyed from the body's motion, so the hips follow theirs as firmly as the others.
    """
    own, result = Character.of(ob), SetUp()
    new, legs = _add_ends(ob, own, use_rotation, result)
    if own.hips is not None and (new or result.old_goals):
        result.hips = own.names[own.hips]
        goals.let_translate(ob.pose.bones[own.hips])
    if new:
        _suit_bones(ob, own)
    _add_targets(ob, scene, own, new, result.hips, as_bones)
    for number, role, foot in legs:
        _follow_foot(ob, number, role, foot, as_bones)
    if as_bones:
        control_parents.add_pivots(ob, own.root)
        control_parents.turn_with_master(ob)
    goal = next((ob.dqik.goals[one.number] for one in new if one.role == HIPS), None)
    if goal is not None and in_motion:
        goal.priority = 0
    elif goal is not None and animation.moves(ob, result.hips):
        goal.influence, result.keyed_hips = goals.KEYED_INFLUENCE, True
    return result


def _add_ends(
    ob: bpy.types.Object, own: Character, use_rotation: bool, result: SetUp
) -> tuple[list[_New], list[tuple[int, Role, str]]]:  # fmt: skip
    """Add the goals, without targets yet, of the ends of limbs, of head and hips, and say in `result` of which bones.

    Also returns the goals of legs whose feet are bones of their own: number, role and the foot.
    """
    figure, bones, names = own.figure, own.bones, own.names
    others = roles.further_limbs(ob, own.armature, figure) if bones else []
    bones_with_goals = {goal.bone for goal in ob.dqik.goals}
    new, legs = list[_New](), list[tuple[int, Role, str]]()
    for role, end in ENDS.items():
        bone, turns, loose = bones.get(role), use_rotation, figure.loose_end(role)
        lower = bones.get(Role(_ABOVE.get(role.name, ""), role.side))
        if loose is not None and lower is not None and bones_with_goals.isdisjoint((names[loose], names[lower])):
            _reach(ob, own.armature, lower, loose)
            new.append(_New(_add_loose(ob, names[loose], end), role, names[loose], end, _control_name(role)))
            legs.append((_add_goal(ob, own, lower, end, False), role, names[loose]))
            result.taken[end.words] = names[loose]
            continue
        if bone is None and lower is not None:  # a limb that ends without has its goal at the end of the bone above
            bone, turns = lower, False
        elif others and bone is not None and role.name in _ABOVE and _is_shank(own.body, bone, role):
            turns = False
        if bone is None:
            result.missing.append(end.words)
        elif names[bone] in bones_with_goals or (loose is not None and names[loose] in bones_with_goals):
            result.old_goals.append(names[bone])
        elif role != HIPS or not _EXTREMITIES.isdisjoint(bones):
            result.taken[end.words] = names[bone]
            number = _add_goal(ob, own, bone, end, turns or role == HIPS)
            ob.dqik.goals[number].rotation_follows = float(turns and role.name == "hand")
            new.append(_New(number, role, names[bone], end, _control_name(role)))
    further = _further(ob, own, others, use_rotation, bones_with_goals)
    result.further, new = [one.bone for one in further], [*new, *further]
    result.new_goals = [one.bone for one in new]
    return new, legs


def _suit_bones(ob: bpy.types.Object, own: Character) -> None:
    """Give bones of a figure the stiffness and the limits that suit goals for the whole body."""
    for bone, role in own.figure.roles.items():
        if role.part.stiffness:
            goals.stiffen(ob.pose.bones[bone], role.part.stiffness)
    for bone in _between_hips_and_legs(own) if own.armature.kind else ():
        goals.stiffen(ob.pose.bones[bone], PARTS["spine"].stiffness)
    if not own.figure.not_human:
        _limit(ob, own.anatomy)


def is_set_up(ob: bpy.types.Object) -> bool:
    """Whether a hand, a foot, the head or the hips of a figure have a goal with a target of its own."""
    own = {goal.bone for goal in ob.dqik.goals if goal.own_target}
    return any(role in ENDS and ob.pose.bones[bone].name in own for bone, role in Character.of(ob).figure.roles.items())


def _between_hips_and_legs(own: Character) -> set[int]:
    """The bones by which the legs of a generated rig hang on its hips: they bend as a spine does."""
    armature, found, hips = own.armature, set[int](), own.hips
    for thigh in (own.bones.get(Role("thigh", side)) for side in (LEFT, RIGHT)):
        above = [] if thigh is None else armature.above(thigh)[1:]
        if hips in above:
            found.update(bone for bone in above[: above.index(hips)] if armature.controls[bone])
    return found


def _add_goal(ob: bpy.types.Object, own: Character, bone: int, end: End, use_rotation: bool) -> int:
    """Add a goal without a target; returns its number."""
    goal = goals.new_goal(ob, own.names[bone], own.chain_length(bone, not use_rotation), use_rotation)
    goal.use_tail, goal.priority = not use_rotation, end.priority
    goal.position_weight, goal.rotation_weight = end.weight, end.weight * end.rotation
    return len(ob.dqik.goals) - 1


# -- limbs of other kinds ----------------------------------------------------------------------------------------------


def _add_loose(ob: bpy.types.Object, foot: str, end: End) -> int:
    """Add a goal for a foot that is a bone of its own, which it moves as a whole; returns its number."""
    goal = goals.new_goal(ob, foot, 1, use_rotation=True)
    goal.use_tail, goal.priority = False, end.priority
    goal.position_weight = goal.rotation_weight = end.weight
    goals.let_translate(ob.pose.bones[foot])
    return len(ob.dqik.goals) - 1


def _reach(ob: bpy.types.Object, armature: Armature, lower: int, foot: int) -> None:
    """Have a shin end at its loose foot, if it points there: importers give the last bones of limbs any length."""
    name = ob.pose.bones[lower].name
    bone, line = ob.data.bones[name], armature.heads[foot] - armature.heads[lower]
    far = float(np.linalg.norm(line))
    length = float(armature.rest[lower, :3, 1] @ line)
    if bone.children or not controls.can_add(ob) or length < np.cos(_ASIDE) * far:
        return
    longer = length - bone.length
    if abs(longer) < SMALL * far:
        return
    with controls.edit_mode(ob) as bones:
        bones[name].length = length
    for other in bpy.data.objects:  # what hangs on a bone goes with its tail
        if other.parent == ob and other.parent_type == "BONE" and other.parent_bone == name and other.library is None:
            other.matrix_parent_inverse = Matrix.Translation((0.0, -longer, 0.0)) @ other.matrix_parent_inverse


def _follow_foot(ob: bpy.types.Object, number: int, role: Role, foot: str, as_bones: bool) -> None:
    """Give the goal of a leg's end a target on that of its loose foot.

    It is one of its own because in motions that were baked from IK, feet also are where their legs did not reach.
    """
    goal = ob.dqik.goals[number]
    own = next(one for one in ob.dqik.goals if one.bone == foot)
    if as_bones:
        name = _control_name(Role(_WHOLE[role.name], role.side))
        goals.add_control_bones(ob, [(number, controls.Control(
            name, goal.bone, True, own.subtarget, side=role.side, size=_WHOLE_SIZE,
        ))])  # fmt: skip
        return
    parent = own.target
    goals.add_empty(ob, number, parent.users_collection[0])
    target = ob.dqik.goals[number].target
    # its matrix in the world is not evaluated yet; here it is its own, whether targets follow the armature or not
    target.parent, target.matrix_parent_inverse = parent, parent.matrix_basis.inverted_safe()


def _further(
    ob: bpy.types.Object, own: Character, others: Sequence[roles.FurtherLimb], use_rotation: bool,
    bones_with_goals: set[str],
) -> list[_New]:  # fmt: skip
    """Add goals for the limbs beside two arms and two legs. A long last bone has its goal at its end."""
    found = list[_New]()
    for limb in others:
        end, at_tail = _end_of(own.body, limb.bones)
        name = own.names[end]
        if name not in bones_with_goals:
            number = _add_goal(ob, own, end, _FURTHER, use_rotation and not at_tail)
            found.append(_New(number, Role("further", limb.side), name, _FURTHER, name))
    return found


def _is_shank(body: RestBody, bone: int, role: Role) -> bool:
    """Whether a bone with the role of a hand or foot is a segment of a long leg, as a spider's, and no foot."""
    upper, lower = (body.bone(part, role.side) for part in LIMBS["arm" if role.name == "hand" else "leg"][1:3])
    if upper is None or lower is None or body.armature.tree.children[bone]:
        return False
    return _end_of(body, [upper, lower, bone])[1]


def _end_of(body: RestBody, bones: Sequence[int]) -> tuple[int, bool]:
    """The bone of a limb that gets its goal, and whether this is at its tail: it ends where bones become short."""
    heads = body.armature.heads
    lengths = [float(np.linalg.norm(line)) for line in np.diff(heads[bones], axis=0)]
    last = float(np.linalg.norm(body.armature.tails[bones[-1]] - heads[bones[-1]]))
    if _TIP * max(lengths) < last <= max(lengths) / _TIP:
        return bones[-1], True
    long = [number for number, length in enumerate(lengths) if length > _TIP * max(lengths)]
    return bones[long[-1] + 1], False


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


def _control_name(role: Role) -> str:
    return f"{role.name}.{role.side}" if role.side else role.name


def _add_targets(
    ob: bpy.types.Object, scene: bpy.types.Scene, own: Character, new: Sequence[_New], hips: str, as_bones: bool
) -> None:
    """Add the targets of new goals. The head's control follows that of the hips, so that these can move.

    hips : the hips' bone if it has a goal, or empty.
    """
    if not new:
        return
    if not as_bones:
        for one in new:
            goals.add_empty(ob, one.number, _collection(ob, scene))
        return
    of_hips = next((goal.subtarget for goal in ob.dqik.goals if goal.bone == hips and goal.target == ob), "")
    if any(one.role == HIPS for one in new):
        of_hips = controls.PREFIX + HIPS.name
    parent, wanted = control_parents.master(ob, own.root), list[tuple[int, controls.Control]]()
    for number, role, name, end, control in new:
        follows, bone = role.name == "head" and bool(of_hips), own.armature.index[name]
        body, known = own.body, bone in own.body.roles
        wanted.append((number, controls.Control(
            control, name, ob.dqik.goals[number].use_tail,
            of_hips if follows else parent, not follows, role.side, end.shape,
            control_shapes.size(body, role, end.size) if known else end.size,
            shift=control_shapes.shift(body, bone, end.along) if known else None,
            normal=control_shapes.normal(body, bone) if known else None,
            pivot=own.root if follows and not animation.moves(ob, controls.PREFIX + control) else None,
        )))  # fmt: skip
    goals.add_control_bones(ob, wanted)


def _collection(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    name = f"{ob.name} targets"
    collection = next((child for child in scene.collection.children_recursive if child.name == name), None)
    if collection is None:
        collection = bpy.data.collections.new(name)
        collection[goals.MADE] = True
        scene.collection.children.link(collection)
    return collection
