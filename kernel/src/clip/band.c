/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block Cholesky in a band: each frame's unknowns meet those of two frames before and after; see solvers/motion/banded.py.
 *
 * H = U^T U. A frame's rows of U are its own block (upper half) and the blocks of the two frames after it, side by side:
 * three tiles of columns, each as wide as a block with its rows padded to a multiple of TILE. Elimination goes from both
 * ends to the middle, so that two threads share it. */
#include <stddef.h>

#include "../contract.h"
#include "../rotation.h"

#define TILE 4

/* Compilers do not vectorise the loops below by themselves: so there are vectors, and each function that has most of the
 * work is compiled twice where processors may have wider ones, with the same results to the bit. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
#if defined(__x86_64__)
#include <cpuid.h>
#define WIDE __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

typedef struct {
    int n, padded;      /* unknowns of a frame, and with padding */
    ptrdiff_t row;      /* doubles from one row to the next */
    const int32_t *low; /* (padded) where a tile of columns begins: its first row that is not 0 two frames away */
} band;

static int padded(int n) { return (n + TILE - 1) / TILE * TILE; }

int64_t dqik_clip_band_work(int64_t frames, int32_t n) {
    const int64_t size = padded(n);
    return (frames + 2) * size * 3 * size + 3 * size;
}

static double *block_of(const band *b, double *work, int64_t frame) {
    return work + frame * b->padded * b->row;
}

/* to -= A^T B for `tiles` (1 or 2) tiles of TILE x TILE side by side: A has TILE columns, of rows `from` to `until`. */
INLINE void subtract_product(double *to, const double *a, const double *c, ptrdiff_t row, int from, int until, int tiles) {
    four sum[TILE][2] = {{{0.0, 0.0, 0.0, 0.0}}};
    for (int k = from; k < until; k++) {
        const double *left = a + k * row;
        const four *right = (const four *)(c + k * row);
        for (int i = 0; i < TILE; i++) {
            const four share = {left[i], left[i], left[i], left[i]};
            for (int t = 0; t < tiles; t++) sum[i][t] += share * right[t];
        }
    }
    for (int i = 0; i < TILE; i++)
        for (int t = 0; t < tiles; t++) ((four *)(to + i * row))[t] -= sum[i][t];
}

static int later(int a, int b) { return a > b ? a : b; }

/* Where the rows begin that are not 0, in the block two frames away, of `tiles` tiles of columns. */
static int begin_of(const band *b, int column, int tiles) {
    const int first = b->low[column], second = b->low[column + (tiles - 1) * TILE];
    return first < second ? first : second;
}

/* Subtract from a frame's rows what the rows of a frame before contribute; away: 1 or 2 frames. wide: whether registers
 * have room for two tiles. */
INLINE void subtract_before(const band *b, double *own, const double *before, int away, int wide) {
    const int size = b->padded;
    const ptrdiff_t row = b->row;
    const double *left = before + away * size;
    for (int i = 0; i < size; i += TILE) {
        const int above = away == 2 ? begin_of(b, i, 1) : 0;
        const int end = away == 2 ? size : 2 * size; /* of the frame's own block, and of the one after it */
        for (int j = i; j < end;) {
            const int two = wide && j + TILE < end && (j >= size || j + TILE < size);
            const int low = away == 2 ? begin_of(b, j, 1 + two) : j < size ? 0 : begin_of(b, j - size, 1 + two);
            const int from = later(above, low);
            if (two)
                subtract_product(own + i * row + j, left + i, left + j, row, from, size, 2);
            else
                subtract_product(own + i * row + j, left + i, left + j, row, from, size, 1);
            j += two ? 2 * TILE : TILE;
        }
    }
}

/* Factor a frame's rows; 0 if its block is not positive definite. The diagonal stores its inverse. */
INLINE int factor_rows(const band *b, double *own, int wide) {
    const int size = b->padded, all = 3 * size;
    const ptrdiff_t row = b->row;
    for (int i = 0; i < size; i += TILE) {
        for (int j = i; j < all;) {
            const int two = wide && j + TILE < all && (j >= 2 * size || j + TILE < 2 * size);
            const int from = j < 2 * size ? 0 : begin_of(b, j - 2 * size, 1 + two);
            if (from < i && two) subtract_product(own + i * row + j, own + i, own + j, row, from, i, 2);
            if (from < i && !two) subtract_product(own + i * row + j, own + i, own + j, row, from, i, 1);
            j += two ? 2 * TILE : TILE;
        }
        for (int k = i; k < i + TILE; k++) {
            double *const line = own + k * row;
            if (!(line[k] > 0.0)) return 0;
            const double inverse = 1.0 / sqrt(line[k]);
            for (int j = k + 1; j < i + TILE; j++) line[j] *= inverse;
            for (int j = i + TILE; j < all; j += TILE) *(four *)(line + j) *= (four){inverse, inverse, inverse, inverse};
            line[k] = inverse;
            for (int below = k + 1; below < i + TILE; below++) {
                double *const other = own + below * row;
                const four share = {line[below], line[below], line[below], line[below]};
                for (int j = i; j < all; j += TILE) *(four *)(other + j) -= share * *(const four *)(line + j);
            }
        }
    }
    return 1;
}

/* One frame: its rows, of which those of the frames before (NULL: none) are subtracted, factored. */
INLINE int eliminate(const band *b, double *own, const double *before, const double *earlier, int wide) {
    if (earlier) subtract_before(b, own, earlier, 2, wide);
    if (before) subtract_before(b, own, before, 1, wide);
    return factor_rows(b, own, wide);
}

static int eliminate_plain(const band *b, double *own, const double *before, const double *earlier) {
    return eliminate(b, own, before, earlier, 0);
}

#ifdef WIDE
/* Whether the processor has AVX2 and the system keeps its registers (Intel SDM 14.3); not all compilers' libraries tell. */
static int has_wide(void) {
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 27 & 3) != 3) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 5 & 1);
}

WIDE static int eliminate_wide(const band *b, double *own, const double *before, const double *earlier) {
    return eliminate(b, own, before, earlier, 1);
}
#endif

typedef int (*eliminator)(const band *b, double *own, const double *before, const double *earlier);

static eliminator best_eliminator(void) {
#ifdef WIDE
    if (has_wide()) return eliminate_wide;
#endif
    return eliminate_plain;
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
        double *to = own + away * size;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                const double value = block[i * n + j];
                if (value != 0.0) to[way > 0 ? j * b->row + i : i * b->row + j] = value; /* few */
            }
        }
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

/* The first row of each tile of columns, in any block two frames away, that is not 0. */
static void find_low(const band *b, const dqik_band *h, int32_t *low) {
    const int n = b->n;
    for (int j = 0; j < b->padded; j++) low[j] = b->padded;
    for (int64_t f = 0; f + 2 < h->frames; f++) {
        const double *block = h->second + f * n * n;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (block[i * n + j] == 0.0) continue;
                low[j] = i < low[j] ? i : low[j], low[i] = j < low[i] ? j : low[i]; /* either way */
            }
        }
    }
    for (int j = 0; j < b->padded; j += TILE)
        for (int i = j + 1; i < j + TILE; i++) low[j] = low[i] < low[j] ? low[i] : low[j];
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
    const eliminator best = best_eliminator();
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t f = own.begin + own.way * k, next = f + own.way, last = next + own.way;
        double *rows = block_of(&b, work, f);
        fill(&b, rows, h, f, own.way);
        const double *before = k > 0 ? block_of(&b, work, f - own.way) : NULL;
        if (!best(&b, rows, before, k > 1 ? block_of(&b, work, f - 2 * own.way) : NULL)) return 0;
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
        if (own.count > 1) subtract_before(&b, above, block_of(&b, work, middle + 3), 2, 0);
        subtract_before(&b, above, block_of(&b, work, middle + 2), 1, 0);
        subtract_before(&b, below, block_of(&b, work, middle + 2), 2, 0);
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
        const double *before = f > 0 ? block_of(&b, work, f - 1) : NULL;
        if (!eliminate_plain(&b, rows, before, f > 1 ? block_of(&b, work, f - 2) : NULL)) return 0;
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
