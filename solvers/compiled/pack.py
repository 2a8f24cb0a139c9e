# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs a prepared solve for the kernel: fills the structures of the contract."""

import math
from collections.abc import Sequence
from ctypes import addressof, sizeof
from typing import Any

import numpy as np

from ..group.grouping import carriers
from ..group.plan import ALIKE, CHOSEN_AFTER
from ..group.stage import Stage
from ..group.stages import still_joints
from ..iterate import mmd
from ..methods import ccd
from ..model.goals import Goal
from ..model.skeleton import Skeleton
from ..space import limb
from ..space.arc import Arc
from ..space.joint_space import JointSpace
from ..space.limb import Limb
from ..space.posture import Visit
from ..space.tasks.table import Kind
from ..space.unknowns import Unknowns
from .declare import CLASSES, Packer
from .needs import KINDS, SOLVERS, TASKS
from .structures import ARC, LIMB, LINK, PROBLEM, SETTINGS, SKELETON, STAGE, SWEEP, TASK, TASK_DATA, VISIT

_READS = {"position": 1, "rotation": 2, "pole": 4, "coupling": 0}
"""The targets that tasks of these kinds read; others read all that their goal has."""


def problem(
    packer: Packer, skeleton: Skeleton, stages: Sequence[Stage], counts: np.ndarray, solver: str, points: int,
    gaps: int = 0,
) -> Any:
    """A prepared solve; `counts` (G, 2): whether each goal's position and its rotation count; `points` of all goals.

    gaps : number of rows to keep free after those of the tasks, for contacts, which read all joints.
    """
    tolerances, still = stages[0].options if stages else None, still_joints(skeleton, stages)
    return packer.fill(
        PROBLEM,
        skeleton=of_skeleton(packer, skeleton),
        stages=len(stages),
        goals=len(counts),
        points=points,
        stage=[_stage(packer, stage, solver, gaps) for stage in stages],
        tolerance=tolerances.tolerance if tolerances else 0.0,
        rotation_tolerance=tolerances.rotation_tolerance if tolerances else 0.0,
        counts=counts @ np.array([1, 2]),
        still=None if still is None else [packer.fill(STAGE, **{**_NOTHING, **_joint_space(still)})],
    )


def with_holds(packer: Packer, address: int, stages: Sequence[Stage], solver: str) -> Any:
    """A copy of the packed solve at an address for stages that differ by holds and gains only."""
    first, size = CLASSES["dqik_problem"].from_address(address).stage, sizeof(CLASSES["dqik_stage"])
    packed = [
        packer.refill(
            STAGE, first + size * number, **_limbs(packer, stage.limbs), **_arcs(packer, stage.arcs),
            **_runs_of(packer, stage), pole_hold=_pole_holds(stage),
        ) for number, stage in enumerate(stages)
    ]  # fmt: skip
    return packer.refill(PROBLEM, address, stage=packed)


def of_skeleton(packer: Packer, skeleton: Skeleton) -> Any:
    """A tree of joints."""
    return packer.fill(
        SKELETON, joints=len(skeleton), length=skeleton.length, order=skeleton.order, parent=skeleton.parent,
        detached=np.isin(np.arange(len(skeleton)), skeleton.detached), axis=skeleton.axis,
        kind=[KINDS[kind] for kind in skeleton.kinds],
    )  # fmt: skip


_NOTHING = {field.name: None if field.kind.endswith("[]") else 0 for field in STAGE.fields}
"""An empty stage."""


def _stage(packer: Packer, stage: Stage, solver: str, gaps: int) -> Any:
    fills = _fills(stage, gaps)
    return packer.fill(
        STAGE,
        **_joint_space(stage.space),
        **_unknowns(packer, stage, fills),
        **_joints(stage, solver, every=gaps > 0),
        **_tasks(packer, stage, len(fills)),
        **_yielding(stage),
        **_sparsity(fills, stage.space.blocks),
        **_limbs(packer, stage.limbs),
        **_arcs(packer, stage.arcs),
        **_strategy(packer, stage, solver),
        pole_hold=_pole_holds(stage),
    )


def _pole_holds(stage: Stage) -> list[float]:
    return [stage.pole_hold(pole) for pole in stage.tasks.poles.poles] if stage.tasks.poles else []


def _joint_space(space: JointSpace) -> dict[str, Any]:
    """Degrees of freedom, joint by joint, and their limits."""
    skeleton = space.skeleton
    joint = _block_joints(space)
    kinds, basis, align, ellipse = space.block_shapes()
    slide = np.full(len(skeleton), -1)
    slide[joint] = np.where(skeleton.slides[joint], np.arange(len(joint)), -1)
    return {
        "n": space.n,
        "blocks": len(space.blocks),
        "pairs": len(space.pairs),
        "limited": space.limited,
        "levered": bool(skeleton.detached),
        "block_joint": joint,
        "block_kind": [KINDS[kind] for kind in kinds],
        "block_start": [*(block.start for block in space.blocks), space.n],
        "block_ellipse": ellipse,
        "slide": slide,
        "basis": basis,
        "align": align,
        "lo": space.lo,
        "hi": space.hi,
        "pair": space.pairs[:, 0],
    }


def _unknowns(packer: Packer, stage: Stage, fills: np.ndarray) -> dict[str, Any]:
    """The unknowns of a linear step where coordinates are coupled, and what each coordinate is of its unknown."""
    unknowns = stage.space.unknowns
    if unknowns is None:
        return dict.fromkeys(("unknowns", "keep", "unknown", "factor", "constant"))
    joint, ellipses = _block_joints(unknowns), set(unknowns.pairs[:, 0].tolist())
    kinds = dict(zip(_block_joints(stage.space).tolist(), stage.space.block_shapes()[0], strict=True))
    follows = (unknowns.matrix != 0.0).astype(float)
    reduced = packer.fill(STAGE, **{
        **_NOTHING,
        "n": unknowns.n,
        "blocks": len(unknowns.blocks),
        "pairs": len(unknowns.pairs),
        "limited": unknowns.limited,
        "block_joint": joint,
        "block_kind": [KINDS[kinds[index]] for index in joint.tolist()],
        "block_start": [*(block.start for block in unknowns.blocks), unknowns.n],
        "block_ellipse": [not ellipses.isdisjoint(range(block.start, block.stop)) for block in unknowns.blocks],
        "lo": unknowns.lo,
        "hi": unknowns.hi,
        "pair": unknowns.pairs[:, 0],
        **_sparsity(fills @ follows > 0.0, unknowns.blocks),
    })  # fmt: skip
    return {
        "unknowns": addressof(reduced),
        "keep": unknowns.keep,
        "unknown": unknowns.unknown,
        "factor": unknowns.factor,
        "constant": unknowns.constant,
    }


def _block_joints(space: JointSpace | Unknowns) -> np.ndarray:
    return np.array([space.joint[block.start] for block in space.blocks], dtype=int)


def _joints(stage: Stage, solver: str, every: bool) -> dict[str, Any]:
    """The joints whose transforms are needed, or `every` joint, and those of them that move."""
    skeleton = stage.skeleton
    poles = stage.tasks.poles.poles if stage.tasks.poles else ()
    read = [*(joint for goal in stage.goals for joint in (goal.joint, *carriers(goal))),
            *[k for pole in poles for k in (pole.root, *pole.middle, max(pole.end, 0))],
            *[k for part in stage.limbs for k in (part.upper, part.lower, max(part.end, 0))]]  # fmt: skip
    needed, order = np.any(skeleton.ancestors[read], axis=0) | every, np.array(skeleton.order)
    moved = needed & np.any(skeleton.ancestors[:, _block_joints(stage.space)], axis=-1)
    stand, move = order[needed[order] | (solver == "CCD")], order[moved[order]]
    return {
        "standing": len(stand),
        "moving": len(move),
        "still_slides": len(stage.still_slides),
        "stand": stand,
        "move": move,
        "still_slide": stage.still_slides,
    }


def _tasks(packer: Packer, stage: Stage, rows: int) -> dict[str, Any]:
    """The goals, and their tasks of all kinds; `rows` of tasks and gaps."""
    tasks, goals = stage.tasks, stage.goals
    packed = [
        _task(packer, kind, index, rows.start + kind.size * index, goals)
        for kind, rows in zip(tasks.kinds, tasks.rows, strict=True)
        for index in range(len(kind.goals))
    ]
    poles = [CLASSES["dqik_pole"].from_address(task.data) for task in packed if task.kind == TASKS["pole"]]
    return {
        "goals": len(goals),
        "tasks": len(packed),
        "rows": tasks.m,
        "all": rows,
        "one_sided": tasks.one_sided is not None,
        "goal_index": stage.indices,
        "goal_joint": tasks.joint,
        "asks": [goal.has_place + 2 * goal.has_turn for goal in goals],
        "offset": tasks.offsets,
        "place_weight": tasks.weights[0],
        "turn_weight": tasks.weights[1],
        "task": packed,
        "poles": len(poles),
        "pole": poles,
    }


def _task(packer: Packer, kind: Kind, index: int, row: int, goals: Sequence[Goal]) -> Any:
    packed, goal = kind.pack(index), goals[int(kind.goals[index])]
    data = None
    if packed["data"] is not None:
        data = addressof(packer.fill(TASK_DATA[kind.name], **packed["data"]))
    return packer.fill(
        TASK, kind=TASKS[kind.name], goal=kind.goals[index], row=row, rows=kind.size, weight=kind.weights[index],
        one_sided=kind.one_sided is not None and kind.one_sided[index],
        reads=_READS.get(kind.name, (goal.position is not None) + 2 * (goal.rotation is not None)),
        acts=kind.acts[index], carrier=packed.get("carrier", -1), moves=packed.get("moves"),
        levers=packed["levers"], data=data,
    )  # fmt: skip


def _yielding(stage: Stage) -> dict[str, Any]:
    yields = stage.yielding
    return {
        "yields": len(yields.goals),
        "yield_goal": yields.goals,
        "yield_top": yields.top,
        "yield_path": yields.paths.T > 0.0,
        "yield_extra": yields.extra,
        "yield_most": yields.most,
        "may_yield": stage.yields,
        "apart": yields.apart,
        "leads": stage.tasks.leads,
        "priority": np.unique([goal.priority for goal in stage.goals], return_inverse=True)[1],
    }


def _fills(stage: Stage, gaps: int) -> np.ndarray:
    """(all, n) bool: the rows that each degree of freedom fills; all fill those of `gaps`, which come last."""
    tasks = stage.tasks
    fills = np.zeros((tasks.all + gaps, stage.space.n), dtype=bool)
    fills[tasks.all :] = True
    for kind, rows in zip(tasks.kinds, tasks.rows, strict=True):
        fills[rows] = np.repeat(kind.acts, kind.size, axis=0)
    return fills


def _sparsity(fills: np.ndarray, blocks: Sequence[slice]) -> dict[str, Any]:
    """The rows that each degree of freedom fills, and the pairs of rows or degrees of freedom with common entries.

    fills : (m, n) bool; those of one joint fill the same rows for the kernel.
    """
    n = fills.shape[1]
    for block in blocks:
        fills[:, block] = fills[:, block].any(-1, keepdims=True)
    run_start, runs = _runs(fills)
    together = (fills[:, None] & fills[None]).any(-1) | np.eye(len(fills), dtype=bool)
    partners, first_partner = _partners(fills) if 0 < n < len(fills) else ([np.zeros(0)], np.zeros(0))
    return {
        "run_start": run_start,
        "run": runs,
        "first": np.argmax(together, axis=1),
        "partner_start": np.cumsum([0, *map(len, partners)]),
        "partner": np.concatenate(partners),
        "first_freedom": first_partner,
    }


def _runs(fills: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first run (n + 1,) of each column of a bool matrix (m, n), and all runs `[from, to)` (runs, 2) of rows."""
    edges = np.zeros((fills.shape[1], fills.shape[0] + 2), dtype=np.int8)
    edges[:, 1:-1] = fills.T
    column, row = np.nonzero(edges[:, 1:] != edges[:, :-1])
    counts = np.bincount(column, minlength=fills.shape[1]) // 2
    return np.concatenate([[0], np.cumsum(counts)]), row.reshape(-1, 2)


def _partners(fills: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The columns of a bool matrix (m, n) that share a row with each column.

    Returns, for each column, the columns before it that do, and (n,), counted from the last column, the first that
    does.
    """
    share = fills.T.astype(np.float32) @ fills + np.eye(fills.shape[1]) > 0.0
    return [np.flatnonzero(row[:k]) for k, row in enumerate(share)], np.argmax(share[::-1, ::-1], axis=1)


def _limbs(packer: Packer, limbs: Sequence[Limb]) -> dict[str, Any]:
    names = [field.name for field in LIMB.fields]
    return {
        "limbs": len(limbs),
        "limb": [packer.fill(LIMB, **{name: getattr(part, name) for name in names}) for part in limbs],
    }


def _arcs(packer: Packer, arcs: Sequence[Arc]) -> dict[str, Any]:
    filled = [
        packer.fill(
            ARC, goal=arc.goal, points=len(arc.points), turns=len(arc.turned), reference=arc.reference,
            point=arc.points, turned=arc.turned, share=arc.shares, hinged=arc.hinged, axis=arc.axis,
            aim=arc.aim,
        ) for arc in arcs
    ]  # fmt: skip
    return {"arcs": len(arcs), "arc": filled}


def _strategy(packer: Packer, stage: Stage, solver: str) -> dict[str, Any]:
    """The settings of all runs of a stage, its restarts, and the order of its sweep."""
    stage_runs, options = stage.runs, stage.options
    return {
        "solver": SOLVERS[solver],
        "continues": stage.continues,
        "restarts": options.restarts,
        "recovers": stage.recovers,
        "middle_bias": options.bias == "MIDDLE",
        "seed": options.seed % 2**64,
        "swivels": len(limb.SWIVELS),
        "phases": len(stage_runs["phase"]),
        "stagings": len(stage_runs["staging"]),
        "yieldings": len(stage_runs["yielding"]),
        "chosen_after": CHOSEN_AFTER,
        "swivel": limb.SWIVELS,
        "alike": math.cos(0.5 * ALIKE),
        **_runs_of(packer, stage),
        "spend": stage.spend,
        "sweep": [_sweep(packer, stage)] if solver == "CCD" else None,
    }


def _runs_of(packer: Packer, stage: Stage) -> dict[str, Any]:
    """The settings of all runs of a stage."""
    every = [one for each in stage.runs.values() for one in each]
    vectors = {id(vector): vector for one in every for vector in (one.reluctance, one.weights)}
    address = {key: packer.numbers("double", vector) for key, vector in vectors.items()}  # most runs share theirs
    packed: dict[str, Any] = {}
    for name, each in stage.runs.items():
        runs = [one._asdict() for one in each]
        for values in runs:
            values |= {part: address[id(values[part])] for part in ("reluctance", "weights")}
            values["damping"] = -1.0 if values["damping"] is None else values["damping"]
            del values["options"]
        packed[name] = [packer.fill(SETTINGS, **values) for values in runs] or None
    return packed


def _sweep(packer: Packer, stage: Stage) -> Any:
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
