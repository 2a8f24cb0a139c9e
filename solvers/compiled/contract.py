# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract with the compiled kernel: its constants, structures and functions, declared once.

The tables here, and the structures of `structures.py`, define the ctypes structures that Python fills (`pack.py`), the
functions that it calls (`library.py`) and the header that the kernel is compiled with, `kernel/src/contract.h`
(`tools/kernel_contract.py` writes it). Python and a library fit each other if they have the same `layout`.

Doubles, and floats where numbers are learnt; quaternions `w x y z`; arrays row by row. The kernel keeps no state,
allocates nothing and locks nothing: a call depends on its arguments only, and equal arguments give equal answers to the
bit.
"""

import hashlib
import sys
from types import ModuleType

import numpy as np

from ..algebra import quaternion
from ..figure import body, collars, fading, own_motion, view, weights
from ..figure import limbs as figure_limbs
from ..group import apart, plan, stages
from ..iterate import active_set, aim, descent, linear_step, mmd, one_sided, sweeps
from ..methods import ccd, pgs
from ..model import contacts as bodies
from ..model import freedom, limits
from ..space import arc, convex, joint_space, limb, poles, posture, yielding
from ..space import contacts as gaps
from ..space.tasks import directions, setup
from .declare import STRUCTURES, Field, function
from .needs import SOLVERS, TASKS
from .structures import TASK_KINDS

OWNERS: tuple[tuple[ModuleType, str, str], ...] = (
    (quaternion, "", "LEAST"),
    (limits, "", "CLOSED NEWTON_STEPS"),
    (freedom, "", "ROUNDED"),
    (joint_space, "", "AT_LIMIT"),
    (limb, "", "NO_LENGTH EASE WITH_LIMB AT_ONCE AS_NEEDED"),
    (setup, "", "ROTATION_LENGTH"),
    (directions, "", "LEAST_SINE"),
    (arc, "", "ARC STRAIGHT BENT IN_LINE LEVEL"),
    (poles, "", "FADE ON_LINE STRAIGHT_LIMB UNBENT BENT_LIMB SINGLE"),
    (posture, "", "LEAST_ARM"),
    (yielding, "", "YIELD_EXCESS YIELD_FLOOR YIELD_MISS YIELD_SHARED YIELD_RAISED YIELD_LEAST YIELD_ALIKE YIELD_FAR "
        "YIELD_FARTHEST YIELD_FEWEST"),
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
    (descent, "", "ABANDON_STEPS ABANDON_SHARE SERVED_SHARE UNSERVED_STEPS UNSERVED_SHARE CREEP_STEPS CREEP_SHARE"),
    (plan, "", "RETURN_NEARER FOLLOW_JUMP FOLLOW_LOST NEAR_STARTS NEAR_SPREADS RECOVER_ERROR RECOVER_SHARE NEARER "
        "STAGED_MISS STAGED_MISS_KNOWN STAGED_SHARE"),
    (stages, "", "HOLD_AFTER"),
    (quaternion, "", "UNIT"),
    (apart, "CONTACT_", "STEPS RAISING WEIGHT DAMPING BACK LONGEST ROUNDS REACH TOUCHING HELD LEFT SUNK"),
    (bodies, "CONTACT_", "POINTS"),
    (gaps, "CONTACT_", "LEAST PARALLEL"),
    (convex, "CONVEX_", "NOTHING PARALLEL ABOVE"),
    (weights, "FIGURE_", "CLIP"),
    (own_motion, "FIGURE_OWN_", "CLIP"),
    (body, "FIGURE_", "MOST_TURN NEAR PRONATION COMING MOVED"),
    (collars, "FIGURE_COLLAR_", "REST"),
    (figure_limbs, "FIGURE_", "STEADY SOFT FOLDED ROOM POINTED MOST_EASED LEAST_BEND LEAST_KNEE MOST_KNEE"),
    (fading, "FIGURE_", "NEAR_REST NEAR_POSE POSED BENDS"),
    (view, "FIGURE_", "BACK FURTHEST_BACK STEEP FURTHEST"),
)
"""The modules that define constants, the prefix of their names in C, and the names."""

ENUMERATIONS = {
    "kind of joint": {"DQIK_FREE_BALL": 0, "DQIK_BALL": 1, "DQIK_HINGE": 2, "DQIK_SLIDE": 3, "DQIK_FIXED": 4},
    "solver": {f"DQIK_{name}": number for name, number in SOLVERS.items()},
    "kind of task": {f"DQIK_{name.upper()}": number for name, number in TASKS.items()},
}

MACROS = {"DQIK_EACH_TASK(DO)": " ".join(f"DO(DQIK_{name.upper()}, {name}_task)" for name in TASKS)}
"""Lists for the C code that follow from the rest."""

_PROBLEM, _FRAMES = ("dqik_problem[]", "problem"), ("dqik_frames[]", "frames")
_SOME, _WORK = ("int64", "begin end"), ("double[]w", "work")
_BODIES = _PROBLEM, ("dqik_contacts[]", "contacts")
_SOLVED = *_BODIES, _FRAMES, _SOME, ("double[]w", "overlaps work")
_BAND = ("dqik_band[]", "band")
FUNCTIONS = (
    function("dqik_layout", "int32", "DQIK_LAYOUT of the library."),
    function("dqik_work", "int64", "Doubles of working memory that a call needs.", _PROBLEM),
    function("dqik_solve", "void", "Solve frames, each one afresh.", _PROBLEM, _FRAMES, _SOME, _WORK),
    function("dqik_follow", "void", "Solve the next frames of a motion, in order.",
             _PROBLEM, ("dqik_motion[]w", "motion"), _FRAMES, _SOME, _WORK),
    function("dqik_contacts_work", "int64", "Doubles of working memory that a call needs.", *_BODIES),
    function("dqik_overlaps", "void", "The deepest overlaps (end - begin) of solved frames.", *_SOLVED),
    function("dqik_push_apart", "void", "Push bodies apart in solved frames, from their answers or, if not NULL, from "
             "the pose of the frame before; overlaps (end - begin) as they were.", *_SOLVED, ("dqik_pose[]", "before")),
    function("dqik_clip_band_work", "int64", "Doubles of working memory for a band.", ("int64", "frames"),
             ("int32", "n")),
    function("dqik_clip_band_begin", "void", "Before its halves.", _BAND, _WORK),
    function("dqik_clip_band_half", "int32", "Eliminate the frames from the beginning or, as second half, from the end "
             "up to the middle; 0 if the band is not positive definite. Two threads may do both at once.",
             _BAND, ("double[]w", "x work"), ("int32", "second")),
    function("dqik_clip_band_join", "int32", "After both halves: x (frames, n), at first the right-hand side, is the "
             "solution; 0 if the band is not positive definite.", _BAND, ("double[]w", "x work")),
    function("dqik_clip_smoothness", "void", "The costs (blocks) of some blocks of the first stage; unless NULL, their "
             "gradient and Hessian are added to (F, n) and the blocks (F, n, n), (F - 1, n, n), (F - 2, n, n) of a "
             "band.", _PROBLEM, ("dqik_clip_motion[]", "motion"), _SOME,
             ("double[]w", "costs gradient diagonal first second")),
    function("dqik_clip_step", "void", "Move the states (F, J, 4), (F, n) of the first stage by steps (F, n) of its "
             "degrees of freedom.", _PROBLEM, _SOME, ("double[]", "d"), ("double[]w", "rotations x")),
    function("dqik_clip_rows", "void", "Signed error rows (F, all) of the first stage, and the transposed Jacobian "
             "(F, n, all) unless NULL, at states (F, J, 4), (F, n); work as for dqik_solve.",
             _PROBLEM, _FRAMES, _SOME, ("double[]", "rotations x"), ("double[]w", "rows columns work")),
    function("dqik_figure_base", "void", "The rotations (frames, J, 4) that solves start from, from the animator's "
             "poses (poses, J, ...), links (linked, J, 8), targets (frames, goals, ...) and amounts (frames); poses "
             "and linked may be 1. moved: the targets' positions, of which those of hips and hands may go on.",
             ("dqik_figure[]", "figure"), ("dqik_figure_start[]w", "start"),
             ("int64", "frames poses linked goals"),
             ("double[]", "rotations translations links positions orientations amounts"), ("double", "share"),
             ("double[]w", "base moved")),
)  # fmt: skip


def constants() -> dict[str, int | float | np.ndarray]:
    """The constants by their names in C."""
    own = {"DQIK_SWIVELS": len(limb.SWIVELS), "DQIK_CLIP_FEWEST": 16}
    return {prefix + name: getattr(module, name) for module, prefix, names in OWNERS for name in names.split()} | own


def number_in_c(value: int | float | np.ndarray) -> str:
    """A constant in C: a number, or several in braces, with all their digits."""
    if isinstance(value, np.ndarray):
        return "{" + ", ".join(map(repr, value.ravel().tolist())) + "}"
    return repr(value)


def layout() -> int:
    """A hash of all but the notes: what `dqik_layout` returns in a library that was made for this contract."""
    parts = [f"{name} {number_in_c(value)}" for name, value in constants().items()]
    parts += [f"{name} {number}" for values in ENUMERATIONS.values() for name, number in values.items()]
    parts += [f"{one.name} {_kinds(one.fields)}" for one in STRUCTURES]
    parts += [f"{one.result} {one.name} {_kinds(one.arguments)}" for one in FUNCTIONS]
    return int(hashlib.sha256("\n".join(parts).encode()).hexdigest()[:7], 16)


def _kinds(fields: tuple[Field, ...]) -> list[tuple[str, str]]:
    return [(one.name, one.kind) for one in fields]
