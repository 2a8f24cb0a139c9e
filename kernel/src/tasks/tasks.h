/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of tasks; see solvers/space/tasks/table.py. A new kind needs a file like position.c with its `task_kind`. */
#ifndef DQIK_TASKS_H
#define DQIK_TASKS_H

#include "../internal.h"

typedef struct {
    /* The tolerance that applies to the norm of the error, and how it is reported; soft tasks have neither. */
    enum { LENGTH, ANGLE, SOFT } unit;
    /* Weighted error rows, target less current, to `e`; below 0 where a one-sided task has room. */
    void (*errors)(const work *w, const point *p, const dqik_task *t, double weight, double *e);
    /* Write weighted rows of the Jacobian to the columns of `w->jacobian`, which are 0 before. `w->axes` has the
     * directions of the degrees of freedom. */
    void (*jacobian)(work *w, const point *p, const dqik_task *t, double weight);
    /* Unweighted error from the frame's target [length units or rad]; NULL: the size of its unweighted rows. */
    double (*report)(const work *w, const point *p, const dqik_task *t, const frame_view *frame);
} task_kind;

#define DECLARE(number, kind) extern const task_kind kind;
DQIK_EACH_TASK(DECLARE)
#undef DECLARE

/* Loop over the degrees of freedom that act on a task: `c` of block `b`. */
#define EACH_COLUMN(w, t, b, c) \
    for (int b = 0; b < (w)->s->blocks; b++) \
        for (int c = 0; c < block_size((w)->s, b) && (t)->acts[(w)->s->block_start[b]]; c++)

/* The joint that carries the turn of a degree of freedom to point `i` of a task, or -1. */
static inline int lever_of(const work *w, const dqik_task *t, int i, int k) {
    return w->s->levered ? t->levers[i * w->n + k] : -1;
}

/* How a point moves with degree of freedom `c` of block `b`: u x (X - p) of a turn, u of a slide (Amino). */
static inline void velocity(const work *w, const point *p, int b, int c, const double *at, int lever, double *to) {
    const double *axes = w->axes + 9 * b, u[3] = {axes[c], axes[3 + c], axes[6 + c]};
    double arm[3];
    minus3(arm, lever < 0 ? at : p->p + 3 * lever, p->p + 3 * w->s->block_joint[b]);
    if (w->s->block_kind[b] == DQIK_SLIDE)
        copy3(to, u);
    else
        cross3(to, u, arm);
}

/* The place of a task's target, which a joint may carry. */
static inline void target_at(const work *w, const point *p, const dqik_task *t, double *to) {
    copy3(to, w->places + 3 * t->goal);
    if (t->carrier < 0) return;
    times3(to, p->m + 9 * t->carrier, to);
    add3(to, p->p + 3 * t->carrier);
}

/* How the effector of a task moves against its target, which is `at`: its levers are those of point 0 and of point 1. */
static inline void velocity_from_target(
    const work *w, const point *p, const dqik_task *t, int b, int c, const double *at, double *to) {
    const int k = w->s->block_start[b] + c;
    const double *tip = p->tips + 3 * t->goal;
    double target[3];
    if (t->carrier < 0) {
        velocity(w, p, b, c, tip, lever_of(w, t, 0, k), to);
        return;
    }
    to[0] = to[1] = to[2] = 0.0;
    if (t->moves[k]) velocity(w, p, b, c, tip, lever_of(w, t, 0, k), to);
    if (!t->moves[w->n + k]) return;
    velocity(w, p, b, c, at, lever_of(w, t, 1, k), target);
    minus3(to, to, target);
}

/* The direction of an axis of a task's target. */
static inline void target_axis(const work *w, const point *p, const dqik_task *t, const double *axis, double *to) {
    q_rotate(to, w->turns + 4 * t->goal, axis);
    if (t->carrier >= 0) times3(to, p->m + 9 * t->carrier, to);
}

/* The rows of a task in the column of a degree of freedom. */
static inline double *task_column(work *w, const dqik_task *t, int k) {
    return w->jacobian + (size_t)k * (size_t)w->all + t->row;
}

/* directions.c */
void turn_rates(const double *axis, const double *line, double *error, double *d);

#endif
