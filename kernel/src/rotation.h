/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small vectors, matrices (row by row) and unit quaternions `w x y z`; see solvers/algebra/quaternion.py. */
#ifndef DQIK_ROTATION_H
#define DQIK_ROTATION_H

#include <math.h>
#include <string.h>

#include "contract.h"

#define PI 3.14159265358979323846

static inline double square(double a) { return a * a; }
static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }
static inline double clamp(double a, double lo, double hi) { return a < lo ? lo : a > hi ? hi : a; }

static inline double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline double norm3(const double *a) { return sqrt(dot3(a, a)); }
static inline void copy3(double *to, const double *a) { to[0] = a[0], to[1] = a[1], to[2] = a[2]; }
static inline void minus3(double *to, const double *a, const double *b) {
    to[0] = a[0] - b[0], to[1] = a[1] - b[1], to[2] = a[2] - b[2];
}
static inline void add3(double *to, const double *by) { to[0] += by[0], to[1] += by[1], to[2] += by[2]; }
static inline void cross3(double *to, const double *a, const double *b) {
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    to[0] = x, to[1] = y, to[2] = z;
}
static inline double distance3(const double *a, const double *b) {
    double d[3];
    minus3(d, a, b);
    return norm3(d);
}

/* to = M v and to = M^T v; `to` may be `v`. */
static inline void times3(double *to, const double *m, const double *v) {
    double x = dot3(m, v), y = dot3(m + 3, v), z = dot3(m + 6, v);
    to[0] = x, to[1] = y, to[2] = z;
}
static inline void transposed_times3(double *to, const double *m, const double *v) {
    double x = m[0] * v[0] + m[3] * v[1] + m[6] * v[2], y = m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
           z = m[2] * v[0] + m[5] * v[1] + m[8] * v[2];
    to[0] = x, to[1] = y, to[2] = z;
}
static inline void matrix_product(double *to, const double *a, const double *b) {
    double c[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    memcpy(to, c, sizeof c);
}

static inline void q_product(double *to, const double *a, const double *b) {
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    to[0] = w, to[1] = x, to[2] = y, to[3] = z;
}
static inline void q_conjugate(double *to, const double *q) { to[0] = q[0], to[1] = -q[1], to[2] = -q[2], to[3] = -q[3]; }
static inline void q_relative(double *to, const double *a, const double *b) { /* conj(a) b */
    double c[4];
    q_conjugate(c, a);
    q_product(to, c, b);
}
static inline void q_normalize(double *q) {
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]); /* summed as NumPy does */
    if (length > 0.0)
        for (int i = 0; i < 4; i++) q[i] /= length;
    else
        q[0] = 1.0, q[1] = q[2] = q[3] = 0.0;
}
/* Normalise a quaternion; one of unit length, up to UNIT, stays the same to the bit. */
static inline void q_unit(double *q) {
    if (!(fabs(q[0] * q[0] + dot3(q + 1, q + 1) - 1.0) <= UNIT)) q_normalize(q);
}
static inline void q_exp(double *q, const double *v) {
    double angle = sqrt(most(dot3(v, v), LEAST)), half = 0.5 * angle, factor = sin(half) / angle;
    q[0] = cos(half), q[1] = v[0] * factor, q[2] = v[1] * factor, q[3] = v[2] * factor;
}
static inline void q_log(double *v, const double *q) {
    double sine = sqrt(most(dot3(q + 1, q + 1), LEAST));
    double factor = atan2(sine, fabs(q[0])) / sine * (q[0] < 0.0 ? -2.0 : 2.0);
    v[0] = q[1] * factor, v[1] = q[2] * factor, v[2] = q[3] * factor;
}
static inline void q_matrix(double *m, const double *q) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double ww = w * w, xx = x * x, yy = y * y, zz = z * z;
    m[0] = ww + xx - yy - zz, m[1] = 2.0 * (x * y - w * z), m[2] = 2.0 * (x * z + w * y);
    m[3] = 2.0 * (x * y + w * z), m[4] = ww - xx + yy - zz, m[5] = 2.0 * (y * z - w * x);
    m[6] = 2.0 * (x * z - w * y), m[7] = 2.0 * (y * z + w * x), m[8] = ww - xx - yy + zz;
}
static inline void q_rotate(double *to, const double *q, const double *v) {
    double m[9];
    q_matrix(m, q);
    times3(to, m, v);
}
/* The smallest rotation that takes the direction of `a` to that of `b`. */
static inline void q_between(double *q, const double *a, const double *b) {
    double length = sqrt(dot3(a, a) * dot3(b, b));
    q[0] = length + dot3(a, b);
    cross3(q + 1, a, b);
    if (q[0] <= 1e-12 * length && length > 0.0) {
        double axis[3] = {0.0, 0.0, 0.0};
        int smallest = 0;
        for (int i = 1; i < 3; i++)
            if (fabs(a[i]) < fabs(a[smallest])) smallest = i;
        axis[smallest] = 1.0;
        q[0] = 0.0;
        cross3(q + 1, a, axis);
    }
    q_normalize(q);
}

/* Right Jacobian of SO(3), the transpose of `quaternion.left_jacobian`. */
static inline void right_jacobian(double *j, const double *v) {
    double squared = dot3(v, v), angle = sqrt(squared), a, b;
    if (angle < 1e-3) {
        a = 0.5 - squared / 24.0, b = 1.0 / 6.0 - squared / 120.0;
    } else {
        a = (1.0 - cos(angle)) / squared, b = (angle - sin(angle)) / (squared * angle);
    }
    double x = v[0], y = v[1], z = v[2];
    /* I - a [v]x + b [v]x^2 */
    j[0] = 1.0 - b * (y * y + z * z), j[1] = a * z + b * x * y, j[2] = -a * y + b * x * z;
    j[3] = -a * z + b * x * y, j[4] = 1.0 - b * (x * x + z * z), j[5] = a * x + b * y * z;
    j[6] = a * y + b * x * z, j[7] = -a * x + b * y * z, j[8] = 1.0 - b * (x * x + y * y);
}

#endif
