/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frames of a motion, each solved from the one before; see StagesMotion in solvers/group/stages.py. */
#include "../internal.h"

static int same(const double *a, const double *b, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static int asks_the_same(const dqik_problem *problem, const frame_view *a, const frame_view *b) {
    const int64_t joints = problem->skeleton.joints, goals = problem->goals;
    return same(a->positions, b->positions, 3 * goals) && same(a->orientations, b->orientations, 4 * goals) &&
           same(a->poles, b->poles, 3 * goals) && same(a->points, b->points, 3 * problem->points) &&
           same(a->start_rotations, b->start_rotations, 4 * joints) &&
           same(a->start_translations, b->start_translations, 3 * joints) && same(a->links, b->links, 8 * joints) &&
           same(a->home_rotations, b->home_rotations, 4 * joints);
}

static void copy_question(const dqik_problem *problem, const frame_view *from, const frame_view *to) {
    const size_t joints = (size_t)problem->skeleton.joints, goals = (size_t)problem->goals;
    const size_t joint = sizeof(double) * joints, goal = sizeof(double) * goals;
    memcpy((double *)(uintptr_t)to->positions, from->positions, 3 * goal);
    memcpy((double *)(uintptr_t)to->orientations, from->orientations, 4 * goal);
    memcpy((double *)(uintptr_t)to->poles, from->poles, 3 * goal);
    if (problem->points) memcpy((double *)(uintptr_t)to->points, from->points, 3 * sizeof(double) * (size_t)problem->points);
    memcpy((double *)(uintptr_t)to->start_rotations, from->start_rotations, 4 * joint);
    memcpy((double *)(uintptr_t)to->start_translations, from->start_translations, 3 * joint);
    memcpy((double *)(uintptr_t)to->links, from->links, 8 * joint);
    memcpy((double *)(uintptr_t)to->home_rotations, from->home_rotations, 4 * joint);
}

static void copy_answer(const dqik_problem *problem, const frame_view *from, const frame_view *to) {
    const size_t joints = (size_t)problem->skeleton.joints, goals = (size_t)problem->goals, number = sizeof(double);
    memcpy(to->rotations, from->rotations, 4 * joints * number);
    memcpy(to->translations, from->translations, 3 * joints * number);
    memcpy(to->position_errors, from->position_errors, goals * number);
    memcpy(to->rotation_errors, from->rotation_errors, goals * number);
    memcpy(to->at_limit, from->at_limit, joints);
    *to->iterations = *from->iterations, *to->converged = *from->converged;
}

/* Solve the next frame of a motion. After HOLD_AFTER frames with the same inputs the answer is repeated. */
static void follow_frame(const dqik_problem *problem, dqik_motion *motion, const frame_view *frame, double *memory) {
    const frame_view last = frame_at(motion->last, 0);
    const int unchanged = motion->steps > 1 && asks_the_same(problem, frame, &last) ? motion->unchanged + 1 : 0;
    if (unchanged >= HOLD_AFTER) {
        copy_answer(problem, &last, frame);
        *frame->iterations = 0;
    } else {
        if (!solve_frame(problem, frame, motion->steps ? motion : NULL, memory)) return;
        copy_question(problem, frame, &last);
        copy_answer(problem, frame, &last);
    }
    motion->unchanged = unchanged < HOLD_AFTER ? unchanged : HOLD_AFTER;
    if (motion->steps < 2) motion->steps++;
}

void dqik_follow(const dqik_problem *problem, dqik_motion *motion, const dqik_frames *frames, int64_t begin,
                 int64_t end, double *memory) {
    for (int64_t i = begin; i < end; i++) {
        const frame_view frame = frame_at(frames, i);
        follow_frame(problem, motion, &frame, memory);
    }
    leave(memory, problem);
}
