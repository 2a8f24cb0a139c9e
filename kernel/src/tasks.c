/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forward kinematics, and the rows of error and Jacobian of the goals; see solvers/model/skeleton.py, goals.py, poles.py. */
#include "internal.h"

/* Q_j = Q_parent link_j motion_j (Kenwright eq. 13, 15), kept as rotation and place. */
static void forward_joint(const work *w, point *p, int j, const double *slide) {
    const dqik_skeleton *k = w->k;
    int above = k->parent[j];
    double *world = p->w + 4 * j, *place = p->p + 3 * j;
    double own[4];
    q_product(own, w->link_q + 4 * j, p->q + 4 * j);
    if (above < 0) {
        memcpy(world, own, sizeof own);
        copy3(place, w->link_t + 3 * j);
    } else {
        if (k->detached[j])
            memcpy(world, own, sizeof own);
        else
            q_product(world, p->w + 4 * above, own);
        times3(place, p->m + 9 * above, w->link_t + 3 * j);
        for (int i = 0; i < 3; i++) place[i] += p->p[3 * above + i];
    }
    q_matrix(p->m + 9 * j, world);
    if (slide) {
        double moved[3];
        times3(moved, p->m + 9 * j, slide);
        for (int i = 0; i < 3; i++) place[i] += moved[i];
    }
}

static void forward_effectors(const work *w, point *p) {
    const dqik_stage *s = w->s;
    for (int g = 0; g < s->goals; g++) {
        int j = s->goal_joint[g];
        double *tip = p->tips + 3 * g;
        times3(tip, p->m + 9 * j, s->offset + 3 * g);
        for (int i = 0; i < 3; i++) tip[i] += p->p[3 * j + i];
    }
}

static void forward_some(const work *w, point *p, const int32_t *joints, int count) {
    for (int i = 0; i < count; i++) {
        int j = joints[i], block = w->s->slide[j];
        double slide[3];
        for (int c = 0; block >= 0 && c < 3; c++) slide[c] = w->k->axis[3 * j + c] * p->x[w->s->block_start[block]];
        forward_joint(w, p, j, block >= 0 ? slide : NULL);
    }
    forward_effectors(w, p);
}

void forward_all(const work *w, point *p) { forward_some(w, p, w->s->stand, w->s->standing); }

void forward_moved(const work *w, point *p) { forward_some(w, p, w->s->move, w->s->moving); }

/* Rotation vector from a goal's joint to its target, in the skeleton's frame, the short way. */
static void turn_error(const double *target, const double *current, double *v) {
    double back[4], turn[4];
    q_conjugate(back, current);
    q_product(turn, target, back);
    q_log(v, turn);
}

void errors(const work *w, point *p) {
    const dqik_stage *s = w->s;
    for (int g = 0; g < s->goals; g++) {
        double share = w->shares[g];
        if (s->place_row[g] >= 0) {
            double *e = p->e + s->place_row[g], weight = s->place_weight[g] * share;
            for (int i = 0; i < 3; i++) e[i] = (w->places[3 * g + i] - p->tips[3 * g + i]) * weight;
        }
        if (s->turn_row[g] >= 0) {
            double *e = p->e + s->turn_row[g], weight = s->turn_weight[g] * share;
            turn_error(w->turns + 4 * g, p->w + 4 * s->goal_joint[g], e);
            for (int i = 0; i < 3; i++) e[i] *= weight;
        }
    }
    for (int i = 0; i < s->poles; i++)
        p->e[s->rows + i] = w->use_poles ? -s->pole[i].weight * pole_angle(w, p, s->pole + i, NULL) : 0.0;
}

int within(const work *w, const point *p, double tolerance, double rotation_tolerance) {
    const dqik_stage *s = w->s;
    for (int g = 0; g < s->goals; g++) {
        int row = s->place_row[g];
        if (row >= 0 && !(dot3(p->e + row, p->e + row) <= square(s->place_weight[g] * tolerance))) return 0;
        row = s->turn_row[g];
        if (row >= 0 && !(dot3(p->e + row, p->e + row) <= square(s->turn_weight[g] * rotation_tolerance))) return 0;
    }
    return 1;
}

double rows_square(const work *w, const point *p) {
    double sum = 0.0;
    for (int i = 0; i < w->rows; i++) sum += p->e[i] * p->e[i];
    return sum;
}

/* Plain distances and angles, from what was asked rather than from what the stage makes of it. */
void report(const work *w, const point *p, const frame_view *frame) {
    const dqik_stage *s = w->s;
    for (int g = 0; g < s->goals; g++) {
        int all = s->goal_index[g];
        if (s->place_row[g] >= 0) frame->position_errors[all] = distance3(frame->positions + 3 * all, p->tips + 3 * g);
        if (s->turn_row[g] >= 0) {
            double v[3];
            turn_error(w->turns + 4 * g, p->w + 4 * s->goal_joint[g], v);
            frame->rotation_errors[all] = norm3(v);
        }
    }
}

/* Columns (u ; u x (effector - p)) of a turn and (0 ; u) of a slide, weighted (Amino). */
void jacobian(work *w, const point *p) {
    const dqik_stage *s = w->s;
    const int all = w->all, n = w->n;
    double gradients[3][3];
    memset(w->jacobian, 0, sizeof(double) * (size_t)n * (size_t)all);
    for (int b = 0; b < s->blocks; b++) {
        int joint = s->block_joint[b], at = s->block_start[b], kind = s->block_kind[b];
        int size = block_size(s, b);
        double axes[9];
        block_axes(w, p, b, axes);
        for (int g = 0; g < s->goals; g++) {
            const uint8_t *acts = s->acts + (size_t)g * (size_t)n + at;
            if (!acts[0]) continue;
            if (s->place_row[g] >= 0) {
                double weight = s->place_weight[g] * w->shares[g], arm[3];
                const double *tip = p->tips + 3 * g;
                if (s->levered && s->levers[g * n + at] >= 0) tip = p->p + 3 * s->levers[g * n + at];
                minus3(arm, tip, p->p + 3 * joint);
                for (int c = 0; c < size; c++) {
                    double u[3] = {axes[c], axes[3 + c], axes[6 + c]};
                    double *column = w->jacobian + (size_t)(at + c) * (size_t)all + s->place_row[g];
                    if (kind != DQIK_SLIDE) cross3(u, u, arm);
                    for (int i = 0; i < 3; i++) column[i] = u[i] * weight;
                }
            }
            if (s->turn_row[g] >= 0 && acts[0] & 2 && kind != DQIK_SLIDE) {
                double weight = s->turn_weight[g] * w->shares[g];
                for (int c = 0; c < size; c++) {
                    double *column = w->jacobian + (size_t)(at + c) * (size_t)all + s->turn_row[g];
                    for (int i = 0; i < 3; i++) column[i] = axes[3 * i + c] * weight;
                }
            }
        }
    }
    if (!w->use_poles) return;
    for (int k = 0; k < s->poles; k++) {
        const dqik_pole *pole = s->pole + k;
        pole_angle(w, p, pole, gradients);
        for (int b = 0; b < s->blocks; b++) {
            int joint = s->block_joint[b], at = s->block_start[b], kind = s->block_kind[b];
            int size = block_size(s, b), acts = 0;
            double sum[3] = {0.0, 0.0, 0.0}; /* what a turn's axis, or a slide's direction, is multiplied with */
            for (int i = 0; i < pole->middles + 2; i++) {
                if (!pole->moved[(size_t)i * (size_t)n + at]) continue;
                acts = 1;
                int middle = i > 0 && i <= pole->middles, lever = pole->levers[i * n + at];
                const double *share = gradients[i == 0 ? 0 : middle ? 1 : 2];
                const double *point_at = i == 0      ? p->p + 3 * pole->root
                                         : middle    ? p->p + 3 * pole->middle[i - 1]
                                         : pole->end < 0 ? p->tips + 3 * pole->goal
                                                         : p->p + 3 * pole->end;
                double part = middle ? 1.0 / pole->middles : 1.0, torque[3], arm[3];
                if (lever >= 0) point_at = p->p + 3 * lever;
                minus3(arm, point_at, p->p + 3 * joint);
                if (kind == DQIK_SLIDE)
                    copy3(torque, share);
                else
                    cross3(torque, arm, share);
                for (int c = 0; c < 3; c++) sum[c] += part * torque[c];
            }
            if (!acts) continue;
            double axes[9];
            block_axes(w, p, b, axes);
            for (int c = 0; c < size; c++) {
                double u[3] = {axes[c], axes[3 + c], axes[6 + c]};
                w->jacobian[(size_t)(at + c) * (size_t)all + s->rows + k] = pole->weight * dot3(u, sum);
            }
        }
    }
}

static void unit(double *to, const double *v, double length) {
    for (int i = 0; i < 3; i++) to[i] = v[i] / length;
}

/* The faded dihedral angle of a pole and its gradients by root, middle and end; see poles.angles_and_gradients. */
double pole_angle(const work *w, const point *p, const dqik_pole *pole, double gradient[3][3]) {
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
