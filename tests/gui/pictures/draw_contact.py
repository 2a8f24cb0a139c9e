# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a person whose hands and feet are led into things: without contact above, with it below.

    python tests/gui/pictures/draw_contact.py docs/images/contact.png [panel ...]

Needs a Python with the bpy package. The person is that of the window tests.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import bpy
from drawing import View, draw, lone_person
from mathutils import Vector

GREY = (0.55, 0.58, 0.62, 1.0)


def main() -> None:
    """Draw all panels."""
    draw(sys.argv[2:] or PANELS, _scene, Path(sys.argv[1]))


def _scene(name: str, kept: bool) -> View:
    """A panel's scene, without or with contact."""
    ob = fresh()
    view = PANELS[name](ob)
    if not kept:
        ob.dqik.avoid_self = ob.dqik.use_floor = False
        ob.dqik.avoid.clear()
        ob.dqik.live = True
    return view


def fresh() -> bpy.types.Object:
    """The person in an empty scene, with a full body of goals, live."""
    ob, _ = lone_person()
    assert bpy.ops.dqik.setup_full_body(targets="EMPTIES") == {"FINISHED"}
    for goal in ob.dqik.goals:
        goal.target.hide_render = True
    ob.dqik.live = True
    return ob


def move(ob: bpy.types.Object, bone: str, place: tuple[float, float, float]) -> None:
    """Move the target of a bone's goal."""
    next(goal for goal in ob.dqik.goals if goal.bone == bone).target.location = place


def _solid(name: str, size: tuple[float, float, float], place: tuple[float, float, float]) -> bpy.types.Object:
    """A box that the picture shows."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
    made = bpy.context.object
    made.name, made.scale = name, size
    material = bpy.data.materials.new(name)
    material.diffuse_color = GREY
    made.data.materials.append(material)
    return made


# -- panels ------------------------------------------------------------------------------------------------------------


def chest(ob: bpy.types.Object) -> View:
    """A hand goes into the chest."""
    ob.dqik.avoid_self = True
    move(ob, "hand.L", (0.0, 0.0, 1.3))
    return Vector((0.0, 0.0, 1.3)), 0.9, 40.0, 15.0


def hands(ob: bpy.types.Object) -> View:
    """Both hands go to the same place before the belly."""
    ob.dqik.avoid_self = True
    move(ob, "hand.L", (-0.02, -0.25, 1.1))
    move(ob, "hand.R", (0.02, -0.25, 1.1))
    return Vector((0.0, -0.1, 1.2)), 0.9, 40.0, 20.0


def floor(ob: bpy.types.Object) -> View:
    """A step, which is a box, and a foot that is in it."""
    ob.dqik.avoid.add().object = _solid("Step", (0.5, 0.5, 0.12), (0.25, -0.1, 0.06))
    ob.dqik.use_floor = True
    bpy.context.view_layer.objects.active = ob
    return Vector((0.05, -0.05, 0.5)), 1.1, 40.0, 8.0


def table(ob: bpy.types.Object) -> View:
    """Hands that are led into a table."""
    ob.dqik.avoid.add().object = _solid("Table", (1.2, 0.6, 0.05), (0.0, -0.5, 0.95))
    ob.dqik.avoid_self = True
    bpy.context.view_layer.objects.active = ob
    move(ob, "hand.L", (0.2, -0.35, 0.95))
    move(ob, "hand.R", (-0.2, -0.35, 0.95))
    return Vector((0.0, -0.2, 1.1)), 1.1, 50.0, 15.0


PANELS: dict[str, Callable[[bpy.types.Object], View]] = {"chest": chest, "hands": hands, "floor": floor, "table": table}


if __name__ == "__main__":
    main()
