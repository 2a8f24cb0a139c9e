# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose and animate a person in a real window, as an animator would: from Set Up Full Body to a baked walk.

Run by Blender itself (README.md, beside this file). Each step is done with mouse and keyboard, checked by numbers read
from Blender, then undone and redone.
"""

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clothed_person import person
from hands import (
    ENDS,
    HEIGHT,
    NEAR,
    PLANTED,
    SAME,
    State,
    act,
    control,
    difference,
    drag,
    look,
    matrix,
    missed,
    pick,
    place,
    rig,
    shown,
    state,
    transform,
    turn,
    turn_between,
    undo_and_redo,
)
from window import (
    Point,
    Steps,
    click,
    click_button,
    click_in_editor,
    drag_to,
    event,
    in_view,
    on_screen,
    press,
    region,
    run,
    shot,
    until,
    view,
    window_middle,
)

# -- the walk --------------------------------------------------------------------------------------------------------


def animate() -> Steps:
    """The half hour of an animator."""
    yield from open_file()
    yield from set_up()
    chosen = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else ()
    for part in (grab, reach, pose_chest, pin, set_limits, overlay, mirror, switch, block_walk):
        if not chosen or part.__name__ in chosen:
            yield from part()


def open_file() -> Steps:
    """Open a file with a person, as an artist would get it."""
    ob, body = person()
    bpy.context.scene.frame_end = 25
    path = Path(tempfile.mkdtemp()) / "person.blend"
    del ob, body
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    with in_view():
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    yield 1.0
    shading = view().spaces[0].shading
    shading.type, shading.color_type, shading.show_cavity = "SOLID", "MATERIAL", True
    view().spaces[0].show_region_ui = True
    bpy.context.view_layer.objects.active = rig()
    rig().select_set(True)
    yield from look((8.0, -28.0), (0.0, 0.0, 0.88), 2.5)
    region("UI").active_panel_category = "DQIK"
    yield from shot("b01 file opened")


def set_up() -> Steps:
    """One press for the whole body, then Live: nothing moves."""
    yield from press("TAB", window_middle(), ctrl=True)
    assert bpy.context.mode == "POSE"
    before = state()
    yield from click_button("dqik.setup_full_body")
    assert {goal.bone for goal in rig().dqik.goals} == {*ENDS, "hips"}
    yield from shot("b02 set up")
    yield from undo_and_redo(before, "Set Up Full Body")
    before = state()
    yield from click_button("dqik.live")
    assert rig().dqik.live
    drift = np.abs(state().joints - before.joints).max()
    assert drift < 5e-4 * HEIGHT, f"Live moved the figure by {1e3 * drift:.2f} mm"
    yield from undo_and_redo(before, "Live")
    yield from shot("b03 live")


def reach() -> Steps:
    """Drag a hand, then the hips; feet are planted."""
    rest = matrices()
    yield from pick(control("hand.L"))
    before = state()
    yield from drag(control("hand.L"), (-0.20, -0.3, 0.45))
    assert (place("hand.L") - rest["hand.L"].translation).length > 0.3
    check(rest, moved=("hand.L",), step="a hand that reaches")
    assert turn_between(matrix("shoulder.L"), rest["shoulder.L"]) < 20.0
    yield from undo_and_redo(before, "the hand's move")
    yield from shot("b04 hand dragged")

    held = matrices()
    yield from pick(control("hips"))
    before = state()
    yield from drag(control("hips"), (-0.05, 0.0, -0.12))
    assert place("hips").z < held["hips"].translation.z - 0.08
    check(held, moved=("head",), step="hips that sink")
    yield from undo_and_redo(before, "the hips' move")
    yield from shot("b05 hips dragged")


def on_skin(bone: str, share: float = 0.5) -> Point:
    """Where in the window the skin around a bone is."""
    found = shown().pose.bones[bone]
    return on_screen(shown().matrix_world @ found.head.lerp(found.tail, share))


def grab_part(
    bone: str, by: tuple[int, int], name: str, moved: Iterable[str], share: float = 0.5, way: float = 1.0
) -> Steps:
    """Press Shift Alt G, and drag the skin of a bone by pixels: it comes along, and ends that did not move stay.

    way : the share of the way that the skin under the pointer goes at least; all of it, to 1.5 pixels, if 1.
    """
    before, was, at = matrices(), state(), on_skin(bone, share)
    to = at[0] + by[0], at[1] + by[1]
    yield from press("G", at, shift=True, alt=True)
    yield from drag_to(at, to, let_go=False)
    yield from shot(f"b02 grab {name}")
    event("LEFTMOUSE", "RELEASE", to)
    yield 0.5
    done = bpy.context.window_manager.operators[-1]
    assert done.bl_idname == "DQIK_OT_grab", done.bl_idname
    point = matrix(done.bone) @ before[done.bone].inverted() @ Vector(done.point)
    reached = Vector(on_screen(point)) - Vector(at)
    print(f"{name}: {done.bone} went by {tuple(reached)} of {by}", flush=True)
    short = (reached - Vector(by)).length
    assert short < 1.5 if way == 1.0 else reached.dot(Vector(by)) > way * Vector(by).length_squared, (
        f"{done.bone} went by {tuple(reached)}, not {by}"
    )
    check(before, moved, f"grab {name}")
    yield from undo_and_redo(was, f"grab {name}")


def grab() -> Steps:
    """Drag a hand, a forearm, a knee and the chest by their skin; cancel one; select by clicks. Undo it all."""
    start = state()
    yield from grab_part("hand.R", (50, 130), "hand", ["hand.R"])
    yield from grab_part("hips", (0, -40), "hips", ["hips", "head"])
    trunk = [matrix(bone) for bone in ("hips", "spine", "chest", "neck")]
    yield from grab_part("shin.R", (-10, 0), "knee", [], 0.1)
    yield from grab_part("forearm.R", (-25, 10), "forearm", [], way=0.7)  # all of it is out of reach
    for bone, was in zip(("hips", "spine", "chest", "neck"), trunk, strict=True):
        assert (place(bone) - was.translation).length < 4e-3, f"{bone} went along with the limbs"
        assert rig().pose.bones[bone].dqik_hold == 0.0, f"{bone} is held"
    yield from grab_part("chest", (-25, -6), "chest", ["head"], way=0.7)
    yield from grab_part("hips", (0, -10), "hips after limbs", ["hips", "head"])
    before, at = state(), on_skin("upper_arm.R", 0.8)
    for key in ("ESC", "RIGHTMOUSE"):
        yield from press("G", at, shift=True, alt=True)
        yield from drag_to(at, (at[0] - 40, at[1] + 20), let_go=False)
        yield from press(key, at)
        event("LEFTMOUSE", "RELEASE", at)
        yield 0.3
        assert np.array_equal(state().joints, before.joints), f"{key} does not bring back the pose"
        assert not difference(state(), before), f"{key} leaves something behind"
    yield from press("G", at, shift=True, alt=True)
    yield from click(on_skin("hand.R", 0.6))
    assert bpy.context.active_pose_bone.name == control("hand.R"), bpy.context.active_pose_bone.name
    yield from press("G", at, shift=True, alt=True)
    yield from click(on_skin("forearm.R"), shift=True)
    chosen = {bone.name for bone in bpy.context.selected_pose_bones}
    assert chosen == {control("hand.R"), "forearm.R"}, chosen
    assert np.array_equal(state().joints, before.joints), "a click moves the figure"
    yield from shot("b02 grab selects")
    for _ in range(8):
        yield from press("Z", window_middle(), ctrl=True)
        yield 0.3
    wrong = difference(state(), start)
    assert not wrong, f"undo of all drags does not bring back {wrong}"


def pose_chest() -> Steps:
    """Turn the chest by hand: it is held there while a hand moves, until its rotation is cleared."""
    yield from pick("chest")
    unposed, before = matrix("chest"), state()
    yield from transform("R", "Z", 25.0)
    posed = matrix("chest")
    assert rig().pose.bones["chest"].dqik_hold == 1.0
    assert turn_between(posed, unposed) > 20.0, f"the chest turned by {turn_between(posed, unposed):.1f} degrees only"
    yield from undo_and_redo(before, "the chest's turn")
    yield from shot("b06 chest posed")
    yield from pick(control("hand.R"))
    before = state()
    yield from drag(control("hand.R"), (0.05, -0.10, 0.14))
    gone = turn_between(matrix("chest"), posed)
    assert gone < 3.0, f"the chest that was posed by hand turned by {gone:.1f} degrees"
    assert missed("hand.R") < NEAR
    yield from undo_and_redo(before, "the other hand's move")
    yield from shot("b07 chest held")
    yield from pick("chest")
    yield from act(press("R", window_middle(), alt=True), "clearing the hold")
    assert rig().pose.bones["chest"].dqik_hold == 0.0


def pin() -> Steps:
    """Pin an elbow, drag the hips, unpin it."""
    yield from pick("forearm.R")
    yield from act(press("P", window_middle(), shift=True, alt=True), "Pin")
    assert [goal.bone for goal in rig().dqik.goals][-1] == "forearm.R"
    pinned = matrices()
    yield from pick(control("hips"))
    before = state()
    yield from drag(control("hips"), (0.06, 0.0, 0.02))
    assert (place("hips") - pinned["hips"].translation).length > 0.03
    away = (place("forearm.R") - pinned["forearm.R"].translation).length
    assert away < NEAR, f"the pinned elbow moved by {1e3 * away:.1f} mm"
    check(pinned, moved=("head",), step="hips that move beside a pinned elbow")
    yield from undo_and_redo(before, "hips beside a pin")
    yield from shot("b08 elbow pinned")
    yield from pick("forearm.R")
    yield from act(press("U", window_middle(), shift=True, alt=True), "Unpin")
    assert "forearm.R" not in [goal.bone for goal in rig().dqik.goals]


def set_limits() -> Steps:
    """Reset the pose, then human limits for all bones; a hand is raised inside them."""
    yield from act(click_button("dqik.reset_pose"), "Reset Pose")
    yield from pick("chest")
    yield from press("A", window_middle())
    before = state()
    yield from click_button("dqik.limits_preset")
    assert sum(bone.dqik_use_limits for bone in rig().pose.bones) > 15
    moved = np.abs(state().joints - before.joints).max()
    assert moved < SAME, f"limits moved the figure by {1e3 * moved:.2f} mm"
    yield from undo_and_redo(before, "Human Limits")
    yield from pick(control("hand.L"))
    before = matrices()
    yield from drag(control("hand.L"), (0.0, 0.0, 0.25))
    check(before, moved=("hand.L",), step="a hand that moves inside limits")
    yield from shot("b09 limits")


def overlay() -> Steps:
    """Look at the limits of an arm, the reach of its hand and the roles of all bones; nothing moves."""
    before = state()
    yield from pick("upper_arm.L")
    bpy.context.window_manager.dqik_overlay.show = True
    yield from shot("b10 overlay, limits")
    yield from pick(control("hand.L"))
    with in_view():
        assert bpy.ops.dqik.reach_show() == {"FINISHED"}
    assert rig().dqik.workspace is not None
    yield from shot("b10 overlay, reach")
    bpy.context.window_manager.dqik_overlay.roles = True
    yield from shot("b10 overlay, roles")
    bpy.context.window_manager.dqik_overlay.roles = False
    bpy.context.window_manager.dqik_overlay.show = False
    assert not difference(state(), before)


def mirror() -> Steps:
    """Copy the pose and paste it mirrored: targets and body land mirrored, limits stay."""
    yield from press("A", window_middle())
    limits, before = all_limits(), state()
    joints = {bone: place(bone) for bone in SIDED}
    yield from press("C", window_middle(), ctrl=True)
    yield from press("V", window_middle(), ctrl=True, shift=True)
    for bone, other in ((bone, bpy.utils.flip_name(bone)) for bone in SIDED):
        away = (place(other) - Vector((-joints[bone].x, *joints[bone].yz))).length
        assert away < NEAR, f"{other} is {1e3 * away:.1f} mm from the mirror image of {bone}"
    assert all_limits() == limits, "the mirrored paste changed limits"
    yield from undo_and_redo(before, "Paste Pose Flipped")
    assert all_limits() == limits, "undo and redo of the mirrored paste changed limits"
    yield from shot("b11 mirrored")


def switch() -> Steps:
    """From IK to FK, pose, back to IK and to FK again, without a jump."""
    before = state()
    yield from click_button("dqik.keep_pose")
    assert not rig().dqik.live
    yield from no_jump(before, "Keep Pose")
    yield from undo_and_redo(before, "Keep Pose")
    yield from pick("upper_arm.R")
    before = state()
    yield from turn("upper_arm.R", -30.0)
    assert np.abs(state().joints - before.joints).max() > 0.05
    yield from undo_and_redo(before, "turning an arm without Live")
    yield from act(click_button("dqik.targets_to_pose"), "Targets to Pose")
    assert all(missed(bone) < SAME for bone in ENDS)
    before = state()
    yield from click_button("dqik.live")
    assert rig().dqik.live
    yield from no_jump(before, "from FK to IK")
    yield from undo_and_redo(before, "from FK to IK")
    yield from shot("b12 back to IK")
    before = state()
    yield from click_button("dqik.keep_pose")
    yield from no_jump(before, "from IK to FK")
    yield from undo_and_redo(before, "from IK to FK")
    yield from shot("b13 back to FK")


def no_jump(before: State, step: str) -> Steps:
    """The body is where it was, to 1e-4 of its height."""
    yield 0.2
    names = [bone.name for bone in shown().pose.bones]
    rows = [k for k, name in enumerate(names) if not name.startswith("DQIK")]
    away = float(np.abs(state().joints[rows] - before.joints[rows]).max())
    assert away < SAME, f"{step}: the body jumped by {1e3 * away:.2f} mm"


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


def block_walk() -> Steps:
    """Block a walk in four poses with Auto Keying, play it, and bake it."""
    yield from look((6.0, -52.0), (0.0, -0.3, 0.85), 2.7)
    rig().data.collections["Body"].is_visible = False  # only the controls are left
    if not rig().dqik.live:
        yield from click_button("dqik.live")
    yield from press("A", window_middle())
    yield from press("G", window_middle(), alt=True)
    yield from press("R", window_middle(), alt=True)
    yield from click_in_editor("DOPESHEET_EDITOR", "use_keyframe_insert_auto")
    assert bpy.context.scene.tool_settings.use_keyframe_insert_auto
    last = dict.fromkeys(WALK[1], (0.0,) * 5)
    frame = 1
    for at, offsets in WALK.items():
        while frame < at:
            yield from press("RIGHT_ARROW", window_middle())
            frame += 1
        assert bpy.context.scene.frame_current == at
        for bone, offset in offsets.items():
            yield from offset_control(bone, last[bone], offset)
        last = offsets
        yield from select_controls()
        yield from act(press("I", window_middle()), "keying the pose")
        for bone in ENDS:
            assert missed(bone) < NEAR, f"frame {at}: {bone} is {1e3 * missed(bone):.1f} mm off"
        yield from shot(f"b14 walk at {at}")
    yield from bake_walk()


def offset_control(bone: str, last: tuple[float, ...], offset: tuple[float, ...]) -> Steps:
    """Pick a control and move and turn it from one offset to the next."""
    changes = [now - then for now, then in zip(offset, last, strict=True)]
    steps = [(key, axis, change) for key, axis, change in zip("GGGRR", "XYZXY", changes, strict=True) if change]
    if steps:
        yield from pick(control(bone))
    for key, axis, value in steps:
        yield from transform(key, axis, value)


def select_controls() -> Steps:
    """Select all controls and nothing else, by the button: in this view they lie over bones of the body."""
    yield from click_button("dqik.select_controls")
    chosen = {bone.name for bone in bpy.context.selected_pose_bones}
    assert chosen == {control(bone) for bone in ("hips", *ENDS)}, f"selected are {sorted(chosen)}"


def bake_walk() -> Steps:
    """Bake the walk: the keys play as Live did, and planted feet stay."""
    scene = bpy.context.scene
    solved = {}
    for frame in range(1, 26):
        scene.frame_set(frame)
        solved[frame] = state().joints
        for bone in ENDS:
            assert missed(bone) < NEAR, f"frame {frame}: {bone} is {1e3 * missed(bone):.1f} mm off"
    yield from press("LEFT_ARROW", window_middle(), shift=True)  # as an undo step, which `frame_set` is not
    assert scene.frame_current == 1
    before = state()
    yield from click_button("dqik.bake")
    yield from press("RET", window_middle())
    yield from until(lambda: not rig().dqik.live, "the bake ends")
    yield 0.5
    for frame, joints in solved.items():
        scene.frame_set(frame)
        away = np.abs(state().joints - joints).max()
        assert away < SAME, f"frame {frame}: the bake is {1e3 * away:.2f} mm off what Live showed"
    for bone, frames in (("foot.L", range(1, 10)), ("foot.R", range(17, 26))):
        places = []
        for frame in frames:
            scene.frame_set(frame)
            places.append(place(bone).xy)
        slide = max((one - places[0]).length for one in places)
        assert slide < PLANTED, f"{bone} slides by {1e3 * slide:.2f} mm while it is planted"
    scene.frame_set(1)
    yield from undo_and_redo(before, "the bake")
    yield from shot("b15 walk baked")


SIDED = ("hand.L", "hand.R", "foot.L", "foot.R", "forearm.L", "forearm.R", "shin.L", "shin.R")


def matrices() -> dict[str, Matrix]:
    """The matrices of all bones."""
    return {bone.name: matrix(bone.name) for bone in rig().pose.bones}


def all_limits() -> list[tuple]:
    """The limits of all bones, rounded to 1e-4 rad."""
    names = [f"dqik_{part}_{end}" for part in ("twist", "swing_x", "swing_z") for end in ("min", "max")]
    return [
        (bone.name, bone.dqik_use_limits, *(round(getattr(bone, name), 4) for name in names),
         *(abs(round(value, 4)) for name in ("dqik_limits_axes", "dqik_limits_zero") for value in getattr(bone, name)))
        for bone in rig().pose.bones
    ]  # fmt: skip


def check(before: dict[str, Matrix], moved: Iterable[str], step: str) -> None:
    """All ends that did not move are where they were, and all are on their controls."""
    for bone in ENDS:
        assert missed(bone) < NEAR, f"{step}: {bone} is {1e3 * missed(bone):.2f} mm off its control"
        away = (place(bone) - before[bone].translation).length
        limit = PLANTED if bone.startswith("foot") else NEAR
        assert bone in moved or away < limit, f"{step}: {bone} moved by {1e3 * away:.2f} mm"
    assert rig().dqik.status.converged, f"{step}: the panel says that a goal is not met"


run(animate, scale=1.0, panels=("DQIK_PT_body", "DQIK_PT_limits"))
