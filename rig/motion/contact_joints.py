# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a body gives so that its hands touch: turns that are added to those of trunk, neck and arms.

Each group of bones has one rotation vector per frame, in the world; of a spine or a neck each bone has its share. Bones
without a group go along with the one above them; legs and hips stay.
"""

from typing import NamedTuple

import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.rest import unit
from ..clip.clip import BodyMotion
from ..clip.person_frames import SIDES
from .retargeted_body import Body

Group = tuple[str, str]
"""A group's part and side."""

_ALONG = {("spine", ""), ("neck", "")}
_ARM = ("collar", "arm", "forearm", "hand")
_HINGE = np.array([0.0, 0.0, 1.0])  # of an elbow, in the frame of its bones


class Elbow(NamedTuple):
    """An elbow over frames: unit vectors (F, 3) along its bones, and its axis as each of them carries it."""

    upper: np.ndarray
    lower: np.ndarray
    above: np.ndarray
    below: np.ndarray


class Giving:
    """The groups of a body whose arms are at given sides.

    Attributes
    ----------
    groups : {group: number}. bones : {group: bones}. vectors : (F, 3 n) rotation vectors of the n groups.
    """

    def __init__(self, body: Body, sides: list[str], shift: np.ndarray, carrier: int) -> None:
        """`shift`, `carrier`: as of `Body.posed`."""
        chains = body.person.chains
        wanted = [*sorted(_ALONG), *((part, side) for side in SIDES if side in sides for part in _ARM)]
        own = {(part, side): [bone for bone in chains.get((part, side, 0), ()) if bone in body.turns]
               for part, side in wanted}  # fmt: skip
        self.bones = {group: bones if group in _ALONG else bones[:1] for group, bones in own.items() if bones}
        self.groups = {group: number for number, group in enumerate(self.bones)}
        self._body, self._shift, self._carrier = body, shift, carrier
        self._base = {bone: body.turns[bone] for bones in self.bones.values() for bone in bones}
        self.vectors = np.zeros((body.count, 3 * len(self.bones)))
        count = len(body.person.armature.parent)
        self._group, self._share = np.full(count, -1), np.zeros(count)
        for bone in body.order:
            above = int(body.person.armature.parent[bone])
            if bone not in body.turns and above >= 0 and body.carries(bone):
                self._group[bone], self._share[bone] = self._group[above], self._share[above]
            for group, bones in self.bones.items():
                if bone in bones:
                    self._group[bone] = self.groups[group]
                    self._share[bone] = (bones.index(bone) + 1) / len(bones)

    def columns(self, group: Group) -> slice:
        """Of a group in `vectors`."""
        return slice(3 * self.groups[group], 3 * self.groups[group] + 3)

    def against(self, group: Group, other: Group) -> np.ndarray:
        """The vectors (F, 3) of another group less those of one."""
        return self.vectors[:, self.columns(other)] - self.vectors[:, self.columns(group)]

    def posed(self) -> BodyMotion:
        """Turn the body's bones by the vectors; where that puts it."""
        for group, bones in self.bones.items():
            vector = self.vectors[:, self.columns(group)]
            for bone in bones:
                turn = quaternion.exp(self._share[bone] * vector)
                self._body.turns[bone] = quaternion.product(turn, self._base[bone])
        return self._body.posed(self._shift, self._carrier)

    def levers(self, shown: BodyMotion) -> np.ndarray:
        """The levers (F, N, n, 3) of the heads of all bones: a group that turns by `w` moves a head by `w x lever`."""
        frames, count = shown.heads.shape[:2]
        found = np.zeros((frames, count, len(self.groups), 3))
        for bone in self._body.order:
            above = int(self._body.person.armature.parent[bone])
            if above >= 0:
                found[:, bone] = found[:, above]
                if self._group[above] >= 0:
                    line = shown.heads[:, bone] - shown.heads[:, above]
                    found[:, bone, self._group[above]] += self._share[above] * line
        return found

    def of_points(self, levers: np.ndarray, shown: BodyMotion, bones: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The levers (F, P, n, 3) of points (F, P, 3) that bones (F, P) or (P,) carry."""
        bones = np.broadcast_to(bones, points.shape[:2])
        rows = np.arange(len(points))[:, None]
        found = levers[rows, bones]
        group = self._group[bones]
        line = self._share[bones][..., None] * (points - shown.heads[rows, bones])
        found[rows, np.arange(points.shape[1]), np.maximum(group, 0)] += np.where(group[..., None] >= 0, line, 0.0)
        return found

    def rates(self) -> np.ndarray:
        """`J` (F, 3 n, 3 n): by what the groups turn if their vectors change."""
        size = self.vectors.shape[1]
        found = np.zeros((len(self.vectors), size, size))
        for group in self.groups:
            own = self.columns(group)
            found[:, own, own] = quaternion.left_jacobian(self.vectors[:, own])
        return found

    def elbow(self, side: str, *, at_first: bool = False) -> Elbow:
        """An elbow as it is now, or without the vectors."""
        person, turns = self._body.person, self._base if at_first else self._body.turns
        (upper, *_), (lower, *_), (hand, *_) = (self.bones[part, side] for part in _ARM[1:])
        heads = person.armature.heads
        lines = [unit(heads[end] - heads[start]) for start, end in ((upper, lower), (lower, hand))]
        hinge = quaternion.rotate(quaternion.product(self._base[lower], person.frames[lower]), _HINGE)
        axes = [quaternion.rotate(quaternion.product(turns[bone], quaternion.conjugate(self._base[bone])), hinge)
                for bone in (upper, lower)]  # fmt: skip
        return Elbow(quaternion.rotate(turns[upper], lines[0]), quaternion.rotate(turns[lower], lines[1]), *axes)
