# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the contract with the kernel that contacts have to themselves; see `contract.py`.

A library with another layout of this part still solves: NumPy pushes bodies apart.
"""

from ..group import apart
from ..model import contacts as model
from ..space import contacts, convex
from .declare import Field, Function, Part, structure
from .structures import FRAMES, PROBLEM

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

_WHICH = (Field("problem", "dqik_problem[]"), Field("contacts", "dqik_contacts[]"))
_FRAMES = (
    *_WHICH, Field("frames", "dqik_frames[]"), Field("begin", "int64"), Field("end", "int64"),
    Field("overlaps", "double[]w"), Field("work", "double[]w"),
)  # fmt: skip

CONTRACT = Part(
    "dqik_contacts",
    "contacts_contract.h",
    owners=(
        (apart, "CONTACT_", "STEPS RAISING WEIGHT DAMPING BACK LONGEST ROUNDS REACH TOUCHING HELD LEFT SUNK"),
        (model, "CONTACT_", "POINTS"),
        (contacts, "CONTACT_", "LEAST PARALLEL"),
        (convex, "CONVEX_", "NOTHING PARALLEL ABOVE"),
    ),
    structures=(CONVEX, CONTACTS, POSE),
    functions=(
        Function("dqik_contacts_layout", "int32", (), "DQIK_CONTACTS_LAYOUT of the library."),
        Function("dqik_contacts_work", "int64", _WHICH, "Doubles of working memory that a call needs."),
        Function("dqik_overlaps", "void", _FRAMES, "The deepest overlaps (end - begin) of solved frames."),
        Function("dqik_push_apart", "void", (*_FRAMES, Field("before", "dqik_pose[]")),
                 "Push bodies apart in solved frames, from their answers or, if not NULL, from the pose of the frame "
                 "before; overlaps (end - begin) as they were."),
    ),
    includes=("contract.h",),
    uses=(PROBLEM, FRAMES),
)  # fmt: skip
CONTRACT.define()
