# SPDX-License-Identifier: GPL-3.0-or-later
"""What the compiled kernel needs of a solver that turns one joint after the other, as flat arrays.

The structures mirror `dqik_visit`, `dqik_link` and `dqik_sweep` of `kernel/src/dqik.h`, field by field.
"""

from ctypes import POINTER, Structure, c_double, c_int32
from typing import Any

import numpy as np

from ..group.stage import Stage
from ..iterate import mmd
from ..methods import ccd
from ..space.posture import Visit

_I = POINTER(c_int32)


class _Visit(Structure):
    _fields_ = [
        *[(name, c_int32) for name in ("block", "goals", "turning", "turned", "swept", "heads")], ("share", c_double),
        *[(name, _I) for name in ("goal", "lever", "turn", "joint", "point", "head", "carried_start", "carried")],
    ]  # fmt: skip


class _Link(Structure):
    _fields_ = [*[(name, c_int32) for name in ("visit", "goal", "lever")], ("most", c_double)]


class Sweep(Structure):
    """`dqik_sweep`."""

    _fields_ = [*[(name, c_int32) for name in ("visits", "links", "by_links")], ("visit", POINTER(_Visit)),
                ("link", POINTER(_Link))]  # fmt: skip


def of_stage(stage: Stage, kept: list[Any]) -> Any:
    """A pointer to the sweep of CCD; what it refers to is kept alive in `kept`."""
    tasks, space, options = stage.tasks, stage.space, stage.options
    order = ccd.in_order(tasks, space, options)
    links = [] if options.unit_angle is None else mmd.links(tasks, space)
    number = {visit.joint: at for at, visit in enumerate(order)}
    unit = options.unit_angle or 0.0
    turns = [
        _Link(number[visit.joint], int(visit.goals[0]), int(visit.levers[0]), visit.share * (k + 1) * unit)
        for visit, k in links
    ]
    # what is looked at later: goals with what carries them, and joints still to be visited; with links those come again
    joints = len(stage.skeleton)
    needed = np.ones(joints + tasks.count, dtype=bool)
    needed[:joints] = False
    needed[[*tasks.joint, *stage.skeleton.detached]] = True
    needed[:joints] &= stage.skeleton.ancestors[tasks.joint].any(0)
    if options.unit_angle is not None:
        needed[[visit.joint for visit in order]] = True
    visits: list[_Visit] = []
    blocks = {block.start: at for at, block in enumerate(space.blocks)}
    for visit in reversed(order):
        visits.append(_visit(visit, blocks[visit.block.start], needed, kept))
        needed[visit.joint] = True
    parts = (_Visit * max(len(visits), 1))(*reversed(visits)), (_Link * max(len(turns), 1))(*turns)
    sweep = Sweep(len(visits), len(turns), int(options.unit_angle is not None), *parts)
    kept += [*parts, sweep]
    return POINTER(Sweep)(sweep)


def _visit(visit: Visit, block: int, needed: np.ndarray, kept: list[Any]) -> _Visit:
    """`needed` (J + G,) bool: joints and effectors that are looked at after this visit."""

    def flat(values: Any) -> Any:
        array = np.ascontiguousarray(values, dtype=np.int32)
        kept.append(array)
        return array.ctypes.data_as(_I)

    turned, swept = (part[needed[part]] for part in (visit.turned, visit.swept))
    heads = [(head, some) for head, points in visit.carried if (some := points[needed[points]]).size]
    carried = [points for _, points in heads]
    return _Visit(
        block, visit.goals.size, visit.turning.size, turned.size, swept.size, len(carried), visit.share,
        flat(visit.goals), flat(visit.levers), flat(visit.turning), flat(turned), flat(swept),
        flat([head for head, _ in heads]), flat(np.cumsum([0, *[points.size for points in carried]])),
        flat(np.concatenate(carried) if carried else []),
    )  # fmt: skip
