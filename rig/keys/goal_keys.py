# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and drivers of goals' settings: their data paths have the number of the goal."""

import re

import bpy

from .. import curves
from . import users

_PATH = re.compile(r"dqik\.goals\[(\d+)\]")
_REMOVED = "removed."  # what the data paths of curves that go begin with meanwhile


def drop(ob: bpy.types.Object, number: int) -> None:
    """Remove the curves and drivers of a goal that was removed; those of later goals follow these.

    The curves of an action that something else plays stay as they are.
    """
    data = ob.animation_data
    if data is None:
        return
    shared = data.action is None or data.action.library is not None or any(users.players(ob))
    own_curves = () if shared else curves.fcurves(data)
    for curve in [*own_curves, *data.drivers]:
        match = _PATH.match(curve.data_path)
        own = -1 if match is None else int(match[1])
        if own > number:
            curve.data_path = _PATH.sub(f"dqik.goals[{own - 1}]", curve.data_path, count=1)
        elif own == number:
            curve.data_path = _REMOVED + curve.data_path
    for path in {curve.data_path for curve in own_curves}:
        if path.startswith(_REMOVED):
            curves.remove_path(ob, path)
    for curve in [curve for curve in data.drivers if curve.data_path.startswith(_REMOVED)]:
        data.drivers.remove(curve)

