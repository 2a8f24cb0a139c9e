/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the steps of one iteration: the Jacobian by columns, and the objective; see
 * solvers/iterate/linear_step.py. */
#ifndef DQIK_LINEAR_STEP_H
#define DQIK_LINEAR_STEP_H

#include "../internal.h"

/* Loops over the runs of rows that a degree of freedom fills, and over the rows of a run. */
#define RUNS(s, k) for (int r_ = (s)->run_start[k]; r_ < (s)->run_start[(k) + 1]; r_++)
#define ROWS(s, i) for (int i = (s)->run[2 * r_]; i < (s)->run[2 * r_ + 1]; i++)

static inline const double *column(const work *w, int k) { return w->jacobian + (size_t)k * (size_t)w->all; }

static inline double column_dot(const work *w, int k, const double *c, const double *rows) {
    double sum = 0.0;
    RUNS(w->s, k) ROWS(w->s, i) sum += c[i] * rows[i];
    return sum;
}

static inline void add_column(const work *w, int k, const double *c, double factor, double *rows) {
    RUNS(w->s, k) ROWS(w->s, i) rows[i] += c[i] * factor;
}

/* Whether there are fewer degrees of freedom than rows that count. */
static inline int by_freedom(const work *w) { return w->n < (w->use_soft ? w->all : w->rows); }

/* left = e - J d; `d` NULL for none */
void residual(const work *w, const double *d, double *left);
double value(work *w, const double *d);
void descent(work *w, const double *d, double *down);
void free_step(work *w, const uint8_t *free, const double *normals, const double *fixed, double *step);
/* The step of an active set; returns whether it is the least of all, as where no limit is in its way. */
int active_set_step(work *w, double *d);
double onto_limits(const work *w, const double *d, double *to);

#endif
