/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least signed distance of a segment from a convex polyhedron; see solvers/space/convex.py. */
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

/* The number of the largest value, the first of several. */
static int highest(const double *values, int count) {
    int best = 0;
    for (int i = 1; i < count; i++)
        if (values[i] > values[best]) best = i;
    return best;
}

/* The least along a segment of the largest height; heights (2, T) of its ends over planes. */
static nearest deepest(const double *first, const double *last, const double *planes, int count) {
    int left = highest(first, count), right = highest(last, count);
    const int inner = last[left] - first[left] < 0.0 && last[right] - first[right] > 0.0;
    double size = 0.0, share = last[left] - first[left] >= 0.0 ? 0.0 : 1.0;
    nearest found;
    for (int t = 0; t < count; t++) size = most(size, CONVEX_EXACT * most(fabs(first[t]), fabs(last[t])));
    for (int cut = 0; inner && cut < CONVEX_MOST_CUTS; cut++) {
        const double falls = last[left] - first[left], rises = last[right] - first[right];
        int top = 0;
        double height = -INFINITY;
        share = clamp((first[right] - first[left]) / (falls - rises), 0.0, 1.0);
        for (int t = 0; t < count; t++) {
            const double at = first[t] + share * (last[t] - first[t]);
            if (at > height) height = at, top = t;
        }
        const double l = first[left] + share * falls, r = first[right] + share * rises;
        if (!(height > most(l, r) + size)) break;
        if (last[top] - first[top] < 0.0)
            left = top;
        else
            right = top;
    }
    const double falls = last[left] - first[left], rises = last[right] - first[right];
    const double part = inner ? rises / (rises - falls) : share == 0.0;
    found.distance = -INFINITY, found.share = share;
    for (int t = 0; t < count; t++) found.distance = most(found.distance, first[t] + share * (last[t] - first[t]));
    for (int i = 0; i < 3; i++) found.normal[i] = part * planes[6 * left + i] + (1.0 - part) * planes[6 * right + i];
    return found;
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
                   const double *start, const double *end) {
    const int count = body->triangles;
    const double *ends[2] = {start, end};
    double along[3], best_on[3] = {0}, best_away[3] = {0}, least_far = INFINITY;
    for (int e = 0; e < 2; e++)
        for (int t = 0; t < count; t++) {
            double away[3];
            minus3(away, ends[e], corners + 3 * body->triangle[3 * t]);
            heights[e * count + t] = dot3(planes + 6 * t, away);
        }
    nearest found = deepest(heights, heights + count, planes, count);
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
