# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an armature object."""

from collections.abc import Sequence
from math import pi

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .. import live
from ..rig.compare import Row, compared
from ..rig.controls import goals, selection
from ..rig.frame.sessions import sessions
from ..rig.overlay import workspace
from ..rig.overlay.workspace import Workspace
from ..rig.skeleton.menus import GHOSTS_OF, OBJECTIVES, ORDERS, START_FROM, solver_items
from ..solvers import kernel
from ..solvers.compiled import SOLVERS as COMPILED
from .common import FIXED, GROWING, KEYED, KEYED_SETTING, OVERRIDE, SEEN, SETTING, touched
from .contact import DqikContact, redrawn
from .goal import DqikGoal
from .relations import DqikCoupling, DqikObstacle
from .retarget import DqikRetarget
from .status import DqikMissedFrame, DqikStatus


def _implementation(settings: bpy.types.bpy_struct) -> str:
    """Returns the name of what runs the chosen solver: the compiled kernel or NumPy."""
    if settings.solver not in COMPILED:
        return "NumPy: this method is not compiled"
    return "Compiled kernel" if kernel() == "compiled" else kernel().replace("numpy", "NumPy", 1)


class DqikSettings(bpy.types.PropertyGroup):
    """The goals of an armature, and the settings of their solve."""

    live: BoolProperty(
        name="Live",
        description="Solve on every change of frame, and whenever a target or a bone moves. "
        "Switching it off returns the bones to their pose from before",
        options=KEYED, override=OVERRIDE, update=lambda settings, _: live.switch(settings.id_data),
    )  # fmt: skip
    solver: EnumProperty(
        name="Solver", description="The method that finds the pose", items=solver_items(), default="PGS", **SETTING,
    )
    implementation: StringProperty(
        name="Runs In", description="The compiled kernel, or NumPy if there is none. NumPy gives the same answers, "
        "slower. The environment variable DQIK_KERNEL=numpy forces NumPy", get=_implementation,
    )  # fmt: skip
    iterations: IntProperty(
        name="Iterations", description="Most steps in a frame; a solve ends earlier when its goals are met", default=50,
        min=1, soft_max=200, **SETTING,
    )  # fmt: skip
    tolerance: FloatProperty(
        name="Tolerance", description="Distance at which a goal counts as met, as a fraction of the rig's size",
        default=1e-4, min=1e-9, soft_max=0.1, precision=6, **SETTING,
    )  # fmt: skip
    rotation_tolerance: FloatProperty(
        name="Rotation Tolerance", description="Angle at which a rotation counts as met", default=1e-3, min=1e-9,
        soft_max=0.1, precision=4, subtype="ANGLE", **SETTING,
    )  # fmt: skip
    damping: FloatProperty(
        name="Damping", description="Higher values make smaller, steadier steps. 0 adapts the damping automatically",
        default=0.0, min=0.0, soft_max=1.0, precision=5, **SETTING,
    )  # fmt: skip
    order: EnumProperty(
        name="Order", description="Which bones CCD turns first", items=ORDERS, default="TIP_TO_ROOT", **SETTING,
    )
    unit_angle: FloatProperty(
        name="Unit Angle",
        description="Largest turn of a bone in one step, by the rules of MikuMikuDance. 0 uses the rules of "
        "plain CCD", default=0.0, min=0.0, soft_max=2.0 * pi, subtype="ANGLE", **SETTING,
    )  # fmt: skip
    objective: EnumProperty(
        name="Objective", description="What SQP reduces for goals with a position and a rotation", items=OBJECTIVES,
        default="QV", **SETTING,
    )  # fmt: skip
    start_from: EnumProperty(
        name="Start From", description="The pose from which each frame is solved", items=START_FROM, default="POSE",
        **SETTING,
    )  # fmt: skip
    gain: FloatProperty(
        name="Gain", description="How much of the distance to the targets is made good per second: at 1 about two "
        "thirds of it in a second, at 10 in a tenth of a second",
        default=10.0, min=0.0, soft_max=60.0, **SETTING,
    )  # fmt: skip
    smooth: FloatProperty(
        name="Smooth", description="How smoothly the joints of a shot move. 0 solves each frame alone", default=0.3,
        min=0.0, max=1.0, subtype="FACTOR", **SETTING,
    )  # fmt: skip
    hold_keyed: BoolProperty(
        name="Keep Keyed Poses", description="Bones with keys stay as they are keyed while others reach the goals, "
        "like bones with a Hold of a half", default=True, **SETTING,
    )  # fmt: skip
    natural_pose: FloatProperty(
        name="Natural Pose", description="How far elbows, knees, shoulders and spine go where people have them, as far "
        "as goals leave it open. Keyed, held and locked bones stay", default=1.0, min=0.0, max=1.0, subtype="FACTOR",
        **KEYED_SETTING,
    )  # fmt: skip
    own_answers: StringProperty(options={"HIDDEN"}, override=OVERRIDE, update=touched)
    own_motion: StringProperty(options={"HIDDEN"}, override=OVERRIDE, update=touched)
    own_motion_share: FloatProperty(
        name="Own Motion", description="How much of the natural pose was learnt from this character's actions, instead "
        "of from people in general", default=1.0, min=0.0, max=1.0, subtype="FACTOR", **KEYED_SETTING,
    )  # fmt: skip
    goals: CollectionProperty(type=DqikGoal, name="Goals", override=GROWING,
                              description="What the armature's bones should reach")
    couplings: CollectionProperty(type=DqikCoupling, name="Couplings", override=GROWING,
                                  description="Bones that move together")
    avoid_self: BoolProperty(
        name="Self", description="The body's parts do not pass through each other. Parts that overlap at rest may "
        "overlap as much in any pose", **SETTING,
    )  # fmt: skip
    use_floor: BoolProperty(name="Floor", description="The body's parts stay above the floor", **SETTING)
    floor: PointerProperty(
        type=bpy.types.Object, name="Floor Object", description="The plane along this object's X and Y axes is the "
        "floor, and its Z axis points up from it. Without an object, the world's ground is", override=OVERRIDE,
        update=touched,
    )  # fmt: skip
    floor_height: FloatProperty(
        name="Height", description="Height of the floor over the floor object, or over the world's ground, in world "
        "units", default=0.0, subtype="DISTANCE", **SETTING,
    )  # fmt: skip
    avoid: CollectionProperty(type=DqikObstacle, name="Obstacles", override=GROWING,
                              description="Objects that the body's parts do not pass through")
    active_obstacle: IntProperty(
        name="Active Obstacle", description="The obstacle that is chosen in the list", min=0, options=FIXED,
        override=OVERRIDE,
    )  # fmt: skip
    active_goal: IntProperty(
        name="Active Goal", description="The goal that the panel shows", min=0, options=FIXED, override=OVERRIDE,
        update=lambda settings, _: selection.show_active_goal(settings.id_data),
    )  # fmt: skip
    missed_frames: CollectionProperty(type=DqikMissedFrame, name="Missed Frames", override=GROWING,
                                      description="Frames on which the last bake or check missed goals")
    contacts: CollectionProperty(type=DqikContact, name="Contacts", override=GROWING,
                                 description="The frames on which feet are on the ground and hands hold on")
    active_contact: IntProperty(
        name="Active Contact", description="The contact that is chosen in the list", min=0, options=FIXED,
        override=OVERRIDE, update=redrawn,
    )  # fmt: skip
    contacts_of: PointerProperty(
        type=bpy.types.Action, name="Contacts Of", description="The action in which the contacts were found. They "
        "count for it and for those that were made from it", override=OVERRIDE, update=redrawn,
    )  # fmt: skip
    show_contacts: BoolProperty(
        name="In the Timeline", description="Show the contacts as bars in the timeline and the dope sheet, while the "
        "armature is in Pose Mode. Drag their ends or their middle", default=True, options=FIXED, override=OVERRIDE,
        update=redrawn,
    )  # fmt: skip
    show_original: BoolProperty(
        name="Show the Original", description="Show the motion from which this one was made as lines along its bones, "
        "while Live is off", **SEEN,
    )  # fmt: skip
    original_beside: FloatProperty(
        name="Beside", description="How far beside the figure the original is shown, in heights of the figure. At 0 it "
        "is where it was", default=0.0, soft_min=-1.0, soft_max=1.0, **SEEN,
    )  # fmt: skip
    ghosts: BoolProperty(
        name="Ghosts", description="Show the solved pose of frames before and after the present one, in the theme's "
        "colours of motion paths. They are read while Blender waits for you, and read again after a change", **SEEN,
    )  # fmt: skip
    ghosts_before: IntProperty(
        name="Frames Before", description="How many frames back the ghosts go", default=10, min=0, soft_max=50, **SEEN,
    )
    ghosts_after: IntProperty(
        name="Frames After", description="How many frames ahead the ghosts go", default=10, min=0, soft_max=50, **SEEN,
    )
    ghosts_step: IntProperty(
        name="Step", description="Frames from one ghost to the next", default=5, min=1, soft_max=20, **SEEN,
    )
    ghosts_of: EnumProperty(
        name="Show", description="What is drawn of each ghost", default={"BONES"}, items=GHOSTS_OF,
        **SEEN | {"options": {"ENUM_FLAG"}},
    )  # fmt: skip
    arcs: BoolProperty(
        name="Arcs", description="Show the paths of the selected controls, bones or targets over the frames that the "
        "timeline plays, with a dot on each frame, a large one on keys, and a red one where the goal is missed", **SEEN,
    )  # fmt: skip
    targets_follow: BoolProperty(
        name="Targets Follow Armature",
        description="Moving the armature object moves target objects without another parent too: they become its "
        "children. Control bones always follow", options=FIXED, override=OVERRIDE,
        update=lambda settings, _: goals.set_follow(
            settings.id_data, goals.own_empties(settings.id_data), settings.targets_follow
        ),
    )  # fmt: skip
    retarget: PointerProperty(type=DqikRetarget, name="Retarget", override=OVERRIDE,
                              description="How motions of other figures are fitted to this one")  # fmt: skip
    status: PointerProperty(type=DqikStatus, name="Status", description="The report of the last solve")
    has_base: BoolProperty(options={"HIDDEN"}, override=OVERRIDE)
    figure: IntProperty(options={"HIDDEN"}, override=OVERRIDE)  # of this object, as rig/skeleton/owners.py has it
    work: IntProperty(options={"HIDDEN"}, override=OVERRIDE)  # of this session of live solving
    version: IntProperty(options={"HIDDEN"}, override=OVERRIDE)  # of these settings: rig/frame/memory/versions.py
    report: IntProperty(options={"HIDDEN", "SKIP_SAVE"}, override=OVERRIDE)  # the last one: rig/clip/last_report.py
    preview: IntProperty(options={"HIDDEN", "SKIP_SAVE"}, override=OVERRIDE)  # of Retarget: rig/overlay/preview.py
    adoptions: IntProperty(options={"HIDDEN"}, override=OVERRIDE)  # edits that the base pose has adopted

    @property
    def comparison(self) -> Sequence[Row]:
        """The last comparison of solvers, one row for each solver; not saved."""
        return compared.get(self.id_data.original.session_uid) or ()

    @property
    def natural_pose_refusal(self) -> str:
        """The reason why the natural pose does not know the figure; empty if it does."""
        refusal = sessions.natural_pose_refusal(self.id_data)
        return "" if refusal is None else str(refusal)

    @property
    def workspace(self) -> Workspace | None:
        """The reach that was last computed for a goal; not saved."""
        return workspace.last.get(self.id_data.original.session_uid)
