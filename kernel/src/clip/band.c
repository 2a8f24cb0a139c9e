/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block Cholesky in a band: each frame's unknowns meet those of two frames before and after; see solvers/clip/banded.py.
 *
 * H = U^T U. A frame's rows of U are its own block (upper half) and the blocks of the two frames after it, side by side:
 * three tiles of columns, each as wide as a block with its rows padded to a multiple of TILE. Elimination goes from both
 * ends to the middle, so that two threads share it. */
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
    return (frames + 2) * size * 3 * size + 3 * size;
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

/* One half of the frames: `count` of them from `begin` on, each one `way` (1 or -1) from the one before. */
typedef struct {
    int64_t begin, count;
    int way;
} half;

/* The halves leave out two frames in the middle, where they meet; the first half is all frames if there are few. */
static int64_t middle_of(int64_t frames) { return frames < DQIK_CLIP_FEWEST ? frames : frames / 2 - 1; }

static half half_of(int64_t frames, int second) {
    const int64_t middle = middle_of(frames);
    const half first = {0, middle, 1}, last = {frames - 1, middle < frames ? frames - middle - 2 : 0, -1};
    return second ? last : first;
}

/* Copy a frame's blocks to its rows: its own one, and those it shares with the two frames that follow on its way. */
static void fill(const band *b, double *own, const dqik_band *h, int64_t frame, int way) {
    const int size = b->padded, n = b->n;
    const int64_t square = (int64_t)n * n;
    memset(own, 0, sizeof(double) * (size_t)size * (size_t)b->row);
    for (int i = 0; i < n; i++) {
        double *row = own + i * b->row;
        memcpy(row + i, h->diagonal + frame * square + i * n + i, sizeof(double) * (size_t)(n - i));
    }
    for (int away = 1; away <= 2; away++) {
        const int64_t other = frame + way * away, at = way > 0 ? frame : other;
        const double *block = (away == 1 ? h->first : h->second) + at * square; /* (lower, upper) frame */
        if (other < 0 || other >= h->frames) continue;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                own[i * b->row + away * size + j] = way > 0 ? block[j * n + i] : block[i * n + j];
    }
    for (int i = n; i < size; i++) own[i * b->row + i] = 1.0;
}

/* y -= share * row. */
static void subtract_row(double *y, const double *row, double share, int count) {
    const pair both = {share, share};
    int j = 0;
    for (; j + 2 <= count; j += 2) *(pair *)(y + j) -= both * *(const pair *)(row + j);
    if (j < count) y[j] -= share * row[j];
}

static double product(const double *row, const double *x, int count) {
    pair sum = {0.0, 0.0};
    int j = 0;
    for (; j + 2 <= count; j += 2) sum += *(const pair *)(row + j) * *(const pair *)(x + j);
    return sum[0] + sum[1] + (j < count ? row[j] * x[j] : 0.0);
}

/* U^-T x of one frame, whose part of the two that follow it (NULL: none) is subtracted from them. */
static void substitute_down(const band *b, const double *own, double *x, double *next, double *last) {
    const int n = b->n, size = b->padded;
    for (int k = 0; k < n; k++) {
        const double *row = own + k * b->row, y = x[k] *= row[k];
        subtract_row(x + k + 1, row + k + 1, y, n - k - 1);
        if (next) subtract_row(next, row + size, y, n);
        if (last) subtract_row(last, row + 2 * size, y, n);
    }
}

/* U^-1 x of one frame, from the two that follow it. */
static void substitute_up(const band *b, const double *own, double *x, const double *next, const double *last) {
    const int n = b->n, size = b->padded;
    for (int k = n - 1; k >= 0; k--) {
        const double *row = own + k * b->row;
        double left = x[k] - product(row + k + 1, x + k + 1, n - k - 1);
        if (next) left -= product(row + size, next, n);
        if (last) left -= product(row + 2 * size, last, n);
        x[k] = left * row[k];
    }
}

/* The first row of each column, in any block two frames away, that is not 0. */
static void find_low(const band *b, const dqik_band *h, int32_t *low) {
    const int n = b->n;
    for (int j = 0; j < b->padded; j++) low[j] = b->padded;
    for (int64_t f = 0; f + 2 < h->frames; f++) {
        const double *block = h->second + f * n * n;
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < low[j] && i < n; i++)
                if (block[j * n + i] != 0.0 || block[i * n + j] != 0.0) low[j] = i; /* either way */
        }
    }
}

/* Where the parts of the working memory are: rows of all frames, what the second half subtracts from the rows and the
 * right-hand side of the two frames in the middle, and `low`. */
static double *middle_rows(const band *b, double *work, int64_t frames) { return block_of(b, work, frames); }
static double *middle_x(const band *b, double *work, int64_t frames) { return block_of(b, work, frames + 2); }

static band band_of(const dqik_band *h, double *work) {
    band b = {h->n, padded(h->n), 3 * (ptrdiff_t)padded(h->n), NULL};
    b.low = (int32_t *)(void *)(middle_x(&b, work, h->frames) + 2 * b.n);
    return b;
}

void dqik_clip_band_begin(const dqik_band *h, double *work) {
    band b = band_of(h, work);
    find_low(&b, h, (int32_t *)(void *)(middle_x(&b, work, h->frames) + 2 * b.n));
    memset(middle_rows(&b, work, h->frames), 0, sizeof(double) * (size_t)(2 * b.padded * b.row));
    memset(middle_x(&b, work, h->frames), 0, sizeof(double) * 2 * (size_t)b.n);
}

int32_t dqik_clip_band_half(const dqik_band *h, double *x, double *work, int32_t second) {
    const band b = band_of(h, work);
    const half own = half_of(h->frames, second);
    const int64_t middle = middle_of(h->frames), n = b.n;
    double *shared = middle_rows(&b, work, h->frames), *shared_x = middle_x(&b, work, h->frames);
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t f = own.begin + own.way * k, next = f + own.way, last = next + own.way;
        double *rows = block_of(&b, work, f);
        fill(&b, rows, h, f, own.way);
        if (k > 1) subtract_before(&b, rows, block_of(&b, work, f - 2 * own.way), 2);
        if (k > 0) subtract_before(&b, rows, block_of(&b, work, f - own.way), 1);
        if (!factor_rows(&b, rows)) return 0;
        double *to[2] = {NULL, NULL};
        const int64_t after[2] = {next, last};
        for (int i = 0; i < 2; i++) {
            if (after[i] < 0 || after[i] >= h->frames) continue;
            to[i] = second && after[i] <= middle + 1 ? shared_x + (after[i] - middle) * n : x + after[i] * n;
        }
        substitute_down(&b, rows, x + f * n, to[0], to[1]);
    }
    if (second && own.count) { /* of the frame `middle` + 1, then of `middle` */
        double *above = shared, *below = shared + b.padded * b.row;
        if (own.count > 1) subtract_before(&b, above, block_of(&b, work, middle + 3), 2);
        subtract_before(&b, above, block_of(&b, work, middle + 2), 1);
        subtract_before(&b, below, block_of(&b, work, middle + 2), 2);
    }
    return 1;
}

/* Add what the second half subtracts from the two frames in the middle. */
static void add_shared(const band *b, double *rows, const double *shared, int of_last) {
    const int size = b->padded, n = b->n;
    const double *above = shared, *below = shared + size * b->row;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) rows[i * b->row + j] += (of_last ? above : below)[i * b->row + j];
        for (int j = 0; !of_last && j < n; j++) rows[i * b->row + size + j] += above[j * b->row + size + i];
    }
}

int32_t dqik_clip_band_join(const dqik_band *h, double *x, double *work) {
    const band b = band_of(h, work);
    const int64_t n = b.n, middle = middle_of(h->frames);
    const double *shared_x = middle_x(&b, work, h->frames);
    for (int64_t f = middle; f < h->frames && f < middle + 2; f++) {
        double *rows = block_of(&b, work, f);
        fill(&b, rows, h, f, 1);
        for (int i = 0; i < b.padded; i++) { /* the frames after the middle have been eliminated */
            if (f > middle) memset(rows + i * b.row + b.padded, 0, sizeof(double) * (size_t)b.padded);
            memset(rows + i * b.row + 2 * b.padded, 0, sizeof(double) * (size_t)b.padded);
        }
        add_shared(&b, rows, middle_rows(&b, work, h->frames), f > middle);
        if (f > 1) subtract_before(&b, rows, block_of(&b, work, f - 2), 2);
        if (f > 0) subtract_before(&b, rows, block_of(&b, work, f - 1), 1);
        if (!factor_rows(&b, rows)) return 0;
        for (int64_t k = 0; k < n; k++) x[f * n + k] += shared_x[(f - middle) * n + k];
        substitute_down(&b, rows, x + f * n, f == middle ? x + (f + 1) * n : NULL, NULL);
    }
    for (int64_t f = middle < h->frames ? middle + 1 : h->frames - 1; f >= 0; f--) {
        const int next = f < middle + 1 && f + 1 < h->frames, last = f < middle && f + 2 < h->frames;
        substitute_up(&b, block_of(&b, work, f), x + f * n, next ? x + (f + 1) * n : NULL, last ? x + (f + 2) * n : NULL);
    }
    for (int64_t f = middle + 2; f < h->frames; f++)
        substitute_up(&b, block_of(&b, work, f), x + f * n, x + (f - 1) * n, x + (f - 2) * n);
    return 1;
}

int32_t dqik_clip_layout(void) { return DQIK_CLIP_LAYOUT; }
