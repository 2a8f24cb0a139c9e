# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose the values are that DQIK stores on bones: Blender's paste, join, append and duplicate bring those of others.

Each armature object has two random numbers. `figure` stays for good, and is stored beside each hold. `work` is drawn
when live solving begins, and is stored in each base pose. So a value from another figure, or from an earlier session of
live solving, is told from the object's own. Copies of an object get numbers of their own.
"""

from collections.abc import Iterable
from secrets import randbelow

import bpy
import numpy as np

_FIGURES, _WORKS, _MODES = 1 << 31, 1 << 20, 16  # with a mode, a work is stored in single precision


def claim_hold(bone: bpy.types.PoseBone) -> None:
    """Store that a bone's hold is its own figure's."""
    settings = bone.id_data.dqik
    if not settings.figure:
        settings.figure = _draw(_FIGURES)
    if bone.dqik_hold_of != settings.figure:
        bone.dqik_hold_of = settings.figure


def begin_work(ob: bpy.types.Object) -> None:
    """Draw the number of a session of live solving."""
    ob.dqik.work = _draw(_WORKS)


def tell_apart(objects: Iterable[bpy.types.Object]) -> None:
    """Give copies among armature objects numbers of their own. Linked objects keep theirs."""
    taken: set[tuple[str, int]] = set()
    for ob in sorted(objects, key=lambda ob: ob.session_uid):
        if ob.library is None and ob.pose is not None:
            if not taken.isdisjoint(_numbers(ob)):
                renumber(ob)
            taken |= _numbers(ob)


def renumber(ob: bpy.types.Object) -> None:
    """Draw new numbers for an object. What was its own is its own under the new numbers."""
    settings = ob.dqik
    figure, work = settings.figure, settings.work
    settings.figure, settings.work = _draw(_FIGURES), _draw(_WORKS) if settings.has_base else 0
    for bone in ob.pose.bones:
        if figure and bone.dqik_hold_of == figure:
            bone.dqik_hold_of = settings.figure
        (mode,), (own,) = modes_and_works(np.array([bone.dqik_base[7]]))
        if mode and own == work:
            bone.dqik_base[7] = packed(mode, settings.work)


def packed(modes: np.ndarray, work: int) -> np.ndarray:
    """The numbers of rotation modes, from 1 to 15, each with a work in one number, to be stored in base poses."""
    return modes + float(_MODES * work)


def modes_and_works(stored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers that `packed` has made one; the mode is 0 where there is none, or where the number is damaged."""
    good = (stored > 0.0) & (stored < _MODES * _WORKS)
    whole = np.where(good, stored, 0.0).astype(int)
    works, modes = np.divmod(np.where(whole == stored, whole, 0), _MODES)
    return modes, works


def _draw(below: int) -> int:
    return 1 + randbelow(below - 1)


def _numbers(ob: bpy.types.Object) -> set[tuple[str, int]]:
    numbers = {("figure", ob.dqik.figure), ("work", ob.dqik.work)}
    return {one for one in numbers if one[1]}
