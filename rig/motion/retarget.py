# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of one figure for another body: hips and feet by leg length, joints by their anatomical angles.

Where the source puts ball and heel of a foot, scaled, the other body puts its own: a foot that stands in the source
stands, and rolls about the same point. The hips are as high as it takes to bend the knees as the source's are, and the
legs are bent so that the ankles are there. A foot that goes through the air goes by its leg instead: its ankle is from
its hip as the source's is. Animals stand on the tips of their feet: their legs have three bones, and end there. Last,
hands that touch something are put where they touch it on the other body (`hand_contacts`), or on another figure
(`retargeted_body`).
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.motion import find_contacts, fine_time, settled, two_bones
from .. import curves
from ..blender import bulk, scene_state
from ..clip import clip
from ..clip.clip import BodyMotion, Space
from ..clip.person_frames import SIDES, Person
from ..clip.rest_legs import RestLeg
from ..notes import Note, Refused
from . import hand_contacts, limb_places, retargeted_body, retargeted_keys, root_motion, same_names
from .retargeted_body import Body, Fitted, ScaledPlaces, Source, TouchedFigure, directions, hip_middle

_UP, _ALONG = np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0])
_STEEP = 0.5  # cosine to the ground from which on feet point nowhere along it: those of hanging figures turn over
_SCALED = 1e-3  # scales that differ by less are the same
_LOW = 10.0  # percent of the frames on which the feet may be below the ground, or nearer to each other
_HIGH = 0.5  # of the leg: feet that are higher are in the air
_LIFTED, _FLIES = 0.1, 0.3  # of the leg: how high feet begin to go by their legs alone, and from where on they do
_SWINGS = 0.1  # seconds before and after a foot is so high, in which it goes over to that
_LIFTS = 0.1  # seconds before and after a foot stands, in which hands begin and cease to lift a body
_DRAWN_IN = 0.9  # of the way to the middle between the hip joints: feet of narrower bodies go in by no more
_LIES = 0.5  # sine of a shin against the ground from which on downward it lies more and more
_EASES = 0.2  # seconds before and after a shin lies, in which its foot goes over to its place
_REACH = 0.92  # of the leg: how far the ankle of a leg that lies is from its hip at most, or as far as the source's
_NEAR = 0.25  # of the leg: feet that are nearer to where they rest go on that ground


class RetargetFit(NamedTuple):
    """How a motion is fitted to another body.

    stance : how far apart feet stand, from 0, as the source's by the length of legs, to 1, as the body's own hips are
    apart. own_speed : whether it is as fast as bodies of this size move. root : what takes the way over the ground, a
    kind of `root_motion`. limbs : how arms and legs go by angles and by places. by_name : whether what has no role and
    the same name is carried over too, and scale.
    """

    stance: float = 1.0
    own_speed: bool = False
    root: str = root_motion.AUTO
    limbs: limb_places.Limbs = limb_places.USUAL
    by_name: bool = False


class Taken(NamedTuple):
    """A motion, and where the body that gets it is.

    rate : frames in a second of the motion. space : of the body. ground : (3,) from which its places are measured.
    carried : (F, 4, 4) what carries the body's object. scales : (F, N, 3) of the source's bones. looks : the frames
    that are read. frames : as many, those that are keyed.
    """

    source: Source
    rate: float
    space: Space
    ground: np.ndarray
    carried: np.ndarray
    scales: np.ndarray
    looks: Sequence[float]
    frames: list[int]


class RetargetTask(NamedTuple):
    """A figure that gets a motion: its object, measured, what it gets and how that is fitted."""

    ob: bpy.types.Object
    person: Person
    taken: Taken
    fit: RetargetFit

    @property
    def places(self) -> ScaledPlaces:
        """Where the source's places are for it: as far as its legs are long."""
        source = self.taken.source
        size = self.person.leg * self.taken.space.scale / (source.person.leg * source.scale)
        return ScaledPlaces(source, size, size, self.taken.ground)


class Transferred(NamedTuple):
    """The channels of each figure, and what became of the touches between them."""

    channels: list[retargeted_keys.BodyChannels]
    touches: hand_contacts.KeptTouches


def take(
    source: bpy.types.Object, ob: bpy.types.Object, people: Mapping[bpy.types.Object, Person], frames: list[int],
    rate: float, own_speed: bool, visits: scene_state.Visits,
) -> Generator[float, None, Taken]:  # fmt: skip
    """Read a source's motion for another figure; yields the progress from 0 to 1. rate : frames a second.

    own_speed : as of `RetargetFit`; then it is read at as many times as it has frames at that speed. Raises `Refused`
    if it does not move.
    """
    looks, given, own = frames, people[source], people[ob]
    if own_speed:
        first, other = yield from clip.read([source, ob], frames[:1], visits)
        legs = own.leg * other.space().scale / (given.leg * size(given, first.body(given.armature.rest)))
        count = max(round((len(frames) - 1) * np.sqrt(legs)), 1)
        looks = np.linspace(frames[0], frames[-1], count + 1).tolist()
        rate *= count / max(len(frames) - 1, 1)
    first, other = yield from clip.read([source, ob], looks, visits)
    shown = first.body(given.armature.rest)
    if still(shown):
        raise Refused(Note("{} does not move on frames {} to {}", repr(source.name), frames[0], frames[-1]))
    if own_speed:
        frames = list(range(frames[0], frames[0] + len(looks)))
        (other,) = yield from clip.read([ob], frames, visits)
    carried = other.world.astype(float) @ np.linalg.pinv(other.basis.astype(float))
    space = own_space(ob, other.space())
    ground = placed(own, (other.body(own.armature.rest), space, space.scale), carriers(ob.parent)).start
    moved = placed(given, (shown, first.space(), size(given, shown)), carriers(source))
    scales = np.linalg.norm(first.bases[..., :3, :3].astype(float), axis=-2)
    return Taken(moved, rate, space, ground, carried, scales, looks, frames)


def stays(
    source: bpy.types.Object, ob: bpy.types.Object, people: Mapping[bpy.types.Object, Person], frames: list[int],
    visits: scene_state.Visits,
) -> Generator[float, None, TouchedFigure]:  # fmt: skip
    """Read a figure that keeps its motion and others touch, and its source; yields the progress from 0 to 1."""
    clips = yield from clip.read([source, ob], frames, visits)
    shown = [each.body(people[one].armature.rest) for one, each in zip((source, ob), clips, strict=True)]
    found = [Source(people[one], motion, size(people[one], motion), np.zeros(3))
             for one, motion in zip((source, ob), shown, strict=True)]  # fmt: skip
    return TouchedFigure(*found)


def still(shown: BodyMotion) -> bool:
    """Whether nothing moves."""
    size = np.ptp(shown.heads[0], axis=0).max()
    return bool(np.ptp(shown.heads, axis=0).max() < 1e-5 * size
                and quaternion.angle(shown.turns, shown.turns[:1]).max() < 1e-4)  # fmt: skip


def scaled(ob: bpy.types.Object, carried: Collection[str] = ()) -> list[str]:
    """The names, as quoted words, of the bones and the object whose scale is animated by keys of a figure's action.

    carried : bones that are left out.
    """
    found = dict[str, None]()
    for curve in curves.fcurves(ob.animation_data):
        bone, _, channel = curve.data_path.rpartition(".")
        if (channel or bone) == "scale" and np.ptp(bulk.read(curve.keyframe_points, "co", 2)[:, 1]) > _SCALED:
            name = bone.partition('["')[2].removesuffix('"]')
            name = bpy.utils.unescape_identifier(name) if name else ob.name
            if not bone or name not in carried:
                found[repr(name)] = None
    return list(found)


def own_space(ob: bpy.types.Object, space: Space) -> Space:
    """Where an object is once it has another action: one that its own keys move stays where it is now."""
    keyed = any(not curve.data_path.startswith("pose.") for curve in curves.fcurves(ob.animation_data))
    return Space.of(ob) if keyed else space


def size(person: Person, shown: BodyMotion) -> float:
    """The scale of a figure, whatever of objects and bones scales it: by its legs."""
    lengths = [np.linalg.norm(shown.heads[:, below] - shown.heads[:, above], axis=-1)
               for leg in person.legs for above, below in ((leg.thigh, leg.shin), (leg.shin, leg.foot))]  # fmt: skip
    return float(np.median(np.sum(lengths, axis=0)) / sum(leg.length for leg in person.legs))


def placed(person: Person, motion: tuple[BodyMotion, Space, float], carriers: Sequence[bpy.types.Object]) -> Source:
    """A figure's motion, and the point of the ground from which its places are measured.

    It is below the object, or the world's origin if one of its carriers is animated. Its level is that of the feet at
    rest, or that of the object if the motion is there: captured figures rest below it.
    """
    shown, space, scale = motion
    goes = any(curve.data_path == "location" for one in carriers for curve in curves.fcurves(one.animation_data))
    place = np.zeros(3) if goes else np.median(space.place.reshape(-1, 3), axis=0)
    found = Source(person, shown, scale, place)
    low = np.min([found.points(side)[0][:, 2] for side in range(len(person.legs))], axis=0)
    low = float(np.percentile(low, _LOW))
    rest = space.level + person.floor * scale
    far = abs(low - rest) > max(_NEAR * person.leg * scale, abs(low - place[2]))
    return found._replace(start=np.array([place[0], place[1], place[2] if far else rest]))


def carriers(ob: bpy.types.Object | None) -> list[bpy.types.Object]:
    """An object and those that it hangs on."""
    return [] if ob is None else [ob, *carriers(ob.parent)]


def carrier(ob: bpy.types.Object, person: Person) -> int:
    """The bone that carries all bones of a figure and can be moved. Raises `Refused` if there is none."""
    paths = [person.armature.tree.paths[bone] for bone in person.bones]
    common = [bones[0] for bones in zip(*paths, strict=False) if len({*bones}) == 1]
    free = [bone for bone in common if not (ob.pose.bones[bone].bone.use_connect and ob.pose.bones[bone].parent)]
    if not free:
        raise Refused(Note("No bone of {} carries all the others and can be moved: disconnect its hips", repr(ob.name)))
    return free[-1]


def transfer(
    figures: Sequence[RetargetTask], stays: TouchedFigure | None = None
) -> Generator[float, None, Transferred]:  # fmt: skip
    """The motions for figures that touch each other, and one that stays; yields the progress from 0 to 1."""
    there = [] if stays is None else [stays]
    places = retargeted_body.places([figure.places for figure in figures], stays)
    fitted = [_fitted(*one) for one in zip(figures, places, strict=True)]
    if not figures[0].person.four:
        yield from hand_contacts.keep(fitted, there)
    found = list[retargeted_keys.BodyChannels]()
    for figure, own in zip(figures, fitted, strict=True):
        taken, fit = figure.taken, figure.fit
        answer = retargeted_keys.channels(figure.ob, own.body, own.posed(), own.carrier, fit.root, taken.rate,
                                          taken.carried)  # fmt: skip
        scales = same_names.scales(taken.source.person, figure.person, taken.scales) if fit.by_name else {}
        found.append(answer._replace(scales=scales))
    return Transferred(found, hand_contacts.touches([*(one.touched() for one in fitted), *there]))


def _fitted(figure: RetargetTask, there: retargeted_body.Together) -> Fitted:
    """The motion for another body, but for hands that touch."""
    taken, person, fit, (places, way) = figure.taken, figure.person, figure.fit, there
    source, size = taken.source, places.size
    theirs, shown, _, _ = source
    body = Body(figure.ob, person, taken.space, directions(theirs, shown.turns))
    body.moved = same_names.moved(source, body, size)
    mover = carrier(figure.ob, person)
    shift = places.hips() + way - hip_middle(person, body.posed(np.zeros((body.count, 3)), mover))
    posed = body.posed(shift, mover)
    stands = _stands(source, taken.rate)
    ankles = _all_ankles(taken, body, places, fit, way, posed, stands)
    shift += _UP * _higher(source, body, posed, ankles)[:, None]
    posed = body.posed(shift, mover)
    if not person.four:
        flown = _in_air(taken, body, places, fit, posed, ankles, stands)
        ankles = [ankle + further for ankle, further in zip(ankles, flown, strict=True)]
    holding = limb_places.grips(places, body, posed, way, taken.rate)
    lifts = _lifts(source, body, posed, ankles, limb_places.carrying(source, body, posed, holding), taken.rate)
    shift, ankles = shift + lifts[0], [ankle + lift for ankle, lift in zip(ankles, lifts[1:], strict=True)]
    posed = body.posed(shift, mover)
    for side, (leg, their, ankle) in enumerate(zip(person.legs, theirs.legs, ankles, strict=True)):
        bones, paw = (leg.thigh, leg.shin, leg.foot), leg.ball if person.four else None
        own, limb = limb_places.end(body, posed, bones, paw), fit.limbs[limb_places.LEG, SIDES[side % len(SIDES)]]
        ankle = own + limb.places * (ankle - own)
        before = _end(theirs, shown, their, source.scale) - shown.heads[:, their.thigh]
        swing = quaternion.between(before, ankle - posed.heads[:, leg.thigh])  # the smallest, which leads back too
        limb_places.turn(body, bones if person.four else bones[:2], swing)
        part = limb_places.LEG if side < len(SIDES) else limb_places.ARM  # in front the joint points backward
        sign = limb_places.outward(part, SIDES[side % len(SIDES)])
        limb_places.bend(body, posed, bones, ankle, sign * limb.pole, paw)
    limb_places.place_arms(places, body, posed, way, fit.limbs, holding, taken.rate)
    return Fitted(source, body, shift, mover, {side: grip.share(taken.rate) for side, grip in holding.items()})


def _lifts(
    source: Source, body: Body, posed: BodyMotion, ankles: Sequence[np.ndarray], arms: Sequence[two_bones.Support],
    rate: float,
) -> list[np.ndarray]:  # fmt: skip
    """How much higher (F, 3) the hips and each foot are, of a body that goes on its arms too.

    A foot on the ground stays there, and the higher it is in the source, the more it goes with the hips.
    """
    off = [_off_ground(source, side) for side in range(len(ankles))]
    lift = np.zeros(body.count)
    if any(arm.share.any() for arm in arms):
        spans = [_span(body.person, posed, leg, ankle, body.space.scale)
                 for leg, ankle in zip(body.person.legs, ankles, strict=True)]  # fmt: skip
        wide = round(_LIFTS * rate)
        lift = two_bones.lifted(spans, [limb_places.about(1.0 - one, wide) for one in off], arms, _UP)
    return [one[:, None] * _UP for one in (lift, *(lift * one for one in off))]


def _off_ground(source: Source, side: int) -> np.ndarray:
    """How far (F,) a foot of the source is off the ground, from 0 to 1."""
    return limb_places.smooth(_height(source, side) / _HIGH)


def _height(source: Source, side: int) -> np.ndarray:
    """How high (F,) a foot of the source is above the ground that it starts from, in lengths of the leg."""
    lowest = np.min([point[:, 2] for point in source.points(side)], axis=0)
    return (lowest - source.start[2]) / (source.person.leg * source.scale)


def _in_air(
    taken: Taken, body: Body, places: ScaledPlaces, fit: RetargetFit, posed: BodyMotion, ankles: Sequence[np.ndarray],
    stands: np.ndarray,
) -> Generator[np.ndarray]:  # fmt: skip
    """How much further (F, 3) the ankle of each foot is that goes through the air: where the source's is from its hip.

    Nothing holds its ball at a place, and from there a longer or a thicker foot would bend the knee otherwise. Feet
    that stand nearer to each other than the own hips have them do so in the air too.
    posed : the body, with its hips where they are to be. ankles : (F, 3) by the feet's places. stands : (F, L) bool.
    """
    source = taken.source
    wider = zip(_wider(places, body, fit.stance), _wider(places, body, 1.0), strict=True)
    nearer = [own - usual for own, usual in wider]
    heads, length = source.motion.heads, source.person.leg * source.scale
    for side, (leg, theirs, ankle) in enumerate(zip(body.person.legs, source.person.legs, ankles, strict=True)):
        high = _height(source, side)
        flies = limb_places.smooth((high - _LIFTED) / (_FLIES - _LIFTED))
        size = leg.length * body.space.scale / (theirs.length * source.scale)
        offset = limb_places.away(source, fit.limbs[limb_places.LEG, SIDES[side]].offset) + nearer[side]
        apart = posed.heads[:, leg.thigh] + size * (heads[:, theirs.foot] - heads[:, theirs.thigh]) + offset - ankle
        apart = limb_places.eased(flies, round(_SWINGS * taken.rate))[:, None] * apart
        apart = settled(apart, _ALONG * source.points(side)[0] / length, taken.rate, stands[:, side])
        yield apart * np.where(_UP, limb_places.smooth(high / _LIFTED)[:, None], 1.0)


def _higher(source: Source, body: Body, posed: BodyMotion, ankles: Sequence[np.ndarray]) -> np.ndarray:
    """How much higher (F,) hips have to be so that knees are bent as the source's are."""
    before = [_span(source.person, source.motion, leg, _end(source.person, source.motion, leg, source.scale),
                    source.scale) for leg in source.person.legs]  # fmt: skip
    spans = [_span(body.person, posed, leg, ankle, body.space.scale)
             for leg, ankle in zip(body.person.legs, ankles, strict=True)]  # fmt: skip
    return two_bones.higher(before, spans, _UP)


def _end(person: Person, shown: BodyMotion, leg: RestLeg, scale: float) -> np.ndarray:
    """Where a leg of a figure of some scale ends (F, 3): at its ankle, or if it goes on four on the tip of its foot."""
    ankle = shown.heads[:, leg.foot]
    return ankle + scale * quaternion.rotate(shown.turns[:, leg.foot], leg.ball) if person.four else ankle


def _span(person: Person, shown: BodyMotion, leg: RestLeg, end: np.ndarray, scale: float) -> two_bones.Span:
    """A leg of a figure of some scale whose end is at a place (F, 3)."""
    lower = scale * np.linalg.norm(leg.lower)
    if person.four:
        lower = np.linalg.norm(_end(person, shown, leg, scale) - shown.heads[:, leg.shin], axis=-1)
    return two_bones.Span(shown.heads[:, leg.thigh] - end, float(scale * np.linalg.norm(leg.upper)), lower)


def _ankles(places: ScaledPlaces, body: Body, side: int) -> np.ndarray:
    """Where an ankle (F, 3) has to be so that ball or heel are where the source has them, scaled.

    Of an animal it is where the ball has to be. With its heel up, a foot keeps the ball; with its toes up the heel, as
    far behind the ball's place as it is long. Steps that are wider than the body is large put no foot further ahead of
    its ankle.
    """
    ball, heel = (places.of(point) for point in places.source.points(side))
    forward = ball - heel
    leg, turn = body.person.legs[side], body.turns[body.person.legs[side].foot]
    own_ball, own_heel = (body.space.scale * quaternion.rotate(turn, point) for point in (leg.ball, leg.heel))
    level = _level(forward / np.maximum(np.linalg.norm(forward, axis=-1, keepdims=True), 1e-12))
    lengths = (np.linalg.norm(line, axis=-1, keepdims=True) for line in (forward, own_ball - own_heel))
    longer = np.subtract(*lengths)
    theirs = places.source.person
    ahead = (places.wide - places.size) * places.source.scale * float(theirs.legs[side].ball @ theirs.forward)
    if body.person.four:
        return ball - ahead * level
    return np.where(forward[:, 2:] > 0.0, heel + longer * level - own_heel, ball - own_ball) - ahead * level


def _all_ankles(
    taken: Taken, body: Body, places: ScaledPlaces, fit: RetargetFit, way: np.ndarray, posed: BodyMotion,
    stands: np.ndarray,
) -> list[np.ndarray]:  # fmt: skip
    """Where the ends of legs (F, 3) have to be: ankles, and tips of animals. Feet that stand in the source stand.

    way : (F, 3) beside the places. posed : the body, with its hips where the source's are. stands : (F, L) bool.
    """
    source = taken.source
    further = _ahead(places, body, posed) if body.person.four else _wider(places, body, fit.stance)
    offsets = [limb_places.away(source, fit.limbs[limb_places.LEG, SIDES[side % len(SIDES)]].offset)
               for side in range(len(further))]  # fmt: skip
    leg, ankles = source.person.leg * source.scale, list[np.ndarray]()
    for side, (apart, more) in enumerate(zip(further, offsets, strict=True)):
        along = _ALONG * source.points(side)[0] / leg  # a foot that pushes off does so where it stands
        ankle, hip = _ankles(places, body, side), posed.heads[:, body.person.legs[side].thigh]
        apart = way + apart + _ALONG * more
        if not body.person.four:
            apart = apart + _lying(places, body, side, hip - ankle - apart, ankle, taken.rate)
        apart = settled(apart, along, taken.rate, stands[:, side])
        apart = apart * np.where(_UP, _off_ground(source, side)[:, None], 1.0) + _UP * more
        ankles.append(ankle + apart)
    return ankles


def _lying(places: ScaledPlaces, body: Body, side: int, line: np.ndarray, ankle: np.ndarray, rate: float) -> np.ndarray:
    """How much further (F, 3) along the ground a foot is if its shin lies: then the ankle is where the source's is.

    The foot goes on from such a shin. With its ball where the source's is, a longer one would bend the knee more, into
    the ground. line : (F, 3) from the ankle to the hip. ankle : (F, 3) by the ball's place. rate : frames a second.
    """
    leg, length = places.source.person.legs[side], body.person.legs[side].length * body.space.scale
    hip, knee, own = (places.source.motion.heads[:, bone] for bone in (leg.thigh, leg.shin, leg.foot))
    straight = np.linalg.norm(own - hip, axis=-1, keepdims=True) / (leg.length * places.source.scale)
    reach = length * np.maximum(straight, _REACH)
    rises = (knee - own) @ _UP / np.maximum(np.linalg.norm(knee - own, axis=-1), 1e-12)
    lies = limb_places.smooth(1.0 - rises / _LIES)
    further = _ALONG * (places.of(own) - ankle)
    line = line - further
    far = np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), reach)
    further = further + _ALONG * line * (1.0 - reach / far)
    return limb_places.eased(lies, round(_EASES * rate))[:, None] * further


def _stands(source: Source, rate: float) -> np.ndarray:
    """The frames (F, L) bool on which the source's feet stand: those over the hips do not, however still they are."""
    points = np.moveaxis([source.points(side) for side in range(len(source.person.legs))], 2, 0)
    leg, hips = source.person.leg * source.scale, hip_middle(source.person, source.motion)
    found = fine_time.on_frames(find_contacts(points, hips, rate, leg), rate)
    return np.any(found, axis=-1) & (points[..., 2].min(-1) < hips[:, 2:])


def _wider(places: ScaledPlaces, body: Body, stance: float) -> list[np.ndarray]:
    """How far (F, 3) each foot of another body stands further out than the source's, scaled.

    Its legs are as far apart, and at their angles, if its feet are as much further out as its hip joints are. Hips that
    are narrower draw the feet in, as far as no legs come near crossing that are apart in the source.
    """
    (theirs, shown, scale, _), size = places.source, places.size
    hips = theirs.chains["hips", "", 0][0]
    left = quaternion.rotate(shown.turns[:, hips], np.cross(theirs.up, theirs.forward))
    middle, joint, level = hip_middle(theirs, shown), 0.5 * size * scale, _level(left)
    own = 0.5 * body.space.scale * _across(body.person) - joint * _across(theirs)
    found = list[np.ndarray]()
    for sign, leg in zip((1.0, -1.0), theirs.legs, strict=True):
        beside = ((shown.heads[:, leg.foot] - middle) * level).sum(-1)
        apart = stance * max(own, -_DRAWN_IN * max(float(np.percentile(sign * size * beside, _LOW)), 0.0))
        found.append(sign * apart * left + (size - places.wide) * beside[:, None] * level)
    return found


def _across(person: Person) -> float:
    left, right = (person.armature.heads[leg.thigh] for leg in person.legs[: len(SIDES)])
    return float(np.linalg.norm(left - right))


def _level(directions: np.ndarray) -> np.ndarray:
    """Unit directions (F, 3) along the ground; steep ones are shorter."""
    level = directions * np.array([1.0, 1.0, 0.0])
    return level / np.maximum(np.linalg.norm(level, axis=-1, keepdims=True), _STEEP)


def _ahead(places: ScaledPlaces, body: Body, posed: BodyMotion) -> list[np.ndarray]:
    """How much further (F, 3) feet in front stand than the source's, scaled: animals are not equally long.

    They are before the shoulders of the posed body as the source's are before its own: trunks bend in turns. How a
    figure rests does not count: there its legs may stand anywhere.
    """
    shoulders = _shoulders(body.person, posed) - places.of(_shoulders(places.source.person, places.source.motion))
    legs = len(body.person.legs)
    return [_ALONG * shoulders if side >= len(SIDES) else np.zeros_like(shoulders) for side in range(legs)]


def _shoulders(person: Person, shown: BodyMotion) -> np.ndarray:
    """The middle (F, 3) between the first joints of the legs in front."""
    return np.mean([shown.heads[:, leg.thigh] for leg in person.legs[len(SIDES) :]], axis=0)
