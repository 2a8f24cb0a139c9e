# SPDX-License-Identifier: GPL-3.0-or-later
"""The prior's own pose of one figure: chest, shoulders, elbows and knees from a view of the effectors."""

import numpy as np

from ...solvers.algebra import quaternion
from . import limbs as limb_geometry
from .figure import SIDES, Figure, Limb
from .view import View
from .weights import EFFECTORS, LimbNetworks, Trunk, Weights

MIRROR = np.array([1.0, 1.0, -1.0, -1.0])
"""The signs of a quaternion's mirror image in the plane between left and right."""
NEAR = 0.1  # of the limb's length: nearer ends have no direction
_REACH, _REACH_OF_HEAD = 1.3, 0.8
"""How far effectors may be from their parts' rest roots, in lengths of limb or torso; those twice as far tell nothing.
"""
LEAST_BEND = 0.1  # [rad] that is predicted for a knee
_DOUBT = 0.2
MOST_TURN = 1.5  # of the chest about each axis [rad]
_ELBOW_TURN = np.radians(10.0)  # by which the plane of an arm is turned against its bones
_COLLAR_UP, _COLLAR_FORWARD = np.radians(8.0), np.radians(8.0)  # per arm's length that a wrist is up, or forward
PRONATION = 0.25  # share of the turn of a hand about the forearm that the forearm takes
_COLLAR_AXES = [1, 2, 1]  # of a wrist's place, that turn a collar about its axes
COLLAR_REST = -0.5  # how high the wrist is, in lengths of the arm, for a collar at rest
_COLLAR_REST = np.array([0.0, COLLAR_REST, 0.0])


class Body:
    """Evaluates a figure: joint motions from a `View`.

    joints : (K,) that it turns. count : of features. serves : (E, K) whether a joint serves that effector alone.
    follows : (E, K) the same, all for joints that serve several. turns_chest : whether the spine is free. inner :
    joints whose links move effectors against the hips.
    """

    def __init__(self, figure: Figure, weights: Weights, free: np.ndarray) -> None:
        """`free` (J,) : above 0 for the joints that may be turned."""
        self._figure, limbs = figure, figure.limbs
        self.arms = sum(limb.kind == "arm" for limb in limbs)
        count = len(limbs) + (figure.head is not None)
        self.signs = np.array([SIDES[limb.side] for limb in limbs])
        self._set_effectors(count)
        self._set_limbs(limbs, weights)
        self._set_trunk(weights, free)
        self._set_joints(free)
        self.serves = self._served(count)
        self.follows = self.serves | ~self.serves.any(0)
        self.bends = self._bends()
        link = figure.hips.link
        self.inner = np.array([joint for joint in range(len(figure.skeleton)) if joint != link and (
            figure.skeleton.parent[joint] >= 0)], dtype=np.intp)  # fmt: skip

    # -- preparation ----------------------------------------------------------------------------------------------

    def _set_effectors(self, count: int) -> None:
        """What the trunk's features are made of, both sides as they are."""
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
            beyond = self._head_tip(figure)
            self.tips[-1] = beyond if head.turned else 0.0
            self.frames[-1] = np.eye(3)[:, 1:] if head.turned else np.stack([beyond / figure.torso, np.zeros(3)], -1)
        for k, has in enumerate(turned):
            select.append(9 * k + np.arange(9 if has else 6))
        self.count = sum(map(len, select))
        self.select, self.turned = np.concatenate(select), np.array(turned)

    @staticmethod
    def _head_tip(figure: Figure) -> np.ndarray:
        """From the head's joint to its effector at rest."""
        offset = np.asarray(figure.goals[figure.head.goal].offset, dtype=float)
        return quaternion.rotate(
            quaternion.product(quaternion.conjugate(figure.axes), figure.rest[figure.head.joint]), offset
        )

    def _set_limbs(self, limbs: tuple[Limb, ...], weights: Weights) -> None:
        names = [f"{limb.kind}/{'turned' if limb.turned else 'placed'}" for limb in limbs]
        self.networks = LimbNetworks(weights, names)
        self.doubt = np.array([_doubt(weights, name) for name in names]).reshape(-1, 1)
        self.bend = np.array([[1.0 if limb.kind == "arm" else -1.0] for limb in limbs])
        self._lengths = np.array([limb.lengths for limb in limbs])
        self._limb_sizes = np.array([[limb.size] for limb in limbs])
        self._limb_roots = np.array([limb.root for limb in limbs])
        self.back = np.array([[_turned_back(limb, frame).T for frame in limb.frames] for limb in limbs])
        self.placed = np.flatnonzero([not limb.turned for limb in limbs])
        self.end_moves = np.array([[float(limbs[k].effector != limbs[k].lower)] for k in self.placed]).reshape(-1, 1)
        frames = np.array([_turned_back(limbs[k], limbs[k].frames[1]) for k in self.placed]).reshape(-1, 3, 3)
        self.end_frames = quaternion.from_matrix(frames)
        self._end_frames_back = quaternion.conjugate(self.end_frames)
        tips = np.array([limbs[k].tip for k in self.placed]).reshape(-1, 3)
        self.end_tips = (frames.swapaxes(-1, -2) @ tips[..., None])[..., 0]
        feet = np.linalg.norm(self.end_tips[:, :2], axis=-1) > NEAR * self._limb_sizes[self.placed, 0]
        self.eased = np.flatnonzero((self.placed >= self.arms) & (self.end_moves[:, 0] > 0.0) & feet)
        legs = self.placed[self.eased]
        self._feet = limb_geometry.Feet.of(self._lengths[legs], self.end_tips[self.eased])
        self._doubt_of_legs, self._lower_of_placed = self.doubt[legs], self._lengths[self.placed, 1:]
        self.arms_of_placed = np.flatnonzero(self.placed < self.arms)
        self.placed_arms = np.flatnonzero([limb.kind == "arm" and not limb.turned for limb in limbs])
        self._ends = np.flatnonzero([limb.turned for limb in limbs])
        self._turned_arms = self._ends[self._ends < self.arms]
        self.forearms = np.array([limb.frames[1][:, 0] for limb in limbs])
        self._pronated = np.sqrt(2.0 * PRONATION) * self.forearms[self._turned_arms]
        self.on_toes = np.flatnonzero([limb.toe.any() for limb in limbs])
        self._toe_lines = np.array([limbs[k].toe for k in self.on_toes]).reshape(-1, 3)
        self._at_placed, self._at_ends, self._at_toes = _rows(self.placed), _rows(self._ends), _rows(self.on_toes)
        self._at_eased, self._at_legs = _rows(self.eased), _rows(self.placed[self.eased])
        self._at_arms_of_placed, self._at_turned_arms = _rows(self.arms_of_placed), _rows(self._turned_arms)
        self._at_placed_arms = _rows(self.placed_arms)
        beyond = np.zeros((len(limbs), 6))
        beyond[:, 0] = [np.linalg.norm(limb.tip) / limb.size for limb in limbs]
        self._beyond = beyond[self.placed_arms]

    def _set_trunk(self, weights: Weights, free: np.ndarray) -> None:
        figure = self._figure
        keys = [(limb.kind, limb.side) for limb in figure.limbs] + ([] if figure.head is None else [("head", "")])
        self.trunk = Trunk(weights, [EFFECTORS.index(key) for key in keys], self.turned.tolist())
        self.spine = [joint for joint in figure.spine if joint >= 0 and free[joint] > 0.0]
        self.turns_chest = bool(self.spine)
        count = len(figure.spine_lines)
        self.fractions = np.arange(1, count + 1) / count
        shares = [1.0 / max(len(self.spine), 1), 1.0]
        self._parts_of_turn = np.concatenate([shares, self.fractions[:-1]])[:, None]
        chest = figure.spine_root + figure.spine_lines.sum(0)
        sides = [limb.side for limb in figure.limbs[: self.arms]]
        self.shoulders = self.signs[: self.arms] * self._limb_roots[: self.arms] - chest
        collars = [figure.collars.get(side) for side in sides]
        self._collars = [
            [] if collar is None else [joint for joint in collar[0] if joint >= 0 and free[joint] > 0.0]
            for collar in collars
        ]  # fmt: skip
        self.collar_lines = np.array([
            limb.root - collar[1] if collar is not None and own else np.zeros(3)
            for limb, collar, own in zip(figure.limbs, collars, self._collars, strict=False)
        ]).reshape(-1, 3)  # fmt: skip
        gain = np.array([[float(bool(own))] for own in self._collars]).reshape(-1, 1)
        self.collar_gain = gain * np.array([0.0, -_COLLAR_FORWARD, _COLLAR_UP])

    def _set_joints(self, free: np.ndarray) -> None:
        """Which joint takes which turn: columns are spine, neck, collars, then upper, lower, end and toes of limbs."""
        figure, limbs, arms = self._figure, self._figure.limbs, self.arms
        count = len(limbs)
        self.first = 2 + arms
        columns = [(joint, 0) for joint in self.spine]
        self.neck = [joint for joint in figure.neck if joint >= 0 and free[joint] > 0.0]
        if figure.head is not None and figure.head.turned:
            columns += [(joint, 1) for joint in self.neck]
        columns += [(joint, 2 + k) for k, own in enumerate(self._collars) for joint in own]
        for k, limb in enumerate(limbs):
            parts = (limb.upper, limb.lower, limb.end, limb.toes)
            columns += [(joint, self.first + part * count + k) for part, joint in enumerate(parts)]
        columns = [(joint, column) for joint, column in columns if joint >= 0 and free[joint] > 0.0]
        self.joints = np.array([joint for joint, _ in columns], dtype=np.intp)
        self.columns = np.array([column for _, column in columns], dtype=np.intp)
        self.mirror = np.ones((self.first + 4 * count, 4))
        sides = np.array([MIRROR if limb.side == "R" else np.ones(4) for limb in limbs])
        self.mirror[2 : self.first] = sides[:arms]
        self.mirror[self.first :] = np.tile(sides, (4, 1))
        self.shares = np.array([1.0 / max(len(own), 1) for own in self._collars]).reshape(-1, 1)
        self._shares_collars = bool((self.shares < 1.0).any())
        self.maps = np.stack([self._map(joint) for joint in self.joints]) if columns else np.zeros((0, 4, 4))

    def _map(self, joint: int) -> np.ndarray:
        """(4, 4) `T` to the joint's motion: `conj(k) T k r`, with `k` the joint's axes in canonical ones at rest."""
        figure = self._figure
        axes = quaternion.product(quaternion.conjugate(figure.axes), figure.before[joint])
        rest = quaternion.relative(figure.before[joint], figure.rest[joint])
        turns = quaternion.product(np.eye(4), quaternion.product(axes, rest))
        return quaternion.product(quaternion.conjugate(axes), turns)

    def _bends(self) -> np.ndarray:
        """(K, 3, 3) from a joint's turn to the part of it that moves the end of its limb nearer or further."""
        figure, count = self._figure, len(self._figure.limbs)
        projections = np.zeros((len(self.joints), 3, 3))
        for k, (joint, column) in enumerate(zip(self.joints.tolist(), self.columns.tolist(), strict=True)):
            part, number = divmod(column - self.first, count)
            if column < self.first:
                continue
            limb = figure.limbs[number]
            if part >= 2:
                continue
            mirror = MIRROR[1:] if limb.side == "R" else 1.0
            axes = quaternion.product(quaternion.conjugate(figure.axes), figure.rest[joint])
            axis = quaternion.rotate(quaternion.conjugate(axes), limb.frames[part][:, 2] * mirror)
            projections[k] = np.outer(axis, axis)
        return projections

    def _served(self, count: int) -> np.ndarray:
        """(E, K) the effector that a joint serves alone."""
        limb_of = np.full(len(self.mirror), -1)
        limb_of[2 : self.first] = np.arange(self.arms)
        limb_of[self.first :] = np.tile(np.arange(len(self._figure.limbs)), 4)
        serves = limb_of[self.columns]
        return (serves == np.arange(count)[:, None])

    def loose_turns(self, motions: np.ndarray) -> np.ndarray:
        """What motions (F, K, 4) have for limbs without rotation, (F, P, 4), as `motions` has it."""
        count = len(self._figure.limbs)
        turns = np.zeros((len(motions), len(self.placed), 4))
        for row, limb in enumerate(self.placed.tolist()):
            end, lower = (self._turn(motions, part * count + limb, limb) for part in (2, 1))
            if end is not None:
                frame = self.end_frames[row]
                turns[:, row, :3] = quaternion.log(quaternion.product(quaternion.relative(frame, end), frame))
            if lower is not None and row in self.eased:
                line = self.back[limb, 0] @ quaternion.to_matrix(lower) @ self.back[limb, 1, 0]
                turns[:, row, 3] = np.arctan2(self.bend[limb] * line[:, 1], line[:, 0])
        return turns

    def _turn(self, motions: np.ndarray, part: int, limb: int) -> np.ndarray | None:
        """The turn (F, 4) of a part of a limb in motions (F, K, 4), read as a left one; None if it is not turned."""
        row = self.row_of(part)
        return None if row < 0 else (motions[:, row] @ self.turn_from(row)) * self.mirror[self.first + limb]

    def row_of(self, part: int) -> int:
        """Which of the K joints a part of a limb is (numbered by parts, then limbs); -1 for none."""
        found = np.flatnonzero(self.columns == self.first + part)
        return int(found[0]) if found.size else -1

    def turn_from(self, row: int) -> np.ndarray:
        """(4, 4) from the motion of one of the K joints to its turn; zeros for -1."""
        return np.linalg.inv(self.maps[row]) if row >= 0 else np.zeros((4, 4))

    # -- evaluation -----------------------------------------------------------------------------------------------

    def features(self, view: View) -> np.ndarray:
        """What is told about all effectors (F, n)."""
        return self.told(view)[0]

    def told(self, view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features (F, n), places of wrists, ankles and head (F, E, 3), and two directions of each (F, E, 2, 3)."""
        turned = quaternion.to_matrix(view.turns)
        ends = view.places - (turned @ self.tips[..., None])[..., 0]
        directions = (turned @ self.frames).swapaxes(-1, -2)
        local = (ends - self.roots) / self.sizes
        each = np.concatenate([local, directions.reshape(*local.shape[:-1], 6)], -1)
        return each.reshape(len(each), -1).take(self.select, 1), ends, directions

    def moved(self, view: View, other: View) -> np.ndarray:
        """How far effectors are from those of another view, squared (F, E): lengths of the limb, and half turns."""
        away = (view.places - other.places) / self.sizes
        turn = (view.turns * other.turns).sum(-1)
        return (away * away).sum(-1) + np.maximum(1.0 - turn * turn, 0.0)  # sin^2 of half the angle

    def within_reach(self, view: View, other: View) -> View:
        """The view with effectors that are far out of reach drawn toward those of another view, at last to them."""
        away = view.places - self.roots
        reach = np.sqrt((away * away).sum(-1, keepdims=True)) / self.sizes
        if (reach <= self.reaches).all():
            return view
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
        features, ends, directions = self.told(view)
        if chest is not None:
            turn = chest
        elif self.turns_chest:
            turn = np.minimum(np.maximum(self.trunk(features), -MOST_TURN), MOST_TURN)
        else:
            turn = np.zeros((len(features), 3))
        frames, arms, count = len(features), self.arms, len(self._figure.limbs)
        turns = np.empty((frames, len(self.mirror), 4))
        turns[:] = quaternion.IDENTITY
        spine, trunk, matrix, place = self.chest(turn)
        if self.turns_chest:
            turns[:, 0] = spine
        if self._figure.head is not None and self.neck:
            neck = quaternion.log(quaternion.relative(trunk, view.turns[:, -1]))
            turns[:, 1] = quaternion.exp(neck / len(self.neck))
        reach, more = self.seen_by_limbs(ends, directions, matrix, place)
        own_ends = view.turns[:, :count] * self.mirror[self.first : self.first + count]
        collars = self._collar(reach[:, :arms])
        collar = quaternion.exp(collars)
        turns[:, 2 : self.first] = quaternion.exp(collars * self.shares) if self._shares_collars else collar
        own_ends[:, :arms] = quaternion.relative(trunk[:, None] * self.mirror[2 : self.first], own_ends[:, :arms])
        reach[:, :arms] -= quaternion.rotate(collar, self.collar_lines) - self.collar_lines
        bones, toes, loose = self._limb_bones(reach, more, own_ends, correction)
        upper, lower = bones[:, :, 0], bones[:, :, 1]
        parts = turns[:, self.first :].reshape(frames, 4, count, 4)
        parts[:, 0, arms:] = upper[:, arms:]
        parts[:, 0, :arms] = quaternion.relative(collar, upper[:, :arms])
        parts[:, 1] = quaternion.relative(upper, lower)
        if self._ends.size == count:
            parts[:, 2] = quaternion.relative(lower, own_ends)
        elif self._ends.size:
            parts[:, 2, self._at_ends] = quaternion.relative(lower[:, self._at_ends], own_ends[:, self._at_ends])
        self._pronate(parts)
        if self.placed.size:
            turn = quaternion.product(quaternion.exp(loose[..., :3]), self._end_frames_back)
            parts[:, 2, self._at_placed] = quaternion.product(self.end_frames, turn)
        if toes is not None:
            parts[:, 2, self._at_toes] = quaternion.product(parts[:, 2, self._at_toes], toes)
            parts[:, 3, self._at_toes] = quaternion.conjugate(toes)
        turns = (turns * self.mirror).take(self.columns, 1)
        return (turns[:, :, None] @ self.maps)[:, :, 0], loose

    def _ease(self, loose: np.ndarray, distance: np.ndarray, correction: np.ndarray | float) -> None:
        """Fit the bends of knees and the turns of feet without rotation to their distances, in `loose` (F, P, 4)."""
        rows, feet, distance = self._at_eased, self._feet, distance[:, self._at_legs]
        turn, bend = loose[:, rows, 2:3], np.maximum(loose[:, rows, 3:], LEAST_BEND)
        bend = limb_geometry.balanced(distance, bend, turn, feet, self._doubt_of_legs)
        if isinstance(correction, np.ndarray):
            bend = bend + correction[:, rows, 3:]
        loose[:, rows, 3:] = bend = np.minimum(
            np.maximum(bend, limb_geometry.LEAST_KNEE), limb_geometry.MOST_KNEE)
        needed, _ = limb_geometry.ankles(distance, bend, feet)
        loose[:, rows, 2:3] = turn + limb_geometry.eased(needed - turn)

    def _pronate(self, parts: np.ndarray) -> None:
        """Give forearms a share of the turns of hands about them, in `parts` (F, 4, L, 4).

        `2 w (xyz . axis)` is the sine of that turn, smaller the more the hand is bent: it fades to 0 at a half turn.
        """
        arms = self._at_turned_arms
        if not self._turned_arms.size:
            return
        hands, axes = parts[:, 2, arms], self._pronated
        turn = quaternion.exp(hands[..., :1] * (hands[..., 1:] * axes).sum(-1, keepdims=True) * axes)
        parts[:, 1, arms] = quaternion.product(parts[:, 1, arms], turn)
        parts[:, 2, arms] = quaternion.relative(turn, hands)

    def chest(self, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of a chest that is turned by (F, 3): the turn (F, 4) of each joint of the spine and its own (F, 4).

        And its matrix (F, 3, 3) and place (F, 3) if the spine's bones share the turn evenly.
        """
        parts = quaternion.exp(turn[:, None] * self._parts_of_turn)
        matrices = quaternion.to_matrix(parts[:, 1:])
        place = self._figure.spine_root + (matrices[:, 1:] @ self._figure.spine_lines[:-1, :, None])[..., 0].sum(1)
        return parts[:, 0], parts[:, 1], matrices[:, 0], place

    def seen_by_limbs(
        self, ends: np.ndarray, directions: np.ndarray, chest: np.ndarray, place: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Places (F, L, 3) of limbs' ends from their roots, and their directions (F, L, 2, 3), read as left ones.

        Arms in the axes of the chest, legs in those of the hips. chest, place : as `chest` has them.
        """
        arms, count = self.arms, len(self._figure.limbs)
        reach, more = ends[:, :count] * self.signs, directions[:, :count] * self.signs[:, None]
        reach[:, arms:] -= self._limb_roots[arms:]
        if arms:
            reach[:, :arms] = ((ends[:, :arms] - place[:, None]) @ chest - self.shoulders) * self.signs[:arms]
            more[:, :arms] = (directions[:, :arms] @ chest[:, None]) * self.signs[:arms, None]
        return reach, more

    def _collar(self, reach: np.ndarray) -> np.ndarray:
        """The collars' turns (F, A, 3): they follow raised and forward wrists."""
        local = np.minimum(np.maximum(reach / self._limb_sizes[: self.arms], -1.0), 1.0)
        return (local - _COLLAR_REST).take(_COLLAR_AXES, -1) * self.collar_gain

    def told_of_limbs(self, reach: np.ndarray, more: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Features (F, L, 13) of limbs, and the distances (F, L, 1) of their ends in lengths of the limb."""
        beyond = more.reshape(*more.shape[:2], 6)
        beyond[:, self._at_placed_arms] = self._beyond
        local = reach / self._limb_sizes
        distance = np.sqrt((local * local).sum(-1, keepdims=True))
        return np.concatenate([local, distance, local / np.maximum(distance, NEAR), beyond], -1), distance

    def _limb_bones(
        self, reach: np.ndarray, more: np.ndarray, ends: np.ndarray, correction: np.ndarray | float
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Turns (F, L, 2, 4) of both bones of limbs against chest or hips, (F, T, 4) from toes to foot.

        And (F, P, 4) of limbs without rotation: the turns of their ends, in the axes of the lower bones, and bends.
        """
        told, distance = self.told_of_limbs(reach, more)
        answer = self.networks(told)
        distance = distance * self._limb_sizes
        hinge, toes = answer[..., :3], None
        if self.on_toes.size:
            own = self._at_toes
            toes, line = quaternion.exp(answer[:, own, 3:6]), self._toe_lines
            reach[:, own] += quaternion.rotate(ends[:, own], line - quaternion.rotate(toes, line))
            distance[:, own] = np.sqrt((reach[:, own] * reach[:, own]).sum(-1, keepdims=True))
        line, part = limb_geometry.line(reach, self._limb_sizes, self.networks.straight)
        hinge = limb_geometry.steady(part * part * hinge, line, self.networks.usual, self.networks.straight)
        loose, lengths = answer[:, self._at_placed, 3:], self._lengths[None]
        lines = np.zeros((0, 3, 3))
        if self.placed.size:
            loose[:, self._at_arms_of_placed] = 0.0
            if self.eased.size:
                self._ease(loose, distance, correction)
            if isinstance(correction, np.ndarray):
                loose[..., :3] += correction[..., :3]
            loose[..., :3] *= self.end_moves
            beyond, lines = limb_geometry.beyond(self.end_tips, quaternion.exp(loose[..., :3]), self._lower_of_placed)
            lengths = np.empty((len(reach), *self._lengths.shape))
            lengths[:] = self._lengths
            lengths[:, self._at_placed, 1:] = beyond
        cosine, sine = limb_geometry.corners(distance, lengths)
        if self.eased.size:
            along, legs = lines[..., 0][:, self._at_eased], self._at_legs
            bend = loose[:, self._at_eased, 3] - np.arctan2(along[..., 1], along[..., 0])
            cosine[:, legs, 0], sine[:, legs, 0] = np.cos(bend), np.sin(bend)
        frames = limb_geometry.triangles(line, cosine, sine, hinge, lengths, self.bend)
        if self.placed.size:
            frames[:, self._at_placed, 1] = frames[:, self._at_placed, 1] @ lines.swapaxes(-1, -2)
        return quaternion.from_matrix(frames @ self.back), toes, loose


def _rows(indices: np.ndarray) -> np.ndarray | slice:
    """Indices as a slice if they follow each other: NumPy takes it in less time."""
    if indices.size and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def _doubt(weights: Weights, name: str) -> float:
    """How much less is known about the bend of a limb's middle joint than about that of its end, squared.

    A share of it: where the leg is nearly straight an error of the foot becomes a large one of the knee.
    """
    middle, end = weights[f"{name}/spread"]
    return _DOUBT * float(middle / end) ** 2


def _turned_back(limb: Limb, frame: np.ndarray) -> np.ndarray:
    """A rest frame (3, 3), that of an arm turned about the bone by the angle of its plane."""
    if limb.kind != "arm":
        return frame
    cosine, sine = np.cos(_ELBOW_TURN), np.sin(_ELBOW_TURN)
    return frame @ np.array([[1.0, 0.0, 0.0], [0.0, cosine, sine], [0.0, -sine, cosine]])
