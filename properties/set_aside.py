# SPDX-License-Identifier: GPL-3.0-or-later
"""What the keys of an attached bone or object stand on meanwhile: places, rotations and scales that move nothing."""

from bpy.props import FloatVectorProperty

from ..rig.keys import attachments
from .common import OVERRIDE


def set_aside_properties() -> dict[str, object]:
    """The properties, for either of them."""
    return {
        attachments.SET_ASIDE + channel: FloatVectorProperty(
            name=f"Set Aside {channel}", description="Keys that count again once it is let go", size=size,
            options={"HIDDEN", "ANIMATABLE"}, override=OVERRIDE,
        ) for channel, size in attachments.CHANNELS.items()
    }  # fmt: skip
