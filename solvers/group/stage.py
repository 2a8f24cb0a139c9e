# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage: goals whose chains share joints, prepared to be solved together."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from ..iterate.linear_step import dot
from ..methods.table import Method
from ..model.goals import Goal
from ..model.options import Options
from ..model.skeleton import KEYED, Pose, Skeleton
from ..space import arc, limb
from ..space.joint_space import JointSpace, State
from ..space.point import Point, Request
from ..space.poles import POLE_WEIGHT, Pole
from ..space.tasks import Tasks
from ..space.yielding import Precedence, Yielding
from .grouping import carriers, coupled
from .settings import PULL, first_damping, last_phase, runs

SHARED_RELUCTANCE = 2.0  # joints that serve several goals: a spine moves less than an arm
EFFECTOR_RELUCTANCE = 2.0
HELD_RELUCTANCE = 1e4  # of a joint with hold 1, for one with hold 0
LEAST_GAIN = 0.01  # that counts in the reluctance, which must not vanish


class Stage:
    """Some goals of a skeleton and the joints that they may move, prepared for solving frames, each by itself.

    Attributes
    ----------
    indices : (G,) index of each goal among those of all stages. chains : (G, J) bool, the joints they may move.
    joints : (J,) its skeleton's joints among those of the whole skeleton: all, but for a `part`.
    counted : (G', J) the chains of goals that do not weigh: a goal of balance moves what others move.
    limbs, arcs, poles : of the chains.
    minimise : the solver's iteration.
    tasks : of the goals, their poles and soft couplings. hard_tasks : of the goals alone.
    settings : of the last phase of a solve. runs : of all runs, by name. continues : whether continuation finds it.
    spend : iterations in all, if those left are spent on missed goals; else 0.
    still_slides : prismatic joints that this stage does not move.
    yields : (G,) bool, the goals that may yield to others of their priority: they have joints of their own.
    precedence : the order of the goals. ordered : whether some come before others, or may yield to them.
    recovers : whether a frame that misses its goals may be solved again from near poses.
    hold : (J,) hold of each joint of the stage minus their least hold; 0 for other joints.
    holds : whether it has a pull, and joints with different holds.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], indices: Sequence[int], chains: np.ndarray,
        points: Sequence[slice], method: Method, options: Options,
    ) -> None:  # fmt: skip
        """`goals`, and their `indices`, `chains` and `points` among those of all stages."""
        self.skeleton, self.goals, self.method, self.options = skeleton, goals, method, options
        self.indices, self.joints = np.array(indices, dtype=np.intp), np.arange(len(skeleton))
        self.chains, self.points = chains, points
        self.counted = self.chains[[not goal.weighs for goal in self.goals]]
        moved = coupled(skeleton, self.chains)
        self.space = JointSpace(skeleton, np.any(moved, axis=0))
        self.limbs = limb.find_limbs(skeleton, self.goals, self.chains)
        plain = options.unit_angle is None  # otherwise MikuMikuDance's rule prescribes start and steps
        pull = self._pull()
        self.arcs = arc.find_arcs(skeleton, self.goals, self.chains, self.space) if plain else []
        slides = skeleton.slides.copy()
        slides[self.space.joint] = False
        self.still_slides = np.flatnonzero(slides)
        self.poles = [pole for g in range(len(self.goals)) if (pole := self._pole(g))]
        self.tasks = Tasks(skeleton, self.goals, self.space, self.chains, self.poles, points, moved)
        soft = self.tasks.all > self.tasks.m
        self.hard_tasks = (
            Tasks(skeleton, self.goals, self.space, self.chains, (), points, moved, soft=False) if soft else self.tasks
        )
        self.yielding = Yielding(skeleton, self.goals, self.space, self.chains, pull > 0.0, method.continues)
        self.precedence = Precedence(self.goals)
        alone = (self.chains & (self.counted.sum(0) == 1)).any(-1)
        self.yields = alone & self.precedence.equal.any(-1) & (plain and pull > 0.0)
        self.ordered = plain and (bool(self.yields.any()) or len({goal.priority for goal in self.goals}) > 1)
        # where hips slide, no reach is known, and a target that leaves it would be met once more by another pose
        self.recovers = plain and not soft and (not pull or bool(self.space.turns.all()))
        self._free_limbs, self._free_arcs = self.limbs, self.arcs
        self._set_holds(pull)

    def with_holds(self, skeleton: Skeleton) -> "Stage":
        """The stage for a skeleton that differs by holds and gains; it shares what these leave alone."""
        stage, joints = copy(self), self.joints
        whole = len(joints) == len(skeleton)
        stage.skeleton = skeleton if whole else self.skeleton.with_holds(skeleton.hold[joints], skeleton.gain[joints])
        stage._set_holds(self.settings.pull)
        return stage

    def pole_hold(self, pole: Pole) -> float:
        """How far the chain of a pole keeps its roll while it is straight: wholly if keys hold it."""
        return min(1.0, float(self.skeleton.hold[pole.root]) / KEYED)

    def part(self) -> "Stage":
        """The stage of a skeleton without the joints that none of its goals feel: the others cost time, too."""
        felt = np.any(coupled(self.skeleton, self.chains), axis=0)
        felt[[joint for goal in self.goals for joint in carriers(goal)]] = True
        joints = np.flatnonzero(self.skeleton.ancestors[felt].any(0))
        at = np.zeros(len(self.skeleton), dtype=np.intp)
        at[joints] = np.arange(len(joints))
        goals = [
            replace(
                goal, joint=at[goal.joint], chain=None if goal.chain is None else at[goal.chain].tolist(),
                target_joint=None if goal.target_joint is None else at[goal.target_joint],
                masses=goal.masses and [(at[joint], *rest) for joint, *rest in goal.masses],
            ) for goal in self.goals
        ]  # fmt: skip
        stage = Stage(self.skeleton.part(joints), goals, self.indices.tolist(), self.chains[:, joints], self.points,
                      self.method, self.options)  # fmt: skip
        stage.joints = joints
        return stage

    def _set_holds(self, pull: float) -> None:
        """Set what follows from the joints' holds and gains: limbs, arcs, the settings of all runs."""
        method, space, options, soft = self.method, self.space, self.options, self.tasks.all > self.tasks.m
        self.hold = self._relative_hold()
        self.limbs = limb.held(self._free_limbs, self.skeleton, self.hold)
        self.arcs = arc.held(self._free_arcs, self.skeleton) if pull else self._free_arcs
        self.holds = bool(pull) and bool(self.hold.any())
        gain, released = self.skeleton.gain[space.joint], self._reluctance()
        held = released * HELD_RELUCTANCE ** self.hold[space.joint] if self.holds else released
        least = np.maximum(gain, LEAST_GAIN) if pull else 1.0
        damping = first_damping(space.n, self.tasks.m)
        self.settings = last_phase(options, pull, damping, held * least, held * gain, soft)
        firm = np.minimum(self.hold, np.maximum(self.skeleton.hold / KEYED - 1.0, 0.0))[space.joint]
        trunk = released * HELD_RELUCTANCE**firm if self.holds else released
        limbless = np.where((self.counted.sum(0) > 1)[space.joint], trunk, released)
        eased = self.settings._replace(reluctance=limbless * least, weights=limbless * gain)
        abandons = self.recovers and not pull and options.restarts > 0 and method.continues
        self.continues, self.spend = bool(pull) and method.continues, 0 if method.continues else options.iterations
        self.runs = runs(
            self.settings, damping, released if soft or self.holds else None, eased, soft, method.continues, abandons,
            self.ordered, space.limited, self.skeleton.limited, method.returns and options.unit_angle is None,
        )  # fmt: skip

    def met(self, point: Point) -> bool:
        """Whether a point meets all goals."""
        return bool(self.tasks.within(point.error, self.options.tolerance, self.options.rotation_tolerance)[0])

    def square(self, point: Point) -> float:
        """The sum of squares of the goals' error rows."""
        error = point.error[:, : self.tasks.m]
        return float(dot(error, error)[0])

    def largest_error(self, point: Point) -> float:
        """The largest of the goals' error rows."""
        return float(np.abs(point.error[:, : self.tasks.m]).max(initial=0.0))

    def beyond_reach(self, point: Point, frame: Request) -> bool:
        """Whether a target is further from its chain's root, as it is at a point, than the chain's length."""
        links = self.skeleton.links if frame.links is None else frame.links
        return bool(self.yielding.beyond(point.kinematics.positions, links, frame.targets)[0])

    def _pull(self) -> float:
        """The strength of the pull: that of the options, or the usual one where something shapes the pose."""
        if self.options.pull is not None:
            return self.options.pull
        joint = self.space.joint
        shaped = self.skeleton.hold[joint].any() or (self.skeleton.gain[joint] != 1.0).any()
        return PULL if self.limbs or self.options.bias == "MIDDLE" or shaped else 0.0

    def _relative_hold(self) -> np.ndarray:
        """`hold`, relative to the least hold: with equal holds no joint moves before another."""
        joints, hold = self.space.joint, np.zeros(len(self.skeleton))
        hold[joints] = self.skeleton.hold[joints] - self.skeleton.hold[joints].min(initial=1.0)
        return hold

    def _reluctance(self) -> np.ndarray:
        """The reluctance (n,) of the degrees of freedom, without holds and gains: the metric of pull and damping.

        It is equal within a joint, which keeps the pull's gradient simple (`JointSpace.pull_gradient`).
        """
        space, skeleton = self.space, self.skeleton
        joint = np.ones(len(skeleton))
        joint[self.counted.sum(0) > 1] *= SHARED_RELUCTANCE
        ends = {goal.joint for goal in self.goals}
        while not ends.isdisjoint(self.still_slides):  # these only lengthen the bone that they end
            ends = {int(skeleton.parent[end]) if end in self.still_slides else end for end in ends} - {-1}
        joint[list(ends)] *= EFFECTOR_RELUCTANCE
        joint /= np.maximum(1.0 - skeleton.stiffness, 1e-3) ** 2
        return joint[space.joint] * np.where(space.turns, 1.0, 1.0 / skeleton.length**2)

    def _pole(self, g: int) -> Pole | None:
        """The pole of a goal: on its limb if the chain has one, else on the whole chain."""
        goal, skeleton = self.goals[g], self.skeleton
        if goal.pole is None or not goal.has_place:
            return None
        for part in self.limbs:
            if self.chains[g, part.lower] and self.chains[g, part.upper]:
                return Pole(g, part.upper, (part.lower,), part.end, goal.pole_angle, POLE_WEIGHT)
        path = [j for j in skeleton.order if self.chains[g, j]]
        return Pole(g, path[0], tuple(path[1:]), -1, goal.pole_angle, POLE_WEIGHT) if len(path) > 1 else None


def frames_of(pose: Pose, count: int) -> Pose:
    """`pose` with a leading axis of `count` frames."""
    rotations, translations = pose
    joints = rotations.shape[-2]
    return Pose(np.broadcast_to(rotations, (count, joints, 4)), np.broadcast_to(translations, (count, joints, 3)))


def carried(stage: Stage, previous: Pose, pose: Pose) -> Pose:
    """A pose of the whole skeleton with the joints that the stage moves from `previous`, and the others from `pose`."""
    joints = stage.joints[stage.space.moved]
    parts = Pose(pose.rotations.copy(), pose.translations.copy())
    parts.rotations[:, joints] = previous.rotations[:, joints]
    parts.translations[:, joints] = previous.translations[:, joints]
    return parts


def posed(stage: Stage, state: State, pose: Pose) -> Pose:
    """`pose` of the whole skeleton with the joints of a stage taken from its `state`."""
    slides, sliding, (rotations, translations) = stage.space.slides(state.x), stage.space.sliding, pose
    rotations = rotations.copy()
    rotations[:, stage.joints] = state.rotations
    if slides is not None:
        translations = translations.copy()
        translations[:, stage.joints[sliding]] = slides[:, sliding]
    return Pose(rotations, translations)
