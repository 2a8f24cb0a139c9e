# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames read for bakes, comparisons and checks, while live solving of their armature pauses."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import bpy

from .read.question import Reading
from .read.view import View
from .sessions import sessions
from .step import frame
from .step.report import GoalError, goal_errors, measure
from .step.session import Session


@contextmanager
def session(ob: bpy.types.Object, solver: str = "") -> Generator[Session]:
    """A session to read an armature's frames with; live solving of the armature pauses meanwhile.

    The session starts from the same pose as live solving does, and stores nothing on the bones. solver : replaces the
    armature's own.
    """
    uid = ob.session_uid  # a handler may remove the object meanwhile
    sessions.suspended.add(uid)
    try:
        reading = Session(solver, stored=False)
        if not solver:
            reading.rig = sessions.of(ob).rig
        if ob.dqik.live:
            reading.pose = sessions.of(ob).pose.copy(ob)
        yield reading
    finally:
        sessions.suspended.discard(uid)


def bake_frame(reading: Session, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Reading:
    """`bake_frames` of one armature."""
    return bake_frames([(reading, ob)], depsgraph)[0]


def bake_frames(
    readings: Sequence[tuple[Session, bpy.types.Object]], depsgraph: bpy.types.Depsgraph
) -> list[Reading]:  # fmt: skip
    """Read one frame of armatures, for a bake for example, as live solving would read it after the change of frame.

    The next frame overwrites their inputs. readings : sessions as `session` gives them, with their armatures.
    """
    with sessions.busy:
        view = View.now(depsgraph, fresh=True)
        if len(sessions.armatures.places()) > 1:  # only then may others follow one of them
            sessions.armatures.levels(view, sessions.suspended)
        return [frame.read(reading, ob, view) for reading, ob in readings]


def shown_errors(reading: Session, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[GoalError, ...]:
    """How far the pose that Blender shows at this frame misses each goal.

    If Live is off, goals with an influence below 1 are left out: their targets depend on a pose that is not solved.
    reading : the session to read frames with if Live is off; it stores nothing.
    """
    if ob.dqik.live:
        return sessions.status(ob).goals
    found = bake_frame(reading, ob, depsgraph).frame_input
    if found is None:
        return ()
    evaluated, wanted = ob.evaluated_get(depsgraph), found.targets
    errors = measure(evaluated, found.rig, found.prepared, wanted.positions[0], wanted.rotations[0])
    whole = {index for index, goal in enumerate(evaluated.dqik.goals) if goal.influence == 1.0}
    return goal_errors(found.rig, found.prepared, *errors, acting=whole)
