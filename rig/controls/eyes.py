# SPDX-License-Identifier: GPL-3.0-or-later
"""Look At goals for the eyes of a figure, with a control each before the face, and one that moves both.

They go with the head: they hang on its control, or on its bone where it has none that turns it. An eye looks the way
that the face does at rest, wherever its bone points.
"""

from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..blender import animation
from ..figure import eyes
from ..figure.character import Character
from ..figure.parts import LEFT, RIGHT
from ..notes import Note
from ..skeleton.menus import AXES, DIRECTION
from . import control_shapes, controls, goals
from .controls import Control

_AHEAD = 0.2  # of the height: the way from an eye to its control
_APART = 4.0  # times the way between the eyes, if that is more: of small figures with large heads
_SIZE, _BOTH = 0.55, 1.8  # of the way between the eyes: the rings of one, and of both
_USUAL = 0.035  # of the height, or of the armature: that way where it is not known
_ON_AXIS = np.cos(np.radians(0.05))  # an axis of the bone that is nearer than this to where the eye looks


@dataclass
class AddedEyes:
    """The new controls, the numbers of the new goals, the words for eyes not found, and bones that stay on keys."""

    names: list[str] = field(default_factory=list)
    goals: list[int] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    keyed: list[str] = field(default_factory=list)


def refusal(ob: bpy.types.Object) -> Note | None:
    """Why the eyes of an armature object get no controls; None if they do."""
    own = Character.of(ob)
    armature, found = own.armature, [ob.pose.bones[bone] for bone in own.figure.eyes]
    if not found:
        if armature.kind is None:
            return Note("No bones of {} are known as eyes: choose Left Eye and Right Eye as the Role of its eyes in "
                        "the Bone panel", repr(ob.name))
        return Note("The eyes of {} have controls of {}: pose these, or choose Left Eye and Right Eye as the Role of "
                    "bones that turn its eyes in the Bone panel", repr(ob.name), armature.kind.words)
    lacking = [bone for bone in found if not _has_goal(ob, bone.name)]
    if not lacking:
        return Note("The eyes of {} have goals already: move their targets, or remove these goals in the panel Rig",
                    repr(ob.name))
    for bone in lacking:
        tie = next((one for one in bone.constraints if not one.mute and not one.type.startswith("LIMIT_")), None)
        if tie is not None:
            return Note("The eye {} follows its constraint {}: mute that, then press Eye Controls again",
                        repr(bone.name), repr(tie.name))
    return None if controls.can_add(ob) else Note("No bone can be added to {}, so its eyes get no controls: show it in "
                                                  "the view layer, or make it and its armature data local",
                                                  repr(ob.name))


def add(ob: bpy.types.Object) -> AddedEyes:
    """Give the eyes that have no goal one, and a control where they look now. `refusal(ob)` is None."""
    view, result = _Sight(ob), AddedEyes()
    result.missing = [words for side, words in ((LEFT, "left eye"), (RIGHT, "right eye")) if side not in view.eyes]
    wanted = {side: bone for side, bone in view.eyes.items() if not _has_goal(ob, view.names[bone])}
    both = [] if len(view.eyes) < 2 or controls.EYES in ob.data.bones else [view.of_both()]
    parent = controls.EYES if len(view.eyes) == 2 else view.parent
    own = [view.of_one(side, parent) for side in wanted]
    result.names = controls.add(ob, [*both, *own], view.armature.size)
    places = {side: view.now(bone) for side, bone in wanted.items()}
    if both:
        _put(ob, result.names[0], sum(places.values(), Vector()) / len(places))
    for (side, bone), name in zip(wanted.items(), result.names[len(both) :], strict=True):
        _put(ob, name, places[side])
        result.goals.append(_look(ob, view.names[bone], view.sight(bone), name))
        if animation.moves(ob, view.names[bone]):
            ob.dqik.goals[-1].influence = 0.0  # a share of it would turn the eye where the body moves
            result.keyed.append(view.names[bone])
    return result


def _has_goal(ob: bpy.types.Object, bone: str) -> bool:
    return any(goal.bone == bone for goal in ob.dqik.goals)


class _Sight:
    """The eyes of an armature at rest, by side, and where their controls belong."""

    def __init__(self, ob: bpy.types.Object) -> None:
        own = Character.of(ob)
        self.ob, self.armature, figure, body = ob, own.armature, own.figure, own.body
        self.names = own.names
        self.eyes = {role.side: bone for bone, role in sorted(figure.eyes.items(), key=lambda item: item[1].side)}
        self.front = eyes.front(self.armature.control_tree, figure.roles, figure.eyes)
        heads = self.armature.heads[list(self.eyes.values())]
        self.apart = float(np.linalg.norm(heads[0] - heads[-1])) or _USUAL * (body.height or self.armature.size)
        self.distance = max(_AHEAD * body.height, _APART * self.apart)
        self.away = self.distance * self.front
        self.middle = heads.mean(0) + self.away
        self.head = body.bone("head")
        self.parent = self._parent()

    def _parent(self) -> str:
        """The control that turns the head, or else its bone; the bone above the eyes where no head is known."""
        if self.head is None:
            above = int(self.armature.parent[next(iter(self.eyes.values()))])
            return self.names[above] if above >= 0 else ""
        own = self.names[self.head]
        for goal in self.ob.dqik.goals:
            control = self.ob.data.bones.get(goal.subtarget) if goal.target == self.ob else None
            if goal.bone == own and goal.use_rotation and goal.kind == "REACH" and control is not None:
                return control.name if controls.is_control(control) else own
        return own

    def sight(self, bone: int) -> np.ndarray:
        """The unit direction (3,) in which an eye looks, in the frame of its bone."""
        return self.armature.rest[bone, :3, :3].T @ self.front

    def of_one(self, side: str, parent: str) -> Control:
        """The control of an eye, at rest before it."""
        bone = self.eyes[side]
        return Control(
            f"eye.{side}", self.names[bone], parent=parent, side=side, shape=control_shapes.RING,
            size=_SIZE * self.apart / self.armature.size, head=Vector(self.armature.heads[bone] + self.away),
            normal=Vector(self.sight(bone)), lock="lock_rotation",
        )  # fmt: skip

    def of_both(self) -> Control:
        """The control that moves those of both eyes; it turns as the head does at rest."""
        bone = next(iter(self.eyes.values())) if self.head is None else self.head
        return Control(
            controls.EYES.removeprefix(controls.PREFIX), self.names[bone], parent=self.parent,
            shape=control_shapes.RING, size=_BOTH * self.apart / self.armature.size, head=Vector(self.middle),
            normal=Vector(self.sight(bone)),
        )  # fmt: skip

    def now(self, bone: int) -> Vector:
        """The place that an eye looks at in the present pose, in armature space."""
        shown = self.ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[self.names[bone]].matrix
        way = shown.to_3x3() @ Vector(self.sight(bone))
        return shown.translation + self.distance * way.normalized()


def _put(ob: bpy.types.Object, name: str, place: Vector) -> None:
    """Move a control to a place in armature space; it turns as its parent does."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    controls.move(shown, name, Matrix.Translation(place), use_rotation=False)
    ob.update_tag(refresh={"OBJECT"})


def _look(ob: bpy.types.Object, bone: str, sight: np.ndarray, control: str) -> int:
    """Add the goal of an eye that looks at its control; returns its number."""
    goal = goals.new_goal(ob, bone, chain_length=1)
    nearest = max(AXES, key=lambda axis: float(sight @ np.array(AXES[axis])))
    goal.kind, goal.use_tail, goal.direction = "LOOK_AT", False, sight
    goal.axis = nearest if float(sight @ np.array(AXES[nearest])) > _ON_AXIS else DIRECTION
    goal.target, goal.subtarget, goal.own_target = ob, control, True
    return len(ob.dqik.goals) - 1
