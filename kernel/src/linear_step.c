/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One iteration's linear problem and the steps that solve it inside the limits; see solvers/iterate/linear_step.py, pgs.py,
 * dls.py.
 *
 *     minimise  1/2 |e - J d|^2 + g . d + 1/2 s d^T D d      with x + d inside the limits
 *
 * The Jacobian is kept by columns: a degree of freedom fills the rows of the goals that it serves and no others.
 */
#include "internal.h"

#define SAME 1e-9
#define LEAST_WAY 1e-10
#define LEAST_OF_STEP 1e-3
#define NEARLY_SINGULAR 1e-6
#define PGS_ROUNDS 3
#define PGS_SWEEPS 2
#define DLS_ROUNDS 8

#define RUNS(s, k) for (int r_ = (s)->run_start[k]; r_ < (s)->run_start[(k) + 1]; r_++)
#define ROWS(s, i) for (int i = (s)->run[2 * r_]; i < (s)->run[2 * r_ + 1]; i++)

static const double *column(const work *w, int k) { return w->jacobian + (size_t)k * (size_t)w->all; }

static double column_dot(const work *w, int k, const double *c, const double *rows) {
    double sum = 0.0;
    RUNS(w->s, k) ROWS(w->s, i) sum += c[i] * rows[i];
    return sum;
}

static void add_column(const work *w, int k, const double *c, double factor, double *rows) {
    RUNS(w->s, k) ROWS(w->s, i) rows[i] += c[i] * factor;
}

/* left = e - J d */
static void residual(const work *w, const double *d, double *left) {
    memcpy(left, w->now.e, sizeof(double) * (size_t)w->all);
    if (d)
        for (int k = 0; k < w->n; k++)
            if (d[k] != 0.0) add_column(w, k, column(w, k), -d[k], left);
}

double value(work *w, const double *d) {
    double sum = 0.0, far = 0.0, slope = 0.0;
    residual(w, d, w->left);
    for (int i = 0; i < w->all; i++) sum += w->left[i] * w->left[i];
    for (int k = 0; k < w->n; k++) far += w->s->reluctance[k] * d[k] * d[k];
    if (w->pull > 0.0)
        for (int k = 0; k < w->n; k++) slope += w->gradient[k] * d[k];
    return 0.5 * sum + 0.5 * w->damping * far + slope;
}

double decrease(work *w, const double *d) {
    double gained = 0.0;
    if (w->solved_by_rows)
        for (int i = 0; i < w->all; i++) w->left[i] = w->damping * w->rhs[i];
    else
        residual(w, d, w->left); /* J d = e - left */
    for (int i = 0; i < w->all; i++) {
        double moved = w->now.e[i] - w->left[i];
        gained += moved * (w->now.e[i] - 0.5 * moved);
    }
    if (w->pull > 0.0)
        for (int k = 0; k < w->n; k++) gained -= w->gradient[k] * d[k];
    return gained;
}

static void descent(work *w, const double *d, double *down) {
    residual(w, d, w->left);
    for (int k = 0; k < w->n; k++) {
        down[k] = column_dot(w, k, column(w, k), w->left) - w->damping * w->s->reluctance[k] * d[k];
        if (w->pull > 0.0) down[k] -= w->gradient[k];
    }
}

static int block_size(const dqik_stage *s, int b) {
    return s->block_kind[b] == DQIK_HINGE || s->block_kind[b] == DQIK_SLIDE ? 1 : 3;
}

/* Numbers from one row of the matrix to the next: blocks of four, which compilers know how to do at once. */
static int stride(int size) { return (size + 3) / 4 * 4; }

/* Solve a symmetric positive definite system of which `a` has the upper half, row by row (Cholesky), and leave its factor
 * there. A column holds nothing above its `first` row (NULL: no such knowledge); what is left of the diagonal is 0. */
static void factor(double *a, int size, const int32_t *first) {
    const int next = stride(size);
    for (int i = 0; i < size; i++) {
        double *row = a + (size_t)i * (size_t)next;
        const int from = first ? first[i] : 0;
        for (int j = i / 4 * 4; j < size; j += 4) {
            double block[4] = {row[j], row[j + 1], row[j + 2], row[j + 3]};
            for (int k = from; k < i; k++) {
                const double *above = a + (size_t)k * (size_t)next, share = above[i];
                for (int c = 0; c < 4; c++) block[c] -= share * above[j + c];
            }
            memcpy(row + j, block, sizeof block);
        }
        const double inverse = 1.0 / sqrt(most(row[i], LEAST));
        for (int j = i + 1; j < size; j++) row[j] *= inverse;
        row[i] = inverse; /* the diagonal keeps its inverse */
    }
}

/* Solve with a factor: `y` goes in and comes out. */
static void solve_factored(const double *a, double *y, int size, const int32_t *first) {
    const int next = stride(size);
    for (int i = 0; i < size; i++) {
        double sum = y[i];
        for (int k = first ? first[i] : 0; k < i; k++) sum -= a[(size_t)k * (size_t)next + (size_t)i] * y[k];
        y[i] = sum * a[(size_t)i * (size_t)next + (size_t)i];
    }
    for (int i = size - 1; i >= 0; i--) {
        const double *row = a + (size_t)i * (size_t)next;
        double sum[2] = {y[i], 0.0};
        int j = i + 1;
        for (; j + 2 <= size; j += 2) sum[0] -= row[j] * y[j], sum[1] -= row[j + 1] * y[j + 1];
        if (j < size) sum[0] -= row[j] * y[j];
        y[i] = (sum[0] + sum[1]) * row[i];
    }
}

/* (J_F^T J_F + s D) d = J_F^T (e - J fixed) - g, tips before what carries them, so that most of the matrix stays
 * empty. The answer is left in `w->trial`. */
static void solve_by_freedom(work *w, const uint8_t *free, const double *columns) {
    const dqik_stage *s = w->s;
    const int all = w->all, n = w->n, next = stride(n);
    double *y = w->trial, *more = w->again, largest = 0.0;
    memset(w->matrix, 0, sizeof(double) * (size_t)n * (size_t)next);
    for (int k = 0; k < n; k++) {
        const double *c = columns + (size_t)k * (size_t)all;
        const int a = n - 1 - k;
        double *row = w->matrix + (size_t)a * (size_t)next;
        row[a] = w->damping * s->reluctance[k], y[a] = 0.0;
        if (free && !free[k]) continue;
        const double square_of = column_dot(w, k, c, c);
        largest = most(largest, square_of);
        row[a] += square_of;
        y[a] = column_dot(w, k, c, w->rhs);
        if (w->pull > 0.0) y[a] -= w->pulled[k] * w->damping;
        for (int i = s->partner_start[k]; i < s->partner_start[k + 1]; i++) {
            const int other = s->partner[i];
            if (!free || free[other])
                row[n - 1 - other] = column_dot(w, k, c, columns + (size_t)other * (size_t)all);
        }
    }
    factor(w->matrix, n, s->first_freedom);
    solve_factored(w->matrix, y, n, s->first_freedom);
    if (w->damping > NEARLY_SINGULAR * largest) return;
    /* J^T J has lost the digits that decide where J leaves the choice to s: once more with what J says is left */
    memcpy(w->left, w->rhs, sizeof(double) * (size_t)all);
    for (int k = 0; k < n; k++)
        if (!free || free[k]) add_column(w, k, columns + (size_t)k * (size_t)all, -y[n - 1 - k], w->left);
    for (int k = 0; k < n; k++) {
        const int a = n - 1 - k;
        more[a] = 0.0;
        if (free && !free[k]) continue;
        more[a] = column_dot(w, k, columns + (size_t)k * (size_t)all, w->left) - w->damping * s->reluctance[k] * y[a];
        if (w->pull > 0.0) more[a] -= w->pulled[k] * w->damping;
    }
    solve_factored(w->matrix, more, n, s->first_freedom);
    for (int a = 0; a < n; a++) y[a] += more[a];
}

/* The upper half of `matrix` gets a column's share of J_F D^-1 J_F^T, and `rhs` of J_F D^-1 g / s. */
static void add_outer(const work *w, int k, const double *c, double *matrix, int next) {
    const dqik_stage *s = w->s;
    const int end = s->run_start[k + 1];
    const double light = 1.0 / s->reluctance[k], pulled = w->pulled[k];
    for (int from = s->run_start[k]; from < end; from++)
        for (int i = s->run[2 * from]; i < s->run[2 * from + 1]; i++) {
            double *row = matrix + (size_t)i * (size_t)next;
            const double factor = c[i] * light;
            for (int to = from; to < end; to++)
                for (int j = to == from ? i : s->run[2 * to]; j < s->run[2 * to + 1]; j++) row[j] += factor * c[j];
            w->rhs[i] += factor * pulled;
        }
}

/* The same of the three columns of a ball joint, which fill the same rows. */
static void add_outer_of_ball(const work *w, int k, const double *c, const uint8_t *free, double *matrix, int next) {
    const dqik_stage *s = w->s;
    const int end = s->run_start[k + 1];
    const double *b = c + w->all, *a = b + w->all, *pulled = w->pulled + k;
    double light[3];
    for (int i = 0; i < 3; i++) light[i] = !free || free[k + i] ? 1.0 / s->reluctance[k + i] : 0.0;
    for (int from = s->run_start[k]; from < end; from++)
        for (int i = s->run[2 * from]; i < s->run[2 * from + 1]; i++) {
            double *row = matrix + (size_t)i * (size_t)next;
            const double x = c[i] * light[0], y = b[i] * light[1], z = a[i] * light[2];
            for (int to = from; to < end; to++)
                for (int j = to == from ? i : s->run[2 * to]; j < s->run[2 * to + 1]; j++)
                    row[j] += x * c[j] + y * b[j] + z * a[j];
            w->rhs[i] += x * pulled[0] + y * pulled[1] + z * pulled[2];
        }
}

/* (J_F D^-1 J_F^T + s I) y = e - J fixed + J_F D^-1 g / s. The answer is left in `w->rhs`. */
static void solve_by_rows(work *w, const uint8_t *free, const double *columns) {
    const dqik_stage *s = w->s;
    const int all = w->all, next = stride(all);
    memset(w->matrix, 0, sizeof(double) * (size_t)all * (size_t)next);
    for (int i = 0; i < all; i++) w->matrix[i * next + i] = w->damping;
    if (!(w->pull > 0.0)) memset(w->pulled, 0, sizeof(double) * (size_t)w->n);
    for (int b = 0; b < s->blocks; b++) {
        const int at = s->block_start[b], size = block_size(s, b);
        const double *c = columns + (size_t)at * (size_t)all;
        if (size == 3)
            add_outer_of_ball(w, at, c, free, w->matrix, next);
        else if (!free || free[at])
            add_outer(w, at, c, w->matrix, next);
    }
    factor(w->matrix, all, s->first);
    solve_factored(w->matrix, w->rhs, all, s->first);
}

/* The exact minimiser over the free directions, solved in the space of the error rows or, where there are fewer, in
 * that of the degrees of freedom. */
void free_step(work *w, const uint8_t *free, const double *normals, const double *fixed, double *step) {
    const dqik_stage *s = w->s;
    const int all = w->all, n = w->n;
    const double *columns = w->jacobian;
    int pulls = w->pull > 0.0, curved = 0;
    for (int i = 0; normals && i < 2 * s->pairs; i++) curved |= normals[i] != 0.0;
    if (pulls)
        for (int k = 0; k < n; k++) w->pulled[k] = free && !free[k] ? 0.0 : w->gradient[k] / w->damping;
    if (curved) {
        memcpy(w->bent, w->jacobian, sizeof(double) * (size_t)n * (size_t)all);
        for (int i = 0; i < s->pairs; i++) {
            const double a = normals[2 * i], b = normals[2 * i + 1];
            if (a == 0.0 && b == 0.0) continue;
            double *x = w->bent + (size_t)s->pair[i] * (size_t)all, *z = x + all, *pull = w->pulled + s->pair[i];
            for (int r = 0; r < all; r++) {
                double across = x[r] * a + z[r] * b;
                x[r] -= a * across, z[r] -= b * across;
            }
            if (pulls) {
                double across = pull[0] * a + pull[1] * b;
                pull[0] -= a * across, pull[1] -= b * across;
            }
        }
        columns = w->bent;
    }
    residual(w, fixed, w->rhs);
    if (n < all) {
        solve_by_freedom(w, free, columns);
        for (int k = 0; k < n; k++) step[k] = fixed ? w->trial[n - 1 - k] + fixed[k] : w->trial[n - 1 - k];
        return;
    }
    solve_by_rows(w, free, columns);
    for (int k = 0; k < n; k++) {
        double along = 0.0;
        if (!free || free[k]) {
            along = column_dot(w, k, columns + (size_t)k * (size_t)all, w->rhs);
            if (pulls) along -= w->pulled[k];
            along /= s->reluctance[k];
        }
        step[k] = fixed ? along + fixed[k] : along;
    }
}

/* to = project(x + d) - x; returns how far that is from d. */
static double onto_limits(const work *w, const double *d, double *to) {
    const double *x = w->now.x;
    double far = 0.0;
    for (int k = 0; k < w->n; k++) to[k] = x[k] + d[k];
    project(w->s, to);
    for (int k = 0; k < w->n; k++) {
        to[k] -= x[k];
        far = most(far, fabs(to[k] - d[k]));
    }
    return far;
}

/* What a step leaves free: coordinates off their bounds or pulled inward, tangents of active ellipses. */
static void active_set(work *w, const double *d) {
    const dqik_stage *s = w->s;
    descent(w, d, w->down);
    for (int k = 0; k < w->n; k++) {
        double x = w->now.x[k] + d[k], down = w->down[k];
        int held = (x >= s->hi[k] - SAME && down > 0.0) || (x <= s->lo[k] + SAME && down < 0.0);
        w->free[k] = w->opened[k] && !held;
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

/* Inverse of a symmetric positive definite matrix of size 1 or 3. */
static void invert(const double *a, int size, double *to) {
    if (size == 1) {
        to[0] = 1.0 / a[0];
        return;
    }
    double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8], c2 = a[3] * a[7] - a[4] * a[6];
    double det = a[0] * c0 + a[1] * c1 + a[2] * c2;
    to[0] = c0 / det, to[1] = (a[2] * a[7] - a[1] * a[8]) / det, to[2] = (a[1] * a[5] - a[2] * a[4]) / det;
    to[3] = c1 / det, to[4] = (a[0] * a[8] - a[2] * a[6]) / det, to[5] = (a[2] * a[3] - a[0] * a[5]) / det;
    to[6] = c2 / det, to[7] = (a[1] * a[6] - a[0] * a[7]) / det, to[8] = (a[0] * a[4] - a[1] * a[3]) / det;
}

static void block_inverses(work *w) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        int at = s->block_start[b], size = block_size(s, b);
        double a[9];
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++)
                a[size * i + j] = column_dot(w, at + i, column(w, at + i), column(w, at + j)) +
                                  (i == j ? w->damping * s->reluctance[at + i] : 0.0);
        invert(a, size, w->inverses + 9 * b);
    }
}

/* Block Gauss-Seidel sweeps over the joints, each projected on its limits as it is updated (Kenwright eq. 28-31). */
static void sweeps(work *w, double *d) {
    const dqik_stage *s = w->s;
    residual(w, d, w->rhs); /* in residual form: J^T J is never formed */
    for (int sweep = 0; sweep < PGS_SWEEPS; sweep++)
        for (int b = 0; b < s->blocks; b++) {
            int at = s->block_start[b], size = block_size(s, b);
            const double *inverse = w->inverses + 9 * b, *x = w->now.x + at;
            double down[3], wanted[3];
            for (int i = 0; i < size; i++) {
                int k = at + i;
                down[i] = column_dot(w, k, column(w, k), w->rhs) - w->damping * s->reluctance[k] * d[k];
                if (w->pull > 0.0) down[i] -= w->gradient[k];
            }
            for (int i = 0; i < size; i++) {
                double sum = d[at + i];
                for (int j = 0; j < size; j++) sum += inverse[size * i + j] * down[j];
                wanted[i] = x[i] + sum;
            }
            project_block(s, b, wanted);
            for (int i = 0; i < size; i++) {
                double change = wanted[i] - x[i] - d[at + i];
                if (change != 0.0) add_column(w, at + i, column(w, at + i), -change, w->rhs);
                d[at + i] += change;
            }
        }
}

/* Keep in `best` the better of it and `step`. */
static void keep_better(work *w, double *best, double *best_value, const double *step) {
    double other = value(w, step);
    if (other < *best_value) {
        memcpy(best, step, sizeof(double) * (size_t)w->n);
        *best_value = other;
    }
}

/* Damped least squares; what a step carries past a limit is put on it, and the rest is solved again. */
void dls_step(work *w, double *d) {
    const dqik_stage *s = w->s;
    w->solved_by_rows = !s->limited && w->n >= w->all;
    if (!s->limited) {
        free_step(w, NULL, NULL, NULL, d);
        return;
    }
    memset(w->normals, 0, sizeof(double) * 2 * (size_t)s->pairs);
    memset(w->fixed, 0, sizeof(double) * (size_t)w->n);
    for (int k = 0; k < w->n; k++) w->free[k] = s->hi[k] > s->lo[k];
    for (int round = 0; round < DLS_ROUNDS; round++) {
        free_step(w, w->free, w->normals, w->fixed, w->candidate);
        if (onto_limits(w, w->candidate, d) <= SAME) return;
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
}

/* Whether no step inside the limits is better by more than a trifle: the projection takes back whatever goes further
 * down. */
static int is_least(work *w, const double *d) {
    double curved = w->damping, longest = 0.0;
    for (int k = 0; k < w->n; k++) longest = most(longest, fabs(d[k]));
    const double enough = most(LEAST_WAY, LEAST_OF_STEP * longest);
    for (int k = 0; k < w->n; k++) curved += column_dot(w, k, column(w, k), column(w, k));
    descent(w, d, w->down);
    for (int k = 0; k < w->n; k++) w->trial[k] = w->now.x[k] + d[k] + w->down[k] / curved;
    project(w->s, w->trial);
    for (int k = 0; k < w->n; k++)
        if (fabs(w->trial[k] - (w->now.x[k] + d[k])) >= enough) return 0;
    return 1;
}

/* Projected Gauss-Seidel with subspace minimisation (Silcowitz, Niebe & Erleben 2010), from an active set's step. */
void pgs_step(work *w, double *d) {
    const dqik_stage *s = w->s;
    dls_step(w, d);
    if (!s->limited || is_least(w, d)) return;
    for (int k = 0; k < w->n; k++) w->opened[k] = s->hi[k] > s->lo[k];
    double best = value(w, d);
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
