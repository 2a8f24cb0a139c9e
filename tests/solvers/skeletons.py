# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons, poses and limits that the tests share: some built by hand, the others drawn by hypothesis."""

import math

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import solvers as ik


def wxyz(rotation: Rotation) -> np.ndarray:
    """SciPy's rotation as `w x y z`."""
    return rotation.as_quat(scalar_first=True)


def scipy_rotation(q: np.ndarray) -> Rotation:
    """`w x y z` as SciPy's rotation."""
    return Rotation.from_quat(q, scalar_first=True)


def chain(count: int, kind: str = "ball", length: float = 1.0, **settings: object) -> ik.Skeleton:
    """`count` equal joints one above the other along +Y, `length` apart."""
    return ik.Skeleton([
        ik.Joint(f"joint {i}", i - 1, kind, (0.0, length if i else 0.0, 0.0), **settings) for i in range(count)
    ])  # fmt: skip


def arm(upper: float = 1.0, lower: float = 1.0, shoulder=None, elbow=None, **settings: object) -> ik.Skeleton:
    """A ball for the shoulder, a hinge about X for the elbow, a fixed hand at the end; straight up +Y at rest."""
    return ik.Skeleton([
        ik.Joint("shoulder", -1, "ball", (0, 0, 0), limits=shoulder),
        ik.Joint("elbow", 0, "hinge", (0, upper, 0), axis=(1, 0, 0), limits=elbow, **settings),
        ik.Joint("hand", 1, "fixed", (0, lower, 0)),
    ])  # fmt: skip


LEFT, RIGHT = 4, 7  # the hands of a torso


def torso() -> ik.Skeleton:
    """A pelvis and a chest that bend, and two arms of two bones with hands."""
    joints = [ik.Joint("pelvis", -1, "ball", (0, 0, 0)), ik.Joint("chest", 0, "ball", (0, 0.5, 0))]
    for name, side in [("left", 1), ("right", -1)]:
        first = len(joints)
        joints += [
            ik.Joint(f"{name} upper arm", 1, "ball", (0.2 * side, 0.1, 0)),
            ik.Joint(f"{name} forearm", first, "ball", (0.3 * side, 0, 0)),
            ik.Joint(f"{name} hand", first + 1, "ball", (0.3 * side, 0, 0)),
        ]
    return ik.Skeleton(joints)


def bent(count: int) -> ik.Pose:
    """A start for a chain, bent a little at every joint."""
    return ik.Pose(np.tile(wxyz(Rotation.from_rotvec([0.2, 0.1, 0.3])), (count, 1)), np.zeros((count, 3)))


def arm_bent(angle: float = 0.6) -> ik.Pose:
    """A start for an arm, with its elbow bent."""
    pose = arm().rest_pose()
    pose.rotations[1] = wxyz(Rotation.from_rotvec([angle, 0, 0]))
    return pose


def pointer(limits: ik.Range | None) -> ik.Skeleton:
    """A hinge about Z."""
    return ik.Skeleton([ik.Joint("pin", -1, "hinge", (0, 0, 0), axis=(0, 0, 1), limits=limits)])


def pointing(degrees: float) -> tuple:
    """A point on the unit circle."""
    return math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0


def pointed(degrees: float) -> ik.Pose:
    """The pose of the pointer."""
    return ik.Pose(wxyz(Rotation.from_rotvec([[0, 0, math.radians(degrees)]])), np.zeros((1, 3)))


def random_pose(skeleton: ik.Skeleton, generator: np.random.Generator, size: float = 1.0) -> ik.Pose:
    """Motions that each joint's kind allows, of turns and moves up to about `size`; limits are not applied."""
    rotations, translations = np.tile([1.0, 0, 0, 0], (len(skeleton), 1)), np.zeros((len(skeleton), 3))
    for joint, kind in enumerate(skeleton.kinds):
        if kind == "ball":
            rotations[joint] = wxyz(Rotation.from_rotvec(size * generator.uniform(-1, 1, 3)))
        elif kind == "hinge":
            rotations[joint] = wxyz(Rotation.from_rotvec(size * generator.uniform(-1, 1) * skeleton.axis[joint]))
        elif kind == "prismatic":
            translations[joint] = size * generator.uniform(-1, 1) * skeleton.axis[joint]
    return ik.Pose(rotations, translations)


# -- drawn by hypothesis ----------------------------------------------------------------------------------------------

_component = st.floats(-1.0, 1.0, allow_subnormal=False)
vectors = st.tuples(_component, _component, _component)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def intervals(draw: st.DrawFn, least: float, most: float) -> tuple[float, float]:
    """`(lo, hi)` between `least` and `most`: around zero or beside it, wide, narrow or a single value."""
    end = st.floats(least, most, allow_subnormal=False)
    ends = draw(st.tuples(end, end))
    return min(ends), max(ends)


ranges = st.one_of(
    st.none(), intervals(-3.0, 3.0).map(lambda ends: ik.Range(*ends)), st.just(ik.Range(-np.pi, np.pi)),
    st.just(ik.Range(np.radians(0.5), np.pi)),
)  # fmt: skip
slides = st.one_of(st.none(), intervals(-0.5, 0.5).map(lambda ends: ik.Range(*ends)))
twist_swings = st.one_of(
    st.none(),
    st.builds(ik.TwistSwing, intervals(-3.0, 3.0), intervals(-2.2, 2.2), intervals(-2.2, 2.2)),
    st.builds(ik.TwistSwing, st.just((-np.pi, np.pi)), intervals(-2.0, 2.0), intervals(-2.0, 2.0)),
    st.builds(ik.TwistSwing, intervals(-1.0, 1.0), st.just((-np.pi, np.pi)), st.just((-np.pi, np.pi))),
)
KINDS = ("ball", "hinge", "prismatic", "fixed")
_LIMITS = {"ball": twist_swings, "hinge": ranges, "prismatic": slides, "fixed": st.none()}
_AXES = st.sampled_from([None, (1, 0, 0), (0, 0, 1), (0, -1, 0), (1, 2, -2), (-0.3, 0.1, 0.7)])


@st.composite
def skeletons(
    draw: st.DrawFn, most: int = 6, kinds: tuple[str, ...] = KINDS, limited: bool = True, detached: bool = True
) -> ik.Skeleton:
    """Trees of up to `most` joints of any shape and order: children may come before their parents."""
    count = draw(st.integers(1, most))
    order = draw(st.permutations(range(count)))
    joints: dict[int, ik.Joint] = {}
    for step, index in enumerate(order):
        above = draw(st.integers(-1 if draw(st.booleans()) else max(step - 2, 0), step - 1)) if step else -1
        kind = draw(st.sampled_from(kinds))
        joints[index] = ik.Joint(
            f"joint {index}", order[above] if above >= 0 else -1, kind, draw(vectors),
            rest=wxyz(Rotation.from_rotvec(draw(vectors))), axis=draw(_AXES),
            limits=draw(_LIMITS[kind]) if limited else None, stiffness=draw(st.sampled_from([0.0, 0.0, 0.0, 0.5, 1.0])),
            inherit_rotation=kind == "prismatic" or not (detached and draw(st.integers(0, 4)) == 0),
        )  # fmt: skip
    return ik.Skeleton([joints[index] for index in range(count)])
