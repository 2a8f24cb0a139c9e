# SPDX-License-Identifier: GPL-3.0-or-later
"""The roll of a foot's control, which is a bone or an object."""

from math import pi

from bpy.props import FloatProperty

from .common import KEYED_SETTING


def roll_property() -> object:
    """The property, for either of them."""
    return FloatProperty(
        name="Roll", description="Rolls the foot of this control. Above 0 the heel rises: the foot turns about its "
        "ball while the toes stay flat, and beyond 45° about the tip of the toes. Below 0 the toes rise: it turns "
        "about its heel", default=0.0, min=-pi, max=pi, soft_min=-pi / 3.0, soft_max=pi / 2.0, subtype="ANGLE",
        **KEYED_SETTING,
    )  # fmt: skip
