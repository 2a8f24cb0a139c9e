# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits that were adopted into base poses, to adopt them in the same way when undo or redo brings them back.

Blender stores an operator's undo step before handlers see what it did. Such a step has the bones as the user posed
them, but the hold and the base pose from before, or those that a pasted pose brought along. Each armature counts the
edits that its base pose has adopted. An edit is found here by that count and by the channels that it changed. It also
counts when animation sets channels again after edits: so each undo step says whether its edits are past.
"""

from typing import NamedTuple

import numpy as np

from ...blender.channels import Channels
from .put_back import State

_MOST = 1500  # adoptions of an armature; dragging a bone makes one for each move of the pointer


class ByHand(NamedTuple):
    """A bone that was posed by hand at a frame.

    hold : that it has there. before : the state before. had_key : it had a key there, whose value is in that state.
    start : the rotation and the location channels that are keyed, from which goals have moved it to what is seen; None
    keys what is seen. above : whether it is only held with another bone.
    """

    hold: float
    before: State
    had_key: bool = False
    start: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    above: bool = False


Held = dict[str, ByHand]
"""Bones that are held at a frame, by name."""


class Unkeyed(NamedTuple):
    """A bone with keys that was posed and not keyed: the state before, and the channels that it had by its keys."""

    before: State
    keys: Channels | None


class Adoption(NamedTuple):
    """An edit, and what its adoption made of it.

    names : of all N bones. turned, moved : (n,) bones whose rotation and location the edit changed. posed : the
    channels after the edit. after, before : the states after the adoption and before the edit. place : the scene's
    identity and the frame of the edit. unkeyed : bones that were posed and not keyed up to then, by number.
    """

    names: tuple[str, ...]
    turned: np.ndarray
    moved: np.ndarray
    posed: Channels
    after: State
    place: tuple[int, float]
    before: State
    unkeyed: dict[int, Unkeyed]

    def fits(self, names: tuple[str, ...], now: Channels) -> bool:
        """Whether bones with these names have, in their channels `now`, what the edit changed."""
        return (
            names == self.names and now.modes == self.posed.modes
            and bool((now.rotations[self.turned] == self.posed.rotations[self.turned]).all())
            and bool((now.locations[self.moved] == self.posed.locations[self.moved]).all())
        )  # fmt: skip


class KeyedHolds(NamedTuple):
    """Bones whose holds were keyed at a place."""

    place: tuple[int, float]
    bones: Held


class Adoptions:
    """The edits that one armature's base pose has adopted. Undo and redo leave them as they are.

    Holds that are keyed count as adoptions too, and so does that animation sets the animated channels, which is None.
    """

    def __init__(self) -> None:
        self._at: dict[int, Adoption | KeyedHolds | None] = {}

    def note(self, count: int, adoption: Adoption | KeyedHolds | None) -> None:
        """Remember what came after the first `count` adoptions; what came there before was undone."""
        self._at.pop(count, None)
        self._at[count] = adoption
        if len(self._at) > _MOST:
            del self._at[next(iter(self._at))]

    def find(self, count: int, names: tuple[str, ...], now: Channels) -> Adoption | None:
        """The adoption that an undo step lacks; None if the armature's channels `now` have no such edit."""
        adoption = self._at.get(count)
        return adoption if isinstance(adoption, Adoption) and adoption.fits(names, now) else None

    def before(
        self, count: int, names: tuple[str, ...], bone: int, place: tuple[int, float] | None = None
    ) -> State | None:  # fmt: skip
        """The base pose and the holds before a bone was posed by hand where it was posed last, if that is known.

        Of the first `count` adoptions those count that have changed the bone, as long as they were at one frame.
        place : the only one that counts.
        """
        found = None
        for edit in reversed(self._edits(-1, count)):
            if edit.names != names or bone not in (*edit.turned, *edit.moved):
                continue
            if place is not None and edit.place != place:
                break
            found, place = edit.before, edit.place
        return found

    def keyed(self, count: int, place: tuple[int, float]) -> Held:
        """The bones whose holds were keyed at a place after `count` adoptions, which an undo step lacks."""
        found = self._at.get(count)
        return found.bones if isinstance(found, KeyedHolds) and found.place == place else {}

    def outdate(self, count: int) -> int:
        """Animation sets the animated channels after `count` adoptions; returns the new count."""
        if not self._pending(count):
            return count
        self.note(count, None)
        return count + 1

    def overlay(self, count: int, names: tuple[str, ...], place: tuple[int, float], keyed: Channels) -> None:
        """Put the poses of the hand among the first `count` adoptions that still count at a place over keyed channels.

        names : of all N bones.
        """
        here = names, place, keyed.modes
        for edit in self._pending(count):
            if (edit.names, edit.place, edit.posed.modes) == here:
                keyed.rotations[edit.turned] = edit.posed.rotations[edit.turned]
                keyed.locations[edit.moved] = edit.posed.locations[edit.moved]

    def unkeyed(self, count: int, names: tuple[str, ...]) -> dict[int, Unkeyed]:
        """The bones that were posed and not keyed by the first `count` adoptions, on the frame that is shown then."""
        edits = self._pending(count)
        return dict(edits[-1].unkeyed) if edits and edits[-1].names == names else {}

    def _pending(self, count: int) -> list[Adoption]:
        """The edits among the first `count` adoptions since animation has set the animated channels last, in order."""
        last = max((number for number, one in self._at.items() if one is None and number < count), default=-1)
        return self._edits(last, count)

    def _edits(self, last: int, count: int) -> list[Adoption]:
        """The edits among the first `count` adoptions that came after the number `last`, in order."""
        found = (self._at[number] for number in sorted(self._at) if last < number < count)
        return [one for one in found if isinstance(one, Adoption)]
