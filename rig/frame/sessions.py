# SPDX-License-Identifier: GPL-3.0-or-later
"""The sessions of all armatures, and what else is remembered between frames. It holds no Blender object."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import bpy

from ..blender.dependencies import aims_of
from ..controls import pasted_settings
from ..notes import Code, Note
from ..skeleton import renamed
from .edit_scope import EditScope
from .evaluation_order import Armatures
from .read.view import View, changed_actions
from .simulations import Simulations
from .step.known_answers import KnownAnswers
from .step.report import Status
from .step.session import Session


class Busy:
    """While it is entered, no evaluation is answered: a solve causes them itself."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


@dataclass
class Sessions:
    """What is remembered between frames.

    by_uid : the sessions, by the `session_uid` of their armature objects.
    armatures : those that have goals or hold an answer, and which of them follow which.
    simulations : those that wait until a frame is solved.
    known : answers that were found before.
    scope : what edits may have changed on frames that are not shown.
    suspended : `session_uid` of the armatures whose frames a bake or a comparison reads; they are not solved meanwhile.
    """

    by_uid: dict[int, Session] = field(default_factory=dict)
    armatures: Armatures = field(default_factory=Armatures)
    simulations: Simulations = field(default_factory=Simulations)
    known: KnownAnswers = field(default_factory=KnownAnswers)
    scope: EditScope = field(default_factory=EditScope)
    busy: Busy = field(default_factory=Busy)
    suspended: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.armatures.sessions = self.by_uid

    def of(self, ob: bpy.types.Object) -> Session:
        """The session of an armature object, original or evaluated."""
        uid = ob.original.session_uid
        session = self.by_uid.get(uid)
        if session is None:
            session = self.by_uid[uid] = Session(known=self.known)
        return session

    def status(self, ob: bpy.types.Object) -> Status:
        """The report of the object's last solve."""
        session = self.by_uid.get(ob.original.session_uid)
        if session is None:
            return Status()
        if ob.data.pose_position == "REST":
            return Status(notes=(Note(Code.REST_POSITION),))
        return session.report.status(ob.original)

    def shot_share(self, ob: bpy.types.Object) -> float:
        """How much of an armature object's shot is solved, 0 to 1."""
        session = self.by_uid.get(ob.original.session_uid)
        return 0.0 if session is None or ob.dqik.start_from != "SHOT" else session.motion.shot.share

    def natural_pose_refusal(self, ob: bpy.types.Object) -> Note | None:
        """Why the natural pose does not know an armature's figure; None if it does, or nothing was solved yet."""
        session = self.by_uid.get(ob.original.session_uid)
        return None if session is None else session.rig.natural.refusal

    def forget(self) -> None:
        """Remember nothing, as if Blender had just started."""
        self.by_uid.clear()
        self.known.clear()
        self._forget_scene()

    def _forget_scene(self) -> None:
        """Remember nothing of what is in the scene."""
        self.armatures.forget()
        self.simulations = Simulations(self.simulations.rendering)
        self.scope.forget()
        renamed.forget()

    def renew(self) -> None:
        """Remember only what undo and redo leave as it is.

        Where Live is off, nothing is solved again, so a report goes unless the armature has its pose.
        """
        for ob in bpy.data.objects:
            if ob.session_uid in self.by_uid and ob.type == "ARMATURE" and not ob.dqik.live:
                self.by_uid[ob.session_uid].report.check_pose(ob)
        self.by_uid.update({uid: session.renewed() for uid, session in self.by_uid.items()})
        self._forget_scene()

    def concerns(self, ob: bpy.types.Object, moved: set[int]) -> bool:
        """Whether an armature, one that it follows or one of its targets moved, or one of its settings changed.

        moved : `session_uid` of objects.
        """
        follows = self.armatures.followed(ob.session_uid)
        return self.of(ob).rig.stale or not follows.isdisjoint(moved) or any(
            target.session_uid in moved for target, _ in aims_of(ob)
        )

    @property
    def has_shots(self) -> bool:
        """Whether a frame of any shot was read."""
        return any(session.motion.shot.is_read for session in self.by_uid.values())

    def doubt_shots(self, changed: set[int] | None, obs: Iterable[bpy.types.Object], view: View) -> None:
        """An edit may have changed what frames of shots ask: of the armatures that it concerns, else of all.

        changed : as of `EditScope`. obs : the armatures that the view evaluates.
        """
        # of what it does not evaluate, Blender reports nothing
        left = [ob for ob in obs if all(aim.evaluated_get(view.depsgraph).is_evaluated for aim, _ in aims_of(ob))]
        sure = set[int]()
        if changed is not None:
            while concerned := {ob.session_uid for ob in left if self.concerns(ob, changed)}:
                changed = changed | concerned  # others may follow these
                left = [ob for ob in left if ob.session_uid not in concerned]
            sure = {ob.session_uid for ob in left}
        for uid, session in self.by_uid.items():
            if uid not in sure:
                session.motion.shot.doubt()

    def on_the_way(self) -> list[bpy.types.Object]:
        """The live armatures whose pose is on its way to the frame's own answer."""
        going = {uid for uid, session in self.by_uid.items() if session.motion.is_on_the_way} - self.suspended
        found = [bpy.data.objects[place] for place, uid in self.armatures.places() if uid in going] if going else []
        return [ob for ob in found if ob.dqik.live and ob.mode != "EDIT"]

    def keyed_after_posing(self, depsgraph: bpy.types.Depsgraph) -> set[int]:
        """`session_uid` of armatures with bones that were posed by hand, whose action Blender reports as changed."""
        posed = {uid: one.rig.action for uid, one in self.by_uid.items() if one.pose.posed}
        changed = changed_actions(depsgraph) if posed else ()
        return {uid for uid, action in posed.items() if action in changed}

    def follow_renames(self) -> bool:
        """Let what armatures store name renamed bones by their new names; returns whether there were any."""
        followed = [renamed.follow(bpy.data.objects[place]) for place, _ in self.armatures.places()]
        return any(followed)

    def look_at_arrivals(self, depsgraph: bpy.types.Depsgraph, moved: set[int]) -> list[bpy.types.Object]:
        """Put right what has arrived on bones of moved objects from other bones; returns those that were looked at.

        Their evaluated copies are put right too, because these are solved next.
        """
        looked = []
        for place, uid in self.armatures.places():
            ob = bpy.data.objects[place]
            if ob.pose is None or ob.mode == "EDIT" or ob.library is not None:
                continue  # in Edit Mode bones and pose do not agree
            session = self.of(ob)
            if uid in moved or not session.arrivals.known:
                session.arrivals.look(ob, session.pose, depsgraph)
                looked.append(ob)
        return looked

    def note_switches(self) -> None:
        """Note how far goals lead limbs, which a change of frame may have changed, for a mirrored paste.

        They are noted where the goals are not as they were noted last.
        """
        changed = {uid: one for uid, one in self.by_uid.items() if one.arrivals.goals != one.rig.goals}
        for place, uid in self.armatures.places() if not self.suspended.issuperset(changed) else ():
            ob = bpy.data.objects[place]
            if uid in changed and uid not in self.suspended and ob.library is None and ob.pose is not None:
                changed[uid].arrivals.goals = changed[uid].rig.goals
                pasted_settings.note_switches(ob)

    def note_poses(self, untouched: bool) -> None:
        """Note the poses before handlers of other add-ons can change them together with the frame.

        untouched : whether none of these was called yet.
        """
        for place, uid in self.armatures.places():
            if uid in self.by_uid and uid not in self.suspended:
                self.by_uid[uid].pose.note_arrival(bpy.data.objects[place] if untouched else None)


sessions = Sessions()
"""Those of this Blender."""
