/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the kernel's files: the working memory of a stage that solves one frame. */
#ifndef DQIK_INTERNAL_H
#define DQIK_INTERNAL_H

#include <stddef.h>

#include "contract.h"
#include "rotation.h"

/* One frame of `dqik_frames`. */
typedef struct {
    const double *positions, *orientations, *poles, *points, *start_rotations, *start_translations, *links, *home_rotations;
    double *rotations, *translations, *position_errors, *rotation_errors;
    int32_t *iterations;
    uint8_t *converged, *at_limit;
} frame_view;

/* A state with its world transforms and error rows. */
typedef struct {
    double *q;       /* (J, 4) joint motions */
    double *x;       /* (n) coordinates */
    double *w;       /* (J, 4) world orientations */
    double *m;       /* (J, 9) the same as matrices */
    double *p;       /* (J, 3) world positions */
    double *tips;    /* (G, 3) effectors */
    double *e;       /* (all) */
    double *v;       /* (n) difference from the base pose */
    double cost;
} point;

/* Working memory of a stage. */
typedef struct {
    const dqik_stage *s;
    const dqik_skeleton *k;
    int n, rows, all;        /* all = rows + those of soft tasks */
    int use_soft;            /* whether the rows of soft tasks count */
    int steps;               /* whether a solver that sweeps takes damped steps instead */
    const double *link_q, *link_t; /* (J, 4), (J, 3) */
    const double *home_q; /* (J, 4) rotations that the targets were moved from; NULL: those of the start pose */
    double *places, *turns, *ends, *shares; /* (G, 3), (G, 4), (G, 3), (G) targets, which yielding may change */
    double *own, *yielded, *blamed, *misses, *ways; /* (G), the last (G + 1): of goals that yield after a solve */
    double *shifted_places, *shifted_turns; /* (G, 3), (G, 4) */
    double *base_q, *base_x; /* base pose of the pull */
    point now, tried, best, given, afresh;
    point attempt[DQIK_SWIVELS]; /* one per swivel */
    /* one iteration's linear system */
    double *jacobian; /* (n, all) a column per degree of freedom */
    double *bent;     /* (n, all) the same, tangential to active ellipses */
    double *gradient; /* (n) */
    double *pulled;   /* (n) */
    double damping;   /* s */
    double row_damping; /* s of the last step that was solved by rows */
    double pull;
    const double *reluctance; /* (n) of the run */
    const double *weights;    /* (n) of the run's pull */
    double *matrix;   /* (all, all) */
    double *rhs, *left; /* (all) */
    const double *points; /* (P, 3) the frame's */
    double *edges;        /* (12 all + 2) of the tasks of balance */
    double *whole, *room; /* (n, all), (all) the Jacobian and the signed errors, where some rows are one-sided */
    double *sided;        /* (3 all) to work in there */
    double *unknown_columns; /* (k, all) the Jacobian of the k unknowns, where coordinates are coupled */
    double *unknown_x, *unknown_gradient, *unknown_reluctance, *unknown_d; /* (k) */
    int solved_by_rows; /* `rhs` holds y of the step, whose remaining error is s y */
    double *d, *candidate, *current, *fixed, *down, *trial, *again; /* (n) */
    double *normals; /* (pairs, 2) */
    double *inverses; /* (blocks, 9) */
    double *axes;     /* (blocks, 9) world directions of the degrees of freedom, as columns */
    uint8_t *free, *opened; /* (n) */
    point kept, swung; /* for solvers that sweep */
} work;

/* Writes a step from `w->now` inside the limits to `d`. */
typedef void step_function(work *w, double *d);

/* Degrees of freedom of a block. */
static inline int block_size(const dqik_stage *s, int block) {
    return s->block_start[block + 1] - s->block_start[block];
}

/* 1 [rad], or the skeleton's length for a slide. */
static inline double unit_of(const work *w, int block) {
    return w->s->block_kind[block] == DQIK_SLIDE ? w->k->length : 1.0;
}

/* limits.c */
void project_swing(double *swing, const double *lo, const double *hi);
int swing_normal(double *normal, const double *swing, const double *lo, const double *hi, double slack);

/* joint_space.c */
void project(const dqik_stage *s, double *x);
void project_block(const dqik_stage *s, int block, double *x);
void enter(const work *w, point *p, const double *rotations, const double *translations);
void turn_back_inside(const work *w, point *p, const double *x_like);
void settle(const work *w, point *p);
void nearest_motion(const work *w, int block, double *q, double *x);
void compose(double *q, const double *x);
void body_jacobian(double *c, const double *x);
void take_step(const work *w, point *to, const point *from, const double *d);
void difference(const work *w, const point *p, double *v);
double longest_of(const work *w, const double *d);
void pull_gradient(const work *w, const point *p, double *gradient);
void block_rates(const dqik_stage *s, int block, const double *x, double *rates);
void block_axes(const work *w, const point *p, int block, double *axes);
void middle_of_limits(const work *w, point *p, const double *weights);
void sample(const work *w, point *p, uint64_t *random);
void sample_near(work *w, point *to, const point *from, double spread, uint64_t *random);
void mark_limits(const dqik_stage *s, const double *x, uint8_t *at_limit);
int touches_limits(const dqik_stage *s, const double *x);

/* kinematics.c */
void forward_all(const work *w, point *p);
void forward_moved(const work *w, point *p);

/* tasks/tasks.c */
void errors(const work *w, point *p);
void signed_errors(const work *w, const point *p, double *to);
void jacobian(work *w, const point *p);
int within(const work *w, const point *p, double tolerance, double rotation_tolerance);
int served_within(const work *w, const point *p, double tolerance, double rotation_tolerance);
double served_square(const work *w, const point *p);
int leading_within(const work *w, const point *p, double tolerance, double rotation_tolerance);
void report(const work *w, const point *p, const frame_view *frame);
void misses(const work *w, const point *p, double *to);
void shift_targets(const work *w, const point *p, const double *shares, double *places, double *turns);
double rows_square(const work *w, const point *p);
double square_missed(work *w, point *p, const dqik_problem *problem);
int targets_finite(const dqik_stage *s, const frame_view *frame);

/* carry.c */
const dqik_rotation *carry_of(const dqik_stage *s, int goal);
void carrying(const dqik_rotation *carry, const double *orientation, double *q);
void carry_rates(const dqik_rotation *carry, const double *orientation, double *b);

/* one_sided.c */
void take_sided_step(work *w, step_function *inner, double *d);
double sided_decrease(work *w, const double *d);

/* linear_step.c, pgs.c, dls.c */
double decrease(work *w, const double *d);
step_function pgs_step, dls_step;

/* unknowns.c */
void take_coupled_step(work *w, step_function *inner, double *d);

/* point.c */
void stand(const work *w, point *p);
void copy_point(const work *w, point *to, const point *from);

/* descent.c */
int minimise(work *w, const dqik_settings *settings);

/* polish.c */
int polish(work *w, const dqik_problem *problem, int before);

/* memory.c: arrays in the caller's block; NULL only counts their size */
typedef struct {
    double *link_q, *link_t; /* (J, 4), (J, 3) rotations and translations of the links */
    double *q, *t;           /* (J, 4), (J, 3) the pose after the stages so far */
} pose_memory;
pose_memory pose_in(double *memory, const dqik_problem *problem);
work work_in(double *memory, const dqik_problem *problem, const dqik_stage *s);
void leave(double *memory, const dqik_problem *problem); /* the caller may touch all of it again */

/* frames.c */
frame_view frame_at(const dqik_frames *frames, int64_t i);
int solve_frame(const dqik_problem *problem, const frame_view *frame, const dqik_motion *motion, double *memory);
work stage_of_frame(const dqik_problem *problem, const dqik_stage *s, const frame_view *frame, const pose_memory *m,
                    double *memory);
void clear_report(const dqik_problem *problem, const frame_view *frame);
void report_stage(const work *w, const frame_view *frame, const pose_memory *m);
void report_frame(const dqik_problem *problem, const frame_view *frame, const pose_memory *m);

/* stage.c */
void ask(work *w, const frame_view *frame);
int solve_stage(work *w, const dqik_problem *problem, const double *rotations, const double *translations);
int follow_stage(work *w, const dqik_problem *problem, const frame_view *frame, const double *warm_q,
                const double *warm_t, const double *start_q, const double *start_t, const double *before);

/* yielding.c */
double yield_ratio(const work *w, const point *at, int i);
void yield_targets(work *w, const point *at);
int serve_in_order(work *w, const double *rotations, const double *translations, int in_motion);

/* attempts.c */
int beyond_reach(const work *w, const point *at);
int looks_recoverable(const work *w, int met_before);
int try_near(work *w, const dqik_problem *problem, int *iterations);
int try_middle(work *w, const dqik_problem *problem, int *iterations);
int restart(work *w, const dqik_problem *problem, int settled);

/* posture.c */
int joint_of(const work *w, const dqik_visit *v);
void turn_below(const work *w, point *p, const dqik_visit *v, const double *turn);
void slide_below(const work *w, point *p, const dqik_visit *v, const double *shift);
void move_joint(const work *w, point *p, const dqik_visit *v, double *motion);
void arm_of(const work *w, const point *p, const dqik_visit *v, int goal, int lever, double *arm, double *end);

/* ccd.c, mmd.c */
int sweep(work *w, const dqik_settings *settings);
int follow_links(work *w, const dqik_settings *settings);

/* arc.c */
void bend_to_arcs(const work *w, point *p, double share);
int is_stuck(const work *w, const point *p);

/* limb.c */
void bend_base(const work *w, const double *rotations, const point *at, double share, double *bent);
void fold(const work *w, const double *rotations, const point *base, double swivel, double *folded);
int has_side(double length, double off, double pole_off, double whole, double far);
void swivel_to_pole(const work *w, const dqik_pole *pole, double hold, point *p);

#endif
