/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error rows of a stage's goals, and their Jacobian, in many frames; see solvers/clip/rows.py. */
#include "../contract.h"
#include "../internal.h"

void dqik_clip_rows(const dqik_problem *problem, const dqik_frames *frames, int64_t begin, int64_t end,
                    const double *rotations, const double *x, double *rows, double *columns, double *memory) {
    const dqik_stage *s = problem->stage;
    const int64_t joints = problem->skeleton.joints, n = s->n, all = s->all;
    for (int64_t i = begin; i < end; i++) {
        const frame_view frame = frame_at(frames, i);
        const pose_memory m = pose_in(memory, problem);
        memset(m.t, 0, sizeof(double) * 3 * (size_t)joints); /* the links contain slides that stay */
        work w = stage_of_frame(problem, s, &frame, &m, memory);
        memcpy(w.now.q, rotations + i * 4 * joints, sizeof(double) * 4 * (size_t)joints);
        memcpy(w.now.x, x + i * n, sizeof(double) * (size_t)n);
        forward_all(&w, &w.now);
        signed_errors(&w, &w.now, rows + i * all);
        if (!columns) continue;
        jacobian(&w, &w.now);
        memcpy(columns + i * n * all, w.jacobian, sizeof(double) * (size_t)(n * all));
    }
    leave(memory, problem);
}
