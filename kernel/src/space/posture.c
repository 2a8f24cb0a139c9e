/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The positions and orientations of joints during a sweep; see solvers/space/posture.py.
 *
 * During a sweep a point has all motions and coordinates, but only those positions and orientations that goals or a later
 * visit read. */
#include "../internal.h"

int joint_of(const work *w, const dqik_visit *v) { return w->s->block_joint[v->block]; }

/* The position of point `i`: a joint or, with numbers from J on, an effector. */
static double *place(const work *w, const point *p, int i) {
    return i < w->k->joints ? p->p + 3 * i : p->tips + 3 * (i - w->k->joints);
}

/* Turn everything below a joint. Segments that do not inherit rotation only move with their heads. */
void turn_below(const work *w, point *p, const dqik_visit *v, const double *turn) {
    double origin[3], arm[3], moved[3];
    copy3(origin, p->p + 3 * joint_of(w, v));
    for (int h = 0; h < v->heads; h++) {
        minus3(arm, p->p + 3 * v->head[h], origin);
        times3(moved, turn, arm);
        minus3(moved, moved, arm);
        for (int i = v->carried_start[h]; i < v->carried_start[h + 1]; i++) add3(place(w, p, v->carried[i]), moved);
    }
    for (int i = 0; i < v->swept; i++) {
        double *at = place(w, p, v->point[i]);
        minus3(arm, at, origin);
        times3(arm, turn, arm);
        for (int c = 0; c < 3; c++) at[c] = origin[c] + arm[c];
    }
    for (int i = 0; i < v->turned; i++) matrix_product(p->m + 9 * v->joint[i], turn, p->m + 9 * v->joint[i]);
}

void slide_below(const work *w, point *p, const dqik_visit *v, const double *shift) {
    for (int i = 0; i < v->swept; i++) add3(place(w, p, v->point[i]), shift);
    for (int i = 0; v->heads && i < v->carried_start[v->heads]; i++) add3(place(w, p, v->carried[i]), shift);
}

/* Set a joint's motion, or the nearest one inside its limits. The turn in the skeleton's frame is made from a unit
 * quaternion, so that rounding in the matrices does not grow from joint to joint. */
void move_joint(const work *w, point *p, const dqik_visit *v, double *motion) {
    const int joint = joint_of(w, v);
    double *q = p->q + 4 * joint, own[4], turn[9];
    nearest_motion(w, v->block, motion, p->x + w->s->block_start[v->block]);
    q_relative(own, q, motion);
    memcpy(q, motion, 4 * sizeof(double));
    times3(own + 1, p->m + 9 * joint, own + 1);
    q_normalize(own);
    q_matrix(turn, own);
    turn_below(w, p, v, turn);
}

/* Vectors from the joint to the lever or effector of a goal, and to its target. An arm shorter than LEAST_ARM is
 * exactly 0. */
void arm_of(const work *w, const point *p, const dqik_visit *v, int goal, int lever, double *arm, double *end) {
    const double *origin = p->p + 3 * joint_of(w, v), *tip = p->tips + 3 * goal, *target = w->places + 3 * goal;
    const double least_arm = LEAST_ARM * w->k->length;
    minus3(arm, lever < 0 ? tip : p->p + 3 * lever, origin);
    for (int c = 0; c < 3; c++) end[c] = lever < 0 ? target[c] - origin[c] : arm[c] + (target[c] - tip[c]);
    if (!(dot3(arm, arm) > least_arm * least_arm)) memset(arm, 0, 3 * sizeof(double));
}
