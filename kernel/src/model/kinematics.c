/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forward kinematics; see solvers/model/skeleton.py. */
#include "../internal.h"

/* Q_j = Q_parent link_j motion_j (Kenwright eq. 13, 15), stored as rotation and translation. */
static void forward_joint(const work *w, point *p, int j, const double *slide) {
    const dqik_skeleton *k = w->k;
    int above = k->parent[j];
    double *world = p->w + 4 * j, *place = p->p + 3 * j;
    double own[4];
    q_product(own, w->link_q + 4 * j, p->q + 4 * j);
    if (above < 0) {
        memcpy(world, own, sizeof own);
        copy3(place, w->link_t + 3 * j);
    } else {
        if (k->detached[j])
            memcpy(world, own, sizeof own);
        else
            q_product(world, p->w + 4 * above, own);
        times3(place, p->m + 9 * above, w->link_t + 3 * j);
        for (int i = 0; i < 3; i++) place[i] += p->p[3 * above + i];
    }
    q_matrix(p->m + 9 * j, world);
    if (slide) {
        double moved[3];
        times3(moved, p->m + 9 * j, slide);
        for (int i = 0; i < 3; i++) place[i] += moved[i];
    }
}

static void forward_effectors(const work *w, point *p) {
    const dqik_stage *s = w->s;
    for (int g = 0; g < s->goals; g++) {
        int j = s->goal_joint[g];
        double *tip = p->tips + 3 * g;
        times3(tip, p->m + 9 * j, s->offset + 3 * g);
        for (int i = 0; i < 3; i++) tip[i] += p->p[3 * j + i];
    }
}

static void forward_some(const work *w, point *p, const int32_t *joints, int count) {
    for (int i = 0; i < count; i++) {
        int j = joints[i], block = w->s->slide[j];
        double slide[3];
        for (int c = 0; block >= 0 && c < 3; c++) slide[c] = w->k->axis[3 * j + c] * p->x[w->s->block_start[block]];
        forward_joint(w, p, j, block >= 0 ? slide : NULL);
    }
    forward_effectors(w, p);
}

void forward_all(const work *w, point *p) { forward_some(w, p, w->s->stand, w->s->standing); }

void forward_moved(const work *w, point *p) { forward_some(w, p, w->s->move, w->s->moving); }
