# SPDX-License-Identifier: GPL-3.0-or-later
"""Retarget by name: bones without a role, shape keys, scale, and what hides a figure."""

from math import sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Matrix, Quaternion
from test_retarget import FRAMES, film, retarget, turned, walker


def with_more(ob: bpy.types.Object) -> bpy.types.Object:
    """A tail of two bones on the hips and an ear on the head."""
    return rigs.add(ob, rigs.Bone("tail1", (0, 0.1, 1.0), (0, 0.3, 0.9), "hips"),
                    rigs.Bone("tail2", (0, 0.3, 0.9), (0, 0.5, 0.9), "tail1"),
                    rigs.Bone("ear", (0.08, 0, 1.75), (0.12, 0, 1.85), "head"))  # fmt: skip


def wagging() -> bpy.types.Object:
    """A walker whose tail wags and whose ear goes up, turns and grows."""
    source = with_more(walker())
    for frame in FRAMES:
        for name in ("tail1", "tail2"):
            rigs.posed(source.pose.bones[name], Quaternion((0.3, 0.2, 1.0), 0.5 * sin(0.4 * frame)))
            rigs.key(source.pose.bones[name], frame)
        ear = source.pose.bones["ear"]
        ear.location, ear.scale = (0.0, 0.01 * sin(0.3 * frame), 0.0), (1.0, 1.0 + 0.3 * sin(0.2 * frame), 1.0)
        for path in ("location", "scale"):
            ear.keyframe_insert(path, frame=frame)
    return source


@pytest.mark.parametrize("size", [1.0, 2.0])
def test_bones_of_one_name_move_as_the_sources_do_on_any_rest_pose(size: float) -> None:
    source, ob = wagging(), with_more(rigs.figure("Other"))
    turned(ob, {"arm.L": Matrix.Rotation(0.7, 3, "Y")})
    with rigs.edit_mode(ob) as bones:
        for number, name in enumerate(("tail1", "tail2")):
            bones[name].roll += 0.9 + number
    ob.scale = (size,) * 3
    rigs.update()
    retarget(source, ob, by_name=True)
    before, after = film(source), film(ob)
    for name, above in (("tail1", "hips"), ("tail2", "tail1"), ("ear", "head")):
        lines = [one[name][:, :3, 3] - one[above][:, :3, 3] for one in (before, after)]
        assert np.abs(size * lines[0] - lines[1]).max() < 2e-3 * size
    along = [one["tail2"][:, :3, 1] for one in (before, after)]
    assert np.abs(along[0] - along[1] / size).max() < 5e-3
    grown = [np.linalg.norm(one["ear"][:, :3, 1], axis=-1) for one in (before, after)]
    assert np.ptp(grown[0]) > 0.3
    assert np.abs(size * grown[0] - grown[1]).max() < 1e-3


def test_without_it_they_stay() -> None:
    source, ob = wagging(), with_more(rigs.figure("Other"))
    for by_name in (True, False):
        retarget(source, ob, by_name=by_name)
        keyed = {curve.data_path for curve in rigs.fcurves(ob)}
        assert any("tail1" in path for path in keyed) == by_name
        assert ('pose.bones["ear"].scale' in keyed) == by_name


def smiling(ob: bpy.types.Object) -> bpy.types.Key:
    """The shape keys of a mesh that hangs on a head: Smile and a second one, which differs by figure."""
    mesh = rigs.child(rigs.mesh(name="Face"), ob, "head")
    for name in ("Basis", "Smile", f"Only {ob.name}"):
        mesh.shape_key_add(name=name)
    return mesh.data.shape_keys


def test_shape_keys_of_one_name_get_the_sources_curves() -> None:
    source, ob = walker(), rigs.figure("Other")
    theirs, own = smiling(source), smiling(ob)
    for frame in FRAMES:
        for block in theirs.key_blocks[1:]:
            rigs.keyed(block, frame, value=0.5 + 0.5 * sin(0.3 * frame))
    retarget(source, ob)
    assert own.animation_data is None
    retarget(source, ob, by_name=True)
    values = [(theirs.key_blocks["Smile"].value, own.key_blocks["Smile"].value) for _ in rigs.visited(FRAMES)]
    assert np.ptp([one for one, _ in values]) > 0.5
    assert max(abs(one - other) for one, other in values) < 1e-5
    assert {curve.data_path for curve in rigs.fcurves(own)} == {'key_blocks["Smile"].value'}
    assert own.animation_data.action != theirs.animation_data.action


def test_what_hides_the_source_hides_the_figure() -> None:
    source, ob = walker(), rigs.figure("Other")
    rigs.key_path(source, (1, 9, 15), (False, True, False), "hide_render")
    for by_name in (False, True):
        retarget(source, ob, by_name=by_name)
        seen = [(source.hide_render, ob.hide_render) for _ in rigs.visited(FRAMES)]
        assert {other for _, other in seen} == ({False, True} if by_name else {False})
    assert all(one == other for one, other in seen)
