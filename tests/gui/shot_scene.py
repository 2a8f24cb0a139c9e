# SPDX-License-Identifier: GPL-3.0-or-later
"""A shot with a person, a table, a chair and a box, as data: the props, and the blocked poses as moves of controls.

The window test plays it by clicks and keys, the headless one by operators.
"""

import bpy
import rigs
from mathutils import Vector

BOX = "Box"
PROPS = {  # name: size and middle of each block [m]
    "Table": (((0.9, 0.5, 0.04), (0.0, -1.50, 0.78)), ((0.06, 0.4, 0.76), (-0.38, -1.50, 0.38)),
              ((0.06, 0.4, 0.76), (0.38, -1.50, 0.38))),
    "Chair": (((0.42, 0.44, 0.05), (-0.49, -0.95, 0.395)), ((0.04, 0.44, 0.85), (-0.72, -0.95, 0.425)),
              ((0.30, 0.36, 0.37), (-0.49, -0.95, 0.185))),
    "Stool": (((0.36, 0.36, 0.04), (-0.06, -0.48, 0.48)), ((0.10, 0.10, 0.46), (-0.06, -0.48, 0.23))),
    BOX: (((0.30, 0.22, 0.22), (0.0, -1.38, 0.91)),),
}  # fmt: skip
COLOURS = {"Table": (0.45, 0.30, 0.18), "Chair": (0.25, 0.32, 0.25), "Stool": (0.42, 0.36, 0.26),
           BOX: (0.80, 0.62, 0.30)}  # fmt: skip
_CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
_SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]

Move = tuple[str, str, float]  # G or R, the axis of the world, metres or degrees
Moves = tuple[tuple[tuple[str, ...], tuple[Move, ...]], ...]  # the bones whose controls move together, and how

GRIP, LIFT, STEP, TURN, SIT, PUT, WAVE, LAST = 37, 49, 55, 61, 73, 85, 97, 113
BLOCKED: dict[int, Moves] = {  # by frame, from where the controls are
    1: ((("hand.L",), (("G", "X", -0.16),)), (("hand.R",), (("G", "X", 0.16),))),
    13: (  # the left foot lands, the right heel leaves
        (("hips",), (("G", "Y", -0.24), ("G", "Z", -0.03))),
        (("foot.L",), (("G", "Y", -0.48),)),
        (("foot.R",), (("R", "X", 28.0), ("G", "Z", 0.054), ("G", "Y", -0.043))),
        (("hand.L",), (("G", "Y", -0.12),)),
        (("hand.R",), (("G", "Y", -0.40),)),
    ),
    25: (  # the right foot lands, the left heel leaves
        (("hips",), (("G", "Y", -0.48),)),
        (("foot.R",), (("R", "X", -28.0), ("G", "Z", -0.054), ("G", "Y", -0.917))),
        (("foot.L",), (("R", "X", 28.0), ("G", "Z", 0.054), ("G", "Y", -0.043))),
        (("hand.L",), (("G", "Y", -0.74),)),
        (("hand.R",), (("G", "Y", -0.22),)),
    ),
    GRIP: (  # both feet before the table, hands at the box
        (("hips",), (("G", "Y", -0.23), ("G", "Z", 0.01))),
        (("head",), (("G", "Y", -0.08),)),
        (("foot.L",), (("R", "X", -28.0), ("G", "Z", -0.054), ("G", "Y", -0.437))),
        (("hand.L",), (("G", "Y", -0.45), ("G", "X", -0.17), ("G", "Z", -0.09))),
        (("hand.R",), (("G", "Y", -0.69), ("G", "X", 0.17), ("G", "Z", -0.09))),
    ),
    LIFT: (((BOX,), (("G", "Z", 0.18), ("G", "Y", 0.07))), (("head",), (("G", "Y", 0.06),))),
    STEP: ((("foot.L",), (("R", "Z", 90.0), ("G", "X", -0.10), ("G", "Y", 0.08))),),
    TURN: (
        (("foot.R",), (("R", "Z", 90.0), ("G", "X", 0.08), ("G", "Y", -0.10))),
        (("hips",), (("R", "Z", 90.0),)),
        (("head",), (("R", "Z", 90.0), ("G", "X", 0.02))),
        ((BOX,), (("R", "Z", 90.0), ("G", "X", 0.36), ("G", "Y", 0.36))),
    ),
    SIT: ((("hips",), (("G", "X", -0.44), ("G", "Z", -0.40))), ((BOX,), (("G", "X", -0.46), ("G", "Z", -0.32)))),
    PUT: (
        ((BOX,), (("G", "X", 0.02), ("G", "Y", 0.45), ("G", "Z", -0.16))),
        (("head",), (("G", "X", 0.08), ("G", "Y", 0.22), ("G", "Z", -0.10))),
    ),
    WAVE: (
        (("head",), (("G", "X", -0.08), ("G", "Y", -0.22), ("G", "Z", 0.10))),
        (("hand.R",), (("G", "X", -0.08), ("G", "Y", -0.70), ("G", "Z", 0.62))),
        (("hand.L",), (("G", "X", 0.02), ("G", "Y", -0.50), ("G", "Z", 0.02))),
    ),
}  # fmt: skip
STANCES = (  # the foot, a frame on which it stands, and frames on which its ball is on the floor
    ("foot.R", 6, range(1, 13)), ("foot.L", 18, range(13, 25)), ("foot.R", 30, range(25, 50)),
)  # fmt: skip
WAVES = ((101, -28.0), (105, 45.0), (109, -45.0), (LAST, 28.0))  # frames, and turns of the forearm in degrees


def props() -> dict[str, bpy.types.Object]:
    """Make table, chair, stool and box in the scene."""
    made = {}
    for name, blocks in PROPS.items():
        origin = blocks[0][1] if name == BOX else (0.0, 0.0, 0.0)
        corners, sides = [], []
        for size, middle in blocks:
            sides += [tuple(len(corners) + corner for corner in side) for side in _SIDES]
            corners += [tuple(m + c * s - o for c, s, m, o in zip(corner, size, middle, origin, strict=True))
                        for corner in _CORNERS]  # fmt: skip
        made[name] = ob = rigs.mesh(corners, sides, name)
        material = bpy.data.materials.new(name)
        material.diffuse_color = (*COLOURS[name], 1.0)
        ob.data.materials.append(material)
        ob.location, ob.hide_select = origin, name != BOX
    return made


def ball(ob: bpy.types.Object, foot: str) -> Vector:
    """Where the joint of the toes is as the foot carries it: the foot rolls about it."""
    toes = ob.data.bones[foot.replace("foot", "toe")]
    at = ob.data.bones[foot].matrix_local.inverted() @ toes.head_local
    return rigs.world(ob, foot) @ at
