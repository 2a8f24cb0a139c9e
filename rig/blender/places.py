# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects and bones are in the world."""

import bpy
from mathutils import Matrix

Owner = bpy.types.Object | bpy.types.PoseBone
"""What has transform channels."""

_Bones = bpy.types.bpy_prop_collection | dict[str, bpy.types.PoseBone]


def world_matrix(ob: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Matrix | None:
    """The world matrix of an object, or of a bone of an armature object, as a depsgraph evaluates it.

    ob : original, or evaluated by that depsgraph. bone : "" for the object; what is no armature has no bones. Returns
    None if the armature has no bone of that name. Do not write to it: it may be the object's own.
    """
    return WorldMatrices(depsgraph).of(ob, bone)


class WorldMatrices:
    """World matrices as a depsgraph evaluates them. Each armature is read once, so it is for one evaluation."""

    def __init__(self, depsgraph: bpy.types.Depsgraph) -> None:
        self.depsgraph = depsgraph
        self._known: dict[bpy.types.Object, tuple[Matrix, _Bones | None]] = {}

    def of(self, ob: bpy.types.Object, bone: str) -> Matrix | None:
        """See `world_matrix`."""
        if not bone:
            return self._of_object(ob)
        known = self._known.get(ob)
        if known is None:
            known = self._known[ob] = self._of_object(ob), self._bones(ob)
        matrix, bones = known
        if bones is None:
            return matrix
        found = bones.get(bone)
        return None if found is None else matrix @ found.matrix

    def _of_object(self, ob: bpy.types.Object) -> Matrix:
        evaluated = ob if ob.is_evaluated else ob.evaluated_get(self.depsgraph)
        matrix = evaluated.matrix_world
        return _by_channels(evaluated) if matrix.is_identity else matrix  # the identity may stand for an unknown place

    def _bones(self, ob: bpy.types.Object) -> _Bones | None:
        """The evaluated bones of an armature object; None for other objects."""
        evaluated = ob if ob.is_evaluated else ob.evaluated_get(self.depsgraph)
        if evaluated.type != "ARMATURE":
            return None
        return {} if evaluated.pose is None else evaluated.pose.bones


def _by_channels(ob: bpy.types.Object) -> Matrix:
    """The world matrix of an object by its channels and those of its parents.

    After undo, and in a file that was just opened, Blender has the identity for objects that it does not evaluate.
    Where constraints or parents of other kinds take part, it stays that.
    """
    if ob.parent is None and ob.matrix_basis.is_identity:
        return ob.matrix_world
    if any(not constraint.mute for constraint in ob.constraints) or (ob.parent and ob.parent_type != "OBJECT"):
        return ob.matrix_world
    own = ob.matrix_parent_inverse @ ob.matrix_basis if ob.parent else ob.matrix_basis
    return _by_channels(ob.parent) @ own if ob.parent else own


def owner_of(ob: bpy.types.Object, bone: str) -> Owner | None:
    """What has the channels of an object, or of a bone of an armature object; None if it has no such bone."""
    return ob.pose.bones.get(bone) if bone and ob.type == "ARMATURE" else ob


def parents_of(ob: bpy.types.Object, bone: str) -> set[tuple[bpy.types.Object, str]]:
    """All parents of an object, or those of a bone in its armature. The bone exists."""
    if bone:
        return {(ob, one.name) for one in ob.pose.bones[bone].parent_recursive}
    return set() if ob.parent is None else {(ob.parent, ""), *parents_of(ob.parent, "")}


def bone_of(owner: Owner) -> str:
    """The name of a bone; empty for an object."""
    return "" if owner == owner.id_data else owner.name


def converted(
    bone: bpy.types.Bone, matrix: Matrix, above: Matrix | None, parent: bpy.types.Bone | None = None,
    invert: bool = False,
) -> Matrix:  # fmt: skip
    """The matrix in armature space of a bone with a basis, by Blender's own rules; `invert` : the basis of a matrix.

    above : where its parent is; None if it has none. parent : another bone than its own parent.
    """
    if above is None:
        return bone.convert_local_to_pose(matrix, bone.matrix_local, invert=invert)
    rest = (parent or bone.parent).matrix_local
    return bone.convert_local_to_pose(
        matrix, bone.matrix_local, parent_matrix=above, parent_matrix_local=rest, invert=invert
    )
