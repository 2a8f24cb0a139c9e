# SPDX-License-Identifier: GPL-3.0-or-later
"""The goals that a frame missed, as text and as the list of frames that an armature object keeps."""

from collections.abc import Iterable, Sequence

import bpy

from ...blender import units
from ...figure.short_names import called
from ...notes import Code, Note, counted, listed
from .report import GoalError

_BETWEEN = "\n"  # the names of the goals that a frame missed


def store(ob: bpy.types.Object, frames: Iterable[tuple[int, Sequence[GoalError]]]) -> None:
    """Replace the armature's missed frames by those of `frames` with a missed goal, each with its goals' errors."""
    found = ob.dqik.missed_frames
    found.clear()
    for frame, errors in frames:
        missed = worst_first(errors)
        if missed:
            entry = found.add()
            entry.name, entry.frame = _BETWEEN.join(ob.dqik.goals[error.goal].name for error in missed), frame
            entry.error = max(error.distance for error in missed)
            entry.rotation_error = max(error.angle for error in missed)


def worst_first(errors: Iterable[GoalError]) -> list[GoalError]:
    """The errors of goals that are missed, the largest distance first."""
    return sorted((error for error in errors if error.missed), key=lambda error: (-error.distance, -error.angle))


def _shown(ob: bpy.types.Object, names: Sequence[str]) -> Note | str:
    """The parts of the body whose goals are missed, as text. names : of the goals."""
    return listed([called(ob, name) for name in names])


def at_frame(scene: bpy.types.Scene, ob: bpy.types.Object, missed: Sequence[GoalError], frame: float) -> Note:
    """A sentence that names the missed goals of a frame, and the largest error."""
    by = units.miss(scene, ob, max(error.distance for error in missed), max(error.angle for error in missed))
    names = [ob.dqik.goals[error.goal].name for error in missed]
    return Note("Not met at frame {}: {}, by {}", f"{frame:g}", _shown(ob, names), by)


def summary(scene: bpy.types.Scene, ob: bpy.types.Object) -> Note | None:
    """A clause about the missed frames: how many, and the worst; None if there are none."""
    frames = ob.dqik.missed_frames
    if not len(frames):
        return None
    worst = max(frames, key=lambda entry: (entry.error, entry.rotation_error))
    by = units.miss(scene, ob, worst.error, worst.rotation_error)
    shown = _shown(ob, worst.name.split(_BETWEEN))
    count = counted(len(frames), Code.ONE_FRAME, Code.FRAMES)
    return Note("goals missed on {}, most at frame {}: {} by {}", count, worst.frame, shown, by)
