# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of bones as damped pendulums that hang on each other and are led along a motion, in the world.

The tip `x` of each bone has a mass of 1; its head is carried by the bone that it hangs on, or is led by the motion:

    x'' = -dV/dx + w^2 G (g d + f) - 2 z w s x' - joints + tensions,    |x - head| = L
    V = 1/2 w^2 (1 - g) sum k |way - aim|^2

`w` is 2 pi times the frequency, `way` goes from head to tip, and `aim` is what it would be if the bone it hangs on
carried it as in the motion, so springs bend a joint and bend back what is above it. `g` is gravity's share of what
pulls a bone back, `d` down, `f` the wind in weights, `z` the damping and `s` the air's share of it; the rest, `joints`,
brakes `way - aim` by `2 z w (1 - s) k`. `k` is in proportion to the inertia of all that hangs on a joint; `k` and the
weight `G` are such that the slowest mode of a chain, straightened, has the frequency `w` by springs or by gravity alone
(the eigenvalues of its small swings). So nothing has a unit of length: the answer is the same on any scale.

Steps are the trapezoidal rule for springs and damping, with the springs as in the straight chain where they have to be
foreseen, then tensions along the bones as they were, which keep the lengths, and a projection of the speeds: RATTLE
(Andersen 1983), which neither gains nor loses energy. They take about as long at any frame rate; between two frames the
motion is a cubic. What a bone is pushed by, bodies and the bound, takes its speed along, without a rebound; the tips of
what hangs on it stay where they are, as far as their lengths allow it.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ..algebra import quaternion
from .keep_out import Bodies, kept_out

_STEPS, _IN_A_SWING = 120.0, 24.0  # least number of steps in a second, and in a swing
_FOR_A_BONE = 12.0  # and in a swing for each bone of a row: its fastest mode is 1.7 times as fast for each
_TENSIONS = 3  # Newton steps
_SETTLING, _CALM = 8.0, 0.3  # swings for which chains settle before the first frame, and the damping meanwhile
_CLOSED = 1e-4  # radians: a loop ends as it began
_FADED, _LONGEST = np.log(1e4), 60.0  # a loop is played until what it began with has faded, for seconds at most
_SHORT = 1e-4  # of the longest arm, squared: a bone is not taken to be shorter
_LEAST = 1e-12


@dataclass(frozen=True)
class Spring:
    """The spring on which a bone follows, and what else pulls it.

    frequency : swings a second. damping : 0 swings for ever, 1 does not swing over. drag : 0 to 1, the share of the
    damping that brakes against the air instead of against the motion: with it, what moves steadily is trailed too.
    gravity : 0 to 1, how far bones hang `down` (3,), of length 1, instead of keeping their pose. wind : (3,) where it
    blows; of length 1, it holds a bone that hangs wholly at 45 degrees. bound : the most that a bone turns away from
    the motion, in radians.
    """

    frequency: float = 3.0
    damping: float = 0.5
    drag: float = 0.25
    gravity: float = 0.0
    down: tuple[float, float, float] = (0.0, 0.0, -1.0)
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    bound: float = float(np.radians(120.0))


@dataclass(frozen=True)
class Chain:
    """The world motion of B bones over F frames, each after the one that it hangs on.

    parents : (B,) the bone among these that each hangs on, -1 for none. turns : (F, B, 4). heads, tails : (F, B, 3).
    carried : (B,) bool, whether the rotation of what a bone hangs on turns it too.
    """

    parents: np.ndarray
    turns: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    carried: np.ndarray

    def depths(self) -> np.ndarray:
        """How many of these bones (B,) each hangs on."""
        found = np.zeros(len(self.parents), dtype=int)
        for bone, parent in enumerate(self.parents.tolist()):
            found[bone] = found[parent] + 1 if parent >= 0 else 0
        return found

    def roots(self) -> np.ndarray:
        """The bone (B,) at which the chain of each begins."""
        found = np.arange(len(self.parents))
        for bone, parent in enumerate(self.parents.tolist()):
            found[bone] = found[parent] if parent >= 0 else bone
        return found


def hang(
    chain: Chain, spring: Spring, rate: float, loop: bool, bodies: Bodies | None = None
) -> Generator[float, None, np.ndarray]:
    """The turns (F, B, 4) in the world that take bones from where what they hang on carries them to where they swing.

    rate : frames a second. loop : the last frame is the first one again, but for a steady drift, and the answer closes
    as the motion does; else it begins at rest in its own motion. bodies : capsules that the bones stay out of where
    they can. Yields the progress from 0 to 1.
    """
    swinging, last = _Pendulums(chain, spring, rate, loop, bodies), len(chain.heads) - 1
    found = np.empty_like(chain.turns)
    fading = 2.0 * np.pi * spring.frequency * min(spring.damping, 1.0) / rate  # in a frame
    rounds = int(min(_FADED / max(fading, _LEAST), _LONGEST * rate) / max(last, 1)) + 2 if loop and last else 1
    for played in range(rounds):
        found[0] = swinging.swings()
        for frame in range(last):
            found[frame + 1] = swinging.advance(frame)
            yield (played + (frame + 1) / last) / rounds
        if quaternion.angle(found[0], found[-1]).max() < _CLOSED:
            break
        swinging.rewind()
    return _closed(found) if loop else found


class _Pendulums:
    """Chains of B bones that go from frame to frame."""

    def __init__(self, chain: Chain, spring: Spring, rate: float, loop: bool, bodies: Bodies | None) -> None:
        depths, count = chain.depths(), len(chain.parents)
        self._in_a_swing = max(_IN_A_SWING, _FOR_A_BONE * float(depths.max() + 1))
        self._steps = max(int(np.ceil(max(_STEPS, self._in_a_swing * spring.frequency) / rate)), 1)
        self._dt, self._spring, self._bodies, self._chain = 1.0 / (self._steps * rate), spring, bodies, chain
        self._levels = [np.flatnonzero(depths == level) for level in range(depths.max() + 1)]
        self._led, self._free = _Led(chain, self._steps, loop), chain.parents[:, None] < 0
        self._hung = (chain.parents == np.arange(count)[:, None]).astype(float)  # by bones, what hangs on them
        self._moves = self._hung - np.eye(count)  # of tips, by tensions
        self._parts = self._moves - np.where(self._free, 0.0, self._moves[chain.parents])  # of tips from heads
        self._swings = _Swings(chain)
        self._tips, self._speed = chain.tails[0].copy(), np.zeros((count, 3))
        self._place(0, self._tips)
        self._settle()

    def _settle(self) -> None:
        """Hang at rest where the motion begins, and begin to move as it does."""
        calm = _Forces(self._swings, replace(self._spring, damping=_CALM, drag=1.0),
                       1.0 / (self._in_a_swing * self._spring.frequency))  # fmt: skip
        for _ in range(int(_SETTLING * self._in_a_swing)):
            self._step(0, 0, calm)
        root, led = self._led.heads[:2][:, self._chain.roots()], self._led
        way, root_way = np.diff(led.heads[:2] + led.ways[:2], axis=0).sum(0), np.diff(root, axis=0).sum(0)
        self._speed = (root_way + (1.0 - self._spring.gravity) * (way - root_way)) / self._dt
        self._forces = _Forces(self._swings, self._spring, self._dt)

    def advance(self, frame: int) -> np.ndarray:
        """Go from a frame to the next one; returns `swings` there."""
        for step in range(frame * self._steps, (frame + 1) * self._steps):
            self._step(step, step + 1, self._forces)
        return self.swings()

    def swings(self) -> np.ndarray:
        """Turns (B, 4) as `hang` returns them."""
        return quaternion.between(self._aims, self._ways)

    def rewind(self) -> None:
        """Go on from the first frame as from the last one."""
        back = (self._led.heads[0] - self._led.heads[-1])[self._chain.roots()]
        self._tips, self._heads = self._tips + back, self._heads + back

    def _step(self, step: int, after: int, forces: "_Forces") -> None:
        """Go from a step to another one, in the time of `forces`."""
        led, parents, dt = self._led, self._chain.parents, forces.dt
        speed = forces.speeds(self._speed, self._bend(forces.stiff), self._led_speeds(step, after) / dt)
        free = self._tips + 0.5 * dt * (self._speed + speed)
        tips, heads = self._tips, self._heads
        ways = free - np.where(self._free, led.heads[after], free[parents] + heads - tips[parents])
        self._place(after, free + self._pulled(ways, _length(led.ways[after]), forces))
        speed += (self._tips - free) / dt
        lacking = ((self._tips - tips) / dt - speed) * self._pushes
        speed += np.maximum(lacking.sum(-1, keepdims=True), 0.0) * self._pushes  # a blow takes the tip along
        moved = self._heads - heads - np.where(self._free, 0.0, (self._tips - tips)[parents])
        led_speed = np.where(self._free, led.speeds[after] * float(after > step), moved + dt * speed[parents]) / dt
        unit = self._ways / np.maximum(_length(self._ways), _LEAST)
        parting = ((speed - led_speed) * unit).sum(-1)
        taken = _solved(self._parts * (unit @ unit.T), -parting)
        self._speed = speed + self._moves @ (taken[:, None] * unit)

    def _led_speeds(self, step: int, after: int) -> np.ndarray:
        """How far (B, 3) the places go from a step to another one, that bones aim at by themselves."""
        heads, ways = (part[after] - part[step] for part in (self._led.heads, self._led.ways))
        parents, follows = self._chain.parents, self._swings.follows
        led_above = np.where(self._free[parents], heads[parents], 0.0)
        own = np.where(self._chain.carried[:, None], -follows * led_above, ways)
        return np.where(self._free, heads + ways, own)

    def _bend(self, stiff: np.ndarray) -> np.ndarray:
        """The forces (B, 3) of the springs on the tips; what a bone hangs on is pulled back by as much."""
        pull = stiff * (self._aims - self._ways)
        above = np.where(self._free, 0.0, self._ways[self._chain.parents])
        turning = quaternion.cross(above, quaternion.cross(self._aims, pull))  # a couple on both ends of it
        couple = self._chain.carried[:, None] * turning / np.maximum((above * above).sum(-1, keepdims=True), _LEAST)
        passed = self._hung @ couple
        return pull - self._hung @ pull + passed - self._hung @ passed

    def _pulled(self, ways: np.ndarray, length: np.ndarray, forces: "_Forces") -> np.ndarray:
        """How far (B, 3) tensions along the bones, as they were, pull tips, so that `ways` (B, 3) have lengths (B, 1)."""
        along = self._ways / np.maximum(_length(self._ways), _LEAST)
        sizes, moves = np.zeros(len(ways)), forces.left @ self._moves
        parts = moves - np.where(self._free, 0.0, moves[self._chain.parents])
        for _ in range(_TENSIONS):
            now = ways + parts @ (sizes[:, None] * along)
            reach = _length(now)
            slopes = parts * (now / np.maximum(reach, _LEAST) @ along.T)
            sizes += _solved(slopes, (length - reach)[:, 0])
        return moves @ (sizes[:, None] * along)

    def _place(self, step: int, aimed: np.ndarray) -> None:
        """Place all bones at a step, toward `aimed` (B, 3) as far as lengths, bodies and the bound allow it."""
        led, parents, carried = self._led, self._chain.parents, self._chain.carried
        bodies = self._bodies
        segments = np.zeros((0, 2, 3)) if bodies is None else _now(bodies.segments, step / self._steps)
        count = len(aimed)
        self._heads, self._aims, self._ways, self._pushes = (np.empty((count, 3)) for _ in range(4))
        totals, tips = np.empty((count, 3, 3)), np.empty((count, 3))
        for level, bones in enumerate(self._levels):
            above = parents[bones]
            heads, aims, turned = led.heads[step][bones], led.ways[step][bones], np.eye(3)
            if level:
                heads = tips[above] + (totals[above] @ heads[..., None])[..., 0]
                turned = np.where(carried[bones, None, None], totals[above], turned)
                aims = (turned @ aims[..., None])[..., 0]
            length = _length(aims)
            way = aimed[bones] - heads
            way *= length / np.maximum(_length(way), _LEAST)
            inside = way if bodies is None else kept_out(heads, way, segments, bodies.room[bones])
            inside = _within(inside, aims, self._spring.bound)
            out = inside - way
            self._pushes[bones] = out / np.maximum(_length(out), _LEAST)
            totals[bones] = _turn(aims, inside) @ turned
            self._heads[bones], self._aims[bones], self._ways[bones] = heads, aims, inside
            tips[bones] = heads + inside
        self._tips = tips


class _Swings:
    """How chains swing by themselves, as on the first frame, straightened.

    apart : (B, B) from tips, how far each tip is from where what it hangs on would carry it; roots from the origin.
    follows : (B,) the share of the way of what a bone hangs on that is along it. stiff, weight : (B, 1), of springs and
    of gravity, with which the slowest swing of a chain takes 2 pi seconds.
    """

    def __init__(self, chain: Chain) -> None:
        parents, ways = chain.parents, chain.tails[0] - chain.heads[0]
        length = np.maximum(_length(ways), _SHORT * _length(ways).max(initial=_LEAST))
        above, hangs = ways[parents], (parents >= 0)[:, None]
        along = (ways * above).sum(-1, keepdims=True) / length[parents] ** 2
        self.follows = np.where(hangs & chain.carried[:, None], along, 0.0)
        one = np.eye(len(parents))
        from_head = one - hangs * one[parents]
        self.apart = from_head - self.follows * from_head[parents]
        below = one.astype(bool)
        for bone in reversed(range(len(parents))):
            if parents[bone] >= 0:
                below[parents[bone]] |= below[bone]
        masses = length * (below @ below.T.astype(float)) * length.T  # of angles
        turns = one - hangs * chain.carried[:, None] * one[parents]  # of joints, by angles
        reach = np.where(below, _reach(chain, length), 0.0)
        joint = (reach * reach).sum(-1, keepdims=True)  # the inertia of all that hangs on it
        roots = chain.roots()
        self.stiff, self.weight = np.empty_like(length), np.empty_like(length)
        for root in np.unique(roots):
            own = np.flatnonzero(roots == root)
            part = np.ix_(own, own)
            springs = turns[part].T @ (joint[own] * turns[part])
            hanging = np.diag((length * below.sum(-1, keepdims=True))[own, 0])
            self.stiff[own] = joint[own] / length[own] ** 2 / _slowest(masses[part], springs)
            self.weight[own] = 1.0 / _slowest(masses[part], hanging)


def _reach(chain: Chain, length: np.ndarray) -> np.ndarray:
    """How far (B, B) the tips of bones below are from the heads of bones above, in straight chains."""
    ends = length[:, 0].copy()
    for bone, parent in enumerate(chain.parents.tolist()):
        ends[bone] += ends[parent] if parent >= 0 else 0.0
    return ends - (ends[:, None] - length)


def _slowest(masses: np.ndarray, stiff: np.ndarray) -> float:
    """The least eigenvalue of a positive definite pair."""
    factor = np.linalg.inv(np.linalg.cholesky(stiff))
    return 1.0 / float(np.linalg.eigvalsh(factor @ masses @ factor.T)[-1])


class _Forces:
    """The trapezoidal rule for a spring, over `dt` seconds. stiff : (B, 1)."""

    def __init__(self, swings: _Swings, spring: Spring, dt: float) -> None:
        w = 2.0 * np.pi * spring.frequency
        self.dt, self.stiff = dt, w * w * (1.0 - spring.gravity) * swings.stiff
        self._pull = w * w * swings.weight * (spring.gravity * np.array(spring.down) + np.array(spring.wind))
        joint = 2.0 * spring.damping * w * (1.0 - spring.drag) * swings.stiff
        own, one = np.eye(len(joint)), swings.apart
        self._brake = one.T * (0.5 * dt * self.stiff + joint)[:, 0]
        half = 0.5 * dt * (self._brake @ one + 2.0 * spring.damping * w * spring.drag * own)
        self.left = np.linalg.inv(own + half)
        self._right = own - half

    def speeds(self, speeds: np.ndarray, bend: np.ndarray, led: np.ndarray) -> np.ndarray:
        """The speeds (B, 3) of tips, free from each other, after a step. led : (B, 3) speeds of where they aim."""
        return self.left @ (self._right @ speeds + self.dt * (bend + self._brake @ led + self._pull))


class _Led:
    """Where chains are led at each of S steps.

    heads : (S, B, 3) of bones that hang on none; of others from the tip of what they hang on. ways : (S, B, 3) from
    heads to tips. speeds : (S, B, 3) of `heads`, in a step.
    """

    def __init__(self, chain: Chain, steps: int, loop: bool) -> None:
        heads = np.where(chain.parents[:, None] < 0, chain.heads, chain.heads - chain.tails[:, chain.parents])
        self.heads = _between(heads, steps, loop)
        self.ways = _between(chain.tails - chain.heads, steps, loop)
        self.speeds = np.gradient(self.heads, axis=0) if len(heads) > 1 else np.zeros_like(heads)


def _solved(slopes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The solution (B,) of a linear system (B, B), or zeros where there is none, as of bones without a length."""
    try:
        found = np.linalg.solve(slopes, values)
    except np.linalg.LinAlgError:
        return np.zeros_like(values)
    return found if np.isfinite(found).all() else np.zeros_like(values)


def _within(ways: np.ndarray, aims: np.ndarray, bound: float) -> np.ndarray:
    """Ways (B, 3), turned back to an angle of `bound` from `aims` (B, 3), which are as long."""
    if bound >= np.pi:
        return ways
    length = _length(aims)
    along = aims / np.maximum(length, _LEAST)
    cosine = (ways * along).sum(-1, keepdims=True)
    aside = ways - cosine * along
    most = length * (np.cos(bound) * along + np.sin(bound) * aside / np.maximum(_length(aside), _LEAST))
    return np.where(cosine < np.cos(bound) * length, most, ways)


def _now(segments: np.ndarray, frame: float) -> np.ndarray:
    """Segments (C, 2, 3) of (F, C, 2, 3) at a time in frames."""
    first = min(int(frame), max(len(segments) - 2, 0))
    second = min(first + 1, len(segments) - 1)
    return segments[first] + (frame - first) * (segments[second] - segments[first])


def _turn(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The matrices (B, 3, 3) of the smallest turns from `start` to `end` (B, 3), which are as long."""
    size = np.maximum((start * start).sum(-1), _LEAST * _LEAST)
    axis = quaternion.skew(quaternion.cross(start, end) / size[:, None])
    cosine = (start * end).sum(-1) / size
    return np.eye(3) + axis + axis @ axis / np.maximum(1.0 + cosine, _LEAST)[:, None, None]


def _length(ways: np.ndarray) -> np.ndarray:
    """Their lengths (..., 1)."""
    return np.sqrt((ways * ways).sum(-1, keepdims=True))


def _between(points: np.ndarray, steps: int, loop: bool) -> np.ndarray:
    """Points (F, ...) with `steps` steps from each frame to the next, on cubics with the slopes of Catmull and Rom."""
    if len(points) < 3:
        slopes = np.broadcast_to(points[-1] - points[0], points.shape)
    else:
        slopes = np.gradient(points, axis=0, edge_order=2)
        if loop:
            slopes[0] = slopes[-1] = 0.5 * (points[1] - points[0] + points[-1] - points[-2])
    t = (np.arange(steps) / steps).reshape(-1, *[1] * (points.ndim - 1))
    start, end, into, out = points[:-1, None], points[1:, None], slopes[:-1, None], slopes[1:, None]
    way = end - start
    cubic = start + t * (into + t * (3.0 * way - 2.0 * into - out + t * (into + out - 2.0 * way)))
    return np.concatenate([cubic.reshape(-1, *points.shape[1:]), points[-1:]])


def _closed(swings: np.ndarray) -> np.ndarray:
    """Turns (F, B, 4) of which the last ones are the first ones: what is lacking is shared out among the frames."""
    lacking = quaternion.log(quaternion.product(swings[0], quaternion.conjugate(swings[-1])))
    shares = np.linspace(0.0, 1.0, len(swings))[:, None, None]
    return quaternion.product(quaternion.exp(shares * lacking), swings)
