# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds: how firmly bones stay as they are posed while others reach the goals.

A bone that the user poses by hand is held fully, one with keys by half: so a bone posed by hand stays before those that
are keyed. Where all bones are held alike the holds make no difference. Where the hold of a keyed bone is keyed too, it
is as its keys say: at 0, the bone's keys are no more than the pose that it starts from.
"""

from collections.abc import Iterable

import bpy
import numpy as np

from ....solvers.model import KEYED
from ... import curves
from ...blender import animation, bulk
from ...blender.channels import Channels, Which
from ..read.view import View
from . import stored_base

POSED = 1.0


def read(ob: bpy.types.Object, evaluated: bpy.types.Object, free: Which, own: np.ndarray, view: View) -> np.ndarray:
    """The holds (N,) of all bones, in a view.

    ob : the original object, whose holds may have been set since it was `evaluated`. Of a new frame it has animated
    ones as its window's view layer evaluates them, in other view layers those of the frame before.
    free : channels that nothing animates. own : (N,) bool, whose holds are animated.
    """
    holds = stored(ob if view.in_viewport else evaluated)
    if view.fresh and own.any():
        holds[own] = stored(evaluated)[own]
    if ob.dqik.hold_keyed:
        keyed = ~(free.rotations.all(-1) & free.locations.all(-1)) & ~own
        holds[keyed] = np.maximum(holds[keyed], KEYED)
    return holds


def by_keys(holds: np.ndarray, free: Which, own: np.ndarray) -> np.ndarray:
    """How far (N,) keys decide how bones are turned, 0 to 1: wholly, unless their holds (N,) are animated and low.

    Other arguments as for `read`.
    """
    share = np.where(own, np.clip(holds / KEYED, 0.0, 1.0), 1.0)
    return np.where(free.rotations.all(-1), 0.0, share)


def stored(ob: bpy.types.Object) -> np.ndarray:
    """The holds (N,) that are stored on all bones."""
    return bulk.read(ob.pose.bones, "dqik_hold")


def figures(ob: bpy.types.Object) -> np.ndarray:
    """The figures (N,) whose holds the bones have; 0 where none was set."""
    return bulk.read(ob.pose.bones, "dqik_hold_of", kind=np.int32)


def drop_foreign(ob: bpy.types.Object, before: np.ndarray) -> None:
    """Give bones whose hold is another figure's, or was replaced by none, the hold from before (N,) back.

    Animated holds stay. So does what a mirrored paste brings from the bone of the other side with its base pose. A hold
    that is nobody's was set in bulk.
    """
    held, of, figure = stored(ob), figures(ob), ob.dqik.figure
    foreign = (of != 0) & (of != figure) | (of == 0) & (held == 0.0) & (before != 0.0)
    arrived = np.flatnonzero(foreign | (of == 0) & (held != 0.0)).tolist()
    own = set(stored_base.own(ob)) if arrived else set()
    for number in arrived:
        bone = ob.pose.bones[number]
        if not foreign[number] or (number in own and stored_base.is_mirrored(bone)):
            bone.dqik_hold = bone.dqik_hold  # it belongs to this figure
        elif not animation.animates(ob, curves.bone_path(bone.name, "dqik_hold")):
            bone.dqik_hold = before[number]
    if any(bone.is_property_set("dqik_hold") and not bone.is_property_set("dqik_hold_of") for bone in ob.pose.bones):
        make_explicit(ob)
        ob.update_tag(refresh={"OBJECT"})  # Blender copies the bones anew and may leave their pose as it was saved


def make_explicit(ob: bpy.types.Object) -> None:
    """Store all holds and whose they are, also those that were never set: Blender pastes stored properties only.

    Nothing is touched.
    """
    if ob.library is None:
        ob.pose.bones.foreach_set("dqik_hold", stored(ob))
        ob.pose.bones.foreach_set("dqik_hold_of", figures(ob))


def restore(ob: bpy.types.Object, holds: np.ndarray) -> None:
    """Store holds (N,) on all bones."""
    for bone, hold in zip(ob.pose.bones, holds.tolist(), strict=True):
        put(bone, hold)


def note_posed(ob: bpy.types.Object, now: Channels, turned: np.ndarray, moved: np.ndarray) -> None:
    """Hold the solved bones that the user has turned (n,) or, if they may move, moved (n,), in their channels `now`.

    Bones whose changed channels are exactly at rest were cleared, so they are not held any more.
    """
    slid = [bone for bone in moved.tolist() if ob.pose.bones[bone].dqik_translate]
    bones = np.union1d(turned, slid).astype(int)
    rested = ~np.isin(bones, turned) | (now.rotations[bones] == now.modes.at_rest(bones)).all(-1)
    rested &= ~np.isin(bones, slid) | (now.locations[bones] == 0.0).all(-1)
    for number, cleared in zip(bones.tolist(), rested.tolist(), strict=True):
        put(ob.pose.bones[number], 0.0 if cleared else POSED)


def clear(bones: Iterable[bpy.types.PoseBone]) -> int:
    """Clear the holds of bones; returns how many had one."""
    return sum(put(bone, 0.0) for bone in bones)


def put(bone: bpy.types.PoseBone, hold: float) -> bool:
    """Set a bone's hold if it is another one; returns whether it was."""
    if bone.dqik_hold == hold:
        return False
    bone.dqik_hold = hold
    return True
