# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that touch: where the source's hands are near its other hand or its body, another body's are as near.

Each point of a hand has its place about each part of the source: how far along, in which direction, how far from the
skin. The other hand is wanted where its points have the same places about its own body; the nearer the source's hand
is to its skin, the more. Hands and arms are wanted out of the skin. The arms give first, then shoulders, neck and spine
(`giving`), in all frames at once, so that what is added is smooth: a least-squares problem with few steps.

The parts of other figures are touched in the same way. Hands of two figures that both give go half of the way to each
other in each step.
"""

from collections.abc import Generator, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import BodyMotion, PartKey, PartPlace, SkinPart, runs, solve_band, volumes
from ..clip.person_frames import SIDES, Person
from .contact_joints import Giving, Group
from .limb_places import smooth
from .retargeted_body import Body, Fitted, Source, TouchedFigure

_NEAR = 0.1  # of the height: hands that are further from all skin go by the angles of their arms
_CLEAR = 0.01  # of the height: as _NEAR, for a source whose skin is a guess
_APPROACH = 0.2  # of the height: as _NEAR, for another figure, to which hands may have to go further
_FREE = 0.05  # of the height: the gap at which a point counts 1
_CLOSE = 0.01  # of the height: points count the more the nearer they are, down to this gap
_STEEP = 3.0  # how much more, as an exponent
_TOUCHING = 0.02  # of the height: hands that are nearer to a skin touch it, and their points may slide on it
_SLIDING = 0.02  # how much a place on the skin counts against the gap to it
_STANDS = 300.0  # how much a point of a hand counts that stands or holds on: it stays where it is
_TURN = 1.0  # how much a point of a hand counts at most for how the hand is turned to another figure
_BOTH = 10.0  # how much more another hand, and another figure, counts than the own body
_HALF = 0.5  # of the way to a hand that comes to meet
_DEEP = 0.02  # of the height: points that are deeper in the source's skin count less, and do not at twice that
_INSIDE = 6000.0  # how much a point below the own skin counts
_APART = 0.003  # of the height: points are wanted so far out, because the skin between them is not quite known
_EDGE, _FAR = 0.002, 0.02  # of the height: it counts less if it is less deep, and pulls no more if it is deeper

# What turns [rad] of each part count, against points that are wrong by a height.
_STIFF = {"spine": 3.0, "neck": 2.0, "collar": 0.4, "arm": 0.06, "forearm": 0.06, "hand": 0.05}
_TWIST, _WRIST = 0.02, 0.05  # between upper arm and forearm, and between forearm and hand
_ELBOW = 10.0  # an elbow that bends sideways or backward
_LEAST_BEND = 0.05  # [rad] elbows do not become straighter than this or than they were
_BENT = 0.3  # how soon elbows give that were straight
_SMOOTH = 100.0  # how much more an acceleration [per frame^2] counts than a turn
_COARSE = 8  # steps in which it counts still more, so that arms go the same way in all frames
_FIRST = 200.0  # how much more in the first one
_ROUNDS, _LONGEST, _DAMPING = 14, 0.3, 0.3  # steps, [rad] the longest, and what a step counts against what it mends
_TOGETHER, _CALMER = 28, 40.0  # steps where figures touch each other, and how much more accelerations count there
_AT_ONCE, _BESIDE = 400, 80  # frames that are solved together, and those before and after them that go along

_ARM = ("arm", "forearm", "hand")  # the parts of an arm, which its own hand does not touch
_BALLS = {"forearm": (0.1, 0.3, 0.5, 0.7, 0.9), "arm": (0.6, 0.8, 0.97)}  # of the length: where an arm has points
_HANGS = np.radians(30.0)  # against the trunk: how deep thick arms are in it then, they may always be


class Points(NamedTuple):
    """Points (P, 3) at rest that bones (P,) carry, each with the radius (P,) of a ball around it."""

    places: np.ndarray
    bones: np.ndarray
    radii: np.ndarray


class WantedTouch(NamedTuple):
    """Where the points of a hand are about a part of the source in some frames (f,), scaled.

    gap : (f, P) of the source's height. counts : (f, P) how much points count, less where they are further from the
    skin, or deep in it.
    """

    frames: np.ndarray
    place: PartPlace
    gap: np.ndarray
    counts: np.ndarray


class System(NamedTuple):
    """The normal equations of each frame: `H` (F, m, m) and `g` (F, m)."""

    hessian: np.ndarray
    gradient: np.ndarray

    def add(self, frames: np.ndarray, rows: np.ndarray, weight: np.ndarray, missing: np.ndarray) -> None:
        """Add rows (f, r, n, 3) of frames, each once, with weights (f, r) and what is missing (f, r)."""
        flat = rows.reshape(*rows.shape[:2], -1)
        weighted = np.swapaxes(flat * weight[..., None], 1, 2)
        self.hessian[frames] += weighted @ flat
        self.gradient[frames] += (weighted @ missing[..., None])[..., 0]


def keep(figures: Sequence[Fitted], others: Sequence[TouchedFigure] = ()) -> Generator[float, None, None]:
    """Turn arms and trunks of figures so that their hands touch what their sources' do, and are not inside of skin.

    Yields the progress from 0 to 1. others : figures that are touched too, and stay.
    """
    arms = [_arms(one.body) for one in figures]
    others = [*others, *(one.touched() for one, sides in zip(figures, arms, strict=True) if not sides)]
    giving = [(one, sides) for one, sides in zip(figures, arms, strict=True) if sides]
    if not giving:
        return
    count, found = figures[0].body.count, [dict[int, list[np.ndarray]]() for _ in giving]
    for begin in range(0, count, _AT_ONCE):
        first, last = max(begin - _BESIDE, 0), min(begin + _AT_ONCE + _BESIDE, count)
        parts = [(one.part(slice(first, last)), sides) for one, sides in giving]
        still = [one.part(slice(first, last)) for one in others]
        solving = [_Touches(one, sides, [other.touched() for other, _ in parts if other is not one], still)
                   for one, sides in parts]  # fmt: skip
        for share in _solve(solving):
            yield min(begin + share * _AT_ONCE, count) / count
        for (one, _), touches, turns in zip(parts, solving, found, strict=True):
            for bone in (bone for bones in touches.giving.bones.values() for bone in bones):
                turns.setdefault(bone, []).append(one.body.turns[bone][begin - first :][:_AT_ONCE])
    for (one, _), turns in zip(giving, found, strict=True):
        one.body.turns.update({bone: np.concatenate(own) for bone, own in turns.items()})


def _solve(solving: Sequence["_Touches"]) -> Iterator[float]:
    """Gauss-Newton steps over all frames, of all figures beside each other; the share of them that is done."""
    frames = len(solving[0].giving.vectors)
    band = np.zeros((frames, 3, 1, 1))  # D^T D of second differences D: (f, f), (f + 1, f) and (f + 2, f)
    for at, one in enumerate(_SECOND):
        band[at : frames - 2 + at, 0] += one * one
        for later, other in enumerate(_SECOND[at + 1 :], 1):
            band[at : frames - 2 + at, later] += one * other
    together = any(touches.touches_others for touches in solving)
    rounds, calm = (_TOGETHER, _CALMER) if together else (_ROUNDS, 1.0)
    for count in range(rounds):
        smooth = calm * _SMOOTH * max(_FIRST ** (1.0 - count / _COARSE), 1.0)
        shown = [touches.giving.posed() for touches in solving]
        for number, touches in enumerate(solving):
            touches.step(shown[number], [*shown[:number], *shown[number + 1 :]], band, smooth)
        yield (count + 1) / rounds
    for touches in solving:
        touches.giving.posed()


_SECOND = (1.0, -2.0, 1.0)


class _Target(NamedTuple):
    """A part that an arm may touch, of a person of some scale.

    other : the number of another figure that has it, or None for a part of the own body. wanted : where a hand is to be
    about it, counts : how much that counts, and share : of the way to there, what a step goes. slack : (P,) how deep
    the arm's points may be in it.
    """

    other: int | None
    person: Person
    scale: float
    part: SkinPart
    wanted: WantedTouch | None
    counts: float
    share: float
    slack: np.ndarray


class _Touches:
    """What a body's turns are to be, over all frames.

    Attributes
    ----------
    giving : the turns. touches_others : whether hands come near to other figures.
    """

    def __init__(
        self, figure: Fitted, sides: list[str], meeting: Sequence[TouchedFigure], still: Sequence[TouchedFigure]
    ) -> None:  # fmt: skip
        """`meeting`: other figures, whose hands give too. `still`: those that stay."""
        source, body = figure.source, figure.body
        self.giving = Giving(body, sides, figure.shift, figure.carrier)
        self._stiff = np.repeat([_STIFF[part] for part, _ in self.giving.groups], 3)
        self._heads, self._scale = body.person.armature.heads, body.space.scale
        self._height = body.person.skin.height * self._scale
        self._points = {side: _points(body.person, side) for side in sides}
        self._still = [one.own.motion for one in still]
        own = figure.touched()
        self._alone = {side: volumes.carried(own.own.motion, arm.bones, self._heads, self._scale, arm.places)
                       for side, arm in self._points.items()}  # fmt: skip
        self._stands = {side: share for side, share in figure.stands.items() if side in sides and share.any()}
        self._targets = {side: [
            *_targets(own, own, side),
            *(target for number, other in enumerate([*meeting, *still])
              for target in _targets(own, other, side, number, _HALF if number < len(meeting) else 1.0)),
        ] for side in sides}  # fmt: skip
        self.touches_others = any(target.other is not None and target.wanted is not None and len(target.wanted.frames)
                                  for targets in self._targets.values() for target in targets)  # fmt: skip
        self._first = {side: self.giving.elbow(side, at_first=True) for side in sides}
        alike = [side for side in sides if _has_arm(source.person, side)]
        self._straight = {side: _straight(source.person, source.motion, source.scale, side) for side in alike}

    def step(self, shown: BodyMotion, meeting: Sequence[BodyMotion], band: np.ndarray, smooth: float) -> None:
        """A Gauss-Newton step.

        shown, meeting : where the body and the other figures that give are now. band : of second differences, as of
        `solve_band`, and smooth : how much these count.
        """
        giving, stiff, own = self.giving, self._stiff, np.arange(len(self._stiff))
        frames, more = len(giving.vectors), smooth * np.diag(stiff)
        hessian, gradient = self._system(shown, [*meeting, *self._still])
        gradient -= giving.vectors * stiff
        acceleration = np.diff(giving.vectors, 2, axis=0) @ more
        for at, one in enumerate(_SECOND):
            gradient[at : frames - 2 + at] -= one * acceleration
        hessian[:, own, own] = (1.0 + _DAMPING) * hessian[:, own, own] + stiff
        step = solve_band(hessian + band[:, 0] * more, band[:-1, 1] * more, band[:-2, 2] * more, gradient)
        giving.vectors = giving.vectors + np.clip(step, -_LONGEST, _LONGEST)

    def _system(self, shown: BodyMotion, others: Sequence[BodyMotion]) -> System:
        """The normal equations by the vectors, as they are now, without what the turns themselves count."""
        giving = self.giving
        frames, size = giving.vectors.shape
        system = System(np.zeros((frames, size, size)), np.zeros((frames, size)))
        levers = giving.levers(shown)
        for side, targets in self._targets.items():
            arm = self._points[side]
            points = volumes.carried(shown, arm.bones, self._heads, self._scale, arm.places)
            own = giving.of_points(levers, shown, arm.bones, points)
            for target in targets:
                moved = shown if target.other is None else others[target.other]
                nodes, axes = volumes.posed(target.part, moved, target.person.armature.heads, target.scale)
                about = _About(target, nodes, axes, points, own)
                if not target.person.skin.bare:
                    self._out(system, shown, levers, side, about)
                if target.wanted is not None and len(target.wanted.frames):
                    self._touch(system, shown, levers, side, about)
            if side in self._stands:
                self._stay(system, side, points, own)
            self._bend(system, side)
        rates = giving.rates()
        flipped = np.swapaxes(rates, 1, 2)
        return System(flipped @ system.hessian @ rates, (flipped @ system.gradient[..., None])[..., 0])

    def _out(self, system: System, shown: BodyMotion, levers: np.ndarray, side: str, about: "_About") -> None:
        """The rows of an arm's points that are below the skin of a part."""
        part, scale, radii = about.target.part, about.target.scale, self._scale * self._points[side].radii
        near = _near(about.nodes, about.points, scale * part.radii.max() + radii.max())
        place = volumes.seen(part, about.nodes[near], about.axes[near], scale, about.points[near])
        depth = radii - place.gap + _APART * self._height - scale * about.target.slack
        deep = np.flatnonzero((depth > 0.0).any(1))
        if not len(deep):
            return
        frames, depth = near[deep], np.maximum(depth[deep], 0.0) / self._height
        weight = _INSIDE * np.minimum(depth / _EDGE, 1.0) * _FAR / np.maximum(depth, _FAR)
        out = volumes.outward(part, about.axes[frames], _taken(place, deep))
        lever = self._against(levers, shown, about, frames, place.along[deep], about.points[frames])
        system.add(frames, quaternion.cross(lever, out[:, :, None]), weight, depth)

    def _touch(self, system: System, shown: BodyMotion, levers: np.ndarray, side: str, about: "_About") -> None:
        """The rows of a hand's points that have places about a part.

        Another figure may be far from where the arm alone would put the hand: it goes there, and back, by degrees.
        """
        wanted, part, scale = about.target.wanted, about.target.part, about.target.scale
        frames, place = wanted.frames, wanted.place
        nodes, axes, points = about.nodes[frames], about.axes[frames], about.points[frames, : place.gap.shape[1]]
        gap = wanted.gap  # of another size, another figure may be far: that does not let go of it
        if about.target.other is None:
            gap = np.maximum(volumes.seen(part, nodes, axes, scale, points).gap / self._height, 0.0)
        firm, loose = (about.target.counts * wanted.counts * one
                       for one in _weights(wanted.gap + _CLOSE, gap + _CLOSE))  # fmt: skip
        target, out = volumes.placed(part, nodes, axes, scale, place), volumes.outward(part, axes, place)
        if about.target.other is not None:
            alone = self._alone[side][frames, : place.gap.shape[1]]
            target = alone + wanted.counts[..., None] * (target - alone)
        line = about.target.share * (target - points) / self._height
        lever = self._against(levers, shown, about, frames, place.along, target)
        if about.target.other is not None:
            _meet(system, frames, lever, firm + loose, line)
            return
        system.add(frames, quaternion.cross(lever, out[:, :, None]), firm, (out * line).sum(-1))
        for axis, unit in enumerate(np.eye(3)):
            system.add(frames, quaternion.cross(lever, unit), loose, line[..., axis])

    def _stay(self, system: System, side: str, points: np.ndarray, levers: np.ndarray) -> None:
        """The rows of a hand's points (F, P, 3) that stay where they are: it stands, or holds on to something."""
        frames = np.flatnonzero(self._stands[side])
        hand = self._points[side].radii == 0.0
        weight = np.broadcast_to(_STANDS * self._stands[side][frames, None], (len(frames), int(hand.sum())))
        line = (self._alone[side][frames][:, hand] - points[frames][:, hand]) / self._height
        for axis, unit in enumerate(np.eye(3)):
            system.add(frames, quaternion.cross(levers[frames][:, hand] / self._height, unit), weight, line[..., axis])

    def _against(
        self, levers: np.ndarray, shown: BodyMotion, about: "_About", frames: np.ndarray, along: np.ndarray,
        places: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """The levers (f, P, n, 3) [heights] of the first P points against places (f, P, 3) that the part carries."""
        found = about.levers[frames, : places.shape[1]]
        if about.target.other is None:
            part = about.target.part
            bones = np.array(part.bones)
            bones = bones[np.clip(np.searchsorted(part.marks, along, side="right") - 1, 0, len(bones) - 1)]
            own = BodyMotion(shown.heads[frames], shown.turns[frames])
            found = found - self.giving.of_points(levers[frames], own, bones, places)
        return found / self._height

    def _bend(self, system: System, side: str) -> None:
        """The rows of elbow, wrist and shoulder."""
        giving, first, now = self.giving, self._first[side], self.giving.elbow(side)
        every = np.arange(len(giving.vectors))

        def add(parts: tuple[Group, Group], axis: np.ndarray, weight: np.ndarray | float, missing: np.ndarray) -> None:
            rows = np.zeros((len(every), 1, len(giving.groups), 3))
            rows[:, 0, [giving.groups[part] for part in parts]] = np.array([-axis, axis]).swapaxes(0, -2)
            system.add(every, rows, np.broadcast_to(weight, every.shape)[:, None], missing[:, None])

        arm, forearm, hand = ((part, side) for part in _ARM)
        aside = [(elbow.lower * elbow.above).sum(-1) for elbow in (first, now)]
        add((arm, forearm), quaternion.cross(now.lower, now.above), _ELBOW, aside[0] - aside[1])
        bent = [np.arctan2((quaternion.cross(elbow.upper, elbow.lower) * elbow.above).sum(-1),
                           (elbow.upper * elbow.lower).sum(-1)) for elbow in (first, now)]  # fmt: skip
        add((arm, forearm), now.above, self._straight.get(side, 0.0), bent[0] - bent[1])
        least = np.minimum(bent[0], _LEAST_BEND) - bent[1]
        add((arm, forearm), now.above, np.where(least > 0.0, _ELBOW, 0.0), least)
        add((arm, forearm), now.lower, _TWIST, -(giving.against(arm, forearm) * now.lower).sum(-1))
        stiff = {(forearm, hand): _WRIST, (("spine", ""), ("collar", side)): _STIFF["collar"]}
        for pair, weight in stiff.items():
            if all(group in giving.groups for group in pair):
                for axis, unit in enumerate(np.eye(3)):
                    add(pair, np.broadcast_to(unit, now.lower.shape), weight, -giving.against(*pair)[:, axis])


class _About(NamedTuple):
    """A part over all frames, as `volumes.posed`, and the points (F, P, 3) of an arm with their levers (F, P, n, 3)."""

    target: _Target
    nodes: np.ndarray
    axes: np.ndarray
    points: np.ndarray
    levers: np.ndarray


def _meet(system: System, frames: np.ndarray, levers: np.ndarray, weight: np.ndarray, line: np.ndarray) -> None:
    """Add the rows of points that are to go along lines (f, P, 3): their middle does, and they turn about it loosely.

    The arms of two figures may lie so differently that hands turned as those of the sources would break wrists.
    """
    whole = weight.sum(1, keepdims=True)
    shares = (weight / np.maximum(whole, 1e-12))[..., None]
    middle, lever = (line * shares).sum(1, keepdims=True), (levers * shares[..., None]).sum(1, keepdims=True)
    for axis, unit in enumerate(np.eye(3)):
        system.add(frames, quaternion.cross(lever, unit), whole, middle[..., axis])
        turning = quaternion.cross(levers - lever, unit)
        system.add(frames, turning, np.minimum(weight, _TURN), (line - middle)[..., axis])


# -- arms --------------------------------------------------------------------------------------------------------------


def _arms(body: Body) -> list[str]:
    """The sides of the arms that have got a motion."""
    sides = [side for side in SIDES if _has_arm(body.person, side)]
    return [side for side in sides if all(bone in body.turns for bone in _bones(body.person, side))]


def _bones(person: Person, side: str) -> list[int]:
    return [person.chains[name, side, 0][0] for name in _ARM]


def _has_arm(person: Person, side: str) -> bool:
    return all((name, side, 0) in person.chains and (name, side) in person.skin.parts for name in _ARM)


def _points(person: Person, side: str) -> Points:
    """The points of an arm: those of the hand's skin, and balls along forearm and elbow."""
    parts, hand = person.skin.parts, person.skin.hands[side]
    balls = {name: volumes.core(parts[name, side], np.array(along)) for name, along in _BALLS.items()}
    bones = [(parts["hand", side].bones[0], len(hand)), *((parts[name, side].bones[0], len(along))
             for name, along in _BALLS.items())]  # fmt: skip
    return Points(np.concatenate([hand, *(places for places, _ in balls.values())]), np.repeat(*np.transpose(bones)),
                  np.concatenate([np.zeros(len(hand)), *(radii for _, radii in balls.values())]))  # fmt: skip


def _straight(person: Person, shown: BodyMotion, scale: float, side: str) -> np.ndarray:
    """How much (F,) the bend of an elbow counts: the more the straighter the source's arm is."""
    upper, lower, hand = _bones(person, side)
    heads = person.armature.heads
    length = scale * (np.linalg.norm(heads[lower] - heads[upper]) + np.linalg.norm(heads[hand] - heads[lower]))
    line = shown.heads[:, hand] - shown.heads[:, upper]
    square = np.minimum((line * line).sum(-1) / length**2, 1.0)
    return _STIFF["arm"] * (square / (1.0 - square + _BENT)) ** 2


# -- what touches ------------------------------------------------------------------------------------------------------


def _targets(
    figure: TouchedFigure, other: TouchedFigure, side: str, number: int | None = None, share: float = 1.0
) -> list[_Target]:  # fmt: skip
    """The parts of another figure, or of a figure itself, that an arm may touch. number, share : as of `_Target`."""
    skin, alike = other.own.person.skin, _has_arm(figure.source.person, side)
    found = []
    for key, part in skin.parts.items():
        hand = key[0] == "hand"
        if number is None and key[1] == side and key[0] in _ARM:
            continue
        # What is beside a guessed skin is no touch of the own body: arms hang there.
        there = alike and key in other.source.person.skin.parts and (hand or number is not None or not skin.bare)
        reach = _APPROACH if number is not None else _NEAR if hand or not other.source.person.skin.bare else _CLEAR
        wanted = _wanted(figure, other, side, key, reach) if there else None
        counts = _BOTH if hand or number is not None else 1.0
        slack = _slack(other.own.person, side, part) if number is None else np.zeros(1)
        found.append(_Target(number, other.own.person, other.own.scale, part, wanted, counts, share if hand else 1.0,
                             slack))  # fmt: skip
    return found


def _slack(person: Person, side: str, part: SkinPart) -> np.ndarray:
    """How deep the points (P,) of an arm are in a part at rest while it hangs.

    So deep they may always be: arms of stocky figures would be spread wide to be free of the trunk, which nobody draws.
    """
    arm, heads = _points(person, side), person.armature.heads[_bones(person, side)]
    out = (1.0 if side == SIDES[0] else -1.0) * np.cross(person.up, person.forward)
    line = np.sin(_HANGS) * out - np.cos(_HANGS) * person.up
    lengths = np.linalg.norm(np.diff(heads, axis=0), axis=-1)
    starts = dict(zip(_bones(person, side), (0.0, lengths[0], lengths.sum()), strict=True))
    away = [starts[bone] + np.linalg.norm(place - person.armature.heads[bone])
            for bone, place in zip(arm.bones.tolist(), arm.places, strict=True)]  # fmt: skip
    points = heads[0] + np.array(away)[:, None] * line
    gap = volumes.seen(part, part.nodes[None], part.frames[None], 1.0, points[None]).gap[0]
    return np.where(arm.radii > 0.0, np.maximum(arm.radii - gap + _APART * person.skin.height, 0.0), 0.0)


def _wanted(figure: TouchedFigure, other: TouchedFigure, side: str, key: PartKey, reach: float) -> WantedTouch:
    """Where the points of a hand are about a part of its source, or another source, in the frames in which it is near.

    reach : of the height.
    """
    person, shown, scale, _ = figure.source
    height = person.skin.height * scale
    size = figure.own.person.skin.height * figure.own.scale / height
    hand = person.skin.parts["hand", side].bones[0]
    points = volumes.carried(shown, hand, person.armature.heads, scale, person.skin.hands[side])
    person, shown, scale, _ = other.source
    part = person.skin.parts[key]
    nodes, axes = volumes.posed(part, shown, person.armature.heads, scale)
    near = _near(nodes, points, scale * part.radii.max() + reach * height)
    place = volumes.seen(part, nodes[near], axes[near], scale, points[near])
    close = np.flatnonzero((place.gap < reach * height).any(1))
    place = _taken(place, close)
    gap, deep = np.maximum(place.gap, 0.0), np.maximum(-place.gap, 0.0) / height
    place = place._replace(gap=size * (place.gap if other.own.person.skin.bare else gap))
    gap /= height
    steep = {_NEAR: 1.0, _APPROACH: 1.2, _CLEAR: 2.0}[reach]  # of a guessed skin only what is on it counts
    counts = smooth(steep * (1.0 - gap / reach)) * smooth(2.0 - deep / _DEEP)
    return WantedTouch(near[close], place, gap, counts)


def _near(nodes: np.ndarray, points: np.ndarray, reach: float) -> np.ndarray:
    """The frames in which points (F, P, 3) may be nearer to a line along nodes (F, K, 3) than a length."""
    middle = points.mean(1)
    size = np.linalg.norm(points - middle[:, None], axis=-1).max(1)
    line, offset = np.diff(nodes, axis=1), middle[:, None] - nodes[:, :-1]
    share = np.clip((offset * line).sum(-1) / np.maximum((line * line).sum(-1), 1e-18), 0.0, 1.0)
    away = np.linalg.norm(offset - share[..., None] * line, axis=-1).min(-1)
    return np.flatnonzero(away < size + reach)


def _taken(place: PartPlace, frames: np.ndarray) -> PartPlace:
    return PartPlace(*(each[frames] for each in place))


def _weights(theirs: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much points count with gaps (F, P) on both bodies: out of the skin alone, and in all directions.

    Both bodies count alike, so that the way back is the same, and the smaller gap counts most. `_CLOSE` is in the gaps.
    """
    gap = 2.0 * theirs * own / (theirs + own)
    weight = ((_FREE + _CLOSE) / gap) ** _STEEP
    firm = (1.0 - _SLIDING) * smooth((_TOUCHING + _CLOSE - gap) / _TOUCHING) * weight
    return firm, weight - firm


# -- what became of touches --------------------------------------------------------------------------------------------


class KeptTouches(NamedTuple):
    """How many touches the sources have, how many are kept, and the largest gap left [length units]."""

    count: int
    kept: int
    gap: float


def touches(figures: Sequence[TouchedFigure]) -> KeptTouches:
    """What became of the touches of hands between figures. A touch of two hands counts once."""
    gaps, kept = list[float](), 0
    for (first, figure), (second, other) in permutations(enumerate(figures), 2):
        for side in SIDES:
            found = _gaps(figure, other, side, hands=first < second)
            kept += sum(gap < _TOUCHING * figure.own.person.skin.height * figure.own.scale for gap in found)
            gaps += found
    return KeptTouches(len(gaps), kept, max(gaps, default=0.0))


def _gaps(figure: TouchedFigure, other: TouchedFigure, side: str, hands: bool) -> list[float]:
    """How much larger the gap is at most in each touch than that of the sources, scaled. hands : those of both too."""
    parts = [key for key in other.own.person.skin.parts if key in other.source.person.skin.parts]
    parts = [key for key in parts if hands or key[0] != "hand"]
    if not parts or any(side not in one.person.skin.hands for one in figure):
        return []
    theirs, own = (np.array([_gap(one, another, side, key) for key in parts])
                   for one, another in zip(figure, other, strict=True))  # fmt: skip
    nearest, every = theirs.argmin(0), np.arange(theirs.shape[1])
    heights = [one.person.skin.height * one.scale for one in figure]
    before, after = (np.maximum(one[nearest, every], 0.0) for one in (theirs, own))
    left = np.maximum(after - heights[1] / heights[0] * before, 0.0)
    return [float(left[begin:end].max()) for begin, end in runs(before < _TOUCHING * heights[0])]


def _gap(one: Source, other: Source, side: str, key: PartKey) -> np.ndarray:
    """How far (F,) a hand is from the skin of another figure's part."""
    person, shown, scale, _ = one
    skin = person.skin
    points = volumes.carried(shown, skin.parts["hand", side].bones[0], person.armature.heads, scale, skin.hands[side])
    person, shown, scale, _ = other
    part = person.skin.parts[key]
    nodes, axes = volumes.posed(part, shown, person.armature.heads, scale)
    return volumes.seen(part, nodes, axes, scale, points).gap.min(1)
