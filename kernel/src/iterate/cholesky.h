/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symmetric positive definite systems. */
#ifndef DQIK_CHOLESKY_H
#define DQIK_CHOLESKY_H

#include <stdint.h>

/* Doubles from one row of a matrix to the next: a multiple of four, so that compilers vectorise a block of a row. */
static inline int stride(int size) { return (size + 3) / 4 * 4; }

/* Replace the upper half of a matrix (row by row) by its factor. Entries above the `first` row of a column are 0; NULL
 * if all may be non-zero. */
void factor(double *a, int size, const int32_t *first);
/* Solve with a factor, in place: `y` is the right-hand side, then the solution. */
void solve_factored(const double *a, double *y, int size, const int32_t *first);
/* Inverse of a matrix of size 1, 2 or 3. */
void invert(const double *a, int size, double *to);

#endif
