/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradient and Hessian of the squared accelerations of joints; see solvers/clip/smoothness.py. */
#include "../clip_contract.h"
#include "../rotation.h"

/* How an acceleration changes with the degrees of freedom of its first, second and third frame: (3, 9), one after the
 * other. `left` NULL: of corrections. */
static void parts_of(double *parts, const double *rates, const double *left, int64_t away) {
    const double *first = rates, *second = rates + 9 * away, *third = second + 9 * away;
    if (!left) {
        for (int i = 0; i < 9; i++) parts[i] = first[i], parts[9 + i] = -2.0 * second[i], parts[18 + i] = third[i];
        return;
    }
    const double *next = left + 9 * away;
    double both[9], right[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            both[3 * i + j] = -(left[3 * j + i] + next[3 * i + j]);
            right[3 * i + j] = next[3 * j + i];
        }
    }
    matrix_product(parts, left, first);
    matrix_product(parts + 9, both, second);
    matrix_product(parts + 18, right, third);
}

/* to += w A^T B. */
static void add_product(double *to, double weight, const double *a, const double *b) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to[3 * i + j] += weight * (a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j]);
}

void dqik_clip_smoothness(int64_t frames, int64_t joints, int64_t begin, int64_t end, double weight,
                          const double *accelerations, const double *rates, const double *left, double *gradient,
                          double *diagonal, double *first, double *second) {
    for (int64_t f = begin; f < end; f++) {
        for (int64_t k = 0; k < joints; k++) {
            const int64_t here = f * joints + k;
            for (int place = 0; place < 3; place++) { /* of the frame in an acceleration */
                const int64_t i = f - place, at = i * joints + k;
                double parts[27], felt[3];
                if (i < 0 || i + 2 >= frames) continue;
                parts_of(parts, rates + 9 * at, left ? left + 9 * at : NULL, joints);
                const double *own = parts + 9 * place;
                transposed_times3(felt, own, accelerations + 3 * at);
                for (int c = 0; c < 3; c++) gradient[3 * here + c] += weight * felt[c];
                add_product(diagonal + 9 * here, weight, own, own);
                if (place < 2) add_product(first + 9 * here, weight, own + 9, own);
                if (place < 1) add_product(second + 9 * here, weight, own + 18, own);
            }
        }
    }
}
