# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve figures that differ in all that differs among those that people use, and six animals.

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

ANIMALS = ("dog", "horse with human names", "no names horse", "dachshund", "giraffe", "splayed dog")
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


_NECK = ("neck", "neck2", "neck3", "head", "muzzle", "ear")


def _dachshund(_: str, point: np.ndarray) -> np.ndarray:
    """A dog with short legs and a long trunk, neck and tail."""
    x, y, z = 1.5 * point
    return np.array((x, 1.3 * y, 0.5 * z if z < 0.7 else z - 0.35))


def _giraffe(joint: str, point: np.ndarray) -> np.ndarray:
    """A horse with long legs, longer ones in front, a short trunk and a long neck."""
    high = (1.5 if point[1] > 0.0 else 1.7) * point[2]
    return np.array((point[0], 0.7 * point[1], high + 0.3 * _NECK.index(joint) if joint in _NECK else high))


def _splayed(joint: str, point: np.ndarray) -> np.ndarray:
    """A dog that rests with its feet out to the sides and behind, and its head low."""
    low = 0.25 * max(0.0, 0.55 - point[2])
    return point + np.array((low * np.sign(point[0]), 1.5 * low, -0.2 * (joint in _NECK[1:])))


_SHAPES = {  # an animal's names, its body, what becomes of its joints, and its unit
    "dachshund": ("horse with human names", "dog", _dachshund, 100.0),
    "giraffe": ("horse with human names", "horse", _giraffe, 1.0), "splayed dog": ("dog", "dog", _splayed, 1.0),
}  # fmt: skip
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
            character = _animal(name)
            return measure.made(character, "native"), build.truth(character)
        bpy.ops.wm.read_factory_settings(use_empty=True)
        return strangers.made(_stranger(name), False)


def body(name: str) -> dict[str, tuple[float, float, float]]:
    """The joints of the body of a figure or an animal."""
    return BODIES[(_animal(name) if name in ANIMALS else _stranger(name).character).body]


def _animal(name: str) -> build.Character:
    if name not in _SHAPES:
        return measure.BY_NAME[name]
    names, body, shape, unit = _SHAPES[name]
    BODIES[name] = {joint: tuple(shape(joint, np.array(point)).tolist()) for joint, point in BODIES[body].items()}
    return replace(measure.BY_NAME[names], name=name, body=name, unit=unit)


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
