# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a body by a point of its skin: the point goes to a place, what is nearest follows, the rest stays.

Where Live is on and a target moves the bone of that point, the target is moved. Any other bone is dragged by a goal
that lives for the drag (`frame/drag.py`); with Live on, what it moves is posed as if by hand.
"""

from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from .. import curves
from ..blender import rotation, scene_state
from ..blender.places import Owner, owner_of, world_matrix
from ..controls import goals
from ..controls.goals import Place
from ..figure.character import Character
from ..frame.drag import Drag
from ..frame.sessions import sessions
from ..keys import keyable, keying
from ..notes import Note, Refused
from . import keys, pick

_NEAR = 1e-5  # of the armature's size: a point within it is at its place
_ROUNDS = 5  # of moves of a target; a hand that turns with its forearm needs several


class _Moved(NamedTuple):
    """A target or a pole that a drag moves, its transform before, and whether it turns too."""

    owner: Owner
    before: scene_state.Transform
    turns: bool

    def put_back(self) -> None:
        scene_state.set_transform(self.owner, self.before)
        self.owner.id_data.update_tag(refresh={"OBJECT"})


class Grab:
    """A drag of a point of a body. It holds no evaluated data."""

    def __init__(self, ob: bpy.types.Object, bone: str, point: Vector, context: bpy.types.Context) -> None:
        """Begin it. point : in the world, as evaluated now. Raises `Refused` if nothing can be moved there."""
        depsgraph = context.evaluated_depsgraph_get()
        evaluated = ob.evaluated_get(depsgraph)
        self.ob, self._bone, self._context = ob, bone, context
        self._own = _matrix(ob, bone, depsgraph).inverted_safe() @ point
        self._near = _NEAR * Character.of(ob).size * max(map(abs, evaluated.matrix_world.to_scale()))
        self._number, own = pick.goal_of(ob, bone), ob.dqik.goals
        self._drag = Drag(ob, bone, point, depsgraph) if self._number < 0 else None
        self._moved: list[_Moved] = []
        if self._drag is None:
            goal = own[self._number]
            keyable.refuse(keyable.stands_still(goal.target, depsgraph))
            self._add(goal.target, goal.subtarget, turns=False)
            self._put(depsgraph, world_matrix(goal.target, goal.subtarget, depsgraph).translation)  # whether it can be
            self._moved[0].put_back()
        elif ob.dqik.live:
            for number in self._drag.carried:
                self._add(own[number].target, own[number].subtarget, turns=True)
            for number in self._drag.unpoled:
                self._add(own[number].pole_target, own[number].pole_subtarget, turns=False)
        if keying.is_auto(context.scene):
            keyable.refuse(self._refusal())

    def at(self) -> Vector:
        """Where the point is now, in the world."""
        return _matrix(self.ob, self._bone, self._context.evaluated_depsgraph_get()) @ self._own

    def move(self, to: Vector, along: Vector | None = None) -> Vector:
        """Bring the point to a place in the world, or as near as it can come; returns the place.

        along : the direction of the view, if the point may come nearer to the pointer in another depth.
        """
        if self._drag is not None:
            return self._solve(self._drag, to, along)
        self._move_target(to)
        return to

    def cancel(self) -> None:
        """Bring back the pose from before."""
        for one in self._moved:
            one.put_back()
        if self._drag is not None:
            self._drag.put_back(self.ob)
        self._context.view_layer.update()

    def finish(self) -> None:
        """Keep the pose, and key what has moved if Auto Keying is on."""
        for bone in () if self._drag is None else self._drag.moved(self.ob):
            for channel in keys.posed_channels(bone):
                self._key(bone, channel)
        for one in self._moved:
            if scene_state.transform(one.owner) != one.before:
                self._key(one.owner, "location")
                if one.turns:
                    self._key(one.owner, rotation.PATHS[one.owner.rotation_mode])
        self.ob.update_tag(refresh={"OBJECT"})  # Blender 4.2 does not see a new action beside the NLA otherwise
        self._context.view_layer.update()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _refusal(self) -> Note | None:
        """Why what the drag moves cannot be keyed; None if it can."""
        if self._drag is None:
            owner = self._moved[0].owner
            return keyable.problem(owner.id_data, [curves.path_of(owner, "location")])
        posed = [(bone, name) for bone in self._drag.may_move(self.ob) for name in keys.posed_channels(bone)]
        note = keyable.problem(self.ob, [curves.path_of(*one) for one in posed])
        return note or keyable.of_owners(one.owner for one in self._moved)

    def _add(self, target: bpy.types.Object, bone: str, turns: bool) -> None:
        owner = owner_of(target, bone)
        if owner is not None:
            self._moved.append(_Moved(owner, scene_state.transform(owner), turns))

    def _move_target(self, to: Vector) -> None:
        """Move the target so that the point is at a place; the bone may turn with what is above it."""
        goal = self.ob.dqik.goals[self._number]
        for _ in range(_ROUNDS):
            depsgraph = self._context.evaluated_depsgraph_get()
            evaluated, at = self.ob.evaluated_get(depsgraph), self.at()
            end = evaluated.matrix_world @ goals.end_of(evaluated, self._bone, goal.use_tail).translation
            target = world_matrix(goal.target, goal.subtarget, depsgraph).translation
            wanted = to + end - at
            if (to - at).length <= self._near or (wanted - target).length <= self._near:
                return
            self._put(depsgraph, wanted)
            self._context.view_layer.update()

    def _put(self, depsgraph: bpy.types.Depsgraph, place: Vector) -> None:
        """Move the target to a place in the world; its rotation stays."""
        goal, one = self.ob.dqik.goals[self._number], self._moved[0]
        matrix = world_matrix(goal.target, goal.subtarget, depsgraph).copy()
        matrix.translation = place
        left = goals.put_targets(self.ob, {self._number: Place(matrix, None)}, depsgraph)
        location = tuple(one.owner.location)
        one.put_back()
        one.owner.location = location
        if left:
            raise Refused(Note("The target of {} cannot be moved: constraints or another file set its place",
                               repr(goal.name)))

    def _solve(self, drag: Drag, to: Vector, along: Vector | None) -> Vector:
        """Solve with the goal of the drag and show it; Live then solves again what is not posed by it."""
        ob, layer = self.ob, self._context.view_layer
        aimed = drag.solve(ob, to, along)
        if not ob.dqik.live:
            drag.show(ob)
        elif self._moved:
            sessions.suspended.add(ob.session_uid)
            try:
                drag.show(ob)
                layer.update()
                self._take_along(drag)
                drag.pose(ob)
            finally:
                sessions.suspended.discard(ob.session_uid)
        else:
            drag.pose(ob)
        layer.update()
        return aimed

    def _take_along(self, drag: Drag) -> None:
        """Put targets where their bones have gone along, and poles where their limbs bend to."""
        ob, depsgraph = self.ob, self._context.evaluated_depsgraph_get()
        places = goals.places(ob, [*drag.carried, *drag.unpoled], depsgraph)  # of goals that belong at their bones
        wanted = {number: places[number]._replace(pole=None) for number in drag.carried if number in places}
        stay: list[_Moved] = []
        for number in (one for one in drag.unpoled if one in places):
            goal = ob.dqik.goals[number]
            owner, pole = owner_of(goal.target, goal.subtarget), places[number].pole
            end = world_matrix(goal.target, goal.subtarget, depsgraph)
            if owner is not None and end is not None and pole is not None:
                stay.append(_Moved(owner, scene_state.transform(owner), turns=False))
                wanted[number] = Place(end.copy(), pole)
        goals.put_targets(ob, wanted, depsgraph)
        for one in stay:
            one.put_back()

    def _key(self, owner: Owner, path: str) -> None:
        scene = self._context.scene
        if keying.is_auto(scene):
            keying.key_path(owner, path, scene.frame_current_final, auto=True)


def _matrix(ob: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Matrix:
    found = world_matrix(ob, bone, depsgraph)
    assert found is not None
    return found
