/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last steps of a stage; see solvers/group/polish.py. */
#include "internal.h"

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
    return iterations;
}
