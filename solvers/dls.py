# SPDX-License-Identifier: GPL-3.0-or-later
"""DLS: damped least squares with an active set for the limits.

`d = J^T (J J^T + lambda^2 I)^-1 e` (Parent eq. 5.24; Wampler 1986), here with the joints' reluctance as metric. Joints
that the step carries past a limit are put on it and the rest is solved again, until none is carried past.
"""

import numpy as np

from .linear_step import LinearSystem, free_step

ROUNDS = 8
_SAME = 1e-9  # [rad]


def step(system: LinearSystem) -> np.ndarray:
    """The step (F, n) of one iteration, inside the limits."""
    space = system.space
    if not space.limited:
        return free_step(system)
    free = np.tile(~space.closed, (len(system.x), 1))
    normals = np.zeros((len(system.x), len(space.pairs), 2))
    fixed, projected = np.zeros_like(system.x), np.zeros_like(system.x)
    for _ in range(ROUNDS):
        candidate = free_step(system, free, normals, fixed)
        projected = space.project(system.x + candidate) - system.x
        moved = np.abs(projected - candidate) > _SAME
        if not moved.any():
            break
        bound = moved & ((system.x + projected >= space.hi - _SAME) | (system.x + projected <= space.lo + _SAME))
        free &= ~bound
        curved = space.normals(system.x + projected) * moved[:, space.pairs].any(-1, keepdims=True)
        normals = np.where(normals.any(-1, keepdims=True), normals, curved)
        normals = np.where(free[:, space.pairs].all(-1, keepdims=True), normals, 0.0)
        fixed = np.where(free, 0.0, projected)
        fixed[:, space.pairs] += normals * (projected[:, space.pairs] * normals).sum(-1, keepdims=True)
    return projected
