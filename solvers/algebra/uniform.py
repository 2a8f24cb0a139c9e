# SPDX-License-Identifier: GPL-3.0-or-later
"""Random numbers that are the same in NumPy and in the compiled kernel."""

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class SplitMix64:
    """A counter whose values are mixed (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators")."""

    def __init__(self, seed: int) -> None:
        self._state = np.uint64(seed % 2**64)

    def uniform(self, *shape: int) -> np.ndarray:
        """The next numbers in [0, 1) as an array of this shape, row by row."""
        count = int(np.prod(shape))
        with np.errstate(over="ignore"):
            z = self._state + _GOLDEN * np.arange(1, count + 1, dtype=np.uint64)
            self._state = z[-1] if count else self._state
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53).reshape(shape)
