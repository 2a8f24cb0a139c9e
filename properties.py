# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties that DQIK saves in the .blend: settings and goals of armature objects, limits of pose bones.

Goals are a collection on the object, and the values of a bone are single properties of the pose bone. Only there do
they survive library overrides and can be keyed in every supported Blender.
"""

from collections.abc import Sequence
from math import pi

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import live
from .rig.compare import Row, last
from .rig.figure import roles
from .rig.frame.state import stored_base
from .rig.frame.state.report import GoalError
from .rig.overlay import workspace
from .rig.overlay.workspace import Workspace
from .rig.setup import goals, obstacles, owners, pasted, selection
from .rig.setup.menus import AXIS_ITEMS, COUPLED_AXES, OBJECTIVES, ORDERS, SIDES, START_FROM, kind_items, solver_items
from .solvers import kernel
from .solvers.compiled import SOLVERS as COMPILED

_OVERRIDE = {"LIBRARY_OVERRIDABLE"}
_KEYED = {"ANIMATABLE"}
_FIXED: set[str] = set()

_NO_ERROR = GoalError(-1, 0.0, 0.0, met=True)


def _touched(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """A setting changed, so the prepared solve is out of date."""
    del context
    live.touch(self.id_data)


def _retargeted(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """Another target was chosen, which was not made for the goal and must not be removed with it."""
    self.own_target = False
    _touched(self, context)


def _of_own_side(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """A setting of a bone changed that a mirrored paste must mirror, so it belongs to this bone."""
    self.dqik_owner = pasted.number(self.name)
    _touched(self, context)


def _held(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """The hold of a bone was set, so it belongs to this figure."""
    owners.claim_hold(self)
    _touched(self, context)


def _switched(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """Live solving was switched on or off."""
    del context
    live.switch(self.id_data)


def _error(goal: bpy.types.bpy_struct) -> GoalError:
    """The errors of a goal after the last solve; none where it was not solved."""
    number = int(goal.path_from_id().rpartition("[")[2][:-1])
    return next((error for error in live.status(goal.id_data).goals if error.goal == number), _NO_ERROR)


def _targets_follow(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """The targets become children of the armature object, or are so no longer."""
    del context
    goals.set_follow(self.id_data, goals.own_empties(self.id_data), self.targets_follow)


def _goal_activated(self: bpy.types.bpy_struct, context: bpy.types.Context) -> None:
    """Another goal became the active one, so its target is selected."""
    del context
    selection.show_active_goal(self.id_data)


class DqikGoal(bpy.types.PropertyGroup):
    """One goal: a bone, the target that it should reach, and weights."""

    name: StringProperty(name="Name", description="Name of the goal", default="Goal", override=_OVERRIDE)
    mute: BoolProperty(
        name="Mute", description="Leave this goal out of the solve", options=_KEYED, override=_OVERRIDE, update=_touched
    )
    bone: StringProperty(
        name="Bone", description="The bone that should reach the target", options=_FIXED, override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    kind: EnumProperty(
        name="Kind", description="What the goal asks of its bone", items=kind_items(), default="REACH",
        options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    axis: EnumProperty(
        name="Axis", description="The axis of the bone that points at the target", items=AXIS_ITEMS, default="Y",
        options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    side: EnumProperty(
        name="Side", description="On which side of the distance, the plane or the target the goal is met",
        items=SIDES, default="AT", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    distance: FloatProperty(
        name="Distance", description="Distance from the target, height over its plane, or how far the weight stays "
        "inside the area, in world units", default=0.0, soft_min=0.0, subtype="DISTANCE", options=_FIXED,
        override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    use_support: BoolProperty(
        name="Carries Weight", description="The target is a corner of the area over which goals of balance keep the "
        "weight: feet on the ground", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    target: PointerProperty(
        type=bpy.types.Object, name="Target", description="The object that the bone should reach", override=_OVERRIDE,
        update=_retargeted,
    )  # fmt: skip
    subtarget: StringProperty(
        name="Target Bone", description="The bone to reach, if the target is an armature", options=_FIXED,
        override=_OVERRIDE, update=_retargeted,
    )  # fmt: skip
    chain_length: IntProperty(
        name="Chain Length",
        description="Number of bones that the goal moves, counted from its bone toward the root; 0 for all of them",
        min=0, soft_max=20, options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    use_position: BoolProperty(
        name="Position", description="Reach the target's position", default=True, options=_FIXED, override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    use_rotation: BoolProperty(
        name="Rotation", description="Turn the bone with the target", options=_FIXED, override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    position_weight: FloatProperty(
        name="Position Weight", description="How much a distance from the target counts, compared with other goals",
        default=1.0, min=0.0, soft_max=10.0, options=_KEYED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    rotation_weight: FloatProperty(
        name="Rotation Weight", description="How much an angle to the target counts, compared with other goals",
        default=1.0, min=0.0, soft_max=10.0, options=_KEYED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    rotation_follows: FloatProperty(
        name="Follow Limb", description="How far the target's rotation turns with the bone above, as a hand with its "
        "forearm. At 1 the bone stands to the one above as at rest, turned further by the target; at 0 the target's "
        "rotation is that in the world",
        default=0.0, min=0.0, max=1.0, subtype="FACTOR", options=_KEYED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    influence: FloatProperty(
        name="Influence", description="At 0 the goal has no effect, at 1 the bone reaches its target",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", options=_KEYED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    priority: IntProperty(
        name="Priority", description="Goals of higher priority are met first if not all goals can be met. "
        "Those below 0 are wishes, which are not reported as missed", options=_FIXED, override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    use_tail: BoolProperty(
        name="Use Tail", description="Bring the tail of the bone to the target. If off, bring the head", default=True,
        options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    pole_target: PointerProperty(
        type=bpy.types.Object, name="Pole Target",
        description="An object that the elbow or knee should point at", override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    pole_subtarget: StringProperty(
        name="Pole Bone", description="The bone to point at, if the pole target is an armature", options=_FIXED,
        override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    own_target: BoolProperty(options={"HIDDEN"}, override=_OVERRIDE)  # made for this goal, and removed with it
    pole_angle: FloatProperty(
        name="Pole Angle",
        description="Angle between the elbow or knee and the pole; at 0 it points straight at the pole",
        min=-pi, max=pi, subtype="ANGLE", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    error: FloatProperty(name="Error", description="Distance of the bone from its target after the last solve",
                         subtype="DISTANCE", get=lambda goal: _error(goal).distance)  # fmt: skip
    rotation_error: FloatProperty(name="Rotation Error", description="Angle of the bone to its target after the last "
                                  "solve", subtype="ANGLE", get=lambda goal: _error(goal).angle)  # fmt: skip
    missed: BoolProperty(name="Missed", description="Whether the last solve did not meet the goal",
                         get=lambda goal: not _error(goal).met)  # fmt: skip


class DqikCoupling(bpy.types.PropertyGroup):
    """A bone that turns with another one: its angle about an axis is a multiple of the other's, plus an offset."""

    name: StringProperty(name="Name", description="Name of the coupling", override=_OVERRIDE)
    bone: StringProperty(
        name="Bone", description="The bone that follows", options=_FIXED, override=_OVERRIDE, update=_touched
    )
    axis: EnumProperty(
        name="Axis", description="Its axis: Y is the twist along the bone, X and Z are its swing", items=COUPLED_AXES,
        default="X", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    leader: StringProperty(
        name="Leader", description="The bone that it follows", options=_FIXED, override=_OVERRIDE, update=_touched
    )
    leader_axis: EnumProperty(
        name="Leader Axis", description="The axis of the leader", items=COUPLED_AXES, default="X", options=_FIXED,
        override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    factor: FloatProperty(
        name="Factor", description="How far the bone turns for each turn of the leader", default=1.0, soft_min=-2.0,
        soft_max=2.0, options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    offset: FloatProperty(
        name="Offset", description="The bone's angle where the leader's is 0", subtype="ANGLE", options=_FIXED,
        override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    stiffness: FloatProperty(
        name="Stiffness", description="At 1 the relation always holds; below it gives way to goals", default=1.0,
        min=0.0, max=1.0, subtype="FACTOR", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip


class DqikObstacle(bpy.types.PropertyGroup):
    """An object that the armature's bones do not pass through."""

    name: StringProperty(name="Name", description="Name of the obstacle", override=_OVERRIDE)
    object: PointerProperty(
        type=bpy.types.Object, name="Object", description="A mesh, which counts as its convex hull, a flat one as a "
        "plate; or an empty, which is a wall along its X and Y axes: bones stay where its Z axis points",
        override=_OVERRIDE, update=_touched, poll=lambda _, ob: ob.type in obstacles.TYPES,
    )  # fmt: skip


class DqikMissedFrame(bpy.types.PropertyGroup):
    """A frame on which the last bake or check missed goals; its name is theirs."""

    frame: IntProperty(name="Frame", description="The frame", options=_FIXED, override=_OVERRIDE)
    error: FloatProperty(name="Error", description="Largest distance of a bone from its target", subtype="DISTANCE",
                         options=_FIXED, override=_OVERRIDE)  # fmt: skip
    rotation_error: FloatProperty(name="Rotation Error", description="Largest angle of a bone to its target",
                                  subtype="ANGLE", options=_FIXED, override=_OVERRIDE)  # fmt: skip


def _of_status(name: str, default: object):
    """A getter of one field of the last report, which is not saved."""

    def get(self: bpy.types.bpy_struct):
        return getattr(live.status(self.id_data), name, default)

    return get


def _implementation(settings: bpy.types.bpy_struct) -> str:
    """What runs the chosen solver: the compiled kernel or NumPy."""
    if settings.solver not in COMPILED:
        return "NumPy: this method is not compiled"
    return "Compiled kernel" if kernel() == "compiled" else kernel().replace("numpy", "NumPy", 1)


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
    converged: BoolProperty(name="Met", description="Whether all goals were met", get=_of_status("converged", False))
    message: StringProperty(name="Message", description="Problems that need attention", get=_of_status("message", ""))


class DqikSettings(bpy.types.PropertyGroup):
    """The goals of an armature, and the settings of their solve."""

    live: BoolProperty(
        name="Live",
        description="Solve on every change of frame, and whenever a target or a bone moves. "
        "Switching it off returns the bones to their pose from before",
        options=_KEYED, override=_OVERRIDE, update=_switched,
    )  # fmt: skip
    solver: EnumProperty(
        name="Solver", description="The method that finds the pose",
        items=solver_items(), default="PGS", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    implementation: StringProperty(
        name="Runs In", description="The compiled kernel, or NumPy if there is none. NumPy gives the same answers, "
        "slower. The environment variable DQIK_KERNEL=numpy forces NumPy", get=_implementation,
    )  # fmt: skip
    iterations: IntProperty(
        name="Iterations", description="Most steps in a frame; a solve ends earlier when its goals are met",
        default=50, min=1, soft_max=200, options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    tolerance: FloatProperty(
        name="Tolerance", description="Distance at which a goal counts as met, as a fraction of the rig's size",
        default=1e-4, min=1e-9, soft_max=0.1, precision=6, options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    rotation_tolerance: FloatProperty(
        name="Rotation Tolerance", description="Angle at which a rotation counts as met",
        default=1e-3, min=1e-9, soft_max=0.1, precision=4, subtype="ANGLE", options=_FIXED, override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    damping: FloatProperty(
        name="Damping", description="Higher values make smaller, steadier steps. 0 adapts the damping automatically",
        default=0.0, min=0.0, soft_max=1.0, precision=5, options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    order: EnumProperty(
        name="Order", description="Which bones CCD turns first", items=ORDERS, default="TIP_TO_ROOT", options=_FIXED,
        override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    unit_angle: FloatProperty(
        name="Unit Angle",
        description="Largest turn of a bone in one step, by the rules of MikuMikuDance. 0 uses the rules of "
        "plain CCD",
        default=0.0, min=0.0, soft_max=2.0 * pi, subtype="ANGLE", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    objective: EnumProperty(
        name="Objective", description="What SQP reduces for goals with a position and a rotation",
        items=OBJECTIVES, default="QV", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    start_from: EnumProperty(
        name="Start From", description="The pose from which each frame is solved", items=START_FROM, default="POSE",
        options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    hold_keyed: BoolProperty(
        name="Keep Keyed Poses", description="Bones with keys stay as they are keyed while others reach the goals, "
        "like bones with a Hold of a half", default=True, options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    natural_pose: FloatProperty(
        name="Natural Pose", description="How far elbows, knees, shoulders and spine go where people have them, as far "
        "as goals leave it open. Keyed, held and locked bones stay", default=1.0, min=0.0, max=1.0, subtype="FACTOR",
        options=_KEYED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    own_motion: StringProperty(options={"HIDDEN"}, override=_OVERRIDE, update=_touched)
    own_motion_share: FloatProperty(
        name="Own Motion", description="How much of the natural pose was learnt from this character's actions, instead "
        "of from people in general", default=1.0, min=0.0, max=1.0, subtype="FACTOR",
        options=_KEYED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    goals: CollectionProperty(
        type=DqikGoal, name="Goals", description="What the armature's bones should reach",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )  # fmt: skip
    couplings: CollectionProperty(
        type=DqikCoupling, name="Couplings", description="Bones that move together",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )  # fmt: skip
    avoid_self: BoolProperty(
        name="Self", description="The body's parts do not pass through each other. Parts that overlap at rest may "
        "overlap as much in any pose", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    use_floor: BoolProperty(
        name="Floor", description="The body's parts stay above the floor", options=_FIXED, override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    floor: PointerProperty(
        type=bpy.types.Object, name="Floor Object", description="The plane along this object's X and Y axes is the "
        "floor, and its Z axis points up from it. Without an object, the world's ground is", override=_OVERRIDE,
        update=_touched,
    )  # fmt: skip
    floor_height: FloatProperty(
        name="Height", description="Height of the floor over the floor object, or over the world's ground, in world "
        "units", default=0.0, subtype="DISTANCE", options=_FIXED, override=_OVERRIDE, update=_touched,
    )  # fmt: skip
    avoid: CollectionProperty(
        type=DqikObstacle, name="Obstacles", description="Objects that the body's parts do not pass through",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )  # fmt: skip
    active_obstacle: IntProperty(
        name="Active Obstacle", description="The obstacle that is chosen in the list", min=0, options=_FIXED,
        override=_OVERRIDE,
    )  # fmt: skip
    active_goal: IntProperty(
        name="Active Goal", description="The goal that the panel shows", min=0, options=_FIXED, override=_OVERRIDE,
        update=_goal_activated,
    )  # fmt: skip
    missed_frames: CollectionProperty(
        type=DqikMissedFrame, name="Missed Frames", description="Frames on which the last bake or check missed goals",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )  # fmt: skip
    targets_follow: BoolProperty(
        name="Targets Follow Armature",
        description="Moving the armature object moves target objects without another parent too: they become its "
        "children. Control bones always follow", options=_FIXED, override=_OVERRIDE, update=_targets_follow,
    )  # fmt: skip
    status: PointerProperty(type=DqikStatus, name="Status", description="The report of the last solve")
    has_base: BoolProperty(options={"HIDDEN"}, override=_OVERRIDE)
    figure: IntProperty(options={"HIDDEN"}, override=_OVERRIDE)  # of this object, as rig/setup/owners.py has it
    work: IntProperty(options={"HIDDEN"}, override=_OVERRIDE)  # of this session of live solving
    version: IntProperty(options={"HIDDEN"}, override=_OVERRIDE)  # of these settings: rig/frame/state/versions.py
    adoptions: IntProperty(options={"HIDDEN"}, override=_OVERRIDE)  # edits that the base pose has adopted

    @property
    def comparison(self) -> Sequence[Row]:
        """The last comparison of solvers, one row for each solver; not saved."""
        return last.of(self.id_data)

    @property
    def natural_pose_refusal(self) -> str:
        """Why the natural pose does not know the figure; empty if it does."""
        refusal = live.natural_pose_refusal(self.id_data)
        return "" if refusal is None else str(refusal)

    @property
    def workspace(self) -> Workspace | None:
        """The reach that was last computed for a goal; not saved."""
        return workspace.last(self.id_data)


def _angle(name: str, text: str, default: float, keyed: bool = False) -> object:
    return FloatProperty(
        name=name, description=text, default=default, soft_min=-pi, soft_max=pi, min=-2.0 * pi, max=2.0 * pi,
        subtype="ANGLE", options=_KEYED if keyed else _FIXED, override=_OVERRIDE, update=_of_own_side,
    )  # fmt: skip


def _bone_properties() -> dict[str, object]:
    """The properties of pose bones."""
    return {
        "dqik_translate": BoolProperty(
            name="Translate", description="Let the bone move as well as turn, for example the hips", options=_FIXED,
            override=_OVERRIDE, update=_touched,
        ),
        "dqik_use_limits": BoolProperty(
            name="Limits", description="Keep the bone's rotation inside its twist and swing limits", options=_FIXED,
            override=_OVERRIDE, update=_of_own_side,
        ),
        "dqik_twist_min": _angle("Twist Min", "Smallest turn about the bone's own length (Y)", -pi),
        "dqik_twist_max": _angle("Twist Max", "Largest turn about the bone's own length (Y)", pi),
        "dqik_swing_x_min": _angle("Swing X Min", "Smallest bend about the bone's X axis", -pi),
        "dqik_swing_x_max": _angle("Swing X Max", "Largest bend about the bone's X axis", pi),
        "dqik_swing_z_min": _angle("Swing Z Min", "Smallest bend about the bone's Z axis", -pi),
        "dqik_swing_z_max": _angle("Swing Z Max", "Largest bend about the bone's Z axis", pi),
        "dqik_role": EnumProperty(
            name="Role", description="The bone's part in the figure, for Set Up Full Body and Human Limits",
            items=roles.items(), default="AUTO", options=_FIXED, override=_OVERRIDE, update=_of_own_side,
        ),
        "dqik_limits_axes": FloatVectorProperty(
            name="Limits' Axes", description="The axes of the limits, as a rotation of the bone's own axes at rest: "
            "Human Limits turns them so that Y is along the limb", size=4, default=(1.0, 0.0, 0.0, 0.0),
            subtype="QUATERNION", options=_FIXED, override=_OVERRIDE, update=_of_own_side,
        ),
        "dqik_limits_zero": FloatVectorProperty(
            name="Limits' Zero", description="The rotation of the bone from rest at which its limits read zero", size=4,
            default=(1.0, 0.0, 0.0, 0.0), subtype="QUATERNION", options=_FIXED, override=_OVERRIDE,
            update=_of_own_side,
        ),
        "dqik_stiffness": FloatProperty(
            name="Stiffness", description="How much the bone resists turning: at 0 not at all, at 1 it does not turn",
            default=0.0, min=0.0, max=1.0, subtype="FACTOR", options=_KEYED, override=_OVERRIDE, update=_touched,
        ),
        "dqik_radius": FloatProperty(
            name="Radius", description="Radius of the bone's body, which does not pass through others. 0 takes it from "
            "the mesh's weights, or from the bone's role or length where there is no mesh",
            default=0.0, min=0.0, soft_max=1.0, precision=4, subtype="DISTANCE", options=_FIXED, override=_OVERRIDE,
            update=_touched,
        ),
        "dqik_hold": FloatProperty(
            name="Hold", description="How firmly the bone stays as it is posed while others reach the goals. "
            "Posing a solved bone by hand sets it to 1, clearing its rotation (Alt R) to 0",
            default=0.0, min=0.0, max=1.0, subtype="FACTOR", options=_KEYED, override=_OVERRIDE, update=_held,
        ),
        "dqik_preferred_angle": FloatVectorProperty(
            name="Preferred Angle",
            description="The direction in which the bone prefers to bend, as angles about its own axes. "
            "If all are zero, the elbow or knee of a straight limb finds it automatically",
            size=3, default=(0.0, 0.0, 0.0), min=-pi, max=pi, subtype="EULER", options=_KEYED, override=_OVERRIDE,
            update=_of_own_side,
        ),
        "dqik_lock": BoolProperty(
            name="Lock", description="Keep the bone as it is posed", options=_FIXED, override=_OVERRIDE,
            update=_touched,
        ),
        # the bone whose role, limits and preferred bend these are: Blender's paste copies them to the other side
        "dqik_owner": IntProperty(options={"HIDDEN"}, override=_OVERRIDE),
        # the figure whose hold it is, as rig/setup/owners.py numbers them
        "dqik_hold_of": IntProperty(options={"HIDDEN"}, override=_OVERRIDE),
        # settings that were made for goals, which go back with the last of these
        "dqik_made_translate": BoolProperty(options={"HIDDEN"}, override=_OVERRIDE),
        "dqik_made_stiffness": FloatProperty(options={"HIDDEN"}, override=_OVERRIDE),
        "dqik_made_limits": FloatVectorProperty(size=6, options={"HIDDEN"}, override=_OVERRIDE),
        # the base pose, stored here so that it survives saving and undo
        "dqik_base": FloatVectorProperty(size=stored_base.SIZE, options={"HIDDEN"}, override=_OVERRIDE),
        # the base pose as versions before stored it, which is only read
        "dqik_base_rotation": FloatVectorProperty(size=4, options={"HIDDEN"}, override=_OVERRIDE),
        "dqik_base_location": FloatVectorProperty(size=3, options={"HIDDEN"}, override=_OVERRIDE),
        "dqik_base_mode": StringProperty(options={"HIDDEN"}, override=_OVERRIDE),
    }  # fmt: skip


CLASSES = (DqikGoal, DqikCoupling, DqikObstacle, DqikMissedFrame, DqikStatus, DqikSettings)


def register() -> None:
    """Register the classes and attach the properties."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.dqik = PointerProperty(
        type=DqikSettings, name="DQIK", description="Whole-armature inverse kinematics", override=_OVERRIDE
    )
    for name, prop in _bone_properties().items():
        setattr(bpy.types.PoseBone, name, prop)


def unregister() -> None:
    """Undo `register`, in reverse."""
    for name in reversed(_bone_properties()):
        delattr(bpy.types.PoseBone, name)
    del bpy.types.Object.dqik
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
