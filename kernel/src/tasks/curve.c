/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curve tasks; see solvers/space/tasks/curve.py. */
#include "tasks.h"

static void place_of(const point *p, const dqik_curve *data, double *at) {
    times3(at, p->m + 9 * data->joint, data->offset);
    add3(at, p->p + 3 * data->joint);
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const dqik_curve *data = t->data;
    double at[3];
    place_of(p, data, at);
    for (int i = 0; i < 3; i++) e[i] = (w->points[3 * data->place + i] - at[i]) * weight;
}

static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    double at[3];
    place_of(p, t->data, at);
    EACH_COLUMN(w, t, b, c) {
        const int k = w->s->block_start[b] + c;
        double moved[3];
        velocity(w, p, b, c, at, lever_of(w, t, 0, k), moved);
        for (int i = 0; i < 3; i++) task_column(w, t, k)[i] = moved[i] * weight;
    }
}

const task_kind curve_task = {LENGTH, write_errors, write_jacobian, NULL};
