/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damped least squares inside the limits; see solvers/methods/dls.py and iterate/active_set.py. */
#include "../iterate/linear_step.h"

void dls_step(work *w, double *d) { active_set_step(w, d); }

/* Degrees of freedom that the step moves past a limit are fixed on it, and the others are solved again. */
int active_set_step(work *w, double *d) {
    const dqik_stage *s = w->s;
    w->solved_by_rows = !by_freedom(w);
    if (!s->limited) {
        free_step(w, NULL, NULL, NULL, d);
        return 1;
    }
    memset(w->normals, 0, sizeof(double) * 2 * (size_t)s->pairs);
    memset(w->fixed, 0, sizeof(double) * (size_t)w->n);
    for (int k = 0; k < w->n; k++) w->free[k] = s->hi[k] > s->lo[k];
    for (int round = 0; round < ACTIVE_SET_ROUNDS; round++) {
        free_step(w, w->free, w->normals, w->fixed, w->candidate);
        if (onto_limits(w, w->candidate, d) <= SAME) return !round;
        w->solved_by_rows = 0;
        for (int k = 0; k < w->n; k++) {
            double x = w->now.x[k] + d[k];
            w->down[k] = fabs(d[k] - w->candidate[k]) > SAME; /* moved */
            if (w->down[k] != 0.0 && (x >= s->hi[k] - SAME || x <= s->lo[k] + SAME)) w->free[k] = 0;
        }
        for (int i = 0; i < s->pairs; i++) {
            int at = s->pair[i];
            double *normal = w->normals + 2 * i, x[2] = {w->now.x[at] + d[at], w->now.x[at + 1] + d[at + 1]};
            if (normal[0] == 0.0 && normal[1] == 0.0 && (w->down[at] != 0.0 || w->down[at + 1] != 0.0))
                swing_normal(normal, x, s->lo + at, s->hi + at, SAME);
            if (!w->free[at] || !w->free[at + 1]) normal[0] = normal[1] = 0.0;
        }
        for (int k = 0; k < w->n; k++) w->fixed[k] = w->free[k] ? 0.0 : d[k];
        for (int i = 0; i < s->pairs; i++) {
            int at = s->pair[i];
            const double *normal = w->normals + 2 * i;
            double along = d[at] * normal[0] + d[at + 1] * normal[1];
            w->fixed[at] += normal[0] * along, w->fixed[at + 1] += normal[1] * along;
        }
    }
    return 0;
}
