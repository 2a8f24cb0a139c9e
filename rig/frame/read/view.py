# SPDX-License-Identifier: GPL-3.0-or-later
"""A view: a scene at a frame, as one depsgraph evaluates it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import bpy


@dataclass
class View:
    """A scene at a frame, as a depsgraph evaluates it. Do not store it beyond the handler that made it.

    Attributes
    ----------
    fresh : whether the frame has just changed, so that animated channels have their animated values.
    later : for an armature that takes part in a cycle of armatures that follow each other, by `session_uid`: those of
        the cycle that it follows and that are solved after it.
    relations_changed : whether Blender reports a change of what follows what in the scene.
    edited : whether it reports that, or a change of an armature's bones.
    borrowed : to call when a render is done: gives objects their values back that they had for the render only.
    is_whole : whether all live armatures are solved on it, not all but those that a bake or a comparison reads.
    """

    depsgraph: bpy.types.Depsgraph
    frame: float
    fresh: bool
    later: dict[int, set[int]] = field(default_factory=dict)
    borrowed: list[Callable[[], None]] = field(default_factory=list)
    is_whole: bool = True

    def __post_init__(self) -> None:
        self.relations_changed = self._crashes = self.depsgraph.id_type_updated("SCENE")
        self.edited = self.relations_changed or self.depsgraph.id_type_updated("ARMATURE")

    @classmethod
    def now(cls, depsgraph: bpy.types.Depsgraph, fresh: bool = False) -> Self:
        """The view at the frame that a depsgraph evaluates at present."""
        return cls(depsgraph, depsgraph.scene.frame_current_final, fresh)

    @cached_property
    def in_viewport(self) -> bool:
        """Whether this is a view layer's evaluation, not a render's."""
        return self.depsgraph.mode == "VIEWPORT"

    @cached_property
    def keyed(self) -> bool:
        """Whether Blender reports a change of an action."""
        return any(True for _ in _actions(self.depsgraph))  # the originals may be removed

    @cached_property
    def scene_uid(self) -> int:
        """The scene's identity."""
        return self.depsgraph.scene.original.session_uid

    @property
    def place(self) -> tuple[int, float]:
        """The scene's identity and the frame."""
        return self.scene_uid, self.frame

    def evaluate(self) -> None:
        """Evaluate what has been written since, without a change of frame."""
        _ = self.keyed  # of what the view began with: Blender reports the last evaluation alone
        if self._crashes:  # without this, Blender up to 5.0 crashes in the next update of an object
            self.depsgraph.scene.original.update_tag()
            self._crashes = False
        self.depsgraph.update()

    def evaluate_and_note(self) -> set[int]:
        """Evaluate what has been written since; returns the `session_uid` of the objects that this changes."""
        _reported.clear()
        self.evaluate()
        return set(_reported)


_reported: set[int] = set()  # the objects that evaluations inside handlers have changed


def note_changed(depsgraph: bpy.types.Depsgraph) -> None:
    """Note what Blender reports of an evaluation inside a handler, for `View.evaluate_and_note`."""
    _reported.update(changed_objects(depsgraph))


def changed_objects(depsgraph: bpy.types.Depsgraph) -> set[int]:
    """`session_uid` of the objects that Blender reports as changed, in a handler of an update."""
    return {update.id.original.session_uid for update in depsgraph.updates if isinstance(update.id, bpy.types.Object)}


def changed_actions(depsgraph: bpy.types.Depsgraph) -> set[int]:
    """`session_uid` of the actions that Blender reports as changed, in a handler of an update."""
    return {action.original.session_uid for action in _actions(depsgraph)}


def _actions(depsgraph: bpy.types.Depsgraph) -> Iterator[bpy.types.Action]:
    """The evaluated actions that Blender reports as changed."""
    # `id_type_updated` is also true where an action was only made, as Blender makes copies of pose assets
    for update in depsgraph.updates if depsgraph.id_type_updated("ACTION") else ():
        if isinstance(update.id, bpy.types.Action):
            yield update.id
