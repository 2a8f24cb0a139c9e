/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Further attempts at frames that miss their goals; see solvers/group/plan.py. */
#include "../internal.h"

static int meets(const work *w, const dqik_problem *problem, const point *p) {
    return within(w, p, problem->tolerance, problem->rotation_tolerance);
}

/* The largest turn [rad] or slide [skeleton lengths] of any joint from the pose before, which is the base. */
static double distance_from_base(const work *w, point *p) {
    difference(w, p, p->v);
    return longest_of(w, p->v);
}

/* Whether a target is further from its chain's root than the chain is long; `at` is any pose of the frame. */
int beyond_reach(const work *w, const point *at) {
    for (int i = 0; i < w->s->yields; i++)
        if (yield_ratio(w, at, i) > 1.0) return 1;
    return 0;
}

/* Whether another start may meet the goals that a frame, which began near them at `w->given`, misses. */
int looks_recoverable(const work *w, int met_before) {
    double largest = 0.0;
    if (!w->s->recovers || beyond_reach(w, &w->given)) return 0;
    if (w->s->phase[w->s->phases - 1].pull > 0.0) return met_before;
    for (int i = 0; i < w->rows; i++) largest = most(largest, fabs(w->given.e[i]));
    return met_before || (largest <= RECOVER_ERROR && rows_square(w, &w->now) < RECOVER_SHARE * RECOVER_SHARE *
                                                                                  rows_square(w, &w->given));
}

/* Bring the answer in `w->now`, which is `far` from the base, nearer to it, as far as the goals allow. Uses
 * `w->afresh`. */
static int approach(work *w, const dqik_problem *problem, double far) {
    if (!w->s->approaching) return 0;
    copy_point(w, &w->afresh, &w->now);
    int iterations = minimise(w, w->s->approaching);
    iterations += minimise(w, w->s->arriving);
    if (!meets(w, problem, &w->now) || !(distance_from_base(w, &w->now) < far)) copy_point(w, &w->now, &w->afresh);
    return iterations;
}

/* Attempts from starts near the pose before, in `w->given`; returns whether one meets the goals. `w->now` becomes the
 * nearest of these, or stays. Uses `w->best` and `w->afresh`, and leaves the base at the pose before. */
int try_near(work *w, const dqik_problem *problem, int *iterations) {
    static const double spreads[] = NEAR_SPREADS;
    const dqik_stage *s = w->s;
    uint64_t random = s->seed;
    double nearest = INFINITY;
    copy_point(w, &w->best, &w->now);
    memcpy(w->base_q, w->given.q, sizeof(double) * 4 * (size_t)w->k->joints);
    memcpy(w->base_x, w->given.x, sizeof(double) * (size_t)w->n);
    w->use_soft = 0;
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads && !isfinite(nearest); i++)
        for (int k = 0; k < NEAR_STARTS; k++) {
            sample_near(w, &w->now, &w->given, spreads[i], &random);
            stand(w, &w->now);
            *iterations += minimise(w, s->nearby);
            if (!meets(w, problem, &w->now)) continue;
            double far = distance_from_base(w, &w->now);
            if (!(far < NEARER * nearest)) continue;
            nearest = far;
            copy_point(w, &w->afresh, &w->now);
        }
    copy_point(w, &w->now, isfinite(nearest) ? &w->afresh : &w->best);
    if (isfinite(nearest)) *iterations += approach(w, problem, nearest);
    w->use_soft = 1;
    return isfinite(nearest);
}

/* One attempt from the middle of the limits at a frame solved with a pull; returns whether it meets the goals. Then
 * `w->now` is that answer, brought nearer to the base; else it stays. Uses `w->best` and `w->afresh`. */
int try_middle(work *w, const dqik_problem *problem, int *iterations) {
    const dqik_stage *s = w->s;
    copy_point(w, &w->best, &w->now);
    memcpy(w->now.q, w->base_q, sizeof(double) * 4 * (size_t)w->k->joints);
    memcpy(w->now.x, w->base_x, sizeof(double) * (size_t)w->n);
    middle_of_limits(w, &w->now, NULL);
    w->use_soft = 0;
    stand(w, &w->now);
    *iterations += minimise(w, s->descending);
    const int met = meets(w, problem, &w->now);
    if (met)
        *iterations += approach(w, problem, distance_from_base(w, &w->now));
    else
        copy_point(w, &w->now, &w->best);
    w->use_soft = 1;
    return met;
}

/* Attempts from the middle of the limits, then from random states, until one converges; `w->now` keeps the best.
 * `settled`: whether the descent to `w->now` ran to its end. */
int restart(work *w, const dqik_problem *problem, int settled) {
    const dqik_stage *s = w->s;
    uint64_t random = s->seed;
    int iterations = 0, met = 0;
    copy_point(w, &w->best, &w->now);
    double best = rows_square(w, &w->best);
    w->use_soft = 0;
    for (int i = 0; i < s->restarts && !met; i++) {
        memcpy(w->now.q, w->base_q, sizeof(double) * 4 * (size_t)w->k->joints);
        memcpy(w->now.x, w->base_x, sizeof(double) * (size_t)w->n);
        if (i)
            sample(w, &w->now, &random);
        else
            middle_of_limits(w, &w->now, NULL);
        stand(w, &w->now);
        iterations += minimise(w, s->descending);
        double reached = rows_square(w, &w->now);
        met = meets(w, problem, &w->now);
        if (met || !(reached >= NEARER * best)) {
            best = reached, settled = 0;
            copy_point(w, &w->best, &w->now);
        }
    }
    copy_point(w, &w->now, &w->best);
    if (!met && !settled) iterations += minimise(w, s->finishing);
    w->use_soft = 1;
    return iterations;
}
