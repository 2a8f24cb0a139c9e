# SPDX-License-Identifier: GPL-3.0-or-later
"""FABRIK: forward and backward reaching, in positions rather than angles.

    backward:  p_i <- p_(i+1) + l_i (p_i - p_(i+1)) / |p_i - p_(i+1)|      from the target to the root
    forward:   p_(i+1) <- p_i + l_i (p_(i+1) - p_i) / |p_(i+1) - p_i|      from the root, where it is, to the tip

(Aristidou & Lasenby 2011, algorithm 1 and section 5.) Backward, a joint with several bones takes the centroid of the
positions that they ask for, weighted by their goals. Forward, each joint makes the smallest turn that points its bone
in the wanted direction; with several bones, which keep their places on the joint, it makes the best turn for all. So a
sweep ends with a pose rather than with points: bones keep their lengths, and each joint is inside its limits before the
next one turns, which can make up for them. The next sweep begins with the positions of that pose. If a target is
further away than its chain is long, every bone points at it.

The paper's chains turn freely. A hinge here also aims its goals' effectors, since its bone alone would aim at positions
that it cannot reach, and stop there. A ball above a hinge twists until the hinge can reach its goals.

Sweeps are cheap, and long free chains bend in smooth curves. The method handles positions only: it cannot reach a
rotation, and a slide has no fixed length. Limits are not part of its geometry: where many are active it may stall with
goals unmet. Nor has a sweep a part for a pull toward the base pose (`Options.pull`), which decides the pose to start
from; once the goals are met, damped steps lead nearer to it (`group/plan.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..algebra import quaternion
from ..iterate import aim
from ..iterate.descent import Minimum, Settings
from ..iterate.sweeps import repeat
from ..methods.ccd import swivelled
from ..methods.table import Method
from ..model.errors import InvalidGoal
from ..model.goals import Goal, Targets, label
from ..model.skeleton import Skeleton
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request, stand
from ..space.posture import Posture, Visit, visits
from ..space.tasks import Tasks

STRETCHED = 1.0 - 1e-9  # of a chain's length: to reach further the chain is straight
NO_LENGTH = 1e-9  # of the skeleton's: shorter bones have no direction
IN_LINE = 1e-5  # of a chain's length: a chain this close to the line to its target has no side to bend to
NUDGE = 0.02  # of a chain's length: its joints are then moved off the line by so much


@dataclass
class End:
    """One end of a bone: the `child` bone or, if that is -1, the effector of its only goal.

    goals : (K,) that the end serves. point : of the end, in a `Posture`. lever : the point that turns with the bone and
    carries the end along.
    """

    child: int
    goals: np.ndarray
    point: int
    lever: int


@dataclass
class Branch:
    """A joint and the bones that it carries.

    ends : of the bones. aimed : the ends by which the joint chooses its turn; those of the next joint where a bone has
    no length. alone : the only goal of this joint and of all joints below it; -1 if there are several.
    twists : whether a hinge comes next, so that this joint's twist must bring the goal into the hinge's plane.
    """

    visit: Visit
    ends: list[End] = field(default_factory=list)
    aimed: list[End] = field(default_factory=list)
    alone: int = -1
    twists: bool = False


def check(skeleton: Skeleton, goals: Sequence[Goal], chains: np.ndarray) -> None:
    """Raise `InvalidGoal` for goals with a rotation, or with slides in their chains (G, J)."""
    for index, goal in enumerate(goals):
        if goal.rotation is not None:
            raise InvalidGoal(
                "FABRIK solves positions only; goal {} (joint {!r}) asks for a rotation: take PGS or "
                "leave the rotation out",
                *label(skeleton, index, goal),
            )
        for joint in map(int, np.flatnonzero(chains[index] & (skeleton.stiffness < 1.0))):
            if skeleton.slides[joint]:
                raise InvalidGoal(
                    "FABRIK keeps the lengths of bones; goal {} (joint {!r}) has the slide {!r} in its "
                    "chain: take PGS or shorten the chain",
                    *label(skeleton, index, goal), skeleton.names[joint],
                )


def minimise(tasks: Tasks, space: JointSpace, settings: Settings, start: Point, frames: Request) -> Minimum:
    """Reach back and forth until the goals are met or the sweeps gain nothing more; then turn to the poles."""
    bones = make_bones(tasks, space)

    def advance(point: Point, request: Request, sweep: int) -> State:
        posture = Posture(tasks, point, request)
        joint_targets = backward(
            bones, posture, request.targets, _nudges(tasks, bones, posture, request.targets, sweep)
        )
        forward(space, bones, posture, request.targets, joint_targets)
        return posture.state

    minimum = repeat(tasks, settings, start, frames, advance)
    if tasks.poles and settings.iterations:
        minimum.point = stand(tasks, swivelled(tasks, space, minimum.point.state, frames), frames)
    return minimum


def make_bones(tasks: Tasks, space: JointSpace) -> list[Branch]:
    """The bones that serve goals, from the roots to the tips."""
    skeleton, order = tasks.skeleton, visits(tasks, space)
    rest = tasks.kinematics(space.state(skeleton.rest_pose()), None)
    places = np.concatenate([rest.positions, rest.effectors], 1)[0]
    bones = [Branch(visit) for visit in order]

    def end(joint: int, child: int, goals: np.ndarray) -> End:
        carrier = order[child].joint if child >= 0 else int(tasks.joint[goals[0]])
        point = carrier if child >= 0 else len(skeleton) + int(goals[0])
        lever = int(skeleton.levers(np.array([carrier]), np.array([joint]))[0, 0])
        return End(child, goals, point, lever if lever >= 0 else point)

    for bone in reversed(bones):
        visit = bone.visit
        served: dict[tuple[int, int], list[int]] = {}
        for goal in map(int, visit.goals):
            below = skeleton.ancestors[tasks.joint[goal]] & skeleton.ancestors[:, visit.joint]
            child = next((k for k, v in enumerate(order) if below[v.joint] and v.joint != visit.joint), -1)
            served.setdefault((child, -1 if child >= 0 else goal), []).append(goal)
        for (child, _), goals in served.items():
            one = end(visit.joint, child, np.array(goals))
            bone.ends.append(one)
            if child < 0 or np.linalg.norm(places[one.point] - places[visit.joint]) > NO_LENGTH * skeleton.length:
                bone.aimed.append(one)
                continue
            for other in bones[child].aimed:
                common = np.intersect1d(other.goals, goals)
                if common.size:
                    bone.aimed.append(end(visit.joint, other.child, common))
        if len(bone.ends) == 1 and visit.goals.size == 1:
            goal, child = int(visit.goals[0]), bone.ends[0].child
            bone.alone = goal if child < 0 or bones[child].alone == goal else -1
        if visit.kind.freedoms == 3 and len(bone.aimed) == 1 and bone.aimed[0].child >= 0:
            bone.twists = bones[bone.aimed[0].child].visit.kind.freedoms == 1
    return bones


def backward(
    bones: list[Branch], posture: Posture, targets: Targets, nudges: dict[int, np.ndarray]
) -> list[np.ndarray]:
    """The wanted position (F, 3) of each bone's joint, from the tips to the roots.

    nudges : (F, 3) per bone, added to the joint's present position.
    """
    joint_targets: list[np.ndarray] = [np.zeros((0, 3))] * len(bones)
    for index in range(len(bones) - 1, -1, -1):
        bone = bones[index]
        pivot = posture.points[:, bone.visit.joint]
        total, count = np.zeros_like(pivot), np.zeros((len(pivot), 1))
        for end in bone.ends:
            arm, goal = _arm(posture, bone, end), _end_target(posture, targets, joint_targets, end)
            away = pivot + nudges.get(index, 0.0) - goal
            distance = np.linalg.norm(away, axis=-1, keepdims=True)
            length = np.linalg.norm(arm, axis=-1, keepdims=True)
            weight = posture.places[:, end.goals].sum(-1, keepdims=True)
            total += weight * (goal + away * (length / np.maximum(distance, 1e-300)))
            count += weight
        joint_targets[index] = total / count
    return joint_targets


def forward(
    space: JointSpace, bones: list[Branch], posture: Posture, targets: Targets, joint_targets: list[np.ndarray]
) -> None:
    """Turn each bone, from the roots to the tips, toward the wanted positions of its ends."""
    reach, carried = _reach(bones, posture)
    for index, bone in enumerate(bones):
        visit = bone.visit
        pivot = posture.points[:, visit.joint].copy()
        arms, aims = np.empty((2, len(pivot), len(bone.aimed), 3))
        weights = np.empty(arms.shape[:2])
        for k, end in enumerate(bone.aimed):
            arms[:, k], aims[:, k] = _arm(posture, bone, end), _end_target(posture, targets, joint_targets, end) - pivot
            weights[:, k] = posture.places[:, end.goals].sum(-1)
        if bone.alone >= 0:  # if the target is out of reach for the rest of the chain, point at it
            straight = targets.positions[:, bone.alone] - carried[index] - pivot
            far = np.linalg.norm(straight, axis=-1) >= STRETCHED * reach[index]
            aims = np.where(far[:, None, None], straight[:, None], aims)
        if visit.kind.freedoms == 1:
            ends, places = posture.arms(visit)
            some = np.broadcast_to(posture.places[:, visit.goals], ends.shape[:2])
            arms, aims, weights = (np.concatenate(both, 1) for both in ((arms, ends), (aims, places), (weights, some)))
            by = aim.about_axis(posture.axis(visit), arms, aims, weights)
        else:
            by = aim.about_point(arms, aims, weights)
            if bone.twists:
                by = quaternion.product(_twist(posture, visit, arms[:, 0], by), by)
        aim.turn(space, posture, visit, by, visit.share)


def _twist(posture: Posture, visit: Visit, bone: np.ndarray, by: np.ndarray) -> np.ndarray:
    """The turn (F, 4) about a bone (F, 3), after the turn `by`, that brings its effectors nearest to their goals."""
    arms, aims = posture.arms(visit)
    axis = quaternion.rotate(by, bone / np.maximum(np.linalg.norm(bone, axis=-1, keepdims=True), 1e-300))
    return aim.about_axis(axis, quaternion.rotate(by[:, None], arms), aims, posture.places[:, visit.goals])


def _arm(posture: Posture, bone: Branch, end: End) -> np.ndarray:
    """Vector (F, 3) from a joint to the lever of an end."""
    return posture.points[:, end.lever] - posture.points[:, bone.visit.joint]


def _end_target(posture: Posture, targets: Targets, joint_targets: list[np.ndarray], end: End) -> np.ndarray:
    """The wanted position (F, 3) of the lever of an end."""
    at = targets.positions[:, end.goals[0]] if end.child < 0 else joint_targets[end.child]
    return at if end.lever == end.point else at + posture.points[:, end.lever] - posture.points[:, end.point]


def _reach(bones: list[Branch], posture: Posture) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Per bone with a single goal: the length (F,) of the chain from it on, and the offset (F, 3) of carried points."""
    reach, carried = [np.zeros(0)] * len(bones), [np.zeros(0)] * len(bones)
    for index in range(len(bones) - 1, -1, -1):
        bone = bones[index]
        if bone.alone >= 0:
            end = bone.ends[0]
            reach[index] = np.linalg.norm(_arm(posture, bone, end), axis=-1)
            carried[index] = posture.points[:, end.point] - posture.points[:, end.lever]
            if end.child >= 0:
                reach[index], carried[index] = reach[index] + reach[end.child], carried[index] + carried[end.child]
    return reach, carried


def _nudges(tasks: Tasks, bones: list[Branch], posture: Posture, targets: Targets, sweep: int) -> dict[int, np.ndarray]:
    """Displacements (F, 3) that move joints off a straight chain whose target lies on its line, nearer than its end.

    They are applied before the first sweep. Each is perpendicular to the joint's bending axis: a hinge's own, else the
    preferred one, else the X axis, or the Z axis.
    """
    nudges: dict[int, np.ndarray] = {}
    for goal in range(tasks.count if sweep == 0 else 0):
        path = [index for index, bone in enumerate(bones) if goal in bone.visit.goals]
        if len(path) < 2:
            continue
        joints = [bones[index].visit.joint for index in path]
        points = posture.points[:, [*joints, len(tasks.skeleton) + goal]]
        size = np.linalg.norm(np.diff(points, axis=1), axis=-1).sum(-1)
        points = np.concatenate([points, targets.positions[:, None, goal]], 1) - points[:, :1]
        lengths = np.linalg.norm(points, axis=-1)
        line = points[np.arange(len(points)), lengths[:, :-1].argmax(1)]
        line = line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-300)
        astray = np.linalg.norm(quaternion.cross(points, line[:, None]), axis=-1).max(-1)
        stuck = (astray <= IN_LINE * size) & (lengths[:, -1] < (1.0 - IN_LINE) * lengths[:, -2])
        for index, joint in zip(path[1:], joints[1:], strict=True) if stuck.any() else ():
            own = posture.matrices[:, joint]
            preferred = tasks.skeleton.preferred[joint]
            axes = [posture.axis(bones[index].visit)] if bones[index].visit.kind.freedoms == 1 else [
                *([own @ preferred] if preferred.any() else []), own[:, :, 0], own[:, :, 2]]  # fmt: skip
            away = np.zeros_like(line)
            for axis in axes:
                away = np.where((np.linalg.norm(away, axis=-1) > 1e-3)[:, None], away, quaternion.cross(line, axis))
            away = away / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-3)
            nudges[index] = nudges.get(index, 0.0) + np.where(stuck[:, None], NUDGE * size[:, None] * away, 0.0)
    return nudges


METHOD = Method(minimise, check=check, reaches_only=True, returns=True)
