# SPDX-License-Identifier: GPL-3.0-or-later
"""The feet of a plan whose roll is in use."""

from ...solvers.algebra import quaternion
from ..figure import foot
from . import foot_roll
from .foot_roll import RolledFoot
from .plan import Plan


def of(solve_plan: Plan) -> list[RolledFoot]:
    """What the feet of a plan roll about, and the goals of their toes."""
    armature, found = solve_plan.armature, list[RolledFoot]()
    for k, goal in enumerate(solve_plan.goals):
        own = foot.of(armature, solve_plan.figure, goal.bone) if goal.facts.rolls and not goal.of_foot else None
        if own is None:
            continue
        toes = next((n for n, one in enumerate(solve_plan.goals) if one.bone == own.toes and one.facts.turns), -1)
        own = foot_roll.seen_from_goal(armature, own, goal.bone, goal.facts.use_tail)
        rest = quaternion.from_matrix(armature.rest[goal.bone, :3, :3])
        found.append(RolledFoot(k, goal.number, own, rest, toes, toes >= 0 and solve_plan.goals[toes].of_foot))
    return found
