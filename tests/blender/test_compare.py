# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of solvers, and comparing them on a rig: measured as Blender shows it, and nothing else changed."""

import contextlib
import sys
from math import sin
from types import ModuleType

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Vector

FRAMES = range(1, 13)
NUMBERS = {
    "PGS": 0, "DLS": 1, "CCD": 2, "SQP": 3, "PINV": 4, "SVD": 5, "TSVD": 6, "SDLS": 7, "TRANSPOSE": 8, "ALTERNATIVE": 9,
    "EXTENDED": 10, "FABRIK": 11, "TWO_BONE": 12, "NEWTON": 13, "BROYDEN": 14,
}  # fmt: skip
SIZE = 2.0  # of the arm


@pytest.fixture
def arm() -> bpy.types.Object:
    """A bent arm on which a target wanders, at times out of reach; its upper bone has keys."""
    ob, target = rigs.bent_arm(), rigs.empty((0, 0, 0))
    rigs.key_path(target, FRAMES, [Vector((1.4 + 0.4 * sin(f), -0.9 + 0.3 * sin(2 * f), 0.05 * f)) for f in FRAMES])
    for frame in (FRAMES[0], FRAMES[-1]):
        ob.pose.bones["a"].rotation_quaternion = rigs.rotation((0, 1, 0), 2.0 * frame)
        ob.pose.bones["a"].keyframe_insert("rotation_quaternion", frame=frame)
    rigs.goal(ob, "b", target)
    rigs.at_frame(1)
    return rigs.made_active(ob)


def module(extension: str, name: str) -> ModuleType:
    return sys.modules[f"{extension}.{name}"]


def solvers() -> list[str]:
    """The names in the menu."""
    kind = bpy.types.Object.bl_rna.properties["dqik"].fixed_type
    return [item.identifier for item in kind.properties["solver"].enum_items]


def compare(*names: str, **settings: object) -> set[str]:
    return bpy.ops.dqik.compare_solvers(
        **{"solvers": set(names), "frame_start": FRAMES[0], "frame_end": FRAMES[-1], **settings}
    )


def pixels() -> np.ndarray:
    """The plot, its bottom row first."""
    image = bpy.data.images["DQIK comparison"]
    values = np.empty(image.size[0] * image.size[1] * 4, dtype=np.float32)
    image.pixels.foreach_get(values)
    return values.reshape(image.size[1], image.size[0], 4)


# -- the menu ---------------------------------------------------------------------------------------------------------


def test_the_numbers_that_files_hold_stay(arm: bpy.types.Object) -> None:
    """A solver's number in a .blend means that solver for ever; the first four lead the menu, a heading comes next."""
    prop = arm.dqik.bl_rna.properties["solver"]
    assert {item.identifier: item.value for item in prop.enum_items}.items() <= NUMBERS.items()
    menu = [item.identifier for item in prop.enum_items_static_ui]
    first = [name for name in ("PGS", "DLS", "CCD", "SQP") if name in menu]
    assert menu[: len(first) + 1] == [*first, ""]
    assert menu.count("") == 1
    assert sorted(name for name in menu if name) == sorted(solvers())


def test_every_solver_of_the_core_is_in_the_menu(extension: str) -> None:
    """With its sentence as the tooltip."""
    core = module(extension, "solvers").SOLVERS
    kind = bpy.types.Object.bl_rna.properties["dqik"].fixed_type
    assert {item.identifier: item.description for item in kind.properties["solver"].enum_items} == core


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_every_solver_solves_live_and_once(arm: bpy.types.Object, name: str) -> None:
    """A two-bone arm comes within a hundredth of its size of a target in reach, and live gives the pose back."""
    if name not in solvers():
        pytest.fail(f"{name} is not in the menu")
    arm.animation_data_clear()
    target = arm.dqik.goals[0].target
    target.animation_data_clear()
    target.location = (1.1, -1.0, 0.3)
    rigs.update()
    rest = rigs.matrices(arm)
    arm.dqik.solver, arm.dqik.iterations = name, 200
    arm.dqik.live = True
    rigs.update()
    assert rigs.miss(arm, "b", target) < 0.01 * SIZE
    arm.dqik.live = False
    rigs.update()
    assert rigs.turn(rest, rigs.matrices(arm)) < 1e-5
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    rigs.update()
    assert rigs.miss(arm, "b", target) < 0.01 * SIZE


def test_a_solver_that_refuses_the_goals_says_so_and_loses_nothing(arm: bpy.types.Object) -> None:
    """FABRIK cannot turn a hand: live stays on, the base pose stands, and another solver repairs it."""
    arm.animation_data_clear()
    rigs.update()
    base = rigs.matrices(arm)
    arm.dqik.goals[0].use_rotation = True
    arm.dqik.live = True
    rigs.update()
    solved = rigs.matrices(arm)
    arm.dqik.solver = "FABRIK"
    rigs.update()
    assert arm.dqik.live
    assert "FABRIK" in rigs.message(arm)
    assert "rotation" in rigs.message(arm)
    assert rigs.turn(base, rigs.matrices(arm)) < 1e-5
    for operator in (bpy.ops.dqik.solve, bpy.ops.dqik.bake):
        with pytest.raises(RuntimeError, match="FABRIK.*rotation"):
            operator()
    assert arm.dqik.live
    rigs.at_frame(1)
    arm.dqik.solver = "PGS"
    rigs.update()
    assert rigs.message(arm) == ""
    assert rigs.turn(solved, rigs.matrices(arm)) < 1e-5


def test_options_of_one_solver_reach_it(arm: bpy.types.Object) -> None:
    """CCD solves differently from the other end, and with MikuMikuDance's unit angle."""
    arm.dqik.solver, arm.dqik.iterations, arm.dqik.live = "CCD", 1, True
    poses = []
    for order, angle in (("TIP_TO_ROOT", 0.0), ("ROOT_TO_TIP", 0.0), ("TIP_TO_ROOT", 0.05)):
        arm.dqik.order, arm.dqik.unit_angle = order, angle
        rigs.update()
        poses.append(rigs.matrices(arm))
    for k, other in ((0, 1), (0, 2), (1, 2)):
        assert rigs.turn(poses[k], poses[other]) > 1e-3


# -- the comparison ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
def test_the_rows_are_what_playback_shows(arm: bpy.types.Object, start_from: str) -> None:
    """Errors, frames met and joint steps are those measured on Blender's evaluated bones, frame by frame."""
    arm.dqik.start_from = start_from
    assert compare("PGS", "DLS", "TRANSPOSE") == {"FINISHED"}
    rows = {row.solver: row for row in arm.dqik.comparison}
    assert list(rows) == ["PGS", "DLS", "TRANSPOSE"]
    for name, row in rows.items():
        arm.dqik.solver = name
        rigs.at_frame(0)
        arm.dqik.live = True
        misses, poses = [], []
        for frame in FRAMES:
            rigs.at_frame(frame)
            misses.append(rigs.miss(arm, "b", arm.dqik.goals[0].target))
            poses.append(rigs.matrices(arm))
        arm.dqik.live = False
        steps = np.array([rigs.local_turns(a, b, rigs.parents(arm)) for a, b in zip(poses, poses[1:], strict=False)])
        assert row.worst_error == pytest.approx(max(misses), abs=1e-5)
        assert row.mean_error == pytest.approx(np.mean(misses), abs=1e-5)
        assert row.met == pytest.approx(np.mean(np.array(misses) <= arm.dqik.tolerance * SIZE), abs=0.5 / len(FRAMES))
        assert row.largest_step == pytest.approx(steps.max(), abs=1e-3)
        assert row.mean_step == pytest.approx(steps.mean(), abs=1e-3)
        assert row.milliseconds > 0.0
        assert 0.0 < row.iterations <= arm.dqik.iterations


def state(ob: bpy.types.Object) -> tuple:
    """All that a comparison might disturb."""
    scene, target = bpy.context.scene, ob.dqik.goals[0].target
    return (
        scene.frame_current, scene.frame_subframe, ob.dqik.live, ob.dqik.solver, ob.dqik.has_base, rigs.keys(ob),
        rigs.keys(target), ob.animation_data.action, len(bpy.data.actions), len(bpy.data.objects), ob.dqik.status.error,
        ob.dqik.status.iterations, rigs.message(ob),
    )  # fmt: skip


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("stopped", [True, False])
def test_nothing_in_the_scene_changes(
    arm: bpy.types.Object, extension: str, live: bool, stopped: bool, start_from: str
) -> None:
    """Frame, keys, pose and live stay, even what was moved and not keyed; stopped half-way too. Live goes on as it
    would have without."""
    bystander = rigs.arm(name="Bystander")
    bystander.pose.bones["b"].keyframe_insert("rotation_quaternion", frame=1)
    rigs.made_active(arm)
    for frame in (2, 3, 4):
        rigs.at_frame(frame)
    rigs.at_frame(4.5)
    arm.dqik.start_from, arm.dqik.live = start_from, live
    target = arm.dqik.goals[0].target
    target.location = (1.2, -0.7, 0.6)
    bystander.pose.bones["b"].rotation_quaternion = rigs.rotation((1, 0, 0), 40.0)
    rigs.update()
    if not live:
        arm.pose.bones["a"].rotation_quaternion = rigs.rotation((0, 0, 1), -20.0)
        rigs.update()
    before, poses = state(arm), [rigs.matrices(arm), rigs.matrices(bystander)]
    if stopped:
        live_module, unkeyed = module(extension, "live"), module(extension, "rig.blender.scene_state")
        frames = module(extension, "operators.frames")
        scene, layer = bpy.context.scene, bpy.context.view_layer
        with contextlib.suppress(KeyboardInterrupt), live_module.aside(arm) as reading, unkeyed.kept(scene, layer, arm):
            steps = frames.read_frames(bpy.context, arm, list(FRAMES), reading)
            next(steps)
            next(steps)
            assert scene.frame_current == FRAMES[1]
            raise KeyboardInterrupt
    else:
        assert compare("PGS", "DLS") == {"FINISHED"}
    assert state(arm) == before
    assert (rigs.place(target) - Vector((1.2, -0.7, 0.6))).length < 1e-6
    for ob, pose in zip((arm, bystander), poses, strict=True):
        assert rigs.turn(pose, rigs.matrices(ob)) < 1e-6
    if live:
        target.location.z += 0.01
        rigs.update()
        assert rigs.miss(arm, "b", target) < 1e-3
        arm.dqik.live = False
        rigs.update()
        rigs.at_frame(1)
        assert rigs.local_rotation(arm, "b").angle < 1e-5


def test_a_solver_that_refuses_is_told_and_the_others_are_measured(arm: bpy.types.Object) -> None:
    """It has a row with its sentence, even where it is the one that the rig is set to."""
    arm.dqik.goals[0].use_rotation = True
    arm.dqik.solver = "FABRIK"
    assert compare("FABRIK", "PGS") == {"FINISHED"}
    first, last = arm.dqik.comparison
    assert (first.solver, first.message, last.solver) == ("PGS", "", "FABRIK")
    assert "rotation" in last.message
    with pytest.raises(RuntimeError, match="FABRIK.*rotation"):
        compare("FABRIK")


def test_what_cannot_be_compared_is_said(arm: bpy.types.Object) -> None:
    """No solver, a reversed range, a goal without target."""
    with pytest.raises(RuntimeError, match="Choose"):
        compare()
    with pytest.raises(RuntimeError, match="ends at frame 3"):
        compare("PGS", frame_start=9, frame_end=3)
    arm.dqik.goals[0].target = None
    with pytest.raises(RuntimeError, match="no target"):
        compare("PGS")
    assert not arm.dqik.comparison


def test_a_single_frame_and_a_step_between_frames(arm: bpy.types.Object) -> None:
    """One frame has no joint step; every third of twelve are four."""
    assert compare("PGS", frame_end=FRAMES[0]) == {"FINISHED"}
    assert (arm.dqik.comparison[0].largest_step, len(arm.dqik.comparison[0].errors)) == (0.0, 1)
    assert compare("PGS", step=3) == {"FINISHED"}
    assert len(arm.dqik.comparison[0].errors) == 4


def test_frames_that_keys_mute_count_for_nothing(arm: bpy.types.Object) -> None:
    """Where the only goal is muted there is no error and no time."""
    goal = arm.dqik.goals[0]
    for frame, mute in ((1, False), (5, True), (8, False)):
        goal.mute = mute
        goal.keyframe_insert("mute", frame=frame)
    rigs.at_frame(1)
    assert compare("PGS") == {"FINISHED"}
    row = arm.dqik.comparison[0]
    assert np.isnan(row.errors).tolist() == [5 <= frame < 8 for frame in FRAMES]
    assert np.isfinite([row.worst_error, row.mean_error, row.milliseconds, row.iterations, row.met]).all()


# -- the plot ---------------------------------------------------------------------------------------------------------


def test_the_plot_is_an_image_of_the_file(arm: bpy.types.Object) -> None:
    """It is packed, made once and drawn anew, with a curve of each solver's colour."""
    compare("PGS", "TRANSPOSE")
    first = pixels()
    images = len(bpy.data.images)
    compare("DLS")
    second = pixels()
    image = bpy.data.images["DQIK comparison"]
    assert (len(bpy.data.images), image.is_dirty, image.packed_file is not None) == (images, False, True)
    assert (first[..., 3] == 1.0).all()
    red, blue = np.array((1.0, 0.36, 0.33)), np.array((0.36, 0.67, 1.0))
    for shown, color, there in ((first, red, True), (first, blue, False), (second, blue, True), (second, red, False)):
        assert (np.abs(shown[..., :3] - color).max(-1) < 0.01).any() == there


@pytest.mark.parametrize("log", [True, False])
def test_curves_are_drawn_where_their_values_are(extension: str, log: bool) -> None:
    """Read back from the pixels, heights are proportional to the values, or to their logarithms."""
    plot = module(extension, "rig.plot")
    values = 10.0 ** np.linspace(-5, 1, 9) if log else np.linspace(0.0, 7.0, 9)
    values = np.roll(values, 4)
    color = (1.0, 0.0, 0.0)
    alone = [np.where(np.arange(9) == k, values, np.nan) for k in range(9)]
    drawn = [
        plot.draw("", "", np.arange(9.0), [plot.Plot("", [
            plot.Curve("", (0.0, 1.0, 0.0), values), plot.Curve("", color, points)
        ], log)], 600, 400) for points in alone
    ]  # fmt: skip
    places = []
    for canvas in drawn:
        painted = canvas[100:, :, 0] - canvas[100:, :, 2]  # below the legend; what is grey is none
        weight = np.where(painted > 0.3, painted, 0.0)
        places.append((np.arange(weight.shape[0]) @ weight.sum(1) / weight.sum(),
                       np.arange(weight.shape[1]) @ weight.sum(0) / weight.sum()))  # fmt: skip
    down, across = np.array(places).T
    wanted = np.log10(values) if log else values
    for found, against in ((down, wanted), (across, np.arange(9.0))):
        slope, offset = np.polyfit(against, found, 1)
        assert np.abs(slope * against + offset - found).max() < 1.0
    assert np.polyfit(wanted, down, 1)[0] < 0.0 < np.polyfit(np.arange(9.0), across, 1)[0]


def test_no_two_letters_look_alike(extension: str) -> None:
    """All that titles and numbers need is drawn, each in its own way."""
    font = module(extension, "rig.font")
    needed = "".join(NUMBERS) + "abcdefghijklmnopqrstuvwxyz0123456789.,:-+()%/°'_<>="
    letters = sorted(set(needed))
    unknown = font.text("\N{SNOWMAN}").tobytes()
    drawn = {letter: font.text(letter).tobytes() for letter in letters}
    assert len(set(drawn.values()) | {unknown}) == len(letters) + 1
    assert font.text("").shape == (18, 0)
    assert font.text("ab").shape[1] == font.text("a").shape[1] + font.text("b").shape[1]
