# SPDX-License-Identifier: GPL-3.0-or-later
"""Manipulator Jacobians of a skeleton in a pose: velocity, twist, exponential map, dual quaternion, differences.

They serve scripts and checks; the solvers use the faster `Tasks.jacobian`. `J d` is the motion of an effector when the
degrees of freedom move by `d`.

Columns
-------
Every degree of freedom of the skeleton has one column, joints in the skeleton's order: a ball joint has three, a hinge
and a slide one, a fixed joint none. `column_joints` lists their joints. Limits and stiffness have no effect here.

- A ball's columns are small turns about its own X, Y and Z axes as the pose has turned them: `q <- q exp(d)`.
  (`exponential_map_jacobian` has rates of its rotation vector instead.)
- A hinge's column is a turn about its axis [rad], a slide's a move along it [length units].

Rows are in the skeleton's frame: rotation first, then translation. Columns of joints that are not above the effector
are zero. Joints above a joint that does not inherit rotation move it but do not turn it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..model.angles import column_axes, column_joints
from ..model.errors import InvalidGoal, InvalidOptions, UnknownJoint
from ..model.numbers import number, shown, vector
from ..model.skeleton import Pose, Skeleton, check_skeleton
from ..model.world import World, forward

_PURE = [1, 2, 3, 5, 6, 7]  # components of a twist in a dual quaternion: all but the scalar parts


class _Columns(NamedTuple):
    """The geometry from which all Jacobians of one effector are built, a row for each of `n` degrees of freedom."""

    turns: np.ndarray  # (n, 3) world axis about which the effector turns; zero where it is only carried
    moves: np.ndarray  # (n, 3) world direction of a slide; zero for turns
    swings: np.ndarray  # (n, 3) world axis about which the effector is carried; zero for slides
    centres: np.ndarray  # (n, 3) world position of the degree of freedom's joint
    levers: np.ndarray  # (n, 3) world position of the carried point: the effector, or the head of its detached segment
    effector: np.ndarray  # (3,) world position


def velocity_jacobian(
    skeleton: Skeleton, pose: Pose, joint: int | str, offset: Sequence[float] = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """The velocity Jacobian of an effector: columns `(u ; u x (e - p))` for a turn, `(0 ; u)` for a slide.

    (Amino, velocity Jacobian; Parent eq. 5.15, with rotation and translation rows exchanged.)

    Parameters
    ----------
    joint : name or index of the joint that carries the effector.
    offset : (3,) position of the effector in the joint's frame.

    Returns
    -------
    (6, n): rows 0-2 the angular velocity [rad], rows 3-5 the velocity of the point `e` [length units], both in the
    skeleton's frame, for each unit of the column's degree of freedom.

    Examples
    --------
    >>> turns = ik.Joint("arm", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))
    >>> arm = ik.Skeleton([turns, ik.Joint("hand", 0, "fixed", (2, 0, 0))])
    >>> ik.velocity_jacobian(arm, arm.rest_pose(), "hand")[:, 0].tolist()
    [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    """
    columns = _columns(skeleton, pose, joint, offset)
    carried = quaternion.cross(columns.swings, columns.levers - columns.centres)
    return np.concatenate([columns.turns, carried + columns.moves], axis=1).T


def twist_jacobian(skeleton: Skeleton, pose: Pose, joint: int | str) -> np.ndarray:
    """The twist Jacobian of a joint's frame: columns `(u ; p x u)` for a turn, `(0 ; u)` for a slide (Amino).

    It does not depend on the effector's position, so one matrix serves every effector on the joint, and joints of one
    branch differ only in which columns are zero.

    Returns
    -------
    (6, n): rows 0-2 the angular velocity [rad], rows 3-5 the velocity [length units] of the point of the moving body
    that is at the origin of the skeleton's frame. `velocity = twist[3:] + twist[:3] x e`.

    Examples
    --------
    >>> turns = ik.Joint("arm", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))
    >>> arm = ik.Skeleton([turns, ik.Joint("hand", 0, "fixed", (2, 0, 0))])
    >>> ik.twist_jacobian(arm, arm.rest_pose(), "hand")[:, 0].tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    return _twists(_columns(skeleton, pose, joint, (0.0, 0.0, 0.0)))


def exponential_map_jacobian(
    skeleton: Skeleton, pose: Pose, joint: int | str, offset: Sequence[float] = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """`velocity_jacobian` with ball joints parametrised by their rotation vector `v` (Kenwright, appendix B-B).

    A rate `dv` turns the joint by `J_l(v) dv` in the frame in which it rests (Sola 2018, eq. 145). The ball's velocity
    columns are in the frame that `exp(v)` has turned, so they are multiplied by `exp(-v) J_l(v) = J_l(v)^T`.

    Returns
    -------
    (6, n): rows as in `velocity_jacobian`, for each radian of the components of `v = log(q)`, `|v| <= pi`.

    Examples
    --------
    >>> turns = ik.Joint("arm", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))
    >>> arm = ik.Skeleton([turns, ik.Joint("hand", 0, "fixed", (2, 0, 0))])
    >>> ik.exponential_map_jacobian(arm, arm.rest_pose(), "hand")[:, 0].tolist()  # a hinge's column is the same
    [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    """
    jacobian = velocity_jacobian(skeleton, pose, joint, offset)
    vectors = quaternion.log(skeleton.check_pose(pose).rotations)
    owners = column_joints(skeleton)
    for ball in np.flatnonzero(skeleton.balls):
        columns = np.flatnonzero(owners == ball)
        jacobian[:, columns] = jacobian[:, columns] @ quaternion.left_jacobian(vectors[ball]).T
    return jacobian


def dual_quaternion_jacobian(
    skeleton: Skeleton, pose: Pose, joint: int | str, offset: Sequence[float] = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """Derivative of the effector's dual quaternion: `1/2 [Q]_R` times the twist's column (Amino).

    `[Q]_R X = X Q`, and a twist `(w ; v)` is the pure dual quaternion `w + eps v`.

    Returns
    -------
    (8, n): the rates of `Q = r + eps d` in this order: `r` as `w x y z`, then `d` as `w x y z`. `Q` has the sign that
    `forward` gives its rotation.

    Examples
    --------
    >>> turns = ik.Joint("arm", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))
    >>> arm = ik.Skeleton([turns, ik.Joint("hand", 0, "fixed", (2, 0, 0))])
    >>> ik.dual_quaternion_jacobian(arm, arm.rest_pose(), "hand")[:, 0].tolist()
    [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0]
    """
    columns = _columns(skeleton, pose, joint, offset)
    frame = dual_quaternion.from_parts(forward(skeleton, pose).rotations[skeleton.index(joint)], columns.effector)
    times_frame = dual_quaternion.product(np.eye(8), frame).T  # (8, 8), [Q]_R
    return 0.5 * times_frame[:, _PURE] @ _twists(columns)


def finite_difference_jacobian(
    skeleton: Skeleton, pose: Pose, joint: int | str, offset: Sequence[float] = (0.0, 0.0, 0.0), delta: float = 1e-6
) -> np.ndarray:
    """`velocity_jacobian` by forward differences (Kenwright, algorithm 2, eq. 47), as a check of the analytic one.

    Parameters
    ----------
    delta : step of each degree of freedom [rad or length units]. The error has a part proportional to `delta` and one
        proportional to rounding over `delta`; 1e-6 balances the two to about six digits.

    Examples
    --------
    >>> turns = ik.Joint("arm", -1, "hinge", (0, 0, 0), axis=(0, 0, 1))
    >>> arm = ik.Skeleton([turns, ik.Joint("hand", 0, "fixed", (2, 0, 0))])
    >>> ik.finite_difference_jacobian(arm, arm.rest_pose(), "hand")[4, 0].round(4).item()
    2.0
    """
    if not 0.0 < number(delta) < np.inf:
        raise InvalidOptions(f"delta = {shown(delta)}; expected a number above 0")
    joint, place = _check(skeleton, joint, offset)
    before = forward(skeleton, pose)
    rows: list[np.ndarray] = []
    for stepped in _stepped(skeleton, skeleton.check_pose(pose), delta):
        after = forward(skeleton, stepped)
        turn = quaternion.product(after.rotations[joint], quaternion.conjugate(before.rotations[joint]))
        move = _effector(after, joint, place) - _effector(before, joint, place)
        rows.append(np.concatenate([quaternion.log(turn), move]) / delta)
    return np.array(rows).reshape(-1, 6).T


# -- inside -----------------------------------------------------------------------------------------------------------


def _check(skeleton: Skeleton, joint: int | str, offset: Sequence[float]) -> tuple[int, np.ndarray]:
    """The effector's joint as an index, and its offset (3,)."""
    check_skeleton(skeleton)
    try:
        index = skeleton.index(joint)
    except UnknownJoint as error:
        raise InvalidGoal(f"effector: {error}") from None
    return index, vector(offset, 3, f"effector (joint {skeleton.names[index]!r}) offset", InvalidGoal)


def _effector(world: World, joint: int, offset: np.ndarray) -> np.ndarray:
    """World position (3,) of an effector."""
    return world.positions[joint] + quaternion.rotate(world.rotations[joint], offset)


def _columns(skeleton: Skeleton, pose: Pose, joint: int | str, offset: Sequence[float]) -> _Columns:
    """World axes and positions of all degrees of freedom, for one effector."""
    joint, place = _check(skeleton, joint, offset)
    world = forward(skeleton, pose)
    owner = column_joints(skeleton)
    axes = quaternion.rotate(world.rotations[owner], column_axes(skeleton)) * skeleton.ancestors[joint, owner, None]
    slides = skeleton.slides[owner, None]
    swings = np.where(slides, 0.0, axes)
    inherited = (skeleton.segment[owner] == skeleton.segment[joint])[:, None]
    effector = _effector(world, joint, place)
    lever = skeleton.levers(np.array([joint]), owner)[0]
    levers = np.where(lever[:, None] < 0, effector, world.positions[lever])
    return _Columns(swings * inherited, axes - swings, swings, world.positions[owner], levers, effector)


def _twists(columns: _Columns) -> np.ndarray:
    """Twists (6, n) of the effector's frame, about the origin of the skeleton's frame."""
    inherits = columns.turns.any(-1, keepdims=True)
    carried = quaternion.cross(columns.swings, np.where(inherits, 0.0, columns.levers) - columns.centres)
    return np.concatenate([columns.turns, carried + columns.moves], axis=1).T


def _stepped(skeleton: Skeleton, pose: Pose, delta: float) -> list[Pose]:
    """One pose per degree of freedom, which is moved by `delta`."""
    poses: list[Pose] = []
    for joint, axis in zip(column_joints(skeleton), column_axes(skeleton), strict=True):
        rotations, translations = pose.rotations.copy(), pose.translations.copy()
        if skeleton.slides[joint]:
            translations[joint] += delta * axis
        else:
            rotations[joint] = quaternion.product(rotations[joint], quaternion.exp(delta * axis))
        poses.append(Pose(rotations, translations))
    return poses
