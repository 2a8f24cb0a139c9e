/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plane tasks; see solvers/space/tasks/plane.py. */
#include "tasks.h"

static void normal_of(const work *w, const dqik_task *t, double *normal) {
    double m[9];
    q_matrix(m, w->turns + 4 * t->goal);
    for (int i = 0; i < 3; i++) normal[i] = m[3 * i + 2];
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const dqik_plane *data = t->data;
    double normal[3], away[3];
    normal_of(w, t, normal);
    minus3(away, p->tips + 3 * t->goal, w->places + 3 * t->goal);
    *e = (data->height - dot3(normal, away)) * weight;
}

static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    double normal[3];
    normal_of(w, t, normal);
    EACH_COLUMN(w, t, b, c) {
        const int k = w->s->block_start[b] + c;
        double moved[3];
        velocity(w, p, b, c, p->tips + 3 * t->goal, lever_of(w, t, 0, k), moved);
        *task_column(w, t, k) = dot3(normal, moved) * weight;
    }
}

const task_kind plane_task = {LENGTH, write_errors, write_jacobian, NULL};
