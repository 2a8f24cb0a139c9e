# SPDX-License-Identifier: GPL-3.0-or-later
"""A view: a scene at a frame, as one depsgraph evaluates it."""

from dataclasses import dataclass, field
from functools import cached_property

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..blender.channels import Channels


@dataclass
class SolvedPose:
    """The pose of an armature that the depsgraph has not evaluated yet.

    ob : the evaluated object. channels : of all bones. changed : (N,) bool, bones that these channels change.
    held : names of bones whose orientation constraints set, whatever their parents'.
    """

    ob: bpy.types.Object
    channels: Channels
    changed: np.ndarray
    held: frozenset[str] = frozenset()

    def correction(self, bone: bpy.types.PoseBone | None) -> Matrix | None:
        """The armature-space motion from where an evaluated bone stands to where this pose puts it."""
        place = None if bone is None else self.matrix(bone)
        return None if place is None else place @ bone.matrix.inverted_safe()

    def matrix(self, bone: bpy.types.PoseBone) -> Matrix | None:
        """The armature-space matrix that this pose gives an evaluated bone; None if the bone stands there already.

        Bones follow their parents by Blender's rules for inherited rotation and scale.
        """
        number, above = self.ob.pose.bones.find(bone.name), bone.parent
        base = self.channels.matrix(number, bone.scale) if self.changed[number] else None
        place = None if above is None else self.matrix(above)
        if place is None and base is None:
            return None
        if above is None:
            return bone.bone.convert_local_to_pose(base, bone.bone.matrix_local)
        place = placed(bone, above.matrix if place is None else place, base)
        if bone.name in self.held:
            return Matrix.LocRotScale(place.to_translation(), bone.matrix.to_quaternion(), place.to_scale())
        return place


def placed(bone: bpy.types.PoseBone, above: Matrix, base: Matrix | None) -> Matrix:
    """The matrix of an evaluated bone whose parent is moved to `above`. base : its new matrix relative to rest, if any.

    Blender's own numbers where it can be, to the last bit: a frame is the same before and after Blender evaluates it.
    """
    convert, rest, rest_above = bone.bone.convert_local_to_pose, bone.bone.matrix_local, bone.parent.bone.matrix_local
    if base is None and len(bone.constraints):
        base = convert(bone.matrix, rest, parent_matrix=bone.parent.matrix, parent_matrix_local=rest_above, invert=True)
    elif base is None:
        base = bone.matrix_basis
    if bone.bone.use_inherit_rotation:
        rest, rest_above = bone.bone.matrix.to_4x4(), Matrix()
        rest.translation = bone.bone.head + Vector((0.0, bone.parent.bone.length, 0.0))
    return convert(base, rest, parent_matrix=above, parent_matrix_local=rest_above)


@dataclass
class View:
    """A scene at a frame, as a depsgraph evaluates it. Do not store it beyond the handler that made it.

    Attributes
    ----------
    fresh : whether the frame has just changed, so that animated channels have their animated values.
    others_follow : whether armatures of the scene follow each other. solved : if so, the armatures solved in this
        evaluation, by `session_uid`.
    """

    depsgraph: bpy.types.Depsgraph
    frame: float
    fresh: bool
    others_follow: bool = False
    solved: dict[int, SolvedPose] = field(default_factory=dict)

    @cached_property
    def in_viewport(self) -> bool:
        """Whether this is a view layer's evaluation, not a render's."""
        return self.depsgraph.mode == "VIEWPORT"

    @cached_property
    def scene_uid(self) -> int:
        """The scene's identity."""
        return self.depsgraph.scene.original.session_uid
