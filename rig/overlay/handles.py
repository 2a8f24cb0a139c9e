# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles that change limits: where they are, and which value of a limit the pointer asks for."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.space import limit_curves
from ..skeleton import limits as joint_limits
from . import scene

STEP = np.radians(0.25)
_SEARCH = np.radians(40.0)  # a handle follows the pointer by no more than this at a time, so that it does not jump


@dataclass(frozen=True)
class Joint:
    """An evaluated bone with its limits.

    frame (3, 3), head (3,), world (4, 4) : see `limit_curves.places`; `world` is the object's matrix. tip, rim (3,) :
    the points that show swing and twist. x, lo, hi (3,) : coordinates and limits, of twist, swing X and swing Z.
    """

    frame: np.ndarray
    head: np.ndarray
    world: np.ndarray
    tip: np.ndarray
    rim: np.ndarray
    x: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    def places(self, part: int, values: np.ndarray) -> np.ndarray:
        """World points (K, 3) of a limit's handle at some values (K,). part : 0 twist, 1 swing X, 2 swing Z."""
        coordinates = np.repeat(self.x[None], len(values), 0)
        if part:  # on the axis of the swing's ellipse
            coordinates[:, 1:] = np.clip(0.0, self.lo, self.hi)[1:]
        coordinates[:, part] = values
        point = self.tip if part else self.rim
        places = limit_curves.places(self.frame[None], self.head[None], point[None], coordinates[None])[0]
        return places @ self.world[:3, :3].T + self.world[:3, 3]

    def value_at(self, part: int, now: float, projection: np.ndarray, size: np.ndarray, pointer: np.ndarray) -> float:
        """The value of a limit whose handle is nearest to the pointer (2,) [pixels], near its value `now`.

        projection : (4, 4) from the world to clip space. size : (2,) of the region [pixels].
        """
        values = now + STEP * np.arange(-round(_SEARCH / STEP), round(_SEARCH / STEP) + 1)
        values = values[(values >= -np.pi) & (values <= np.pi)]
        places = np.concatenate([self.places(part, values), np.ones((len(values), 1))], -1) @ projection.T
        pixels = (0.5 + 0.5 * places[:, :2] / np.maximum(places[:, 3:], 1e-9)) * size
        return float(values[np.linalg.norm(pixels - pointer, axis=-1).argmin()])


def joint(bone: bpy.types.PoseBone) -> Joint:
    """The joint of an evaluated bone."""
    own, tip = scene.frame(bone), scene.tip(bone, bone.children)
    return Joint(
        quaternion.to_matrix(np.array(own.to_quaternion())), np.array(bone.head), np.array(bone.id_data.matrix_world),
        tip, scene.rims(tip[None])[0], scene.coordinates([bone], [own])[0], *joint_limits.of(bone),
    )  # fmt: skip
