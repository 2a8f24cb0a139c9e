# SPDX-License-Identifier: GPL-3.0-or-later
"""Active sets: the limits that a step lies on, and steps over the directions that remain free."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..space.joint_space import JointSpace
from ..space.unknowns import Unknowns
from .linear_step import Inner, LinearSystem

ROUNDS = 8
SAME = 1e-9  # [rad] a projection by less counts as none

RestrictedStep = Callable[..., np.ndarray]
"""A step (F, n) over the free directions, from a system and `free`, `normals`, `fixed` as in `free_step`."""

Improve = Callable[[LinearSystem, np.ndarray], np.ndarray]


def limited(step: RestrictedStep, release: bool = True, improve: Improve | None = None) -> Inner:
    """A solver's step, kept inside the limits by `within_limits`."""
    return partial(within_limits, step=step, release=release, improve=improve)


def within_limits(
    system: LinearSystem, step: RestrictedStep, release: bool = True, improve: Improve | None = None
) -> np.ndarray:
    """The step (F, n) of a solver inside the limits.

    Degrees of freedom that the step moves past a limit are fixed on it and the others are solved again, until no
    degree of freedom goes past.

    release : whether a degree of freedom that the gradient presses against its limit may leave it, as part of a step
        of all. If not, every short enough step leads downhill (Bertsekas 1982, "Projected Newton methods"), which far
        targets need.
    improve : looks for a better step inside the limits, where the first solve has met one: without, it is the least.
    """
    space = system.space
    if not space.limited:
        return step(system)
    free = np.tile(~space.closed, (len(system.x), 1))
    normals = np.zeros((len(system.x), len(space.pairs), 2))
    fixed, projected = np.zeros_like(system.x), np.zeros_like(system.x)
    met = np.zeros(len(system.x), dtype=bool)
    if not release:
        free, normals, fixed = active_set(space, system.x, fixed, system.descent(fixed))
    for _ in range(ROUNDS):
        candidate = step(system, free, normals, fixed)
        projected = space.project(system.x + candidate) - system.x
        moved = np.abs(projected - candidate) > SAME
        if not moved.any():
            break
        met |= moved.any(-1)
        bound = moved & ((system.x + projected >= space.hi - SAME) | (system.x + projected <= space.lo + SAME))
        free &= ~bound
        curved = space.normals(system.x + projected) * moved[:, space.pairs].any(-1, keepdims=True)
        normals = np.where(normals.any(-1, keepdims=True), normals, curved)
        normals = np.where(free[:, space.pairs].all(-1, keepdims=True), normals, 0.0)
        bounded = np.where(free, 0.0, projected)
        bounded[:, space.pairs] += normals * (projected[:, space.pairs] * normals).sum(-1, keepdims=True)
        # frames that are done keep their step bit for bit while others go on
        fixed = np.where(np.any(moved, axis=-1, keepdims=True), bounded, fixed)
    if improve is not None and met.any():
        projected[met] = improve(system if met.all() else system.take(met), projected[met])
    return projected


def active_set(
    space: JointSpace | Unknowns, start: np.ndarray, d: np.ndarray, down: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The directions that stay free after a step `d` (F, n).

    Coordinates are free if they are off their bounds or pulled inward; on an active ellipse the tangent is free.
    Returns `(free, normals, fixed)` as `linear_step.free_step` takes them.

    Parameters
    ----------
    start : (F, n) coordinates that the step begins at. down : (F, n) the objective's negative gradient where it ends.
    """
    x = start + d
    active = ((x >= space.hi - SAME) & (down > 0.0)) | ((x <= space.lo + SAME) & (down < 0.0))
    normals, pairs = space.normals(x), space.pairs
    if normals.size:
        outward = (down[:, pairs] * normals).sum(-1, keepdims=True) > 0.0
        normals = np.where(outward, normals, 0.0)
    free = ~(space.closed | active)
    fixed = np.where(free, 0.0, d)
    if normals.size:
        both = free[:, pairs].all(-1, keepdims=True)
        normals = np.where(both, normals, 0.0)
        fixed[:, pairs] += normals * (d[:, pairs] * normals).sum(-1, keepdims=True)
    return free, normals, fixed
