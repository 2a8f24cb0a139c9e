# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits that were adopted into base poses, to adopt them in the same way when undo or redo brings them back.

Blender stores an operator's undo step before handlers see what it did. Such a step has the bones as the user posed
them, but the hold and the base pose from before, or those that a pasted pose brought along. Each armature counts the
edits that its base pose has adopted. An edit is found here by that count and by the channels that it changed.
"""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from ...blender.channels import Channels

_MOST = 1000  # adoptions of an armature; dragging a bone makes one for each move of the pointer


class Adoption(NamedTuple):
    """An edit, and what its adoption made of it.

    names : of all N bones. turned, moved : (n,) bones whose rotation and location the edit changed. posed : the
    channels after the edit. base, holds : the base pose and the holds (N,) of all bones after the adoption.
    place : the scene's identity and the frame of the edit.
    """

    names: tuple[str, ...]
    turned: np.ndarray
    moved: np.ndarray
    posed: Channels
    base: Channels
    holds: np.ndarray
    place: tuple[int, float]

    def fits(self, names: tuple[str, ...], now: Channels) -> bool:
        """Whether bones with these names have, in their channels `now`, what the edit changed."""
        return (
            names == self.names and now.modes == self.posed.modes
            and bool((now.rotations[self.turned] == self.posed.rotations[self.turned]).all())
            and bool((now.locations[self.moved] == self.posed.locations[self.moved]).all())
        )  # fmt: skip


class Adoptions:
    """The edits that one armature's base pose has adopted. Undo and redo leave them as they are."""

    def __init__(self) -> None:
        self._at: OrderedDict[int, Adoption] = OrderedDict()
        self._outdated = 0  # number of first adoptions whose animated channels animation has set since

    def note(self, count: int, adoption: Adoption) -> None:
        """Remember what was adopted after the first `count` adoptions."""
        self._outdated = min(self._outdated, count)
        self._at[count] = adoption
        self._at.move_to_end(count)
        while len(self._at) > _MOST:
            self._at.popitem(last=False)

    def find(self, count: int, names: tuple[str, ...], now: Channels) -> Adoption | None:
        """The adoption that an undo step lacks; None if the armature's channels `now` have no such edit."""
        adoption = self._at.get(count)
        return adoption if adoption is not None and adoption.fits(names, now) else None

    def outdate(self, count: int) -> None:
        """Animation has set the animated channels since the first `count` adoptions."""
        self._outdated = count

    def overlay(self, count: int, names: tuple[str, ...], place: tuple[int, float], keyed: Channels) -> None:
        """Put the poses of the hand among the first `count` adoptions that still count at a place over keyed channels.

        names : of all N bones.
        """
        here = names, place, keyed.modes
        for number, edit in sorted(self._at.items(), key=lambda item: item[0]):
            if self._outdated <= number < count and (edit.names, edit.place, edit.posed.modes) == here:
                keyed.rotations[edit.turned] = edit.posed.rotations[edit.turned]
                keyed.locations[edit.moved] = edit.posed.locations[edit.moved]
