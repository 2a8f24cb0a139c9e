# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that are added to a body on demand: chest, shoulders, elbows, knees, toes and a master."""

from collections.abc import Sequence
from math import radians

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import film_here, frames_of
from mathutils import Euler, Matrix, Vector
from test_controls import MET, control, moved, places, posed, shift

HEIGHT = 1.8
STILL = 1.5e-6 * HEIGHT  # single precision
SOLVED = 5e-4 * HEIGHT  # keyed controls stay, also where the body is within the solve's tolerance of them
ALL = {"CHEST", "SHOULDERS", "ELBOWS", "KNEES", "TOES", "MASTER"}


def figure() -> bpy.types.Object:
    """The figure with toes, its elbows and knees slightly bent."""
    toes = [rigs.Bone(f"toes.{side}", (x, -0.18, 0.02), (x, -0.26, 0.02), f"foot.{side}") for side, x in
            (("L", 0.1), ("R", -0.1))]  # fmt: skip
    return rigs.add(rigs.figure(), *toes)


def shown(ob: bpy.types.Object, name: str) -> bool:
    """Whether a bone is not hidden."""
    return not getattr(ob.pose.bones[name], "hide", ob.data.bones[name].hide)


def test_a_set_up_with_all_controls_stands_still() -> None:
    ob = posed(figure())
    before = places(ob)
    rigs.set_up(ob, controls=ALL)
    assert moved(before, places(ob)) < 5e-4 * HEIGHT
    names = {bone.name.removeprefix("DQIK ") for bone in ob.data.collections_all["DQIK"].bones if shown(ob, bone.name)}
    sided = {f"{part}.{side}" for part in ("hand", "foot", "elbow", "knee", "shoulder", "toes") for side in "LR"}
    assert names == sided | {"hips", "chest", "head", "master"}


@pytest.fixture
def body() -> bpy.types.Object:
    """A live figure with all controls, that stands with bent arms and knees."""
    return rigs.set_up(at_ease(figure()), controls=ALL)


def at_ease(ob: bpy.types.Object) -> bpy.types.Object:
    for side, sign in (("L", 1), ("R", -1)):
        for name, angles in (("arm", (20, 0, -50 * sign)), ("forearm", (0, 0, -50 * sign)), ("thigh", (-25, 0, 0)),
                             ("shin", (50, 0, 0)), ("foot", (-25, 0, 0))):  # fmt: skip
            turn = Euler([radians(angle) for angle in angles]).to_quaternion()
            rigs.posed(ob.pose.bones[f"{name}.{side}"], turn)
    rigs.update()
    return ob


def only(name: str, ob: bpy.types.Object) -> bpy.types.PoseBone:
    return ob.pose.bones[f"DQIK {name}"]


def way_of(ob: bpy.types.Object, name: str, before: dict[str, Vector]) -> Vector:
    return rigs.head(ob, name) - before[name]


def test_the_body_leans_with_its_chest_and_the_head_comes_along(body: bpy.types.Object) -> None:
    """Without the chest's control the head's target keeps the head where it is."""
    before = places(body)
    shift(body, "chest", (0.0, -0.1, -0.027))
    assert (way_of(body, "chest", before) - Vector((0.0, -0.1, -0.027))).length < MET
    assert (way_of(body, "head", before) - Vector((0.0, -0.1, -0.027))).length < MET
    for name in ("foot.L", "foot.R", "hand.L", "hand.R"):
        assert way_of(body, name, before).length < MET


@pytest.mark.parametrize(("pole", "joint", "ends"), [("elbow.L", "forearm.L", ("arm.L", "hand.L")),
                                                     ("knee.R", "shin.R", ("thigh.R", "foot.R"))])  # fmt: skip
def test_elbows_and_knees_point_at_their_controls(body: bpy.types.Object, pole: str, joint: str, ends: tuple) -> None:
    """The joint is in the plane of the limb's line and the pole, and the limb's end stays."""
    before = places(body)
    only(pole, body).location += Vector((0.1, 0.1, 0.15))
    root, end = (rigs.head(body, name) for name in ends)
    line = (end - root).normalized()
    out, toward = (way - line * way.dot(line) for way in (rigs.head(body, joint) - root,
                                                          rigs.head(body, f"DQIK {pole}") - root))  # fmt: skip
    assert out.angle(toward) < radians(0.5)
    assert way_of(body, ends[1], before).length < MET
    assert way_of(body, joint, before).length > 0.005


def test_the_master_carries_the_figure_as_it_is(body: bpy.types.Object) -> None:
    """Moved and turned, no bone turns against its parent."""
    names = [bone.name for bone in body.pose.bones if bone.bone.use_deform and bone.name != "hips"]
    before = {name: rigs.local_rotation(body, name) for name in names}
    place = rigs.head(body, "hand.L")
    motion = Matrix.LocRotScale((2.0, 1.0, 0.3), Euler((0.1, 0.2, 2.0)), None)
    only("master", body).matrix = motion @ only("master", body).matrix
    rigs.update()
    assert body.dqik.status.converged
    assert (rigs.head(body, "hand.L") - motion @ place).length < MET
    turned = {name: before[name].rotation_difference(rigs.local_rotation(body, name)).angle for name in names}
    assert max(min(angle, abs(angle - 2.0 * np.pi)) for angle in turned.values()) < radians(1.0)


@pytest.mark.parametrize(("part", "name"), [("shoulder.L", "collar.L"), ("toes.R", "toes.R")])
def test_shoulders_and_toes_turn_with_their_controls(body: bpy.types.Object, part: str, name: str) -> None:
    """They turn against the bone above by what their control is turned, wherever the body is."""
    shift(body, "hips", (0.0, -0.02, -0.02))
    before = rigs.local_rotation(body, name)
    own = only(part, body)
    own.rotation_quaternion = own.rotation_quaternion @ Euler((radians(8.0), 0.0, 0.0)).to_quaternion()
    angle = before.rotation_difference(rigs.local_rotation(body, name)).angle
    assert angle == pytest.approx(radians(8.0), abs=radians(0.5))


def worlds(ob: bpy.types.Object, names: Sequence[str]) -> np.ndarray:
    """The matrices (F, N, 4, 4) of bones on some frames."""
    return np.array([[rigs.world(ob, name) for name in names] for _ in rigs.visited((1.0, 4.0, 7.5, 10.0))])


def leaning(names: tuple[str, ...], way: float, turn: float) -> bpy.types.Object:
    """A live figure some of whose controls move and turn between frames 1 and 10."""
    ob = rigs.set_up(at_ease(figure()))
    for frame, share in ((1, 0.0), (10, 1.0)):
        rigs.at_frame(frame)
        for own in (control(ob, name) for name in names):
            own.location = own.location + share * Vector((0.0, -way, -way))
            turned = Euler((share * turn, share * turn, 0.0)).to_quaternion() @ own.rotation_quaternion
            own.rotation_quaternion = turned.normalized()
            rigs.key(own, frame)
    return ob


def test_keyed_controls_keep_their_keys_and_their_motion() -> None:
    """The head's keys count from the hips; with the chest, which it then hangs on, it moves as before on all frames."""
    ob = leaning(("hips", "head", "hand.L"), 0.03, 0.03)
    names = [bone.name for bone in ob.pose.bones if bone.name.startswith("DQIK")]
    keys, before = rigs.keys(ob), worlds(ob, names)
    rigs.at_frame(4)
    still = film_here(ob)
    assert bpy.ops.dqik.setup_full_body(controls=ALL) == {"FINISHED"}
    assert np.linalg.norm((film_here(ob) - still)[:, :3, 3], axis=-1).max() < SOLVED
    assert rigs.keys(ob) == keys
    assert np.abs(worlds(ob, names) - before).max() < 1e-5
    rigs.at_frame(4)
    head = rigs.head(ob, "DQIK head")
    shift(ob, "chest", (0.0, -0.1, 0.0))
    assert (rigs.head(ob, "DQIK head") - head - Vector((0.0, -0.1, 0.0))).length < 1e-5
    assert bpy.ops.dqik.goal_remove(index=ob.dqik.goals.find("chest")) == {"FINISHED"}
    rigs.update()
    assert "DQIK chest" not in ob.data.bones
    assert rigs.keys(ob) == keys
    assert (rigs.head(ob, "DQIK head") - head - Vector((0.0, -0.1, 0.0))).length < 1e-5
    assert bpy.ops.dqik.goals_clear() == {"FINISHED"}
    assert not any(bone.name.startswith("DQIK") for bone in ob.data.bones)
    assert [one.name for one in ob.data.collections_all] == []


def test_one_control_is_counted_as_one(capfd: pytest.CaptureFixture[str]) -> None:
    rigs.set_up(rigs.figure())
    assert bpy.ops.dqik.setup_full_body(controls={"MASTER"}) == {"FINISHED"}
    rigs.goal(rigs.made_active(rigs.bent_arm()), "b", rigs.empty((1, 0, 1)))
    assert bpy.ops.dqik.key_controls() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Info: 1 control added" in said and "Info: 1 control keyed at frame 1" in said


def test_a_master_that_comes_later_turns_a_keyed_head_too() -> None:
    """Its keys stay, and mean the same as before; turned and moved with the master, the whole body goes as one."""
    ob = leaning(("hips", "head"), 0.02, 0.1)
    names = ("DQIK head", "DQIK hips", "DQIK hand.L")
    keys, before = rigs.keys(ob), worlds(ob, names)
    assert bpy.ops.dqik.setup_full_body(controls={"MASTER"}) == {"FINISHED"}
    assert rigs.keys(ob) == keys
    assert np.abs(worlds(ob, names) - before).max() < 1e-5
    rigs.at_frame(4)
    master = only("master", ob)
    start = rigs.world(ob, "DQIK master")
    master.location, master.rotation_quaternion = (0.3, 0.2, -0.1), Euler((0.1, 0.2, 1.2)).to_quaternion()
    motion = np.array(rigs.world(ob, "DQIK master") @ start.inverted())
    assert np.abs(worlds(ob, names) - motion @ before).max() < 1e-5


def test_a_control_goes_with_its_goal(body: bpy.types.Object) -> None:
    """Each control that was added goes, what it carried stays where it is, and the body does not move."""
    for bone, gone in (("chest", ["chest"]), ("collar.L", ["shoulder.L"]), ("toes.R", ["toes.R"]),
                       ("hand.R", ["hand.R", "elbow.R"]), ("foot.L", ["foot.L", "knee.L"])):  # fmt: skip
        before = places(body)
        controls = {one.name: rigs.head(body, one.name) for one in body.data.collections_all["DQIK"].bones}
        assert bpy.ops.dqik.goal_remove(index=body.dqik.goals.find(bone)) == {"FINISHED"}
        rigs.update()
        left = {one.name for one in body.data.collections_all["DQIK"].bones}
        assert controls.keys() - left == {f"DQIK {name}" for name in gone}
        assert max((rigs.head(body, name) - controls[name]).length for name in left) < 1e-5
        assert moved(before, places(body)) < MET
    assert bpy.ops.dqik.goals_clear() == {"FINISHED"}
    assert not any(one.name.startswith("DQIK") for one in (*body.data.bones, *bpy.data.objects))
    assert not body.data.collections_all


def selected(ob: bpy.types.Object) -> set[str]:
    """Names of the selected bones."""
    return {bone.name for bone in ob.pose.bones if (bone if hasattr(bone, "select") else bone.bone).select}


def test_all_controls_are_selected_and_keyed_at_once(body: bpy.types.Object) -> None:
    """From Object Mode too; those of the body are not, nor the hidden pivots."""
    assert bpy.ops.dqik.select_controls() == {"FINISHED"}
    assert body.mode == "POSE"
    wanted = {bone.name for bone in body.data.collections_all["DQIK"].bones if shown(body, bone.name)}
    assert len(wanted) == 16
    assert selected(body) == wanted
    bpy.context.scene.frame_set(7)
    assert bpy.ops.dqik.key_controls() == {"FINISHED"}
    paths = {curve.data_path.split('"')[1] for curve in rigs.fcurves(body)}
    assert paths == wanted
    assert {key.co.x for curve in rigs.fcurves(body) for key in curve.keyframe_points} == {7.0}


def test_empties_are_selected_and_keyed_too() -> None:
    ob = rigs.pose_mode(rigs.set_up(figure(), targets="EMPTIES"))
    assert bpy.ops.dqik.select_controls() == {"FINISHED"}
    empties = {goal.target.name for goal in ob.dqik.goals}
    assert {one.name for one in bpy.context.view_layer.objects if one.select_get()} == empties
    rigs.made_active(ob)
    assert bpy.ops.dqik.key_controls() == {"FINISHED"}
    assert all(bpy.data.objects[name].animation_data.action for name in empties)


def test_showing_controls_only_hides_the_body_and_nothing_else(body: bpy.types.Object) -> None:
    """Bones of the body stay in their own collections, and are in one named Body."""
    collections = body.data.collections_all
    assert {bone.name for bone in collections["Body"].bones} == {
        bone.name for bone in body.data.bones if not bone.name.startswith("DQIK")
    }
    collections["DQIK"].is_solo = True
    visible = {bone.name for bone in body.data.bones if any(one.is_visible_effectively for one in bone.collections)}
    assert visible == {bone.name for bone in collections["DQIK"].bones}
    assert bpy.ops.dqik.goals_clear() == {"FINISHED"}
    assert not body.data.collections_all


def test_controls_are_as_large_as_their_limbs() -> None:
    """A figure with arms of half the length has hands' controls of half the size; lines are two pixels wide."""
    sizes = []
    for share in (1.0, 0.6):
        ob = rigs.figure()
        with rigs.edit_mode(ob) as bones:
            for name, start, end in (("forearm", 0.48, 0.28), ("hand", None, 0.16)):
                for side, sign in (("L", 1), ("R", -1)):
                    bone = bones[f"{name}.{side}"]
                    bone.head.x = bone.head.x if start is not None else bones[f"forearm.{side}"].tail.x
                    bone.tail.x = bone.head.x + sign * share * end
        rigs.set_up(ob, on=False)
        own = control(ob, "hand.L")
        assert own.custom_shape_wire_width == 2.0
        sizes.append(own.custom_shape_scale_xyz.x)
        bpy.data.objects.remove(ob)
        rigs.update()
    assert sizes[1] / sizes[0] == pytest.approx(0.6, abs=0.02)


def test_targets_to_pose_places_the_poles_of_straight_limbs() -> None:
    """Legs and arms that were turned about themselves, hips and chest moved: Live then shows the pose."""
    ob = rigs.set_up(rigs.figure(), on=False, controls={"CHEST", "ELBOWS", "KNEES"})
    for name, turn in {"thigh.L": (0.3, 0.5, 0.0), "arm.R": (0.1, -0.4, 0.3), "hips": (0.1, 0.2, 0.0)}.items():
        rigs.posed(ob.pose.bones[name], Euler(turn).to_quaternion())
    ob.pose.bones["hips"].location = (0.1, 0.2, -0.05)
    rigs.update()
    before = film_here(ob)
    assert bpy.ops.dqik.targets_to_pose(all=True) == {"FINISHED"}
    now = film_here(rigs.live(ob))
    assert np.abs(now - before)[:, :3, 3].max() < 1e-4
    assert np.degrees(rigs.turn(before, now)) < 5.0


def test_selecting_controls_lets_go_of_another_figure_that_is_posed_too() -> None:
    """Two figures in Pose Mode at once."""
    other, ob = rigs.set_up(rigs.figure("Other"), on=False), rigs.set_up(rigs.figure(), on=False)
    if ob.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    other.select_set(True)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    for bone in other.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = True
    assert bpy.ops.dqik.select_controls() == {"FINISHED"}
    assert other.mode == "POSE" and not selected(other)
    assert selected(ob) == {goal.subtarget for goal in ob.dqik.goals}


def keyed_at_random(ob: bpy.types.Object, random: np.random.Generator) -> None:
    """Keys of controls, of bones of the body, or of both, or none; some controls are out of reach."""
    situation = random.integers(5)
    for name in random.choice(["hips", "head", "hand.L", "hand.R", "foot.L"], size=3, replace=False).tolist():
        own, far = control(ob, name), 0.8 if random.random() < 0.3 else 0.15
        if situation == 0:
            own.location = own.location + Vector(random.normal(0.0, far, 3))
            rigs.update()
        frames = ((), (1,), (1, 9, 20), (1, 20), range(1, 21))[situation]
        for frame in frames:
            rigs.keyed(own, frame, location=Vector(random.normal(0.0, far / (4.0 if situation == 4 else 1.0), 3)))
    for name in random.choice(["spine", "chest", "arm.L", "shin.R"], size=2, replace=False).tolist():
        bone = ob.pose.bones[name]
        for frame in (1, 20) if situation in (3, 4) and random.random() < 0.5 else ():
            rigs.posed(bone, Euler(random.normal(0.0, 0.3, 3)).to_quaternion(), frame)


# dense keys, a few, and none, with controls out of reach
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.newest) for seed in (5, 6, 11, 57))])
def test_whatever_moves_a_body_controls_that_come_later_move_nothing_on_any_frame(seed: int) -> None:
    """Kinds at random, one after the other, at frames at random; those that are there already too."""
    random = np.random.default_rng(seed)
    ob = rigs.set_up(at_ease(figure()))
    keyed_at_random(ob, random)
    rigs.at_frame(float(random.integers(1, 20)))
    frames = (1, 5.5, 20)
    for kind in random.permutation([*sorted(ALL), *sorted(ALL)[:2]]).tolist():
        before, frame = frames_of(ob, frames), int(random.integers(1, 20))
        rigs.at_frame(frame)
        bpy.ops.dqik.setup_full_body(controls={kind})
        rigs.update()
        now, after = film_here(ob), frames_of(ob, frames)
        assert np.abs(after - before)[..., :3, 3].max() < 1e-5 * HEIGHT, kind
        assert np.degrees(rigs.turn(after, before)) < 0.1, kind
        rigs.at_frame(frame)
        assert np.abs(film_here(ob) - now).max() < 1e-5, kind


def test_shoulders_stay_when_the_control_on_which_they_hang_goes() -> None:
    """The chest's control was turned while it leads nothing; the shoulders' hang on that of the hips then."""
    ob = rigs.set_up(at_ease(figure()), controls={"CHEST", "SHOULDERS"})
    rigs.goal_of(ob, "chest").influence = 0.0
    control(ob, "chest").rotation_quaternion = Euler((0.3, 0.2, 0.4)).to_quaternion()
    rigs.update()
    before = places(ob)
    ob.dqik.active_goal = ob.dqik.goals.find("chest")
    assert bpy.ops.dqik.goal_remove() == {"FINISHED"}
    rigs.update()
    assert control(ob, "collar.L").parent.name == "DQIK hips"
    assert moved(before, places(ob)) < STILL


def test_controls_on_a_keyed_body_lead_where_their_influence_is_raised() -> None:
    """Put at the pose first, they keep it there; moved, the body follows."""
    ob = rigs.set_up(at_ease(figure()))
    for frame, way in ((1, 0.0), (20, 0.08)):
        for name in ("hips", "hand.L"):
            rigs.keyed(control(ob, name), frame, location=(0.0, -way, -way))
    rigs.at_frame(20)
    assert bpy.ops.dqik.setup_full_body(controls={"CHEST", "KNEES"}) == {"FINISHED"}
    before = places(ob)
    assert bpy.ops.dqik.targets_to_pose(all=True) == {"FINISHED"}
    for goal in ob.dqik.goals:
        goal.influence, goal.use_pole = 1.0, True
    rigs.update()
    assert moved(before, places(ob)) < 0.01 * HEIGHT
    shift(ob, "chest", (0.0, -0.1, -0.02))
    assert way_of(ob, "chest", before).y < -0.05
    only("knee.R", ob).location += Vector((0.2, 0.0, 0.0))
    rigs.update()
    assert way_of(ob, "shin.R", before).x > 0.01
