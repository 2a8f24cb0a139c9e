# SPDX-License-Identifier: GPL-3.0-or-later
"""Couplings of a figure's bones: those that count in a solve, and presets by the roles of bones."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import bpy
import numpy as np

from ..blender.armature import Armature
from ..figure.parts import LEFT, RIGHT, Role
from ..notes import Code, Note

FINGER_TIP, SPINE_SHARE, COLLAR_SHARE = 0.67, 1.0, 0.3  # of what the leading bone turns by
NEIGHBOUR, NEIGHBOUR_STIFFNESS, COLLAR_STIFFNESS = 0.6, 0.5, 0.5
_AXES = "XYZ"


class Link(NamedTuple):
    """A coupling by bone numbers; see `Coupling` in the solvers."""

    bone: int
    axis: str
    leader: int
    leader_axis: str
    factor: float = 1.0
    offset: float = 0.0
    stiffness: float = 1.0


def values(one: bpy.types.PropertyGroup) -> tuple:
    """The settings of a coupling, for comparison."""
    return one.bone, one.axis, one.leader, one.leader_axis, one.factor, one.offset, one.stiffness


def links(ob: bpy.types.Object, index: dict[str, int], notes: list[Note]) -> list[Link]:
    """The couplings of an armature object; notes about those without their bones. index : bone numbers by name."""
    found: list[Link] = []
    for one in ob.original.dqik.couplings:
        missing = [name for name in (one.bone, one.leader) if name not in index]
        if missing:
            notes.append(Note(Code.COUPLING_WITHOUT_BONE, repr(one.bone), repr(missing[0])))
            continue
        _, axis, _, leader_axis, *numbers = values(one)
        found.append(Link(index[one.bone], axis, index[one.leader], leader_axis, *numbers))
    return found


def together(links: Iterable[Link], bones: Iterable[int]) -> set[int]:
    """Bones, and those that are coupled to them, also through others."""
    pairs, found = [(link.bone, link.leader) for link in links], set(bones)
    while True:
        more = {bone for pair in pairs if found & set(pair) for bone in pair} - found
        if not more:
            return found
        found |= more


def add(ob: bpy.types.Object, wanted: Iterable[Link]) -> int:
    """Add couplings, in place of those that the same axes of the same bones have; returns their number."""
    names, count = [bone.name for bone in ob.pose.bones], 0
    for link in wanted:
        bone = names[link.bone]
        remove(ob, lambda one, bone=bone, link=link: one.bone == bone and one.axis == link.axis)
        one = ob.dqik.couplings.add()
        one.name = f"{bone} {link.axis}"
        one.bone, one.axis, one.leader, one.leader_axis = bone, link.axis, names[link.leader], link.leader_axis
        one.factor, one.offset, one.stiffness = link.factor, link.offset, link.stiffness
        count += 1
    return count


def remove(ob: bpy.types.Object, chosen: Callable[[bpy.types.PropertyGroup], bool]) -> int:
    """Remove some couplings; returns their number."""
    couplings = ob.dqik.couplings
    numbers = [number for number, one in enumerate(couplings) if chosen(one)]
    for number in reversed(numbers):
        couplings.remove(number)
    if numbers:
        ob.dqik.solver = ob.dqik.solver  # remove() calls no update callback, so set a property that does
    return len(numbers)


def fingers(armature: Armature, figure: dict[int, Role]) -> list[Link]:
    """Each finger curls together, and its neighbours follow softly."""
    found: list[Link] = []
    for side in (LEFT, RIGHT):
        bones = [bone for bone, role in figure.items() if role == Role("finger", side)]
        rows = [_down(armature, bone, bones) for bone in bones if int(armature.parent[bone]) not in bones]
        if not rows:
            continue
        across = _knuckles(armature, [row[0] for row in rows])
        rows.sort(key=lambda row: float(armature.heads[row[0]] @ across))
        curls = [[_axis_along(armature, bone, across) for bone in row] for row in rows]
        for row, curl in zip(rows, curls, strict=True):
            for k in range(1, len(row)):
                share = FINGER_TIP if k > 1 else 1.0
                sign = curl[k][1] * curl[k - 1][1]
                found.append(Link(row[k], curl[k][0], row[k - 1], curl[k - 1][0], sign * share))
        for k in range(1, len(rows)):
            (axis, sign), (leader_axis, other) = curls[k][0], curls[k - 1][0]
            found.append(Link(
                rows[k][0], axis, rows[k - 1][0], leader_axis, sign * other * NEIGHBOUR, 0.0, NEIGHBOUR_STIFFNESS
            ))  # fmt: skip
    return found


def spine(armature: Armature, figure: dict[int, Role]) -> list[Link]:
    """The bones of the spine share bend and twist of the topmost."""
    bones = sorted((b for b, role in figure.items() if role.name == "spine"), key=lambda b: len(armature.above(b)))
    return [link for bone in bones[:-1] for link in _alike(armature, bone, bones[-1], _AXES, SPINE_SHARE, 1.0)]


def shoulders(armature: Armature, figure: dict[int, Role]) -> list[Link]:
    """The collar bones follow the upper arms softly."""
    found: list[Link] = []
    for side in (LEFT, RIGHT):
        arm = next((bone for bone, role in figure.items() if role == Role("arm", side)), None)
        for bone, role in figure.items():
            if role == Role("collar", side) and arm is not None:
                found += _alike(armature, bone, arm, "XZ", COLLAR_SHARE, COLLAR_STIFFNESS)
    return found


def forearms(armature: Armature, figure: dict[int, Role]) -> list[Link]:
    """Twist bones of the forearms take their share of the hands' twist, more toward the hand."""
    found: list[Link] = []
    for side in (LEFT, RIGHT):
        ends = (Role("forearm", side), Role("hand", side))
        named = {role.name: bone for bone, role in figure.items() if role in ends}
        if len(named) < 2:
            continue
        start, end = armature.heads[named["forearm"]], armature.heads[named["hand"]]
        line = (end - start) / max(float(np.dot(end - start, end - start)), 1e-12)
        for bone, role in figure.items():
            if role == Role("twist", side) and named["forearm"] in armature.above(bone):
                share = float(np.clip((armature.heads[bone] - start) @ line, 0.0, 1.0))
                found.append(Link(bone, "Y", named["hand"], "Y", max(share, 0.1)))
    return found


class Preset(NamedTuple):
    """Couplings by the roles of bones: what the menu says, its number there, and the function that makes them."""

    label: str
    summary: str
    number: int
    links: Callable[[Armature, dict[int, Role]], list[Link]]


PRESETS = {
    "FINGERS": Preset("Fingers", "A finger curls together, and its neighbours follow", 0, fingers),
    "SPINE": Preset("Spine", "The bones of the spine share the bend and twist of the chest", 1, spine),
    "SHOULDERS": Preset("Shoulders", "The collar bones follow the upper arms", 2, shoulders),
    "FOREARMS": Preset("Forearms", "Twist bones of the forearms share the twist of the hands", 3, forearms),
}
"""The presets by name. A new one is a function and a line here; number 4 is taken by the selected bones."""


def of_selected(armature: Armature, bones: Iterable[int], active: int) -> list[Link]:
    """Bones that turn with the active one: each about the axis that is most like its X axis at rest."""
    found = []
    for bone in bones:
        axis, sign = _axis_along(armature, bone, armature.rest[active, :3, 0])
        found += [Link(bone, axis, active, "X", sign)] if bone != active else []
    return found


def _alike(armature: Armature, bone: int, leader: int, axes: str, share: float, stiffness: float) -> list[Link]:
    """Couplings of some axes of a bone to those of another bone that are most like them at rest."""
    one, two = armature.rest[bone, :3, :3], armature.rest[leader, :3, :3]
    found: list[Link] = []
    for axis in axes:
        along = two.T @ one[:, _AXES.index(axis)]
        own = 1 if axis == "Y" else max((0, 2), key=lambda k: abs(along[k]))
        found.append(Link(bone, axis, leader, _AXES[own], float(np.sign(along[own]) or 1.0) * share, 0.0, stiffness))
    return found


def _down(armature: Armature, first: int, bones: list[int]) -> list[int]:
    """A finger's bones from the first one down."""
    row = [first]
    while below := [bone for bone in bones if int(armature.parent[bone]) == row[-1]]:
        row.append(below[0])
    return row


def _knuckles(armature: Armature, firsts: list[int]) -> np.ndarray:
    """The direction across a hand, from its knuckles; that of the X axis for one finger."""
    heads = armature.heads[firsts]
    away = heads - heads.mean(0)
    return armature.rest[firsts[0], :3, 0] if len(firsts) < 2 else np.linalg.svd(away)[2][0]


def _axis_along(armature: Armature, bone: int, direction: np.ndarray) -> tuple[str, float]:
    """The axis of a bone, X or Z, that is most along a direction, and its sign."""
    along = armature.rest[bone, :3, :3].T @ direction
    own = max((0, 2), key=lambda k: abs(along[k]))
    return _AXES[own], float(np.sign(along[own]) or 1.0)
