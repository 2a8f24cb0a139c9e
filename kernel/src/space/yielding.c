/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goals that yield to others because not all can be met; see solvers/space/yielding.py and
 * solvers/group/plan.py. */
#include "../internal.h"

/* Distance of a goal's target from its chain's root, in lengths of the chain; `at` is any pose of the frame. */
double yield_ratio(const work *w, const point *at, int i) {
    const dqik_stage *s = w->s;
    const int joints = w->k->joints;
    double reach = s->yield_extra[i];
    for (int j = 0; j < joints; j++)
        if (s->yield_path[(size_t)i * (size_t)joints + (size_t)j]) reach += norm3(w->link_t + 3 * j);
    return distance3(w->places + 3 * s->yield_goal[i], at->p + 3 * s->yield_top[i]) / most(reach, 1e-12);
}

/* The median of some values; sorts them. */
static double median(double *values, int count) {
    for (int i = 1; i < count; i++) {
        const double value = values[i];
        int k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* How far a target is from most others, in lengths of the bones between; 0 for a few. Uses `w->ways`. */
static double from_most(const work *w, const dqik_task *own) {
    const dqik_stage *s = w->s;
    int count = 0;
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++) {
        if (t->kind != DQIK_POSITION) continue;
        const double apart = s->apart[(size_t)own->goal * (size_t)s->goals + (size_t)t->goal];
        const double value = distance3(w->places + 3 * own->goal, w->places + 3 * t->goal) / apart;
        int k = count++;
        for (; k > 0 && w->ways[k - 1] < value; k--) w->ways[k] = w->ways[k - 1];
        w->ways[k] = value;
    }
    return count < YIELD_FEWEST ? 0.0 : w->ways[(count - 1) / 2];
}

/* Move targets that are far from most others in, toward the median of all. Uses `w->misses`. */
static void near_others(work *w) {
    const dqik_stage *s = w->s;
    double farthest = 0.0, middle[3];
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
        if (t->kind == DQIK_POSITION) w->misses[t->goal] = from_most(w, t), farthest = most(farthest, w->misses[t->goal]);
    if (farthest <= YIELD_FARTHEST) return;
    for (int c = 0; c < 3; c++) {
        int count = 0;
        for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
            if (t->kind == DQIK_POSITION) w->ways[count++] = w->places[3 * t->goal + c];
        middle[c] = median(w->ways, count);
    }
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++) {
        if (t->kind != DQIK_POSITION || w->misses[t->goal] <= YIELD_FARTHEST) continue;
        double *place = w->places + 3 * t->goal;
        for (int c = 0; c < 3; c++)
            place[c] = middle[c] + (place[c] - middle[c]) * (YIELD_FARTHEST / w->misses[t->goal]);
    }
}

/* Move targets out of reach in to just beyond reach, with lower shares beside others; `at` is any pose of the frame. */
void yield_targets(work *w, const point *at) {
    const dqik_stage *s = w->s;
    near_others(w);
    for (int i = 0; i < s->yields; i++) {
        int g = s->yield_goal[i];
        const double *root = at->p + 3 * s->yield_top[i];
        double away[3];
        minus3(away, w->places + 3 * g, root);
        double ratio = yield_ratio(w, at, i), excess = most(ratio - 1.0, 0.0) / YIELD_EXCESS;
        if (ratio > s->yield_most[i])
            for (int c = 0; c < 3; c++) w->places[3 * g + c] = root[c] + away[c] * s->yield_most[i] / ratio;
        if (s->goals > 1) w->shares[g] = most(1.0 / (1.0 + excess * excess), YIELD_FLOOR);
    }
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

/* The blame of each goal, in `w->blamed`; 0 for goals without a position. `home` is where targets were moved from. Uses
 * `w->misses`. */
static void blame(work *w, const point *home) {
    const dqik_stage *s = w->s;
    double common[3], largest = 0.0;
    for (int c = 0; c < 3; c++) {
        int count = 0;
        for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
            if (t->kind == DQIK_POSITION)
                w->ways[count++] = w->places[3 * t->goal + c] - home->tips[3 * t->goal + c];
        w->ways[count++] = 0.0;
        common[c] = median(w->ways, count);
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
    double farthest = 0.0;
    memset(w->misses, 0, sizeof(double) * (size_t)s->goals);
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
        if (t->kind == DQIK_POSITION)
            w->misses[t->goal] = most(from_most(w, t) - 1.0, 0.0), farthest = most(farthest, w->misses[t->goal]);
    const double share = least(farthest / YIELD_FAR, 1.0);
    for (int g = 0; g < s->goals; g++) {
        const double moved = w->blamed[g] / most(largest, 1e-12), far = w->misses[g] / most(farthest, 1e-12);
        w->blamed[g] = s->may_yield[g] ? square((1.0 - share) * moved + share * far) : 0.0;
    }
}

/* 1 for an excess of 0, a half for 1; YIELD_LEAST for the largest one if that is large. */
static double falling(double excess, double largest) { return 1.0 / (1.0 + excess / (1.0 + YIELD_LEAST * largest)); }

/* Shares of the goals, in `w->yielded`; see Precedence.shares. `full`: shares at an error of 0. `part`: of the blame. */
static void order_shares(work *w, const double *full, double part) {
    const dqik_stage *s = w->s;
    const int32_t *priority = s->priority;
    for (int g = 0; g < s->goals; g++) {
        double missed = 0.0;
        for (int h = 0; h < s->goals; h++)
            if (priority[h] == priority[g]) missed = most(missed, w->misses[h]);
        const double suspect = least(w->misses[g] + YIELD_SHARED * missed, YIELD_RAISED * w->misses[g]);
        w->ways[g] = square(part * w->blamed[g] * suspect / YIELD_MISS);
    }
    for (int g = 0; g < s->goals; g++) {
        double largest = 0.0;
        for (int h = 0; h < s->goals; h++)
            if (priority[h] == priority[g]) largest = most(largest, w->ways[h]);
        w->own[g] = least(full[g], falling(w->ways[g], largest));
    }
    for (int g = 0; g < s->goals; g++) {
        double missed = 0.0, lowest = 1.0, higher = 1.0;
        int comes_after = 0;
        for (int h = 0; h < s->goals; h++) {
            if (priority[h] == priority[g]) missed = most(missed, w->misses[h]), lowest = least(lowest, w->own[h]);
            if (priority[h] > priority[g]) higher = least(higher, w->own[h]), comes_after = 1;
        }
        const double level = comes_after ? square(missed / YIELD_MISS) : 0.0;
        w->yielded[g] = least(w->own[g] * least(falling(level, level) / lowest, 1.0), higher);
    }
}

/* The part of the blame that counts while goals of a lower priority can yield first; see Precedence.spared. */
static double spared(work *w, const double *full) {
    double lowest = 1.0;
    order_shares(w, full, 0.0);
    for (int g = 0; g < w->s->goals; g++) lowest = least(lowest, w->yielded[g] / full[g]);
    return most(2.0 * lowest - 1.0, 0.0);
}

/* The least share of a goal in `w->yielded`. */
static double least_share(const work *w) {
    double lowest = INFINITY;
    for (int g = 0; g < w->s->goals; g++) lowest = least(lowest, w->yielded[g]);
    return lowest;
}

/* Solve a frame that misses goals again, in the order of the goals; `w->shares` then points to the shares used. Uses
 * `w->best`. */
int serve_in_order(work *w, const double *rotations, const double *translations, int in_motion) {
    const dqik_stage *s = w->s;
    const size_t goals = (size_t)s->goals;
    double *const places = w->places, *const turns = w->turns, *const full = w->shares;
    double first = 0.0;
    int iterations = 0;
    if (!s->yieldings) return 0;
    go_home(w, &w->best, rotations, translations);
    blame(w, &w->best);
    misses(w, &w->now, w->misses);
    order_shares(w, full, 1.0);
    for (int g = 0; g < s->goals; g++) first = most(first, w->yielded[g]);
    if (!(first > (1.0 + YIELD_ALIKE) * least_share(w))) return 0;
    w->shares = w->own;
    for (int i = 0; i < s->yieldings; i++) {
        if (i) misses(w, &w->now, w->misses);
        order_shares(w, full, i ? 1.0 : spared(w, full));
        const double raised = 1.0 / sqrt(sqrt(least_share(w)));
        memcpy(w->shifted_places, places, sizeof(double) * 3 * goals);
        memcpy(w->shifted_turns, turns, sizeof(double) * 4 * goals);
        for (int g = 0; g < s->goals; g++) {
            w->ways[g] = i ? w->yielded[g] - 1.0 : 0.0;
            w->own[g] = w->yielded[g] * (i ? w->yielded[g] : raised);
        }
        shift_targets(w, &w->now, w->ways, w->shifted_places, w->shifted_turns);
        w->places = w->shifted_places, w->turns = w->shifted_turns;
        errors(w, &w->now);
        iterations += minimise(w, i && in_motion ? s->yielding_on : s->yielding + i);
        w->places = places, w->turns = turns;
    }
    w->shares = w->yielded;
    return iterations;
}
