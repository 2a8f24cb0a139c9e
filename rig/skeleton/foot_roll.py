# SPDX-License-Identifier: GPL-3.0-or-later
"""The roll of feet: an angle of a foot's control, by which the goal's target turns about ball and toes, or the heel.

It belongs to the control, a bone or an object, and is keyed and pasted with it. Toes turn against the foot so that they
stay flat: by their own goal, or by one that the solve has for them while the roll is in use.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...solvers.algebra import quaternion
from ..blender import animation
from ..blender.armature import Armature
from ..blender.places import Owner, owner_of
from ..curves import bone_path
from ..figure import foot
from ..figure.character import Character
from ..figure.foot import Foot

ROLL = animation.ROLL
_NONE: Mapping[str, set[tuple[str, int]]] = {}


class RolledFoot(NamedTuple):
    """A foot that its goal's target rolls.

    goal, toes : numbers in the solve of its goal and that of its toes, -1 for none. index : of its goal in the list.
    foot : in the target's frame. rest : (4,) the bone's orientation at rest, in armature space. loose : whether the
    toes have no goal of their own. legs : numbers in the solve of goals that go with it: of the leg of a loose foot.
    """

    goal: int
    index: int
    foot: Foot
    rest: np.ndarray
    toes: int = -1
    loose: bool = False
    legs: Sequence[int] = ()

    def against(self, unrolled: np.ndarray, roll: float, follows: float) -> np.ndarray:
        """What turns (4,) the rotation of the toes' target, so that toes are flat that follow their foot by a share.

        unrolled : (4,) the orientation of the foot's target, in armature space.
        """
        turned = quaternion.log(quaternion.product(unrolled, quaternion.conjugate(self.rest)))
        axis = quaternion.rotate(quaternion.product(quaternion.exp(-follows * turned), unrolled), self.foot.axis)
        return quaternion.exp((foot.angles(self.foot, roll)[1] - follows * roll) * axis)


def may_roll(goal: bpy.types.PropertyGroup) -> bool:
    """Whether a goal holds the place and the rotation of its bone, as that of a foot does."""
    return goal.kind == "REACH" and goal.use_position and goal.use_rotation and goal.rotation_follows == 0.0


def goes_with(ob: bpy.types.Object, number: int, foot_number: int) -> bool:
    """Whether the target of a goal for a place, by number, hangs on that of a foot's goal, as that of its leg does."""
    goal, own = ob.dqik.goals[number], owner(ob.dqik.goals[number])
    held = owner(ob.dqik.goals[foot_number])
    return goal.kind == "REACH" and goal.own_target and own is not None and held is not None and own.parent == held


def owner(goal: bpy.types.PropertyGroup) -> Owner | None:
    """What has the roll of a goal: its target; None if there is none."""
    return None if goal.target is None else owner_of(goal.target, goal.subtarget)


def of(goal: bpy.types.PropertyGroup, shown: bpy.types.Object | None = None) -> float:
    """The roll of a goal [rad]. shown : its target as it is evaluated."""
    held = owner(goal) if shown is None else owner_of(shown, goal.subtarget)
    return 0.0 if held is None else held.dqik_roll


def is_used(
    goal: bpy.types.PropertyGroup, shown: bpy.types.Object | None, own: bpy.types.Object,
    of_bones: Mapping[str, set[tuple[str, int]]] = _NONE,
) -> bool:  # fmt: skip
    """Whether the roll of a goal is not 0, or animated.

    shown : its target as it is evaluated. own : its armature. of_bones : as in `Animation`, of the armature.
    """
    if shown is None or not may_roll(goal):
        return False
    if of(goal, shown) != 0.0:
        return True
    if shown.original == own.original:
        return (ROLL, 0) in of_bones.get(goal.subtarget, ())
    held = owner_of(shown.original, goal.subtarget)
    return held is not None and _is_animated(held)


def is_used_by(held: Owner) -> bool:
    """Whether the roll of a control is not 0, or animated."""
    return held.dqik_roll != 0.0 or _is_animated(held)


def _is_animated(held: Owner) -> bool:
    ob = held.id_data
    return ob.animation_data is not None and animation.animates(ob, path_of(held))


def path_of(held: Owner) -> str:
    """The data path of the roll of a control, from its object."""
    return ROLL if isinstance(held, bpy.types.Object) else bone_path(held.name, ROLL)


def seen_from_goal(armature: Armature, found: Foot, bone: int, at_tail: bool) -> Foot:
    """What a foot rolls about, in the frame of its goal's target."""
    return found.seen_from(armature.rest[bone, :3, :3], (armature.tails if at_tail else armature.heads)[bone])


def rolled(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, matrix: Matrix, back: bool = False) -> Matrix:
    """The matrix that a goal's target has by its roll, from the one without it that its bone or end has.

    In armature space. ob : the evaluated armature object. back : the other way round.
    """
    found = _rolled(ob, goal) if may_roll(goal) else None
    if found is None:
        return matrix
    moved = foot.rolled(*found[1:])
    (place, turn, scale), offset, by = matrix.decompose(), Vector(moved.offset), Quaternion(moved.turn)
    if back:
        turn = turn @ by.inverted()
        return Matrix.LocRotScale(place - turn @ offset, turn, scale)
    return Matrix.LocRotScale(place + turn @ offset, turn @ by, scale)


def against(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, follows: float) -> Quaternion:
    """As `RolledFoot.against`, for a goal of toes in the evaluated pose; none for any other goal."""
    parent = ob.pose.bones[goal.bone].parent
    above = None if parent is None else next(
        (one for one in goal.id_data.dqik.goals if one.bone == parent.name and not one.mute and may_roll(one)), None
    )  # fmt: skip
    rolling = None if above is None else _rolled(ob, above)
    if rolling is None or rolling[1].toes != ob.pose.bones.find(goal.bone):
        return Quaternion()
    armature, found, roll = rolling
    rest = quaternion.from_matrix(armature.rest[armature.index[parent.name], :3, :3])
    unrolled = quaternion.product(
        np.array(parent.matrix.to_quaternion()), quaternion.conjugate(foot.rolled(found, roll).turn)
    )
    return Quaternion(RolledFoot(0, 0, found, rest).against(unrolled, roll, follows))


def _rolled(ob: bpy.types.Object, goal: bpy.types.PropertyGroup) -> tuple[Armature, Foot, float] | None:
    """The armature, what its foot rolls about in the target's frame, and by how much; None if it does not roll."""
    roll = of(goal, ob if goal.target is not None and goal.target.original == ob.original else None)
    if roll == 0.0:
        return None
    own = Character.of(ob)
    armature, bone = own.armature, own.armature.index[goal.bone]
    found = foot.of(ob, own, bone)
    return None if found is None else (armature, seen_from_goal(armature, found, bone, goal.use_tail), roll)
