# SPDX-License-Identifier: GPL-3.0-or-later
"""Acceleration of a motion's joints, and their closeness to another motion: costs, gradients and Hessians.

    1/2 w |a|^2,  a_f = v_(f+1) - v_f,   v_f = log(R_f^-1 R_(f+1))          acceleration of a joint
    1/2 w |a|^2,  a_f = c_(f+2) - 2 c_(f+1) + c_f,   c_f = log(S_f^-1 R_f)   of its correction to a motion S
    1/2 u h^2 log(1 + |c_f|^2 / h^2)                                         closeness to S (Cauchy's robust loss)

The last is quadratic while the correction `c` is small, and hardly grows beyond `h`, so that a pop in `S` is not
followed. A turn `d` of a joint in its own frame changes `log(A^-1 R)` by `J_r^-1 d`, and by `-J_l^-1 d` if it turns `A`
(Sola 2018, eq. 144 and 146). A slide by the skeleton's length counts as a turn by 1 rad.
"""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from ..compiled.clip import CompiledStage
from ..space.joint_space import JointSpace, State

FAR = 0.5  # [rad] h
AT_ONCE = 512  # frames, whose turns are held in memory


class Terms(NamedTuple):
    """Gradient and Hessian of a cost over F frames, by joint: K joints with slots for three degrees of freedom each."""

    gradient: np.ndarray  # (F, K, 3)
    diagonal: np.ndarray  # (F, K, 3, 3) blocks (f, f)
    first: np.ndarray  # (F - 1, K, 3, 3) blocks (f + 1, f)
    second: np.ndarray  # (F - 2, K, 3, 3) blocks (f + 2, f)


class Smoothness:
    """Acceleration and closeness of the joints that a space moves.

    Attributes
    ----------
    weight : w [1 / rad^2 per frame^4]. near : (K,) u [1 / rad^2] of each joint. corrects : whether the acceleration is
        that of the correction. base : (F) the motion S.
    """

    def __init__(
        self, space: JointSpace, weight: float, near: np.ndarray, corrects: bool, base: State,
        compiled: CompiledStage | None = None,
    ) -> None:  # fmt: skip
        """`near` (n,), equal within a joint. compiled : the stage of the space for the kernel."""
        self.space, self.weight, self.corrects, self.base, self._compiled = space, weight, corrects, base, compiled
        self._joints = space.moved
        self._slides = space.skeleton.slides[self._joints]
        self._scale = 1.0 / space.skeleton.length  # of a slide
        self.near = near[np.searchsorted(space.joint, self._joints)]
        self.near = np.where(self._slides, self.near / self._scale**2, self.near)
        self._numbers = corrects, weight, FAR, self.near
        joint = np.searchsorted(self._joints, space.joint)
        column = np.arange(space.n) - np.array([block.start for block in space.blocks], dtype=np.intp)[joint]
        self._slot = 3 * joint + column
        self._rows, self._columns = np.nonzero(joint[:, None] == joint)
        self._entries = joint[self._rows], column[self._rows], column[self._columns]

    def nearer(self, times: float) -> "Smoothness":
        """The same, so many times as close to S."""
        other = copy(self)
        other.near = times * self.near
        other._numbers = self.corrects, self.weight, FAR, other.near
        return other

    def about(self, base: State) -> "Smoothness":
        """The same about another motion."""
        other = copy(self)
        other.base = base
        return other

    def part(self, frames: slice) -> "Smoothness":
        """See `Term`."""
        return self.about(self.base.take(frames))

    def steps(self, state: State, other: State) -> np.ndarray:
        """Rotation vectors (F, K, 3) from the joints of one state to those of another; scaled vectors for slides."""
        joints, slides = self._joints, self._slides
        v = quaternion.log(quaternion.relative(state.rotations[:, joints], other.rotations[:, joints]))
        if slides.any():
            ends = [self.space.slides(one.x) for one in (state, other)]
            begin, end = (np.zeros((len(v), 0, 3)) if one is None else one[:, joints[slides]] for one in ends)
            v[:, slides] = self._scale * (end - begin)
        return v

    def accelerations(self, state: State) -> np.ndarray:
        """`a` (F - 2, K, 3); none for fewer than three frames."""
        if self.corrects:
            c = self.steps(self.base, state)
            return c[2:] - 2.0 * c[1:-1] + c[:-2]
        v = self.steps(state.take(slice(0, -1)), state.take(slice(1, None)))
        return v[1:] - v[:-1]

    def acceleration(self, state: State) -> float:
        """The cost of the accelerations of all frames."""
        total = 0.0
        for begin in range(0, len(state.x), AT_ONCE):
            some = slice(begin, begin + AT_ONCE + 2)
            a = self.part(some).accelerations(state.take(some))
            total += float((a * a).sum())
        return 0.5 * self.weight * total

    def cost(self, state: State) -> float:
        """See `Term`."""
        if self._compiled is not None:
            return self._compiled.smoothness(self._numbers, state, self.base)
        return self.acceleration(state) + float(self.distance(state).sum())

    def distance(self, state: State) -> np.ndarray:
        """The costs (F, K) of the joints' distances from S."""
        c = self.steps(self.base, state)
        return 0.5 * self.near * FAR * FAR * np.log1p((c * c).sum(-1) / (FAR * FAR))

    def add(self, state: State, gradient: np.ndarray, blocks: Sequence[np.ndarray]) -> None:
        """See `Term`."""
        if self._compiled is not None:
            self._compiled.smoothness(self._numbers, state, self.base, (gradient, *blocks))
            return
        terms = self.terms(state)
        self.put(gradient, slice(None), terms.gradient)
        for block, part in zip(blocks, terms[1:], strict=True):
            self.put_blocks(block, slice(None), part)

    def put(self, gradient: np.ndarray, frames: np.ndarray | slice, own: np.ndarray) -> None:
        """Add gradients (F, K, 3) of joints to those (F, n) of the space in some frames."""
        gradient[frames] += own.reshape(len(own), -1)[:, self._slot]

    def put_blocks(self, blocks: np.ndarray, frames: np.ndarray | slice, own: np.ndarray) -> None:
        """Add blocks (F, K, 3, 3) of joints to those (F, n, n) of the space in some frames."""
        joint, row, column = self._entries
        some = np.arange(len(blocks))[frames]
        blocks[some[:, None], self._rows, self._columns] += own[:, joint, row, column]

    def terms(self, state: State) -> Terms:
        """Gradient and Gauss-Newton Hessian by the degrees of freedom."""
        c = self.steps(self.base, state)
        frames, count = c.shape[:2]
        rates = self.rates(state)
        # J_r^-1, the transpose of J_l^-1, leaves c as it is: it matters to the Hessian alone, and hardly for a motion
        turned = np.swapaxes(self.inverse(c), -1, -2) @ rates if self.corrects else rates
        share = self.near / (1.0 + (c * c).sum(-1) / (FAR * FAR))
        terms = Terms(
            share[..., None] * _by(turned, c), share[..., None, None] * (np.swapaxes(turned, -1, -2) @ turned),
            np.zeros((max(frames - 1, 0), count, 3, 3)), np.zeros((max(frames - 2, 0), count, 3, 3)),
        )  # fmt: skip
        if frames < 3:
            return terms
        if self.corrects:
            a, rates, left = c[2:] - 2.0 * c[1:-1] + c[:-2], turned, None
        else:
            v = self.steps(state.take(slice(0, -1)), state.take(slice(1, None)))
            a, left = v[1:] - v[:-1], self.inverse(v)
        add_accelerations(self.weight, a, rates, left, terms)
        return terms

    def rates(self, state: State) -> np.ndarray:
        """Turns (F, K, 3, 3) of the joints in their own frames, by the rates of their degrees of freedom."""
        eye = np.broadcast_to(np.eye(3), (*state.rotations.shape[:2], 3, 3))
        rates = np.array(self.space.axes(state, eye)[:, self._joints], order="C")  # so that terms are too
        rates[:, self._slides] *= self._scale
        return rates

    def inverse(self, v: np.ndarray) -> np.ndarray:
        """`J_l^-1` (..., 3, 3) of steps (..., K, 3); the identity for slides."""
        return quaternion.left_jacobian_inverse(np.where(self._slides[:, None], 0.0, v))


def add_accelerations(
    weight: float, accelerations: np.ndarray, rates: np.ndarray, left: np.ndarray | None, terms: Terms
) -> None:  # fmt: skip
    """Add the terms of accelerations (F - 2, K, 3) of K joints, or of other K things whose second differences cost.

    rates : (F, K, 3, 3) turns of the joints by their degrees of freedom, or of corrections. Of other things, which all
        n degrees of freedom may move, (F, K, 3, n), and `terms` as large.
    left : (F - 1, K, 3, 3) `J_l^-1` of the steps; None for corrections.
    """
    frames = len(rates)
    if left is None:
        parts = rates[:-2], -2.0 * rates[1:-1], rates[2:]
    else:
        right = np.swapaxes(left, -1, -2)
        parts = left[:-1] @ rates[:-2], -(right[:-1] + left[1:]) @ rates[1:-1], right[1:] @ rates[2:]
    for at, part in enumerate(parts):
        flipped = np.swapaxes(part, -1, -2)
        terms.gradient[at : at + frames - 2] += weight * _by(part, accelerations)
        terms.diagonal[at : at + frames - 2] += weight * (flipped @ part)
        if at:
            terms.first[at - 1 : at + frames - 3] += weight * (flipped @ parts[at - 1])
    terms.second[:] += weight * (np.swapaxes(parts[2], -1, -2) @ parts[0])


def _by(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """`M^T v` (..., 3)."""
    return (np.swapaxes(matrices, -1, -2) @ vectors[..., None])[..., 0]
