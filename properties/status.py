# SPDX-License-Identifier: GPL-3.0-or-later
"""The reports of the last solve, bake or check of an armature."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from ..rig.frame.sessions import sessions
from .common import FIXED, OVERRIDE


class DqikMissedFrame(bpy.types.PropertyGroup):
    """A frame on which the last bake or check missed goals; its name has theirs, one a line."""

    frame: IntProperty(name="Frame", description="The frame", options=FIXED, override=OVERRIDE)
    error: FloatProperty(name="Error", description="Largest distance of a bone from its target", subtype="DISTANCE",
                         options=FIXED, override=OVERRIDE)  # fmt: skip
    rotation_error: FloatProperty(name="Rotation Error", description="Largest angle of a bone to its target",
                                  subtype="ANGLE", options=FIXED, override=OVERRIDE)  # fmt: skip


def _of_status(name: str, default: object):
    """A getter of one field of the last report, which is not saved."""

    def get(self: bpy.types.bpy_struct):
        return getattr(sessions.status(self.id_data), name, default)

    return get


class DqikStatus(bpy.types.PropertyGroup):
    """The report of this armature's last solve; not saved."""

    error: FloatProperty(name="Worst Error", description="Largest distance of a bone from its target",
                         subtype="DISTANCE", get=_of_status("error", 0.0))  # fmt: skip
    rotation_error: FloatProperty(name="Worst Rotation Error", description="Largest angle of a bone from its target",
                                  subtype="ANGLE", get=_of_status("rotation_error", 0.0))  # fmt: skip
    iterations: IntProperty(
        name="Iterations", description="Steps that the solver took", get=_of_status("iterations", 0)
    )
    milliseconds: FloatProperty(name="Milliseconds", description="Time of the last solve",
                                get=_of_status("milliseconds", 0.0))  # fmt: skip
    at_limits: IntProperty(name="Joints at Limits", description="Number of bones at one of their limits",
                           get=_of_status("at_limits", 0))  # fmt: skip
    overlap: FloatProperty(name="Overlap", description="How deep parts of the body are in each other, beyond their "
                           "overlap at rest, in the floor, or in obstacles", subtype="DISTANCE",
                           get=_of_status("overlap", 0.0))  # fmt: skip
    shot: FloatProperty(name="Shot", description="How much of the shot is solved as one motion, from 0 to 1",
                        get=lambda self: sessions.shot_share(self.id_data))  # fmt: skip
    converged: BoolProperty(name="Met", description="Whether all goals were met", get=_of_status("converged", False))
    lags: BoolProperty(name="Lagging", description="Whether the bones are on their way to their targets, which they "
                       "follow with a lag", get=_of_status("lags", False))  # fmt: skip
    message: StringProperty(name="Message", description="Problems that need attention", get=_of_status("message", ""))
