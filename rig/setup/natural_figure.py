# SPDX-License-Identifier: GPL-3.0-or-later
"""A prepared rig as the natural pose reads it: joints and heads by role, links and motions at rest."""

from collections.abc import Sequence

import numpy as np

from ...solvers import Goal, Skeleton
from ...solvers.algebra import dual_quaternion, quaternion
from ...solvers.figure import Bone, Key, RestFigure, of
from ..blender.armature import Armature
from .build import Rig


def figure(rig: Rig, roles: dict[int, Key], armature: Armature) -> RestFigure | str:
    """The figure of a prepared rig, or a sentence that says why there is none.

    roles : (name, side) by bone number, as `rig.figure.roles` finds them.
    """
    return of(*read(rig, roles, armature))


def read(
    rig: Rig, roles: dict[int, Key], armature: Armature
) -> tuple[Skeleton, Sequence[Goal], dict[Key, list[Bone]], np.ndarray, np.ndarray]:
    """The arguments of `of` for a prepared rig."""
    joint_of = dict(zip(rig.bones.tolist(), rig.main.tolist(), strict=True))
    bones: dict[Key, list[Bone]] = {}
    for number in sorted(roles, key=lambda number: len(armature.above(number))):
        name, side = roles[number]
        bones.setdefault((name, side), []).append(Bone(joint_of.get(number, -1), armature.heads[number]))
    links, motions = _at_rest(rig, armature)
    return rig.skeleton, rig.prepared.goals, bones, links, motions


def _at_rest(rig: Rig, armature: Armature) -> tuple[np.ndarray, np.ndarray]:
    """Links (J, 8) with the roots where they are in the armature's rest pose, and the joints' motions (J, 4) there."""
    links = rig.rest_links.copy()
    slides = dict(zip(rig.slide_row.tolist(), rig.slide_joint.tolist(), strict=True))
    for row in rig.roots.tolist():
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
