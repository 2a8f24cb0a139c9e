/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Projected Gauss-Seidel with subspace minimisation; see solvers/methods/pgs.py. */
#include "../iterate/cholesky.h"
#include "../iterate/linear_step.h"

/* The directions that stay free after a step: coordinates off their bounds or pulled inward, and tangents of active
 * ellipses. */
static void active_set(work *w, const double *d) {
    const dqik_stage *s = w->s;
    descent(w, d, w->down);
    for (int k = 0; k < w->n; k++) {
        double x = w->now.x[k] + d[k], down = w->down[k];
        int active = (x >= s->hi[k] - SAME && down > 0.0) || (x <= s->lo[k] + SAME && down < 0.0);
        w->free[k] = w->opened[k] && !active;
        w->fixed[k] = w->free[k] ? 0.0 : d[k];
    }
    for (int i = 0; i < s->pairs; i++) {
        int at = s->pair[i];
        double *normal = w->normals + 2 * i, x[2] = {w->now.x[at] + d[at], w->now.x[at + 1] + d[at + 1]};
        swing_normal(normal, x, s->lo + at, s->hi + at, SAME);
        double outward = w->down[at] * normal[0] + w->down[at + 1] * normal[1];
        if (!(outward > 0.0) || !w->free[at] || !w->free[at + 1]) normal[0] = normal[1] = 0.0;
        double along = d[at] * normal[0] + d[at + 1] * normal[1];
        w->fixed[at] += normal[0] * along, w->fixed[at + 1] += normal[1] * along;
    }
}

static void block_inverses(work *w) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        int at = s->block_start[b], size = block_size(s, b);
        double a[9], trace = 0.0;
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++)
                a[size * i + j] = column_dot(w, at + i, column(w, at + i), column(w, at + j));
        for (int i = 0; i < size; i++) trace += a[(size + 1) * i];
        for (int i = 0; i < size; i++)
            a[(size + 1) * i] += most(w->damping * w->reluctance[at + i], SINGULAR * trace);
        invert(a, size, w->inverses + 9 * b);
    }
}

/* Block Gauss-Seidel sweeps over the joints, each projected on its limits as it is updated (Kenwright eq. 28-31). */
static void sweeps(work *w, double *d) {
    const dqik_stage *s = w->s;
    residual(w, d, w->rhs); /* residual e - J d, so that J^T J is never formed */
    for (int sweep = 0; sweep < PGS_SWEEPS; sweep++)
        for (int b = 0; b < s->blocks; b++) {
            int at = s->block_start[b], size = block_size(s, b);
            const double *inverse = w->inverses + 9 * b, *x = w->now.x + at;
            double down[3], next[3];
            for (int i = 0; i < size; i++) {
                int k = at + i;
                down[i] = column_dot(w, k, column(w, k), w->rhs) - w->damping * w->reluctance[k] * d[k];
                if (w->pull > 0.0) down[i] -= w->gradient[k];
            }
            for (int i = 0; i < size; i++) {
                double sum = d[at + i];
                for (int j = 0; j < size; j++) sum += inverse[size * i + j] * down[j];
                next[i] = x[i] + sum;
            }
            project_block(s, b, next);
            for (int i = 0; i < size; i++) {
                double change = next[i] - x[i] - d[at + i];
                if (change != 0.0) add_column(w, at + i, column(w, at + i), -change, w->rhs);
                d[at + i] += change;
            }
        }
}

/* Replace `best` by `step` if that is better. */
static void keep_better(work *w, double *best, double *best_value, const double *step) {
    double other = value(w, step);
    if (other < *best_value) {
        memcpy(best, step, sizeof(double) * (size_t)w->n);
        *best_value = other;
    }
}

/* Whether `d` is the minimum inside the limits, up to PGS_LEAST: the projection undoes a further step downhill. */
static int is_least(work *w, const double *d) {
    const dqik_stage *s = w->s;
    double curved = w->damping, *x = w->again, *further = w->trial;
    for (int b = 0; b < s->blocks; b++)
        for (int k = s->block_start[b]; k < s->block_start[b] + block_size(s, b); k++)
            curved += unit_of(w, b) * unit_of(w, b) * column_dot(w, k, column(w, k), column(w, k));
    descent(w, d, w->down);
    for (int b = 0; b < s->blocks; b++)
        for (int k = s->block_start[b]; k < s->block_start[b] + block_size(s, b); k++) {
            x[k] = w->now.x[k] + d[k];
            further[k] = x[k] + unit_of(w, b) * unit_of(w, b) * w->down[k] / curved;
        }
    project(s, further);
    for (int k = 0; k < w->n; k++) further[k] -= x[k];
    return longest_of(w, further) < most(PGS_LEAST, PGS_LEAST_OF_STEP * longest_of(w, d));
}

/* Projected Gauss-Seidel with subspace minimisation (Silcowitz, Niebe & Erleben 2010), from an active set's step. */
void pgs_step(work *w, double *d) {
    const dqik_stage *s = w->s;
    if (active_set_step(w, d) || is_least(w, d)) return;
    for (int k = 0; k < w->n; k++) w->opened[k] = s->hi[k] > s->lo[k];
    memcpy(w->current, d, sizeof(double) * (size_t)w->n);
    memset(d, 0, sizeof(double) * (size_t)w->n);
    double best = value(w, d);
    keep_better(w, d, &best, w->current); /* where the first step leads uphill, the sweeps begin at no step */
    memcpy(w->current, d, sizeof(double) * (size_t)w->n);
    block_inverses(w);
    for (int round = 0; round < PGS_ROUNDS; round++) {
        sweeps(w, w->current);
        keep_better(w, d, &best, w->current);
        active_set(w, w->current);
        free_step(w, w->free, w->normals, w->fixed, w->candidate);
        double far = onto_limits(w, w->candidate, w->current);
        keep_better(w, d, &best, w->current);
        if (far <= SAME) return;
    }
}
