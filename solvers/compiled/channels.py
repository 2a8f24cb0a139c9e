# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers as an armature's single-precision rotation channels, written by the kernel."""

from ctypes import addressof

import numpy as np

from . import pack
from .contract import CHANNELS
from .library import Kernel


class AnswerChannels:
    """Where the rotations of `joints` (S,) go: rows `bones` (S,) of quaternion channels `values` (N, 4) float32.

    Of the two quaternions of a rotation the one nearer to `reference` (S, 4) is written.
    """

    def __init__(
        self, library: Kernel, joints: np.ndarray, bones: np.ndarray, reference: np.ndarray, values: np.ndarray
    ) -> None:
        self._packer, self._values, self._library = pack.Packer(), values, library
        self._address = addressof(self._packer.fill(
            CHANNELS, joints=len(joints), joint=joints, bone=bones, reference=reference, values=values.ctypes.data
        ))  # fmt: skip

    def write(self, rotations: np.ndarray) -> bool:
        """Write the rotations (J, 4) of a frame; whether that changed any channel."""
        return bool(self._library.put(self._address, rotations.ctypes.data))
