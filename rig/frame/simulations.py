# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations that follow live armatures: they wait until a frame is solved.

Blender evaluates a new frame, calls the handlers, which solve it, and evaluates once more what they have written.
Simulations would step in the first evaluation, with the pose before the solve, and read their cache in the second one.
So those that follow a live armature are switched off for the first evaluation: the modifiers on their evaluated copies,
which nothing saves, and the scene's rigid bodies. Blender's own report of an update tells which ones follow.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..blender import animation, bulk
from ..blender.dependencies import Dependencies, aims_of
from ..blender.scene_state import STEPPING
from .read.view import View

_Place = tuple[int, int]
"""The position of an object in `bpy.data.objects`, and its `session_uid`."""


@dataclass
class Simulations:
    """Which simulations follow live armatures, and which of them wait for a solve now. It holds no Blender object.

    rendering : whether a render is running. It reads caches and does not step.
    """

    rendering: bool = False
    _learnt_for: tuple[int, frozenset[int]] | None = None  # a scene and its live armatures, by `session_uid`
    _armatures: list[_Place] = field(default_factory=list)
    _followers: list[_Place] = field(default_factory=list)
    _bodies_follow: bool = False
    _waiting: list[tuple[int, str, _Place]] = field(default_factory=list)
    _stopped_worlds: list[int] = field(default_factory=list)

    def wait(self, scene: bpy.types.Scene, suspended: set[int]) -> None:
        """The frame is about to change: switch off what follows armatures that will be solved.

        suspended : `session_uid` of armatures that are not solved now.
        """
        self.go_on()
        if self.rendering or self._learnt_for is None or self._learnt_for[0] != scene.session_uid:
            return
        if not (self._followers or self._bodies_follow):
            return
        if not any(ob.dqik.live and ob.session_uid not in suspended for ob in _objects(self._armatures)):
            return
        for layer, depsgraph in _depsgraphs(scene):
            for place, ob in zip(self._followers, _objects(self._followers), strict=False):
                self._switch_off(scene, layer, depsgraph, place, ob)
        world = scene.rigidbody_world
        if self._bodies_follow and world is not None and world.enabled and not world.point_cache.is_baked:
            world.enabled = False
            self._stopped_worlds.append(scene.session_uid)

    def go_on(self) -> bool:
        """Switch on what waits; returns whether anything did. Without an evaluation it does not step yet."""
        if not (self._waiting or self._stopped_worlds):
            return False
        scenes = {scene.session_uid: scene for scene in bpy.data.scenes}
        while self._waiting:
            scene, layer, place = self._waiting.pop()
            if scene in scenes:
                _switch_on(scenes[scene], layer, place)
        while self._stopped_worlds:
            scene = scenes.get(self._stopped_worlds.pop())
            if scene is not None and scene.rigidbody_world is not None:
                scene.rigidbody_world.enabled = True
                for _, depsgraph in _depsgraphs(scene):
                    depsgraph.scene_eval.rigidbody_world.enabled = True
        return True

    def unbaked(self, scene: bpy.types.Scene) -> list[str]:
        """Names of what follows live armatures in a scene and has no baked cache: renders do not simulate it."""
        if self._learnt_for is None or self._learnt_for[0] != scene.session_uid:
            return []
        if not any(ob.dqik.live for ob in _objects(self._armatures)):
            return []
        found = [ob.name for ob in _objects(self._followers) if any(not cache.is_baked for cache in _caches(ob))]
        world = scene.rigidbody_world
        if self._bodies_follow and world is not None and not world.point_cache.is_baked:
            found.append("Rigid Body World")
        return found

    def solved(self, view: View, armatures: list[bpy.types.Object]) -> None:
        """The answers of a frame or an edit are written: let the simulations step in the evaluation that follows.

        armatures : the live ones of the view.
        """
        if not view.in_viewport:
            return
        live = view.scene_uid, frozenset(ob.session_uid for ob in armatures)
        if armatures and (view.relations_changed or live != self._learnt_for):
            self._learn(view, view.depsgraph.scene.original, armatures)
            self._learnt_for = live
        # an edit within a change of frame comes from a handler that is called before ours
        if view.fresh and self.go_on():
            for ob in _objects(self._armatures):  # so that what follows is evaluated even if the answers are the same
                ob.update_tag(refresh={"OBJECT"})
            if self._bodies_follow:
                _prepare_bodies(view.depsgraph.scene.original)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _switch_off(
        self, scene: bpy.types.Scene, layer: str, depsgraph: bpy.types.Depsgraph, place: _Place, ob: bpy.types.Object
    ) -> None:
        evaluated = ob.evaluated_get(depsgraph)
        if not evaluated.is_evaluated or ob.mode == "EDIT":
            return
        shown, stepping = _shown(evaluated), _stepping(evaluated)
        if (shown & stepping).any():
            # this sets no tag, so Blender does not copy the object anew, which would end the simulation
            evaluated.modifiers.foreach_set("show_viewport", shown & ~stepping)
            self._waiting.append((scene.session_uid, layer, place))

    def _learn(self, view: View, scene: bpy.types.Scene, armatures: list[bpy.types.Object]) -> None:
        """Have Blender evaluate what follows the armatures, and note which simulations are among it."""
        objects = bpy.data.objects
        stepping = [(place, ob.session_uid) for place, ob in enumerate(objects) if _steps(ob)]
        world = scene.rigidbody_world
        live = {ob.session_uid for ob in armatures}
        self._armatures = [(place, ob.session_uid) for place, ob in enumerate(objects) if ob.session_uid in live]
        self._followers, self._bodies_follow = [], False
        bodies = set() if world is None or world.collection is None else set(world.collection.all_objects)
        if not stepping and not bodies:
            return
        view.evaluate()  # so that the next evaluation reports nothing else
        for ob in armatures:
            ob.update_tag(refresh={"OBJECT"})
        moved = view.evaluate_and_note()
        behind_goals = Dependencies().all_behind(aim for ob in armatures for aim in aims_of(ob))
        before = {ob.original.session_uid for ob, _ in behind_goals}  # these are evaluated before the solve
        self._followers = [(place, uid) for place, uid in stepping if uid in moved and uid not in before]
        uids = {body.session_uid for body in bodies}
        is_animated = animation.animates(scene, "rigidbody_world.enabled")
        self._bodies_follow = not uids.isdisjoint(moved) and uids.isdisjoint(before) and not is_animated


def _objects(places: Iterable[_Place]) -> Iterator[bpy.types.Object]:
    """Objects by their places, those that are still there."""
    objects = bpy.data.objects
    for place, uid in places:
        if place < len(objects) and objects[place].session_uid == uid:
            yield objects[place]


def _depsgraphs(scene: bpy.types.Scene) -> Iterator[tuple[str, bpy.types.Depsgraph]]:
    """The name of each view layer of a scene that Blender evaluates, and its depsgraph."""
    for layer in scene.view_layers:
        if layer.depsgraph is not None:
            yield layer.name, layer.depsgraph


def _switch_on(scene: bpy.types.Scene, name: str, place: _Place) -> None:
    """Give what steps on an evaluated object the user's setting again."""
    for layer, depsgraph in _depsgraphs(scene):
        for ob in _objects([place]) if layer == name else ():
            evaluated = ob.evaluated_get(depsgraph)
            if evaluated.is_evaluated and len(evaluated.modifiers) == len(ob.modifiers):
                shown = np.where(_stepping(ob), _shown(ob), _shown(evaluated))
                evaluated.modifiers.foreach_set("show_viewport", shown)


def _prepare_bodies(scene: bpy.types.Scene) -> None:
    """Blender prepares rigid bodies on the frame after the first: have it done in the evaluation that follows."""
    if scene.rigidbody_world is not None and scene.frame_current == scene.rigidbody_world.point_cache.frame_start + 1:
        scene.update_tag()


def _shown(ob: bpy.types.Object) -> np.ndarray:
    """Whether each modifier of an object is shown, (M,) bool."""
    return bulk.read(ob.modifiers, "show_viewport", kind=bool)


def _stepping(ob: bpy.types.Object) -> np.ndarray:
    """Whether each modifier of an object steps, (M,) bool."""
    return np.array([modifier.type in STEPPING for modifier in ob.modifiers], dtype=bool)


def _steps(ob: bpy.types.Object) -> bool:
    """Whether an object has a modifier that steps and that nothing but the user switches on and off."""
    found = [modifier.name for modifier in ob.modifiers if modifier.type in STEPPING]
    return bool(found) and not any(
        animation.animates(ob, f'modifiers["{bpy.utils.escape_identifier(name)}"].show_viewport') for name in found
    )


def _caches(ob: bpy.types.Object) -> Iterator[bpy.types.PointCache]:
    """The caches of an object's simulations; hair that does not move and collisions have none."""
    for modifier in ob.modifiers:
        if modifier.type in {"CLOTH", "SOFT_BODY"}:
            yield modifier.point_cache
        elif modifier.type == "DYNAMIC_PAINT" and modifier.canvas_settings is not None:
            yield from (surface.point_cache for surface in modifier.canvas_settings.canvas_surfaces)
    for system in ob.particle_systems:
        if system.settings.type == "EMITTER" or system.use_hair_dynamics:
            yield system.point_cache
