# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of goals, declared once: what each takes, its settings and target, how it misses, and how that is said.

A new kind is a line here, a file in `solvers/space/tasks/` with a line in its table, and a file in `kernel/src/tasks/`;
without the last one NumPy solves goals of that kind. A setting of its own is a field of `Settings`. The rest follows:
checks of goals, properties, panel, mirror images, targets and report in Blender, the kernel's structures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """A setting of some kinds of goals.

    Attributes
    ----------
    sort : "axis", a direction; "length", in length units; "angle" [rad].
    label, summary : for users.
    of_target : an axis of the target, not of the goal's joint.
    """

    sort: str
    label: str
    summary: str
    of_target: bool = False


def _setting(default: Any, setting: Setting) -> Any:
    return field(default=default, metadata={"setting": setting})


@dataclass(frozen=True, kw_only=True)
class Settings:
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

    axis: Sequence[float] = _setting((0.0, 1.0, 0.0), Setting(
        "axis", "Axis", "The axis of the bone that points at the target, or as the target's axis does",
    ))  # fmt: skip
    target_axis: Sequence[float] = _setting((0.0, 1.0, 0.0), Setting(
        "axis", "Target Axis", "The axis of the target that the bone's axis stays parallel to", of_target=True,
    ))  # fmt: skip
    distance: float = _setting(0.0, Setting(
        "length", "Distance", "Distance from the target, height over its plane, or how far the weight stays inside the "
        "area, in world units",
    ))  # fmt: skip


SETTINGS: dict[str, Setting] = {one.name: one.metadata["setting"] for one in fields(Settings)}
"""The settings by name."""


class Side(NamedTuple):
    """A side of its target on which a goal is met. number : in files."""

    label: str
    summary: str
    number: int


SIDES: dict[str, Side] = {
    "AT": Side("At", "Just at the distance, or just over the target", 0),
    "WITHIN": Side(
        "Within", "Not further than the distance; or the weight anywhere between the goals that carry it", 1
    ),
    "BEYOND": Side("Beyond", "Not nearer than the distance", 2),
    "ON": Side("On", "On the plane", 3),
    "ABOVE": Side("Above", "On the plane or above it", 4),
}
"""The sides by name."""


class GoalKind(NamedTuple):
    """A kind of goal.

    Attributes
    ----------
    label, summary : for users.
    takes : the goal's fields that the kind reads, beside `joint`, `chain`, `offset`, weights and priority.
    needs : those of them that must be given.
    sides : values of the goal's `side`, the default first; empty if it has none.
    unit : "length" or "angle" of its miss; None for `REACH`, which may have both. One of angles turns its bone.
    number : of the kind in files.
    target : "FRAME", the place and rotation of an object or bone; "CURVE", points along a curve, one for each joint;
        "SUPPORTS", a place with the world's Z, and with side "WITHIN" instead those that carry weight; "" none.
    signed : whether its lengths may be below 0.
    carries : whether its target may carry weight.
    """

    label: str
    summary: str
    takes: tuple[str, ...]
    needs: tuple[str, ...]
    sides: tuple[str, ...]
    unit: str | None
    number: int
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
        "Reach", "The bone goes to the target, turns as the target does, or both",
        ("position", "rotation", "pole", "rotation_follows"), (), (), None, 0, carries=True,
    ),
    "LOOK_AT": GoalKind(
        "Look At", "An axis of the bone points at the target: eyes, a head, a gun",
        ("position", "target_joint", "axis"), ("position",), (), "angle", 1,
    ),
    "DISTANCE": GoalKind(
        "Distance", "The bone keeps a distance from the target: at it, within it or beyond it",
        ("position", "target_joint", "distance"), ("position",), ("AT", "WITHIN", "BEYOND"), "length", 2, carries=True,
    ),
    "PLANE": GoalKind(
        "Plane", "The bone stays on the target's XY plane, or above it: feet on a slope",
        ("position", "rotation", "distance"), ("position", "rotation"), ("ON", "ABOVE"), "length", 3, signed=True,
        carries=True,
    ),
    "BALANCE": GoalKind(
        "Balance", "The centre of mass stays over the target, or over the area between chosen points",
        ("position", "rotation", "points", "masses", "distance"), ("position",), ("AT", "WITHIN"), "length", 4,
        "SUPPORTS",
    ),
    "CURVE": GoalKind(
        "Curve", "The joints of the chain lie on a curve: tails, tentacles, spines",
        ("points",), ("points",), (), "length", 5, "CURVE",
    ),
    "PARALLEL": GoalKind(
        "Parallel", "An axis of the bone stays parallel to an axis of the target: hands on a bar, feet on a board",
        ("rotation", "target_joint", "axis", "target_axis"), ("rotation",), (), "angle", 6,
    ),
}  # fmt: skip
"""The kinds by name. Target fields: `position` a point, `position` and `rotation` a frame, `points` several points;
with `target_joint`, the target may also be another bone of the same figure, solved or not."""
