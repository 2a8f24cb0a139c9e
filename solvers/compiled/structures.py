# SPDX-License-Identifier: GPL-3.0-or-later
"""The structures that Python and the compiled kernel share; see `contract.py`."""

import numpy as np

from ..model import frames
from ..space.tasks import table
from .declare import structure

SKELETON = structure(
    "dqik_skeleton", "A tree of J joints; see solvers/model/skeleton.py.",
    ("int32", "joints", "J"),
    ("double", "length", "[length units] by which errors are divided"),
    ("int32[]", "order", "(J) parents before children"),
    ("int32[]", "parent", "(J) -1 for a root"),
    ("uint8[]", "detached", "(J) whether it follows its parent in position only"),
    ("double[]", "axis", "(J, 3)"),
    ("int32[]", "kind", "(J) a ball is DQIK_BALL, whether it is free or not"),
)  # fmt: skip

SETTINGS = structure(
    "dqik_settings", "Settings of one run of the outer iteration; see Settings in solvers/iterate/descent.py.",
    ("int32", "iterations", ""),
    ("double", "tolerance rotation_tolerance", ""),
    ("double", "damping", "below 0: adapts from first_damping, without a lower bound"),
    ("double", "first_damping pull settle unsettled", ""),
    ("double[]", "reluctance", "(n)"),
    ("double[]", "weights", "(n) of the pull"),
    ("int32", "abandons resigns", "whether it stops where the cost falls slowly; if leading goals are missed"),
    ("int32", "serves", "whether it stops where the cost falls slowly once the goals that others yield to are met"),
    ("int32", "slow_steps", "accepted steps in a row with which it falls slowly, each by a share below slow_share"),
    ("double", "slow_share", ""),
)  # fmt: skip

LIMB = structure(
    "dqik_limb", "A two-bone limb; see Limb in solvers/space/limb.py.",
    ("int32", "upper lower end goal", ""),
    ("double[3]", "axis upper_axis", ""),
    ("double", "bend side share kept", ""),
)  # fmt: skip

ARC = structure(
    "dqik_arc", "The bend of a straight chain; see Arc in solvers/space/arc.py.",
    ("int32", "goal points turns reference", ""),
    ("int32[]", "point", "(points) joints at the ends of its bones, then the effector"),
    ("int32[]", "turned", "(turns) joints that bend it"),
    ("double[]", "share", "(turns) of the arc"),
    ("uint8[]", "hinged", "(turns)"),
    ("double[3]", "axis", "in the frame of the joint `reference`"),
    ("double", "aim", "share of the way to its target by which the root turns the chain"),
)  # fmt: skip

TASK_KINDS = {kind.name: kind for kind in table.KINDS if kind.data is not None}
"""The kinds of tasks that the kernel solves, by name, in the order of their numbers."""

TASK_DATA = {
    name: structure(f"dqik_{name}", f"Of a task; see solvers/space/tasks/{name}.py.", *kind.data)
    for name, kind in TASK_KINDS.items() if kind.data
}  # fmt: skip
"""Structures of the data that only tasks of one kind have."""

TASK = structure(
    "dqik_task", "A task of a goal; see solvers/space/tasks/kind.py.",
    ("int32", "kind goal row rows", "rows: their number, from `row` on"),
    ("int32", "one_sided", "whether its rows count only above 0"),
    ("int32", "reads", "targets that must be finite: 1 position, 2 rotation, 4 pole"),
    ("double", "weight", "of a unit of its error"),
    ("uint8[]", "acts", "(n) degrees of freedom with non-zero columns"),
    ("int32", "carrier", "joint that carries its target, or -1"),
    ("uint8[]", "moves", "(2, n) degrees of freedom that move the effector, and such a target; or NULL"),
    ("int32[]", "levers", "(points, n) as in Skeleton.levers, for the points that its error depends on; or NULL"),
    ("void[]", "data", "dqik_<kind>, or NULL"),
)  # fmt: skip

VISIT = structure(
    "dqik_visit",
    "One joint of a sweep, with the joints and points that it moves and that are read later; see"
    " solvers/space/posture.py. Points are the positions of the joints, then of the effectors.",
    ("int32", "block goals turning turned swept heads", ""),
    ("double", "share", "part of each turn that it makes"),
    ("int32[]", "goal lever", "(goals) that it moves; the joint that carries the turn to each, or -1"),
    ("int32[]", "turn", "(turning) goals whose orientations it turns"),
    ("int32[]", "joint", "(turned) joints that turn with it"),
    ("int32[]", "point", "(swept) points that rotate about it"),
    ("int32[]", "head", "(heads) detached joints below it"),
    ("int32[]", "carried_start carried", "(heads + 1); points that move with each head"),
)  # fmt: skip

LINK = structure(
    "dqik_link", "One turn of a loop by MikuMikuDance's rule; see solvers/iterate/mmd.py.",
    ("int32", "visit goal lever", ""),
    ("double", "most", "[rad] largest turn"),
)  # fmt: skip

SWEEP = structure(
    "dqik_sweep", "A sweep of a solver that turns one joint after the other.",
    ("int32", "visits links by_links", "by_links: by MikuMikuDance's rule"),
    ("dqik_visit[]", "visit", "(visits) in order"),
    ("dqik_link[]", "link", "(links)"),
)  # fmt: skip

STAGE = structure(
    "dqik_stage",
    "G goals solved together over n degrees of freedom; see solvers/group/stage.py, solvers/space/joint_space.py and"
    " solvers/space/tasks/.",
    # joint space: a block is the degrees of freedom of one joint
    ("int32", "n blocks pairs", "degrees of freedom; joints that have some; pairs that share a swing ellipse"),
    ("int32", "limited", "whether any degree of freedom has limits"),
    ("int32", "levered", "whether any joint is detached"),
    ("int32[]", "block_joint block_kind", "(blocks)"),
    ("int32[]", "block_start", "(blocks + 1) the last is n"),
    ("uint8[]", "block_ellipse", "(blocks) whether the swing's limits are an ellipse"),
    ("int32[]", "slide", "(J) block of a joint that slides, or -1"),
    ("double[]", "basis", "(blocks, 9) columns of the degrees of freedom"),
    ("double[]", "align", "(blocks, 4) takes Y to the twist axis"),
    ("double[]", "lo hi", "(n)"),
    ("int32[]", "pair", "(pairs) first of two degrees of freedom that share an ellipse"),
    # coupled coordinates: see solvers/space/unknowns.py
    ("void[]", "unknowns", "of linear steps: a dqik_stage with k degrees of freedom and their sparsity; NULL: all"),
    ("int32[]", "keep", "(k) coordinate of each unknown"),
    ("int32[]", "unknown", "(n) that each coordinate follows"),
    ("double[]", "factor constant", "(n) of a coordinate x = factor z + constant of an unknown z"),
    ("int32", "standing moving still_slides", ""),
    ("int32[]", "stand", "(standing) joints whose transforms are needed, parents first"),
    ("int32[]", "move", "(moving) those of them that an iteration moves"),
    ("int32[]", "still_slide", "(still_slides) slides that the stage does not move"),
    # tasks
    ("int32", "goals tasks rows all", "rows: of hard tasks; all: with soft tasks"),
    ("int32", "one_sided", "whether any task is"),
    ("int32[]", "goal_index goal_joint", "(G) index among the goals of all stages; joint that carries the effector"),
    ("uint8[]", "asks", "(G) 1: a position, 2: a rotation, 3: both"),
    ("double[]", "offset", "(G, 3)"),
    ("double[]", "place_weight turn_weight", "(G) of its position and its rotation, 0 for none"),
    ("dqik_task[]", "task", "(tasks) in the order of their rows"),
    ("int32", "poles", ""),
    ("dqik_pole[]", "pole", "(poles)"),
    ("double[]", "pole_hold", "(poles) see Stage.pole_hold"),
    ("int32", "yields", ""),
    ("int32[]", "yield_goal yield_top", "(yields) goals that yield out of reach, and their chains' first joints"),
    ("uint8[]", "yield_path", "(yields, J)"),
    ("double[]", "yield_extra yield_most", "(yields)"),
    ("double[]", "apart", "(G, G) distances that effectors cannot exceed"),
    ("uint8[]", "may_yield", "(G) whether a goal may yield to others of its priority"),
    ("uint8[]", "leads", "(G) whether a goal leads; see Tasks in solvers/space/tasks/tasks.py"),
    ("int32[]", "priority", "(G)"),
    # sparsity: the rows that a degree of freedom fills, of all tasks
    ("int32[]", "run_start run", "(n + 1) of (runs, 2): from, to"),
    ("int32[]", "first", "(all) first row that each row shares a degree of freedom with"),
    ("int32[]", "partner_start partner", "(n + 1); degrees of freedom before each one that share rows with it"),
    ("int32[]", "first_freedom", "(n) like `first`, for the degrees of freedom from last to first"),
    # limbs
    ("int32", "limbs", ""),
    ("dqik_limb[]", "limb", "(limbs)"),
    ("int32", "arcs", ""),
    ("dqik_arc[]", "arc", "(arcs)"),
    # how it is solved
    ("int32", "solver continues restarts middle_bias", ""),
    ("uint64", "seed", "of the restarts"),
    ("int32", "swivels phases chosen_after", ""),
    ("double[]", "swivel", "(swivels) [rad]"),
    ("double", "alike", "|q . q'| above which two motions of a joint count as the same"),
    ("dqik_settings[]", "phase", "(phases) continuation; one for a single descent"),
    ("dqik_settings[]", "following following_missed", ""),
    ("dqik_settings[]", "polishing", "NULL: none"),
    ("dqik_settings[]", "insisting", "NULL: none"),
    ("dqik_settings[]", "returning", "(2) toward the base pose, and back to the goals; NULL: none"),
    ("int32", "recovers", "whether a frame near its goals is solved again from near starts"),
    ("dqik_settings[]", "nearby arriving descending finishing", "of further attempts; see solvers/group/plan.py"),
    ("dqik_settings[]", "approaching", "NULL: none"),
    ("int32", "stagings", "0 without limits"),
    ("dqik_settings[]", "staging", "(stagings) one for each stage of the targets' way"),
    ("int32", "yieldings", "0 if all goals are equal"),
    ("dqik_settings[]", "yielding", "(yieldings) descents in which goals yield"),
    ("dqik_settings[]", "yielding_on", "the last of these in a motion; NULL if there is none"),
    ("int32", "spend", "iterations in all, if those left are spent on missed goals; else 0"),
    ("dqik_sweep[]", "sweep", "NULL for solvers that step along a Jacobian"),
)  # fmt: skip

PROBLEM = structure(
    "dqik_problem", "A prepared solve.",
    ("dqik_skeleton", "skeleton", ""),
    ("int32", "stages goals points", "goals of all stages, and their points"),
    ("dqik_stage[]", "stage", "(stages)"),
    ("double", "tolerance rotation_tolerance", ""),
    ("uint8[]", "counts", "(goals) 1: a position counts, 2: a rotation counts"),
    ("dqik_stage[]", "still", "only the joint space, of joints with limits that no stage moves; NULL: none"),
)  # fmt: skip

_C_OF_DTYPE: dict[object, str] = {np.int32: "int32", np.bool_: "uint8"}
FRAMES = structure(
    "dqik_frames",
    "The inputs and outputs of frames, `FrameArrays.addresses`: each array, and its bytes from frame to frame;"
    " see solvers/model/frames.py.",
    *(
        field
        for name in (*frames.QUESTIONS, *frames.ANSWERS)
        for field in (
            (f"{_C_OF_DTYPE.get(frames.DTYPES.get(name), 'double')}[]{'w' * (name in frames.ANSWERS)}", name, ""),
            ("int64", f"{name}_step", ""),
        )
    ),
)  # fmt: skip

MOTION = structure(
    "dqik_motion", "The state of one motion; see Motion in solvers/model/frames.py.",
    ("int32", "steps", "0: the next frame is solved afresh; 1: from the last pose; 2: and residual"),
    ("int32", "unchanged", "frames in a row with the same inputs"),
    ("double[]w", "residual", "(rows of all stages) last error rows of the last frame"),
    ("dqik_frames[]w", "last", "(1) the last frame's inputs and outputs"),
)  # fmt: skip

# -- bodies that keep apart --------------------------------------------------------------------------------------------

CONVEX = structure(
    "dqik_convex", "A convex body; see Convex in solvers/model/convex.py.",
    ("int32", "obstacle corners triangles edges", "obstacle: whose points place it"),
    ("double[]", "corner", "(corners, 3)"),
    ("int32[]", "triangle edge", "(triangles, 3), (edges, 2) numbers of corners"),
)  # fmt: skip

CONTACTS = structure(
    "dqik_contacts", "The K gaps of a stage: of pairs, ends over planes, bodies; see solvers/space/contacts.py.",
    ("int32", "count capsules pairs ends free bodies", "count: K"),
    ("int32", "first_point", "of the points that place obstacles among all of a frame"),
    ("int32[]", "joint above", "(capsules) that they follow; the capsule that each hangs on, or itself"),
    ("double[]", "start end radius", "(capsules, 3), (capsules, 3), (capsules)"),
    ("uint8[]", "moves", "(capsules, n) degrees of freedom that move each"),
    ("int32[]", "levers", "(capsules, n) as in Skeleton.levers"),
    ("int32[]", "pair end_of free_capsule", "(pairs, 2), (ends, 2) capsule and plane, (free)"),
    ("dqik_convex[]", "body", "(bodies)"),
    ("uint8[]", "owned", "(goals, capsules) bodies that are a goal's own"),
    ("double[]", "weight", "(goals) per skeleton length"),
    ("double[]", "least", "(K)"),
    ("double[]", "reluctance", "(n)"),
)  # fmt: skip

POSE = structure("dqik_pose", "A pose of J joints.", ("double[]", "rotations translations", "(J, 4), (J, 3)"))

# -- whole clips -------------------------------------------------------------------------------------------------------

BAND = structure(
    "dqik_band", "A symmetric positive definite matrix in a band of blocks; see solvers/motion/banded.py.",
    ("int64", "frames", ""),
    ("int32", "n", "unknowns of a frame"),
    ("double[]", "diagonal first second", "(frames, n, n), (frames - 1, n, n), (frames - 2, n, n) on and below it"),
)  # fmt: skip

CLIP_MOTION = structure(
    "dqik_clip_motion", "The motion of a stage's joints in some frames; see solvers/clip/smoothness.py.",
    ("int64", "frames", ""),
    ("int32", "corrects", "whether the acceleration is that of the correction"),
    ("double", "weight far", ""),
    ("double[]", "near", "(blocks)"),
    ("double[]", "rotations x base_rotations base_x", "states (F, J, 4), (F, n)"),
)  # fmt: skip

# -- the natural pose --------------------------------------------------------------------------------------------------

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
    ("double", "giving", "0 to 1, how far hips go with the head"),
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
    "dqik_figure_start", "What follows from the animator's pose of a figure; see Prior in solvers/figure/prior.py.",
    ("int32", "has_pose", "whether the rest is of a pose"),
    ("double", "share", "of the character's own motion"),
    ("double[]w", "rotations links", "(J, 4), (J, 8) of the pose"),
    ("double[]w", "places turns fade", "(effectors, 3), (effectors, 4), (effectors)"),
    ("double[]w", "apart bent ends chest", "(K, 3), (K, 3), (limbs, 4), (3)"),
    ("double[]w", "memory", "7 joints + 34 effectors + features + 4 columns + 4 K + hidden units, to work in"),
)  # fmt: skip
