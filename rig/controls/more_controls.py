# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that a full body may have beside hands, feet, head and hips, each added without moving the body.

The chest reaches its place and turn as a wish, as hips do. Its control carries the head's: a body leans with its head.
Shoulders and toes turn against the bone above. Elbows and knees are poles of hands and feet. A master is the parent of
all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import bpy
from mathutils import Matrix, Vector

from ..blender import animation
from ..figure.character import Character
from ..figure.parts import LEFT, MIDDLE, RIGHT, Role
from ..skeleton.poles import Poles
from . import control_looks, control_parents, control_shapes, controls, full_body, goals
from .controls import Control
from .full_body import End

KINDS = ("CHEST", "SHOULDERS", "ELBOWS", "KNEES", "TOES", "MASTER")
"""The controls that may be added. The chest comes before what it carries."""

_CHEST = End("chest", -1, 0.3, control_shapes.RING, 0.22, along=0.3)
_TURNING = {
    "SHOULDERS": ("collar", {side: End(f"{words} shoulder", -1, 0.3, control_shapes.RING, 0.09, along=0.8)
                             for side, words in ((LEFT, "left"), (RIGHT, "right"))}),
    "TOES": ("toes", {side: End(f"{words} toes", 0, 1.0, control_shapes.BOX, 0.045, along=0.6)
                      for side, words in ((LEFT, "left"), (RIGHT, "right"))}),
}  # fmt: skip
_POLES = {"ELBOWS": ("elbow", "hand", "forearm"), "KNEES": ("knee", "foot", "shin")}
"""The name of a pole, the part whose goal has it, and the part whose joint it turns."""
_POLE_SIZE = 0.035
_NAMES = {"collar": "shoulder", "spine": "chest"}


@dataclass
class Added:
    """The names of new controls, the words for the parts that were not found, and what takes keys from a motion.

    goals : the numbers of new goals. poles : new poles, by the numbers of their goals. pivots : of other controls.
    leads : whether new controls lead the body; else their goals have no influence yet, and their poles are not used.
    """

    names: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    goals: list[int] = field(default_factory=list)
    poles: dict[int, str] = field(default_factory=dict)
    pivots: list[control_parents.Pivot] = field(default_factory=list)
    leads: bool = True

    def lead(self, ob: bpy.types.Object, leads: bool = True) -> None:
        """Let the new controls lead the body, or not: without them it is solved as before, to the last digit.

        The goal of a keyed bone leaves that to its keys.
        """
        self.leads = leads
        for number in self.goals:
            goal = ob.dqik.goals[number]
            whole = goals.KEYED_INFLUENCE if animation.moves(ob, goal.bone) else 1.0
            goal.influence = whole if leads else 0.0
        for number in self.poles:
            ob.dqik.goals[number].use_pole = leads


def add(ob: bpy.types.Object, wanted: Iterable[str], in_motion: bool = False) -> Added:
    """Add controls of some `KINDS` to a body that has goals; those that are there stay. `controls.can_add(ob)`.

    in_motion : they will be keyed from the body's motion, so bones follow them as firmly as hands and feet do theirs.
    Else they lead nothing yet.
    """
    wanted, result, view = set(wanted), Added(leads=in_motion), _View(ob)
    if "CHEST" in wanted:
        _add_chest(ob, view, result)
    turning = [new for kind in KINDS if kind in wanted and kind in _TURNING
               for side, end in _TURNING[kind][1].items()
               for new in _new_goal(ob, view, Role(_TURNING[kind][0], side), end, 1, result)]  # fmt: skip
    _add_controls(ob, turning, result)
    _add_poles(ob, view, [kind for kind in KINDS if kind in wanted and kind in _POLES], result)
    if "MASTER" in wanted and control_parents.add_master(ob):
        result.names.append(controls.MASTER)
    for number in result.goals:
        if in_motion:
            ob.dqik.goals[number].priority = max(ob.dqik.goals[number].priority, 0)
    return result


def lacks(ob: bpy.types.Object, wanted: Iterable[str]) -> bool:
    """Whether a body lacks any control of some `KINDS` that it can have: whether `add` would add one."""
    view = _View(ob)
    parts = {"CHEST": [Role("spine")]} | {
        kind: [Role(part, side) for side in ends] for kind, (part, ends) in _TURNING.items()
    }  # fmt: skip
    for kind in wanted:
        if kind == "MASTER" and controls.MASTER not in ob.data.bones:
            return True
        if any(_free_bone(ob, view, role) for role in parts.get(kind, ())):
            return True
        if kind in _POLES and _wanted_poles(ob, view, *_POLES[kind], Added()):
            return True
    return False


def settle(ob: bpy.types.Object) -> None:
    """Put controls without keys where the body has come to, so that their goals are met to the last digit.

    Controls stay where they, or others below them, have keys.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = ob.evaluated_get(depsgraph)
    unkeyed: dict[int, str] = {}
    for number, goal in enumerate(ob.dqik.goals):
        bone = ob.data.bones.get(goal.subtarget) if goal.target == ob and goal.own_target else None
        if not goal.mute and bone is not None:
            family = [bone, *bone.children_recursive]
            if not any(animation.moves(ob, one.name) for one in family):
                unkeyed[number] = bone.name
    below = {child.name for name in unkeyed.values() for child in ob.data.bones[name].children_recursive}
    staying = {name: evaluated.pose.bones[name].matrix.copy() for name in below - set(unkeyed.values())}
    goals.put_targets(ob, goals.places(ob, unkeyed, depsgraph), depsgraph, staying)


def present(ob: bpy.types.Object) -> set[str]:
    """The `KINDS` of which an armature object has all its controls that it can have, by the names of these."""
    names = {bone.name for bone in controls.of(ob)}
    sided = {"SHOULDERS": "shoulder", "TOES": "toes", "ELBOWS": "elbow", "KNEES": "knee"}
    whole = {"CHEST": {_name("chest", MIDDLE)}, "MASTER": {controls.MASTER}}
    whole |= {kind: {_name(part, LEFT), _name(part, RIGHT)} for kind, part in sided.items()}
    return {kind for kind, own in whole.items() if own <= names}


# -- inside ------------------------------------------------------------------------------------------------------------


class _View:
    """An armature before controls are added, with its figure."""

    def __init__(self, ob: bpy.types.Object) -> None:
        own = Character.of(ob)
        self.armature, self.body = own.armature, own.body
        self.names = list(self.armature.index)
        self.hips = self.body.bone("hips")
        self.root = control_parents.master(ob, full_body.root_of(self.armature, self.hips))

    def bone(self, name: str, side: str) -> int | None:
        """The bone of a role; the uppermost one of the spine."""
        if name != "spine":
            return self.body.bone(name, side)
        spine = [bone for bone, role in self.body.roles.items() if role.name == "spine"]
        return max(spine, key=lambda bone: len(self.armature.above(bone)), default=None)


def _name(name: str, side: str) -> str:
    return controls.PREFIX + (f"{name}.{side}" if side else name)


def _control_of(ob: bpy.types.Object, bone: str) -> str:
    """The name of the control of a bone's goal; empty if it has none."""
    own = (goal.subtarget for goal in ob.dqik.goals if goal.bone == bone and goal.target == ob and goal.own_target)
    return next((name for name in own if name in ob.data.bones and controls.is_control(ob.data.bones[name])), "")


def _trunk(ob: bpy.types.Object, view: _View, *, upper: bool) -> str:
    """The control of the chest, of the `upper` part of the body, or of the hips; else their parent."""
    chest, hips = view.bone("spine", MIDDLE), view.hips
    own = _control_of(ob, view.names[chest]) if chest is not None and upper else ""
    return own or (_control_of(ob, view.names[hips]) if hips is not None else "") or view.root


def _new_goal(
    ob: bpy.types.Object, view: _View, role: Role, end: End, chain_length: int, result: Added
) -> list[tuple[int, Control]]:
    """Add a goal for the bone of a role; its number and the control to come. None of both if it has one."""
    bone = view.bone(role.name, role.side)
    if bone is None:
        result.missing.append(end.words)
    name = _free_bone(ob, view, role)
    if bone is None or not name:
        return []
    goal = goals.new_goal(ob, name, chain_length, use_rotation=True)
    goal.influence = float(result.leads)
    goal.priority, goal.position_weight, goal.rotation_weight = end.priority, end.weight, end.weight
    turning = role.name != "spine"
    goal.use_tail, goal.use_position, goal.rotation_follows = turning, not turning, float(turning)
    part = _NAMES.get(role.name, role.name)
    parent = _foot(ob, view, role.side) if role.name == "toes" else _trunk(ob, view, upper=turning)
    return [(len(ob.dqik.goals) - 1, Control(
        f"{part}.{role.side}" if role.side else part, name, turning, parent, True, role.side, end.shape,
        control_looks.size(view.body, role, end.size), shift=control_looks.shift(view.body, bone, end.along),
        normal=control_looks.normal(view.body, bone), lock="lock_location" if turning else "",
    ))]  # fmt: skip


def _free_bone(ob: bpy.types.Object, view: _View, role: Role) -> str:
    """The name of the bone of a role that has no goal yet; empty if there is none."""
    bone = view.bone(role.name, role.side)
    name = "" if bone is None else view.names[bone]
    return "" if any(goal.bone == name for goal in ob.dqik.goals) else name


def _foot(ob: bpy.types.Object, view: _View, side: str) -> str:
    """The control of a foot, which carries that of its toes; the root if it has none."""
    foot = view.body.bone("foot", side)
    return (_control_of(ob, view.names[foot]) if foot is not None else "") or view.root


def _add_controls(ob: bpy.types.Object, new: Sequence[tuple[int, Control]], result: Added) -> None:
    """Add the controls of new goals. Their parents are at their places."""
    goals.add_control_bones(ob, new)
    result.names += [ob.dqik.goals[number].subtarget for number, _ in new]
    result.goals += [number for number, _ in new]


def _add_chest(ob: bpy.types.Object, view: _View, result: Added) -> None:
    """Add the chest's control, and hang on it what the hips' control carries of the body above."""
    chest = view.bone("spine", MIDDLE)
    length = 0 if chest is None else full_body.chain_length(view.armature, chest, view.hips, use_tail=False)
    new = _new_goal(ob, view, Role("spine"), _CHEST, length, result)
    if not new:
        return
    _add_controls(ob, new, result)
    name = ob.dqik.goals[new[0][0]].subtarget
    below = control_parents.above(ob, name)
    for carried in _carried_by_chest(ob, view):
        if control_parents.above(ob, carried) == below:
            pivot = control_parents.hang(ob, carried, name)
            result.pivots += [] if pivot is None else [pivot]


def _carried_by_chest(ob: bpy.types.Object, view: _View) -> list[str]:
    """The controls of head and shoulders, and the poles of elbows."""
    found = [_control_of(ob, view.names[bone]) for bone, role in view.body.roles.items()
             if role.name in ("head", "collar")]  # fmt: skip
    return [name for name in (*found, _name("elbow", LEFT), _name("elbow", RIGHT)) if name in ob.data.bones]


def _wanted_poles(
    ob: bpy.types.Object, view: _View, name: str, part: str, above: str, result: Added
) -> list[tuple[int, Vector, Control]]:  # fmt: skip
    """The poles that the goals of a part lack: numbers of goals, places in the pose, and controls."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    poles, wanted = Poles(ob.evaluated_get(depsgraph), depsgraph), list[tuple[int, Vector, Control]]()
    for side, words in ((LEFT, "left"), (RIGHT, "right")):
        bones = {view.names[bone] for bone in (view.body.bone(part, side), view.body.bone(above, side))
                 if bone is not None}  # fmt: skip
        number = next((k for k, goal in enumerate(ob.dqik.goals) if goal.bone in bones and goal.kind == "REACH"), -1)
        places = poles.for_control(ob.dqik.goals[number]) if number >= 0 else None
        lower = view.body.bone(above, side)
        if places is None or lower is None:
            result.missing.append(f"{words} {name}")
        elif ob.dqik.goals[number].pole_target is None:
            size = control_looks.size(view.body, Role(above, side), _POLE_SIZE)
            parent = _trunk(ob, view, upper=name == "elbow")
            wanted.append((number, places[1], Control(
                f"{name}.{side}", view.names[lower], False, parent, True, side, control_shapes.BALL, size,
                head=places[0], lock="lock_rotation",
            )))  # fmt: skip
    return wanted


def _add_poles(ob: bpy.types.Object, view: _View, kinds: Sequence[str], result: Added) -> None:
    """Add poles, as bones, to the goals of both sides of parts, or of the parts above where limbs end without."""
    wanted = [new for kind in kinds for new in _wanted_poles(ob, view, *_POLES[kind], result)]
    if not wanted:
        return
    names = controls.add(ob, [control for _, _, control in wanted], view.armature.size)
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for name, (_, place, _) in zip(names, wanted, strict=True):
        parent = ob.data.bones[name].parent
        over = None if parent is None else evaluated.pose.bones[parent.name].matrix
        controls.place(ob.pose.bones[name], Matrix.Translation(place), over, use_rotation=False)
    for name, (number, _, _) in zip(names, wanted, strict=True):
        goal = ob.dqik.goals[number]
        goal.pole_subtarget, goal.pole_angle, goal.use_pole, goal.pole_target = name, 0.0, result.leads, ob
        result.poles[number] = name
    ob.update_tag(refresh={"OBJECT"})
    result.names += names
