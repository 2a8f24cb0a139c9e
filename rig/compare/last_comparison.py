# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the last comparison of solvers on each armature."""

from collections.abc import Sequence

import bpy

from .measurement import Row

_rows: dict[int, Sequence[Row]] = {}  # by the `session_uid` of the object


def of(ob: bpy.types.Object) -> Sequence[Row]:
    """The rows of an armature's last comparison; none before the first."""
    return _rows.get(ob.original.session_uid, ())


def remember(ob: bpy.types.Object, rows: Sequence[Row]) -> None:
    """Store the rows of a comparison on this armature."""
    _rows[ob.original.session_uid] = tuple(rows)
