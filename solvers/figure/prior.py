# SPDX-License-Identifier: GPL-3.0-or-later
"""The prior of natural poses of one rig: base poses from targets, meeting the pose that the animator set."""

from typing import NamedTuple

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


class _Start(NamedTuple):
    """What follows from the animator's own pose: where the effectors stand in it, and how it differs from the prior.

    source : what it was made from. view : of its effectors. chest : (F, 3) the chest's turn, None where the prior tells
    it. ends : (F, P, 4) by what limbs without rotation have their ends turned and their knees bent more than the prior
    has. apart : (F, K, 2, 3) from the prior's motions there to the animator's: the parts that do not bend limbs, and
    those that do. fade : (F, E, 2 K), both parts of a joint in turn, and fade_of_ends : (F, P, 4) how fast these count
    less with the squared distances of targets.
    """

    source: "_Source"
    view: View
    chest: np.ndarray | None
    ends: np.ndarray
    apart: np.ndarray
    fade: np.ndarray
    fade_of_ends: np.ndarray


class _Source(NamedTuple):
    """An animator's pose as it is seen from its own hips: rotations, links (n, 8) of the body's inner joints, as bytes.

    frames : of rotations and links. share : of the character's own motion.
    """

    rotations: bytes
    links: bytes
    frames: tuple[int, int]
    share: float


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
        joints = len(figure.skeleton)
        free = np.ones(joints) if freedom is None else np.array(freedom, dtype=float)
        free[[kind in ("fixed", "prismatic") for kind in figure.skeleton.kinds]] = 0.0
        free[figure.skeleton.detached] = 0.0
        for limb in figure.limbs:
            both = [limb.upper, limb.lower]
            free[both] = free[both].min()
        self.figure = figure
        self.body = Predictor(figure, load() if weights is None else weights, free)
        self.joints = self.body.joints  # (K,) that it turns
        self.freedom = free[self.joints]
        self._whole = bool((self.freedom >= 1.0).all())
        fits = own is not None and own.fits(self.body.count, self.body.whole)
        self.own = own.of(self.body.among) if own is not None and fits else None
        self.at_rest = quaternion.relative(figure.before[self.joints], figure.rest[self.joints])
        self.viewer, self._start = Viewer(figure), None
        self.keeps_chest = bool(figure.spine) and not self.body.turns_chest and figure.spine[-1] >= 0

    def counts(self, amount: float | np.ndarray) -> bool:
        """Whether a base pose with an amount can differ from the start."""
        # np.any takes longer than the rest here
        return bool(self.joints.size and (amount.any() if isinstance(amount, np.ndarray) else amount))

    def base(
        self, start: Pose, targets: Targets, links: np.ndarray, amount: float | np.ndarray, share: float = 0.0
    ) -> np.ndarray:
        """Rotations (F, J, 4) that a solve starts from and is pulled to.

        Where the targets are where the effectors stand in `start`, they are those of `start`; the prior takes over as
        targets move away.

        Parameters
        ----------
        start : the animator's own pose, (F or 1, J, ...). targets : of F frames. links : (F or 1, J, 8).
        amount : 0..1, or (F,); if it is 0, the answer is `start.rotations` itself. share : 0..1 of the character's own
            motion.
        """
        if not self.counts(amount):
            return start.rotations
        own = self._own_pose(start, links, share)
        view = self.viewer.of_targets(targets.positions, targets.rotations, start, links)
        view = self.body.within_reach(view, own.view)
        moved, ends = self.body.moved(view, own.view)[:, None], 0.0  # (F, 1, E)
        if own.ends.size:
            ends = np.exp(moved[:, 0, self.body.ends.at, None] * own.fade_of_ends) * own.ends
        motions = self._motions(view, own.chest, share, ends)
        shares = np.exp(moved @ own.fade).reshape(len(moved), -1, 1, 2)
        motions = quaternion.product(motions, quaternion.exp((shares @ own.apart)[:, :, 0]))
        rotations = np.empty((len(motions), *start.rotations.shape[1:]))
        rotations[:] = start.rotations
        least = amount.min() if isinstance(amount, np.ndarray) else amount
        if not (self._whole and least >= 1.0):
            before = start.rotations[:, self.joints]
            shares = np.multiply.outer(amount, self.freedom)
            turn = quaternion.log(quaternion.relative(before, motions))
            motions = quaternion.product(before, quaternion.exp(shares[..., None] * turn))
        rotations[:, self.joints] = motions
        return rotations

    def view(self, rotations: np.ndarray, links: np.ndarray) -> tuple[View, np.ndarray | None]:
        """Where the effectors are in poses (F, J, 4), and the chest's turn (F, 3) where the prior does not tell it."""
        world = self.figure.skeleton.transforms(rotations, None, links)
        chest = quaternion.log(self.viewer.chest(world, links)) if self.keeps_chest else None
        return self.viewer.of_pose(world, links), chest

    def _motions(
        self, view: View, chest: np.ndarray | None, share: float, ends: np.ndarray | float
    ) -> np.ndarray:
        """The prior's own motions (F, K, 4)."""
        motions, _ = self.body.motions(view, chest, ends)
        if self.own is not None and share > 0.0:
            correction = self.own.correction(self.body.features(view))
            motions = quaternion.product(motions, quaternion.exp(share * correction))
        return motions

    def _own_pose(self, start: Pose, links: np.ndarray, share: float) -> _Start:
        """What follows from the animator's own pose, cached until it changes."""
        inner = links.take(self.body.inner, 1)
        several = max(len(start.rotations), len(links)) > 1
        if several and (start.rotations == start.rotations[:1]).all() and (inner == inner[:1]).all():
            start, links, inner = Pose(*(part[:1] for part in start)), links[:1], inner[:1]  # as seen from the hips
        source = _Source(start.rotations.tobytes(), inner.tobytes(), (len(start.rotations), len(links)), share)
        if self._start is not None and self._start.source == source:
            return self._start
        count = max(len(start.rotations), len(links))
        rotations = np.broadcast_to(start.rotations, (count, *start.rotations.shape[1:]))
        view, chest = self.view(rotations, links)
        own = start.rotations[:, self.joints]
        ends = self._own_ends(view, chest, own)
        motions = self._motions(view, chest, share, ends)
        apart = quaternion.log(quaternion.relative(motions, own))
        bent = (self.body.bends @ apart[..., None])[..., 0]
        turned = by_row(quaternion.angle(own, self.at_rest) ** 2, self.body.serves.T)
        fade, follows = fading.rates(turned)[..., None], self.body.follows
        fade_of_ends = fade[:, self.body.ends.rows] + fading.OF_ENDS
        fade = np.stack([fade * follows, (fade + fading.BENDS) * follows], -1).reshape(*fade.shape[:2], -1)
        apart = np.stack([apart - bent, bent], 2)
        self._start = _Start(source, view, chest, ends, apart, fade, fade_of_ends)
        return self._start

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
