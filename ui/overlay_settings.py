# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the overlay in 3D views, which are not saved."""

import bpy
from bpy.props import BoolProperty

from ..rig.blender import views


def _redraw(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """Draw all 3D views again."""
    del self, context
    views.redraw()


class DqikOverlay(bpy.types.PropertyGroup):
    """What 3D views show of the active armature; not saved."""

    show: BoolProperty(
        name="Overlay", description="Show goals, limits and joints at their limits in the 3D view", update=_redraw
    )
    goals: BoolProperty(
        name="Goals", description="Join each target to its bone, and write the distance that is missed",
        default=True, update=_redraw,
    )  # fmt: skip
    limits: BoolProperty(
        name="Limits", description="Of the selected bones, show the border of the swing, the range of the twist, and "
        "the part of both that is in use", default=True, update=_redraw,
    )  # fmt: skip
    handles: BoolProperty(
        name="Handles", description="Show handles that change the limits of the active bone when they are dragged",
        default=True, update=_redraw,
    )  # fmt: skip
    at_limit: BoolProperty(
        name="At Limits", description="Colour the bones that are at one of their limits", default=True,
        update=_redraw,
    )  # fmt: skip
    holds: BoolProperty(name="Holds", description="Mark the bones that hold their pose", default=True, update=_redraw)
    bodies: BoolProperty(
        name="Bodies", description="Outline the bodies of bones where Contact keeps them apart", default=True,
        update=_redraw,
    )  # fmt: skip
    roles: BoolProperty(
        name="Roles", description="Name what each bone is taken for, left ones blue and right ones red",
        update=_redraw,
    )  # fmt: skip
    reach: BoolProperty(
        name="Reach", description="Show the computed reach of a goal: blue where its bone can go, green where it can "
        "be in at least half of all orientations: from any direction, with any roll", default=True, update=_redraw,
    )  # fmt: skip
