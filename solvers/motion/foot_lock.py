# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that slide are planted, and knees that rest: where the ankles go, how the hips give, and how the legs reach.

Each stance has one place: heel and ball stand where they were in the mean, and the foot turns about the one that stands
while it rolls. What is sought is the correction of the hips, `c`, and of each ankle against them, `e`: on contacts
`c + e` is exact, elsewhere it fades. The cost is the acceleration of the corrections and of the change of the knees,
and their size. The change of a knee is large for a leg that is almost straight, so the hips give where a knee would
pop. Away from contacts the size of `e` costs so much that the leg is as it was. A knee that rests has one place too,
from which the hip and the ankle keep their distances (`kneeling`). Legs whose feet shake on the ground are steadied
before.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from . import banded, fine_time, kneeling
from .contacts import lengths, runs, smooth, width

_FADE = 3.0 / 30.0  # seconds: half of the time in which a correction fades
_BEND = 1.8 / 30.0  # seconds: the same of a knee's change; longer, and noise of straight knees leads the hips
_NEAR, _FAR = 3.0 / 30.0, 7.0 / 30.0  # seconds from a contact: the leg's corrections cost more, and cannot be
_HIPS, _ANKLE = 3.0, 1.0  # costs of a correction's square [leg lengths] against that of a knee [rad]
_GIVE = 0.3  # the share of its cost that a steady move of the hips has, so that legs do not lean instead
_EXACT = 1e6
_STEADY = 3e-3  # leg lengths: a foot that shakes more on the ground does so by noise
_HANDS_OVER = 4  # times of the fine grid: so soon after a heel a ball belongs to the same stance
_STILL = 5e-4  # leg lengths a frame: what moves less does not move
_SECOND = (1.0, -2.0, 1.0)  # a second difference
_STRAIGHT = 0.08  # sine of the bend below which a knee counts as so much bent
_BLEND = 0.2  # sine of the bend from which on a knee's own plane decides more than the mean one
_ROUNDS = 8
_LEAST = 1e-12
_UP = np.array([0.0, 0.0, 1.0])


class Leg(NamedTuple):
    """The world motion of a leg over F frames.

    hip, knee, ankle : (F, 3). turns : (F, 3, 4) of thigh, shin and foot. heel, ball : (3,) in the foot's frame, in the
    unit of the places.
    """

    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray
    turns: np.ndarray
    heel: np.ndarray
    ball: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """The places (F, 2, 3) of heel and ball."""
        foot = self.turns[:, 2]
        return np.stack([self.ankle + quaternion.rotate(foot, point) for point in (self.heel, self.ball)], 1)

    @property
    def length(self) -> float:
        """From hip to ankle along the bones."""
        return float(np.median(lengths(self.knee - self.hip) + lengths(self.ankle - self.knee)))


class LegWay(NamedTuple):
    """What of a leg's motion its corrections depend on, at the G times of the fine grid.

    hip, knee, ankle : (G, 3). foot : (G, 4), its turns. points : (G, 2, 3) of heel and ball. marks : (2, 3), these in
    the foot's frame. upper, lower : (G,), the lengths of thigh and shin. length : of the leg.
    """

    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray
    foot: np.ndarray
    points: np.ndarray
    marks: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    length: float

    @classmethod
    def of(
        cls, leg: Leg, contacts: np.ndarray, count: int, rate: float, steadies: bool = True
    ) -> "tuple[LegWay, Leg]":  # fmt: skip
        """Of a leg whose frames are every `count`th time of contacts (G, 2), and the leg.

        steadies : whether both are without their shake.
        """
        fine = _finer(leg, count)
        points = fine_time.finer(leg.points, count, _STILL * leg.length)
        even = _steadied(fine, points, contacts, rate) if steadies else fine
        points += even.points - fine.points
        turns = fine_time.finer_turns(leg.turns[:, 2], count, _STILL)
        foot = quaternion.product(quaternion.product(even.turns[:, 2], quaternion.conjugate(fine.turns[:, 2])), turns)
        upper, lower = lengths(even.knee - even.hip), lengths(even.ankle - even.knee)
        marks = np.stack([leg.heel, leg.ball])
        way = cls(even.hip, even.knee, even.ankle, foot, points, marks, upper, lower, leg.length)
        every = slice(None, None, count)
        return way, leg._replace(knee=even.knee[every], ankle=even.ankle[every], turns=even.turns[every])


class Planted(NamedTuple):
    """The answer: moves (F, 3) of the hips, and world turns (F, 3, 4) of thigh, shin and foot of each leg."""

    hips: np.ndarray
    turns: list[np.ndarray]


def plant_feet(
    legs: Sequence[Leg], contacts: Sequence[np.ndarray], rate: float, heights: Sequence[np.ndarray | None] = (),
    kept: Sequence[int] = (), hips: np.ndarray | None = None, hips_cost: float = 1.0,
) -> Planted:  # fmt: skip
    """Plant the feet of legs on their contacts (G, 2) bool, of heel and ball, on the fine grid (see `find_contacts`).

    Contacts (G, 3) are of the knee too. rate : frames a second. heights : (F, 2 or 3) of the first legs, how high heel,
    ball and knee stand; by default as in the mean. An arm that holds on to a thing is such a leg too: shoulder, elbow,
    wrist and hand. kept : frames on which nothing moves. A stance stands where it stands on those that it has, and goes
    from one to the next if these differ. hips : (G, 3), by how much the hips move where that is known; else NaN.
    hips_cost : how many times the usual their moves cost: with more, knees bend more in their stead.
    """
    count, frames = fine_time.steps(rate), np.asarray(kept, dtype=int)
    rate, at = rate * count, count * frames
    both = [LegWay.of(leg, own[:, :2], count, rate, not len(at)) for leg, own in zip(legs, contacts, strict=True)]
    ways, even = [way for way, _ in both], [leg for _, leg in both]
    finer = [None if own is None else fine_time.finer_heights(own, count) for own in heights]
    known = [*finer, *(None for _ in legs[len(heights):])]
    costs = [cost_away(own, rate) for own in contacts]
    wanted = [_wanted(*each, rate, at) for each in zip(ways, contacts, known, costs, strict=True)]
    knees = [knee for *_, knee in wanted]
    held = np.full(knees[0].shape, np.nan) if hips is None else hips.copy()
    held[at] = 0.0
    given, moves = _corrections(ways, [move for _, move, _ in wanted], knees, held, costs, rate, hips_cost)
    given[at] = 0.0
    turns = [_reached(leg, move[::count], foot[::count])
             for leg, (foot, *_), move in zip(even, wanted, moves, strict=True)]  # fmt: skip
    for number, (leg, knee, cost) in enumerate(zip(even, knees, costs, strict=True)):
        if not np.isnan(knee).all():
            against = (knee - given)[::count]
            turns[number] = _swivelled(leg, turns[number], moves[number][::count], against, cost[::count], rate / count)
    for leg, turned in zip(legs, turns, strict=True):
        turned[frames] = leg.turns[frames]
    return Planted(given[::count], turns)


def raise_feet(leg: Leg, ground: np.ndarray, rate: float, kept: Sequence[int]) -> np.ndarray:
    """The turns (F, 3, 4) of a leg whose heel and ball are nowhere below the ground at heights (F,).

    The ankle rises, and the foot stays turned as it is; before and after, what it rises fades in a tenth of a second.
    kept : frames that stay as they are. rate : frames a second.
    """
    below = ground - leg.points[..., 2].min(1)
    below[kept] = 0.0
    if not (below > 0.0).any():
        return leg.turns
    wanted = np.where(below > 0.0, below, np.nan)
    wanted[kept] = 0.0
    rise = np.maximum(faded(wanted[:, None], np.ones(len(below)), rate), 0.0)
    turns = _reached(leg, rise * _UP, leg.turns[:, 2])
    turns[kept] = leg.turns[kept]
    return turns


def bends(leg: Leg) -> np.ndarray:
    """The angle (F,) between thigh and shin [rad], 0 for a straight leg."""
    upper, lower = leg.knee - leg.hip, leg.ankle - leg.knee
    return np.arctan2(lengths(quaternion.cross(upper, lower)), (upper * lower).sum(-1))


def _finer(leg: Leg, count: int) -> Leg:
    """The motion of a leg on the fine grid; its bones keep their lengths."""
    turns, joints = fine_time.finer_turns(leg.turns, count), [fine_time.finer(leg.hip, count)]
    for bone, line in enumerate((leg.knee - leg.hip, leg.ankle - leg.knee)):
        own = quaternion.rotate(quaternion.conjugate(leg.turns[:, bone]), line)
        joints.append(joints[-1] + quaternion.rotate(turns[:, bone], fine_time.finer(own, count)))
    return leg._replace(hip=joints[0], knee=joints[1], ankle=joints[2], turns=turns)


# -- legs that shake ---------------------------------------------------------------------------------------------------


def _steadied(leg: Leg, points: np.ndarray, contacts: np.ndarray, rate: float) -> Leg:
    """The leg without its shake on contacts (G, 2), as far as that is noise: as its points (G, 2, 3) shake there."""
    stands = [points[begin:end, k] for k in (0, 1) for begin, end in runs(contacts[:, k])]
    off = [_shake(places, rate) for places in stands if len(places) > 2 * width(rate)]
    noise = sum(float((one**2).sum()) for one in off) / max(contacts.sum(), 1) / leg.length**2
    share = contacts.any(-1) * noise / (noise + _STEADY**2)
    turns = fine_time.one_sign(leg.turns)
    turns = quaternion.normalize(turns - share[:, None, None] * _shake(turns, rate))
    more = quaternion.product(turns, quaternion.conjugate(leg.turns))
    knee = leg.hip + quaternion.rotate(more[:, 0], leg.knee - leg.hip)
    return leg._replace(knee=knee, ankle=knee + quaternion.rotate(more[:, 1], leg.ankle - leg.knee), turns=turns)


def _shake(values: np.ndarray, rate: float) -> np.ndarray:
    """Differences of values (F, ...) from their own means over some frames."""
    return values - smooth(smooth(values, width(rate)), width(rate))


# -- where feet stand --------------------------------------------------------------------------------------------------


def _wanted(
    way: LegWay, contacts: np.ndarray, heights: np.ndarray | None, cost: np.ndarray, rate: float, kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The turns (G, 4) of a foot, by how much (G, 3) its ankle has to move, and the places (G, 3) of its knee.

    NaN where the foot stands, or the knee rests, on nothing.
    """
    rests, contacts = np.asarray(contacts[:, 2:].any(-1)), contacts[:, :2]
    of_foot = None if heights is None else heights[:, :2]
    places = stances(way.points, contacts, of_foot)
    if len(kept):
        places = _anchored(way.points, contacts, places, kept)
    flat = contacts.all(-1)
    apart = quaternion.rotate(way.foot, np.broadcast_to(way.marks[1] - way.marks[0], way.ankle.shape))
    turned = np.full(way.ankle.shape, np.nan)
    turned[flat] = quaternion.log(quaternion.between(apart[flat], (places[:, 1] - places[:, 0])[flat]))
    turned[kept] = 0.0
    foot = quaternion.product(quaternion.exp(faded(turned, cost, rate)), way.foot)
    aside = (quaternion.rotate(foot[:, None], way.marks) - quaternion.rotate(way.foot[:, None], way.marks))
    moves, counts = places - way.points - aside, contacts.sum(-1)
    found = np.where(contacts[..., None], moves, 0.0).sum(1) / np.where(counts > 0, counts, np.nan)[:, None]
    found[kept] = 0.0
    if not rests.any():
        return foot, found, np.full(way.ankle.shape, np.nan)
    knee = kneeling.resting(way.knee, rests, found, None if heights is None else heights[:, 2])
    foot, move = _below(way, foot, knee, found, _pivots(places, contacts), cost, rate)
    return foot, move, knee


def _below(
    way: LegWay, foot: np.ndarray, knee: np.ndarray, stands: np.ndarray, pivot: np.ndarray, cost: np.ndarray,
    rate: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The turns (G, 4) of a foot and the moves (G, 3) of its ankle with the knee at places (G, 3) where it rests.

    stands : (G, 3), by how much the ankle moves for a foot alone that stands, NaN elsewhere. pivot : (G, 3), the point
    of such a foot. A foot that does not stand goes along with the shin under a knee that rests; one that stands turns
    about its pivot as far as the shin's length asks it to, and back where the knee rests no more.
    """
    along = knee - way.knee
    off = faded(stands - along, cost, rate)
    aim, standing = way.ankle + along + off, way.ankle + stands
    apart = lengths(standing - pivot)
    ankle = np.where(np.isnan(stands), kneeling.below(knee, aim, way.lower),
                     kneeling.between(knee, way.lower, pivot, apart, aim))  # fmt: skip
    gives = faded(ankle - standing, cost, rate)
    ankle = np.where(np.isnan(knee), kneeling.below(pivot, standing + gives, apart), ankle)
    turned = quaternion.log(quaternion.between(standing - pivot, ankle - pivot))
    return quaternion.product(quaternion.exp(faded(turned, cost, rate)), foot), ankle - way.ankle


def _pivots(places: np.ndarray, contacts: np.ndarray) -> np.ndarray:
    """The points (G, 3) about which a foot turns under a knee that rests: its heel only where its ball never stands.

    places : (G, 2, 3) of heel and ball on contacts (G, 2), which begin and end a little apart: the foot has one pivot.
    """
    found = places[:, 0].copy()
    for begin, end in runs(contacts[:, 0] | contacts[:, 1]):
        balls = begin + np.flatnonzero(contacts[begin:end, 1])
        if len(balls):
            nearest = np.abs(np.arange(begin, end)[:, None] - balls).argmin(1)
            found[begin:end] = places[balls[nearest], 1]
    return found


def _anchored(points: np.ndarray, contacts: np.ndarray, places: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The places (G, 2, 3) of stances that keep those of heel and ball (G, 2, 3) at some times."""
    found = places.copy()
    for k in (0, 1):
        for begin, end in runs(contacts[:, k]):
            own = kept[(kept >= begin) & (kept < end)]
            if len(own):
                for axis in range(3):
                    found[begin:end, k, axis] = np.interp(np.arange(begin, end), own, points[own, k, axis])
    return found


def stances(points: np.ndarray, contacts: np.ndarray, heights: np.ndarray | None) -> np.ndarray:
    """The places (F, 2, 3) of heel and ball of a foot on their contacts (F, 2); NaN elsewhere.

    Contacts of the two that overlap are one stance: they stand apart as they do in the mean over the overlap, in length
    too, and the whole is where it was in the mean. heights : (F, 2), as high as both stand, if known.
    """
    wanted = np.full(points.shape, np.nan)
    stance: list[tuple[int, int, int, np.ndarray]] = []  # first frame, end, point, place
    aims = points if heights is None else np.concatenate([points[..., :2], heights[..., None]], -1)

    def settle() -> None:
        total = sum(end - begin for begin, end, _, _ in stance)
        off = sum((aims[begin:end, k] - place).sum(0) for begin, end, k, place in stance) / max(total, 1)
        for begin, end, point, place in stance:
            wanted[begin:end, point] = place + off

    every = sorted((*run, point) for point in (0, 1) for run in runs(contacts[:, point]))
    for begin, end, k in every:
        overlaps = [(min(end, other[1]) - begin, number) for number, other in enumerate(stance) if other[2] != k]
        longest, number = max(overlaps, default=(-_HANDS_OVER, 0))
        if longest <= -_HANDS_OVER:
            settle()
            stance = [(begin, end, k, aims[begin:end, k].mean(0))]
            continue
        other = stance[number]
        both = slice(min(begin, other[1] - 1), min(end, max(other[1], begin + 1)))
        line = points[both, k] - points[both, other[2]]
        apart, length = line.mean(0), float(lengths(line).mean())
        if heights is not None:
            up = heights[begin:end, k].mean() - heights[other[0] : other[1], other[2]].mean()
            level = np.sqrt(max(length**2 - up**2, 0.0)) / max(float(lengths(apart[:2])), _LEAST)
            apart = np.array([*(level * apart[:2]), up])
        stance.append((begin, end, k, other[3] + apart * (length / max(float(lengths(apart)), _LEAST))))
    settle()
    return wanted


# -- corrections -------------------------------------------------------------------------------------------------------


def cost_away(contacts: np.ndarray, rate: float) -> np.ndarray:
    """The costs (F,) of a correction's square: 1 near contacts (F, 2), so much further away that nothing is left."""
    frames, found = np.arange(len(contacts)), np.flatnonzero(contacts.any(-1))
    if not len(found):
        return np.full(len(contacts), _EXACT)
    next_one = np.searchsorted(found, frames)
    ends = found[np.minimum(next_one, len(found) - 1)], found[np.maximum(next_one - 1, 0)]
    away = np.min([np.abs(frames - end) for end in ends], axis=0) / rate
    return _EXACT ** np.clip((away - _NEAR) / (_FAR - _NEAR), 0.0, 1.0)


def faded(values: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
    """Values (F, K) that are those given where these are numbers, and fade smoothly to 0 between them.

    cost : (F,), of the square of a value that is not given.
    """
    fixed = ~np.isnan(values[:, 0])
    size = values.shape[1]
    blocks = _blocks(np.where(fixed, _EXACT, cost)[:, None, None] * np.eye(size), _stiffness(rate) * np.ones(size))
    between = _solved(blocks, np.where(fixed[:, None], np.nan_to_num(values) * _EXACT, 0.0))
    return np.where(fixed[:, None], np.nan_to_num(values), between)


def _stiffness(rate: float, fade: float = _FADE) -> float:
    """The cost of an acceleration's square against that of the value, for values that fade in so many seconds."""
    return (fade * rate) ** 4


def _corrections(
    ways: Sequence[LegWay], wanted: Sequence[np.ndarray], knees: Sequence[np.ndarray], held: np.ndarray,
    away: Sequence[np.ndarray], rate: float, hips_cost: float,
) -> tuple[np.ndarray, list[np.ndarray]]:  # fmt: skip
    """By how much the hips move (F, 3), and each ankle against them, if the ankles move as wanted where that is known.

    knees : the places (F, 3) of those that rest, and held : the moves (F, 3) of the hips where they are known; NaN
    elsewhere. away : the costs (F,) of the moves of each ankle. Gauss-Newton: the knees' bends are taken as linear in
    the ankles' places at each round.
    """
    frames, size, stiff = len(wanted[0]), 3 + 3 * len(ways), _stiffness(rate)
    unit = float(np.mean([way.length for way in ways]))
    costs = np.concatenate([np.full(3, hips_cost * _HIPS), np.full(size - 3, _ANKLE)]) / unit**2
    each = np.stack([np.full(frames, _GIVE), *away], -1).repeat(3, -1) * costs
    fixed = [~np.isnan(own[:, 0]) for own in wanted]
    base, places = _blocks(each[:, :, None] * np.eye(size), stiff * costs), np.zeros((frames, size))
    for k, (own, known) in enumerate(zip(wanted, fixed, strict=True)):
        rows = slice(3 + 3 * k, 6 + 3 * k)
        exact = _EXACT / unit**2 * known
        for one in (slice(0, 3), rows):
            for other in (slice(0, 3), rows):
                base[:, 2, one, other] += exact[:, None, None] * np.eye(3)
            places[:, one] += exact[:, None] * np.nan_to_num(own)
    known = ~np.isnan(held[:, 0])
    base[known, 2, :3, :3] += _EXACT / unit**2 * np.eye(3)
    places[known, :3] += _EXACT / unit**2 * held[known]
    hips, moves = np.zeros((frames, 3)), [np.zeros((frames, 3)) for _ in ways]
    for _ in range(_ROUNDS):
        blocks, right = base.copy(), places.copy()
        for way, knee in zip(ways, knees, strict=True):
            _keep_apart(blocks, right, way, knee, hips, _EXACT / unit**2)
        for k, (way, move) in enumerate(zip(ways, moves, strict=True)):
            rows = slice(3 + 3 * k, 6 + 3 * k)
            change, slope = _knee(way, move)
            off = (slope * move).sum(-1) - change
            blocks[:, 2, rows, rows] += slope[:, :, None] * slope[:, None, :]
            right[:, rows] += slope * off[:, None]
            _add_accelerations(blocks, right, rows, slope, off, _stiffness(rate, _BEND))
        found = _solved(blocks, right)
        hips, moves = found[:, :3], [found[:, 3 + 3 * k : 6 + 3 * k] for k in range(len(ways))]
    exactly = [np.where(known[:, None], np.nan_to_num(own) - hips, move)
               for own, known, move in zip(wanted, fixed, moves, strict=True)]  # fmt: skip
    return hips, exactly


def _add_accelerations(
    blocks: np.ndarray, right: np.ndarray, rows: slice, slope: np.ndarray, wanted: np.ndarray, cost: float
) -> None:  # fmt: skip
    """Add the squared second differences of `slope x - wanted`, slopes (F, K) and wanted values (F,), to a system."""
    last = len(slope) - 2
    change = cost * np.diff(wanted, 2)
    for i, one in enumerate(_SECOND):
        right[i : last + i, rows] += one * slope[i : last + i] * change[:, None]
        for j, other in enumerate(_SECOND):
            product = slope[i : last + i, :, None] * slope[j : last + j, None, :]
            blocks[i : last + i, 2 + j - i, rows, rows] += cost * one * other * product


def _keep_apart(
    blocks: np.ndarray, right: np.ndarray, way: LegWay, knee: np.ndarray, hips: np.ndarray, weight: float
) -> None:  # fmt: skip
    """Add to a system that the hip stays a thigh's length from a knee that rests at places (F, 3)."""
    rests = ~np.isnan(knee[:, 0])
    near, out = kneeling.to_hip(knee[rests], (way.hip + hips)[rests], way.upper[rests])
    blocks[rests, 2, :3, :3] += weight * out[:, :, None] * out[:, None, :]
    right[rests, :3] += weight * ((out * hips[rests]).sum(-1) + near)[:, None] * out


def _knee(way: LegWay, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The change (G,) of a knee's bend if its ankle moves by `move` (G, 3) against its hip, and its slope (G, 3)."""
    line = way.ankle + move - way.hip
    far = np.maximum(lengths(line), _LEAST)
    (bend, slope), (before, _) = (_bend(way, one) for one in (far, lengths(way.ankle - way.hip)))
    return bend - before, (slope * far / (way.upper * way.lower))[:, None] * line / far[:, None]


def _bend(way: LegWay, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A knee's bend (G,) with the ankle so far from the hip, and its slope by the cosine; straight on where steep."""
    cosine = (far**2 - way.upper**2 - way.lower**2) / (2.0 * way.upper * way.lower)
    most = np.sqrt(1.0 - _STRAIGHT**2)
    inside = np.clip(cosine, -most, most)
    slope = -1.0 / np.sqrt(1.0 - inside**2)
    return np.arccos(inside) + slope * (cosine - inside), slope


def _blocks(diagonal: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """The blocks (F, 5, K, K) of each frame with the two before it, itself, and the two after it.

    They are those of the sum of `x A x` of each frame, A the diagonal (F, K, K), and of squared second differences of
    weights (K,).
    """
    frames, size = diagonal.shape[:2]
    blocks = np.zeros((frames, 5, size, size))
    blocks[:, 2] = diagonal
    for i, one in enumerate(_SECOND):
        for j, other in enumerate(_SECOND):
            blocks[i : frames - 2 + i, 2 + j - i] += one * other * np.diag(acceleration)
    for first in (0, frames - 2):  # beyond its ends all stays as on them, so that nothing runs away there
        blocks[first : first + 2, 2] += np.diag(acceleration)
        blocks[first, 3] -= np.diag(acceleration)
        blocks[first + 1, 1] -= np.diag(acceleration)
    return blocks


def _solved(blocks: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution (F, K) of a system of blocks (F, 5, K, K)."""
    return banded.solve(blocks[:, 2], blocks[1:, 1], blocks[2:, 0], right)


# -- legs --------------------------------------------------------------------------------------------------------------


def _reached(leg: Leg, move: np.ndarray, foot: np.ndarray) -> np.ndarray:
    """The turns (F, 3, 4) of thigh, shin and foot with the ankle moved by `move` (F, 3) against the hip.

    The knee bends about its own axis, and the smallest turn of the whole leg points it at the ankle, so that the knee
    keeps its plane, and a leg that need not move does not.
    """
    upper, lower = leg.knee - leg.hip, leg.ankle - leg.knee
    axis = _axis(leg, upper, lower)
    along = (lower * axis).sum(-1, keepdims=True) * axis
    across, side = lower - along, quaternion.cross(axis, lower)
    goal = leg.ankle + move - leg.hip
    reach = 0.5 * ((goal**2).sum(-1) - (upper**2).sum(-1) - (lower**2).sum(-1)) - (upper * along).sum(-1)
    p, q = (upper * across).sum(-1), (upper * side).sum(-1)
    straight = np.arctan2(q, p)
    bend = np.arccos(np.clip(reach / np.maximum(np.hypot(p, q), _LEAST), -1.0, 1.0))
    turn = quaternion.exp((straight + np.where(straight <= 0.0, bend, -bend))[:, None] * axis)
    swing = quaternion.between(upper + quaternion.rotate(turn, lower), goal)
    thigh = quaternion.product(swing, leg.turns[:, 0])
    shin = quaternion.product(swing, quaternion.product(turn, leg.turns[:, 1]))
    return np.stack([thigh, shin, foot], 1)


def _swivelled(
    leg: Leg, turns: np.ndarray, move: np.ndarray, knee: np.ndarray, cost: np.ndarray, rate: float
) -> np.ndarray:  # fmt: skip
    """The turns (F, 3, 4) of a leg turned about the line from hip to ankle, so that its knee is at places (F, 3).

    move : of the ankle. Both are against the hip's own move. The turn fades where the knee is anywhere (NaN).
    """
    further = quaternion.product(turns[:, 0], quaternion.conjugate(leg.turns[:, 0]))
    now = leg.hip + quaternion.rotate(further, leg.knee - leg.hip)
    about = faded(kneeling.swivel(leg.hip, leg.ankle + move, now, knee), cost, rate)
    return np.concatenate([quaternion.product(quaternion.exp(about)[:, None], turns[:, :2]), turns[:, 2:]], 1)


def _axis(leg: Leg, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """The unit axis (F, 3) about which a knee bends more: its own if it is bent, the mean one of all frames if not."""
    own = quaternion.cross(upper, lower) / (lengths(upper) * lengths(lower))[:, None]
    thigh = leg.turns[:, 0]
    mean = quaternion.rotate(quaternion.conjugate(thigh), own).mean(0)
    if lengths(mean) < 1e-3:  # always straight: the shin goes backward, the toes point forward
        forward = quaternion.rotate(leg.turns[:, 2], np.broadcast_to(leg.ball - leg.heel, upper.shape))
        mean = quaternion.rotate(quaternion.conjugate(thigh), quaternion.cross(forward, upper)).mean(0)
    mean = mean / max(float(lengths(mean)), _LEAST)
    both = own + _BLEND * quaternion.rotate(thigh, np.broadcast_to(mean, upper.shape))
    return both / np.maximum(lengths(both), _LEAST)[:, None]
