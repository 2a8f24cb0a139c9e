# SPDX-License-Identifier: GPL-3.0-or-later
"""How Retarget fits a motion to a body: the stance, the speed, limbs, and what takes the way."""

from pathlib import Path

import bpy
import captured
import numpy as np
import pytest
import rigs
from mathutils import Euler, Vector
from test_retarget import FRAMES, LEG, apart, film, limbs_apart, retarget, walker, with_other_legs

GRAVITY, FEET = 9.81, ("foot.L", "foot.R")
SIDES = (("L", 1.0), ("R", -1.0))


def wide() -> bpy.types.Object:
    """A body with short legs and hips that are wider than the walker's."""
    ob = rigs.figure("Wide")
    with_other_legs(ob, 1.0)
    return ob


@pytest.mark.parametrize("stance", [0.0, 0.3, 1.0])
def test_the_stance_is_between_the_sources_and_the_bodys_own(stance: float) -> None:
    source, ob = walker(), wide()
    retarget(source, ob, stance=stance)
    foot = film(ob)["foot.L"][:, 0, 3]
    size = sum(ob.data.bones[f"{part}.L"].length for part in ("thigh", "shin")) / LEG
    scaled, own = size * source.data.bones["foot.L"].head_local.x, ob.data.bones["thigh.L"].head_local.x
    assert own - scaled > 0.05
    assert np.abs(foot - (scaled + stance * (own - scaled))).max() < 3e-3


def test_feet_that_stand_are_as_much_further_out_all_the_while(tmp_path: Path) -> None:
    """Also where the feet of captured people turn a little while they stand."""
    source, ob = captured.clip(tmp_path, range(60, 200)), wide()
    ways = []
    for one, stance, names in ((source, None, ("LeftFoot", "RightFoot")), (ob, 0.0, FEET), (ob, 1.0, FEET)):
        if stance is not None:
            retarget(source, ob, stance=stance)
        places = [[rigs.evaluated(one).pose.bones[name].head[:2] for name in names]
                  for _ in rigs.visited(range(1, 141))]  # fmt: skip
        ways.append(np.array(places))
    leg = sum(source.data.bones[name].length for name in ("LeftUpLeg", "LeftLeg"))
    slow = np.linalg.norm(np.diff(ways[0], axis=0), axis=-1) < 5e-3 * leg
    further = ways[2] - ways[1]
    stands = [(side, part) for side in range(2) for part in np.split(np.arange(139), np.flatnonzero(
        np.diff(slow[:, side].astype(int))) + 1) if slow[part[0], side] and len(part) > 4]  # fmt: skip
    assert len(stands) > 2
    assert np.linalg.norm(further, axis=-1).min() > 0.03
    for side, part in stands:
        assert np.ptp(further[part, side], axis=0).max() < 1e-4


def test_a_body_falls_as_fast_at_its_own_speed_as_all_bodies_do() -> None:
    source, ob = rigs.figure("Falling"), rigs.figure("Small")
    ob.scale = (0.25,) * 3
    rate = bpy.context.scene.render.fps
    for frame in range(1, 22):
        source.pose.bones["hips"].location = (0.0, -0.5 * GRAVITY * ((frame - 1) / rate) ** 2, 0.0)
        rigs.key(source.pose.bones["hips"], frame)
    rises = []
    for own_speed, frames in ((False, range(1, 22)), (True, range(1, 12))):
        retarget(source, ob, frame_start=1, frame_end=21, own_speed=own_speed)
        assert tuple(ob.animation_data.action.frame_range) == (frames[0], frames[-1])
        heights = [(ob.matrix_world @ rigs.evaluated(ob).pose.bones["hips"].head).z for _ in rigs.visited(frames)]
        rises.append(np.diff(heights, 2) * rate**2)
    assert np.allclose(rises[0], -0.25 * GRAVITY, rtol=0.02)
    assert np.allclose(rises[1], -GRAVITY, rtol=0.02)


def test_at_its_own_speed_a_body_has_the_same_poses() -> None:
    source, ob = walker(), rigs.figure("Small")
    ob.scale = (0.25,) * 3
    retarget(source, ob, frame_start=1, frame_end=21)
    usual = {name: shown[:21:2] for name, shown in film(ob).items()}
    retarget(source, ob, frame_start=1, frame_end=21, own_speed=True)
    place, angle = apart(usual, {name: shown[:11] for name, shown in film(ob).items()})
    assert place < 1e-3
    assert angle < 1.0


def test_options_that_are_left_out_are_those_of_the_figure() -> None:
    source, ob = walker(), wide()
    feet = []
    for kept, given in ((1.0, {"stance": 0.0}), (0.0, {}), (0.0, {"stance": 1.0}), (1.0, {})):
        ob.dqik.retarget.stance = kept
        retarget(source, ob, **given)
        feet.append(float(film(ob)["foot.L"][0, 0, 3]))
        assert ob.dqik.retarget.stance == kept
    assert feet[0] == pytest.approx(feet[1], abs=1e-6)
    assert feet[2] == pytest.approx(feet[3], abs=1e-6)
    assert feet[2] > feet[0] + 0.05


# -- limbs -------------------------------------------------------------------------------------------------------------


def with_long_arms(name: str) -> bpy.types.Object:
    arms = ("arm", "forearm", "hand")
    return rigs.reshape(rigs.figure(name), lambda bone, at: at * Vector((1.3 if bone.startswith(arms) else 1.0, 1, 1)))


def test_an_arm_is_between_angles_and_places() -> None:
    source, ob = walker(), with_long_arms("Body")
    hands = []
    for places in (0.0, 0.5, 1.0):
        ob.dqik.retarget.limbs.arm_l.places = places
        retarget(source, ob)
        hands.append(film(ob))
    theirs, own = film(source)["hand.L"], [shown["hand.L"][:, :3, 3] for shown in hands]
    assert np.abs(own[2] - theirs[:, :3, 3]).max() < 1e-3, "both stand alike, on legs of one length"
    assert np.abs(own[0] - theirs[:, :3, 3]).max() > 0.1
    assert np.abs(own[1] - 0.5 * (own[0] + own[2])).max() < 1e-3
    for shown in hands:
        assert np.abs(shown["hand.L"][:, :3, :3] - hands[0]["hand.L"][:, :3, :3]).max() < 1e-3, "hands turn alike"
        assert np.abs(shown["hand.R"] - hands[0]["hand.R"]).max() < 1e-4


def on_hands() -> bpy.types.Object:
    """A figure that stands on its hands, and leans forward and back."""
    ob = rigs.figure("On Hands")
    rigs.rotate_by(ob, "QUATERNION")
    for frame in FRAMES:
        lean = 0.2 * np.sin(2.0 * np.pi * (frame - FRAMES[0]) / (len(FRAMES) - 1))
        rigs.posed(ob.pose.bones["hips"], Euler((np.pi + lean, 0.0, 0.0)).to_quaternion())
        for side, _ in SIDES:
            rigs.posed(ob.pose.bones[f"arm.{side}"], Euler((1.2, 0.0, 0.0)).to_quaternion())
            rigs.posed(ob.pose.bones[f"forearm.{side}"], Euler((0.3, 0.0, 0.0)).to_quaternion())
        ob.pose.bones["hips"].location = (0.0, 0.0, 0.0)
        rigs.update()
        low = min(rigs.evaluated(ob).pose.bones[f"hand.{side}"].tail.z for side, _ in SIDES)
        ob.pose.bones["hips"].location = (0.0, -low, 0.0)
        for bone in ob.pose.bones:
            rigs.key(bone, frame)
    return ob


def test_a_body_with_longer_arms_stands_on_its_hands_as_high_as_these_are() -> None:
    """On the ground, with elbows bent as they are in the source, and legs at the same angles."""
    source, ob = on_hands(), with_long_arms("Long Arms")
    retarget(source, ob)
    shown = [film(one) for one in (source, ob)]
    for side, _ in SIDES:
        high = [one[f"hand.{side}"][:, 2, 3] for one in shown]
        assert np.abs(high[1] - 1.3 * high[0]).max() < 0.08
        bends = [np.linalg.norm(one[f"arm.{side}"][:, :3, 1] - one[f"forearm.{side}"][:, :3, 1], axis=-1)
                 for one in shown]  # fmt: skip
        assert np.abs(bends[1] - bends[0]).max() < 0.2  # radians
        thighs = [one[f"thigh.{side}"][:, :3, 1] for one in shown]
        assert np.degrees(np.arccos((thighs[0] * thighs[1]).sum(-1).clip(-1.0, 1.0))).max() < 5.0
    hips = [one["hips"][:, 2, 3] for one in shown]
    assert (hips[1] - hips[0]).min() > 0.1


def on_all_fours() -> bpy.types.Object:
    """A figure on its knees that sways over its hands, which stand close to each other on the ground."""
    ob = rigs.figure("On All Fours")
    for side, sign in SIDES:
        rigs.blender_ik(ob, f"forearm.{side}", rigs.empty((0.04 * sign, -0.4, 0.08)), chain_count=2)
        for part, bend in (("thigh", -1.3), ("shin", 2.4)):
            rigs.posed(ob.pose.bones[f"{part}.{side}"], Euler((bend, 0.0, 0.0)).to_quaternion(), FRAMES[0])
    hips = ob.pose.bones["hips"]
    for frame in FRAMES:
        phase = 2.0 * np.pi * (frame - FRAMES[0]) / (len(FRAMES) - 1)
        rigs.posed(ob.pose.bones["spine"], Euler((1.3, 0.0, 0.0)).to_quaternion())
        rigs.key(ob.pose.bones["spine"], frame)
        hips.location = 0.08 * np.sin(phase), -0.65, 0.06 * np.cos(phase)
        rigs.key(hips, frame)
    return ob


def test_hands_on_the_ground_do_not_slide_where_they_are_close_to_each_other() -> None:
    source, ob = on_all_fours(), with_long_arms("Long Arms")
    with_other_legs(ob, 1.0)
    retarget(source, ob)
    shown = film(ob)
    for side, _ in SIDES:
        palm = shown[f"hand.{side}"][:, :3, 3] + 0.05 * shown[f"hand.{side}"][:, :3, 1]
        assert np.ptp(palm[:, :2], axis=0).max() < 5e-3, "they sway by 0.16"



def test_legs_by_angles_are_parallel_to_the_sources() -> None:
    source, ob = walker(), rigs.figure("Other")
    with_other_legs(ob, 1.5)
    shown = []
    for places in (1.0, 0.0):
        for leg in ("leg_l", "leg_r"):
            getattr(ob.dqik.retarget.limbs, leg).places = places
        retarget(source, ob)
        shown.append(limbs_apart(film(source), film(ob)))
    assert shown[1] < 0.2 < 2.0 < shown[0]


def test_offsets_move_hands_and_feet_as_the_figure_faces() -> None:
    source, ob = walker(), rigs.figure("Copy")
    source.rotation_euler = (0.0, 0.0, np.pi / 2.0)
    rigs.update()
    retarget(source, ob)
    usual = film(ob)
    ob.dqik.retarget.limbs.arm_r.offset, ob.dqik.retarget.limbs.leg_l.offset = (0.0, -0.1, 0.05), (0.06, 0.0, 0.0)
    retarget(source, ob)
    moved = film(ob)
    hand, foot = (moved[name][:, :3, 3] - usual[name][:, :3, 3] for name in ("hand.R", "foot.L"))
    body = moved["arm.R"][:, :3, 3] - usual["arm.R"][:, :3, 3]  # whose hips may be lower now
    assert np.abs(hand - body - (-0.1, 0.0, 0.05)).max() < 0.03, "it faces the world's X"
    assert np.abs(foot - (0.0, 0.06, 0.0)).max() < 0.015
    assert np.ptp(moved["foot.L"][:, :3, 3], axis=0).max() < 2e-3, "it stands"


def test_a_pole_turns_elbows_and_knees_outward_about_the_line_of_the_limb() -> None:
    """By its angle; hands and feet stay. Knees point forward and elbows backward, so they turn against each other."""
    source, ob = walker(), rigs.figure("Copy")
    retarget(source, ob)
    usual, fit = film(ob), ob.dqik.retarget.limbs
    for limb in (fit.arm_l, fit.arm_r, fit.leg_l, fit.leg_r):
        limb.pole = 0.4
    retarget(source, ob)
    turned = film(ob)
    for side, sign in SIDES:
        for turn, *names in ((0.4, "arm", "forearm", "hand"), (-0.4, "thigh", "shin", "foot")):
            away = []
            for shown in (usual, turned):
                start, joint, end = (shown[f"{name}.{side}"][:, :3, 3] for name in names)
                along = (end - start) / np.linalg.norm(end - start, axis=-1, keepdims=True)
                away.append(joint - start - along * ((joint - start) * along).sum(-1, keepdims=True))
            bent = np.linalg.norm(away[0], axis=-1) > 0.01
            found = np.arctan2((np.cross(*away) * along).sum(-1), (away[0] * away[1]).sum(-1))[bent]
            assert np.abs(found - sign * turn).max() < 5e-3
            assert np.abs(turned[f"{names[-1]}.{side}"] - usual[f"{names[-1]}.{side}"]).max() < 1e-4
            assert names[0] == "arm" or (sign * (away[1] - away[0])[bent, 0]).min() > 0.0, "knees turn outward"


# -- root motion -------------------------------------------------------------------------------------------------------


def turning(source: bpy.types.Object) -> None:
    """Let a source's object go around an eighth of a circle, facing where it goes."""
    for frame in FRAMES:
        angle = 0.25 * np.pi * (frame - FRAMES[0]) / (len(FRAMES) - 1)
        place = (2.0 * np.cos(angle) - 2.0, -2.0 * np.sin(angle), 0.0)
        rigs.keyed(source, frame, location=place, rotation_euler=(0, 0, -angle))


def with_root(name: str) -> bpy.types.Object:
    """A figure on a root bone with a roll, and a prop that hangs on the root."""
    ob = rigs.with_root(rigs.figure(name), (0.0, 0.3, 0.0), 0.4)
    return rigs.add(ob, rigs.Bone("prop", (0.5, 0.0, 0.0), (0.5, 0.0, 0.2), "root"))


def steady(ob: bpy.types.Object, root: str) -> tuple[np.ndarray, np.ndarray]:
    """How far (F,) the hips are beside what takes the way, and the angle [radians] (F,) between where both face."""
    away, angles = [], []
    for _ in rigs.visited(FRAMES):
        shown = rigs.evaluated(ob)
        world = np.array(shown.matrix_world)
        hips = world @ np.array(shown.pose.bones["hips"].matrix)
        base, rest = world, np.eye(4)
        if root == "BONE":
            base = world @ np.array(shown.pose.bones["root"].matrix)
            rest = np.array(ob.data.bones["root"].matrix_local)
        turned = base[:3, :3] @ rest[:3, :3].T
        ahead, faces = turned @ (0.0, -1.0, 0.0), hips[:3, :3] @ np.array(ob.data.bones["hips"].matrix_local)[:3, :3].T
        faces = faces @ (0.0, -1.0, 0.0)
        away.append(np.linalg.norm((hips - base)[:2, 3]))
        angles.append(np.arctan2(np.cross(ahead, faces)[2], ahead[:2] @ faces[:2]))
    return np.array(away), np.array(angles)


@pytest.mark.parametrize("root", ["BONE", "OBJECT"])
@pytest.mark.parametrize("parented", [False, True])
def test_a_root_bone_or_the_object_takes_the_way_and_the_body_goes_as_before(root: str, parented: bool) -> None:
    source, ob = walker(), with_root("Body")
    turning(source)
    if parented:
        ob.parent = rigs.empty((0.3, 0.2, 0.0), "Cart")
        ob.parent.rotation_euler = (0.0, 0.0, 0.7)
        ob.delta_location = (0.2, 0.0, 0.0)
        rigs.update()
    shown = []
    for kind in ("AUTO", root):
        retarget(source, ob, root=kind)
        shown.append(film(ob))
    body = [{name: one[name] for name in one if name not in ("root", "prop")} for one in shown]
    place, angle = apart(*body)
    assert place < 1e-4
    assert angle < 0.1
    away, angles = steady(ob, root)
    assert away.max() < 0.08
    assert np.ptp(angles) < 0.5
    assert np.ptp(shown[1]["prop"][:, :2, 3], axis=0).max() > 0.5 > np.ptp(shown[0]["prop"][:, :2, 3], axis=0).max()
    prop = np.linalg.norm(shown[1]["prop"][:, :2, 3] - shown[1]["root"][:, :2, 3], axis=-1)
    assert np.ptp(prop) < 1e-4


def test_in_place_a_body_does_all_but_go() -> None:
    source, ob = walker(), with_root("Body")
    turning(source)
    shown = []
    for kind in ("AUTO", "IN_PLACE"):
        retarget(source, ob, root=kind)
        shown.append(film(ob))
    usual, there = shown
    hips = there["hips"][:, :3, 3]
    assert np.linalg.norm(hips[:, :2], axis=-1).max() < 0.08
    assert np.abs(hips[:, 2] - usual["hips"][:, 2, 3]).max() < 1e-4
    for name in usual:
        line = [one[name][:, :3, 3] - one["hips"][:, :3, 3] for one in shown]
        assert name in ("root", "prop") or np.abs(line[0] - line[1]).max() < 1e-4
        assert np.abs(there[name][:, :3, :3] - usual[name][:, :3, :3]).max() < 1e-3


def test_who_cannot_take_the_way_is_said() -> None:
    source, ob = walker(), rigs.figure("Body")
    rigs.made_active(ob)
    with pytest.raises(RuntimeError, match="'Body' has no bone above its hips that could take the way"):
        bpy.ops.dqik.retarget(source=source.name, root="BONE")
    ob.constraints.new("COPY_LOCATION").target = source
    rigs.refuses(bpy.ops.dqik.retarget, "Constraints or drivers move 'Body'", source=source.name, root="OBJECT")
    assert ob.animation_data is None


def test_a_preview_stays_through_other_undo_and_goes_and_comes_with_its_own() -> None:
    preview, source, ob = rigs.part("rig.overlay.preview"), walker(), with_root("Rooted")
    name = ob.name
    bpy.ops.ed.undo_push(message="figures")
    for change in (lambda: retarget(source, ob, preview=True), lambda: setattr(ob, "location", (1.0, 0.0, 0.0))):
        change()
        bpy.ops.ed.undo_push(message="change")
    for step, shown in ((bpy.ops.ed.undo, True), (bpy.ops.ed.undo, False), (bpy.ops.ed.redo, True)):
        step()
        assert (preview.of(bpy.data.objects[name]) is not None) == shown
    assert bpy.ops.dqik.preview_hide() == {"FINISHED"}
    bpy.ops.ed.redo()
    assert preview.of(bpy.data.objects[name]) is None


@pytest.mark.parametrize("fit", [{"root": "AUTO"}, {"root": "OBJECT"}, {"root": "BONE"}, {"root": "IN_PLACE"},
                                 {"own_speed": True}], ids=lambda fit: str(*fit.values()))  # fmt: skip
def test_a_preview_shows_what_is_keyed_later_and_changes_nothing(fit: dict[str, object]) -> None:
    """Lines along the bones, on each frame of the new motion, until it is keyed or the preview is hidden."""
    preview = rigs.part("rig.overlay.preview")
    source, ob = walker(), with_root("Rooted")
    ob.location, ob.scale = (0.3, 0.2, 0.0), (0.5,) * 3
    rigs.update()
    actions, pose = set(bpy.data.actions), rigs.matrices(ob)
    retarget(source, ob, preview=True, **fit)
    assert ob.animation_data is None
    assert set(bpy.data.actions) == actions
    assert np.allclose(rigs.matrices(ob), pose)
    shown = preview.of(ob)
    assert shown.source == source.name
    assert not preview.lines(ob, shown.frames[-1] + 1).size
    drawn = [preview.lines(ob, frame) for frame in shown.frames]
    retarget(source, ob, **fit)
    assert preview.of(ob) is None
    assert not bpy.ops.dqik.preview_hide.poll()
    assert tuple(ob.animation_data.action.frame_range) == (shown.frames[0], shown.frames[-1])
    for _, lines in zip(rigs.visited(shown.frames), drawn, strict=True):
        now = rigs.evaluated(ob)
        ends = [[now.matrix_world @ end for end in (bone.head, bone.tail)] for bone in now.pose.bones]
        assert np.abs(lines - np.array(ends)).max() < 1e-4
