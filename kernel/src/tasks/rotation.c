/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rotation tasks; see solvers/space/tasks/rotation.py. */
#include "tasks.h"

static void turn_error(const work *w, const point *p, const dqik_task *t, double *v) {
    double back[4], turn[4];
    const dqik_rotation *carry = t->data;
    q_conjugate(back, p->w + 4 * w->s->goal_joint[t->goal]);
    if (carry) {
        carrying(carry, p->w + 4 * carry->limb, turn);
        q_product(turn, turn, w->turns + 4 * t->goal);
        q_product(turn, turn, back);
    } else {
        q_product(turn, w->turns + 4 * t->goal, back);
    }
    q_log(v, turn);
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    turn_error(w, p, t, e);
    for (int i = 0; i < 3; i++) e[i] *= weight;
}

/* Columns u of a turn (Amino), less the turn of a target that is carried. */
static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_stage *s = w->s;
    const dqik_rotation *carry = t->data;
    double rates[9];
    if (carry) carry_rates(carry, p->w + 4 * carry->limb, rates);
    for (int b = 0; b < s->blocks; b++) {
        const int at = s->block_start[b], size = block_size(s, b);
        const double *axes = w->axes + 9 * b;
        if (!t->acts[at]) continue;
        for (int c = 0; c < size; c++) {
            double u[3] = {axes[c], axes[3 + c], axes[6 + c]}, *column = task_column(w, t, at + c), carried[3];
            if (!carry || carry->turns[at])
                for (int i = 0; i < 3; i++) column[i] = u[i] * weight;
            if (!carry || !carry->carries[at]) continue;
            times3(carried, rates, u);
            for (int i = 0; i < 3; i++) column[i] -= carried[i] * weight;
        }
    }
}

static double plain_error(const work *w, const point *p, const dqik_task *t, const frame_view *frame) {
    double v[3];
    (void)frame;
    turn_error(w, p, t, v);
    return norm3(v);
}

const task_kind rotation_task = {ANGLE, write_errors, write_jacobian, plain_error};
