# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a figure with their skin, measured at rest, so that a place on one body has its like on another.

Radii are those of the meshes that follow the bones of a part, or without a mesh of the usual capsules, or typed ones.
"""

from collections.abc import Mapping
from typing import NamedTuple

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...solvers.algebra import quaternion
from ...solvers.motion import PartKey, SkinPart, volumes
from ..blender.armature import Armature
from ..figure import capsules, ends, skin
from ..figure.body import RestBody
from ..figure.character import Character
from ..figure.parts import LEFT, NONE, RIGHT

_LIMBS = ("arm", "forearm", "hand", "thigh", "shin", "foot")
_SHORT, _USUAL = 0.05, 0.6  # of the forearm: bones of hands that are shorter say nothing, and how long hands are then
_BESIDE = 1e-3  # of the size of a part: how far apart two rays are
_ALONG_LAST = np.array([0.5, 0.5, 0.5, 0.5])  # turns (x, y, z) to (y, z, x): the trunk's frames have Y along it


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
        parts[key] = surface.fitted(key, SkinPart.round(bones, nodes, axes, radius))
    hands = {side: volumes.palm(parts["hand", side]) for side in (LEFT, RIGHT) if ("hand", side) in parts}
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
        return part.measured(np.array([_cast(tree, *ray, far) for ray in volumes.rays(part)]))


def _cast(tree: BVHTree, start: np.ndarray, lines: np.ndarray, far: float) -> np.ndarray:
    """How far (n,) the outermost skin is from points (n, 3) in directions (n, 3); NaN for none."""
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
