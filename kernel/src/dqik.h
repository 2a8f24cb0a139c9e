/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flat layout that the kernel shares with NumPy arrays, and its few entry points.
 *
 * Everything is prepared by `solvers/compiled/library.py`, which mirrors these structures with ctypes and keeps the arrays alive.
 * Doubles throughout, quaternions `w x y z`, arrays row by row. Nothing here allocates, locks or keeps state of its
 * own: what a call needs is in its arguments, and equal arguments give equal answers to the bit.
 */
#ifndef DQIK_H
#define DQIK_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define DQIK_EXPORT __declspec(dllexport)
#else
#define DQIK_EXPORT __attribute__((visibility("default")))
#endif

#define DQIK_LAYOUT 6
#define DQIK_SWIVELS 4 /* changes whenever a structure below does */

enum { DQIK_FREE_BALL, DQIK_BALL, DQIK_HINGE, DQIK_SLIDE };
enum { DQIK_PGS, DQIK_DLS, DQIK_CCD };

/* A tree of joints (J of them); see solvers/model/skeleton.py. */
typedef struct {
    int32_t joints;
    double length;
    const int32_t *order;    /* (J) parents before children */
    const int32_t *parent;   /* (J) -1 for a root */
    const uint8_t *detached; /* (J) follows its parent in position only */
    const double *axis;      /* (J, 3) */
} dqik_skeleton;

/* How one run of the outer iteration goes; see solvers/iterate/descent.py. */
typedef struct {
    int32_t iterations;
    double tolerance, rotation_tolerance;
    double damping; /* below 0: adapts from first_damping, without a least */
    double first_damping;
    double pull;
    double settle, unsettled;
} dqik_settings;

/* A two-bone limb; see solvers/space/limb.py. */
typedef struct {
    int32_t upper, lower, end, goal;
    double axis[3], upper_axis[3];
    double bend, side;
} dqik_limb;

/* Whose bend a pole steers; see solvers/space/poles.py. */
typedef struct {
    int32_t goal, root, end;
    int32_t middles;
    const int32_t *middle; /* (middles) */
    double angle, weight;
    int32_t swivels;       /* whether its root may be turned to it: a movable ball */
    const uint8_t *moved;  /* (middles + 2, n) degrees of freedom that act on root, middles, end */
    const int32_t *levers; /* (middles + 2, n) as in Skeleton.levers */
} dqik_pole;

/* A joint of a sweep, and what it moves of what is looked at later; see solvers/space/posture.py. Points are places of joints,
 * then effectors. */
typedef struct {
    int32_t block, goals, turning, turned, swept, heads;
    double share;                /* of a turn that it takes */
    const int32_t *goal, *lever; /* (goals) whose places it moves, with the joint that carries the turn there, or -1 */
    const int32_t *turn;         /* (turning) goals whose orientations it turns */
    const int32_t *joint;        /* (turned) joints that turn with it */
    const int32_t *point;        /* (swept) points that go round it */
    const int32_t *head;         /* (heads) detached ones that only go along, */
    const int32_t *carried_start, *carried; /* (heads + 1), with the points that go where each goes */
} dqik_visit;

/* One turn of a loop by MikuMikuDance's rule, by `most` [rad] at most; see solvers/iterate/mmd.py. */
typedef struct {
    int32_t visit, goal, lever;
    double most;
} dqik_link;

/* What a solver that turns one joint after the other does in a sweep. */
typedef struct {
    int32_t visits, links, by_links; /* by_links: as MikuMikuDance does */
    const dqik_visit *visit;         /* (visits) in order */
    const dqik_link *link;           /* (links) */
} dqik_sweep;

/* Goals solved together (G of them) over n degrees of freedom; see solvers/group/stage.py, joint_space.py and goals.py. */
typedef struct {
    int32_t n, blocks, goals, rows, poles, limbs, pairs, yields, standing, moving, still_slides;
    int32_t solver, limited, levered, continues, restarts, middle_bias;
    uint64_t seed;
    /* joint space: one block a joint */
    const int32_t *block_joint, *block_kind, *block_start; /* (blocks) */
    const uint8_t *block_ellipse;                          /* (blocks) */
    const int32_t *slide;                                  /* (J) block of a joint that slides, or -1 */
    const double *basis;                                   /* (blocks, 9) columns of the degrees of freedom */
    const double *align;                                   /* (blocks, 4) takes Y to the twist axis */
    const double *lo, *hi, *reluctance;                    /* (n) */
    const int32_t *pair;                                   /* (pairs) first of two that share an ellipse */
    /* goals */
    const int32_t *goal_index, *goal_joint; /* (G) */
    const int32_t *place_row, *turn_row;    /* (G) first of three rows, or -1 */
    const double *offset;                   /* (G, 3) */
    const double *place_weight, *turn_weight; /* (G) */
    const uint8_t *acts;                    /* (G, n) 1: moves the effector, 2: turns it */
    const int32_t *levers;                  /* (G, n), read where `levered` */
    const dqik_pole *pole;
    const dqik_limb *limb;
    /* which rows a degree of freedom fills, as runs [from, to); with the poles' rows behind the goals' */
    const int32_t *run_start; /* (n + 1) */
    const int32_t *run;       /* (runs, 2) */
    const int32_t *first;     /* (rows + poles) first row that a row shares a degree of freedom with */
    const int32_t *partner_start, *partner; /* (n + 1), degrees of freedom before it that share rows with each */
    const int32_t *first_freedom; /* (n) as `first`, of the degrees of freedom from the last to the first */
    const int32_t *stand;     /* (standing) joints whose transforms matter, in order */
    const int32_t *move;      /* (moving) those of them that an iteration changes */
    const int32_t *still_slide; /* (still_slides) slides that the stage leaves where they are */
    /* goals that yield where they are out of reach */
    const int32_t *yield_goal, *yield_top; /* (yields) */
    const uint8_t *yield_path;             /* (yields, J) */
    const double *yield_extra;             /* (yields) */
    /* how it is solved */
    int32_t swivels, phases, chosen_after;
    const double *swivel;         /* (swivels) [rad], at most DQIK_SWIVELS */
    double alike;                 /* |q . q'| from which on motions of a joint count as alike */
    const dqik_settings *phase;   /* (phases) continuation; one for a single descent */
    const dqik_settings *tracking, *tracking_missed, *polishing, *insisting, *descending; /* polishing NULL: none */
    int32_t spend;           /* iterations in all, where those left over are spent on goals that are missed; else 0 */
    const dqik_sweep *sweep; /* NULL: it steps along a Jacobian */
} dqik_stage;

typedef struct {
    dqik_skeleton skeleton;
    int32_t stages, goals; /* goals of all stages */
    const dqik_stage *stage;
    double tolerance, rotation_tolerance;
    const uint8_t *asked; /* (goals) 1: a place counts, 2: a rotation counts */
} dqik_problem;

/* One frame: what is asked, and room for the answer. */
typedef struct {
    const double *rotations, *translations; /* (J, 4), (J, 3) start pose */
    const double *links;                    /* (J, 8) */
    const double *places, *turns, *poles;   /* (goals, 3), (goals, 4), (goals, 3) */
    double *out_rotations, *out_translations;
    double *distances, *angles; /* (goals) */
    int32_t *iterations;        /* (1) */
    uint8_t *converged;         /* (1) */
    uint8_t *at_limit;          /* (J) */
} dqik_frame;

/* Single-precision quaternion channels that some joints' rotations are written to. */
typedef struct {
    int32_t joints;
    const int32_t *joint, *bone; /* (joints) */
    const double *reference;     /* (joints, 4) of q and -q the one nearer to it is written */
    float *values;               /* (bones, 4) */
} dqik_channels;

DQIK_EXPORT int32_t dqik_layout(void);
/* Doubles of working memory that a call needs. */
DQIK_EXPORT int64_t dqik_work(const dqik_problem *problem);
/* Solve frames, each afresh. */
DQIK_EXPORT void dqik_solve(const dqik_problem *problem, const dqik_frame *frames, int64_t count, double *work);
/* Solve one frame from the pose before it. `residual` (rows of all stages) is what the frame before ended with; it is
 * read unless `first`, and written. */
DQIK_EXPORT void dqik_track(const dqik_problem *problem, const dqik_frame *frame, const double *rotations,
                            const double *translations, double *residual, int32_t first, double *work);
/* Solve frames `begin` to `end` of a motion: frame 0 afresh, each other one from the answer before it, which must be
 * there. Frames that ask for what the ones before them asked for are answered as they were. `residual` (rows of all
 * stages) is kept from one call to the next. */
DQIK_EXPORT void dqik_follow(const dqik_problem *problem, const dqik_frame *frames, int64_t begin, int64_t end,
                             double *residual, double *work);
/* Write rotations (J, 4) into their bones' channels; whether that changed any. */
DQIK_EXPORT int32_t dqik_put(const dqik_channels *channels, const double *rotations);

#endif
