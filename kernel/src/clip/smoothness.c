/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cost, gradient and Hessian of how smoothly joints move, and how near they stay to another motion; see
 * solvers/clip/smoothness.py. */
#include "../contract.h"
#include "../internal.h"

/* What the terms of a joint need of one frame: the correction to the other motion, or the step from the frame before. */
typedef struct {
    double v[3];
    double left[9];  /* `J_l^-1` of the step */
    double rates[9]; /* turns by the degrees of freedom, or of corrections */
} moment;

/* (F, n, n), (F - 1, n, n), (F - 2, n, n) blocks of a band. */
typedef struct {
    double *diagonal, *first, *second;
} blocks;

/* Where the state, or the other motion, is at a joint in one frame. */
typedef struct {
    const double *q, *x;
} place;

static place place_of(const dqik_stage *s, const double *rotations, const double *x, int64_t joints, int64_t frame, int b) {
    const place p = {rotations + 4 * (frame * joints + s->block_joint[b]), x + frame * s->n + s->block_start[b]};
    return p;
}

/* The rotation vector from one place of a joint to another; a scaled vector for slides. */
static void step_of(double *v, const dqik_stage *s, double scale, int b, place from, place to) {
    if (s->block_kind[b] == DQIK_SLIDE) {
        for (int i = 0; i < 3; i++) v[i] = scale * (s->basis[9 * b + 3 * i] * (to.x[0] - from.x[0]));
        return;
    }
    double turn[4];
    q_relative(turn, from.q, to.q);
    q_log(v, turn);
}

/* The inverse of `left_jacobian` of solvers/algebra/quaternion.py. */
static void left_inverse(double *j, const double *v) {
    const double squared = dot3(v, v), half = 0.5 * sqrt(squared);
    const double c = half < 0.5e-3 ? 1.0 / 12.0 + squared / 720.0 : (1.0 - half / tan(half)) / (4.0 * half * half);
    const double x = v[0], y = v[1], z = v[2];
    j[0] = 1.0 - c * (y * y + z * z), j[1] = 0.5 * z + c * x * y, j[2] = -0.5 * y + c * x * z;
    j[3] = -0.5 * z + c * x * y, j[4] = 1.0 - c * (x * x + z * z), j[5] = 0.5 * x + c * y * z;
    j[6] = 0.5 * y + c * x * z, j[7] = -0.5 * x + c * y * z, j[8] = 1.0 - c * (x * x + y * y);
}

static void left_inverse_of(double *j, const dqik_stage *s, int b, const double *v) {
    const double none[3] = {0.0, 0.0, 0.0};
    left_inverse(j, s->block_kind[b] == DQIK_SLIDE ? none : v);
}

static void transposed_product(double *to, const double *a, const double *b) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) to[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
}

/* How an acceleration changes with the degrees of freedom of its three frames: (3, 9), one after the other. */
static void parts_of(double *parts, const moment *before, const moment *here, const moment *after, int corrects) {
    double both[9];
    if (corrects) {
        for (int i = 0; i < 9; i++)
            parts[i] = before->rates[i], parts[9 + i] = -2.0 * here->rates[i], parts[18 + i] = after->rates[i];
        return;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) both[3 * i + j] = -(here->left[3 * j + i] + after->left[3 * i + j]);
    matrix_product(parts, here->left, before->rates);
    matrix_product(parts + 9, both, here->rates);
    transposed_product(parts + 18, after->left, after->rates);
}

/* Add `weight` times A^T B to rows of n numbers, and A^T v to a gradient. */
static void add_product(double *to, int n, int size, double weight, const double *a, const double *b) {
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            to[i * n + j] += weight * (a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j]);
}

static void add_transposed(double *to, int size, double weight, const double *a, const double *v) {
    for (int i = 0; i < size; i++) to[i] += weight * (a[i] * v[0] + a[3 + i] * v[1] + a[6 + i] * v[2]);
}

/* The cost of one joint in all frames; adds gradient and Hessian unless they are NULL. */
static double joint_terms(const dqik_clip_motion *m, const dqik_stage *s, double scale, int64_t joints, int b,
                          double *gradient, const blocks *to) {
    const int size = block_size(s, b), at = s->block_start[b], n = s->n;
    const int64_t square = (int64_t)n * n, own = (int64_t)at * n + at; /* the joint's place in a block */
    const double far = m->far * m->far, near = m->near[b];
    moment moments[3];
    double cost = 0.0;
    for (int64_t f = 0; f < m->frames; f++) {
        moment *here = moments + f % 3, *last = moments + (f + 2) % 3, *first = moments + (f + 1) % 3;
        const place now = place_of(s, m->rotations, m->x, joints, f, b);
        double c[3];
        step_of(c, s, scale, b, place_of(s, m->base_rotations, m->base_x, joints, f, b), now);
        cost += 0.5 * near * far * log1p(dot3(c, c) / far);
        if (m->corrects)
            copy3(here->v, c);
        else if (f)
            step_of(here->v, s, scale, b, place_of(s, m->rotations, m->x, joints, f - 1, b), now);
        if (gradient) {
            const double share = near / (1.0 + dot3(c, c) / far);
            block_rates(s, b, now.x, here->rates);
            for (int i = 0; s->block_kind[b] == DQIK_SLIDE && i < 9; i++) here->rates[i] *= scale;
            if (m->corrects) {
                double left[9], rates[9];
                left_inverse_of(left, s, b, c);
                transposed_product(rates, left, here->rates);
                memcpy(here->rates, rates, sizeof rates);
            } else if (f) {
                left_inverse_of(here->left, s, b, here->v);
            }
            add_transposed(gradient + f * n + at, size, share, here->rates, c);
            add_product(to->diagonal + f * square + own, n, size, share, here->rates, here->rates);
        }
        if (f < 2) continue;
        double a[3], parts[27];
        for (int i = 0; i < 3; i++)
            a[i] = m->corrects ? here->v[i] - 2.0 * last->v[i] + first->v[i] : here->v[i] - last->v[i];
        cost += 0.5 * m->weight * dot3(a, a);
        if (!gradient) continue;
        parts_of(parts, first, last, here, m->corrects);
        for (int i = 0; i < 3; i++) {
            const int64_t frame = f - 2 + i;
            add_transposed(gradient + frame * n + at, size, m->weight, parts + 9 * i, a);
            add_product(to->diagonal + frame * square + own, n, size, m->weight, parts + 9 * i, parts + 9 * i);
            if (i)
                add_product(to->first + (frame - 1) * square + own, n, size, m->weight, parts + 9 * i, parts + 9 * (i - 1));
        }
        add_product(to->second + (f - 2) * square + own, n, size, m->weight, parts + 18, parts);
    }
    return cost;
}

void dqik_clip_smoothness(const dqik_problem *problem, const dqik_clip_motion *motion, int64_t begin, int64_t end,
                          double *costs, double *gradient, double *diagonal, double *first, double *second) {
    const blocks to = {diagonal, first, second};
    const double scale = 1.0 / problem->skeleton.length;
    for (int64_t b = begin; b < end; b++)
        costs[b] = joint_terms(motion, problem->stage, scale, problem->skeleton.joints, (int)b, gradient, &to);
}
