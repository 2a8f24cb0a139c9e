# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits as convex sets, and the exact projection onto them.

`Range` is an interval of a hinge's angle or a slide's length. `TwistSwing` limits a ball joint in twist-swing
coordinates: an interval for the twist times an ellipse for the swing whose half-axes may differ on every side
("asymmetric ellipse per quadrant"). Both may exclude zero: the ellipse is centred on the smallest swing inside.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .errors import InvalidLimits
from .numbers import array, shown

FULL_TURN = 2.0 * np.pi
_FULL = FULL_TURN - 1e-9
MOST_TURNS = 4  # of a hinge or a twist: larger limits must be degrees
NEWTON_STEPS = 64  # five or six suffice, except for very narrow ellipses
CLOSED = 1e-12  # [rad] a half-axis up to this length counts as 0, since such an ellipse has no usable curve


def _interval(name: str, value: object) -> tuple[float, float]:
    """`value` as a pair `lo <= hi` of finite numbers."""
    try:
        ends = array(tuple(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        ends = np.zeros(0)
    if ends.shape != (2,):
        raise InvalidLimits(f"{name}: expected two numbers (lo, hi), got {shown(value)}")
    lo, hi = ends.tolist()
    if not (np.isfinite(lo) and np.isfinite(hi)):
        raise InvalidLimits(f"{name}: expected finite limits, got ({lo}, {hi})")
    if lo > hi:
        raise InvalidLimits(f"{name}: lo = {lo} is above hi = {hi}; exchange them")
    return lo, hi


def check_radians(name: str, lo: float, hi: float) -> None:
    """Raise `InvalidLimits` for angles so large that they must be degrees."""
    if max(-lo, hi, hi - lo) > MOST_TURNS * FULL_TURN:
        radians = f"({np.radians(lo):.4g}, {np.radians(hi):.4g})"
        raise InvalidLimits(
            f"{name}: ({lo:g}, {hi:g}) is more than {MOST_TURNS} turns; angles are radians, "
            f"and if these are degrees, np.radians gives {radians}"
        )


@dataclass(frozen=True)
class Range:
    """Interval `lo <= x <= hi` of a hinge's angle [rad] or a slide's length; `lo > 0` and `hi < 0` are allowed.

    A hinge with a span of a full turn or more is free, and its angle wraps. A skeleton refuses a hinge's limits beyond
    four turns, which are degrees passed as radians.

    Examples
    --------
    >>> ik.Range(*np.radians([5, 150]).round(3))
    Range(lo=0.087, hi=2.618)
    """

    lo: float
    hi: float

    def __post_init__(self) -> None:
        lo, hi = _interval("Range", (self.lo, self.hi))
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)


@dataclass(frozen=True)
class TwistSwing:
    """Twist interval and swing half-axes of a ball joint, each `(lo, hi)` in radians.

    twist : about the joint's axis; with a span of a full turn or more it is free and wraps.
    swing_x, swing_z : the components of the swing's rotation vector perpendicular to that axis. If both span a full
        turn the swing is free.

    Examples
    --------
    >>> shoulder = ik.TwistSwing(twist=(-1, 1), swing_x=(-2, 2), swing_z=(-1, 2))
    >>> shoulder.twist_free, shoulder.swing_free
    (False, False)
    >>> ik.TwistSwing(swing_x=(-0.5, 0.5)).twist_free
    True
    """

    twist: tuple[float, float] = (-np.pi, np.pi)
    swing_x: tuple[float, float] = (-np.pi, np.pi)
    swing_z: tuple[float, float] = (-np.pi, np.pi)

    def __post_init__(self) -> None:
        for name in ("twist", "swing_x", "swing_z"):
            lo, hi = _interval(f"TwistSwing {name}", getattr(self, name))
            check_radians(f"TwistSwing {name}", lo, hi)
            if name != "twist" and (lo < -FULL_TURN or hi > FULL_TURN):
                raise InvalidLimits(f"TwistSwing {name}: expected limits within a full turn, got ({lo}, {hi})")
            object.__setattr__(self, name, (lo, hi))

    @property
    def twist_free(self) -> bool:
        """Whether the twist has no limits."""
        return self.twist[1] - self.twist[0] >= _FULL

    @property
    def swing_free(self) -> bool:
        """Whether the swing has no limits."""
        return all(hi - lo >= _FULL for lo, hi in (self.swing_x, self.swing_z))


class Ellipse(NamedTuple):
    """A swing vector relative to its ellipse: `offset` from the centre, and the half-axes of its quadrant."""

    offset: np.ndarray  # (..., 2)
    half_axes: np.ndarray  # (..., 2), at most `CLOSED` if that side is closed
    level: np.ndarray  # (...), 1 on the boundary; infinite outside a closed side


def locate(swing: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> Ellipse:
    """Swing vectors (..., 2) relative to the ellipses of limits `lo`, `hi` (..., 2)."""
    centre = np.clip(0.0, lo, hi)
    offset = swing - centre
    half_axes = np.where(offset >= 0.0, hi - centre, centre - lo)
    open_side = half_axes > CLOSED
    shut = np.where(np.abs(offset) <= half_axes, 0.0, np.inf)
    scaled = np.where(open_side, offset / np.where(open_side, half_axes, 1.0), shut)
    return Ellipse(offset, half_axes, np.sqrt((scaled * scaled).sum(-1)))


def project_swing(swing: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Nearest point (..., 2) of the ellipses of limits `lo`, `hi` (..., 2) to the swing vectors (..., 2)."""
    offset, half_axes, level = locate(swing, lo, hi)
    outside = level > 1.0
    if not outside.any():
        return swing
    inside = np.clip(offset, -half_axes, half_axes)  # exact where a side is closed
    curved = outside & (half_axes > CLOSED).all(-1)
    if curved.any():
        nearest = _nearest_on_ellipse(np.abs(offset[curved]), half_axes[curved])
        inside[curved] = np.copysign(nearest, offset[curved])
    return np.where(outside[..., None], swing - offset + inside, swing)


def _nearest_on_ellipse(point: np.ndarray, half_axes: np.ndarray) -> np.ndarray:
    """Nearest point (..., 2) of a quarter ellipse to a point (..., 2) of its quadrant, outside of it.

    The nearest point is `a^2 p / (t + a^2)` per axis, with `t >= 0` the root of
    `f(t) = sum (a p / (t + a^2))^2 - 1`, convex and falling: Newton from a lower bound of the root climbs to it
    (Eberly, "Distance from a point to an ellipse"; the bound is his).
    """
    square = half_axes * half_axes
    t = np.max(half_axes * point - square, axis=-1, keepdims=True)
    t = np.maximum(t, 0.0)
    for _ in range(NEWTON_STEPS):
        terms = (half_axes * point / (t + square)) ** 2
        excess = terms.sum(-1, keepdims=True) - 1.0
        if excess.max() <= 1e-14:
            break
        slope = -2.0 * (terms / (t + square)).sum(-1, keepdims=True)
        # a point that has converged stays the same while others of its batch go on
        t = np.where(excess > 1e-14, t - excess / np.minimum(slope, -1e-300), t)
    nearest = square * point / (t + square)
    return nearest / np.sqrt(((nearest / half_axes) ** 2).sum(-1, keepdims=True))


def swing_normal(swing: np.ndarray, lo: np.ndarray, hi: np.ndarray, slack: float = 1e-9) -> np.ndarray:
    """Outward unit normals (..., 2) where swing vectors (..., 2) lie on their ellipse, zero where they are inside."""
    offset, half_axes, level = locate(swing, lo, hi)
    gradient = offset / np.where(half_axes > CLOSED, half_axes, np.inf) ** 2
    length = np.sqrt((gradient * gradient).sum(-1, keepdims=True))
    on = (level >= 1.0 - slack)[..., None] & (length > 0.0)
    return np.where(on, gradient / np.where(length > 0.0, length, 1.0), 0.0)
