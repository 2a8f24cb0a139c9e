# SPDX-License-Identifier: GPL-3.0-or-later
"""The base pose: what the bones of a live armature start from.

Bones with keys start each frame from their keys. Bones without keep our last answer in their channels, so the pose that
they start from is captured when live solving goes on, follows the user's own posing, is stored on the bones to survive
saving and undo, and is given back when live solving goes off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..solvers.algebra import quaternion
from . import channels, curves, rotation
from .build import Rig
from .channels import Channels

if TYPE_CHECKING:
    from .session import Session

EDITED = 1e-5  # a channel further from what was written was changed by the user


class Free:
    """Channels that keep our last answer, since no keys or drivers set them: bool (N, 4) and (N, 3)."""

    def __init__(self, rotations: np.ndarray, locations: np.ndarray) -> None:
        self.rotations, self.locations = rotations, locations
        self._asked: tuple[np.ndarray, bool] | None = None

    def unkeyed(self, bones: np.ndarray) -> bool:
        """Whether no rotation of these bones has keys; the last answer is kept."""
        if self._asked is None or self._asked[0] is not bones:
            self._asked = bones, bool(self.rotations[bones].all())
        return self._asked[1]


def capture(ob: bpy.types.Object, known: Session) -> None:
    """Take the bones' present pose as the base pose, and store it on them."""
    known.forget_pose()
    known.base = channels.read(ob.pose.bones)
    _store(ob, known.base, np.arange(len(ob.pose.bones)))
    ob.dqik.has_base = True


def restore(ob: bpy.types.Object, known: Session) -> None:
    """Give the bones back the base pose; bones with keys, what the keys say at this frame."""
    base = _stored(ob) if known.base is None else known.base
    if base is not None and base.fits(ob.pose.bones):
        now = channels.read(ob.pose.bones, base.groups)
        if known.frame_base is not None and isinstance(known.rig, Rig):
            ours = known.ours(known.rig)
            now.rotations[ours] = known.frame_base.rotations[ours]
            now.locations[ours] = known.frame_base.locations[ours]
        channels.write(ob.pose.bones, _merged(now, base, known.free), location=True)
        ob.update_tag(refresh={"DATA"})
    known.forget_pose()
    ob.dqik.has_base = False


def of_frame(
    ob: bpy.types.Object, known: Session, rig: Rig, evaluated: bpy.types.Object, fresh: bool
) -> tuple[Channels, Channels]:
    """The channels that this frame's solve starts from, and those that the evaluated pose was made with.

    ob, evaluated : the object, original and evaluated.
    fresh : right after a change of frame, when the evaluated bones with keys stand as their keys say.
    """
    if known.base is None or len(known.base.rotations) != len(ob.pose.bones):
        known.base = _stored(ob) or channels.read(ob.pose.bones)
    if rig.simple and known.held is rig.solved_bones and known.free and known.free.unkeyed(rig.bones):
        posed = base = known.base  # no bone of the skeleton has keys: nothing to be read
    else:
        posed = channels.read(evaluated.pose.bones, known.groups)
        base = without_answer(ob, known, posed, fresh)
    return (_at_rest(base, rig) if ob.dqik.start_from == "REST" else base), posed


def recall(ob: bpy.types.Object, known: Session, frame: float) -> None:
    """After loading and undo, when bones hold our answer: the base pose from the bones, what has keys from its keys."""
    known.base = _stored(ob) or channels.read(ob.pose.bones)
    known.frame_base = known.base.copy()
    for name, path, index, value in curves.bone_values(ob, frame):
        number = ob.pose.bones.find(name)
        if number >= 0 and path == "location":
            known.frame_base.locations[number, index] = value
        elif number >= 0 and path == rotation.PATHS[ob.pose.bones[number].rotation_mode]:
            known.frame_base.rotations[number, index] = value


def without_answer(ob: bpy.types.Object, known: Session, posed: Channels, fresh: bool) -> Channels:
    """The channels as they were this frame without us: bones with keys as those say, the others as in the base pose.

    posed : as evaluated. fresh : as in `of_frame`.
    """
    if known.base is None or len(known.base.rotations) != len(ob.pose.bones):
        known.base = _stored(ob) or channels.read(ob.pose.bones)
    keyed = posed if fresh or known.frame_base is None else known.frame_base
    known.frame_base = _merged(keyed, known.base, known.free)
    return known.frame_base


def adopt_edits(ob: bpy.types.Object, known: Session, fresh: bool) -> None:
    """Take over into the base pose what the user did to bones since our last answer.

    fresh : right after a change of frame, when bones with keys have moved by themselves.
    """
    known.now = None
    if known.written is None or known.base is None or known.free is None or not known.written.fits(ob.pose.bones):
        return
    now = was = known.written
    if known.room is None or known.written_raw is None or known.room.read(ob.pose.bones) != known.written_raw:
        now = channels.read(ob.pose.bones, known.groups)
    known.now = now
    if now is was:
        return
    if np.array_equal(now.rotations, was.rotations) and np.array_equal(now.locations, was.locations):
        return
    changing = known.free if fresh else Free(np.array(True), np.array(True))
    # written so that what is no number counts as edited
    turned = ~(np.abs(now.rotations - was.rotations) <= EDITED) & changing.rotations
    moved = ~(np.abs(now.locations - was.locations) <= EDITED) & changing.locations
    edited = np.flatnonzero(turned.any(-1) | moved.any(-1))
    if edited.size:
        turned = turned.any(-1, keepdims=True) & changing.rotations
        moved = moved.any(-1, keepdims=True) & changing.locations
        for base in (known.base, known.frame_base):
            if base is not None:
                np.copyto(base.rotations, now.rotations, where=turned)
                np.copyto(base.locations, now.locations, where=moved)
        known.previous = None
        _store(ob, known.base, edited)


def keep(ob: bpy.types.Object, known: Session) -> None:
    """Take all bones as they stand into the base pose."""
    known.forget_pose()
    known.base = channels.read(ob.pose.bones)
    _store(ob, known.base, np.arange(len(ob.pose.bones)))


def _at_rest(base: Channels, rig: Rig) -> Channels:
    """`base` with the solved bones at rest."""
    base = base.copy()
    for mode, members in base.groups:
        base.rotations[np.intersect1d(members, rig.solved_bones)] = rotation.NO_ROTATION[mode]
    base.locations[rig.bones[rig.slide_row]] = 0.0
    return base


def _merged(keyed: Channels, base: Channels, free: Free | None) -> Channels:
    """`keyed` with the free channels, by default all, as in `base`."""
    if free is None:
        return base.copy()
    return Channels(
        np.where(free.rotations, base.rotations, keyed.rotations),
        np.where(free.locations, base.locations, keyed.locations),
        keyed.groups,
    )


def _store(ob: bpy.types.Object, base: Channels, bones: np.ndarray) -> None:
    """Keep base channels on the bones themselves."""
    modes = base.modes()
    for index in map(int, bones):
        bone = ob.pose.bones[index]
        bone.dqik_base_rotation, bone.dqik_base_location = base.rotations[index], base.locations[index]
        bone.dqik_base_mode = modes[index]


def _stored(ob: bpy.types.Object) -> Channels | None:
    """The base channels that are kept on the bones, in the bones' present rotation modes."""
    if not ob.dqik.has_base:
        return None
    base = channels.read(ob.pose.bones)
    modes = base.modes()
    for index, bone in enumerate(ob.pose.bones):
        if not bone.dqik_base_mode:
            continue
        kept = np.array(bone.dqik_base_rotation)
        if bone.dqik_base_mode != modes[index]:
            turned = quaternion.normalize(rotation.to_quaternion(bone.dqik_base_mode, kept))
            kept = rotation.from_quaternion(modes[index], turned, base.rotations[index])
        base.rotations[index], base.locations[index] = kept, bone.dqik_base_location
    return base
