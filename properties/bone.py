# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties of pose bones: limits, stiffness, hold, gain, role, and the base pose."""

from math import pi

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ..rig.controls import pasted_settings
from ..rig.figure import roles
from ..rig.frame.memory import stored_base
from ..rig.skeleton import owners
from .common import FIXED, KEYED, KEYED_SETTING, OVERRIDE, SETTING, roll_property, set_aside_properties, touched

_HIDDEN = {"options": {"HIDDEN"}, "override": OVERRIDE}


def _of_own_side(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """A setting of a bone changed that a mirrored paste must mirror, so it belongs to this bone."""
    self.dqik_owner = pasted_settings.number(self.name)
    touched(self, context)


def _held(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """The hold of a bone was set, so it belongs to this figure."""
    owners.claim_hold(self)
    touched(self, context)


def _angle(name: str, text: str, default: float) -> object:
    return FloatProperty(
        name=name, description=text, default=default, soft_min=-pi, soft_max=pi, min=-2.0 * pi, max=2.0 * pi,
        subtype="ANGLE", options=FIXED, override=OVERRIDE, update=_of_own_side,
    )  # fmt: skip


def bone_properties() -> dict[str, object]:
    """The properties of pose bones."""
    return {
        "dqik_translate": BoolProperty(
            name="Translate", description="Let the bone move as well as turn, for example the hips. "
            "Locked axes of its location stay", **SETTING,
        ),
        **_limit_properties(),
        "dqik_stretch": FloatProperty(
            name="Stretch", description="How much longer the bone may become where a goal is out of its limb's reach, "
            "as a share of its length. It begins shortly before the limb is straight, so that it does not snap",
            default=0.0, min=0.0, max=10.0, soft_max=1.0, subtype="FACTOR", **KEYED_SETTING,
        ),
        "dqik_shortest": FloatProperty(
            name="Shortest", description="How short the bone may become, as a share of its length, where a goal is "
            "nearer than its limb can fold. At 1 it keeps its length",
            default=1.0, min=0.01, max=1.0, subtype="FACTOR", **KEYED_SETTING,
        ),
        "dqik_keep_volume": BoolProperty(
            name="Keep Volume", description="Let the bone become thinner as it stretches, and thicker as it shortens",
            **SETTING,
        ),
        "dqik_stiffness": FloatProperty(
            name="Stiffness", description="How much the bone resists turning: at 0 not at all, at 1 it does not turn",
            default=0.0, min=0.0, max=1.0, subtype="FACTOR", **KEYED_SETTING,
        ),
        "dqik_roll": roll_property(),
        "dqik_radius": FloatProperty(
            name="Radius", description="Radius of the bone's body, which does not pass through others. 0 takes it from "
            "the mesh's weights, or from the bone's role or length where there is no mesh", default=0.0, min=0.0,
            soft_max=1.0, precision=4, subtype="DISTANCE", **SETTING,
        ),
        "dqik_hold": FloatProperty(
            name="Hold", description="How firmly the bone stays as it is posed while others reach the goals. "
            "Posing a solved bone by hand sets it to 1, clearing its rotation (Alt R) to 0",
            default=0.0, min=0.0, max=1.0, subtype="FACTOR", options=KEYED, override=OVERRIDE, update=_held,
        ),
        "dqik_gain": FloatProperty(
            name="Gain", description="How strongly the bone returns to its own pose where the goals leave it free, "
            "compared to the other bones. At 0 it goes along with the others",
            default=1.0, min=0.0, max=1e4, soft_max=10.0, **KEYED_SETTING,
        ),
        "dqik_preferred_angle": FloatVectorProperty(
            name="Preferred Angle",
            description="The direction in which the bone prefers to bend, as angles about its own axes. "
            "If all are zero, the elbow or knee of a straight limb finds it automatically",
            size=3, default=(0.0, 0.0, 0.0), min=-pi, max=pi, subtype="EULER", options=KEYED, override=OVERRIDE,
            update=_of_own_side,
        ),
        "dqik_lock": BoolProperty(name="Lock", description="Keep the bone as it is posed", **SETTING),
        **set_aside_properties(),
        **_hidden_properties(),
    }  # fmt: skip


def _limit_properties() -> dict[str, object]:
    """The limits of a bone's rotation, the role that Human Limits goes by, and the axes of the limits."""
    return {
        "dqik_use_limits": BoolProperty(
            name="Limits", description="Keep the bone's rotation inside its twist and swing limits", options=FIXED,
            override=OVERRIDE, update=_of_own_side,
        ),
        "dqik_twist_min": _angle("Twist Min", "Smallest turn about the bone's own length (Y)", -pi),
        "dqik_twist_max": _angle("Twist Max", "Largest turn about the bone's own length (Y)", pi),
        "dqik_swing_x_min": _angle("Swing X Min", "Smallest bend about the bone's X axis", -pi),
        "dqik_swing_x_max": _angle("Swing X Max", "Largest bend about the bone's X axis", pi),
        "dqik_swing_z_min": _angle("Swing Z Min", "Smallest bend about the bone's Z axis", -pi),
        "dqik_swing_z_max": _angle("Swing Z Max", "Largest bend about the bone's Z axis", pi),
        "dqik_role": EnumProperty(
            name="Role", description="The bone's part in the figure, for Set Up Full Body and Human Limits",
            items=roles.items(), default="AUTO", options=FIXED, override=OVERRIDE, update=_of_own_side,
        ),
        "dqik_limits_axes": FloatVectorProperty(
            name="Limits' Axes", description="The axes of the limits, as a rotation of the bone's own axes at rest: "
            "Human Limits turns them so that Y is along the limb", size=4, default=(1.0, 0.0, 0.0, 0.0),
            subtype="QUATERNION", options=FIXED, override=OVERRIDE, update=_of_own_side,
        ),
        "dqik_limits_zero": FloatVectorProperty(
            name="Limits' Zero", description="The rotation of the bone from rest at which its limits read zero", size=4,
            default=(1.0, 0.0, 0.0, 0.0), subtype="QUATERNION", options=FIXED, override=OVERRIDE,
            update=_of_own_side,
        ),
    }


def _hidden_properties() -> dict[str, object]:
    """Properties in which the extension remembers things of pose bones."""
    return {
        # the bone whose role, limits and preferred bend these are: Blender's paste copies them to the other side
        "dqik_owner": IntProperty(**_HIDDEN),
        # the figure whose hold it is, as rig/skeleton/owners.py numbers them
        "dqik_hold_of": IntProperty(**_HIDDEN),
        # of a goal's bone and its target, how far the goal leads them and whose it is: rig/controls/pasted_settings.py
        "dqik_switch": FloatVectorProperty(size=3, **_HIDDEN),
        # settings that were made for goals, which go back with the last of these
        "dqik_made_translate": BoolProperty(**_HIDDEN),
        "dqik_made_stiffness": FloatProperty(**_HIDDEN),
        "dqik_made_switches": StringProperty(**_HIDDEN),
        "dqik_made_limits": FloatVectorProperty(size=6, **_HIDDEN),
        # the base pose, stored here so that it survives saving and undo
        "dqik_base": FloatVectorProperty(size=stored_base.SIZE, **_HIDDEN),
        # the base pose as versions before stored it, which is only read
        "dqik_base_rotation": FloatVectorProperty(size=4, **_HIDDEN),
        "dqik_base_location": FloatVectorProperty(size=3, **_HIDDEN),
        "dqik_base_mode": StringProperty(**_HIDDEN),
    }


def armature_properties() -> dict[str, object]:
    """The properties of bones of armatures, by name."""
    return {"dqik_number": IntProperty(options={"HIDDEN"})}  # tells a renamed bone: rig/skeleton/renamed.py
