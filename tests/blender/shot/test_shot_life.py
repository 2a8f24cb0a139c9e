# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to a shot, through the life of a file: files, overrides, copies, two figures, mirror, bake."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Quaternion
from situations import assign, forget, overridden, override, reopened

FRAMES = (1, 10, 13, 21)
KEYED = (1, 12, 20, 30)
SAME = 1e-6  # m: of one pose that is evaluated twice
STILL = 3e-5  # m: of a pose that is solved again


class Feature(NamedTuple):
    """Something that is done to a shot: at a frame, with bones selected, by a press."""

    frame: int
    bones: tuple[str, ...]
    press: Callable[[], set[str]]


def _pose_and_hold() -> set[str]:
    bone = bpy.context.object.pose.bones["chest"]
    bone.rotation_quaternion = Quaternion((1, 0, 0), 0.3) @ bone.rotation_quaternion
    rigs.update()
    return bpy.ops.dqik.hold_here()


def _pin() -> set[str]:
    tools = bpy.context.scene.tool_settings
    tools.use_keyframe_insert_auto = True
    done = bpy.ops.dqik.pin()
    tools.use_keyframe_insert_auto = False
    return done


def _attach_and_detach() -> set[str]:
    bpy.ops.dqik.attach(object="Box")
    rigs.at_frame(16)
    return bpy.ops.dqik.detach()


HAND, FOOT = ("DQIK hand.L",), ("DQIK foot.L",)
FEATURES = {
    "hold": Feature(12, ("chest",), _pose_and_hold),
    "pin": Feature(10, ("chest",), _pin),
    "attach": Feature(10, HAND, lambda: bpy.ops.dqik.attach(object="Box")),
    "detach": Feature(10, HAND, _attach_and_detach),
    "put in hand": Feature(10, HAND, lambda: bpy.ops.dqik.attach(object="Cup", into_hand=True)),
    "plant": Feature(10, FOOT, lambda: bpy.ops.dqik.plant(frame_start=8, frame_end=14)),
    "to fk": Feature(10, HAND, lambda: bpy.ops.dqik.limb_to_fk(frame_start=10, frame_end=14)),
}  # fmt: skip
MAIN = ("hold", "pin", "detach", "put in hand", "plant", "to fk")


# -- the shot ----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def keys_make_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)


def shot(targets: str = "BONES") -> bpy.types.Object:
    """A live figure whose hands, left foot and hips move, a box that moves before it, and a cup."""
    box = rigs.empty((0.4, -0.3, 1.2), "Box")
    rigs.key_path(box, (1, 30), [(0.4, -0.3, 1.2), (0.55, -0.2, 1.3)])
    rigs.empty((0.7, 0.0, 1.4), "Cup")
    ob = rigs.set_up(rigs.figure(), False, targets=targets)
    for number, name in enumerate(("hand.L", "hand.R", "foot.L", "hips")):
        own = rigs.owner_of(ob, name)
        start, way = np.array(own.location), np.array((0.04, -0.05, 0.03)) * (-1) ** number
        rigs.key_path(own, KEYED, [start + way * (1 + k) / 2 * (-1) ** k for k in range(len(KEYED))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 8, 16
    rigs.live(ob, at=1)
    return ob


def do(ob: bpy.types.Object, name: str) -> None:
    """Go to the frame of a feature, select, and press."""
    feature = FEATURES[name]
    rigs.select(ob, *feature.bones, at=feature.frame)
    assert feature.press() == {"FINISHED"}
    rigs.update()
    rigs.at_frame(feature.frame)


def film(ob: bpy.types.Object, frames: Iterable[int] = FRAMES) -> np.ndarray:
    """World matrices (F, N, 4, 4) of a figure's bones and of the cup."""
    found = []
    for _ in rigs.visited(frames):
        shape = rigs.evaluated(ob)
        cup = next((one for one in bpy.data.objects if one.name == "Cup" and one.library is None), None)
        matrices = [shape.matrix_world @ bone.matrix for bone in shape.pose.bones]
        found.append([*matrices, rigs.evaluated(cup).matrix_world.copy()] if cup is not None else matrices)
    return np.array(found)


def off(one: np.ndarray, other: np.ndarray) -> float:
    """By how much [m] two films differ."""
    return float(np.abs(one - other)[..., :3, 3].max())


def contents() -> dict[str, object]:
    """All that is saved of a shot: keys with their handles, constraints, goals, channels, holds, bones."""
    found: dict[str, object] = {}
    for ob in bpy.data.objects:
        if ob.library is not None:
            continue
        found[f"keys of {ob.name}"] = {
            (curve.data_path, curve.array_index): [
                (*point.co, *point.handle_left, *point.handle_right, point.interpolation)
                for point in curve.keyframe_points
            ] for curve in rigs.fcurves(ob)
        }  # fmt: skip
        found[f"place of {ob.name}"] = [tuple(row) for row in ob.matrix_basis]
        owners = [ob, *(ob.pose.bones if ob.pose is not None else ())]
        found[f"constraints of {ob.name}"] = [
            (one.name, own.name, made.name, made.influence, made.subtarget, [tuple(row) for row in made.inverse_matrix])
            for one in (ob,) for own in owners for made in own.constraints
        ]  # fmt: skip
        if ob.pose is not None:
            found[f"channels of {ob.name}"] = rigs.channels(ob).tolist()
            found[f"holds of {ob.name}"] = [(bone.name, bone.dqik_hold) for bone in ob.pose.bones]
            found[f"goals of {ob.name}"] = [
                (goal.name, goal.bone, goal.subtarget, goal.mute, goal.influence, goal.rotation_follows, goal.priority)
                for goal in ob.dqik.goals
            ]  # fmt: skip
    return found


def assert_alike(one: dict[str, object], other: dict[str, object]) -> None:
    assert [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)] == []


def figure() -> bpy.types.Object:
    """The figure of this file, which undo and loading replace."""
    return next(ob for ob in bpy.data.objects if ob.name == "Figure" and ob.library is None)


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAIN)
def test_a_file_keeps_it(name: str, tmp_path: Path) -> None:
    """Saved and loaded, also seen by a new session that visits frames in another order."""
    ob = shot()
    do(ob, name)
    made = film(ob)
    rigs.at_frame(FEATURES[name].frame)
    saved = contents()
    reopened(tmp_path / "shot.blend")
    assert_alike(saved, contents())
    assert off(film(figure()), made) < SAME
    forget()
    assert off(film(figure(), FRAMES[::-1])[::-1], made) < SAME


@pytest.mark.parametrize("name", MAIN)
def test_an_override_takes_it_and_keeps_it(name: str, tmp_path: Path) -> None:
    """Done to a linked character that is overridden, saved and loaded."""
    shot()
    ob = overridden(tmp_path / "library.blend")
    own_action(ob)
    ob.dqik.live = True
    plain = film(ob, (1, 30))
    do(ob, name)
    assert off(film(ob, (1,)), plain[:1]) < STILL
    made = film(ob)
    reopened(tmp_path / "shot.blend")
    assert override().dqik.live
    assert off(film(override()), made) < SAME


@pytest.mark.parametrize("name", ["hold", "attach", "plant", "to fk"])
def test_what_would_key_a_linked_action_is_refused(name: str, tmp_path: Path) -> None:
    """In one sentence, and nothing changes."""
    shot()
    ob = overridden(tmp_path / "library.blend")
    ob.dqik.live = True
    before = film(ob)
    rigs.select(rigs.made_active(ob), *FEATURES[name].bones, at=FEATURES[name].frame)
    with pytest.raises(RuntimeError, match="make it (local|a single user) first"):
        (bpy.ops.dqik.hold_here if name == "hold" else FEATURES[name].press)()
    assert off(film(ob), before) < STILL
    assert not any(bone.constraints for bone in ob.pose.bones)


# -- copies and others -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAIN)
def test_a_copy_shows_the_same_and_is_another_figure(name: str) -> None:
    """Duplicated with its action and data, it stands beside and does the same; what is done to it stays with it."""
    ob = shot()
    do(ob, name)
    names = [bone.name for bone in ob.pose.bones if bone.bone.use_deform]
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.made_active(ob)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy != ob and copy.dqik.live
    made = world(ob, names)
    assert off(world(copy, names), made) < STILL
    if copy.animation_data.action == ob.animation_data.action:
        own_action(copy)
    for curve in rigs.fcurves(copy):
        if "DQIK hand.R" in curve.data_path and curve.data_path.endswith("location"):
            for key in curve.keyframe_points:
                key.co[1] += 0.05
    rigs.update()
    assert off(world(ob, names), made) < SAME
    assert off(world(copy, names), made) > 0.01


def own_action(ob: bpy.types.Object) -> None:
    """Make a figure's action its own, in this file."""
    assign(ob, ob.animation_data.action.copy())


def world(ob: bpy.types.Object, names: list[str]) -> np.ndarray:
    """World matrices (F, N, 4, 4) of some bones."""
    return np.array([[rigs.world(ob, name) for name in names] for _ in rigs.visited(FRAMES)])


@pytest.mark.parametrize("order", ["first", "last"])
def test_one_figure_holds_another_by_the_hand(order: str, tmp_path: Path) -> None:
    """Whichever was made first: the hand stays at the other's, through a file, frames in any order, and a bake."""
    ob = shot() if order == "first" else None
    shot_of("Leader")
    ob = ob or shot()
    rigs.select(ob, *HAND, at=10)
    before = film(ob, (1, 10))
    assert bpy.ops.dqik.attach(object="Leader", bone="hand.R") == {"FINISHED"}
    assert off(film(ob, (1, 10)), before) < STILL
    own = rigs.owner_of(ob, "hand.L")
    for curve in rigs.fcurves(ob):  # its later keys have their places in the world
        if f'"{own.name}"' in curve.data_path and "constraints" not in curve.data_path:
            while curve.keyframe_points[-1].co[0] > 10.5:
                curve.keyframe_points.remove(curve.keyframe_points[-1])
    rigs.update()
    reopened(tmp_path / "pair.blend")
    assert apart(figure(), FRAMES[1:]) < 1e-5
    forget()
    assert apart(figure(), FRAMES[:0:-1]) < 1e-5
    made = film(figure())
    rigs.made_active(figure())
    assert bpy.ops.dqik.bake(frame_start=1, frame_end=21) == {"FINISHED"}
    assert off(film(figure()), made) < STILL


def shot_of(name: str) -> bpy.types.Object:
    """Another live figure, whose right hand moves."""
    ob = rigs.figure(name)
    ob.location = (1.4, -0.3, 0.0)
    bpy.ops.dqik.setup_full_body()
    own = rigs.owner_of(ob, "hand.R")
    rigs.key_path(own, KEYED, [(0.1 * k, -0.05 * k, 0.02 * k) for k in range(len(KEYED))])
    rigs.live(ob)
    return ob


def apart(ob: bpy.types.Object, frames: Iterable[int]) -> float:
    """By how much [m] the left control changes its place in the space of the leader's right hand."""
    found = np.array([rigs.world(bpy.data.objects["Leader"], "hand.R").inverted() @ rigs.world(ob, "DQIK hand.L")
                      for _ in rigs.visited(frames)])  # fmt: skip
    return float(np.abs(found - found[0])[:, :3, 3].max())


# -- bake and mirror ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAIN)
def test_a_bake_shows_what_live_shows(name: str) -> None:
    ob = shot()
    do(ob, name)
    made = film(ob, (9, 10, 13, 17))
    assert bpy.ops.dqik.bake(frame_start=9, frame_end=17) == {"FINISHED"}
    assert not ob.dqik.live
    assert off(film(ob, (9, 10, 13, 17)), made) < STILL


@pytest.mark.parametrize("name", ["hold", "pin", "attach", "put in hand", "to fk"])
def test_the_pose_of_the_left_hand_goes_to_the_right_one(name: str) -> None:
    """Where nothing is attached it is the mirror image; goals, keys, attachments and holds stay."""
    ob = shot()
    do(ob, name)
    before, own, other = contents(), rigs.owner_of(ob, "hand.L"), rigs.owner_of(ob, "hand.R")
    attached = len(own.constraints)
    wanted = np.array(rigs.head(ob, own.name))
    rigs.select(ob, own.name)
    bpy.ops.pose.copy()
    bpy.ops.pose.paste(flipped=True)
    rigs.update()
    after = contents()
    for kind in ("keys", "constraints", "goals"):
        assert after[f"{kind} of Figure"] == before[f"{kind} of Figure"]
    assert ob.dqik.live and not ob.dqik.status.message
    if not attached:
        assert np.abs(np.array(rigs.head(ob, other.name)) - wanted * (-1, 1, 1)).max() < 1e-5
    assert len(other.constraints) == 0 and len(own.constraints) == attached
    here = rigs.matrices(ob)
    other.keyframe_insert("location", frame=bpy.context.scene.frame_current)
    other.keyframe_insert("rotation_quaternion", frame=bpy.context.scene.frame_current)
    rigs.at_frame(FEATURES[name].frame + 1)
    rigs.at_frame(FEATURES[name].frame)
    assert np.abs(rigs.matrices(ob) - here)[:, :3, 3].max() < 1e-3
