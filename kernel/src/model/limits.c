/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Swing ellipses and the exact projection onto them; see solvers/model/limits.py. */
#include "../internal.h"

typedef struct {
    double offset[2], half[2], level;
} ellipse;

static ellipse locate(const double *swing, const double *lo, const double *hi) {
    ellipse at;
    double sum = 0.0;
    for (int i = 0; i < 2; i++) {
        double centre = clamp(0.0, lo[i], hi[i]);
        at.offset[i] = swing[i] - centre;
        at.half[i] = at.offset[i] >= 0.0 ? hi[i] - centre : centre - lo[i];
        double scaled = at.half[i] > CLOSED                       ? at.offset[i] / at.half[i]
                        : fabs(at.offset[i]) <= at.half[i] ? 0.0
                                                           : INFINITY;
        sum += scaled * scaled;
    }
    at.level = sqrt(sum);
    return at;
}

/* Nearest point of a quarter ellipse: the root of sum (a p / (t + a^2))^2 = 1 by Newton from below. */
static void nearest_on_ellipse(double *point, const double *half) {
    double sq[2] = {half[0] * half[0], half[1] * half[1]};
    double t = most(most(half[0] * point[0] - sq[0], half[1] * point[1] - sq[1]), 0.0);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double a = square(half[0] * point[0] / (t + sq[0])), b = square(half[1] * point[1] / (t + sq[1]));
        double excess = a + b - 1.0;
        if (excess <= 1e-14) break;
        double slope = -2.0 * (a / (t + sq[0]) + b / (t + sq[1]));
        t -= excess / least(slope, -LEAST);
    }
    double x = sq[0] * point[0] / (t + sq[0]), y = sq[1] * point[1] / (t + sq[1]);
    double level = sqrt(square(x / half[0]) + square(y / half[1]));
    point[0] = x / level, point[1] = y / level;
}

void project_swing(double *swing, const double *lo, const double *hi) {
    ellipse at = locate(swing, lo, hi);
    if (!(at.level > 1.0)) return;
    double inside[2];
    for (int i = 0; i < 2; i++) inside[i] = clamp(at.offset[i], -at.half[i], at.half[i]);
    if (at.half[0] > CLOSED && at.half[1] > CLOSED) {
        double nearest[2] = {fabs(at.offset[0]), fabs(at.offset[1])};
        nearest_on_ellipse(nearest, at.half);
        for (int i = 0; i < 2; i++) inside[i] = copysign(nearest[i], at.offset[i]);
    }
    for (int i = 0; i < 2; i++) swing[i] = swing[i] - at.offset[i] + inside[i];
}

/* Outward unit normal where a swing lies on its ellipse; zero, and returns 0, where it is inside. */
int swing_normal(double *normal, const double *swing, const double *lo, const double *hi, double slack) {
    ellipse at = locate(swing, lo, hi);
    double g[2];
    for (int i = 0; i < 2; i++) g[i] = at.half[i] > CLOSED ? at.offset[i] / square(at.half[i]) : 0.0;
    double length = sqrt(g[0] * g[0] + g[1] * g[1]);
    int on = at.level >= 1.0 - slack && length > 0.0;
    normal[0] = on ? g[0] / length : 0.0, normal[1] = on ? g[1] / length : 0.0;
    return on;
}
