# SPDX-License-Identifier: GPL-3.0-or-later
"""The chest of a figure: how its spine turns it, and where it is then."""

import math

import numpy as np

from ..algebra import quaternion
from .figure import RestFigure


class Chest:
    """A chest whose turn the bones of its spine share evenly.

    at_rest : (3,) its place at rest. fractions : (S,) of the turn at the end of each line of the spine.
    """

    def __init__(self, figure: RestFigure, bones: int) -> None:
        """`bones` : of the spine that turn."""
        count = len(figure.spine_lines)
        self.at_rest, self.fractions = figure.spine_root + figure.spine_lines.sum(0), np.arange(1, count + 1) / count
        self._place, self._bones = tuple(self.at_rest.tolist()), max(bones, 1)
        # all lines but the last, which is 0
        self._lines = list(zip(self.fractions.tolist(), figure.spine_lines[:-1].tolist(), strict=False))

    def turned(self, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of a chest that is turned by (F, 3): the turn (F, 4) of each joint of the spine and its own (F, 4).

        And its matrix (F, 3, 3) and place (F, 3).
        """
        found = np.array([self._turned(*each) for each in turn.tolist()])
        return found[:, :4], found[:, 4:8], found[:, 8:17].reshape(-1, 3, 3), found[:, 17:]

    def _turned(self, *turn: float) -> tuple[float, ...]:
        """`turned` of one turn (3,), in plain numbers."""
        angle = max(math.hypot(*turn), quaternion.LEAST)
        x, y, z = (number / angle for number in turn)
        half, of_spine = 0.5 * angle, 0.5 * angle / self._bones
        sine, own_sine = math.sin(half), math.sin(of_spine)
        s, v = math.sin(angle), 2.0 * sine * sine  # of the chest's turn: sine, and what the cosine lacks to 1
        px, py, pz = self._place
        for fraction, (a, b, c) in self._lines:  # by Rodrigues' formula
            part, lack = math.sin(fraction * angle), 1.0 - math.cos(fraction * angle)
            i, j, k = y * c - z * b, z * a - x * c, x * b - y * a  # the axis times the line
            px += part * i + lack * (y * k - z * j)
            py += part * j + lack * (z * i - x * k)
            pz += part * k + lack * (x * j - y * i)
        return (
            math.cos(of_spine), own_sine * x, own_sine * y, own_sine * z,
            math.cos(half), sine * x, sine * y, sine * z,
            1.0 - v * (y * y + z * z), v * x * y - s * z, v * x * z + s * y,
            v * x * y + s * z, 1.0 - v * (x * x + z * z), v * y * z - s * x,
            v * x * z - s * y, v * y * z + s * x, 1.0 - v * (x * x + y * y),
            px, py, pz,
        )  # fmt: skip


def share_of_turn(turn: list[float], share: float) -> tuple[float, float, float, float]:
    """A share of a turn (4,), the shorter way."""
    w, x, y, z = turn
    sine = max(math.hypot(x, y, z), quaternion.LEAST)
    half = share * math.atan2(sine, abs(w))
    factor = math.sin(half) / (sine if w >= 0.0 else -sine)
    return math.cos(half), factor * x, factor * y, factor * z
