/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A point: a state, its transforms and its error rows; see solvers/space/point.py. */
#include "../internal.h"

void copy_point(const work *w, point *to, const point *from) {
    const size_t joints = (size_t)w->k->joints, number = sizeof(double);
    memcpy(to->q, from->q, 4 * joints * number);
    memcpy(to->x, from->x, (size_t)w->n * number);
    memcpy(to->w, from->w, 4 * joints * number);
    memcpy(to->m, from->m, 9 * joints * number);
    memcpy(to->p, from->p, 3 * joints * number);
    memcpy(to->tips, from->tips, 3 * (size_t)w->s->goals * number);
    memcpy(to->e, from->e, (size_t)w->all * number);
    memcpy(to->v, from->v, (size_t)w->n * number);
    to->cost = from->cost;
}

/* Transforms and errors of a state; transforms of joints outside the stage are not recomputed. */
void stand(const work *w, point *p) {
    forward_moved(w, p);
    errors(w, p);
}
