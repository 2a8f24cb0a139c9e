# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand and a body as workloads: every degree of freedom is a hinge or a slide, with limits like those of people."""

from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation
from skeletons import scipy_rotation, wxyz

import solvers as ik

_UNITS = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


class _Builder:
    """Joints in order, by name; angles in degrees, lengths in metres."""

    def __init__(self) -> None:
        self.joints: list[ik.Joint] = []
        self.index: dict[str, int] = {"": -1}

    def add(self, name: str, parent: str, kind: str, offset: tuple, axis: tuple, limits: ik.Range) -> None:
        """Add a joint."""
        self.index[name] = len(self.joints)
        self.joints.append(ik.Joint(name, self.index[parent], kind, offset, axis=axis, limits=limits))

    def hinge(self, name: str, parent: str, offset: tuple, axis: tuple, lo: float, hi: float) -> None:
        """Add a hinge between two angles."""
        self.add(name, parent, "hinge", offset, axis, ik.Range(np.radians(lo), np.radians(hi)))

    def ball(self, name: str, parent: str, offset: tuple, **limits: tuple[float, float]) -> str:
        """Add hinges in one place, one per given axis, in order; returns the last one's name."""
        for axis, (lo, hi) in limits.items():
            self.hinge(f"{name} {axis}", parent, offset, _UNITS[axis], lo, hi)
            parent, offset = f"{name} {axis}", (0, 0, 0)
        return parent


def hand() -> tuple[ik.Skeleton, list[ik.Goal]]:
    """22 degrees of freedom: wrist 3, thumb 3, four fingers of 4; a goal with position and rotation on every tip."""
    build = _Builder()
    build.hinge("wrist flex", "", (0, 0, 0), (0, 1, 0), -80, 70)
    build.hinge("wrist deviate", "wrist flex", (0, 0, 0), (0, 0, 1), -30, 20)
    build.hinge("wrist turn", "wrist deviate", (0, 0, 0), (1, 0, 0), -85, 85)
    across = (-0.45, 0.45, 0.77)
    build.hinge("thumb 1", "wrist turn", (0.025, 0.025, -0.01), across, -30, 50)
    build.hinge("thumb 2", "thumb 1", (0.0325, 0.0325, 0), across, -60, 10)
    build.hinge("thumb 3", "thumb 2", (0.0226, 0.0226, 0), across, -80, 15)
    tips = [("thumb 3", (0.0191, 0.0191, 0))]
    for finger, knuckle, first, second, tip in [
        ("index", (0.095, 0.025, 0), 0.043, 0.025, 0.022), ("middle", (0.097, 0.003, 0.002), 0.047, 0.029, 0.023),
        ("ring", (0.09, -0.018, 0), 0.044, 0.027, 0.023), ("little", (0.082, -0.037, -0.004), 0.034, 0.02, 0.02),
    ]:  # fmt: skip
        build.hinge(f"{finger} spread", "wrist turn", knuckle, (0, 0, 1), -20, 20)
        build.hinge(f"{finger} 1", f"{finger} spread", (0, 0, 0), (0, 1, 0), -25, 90)
        build.hinge(f"{finger} 2", f"{finger} 1", (first, 0, 0), (0, 1, 0), 0, 105)
        build.hinge(f"{finger} 3", f"{finger} 2", (second, 0, 0), (0, 1, 0), -5, 80)
        tips.append((f"{finger} 3", (tip, 0, 0)))
    goals = [ik.Goal(build.index[joint], (0, 0, 0), (1, 0, 0, 0), offset) for joint, offset in tips]
    return ik.Skeleton(build.joints), goals


def body() -> tuple[ik.Skeleton, list[ik.Goal]]:
    """57 degrees of freedom, 1.75 m: hips that move, spine, arms, legs; goals on the head, the hands and the feet."""
    build = _Builder()
    build.add("move x", "", "prismatic", (0, 0, 0.95), (1, 0, 0), ik.Range(-1, 1))
    build.add("move y", "move x", "prismatic", (0, 0, 0), (0, 1, 0), ik.Range(-1, 1))
    build.add("move z", "move y", "prismatic", (0, 0, 0), (0, 0, 1), ik.Range(-1, 1))
    hips = build.ball("hips", "move z", (0, 0, 0), x=(-60, 60), y=(-60, 60), z=(-170, 170))
    spine = build.ball("spine 1", hips, (0, 0, 0.11), x=(-20, 20), y=(-15, 35), z=(-20, 20))
    spine = build.ball("spine 2", spine, (0, 0, 0.13), x=(-15, 15), y=(-10, 25), z=(-20, 20))
    chest = build.ball("spine 3", spine, (0, 0, 0.1), x=(-15, 15), y=(-10, 20), z=(-20, 20))
    head = build.ball("neck", chest, (0, 0, 0.2), x=(-25, 25), y=(-30, 35), z=(-40, 40))
    head = build.ball("head", head, (0, 0, 0.09), x=(-20, 20), y=(-25, 25), z=(-35, 35))
    goals = [ik.Goal(build.index[head], (0, 0, 0), None, (0.09, 0, 0.09))]
    for side, name in [(1, "left"), (-1, "right")]:

        def mirrored(lo: float, hi: float, side: int = side) -> tuple[float, float]:
            return (lo, hi) if side > 0 else (-hi, -lo)

        arm = build.ball(f"{name} collar", chest, (0, 0.02 * side, 0.15), x=mirrored(-10, 30), y=(-5, 5), z=(-20, 20))
        arm = build.ball(f"{name} shoulder", arm, (0, 0.16 * side, 0), x=(-85, 85), z=mirrored(-110, 40), y=(-80, 80))
        build.hinge(f"{name} elbow", arm, (0, 0.28 * side, 0), (0, 0, -side), 0, 145)
        palm = build.ball(f"{name} wrist", f"{name} elbow", (0, 0.26 * side, 0), x=(-70, 70), z=(-25, 25), y=(-85, 85))
        goals.append(ik.Goal(build.index[palm], (0, 0, 0), (1, 0, 0, 0), (0, 0.09 * side, 0)))
        leg = build.ball(f"{name} hip", hips, (0, 0.09 * side, -0.05), x=mirrored(-20, 45), y=(-115, 25), z=(-40, 40))
        build.hinge(f"{name} knee", leg, (0, 0, -0.43), (0, 1, 0), 0, 140)
        foot = build.ball(f"{name} ankle", f"{name} knee", (0, 0, -0.42), x=(-20, 20), y=(-30, 45), z=(-20, 20))
        goals.append(ik.Goal(build.index[foot], (0, 0, 0), (1, 0, 0, 0), (0.1, 0, -0.06)))
        build.hinge(f"{name} toes", foot, (0.13, 0, -0.06), (0, 1, 0), -45, 20)
    return ik.Skeleton(build.joints), goals


def coordinates(skeleton: ik.Skeleton, generator: np.random.Generator, count: int, share: float = 1.0) -> np.ndarray:
    """Coordinates (count, J) drawn evenly from a share of the limits, about their middles."""
    lo, hi = np.array([(joint.limits.lo, joint.limits.hi) for joint in skeleton.joints]).T
    return 0.5 * (lo + hi) + 0.5 * share * (hi - lo) * generator.uniform(-1, 1, (count, len(skeleton)))


def motion(knots: np.ndarray, frames: int) -> np.ndarray:
    """Coordinates (frames (K - 1), J) from knot to knot (K, J), with zero velocity at each knot (a quintic)."""
    t = np.arange(frames) / frames
    share = (t**3 * (10 - 15 * t + 6 * t * t))[:, None]
    return np.concatenate([a + share * (b - a) for a, b in pairwise(knots)])


def posed(skeleton: ik.Skeleton, x: np.ndarray) -> ik.Pose:
    """The pose of coordinates (J,)."""
    slides = np.array([kind == "prismatic" for kind in skeleton.kinds])[:, None]
    along = x[:, None] * skeleton.axis
    return ik.Pose(wxyz(Rotation.from_rotvec(np.where(slides, 0.0, along))), np.where(slides, along, 0.0))


def targets(skeleton: ik.Skeleton, goals: list[ik.Goal], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (F, G, 3) and rotations (F, G, 4) of the goals' effectors at coordinates (F, J)."""
    places, turns = [], []
    for row in x:
        world = ik.forward(skeleton, posed(skeleton, row))
        turned = [scipy_rotation(world.rotations[goal.joint]) for goal in goals]
        places.append([world.positions[g.joint] + r.apply(g.offset) for g, r in zip(goals, turned, strict=True)])
        turns.append([wxyz(r) for r in turned])
    return np.array(places), np.array(turns)
