# SPDX-License-Identifier: GPL-3.0-or-later
"""The prior's own pose of one figure: chest, shoulders, elbows and knees from a view of the effectors."""

from copy import copy

import numpy as np

from ..algebra import arctan2, by_row, quaternion
from . import limbs as limb_geometry
from .chest import Chest
from .collars import Collars
from .ends import LooseEnds, turned_back
from .figure import SIDES, UP, Head, RestFigure, RestLimb
from .view import View
from .weights import CLIP, EFFECTORS, LimbNetworks, Trunk, Weights, clipped

MIRROR = np.array([1.0, 1.0, -1.0, -1.0])
"""The signs of a quaternion's mirror image in the plane between left and right."""
NEAR = 0.1  # of the limb's length: nearer ends have no direction
_REACH, _REACH_OF_HEAD = 1.3, 0.8
"""Limits of the distances of effectors from their roots at rest, in lengths of limb or torso; at twice the limit they
tell nothing."""
COMING, MOVED = 1.3, 0.08
"""How far hands come along with a duck, for how far shoulders would go out of reach; and how far from the pose
hands are that were led themselves, in lengths of the arm."""
MOST_TURN = 1.5  # of the chest about each axis [rad]
PRONATION = 0.25  # share of the turn of a hand about the forearm that the forearm takes


class Predictor:
    """Predicts the motions of a figure's joints from a `View` of its effectors.

    joints : (K,) that it turns. whole : the number of joints that it would turn if all were free; among : (K,) the
    places of `joints` in these. count : of features. serves : (E, K) whether a joint serves that effector alone.
    follows : (E, K) the same, all for joints that serve several. turns_chest : whether the spine is free. inner :
    joints whose links move effectors against the hips.
    """

    def __init__(self, figure: RestFigure, weights: Weights, free: np.ndarray) -> None:
        """`free` (J,) : above 0 for the joints that may be turned."""
        self._figure, limbs = figure, figure.limbs
        self.arms = sum(limb.kind == "arm" for limb in limbs)
        count = len(limbs) + (figure.head is not None)
        self.signs = np.array([SIDES[limb.side] for limb in limbs])
        self._set_effectors(count)
        self._set_limbs(limbs, weights)
        self._set_trunk(weights)
        link = figure.hips.link
        self.inner = np.array([joint for joint in range(len(figure.skeleton)) if joint != link and (
            figure.skeleton.parent[joint] >= 0)], dtype=np.intp)  # fmt: skip
        self._set_free(free)

    def with_free(self, free: np.ndarray) -> "Predictor":
        """A predictor of the same figure with other free joints (J,), which shares what does not depend on these."""
        other = copy(self)
        other._set_free(free)
        return other

    # -- preparation ----------------------------------------------------------------------------------------------

    def _set_effectors(self, count: int) -> None:
        """Set the arrays that features are made of, both sides as they are."""
        figure, head, signs = self._figure, self._figure.head, self.signs
        self.tips, self.roots, self.frames = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3, 2))
        self.sizes = np.full((count, 1), figure.torso)
        select: list[np.ndarray] = []
        turned = [limb.turned for limb in figure.limbs] + ([] if head is None else [head.turned])
        for k, limb in enumerate(figure.limbs):
            self.roots[k], self.sizes[k] = signs[k] * limb.root, limb.size
            if limb.turned:
                self.tips[k], self.frames[k] = signs[k] * limb.tip, signs[k][:, None] * limb.end_frame
            else:
                beyond = limb.tip if limb.kind == "leg" else np.array([np.linalg.norm(limb.tip), 0.0, 0.0])
                self.frames[k, :, 0] = signs[k] * beyond / limb.size
        self.reaches = np.full((count, 1), _REACH)
        if head is not None:
            self.reaches[-1] = _REACH_OF_HEAD
            self.roots[-1] = head.place
            beyond = self._head_tip(figure, head)
            self.tips[-1] = beyond if head.turned else 0.0
            self.frames[-1] = np.eye(3)[:, 1:] if head.turned else np.stack([beyond / figure.torso, np.zeros(3)], -1)
        for k, has in enumerate(turned):
            select.append(9 * k + np.arange(9 if has else 6))
        self.count = sum(map(len, select))
        self.select, self.turned = np.concatenate(select), np.array(turned)
        self._lines = np.concatenate([-self.tips[..., None], self.frames], -1).swapaxes(-1, -2)  # (E, 3, 3)
        self._far = np.square(self.reaches * self.sizes)
        self._scale, self._shift = np.ones((count, 9)), np.zeros((count, 9))
        self._scale[:, :3], self._shift[:, :3] = 1.0 / self.sizes, -self.roots / self.sizes

    @staticmethod
    def _head_tip(figure: RestFigure, head: Head) -> np.ndarray:
        """From the head's joint to its effector at rest."""
        offset = np.asarray(figure.goals[head.goal].offset, dtype=float)
        return quaternion.rotate(
            quaternion.product(quaternion.conjugate(figure.axes), figure.rest[head.joint]), offset
        )

    def _set_limbs(self, limbs: tuple[RestLimb, ...], weights: Weights) -> None:
        names = [f"{limb.kind}/{'turned' if limb.turned else 'placed'}" for limb in limbs]
        self.networks, self.ends = LimbNetworks(weights, names), LooseEnds(limbs, names, weights)
        self.bend = np.array([1.0 if limb.kind == "arm" else -1.0 for limb in limbs])
        self._bones = [
            limb_geometry.Bones(limb.lengths, side, limb_geometry.ROOM * limb.size)
            for limb, side in zip(limbs, self.bend.tolist(), strict=True)
        ]
        self._bends_of_distances = np.full(len(limbs), np.nan)
        self._lower = np.array([limb.lengths[1] for limb in limbs])
        self._sizes = np.array([limb.size for limb in limbs])
        self._roots = np.array([limb.root for limb in limbs])
        self.back = np.array([[turned_back(limb, part).T for part in range(2)] for limb in limbs])
        straight, usual = self.networks.straight, self.networks.usual
        self.axes = np.stack([straight, quaternion.cross(usual, straight), usual], -1)
        back = quaternion.from_matrix(self.back)
        back[self.ends.rows, 1] = quaternion.IDENTITY  # `LooseEnds.lines` has these
        axes = quaternion.from_matrix(self.axes)
        self.frames_of_bones = np.stack([limb_geometry.between_frames(*each) for each in zip(axes, back, strict=True)])
        self.placed_arms = np.flatnonzero([limb.kind == "arm" and not limb.turned for limb in limbs])
        turned = np.flatnonzero([limb.turned for limb in limbs])
        self._turned_arms = turned[turned < self.arms]
        self.forearms = np.array([limb.frames[1][:, 0] for limb in limbs])
        self._pronated = self.forearms[self._turned_arms]
        self.on_toes = np.flatnonzero([limb.toe.any() for limb in limbs])
        self._toe_lines = np.array([limb.toe for limb in limbs])[self.on_toes]
        beyond = np.zeros((len(limbs), 6))
        beyond[:, 0] = [np.linalg.norm(limb.tip) / limb.size for limb in limbs]
        self._beyond = beyond[self.placed_arms]

    def _set_trunk(self, weights: Weights) -> None:
        figure = self._figure
        keys = [(limb.kind, limb.side) for limb in figure.limbs] + ([] if figure.head is None else [("head", "")])
        self.trunk = Trunk(weights, [EFFECTORS.index(key) for key in keys], self.turned.tolist())
        scale, shift, self._trunk_map = np.zeros(9 * len(keys)), np.zeros(9 * len(keys)), np.zeros((9 * len(keys), 3))
        scale[self.select], shift[self.select] = self.trunk.scale, self.trunk.shift
        self._trunk_map[self.select] = self.trunk.map
        self._trunk_scale, self._trunk_shift = scale * self._scale.ravel(), scale * self._shift.ravel() + shift

    def _set_free(self, free: np.ndarray) -> None:
        figure = self._figure
        self.spine = [joint for joint in figure.spine if joint >= 0 and free[joint] > 0.0]
        self.turns_chest = bool(self.spine)
        self.chest = Chest(figure, len(self.spine))
        self.shoulders = self.signs[: self.arms] * self._roots[: self.arms] - self.chest.at_rest
        self._from_chest = np.concatenate([self.shoulders * self.signs[: self.arms], self._roots[self.arms :]])
        self.collars = Collars(figure, figure.limbs[: self.arms], free)
        self._set_joints(free)
        self.serves = self._served(len(self.sizes))
        self.follows = self.serves | ~self.serves.any(0)
        self.bends = self._bends()

    def _set_joints(self, free: np.ndarray) -> None:
        """Give joints their turns: columns are spine, neck, collars, then upper, lower, end and toes of limbs."""
        figure, limbs, arms = self._figure, self._figure.limbs, self.arms
        count = len(limbs)
        self.first = 2 + arms
        every = [(joint, 0) for joint in figure.spine]
        self.neck = [joint for joint in figure.neck if joint >= 0 and free[joint] > 0.0]
        if figure.head is not None and figure.head.turned:
            every += [(joint, 1) for joint in figure.neck]
        for k, limb in enumerate(limbs[:arms]):
            every += [(joint, 2 + k) for joint in figure.collars.get(limb.side, ((), None))[0]]
        for k, limb in enumerate(limbs):
            parts = (limb.upper, limb.lower, limb.end, limb.toes)
            every += [(joint, self.first + part * count + k) for part, joint in enumerate(parts)]
        every = [(joint, column) for joint, column in every if joint >= 0]
        self.whole = len(every)
        self.among = np.array([k for k, (joint, _) in enumerate(every) if free[joint] > 0.0], dtype=np.intp)
        columns = [(joint, column) for joint, column in every if free[joint] > 0.0]
        self.joints = np.array([joint for joint, _ in columns], dtype=np.intp)
        self.columns = np.array([column for _, column in columns], dtype=np.intp)
        self.mirror = np.ones((self.first + 4 * count, 4))
        sides = np.array([MIRROR if limb.side == "R" else np.ones(4) for limb in limbs])
        self.mirror[2 : self.first] = sides[:arms]
        self.mirror[self.first :] = np.tile(sides, (4, 1))
        self._mirror_of_limbs = sides
        self.turns_neck = figure.head is not None and figure.head.turned and bool(self.neck)
        self.maps = self._maps(self.joints)
        self._mirrored_maps = self.mirror[self.columns][..., None] * self.maps

    def _maps(self, joints: np.ndarray) -> np.ndarray:
        """(n, 4, 4) `T` to a joint's motion: `conj(k) T k r`, with `k` the joint's axes in canonical ones at rest."""
        figure = self._figure
        axes = quaternion.product(quaternion.conjugate(figure.axes), figure.before[joints])
        rest = quaternion.relative(figure.before[joints], figure.rest[joints])
        turns = quaternion.product(np.eye(4), quaternion.product(axes, rest)[:, None])
        return quaternion.product(quaternion.conjugate(axes)[:, None], turns)

    def _bends(self) -> np.ndarray:
        """(K, 3, 3) from a joint's turn to the part of it that moves the end of its limb nearer or further."""
        figure, count = self._figure, len(self._figure.limbs)
        projections = np.zeros((len(self.joints), 3, 3))
        rows = np.flatnonzero((self.columns >= self.first) & (self.columns < self.first + 2 * count))
        lines = np.zeros((len(rows), 3))
        for k, row in enumerate(rows.tolist()):
            part, number = divmod(int(self.columns[row]) - self.first, count)
            limb = figure.limbs[number]
            lines[k] = limb.frames[part][:, 2] * (MIRROR[1:] if limb.side == "R" else 1.0)
        axes = quaternion.product(quaternion.conjugate(figure.axes), figure.rest[self.joints[rows]])
        axis = quaternion.rotate(quaternion.conjugate(axes), lines)
        projections[rows] = axis[:, :, None] * axis[:, None]
        return projections

    def _served(self, count: int) -> np.ndarray:
        """(E, K) the effector that a joint serves alone."""
        limb_of = np.full(len(self.mirror), -1)
        limb_of[2 : self.first] = np.arange(self.arms)
        limb_of[self.first :] = np.tile(np.arange(len(self._figure.limbs)), 4)
        serves = limb_of[self.columns]
        return (serves == np.arange(count)[:, None])

    def loose_turns(self, motions: np.ndarray) -> np.ndarray:
        """The turns of ends and bends of knees (F, P, 4) in motions (F, K, 4), as `motions` returns them."""
        count = len(self._figure.limbs)
        turns = np.zeros((len(motions), len(self.ends.rows), 4))
        for row, limb in enumerate(self.ends.rows.tolist()):
            end, lower = (self._turn(motions, part * count + limb, limb) for part in (2, 1))
            if end is not None:
                turns[:, row, :3] = self.ends.turns_of(end, row)
            if lower is not None and row in self.ends.eased:
                line = self.back[limb, 0] @ quaternion.to_matrix(lower) @ self.back[limb, 1, 0]
                turns[:, row, 3] = arctan2(self.bend[limb] * line[:, 1], line[:, 0])
        return turns

    def _turn(self, motions: np.ndarray, part: int, limb: int) -> np.ndarray | None:
        """The turn (F, 4) of a part of a limb in motions (F, K, 4), read as a left one; None if it is not turned."""
        row = self.row_of(part)
        return None if row < 0 else (motions[:, row] @ self.turn_from(row)) * self.mirror[self.first + limb]

    def row_of(self, part: int) -> int:
        """The number among the K joints of a part of a limb (numbered by parts, then limbs); -1 for none."""
        found = np.flatnonzero(self.columns == self.first + part)
        return int(found[0]) if found.size else -1

    def turn_from(self, row: int) -> np.ndarray:
        """(4, 4) from the motion of one of the K joints to its turn; zeros for -1."""
        return np.linalg.inv(self.maps[row : row + 1])[0] if row >= 0 else np.zeros((4, 4))

    # -- evaluation -----------------------------------------------------------------------------------------------

    def features(self, view: View) -> np.ndarray:
        """The features (F, n) of all effectors."""
        told = self.vectors(view).reshape(len(view.places), -1, 9) * self._scale + self._shift
        return told.reshape(len(told), -1).take(self.select, 1)

    def vectors(self, view: View) -> np.ndarray:
        """The places of wrists, ankles and head, and two directions of each (F, E, 3, 3)."""
        vectors = quaternion.rotate(view.turns[:, :, None], self._lines)
        vectors[:, :, 0] += view.places
        return vectors

    def moved(self, view: View, other: View) -> np.ndarray:
        """Squared distances (F, E) of effectors from those of another view: lengths of the limb, and half turns."""
        away = (view.places - other.places) / self.sizes
        turn = (view.turns * other.turns).sum(-1)
        return (away * away).sum(-1) + np.maximum(1.0 - turn * turn, 0.0)  # sin^2 of half the angle

    def ways_of_hands(self, view: View, posed: View, way: np.ndarray) -> np.ndarray:
        """How far hands go (F, A, 3) that shoulders leave out of reach where hips go by `way` (F, 3), in their axes.

        view, posed : before the hips go. Shoulders go down with hips, and not back, because the trunk leans. Hands that
        were moved themselves stay, and so do those within reach.
        """
        away = self.vectors(view)[:, : self.arms, 0] - self.roots[: self.arms]
        after = away - way[:, None] * UP
        before, now = (np.sqrt((line * line).sum(-1)) for line in (away, after))
        beyond = np.maximum(now - np.maximum(before, self.sizes[: self.arms, 0]), 0.0)
        unmoved = np.exp(-self.moved(view, posed)[:, : self.arms] / MOVED**2)
        return -(COMING * unmoved * beyond / np.maximum(now, quaternion.LEAST))[..., None] * after

    def within_reach(self, view: View, other: View) -> View:
        """The view with effectors that are far out of reach drawn toward those of another view, at last to them."""
        away = view.places - self.roots
        squares = (away * away).sum(-1, keepdims=True)
        if (squares <= self._far).all():
            return view
        reach = np.sqrt(squares) / self.sizes
        share = np.clip(2.0 - reach / self.reaches, 0.0, 1.0)
        share = share * share * (3.0 - 2.0 * share)
        sign = np.where((view.turns * other.turns).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
        turns = quaternion.normalize(share * view.turns + (1.0 - share) * sign * other.turns)
        return View(other.places + share * (view.places - other.places), turns)

    def motions(
        self, view: View, chest: np.ndarray | None, correction: np.ndarray | float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Motions (F, K, 4) of `joints`, and (F, P, 4) of limbs without rotation: turns of ends, bends of knees.

        chest : (F, 3) its turn if the spine is not free. correction : (F, P, 4) added to what is predicted of these.
        """
        vectors = self.vectors(view)
        spine, trunk, matrix, place = self.chest.turned(self._turn_of_chest(vectors) if chest is None else chest)
        frames, arms, count = len(vectors), self.arms, len(self._figure.limbs)
        turns = np.empty((frames, len(self.mirror), 4))
        vectors = self.seen_by_limbs(vectors, matrix, place)
        turns[:, 0] = spine
        against = quaternion.relative(trunk[:, None], view.turns)
        if self.turns_neck:
            turns[:, 1] = quaternion.exp(quaternion.log(against[:, -1]) / len(self.neck))
        turns[:, 2 : self.first], collar, moved = self.collars.turns(vectors[:, :arms, 0])
        vectors[:, :arms, 0] -= moved
        chain = np.empty((frames, 4, count, 4))  # collars, upper and lower bones, and ends, against chest or hips
        chain[:, 0] = quaternion.IDENTITY
        chain[:, 0, :arms] = collar
        chain[:, 3, :arms], chain[:, 3, arms:] = against[:, :arms], view.turns[:, arms:count]
        chain[:, 3] *= self._mirror_of_limbs
        parts = turns[:, self.first :].reshape(frames, 4, count, 4)
        parts[:, 3] = quaternion.IDENTITY
        corrections = np.broadcast_to(correction, (frames, len(self.ends.rows), 4))
        loose = self._set_bones(vectors, chain, parts, corrections)
        return (turns.take(self.columns, 1)[:, :, None] @ self._mirrored_maps)[:, :, 0], loose

    def _pronate(self, parts: np.ndarray) -> None:
        """Give forearms a share of the turns of hands about them, in `parts` (F, 4, L, 4).

        `2 w (xyz . axis)` is the sine of that turn, smaller the more the hand is bent: it fades to 0 at a half turn.
        """
        arms = self._turned_arms
        hands, turn = parts[:, 2, arms], np.empty((len(parts), len(self._turned_arms), 4))
        half = PRONATION * hands[..., :1] * (hands[..., 1:] * self._pronated).sum(-1, keepdims=True)
        turn[..., :1] = np.cos(half)
        np.multiply(np.sin(half), self._pronated, out=turn[..., 1:])
        parts[:, 1, arms] = quaternion.product(parts[:, 1, arms], turn)
        parts[:, 2, arms] = quaternion.relative(turn, hands)

    def _turn_of_chest(self, vectors: np.ndarray) -> np.ndarray:
        """The chest's turn (F, 3), as the effectors tell it."""
        if not self.turns_chest:
            return np.zeros((len(vectors), 3))
        told = vectors.reshape(len(vectors), -1) * self._trunk_scale + self._trunk_shift
        return clipped(by_row(clipped(told, CLIP), self._trunk_map) + self.trunk.mean, MOST_TURN)

    def seen_by_limbs(self, vectors: np.ndarray, chest: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Places of limbs' ends from their roots, and two directions (F, L, 3, 3), read as left ones.

        Arms in the axes of the chest, legs in those of the hips. chest, place : as `Chest.turned` has them.
        """
        arms, seen = self.arms, vectors[:, : len(self._figure.limbs)]
        seen[:, :arms, 0] -= place[:, None]
        seen[:, :arms] = seen[:, :arms] @ chest[:, None]
        seen *= self.signs[:, None]
        seen[:, :, 0] -= self._from_chest
        return seen

    def told_of_limbs(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Features (F, L, 13) of limbs, and the distances (F, L, 1) of their ends in lengths of the limb."""
        beyond = vectors[:, :, 1:].reshape(*vectors.shape[:2], 6)
        if self.placed_arms.size:
            beyond[:, self.placed_arms] = self._beyond
        local = vectors[:, :, 0] / self._sizes[:, None]
        distance = np.sqrt((local * local).sum(-1, keepdims=True))
        return np.concatenate([local, distance, local / np.maximum(distance, NEAR), beyond], -1), distance

    def _set_bones(
        self, vectors: np.ndarray, chain: np.ndarray, parts: np.ndarray, correction: np.ndarray
    ) -> np.ndarray:
        """Set the turns of upper and lower bones, ends and toes in `parts` (F, 4, L, 4).

        chain : (F, 4, L, 4) turns of collars, upper and lower bones, and ends, against chest or hips; those of bones
        are set here. Returns what `LooseEnds.predicted` does.
        """
        told, distance = self.told_of_limbs(vectors)
        answer, reach = self.networks(told), vectors[:, :, 0]
        if self.on_toes.size:
            own = self.on_toes
            toes, toe = quaternion.exp(answer[:, own, 3:6]), chain[:, 3, own]
            foot = quaternion.product(toe, toes)
            reach[:, own] += quaternion.rotate(toe, self._toe_lines) - quaternion.rotate(foot, self._toe_lines)
            chain[:, 3, own], parts[:, 3, own] = foot, quaternion.conjugate(toes)
        vectors[:, :, 1] = answer[..., :3]
        both = vectors[:, :, :2] @ self.axes  # end and hinge, in the axes of straight limbs
        turns, ends, loose = self._bones_and_ends(both, distance, answer[:, self.ends.rows, 3:], correction)
        chain[:, 1:3] = turns.swapaxes(1, 2)
        parts[:, :3] = quaternion.relative(chain[:, :3], chain[:, 1:])
        if self._turned_arms.size:
            self._pronate(parts)
        parts[:, 2, self.ends.rows] = ends
        return loose

    def _bones_and_ends(
        self, both: np.ndarray, distance: np.ndarray, loose: np.ndarray, correction: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Turns of both bones (F, L, 2, 4), turns of ends without rotation (F, P, 4), and `LooseEnds.predicted`.

        both : as for `_triangles`. distance : (F, L, 1) as of `told_of_limbs`. loose : (F, P, 4) of the networks.
        """
        lower, bends = (part[None].repeat(len(both), 0) for part in (self._lower, self._bends_of_distances))
        ends = self.ends
        if not ends.rows.size:
            return quaternion.normalize(self._triangles(both, lower, bends)), loose, loose
        loose = ends.predicted(loose, (distance[..., 0] * self._sizes)[:, ends.rows], correction)
        turned = quaternion.exp(loose[..., :3])
        lower[:, ends.rows], angle, back = ends.lines(turned)
        bends[:, ends.rows[ends.eased]] = loose[:, ends.eased, 3] - angle[:, ends.eased]
        turns = self._triangles(both, lower, bends)
        turns[:, ends.rows, 1] = quaternion.product(turns[:, ends.rows, 1], back)
        return quaternion.normalize(turns), ends.turns(turned), loose

    def _triangles(self, both: np.ndarray, lower: np.ndarray, bends: np.ndarray) -> np.ndarray:
        """Turns of both bones (F, L, 2, 4), but for factors.

        both : (F, L, 2, 3) ends and hinges, in the axes of straight limbs. lower : (F, L) lengths from middle joints to
        ends. bends : (F, L), nan where distances tell them.
        """
        frames = zip(lower.tolist(), both.tolist(), bends.tolist(), strict=True)
        triangles = np.array([
            [limb_geometry.triangle(*limb) for limb in zip(self._bones, *frame, strict=True)] for frame in frames
        ])  # fmt: skip
        return limb_geometry.turns_of_bones(triangles, self.frames_of_bones)
