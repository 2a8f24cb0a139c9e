# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback sees on the next frame whatever was changed between two, and shows what it solves on the same frame."""

from collections.abc import Callable
from math import sin

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Vector
from situations import forget

LAST = 6  # frames played before something is changed, for playback to find its stride


def playing_figure(start_from: str) -> bpy.types.Object:
    """The figure, live, its hips keyed, its hands after targets that move; other keys are muted."""
    ob = rigs.figure()
    frames = range(1, 13)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        target = rigs.empty((0, 0, 0), f"{side} target")
        rigs.key_path(
            target, frames, [Vector((sign * (0.5 + 0.05 * sin(f)), -0.4, 1.3 + 0.05 * sin(2 * f))) for f in frames]
        )
        rigs.goal(ob, f"hand.{side}", target, chain_length=6)
    keyed(ob.pose.bones["hips"], "location", (0.0, 0.0, 0.01), (0.0, 0.0, 0.12))
    collar, goal = ob.pose.bones["collar.L"], ob.dqik.goals[0]
    keyed(collar, "location", (0.0, 0.01, 0.0), (0.0, 0.12, 0.0))
    keyed(goal, "influence", 1.0, 0.1)
    for curve in rigs.fcurves(ob):
        curve.mute = "hips" not in curve.data_path
    collar.location, goal.influence = (0.0, 0.0, 0.0), 1.0
    ob.dqik.start_from, ob.dqik.live = start_from, True
    return ob


def play(first: int, last: int) -> None:
    """Step through frames, as a script does: without an update of its own in between."""
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)


def keyed(owner: bpy.types.bpy_struct, path: str, first: object, last: object) -> None:
    """Keys of a property at both ends."""
    rigs.key_path(owner, (1, 12), (first, last), path)


def posed_in_bulk(ob: bpy.types.Object) -> None:
    """Without Blender being told."""
    turns = np.empty(4 * len(ob.pose.bones), dtype=np.float32)
    ob.pose.bones.foreach_get("rotation_quaternion", turns)
    bone = ob.pose.bones.find("arm.L")
    turns[4 * bone : 4 * bone + 4] = rigs.rotation((1, 2, 0), 40.0)
    ob.pose.bones.foreach_set("rotation_quaternion", turns)


def other_rest(ob: bpy.types.Object) -> None:
    with rigs.edit_mode(ob) as bones:
        bones["forearm.L"].tail.z += 0.1


def released(ob: bpy.types.Object) -> None:
    rigs.pose(ob, "spine", rigs.rotation((1, 0, 0), 20.0))
    ob.pose.bones["spine"].dqik_hold = 0.0


def other_action(ob: bpy.types.Object) -> None:
    ob.animation_data.action = ob.animation_data.action.copy()
    keyed(ob.dqik.goals[1], "influence", 1.0, 0.0)


def unmuted(ob: bpy.types.Object) -> None:
    for curve in rigs.fcurves(ob):
        curve.mute = False


EDITS: dict[str, Callable[[bpy.types.Object], object]] = {
    "rotation mode": lambda ob: setattr(ob.pose.bones["forearm.L"], "rotation_mode", "XYZ"),
    "location": lambda ob: setattr(ob.pose.bones["collar.L"], "location", (0.0, 0.05, 0.0)),
    "scale": lambda ob: setattr(ob.pose.bones["arm.L"], "scale", (1.2, 1.2, 1.2)),
    "keyed scale": lambda ob: keyed(ob.pose.bones["arm.L"], "scale", (1.0, 1.0, 1.0), (1.5, 1.5, 1.5)),
    "keyed rotation": lambda ob: keyed(
        ob.pose.bones["arm.L"], "rotation_quaternion", rigs.rotation((1, 0, 0), 3.0), rigs.rotation((1, 0, 0), 36.0)),
    "posed": lambda ob: rigs.posed(ob.pose.bones["arm.L"], rigs.rotation((1, 2, 0), 40.0)),
    "posed in bulk": posed_in_bulk,
    "released": released,
    "rest": other_rest,
    "keyed influence": lambda ob: keyed(ob.dqik.goals[1], "influence", 1.0, 0.0),
    "driven influence": lambda ob: setattr(ob.dqik.goals[0].driver_add("influence").driver, "expression", "0.3"),
    "other action": other_action,
    "keys that begin to count": unmuted,
    "target removed": lambda ob: bpy.data.objects.remove(ob.dqik.goals[0].target),
    "target moved": lambda ob: setattr(bpy.data.objects["L target"], "delta_location", (0.0, 0.0, 0.1)),
    "goal muted": lambda ob: setattr(ob.dqik.goals[1], "mute", True),
    "limits": lambda ob: rigs.limit(ob.pose.bones["forearm.L"], (-5, 5), (-5, 20), (-5, 5)),
    "stiffness": lambda ob: setattr(ob.pose.bones["arm.L"], "dqik_stiffness", 0.9),
    "object moved": lambda ob: setattr(ob, "location", (0.2, 0.0, 0.0)),
    "natural pose": lambda ob: setattr(ob.dqik, "natural_pose", 0.4),
    "solver": lambda ob: setattr(ob.dqik, "solver", "GAUSS_SEIDEL"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("edit", "updated"), [*((edit, False) for edit in EDITS), *((edit, True) for edit in list(EDITS)[::3])]
)
def test_the_next_frames_see_an_edit(edit: str, updated: bool) -> None:
    """Of frames whose answers are known: they are as in a new session then, and not as without the edit."""
    ob = playing_figure("POSE")
    play(1, LAST + 3)
    without = rigs.matrices(ob)
    play(1, LAST)
    EDITS[edit](ob)
    if updated:
        bpy.context.view_layer.update()
    play(LAST + 1, LAST + 3)
    seen = rigs.matrices(ob)
    forget()
    play(LAST + 3, LAST + 3)
    assert rigs.turn(seen, rigs.matrices(ob)) < 1e-4
    assert np.abs(seen - rigs.matrices(ob)).max() < 1e-4
    assert edit == "rotation mode" or np.abs(seen - without).max() > 1e-4


@pytest.mark.parametrize("start_from", ["POSE", "PREVIOUS"])
def test_what_hangs_on_the_bones_goes_along_on_the_same_frame(start_from: str) -> None:
    """A skinned mesh, a child of a bone and an object constrained to one are where the solved pose puts them."""
    ob = playing_figure(start_from)
    bone = ob.pose.bones["hand.L"]
    skin = rigs.skin(ob, rigs.mesh([bone.tail]), "hand.L")
    child, copy = rigs.child(rigs.empty((0, 0, 0)), ob, "hand.L"), rigs.empty((0, 0, 0))
    rigs.constrain(copy, "COPY_LOCATION", ob, subtarget="hand.L", head_tail=1.0)
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        wanted = rigs.place(bpy.data.objects["L target"])
        assert (rigs.tail(ob, "hand.L") - wanted).length < 1e-3
        point = rigs.evaluated(skin).data.vertices[0].co
        assert (point - wanted).length < 1e-3
        assert (rigs.place(child) - wanted).length < 1e-3
        assert (rigs.place(copy) - wanted).length < 1e-3


def test_a_moved_bone_below_a_still_one_is_solved_alike_on_all_frames() -> None:
    """Its location counts on the second frame as it does on the first."""
    ob = rigs.armature([
        rigs.Bone("base", (0, 0, 0), (0, 0, 1)),
        rigs.Bone("a", (0, 0, 1), (0.5, -0.1, 1.5), "base"),
        rigs.Bone("b", (0.5, -0.1, 1.5), (1, 0, 1.2), "a", True),
    ])  # fmt: skip
    target = rigs.empty((0.3, 0.6, 1.4))
    rigs.goal(ob, "b", target, chain_length=2)
    ob.pose.bones["a"].location = (-0.2, 0.4, 0.1)
    ob.dqik.live = True
    for _ in rigs.visited((2, 3, 9)):
        assert rigs.miss(ob, "b", target) < 1e-3
