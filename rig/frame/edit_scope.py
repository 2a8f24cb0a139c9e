# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects an edit may have changed on any frame: what follows what in Blender is the same on all frames."""

from dataclasses import dataclass

import bpy

from ..keys import users
from .read.view import View


@dataclass
class EditScope:
    """Finds the objects that an edit may have changed on frames that are not shown. It holds no Blender object."""

    _scripts: bool | None = None  # whether a driver runs a script, which may read what Blender does not know of

    def forget(self) -> None:
        """Look at the drivers again: the file is another one, or in another state."""
        self._scripts = None

    def of(self, view: View, moved: set[int], keyed: set[int]) -> set[int] | None:
        """`session_uid` of the objects that an edit may have changed on any frame; None if it may be all.

        It may be all if relations between objects have changed, drivers run scripts or rigid bodies are simulated.
        moved : the objects that Blender reports as changed. keyed : the actions.
        """
        if view.relations_changed:
            self.forget()
            return None
        if self._scripts is None:
            drivers = [curve.driver for _, curve in users.drivers()]
            self._scripts = any(one.type == "SCRIPTED" and not one.is_simple_expression for one in drivers)
        if self._scripts or view.depsgraph.scene.rigidbody_world is not None:
            return None
        changed = moved | (_animated(view, keyed) if keyed else set())
        meshes = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.session_uid in changed]
        modifiers = [one for ob in meshes for one in ob.modifiers if isinstance(one, bpy.types.ArmatureModifier)]
        figures = {*(ob.parent for ob in meshes), *(one.object for one in modifiers)}
        return changed | {ob.session_uid for ob in figures if ob is not None}  # what is measured on their skin


def _animated(view: View, keyed: set[int]) -> set[int]:
    """`session_uid` of the objects that actions move, directly or by what follows.

    Blender itself reports the action alone if a new key changes nothing on the present frame.
    """
    actions = {action for action in bpy.data.actions if action.session_uid in keyed}
    animated = set[bpy.types.ID]().union(*bpy.data.user_map(subset=actions).values())
    for one in animated:
        if isinstance(one, bpy.types.Object):
            one.update_tag(refresh={"OBJECT", "DATA"})
        elif not isinstance(one, users.HOLDERS):
            one.update_tag()
    return {one.session_uid for one in animated} | view.evaluate_and_note()
