# SPDX-License-Identifier: GPL-3.0-or-later
"""PGS: projected Gauss-Seidel with subspace minimisation.

Kenwright solves `(J^T J + delta I) d = J^T e` by Gauss-Seidel sweeps and projects each joint on its limits as it is
updated (section VII, eq. 28-31). Alone the sweeps converge slowly; between them this solver minimises exactly over the
joints that they left free (Silcowitz, Niebe & Erleben 2010, "Projected Gauss-Seidel subspace minimization method for
interactive rigid body dynamics"). Sweeps find the active limits, the exact step does the rest.

The solver begins with the step of an active set (`within_limits`). Mostly that is the minimum already and no sweep is
needed; if the set keeps a joint on a limit that it should leave, the sweeps correct this. They begin at no step at all
where that one leads uphill, and never climb, so neither does the answer.
"""

import numpy as np

from ..iterate.active_set import SAME, active_set, limited
from ..iterate.descent import damped
from ..iterate.linear_step import SINGULAR, LinearSystem, free_step
from .table import Method

LEAST = 1e-10  # [rad], for slides [skeleton lengths]: a shorter step downhill counts as none
LEAST_OF_STEP = 1e-3  # so does one below this share of the step, because the next iteration gains it more cheaply
ROUNDS = 3
SWEEPS = 2


def _improved(system: LinearSystem, best: np.ndarray) -> np.ndarray:
    """The step (F, n) of an active set, improved by sweeps and exact steps in turn where it is not the minimum.

    They begin at no step where that one leads uphill. A frame is done when its exact step lies inside the limits,
    whatever the others do.
    """
    todo = np.flatnonzero(~_is_least(system, best))
    if not todo.size:
        return best
    system = system.take(todo)
    none = np.zeros_like(best[todo])
    own, value = _better(system, none, system.value(none), best[todo])
    inverses = block_inverses(system)
    left, current = np.arange(len(own)), own.copy()
    for _ in range(ROUNDS):
        current = sweeps(system, current, inverses)
        own[left], value[left] = _better(system, own[left], value[left], current)
        free, normals, fixed = active_set(system.space, system.x, current, system.descent(current))
        candidate = free_step(system, free, normals, fixed)
        projected = system.space.project(system.x + candidate) - system.x
        own[left], value[left] = _better(system, own[left], value[left], projected)
        more = np.any(np.abs(projected - candidate) > SAME, axis=-1)
        if not more.any():
            break
        left, current = left[more], projected[more]
        if not more.all():
            system, inverses = system.take(more), [inverse[more] for inverse in inverses]
    best[todo] = own
    return best


def _is_least(system: LinearSystem, d: np.ndarray) -> np.ndarray:
    """Frames (F,) in which `d` (F, n) is the minimum inside the limits, up to `LEAST`.

    Limits and objective are convex, so `d` is the minimum if the projection undoes a further step downhill.
    """
    x, space = system.x + d, system.space
    square = (system.jacobian * space.units) ** 2
    size = square.sum((-1, -2)) + system.damping
    further = space.project(x + space.units**2 * system.descent(d) / size[:, None])
    longest, move = (space.sizes(v).max(-1, initial=0.0) for v in (d, further - x))
    return move < np.maximum(LEAST, LEAST_OF_STEP * longest)


def _better(
    system: LinearSystem, best: np.ndarray, value: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The better of two steps (F, n), and its objective (F,)."""
    other = system.value(step)
    better = other < value
    return np.where(better[:, None], step, best), np.where(better, other, value)


def block_inverses(system: LinearSystem) -> list[np.ndarray]:
    """Per joint, the inverse (F, k, k) of `J_j^T J_j + s D_j`."""
    inverses: list[np.ndarray] = []
    damping = np.broadcast_to(system.damping[:, None], system.x.shape)
    for block in system.space.blocks:
        columns = system.jacobian[:, :, block]
        matrix = np.swapaxes(columns, -1, -2) @ columns
        least = SINGULAR * np.trace(matrix, axis1=-2, axis2=-1)
        damped = np.maximum(damping[:, block] * system.reluctance[block], least[:, None])
        matrix += damped[..., None] * np.eye(damped.shape[-1])
        inverses.append(np.linalg.inv(matrix))
    return inverses


def sweeps(system: LinearSystem, d: np.ndarray, inverses: list[np.ndarray], count: int = SWEEPS) -> np.ndarray:
    """Block Gauss-Seidel sweeps over the joints from `d` (F, n), each joint projected on its limits as it is updated.

    The sweeps update the residual `e - J d`, so that `J^T J` is never formed.
    """
    space, d = system.space, d.copy()
    residual = system.error - (system.jacobian @ d[..., None])[..., 0]
    weight = system.damping[:, None] * system.reluctance
    for _ in range(count):
        for block, inverse in zip(space.blocks, inverses, strict=True):
            columns = system.jacobian[:, :, block]
            down = (residual[:, None, :] @ columns)[:, 0] - weight[:, block] * d[:, block]
            if system.gradient is not None:
                down -= system.gradient[:, block]
            free = d[:, block] + (inverse @ down[..., None])[..., 0]
            new = space.project_block(system.x[:, block] + free, block) - system.x[:, block]
            residual -= (columns @ (new - d[:, block])[..., None])[..., 0]
            d[:, block] = new
    return d


step = limited(free_step, improve=_improved)
"""The step (F, n) of one iteration, inside the limits."""

METHOD = Method(damped(step), step, continues=True)
