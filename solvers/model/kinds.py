# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of goals, declared once: what each takes, its settings and target, and how it misses.

A new kind is a line here, a file in `solvers/space/tasks/` with a line in its table, a file in `kernel/src/tasks/`,
without which NumPy solves goals of that kind, and its words in `rig/skeleton/menus.py`. A setting of its own is a field
of `KindSettings` and a line in `SETTINGS`. The rest follows: checks of goals, properties, panel, mirror images, targets
and report in Blender, the kernel's structures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Setting(NamedTuple):
    """A setting of some kinds of goals.

    sort : "axis", a direction; "length", in length units; "angle" [rad]. of_target : an axis of the target, not of the
    goal's joint.
    """

    sort: str
    of_target: bool = False


SETTINGS = {"axis": Setting("axis"), "target_axis": Setting("axis", of_target=True), "distance": Setting("length")}
"""The settings that only some kinds of goals have."""

SIDES = ("AT", "WITHIN", "BEYOND", "ON", "ABOVE")
"""The sides of its target on which a goal is met."""


@dataclass(frozen=True, kw_only=True)
class KindSettings:
    """The settings that only some kinds of goals have, as fields of `Goal`; each kind names its own in `takes`.

    - "LOOK_AT": `axis` (3,) in the joint's frame points from the effector at `position`.
    - "DISTANCE": the effector is `distance` [length units] away from `position`; `side` "AT", "WITHIN" or "BEYOND" it.
    - "PLANE": the effector is `distance` above the plane through `position` across the Z axis of `rotation`; `side`
      "ON" or "ABOVE" it.
    - "BALANCE": the centre of mass is over `position`, seen along the Z axis of `rotation`; with `side` "WITHIN" inside
      the convex hull of `points`, `distance` away from its edges.
    - "PARALLEL": `axis` points as `target_axis` (3,) of the frame `rotation` does.
    - "CURVE": the joints of the chain below its first one, then the effector, go to `points`, one for each.
    """

    axis: Sequence[float] = (0.0, 1.0, 0.0)
    target_axis: Sequence[float] = (0.0, 1.0, 0.0)
    distance: float = 0.0


class GoalKind(NamedTuple):
    """A kind of goal.

    Attributes
    ----------
    takes : the goal's fields that the kind reads, beside `joint`, `chain`, `offset`, weights and priority.
    needs : those of them that must be given.
    sides : values of the goal's `side`, the default first; empty if it has none.
    unit : "length" or "angle" of its miss; None for `REACH`, which may have both. One of angles turns its bone.
    target : "FRAME", the place and rotation of an object or bone; "CURVE", points along a curve, one for each joint;
        "SUPPORTS", a place with the world's Z, and with side "WITHIN" instead those that carry weight; "" none.
    signed : whether its lengths may be below 0.
    carries : whether its target may carry weight.
    """

    takes: tuple[str, ...]
    needs: tuple[str, ...]
    sides: tuple[str, ...]
    unit: str | None
    target: str = "FRAME"
    signed: bool = False
    carries: bool = False

    def needs_target(self, side: str) -> bool:
        """Whether a goal on this side needs a target of its own."""
        return bool(self.target) and (self.target, side) != ("SUPPORTS", "WITHIN")

    @property
    def weighs(self) -> bool:
        """Whether it is the centre of mass that such a goal is about, which all joints move."""
        return "masses" in self.takes


GOAL_KINDS: dict[str, GoalKind] = {
    "REACH": GoalKind(
        ("position", "rotation", "pole", "rotation_follows", "target_joint"), (), (), None, carries=True,
    ),
    "LOOK_AT": GoalKind(
        ("position", "target_joint", "axis"), ("position",), (), "angle",
    ),
    "DISTANCE": GoalKind(
        ("position", "target_joint", "distance"), ("position",), ("AT", "WITHIN", "BEYOND"), "length", carries=True,
    ),
    "PLANE": GoalKind(
        ("position", "rotation", "distance"), ("position", "rotation"), ("ON", "ABOVE"), "length", signed=True,
        carries=True,
    ),
    "BALANCE": GoalKind(
        ("position", "rotation", "points", "masses", "distance"), ("position",), ("AT", "WITHIN"), "length",
        "SUPPORTS",
    ),
    "CURVE": GoalKind(
        ("points",), ("points",), (), "length", "CURVE",
    ),
    "PARALLEL": GoalKind(
        ("rotation", "target_joint", "axis", "target_axis"), ("rotation",), (), "angle",
    ),
}  # fmt: skip
"""The kinds by name. Target fields: `position` a point, `position` and `rotation` a frame, `points` several points;
with `target_joint`, the target may also be another bone of the same figure, solved or not."""
