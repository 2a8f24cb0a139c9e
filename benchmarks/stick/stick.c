/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A measuring stick: the speed of a solver for trees of single joints without any of DQIK's other features.
 *
 * Levenberg-Marquardt with an active set for the limits, and random restarts; without pull, poles, preferred bends and
 * reluctance, and without a guarantee to be no worse than the start. It is compiled on the machine that runs it, with
 * all instructions of its processor, and is in no release.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t n, goals, rows;
    const int32_t *parent, *slides;  /* (n) -1 for a root; 1 for a slide */
    const double *axis, *offset;     /* (n, 3) */
    const double *lo, *hi;           /* (n) */
    const int32_t *joint, *turned;   /* (goals) joint of the effector; whether its rotation counts */
    const double *tip;               /* (goals, 3) */
    double tolerance, rotation_tolerance;
    int32_t iterations, restarts;
} stick;

typedef struct {
    double *q, *tried, *m, *p, *e, *j, *a, *y, *d, *best;
    uint8_t *held;
} room;

static void times(double *to, const double *m, const double *v) {
    for (int i = 0; i < 3; i++) to[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

static void cross(double *to, const double *a, const double *b) {
    to[0] = a[1] * b[2] - a[2] * b[1], to[1] = a[2] * b[0] - a[0] * b[2], to[2] = a[0] * b[1] - a[1] * b[0];
}

static void forward(const stick *s, room *r, const double *q) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3];
    for (int k = 0; k < s->n; k++) {
        const int up = s->parent[k];
        const double *above = up < 0 ? identity : r->m + 9 * up, *at = up < 0 ? origin : r->p + 3 * up;
        const double *u = s->axis + 3 * k;
        double *m = r->m + 9 * k, *p = r->p + 3 * k, moved[3], arm[3];
        for (int i = 0; i < 3; i++) arm[i] = s->offset[3 * k + i] + (s->slides[k] ? q[k] * u[i] : 0.0);
        times(moved, above, arm);
        for (int i = 0; i < 3; i++) p[i] = at[i] + moved[i];
        if (s->slides[k]) {
            memcpy(m, above, 9 * sizeof(double));
            continue;
        }
        const double c = cos(q[k]), w = sin(q[k]), v = 1.0 - c;
        const double t[9] = {
            c + v * u[0] * u[0],        v * u[0] * u[1] - w * u[2], v * u[0] * u[2] + w * u[1],
            v * u[0] * u[1] + w * u[2], c + v * u[1] * u[1],        v * u[1] * u[2] - w * u[0],
            v * u[0] * u[2] - w * u[1], v * u[1] * u[2] + w * u[0], c + v * u[2] * u[2],
        };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[3 * i + j] = above[3 * i] * t[j] + above[3 * i + 1] * t[3 + j] + above[3 * i + 2] * t[6 + j];
    }
}

/* Rotation vector of a matrix product A B^T. */
static void turn_between(double *v, const double *a, const double *b) {
    double m[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[3 * i + j] = a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
    const double x = m[7] - m[5], y = m[2] - m[6], z = m[3] - m[1], trace = m[0] + m[4] + m[8];
    const double twice = sqrt(x * x + y * y + z * z), angle = atan2(twice, trace - 1.0);
    if (twice > 1e-7 || trace > 0.0) {
        const double factor = twice > 1e-12 ? angle / twice : 0.5;
        v[0] = factor * x, v[1] = factor * y, v[2] = factor * z;
        return;
    }
    int at = m[0] > m[4] ? (m[0] > m[8] ? 0 : 2) : (m[4] > m[8] ? 1 : 2); /* half a turn */
    double length = 0.0;
    for (int i = 0; i < 3; i++) v[i] = m[3 * i + at] + (i == at), length += v[i] * v[i];
    for (int i = 0; i < 3; i++) v[i] *= angle / sqrt(length);
}

/* Errors; returns the sum of their squares. `met`: whether all are within the tolerances. `target` (goals, 12):
 * position, matrix. */
static double errors(const stick *s, room *r, const double *target, double weight, int *met) {
    double sum = 0.0, *e = r->e;
    *met = 1;
    for (int g = 0; g < s->goals; g++, target += 12) {
        const double *m = r->m + 9 * s->joint[g], *p = r->p + 3 * s->joint[g];
        double tip[3], own = 0.0;
        times(tip, m, s->tip + 3 * g);
        for (int i = 0; i < 3; i++) e[i] = target[i] - p[i] - tip[i], own += e[i] * e[i];
        *met &= own <= s->tolerance * s->tolerance, sum += own, e += 3;
        if (!s->turned[g]) continue;
        turn_between(e, target + 3, m);
        own = 0.0;
        for (int i = 0; i < 3; i++) own += e[i] * e[i], e[i] *= weight;
        *met &= own <= s->rotation_tolerance * s->rotation_tolerance, sum += own * weight * weight, e += 3;
    }
    return sum;
}

/* Columns (n, rows). */
static void jacobian(const stick *s, room *r, double weight) {
    memset(r->j, 0, sizeof(double) * (size_t)s->n * (size_t)s->rows);
    for (int g = 0, row = 0; g < s->goals; row += s->turned[g] ? 6 : 3, g++) {
        double end[3], arm[3], u[3];
        times(end, r->m + 9 * s->joint[g], s->tip + 3 * g);
        for (int i = 0; i < 3; i++) end[i] += r->p[3 * s->joint[g] + i];
        for (int k = s->joint[g]; k >= 0; k = s->parent[k]) {
            double *column = r->j + (size_t)k * (size_t)s->rows + row;
            times(u, r->m + 9 * k, s->axis + 3 * k);
            if (s->slides[k]) {
                memcpy(column, u, sizeof u);
                continue;
            }
            for (int i = 0; i < 3; i++) arm[i] = end[i] - r->p[3 * k + i];
            cross(column, u, arm);
            for (int i = 0; s->turned[g] && i < 3; i++) column[3 + i] = u[i] * weight;
        }
    }
}

static void solve(double *a, double *y, int size) {
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i * size + j];
            for (int k = 0; k < j; k++) sum -= a[i * size + k] * a[j * size + k];
            a[i * size + j] = j < i ? sum * a[j * size + j] : 1.0 / sqrt(fmax(sum, 1e-300));
        }
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < i; k++) y[i] -= a[i * size + k] * y[k];
        y[i] *= a[i * size + i];
    }
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++) y[i] -= a[k * size + i] * y[k];
        y[i] *= a[i * size + i];
    }
}

/* d = J^T (J J^T + damping)^-1 e, or (J^T J + damping)^-1 J^T e, over the joints that are not on a limit. */
static void step(const stick *s, room *r, double damping) {
    const int n = s->n, m = s->rows, size = n < m ? n : m;
    memset(r->a, 0, sizeof(double) * (size_t)size * (size_t)size);
    memset(r->y, 0, sizeof(double) * (size_t)size);
    if (n >= m) memcpy(r->y, r->e, sizeof(double) * (size_t)m);
    for (int i = 0; i < size; i++) r->a[i * size + i] = damping;
    for (int k = 0; k < n; k++) {
        const double *c = r->j + (size_t)k * (size_t)m;
        if (r->held[k]) continue;
        if (n >= m) {
            for (int i = 0; i < m; i++)
                if (c[i] != 0.0)
                    for (int j = 0; j <= i; j++) r->a[i * m + j] += c[i] * c[j];
            continue;
        }
        for (int i = 0; i < m; i++) r->y[k] += c[i] * r->e[i];
        for (int l = 0; l <= k; l++)
            for (int i = 0; !r->held[l] && i < m; i++) r->a[k * n + l] += c[i] * r->j[(size_t)l * (size_t)m + (size_t)i];
    }
    solve(r->a, r->y, size);
    for (int k = 0; k < n; k++) {
        const double *c = r->j + (size_t)k * (size_t)m;
        r->d[k] = 0.0;
        for (int i = 0; n >= m && !r->held[k] && i < m; i++) r->d[k] += c[i] * r->y[i];
        if (n < m && !r->held[k]) r->d[k] = r->y[k];
    }
}

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1.0p-53;
}

/* One descent from r->q; returns its cost and adds its steps to `steps`. */
static double attempt(const stick *s, room *r, const double *target, int *steps, int *met) {
    const double weight = fmin(1.0, 3.0 * s->tolerance / s->rotation_tolerance);
    forward(s, r, r->q);
    double cost = errors(s, r, target, weight, met), damping = 0.0;
    int stalled = 0, fresh = 1;
    for (int i = 0; i < s->iterations && !*met && stalled < 3; i++, ++*steps) {
        if (fresh) jacobian(s, r, weight);
        if (i == 0) {
            for (int k = 0; k < s->n * s->rows; k++) damping += r->j[k] * r->j[k];
            damping *= 0.02 / s->rows;
        }
        for (int k = 0; k < s->n; k++) {
            double down = 0.0;
            for (int c = 0; c < s->rows; c++) down += r->j[(size_t)k * (size_t)s->rows + (size_t)c] * r->e[c];
            r->held[k] = (r->q[k] >= s->hi[k] - 1e-9 && down > 0.0) || (r->q[k] <= s->lo[k] + 1e-9 && down < 0.0);
        }
        step(s, r, damping);
        double longest = 0.0;
        for (int k = 0; k < s->n; k++) {
            r->tried[k] = fmin(fmax(r->q[k] + r->d[k], s->lo[k]), s->hi[k]);
            longest = fmax(longest, fabs(r->tried[k] - r->q[k]));
        }
        forward(s, r, r->tried);
        const double after = errors(s, r, target, weight, met);
        fresh = after < cost;
        if (fresh) stalled = after < 0.999 * cost ? 0 : stalled + 1;
        if (fresh) {
            cost = after, damping *= 0.1;
            memcpy(r->q, r->tried, sizeof(double) * (size_t)s->n);
            if (longest < 1e-8) break;
        } else {
            damping *= 10.0, *met = 0;
            if (longest < 1e-6) break;
            forward(s, r, r->q); /* errors at r->q; the Jacobian is kept */
            errors(s, r, target, weight, met);
        }
    }
    return cost;
}

/* Solve `count` targets (count, goals, 12) from `q` (count, n), which is overwritten by the answers; `coherent`: each
 * from the answer before. */
void stick_solve(const stick *s, const double *targets, double *q, int64_t count, int32_t coherent, int32_t *steps) {
    const size_t n = (size_t)s->n, m = (size_t)s->rows, size = n < m ? n : m;
    double *all = calloc(n * (4 + 9 + 3 + m) + 2 * m + size * size + size, sizeof(double)), *at = all;
    uint8_t *held = calloc(n, 1);
    room r = {.held = held};
    r.q = at, at += n, r.tried = at, at += n, r.d = at, at += n, r.best = at, at += n;
    r.m = at, at += 9 * n, r.p = at, at += 3 * n, r.j = at, at += n * m, r.e = at, at += 2 * m;
    r.a = at, at += size * size, r.y = at;
    for (int64_t f = 0; f < count; f++) {
        const double *target = targets + (size_t)f * (size_t)s->goals * 12;
        uint64_t random = 1;
        int met;
        steps[f] = 0;
        memcpy(r.q, coherent && f ? q + (size_t)(f - 1) * n : q + (size_t)f * n, sizeof(double) * n);
        double best = attempt(s, &r, target, steps + f, &met);
        memcpy(r.best, r.q, sizeof(double) * n);
        for (int i = 0; i < s->restarts && !met; i++) {
            for (size_t k = 0; k < n; k++) {
                const double reach = fmin(s->hi[k] - s->lo[k], 6.283185307179586), middle = 0.5 * (s->lo[k] + s->hi[k]);
                r.q[k] = middle + reach * (uniform(&random) - 0.5);
            }
            const double cost = attempt(s, &r, target, steps + f, &met);
            if (cost < best || met) best = cost, memcpy(r.best, r.q, sizeof(double) * n);
        }
        memcpy(q + (size_t)f * n, r.best, sizeof(double) * n);
    }
    free(all), free(held);
}
