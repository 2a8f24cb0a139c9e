/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Working memory: the arrays of a stage in one block from the caller. */
#include "internal.h"

/* With the address sanitizer, a gap that may not be touched follows each array. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define GAP 8
#define CLOSE(from, bytes) __asan_poison_memory_region(from, bytes)
#define OPEN(from, bytes) __asan_unpoison_memory_region(from, bytes)
#else
#define GAP 0
#define CLOSE(from, bytes) (void)0
#define OPEN(from, bytes) (void)0
#endif

typedef struct {
    double *at; /* NULL while only counting */
    int64_t used;
} arena;

static double *take(arena *a, int64_t count) {
    const int64_t size = (count + 7) / 8 * 8 + GAP;
    double *here = a->at ? a->at + a->used : NULL;
    if (here) {
        CLOSE(here, sizeof(double) * (size_t)size);
        OPEN(here, sizeof(double) * (size_t)count);
    }
    a->used += size;
    return here;
}

static point take_point(arena *a, int joints, const dqik_stage *s) {
    point p;
    p.q = take(a, 4 * joints), p.x = take(a, s->n), p.w = take(a, 4 * joints), p.m = take(a, 9 * joints);
    p.p = take(a, 3 * joints), p.tips = take(a, 3 * s->goals), p.e = take(a, s->all), p.v = take(a, s->n);
    p.cost = 0.0;
    return p;
}

static work take_work(arena *a, const dqik_problem *problem, const dqik_stage *s) {
    const int joints = problem->skeleton.joints, all = s->all, n = s->n;
    work w;
    memset(&w, 0, sizeof w);
    w.s = s, w.k = &problem->skeleton, w.n = n, w.rows = s->rows, w.all = all, w.use_soft = 1;
    w.places = take(a, 3 * s->goals), w.turns = take(a, 4 * s->goals), w.ends = take(a, 3 * s->goals);
    w.own = take(a, s->goals), w.yielded = take(a, s->goals), w.blamed = take(a, s->goals), w.misses = take(a, s->goals);
    w.ways = take(a, s->goals + 1), w.shifted_places = take(a, 3 * s->goals), w.shifted_turns = take(a, 4 * s->goals);
    w.shares = take(a, s->goals), w.base_q = take(a, 4 * joints), w.base_x = take(a, n);
    w.now = take_point(a, joints, s), w.tried = take_point(a, joints, s), w.best = take_point(a, joints, s);
    w.given = take_point(a, joints, s), w.afresh = take_point(a, joints, s);
    for (int i = 0; i < s->swivels; i++) w.attempt[i] = take_point(a, joints, s);
    if (s->sweep) w.kept = take_point(a, joints, s), w.swung = take_point(a, joints, s);
    w.jacobian = take(a, (int64_t)n * all), w.bent = take(a, (int64_t)n * all);
    w.gradient = take(a, n), w.pulled = take(a, n);
    w.matrix = take(a, n < s->rows ? (int64_t)n * (n + 3) : (int64_t)all * (all + 3));
    w.rhs = take(a, all), w.left = take(a, all), w.edges = take(a, 12 * all + 2);
    if (s->one_sided) w.whole = take(a, (int64_t)n * all), w.room = take(a, all), w.sided = take(a, 3 * all);
    if (s->unknowns) {
        const int k = ((const dqik_stage *)s->unknowns)->n;
        w.unknown_columns = take(a, (int64_t)k * all), w.unknown_x = take(a, k), w.unknown_gradient = take(a, k);
        w.unknown_reluctance = take(a, k), w.unknown_d = take(a, k);
    }
    w.d = take(a, n), w.candidate = take(a, n), w.current = take(a, n);
    w.fixed = take(a, n), w.down = take(a, n), w.trial = take(a, n), w.again = take(a, n);
    w.normals = take(a, 2 * s->pairs), w.inverses = take(a, 9 * s->blocks), w.axes = take(a, 9 * s->blocks);
    w.free = (uint8_t *)take(a, (n + 7) / 8), w.opened = (uint8_t *)take(a, (n + 7) / 8);
    return w;
}

/* The pose comes first, then the arrays of the stage. */
static pose_memory take_pose(arena *a, int joints) {
    pose_memory m = {take(a, 4 * joints), take(a, 3 * joints), take(a, 4 * joints), take(a, 3 * joints)};
    return m;
}

pose_memory pose_in(double *memory, const dqik_problem *problem) {
    arena a = {memory, 0};
    return take_pose(&a, problem->skeleton.joints);
}

work work_in(double *memory, const dqik_problem *problem, const dqik_stage *s) {
    arena a = {memory, 0};
    take_pose(&a, problem->skeleton.joints);
    return take_work(&a, problem, s);
}

int32_t dqik_layout(void) { return DQIK_LAYOUT; }

int64_t dqik_work(const dqik_problem *problem) {
    arena pose = {NULL, 0};
    int64_t largest = 0;
    take_pose(&pose, problem->skeleton.joints);
    for (int i = 0; i < problem->stages; i++) {
        arena a = {NULL, 0};
        take_work(&a, problem, problem->stage + i);
        if (a.used > largest) largest = a.used;
    }
    return pose.used + largest;
}

void leave(double *memory, const dqik_problem *problem) {
    OPEN(memory, sizeof(double) * (size_t)dqik_work(problem));
    (void)memory, (void)problem;
}
