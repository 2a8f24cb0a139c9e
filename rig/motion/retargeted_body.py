# SPDX-License-Identifier: GPL-3.0-or-later
"""Another body in the poses of a motion: its joints by the anatomical angles of the source's, over all frames."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ..clip.clip import BodyMotion, Space
from ..clip.person_frames import SIDES, Key, Person, several
from ..figure.character import Character

_CONTINUES = {"spine": ("hips",), "neck": ("spine", "hips"), "collar": ("spine", "hips"), "hip_joint": ("hips",)}
"""The chains that a chain of several bones goes on from."""


class Source(NamedTuple):
    """A motion that another body gets: the figure that has it, its scale, and the point (3,) that places start from."""

    person: Person
    motion: BodyMotion
    scale: float
    start: np.ndarray

    def points(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """The ball and the heel (F, 3) of a foot."""
        leg = self.person.legs[side]
        ankle, turn = self.motion.heads[:, leg.foot], self.motion.turns[:, leg.foot]
        ball, heel = (ankle + self.scale * quaternion.rotate(turn, point) for point in (leg.ball, leg.heel))
        return ball, heel

    def part(self, frames: slice) -> "Source":
        """The motion on some of its frames."""
        return self._replace(motion=BodyMotion(self.motion.heads[frames], self.motion.turns[frames]))


def hip_middle(person: Person, shown: BodyMotion) -> np.ndarray:
    """The middle (F, 3) between the hip joints."""
    return np.mean([shown.heads[:, leg.thigh] for leg in person.legs[: len(SIDES)]], axis=0)


class ScaledPlaces(NamedTuple):
    """Places of a source for another body: `size` times as high, and `wide` times as far from `ground` (3,)."""

    source: Source
    size: float
    wide: float
    ground: np.ndarray

    def of(self, points: np.ndarray) -> np.ndarray:
        """Where points (..., 3) of the source go."""
        return self.ground + np.array([self.wide, self.wide, self.size]) * (points - self.source.start)

    def hips(self) -> np.ndarray:
        """Where the middle (F, 3) between the hip joints goes."""
        return self.of(hip_middle(self.source.person, self.source.motion))


class TouchedFigure(NamedTuple):
    """A figure that others touch: the motion that it has, as `own`, and that from which it was made."""

    source: Source
    own: Source

    @property
    def size(self) -> float:
        """Of the figure, against its source: by the legs."""
        lengths = [one.person.leg * one.scale for one in (self.own, self.source)]
        return lengths[0] / lengths[1]

    def part(self, frames: slice) -> "TouchedFigure":
        """The figure on some of its frames."""
        return TouchedFigure(self.source.part(frames), self.own.part(frames))


def directions(person: Person, turns: np.ndarray) -> dict[Key, list[np.ndarray]]:
    """What the bones of each chain do in anatomical terms (F, 4): in the world, or against what they hang on."""
    frame = {bone: quaternion.product(turns[:, bone], person.frames[bone]) for bone in person.frames}
    return {
        key: [quaternion.relative(frame[person.bases[key]], frame[bone]) if key in person.bases else frame[bone]
              for bone in chain] for key, chain in person.chains.items()
    }  # fmt: skip


def _shared(own: Sequence[np.ndarray], first: np.ndarray, count: int) -> list[np.ndarray]:
    """The turns of a chain for one of `count` bones, which bends as much; `first` is what it goes on from.

    Each bone of the shorter chain has one in the longer one that turns the same, so that a longer chain gives back what
    it got. Those between share the bend.
    """
    if count <= len(own):
        return [own[at] for at in _partners(count, len(own))]
    found, knot, start = list[np.ndarray](), first, -1
    for turn, at in zip(own, _partners(len(own), count), strict=True):
        bend = quaternion.log(quaternion.relative(knot, turn)) / (at - start)
        found += [quaternion.product(knot, quaternion.exp(step * bend)) for step in range(1, at - start)] + [turn]
        knot, start = turn, at
    return found


def _partners(few: int, many: int) -> list[int]:
    """The bones of a chain of `many` bones, one for each of a chain of `few`: first and last ones belong together.

    A single bone belongs to the last one.
    """
    return [many - 1 if few == 1 else round(number * (many - 1) / (few - 1)) for number in range(few)]


def _for_body(person: Person, source: Mapping[Key, list[np.ndarray]]) -> dict[int, np.ndarray]:
    """The frames (F, 4) of another body's bones in the world; those of fingers and twists against what they hang on."""
    found = dict[int, np.ndarray]()
    for key, chain in person.chains.items():
        wanted = key
        if key in person.bases:
            theirs, ours = several(source, key), several(person.chains, key)
            if theirs:
                wanted = theirs[round(ours.index(key) * (len(theirs) - 1) / max(len(ours) - 1, 1))]
        if wanted not in source:
            continue
        own = source[wanted]
        before = next((source[name, "", 0][-1] for name in _CONTINUES.get(key[0], ()) if (name, "", 0) in source),
                      np.broadcast_to(quaternion.IDENTITY, own[0].shape))  # fmt: skip
        found.update(zip(chain, _shared(own, before, len(chain)), strict=True))
    return found


class Body:
    """Another body over F frames: the turns (F, 4) from rest of its bones in the world, and where that puts it."""

    def __init__(
        self, ob: bpy.types.Object, person: Person, space: Space, source: Mapping[Key, list[np.ndarray]]
    ) -> None:
        self.person, self.space, self.own = person, space, Character.of(ob).armature
        self.inherits = [bone.bone.use_inherit_rotation for bone in ob.pose.bones]
        self.in_own_axes = [bone.bone.use_local_location for bone in ob.pose.bones]
        frames = _for_body(person, source)
        self.based = {bone: person.bases[key] for key in person.bases for bone in person.chains[key]}
        self.relative = {bone: frames[bone] for bone in frames if bone in self.based}
        self.turns = {bone: self._from_rest(bone, frames[bone]) for bone in frames if bone not in self.based}
        self.moved = dict[int, np.ndarray]()
        """How far (F, 3) bones of `relative` are from where their parents carry them, in the frames of their bases."""
        self.count = len(next(iter(self.turns.values())))
        self.order = sorted(range(len(person.armature.parent)), key=person.armature.tree.depth)

    def part(self, frames: slice) -> "Body":
        """The body over some of its frames, on its own."""
        part = copy(self)
        part.turns = {bone: turns[frames] for bone, turns in self.turns.items()}
        part.moved = {bone: away[frames] for bone, away in self.moved.items()}
        part.relative = {bone: frame[frames] for bone, frame in self.relative.items()}
        part.space = self.space.part(frames)
        part.count = len(range(self.count)[frames])
        return part

    def carries(self, bone: int) -> bool:
        """Whether the bone on which one hangs turns it."""
        hangs = int(self.person.armature.parent[bone]) >= 0
        return hangs and (self.inherits[bone] or bone in self.person.attached)

    def _from_rest(self, bone: int, frame: np.ndarray) -> np.ndarray:
        return quaternion.product(frame, quaternion.conjugate(self.person.frames[bone]))

    def posed(self, shift: np.ndarray, carrier: int) -> BodyMotion:
        """The body with the bone that carries it moved by `shift` (F, 3)."""
        armature, count = self.person.armature, self.count
        heads, turns = np.zeros((count, len(armature.parent), 3)), np.zeros((count, len(armature.parent), 4))
        for bone in self.order:
            above = int(armature.parent[bone])
            if bone in self.turns:
                turns[:, bone] = self.turns[bone]
            elif bone in self.relative:
                base = self.based[bone]
                frame = quaternion.product(turns[:, base], self.person.frames[base])
                turns[:, bone] = self._from_rest(bone, quaternion.product(frame, self.relative[bone]))
            else:
                turns[:, bone] = turns[:, above] if self.carries(bone) else self.space.turn
            if above < 0:
                line = quaternion.rotate(self.space.turn, armature.heads[bone])
                heads[:, bone] = self.space.place + self.space.scale * line
            else:
                line = armature.heads[bone] - armature.heads[above]
                heads[:, bone] = heads[:, above] + self.space.scale * quaternion.rotate(turns[:, above], line)
            if bone in self.moved:
                base = self.based[bone]
                frame = quaternion.product(turns[:, base], self.person.frames[base])
                heads[:, bone] += quaternion.rotate(frame, self.moved[bone])
            if bone == carrier:
                heads[:, bone] += shift
        return BodyMotion(heads, turns)


class Fitted(NamedTuple):
    """A body with the motion of a source, and by what (F, 3) the bone that carries it is moved: as of `Body.posed`.

    stands : (F,) from 0 to 1, by side, how much each hand is on the ground or holds on to something.
    """

    source: Source
    body: Body
    shift: np.ndarray
    carrier: int
    stands: Mapping[str, np.ndarray]

    def posed(self) -> BodyMotion:
        """The body as it is now."""
        return self.body.posed(self.shift, self.carrier)

    def touched(self) -> TouchedFigure:
        """The figure for others that touch it, as it is now."""
        space = self.body.space
        return TouchedFigure(self.source, Source(self.body.person, self.posed(), space.scale, space.place))

    def part(self, frames: slice) -> "Fitted":
        """The body over some of its frames, on its own."""
        stands = {side: share[frames] for side, share in self.stands.items()}
        return Fitted(self.source.part(frames), self.body.part(frames), self.shift[frames], self.carrier, stands)


# -- figures that touch each other -----------------------------------------------------------------------------------

# Figures of different sizes go different ways, so two that hold hands would part. Together, both ways are scaled by the
# mean of their sizes, from the same point. Beside a figure that keeps its motion, the way of the other one is scaled as
# that one's, and both are as far apart as the sources are, by the mean of their sizes.

_LEVEL = np.array([1.0, 1.0, 0.0])


class Together(NamedTuple):
    """Where the places of a source are for a figure, and how far (F, 3) over the ground it goes further than these."""

    places: ScaledPlaces
    way: np.ndarray


def places(figures: Sequence[ScaledPlaces], stays: TouchedFigure | None = None) -> list[Together]:
    """The places of figures that go together, on the last one's ground, or each beside one that keeps its motion."""
    last = figures[-1]
    still = np.zeros_like(last.hips())
    if stays is None:
        if len(figures) == 1:
            return [Together(last, still)]
        size = float(np.mean([one.size for one in figures]))
        return [Together(_beside(one, size, last.ground - size * last.source.start), still) for one in figures]
    theirs, own = (hip_middle(one.person, one.motion) for one in stays)
    ground, found = np.median(own - stays.size * theirs, axis=0), list[Together]()
    for one in figures:
        beside, hips = _beside(one, stays.size, ground), hip_middle(one.source.person, one.source.motion)
        wanted = own + 0.5 * (one.size + stays.size) * (hips - theirs)
        found.append(Together(beside, _LEVEL * (wanted - beside.hips())))
    return found


def _beside(one: ScaledPlaces, wide: float, origin: np.ndarray) -> ScaledPlaces:
    """Places that are `wide` times as far from where the world's origin goes, (3,), over the ground."""
    ground = _LEVEL * (origin + wide * one.source.start) + (1.0 - _LEVEL) * one.ground
    return one._replace(wide=wide, ground=ground)
