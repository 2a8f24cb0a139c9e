# SPDX-License-Identifier: GPL-3.0-or-later
"""*Start From: Previous Frame*: frames that follow another one, and frames that follow none."""

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import film, moving_figure
from mathutils import Vector

FRAMES = range(1, 17)


def test_previous_starts_afresh_on_every_jump() -> None:
    """With start_from PREVIOUS, a frame reached by a jump is the one that POSE gives."""
    ob = moving_figure()
    ob.dqik.live = True
    afresh = film(ob, FRAMES)
    ob.dqik.start_from = "PREVIOUS"
    film(ob, FRAMES)
    for frame, pose in film(ob, (12, 5, 7, 6, 9, 2)).items():
        assert rigs.turn(afresh[frame], pose) < 1e-6


@pytest.mark.parametrize("far", [1.0, 40.0], ids=["within reach", "out of reach"])
def test_previous_frame_goes_on_after_frames_on_which_nothing_moves(far: float) -> None:
    """It shows what a bake of the same frames writes, stands still while the target does, and follows it then."""
    ob = rigs.figure()
    target = rigs.empty((0, 0, 0), "hand")
    places = [Vector((0.45 + 0.02 * step, -0.3, 1.3)) * far for step in (0, 1, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4, 4)]
    rigs.key_path(target, range(1, len(places) + 1), places)
    rigs.goal(ob, "hand.L", target)
    ob.dqik.start_from, ob.dqik.live = "PREVIOUS", True
    shown = [rigs.channels(ob) for _ in rigs.visited(range(1, len(places) + 1))]
    assert not (shown[7] - shown[8]).any() and not (shown[11] - shown[12]).any()
    assert np.abs(shown[9] - shown[8]).max() > 1e-4
    assert far > 1.0 or rigs.miss(ob, "hand.L", target) < 1e-3
    bpy.ops.dqik.bake(frame_start=1, frame_end=len(places))
    for frame, before in enumerate(shown, start=1):
        rigs.at_frame(frame)
        np.testing.assert_allclose(rigs.channels(ob), before, atol=2e-6)
