/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames from their poses to their answers, stage after stage; see solvers/api.py. */
#include "internal.h"

#define HOLD_AFTER 2

/* -- working memory ------------------------------------------------------------------------------------------------ */

typedef struct {
    double *at; /* NULL while only counting */
    int64_t used;
} arena;

static double *take(arena *a, int64_t count) {
    double *here = a->at ? a->at + a->used : NULL;
    a->used += (count + 7) / 8 * 8;
    return here;
}

static point take_point(arena *a, int joints, const dqik_stage *s) {
    point p;
    p.q = take(a, 4 * joints), p.x = take(a, s->n), p.w = take(a, 4 * joints), p.m = take(a, 9 * joints);
    p.p = take(a, 3 * joints), p.tips = take(a, 3 * s->goals), p.e = take(a, s->rows + s->poles), p.v = take(a, s->n);
    p.cost = 0.0;
    return p;
}

static work take_work(arena *a, const dqik_problem *problem, const dqik_stage *s) {
    const int joints = problem->skeleton.joints, all = s->rows + s->poles, n = s->n;
    work w;
    memset(&w, 0, sizeof w);
    w.s = s, w.k = &problem->skeleton, w.n = n, w.rows = s->rows, w.all = all, w.use_poles = s->poles > 0;
    w.places = take(a, 3 * s->goals), w.turns = take(a, 4 * s->goals), w.ends = take(a, 3 * s->goals);
    w.shares = take(a, s->goals), w.base_q = take(a, 4 * joints), w.base_x = take(a, n);
    w.now = take_point(a, joints, s), w.tried = take_point(a, joints, s), w.best = take_point(a, joints, s);
    w.given = take_point(a, joints, s), w.afresh = take_point(a, joints, s);
    for (int i = 0; i < s->swivels; i++) w.attempt[i] = take_point(a, joints, s);
    if (s->sweep) w.kept = take_point(a, joints, s), w.swung = take_point(a, joints, s);
    w.jacobian = take(a, (int64_t)n * all), w.bent = take(a, (int64_t)n * all);
    w.gradient = take(a, n), w.pulled = take(a, n), w.matrix = take(a, n < all ? (int64_t)n * (n + 3) : (int64_t)all * (all + 3));
    w.rhs = take(a, all), w.left = take(a, all);
    w.d = take(a, n), w.candidate = take(a, n), w.current = take(a, n);
    w.fixed = take(a, n), w.down = take(a, n), w.trial = take(a, n), w.again = take(a, n);
    w.normals = take(a, 2 * s->pairs), w.inverses = take(a, 9 * s->blocks);
    w.free = (uint8_t *)take(a, (n + 7) / 8), w.opened = (uint8_t *)take(a, (n + 7) / 8);
    return w;
}

/* Links as rotation and place, rotations and translations of the pose so far, all before the stages' own memory. */
typedef struct {
    double *link_q, *link_t, *q, *t;
} pose_memory;

static pose_memory take_pose(arena *a, int joints) {
    pose_memory m = {take(a, 4 * joints), take(a, 3 * joints), take(a, 4 * joints), take(a, 3 * joints)};
    return m;
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

/* -- frames -------------------------------------------------------------------------------------------------------- */

static void read_links(const dqik_problem *problem, const double *links, pose_memory *m) {
    for (int j = 0; j < problem->skeleton.joints; j++) {
        const double *link = links + 8 * j;
        double back[4], t[4];
        memcpy(m->link_q + 4 * j, link, 4 * sizeof(double));
        q_conjugate(back, link);
        q_product(t, link + 4, back);
        for (int i = 0; i < 3; i++) m->link_t[3 * j + i] = 2.0 * t[i + 1];
    }
}

/* Slides that the stage does not move stand where the pose has them: they are part of the link then. */
static void place_still_slides(const work *w, const double *links, const double *translations, double *link_t) {
    for (int i = 0; i < w->s->still_slides; i++) {
        int j = w->s->still_slide[i];
        double moved[3];
        q_rotate(moved, links + 8 * j, translations + 3 * j);
        for (int c = 0; c < 3; c++) link_t[3 * j + c] += moved[c];
    }
}

/* Write what a stage moves into the pose so far. */
static void pose_stage(const work *w, pose_memory *m) {
    const dqik_stage *s = w->s;
    memcpy(m->q, w->now.q, sizeof(double) * 4 * (size_t)w->k->joints);
    for (int b = 0; b < s->blocks; b++) {
        int joint = s->block_joint[b];
        const double *axis = w->k->axis + 3 * joint;
        if (s->block_kind[b] == DQIK_SLIDE)
            for (int i = 0; i < 3; i++) m->t[3 * joint + i] = axis[i] * w->now.x[s->block_start[b]];
    }
}

static int all_finite(const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return 0;
    return 1;
}

/* Whether all is a number that a frame's answer depends on. */
static int is_asked_in_numbers(const dqik_problem *problem, const dqik_frame *frame, const double *previous_q,
                               const double *previous_t) {
    const int64_t joints = problem->skeleton.joints;
    int fine = all_finite(frame->rotations, 4 * joints) && all_finite(frame->translations, 3 * joints) &&
               all_finite(frame->links, 8 * joints) && (!previous_q || all_finite(previous_q, 4 * joints)) &&
               (!previous_t || all_finite(previous_t, 3 * joints));
    for (int i = 0; fine && i < problem->stages; i++) {
        const dqik_stage *s = problem->stage + i;
        for (int g = 0; fine && g < s->goals; g++)
            fine = (s->place_row[g] < 0 || all_finite(frame->places + 3 * s->goal_index[g], 3)) &&
                   (s->turn_row[g] < 0 || all_finite(frame->turns + 4 * s->goal_index[g], 4));
        for (int k = 0; fine && k < s->poles; k++)
            fine = all_finite(frame->poles + 3 * s->goal_index[s->pole[k].goal], 3);
    }
    return fine;
}

/* What is not asked in numbers is not answered in numbers either, so that nobody takes it for a pose. */
static void answer_nothing(const dqik_problem *problem, const dqik_frame *frame) {
    for (int j = 0; j < problem->skeleton.joints; j++) {
        for (int i = 0; i < 4; i++) frame->out_rotations[4 * j + i] = NAN;
        for (int i = 0; i < 3; i++) frame->out_translations[3 * j + i] = NAN;
        frame->at_limit[j] = 0;
    }
    for (int g = 0; g < problem->goals; g++) frame->distances[g] = frame->angles[g] = NAN;
    *frame->iterations = 0, *frame->converged = 0;
}

static void solve_frame(const dqik_problem *problem, const dqik_frame *frame, const double *previous_q,
                        const double *previous_t, double *residual, int first, double *memory) {
    const int joints = problem->skeleton.joints;
    const size_t bytes = sizeof(double) * (size_t)joints;
    if (!is_asked_in_numbers(problem, frame, previous_q, previous_t)) {
        answer_nothing(problem, frame);
        return;
    }
    arena a = {memory, 0};
    pose_memory m = take_pose(&a, joints);
    const int64_t own = a.used;
    memcpy(m.q, frame->rotations, 4 * bytes);
    memcpy(m.t, frame->translations, 3 * bytes);
    for (int j = 0; j < joints; j++) q_unit(m.q + 4 * j);
    memset(frame->distances, 0, sizeof(double) * (size_t)problem->goals);
    memset(frame->angles, 0, sizeof(double) * (size_t)problem->goals);
    memset(frame->at_limit, 0, (size_t)joints);
    *frame->iterations = 0;
    for (int i = 0; i < problem->stages; i++) {
        const dqik_stage *s = problem->stage + i;
        a.used = own;
        work w = take_work(&a, problem, s);
        read_links(problem, frame->links, &m);
        w.link_q = m.link_q, w.link_t = m.link_t;
        place_still_slides(&w, frame->links, m.t, m.link_t);
        ask(&w, frame);
        if (previous_q) {
            /* joints of other stages stand where those put them; the stage's own start from the frame before */
            double *warm_q = frame->out_rotations, *warm_t = frame->out_translations;
            memcpy(warm_q, m.q, 4 * bytes);
            memcpy(warm_t, m.t, 3 * bytes);
            for (int b = 0; b < s->blocks; b++) {
                int j = s->block_joint[b];
                memcpy(warm_q + 4 * j, previous_q + 4 * j, 4 * sizeof(double));
                copy3(warm_t + 3 * j, previous_t + 3 * j);
            }
            *frame->iterations +=
                track_stage(&w, problem, frame, warm_q, warm_t, m.q, m.t, first ? NULL : residual);
            memcpy(residual, w.now.e, sizeof(double) * (size_t)s->rows);
            residual += s->rows;
        } else {
            *frame->iterations += solve_stage(&w, problem, m.q, m.t);
        }
        report(&w, &w.now, frame);
        mark_limits(s, w.now.x, frame->at_limit);
        pose_stage(&w, &m);
    }
    memcpy(frame->out_rotations, m.q, 4 * bytes);
    memcpy(frame->out_translations, m.t, 3 * bytes);
    *frame->converged = 1;
    for (int g = 0; g < problem->goals; g++)
        if ((problem->asked[g] & 1 && !(frame->distances[g] <= problem->tolerance)) ||
            (problem->asked[g] & 2 && !(frame->angles[g] <= problem->rotation_tolerance)))
            *frame->converged = 0;
}

void dqik_solve(const dqik_problem *problem, const dqik_frame *frames, int64_t count, double *memory) {
    for (int64_t i = 0; i < count; i++) solve_frame(problem, frames + i, NULL, NULL, NULL, 1, memory);
}

void dqik_track(const dqik_problem *problem, const dqik_frame *frame, const double *rotations,
                const double *translations, double *residual, int32_t first, double *memory) {
    solve_frame(problem, frame, rotations, translations, residual, first, memory);
}

static int same(const double *a, const double *b, int64_t count) {
    for (int64_t i = 0; a != b && i < count; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static int asks_the_same(const dqik_problem *problem, const dqik_frame *a, const dqik_frame *b) {
    const int64_t joints = problem->skeleton.joints, goals = problem->goals;
    return same(a->places, b->places, 3 * goals) && same(a->turns, b->turns, 4 * goals) &&
           same(a->poles, b->poles, 3 * goals) && same(a->rotations, b->rotations, 4 * joints) &&
           same(a->translations, b->translations, 3 * joints) && same(a->links, b->links, 8 * joints);
}

static void answer_as(const dqik_problem *problem, const dqik_frame *frame, const dqik_frame *other) {
    const size_t joints = (size_t)problem->skeleton.joints, goals = (size_t)problem->goals, number = sizeof(double);
    memcpy(frame->out_rotations, other->out_rotations, 4 * joints * number);
    memcpy(frame->out_translations, other->out_translations, 3 * joints * number);
    memcpy(frame->distances, other->distances, goals * number);
    memcpy(frame->angles, other->angles, goals * number);
    memcpy(frame->at_limit, other->at_limit, joints);
    *frame->iterations = 0, *frame->converged = *other->converged;
}

/* How many frames in a row up to this one ask for what the one before them did, as far as that matters. */
static int unchanged_before(const dqik_problem *problem, const dqik_frame *frames, int64_t i) {
    int unchanged = 0;
    while (unchanged < HOLD_AFTER && i - unchanged > 1 &&
           asks_the_same(problem, frames + i - unchanged, frames + i - unchanged - 1))
        unchanged++;
    return unchanged;
}

void dqik_follow(const dqik_problem *problem, const dqik_frame *frames, int64_t begin, int64_t end, double *residual,
                 double *memory) {
    for (int64_t i = begin; i < end; i++) {
        const dqik_frame *frame = frames + i, *before = i ? frame - 1 : NULL;
        if (!before)
            solve_frame(problem, frame, NULL, NULL, NULL, 1, memory);
        else if (unchanged_before(problem, frames, i) >= HOLD_AFTER)
            answer_as(problem, frame, before);
        else
            solve_frame(problem, frame, before->out_rotations, before->out_translations, residual, i == 1, memory);
    }
}
