/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goals that yield to others because their targets are out of reach; see solvers/space/yielding.py and
 * solvers/group/shares.py. */
#include "internal.h"

/* How far a goal's target is from its chain's root, in lengths of the chain; `at` has any pose of the frame. */
double yield_ratio(const work *w, const point *at, int i) {
    const dqik_stage *s = w->s;
    const int joints = w->k->joints;
    double reach = s->yield_extra[i];
    for (int j = 0; j < joints; j++)
        if (s->yield_path[(size_t)i * (size_t)joints + (size_t)j]) reach += norm3(w->link_t + 3 * j);
    return distance3(w->places + 3 * s->yield_goal[i], at->p + 3 * s->yield_top[i]) / most(reach, 1e-12);
}

/* Targets out of reach are drawn in to just beyond it and count less; `at` has any pose of the frame. */
void yield_targets(work *w, const point *at) {
    const dqik_stage *s = w->s;
    if (s->goals < 2) return;
    for (int i = 0; i < s->yields; i++) {
        int g = s->yield_goal[i];
        const double *root = at->p + 3 * s->yield_top[i];
        double away[3];
        minus3(away, w->places + 3 * g, root);
        double ratio = yield_ratio(w, at, i), excess = most(ratio - 1.0, 0.0) / YIELD_EXCESS;
        if (ratio > 1.0 + YIELD_REACH)
            for (int c = 0; c < 3; c++) w->places[3 * g + c] = root[c] + away[c] * (1.0 + YIELD_REACH) / ratio;
        w->shares[g] = most(1.0 / (1.0 + excess * excess), YIELD_FLOOR);
    }
}

/* The middle of some values and 0; sorts them. */
static double median_with_zero(double *values, int count) {
    values[count++] = 0.0;
    for (int i = 1; i < count; i++) {
        const double value = values[i];
        int k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* How far each goal is to blame, in `w->blamed`, 0 for goals without a position; `start` stands at the start pose. */
static void blame(work *w, const point *start) {
    const dqik_stage *s = w->s;
    double common[3], largest = 0.0;
    for (int c = 0; c < 3; c++) {
        int count = 0;
        for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
            if (t->kind == DQIK_POSITION)
                w->ways[count++] = w->places[3 * t->goal + c] - start->tips[3 * t->goal + c];
        common[c] = median_with_zero(w->ways, count);
    }
    memset(w->blamed, 0, sizeof(double) * (size_t)s->goals);
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++) {
        if (t->kind != DQIK_POSITION) continue;
        double away[3];
        minus3(away, w->places + 3 * t->goal, start->tips + 3 * t->goal);
        minus3(away, away, common);
        w->blamed[t->goal] = norm3(away);
        largest = most(largest, w->blamed[t->goal]);
    }
    for (int g = 0; g < s->goals; g++) w->blamed[g] *= s->alone[g] ? 1.0 / most(largest, 1e-12) : 0.0;
}

/* Solve a frame that misses goals again, with smaller shares for the goals to blame; `w->shares` then are
 * these shares, in another array. Uses `w->best`. */
int let_yield(work *w, const dqik_problem *problem, const double *rotations, const double *translations) {
    const dqik_stage *s = w->s;
    int iterations = 0;
    if (!s->yielding) return 0;
    enter(w, &w->best, rotations, translations);
    forward_all(w, &w->best);
    blame(w, &w->best);
    const double *full = w->shares;
    w->shares = w->yielded;
    for (int i = 0; i < YIELD_ROUNDS; i++) {
        for (int g = 0; g < s->goals; g++) {
            const double away = distance3(w->places + 3 * g, w->now.tips + 3 * g);
            const double excess = away / w->k->length * w->blamed[g] / YIELD_MISS;
            w->shares[g] = full[g] * (w->blamed[g] > 0.0 ? most(1.0 / (1.0 + excess * excess), YIELD_FLOOR) : 1.0);
        }
        errors(w, &w->now);
        int took = minimise(w, s->yielding);
        if (i + 1 == YIELD_ROUNDS) took = polish(w, problem, took);
        iterations += took;
    }
    return iterations;
}
