/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tasks of a stage, of all kinds; see solvers/space/tasks/tasks.py. */
#include "tasks.h"

static const task_kind *const KINDS[] = {
#define ENTRY(number, kind) [number] = &kind,
    DQIK_EACH_TASK(ENTRY)
#undef ENTRY
};

static const task_kind *kind_of(const dqik_task *t) { return KINDS[t->kind]; }

static double weight_of(const work *w, const dqik_task *t) {
    return kind_of(t)->unit == SOFT ? t->weight : t->weight * w->shares[t->goal];
}

/* Soft tasks do not count in runs without poles. */
static int counts(const work *w, const dqik_task *t) { return w->use_soft || kind_of(t)->unit != SOFT; }

/* Write the rows of all tasks to `to`, with the room of one-sided tasks as values below 0. */
void signed_errors(const work *w, const point *p, double *to) {
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++) {
        double *e = to + t->row;
        if (counts(w, t))
            kind_of(t)->errors(w, p, t, weight_of(w, t), e);
        else
            memset(e, 0, sizeof(double) * (size_t)t->rows);
    }
}

/* A one-sided task has no error where it has room. */
static void clip(const dqik_task *t, double *e) {
    for (int i = 0; t->one_sided && i < t->rows; i++) e[i] = most(e[i], 0.0);
}

void errors(const work *w, point *p) {
    signed_errors(w, p, p->e);
    if (!w->s->one_sided) return;
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++) clip(t, p->e + t->row);
}

/* The size of a task's unweighted rows. Uses `w->left`. */
static double size_of_error(const work *w, const point *p, const dqik_task *t, double weight) {
    double *e = w->left, sum = 0.0;
    kind_of(t)->errors(w, p, t, weight, e);
    clip(t, e);
    for (int i = 0; i < t->rows; i++) sum += e[i] * e[i];
    return sqrt(sum);
}

void jacobian(work *w, const point *p) {
    const dqik_stage *s = w->s;
    memset(w->jacobian, 0, sizeof(double) * (size_t)w->n * (size_t)w->all);
    for (int b = 0; b < s->blocks; b++) block_axes(w, p, b, w->axes + 9 * b);
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++)
        if (counts(w, t)) kind_of(t)->jacobian(w, p, t, weight_of(w, t));
}

static int is_within(const point *p, const dqik_task *t, double tolerance, double rotation_tolerance) {
    const double *e = p->e + t->row;
    double sum = 0.0;
    if (kind_of(t)->unit == SOFT) return 1; /* a frame before has no such rows */
    for (int i = 0; i < t->rows; i++) sum += e[i] * e[i];
    return sum <= square(t->weight * (kind_of(t)->unit == LENGTH ? tolerance : rotation_tolerance));
}

int within(const work *w, const point *p, double tolerance, double rotation_tolerance) {
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++)
        if (!is_within(p, t, tolerance, rotation_tolerance)) return 0;
    return 1;
}

int leading_within(const work *w, const point *p, double tolerance, double rotation_tolerance) {
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++)
        if (w->s->leads[t->goal] && !is_within(p, t, tolerance, rotation_tolerance)) return 0;
    return 1;
}

/* Whether the goals are met that others yield to. */
int served_within(const work *w, const point *p, double tolerance, double rotation_tolerance) {
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++)
        if (w->shares[t->goal] > SERVED_SHARE && !is_within(p, t, tolerance, rotation_tolerance)) return 0;
    return 1;
}

/* The sum of the squared errors of the goals that others yield to. */
double served_square(const work *w, const point *p) {
    double sum = 0.0;
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++)
        for (int i = 0; i < t->rows && kind_of(t)->unit != SOFT && w->shares[t->goal] > SERVED_SHARE; i++)
            sum += p->e[t->row + i] * p->e[t->row + i];
    return sum;
}

/* Errors (G) of the goals that have a weight: the distance [skeleton lengths], or the angle times ROTATION_LENGTH if that
 * is larger. */
void misses(const work *w, const point *p, double *to) {
    memset(to, 0, sizeof(double) * (size_t)w->s->goals);
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++) {
        const task_kind *kind = kind_of(t);
        if (kind->unit == SOFT || !(t->weight > 0.0)) continue;
        to[t->goal] = most(to[t->goal], size_of_error(w, p, t, 1.0) *
                                            (kind->unit == LENGTH ? 1.0 / w->k->length : ROTATION_LENGTH));
    }
}

/* Move and turn targets `places` and `turns` by shares (G) of the goals' errors. */
void shift_targets(const work *w, const point *p, const double *shares, double *places, double *turns) {
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++) {
        double e[3], turn[4];
        if (t->kind != DQIK_POSITION && t->kind != DQIK_ROTATION) continue;
        kind_of(t)->errors(w, p, t, shares[t->goal], e);
        if (t->kind == DQIK_POSITION) {
            add3(places + 3 * t->goal, e);
        } else {
            const dqik_rotation *carry = t->data;
            if (carry) { /* the limb will carry this turn too */
                double by[4];
                carrying(carry, p->w + 4 * carry->limb, by);
                q_conjugate(by, by);
                q_rotate(e, by, e);
            }
            q_exp(turn, e);
            q_product(turns + 4 * t->goal, turn, turns + 4 * t->goal);
        }
    }
}

double rows_square(const work *w, const point *p) {
    double sum = 0.0;
    for (int i = 0; i < w->rows; i++) sum += p->e[i] * p->e[i];
    return sum;
}

/* As `rows_square`, of goals that are missed. Uses `w->misses`. */
double square_missed(work *w, point *p, const dqik_problem *problem) {
    const dqik_task *end = w->s->task + w->s->tasks;
    double sum = 0.0;
    memset(w->misses, 0, sizeof(double) * (size_t)w->s->goals);
    for (const dqik_task *t = w->s->task; t < end; t++) {
        if (kind_of(t)->unit == SOFT) continue;
        if (size_of_error(w, p, t, 1.0) > (kind_of(t)->unit == LENGTH ? problem->tolerance : problem->rotation_tolerance))
            w->misses[t->goal] = 1.0;
    }
    errors(w, p);
    for (const dqik_task *t = w->s->task; t < end; t++)
        for (int i = 0; kind_of(t)->unit != SOFT && w->misses[t->goal] > 0.0 && i < t->rows; i++)
            sum += p->e[t->row + i] * p->e[t->row + i];
    return sum;
}

/* Unweighted distances and angles from the frame's targets, which yielding does not change. */
void report(const work *w, const point *p, const frame_view *frame) {
    for (const dqik_task *t = w->s->task; t < w->s->task + w->s->tasks; t++) {
        const task_kind *kind = kind_of(t);
        if (kind->unit == SOFT) continue;
        double *to = kind->unit == LENGTH ? frame->position_errors : frame->rotation_errors;
        to += w->s->goal_index[t->goal];
        *to = most(*to, kind->report ? kind->report(w, p, t, frame) : size_of_error(w, p, t, 1.0));
    }
}

/* Whether all targets of a stage's tasks are finite. */
int targets_finite(const dqik_stage *s, const frame_view *frame) {
    for (const dqik_task *t = s->task; t < s->task + s->tasks; t++) {
        const int g = s->goal_index[t->goal];
        int finite = 1;
        for (int i = 0; i < 4; i++) {
            if (t->reads & 1 && i < 3) finite &= isfinite(frame->positions[3 * g + i]) != 0;
            if (t->reads & 2) finite &= isfinite(frame->orientations[4 * g + i]) != 0;
            if (t->reads & 4 && i < 3) finite &= isfinite(frame->poles[3 * g + i]) != 0;
        }
        if (!finite) return 0;
    }
    return 1;
}
