# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole shot by operators: blocked, gripped, pinned, let go, leant, planted, waved by FK, baked, saved. No jump.

`tests/gui/a_shot.py` does the same in a window, by mouse and keyboard.
"""

from collections.abc import Iterable
from math import radians
from pathlib import Path

import bpy
import numpy as np
import rigs
from clothed_person import FIGURE, skeleton
from mathutils import Matrix, Vector
from shot_scene import BLOCKED, BOX, GRIP, LAST, PUT, SIT, STANCES, WAVE, WAVES, Moves, ball, props
from situations import reopened
from test_controls import control, shift

HEIGHT = 1.75
STILL = 1e-5  # m: what is attached or let go moves by less
FRAMES = range(1, LAST + 1)
HANDS = ("hand.L", "hand.R")


def figure() -> bpy.types.Object:
    """The figure, which loading replaces."""
    return bpy.data.objects[FIGURE]


def pick(*bones: str) -> None:
    """Select the controls of bones."""
    rigs.select(figure(), *(control(figure(), bone).name for bone in bones))


def film(frames: Iterable[int]) -> dict[int, np.ndarray]:
    """World places (N, 2, 3) of the heads and tails of the body's bones on frames; the present frame stays."""
    now, found = bpy.context.scene.frame_current, {}
    for frame in rigs.visited(frames):
        bones = [bone for bone in rigs.evaluated(figure()).pose.bones if bone.bone.use_deform]
        found[frame] = np.array([(bone.head, bone.tail) for bone in bones])
    rigs.at_frame(now)
    return found


def away(one: dict[int, np.ndarray], other: dict[int, np.ndarray], *but: int) -> float:
    """By how much the body differs at most [m], but for some frames."""
    return max(float(np.abs(one[frame] - other[frame]).max()) for frame in one if frame not in but)


def key(owner: bpy.types.Object | bpy.types.PoseBone) -> None:
    """Key place and rotation on the present frame, as the key I does."""
    rigs.key(owner)
    rigs.update()


def go(moves: Moves) -> None:
    """Move and turn controls, and the box, from where they are, and key them."""
    for names, steps in moves:
        for name in names:
            owner = bpy.data.objects[BOX] if name == BOX else control(figure(), name)
            rigs.update()
            matrix = (owner.matrix_world if name == BOX else owner.matrix).copy()
            for kind, axis, value in steps:
                if kind == "G":
                    matrix.translation += value * Vector([one == axis for one in "XYZ"])
                else:
                    turn = Matrix.Rotation(radians(value), 4, axis) @ matrix.to_3x3().to_4x4()
                    matrix = Matrix.Translation(matrix.translation) @ turn
            setattr(owner, "matrix_world" if name == BOX else "matrix", matrix)
            rigs.update()
            key(owner)


def block() -> None:
    """The blocked poses. The grip, the pin and letting go move nothing."""
    for frame, moves in BLOCKED.items():
        rigs.at_frame(frame)
        go(moves)
        assert bpy.ops.dqik.key_controls() == {"FINISHED"}
        key(bpy.data.objects[BOX])
        done = [one for one in BLOCKED if one <= frame]
        before = film(done) if frame in (SIT, GRIP, PUT) else {}
        if frame == SIT:
            rigs.select(figure(), "hips")
            assert bpy.ops.dqik.pin() == {"FINISHED"}
            assert away(film(done), before, SIT) == 0.0
        elif frame in (GRIP, PUT):
            pick(*HANDS)
            assert (bpy.ops.dqik.attach(object=BOX) if frame == GRIP else bpy.ops.dqik.detach()) == {"FINISHED"}
            assert away(film(done), before) < STILL
    drag_a_hand()
    hand = rigs.keys(figure())[control(figure(), "hand.R").path_from_id("location"), 0]
    assert [frame for frame, _ in hand if frame >= PUT] == [PUT, WAVE]  # it leaves the box with the body
    for frame in rigs.visited(FRAMES):
        assert not [goal.bone for goal in figure().dqik.goals if goal.missed], frame


def drag_a_hand() -> None:
    """By half a metre, without a key: pinned hips stay."""
    rigs.at_frame(WAVE)
    seat = rigs.head(figure(), "hips")
    shift(figure(), "hand.L", (0.3, 0.4, 0.2))
    assert (rigs.head(figure(), "hips") - seat).length < 1e-4
    shift(figure(), "hand.L", (-0.3, -0.4, -0.2))


def lean() -> None:
    """The chest at one pose: all other blocked poses are bit for bit as they were."""
    rigs.at_frame(GRIP)
    before = film(BLOCKED)
    rigs.select(figure(), "chest")
    chest = figure().pose.bones["chest"]
    chest.rotation_quaternion = chest.rotation_quaternion @ Matrix.Rotation(radians(12.0), 3, "X").to_quaternion()
    rigs.update()
    key(chest)
    after = film(BLOCKED)
    assert np.abs(after[GRIP] - before[GRIP]).max() > 0.005
    assert away(after, before, GRIP) == 0.0
    times = [time for time, _ in rigs.keys(figure())['pose.bones["chest"].rotation_quaternion', 1]]
    assert times[:2] == [25, GRIP]  # the pose before, not the key that attaching has made at the frame before


def plant() -> None:
    """Feet that stand where they do, and roll about their balls on flat toes."""
    for foot, frame, stance in STANCES:
        rigs.at_frame(frame)
        pick(foot)
        assert bpy.ops.dqik.plant() == {"FINISHED"}
        balls, tips = [], []
        for _ in rigs.visited(stance):
            balls.append(ball(figure(), foot))
            tips.append(rigs.tail(figure(), foot.replace("foot", "toe")))
        for way in (balls, tips):
            assert max((point - way[0]).length for point in way) < 1e-4, (foot, frame)


def wave() -> None:
    """The right arm by its bones from one frame on: nothing jumps, and it can be posed then."""
    rigs.at_frame(WAVE)
    before, count = film(FRAMES), sum(map(len, rigs.keys(figure()).values()))
    pick("hand.R")
    assert bpy.ops.dqik.limb_to_fk() == {"FINISHED"}
    assert away(film(FRAMES), before) == 0.0
    assert sum(map(len, rigs.keys(figure()).values())) - count < 50  # two poses of four bones
    for frame, angle in WAVES:
        rigs.at_frame(frame)
        arm = figure().pose.bones["forearm.R"]
        arm.rotation_quaternion = arm.rotation_quaternion @ Matrix.Rotation(radians(angle), 3, "Z").to_quaternion()
        rigs.update()
        key(arm)
    after = film(FRAMES)
    assert away({frame: after[frame] for frame in FRAMES[:WAVE]}, before) == 0.0
    assert np.abs(after[WAVES[0][0]] - before[WAVES[0][0]]).max() > 0.05


def test_a_shot(tmp_path: Path) -> None:
    """Each step leaves the rest of the shot as it was, and the baked file plays as Live did."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    skeleton()
    props()
    rigs.pose_mode(figure())
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    figure().dqik.live = True
    scene.tool_settings.use_keyframe_insert_auto = True
    block()
    lean()
    plant()
    wave()
    live = film(FRAMES)
    assert bpy.ops.dqik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1]) == {"FINISHED"}
    assert not figure().dqik.live
    reopened(tmp_path / "shot.blend")
    assert away(film(FRAMES), live) < 1e-5 * HEIGHT
