# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a goal as plain values, for planning and for comparison."""

from typing import NamedTuple, TypeAlias

from ...solvers import GOAL_KINDS
from ...solvers.model import SETTINGS
from ..notes import Note

STEADY_SHARE = 0.02  # of the figure's size: how far a target's path may be moved where its goal's smooth is 1

SettingValue: TypeAlias = "str | float | tuple[float, ...]"


class GoalFacts(NamedTuple):
    """The settings of a goal in one evaluation.

    active : not muted, and with an influence above 0. target, pole : `session_uid` of the objects, 0 for none.
    target_problem, pole_problem : why the place of the object cannot be read; None if it can.
    side : one that the kind has. settings : those that its kind has, by name: axes by theirs or as a direction, lengths
        [armature units].
    is_curve : whether the target is a curve. rolls : whether the roll of its target is in use.
    tells_turn : as in `pins.tells_turn`.
    point : of a goal that is not in the panel's list and has no target, in the frame of its bone [armature units]; else
        None.
    closes_loop : whether the goal is to move the bones that carry its target.
    smooth : how far its target's path may be moved where frames are solved as one motion, as a share of `STEADY_SHARE`.
    """

    name: str
    bone: str
    active: bool
    target: int
    subtarget: str
    target_problem: Note | None
    chain_length: int
    use_position: bool
    use_rotation: bool
    position_weight: float
    rotation_weight: float
    rotation_follows: float
    priority: int
    use_tail: bool
    pole: int
    pole_subtarget: str
    pole_problem: Note | None
    pole_angle: float
    kind: str = "REACH"
    side: str = "AT"
    settings: tuple[tuple[str, SettingValue], ...] = ()
    use_support: bool = False
    is_curve: bool = False
    rolls: bool = False
    tells_turn: bool = True
    point: tuple[float, float, float] | None = None
    smooth: float = 0.0
    closes_loop: bool = False

    @property
    def turns(self) -> bool:
        """Whether the goal turns its bone, wherever the bone's end is."""
        return self.use_rotation if self.kind == "REACH" else GOAL_KINDS[self.kind].unit == "angle"

    @property
    def weighs(self) -> bool:
        """Whether the goal is about the centre of mass."""
        return GOAL_KINDS[self.kind].weighs

    @property
    def lengths(self) -> list[tuple[str, float]]:
        """Its settings that are lengths other than 0, by name."""
        return [(name, float(value)) for name, value in self.settings if value and SETTINGS[name].sort == "length"]

    @property
    def needs_target(self) -> bool:
        """Whether the goal needs a target: not if its other goals' targets say where the weight is to be."""
        return self.point is None and GOAL_KINDS[self.kind].needs_target(self.side)

    @property
    def pole_is_target(self) -> bool:
        """Whether the bend is to point where the bone goes itself, which says nothing about the bend."""
        return bool(self.pole) and (self.pole, self.pole_subtarget) == (self.target, self.subtarget)

    @property
    def has_pole(self) -> bool:
        """Whether a pole says where the limb bends to."""
        return bool(self.pole) and not self.pole_is_target
