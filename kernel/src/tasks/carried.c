/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks of goals whose targets joints carry; see solvers/space/tasks/carried.py. */
#include "tasks.h"

static void write_way(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    double target[3];
    target_at(w, p, t, target);
    for (int i = 0; i < 3; i++) e[i] = (target[i] - p->tips[3 * t->goal + i]) * weight;
}

static void write_velocities(work *w, const point *p, const dqik_task *t, double weight) {
    double target[3];
    target_at(w, p, t, target);
    EACH_COLUMN(w, t, b, c) {
        double moved[3], *column = task_column(w, t, w->s->block_start[b] + c);
        velocity_from_target(w, p, t, b, c, target, moved);
        for (int i = 0; i < 3; i++) column[i] = moved[i] * weight;
    }
}

static void write_turn(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    double turn[4];
    q_product(turn, p->w + 4 * t->carrier, w->turns + 4 * t->goal);
    q_relative(turn, p->w + 4 * w->s->goal_joint[t->goal], turn);
    q_log(e, turn);
    for (int i = 0; i < 3; i++) e[i] *= weight;
}

static void write_turns(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_carried_rotation *data = t->data;
    const double *own = p->m + 9 * w->s->goal_joint[t->goal];
    EACH_COLUMN(w, t, b, c) {
        const int k = w->s->block_start[b] + c;
        const double *axes = w->axes + 9 * b, sign = (double)data->turns[k] - (double)data->target_turns[k];
        double u[3] = {axes[c], axes[3 + c], axes[6 + c]}, *column = task_column(w, t, k);
        transposed_times3(u, own, u);
        for (int i = 0; i < 3; i++) column[i] = u[i] * sign * weight;
    }
}

const task_kind carried_position_task = {LENGTH, write_way, write_velocities, NULL};
const task_kind carried_rotation_task = {ANGLE, write_turn, write_turns, NULL};
