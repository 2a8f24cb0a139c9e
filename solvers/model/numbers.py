# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers that come from outside, read without surprises: strings, truth values and complex numbers are no numbers."""

import math
from numbers import Integral, Real

import numpy as np

LARGEST = 10**9  # of whole numbers, which the compiled kernel keeps in 32 bits
MOST_SHOWN = 120  # characters of a value in a message


def number(value: object) -> float:
    """`value` as a float; NaN if it is no number, infinite if it is too large for one."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_whole(value: object, least: int, most: int | None = LARGEST) -> bool:
    """Whether `value` is a whole number from `least` to `most`, which None leaves open."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return least <= int(value) and (most is None or int(value) <= most)


def is_flag(value: object) -> bool:
    """Whether `value` is true or false, and not a number or a string that would only count as such."""
    return isinstance(value, (bool, np.bool_))


def has_items(value: object) -> bool:
    """Whether `value` is something to loop over: a list or an array with an axis, for example."""
    return hasattr(value, "__iter__") and not (isinstance(value, np.ndarray) and value.ndim == 0)


def array(value: object) -> np.ndarray:
    """A copy of `value` as an array of floats; `ValueError` unless it holds numbers in rows of equal length."""
    values = np.asarray(value)
    if values.dtype.kind == "O" and all(isinstance(one, Real) for one in values.flat):
        values = np.array([number(one) for one in values.flat]).reshape(values.shape)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"expected numbers, got {shown(value)}")
    return values.astype(float)


def vector(value: object, size: int, name: str, error: type[Exception]) -> np.ndarray:
    """`value` as a finite array (size,); otherwise `error` with the name and the value."""
    try:
        values = array(value)
    except ValueError:
        raise error(f"{name}: expected {size} numbers, got {shown(value)}") from None
    if values.shape != (size,):
        got = f"an array of shape {values.shape}" if values.ndim else shown(value)
        raise error(f"{name}: expected {size} numbers, got {got}")
    if not np.isfinite(values).all():
        raise error(f"{name}: expected finite numbers, got {values.tolist()}")
    return values


def direction(value: object, least: float, name: str, error: type[Exception]) -> tuple[float, ...]:
    """`value` as a unit vector (3,); `error` with its name if it is shorter than `least`, unless this is 0."""
    axis = vector(value, 3, name, error)
    length = float(np.linalg.norm(axis))
    if length < least:
        raise error(f"{name}: expected a direction, got {axis.tolist()}")
    return tuple((axis / length if length else axis).tolist())


def shown(value: object) -> str:
    """`value` as a message shows it: in one line, and shortened if it is long."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a whole number of thousands of digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
