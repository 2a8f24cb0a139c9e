# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of a bone over many frames, led to the nearest ones inside the limits that it has."""

from collections.abc import Callable

import bpy
import numpy as np

from ...solvers.algebra import twist_swing
from ...solvers.model import project_swing
from ..blender import limit_frame
from ..skeleton import limits


def projection(bone: bpy.types.PoseBone) -> Callable[[np.ndarray], np.ndarray]:
    """A function that takes rotations (F, 4) of a bone from rest to the nearest ones inside its limits."""
    if not bone.dqik_use_limits:
        return lambda turned: turned
    frame, (lo, hi) = limit_frame.of(bone), limits.of(bone)

    def project(turned: np.ndarray) -> np.ndarray:
        x = twist_swing.coordinates(limit_frame.motions(turned, frame.start, frame.axes))
        if limits.is_twist_limited(lo[None], hi[None])[0]:
            x[:, 0] = np.clip(x[:, 0], lo[0], hi[0])
        if limits.is_swing_limited(lo[None], hi[None])[0]:
            x[:, 1:] = project_swing(x[:, 1:], *(np.broadcast_to(end[1:], (len(x), 2)) for end in (lo, hi)))
        return twist_swing.compose(x) @ limit_frame.to_rotations(frame.start, frame.axes)

    return project
