# SPDX-License-Identifier: GPL-3.0-or-later
"""A goal of an armature: a bone, its target, and weights."""

from math import pi

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..rig.controls import goals
from ..rig.figure.short_names import called, short
from ..rig.frame.sessions import sessions
from ..rig.frame.step.report import GoalError
from ..rig.skeleton import foot_roll
from ..rig.skeleton.goal_facts import STEADY_SHARE
from ..rig.skeleton.menus import KINDS, SETTING_WORDS, SIDES, axis_items
from ..solvers.model import SETTINGS, Setting
from .common import FIXED, KEYED_SETTING, OVERRIDE, SETTING, touched

_SUBTYPES = {"length": "DISTANCE", "angle": "ANGLE"}
_NO_ERROR = GoalError(-1, 0.0, 0.0, met=True)


def _retargeted(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """Another target was chosen, which is not removed with the goal; an empty that was made for it is removed now."""
    self.own_target = False
    made = self.made_empty
    if made is not None and made != self.target:
        self.made_empty = None
        goals.drop_empty(self.id_data, made)
    touched(self, context)


def _error(goal: bpy.types.bpy_struct) -> GoalError:
    """The errors of a goal after the last solve; none where it was not solved."""
    number = int(goal.path_from_id().rpartition("[")[2][:-1])
    return next((error for error in sessions.status(goal.id_data).goals if error.goal == number), _NO_ERROR)


def _label(goal: bpy.types.bpy_struct) -> str:
    """The part of the body that a goal moves, unless it has another name than its bone; then that name."""
    ob, name = goal.id_data, goal.name
    return called(ob, name) if name == goal.bone else short(ob, name)


def _set_label(self: bpy.types.bpy_struct, text: str) -> None:
    """A name was typed in the list; what the list shows already changes nothing."""
    if text != _label(self):
        self.name = text


def _smooth_distance(goal: bpy.types.bpy_struct) -> float:
    """How far the path of a goal's target may be moved [scene units]; 0 where nothing is solved."""
    ob, rig = goal.id_data, sessions.of(goal.id_data).rig.rig
    return 0.0 if rig is None else goal.smooth * STEADY_SHARE * rig.armature.size * ob.matrix_world.median_scale


def _set_roll(self: bpy.types.bpy_struct, angle: float) -> None:
    """The roll belongs to the control; a goal without a target has none."""
    owner = foot_roll.owner(self)
    if owner is not None:
        owner.dqik_roll = angle


class DqikGoal(bpy.types.PropertyGroup):
    """One goal: a bone, the target that it should reach, and weights."""

    name: StringProperty(name="Name", description="Name of the goal", default="Goal", override=OVERRIDE)
    label: StringProperty(
        name="Name", description="The part of the body that the goal moves, or the goal's own name",
        get=_label, set=_set_label, options={"HIDDEN", "SKIP_SAVE"},
    )  # fmt: skip
    mute: BoolProperty(name="Mute", description="Leave this goal out of the solve", **KEYED_SETTING)
    bone: StringProperty(name="Bone", description="The bone that should reach the target", **SETTING)
    kind: EnumProperty(
        name="Kind", description="What the goal asks of its bone", items=KINDS, default="REACH", **SETTING,
    )
    side: EnumProperty(
        name="Side", description="On which side of the distance, the plane or the target the goal is met",
        items=SIDES, default="AT", **SETTING,
    )  # fmt: skip
    use_support: BoolProperty(
        name="Carries Weight", description="The target is a corner of the area over which goals of balance keep the "
        "weight: feet on the ground", **SETTING,
    )  # fmt: skip
    target: PointerProperty(
        type=bpy.types.Object, name="Target", description="The object that the bone should reach", override=OVERRIDE,
        update=_retargeted,
    )  # fmt: skip
    subtarget: StringProperty(
        name="Target Bone", description="The bone to reach, if the target is an armature", options=FIXED,
        override=OVERRIDE, update=_retargeted,
    )  # fmt: skip
    close_loop: BoolProperty(
        name="Close Loop", description="The goal also moves the bones that carry its target, a bone of this armature "
        "in another chain, so that both chains come together: linkages, or a bar that two hands carry", **SETTING,
    )  # fmt: skip
    chain_length: IntProperty(
        name="Chain Length",
        description="Number of bones that the goal moves, counted from its bone toward the root; 0 for all of them",
        min=0, soft_max=20, **SETTING,
    )  # fmt: skip
    use_position: BoolProperty(name="Position", description="Reach the target's position", default=True, **SETTING)
    use_rotation: BoolProperty(name="Rotation", description="Turn the bone with the target", **SETTING)
    position_weight: FloatProperty(
        name="Position Weight", description="How much a distance from the target counts, compared with other goals",
        default=1.0, min=0.0, soft_max=10.0, **KEYED_SETTING,
    )  # fmt: skip
    rotation_weight: FloatProperty(
        name="Rotation Weight", description="How much an angle to the target counts, compared with other goals",
        default=1.0, min=0.0, soft_max=10.0, **KEYED_SETTING,
    )  # fmt: skip
    rotation_follows: FloatProperty(
        name="Follow Limb", description="How far the target's rotation turns with the bone above, as a hand with its "
        "forearm. At 1 the bone stands to the one above as at rest, turned further by the target; at 0 the target's "
        "rotation is that in the world", default=0.0, min=0.0, max=1.0, subtype="FACTOR", **KEYED_SETTING,
    )  # fmt: skip
    influence: FloatProperty(
        name="Influence", description="At 0 the goal has no effect, at 1 the bone reaches its target", default=1.0,
        min=0.0, max=1.0, subtype="FACTOR", **KEYED_SETTING,
    )  # fmt: skip
    smooth: FloatProperty(
        name="Smooth", description="Steadies a target that trembles, where frames are solved as one motion: Start From "
        "Shot, and bakes with Smooth. The target's path may be moved by as much as Within says, at 1 by 2 % of the "
        "figure's size. Other frames follow the target exactly", default=0.0, min=0.0, max=1.0, subtype="FACTOR",
        **SETTING,
    )  # fmt: skip
    smooth_distance: FloatProperty(
        name="Within", description="How far Smooth may move the target's path", subtype="DISTANCE", unit="LENGTH",
        get=_smooth_distance, options={"SKIP_SAVE"},
    )  # fmt: skip
    leads_body: BoolProperty(
        name="Lead Body", description="At influence 0 only the limb is left to its keys. The bones that it shares with "
        "other goals follow the target as before. Limb to FK sets this where the limb pulls the body along", **SETTING,
    )  # fmt: skip
    roll: FloatProperty(
        name="Roll", description="The roll of the foot's control, which has the keys: above 0 the heel rises and the "
        "foot turns about its ball while the toes stay flat, below 0 the toes rise and it turns about its heel",
        subtype="ANGLE", get=lambda goal: foot_roll.of(goal), set=_set_roll, options={"SKIP_SAVE"},
    )  # fmt: skip
    priority: IntProperty(
        name="Priority", description="Goals of higher priority are met first if not all goals can be met. "
        "Those below 0 are wishes, which are not reported as missed", **SETTING,
    )  # fmt: skip
    use_tail: BoolProperty(
        name="Use Tail", description="Bring the tail of the bone to the target. If off, bring the head", default=True,
        **SETTING,
    )  # fmt: skip
    direction: FloatVectorProperty(
        name="Direction", description="The direction that the bone looks or points in, in its own frame, where Axis is "
        "Direction", size=3, default=(0.0, 1.0, 0.0), subtype="XYZ", **SETTING,
    )  # fmt: skip
    pole_target: PointerProperty(
        type=bpy.types.Object, name="Pole Target",
        description="An object that the elbow or knee should point at", override=OVERRIDE,
        update=touched,
    )  # fmt: skip
    pole_subtarget: StringProperty(
        name="Pole Bone", description="The bone to point at, if the pole target is an armature", **SETTING,
    )
    use_pole: BoolProperty(
        name="Use Pole", description="Point the elbow or knee at the pole. If off, the limb bends as without one",
        default=True, **KEYED_SETTING,
    )  # fmt: skip
    known_bones: StringProperty(options={"HIDDEN"}, override=OVERRIDE)  # as rig/skeleton/renamed.py has them
    pin: IntProperty(options={"HIDDEN"}, override=OVERRIDE)  # whether it is a pin: rig/controls/pins.py
    own_target: BoolProperty(options={"HIDDEN"}, override=OVERRIDE)  # made for this goal, and removed with it
    made_empty: PointerProperty(type=bpy.types.Object, options={"HIDDEN"}, override=OVERRIDE)  # made as its target
    pole_angle: FloatProperty(
        name="Pole Angle",
        description="Angle between the elbow or knee and the pole; at 0 it points straight at the pole", min=-pi,
        max=pi, subtype="ANGLE", **SETTING,
    )  # fmt: skip
    error: FloatProperty(name="Error", description="Distance of the bone from its target after the last solve",
                         subtype="DISTANCE", get=lambda goal: _error(goal).distance)  # fmt: skip
    rotation_error: FloatProperty(name="Rotation Error", description="Angle of the bone to its target after the last "
                                  "solve", subtype="ANGLE", get=lambda goal: _error(goal).angle)  # fmt: skip
    gave_way: BoolProperty(name="Gave Way", description="Whether this wish, a goal of a priority below 0, is not at "
                           "its target because other goals came first",
                           get=lambda goal: _error(goal).gave_way)  # fmt: skip
    missed: BoolProperty(name="Missed", description="Whether the last solve did not meet the goal. One that is "
                         "followed with a lag is not missed",
                         get=lambda goal: _error(goal).missed)  # fmt: skip


def _setting(name: str, setting: Setting) -> object:
    """The property of a setting that only some kinds of goals have."""
    label, description = SETTING_WORDS[name]
    common = {"name": label, "description": description, **SETTING}
    if setting.sort == "axis":
        return EnumProperty(items=axis_items(name, of_target=setting.of_target), default="Y", **common)
    return FloatProperty(default=0.0, soft_min=0.0, subtype=_SUBTYPES[setting.sort], **common)


DqikGoal.__annotations__.update({name: _setting(name, setting) for name, setting in SETTINGS.items()})
