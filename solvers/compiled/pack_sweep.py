# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the sweep of a solver that turns one joint after the other."""

from typing import Any

import numpy as np

from ..group.stage import Stage
from ..iterate import mmd
from ..methods import ccd
from ..space.posture import Visit
from .packer import Packer
from .structures import LINK, SWEEP, VISIT


def sweep(packer: Packer, stage: Stage) -> Any:
    """The joints that CCD visits, in order, with the points and joints that each one moves."""
    tasks, space, options = stage.tasks, stage.space, stage.options
    order = ccd.in_order(tasks, space, options)
    links = [] if options.unit_angle is None else mmd.links(tasks, space)
    number = {visit.joint: index for index, visit in enumerate(order)}
    unit = options.unit_angle or 0.0
    return packer.fill(
        SWEEP,
        visits=len(order),
        links=len(links),
        by_links=options.unit_angle is not None,
        visit=_visits(packer, stage, order),
        link=[
            packer.fill(LINK, visit=number[visit.joint], goal=visit.goals[0], lever=visit.levers[0],
                        most=visit.share * (k + 1) * unit)
            for visit, k in links
        ],
    )  # fmt: skip


def _visits(packer: Packer, stage: Stage, order: list[Visit]) -> list[Any]:
    """The visits, each with only the points and joints that goals or a later visit read."""
    tasks, skeleton = stage.tasks, stage.skeleton
    joints = len(skeleton)
    needed = np.ones(joints + tasks.count, dtype=bool)
    needed[:joints] = False
    needed[[*tasks.joint, *skeleton.detached, *tasks.carry.limbs]] = True
    needed[:joints] &= skeleton.ancestors[tasks.joint].any(0)
    if stage.options.unit_angle is not None:  # a loop visits its joints again
        needed[[visit.joint for visit in order]] = True
    blocks = {block.start: index for index, block in enumerate(stage.space.blocks)}
    visits: list[Any] = []
    for visit in reversed(order):
        visits.append(_visit(packer, visit, blocks[visit.block.start], needed))
        needed[visit.joint] = True
    return visits[::-1]


def _visit(packer: Packer, visit: Visit, block: int, needed: np.ndarray) -> Any:
    """`needed` (J + G,) bool: joints and effectors that are read after this visit."""
    turned, swept = (part[needed[part]] for part in (visit.turned, visit.swept))
    carried = {head: some for head, points in visit.carried if (some := points[needed[points]]).size}
    return packer.fill(
        VISIT,
        block=block,
        goals=visit.goals.size,
        turning=visit.turning.size,
        turned=turned.size,
        swept=swept.size,
        heads=len(carried),
        share=visit.share,
        goal=visit.goals,
        lever=visit.levers,
        turn=visit.turning,
        joint=turned,
        point=swept,
        head=list(carried),
        carried_start=np.cumsum([0, *[points.size for points in carried.values()]]),
        carried=np.concatenate(list(carried.values())) if carried else [],
    )
