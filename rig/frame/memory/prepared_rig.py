# SPDX-License-Identifier: GPL-3.0-or-later
"""The prepared rig of an armature and what animates it, rebuilt when anything that it depends on has changed."""

from contextlib import suppress

import bpy
import numpy as np

from ....solvers import DqikError
from ...blender import actions, animation, bulk, channels, dependencies, unevaluated
from ...blender.animation import Animation
from ...blender.channels import Modes, Which
from ...blender.dependencies import Dependencies
from ...controls import unkeyed_action
from ...notes import Note
from ...remembered import Remembered
from ...skeleton.build import build
from ...skeleton.goal_facts import GoalFacts
from ...skeleton.rig import Rig
from ..read import led_limbs
from ..read.natural_pose import NaturalPose
from ..read.targets import GoalsRead
from ..read.view import View
from . import contents, holds
from .contents import Contents

_MOST = 200  # rigs that differ by their bones' holds and gains, which keys may change on each frame
_OF_CHAINS = {"IK", "SPLINE_IK"}
_NO_ANIMATION = Animation({}, frozenset(), False, False)


class PreparedRig:
    """An armature's prepared rig, or in `refusal` the reason why there is none. Only its own methods change it.

    Attributes
    ----------
    rig : the prepared rig, or None. refusal : why there is nothing to solve.
    goals : as they were read last, without their places; where all bones are animated, limbs that are left to their
        keys start from these, None.
    modes : the bones' rotation modes. free : channels that nothing animates. solved : (N,) bool, bones that the rig
        solves, but for those of limbs that are left to their keys. unseen : notes about targets that Blender does not
        evaluate. unkeyed : a note about an action without keys on the controls.
    unanimated : nothing animates a bone of the skeleton.
    animation : of the armature. action : the identity of its action; 0 if it has none.
    moves_itself : a change of frame may have Blender evaluate it, solved or not.
    follows_itself : what the solve reads of Blender's evaluation follows bones it moves.
    natural : its natural pose.
    stale : a setting has changed since the last `look`. reanimated : keys or other animation may have, before it.
    own_holds : (N,) bool, bones whose holds are animated. by_keys : (N,) as `holds.by_keys` has it.
    newly_keyed : bones whose rotation or location something animates since the last change of frame.
    """

    def __init__(self, solver: str = "") -> None:
        """`solver` replaces the armature's own solver."""
        self._solver = solver
        self._contents: Contents | None = None
        self._animated: tuple = ()
        self._paths: tuple = ()
        self.animation, self.action = _NO_ANIMATION, 0
        self.stale = True
        self.rig: Rig | None = None
        self.refusal: Note | None = None
        self.modes: Modes | None = None
        self.free = Which(np.ones((0, 4), dtype=bool), np.ones((0, 3), dtype=bool))
        self.unseen: list[Note] = []
        self.unkeyed: list[Note] = []
        self.goals = GoalsRead()
        self.unanimated = self.follows_itself = self.moves_itself = self.reanimated = False
        self.natural = NaturalPose()
        self._other = True  # other modes or animation than the rig was made for
        self.solved = self.own_holds = np.zeros(0, dtype=bool)
        self.by_keys = np.zeros(0)
        self.newly_keyed: set[int] = set()
        self._actions: set[int] = set()  # that were assigned
        self._gains = np.zeros(0)
        self._rigs: Remembered[bytes, Rig | Note] = Remembered(_MOST)  # by holds and gains

    @property
    def animates_settings(self) -> bool:
        """Whether settings or constraints are animated, and so may change on any frame."""
        return self.animation.settings or self.animation.constraints

    def is_animated_whole(self, bones: np.ndarray) -> bool:
        """Whether all rotation channels of bones (n,) are animated."""
        return not self.free.rotations[bones].any()

    def is_keyed_whole(self, bones: np.ndarray) -> bool:
        """Whether keys decide on all rotation channels of bones (n,)."""
        return self.is_animated_whole(bones) and bool((self.by_keys[bones] == 1.0).all())

    def is_animated_alike(self, ob: bpy.types.Object) -> bool:
        """Whether the same animates an original object as at the last `look`."""
        return animation.contents(ob, paths=False) == self._animated

    def touch(self) -> None:
        """Make the next `look` read everything that an edit can change."""
        self.stale = True

    def renewed(self) -> "PreparedRig":
        """One that knows nothing of an armature, but has what was built, for where everything is the same again."""
        other = PreparedRig(self._solver)
        other._contents, other._rigs, other.natural = self._contents, self._rigs, self.natural
        return other

    def look(self, ob: bpy.types.Object, evaluated: bpy.types.Object, view: View) -> bool:
        """Read the rotation modes and what animates the armature. Returns whether there may have been an edit."""
        edited = (
            self.stale or self._contents is None or not view.fresh or self.animates_settings or view.edited
        )  # fmt: skip
        modes = channels.modes(evaluated.pose.bones, self.modes)
        animated = animation.contents(ob, paths=False)
        paths = animation.contents(ob, paths=True) if edited or animated != self._animated else self._paths
        self.reanimated = view.keyed or paths != self._paths
        names = edited and self._contents is not None and self._contents.edited[0] != tuple(ob.pose.bones.keys())
        if paths != self._paths or modes != self.modes or names or len(self.free.rotations) != len(ob.pose.bones):
            self.animation = animation.animation(ob)
            before = self.free
            self.free = animation.free_channels(self.animation, ob.pose.bones.keys(), modes)
            self.own_holds = animation.animated(self.animation, ob.pose.bones.keys(), "dqik_hold")
            if self._contents is not None and len(before.rotations) == len(self.free.rotations) and not names:
                turned, moved = (before & ~self.free).whole()
                self.newly_keyed.update(np.flatnonzero(turned | moved).tolist())
            elif self._contents is not None:
                self.newly_keyed.clear()  # the bones have other numbers
            self._other = True
        other, self.modes, self._animated, self._paths = self.action, modes, animated, paths
        self.action = animated[0][0] if animated else 0
        new = not other and self.action not in self._actions and actions.has_single_keys(ob)
        if view.fresh or (self.action != other and not new):
            self.newly_keyed.clear()
        self._actions.add(self.action)
        return edited

    def update(
        self, ob: bpy.types.Object, evaluated: bpy.types.Object, goals: GoalsRead, edited: bool, view: View
    ) -> None:  # fmt: skip
        """Rebuild the rig if anything that it depends on has changed.

        ob : the original object, whose holds may have been set since it was evaluated.
        goals : as read now. edited : the result of `look`.
        """
        before = self._contents
        if goals.settled and before is not None and not (self._other or self.stale):
            return
        of_bones = holds.read(ob, evaluated, self.free, self.own_holds, view)
        self.by_keys = holds.by_keys(of_bones, self.free, self.own_holds)
        if edited or before is None:
            self._gains = bulk.read(evaluated.pose.bones, "dqik_gain")
        now = Contents(
            contents.settings(evaluated), goals.facts, self.modes.numbers, of_bones.tobytes() + self._gains.tobytes(),
            self.animation.driven, self.animation.scaled,
            contents.edited(evaluated, goals.facts) if edited or before is None else before.edited,
        )  # fmt: skip
        self.stale = self._other = False
        rebuilt = now != before or (self.rig is None and self.refusal is None)
        if rebuilt:
            if before is None or now._replace(holds=before.holds) != before:
                self._rigs.clear()
            self._take(evaluated, self._rigs.of(now.holds, lambda: self._made(evaluated, goals.facts, of_bones)))
            self._contents = now
        self._take_goals(goals)
        self.unanimated = self.rig is not None and self.free.of(self.rig.bones).all()
        if self.rig is None or not (edited or rebuilt):
            return
        if view.in_viewport and (rebuilt or self.reanimated):
            unkeyed = unkeyed_action.note(ob)
            self.unkeyed = [] if unkeyed is None else [unkeyed]
        self.moves_itself = _moves_itself(ob)
        self.follows_itself = self.rig.plan.passes > 0 or _follows_itself(evaluated, self.rig)
        if view.in_viewport:
            self.unseen = _unseen(evaluated, self.rig, view.depsgraph)

    def _made(self, evaluated: bpy.types.Object, facts: tuple[GoalFacts, ...], of_bones: np.ndarray) -> Rig | Note:
        """The rig with these holds (N,): of one that differs by them only, else built anew."""
        rig = next((one for one in self._rigs.values() if isinstance(one, Rig)), None)
        if rig is not None:
            with suppress(DqikError):  # `build` says which bone has what no joint can have
                return rig.with_holds(of_bones, self._gains)
        animated = self.animation
        return build(evaluated, facts, animated.driven, of_bones, self._gains, self._solver, animated.scaled)

    def _take_goals(self, goals: GoalsRead) -> None:
        """Note the goals, and leave the limbs of those that lead the body to their keys."""
        rig, led = self.rig, goals.led
        if rig is not None and (led or self.goals.led):
            body = np.setdiff1d(rig.solved_bones, led_limbs.bones(rig, led))
            if self.is_animated_whole(rig.solved_bones) and self.is_keyed_whole(body):
                led = dict.fromkeys(led)
            self.solved = self.solved.copy()  # the memory of the pose keeps the one from before
            self.solved[rig.solved_bones] = True
            self.solved[led_limbs.bones(rig, led)] = False
        self.goals = goals._replace(places=(), settled=False, led=led)

    def _take(self, evaluated: bpy.types.Object, found: Rig | Note) -> None:
        self.rig = found if isinstance(found, Rig) else None
        self.refusal = None if isinstance(found, Rig) else found
        self.solved = np.zeros(len(evaluated.pose.bones), dtype=bool)
        if self.rig is not None:
            self.solved[self.rig.solved_bones] = True


def _moves_itself(ob: bpy.types.Object) -> bool:
    """Whether anything but a hand may move an original object or its bones: animation, parents or constraints."""
    own = ob.animation_data, ob.data.animation_data, ob.parent, *ob.constraints
    constrained = [bone for bone in ob.pose.bones if bone.constraints]
    return own.count(None) < len(own) or bool(constrained)


def _follows_itself(ob: bpy.types.Object, rig: Rig) -> bool:
    """Whether the place of an evaluated object, or a constraint or driver of a bone that it reads, follows the solve.

    These are the bones of the skeleton, those above it, and those whose IK constraints may move them.
    """
    pose, found = ob.pose.bones, Dependencies()
    moved = {pose[int(bone)].name for bone in rig.solved_bones}
    bones = {pose[int(bone)] for bone in rig.bones}
    bones.update(above for root in rig.root_places for above in (pose[root], *pose[root].parent_recursive))
    bones.update([bone for bone in pose if any(_moves_chain(one, bone, bones) for one in bone.constraints)])
    measured = {row for row in rig.local_rows if not rig.armature.controls[rig.bones[row]]} | rig.placed_rows
    bones -= {pose[int(rig.bones[row])] for row in measured}  # in their parents' frames, where they stay
    driven = ob.animation_data is not None and len(ob.animation_data.drivers) > 0
    bones = {bone for bone in bones if driven or bone.constraints}
    behind = found.bones_behind(ob).union(*(found.bones_behind_bone(ob, bone.name) for bone in bones))
    return any(other.original == ob.original and name in moved for other, name in behind)


def _moves_chain(constraint: bpy.types.Constraint, bone: bpy.types.PoseBone, others: set[bpy.types.PoseBone]) -> bool:
    """Whether a constraint of a bone is for a chain that has one of some other bones."""
    if constraint.type not in _OF_CHAINS:
        return False
    chain = [bone, *bone.parent_recursive]
    return not others.isdisjoint(chain[: constraint.chain_count or None])


def _unseen(ob: bpy.types.Object, rig: Rig, depsgraph: bpy.types.Depsgraph) -> list[Note]:
    """Notes about the targets, poles and obstacles of an evaluated object that Blender does not evaluate."""
    aims = {other.original: "" for other in dependencies.obstacles(ob.original) if other is not None}
    for binding in rig.goals:
        goal = ob.original.dqik.goals[binding.number]
        aims.update((aim.original, goal.name) for aim, _ in dependencies.aims(goal))
    evaluated, found = unevaluated.shown(depsgraph), list[Note]()
    for aim, name in aims.items():
        reason = unevaluated.reason(aim, evaluated, depsgraph.view_layer)
        if reason:
            goal = Note("Goal {}: {} stands still {}; hide it with the eye instead", repr(name), repr(aim.name), reason)
            found.append(goal if name else Note("Obstacle {}: it stands still {}; hide it with the eye instead",
                                                repr(aim.name), reason))
    return found
