# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins: goals that hold bones where they are."""

from collections.abc import Sequence

import bpy

from ..blender.armature import Armature
from ..figure import bone_names, roles
from . import control_parents, controls, full_body, goals, mirror, rotation_space

WEIGHT = 3.5  # as that of feet: hands that are out of reach do not move them


def pin(ob: bpy.types.Object, names: Sequence[str], position: bool, rotation: bool, as_bones: bool) -> list[str]:
    """Hold bones where they are now. Those that have a goal already get its target moved to them.

    position, rotation : what to hold. as_bones : make control bones, else empties. Returns the names of goals whose
    targets cannot be moved.
    """
    armature, held = Armature(ob), {goal.bone: number for number, goal in enumerate(ob.dqik.goals)}
    hips = next((bone for bone, role in roles.of(ob, armature).roles.items() if role == full_body.HIPS), None)
    parent = control_parents.master(ob, full_body.root_of(armature, hips))
    wanted: list[tuple[int, controls.Control]] = []
    depsgraph = bpy.context.evaluated_depsgraph_get()
    present = goals.places(ob, [held[name] for name in names if name in held], depsgraph, follows=0.0)
    for name in names:
        if name in held:
            goal = ob.dqik.goals[held[name]]
        else:
            chain = full_body.chain_length(armature, armature.index[name], hips, use_tail=False)
            goal = goals.new_goal(ob, name, chain)
            goal.use_tail, goal.position_weight, goal.rotation_weight = False, WEIGHT, WEIGHT
            wanted.append((len(ob.dqik.goals) - 1, controls.Control(
                mirror.control_name(name), name, parent=parent, side=bone_names.side_of(name),
            )))  # fmt: skip
        goal.mute, goal.use_position, goal.use_rotation, goal.rotation_follows = False, position, rotation, 0.0
        rotation_space.show_control(ob, goal)
    if as_bones:
        goals.add_control_bones(ob, wanted)
    for number, _ in wanted if not as_bones else ():
        goals.add_empty(ob, number)
    return goals.put_targets(ob, present, bpy.context.evaluated_depsgraph_get())
