# SPDX-License-Identifier: GPL-3.0-or-later
"""TWO_BONE: the analytic limb of two bones, by the law of cosines.

    cos(bend) = (d^2 - a^2 - b^2) / 2 a b

(Parent, "Solving a simple system by analysis".) The middle joint bends until the end is as far from the root as the
target is, `d`; the root joint turns it onto the target, by the smallest turn there is or, with a pole, until the middle
points at the pole; a third joint, if the chain has one, turns the end to the goal's rotation. A limb is stretched
straight toward a target that is too far, and folded for one that is too near.

A hinge keeps the side to which it is bent now, a ball its plane. A straight ball bends by its `preferred` bend or else
about its own X axis, or Z if the bone lies along X. A limb is stretched to within `KEPT` of straight, so that its pose
keeps the plane. If limits forbid one side, the limb bends to the other.

Nothing is iterated or weighted, because each goal has a limb of its own. Limits are kept by moving the analytic pose
inside them, joint by joint: where they are active, the answer is the nearest to the analytic one, and may miss a target
that another solver meets.

A pull toward the base pose (`Options.pull`) decides the pose to start from; damped steps lead nearer to it afterwards
(`group/plan.py`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import quaternion
from ..iterate import aim
from ..iterate.descent import Minimum, Settings
from ..iterate.sweeps import repeat
from ..methods.table import Method
from ..model.errors import InvalidGoal
from ..model.goals import Goal, Targets, label
from ..model.skeleton import Skeleton
from ..space import limb, poles
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, stand
from ..space.posture import Posture, Visit, visits
from ..space.tasks import Tasks

KEPT = 1e-4  # [rad] bend of a stretched limb, which makes it shorter by 1e-9 of its length
STRAIGHT = 1e-5  # sine of the bend below which a limb has no plane of its own
SAME = 1e-9  # [rad]
NO_WORSE = 1e-6  # of the squared error: how much it may grow when the limb turns to its pole


class TwoBone(NamedTuple):
    """A goal's limb: upper and lower joint, the joint that turns the end (None: not needed), the pole's angle."""

    goal: int
    upper: Visit
    lower: Visit
    end: Visit | None
    pole_angle: float | None


def check(skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray) -> None:
    """Raise `InvalidGoal` unless every goal has a limb of two bones of its own; `chains` (G, J)."""
    taken: dict[int, tuple[int, str]] = {}
    for index, goal in enumerate(goals):
        if goal.position is None:
            raise InvalidGoal(
                "goal {} (joint {!r}) has no position, which TWO_BONE needs: give it one or take PGS",
                *label(skeleton, index, goal),
            )
        moved = [j for j in skeleton.order if chains[index, j] and skeleton.freedoms[j]
                 and skeleton.stiffness[j] < 1.0]  # fmt: skip
        if len(moved) not in (2, 3):
            raise InvalidGoal(
                "TWO_BONE moves two joints, and a third that turns the end; goal {} (joint {!r}) has {} "
                "to move in its chain: set its chain length to 2, or to 3 with the one that turns the "
                "end, or take PGS",
                *label(skeleton, index, goal), len(moved),
            )
        for joint in moved:
            name = skeleton.names[joint]
            if skeleton.slides[joint]:
                raise InvalidGoal(
                    "TWO_BONE moves no slides; goal {} (joint {!r}) has {!r} in its chain: take PGS",
                    *label(skeleton, index, goal), name,
                )
            if joint in taken:
                raise InvalidGoal(
                    "TWO_BONE moves each joint for one goal; goal {} (joint {!r}) shares {!r} with goal "
                    "{} (joint {!r}): shorten their chains, remove one of them or take PGS",
                    *label(skeleton, index, goal), name, *taken[joint],
                )
            taken[joint] = label(skeleton, index, goal)
        if goal.rotation is not None and len(moved) == 2:
            raise InvalidGoal(
                "goal {} (joint {!r}) asks for a rotation, and TWO_BONE needs the two joints of its chain"
                " for the position: set its chain length to 3, leave the rotation out or take PGS",
                *label(skeleton, index, goal),
            )
        below = skeleton.ancestors[goal.joint] & skeleton.ancestors[:, moved[0]]
        for joint in skeleton.detached:
            if below[joint] and joint != moved[0] and (len(moved) == 2 or joint != moved[2]):
                raise InvalidGoal(
                    "TWO_BONE turns bones with those above them; goal {} (joint {!r}) has {!r} in its "
                    "limb, which does not inherit rotation: take PGS",
                    *label(skeleton, index, goal), skeleton.names[joint],
                )
        if skeleton.hinges[moved[0]] and not _parallel(skeleton, moved[0], moved[1]):
            raise InvalidGoal(
                "TWO_BONE points a limb by a ball joint, or moves it in a plane by two parallel hinges; "
                "goal {} (joint {!r}) has the hinge {!r} at the root of its limb: take PGS",
                *label(skeleton, index, goal), skeleton.names[moved[0]],
            )


def _parallel(skeleton: Skeleton, upper: int, lower: int) -> bool:
    """Whether two joints are hinges with one direction, at rest."""
    if not skeleton.hinges[lower]:
        return False
    rest = skeleton.transforms(skeleton.rest_pose().rotations[None], None)[0, [upper, lower], :4]
    axes = quaternion.rotate(rest, skeleton.axis[[upper, lower]])
    return bool(np.linalg.norm(quaternion.cross(axes[0], axes[1])) < 1e-4)


def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
    """Place the limbs; more than once only where limits keep the end from its rotation, and so from its position."""
    limbs = _limbs(tasks, space)

    def advance(point: Point, request: Request, sweep: int) -> State:
        posture = Posture(tasks, point, request)
        for two in limbs:
            place(tasks, space, posture, two, request.targets, turned=sweep == 0)
        return posture.state

    count = 0
    if tasks.poles and settings.iterations:  # a start that meets its goals may bend to the wrong side
        placed, count = stand(tasks, advance(start, frames, 0), frames), 1
        accepted = tasks.within(placed.error, settings.tolerance, settings.rotation_tolerance)
        after, before = ((point.error[:, : tasks.m] ** 2).sum(-1) for point in (placed, start))
        accepted |= after <= (1.0 + NO_WORSE) * before
        start = start.copy()
        start.put(np.flatnonzero(accepted), placed.take(accepted))
    minimum = repeat(tasks, settings._replace(iterations=settings.iterations - count), start, frames, advance)
    return Minimum(minimum.point, minimum.iterations + count, minimum.cost)


def _limbs(tasks: Tasks, space: JointSpace) -> list[TwoBone]:
    """The limbs of the goals whose position has a weight."""
    angles = {pole.goal: pole.angle for pole in tasks.poles.poles} if tasks.poles else {}
    order = visits(tasks, space)
    limbs: list[TwoBone] = []
    for goal in np.flatnonzero(tasks.weights[0] > 0.0):
        upper, lower, *rest = [visit for visit in order if goal in visit.goals]
        turns = bool(rest) and tasks.weights[1, goal] > 0.0
        limbs.append(TwoBone(int(goal), upper, lower, rest[0] if turns else None, angles.get(int(goal))))
    return limbs


def place(tasks: Tasks, space: JointSpace, posture: Posture, two: TwoBone, targets: Targets, turned: bool) -> None:
    """Bring one limb's end to its target.

    turned : whether the limb is placed for the goal's rotation of the end; else for the end's present rotation.
    """
    goal, upper, lower, end = two.goal, two.upper, two.lower, two.end
    effector, carrier = len(tasks.skeleton) + goal, tasks.joint[goal]
    follows = goal in tasks.carry.goals
    tip = effector if end is None else end.joint
    beyond = posture.points[:, effector] - posture.points[:, tip]
    if end is not None and follows:  # the end turns with the limb, so it is turned before the limb is placed
        _turn_end(space, posture, end, carrier, goal)
        beyond = posture.points[:, effector] - posture.points[:, tip]
    elif end is not None and turned:
        rotation = posture.wanted()[:, goal]
        beyond = _rotate(rotation @ np.swapaxes(posture.matrices[:, carrier], -1, -2), beyond)
    target = targets.positions[:, goal] - beyond
    root, axis = posture.points[:, upper.joint].copy(), None
    if upper.kind.freedoms == 1:  # the limb moves in one plane, so its target is the nearest point in it
        axis = posture.axis(upper)
        target = target + axis * ((posture.points[:, tip] - target) * axis).sum(-1, keepdims=True)
    _bend(tasks.skeleton, space, posture, lower, root, posture.points[:, tip], _length(target - root))
    arm, line = posture.points[:, tip] - root, target - root
    if axis is not None:
        by = aim.about_axis(axis, arm[:, None], line[:, None], np.ones((len(arm), 1)))
    else:
        by = quaternion.between(arm, line)
        if two.pole_angle is not None:
            middle = root + quaternion.rotate(by, posture.points[:, lower.joint] - root)
            swivel = poles.swivel_vector(root, middle, target, targets.poles[:, goal], two.pole_angle)
            by = quaternion.product(quaternion.exp(swivel), by)
    aim.turn(space, posture, upper, by)
    if end is not None:
        _turn_end(space, posture, end, carrier, goal)


def _turn_end(space: JointSpace, posture: Posture, end: Visit, carrier: int, goal: int) -> None:
    """Turn a limb's end to its goal's rotation."""
    turn = posture.wanted()[:, goal] @ np.swapaxes(posture.matrices[:, carrier], -1, -2)
    aim.turn(space, posture, end, quaternion.from_matrix(turn))


def _bend(
    skeleton: Skeleton, space: JointSpace, posture: Posture, lower: Visit, root: np.ndarray, end: np.ndarray,
    distance: np.ndarray,
) -> None:  # fmt: skip
    """Bend the middle joint for a distance (F,) of the end from the root, to the side that its limits prefer."""
    middle, world = posture.points[:, lower.joint], posture.matrices[:, lower.joint]
    limited = bool(np.isfinite(space.lo[lower.block]).any())
    motion = posture.state.rotations[:, lower.joint]
    best, least = motion.copy(), np.full(len(root), np.inf)
    for axis in _axes(skeleton, posture, lower, middle - root, end - middle, limited):
        bend, needed = limb.bends(root, middle, end, distance, axis)
        own = (((np.maximum(needed, KEPT) - bend)[:, None] * axis)[:, None] @ world)[:, 0]
        bent = quaternion.product(motion, quaternion.exp(own))
        cut = quaternion.angle(space.nearest(lower.block, bent)[0], bent) if limited else np.zeros(len(root))
        better = cut < least - SAME
        best[better], least[better] = bent[better], cut[better]
    posture.move(space, lower, best)


def _axes(
    skeleton: Skeleton, posture: Posture, lower: Visit, upper_bone: np.ndarray, lower_bone: np.ndarray, limited: bool
) -> list[np.ndarray]:
    """World axes (F, 3) about which a positive angle folds the limb, best first."""
    normal = quaternion.cross(upper_bone, lower_bone)
    size = STRAIGHT * _length(upper_bone) * _length(lower_bone)
    own = posture.matrices[:, lower.joint]
    preferred = own @ skeleton.preferred[lower.joint]
    if lower.kind.freedoms == 1:
        axis = posture.axis(lower)
        side = (normal * axis).sum(-1)
        side = np.where(np.abs(side) > size, side, (preferred * axis).sum(-1))
        axis = np.where(side < 0.0, -1.0, 1.0)[:, None] * axis
        return [axis, -axis] if limited else [axis]
    first = np.where((_length(normal) > size)[:, None], normal, 0.0)
    for other in (preferred, own[:, :, 0], own[:, :, 2]):
        along = _unit(lower_bone)
        level = other - along * (other * along).sum(-1, keepdims=True)
        some = (_length(first) == 0.0) & (_length(level) > 1e-3 * _length(other))
        first = np.where(some[:, None], level, first)
    first = _unit(first)
    second = _unit(quaternion.cross(lower_bone, first))
    return [first, -first, second, -second] if limited else [first]


def _rotate(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return (matrix @ vector[..., None])[..., 0]


def _length(vector: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vector, axis=-1)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.maximum(_length(vector), 1e-300)[..., None]


METHOD = Method(minimise, check=check, reaches_only=True, returns=True)
