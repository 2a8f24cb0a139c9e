/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smallest turn from one direction to another; see solvers/space/tasks/directions.py. */
#include "tasks.h"

/* The turn from a unit axis to a unit line, and D of its change `v x e - D (w - v)`. */
void turn_rates(const double *axis, const double *line, double *error, double *d) {
    double k[3], across[3], along[3], slope;
    cross3(k, axis, line);
    const double sine = norm3(k), cosine = dot3(axis, line), angle = atan2(sine, cosine);
    if (sine < LEAST_SINE) { /* any axis across serves */
        double other[3] = {0.0, 0.0, 0.0};
        int smallest = 0;
        for (int i = 1; i < 3; i++)
            if (fabs(axis[i]) < fabs(axis[smallest])) smallest = i;
        other[smallest] = 1.0;
        cross3(k, axis, other);
        const double length = norm3(k);
        for (int i = 0; i < 3; i++) k[i] /= length;
        slope = cosine > 0.0 ? 1.0 : 0.0;
    } else {
        for (int i = 0; i < 3; i++) k[i] /= sine;
        slope = angle / sine;
    }
    cross3(across, k, line);
    cross3(along, k, axis);
    for (int i = 0; i < 3; i++) {
        error[i] = angle * k[i];
        for (int j = 0; j < 3; j++) d[3 * i + j] = k[i] * k[j] + slope * across[i] * along[j];
    }
}
