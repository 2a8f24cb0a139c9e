/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Solves a frame from its inputs to its outputs, stage after stage; see solvers/group/stages.py. */
#include "../internal.h"

#define AT(name) (void *)((char *)(uintptr_t)frames->name + i * frames->name##_step)

frame_view frame_at(const dqik_frames *frames, int64_t i) {
    frame_view view = {
        AT(positions), AT(orientations), AT(poles), AT(points), AT(start_rotations), AT(start_translations), AT(links),
        AT(home_rotations),
        AT(rotations), AT(translations), AT(position_errors), AT(rotation_errors),
        AT(iterations), AT(converged), AT(at_limit),
    };
    return view;
}

static void read_links(const dqik_problem *problem, const double *links, const pose_memory *m) {
    for (int j = 0; j < problem->skeleton.joints; j++) {
        const double *link = links + 8 * j;
        double back[4], t[4];
        memcpy(m->link_q + 4 * j, link, 4 * sizeof(double));
        q_conjugate(back, link);
        q_product(t, link + 4, back);
        for (int i = 0; i < 3; i++) m->link_t[3 * j + i] = 2.0 * t[i + 1];
    }
}

/* Add the translations of slides that the stage does not move to their links. */
static void place_still_slides(const work *w, const double *links, const double *translations, double *link_t) {
    for (int i = 0; i < w->s->still_slides; i++) {
        int j = w->s->still_slide[i];
        double moved[3];
        q_rotate(moved, links + 8 * j, translations + 3 * j);
        for (int c = 0; c < 3; c++) link_t[3 * j + c] += moved[c];
    }
}

/* Give every joint the nearest motion that its kind allows; see solvers/model/freedom.py. */
static void keep_allowed(const dqik_skeleton *k, const pose_memory *m) {
    for (int j = 0; j < k->joints; j++) {
        const double *axis = k->axis + 3 * j;
        double *q = m->q + 4 * j, *t = m->t + 3 * j;
        const double slid = k->kind[j] == DQIK_SLIDE ? dot3(t, axis) : 0.0, along = dot3(q + 1, axis);
        int off = 0;
        for (int i = 0; i < 3; i++) t[i] = axis[i] * slid, off |= fabs(q[1 + i] - along * axis[i]) > ROUNDED;
        if (k->kind[j] == DQIK_SLIDE || k->kind[j] == DQIK_FIXED) {
            q[0] = 1.0, q[1] = q[2] = q[3] = 0.0;
        } else if (k->kind[j] == DQIK_HINGE && off) {
            const double angle = 2.0 * atan2(along, q[0]), v[3] = {axis[0] * angle, axis[1] * angle, axis[2] * angle};
            q_exp(q, v);
        }
    }
}

/* Bring the joints that no stage moves inside their limits; those that are inside stay to the bit. */
static void bring_inside(const dqik_problem *problem, const pose_memory *m) {
    const dqik_stage *s = problem->still;
    if (!s) return;
    work w;
    memset(&w, 0, sizeof w);
    w.s = s, w.k = &problem->skeleton;
    for (int b = 0; b < s->blocks; b++) {
        const int joint = s->block_joint[b], at = s->block_start[b];
        const double *axis = w.k->axis + 3 * joint;
        const int size = s->block_kind[b] == DQIK_SLIDE ? 3 : 4;
        double *own = size == 3 ? m->t + 3 * joint : m->q + 4 * joint, inside[4], x[3], off = 0.0, other = 0.0;
        memcpy(inside, own, sizeof(double) * (size_t)size);
        if (size == 3) {
            x[0] = clamp(dot3(own, axis), s->lo[at], s->hi[at]);
            for (int c = 0; c < 3; c++) inside[c] = axis[c] * x[0];
        } else {
            nearest_motion(&w, b, inside, x);
        }
        for (int c = 0; c < size; c++) off = most(off, fabs(inside[c] - own[c])), other = most(other, fabs(inside[c] + own[c]));
        if (size == 4) off = least(off, other); /* q and -q are the same rotation */
        if (off > ROUNDED) memcpy(own, inside, sizeof(double) * (size_t)size);
    }
}

/* Write the joints that a stage moves to the pose. */
static void pose_stage(const work *w, const pose_memory *m) {
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

static int is_zero(const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (values[i] != 0.0) return 0;
    return 1;
}

/* Whether all inputs that the frame's answer depends on are finite. */
static int is_finite(const dqik_problem *problem, const frame_view *frame) {
    const int64_t joints = problem->skeleton.joints;
    int finite = all_finite(frame->start_rotations, 4 * joints) && all_finite(frame->start_translations, 3 * joints) &&
                 all_finite(frame->links, 8 * joints) && all_finite(frame->home_rotations, 4 * joints) &&
                 all_finite(frame->points, 3 * problem->points);
    for (int i = 0; finite && i < problem->stages; i++)
        finite = targets_finite(problem->stage + i, frame);
    return finite;
}

/* Set the frame's outputs to NaN, which cannot be mistaken for a pose. */
static void answer_nothing(const dqik_problem *problem, const frame_view *frame) {
    for (int j = 0; j < problem->skeleton.joints; j++) {
        for (int i = 0; i < 4; i++) frame->rotations[4 * j + i] = NAN;
        for (int i = 0; i < 3; i++) frame->translations[3 * j + i] = NAN;
        frame->at_limit[j] = 0;
    }
    for (int g = 0; g < problem->goals; g++) frame->position_errors[g] = frame->rotation_errors[g] = NAN;
    *frame->iterations = 0, *frame->converged = 0;
}

/* Solve a stage from the frame before. Joints of other stages keep the pose of this frame so far. The start pose is
 * built in the frame's outputs. */
static int follow(work *w, const dqik_problem *problem, const frame_view *frame, const pose_memory *m,
                 const frame_view *previous, const double *residual) {
    const size_t bytes = sizeof(double) * (size_t)problem->skeleton.joints;
    double *warm_q = frame->rotations, *warm_t = frame->translations;
    memcpy(warm_q, m->q, 4 * bytes);
    memcpy(warm_t, m->t, 3 * bytes);
    for (int b = 0; b < w->s->blocks; b++) {
        int j = w->s->block_joint[b];
        memcpy(warm_q + 4 * j, previous->rotations + 4 * j, 4 * sizeof(double));
        copy3(warm_t + 3 * j, previous->translations + 3 * j);
    }
    return follow_stage(w, problem, frame, warm_q, warm_t, m->q, m->t, residual);
}

/* The working memory of a stage with the links and targets of a frame; `m` has the pose so far. */
work stage_of_frame(const dqik_problem *problem, const dqik_stage *s, const frame_view *frame, const pose_memory *m,
                    double *memory) {
    work w = work_in(memory, problem, s);
    read_links(problem, frame->links, m);
    w.link_q = m->link_q, w.link_t = m->link_t;
    w.home_q = is_zero(frame->home_rotations, 4 * problem->skeleton.joints) ? NULL : frame->home_rotations;
    place_still_slides(&w, frame->links, m->t, m->link_t);
    w.points = frame->points;
    ask(&w, frame);
    return w;
}

void clear_report(const dqik_problem *problem, const frame_view *frame) {
    memset(frame->position_errors, 0, sizeof(double) * (size_t)problem->goals);
    memset(frame->rotation_errors, 0, sizeof(double) * (size_t)problem->goals);
    memset(frame->at_limit, 0, (size_t)problem->skeleton.joints);
}

/* Report a stage's errors and limits at `w->now`, and write the joints that it moves to the pose. */
void report_stage(const work *w, const frame_view *frame, const pose_memory *m) {
    report(w, &w->now, frame);
    mark_limits(w->s, w->now.x, frame->at_limit);
    pose_stage(w, m);
}

/* Write a frame's pose, and whether its goals are met. */
void report_frame(const dqik_problem *problem, const frame_view *frame, const pose_memory *m) {
    const size_t bytes = sizeof(double) * (size_t)problem->skeleton.joints;
    memcpy(frame->rotations, m->q, 4 * bytes);
    memcpy(frame->translations, m->t, 3 * bytes);
    *frame->converged = 1;
    for (int g = 0; g < problem->goals; g++)
        if ((problem->counts[g] & 1 && !(frame->position_errors[g] <= problem->tolerance)) ||
            (problem->counts[g] & 2 && !(frame->rotation_errors[g] <= problem->rotation_tolerance)))
            *frame->converged = 0;
}

/* Solve a frame: afresh, or from the last frame of a motion, whose residual is then overwritten. Returns whether the
 * inputs are finite. */
int solve_frame(const dqik_problem *problem, const frame_view *frame, const dqik_motion *motion, double *memory) {
    const int joints = problem->skeleton.joints;
    const size_t bytes = sizeof(double) * (size_t)joints;
    if (!is_finite(problem, frame)) {
        answer_nothing(problem, frame);
        return 0;
    }
    pose_memory m = pose_in(memory, problem);
    memcpy(m.q, frame->start_rotations, 4 * bytes);
    memcpy(m.t, frame->start_translations, 3 * bytes);
    for (int j = 0; j < joints; j++) q_unit(m.q + 4 * j);
    keep_allowed(&problem->skeleton, &m);
    bring_inside(problem, &m);
    clear_report(problem, frame);
    *frame->iterations = 0;
    for (int i = 0, row = 0; i < problem->stages; i++) {
        const dqik_stage *s = problem->stage + i;
        work w = stage_of_frame(problem, s, frame, &m, memory);
        if (motion) {
            const frame_view previous = frame_at(motion->last, 0);
            double *residual = motion->residual + row;
            *frame->iterations += follow(&w, problem, frame, &m, &previous, motion->steps > 1 ? residual : NULL);
            memcpy(residual, w.now.e, sizeof(double) * (size_t)s->rows);
            row += s->rows;
        } else {
            *frame->iterations += solve_stage(&w, problem, m.q, m.t);
        }
        report_stage(&w, frame, &m);
    }
    report_frame(problem, frame, &m);
    return 1;
}

void dqik_solve(const dqik_problem *problem, const dqik_frames *frames, int64_t begin, int64_t end, double *memory) {
    for (int64_t i = begin; i < end; i++) {
        const frame_view frame = frame_at(frames, i);
        solve_frame(problem, &frame, NULL, memory);
    }
    leave(memory, problem);
}
