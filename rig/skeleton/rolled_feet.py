# SPDX-License-Identifier: GPL-3.0-or-later
"""The feet of a plan whose roll is in use."""

import bpy

from ...solvers.algebra import quaternion
from ..figure import foot
from ..figure.character import Character
from . import foot_roll
from .foot_roll import RolledFoot
from .plan import Plan


def of(ob: bpy.types.Object, solve_plan: Plan) -> list[RolledFoot]:
    """What the feet of a plan roll about, and the goals of their toes."""
    armature, found = solve_plan.armature, list[RolledFoot]()
    character = Character(armature, solve_plan.figure)
    for k, goal in enumerate(solve_plan.goals):
        own = foot.of(ob, character, goal.bone) if goal.facts.rolls and not goal.of_foot else None
        if own is None:
            continue
        toes = next((n for n, one in enumerate(solve_plan.goals) if one.bone == own.toes and one.facts.turns), -1)
        own = foot_roll.seen_from_goal(armature, own, goal.bone, goal.facts.use_tail)
        rest = quaternion.from_matrix(armature.rest[goal.bone, :3, :3])
        legs = [
            n for n, one in enumerate(solve_plan.goals)
            if n != k and not one.of_foot and foot_roll.goes_with(ob.original, one.number, goal.number)
        ]  # fmt: skip
        found.append(RolledFoot(k, goal.number, own, rest, toes, toes >= 0 and solve_plan.goals[toes].of_foot, legs))
    return found
