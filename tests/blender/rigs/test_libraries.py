# SPDX-License-Identifier: GPL-3.0-or-later
"""Linked armatures and library overrides, beside local ones of the same name."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from pytest import CaptureFixture
from situations import NEAR, key_turns, linked_from, overridden, override, pose_at, reaching, reopened, turn, turned

FRAMES = (3, 9, 20, 21, 22)


def aim(ob: bpy.types.Object) -> bpy.types.Object:
    return ob.dqik.goals[0].target


def all_reach(armatures: list[bpy.types.Object]) -> None:
    for frame in rigs.visited(FRAMES):
        for ob in armatures:
            assert rigs.miss(ob, "jib", aim(ob)) < NEAR, f"{ob.name}, {ob.library}, frame {frame}"


def test_armatures_of_one_name_from_two_libraries_are_both_solved(tmp_path: Path) -> None:
    """Each reaches its own target."""
    paths = []
    for number in (0, 1):
        rigs.new_file()
        ob, target = reaching()
        ob.location.y = 3.0 * number
        target.parent = ob
        rigs.live(ob, at=5)
        paths.append(tmp_path / f"library{number}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=str(paths[-1]))
    rigs.new_file()
    all_reach([linked_from(path, save=False)[0] for path in paths])


@pytest.mark.parametrize("local_first", [True, False])
def test_a_local_armature_beside_a_linked_one_of_its_name(local_first: bool, tmp_path: Path) -> None:
    """Both are solved, whichever came first."""
    path = tmp_path / "library.blend"
    ob, _ = reaching()
    rigs.live(ob, at=5)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    rigs.new_file()
    local = reaching()[0] if local_first else None
    linked = linked_from(path, save=False)[0]
    local = local or reaching()[0]
    rigs.live(local, at=3)
    assert local.name == linked.name
    all_reach([local, linked])
    local.dqik.live = False
    assert rigs.local_rotation(local, "boom").angle < 1e-5


def test_an_override_beside_the_linked_armature_that_it_overrides(tmp_path: Path) -> None:
    """The override is solved though an object of its name is linked."""
    reaching()
    linked, _ = linked_from(tmp_path / "library.blend")
    ob = linked.override_create(remap_local_usages=False)
    bpy.context.scene.collection.objects.link(ob)
    rigs.at_frame(1)
    ob.dqik.live = True
    all_reach([ob])


def test_a_linked_armature_made_local_goes_on(tmp_path: Path) -> None:
    """Live from the library; then local, edited and switched off."""
    ob, _ = reaching()
    rigs.live(ob, at=5)
    for one in linked_from(tmp_path / "library.blend"):
        one.select_set(True)
    rigs.at_frame(9)
    bpy.ops.object.make_local(type="ALL")
    ob = bpy.data.objects["Crane"]
    assert ob.library is None
    all_reach([ob])
    ob.dqik.live = False
    assert rigs.local_rotation(ob, "boom").angle < 1e-5


# -- overrides ---------------------------------------------------------------------------------------------------------


def test_a_goal_can_be_added_to_an_override(tmp_path: Path) -> None:
    """The operator makes it with a target; it is solved, and there after loading."""
    reaching()
    ob = overridden(tmp_path / "library.blend")
    rigs.made_active(ob)
    assert bpy.ops.dqik.goal_add(bone="flag", chain_length=1) == {"FINISHED"}
    assert ob.dqik.goals[-1].bone == "flag"
    assert ob.dqik.goals[-1].target is not None
    ob.dqik.live = True
    all_reach([ob])
    reopened(tmp_path / "shot.blend")
    goals = override().dqik.goals
    assert [goal.bone for goal in goals] == ["jib", "flag"]
    assert goals[-1].target is not None
    assert goals[-1].chain_length == 1
    all_reach([override()])


def test_an_override_frees_bones_of_the_library_couplings_and_obstacles(tmp_path: Path) -> None:
    """What came with the library stays in the lists and loses its effect, and what is the override's own goes."""
    ob, _ = reaching()
    names = [bone.name for bone in ob.pose.bones]
    rigs.couple(ob, names[1], names[0])
    wall = rigs.empty((0.0, 0.0, 0.0), "Wall")
    ob.dqik.avoid.add().object = wall
    ob = rigs.made_active(overridden(tmp_path / "library.blend"))
    rigs.couple(ob, names[2], names[0])
    rigs.live(ob, at=9)
    assert bpy.ops.dqik.uncouple() == {"FINISHED"}
    assert bpy.ops.dqik.avoid_remove() == {"FINISHED"}
    assert [one.stiffness for one in ob.dqik.couplings] == [0.0]
    assert [one.object for one in ob.dqik.avoid] == [None]
    rigs.at_frame(9)
    shown = rigs.matrices(ob)
    ob.dqik.couplings[0].bone = ob.dqik.couplings[0].leader = "nobody"
    rigs.update()
    assert not ob.dqik.status.message
    assert np.abs(rigs.matrices(ob) - shown).max() < 1e-6
    assert rigs.miss(ob, "jib", aim(ob)) < NEAR


def test_a_goal_of_ones_own_can_be_removed_from_an_override(tmp_path: Path) -> None:
    """The one that came with the library cannot: that is said, or it is muted, but nothing else happens."""
    reaching()
    ob = overridden(tmp_path / "library.blend")
    rigs.made_active(ob)
    rigs.goal(ob, "flag", aim(ob))
    assert bpy.ops.dqik.goal_remove(index=1) == {"FINISHED"}
    assert [goal.bone for goal in ob.dqik.goals] == ["jib"]
    if rigs.done(bpy.ops.dqik.goal_remove, index=0):
        assert len(ob.dqik.goals) == 0 or ob.dqik.goals[0].mute
    assert ob.library is None


@pytest.mark.parametrize("saved_live", [False, True])
def test_the_pose_from_before_live_survives_in_an_override(saved_live: bool, tmp_path: Path) -> None:
    """On, in the library or after it, saved, loaded, played, saved, loaded, off: every channel is as before."""
    ob, _ = reaching()
    ob.pose.bones["boom"].rotation_quaternion = turned((0.1, 0.2, 0.3))
    before = rigs.channels(ob)
    if saved_live:
        rigs.live(ob, at=5)
    overridden(tmp_path / "library.blend").dqik.live = True
    for start in rigs.visited((5, 12)):
        rigs.at_frame(start + 4)
        reopened(tmp_path / "shot.blend")
        assert override().dqik.live
    all_reach([override()])
    rigs.live(override(), False)
    np.testing.assert_allclose(rigs.channels(override()), before, atol=1e-5)
    reopened(tmp_path / "shot.blend")
    assert not override().dqik.live
    np.testing.assert_allclose(rigs.channels(override()), before, atol=1e-5)


# -- baking ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["NEW", "CURRENT"])
def test_a_bake_of_an_override_is_there_after_loading(action: str, tmp_path: Path) -> None:
    """Where its action is linked and cannot hold the keys, the bake makes one that can, or refuses and says why."""
    ob, _ = reaching()
    key_turns(ob, "boom")
    ob = overridden(tmp_path / "library.blend")
    rigs.made_active(ob)
    assert ob.animation_data.action.library is not None
    keys = rigs.keys(ob)
    ob.dqik.live = True
    live = {frame: pose_at(ob, frame) for frame in (2, 7, 10)}
    if not rigs.done(bpy.ops.dqik.bake, frame_start=1, frame_end=10, action=action):
        assert rigs.keys(ob) == keys
        return
    reopened(tmp_path / "shot.blend")
    ob = override()
    assert not ob.dqik.live
    for frame, pose in live.items():
        assert turn(pose, pose_at(ob, frame)) < 0.05


# -- what would be gone with the file ----------------------------------------------------------------------------------

STORING = {
    "setup_full_body": {}, "goal_add": {"bone": "flag"}, "pin": {}, "unpin": {}, "goals_clear": {}, "goal_remove": {},
    "goals_from_constraints": {}, "limits_preset": {}, "limits_clear": {}, "targets_to_pose": {}, "hold_here": {},
    "holds_clear": {}, "key_controls": {}, "plant": {}, "limb_to_fk": {}, "learn_from_actions": {}, "keep_pose": {},
    "bake": {"frame_start": 1, "frame_end": 3}, "check_range": {"frame_start": 1, "frame_end": 3}, "grab": {},
    "couple": {"preset": "SPINE"}, "fit_capsules": {}, "avoid_add": {}, "contacts_find": {}, "mend_motion": {},
    "unbake": {}, "overlap": {}, "edit_range": {}, "pose_to_rest": {}, "swap_sides": {},
    "eyes_add": {},
}  # fmt: skip


def refused(capfd: CaptureFixture[str], words: str) -> None:
    """The operators that can be pressed, most of them, do nothing on the active armature and say why."""
    pressed = [name for name in STORING if getattr(bpy.ops.dqik, name).poll()]
    assert len(pressed) > 20
    for name in pressed:
        refuses(name, STORING[name], capfd, words)


def refuses(name: str, options: dict, capfd: CaptureFixture[str], words: str) -> None:
    operator, ob = getattr(bpy.ops.dqik, name), bpy.context.object
    def state() -> tuple:
        """With the keys, of which a linked action must lose and get none."""
        names = set(bpy.data.objects.keys()), set(bpy.data.actions.keys())
        return len(ob.dqik.goals), *names, ob.dqik.live, ob.animation_data and rigs.keys(ob)

    before = state()
    capfd.readouterr()
    assert operator(**options) == {"CANCELLED"}, name
    assert state() == before
    assert words in capfd.readouterr().out, name


def test_what_would_be_stored_on_a_linked_armature_is_refused(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    ob, _ = reaching()
    key_turns(ob, "flag")
    rigs.live(ob, at=5)
    ob, _ = linked_from(tmp_path / "library.blend")
    rigs.made_active(ob)
    refused(capfd, "make a library override first")
    all_reach([ob])
    assert "make a library override first" in ob.dqik.status.message


def test_the_controls_of_a_linked_figure_are_not_selected(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    rigs.figure()
    bpy.ops.dqik.setup_full_body()
    rigs.made_active(*linked_from(tmp_path / "library.blend", ["Figure"]))
    for name in ("target_select", "select_controls"):
        refuses(name, {}, capfd, "make a library override first")


def test_an_override_that_is_not_editable_says_so_until_it_is(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """Blender lets nobody write its pose, so nothing is solved."""
    ob, _ = reaching()
    rigs.live(ob, at=5)
    ob = rigs.made_active(overridden(tmp_path / "library.blend", editable=False))
    assert ob.override_library.is_system_override
    rigs.at_frame(9)
    assert "make it editable" in ob.dqik.status.message
    assert not ob.dqik.status.converged
    refused(capfd, "make it editable")
    ob.select_set(True)
    assert bpy.ops.object.make_override_library() == {"FINISHED"}  # the button beside the warning
    ob = rigs.made_active(override())
    all_reach([ob])
    assert not ob.dqik.status.message
    assert bpy.ops.dqik.goal_add(bone="flag", chain_length=1) == {"FINISHED"}
