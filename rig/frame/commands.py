# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animator asks for once, with Live on or off: a solve, bones back to rest, Live off with the pose kept."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

import bpy
import numpy as np

from ..blender import animation, bulk, channels
from ..blender.channels import Scales
from ..blender.dependencies import control_bones
from . import offline
from .memory import holds
from .read.view import View
from .sessions import sessions
from .step import frame
from .step.report import Status
from .step.session import Session

MOVED = 1e-5  # of a body's size: what has moved by less is still where it was
TURNED = 1e-3  # [rad]


def solve(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Status:
    """Solve an armature at the current frame, write the answer and return the report.

    If live solving is off, the solve starts from the current pose, and the answer stays on the bones.
    """
    session = sessions.of(ob) if ob.dqik.live else Session(stored=False)
    with sessions.busy:
        view = View.now(depsgraph)
        sessions.armatures.levels(view, sessions.suspended)
        frame.write_answer(session, ob, frame.solve(session, ob, view), view)
    if not ob.dqik.live:
        arrivals = sessions.of(ob).arrivals
        sessions.by_uid[ob.session_uid] = sessions.of(ob).renewed(session.report)
        sessions.of(ob).arrivals = arrivals
    bpy.context.view_layer.update()
    return session.report.status(ob)


def put_to_rest(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Put the bones that the goals move (all bones if there are no goals) to rest; this becomes their base pose.

    They are not held there.
    """
    session = sessions.of(ob)
    with sessions.busy:
        frame.read(session, ob, View.now(depsgraph))
    rig, now = session.rig.rig, channels.read(ob.pose.bones)
    moved = np.arange(len(ob.pose.bones)) if rig is None else rig.solved_bones
    now.rotations[moved] = now.modes.at_rest(moved)
    if rig is None:
        now.locations[moved] = 0.0
    else:
        now.locations[rig.bones[rig.slide_row]] *= ~rig.slide_free
    channels.write(ob, now)
    holds.clear(ob.pose.bones[bone] for bone in moved.tolist())
    if ob.dqik.live:
        session.pose.rebase(ob)
    ob.update_tag(refresh={"DATA"})


def keep_pose(ob: bpy.types.Object) -> None:
    """Switch live solving off and leave the bones as they are now, also those with keys until the next frame."""
    now, bones = channels.read(ob.pose.bones), sessions.of(ob).pose.stretched
    now.scales = Scales(bones, bulk.read(ob.pose.bones, "scale", 3)[bones])
    sessions.of(ob).pose.rebase(ob)
    ob.dqik.live = False
    channels.write(ob, now)
    ob.update_tag(refresh={"OBJECT"})


@contextmanager
def still(ob: bpy.types.Object) -> Generator[bool]:
    """Live solving pauses while goals are added that the present pose meets, and then starts from this pose.

    So the body does not move, as it may where the solve, with more goals, finds another way from its earlier base pose.
    Live solving goes on where keys move the body, because a pause would show these. Yields whether it pauses.
    """
    bones = animation.animation(ob).bones
    if not ob.dqik.live or any(bone.bone.use_deform and bone.name in bones for bone in ob.pose.bones):
        yield False
        return
    with offline.session(ob):
        yield True
        sessions.of(ob).pose.rebase(ob)
    ob.update_tag(refresh={"OBJECT"})


def moves_by(ob: bpy.types.Object, change: Callable[[], None]) -> bool:
    """Make a change that should move no bone, as `still` has it. If it does, all bones go back.

    Returns whether it did; what else the change has done is then to be taken back.
    """
    pose, shown = sessions.of(ob).pose, channels.read(ob.pose.bones)
    kept, before = pose.kept(ob), pose_of(ob)
    with still(ob):
        change()
    bpy.context.view_layer.update()
    if not differ(before, pose_of(ob)):
        return False
    channels.write(ob, shown)
    pose.take_back(ob, kept, shown)
    ob.update_tag(refresh={"OBJECT"})
    return True


def pose_of(ob: bpy.types.Object) -> np.ndarray:
    """The pose (N, 4, 4) that a body shows, without its controls."""
    shown, own = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()), control_bones(ob)
    return np.array([bone.matrix for bone in shown.pose.bones if bone.name not in own])


def differ(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a body has moved from one pose (N, 4, 4) to another."""
    away, size = np.abs(other - one), max(np.ptp(one[:, :3, 3], axis=0).max(), 1e-12)
    return bool(away[:, :3, 3].max() > MOVED * size or away[:, :3, :3].max() > TURNED)


def give_back(ob: bpy.types.Object) -> None:
    """Put an armature's bones back to their base pose, at the context's frame; Live was switched off."""
    session = sessions.of(ob)
    layer = getattr(bpy.context, "view_layer", None)
    depsgraph = None if layer is None else layer.depsgraph
    if depsgraph is None:
        session.pose.give_back(ob, None, None)
        return  # Blender is starting or ending: there is no frame
    with sessions.busy:
        view = View(depsgraph, bpy.context.scene.frame_current_final, fresh=False)
        session.rig.look(ob, ob, view)
        session.pose.give_back(ob, session.rig.free, view)
