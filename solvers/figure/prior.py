# SPDX-License-Identifier: GPL-3.0-or-later
"""The prior of natural poses of one rig: base poses from targets, meeting the pose that the animator set."""

from copy import copy
from typing import Self

import numpy as np

from ..algebra import by_row, quaternion
from ..model.goals import Targets
from ..model.skeleton import Pose
from . import fading
from .body import Predictor
from .figure import RestFigure
from .own_motion import OwnMotion
from .view import View, Viewer
from .weights import Weights, load


class Prior:
    """Base poses of one rig. It never changes what it is made from, and it can be pickled."""

    def __init__(
        self, figure: RestFigure, weights: Weights | None = None, freedom: np.ndarray | None = None,
        own: OwnMotion | None = None,
    ) -> None:  # fmt: skip
        """A prior with the weights that come with the extension, or with others.

        freedom : (J,) in 0..1, how far each joint may be turned; the bones of a limb share the least of theirs.
        own : the character's own motion, ignored if it was made for another figure or other goals.
        """
        self.figure, self._weights, self._own = figure, load() if weights is None else weights, own
        self.viewer = Viewer(figure)
        self._set_freedom(freedom)

    def with_freedom(self, freedom: np.ndarray) -> Self:
        """The prior of the same figure with another freedom (J,), which shares what does not depend on it."""
        other = copy(self)
        other._set_freedom(freedom, self.body)
        return other

    def _set_freedom(self, freedom: np.ndarray | None, body: Predictor | None = None) -> None:
        """`body` : the predictor of another freedom."""
        figure, own = self.figure, self._own
        joints = len(figure.skeleton)
        free = np.ones(joints) if freedom is None else np.array(freedom, dtype=float)
        free[~figure.skeleton.turns] = 0.0
        free[figure.skeleton.detached] = 0.0
        for limb in figure.limbs:
            both = [limb.upper, limb.lower]
            free[both] = free[both].min()
        self.body = Predictor(figure, self._weights, free) if body is None else body.with_free(free)
        self.joints = self.body.joints  # (K,) that it turns
        self.freedom = free[self.joints]
        self._whole = bool((self.freedom >= 1.0).all())
        trunk = [self.viewer.hips_joint, *(joint for joint in figure.spine if joint >= 0)]
        self.giving = float(free[trunk].min()) if figure.hips_give else 0.0  # how far hips go with the head
        fits = own is not None and own.fits(self.body.count, self.body.whole)
        self.own = own.of(self.body.among) if own is not None and fits else None
        self.at_rest = quaternion.relative(figure.before[self.joints], figure.rest[self.joints])
        self.keeps_chest = bool(figure.spine) and not self.body.turns_chest and figure.spine[-1] >= 0

    def counts(self, amount: float | np.ndarray) -> bool:
        """Whether a base pose with an amount can differ from the start."""
        # np.any takes longer than the rest here
        return bool(self.joints.size and (amount.any() if isinstance(amount, np.ndarray) else amount))

    def shaped(
        self, start: Pose, targets: Targets, links: np.ndarray, amount: float | np.ndarray, share: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (F, J, 4) that a solve starts from and is pulled to, and its targets' positions (F, G, 3).

        Where the targets are where the effectors stand in `start`, the rotations are those of `start`; the prior takes
        over as targets move away. Positions stay, but for hips whose goal comes after that of the head: they go with a
        head that is lowered, and take along hands that were not moved and would get out of reach.

        Parameters
        ----------
        start : the animator's own pose, (F or 1, J, ...). targets : of F frames. links : (F or 1, J, 8).
        amount : 0..1, or (F,); if it is 0, the answer is what was given itself. share : 0..1 of the character's own
            motion.
        """
        if not self.counts(amount):
            return start.rotations, targets.positions
        body, count = self.body, max(len(start.rotations), len(links))
        # how the animator's own pose differs from the prior's there, without the bends of limbs, and in these
        posed, chest = self.view(np.broadcast_to(start.rotations, (count, *start.rotations.shape[1:])), links)
        own = start.rotations[:, self.joints]
        ends = self._own_ends(posed, chest, own)
        apart = quaternion.log(quaternion.relative(self._motions(posed, chest, share, ends), own))
        bent = (body.bends @ apart[..., None])[..., 0]
        # it counts less with the squared distances of the targets
        fade = fading.rates(by_row(quaternion.angle(own, self.at_rest) ** 2, body.serves.T))[..., None]
        view, positions = self.viewer.of_targets(targets.positions, targets.rotations, start, links), targets.positions
        if self.giving and self.figure.hips.goal >= 0:
            way = self.giving * np.reshape(amount, (-1, 1)) * self.viewer.way_of_hips(view, posed)
            ways = np.zeros_like(view.places)
            ways[:, : body.arms] = body.ways_of_hands(view, posed, way)
            view = View(view.places - way[:, None] + ways, view.turns)
            positions = self.viewer.moved(targets, way, ways)
        view = body.within_reach(view, posed)
        moved = body.moved(view, posed)
        near = np.exp(by_row(moved, fade * body.follows))[..., None]
        near_bent = np.exp(by_row(moved, (fade + fading.BENDS) * body.follows))[..., None]
        rows = body.ends.rows
        ends = np.exp(moved[:, rows, None] * (fade[:, rows] + fading.OF_ENDS)) * ends
        motions = self._motions(view, chest, share, ends)
        motions = quaternion.product(motions, quaternion.exp(near * (apart - bent) + near_bent * bent))
        rotations = np.empty((len(motions), *start.rotations.shape[1:]))
        rotations[:] = start.rotations
        least = amount.min() if isinstance(amount, np.ndarray) else amount
        if not (self._whole and least >= 1.0):
            before = start.rotations[:, self.joints]
            shares = np.multiply.outer(amount, self.freedom)
            turn = quaternion.log(quaternion.relative(before, motions))
            motions = quaternion.product(before, quaternion.exp(shares[..., None] * turn))
        rotations[:, self.joints] = motions
        return rotations, positions

    def view(self, rotations: np.ndarray, links: np.ndarray) -> tuple[View, np.ndarray | None]:
        """The effectors in poses (F, J, 4), and the chest's turn (F, 3) if the prior does not tell it."""
        world = self.figure.skeleton.transforms(rotations, None, links)
        chest = quaternion.log(self.viewer.chest(world, links)) if self.keeps_chest else None
        return self.viewer.of_pose(world, links), chest

    def _motions(self, view: View, chest: np.ndarray | None, share: float, ends: np.ndarray) -> np.ndarray:
        """The prior's own motions (F, K, 4)."""
        motions, _ = self.body.motions(view, chest, ends)
        if self.own is not None and share > 0.0:
            correction = self.own.correction(self.body.features(view))
            motions = quaternion.product(motions, quaternion.exp(share * correction))
        return motions

    def _own_ends(self, view: View, chest: np.ndarray | None, own: np.ndarray) -> np.ndarray:
        """Differences (F, P, 4) of the animator's own motions (F or 1, K, 4) from those predicted.

        They are turns of feet and hands, and bends of knees.
        """
        ends = np.tile(self.body.loose_turns(own), (len(view.places) // len(own), 1, 1))
        if ends.size:
            bends = ends * [0.0, 0.0, 0.0, 1.0]
            bends[:, self.body.ends.eased, 3] -= self.body.motions(view, chest, 0.0)[1][:, self.body.ends.eased, 3]
            ends[..., :3] -= self.body.motions(view, chest, bends)[1][..., :3]
            ends[..., 3] = bends[..., 3]
        return ends
