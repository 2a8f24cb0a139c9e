/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pole tasks; see solvers/space/tasks/pole.py and solvers/space/poles.py. */
#include "tasks.h"

static void unit(double *to, const double *v, double length) {
    for (int i = 0; i < 3; i++) to[i] = v[i] / length;
}

/* The faded dihedral angle of a pole and its gradients by root, middle and end; see poles.angles_and_gradients. */
static double pole_angle(const work *w, const point *p, const dqik_pole *pole, double gradient[3][3]) {
    const double *a = p->p + 3 * pole->root, *end = pole->end < 0 ? p->tips + 3 * pole->goal : p->p + 3 * pole->end;
    const double *target = w->ends + 3 * pole->goal;
    double m[3] = {0.0, 0.0, 0.0}, line[3], d[3], u[3], q[3], u_off[3], p_off[3], c[3];
    for (int i = 0; i < pole->middles; i++)
        for (int j = 0; j < 3; j++) m[j] += p->p[3 * pole->middle[i] + j];
    for (int j = 0; j < 3; j++) m[j] /= pole->middles;
    minus3(line, end, a);
    double length = most(norm3(line), 1e-12);
    unit(d, line, length);
    minus3(u, m, a);
    minus3(q, target, a);
    double along = dot3(u, d), q_along = dot3(q, d);
    for (int i = 0; i < 3; i++) u_off[i] = u[i] - d[i] * along, p_off[i] = q[i] - d[i] * q_along;
    double rho = most(norm3(u_off), 1e-12), pole_rho = most(norm3(p_off), 1e-12);
    cross3(c, p_off, u_off);
    double phi = atan2(dot3(d, c), dot3(p_off, u_off)) - pole->angle + PI;
    phi -= 2.0 * PI * floor(phi / (2.0 * PI));
    phi -= PI;
    double b_m[3];
    minus3(b_m, m, end);
    double upper = norm3(u), lower = norm3(b_m);
    double fade = most(0.5 * FADE * (upper + lower), 1e-12), root = sqrt(rho * rho + fade * fade);
    double faded = rho / root;
    if (!has_side(length, rho, pole_rho, upper + lower, norm3(q))) phi = faded = 0.0;
    if (gradient) {
        double by_m[3], by_pole[3], moment[3], other[3], by_b[3], out[3], un[3], wn[3];
        cross3(by_m, d, u_off);
        cross3(by_pole, d, p_off);
        for (int i = 0; i < 3; i++) by_m[i] /= rho * rho, by_pole[i] /= -pole_rho * pole_rho;
        cross3(moment, u, by_m);
        cross3(other, q, by_pole);
        for (int i = 0; i < 3; i++) moment[i] += other[i];
        cross3(by_b, moment, line);
        double slope = fade * fade / (root * root * root), growth = -0.5 * FADE * rho * fade / (root * root * root);
        double share = along / length;
        unit(out, u_off, rho);
        unit(un, u, most(upper, 1e-12));
        unit(wn, b_m, most(lower, 1e-12));
        for (int i = 0; i < 3; i++) {
            double of_b = -by_b[i] / (length * length), of_a = -(by_m[i] + by_pole[i] + of_b);
            gradient[0][i] = faded * of_a - phi * slope * (1.0 - share) * out[i] - phi * growth * un[i];
            gradient[1][i] = faded * by_m[i] + phi * slope * out[i] + phi * growth * (un[i] + wn[i]);
            gradient[2][i] = faded * of_b - phi * slope * share * out[i] - phi * growth * wn[i];
        }
    }
    return phi * faded;
}

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    *e = -weight * pole_angle(w, p, t->data, NULL);
}

/* The vector whose product with a turn's axis, or a slide's direction, is the rate of the angle; returns 0 if the block
 * moves none of the points. */
static int moment(const work *w, const point *p, const dqik_task *t, int block, double gradients[3][3], double *sum) {
    const dqik_stage *s = w->s;
    const dqik_pole *pole = t->data;
    const int at = s->block_start[block];
    int acts = 0;
    sum[0] = sum[1] = sum[2] = 0.0;
    for (int i = 0; i < pole->middles + 2; i++) {
        if (!pole->moved[(size_t)i * (size_t)w->n + (size_t)at]) continue;
        acts = 1;
        const int middle = i > 0 && i <= pole->middles, lever = t->levers[i * w->n + at];
        const double *share = gradients[i == 0 ? 0 : middle ? 1 : 2];
        const double *from = i == 0            ? p->p + 3 * pole->root
                             : middle          ? p->p + 3 * pole->middle[i - 1]
                             : pole->end < 0   ? p->tips + 3 * pole->goal
                                               : p->p + 3 * pole->end;
        const double part = middle ? 1.0 / pole->middles : 1.0;
        double torque[3], arm[3];
        if (lever >= 0) from = p->p + 3 * lever;
        minus3(arm, from, p->p + 3 * s->block_joint[block]);
        if (s->block_kind[block] == DQIK_SLIDE)
            copy3(torque, share);
        else
            cross3(torque, arm, share);
        for (int c = 0; c < 3; c++) sum[c] += part * torque[c];
    }
    return acts;
}

static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_stage *s = w->s;
    double gradients[3][3], sum[3];
    pole_angle(w, p, t->data, gradients);
    for (int b = 0; b < s->blocks; b++) {
        const int at = s->block_start[b], size = block_size(s, b);
        const double *axes = w->axes + 9 * b;
        if (!moment(w, p, t, b, gradients, sum)) continue;
        for (int c = 0; c < size; c++) {
            double u[3] = {axes[c], axes[3 + c], axes[6 + c]};
            *task_column(w, t, at + c) = weight * dot3(u, sum);
        }
    }
}

const task_kind pole_task = {SOFT, write_errors, write_jacobian, NULL};
