/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goals that yield to others because not all can be met; see solvers/space/yielding.py and
 * solvers/group/precedence.py. */
#include "internal.h"

/* Distance of a goal's target from its chain's root, in lengths of the chain; `at` is any pose of the frame. */
double yield_ratio(const work *w, const point *at, int i) {
    const dqik_stage *s = w->s;
    const int joints = w->k->joints;
    double reach = s->yield_extra[i];
    for (int j = 0; j < joints; j++)
        if (s->yield_path[(size_t)i * (size_t)joints + (size_t)j]) reach += norm3(w->link_t + 3 * j);
    return distance3(w->places + 3 * s->yield_goal[i], at->p + 3 * s->yield_top[i]) / most(reach, 1e-12);
}

/* Move targets out of reach in to just beyond reach, with lower shares; `at` is any pose of the frame. */
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

/* The median of some values and 0; sorts the values. */
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

/* Take the pose that the targets were moved from: the start pose, with the joints of the stage as in `w->home_q`. */
static void go_home(const work *w, point *p, const double *rotations, const double *translations) {
    const dqik_stage *s = w->s;
    memcpy(p->q, rotations, sizeof(double) * 4 * (size_t)w->k->joints);
    for (int b = 0; w->home_q && b < s->blocks; b++)
        memcpy(p->q + 4 * s->block_joint[b], w->home_q + 4 * s->block_joint[b], sizeof(double) * 4);
    enter(w, p, p->q, translations);
    forward_all(w, p);
}

/* The blame of each goal, in `w->blamed`; 0 for goals without a position. `home` is where targets were moved from. */
static void blame(work *w, const point *home) {
    const dqik_stage *s = w->s;
    double common[3], largest = 0.0;
    for (int c = 0; c < 3; c++) {
        int count = 0;
        for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
            if (t->kind == DQIK_POSITION)
                w->ways[count++] = w->places[3 * t->goal + c] - home->tips[3 * t->goal + c];
        common[c] = median_with_zero(w->ways, count);
    }
    memset(w->blamed, 0, sizeof(double) * (size_t)s->goals);
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++) {
        if (t->kind != DQIK_POSITION) continue;
        double away[3];
        minus3(away, w->places + 3 * t->goal, home->tips + 3 * t->goal);
        minus3(away, away, common);
        w->blamed[t->goal] = norm3(away);
        largest = most(largest, w->blamed[t->goal]);
    }
    for (int g = 0; g < s->goals; g++) w->blamed[g] *= s->may_yield[g] ? 1.0 / most(largest, 1e-12) : 0.0;
}

/* 1 for errors of 0, a half for errors of `half`. */
static double falling(double error, double half) { return 1.0 / (1.0 + error / half * (error / half)); }

/* Shares of goals relative to others of their priority, in `w->own`, which only fall; see Precedence.own. */
static void own_shares(work *w, const double *full) {
    for (int g = 0; g < w->s->goals; g++)
        w->own[g] = least(w->own[g], most(full[g] * falling(w->misses[g] * w->blamed[g], YIELD_MISS), YIELD_LEAST));
}

/* Shares of the goals, in `w->yielded`; see Precedence.shares. */
static void order_shares(work *w) {
    const dqik_stage *s = w->s;
    for (int g = 0; g < s->goals; g++) {
        double share = 1.0;
        for (int h = 0; h < s->goals; h++)
            if (s->priority[h] > s->priority[g]) share = least(share, w->own[h]);
        w->yielded[g] = share * w->own[g];
    }
}

/* Factors of the goals' errors by which their targets are shifted, in `w->ways`; see Precedence.shifts. Returns the
 * largest factor times error. */
static double order_shifts(work *w) {
    const dqik_stage *s = w->s;
    double left = 0.0;
    for (int g = 0; g < s->goals; g++) {
        double after = 0.0;
        for (int h = 0; h < s->goals; h++) {
            if (s->priority[h] < s->priority[g])
                after = most(after, 1.0 - falling(w->misses[h], YIELD_MISS));
            else if (h != g && s->priority[h] == s->priority[g])
                after = most(after, 1.0 - w->own[h]);
        }
        w->ways[g] = falling(w->misses[g], YIELD_NEAR) * after;
        left = most(left, w->ways[g] * w->misses[g]);
    }
    return left;
}

/* Solve a frame that misses goals again, in the order of the goals; `w->shares` then points to the shares used. Uses
 * `w->best`. */
int serve_in_order(work *w, const dqik_problem *problem, const double *rotations, const double *translations) {
    const dqik_stage *s = w->s;
    const size_t goals = (size_t)s->goals;
    double *const full = w->shares, *const places = w->places, *const turns = w->turns;
    const double tolerance = problem->tolerance / w->k->length;
    int iterations = 0;
    if (!s->yielding) return 0;
    go_home(w, &w->best, rotations, translations);
    blame(w, &w->best);
    for (int g = 0; g < s->goals; g++) w->own[g] = 1.0;
    memcpy(w->shifted_places, places, sizeof(double) * 3 * goals);
    memcpy(w->shifted_turns, turns, sizeof(double) * 4 * goals);
    w->shares = w->yielded;
    for (int i = 0; i < MOST_ROUNDS; i++) {
        double changed = 0.0;
        for (int g = 0; g < s->goals; g++) w->ways[g] = w->misses[g];
        misses(w, &w->now, w->misses);
        for (int g = 0; g < s->goals; g++) changed = most(changed, fabs(w->misses[g] - w->ways[g]));
        own_shares(w, full);
        const double left = order_shifts(w);
        if (i >= LEAST_ROUNDS && (left <= tolerance || changed <= ROUND_SHARE * tolerance)) break;
        order_shares(w);
        shift_targets(w, &w->now, w->ways, w->shifted_places, w->shifted_turns);
        w->places = w->shifted_places, w->turns = w->shifted_turns;
        errors(w, &w->now);
        iterations += minimise(w, s->yielding);
        w->places = places, w->turns = turns;
    }
    w->places = w->shifted_places, w->turns = w->shifted_turns;
    errors(w, &w->now);
    if (s->polishing) iterations += minimise(w, s->polishing);
    w->places = places, w->turns = turns;
    return iterations;
}
