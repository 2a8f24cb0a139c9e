# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of the last solve, for the panel and for scripts, computed on request.

It is measured on Blender's evaluated pose. That pose can differ from the solved one, because of a constraint or an
uneven scale, for example.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...solvers import FrameArrays, Prepared
from ...solvers.algebra import quaternion, twist_swing
from ..blender import channels, rotation
from ..blender.channels import Channels
from ..setup import limit_frame
from ..setup.build import Rig

_NOISE = 1e-5  # of the rig's size: distances that differ by less differ by rounding to single precision
_TURN_NOISE = 5e-4  # [rad], the same for angles
_OUTSIDE = 1e-3  # [rad]: locked bones that are outside their limits by more are reported


@dataclass
class Status:
    """The last solve of an armature; `solved` is False where there was nothing to solve.

    error [armature units], rotation_error [rad] : the worst of all goals. milliseconds : of reading and solving.
    """

    error: float = 0.0
    rotation_error: float = 0.0
    iterations: int = 0
    milliseconds: float = 0.0
    at_limits: int = 0
    converged: bool = False
    message: str = ""
    solved: bool = False


@dataclass
class Solved:
    """One frame's solve, from which a report is made.

    arrays : the question and the answer, which the next solve overwrites. written : the channels that were written.
    scene, frame : where and when. notes : sentences about what was left out.
    """

    rig: Rig
    prepared: Prepared
    arrays: FrameArrays
    seconds: float
    written: Channels
    scene: int
    frame: float
    notes: list[str]


class Report:
    """The result of an armature's last solve. Only its own methods change it."""

    def __init__(self) -> None:
        self._status: Status | None = Status()
        self._solved: Solved | None = None

    def clear(self, message: str = "") -> None:
        """Report that there was nothing to solve."""
        self._status, self._solved = Status(message=message), None

    def note(self, solved: Solved) -> None:
        """Store a solve, from which the report is made on request."""
        self._status, self._solved = None, solved

    def status(self, ob: bpy.types.Object) -> Status:
        """The report on an original object."""
        if self._status is not None:
            return self._status
        solved = self._solved
        status = _as_solved(solved)
        evaluated = _evaluated(ob, solved)
        if evaluated is not None:
            _measure(status, evaluated, solved)
            self._status = status  # it will not change before the next solve
        return status


def _as_solved(solved: Solved) -> Status:
    return Status(
        error=float(solved.arrays.position_errors.max(initial=0.0)),
        rotation_error=float(solved.arrays.rotation_errors.max(initial=0.0)),
        iterations=int(solved.arrays.iterations[0]),
        milliseconds=1e3 * solved.seconds,
        at_limits=int(solved.arrays.at_limit.sum()),
        converged=bool(solved.arrays.converged[0]),
        message="\n".join(solved.notes),
        solved=True,
    )


def _evaluated(ob: bpy.types.Object, solved: Solved) -> bpy.types.Object | None:
    """The evaluated object if it holds the written pose of this frame, else None."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    depsgraph = None if layer is None else layer.depsgraph
    if depsgraph is None or scene.session_uid != solved.scene or scene.frame_current_final != solved.frame:
        return None
    evaluated = ob.evaluated_get(depsgraph)
    pose, count = evaluated.pose, len(solved.written.rotations)
    if not evaluated.is_evaluated or pose is None or len(pose.bones) != count:
        return None
    posed = channels.read(evaluated.pose.bones)
    bones = solved.rig.solved_bones
    return evaluated if np.array_equal(posed.rotations[bones], solved.written.rotations[bones]) else None


def _measure(status: Status, evaluated: bpy.types.Object, solved: Solved) -> None:
    """Replace the errors of a report by those of Blender's evaluated pose, where the two differ."""
    rig, prepared, arrays, pose = solved.rig, solved.prepared, solved.arrays, evaluated.pose.bones
    distances, angles = arrays.position_errors[0].copy(), arrays.rotation_errors[0].copy()
    for k, (row, goal) in enumerate(zip(rig.goal_rows, prepared.goals, strict=True)):
        bone = pose[int(rig.bones[row])]
        if goal.position is not None:
            place = np.array(bone.tail if any(goal.offset) else bone.head)
            distances[k] = _told(distances[k], place, arrays.positions[0, k], _NOISE * rig.size)
        if goal.rotation is not None:
            q = quaternion.from_matrix(np.array(bone.matrix.to_3x3().normalized()))
            q = quaternion.product(q, rig.goal_axes[k])
            turn = quaternion.log(quaternion.product(quaternion.conjugate(q), arrays.orientations[0, k]))
            if abs(float(np.linalg.norm(turn)) - angles[k]) > _TURN_NOISE:
                angles[k] = float(np.linalg.norm(turn))
    if (distances != arrays.position_errors[0]).any() or (angles != arrays.rotation_errors[0]).any():
        options = prepared.options
        weighted = np.array([(goal.position_weight > 0.0, goal.rotation_weight > 0.0) for goal in prepared.goals])
        far = (distances > options.tolerance) & weighted[:, 0]
        status.converged = not (far | ((angles > options.rotation_tolerance) & weighted[:, 1])).any()
        status.error, status.rotation_error = float(distances.max(initial=0.0)), float(angles.max(initial=0.0))
    outside = [repr(pose[bone].name) for bone in rig.locked_bones if _is_outside(pose[bone])]
    if outside:
        note = f"Locked outside its limits: {', '.join(outside)}"
        status.message = "\n".join(filter(None, [status.message, note]))


def _told(solved: float, place: np.ndarray, target: np.ndarray, noise: float) -> float:
    """The solved distance, or Blender's if the two differ by more than rounding."""
    distance = float(np.linalg.norm(place - target))
    return distance if abs(distance - solved) > noise else solved


def _is_outside(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone's own rotation is outside its limits."""
    path = rotation.PATHS[bone.rotation_mode]
    own = np.zeros(4)
    own[: rotation.SIZES[bone.rotation_mode]] = getattr(bone, path)
    x = twist_swing.coordinates(limit_frame.of(bone).motion(rotation.to_quaternion(bone.rotation_mode, own)))
    lo = np.array([bone.dqik_twist_min, bone.dqik_swing_x_min, bone.dqik_swing_z_min])
    hi = np.array([bone.dqik_twist_max, bone.dqik_swing_x_max, bone.dqik_swing_z_max])
    return bool(((x < lo - _OUTSIDE) | (x > hi + _OUTSIDE)).any())
