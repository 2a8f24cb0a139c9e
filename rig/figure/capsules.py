# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of a figure's bones: capsules along its limbs, whose radii come from the mesh or are typed.

Parts of the body that people have get one each: trunk, head, arms and legs with hands and feet. Fingers belong to the
hand's, and twist bones to their limb's. Bones of other figures get one each where a mesh follows them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.rest import unit
from ..blender.armature import Armature
from ..blender.dependencies import control_bones
from . import ends, skin
from .body import RestBody
from .character import Character
from .parts import NONE, PARTS, TRUNK
from .roles import Figure

_SLIM = 0.15  # radius of other bones without a mesh, as a share of their length
_LEAST = 1e-4  # of the figure's size: a smaller radius leaves the bone out
_MOST = 60  # most bodies of a figure without roles: those of its longest bones
_ON_GROUND = ("foot", "toes")  # parts that lie on the ground at rest
_FEWEST = 8  # vertices from which a radius is measured
_TIP = 95.0  # percentile of the vertices along a limb that counts as its end


class BoneCapsule(NamedTuple):
    """A bone's body: all points within `radius` of a segment from `start` to `end` (3,), at rest in armature space."""

    bone: int
    start: np.ndarray
    end: np.ndarray
    radius: float


def pairs(capsules: list[BoneCapsule], figure: Figure) -> list[tuple[int, int]]:
    """The numbers of the bodies that keep apart: all but those of the trunk among themselves, which bend together."""
    trunk = {k for k, one in enumerate(capsules) if figure.roles.get(one.bone, NONE).name in TRUNK}
    return [(i, k) for i in range(len(capsules)) for k in range(i) if not {i, k} <= trunk]


def of(ob: bpy.types.Object, own: Character) -> list[BoneCapsule]:
    """The bodies of an armature object's bones, by the typed radii where there are any."""
    typed = {number: bone.dqik_radius for number, bone in enumerate(ob.pose.bones) if bone.dqik_radius > 0.0}
    found = measured(ob, own, typed)
    return [one for one in found if one.radius >= _LEAST * own.size]


def measured(ob: bpy.types.Object, own: Character, typed: dict[int, float]) -> list[BoneCapsule]:
    """The bodies of bones, with radii from the mesh, from their roles or their lengths, except typed ones by bone."""
    armature, body, points = own.armature, own.body, skin.points(ob, own)
    bones = sorted({*_bones(ob, own, points), *typed})
    above = {bone: _owner(armature, bone, bones) for bone in range(len(armature.parent))}
    parts: dict[int, list[np.ndarray]] = {}
    for bone, vertices in points.items():
        parts.setdefault(above[bone], []).append(vertices)
    of_bones = {bone: np.concatenate(vertices) for bone, vertices in parts.items()}
    ground = _ground(own, of_bones)
    return [
        _capsule(bone, body, list(_next(armature, bone, bones)), of_bones.get(bone), typed.get(bone, 0.0), ground)
        for bone in bones
    ]


def _bones(ob: bpy.types.Object, own: Character, points: dict[int, np.ndarray]) -> list[int]:
    parts = [bone for bone, role in own.figure.roles.items() if role.part.radius]
    if parts:
        return parts
    pose, targets = ob.pose.bones, control_bones(ob)
    others = points or {n: None for n, bone in enumerate(pose) if bone.bone.use_deform and bone.name not in targets}
    return sorted(others, key=lambda bone: -own.armature.length[bone])[:_MOST]


def _owner(armature: Armature, bone: int, bones: list[int]) -> int:
    """The bone whose body a bone belongs to: its own, or that of the nearest bone above with one; -1 for none."""
    return next((one for one in armature.above(bone) if one in bones), -1)


def _next(armature: Armature, bone: int, bones: list[int]) -> Iterator[int]:
    """The bones with bodies that follow a bone's."""
    for other in bones:
        if other != bone and next((one for one in armature.above(other)[1:] if one in bones), -1) == bone:
            yield other


def _ground(own: Character, points: dict[int, np.ndarray]) -> float | None:
    """The height of the ground on which a figure stands at rest; None for a figure without feet."""
    armature, body = own.armature, own.body
    feet = [bone for bone, role in own.figure.roles.items() if role.name in _ON_GROUND]
    if not feet:
        return None
    places = [points[bone] for bone in feet if bone in points]
    places = places or [armature.heads[feet], np.array([ends.of(body, bone) for bone in feet])]
    return min(float((part @ body.up).min()) for part in places)


def _capsule(
    bone: int, body: RestBody, following: list[int], points: np.ndarray | None, typed: float, ground: float | None
) -> BoneCapsule:
    """The body of a bone. following : the bones with bodies below. points : (n, 3) of the mesh. ground : its height."""
    armature, role = body.armature, body.roles.get(bone, NONE)
    start, tail = armature.heads[bone], ends.of(body, bone)
    trunk = [one for one in following if body.roles.get(one, NONE).name in ("spine", "neck", "head")]
    onward = following if len(following) == 1 else trunk[:1]
    if onward:
        end = armature.heads[onward[0]]
    else:
        known = body.along(bone) if bone in body.roles else None
        along = unit(tail - start) if known is None else known
        reach = np.linalg.norm(tail - start)
        if points is not None and len(points) >= _FEWEST:
            reach = max(float(np.percentile((points - start) @ along, _TIP)), 0.0)
        end = start + along * reach
    radius = typed or _radius(points, start, end, PARTS[role.name].radius if role.name else 0.0, body)
    stands = role.name in _ON_GROUND
    if not following and not stands:  # a hand or a head ends with its body, not a radius after it
        line = end - start
        end = start + unit(line) * max(float(np.linalg.norm(line)) - radius, 0.0)
    if stands and ground is not None:  # the lower side lies on the ground from end to end
        start, end = (place + body.up * (ground + radius - place @ body.up) for place in (start, end))
    return BoneCapsule(bone, np.array(start), np.array(end), radius)


def _radius(points: np.ndarray | None, start: np.ndarray, end: np.ndarray, usual: float, body: RestBody) -> float:
    """The median distance of vertices from a segment; without them a usual share of the size, or one of the length.

    The size of a person is that of its joints: hair, crowns and tails of any length make no limb thicker.
    """
    if points is None or len(points) < _FEWEST:
        length = max(float(np.linalg.norm(end - start)), 0.0)
        return usual * (body.height if body.human else body.armature.size) or _SLIM * length
    line = end - start
    share = np.clip((points - start) @ line / max(float(line @ line), 1e-12), 0.0, 1.0)
    return float(np.median(np.linalg.norm(points - start - share[:, None] * line, axis=-1)))
