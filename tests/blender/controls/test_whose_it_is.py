# SPDX-License-Identifier: GPL-3.0-or-later
"""Base poses and holds that arrive on bones from other figures or sessions: by paste, join, copy, files."""

from collections.abc import Callable
from math import degrees, radians
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from situations import forget, reopened
from test_scenes import duplicate, plain_copy

LEGS = ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R")


def posed(name: str, angle: float) -> bpy.types.Object:
    """A figure in a pose of its own."""
    ob = rigs.figure(name)
    for k, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = "QUATERNION"
        rigs.posed(bone, rigs.rotation((1, k % 3, 2), angle))
    rigs.update()
    return ob


def reaching(ob: bpy.types.Object, ends: tuple[str, ...], live: bool = True) -> bpy.types.Object:
    """Goals for some ends, at places that bend the chains to the root."""
    for end in ends:
        rigs.goal(ob, end, rigs.empty(0.8 * rigs.tail(ob, end), f"{ob.name} {end}"))
    rigs.live(ob, live)
    return ob


def paste(source: bpy.types.Object, target: bpy.types.Object, flipped: bool = False) -> None:
    rigs.select(source, *source.pose.bones.keys())
    bpy.ops.pose.copy()
    rigs.select(target, *target.pose.bones.keys())
    bpy.ops.pose.paste("EXEC_DEFAULT", True, flipped=flipped)
    rigs.update()


def reload(folder: Path) -> None:
    reopened(folder / "file.blend")


def undo_another_edit(_: Path) -> None:
    bpy.ops.ed.undo_push(message="Before")
    bpy.data.objects["Second hand.L"].location.x += 0.02
    rigs.update()
    bpy.ops.ed.undo_push(message="Target moved")
    bpy.ops.ed.undo()
    rigs.update()


def new_session(_: Path) -> None:
    forget()
    rigs.at_frame(1)


AFTERWARDS = [reload, undo_another_edit, new_session]


def shape(name: str, bones: tuple[str, ...]) -> np.ndarray:
    """The rotations (n, 3, 3) of bones in their parents' frames."""
    ob = bpy.data.objects[name]
    return np.array([rigs.local_rotation(ob, bone).to_matrix() for bone in bones])


@pytest.mark.parametrize("afterwards", AFTERWARDS)
@pytest.mark.parametrize("first_is_live", [True, False])
def test_poses_pasted_before_live_bring_no_base_pose(first_is_live: bool, afterwards: Callable, tmp_path: Path) -> None:
    """Bones that no goal of the second figure moves keep the pose that was pasted, whatever comes later."""
    first = reaching(posed("First", 20.0), ("hand.L", "hand.R", "foot.L", "foot.R"))
    rigs.pose(first, "chest", rigs.rotation((0, 1, 0), 30.0))
    rigs.live(first, first_is_live)
    second = reaching(posed("Second", -15.0), ("hand.L",), live=False)
    paste(first, second)
    assert not any(bone.dqik_hold for bone in second.pose.bones)
    rigs.live(second)
    seen, hand = shape("Second", LEGS), rigs.matrices(second)
    afterwards(tmp_path)
    assert degrees(rigs.turn(seen, shape("Second", LEGS))) < 0.02
    assert degrees(rigs.turn(hand, rigs.matrices(bpy.data.objects["Second"]))) < 0.02


@pytest.mark.parametrize("afterwards", AFTERWARDS)
def test_a_pose_pasted_under_live_is_posed_by_hand(afterwards: Callable[[Path], None], tmp_path: Path) -> None:
    """The pasted pose becomes the base pose of the solved bones, and the others keep it."""
    first = reaching(posed("First", 20.0), ("hand.L", "hand.R", "foot.L", "foot.R"))
    second = reaching(posed("Second", -15.0), ("hand.L",))
    paste(first, second)
    seen, base = rigs.matrices(second), rigs.channels(first)
    afterwards(tmp_path)
    second = bpy.data.objects["Second"]
    assert degrees(rigs.turn(seen, rigs.matrices(second))) < 0.02
    rigs.live(second, False)
    np.testing.assert_allclose(rigs.channels(second)[:, 3:7], base[:, 3:7], atol=2e-4)


@pytest.mark.parametrize("afterwards", AFTERWARDS)
def test_bones_that_are_joined_keep_the_pose_that_is_seen(afterwards: Callable[[Path], None], tmp_path: Path) -> None:
    """Ctrl J brings the bones of a live figure into another one."""
    first = reaching(posed("First", 20.0), ("hand.L", "foot.L"))
    rigs.pose(first, "chest", rigs.rotation((0, 1, 0), 30.0))
    for bone in list(first.data.bones):
        bone.name = f"x {bone.name}"
    rigs.update()
    second = reaching(posed("Second", -15.0), ("hand.L",))
    rigs.made_active(second)
    first.select_set(True)
    bpy.ops.object.join()
    rigs.update()
    assert len(second.pose.bones) == 2 * 19
    assert not any(bone.dqik_hold for bone in second.pose.bones)
    seen = rigs.matrices(second)
    afterwards(tmp_path)
    second = bpy.data.objects["Second"]
    assert degrees(rigs.turn(seen, rigs.matrices(second))) < 0.02
    rigs.live(second, False)
    own = [k for k, bone in enumerate(second.pose.bones) if bone.name.startswith("x ")]
    assert degrees(rigs.turn(seen[own], rigs.matrices(second)[own])) < 0.02


@pytest.mark.parametrize("copied", [duplicate, plain_copy])
@pytest.mark.parametrize("afterwards", [reload, new_session])
def test_a_copy_takes_base_pose_and_holds_over(copied: Callable, afterwards: Callable, tmp_path: Path) -> None:
    """Live off gives the copy and the first one the same pose back; what is pasted between them is told apart."""
    first = posed("First", 20.0)
    before = rigs.channels(first)
    reaching(first, ("hand.L", "foot.L"))
    rigs.pose(first, "chest", rigs.rotation((0, 1, 0), 30.0))
    made = copied(first)
    made.name = "Second"
    rigs.update()
    assert made.pose.bones["chest"].dqik_hold == 1.0
    made.pose.bones["thigh.R"].rotation_quaternion = rigs.rotation((1, 0, 0), 50.0)
    rigs.update()
    afterwards(tmp_path)
    chest = bpy.data.objects["First"].pose.bones.find("chest")
    for name in ("Second", "First"):
        ob = bpy.data.objects[name]
        rigs.live(ob, False)
        now = rigs.channels(ob)
        others = [k for k, bone in enumerate(ob.pose.bones) if bone.name not in ("chest", "thigh.R", "spine", "hips")]
        np.testing.assert_allclose(now[others], before[others], atol=1e-5)
        assert abs(now[chest, 3] - np.cos(radians(15.0))) < 1e-5
    first, second = bpy.data.objects["First"], bpy.data.objects["Second"]
    assert first.dqik.figure != second.dqik.figure


def test_a_pose_from_before_live_brings_no_base_pose_into_the_next_session() -> None:
    """A pose that was copied in one session of live solving and pasted in the next is posed by hand."""
    ob = reaching(posed("Figure", 20.0), ("hand.L",))
    rigs.select(ob, *ob.pose.bones.keys())
    bpy.ops.pose.copy()
    seen = rigs.channels(ob)
    rigs.live(ob, False)
    for bone in ob.pose.bones:
        bone.rotation_quaternion = rigs.rotation((1, 0, 1), -25.0)
    rigs.update()
    rigs.live(ob)
    rigs.select(ob, *ob.pose.bones.keys())
    bpy.ops.pose.paste("EXEC_DEFAULT", True)
    rigs.update()
    rigs.live(ob, False)
    np.testing.assert_allclose(rigs.channels(ob)[:, 3:7], seen[:, 3:7], atol=2e-4)


def test_renamed_bones_keep_their_base_pose(tmp_path: Path) -> None:
    """Also where two bones of the two sides get each other's names, and in a file that is opened later."""
    ob = posed("Figure", 20.0)
    before = rigs.channels(ob)
    reaching(ob, ("hand.L", "hand.R"))
    with rigs.edit_mode(ob) as bones:
        bpy.ops.armature.select_all(action="SELECT")
        bpy.ops.armature.flip_names()
        bones["spine"].name = "back"
    rigs.update()
    reload(tmp_path)
    ob = bpy.data.objects["Figure"]
    rigs.live(ob, False)
    np.testing.assert_allclose(rigs.channels(ob), before, atol=1e-5)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30, -3.0, 0.5, 15.0])
@pytest.mark.parametrize("place", [0, 5, 7, 8])
def test_a_damaged_base_pose_is_left_out(value: float, place: int) -> None:
    """The bone's present pose counts instead, no channel becomes NaN, and the report names the bone."""
    ob = reaching(posed("Figure", 20.0), ("hand.L",))
    ob.pose.bones["chest"].dqik_base[place] = value
    forget()
    rigs.at_frame(3)
    assert np.isfinite(rigs.channels(ob)).all()
    assert rigs.miss(ob, "hand.L", bpy.data.objects["Figure hand.L"]) < 1e-3
    if not abs(value) < 1e20:
        assert "'chest'" in rigs.message(ob)
    rigs.live(ob, False)
    assert np.isfinite(rigs.channels(ob)).all()


def test_a_hold_outlasts_a_paste_while_there_is_no_goal_and_bones_that_are_added() -> None:
    """Its figure had no goal when the holds of another one arrived, and has other bones when it has one again."""
    ob = reaching(posed("First", 10.0), ("hand.L",))
    rigs.pose(ob, "arm.L", rigs.rotation((1, 0, 1), 30.0))
    assert ob.pose.bones["arm.L"].dqik_hold > 0.0
    held = {bone.name: bone.dqik_hold for bone in ob.pose.bones}
    ob.dqik.goals.remove(0)
    ob.update_tag()
    rigs.update()
    other = reaching(posed("Second", 20.0), ("hand.L",))
    rigs.pose(other, "arm.L", rigs.rotation((0, 1, 1), -20.0))
    paste(other, ob)
    rigs.select(ob, *ob.pose.bones.keys())
    rigs.add(ob, rigs.Bone("tail", (0, 0.1, 1), (0, 0.5, 1)))
    rigs.goal(ob, "tail", rigs.empty((0.1, 0.4, 1.2), "Tail"))
    rigs.update()
    assert {name: ob.pose.bones[name].dqik_hold for name in held} == held


@pytest.mark.parametrize("has_own", [False, True])
def test_holds_outlast_a_paste_before_live(has_own: bool) -> None:
    """Also where the other figure holds other bones, and where this one has never held any."""
    first = reaching(posed("First", 20.0), ("hand.L", "hand.R"))
    rigs.posed(first.pose.bones["arm.R"], rigs.rotation((0, 1, 0), 30.0))
    second = reaching(posed("Second", -15.0), ("hand.L", "hand.R"))
    if has_own:
        second.pose.bones["arm.L"].dqik_hold = 1.0
    rigs.update()
    rigs.live(second, False)
    assert first.pose.bones["arm.R"].dqik_hold == 1.0
    paste(first, second)
    new_session(Path())
    rigs.update()
    assert {bone.name for bone in second.pose.bones if bone.dqik_hold} == ({"arm.L"} if has_own else set())


def test_holds_that_a_script_sets_in_bulk_are_the_figures_own() -> None:
    """Blender calls nothing for them."""
    ob = reaching(posed("First", 20.0), ("hand.L",))
    values = np.linspace(0.0, 1.0, len(ob.pose.bones), dtype=np.float32)
    ob.pose.bones.foreach_set("dqik_hold", values)
    ob.update_tag(refresh={"DATA"})
    rigs.update()
    assert [bone.dqik_hold for bone in ob.pose.bones] == values.tolist()
    ob.dqik.live = False
    paste(reaching(posed("Second", -15.0), ("hand.L",)), ob)
    assert [bone.dqik_hold for bone in ob.pose.bones] == values.tolist()
