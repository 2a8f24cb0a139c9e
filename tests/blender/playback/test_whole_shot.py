# SPDX-License-Identifier: GPL-3.0-or-later
"""*Start From: Shot*: all frames that play are one motion, which is the same however it is asked for."""

import time
from collections.abc import Callable
from itertools import pairwise
from math import sin
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from films import probed
from mathutils import Vector
from situations import as_strip, installed, into_collection, overridden, reopened

FIRST, LAST = 1, 160
FRAMES = range(FIRST, LAST + 1)
GOALS = {"hand.L": 0.9, "hand.R": -0.9}


def shot(smooth: float = 0.3) -> bpy.types.Object:
    """A live figure whose hands are led around, keyed every 10 frames, with its shot not solved yet."""
    ob, scene = rigs.made_active(rigs.figure()), bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    frames = range(FIRST, LAST + 10, 10)
    for k, (bone, sign) in enumerate(GOALS.items()):
        target = rigs.empty((0, 0, 0), f"{bone} target")
        rigs.key_path(target, frames, [
            Vector((0.45 * sign + 0.15 * sin(f * 0.11 + k), -0.3 + 0.2 * sin(f * 0.07), 1.3 + 0.25 * sin(f * 0.05 + k)))
            for f in frames
        ])  # fmt: skip
        rigs.goal(ob, bone, target, chain_length=6)
    ob.dqik.live, ob.dqik.start_from, ob.dqik.smooth = True, "SHOT", smooth
    return ob


def solve() -> None:
    assert bpy.ops.dqik.solve_shot() == {"FINISHED"}


def play(ob: bpy.types.Object) -> np.ndarray:
    """The matrices (F, N, 4, 4) that Blender shows on all frames, in order."""
    return rigs.shown(ob, FRAMES)


def steps(shown: np.ndarray, ob: bpy.types.Object) -> np.ndarray:
    """The turns (F - 1, N) of joints from frame to frame [rad]."""
    return np.array([rigs.local_turns(a, b, rigs.parents(ob)) for a, b in pairwise(shown)])


def turns(shown: np.ndarray, ob: bpy.types.Object) -> np.ndarray:
    """The accelerations (F - 2,) of joints: the largest change of their turns from frame to frame [rad]."""
    return np.abs(np.diff(steps(shown, ob), axis=0)).max(-1)


def edit(number: int, by: float = 0.05) -> None:
    """Move a key of the left hand's target."""
    target = bpy.data.objects["hand.L target"]
    for curve in rigs.fcurves(target):
        curve.keyframe_points[number].co.y += by
        curve.update()
    target.update_tag()
    rigs.update()


@pytest.mark.newest
def test_its_joints_move_more_evenly_and_its_goals_are_met() -> None:
    ob = shot()
    ob.dqik.start_from = "POSE"
    alone = play(ob)
    ob.dqik.start_from = "SHOT"
    solve()
    assert ob.dqik.status.shot == 1.0
    whole = play(ob)
    assert turns(whole, ob).max() < 0.7 * turns(alone, ob).max()
    for frame in (FIRST, 57, 96, 97, 98, 150, LAST):
        rigs.at_frame(frame)
        assert ob.dqik.status.converged
        for bone in GOALS:
            assert rigs.miss(ob, bone, bpy.data.objects[f"{bone} target"]) < 1e-4


def test_any_order_of_frames_and_a_new_session_show_the_same(tmp_path: Path) -> None:
    ob = shot()
    solve()
    forward = play(ob)
    backward = rigs.shown(ob, range(LAST, FIRST - 1, -1))[::-1]
    apart = rigs.shown(ob, range(FIRST, LAST + 1, 7))
    assert np.array_equal(forward, backward)
    assert np.array_equal(forward[::7], apart)
    reopened(tmp_path / "shot.blend")
    ob = rigs.made_active(bpy.data.objects["Figure"])
    assert ob.dqik.status.shot < 1.0
    solve()
    assert np.abs(play(ob) - forward).max() < 1e-6


def test_frames_are_solved_again_near_an_edit_only() -> None:
    """The whole shot is then as in a new session; beyond the windows of the edit it has not changed by a bit."""
    ob = shot()
    solve()
    before = play(ob)
    edit(1)  # at FIRST + 10
    assert ob.dqik.status.shot < 1.0
    solve()
    after = play(ob)
    changed = np.abs(after - before).max((1, 2, 3)) > 0.0
    assert changed[FIRST + 9]
    assert not changed[FIRST + 20 + 24 + 48 :].any()


@pytest.mark.parametrize("unkeyed", [False, True])
def test_an_edit_shows_at_once(unkeyed: bool) -> None:
    """From the answer that was there, before the shot is solved again."""
    ob = shot()
    solve()
    rigs.at_frame(60)
    before, target = rigs.matrices(ob), bpy.data.objects["hand.L target"]
    target.location.z += 0.03
    if not unkeyed:
        target.keyframe_insert("location", frame=60)
    rigs.update()
    assert rigs.miss(ob, "hand.L", target) < 1e-4
    assert rigs.turn(before, rigs.matrices(ob)) < 0.5


@pytest.mark.parametrize("solved", [False, True])
def test_a_bake_keys_what_live_shows(solved: bool) -> None:
    """Also of a part, and of a shot that is not solved yet."""
    ob = shot()
    if not solved:
        assert bpy.ops.dqik.bake(frame_start=40, frame_end=120) == {"FINISHED"}
        baked = rigs.shown(ob, range(40, 121))
        rigs.new_file()
        ob = shot()
    solve()
    live = rigs.shown(ob, range(40, 121))
    if solved:
        assert bpy.ops.dqik.bake(frame_start=40, frame_end=120) == {"FINISHED"}
        assert not ob.dqik.live
        baked = rigs.shown(ob, range(40, 121))
    assert np.abs(live - baked).max() < 1e-5


def test_a_preview_range_is_the_shot() -> None:
    ob = shot()
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 20, 60
    solve()
    assert ob.dqik.status.shot == 1.0
    scene.use_preview_range = False
    rigs.at_frame(10)
    assert 0.1 < ob.dqik.status.shot < 0.3


def test_smooth_0_solves_each_frame_alone() -> None:
    """As another way to start from does, with which there is no shot to solve."""
    ob = shot(smooth=0.0)
    solve()
    whole = play(ob)
    ob.dqik.start_from = "POSE"
    assert np.array_equal(whole, play(ob))
    rigs.refuses(bpy.ops.dqik.solve_shot, "Set Start From to Shot first")


def go_on() -> None:
    """Solves what is left, as Blender's timer does while the user waits."""
    module = rigs.part("operators.live.shot")
    until = time.monotonic() + 60.0
    while module._go_on() is not None:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_it_is_solved_while_the_user_works() -> None:
    """An edit, also of the smoothness, is solved again by itself; the same as at once."""
    ob = shot()
    rigs.at_frame(31)
    go_on()
    assert ob.dqik.status.shot == 1.0
    assert bpy.context.scene.frame_current == 31
    by_itself = play(ob)
    target = bpy.data.objects["hand.R target"]
    rigs.at_frame(31)
    target.location.x -= 0.05
    target.keyframe_insert("location", frame=31)
    rigs.update()
    assert ob.dqik.status.shot < 1.0
    go_on()
    edited = play(ob)
    solve()
    assert np.array_equal(edited, play(ob))
    assert np.abs(edited - by_itself).max() > 1e-3
    ob.dqik.smooth = 0.6
    rigs.update()
    assert ob.dqik.status.shot < 1.0
    go_on()
    assert ob.dqik.status.shot == 1.0
    assert np.abs(play(ob) - edited).max() > 1e-4


def test_figures_that_are_removed_meanwhile_keep_no_other_from_being_solved() -> None:
    module = rigs.part("operators.live.shot")
    for _ in range(2):
        ob = shot()
        while not module._solving.keys() & {ob.session_uid}:
            module._go_on()
        bpy.data.objects.remove(ob)
        rigs.update()
    ob = shot()
    go_on()
    assert ob.dqik.status.shot == 1.0


def test_a_render_shows_the_same(tmp_path: Path) -> None:
    """A render from the command line or a script solves the shot first."""
    ob = shot()
    with probed(lambda depsgraph: ob.evaluated_get(depsgraph).matrix_world.copy(), tmp_path) as seen:
        for _ in rigs.visited((100, 33)):
            bpy.ops.render.render(write_still=True)
    assert ob.dqik.status.shot == 1.0
    assert {100, 33} <= seen.keys()


def test_one_that_follows_another_is_solved_after_it() -> None:
    """Its target hangs on the other's hand."""
    leader = shot()
    follower = rigs.bent_arm("Follower")
    rigs.goal(follower, "b", rigs.child(rigs.empty((0, 0, 0), "Held"), leader, "hand.L"))
    follower.location = rigs.head(leader, "hand.L") - Vector((0.5, 0.0, 0.5))
    follower.dqik.live, follower.dqik.start_from = True, "SHOT"
    rigs.made_active(follower)
    rigs.update()
    go_on()
    assert leader.dqik.status.shot == follower.dqik.status.shot == 1.0
    shown = play(follower)
    solve()
    assert np.array_equal(shown, play(follower))


def test_time_stretching_leaves_the_frames_one_motion() -> None:
    ob = shot()
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    solve()
    assert ob.dqik.status.shot == 1.0
    shown = rigs.shown(ob, range(20, 60))
    ob.dqik.start_from = "POSE"
    assert np.abs(rigs.shown(ob, range(20, 60)) - shown).max() > 1e-5


def test_a_target_that_jumps_parts_the_motion() -> None:
    """The hand is at each of both places on the frames before and after, and the joints do not leave either early."""
    ob = shot()
    target = bpy.data.objects["hand.L target"]
    for curve in rigs.fcurves(target):
        if curve.array_index == 2:
            for key in curve.keyframe_points:
                key.interpolation, key.co.y = "CONSTANT", 1.5 if key.co.x > 100 else 1.0
        curve.update()
    solve()
    whole = rigs.shown(ob, range(80, 125))
    largest = steps(whole, ob).max(-1)
    at = int(np.argmax(largest))
    assert 80 + at == 100
    assert np.delete(largest, at).max() < 0.25 * largest[at]


@pytest.mark.newest
def test_between_keys_joints_turn_hardly_faster_than_keyed_bones() -> None:
    """A shot whose controls are keyed now and then, beside one whose bones are keyed on the same frames."""
    ob = shot()
    solve()
    own = play(ob)
    for frame in range(FIRST, LAST + 1, 10):
        rigs.at_frame(frame)
        assert ob.dqik.status.converged
    assert bpy.ops.dqik.bake(frame_start=FIRST, frame_end=LAST, step=10) == {"FINISHED"}
    keyed = play(ob)
    assert np.abs(keyed[::10] - own[::10]).max() < 1e-4
    assert steps(own, ob).max() < 1.1 * steps(keyed, ob).max()


@pytest.mark.newest
@pytest.mark.parametrize(("seed", "apart", "limits"), [(3, 16, False), (13, 16, True)])
def test_it_pops_no_more_than_when_it_is_solved_in_one_piece(seed: int, apart: int, limits: bool) -> None:
    """Where a stretch can only lead from one border to the next by a pop, both are solved with it."""
    ob, scene, rng = rigs.made_active(rigs.figure()), bpy.context.scene, np.random.default_rng(seed)
    scene.frame_start, scene.frame_end = FIRST, LAST
    frames = range(FIRST, LAST + apart, apart)
    for bone, sign in GOALS.items():
        target, middle = rigs.empty((0, 0, 0), f"{bone} target"), Vector((0.25 * sign, -0.1, 1.3))
        rigs.key_path(target, frames, [middle + Vector(rng.uniform(-0.45, 0.45, 3)) for _ in frames])
        rigs.goal(ob, bone, target, chain_length=4)
    if limits:
        rigs.select(ob, *ob.pose.bones.keys())
        assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
        bpy.ops.object.mode_set(mode="OBJECT")
    ob.dqik.live, ob.dqik.start_from, ob.dqik.smooth = True, "SHOT", 0.3
    solve()
    shown = play(ob)
    ob.dqik.start_from = "POSE"
    assert bpy.ops.dqik.bake(frame_start=FIRST, frame_end=LAST, smooth=0.3) == {"FINISHED"}
    assert turns(shown, ob).max() < 1.1 * turns(play(ob), ob).max()


def test_undo_and_redo_solve_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames that ask what they asked have their answers still, also those of the other state."""
    module, solved = rigs.part("rig.bake.whole_shot"), []
    own = module._solve
    monkeypatch.setattr(module, "_solve", lambda window, *rest: (solved.append(window), own(window, *rest))[1])
    shot()
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="Shot")
    solve()
    shown = [play(bpy.data.objects["Figure"])]
    bpy.data.objects["hand.L target"].location.z += 0.05
    edit(3)
    bpy.ops.ed.undo_push(message="Edit")
    solve()
    shown.append(play(bpy.data.objects["Figure"]))
    assert np.abs(shown[1] - shown[0]).max() > 1e-3
    count = len(solved)
    for step, wanted in ((bpy.ops.ed.undo, 0), (bpy.ops.ed.redo, 1)):
        step()
        assert bpy.data.objects["Figure"].dqik.status.shot < 1.0
        solve()
        assert np.array_equal(play(bpy.data.objects["Figure"]), shown[wanted])
    assert len(solved) == count


@pytest.mark.newest
def test_a_target_that_trembles_is_steadied_within_a_distance() -> None:
    """A hand of a shot goes steadily past what its goal allows of its target's path; 0 follows the target."""
    ob, target, noise = shot(), bpy.data.objects["hand.L target"], np.random.default_rng(0)
    even = np.array([tuple(target.matrix_world.translation) for _ in rigs.visited(FRAMES)])
    asked = (even + noise.uniform(-0.003, 0.003, even.shape)).astype(np.float32)
    rigs.key_path(target, FRAMES, asked.tolist())
    goal, hand = rigs.goal_of(ob, "hand.L"), ob.pose.bones.find("hand.L")

    def led() -> np.ndarray:
        solve()
        length = ob.pose.bones["hand.L"].length
        return np.array([shown[hand] @ (0.0, length, 0.0, 1.0) for shown in play(ob)])[:, :3]

    def acceleration(path: np.ndarray) -> float:
        return float(np.sqrt((np.diff(path, 2, axis=0) ** 2).sum(-1).mean()))

    exact = led()
    assert np.linalg.norm(exact - asked, axis=-1).max() < 1e-4
    goal.smooth = 0.2
    assert 0.005 < goal.smooth_distance < 0.02
    steady = led()
    assert ob.dqik.status.converged  # what smooth allows is no miss
    away = np.linalg.norm(steady - asked, axis=-1)
    assert 0.001 < away.max() < goal.smooth_distance + 1e-4
    assert acceleration(exact) > 2.0 * acceleration(even)
    assert acceleration(steady) < 1.1 * acceleration(even)
    for share, expected in ((0.0, exact), (0.2, steady)):
        goal.smooth = share
        assert np.array_equal(led(), expected)
    edit(10, 0.01)
    edited = led()
    assert not np.array_equal(edited[10], steady[10])
    assert np.array_equal(edited[141:], steady[141:])


def test_several_figures_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each frame is visited once for all; keyed bones of those that are not read are back afterwards."""
    first, scene = shot(), bpy.context.scene
    scene.frame_end = 60
    others = [rigs.bent_arm(f"Other {k}") for k in range(2)]
    for k, other in enumerate(others):
        target = rigs.empty((0, 0, 0), f"Place {k}")
        rigs.key_path(target, range(1, 71, 10), [(0.2 * sin(n), 0.8, 1.0 + 0.1 * k) for n in range(7)])
        rigs.goal(other, other.pose.bones[-1].name, target)
        other.dqik.live, other.dqik.start_from = True, ("SHOT", "POSE")[k]
    upper = others[1].pose.bones[0]
    rigs.key(upper, frame=1)
    rigs.pose(others[1], upper.name, rigs.rotation((1, 0, 0), 40.0))
    rigs.key(upper, frame=50)
    rigs.at_frame(31)
    shown, visited = [rigs.matrices(ob) for ob in others], []
    state = rigs.part("rig.blender.scene_state")
    own = state.Visits.visit
    monkeypatch.setattr(state.Visits, "visit", lambda self, frame: (visited.append(frame), own(self, frame))[1])
    rigs.made_active(first)
    go_on()
    assert first.dqik.status.shot == others[0].dqik.status.shot == 1.0
    assert sorted({*visited, 31}) == list(range(1, 61))
    assert len(set(visited)) == len(visited)
    assert np.allclose(rigs.matrices(others[1]), shown[1], atol=1e-6)
    together = rigs.shown(others[0], range(1, 61))
    rigs.made_active(others[0])
    solve()
    assert np.array_equal(rigs.shown(others[0], range(1, 61)), together)


def test_an_unkeyed_target_is_solved_and_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands otherwise on the present frame alone is asked on that frame alone, and the rest is whole."""
    shot()
    rigs.at_frame(60)
    bpy.data.objects["hand.L target"].location.z += 0.05
    rigs.update()
    module = rigs.part("operators.live.shot")
    monkeypatch.setattr(module, "_AT_ONCE", 0.01)  # so that the frames are read in several parts
    go_on()
    ob = bpy.data.objects["Figure"]
    assert ob.dqik.status.shot == 1.0
    assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L target"]) < 1e-4


def test_a_shot_that_would_take_too_much_memory_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The panel says so; with a part of it as the preview range it is solved."""
    ob, scene = shot(), bpy.context.scene
    module = rigs.part("rig.frame.step.whole_shot")
    monkeypatch.setattr(module, "_MOST", 1_000_000)
    rigs.refuses(bpy.ops.dqik.solve_shot, "too long to be solved as one motion")
    go_on()
    rigs.at_frame(20)
    assert "too long" in rigs.message(ob)
    for handlers in (bpy.app.handlers.render_init, bpy.app.handlers.render_cancel):  # nor does it stop a render
        for handler in list(handlers):
            handler(scene)
    assert rigs.miss(ob, "hand.L", bpy.data.objects["hand.L target"]) < 1e-4
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 20, 60
    solve()
    assert ob.dqik.status.shot == 1.0


def test_in_small_parts_it_is_the_same_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that were left while others were read are solved in the end, also where their frames ask the same."""
    module, ob = rigs.part("operators.live.shot"), shot()
    monkeypatch.setattr(module, "_AT_ONCE", 0.005)
    solve()
    rigs.at_frame(150)
    edit(15)
    go_on()
    by_parts = play(ob)
    solve()
    assert np.array_equal(by_parts, play(ob))


def one(name: str) -> bpy.types.Object:
    return bpy.data.objects[name]


def move_keys(name: str, new: bool = False) -> None:
    """Move an object's last keys; or key its place on another frame: Blender then reports the action alone."""
    ob = one(name)
    if ob.animation_data.nla_tracks:
        ob.animation_data.nla_tracks[0].strips[0].frame_end += 5
    elif new:
        ob.keyframe_insert("location", frame=20)
    else:
        for curve in rigs.fcurves(ob):
            curve.keyframe_points[-1].co.y += 0.1
            curve.update()


def by_driver(expression: str) -> Callable[[Path], None]:
    """The target of A is driven by the dial."""

    def prepare(_: Path) -> None:
        driver = rigs.drive(one("A target"), "delta_location", expression, 0)
        variable = driver.variables.new()
        rigs.put(variable, name="dial", type="SINGLE_PROP")
        rigs.put(variable.targets[0], id=one("Dial"), data_path="location.x")

    return prepare


def by_parents(_: Path) -> None:
    """The target of A hangs on an empty, and that on one that is constrained to the dial, which is only instanced."""
    rigs.child(one("A target"), rigs.child(rigs.empty((0, 0, 0)), rigs.empty((0, 0, 0), "Carrier")))
    rigs.constrain(one("Carrier"), "COPY_LOCATION", one("Dial"))
    into_collection(one("Dial"))
    bpy.context.scene.collection.children.unlink(bpy.data.collections["Own"])
    rigs.put(rigs.empty((0, 0, 0)), instance_type="COLLECTION", instance_collection=bpy.data.collections["Own"])


def by_override(path: Path) -> None:
    overridden(path / "set.blend")
    rigs.key_path(rigs.empty((0, 0, 0), "Own"), (1, 30), [(1.4, 0.1, 0.3), (1.3, 0.3, 0.2)])
    rigs.constrain(one("A target"), "COPY_LOCATION", one("Own"))


def by_bone(_: Path) -> None:
    """The target of B follows the hand of A."""
    rigs.constrain(one("B target"), "COPY_LOCATION", rigs.child(rigs.empty((0, 0, 0)), one("A"), "b"))


def by_strip(_: Path) -> None:
    as_strip(one("A target"))


def doubted_by(name: str, new: bool) -> str:
    """The figures whose shots an edit doubts; what the others ask is as if all their frames were read again."""
    module, sessions = rigs.part("rig.bake.whole_shot"), rigs.part("rig.frame.sessions").sessions

    def asked() -> dict[str, dict[int, object]]:
        for _ in module.finish(bpy.context, one("A"), one("B")):
            pass
        return {ob: {f: a.question for f, a in sessions.of(one(ob)).motion.shot.asked()[0].items()} for ob in "AB"}

    asked()
    move_keys(name, new)
    rigs.update()
    found = "".join(ob for ob in "AB" if len(sessions.of(one(ob)).motion.shot.unread()) > 1)
    kept = asked()
    for ob in "AB":
        sessions.of(one(ob)).motion.shot.doubt()
    assert kept == asked()
    return found


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize(("prepare", "edited", "doubted"), [
    (None, "Dial", ""), (None, "A target", "A"), (by_strip, "A target", "A"),
    (by_driver("dial * 2 + frame / 100"), "Dial", "A"), (by_driver("[dial, frame][0]"), "Dial", "AB"),
    (by_parents, "Dial", "A"), (by_override, "Own", "A"), (by_bone, "A target", "AB"), (by_bone, "B target", "B"),
])  # fmt: skip
def test_an_edit_doubts_the_shots_that_depend_on_it(
    prepare: Callable[[Path], None] | None, edited: str, doubted: str, new: bool, tmp_path: Path
) -> None:  # fmt: skip
    bpy.context.scene.frame_end = 30
    for name in ("A", "B", "Dial"):
        path = [(1.4, 0.1, 0.3), (1.3, 0.3, 0.2)] if name != "Dial" else [(0, 0, 0), (0.1, 0.1, 0)]
        target = rigs.empty((0, 0, 0), name if name == "Dial" else f"{name} target")
        rigs.key_path(target, (1, 30), path)
        if name != "Dial":
            rigs.reach(rigs.bent_arm(name), "b", target).dqik.start_from = "SHOT"
    if prepare is not None:
        prepare(tmp_path)
    bpy.context.scene.frame_end = 30
    rigs.at_frame(5)
    assert doubted_by(edited, new) == doubted
    with installed("frame_change_post", lambda *_: None):  # another add-on may move anything
        assert doubted_by(edited, new) == "AB"
