# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of an armature's pose: which bones hold our answer, what these start from, and what the user's edits were.

Bones with keys start each frame from their keys. The channels of bones without keys hold our last answer, so these
bones start from a base pose that is stored separately. It is captured when the first answer is written to a bone, and
updated when the user poses the bone. It is stored on the bone, so that it survives saving and undo. The bone returns to
it when it is not solved any more or Live is switched off.

Tools that put back what they found make no edits; the states before the last edits are remembered to tell them apart.
"""

from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ....solvers.algebra import quaternion
from ...blender import actions, animation, channels
from ...blender.channels import Channels, Modes, Scales, Which
from ...blender.rotation import PATHS
from ...keys import keying
from ...notes import Code, Note
from ...skeleton import foot_roll, owners, stretch
from ..read import keyed_pose
from ..read.view import View
from . import holds, stored_base
from .adoptions import Adoption, Adoptions, ByHand, Unkeyed
from .prepared_rig import PreparedRig
from .put_back import SOLVED, History, Place, State, same_pose

EDITED = 1e-5  # a channel further from what was written was changed by the user
_OF_PASTE = (Code.PASTED_OTHERWISE, Code.SWITCH_NOT_KEYED)  # notes about what is shown until the frame changes


@dataclass
class KeyedPose:
    """The channels of a scene at a frame as keys, drivers and the user set them, without our answer."""

    frame: float
    channels: Channels


class Kept(NamedTuple):
    """What there was before some edits: the state if it is known, the posed bones, the count of adoptions, and keys."""

    state: State | None
    posed: dict[int, ByHand]
    adoptions: int
    keyed: dict[int, KeyedPose]


class PoseMemory:
    """What is remembered of one armature's pose. Only its own methods change it.

    Attributes
    ----------
    bones : (N,) bool, bones that hold an answer of ours. rows : their indices.
    base : the channels that these bones start from unless they are animated; None before the first answer.
    written : the channels after our last write; None if nothing was written since the memory was made.
    stored : whether the base pose is also stored on the bones themselves.
    adoptions : edits that the base pose has adopted.
    notes : about what could not be read from the bones.
    history : what the figure showed where.
    unsettled : the channels after an edit that may be none, until `frame.solve` decides on it.
    posed : solved bones that were posed by hand at the present frame.
    stretched : (k,) bones that the last answer has scaled; without it they have no scale.
    sure : whether all limbs with goals have come from the other side by a mirrored paste that is not adopted yet.
    """

    def __init__(self, stored: bool = True) -> None:
        self.stored, self.adoptions = stored, Adoptions()
        self._reset()

    def _reset(self) -> None:
        """Remember nothing of the pose; its adoptions stay."""
        self.bones, self.rows = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.intp)
        self.base: Channels | None = None
        self.written: Channels | None = None
        self.notes: list[Note] = []
        self.history = History()
        self.unsettled: Channels | None = None
        self.posed: dict[int, ByHand] = {}
        self.stretched = np.zeros(0, dtype=np.intp)
        self._keyed: dict[int, KeyedPose] = {}
        self._names: tuple[str, ...] = ()
        self._left = np.zeros(0, dtype=np.intp)  # bones that were put back, in any scene
        self.sure = False
        self._arrived: Channels | None = None  # before handlers of other add-ons have seen a change of frame
        self._unkeyed: dict[int, Unkeyed] = {}  # keyed bones that were posed at the present frame

    # -- the base pose -----------------------------------------------------------------------------------------------

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
        if free.of(rows).all():
            start.put(self.base, rows)
            if self._left.size and view.fresh:
                self._note_keyed(start, view)  # for the bones that were put back
            return start
        if view.fresh:
            self._outdate(ob)
            start.put_some(self.base, free & self._ours())  # the others are as animation has just set them
        else:
            start.put(self.base, rows)
            start.put_some(self._keyed_channels(ob, view), ~free & self._ours())
        self._note_keyed(start, view)
        return start

    def come_back(self, ob: bpy.types.Object, now: Channels, posed: Channels, prepared: PreparedRig, view: View
                  ) -> None:  # fmt: skip
        """Give bones that are solved again what they started from before, if they show again what the frame showed.

        A tool has put that back, unless the frame before showed it already: then it was posed there. now, posed : the
        original and the evaluated channels, updated in place.
        """
        if not (view.in_viewport and view.fresh) or self.base is None or now.modes != self.base.modes:
            return
        again = prepared.solved & ~self.bones & prepared.free.rotations.all(-1)
        bones = np.flatnonzero(again)
        if not bones.size:
            return
        last, place = self.history.shown_last(self.history.place), (*view.place, prepared.action)
        showing = self.history.showing(place, now, bones, bones)
        if showing is None or (last is not None and same_pose(last, now, bones, bones)):
            return
        state = self.history.state_of(showing, self.state(ob))
        if state is not None:
            free = prepared.free & Which(again[:, None], again[:, None])
            now.put_some(state.base, free)
            posed.put_some(state.base, free)
            channels.write(ob, now)
            if self.stored:
                holds.restore(ob, state.holds)

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
            now.scales = self.unscaled
            channels.write(ob, now)
            ob.update_tag(refresh={"DATA"})
        rows = self.rows
        self._reset()
        self._unstore(ob, rows)

    @property
    def unscaled(self) -> Scales | None:
        """The scales of the bones that an answer has scaled, without it; None if there are none."""
        return Scales.none(self.stretched) if self.stretched.size else None

    def leave_scales(self, animated: frozenset[str]) -> None:
        """Leave the scales of bones that animation sets by now, by their names, to it."""
        if animated and self.stretched.size:
            left = [k for k in self.stretched.tolist() if self._names[k] not in animated]
            self.stretched = np.array(left, dtype=np.intp)

    def note_written(self, answer: Channels) -> None:
        """Remember the channels that were written last."""
        self.written = answer
        if answer.scales is not None:
            self.stretched = answer.scales.scaled

    def rebase(self, ob: bpy.types.Object) -> None:
        """Make the present channels of the bones that hold an answer their base pose."""
        now = channels.read(ob.pose.bones)
        self.fit(ob, now.modes)
        if self.base is not None and self.bones.any():
            self.base.put(now, self.rows)
            self._keyed.clear()
            self.written = now
            self._store(ob, self.rows)
        self._arrived = None

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

    # -- edits -------------------------------------------------------------------------------------------------------

    def copy(self, ob: bpy.types.Object) -> "PoseMemory":
        """An independent memory of the same pose, for a bake or a comparison: it stores nothing on the bones."""
        self.fit(ob, channels.modes(ob.pose.bones))
        other = PoseMemory(stored=False)
        other.bones, other.rows = self.bones.copy(), self.rows.copy()
        other.base = None if self.base is None else self.base.copy()
        other._names, other.stretched = self._names, self.stretched
        return other

    def note_arrival(self, ob: bpy.types.Object | None) -> None:
        """Note the channels before a change of frame, which handlers of other add-ons may use to change them.

        ob : None if they may have changed them already; then the channels are those written last.
        """
        if self.written is not None and (ob is None or len(ob.pose.bones) == len(self.bones)):
            self._arrived = self.written if ob is None else channels.read(ob.pose.bones, self.written.modes)

    def adopt_edits(
        self, ob: bpy.types.Object, now: Channels, prepared: PreparedRig, view: View, settled: bool = False
    ) -> None:  # fmt: skip
        """Copy the user's edits since our last answer into the base pose, and hold the bones that are solved there.

        now : the original bones' channels. prepared : says what animates the armature.
        settled : adopt an edit that came with a change of frame, or that makes a pose from before the last edits;
        `frame.solve` decides on it otherwise.
        """
        before, arrived, self._arrived = self.written, self._arrived, None
        self.unsettled, self.history.edited = None, False
        if view.fresh:
            self.notes = [note for note in self.notes if note.code not in _OF_PASTE]
        if before is None or self.base is None or before.modes != now.modes:
            return
        if view.fresh:
            self._lose_unkeyed(ob, before, prepared, view)
            if arrived is not None and arrived.modes == before.modes:
                now = arrived  # what has changed since came with the frame
        if before.alike(now, self.rows):
            return
        if view.fresh and not (now.unlike(before) & prepared.free).of(self.rows).any():
            return  # animation has changed the others
        edited, animated = self._edits(ob, now, before, prepared, view)
        turned, moved = edited.rotations.any(-1), edited.locations.any(-1)
        bones = np.flatnonzero(turned), np.flatnonzero(moved)
        action, place = prepared.action, (*view.place, prepared.action)
        if not any(part.size for part in bones) or same_pose(before, now, *bones):
            if self._unkeyed and not animated:  # a pose that is cancelled goes back to the keys, which are no edit
                changed = now.away(before, EDITED) & self._ours()
                self._is_put_back(ob, now, changed.rotations.any(-1), changed.locations.any(-1), place, view.fresh)
            return
        if self.history.place[2] != action and actions.has_curves(self.history.place[2]):
            return  # it came with another action; one that has lost its curves had them moved to this one
        if self._is_put_back(ob, now, turned, moved, place, view.fresh):
            return
        shown = self.history.showing(place, now, *self._compared(prepared.free, view))
        if not settled and (view.fresh or shown is not None):
            self.unsettled = now
            return
        self._adopt(ob, now, edited, edited.whole() & prepared.free if animated else edited.whole(), prepared, view)

    def _edits(
        self, ob: bpy.types.Object, now: Channels, before: Channels, prepared: PreparedRig, view: View
    ) -> tuple[Which, bool]:  # fmt: skip
        """The channels of `now` in which a hand has changed what was written `before`, and whether animation has too.

        After a change of frame or of keys only channels that nothing animates count.
        """
        assert self.base is not None
        free, keyed = prepared.free, self._keyed.get(view.scene_uid)
        edited = now.away(before, EDITED) & self._ours()
        passed = keyed is not None and keyed.frame != view.frame  # a change of frame in Rest Position is not solved
        animated = view.fresh or prepared.reanimated or passed
        if keyed is not None and not animated:
            edited &= free | now.unlike(keyed.channels)  # Blender may have evaluated animation again
            if (edited & ~free).any():
                edited &= free | now.away(keyed_pose.read(ob, self.base, view), EDITED)
        if prepared.reanimated and not view.fresh:
            self._outdate(ob)
            if keyed is not None:
                keyed.channels.put_some(now, edited.whole() & ~free)
            self._note_posed_and_keyed(ob, now, before, edited & ~free, prepared, view)
        if animated:
            edited &= free
        # nothing is seen of the locations of connected bones, so they are no edits
        hidden = [k for k in np.flatnonzero(edited.locations.any(-1)).tolist() if ob.pose.bones[k].bone.use_connect]
        if hidden:
            base, own = self.base.locations, edited.locations[hidden]
            base[hidden] = np.where(own, now.locations[hidden], base[hidden])
            edited.locations[hidden] = False
            self._store(ob, np.array(hidden, dtype=np.intp))
        return edited, animated

    def _adopt(
        self, ob: bpy.types.Object, now: Channels, edited: Which, taken: Which, prepared: PreparedRig, view: View
    ) -> None:  # fmt: skip
        """Make an edit that left bones in `now` part of the base pose. taken : the channels that are copied.

        Bones that are held with posed ones (`Rig.held_with`) are held as the user sees them, so what is seen becomes
        their base pose.
        """
        assert self.base is not None and self.written is not None
        before, free, keyed, state = self.written, prepared.free, self._keyed.get(view.scene_uid), self.state(ob)
        keyed_before = None if keyed is None else keyed.channels.copy()
        turned, moved = edited.rotations.any(-1), edited.locations.any(-1)
        self.history.note_edit(before, state, keyed_before, turned, moved)
        is_turned, is_moved = np.flatnonzero(turned), np.flatnonzero(moved)
        posed = self.unbent(ob, now, prepared)
        if self.stored:
            self._note_unkeyed(Unkeyed(state, keyed_before), edited, free)
        self.base.put_some(posed, taken)
        if keyed is not None:
            keyed.channels.put_some(posed, taken)
        mirrored = stored_base.mirrored(ob, self.rows, self.base, self.sure) if self.stored else None
        self.sure = False
        if mirrored is not None:
            self.base = mirrored
        else:
            above = self._held_above(now, is_turned, prepared)
            self.base.rotations[above] = before.rotations[above]
        if not self.stored:
            return
        solved = prepared.solved
        if mirrored is None:
            holds.note_posed(ob, now, is_turned[solved[is_turned]], is_moved[solved[is_moved]])
        self._note_adoption(ob, now, view.place, (is_turned, is_moved), state)
        bones = np.flatnonzero(turned | moved)
        self._note_posed(ob, bones[solved[bones]], view, state, keyed_before)

    def shows(self, answer: Channels, edited: Channels, free: Which, view: View) -> bool:
        """Whether a change of the pose has made an answer."""
        return same_pose(answer, edited, *self._compared(free, view), SOLVED)

    def earlier(
        self, ob: bpy.types.Object, view: View, action: int, edited: Channels, free: Which
    ) -> tuple[State | None, bool]:  # fmt: skip
        """The state in which a place has shown the channels `edited`; None if it is not known.

        Also returns whether what it has shown depends on the frames before.
        """
        showing = self.history.showing((*view.place, action), edited, *self._compared(free, view))
        state = None if showing is None else self.history.state_of(showing, self.state(ob))
        return state, showing is not None and state is not None and showing.followed

    def ask_again(self, edited: Channels) -> None:
        """Take these channels as those before the change of frame once more."""
        self._arrived = edited

    def state(self, ob: bpy.types.Object) -> State:
        """The present base pose and holds, with copies of their own."""
        assert self.base is not None
        return State(self.base.copy(), holds.stored(ob))

    def go_back(self, ob: bpy.types.Object, state: State) -> None:
        """Make an earlier base pose and earlier holds the present ones; they are stored by `note_gone_back`."""
        self.base, self.history.edited = state.base.copy(), True
        if self.stored:
            holds.restore(ob, state.holds)

    def kept(self, ob: bpy.types.Object) -> Kept:
        """What `take_back` needs to undo the edits from now on."""
        keyed = {scene: KeyedPose(one.frame, one.channels.copy()) for scene, one in self._keyed.items()}
        return Kept(None if self.base is None else self.state(ob), dict(self.posed), ob.dqik.adoptions, keyed)

    def take_back(self, ob: bpy.types.Object, kept: Kept, shown: Channels) -> None:
        """Undo the edits since `kept`, as if they had never been. shown : the channels from then, which are back."""
        if kept.state is not None:
            self.go_back(ob, kept.state)
            self._store(ob, self.rows)
        self.posed, self.written, ob.dqik.adoptions = dict(kept.posed), shown.copy(), kept.adoptions
        self._keyed = kept.keyed

    def note_shown(self, answer: Channels, view: View, action: int, followed: bool) -> None:
        """Remember the channels that a place shows now.

        action : the identity of the armature's action. followed : whether they depend on the frames before.
        """
        before = self.written
        self.note_written(answer)
        if view.fresh:
            self.posed.clear()
        other = not (view.fresh or self.history.edited or before is None or before.alike(answer, self.rows))
        self.history.note_shown((*view.place, action), answer, view.fresh, other, followed)

    def note_gone_back(self, ob: bpy.types.Object, now: Channels, view: View) -> None:
        """Store the state that was gone back to, after an edit that left bones in `now`."""
        if self.stored:
            self._note_adoption(ob, now, view.place)

    def before_posed(self, ob: bpy.types.Object, bone: int, place: tuple[int, float] | None = None) -> State:
        """The base pose and the holds before a bone was posed by hand; the present ones if these are not known.

        place : the scene's identity and the frame, if it counts only there.
        """
        present, found = self.state(ob), self.adoptions.before(ob.dqik.adoptions, self._names, bone, place)
        return found if found is not None and found.base.modes == present.base.modes else present

    def let_go(self, ob: bpy.types.Object, bones: list[int], before: State) -> None:
        """Give bones that were held with another one the base pose from before this was posed."""
        if self.base is not None:
            self.base.rotations[bones] = before.base.rotations[bones]
            self._store(ob, np.intersect1d(bones, self.rows))

    def started(self, ob: bpy.types.Object, bone: int, free: Which, view: View) -> Channels:
        """The channels that the view's frame starts from, as far as they concern a bone."""
        assert self.base is not None
        is_base = bone in self.posed or free.rotations[bone].all()
        return self.base if is_base else self._keyed_channels(ob, view)

    def take_pasted(self, ob: bpy.types.Object, pasted: Channels, prepared: PreparedRig, view: View) -> None:
        """Let the view's frame start from a pose that was pasted, in `pasted`, where bones hold an answer."""
        if self.base is None or pasted.modes != self.base.modes:
            return
        pasted, keyed = self.unbent(ob, pasted, prepared), self._keyed.get(view.scene_uid)
        self.base.put(pasted, self.rows)
        if keyed is not None:
            keyed.channels.put(pasted, self.rows)
        self._note_adoption(ob, pasted, view.place)

    def unbent(self, ob: bpy.types.Object, now: Channels, prepared: PreparedRig) -> Channels:
        """Channels with which toes that the roll of their foot bends look as they do in `now`."""
        if prepared.rig is None or not prepared.rig.rolled_feet:
            return now
        posed = now.copy()
        for toes, back in prepared.rig.unbent([foot_roll.of(goal) for goal in ob.dqik.goals]).items():
            bones = np.array([toes])
            turned = quaternion.product(back, now.modes.quaternions(now.rotations[bones], bones))
            posed.rotations[bones] = now.modes.channels(turned, bones, now.rotations[bones])
        return posed

    def note_own_keys(self, ob: bpy.types.Object, bones: list[int], view: View) -> None:
        """DQIK has keyed bones at the view's frame: what Blender evaluates from these keys is no edit."""
        if self.base is not None and bones:
            keyed = self._keyed_channels(ob, view).copy()
            keyed.put(keyed_pose.read(ob, self.base, view), np.array(bones))
            self._note_keyed(keyed, view)

    # -- inside -------------------------------------------------------------------------------------------------------

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
        self.adoptions.overlay(ob.dqik.adoptions, self._names, view.place, found)
        return found

    def _recall(self, ob: bpy.types.Object, modes: Modes) -> None:
        """Read the base pose that is stored on the bones, converted to their present rotation modes."""
        self._reset()
        names, bones = tuple(ob.pose.bones.keys()), np.zeros(len(ob.pose.bones), dtype=bool)
        self._unkeyed = self.adoptions.unkeyed(ob.dqik.adoptions, names)
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
        self.stretched = np.array([k for k in self.rows.tolist() if _is_stretched(ob.pose.bones[k])], dtype=np.intp)
        self._unstore(ob, np.array(stored_base.others(ob), dtype=np.intp))
        adoption = self.adoptions.find(ob.dqik.adoptions, tuple(ob.pose.bones.keys()), now)
        if adoption is not None:
            self.base = adoption.after.base.copy()
            holds.restore(ob, adoption.after.holds)
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
        if bones.size and not stored_base.own(ob):  # after undo nothing of ours is remembered yet
            ob.dqik.has_base, ob.dqik.work = False, 0

    def _note_unkeyed(self, before: Unkeyed, edited: Which, free: Which) -> None:
        """Remember bones whose edited channels are all animated, with what was before the first edit of each."""
        (turned, moved), (stay, remain) = edited.whole(), (edited & free).whole()
        for bone in np.flatnonzero((turned | moved) & ~(stay | remain)).tolist():
            self._unkeyed.setdefault(bone, before)

    def _lose_unkeyed(self, ob: bpy.types.Object, seen: Channels, prepared: PreparedRig, view: View) -> None:
        """Give bones that were posed and not keyed back what they had: the new frame has replaced them by their keys.

        Not if they were keyed as they were posed, or as they were `seen`: their curves have changed since. Holds that
        are animated are the frame's own.
        """
        keyed = self._keyed.get(view.scene_uid)
        if not self._unkeyed or keyed is None or self.base is None:
            return
        posed, lost = keyed.channels, list[int]()
        found = keyed_pose.from_curves(ob, posed, keyed.frame)
        for bone, (before, keys) in self._unkeyed.items():
            one = np.array([bone])
            as_before = keys is not None and same_pose(found, keys, one, one)
            if as_before or not (same_pose(found, posed, one, one) or same_pose(found, seen, one, one)):
                if not prepared.own_holds[bone]:
                    holds.put(ob.pose.bones[bone], float(before.holds[bone]))
                self.base.put(before.base, one)
                lost.append(bone)
        self._unkeyed = {}
        self._store(ob, np.array(lost, dtype=np.intp))

    def _is_put_back(
        self, ob: bpy.types.Object, now: Channels, turned: np.ndarray, moved: np.ndarray, place: Place, fresh: bool
    ) -> bool:  # fmt: skip
        """Take back the edits since a pose that `now` shows again, if there is one; returns whether there is.

        turned, moved : (N,) bool, bones that have changed. place : the present one. fresh : as in `View`.
        """
        found = self.history.find(place, now, turned, moved, self.state(ob))
        if found is None or len(found[0].holds) != len(self.bones):
            return False
        state, keyed_then = found
        self.go_back(ob, state)
        keyed = self._keyed.get(place[0])
        if keyed_then is not None and keyed is not None and keyed.frame == place[1] and not fresh:
            keyed.channels = keyed_then.copy()
        if self.stored:
            self._note_adoption(ob, now, place[:2])
        return True

    def _compared(self, free: Which, view: View) -> tuple[np.ndarray, np.ndarray]:
        """The bones of ours whose rotations (n,), and those whose locations (m,), tell one pose from another.

        After a change of frame these are the ones that nothing animates: animation has changed the others.
        """
        if not view.fresh:
            return self.rows, self.rows
        return self.rows[free.rotations[self.rows].all(-1)], self.rows[free.locations[self.rows].all(-1)]

    def _held_above(self, now: Channels, turned: np.ndarray, prepared: PreparedRig) -> list[int]:
        """The bones that are held with those that the user has turned (n,), and not just cleared."""
        held_with = prepared.rig.held_with if prepared.rig else {}
        posed = turned[(now.rotations[turned] != now.modes.at_rest(turned)).any(-1)]
        kept = self.bones & prepared.free.rotations.all(-1)
        kept[turned] = False
        return sorted({above for bone in posed.tolist() for above in held_with.get(bone, ()) if kept[above]})

    def _note_posed(
        self, ob: bpy.types.Object, bones: np.ndarray, view: View, state: State, keyed: Channels | None
    ) -> None:  # fmt: skip
        """Remember bones (n,) that were posed by hand. state : before it. keyed : the keyed channels before it."""
        for bone in bones.tolist():
            hold, known = ob.pose.bones[bone].dqik_hold, self.posed.get(bone)
            if known is not None:
                self.posed[bone] = known._replace(hold=hold)
            elif keyed is not None and keying.is_keyed(ob.pose.bones[bone], view.frame):
                base = state.base.copy()
                base.put(keyed, np.array([bone]))
                self.posed[bone] = ByHand(hold, state._replace(base=base), had_key=True)
            else:
                self.posed[bone] = ByHand(hold, self.before_posed(ob, bone))

    def _note_posed_and_keyed(
        self, ob: bpy.types.Object, now: Channels, shown: Channels, edited: Which, prepared: PreparedRig, view: View
    ) -> None:
        """Hold bones whose edited channels were keyed in the same step, as Auto Keying does after Alt R or a paste.

        Their base pose stays; that of bones that are held with them becomes what was `shown`. Edits of curves count
        only on bones that had none, or at new keys of bones whose hold is keyed, or where they clear these.
        """
        turned, moved = edited.rotations.any(-1), edited.locations.any(-1)
        known = np.isin(np.arange(len(turned)), list(prepared.newly_keyed))
        if self.history.place[2] == prepared.action:
            known |= prepared.own_holds & self._are_no_keys(now, prepared.free, view)
        is_turned, is_moved = np.flatnonzero(turned), np.flatnonzero(moved)
        for bone in np.flatnonzero((turned | moved) & known & prepared.solved).tolist():
            posed, one = ob.pose.bones[bone], np.array([bone])
            if not keying.is_keyed(posed, view.frame):
                continue
            of_hold = keying.curves_of(posed, "dqik_hold").values()
            hold_keyed = any(keying.key_at(curve, view.frame) for curve in of_hold)
            before = self.before_posed(ob, bone, view.place)
            cleared = np.array_equal(now.rotations[bone], now.modes.at_rest(one)[0])
            if cleared or not hold_keyed:
                holds.note_posed(ob, now, np.intersect1d(one, is_turned), np.intersect1d(one, is_moved))
                start = tuple(getattr(posed, PATHS[posed.rotation_mode])), tuple(posed.location)
                self.posed[bone] = ByHand(posed.dqik_hold, before, start=start)
                if self.base is not None:
                    above = self._held_above(now, np.intersect1d(one, is_turned), prepared)
                    self.base.rotations[above] = shown.rotations[above]
                    self._store(ob, np.array(above, dtype=np.intp))

    def _are_no_keys(self, now: Channels, free: Which, view: View) -> np.ndarray:
        """The bones (N,) whose keyed channels are others than the keys of this frame, which Blender may set again."""
        keyed = self._keyed.get(view.scene_uid)
        if keyed is None or keyed.frame != view.frame or keyed.channels.modes != now.modes:
            return np.ones(len(now.rotations), dtype=bool)
        other = now.away(keyed.channels, EDITED) & ~free
        return np.asarray(other.rotations.any(-1) | other.locations.any(-1))

    def _note_adoption(
        self, ob: bpy.types.Object, now: Channels, place: tuple[int, float],
        bones: tuple[np.ndarray, np.ndarray] | None = None, before: State | None = None,
    ) -> None:  # fmt: skip
        """Store the base pose after an edit that left bones in `now`, and remember it for the edit's undo step.

        place : as of `View`. bones : those that the edit has turned (n,) and moved (m,), all of ours by default.
        before : the state before the edit, the present one by default.
        """
        if self.base is None:
            return
        after, (turned, moved) = self.state(ob), bones or (self.rows, self.rows)
        adoption = Adoption(
            self._names, turned, moved, now.copy(), after, place, before or after, dict(self._unkeyed)
        )
        self.adoptions.note(ob.dqik.adoptions, adoption)
        ob.dqik.adoptions += 1
        self._store(ob, self.rows)


def _is_stretched(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone that holds an answer may be scaled by it: not one that is animated or cannot stretch."""
    if not stretch.may(bone) or stretch.sheared(bone) is not None or tuple(bone.scale) == (1.0, 1.0, 1.0):
        return False
    return not animation.animates(bone.id_data, bone.path_from_id("scale"))
