/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pushes bodies apart in solved frames; see solvers/group/apart.py. */
#include "../iterate/linear_step.h"
#include "contacts.h"

/* A frame that is pushed. The stage has rows for all gaps after those of its tasks, of which a step uses those that count. */
typedef struct {
    work *w;
    bodies b;
    dqik_stage stage, unknowns; /* copies whose last runs of rows end at the gaps that count */
    int tasks;                  /* rows of tasks */
    double *task_columns;       /* (n, tasks) */
    double *missed;             /* (tasks) error rows of the answer, which are left */
    double *errors;             /* (tasks + K) of the tasks and of the near gaps */
    double *rows;               /* (K, n) of the near gaps */
    double *deep, *aims;        /* (K) */
    uint8_t *taking;            /* (tasks + K) rows that count, of the near gaps */
    uint8_t *counted;           /* (tasks + K) sided rows that counted in the last step, by number */
    uint8_t *sided;             /* (tasks) rows that count only where they are broken */
    int32_t *run, *unknown_run;
} push;

static int64_t last_run(const dqik_stage *s) { return 2 * (int64_t)s->run_start[s->n]; }

/* Arrays in the caller's memory after those of the stage; returns how many doubles they take. */
static int64_t push_in(push *to, double *memory, const dqik_problem *problem, const dqik_contacts *c) {
    const dqik_stage *s = problem->stage;
    const int64_t all = s->all, tasks = all - c->count, n = s->n;
    const dqik_stage *u = s->unknowns;
    int64_t corners = 0, triangles = 0, most_triangles = 0, used = 0;
    for (int i = 0; i < c->bodies; i++) {
        corners += c->body[i].corners, triangles += c->body[i].triangles;
        if (c->body[i].triangles > most_triangles) most_triangles = c->body[i].triangles;
    }
#define TAKE(type, count) (type *)(memory ? memory + used : NULL); used += ((int64_t)sizeof(type) * (count) + 7) / 8
    to->b.c = c;
    to->b.ends = TAKE(double, 6 * c->capsules);
    to->b.corners = TAKE(double, 3 * corners);
    to->b.planes = TAKE(double, 6 * triangles);
    to->b.middles = TAKE(double, 4 * c->bodies);
    to->b.heights = TAKE(double, 2 * most_triangles);
    to->b.gaps = TAKE(near_gap, c->count);
    to->task_columns = TAKE(double, n * tasks);
    to->missed = TAKE(double, tasks);
    to->errors = TAKE(double, all);
    to->rows = TAKE(double, n * c->count);
    to->deep = TAKE(double, c->count);
    to->aims = TAKE(double, c->count);
    to->taking = TAKE(uint8_t, all);
    to->counted = TAKE(uint8_t, all);
    to->sided = TAKE(uint8_t, tasks);
    to->run = TAKE(int32_t, last_run(s));
    to->unknown_run = TAKE(int32_t, u ? last_run(u) : 0);
#undef TAKE
    to->tasks = (int)tasks;
    to->stage = *s;
    if (memory) memcpy(to->run, s->run, sizeof(int32_t) * (size_t)last_run(s));
    to->stage.run = to->run;
    if (!u) return used;
    to->unknowns = *u;
    if (memory) memcpy(to->unknown_run, u->run, sizeof(int32_t) * (size_t)last_run(u));
    to->unknowns.run = to->unknown_run;
    to->stage.unknowns = &to->unknowns;
    return used;
}

int64_t dqik_contacts_work(const dqik_problem *problem, const dqik_contacts *contacts) {
    push p;
    return dqik_work(problem) + push_in(&p, NULL, problem, contacts);
}

/* Let the rows of each degree of freedom end at `all`: the rows of gaps come last, and all have them. */
static void end_runs(const dqik_stage *s, int32_t *run, int all) {
    for (int k = 0; k < s->n; k++) run[2 * s->run_start[k + 1] - 1] = all;
}

/* The damped step for the rows that count. */
static void step_for_rows(push *p, double *d) {
    work *w = p->w;
    const size_t tasks = (size_t)p->tasks;
    int all = p->tasks;
    for (int i = 0; i < p->b.near; i++) all += p->taking[p->tasks + i];
    w->all = all;
    end_runs(&p->stage, p->run, all);
    if (p->stage.unknowns) end_runs(&p->unknowns, p->unknown_run, all);
    for (int i = 0; i < p->tasks; i++) w->now.e[i] = p->taking[i] ? p->errors[i] : 0.0;
    for (int k = 0; k < w->n; k++) {
        double *column = w->jacobian + (size_t)k * (size_t)all;
        const double *from = p->task_columns + (size_t)k * tasks;
        for (int i = 0; i < p->tasks; i++) column[i] = p->taking[i] ? from[i] : 0.0;
    }
    for (int i = 0, row = p->tasks; i < p->b.near; i++) {
        if (!p->taking[p->tasks + i]) continue;
        const double *from = p->rows + (size_t)i * (size_t)w->n;
        for (int k = 0; k < w->n; k++) w->jacobian[(size_t)k * (size_t)all + (size_t)row] = from[k];
        w->now.e[row++] = p->errors[p->tasks + i];
    }
    if (p->stage.unknowns)
        take_coupled_step(w, pgs_step, d);
    else
        pgs_step(w, d);
}

/* Update the rows that count after a step; returns whether any changed. */
static int update_counts(push *p, const double *d) {
    const int n = p->w->n;
    int changed = 0;
    for (int i = 0; i < p->tasks + p->b.near; i++) {
        if (i < p->tasks && !p->sided[i]) continue;
        double left = p->errors[i];
        for (int k = 0; k < n; k++)
            left -= d[k] * (i < p->tasks ? p->task_columns[(size_t)k * (size_t)p->tasks + (size_t)i]
                                         : p->rows[(size_t)(i - p->tasks) * (size_t)n + (size_t)k]);
        const uint8_t breaks = left > 0.0;
        changed |= breaks != p->taking[i];
        p->taking[i] = breaks;
    }
    return changed;
}

/* One step of `w->now`. */
static void take_push_step(push *p, const frame_view *frame) {
    work *w = p->w;
    const double weight = CONTACT_WEIGHT / w->k->length;
    w->all = p->tasks;
    signed_errors(w, &w->now, p->errors);
    for (int i = 0; i < p->tasks; i++) p->errors[i] -= p->missed[i];
    jacobian(w, &w->now);
    memcpy(p->task_columns, w->jacobian, sizeof(double) * (size_t)w->n * (size_t)p->tasks);
    if (w->pull > 0.0) {
        difference(w, &w->now, w->now.v);
        pull_gradient(w, &w->now, w->gradient);
    }
    find_gaps(&p->b, w, frame->points, &w->now, p->aims, CONTACT_REACH * w->k->length);
    for (int i = 0; i < p->b.near; i++) {
        const near_gap *gap = p->b.gaps + i;
        gap_row(&p->b, w, &w->now, gap, weight, p->rows + (size_t)i * (size_t)w->n);
        p->errors[p->tasks + i] = weight * (p->aims[gap->number] - gap->gap);
    }
    for (int i = 0; i < p->tasks; i++) p->taking[i] = !p->sided[i] || p->errors[i] > 0.0 || p->counted[i];
    for (int i = 0; i < p->b.near; i++)
        p->taking[p->tasks + i] = p->errors[p->tasks + i] > 0.0 || p->counted[p->tasks + p->b.gaps[i].number];
    step_for_rows(p, w->d);
    for (int round = 0; round < CONTACT_ROUNDS && update_counts(p, w->d); round++) step_for_rows(p, w->d);
    memset(p->counted, 0, (size_t)(p->tasks + p->b.c->count));
    for (int i = 0; i < p->tasks; i++) p->counted[i] = p->sided[i] && p->taking[i];
    for (int i = 0; i < p->b.near; i++) p->counted[p->tasks + p->b.gaps[i].number] = p->taking[p->tasks + i];
    const double share = CONTACT_LONGEST / most(longest_of(w, w->d), CONTACT_LONGEST);
    for (int k = 0; k < w->n; k++) w->d[k] *= share;
    take_step(w, &w->tried, &w->now, w->d);
    const point kept = w->now;
    w->now = w->tried, w->tried = kept;
    forward_moved(w, &w->now);
}

/* Set `w->now` to the pose of the frame before, in the joints that the stage moves, and pull to the answer. */
static void begin_before(push *p, const frame_view *frame, const pose_memory *m, const dqik_pose *before) {
    work *w = p->w;
    const size_t joints = (size_t)w->k->joints;
    memcpy(w->base_q, w->now.q, sizeof(double) * 4 * joints);
    memcpy(w->base_x, w->now.x, sizeof(double) * (size_t)w->n);
    for (int b = 0; b < w->s->blocks; b++) {
        const int j = w->s->block_joint[b];
        memcpy(m->q + 4 * j, before->rotations + 4 * j, 4 * sizeof(double));
        copy3(m->t + 3 * j, before->translations + 3 * j);
    }
    enter(w, &w->now, m->q, m->t);
    forward_all(w, &w->now);
    copy_point(w, &w->tried, &w->now);
    w->pull = CONTACT_BACK, w->damping += CONTACT_BACK;
    find_gaps(&p->b, w, frame->points, &w->now, p->b.c->least, 0.0);
}

/* Let all goals hold equally, and less where their own bodies overlap at `w->now`. */
static void hold_by_depth(push *p) {
    const dqik_contacts *c = p->b.c;
    for (int g = 0; g < p->w->s->goals; g++) {
        const uint8_t *owned = c->owned + (size_t)g * (size_t)c->capsules;
        double deep = 0.0;
        for (int i = 0; i < p->b.near; i++) {
            const near_gap *gap = p->b.gaps + i;
            if (owned[gap->capsule] || (gap->other >= 0 && owned[gap->other]))
                deep = most(deep, c->least[gap->number] - gap->gap);
        }
        const double share = least(deep / (CONTACT_SUNK * p->w->k->length), 1.0);
        p->w->shares[g] = (CONTACT_HELD + (CONTACT_LEFT - CONTACT_HELD) * share) / c->weight[g];
    }
}

/* Push the bodies of a frame apart. At first `w->now` is at the answer, where the effectors are held; `before`: the pose
 * from which steps lead back to it, or NULL. */
static void push_frame(push *p, const frame_view *frame, const pose_memory *m, const dqik_pose *before) {
    work *w = p->w;
    const dqik_contacts *c = p->b.c;
    for (int g = 0; g < w->s->goals; g++) w->misses[g] = -1.0;
    shift_targets(w, &w->now, w->misses, w->places, w->turns);
    hold_by_depth(p);
    signed_errors(w, &w->now, p->missed);
    memset(p->sided, 0, (size_t)p->tasks);
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++)
        for (int i = t->row; t->one_sided && i < t->row + t->rows; i++)
            p->sided[i] = 1, p->missed[i] = most(p->missed[i], 0.0);
    w->damping = CONTACT_DAMPING, w->pull = 0.0, w->reluctance = w->weights = c->reluctance, w->use_soft = 1;
    if (before) begin_before(p, frame, m, before);
    memset(p->deep, 0, sizeof(double) * (size_t)c->count);
    for (int i = 0; i < p->b.near; i++) {
        const near_gap *gap = p->b.gaps + i;
        p->deep[gap->number] = most(c->least[gap->number] - gap->gap, 0.0);
    }
    memset(p->counted, 0, (size_t)(p->tasks + c->count));
    for (int step = 0; step < CONTACT_STEPS; step++) {
        const double left = most(0.0, 1.0 - (step + 1) / (double)CONTACT_RAISING);
        for (int k = 0; k < c->count; k++) p->aims[k] = c->least[k] - left * p->deep[k];
        take_push_step(p, frame);
    }
}

/* Stand at a frame's answer; returns its deepest overlap, with the gaps that overlap in `p->b`. */
static double stand_at_answer(push *p, work *w, const dqik_problem *problem, const dqik_contacts *contacts,
                              const frame_view *frame, const pose_memory *m, double *own) {
    push_in(p, own, problem, contacts);
    p->w = w, w->s = &p->stage;
    enter(w, &w->now, m->q, m->t);
    forward_all(w, &w->now);
    copy_point(w, &w->tried, &w->now);
    place_obstacles(&p->b, frame->points);
    return most(0.0, find_gaps(&p->b, w, frame->points, &w->now, contacts->least, 0.0));
}

/* Each frame's answer: its overlap, and where `pushes`, the answer with its bodies pushed apart. */
static void each_frame(const dqik_problem *problem, const dqik_contacts *contacts, const dqik_frames *frames,
                       int64_t begin, int64_t end, double *overlaps, double *memory, int pushes,
                       const dqik_pose *before) {
    double *own = memory + dqik_work(problem);
    for (int64_t i = begin; i < end; i++) {
        const frame_view frame = frame_at(frames, i);
        overlaps[i - begin] = 0.0;
        if (!isfinite(frame.rotations[0])) continue;
        push p;
        pose_memory m = pose_in(memory, problem);
        memcpy(m.q, frame.rotations, sizeof(double) * 4 * (size_t)problem->skeleton.joints);
        memcpy(m.t, frame.translations, sizeof(double) * 3 * (size_t)problem->skeleton.joints);
        work w = stage_of_frame(problem, problem->stage, &frame, &m, memory);
        overlaps[i - begin] = stand_at_answer(&p, &w, problem, contacts, &frame, &m, own);
        if (!pushes || !(overlaps[i - begin] > CONTACT_TOUCHING * problem->skeleton.length)) continue;
        push_frame(&p, &frame, &m, before);
        ask(&w, &frame);
        clear_report(problem, &frame);
        *frame.iterations += CONTACT_STEPS;
        report_stage(&w, &frame, &m);
        report_frame(problem, &frame, &m);
    }
    leave(memory, problem);
}

void dqik_overlaps(const dqik_problem *problem, const dqik_contacts *contacts, const dqik_frames *frames, int64_t begin,
                   int64_t end, double *overlaps, double *memory) {
    each_frame(problem, contacts, frames, begin, end, overlaps, memory, 0, NULL);
}

void dqik_push_apart(const dqik_problem *problem, const dqik_contacts *contacts, const dqik_frames *frames, int64_t begin,
                     int64_t end, double *overlaps, double *memory, const dqik_pose *before) {
    each_frame(problem, contacts, frames, begin, end, overlaps, memory, 1, before);
}
