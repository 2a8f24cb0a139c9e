/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of contacts: a gap, and the working memory of a call. */
#ifndef DQIK_CONTACTS_H
#define DQIK_CONTACTS_H

#include "../contract.h"
#include "../internal.h"

/* A gap that is near; `other` is the second capsule, or -1. */
typedef struct {
    int number, capsule, other;
    double gap, normal[3], first[3], second[3]; /* normal: from the second body to the first */
} near_gap;

/* Where a segment comes nearest to a convex body, or how it leaves it. */
typedef struct {
    double distance, normal[3], share;
} nearest;

typedef struct {
    const dqik_contacts *c;
    double *ends;            /* (capsules, 6) of the capsules' segments */
    double *corners;         /* (corners of all bodies, 3) as the frame places them */
    double *planes;          /* (triangles of all bodies, 6) normals that point outward, and as the corners run */
    double *middles;         /* (bodies, 4) a sphere about each */
    double *heights;         /* (2, most triangles) of a segment's ends */
    near_gap *gaps;          /* (K) */
    int near;                /* of these that are set */
} bodies;

/* segments.c */
double closest(const double *p, const double *q, const double *r, const double *s, double *a, double *b);

/* convex.c */
void place_body(const dqik_convex *body, const double *points, double *corners, double *planes, double *middle);
nearest nearest_to(const dqik_convex *body, const double *corners, const double *planes, double *heights,
                   const double *segment, const double *above);

/* gaps.c */
void place_obstacles(bodies *b, const double *points);
double find_gaps(bodies *b, const work *w, const double *points, const point *p, const double *aims, double within);
void gap_row(const bodies *b, const work *w, const point *p, const near_gap *gap, double weight, double *row);

#endif
