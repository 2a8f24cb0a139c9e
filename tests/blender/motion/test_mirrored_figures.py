# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures whose object is mirrored get the keys of one that is not: their world is its mirror image."""

from math import sin, tau

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Euler

LAST = 12


def stepping(mirrored: bool, every: int) -> bpy.types.Object:
    """A figure that steps on the spot and sways, with keys on every so many frames."""
    ob = rigs.figure()
    ob.scale.x = -1.0 if mirrored else 1.0
    for frame in range(1, LAST + 1, every):
        swing = sin(tau * frame / LAST)
        angles = {"thigh.L": 0.5 * swing, "thigh.R": -0.5 * swing, "shin.L": -0.3 - 0.3 * swing, "spine": 0.2 * swing,
                  "shin.R": -0.3 + 0.3 * swing}  # fmt: skip
        for name, angle in angles.items():
            rigs.keyed(ob.pose.bones[name], frame, rotation_quaternion=Euler((angle, 0.0, 0.1)).to_quaternion())
        rigs.keyed(ob.pose.bones["hips"], frame, location=(0.0, 0.02 * abs(swing), 0.1 * swing))
    rigs.select(ob, "head", "forearm.L", "hand.L")
    return ob


@pytest.mark.parametrize(("tool", "every"), [("mend_motion", 1), ("in_betweens", 4), ("overlap", 1)])
def test_a_mirrored_figure_gets_the_keys_of_one_that_is_not(tool: str, every: int) -> None:
    """Whether it plants feet, tells in-betweens from what is learnt, or hangs."""
    found = []
    for mirrored in (False, True):
        ob = stepping(mirrored, every)
        before = rigs.keys(ob)
        if tool == "mend_motion":
            bpy.ops.dqik.contact_add(bone="foot.L", frame_start=2, frame_end=8)
        assert getattr(bpy.ops.dqik, tool)(frame_start=1, frame_end=LAST) == {"FINISHED"}
        found.append(rigs.keys(ob))
        assert found[-1] != before
        bpy.ops.object.mode_set(mode="OBJECT")
    usual, mirrored = found
    assert usual.keys() == mirrored.keys()
    assert max(np.abs(np.subtract(usual[channel], mirrored[channel])).max() for channel in usual) < 1e-4
