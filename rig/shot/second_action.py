# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys for the controls of a figure that is set up, from the motion of an action that has none on them."""

from collections.abc import Generator
from contextlib import suppress

import bpy
from mathutils import Matrix

from ..controls import controls, unkeyed_action
from ..controls.control_parents import Pivot
from ..keys import keying
from . import from_animation

_AT_FIRST = {"influence": 1.0, "mute": False}
"""What the goals of a new action start with where other actions key it."""
_ROLL = "dqik_roll"


def key(context: bpy.types.Context, ob: bpy.types.Object) -> Generator[float, None, range]:
    """Key all controls from the motion of the assigned action; yields the progress, returns the frames.

    Other properties that actions with keys on the controls have, rolls and influences for example, get one key, so that
    they do not keep what another action has left. Nothing is changed before all frames are read.
    """
    elsewhere = unkeyed_action.elsewhere(ob)
    led, poles = unkeyed_action.led_by(ob), unkeyed_action.poles_of(ob)
    frames = from_animation.frames(ob, context.scene)
    others = {bone for bone, path in elsewhere if path.startswith(("location", "rotation"))}
    others -= {*led.values(), *poles.values()}
    pivots = [Pivot(name, parent, Matrix()) for name, parent in _controls(ob) if name in others]
    was_live, ob.dqik.live = ob.dqik.live, False  # the motion goes with the base pose, not with the last answer
    context.view_layer.update()
    rolls = {name: ob.pose.bones[name].dqik_roll for name in led.values() if (name, _ROLL) in elsewhere}
    _roll(ob, dict.fromkeys(rolls, 0.0))
    try:
        yield from from_animation.key(context, ob, from_animation.KeyedControls(list(led), poles, pivots), frames)
    except BaseException:
        with suppress(ReferenceError):  # the object was removed
            _roll(ob, rolls)
            ob.dqik.live = was_live
        raise
    for name in rolls:
        keying.key_path(ob.pose.bones[name], _ROLL, frames[0])
    for number, goal in enumerate(ob.dqik.goals):
        for name, value in _AT_FIRST.items():
            if ("", f"dqik.goals[{number}].{name}") in elsewhere:
                setattr(goal, name, value)
                keying.key_path(ob, f"dqik.goals[{number}].{name}", frames[0])
    ob.dqik.live = was_live
    return frames


def _controls(ob: bpy.types.Object) -> list[tuple[str, str]]:
    return [(bone.name, "" if bone.parent is None else bone.parent.name)
            for bone in ob.data.bones if controls.is_control(bone)]  # fmt: skip


def _roll(ob: bpy.types.Object, rolls: dict[str, float]) -> None:
    for name, value in rolls.items():
        ob.pose.bones[name].dqik_roll = value
