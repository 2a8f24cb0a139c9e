/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The unknowns of a linear step where coordinates are coupled, x = S z + c; see solvers/space/unknowns.py. */
#include "../iterate/linear_step.h"

/* The problem of the unknowns alone: J S, S^T g, and S^T D S, which is diagonal like D. All else is the stage's. */
static work reduced(work *w) {
    const dqik_stage *s = w->s, *u = s->unknowns;
    work r = *w;
    r.s = u, r.n = u->n, r.jacobian = w->unknown_columns, r.now.x = w->unknown_x, r.gradient = w->unknown_gradient;
    r.reluctance = w->unknown_reluctance;
    memset(w->unknown_columns, 0, sizeof(double) * (size_t)u->n * (size_t)w->all);
    memset(w->unknown_gradient, 0, sizeof(double) * (size_t)u->n);
    memset(w->unknown_reluctance, 0, sizeof(double) * (size_t)u->n);
    for (int k = 0; k < u->n; k++) w->unknown_x[k] = w->now.x[s->keep[k]];
    for (int i = 0; i < s->n; i++) {
        const int k = s->unknown[i];
        const double factor = s->factor[i];
        add_column(w, i, column(w, i), factor, w->unknown_columns + (size_t)k * (size_t)w->all);
        if (w->pull > 0.0) w->unknown_gradient[k] += factor * w->gradient[i];
        w->unknown_reluctance[k] += factor * factor * w->reluctance[i];
    }
    return r;
}

/* The step of a solver `inner` over the unknowns, as a step of all coordinates. */
void take_coupled_step(work *w, step_function *inner, double *d) {
    const dqik_stage *s = w->s;
    work r = reduced(w);
    inner(&r, w->unknown_d);
    w->solved_by_rows = r.solved_by_rows, w->row_damping = r.row_damping;
    for (int i = 0; i < s->n; i++) d[i] = s->factor[i] * w->unknown_d[s->unknown[i]];
}
