# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel reads and writes, as `kernel/src/dqik.h` has it, field by field."""

from ctypes import POINTER, Structure, c_double, c_int32, c_uint64, c_void_p

import numpy as np

from . import sweep_arrays

LAYOUT = 6
SOLVERS = {"PGS": 0, "DLS": 1, "CCD": 2}
KINDS = {"free ball": 0, "ball": 1, "hinge": 2, "prismatic": 3}

_F = _I = _U = c_void_p  # addresses of doubles, of whole numbers, of bytes


class SkeletonLayout(Structure):
    """`dqik_skeleton`."""

    _fields_ = [("joints", c_int32), ("length", c_double), ("order", _I), ("parent", _I), ("detached", _U),
                ("axis", _F)]  # fmt: skip


class SettingsLayout(Structure):
    """`dqik_settings`."""

    _fields_ = [("iterations", c_int32), *[(name, c_double) for name in (
        "tolerance", "rotation_tolerance", "damping", "first_damping", "pull", "settle", "unsettled")]]  # fmt: skip


class LimbLayout(Structure):
    """`dqik_limb`."""

    _fields_ = [*[(name, c_int32) for name in ("upper", "lower", "end", "goal")], ("axis", c_double * 3),
                ("upper_axis", c_double * 3), ("bend", c_double), ("side", c_double)]  # fmt: skip


class PoleLayout(Structure):
    """`dqik_pole`."""

    _fields_ = [*[(name, c_int32) for name in ("goal", "root", "end", "middles")], ("middle", _I),
                ("angle", c_double), ("weight", c_double), ("swivels", c_int32), ("moved", _U),
                ("levers", _I)]  # fmt: skip


class StageLayout(Structure):
    """`dqik_stage`."""

    _fields_ = [
        *[(name, c_int32) for name in (
            "n", "blocks", "goals", "rows", "poles", "limbs", "pairs", "yields", "standing", "moving",
            "still_slides",
            "solver", "limited", "levered", "continues", "restarts", "middle_bias")],
        ("seed", c_uint64),
        ("block_joint", _I), ("block_kind", _I), ("block_start", _I), ("block_ellipse", _U), ("slide", _I),
        ("basis", _F), ("align", _F), ("lo", _F), ("hi", _F), ("reluctance", _F), ("pair", _I),
        ("goal_index", _I), ("goal_joint", _I), ("place_row", _I), ("turn_row", _I), ("offset", _F),
        ("place_weight", _F), ("turn_weight", _F), ("acts", _U), ("levers", _I), ("pole", POINTER(PoleLayout)),
        ("limb", POINTER(LimbLayout)), ("run_start", _I), ("run", _I), ("first", _I),
        ("partner_start", _I), ("partner", _I), ("first_freedom", _I), ("stand", _I), ("move", _I), ("still_slide", _I),
        ("yield_goal", _I), ("yield_top", _I), ("yield_path", _U), ("yield_extra", _F),
        ("swivels", c_int32), ("phases", c_int32), ("chosen_after", c_int32), ("swivel", _F), ("alike", c_double),
        *[(name, POINTER(SettingsLayout)) for name in (
            "phase", "tracking", "tracking_missed", "polishing", "insisting", "descending")],
        ("spend", c_int32), ("sweep", POINTER(sweep_arrays.Sweep)),
    ]  # fmt: skip


class ProblemLayout(Structure):
    """`dqik_problem`."""

    _fields_ = [("skeleton", SkeletonLayout), ("stages", c_int32), ("goals", c_int32), ("stage", POINTER(StageLayout)),
                ("tolerance", c_double), ("rotation_tolerance", c_double), ("asked", _U)]  # fmt: skip


class ChannelsLayout(Structure):
    """`dqik_channels`."""

    _fields_ = [("joints", c_int32), ("joint", _I), ("bone", _I), ("reference", _F), ("values", c_void_p)]


FRAME = np.dtype([(name, np.uintp) for name in (
    "rotations", "translations", "links", "places", "turns", "poles", "out_rotations", "out_translations",
    "distances", "angles", "iterations", "converged", "at_limit")])  # fmt: skip
"""`dqik_frame`: addresses of a frame's arrays."""
