# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of an armature as arrays: link offsets, start pose and targets.

Positions and orientations are in armature space and are read from evaluated data.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

import bpy
import numpy as np

from ....solvers import FrameArrays, Motion, Pose, Prepared
from ....solvers.algebra import dual_quaternion, quaternion
from ....solvers.keyed import keyed_reach, unmoved
from ....solvers.model import ANSWERS, QUESTIONS, Targets
from ...blender.channels import Channels
from ...notes import Note, Refused
from ...skeleton.rig import Rig
from . import kinds, led_limbs, lengths, own_answers, start_pose
from . import links as joint_links
from . import targets as goal_targets
from .natural_pose import Shaping
from .targets import GoalsRead


@dataclass
class FrameInput:
    """The input of one frame's solve.

    rig, prepared : the rig and its prepared solve. links : (1, J, 8). posed : `Pose` of (1, J, ...) that the keys and
    the base pose give. targets : of one frame. slide_scale : (T,) factor from each sliding bone's location channel to
    its offset. lengths : (K,) of the bones that may stretch. distorted : whether Blender's scales or constraints may
    make of the answer another pose than solved. shaping : of the natural pose, or None. keyed : whether all solved
    bones are keyed, and stay as far as goals let them; such a frame starts from its keys, never from another frame's
    answer. own : digests of keyed poses that are answers (`own_answers.py`). led : the numbers of goals that lead the
    body and leave their limbs to keys. asked : arrays of one frame that hold links, pose and targets, if there are any.
    """

    rig: Rig
    prepared: Prepared
    links: np.ndarray
    posed: Pose
    targets: Targets
    slide_scale: np.ndarray
    lengths: np.ndarray
    distorted: bool = False
    shaping: Shaping | None = None
    keyed: bool = False
    own: frozenset[bytes] = frozenset()
    led: frozenset[int] = frozenset()
    asked: FrameArrays | None = None

    @property
    def led_bones(self) -> np.ndarray:
        """The bones (n,) of the limbs that are left to their keys, which no answer turns."""
        return led_limbs.bones(self.rig, self.led)

    @property
    def stands_alone(self) -> bool:
        """Whether it is never solved from another frame's answer.

        It starts from keys or from what is known to be its answer, or its targets follow goals.
        """
        return self.keyed or self.is_apart

    @property
    def is_apart(self) -> bool:
        """Whether its answer is none of a motion's: it is known, or its targets follow goals."""
        return self.rig.plan.passes > 0 or (bool(self.own) and self.digest() in self.own)

    def digest(self) -> bytes:
        """What tells this pose and these goals from others, as `own_answers` has it."""
        return self._digest(self.posed, self.targets)

    def _digest(self, posed: Pose, targets: Targets) -> bytes:
        return own_answers.digest(posed, own_answers.of_goals(self.prepared, targets))

    def _is_own(self, posed: Pose, targets: Targets) -> bool:
        return self._digest(posed, targets) in self.own

    def ask(self, arrays: FrameArrays, frame: int = 0) -> None:
        """Copy the input into one frame of the arrays; its start pose is the animator's until it is completed."""
        if self.asked is not None and len(arrays) == 1:
            arrays.ask_again(self.asked)
        else:
            arrays.ask(self.targets, self.posed, self.links, None, slice(frame, frame + 1))

    def gather(self) -> FrameArrays:
        """Keep links and targets in arrays of one frame, `asked`, which are copied at once when the frame asks."""
        self.asked = asked = self.prepared.arrays()
        asked.ask(self.targets, self.posed, self.links)
        points = None if self.targets.points is None else asked.points
        self.targets = self.targets._replace(
            positions=asked.positions, rotations=asked.orientations, poles=asked.poles, points=points
        )
        self.links = asked.links
        return asked

    def question(self) -> FrameArrays:
        """The whole input in arrays of one frame."""
        arrays = self.prepared.arrays()
        self.ask(arrays)
        start_pose.complete(arrays, self.rig, self.shaping)
        return arrays

    def shaped(self, amount: float | np.ndarray | None) -> Shaping | None:
        """The shaping of one frame, or of F, whose amounts may be others; None : this frame's own."""
        return self.shaping if self.shaping is None or amount is None else self.shaping._replace(amount=amount)

    def solve_afresh(self, arrays: FrameArrays, amounts: np.ndarray | None = None) -> None:
        """Complete the start poses in arrays of F frames like this one, and solve these frames, each on its own.

        arrays : with the animator's start poses. amounts : (F,) of the shaping, if it has others on these frames.
        """
        posed = Pose(arrays.start_rotations.copy(), arrays.start_translations.copy())

        def solve(some: FrameArrays, frames: np.ndarray | slice) -> Pose | None:
            carried = start_pose.complete(some, self.rig, self.shaped(None if amounts is None else amounts[frames]))
            self.prepared.solve_into(some, from_start=self.keyed)
            return carried

        asked = arrays.positions.copy()
        carried = solve(arrays, slice(None))
        if self.rig.end_joints.size:
            self._stretch(arrays, posed, asked, solve)
        if self.keyed:
            keyed_reach.stay(arrays, self.prepared, posed, solve, self.rig.end_joints)
        if carried is not None:
            unmoved.keep(arrays, self.prepared, carried)
        unmoved.keep(arrays, self.prepared, posed)
        if self.own:
            bent = [self.prepared.goals[one.toes].joint for one in self.rig.rolled_feet if one.loose]
            unmoved.keep_own(arrays, self.prepared, posed, self._is_own, bent)

    def follow(self, motion: Motion, arrays: FrameArrays) -> None:
        """Solve F frames like this one, whose start poses are complete, as the next ones of a motion.

        Frames with a lag stretch nothing: the lag says how far they are from their targets.
        """
        motion.solve_into(arrays)
        ends = self.rig.end_joints
        if not ends.size or not isinstance(motion, lengths.StretchingMotion):
            return
        slid = lengths.needed(self.rig, arrays, self.lengths)
        for frame in range(len(arrays)):
            motion.stretch_into(arrays.part(frame, frame + 1), ends, slid[frame, :, None] * self.rig.end_axes)

    def _stretch(
        self, arrays: FrameArrays, posed: Pose, positions: np.ndarray,
        solve: Callable[[FrameArrays, np.ndarray], object],
    ) -> None:  # fmt: skip
        """Solve those of F frames again in which bones stretch, in place.

        posed, positions : what the frames have asked. solve : as of `keyed_reach.stay`.
        """
        slid = lengths.needed(self.rig, arrays, self.lengths)
        frames = np.flatnonzero(slid.any(-1))
        if not frames.size:
            return
        again = self.prepared.arrays(len(frames))
        for name in QUESTIONS:
            value = getattr(arrays, name)
            getattr(again, name)[:] = value if len(value) < len(arrays) else value[frames]
        again.positions[:], again.home_rotations[:] = positions[frames], 0.0
        again.start_rotations[:], again.start_translations[:] = (part[frames] for part in posed)
        again.start_translations[:, self.rig.end_joints] = slid[frames, :, None] * self.rig.end_axes
        solve(again, frames)
        for name in (*ANSWERS, "start_rotations", "start_translations", "positions", "home_rotations"):
            getattr(arrays, name)[frames] = getattr(again, name)

    def copy(self) -> "FrameInput":
        """With links and targets of its own."""
        return replace(self, links=self.links.copy(), targets=self.targets.copy(), asked=None)


@dataclass
class Reading:
    """What one frame's solve starts from.

    posed, now : the evaluated and the original bones' channels. start : the channels as they would be without DQIK.
    frame_input : the solver's input; None if there is nothing to solve. is_steady : only targets and the places of
    roots were read, into the input of the frame before.
    """

    posed: Channels
    now: Channels
    start: Channels
    frame_input: FrameInput | None
    is_steady: bool = False

    def copy(self) -> "Reading":
        """With an input of its own, which the next frame does not overwrite."""
        frame_input = None if self.frame_input is None else self.frame_input.copy()
        return Reading(self.posed, self.now, self.start, frame_input)


def check_numbers(numbers: np.ndarray) -> None:
    """Raise `Refused` if what was read of a pose, or solved from it, holds something that is not a number."""
    if not isfinite(numbers.sum()):
        raise Refused(Note("The armature's place, or a bone's pose, is not a number: reset it and switch Live "
                           "on again"))


def read(ob: bpy.types.Object, rig: Rig, start: Channels, goals: GoalsRead) -> FrameInput:
    """Read one frame of an evaluated armature object. start : the channels that the frame starts from."""
    if ob.dqik.start_from != "REST":
        start = led_limbs.start(ob, rig, goals.led, start)
    found = joint_links.read(ob, rig, start)
    check_numbers(np.array(found.stretch))
    prepared, links, scale = rig.stretched(found.stretch), found.links, found.slide_scale
    pose = posed(rig, start, scale)
    targets = targets_of(ob, rig, prepared, goals, links, pose)
    return FrameInput(
        rig, prepared, links, pose, targets, scale, found.lengths, found.distorted, led=frozenset(goals.led)
    )


def posed(rig: Rig, channels: Channels, slide_scale: np.ndarray) -> Pose:
    """The pose (1, J, ...) that channels give. slide_scale : (T,) as of `FrameInput`."""
    pose = Pose(rig.motions(channels), np.zeros((1, len(rig.skeleton), 3)))
    for k, (joint, row) in enumerate(zip(rig.slide_joint.tolist(), rig.slide_row.tolist(), strict=True)):
        # offset = frame @ location * scale, one slide an axis of that frame
        location = channels.locations[rig.bones[row]] * slide_scale[k]
        pose.translations[0, joint : joint + 3] = rig.location_frame[row].T * location[:, None]
    return pose


def targets_of(
    ob: bpy.types.Object, rig: Rig, prepared: Prepared, goals: GoalsRead, links: np.ndarray, start: Pose
) -> Targets:
    """The goals' targets in armature space, for one frame; influence below 1 moves them toward where the bones start.

    ob : the evaluated object.
    """
    count = len(rig.goals)
    points = np.zeros((1, rig.target_points, 3)) if rig.target_points else None
    targets = Targets(np.zeros((1, count, 3)), np.empty((1, count, 4)), np.zeros((1, count, 3)), points=points)
    targets.rotations[:] = quaternion.IDENTITY
    goal_targets.in_armature(ob, rig, goals.places, targets, start)
    shares = [1.0 if one.number in goals.led else goals.influences[one.number] for one in rig.goals]
    if min(shares, default=1.0) < 1.0:
        _ease(rig, prepared, shares, targets, links, start)
    return targets


def _ease(
    rig: Rig, prepared: Prepared, shares: list[float], targets: Targets, links: np.ndarray, start: Pose
) -> None:
    """Move targets of goals with an influence below 1 toward where their bones start, in place."""
    positions, rotations = targets.positions, targets.rotations
    world = rig.skeleton.transforms(start.rotations, start.translations, links)
    by = np.tile(quaternion.IDENTITY, (len(shares), 1))
    by[prepared.carry.goals] = prepared.carry.carries(world[..., :4])[0]
    for k, (goal, share) in enumerate(zip(prepared.goals, shares, strict=True)):
        if share < 1.0 and not goal.reaches:
            kinds.ease(rig, k, share, world[0], targets)
        elif share < 1.0:
            own = world[0, goal.joint, :4]
            began = dual_quaternion.transform(world[0, goal.joint], np.asarray(goal.offset, dtype=float))
            positions[0, k] = began + share * (positions[0, k] - began)
            wanted, back = quaternion.product(by[k], rotations[0, k]), quaternion.conjugate(by[k])
            turn = quaternion.log(quaternion.product(quaternion.conjugate(own), wanted))
            rotations[0, k] = quaternion.product(back, quaternion.product(own, quaternion.exp(share * turn)))
