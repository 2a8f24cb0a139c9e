/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Look-at tasks; see solvers/space/tasks/look_at.py. */
#include "tasks.h"

typedef struct {
    double target[3];
    double axis[3], line[3], far; /* the bone's axis, the unit line to the target, the target's distance */
    double k[3], angle, slope;    /* the turn's axis and angle, and the angle over its sine */
} look;

static look look_of(const work *w, const point *p, const dqik_task *t) {
    const dqik_look_at *data = t->data;
    look at;
    double cross[3];
    times3(at.axis, p->m + 9 * w->s->goal_joint[t->goal], data->axis);
    target_at(w, p, t, at.target);
    minus3(at.line, at.target, p->tips + 3 * t->goal);
    at.far = most(norm3(at.line), LOOK_AT_LEAST_FAR * w->k->length);
    for (int i = 0; i < 3; i++) at.line[i] /= at.far;
    cross3(cross, at.axis, at.line);
    const double sine = norm3(cross), cosine = dot3(at.axis, at.line);
    at.angle = atan2(sine, cosine);
    if (sine < LOOK_AT_LEAST_SINE) { /* any axis across serves */
        double other[3] = {0.0, 0.0, 0.0};
        int smallest = 0;
        for (int i = 1; i < 3; i++)
            if (fabs(at.axis[i]) < fabs(at.axis[smallest])) smallest = i;
        other[smallest] = 1.0;
        cross3(cross, at.axis, other);
        const double length = norm3(cross);
        for (int i = 0; i < 3; i++) at.k[i] = cross[i] / length;
        at.slope = cosine > 0.0 ? 1.0 : 0.0;
    } else {
        for (int i = 0; i < 3; i++) at.k[i] = cross[i] / sine;
        at.slope = at.angle / sine;
    }
    return at;
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const look at = look_of(w, p, t);
    for (int i = 0; i < 3; i++) e[i] = at.angle * at.k[i] * weight;
}

/* D (w - v) + e x v, with D = k k^T + slope (k x l) (k x a)^T and v = -l x dX / far. */
static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_look_at *data = t->data;
    const look at = look_of(w, p, t);
    double across[3], along[3], d[9], error[3];
    cross3(across, at.k, at.line);
    cross3(along, at.k, at.axis);
    for (int i = 0; i < 3; i++) {
        error[i] = at.angle * at.k[i];
        for (int j = 0; j < 3; j++) d[3 * i + j] = at.k[i] * at.k[j] + at.slope * across[i] * along[j];
    }
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
