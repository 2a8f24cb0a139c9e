# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that a full body may have beside hands, feet, head and hips, each added without moving the body.

The chest reaches its place and turn as a wish, as hips do. Its control carries the head's: a body leans with its head.
Shoulders and toes turn against the bone above. Elbows and knees are poles of hands and feet. A master is the parent of
all.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from ..blender import animation
from ..figure.character import Character
from ..figure.parts import LEFT, MIDDLE, RIGHT, Role
from ..skeleton.poles import Poles
from . import control_parents, control_shapes, controls, goals
from .controls import Control
from .full_body import End

KINDS = ("CHEST", "SHOULDERS", "ELBOWS", "KNEES", "TOES", "MASTER")
"""The controls that may be added. The chest comes before what it carries."""

_SIDES = ((LEFT, "left"), (RIGHT, "right"))
_CHEST = End("chest", -1, 0.3, control_shapes.RING, 0.22, along=0.3)
_GOALS = {
    "CHEST": ("spine", {MIDDLE: _CHEST}),
    "SHOULDERS": ("collar", {side: End(f"{words} shoulder", -1, 0.3, control_shapes.RING, 0.09, along=0.8)
                             for side, words in _SIDES}),
    "TOES": ("toes", {side: End(f"{words} toes", 0, 1.0, control_shapes.BOX, 0.045, along=0.6)
                      for side, words in _SIDES}),
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
    wanted, result, body = set(wanted), Added(leads=in_motion), _Body(ob)
    planned = list(body.planned(wanted, result.missing))
    result.names = controls.add(ob, [one.control for one in planned], body.armature.size) if planned else []
    made = list(zip(planned, result.names, strict=True))
    for one, name in made:  # the chest first, with which shoulders turn
        if one.end is not None:
            result.goals.append(_new_goal(ob, one, in_motion))
            goals.aim_at_controls(ob, {result.goals[-1]: name})
    if chest := next((name for one, name in made if one.end is _CHEST), ""):
        below, carried = control_parents.above(ob, chest), _carried_by_chest(ob, body)
        result.pivots = control_parents.hang(
            ob, {name: chest for name in carried if control_parents.above(ob, name) == below}
        )
    result.poles = _put_poles(ob, [(one, name) for one, name in made if one.end is None], in_motion)
    if "MASTER" in wanted and control_parents.add_master(ob):
        result.names.append(controls.MASTER)
    return result


def lacks(ob: bpy.types.Object, wanted: Collection[str]) -> bool:
    """Whether a body lacks any control of some `KINDS` that it can have: whether `add` would add one."""
    no_master = "MASTER" in wanted and controls.MASTER not in ob.data.bones
    return no_master or any(True for _ in _Body(ob).planned(wanted, []))


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


class _Planned(NamedTuple):
    """A control to add: with a new goal, or as the pole of a goal.

    end, chain_length : of the new goal. number, place : of the goal whose pole it is, and of the pole in the pose.
    """

    control: Control
    end: End | None = None
    chain_length: int = 1
    number: int = -1
    place: Vector | None = None


class _Body:
    """An armature as it is before controls are added, with its figure."""

    def __init__(self, ob: bpy.types.Object) -> None:
        self.ob, self.character = ob, Character.of(ob)
        self.armature, self.body, self.names = self.character.armature, self.character.body, self.character.names
        self._root = control_parents.master(ob, self.character.root)
        self._chest = self.control_of(self._bone(Role("spine")))

    def planned(self, wanted: Collection[str], missing: list[str]) -> Iterator[_Planned]:
        """The controls of some `KINDS` that the body lacks. The words for parts without a bone go to `missing`."""
        for kind in (kind for kind in KINDS if kind in wanted):
            if kind in _POLES:
                yield from self._planned_poles(*_POLES[kind], missing)
                continue
            part, ends = _GOALS.get(kind, ("", {}))
            for side, end in ends.items():
                role = Role(part, side)
                bone = self._bone(role)
                if bone is None:
                    missing.append(end.words)
                elif not any(goal.bone == self.names[bone] for goal in self.ob.dqik.goals):
                    yield self._planned_goal(role, bone, end)

    def control_of(self, bone: int | None) -> str:
        """The name of the control of a bone's goal; empty if it has none."""
        name, bones = None if bone is None else self.names[bone], self.ob.data.bones
        own = (goal.subtarget for goal in self.ob.dqik.goals
               if goal.bone == name and goal.target == self.ob and goal.own_target)  # fmt: skip
        return next((control for control in own if control in bones and controls.is_control(bones[control])), "")

    def _bone(self, role: Role) -> int | None:
        """The bone of a role; the uppermost one of the spine."""
        if role.name != "spine":
            return self.body.bone(*role)
        spine = [bone for bone, own in self.body.roles.items() if own.name == "spine"]
        return max(spine, key=lambda bone: len(self.armature.above(bone)), default=None)

    def _trunk(self, *, upper: bool) -> str:
        """The control of the chest, of the `upper` part of the body, or of the hips; else their parent."""
        return (self._chest if upper else "") or self.control_of(self.character.hips) or self._root

    def _planned_goal(self, role: Role, bone: int, end: End) -> _Planned:
        """The control of a bone that has no goal yet."""
        turning, length, part = role.name != "spine", 1, _NAMES.get(role.name, role.name)
        if role.name == "toes":
            parent = self.control_of(self.body.bone("foot", role.side)) or self._root
        else:
            parent = self._trunk(upper=turning)
        if not turning:
            self._chest = _name(part, role.side)
            length = self.character.chain_length(bone, use_tail=False)
        return _Planned(Control(
            f"{part}.{role.side}" if role.side else part, self.names[bone], turning, parent, True, role.side, end.shape,
            control_shapes.size(self.body, role, end.size), shift=control_shapes.shift(self.body, bone, end.along),
            normal=control_shapes.normal(self.body, bone), lock="lock_location" if turning else "",
        ), end, length)  # fmt: skip

    def _planned_poles(self, name: str, part: str, above: str, missing: list[str]) -> Iterator[_Planned]:
        """The poles that the goals of both sides of a part lack, or of the part above where a limb ends without."""
        depsgraph = bpy.context.evaluated_depsgraph_get()
        poles = Poles(self.ob.evaluated_get(depsgraph), depsgraph)
        for side, words in _SIDES:
            lower, goals_of = self.body.bone(above, side), self.ob.dqik.goals
            bones = {self.names[bone] for bone in (self.body.bone(part, side), lower) if bone is not None}
            number = next((k for k, goal in enumerate(goals_of) if goal.bone in bones and goal.kind == "REACH"), -1)
            places = poles.for_control(goals_of[number]) if number >= 0 else None
            if places is None or lower is None:
                missing.append(f"{words} {name}")
            elif goals_of[number].pole_target is None:
                size = control_shapes.size(self.body, Role(above, side), _POLE_SIZE)
                yield _Planned(Control(
                    f"{name}.{side}", self.names[lower], False, self._trunk(upper=name == "elbow"), True, side,
                    control_shapes.BALL, size, head=places[0], lock="lock_rotation",
                ), number=number, place=places[1])  # fmt: skip


def _name(name: str, side: str) -> str:
    return controls.PREFIX + (f"{name}.{side}" if side else name)


def _new_goal(ob: bpy.types.Object, planned: _Planned, in_motion: bool) -> int:
    end, turning = planned.end, planned.control.at_tail
    goal = goals.new_goal(ob, planned.control.bone, planned.chain_length, use_rotation=True)
    goal.influence, goal.priority = float(in_motion), max(end.priority, 0) if in_motion else end.priority
    goal.position_weight, goal.rotation_weight = end.weight, end.weight
    goal.use_tail, goal.use_position, goal.rotation_follows = turning, not turning, float(turning)
    return len(ob.dqik.goals) - 1


def _carried_by_chest(ob: bpy.types.Object, body: _Body) -> list[str]:
    """The controls of head and shoulders, and the poles of elbows."""
    found = [body.control_of(bone) for bone, role in body.body.roles.items() if role.name in ("head", "collar")]
    return [name for name in (*found, _name("elbow", LEFT), _name("elbow", RIGHT)) if name in ob.data.bones]


def _put_poles(ob: bpy.types.Object, made: list[tuple[_Planned, str]], use: bool) -> dict[int, str]:
    """Pose new poles and give them to their goals, which use them or not; returns them by the numbers of these."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for one, name in made:
        controls.move(evaluated, name, Matrix.Translation(one.place), use_rotation=False)
    for one, name in made:
        goal = ob.dqik.goals[one.number]
        goal.pole_subtarget, goal.pole_angle, goal.use_pole, goal.pole_target = name, 0.0, use, ob
        ob.update_tag(refresh={"OBJECT"})
    return {one.number: name for one, name in made}
