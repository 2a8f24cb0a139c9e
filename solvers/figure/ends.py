# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs whose goals have no rotation: how their hands and feet turn, and how far the knees above these bend."""

from collections.abc import Sequence

import numpy as np

from ..algebra import arctan2, quaternion
from . import limbs as limb_geometry
from .figure import RestLimb
from .weights import Weights

_FOOT = 0.1  # of the limb's length: shorter feet are no feet
_DOUBT = 0.2
_ELBOW_TURN = np.radians(10.0)  # by which the plane of an arm is turned against its bones


class LooseEnds:
    """P of L limbs.

    rows : (P,) which they are. eased : those of the P whose feet are fitted to the distances of their toes. doubt :
    (L,) how much less is known about the bends of middle joints than of ends. frames : (P, 4) turns of the lower bones'
    frames at rest. tips : (P, 3) from the ends' joints to the effectors, in these frames. moves : (P, 1) whether
    the end lies before the effector.
    """

    def __init__(self, limbs: Sequence[RestLimb], names: Sequence[str], weights: Weights) -> None:
        """`names` : of the limbs' networks."""
        self.rows = np.flatnonzero([not limb.turned for limb in limbs])
        own = [limb for limb in limbs if not limb.turned]
        self.doubt = np.array([_doubt(weights, name) for name in names])
        self.moves = np.array([[float(limb.effector != limb.lower)] for limb in own]).reshape(-1, 1)
        frames = np.array([turned_back(limb, 1) for limb in own]).reshape(-1, 3, 3)
        self.frames, tips = quaternion.from_matrix(frames), np.array([limb.tip for limb in own]).reshape(-1, 3)
        self.tips = (frames.swapaxes(-1, -2) @ tips[..., None])[..., 0]
        lengths = np.array([limb.lengths for limb in own]).reshape(-1, 2)
        legs = np.array([limb.kind == "leg" for limb in own], dtype=bool)
        feet = np.linalg.norm(self.tips[:, :2], axis=-1) > _FOOT * lengths.sum(-1)
        self.eased = np.flatnonzero(legs & (self.moves[:, 0] > 0.0) & feet)
        self._of_legs = legs[:, None].astype(float)  # arms predict no ends
        doubt = self.doubt[self.rows].tolist()
        self._legs = [
            limb_geometry.EasedLeg.of(limb.lengths, tip, doubt[k])
            for k, (limb, tip) in enumerate(zip(own, self.tips, strict=True)) if k in self.eased
        ]  # fmt: skip
        self._lower = lengths[:, 1]

    def predicted(self, answer: np.ndarray, distance: np.ndarray, correction: np.ndarray) -> np.ndarray:
        """Turns of ends in the axes of the lower bones, and bends of knees (F, P, 4).

        answer : (F, P, 4) of the networks. distance : (F, P) from root to effector. correction : (F, P, 4) added.
        """
        loose = answer * self._of_legs
        if self.eased.size:
            self._ease(loose, distance, correction)
        loose[..., :3] += correction[..., :3]
        loose[..., :3] *= self.moves
        return loose

    def _ease(self, loose: np.ndarray, distance: np.ndarray, correction: np.ndarray) -> None:
        """Fit the bends of knees and the turns of feet to the distances of their toes, in `loose` (F, P, 4).

        Number by number: on two legs a NumPy call costs more than all of it.
        """
        at = self.eased
        each = distance[:, at], loose[:, at, 2:], correction[:, at, 3]
        frames = zip(*(part.tolist() for part in each), strict=True)
        loose[:, at, 2:] = [
            [limb_geometry.fitted(*each) for each in zip(*frame, self._legs, strict=True)] for frame in frames
        ]

    def lines(self, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The lines from the middle joints to the effectors where ends are turned by (F, P, 4): their lengths (F, P).

        And their angles (F, P) about the hinge, and the turns (F, P, 4), but for a factor, back from them to the lower
        bones, away from rest. The ends' turns are in the axes of the lower bones.
        """
        line = quaternion.rotate(turn, self.tips)
        line[..., 0] += self._lower
        x, y, z = line[..., 0], line[..., 1], line[..., 2]
        flat = np.hypot(x, y)
        length = np.hypot(flat, z)
        rise, run = flat + length, flat + x
        back = np.stack([rise * run, -z * y, z * run, -rise * y], -1)
        return length, arctan2(y, x), quaternion.product(back, quaternion.conjugate(self.frames))

    def turns(self, turn: np.ndarray) -> np.ndarray:
        """Ends' turns (F, P, 4) in the axes of the lower bones as turns against these bones, away from rest."""
        return quaternion.product(quaternion.product(self.frames, turn), quaternion.conjugate(self.frames))

    def turns_of(self, end: np.ndarray, row: int) -> np.ndarray:
        """The inverse of `turns` for one of the P: rotation vectors (F, 3) of turns (F, 4)."""
        return quaternion.log(quaternion.product(quaternion.relative(self.frames[row], end), self.frames[row]))


def turned_back(limb: RestLimb, part: int) -> np.ndarray:
    """The rest frame (3, 3) of a bone, that of an arm turned about the bone by the angle of its plane."""
    frame = limb.frames[part]
    if limb.kind != "arm":
        return frame
    cosine, sine = np.cos(_ELBOW_TURN), np.sin(_ELBOW_TURN)
    return frame @ np.array([[1.0, 0.0, 0.0], [0.0, cosine, sine], [0.0, -sine, cosine]])


def _doubt(weights: Weights, name: str) -> float:
    """The variance of a predicted bend of a limb's middle joint; that of its end is 1.

    A share of it: where the leg is nearly straight an error of the foot becomes a large one of the knee.
    """
    middle, end = weights[f"{name}/spread"]
    return _DOUBT * float(middle / end) ** 2
