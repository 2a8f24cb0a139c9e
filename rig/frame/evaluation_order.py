# SPDX-License-Identifier: GPL-3.0-or-later
"""The armatures that may be solved, and the order in which those that follow each other are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ..blender import bulk
from ..blender.dependencies import Dependencies
from ..skeleton import owners
from ..skeleton.goal_order import reached
from .memory import versions
from .read.view import View


@dataclass
class Armatures:
    """The armatures that have goals or hold an answer, searched again only when the list of objects has changed.

    An armature counts as live if it is live on the evaluated object, which drivers and keys reach.
    sessions : what lasts between frames, by the `session_uid` of objects; that of removed objects is dropped.
    """

    sessions: dict[int, Any] = field(default_factory=dict)
    _objects: bytes | None = None  # the `session_uid` of all objects in order
    _places: list[tuple[int, int]] = field(default_factory=list)
    _behind: dict[int, set[int]] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)  # of goals that count, by which `_behind` was found

    def forget(self) -> None:
        """Search again at the next question."""
        self._objects = None
        self._behind.clear()
        self._counts.clear()

    def places(self) -> list[tuple[int, int]]:
        """The position in `bpy.data.objects` and the `session_uid` of each."""
        objects = bpy.data.objects
        uids = bulk.read(objects, "session_uid", kind=np.int32)
        if uids.tobytes() != self._objects:
            self._objects = uids.tobytes()
            armatures = [ob for ob in objects if ob.type == "ARMATURE"]
            for ob in armatures:
                versions.bring_up(ob)
            owners.tell_apart(armatures)
            for uid in self.sessions.keys() - set(uids.tolist()):  # what undo brings back starts afresh
                del self.sessions[uid]
            self._places = [
                (place, ob.session_uid)
                for place, ob in enumerate(objects)
                if ob.type == "ARMATURE" and (len(ob.dqik.goals) or ob.dqik.has_base)
            ]
        return self._places

    def levels(self, view: View, reading: set[int]) -> list[list[tuple[bpy.types.Object, bool]]]:
        """Those of a view, each with whether it is live, in levels: each follows armatures of the levels before.

        reading : `session_uid` of those that a bake or a comparison reads, live or not.
        """
        found = list(self._in_view(view, reading))
        if len(found) < 2:
            return [found]
        armatures = {ob.session_uid: (ob, live) for ob, live in found}
        in_levels, view.later = levels(self._followed(armatures, view, reading))
        return [[armatures[uid] for uid in level] for level in in_levels]

    def followed(self, uid: int) -> set[int]:
        """The `session_uid` of an armature and of those that it follows, as the last levels had them."""
        return {uid, *self._behind.get(uid, ())}

    def _in_view(self, view: View, reading: set[int]) -> Iterator[tuple[bpy.types.Object, bool]]:
        for place, uid in self.places():
            ob = bpy.data.objects[place]
            evaluated, pose, data = ob.evaluated_get(view.depsgraph), ob.pose, ob.data
            if not evaluated.is_evaluated or pose is None:
                continue
            if not pose.bones and data.bones:
                continue  # it was joined to another and is still a target: its copy alone has pose bones
            if not view.fresh and (evaluated.pose is None or len(evaluated.pose.bones) != len(pose.bones)):
                continue  # in the midst of a join: Blender evaluates the new bones next
            if ob.mode == "EDIT" or data.pose_position == "REST":
                continue
            live = evaluated.dqik.live
            if live or ob.dqik.has_base or uid in reading:
                yield ob, live

    def _followed(
        self, armatures: dict[int, tuple[bpy.types.Object, bool]], view: View, reading: set[int]
    ) -> dict[int, set[int]]:  # fmt: skip
        """The armatures that each armature follows, all by `session_uid`; read again after edits.

        Those that follow others by their goals only come first: in a cycle, a goal can be left out. The goals of
        an armature that is not live, and only gets its own pose back, do not count.
        """
        counts = {  # remove() causes no update
            uid: len(ob.dqik.goals) + len(ob.dqik.avoid) if live or uid in reading else 0
            for uid, (ob, live) in armatures.items()
        }
        if not view.fresh or view.edited or counts != self._counts:
            self._counts, links = counts, Dependencies()
            by_pose = {uid: links.armatures_behind_pose(ob) & armatures.keys() for uid, (ob, _) in armatures.items()}
            self._behind = {
                uid: by_pose[uid] | (links.armatures_behind_goals(armatures[uid][0]) if counts[uid] else set())
                for uid in sorted(by_pose, key=lambda uid: bool(by_pose[uid]))
            }
        return self._behind


def levels(behind: dict[int, set[int]]) -> tuple[list[list[int]], dict[int, set[int]]]:
    """Sort armatures into levels, each of which follows armatures of the levels before only.

    Where armatures follow each other in a cycle, one of them is solved first. It cannot follow those of the cycle that
    are solved after it.

    Parameters
    ----------
    behind : the armatures that each armature follows; those that are not keys here are left out.

    Returns
    -------
    The levels, and for each armature that comes first in a cycle those that it follows and that come later.
    """
    left, sorted_levels, later = list(behind), list[list[int]](), dict[int, set[int]]()
    while left:
        level = [one for one in left if behind[one].isdisjoint(left)]
        if not level:
            ahead = {one: behind[one] & set(left) for one in left}
            # it is in a cycle that follows nothing outside of it: all that it follows follow it too
            first = next(one for one in left if all(one in reached(other, ahead) for other in reached(one, ahead)))
            level, later[first] = [first], ahead[first]
        left = [one for one in left if one not in level]
        sorted_levels.append(level)
    return sorted_levels, later
