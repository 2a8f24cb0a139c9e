# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract with the compiled kernel: its constants, structures and functions, declared once.

The tables here define the ctypes structures that Python fills (`pack.py`), the functions that it calls (`library.py`)
and the header that the kernel is compiled with, `kernel/src/contract.h` (`tools/kernel_contract.py` writes it). Python
and a library fit each other if they have the same `layout`, a hash of these tables. `declare.py` says how it is made.

Doubles, quaternions `w x y z`, arrays row by row. The kernel keeps no state, allocates nothing and locks nothing: a
call depends on its arguments only, and equal arguments give equal answers to the bit.
"""

import sys
from types import ModuleType

from ..algebra import quaternion
from ..group import attempts, polish, solve, staged, stages
from ..iterate import active_set, aim, descent, linear_step, mmd, one_sided, sweeps
from ..methods import ccd, pgs
from ..model import freedom, limits
from ..space import arc, joint_space, limb, poles, posture, yielding
from ..space.tasks import directions, setup
from .declare import Field, Function, Part
from .structures import STRUCTURES, TASK_KINDS

# -- constants --------------------------------------------------------------------------------------------------------

SOLVERS = {"PGS": 0, "DLS": 1, "CCD": 2}
"""The solvers of the kernel, and their numbers."""

KINDS = {"free ball": 0, "ball": 1, "hinge": 2, "prismatic": 3, "fixed": 4}
"""Kinds of joints, as `Skeleton.kinds` and `JointSpace.block_shapes` name them, and their numbers."""

TASKS = {name: number for number, name in enumerate(TASK_KINDS)}
"""The kinds of tasks of the kernel, by the names of `solvers/space/tasks/table.py`, and their numbers."""

SUPPORTED = frozenset(
    f"{what} {name}"
    for what, names in (
        ("solver", SOLVERS), ("joint", KINDS), ("task", TASKS), ("reduction", ("coupling",)),
    )
    for name in names
)  # fmt: skip
"""What the kernel supports of all that a solve may need (`needs.py`). NumPy solves what needs anything else."""

ENUMERATIONS = {
    "kind of joint": {"DQIK_FREE_BALL": 0, "DQIK_BALL": 1, "DQIK_HINGE": 2, "DQIK_SLIDE": 3, "DQIK_FIXED": 4},
    "solver": {f"DQIK_{name}": number for name, number in SOLVERS.items()},
    "kind of task": {f"DQIK_{name.upper()}": number for name, number in TASKS.items()},
}

OWNERS: tuple[tuple[ModuleType, str, str], ...] = (
    (quaternion, "", "LEAST"),
    (limits, "", "CLOSED NEWTON_STEPS"),
    (freedom, "", "ROUNDED"),
    (joint_space, "", "AT_LIMIT"),
    (limb, "", "NO_LENGTH EASE WITH_LIMB AT_ONCE"),
    (setup, "", "ROTATION_LENGTH"),
    (directions, "", "LEAST_SINE"),
    (arc, "", "ARC STRAIGHT BENT IN_LINE LEVEL"),
    (poles, "", "FADE ON_LINE STRAIGHT_LIMB"),
    (posture, "", "LEAST_ARM"),
    (yielding, "", "YIELD_EXCESS YIELD_FLOOR YIELD_MISS YIELD_SHARED YIELD_RAISED YIELD_LEAST YIELD_ALIKE YIELD_FAR "
        "YIELD_FEWEST"),
    (linear_step, "", "ROUNDING SINGULAR NEARLY_SINGULAR"),
    (active_set, "", "SAME"),
    (active_set, "ACTIVE_SET_", "ROUNDS"),
    (one_sided, "ONE_SIDED_", "ROUNDS"),
    *((sys.modules[kind.__module__], f"{name.upper()}_", kind.constants)
      for name, kind in TASK_KINDS.items() if hasattr(kind, "constants")),
    (pgs, "PGS_", "LEAST LEAST_OF_STEP ROUNDS SWEEPS"),
    (aim, "", "STAY"),
    (ccd, "CCD_", "NOTHING LEAST_GAIN ROUNDS STEPS SHARES"),
    (mmd, "MMD_", "ALIGNED"),
    (sweeps, "SWEEPS_", "PATIENCE LEAST_PROGRESS SAME LEAST_MOVE"),
    (descent, "", "LEAST_DAMPING MOST_DAMPING DAMPING_SHARE GOOD_GAIN POOR_GAIN GROW SHRINK REJECT"),
    (descent, "", "LEAST_PROGRESS LEAST_STEP"),
    (descent, "", "ABANDON_STEPS ABANDON_SHARE RESIGN_STEPS RESIGN_SHARE CREEP_STEPS CREEP_SHARE"),
    (polish, "", "RETURN_NEARER"),
    (solve, "", "FOLLOW_JUMP FOLLOW_LOST"),
    (attempts, "", "NEAR_STARTS NEAR_SPREADS RECOVER_ERROR RECOVER_SHARE NEARER"),
    (staged, "", "STAGED_MISS STAGED_MISS_KNOWN STAGED_SHARE"),
    (stages, "", "HOLD_AFTER UNIT"),
)
"""The modules that define constants, the prefix of their names in C, and the names."""

# -- functions --------------------------------------------------------------------------------------------------------

_PROBLEM, _FRAMES = Field("problem", "dqik_problem[]"), Field("frames", "dqik_frames[]")
_BEGIN, _END, _WORK = Field("begin", "int64"), Field("end", "int64"), Field("work", "double[]w")
FUNCTIONS = (
    Function("dqik_layout", "int32", (), "DQIK_LAYOUT of the library."),
    Function("dqik_work", "int64", (_PROBLEM,), "Doubles of working memory that a call needs."),
    Function("dqik_solve", "void", (_PROBLEM, _FRAMES, _BEGIN, _END, _WORK), "Solve frames, each one afresh."),
    Function("dqik_follow", "void", (_PROBLEM, Field("motion", "dqik_motion[]w"), _FRAMES, _BEGIN, _END, _WORK),
             "Solve the next frames of a motion, in order."),
)  # fmt: skip


CONTRACT = Part(
    "dqik", "contract.h", OWNERS, STRUCTURES, FUNCTIONS, {"DQIK_SWIVELS": len(limb.SWIVELS)}, ENUMERATIONS,
    macros={"DQIK_EACH_TASK(DO)": " ".join(f"DO(DQIK_{name.upper()}, {name}_task)" for name in TASKS)},
)  # fmt: skip
"""All of it; the natural pose has a part of its own (`solvers/figure/contract.py`)."""
CONTRACT.define()
