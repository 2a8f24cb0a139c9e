# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what was read of a motion are numbers: nothing is keyed from what is not."""

import bpy
import numpy as np

from ..notes import Note, Refused


def check(ob: bpy.types.Object, places: np.ndarray) -> None:
    """Raise `Refused` if a place of an armature or of its bones is not a number."""
    if not np.isfinite(places).all():
        raise Refused(Note("The motion of {} has values that are no numbers: reset its place and its pose",
                           repr(ob.name)))
