# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that are put back: what came with a change of frame or action, and went with it, was no edit.

Exporters and other tools step through frames and actions, change the pose on the way and restore what they found. So
the states that edits have left are remembered. A pose that returns exactly to what a figure showed brings back the base
pose and the holds from then. So do an edit that is cancelled and a pose that is pasted back.
"""

from collections import deque
from typing import NamedTuple

import numpy as np

from ...blender.channels import Channels
from ...remembered import Remembered

_MOST = 64  # edits that are remembered
_ROOM = 16 << 20  # bytes for what places have shown, as far as each has shown one pose
_EACH = 4  # poses that are remembered of one place
_TURN = 1e-4  # half the angle [rad] by which a restored rotation may differ: a matrix and back costs less
_MOVE = 1e-5  # of a location, or of 1 if that is more
SOLVED = 10.0  # times as much may poses differ that were solved again: out of reach, rounding counts more

Place = tuple[int, float, int]
"""The identity of a scene, a frame of it, and the identity of the armature's action; 0 if it has none."""


NOWHERE: Place = (0, 0.0, 0)


class State(NamedTuple):
    """A base pose and the holds (N,) of all bones."""

    base: Channels
    holds: np.ndarray

    def equals(self, other: "State") -> bool:
        """Whether both are the same, in the same rotation modes."""
        return (
            np.array_equal(self.base.rotations, other.base.rotations)
            and np.array_equal(self.base.locations, other.base.locations)
            and np.array_equal(self.holds, other.holds)
        )


class Departure(NamedTuple):
    """The state that an edit has left.

    place, shown : where and what the figure showed. keyed : its keyed channels at that frame, if they were known.
    turned, moved : (N,) bool, the bones that the edit changed.
    """

    place: Place
    shown: Channels
    state: State
    keyed: Channels | None
    turned: np.ndarray
    moved: np.ndarray


class Showing(NamedTuple):
    """What a place has shown.

    edits : how many edits there had been. followed : whether the channels depend on the frames before.
    """

    channels: Channels
    edits: int
    followed: bool


class History:
    """What a figure showed where, and the states that its last edits have left.

    place : where its present channels are shown. edited : whether the present evaluation has found an edit.
    """

    def __init__(self) -> None:
        self.place, self.edited = NOWHERE, False
        self._left: deque[Departure] = deque(maxlen=_MOST)
        self._count, self._in_row = 0, False  # edits so far, and whether the next one may belong to the last one
        self._shown = Remembered[Place, tuple[Showing, ...]](
            _ROOM, lambda place, shown: min(shown[-1].channels.nbytes, _ROOM)
        )  # fmt: skip

    def note_edit(self, shown: Channels, state: State, keyed: Channels | None, turned: np.ndarray, moved: np.ndarray
                  ) -> None:  # fmt: skip
        """Remember the state before an edit; of edits of the same bones in a row, as in a drag, the first counts.

        A change of frame ends the row. Arguments as in `Departure`.
        """
        left = Departure(self.place, shown, state, keyed, turned, moved)
        last = self._left[-1] if self._left else None
        self.edited = True
        same_bones = last is not None and all(map(np.array_equal, last[-2:], left[-2:]))
        if last is None or not self._in_row or last.place != left.place or not same_bones:
            self._left.append(left)
            self._count += 1
        self._in_row = True

    def note_shown(self, place: Place, channels: Channels, fresh: bool, other: bool, followed: bool) -> None:
        """Remember the channels that a place shows.

        fresh : whether the frame has changed. other : whether it shows another pose than before, although nothing was
        posed and no frame changed: a target has moved, for example. followed : whether they depend on the frames
        before.
        """
        self.place, self._in_row = place, self._in_row and not fresh
        if other:
            self._left = deque((left._replace(place=NOWHERE) if left.place == place else left for left in self._left),
                               maxlen=_MOST)  # fmt: skip
        before = self._shown.get(place) or ()
        if before:
            # a frame that is visited again may show another pose without an edit: targets have gone back to their keys
            again, no_edit = _same_channels(before[-1].channels, channels), before[-1].edits == self._count
            if fresh and again and no_edit and before[-1].followed == followed:
                return
            if no_edit and (again or not fresh):
                before = before[:-1]
        self._shown.keep(place, (*before[-_EACH + 1 :], Showing(channels, self._count, followed)))

    def find(
        self, place: Place, now: Channels, turned: np.ndarray, moved: np.ndarray, present: State
    ) -> tuple[State, Channels | None] | None:
        """The last state in which a place showed the channels `now` on all bones that were edited since.

        Also returns the keyed channels from then, if they are known. turned, moved : (N,) bool, the bones that have
        changed now. present : the present state.
        """
        for since, left in enumerate(reversed(self._left), 1):
            if len(left.turned) != len(turned):
                return None
            turned, moved = turned | left.turned, moved | left.moved
            bones = np.flatnonzero(turned), np.flatnonzero(moved)
            if left.place == place and same_pose(left.shown, now, *bones):
                shown = self.showing(place, now, *bones)  # perhaps after this edit too, where goals decide the pose
                last = since if shown is None else min(since, self._count - shown.edits)
                return (self._left[-last].state, self._left[-last].keyed) if last else (present, None)
        return None

    def shown_last(self, place: Place) -> Channels | None:
        """The channels that a place has shown last; None if they are not known."""
        shown = self._shown.get(place)
        return shown[-1].channels if shown else None

    def showing(self, place: Place, now: Channels, turned: np.ndarray, moved: np.ndarray) -> Showing | None:
        """When a place has last shown the channels `now` on bones turned (n,) and moved (m,), if it has."""
        shown = self._shown.get(place) or ()
        return next((one for one in reversed(shown) if same_pose(one.channels, now, turned, moved)), None)

    def state_of(self, showing: Showing, present: State) -> State | None:
        """The state in which a place was shown; None if it is too long ago. present : the present one."""
        index = len(self._left) - (self._count - showing.edits)
        return self._left[index].state if 0 <= index < len(self._left) else present if index >= 0 else None


def same_pose(
    one: Channels, other: Channels, turned: np.ndarray, moved: np.ndarray, times: float = 1.0
) -> bool:  # fmt: skip
    """Whether bones (n,) have the same rotations and bones (m,) the same locations, but for so many times rounding."""
    if one.modes != other.modes:
        return False
    a, b = (which.modes.quaternions(which.rotations[turned], turned) for which in (one, other))
    apart = np.minimum(np.abs(a - b).max(-1, initial=0.0), np.abs(a + b).max(-1, initial=0.0))
    places = one.locations[moved]
    room = times * _MOVE * np.maximum(np.abs(places), 1.0)
    return bool((apart <= times * _TURN).all() and (np.abs(places - other.locations[moved]) <= room).all())


def _same_channels(one: Channels, other: Channels) -> bool:
    """Whether channels have the same numbers but for rounding; a cheaper question than `same_pose`."""
    if one.modes != other.modes or one.rotations.shape != other.rotations.shape:
        return False
    return _is_near(one.rotations, other.rotations, _TURN) and _is_near(one.locations, other.locations, _MOVE)


def _is_near(a: np.ndarray, b: np.ndarray, most: float) -> bool:
    return a.tobytes() == b.tobytes() or bool((np.abs(a - b) <= most * np.maximum(np.abs(a), 1.0)).all())
