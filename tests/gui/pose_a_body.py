# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose and animate a person in a real window, as an animator would: from Set Up Full Body to a baked walk.

Run by Blender itself (README.md, beside this file). Each step is done with mouse and keyboard, checked by numbers read
from Blender, then undone and redone.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("gui", "blender"))

import hands
import window
from clothed_person import person

# -- the walk --------------------------------------------------------------------------------------------------------


def animate() -> window.Steps:
    """The half hour of an animator."""
    yield from open_file()
    yield from set_up()
    chosen = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else ()
    for part in (grab, reach, pose_chest, pin, set_limits, overlay, mirror, switch, block_walk):
        if not chosen or part.__name__ in chosen:
            yield from part()


def open_file() -> window.Steps:
    """Open a file with a person, as an artist would get it."""
    person()
    bpy.context.scene.frame_end = 25
    yield from hands.open_saved()
    yield from hands.look((8.0, -28.0), (0.0, 0.0, 0.88), 2.5)
    yield from window.shot("b01 file opened")


def set_up() -> window.Steps:
    """One press for the whole body, then Live: nothing moves."""
    yield from window.press("TAB", window.window_middle(), ctrl=True)
    assert bpy.context.mode == "POSE"
    yield from hands.act(window.click_button("dqik.setup_full_body"), "Set Up Full Body")
    assert {goal.bone for goal in hands.rig().dqik.goals} == {*hands.ENDS, "hips"}
    yield from window.shot("b02 set up")
    before = hands.state()
    yield from hands.act(window.click_button("dqik.live"), "Live")
    assert hands.rig().dqik.live
    drift = np.abs(hands.state().joints - before.joints).max()
    assert drift < 5e-4 * hands.HEIGHT, f"Live moved the figure by {1e3 * drift:.2f} mm"
    yield from window.shot("b03 live")


def reach() -> window.Steps:
    """Drag a hand, then the hips; feet are planted."""
    rest = matrices()
    yield from hands.pick(hands.control("hand.L"))
    yield from hands.act(hands.drag(hands.control("hand.L"), (-0.20, -0.3, 0.45)), "the hand's move")
    assert (hands.place("hand.L") - rest["hand.L"].translation).length > 0.3
    check(rest, moved=("hand.L",), step="a hand that reaches")
    assert hands.turn_between(hands.matrix("shoulder.L"), rest["shoulder.L"]) < 20.0
    yield from window.shot("b04 hand dragged")

    held = matrices()
    yield from hands.pick(hands.control("hips"))
    yield from hands.act(hands.drag(hands.control("hips"), (-0.05, 0.0, -0.12)), "the hips' move")
    assert hands.place("hips").z < held["hips"].translation.z - 0.08
    check(held, moved=("head",), step="hips that sink")
    yield from window.shot("b05 hips dragged")


def on_skin(bone: str, share: float = 0.5) -> window.Point:
    """Where in the window the skin around a bone is."""
    found = hands.shown().pose.bones[bone]
    return window.on_screen(hands.shown().matrix_world @ found.head.lerp(found.tail, share))


def grab_part(bone: str, by: tuple, name: str, moved: Iterable, share: float = 0.5, way: float = 1.0) -> window.Steps:
    """Press Shift Alt G, and drag the skin of a bone by pixels: it comes along, and ends that did not move stay.

    way : the share of the way that the skin under the pointer goes at least; all of it, to 1.5 pixels, if 1.
    """
    before, was, at = matrices(), hands.state(), on_skin(bone, share)
    to = at[0] + by[0], at[1] + by[1]
    yield from window.press("G", at, shift=True, alt=True)
    yield from window.drag_to(at, to, let_go=False)
    yield from window.shot(f"b02 grab {name}")
    window.event("LEFTMOUSE", "RELEASE", to)
    yield 0.5
    done = bpy.context.window_manager.operators[-1]
    assert done.bl_idname == "DQIK_OT_grab", done.bl_idname
    point = hands.matrix(done.bone) @ before[done.bone].inverted() @ Vector(done.point)
    reached = Vector(window.on_screen(point)) - Vector(at)
    print(f"{name}: {done.bone} went by {tuple(reached)} of {by}", flush=True)
    short = (reached - Vector(by)).length
    assert short < 1.5 if way == 1.0 else reached.dot(Vector(by)) > way * Vector(by).length_squared, (
        f"{done.bone} went by {tuple(reached)}, not {by}"
    )
    check(before, moved, f"grab {name}")
    yield from hands.undo_and_redo(was, f"grab {name}")


def grab() -> window.Steps:
    """Drag a hand, a forearm, a knee and the chest by their skin; cancel one; select by clicks. Undo it all."""
    start = hands.state()
    yield from grab_part("hand.R", (50, 130), "hand", ["hand.R"])
    yield from grab_part("hips", (0, -40), "hips", ["hips", "head"])
    trunk = [hands.matrix(bone) for bone in ("hips", "spine", "chest", "neck")]
    yield from grab_part("shin.R", (-10, 0), "knee", [], 0.1)
    yield from grab_part("forearm.R", (-25, 10), "forearm", [], way=0.7)  # all of it is out of reach
    for bone, was in zip(("hips", "spine", "chest", "neck"), trunk, strict=True):
        assert (hands.place(bone) - was.translation).length < 4e-3, f"{bone} went along with the limbs"
        assert hands.rig().pose.bones[bone].dqik_hold == 0.0, f"{bone} is held"
    yield from grab_part("chest", (-25, -6), "chest", ["head"], way=0.7)
    yield from grab_part("hips", (0, -10), "hips after limbs", ["hips", "head"])
    before, at = hands.state(), on_skin("upper_arm.R", 0.8)
    for key in ("ESC", "RIGHTMOUSE"):
        yield from window.press("G", at, shift=True, alt=True)
        yield from window.drag_to(at, (at[0] - 40, at[1] + 20), let_go=False)
        yield from window.press(key, at)
        window.event("LEFTMOUSE", "RELEASE", at)
        yield 0.3
        assert np.array_equal(hands.state().joints, before.joints), f"{key} does not bring back the pose"
        assert not hands.difference(hands.state(), before), f"{key} leaves something behind"
    yield from window.press("G", at, shift=True, alt=True)
    yield from window.click(on_skin("hand.R", 0.6))
    assert bpy.context.active_pose_bone.name == hands.control("hand.R"), bpy.context.active_pose_bone.name
    yield from window.press("G", at, shift=True, alt=True)
    yield from window.click(on_skin("forearm.R"), shift=True)
    chosen = {bone.name for bone in bpy.context.selected_pose_bones}
    assert chosen == {hands.control("hand.R"), "forearm.R"}, chosen
    assert np.array_equal(hands.state().joints, before.joints), "a click moves the figure"
    yield from window.shot("b02 grab selects")
    for _ in range(8):
        yield from window.press("Z", window.window_middle(), ctrl=True)
        yield 0.3
    wrong = hands.difference(hands.state(), start)
    assert not wrong, f"undo of all drags does not bring back {wrong}"


def pose_chest() -> window.Steps:
    """Turn the chest by hand: it is held there while a hand moves, until its rotation is cleared."""
    yield from hands.pick("chest")
    unposed = hands.matrix("chest")
    yield from hands.act(hands.transform("R", "Z", 25.0), "the chest's turn")
    posed = hands.matrix("chest")
    assert hands.rig().pose.bones["chest"].dqik_hold == 1.0
    turned = hands.turn_between(posed, unposed)
    assert turned > 20.0, f"the chest turned by {turned:.1f} degrees only"
    yield from window.shot("b06 chest posed")
    yield from hands.pick(hands.control("hand.R"))
    yield from hands.act(hands.drag(hands.control("hand.R"), (0.05, -0.10, 0.14)), "the other hand's move")
    gone = hands.turn_between(hands.matrix("chest"), posed)
    assert gone < 3.0, f"the chest that was posed by hand turned by {gone:.1f} degrees"
    assert hands.missed("hand.R") < hands.NEAR
    yield from window.shot("b07 chest held")
    yield from hands.pick("chest")
    yield from hands.act(window.press("R", window.window_middle(), alt=True), "clearing the hold")
    assert hands.rig().pose.bones["chest"].dqik_hold == 0.0


def pin() -> window.Steps:
    """Pin an elbow, drag the hips, unpin it."""
    yield from hands.pick("forearm.R")
    yield from hands.act(window.press("P", window.window_middle(), shift=True, alt=True), "Pin")
    assert [goal.bone for goal in hands.rig().dqik.goals][-1] == "forearm.R"
    pinned = matrices()
    yield from hands.pick(hands.control("hips"))
    yield from hands.act(hands.drag(hands.control("hips"), (0.06, 0.0, 0.02)), "hips beside a pin")
    assert (hands.place("hips") - pinned["hips"].translation).length > 0.03
    away = (hands.place("forearm.R") - pinned["forearm.R"].translation).length
    assert away < hands.NEAR, f"the pinned elbow moved by {1e3 * away:.1f} mm"
    check(pinned, moved=("head",), step="hips that move beside a pinned elbow")
    yield from window.shot("b08 elbow pinned")
    yield from hands.pick("forearm.R")
    yield from hands.act(window.press("U", window.window_middle(), shift=True, alt=True), "Unpin")
    assert "forearm.R" not in [goal.bone for goal in hands.rig().dqik.goals]


def set_limits() -> window.Steps:
    """Reset the pose, then human limits for all bones; a hand is raised inside them."""
    yield from hands.act(window.click_button("dqik.reset_pose"), "Reset Pose")
    yield from hands.pick("chest")
    yield from window.press("A", window.window_middle())
    before = hands.state()
    yield from hands.act(window.click_button("dqik.limits_preset"), "Human Limits")
    assert sum(bone.dqik_use_limits for bone in hands.rig().pose.bones) > 15
    moved = np.abs(hands.state().joints - before.joints).max()
    assert moved < hands.SAME, f"limits moved the figure by {1e3 * moved:.2f} mm"
    yield from hands.pick(hands.control("hand.L"))
    before = matrices()
    yield from hands.drag(hands.control("hand.L"), (0.0, 0.0, 0.25))
    check(before, moved=("hand.L",), step="a hand that moves inside limits")
    yield from window.shot("b09 limits")


def overlay() -> window.Steps:
    """Look at the limits of an arm, the reach of its hand and the roles of all bones; nothing moves."""
    before = hands.state()
    yield from hands.pick("upper_arm.L")
    bpy.context.window_manager.dqik_overlay.show = True
    yield from window.shot("b10 overlay, limits")
    yield from hands.pick(hands.control("hand.L"))
    with window.in_view():
        assert bpy.ops.dqik.reach_show() == {"FINISHED"}
    assert hands.rig().dqik.workspace is not None
    yield from window.shot("b10 overlay, reach")
    bpy.context.window_manager.dqik_overlay.roles = True
    yield from window.shot("b10 overlay, roles")
    bpy.context.window_manager.dqik_overlay.roles = False
    bpy.context.window_manager.dqik_overlay.show = False
    assert not hands.difference(hands.state(), before)


def mirror() -> window.Steps:
    """Copy the pose and paste it mirrored: targets and body land mirrored, limits stay."""
    yield from window.press("A", window.window_middle())
    limits, before = all_limits(), hands.state()
    joints = {bone: hands.place(bone) for bone in SIDED}
    yield from window.press("C", window.window_middle(), ctrl=True)
    yield from window.press("V", window.window_middle(), ctrl=True, shift=True)
    for bone, other in ((bone, bpy.utils.flip_name(bone)) for bone in SIDED):
        away = (hands.place(other) - Vector((-joints[bone].x, *joints[bone].yz))).length
        assert away < hands.NEAR, f"{other} is {1e3 * away:.1f} mm from the mirror image of {bone}"
    assert all_limits() == limits, "the mirrored paste changed limits"
    yield from hands.undo_and_redo(before, "Paste Pose Flipped")
    assert all_limits() == limits, "undo and redo of the mirrored paste changed limits"
    yield from window.shot("b11 mirrored")


def switch() -> window.Steps:
    """From IK to FK, pose, back to IK and to FK again, without a jump."""
    yield from no_jump("dqik.keep_pose", "Keep Pose")
    assert not hands.rig().dqik.live
    yield from hands.pick("upper_arm.R")
    before = hands.state()
    yield from hands.act(hands.turn("upper_arm.R", -30.0), "turning an arm without Live")
    assert np.abs(hands.state().joints - before.joints).max() > 0.05
    yield from hands.act(window.click_button("dqik.targets_to_pose"), "Targets to Pose")
    assert all(hands.missed(bone) < hands.SAME for bone in hands.ENDS)
    yield from no_jump("dqik.live", "from FK to IK")
    assert hands.rig().dqik.live
    yield from window.shot("b12 back to IK")
    yield from no_jump("dqik.keep_pose", "from IK to FK")
    yield from window.shot("b13 back to FK")


def no_jump(button: str, step: str) -> window.Steps:
    """Press a button: the body is where it was, to 1e-4 of its height."""
    before = hands.state()
    yield from hands.act(window.click_button(button), step)
    names = [bone.name for bone in hands.shown().pose.bones]
    rows = [k for k, name in enumerate(names) if not name.startswith("DQIK")]
    away = float(np.abs(hands.state().joints[rows] - before.joints[rows]).max())
    assert away < hands.SAME, f"{step}: the body jumped by {1e3 * away:.2f} mm"


WALK = {  # frame: offsets from rest of each control along X, Y and Z [m], and its turns about X and Y in degrees
    1: {"hips": (0, 0, -0.065, 0, 0), "foot.L": (0, -0.28, 0.01, -14, 0), "foot.R": (0, 0.28, 0.065, 32, 0),
        "hand.L": (-0.19, 0.16, -0.11, 0, 35), "hand.R": (0.19, -0.26, -0.07, 0, -35), "head": (0, 0, 0, 0, 0)},
    9: {"hips": (0, -0.28, -0.015, 0, 0), "foot.L": (0, -0.28, 0.0, 0, 0), "foot.R": (0, -0.20, 0.16, 36, 0),
        "hand.L": (-0.19, -0.28, -0.13, 0, 35), "hand.R": (0.19, -0.28, -0.13, 0, -35), "head": (0, 0, 0, 0, 0)},
    17: {"hips": (0, -0.56, -0.065, 0, 0), "foot.L": (0, -0.28, 0.065, 32, 0), "foot.R": (0, -0.84, 0.01, -14, 0),
         "hand.L": (-0.19, -0.82, -0.07, 0, 35), "hand.R": (0.19, -0.40, -0.11, 0, -35), "head": (0, 0, 0, 0, 0)},
    25: {"hips": (0, -0.84, -0.015, 0, 0), "foot.L": (0, -0.76, 0.16, 36, 0), "foot.R": (0, -0.84, 0.0, 0, 0),
         "hand.L": (-0.19, -0.84, -0.13, 0, 35), "hand.R": (0.19, -0.84, -0.13, 0, -35), "head": (0, 0, 0, 0, 0)},
}  # fmt: skip


def block_walk() -> window.Steps:
    """Block a walk in four poses with Auto Keying, play it, and bake it."""
    yield from hands.look((6.0, -52.0), (0.0, -0.3, 0.85), 2.7)
    hands.rig().data.collections["Body"].is_visible = False  # only the controls are left
    if not hands.rig().dqik.live:
        yield from window.click_button("dqik.live")
    yield from window.press("A", window.window_middle())
    yield from window.press("G", window.window_middle(), alt=True)
    yield from window.press("R", window.window_middle(), alt=True)
    yield from window.click_in_editor("DOPESHEET_EDITOR", "use_keyframe_insert_auto")
    assert bpy.context.scene.tool_settings.use_keyframe_insert_auto
    last = dict.fromkeys(WALK[1], (0.0,) * 5)
    frame = 1
    for at, offsets in WALK.items():
        while frame < at:
            yield from window.press("RIGHT_ARROW", window.window_middle())
            frame += 1
        assert bpy.context.scene.frame_current == at
        for bone, offset in offsets.items():
            yield from offset_control(bone, last[bone], offset)
        last = offsets
        yield from select_controls()
        yield from hands.act(window.press("I", window.window_middle()), "keying the pose")
        for bone in hands.ENDS:
            assert hands.missed(bone) < hands.NEAR, f"frame {at}: {bone} is {1e3 * hands.missed(bone):.1f} mm off"
        yield from window.shot(f"b14 walk at {at}")
    yield from bake_walk()


def offset_control(bone: str, last: tuple[float, ...], offset: tuple[float, ...]) -> window.Steps:
    """Pick a control and move and turn it from one offset to the next."""
    changes = [now - then for now, then in zip(offset, last, strict=True)]
    steps = [(key, axis, change) for key, axis, change in zip("GGGRR", "XYZXY", changes, strict=True) if change]
    if steps:
        yield from hands.pick(hands.control(bone))
    for key, axis, value in steps:
        yield from hands.transform(key, axis, value)


def select_controls() -> window.Steps:
    """Select all controls and nothing else, by the button: in this view they lie over bones of the body."""
    yield from window.click_button("dqik.select_controls")
    chosen = {bone.name for bone in bpy.context.selected_pose_bones}
    assert chosen == {hands.control(bone) for bone in ("hips", *hands.ENDS)}, f"selected are {sorted(chosen)}"


def bake_walk() -> window.Steps:
    """Bake the walk: the keys play as Live did, and planted feet stay."""
    scene = bpy.context.scene
    solved = {}
    for frame in range(1, 26):
        scene.frame_set(frame)
        solved[frame] = hands.state().joints
        for bone in hands.ENDS:
            assert hands.missed(bone) < hands.NEAR, f"frame {frame}: {bone} is {1e3 * hands.missed(bone):.1f} mm off"
    yield from window.press("LEFT_ARROW", window.window_middle(), shift=True)  # an undo step, which `frame_set` is not
    assert scene.frame_current == 1
    before = hands.state()
    yield from window.click_button("dqik.bake")
    yield from window.press("RET", window.window_middle())
    yield from window.until(lambda: not hands.rig().dqik.live, "the bake ends")
    yield 0.5
    for frame, joints in solved.items():
        scene.frame_set(frame)
        away = np.abs(hands.state().joints - joints).max()
        assert away < hands.SAME, f"frame {frame}: the bake is {1e3 * away:.2f} mm off what Live showed"
    for bone, frames in (("foot.L", range(1, 10)), ("foot.R", range(17, 26))):
        places = []
        for frame in frames:
            scene.frame_set(frame)
            places.append(hands.place(bone).xy)
        slide = max((one - places[0]).length for one in places)
        assert slide < hands.PLANTED, f"{bone} slides by {1e3 * slide:.2f} mm while it is planted"
    scene.frame_set(1)
    yield from hands.undo_and_redo(before, "the bake")
    yield from window.shot("b15 walk baked")


SIDED = ("hand.L", "hand.R", "foot.L", "foot.R", "forearm.L", "forearm.R", "shin.L", "shin.R")


def matrices() -> dict[str, Matrix]:
    """The matrices of all bones."""
    return {bone.name: hands.matrix(bone.name) for bone in hands.rig().pose.bones}


def all_limits() -> list[tuple]:
    """The limits of all bones, rounded to 1e-4 rad."""
    names = [f"dqik_{part}_{end}" for part in ("twist", "swing_x", "swing_z") for end in ("min", "max")]
    return [
        (bone.name, bone.dqik_use_limits, *(round(getattr(bone, name), 4) for name in names),
         *(abs(round(value, 4)) for name in ("dqik_limits_axes", "dqik_limits_zero") for value in getattr(bone, name)))
        for bone in hands.rig().pose.bones
    ]  # fmt: skip


def check(before: dict[str, Matrix], moved: Iterable[str], step: str) -> None:
    """All ends that did not move are where they were, and all are on their controls."""
    for bone in hands.ENDS:
        assert hands.missed(bone) < hands.NEAR, f"{step}: {bone} is {1e3 * hands.missed(bone):.2f} mm off its control"
        away = (hands.place(bone) - before[bone].translation).length
        limit = hands.PLANTED if bone.startswith("foot") else hands.NEAR
        assert bone in moved or away < limit, f"{step}: {bone} moved by {1e3 * away:.2f} mm"
    assert hands.rig().dqik.status.converged, f"{step}: the panel says that a goal is not met"


window.run(animate, scale=1.0, panels=("DQIK_PT_body", "DQIK_PT_limits"))
