# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the contract with the kernel that whole clips have to themselves; see `contract.py`.

A library with another layout of this part still solves: NumPy does this part.
"""

from .declare import Field, Function, Part, structure
from .structures import FRAMES, PROBLEM

BAND = structure(
    "dqik_band", "A symmetric positive definite matrix in a band of blocks; see solvers/clip/banded.py.",
    ("int64", "frames", ""),
    ("int32", "n", "unknowns of a frame"),
    ("double[]", "diagonal first second", "(frames, n, n), (frames - 1, n, n), (frames - 2, n, n) on and below it"),
)  # fmt: skip

MOTION = structure(
    "dqik_clip_motion", "The motion of a stage's joints in some frames; see solvers/clip/smoothness.py.",
    ("int64", "frames", ""),
    ("int32", "corrects", "whether the acceleration is that of the correction"),
    ("double", "weight far", ""),
    ("double[]", "near", "(blocks)"),
    ("double[]", "rotations x base_rotations base_x", "states (F, J, 4), (F, n)"),
)  # fmt: skip

_BAND, _X, _WORK = Field("band", "dqik_band[]"), Field("x", "double[]w"), Field("work", "double[]w")

CONTRACT = Part(
    "dqik_clip",
    "clip_contract.h",
    owners=(),
    structures=(BAND, MOTION),
    functions=(
        Function("dqik_clip_layout", "int32", (), "DQIK_CLIP_LAYOUT of the library."),
        Function("dqik_clip_band_work", "int64", (Field("frames", "int64"), Field("n", "int32")),
                 "Doubles of working memory for a band."),
        Function("dqik_clip_band_begin", "void", (_BAND, _WORK), "Before its halves."),
        Function("dqik_clip_band_half", "int32", (_BAND, _X, _WORK, Field("second", "int32")),
                 "Eliminate the frames from the beginning or, as second half, from the end up to the middle; 0 if the "
                 "band is not positive definite. Two threads may do both at once."),
        Function("dqik_clip_band_join", "int32", (_BAND, _X, _WORK),
                 "After both halves: x (frames, n), at first the right-hand side, is the solution; 0 if the band is "
                 "not positive definite."),
        Function(
            "dqik_clip_smoothness", "void",
            (Field("problem", "dqik_problem[]"), Field("motion", "dqik_clip_motion[]"), Field("begin", "int64"),
             Field("end", "int64"), Field("costs", "double[]w"), Field("gradient", "double[]w"),
             Field("diagonal", "double[]w"), Field("first", "double[]w"), Field("second", "double[]w")),
            "The costs (blocks) of some blocks of the first stage; unless NULL, their gradient and Hessian are added "
            "to (F, n) and the blocks (F, n, n), (F - 1, n, n), (F - 2, n, n) of a band.",
        ),
        Function(
            "dqik_clip_step", "void",
            (Field("problem", "dqik_problem[]"), Field("begin", "int64"), Field("end", "int64"), Field("d", "double[]"),
             Field("rotations", "double[]w"), Field("x", "double[]w")),
            "Move the states (F, J, 4), (F, n) of the first stage by steps (F, n) of its degrees of freedom.",
        ),
        Function(
            "dqik_clip_rows", "void",
            (Field("problem", "dqik_problem[]"), Field("frames", "dqik_frames[]"), Field("begin", "int64"),
             Field("end", "int64"), Field("rotations", "double[]"), Field("x", "double[]"), Field("rows", "double[]w"),
             Field("columns", "double[]w"), Field("work", "double[]w")),
            "Signed error rows (F, all) of the first stage, and the transposed Jacobian (F, n, all) unless NULL, at "
            "states (F, J, 4), (F, n); work as for dqik_solve.",
        ),
    ),
    others={"DQIK_CLIP_FEWEST": 16},
    includes=("contract.h",),
    uses=(PROBLEM, FRAMES),
)  # fmt: skip
CONTRACT.define()
