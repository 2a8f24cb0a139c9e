# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed bones that were posed and not keyed: a change of frame gives them their keys, and what was posed has gone.

So the hold and the base pose from before go back with it. Redo brings such a pose back, and with it what it replaced.
"""

from collections.abc import Mapping
from typing import NamedTuple

import bpy
import numpy as np

from ...blender.channels import Channels, Which
from ..read import keyed_pose
from . import holds
from .put_back import State, same_pose


class Posed(NamedTuple):
    """What one bone had before it was posed."""

    hold: float
    rotation: np.ndarray
    location: np.ndarray


class Unkeyed:
    """The keyed bones that were posed at the present frame."""

    def __init__(self, posed: Mapping[int, Posed] | None = None) -> None:
        self._posed = dict(posed or {})

    def posed(self) -> dict[int, Posed]:
        """These bones, by number."""
        return dict(self._posed)

    def note(self, state: State, edited: Which, free: Which) -> None:
        """Remember bones whose edited channels are all animated.

        state : from before the edit. free : channels that nothing animates.
        """
        (turned, moved), (stay, remain) = edited.whole(), (edited & free).whole()
        for bone in np.flatnonzero((turned | moved) & ~(stay | remain)).tolist():
            before = Posed(state.holds[bone], state.base.rotations[bone].copy(), state.base.locations[bone].copy())
            self._posed.setdefault(bone, before)

    def lose(self, ob: bpy.types.Object, base: Channels, posed: Channels, seen: Channels, frame: float) -> np.ndarray:
        """Give bones back what they had, unless they were keyed as they were `posed`, or as they were `seen`.

        base : changed in place. frame : of the edits. Returns the bones (n,).
        """
        found = keyed_pose.from_curves(ob, posed, frame)
        lost = []
        for bone, before in self._posed.items():
            one = np.array([bone])
            if not (same_pose(found, posed, one, one) or same_pose(found, seen, one, one)):
                holds.put(ob.pose.bones[bone], before.hold)
                base.rotations[bone], base.locations[bone] = before.rotation, before.location
                lost.append(bone)
        self._posed.clear()
        return np.array(lost, dtype=np.intp)

    def __bool__(self) -> bool:
        return bool(self._posed)
