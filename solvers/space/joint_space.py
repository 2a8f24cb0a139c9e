# SPDX-License-Identifier: GPL-3.0-or-later
"""The degrees of freedom that a solve may move: their columns, their limits, and steps along them.

A state is `(rotations, x)`: joint motions (F, J, 4) and coordinates (F, n). A free ball joint steps by a rotation
vector in its own frame, so it has no singularity and its coordinates stay 0. A limited ball steps in twist-swing
coordinates, in which its limits are a box times an ellipse, both convex (`limits.py`). A hinge's coordinate is its
angle, a slide's its length.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..algebra import arctan2, quaternion, twist_swing
from ..algebra.uniform import SplitMix64
from ..model.limits import FULL_TURN, Range, TwistSwing, project_swing, swing_normal
from ..model.skeleton import Pose, Skeleton
from .unknowns import Unknowns

AT_LIMIT = 1e-6  # [rad or length units] a coordinate within this distance of a limit lies on it


@dataclass
class State:
    """Joint motions `rotations` (F, J, 4) and coordinates `x` (F, n) of F frames."""

    rotations: np.ndarray
    x: np.ndarray

    def take(self, frames: np.ndarray | slice) -> "State":
        """The state of some of the frames."""
        return State(self.rotations[frames], self.x[frames])


class JointSpace:
    """Degrees of freedom of the `movable` (J,) joints of a skeleton.

    stiff : whether joints with stiffness 1, which no solve moves, belong to it.

    Attributes
    ----------
    n : number of degrees of freedom.
    joint : (n,) joint of each degree of freedom. turns : (n,) bool, False for slides.
    units : (n,) 1 [rad], or the skeleton's length for slides.
    moved : joints with degrees of freedom, in order. sliding : those that slide.
    lo, hi : (n,) bounds of the coordinates, infinite where free.
    limited : whether any bound is finite.
    blocks : for each joint, in order, the slice of its degrees of freedom.
    unknowns : those of linear steps where coordinates are coupled exactly; None if none are.
    """

    def __init__(self, skeleton: Skeleton, movable: np.ndarray, stiff: bool = False) -> None:
        self.skeleton = skeleton
        joints: list[int] = []
        columns: list[int] = []
        bounds: list[tuple[float, float]] = []
        balls: list[tuple[int, int]] = []
        ellipses: list[int] = []
        self.blocks: list[slice] = []
        basis = np.tile(np.eye(3), (len(skeleton), 1, 1))
        align = skeleton.align
        coupled = {joint for one in skeleton.couplings for joint in (one.joint, one.leader)}
        for index in map(int, np.flatnonzero(movable & (stiff | (skeleton.stiffness < 1.0)))):
            size, limits = int(skeleton.freedoms[index]), skeleton.joints[index].limits
            if not size:
                continue
            start = len(joints)
            joints += [index] * size
            columns += range(size)
            self.blocks.append(slice(start, start + size))
            if not skeleton.balls[index]:
                basis[index] = 0.0
                basis[index, :, 0] = skeleton.axis[index]
                bounds.append(_bounds(limits, wraps=bool(skeleton.hinges[index])))
                continue
            ball, ellipse = _ball_bounds(limits)
            bounds += ball
            basis[index] = quaternion.to_matrix(align[index])
            if index in coupled or any(math.isfinite(bound) for pair in ball for bound in pair):
                balls.append((index, start))
                basis[index] = basis[index][:, [1, 0, 2]]  # coordinates are twist first, then the swing in X and Z
                if ellipse:
                    ellipses.append(start + 1)
        self.n = len(joints)
        self.joint = np.array(joints, dtype=np.intp)
        self._slot = 3 * self.joint + np.array(columns, dtype=np.intp)
        # if every joint has three degrees of freedom these are the columns in order
        self._whole = len(joints) == 3 * len(skeleton)
        self._basis = basis
        self.turns = ~skeleton.slides[self.joint]
        self.units = np.where(self.turns, 1.0, skeleton.length)
        self.moved, self.sliding = np.unique(self.joint), np.unique(self.joint[~self.turns])
        self._slides = bool(self.sliding.size)
        self.lo, self.hi = np.array(bounds, dtype=float).reshape(-1, 2).T
        self.limited = bool(np.isfinite(self.lo).any() or np.isfinite(self.hi).any())
        self._plain = bool(np.abs(basis - np.eye(3)).max(initial=0.0) < 1e-12)
        self._ball_joint = np.array([joint for joint, _ in balls], dtype=np.intp)
        self._ball_dof = np.array([start for _, start in balls], dtype=np.intp)[:, None] + np.arange(3)
        align = align[self._ball_joint]
        self._align = align if np.abs(align[:, 1:]).max(initial=0.0) > 1e-12 else None
        self._pair_starts = frozenset(ellipses)
        self._pairs = np.array(ellipses, dtype=np.intp)[:, None] + np.arange(2)
        self._angles = np.flatnonzero(skeleton.hinges[self.joint])
        self._lengths = np.flatnonzero(~self.turns)
        self.closed = self.hi <= self.lo
        boxed = np.ones(self.n, dtype=bool)
        boxed[self._pairs] = False
        self._box_lo, self._box_hi = np.where(boxed, self.lo, -np.inf), np.where(boxed, self.hi, np.inf)
        exact = any(one.stiffness == 1.0 and {one.joint, one.leader} <= set(joints) for one in skeleton.couplings)
        self.unknowns = Unknowns(self) if exact else None

    # -- poses ----------------------------------------------------------------------------------------------------

    def state(self, pose: Pose, frames: int = 1) -> State:
        """The state of a pose with (J, 4) or (F, J, 4) rotations, moved to the nearest state inside the limits."""
        rotations, translations = map(np.asarray, pose)
        shape = (frames, len(self.skeleton))
        if rotations.shape[:-1] != shape:
            rotations = np.broadcast_to(rotations, (*shape, 4))
        rotations, x = np.array(rotations, dtype=float), np.zeros((frames, self.n))
        if self._angles.size:
            motions = rotations[:, self.joint[self._angles]]
            x[:, self._angles] = self._hinge_coordinates(motions, self._angles)
        if self._lengths.size:
            joint = self.joint[self._lengths]
            x[:, self._lengths] = (translations[..., joint, :] * self.skeleton.axis[joint]).sum(-1)
        if self._ball_joint.size:
            x[:, self._ball_dof] = self._ball_coordinates(rotations[:, self._ball_joint], slice(None))
        return self._settle(State(quaternion.normalize(rotations), self.project(x)))

    def turned(self, state: State, rotations: np.ndarray) -> State:
        """`state` with other rotations (F, J, 4), brought inside the limits."""
        slides = self.slides(state.x)
        translations = np.zeros((*rotations.shape[:2], 3)) if slides is None else slides
        return self.state(Pose(rotations, translations), len(rotations))

    def slides(self, x: np.ndarray) -> np.ndarray | None:
        """Joint translations (F, J, 3) of coordinates (F, n); None if no joint slides."""
        if not self._slides:
            return None
        slides = np.zeros((len(x), len(self.skeleton), 3))
        joint = self.joint[self._lengths]
        slides[:, joint] = self.skeleton.axis[joint] * x[:, self._lengths, None]
        return slides

    def middle(self, like: State, which: np.ndarray | bool = True) -> State:
        """`like` with every limited coordinate in the middle of its limits: the first restart (Amino).

        which : (n,) bool, the coordinates that go there; all by default.
        """
        bound = np.isfinite(self.lo) & np.isfinite(self.hi) & which
        lo, hi = np.where(bound, self.lo, 0.0), np.where(bound, self.hi, 0.0)
        return self._settle(State(like.rotations.copy(), self.project(np.where(bound, 0.5 * (lo + hi), like.x))))

    def sample(self, random: SplitMix64, like: State) -> State:
        """`like` with all degrees of freedom drawn at random inside their limits.

        Free angles are drawn from the full circle, free slides from the skeleton's size, free balls evenly from all
        rotations (Shoemake 1992, "Uniform random rotations").
        """
        reach = np.where(self.turns, np.pi, self.units)
        lo, hi = np.where(np.isfinite(self.lo), self.lo, -reach), np.where(np.isfinite(self.hi), self.hi, reach)
        drawn = random.uniform(len(like.x), self.n)
        starts = np.array([block.start for block in self.blocks if block.stop - block.start == 3], dtype=np.intp)
        free = starts[~np.isin(starts, self._ball_dof[:, 0])]
        state = State(like.rotations.copy(), lo + (hi - lo) * drawn)
        u, first, second = drawn[:, free], FULL_TURN * drawn[:, free + 1], FULL_TURN * drawn[:, free + 2]
        r, t = np.sqrt(1.0 - u), np.sqrt(u)
        turned = np.stack([t * np.cos(second), r * np.sin(first), r * np.cos(first), t * np.sin(second)], -1)
        state.rotations[:, self.joint[free]] = turned
        state.x[:, free[:, None] + np.arange(3)] = 0.0
        return self._settle(State(state.rotations, self.project(state.x)))

    def near(self, random: SplitMix64, like: State, spread: float) -> State:
        """`like` with all degrees of freedom moved at random, inside their limits, by `spread` at most.

        spread : [rad], for slides [skeleton lengths].
        """
        moved = like.x + spread * self.units * (2.0 * random.uniform(len(like.x), self.n) - 1.0)
        return self.step(like, self.project(moved) - like.x)

    # -- kinematics -----------------------------------------------------------------------------------------------

    def axes(self, state: State, matrices: np.ndarray) -> np.ndarray:
        """World directions of each joint's degrees of freedom, as columns (F, J, 3, 3) (`rows` picks those in use).

        A joint's own axes are columns of its world matrix (F, J, 3, 3); a limited ball's coordinates act through
        `twist_swing.body_jacobian`.
        """
        columns = matrices
        if not self._plain:
            columns = matrices @ (self._rates(state.x, len(matrices)) if self._ball_joint.size else self._basis)
        return columns

    def rows(self, columns: np.ndarray) -> np.ndarray:
        """Rows (F, 3, n) of the degrees of freedom, of per-joint columns (F, J, 3, 3)."""
        rows = columns.transpose(0, 2, 1, 3).reshape(len(columns), 3, -1)
        return rows if self._whole else rows[:, :, self._slot]

    def step(self, state: State, d: np.ndarray) -> State:
        """The state after a step `d` (F, n): added to coordinates, and for free balls a turn in their own frames."""
        if self._whole and self._plain:
            return State(quaternion.product(state.rotations, quaternion.exp(d.reshape(len(d), -1, 3))), state.x)
        turn = np.zeros((len(d), 3 * len(self.skeleton)))
        turn[:, self._slot] = d * self.turns
        turn = turn.reshape(len(d), -1, 3)
        if not self._plain:
            turn = (self._basis @ turn[..., None])[..., 0]
        rotations = quaternion.product(state.rotations, quaternion.exp(turn))
        return self._settle(State(rotations, state.x if self._plain else state.x + d))

    def sizes(self, d: np.ndarray) -> np.ndarray:
        """The sizes (F, n) of a step's components: [rad], or [skeleton lengths] for slides."""
        return np.abs(d / self.units if self._slides else d)

    def difference(self, state: State, other: State) -> np.ndarray:
        """`v` (F, n): rotation vectors, in the joints' frames, and slides from `other` to `state`."""
        v = self.components(quaternion.log(quaternion.relative(other.rotations, state.rotations)))
        if self._lengths.size:
            v[:, self._lengths] = (state.x - other.x)[:, self._lengths]
        return v

    def between(self, state: State, other: State, share: float) -> State:
        """The state at a share of the way from `state` to `other`, inside the limits if both are."""
        turn = quaternion.log(quaternion.relative(state.rotations, other.rotations))
        rotations = quaternion.product(state.rotations, quaternion.exp(share * turn))
        return self._settle(State(rotations, self.project(state.x + share * (other.x - state.x))))

    def components(self, vectors: np.ndarray) -> np.ndarray:
        """Components (F, n), along the degrees of freedom, of vectors (F, J, 3) in the joints' own frames."""
        if not self._plain:
            vectors = (np.swapaxes(self._basis, -1, -2) @ vectors[..., None])[..., 0]
        rows = vectors.reshape(len(vectors), -1)
        return rows if self._whole else rows[:, self._slot]

    def pull_gradient(self, state: State, v: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Gradient (F, n) of `1/2 v^T W v`, `v = difference(state, base)`, for weights `W` (n,), equal within a joint.

        `dv = J_r(v)^-1 dw` for a turn `dw` in the joint's own frame, and `J_r^-T v = v`: the gradient by `dw` is `W v`.
        For a limited ball it is transformed to the ball's coordinates.
        """
        gradient = weight * v
        if self._ball_joint.size:
            own = self._basis[self._ball_joint] @ gradient[:, self._ball_dof][..., None]
            turned = np.swapaxes(self._ball_bodies(state.x), -1, -2) @ own
            gradient[:, self._ball_dof] = turned[..., 0]
        return gradient

    # -- limits ---------------------------------------------------------------------------------------------------

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest coordinates (..., n) inside the limits; those that follow others are where these lead them."""
        if self.unknowns is not None:
            return self.unknowns.coordinates(x)
        if not self.limited:
            return x
        x = np.clip(x, self._box_lo, self._box_hi)
        if self._pairs.size:
            x[..., self._pairs] = project_swing(x[..., self._pairs], self.lo[self._pairs], self.hi[self._pairs])
        return x

    def project_block(self, x: np.ndarray, block: slice) -> np.ndarray:
        """`project` for one joint's coordinates (F, k)."""
        x = np.clip(x, self._box_lo[block], self._box_hi[block])
        if block.start + 1 in self._pair_starts:
            pair = slice(block.start + 1, block.stop)
            x[:, 1:] = project_swing(x[:, 1:], self.lo[pair], self.hi[pair])
        return x

    def nearest(self, block: slice, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`state` for one joint: the nearest motions (F, 4) inside its limits, and their coordinates (F, k).

        motion : of a slide, its translations (F, 3), as in what is returned.
        """
        joint = int(self.joint[block.start])
        if self.skeleton.slides[joint]:
            axis = self.skeleton.axis[joint]
            x = self.project_block((motion * axis).sum(-1, keepdims=True), block)
            return axis * x, x
        if self.skeleton.hinges[joint]:
            x = self.project_block(self._hinge_coordinates(motion[:, None], np.array([block.start])), block)
            return quaternion.exp(self.skeleton.axis[joint] * x), x
        row = np.flatnonzero(self._ball_joint == joint)
        if not row.size:
            return quaternion.normalize(motion), np.zeros((len(motion), 3))
        x = self.project_block(self._ball_coordinates(motion[:, None], row)[:, 0], block)
        return self._ball_motions(x[:, None], row)[:, 0], x

    def is_free(self, block: slice) -> bool:
        """Whether a block belongs to a ball without coordinates, whose axes turn with it."""
        return block.stop - block.start == 3 and block.start not in self._ball_dof[:, 0]

    def normals(self, x: np.ndarray) -> np.ndarray:
        """Outward unit normals (F, pairs, 2) of the swing ellipses that `x` (F, n) lies on; zero inside."""
        return swing_normal(x[:, self._pairs], self.lo[self._pairs], self.hi[self._pairs])

    def block_shapes(self) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """The blocks as flat arrays.

        Per block: `free ball`, `ball` or the joint's kind; basis (B, 9); twist alignment (B, 4); whether it has an
        ellipse (B,).
        """
        joint = np.array([self.joint[block.start] for block in self.blocks], dtype=np.intp)
        limited = set(self._ball_joint.tolist())
        kinds: list[str] = []
        for index in map(int, joint):
            free = self.skeleton.balls[index] and index not in limited
            kinds.append("free ball" if free else self.skeleton.kinds[index])
        ellipse = np.array([block.start + 1 in self._pair_starts for block in self.blocks], dtype=bool)
        return kinds, self._basis[joint].reshape(-1, 9), self.skeleton.align[joint], ellipse

    @property
    def pairs(self) -> np.ndarray:
        """(pairs, 2) degrees of freedom that share a swing ellipse."""
        return self._pairs

    def at_limit(self, x: np.ndarray) -> np.ndarray:
        """Joints (J,) with a coordinate of `x` (n,) on a limit."""
        on = (x <= self.lo + AT_LIMIT) | (x >= self.hi - AT_LIMIT)
        if self._pairs.size:
            normal = swing_normal(x[self._pairs], self.lo[self._pairs], self.hi[self._pairs], AT_LIMIT)
            on[self._pairs[normal.any(-1)]] = True
        joints = np.zeros(len(self.skeleton), dtype=bool)
        joints[self.joint[on & ~self.closed]] = True
        return joints

    # -- inside ---------------------------------------------------------------------------------------------------

    def _nearest_turn(self, angle: np.ndarray, dof: np.ndarray) -> np.ndarray:
        """`angle` plus the full turns that bring it nearest to the middle of its limits."""
        lo, hi = self.lo[dof], self.hi[dof]
        bound = np.isfinite(lo)
        middle = np.where(bound, 0.5 * (np.where(bound, lo, 0.0) + np.where(bound, hi, 0.0)), 0.0)
        return angle + FULL_TURN * np.where(bound, np.round((middle - angle) / FULL_TURN), 0.0)

    def _hinge_coordinates(self, motions: np.ndarray, dof: np.ndarray) -> np.ndarray:
        """Angles (F, K) of hinges' motions (F, K, 4)."""
        angle = 2.0 * arctan2((motions[..., 1:] * self.skeleton.axis[self.joint[dof]]).sum(-1), motions[..., 0])
        return self._nearest_turn(angle, dof)

    def _ball_coordinates(self, motions: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
        """Coordinates (F, K, 3) of some limited balls' motions (F, K, 4)."""
        if self._align is not None:
            align = self._align[rows]
            motions = quaternion.product(quaternion.conjugate(align), quaternion.product(motions, align))
        coordinates = twist_swing.coordinates(motions)
        coordinates[..., 0] = self._nearest_turn(coordinates[..., 0], self._ball_dof[rows, 0])
        return coordinates

    def _ball_motions(self, x: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
        """Motions (F, K, 4) of some limited balls' coordinates (F, K, 3)."""
        motions = twist_swing.compose(x)
        if self._align is not None:
            align = self._align[rows]
            motions = quaternion.product(align, quaternion.product(motions, quaternion.conjugate(align)))
        return motions

    def _ball_bodies(self, x: np.ndarray) -> np.ndarray:
        body = twist_swing.body_jacobian(x[:, self._ball_dof])
        return body if self._align is None else quaternion.to_matrix(self._align) @ body

    def _rates(self, x: np.ndarray, frames: int) -> np.ndarray:
        """Matrices (F, J, 3, 3) from the rates of each joint's coordinates to its angular velocity in its own frame."""
        basis = np.tile(self._basis, (frames, 1, 1, 1))
        basis[:, self._ball_joint] = self._ball_bodies(x)
        return basis

    def _settle(self, state: State) -> State:
        """`state` with the rotations of limited balls and hinges computed from their coordinates, in place."""
        if self._ball_joint.size:
            state.rotations[:, self._ball_joint] = self._ball_motions(state.x[:, self._ball_dof], slice(None))
        if self._angles.size:
            joint = self.joint[self._angles]
            state.rotations[:, joint] = quaternion.exp(self.skeleton.axis[joint] * state.x[:, self._angles, None])
        return state


def _bounds(limits: Range | TwistSwing | None, wraps: bool) -> tuple[float, float]:
    """Coordinate bounds of a hinge or a slide."""
    if not isinstance(limits, Range) or (wraps and limits.hi - limits.lo >= FULL_TURN - 1e-9):
        return -np.inf, np.inf
    return limits.lo, limits.hi


def _ball_bounds(limits: Range | TwistSwing | None) -> tuple[list[tuple[float, float]], bool]:
    """Bounds of twist and swing, and whether the two of the swing share an ellipse (both axes have some width)."""
    free = (-np.inf, np.inf)
    if not isinstance(limits, TwistSwing):
        return [free] * 3, False
    twist = free if limits.twist_free else limits.twist
    if limits.swing_free:
        return [twist, free, free], False
    wide = all(hi > lo for lo, hi in (limits.swing_x, limits.swing_z))
    return [twist, limits.swing_x, limits.swing_z], wide
