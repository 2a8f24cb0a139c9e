/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-sided rows: they take part in a step only where it would break them; see solvers/iterate/one_sided.py. */
#include "../internal.h"

/* left = signed errors - J d */
static void left_of(const work *w, const double *d, double *left) {
    memcpy(left, w->room, sizeof(double) * (size_t)w->all);
    for (int k = 0; k < w->n; k++)
        for (int i = 0; i < w->all; i++) left[i] -= w->whole[(size_t)k * (size_t)w->all + (size_t)i] * d[k];
}

/* Leave out the rows that do not count. */
static void leave_out(work *w, const double *counts) {
    for (int i = 0; i < w->all; i++) {
        const int in = counts[i] > 0.0;
        w->now.e[i] = in ? w->room[i] : 0.0;
        for (int k = 0; k < w->n; k++) {
            const size_t at = (size_t)k * (size_t)w->all + (size_t)i;
            w->jacobian[at] = in ? w->whole[at] : 0.0;
        }
    }
}

/* The step of a solver `inner` from `w->now`, whose errors and Jacobian stay as they are. */
void take_sided_step(work *w, step_function *inner, double *d) {
    const dqik_task *end = w->s->task + w->s->tasks;
    const size_t rows = sizeof(double) * (size_t)w->all;
    double *counts = w->sided, *left = w->sided + w->all, *clipped = left + w->all;
    memcpy(clipped, w->now.e, rows);
    memcpy(w->whole, w->jacobian, rows * (size_t)w->n);
    signed_errors(w, &w->now, w->room);
    for (const dqik_task *t = w->s->task; t < end; t++)
        for (int i = t->row; i < t->row + t->rows; i++) counts[i] = !t->one_sided || w->room[i] > 0.0;
    for (int round = 0; round < ONE_SIDED_ROUNDS; round++) {
        int more = 0;
        leave_out(w, counts);
        inner(w, d);
        left_of(w, d, left);
        for (const dqik_task *t = w->s->task; t < end; t++)
            for (int i = t->row; t->one_sided && i < t->row + t->rows; i++)
                if (left[i] > 0.0 && !(counts[i] > 0.0)) counts[i] = 1.0, more = 1;
        if (!more) break;
    }
    memcpy(w->now.e, clipped, rows);
    memcpy(w->jacobian, w->whole, rows * (size_t)w->n);
    w->solved_by_rows = 0;
}

/* As `decrease`, where a one-sided row counts only above 0. */
double sided_decrease(work *w, const double *d) {
    double gained = 0.0, *left = w->sided + w->all;
    left_of(w, d, left);
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++)
        for (int i = t->row; i < t->row + t->rows; i++) {
            const double before = t->one_sided ? most(w->room[i], 0.0) : w->room[i];
            const double after = t->one_sided ? most(left[i], 0.0) : left[i], moved = before - after;
            gained += moved * (before - 0.5 * moved);
        }
    for (int k = 0; w->pull > 0.0 && k < w->n; k++) gained -= w->gradient[k] * d[k];
    return gained;
}
