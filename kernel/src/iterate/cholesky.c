/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cholesky factors of symmetric positive definite matrices, and inverses of small ones. */
#include "cholesky.h"

#include "../rotation.h"

/* Four numbers, on which compilers do two or four operations at once, each as on its own. */
typedef double four __attribute__((vector_size(32)));

/* Aligned, so that the time of its inner loop does not depend on the size of other functions. */
__attribute__((aligned(64))) void factor(double *a, int size, const int32_t *first) {
    const int next = stride(size);
    for (int i = 0; i < size; i++) {
        double *row = a + (size_t)i * (size_t)next;
        const int from = first ? first[i] : 0;
        for (int j = i / 4 * 4; j < size; j += 4) {
            four block, more;
            memcpy(&block, row + j, sizeof block);
            for (int k = from; k < i; k++) {
                const double *above = a + (size_t)k * (size_t)next;
                memcpy(&more, above + j, sizeof more);
                block -= above[i] * more;
            }
            memcpy(row + j, &block, sizeof block);
        }
        const double inverse = 1.0 / sqrt(most(row[i], LEAST));
        for (int j = i + 1; j < size; j++) row[j] *= inverse;
        row[i] = inverse; /* the diagonal stores its inverse */
    }
}

void solve_factored(const double *a, double *y, int size, const int32_t *first) {
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

void invert(const double *a, int size, double *to) {
    if (size == 1) {
        to[0] = 1.0 / a[0];
        return;
    }
    if (size == 2) {
        const double det = a[0] * a[3] - a[1] * a[2];
        to[0] = a[3] / det, to[1] = -a[1] / det, to[2] = -a[2] / det, to[3] = a[0] / det;
        return;
    }
    double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8], c2 = a[3] * a[7] - a[4] * a[6];
    double det = a[0] * c0 + a[1] * c1 + a[2] * c2;
    to[0] = c0 / det, to[1] = (a[2] * a[7] - a[1] * a[8]) / det, to[2] = (a[1] * a[5] - a[2] * a[4]) / det;
    to[3] = c1 / det, to[4] = (a[0] * a[8] - a[2] * a[6]) / det, to[5] = (a[2] * a[3] - a[0] * a[5]) / det;
    to[6] = c2 / det, to[7] = (a[1] * a[6] - a[0] * a[7]) / det, to[8] = (a[0] * a[4] - a[1] * a[3]) / det;
}
