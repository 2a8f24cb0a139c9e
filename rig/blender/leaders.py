# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones follow by constraints; in generated rigs some do as children would, and are taken for children."""

from collections.abc import Mapping
from typing import NamedTuple

import bpy
import numpy as np

from .dependencies import acts

_SAME = 1e-4  # matrices at rest of bones in one place differ by less
_SPACES = {"WORLD", "POSE"}
_LOCAL = {"LOCAL", "LOCAL_WITH_PARENT"}
_TURNING = {"COPY_ROTATION", "COPY_TRANSFORMS"}  # their result does not depend on the bone's position
_AIMING = {"DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO"}  # theirs does
_COPYING = {*_TURNING, "COPY_LOCATION"}
_UNTURNED = {"COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME"}  # they neither turn nor move a bone


class Leader(NamedTuple):
    """The bone, by its number, that another one follows; `turns` : in its rotation too, else only in its place."""

    number: int
    turns: bool


def of(bone: bpy.types.PoseBone, index: Mapping[str, int], rest: np.ndarray) -> Leader | None:
    """The bone of the same armature that a bone follows as a child would; None if it follows its parent or several.

    index : {name: number}. rest : (N, 4, 4) of all bones.
    """
    acting = [constraint for constraint in bone.constraints if acts(constraint) and constraint.type not in _UNTURNED]
    if len(acting) != 1 or acting[0].influence < 1.0:
        return None
    only = acting[0]
    if only.type == "ARMATURE":
        targets = [one for one in only.targets if one.weight > 0.0]
        return _led(bone, targets[0], index, True) if len(targets) == 1 else None
    if not {only.owner_space, only.target_space} <= _SPACES:
        return None
    if copies_place(only):
        return _led(bone, only, index, False)
    if only.type != "COPY_TRANSFORMS" or only.mix_mode != "REPLACE" or only.head_tail:
        return None
    found = _led(bone, only, index, True)
    same = found is not None and np.abs(rest[found.number] - rest[index[bone.name]]).max() < _SAME
    return found if same else None


def copies_place(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint puts a bone at another one, and nothing else."""
    return (
        constraint.type == "COPY_LOCATION" and constraint.use_x and constraint.use_y and constraint.use_z
        and not (constraint.invert_x or constraint.invert_y or constraint.invert_z or constraint.use_offset)
    )  # fmt: skip


def aims(bone: bpy.types.PoseBone, index: Mapping[str, int]) -> list[int]:
    """The bones of the same armature that a bone's constraints copy places or rotations of, as these are in space."""
    copying = [one for one in bone.constraints if acts(one) and one.type in _COPYING and one.owner_space not in _LOCAL]
    found = [_led(bone, one, index, True) for one in copying]
    return [led.number for led in found if led is not None]


def held_in_space(bone: bpy.types.PoseBone) -> bool:
    """Whether constraints give a bone an orientation that depends neither on its parent nor on its place."""
    acting = [one for one in bone.constraints if acts(one)]
    last = max((number for number, one in enumerate(acting) if one.type in _AIMING), default=-1)
    return any(
        c.type in _TURNING
        and c.owner_space in {"WORLD", "POSE", "CUSTOM"}
        and c.influence == 1.0
        and getattr(c, "mix_mode", "REPLACE") == "REPLACE"
        and all(getattr(c, f"use_{axis}", True) for axis in "xyz")
        for c in acting[last + 1 :]
    )


def _led(
    bone: bpy.types.PoseBone, holder: bpy.types.Constraint | bpy.types.ConstraintTargetBone, index: Mapping[str, int],
    turns: bool,
) -> Leader | None:  # fmt: skip
    """The bone that a constraint, or one of its targets, aims at."""
    own = holder.target is not None and holder.target.original == bone.id_data.original
    number = index.get(holder.subtarget) if own else None
    return None if number is None else Leader(number, turns)
