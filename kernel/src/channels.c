/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers as an armature's channels; see rig/write.py. */
#include "contract.h"

int32_t dqik_put(const dqik_channels *channels, const double *rotations) {
    int32_t changed = 0;
    for (int i = 0; i < channels->joints; i++) {
        const double *q = rotations + 4 * channels->joint[i], *near = channels->reference + 4 * i;
        const double sign = q[0] * near[0] + q[1] * near[1] + q[2] * near[2] + q[3] * near[3] < 0.0 ? -1.0 : 1.0;
        float *value = channels->values + 4 * channels->bone[i];
        for (int c = 0; c < 4; c++) {
            const float wanted = (float)(sign * q[c]);
            changed |= value[c] != wanted;
            value[c] = wanted;
        }
    }
    return changed;
}
