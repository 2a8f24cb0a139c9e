# SPDX-License-Identifier: GPL-3.0-or-later
"""Points on a curve that are as far apart as the joints of a chain."""

import numpy as np
from numpy.typing import ArrayLike

from .errors import InvalidGoal
from .numbers import array, shown


def along_curve(curve: ArrayLike, lengths: ArrayLike) -> np.ndarray:
    """Points (L, 3) on a polyline (K, 3), each in a straight line as far from the one before as `lengths` (L,) says.

    The first one is measured from the start of the polyline, which goes on straight beyond its end. A chain whose root
    lies at the start can lie with all its joints on these points.

    Examples
    --------
    >>> ik.along_curve([(0, 0, 0), (0, 1, 0), (1, 1, 0)], [0.5, 1.0]).round(3).tolist()
    [[0.0, 0.5, 0.0], [0.866, 1.0, 0.0]]
    """
    try:
        line, steps = array(curve), array(lengths)
    except ValueError:
        line, steps = np.zeros((0, 3)), np.zeros(0)
    if line.ndim != 2 or line.shape[-1] != 3 or len(line) < 2 or not np.isfinite(line).all():
        raise InvalidGoal(f"curve: expected two or more points x y z, got {shown(curve)}")
    if steps.ndim != 1 or not np.isfinite(steps).all() or (steps < 0.0).any():
        raise InvalidGoal(f"lengths: expected numbers of 0 or more, got {shown(lengths)}")
    found, here, edge = np.zeros((len(steps), 3)), line[0], 0
    for index, far in enumerate(steps.tolist()):
        while edge < len(line) - 2 and float(np.linalg.norm(line[edge + 1] - here)) < far:
            edge += 1
        # where the sphere of this radius around the last point leaves through the edge
        start, along = line[edge], line[edge + 1] - line[edge]
        length = max(float(np.linalg.norm(along)), 1e-300)
        along = along / length
        middle = float((here - start) @ along)
        across = here - start - middle * along
        here = start + (middle + np.sqrt(max(far * far - float(across @ across), 0.0))) * along
        found[index] = here
    return found
