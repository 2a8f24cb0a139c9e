# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of other kinds than Reach: their settings as plain values, and their targets in armature space."""

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Matrix
from mathutils.geometry import interpolate_bezier

from ....solvers import GOAL_KINDS, along_curve
from ....solvers.algebra import dual_quaternion, quaternion
from ....solvers.model import SETTINGS, Targets, points_of
from ....solvers.space import Target, eased, joints_on_curve, points_in
from ...skeleton.goal_facts import GoalFacts, SettingValue
from ...skeleton.menus import DIRECTION
from ...skeleton.rig import Rig

_POINTS_A_SEGMENT = 32  # of a Bezier curve between two control points
_SAME = 1e-6  # relative change of a scale that is rounding


def facts(
    ob: bpy.types.Object, goal: bpy.types.PropertyGroup
) -> tuple[str, str, tuple[tuple[str, SettingValue], ...], bool, bool]:
    """The fields of a goal's `GoalFacts` from its kind on, but for the last. ob : the evaluated object."""
    kind = GOAL_KINDS[goal.kind]
    side = goal.side if goal.side in kind.sides or not kind.sides else kind.sides[0]
    settings = tuple((name, _setting(ob, goal, name)) for name in SETTINGS if name in kind.takes)
    is_curve = goal.target is not None and goal.target.type == "CURVE"
    return goal.kind, side, settings, goal.use_support, is_curve


def _setting(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, name: str) -> SettingValue:
    """A goal's setting: an axis by its name or as a direction, or a length in armature units."""
    value = getattr(goal, name)
    if value == DIRECTION:
        return tuple(goal.direction)
    if SETTINGS[name].sort != "length":
        return value
    return value / scale_of(ob) if GOAL_KINDS[goal.kind].signed else max(value / scale_of(ob), 0.0)


def scale_of(ob: bpy.types.Object) -> float:
    """World units in an armature unit: the mean of three axes, rounded so that a moving armature keeps it."""
    size = abs(ob.matrix_world.to_3x3().determinant()) ** (1.0 / 3.0)
    return float(f"{size:.6g}") or 1.0


def same_scale(ob: bpy.types.Object, before: Sequence[GoalFacts]) -> bool:
    """Whether lengths that were read before still hold for an evaluated object: its scale may be animated."""
    for fact, goal in zip(before, ob.dqik.goals, strict=False):
        for name, value in fact.lengths:
            now = getattr(goal, name)
            if fact.kind == goal.kind and abs(now - value * scale_of(ob)) > _SAME * abs(now):
                return False
    return True


def fill(ob: bpy.types.Object, inverse: Matrix, rig: Rig, matrices: Sequence[Matrix], targets: Targets) -> None:
    """Write the targets of other kinds into `targets` of one frame, over what a Reach goal would have.

    inverse : from the world to the armature. matrices : of the goals' targets, in armature space.
    """
    goals, points = rig.prepared.goals, points_in(targets)
    places = points_of(goals)
    for k in rig.other_kinds:
        goal = goals[k]
        if goal.target_joint is not None:
            targets.positions[0, k] = 0.0  # the head of the bone that carries it
        target = GOAL_KINDS[goal.kind].target
        if target == "SUPPORTS":
            targets.rotations[0, k] = inverse.to_quaternion()[:]  # up is the world's Z
            if goal.side == "WITHIN":
                points[0, places[k]] = np.concatenate([
                    targets.positions[0, one] + quaternion.rotate(targets.rotations[0, one], ends)
                    for one, ends in rig.supports
                ])  # fmt: skip
        elif target == "CURVE":
            line = _polyline(_target(ob, rig.goals[k].number))
            points[0, places[k]] = along_curve(line @ _turn(inverse).T + inverse.translation, _lengths(rig, k))
        elif goal.is_carried:
            targets.rotations[0, k] = _turn_in_carrier(rig, k)
        elif goal.rotation is not None:
            turn = matrices[k].to_quaternion()[:] if goal.target_joint is None else quaternion.IDENTITY
            targets.rotations[0, k] = turn


def _turn_in_carrier(rig: Rig, k: int) -> np.ndarray:
    """The orientation (4,) of a goal's joint in the frame of its target bone's joint, with both bones turned alike."""
    carrier = rig.frame_axes[rig.plan.bones.index(rig.goals[k].target_bone)]
    return quaternion.product(quaternion.conjugate(carrier), rig.goal_axes[k])


def ease(rig: Rig, k: int, share: float, world: np.ndarray, targets: Targets) -> None:
    """Move the target of a goal of another kind toward where its bone meets it already, for an influence below 1.

    world : (J, 8) transforms of the joints where they start. share : the influence.
    """
    goals = rig.prepared.goals
    places, turns, points = targets.positions[0], targets.rotations[0], points_in(targets)[0, points_of(goals)[k]]
    places[k], turns[k], points[:] = eased(
        rig.skeleton, goals[k], 1.0 - share, world, Target(places[k], turns[k], points)
    )


def _turn(matrix: Matrix) -> np.ndarray:
    return np.array(matrix.to_3x3())


def _lengths(rig: Rig, k: int) -> list[float]:
    """The distances between the joints of a goal that follows a curve, at rest."""
    goal = rig.prepared.goals[k]
    joints = joints_on_curve(rig.skeleton, goal)
    offsets = np.linalg.norm(dual_quaternion.translation(rig.skeleton.links[joints]), axis=-1)
    return [*offsets.tolist(), float(np.linalg.norm(goal.offset))]


def _target(ob: bpy.types.Object, number: int) -> bpy.types.Object:
    """The evaluated target of a goal of an evaluated object, whose goals have other numbers after an untold removal."""
    goals = ob.original.dqik.goals
    if number >= len(goals):  # all of the last ones were removed, which the evaluated object does not know yet
        return ob.dqik.goals[number].target
    own = goals[number].target
    targets = (goal.target for goal in ob.dqik.goals if goal.target is not None)
    return next((target for target in targets if target.original == own), own)


def _polyline(curve: bpy.types.Object) -> np.ndarray:
    """The first spline of an evaluated curve as points (K, 3) in the world; without what modifiers make of it."""
    splines = curve.data.splines
    points = _spline(splines[0]) if len(splines) else np.zeros((0, 3))
    if len(points) < 2:
        points = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    return points @ _turn(curve.matrix_world).T + np.array(curve.matrix_world.translation)


def _spline(spline: bpy.types.Spline) -> np.ndarray:
    """Points (K, 3) along a spline, in the curve's space."""
    if spline.type == "BEZIER":
        return _bezier(spline)
    points = np.array([point.co for point in spline.points]).reshape(-1, 4)
    order = min(spline.order_u, len(points))
    return _nurbs(points, order, spline.use_endpoint_u) if spline.type == "NURBS" and order > 2 else points[:, :3]


def _bezier(spline: bpy.types.Spline) -> np.ndarray:
    """Points (K, 3) along a Bezier spline."""
    knots = list(spline.bezier_points)
    ends = [*knots[1:], knots[0]] if spline.use_cyclic_u else knots[1:]
    line: list[tuple[float, ...]] = []
    for one, two in zip(knots, ends, strict=False):
        part = interpolate_bezier(one.co, one.handle_right, two.handle_left, two.co, _POINTS_A_SEGMENT)
        line += [tuple(point) for point in (part[1:] if line else part)]
    return np.array(line).reshape(-1, 3)


def _nurbs(points: np.ndarray, order: int, clamped: bool) -> np.ndarray:
    """Points (K, 3) along an open spline of control points (n, 4), the weight last, by de Boor's recursion (1972)."""
    count = len(points)
    knots = np.arange(count + order, dtype=float)
    if clamped:
        knots = np.clip(knots, order - 1, count)
    u = np.linspace(knots[order - 1], knots[count], _POINTS_A_SEGMENT * (count - 1) + 1)
    span = np.clip(np.searchsorted(knots, u, side="right") - 1, order - 1, count - 1)
    weighted = np.concatenate([points[:, :3] * points[:, 3:], points[:, 3:]], 1)
    d = weighted[span[:, None] + np.arange(1 - order, 1)]  # (K, order, 4)
    for level in range(1, order):
        for j in range(order - 1, level - 1, -1):
            at = span + j - order + 1
            lo, hi = knots[at], knots[at + order - level]
            share = ((u - lo) / np.where(hi > lo, hi - lo, 1.0))[:, None]
            d[:, j] = (1.0 - share) * d[:, j - 1] + share * d[:, j]
    return d[:, -1, :3] / d[:, -1, 3:]
