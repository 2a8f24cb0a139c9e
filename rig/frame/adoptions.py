# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits that were adopted into base poses, to adopt them in the same way when undo or redo brings them back.

Blender stores an operator's undo step before handlers see what it did. Such a step has the bones as the user posed
them, but the hold and the base pose from before, or those that a pasted pose brought along. Each armature counts the
edits that its base pose has adopted. An edit is found here by that count and by the channels that it changed.
"""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from ..blender.channels import Channels

_MOST = 3000  # adoptions; dragging a bone makes one for each move of the pointer


class Adoption(NamedTuple):
    """An edit, and what its adoption made of it.

    names : of all N bones. turned, moved : (n,) bones whose rotation and location the edit changed. posed : the
    channels after the edit. base, holds : the base pose and the holds (N,) of all bones after the adoption.
    """

    names: tuple[str, ...]
    turned: np.ndarray
    moved: np.ndarray
    posed: Channels
    base: Channels
    holds: np.ndarray

    def fits(self, names: tuple[str, ...], now: Channels) -> bool:
        """Whether bones with these names have, in their channels `now`, what the edit changed."""
        return (
            names == self.names and now.modes.numbers == self.posed.modes.numbers
            and bool((now.rotations[self.turned] == self.posed.rotations[self.turned]).all())
            and bool((now.locations[self.moved] == self.posed.locations[self.moved]).all())
        )  # fmt: skip


_adoptions: OrderedDict[tuple[int, int], Adoption] = OrderedDict()


def note(uid: int, count: int, adoption: Adoption) -> None:
    """Remember what the object with this `session_uid` adopted after its first `count` adoptions."""
    _adoptions[uid, count] = adoption
    _adoptions.move_to_end((uid, count))
    while len(_adoptions) > _MOST:
        _adoptions.popitem(last=False)


def find(uid: int, count: int, names: tuple[str, ...], now: Channels) -> Adoption | None:
    """The adoption that an undo step of this object lacks; None if its channels `now` have no such edit."""
    adoption = _adoptions.get((uid, count))
    return adoption if adoption is not None and adoption.fits(names, now) else None
