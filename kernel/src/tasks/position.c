/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Position tasks; see solvers/space/tasks/position.py. */
#include "tasks.h"

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const double *target = w->places + 3 * t->goal, *tip = p->tips + 3 * t->goal;
    for (int i = 0; i < 3; i++) e[i] = (target[i] - tip[i]) * weight;
}

/* Columns u x (effector - p) of a turn and u of a slide (Amino). */
static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        const int joint = s->block_joint[b], at = s->block_start[b], size = block_size(s, b);
        if (!t->acts[at]) continue;
        const int lever = s->levered ? t->levers[at] : -1;
        const double *axes = w->axes + 9 * b, *tip = lever < 0 ? p->tips + 3 * t->goal : p->p + 3 * lever;
        double arm[3];
        minus3(arm, tip, p->p + 3 * joint);
        for (int c = 0; c < size; c++) {
            double u[3] = {axes[c], axes[3 + c], axes[6 + c]}, *column = task_column(w, t, at + c);
            if (s->block_kind[b] != DQIK_SLIDE) cross3(u, u, arm);
            for (int i = 0; i < 3; i++) column[i] = u[i] * weight;
        }
    }
}

static double plain_error(const work *w, const point *p, const dqik_task *t, const frame_view *frame) {
    return distance3(frame->positions + 3 * w->s->goal_index[t->goal], p->tips + 3 * t->goal);
}

const task_kind position_task = {LENGTH, write_errors, write_jacobian, plain_error};
