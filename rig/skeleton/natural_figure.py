# SPDX-License-Identifier: GPL-3.0-or-later
"""A prepared rig as the natural pose reads it: joints and heads by role, links and motions at rest."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...solvers import Goal, Skeleton
from ...solvers.algebra import dual_quaternion, quaternion
from ...solvers.figure import Bone, NoFigure, RestFigure, of
from ...solvers.rest import Key
from ..blender.armature import Armature
from ..notes import Code, Note
from .build import Rig

_REASONS = {
    NoFigure.NO_PAIRS: Note("The natural pose needs both thighs or both arms, and what is above or below them"),
    NoFigure.NOT_UPRIGHT: Note("The natural pose is that of people: this figure does not rest on two straight legs"),
    NoFigure.NO_WHOLE_LIMBS: Note("The natural pose needs goals on whole arms or legs, and arms that do not point "
                                  "forward at rest"),
}


def figure(rig: Rig) -> RestFigure | Note:
    """The figure of a prepared rig, or the reason why there is none."""
    if rig.plan.character.figure.not_human:
        return Note(Code.NOT_HUMAN)
    found = of(*read(rig, rig.plan.character.figure.roles, rig.armature))
    return _REASONS[found] if isinstance(found, NoFigure) else found


def read(
    rig: Rig, roles: Mapping[int, Key], armature: Armature
) -> tuple[Skeleton, Sequence[Goal], dict[Key, list[Bone]], np.ndarray, np.ndarray]:
    """The arguments of `of` for a prepared rig.

    roles : (name, side) by bone number, as `Figure.roles` has them.
    """
    joint_of = dict(zip(rig.bones.tolist(), rig.main.tolist(), strict=True))
    bones: dict[Key, list[Bone]] = {}
    for number in sorted(roles, key=lambda number: len(armature.above(number))):
        name, side = roles[number]
        bones.setdefault((name, side), []).append(Bone(joint_of.get(number, -1), armature.heads[number]))
    goals = [
        goal if binding.facts.tells_turn and goal.joint == joint
        else replace(goal, joint=joint, rotation=goal.rotation if binding.facts.tells_turn else None)
        for goal, binding, joint in zip(rig.prepared.goals, rig.goals, rig.goal_joints, strict=True)
    ]
    return rig.skeleton, goals, bones, *_at_rest(rig, armature)


def _at_rest(rig: Rig, armature: Armature) -> tuple[np.ndarray, np.ndarray]:
    """Links (J, 8) with the roots where they are in the armature's rest pose, and the joints' motions (J, 4) there."""
    links = rig.rest_links.copy()
    slides = dict(zip(rig.slide_row.tolist(), rig.slide_joint.tolist(), strict=True))
    for row in np.flatnonzero(rig.rooted).tolist():
        above, bone = int(rig.parent[row]), int(rig.bones[row])
        joint = int(rig.main[row])
        turned = links[joint, :4]
        if above >= 0 and not rig.detached[row]:
            turned = quaternion.product(quaternion.from_matrix(armature.rest[above, :3, :3]), turned)
        place, first = armature.heads[bone], slides.get(row, joint)
        if first != joint:  # the slides lead to where the joint turns
            links[first] = dual_quaternion.from_parts(quaternion.IDENTITY, place)
            links[joint] = dual_quaternion.from_parts(turned, np.zeros(3))
        else:
            links[joint] = dual_quaternion.from_parts(turned, place)
    motions = np.tile(quaternion.IDENTITY, (len(rig.skeleton), 1))
    motions[rig.solved_joints] = rig.to_joints(np.tile(quaternion.IDENTITY, (len(rig.solved_joints), 1)))
    return links, motions
