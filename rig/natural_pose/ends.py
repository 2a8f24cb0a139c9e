# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs whose goals have no rotation: how their hands and feet turn, and how far the knees above these bend."""

from collections.abc import Sequence

import numpy as np

from ...solvers.algebra import quaternion
from . import limbs as limb_geometry
from .figure import Limb
from .weights import Weights

LEAST_BEND = 0.1  # [rad] that is predicted for a knee
_FOOT = 0.1  # of the limb's length: shorter feet are no feet
_DOUBT = 0.2
_ELBOW_TURN = np.radians(10.0)  # by which the plane of an arm is turned against its bones


class LooseEnds:
    """P of L limbs.

    rows : (P,) which they are. eased : those of the P whose feet are fitted to the distances of their toes. doubt :
    (L, 1) how much less is known about the bends of middle joints than of ends. frames : (P, 4) turns of the lower
    bones' frames at rest. tips : (P, 3) from the ends' joints to the effectors, in these frames. moves : (P, 1) whether
    the end lies before the effector.
    """

    def __init__(self, limbs: Sequence[Limb], names: Sequence[str], weights: Weights) -> None:
        """`names` : of the limbs' networks."""
        self.rows = np.flatnonzero([not limb.turned for limb in limbs])
        own = [limbs[k] for k in self.rows]
        self.at = rows(self.rows)
        self.doubt = np.array([_doubt(weights, name) for name in names]).reshape(-1, 1)
        self.moves = np.array([[float(limb.effector != limb.lower)] for limb in own]).reshape(-1, 1)
        frames = np.array([turned_back(limb, 1) for limb in own]).reshape(-1, 3, 3)
        self.frames, tips = quaternion.from_matrix(frames), np.array([limb.tip for limb in own]).reshape(-1, 3)
        self._frames_back = quaternion.conjugate(self.frames)
        self.tips = (frames.swapaxes(-1, -2) @ tips[..., None])[..., 0]
        lengths = np.array([limb.lengths for limb in own]).reshape(-1, 2)
        legs = np.array([limb.kind == "leg" for limb in own], dtype=bool)
        feet = np.linalg.norm(self.tips[:, :2], axis=-1) > _FOOT * lengths.sum(-1)
        self.eased = np.flatnonzero(legs & (self.moves[:, 0] > 0.0) & feet)
        self._of_legs = legs[:, None].astype(float)  # arms predict no ends
        self.at_eased, self.at_legs = rows(self.eased), rows(self.rows[self.eased])
        self._feet = limb_geometry.Feet.of(lengths[self.eased], self.tips[self.eased])
        self._doubt_of_legs, self._lower = self.doubt[self.rows[self.eased]], lengths[:, 1]

    def predicted(self, answer: np.ndarray, distance: np.ndarray, correction: np.ndarray | float) -> np.ndarray:
        """Turns of ends in the axes of the lower bones, and bends of knees (F, P, 4).

        answer : (F, P, 4) of the networks. distance : (F, P) from root to effector. correction : (F, P, 4) added.
        """
        loose = answer * self._of_legs
        if self.eased.size:
            self._ease(loose, distance, correction)
        if isinstance(correction, np.ndarray):
            loose[..., :3] += correction[..., :3]
        loose[..., :3] *= self.moves
        return loose

    def _ease(self, loose: np.ndarray, distance: np.ndarray, correction: np.ndarray | float) -> None:
        """Fit the bends of knees and the turns of feet to the distances of their toes, in `loose` (F, P, 4)."""
        at, feet, distance = self.at_eased, self._feet, distance[:, self.at_eased, None]
        turn, bend = loose[:, at, 2:3], np.maximum(loose[:, at, 3:], LEAST_BEND)
        bend = limb_geometry.balanced(distance, bend, turn, feet, self._doubt_of_legs)
        if isinstance(correction, np.ndarray):
            bend = bend + correction[:, at, 3:]
        bend = np.minimum(np.maximum(bend, limb_geometry.LEAST_KNEE), limb_geometry.MOST_KNEE)
        needed, _ = limb_geometry.ankles(distance, bend, feet)
        loose[:, at, 2:3] = turn + limb_geometry.eased(needed - turn)
        loose[:, at, 3:] = bend

    def lines(self, loose: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From the middle joints to the effectors: lengths (F, P), angles (F, P), turns back (F, P, 4).

        As of `limbs.beyond`. The turns lead to the lower bones, away from rest.
        """
        length, angle, back = limb_geometry.beyond(self.tips, quaternion.exp(loose[..., :3]), self._lower)
        return length, angle, quaternion.product(back, self._frames_back)

    def turns(self, loose: np.ndarray) -> np.ndarray:
        """The turns (F, P, 4) of the ends against the lower bones."""
        return quaternion.product(self.frames, quaternion.product(quaternion.exp(loose[..., :3]), self._frames_back))

    def turns_of(self, end: np.ndarray, row: int) -> np.ndarray:
        """The inverse of `turns` for one of the P: rotation vectors (F, 3) of turns (F, 4)."""
        return quaternion.log(quaternion.product(quaternion.relative(self.frames[row], end), self.frames[row]))


def rows(indices: np.ndarray) -> np.ndarray | slice:
    """Indices as a slice if they follow each other: NumPy takes it in less time."""
    if indices.size and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def turned_back(limb: Limb, part: int) -> np.ndarray:
    """The rest frame (3, 3) of a bone, that of an arm turned about the bone by the angle of its plane."""
    frame = limb.frames[part]
    if limb.kind != "arm":
        return frame
    cosine, sine = np.cos(_ELBOW_TURN), np.sin(_ELBOW_TURN)
    return frame @ np.array([[1.0, 0.0, 0.0], [0.0, cosine, sine], [0.0, -sine, cosine]])


def _doubt(weights: Weights, name: str) -> float:
    """How much less is known about the bend of a limb's middle joint than about that of its end, squared.

    A share of it: where the leg is nearly straight an error of the foot becomes a large one of the knee.
    """
    middle, end = weights[f"{name}/spread"]
    return _DOUBT * float(middle / end) ** 2
