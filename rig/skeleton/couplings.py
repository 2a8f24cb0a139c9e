# SPDX-License-Identifier: GPL-3.0-or-later
"""Couplings of a figure's bones: those that count in a solve, adding and removing them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import bpy

from ..notes import Note


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
        if one.stiffness == 0.0:
            continue
        missing = [name for name in (one.bone, one.leader) if name not in index]
        if missing:
            notes.append(Note("Coupling of {}: the armature has no bone {}: choose another",
                              repr(one.bone), repr(missing[0])))
            continue
        found.append(Link(
            index[one.bone], one.axis, index[one.leader], one.leader_axis, one.factor, one.offset, one.stiffness,
        ))  # fmt: skip
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


def remove(ob: bpy.types.Object, chosen: Callable[[bpy.types.PropertyGroup], bool]) -> tuple[int, list[Note]]:
    """Remove some couplings; returns their number, and notes.

    A library override cannot remove a coupling of its library: its stiffness becomes 0, so that it has no effect.
    """
    couplings, loosened = ob.dqik.couplings, 0
    numbers = [number for number, one in enumerate(couplings) if chosen(one)]
    for number in reversed(numbers):
        try:
            couplings.remove(number)
        except TypeError:  # raised for a coupling of the library
            couplings[number].stiffness = 0.0
            loosened += 1
    if numbers:
        ob.dqik.solver = ob.dqik.solver  # remove() calls no update callback, so set a property that does
    return len(numbers), [Note("{} couplings belong to the library file, so their stiffness is 0 instead",
                               loosened)] if loosened else []
