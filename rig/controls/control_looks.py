# SPDX-License-Identifier: GPL-3.0-or-later
"""How large the shapes of controls are and where they are drawn: by the limb that a hand takes hold of."""

from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ..figure.body import RestBody
from ..figure.directions import SMALL
from ..figure.parts import Role

_BOUNDS = 0.5, 1.6  # of a person's: a shape that is smaller cannot be grabbed, a larger one hides the body


class _Measure(NamedTuple):
    """What a control's size goes by: the line between two joints, and its length on people as a share of their size."""

    start: str
    end: str
    usual: float


_MEASURES = {
    "hand": _Measure("forearm", "hand", 0.155), "foot": _Measure("shin", "foot", 0.235),
    "toes": _Measure("shin", "foot", 0.235), "head": _Measure("hips", "head", 0.33),
    "hips": _Measure("hips", "head", 0.33), "spine": _Measure("hips", "head", 0.33),
    "collar": _Measure("arm", "forearm", 0.165), "forearm": _Measure("arm", "forearm", 0.165),
    "shin": _Measure("thigh", "shin", 0.245),
}  # fmt: skip


def size(body: RestBody, role: Role, usual: float) -> float:
    """The size of a control's shape, as a fraction of the armature's. usual : that of a person."""
    measure = _MEASURES[role.name]
    ends = [body.bone(name, role.side if Role(name).part.sided else "") for name in (measure.start, measure.end)]
    if None in ends:
        return usual
    heads = body.armature.heads
    length = float(np.linalg.norm(heads[ends[1]] - heads[ends[0]])) / body.armature.size
    return usual * float(np.clip(length / measure.usual, *_BOUNDS))


def shift(body: RestBody, bone: int, share: float) -> Vector | None:
    """A place along a bone's limb in the bone's frame. share : of the way to the next joint, or of its length."""
    along = body.along(bone) if share else None
    if along is None:
        return None
    armature = body.armature
    ends = [armature.heads[child] - armature.heads[bone] for child in np.flatnonzero(armature.parent == bone)]
    reach = max((float(end @ along) for end in ends), default=0.0)
    reach = reach if reach > SMALL * armature.size else float(armature.length[bone])
    return Vector(share * reach * (armature.rest[bone, :3, :3].T @ along))


def normal(body: RestBody, bone: int) -> Vector | None:
    """The direction of a bone's limb in the bone's frame, about which a ring is drawn; None if it is not known."""
    along = body.along(bone)
    return None if along is None else Vector(body.armature.rest[bone, :3, :3].T @ along)
