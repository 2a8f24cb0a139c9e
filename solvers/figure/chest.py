# SPDX-License-Identifier: GPL-3.0-or-later
"""The chest of a figure: its turn by the spine, and its place then."""

import numpy as np

from ..algebra import quaternion
from .figure import RestFigure


class Chest:
    """A chest whose turn the bones of its spine share evenly.

    at_rest : (3,) its place at rest. fractions : (S,) of the turn at the end of each line of the spine.
    """

    def __init__(self, figure: RestFigure, bones: int) -> None:
        """`bones` : of the spine that turn."""
        self._lines, self._bones = figure.spine_lines, max(bones, 1)
        self.at_rest = figure.spine_root + self._lines.sum(0)
        self.fractions = np.arange(1, len(self._lines) + 1) / len(self._lines)

    def turned(self, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of a chest that is turned by (F, 3): the turn (F, 4) of each joint of the spine and its own (F, 4).

        And its matrix (F, 3, 3) and place (F, 3).
        """
        own, parts = quaternion.exp(turn), quaternion.exp(self.fractions[:, None] * turn[:, None])
        place = self.at_rest + (quaternion.rotate(parts, self._lines) - self._lines).sum(1)
        return quaternion.exp(turn / self._bones), own, quaternion.to_matrix(own), place
