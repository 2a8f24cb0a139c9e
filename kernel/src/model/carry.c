/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rotations of targets that turn with the limb above their goals; see solvers/model/carry.py. */
#include "../internal.h"

/* What carries a goal's rotation, or NULL. */
const dqik_rotation *carry_of(const dqik_stage *s, int goal) {
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
        if (t->kind == DQIK_ROTATION && t->goal == goal) return t->data;
    return NULL;
}

/* The rotation vector by which a limb has turned from rest. */
static void limb_turn(const dqik_rotation *carry, const double *orientation, double *turn) {
    double q[4];
    q_product(q, orientation, carry->back);
    q_log(turn, q);
}

/* The rotation C^f with which a limb of this orientation carries its target. */
void carrying(const dqik_rotation *carry, const double *orientation, double *q) {
    double v[3];
    limb_turn(carry, orientation, v);
    for (int i = 0; i < 3; i++) v[i] *= carry->follows;
    q_exp(q, v);
}

/* B with which a small turn u of the limb turns its target by B u; see Carry.rates. */
void carry_rates(const dqik_rotation *carry, const double *orientation, double *b) {
    double v[3], a[3];
    limb_turn(carry, orientation, v);
    const double f = carry->follows, angle = sqrt(most(dot3(v, v), LEAST));
    const double size = sin(0.5 * f * angle) / sin(0.5 * angle), by = 0.5 * (f - 1.0) * angle;
    const double across = size * cos(by), around = size * sin(by);
    for (int i = 0; i < 3; i++) a[i] = v[i] / angle;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) b[3 * i + j] = (f - across) * a[i] * a[j] + (i == j ? across : 0.0);
    b[1] -= around * a[2], b[2] += around * a[1], b[3] += around * a[2];
    b[5] -= around * a[0], b[6] -= around * a[1], b[7] += around * a[0];
}
