# SPDX-License-Identifier: GPL-3.0-or-later
"""Retarget with a partner: hands of two figures meet as those of their sources do, by what Blender shows."""

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix
from test_retarget import retarget

FRAMES = range(1, 9)
APART = 1.3
SIZES = (0.8, 1.1)
NEAR = 0.03


def person(name: str, side: str, x: float) -> bpy.types.Object:
    """A figure that holds an arm aside, down by 45 degrees, and sways."""
    ob = rigs.figure(name)
    ob.location.x = x
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    arm, spine = ob.pose.bones[f"arm.{side}"], ob.pose.bones["spine"]
    turn = Matrix.Rotation(np.radians(45.0 if side == "L" else -45.0), 3, "Y").to_quaternion()
    rest = arm.bone.matrix_local.to_quaternion()
    for frame in FRAMES:
        rigs.posed(arm, rest.inverted() @ turn @ rest)
        spine.rotation_mode = "XYZ"
        spine.rotation_euler = (0.06 * np.sin(0.7 * frame), 0.0, 0.0)
        rigs.key(arm, frame)
        rigs.key(spine, frame)
    return ob


def made(apart: float = APART, sizes: tuple = SIZES) -> tuple[list[bpy.types.Object], list[bpy.types.Object]]:
    """Two people hand in hand, and two figures that stand elsewhere."""
    sources = [person("Ann", "L", 0.0), person("Ben", "R", apart)]
    figures = [rigs.figure("Small"), rigs.figure("Tall")]
    for ob, size, place in zip(figures, sizes, ((3.0, 2.0, 0.0), (-2.0, 1.0, 0.0)), strict=True):
        ob.scale, ob.location = (size,) * 3, place
    rigs.update()
    return sources, figures


def heads(ob: bpy.types.Object, *names: str) -> np.ndarray:
    """The heads (F, K, 3) of bones in the world."""
    found = []
    for _ in rigs.visited(FRAMES):
        shown = rigs.evaluated(ob)
        found.append([shown.matrix_world @ shown.pose.bones[name].head for name in names])
    return np.array(found)


def wrists_apart(one: bpy.types.Object, other: bpy.types.Object) -> np.ndarray:
    """How far (F,) the left wrist of the one is from the right one of the other."""
    return np.linalg.norm(heads(one, "hand.L")[:, 0] - heads(other, "hand.R")[:, 0], axis=-1)


def angles(ob: bpy.types.Object) -> np.ndarray:
    """The turns (F, N, 3, 3) of all bones in the object."""
    found = [[np.array(bone.matrix.to_3x3()) for bone in rigs.evaluated(ob).pose.bones] for _ in rigs.visited(FRAMES)]
    return np.array(found)


@pytest.mark.parametrize("sizes", [SIZES, (0.5, 1.1)], ids=["alike", "a child and an adult"])
@pytest.mark.parametrize("both_give", [True, False])
def test_figures_of_other_sizes_hold_hands_and_stand(both_give: bool, sizes: tuple[float, float]) -> None:
    sources, figures = made(sizes=sizes)
    for source, ob in zip(sources, figures, strict=True):
        retarget(source, ob)
    wanted = np.mean(sizes) * wrists_apart(*sources)
    assert np.abs(wrists_apart(*figures) - wanted).min() > 1.0
    action, alone = figures[0].animation_data.action, angles(figures[0])
    retarget(sources[1], figures[1], partner=figures[0].name, both_give=both_give)
    assert np.abs(wrists_apart(*figures) - wanted).max() < NEAR
    assert (figures[0].animation_data.action == action) != both_give
    arm = figures[0].pose.bones.find("arm.L")
    assert (np.abs(angles(figures[0]) - alone)[:, arm].max() > 0.05) == both_give
    for ob in figures:
        feet = heads(ob, "foot.L", "foot.R")
        assert np.ptp(feet, axis=0).max() < 2e-3
        assert np.abs(feet[..., 2] - ob.scale.x * 0.08).max() < 2e-3


def test_it_does_not_matter_which_of_two_that_give_is_the_partner() -> None:
    sources, figures = made()
    for source, ob in zip(sources, figures, strict=True):
        retarget(source, ob)
    found = []
    for last, other in ((1, 0), (0, 1)):
        retarget(sources[last], figures[last], partner=figures[other].name)
        found.append([angles(ob) for ob in figures])
    for one, other in zip(*found, strict=True):
        assert np.abs(one - other).max() < 1e-4


def test_people_who_do_not_touch_go_together_and_keep_their_arms() -> None:
    sources, figures = made(apart=4.0)
    before = []
    for source, ob in zip(sources, figures, strict=True):
        retarget(source, ob)
        before.append(angles(ob))
    retarget(sources[1], figures[1], partner=figures[0].name)
    for ob, own in zip(figures, before, strict=True):
        assert np.abs(angles(ob) - own).max() < 1e-4
    hips = [heads(ob, "hips")[:, 0, :2] for ob in figures]
    assert np.abs(hips[1] - hips[0] - (4.0 * np.mean(SIZES), 0.0)).max() < 1e-3
    assert figures[1].location.x == pytest.approx(-2.0)


def test_partners_that_are_none_are_said() -> None:
    sources, figures = made()
    rigs.made_active(figures[1])
    for name, settings, words in (
        ("Small", {}, "Choose as Partner a figure that has the motion of another source by Retarget"),
        ("Ann", {}, "Choose as Partner"), ("Nobody", {}, "There is no object 'Nobody'"),
        ("Small", {"root": "IN_PLACE"}, "Figures that touch go on together"),
        ("Small", {"own_speed": True}, "Figures that touch go on together"),
    ):  # fmt: skip
        if settings:
            retarget(sources[0], figures[0])
            rigs.made_active(figures[1])
        rigs.refuses(bpy.ops.dqik.retarget, words, source="Ben", partner=name, **settings)
        assert figures[1].animation_data is None
    rigs.refuses(bpy.ops.dqik.retarget, "'Small' has the motion of 'Ann' too", source="Ann", partner="Small")
