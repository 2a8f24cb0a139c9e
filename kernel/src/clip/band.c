/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block Cholesky in a band: each frame's unknowns meet those of two frames before and after; see solvers/clip/banded.py.
 *
 * H = U^T U. A frame's rows of U are its own block (upper half) and the blocks of the two frames after it, side by side:
 * three tiles of columns, each as wide as a block with its rows padded to a multiple of TILE. */
#include <stddef.h>

#include "../clip_contract.h"
#include "../rotation.h"

#define TILE 4

/* Two doubles in one register; compilers do not vectorise the loops below by themselves. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

typedef struct {
    int n, padded;      /* unknowns of a frame, and with padding */
    ptrdiff_t row;      /* doubles from one row to the next */
    const int32_t *low; /* (padded) the first row of a column in the block two frames away that is not 0 */
} band;

static int padded(int n) { return (n + TILE - 1) / TILE * TILE; }

int64_t dqik_clip_band_work(int64_t frames, int32_t n) {
    const int64_t size = padded(n);
    return frames * size * 3 * size + size;
}

static double *block_of(const band *b, double *work, int64_t frame) {
    return work + frame * b->padded * b->row;
}

/* to -= A^T B for a tile of TILE x TILE: A and B are TILE columns of rows `from` to `until`. */
static void subtract_product(double *to, const double *a, const double *c, ptrdiff_t row, int from, int until) {
    pair sum[TILE][2] = {{{0.0, 0.0}}};
    for (int k = from; k < until; k++) {
        const double *left = a + k * row;
        const pair *right = (const pair *)(c + k * row), first = right[0], second = right[1];
        for (int i = 0; i < TILE; i++) {
            const pair share = {left[i], left[i]};
            sum[i][0] += share * first;
            sum[i][1] += share * second;
        }
    }
    for (int i = 0; i < TILE; i++) {
        pair *own = (pair *)(to + i * row);
        own[0] -= sum[i][0], own[1] -= sum[i][1];
    }
}

/* Where the rows of a tile of columns begin that are not 0, in the block two frames away. */
static int begin_of(const band *b, int column) {
    int begin = b->padded;
    for (int i = column; i < column + TILE; i++) begin = b->low[i] < begin ? b->low[i] : begin;
    return begin;
}

static int later(int a, int b) { return a > b ? a : b; }

/* Subtract from a frame's rows what the rows of a frame before contribute; away: 1 or 2 frames. */
static void subtract_before(const band *b, double *own, const double *before, int away) {
    const int size = b->padded;
    const double *left = before + away * size;
    for (int i = 0; i < size; i += TILE) {
        const int from = away == 2 ? begin_of(b, i) : 0;
        for (int j = i; j < size; j += TILE)
            subtract_product(own + i * b->row + j, left + i, left + j, b->row,
                             away == 2 ? later(from, begin_of(b, j)) : 0, size);
        if (away == 2) continue;
        for (int j = 0; j < size; j += TILE)
            subtract_product(own + i * b->row + size + j, left + i, left + size + j, b->row, begin_of(b, j), size);
    }
}

/* Factor a frame's rows; 0 if its block is not positive definite. The diagonal stores its inverse. */
static int factor_rows(const band *b, double *own) {
    const int size = b->padded;
    for (int i = 0; i < size; i += TILE) {
        for (int j = i; j < 3 * size; j += TILE) {
            const int from = j < 2 * size ? 0 : begin_of(b, j - 2 * size);
            if (from < i) subtract_product(own + i * b->row + j, own + i, own + j, b->row, from, i);
        }
        for (int k = i; k < i + TILE; k++) {
            double *row = own + k * b->row;
            if (!(row[k] > 0.0)) return 0;
            const double inverse = 1.0 / sqrt(row[k]);
            for (int j = k + 1; j < 3 * size; j++) row[j] *= inverse;
            row[k] = inverse;
            for (int below = k + 1; below < i + TILE; below++) {
                double *other = own + below * b->row;
                const pair share = {row[below], row[below]};
                for (int j = i; j < 3 * size; j += 2) *(pair *)(other + j) -= share * *(const pair *)(row + j);
            }
        }
    }
    return 1;
}

/* Copy a frame's blocks to its rows; `first` and `second` are the blocks below the diagonal, or NULL. */
static void fill(const band *b, double *own, const double *diagonal, const double *first, const double *second) {
    const int size = b->padded, n = b->n;
    memset(own, 0, sizeof(double) * (size_t)size * (size_t)b->row);
    for (int i = 0; i < n; i++) {
        double *row = own + i * b->row;
        memcpy(row + i, diagonal + i * n + i, sizeof(double) * (size_t)(n - i));
        for (int j = 0; first && j < n; j++) row[size + j] = first[j * n + i];
        for (int j = 0; second && j < n; j++) row[2 * size + j] = second[j * n + i];
    }
    for (int i = n; i < size; i++) own[i * b->row + i] = 1.0;
}

/* x = U^-1 U^-T x, in place. */
static void substitute(const band *b, double *work, double *x, int64_t frames) {
    const int n = b->n, size = b->padded;
    for (int64_t f = 0; f < frames; f++) {
        const double *own = block_of(b, work, f);
        const int after = frames - 1 - f < 2 ? (int)(frames - 1 - f) : 2;
        for (int k = 0; k < n; k++) {
            const double *row = own + k * b->row, y = x[f * n + k] *= row[k];
            for (int j = k + 1; j < n; j++) x[f * n + j] -= row[j] * y;
            for (int away = 1; away <= after; away++)
                for (int j = 0; j < n; j++) x[(f + away) * n + j] -= row[away * size + j] * y;
        }
    }
    for (int64_t f = frames - 1; f >= 0; f--) {
        const double *own = block_of(b, work, f);
        const int after = frames - 1 - f < 2 ? (int)(frames - 1 - f) : 2;
        for (int k = n - 1; k >= 0; k--) {
            const double *row = own + k * b->row;
            double sum[2] = {x[f * n + k], 0.0};
            for (int j = k + 1; j < n; j++) sum[j & 1] -= row[j] * x[f * n + j];
            for (int away = 1; away <= after; away++)
                for (int j = 0; j < n; j++) sum[j & 1] -= row[away * size + j] * x[(f + away) * n + j];
            x[f * n + k] = (sum[0] + sum[1]) * row[k];
        }
    }
}

/* The first row of each column, in any block two frames away, that is not 0. */
static void find_low(const band *b, const double *second, int64_t blocks, int32_t *low) {
    const int n = b->n;
    for (int j = 0; j < b->padded; j++) low[j] = b->padded;
    for (int64_t f = 0; f < blocks; f++) {
        for (int j = 0; j < n; j++) {
            const double *column = second + (f * n + j) * n;
            for (int i = 0; i < low[j] && i < n; i++)
                if (column[i] != 0.0) low[j] = i;
        }
    }
}

int32_t dqik_clip_band(int64_t frames, int32_t n, const double *diagonal, const double *first, const double *second,
                       double *x, double *work) {
    const int size = padded(n);
    int32_t *low = (int32_t *)(void *)(work + frames * size * 3 * size);
    const band b = {n, size, 3 * (ptrdiff_t)size, low};
    find_low(&b, second, frames - 2, low);
    for (int64_t f = 0; f < frames; f++) {
        double *own = block_of(&b, work, f);
        fill(&b, own, diagonal + f * n * n, f + 1 < frames ? first + f * n * n : NULL,
             f + 2 < frames ? second + f * n * n : NULL);
        if (f > 1) subtract_before(&b, own, block_of(&b, work, f - 2), 2);
        if (f > 0) subtract_before(&b, own, block_of(&b, work, f - 1), 1);
        if (!factor_rows(&b, own)) return 0;
    }
    substitute(&b, work, x, frames);
    return 1;
}

int32_t dqik_clip_layout(void) { return DQIK_CLIP_LAYOUT; }
