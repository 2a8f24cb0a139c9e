# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts solved poses to the bones' channels, each in its own rotation mode, and writes them."""

import bpy
import numpy as np

from ....solvers.algebra import by_row
from ...blender import channels
from ...blender.channels import Channels, Modes, Scales
from ...skeleton.rig import Rig
from ..read.question import FrameInput


def answer(
    rotations: np.ndarray, translations: np.ndarray, start: Channels, frame_input: FrameInput,
    reference: Channels | None = None,
) -> Channels:  # fmt: skip
    """The channels of all bones for one solved frame: those of `start` except where bones are solved and not led.

    Parameters
    ----------
    rotations, translations : (J, 4) and (J, 3) of the solver's pose.
    reference : channels that decide between several ways to write a rotation, the nearest wins; `start` by default.
    """
    rig, slide_scale = frame_input.rig, frame_input.slide_scale
    bones, new = rig.solved_bones, Channels(start.rotations.copy(), start.locations, start.modes, start.scales)
    near = (start if reference is None else reference).rotations.take(bones, axis=0)
    new.rotations[bones] = turned(rig, rotations, near.astype(float), start.modes)
    if rig.slide_row.size:
        offsets = translations[rig.slide_joint[:, None] + np.arange(3)].sum(1)
        locations = by_row(offsets, rig.location_frame[rig.slide_row]) / np.maximum(slide_scale, 1e-12)[:, None]
        new.locations = start.locations.copy()
        new.locations.reshape(-1)[rig.slid] = locations[rig.slide_free]
    if frame_input.led:
        led = frame_input.led_bones
        new.rotations[led], new.locations[led] = start.rotations[led], start.locations[led]
    if rig.end_bones.size:
        new.scales = scales(frame_input, translations) | (start.scales or Scales.none(rig.end_bones[:0]))
    return new


def scales(frame_input: FrameInput, translations: np.ndarray) -> Scales:
    """The scales of the bones that may stretch, from the slides (J, 3) of their ends. Those of led limbs are none."""
    rig, values = frame_input.rig, np.ones((len(frame_input.lengths), 3))
    values[:, 1] += (translations[rig.end_joints] * rig.end_axes).sum(-1) / np.maximum(frame_input.lengths, 1e-12)
    values[rig.thins, ::2] = values[rig.thins, 1:2] ** -0.5
    if frame_input.led:
        values[np.isin(rig.end_bones, frame_input.led_bones)] = 1.0
    return Scales(rig.end_bones, values.astype(np.float32))


def turned(rig: Rig, rotations: np.ndarray, near: np.ndarray, modes: Modes) -> np.ndarray:
    """The rotation channels (S, 4) of the solved bones, of several ways to write a rotation those nearest to `near`."""
    return modes.channels(rig.to_bones(rotations.take(rig.solved_joints, axis=0)), rig.solved_bones, near)


def turn(ob: bpy.types.Object, now: Channels, bones: np.ndarray, rotations: np.ndarray) -> bool:
    """Write rotation channels (S, 4) of some bones and tag the object, if that changes anything; returns whether.

    now : the original bones' channels, updated in place.
    """
    if now.rotations.take(bones, axis=0).tobytes() == rotations.tobytes():
        return False
    now.rotations[bones] = rotations
    channels.write_rotations(ob, now)
    ob.update_tag(refresh={"OBJECT"})  # evaluates the pose, but neither curves nor the armature's rest pose
    return True


def apply(ob: bpy.types.Object, new: Channels, bones: np.ndarray, now: Channels, posed: Channels) -> Channels:
    """Write some bones' channels to the original object and tag it for evaluation, if that changes anything.

    Parameters
    ----------
    bones : indices. now : the original bones' channels, updated in place. posed : the evaluated channels; in a render
        they can still have their keyed values although the original's are new.
    """
    moved = now.locations.take(bones, axis=0).tobytes() != new.locations.take(bones, axis=0).tobytes()
    if moved:
        now.locations[bones] = new.locations[bones]
        channels.write_locations(ob, now)
    now.scales = new.scales
    moved |= channels.write_scales(ob, now)
    if turn(ob, now, bones, new.rotations.take(bones, axis=0)):
        return now
    if moved or not posed.alike(new, bones):
        ob.update_tag(refresh={"OBJECT"})
    return now
