/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distance tasks; see solvers/space/tasks/distance.py. */
#include "tasks.h"

/* The place of the target, and the unit vector from it to the effector; returns their distance. */
static double line_to(const work *w, const point *p, const dqik_task *t, double *target, double *away) {
    target_at(w, p, t, target);
    minus3(away, p->tips + 3 * t->goal, target);
    const double far = norm3(away), shortest = DISTANCE_LEAST_FAR * w->k->length;
    if (far < shortest)
        away[0] = away[1] = 0.0, away[2] = 1.0;
    else
        for (int i = 0; i < 3; i++) away[i] /= far;
    return far;
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const dqik_distance *data = t->data;
    double target[3], away[3];
    *e = data->sign * (data->distance - line_to(w, p, t, target, away)) * weight;
}

static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_distance *data = t->data;
    double target[3], away[3];
    line_to(w, p, t, target, away);
    EACH_COLUMN(w, t, b, c) {
        const int k = w->s->block_start[b] + c;
        double moved[3];
        velocity_from_target(w, p, t, b, c, target, moved);
        *task_column(w, t, k) = dot3(away, moved) * data->sign * weight;
    }
}

const task_kind distance_task = {LENGTH, write_errors, write_jacobian, NULL};
