# SPDX-License-Identifier: GPL-3.0-or-later
"""Parents of control bones: a control goes over to another parent, and stays where it is.

A control without keys is posed anew. The keys of a control count from its parent, so one with keys gets a hidden bone
between: its pivot, which rests as the old parent does and keeps the place that this one has. Keys are never rewritten.
A head does not turn with hips or chest. It hangs on a pivot that does not either, and that turns with the master.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..blender import animation
from ..blender.armature import Armature
from ..blender.places import converted
from ..figure.body import RestBody
from ..figure.character import Character
from . import control_shapes, controls, rotation_space

_MASTER_SIZE = 0.5
_STILL = 1e-5


class Pivot(NamedTuple):
    """A pivot, by name, that stays where it was on all frames only if it gets keys: it hung on `parent`, by `basis`."""

    name: str
    parent: str
    basis: Matrix

    def place(self, ob: bpy.types.Object) -> Matrix:
        """Where it belongs, in the space of an evaluated armature object."""
        bone, above = ob.pose.bones[self.name].bone, ob.pose.bones.get(self.parent)
        return converted(bone, self.basis, above and above.matrix, above and above.bone)


def is_pivot(name: str) -> bool:
    """Whether a control bone is a pivot: the keys of its child count from it."""
    return name.startswith(controls.PREFIX) and name.endswith(controls.PIVOT)


def above(ob: bpy.types.Object, name: str) -> str:
    """The name of a control's parent, past its pivot; empty for none."""
    parent = ob.data.bones[name].parent
    if parent is not None and is_pivot(parent.name):
        parent = parent.parent
    return "" if parent is None else parent.name


def hang(ob: bpy.types.Object, wanted: Mapping[str, str]) -> list[Pivot]:
    """Give controls other parents, by name, empty for none. They stay where they are, and so does all below them.

    Those whose goals follow their limbs turn so that these ask for the same rotation.

    Returns the pivots of controls that may have keys; these stay on all frames if the parents do not move either.
    """
    if not wanted:
        return []
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = {bone.name: bone.matrix.copy() for bone in evaluated.pose.bones}
    found, keyed = list[Pivot](), set[str]()
    for name in wanted:
        bone = ob.pose.bones[name]
        if bone.parent is not None and is_pivot(bone.parent.name):
            bone = bone.parent
        found.append(Pivot(bone.name, "" if bone.parent is None else bone.parent.name, bone.matrix_basis.copy()))
        if animation.moves(ob, bone.name):
            keyed.add(bone.name)
    kept = [places.get(one.parent, Matrix()) if one.name in keyed
            else rotation_space.rehung(evaluated, one.name, parent)
            for one, parent in zip(found, wanted.values(), strict=True)]  # fmt: skip
    with controls.edit_mode(ob) as bones:
        for number, one in enumerate(found):
            if one.name in keyed:
                made = bones.new(controls.PREFIX + one.name.removeprefix(controls.PREFIX) + controls.PIVOT)
                controls.stand_as(made, bones.get(one.parent))
                bones[one.name].parent = made
                found[number] = Pivot(made.name, one.parent, Matrix())
        for one, parent in zip(found, wanted.values(), strict=True):
            bones[one.name].parent = bones.get(parent)
    for one, parent, place in zip(found, wanted.values(), kept, strict=True):
        if one.name not in places:
            controls.hide_pivot(ob, one.name)
        controls.place(ob.pose.bones[one.name], place, places.get(parent))
    ob.update_tag(refresh={"OBJECT"})
    return [one for one in found if is_pivot(one.name)]


def release(ob: bpy.types.Object, names: Collection[str]) -> None:
    """Hang the controls that are children of some controls, which are about to go, on the parents of these."""
    if not controls.can_add(ob):
        return
    wanted: dict[str, str] = {}
    for bone in (bone.bone for bone in controls.of(ob)):
        parent = bone.parent
        if bone.name not in names and parent is not None and parent.name in names:
            kept = (above.name for above in parent.parent_recursive if above.name not in names)
            wanted[bone.name] = next(kept, "")
    hang(ob, wanted)


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
        controls.stand_as(made, bones.get(root_name))
        made.length, made.parent = controls.LENGTH * armature.size, bones.get(root_name)
        made.translate(Vector(_ground(armature, body)) - made.head)
        made.select = made.select_head = made.select_tail = False
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
    names = [
        bone.name for bone in controls.of(ob)
        if not (bone.bone.use_inherit_rotation or is_pivot(bone.name) or bone.parent is None)
        and not animation.moves(ob, bone.name)
    ]  # fmt: skip
    if not names:
        return
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = {name: evaluated.pose.bones[name].matrix.copy() for name in names}
    with controls.edit_mode(ob) as bones:
        pivots = {name: controls.add_pivot(bones, bones[name], root) for name in names}
    for name, pivot in pivots.items():
        controls.hide_pivot(ob, pivot)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        controls.move(evaluated, name, places[name])
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
                controls.move(evaluated, name, place)
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

