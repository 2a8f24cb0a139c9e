# SPDX-License-Identifier: GPL-3.0-or-later
"""More than a thousand bones in a line: they are set up, solved, baked and drawn, by the kernel and by NumPy."""


import bpy
import numpy as np
import pytest
import rigs

BONES = 1200  # Python functions may call themselves 1000 times


def line(count: int, name: str = "Line") -> bpy.types.Object:
    """Bones in a line along X, each connected to the one before."""
    points = np.zeros((count + 1, 3))
    points[:, 0] = 0.01 * np.arange(count + 1)
    bones = [
        rigs.Bone(f"bone {i}", points[i], points[i + 1], f"bone {i - 1}" if i else "", True) for i in range(count)
    ]
    return rigs.armature(bones, name)


@pytest.mark.parametrize("compiled", [True, False])
def test_many_bones_in_a_line_reach_their_target(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live, Solve and Bake meet the goal, by the kernel and by NumPy, and the overlay draws it."""
    if not compiled:
        monkeypatch.setattr(rigs.part("solvers.api"), "load", lambda: None)
    ob, last, near = line(BONES), f"bone {BONES - 1}", 1e-5 * BONES
    target = rigs.empty((0.01 * BONES - 0.05, 0.1, 0.05))
    rigs.goal(ob, last, target, use_tail=True)
    ob.dqik.iterations, ob.dqik.live = 10, True
    assert (rigs.tail(ob, last) - rigs.place(target)).length < near
    assert not ob.dqik.status.message
    overlay = rigs.part("rig.overlay.scene")
    seen = overlay.read(ob, bpy.context.evaluated_depsgraph_get(), [ob.pose.bones[last]], overlay.OverlayParts())
    assert overlay.draw(seen).lines
    ob.dqik.live = False
    rigs.made_active(ob)
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=2) == {"FINISHED"}
    rigs.at_frame(2)
    assert (rigs.tail(ob, last) - rigs.place(target)).length < near


def test_a_body_with_many_bones_in_two_lines_is_set_up_or_refused_with_a_sentence() -> None:
    """Limbs are looked for by shape along both lines, which mirror each other."""
    bones = [rigs.Bone("hips", (0, 0, 1), (0, 0, 1.1)), rigs.Bone("neck", (0, 0, 1.1), (0, 0, 1.2), "hips")]
    for side, sign in (("one", 1), ("other", -1)):
        for i in range(1200):
            above = f"{side} {i - 1}" if i else "hips"
            bones.append(rigs.Bone(f"{side} {i}", (sign * 0.01 * (i + 1), 0, 1), (sign * 0.01 * (i + 2), 0, 1), above))
    rigs.made_active(rigs.armature(bones))
    rigs.done(bpy.ops.dqik.setup_full_body)
