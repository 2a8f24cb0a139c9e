# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole shot in a real window: walk to a table, lift a box, turn, sit, put it down and wave.

Run by Blender itself (README.md, beside this file). All is done with mouse and keyboard, checked by numbers read from
Blender, undone and redone. At the end, presses are printed beside those that Blender's own tools need.
"""

import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

import hands
import rigs
import window
from clothed_person import person
from shot_presses import table
from shot_scene import BLOCKED, BOX, GRIP, LAST, PUT, SIT, STANCES, WAVE, WAVES, ball, props

HEIGHT = 1.75
STILL = 1e-5  # m: what is attached or let go moves by less
NO_JUMP = 1e-4 * HEIGHT
HANDS = ("hand.L", "hand.R")


def animate() -> window.Steps:
    """The shot, part by part."""
    for one in (open_file, set_up, block, lean, plant, wave, bake_and_reopen):
        yield from one()
    print(table(window.presses), flush=True)


# -- what is measured --------------------------------------------------------------------------------------------------


def joints() -> np.ndarray:
    """World places (N, 2, 3) of the heads and tails of the body's bones."""
    ob = hands.shown()
    return np.array([[ob.matrix_world @ bone.head, ob.matrix_world @ bone.tail]
                     for bone in ob.pose.bones if bone.bone.use_deform])  # fmt: skip


def film(frames: range | tuple[int, ...]) -> dict[int, np.ndarray]:
    """The body on frames, which are visited without undo steps; the present frame is shown again after it."""
    scene = bpy.context.scene
    now, found = scene.frame_current, {}
    for frame in frames:
        scene.frame_set(frame)
        found[frame] = joints()
    scene.frame_set(now)
    return found


def away(one: dict[int, np.ndarray], other: dict[int, np.ndarray], *but: int) -> float:
    """By how much the body differs at most on the frames that both have."""
    frames = (one.keys() & other.keys()) - set(but)
    return max(float(np.abs(one[frame] - other[frame]).max()) for frame in frames)


def box() -> Matrix:
    """Where the box is."""
    return rigs.world(bpy.data.objects[BOX])


# -- the parts ---------------------------------------------------------------------------------------------------------


def open_file() -> window.Steps:
    """A person, a table, a chair, a stool and a box, in a file of their own."""
    person()
    props()
    scene = bpy.context.scene
    scene.frame_end, scene.render.fps = LAST, 24
    yield from hands.open_saved()
    yield from hands.look((14.0, 52.0), (-0.1, -0.75, 0.80), 3.4)
    yield from window.shot("s01 file opened")


def set_up() -> window.Steps:
    """The whole body, Live, Auto Keying, first keys of body and box."""
    window.part("set up")
    yield from window.press("TAB", window.window_middle(), ctrl=True)
    yield from hands.act(window.click_button("dqik.setup_full_body"), "Set Up Full Body")
    yield from hands.act(window.press("L", window.window_middle(), shift=True, alt=True), "Live")
    assert hands.rig().dqik.live
    yield from window.click_in_editor("DOPESHEET_EDITOR", "use_keyframe_insert_auto")
    assert bpy.context.scene.tool_settings.use_keyframe_insert_auto
    yield from to_box()
    yield from window.press("I", window.window_middle())
    yield from to_body()
    yield from window.shot("s02 set up")


def block() -> window.Steps:
    """The blocked poses, with the grip, the pin and letting go on their frames."""
    for frame, moves in BLOCKED.items():
        window.part("blocked poses")
        if frame != 1:
            yield from window.click_frame(frame)
        for names, steps in moves:
            if names == (BOX,):
                yield from to_box()
            else:
                for number, name in enumerate(names):
                    yield from hands.pick(hands.control(name), shift=number > 0)
            for key, axis, value in steps:
                before = hands.state()
                yield from hands.transform(key, axis, value)
            if names == moves[-1][0]:
                yield from hands.undo_and_redo(before, f"moving {names} at {frame}")
            if names == (BOX,):
                yield from to_body()
        yield from hands.act(window.click_button("dqik.key_controls"), f"Key Controls at {frame}")
        if frame == GRIP:
            yield from attach()
        elif frame == SIT:
            yield from pin()
        elif frame == PUT:
            yield from detach()
        elif frame == WAVE:
            yield from drag_a_hand()
        yield from window.shot(f"s03 blocked {frame:03}")
    missed = {}
    for frame in BLOCKED:
        bpy.context.scene.frame_set(frame)
        missed |= {(frame, goal.bone): round(goal.error, 4) for goal in hands.rig().dqik.goals if goal.missed}
    assert not missed, f"goals are missed: {missed}"


def to_box() -> window.Steps:
    """Go to Object Mode and pick the box."""
    yield from window.press("TAB", window.window_middle(), ctrl=True)
    assert bpy.context.mode == "OBJECT"
    yield from pick_box()


def pick_box(shift: bool = False) -> window.Steps:
    """Click on the box in the view until it is the active object."""
    window.count(1 + shift)
    ob = bpy.data.objects[BOX]
    with window.not_counted():
        for corner in ((0.5, -0.3, 0.3), (0.5, 0.3, 0.3), (0.2, 0.0, 0.5), (0.5, 0.0, -0.3), (-0.3, -0.5, 0.0)):
            yield from window.click(window.on_screen(box() @ (Vector(corner) * ob.dimensions)), shift)
            if bpy.context.view_layer.objects.active == bpy.data.objects[BOX]:
                return
    raise AssertionError("the box cannot be picked in the view")


def to_body(shift: bool = False) -> window.Steps:
    """Pick the armature and go to Pose Mode."""
    window.count(1 + shift)
    with window.not_counted():
        for bone, share in (("head", 0.9), ("head", 0.5), ("shin.L", 0.5), ("shin.R", 0.5), ("thigh.L", 0.6)):
            start = hands.matrix(bone)
            at = start @ Vector((0.0, share * hands.rig().data.bones[bone].length, 0.0))
            yield from window.click(window.on_screen(at), shift)
            if bpy.context.view_layer.objects.active == hands.rig():
                break
    yield from window.press("TAB", window.window_middle(), ctrl=True)
    assert bpy.context.mode == "POSE", bpy.context.mode


def attach() -> window.Steps:
    """Both hands to the box: nothing moves on this frame, nor on those before."""
    window.part("grip and let go")
    frames = tuple(frame for frame in BLOCKED if frame <= GRIP)
    before_film = film(frames)
    yield from to_box()
    yield from window.press("I", window.window_middle())  # it lies here up to now
    yield from to_body(shift=True)
    yield from pick_hands()
    yield from hands.act(window.click_button("dqik.attach"), "Attach")
    assert hands.rig().pose.bones[hands.control("hand.R")].constraints, "the hands are not attached"
    moved = away(film(frames), before_film)
    print(f"measured: attach moves the body by {1e3 * moved:.4f} mm", flush=True)
    assert moved < STILL, f"attaching moves the body by {1e3 * moved:.3f} mm"


def detach() -> window.Steps:
    """Let the box go: nothing moves on this frame, nor on those before."""
    window.part("grip and let go")
    frames = tuple(frame for frame in BLOCKED if frame <= PUT)
    before_film = film(frames)
    yield from pick_hands()
    yield from hands.act(window.click_button("dqik.detach"), "Detach")
    moved = away(film(frames), before_film)
    print(f"measured: detach moves the body by {1e3 * moved:.4f} mm", flush=True)
    assert moved < STILL, f"letting go moves the body by {1e3 * moved:.3f} mm"


def pick_hands() -> window.Steps:
    """Select the controls of both hands."""
    for number, name in enumerate(HANDS):
        yield from hands.pick(hands.control(name), shift=number > 0)


def pin() -> window.Steps:
    """Hips on the chair from here on: earlier poses stay."""
    window.part("hips on the chair")
    earlier = tuple(frame for frame in BLOCKED if frame < SIT)
    before_film = film(earlier)
    yield from hands.pick(hands.control("hips"))
    yield from hands.act(window.press("P", window.window_middle(), shift=True, alt=True), "Pin")
    moved = away(film(earlier), before_film)
    print(f"measured: the pin moves earlier blocked frames by {1e3 * moved:.4f} mm", flush=True)
    assert moved == 0.0, f"the pin moves earlier frames by {1e3 * moved:.2f} mm"


def drag_a_hand() -> window.Steps:
    """By half a metre: pinned hips stay. It is undone."""
    seat = hands.place("hips").copy()
    with window.not_counted():
        yield from hands.pick(hands.control("hand.L"))
        start, before = hands.place(hands.control("hand.L")).copy(), hands.state()
        yield from hands.drag(hands.control("hand.L"), (0.45, 0.35, 0.30))
        dragged = (hands.place(hands.control("hand.L")) - start).length
        moved = (hands.place("hips") - seat).length
        yield from window.press("Z", window.window_middle(), ctrl=True)
        assert not hands.difference(hands.state(), before)
    print(f"measured: pinned hips move by {1e3 * moved:.4f} mm, a hand by {dragged:.2f} m", flush=True)
    assert moved < 1e-4 < 0.5 < dragged, f"pinned hips move by {1e3 * moved:.2f} mm"


def lean() -> window.Steps:
    """The chest leant at one pose: all other blocked frames stay exactly."""
    window.part("chest at one pose")
    yield from window.click_frame(GRIP)
    before_film = film(tuple(BLOCKED))
    yield from hands.pick("chest")
    yield from hands.act(hands.transform("R", "X", 12.0), "the chest's turn")
    yield from hands.act(window.press("I", window.window_middle()), "the chest's key")
    after = film(tuple(BLOCKED))
    assert np.abs(after[GRIP] - before_film[GRIP]).max() > 0.005
    moved = away(after, before_film, GRIP)
    print(f"measured: leaning moves other blocked frames by {1e3 * moved} mm", flush=True)
    assert moved == 0.0, f"leaning at one pose moves other poses by {1e3 * moved:.3f} mm"
    yield from window.shot("s04 chest leant")


def plant() -> window.Steps:
    """The feet stand where they do, and roll."""
    window.part("feet planted")
    for foot, frame, stance in STANCES:
        yield from window.click_frame(frame)
        yield from hands.pick(hands.control(foot))
        yield from hands.act(window.click_button("dqik.plant"), f"Plant {foot} at {frame}")
        balls = []
        for frame in stance:
            bpy.context.scene.frame_set(frame)
            balls.append(ball(hands.rig(), foot))
        slide = max((ball - balls[0]).length for ball in balls)
        print(f"measured: {foot} slides by {1e3 * slide:.4f} mm on {stance}", flush=True)
        assert slide < 1e-4, f"{foot} slides by {1e3 * slide:.3f} mm on {stance}"
    yield from window.shot("s05 planted")


def wave() -> window.Steps:
    """The right arm to FK, and waved by its forearm: nothing jumps."""
    window.part("wave by FK")
    yield from window.click_frame(WAVE)
    before_film = film(range(1, WAVE + 1))
    yield from hands.pick(hands.control("hand.R"))
    before = hands.state()
    yield from window.click_button("dqik.limb_to_fk")
    yield from window.until(lambda: any(goal.influence == 0.0 for goal in hands.rig().dqik.goals), "the switch ends")
    yield 1.0
    yield from hands.undo_and_redo(before, "Limb to FK")
    moved = away(film(range(1, WAVE + 1)), before_film)
    print(f"measured: the switch moves the body by {moved / HEIGHT:.2e} H", flush=True)
    assert moved < NO_JUMP, f"the switch moves the body by {1e3 * moved:.3f} mm"
    for frame, angle in WAVES:
        yield from window.click_frame(frame)
        yield from hands.pick("forearm.R")
        yield from hands.act(hands.transform("R", "X", angle), f"the wave at {frame}")
        yield from window.shot(f"s06 wave {frame}")
    after = film(range(1, LAST + 1))
    print(f"measured: after the wave, frames before it by {away(after, before_film) / HEIGHT:.2e} H", flush=True)
    steps = {frame: np.abs(after[frame] - after[frame - 1]).max() for frame in range(2, LAST + 1)}
    print("measured: largest steps", sorted(((round(float(v), 3), k) for k, v in steps.items()))[-5:], flush=True)


def bake_and_reopen() -> window.Steps:
    """Bake, save, and open again: every frame is as it was live."""
    window.part("bake and save")
    yield from window.click_frame(1)
    live = film(range(1, LAST + 1))
    before = hands.state()
    yield from window.click_button("dqik.bake")
    yield from window.press("RET", window.window_middle())
    yield from window.until(lambda: not hands.rig().dqik.live, "the bake ends")
    yield 0.5
    yield from hands.undo_and_redo(before, "the bake")
    yield from window.press("S", window.window_middle(), ctrl=True)
    with window.in_view():
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath, load_ui=False)
    yield 1.0
    moved = away(film(range(1, LAST + 1)), live) / HEIGHT
    print(f"measured: baked, saved and opened again: {moved:.2e} H from live", flush=True)
    assert moved < 1e-5, f"the bake is {moved:.2e} H from live"
    yield from window.shot("s07 baked and reopened")


window.run(animate, scale=0.7)
