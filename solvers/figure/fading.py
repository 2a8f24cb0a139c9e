# SPDX-License-Identifier: GPL-3.0-or-later
"""Fades the animator's own pose with the distance of the targets from the effectors in it."""

import numpy as np

NEAR_REST, NEAR_POSE = 0.5, 1.3
"""Distances of targets [limb lengths] at which a limb's own pose counts 1 / e: one at rest, and a posed one."""
BENDS = -1.0 / 0.15**2  # added for the bends of limbs, which follow from the targets' distances
POSED = float(np.radians(20.0))  # a limb whose joints have turned by more from rest counts as posed
OF_ENDS = np.array([0.0, 0.0, 0.0, BENDS])  # added for the three turns of a loose end and the bend of its limb


def rates(turned: np.ndarray) -> np.ndarray:
    """Rates of an exponential, below 0, by squared distances; `turned` : squares of the limbs' turns from rest."""
    near = NEAR_POSE + (NEAR_REST - NEAR_POSE) * np.exp(-turned / POSED**2)
    return -1.0 / near**2
