/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stage of a frame, solved afresh or from the frame before it; see solvers/group/solve.py. */
#include "../internal.h"

/* The base pose of the pull: the start with bent limbs and chains, turned to the poles; see _base in
 * solvers/group/starts.py. `w->given` is at the start. Uses `w->tried`. */
static void set_base(work *w, const double *rotations, const double *translations) {
    const dqik_stage *s = w->s;
    const int pulls = s->phase[s->phases - 1].pull > 0.0;
    point *p = pulls ? &w->tried : &w->given;
    double share = 0.0;
    if (pulls && (s->limbs || s->arcs)) {
        misses(w, &w->given, w->misses);
        for (int g = 0; g < s->goals; g++) share = most(share, least(w->misses[g] / EASE, 1.0));
    }
    if (pulls) enter(w, p, rotations, translations);
    if (pulls && s->middle_bias) middle_of_limits(w, p, s->phase[s->phases - 1].weights);
    if (pulls && s->limbs) {
        memcpy(w->base_q, p->q, sizeof(double) * 4 * (size_t)w->k->joints);
        if (s->middle_bias) forward_all(w, p);
        bend_base(w, w->base_q, s->middle_bias ? p : &w->given, share, p->q);
        turn_back_inside(w, p, p->x);
    }
    if (pulls) bend_to_arcs(w, p, share);
    if (pulls && s->poles) {
        forward_all(w, p);
        for (int i = 0; i < s->poles; i++) swivel_to_pole(w, s->pole + i, s->pole_hold[i], p);
    }
    memcpy(w->base_q, p->q, sizeof(double) * 4 * (size_t)w->k->joints);
    memcpy(w->base_x, p->x, sizeof(double) * (size_t)w->n);
}

/* Copy the stage's targets from the frame's inputs. */
void ask(work *w, const frame_view *frame) {
    const dqik_stage *s = w->s;
    for (int g = 0; g < s->goals; g++) {
        int all = s->goal_index[g];
        copy3(w->places + 3 * g, frame->positions + 3 * all);
        memcpy(w->turns + 4 * g, frame->orientations + 4 * all, 4 * sizeof(double));
        q_unit(w->turns + 4 * g);
        copy3(w->ends + 3 * g, frame->poles + 3 * all);
        w->shares[g] = 1.0;
    }
}

/* Set `w->now` to the base pose with its limbs folded to their targets, turned by a swivel; see folded in
 * solvers/group/starts.py. */
static void start_folded(work *w, double swivel) {
    const dqik_stage *s = w->s;
    const size_t joints = (size_t)w->k->joints;
    memcpy(w->now.q, w->base_q, sizeof(double) * 4 * joints);
    memcpy(w->now.x, w->base_x, sizeof(double) * (size_t)w->n);
    forward_all(w, &w->now);
    if (s->limbs || s->poles) {
        if (s->limbs) {
            fold(w, w->base_q, &w->now, swivel, w->tried.q);
            memcpy(w->now.q, w->tried.q, sizeof(double) * 4 * joints);
        }
        turn_back_inside(w, &w->now, w->base_x);
        forward_all(w, &w->now);
        for (int k = 0; k < s->poles; k++) swivel_to_pole(w, s->pole + k, s->pole_hold[k], &w->now);
    }
    errors(w, &w->now);
    copy_point(w, &w->tried, &w->now);
}

/* Whether two states lead to the same answer: no joint differs by more than ALIKE. */
static int nearly_alike(const work *w, const point *a, const point *b) {
    const dqik_stage *s = w->s;
    for (int i = 0; i < s->blocks; i++) {
        const double *p = a->q + 4 * s->block_joint[i], *q = b->q + 4 * s->block_joint[i];
        if (fabs(p[0] * q[0] + dot3(p + 1, q + 1)) < s->alike) return 0;
    }
    return 1;
}

/* Continuation in the pull, from limbs folded to their targets at several swivels; see
 * solvers/group/plan.py. */
static int continue_in_pull(work *w) {
    const dqik_stage *s = w->s;
    const int swivels = s->limbs ? s->swivels : 1;
    int took[DQIK_SWIVELS], alone[DQIK_SWIVELS], chosen = 0;
    for (int i = 0; i < swivels; i++) {
        start_folded(w, s->swivel[i]);
        took[i] = minimise(w, s->phase), alone[i] = 1;
        copy_point(w, w->attempt + i, &w->now);
    }
    for (int i = 0; i < swivels; i++)
        for (int j = 0; j < swivels; j++) {
            const double mine = w->attempt[i].cost, other = w->attempt[j].cost;
            if ((other < mine || (other == mine && j < i)) && nearly_alike(w, w->attempt + i, w->attempt + j))
                alone[i] = 0;
        }
    for (int i = 0; i < swivels; i++) {
        if (!alone[i]) continue;
        copy_point(w, &w->now, w->attempt + i);
        copy_point(w, &w->tried, w->attempt + i);
        for (int k = 1; k < s->chosen_after; k++) took[i] += minimise(w, s->phase + k);
        copy_point(w, w->attempt + i, &w->now);
    }
    for (int i = 1; i < swivels; i++)
        if (alone[i] && (!alone[chosen] || w->attempt[i].cost < w->attempt[chosen].cost)) chosen = i;
    copy_point(w, &w->now, w->attempt + chosen);
    copy_point(w, &w->tried, w->attempt + chosen);
    int iterations = took[chosen];
    for (int i = s->chosen_after; i < s->phases; i++) iterations += minimise(w, s->phase + i);
    return iterations;
}

/* Descend again from the start with its straight chains bent to arcs; `w->now` keeps the better answer. */
static int start_from_arcs(work *w, const dqik_problem *problem) {
    copy_point(w, &w->best, &w->now);
    copy_point(w, &w->now, &w->given);
    bend_to_arcs(w, &w->now, 1.0);
    forward_all(w, &w->now);
    errors(w, &w->now);
    copy_point(w, &w->tried, &w->now);
    int iterations = polish(w, problem, minimise(w, w->s->phase + w->s->phases - 1));
    if (!(rows_square(w, &w->now) < rows_square(w, &w->best))) copy_point(w, &w->now, &w->best);
    return iterations;
}

/* The largest error row of the goals at `w->now`. */
static double longest_error(const work *w) {
    double largest = 0.0;
    for (int i = 0; i < w->rows; i++) largest = most(largest, fabs(w->now.e[i]));
    return largest;
}

/* Whether `w->now` misses a goal by much, at a limit and not by its reach; see `_far_off` in
 * solvers/group/plan.py. */
static int is_far_off(const work *w) {
    const double miss = w->s->recovers ? STAGED_MISS_KNOWN : STAGED_MISS;
    return w->s->stagings && longest_error(w) > miss && !beyond_reach(w, &w->now) && touches_limits(w->s, w->now.x);
}

/* Solve again in stages of the targets' way from where the effectors are in the base pose; see
 * solvers/group/plan.py. `w->now` keeps the better answer. Uses `w->best` and `w->attempt`. */
static int solve_in_stages(work *w, const dqik_problem *problem) {
    const dqik_stage *s = w->s;
    const size_t goals = (size_t)s->goals;
    point *base = w->attempt;
    double *const places = w->places, *const turns = w->turns;
    int iterations = 0;
    copy_point(w, &w->best, &w->now);
    memcpy(base->q, w->base_q, sizeof(double) * 4 * (size_t)w->k->joints);
    memcpy(base->x, w->base_x, sizeof(double) * (size_t)w->n);
    forward_all(w, base);
    errors(w, base);
    copy_point(w, &w->now, base);
    copy_point(w, &w->tried, base);
    for (int i = 0; i < s->stagings; i++) {
        memcpy(w->shifted_places, places, sizeof(double) * 3 * goals);
        memcpy(w->shifted_turns, turns, sizeof(double) * 4 * goals);
        for (int g = 0; g < s->goals; g++) w->ways[g] = (double)(i + 1) / s->stagings - 1.0;
        shift_targets(w, base, w->ways, w->shifted_places, w->shifted_turns);
        w->places = w->shifted_places, w->turns = w->shifted_turns;
        errors(w, &w->now);
        iterations += minimise(w, s->staging + i);
        w->places = places, w->turns = turns;
    }
    const double enough = STAGED_SHARE * rows_square(w, &w->best);
    if (rows_square(w, &w->now) < enough) {
        errors(w, &w->now);
        iterations += minimise(w, s->phase + s->phases - 1);
    }
    iterations = polish(w, problem, iterations);
    if (!(rows_square(w, &w->now) < enough)) copy_point(w, &w->now, &w->best);
    return iterations;
}

/* Solve a stage afresh from a pose, with all goals at once; the answer is in `w->now`. `missed_before`: whether it
 * follows a frame that missed its goals, too. */
static int solve_afresh(work *w, const dqik_problem *problem, const double *rotations, const double *translations,
                        int missed_before) {
    const dqik_stage *s = w->s;
    const int pulls = s->phase[s->phases - 1].pull > 0.0;
    int iterations;
    enter(w, &w->given, rotations, translations);
    forward_all(w, &w->given);
    set_base(w, rotations, translations);
    yield_targets(w, &w->given);
    errors(w, &w->given);
    if (pulls && s->continues) {
        iterations = continue_in_pull(w);
    } else {
        if (pulls) {
            start_folded(w, s->swivel[0]);
        } else {
            copy_point(w, &w->now, &w->given);
            for (int i = 0; i < s->poles; i++) swivel_to_pole(w, s->pole + i, s->pole_hold[i], &w->now);
            copy_point(w, &w->tried, &w->now);
        }
        iterations = minimise(w, s->phase + s->phases - 1);
    }
    iterations = polish(w, problem, iterations);
    int met = within(w, &w->now, problem->tolerance, problem->rotation_tolerance);
    if (!met && !pulls && is_stuck(w, &w->now)) {
        iterations += start_from_arcs(w, problem);
        met = within(w, &w->now, problem->tolerance, problem->rotation_tolerance);
    }
    if (!met && !missed_before && is_far_off(w)) {
        iterations += solve_in_stages(w, problem);
        met = within(w, &w->now, problem->tolerance, problem->rotation_tolerance);
        if (!met && is_far_off(w)) met = try_middle(w, problem, &iterations);
    }
    if (!met && looks_recoverable(w, 0)) met = try_near(w, problem, &iterations);
    if (!met && s->restarts) {
        iterations += restart(w, problem, !s->phase[s->phases - 1].abandons);
        met = within(w, &w->now, problem->tolerance, problem->rotation_tolerance);
    }
    return iterations;
}

/* Solve a stage afresh from a pose; the answer is in `w->now`. */
int solve_stage(work *w, const dqik_problem *problem, const double *rotations, const double *translations) {
    int iterations = solve_afresh(w, problem, rotations, translations, 0);
    if (!within(w, &w->now, problem->tolerance, problem->rotation_tolerance)) {
        double *shares = w->shares;
        iterations += serve_in_order(w, rotations, translations, 0);
        if (!(square_missed(w, &w->now, problem) <= square_missed(w, &w->given, problem)))
            copy_point(w, &w->now, &w->given);
        w->shares = shares;
        errors(w, &w->now);
    }
    return iterations;
}

/* Attempts from other starts for a frame that misses its goals: starts near the pose before, in `w->given`, then
 * restarts. */
static int retry(work *w, const dqik_problem *problem, int met_before) {
    const dqik_stage *s = w->s;
    int iterations = 0, met = 0;
    if (s->restarts || looks_recoverable(w, met_before)) met = try_near(w, problem, &iterations);
    if (!met && s->restarts) iterations += restart(w, problem, 1);
    return iterations;
}

/* Solve a stage from the frame before it; afresh if the targets jumped or the error is too large. */
int follow_stage(work *w, const dqik_problem *problem, const frame_view *frame, const double *warm_q,
                const double *warm_t, const double *start_q, const double *start_t, const double *before) {
    const dqik_stage *s = w->s;
    const point rows = {.e = (double *)before};
    const int met_before = before && within(w, &rows, problem->tolerance, problem->rotation_tolerance);
    const int missed_before = before && !met_before;
    double jump = 0.0, rest = 0.0;
    enter(w, &w->now, warm_q, warm_t);
    forward_all(w, &w->now);
    if (s->phase[s->phases - 1].pull > 0.0) {
        enter(w, &w->given, start_q, start_t);
        if (s->limbs || s->arcs) forward_all(w, &w->given);
        set_base(w, start_q, start_t);
    }
    yield_targets(w, &w->now);
    errors(w, &w->now);
    for (int i = 0; i < w->rows; i++) jump = most(jump, fabs(w->now.e[i] - (before ? before[i] : 0.0)));
    if (jump > FOLLOW_JUMP) {
        ask(w, frame);
        return solve_stage(w, problem, start_q, start_t);
    }
    copy_point(w, &w->tried, &w->now);
    int iterations = 0;
    if (!s->continues || !missed_before) iterations += polish(w, problem, minimise(w, s->following));
    if (s->polishing && !within(w, &w->now, problem->tolerance, problem->rotation_tolerance)) {
        errors(w, &w->now); /* with the poles' rows */
        iterations += polish(w, problem, minimise(w, s->following_missed));
    }
    const double error = longest_error(w);
    for (int i = 0; before && i < w->rows; i++) rest = most(rest, fabs(before[i]));
    if (s->phase[s->phases - 1].pull > 0.0 && error > most(FOLLOW_LOST, 1.1 * rest)) {
        copy_point(w, &w->afresh, &w->now);
        ask(w, frame);
        iterations += solve_afresh(w, problem, start_q, start_t, missed_before);
        if (!(rows_square(w, &w->now) < rows_square(w, &w->afresh))) copy_point(w, &w->now, &w->afresh);
    }
    if ((s->recovers || s->restarts) && !within(w, &w->now, problem->tolerance, problem->rotation_tolerance)) {
        enter(w, &w->given, warm_q, warm_t);
        forward_all(w, &w->given);
        errors(w, &w->given);
        iterations += retry(w, problem, met_before);
    }
    if (!within(w, &w->now, problem->tolerance, problem->rotation_tolerance)) {
        double *shares = w->shares;
        iterations += serve_in_order(w, start_q, start_t, 1);
        w->shares = shares;
        errors(w, &w->now);
    }
    return iterations;
}
