# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the contract with the kernel that whole clips have to themselves; see `contract.py`.

A library with another layout of this part still solves: NumPy does this part.
"""

from .declare import Field, Function, Part
from .structures import FRAMES, PROBLEM

_FRAMES, _SIZE = Field("frames", "int64"), Field("n", "int32")

CONTRACT = Part(
    "dqik_clip",
    "clip_contract.h",
    owners=(),
    structures=(),
    functions=(
        Function("dqik_clip_layout", "int32", (), "DQIK_CLIP_LAYOUT of the library."),
        Function("dqik_clip_band_work", "int64", (_FRAMES, _SIZE), "Doubles of working memory for dqik_clip_band."),
        Function(
            "dqik_clip_band", "int32",
            (_FRAMES, _SIZE, Field("diagonal", "double[]"), Field("first", "double[]"), Field("second", "double[]"),
             Field("x", "double[]w"), Field("work", "double[]w")),
            "Solve H x = x for blocks (frames, n, n), (frames - 1, n, n), (frames - 2, n, n) on and below the "
            "diagonal; 0 if H is not positive definite.",
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
    includes=("contract.h",),
    uses=(PROBLEM, FRAMES),
)  # fmt: skip
CONTRACT.define()
