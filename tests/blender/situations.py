# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of changes, files and scenes share: a crane that reaches for a load, and ways to look at it again."""

import sys
from collections.abc import Generator, Iterable, Mapping
from math import degrees
from pathlib import Path
from types import MethodType, SimpleNamespace

import bpy
import numpy as np
import rigs
from mathutils import Euler, Quaternion

NEAR = 2e-3  # a goal that is met misses by less
STEADY = 0.02  # [deg] by which one pose may differ when it is evaluated twice


def crane(name: str = "Crane") -> bpy.types.Object:
    """A mast, a boom and a jib in one chain, and a flag on the mast that no goal moves."""
    bones = [
        rigs.Bone("mast", (0, 0, 0), (0.1, 0, 1.1)),
        rigs.Bone("boom", (0.1, 0, 1.1), (0.9, -0.3, 1.5), "mast", True),
        rigs.Bone("jib", (0.9, -0.3, 1.5), (1.5, -0.2, 1.2), "boom", True),
        rigs.Bone("flag", (0.1, 0, 1.1), (0, 0.2, 1.6), "mast"),
    ]
    return rigs.armature(bones, name)


def load(name: str = "Load") -> bpy.types.Object:
    """A target whose keys lead it along a curve within the crane's reach, over frames 1 to 30."""
    ob = rigs.empty((0, 0, 0), name)
    frames = range(1, 31)
    points = [(0.9 + 0.3 * np.sin(f / 4), 0.5 * np.cos(f / 6), 1.0 + 0.3 * np.sin(f / 7)) for f in frames]
    rigs.key_path(ob, frames, points)
    return ob


def reaching(**goal: object) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A crane, its jib's goal, and the load that it reaches for."""
    ob, target = crane(), load()
    rigs.goal(ob, "jib", target, **goal)
    return ob, target


def turned(angles: Iterable[float]) -> Quaternion:
    return Euler(tuple(angles)).to_quaternion()


def key_turns(ob: bpy.types.Object, bone: str, turns: Mapping[int, tuple[float, float, float]] | None = None) -> None:
    """Key a bone's rotation: frame to Euler angles. Without any it swings over 30 frames."""
    for frame, angles in (turns or {1: (0.3, 0.1, 0.0), 15: (-0.4, 0.0, 0.3), 30: (0.2, -0.3, 0.1)}).items():
        ob.pose.bones[bone].rotation_quaternion = turned(angles)
        ob.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame, group=bone)


def curves_of(ob: bpy.types.Object, bone: str) -> list[bpy.types.FCurve]:
    return [curve for curve in rigs.fcurves(ob) if f'"{bone}"' in curve.data_path]


def steps_of(name: str, **options: object) -> tuple[Generator[float, None, set[str]], list[tuple[str, str]]]:
    """The steps of an operator, as the panel runs them between updates of the window, and what it says."""
    operator, said = getattr(bpy.types, f"DQIK_OT_{name}"), []
    usual = {
        "frame_start": 1, "frame_end": 20, "step": 1, "action": "NEW", "only_selected": False, "reduce": 0.0,
        "clear_goals": False, "smooth": 0.0, "solvers": {"PGS"}, "stopped": operator.stopped,
        "tell": lambda kind, *notes: said.append((kind, "; ".join(map(str, notes)))),
    }  # fmt: skip
    running = SimpleNamespace(**(usual | options))
    for method in ("run", "work", "_frames", "_bones", "refused"):
        if hasattr(operator, method):
            setattr(running, method, MethodType(getattr(operator, method), running))
    return operator.steps(running, bpy.context), said


def as_strip(ob: bpy.types.Object) -> bpy.types.NlaStrip:
    """Put an object's action into a track; the strip that holds it."""
    data = ob.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", 1, data.action)
    data.action = None
    return strip


def into_collection(ob: bpy.types.Object, name: str = "Own") -> bpy.types.LayerCollection:
    """Move an object into a new collection of the scene alone; that one in the view layer."""
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for other in list(ob.users_collection):
        other.objects.unlink(ob)
    collection.objects.link(ob)
    return bpy.context.view_layer.layer_collection.children[name]


def assign(ob: bpy.types.Object, action: bpy.types.Action, slot: object = None) -> None:
    """Make an object play an action, by its first slot if no other is given."""
    data = ob.animation_data_create()
    data.action = action
    if hasattr(data, "action_slot"):
        data.action_slot = slot or action.slots[0]


def share_action(ob: bpy.types.Object, other: bpy.types.Object) -> None:
    """Make another object play what an object plays, with the same slot."""
    data = ob.animation_data
    assign(other, data.action, getattr(data, "action_slot", None))


def twin_of(ob: bpy.types.Object) -> bpy.types.Object:
    """Another object of the same data, which plays the same action."""
    twin = bpy.data.objects.new("Twin", ob.data)
    bpy.context.scene.collection.objects.link(twin)
    share_action(ob, twin)
    return twin


def link_action(ob: bpy.types.Object, name: str = "Away") -> None:
    """Have an object's action in a library."""
    action = ob.animation_data.action
    action.name = name
    path = f"{bpy.app.tempdir}{name}.blend"
    bpy.data.libraries.write(path, {action})
    ob.animation_data.action = None
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.actions = [name]
    assign(ob, into.actions[0])


def forget() -> None:
    """Let the extension forget what it remembers between frames, as in a new session of Blender."""
    sys.modules["bl_ext.user_default.dqik.live"].forget()


def turn(before: np.ndarray, after: np.ndarray) -> float:
    """The largest rotation [deg] between two sets of matrices."""
    return degrees(rigs.turn(before, after))


def pose_at(ob: bpy.types.Object, frame: float) -> np.ndarray:
    rigs.at_frame(frame)
    return rigs.matrices(ob)


def history(ob: bpy.types.Object, frames: Iterable[float] = (6, 20, 13, 28, 9)) -> float:
    """By how much [deg] frames depend on what was remembered, or on the frames visited before."""
    worst = 0.0
    for frame in frames:
        here = pose_at(ob, frame)
        forget()
        worst = max(worst, turn(here, pose_at(ob, frame)))
        for other in (frame + 1, 1):
            rigs.at_frame(other)
            worst = max(worst, turn(here, pose_at(ob, frame)))
    return worst


def reopened(path: Path) -> None:
    """Save the file and load it again."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


def linked_from(path: Path, names: Iterable[str] = ("Crane", "Load"), save: bool = True) -> list[bpy.types.Object]:
    """Save the file as a library, unless it is one already; link its objects, in an empty file if it was saved."""
    if save:
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = list(names)
    for ob in wanted.objects:
        bpy.context.scene.collection.objects.link(ob)
    return list(wanted.objects)


def overridden(path: Path, editable: bool = True) -> bpy.types.Object:
    """Save the scene as a library and override all of it in an empty file; the armature.

    editable : else Blender makes overrides for its own needs only.
    """
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    for ob in list(bpy.context.scene.collection.objects):
        collection.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Set"]
    wanted.collections[0].override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, do_fully_editable=editable
    )
    return override()


def override() -> bpy.types.Object:
    """The overridden armature of the file."""
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.override_library)
