/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The signed distance of a segment from a convex polyhedron; see solvers/space/convex.py. */
#include "contacts.h"

static void unit3(double *v) {
    const double length = most(norm3(v), CONVEX_NOTHING);
    for (int i = 0; i < 3; i++) v[i] /= length;
}

/* Set the corners of a body that four points place, the planes of its triangles and a sphere about it. */
void place_body(const dqik_convex *body, const double *points, double *corners, double *planes, double *middle) {
    memset(middle, 0, 4 * sizeof(double));
    for (int v = 0; v < body->corners; v++) {
        double *corner = corners + 3 * v;
        for (int i = 0; i < 3; i++) {
            corner[i] = points[i];
            for (int axis = 0; axis < 3; axis++)
                corner[i] += body->corner[3 * v + axis] * (points[3 * (axis + 1) + i] - points[i]);
            middle[i] += corner[i];
        }
    }
    for (int i = 0; i < 3; i++) middle[i] /= body->corners;
    for (int v = 0; v < body->corners; v++) middle[3] = most(middle[3], distance3(corners + 3 * v, middle));
    for (int t = 0; t < body->triangles; t++) {
        const int32_t *k = body->triangle + 3 * t;
        const double *a = corners + 3 * k[0];
        double *normal = planes + 6 * t, *raw = normal + 3, b[3], c[3], out[3];
        minus3(b, corners + 3 * k[1], a), minus3(c, corners + 3 * k[2], a), minus3(out, a, middle);
        cross3(raw, b, c);
        unit3(raw);
        const double side = dot3(raw, out) < 0.0 ? -1.0 : 1.0; /* a mirror turns windings round */
        for (int i = 0; i < 3; i++) normal[i] = side * raw[i];
    }
}

/* How far along a way the segment above has to go, in the share that counts; heights of its ends over the plane. */
static double burden(double first, double last) { return CONVEX_ABOVE * least(least(first, last), 0.0); }

/* Height of a point over the plane of a triangle. */
static double height_over(const dqik_convex *body, const double *corners, const double *planes, int t, const double *point) {
    double away[3];
    minus3(away, point, corners + 3 * body->triangle[3 * t]);
    return dot3(planes + 6 * t, away);
}

/* The way out along the normal of a face; heights (2, T) of the segment's ends over planes. `best` is set to how good it is
 * with the segment above. A segment that is outside keeps its largest distance from a plane. */
static nearest leave_by_faces(const dqik_convex *body, const double *corners, const double *planes, const double *heights,
                              const double *above, double *best) {
    const int count = body->triangles;
    nearest found = {-INFINITY, {0.0, 0.0, 0.0}, 0.0};
    int outside = 0;
    *best = -INFINITY;
    for (int t = 0; t < count; t++) outside |= least(heights[t], heights[count + t]) > 0.0;
    for (int t = 0; t < count; t++) {
        const double first = heights[t], last = heights[count + t], sunk = least(first, last);
        const double way = outside ? sunk
                                   : sunk + burden(height_over(body, corners, planes, t, above),
                                                   height_over(body, corners, planes, t, above + 3));
        if (!(way > *best)) continue;
        *best = way, found.distance = sunk, found.share = first <= last ? 0.0 : 1.0;
        copy3(found.normal, planes + 6 * t);
    }
    return found;
}

/* Leave at right angles to the segment and an edge where that is better. */
static void leave_by_edges(nearest *found, double best, const dqik_convex *body, const double *corners,
                           const double *segment, const double *above) {
    const double *start = segment, *end = segment + 3;
    double along[3], axis[3] = {0}, most_parted = -INFINITY, parted_there = 0.0;
    int edge = -1;
    minus3(along, end, start);
    for (int sign = 0; sign < 2; sign++)
        for (int k = 0; k < body->edges; k++) {
            const double *from = corners + 3 * body->edge[2 * k];
            double side[3], across[3], furthest = -INFINITY;
            minus3(side, corners + 3 * body->edge[2 * k + 1], from);
            cross3(across, side, along);
            const double square_ = dot3(across, across);
            if (!(square_ > CONVEX_PARALLEL * dot3(along, along) * dot3(side, side))) continue;
            for (int i = 0; i < 3; i++) across[i] = (sign ? -1.0 : 1.0) * (across[i] / sqrt(square_));
            for (int v = 0; v < body->corners; v++) furthest = most(furthest, dot3(across, corners + 3 * v));
            const double parted = dot3(across, start) - furthest;
            const double way = parted + burden(dot3(across, above) - furthest, dot3(across, above + 3) - furthest);
            const int out = parted > 0.0; /* then it is outside, whatever the way */
            if (out ? !(parted > most_parted) : (most_parted > 0.0 || !(way > best))) continue;
            if (out) most_parted = parted;
            best = way, parted_there = parted, edge = k;
            copy3(axis, across);
        }
    if (edge < 0) return;
    double on[3], foot[3], from_start[3], last = -INFINITY;
    for (int k = 0; k < body->edges; k++) { /* of parallel edges the one that it leaves last */
        const double height = dot3(axis, corners + 3 * body->edge[2 * k]) + dot3(axis, corners + 3 * body->edge[2 * k + 1]);
        if (height > last) last = height, edge = k;
    }
    closest(start, end, corners + 3 * body->edge[2 * edge], corners + 3 * body->edge[2 * edge + 1], on, foot);
    minus3(from_start, on, start);
    found->distance = parted_there, found->share = clamp(dot3(from_start, along) / dot3(along, along), 0.0, 1.0);
    copy3(found->normal, axis);
}

/* Whether a point is over a triangle, between planes through its sides. */
static int is_over(const dqik_convex *body, const double *corners, const double *raw, int t, const double *point) {
    for (int side = 0; side < 3; side++) {
        const double *from = corners + 3 * body->triangle[3 * t + side];
        double along[3], inward[3], away[3];
        minus3(along, corners + 3 * body->triangle[3 * t + (side + 1) % 3], from);
        cross3(inward, raw, along);
        minus3(away, point, from);
        if (dot3(inward, away) < 0.0) return 0;
    }
    return 1;
}

nearest nearest_to(const dqik_convex *body, const double *corners, const double *planes, double *heights,
                   const double *segment, const double *above) {
    const int count = body->triangles;
    const double *start = segment, *end = segment + 3, *ends[2] = {start, end};
    double along[3], best_on[3] = {0}, best_away[3] = {0}, least_far = INFINITY, best;
    for (int e = 0; e < 2; e++)
        for (int t = 0; t < count; t++) heights[e * count + t] = height_over(body, corners, planes, t, ends[e]);
    nearest found = leave_by_faces(body, corners, planes, heights, above, &best);
    if (!(found.distance > 0.0)) leave_by_edges(&found, best, body, corners, segment, above);
    if (!(found.distance > 0.0)) return found;
    for (int k = 0; k < body->edges; k++) {
        double on[3], foot[3];
        const double far = closest(start, end, corners + 3 * body->edge[2 * k], corners + 3 * body->edge[2 * k + 1], on, foot);
        if (far < least_far) {
            least_far = far;
            copy3(best_on, on);
            minus3(best_away, on, foot);
        }
    }
    minus3(along, end, start);
    double normal[3], from[3], share;
    minus3(from, best_on, start);
    share = clamp(dot3(from, along) / most(dot3(along, along), CONVEX_NOTHING), 0.0, 1.0);
    for (int i = 0; i < 3; i++) normal[i] = best_away[i] / most(least_far, CONVEX_NOTHING);
    for (int e = 0; e < 2; e++) {
        double nearer = INFINITY;
        int face = 0;
        for (int t = 0; t < count; t++) {
            const double height = heights[e * count + t];
            if (height > 0.0 && height < nearer && is_over(body, corners, planes + 6 * t + 3, t, ends[e]))
                nearer = height, face = t;
        }
        if (nearer < least_far) {
            least_far = nearer, share = e;
            copy3(normal, planes + 6 * face);
        }
    }
    if (least_far > CONVEX_NOTHING) copy3(found.normal, normal); /* one that only touches keeps the plane's normal */
    found.distance = least_far, found.share = share;
    return found;
}
