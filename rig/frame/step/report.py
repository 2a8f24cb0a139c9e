# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of the last solve, for the panel and for scripts, computed on request.

It is measured on the bones and targets that Blender evaluates. They can differ from those solved, because of a
constraint, an uneven scale, or a target that follows the bones, for example.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import pi
from typing import NamedTuple

import bpy
import numpy as np

from ....solvers import FrameArrays, Goal, Prepared
from ....solvers.algebra import quaternion, twist_swing
from ....solvers.model import Targets
from ...blender import channels, limit_frame, rotation
from ...blender.channels import Channels
from ...blender.places import world_matrix
from ...controls import rotation_space
from ...notes import Note
from ...skeleton import limits
from ...skeleton.rig import Rig
from ..read import targets
from ..read.view import View

_NOISE = 1e-5  # of the rig's size: distances that differ by less differ by rounding to single precision
_TURN_NOISE = 5e-4  # [rad], the same for angles
_SLIGHT, _SLIGHT_TURN, _FAR = 1.5e-3, 0.01, 10.0  # of the rig's size, [rad]: what nobody sees beside so much more
_OUTSIDE = 1e-3  # [rad]: locked bones that are outside their limits by more are reported


class GoalError(NamedTuple):
    """How far a bone is from its target: distance [armature units] and angle [rad].

    goal : the goal's number in the list. met : within the tolerances, of no weight, or only a wish (of a priority
    below 0, as the goal of the hips has). lags : whether the bone is on its way to the target. gave_way : whether it is
    a wish that other goals kept from its target.
    """

    goal: int
    distance: float
    angle: float
    met: bool
    lags: bool = False
    gave_way: bool = False

    @property
    def missed(self) -> bool:
        """Whether it is neither met nor on its way."""
        return not (self.met or self.lags)


@dataclass
class Status:
    """The last solve of an armature; `solved` is False where there was nothing to solve.

    error [armature units], rotation_error [rad] : the worst of all goals but wishes. milliseconds : of reading and
    solving. notes : what needs attention. goals : the errors of each goal that was solved. frame : the frame that was
    solved. overlap [armature units] : how deep bodies are in each other or in obstacles. lags : whether goals are not
    met because the bones follow their targets with a lag. count_at_limits : counts the bones at their limits, once.
    """

    error: float = 0.0
    rotation_error: float = 0.0
    iterations: int = 0
    milliseconds: float = 0.0
    count_at_limits: Callable[[], int] = int
    overlap: float = 0.0
    converged: bool = False
    notes: tuple[Note, ...] = ()
    solved: bool = False
    goals: tuple[GoalError, ...] = ()
    frame: float = 0.0
    lags: bool = False

    @cached_property
    def at_limits(self) -> int:
        """The number of solved bones at one of their limits."""
        return self.count_at_limits()

    @property
    def message(self) -> str:
        """The notes as text, one in a line."""
        return "\n".join(map(str, self.notes))


@dataclass
class Solved:
    """One frame's solve, from which a report is made.

    arrays : the question and the answer, which the next solve overwrites. written : the channels that were written.
    goals : as they were read. scene, frame : where and when. notes : about what was left out. lags : whether
    the answer is on its way to the targets.
    """

    rig: Rig
    prepared: Prepared
    arrays: FrameArrays
    seconds: float
    written: Channels
    goals: targets.GoalsRead
    scene: int
    frame: float
    notes: list[Note]
    lags: bool


class SolveReport:
    """The result of an armature's last solve. Only its own methods change it."""

    def __init__(self) -> None:
        self._status: Status | None = Status()
        self._solved: Solved | None = None

    def clear(self, note: Note | None = None) -> None:
        """Report that there was nothing to solve."""
        self._status, self._solved = Status(notes=() if note is None else (note,)), None

    def note(self, solved: Solved) -> None:
        """Store a solve, from which the report is made on request."""
        self._status, self._solved = None, solved

    def check_pose(self, ob: bpy.types.Object) -> None:
        """Clear a report whose pose an original object has no longer, as after an undo without Live."""
        solved, pose = self._solved, ob.pose
        if solved is None or pose is None:
            return
        bones, written = solved.rig.solved_bones, solved.written.rotations
        if len(pose.bones) != len(written) or not np.array_equal(
            channels.read(pose.bones).rotations[bones], written[bones]
        ):
            self.clear()

    def status(self, ob: bpy.types.Object) -> Status:
        """The report on an original object."""
        if self._status is not None:
            return self._status
        solved = self._solved
        status = _as_solved(solved)
        evaluated = _evaluated(ob, solved)
        if evaluated is None:
            _put_errors(ob, status, solved, solved.arrays.position_errors[0], solved.arrays.rotation_errors[0])
        else:
            _put_shown(status, evaluated, solved)
            self._status = status  # it will not change before the next solve
        return status


def goal_errors(
    rig: Rig, prepared: Prepared, distances: np.ndarray, angles: np.ndarray, lags: bool = False,
    acting: Container[int] | None = None,
) -> tuple[GoalError, ...]:  # fmt: skip
    """The errors of a frame's goals from their distances (G,) [armature units] and angles (G,) [rad].

    lags : whether the frame's answer is on its way to the targets. acting : the numbers of the goals that count, by
    default of all: a limb that is left to its keys misses nothing, however far from its control it is.
    """
    options, errors = prepared.options, []
    for binding, goal, distance, angle in zip(
        rig.goals, prepared.goals, distances.tolist(), angles.tolist(), strict=True
    ):
        there = (distance <= options.tolerance or goal.position_weight == 0.0) and (
            angle <= options.rotation_tolerance or goal.rotation_weight == 0.0
        )
        if binding.of_foot or not (acting is None or binding.number in acting):
            continue
        is_wish = goal.priority < 0
        errors.append(GoalError(binding.number, distance, angle, there or is_wish, lags, is_wish and not there))
    return _without_slight(errors, rig.armature.size)


def _without_slight(errors: Sequence[GoalError], size: float) -> tuple[GoalError, ...]:
    """Errors; those that nobody sees beside a far larger one, which draws these goals off, count as met."""
    worst = max((error.distance for error in errors if not error.met), default=0.0)
    if worst < _FAR * _SLIGHT * size:
        return tuple(errors)
    return tuple(
        error._replace(met=True) if error.distance < _SLIGHT * size and error.angle < _SLIGHT_TURN else error
        for error in errors
    )


def measure(
    ob: bpy.types.Object, rig: Rig, prepared: Prepared, positions: np.ndarray, orientations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Distances (G,) and angles (G,) of the goals' bones of an evaluated object from their targets (G, 3), (G, 4)."""
    goals, bones = prepared.goals, [ob.pose.bones[bone] for bone in rig.bones[rig.goal_rows].tolist()]
    distances, angles = np.zeros((2, len(goals)))
    placed = [k for k, goal in enumerate(goals) if goal.has_place]
    if placed:
        places = np.array([(bones[k].tail if any(goals[k].offset) else bones[k].head)[:] for k in placed])
        distances[placed] = np.linalg.norm(places - positions[placed], axis=-1)
    turned = [k for k, goal in enumerate(goals) if goal.has_turn]
    if turned:
        own = np.array([bones[k].matrix.to_quaternion()[:] for k in turned])
        by = np.array([rotation_space.carrying(ob, bones[k].name, goals[k].rotation_follows)[:] for k in turned])
        wanted = quaternion.product(by, orientations[turned])
        angles[turned] = quaternion.angle(quaternion.product(own, rig.goal_axes[turned]), wanted)
    for k, goal in enumerate(goals):
        if goal.is_carried:
            distances[k], angles[k] = _apart(bones[k], ob.pose.bones[rig.goals[k].target_bone], goal)
    return distances, angles


def _apart(bone: bpy.types.PoseBone, target: bpy.types.PoseBone, goal: Goal) -> tuple[float, float]:
    """The distance and angle between a bone and the target bone of a closed loop; 0 for what the goal does not ask."""
    place = bone.tail if any(goal.offset) else bone.head
    turn = bone.matrix.to_quaternion().rotation_difference(target.matrix.to_quaternion())
    distance = 0.0 if goal.position is None else float((target.head - place).length)
    return distance, 0.0 if goal.rotation is None else min(turn.angle, 2.0 * pi - turn.angle)


def _overlap(solved: Solved) -> float:
    """The deepest overlap of a solve; one below the tolerance of goals counts as none."""
    apart = solved.prepared.apart
    deepest = 0.0 if apart is None else float(apart.overlaps(solved.arrays)[0])
    return deepest if deepest > solved.prepared.options.tolerance else 0.0


def _as_solved(solved: Solved) -> Status:
    """The report of a solve, without the errors of its goals."""
    return Status(
        iterations=int(solved.arrays.iterations[0]),
        milliseconds=1e3 * solved.seconds,
        count_at_limits=partial(_at_limits, solved.rig, solved.arrays.rotations[0].copy()),
        overlap=_overlap(solved),
        notes=tuple(solved.notes),
        solved=True,
        frame=solved.frame,
    )


def _at_limits(rig: Rig, rotations: np.ndarray) -> int:
    """The number of solved bones at one of their limits in a pose (J, 4), as near as the overlay counts them."""
    joints, lo, hi = rig.limited
    x = twist_swing.coordinates(rotations[joints])
    return int(np.any(limits.at_limit(x, lo, hi), axis=0).sum())


def _put_errors(
    ob: bpy.types.Object, status: Status, solved: Solved, distances: np.ndarray, angles: np.ndarray
) -> None:  # fmt: skip
    """Set the errors of a report to those of its goals (G,), but for goals whose limbs are left to their keys.

    Goals that are left out are not met, wherever their bones are.
    """
    acting = {binding.number for binding in solved.rig.goals if solved.goals.influences[binding.number] > 0.0}
    status.goals = goal_errors(solved.rig, solved.prepared, distances, angles, solved.lags, acting)
    left_out = tuple(GoalError(goal, _distance(ob, goal), 0.0, False) for goal in solved.rig.plan.left_out)
    status.goals += left_out
    status.converged = all(goal.met for goal in status.goals)
    status.lags = solved.lags and not status.converged
    both = zip(solved.rig.goals, solved.prepared.goals, strict=True)
    counts = np.array([binding.number in acting and goal.priority >= 0 and not binding.of_foot
                       for binding, goal in both], dtype=bool)  # fmt: skip
    farthest = max((error.distance for error in left_out), default=0.0)
    status.error = max(float(distances.max(initial=0.0, where=counts)), farthest)
    status.rotation_error = float(angles.max(initial=0.0, where=counts))


def _distance(ob: bpy.types.Object, number: int) -> float:
    """The distance [armature units] of a goal's bone from its target, as they are evaluated; 0 without a place."""
    layer, goals = bpy.context.view_layer, ob.original.dqik.goals
    if layer is None or number >= len(goals):
        return 0.0
    goal, evaluated = goals[number], ob if ob.is_evaluated else ob.evaluated_get(layer.depsgraph)
    bone = None if evaluated.pose is None else evaluated.pose.bones.get(goal.bone)
    place = None if goal.target is None else world_matrix(goal.target, goal.subtarget, layer.depsgraph)
    if bone is None or place is None:
        return 0.0
    wanted = evaluated.matrix_world.inverted_safe() @ place.translation
    return float((wanted - (bone.tail if goal.use_tail else bone.head)).length)


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
    posed = channels.read(pose.bones, channels.modes(pose.bones, solved.written.modes))
    bones = solved.rig.solved_bones
    return evaluated if np.array_equal(posed.rotations[bones], solved.written.rotations[bones]) else None


def _put_shown(status: Status, evaluated: bpy.types.Object, solved: Solved) -> None:
    """Set the errors of a report to those of Blender's evaluated pose; where only rounding differs, to the solve's own.

    Notes say which locked bones that pose has outside their limits.
    """
    rig, arrays, pose = solved.rig, solved.arrays, evaluated.pose.bones
    expected = arrays.position_errors[0], arrays.rotation_errors[0]
    shown = measure(evaluated, rig, solved.prepared, *_shown_targets(evaluated, solved))
    as_solved = [k for k in rig.other_kinds if not (
        solved.prepared.goals[k].is_carried and solved.goals.influences[rig.goals[k].number] == 1.0
    )]  # fmt: skip
    for values, own in zip(shown, expected, strict=True):  # what other kinds miss is not read off the bones
        values[as_solved] = own[as_solved]
    _put_errors(evaluated, status, solved, *(
        np.where(np.abs(new - old) > noise, new, old)
        for new, old, noise in zip(shown, expected, (_NOISE * rig.armature.size, _TURN_NOISE), strict=True)
    ))  # fmt: skip
    outside = [repr(pose[bone].name) for bone in rig.locked_bones if _is_outside(pose[bone])]
    if outside:
        status.notes += (Note("Locked outside its limits: {}", ", ".join(outside)),)


def _shown_targets(evaluated: bpy.types.Object, solved: Solved) -> tuple[np.ndarray, np.ndarray]:
    """Positions (G, 3) and orientations (G, 4) of the solve's targets, where Blender shows them now.

    They can have moved since, for example if they follow the bones. Targets of goals with an influence below 1 are as
    solved, because they depend on the pose.
    """
    positions, orientations = solved.arrays.positions.copy(), solved.arrays.orientations.copy()
    view = View(bpy.context.view_layer.depsgraph, solved.frame, fresh=False)
    places = targets.same(evaluated, solved.goals.facts, view)
    if places is not None:
        now = Targets(
            positions.copy(), orientations.copy(), solved.arrays.poles.copy(), points=solved.arrays.points.copy()
        )
        targets.in_armature(evaluated, solved.rig, places, now)
        whole = [k for k, binding in enumerate(solved.rig.goals)
                 if solved.goals.influences[binding.number] == 1.0 and not binding.of_foot]
        positions[0, whole], orientations[0, whole] = now.positions[0, whole], now.rotations[0, whole]
    return positions[0], orientations[0]


def _is_outside(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone's own rotation is outside its limits."""
    path = rotation.PATHS[bone.rotation_mode]
    own = np.zeros(4)
    own[: rotation.SIZES[bone.rotation_mode]] = getattr(bone, path)
    x = twist_swing.coordinates(limit_frame.of(bone).motion(rotation.to_quaternion(bone.rotation_mode, own)))
    lo, hi = limits.of(bone)
    return bool(((x < lo - _OUTSIDE) | (x > hi + _OUTSIDE)).any())
