# SPDX-License-Identifier: GPL-3.0-or-later
"""How far bones stretch or shorten in a frame, so that limbs reach targets that are too far or too near. NumPy only.

A frame is solved with all bones at their own lengths first. Where a limb is nearly straight then, or misses its target,
its bones become longer, each in proportion to how much longer it may become, and the frame is solved again. So nothing
stretches where the body can reach its targets by bending, and a limb at rest has exactly its own lengths.

Let the limb's reach be 1 and its target at a distance x. At its own lengths its ends are x apart, as if it were bent by
2 acos x in its middle, and near 1 the least step of the target straightens it at once. From an angle `ONSET` on, the
bend follows instead

    2 acos y = ONSET (1 - t)^p,    t = (x - y0) / (most - y0),    y0 = cos(ONSET / 2)

with p such that it goes on at the speed that it has there, and slower from there to `most`, where the limb is straight
and as long as it may be. Its bones are longer by x / y. This is the usual soft limit of a limb's reach, such that it
ends at a largest length.

A limb that cannot fold as far as its target is near, because of limits, of bones of unlike lengths, or because it has
one bone, shortens: its bones keep their directions, and become shorter in proportion to how much shorter they may
become, until its end is as near as the target. Bones that point back from the end keep their lengths: it would
go away from the root. A limb that comes to the end of its bend neither snaps nor pops, so this begins there.
"""

from dataclasses import dataclass

import numpy as np

from ....solvers import FrameArrays, Motion, Pose, Prepared
from ....solvers.algebra import dual_quaternion, quaternion
from ...skeleton.rig import Rig

ONSET = float(np.radians(30.0))  # bend of a limb whose bones begin to stretch
_POWER = 2.0  # least p: a limb that may stretch only little begins nearer to straight
_WITH_LIMB = 0.5  # a goal whose rotation follows by more than this has its bone in line with the limb
_ALONG = 0.2  # cosine to the line of a limb from which on a bone shortens as far as it may
_LEAST = 1e-6  # of a limb's reach: less is rounding


@dataclass(frozen=True)
class Limb:
    """The bones that stretch or shorten for a goal.

    goal : its number in the solve. ends : (k,) of the rig's bones that may do so. root : the joint of the topmost.
    path : joints below the root, to the one that carries the limb's end. arm : (3,) from that to the end, in its frame.
    turned : (3,) from there to the point of the goal, which turns as its target does; zero if that is the limb's end.
    """

    goal: int
    ends: np.ndarray
    root: int
    path: np.ndarray
    arm: np.ndarray
    turned: np.ndarray


class StretchingMotion:
    """A `Motion` with all bones at their own lengths, and beside it that of the frames in which bones stretch.

    Each stretched frame follows the stretched one before it. Solved from the pose at its own lengths, a limb would be
    straight, and would have to find the side to which it bends anew in each frame. The first one starts from there.
    """

    def __init__(self, prepared: Prepared) -> None:
        self._prepared, self._own = prepared, prepared.motion()
        self._stretched: Motion | None = None  # since bones stretch

    def solve_into(self, arrays: FrameArrays) -> None:
        """See `Motion`: at the bones' own lengths."""
        self._own.solve_into(arrays)

    def stretch_into(self, frame: FrameArrays, joints: np.ndarray, slides: np.ndarray) -> None:
        """Solve a frame that `solve_into` has answered again, with the ends (K,) of bones moved by slides (K, 3)."""
        if not slides.any():
            self._stretched = None
            return
        if self._stretched is None:
            self._stretched = self._prepared.motion()
            self._stretched.begin(Pose(frame.rotations[0].copy(), frame.translations[0].copy()))
        frame.start_translations[0, joints] = slides
        self._stretched.solve_into(frame)

    def begin(self, pose: Pose) -> None:
        """See `Motion`."""
        self._own.begin(pose)
        self._stretched = None

    def restart(self) -> None:
        """See `Motion`."""
        self._own.restart()
        self._stretched = None

    @property
    def pose(self) -> Pose | None:
        """See `Motion`: at the bones' own lengths."""
        return self._own.pose


def limbs(rig: Rig) -> list[Limb]:
    """The limbs of a rig whose bones may stretch or shorten."""
    found, skeleton = list[Limb](), rig.skeleton
    for number, (goal, own) in enumerate(zip(rig.prepared.goals, rig.goals, strict=True)):
        above, main = skeleton.ancestors[goal.joint], rig.main[rig.end_rows]
        ends = np.flatnonzero(above[rig.end_joints] & np.isin(main, list(goal.chain or ())))
        if goal.kind != "REACH" or not goal.has_place or own.of_foot or not ends.size:
            continue
        root = next(joint for joint in skeleton.path(goal.joint) if joint in main[ends])
        path = [joint for joint in skeleton.path(goal.joint) if skeleton.ancestors[joint, root] and joint != root]
        offset, turns = np.array(goal.offset, dtype=float), goal.has_turn and goal.rotation_follows <= _WITH_LIMB
        arm, turned = (np.zeros(3), offset) if turns else (offset, np.zeros(3))
        found.append(Limb(number, ends, int(root), np.array(path, dtype=np.intp), arm, turned))
    return found


def needed(rig: Rig, arrays: FrameArrays, lengths: np.ndarray) -> np.ndarray:
    """How far (F, K) the ends of bones must move along them, from the answers of F frames at their own lengths.

    Backward where bones shorten: one that others ask to be longer does not. lengths : (K,) own lengths of the bones.
    """
    slid, back = np.zeros((len(arrays), len(lengths))), np.zeros((len(arrays), len(lengths)))
    world = rig.skeleton.transforms(arrays.rotations, arrays.translations, arrays.links)
    places, wanted = dual_quaternion.translation(world), rig.prepared.carry.carried(world[..., :4], arrays.orientations)
    most, least = (own * lengths / rig.lengths for own in (rig.lengthens, rig.shortens))
    axes = quaternion.rotate(world[:, rig.end_joints, :4], rig.end_axes)
    links = np.linalg.norm(dual_quaternion.translation(arrays.links), axis=-1)
    for limb in limbs(rig):
        reach = links[:, limb.path].sum(-1) + np.linalg.norm(limb.arm)
        target = arrays.positions[:, limb.goal] - quaternion.rotate(wanted[:, limb.goal], limb.turned)
        end = dual_quaternion.transform(world[:, rig.prepared.goals[limb.goal].joint], limb.arm)
        distance, now = (np.linalg.norm(point - places[:, limb.root], axis=-1) for point in (target, end))
        room = max(float(most[limb.ends].sum()), 1e-12)
        missed = distance - now - rig.prepared.options.tolerance  # by a limb that limits keep from being straight
        more = np.maximum(_softly(distance / reach, room / reach) * reach - reach, missed)
        share = np.clip(np.where(more > _LEAST * reach, more, 0.0) / room, 0.0, 1.0)
        slid[:, limb.ends] = np.maximum(slid[:, limb.ends], share[:, None] * most[limb.ends])
        if least[limb.ends].any():
            line, own = end - places[:, limb.root], axes[:, limb.ends]
            cosine = (own @ line[:, :, None])[..., 0] / np.maximum(now, 1e-300)[:, None]
            rooms = np.clip(cosine / _ALONG, 0.0, 1.0) * least[limb.ends]
            share = _shortened(line, -(rooms[..., None] * own).sum(1), distance + rig.prepared.options.tolerance)
            back[:, limb.ends] = np.maximum(back[:, limb.ends], share[:, None] * rooms)
    return np.where(slid > 0.0, slid, -back)


def _shortened(line: np.ndarray, way: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """The least share (F,) of ways (F, 3) at which ends of lines (F, 3) are as near as distances (F,).

    Where they are nearer already it is 0, and where they do not come as near, that at which they are nearest.
    """
    a, b = (way * way).sum(-1), (line * way).sum(-1)
    nearest = -b / np.maximum(a, 1e-300)
    root = b * b - a * ((line * line).sum(-1) - distance**2)
    found = nearest - np.sqrt(np.maximum(root, 0.0)) / np.maximum(a, 1e-300)
    is_far = np.linalg.norm(line, axis=-1) > distance
    return np.clip(np.where(is_far & (a > 0.0), found, 0.0), 0.0, 1.0)


def _softly(x: np.ndarray, room: np.ndarray) -> np.ndarray:
    """How long (F,) limbs with a reach of 1 become for distances x (F,). room : (F,) how much longer they may."""
    half = np.minimum(0.5 * ONSET, np.sqrt(room / (_POWER - 0.5)))
    begin, most = np.cos(half), 1.0 + room
    power = (most - begin) / (half * np.sin(half))
    t = np.clip((x - begin) / (most - begin), 0.0, 1.0)
    return np.where(x > begin, x / np.cos(half * (1.0 - t) ** power), 1.0)
