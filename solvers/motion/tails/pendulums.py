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
from dataclasses import replace
from typing import Any

import numpy as np

from ...algebra import quaternion
from .chains import Chain, Forces, Spring, Strands
from .keep_out import Bodies, Capsule, Reached, kept_out
from .triples import LEAST, STILL, Triple, between, plus, product, rotated, scaled, within

_STEPS, _IN_A_SWING = 120.0, 24.0  # least number of steps in a second, and in a swing
_FOR_A_BONE = 12.0  # and in a swing for each bone of a row: its fastest mode is 1.7 times as fast for each
_TENSIONS = 2  # Newton steps
_SETTLING = 4.0  # swings for which chains settle before the first frame, at most
_CALM = 1e-5  # of a bone's length: less in a step is at rest
_CLOSED = 1e-4  # radians: a loop ends as it began
_ORIGIN, _ONES = (0.0, 0.0, 0.0), np.ones((3, 1))
_FADED, _LONGEST = np.log(1e4), 60.0  # a loop is played until what it began with has faded, for seconds at most


def hang(
    chain: Chain, spring: Spring, rate: float, loop: bool, bodies: Bodies | None = None
) -> Generator[float, None, np.ndarray]:
    """The turns (F, B, 4) in the world that take bones from where what they hang on carries them to where they swing.

    rate : frames a second. loop : the last frame is the first one again, but for a steady drift, and the answer closes
    as the motion does; else it begins at rest in its own motion. bodies : capsules that the bones stay out of where
    they can. Yields the progress from 0 to 1.
    """
    found, last, groups = np.empty_like(chain.turns), len(chain.heads) - 1, chain.groups()
    fading = 2.0 * np.pi * spring.frequency * min(spring.damping, 1.0) / rate  # in a frame
    rounds = int(min(_FADED / max(fading, LEAST), _LONGEST * rate) / max(last, 1)) + 2 if loop and last else 1
    for number, bones in enumerate(groups):
        swinging = _Pendulums(chain, bones, spring, rate, loop, bodies)
        swings = np.empty((last + 1, bones.size, 4))
        for played in range(rounds):
            swings[0] = swinging.swings()
            for frame in range(last):
                swings[frame + 1] = swinging.advance(frame)
                yield (number + (played + (frame + 1) / last) / rounds) / len(groups)
            if quaternion.angle(swings[0], swings[-1]).max() < _CLOSED:
                break
            swinging.rewind()
        found[:, bones.ravel()] = swings
    return _closed(found) if loop else found


class _Pendulums:
    """N chains of n bones that go from frame to frame, in arrays (N, n, ...), or (N n, ...) where they are placed."""

    def __init__(
        self, whole: Chain, bones: np.ndarray, spring: Spring, rate: float, loop: bool, bodies: Bodies | None
    ) -> None:
        """Of bones (N, n), by their numbers in the whole chain."""
        chain = whole.part(bones.ravel())
        self._in_a_swing = max(_IN_A_SWING, _FOR_A_BONE * float(chain.depths().max() + 1))
        self._steps = max(int(np.ceil(max(_STEPS, self._in_a_swing * spring.frequency) / rate)), 1)
        self._spring, self._strands, self._shape = spring, Strands(chain, bones.shape), (*bones.shape, 3)
        self._led = _Led(chain, self._strands, self._steps, loop)
        self._bodies = None if bodies is None else self._reached(bodies, bones.ravel())
        turners = np.where(chain.carried, chain.parents, -1)
        self._hangs_on: list[tuple[int, int]] = list(zip(chain.parents.tolist(), turners.tolist(), strict=True))
        self._from_heads = np.eye(bones.shape[1]) - self._strands.up
        self._moves = -self._from_heads.swapaxes(1, 2)  # of tips, by tensions
        self._parts = self._from_heads @ self._moves  # of tips from heads
        self._speed, self._gaps = np.zeros(self._shape), self._led.heads[0].copy()
        self._place(0, chain.tails[0].reshape(self._shape))
        self._settle(1.0 / (self._steps * rate))

    def _settle(self, dt: float) -> None:
        """Hang at rest where the motion begins, and begin to move as it does, in steps of `dt` seconds."""
        spring, led = self._spring, self._led
        self._forces = Forces(self._strands, replace(spring, damping=1.0, drag=1.0),
                              1.0 / (self._in_a_swing * spring.frequency), np.zeros((1, *self._shape)))  # fmt: skip
        for _ in range(int(_SETTLING * self._in_a_swing)):
            before = self._tips
            self._step(0, 0)
            if (np.abs(self._tips - before) <= _CALM * led.lengths[0]).all():
                break
        self._forces = Forces(self._strands, spring, dt, led.aims)
        root, way = np.diff(led.heads[:2, :, :1], axis=0).sum(0), np.diff(led.heads[:2] + led.ways[:2], axis=0).sum(0)
        self._speed = (root + (1.0 - spring.gravity) * (way - root)) / dt

    def _reached(self, bodies: Bodies, bones: np.ndarray) -> Reached:
        """The bodies that bones, by their numbers in these, can touch."""
        led, length = self._led, self._led.lengths.max(0)[..., 0]
        gaps = _length(led.heads[:, :, 1:]).max(0)[..., 0]
        own = bodies._replace(room=bodies.room[bones])
        return Reached(own, led.heads[:: self._steps, :, 0], length.sum(1) + gaps.sum(1), length.ravel(), self._steps)

    def advance(self, frame: int) -> np.ndarray:
        """Go from a frame to the next one; returns `swings` there."""
        for step in range(frame * self._steps, (frame + 1) * self._steps):
            self._step(step, step + 1)
        return self.swings()

    def swings(self) -> np.ndarray:
        """Turns (N n, 4) as `hang` returns them."""
        return quaternion.between(self._aims.reshape(-1, 3), self._ways.reshape(-1, 3))

    def rewind(self) -> None:
        """Go on from the first frame as from the last one."""
        self._tips = self._tips + (self._led.heads[0] - self._led.heads[-1])[:, :1]

    def _step(self, step: int, after: int) -> None:
        """Go from a step to another one."""
        led, dt, forces = self._led, self._forces.dt, self._forces
        speed = forces.speeds(self._speed, *self._bend(step), step)
        tips, gaps = self._tips, self._gaps
        free = tips + 0.5 * dt * (self._speed + speed)
        gaps[:, 0] = led.heads[after, :, 0]
        self._place(after, free + self._pulled(self._from_heads @ free - gaps, led.lengths[after]))
        speed += (self._tips - free) / dt
        if self._pushes is not None:  # a blow takes the tip along
            lacking = _dot((self._tips - tips) / dt - speed, self._pushes)
            speed += np.maximum(lacking, 0.0) * self._pushes
        rates = (self._gaps - gaps) / dt
        rates[:, 0] = led.speeds[after] / dt if after > step else 0.0
        parting = _dot(self._from_heads @ speed - rates, self._units)
        taken = self._solved(self._parts * (self._units @ self._units.swapaxes(1, 2)), -parting)
        self._speed = speed + self._moves @ (taken * self._units)

    def _bend(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """The pulls and couples (N, n, 3) of the springs, as for `Forces.speeds`."""
        aims, pull = self._aims, self._forces.stiff * (self._aims - self._ways)
        above = self._strands.up @ self._ways
        turning = _dot(above, pull) * aims - _dot(above, aims) * pull  # above x (aims x pull)
        return pull, self._led.couples[step] * turning

    def _pulled(self, ways: np.ndarray, length: np.ndarray) -> np.ndarray:
        """How far (N, n, 3) tensions along the bones, as they were, pull tips.

        ways : (N, n, 3) of bones without tensions. length : (N, n, 1) that they get.
        """
        units, parts = self._units, self._forces.parts
        across, now = units.swapaxes(1, 2), ways
        sizes = np.zeros_like(length)
        for _ in range(_TENSIONS):
            sizes = sizes + self._solved(parts * (now @ across), 0.5 * (length * length - _dot(now, now)))
            now = ways + parts @ (sizes * units)
        return self._forces.moves @ (sizes * units)

    def _solved(self, slopes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The solutions (N, n, 1) of linear systems (N, n, n) and values (N, n, 1), or zeros where there is none."""
        try:
            found = _solution(slopes - self._led.pointless, values)
        except np.linalg.LinAlgError:
            return np.zeros_like(values)
        return found if np.isfinite(found).all() else np.zeros_like(found)

    def _place(self, step: int, aimed: np.ndarray) -> None:
        """Place all bones at a step, toward `aimed` (N, n, 3) as far as lengths, bodies and the bound allow it."""
        led, bound, near = self._led, self._spring.bound, dict[int, list[Capsule]]()
        if self._bodies is not None:
            freely = (self._from_heads @ aimed - self._gaps).reshape(-1, 3)
            near = self._bodies.near(step, aimed.reshape(-1, 3) - freely, freely)
        goals, led_gaps, led_ways = map(_triples, (aimed, led.heads[step], led.ways[step]))
        lengths, count = led.lengths[step].ravel().tolist(), len(goals)
        tips, turns = [_ORIGIN] * (count + 1), [STILL] * (count + 1)  # the last ones are what roots hang on
        placed, self._pushes = list[tuple[float, ...]](), None
        for bone, (above, turner) in enumerate(self._hangs_on):
            gap, aim = rotated(turns[above], led_gaps[bone]), rotated(turns[turner], led_ways[bone])
            head = plus(tips[above], gap)
            way = inside = scaled(plus(goals[bone], head, -1.0), lengths[bone])
            if bone in near:
                inside = kept_out(head, way, near[bone])
            inside = within(inside, aim, bound)
            if inside is not way:
                self._push(bone, scaled(plus(inside, way, -1.0), 1.0))
            tips[bone], turns[bone] = plus(head, inside), product(between(aim, inside), turns[turner])
            placed.append((*gap, *aim, *inside, *tips[bone]))
        parts = np.array(placed).reshape(*self._shape[:2], 4, 3)
        self._gaps, self._aims, self._ways, self._tips = (parts[..., part, :] for part in range(4))
        self._units = self._ways / np.maximum(led.lengths[step], LEAST)

    def _push(self, bone: int, way: Triple) -> None:
        """Remember where a bone is pushed to."""
        if self._pushes is None:
            self._pushes = np.zeros(self._shape)
        self._pushes.reshape(-1, 3)[bone] = way


class _Led:
    """Where chains are led at each of S steps.

    heads : (S, N, n, 3) of bones that hang on none; of others from the tip of what they hang on. ways : (S, N, n, 3)
    from heads to tips, and lengths : (S, N, n, 1) of these. speeds : (S, N, 3) of the first heads, in a step.
    aims : (S - 1, N, n, 3) the ways in each step of the places that bones aim at by themselves. couples : (S, N, n, 1)
    1 / the squared length of what carries a bone, else 0. pointless : (N, n, n), 1 for bones without a length.
    """

    def __init__(self, chain: Chain, strands: Strands, steps: int, loop: bool) -> None:
        shape = (-1, *strands.up.shape[:2], 3)
        heads = np.where(chain.parents[:, None] < 0, chain.heads, chain.heads - chain.tails[:, chain.parents])
        self.heads = _between(heads, steps, loop).reshape(shape)
        self.ways = _between(chain.tails - chain.heads, steps, loop).reshape(shape)
        self.lengths = _length(self.ways)
        root = self.heads[:, :, 0]
        self.speeds = np.gradient(root, axis=0) if len(root) > 1 else np.zeros_like(root)
        moves, ways = np.diff(self.heads, axis=0), np.diff(self.ways, axis=0)
        moves[:, :, 1:] = 0.0
        self.aims = np.where(strands.carried > 0.0, -strands.follows * (strands.up @ moves), ways)
        self.aims[:, :, 0] = moves[:, :, 0] + ways[:, :, 0]
        above = strands.up @ (self.lengths * self.lengths)
        self.couples = strands.carried * (above > 0.0) / np.maximum(above, LEAST * LEAST)
        self.pointless: np.ndarray = np.eye(shape[2]) * (self.lengths.min(0) <= LEAST)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a . b` (..., 1) of (..., 3)."""
    return (a * b) @ _ONES


def _solution(slopes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The solutions (N, n, 1) of linear systems (N, n, n) and values (N, n, 1)."""
    return np.linalg.solve(slopes, values)


def _triples(points: np.ndarray) -> list[Triple]:
    """Points (..., 3), one by one."""
    places: list[Any] = points.reshape(-1, 3).tolist()
    return places


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
