# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors `x y z` and unit quaternions `w x y z` of a single bone, as tuples of floats.

A bone of a chain is placed after the one that it hangs on. One by one, calls of NumPy cost ten times their arithmetic.
"""

from math import cos, sin, sqrt
from typing import TypeAlias

Triple: TypeAlias = tuple[float, float, float]
Turn: TypeAlias = tuple[float, float, float, float]

STILL: Turn = (1.0, 0.0, 0.0, 0.0)
LEAST = 1e-12  # a length


def plus(a: Triple, b: Triple, share: float = 1.0) -> Triple:
    """`a + share b`."""
    return a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]


def dot(a: Triple, b: Triple) -> float:
    """`a . b`."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Triple, b: Triple) -> Triple:
    """`a x b`."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def scaled(a: Triple, length: float) -> Triple:
    """The direction of `a` with this length."""
    share = length / max(sqrt(dot(a, a)), LEAST)
    return share * a[0], share * a[1], share * a[2]


def rotated(turn: Turn, a: Triple) -> Triple:
    """`a`, turned."""
    w, x, y, z = turn
    i, j, k = a
    u, v, t = 2.0 * (y * k - z * j), 2.0 * (z * i - x * k), 2.0 * (x * j - y * i)
    return i + w * u + y * t - z * v, j + w * v + z * u - x * t, k + w * t + x * v - y * u


def product(a: Turn, b: Turn) -> Turn:
    """`a b`: the turn `b`, then `a`."""
    w, x, y, z = a
    s, i, j, k = b
    return (w * s - x * i - y * j - z * k, w * i + x * s + y * k - z * j,
            w * j - x * k + y * s + z * i, w * k + x * j - y * i + z * s)  # fmt: skip


def between(a: Triple, b: Triple) -> Turn:
    """The smallest turn from `a` to `b`, which are as long; none if they are opposite."""
    x, y, z = cross(a, b)
    w = dot(a, a) + dot(a, b)
    size = sqrt(w * w + x * x + y * y + z * z)
    return (w / size, x / size, y / size, z / size) if size > LEAST * LEAST else STILL


def within(a: Triple, aim: Triple, bound: float) -> Triple:
    """`a`, turned back to an angle of `bound` from `aim`, which is as long; `a` itself if it is nearer."""
    square = dot(aim, aim)
    cosine = dot(a, aim)
    if cosine >= cos(bound) * square or square <= LEAST * LEAST:
        return a
    aside = scaled(plus(a, aim, -cosine / square), sqrt(square) * sin(bound))
    return plus(aside, aim, cos(bound))
