# SPDX-License-Identifier: GPL-3.0-or-later
"""The base pose of an armature: which bones hold our answer, and what these start from.

Bones with keys start each frame from their keys. The channels of bones without keys hold our last answer, so these
bones start from a base pose that is stored separately. It is captured when the first answer is written to a bone. It is
stored on the bone, so that it survives saving and undo. The bone returns to it when it is not solved any more or Live
is switched off.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...blender import animation, channels
from ...blender.channels import Channels, Modes, Which
from ...notes import Note
from ...skeleton import owners
from ..read import keyed_pose
from ..read.view import View
from . import holds, stored_base
from .adoptions import Adoptions


@dataclass
class KeyedPose:
    """The channels of a scene at a frame as keys, drivers and the user set them, without our answer."""

    frame: float
    channels: Channels


class BasePose:
    """The bones that hold our answer and what they start from. Only its own methods change it.

    Attributes
    ----------
    bones : (N,) bool, bones that hold an answer of ours. rows : their indices.
    base : the channels that these bones start from unless they are animated; None before the first answer.
    written : the channels after our last write; None if nothing was written since the memory was made.
    stored : whether the base pose is also stored on the bones themselves.
    adoptions : edits that the base pose has adopted.
    notes : about what could not be read from the bones.
    """

    def __init__(self, stored: bool = True, adoptions: Adoptions | None = None) -> None:
        self.stored, self.adoptions = stored, adoptions or Adoptions()
        self._reset()

    def _reset(self) -> None:
        """Remember nothing of the pose; its adoptions stay."""
        self.bones, self.rows = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.intp)
        self.base: Channels | None = None
        self.written: Channels | None = None
        self.notes: list[Note] = []
        self._keyed: dict[int, KeyedPose] = {}
        self._names: tuple[str, ...] = ()
        self._left = np.zeros(0, dtype=np.intp)  # bones that were put back, in any scene

    def fit(self, ob: bpy.types.Object, modes: Modes, edited: bool = True) -> None:
        """Match the memory to the present bones: read the base pose from the bones if it is missing or for other bones.

        edited : whether bones may have been renamed or reordered.
        """
        same = len(self.bones) == len(ob.pose.bones) and (self.base is None or self.base.modes == modes)
        if same and (not edited or self._names == tuple(ob.pose.bones.keys())):
            return
        if self.stored:
            renamed = bool(self._names) and self._names != tuple(ob.pose.bones.keys())
            self._recall(ob, modes)
            if renamed:
                self._store(ob, self.rows)  # under the bones' new names
        elif self.base is not None and self._names == tuple(ob.pose.bones.keys()):
            self.base = self.base.in_modes(modes)
        else:
            self._hold(np.zeros(len(ob.pose.bones), dtype=bool))
            self.base = None
        self._names = tuple(ob.pose.bones.keys())

    def start(self, ob: bpy.types.Object, posed: Channels, free: Which, view: View) -> Channels:
        """The channels as they would be without DQIK: animated ones from keys and drivers, others from the base pose.

        posed : the evaluated channels; bones that hold no answer of ours keep them.
        """
        start, rows = posed.copy(), self.rows
        if self._left.size and not view.fresh:
            self._resume(start, ob, free, view)
        if self.base is None or not rows.size:
            self._note_keyed(start, view)
            return start
        start.put(self.base, rows)
        if free.of(rows).all():
            if self._left.size and view.fresh:
                self._note_keyed(start, view)  # for the bones that were put back
            return start
        if view.fresh:
            self._outdate(ob)
        keyed = posed if view.fresh else self._keyed_channels(ob, view)
        start.put_some(keyed, ~free & self._ours())
        self._note_keyed(start, view)
        return start

    def occupy(self, ob: bpy.types.Object, bones: np.ndarray, now: Channels) -> None:
        """Set the bones (N,) bool that hold answers of ours; newly added ones take `now` as their base pose."""
        if bones.tobytes() == self.bones.tobytes():
            return
        new, left = bones & ~self.bones, self.bones & ~bones
        if self.base is None:
            self.base = now.copy()
        self.base.put(now, new)
        self._hold(bones)
        self._left = np.union1d(np.setdiff1d(self._left, self.rows), np.flatnonzero(left))
        self._store(ob, np.flatnonzero(new))
        if self.stored and new.any():
            holds.make_explicit(ob)
        self._unstore(ob, np.flatnonzero(left))

    def give_back(self, ob: bpy.types.Object, free: Which | None, view: View | None) -> None:
        """Put the bones that hold an answer back to their base pose, and animated channels to their animated values.

        free : as for `start`; None treats all channels as not animated.
        """
        modes = channels.modes(ob.pose.bones)
        self.fit(ob, modes)
        if self.base is not None and self.bones.any():
            now = channels.read(ob.pose.bones, modes)
            now.put(self.base, self.rows)
            if free is not None and view is not None:
                now.put_some(self._keyed_channels(ob, view), ~free & self._ours())
            channels.write(ob, now)
            ob.update_tag(refresh={"DATA"})
        rows = self.rows
        self._reset()
        self._unstore(ob, rows)

    def note_written(self, answer: Channels) -> None:
        """Remember the channels that were written last."""
        self.written = answer

    def rebase(self, ob: bpy.types.Object) -> None:
        """Make the present channels of the bones that hold an answer their base pose."""
        now = channels.read(ob.pose.bones)
        self.fit(ob, now.modes)
        if self.base is not None and self.bones.any():
            self.base.put(now, self.rows)
            self._keyed.clear()
            self.written = now
            self._store(ob, np.flatnonzero(self.bones))

    def keep_own(self, ob: bpy.types.Object) -> None:
        """Remove base poses of others from the bones, and store our own again where they were replaced."""
        others = stored_base.others(ob)
        self._unstore(ob, np.setdiff1d(others, self.rows))
        self._store(ob, np.intersect1d(others, self.rows))

    def keep_unmirrored(self, ob: bpy.types.Object) -> None:
        """Store our own base pose again where that of the bone on the other side is stored."""
        bones = [ob.pose.bones[row] for row in self.rows.tolist()] if self._names == tuple(ob.pose.bones.keys()) else []
        pairs = zip(self.rows.tolist(), bones, strict=False)
        found = [row for row, bone in pairs if not stored_base.bone_of(bone) or stored_base.is_mirrored(bone)]
        self._store(ob, np.array(found, dtype=np.intp))

    def take_mirrored(self, ob: bpy.types.Object, evaluated: bpy.types.Object) -> None:
        """Give bones that hold no answer, but got the base pose of a counterpart that did, its mirror image.

        So a limb that a mirrored paste leads by its goal now starts from where the other one did. Keyed ones have the
        pose that is pasted.
        """
        bones = [ob.pose.bones[number] for number in stored_base.own(ob) if number not in self.rows]
        loose = [bone for bone in bones if stored_base.is_mirrored(bone)]
        start = channels.read(ob.pose.bones) if loose else None
        for bone in loose:
            if start is not None and not animation.moves(ob, bone.name):
                stored_base.read(bone, ob.pose.bones.find(bone.name), start, mirror=True)
            stored_base.remove(bone)
        if start is not None:
            channels.write(ob, start)
            channels.write(evaluated, start)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _is_alike(self, one: Channels, other: Channels) -> bool:
        """Whether our bones have the same channels in both."""
        rows = self.rows
        return (
            one.rotations[rows].tobytes() == other.rotations[rows].tobytes()
            and one.locations[rows].tobytes() == other.locations[rows].tobytes()
        )  # fmt: skip

    def _hold(self, bones: np.ndarray) -> None:
        self.bones, self.rows = bones, np.flatnonzero(bones)

    def _ours(self) -> Which:
        """The channels of the bones that hold an answer, as (N, 1)."""
        return Which(self.bones[:, None], self.bones[:, None])

    def _outdate(self, ob: bpy.types.Object) -> None:
        """Animation has set the animated channels: edits of these are past."""
        count = self.adoptions.outdate(ob.dqik.adoptions)
        if count != ob.dqik.adoptions:
            ob.dqik.adoptions = count

    def _note_keyed(self, start: Channels, view: View) -> None:
        """Remember the channels that the view's frame starts from."""
        self._keyed[view.scene_uid] = KeyedPose(view.frame, start.copy())

    def _resume(self, start: Channels, ob: bpy.types.Object, free: Which, view: View) -> None:
        """Give bones that were put back at another scene's frame the animated channels of this scene's, in `start`.

        A bone that the user has changed since keeps its channels, and so does what nothing animates any more.
        """
        written, rows = self.written, self._left
        if written is None:
            return
        unchanged = (start.rotations[rows] == written.rotations[rows]).all(-1)
        unchanged &= (start.locations[rows] == written.locations[rows]).all(-1)
        self._left = rows = rows[unchanged]
        keyed = self._keyed_channels(ob, view)
        start.rotations[rows] = np.where(free.rotations[rows], start.rotations[rows], keyed.rotations[rows])
        start.locations[rows] = np.where(free.locations[rows], start.locations[rows], keyed.locations[rows])

    def _keyed_channels(self, ob: bpy.types.Object, view: View) -> Channels:
        """The animated channels as the scene's last change of frame and the user left them, remembered or read anew."""
        keyed = self._keyed.get(view.scene_uid)
        if keyed is not None and keyed.frame == view.frame and len(keyed.channels.rotations) == len(self.bones):
            return keyed.channels
        found = keyed_pose.read(ob, self.base, view)
        self.adoptions.overlay(ob.dqik.adoptions, self._names, (view.scene_uid, view.frame), found)
        return found

    def _recall(self, ob: bpy.types.Object, modes: Modes) -> None:
        """Read the base pose that is stored on the bones, converted to their present rotation modes."""
        self._reset()
        bones = np.zeros(len(ob.pose.bones), dtype=bool)
        self._hold(bones)
        if not ob.dqik.has_base:
            return
        self.notes = [
            Note("The base pose that bone {} had stored was damaged: its present pose is used", repr(name))
            for name in stored_base.damaged(ob)
        ]  # fmt: skip
        now = channels.read(ob.pose.bones, modes)
        self.base = now.copy()
        for number in stored_base.own(ob):
            bones[number] = True
            stored_base.read(ob.pose.bones[number], number, self.base)
        self._hold(bones)
        self._unstore(ob, np.array(stored_base.others(ob), dtype=np.intp))
        adoption = self.adoptions.find(ob.dqik.adoptions, tuple(ob.pose.bones.keys()), now)
        if adoption is not None:
            self.base = adoption.base.copy()
            holds.restore(ob, adoption.holds)
            ob.dqik.adoptions += 1
            self._store(ob, self.rows)

    def _store(self, ob: bpy.types.Object, bones: np.ndarray) -> None:
        """Store the base pose of some bones on the bones themselves."""
        if not self.stored or self.base is None:
            return
        if bones.size and not ob.dqik.has_base:
            owners.begin_work(ob)
        stored_base.write(ob, bones, self.base)
        if bones.size:
            ob.dqik.has_base = True

    def _unstore(self, ob: bpy.types.Object, bones: np.ndarray) -> None:
        """Remove the stored base pose of some bones."""
        if not self.stored:
            return
        for number in map(int, bones):
            stored_base.remove(ob.pose.bones[number])
        if bones.size and not self.bones.any():
            ob.dqik.has_base, ob.dqik.work = False, 0
