# SPDX-License-Identifier: GPL-3.0-or-later
"""The masses of a figure's bones, for its centre of mass.

Shares of the body's mass from Winter 2009, "Biomechanics and Motor Control of Human Movement", table 4.1. Bones that
share a part of the body weigh by their lengths. A figure without such parts has bones that weigh as they are long.
"""

import numpy as np

from ..blender.armature import Armature
from .roles import Figure

_SHARES = {"trunk": 0.497, "head": 0.081, "arm": 0.028, "forearm": 0.016, "hand": 0.006, "thigh": 0.1, "shin": 0.0465,
           "foot": 0.0145}  # fmt: skip
"""Shares of the parts of the body, of one arm and one leg; `Part.weight` says which roles' bones belong to each."""


def of(armature: Armature, figure: Figure) -> dict[int, float]:
    """The masses of bones by number, in any unit."""
    lengths = np.array(armature.length)
    found: dict[int, float] = {}
    for name, share in _SHARES.items():
        by_side: dict[str, list[int]] = {}
        for bone, role in figure.roles.items():
            if role.part.weight == name:
                by_side.setdefault("" if role.name == "collar" else role.side, []).append(bone)
        for bones in by_side.values():
            whole = max(float(lengths[bones].sum()), 1e-12)
            found.update({bone: share * max(float(lengths[bone]) / whole, 1e-6) for bone in bones})
    return found or {bone: max(float(length), 1e-6) for bone, length in enumerate(lengths)}
