# SPDX-License-Identifier: GPL-3.0-or-later
"""The prepared rig of an armature and what animates it, rebuilt when anything that it depends on has changed."""

import bpy
import numpy as np

from ..blender import animation, channels
from ..blender.animation import Animation
from ..blender.channels import Modes
from ..setup.build import Rig, build
from ..setup.goal_facts import GoalFacts
from . import contents
from .contents import Contents
from .view import View

_NO_ANIMATION = Animation({}, frozenset(), False, False)


class PreparedRig:
    """An armature's prepared rig, or in `refusal` the reason why there is none. Only its own methods change it.

    Attributes
    ----------
    rig : the prepared rig, or None. refusal : one sentence that says why there is nothing to solve.
    modes : the bones' rotation modes. free : (N, 4) and (N, 3) bool, rotation and location channels that nothing
        animates. solved : (N,) bool, bones that the rig solves. unseen : sentences about targets that Blender does not
        evaluate. stale : a setting has changed since the last `look`.
    """

    def __init__(self, solver: str = "") -> None:
        """`solver` replaces the armature's own solver."""
        self._solver = solver
        self._contents: Contents | None = None
        self._animated: tuple = ()
        self._paths: tuple = ()
        self._animation = _NO_ANIMATION
        self.stale = True
        self.rig: Rig | None = None
        self.refusal = ""
        self.modes: Modes | None = None
        self.free = np.ones((0, 4), dtype=bool), np.ones((0, 3), dtype=bool)
        self.unseen: list[str] = []
        self.solved = np.zeros(0, dtype=bool)

    @property
    def facts(self) -> tuple[GoalFacts, ...]:
        """The goals' settings that the rig was made from."""
        return () if self._contents is None else self._contents.goals

    def touch(self) -> None:
        """Make the next `look` read everything that an edit can change."""
        self.stale = True

    def look(self, ob: bpy.types.Object, evaluated: bpy.types.Object, view: View) -> bool:
        """Read the rotation modes and what animates the armature. Returns whether there may have been an edit."""
        depsgraph = view.depsgraph
        edited = (
            self.stale or self._contents is None or not view.fresh
            or self._animation.settings or self._animation.constraints
            or depsgraph.id_type_updated("ARMATURE") or depsgraph.id_type_updated("SCENE")
        )  # fmt: skip
        modes = channels.modes(evaluated.pose.bones, self.modes)
        animated = animation.contents(ob, paths=False)
        paths = animation.contents(ob, paths=True) if edited or animated != self._animated else self._paths
        names = edited and self._contents is not None and self._contents.edited[0] != tuple(ob.pose.bones.keys())
        if paths != self._paths or modes is not self.modes or names or len(self.free[0]) != len(ob.pose.bones):
            self._animation = animation.animation(ob)
            self.free = animation.free_channels(self._animation, ob.pose.bones.keys(), modes)
        self.modes, self._animated, self._paths = modes, animated, paths
        return edited

    def update(
        self, evaluated: bpy.types.Object, facts: tuple[GoalFacts, ...], answering: np.ndarray, edited: bool, view: View
    ) -> None:
        """Rebuild the rig if anything that it depends on has changed.

        answering : (N,) bool, bones that hold an answer of ours. edited : the result of `look`.
        """
        before = self._contents
        now = Contents(
            contents.settings(evaluated), facts, self.modes.numbers, self._animation.driven, self._leaving(answering),
            contents.edited(evaluated) if edited or before is None else before.edited,
        )  # fmt: skip
        self.stale = False
        if now != before:
            self._build(evaluated, facts, answering, now)
        if edited and view.in_viewport and self.rig is not None:
            self.unseen = _unseen(evaluated, self.rig, view.depsgraph)

    def _build(
        self, evaluated: bpy.types.Object, facts: tuple[GoalFacts, ...], answering: np.ndarray, now: Contents
    ) -> None:
        found = build(evaluated, facts, answering, self._animation.driven, self._solver)
        self.rig = found if isinstance(found, Rig) else None
        self.refusal = found if isinstance(found, str) else found.refusal
        self.solved = np.zeros(len(answering), dtype=bool)
        if self.rig is not None:
            self.solved[self.rig.solved_bones] = True
        self._contents = now._replace(leaving=self._leaving(answering))

    def _leaving(self, answering: np.ndarray) -> bytes:
        """Bones that hold an answer and are not solved any more, as bytes."""
        if answering is self.solved:
            return b""
        leaving = answering & ~self.solved if len(self.solved) == len(answering) else answering
        return leaving.tobytes() if leaving.any() else b""


def _unseen(ob: bpy.types.Object, rig: Rig, depsgraph: bpy.types.Depsgraph) -> list[str]:
    """Sentences about targets that Blender does not evaluate, so that they seem to stand still.

    ob : the evaluated object.
    """
    wanted: dict[bpy.types.Object, str] = {}
    goals = ob.dqik.goals
    for binding in rig.goals:
        goal = goals[binding.index]
        wanted.update((aim.original, goal.name) for aim in (goal.target, goal.pole_target) if aim is not None)
    shown = {evaluated.original.session_uid for evaluated in depsgraph.ids}
    return [
        f"Goal {name!r}: {aim.name!r} is disabled in the viewport and stands still; hide it with the eye instead"
        for aim, name in wanted.items()
        if aim.session_uid not in shown
    ]
