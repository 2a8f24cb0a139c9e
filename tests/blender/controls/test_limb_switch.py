# SPDX-License-Identifier: GPL-3.0-or-later
"""One limb from its goal to keys of its bones and back, at a frame or over a range: nothing jumps."""

import re
from collections.abc import Iterable
from math import sin

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import frames_of
from mathutils import Euler, Vector
from situations import auto_keying

FRAMES = range(1, 21)
HEIGHT = 1.8
NO_JUMP = 1e-4 * HEIGHT


def mover(targets: str = "BONES") -> bpy.types.Object:
    """A live figure whose left hand, hips and head are keyed by their targets; the hand pulls the trunk along."""
    ob = rigs.set_up(rigs.figure(), False, targets=targets)
    for bone, way in {"hand.L": (-0.2, -0.4, 0.2), "hips": (0.05, -0.05, -0.1), "hand.R": (0.3, -0.3, -0.3)}.items():
        owner = rigs.owner_of(ob, bone)
        start = owner.location.copy()
        rigs.key_path(owner, FRAMES[::5], [start + Vector(way) * sin(0.2 * frame) for frame in FRAMES[::5]])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    rigs.live(ob, at=1)
    return ob


def influence(ob: bpy.types.Object, bone: str) -> float:
    return rigs.goal_of(rigs.evaluated(ob), bone).influence


def influences(ob: bpy.types.Object, *frames: float, bone: str = "hand.L") -> list[float]:
    return [influence(ob, bone) for _ in rigs.visited(frames)]


def film(ob: bpy.types.Object, frames: Iterable[float] = FRAMES) -> np.ndarray:
    """World places (F, N, 3) of the body's heads."""
    return frames_of(ob, frames)[..., :3, 3]


def names_of(ob: bpy.types.Object) -> list[str]:
    return [bone.name for bone in ob.pose.bones if not bone.name.startswith("DQIK")]


def switch(ob: bpy.types.Object, to: str, at: float | None = None, selected: str = "hand.L", **options: object) -> None:
    """Press *Limb to FK* or *Limb to IK* with a bone of the limb selected."""
    rigs.select(ob, selected, at=at)
    assert getattr(bpy.ops.dqik, f"limb_to_{to}")(**options) == {"FINISHED"}


def bend(ob: bpy.types.Object, name: str, angles: tuple, frame: int | None = None) -> None:
    """Turn a bone further by Euler angles, and key it if a frame is given."""
    bone = ob.pose.bones[name]
    bone.rotation_quaternion = bone.rotation_quaternion @ Euler(angles).to_quaternion()
    if frame is not None:
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def jump(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other, axis=-1).max())


@pytest.mark.parametrize("selected", ["DQIK hand.L", "forearm.L"])
def test_a_range_to_keys_of_the_bones(selected: str) -> None:
    """The whole figure stays on all its frames; only on these the goal has no influence."""
    ob, halves = mover(), np.arange(6.5, 12.0)
    before, between = film(ob), film(ob, halves)
    switch(ob, "fk", 8, selected=selected, frame_start=6, frame_end=12)
    assert bpy.context.scene.frame_current == 8
    assert jump(film(ob), before) < NO_JUMP
    assert jump(film(ob, halves), between) < 2e-4
    assert not any(bone.dqik_hold for bone in ob.pose.bones)
    assert influences(ob, 1, 5, 6, 12, 12.5, 13, 20) == [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert influences(ob, 5, 6, bone="hand.R") == [1.0, 1.0]


def keyed_all_over(ob: bpy.types.Object) -> bpy.types.Object:
    """All bones of a figure keyed with poses far from its goals, one collar at other frames than the others."""
    ob.dqik.live = False
    for k, name in enumerate(names_of(ob)):
        bone = ob.pose.bones[name]
        for frame in (2, 4, 12) if name == "collar.L" else (1, 2, 12, 20):
            n = 4 * k + frame
            rigs.posed(bone, Euler((0.3 * sin(n), 0.03 * sin(3 * n), 0.06 * sin(5 * n))).to_quaternion(), frame)
            if bone.dqik_translate:
                bone.keyframe_insert("location", frame=frame)
    rigs.at_frame(1)
    rigs.live(ob, at=1)
    return ob


def test_keys_of_other_bones_outside_of_a_range_stay() -> None:
    """The hand pulls the body along, so all of it is keyed inside; outside all curves are as they were."""
    ob = keyed_all_over(mover("EMPTIES"))
    outside = [1.0, 2.0, 2.5, 3.0, *np.arange(8.0, 25.0, 0.5)]
    bones = [curve for curve in rigs.fcurves(ob) if "rotation" in curve.data_path or "location" in curve.data_path]
    shape = np.array([[curve.evaluate(time) for time in outside] for curve in bones])
    ways = [(curve.data_path, curve.array_index) for curve in bones]
    before = film(ob)
    switch(ob, "fk", frame_start=4, frame_end=7)
    assert jump(film(ob), before) < NO_JUMP
    now = {(curve.data_path, curve.array_index): curve for curve in rigs.fcurves(ob)}
    assert np.abs([[now[way].evaluate(time) for time in outside] for way in ways] - shape).max() < 1e-5
    chest = [frame for frame, _ in rigs.keys(ob)[ob.pose.bones["chest"].path_from_id("rotation_quaternion"), 1]]
    assert chest == [1, 2, 3, 4, 5, 6, 7, 8, 12, 20]


def test_a_figure_with_a_pose_that_is_held_at_one_frame_stays() -> None:
    """The chest is posed at frame 10, where its hold is keyed; the arm is switched elsewhere."""
    ob = mover()
    rigs.at_frame(10)
    bend(ob, "chest", (0.2, 0.0, 0.0))
    rigs.update()
    ob.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=10)
    rigs.update()
    assert ob.pose.bones["chest"].dqik_hold == 1.0
    before = film(ob)
    switch(ob, "fk", 15, selected="DQIK hand.L")
    assert jump(film(ob)[:15], before[:15]) < NO_JUMP


def halfway(frames: Iterable[int]) -> list[float]:
    """The frames, and those half way between them and after the last."""
    return sorted([*frames, *(frame + 0.5 for frame in frames)])


@pytest.mark.parametrize("range_", [{}, {"frame_start": 6, "frame_end": 12}])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_only_the_limb_is_keyed(range_: dict, mode: str) -> None:
    """The rest of the body is solved as before on all frames, and the limb from its pose before on those outside."""
    ob = mover()
    ob.dqik.live = False
    for bone in (ob.pose.bones[name] for name in names_of(ob)):
        bone.rotation_mode = mode
    ob.pose.bones["forearm.L"].matrix_basis = Euler((0.4, 0.2, 0.6)).to_matrix().to_4x4()  # from where the arm starts
    ob.dqik.live = True
    frames = halfway(FRAMES)
    before, keyed = film(ob, frames), len(rigs.keys(ob))
    switch(ob, "fk", 8, selected="DQIK hand.L", **range_)
    arm = ("collar.L", "arm.L", "forearm.L", "hand.L")
    counts = {way: len(points) for way, points in rigs.keys(ob).items() if way[0].startswith('pose.bones["')}
    assert {path.split('"')[1] for path, _ in counts} - {"DQIK hand.L", "DQIK hand.R", "DQIK hips"} == set(arm)
    assert len(rigs.keys(ob)) - keyed == 1 + len(arm) * (1 + (4 if mode == "QUATERNION" else 3))
    assert max(counts[way] for way in counts if way[0].split('"')[1] in arm) == (9 if range_ else 2)
    after, names = film(ob, frames), names_of(ob)
    rest = [number for number, name in enumerate(names) if name not in arm]
    assert jump(after[:, rest], before[:, rest]) < (1e-6 if range_ else 1e-9)
    first, last = range_.get("frame_start", 8), range_.get("frame_end", FRAMES[-1] + 1)
    outside = [k for k, frame in enumerate(frames) if frame < first or frame >= last + 1]
    assert jump(after[outside], before[outside]) == 0.0
    inside = [k for k, frame in enumerate(frames) if first <= frame <= (last if range_ else first)]
    assert jump(after[inside], before[inside]) < 1e-5 * HEIGHT


def test_a_bake_and_a_limb_that_is_posed_show_the_same_body() -> None:
    """Keys of the limb do not move the body that its goal leads, and a bake is what Live has shown."""
    ob = mover()
    switch(ob, "fk", 8, selected="DQIK hand.L")
    names = names_of(ob)
    body = [number for number, name in enumerate(names) if not name.endswith(".L") or "leg" in name]
    before = film(ob)
    rigs.at_frame(12)
    bend(ob, "arm.L", (0.5, 0.0, 0.4), 12)
    after = film(ob)
    assert jump(after[11], before[11]) > 0.1
    assert jump(after[:, body], before[:, body]) == 0.0
    rigs.at_frame(12)
    assert not [goal.bone for goal in ob.dqik.goals if goal.missed]
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=20) == {"FINISHED"}
    assert jump(film(ob), after) < 1e-5
    assert not ob.dqik.live
    ob.dqik.live = True
    assert jump(film(ob), after) < 1e-5


def test_the_bones_pose_the_limb_then() -> None:
    """Its bones turn it, and its control only leads the trunk, until that is switched off; the other limbs stay."""
    ob = mover()
    switch(ob, "fk", 8, selected="DQIK hand.L", frame_start=6, frame_end=12)
    rigs.at_frame(8)
    names, arm = names_of(ob), ("collar.L", "arm.L", "forearm.L", "hand.L")
    own = [rigs.evaluated(ob).pose.bones[name].matrix_basis.copy() for name in arm]
    rigs.owner_of(ob, "hand.L").location.z += 0.3
    assert [rigs.evaluated(ob).pose.bones[name].matrix_basis for name in arm] == own
    rigs.goal_of(ob, "hand.L").leads_body = False
    before = film(ob, [8])[0]
    rigs.owner_of(ob, "hand.L").location.z += 0.3
    assert jump(np.array([rigs.head(ob, name) for name in names]), before) < NO_JUMP
    bend(ob, "arm.L", (0.0, 0.0, 0.4))
    after = np.array([rigs.head(ob, name) for name in names])
    went = dict(zip(names, np.linalg.norm(after - before, axis=-1), strict=True))
    assert went["hand.L"] > 0.1
    assert max(went[name] for name in ("hand.R", "head", "hips", "foot.L", "foot.R")) < 1e-3


def test_hips_show_their_keys_then_however_a_frame_is_reached() -> None:
    """Also where a head out of reach would have them go along."""
    ob = mover()
    switch(ob, "fk", 8, selected="DQIK hips", frame_start=6, frame_end=12)
    rigs.owner_of(ob, "head").location.y += 0.6  # along the control, upward
    keyed = [curve.evaluate(8) for curve in rigs.fcurves(ob) if curve.data_path == 'pose.bones["hips"].location']
    for before in (10, 3, 15):
        rigs.at_frame(before)
        rigs.at_frame(8)
        np.testing.assert_allclose(ob.pose.bones["hips"].location, keyed, atol=1e-6)


@pytest.mark.parametrize("targets", ["BONES", "EMPTIES"])
def test_back_to_the_goal_from_a_frame_on(targets: str) -> None:
    """To keys at frame 6, posed there, and back at frame 11: the frames around both do not jump."""
    ob = mover(targets)
    rigs.select(ob, "hand.L", at=6)
    before = film(ob, [6])
    switch(ob, "fk", 6)
    assert jump(film(ob, [6]), before) < NO_JUMP
    rigs.at_frame(20)
    assert influence(ob, "hand.L") == 0.0
    rigs.at_frame(11)
    bend(ob, "forearm.L", (0.0, 0.0, 0.5), 11)
    posed = film(ob, [10, 11])
    switch(ob, "ik", 11)
    assert jump(film(ob, [10, 11]), posed) < NO_JUMP
    assert influences(ob, 5, 6, 10, 20, 11) == [1.0, 0.0, 0.0, 1.0, 1.0]
    assert (rigs.head(ob, "hand.L") - place(ob, "hand.L")).length < NO_JUMP
    rigs.owner_of(ob, "hand.L").location.z += 0.05
    assert (rigs.head(ob, "hand.L") - place(ob, "hand.L")).length < 1e-3


def test_other_bones_are_keyed_when_that_is_wanted(capfd: pytest.CaptureFixture[str]) -> None:
    """With *Keep Body* off only the limb is keyed and the body moves; `limb_keep_body` puts it back, once."""
    ob = mover("BONES")
    switch(ob, "fk", 6)
    rigs.at_frame(11)
    bend(ob, "forearm.L", (0.0, 0.0, 0.5), 11)
    posed, body = film(ob, [10, 11]), {"thigh.R", "chest", "hips"}
    rigs.at_frame(11)
    before = rigs.keys(ob)
    capfd.readouterr()
    assert bpy.ops.dqik.limb_to_ik(keep_body=False) == {"FINISHED"}
    assert re.search(r"The rest of the body moves by [\d.]+ (mm|cm|m): it stays if", capfd.readouterr().out)
    assert not [path for path, _ in rigs.keys(ob).keys() - before.keys() if any(f'"{name}"' in path for name in body)]
    assert jump(film(ob, [10, 11]), posed) > NO_JUMP
    rigs.at_frame(11)
    assert bpy.ops.dqik.limb_keep_body() == {"FINISHED"}
    assert jump(film(ob, [10, 11]), posed) < NO_JUMP
    rigs.refuses(bpy.ops.dqik.limb_keep_body, "Press Limb to FK or Limb to IK first")


@pytest.mark.parametrize(("handles", "held"), [("AUTO", False), ("AUTO_CLAMPED", True)])
def test_the_way_back_keeps_the_keys_and_overshoots_nowhere(handles: str, held: bool) -> None:
    """Curves get three keys at most, and the control goes straight to its next key; the frames before stay exactly."""
    ob = mover()
    own = rigs.owner_of(ob, "hand.L")
    for curve in rigs.fcurves(ob):
        for key in curve.keyframe_points:
            key.handle_left_type = key.handle_right_type = handles
        curve.update()
    if held:
        rigs.at_frame(6)
        bend(ob, "chest", (0.0, 0.3, 0.0))
        rigs.select(ob, "chest")
        assert bpy.ops.dqik.hold_here() == {"FINISHED"}
    switch(ob, "fk", 6)
    rigs.at_frame(9)
    bend(ob, "forearm.L", (0.0, 0.0, 0.5), 9)
    frames = halfway(range(1, 13))[:-1]
    before, there, counts = film(ob, frames), rigs.keys(ob), {}
    shown = film(ob, [13])
    switch(ob, "ik", 13)
    assert jump(film(ob, frames), before) < 1e-5
    assert jump(film(ob, [13]), shown) < NO_JUMP
    for way, points in rigs.keys(ob).items():
        counts[way] = len(points) - len(there.get(way, ()))
        kept = [point for point in there.get(way, ()) if abs(point[0] - 13) > 1e-3]
        assert set(kept) <= set(points)  # the animator's own keys
    assert max(counts.values()) <= 3
    way = np.array([own.location[:] for frame in rigs.visited(np.arange(13.0, 16.01, 0.25))])
    assert np.all(way >= way[[0, -1]].min(0) - 1e-5) and np.all(way <= way[[0, -1]].max(0) + 1e-5)


def test_keys_that_are_put_into_eased_curves_keep_them_before_the_switch() -> None:
    """The control's easing goes on before the switch, and after it from there to the animator's next key."""
    ob = mover()
    own = rigs.owner_of(ob, "hand.L")
    curve = next(c for c in rigs.fcurves(ob) if c.data_path == own.path_from_id("location") and c.array_index == 2)
    for key in curve.keyframe_points:
        key.interpolation, key.easing = "QUART", "EASE_IN_OUT"
    curve.update()
    switch(ob, "fk", 3)
    times = np.append(np.arange(1.0, 8.01, 0.125), np.arange(11.0, 17.0, 0.25))
    before = [curve.evaluate(time) for time in times]
    switch(ob, "ik", 9)
    curve = next(c for c in rigs.fcurves(ob) if c.data_path == own.path_from_id("location") and c.array_index == 2)
    assert np.abs(np.array([curve.evaluate(time) for time in times]) - before).max() < 1e-5
    assert not [key for key in curve.keyframe_points if 9.5 < key.co.x < 10.5]


def place(ob: bpy.types.Object, bone: str) -> Vector:
    """Where the target of a bone's goal is in the world."""
    owner = rigs.owner_of(ob, bone)
    return rigs.head(ob, owner.name) if owner.id_data == ob else rigs.place(owner)


def test_a_range_of_keyed_bones_to_the_goal() -> None:
    """A captured arm, whose goal is muted: its control is keyed on the range, and the arm stays."""
    ob = rigs.figure()
    for frame in FRAMES:
        for name, angles in (("arm.L", (-0.5, 0.2, 0.3)), ("forearm.L", (0.1, 0.0, 0.9)), ("spine", (0.1, 0.1, 0.0))):
            rigs.posed(ob.pose.bones[name], Euler(Vector(angles) * sin(0.2 * frame)).to_quaternion(), frame)
    rigs.set_up(ob)
    hand = rigs.goal_of(ob, "hand.L")
    hand.mute = True
    before = film(ob)
    switch(ob, "ik", selected="DQIK hand.L", frame_start=5, frame_end=15)
    assert jump(film(ob), before) < NO_JUMP
    assert not hand.mute
    assert influences(ob, 1, 4, 5, 15, 16) == [0.0, 0.0, 1.0, 1.0, 0.0]


def far_keys(ob: bpy.types.Object, times: float = 4.0) -> list:
    """The keys of the left hand's control, after it is put where the hand cannot reach it, at least on some frames."""
    owner = rigs.owner_of(ob, "hand.L")
    for curve in rigs.fcurves(ob):
        if curve.data_path == owner.path_from_id("location"):
            for key in curve.keyframe_points:
                key.co.y *= times
            curve.update()
    return own_keys(ob)


def own_keys(ob: bpy.types.Object) -> list:
    return [one for one in rigs.keys(ob).items() if one[0][0].startswith(rigs.owner_of(ob, "hand.L").path_from_id())]


@pytest.mark.parametrize("frames", [{}, {"frame_start": 5, "frame_end": 9}])
def test_a_goal_that_is_missed_keeps_the_keys_of_its_control(frames: dict) -> None:
    """It acts already, so there is nothing to switch."""
    ob = mover()
    before = far_keys(ob)
    rigs.at_frame(6)
    assert (rigs.head(ob, "hand.L") - place(ob, "hand.L")).length > 0.1
    rigs.select(ob, "hand.L")
    assert bpy.ops.dqik.limb_to_ik(**frames) == {"CANCELLED"}
    assert own_keys(ob) == before
    assert not any("influence" in path for path, _ in rigs.keys(ob))


@pytest.mark.parametrize("keyed", [False, True])
def test_a_control_that_leads_another_limb_too_is_not_moved(keyed: bool) -> None:
    """To IK it would go where the bones are, and take the other figure along: refused, and free without the other."""
    ob = rigs.set_up(rigs.figure(), False, targets="EMPTIES")
    ob.dqik.live = True
    own, control = rigs.goal_of(ob, "hand.L"), rigs.owner_of(ob, "hand.L")
    own.influence, ob.pose.bones["forearm.L"].rotation_quaternion = 0.0, (1.0, 0.3, 0.2, 0.0)
    other = rigs.goal(rigs.arm(name="Other"), "b", control)
    if keyed:
        control.keyframe_insert("location", frame=1)
    rigs.select(ob, "hand.L")
    before = control.matrix_basis.copy(), rigs.keys(ob), rigs.keys(control)
    rigs.refuses(bpy.ops.dqik.limb_to_ik, "also leads goal 'b' of 'Other'")
    assert (control.matrix_basis, rigs.keys(ob), rigs.keys(control)) == before
    assert own.influence == 0.0
    other.mute = True
    assert bpy.ops.dqik.limb_to_ik() == {"FINISHED"}
    assert (control.location - before[0].translation).length > 0.01


def test_a_goal_that_is_muted_by_keys_is_not_switched_to() -> None:
    """The switch could not lift that; where the keys do not mute it, it can. Nor without any bone of a limb."""
    ob = rigs.set_up(rigs.figure(), False)
    ob.dqik.live = True
    own = rigs.goal_of(ob, "hand.L")
    own.influence = 0.0
    rigs.key_path(own, (1, 10), (True, False), "mute")
    rigs.select(ob, "hand.L", at=5)
    before = rigs.keys(ob)
    rigs.refuses(bpy.ops.dqik.limb_to_ik, "muted by keys")
    rigs.select(ob, "chest")
    rigs.refuses(bpy.ops.dqik.limb_to_fk, "Select the control or bones of a limb")
    assert rigs.keys(ob) == before
    switch(ob, "ik", 10)
    assert influence(ob, "hand.L") == 1.0


def test_frames_of_a_range_that_are_switched_already_keep_their_control() -> None:
    """Nothing moves, and outside of the range not even the control."""
    ob = mover()
    far_keys(ob)
    switch(ob, "fk", frame_start=8, frame_end=10)
    before = film(ob)
    rigs.at_frame(6)
    asked = place(ob, "hand.L")
    assert (rigs.head(ob, "hand.L") - asked).length > 0.1
    switch(ob, "ik", frame_start=5, frame_end=12)
    rigs.at_frame(6)
    assert (place(ob, "hand.L") - asked).length < NO_JUMP
    assert influence(ob, "hand.L") == 1.0
    assert jump(film(ob), before) < NO_JUMP
    rigs.at_frame(9)
    assert influence(ob, "hand.L") == 1.0
    assert (rigs.head(ob, "hand.L") - place(ob, "hand.L")).length < NO_JUMP


def standing(targets: str = "BONES", way: tuple = (-0.2, -0.4, 0.2)) -> bpy.types.Object:
    """A live figure without keys, whose left hand and hips are elsewhere."""
    ob = rigs.set_up(rigs.figure(), False, targets=targets)
    for bone, by in {"hand.L": way, "hips": (0.05, -0.05, -0.1)}.items():
        rigs.owner_of(ob, bone).location = rigs.owner_of(ob, bone).location + Vector(by)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    rigs.live(ob, at=8)
    return ob


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(("targets", "way"), [
    ("BONES", (-0.2, -0.4, 0.2)), ("EMPTIES", (-0.2, -0.4, 0.2)), ("BONES", (-0.2, -1.5, 0.2)),
])
def test_a_figure_without_keys_gets_none(targets: str, way: tuple, live: bool) -> None:
    """It is switched for the whole shot and back, and nothing moves, also where the hand has pulled the trunk along."""
    ob = standing(targets, way)
    ob.dqik.live = live
    before = film(ob, [8, 1])
    switch(ob, "fk")
    assert jump(film(ob, [8, 1]), before) < NO_JUMP
    assert influence(ob, "hand.L") == 0.0
    rigs.owner_of(ob, "hand.L").location.z += 0.3
    bend(ob, "forearm.L", (0.0, 0.0, 0.5))
    assert (rigs.head(ob, "hand.L") - Vector(film(ob, [8])[0][names_of(ob).index("hand.L")])).length < NO_JUMP
    posed = film(ob, [8, 1])
    assert jump(posed, before) > 0.05
    assert bpy.ops.dqik.limb_to_ik() == {"FINISHED"}
    assert jump(film(ob, [8, 1]), posed) < NO_JUMP
    assert influence(ob, "hand.L") == 1.0
    assert (rigs.head(ob, "hand.L") - place(ob, "hand.L")).length < NO_JUMP
    assert not rigs.keys(ob)
    assert not rigs.keys(rigs.owner_of(ob, "hand.L").id_data)


def test_auto_keying_keys_a_figure_without_keys_at_this_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    ob = standing()
    before = film(ob, [8, 1])
    rigs.select(ob, "hand.L", at=8)
    auto_keying(monkeypatch, True, False)
    assert bpy.ops.dqik.limb_to_fk() == {"FINISHED"}
    assert jump(film(ob, [8, 1]), before) < NO_JUMP
    found = {(path, frame) for (path, _), points in rigs.keys(ob).items() for frame, _ in points}
    assert {frame for _, frame in found} == {8}
    assert any("influence" in path for path, _ in found) and any("forearm.L" in path for path, _ in found)


def test_live_that_is_off_stays_off() -> None:
    ob = mover()
    before = film(ob, [8])
    rigs.live(ob, False, at=8)
    rigs.select(ob, "foot.L", "DQIK hand.L")
    assert bpy.ops.dqik.limb_to_fk() == {"FINISHED"}
    assert not ob.dqik.live
    ob.dqik.live = True
    assert jump(film(ob, [8]), before) < NO_JUMP
    assert (influence(ob, "hand.L"), influence(ob, "foot.L"), influence(ob, "head")) == (0.0, 0.0, 1.0)


def test_live_after_a_bake_moves_nothing_that_was_not_edited() -> None:
    """A hand out of reach misses its goal on some frames, and pulls the hips; one control is edited on one frame."""
    ob = mover()
    far_keys(ob, 2.5)
    before = film(ob)
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=20) == {"FINISHED"}
    ob.dqik.live = True
    assert jump(film(ob), before) < 1e-5
    rigs.at_frame(11)
    other = rigs.owner_of(ob, "foot.R")
    start = other.location.copy()
    rigs.key_path(other, (10, 11, 12), [start + Vector((0.0, height, 0.0)) for height in (0.0, 0.2, 0.0)])
    after = film(ob)
    assert jump(after[10], before[10]) > 0.1
    assert jump(np.delete(after, 10, 0), np.delete(before, 10, 0)) < 1e-5


def test_live_after_a_bake_follows_edited_bones_as_ever() -> None:
    """A bone that is keyed elsewhere after the bake does not keep the figure from its goals."""
    ob = mover()
    bpy.ops.dqik.bake(frame_start=1, frame_end=20)
    rigs.live(ob, at=11)
    bend(ob, "arm.R", (0.3, 0.0, 0.3), 11)
    rigs.at_frame(12)
    rigs.at_frame(11)
    assert (rigs.head(ob, "hand.R") - place(ob, "hand.R")).length < 1e-3
