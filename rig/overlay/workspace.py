# SPDX-License-Identifier: GPL-3.0-or-later
"""The reach of a goal of an armature: computed once, then shown where the chain's root is, until the rig changes."""

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import numpy as np

from ...solvers import Pose
from ...solvers.algebra import dual_quaternion, quaternion
from ...solvers.reach import POSTURES, SampledChain, Shell, shell
from ..frame.memory import contents
from ..frame.read.question import FrameInput
from ..remembered import Remembered


@dataclass(frozen=True, eq=False)
class Workspace:
    """The reach of a goal. shell : in the frame of the bone that carries the chain, the armature's if that is empty.

    made_from : the rig's settings, of which a change makes the reach out of date.
    """

    goal: str
    carrier: str
    shell: Shell
    made_from: tuple

    def points(self, ob: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
        """The reachable and the dexterous points (K, 3) in the world, on an evaluated object."""
        bone = ob.pose.bones.get(self.carrier)
        world = np.array(ob.matrix_world if bone is None else ob.matrix_world @ bone.matrix)
        turn, place = world[:3, :3].T, world[:3, 3]
        return self.shell.reachable @ turn + place, self.shell.dexterous @ turn + place


def settings(ob: bpy.types.Object, goal: str) -> tuple:
    """Returns the settings on which the reach of a goal of an evaluated object depends."""
    found = ob.dqik.goals.get(goal)
    own = () if found is None else (found.bone, found.chain_length, found.use_tail)
    return own, contents.of_bones(ob)


def compute(
    ob: bpy.types.Object, frame_input: FrameInput, goal: int, postures: int = POSTURES
) -> Generator[float, None, Workspace]:
    """Compute the reach of a solved goal, by its place among the rig's goals; yields the progress from 0 to 1.

    ob : the evaluated object. frame_input : of the frame that it is evaluated at.
    """
    rig, prepared = frame_input.rig, frame_input.prepared
    question = frame_input.question()
    pose = Pose(question.start_rotations[0], question.start_translations[0])
    chain = SampledChain(rig.skeleton, prepared.goals[goal], frame_input.links[0], pose)
    found = yield from shell(chain, postures)
    if chain.base >= 0:
        row = int(np.flatnonzero(rig.main == chain.base)[0])
        world = rig.skeleton.transforms(pose.rotations[None], pose.translations[None], frame_input.links)[0, chain.base]
        turn = quaternion.product(world[:4], quaternion.conjugate(rig.frame_axes[row]))
        carrier, place = ob.pose.bones[int(rig.bones[row])].name, dual_quaternion.translation(world)
    else:
        root = ob.pose.bones[int(rig.bones[_root_row(rig.parent, rig.bones, rig.goal_rows[goal])])].parent
        carrier, turn, place = "", quaternion.IDENTITY, np.zeros(3)
        if root is not None:
            carrier, turn, place = root.name, np.array(root.matrix.to_quaternion()), np.array(root.matrix.translation)
    own = Shell(*(quaternion.rotate(quaternion.conjugate(turn), points - place) for points in (
        found.reachable, found.dexterous,
    )))  # fmt: skip
    number = rig.goals[goal].number
    name = ob.dqik.goals[number].name
    return Workspace(name, carrier, own, settings(ob, name))


def _root_row(parent: np.ndarray, bones: np.ndarray, row: int) -> int:
    """The row of the root above a row. parent : the bone numbers of the rows' parents."""
    rows = dict(zip(bones.tolist(), range(len(bones)), strict=True))
    while int(parent[row]) in rows:
        row = rows[int(parent[row])]
    return row


last: Remembered[int, Workspace | None] = Remembered(100)
"""The reach that was last computed for a goal of each armature, by the `session_uid` of its object; None is hidden."""
