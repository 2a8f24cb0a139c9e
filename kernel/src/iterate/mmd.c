/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CCD by MikuMikuDance's rule: loop count and unit angle; see solvers/iterate/mmd.py. */
#include "../internal.h"

static void to_unit(double *v) {
    double length = most(norm3(v), LEAST);
    for (int i = 0; i < 3; i++) v[i] /= length;
}

/* The first of a turn's three Euler angles, which is about `axis`. */
static double angle_about(const double *axis, const double *turn) {
    const double x[3] = {1.0, 0.0, 0.0};
    double q[4], frame[9], back[9], m[9];
    q_between(q, x, axis);
    q_matrix(frame, q);
    for (int i = 0; i < 9; i++) back[i] = frame[3 * (i % 3) + i / 3];
    q_matrix(m, turn);
    matrix_product(m, back, m);
    matrix_product(m, m, frame);
    return atan2(m[7], m[8]);
}

static void turn_link(const work *w, point *p, const dqik_link *link, int early) {
    const dqik_visit *v = w->s->sweep->visit + link->visit;
    const int joint = joint_of(w, v), at = w->s->block_start[v->block];
    double arm[3], end[3], normal[3], turn[4], motion[4];
    arm_of(w, p, v, link->goal, link->lever, arm, end);
    to_unit(arm);
    to_unit(end);
    cross3(normal, arm, end);
    if (!(dot3(normal, normal) > MMD_ALIGNED)) return;
    const double angle = least(acos(clamp(dot3(arm, end), -1.0, 1.0)), link->most);
    to_unit(normal);
    transposed_times3(normal, p->m + 9 * joint, normal);
    q_rotate(normal, p->q + 4 * joint, normal);
    for (int i = 0; i < 3; i++) arm[i] = angle * normal[i];
    q_exp(turn, arm);
    q_product(motion, turn, p->q + 4 * joint);
    if (w->s->block_kind[v->block] == DQIK_HINGE) {
        const double *axis = w->k->axis + 3 * joint, lo = w->s->lo[at], hi = w->s->hi[at];
        double to = p->x[at];
        if (early) {
            to += dot3(normal, axis) >= 0.0 ? angle : -angle;
            double mirrored = to < lo ? 2.0 * lo - to : to > hi ? 2.0 * hi - to : to;
            if (mirrored >= lo && mirrored <= hi) to = mirrored;
        } else {
            to += angle_about(axis, turn);
        }
        to = clamp(to, lo, hi);
        for (int i = 0; i < 3; i++) arm[i] = axis[i] * to;
        q_exp(motion, arm);
    }
    move_joint(w, p, v, motion);
}

/* Run loops until the goals are met, come no nearer, or the number of loops is reached. */
int follow_links(work *w, const dqik_settings *settings) {
    int loop = 0;
    double mark = INFINITY;
    while (loop < settings->iterations && !within(w, &w->now, settings->tolerance, settings->rotation_tolerance)) {
        if (loop && loop % CREEP_STEPS == 0) {
            const double square = rows_square(w, &w->now);
            if (loop > CREEP_STEPS && square > (1.0 - CREEP_SHARE) * mark) break;
            mark = square;
        }
        for (int i = 0; i < w->s->sweep->links; i++)
            turn_link(w, &w->now, w->s->sweep->link + i, loop < settings->iterations / 2);
        stand(w, &w->now);
        loop++;
    }
    return loop;
}
