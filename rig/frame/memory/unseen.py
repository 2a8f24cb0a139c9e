# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of targets, poles and obstacles that Blender does not evaluate."""

import bpy

from ...blender import dependencies, unevaluated
from ...notes import Note
from ...skeleton.rig import Rig


def notes(ob: bpy.types.Object, rig: Rig, depsgraph: bpy.types.Depsgraph) -> list[Note]:
    """Notes about the targets, poles and obstacles of an evaluated object that Blender does not evaluate."""
    aims = {other.original: "" for other in dependencies.obstacles(ob.original) if other is not None}
    for binding in rig.goals:
        goal = ob.original.dqik.goals[binding.number]
        aims.update((aim.original, goal.name) for aim, _ in dependencies.aims(goal))
    evaluated, found = unevaluated.shown(depsgraph), list[Note]()
    for aim, name in aims.items():
        reason = unevaluated.reason(aim, evaluated, depsgraph.view_layer)
        if reason:
            goal = Note("Goal {}: {} stands still {}; hide it with the eye instead", repr(name), repr(aim.name), reason)
            found.append(goal if name else Note("Obstacle {}: it stands still {}; hide it with the eye instead",
                                                repr(aim.name), reason))
    return found
