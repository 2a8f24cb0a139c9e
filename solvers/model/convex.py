# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex polyhedra that capsules stay out of."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from .errors import InvalidOptions
from .numbers import is_whole, shown

INSIDE = 1e-4  # of the largest extent: how far a vertex may lie over a face, as single precision brings about
SLIVER = 1e-7  # of the square of its longest side: a triangle of less area has no direction of its own


@dataclass(frozen=True, eq=False)
class Convex:
    """A convex polyhedron that capsules stay out of.

    Parameters
    ----------
    vertices : (V, 3) [length units], in the skeleton's frame. faces : of numbers of vertices, in order round each face,
        either way round.

    Attributes
    ----------
    corners : (V, 3) the vertices as an array. triangles : (T, 3) numbers of the corners of the faces' triangles.
    edges : (E, 2) of the edges of all triangles.

    Raises
    ------
    InvalidOptions : the faces do not enclose a convex body.

    Examples
    --------
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> len(ik.Convex(corners, [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]).edges)
    6
    """

    vertices: Any  # (V, 3) numbers
    faces: Sequence[Sequence[int]]
    corners: np.ndarray = field(init=False, repr=False)
    triangles: np.ndarray = field(init=False, repr=False)
    edges: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        corners = _corners(self.vertices)
        for face in self.faces:
            if len(face) < 3 or len(set(face)) < len(face) or not all(is_whole(k, 0, len(corners) - 1) for k in face):
                raise InvalidOptions(
                    f"convex faces: expected 3 or more different numbers of vertices, got {shown(face)}"
                )
        sides = Counter(frozenset(side) for face in self.faces for side in zip(face, [*face[1:], face[0]], strict=True))
        if not sides or set(sides.values()) != {2}:
            raise InvalidOptions("convex faces: the body is not closed; each edge must belong to two faces")
        fans = np.array([(face[0], *pair) for face in self.faces for pair in pairwise(face[1:])], dtype=np.intp)
        edges = np.unique(np.sort(np.concatenate([fans[:, [0, 1]], fans[:, [1, 2]], fans[:, [0, 2]]]), axis=1), axis=0)
        object.__setattr__(self, "corners", corners)
        object.__setattr__(self, "triangles", _faced(corners, fans))
        object.__setattr__(self, "edges", edges)

    def points(self) -> np.ndarray:
        """(4, 3): the origin, and the tips of the three axes; moved, turned and scaled they place the body."""
        return np.concatenate([np.zeros((1, 3)), np.eye(3)])


def _corners(vertices: Any) -> np.ndarray:
    try:
        corners = np.array(vertices, dtype=float)
    except (TypeError, ValueError):
        corners = np.zeros((0, 3))
    if corners.ndim != 2 or corners.shape[1] != 3 or len(corners) < 4 or not np.isfinite(corners).all():
        raise InvalidOptions(f"convex vertices: expected 4 or more finite points (V, 3), got {shown(vertices)}")
    return corners


def _faced(corners: np.ndarray, fans: np.ndarray) -> np.ndarray:
    """Those of the triangles (T, 3) that have a direction, after a test that all vertices are behind each."""
    a, b, c = (corners[fans[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    longest = np.max([((p - q) ** 2).sum(-1) for p, q in ((a, b), (b, c), (a, c))], axis=0)
    twice = np.sqrt((normals * normals).sum(-1))
    faced = twice > SLIVER * longest
    over = ((corners - a[faced, None]) * (normals[faced] / twice[faced, None])[:, None]).sum(-1)  # (T, V)
    most = INSIDE * (corners.max(0) - corners.min(0)).max()
    if not faced.any() or np.minimum(over.max(-1), -over.min(-1)).max() > most:
        raise InvalidOptions("convex vertices: the body is not convex; give the faces of its convex hull")
    if (over.max(-1) - over.min(-1)).max() <= most:
        raise InvalidOptions("convex vertices: the body is flat; use a thin Box")
    return fans[faced]


CUBE = Convex(
    [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)],
    [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)],
)
"""The shape of a `Box`, whose points place it from its centre to its faces."""
