# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that are folded at rest take the pose in which they stand straightest in their motion for their rest."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...solvers.rest import Tree, standing, unit
from .. import curves
from ..blender import scene_state
from ..blender.armature import Armature
from ..figure.character import Character
from ..notes import Note, Refused
from .clip import Clip

_LOOKS = 48  # frames of the motion that are looked at


def armature(ob: bpy.types.Object, frames: Sequence[int], visits: scene_state.Visits) -> Armature:
    """The bones of an armature object at rest, or where it is folded at rest, as they stand in its motion.

    frames : where there is no action. Raises `Refused` if it is folded and stands nowhere.
    """
    character = Character.of(ob)
    own, roles = character.armature, character.figure.roles
    rest = standing.lines(own.tree, roles)
    if rest is None or rest.upright > standing.BENT:
        return own
    action = curves.action_of(ob)
    start, end = (frames[0], frames[-1]) if action is None else action.frame_range
    looks = sorted({round(at) for at in np.linspace(start, end, _LOOKS)})
    clip = Clip(ob, len(looks))
    for row, frame in enumerate(looks):
        clip.take(row, visits.visit(frame))
    poses, ups = clip.poses.astype(float), np.linalg.pinv(clip.world[:, :3, :3].astype(float))[..., 2]
    lines = [standing.lines(Tree(own.tree.parent, pose[:, :3, 3]), roles) for pose in poses]
    if any(one is None for one in lines) or not np.isfinite(poses).all():
        return own
    stand = standing.of_motion(rest, lines, np.array([unit(up) for up in ups]))
    if stand is None:
        return own
    if stand.nowhere:
        raise Refused(Note("{} is folded at rest and stands nowhere in its motion: choose one in which it stands "
                           "for a moment", repr(ob.name)))
    alone = {bone for bone in roles if not ob.pose.bones[bone].bone.use_inherit_rotation}
    return own.resting(standing.pose(standing.RestBones(own.tree, own.rest, own.length, roles, alone), stand, poses))
