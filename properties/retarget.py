# SPDX-License-Identifier: GPL-3.0-or-later
"""How motions of other figures are fitted to a figure: options of *Retarget*, and the same as kept with the figure."""

from math import pi

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty

from ..rig.motion import limb_places, retarget, root_motion
from .common import FIXED, OVERRIDE

_BUILT_IN = ("rna_type", "name")
_KEPT = {"options": FIXED, "override": OVERRIDE}


def _places(value: float) -> object:
    return FloatProperty(
        name="Places", description="At 0 the limb goes by its angles, at 1 its end goes where the source's is, by the "
        "length of the legs: then hands reach what the source's hold on to", default=value, min=0.0, max=1.0,
        subtype="FACTOR", **_KEPT,
    )  # fmt: skip


def _offset() -> object:
    return FloatVectorProperty(
        name="Offset", description="How much further left, forward and up the hand or the foot is in the world, as the "
        "hips of the figure face", size=3, subtype="XYZ_LENGTH", unit="LENGTH", **_KEPT,
    )  # fmt: skip


def _pole() -> object:
    return FloatProperty(
        name="Pole", description="How much further outward the elbow or the knee points. It is turned about the line "
        "from shoulder to hand or from hip to foot, which stay where they are", min=-pi, max=pi,
        subtype="ANGLE", **_KEPT,
    )  # fmt: skip


class DqikRetargetArm(bpy.types.PropertyGroup):
    """How an arm is fitted."""

    places: _places(0.0)
    offset: _offset()
    pole: _pole()


class DqikRetargetLeg(bpy.types.PropertyGroup):
    """How a leg is fitted."""

    places: _places(1.0)
    offset: _offset()
    pole: _pole()


class DqikRetargetLimbs(bpy.types.PropertyGroup):
    """How arms and legs are fitted."""

    arm_l: PointerProperty(type=DqikRetargetArm, name="Left Arm", override=OVERRIDE)
    arm_r: PointerProperty(type=DqikRetargetArm, name="Right Arm", override=OVERRIDE)
    leg_l: PointerProperty(type=DqikRetargetLeg, name="Left Leg", override=OVERRIDE)
    leg_r: PointerProperty(type=DqikRetargetLeg, name="Right Leg", override=OVERRIDE)

    def each(self) -> list[tuple[bpy.types.Property, bpy.types.PropertyGroup]]:
        """The limbs, as properties with their names, and how each is fitted."""
        return [(prop, getattr(self, prop.identifier)) for prop in self.rna_type.properties
                if prop.type == "POINTER" and prop.identifier not in _BUILT_IN]  # fmt: skip

    def fits(self) -> limb_places.Limbs:
        """How each limb goes, by part and side."""
        return {(part, side): limb_places.LimbFit(own.places, tuple(own.offset), own.pole)
                for part, side in limb_places.USUAL for own in [getattr(self, f"{part}_{side.lower()}")]}  # fmt: skip


class RetargetOptions:
    """The options of *Retarget* that are kept with a figure."""

    stance: FloatProperty(
        name="Stance", description="How far apart feet stand: at 0 as the source's do, by the length of the legs, at 1 "
        "as much further or nearer as the body's own hips are wider or narrower", default=1.0, min=0.0, max=1.0,
        subtype="FACTOR", **_KEPT,
    )  # fmt: skip
    own_speed: BoolProperty(
        name="Own Speed", description="Play the motion as fast as a body of this size moves: a figure with a quarter "
        "of the source's legs takes half the time, as bodies fall and legs swing", default=False, **_KEPT,
    )  # fmt: skip
    root: EnumProperty(
        name="Root Motion", description="What takes the way over the ground, and the turn of the figure as a whole",
        items=[
            (root_motion.AUTO, "Hips", "The bone that carries the figure, mostly the hips, goes the whole way"),
            (root_motion.BONE, "Root Bone", "The topmost bone goes and turns with the figure, the hips sway over it"),
            (root_motion.OBJECT, "Object", "The object goes and turns with the figure, the hips sway over it"),
            (root_motion.IN_PLACE, "In Place", "The way is left out: the figure stays where it is, and turns"),
        ],
        default=root_motion.AUTO, **_KEPT,
    )  # fmt: skip
    by_name: BoolProperty(
        name="By Name", description="Carry over what has no role too, where both figures have a bone of a name: tails, "
        "props, ears, faces. Also shape keys of the same name, and keys of scale and of what hides the source",
        default=False, **_KEPT,
    )  # fmt: skip
    both_give: BoolProperty(
        name="Both Give", description="This figure and its partner give, so that hands meet half-way: the partner's "
        "motion is made anew, with its own options. Off: the partner stays as it is", default=True, **_KEPT,
    )  # fmt: skip
    limbs: PointerProperty(type=DqikRetargetLimbs, name="Limbs", description="How each arm and each leg goes by angles "
                           "and by places", override=OVERRIDE)  # fmt: skip


def fit(given: bpy.types.bpy_struct) -> retarget.RetargetFit:
    """The fit that options ask for."""
    return retarget.RetargetFit(given.stance, given.own_speed, given.root, given.limbs.fits(), given.by_name)


def copy(given: bpy.types.bpy_struct, to: bpy.types.bpy_struct, only_left_out: bool = False) -> None:
    """Copy options, and those of limbs. only_left_out : those that were not set there."""
    for prop in given.rna_type.properties:
        name = prop.identifier
        if name in _BUILT_IN or not hasattr(to, name):
            continue
        if prop.type == "POINTER":
            copy(getattr(given, name), getattr(to, name), only_left_out)
        elif not (only_left_out and to.is_property_set(name)):
            setattr(to, name, getattr(given, name))


class DqikRetarget(RetargetOptions, bpy.types.PropertyGroup):
    """The options of *Retarget* with which a figure gets its motions."""
