# SPDX-License-Identifier: GPL-3.0-or-later
"""A view: a scene at a frame, as one depsgraph evaluates it."""

from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ...solvers.algebra import dual_quaternion
from ..setup.build import Rig


@dataclass
class SolvedPose:
    """An armature's answer that the depsgraph has not evaluated yet: the evaluated object, its rig, joints (J, 8)."""

    ob: bpy.types.Object
    rig: Rig
    world: np.ndarray

    def correction(self, bone: bpy.types.PoseBone | None) -> Matrix | None:
        """The armature-space motion from where an evaluated bone stands to where the answer puts it."""
        place = None if bone is None else self._place(bone)
        return None if place is None else place @ bone.matrix.inverted_safe()

    def _place(self, bone: bpy.types.PoseBone) -> Matrix | None:
        """The matrix that the answer gives an evaluated bone; None if the answer does not move it.

        A bone outside the skeleton follows its parent by Blender's rules for inherited rotation, scale and location.
        """
        joint = self.rig.joint_of_bone.get(self.ob.pose.bones.find(bone.name))
        if joint is not None:
            at = self.world[joint]
            return Matrix.LocRotScale(dual_quaternion.translation(at), Quaternion(at[:4]), bone.matrix.to_scale())
        above = bone.parent
        place = None if above is None else self._place(above)
        if place is None:
            return None
        convert, rest, rest_above = bone.bone.convert_local_to_pose, bone.bone.matrix_local, above.bone.matrix_local
        own = convert(bone.matrix, rest, parent_matrix=above.matrix, parent_matrix_local=rest_above, invert=True)
        return convert(own, rest, parent_matrix=place, parent_matrix_local=rest_above)


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

    @property
    def in_viewport(self) -> bool:
        """Whether this is a view layer's evaluation, not a render's."""
        return self.depsgraph.mode == "VIEWPORT"

    @property
    def scene_uid(self) -> int:
        """The scene's identity."""
        return self.depsgraph.scene.original.session_uid
