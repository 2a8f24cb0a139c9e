/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parallel tasks; see solvers/space/tasks/parallel.py. */
#include "tasks.h"

/* The turn from the joint's axis to the target's, and how it changes; see turn_rates. */
static void turn_of(const work *w, const point *p, const dqik_task *t, double *error, double *d) {
    const dqik_parallel *data = t->data;
    double axis[3], line[3];
    times3(axis, p->m + 9 * w->s->goal_joint[t->goal], data->axis);
    target_axis(w, p, t, data->target_axis, line);
    turn_rates(axis, line, error, d);
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    double d[9];
    turn_of(w, p, t, e, d);
    for (int i = 0; i < 3; i++) e[i] *= weight;
}

/* D (w - v) + e x v, with the turns of joint and target. */
static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_parallel *data = t->data;
    double error[3], d[9];
    turn_of(w, p, t, error, d);
    EACH_COLUMN(w, t, b, c) {
        const int k = w->s->block_start[b] + c;
        double turned[3], by_target[3], row[3], more[3];
        for (int i = 0; i < 3; i++) {
            by_target[i] = data->target_turns[k] ? w->axes[9 * b + 3 * i + c] : 0.0;
            turned[i] = (data->turns[k] ? w->axes[9 * b + 3 * i + c] : 0.0) - by_target[i];
        }
        times3(row, d, turned);
        cross3(more, error, by_target);
        for (int i = 0; i < 3; i++) task_column(w, t, k)[i] = (row[i] + more[i]) * weight;
    }
}

const task_kind parallel_task = {ANGLE, write_errors, write_jacobian, NULL};
