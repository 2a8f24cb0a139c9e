# SPDX-License-Identifier: GPL-3.0-or-later
"""Places that are no numbers, limits that leave no room, bones that may not move: nothing spoils a pose."""

from itertools import product
from math import inf, nan

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Quaternion
from situations import NEAR, crane, key_turns, load, reaching, turned

SOLVERS = ("PGS", "DLS", "CCD", "SQP", "PINV", "SVD", "TSVD", "SDLS", "TRANSPOSE", "ALTERNATIVE", "EXTENDED", "FABRIK",
           "TWO_BONE", "NEWTON", "BROYDEN", "GAUSS_SEIDEL")  # fmt: skip


def load_of() -> bpy.types.Object:
    return bpy.data.objects["Load"]


def lost_target(ob: bpy.types.Object, value: float) -> None:
    load_of().animation_data_clear()
    load_of().location.x = value


def lost_by_key(ob: bpy.types.Object, value: float) -> None:
    """The keys themselves lead nowhere from the next frame on."""
    for point in rigs.fcurves(load_of())[1].keyframe_points:
        if point.co.x > bpy.context.scene.frame_current:
            point.co.y = value


def far_away(ob: bpy.types.Object, value: float) -> None:
    lost_target(ob, value)
    load_of().location = (1e30, -1e30, 1e30)


def of_no_size(ob: bpy.types.Object, **values: object) -> None:
    ob.dqik.goals[0].use_rotation = True
    rigs.put(load_of(), **values)


OF_TARGET = {
    "lost_target": lost_target, "lost_by_key": lost_by_key,
    "lost_parent": lambda ob, value: rigs.put(load_of(), parent=rigs.empty((value, 0, 0), "Nowhere")),
}
LOSSES = {
    **OF_TARGET,
    "lost_pole": lambda ob, value: rigs.put(bpy.data.objects["Pole"], location=(0, 3, value)),
    "lost_armature": lambda ob, value: rigs.put(ob, location=(0, value, 0)),
}
ZEROS = {
    "far_away": far_away, "no_size": lambda ob, value: rigs.put(ob, scale=(value,) * 3),
    "target_of_no_size": lambda ob, value: of_no_size(ob, scale=(value,) * 3),
    "quaternion_of_no_size": lambda ob, value: of_no_size(ob, rotation_quaternion=(value,) * 4),
    "lost_size": lambda ob, value: rigs.put(ob.pose.bones["mast"], scale=(value,) * 3),
}  # fmt: skip
NUMBERLESS = LOSSES | ZEROS
FOUR = ["lost_target", "lost_armature", "lost_parent", "lost_size"]


@pytest.mark.parametrize("played", [True, False])
@pytest.mark.parametrize(("lose", "value"), [*product(LOSSES, (nan, inf)), *product(ZEROS, (0.0,))])
def test_a_place_that_is_no_number_gets_into_no_bone(lose: str, played: bool, value: float) -> None:
    """During playback or after a jump every channel stays a number, nothing is said to be met, and another rig goes on.

    What comes back is reached again.
    """
    ob, target = reaching(pole_target=rigs.empty((0, 3, 0), "Pole"))
    bystander, aim = crane("Bystander"), rigs.empty((0.7, -0.2, 1.1), "Aim")
    rigs.goal(bystander, "jib", aim)
    ob.dqik.live = bystander.dqik.live = True
    for frame in (2, 3, 4, 5, 6) if played else (6,):
        rigs.at_frame(frame)
    NUMBERLESS[lose](ob, value)
    for _ in rigs.visited((7, 8, 9)):
        assert rigs.finite(ob)
        assert rigs.miss(bystander, "jib", aim) < NEAR
        assert not ob.dqik.status.converged or lose == "lost_pole" or lose in ZEROS
        if value != value and lose in OF_TARGET:  # Blender makes inf a large number
            assert ob.dqik.live and "'Load'" in rigs.message(ob)
    for other in (target, ob, bpy.data.objects["Pole"]):
        other.animation_data_clear()
    target.parent, target.location, ob.location = None, (0.6, 0.5, 1.0), (0, 0, 0)
    ob.scale = target.scale = ob.pose.bones["mast"].scale = (1, 1, 1)
    target.rotation_quaternion, ob.dqik.goals[0].use_rotation = (1, 0, 0, 0), False
    bpy.data.objects["Pole"].location = (0, 3, 0)
    rigs.live(ob, at=10)
    assert rigs.miss(ob, "jib", target) < NEAR


@pytest.mark.parametrize("action", ["NEW", "CURRENT"])
@pytest.mark.parametrize("lose", FOUR)
def test_a_place_that_is_no_number_is_baked_into_no_key(lose: str, action: str) -> None:
    """The bake refuses, or keys numbers; the bones keep theirs."""
    ob, _ = reaching()
    rigs.at_frame(3)
    NUMBERLESS[lose](ob, nan)
    rigs.update()
    rigs.made_active(ob)
    if not rigs.done(bpy.ops.dqik.bake, frame_start=1, frame_end=5, action=action):
        assert rigs.fcurves(ob) == []
    assert all(np.isfinite(points).all() for points in rigs.keys(ob).values())
    rigs.at_frame(4)
    assert np.isfinite(rigs.channels(ob)).all()


@pytest.mark.parametrize("lose", FOUR)
def test_solve_refuses_a_place_that_is_no_number(lose: str) -> None:
    """Solve says so in one sentence and writes nothing."""
    ob, _ = reaching()
    rigs.at_frame(3)
    NUMBERLESS[lose](ob, nan)
    rigs.update()
    rigs.made_active(ob)
    before = rigs.channels(ob)
    with pytest.raises(RuntimeError) as refused:
        bpy.ops.dqik.solve()
    assert "not a number" in str(refused.value) and len(str(refused.value).strip().splitlines()) == 1
    assert np.array_equal(before, rigs.channels(ob))


@pytest.mark.parametrize(("press", "options", "name"), [
    ("bake", {"reduce": nan}, "Reduce"), ("grab", {"bone": "boom", "to": (0.0, nan, 0.0)}, "To"),
])  # fmt: skip
def test_an_option_that_is_no_number_is_named(press: str, options: dict[str, object], name: str) -> None:
    rigs.made_active(reaching()[0])
    rigs.refuses(getattr(bpy.ops.dqik, press), f"^Error: {name} is not a number", **options)


@pytest.mark.parametrize("lose", FOUR)
@pytest.mark.parametrize("value", [nan, inf])
@pytest.mark.parametrize("control", [False, True])
def test_targets_to_pose_puts_nothing_at_a_place_that_is_no_number(lose: str, value: float, control: bool) -> None:
    """A target, or a bone that is one, keeps its channels and is named."""
    ob, target = reaching(live=False)
    if control:
        ob.dqik.goals[0].target, ob.dqik.goals[0].subtarget = ob, "boom"
    NUMBERLESS[lose](ob, value)
    rigs.update()
    rigs.made_active(ob)
    owner = ob.pose.bones["boom"] if control else target
    before = np.array(owner.matrix_basis)
    bpy.ops.dqik.targets_to_pose(all=True)
    after = np.array(owner.matrix_basis)
    assert np.isfinite(after).all() or np.array_equal(after, before, equal_nan=True)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_solver_is_upset_by_a_place_that_is_no_number(solver: str) -> None:
    """No method raises or writes anything but numbers."""
    ob, target = reaching(chain_length=2)
    ob.dqik.solver, ob.dqik.live = solver, True
    rigs.visit((2, 3, 4))
    lost_target(ob, nan)
    for _ in rigs.visited((5, 6)):
        assert rigs.finite(ob)
    target.location = (0.9, 0.3, 1.2)
    rigs.update()
    rigs.at_frame(7)
    assert rigs.finite(ob)
    assert ob.dqik.live or ob.dqik.status.message


def test_a_goal_without_a_place_leaves_the_other_goals_met() -> None:
    """Another goal of the same armature goes on, or a message says that none does."""
    ob, target = crane(), load()
    rigs.goal(ob, "jib", target)
    rigs.goal(ob, "flag", rigs.empty((nan, 0, 0), "Nowhere"), chain_length=1)
    ob.dqik.live = True
    for _ in rigs.visited((3, 4, 5, 20)):
        assert rigs.finite(ob)
        assert rigs.miss(ob, "jib", target) < NEAR or ob.dqik.status.message


# -- limits and stiffness ----------------------------------------------------------------------------------------------


def inside(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone's channels are within the box of its limits."""
    angles = np.radians(rigs.twist_and_swing(rigs.channel_rotation(bone)))
    return all(
        getattr(bone, f"dqik_{part}_min") - NEAR <= angle <= getattr(bone, f"dqik_{part}_max") + NEAR
        for part, angle in zip(("twist", "swing_x", "swing_z"), angles, strict=True)
    )


LIMITS = {
    "none at all": ((0, 0), (0, 0), (0, 0)), "one axis": ((0, 0), (-20, 40), (0, 0)),
    "not at rest": ((10, 30), (20, 60), (-50, -10)), "a single posture": ((15, 15), (20, 20), (-10, -10)),
    "wide": ((-60, 60), (-90, 90), (-90, 90)),
}  # fmt: skip


@pytest.mark.parametrize("stiffness", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("allowed", LIMITS)
@pytest.mark.parametrize("keyed", [False, True])
def test_a_bone_posed_outside_its_limits_is_brought_inside(allowed: str, stiffness: float, keyed: bool) -> None:
    """Whatever its limits are, how stiff it is, and whether its pose comes from the hand or from keys."""
    ob, _ = reaching()
    bone = ob.pose.bones["boom"]
    bone.rotation_quaternion = turned((0.4, 1.3, 1.6))
    if keyed:
        key_turns(ob, "boom", {1: (0.4, 1.3, 1.6), 30: (-1.2, -1.5, 0.4)})
    rigs.limit(bone, *LIMITS[allowed])
    bone.dqik_stiffness = stiffness
    rigs.live(ob)
    assert inside(bone)
    for _ in rigs.visited((3, 4, 20)):
        assert inside(bone)


@pytest.mark.parametrize("press", ["mend_motion", "unbake", "overlap", "retarget"])
def test_a_motion_that_is_no_numbers_is_refused_and_nothing_is_keyed(press: str) -> None:
    """Of whole motions, whose keys would not be numbers either."""
    ob, source = rigs.figure(), rigs.figure("Source") if press == "retarget" else None
    rigs.key_path(ob.pose.bones["thigh.L"], (1, 12),
                  [Quaternion((1.0, 0.0, 0.0), angle) for angle in (0.0, 0.4)], "rotation_quaternion")  # fmt: skip
    rigs.made_active(ob)
    rigs.select(ob, "hand.L")
    (source or ob).location.z = nan
    before, actions = rigs.keys(ob), set(bpy.data.actions)
    extra = {"source": "Source"} if source else {}
    with pytest.raises(RuntimeError, match="has values that are no numbers: reset its place"):
        getattr(bpy.ops.dqik, press)(frame_start=1, frame_end=12, **extra)
    assert rigs.keys(ob) == before
    assert set(bpy.data.actions) == actions
