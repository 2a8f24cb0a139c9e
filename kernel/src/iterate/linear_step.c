/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One iteration's linear problem and its exact solution over free directions; see solvers/iterate/linear_step.py.
 *
 *     minimise  1/2 |e - J d|^2 + g . d + 1/2 s d^T D d      with x + d inside the limits
 *
 * The Jacobian is stored by columns: a degree of freedom fills only the rows of the goals whose chains it is in.
 */
#include "linear_step.h"

#include "cholesky.h"

void residual(const work *w, const double *d, double *left) {
    memcpy(left, w->now.e, sizeof(double) * (size_t)w->all);
    if (d)
        for (int k = 0; k < w->n; k++)
            if (d[k] != 0.0) add_column(w, k, column(w, k), -d[k], left);
}

double value(work *w, const double *d) {
    double sum = 0.0, far = 0.0, slope = 0.0;
    residual(w, d, w->left);
    for (int i = 0; i < w->all; i++) sum += w->left[i] * w->left[i];
    for (int k = 0; k < w->n; k++) far += w->reluctance[k] * d[k] * d[k];
    if (w->pull > 0.0)
        for (int k = 0; k < w->n; k++) slope += w->gradient[k] * d[k];
    return 0.5 * sum + 0.5 * w->damping * far + slope;
}

double decrease(work *w, const double *d) {
    double gained = 0.0;
    if (w->solved_by_rows)
        for (int i = 0; i < w->all; i++) w->left[i] = w->row_damping * w->rhs[i];
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

/* The negative gradient of the objective at `d`. */
void descent(work *w, const double *d, double *down) {
    residual(w, d, w->left);
    for (int k = 0; k < w->n; k++) {
        down[k] = column_dot(w, k, column(w, k), w->left) - w->damping * w->reluctance[k] * d[k];
        if (w->pull > 0.0) down[k] -= w->gradient[k];
    }
}

/* Solve (J_F^T J_F + s D) d = J_F^T (e - J fixed) - g, in the order from tips to roots, so that most of the matrix
 * stays empty. The solution is in `w->trial`. */
static void solve_by_freedom(work *w, const uint8_t *free, const double *columns) {
    const dqik_stage *s = w->s;
    const int all = w->all, n = w->n, next = stride(n);
    double *y = w->trial, *more = w->again, *squares = w->down, largest = 0.0, sum = 0.0;
    memset(w->matrix, 0, sizeof(double) * (size_t)n * (size_t)next);
    for (int k = 0; k < n; k++) {
        const double *c = columns + (size_t)k * (size_t)all;
        squares[k] = !free || free[k] ? column_dot(w, k, c, c) : 0.0;
        largest = most(largest, squares[k]), sum += squares[k];
    }
    for (int k = 0; k < n; k++) {
        const double *c = columns + (size_t)k * (size_t)all;
        const int a = n - 1 - k;
        double *row = w->matrix + (size_t)a * (size_t)next;
        row[a] = squares[k] + most(w->damping * w->reluctance[k], SINGULAR * sum), y[a] = 0.0;
        if (free && !free[k]) continue;
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
    /* where J is nearly singular the damping decides, but J^T J has lost its digits: one step of refinement */
    memcpy(w->left, w->rhs, sizeof(double) * (size_t)all);
    for (int k = 0; k < n; k++)
        if (!free || free[k]) add_column(w, k, columns + (size_t)k * (size_t)all, -y[n - 1 - k], w->left);
    for (int k = 0; k < n; k++) {
        const int a = n - 1 - k;
        more[a] = 0.0;
        if (free && !free[k]) continue;
        more[a] = column_dot(w, k, columns + (size_t)k * (size_t)all, w->left) - w->damping * w->reluctance[k] * y[a];
        if (w->pull > 0.0) more[a] -= w->pulled[k] * w->damping;
    }
    solve_factored(w->matrix, more, n, s->first_freedom);
    for (int a = 0; a < n; a++) y[a] += more[a];
}

/* Add a column's share of J_F D^-1 J_F^T to the upper half of `matrix`, and of J_F D^-1 g / s to `rhs`. */
static void add_outer(const work *w, int k, const double *c, double *matrix, int next) {
    const dqik_stage *s = w->s;
    const int end = s->run_start[k + 1];
    const double light = 1.0 / w->reluctance[k], pulled = w->pulled[k];
    for (int from = s->run_start[k]; from < end; from++)
        for (int i = s->run[2 * from]; i < s->run[2 * from + 1]; i++) {
            double *row = matrix + (size_t)i * (size_t)next;
            const double factor = c[i] * light;
            for (int to = from; to < end; to++)
                for (int j = to == from ? i : s->run[2 * to]; j < s->run[2 * to + 1]; j++) row[j] += factor * c[j];
            w->rhs[i] += factor * pulled;
        }
}

/* `add_outer` for the three columns of a ball joint, which fill the same rows. */
static void add_outer_of_ball(const work *w, int k, const double *c, const uint8_t *free, double *matrix, int next) {
    const dqik_stage *s = w->s;
    const int end = s->run_start[k + 1];
    const double *b = c + w->all, *a = b + w->all, *pulled = w->pulled + k;
    double light[3];
    for (int i = 0; i < 3; i++) light[i] = !free || free[k + i] ? 1.0 / w->reluctance[k + i] : 0.0;
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

/* Solve (J_F D^-1 J_F^T + s I) y = e - J fixed + J_F D^-1 g / s. The solution is in `w->rhs`. */
static void solve_by_rows(work *w, const uint8_t *free, const double *columns) {
    const dqik_stage *s = w->s;
    const int all = w->all, next = stride(all);
    memset(w->matrix, 0, sizeof(double) * (size_t)all * (size_t)next);
    if (!(w->pull > 0.0)) memset(w->pulled, 0, sizeof(double) * (size_t)w->n);
    for (int b = 0; b < s->blocks; b++) {
        const int at = s->block_start[b], size = block_size(s, b);
        const double *c = columns + (size_t)at * (size_t)all;
        if (size == 3)
            add_outer_of_ball(w, at, c, free, w->matrix, next);
        else
            for (int k = at; k < at + size; k++, c += all)
                if (!free || free[k]) add_outer(w, k, c, w->matrix, next);
    }
    /* damping that is lost in rounding would leave a singular matrix singular */
    double trace = 0.0;
    for (int i = 0; i < all; i++) trace += w->matrix[i * next + i];
    w->row_damping = most(w->damping, ROUNDING * trace);
    for (int i = 0; i < all; i++) w->matrix[i * next + i] += w->row_damping;
    factor(w->matrix, all, s->first);
    solve_factored(w->matrix, w->rhs, all, s->first);
}

/* The exact minimiser over the free directions, solved in the space of the error rows or, if there are fewer degrees of
 * freedom, in theirs. */
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
    if (by_freedom(w)) {
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
            along /= w->reluctance[k];
        }
        step[k] = fixed ? along + fixed[k] : along;
    }
}

/* to = project(x + d) - x; returns its largest difference from d. */
double onto_limits(const work *w, const double *d, double *to) {
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
