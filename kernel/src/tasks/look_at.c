/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Look-at tasks; see solvers/space/tasks/look_at.py. */
#include "tasks.h"

typedef struct {
    double target[3];
    double axis[3], line[3], far; /* the bone's axis, the unit line to the target, the target's distance */
} look;

static look look_of(const work *w, const point *p, const dqik_task *t) {
    const dqik_look_at *data = t->data;
    look at;
    times3(at.axis, p->m + 9 * w->s->goal_joint[t->goal], data->axis);
    target_at(w, p, t, at.target);
    minus3(at.line, at.target, p->tips + 3 * t->goal);
    at.far = most(norm3(at.line), LOOK_AT_LEAST_FAR * w->k->length);
    for (int i = 0; i < 3; i++) at.line[i] /= at.far;
    return at;
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const look at = look_of(w, p, t);
    double d[9];
    turn_rates(at.axis, at.line, e, d);
    for (int i = 0; i < 3; i++) e[i] *= weight;
}

/* D (w - v) + e x v, with v = -l x dX / far; see turn_rates. */
static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_look_at *data = t->data;
    const look at = look_of(w, p, t);
    double d[9], error[3];
    turn_rates(at.axis, at.line, error, d);
    EACH_COLUMN(w, t, b, c) {
        const int k = w->s->block_start[b] + c;
        double moved[3], by_line[3], turned[3], row[3], more[3];
        velocity_from_target(w, p, t, b, c, at.target, moved);
        cross3(by_line, at.line, moved);
        for (int i = 0; i < 3; i++) {
            by_line[i] /= -at.far;
            turned[i] = (data->turns[k] ? w->axes[9 * b + 3 * i + c] : 0.0) - by_line[i];
        }
        times3(row, d, turned);
        cross3(more, error, by_line);
        for (int i = 0; i < 3; i++) task_column(w, t, k)[i] = (row[i] + more[i]) * weight;
    }
}

const task_kind look_at_task = {ANGLE, write_errors, write_jacobian, NULL};
