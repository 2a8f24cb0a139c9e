# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure as the prior sees it: rest geometry by roles, in the figure's own left, up and forward.

Nothing depends on the axes of bones. Vectors are in canonical axes (left, up, forward) with the origin between the hip
joints. Quantities of the right side are mirrored (x changes its sign), so that both sides read as left ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from ..rest import LEFT, RIGHT, Key, unit

if TYPE_CHECKING:
    from ..model.goals import Goal
    from ..model.skeleton import Skeleton

SIDES = {LEFT: np.ones(3), RIGHT: np.array([-1.0, 1.0, 1.0])}
"""The signs that make a side read as left."""
LIMBS = {"arm": ("arm", "forearm", "hand", ""), "leg": ("thigh", "shin", "foot", "toes")}
UP, FORWARD = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
_STRAIGHT = {"arm": np.array([1.0, 0.0, 0.0]), "leg": -UP}  # where limbs point when they are stretched
_SMALL = 1e-3  # of the figure's size
_HANGING = 0.5  # cosine to straight down, above which a thigh and a shin rest as those of people who stand
_FOOT_DOWN, _POINTING = np.radians((30.0, 60.0))  # how far feet point down when they stand flat, and at least at rest
_AHEAD = 0.7  # sine of the angle by which upper arms may point forward or back at rest; then elbows have no known hinge


class Bone(NamedTuple):
    """A bone at rest: its joint in the skeleton, -1 for none, and its head (3,) in armature space."""

    joint: int
    head: np.ndarray


@dataclass(frozen=True)
class RestLimb:
    """An arm or a leg with a goal, read as a left one.

    kind, side : "arm" or "leg", "L" or "R". goal : the number of its goal. turned : whether the goal has a rotation.
    upper, lower, end, toes : joints; end and toes may be -1. effector : the goal's joint.
    root : (3,) rest place of the upper joint. lengths : of both bones. size : of the limb, up to the wrist or ankle.
    frames : (2, 3, 3) rest frames of both bones; columns along, forward, hinge.
    end_frame : (3, 2) two directions by which the goal's rotation is told.
    tip : (3,) from the wrist or ankle to the effector at rest. toe : (3,) from the ankle to the toes at rest; zero
        unless the goal is the toes'.
    """

    kind: str
    side: str
    goal: int
    turned: bool
    upper: int
    lower: int
    end: int
    toes: int
    effector: int
    root: np.ndarray
    lengths: tuple[float, float]
    size: float
    frames: np.ndarray
    end_frame: np.ndarray
    tip: np.ndarray
    toe: np.ndarray


@dataclass(frozen=True)
class Head:
    """The head's goal: its number, whether it has a rotation, the effector's joint, and its place (3,) at rest."""

    goal: int
    turned: bool
    joint: int
    place: np.ndarray


@dataclass(frozen=True)
class Hips:
    """The place of the hips: that of a goal, the link of a root joint, or a joint (the others are -1).

    rotation : (4,) at rest. offset : (3,) from its place at rest to the middle of the hip joints, in armature space.
    point : (3,) the goal's offset in its joint's frame.
    """

    goal: int
    link: int
    joint: int
    rotation: np.ndarray
    offset: np.ndarray
    point: np.ndarray


@dataclass(frozen=True)
class RestFigure:
    """A figure's rest geometry and its goals.

    axes : (4,) rotation from canonical axes to armature space. torso : length from the hip joints to the shoulders.
    spine, neck : joints from the root, the neck's with the head. spine_lines : (n, 3) from each joint of the spine to
        the next; the last one ends at the chest. chest : (3,) rest place of the last joint. collars : per side, joints
        and the rest place (3,) of the first one's head, read as left.
    rest : (J, 4) orientations at rest, and `before` (J, 4) those without the joints' own motions; both in armature
        space. motions : (J, 4) the joints' motions in the armature's rest pose.
    """

    axes: np.ndarray
    torso: float
    hips: Hips
    limbs: tuple[RestLimb, ...]
    head: Head | None
    spine: tuple[int, ...]
    spine_lines: np.ndarray
    spine_root: np.ndarray
    neck: tuple[int, ...]
    collars: dict[str, tuple[tuple[int, ...], np.ndarray]]
    rest: np.ndarray
    before: np.ndarray
    skeleton: "Skeleton"
    goals: tuple["Goal", ...]

    @property
    def hips_give(self) -> bool:
        """Whether the hips go with the head: both have goals, that of the hips comes last, and no bone between has one.

        A chest that is led tells by itself how far the body leans.
        """
        if self.head is None or self.hips.goal < 0:
            return False
        hips, head = self.goals[self.hips.goal], self.goals[self.head.goal]
        above = self.skeleton.ancestors
        trunk = [one for one in self.goals if above[head.joint, one.joint] and above[one.joint, hips.joint]]
        return hips.priority < head.priority and {one.joint for one in trunk} <= {hips.joint, head.joint}


class NoFigure(Enum):
    """Reasons for no prior.

    No pair of limbs with something above or below, legs that do not hang down, or no goal on a whole limb that it can
    read.
    """

    NO_PAIRS = auto()
    NOT_UPRIGHT = auto()
    NO_WHOLE_LIMBS = auto()


def of(
    skeleton: "Skeleton", goals: Sequence["Goal"], bones: dict[Key, list[Bone]], links: np.ndarray, motions: np.ndarray
) -> RestFigure | NoFigure:  # fmt: skip
    """The figure of a skeleton, or why there is none.

    bones : by role, those nearer to the root first. links : (J, 8) and motions : (J, 4) in the rest pose.
    """
    heads = {key: several[0].head for key, several in bones.items()}
    axes = _axes(heads)
    if axes is None:
        return NoFigure.NO_PAIRS
    pairs = [(heads.get((name, "L")), heads.get((name, "R"))) for name in ("thigh", "arm")]
    middles = [(one + other) / 2.0 for one, other in pairs if one is not None and other is not None]
    centre = middles[0] if pairs[0][0] is not None and pairs[0][1] is not None else heads.get(("hips", ""), middles[0])
    place = {key: (head - centre) @ axes for key, head in heads.items()}
    world = skeleton.transforms(motions[None], None, links[None])[0]
    rest = world[:, :4]
    reader = _Reader(skeleton, goals, bones, place, axes, centre, world)
    hips = reader.hips()
    if not all(reader.stands(side) for side in SIDES):
        return NoFigure.NOT_UPRIGHT
    limbs = tuple(limb for kind in LIMBS for side in SIDES if (limb := reader.limb(kind, side)) is not None)
    if hips is None or not limbs:
        return NoFigure.NO_WHOLE_LIMBS
    spine = bones.get(("spine", ""), [])
    lines = np.diff([(bone.head - centre) @ axes for bone in spine], axis=0) if len(spine) > 1 else np.zeros((0, 3))
    shoulders = [place[key] for key in (("arm", "L"), ("arm", "R")) if key in place]
    top = np.mean(shoulders, axis=0) if shoulders else place.get(("head", ""), np.array([0.0, 1.0, 0.0]))
    return RestFigure(
        axes=quaternion.from_matrix(axes),
        torso=max(float(np.linalg.norm(top)), _SMALL),
        hips=hips,
        limbs=limbs,
        head=reader.head(),
        spine=tuple(bone.joint for bone in spine),
        spine_lines=np.concatenate([lines, np.zeros((1, 3))]),
        spine_root=(spine[0].head - centre) @ axes if spine else np.zeros(3),
        neck=tuple(bone.joint for name in ("neck", "head") for bone in bones.get((name, ""), [])),
        collars={
            side: (tuple(bone.joint for bone in bones[key]), sign * place[key])
            for side, sign in SIDES.items() if (key := ("collar", side)) in bones
        },
        rest=rest,
        before=quaternion.product(rest, quaternion.conjugate(motions)),
        skeleton=skeleton,
        goals=tuple(goals),
    )  # fmt: skip


def _axes(heads: dict[Key, np.ndarray]) -> np.ndarray | None:
    """Left, up and forward (3, 3) as columns, by heads of roles: up is from the feet to the shoulders.

    None if there are neither both thighs nor both arms, or nothing above or below them.
    """
    sides = {name: (heads.get((name, LEFT)), heads.get((name, RIGHT))) for name in ("thigh", "arm", "shin", "foot")}
    pairs = {name: (one, other) for name, (one, other) in sides.items() if one is not None and other is not None}
    middle = {name: (one + other) / 2.0 for name, (one, other) in pairs.items()}
    middle.update({name: heads[name, ""] for name in ("hips", "neck", "head") if (name, "") in heads})
    across = next((pairs[name][0] - pairs[name][1] for name in ("thigh", "arm") if name in pairs), None)
    low = next((middle[name] for name in ("foot", "shin", "thigh", "hips") if name in middle), None)
    high = next((middle[name] for name in ("arm", "neck", "head") if name in middle), None)
    if across is None or low is None or high is None:
        return None
    size, left = np.linalg.norm(high - low), unit(across)
    up = high - low - left * (left @ (high - low))
    if np.linalg.norm(across) < _SMALL * size or np.linalg.norm(up) < 0.1 * size:
        return None
    up = unit(up)
    return np.stack([left, up, quaternion.cross(left, up)], -1)


_CARRIED = 0.5  # a rotation that follows its limb by more than this tells nothing about how the limb is turned


def _turned(goal: "Goal") -> bool:
    """Whether a goal tells how its bone is turned, wherever its limb points."""
    return goal.has_turn and goal.rotation_follows < _CARRIED


class _Reader:
    """Reads the parts of a figure from its bones at rest."""

    def __init__(
        self, skeleton: "Skeleton", goals: Sequence["Goal"], bones: dict[Key, list[Bone]], place: dict[Key, np.ndarray],
        axes: np.ndarray, centre: np.ndarray, world: np.ndarray,
    ) -> None:  # fmt: skip
        self.skeleton, self.goals, self.bones, self.place = skeleton, goals, bones, place
        self.axes, self.centre, self.world = axes, centre, world
        heads = np.array(list(place.values()))
        self.size = float(np.ptp(heads, axis=0).max())

    def joint(self, name: str, side: str = "") -> int:
        """The joint of a role's first bone; -1 for none."""
        return self.bones[name, side][0].joint if (name, side) in self.bones else -1

    def goal(self, joints: Sequence[int]) -> int:
        """The number of the goal on one of some joints, the first that has one; -1 for none. Rotations go first."""
        numbers = [
            (not goal.has_turn, rank, number) for number, goal in enumerate(self.goals)
            for rank, joint in enumerate(joints) if goal.joint == joint >= 0 and goal.has_place
        ]  # fmt: skip
        return min(numbers, default=(True, 0, -1))[2]

    def effector(self, goal: int) -> np.ndarray:
        """The rest place of a goal's effector in canonical axes."""
        point = np.asarray(self.goals[goal].offset, dtype=float)
        return (dual_quaternion.transform(self.world[self.goals[goal].joint], point) - self.centre) @ self.axes

    def hips(self) -> Hips | None:
        """The place of the hips; None if it is not known."""
        own = self.joint("hips")
        goal = next((
            number for number, goal in enumerate(self.goals)
            if goal.joint == own >= 0 and goal.has_place and _turned(goal)
        ), -1)  # fmt: skip
        if own >= 0:
            rotation, at = self.world[own, :4], dual_quaternion.translation(self.world[own])
            point = np.asarray(self.goals[goal].offset, dtype=float) if goal >= 0 else np.zeros(3)
            return Hips(goal, -1, -1 if goal >= 0 else own, rotation, self.centre - at, point)
        keys = [("spine", ""), *((name, side) for name in ("thigh", "hip_joint", "collar", "arm") for side in SIDES)]
        for name, side in keys:
            joint = self.joint(name, side)
            if joint >= 0 and self.skeleton.parent[joint] < 0:
                at = dual_quaternion.translation(self.world[joint])
                return Hips(-1, joint, -1, self.world[joint, :4], self.centre - at, np.zeros(3))
        return None

    def head(self) -> Head | None:
        """The head's goal."""
        joint = self.joint("head")
        goal = self.goal([joint])
        if goal < 0:
            return None
        return Head(goal, _turned(self.goals[goal]), joint, self.place["head", ""])

    def limb(self, kind: str, side: str) -> RestLimb | None:
        """A limb with a goal, if it is whole and rests as limbs of people do."""
        sign, parts = SIDES[side], [(name, side) for name in LIMBS[kind]]
        joints = [self.joint(*key) for key in parts]
        upper, lower, end, toes = joints
        goal = self.goal([end, toes, lower])
        if upper < 0 or lower < 0 or goal < 0:
            return None
        tip = sign * self.effector(goal)
        root, middle = (sign * self.place[key] for key in parts[:2])
        wrist = sign * self.place[parts[2]] if parts[2] in self.place else tip
        if not self._rests_well(kind, root, middle, wrist):
            return None
        frames = np.stack([_frame(kind, middle - root), _frame(kind, wrist - middle)])
        effector = self.goals[goal].joint
        turned = _turned(self.goals[goal]) and effector != lower
        toe = sign * self.place[parts[3]] - wrist if parts[3] in self.place else np.zeros(3)
        on_toes = turned and effector == toes
        return RestLimb(
            kind, side, goal, turned, upper, lower, end, toes, effector, root,
            (float(np.linalg.norm(middle - root)), float(np.linalg.norm(wrist - middle))),
            float(np.linalg.norm(middle - root) + np.linalg.norm(wrist - middle)),
            frames,
            frames[1][:, :2] if kind == "arm" else _foot(toe),
            tip - wrist,
            toe if on_toes else np.zeros(3),
        )  # fmt: skip

    def stands(self, side: str) -> bool:
        """Whether a leg hangs as those of people who stand, in line with the trunk, as far as it is known."""
        keys = [(name, side) for name in LIMBS["leg"][:3]]
        if not all(key in self.place for key in keys):
            return True
        root, middle, ankle = (self.place[key] for key in keys)
        arms = [self.place[key] for key in (("arm", "L"), ("arm", "R")) if key in self.place]
        trunk = np.mean(arms, axis=0) if arms else UP
        in_line = (root - ankle) @ trunk > _HANGING * np.linalg.norm(root - ankle) * np.linalg.norm(trunk)
        return bool(in_line) and self._rests_well("leg", root, middle, ankle)

    def _rests_well(self, kind: str, root: np.ndarray, middle: np.ndarray, wrist: np.ndarray) -> bool:
        """Whether both bones have a length, legs hang, and arms point neither forward nor back."""
        lines = np.array([middle - root, wrist - middle])
        lengths = np.linalg.norm(lines, axis=-1)
        if lengths.min() < 0.02 * self.size:
            return False
        lines = lines / lengths[:, None]
        if kind == "leg":
            return bool((lines @ -UP).min() > _HANGING)
        return bool(abs(lines[0] @ FORWARD) < _AHEAD)


def _foot(line: np.ndarray) -> np.ndarray:
    """Up and forward (3, 2) of a foot at rest; of one that points down, as they are when it stands flat.

    line : from the ankle to the toes.
    """
    down = float(np.arctan2(-line[1], line[2])) if np.linalg.norm(line) > 0.0 else 0.0
    turn = down - _FOOT_DOWN if down > _POINTING else 0.0
    return quaternion.rotate(quaternion.exp(np.array([turn, 0.0, 0.0])), np.stack([UP, FORWARD])).T


def _frame(kind: str, line: np.ndarray) -> np.ndarray:
    """The rest frame (3, 3) of a limb's bone: a stretched limb's, carried along the shortest arc to the bone's line."""
    straight = _STRAIGHT[kind]
    turn = quaternion.to_matrix(quaternion.between(straight, line))
    return turn @ np.stack([straight, FORWARD, np.cross(straight, FORWARD)], -1)
