# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferred bends of straight limbs: knees bend back, elbows bend forward.

A limb that is straight at rest can fold to either side. When a target sweeps across it, it would flip to the other
side in one frame. A base pose that is slightly bent prevents this, because the weak pull toward it prefers one side.
This file finds the two-bone limbs among the goals' chains and the axis about which each bends. Arms and
legs of a human figure are known by their roles, other limbs by their shape. NumPy only.
"""

from collections.abc import Sequence

from ...solvers.rest import BEND, FoldingLimb, GoalChain, folding_limbs
from .body import RestBody
from .parts import LEFT, RIGHT


def find_limbs(body: RestBody, chains: Sequence[GoalChain]) -> list[FoldingLimb]:
    """The limbs among the chains of a figure at rest: its arms and legs, and limbs of other chains by their shape."""
    limbs, by_role = [], set()
    for upper, lower in _arms_and_legs(body):
        for number, chain in enumerate(chains):
            if number not in by_role and upper in chain.bones and lower in chain.bones:
                axis, bent = body.hinge(lower)
                by_role.add(number)
                if bent < BEND and all(limb.lower != lower for limb in limbs):
                    turned = body.posture(body.roles[lower])
                    limbs.append(FoldingLimb(upper, lower, turned.T @ axis, BEND - bent))
    taken = {bone for limb in limbs for bone in (limb.upper, limb.lower)}
    others = [chain for number, chain in enumerate(chains) if number not in by_role]
    armature = body.armature
    shaped = folding_limbs(armature.tree, armature.tails, armature.size, chains, others)
    return limbs + [limb for limb in shaped if not {limb.upper, limb.lower} & taken]


def _arms_and_legs(body: RestBody) -> list[tuple[int, int]]:
    """The upper and lower bones of the arms and legs of a human figure whose trunk tells where it faces."""
    pairs = [(body.bone(upper, side), body.bone(lower, side))
             for upper, lower in (("arm", "forearm"), ("thigh", "shin")) for side in (LEFT, RIGHT)]  # fmt: skip
    known = body.human and body.has_trunk
    return [(a, b) for a, b in pairs if a is not None and b is not None and known]
