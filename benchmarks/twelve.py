# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve figures that differ in all that differs among those that people use, and three animals.

They differ in proportions, in the rest pose (T, A, arms down, arms forward), where bones point and roll, their tails, 2
to 6 bones of the spine, twist bones, helper bones of engines, a root bone or none, toes and fingers or none, feet that
are bones of their own, legs with raised heels, scale, facing, modes of rotation, names and skins.
"""

import contextlib
import io
from dataclasses import replace
from typing import NamedTuple

import bpy
import measure
import numpy as np
import retargeted
import strangers
from bodies import BODIES

import build

ANIMALS = ("dog", "horse with human names", "no names horse")
_PROPORTIONS = strangers.PROPORTIONS | {  # legs, trunk, head, hips' width, shoulders' width, arms, all
    "long arms": (0.75, 1.0, 1.0, 1.0, 1.1, 1.4, 1.0), "wide hips": (1.0, 1.0, 1.0, 2.2, 1.0, 1.0, 1.0),
    "short legs": (0.5, 1.0, 1.0, 1.2, 1.2, 0.9, 0.9),
}  # fmt: skip
_RAISED_HEEL = {"shin": (0.09, -0.08, 0.56), "foot": (0.09, 0.16, 0.3), "toes": (0.09, 0.03, 0.04),
                "toetip": (0.09, -0.1, 0.02), "heel": (0.09, 0.1, 0.02)}  # fmt: skip


class _Figure(NamedTuple):
    """A figure. names : of a convention. facing : in degrees. feet : their length. scaled : whether in centimetres."""

    names: str
    proportions: str
    rest: str = "T"
    tails: str = "proper"
    axes: str = "along"
    facing: float = 0.0
    feet: float = 1.0
    scaled: bool = False
    toes: bool = True
    worn: tuple[str, ...] = ()


FIGURES = {
    "adult": _Figure("mixamo", "usual", scaled=True, worn=("skin",)),
    "child": _Figure("vroid", "child", "A", axes="world", facing=180.0, worn=("hair", "skirt", "euler")),
    "giant": _Figure("unreal", "giant", "A", axes="x", scaled=True, worn=("helpers",)),
    "long arms": _Figure("auto-rig pro", "long arms", "down", feet=1.5, worn=("skin",)),
    "wide hips": _Figure("unity", "wide hips", "A", "far"),
    "short legs": _Figure("korean", "short legs", "T", "leaves as their parents", worn=("cape", "weapon")),
    "raised heels": _Figure("valve", "usual", "A", axes="x", facing=37.0),
    "large head": _Figure("japanese", "giant head", "A", scaled=True),
    "no toes": _Figure("advanced skeleton", "usual", "forward", axes="x", toes=False, worn=("euler",)),
    "six of spine": _Figure("second life with volumes", "usual", facing=90.0, worn=("euler",)),
    "long legs": _Figure("latin", "long legs", "down", "one unit", feet=2.0),
    "loose feet": _Figure("numbered", "stocky", "A", "up", facing=-90.0, worn=("feet apart",)),
}  # fmt: skip


def made(name: str) -> tuple[bpy.types.Object, strangers.Truth]:
    """A figure or an animal, alone in an empty file, and its true roles."""
    with contextlib.redirect_stdout(io.StringIO()):
        if name in ANIMALS:
            character = measure.BY_NAME[name]
            return measure.made(character, "native"), build.truth(character)
        bpy.ops.wm.read_factory_settings(use_empty=True)
        return strangers.made(_stranger(name), False)


def body(name: str) -> dict[str, tuple[float, float, float]]:
    """The joints of the body of a figure or an animal."""
    return BODIES[measure.BY_NAME[name].body if name in ANIMALS else _stranger(name).character.body]


def _stranger(name: str) -> strangers.Stranger:
    figure = FIGURES[name]
    own = (retargeted.FIGURES | {one.name: one for one in measure.CHARACTERS})[figure.names]
    body = strangers.joints(np.array(_PROPORTIONS[figure.proportions]), figure.rest == "forward", 1.0)
    body |= _RAISED_HEEL if name == "raised heels" else {}
    for joint in ("toes", "toetip", "heel"):
        x, y, z = body[joint]
        body[joint] = x, body["foot"][1] + figure.feet * (y - body["foot"][1]), z
    BODIES[name] = body
    rows = [line for line in own.table.splitlines() if figure.toes or not line.strip().startswith("toe")]
    character = replace(
        own, table="\n".join(rows), body=name, arms=strangers.RESTS[figure.rest], turned=False, feet=0.0,
        unit=100.0 if figure.scaled else 1.0, axes=figure.axes, facing=figure.facing,
    )  # fmt: skip
    _, proportions, rest, tails, *_ = figure
    seed = list(FIGURES).index(name)
    return strangers.Stranger(seed, proportions, rest, tails, character, figure.scaled, figure.worn)
