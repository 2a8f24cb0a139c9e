# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths and angles as text, in the units of a scene."""

from math import degrees

import bpy

_LEAST = 1e-5  # [m]; shorter lengths are shown as "< ..."
_LEAST_BESIDE = 1e-4  # [m]; shorter distances are left out beside an angle
_LEAST_ANGLE = 0.05  # [degrees]; smaller angles are left out


def length(scene: bpy.types.Scene, value: float, precision: int = 3) -> str:
    """A length in the scene's units; very small ones are shown as "< ..."."""
    units = scene.unit_settings
    value *= units.scale_length
    if units.system == "NONE":
        return f"{value:.1e}"
    text = bpy.utils.units.to_string(units.system, "LENGTH", max(value, _LEAST), precision=precision)
    return f"< {text}" if value < _LEAST else text


def angle(radians: float) -> str:
    """An angle in degrees."""
    return f"{degrees(radians):.1f}\N{DEGREE SIGN}"


def miss(scene: bpy.types.Scene, ob: bpy.types.Object, distance: float, radians: float) -> str:
    """A goal's distance [armature units of `ob`] and angle, in the scene's units; one alone if the other is small."""
    world = distance * ob.matrix_world.median_scale
    turned = degrees(radians) >= _LEAST_ANGLE
    parts = [] if turned and world * scene.unit_settings.scale_length < _LEAST_BESIDE else [length(scene, world, 2)]
    return ", ".join([*parts, angle(radians)] if turned else parts)
