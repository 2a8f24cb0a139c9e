# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions drawn by hand for any human character: rotations of its parts by role, frame by frame.

Parts turn against the one above them, from a figure that stands with its arms hanging. Rotations are in the figure's
own directions, so a motion does not depend on the axes of bones or on the pose at rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, pi, radians, sin

from mathutils import Matrix, Quaternion, Vector
from person import Figure

FRAMES = 48
_LIMB = {"arm": "arm", "forearm": "arm", "hand": "arm", "thigh": "leg", "shin": "leg", "foot": "leg"}


@dataclass
class Pose:
    """A pose: for each part (role, side) three angles [degrees], and where the hips are in heights (left, forward, up).

    Angles are: forward bend about the left-right axis, sideways raise (arms and legs: out, trunk: to the left), and
    turn about the part's own length (limbs: inward, trunk: to the left); applied in this order, the turn first.
    """

    angles: dict[tuple[str, str], tuple[float, float, float]] = field(default_factory=dict)
    hips: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def put(self, role: str, side: str, forward: float = 0.0, out: float = 0.0, turn: float = 0.0) -> None:
        """Set the angles of a part."""
        self.angles[role, side] = forward, out, turn


def _leg(pose: Pose, side: str, thigh: float, knee: float, foot: float = 0.0, out: float = 3.0) -> None:
    pose.put("thigh", side, thigh, out)
    pose.put("shin", side, -knee)
    pose.put("foot", side, foot)


def _arm(
    pose: Pose, side: str, forward: float, out: float, elbow: float, turn: float = 10.0, palm: float = 0.0
) -> None:  # fmt: skip
    pose.put("arm", side, forward, out, turn)
    pose.put("forearm", side, elbow, 0.0, palm)


def _trunk(pose: Pose, forward: float = 0.0, side: float = 0.0, turn: float = 0.0, look: float = 0.0) -> None:
    """Bend the spine; the head looks on along the hips' way, or by `look` to the left."""
    pose.put("spine", "", forward, side, turn)
    pose.put("head", "", -0.6 * forward, -0.5 * side, look - 0.8 * turn)


def stand() -> Pose:
    """Standing, the arms hanging a little bent."""
    pose = Pose()
    for side in "LR":
        _arm(pose, side, 4.0, 9.0, 14.0)
        _leg(pose, side, 2.0, 4.0, 2.0)
    pose.hips = (0.0, 0.0, -0.003)
    return pose


def squat() -> Pose:
    """Low on both feet, the trunk bent forward and the hands near the ground."""
    pose = Pose()
    for side in "LR":
        _leg(pose, side, 118.0, 128.0, 14.0, 14.0)
        _arm(pose, side, 85.0, 4.0, 10.0)
    _trunk(pose, 52.0)
    pose.put("hips", "", 24.0)
    pose.hips = (0.0, -0.09, -0.33)
    return pose


def walk(t: float) -> Pose:
    """Two steps a second, arms and legs opposed."""
    pose, phase = Pose(), 4.0 * pi * t
    for side, own in (("L", phase), ("R", phase + pi)):
        swing = sin(own)
        _leg(pose, side, 6.0 + 24.0 * swing, 8.0 + 48.0 * max(0.0, cos(own)) ** 1.5, 6.0 * cos(own + 0.6))
        _arm(pose, side, -20.0 * swing, 6.0, 22.0 - 12.0 * swing, 15.0)
    _trunk(pose, 3.0, 0.0, 7.0 * sin(phase))
    pose.put("hips", "", 2.0, 3.0 * cos(phase), -6.0 * sin(phase))
    pose.hips = (0.008 * sin(phase), 0.8 * t, -0.02 + 0.012 * cos(2.0 * phase))
    return pose


def reach(t: float) -> Pose:
    """The right hand goes from a hip to a high shelf, across the body and to a low table; the left one rests."""
    pose = Pose()
    keys = [(15, 12, 40, 20), (60, 110, 25, -10), (70, -10, 45, 20), (55, 10, 25, 20), (10, 12, 25, 10)]
    lean = [(2, 0, 0), (-4, 6, 0), (6, 0, 25), (32, 0, 8), (2, 0, 0)]
    forward, out, elbow, turn = _between(keys, t)
    _arm(pose, "R", forward, out, elbow, turn)
    _arm(pose, "L", 8.0, 8.0, 25.0 + 10.0 * sin(2.0 * pi * t))
    bend, side, twist = _between(lean, t)
    _trunk(pose, bend, side, twist)
    pose.put("hips", "", 0.3 * bend)
    drop = 0.4 * max(bend, 0.0)
    for side in "LR":
        _leg(pose, side, 0.3 * bend + 6.0 + drop, 8.0 + 2.0 * drop, 2.0 + drop)
    pose.hips = (0.0, -0.002 * bend, -0.012 - 0.0015 * max(bend, 0.0))
    return pose


def crouch(t: float) -> Pose:
    """Down to the ground with both hands in front, and up again."""
    pose, low = Pose(), 0.5 - 0.5 * cos(2.0 * pi * t)
    for side in "LR":
        _leg(pose, side, 5.0 + 95.0 * low, 8.0 + 107.0 * low, 3.0 + 12.0 * low, 4.0 + 14.0 * low)
        _arm(pose, side, 8.0 + 52.0 * low, 8.0, 20.0 + 10.0 * low, 15.0)
    _trunk(pose, 4.0 + 30.0 * low)
    pose.put("hips", "", 2.0 + 18.0 * low)
    pose.hips = (0.0, -0.09 * low, -0.01 - 0.27 * low)
    return pose


def turn(t: float) -> Pose:
    """Half a turn on the spot, looking first, with both arms raised and crossed in front of the chest by the end."""
    pose = Pose()
    yaw, ahead = 180.0 * _ease(t), 60.0 * sin(pi * min(1.0, 1.3 * t)) ** 2
    steps = 8.0 * pi * t
    for side, own, sign in (("L", steps, 1.0), ("R", steps + pi, -1.0)):
        _leg(pose, side, 5.0 + 18.0 * max(0.0, sin(own)), 8.0 + 40.0 * max(0.0, sin(own)), 4.0, 4.0)
        _arm(pose, side, 20.0 + 45.0 * t, 30.0 - 25.0 * t, 20.0 + 70.0 * t, 20.0 + 35.0 * t, 10.0 * sign)
    _trunk(pose, 2.0, 0.0, 0.4 * ahead, 0.6 * ahead)
    pose.put("hips", "", 2.0, 0.0, yaw)
    pose.hips = (0.0, 0.0, -0.012)
    return pose


def wave(t: float) -> Pose:
    """Both arms are raised to the sides and over the head with bent elbows, then folded before the chest."""
    pose = Pose()
    keys = [(5, 10, 15, 10), (15, 75, 35, -20), (30, 120, 50, -20), (45, 50, 95, -10), (40, 20, 100, 45)]
    for side in "LR":
        forward, out, elbow, turned = _between(keys, t if side == "L" else max(0.0, t - 0.06))
        _arm(pose, side, forward, out, elbow, turned)
        _leg(pose, side, 4.0, 7.0, 2.0, 6.0)
    _trunk(pose, 2.0, 9.0 * sin(2.0 * pi * t), 6.0 * sin(4.0 * pi * t))
    pose.put("hips", "", 1.0, 4.0 * sin(2.0 * pi * t))
    pose.hips = (0.03 * sin(2.0 * pi * t), 0.0, -0.01)
    return pose


MOTIONS: dict[str, Callable[[float], Pose]] = {"walk": walk, "reach": reach, "crouch": crouch, "turn": turn,
                                                "wave": wave}  # fmt: skip


def _ease(t: float) -> float:
    return 0.5 - 0.5 * cos(pi * t)


def _between(keys: list[tuple[float, ...]], t: float) -> list[float]:
    """Values between evenly spaced keys, eased."""
    place = min(t, 0.999999) * (len(keys) - 1)
    number = int(place)
    part = _ease(place - number)
    return [a + part * (b - a) for a, b in zip(keys[number], keys[number + 1], strict=True)]


# -- posing ------------------------------------------------------------------------------------------------------------


class Puppet:
    """Poses a character by its true roles."""

    def __init__(self, figure: Figure) -> None:
        self.figure, self.ob = figure, figure.ob
        to_armature = figure.ob.matrix_world.to_quaternion().inverted()
        self.left, self.forward, self.up = (to_armature @ way for way in (figure.left, figure.forward, figure.up))
        self.roles = {bone: role for bone, role in figure.roles.items() if role is not None}
        self.spines = len(figure.bones.get(("spine", ""), ())) or 1
        self.first = {role: bones[0] for role, bones in figure.bones.items()}
        self.hanging = {(kind, side): self._hanging(kind, side) for kind in ("arm", "leg") for side in "LR"}
        for bone in self.ob.pose.bones:
            bone.rotation_mode = "QUATERNION"

    def _hanging(self, kind: str, side: str) -> Quaternion:
        """The rotation from rest of a limb that hangs straight down."""
        upper, end = ("arm", "hand") if kind == "arm" else ("thigh", "foot")
        a, b = (self.ob.data.bones[self.first[role, side]].head_local for role in (upper, end))
        return (b - a).rotation_difference(-self.up)

    def _turn(self, role: str, side: str, pose: Pose) -> Quaternion:
        """The rotation of a part against the one above it, in armature space."""
        forward, out, turned = pose.angles.get((role, side), (0.0, 0.0, 0.0))
        if role == "spine":
            forward, out, turned = forward / self.spines, out / self.spines, turned / self.spines
        sign = {"L": 1.0, "R": -1.0, "": -1.0}[side]
        down = side != ""  # limbs hang, the trunk stands
        about = -self.left if down else self.left  # a positive angle moves the part forward
        return (
            Quaternion(about, radians(forward)) @ Quaternion(self.forward, radians(sign * out if down else -out))
            @ Quaternion(self.up, radians(-sign * turned if down else turned))
        )  # fmt: skip

    def take(self, pose: Pose) -> None:
        """Take a pose."""
        parts: dict[str, Quaternion] = {}  # of each bone: how its part is turned from a standing figure
        whole: dict[str, Quaternion] = {}  # ... and how the bone is turned from rest
        for bone in self.ob.pose.bones:
            above = bone.parent.name if bone.parent else ""
            parts[bone.name] = parts.get(above, Quaternion())
            whole[bone.name] = whole.get(above, Quaternion())
            role = self.roles.get(bone.name)
            if role is None or (role[0] != "spine" and self.first[role] != bone.name) or role[0] not in (
                "hips", "spine", "head", *_LIMB
            ):  # fmt: skip
                continue
            name, side = role
            parts[bone.name] = parts[bone.name] @ self._turn(name, side, pose)
            limb = self.hanging.get((_LIMB.get(name, ""), side), Quaternion())
            before, whole[bone.name] = whole[bone.name], parts[bone.name] @ limb
            rest = bone.bone.matrix_local.to_quaternion()
            bone.rotation_quaternion = rest.inverted() @ before.inverted() @ whole[bone.name] @ rest
            if role == ("hips", ""):
                size = self.figure.size / self.ob.matrix_world.to_scale().x
                ways = zip(pose.hips, (self.left, self.forward, self.up), strict=True)
                way = size * sum((part * way for part, way in ways), Vector())
                bone.location = rest.inverted() @ before.inverted() @ way

    def rest(self) -> None:
        """Take the pose at rest."""
        for bone in self.ob.pose.bones:
            bone.matrix_basis = Matrix()
