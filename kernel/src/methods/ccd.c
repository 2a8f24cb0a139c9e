/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cyclic coordinate descent: the best turn of one joint after the other; see solvers/methods/ccd.py, and aim.py and
 * sweeps.py in solvers/iterate. */
#include "../internal.h"

#define TINY 2.2250738585072014e-308

static const double STEPS[] = CCD_STEPS, SHARES[] = CCD_SHARES;
enum { STEP_COUNT = sizeof STEPS / sizeof *STEPS, SHARE_COUNT = sizeof SHARES / sizeof *SHARES };

/* -- the best turn of one joint ------------------------------------------------------------------------------------ */

/* `sum w p x t` of B. */
static void torque(double *to, const double *b) { to[0] = b[7] - b[5], to[1] = b[2] - b[6], to[2] = b[3] - b[1]; }

/* The eigenvector of the largest eigenvalue of a symmetric matrix (4, 4), by Jacobi's rotations, which overwrite it. */
static void largest_eigenvector(double a[4][4], double *vector) {
    double v[4][4] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};
    int turned = 1;
    for (int round = 0; turned && round < 32; round++) {
        turned = 0;
        for (int i = 0; i < 3; i++)
            for (int j = i + 1; j < 4; j++) {
                if (fabs(a[i][j]) <= 1e-20 * (fabs(a[i][i]) + fabs(a[j][j]))) continue;
                turned = 1;
                double half = 0.5 * (a[j][j] - a[i][i]), t = a[i][j] / (fabs(half) + hypot(half, a[i][j]));
                if (half < 0.0) t = -t;
                double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
                for (int k = 0; k < 4; k++) {
                    double to = a[k][i], from = a[k][j];
                    a[k][i] = c * to - s * from, a[k][j] = s * to + c * from;
                    to = v[k][i], from = v[k][j];
                    v[k][i] = c * to - s * from, v[k][j] = s * to + c * from;
                }
                for (int k = 0; k < 4; k++) {
                    double to = a[i][k], from = a[j][k];
                    a[i][k] = c * to - s * from, a[j][k] = s * to + c * from;
                }
                a[i][j] = a[j][i] = 0.0;
            }
    }
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (a[i][i] > a[best][best]) best = i;
    for (int i = 0; i < 4; i++) vector[i] = v[i][best];
}

/* The turn R with the largest tr(R^T B), by Davenport's q-method; the identity is added to B with a small weight. */
static void best_turn(double *q, const double *b) {
    double stay = 0.0, sum[3], n[4][4];
    for (int i = 0; i < 3; i++) stay += sqrt(b[i] * b[i] + b[3 + i] * b[3 + i] + b[6 + i] * b[6 + i]);
    stay = STAY * stay + TINY;
    const double trace = b[0] + b[4] + b[8] + 3.0 * stay;
    torque(sum, b);
    n[0][0] = trace;
    for (int i = 0; i < 3; i++) {
        n[0][i + 1] = n[i + 1][0] = sum[i];
        for (int j = 0; j < 3; j++) n[i + 1][j + 1] = b[3 * i + j] + b[3 * j + i];
        n[i + 1][i + 1] += 2.0 * stay - trace;
    }
    largest_eigenvector(n, q);
    if (q[0] < 0.0)
        for (int i = 0; i < 4; i++) q[i] = -q[i];
}

/* Turn a ball by its share of `turn`, which is in the skeleton's frame. */
static void aim(const work *w, point *p, const dqik_visit *v, const double *turn) {
    const int joint = joint_of(w, v);
    double vector[3], own[4], motion[4];
    q_log(vector, turn);
    for (int i = 0; i < 3; i++) vector[i] *= v->share;
    transposed_times3(vector, p->m + 9 * joint, vector);
    q_exp(own, vector);
    q_product(motion, p->q + 4 * joint, own);
    move_joint(w, p, v, motion);
}

static void serve_hinge(const work *w, point *p, const dqik_visit *v, const double *b) {
    const int joint = joint_of(w, v), at = w->s->block_start[v->block];
    const double *own = w->k->axis + 3 * joint, lo = w->s->lo[at], hi = w->s->hi[at], from = p->x[at];
    double axis[3], sum[3], along[3], all = 0.0, to = from, q[4], turn[9], vector[3];
    times3(axis, p->m + 9 * joint, own);
    torque(sum, b);
    times3(along, b, axis);
    for (int i = 0; i < 9; i++) all += b[i] * b[i];
    const double sine = dot3(axis, sum), cosine = b[0] + b[4] + b[8] - dot3(axis, along);
    if (sine * sine + cosine * cosine > CCD_NOTHING * all) to += atan2(sine, cosine);
    if (isfinite(lo)) {
        to += 2.0 * PI * nearbyint((0.5 * (lo + hi) - to) / (2.0 * PI));
        to = clamp(to, lo, hi);
    }
    if (v->share != 1.0) { /* all of the way if the share would lose */
        double by = v->share * (to - from);
        if (cosine * (cos(by) - 1.0) + sine * sin(by) >= 0.0) to = from + by;
    }
    for (int i = 0; i < 3; i++) vector[i] = axis[i] * (to - from);
    q_exp(q, vector);
    q_matrix(turn, q);
    for (int i = 0; i < 3; i++) vector[i] = own[i] * to;
    q_exp(p->q + 4 * joint, vector);
    p->x[at] = to;
    turn_below(w, p, v, turn);
}

/* tr(R^T B) of the turn with coordinates `x`. */
static double value_at(const double *x, const double *b) {
    double q[4], turn[9], sum = 0.0;
    compose(q, x);
    q_matrix(turn, q);
    for (int i = 0; i < 9; i++) sum += turn[i] * b[i];
    return sum;
}

/* The best of `best + step[k]`, or `best` if none gains more than `slack`; `step` (K, 3). */
static void take_best(double *best, double *reached, double step[][3], int count, double slack, const double *b) {
    double bar = *reached + slack;
    int chosen = -1;
    for (int k = 0; k < count; k++) {
        double tried[3] = {best[0] + step[k][0], best[1] + step[k][1], best[2] + step[k][2]}, value = value_at(tried, b);
        if (value > bar) bar = value, chosen = k;
    }
    if (chosen < 0) return;
    add3(best, step[chosen]);
    *reached = bar;
}

/* Turn a limited ball by descent in twist and swing: for a rest frame P, tr(R^T B) = tr(m^T (P^T B P m)) with the
 * motion m. `single`: (2, 3) arm and end of the only goal, or NULL. */
static void serve_limited_ball(const work *w, point *p, const dqik_visit *v, const double *of, const double *single) {
    const dqik_stage *s = w->s;
    const int joint = joint_of(w, v), at = s->block_start[v->block];
    const double *align = s->align + 4 * v->block, *world = p->m + 9 * joint;
    double b[9], rest[9], back[9], part[9], q[4], x[3], best[3], step[STEP_COUNT > SHARE_COUNT ? STEP_COUNT : SHARE_COUNT][3], all = 0.0, reached;
    q_relative(q, p->q + 4 * joint, align);
    q_matrix(part, q);
    matrix_product(rest, world, part);
    q_matrix(part, align);
    matrix_product(part, world, part);
    for (int i = 0; i < 9; i++) back[i] = rest[3 * (i % 3) + i / 3];
    matrix_product(b, back, of);
    matrix_product(b, b, part);
    if (single) {
        double arm[3], end[3];
        transposed_times3(arm, part, single);
        transposed_times3(end, rest, single + 3);
        q_between(q, arm, end);
    } else {
        best_turn(q, b);
    }
    copy3(x, p->x + at);
    q_product(q, align, q);
    double undo[4];
    q_conjugate(undo, align);
    q_product(q, q, undo);
    nearest_motion(w, v->block, q, best);
    for (int k = 0; k < SHARE_COUNT; k++)
        for (int i = 0; i < 3; i++) step[k][i] = (best[i] - x[i]) * SHARES[k];
    for (int i = 0; i < 9; i++) all += b[i] * b[i];
    const double size = sqrt(all), unit = 1.0 / most(size, TINY), slack = CCD_LEAST_GAIN * size, now = value_at(x, b);
    copy3(best, x), reached = now;
    take_best(best, &reached, step, SHARE_COUNT, slack, b);
    for (int round = 0; round < CCD_ROUNDS; round++) {
        double turn[9], left[9], rates[9], up[3];
        compose(q, best);
        q_matrix(turn, q);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                left[3 * i + j] = turn[i] * b[j] + turn[3 + i] * b[3 + j] + turn[6 + i] * b[6 + j];
        torque(up, left);
        body_jacobian(rates, best);
        transposed_times3(up, rates, up);
        for (int k = 0; k < STEP_COUNT; k++) {
            double to[3];
            for (int i = 0; i < 3; i++) to[i] = best[i] + up[i] * unit * STEPS[k];
            project_block(s, v->block, to);
            minus3(step[k], to, best);
        }
        take_best(best, &reached, step, STEP_COUNT, slack, b);
    }
    if (v->share != 1.0) {
        double part_way[3];
        for (int i = 0; i < 3; i++) part_way[i] = x[i] + v->share * (best[i] - x[i]);
        if (value_at(part_way, b) - now >= 0.0) copy3(best, part_way);
    }
    compose(q, best);
    q_product(q, align, q);
    q_product(q, q, undo);
    move_joint(w, p, v, q);
}

static void serve_slide(const work *w, point *p, const dqik_visit *v) {
    const int joint = joint_of(w, v), at = w->s->block_start[v->block];
    double axis[3], arm[3], end[3], miss[3], sum = 0.0, all = 0.0;
    times3(axis, p->m + 9 * joint, w->k->axis + 3 * joint);
    for (int i = 0; i < v->goals; i++) {
        const int g = v->goal[i];
        const double weight = square(w->s->place_weight[g] * w->shares[g]);
        arm_of(w, p, v, g, v->lever[i], arm, end);
        minus3(miss, end, arm);
        sum += weight * dot3(miss, axis), all += weight;
    }
    double by = v->share * (clamp(p->x[at] + sum / all, w->s->lo[at], w->s->hi[at]) - p->x[at]);
    p->x[at] += by;
    for (int i = 0; i < 3; i++) axis[i] *= by;
    slide_below(w, p, v, axis);
}

/* Move one joint to the best place for its goals, as far as its limits and its stiffness allow. */
static void serve(const work *w, point *p, const dqik_visit *v) {
    const dqik_stage *s = w->s;
    const int kind = s->block_kind[v->block], at = s->block_start[v->block], alone = v->goals == 1 && !v->turning;
    double b[9] = {0.0}, pair[6], q[4];
    if (kind == DQIK_SLIDE) {
        serve_slide(w, p, v);
        return;
    }
    for (int i = 0; i < v->goals; i++) {
        const int g = v->goal[i];
        const double weight = square(s->place_weight[g] * w->shares[g]);
        arm_of(w, p, v, g, v->lever[i], pair, pair + 3);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) b[3 * r + c] += weight * pair[3 + r] * pair[c];
    }
    for (int i = 0; i < v->turning; i++) {
        const int g = v->turn[i];
        const dqik_rotation *carry = carry_of(s, g);
        const double share = !carry || s->goal_joint[g] == joint_of(w, v) ? 1.0 : 1.0 - carry->follows;
        const double weight = 0.5 * square(s->turn_weight[g] * w->shares[g]) * share, *own = p->m + 9 * s->goal_joint[g];
        double wanted[9];
        q_matrix(wanted, w->turns + 4 * g);
        if (carry) {
            best_turn(q, p->m + 9 * carry->limb); /* a rotation matrix: its own quaternion */
            carrying(carry, q, q);
            q_product(q, q, w->turns + 4 * g);
            q_matrix(wanted, q);
        }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) b[3 * r + c] += weight * dot3(wanted + 3 * r, own + 3 * c);
    }
    if (kind == DQIK_HINGE) {
        serve_hinge(w, p, v, b);
    } else if (isfinite(s->lo[at]) || isfinite(s->lo[at + 1]) || isfinite(s->lo[at + 2])) {
        serve_limited_ball(w, p, v, b, alone ? pair : NULL);
    } else {
        if (alone)
            q_between(q, pair, pair + 3);
        else
            best_turn(q, b);
        aim(w, p, v, q);
    }
}

/* -- sweeps -------------------------------------------------------------------------------------------------------- */

static double all_squares(const work *w, const point *p) {
    double sum = 0.0;
    for (int i = 0; i < w->all; i++) sum += p->e[i] * p->e[i];
    return sum;
}

/* Update `p`, and turn each pole's chain about its line if that lowers the sum of all errors. */
static void stand_swivelled(work *w, point *p) {
    stand(w, p);
    for (int i = 0; w->use_soft && i < w->s->poles; i++) {
        if (!w->s->pole[i].swivels) continue;
        copy_point(w, &w->swung, p);
        swivel_to_pole(w, w->s->pole + i, 0.0, &w->swung);
        if (all_squares(w, &w->swung) < all_squares(w, p)) copy_point(w, p, &w->swung);
    }
}

/* Sweep over the joints from `w->now` until the goals are met or the sweeps gain nothing more. Returns the number of
 * sweeps. */
int sweep(work *w, const dqik_settings *settings) {
    const dqik_sweep *order = w->s->sweep;
    if (order->by_links) return follow_links(w, settings);
    if (w->use_soft && w->s->poles) stand_swivelled(w, &w->now);
    int met = within(w, &w->now, settings->tolerance, settings->rotation_tolerance), waited = 0, count = 0;
    double cost = rows_square(w, &w->now);
    copy_point(w, &w->kept, &w->now);
    while (!met && count < settings->iterations) {
        copy_point(w, &w->tried, &w->now);
        for (int i = 0; i < order->visits; i++) serve(w, &w->tried, order->visit + i);
        stand_swivelled(w, &w->tried);
        count++;
        const double reached = rows_square(w, &w->tried);
        double change = 0.0;
        waited = reached < (1.0 - SWEEPS_LEAST_PROGRESS) * cost ? 0 : waited + 1;
        if (reached < (1.0 - SWEEPS_SAME) * cost) {
            cost = reached;
            copy_point(w, &w->kept, &w->tried);
        }
        for (int i = 0; i < w->all; i++) change = most(change, fabs(w->tried.e[i] - w->now.e[i]));
        met = within(w, &w->tried, settings->tolerance, settings->rotation_tolerance);
        point before = w->now;
        w->now = w->tried, w->tried = before;
        if (change < SWEEPS_LEAST_MOVE || waited >= SWEEPS_PATIENCE) break;
    }
    point last = w->now;
    w->now = w->kept, w->kept = last;
    w->now.cost = 0.5 * cost;
    return count;
}
