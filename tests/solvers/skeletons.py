# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons, poses and limits that the tests share: some by hand, the rest drawn by hypothesis."""

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
    """`count` joints one above the other along +Y, `length` apart, all alike."""
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


def random_pose(skeleton: ik.Skeleton, generator: np.random.Generator, size: float = 1.0) -> ik.Pose:
    """Motions that each joint's kind allows, turns and moves up to about `size`; limits play no part."""
    rotations, translations = np.tile([1.0, 0, 0, 0], (len(skeleton), 1)), np.zeros((len(skeleton), 3))
    for joint, kind in enumerate(skeleton.kinds):
        if kind == "ball":
            rotations[joint] = wxyz(Rotation.from_rotvec(size * generator.uniform(-1, 1, 3)))
        elif kind == "hinge":
            rotations[joint] = wxyz(Rotation.from_rotvec(size * generator.uniform(-1, 1) * skeleton.axis[joint]))
        elif kind == "prismatic":
            translations[joint] = size * generator.uniform(-1, 1) * skeleton.axis[joint]
    return ik.Pose(rotations, translations)


# -- limits, measured without the code under test ----------------------------------------------------------------------


def _turns_off(angle: float, lo: float, hi: float) -> float:
    """By how much an angle lies outside an interval, whole turns aside."""
    if hi - lo >= 2 * np.pi - 1e-9:
        return 0.0
    return min(max(lo - a, a - hi, 0.0) for a in angle + 2 * np.pi * np.arange(-2, 3))


def _about(q: np.ndarray, axis: np.ndarray) -> float:
    """The turn about an axis that is in a rotation `w x y z`; none where the rest is a half turn."""
    along = q[1:] @ axis
    return 2.0 * np.arctan2(along, q[0]) if np.hypot(along, q[0]) > 1e-12 else 0.0


def outside_ellipse(swing: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> float:
    """By how much a swing (2,) lies outside the ellipse of limits `lo`, `hi` (2,): its level above 1 over its slope."""
    square, slope = 0.0, 0.0
    for x, low, high in zip(swing, lo, hi, strict=True):
        centre = min(max(0.0, low), high)
        half = high - centre if x >= centre else centre - low
        if half <= 1e-12:
            if abs(x - centre) > 1e-9:
                return abs(x - centre)
        else:
            square += ((x - centre) / half) ** 2
            slope += ((x - centre) / half**2) ** 2
    level = np.sqrt(square)
    return float((level - 1.0) * level / np.sqrt(slope)) if level > 1.0 else 0.0


def outside_limits(skeleton: ik.Skeleton, pose: ik.Pose, joint: int) -> float:
    """By how much a joint is outside what its kind and its limits allow [rad or length units]."""
    kind, limits, axis = skeleton.kinds[joint], skeleton.joints[joint].limits, skeleton.axis[joint]
    q, slide = pose.rotations[joint], pose.translations[joint]
    if kind == "hinge":
        astray = float(np.linalg.norm(q[1:] - axis * (q[1:] @ axis)))
        return max(astray, _turns_off(_about(q, axis), limits.lo, limits.hi) if limits else 0.0)
    if kind == "prismatic":
        x = slide @ axis
        astray = float(np.linalg.norm(slide - x * axis))
        return max(astray, limits.lo - x, x - limits.hi) if limits else astray
    if kind == "fixed" or limits is None:
        return 0.0
    twist = _about(q, axis)
    swing = (scipy_rotation(q) * Rotation.from_rotvec(-twist * axis)).as_rotvec()
    # the swing's X and Z are those that the smallest rotation from +Y carries to the twist axis (about Z where opposite)
    carry = np.cross([0.0, 1.0, 0.0], axis)
    carry = Rotation.from_rotvec(carry * (np.arccos(np.clip(axis[1], -1, 1)) / max(np.linalg.norm(carry), 1e-300)))
    if axis[1] < -1 + 1e-12:
        carry = Rotation.from_rotvec([0, 0, np.pi])
    lo, hi = np.transpose([limits.swing_x, limits.swing_z])
    off = 0.0 if limits.swing_free else outside_ellipse(carry.inv().apply(swing)[[0, 2]], lo, hi)
    return max(_turns_off(twist, *limits.twist), off)


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
    st.none(),
    intervals(-3.0, 3.0).map(lambda ends: ik.Range(*ends)),
    st.just(ik.Range(-np.pi, np.pi)),
    st.just(ik.Range(np.radians(0.5), np.pi)),
)
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
