# SPDX-License-Identifier: GPL-3.0-or-later
"""Retarget with figures as importers leave them: drawn ones, folded sources, loose feet, helper bones, wide hips."""

from math import sin
from pathlib import Path

import bpy
import captured
import numpy as np
import pytest
import rigs
import strangers
from mathutils import Euler, Vector
from test_retarget import LEG, film, retarget, walker
from test_retarget_bodies import animal

pytestmark = pytest.mark.newest

SIDES = (("L", 1.0), ("R", -1.0))
HELPERS = {"ik_foot_l": "foot.L", "ik_foot_r": "foot.R", "ik_hand_l": "hand.L", "ik_hand_gun": "hand.R"}


@pytest.mark.parametrize(("seed", "motion", "frames"), [
    (4, "walk", 8), (13, "walk", 8), (17, "walk", 24), (15, "wave", 24), (26, "wave", 24)])  # fmt: skip
def test_strangers_move_as_clean_copies_of_them_do(seed: int, motion: str, frames: int) -> None:
    """Whatever their names, tails, rest poses, axes, skins and helper bones are: with far tails and long last bones.

    Hands that pass each other in the wave, and feet without toes and a mesh, are as long for both.
    """
    row = strangers.measured(strangers.drawn(seed), [strangers.by_hand(motion, frames)])
    assert not row.refused
    assert row.wrong == []
    assert row.limbs.value < 3.0, row.limbs.place
    assert row.torn.value < 0.01
    assert row.helpers.value < 0.1


# -- sources that are folded at rest -----------------------------------------------------------------------------------


def folded(ob: bpy.types.Object, seed: int) -> None:
    """Let a figure rest in a pose that tells nothing, and keep its motion."""
    random = np.random.default_rng(seed)
    bpy.context.scene.frame_set(-5)
    for bone in ob.pose.bones:
        rigs.posed(bone, Euler(random.uniform(-2.5, 2.5, 3).tolist()).to_quaternion())
    rigs.made_active(ob)
    assert bpy.ops.dqik.pose_to_rest() == {"FINISHED"}


def directions(shown: dict[str, np.ndarray], pairs: tuple[tuple[str, str], ...]) -> np.ndarray:
    """The unit directions (F, K, 3) from joint to joint."""
    lines = np.stack([shown[end][:, :3, 3] - shown[start][:, :3, 3] for start, end in pairs], 1)
    return lines / np.linalg.norm(lines, axis=-1, keepdims=True)


LINES = (("hips", "spine"), ("spine", "neck"), *((f"{a}.{s}", f"{b}.{s}") for s, _ in SIDES for a, b in (
    ("arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot"))))  # fmt: skip

CAPTURED = tuple((f"{side}{a}", f"{side}{b}") for side in ("Left", "Right") for a, b in (
    ("Arm", "ForeArm"), ("ForeArm", "Hand"), ("UpLeg", "Leg"), ("Leg", "Foot")))  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2])
def test_a_source_that_is_folded_at_rest_gives_what_it_gives_unfolded(seed: int, tmp_path: Path) -> None:
    """The trunk is within what a stance differs from the pose at rest, and limbs are where they were."""
    shown = []
    for fold in (False, True):
        rigs.new_file()
        source = captured.clip(tmp_path, range(100, 160, 2))
        if fold:
            folded(source, seed)
        ob = rigs.figure("Body")
        retarget(source, ob, frame_start=1, frame_end=24)
        shown.append(film(ob))
    one, other = (directions(own, LINES) for own in shown)
    away = np.degrees(np.arccos(np.clip((one * other).sum(-1), -1.0, 1.0)))
    assert away[:, 2:].max() < 6.0
    assert away[:, :2].max() < 25.0


@pytest.mark.parametrize("seed", [1, 2])
def test_an_animal_that_is_folded_at_rest_gives_what_it_gives_unfolded(seed: int) -> None:
    """Captured dogs are: all their bones point one way. They stand on four, with a neck that is not in line."""
    shown = []
    for fold in (False, True):
        rigs.new_file()
        source, ob = animal("Dog", 1.0, 0.5), animal("Horse", 2.0, 0.7)
        for frame in range(-5, 25):
            source.pose.bones["hips"].location.y = 0.02 * frame
            for bone in source.pose.bones:
                part, _, side = bone.name.partition(".")
                share = {"thigh": 0.3, "shin": -0.15, "front_thigh": -0.3, "front_shin": 0.15}.get(part, 0.0)
                swing = share * dict(SIDES).get(side, 0.0) * sin(0.5 * frame)
                rigs.posed(bone, Euler((swing, 0.0, 0.0)).to_quaternion())
                rigs.key(bone, frame)
        if fold:
            folded(source, seed)
        retarget(source, ob, frame_start=1, frame_end=24)
        shown.append(film(ob))
    pairs = [(f"{front}{a}.{s}", f"{front}{b}.{s}") for s, _ in SIDES for front in ("", "front_")
             for a, b in (("thigh", "shin"), ("shin", "foot"), ("foot", "toe"))]  # fmt: skip
    one, other = (directions(own, (("hips", "neck"), ("neck", "head"), *pairs)) for own in shown)
    away = np.degrees(np.arccos(np.clip((one * other).sum(-1), -1.0, 1.0)))
    assert away.max() < 12.0


@pytest.mark.parametrize("seed", [1, 2])
def test_a_body_that_is_folded_at_rest_gets_what_it_gets_unfolded(seed: int, tmp_path: Path) -> None:
    """Its feet stand where the source's do, and limbs are where those of the unfolded body are."""
    shown = []
    for fold in (False, True):
        rigs.new_file()
        ob = captured.clip(tmp_path, range(100, 160, 2))
        if fold:
            folded(ob, seed)
        source = walker()
        retarget(source, ob, frame_start=1, frame_end=24)
        shown.append(film(ob))
    one, other = (directions(own, CAPTURED) for own in shown)
    away = np.degrees(np.arccos(np.clip((one * other).sum(-1), -1.0, 1.0)))
    assert away.max() < 6.0


def test_who_is_folded_and_never_stands_is_refused(tmp_path: Path) -> None:
    source = captured.clip(tmp_path, range(100, 160, 2))
    ob = rigs.figure("Body")
    folded(source, 1)
    action = source.animation_data.action
    action.use_frame_range = False
    for curve in rigs.fcurves(source):  # it stays folded
        for point in curve.keyframe_points:
            point.co.y = 1.0 if curve.data_path.endswith("quaternion") and curve.array_index == 0 else 0.0
    rigs.made_active(ob)
    with pytest.raises(RuntimeError, match="'clip' is folded at rest and stands nowhere in its motion"):
        bpy.ops.dqik.retarget(source=source.name, frame_start=1, frame_end=24)
    assert ob.animation_data is None


def test_a_folded_figure_is_mended_as_an_unfolded_one(tmp_path: Path) -> None:
    ways = []
    for fold in (False, True):
        rigs.new_file()
        source = captured.clip(tmp_path, range(0, 240, 2))
        if fold:
            folded(source, 1)
        assert bpy.ops.dqik.mend_motion(frame_start=1, frame_end=110) == {"FINISHED"}
        feet = [[rigs.evaluated(source).pose.bones[f"{side}Foot"].head[:] for side in ("Left", "Right")]
                for _ in rigs.visited(range(1, 111))]  # fmt: skip
        ways.append(np.array(feet))
    assert np.linalg.norm(ways[0] - ways[1], axis=-1).max() < 0.05 * LEG


# -- what does not hang on what it goes with ---------------------------------------------------------------------------


@pytest.mark.parametrize(("foot", "local"), [("foot", True), ("foot", False), ("foot_ik", True)])
def test_a_loose_foot_stays_at_the_end_of_its_leg(foot: str, local: bool) -> None:
    source, whole, ob = walker(), rigs.figure("Whole"), rigs.with_root(rigs.figure("Loose"), (0.0, 0.2, 0.0), 0.4)
    with rigs.edit_mode(ob) as bones:
        for side, _ in SIDES:
            rigs.put(bones[f"foot.{side}"], use_connect=False, parent=bones["root"], use_local_location=local,
                     name=f"{foot}.{side}")  # fmt: skip
    for one in (whole, ob):
        retarget(source, one)
    right, loose = film(whole), {name.replace(foot, "foot"): found for name, found in film(ob).items()}
    for name in right:
        assert np.linalg.norm(loose[name][:, :3, 3] - right[name][:, :3, 3], axis=-1).max() < 1e-3, name
        assert np.abs(loose[name][:, :3, :3] - right[name][:, :3, :3]).max() < 5e-3, name


def test_ik_bones_of_games_go_with_what_they_stand_for() -> None:
    source, ob = walker(), rigs.with_root(rigs.figure("Game"), (0.0, 0.2, 0.0), 0.4)
    with rigs.edit_mode(ob) as bones:
        for name, part in {"ik_foot_root": "root", "ik_hand_root": "root", **HELPERS}.items():
            bone, own = bones.new(name), bones[part]
            bone.head, bone.tail, bone.roll = own.head, own.tail, own.roll + 0.3
            bone.parent = own if part == "root" else bones["ik_foot_root" if "foot" in part else "ik_hand_root"]
        bones["ik_hand_l"].parent = bones["ik_hand_gun"]
    retarget(source, ob)
    shown = film(ob)
    for name, part in HELPERS.items():
        rest = ob.data.bones[part].matrix_local.inverted() @ ob.data.bones[name].matrix_local
        assert np.abs(shown[name] - shown[part] @ np.array(rest)).max() < 2e-3, name
    assert np.ptp(shown["hand.L"][:, :3, 3], axis=0).max() > 0.05


# -- wide hips, scales, rates ------------------------------------------------------------------------------------------


def with_hips(ob: bpy.types.Object, wide: float, legs: float) -> None:
    """Give a figure wider hips and shorter legs."""
    def way(bone: str, at: Vector) -> tuple[float, float, float]:
        if bone.startswith(("thigh", "shin", "foot")):
            return wide * at.x, at.y, legs * at.z
        return at.x, at.y, at.z - (1.0 - legs) * 0.95

    rigs.reshape(ob, way)


@pytest.mark.parametrize(("wide", "legs"), [(2.5, 0.6), (1.0, 0.5), (0.4, 1.2)])
def test_legs_do_not_cross_on_other_hips(wide: float, legs: float) -> None:
    """Feet are apart as the source's are, and a foot that stands stands."""
    source, ob = walker(), rigs.figure("Other")
    with_hips(ob, wide, legs)
    retarget(source, ob)
    apart = []
    for one in (source, ob):
        shown = film(one)
        left = shown["thigh.L"][:, :3, 3] - shown["thigh.R"][:, :3, 3]
        hips = np.linalg.norm(left, axis=-1)
        apart.append(((shown["foot.L"] - shown["foot.R"])[:, :3, 3] * left).sum(-1) / hips**2)
    assert apart[0].min() > 0.3
    assert apart[1].min() > 0.5 * apart[0].min()
    assert np.ptp(film(ob)["foot.L"][:, :3, 3], axis=0).max() < 2e-3 * LEG


def test_keys_of_scale_are_named_as_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    source, ob = walker(), rigs.figure("Copy")
    for name, scale in (("head", 1.5), ("hips", 1.0)):
        rigs.key_path(source.pose.bones[name], (1, 20), ((1.0,) * 3, (scale,) * 3), "scale")
    retarget(source, ob)
    assert "the keys of the scale of 'head' are left out" in capfd.readouterr().out


def test_mending_warns_of_a_motion_at_another_rate(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    captured.clip(tmp_path, range(360))
    for rate, warns in ((30, False), (24, True)):
        bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = rate, 1.0
        assert bpy.ops.dqik.mend_motion(frame_start=1, frame_end=360) == {"FINISHED"}
        assert ("as if made for 30 frames a second" in capfd.readouterr().out) == warns
