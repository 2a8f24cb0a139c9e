# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a figure with their skin, measured at rest, so that a place on one body has its like on another.

A part is a line of one or several bones with the radius of the skin at places along it and directions around it: from
the vertices of the meshes that follow these bones, or without a mesh those of the usual capsules, or of typed radii.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...solvers.algebra import quaternion
from ..blender.armature import Armature
from ..figure import capsules, ends, skin
from ..figure.body import RestBody
from ..figure.character import Character
from ..figure.parts import LEFT, NONE, RIGHT
from .clip import BodyMotion

PartKey = tuple[str, str]
"""A part's name and side."""

STATIONS, CAPS, AROUND = 13, 6, 24  # places along a part, angles beyond each of its ends, and directions around it
_LIMBS = ("arm", "forearm", "hand", "thigh", "shin", "foot")
_PALM = ((0.2, 6), (0.5, 6), (0.8, 6), (1.0, 6))  # points of a hand: how far along it, and how many around
_SHORT, _USUAL = 0.05, 0.6  # of the forearm: bones of hands that are shorter say nothing, and how long hands are then
_BESIDE = 1e-3  # of the size of a part: how far apart two rays are
_ALONG_LAST = np.array([0.5, 0.5, 0.5, 0.5])  # turns (x, y, z) to (y, z, x): the trunk's frames have Y along it


class SkinPart(NamedTuple):
    """A part at rest, in armature space, of K bones.

    bones : (K,) numbers. nodes : (K + 1, 3) its line; each node but the last is carried by the bone after it. frames :
    (K, 4) with X along the part. radii : (CAPS + STATIONS + CAPS, AROUND) of the skin; beyond the ends by angles, of
    which the first and the last one are along the part.
    """

    bones: list[int]
    nodes: np.ndarray
    frames: np.ndarray
    radii: np.ndarray

    @property
    def marks(self) -> np.ndarray:
        """How far along (K + 1,) the nodes are, from 0 to 1."""
        lengths = np.linalg.norm(np.diff(self.nodes, axis=0), axis=-1)
        return np.concatenate([[0.0], np.cumsum(lengths)]) / max(float(lengths.sum()), 1e-9)


class PartPlace(NamedTuple):
    """Where points (F, P) are about a part: how far along it (F, P), in which direction (F, P, 3), and the gap (F, P).

    The direction is in the part's frames, and the gap is from the skin, below zero inside.
    """

    along: np.ndarray
    direction: np.ndarray
    gap: np.ndarray


class Skin(NamedTuple):
    """A figure's parts, the points (P, 3) of its hands at rest by side, and its height.

    bare : whether there is neither a mesh nor a typed radius, so that where the skin is, is a guess.
    """

    parts: dict[PartKey, SkinPart]
    hands: dict[str, np.ndarray]
    height: float
    bare: bool


def measured(ob: bpy.types.Object, character: Character, trunk: list[list[int]], frames: dict[int, np.ndarray]) -> Skin:
    """The parts of an armature object's figure.

    trunk : the bones of hips, spine and neck with the head. frames : (4,) of all bones with roles.
    """
    body = character.body
    usual = {one.bone: one for one in capsules.of(ob, character)}
    lines = _lines(body, trunk, usual, frames, skin.points(ob, character))
    surface = _Surface(*skin.triangles(ob, character), character.armature, lines)
    parts = {}
    for key, (bones, nodes) in lines.items():
        turn = quaternion.IDENTITY if key[0] in _LIMBS else _ALONG_LAST
        axes = np.array([quaternion.product(frames[bone], turn) for bone in bones])
        radius = max([usual[bone].radius for bone in bones if bone in usual], default=0.0)
        bare = SkinPart(bones, nodes, axes, np.full((CAPS + STATIONS + CAPS, AROUND), radius))
        parts[key] = surface.fitted(key, bare)
    hands = {side: _palm(parts["hand", side]) for side in (LEFT, RIGHT) if ("hand", side) in parts}
    typed = any(ob.pose.bones[bone].dqik_radius > 0.0 for bones, _ in lines.values() for bone in bones)
    return Skin(parts, hands, body.height, not typed and surface.bare)


def _lines(
    body: RestBody, trunk: list[list[int]], usual: dict[int, capsules.BoneCapsule], frames: dict[int, np.ndarray],
    skinned: Mapping[int, np.ndarray],
) -> dict[PartKey, tuple[list[int], np.ndarray]]:
    """The bones of each part, and its nodes. skinned : the skin of bones."""
    armature, (hips, spine, neck) = body.armature, trunk
    heads, found = armature.heads, dict[PartKey, tuple[list[int], np.ndarray]]()
    arms = [bone for bone in (body.bone("arm", LEFT), body.bone("arm", RIGHT)) if bone is not None]
    low = np.mean([heads[body.bone("thigh", side)] for side in (LEFT, RIGHT)], axis=0)
    top = heads[neck[0]] if neck else np.mean(heads[arms], axis=0) if arms else ends.of(body, (spine or hips)[-1])
    found["trunk", ""] = [hips[0], *spine], np.array([low, *heads[spine], top])
    head = body.bone("head")
    if neck and neck[-1] == head:
        if neck[:-1]:
            found["neck", ""] = neck[:-1], heads[neck]
        if head in usual:
            found["head", ""] = [head], np.array([heads[head], usual[head].end])
    for side in (LEFT, RIGHT):
        for name, below in zip(_LIMBS, ("forearm", "hand", "", "shin", "foot", ""), strict=True):
            bone, following = body.bone(name, side), body.bone(below, side) if below else None
            if bone is None or (below and following is None):
                continue
            end = heads[following] if following is not None else usual[bone].end if bone in usual else None
            if name == "hand" and end is not None:
                along = quaternion.to_matrix(frames[bone])[:, 0]
                end = heads[bone] + along * _hand_length(body, bone, side, end, skinned)
            if end is not None and np.linalg.norm(end - heads[bone]) > 1e-6 * armature.size:
                found[name, side] = [bone], np.array([heads[bone], end])
    return found


def _hand_length(body: RestBody, hand: int, side: str, end: np.ndarray, skinned: Mapping[int, np.ndarray]) -> float:
    """How long a hand is that ends at a point (3,) by its bone or its skin.

    Without a skin, tails of hands are what an importer made of them: joints of fingers tell it, or the forearm. So they
    do for a bone that is too short for a hand.
    """
    armature, forearm = body.armature, body.bone("forearm", side)
    start = armature.heads[hand]
    length, below = float(np.linalg.norm(end - start)), armature.tree.below(hand)
    if forearm is None:
        return length
    lower = float(np.linalg.norm(start - armature.heads[forearm]))
    if length > _SHORT * lower and any(bone in skinned for bone in (hand, *below)):
        return length
    fingers = [bone for bone in below if body.roles.get(bone, NONE).name == "finger"]
    return max(_USUAL * lower, float(np.linalg.norm(armature.heads[fingers] - start, axis=-1).max(initial=0.0)))


class _Surface:
    """The meshes of a figure at rest by part: each bone's triangles belong to the nearest part above it."""

    def __init__(
        self, vertices: np.ndarray, owners: np.ndarray, triangles: np.ndarray, armature: Armature,
        lines: dict[PartKey, tuple[list[int], np.ndarray]],
    ) -> None:  # fmt: skip
        own = {bone: key for key, (bones, _) in lines.items() for bone in bones}
        keys = [*lines]
        part = np.full(len(armature.parent) + 1, -1)
        for bone in np.unique(owners[owners >= 0]).tolist():
            key = next((own[one] for one in armature.above(bone) if one in own), None)
            part[bone] = -1 if key is None else keys.index(key)
        self.vertices, self.triangles = vertices, triangles
        self.part = {key: (part[owners] == number)[triangles].any(-1) for number, key in enumerate(keys)}

    @property
    def bare(self) -> bool:
        """Whether no part has a mesh: what a figure wears is none."""
        return not any(own.any() for own in self.part.values())

    def fitted(self, key: PartKey, part: SkinPart) -> SkinPart:
        """A part with the radii of its meshes, as seen from outside; as it is where there are none."""
        triangles = self.triangles[self.part[key]]
        if not len(triangles):
            return part
        used, corners = np.unique(triangles, return_inverse=True)
        vertices = self.vertices[used]
        tree = BVHTree.FromPolygons(vertices.tolist(), corners.reshape(-1, 3).tolist())
        far = 2.0 * float(np.linalg.norm(vertices - part.nodes.mean(0), axis=-1).max())
        radii = np.array([_cast(tree, part, along, directions, far) for along, directions in _rays()])
        return part._replace(radii=_filled(radii, float(part.radii.mean())))


def _rays() -> Iterator[tuple[float, np.ndarray]]:
    """How far along a part each row of its radii is, and the directions (AROUND, 3) of its frames."""
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    around = np.stack([np.zeros(AROUND), np.cos(angles), np.sin(angles)], -1)
    for row in range(-CAPS, STATIONS + CAPS):
        along = min(max(row / (STATIONS - 1), 0.0), 1.0)
        beyond = 0.5 * np.pi / CAPS * (row - along * (STATIONS - 1))
        yield along, np.cos(beyond) * around + np.sin(beyond) * np.eye(3)[0]


def _cast(tree: BVHTree, part: SkinPart, along: float, directions: np.ndarray, far: float) -> np.ndarray:
    """How far (n,) the outermost skin is from the line of a part in directions (n, 3) of its frames; NaN for none."""
    places = np.full((1, len(directions)), along)
    start = _on_line(part, part.nodes[None], places)[0]
    lines = quaternion.rotate(_turn(part, part.frames[None], places)[0], directions)
    across = np.cross(lines, np.eye(3)[np.abs(lines).argmin(-1)])
    beside = start + _BESIDE * far * (across + 0.6 * np.cross(lines, across))

    def radius(line: np.ndarray, *points: np.ndarray) -> float:
        for point in points:
            hit = tree.ray_cast((point + far * line).tolist(), (-line).tolist(), far)[3]
            if hit is not None:
                return far - hit
        return np.nan

    # a ray that meets an edge may miss both sides of it: then one beside it counts
    return np.array([radius(*row) for row in zip(lines, start, beside, strict=True)])


def _filled(radii: np.ndarray, usual: float) -> np.ndarray:
    """Radii with those that are missing (NaN) from their neighbours."""
    while np.isnan(radii).any():
        around = np.stack([np.roll(radii, 1, 1), np.roll(radii, -1, 1), np.vstack([radii[1:], radii[-1:]]),
                           np.vstack([radii[:1], radii[:-1]])])  # fmt: skip
        known = ~np.isnan(around)
        if not known.any():
            return np.full(radii.shape, usual)
        mean = np.where(known, around, 0.0).sum(0) / np.maximum(known.sum(0), 1)
        radii = np.where(np.isnan(radii) & known.any(0), mean, radii)
    return radii


def _palm(hand: SkinPart) -> np.ndarray:
    """The points (P, 3) of a hand's skin at rest."""
    found = []
    for along, count in _PALM:
        angle = 2.0 * np.pi * np.arange(count) / count
        direction = np.stack([np.zeros(count), np.cos(angle), np.sin(angle)], -1)[None]
        place = PartPlace(np.full((1, count), along), direction, np.zeros((1, count)))
        found.append(placed(hand, hand.nodes[None], hand.frames[None], 1.0, place)[0])
    return np.concatenate(found)


def core(part: SkinPart, along: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) of a part's line at rest at places (n,) along it, and the mean radii (n,) of the skin there."""
    radii = np.interp(along, np.linspace(0.0, 1.0, STATIONS), part.radii[CAPS:-CAPS].mean(1))
    return _on_line(part, part.nodes[None], along[None])[0], radii


# -- posed -------------------------------------------------------------------------------------------------------------


def carried(
    shown: BodyMotion, bones: int | np.ndarray, heads: np.ndarray, scale: float, points: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Points (..., 3) at rest that bones, one or (...), carry, over F frames: (F, ..., 3). heads : (N, 3) of bones."""
    bones = np.broadcast_to(bones, points.shape[:-1])
    return shown.heads[:, bones] + scale * quaternion.rotate(shown.turns[:, bones], points - heads[bones])


def posed(part: SkinPart, shown: BodyMotion, heads: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """The nodes (F, K + 1, 3) and frames (F, K, 4) of a part in the world."""
    owners = [*part.bones, part.bones[-1]]
    nodes = [carried(shown, bone, heads, scale, node) for bone, node in zip(owners, part.nodes, strict=True)]
    turns = shown.turns[:, part.bones]
    return np.stack(nodes, 1), quaternion.product(turns, np.broadcast_to(part.frames, turns.shape))


def seen(part: SkinPart, nodes: np.ndarray, frames: np.ndarray, scale: float, points: np.ndarray) -> PartPlace:
    """Where points (F, P, 3) in the world are about a posed part."""
    start, line = nodes[:, None, :-1], np.diff(nodes, axis=1)[:, None]
    offset = points[:, :, None] - start
    share = np.clip((offset * line).sum(-1) / np.maximum((line * line).sum(-1), 1e-18), 0.0, 1.0)
    distance = np.linalg.norm(offset - share[..., None] * line, axis=-1)
    best = distance.argmin(-1)
    share = np.take_along_axis(share, best[..., None], -1)[..., 0]
    along = part.marks[best] + share * np.diff(part.marks)[best]
    away = np.take_along_axis(distance, best[..., None], -1)[..., 0]
    line = points - _on_line(part, nodes, along)
    direction = quaternion.rotate(quaternion.conjugate(_turn(part, frames, along)), line)
    direction = direction / np.maximum(away, 1e-12)[..., None]
    return PartPlace(along, direction, away - scale * _radius(part, along, direction))


def placed(part: SkinPart, nodes: np.ndarray, frames: np.ndarray, scale: float, place: PartPlace) -> np.ndarray:
    """The points (F, P, 3) in the world at places about a posed part."""
    away = place.gap + scale * _radius(part, place.along, place.direction)
    return _on_line(part, nodes, place.along) + np.maximum(away, 0.0)[..., None] * outward(part, frames, place)


def outward(part: SkinPart, frames: np.ndarray, place: PartPlace) -> np.ndarray:
    """The directions (F, P, 3) in the world of places about a posed part."""
    return quaternion.rotate(_turn(part, frames, place.along), place.direction)


def _on_line(part: SkinPart, nodes: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The points (F, P, 3) of the part's line at some places along it."""
    marks = part.marks
    at = np.clip(np.searchsorted(marks, along, side="right") - 1, 0, len(marks) - 2)
    share = (along - marks[at]) / np.maximum(np.diff(marks)[at], 1e-12)
    rows = np.arange(len(nodes))[:, None]
    start, end = nodes[rows, at], nodes[rows, at + 1]
    return start + np.clip(share, 0.0, 1.0)[..., None] * (end - start)


def _turn(part: SkinPart, frames: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The frames (F, P, 4) of the part at places along it: between two bones, between theirs."""
    middles = 0.5 * (part.marks[1:] + part.marks[:-1])
    rows = np.arange(len(frames))[:, None]
    if len(middles) == 1:
        return np.broadcast_to(frames, (*along.shape, 4))
    at = np.clip(np.searchsorted(middles, along, side="right") - 1, 0, len(middles) - 2)
    share = np.clip((along - middles[at]) / np.maximum(np.diff(middles)[at], 1e-12), 0.0, 1.0)[..., None]
    one, other = frames[rows, at], frames[rows, at + 1]
    other = np.where((one * other).sum(-1, keepdims=True) < 0.0, -other, other)
    return quaternion.normalize((1.0 - share) * one + share * other)


def _radius(part: SkinPart, along: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The radius of the skin at rest (...) at places along a part, in directions (..., 3) of its frames."""
    row = CAPS + np.clip(along, 0.0, 1.0) * (STATIONS - 1)
    beyond = 2.0 / np.pi * CAPS * np.arcsin(np.clip(direction[..., 0], -1.0, 1.0))
    row = row + np.where(along <= 0.0, np.minimum(beyond, 0.0), np.where(along >= 1.0, np.maximum(beyond, 0.0), 0.0))
    low = np.minimum(row.astype(int), len(part.radii) - 2)
    angle = np.arctan2(direction[..., 2], direction[..., 1]) / (2.0 * np.pi) % 1.0 * AROUND
    left = angle.astype(int) % AROUND
    right, share, turn = (left + 1) % AROUND, row - low, angle - np.floor(angle)

    def of(at: np.ndarray) -> np.ndarray:
        return (1.0 - turn) * part.radii[at, left] + turn * part.radii[at, right]

    return (1.0 - share) * of(low) + share * of(low + 1)
