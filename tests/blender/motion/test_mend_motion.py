# SPDX-License-Identifier: GPL-3.0-or-later
"""Mend Motion in Blender on a captured clip whose feet slide: planted as Blender shows them, and nothing is lost."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
import rigs
from build_zip import ROOT
from captured import imported
from mathutils import Vector

LAST = 120
HOLDS = (56, 74)
FEET = ("LeftFoot", "RightFoot")
BODY = {"Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"}


@pytest.fixture
def clip() -> bpy.types.Object:
    return captured()


def captured(mode: str = "QUATERNION", slide: float = 1.1) -> bpy.types.Object:
    """The captured clip, with the way of its hips scaled."""
    ob, scene = imported(ROOT / "examples" / "cmu_01_01.bvh", mode), bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps_base = 1, LAST, 1.0
    for curve in rigs.fcurves(ob):
        if curve.data_path == 'pose.bones["Hips"].location' and curve.array_index != 1:
            first = curve.keyframe_points[0].co[1]
            for key in curve.keyframe_points:
                key.co[1] = first + slide * (key.co[1] - first)
            curve.update()
    return rigs.pose_mode(ob)


def film(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """The world places of the joints of the legs on all frames."""
    names = [*sorted(BODY - {"Hips"}), "LeftToeBase", "RightToeBase"]
    found = np.array([[rigs.head(ob, name) for name in names] for _ in rigs.visited(range(1, LAST + 1))])
    return dict(zip(names, found.swapaxes(0, 1), strict=True))


def knees(places: dict[str, np.ndarray]) -> np.ndarray:
    """The bends (F, 2) of the knees in degrees."""
    found = []
    for side in ("Left", "Right"):
        upper, lower = (places[side + low] - places[side + up] for up, low in pairwise(("UpLeg", "Leg", "Foot")))
        cosine = (upper * lower).sum(-1) / np.linalg.norm(upper, axis=-1) / np.linalg.norm(lower, axis=-1)
        found.append(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
    return np.array(found).T


def standing(places: dict[str, np.ndarray], side: str, height: float) -> np.ndarray:
    """The steps inside a stance: ball and ankle of a foot are slow at once, so that all of it stands."""
    steps = [np.linalg.norm(np.diff(places[side + joint], axis=0), axis=-1) * 30.0 for joint in ("ToeBase", "Foot")]
    stands = np.max(steps, axis=0) < 0.06 * height
    stands[1:-1] &= stands[:-2] & stands[2:]
    return stands


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_feet_stand_as_blender_shows_them(mode: str) -> None:
    """Wherever the whole foot is slow, its ball and ankle do not move at all; the knees hardly change."""
    ob = captured(mode)
    before, height = film(ob), 1.7
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    after = film(ob)
    for side in ("Left", "Right"):
        stands = standing(before, side, height)
        assert stands.sum() > 10
        for joint in ("ToeBase", "Foot"):
            slid, slides = (np.linalg.norm(np.diff(one[side + joint], axis=0), axis=-1)[stands] for one in
                            (before, after))  # fmt: skip
            assert slid.max() > 1e-3
            if joint == "ToeBase":
                assert slides.mean() < 0.01 * slid.mean()
    changed = np.abs(knees(before) - knees(after))
    assert np.median(changed) < 2.0
    assert changed.max() < 12.0
    for side in ("Left", "Right"):  # bones keep their lengths
        for up, low in pairwise(("UpLeg", "Leg", "Foot")):
            lengths = [np.linalg.norm(one[side + low] - one[side + up], axis=-1) for one in (before, after)]
            assert lengths[0] == pytest.approx(lengths[1], abs=1e-4)


def test_a_foot_that_does_not_inherit_rotation_stands_too() -> None:
    """Its ball keeps its place in every stance: only its own channels turn it, whatever thigh and shin do."""
    ob = captured()
    turns = [rigs.evaluated(ob).pose.bones["LeftFoot"].matrix.copy() for _ in rigs.visited(range(1, LAST + 1))]
    bone = ob.pose.bones["LeftFoot"]
    bone.bone.use_inherit_rotation = False
    back = bone.bone.matrix_local.to_quaternion().inverted()
    rigs.key_path(bone, range(1, LAST + 1), [back @ turn.to_quaternion() for turn in turns], "rotation_quaternion")
    before = film(ob)
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    after = film(ob)
    stands = standing(before, "Left", 1.7)
    slid, slides = (np.linalg.norm(np.diff(one["LeftToeBase"], axis=0), axis=-1)[stands] for one in (before, after))
    assert stands.sum() > 10 and slides.mean() < 0.02 * slid.mean()


def test_the_old_action_stays_and_only_legs_and_hips_are_keyed_anew(clip: bpy.types.Object) -> None:
    old = clip.animation_data.action
    before = rigs.keys(clip)
    rigs.at_frame(7)
    bpy.ops.dqik.mend_motion(frame_start=1, frame_end=LAST)
    new = clip.animation_data.action
    assert new != old
    assert old.use_fake_user
    assert bpy.context.scene.frame_current == 7
    changed = {path.split('"')[1] for (path, index), own in rigs.keys(clip).items() if own != before[path, index]}
    assert changed <= BODY
    assert set(FEET) <= changed
    clip.animation_data.action = old
    assert rigs.keys(clip) == before


def test_a_scaled_figure_on_a_moved_parent_is_mended_alike() -> None:
    """Feet stand in the world, and where they stand is the same place on the figure."""
    reference = captured()
    bpy.ops.dqik.mend_motion()
    wanted = film(reference)
    bpy.ops.object.mode_set(mode="OBJECT")
    reference.hide_viewport = True
    ob = captured()
    ob.parent = rigs.empty((3.0, 1.0, 0.5))
    ob.parent.rotation_euler = (0.0, 0.0, 1.0)
    ob.scale = (2.0, 2.0, 2.0)
    rigs.update()
    rigs.pose_mode(ob)
    bpy.ops.dqik.mend_motion()
    whole = np.array(ob.matrix_world @ reference.matrix_world.inverted())
    for name, places in film(ob).items():
        assert places == pytest.approx(wanted[name] @ whole[:3, :3].T + whole[:3, 3], abs=2e-3)


def test_a_bone_is_no_further_outside_its_limits_than_it_was_captured(clip: bpy.types.Object) -> None:
    """A knee that may bend by 30 degrees, and bends further in the clip; its foot is planted nevertheless."""
    rigs.limit(clip.pose.bones["LeftLeg"], (-3, 3), (-30, 30), (-5, 5))

    def bent() -> np.ndarray:
        return np.array([rigs.twist_and_swing(rigs.channel_rotation(rigs.evaluated(clip).pose.bones["LeftLeg"]))
                         for _ in rigs.visited(range(1, LAST + 1))])  # fmt: skip

    before = bent()
    bpy.ops.dqik.mend_motion()
    most = np.maximum(np.abs(before).max(0), [3, 30, 5]) + 0.01
    assert most[1] > 45.0
    assert (np.abs(bent()) < most).all()
    places = film(clip)
    stands = standing(places, "Left", 1.7)
    slid = np.linalg.norm(np.diff(places["LeftToeBase"], axis=0), axis=-1)[stands]
    assert slid.mean() < 1e-3


def test_contacts_that_would_slide_more_are_refused(clip: bpy.types.Object) -> None:
    """Knees that can only be bent as they are cannot put feet that stand on a slope; nothing is changed."""
    bpy.ops.dqik.mend_motion()
    action, before = clip.animation_data.action, film(clip)
    for name in ("LeftLeg", "RightLeg"):
        rigs.limit(clip.pose.bones[name], (0, 0), (0, 0), (0, 0))
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_plane_add(size=40.0, rotation=(0.0, 0.2, 0.0))
    slope = bpy.context.object.name
    rigs.pose_mode(clip)
    rigs.refuses(bpy.ops.dqik.mend_motion, "Contacts of 'cmu_01_01' would slide .* switch off the limits",
                 original=False, ground="MESH", ground_object=slope)  # fmt: skip
    assert clip.animation_data.action == action
    assert all((places == before[name]).all() for name, places in film(clip).items())


def test_feet_are_put_on_a_mesh_that_is_chosen(clip: bpy.types.Object) -> None:
    """On a slope of 2 cm a metre all stances of the balls are as high over the slope, at most 1 mm apart."""
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_plane_add(size=40.0, rotation=(0.02, 0.0, 0.0))
    slope = bpy.context.object
    rigs.pose_mode(clip)
    unmended = film(clip)
    lowest = min(unmended[side + "ToeBase"][:, 2].min() for side in ("Left", "Right"))
    slope.location.z = lowest - 0.01
    rigs.update()
    rigs.refuses(bpy.ops.dqik.mend_motion, "Choose the mesh on which the figure moves", ground="MESH")
    assert bpy.ops.dqik.mend_motion(ground="MESH", ground_object=slope.name) == {"FINISHED"}
    after = film(clip)
    over = []
    for side in ("Left", "Right"):
        ball = after[side + "ToeBase"]
        still = np.flatnonzero(np.linalg.norm(np.diff(ball, axis=0), axis=-1) < 1e-5)
        over += [place[2] - (slope.location.z + np.tan(0.02) * place[1]) for place in ball[still]]
    assert len(over) > 30
    assert np.ptp(over) < 1e-3


def test_feet_on_a_mesh_that_moves_go_with_it() -> None:
    """On a lift that rises, turns and goes aside, the figure is mended as on one that stands, as seen from the lift."""
    wanted, shown = list[dict[str, np.ndarray]](), np.tile(np.eye(4), (LAST, 1, 1))
    for moves in (False, True):
        ob = captured()
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.mesh.primitive_plane_add(size=40.0)
        lift = bpy.context.object
        ob.parent = lift
        for frame in range(1, LAST + 1) if moves else ():
            place = (0.004 * frame, 0.0, 0.5 * np.sin(0.03 * frame))
            rigs.keyed(lift, frame, location=place, rotation_euler=(0.0, 0.0, 0.004 * frame))
        rigs.update()
        rigs.pose_mode(ob)
        assert bpy.ops.dqik.mend_motion(ground="MESH", ground_object=lift.name) == {"FINISHED"}
        if moves:
            shown = np.array([np.array(rigs.evaluated(lift).matrix_world) for _ in rigs.visited(range(1, LAST + 1))])
        back = np.linalg.inv(shown)
        wanted.append({name: np.einsum("fij,fj->fi", back[:, :3, :3], places) + back[:, :3, 3]
                       for name, places in film(ob).items()})  # fmt: skip
        bpy.ops.object.mode_set(mode="OBJECT")
        ob.hide_viewport = lift.hide_viewport = True
    for name, places in wanted[0].items():
        assert wanted[1][name] == pytest.approx(places, abs=1e-3), name


def holding(clip: bpy.types.Object) -> bpy.types.Object:
    """The clip with a hand that is baked to a place while the body passes, and trembles there by two millimetres."""
    frames = range(HOLDS[0], HOLDS[1] + 1)
    rigs.at_frame((HOLDS[0] + HOLDS[1]) // 2)
    target = rigs.empty(rigs.head(clip, "LeftHand"))
    way = [rigs.place(target) + 0.0025 * Vector((np.sin(0.7 * frame), np.cos(0.5 * frame), 0.0)) for frame in frames]
    rigs.key_path(target, frames, way)
    rigs.pose_mode(clip)
    rigs.goal(clip, "LeftHand", target, chain_length=3, use_tail=False)
    bpy.ops.dqik.bake(frame_start=HOLDS[0], frame_end=HOLDS[1], action="CURRENT", clear_goals=True)
    return clip


def steps_of(ob: bpy.types.Object, bone: str, first: int, last: int) -> np.ndarray:
    """The steps of a bone's head from frame to frame."""
    places = [rigs.head(ob, bone) for _ in rigs.visited(range(first, last + 1))]
    return np.linalg.norm(np.diff(places, axis=0), axis=-1)


def over(last: int) -> bpy.types.Object:
    """A figure in a scene of so many frames, 30 a second."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, last, 30
    return rigs.figure()


def kneeling(drift: float = 0.002) -> bpy.types.Object:
    """A figure that kneels down on its toes and stays there for 24 frames, while all of it drifts backward."""
    ob, frames = over(48), range(1, 49)
    names = ("hips", *(f"{part}.{side}" for side in "LR" for part in ("thigh", "shin", "foot")))
    rest = {name: ob.data.bones[name].matrix_local.to_quaternion() for name in names}
    ball, knee_height, shin, thigh = Vector((0.0, -0.18, 0.02)), 0.07, 0.42, 0.45
    for frame in frames:
        low = float(np.clip((frame - 8) / 16.0, 0.0, 1.0))
        low = low * low * (3.0 - 2.0 * low)
        foot = 1.2 * low
        ankle = ball + rigs.rotation((1, 0, 0), np.degrees(foot)) @ (Vector((0.0, 0.0, 0.08)) - ball)
        rise = 0.5 + low * (knee_height - 0.5) - ankle.z
        knee = ankle + Vector((0.0, -np.sqrt(max(shin**2 - rise**2, 0.0)), rise))
        lean = 0.1 * low * np.sin(0.4 * frame)
        hip = knee + thigh * Vector((0.0, -np.sin(lean), np.cos(lean)))
        pitch = {"thigh": lean, "shin": np.arccos(min(rise / shin, 1.0)), "foot": foot}
        for name in names[1:]:
            part, above = name[:-2], {"thigh": 0.0, "shin": pitch["thigh"], "foot": pitch["shin"]}[name[:-2]]
            own = rigs.rotation((1, 0, 0), np.degrees(pitch[part] - above))
            rigs.keyed(ob.pose.bones[name], frame, rotation_quaternion=rest[name].inverted() @ own @ rest[name])
        ob.pose.bones["hips"].location = rest["hips"].inverted() @ (hip - Vector((0.0, -drift * frame, 0.95)))
        ob.pose.bones["hips"].keyframe_insert("location", frame=frame)
    return rigs.pose_mode(ob)


@pytest.mark.parametrize("ground", ["LOWEST", "LEVEL"])
def test_knees_that_rest_stay_where_they_are(ground: str) -> None:
    """As Blender shows them, on a floor that is known as high over it as they are thick; the toes stand too."""
    ob, knees = kneeling(), ("shin.L", "shin.R")
    for knee in knees:
        ob.pose.bones[knee].dqik_radius = 0.05
    before = [steps_of(ob, knee, 28, 48) for knee in knees]
    assert bpy.ops.dqik.mend_motion(ground=ground, ground_height=0.04) == {"FINISHED"}
    for number, knee in enumerate(knees):
        assert before[number].min() > 1e-3
        assert steps_of(ob, knee, 28, 48).max() < 1e-4
    for foot in ("foot.L", "foot.R"):
        places = [rigs.tail(ob, foot) for _ in rigs.visited(range(28, 49))]
        assert np.linalg.norm(np.diff(places, axis=0), axis=-1).max() < 1e-3
    rigs.at_frame(40)
    assert rigs.head(ob, "shin.L").z == pytest.approx(0.09 if ground == "LEVEL" else 0.07, abs=2e-3)
    assert {one.bone for one in ob.dqik.contacts if one.part == "KNEE"} == set(knees)


def sitting(drift: float = 0.002) -> bpy.types.Object:
    """A figure that sits down on a chair within 16 frames and stays there for 24, while all of it drifts backward."""
    ob = over(48)
    rest = {bone.name: bone.matrix_local.to_quaternion() for bone in ob.data.bones}
    ankle, start, end = Vector((0.0, 0.0, 0.08)), Vector((0.0, 0.0, 0.949)), Vector((0.0, 0.4, 0.55))
    for frame in range(1, 49):
        low = float(np.clip((frame - 8) / 16.0, 0.0, 1.0))
        hip = start.lerp(end, low * low * (3.0 - 2.0 * low))
        line = ankle - hip
        along = (0.45**2 - 0.42**2 + line.length**2) / (2.0 * line.length)
        ahead = Vector((0.0, line.z, -line.y)).normalized() * np.sqrt(0.45**2 - along**2)
        knee = hip + along * line.normalized() + ahead
        thigh, shin = (float(np.arctan2(part.y, -part.z)) for part in (knee - hip, ankle - knee))
        for side in "LR":
            for name, turned in (("thigh", thigh), ("shin", shin - thigh), ("foot", -shin)):
                bone, own = ob.pose.bones[f"{name}.{side}"], rest[f"{name}.{side}"]
                turn = rigs.rotation((1, 0, 0), np.degrees(turned))
                rigs.keyed(bone, frame, rotation_quaternion=own.inverted() @ turn @ own)
        hips = ob.pose.bones["hips"]
        rigs.keyed(hips, frame, location=rest["hips"].inverted() @ (hip + Vector((0.0, drift * frame, -0.95))))
    return rigs.pose_mode(ob)


def test_a_seat_that_slides_stays_where_it_is() -> None:
    """On a chair, with both feet on the floor, as Blender shows hips and feet."""
    ob = sitting()
    before = steps_of(ob, "hips", 28, 47)
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    assert [(one.bone, one.part) for one in ob.dqik.contacts if one.part == "SEAT"] == [("hips", "SEAT")]
    assert before.min() > 1e-3
    assert steps_of(ob, "hips", 28, 47).max() < 1e-4
    assert steps_of(ob, "foot.L", 28, 47).max() < 1e-4


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY"])
def test_who_lies_keeps_seat_and_shoulders_where_they_are(mode: str) -> None:
    """A figure lies on its back, slides by a millimetre a frame, and its trunk sways to both sides meanwhile."""
    ob = over(40)
    down, hips, spine = rigs.rotation((1, 0, 0), -90), ob.pose.bones["hips"], ob.pose.bones["spine"]
    rest = {bone.name: bone.matrix_local.to_quaternion() for bone in ob.data.bones}
    spine.rotation_mode = mode
    for frame in range(1, 41):
        hips.location = rest["hips"].inverted() @ Vector((0.001 * frame, 0.0, -0.9))
        hips.rotation_quaternion = rest["hips"].inverted() @ down @ rest["hips"]
        sway = rest["spine"].inverted() @ rigs.rotation((0, 1, 0), 2.0 * np.sin(0.3 * frame)) @ rest["spine"]
        spine.rotation_quaternion, spine.rotation_euler = sway, sway.to_euler(mode if mode != "QUATERNION" else "XYZ")
        for bone, path in ((hips, "location"), (hips, "rotation_quaternion"), (spine, rigs.ROTATION_PATHS[mode])):
            bone.keyframe_insert(path, frame=frame)
    bpy.ops.object.mode_set(mode="POSE")
    assert steps_of(ob, "neck", 1, 40).max() > 3e-3
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    contacts = [(one.bone, one.part, one.frame_start, one.frame_end) for one in ob.dqik.contacts]
    assert {("hips", "SEAT", 1, 40), ("chest", "BACK", 1, 40)} < set(contacts)
    for bone in ("hips", "collar.L", "neck"):
        assert steps_of(ob, bone, 1, 40).max() < 5e-4, bone


def leaping() -> tuple[bpy.types.Object, np.ndarray]:
    """A figure that leaps forward for half a second, with four frames of it 12 cm aside; and where its hips belong."""
    ob, last = over(48), 48
    inside = np.clip((np.arange(1, last + 1) - 16.0) / 30.0, 0.0, 0.5)
    true = np.stack([0.0 * inside, -1.5 * inside, 1.0 + 0.5 * 9.81 * inside * (0.5 - inside)], -1)
    hips, turned = ob.pose.bones["hips"], ob.data.bones["hips"].matrix_local.to_quaternion().inverted()
    for frame, place in enumerate(true, 1):
        aside = 0.12 if 22 <= frame < 26 else 0.0
        rigs.keyed(hips, frame, location=turned @ Vector(place - [0.0, 0.0, 1.0] + np.array([aside, 0.0, 0.0])))
        for side in "LR":
            for part in ("thigh", "shin", "foot"):
                ob.pose.bones[f"{part}.{side}"].keyframe_insert("rotation_quaternion", frame=frame)
    return rigs.pose_mode(ob), true


def test_a_figure_in_the_air_follows_its_curve_again_if_it_is_asked_to() -> None:
    """As Blender shows it; without the option what is aside stays aside, and feet stand alike."""
    ob, true = leaping()
    assert bpy.ops.dqik.mend_motion() == {"FINISHED"}
    before = np.array([rigs.head(ob, "hips") for _ in rigs.visited(range(1, 49))])
    assert before[21:25, 0].min() > 0.1
    assert bpy.ops.dqik.mend_motion(ballistic=True) == {"FINISHED"}
    after = np.array([rigs.head(ob, "hips") for _ in rigs.visited(range(1, 49))])
    assert after[17:30] == pytest.approx(true[17:30], abs=3e-3)
    assert steps_of(ob, "foot.L", 1, 13).max() < 1e-4


def test_what_cannot_be_mended_is_refused_in_one_sentence(clip: bpy.types.Object) -> None:
    action = clip.animation_data.action
    constraint = rigs.constrain(clip.pose.bones["LeftLeg"], "COPY_ROTATION", clip, subtarget="RightLeg")
    rigs.refuses(bpy.ops.dqik.mend_motion, "Constraints or drivers move 'LeftLeg': mute them first")
    constraint.mute = True
    clip.pose.bones["LeftFoot"].dqik_role = "NONE"
    rigs.refuses(bpy.ops.dqik.mend_motion, "no two legs that are recognised")
    clip.pose.bones["LeftFoot"].dqik_role = "AUTO"
    nothing = "No foot of .* stands on these frames, and no hand holds on"
    rigs.refuses(bpy.ops.dqik.mend_motion, nothing, ground="LEVEL", ground_height=-50.0)
    for few in ({"frame_start": 1, "frame_end": 2}, {"step": 1000}):
        rigs.refuses(bpy.ops.dqik.mend_motion, "No foot of .* stands on these frames", **few)
    assert clip.animation_data.action == action
    assert len(bpy.data.actions) == 1
    rigs.set_up(clip, from_animation=False)
    rigs.refuses(bpy.ops.dqik.mend_motion, "is moved by a goal: mute the goal, or bake first")
    clip.dqik.live, clip.animation_data.action = False, None
    rigs.refuses(bpy.ops.dqik.mend_motion, "has no action to mend: bake its motion first")
