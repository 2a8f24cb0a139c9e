/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small networks of the natural pose: the mean of a linear map and of two layers of SiLU; see
 * solvers/figure/weights.py. */
#include "figure.h"

/* to += a row vector x (n) times a matrix (n, m), four rows at a time, added in their order. */
static void add_product(double *restrict to, const double *restrict x, const float *restrict matrix, int n, int m) {
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        const float *a = matrix + m * i, *b = a + m, *c = b + m, *d = c + m;
        const double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
#pragma clang loop vectorize(enable)
        for (int j = 0; j < m; j++) to[j] = to[j] + x0 * a[j] + x1 * b[j] + x2 * c[j] + x3 * d[j];
    }
    for (; i < n; i++)
        for (int j = 0; j < m; j++) to[j] += x[i] * matrix[m * i + j];
}

void network_answer(const dqik_network *n, double clip, double *inputs, double *hidden, double *outputs) {
    double *first = hidden, *second = hidden + n->first;
    for (int i = 0; i < n->inputs; i++) inputs[i] = clamp(inputs[i] * n->scale[i] + n->shift[i], -clip, clip);
    memcpy(first, n->first_bias, sizeof(double) * (size_t)n->first);
    add_product(first, inputs, n->first_weight, n->inputs, n->first);
    for (int i = 0; i < n->first; i++) first[i] /= 1.0 + exp(-first[i]);
    memcpy(second, n->second_bias, sizeof(double) * (size_t)n->second);
    add_product(second, first, n->second_weight, n->first, n->second);
    for (int i = 0; i < n->second; i++) second[i] /= 1.0 + exp(-second[i]);
    memcpy(outputs, n->last_bias, sizeof(double) * (size_t)n->outputs);
    add_product(outputs, second, n->last_weight, n->second, n->outputs);
    add_product(outputs, inputs, n->last_weight + n->second * n->outputs, n->inputs, n->outputs);
}
