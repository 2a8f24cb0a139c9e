# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a figure: each role that a bone may have, with all that is the same for every figure.

A new role is one entry of `PARTS`, words for it in `bone_names`, and in `recognise` where such a bone may be.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ...solvers.rest import LEFT, RIGHT

MIDDLE = ""
OTHER = {LEFT: RIGHT, RIGHT: LEFT, MIDDLE: MIDDLE}
"""The other side of the mirror plane."""


@dataclass(frozen=True)
class BendRange:
    """A range [degrees] toward a direction and away from it, from the `neutral` direction or by default the rest pose.

    Directions are sums of letters: L left, U up, D down, F forward, B back, O out (away from the midline), I in.
    """

    toward: str
    most: float
    least: float
    neutral: str = ""


@dataclass(frozen=True)
class TwistRange:
    """A range [degrees] of twist about the bone: it moves the direction `side` toward `toward`, and away from it."""

    side: str
    toward: str
    most: float
    least: float


@dataclass(frozen=True)
class JointRange:
    """A joint's range: its main bend, the bend across it, and its twist.

    A `hinge` has no bend across, and its main bend is about `RestBody.hinge`.
    """

    bend: BendRange
    across: BendRange
    twist: TwistRange
    hinge: bool = False


class BodyPart(NamedTuple):
    """What is known about a part of a figure.

    number : in .blend files, where it stays: a new role takes the next free number, one of a side the next two.
    sided : whether there is one on each side; the number is that of the left, and the right's is one more. several :
    whether several bones have the role. following : the part that its line leads to. continues : the part above whose
    line it continues where nothing else tells its direction. posture : the part with which it goes along into the
    posture of people (`RestBody.posture`). shares : the parts whose bones have one range in common. weight : the part
    of the body that its mass belongs to (`MASSES`). stiffness : of its bones in a full body, from how much joints turn
    in motion capture (CMU): an upper arm varies by 42 degrees, a neck by 11, a spine's joint by 7, a collar by less
    than 5. The reluctance to turn is 1 / (1 - stiffness)^2, and that of a spine is doubled because it serves several
    goals. radius : of its body where no mesh tells it, as a share of the figure's size; 0 for a part that belongs to
    the body of the bone above. range : of people's joints (`anatomy`), that of all bones that share it; None if no
    limits are known.
    """

    number: int
    sided: bool = True
    several: bool = False
    following: str = ""
    continues: str = ""
    posture: str = ""
    shares: tuple[str, ...] = ()
    weight: str = ""
    stiffness: float = 0.0
    radius: float = 0.0
    range: JointRange | None = None


_NO = BendRange("O", 0.0, 0.0)
_NECK = JointRange(BendRange("F", 50, 70), BendRange("L", 45, 45), TwistRange("F", "L", 80, 80))

PARTS = {
    "hips": BodyPart(2, sided=False, weight="trunk", radius=0.075),
    "spine": BodyPart(
        3, sided=False, several=True, shares=("spine",), weight="trunk", stiffness=0.75, radius=0.07,
        range=JointRange(BendRange("F", 105, 25), BendRange("L", 35, 35), TwistRange("F", "L", 45, 45)),
    ),
    "neck": BodyPart(
        4, sided=False, several=True, shares=("neck", "head"), weight="head", stiffness=0.5, radius=0.03, range=_NECK,
    ),
    "head": BodyPart(5, sided=False, shares=("neck", "head"), weight="head", radius=0.055, range=_NECK),
    "collar": BodyPart(
        6, several=True, following="arm", shares=("collar",), weight="trunk", stiffness=0.9,
        range=JointRange(BendRange("U", 19, 8), BendRange("F", 16, 16), TwistRange("F", "D", 6, 6)),
    ),
    # raised sideways 180, across the body 45; horizontally forward 135 and back 45, hanging back 60
    "arm": BodyPart(
        8, following="forearm", weight="arm", radius=0.026,
        range=JointRange(BendRange("UO", 90, 135, "O"), BendRange("F", 135, 60, "O"), TwistRange("F", "D", 70, 90)),
    ),
    "forearm": BodyPart(
        10, following="hand", continues="arm", posture="arm", weight="forearm", radius=0.022,
        range=JointRange(BendRange("F", 150, 0), _NO, TwistRange("F", "D", 80, 80), hinge=True),
    ),
    "hand": BodyPart(
        12, continues="forearm", posture="arm", weight="hand", radius=0.022,
        range=JointRange(BendRange("DI", 80, 70), BendRange("F", 20, 30), TwistRange("F", "D", 10, 10)),
    ),
    "finger": BodyPart(14, several=True),
    # the pelvis is one bone
    "hip_joint": BodyPart(
        16, following="thigh", range=JointRange(BendRange("F", 0, 0), _NO, TwistRange("F", "I", 0, 0)),
    ),
    "thigh": BodyPart(
        18, following="shin", weight="thigh", radius=0.042,
        range=JointRange(BendRange("F", 130, 30, "D"), BendRange("O", 60, 30, "D"), TwistRange("F", "I", 45, 45)),
    ),
    "shin": BodyPart(
        20, following="foot", continues="thigh", weight="shin", radius=0.03,
        range=JointRange(BendRange("B", 155, 0), _NO, TwistRange("F", "I", 0, 0), hinge=True),
    ),
    # 20 up with a straight knee; who squats turns it by 40, and by 25 to the sides (CMU's motion capture)
    "foot": BodyPart(
        22, following="toes", weight="foot", radius=0.022,
        range=JointRange(BendRange("UF", 40, 50), BendRange("O", 25, 25), TwistRange("U", "I", 15, 35)),
    ),
    "toes": BodyPart(
        24, posture="foot", radius=0.016,
        range=JointRange(BendRange("UF", 70, 45), BendRange("O", 5, 5), TwistRange("U", "I", 0, 0)),
    ),
    "twist": BodyPart(26, several=True),
    "eye": BodyPart(28),  # known beside the other roles, as `Figure.eyes`
}  # fmt: skip


class Role(NamedTuple):
    """A role of a bone: a part of the figure, with a side if there is one on each.

    A hip_joint is a bone between hips and thigh, and a twist one that divides a limb's upper or lower bone.
    """

    name: str
    side: str = MIDDLE

    @property
    def part(self) -> BodyPart:
        """What is known about it."""
        return PARTS[self.name]

    @property
    def number(self) -> int:
        """Its number in .blend files."""
        return self.part.number + (self.side == RIGHT)

    @property
    def identifier(self) -> str:
        """As the property of a bone has it."""
        return f"{self.name}_{self.side}".rstrip("_").upper()

    @property
    def label(self) -> str:
        """What the panel calls it, as *Left Forearm*, before it is translated."""
        side = {LEFT: "Left ", RIGHT: "Right ", MIDDLE: ""}[self.side]
        return f"{side}{self.name.replace('_', ' ').title()}"

    @property
    def mirrored(self) -> "Role":
        """The role on the other side."""
        return Role(self.name, OTHER[self.side])


NONE = Role("")
ROLES = [Role(name, side) for name, part in PARTS.items() for side in ((LEFT, RIGHT) if part.sided else (MIDDLE,))]
"""All roles; those of the trunk first."""
TRUNK = frozenset(name for name, part in PARTS.items() if not part.sided)

MASSES = {"trunk": 0.497, "head": 0.081, "arm": 0.028, "forearm": 0.016, "hand": 0.006, "thigh": 0.1, "shin": 0.0465,
          "foot": 0.0145}  # fmt: skip
"""Shares of the body's mass from Winter 2009, "Biomechanics and Motor Control of Human Movement", table 4.1, of one arm
and one leg. `BodyPart.weight` says which roles' bones belong to each."""
