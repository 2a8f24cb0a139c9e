# SPDX-License-Identifier: GPL-3.0-or-later
"""The menus of an armature's settings: solvers, the pose that a frame starts from, and methods' own choices."""

from collections.abc import Sequence

import numpy as np

from ...solvers import SOLVERS

_NO_DIRECTION = 1e-9  # a vector that is shorter has none

START_FROM = [
    ("POSE", "Pose", "Solve every frame afresh, from the keyed pose, or the base pose of bones without keys. "
     "A frame looks the same in any order of frames", 0),
    ("PREVIOUS", "Previous Frame", "Start from the last frame's answer while playing forward, which is faster. "
     "Other changes of frame, armatures whose bones are all keyed, and renders start from the pose", 1),
    ("FOLLOW", "Follow", "Move from the last frame's pose toward the targets while playing forward, and lag behind "
     "them like a machine. Other changes of frame, armatures whose bones are all keyed, and renders go to the targets "
     "at once: bake before you render", 3),
    ("SHOT", "Shot", "Solve all frames that the timeline plays as one motion, whose joints do not pop. An edit shows "
     "at once; the frames around it are solved again while you work", 4),
    ("REST", "Rest", "Start every frame from the armature's rest pose", 2),
]  # fmt: skip

FIRST_SOLVERS = ("PGS", "DLS", "TWO_BONE", "CCD", "EXTENDED", "SQP")
"""The solvers at the top of the menu, for animators; the others are those of the papers, to compare with."""

_LABELS = {
    "PGS": "Balanced (PGS)", "DLS": "Fast (DLS)", "CCD": "Joint by Joint (CCD)", "SQP": "Thorough (SQP)",
    "PINV": "Pseudo-Inverse (PINV)", "SVD": "Singular Values (SVD)", "TSVD": "Truncated Singular Values (TSVD)",
    "SDLS": "Selectively Damped (SDLS)", "TRANSPOSE": "Jacobian Transpose", "ALTERNATIVE": "Alternative Jacobian",
    "EXTENDED": "Tails (Extended)", "FABRIK": "Back and Forth (FABRIK)", "TWO_BONE": "Two-Bone", "NEWTON": "Newton",
    "BROYDEN": "Broyden", "GAUSS_SEIDEL": "Plain Sweeps (Gauss-Seidel)",
}
"""The solvers: whom each serves, or what its paper calls it."""

SOLVER_NUMBERS = {name: number for number, name in enumerate(_LABELS)}
"""The numbers of the solvers in .blend files, where they stay: a new solver takes the next one."""

KINDS = [
    ("REACH", "Reach", "The bone goes to the target, turns as the target does, or both", 0),
    ("LOOK_AT", "Look At", "An axis of the bone points at the target: eyes, a head, a gun", 1),
    ("DISTANCE", "Distance", "The bone keeps a distance from the target: at it, within it or beyond it", 2),
    ("PLANE", "Plane", "The bone stays on the target's XY plane, or above it: feet on a slope", 3),
    ("BALANCE", "Balance", "The centre of mass stays over the target, or over the area between chosen points", 4),
    ("CURVE", "Curve", "The joints of the chain lie on a curve: tails, tentacles, spines", 5),
    ("PARALLEL", "Parallel", "An axis of the bone stays parallel to an axis of the target: hands on a bar, feet on a "
     "board", 6),
]  # fmt: skip
"""The kinds of goals. Their numbers stay in .blend files."""

SIDES = [
    ("AT", "At", "Just at the distance, or just over the target", 0),
    ("WITHIN", "Within", "Not further than the distance; or the weight anywhere between the goals that carry it", 1),
    ("BEYOND", "Beyond", "Not nearer than the distance", 2),
    ("ON", "On", "On the plane", 3),
    ("ABOVE", "Above", "On the plane or above it", 4),
]

SETTING_WORDS = {
    "axis": ("Axis", "The axis of the bone that points at the target, or as the target's axis does"),
    "target_axis": ("Target Axis", "The axis of the target that the bone's axis stays parallel to"),
    "distance": ("Distance", "Distance from the target, height over its plane, or how far the weight stays inside the "
                 "area, in world units"),
}  # fmt: skip
"""Labels and tooltips of the settings that only some kinds of goals have."""

THOROUGH_RESTARTS = 8
"""Further attempts that SQP makes at a frame that misses its goals."""

ORDERS = [
    ("TIP_TO_ROOT", "Tip to Root", "Turn the bones next to the target first: hands move before shoulders", 0),
    ("ROOT_TO_TIP", "Root to Tip", "Turn the bones at the root first: the whole body takes part", 1),
]

AXES = {
    "X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "NEG_X": (-1, 0, 0), "NEG_Y": (0, -1, 0), "NEG_Z": (0, 0, -1),
}  # fmt: skip
"""The axes of a bone by their names in the menus of goals."""

DIRECTION = "DIRECTION"
"""The item of the menu of a bone's axis beside these: a direction of its own."""

COUPLED_AXES = [
    ("X", "X", "Swing about the bone's X axis", 0),
    ("Y", "Y", "Twist along the bone", 1),
    ("Z", "Z", "Swing about the bone's Z axis", 2),
]

OBJECTIVES = [
    ("QV", "Position and Rotation", "Reduce the distance from the target and the angle to it separately", 0),
    ("DQ", "Screw Motion", "Reduce the screw motion to the target, which is a turn and a slide at once", 1),
]

GHOSTS_OF = [
    ("BONES", "Bones", "Lines along the bones", 1),
    ("MESH", "Mesh", "The outlines of the meshes that the armature deforms or carries", 2),
]

CONTACT_PARTS = [
    ("HEEL", "Heel", "The heel of a foot", 0),
    ("BALL", "Ball", "The ball of a foot, from which the toes go", 1),
    ("WRIST", "Wrist", "The wrist of a hand", 2),
    ("KNUCKLES", "Knuckles", "The knuckles of a hand, from which the fingers go", 3),
    ("KNEE", "Knee", "The knee at the upper end of a shin", 4),
    ("SEAT", "Seat", "What a body sits on, below its hips", 5),
    ("BACK", "Upper Back", "What a body lies on, between its shoulders", 6),
]


def solver_items() -> list[tuple]:
    """The items of the solver menu: the first solvers, then the others under a heading."""
    items = [(name, label, SOLVERS[name], SOLVER_NUMBERS[name]) for name, label in _LABELS.items()]
    first = sorted((item for item in items if item[0] in FIRST_SOLVERS), key=lambda item: FIRST_SOLVERS.index(item[0]))
    return [*first, ("", "From the papers", ""), *(item for item in items if item not in first)]


def axis_items(name: str, *, of_target: bool) -> list[tuple]:
    """The items of the menu of a setting that is an axis; that of a bone may be any direction."""
    words = SETTING_WORDS[name][1]
    items = [(axis, axis.replace("NEG_", "-"), words, number) for number, axis in enumerate(AXES)]
    given = (DIRECTION, "Direction", "A direction of its own, as of an eye whose bone does not point where it looks")
    return items if of_target else [*items, (*given, len(items))]


def axis_of(value: str | Sequence[float]) -> np.ndarray:
    """An axis (3,) of a bone, by its name or as a direction; Y for one that says nothing."""
    axis = np.array(AXES[value] if isinstance(value, str) else value, dtype=float)
    length = float(np.linalg.norm(axis))
    return axis / length if np.isfinite(length) and length > _NO_DIRECTION else np.array([0.0, 1.0, 0.0])
