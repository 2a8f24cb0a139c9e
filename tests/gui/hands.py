# SPDX-License-Identifier: GPL-3.0-or-later
"""What the window tests do with a person: read it from Blender, pick and move its controls, undo and redo."""

import tempfile
from collections.abc import Iterable
from math import degrees
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
import rigs
import window
from clothed_person import FIGURE
from mathutils import Euler, Matrix, Vector
from window import Point, Steps, click, count, lead, not_counted, on_screen, press, type_text, view, window_middle

HEIGHT = 1.75
NEAR = 1e-3 * HEIGHT  # a goal is met, and other goals move by less
PLANTED = 1e-3  # [m] feet move by less
SAME = 1e-4 * HEIGHT  # two poses are the same
ENDS = ("hand.L", "hand.R", "foot.L", "foot.R", "head")


# -- the scene -------------------------------------------------------------------------------------------------------


def rig() -> bpy.types.Object:
    """The armature; looked up anew each time, since undo replaces it."""
    return bpy.data.objects[FIGURE]


def shown() -> bpy.types.Object:
    """The armature as Blender evaluates it."""
    return rigs.evaluated(rig())


def matrix(bone: str) -> Matrix:
    """A bone's evaluated matrix in the world."""
    return rigs.world(rig(), bone)


def place(bone: str) -> Vector:
    """A bone's head in the world."""
    return matrix(bone).translation


def turn_between(one: Matrix, other: Matrix) -> float:
    """The angle between two orientations in degrees."""
    return degrees(one.to_quaternion().rotation_difference(other.to_quaternion()).angle)


def control(bone: str) -> str:
    """The control bone that is the target of a bone's goal."""
    return rigs.goal_of(rig(), bone).subtarget


def missed(bone: str) -> float:
    """The distance of a bone from its control."""
    return (place(bone) - place(control(bone))).length


class State(NamedTuple):
    """What a step may change: the places of all joints, settings, and keys."""

    joints: np.ndarray
    settings: tuple
    keys: dict[tuple[str, int], list[tuple[float, float]]]


def state() -> State:
    """The present state."""
    settings, bones = shown().dqik, shown().pose.bones  # as evaluated: undo leaves what is animated for later
    return State(
        np.array([(*bone.head, *bone.tail) for bone in bones]),
        (settings.live, tuple((goal.bone, goal.mute) for goal in settings.goals),
         tuple((bone.name, bone.dqik_hold) for bone in bones)),
        rigs.keys(rig()),
    )  # fmt: skip


def difference(one: State, other: State) -> str:
    """What is not the same in two states; empty if nothing."""
    if one.joints.shape != other.joints.shape:
        return "the bones"
    away = float(np.abs(one.joints - other.joints).max())
    if away > SAME:
        return f"joints, by {1e3 * away:.2f} mm"
    if one.settings != other.settings:
        return f"settings: {set(one.settings[1] + one.settings[2]) ^ set(other.settings[1] + other.settings[2])}"
    return "" if one.keys == other.keys else "keys"


def open_tab() -> Steps:
    """Select the person, and open the tab beside it."""
    view().spaces[0].show_region_ui = True
    yield 1.0
    rigs.made_active(rig())
    window.region("UI").active_panel_category = "DQIK"
    yield 0.5


def open_saved() -> Steps:
    """Save the scene and open it, as an artist would get it, with the tab beside it."""
    path = Path(tempfile.mkdtemp()) / "person.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    with window.in_view():
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    yield 1.0
    shading = view().spaces[0].shading
    shading.type, shading.color_type, shading.show_cavity = "SOLID", "MATERIAL", True
    bpy.context.preferences.system.viewport_aa = "OFF"  # many machines have no graphics card
    yield from open_tab()


# -- hands on the mouse ----------------------------------------------------------------------------------------------


def undo_and_redo(before: State, step: str) -> Steps:
    """Undo the last step, which must lead back to a state, and redo it."""
    after = state()
    with not_counted():
        yield from press("Z", window_middle(), ctrl=True)
        yield 0.3
        wrong = difference(state(), before)
        assert not wrong, f"undo of {step} does not bring back {wrong}"
        yield from press("Z", window_middle(), ctrl=True, shift=True)
        yield 0.3
    wrong = difference(state(), after)
    assert not wrong, f"redo of {step} does not bring back {wrong}"


def act(steps: Steps, words: str) -> Steps:
    """Do some steps, undo them, and redo them."""
    before = state()
    yield from steps
    yield from undo_and_redo(before, words)


def outline(bone: str) -> Iterable[Point]:
    """Points of the window on the lines of a control bone's shape, or along another bone."""
    pose_bone = shown().pose.bones[bone]
    shape = pose_bone.custom_shape
    if shape is None:
        for share in (0.5, 0.3, 0.7, 0.2):
            yield on_screen(shown().matrix_world @ pose_bone.head.lerp(pose_bone.tail, share))
        return
    size = Matrix.Diagonal((*pose_bone.custom_shape_scale_xyz, 1.0))
    for vertex in shape.data.vertices:
        yield on_screen(matrix(bone) @ size @ vertex.co)


def pick(bone: str, shift: bool = False) -> Steps:
    """Click on a bone in the view until it is the active one."""
    count(1 + shift)
    for at in list(outline(bone)):
        with not_counted():
            yield from click(at, shift)
        active = bpy.context.active_pose_bone
        if active is not None and active.name == bone:
            return
    raise AssertionError(f"{bone!r} cannot be picked in the view")


def drag(bone: str, by: tuple[float, float, float], key: str = "G") -> Steps:
    """Move a picked bone by a world vector, as far as it lies in the view's plane, with the mouse."""
    at, to = (on_screen(place(bone) + share * Vector(by)) for share in (0.0, 1.0))
    yield from lead(key, at, window.between(at, to))


def turn(bone: str, angle: float) -> Steps:
    """Turn a picked bone about the view's axis with the mouse, counterclockwise by an angle in degrees."""
    centre = on_screen(place(bone))
    angles = np.radians(np.linspace(0.0, angle, 6))
    places = [(centre[0] + 160 * np.cos(a), centre[1] + 160 * np.sin(a)) for a in angles]
    yield from lead("R", places[0], places[1:])


def transform(key: str, axis: str, value: float) -> Steps:
    """Move (G) or turn (R) the selected bones along or about an axis of the world by a number that is typed in."""
    at = window_middle()
    yield from press(key, at)
    yield from press(axis, at)
    yield from type_text(f"{value:g}", at)
    yield from press("RET", at)


def look(turn: tuple[float, float], at: tuple[float, float, float], distance: float) -> Steps:
    """Turn the view: up from the floor and around the figure in degrees."""
    space = view().spaces[0].region_3d
    space.view_perspective = "ORTHO"
    space.view_rotation = Euler((np.radians(90.0 - turn[0]), 0.0, np.radians(turn[1]))).to_quaternion()
    space.view_location, space.view_distance = at, distance
    yield 0.5
