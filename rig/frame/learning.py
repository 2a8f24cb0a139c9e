# SPDX-License-Identifier: GPL-3.0-or-later
"""Learns a character's own way to move from its actions.

The bones that goals move have no constraints, so the curves of an action are their pose. Hips and other bones above
them count by their rotations: the natural pose sees a body from its hips, wherever these are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.algebra import dual_quaternion, quaternion
from ...solvers.figure import own_motion
from ..blender import actions
from ..blender.channels import Channels
from ..notes import Code, Note
from ..skeleton import limits
from ..skeleton.rig import Rig
from . import offline
from .memory.prepared_rig import PreparedRig
from .read import links as joint_links
from .read.view import View
from .sessions import sessions
from .step import frame

FRAMES = 3000
"""Most frames to learn from: more tell hardly more."""
_SHARE = 0.5  # of the solved bones that an action turns, from which on it is one of this character


class Lesson(NamedTuple):
    """What was learnt, as text for `Object.dqik.own_motion`, from which actions, and from how many frames."""

    text: str
    actions: list[str]
    frames: int


def learn(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, names: Sequence[str]) -> Lesson | Note:
    """Learn from the actions of an armature object by name, or from all that turn most of its solved bones.

    Returns the reason if there is nothing to learn from.
    """
    with offline.session(ob) as reading, sessions.busy:
        start = frame.read(reading, ob, View.now(depsgraph)).start
        return _learn(ob, reading.rig, start, names)


def _learn(ob: bpy.types.Object, prepared: PreparedRig, start: Channels, names: Sequence[str]) -> Lesson | Note:
    """As `learn`. start : the channels of bones without keys."""
    rig, prior = prepared.rig, prepared.natural.whole()
    if rig is None:
        return prepared.refusal or Note(Code.ADD_GOAL)
    if prior is None:
        return prepared.natural.refusal or Note(Code.NOT_HUMAN)
    for name in names:
        if name not in bpy.data.actions:
            return Note("There is no action {}", repr(name))
    solved = set(rig.solved_bones.tolist())
    used: dict[str, tuple[actions.Curves, np.ndarray]] = {}
    for action in [bpy.data.actions[name] for name in names] or bpy.data.actions:
        turned = actions.turning(ob, action, start.modes)
        count = len({bone for bone, _ in turned} & solved)
        if names and not count:
            return Note("The action {} turns none of the bones that the goals move", repr(action.name))
        if names or count >= _SHARE * len(solved):
            used[action.name] = turned, limits.frames_of(action)
    if not used:
        return Note("No action turns most of the bones that the goals move")
    total = sum(len(frames) for _, frames in used.values())
    every = max(-(-total // FRAMES), 1)
    q = np.concatenate([
        actions.rotations(turned, start, frames[::every].tolist()) for turned, frames in used.values()
    ])  # fmt: skip
    q = q[np.isfinite(q).all((1, 2))]  # without frames in which a key is no number
    if not len(q):
        return Note("The keys of these actions are no numbers: correct them in the Graph Editor")
    learnt = own_motion.fit(prior, poses(rig, q), links(rig, q))
    return Lesson(own_motion.to_text(learnt), list(used), len(q))


def poses(rig: Rig, q: np.ndarray) -> np.ndarray:
    """The joints' motions (F, J, 4) of rotations (F, N, 4) of all bones."""
    found = np.tile(quaternion.IDENTITY, (len(q), len(rig.skeleton), 1))
    found[:, rig.solved_joints] = rig.to_joints(q[:, rig.solved_bones])
    return found


def links(rig: Rig, q: np.ndarray) -> np.ndarray:
    """The links (F, J, 8) of rotations (F, N, 4) of all bones that are not moved or scaled."""
    found = joint_links.in_parents(rig, q[:, rig.bones[rig.still]])
    for parent, roots in rig.root_places.items():
        above = _world(rig, q, parent)
        for root in roots:
            rest = found[:, root.first, :4]
            turned = quaternion.product(above[:, :4], rest) if root.turned else rest
            place = dual_quaternion.transform(above, np.array(root.offset))
            found[:, root.first] = dual_quaternion.from_parts(turned, place)
    return found


def _world(rig: Rig, q: np.ndarray, bone: int) -> np.ndarray:
    """The transforms (F, 8) in armature space of a bone, from rotations (F, N, 4) of all bones."""
    armature = rig.armature
    found = np.tile(dual_quaternion.IDENTITY, (len(q), 1))
    above = np.eye(4)
    for number in reversed(armature.above(bone)):
        relative = np.linalg.inv(above) @ armature.rest[number]
        turned = quaternion.product(quaternion.from_matrix(relative[:3, :3]), q[:, number])
        found = dual_quaternion.product(found, dual_quaternion.from_parts(turned, relative[:3, 3]))
        above = armature.rest[number]
    return found
