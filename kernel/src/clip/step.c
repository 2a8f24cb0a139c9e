/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of the states of many frames; see JointSpace.step in solvers/space/joint_space.py. */
#include "../contract.h"
#include "../internal.h"

void dqik_clip_step(const dqik_problem *problem, int64_t begin, int64_t end, const double *d, double *rotations, double *x) {
    const int64_t joints = problem->skeleton.joints, n = problem->stage->n;
    work w = {0};
    w.s = problem->stage, w.k = &problem->skeleton;
    for (int64_t f = begin; f < end; f++) {
        point p = {0};
        p.q = rotations + 4 * f * joints, p.x = x + f * n;
        take_step(&w, &p, &p, d + f * n);
    }
}
