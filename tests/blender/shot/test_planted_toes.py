# SPDX-License-Identifier: GPL-3.0-or-later
"""Toes of planted feet: how the foot rolls goes into the *Roll* of its control, where nothing else turns the toes."""

from collections.abc import Iterable
from math import degrees, radians

import bpy
import numpy as np
import pytest
import rigs
from live_rigs import frames_of
from mathutils import Matrix, Vector
from test_foot_roll import ANKLE, BALL, HEEL, TIP, about_x, carried, control, off, stand, turned
from test_more_controls import at_ease, figure

MM = 1e-3
UP = Vector((0.0, 0.0, 0.015))  # the joint of the toes above the ground, on which their tip is
JOINT = BALL + UP
STEP, LAST = {1: 0.0, 7: 2.0, 13: 28.0}, 13  # the pitch of the foot [degrees] by frame
FRAMES = [*np.arange(1.0, LAST + 0.1, 0.5)]


def blocked(targets: str = "BONES", controls: set[str] | None = None, steps: dict = STEP) -> bpy.types.Object:
    """A live figure whose left foot rolls from one key of its control to the next, and slips by 6 mm or more."""
    ob = figure()
    with rigs.edit_mode(ob) as bones:
        for side in "LR":
            bones[f"foot.{side}"].tail += UP
            bones[f"toes.{side}"].head += UP
    at_ease(ob)
    assert bpy.ops.dqik.setup_full_body(targets=targets, controls=controls or set()) == {"FINISHED"}
    ob.dqik.tolerance, ob.dqik.rotation_tolerance = 1e-6, 1e-6
    ob.dqik.live = True
    stand(ob)
    rest, owner = ob.data.bones["foot.L"].matrix_local, control(ob)
    for frame, pitch in steps.items():
        slip = Matrix.Translation((0.0, -0.0005 * (frame - 1), 0.0))
        pivot = HEEL if pitch < 0.0 else BALL
        turn = Matrix.Translation(pivot) @ about_x(pitch).to_matrix().to_4x4() @ Matrix.Translation(-pivot)
        pose(owner, slip @ turn @ rest)
        rigs.key(owner, frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, max(steps)
    choose(ob)
    return ob


def pose(owner: bpy.types.PoseBone | bpy.types.Object, matrix: Matrix) -> None:
    if isinstance(owner, bpy.types.Object):
        owner.matrix_world = matrix
    else:
        owner.matrix = matrix
    rigs.update()


def choose(ob: bpy.types.Object) -> None:
    """Select the control of the left foot: a bone in Pose Mode, or an empty."""
    owner = control(ob)
    if isinstance(owner, bpy.types.Object):
        rigs.made_active(owner)
        return
    rigs.select(ob, owner.name)


def key_toes(ob: bpy.types.Object, pitches: dict[int, float]) -> None:
    toes = ob.pose.bones["toes.L"]
    for frame, pitch in pitches.items():
        rigs.posed(toes, about_x(pitch), frame)


def plant(frame: int = 1, last: int = LAST) -> None:
    rigs.at_frame(frame)
    assert bpy.ops.dqik.plant(frame_start=1, frame_end=last) == {"FINISHED"}


def way(ob: bpy.types.Object, bone: str, rest: Vector, frames: Iterable[float] = FRAMES) -> dict[float, Vector]:
    """Where a point of a bone is, by frame."""
    return {frame: carried(ob, bone, rest) for frame in rigs.visited(frames)}


def rolls(ob: bpy.types.Object) -> list[tuple[float, float]]:
    """The keys of the left foot's roll: frames and degrees."""
    path = control(ob).path_from_id("dqik_roll")
    return [(time, degrees(angle)) for time, angle in rigs.keys(control(ob).id_data).get((path, 0), [])]


@pytest.mark.parametrize(("targets", "controls", "keyed"), [
    ("BONES", set(), False), ("BONES", {"TOES"}, False), ("EMPTIES", set(), False), ("BONES", set(), True),
])  # fmt: skip
def test_toes_that_nothing_animates_stay_flat(targets: str, controls: set[str], keyed: bool) -> None:
    """Also with keys that do not move them; on half frames too. The ankle rises as it did."""
    ob = blocked(targets, controls)
    if keyed:
        key_toes(ob, dict.fromkeys((1, LAST), 0.0))
    ankle, pitch = way(ob, "foot.L", ANKLE), {}
    for frame in rigs.visited(FRAMES):
        pitch[frame] = turned(ob, "foot.L")
    assert carried(ob, "toes.L", TIP).z < TIP.z - 30 * MM
    plant()
    for bone, rest in (("toes.L", TIP), ("toes.L", JOINT), ("foot.L", JOINT)):
        assert max((place - rest).length for place in way(ob, bone, rest).values()) < 0.1 * MM, (bone, rest)
    after = way(ob, "foot.L", ANKLE)
    assert after[LAST].z - after[1].z > 50 * MM
    for frame in rigs.visited(FRAMES):
        assert off(turned(ob, "foot.L"), pitch[frame]) < (4.1 if frame % 1.0 == 0.0 else 4.6)  # what counts as flat
        assert abs(after[frame].z - ankle[frame].z) < 15 * MM
    assert rolls(ob)[-1] == (LAST + 3, 0.0)
    assert max(angle for _, angle in rolls(ob)) == pytest.approx(24.0, abs=0.1)


def test_toes_with_motion_of_their_own_keep_it() -> None:
    """As recorded ones: the foot rolls by its control as a whole about the ground, and no number has keys."""
    ob = blocked()
    key_toes(ob, {frame: -pitch for frame, pitch in STEP.items()})
    rigs.at_frame(LAST)
    flat = turned(ob, "toes.L")
    plant()
    assert not rolls(ob)
    balls = list(way(ob, "foot.L", BALL).values())
    assert max((ball - balls[0]).length for ball in balls[::2]) < 0.1 * MM
    rigs.at_frame(LAST)
    assert off(rigs.local_rotation(ob, "toes.L"), about_x(-STEP[LAST])) < 0.01
    assert off(turned(ob, "toes.L"), flat) < 4.1


def test_a_keyed_roll_goes_on_top() -> None:
    """Where the control rolls beside its number, both are in the number; the second press changes nothing."""
    ob = blocked()
    rigs.key_path(control(ob), (1, 10, LAST), [radians(angle) for angle in (0.0, 0.0, 9.0)], "dqik_roll")
    plant()
    assert dict(rolls(ob))[LAST] == pytest.approx(28.0 - 4.0 + 9.0, abs=0.1)
    for rest in (TIP, JOINT):
        assert max((place - rest).length for place in way(ob, "toes.L", rest).values()) < 0.1 * MM
    shown, numbers = frames_of(ob, range(1, LAST + 1)), rolls(ob)
    plant(9)
    assert rolls(ob) == numbers
    assert np.abs(frames_of(ob, range(1, LAST + 1)) - shown).max() < 1e-4


def test_a_foot_comes_from_its_way_and_goes_to_it() -> None:
    """Beyond the fade all is as it was; one undo takes number and control back."""
    ob = blocked()
    keys, before = rigs.keys(ob), frames_of(ob, (12, 14, LAST + 4, LAST + 8))
    bpy.ops.ed.undo_push(message="Before")
    rigs.at_frame(1)
    assert bpy.ops.dqik.plant("EXEC_DEFAULT", True, frame_start=1, frame_end=9, fade=3) == {"FINISHED"}
    after = frames_of(ob, (12, 14, LAST + 4, LAST + 8))
    assert np.abs(after - before).max() < 1e-4
    assert rolls(ob)[-1] == (12, 0.0)
    bpy.ops.ed.undo()
    assert rigs.keys(bpy.data.objects["Figure"]) == keys


STANDS = {1: -20.0, 4: 0.0, 8: 0.0, 13: 28.0, 18: 70.0}  # the pitch of a whole step, by frame
SOLE = {"heel": ("foot.L", HEEL), "ball": ("toes.L", BALL), "tip": ("toes.L", TIP)}


def touching(roll: float) -> list[str]:
    """What of a sole is on the ground: the toes belong to the ball and the tip, and bend up to 45 degrees."""
    if roll < 0.0:
        return ["heel"]
    return ["heel", "ball", "tip"] if roll == 0.0 else ["ball", "tip"] if roll <= radians(45.0) else ["tip"]


def test_what_touches_the_ground_stands_still() -> None:
    """Heel, sole, ball and tip in their turn, on half frames too; nothing of the sole goes into the ground."""
    ob, last = blocked(steps=STANDS), max(STANDS)
    plant(6, last)
    frames, phases = np.arange(1.0, last + 0.1, 0.5), set[str]()
    ways = {part: way(ob, *SOLE[part], frames) for part in SOLE}
    first = {part: points[6.0] for part, points in ways.items()}
    for frame in rigs.visited(frames):
        roll = rigs.evaluated(ob).pose.bones[control(ob).name].dqik_roll
        phases.add(" ".join(touching(roll)))
        for part in touching(roll):
            assert (ways[part][frame] - first[part]).length < 0.1 * MM, (frame, part)
        for part in SOLE:
            assert ways[part][frame].z > first[part].z - 0.1 * MM, (frame, part)
    assert phases == {"heel", "heel ball tip", "ball tip", "tip"}
