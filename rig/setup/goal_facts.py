# SPDX-License-Identifier: GPL-3.0-or-later
"""A goal's settings as plain values, to plan with and to compare."""

from typing import NamedTuple


class GoalFacts(NamedTuple):
    """A goal as one evaluation has it.

    active : neither muted nor without influence. target, pole : `session_uid` of the objects, 0 for none.
    target_problem, pole_problem : in words, why its place is not known; empty where it is.
    """

    name: str
    bone: str
    active: bool
    target: int
    subtarget: str
    target_problem: str
    chain_length: int
    use_position: bool
    use_rotation: bool
    position_weight: float
    rotation_weight: float
    priority: int
    use_tail: bool
    pole: int
    pole_subtarget: str
    pole_problem: str
    pole_angle: float
