# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins: goals that hold bones where they are, before all goals that are no pins."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import bpy

from ..blender.armature import Armature
from ..figure import bone_names, roles
from . import control_parents, controls, full_body, goals, mirror, rotation_space, selection

WEIGHT = 3.5  # as that of feet: hands that are out of reach do not move them
PRIORITY = 1  # above goals of Set Up Full Body: hands that are dragged away miss, and move no pin by 0.1 mm


class Pinned(NamedTuple):
    """The numbers of the goals that are pins now, whether each was muted or not there before, and what stays.

    left : the names of goals whose targets cannot be moved.
    """

    numbers: list[int]
    were_off: list[bool]
    left: list[str]


def pin(ob: bpy.types.Object, names: Sequence[str], position: bool, rotation: bool, as_bones: bool) -> Pinned:
    """Hold bones where they are now. Those that have a goal already get its target moved to them, unless it is a wish.

    position, rotation : what to hold. as_bones : make control bones, else empties.
    """
    armature, held = Armature(ob), with_goal(ob)
    wishes = {goal.bone for goal in ob.dqik.goals} - held.keys()
    numbers, were_off = list[int](), list[bool]()
    hips = next((bone for bone, role in roles.of(ob, armature).roles.items() if role == full_body.HIPS), None)
    parent = control_parents.master(ob, full_body.root_of(armature, hips))
    wanted: list[tuple[int, controls.Control]] = []
    depsgraph = bpy.context.evaluated_depsgraph_get()
    present = goals.places(ob, [held[name] for name in names if name in held], depsgraph, follows=0.0)
    for name in names:
        if name in held:
            goal = ob.dqik.goals[held[name]]
            numbers.append(held[name])
            were_off.append(goal.mute)
        else:
            chain = full_body.chain_length(armature, armature.index[name], hips, use_tail=False)
            goal = goals.new_goal(ob, name, chain)
            goal.use_tail, goal.position_weight, goal.rotation_weight = False, WEIGHT, WEIGHT
            numbers.append(len(ob.dqik.goals) - 1)
            were_off.append(True)
            side = bone_names.side_of(name)
            if name in wishes and not side:
                goal.name = f"{name} pin"
            wanted.append((len(ob.dqik.goals) - 1, controls.Control(
                mirror.control_name(goal.name), name, parent=parent, side=side,
            )))  # fmt: skip
        goal.mute, goal.use_position, goal.use_rotation, goal.rotation_follows = False, position, rotation, 0.0
        goal.priority = max(goal.priority, PRIORITY)
        rotation_space.show_control(ob, goal)
    left = goals.put_targets(ob, present, depsgraph)  # before what is added is evaluated with the goals as they are now
    if as_bones:
        goals.add_control_bones(ob, wanted)
    for number, _ in wanted if not as_bones else ():
        goals.add_empty(ob, number)
    return Pinned(numbers, were_off, left)


def pinned(ob: bpy.types.Object, names: Iterable[str]) -> list[int]:
    """The numbers of the goals to let go with bones, or with the control bones of goals: their pins, else their goals.

    Only those whose targets were made for them.
    """
    names = set(names)
    found = [
        number for number, goal in enumerate(ob.dqik.goals)
        if goal.own_target and selection.holds_goal(ob, goal, names)
    ]  # fmt: skip
    first = {ob.dqik.goals[number].bone for number in found if ob.dqik.goals[number].priority >= PRIORITY}
    return [number for number in found if ob.dqik.goals[number].bone not in first
            or ob.dqik.goals[number].priority >= PRIORITY]  # fmt: skip


def with_goal(ob: bpy.types.Object) -> dict[str, int]:
    """The numbers of the goals that may become pins, by their bones: no wishes, which stay beside the pin."""
    found: dict[str, int] = {}
    for number, goal in enumerate(ob.dqik.goals):
        if goal.kind == "REACH" and goal.priority >= 0:
            found[goal.bone] = number
    return found
