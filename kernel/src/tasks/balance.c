/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balance tasks; see solvers/space/tasks/balance.py. */
#include "tasks.h"

/* Outward normals (E, 3) and heights (E) of the edges; returns E. */
typedef struct {
    int count;
    double *normals, *heights;
} edge_list;

static double left_of(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Add the corners of one half of the hull of `count` sorted points, in steps of `by`; returns their number without the
 * last. */
static int half_hull(const double *sorted, int count, int by, double closest, double *hull) {
    int corners = 0;
    for (int i = by > 0 ? 0 : count - 1; i >= 0 && i < count; i += by) {
        const double *next = sorted + 2 * i;
        while (corners > 1) {
            const double *a = hull + 2 * (corners - 2), *b = a + 2;
            if (left_of(a, b, next) > closest * hypot(next[0] - a[0], next[1] - a[1])) break;
            corners--;
        }
        hull[2 * corners] = next[0], hull[2 * corners + 1] = next[1];
        corners++;
    }
    return corners - 1;
}

/* The edges of the convex hull of points in a plane, as (E, 2) normals; see hull_edges. */
static int hull_edges(const double *corners, int count, double closest, double *sorted, double *hull, double *normals) {
    for (int i = 0; i < count; i++) { /* insertion sort by x, then y */
        int k = i;
        for (; k > 0; k--) {
            const double *before = sorted + 2 * (k - 1);
            if (before[0] < corners[2 * i] || (before[0] == corners[2 * i] && before[1] <= corners[2 * i + 1])) break;
            sorted[2 * k] = before[0], sorted[2 * k + 1] = before[1];
        }
        sorted[2 * k] = corners[2 * i], sorted[2 * k + 1] = corners[2 * i + 1];
    }
    int size = half_hull(sorted, count, 1, closest, hull);
    size += half_hull(sorted, count, -1, closest, hull + 2 * size);
    if (size < 3) { /* a line, or a point */
        double along[2] = {sorted[2 * count - 2] - sorted[0], sorted[2 * count - 1] - sorted[1]};
        const double length = sqrt(along[0] * along[0] + along[1] * along[1]);
        if (length > closest)
            along[0] /= length, along[1] /= length;
        else
            along[0] = 1.0, along[1] = 0.0;
        const double four[8] = {along[0], along[1], -along[1], along[0], -along[0], -along[1], along[1], -along[0]};
        memcpy(normals, four, sizeof four);
        return 4;
    }
    for (int i = 0; i < size; i++) {
        const double *a = hull + 2 * i, *b = hull + 2 * ((i + 1) % size);
        const double x = b[0] - a[0], y = b[1] - a[1], length = sqrt(x * x + y * y);
        normals[2 * i] = y / length, normals[2 * i + 1] = -x / length;
    }
    return size;
}

/* The edges of a task, in `w->edges`. */
static edge_list edges_of(const work *w, const dqik_task *t) {
    const dqik_balance *data = t->data;
    edge_list edges = {2, w->edges, w->edges + 3 * t->rows};
    double axes[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    if (!data->upright) q_matrix(axes, w->turns + 4 * t->goal);
    if (!data->within) {
        for (int e = 0; e < 2; e++) {
            for (int i = 0; i < 3; i++) edges.normals[3 * e + i] = axes[3 * i + e];
            edges.heights[e] = dot3(edges.normals + 3 * e, w->places + 3 * t->goal);
        }
        return edges;
    }
    double *corners = w->edges + 4 * t->rows, *sorted = corners + 2 * t->rows, *hull = sorted + 2 * t->rows;
    double *flat = hull + 2 * t->rows + 2;
    for (int k = 0; k < data->points; k++)
        for (int e = 0; e < 2; e++) {
            double sum = 0.0;
            for (int i = 0; i < 3; i++) sum += w->points[3 * (data->place + k) + i] * axes[3 * i + e];
            corners[2 * k + e] = sum;
        }
    edges.count = hull_edges(corners, data->points, data->least, sorted, hull, flat);
    for (int e = 0; e < edges.count; e++) {
        double height = -INFINITY;
        for (int k = 0; k < data->points; k++)
            height = most(height, flat[2 * e] * corners[2 * k] + flat[2 * e + 1] * corners[2 * k + 1]);
        for (int i = 0; i < 3; i++)
            edges.normals[3 * e + i] = flat[2 * e] * axes[3 * i] + flat[2 * e + 1] * axes[3 * i + 1];
        edges.heights[e] = height - data->distance;
    }
    return edges;
}

static void part_at(const point *p, const dqik_balance *data, int i, double *at) {
    const int joint = data->joint[i];
    times3(at, p->m + 9 * joint, data->centre + 3 * i);
    add3(at, p->p + 3 * joint);
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const dqik_balance *data = t->data;
    const edge_list edges = edges_of(w, t);
    double centre[3] = {0.0, 0.0, 0.0}, at[3];
    for (int i = 0; i < data->parts; i++) {
        part_at(p, data, i, at);
        for (int c = 0; c < 3; c++) centre[c] += data->share[i] * at[c];
    }
    for (int r = 0; r < t->rows; r++)
        e[r] = r < edges.count ? (dot3(edges.normals + 3 * r, centre) - edges.heights[r]) * weight : 0.0;
}

static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_balance *data = t->data;
    const edge_list edges = edges_of(w, t);
    EACH_COLUMN(w, t, b, c) {
        const int k = w->s->block_start[b] + c;
        double centre[3] = {0.0, 0.0, 0.0}, at[3], moved[3];
        for (int i = 0; i < data->parts; i++) {
            if (!data->moved[(size_t)i * (size_t)w->n + (size_t)k]) continue;
            part_at(p, data, i, at);
            velocity(w, p, b, c, at, lever_of(w, t, i, k), moved);
            for (int a = 0; a < 3; a++) centre[a] += data->share[i] * moved[a];
        }
        for (int r = 0; r < edges.count; r++) task_column(w, t, k)[r] = -dot3(edges.normals + 3 * r, centre) * weight;
    }
}

const task_kind balance_task = {LENGTH, write_errors, write_jacobian, NULL};
