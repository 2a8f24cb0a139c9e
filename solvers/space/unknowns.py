# SPDX-License-Identifier: GPL-3.0-or-later
"""The unknowns of a solve whose joints are coupled: a reduction `x = S z + c` between coordinates and unknowns.

Every coordinate that follows another one exactly is a multiple of one unknown, plus an offset. So a coupling holds in
every solver that takes a linear step, and makes its problem smaller: the Jacobian is `J S`, the pull's gradient `S^T
g`. Each column of `S` belongs to one unknown and its followers alone, so `S^T D S` is diagonal like `D`.

An unknown's limits are cut to those of its followers, and coupled turns that are free keep to half a turn. A swing
that follows another one, axis by axis, cuts its ellipse to one inside both. Where one axis of an elliptic swing is
coupled alone, a box inside the ellipse takes its place.
"""

from typing import Protocol

import numpy as np

from ..algebra import by_row
from ..model.coupling import coordinate
from ..model.errors import InvalidSkeleton
from ..model.limits import project_swing, swing_normal
from ..model.skeleton import Skeleton

COUPLED_SHARE = 0.95  # of the range of an axis that is coupled alone; the other axis keeps what the ellipse leaves
BOTH_SHARE = 0.5**0.5  # of both ranges, where the two axes follow different joints

SWING = BOTH_SHARE * np.pi  # [rad] of each axis of a swing that is free: half a turn of both


class Coordinates(Protocol):
    """The coordinates of joints before they are reduced; see `JointSpace`."""

    skeleton: Skeleton
    n: int
    joint: np.ndarray
    turns: np.ndarray
    units: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    blocks: list[slice]

    @property
    def pairs(self) -> np.ndarray:
        """(pairs, 2) that share a swing ellipse."""
        ...


class Unknowns:
    """What a linear step needs to know of a `JointSpace` whose coordinates are coupled: the same, for the unknowns.

    Attributes
    ----------
    name : of this reduction of coordinates.
    n : number k of unknowns. keep : (k,) their coordinates. matrix : (n, k) S. constant : (n,) c.
    unknown : (n,) the one that each coordinate follows. factor : (n,) the only entry of each row of S.
    lo, hi, units, turns, closed, limited, pairs, blocks, joint : as in `JointSpace`, of the unknowns.
    """

    name = "coupling"

    def __init__(self, space: Coordinates) -> None:
        skeleton, n = space.skeleton, space.n
        leader, factor, constant = _relations(skeleton, space)
        self.keep = np.flatnonzero(leader == np.arange(n))
        at = np.full(n, -1, dtype=np.intp)
        at[self.keep] = np.arange(len(self.keep))
        self.n, self.unknown, self.factor, self.constant = len(self.keep), at[leader], factor, constant
        self.matrix = np.zeros((n, self.n))
        self.matrix[np.arange(n), self.unknown] = factor
        lo, hi, pairs = _in_boxes(space, leader, constant)
        self.lo, self.hi = lo[self.keep].copy(), hi[self.keep].copy()
        for k in np.flatnonzero(leader != np.arange(n)):
            own, room = at[leader[k]], np.array([lo[k], hi[k]]) - constant[k]
            if factor[k]:
                ends = np.sort(room / factor[k])
            else:
                ends = np.array([-np.inf, np.inf]) if room[0] <= 0.0 <= room[1] else np.array([np.inf, -np.inf])
            self.lo[own], self.hi[own] = max(self.lo[own], ends[0]), min(self.hi[own], ends[1])
        empty = np.flatnonzero(self.lo > self.hi)
        if empty.size:
            name = skeleton.names[int(space.joint[self.keep[empty[0]]])]
            raise InvalidSkeleton(
                f"joint {name!r}: its limits and those of the joints coupled to it leave no room; widen one of them"
            )
        self.joint, self.turns, self.units = space.joint[self.keep], space.turns[self.keep], space.units[self.keep]
        self.closed = self.hi <= self.lo
        self.limited = bool(np.isfinite(self.lo).any() or np.isfinite(self.hi).any())
        self.pairs = np.array([at[pair] for pair in pairs], dtype=np.intp).reshape(-1, 2)
        kept = [at[block][at[block] >= 0] for block in space.blocks]
        self.blocks = [slice(int(own[0]), int(own[-1]) + 1) for own in kept if own.size]
        boxed = np.ones(self.n, dtype=bool)
        boxed[self.pairs] = False
        self._box_lo, self._box_hi = np.where(boxed, self.lo, -np.inf), np.where(boxed, self.hi, np.inf)

    def expand(self, d: np.ndarray) -> np.ndarray:
        """The step (F, n) of all coordinates for a step (F, k) of the unknowns."""
        return by_row(d, self.matrix.T)

    def coordinates(self, x: np.ndarray) -> np.ndarray:
        """The coordinates (..., n) inside the limits that the leaders in `x` (..., n) lead to."""
        return by_row(self.project(x[..., self.keep]), self.matrix.T) + self.constant

    def reluctance(self, d: np.ndarray) -> np.ndarray:
        """The diagonal (k,) of `S^T D S` for a reluctance `D` (n,)."""
        return (self.matrix * self.matrix).T @ d

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest unknowns (..., k) inside the limits."""
        x = np.clip(x, self._box_lo, self._box_hi)
        if self.pairs.size:
            x[..., self.pairs] = project_swing(x[..., self.pairs], self.lo[self.pairs], self.hi[self.pairs])
        return x

    def project_block(self, x: np.ndarray, block: slice) -> np.ndarray:
        """`project` for one joint's unknowns (F, b)."""
        x = np.clip(x, self._box_lo[block], self._box_hi[block])
        for pair in self.pairs[(self.pairs[:, 0] >= block.start) & (self.pairs[:, 0] < block.stop)]:
            own = pair - block.start
            x[:, own] = project_swing(x[:, own], self.lo[pair], self.hi[pair])
        return x

    def normals(self, x: np.ndarray) -> np.ndarray:
        """Outward unit normals (F, pairs, 2) of the swing ellipses that `x` (F, k) lies on; zero inside."""
        return swing_normal(x[:, self.pairs], self.lo[self.pairs], self.hi[self.pairs])

    def sizes(self, d: np.ndarray) -> np.ndarray:
        """The sizes (F, k) of a step's components: [rad], or [skeleton lengths] for slides."""
        return np.abs(d / self.units)


def _relations(skeleton: Skeleton, space: Coordinates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each coordinate its unknown's coordinate (n,), and factor and offset (n,) of what it is of that."""
    starts = {int(space.joint[block.start]): block.start for block in space.blocks}
    leader, factor, constant = np.arange(space.n), np.ones(space.n), np.zeros(space.n)
    for one in skeleton.couplings:
        if one.stiffness == 1.0 and one.joint in starts and one.leader in starts:
            ends = (coordinate(skeleton, *pair) for pair in ((one.joint, one.axis), (one.leader, one.leader_axis)))
            own, other = (starts[joint] + number for joint, number in ends)
            leader[own], factor[own], constant[own] = other, one.factor, one.offset
    for _ in range(space.n):  # a follower of a follower follows the first
        if (leader[leader] == leader).all():
            break
        leader, factor, constant = leader[leader], factor * factor[leader], factor * constant[leader] + constant
    return leader, factor, constant


def _in_boxes(
    space: Coordinates, leader: np.ndarray, constant: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Bounds (n,) of the coordinates, and the pairs of unknowns that keep an ellipse.

    An ellipse stays where nothing follows it, or where all is centred on no swing; those that follow axis by axis only
    make it smaller.
    """
    lo, hi = space.lo.copy(), space.hi.copy()
    follows = leader != np.arange(space.n)
    _bound_turns(space, follows | np.isin(np.arange(space.n), leader[follows]), lo, hi)
    centred = (lo <= 0.0) & (hi >= 0.0) & (constant == 0.0)

    def keeps(pair: np.ndarray) -> bool:
        """Whether a pair of unknowns keeps its ellipse."""
        behind = follows & np.isin(leader, pair)
        return not behind.any() or bool(centred[pair].all() and centred[behind].all())

    whole = {tuple(pair.tolist()) for pair in space.pairs if not follows[pair].any() and keeps(pair)}
    for pair in space.pairs:
        above = tuple(sorted(leader[pair].tolist()))
        if (above in whole) if follows[pair].all() else (tuple(pair.tolist()) in whole):
            continue
        share = np.full(2, BOTH_SHARE)
        if follows[pair].sum() == 1:
            share = np.where(follows[pair], COUPLED_SHARE, np.sqrt(1.0 - COUPLED_SHARE**2))
        _inscribe(lo, hi, pair, share)
    return lo, hi, [np.array(pair, dtype=np.intp) for pair in sorted(whole)]


def _bound_turns(space: Coordinates, coupled: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
    """Bound coupled turns (n,) that are free by half a turn, in place.

    A pose does not tell how often a joint has gone round, and a follower would not know how far to go.
    """
    for block in space.blocks:
        for first, last, most in ((block.start, block.start + 1, np.pi), (block.start + 1, block.stop, SWING)):
            some = np.arange(first, last, dtype=np.intp)
            free = some[space.turns[some] & ~np.isfinite(lo[some])]
            if coupled[some].any():
                lo[free], hi[free] = -most, most


def _inscribe(lo: np.ndarray, hi: np.ndarray, pair: np.ndarray, share: np.ndarray) -> None:
    """Shrink a pair's bounds to a box inside its ellipse, in place. share : (2,) with squares that add to 1."""
    centre = np.clip(0.0, lo[pair], hi[pair])
    lo[pair], hi[pair] = centre + share * (lo[pair] - centre), centre + share * (hi[pair] - centre)
