# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of people's joints, as a preset for the bones of a figure (see `rig/figure/anatomy.py`)."""

from collections.abc import Iterable
from dataclasses import dataclass

import bpy

from ..figure.character import Character
from ..notes import Note
from . import limits


@dataclass
class LimitPreset:
    """The result of a preset: names of the bones that got limits, and of limbs whose place in the figure is unknown.

    refusal : why, if human limits do not fit the figure, or do nothing on it.
    """

    limited: list[str]
    skipped: list[str]
    refusal: Note | None = None


def apply(ob: bpy.types.Object, chosen: Iterable[bpy.types.PoseBone]) -> LimitPreset:
    """Set limits and preferred bends of the chosen bones that are recognised; others do not change."""
    own = Character.of(ob)
    armature, figure, anatomy = own.armature, own.figure, own.anatomy
    if refusal := figure.controlled or figure.not_human:
        return LimitPreset([], [], refusal)
    preset = LimitPreset([], [])
    for bone in chosen:
        number = armature.index[bone.name]
        role = figure.roles.get(number)
        if role is None or role.part.range is None:
            continue
        fitted = anatomy.fit(number, role)
        if fitted is None:
            preset.skipped.append(bone.name)
            continue
        limits.put(bone, fitted.lo, fitted.hi, fitted.frame)
        if fitted.preferred.any():
            bone.dqik_preferred_angle = fitted.preferred
        preset.limited.append(bone.name)
    return preset
