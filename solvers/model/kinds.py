# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of goals, declared once: what each takes, in which unit it misses, and how that is said.

A new kind is a line here, a file in `solvers/space/tasks/` with a line in its table, and a file in `kernel/src/tasks/`;
without the last one NumPy solves goals of that kind. Properties, panel and report follow from the line.
"""

from typing import NamedTuple


class GoalKind(NamedTuple):
    """A kind of goal.

    Attributes
    ----------
    label, summary : for users.
    takes : the goal's fields that the kind reads, beside `joint`, `chain`, `offset`, weights and priority.
    needs : those of them that must be given.
    sides : values of the goal's `side`, the default first; empty if it has none.
    unit : "length" or "angle" of its miss; None for `REACH`, which may have both.
    number : of the kind in files.
    """

    label: str
    summary: str
    takes: tuple[str, ...]
    needs: tuple[str, ...]
    sides: tuple[str, ...]
    unit: str | None
    number: int


GOAL_KINDS: dict[str, GoalKind] = {
    "REACH": GoalKind(
        "Reach", "The bone goes to the target, turns as the target does, or both",
        ("position", "rotation", "pole", "rotation_follows"), (), (), None, 0,
    ),
    "LOOK_AT": GoalKind(
        "Look At", "An axis of the bone points at the target: eyes, a head, a gun",
        ("position", "target_joint", "axis"), ("position",), (), "angle", 1,
    ),
    "DISTANCE": GoalKind(
        "Distance", "The bone keeps a distance from the target: at it, within it or beyond it",
        ("position", "target_joint", "distance"), ("position",), ("AT", "WITHIN", "BEYOND"), "length", 2,
    ),
    "PLANE": GoalKind(
        "Plane", "The bone stays on the target's XY plane, or above it: feet on a slope",
        ("position", "rotation", "distance"), ("position", "rotation"), ("ON", "ABOVE"), "length", 3,
    ),
    "BALANCE": GoalKind(
        "Balance", "The centre of mass stays over the target, or over the area between chosen points",
        ("position", "rotation", "points", "masses", "distance"), ("position",), ("AT", "WITHIN"), "length", 4,
    ),
    "CURVE": GoalKind(
        "Curve", "The joints of the chain lie on a curve: tails, tentacles, spines",
        ("points",), ("points",), (), "length", 5,
    ),
}  # fmt: skip
"""The kinds by name. Target fields: `position` a point, `position` and `rotation` a frame, `points` several points;
with `target_joint`, the target may also be another bone of the same figure, solved or not."""
