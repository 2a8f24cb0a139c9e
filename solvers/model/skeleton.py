# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of joints, its poses, and the transforms of all joints by dual-quaternion products over the whole tree."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..algebra import dual_quaternion, quaternion
from .coupling import Coupling, resolve_couplings
from .errors import InvalidLimits, InvalidPose, InvalidSkeleton, UnknownJoint
from .limits import Range, TwistSwing, check_radians
from .names import suggestions
from .numbers import array, has_items, is_flag, is_whole, number, shown, vector

MOST_GAIN = 1e4


class JointKind(NamedTuple):
    """A kind of joint: its degrees of freedom, whether these are turns or slides, and the class of its limits."""

    freedoms: int
    turns: bool = False
    slides: bool = False
    limits: type[Range] | type[TwistSwing] | None = None


JOINT_KINDS = {
    "ball": JointKind(3, turns=True, limits=TwistSwing),
    "hinge": JointKind(1, turns=True, limits=Range),
    "prismatic": JointKind(1, slides=True, limits=Range),
    "fixed": JointKind(0),
}
"""The kinds of joints by name."""


KEYED = 0.5  # hold of a joint that keys hold; one that was posed by hand is held more


@dataclass(frozen=True)
class Joint:
    """One joint: its place on the parent, its freedom of motion, and its resistance to motion.

    Parameters
    ----------
    name : used by goals and messages.
    parent : index of the parent joint, -1 for a root.
    kind : `ball` (3 degrees of freedom), `hinge` (1), `prismatic` (1) or `fixed` (0).
    offset : (3,) origin in the parent's frame.
    rest : (4,) orientation in the parent's frame at rest, `w x y z`.
    axis : (3,) in the joint's own frame: the hinge's or slide's axis; for a ball the twist axis. Default +Y.
    limits : `Range` for a hinge or a slide, `TwistSwing` for a ball, None for no limits.
    stiffness : 0..1, reluctance to move; at 1 the joint stays where it is.
    preferred : (3,) rotation vector toward which it prefers to bend; None for its start. Has no effect on joints that
        cannot turn.
    hold : 0..1, how firmly the pull of `Options.pull` holds the joint to its start; joints with a lower hold move
        first. A hold never keeps a goal from being met. Up to `KEYED`, it gives way where goals are missed, too.
    inherit_rotation : False for a joint that follows its parent in position but not in orientation; its `rest` is then
        its orientation in the skeleton's frame.
    gain : 0..`MOST_GAIN`, how strongly the pull of `Options.pull` returns the joint to its posture, relative to the
        other joints (the joint gains of Parent eq. 5.27); at 0 the pull leaves it where the goals and the other joints
        take it.

    Examples
    --------
    >>> shoulder = ik.Joint("shoulder", parent=-1, kind="ball", offset=(0, 0, 0))
    >>> ik.Joint("elbow", parent=0, kind="hinge", offset=(0, 1, 0), axis=(1, 0, 0), limits=ik.Range(0.0, 2.6)).limits
    Range(lo=0.0, hi=2.6)
    """

    name: str
    parent: int
    kind: str
    offset: Sequence[float]
    rest: Sequence[float] = (1.0, 0.0, 0.0, 0.0)
    axis: Sequence[float] | None = None
    limits: Range | TwistSwing | None = None
    stiffness: float = 0.0
    preferred: Sequence[float] | None = None
    hold: float = 0.0
    inherit_rotation: bool = True
    gain: float = 1.0


class Pose(NamedTuple):
    """Joint motions from rest: `rotations` (..., J, 4) `w x y z`, `translations` (..., J, 3) along slides.

    Examples
    --------
    >>> arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("hand", 0, "fixed", (0, 2, 0))])
    >>> pose = ik.Pose(rotations=[(0.6, 0.8, 0, 0), (1, 0, 0, 0)], translations=np.zeros((2, 3)))
    >>> ik.forward(arm, pose).positions[1].round(3).tolist()
    [0.0, -0.56, 1.92]
    """

    rotations: np.ndarray
    translations: np.ndarray


class Skeleton:
    """A checked tree of joints as arrays; immutable once made.

    Attributes
    ----------
    joints : tuple of `Joint`, in the order given.
    parent : (J,) indices, -1 for roots.
    links : (J, 8) each joint's rest transform in its parent's frame.
    axis : (J, 3) unit axes in the joints' own frames.
    freedoms : (J,) degrees of freedom. balls, hinges, slides, turns : (J,) bool, the joints of these kinds, and those
        that turn.
    ancestors : (J, J) bool; `ancestors[j, k]` where joint `k` is `j` itself or above it.
    length : [length units] typical length, by which errors are divided. Default: the longest path along the tree from a
        root, and 1 if all joints lie in one place.
    limited : whether any joint has limits. couplings : joints that move together, with joints as indices.

    Examples
    --------
    >>> arm = ik.Skeleton([
    ...     ik.Joint("shoulder", parent=-1, kind="ball", offset=(0, 0, 0)),
    ...     ik.Joint("elbow", parent=0, kind="hinge", offset=(0, 1, 0), axis=(1, 0, 0)),
    ...     ik.Joint("hand", parent=1, kind="fixed", offset=(0, 0.8, 0)),
    ... ])
    >>> len(arm), arm.names, arm.index("elbow")
    (3, ('shoulder', 'elbow', 'hand'), 1)
    >>> arm.length
    1.8
    """

    def __init__(
        self, joints: Sequence[Joint], length: float | None = None, couplings: Sequence[Coupling] = ()
    ) -> None:
        if length is not None and not 0.0 < number(length) < np.inf:
            raise InvalidSkeleton(f"Skeleton: length = {shown(length)}; expected a number above 0, or None")
        if isinstance(joints, Joint) or not has_items(joints):
            raise InvalidSkeleton(f"Skeleton: expected a list of Joint, got {shown(joints)}")
        self.joints = tuple(joints)
        if not self.joints:
            raise InvalidSkeleton("Skeleton: expected at least one joint, got none")
        for index, joint in enumerate(self.joints):
            if not isinstance(joint, Joint):
                raise InvalidSkeleton(f"Skeleton: expected Joint objects, got {shown(joint)} at index {index}")
            if not isinstance(joint.name, str):
                raise InvalidSkeleton(f"joint {index}: name = {shown(joint.name)}; expected a string")
        self.names = tuple(joint.name for joint in self.joints)
        self.kinds = tuple(joint.kind for joint in self.joints)
        self.parent = self._parents()
        kinds = [JOINT_KINDS[kind] for kind in self.kinds]
        self.freedoms = np.array([kind.freedoms for kind in kinds])
        self.slides, self.turns = np.array([kind.slides for kind in kinds]), np.array([kind.turns for kind in kinds])
        self.balls, self.hinges = self.freedoms == 3, self.turns & (self.freedoms == 1)
        self.links = np.stack([self._link(joint) for joint in self.joints])
        self.axis = np.stack([self._axis(joint) for joint in self.joints])
        self.stiffness = np.array([_fraction(joint, "stiffness") for joint in self.joints])
        self.hold = np.array([_fraction(joint, "hold") for joint in self.joints])
        self.gain = np.array([_gain(joint) for joint in self.joints])
        self.preferred = np.stack([self._preferred(joint) for joint in self.joints])
        for joint in self.joints:
            self._check_limits(joint)
        self.limited = any(joint.limits is not None for joint in self.joints)
        self._index_tree()
        if length is not None:
            self.length = float(length)
        self.couplings = resolve_couplings(self, couplings)

    def __len__(self) -> int:
        return len(self.joints)

    def with_holds(self, hold: np.ndarray, gain: np.ndarray) -> "Skeleton":
        """The same tree with other holds and gains (J,) of its joints. It shares everything else."""
        other, own = copy(self), zip(self.joints, hold.tolist(), gain.tolist(), strict=True)
        other.joints = tuple(replace(joint, hold=firm, gain=strong) for joint, firm, strong in own)
        other.hold, other.gain = np.array(hold, dtype=float), np.array(gain, dtype=float)
        if not (((hold >= 0.0) & (hold <= 1.0)).all() and ((gain >= 0.0) & (gain <= MOST_GAIN)).all()):
            for joint in other.joints:
                _fraction(joint, "hold")
                _gain(joint)
        return other

    def part(self, joints: np.ndarray) -> "Skeleton":
        """The tree of some joints (K,), those above them included; `length` and `limited` are those of the whole."""
        at = {-1: -1, **{int(joint): number for number, joint in enumerate(joints)}}
        part = Skeleton(
            [replace(self.joints[int(joint)], parent=at[int(self.parent[joint])]) for joint in joints], self.length,
            [replace(one, joint=at[one.joint], leader=at[one.leader]) for one in self.couplings
             if one.joint in at and one.leader in at],
        )  # fmt: skip
        part.limited = self.limited
        return part

    def index(self, joint: str | int) -> int:
        """The index of a joint, given its name or its index.

        Raises `UnknownJoint` for a name that no joint or several joints have, and for an index out of range.
        """
        if isinstance(joint, str):
            count = self.names.count(joint)
            if count == 0:
                raise UnknownJoint(f"no joint is called {joint!r}; the joints are {suggestions(joint, self.names)}")
            if count > 1:
                same = [index for index, name in enumerate(self.names) if name == joint]
                raise UnknownJoint(f"{count} joints are called {joint!r}; use an index, one of {same}")
            return self.names.index(joint)
        if not is_whole(joint, 0, len(self) - 1):
            raise UnknownJoint(f"joint = {shown(joint)}; expected a name or an index from 0 to {len(self) - 1}")
        return int(joint)

    def rest_pose(self) -> Pose:
        """The pose in which no joint has moved."""
        count = len(self.joints)
        return Pose(np.tile(quaternion.IDENTITY, (count, 1)), np.zeros((count, 3)))

    @cached_property
    def align(self) -> np.ndarray:
        """Rotations (J, 4) from the Y axis, about which balls twist, to the joints' axes."""
        return quaternion.between(np.array([0.0, 1.0, 0.0]), self.axis)

    @cached_property
    def at_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """The orientations (J, 3, 3) and positions (J, 3) of all joints in the rest pose."""
        return dual_quaternion.placement(self.transforms(self.rest_pose().rotations[None], None)[0])

    def check_pose(self, pose: Pose, batch: bool = False) -> Pose:
        """`pose` as finite arrays (J, 4) of unit quaternions and (J, 3); `InvalidPose` otherwise.

        batch : whether both may have a leading axis of frames: (F, J, 4) and (F, J, 3).
        """
        count = len(self.joints)
        try:
            rotations, translations = map(array, pose)
        except (TypeError, ValueError):
            raise InvalidPose(f"pose: expected Pose(rotations, translations), got {shown(pose)}") from None
        for name, part, shape in [
            ("rotations", rotations, (count, 4)), ("translations", translations, (count, 3)),
        ]:  # fmt: skip
            if part.shape[1 if batch and part.ndim == 3 else 0 :] != shape:
                frames = f" or (frames, {shape[0]}, {shape[1]})" if batch else ""
                raise InvalidPose(f"pose.{name}: expected shape {shape}{frames}, got {part.shape}")
            bad = np.argwhere(~np.isfinite(part).all(-1))
            if len(bad):
                where = tuple(bad[0])
                raise InvalidPose(f"pose.{name} of joint {self.names[where[-1]]!r}: got {part[where].tolist()}")
        if rotations.shape[:-2] != translations.shape[:-2]:
            raise InvalidPose(f"pose: got rotations {rotations.shape} but translations {translations.shape}")
        return Pose(quaternion.unit(rotations), translations)

    def path(self, joint: int) -> list[int]:
        """The joints from a root to a joint, that one included."""
        return [above for above in self.order if self.ancestors[joint, above]]

    def levers(self, carriers: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """(P, n) joint whose position carries the turn of each of `joints` (n,) to the points on `carriers` (P,).

        -1 for the point itself. A joint above a detached segment only moves the segment's head, which carries the rest.
        """
        levers = np.full((len(carriers), len(joints)), -1, dtype=np.intp)
        for row, carrier in enumerate(carriers):
            head = self.segment[carrier]
            while head in self.detached:
                levers[row, self.ancestors[self.parent[head]][joints]] = head
                head = self.segment[self.parent[head]]
        return levers

    # -- checks -------------------------------------------------------------------------------------------------

    def _parents(self) -> np.ndarray:
        count = len(self.joints)
        parent = np.empty(count, dtype=np.intp)
        for index, joint in enumerate(self.joints):
            if not is_whole(joint.parent, -1, count - 1):
                raise InvalidSkeleton(
                    f"joint {joint.name!r}: parent = {shown(joint.parent)}; expected -1 or an index below {count}"
                )
            if not isinstance(joint.kind, str) or joint.kind not in JOINT_KINDS:
                raise InvalidSkeleton(
                    f"joint {joint.name!r}: kind = {shown(joint.kind)}; expected one of {', '.join(JOINT_KINDS)}"
                )
            if not is_flag(joint.inherit_rotation):
                raise InvalidSkeleton(
                    f"joint {joint.name!r}: inherit_rotation = {shown(joint.inherit_rotation)}; expected True or False"
                )
            if JOINT_KINDS[joint.kind].slides and not joint.inherit_rotation:
                raise InvalidSkeleton(
                    f"joint {joint.name!r}: a prismatic joint slides along its parent's axes; "
                    "set inherit_rotation=False on the joint below it"
                )
            parent[index] = joint.parent
        rooted: set[int] = {-1}  # joints whose parents are known to lead to a root
        for index in range(count):
            path, above = set[int](), index
            while above not in rooted:
                if above in path:
                    raise InvalidSkeleton(f"joint {self.names[index]!r}: its parents run in a circle")
                path.add(above)
                above = int(parent[above])
            rooted |= path
        return parent

    @staticmethod
    def _link(joint: Joint) -> np.ndarray:
        offset = vector(joint.offset, 3, f"joint {joint.name!r} offset", InvalidSkeleton)
        rest = vector(joint.rest, 4, f"joint {joint.name!r} rest", InvalidSkeleton)
        if np.linalg.norm(rest) < 1e-6:
            raise InvalidSkeleton(f"joint {joint.name!r} rest: expected a quaternion w x y z, got {rest.tolist()}")
        return dual_quaternion.from_parts(quaternion.normalize(rest), offset)

    @staticmethod
    def _axis(joint: Joint) -> np.ndarray:
        axis = vector((0.0, 1.0, 0.0) if joint.axis is None else joint.axis, 3, f"joint {joint.name!r} axis",
                      InvalidSkeleton)  # fmt: skip
        length = np.linalg.norm(axis)
        if length < 1e-12:
            raise InvalidSkeleton(f"joint {joint.name!r} axis: expected a direction, got a zero vector")
        return axis / length

    @staticmethod
    def _preferred(joint: Joint) -> np.ndarray:
        if joint.preferred is None:
            return np.zeros(3)
        preferred = vector(joint.preferred, 3, f"joint {joint.name!r} preferred", InvalidSkeleton)
        return preferred if JOINT_KINDS[joint.kind].turns else np.zeros(3)

    @staticmethod
    def _check_limits(joint: Joint) -> None:
        limits_class = JOINT_KINDS[joint.kind].limits
        if joint.limits is not None and limits_class is not None and not isinstance(joint.limits, limits_class):
            raise InvalidLimits(
                f"joint {joint.name!r}: a {joint.kind} joint takes {limits_class.__name__} limits, got {joint.limits!r}"
            )
        if JOINT_KINDS[joint.kind].turns and isinstance(joint.limits, Range):
            check_radians(f"joint {joint.name!r} limits", joint.limits.lo, joint.limits.hi)

    # -- the tree as arrays ---------------------------------------------------------------------------------------

    def _index_tree(self) -> None:
        count = len(self.joints)
        ancestors = np.eye(count, dtype=bool)
        depth = np.zeros(count, dtype=np.intp)
        order: list[int] = []  # parents before children
        placed = np.zeros(count, dtype=bool)
        while len(order) < count:
            for index in np.flatnonzero(~placed & ((self.parent < 0) | placed[self.parent])):
                above = self.parent[index]
                if above >= 0:
                    ancestors[index] |= ancestors[above]
                    depth[index] = depth[above] + 1
                placed[index] = True
                order.append(int(index))
        self.ancestors, self.order = ancestors, order
        self.detached = [j for j in order if self.parent[j] >= 0 and not self.joints[j].inherit_rotation]
        # Segments are sub-trees within which orientation is inherited; a detached joint is the head of its own.
        self.segment = np.zeros(count, dtype=np.intp)
        for index in order:
            above = self.parent[index]
            self.segment[index] = index if above < 0 or index in self.detached else self.segment[above]
        self._doublings = self._pointer_doublings(depth)
        offsets = np.linalg.norm(dual_quaternion.translation(self.links), axis=-1)
        offsets[self.parent < 0] = 0.0
        length = float((ancestors @ offsets).max())
        self.length = length if length > 1e-9 else 1.0

    def _pointer_doublings(self, depth: np.ndarray) -> list[np.ndarray]:
        """Ancestor indices 1, 2, 4, ... steps up within the segment; `J` (the identity) past its head."""
        count = len(self.joints)
        step = np.append(np.where(self.parent < 0, count, self.parent), count)
        step[self.detached] = count
        doublings: list[np.ndarray] = []
        while (step[:count] != count).any():
            doublings.append(step.copy())
            step = step[step]
        return doublings

    def transforms(
        self, rotations: np.ndarray, slides: np.ndarray | None, links: np.ndarray | None = None
    ) -> np.ndarray:
        """World transforms (F, J, 8): `Q_j = Q_parent link_j motion_j` (Kenwright eq. 13, 15), all joints at once.

        Parameters
        ----------
        rotations : (F, J, 4) joint motions.
        slides : (F, J, 3) joint translations in the joints' own frames; None for none.
        links : (F or 1, J, 8) used instead of the skeleton's own, as measured on a posed rig.

        A product of transforms along a path may be formed in any grouping, so paths are doubled in length each round:
        log2(depth) products over the whole tree instead of one per level.
        """
        frames, count = rotations.shape[:2]
        rest_links = self.links if links is None else links
        heads = rest_links
        if self.detached:
            heads = rest_links.copy()
            heads[..., self.detached, 4:] = 0.0
        world = np.empty((frames, count + 1, 8))
        world[:, count] = dual_quaternion.IDENTITY
        heads = heads.reshape(*heads.shape[:-1], 2, 4)
        local = quaternion.product(heads, rotations[:, :, None, :]).reshape(frames, count, 8)
        if slides is not None:
            turned = quaternion.rotate(local[..., :4], slides)
            moved = np.concatenate([np.zeros_like(turned[..., :1]), 0.5 * turned], -1)
            local[..., 4:] += quaternion.product(moved, local[..., :4])
        world[:, :count] = local
        for above in self._doublings:
            world = dual_quaternion.product(world[:, above], world)
        world = world[:, :count]
        return self._attach(world, rest_links) if self.detached else world

    def _attach(self, world: np.ndarray, links: np.ndarray) -> np.ndarray:
        """Move each detached segment so that its head lies at its offset on the parent."""
        shift = np.zeros((*world.shape[:2], 3))
        positions = dual_quaternion.translation(world)
        offsets = np.broadcast_to(dual_quaternion.translation(links), positions.shape)
        for head in self.detached:
            above = int(self.parent[head])
            at = positions[:, above] + shift[:, self.segment[above]]
            shift[:, head] = at + quaternion.rotate(world[:, above, :4], offsets[:, head])
        return dual_quaternion.from_parts(world[..., :4], positions + shift[:, self.segment])


def _fraction(joint: Joint, name: str) -> float:
    """A joint's setting between 0 and 1."""
    value = number(getattr(joint, name))
    if not 0.0 <= value <= 1.0:
        raise InvalidSkeleton(f"joint {joint.name!r} {name}: expected 0..1, got {shown(getattr(joint, name))}")
    return value


def _gain(joint: Joint) -> float:
    value = number(joint.gain)
    if not 0.0 <= value <= MOST_GAIN:
        raise InvalidSkeleton(f"joint {joint.name!r} gain: expected 0..{MOST_GAIN:g}, got {shown(joint.gain)}")
    return value


def check_skeleton(skeleton: Skeleton) -> None:
    """Raise `InvalidSkeleton` for anything but a `Skeleton`."""
    if not isinstance(skeleton, Skeleton):
        raise InvalidSkeleton(f"skeleton: expected a Skeleton, got {shown(skeleton)}")
