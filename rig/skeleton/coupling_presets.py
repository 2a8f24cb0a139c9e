# SPDX-License-Identifier: GPL-3.0-or-later
"""Couplings that are found by the roles of bones: fingers, spine, shoulders, forearms; and those of selected bones.

Which axis of a bone bends it and which twists it is taken from the lines of its limb: imported bones lie across these.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import quaternion
from ...solvers.rest import unit
from ..blender.armature import Armature
from ..figure.body import RestBody
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT, Role
from ..notes import Note
from .couplings import Link

FINGER_TIP, SPINE_SHARE, COLLAR_SHARE = 0.67, 1.0, 0.3  # of what the leading bone turns by
NEIGHBOUR, NEIGHBOUR_STIFFNESS, COLLAR_STIFFNESS = 0.6, 0.5, 0.5
_ACROSS = 0.85  # sine of the angle to the knuckles' line from which a finger curls about it; thumbs are nearer
_OBLIQUE = 0.9  # cosine of the angle to the axis of a curl below which an axis of a bone does not stand for it
_AXES = "XYZ"


class RestBones(NamedTuple):
    """A figure at rest. axes : (N, 3, 3) of its bones, in columns."""

    body: RestBody
    axes: np.ndarray

    @property
    def armature(self) -> Armature:
        """Its bones."""
        return self.body.armature


def at_rest(ob: bpy.types.Object) -> RestBones:
    """An armature object at rest."""
    own = Character.of(ob)
    return RestBones(own.body, own.armature.rest[:, :3, :3])


def fingers(rest: RestBones) -> list[Link]:
    """Each finger curls together, and its neighbours follow softly."""
    armature, found = rest.armature, list[Link]()
    for side in (LEFT, RIGHT):
        bones = [bone for bone, role in rest.body.roles.items() if role == Role("finger", side)]
        rows = [_down(armature, bone, bones) for bone in bones if int(armature.parent[bone]) not in bones]
        if not rows:
            continue
        onward = unit(np.sum([_line(armature, row) for row in rows], axis=0))
        across = _knuckles(rest, [row[0] for row in rows], onward)
        rows.sort(key=lambda row: float(armature.heads[row[0]] @ across))
        lines = [_line(armature, row) for row in rows]
        normal = quaternion.cross(across, onward)  # of the palm, about which thumbs curl
        about = [across if np.linalg.norm(quaternion.cross(across, line)) >= _ACROSS else normal for line in lines]
        for row, axis in zip(rows, about, strict=True):
            for k in range(1, len(row)):
                found += _curled(rest, row[k], row[k - 1], axis, FINGER_TIP if k > 1 else 1.0, 1.0)
        for k in range(1, len(rows)):
            if about[k] is about[k - 1]:
                found += _curled(rest, rows[k][0], rows[k - 1][0], about[k], NEIGHBOUR, NEIGHBOUR_STIFFNESS)
    return found


def spine(rest: RestBones) -> list[Link]:
    """The bones of the spine share bend and twist of the topmost."""
    bones = [bone for bone, role in rest.body.roles.items() if role.name == "spine"]
    bones.sort(key=lambda bone: len(rest.armature.above(bone)))
    return [link for bone in bones[:-1] for link in _alike(rest, bone, bones[-1], True, SPINE_SHARE, 1.0)]


def shoulders(rest: RestBones) -> list[Link]:
    """The collar bones follow the upper arms softly."""
    found: list[Link] = []
    for side in (LEFT, RIGHT):
        arm = rest.body.bone("arm", side)
        for bone, role in rest.body.roles.items():
            if role == Role("collar", side) and arm is not None:
                found += _alike(rest, bone, arm, False, COLLAR_SHARE, COLLAR_STIFFNESS)
    return found


def forearms(rest: RestBones) -> list[Link]:
    """Twist bones of the forearms take their share of the hands' twist, more toward the hand."""
    armature, found = rest.armature, list[Link]()
    for side in (LEFT, RIGHT):
        forearm, hand = rest.body.bone("forearm", side), rest.body.bone("hand", side)
        if forearm is None or hand is None:
            continue
        start, line = armature.heads[forearm], armature.heads[hand] - armature.heads[forearm]
        leader_axis, other = _axis_along(rest, hand, line)
        for bone, role in rest.body.roles.items():
            if role == Role("twist", side) and forearm in armature.above(bone):
                share = float((armature.heads[bone] - start) @ line) / max(float(line @ line), 1e-12)
                axis, sign = _axis_along(rest, bone, line)
                found.append(Link(bone, axis, hand, leader_axis, sign * other * float(np.clip(share, 0.1, 1.0))))
    return found


class CouplingPreset(NamedTuple):
    """Couplings by the roles of bones: what the menu says, its number there, the bones, and the function for these."""

    label: str
    summary: str
    number: int
    bones: Note
    links: Callable[[RestBones], list[Link]]


PRESETS = {
    "FINGERS": CouplingPreset(
        "Fingers", "A finger curls together, and its neighbours follow", 0, Note("fingers"), fingers
    ),
    "SPINE": CouplingPreset(
        "Spine", "The bones of the spine share the bend and twist of the chest", 1,
        Note("parts of a spine"), spine
    ),
    "SHOULDERS": CouplingPreset(
        "Shoulders", "The collar bones follow the upper arms", 2, Note("collar bones and upper arms"),
        shoulders
    ),
    "FOREARMS": CouplingPreset(
        "Forearms", "Twist bones of the forearms share the twist of the hands", 3,
        Note("twist bones of forearms"), forearms
    ),
}
"""The presets by name. A new one is a function and a line here, with the next free number above 4, which the selected
bones have; its three texts are translated. `_alike`, `_curled` and `_axis_along` find the axes to couple."""


def of_selected(rest: RestBones, bones: Iterable[int], active: int) -> list[Link]:
    """Bones that turn with the active one: each about the axis that is most like its X axis at rest."""
    found = []
    for bone in bones:
        axis, sign = _axis_along(rest, bone, rest.axes[active, :, 0])
        found += [Link(bone, axis, active, "X", sign)] if bone != active else []
    return found


# -- inside ------------------------------------------------------------------------------------------------------------


def _curled(rest: RestBones, bone: int, leader: int, axis: np.ndarray, share: float, stiffness: float) -> list[Link]:
    """Couplings of a finger's bone that curls about an axis: by one of its own axes, or by both that bend it.

    Both are coupled where neither is along the axis, so that the finger's sideways bends are coupled too.
    """
    ways = [_axis_along(rest, one, axis) for one in (bone, leader)]
    if min(float(np.abs(rest.axes[one].T @ unit(axis)).max()) for one in (bone, leader)) < _OBLIQUE:
        return _alike(rest, bone, leader, False, share, stiffness)
    (own, sign), (other, leader_sign) = ways
    return [Link(bone, own, leader, other, sign * leader_sign * share, 0.0, stiffness)]


def _alike(rest: RestBones, bone: int, leader: int, twists: bool, share: float, stiffness: float) -> list[Link]:
    """Couplings of a bone's bends, and of its twist if it `twists`, to those of another bone."""
    long, other = _long(rest, bone), _long(rest, leader)
    along = rest.axes[leader].T @ rest.axes[bone]  # (3, 3): a column for each axis of the bone
    (a, b), (c, d) = ([k for k in range(3) if k != own] for own in (long, other))
    straight = abs(along[c, a]) + abs(along[d, b]) >= abs(along[d, a]) + abs(along[c, b])
    pairs = [(a, c), (b, d)] if straight else [(a, d), (b, c)]
    return [
        Link(bone, _AXES[own], leader, _AXES[to], float(np.sign(along[to, own]) or 1.0) * share, 0.0, stiffness)
        for own, to in [*pairs, *([(long, other)] if twists else [])]
    ]


def _long(rest: RestBones, bone: int) -> int:
    """The axis of a bone that is most along its limb."""
    line = rest.body.along(bone) if bone in rest.body.roles else None
    return 1 if line is None else int(np.abs(rest.axes[bone].T @ line).argmax())


def _down(armature: Armature, first: int, bones: list[int]) -> list[int]:
    """A finger's bones from the first one down."""
    row = [first]
    while below := [bone for bone in bones if int(armature.parent[bone]) == row[-1]]:
        row.append(below[0])
    return row


def _line(armature: Armature, row: list[int]) -> np.ndarray:
    """The unit direction of a finger, from its first joint to its last, or to its end if it has one."""
    heads = armature.heads[row]
    return unit(heads[-1] - heads[0] if len(row) > 1 else armature.tails[row[0]] - heads[0])


def _knuckles(rest: RestBones, firsts: list[int], onward: np.ndarray) -> np.ndarray:
    """The direction across a hand at right angles to its fingers, from its knuckles; that of X for one finger."""
    heads = rest.armature.heads[firsts]
    away = heads - heads.mean(0)
    away -= (away @ onward)[:, None] * onward  # a thumb begins further back
    return rest.axes[firsts[0], :, 0] if len(firsts) < 2 else np.linalg.svd(away)[2][0]


def _axis_along(rest: RestBones, bone: int, direction: np.ndarray) -> tuple[str, float]:
    """The axis of a bone that is most along a direction, and its sign."""
    along = rest.axes[bone].T @ direction
    own = int(np.abs(along).argmax())
    return _AXES[own], float(np.sign(along[own]) or 1.0)
