/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rotation tasks; see solvers/space/tasks/rotation.py. */
#include "tasks.h"

static const double *targets(const frame_view *frame) { return frame->orientations; }

void turn_error(const work *w, const point *p, int goal, double *v) {
    double back[4], turn[4];
    q_conjugate(back, p->w + 4 * w->s->goal_joint[goal]);
    q_product(turn, w->turns + 4 * goal, back);
    q_log(v, turn);
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    turn_error(w, p, t->goal, e);
    for (int i = 0; i < 3; i++) e[i] *= weight;
}

/* Columns u of a turn (Amino). */
static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_stage *s = w->s;
    (void)p;
    for (int b = 0; b < s->blocks; b++) {
        const int at = s->block_start[b], size = block_size(s, b);
        const double *axes = w->axes + 9 * b;
        if (!t->acts[at]) continue;
        for (int c = 0; c < size; c++) {
            double *column = task_column(w, t, at + c);
            for (int i = 0; i < 3; i++) column[i] = axes[3 * i + c] * weight;
        }
    }
}

static double plain_error(const work *w, const point *p, const dqik_task *t, const frame_view *frame) {
    double v[3];
    (void)frame;
    turn_error(w, p, t->goal, v);
    return norm3(v);
}

const task_kind rotation_task = {ANGLE, targets, 4, write_errors, write_jacobian, plain_error};
