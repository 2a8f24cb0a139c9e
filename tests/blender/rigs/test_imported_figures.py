# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures as importers and games leave them: bones of any length, loose feet, hair, further limbs."""

from collections.abc import Sequence
from math import degrees, radians, sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Vector
from rigs import Bone

SIDES = (("L", 1), ("R", -1))
FOOT = 0.15  # metres: how far ahead of its ankle the foot of a person ends
FRAMES = range(1, 25)


def person(name: str = "Person", foot: float = FOOT, loose: bool = False, up: float = 0.3) -> bpy.types.Object:
    """A person whose leaf foot bones have any length, or are no children of the shins. up : the slope of the feet."""
    bones = [
        Bone("Root", (0, 0, 0), (0, 0.1, 0)), Bone("Hips", (0, 0, 1), (0, 0, 1.1), "Root"),
        Bone("Spine", (0, 0, 1.1), (0, 0, 1.5), "Hips", True), Bone("Neck", (0, 0, 1.5), (0, 0, 1.6), "Spine", True),
        Bone("Head", (0, 0, 1.6), (0, 0, 1.8), "Neck", True),
    ]  # fmt: skip
    for side, k in SIDES:
        bones += [
            Bone(f"UpperArm.{side}", (0.2 * k, 0, 1.45), (0.45 * k, 0.02, 1.45), "Spine"),
            Bone(f"LowerArm.{side}", (0.45 * k, 0.02, 1.45), (0.7 * k, 0, 1.45), f"UpperArm.{side}", True),
            Bone(f"Hand.{side}", (0.7 * k, 0, 1.45), (0.8 * k, 0, 1.45), f"LowerArm.{side}", True),
            Bone(f"UpperLeg.{side}", (0.1 * k, 0, 0.95), (0.1 * k, -0.02, 0.52), "Hips"),
            Bone(f"LowerLeg.{side}", (0.1 * k, -0.02, 0.52), (0.1 * k, 0, 0.09), f"UpperLeg.{side}", True),
            Bone(f"Foot.{side}", (0.1 * k, 0, 0.09), (0.1 * k, -foot, 0.09 - up * foot),
                 "Root" if loose else f"LowerLeg.{side}", not loose),
        ]  # fmt: skip
    return rigs.armature(bones, name)


def skin(ob: bpy.types.Object, weights: dict[str, Sequence[tuple[float, float, float]]], name: str) -> bpy.types.Object:
    """A mesh of points that follow bones of an armature, without faces."""
    points = [point for own in weights.values() for point in own]
    mesh, first = rigs.child(rigs.mesh(points, name=name), ob), 0
    for bone, own in weights.items():
        mesh.vertex_groups.new(name=bone).add(range(first, first + len(own)), 1.0, "REPLACE")
        first += len(own)
    rigs.skin(ob, mesh)
    rigs.update()
    return mesh


def tube(start: Sequence[float], end: Sequence[float], radius: float) -> list[tuple[float, float, float]]:
    """Points around a line."""
    a, b = np.array(start, float), np.array(end, float)
    line = (b - a) / np.linalg.norm(b - a)
    across = np.cross(line, np.eye(3)[np.abs(line).argmin()])
    across /= np.linalg.norm(across)
    other = np.cross(line, across)
    return [tuple(a + t * (b - a) + radius * (np.cos(w) * across + np.sin(w) * other))
            for t in np.linspace(0, 1, 9) for w in np.linspace(0, 2 * np.pi, 12, endpoint=False)]  # fmt: skip


def shoe(k: int, heel: float, tip: float) -> list[tuple[float, float, float]]:
    """Points of a box that stands on the ground, from behind the ankle to before the toes."""
    return [(0.1 * k + x, y, z) for x in (-0.04, 0.0, 0.04) for y in np.linspace(heel, -tip, 12)
            for z in (0.0, 0.05, 0.1)]  # fmt: skip


def sole(ob: bpy.types.Object, name: str) -> tuple[Vector, Vector, Vector]:
    """Heel, ball and tip of a foot at rest."""
    foot, figures = (rigs.part(f"rig.figure.{part}") for part in ("foot", "character"))
    found = foot.of(ob, figures.Character.of(ob), ob.pose.bones.find(name))
    return tuple(Vector(point) for point in found[:3])


# -- ends of bones -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("up", [0.3, 0.0, 3.0])
@pytest.mark.parametrize("foot", [0.3, 0.43, 2.0, 13.0, 1e-4])
def test_a_foot_is_no_longer_than_its_leg_allows(foot: float, up: float) -> None:
    """Importers give leaf bones any length: heel and ball stay where those of people are, and so does the size."""
    heel, ball, _ = sole(person("A", foot / (1.0 + up), up=up), "Foot.L")
    assert 0.1 < -ball.y < 0.2
    assert -0.01 < heel.y < 0.1
    assert -0.05 < ball.z < 0.0901, "a level bone says that the sole is level with it"
    armature = rigs.part("rig.blender.armature").Armature(bpy.data.objects["A"])
    assert armature.size < 2.0 * 1.8


@pytest.mark.parametrize("foot", [0.2, 0.43, 6.0])
def test_a_motion_comes_over_from_far_tails(foot: float) -> None:
    """Legs of equal length swing alike, however long the foot bones of the source are."""
    source, ob = person("Source", foot), person("Other")
    for frame in FRAMES:
        swing = sin(frame * radians(18.0))
        angles = {"UpperLeg.L": 0.5 * swing, "UpperLeg.R": -0.5 * swing, "LowerLeg.L": -0.3 - 0.3 * swing,
                  "LowerLeg.R": -0.3 + 0.3 * swing}  # fmt: skip
        for name, angle in angles.items():
            source.pose.bones[name].rotation_mode = "XYZ"
            rigs.keyed(source.pose.bones[name], frame, rotation_euler=(angle, 0.0, 0.0))
    rigs.made_active(ob)
    assert bpy.ops.dqik.retarget(source="Source", frame_start=1, frame_end=FRAMES[-1]) == {"FINISHED"}
    for _ in rigs.visited(FRAMES):
        for upper, lower in (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot")):
            for side in "LR":
                lines = [rigs.head(one, f"{lower}.{side}") - rigs.head(one, f"{upper}.{side}") for one in (source, ob)]
                assert degrees(lines[0].angle(lines[1])) < 8.0


@pytest.mark.parametrize("foot", [FOOT, 0.43, 5.0])
def test_the_sole_is_that_of_the_mesh(foot: float) -> None:
    ob = person(foot=foot)
    skin(ob, {f"Foot.{side}": shoe(k, 0.08, 0.24) for side, k in SIDES}, "Shoes")
    heel, ball, tip = sole(ob, "Foot.L")
    assert (heel - Vector((0.1, 0.08, 0.0))).length < 0.02
    assert (tip - Vector((0.1, -0.24, 0.0))).length < 0.02
    assert ball.z == pytest.approx(0.0, abs=1e-5)
    assert 0.05 < -ball.y < 0.2


# -- skin --------------------------------------------------------------------------------------------------------------


def radii(ob: bpy.types.Object) -> dict[str, float]:
    """The measured radius of each bone that has a body."""
    capsules, figures = (rigs.part(f"rig.figure.{part}") for part in ("capsules", "character"))
    found = capsules.measured(ob, figures.Character.of(ob), {})
    return {ob.pose.bones[one.bone].name: one.radius for one in found}


def clothed(ob: bpy.types.Object) -> None:
    """A skin around each limb, trunk and head."""
    ends = {bone.name: (bone.head_local, bone.tail_local) for bone in ob.data.bones if bone.name != "Root"}
    skin(ob, {name: tube(*place, 0.05) for name, place in ends.items()}, "Body")


def hair(ob: bpy.types.Object) -> None:
    """Strands without any telling name, down to the hips."""
    for name, z, above in (("Strand0", 1.7, "Head"), ("Strand1", 1.4, "Strand0"), ("Strand2", 1.1, "Strand1")):
        rigs.add(ob, Bone(name, (0, 0.15, z), (0, 0.15, z - 0.3), above))
    skin(ob, {f"Strand{k}": tube((0, 0.5, 1.7 - 0.3 * k), (0, 0.5, 1.4 - 0.3 * k), 0.3) for k in range(3)}, "Strands")


def wig(ob: bpy.types.Object) -> None:
    """A mesh that only the head carries."""
    skin(ob, {"Head": tube((0, 0.3, 1.8), (0, 0.3, 0.9), 0.4)}, "Wig")


def sword(ob: bpy.types.Object) -> None:
    skin(ob, {"Hand.R": tube((-0.75, 0, 1.45), (-0.75, -1.0, 1.45), 0.2)}, "Blade")


def proxy(ob: bpy.types.Object) -> None:
    """A mesh that nothing shows."""
    mesh = skin(ob, {"Spine": tube((0, 0, 1.1), (0, 0, 1.5), 0.7), "Hips": tube((0, 0, 1), (0, 0, 1.1), 0.7)}, "Proxy")
    mesh.hide_viewport = mesh.hide_render = True


@pytest.mark.parametrize("worn", [hair, wig, sword, proxy])
def test_what_a_figure_wears_is_no_skin(worn) -> None:
    ob = person()
    clothed(ob)
    before = radii(ob)
    worn(ob)
    after = radii(ob)
    assert {name: after[name] for name in before} == pytest.approx(before, rel=1e-3)


@pytest.mark.parametrize("length", [0.02, 0.3, 1.0, 9.0])
def test_tails_and_crowns_make_no_limb_thicker(length: float) -> None:
    """Without a mesh, the joints of a person tell how thick its limbs are."""
    ob = person()
    before = radii(ob)
    random = np.random.default_rng(1)
    with rigs.edit_mode(ob) as bones:
        for bone in bones:
            bone.use_connect = False
        for bone in bones:
            bone.tail = bone.head + length * Vector(random.normal(size=3)).normalized()
        crown = bones.new("HeadNub")
        crown.head, crown.tail, crown.parent = (0.0, 0.0, 2.4), (0.0, 0.0, 2.5), bones["Head"]
    after = radii(ob)
    assert {name: after[name] for name in before} == pytest.approx(before, rel=1e-3)


def test_a_far_tail_on_one_side_makes_both_feet_alike() -> None:
    """A tail that happens to be near may point anywhere: into the ground."""
    ob = person()
    with_toes(ob)
    with rigs.edit_mode(ob) as bones:
        for side, line in (("L", (0.0, -0.06, -0.06)), ("R", (5.0, 1.0, 3.0))):
            toes = bones[f"NPC {side} Toe0 [{side}Toe]"]
            toes.tail = toes.head + Vector(line)
    left, right = (sole(ob, f"Foot.{side}") for side, _ in SIDES)
    for one, other in zip(left, right, strict=True):
        assert tuple(one) == pytest.approx((-other.x, other.y, other.z), abs=1e-4)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_feet_point_ahead_where_all_bones_lie_along_one_axis(axis: tuple[float, float, float]) -> None:
    ob = person()
    with rigs.edit_mode(ob) as bones:
        for bone in bones:
            bone.use_connect = False
        for bone in bones:
            bone.tail = bone.head + 0.08 * Vector(axis)
    for side, k in SIDES:
        heel, ball, _ = sole(ob, f"Foot.{side}")
        assert tuple((ball - heel).normalized()) == pytest.approx((0.0, -1.0, 0.0), abs=1e-3)
        assert ball.x == pytest.approx(0.1 * k, abs=1e-3)
        assert 0.08 < -ball.y < 0.2
        assert heel.z < 0.08


# -- feet that are bones of their own ----------------------------------------------------------------------------------


def lifted(ob: bpy.types.Object, by: Sequence[float], turn: float = 0.0) -> bpy.types.PoseBone:
    """Move the control of the left foot; returns it."""
    control = rigs.owner_of(ob, "Foot.L")
    place = Matrix.Translation(control.matrix.translation + Vector(by))
    control.matrix = place @ Matrix.Rotation(turn, 4, "X") @ control.matrix.to_quaternion().to_matrix().to_4x4()
    rigs.update()
    return control


def assert_on_leg(ob: bpy.types.Object, side: str = "L") -> None:
    assert (rigs.head(ob, f"Foot.{side}") - rigs.tail(ob, f"LowerLeg.{side}")).length < 2e-3


@pytest.mark.parametrize("chosen", [False, True])
def test_a_loose_foot_goes_with_its_control_and_its_leg(chosen: bool) -> None:
    """Recognised or chosen by its role; lifted, turned, rolled, baked."""
    ob = person(loose=True)
    for side in "LR" if chosen else "":
        ob.pose.bones[f"Foot.{side}"].dqik_role = f"FOOT_{side}"
    rigs.set_up(ob)
    before = rigs.head(ob, "Foot.L")
    control = lifted(ob, (0.0, -0.1, 0.25), 0.4)
    assert (rigs.head(ob, "Foot.L") - before - Vector((0.0, -0.1, 0.25))).length < 2e-3
    assert_on_leg(ob)
    assert ob.dqik.status.converged
    turned = rigs.evaluated(ob).pose.bones["Foot.L"].matrix.to_quaternion()
    assert turned.rotation_difference(control.matrix.to_quaternion()).angle < 2e-3
    control.dqik_roll = 0.4
    rigs.update()
    assert_on_leg(ob)
    shown = rigs.matrices(ob)
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=1) == {"FINISHED"}
    rigs.at_frame(1)
    assert rigs.turn(shown, rigs.matrices(ob)) < 1e-3


@pytest.mark.parametrize("follow", [False, True])
def test_a_loose_foot_goes_with_its_empty_and_its_leg(follow: bool) -> None:
    """The target of the leg is a child of the foot's, at the end of the shin."""
    ob = person(loose=True)
    ob.location, ob.dqik.targets_follow = (1.0, 2.0, 0.5), follow
    rigs.update()
    rigs.set_up(ob, targets="EMPTIES")
    assert rigs.miss(ob, "LowerLeg.L", rigs.goal_of(ob, "LowerLeg.L").target) < 1e-4
    rigs.goal_of(ob, "Foot.L").target.location += Vector((0.0, -0.1, 0.25))
    rigs.update()
    assert_on_leg(ob)
    assert ob.dqik.status.converged


@pytest.mark.parametrize("name", ["foot_ik", "LegIK", "ik_leg"])
def test_a_loose_foot_may_have_the_name_of_an_ik_control(name: str) -> None:
    """As exporters bake them. A control of another use near it is no foot."""
    ob = person(loose=True)
    for side, k in SIDES:
        ob.data.bones[f"Foot.{side}"].name = f"{name}.{side}"
        rigs.add(ob, Bone(f"leg_pole.{side}", (0.1 * k, -0.5, 0.5), (0.1 * k, -0.6, 0.5), "Root"))
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert {f"{name}.L", f"{name}.R"} <= goal_bones(ob)
    assert not any("pole" in bone for bone in goal_bones(ob))


def test_a_loose_foot_in_a_short_shin_is_reached() -> None:
    """Importers give shins without children no length; what hangs on one stays where it is.

    Blender evaluates the half-made figure on the way: it is of this version, so its natural pose stays on.
    """
    ob = person(loose=True)
    with rigs.edit_mode(ob) as bones:
        for side in "LR":
            bones[f"LowerLeg.{side}"].length = 0.01
    held = rigs.child(rigs.empty((0.1, 0.0, 0.2)), ob, "LowerLeg.L")
    before = rigs.place(held)
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert (rigs.place(held) - before).length < 1e-5
    assert ob.dqik.natural_pose == 1.0
    rigs.live(ob)
    lifted(ob, (0.0, -0.1, 0.2))
    assert_on_leg(ob)


def test_loose_feet_are_taken_back_with_their_goals() -> None:
    ob = person(loose=True)
    bpy.ops.dqik.setup_full_body()
    assert ob.pose.bones["Foot.L"].dqik_translate
    assert bpy.ops.dqik.goals_clear() == {"FINISHED"}
    assert not ob.pose.bones["Foot.L"].dqik_translate


def test_a_leg_with_a_loose_foot_goes_to_fk_and_back() -> None:
    """The control of the foot switches the goals of both, and nothing moves."""
    ob = person(loose=True)
    rigs.set_up(ob)
    control = lifted(ob, (0.0, -0.1, 0.2), 0.3)
    body = [number for number, bone in enumerate(ob.pose.bones) if bone.bone.use_deform]
    shown = rigs.matrices(ob)[body]
    rigs.select(ob, control.name)
    for switch, influence in ((bpy.ops.dqik.limb_to_fk, 0.0), (bpy.ops.dqik.limb_to_ik, 1.0)):
        assert switch() == {"FINISHED"}
        rigs.update()
        assert [goal.influence for goal in ob.dqik.goals if goal.bone in ("Foot.L", "LowerLeg.L")] == [influence] * 2
        assert rigs.turn(shown, rigs.matrices(ob)[body]) < 1e-3
        assert_on_leg(ob)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_motion_with_loose_feet_stays_as_it_was() -> None:
    """Also where the foot leaves its leg, as in motions that were baked from IK."""
    ob = person(loose=True)
    for frame in (1, 10, 20):
        for name, value in (("Foot.L", 0.02 * frame), ("UpperLeg.L", 0.02 * frame)):
            bone = ob.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.location.y = value if name == "Foot.L" else 0.0
            bone.rotation_euler.x = value
            rigs.key(bone, frame)

    def places() -> np.ndarray:
        return np.array([[rigs.head(ob, name) for name in ("Foot.L", "LowerLeg.L", "Head")]
                         for _ in rigs.visited((1, 7, 20))])  # fmt: skip

    before = places()
    rigs.set_up(ob)
    assert np.linalg.norm(places() - before, axis=-1).max() < 2e-3


# -- limbs of all kinds ------------------------------------------------------------------------------------------------


def goal_bones(ob: bpy.types.Object) -> set[str]:
    return {goal.bone for goal in ob.dqik.goals}


def test_a_snake_is_led_by_its_head() -> None:
    """A figure without limbs has a goal on the head that its trunk carries. A prop that is named Head has none."""
    links = ["Root", "Body", "Chest", "Neck", "Head", "Mouth"]
    rows = [Bone(name, (0, -0.3 * k, 0.1 * k * k), (0, -0.3 * (k + 1), 0.1 * (k + 1) ** 2), links[k - 1] if k else "")
            for k, name in enumerate(links)]  # fmt: skip
    rows += [Bone("Tail", (0, 0, 0), (0, 0.3, 0), "Root"), Bone("Tail1", (0, 0.3, 0), (0, 0.6, 0), "Tail")]
    ob = rigs.made_active(rigs.armature(rows, "Snake"))
    rigs.set_up(ob, targets="EMPTIES")
    assert goal_bones(ob) == {"Head"}
    target = rigs.goal_of(ob, "Head").target
    target.location += Vector((0.3, 0.1, -0.2))
    rigs.update()
    assert (rigs.head(ob, "Head") - rigs.place(target)).length < 1e-4
    rigs.made_active(rigs.armature([Bone("Head", (0, 0, 0), (0, 0, 1)), Bone("Jaw", (0, 0, 1), (0, 0, 2), "Head")]))
    assert bpy.ops.dqik.setup_full_body() == {"CANCELLED"}


def test_a_birds_hock_is_no_knee() -> None:
    """A robot with bird legs and right names, one of them facing each way: its left stays its left."""
    for turn in (1, -1):
        rows = [Bone("Body", (0, 0, 2.6), (0, 0, 3)), Bone("Torso", (0, 0, 3), (0, 0, 4), "Body", True),
                Bone("Head", (0, 0, 4.2), (0, 0, 4.8), "Torso")]  # fmt: skip
        for side, k in SIDES:
            path = [(k, 0.1 * turn, 2.6), (0.95 * k, -turn, 1.8), (0.95 * k, 0.5 * turn, 1.1),
                    (0.9 * k, -0.9 * turn, 0.1), (0.9 * k, -1.4 * turn, 0)]  # fmt: skip
            names = ("UpperLeg", "MidLeg", "LowerLeg", "Foot")
            rows += [Bone(f"{name}.{side}", path[n], path[n + 1], f"{names[n - 1]}.{side}" if n else "Body", n > 0)
                     for n, name in enumerate(names)]  # fmt: skip
            rows += [Bone(f"UpperArm.{side}", (0.8 * k, 0, 4), (1.9 * k, 0, 3.9), "Torso"),
                     Bone(f"LowerArm.{side}", (1.9 * k, 0, 3.9), (3 * k, -0.2 * turn, 3.8), f"UpperArm.{side}", True),
                     Bone(f"Hand.{side}", (3 * k, -0.2, 3.8), (3.3 * k, -0.3, 3.8), f"LowerArm.{side}")]  # fmt: skip
        ob = rigs.armature(rows)
        for bone, (_, side) in rigs.roles(ob).items():
            assert side == bone[-1:] * (bone[-2] == ".")


@pytest.mark.parametrize("hands", [True, False])
def test_a_person_with_numbers_for_names_needs_no_feet(hands: bool) -> None:
    """Limbs of two bones are known by the shape of the figure, and have goals at their ends."""
    ob = person()
    with rigs.edit_mode(ob) as bones:
        for bone in [one for one in bones if "Foot" in one.name or ("Hand" in one.name and not hands)]:
            bones.remove(bone)
    numbers = {bone.name: f"bone_{number:03}" for number, bone in enumerate(ob.data.bones)}
    for bone in ob.data.bones:
        bone.name = numbers[bone.name]
    found = {role: bone for bone, role in rigs.roles(ob).items()}
    for part, name in (("thigh", "UpperLeg"), ("shin", "LowerLeg"), ("arm", "UpperArm"), ("forearm", "LowerArm")):
        for side in "LR":
            assert found[part, side] == numbers[f"{name}.{side}"]
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert {numbers["LowerLeg.L"], numbers["LowerLeg.R"]} <= goal_bones(ob)


def test_a_short_form_in_brackets_says_nothing_of_a_loose_foot() -> None:
    """As in "NPC R Foot [Rft ]", of which "rft" is no word for a side."""
    ob = person(loose=True)
    with_toes(ob)
    names = {"UpperArm": ("UpperArm", "Uar"), "LowerArm": ("Forearm", "Lar"), "Hand": ("Hand", "Hnd"),
             "UpperLeg": ("Thigh", "Thg"), "LowerLeg": ("Calf", "Clf"), "Foot": ("Foot", "ft ")}  # fmt: skip
    for part, (word, short) in names.items():
        for side, _ in SIDES:
            ob.data.bones[f"{part}.{side}"].name = f"NPC {side} {word} [{side}{short}]"
    found = rigs.roles(ob)
    for side, _ in SIDES:
        assert found[f"NPC {side} Foot [{side}ft ]"] == ("foot", side)
        assert found[f"NPC {side} Toe0 [{side}Toe]"] == ("toes", side)
        assert found[f"NPC {side} Calf [{side}Clf]"] == ("shin", side)


@pytest.mark.parametrize(("thigh", "shin", "foot"), [("Leg_01", "Leg_02", "Leg_03"), ("Thigh", "ひざ", "足"),
                                                     ("Leg1", "Leg2", "Ankle")])  # fmt: skip
def test_a_loose_foot_may_have_the_name_of_its_leg(thigh: str, shin: str, foot: str) -> None:
    ob = person(loose=True)
    for part, name in (("UpperLeg", thigh), ("LowerLeg", shin), ("Foot", foot)):
        for side, _ in SIDES:
            ob.data.bones[f"{part}.{side}"].name = f"{name}.{side}"
    bones = [bone.name for bone in ob.data.bones if bone.name[-2:] == ".L" and "Arm" not in bone.name]
    found = rigs.roles(ob)
    assert [found.get(name) for name in bones if "Hand" not in name] == [
        (part, "L") for part in ("thigh", "shin", "foot")]  # fmt: skip


@pytest.mark.parametrize("collar", [0.06, 0.18, 0.25, 0.3])
def test_a_collar_bone_is_no_upper_arm_however_long_it_is(collar: float) -> None:
    """In names that number the bones of limbs, shape alone tells an upper arm, but not against the name of a collar."""
    ob = person()
    with_collars(ob, collar)
    names = {"UpperArm": "Arm_01", "LowerArm": "Arm_02", "Hand": "Arm_03",
             "UpperLeg": "Leg_01", "LowerLeg": "Leg_02", "Foot": "Leg_03"}  # fmt: skip
    for part, name in names.items():
        for side, _ in SIDES:
            ob.data.bones[f"{part}.{side}"].name = f"{side}_{name}"
    found = rigs.roles(ob)
    for side, _ in SIDES:
        arm = [f"{side}_Clav", *(f"{side}_Arm_0{number}" for number in (1, 2, 3))]
        assert [found.get(name) for name in arm] == [(part, side) for part in ("collar", "arm", "forearm", "hand")]


def with_toes(ob: bpy.types.Object) -> None:
    """Put toes at the ends of feet."""
    with rigs.edit_mode(ob) as bones:
        for side, _ in SIDES:
            foot, toes = bones[f"Foot.{side}"], bones.new(f"NPC {side} Toe0 [{side}Toe]")
            toes.head, toes.tail, toes.parent = foot.tail, foot.tail + Vector((0.0, -0.06, -0.02)), foot


def with_collars(ob: bpy.types.Object, length: float) -> None:
    """Put collar bones of some length between spine and arms."""
    with rigs.edit_mode(ob) as bones:
        for side, k in SIDES:
            collar = bones.new(f"{side}_Clav")
            collar.tail = bones[f"UpperArm.{side}"].head
            collar.head = collar.tail - Vector((k * length, 0.0, 0.0))
            bones[f"LowerArm.{side}"].tail = (0.67 * k, 0.0, 1.45)
            collar.parent = bones["Spine"]
            bones[f"UpperArm.{side}"].parent = collar


def insect(pairs: int) -> bpy.types.Object:
    """A body with pairs of legs of three segments."""
    rows = [Bone("Root", (0, 0, 0.9), (0, -0.3, 0.9)), Bone("Body", (0, 0.1, 1.4), (0, -0.2, 1.4), "Root"),
            Bone("Head", (0, -0.4, 1.3), (0, -0.7, 1.3), "Body")]  # fmt: skip
    for number in range(pairs):
        y = -0.4 + 0.3 * number
        for side, k in SIDES:
            path = [(0.2 * k, y, 1.3), (0.8 * k, 2 * y, 1.9), (1.4 * k, 3.4 * y, 1.0), (1.6 * k, 4 * y, 0.0)]
            rows += [Bone(f"Leg{'ABCDE'[number]}{n}.{side}", path[n], path[n + 1],
                          f"Leg{'ABCDE'[number]}{n - 1}.{side}" if n else "Body", n > 0) for n in range(3)]  # fmt: skip
    return rigs.armature(rows)


@pytest.mark.parametrize("pairs", [3, 4, 5])
def test_every_leg_of_an_insect_has_a_goal_at_its_tip(pairs: int) -> None:
    ob = insect(pairs)
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    tips = {f"Leg{'ABCDE'[number]}2.{side}" for number in range(pairs) for side in "LR"}
    assert tips <= goal_bones(ob)
    rigs.live(ob)
    for goal in ob.dqik.goals:
        if goal.bone in tips:
            before, control = rigs.tail(ob, goal.bone), ob.pose.bones[goal.subtarget]
            assert goal.use_tail
            control.matrix = Matrix.Translation((0.0, 0.0, 0.2)) @ control.matrix
            assert (rigs.tail(ob, goal.bone) - before - Vector((0, 0, 0.2))).length < 5e-3, goal.bone


@pytest.mark.parametrize("end", ["end", "ik", "nub"])
def test_helper_bones_at_the_tips_of_further_limbs_get_no_goals(end: str) -> None:
    """Of the pair of legs that are neither arms nor legs of a figure: the last bone that is a leg's has the goal."""
    ob = insect(3)
    with rigs.edit_mode(ob) as bones:
        for tip in [bone for bone in bones if bone.name in ("LegA2.L", "LegA2.R")]:
            made = bones.new(f"{tip.name[:4]}_{end}{tip.name[-2:]}")
            made.head, made.tail, made.parent = tip.tail, tip.tail + Vector((0.0, -0.2, 0.0)), tip
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert {f"Leg{leg}2.{side}" for leg in "ABC" for side in "LR"} <= goal_bones(ob)
    assert not any(f"_{end}." in bone for bone in goal_bones(ob))


@pytest.mark.parametrize("front", [("FrontUpperLeg", "FrontLowerLeg", "FrontFoot"), ("Arm", "Forearm", "Hand"),
                                   ("A", "B", "C")])  # fmt: skip
@pytest.mark.parametrize("wing", [("Wing1", "Wing2", "Wing3"), ("wing_upper", "wing_lower", "wing_hand")])
def test_a_dragons_wings_are_wings(front: tuple[str, ...], wing: tuple[str, ...]) -> None:
    """Its front legs have the roles, and all six limbs have goals."""
    rows = [Bone("Hips", (0, 0.5, 1), (0, 0.3, 1.05)), Bone("Spine", (0, 0.3, 1.05), (0, -0.2, 1.1), "Hips", True),
            Bone("Chest", (0, -0.2, 1.1), (0, -0.6, 1.15), "Spine", True),
            Bone("Neck", (0, -0.6, 1.15), (0, -0.9, 1.5), "Chest", True),
            Bone("Head", (0, -0.9, 1.5), (0, -1.2, 1.5), "Neck", True)]  # fmt: skip
    back = ("BackUpperLeg", "BackLowerLeg", "BackFoot")
    for side, k in SIDES:
        for names, parent, path in (
            (back, "Hips", [(0.2, 0.5, 0.95), (0.25, 0.35, 0.55), (0.25, 0.6, 0.15), (0.25, 0.45, 0)]),
            (front, "Chest", [(0.2, -0.5, 1.05), (0.25, -0.4, 0.6), (0.25, -0.55, 0.15), (0.25, -0.7, 0)]),
            (wing, "Chest", [(0.1, -0.4, 1.2), (0.6, -0.3, 1.6), (1.2, -0.2, 1.4), (1.9, 0, 1.3)]),
        ):  # fmt: skip
            own = [(k * x, y, z) for x, y, z in path]
            rows += [Bone(f"{name}.{side}", own[n], own[n + 1], f"{names[n - 1]}.{side}" if n else parent, n > 0)
                     for n, name in enumerate(names)]  # fmt: skip
    ob = rigs.armature(rows)
    named = {role: bone for bone, role in rigs.roles(ob).items()}
    assert (named["arm", "L"], named["hand", "R"]) == (f"{front[0]}.L", f"{front[2]}.R")
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert {f"{names[2]}.{side}" for names in (back, front, wing) for side in "LR"} <= goal_bones(ob)


def test_ik_bones_of_unreal_stand_for_hands_and_feet() -> None:
    ob = person()
    with rigs.edit_mode(ob) as bones:
        for name, like, parent in (("ik_foot_root", "Root", "Root"), ("ik_foot_l", "Foot.L", "ik_foot_root"),
                                   ("ik_foot_r", "Foot.R", "ik_foot_root"), ("ik_hand_root", "Root", "Root"),
                                   ("ik_hand_gun", "Hand.R", "ik_hand_root"), ("ik_hand_l", "Hand.L", "ik_hand_gun"),
                                   ("ik_hand_r", "Hand.R", "ik_hand_gun")):  # fmt: skip
            made = bones.new(name)
            made.head, made.tail, made.roll = bones[like].head, bones[like].tail, bones[like].roll
            made.parent = bones[parent]
    roles = rigs.part("rig.figure.roles")
    armature = rigs.part("rig.blender.armature").Armature(ob)
    names = list(armature.index)
    found = roles.ik_followers(ob, armature, roles.read(ob, armature))
    assert {names[one]: names[other] for one, other in found.items()} == {
        "ik_foot_l": "Foot.L", "ik_foot_r": "Foot.R", "ik_hand_gun": "Hand.R", "ik_hand_l": "Hand.L",
        "ik_hand_r": "Hand.R",
    }  # fmt: skip


def test_a_thigh_in_the_place_of_its_pelvis_is_no_error() -> None:
    ob = rigs.armature([Bone("pelvis", (0, 0, 2), (0, 0, 2.2)), Bone("thigh", (0, 0, 2), (0, -0.05, 1), "pelvis"),
                        Bone("shin", (0, -0.05, 1), (0, 0, 0), "thigh", True)])  # fmt: skip
    target = rigs.empty((0, 0, 0))
    rigs.goal(ob, "shin", target, chain_length=2)
    ob.dqik.live = True
    target.location = (0.2, -0.3, 0.6)
    assert rigs.miss(ob, "shin", target) < 2e-3


def test_mend_motion_says_why_loose_feet_cannot_be_mended() -> None:
    """One sentence that names the figure and what to do; nothing is keyed."""
    ob = person(loose=True)
    for frame, angle in ((1, 0.0), (10, 0.3)):
        for bone in ob.pose.bones:
            bone.rotation_mode = "XYZ"
            rigs.keyed(bone, frame, rotation_euler=(angle, 0.0, 0.0))
    before = rigs.keys(ob)
    rigs.made_active(ob)
    rigs.refuses(bpy.ops.dqik.mend_motion, "feet or hands that are bones of their own")
    assert rigs.keys(ob).keys() == before.keys()
