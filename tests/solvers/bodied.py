"""A person with capsules along the bones, and a motion that leads the hands through the body and a foot into the floor.

Z is up and the person faces +Y. [m]
"""

import numpy as np

import solvers as ik
from solvers.algebra import quaternion

_TRUNK = [  # name, parent, head, tail, radius, limits: twist, swing x, swing z
    ("hips", None, (0, 0, 0.95), (0, 0, 1.05), 0.12, None),
    ("spine", "hips", (0, 0, 1.05), (0, 0, 1.2), 0.11, ((-0.3, 0.3), (-0.4, 0.4), (-0.3, 0.3))),
    ("chest", "spine", (0, 0, 1.2), (0, 0, 1.42), 0.12, ((-0.3, 0.3), (-0.4, 0.4), (-0.3, 0.3))),
    ("neck", "chest", (0, 0, 1.45), (0, 0, 1.55), 0.05, ((-0.5, 0.5), (-0.5, 0.5), (-0.4, 0.4))),
    ("head", "neck", (0, 0, 1.55), (0, 0, 1.7), 0.09, ((-0.6, 0.6), (-0.5, 0.5), (-0.4, 0.4))),
]
_SIDE = [
    ("arm", "chest", (0.18, 0, 1.42), (0.46, 0, 1.42), 0.045, ((-1.3, 1.3), (-1.6, 1.6), (-1.7, 1.7))),
    ("fore", "arm", (0.46, 0, 1.42), (0.71, 0, 1.42), 0.04, ((-0.9, 0.9), (-0.02, 2.5), (-0.02, 0.02))),
    ("hand", "fore", (0.71, 0, 1.42), (0.86, 0, 1.42), 0.035, ((-0.4, 0.4), (-1.0, 1.0), (-0.5, 0.5))),
    ("thigh", "hips", (0.1, 0, 0.92), (0.1, 0, 0.5), 0.075, ((-0.7, 0.7), (-0.6, 2.0), (-0.7, 0.7))),
    ("shin", "thigh", (0.1, 0, 0.5), (0.1, 0, 0.09), 0.05, ((-0.3, 0.3), (-2.5, 0.02), (-0.02, 0.02))),
    ("foot", "shin", (0.1, 0, 0.09), (0.1, 0.15, 0.045), 0.04, ((-0.3, 0.3), (-0.7, 0.6), (-0.4, 0.4))),
]
_BENDS = {"fore": (0.35, 0.0, 0.0), "shin": (-0.35, 0.0, 0.0)}


def person() -> tuple[ik.Skeleton, list[ik.Capsule]]:
    """A skeleton with limits, whose hips slide, and a capsule for each bone."""
    bones = list(_TRUNK)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, parent, head, tail, radius, limits in _SIDE:
            above = parent + side if parent in {one[0] for one in _SIDE} else parent
            ends = [np.array(end, dtype=float) * (sign, 1.0, 1.0) for end in (head, tail)]
            bones.append((name + side, above, *ends, radius, limits))
    joints = [
        ik.Joint(f"slide {axis}", number - 1, "prismatic", (0, 0, 0.0 if number else 0.95), axis=np.eye(3)[number],
                 limits=ik.Range(-1, 1)) for number, axis in enumerate("XYZ")
    ]  # fmt: skip
    world, heads, capsules = {}, {"hips": np.array([0.0, 0.0, 0.95])}, []
    names = [joint.name for joint in joints]
    for name, parent, head, tail, radius, limits in bones:
        along = np.array(tail, dtype=float) - head
        length = np.linalg.norm(along)
        y = along / length
        x = np.array([0.0, 0.0, 1.0]) if abs(y[0]) > 0.9 else np.array([1.0, 0.0, 0.0])
        x = x - (x @ y) * y
        x /= np.linalg.norm(x)
        world[name] = quaternion.from_matrix(np.stack([x, y, np.cross(x, y)], -1))
        heads[name] = np.array(head, dtype=float)
        if parent is None:
            above, offset, rest = 2, (0.0, 0.0, 0.0), world[name]
        else:
            back = quaternion.conjugate(world[parent])
            above, offset = names.index(parent), quaternion.rotate(back, heads[name] - heads[parent])
            rest = quaternion.product(back, world[name])
        bend = _BENDS.get(name[:-1])
        if bend is not None and name == "foreR":
            bend = tuple(-part for part in bend)
            limits = limits[0], tuple(-part for part in reversed(limits[1])), limits[2]
        joints.append(ik.Joint(name, above, "ball", offset, rest=rest, preferred=bend,
                               limits=None if limits is None else ik.TwistSwing(*limits)))  # fmt: skip
        names.append(name)
        capsules.append(ik.Capsule(name, (0.0, 0.0, 0.0), (0.0, length, 0.0), radius))
    return ik.Skeleton(joints), capsules


def goals() -> list[ik.Goal]:
    """Of the head, the hands and the feet."""
    hand = [ik.Goal(f"hand{side}", position=(0, 0, 0), offset=(0, 0.08, 0)) for side in "LR"]
    foot = [ik.Goal(f"foot{side}", position=(0, 0, 0)) for side in "LR"]
    return [ik.Goal("head", position=(0, 0, 0), offset=(0, 0.1, 0)), *hand, *foot]


def motion(count: int) -> np.ndarray:
    """Positions (F, 5, 3) of the goals' targets."""
    u = np.linspace(0.0, 2.0 * np.pi, count)
    still = np.zeros(count)
    left = np.stack([0.15 + 0.16 * np.cos(u), 0.16 + 0.14 * np.cos(2 * u), 1.2 + 0.12 * np.sin(u)], -1)
    right = np.stack([-0.15 + 0.14 * np.cos(u + 0.5), 0.18 + 0.12 * np.cos(2 * u + 1), 1.12 + 0.1 * np.sin(u)], -1)
    head = np.stack([still, still + 0.03, 1.63 - 0.04 * (1.0 - np.cos(u))], -1)
    one = np.stack([still + 0.11, 0.1 * np.sin(u), 0.1 + 0.2 * np.maximum(np.sin(u), 0.0)], -1)
    other = np.stack([still - 0.11, -0.1 * np.sin(u), 0.1 - 0.06 * (1.0 - np.cos(3 * u)) / 2.0], -1)
    return np.stack([head, left, right, one, other], 1)


def segments(positions: np.ndarray, rotations: np.ndarray, skeleton: ik.Skeleton, capsules: list) -> list[np.ndarray]:
    """The starts and ends (..., C, 3) of the capsules' axes, from world places and rotations (..., J, 3 and 4)."""
    rows = [skeleton.index(one.joint) for one in capsules]
    ends = [np.array([getattr(one, name) for one in capsules], dtype=float) for name in ("start", "end")]
    return [positions[rows] + quaternion.rotate(rotations[rows], end) for end in ends]


def depths(skeleton: ik.Skeleton, capsules: list[ik.Capsule], pose: ik.Pose) -> np.ndarray:
    """Overlap of each pair of capsules, by projecting from one segment to the other and back until it settles."""
    start, end = segments(*ik.forward(skeleton, pose), skeleton, capsules)
    along, count = end - start, len(capsules)
    square = (along**2).sum(-1)
    b = np.broadcast_to(0.5 * (start + end), (count, count, 3))
    for _ in range(200):
        share = np.clip(((b - start[:, None]) * along[:, None]).sum(-1) / square[:, None], 0.0, 1.0)
        a = start[:, None] + share[..., None] * along[:, None]
        share = np.clip(((a - start) * along).sum(-1) / square, 0.0, 1.0)
        b = start + share[..., None] * along
    radius = np.array([one.radius for one in capsules])
    return radius[:, None] + radius - np.linalg.norm(a - b, axis=-1)
