# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender shows of a figure over frames, as arrays."""

from typing import NamedTuple

import bpy
import numpy as np


class Space(NamedTuple):
    """Where an armature object is: its place (3,) or (F, 3), turn (4,) or (F, 4) and scale."""

    place: np.ndarray
    turn: np.ndarray
    scale: float

    @classmethod
    def of(cls, ob: bpy.types.Object) -> "Space":
        """Of an object as it is shown."""
        place, turn, scale = ob.matrix_world.decompose()
        return cls(np.array(place), np.array(turn), float(max(map(abs, scale))))

    def part(self, frames: slice) -> "Space":
        """Where it is on some of the F frames."""
        return self if self.place.ndim == 1 else Space(self.place[frames], self.turn[frames], self.scale)

    @property
    def level(self) -> float:
        """How high it is."""
        return float(np.median(self.place[..., 2]))


class Shown(NamedTuple):
    """A figure's motion over F frames, in the world: heads (F, N, 3) and turns from rest (F, N, 4) of all bones.

    The turns are those from bones at rest along the world's axes, as if the object were not turned.
    """

    heads: np.ndarray
    turns: np.ndarray
