# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments: the Child Of constraints by which DQIK ties bones and objects to others, from a frame on.

The influence of an attachment has keys without interpolation: 0 before its first frame, 1 from there on, and 0 again
from the frame on which it is let go. So each frame says by itself what is attached.
"""

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

import bpy
from mathutils import Matrix

from .. import curves
from ..blender import rotation
from ..blender.dependencies import Bone, acts
from ..blender.places import Owner, owner_of, world_matrix

NAME = "DQIK Attach"
"""What the names of the constraints begin with."""

CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
"""The channels of a place, and how many numbers they have."""

SET_ASIDE = "dqik_set_aside_"
"""What the names of the properties begin with whose muted curves have the keys that an attachment does without."""


class Attachment(NamedTuple):
    """An attachment of an object, or of a bone of it.

    ob, bone : what is attached; the bone is empty for the object. constraint : its name. start, end : the first frame,
    and the one on which it is let go, infinite if it is not.
    """

    ob: bpy.types.Object
    bone: str
    constraint: str
    target: bpy.types.Object | None
    subtarget: str
    start: float
    end: float

    @property
    def owner(self) -> Bone:
        """What is attached."""
        return self.ob, self.bone

    def acts_at(self, time: float) -> bool:
        """Whether it acts at a time."""
        return self.start <= time < self.end


def constraints(owner: Owner) -> list[bpy.types.Constraint]:
    """The constraints of a bone or an object that are attachments."""
    return [one for one in owner.constraints if one.type == "CHILD_OF" and one.name.startswith(NAME)]


def are_all(owner: Owner) -> bool:
    """Whether no other constraint has an effect on a bone or an object."""
    own = {one.name for one in constraints(owner)}
    return not any(acts(one) for one in owner.constraints if one.name not in own)


def paths(owner: Owner) -> set[str]:
    """The data paths of the place of a bone or an object, which are keyed where it is attached and let go."""
    names = ("location", rotation.PATHS[owner.rotation_mode], "scale")
    return {curves.path_of(owner, name) for name in names}


def curves_of(owner: Owner) -> list[bpy.types.FCurve]:
    """The curves with keys of the place of a bone or an object."""
    return curves.keyed(owner.id_data, paths(owner))


def aside(path: str) -> str:
    """The data path on which the keys of a channel are set aside."""
    holder, dot, channel = path.rpartition(".")
    return f"{holder}{dot}{SET_ASIDE}{channel}"


def of(ob: bpy.types.Object, bone: str = "") -> Iterator[Attachment]:
    """The attachments of an object, or of one of its bones, in their order."""
    owner = owner_of(ob, bone)
    for one in () if owner is None else constraints(owner):
        start, end = -inf, inf
        keyed = [tuple(key.co) for curve in curves.of_property(one, "influence") for key in curve.keyframe_points]
        for time, value in keyed or [(-inf, 1.0)]:  # one without keys acts always
            if value > 0.5 and start == -inf:
                start = time
            elif value <= 0.5 and start > -inf and end == inf:
                end = time
        yield Attachment(ob, bone, one.name, one.target, one.subtarget, start, end)


def frames_before(ob: bpy.types.Object) -> dict[str, set[float]]:
    """The frames before attachments of an object and its bones begin and end, where places are keyed, by data path."""
    found: dict[str, set[float]] = {}
    for owner in (ob, *(ob.pose.bones if ob.pose is not None else ())):
        for one in of(ob, "" if owner == ob else owner.name) if len(owner.constraints) else ():
            for path in paths(owner):
                found.setdefault(path, set()).update((curves.frame_before(one.start), curves.frame_before(one.end)))
    return found


def before(ob: bpy.types.Object, bone: str, world: Matrix, depsgraph: bpy.types.Depsgraph) -> Matrix | None:
    """The world matrix from which the attachments carry an object or a bone to `world`, as a depsgraph evaluates them.

    None if an attachment acts in part, or its target has lost its size: then there is no such matrix.
    """
    owner, matrix = owner_of(ob.evaluated_get(depsgraph), bone), world.copy()
    for one in reversed(constraints(owner)) if len(owner.constraints) else ():
        if acts(one):
            by = carrying(one.target, one.subtarget, depsgraph) @ one.inverse_matrix
            if one.influence < 1.0 or not abs(by.determinant()) > 0.0:
                return None
            matrix = by.inverted_safe() @ matrix
    return matrix


def carrying(target: bpy.types.Object, subtarget: str, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """The world matrix of what an attachment ties to; without the bone's if the object has none of that name."""
    found = world_matrix(target, subtarget, depsgraph)
    return (world_matrix(target, "", depsgraph) if found is None else found).copy()


def add(owner: Owner, target: bpy.types.Object, subtarget: str, inverse: Matrix, time: float, end: float = inf) -> None:
    """Attach a bone or an object over a span of time. inverse : what the target's world matrix is multiplied by."""
    made = owner.constraints.new("CHILD_OF")
    made.name = NAME
    made.target, made.subtarget = target, subtarget
    made.owner_space = made.target_space = "WORLD"  # for bones Blender begins with the space of their armature
    made.inverse_matrix = inverse
    made.set_inverse_pending = False
    for frame, influence in ((curves.frame_before(time), 0.0), (time, 1.0), *([(end, 0.0)] if end < inf else [])):
        _key(owner, made, frame, influence)


def end(one: Attachment, time: float) -> None:
    """Let an attachment go at a time after its start."""
    owner = owner_of(one.ob, one.bone)
    constraint = owner.constraints[one.constraint]
    curves.remove_keys(curves.of_property(constraint, "influence"), time, inf)
    _key(owner, constraint, time, 0.0)


def remove(one: Attachment) -> None:
    """Remove the constraint of an attachment and its keys."""
    owner = owner_of(one.ob, one.bone)
    constraint = owner.constraints[one.constraint]
    curves.remove_path(one.ob, constraint.path_from_id("influence"))
    owner.constraints.remove(constraint)


def _key(owner: Owner, constraint: bpy.types.Constraint, time: float, influence: float) -> None:
    constraint.influence = influence
    constraint.keyframe_insert("influence", frame=time, group=owner.name)
    for curve in curves.of_property(constraint, "influence"):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
        curve.update()
