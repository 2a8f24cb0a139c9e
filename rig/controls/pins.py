# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins: goals that hold bones where they are, before all goals that are no pins.

A pin is a goal of its own, with a target of its own. The goals that a bone has stay as they are, with their targets and
keys: those that the pin replaces are muted while it holds, and are as before without it.
"""

from collections.abc import Iterable, Sequence

import bpy

from ...solvers.space import PRIORITY_STEP
from ..blender import animation
from ..figure import bone_names
from ..figure.character import Character
from ..skeleton import foot_roll
from ..skeleton.poles import Poles
from . import control_parents, controls, full_body, goals, mirror
from .goals import PIN, RAISED, REPLACED

WEIGHT = 3.5  # as that of feet: hands that are out of reach do not move them
ALONE = 1.3  # the least pull of a pin that has no pin of such a weight beside it: that of a hand, and a little more
PRIORITY = 1  # above goals of Set Up Full Body: hands that are dragged away miss, and move no pin by 0.1 mm
_COPIED = ("chain_length", "use_tail", "position_weight", "rotation_weight", "use_support", "pole_target",
           "pole_subtarget", "pole_angle", "use_pole")  # fmt: skip


def pin(ob: bpy.types.Object, names: Sequence[str], position: bool, rotation: bool, as_bones: bool) -> list[int]:
    """Hold bones where they are now; returns the numbers of their pins, which may be muted yet.

    Those that have a pin already get its target moved to them. position, rotation : what to hold. as_bones : make
    control bones, else empties.
    """
    character = Character.of(ob)
    parent = control_parents.master(ob, character.root)
    numbers, wanted = list[int](), list[tuple[int, controls.Control]]()
    pinned = {goal.bone for goal in ob.dqik.goals if goal.pin == PIN} | set(names)
    beside_others = not pinned <= {goal.bone for goal in ob.dqik.goals if _is_like_a_pin(goal)}
    for name in names:
        found = present(ob, name, position, rotation)
        if found is None:
            found = _new_pin(ob, character, name, beside_others)
            wanted.append((found, controls.Control(
                _control_name(ob, found), name, ob.dqik.goals[found].use_tail, parent, side=bone_names.side_of(name)
            )))  # fmt: skip
        goal = ob.dqik.goals[found]
        goal.use_position, goal.use_rotation = position, rotation
        numbers.append(found)
    if as_bones:
        goals.add_control_bones(ob, wanted)
    for number, _ in wanted if not as_bones else ():
        goals.add_empty(ob, number)
    for number, _ in wanted:
        own, held = _pattern(ob, number), foot_roll.owner(ob.dqik.goals[number])
        if own is not None and held is not None:
            held.dqik_roll = foot_roll.of(own)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    goals.put_targets(ob, goals.places(ob, numbers, depsgraph), depsgraph)
    return numbers


def hold(ob: bpy.types.Object, numbers: Iterable[int], keyed: bool) -> list[int]:
    """Let pins count, by their numbers, in place of the goals that they replace; returns the numbers of these.

    They replace the goals of their bones that ask for no more than they hold. keyed : whether Mute will be keyed.
    """
    found = list[int]()
    for number in numbers:
        pin_goal = ob.dqik.goals[number]
        for k in replaceable(ob, [pin_goal.bone], keyed):
            goal = ob.dqik.goals[k]
            if goal.use_position <= pin_goal.use_position and goal.use_rotation <= pin_goal.use_rotation:
                goal.mute, goal.pin = True, REPLACED
                found.append(k)
        pin_goal.mute = False
    return found


def replaceable(ob: bpy.types.Object, names: Iterable[str], keyed: bool) -> list[int]:
    """The goals of bones that pins may mute: that count, or that pins have muted. keyed : as for `hold`."""
    names = set(names)
    own = [k for k, goal in enumerate(ob.dqik.goals) if goal.bone in names and _is_like_a_pin(goal)]
    return [
        k for k in own
        if ob.dqik.goals[k].pin == REPLACED
        or not (ob.dqik.goals[k].mute or is_keyed(ob, k)) or (keyed and not ob.dqik.goals[k].mute)
    ]  # fmt: skip


def let_go(ob: bpy.types.Object, numbers: Iterable[int]) -> list[int]:
    """Mute pins, by their numbers, and let the goals that they replace count again; returns the numbers of these."""
    found = list[int]()
    for number in numbers:
        pin_goal = ob.dqik.goals[number]
        pin_goal.mute = True
        if not any(goal.pin == PIN and not goal.mute and goal.bone == pin_goal.bone for goal in ob.dqik.goals):
            found += [k for k in of(ob, [pin_goal.bone], REPLACED) if k not in found]
    for k in found:
        ob.dqik.goals[k].mute = False
    return found


def of(ob: bpy.types.Object, names: Iterable[str], kind: int = PIN) -> list[int]:
    """The numbers of the pins of bones, or of goals of another kind."""
    names = set(names)
    return [number for number, goal in enumerate(ob.dqik.goals) if goal.pin == kind and goal.bone in names]


def present(ob: bpy.types.Object, name: str, position: bool, rotation: bool) -> int | None:
    """The number of the pin that holds the position and the rotation of a bone, or not; None if there is none."""
    found = ((k, ob.dqik.goals[k]) for k in of(ob, [name]))
    return next((k for k, goal in found if (goal.use_position, goal.use_rotation) == (position, rotation)), None)


def is_keyed(ob: bpy.types.Object, number: int) -> bool:
    """Whether anything animates the Mute of a goal."""
    return animation.animates(ob, ob.dqik.goals[number].path_from_id("mute"))


def tells_turn(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> bool:
    """Whether the rotation of a goal tells the natural pose how its limb is turned.

    A pin holds a hand as the limb has turned it if the goal that it replaces follows the limb: a limb that was posed by
    the hand from then on would turn.
    """
    return goal.pin != PIN or not any(
        other.pin == REPLACED and other.bone == goal.bone and other.use_rotation and other.rotation_follows > 0.0
        for other in ob.dqik.goals
    )


def lower(ob: bpy.types.Object, names: Iterable[str]) -> list[str]:
    """Let goals that an earlier version has made pins be goals like others; returns their names."""
    found = of(ob, names, RAISED)
    for number in found:
        ob.dqik.goals[number].priority, ob.dqik.goals[number].pin = 0, 0
    return [ob.dqik.goals[number].name for number in found]


def recognise(ob: bpy.types.Object) -> None:
    """Mark the pins of a version that made the goal of a bone its pin, if it had one, and had no mark for pins."""
    found = [goal for goal in ob.dqik.goals
             if goal.own_target and goal.kind == "REACH" and goal.priority == PRIORITY and not goal.pin]  # fmt: skip
    if not found:
        return
    ends = {ob.pose.bones[bone].name for bone, role in Character.of(ob).figure.roles.items() if role in full_body.ENDS}
    for goal in found:
        as_made = not goal.use_tail and goal.position_weight == goal.rotation_weight == WEIGHT
        alone = not any(other.bone == goal.bone and other.priority < PRIORITY for other in ob.dqik.goals)
        goal.pin = RAISED if not as_made or (alone and goal.bone in ends) else PIN


# -- inside ------------------------------------------------------------------------------------------------------------


def _new_pin(ob: bpy.types.Object, character: Character, name: str, beside_others: bool) -> int:
    """Add a pin without a target, muted; returns its number. It bends the limb as the bone's own goal does.

    beside_others : whether bones without a goal of their own are pinned too, which pull more.
    """
    goals.new_goal(ob, name, character.chain_length(character.armature.index[name], use_tail=False))
    number = len(ob.dqik.goals) - 1
    goal = ob.dqik.goals[number]
    goal.name, goal.mute, goal.pin = f"{name} pin" if _is_beside(ob, number) else name, True, PIN
    goal.use_tail, goal.position_weight, goal.rotation_weight = False, WEIGHT, WEIGHT
    own = _pattern(ob, number)
    for setting in _COPIED if own is not None else ():
        setattr(goal, setting, getattr(own, setting))
    if goal.pole_target is not None:  # it stays where it is, for the goal that the pin replaces
        depsgraph = bpy.context.evaluated_depsgraph_get()
        angle = Poles(ob.evaluated_get(depsgraph), depsgraph).angle(goal)
        goal.pole_angle = goal.pole_angle if angle is None else angle
    goal.priority = PRIORITY if own is None else own.priority + PRIORITY
    for weight in ("position_weight", "rotation_weight") if own is not None else ():
        value = getattr(own, weight)  # met, the pin pulls as that one does, so that the body stays as it is
        setattr(goal, weight, min(value, max(value, WEIGHT if beside_others else ALONE) / PRIORITY_STEP))
    return number


def _control_name(ob: bpy.types.Object, number: int) -> str:
    """The name of a pin's control, without the prefix, in the form that Blender mirrors."""
    bone = ob.dqik.goals[number].bone
    name, side = mirror.control_name(bone), bone_names.side_of(bone)
    if not _is_beside(ob, number):
        return name
    return f"{bone_names.without_side(name)} pin.{side}" if side else f"{name} pin"


def _is_beside(ob: bpy.types.Object, number: int) -> bool:
    """Whether the bone of a goal has others too."""
    return sum(goal.bone == ob.dqik.goals[number].bone for goal in ob.dqik.goals) > 1


def _is_like_a_pin(goal: bpy.types.PropertyGroup) -> bool:
    """Whether a goal is neither a pin nor a wish, which stays beside a pin, and of the same kind."""
    return goal.kind == "REACH" and goal.priority >= 0 and goal.pin != PIN


def _pattern(ob: bpy.types.Object, number: int) -> bpy.types.PropertyGroup | None:
    """The goal of a pin's bone that bends its limb; None if it has none."""
    bone = ob.dqik.goals[number].bone
    return next((goal for goal in ob.dqik.goals if goal.bone == bone and _is_like_a_pin(goal)), None)
