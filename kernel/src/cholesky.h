/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symmetric positive definite systems. */
#ifndef DQIK_CHOLESKY_H
#define DQIK_CHOLESKY_H

#include <stdint.h>

/* Numbers from one row of a matrix to the next: blocks of four, which compilers know how to do at once. */
static inline int stride(int size) { return (size + 3) / 4 * 4; }

/* Replace the upper half of a matrix, row by row, by its factor. A column holds nothing above its `first` row (NULL:
 * it may). */
void factor(double *a, int size, const int32_t *first);
/* Solve with a factor: `y` goes in and comes out. */
void solve_factored(const double *a, double *y, int size, const int32_t *first);
/* Inverse of a matrix of size 1 or 3. */
void invert(const double *a, int size, double *to);

#endif
