# SPDX-License-Identifier: GPL-3.0-or-later
"""The goals of an armature in one evaluation: their settings, and the world matrices of their targets and poles."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ....solvers import Pose
from ....solvers.algebra import quaternion
from ....solvers.model import Targets
from ....solvers.space import points_in
from ...blender.armature import is_finite
from ...blender.dependencies import Dependencies
from ...blender.dependencies import obstacles as obstacles_of
from ...blender.places import WorldMatrices
from ...controls import pins, rotation_space
from ...figure import foot
from ...figure.foot import Turn
from ...notes import Code, Note
from ...skeleton import foot_roll
from ...skeleton.foot_roll import RolledFoot
from ...skeleton.goal_facts import GoalFacts
from ...skeleton.rig import Rig
from . import kinds, led_limbs
from .view import View


class TargetPlace(NamedTuple):
    """World matrices of a goal's target and pole, None for a missing one, and how far the target rolls [rad]."""

    target: Matrix | None
    pole: Matrix | None
    roll: float = 0.0

    @property
    def is_finite(self) -> bool:
        """Whether all of its numbers are."""
        return all(is_finite(matrix) for matrix in (self.target, self.pole) if matrix is not None)


class GoalsRead(NamedTuple):
    """All goals of an armature in one evaluation: their settings, places and influences.

    After the places of the goals come those of the obstacles. settled : settings and influences are those read before.
    led : as `led_limbs.read` has it.
    """

    facts: tuple[GoalFacts, ...] = ()
    places: Sequence[TargetPlace] = ()
    influences: Sequence[float] = ()
    settled: bool = False
    led: Mapping[int, float | None] = MappingProxyType({})


_NO_CURVES: Mapping[str, set[tuple[str, int]]] = {}
_AWAY = -1e3  # of the rig's size


def read(
    ob: bpy.types.Object, view: View, before: GoalsRead, edited: bool,
    of_bones: Mapping[str, set[tuple[str, int]]] = _NO_CURVES,
) -> GoalsRead:  # fmt: skip
    """Read all goals of an evaluated armature object.

    before : as read last; its places do not matter. edited : whether settings may have changed. If not, only places
        are read. Settings are still read when goals were added, removed or moved, or targets were deleted, because
        Blender reports no update for these. of_bones : as in `Animation`, of the armature.
    """
    goals, own = ob.dqik.goals, ob.original.dqik.goals
    as_before = [(goal.name, goal.bone) for goal in own] == [fact[:2] for fact in before.facts]
    if not edited and as_before and kinds.same_scale(ob, before.facts):
        places = same(ob, before.facts, view)
        if places is not None and all(place.is_finite for place in places):
            return before._replace(places=places, settled=True)
    if [(goal.name, goal.bone) for goal in goals] != [(goal.name, goal.bone) for goal in own]:
        goals = own  # for a drawing or a drag right after a script's remove()
    facts, places, later = list[GoalFacts](), list[TargetPlace](), view.later.get(ob.original.session_uid)
    world = WorldMatrices(view.depsgraph)
    for goal in goals:
        target, pole = goal.target, goal.pole_target if goal.use_pole else None
        target_matrix, target_problem = _place(target, goal.subtarget, world, later)
        if goal.rotation_follows > 0.0 and target_matrix is not None:
            target_matrix = _own_turn(ob, goal, goal.rotation_follows, target_matrix)
        pole_matrix, pole_problem = _place(pole, goal.pole_subtarget, world, later)
        rolls = foot_roll.is_used(goal, _evaluated(target, view.depsgraph), ob, of_bones)
        facts.append(GoalFacts(
            goal.name, goal.bone, not goal.mute and (goal.influence > 0.0 or led_limbs.is_led(goal)), _uid(target),
            goal.subtarget, target_problem,
            goal.chain_length, goal.use_position, goal.use_rotation, goal.position_weight, goal.rotation_weight,
            goal.rotation_follows, goal.priority, goal.use_tail, _uid(pole), goal.pole_subtarget, pole_problem,
            goal.pole_angle, *kinds.facts(ob, goal), rolls, pins.tells_turn(ob, goal),
            smooth=goal.smooth, closes_loop=goal.close_loop,
        ))  # fmt: skip
        places.append(TargetPlace(target_matrix, pole_matrix, _roll(goal, view.depsgraph) if rolls else 0.0))
    places += _obstacles(ob, world, later)
    influences, led = [goal.influence for goal in goals], led_limbs.read(ob.original, goals, view.frame)
    return GoalsRead(tuple(facts), places, influences, led=led)


def same(ob: bpy.types.Object, before: tuple[GoalFacts, ...], view: View) -> list[TargetPlace] | None:
    """Places of the goals of an evaluated object whose settings are as before; None if a target is another one.

    A place may have become NaN or infinite.
    """
    goals = ob.dqik.goals
    if len(goals) != len(before):
        return None
    places: list[TargetPlace] = []
    later = view.later.get(ob.original.session_uid) if view.later else None
    world = WorldMatrices(view.depsgraph)
    for goal, fact in zip(goals, before, strict=True):
        place = _places(goal, fact, world, later)
        if place is None:
            return None
        places.append(place)
    return [*places, *_obstacles(ob, world, later)]


def in_armature(
    ob: bpy.types.Object, rig: Rig, places: Sequence[TargetPlace], targets: Targets, posed: Pose | None = None
) -> None:  # fmt: skip
    """Write the goals' targets in armature space into `targets` of one frame, as far as the goals ask for them.

    ob : the evaluated object. posed : as of `FrameInput`; toes that have no goal of their own need it.
    """
    if not rig.goals:
        return
    inverse = ob.matrix_world.inverted_safe()
    matrices = [
        inverse if target is None else inverse @ target
        for target in [places[goal.number].target for goal in rig.goals]
    ]
    for k, bone in rig.own_targets:  # without the way through the world, which rounds where the armature is far away
        matrices[k].translation = ob.pose.bones[bone].head
    targets.positions[0] = [matrix.translation[:] for matrix in matrices]
    if rig.turns:
        targets.rotations[0] = [matrix.to_quaternion()[:] for matrix in matrices]
        if rig.frames is not None:
            targets.rotations[0] = quaternion.product(targets.rotations[0], rig.goal_axes)
        if rig.rolled_feet:
            _roll_feet(rig, [place.roll for place in places], targets, posed)
    for k, number in rig.poled:
        pole = places[number].pole
        if pole is not None:
            targets.poles[0, k] = (inverse @ pole).translation
    if rig.other_kinds:
        kinds.fill(ob, inverse, rig, matrices, targets)
    if rig.plan.obstacles:
        _place_obstacles(inverse, rig, places, points_in(targets))


def _obstacles(ob: bpy.types.Object, world: WorldMatrices, later: set[int] | None) -> list[TargetPlace]:
    """The places of the floor and the obstacles of an evaluated object."""
    found, settings = list[TargetPlace](), ob.dqik
    if not (settings.use_floor or settings.avoid):
        return found
    for number, other in enumerate(obstacles_of(ob)):
        floor = settings.use_floor and number == 0
        matrix = Matrix() if floor and other is None else _place(other, "", world, later)[0]
        if floor and matrix is not None:
            matrix = Matrix.Translation(ob.dqik.floor_height * _up(matrix)) @ matrix
        found.append(TargetPlace(matrix, None))
    return found


def _up(matrix: Matrix) -> Vector:
    """The unit Z axis of a matrix."""
    return Vector([row[2] for row in matrix][:3]).normalized()


def _place_obstacles(inverse: Matrix, rig: Rig, places: Sequence[TargetPlace], points: np.ndarray) -> None:
    """Write the points of obstacles, which come last, in armature space. points : (1, P, 3)."""
    count = len(rig.plan.obstacles[0].points)
    for row, one in enumerate(rig.plan.obstacles, -len(rig.plan.obstacles)):
        matrix = places[rig.all_goals + one.number].target
        if matrix is None:  # it cannot be read, so it is out of the way
            placed = one.points + np.array([0.0, 0.0, _AWAY * rig.armature.size])
        else:
            own = np.array(inverse @ matrix)
            placed = one.points @ own[:3, :3].T + own[:3, 3]
            if one.is_plane:  # an uneven scale turns the normal against the plane
                normal = quaternion.cross(placed[1] - placed[0], placed[2] - placed[0])
                normal *= np.sign(normal @ (placed[3] - placed[0])) or 1.0
                placed[3] = placed[0] + normal / max(float(np.linalg.norm(normal)), 1e-12)
        end = points.shape[1] + count * (row + 1)
        points[0, end - count : end] = placed


def _places(
    goal: bpy.types.PropertyGroup, facts: GoalFacts, world: WorldMatrices, later: set[int] | None
) -> TargetPlace | None:
    """Places of a goal's target and pole; None if they are other objects, or have other problems, than before."""
    target = goal.target
    if (0 if target is None else target.original.session_uid) != facts.target:
        return None
    matrix, problem = _place(target, facts.subtarget, world, later, facts.target_problem is not None)
    if problem != facts.target_problem:
        return None
    if facts.rotation_follows > 0.0 and matrix is not None:
        matrix = _own_turn(goal.id_data, goal, facts.rotation_follows, matrix)
    roll = _roll(goal, world.depsgraph) if facts.rolls else 0.0
    if not facts.pole:
        return TargetPlace(matrix, None, roll)
    pole = goal.pole_target
    pole_matrix, problem = _place(pole, facts.pole_subtarget, world, later, facts.pole_problem is not None)
    same_pole = _uid(pole) == facts.pole and problem == facts.pole_problem
    return TargetPlace(matrix, pole_matrix, roll) if same_pole else None


def _own_turn(
    ob: bpy.types.Object, goal: bpy.types.PropertyGroup, follows: float, matrix: Matrix
) -> Matrix:  # fmt: skip
    """A target's world matrix, without the turn of a control's parent if the goal's rotation follows its limb.

    ob : the evaluated object of the goal.
    """
    if _uid(goal.target) != ob.original.session_uid or not goal.subtarget:
        return matrix
    return rotation_space.own_turn(matrix, ob, goal.subtarget, follows)


def _evaluated(target: bpy.types.Object | None, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object | None:
    return target if target is None or target.is_evaluated else target.evaluated_get(depsgraph)


def _roll(goal: bpy.types.PropertyGroup, depsgraph: bpy.types.Depsgraph) -> float:
    return foot_roll.of(goal, _evaluated(goal.target, depsgraph))


def _uid(ob: bpy.types.Object | None) -> int:
    return 0 if ob is None else ob.original.session_uid


def _place(
    target: bpy.types.Object | None, bone: str, world: WorldMatrices, later: set[int] | None, check: bool = True
) -> tuple[Matrix | None, Note | None]:
    """A target's world matrix, or None and a note about what is wrong with it.

    later : as in `View`, of the goal's armature. check : whether a place that is not a number is wrong, too.
    """
    if target is None:
        return None, None
    matrix = world.of(target, bone)
    if matrix is None:
        return None, Note(Code.HAS_NO_BONE, repr(target.name), repr(bone))
    if later:
        behind = Dependencies().bones_behind(target, bone if target.type == "ARMATURE" else "")
        name = min((repr(other.name) for other, _ in behind if other.original.session_uid in later), default="")
        if name:
            return None, Note("it follows {}, which follows this armature: a cycle", name)
    if check and not is_finite(matrix):
        return None, Note("the place of {} is not a number: reset its transform", repr(target.name))
    return matrix, None


def _roll_feet(rig: Rig, rolls: Sequence[float], targets: Targets, posed: Pose | None) -> None:
    """Roll the targets of one frame, in place.

    rolls : of all goals in the panel's list. posed : as of `FrameInput`; without it, toes without a goal of their own
    keep the targets that they have.
    """
    places, turns = targets.positions[0], targets.rotations[0]
    for one in rig.rolled_feet:
        roll, k = rolls[one.index], one.goal
        axes = quaternion.IDENTITY if rig.frames is None else rig.goal_axes[k]
        unrolled = quaternion.product(turns[k], quaternion.conjugate(axes))
        if one.toes >= 0:
            _turn_toes(rig, one, roll, unrolled, targets, posed)
        if roll != 0.0:
            moved = foot.rolled(one.foot, roll)
            for leg in one.legs:
                there = quaternion.rotate(quaternion.conjugate(unrolled), places[leg] - places[k])
                places[leg] = places[k] + quaternion.rotate(unrolled, _turned(moved, there))
            places[k] += quaternion.rotate(unrolled, moved.offset)
            turns[k] = quaternion.product(quaternion.product(unrolled, moved.turn), axes)


def _turn_toes(
    rig: Rig, one: RolledFoot, roll: float, unrolled: np.ndarray, targets: Targets, posed: Pose | None
) -> None:  # fmt: skip
    """Turn the target of toes against their foot, whose target has an orientation (4,), and move it with them."""
    places, turns, goal = targets.positions[0], targets.rotations[0], rig.prepared.goals[one.toes]
    if one.loose:
        if posed is None:
            return
        rest = quaternion.product(np.array(goal.limb_rest), rig.own_rest[rig.goal_rows[one.toes]])
        turns[one.toes] = quaternion.product(rest, posed.rotations[0, goal.joint])
    if roll == 0.0:
        return
    turns[one.toes] = quaternion.product(one.against(unrolled, roll, goal.rotation_follows), turns[one.toes])
    if goal.has_place:
        origin, motion = places[one.goal], foot.together(one.foot, roll)
        there = quaternion.rotate(quaternion.conjugate(unrolled), places[one.toes] - origin)
        places[one.toes] = origin + quaternion.rotate(unrolled, _turned(motion, there))


def _turned(motion: Turn, point: np.ndarray) -> np.ndarray:
    return motion.offset + quaternion.rotate(motion.turn, point)
