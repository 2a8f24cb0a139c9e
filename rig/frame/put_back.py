# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that are put back: what came with a change of frame or action, and went with it, was no edit.

Exporters and other tools step through frames and actions, change the pose on the way and restore what they found. A
pose that returns exactly to what a figure showed at the same frame of the same action brings back the base pose and the
holds from then. So do an edit that is cancelled and a pose that is pasted back.
"""

from collections import deque
from typing import NamedTuple

import numpy as np

from ..blender.channels import Channels

_MOST = 64  # edits that are remembered
_TURN = 1e-4  # half the angle [rad] by which a restored rotation may differ: a matrix and back costs less
_MOVE = 1e-5  # of a location, or of 1 if that is more

Place = tuple[int, float, int]
"""The identity of a scene, a frame of it, and the identity of the armature's action."""


class Departure(NamedTuple):
    """The state that an edit has left.

    place, shown : where and what the figure showed. base, holds : its base pose and holds (N,) then. keyed : its keyed
    channels at that frame, if they were known. turned, moved : the bones that the edit changed.
    """

    place: Place
    shown: Channels
    base: Channels
    holds: np.ndarray
    keyed: Channels | None
    turned: bytes
    moved: bytes


class Departures:
    """The states that the last edits of a figure have left."""

    def __init__(self) -> None:
        self._left: deque[Departure] = deque(maxlen=_MOST)

    def note(self, state: Departure) -> None:
        """Remember the state before an edit. Of edits of the same bones in a row, as in a drag, the first counts."""
        last = self._left[-1] if self._left else None
        if last is None or (last.place, last.turned, last.moved) != (state.place, state.turned, state.moved):
            self._left.append(state)

    def find(self, place: Place, now: Channels, turned: np.ndarray, moved: np.ndarray) -> Departure | None:
        """The last state at a place whose pose the channels `now` are, on bones (n,) that turn and (m,) that move."""
        for state in reversed(self._left):
            if state.place == place and same_pose(state.shown, now, turned, moved):
                return state
        return None


def same_pose(one: Channels, other: Channels, turned: np.ndarray, moved: np.ndarray) -> bool:
    """Whether bones (n,) have the same rotations and bones (m,) the same locations, but for rounding."""
    if one.modes.numbers != other.modes.numbers:
        return False
    a, b = (which.modes.quaternions(which.rotations[turned], turned) for which in (one, other))
    chord = np.minimum(np.abs(a - b).max(-1, initial=0.0), np.abs(a + b).max(-1, initial=0.0))
    places = one.locations[moved]
    room = _MOVE * np.maximum(np.abs(places), 1.0)
    return bool((chord <= _TURN).all() and (np.abs(places - other.locations[moved]) <= room).all())
