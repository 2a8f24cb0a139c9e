/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arcs, from which straight chains are solved; see solvers/space/arc.py. */
#include "../internal.h"

/* The direction of bone `i` of a chain, and its length. */
static double bone_of(const point *p, const dqik_arc *arc, int i, double *line) {
    const double *from = p->p + 3 * arc->point[i];
    const double *to = i + 1 < arc->points ? p->p + 3 * arc->point[i + 1] : p->tips + 3 * arc->goal;
    minus3(line, to, from);
    double length = norm3(line);
    for (int c = 0; c < 3; c++) line[c] /= most(length, 1e-300);
    return length;
}

/* Bend a straight chain of `p` to an arc that points at its target. The transforms of `p` must be up to date, and are
 * not after it. */
static void bend(const work *w, point *p, const dqik_arc *arc, double share) {
    double sum[3] = {0.0, 0.0, 0.0}, chord[3] = {0.0, 0.0, 0.0}, line[3], next[3], crossed[3], axis[3], total = 0.0;
    double length = bone_of(p, arc, 0, line);
    for (int i = 0; i < arc->points; i++) {
        for (int c = 0; c < 3; c++) chord[c] += length * line[c];
        if (i + 1 == arc->points) break;
        length = bone_of(p, arc, i + 1, next);
        cross3(crossed, line, next);
        add3(sum, crossed);
        total += atan2(norm3(crossed), dot3(line, next));
        copy3(line, next);
    }
    times3(axis, p->m + 9 * arc->reference, arc->axis);
    const double size = most(norm3(chord), 1e-300), along = dot3(axis, chord) / size;
    for (int c = 0; c < 3; c++) axis[c] -= along * chord[c] / size;
    const double level = norm3(axis);
    for (int c = 0; c < 3; c++) axis[c] = level > LEVEL ? axis[c] / level : 0.0;
    const double straight = share * clamp((BENT - total) / (BENT - STRAIGHT), 0.0, 1.0);
    const double missing = straight * (ARC - dot3(sum, axis));
    if (arc->aim > 0.0) {
        const int root = arc->turned[0];
        const double *own_axis = w->k->axis + 3 * root;
        double to[3], turn[4], own[3];
        minus3(to, w->places + 3 * arc->goal, p->p + 3 * root);
        q_between(turn, chord, to);
        q_log(own, turn);
        transposed_times3(own, p->m + 9 * root, own);
        const double along_own = dot3(own, own_axis);
        for (int c = 0; c < 3; c++) own[c] = arc->aim * straight * (arc->hinged[0] ? along_own * own_axis[c] : own[c]);
        q_exp(turn, own);
        q_product(p->q + 4 * root, p->q + 4 * root, turn);
    }
    for (int i = 0; i < arc->turns; i++) {
        const int joint = arc->turned[i];
        const double *own_axis = w->k->axis + 3 * joint;
        double own[3], turn[4];
        transposed_times3(own, p->m + 9 * joint, axis);
        if (arc->hinged[i]) {
            const double side = dot3(own, own_axis);
            for (int c = 0; c < 3; c++) own[c] = own_axis[c] * (side > 0.0 ? 1.0 : side < 0.0 ? -1.0 : 0.0);
        }
        for (int c = 0; c < 3; c++) own[c] *= arc->share[i] * missing;
        q_exp(turn, own);
        q_product(p->q + 4 * joint, p->q + 4 * joint, turn);
    }
}

void bend_to_arcs(const work *w, point *p, double share) {
    if (!w->s->arcs) return;
    forward_all(w, p);
    for (int i = 0; i < w->s->arcs; i++) bend(w, p, w->s->arc + i, share);
    turn_back_inside(w, p, p->x);
}

/* Whether a chain lies in one line, folded or not, although its target is nearer than its length. */
int is_stuck(const work *w, const point *p) {
    for (int k = 0; k < w->s->arcs; k++) {
        const dqik_arc *arc = w->s->arc + k;
        double line[3], next[3], crossed[3], astray = 0.0, reach = bone_of(p, arc, 0, line);
        for (int i = 1; i < arc->points; i++) {
            reach += bone_of(p, arc, i, next);
            cross3(crossed, line, next);
            astray += norm3(crossed);
            copy3(line, next);
        }
        const double away = distance3(w->places + 3 * arc->goal, p->p + 3 * arc->point[0]);
        if (astray < STRAIGHT && away < (1.0 - IN_LINE) * reach) return 1;
    }
    return 0;
}
