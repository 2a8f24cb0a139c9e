# SPDX-License-Identifier: GPL-3.0-or-later
"""The natural pose's part of the contract with the kernel; see `solvers/compiled/contract.py`.

Doubles; learnt weights are floats. A library with another layout of this part still solves: NumPy makes the base poses.
"""

from ..compiled.declare import Field, Function, Part, structure
from ..compiled.structures import SKELETON
from . import body, collars, fading, limbs, own_motion, weights

NETWORK = structure(
    "dqik_network", "A network with a linear map beside it; see LimbNetworks in solvers/figure/weights.py.",
    ("int32", "inputs first second outputs", "numbers of units"),
    ("double[]", "scale shift", "(inputs)"),
    ("float[]", "first_weight second_weight", "(inputs, first), (first, second): learnt numbers, so they are exact"),
    ("float[]", "last_weight", "(second + inputs, outputs)"),
    ("double[]", "first_bias second_bias last_bias", "(first), (second), (outputs)"),
)  # fmt: skip

EFFECTOR = structure(
    "dqik_effector", "An effector of a figure; see solvers/figure/view.py and body.py.",
    ("int32", "goal joint turned", ""),
    ("double", "size reach", ""),
    ("double[3]", "offset tip root", ""),
    ("double[6]", "frame", "(3, 2)"),
    ("double[4]", "from_rest", ""),
)  # fmt: skip

FIGURE_LIMB = structure(
    "dqik_figure_limb", "An arm or a leg of a figure; see solvers/figure/body.py.",
    ("int32", "turned placed_arm on_toes eased", "eased: a leg whose foot and knee are fitted to the distance"),
    ("int32", "own_end own_lower", "the numbers of its joints among the K, or -1"),
    ("double", "size bend collar_share end_moves doubt", ""),
    ("double[3]", "sign root shoulder collar_gain collar_line toe_line end_tip along", ""),
    ("double[4]", "mirror end_frame", ""),
    ("double[16]", "end_back lower_back", "from a joint's motion to its turn"),
    ("double[2]", "length", ""),
    ("double[6]", "beyond", ""),
    ("double[9]", "axes", "(3, 3) columns: where straight limbs point, forward, the usual hinge"),
    ("double[96]", "bones", "(2, 12, 4) from a swing, a twist and a turn about the hinge to both bones' turns"),
    ("double[18]", "back", "(2, 3, 3)"),
    ("dqik_network", "network", ""),
)  # fmt: skip

FIGURE = structure(
    "dqik_figure", "The prior of natural poses of a figure; see solvers/figure/.",
    ("dqik_skeleton", "skeleton", ""),
    ("int32", "effectors limbs arms turned features lines columns", "turned: K joints; lines: of the spine"),
    ("dqik_effector[]", "effector", "(effectors) of the limbs, then of the head"),
    ("dqik_figure_limb[]", "limb", "(limbs) arms first"),
    ("int32", "hips_goal hips_link hips_joint", "-1: none"),
    ("double[3]", "hips_point hips_offset", ""),
    ("double[4]", "hips_from_rest hips_inverse", ""),
    ("int32[]", "select", "(features) of all that is told"),
    ("double[]", "trunk_scale trunk_shift trunk_map", "(features), (features), (features, 3)"),
    ("double[3]", "trunk_mean spine_root", ""),
    ("int32", "has_spine spine neck keeps_chest chest_joint", "spine, neck: free joints"),
    ("double[4]", "chest_from_rest", ""),
    ("double[]", "spine_line fraction", "(lines, 3), (lines)"),
    ("int32[]", "joint column", "(K)"),
    ("double[]", "mirror map freedom at_rest bend", "(columns, 4), (K, 16), (K), (K, 4), (K, 9)"),
    ("uint8[]", "serves follows inner", "(effectors, K), (effectors, K), (J) whether links move effectors"),
    ("double[]", "own_mean own_scale own_map", "(features), (features), (features + 1, 3 K); NULL: nothing learnt"),
)  # fmt: skip

FIGURE_START = structure(
    "dqik_figure_start", "What follows from the animator's pose of a figure; see _Start in solvers/figure/prior.py.",
    ("int32", "has_pose", "whether the rest is of a pose"),
    ("double", "share", "of the character's own motion"),
    ("double[]w", "rotations links", "(J, 4), (J, 8) of the pose"),
    ("double[]w", "places turns fade", "(effectors, 3), (effectors, 4), (effectors)"),
    ("double[]w", "apart bent ends chest", "(K, 3), (K, 3), (limbs, 4), (3)"),
    ("double[]w", "memory", "7 joints + 34 effectors + features + 4 columns + 4 K + hidden units, to work in"),
)  # fmt: skip

CONTRACT = Part(
    "dqik_figure",
    "figure_contract.h",
    owners=(
        (weights, "FIGURE_", "CLIP"),
        (own_motion, "FIGURE_OWN_", "CLIP"),
        (body, "FIGURE_", "MOST_TURN NEAR PRONATION"),
        (collars, "FIGURE_COLLAR_", "REST"),
        (limbs, "FIGURE_", "STEADY SOFT FOLDED ROOM POINTED MOST_EASED LEAST_BEND LEAST_KNEE MOST_KNEE"),
        (fading, "FIGURE_", "NEAR_REST NEAR_POSE POSED BENDS"),
    ),
    structures=(NETWORK, EFFECTOR, FIGURE_LIMB, FIGURE, FIGURE_START),
    functions=(
        Function("dqik_figure_layout", "int32", (), "DQIK_FIGURE_LAYOUT of the library."),
        Function("dqik_figure_base", "void", (
            Field("figure", "dqik_figure[]"), Field("start", "dqik_figure_start[]w"),
            *(Field(name, "int64") for name in ("frames", "poses", "linked", "goals")),
            *(Field(name, "double[]") for name in (
                "rotations", "translations", "links", "positions", "orientations", "amounts",
            )), Field("share", "double"), Field("base", "double[]w"),
        ), "The rotations (frames, J, 4) that solves start from, from the animator's poses (poses, J, ...), links "
           "(linked, J, 8), targets (frames, goals, ...) and amounts (frames); poses and linked may be 1."),
    ),
    includes=("contract.h",),
    uses=(SKELETON,),
)  # fmt: skip
CONTRACT.define()
