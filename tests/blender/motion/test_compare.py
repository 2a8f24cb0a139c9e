# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of solvers, and comparing them on a rig: measured as Blender shows it, and nothing else changed."""

import contextlib
import csv
from math import sin

import bpy
import gpu
import numpy as np
import pytest
import rigs
from mathutils import Vector

FRAMES = range(1, 13)
NUMBERS = {
    "PGS": 0, "DLS": 1, "CCD": 2, "SQP": 3, "PINV": 4, "SVD": 5, "TSVD": 6, "SDLS": 7, "TRANSPOSE": 8, "ALTERNATIVE": 9,
    "EXTENDED": 10, "FABRIK": 11, "TWO_BONE": 12, "NEWTON": 13, "BROYDEN": 14,
    "GAUSS_SEIDEL": 15,
}  # fmt: skip
SIZE = 2.0  # of the arm


@pytest.fixture
def arm() -> bpy.types.Object:
    """A bent arm on which a target wanders, at times out of reach; its upper bone has keys."""
    ob, target = rigs.bent_arm(), rigs.empty((0, 0, 0))
    rigs.key_path(target, FRAMES, [Vector((1.4 + 0.4 * sin(f), -0.9 + 0.3 * sin(2 * f), 0.05 * f)) for f in FRAMES])
    for frame in (FRAMES[0], FRAMES[-1]):
        rigs.keyed(ob.pose.bones["a"], frame, rotation_quaternion=rigs.rotation((0, 1, 0), 2.0 * frame))
    rigs.goal(ob, "b", target)
    rigs.at_frame(1)
    return rigs.made_active(ob)


def solvers() -> list[str]:
    """The names in the menu."""
    kind = bpy.types.Object.bl_rna.properties["dqik"].fixed_type
    return [item.identifier for item in kind.properties["solver"].enum_items]


def compare(*names: str, **settings: object) -> set[str]:
    return bpy.ops.dqik.compare_solvers(
        **{"solvers": set(names), "frame_start": FRAMES[0], "frame_end": FRAMES[-1], **settings}
    )


# -- the menu ---------------------------------------------------------------------------------------------------------


def test_the_numbers_that_files_hold_stay(arm: bpy.types.Object) -> None:
    """A solver's number in a .blend means that solver for ever; those for animators lead the menu."""
    prop = arm.dqik.bl_rna.properties["solver"]
    assert {item.identifier: item.value for item in prop.enum_items}.items() <= NUMBERS.items()
    menu = [item.identifier for item in prop.enum_items_static_ui]
    first = [name for name in ("PGS", "DLS", "TWO_BONE", "CCD", "EXTENDED", "SQP") if name in menu]
    assert menu[: len(first) + 1] == [*first, ""]
    assert menu.count("") == 1
    assert sorted(name for name in menu if name) == sorted(solvers())


def test_solvers_keep_to_the_floor_as_live_does_and_refuse_couplings(arm: bpy.types.Object) -> None:
    """What a solver is measured by is what it shows: a floor over the arm's targets is missed by as much."""
    arm.dqik.use_floor, arm.dqik.floor_height = True, 0.35
    assert compare("PGS", "EXTENDED") == {"FINISHED"}
    rows = {row.solver: row for row in arm.dqik.comparison}
    arm.dqik.live = True
    for solver, row in rows.items():
        arm.dqik.solver = solver
        for frame in rigs.visited(FRAMES):
            missed = rigs.miss(arm, "b", arm.dqik.goals[0].target)
            assert row.errors[frame - FRAMES[0]] == pytest.approx(missed, abs=2e-4)
    assert max(row.errors.max() for row in rows.values()) > 0.05
    rigs.couple(arm, "b", "a")
    assert compare("CCD", "PGS") == {"FINISHED"}
    rows = {row.solver: row for row in arm.dqik.comparison}
    assert "coupled" in rows["CCD"].message
    assert not rows["PGS"].message


def test_every_solver_of_the_core_is_in_the_menu() -> None:
    """With its sentence as the tooltip."""
    core = rigs.part("solvers").SOLVERS
    kind = bpy.types.Object.bl_rna.properties["dqik"].fixed_type
    assert {item.identifier: item.description for item in kind.properties["solver"].enum_items} == core


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_every_solver_solves_live_and_once(arm: bpy.types.Object, name: str) -> None:
    """A two-bone arm comes within a hundredth of its size of a target in reach, and live gives the pose back."""
    arm.animation_data_clear()
    target = arm.dqik.goals[0].target
    target.animation_data_clear()
    target.location = (1.1, -1.0, 0.3)
    rest = rigs.matrices(arm)
    arm.dqik.solver, arm.dqik.iterations = name, 200
    rigs.live(arm)
    assert rigs.miss(arm, "b", target) < 0.01 * SIZE
    arm.dqik.live = False
    assert rigs.turn(rest, rigs.matrices(arm)) < 1e-5
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    assert rigs.miss(arm, "b", target) < 0.01 * SIZE


def test_a_solver_that_refuses_the_goals_says_so_and_loses_nothing(arm: bpy.types.Object) -> None:
    """FABRIK cannot turn a hand: live stays on, the base pose stands, and another solver repairs it."""
    arm.animation_data_clear()
    base = rigs.matrices(arm)
    arm.dqik.goals[0].use_rotation = True
    rigs.live(arm)
    solved = rigs.matrices(arm)
    arm.dqik.solver = "FABRIK"
    rigs.update()
    assert arm.dqik.live
    assert "FABRIK" in rigs.message(arm)
    assert "rotation" in rigs.message(arm)
    assert rigs.turn(base, rigs.matrices(arm)) < 1e-5
    for operator in (bpy.ops.dqik.solve, bpy.ops.dqik.bake):
        rigs.refuses(operator, "FABRIK.*rotation")
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


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS", "FOLLOW"])
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
        for _ in rigs.visited(FRAMES):
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


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS", "FOLLOW"])
@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("stopped", [True, False])
def test_nothing_in_the_scene_changes(arm: bpy.types.Object, live: bool, stopped: bool, start_from: str) -> None:
    """Frame, keys, pose and live stay, even what was moved and not keyed; stopped half-way too. Live goes on as it
    would have without."""
    bystander = rigs.arm(name="Bystander")
    bystander.pose.bones["b"].keyframe_insert("rotation_quaternion", frame=1)
    rigs.made_active(arm)
    rigs.visit((2, 3, 4))
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
        aside, unkeyed = rigs.part("rig.frame.offline"), rigs.part("rig.blender.scene_state")
        frames = rigs.part("operators.frames")
        scene, layer = bpy.context.scene, bpy.context.view_layer
        restored = unkeyed.restored(scene, layer, arm)
        with contextlib.suppress(KeyboardInterrupt), aside.session(arm) as reading, restored as visits:
            steps = frames.read_frames(bpy.context, arm, list(FRAMES), reading, visits)
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
        assert rigs.miss(arm, "b", target) < 1e-3
        rigs.live(arm, False)
        rigs.at_frame(1)
        assert rigs.local_rotation(arm, "b").angle < 1e-5


def test_what_cannot_be_compared_is_said(arm: bpy.types.Object) -> None:
    """No solver, a reversed range, a goal without target."""
    rigs.refuses(compare, "Choose")
    rigs.refuses(lambda: compare("PGS", frame_start=9, frame_end=3), "ends at frame 3")
    arm.dqik.goals[0].target = None
    rigs.refuses(lambda: compare("PGS"), "no target")
    assert not arm.dqik.comparison


def test_a_single_frame_and_a_step_between_frames(arm: bpy.types.Object) -> None:
    """One frame has no joint step; every third of twelve are four."""
    assert compare("PGS", frame_end=FRAMES[0]) == {"FINISHED"}
    assert (arm.dqik.comparison[0].largest_step, len(arm.dqik.comparison[0].errors)) == (0.0, 1)
    assert compare("PGS", step=3) == {"FINISHED"}
    assert len(arm.dqik.comparison[0].errors) == 4


# -- the CSV and the picture ------------------------------------------------------------------------------------------


def text() -> list[str]:
    """The lines of the CSV in the file."""
    return bpy.data.texts["DQIK comparison.csv"].as_string().splitlines()


def summary() -> dict[str, dict[str, str]]:
    """The lines of the CSV's summary by solver."""
    comments = [line.removeprefix("# ") for line in text() if line.startswith("#")]
    start = next(k for k, line in enumerate(comments) if line.startswith("solver,"))
    return {line["solver"]: line for line in csv.DictReader(comments[start:])}


def frame_lines() -> list[dict[str, str]]:
    """The lines of the CSV that are about a frame."""
    return list(csv.DictReader(line for line in text() if not line.startswith("#")))


def number(cell: str) -> float:
    return float(cell) if cell else np.nan


@pytest.mark.parametrize(("system", "length"), [("METRIC", 0.25), ("IMPERIAL", 0.25 / 0.3048), ("NONE", 0.25)])
def test_the_csv_holds_every_frame_of_every_solver(arm: bpy.types.Object, system: str, length: float) -> None:
    """Its cells are the rows' values in the scene's unit and degrees; a cell without a value is empty.

    Where the only goal is muted there is no error and no time.
    """
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, 0.25
    goal = arm.dqik.goals[0]
    rigs.key_path(goal, (1, 5, 8), (False, True, False), "mute")
    rigs.at_frame(1)
    assert compare("PGS", "CCD", step=2) == {"FINISHED"}
    lines, frames = frame_lines(), FRAMES[::2]
    assert [line["solver"] for line in lines] == ["PGS"] * len(frames) + ["CCD"] * len(frames)
    assert [int(line["frame"]) for line in lines] == [*frames, *frames]
    assert [line["error"] for line in lines[2:4]] == ["", ""]
    assert lines[0]["step"] == ""
    for row, start in zip(arm.dqik.comparison, (0, len(frames)), strict=True):
        assert np.isnan(row.errors).tolist() == [5 <= frame < 8 for frame in frames]
        assert np.isfinite([row.worst_error, row.mean_error, row.milliseconds, row.iterations, row.met]).all()
        cells = lines[start : start + len(frames)]
        for name, values in (("error", length * row.errors), ("milliseconds", row.times),
                             ("step", np.degrees(row.steps))):  # fmt: skip
            np.testing.assert_allclose([number(line[name]) for line in cells], values, rtol=1e-8)


def test_the_csv_begins_with_a_summary(arm: bpy.types.Object) -> None:
    """Each number of a row, and the sentence of a solver that refuses, whatever characters it holds.

    Also where that is the one that the rig is set to.
    """
    arm.dqik.goals[0].use_rotation = True
    arm.dqik.solver = "FABRIK"
    rigs.refuses(lambda: compare("FABRIK"), "FABRIK.*rotation")
    assert compare("FABRIK", "PGS") == {"FINISHED"}
    measured, refused = arm.dqik.comparison
    assert (measured.solver, measured.message, refused.solver) == ("PGS", "", "FABRIK")
    assert "rotation" in refused.message
    found = summary()
    assert found.keys() == {"PGS", "FABRIK"}
    assert found["FABRIK"]["message"] == refused.message
    assert not any(found["FABRIK"][name] for name in ("worst error", "met", "largest step"))
    for name, value in (
        ("worst error", measured.worst_error), ("mean error", measured.mean_error), ("met", measured.met),
        ("worst angle", np.degrees(measured.worst_rotation_error)), ("median ms", measured.milliseconds),
        ("mean angle", np.degrees(measured.mean_rotation_error)), ("iterations", measured.iterations),
        ("mean step", np.degrees(measured.mean_step)), ("largest step", np.degrees(measured.largest_step)),
    ):  # fmt: skip
        assert float(found["PGS"][name]) == pytest.approx(value, rel=1e-8)


def test_the_picture_is_drawn_where_there_is_a_gpu(arm: bpy.types.Object) -> None:
    """One image, opaque and packed, with a curve of each solver's colour; without a GPU there is none."""
    try:
        gpu.types.GPUOffScreen(8, 8)
    except SystemError:
        assert compare("PGS", "DLS") == {"FINISHED"}
        assert "DQIK comparison" not in bpy.data.images
        return
    orange, green = (0.95, 0.45, 0.17), (0.36, 0.86, 0.68)
    for name, shown, absent in (("PGS", orange, green), ("DLS", green, orange)):
        compare(name)
        image = bpy.data.images["DQIK comparison"]
        pixels = np.empty(image.size[0] * image.size[1] * 4, dtype=np.float32)
        image.pixels.foreach_get(pixels)
        pixels = pixels.reshape(-1, 4)
        assert (image.is_dirty, image.packed_file is not None) == (False, True)
        assert (pixels[:, 3] == 1.0).all()
        assert (np.abs(pixels[:, :3] - shown).max(-1) < 0.01).any()
        assert not (np.abs(pixels[:, :3] - absent).max(-1) < 0.01).any()


# Linear light as people see it who lack one kind of cone: Viénot, Brettel and Mollon 1999, over sRGB.
LACKING = {
    "red cones": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "green cones": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    "nothing": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}


@pytest.mark.parametrize("lacking", LACKING)
def test_colours_can_be_told_apart(lacking: str) -> None:
    """With either kind of colour-blindness, any two differ by 20 in CIE L*a*b*, and by 40 from the ground."""
    picture = rigs.part("rig.compare.picture")
    colors = np.array([*picture.COLORS, picture._PANEL])
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(LACKING[lacking]).T, 0.0, 1.0)
    xyz = seen @ np.array(((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))).T
    share = xyz / (0.9505, 1.0, 1.089)
    f = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    lab = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], -1)
    apart = np.linalg.norm(lab[:, None] - lab, axis=-1)
    assert apart[:-1, -1].min() > 40.0
    assert apart[:-1, :-1][~np.eye(len(colors) - 1, dtype=bool)].min() > 20.0
