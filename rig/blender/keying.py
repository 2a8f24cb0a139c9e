# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of the place and rotation of bones and objects."""

import bpy

from . import rotation


def key(owner: bpy.types.PoseBone | bpy.types.Object, frame: float, group: str) -> None:
    """Key the location and the rotation, in the owner's own rotation mode, at a frame."""
    for path in ("location", rotation.PATHS[owner.rotation_mode]):
        owner.keyframe_insert(path, frame=frame, group=group)
