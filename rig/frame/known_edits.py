# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of bones that were adopted, to recognise them in undo steps.

Blender stores an operator's undo step before handlers see what it did. Such a step has the bones as the user posed
them, with the base pose and the hold from before. When undo or redo loads it, the edit is found here by its channels,
which no other pose has to the last bit.
"""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

_MOST = 5000  # edits; dragging a bone makes one for each move of the pointer


class Edit(NamedTuple):
    """What an edit changed of a bone, and the hold that it gave the bone."""

    turned: bool
    moved: bool
    hold: float


_edits: OrderedDict[tuple[int, str, bytes], Edit] = OrderedDict()


def note(uid: int, bone: str, rotation: np.ndarray, location: np.ndarray, edit: Edit) -> None:
    """Remember an edit that left a bone of the object with this `session_uid` with these channels."""
    _edits[uid, bone, rotation.tobytes() + location.tobytes()] = edit
    while len(_edits) > _MOST:
        _edits.popitem(last=False)


def find(uid: int, bone: str, rotation: np.ndarray, location: np.ndarray) -> Edit | None:
    """The edit that left a bone with these channels; None if there was none."""
    return _edits.get((uid, bone, rotation.tobytes() + location.tobytes()))
