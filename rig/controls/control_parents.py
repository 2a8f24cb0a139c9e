# SPDX-License-Identifier: GPL-3.0-or-later
"""Parents of control bones: a control goes over to another parent, and stays where it is.

A control without keys is posed anew. The keys of a control count from its parent, so one with keys gets a hidden bone
between: its pivot, which rests as the old parent does and keeps the place that this one has. Keys are never rewritten.
A head does not turn with hips or chest. It hangs on a pivot that does not either, and that turns with the master.
"""

from collections.abc import Collection
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..blender import animation
from ..blender.armature import Armature
from ..figure.body import RestBody
from ..figure.character import Character
from . import control_shapes, controls

_MASTER_SIZE = 0.5
_STILL = 1e-5


class Pivot(NamedTuple):
    """A pivot, by name, that stays where it was on all frames only if it gets keys: it hung on `parent`, by `basis`."""

    name: str
    parent: str
    basis: Matrix

    def place(self, ob: bpy.types.Object) -> Matrix:
        """Where it belongs, in the space of an evaluated armature object."""
        bone = ob.pose.bones[self.name].bone
        if not self.parent:
            return bone.convert_local_to_pose(self.basis, bone.matrix_local)
        above = ob.pose.bones[self.parent]
        return bone.convert_local_to_pose(self.basis, bone.matrix_local, parent_matrix=above.matrix,
                                          parent_matrix_local=above.bone.matrix_local)  # fmt: skip


def is_pivot(name: str) -> bool:
    """Whether a control bone is a pivot: the keys of its child count from it."""
    return name.startswith(controls.PREFIX) and name.endswith(controls.PIVOT)


def above(ob: bpy.types.Object, name: str) -> str:
    """The name of a control's parent, past its pivot; empty for none."""
    parent = ob.data.bones[name].parent
    if parent is not None and is_pivot(parent.name):
        parent = parent.parent
    return "" if parent is None else parent.name


def hang(ob: bpy.types.Object, name: str, parent: str) -> Pivot | None:
    """Give a control another parent, empty for none. It stays where it is.

    Returns the pivot of a control that may have keys; it stays on all frames if the parents do not move either.
    """
    old = ob.data.bones[name].parent
    if old is not None and is_pivot(old.name):
        name, old = old.name, old.parent
    own_name = "" if old is None else old.name
    pivot = controls.PREFIX + name.removeprefix(controls.PREFIX) + controls.PIVOT if animation.moves(ob, name) else ""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    kept, basis = own_name if pivot else name, Matrix() if pivot else ob.pose.bones[name].matrix_basis.copy()
    place = evaluated.pose.bones[kept].matrix.copy() if kept else Matrix()
    with controls.edit_mode(ob) as bones:
        if pivot:
            made = bones.new(pivot)
            pivot, made.use_deform, made.head, made.tail = made.name, False, Vector(), Vector((0.0, 1.0, 0.0))
            if own_name:
                pattern = bones[own_name]
                made.head, made.tail, made.roll = pattern.head, pattern.tail, pattern.roll
            bones[name].parent = made
        bones[pivot or name].parent = bones.get(parent)
    if pivot:
        controls.hide_pivot(ob, pivot)
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    over = evaluated.pose.bones[parent].matrix if parent else None
    controls.place(ob.pose.bones[pivot or name], place, over)
    ob.update_tag(refresh={"OBJECT"})
    return Pivot(pivot or name, own_name, basis) if pivot or is_pivot(name) else None


def release(ob: bpy.types.Object, names: Collection[str]) -> None:
    """Hang the controls that are children of some controls, which are about to go, on the parents of these."""
    if not controls.can_add(ob):
        return
    for name in [bone.name for bone in controls.of(ob)]:
        bone = ob.data.bones[name]
        parent = bone.parent
        if name in names or parent is None or parent.name not in names:
            continue
        while parent is not None and parent.name in names:
            parent = parent.parent
        hang(ob, name, "" if parent is None else parent.name)


def left_over(ob: bpy.types.Object, names: Collection[str], last: bool) -> list[str]:
    """The controls without a goal that are not used once some controls are gone.

    last : whether these were the last ones, so that the master goes as well.
    """
    own = [bone.bone for bone in controls.of(ob)]
    parents = [bone.name for bone in own if (is_pivot(bone.name) or bone.name == controls.EYES)
               and all(child.name in names for child in bone.children)]  # fmt: skip
    return [*parents, controls.MASTER] if last and controls.MASTER in ob.data.bones else parents


def master(ob: bpy.types.Object, root: str) -> str:
    """The name of the parent of new controls: the master if there is one, else the root bone, which may be empty."""
    return controls.MASTER if controls.MASTER in ob.data.bones else root


def add_master(ob: bpy.types.Object) -> bool:
    """Add the master, on the ground below the hips, as the parent of the controls that have no control above them.

    Returns whether there was none. It rests turned as their parent does, so that their keys mean the same below it.
    """
    tops = [one.bone for one in controls.of(ob) if one.parent is None
            or not (controls.is_control(one.parent.bone) or _is_of_head(one.name))]  # fmt: skip
    if controls.MASTER in ob.data.bones or not tops:
        return False
    own = Character.of(ob)
    armature, body = own.armature, own.body
    root = tops[0].parent
    hung, root_name = [bone.name for bone in tops if bone.parent == root], "" if root is None else root.name
    turn = np.eye(3) if root is None else armature.rest[armature.index[root_name], :3, :3]
    with controls.edit_mode(ob) as bones:
        made = bones.new(controls.MASTER)
        made.head, made.tail = Vector(), Vector((0.0, controls.LENGTH * armature.size, 0.0))
        if root_name:
            pattern = bones[root_name]
            made.head, made.tail, made.roll = pattern.head, pattern.tail, pattern.roll
            made.length = controls.LENGTH * armature.size
            made.parent = pattern
        made.translate(Vector(_ground(armature, body)) - made.head)
        made.use_deform = made.select = made.select_head = made.select_tail = False
        for name in hung:
            bones[name].parent = made
    turn_with_master(ob)
    look = controls.Control(
        "master", "", shape=control_shapes.RING, size=_MASTER_SIZE, normal=Vector(turn.T @ body.up)
    )
    controls.show(ob, controls.MASTER, look, armature.size)
    return True


def add_pivots(ob: bpy.types.Object, root: str) -> None:
    """Hang the controls that turn with no parent on pivots, which stand as a master would: it can turn them later.

    Those with keys stay. root : the parent of a master; empty for none.
    """
    for bone in controls.of(ob):
        name = bone.name
        if bone.bone.use_inherit_rotation or is_pivot(name) or bone.parent is None or animation.moves(ob, name):
            continue
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        place = evaluated.pose.bones[name].matrix.copy()
        with controls.edit_mode(ob) as bones:
            pivot = controls.add_pivot(bones, bones[name], root)
        controls.hide_pivot(ob, pivot)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        controls.place(ob.pose.bones[name], place, evaluated.pose.bones[pivot].matrix)
        ob.update_tag(refresh={"OBJECT"})


def turn_with_master(ob: bpy.types.Object) -> None:
    """Let the pivots that turn with no parent turn with the master, if there is one.

    Controls stay where they are: those with keys are turned only by a master that stands as at rest.
    """
    if controls.MASTER not in ob.data.bones:
        return
    above = [bone.name for bone in ob.data.bones[controls.MASTER].parent_recursive]
    add_pivots(ob, above[0] if above else "")
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    shown = evaluated.pose.bones[controls.MASTER]
    turn = np.array(shown.matrix.to_3x3().normalized()) - np.array(shown.bone.matrix_local.to_3x3())
    stands = np.abs(turn).max() < _STILL and not any(animation.moves(ob, name) for name in above)
    for pivot in [bone.name for bone in controls.of(ob) if is_pivot(bone.name)]:
        below = [bone for bone in controls.of(ob) if bone.parent == ob.pose.bones[pivot]]
        if ob.data.bones[pivot].use_inherit_rotation or len(ob.pose.bones[pivot].constraints):
            continue
        keyed = any(animation.moves(ob, bone.name) for bone in below)
        if keyed and not stands:
            continue
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places = {bone.name: evaluated.pose.bones[bone.name].matrix.copy() for bone in below}
        tie = ob.pose.bones[pivot].constraints.new("COPY_ROTATION")
        tie.target, tie.subtarget, tie.target_space, tie.owner_space = ob, controls.MASTER, "POSE", "POSE"
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        if not keyed:
            for name, place in places.items():
                controls.place(ob.pose.bones[name], place, evaluated.pose.bones[pivot].matrix)
        ob.update_tag(refresh={"OBJECT"})


def _is_of_head(name: str) -> bool:
    """Whether a control hangs on the head's bone where this has no control: those of eyes, and their parent."""
    return name == controls.EYES or name.startswith(f"{controls.PREFIX}eye.")


def _ground(armature: Armature, body: RestBody) -> np.ndarray:
    """The place (3,) below the hips at the height of the lowest bone."""
    own = list(body.roles) or list(range(len(armature.heads)))
    hips = body.bone("hips")
    middle = armature.heads[own].mean(0) if hips is None else armature.heads[hips]
    low = min(float((ends[own] @ body.up).min()) for ends in (armature.heads, armature.tails))
    return middle + (low - middle @ body.up) * body.up

