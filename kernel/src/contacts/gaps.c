/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaps between capsules, and between capsules and obstacles; see solvers/space/contacts.py. */
#include "contacts.h"

/* Place the convex bodies by a frame's points. */
void place_obstacles(bodies *b, const double *points) {
    const dqik_contacts *c = b->c;
    double *corners = b->corners, *planes = b->planes;
    for (int i = 0; i < c->bodies; i++) {
        const dqik_convex *body = c->body + i;
        const double *own = points + 3 * (c->first_point + CONTACT_POINTS * body->obstacle);
        place_body(body, own, corners, planes, b->middles + 4 * i);
        corners += 3 * body->corners, planes += 6 * body->triangles;
    }
}

static void place_capsules(bodies *b, const work *w, const point *p) {
    const dqik_contacts *c = b->c;
    (void)w;
    for (int i = 0; i < c->capsules; i++) {
        const int joint = c->joint[i];
        for (int end = 0; end < 2; end++) {
            double *at = b->ends + 6 * i + 3 * end;
            times3(at, p->m + 9 * joint, (end ? c->end : c->start) + 3 * i);
            add3(at, p->p + 3 * joint);
        }
    }
}

/* Keep a gap that is nearer to its aim than `within`; returns how far it is below its aim. */
static double keep(bodies *b, int number, int capsule, int other, double gap, const double *normal, const double *first,
                   const double *second, double aim, double within) {
    if (!(aim - gap > -within)) return aim - gap;
    near_gap *to = b->gaps + b->near++;
    to->number = number, to->capsule = capsule, to->other = other, to->gap = gap;
    copy3(to->normal, normal), copy3(to->first, first), copy3(to->second, second);
    return aim - gap;
}

/* Whether two spheres about capsules are further apart than a distance. */
static int far_apart(const double *a, const double *b, double distance) {
    double middle[3], one[3], other[3];
    minus3(one, a + 3, a), minus3(other, b + 3, b);
    for (int i = 0; i < 3; i++) middle[i] = a[i] + 0.5 * one[i] - b[i] - 0.5 * other[i];
    const double bound = distance + 0.5 * (norm3(one) + norm3(other));
    return bound < 0.0 || dot3(middle, middle) > bound * bound;
}

/* Find the gaps that are nearer to their aims (K) than `within`; returns the largest distance below an aim. */
double find_gaps(bodies *b, const work *w, const double *points, const point *p, const double *aims, double within) {
    const dqik_contacts *c = b->c;
    double deepest = -INFINITY;
    int number = 0;
    b->near = 0;
    place_capsules(b, w, p);
    for (int i = 0; i < c->pairs; i++, number++) {
        const int one = c->pair[2 * i], other = c->pair[2 * i + 1];
        const double *a = b->ends + 6 * one, *e = b->ends + 6 * other, radii = c->radius[one] + c->radius[other];
        double first[3], second[3], normal[3];
        if (far_apart(a, e, radii + aims[number] + within)) continue;
        const double far = closest(a, a + 3, e, e + 3, first, second);
        minus3(normal, first, second);
        for (int k = 0; k < 3; k++) normal[k] /= most(far, CONTACT_LEAST);
        deepest = most(deepest, keep(b, number, one, other, far - radii, normal, first, second, aims[number], within));
    }
    for (int i = 0; i < c->ends; i++, number++) {
        const int capsule = c->end_of[2 * i];
        const double *foot = points + 3 * (c->first_point + CONTACT_POINTS * c->end_of[2 * i + 1]);
        const double *end = b->ends + 6 * capsule + 3 * (i % 2);
        double normal[3], away[3];
        minus3(normal, foot + 9, foot), minus3(away, end, foot);
        const double length = most(norm3(normal), CONTACT_LEAST);
        for (int k = 0; k < 3; k++) normal[k] /= length;
        const double gap = dot3(normal, away) - c->radius[capsule];
        deepest = most(deepest, keep(b, number, capsule, -1, gap, normal, end, end, aims[number], within));
    }
    const double *corners = b->corners, *planes = b->planes;
    for (int i = 0; i < c->bodies; i++) {
        const dqik_convex *body = c->body + i;
        const double *middle = b->middles + 4 * i;
        for (int k = 0; k < c->free; k++, number++) {
            const int capsule = c->free_capsule[k];
            const double *a = b->ends + 6 * capsule, radius = c->radius[capsule];
            double point_[3], centre[6];
            copy3(centre, middle), copy3(centre + 3, middle);
            if (far_apart(a, centre, middle[3] + radius + aims[number] + within)) continue;
            const nearest found = nearest_to(body, corners, planes, b->heights, a, b->ends + 6 * c->above[capsule]);
            for (int j = 0; j < 3; j++) point_[j] = a[j] + found.share * (a[3 + j] - a[j]);
            deepest = most(deepest, keep(b, number, capsule, -1, found.distance - radius, found.normal, point_, point_,
                                         aims[number], within));
        }
        corners += 3 * body->corners, planes += 6 * body->triangles;
    }
    return deepest;
}

/* How fast a point of a capsule moves along a normal with each degree of freedom, times a weight, added to a row (n). */
static void add_along(const bodies *b, const work *w, const point *p, int capsule, const double *at, const double *normal,
                      double weight, double *row) {
    const dqik_contacts *c = b->c;
    const uint8_t *moves = c->moves + (size_t)capsule * (size_t)w->n;
    const int32_t *levers = c->levers + (size_t)capsule * (size_t)w->n;
    for (int block = 0; block < w->s->blocks; block++) {
        const int first = w->s->block_start[block], joint = w->s->block_joint[block];
        if (!moves[first]) continue;
        const double *axes = w->axes + 9 * block;
        const int lever = w->s->levered ? levers[first] : -1;
        double along[3];
        if (w->s->block_kind[block] == DQIK_SLIDE) {
            copy3(along, normal);
        } else { /* (u x arm) . n = u . (arm x n) */
            double arm[3];
            minus3(arm, lever < 0 ? at : p->p + 3 * lever, p->p + 3 * joint);
            cross3(along, arm, normal);
        }
        for (int k = 0; k < block_size(w->s, block); k++)
            row[first + k] += weight * (axes[k] * along[0] + axes[3 + k] * along[1] + axes[6 + k] * along[2]);
    }
}

/* The weighted derivatives (n) of a gap. */
void gap_row(const bodies *b, const work *w, const point *p, const near_gap *gap, double weight, double *row) {
    memset(row, 0, sizeof(double) * (size_t)w->n);
    add_along(b, w, p, gap->capsule, gap->first, gap->normal, weight, row);
    if (gap->other >= 0) add_along(b, w, p, gap->other, gap->second, gap->normal, -weight, row);
}
