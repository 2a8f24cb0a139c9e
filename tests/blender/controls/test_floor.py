# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands reach for the floor from standing, in one move, on rigs as people have them."""


import bpy
import pytest
import rigs
from conventions import BY_NAME
from mathutils import Vector

import build

CHARACTERS = ("mixamo", "unreal", "advanced skeleton", "valve", "xsens")


@pytest.mark.parametrize(
    ("name", "ahead", "limited"),
    [(name, ahead, (row + column) % 2 == 0) for row, name in enumerate(CHARACTERS)
     for column, ahead in enumerate((-0.1, 0.05, 0.1, 0.2, 0.3))],
)  # fmt: skip
def test_hands_reach_the_floor_in_one_move(name: str, ahead: float, limited: bool) -> None:
    """With hips and head that give way, hands are where they can be in many small moves, and knees above the floor."""
    character = BY_NAME[name]
    ob = rigs.made_active(build.native(character))
    bone = {role: ob.pose.bones[name] for name, role in build.truth(character).items() if role}
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    if limited:
        assert bpy.ops.dqik.limits_preset() == {"FINISHED"}
    for goal in ob.dqik.goals:
        goal.mute = goal.bone in (bone["hips", ""].name, bone["head", ""].name)
    targets = {goal.bone: goal.target for goal in ob.dqik.goals}

    def at(part: str, side: str = "") -> Vector:
        return ob.matrix_world @ bone[part, side].head

    heights = [(ob.matrix_world @ one.head).z for one in ob.pose.bones]
    floor, height = min(heights), max(heights) - min(heights)
    across = ((at("hand", "L") - at("hand", "R")) * Vector((1, 1, 0))).normalized()
    forward = across.cross(Vector((0, 0, 1)))
    if (at("toes", "L") - at("foot", "L")).dot(forward) < 0.0:
        forward.negate()
    ob.dqik.live = True
    for side, sign in (("L", 1.0), ("R", -1.0)):
        asked = at("hips") + height * (ahead * forward + 0.1 * sign * across)
        asked.z = floor + 0.02 * height
        targets[bone["hand", side].name].matrix_world.translation = asked
    bpy.context.view_layer.update()
    for side in ("L", "R"):
        for part in ("hand", "foot"):
            missed = at(part, side) - targets[bone[part, side].name].matrix_world.translation
            assert missed.length < 1e-3 * height, (part, side)
        assert at("shin", side).z - floor > 0.04 * height
