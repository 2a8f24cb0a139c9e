# SPDX-License-Identifier: GPL-3.0-or-later
"""What the last operator on whole motions has reported of each armature's motion; not saved."""

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import bpy

from .. import curves
from ..notes import Note
from ..remembered import Remembered


class LastReport(NamedTuple):
    """What was said. motion : the motion that it is about, as `motion` has it."""

    notes: tuple[Note, ...]
    is_fine: bool
    motion: tuple[int, int]


_numbers = count(1)
_reports: Remembered[tuple[int, int], LastReport] = Remembered(500)  # by the `session_uid` of the object, and a number


def remember(ob: bpy.types.Object, notes: Sequence[Note], is_fine: bool) -> None:
    """Store a report about the motion that an object has now.

    Its number is stored on the object, so that undo brings back the report from before, and redo this one.
    """
    ob.dqik.report = number = next(_numbers)
    _reports.keep((ob.session_uid, number), LastReport(tuple(notes), is_fine, motion(ob)))


def of(ob: bpy.types.Object) -> LastReport | None:
    """The last report, if it is about the motion that an object has: not of what was undone, or of another action."""
    report = _reports.get((ob.session_uid, ob.dqik.report))
    return report if report is not None and report.motion == motion(ob) else None


def motion(ob: bpy.types.Object) -> tuple[int, int]:
    """The action of an object, and how many keys it has."""
    action = curves.action_of(ob)
    keys = sum(len(curve.keyframe_points) for curve in curves.fcurves(ob.animation_data))
    return (0 if action is None else action.session_uid), keys
