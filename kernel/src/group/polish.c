/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last steps of a stage; see solvers/group/plan.py. */
#include "../internal.h"

/* `v^T W v`, `v` the difference of a point from the base pose. */
static double away(const work *w, point *p, const double *weights) {
    double far = 0.0;
    difference(w, p, p->v);
    for (int k = 0; k < w->n; k++) far += weights[k] * p->v[k] * p->v[k];
    return far;
}

/* Damped steps from `w->now`, which meets the goals, toward the base pose and back to the goals; they count where the
 * pose is nearer then. At most `left` iterations; returns those taken. Uses `w->kept`. */
static int come_nearer(work *w, const dqik_problem *problem, int left) {
    dqik_settings pulled = w->s->returning[0];
    const dqik_settings *arriving = w->s->returning + 1;
    left -= arriving->iterations;
    if (left <= 0) return 0;
    if (left < pulled.iterations) pulled.iterations = left;
    copy_point(w, &w->kept, &w->now);
    copy_point(w, &w->tried, &w->now);
    errors(w, &w->now);
    w->steps = 1;
    int iterations = minimise(w, &pulled);
    w->use_soft = 0;
    iterations += minimise(w, arriving);
    w->steps = 0, w->use_soft = 1;
    const double before = away(w, &w->kept, pulled.weights);
    if (!within(w, &w->now, problem->tolerance, problem->rotation_tolerance) ||
        !(away(w, &w->now, pulled.weights) < RETURN_NEARER * before))
        copy_point(w, &w->now, &w->kept);
    return iterations;
}

/* A few steps without the pull, so that it costs no accuracy; then more, without poles and holds, if these keep goals
 * from being met. Solvers that may settle before they meet the goals use up their remaining steps. Returns all
 * iterations, with those `before`. */
int polish(work *w, const dqik_problem *problem, int before) {
    const dqik_stage *s = w->s;
    int iterations = before;
    if (!s->polishing) return iterations;
    iterations += minimise(w, s->polishing);
    w->use_soft = 0;
    if (s->insisting && !within(w, &w->now, problem->tolerance, problem->rotation_tolerance))
        iterations += minimise(w, s->insisting);
    if (iterations < s->spend && !within(w, &w->now, problem->tolerance, problem->rotation_tolerance)) {
        dqik_settings rest = *s->polishing;
        rest.iterations = s->spend - iterations;
        iterations += minimise(w, &rest);
    }
    w->use_soft = 1;
    if (s->returning && within(w, &w->now, problem->tolerance, problem->rotation_tolerance))
        iterations += come_nearer(w, problem, s->spend - iterations);
    return iterations;
}
