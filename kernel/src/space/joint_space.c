/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Degrees of freedom: coordinates, steps along them, and their limits; see solvers/space/joint_space.py and
 * solvers/algebra/twist_swing.py. */
#include "../internal.h"

#define FULL_TURN (2.0 * PI)

static int has_ellipse(const dqik_stage *s, int block) { return s->block_ellipse[block]; }

void project_block(const dqik_stage *s, int block, double *x) {
    const int at = s->block_start[block], size = block_size(s, block);
    const int boxed = has_ellipse(s, block) ? size - 2 : size; /* an ellipse is of the last two */
    if (s->block_kind[block] == DQIK_FREE_BALL) return;
    for (int i = 0; i < boxed; i++) x[i] = clamp(x[i], s->lo[at + i], s->hi[at + i]);
    if (boxed < size) project_swing(x + boxed, s->lo + at + boxed, s->hi + at + boxed);
}

/* The nearest coordinates inside the limits: those of the unknowns, and the others where these lead them. */
static void project_coupled(const dqik_stage *s, double *x) {
    const dqik_stage *u = s->unknowns;
    for (int b = 0; b < u->blocks; b++) {
        const int32_t *keep = s->keep + u->block_start[b];
        const int size = block_size(u, b);
        double z[3];
        for (int i = 0; i < size; i++) z[i] = x[keep[i]];
        project_block(u, b, z);
        for (int i = 0; i < size; i++) x[keep[i]] = z[i];
    }
    for (int i = 0; i < s->n; i++) x[i] = s->factor[i] * x[s->keep[s->unknown[i]]] + s->constant[i];
}

void project(const dqik_stage *s, double *x) {
    if (s->unknowns) {
        project_coupled(s, x);
        return;
    }
    if (!s->limited) return;
    for (int b = 0; b < s->blocks; b++) project_block(s, b, x + s->block_start[b]);
}

/* `angle` plus the full turns that bring it nearest to the middle of its limits. */
static double nearest_turn(const dqik_stage *s, double angle, int at) {
    if (!isfinite(s->lo[at])) return angle;
    return angle + FULL_TURN * nearbyint((0.5 * (s->lo[at] + s->hi[at]) - angle) / FULL_TURN);
}

/* (twist, swing_x, swing_z) of a rotation about Y. */
static void coordinates(double *x, const double *q) {
    double length = sqrt(q[0] * q[0] + q[2] * q[2]);
    double twist[4] = {1.0, 0.0, 0.0, 0.0}, swing[4], back[4], vector[3];
    if (length >= 1e-12) twist[0] = q[0] / length, twist[2] = q[2] / length;
    q_conjugate(back, twist);
    q_product(swing, q, back);
    q_log(vector, swing);
    double angle = 2.0 * atan2(twist[2], twist[0]);
    x[0] = angle > PI ? angle - FULL_TURN : angle <= -PI ? angle + FULL_TURN : angle;
    x[1] = vector[0], x[2] = vector[2];
}

void compose(double *q, const double *x) {
    double swing[4], twist[4] = {cos(0.5 * x[0]), 0.0, sin(0.5 * x[0]), 0.0}, v[3] = {x[1], 0.0, x[2]};
    q_exp(swing, v);
    q_product(q, swing, twist);
}

/* Angular velocity in the turned joint's frame, a column per coordinate (row by row). */
void body_jacobian(double *c, const double *x) {
    double v[3] = {x[1], 0.0, x[2]}, right[9], undo[9];
    right_jacobian(right, v);
    double co = cos(x[0]), si = sin(x[0]); /* turn about Y by -twist */
    double m[9] = {co, 0.0, -si, 0.0, 1.0, 0.0, si, 0.0, co};
    matrix_product(undo, m, right);
    for (int i = 0; i < 3; i++) c[3 * i] = i == 1, c[3 * i + 1] = undo[3 * i], c[3 * i + 2] = undo[3 * i + 2];
}

static void ball_body(const dqik_stage *s, int block, const double *x, double *c) {
    double align[9];
    body_jacobian(c, x);
    q_matrix(align, s->align + 4 * block);
    matrix_product(c, align, c);
}

/* Compute the rotation of a limited ball or a hinge from its coordinates. */
static void settle_block(const work *w, int b, const double *x, double *q) {
    const dqik_stage *s = w->s;
    const double *axis = w->k->axis + 3 * s->block_joint[b];
    if (s->block_kind[b] == DQIK_BALL) {
        double own[4], back[4];
        compose(own, x);
        q_product(own, s->align + 4 * b, own);
        q_conjugate(back, s->align + 4 * b);
        q_product(q, own, back);
    } else if (s->block_kind[b] == DQIK_HINGE) {
        double v[3] = {axis[0] * x[0], axis[1] * x[0], axis[2] * x[0]};
        q_exp(q, v);
    }
}

void settle(const work *w, point *p) {
    for (int b = 0; b < w->s->blocks; b++)
        settle_block(w, b, p->x + w->s->block_start[b], p->q + 4 * w->s->block_joint[b]);
}

/* Coordinates of a joint's rotation; does nothing for a slide. */
static void measure_block(const work *w, int b, const double *q, double *x) {
    const dqik_stage *s = w->s;
    const int at = s->block_start[b];
    switch (s->block_kind[b]) {
    case DQIK_HINGE:
        x[0] = nearest_turn(s, 2.0 * atan2(dot3(q + 1, w->k->axis + 3 * s->block_joint[b]), q[0]), at);
        break;
    case DQIK_BALL: {
        double own[4];
        q_relative(own, s->align + 4 * b, q);
        q_product(own, own, s->align + 4 * b);
        coordinates(x, own);
        x[0] = nearest_turn(s, x[0], at);
        break;
    }
    case DQIK_FREE_BALL:
        x[0] = x[1] = x[2] = 0.0;
    }
}

/* Move the motion `q` of a ball or hinge inside its limits, and compute its coordinates. */
void nearest_motion(const work *w, int b, double *q, double *x) {
    measure_block(w, b, q, x);
    project_block(w->s, b, x);
    if (w->s->block_kind[b] == DQIK_FREE_BALL) q_normalize(q);
    settle_block(w, b, x, q);
}

/* Compute coordinates of the rotations in `p->q` and of `translations` (NULL: slides stay), inside the limits. */
static void measure(const work *w, point *p, const double *translations) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        int joint = s->block_joint[b];
        double *x = p->x + s->block_start[b];
        if (s->block_kind[b] != DQIK_SLIDE)
            measure_block(w, b, p->q + 4 * joint, x);
        else if (translations)
            x[0] = dot3(translations + 3 * joint, w->k->axis + 3 * joint);
    }
    project(s, p->x);
    settle(w, p);
}

/* The state of a pose, moved to the nearest state inside the limits. */
void enter(const work *w, point *p, const double *rotations, const double *translations) {
    if (rotations != p->q) memcpy(p->q, rotations, sizeof(double) * 4 * (size_t)w->k->joints);
    for (int j = 0; j < w->k->joints; j++) q_normalize(p->q + 4 * j);
    measure(w, p, translations);
}

/* `enter` for the rotations in `p->q`, with the slides of `x_like`. */
void turn_back_inside(const work *w, point *p, const double *x_like) {
    const dqik_stage *s = w->s;
    for (int j = 0; j < w->k->joints; j++) q_normalize(p->q + 4 * j);
    for (int b = 0; b < s->blocks; b++)
        if (s->block_kind[b] == DQIK_SLIDE) p->x[s->block_start[b]] = x_like[s->block_start[b]];
    measure(w, p, NULL);
}

void take_step(const work *w, point *to, const point *from, const double *d) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        int joint = s->block_joint[b], at = s->block_start[b];
        if (s->block_kind[b] == DQIK_FREE_BALL) {
            double turn[3], q[4];
            times3(turn, s->basis + 9 * b, d + at);
            q_exp(q, turn);
            q_product(to->q + 4 * joint, from->q + 4 * joint, q);
            for (int i = 0; i < 3; i++) to->x[at + i] = 0.0;
        } else {
            int size = block_size(s, b);
            for (int i = 0; i < size; i++) to->x[at + i] = from->x[at + i] + d[at + i];
        }
    }
    settle(w, to);
}

/* The largest component of a step: [rad], or [skeleton lengths] for slides. */
double longest_of(const work *w, const double *d) {
    const dqik_stage *s = w->s;
    double longest = 0.0;
    for (int b = 0; b < s->blocks; b++) {
        for (int i = s->block_start[b]; i < s->block_start[b] + block_size(s, b); i++)
            longest = most(longest, fabs(d[i]) / unit_of(w, b));
    }
    return longest;
}

void difference(const work *w, const point *p, double *v) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        int joint = s->block_joint[b], at = s->block_start[b];
        if (s->block_kind[b] == DQIK_SLIDE) {
            v[at] = p->x[at] - w->base_x[at];
            continue;
        }
        double turn[4], vector[3], own[3];
        q_relative(turn, w->base_q + 4 * joint, p->q + 4 * joint);
        q_log(vector, turn);
        transposed_times3(own, s->basis + 9 * b, vector);
        v[at] = own[0];
        if (s->block_kind[b] != DQIK_HINGE) v[at + 1] = own[1], v[at + 2] = own[2];
    }
}

/* Gradient of 1/2 pull v^T W v, with v in `p->v`. */
void pull_gradient(const work *w, const point *p, double *gradient) {
    const dqik_stage *s = w->s;
    for (int i = 0; i < s->n; i++) gradient[i] = w->pull * w->weights[i] * p->v[i];
    for (int b = 0; b < s->blocks; b++) {
        if (s->block_kind[b] != DQIK_BALL) continue;
        int at = s->block_start[b];
        double c[9], own[3];
        ball_body(s, b, p->x + at, c);
        times3(own, s->basis + 9 * b, gradient + at);
        transposed_times3(gradient + at, c, own);
    }
}

/* From the rates of a block's coordinates `x` to its joint's angular velocity in its own frame: (3, 3). */
void block_rates(const dqik_stage *s, int block, const double *x, double *rates) {
    if (s->block_kind[block] == DQIK_BALL)
        ball_body(s, block, x, rates);
    else
        memcpy(rates, s->basis + 9 * block, sizeof(double) * 9);
}

/* World directions of a block's degrees of freedom, as columns of `axes` (3, 3). */
void block_axes(const work *w, const point *p, int block, double *axes) {
    double rates[9];
    block_rates(w->s, block, p->x + w->s->block_start[block], rates);
    matrix_product(axes, p->m + 9 * w->s->block_joint[block], rates);
}

static int bounded(const dqik_stage *s, int i) { return isfinite(s->lo[i]) && isfinite(s->hi[i]); }

/* `weights`: (n) coordinates of weight 0 stay; NULL: all go. */
void middle_of_limits(const work *w, point *p, const double *weights) {
    const dqik_stage *s = w->s;
    for (int i = 0; i < s->n; i++)
        if (bounded(s, i) && (!weights || weights[i] > 0.0)) p->x[i] = 0.5 * (s->lo[i] + s->hi[i]);
    project(s, p->x);
    settle(w, p);
}

/* SplitMix64 (Steele, Lea & Flood 2014): the same numbers as solvers/algebra/uniform.py draws. */
static double uniform(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

/* All degrees of freedom drawn at random inside their limits, in order; three numbers for a free ball. */
void sample(const work *w, point *p, uint64_t *random) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        int at = s->block_start[b], kind = s->block_kind[b];
        if (kind == DQIK_FREE_BALL) { /* Shoemake 1992, uniform over all rotations */
            double u = uniform(random), r = sqrt(1.0 - u), t = sqrt(u);
            double first = FULL_TURN * uniform(random), second = FULL_TURN * uniform(random), in[3] = {0.0, 0.0, 0.0};
            double q[4] = {t * cos(second), r * sin(first), r * cos(first), t * sin(second)};
            memcpy(p->q + 4 * s->block_joint[b], q, sizeof q);
            memcpy(p->x + at, in, sizeof in);
            continue;
        }
        int size = kind == DQIK_BALL ? 3 : 1;
        double reach = kind == DQIK_SLIDE ? w->k->length : PI;
        for (int i = at; i < at + size; i++) {
            double lo = isfinite(s->lo[i]) ? s->lo[i] : -reach, hi = isfinite(s->hi[i]) ? s->hi[i] : reach;
            p->x[i] = lo + (hi - lo) * uniform(random);
        }
    }
    project(s, p->x);
    settle(w, p);
}

/* `from` with all degrees of freedom moved at random, inside their limits, by `spread` [rad or skeleton lengths] at
 * most. Uses `w->d`. */
void sample_near(work *w, point *to, const point *from, double spread, uint64_t *random) {
    const dqik_stage *s = w->s;
    for (int b = 0; b < s->blocks; b++) {
        const double size = spread * unit_of(w, b);
        for (int i = s->block_start[b]; i < s->block_start[b] + block_size(s, b); i++)
            w->d[i] = from->x[i] + size * (2.0 * uniform(random) - 1.0);
    }
    project(s, w->d);
    for (int i = 0; i < w->n; i++) w->d[i] -= from->x[i];
    take_step(w, to, from, w->d);
}

/* Whether a coordinate of a block is on a limit. */
static int is_at_limit(const dqik_stage *s, int b, const double *x) {
    int at = s->block_start[b], kind = s->block_kind[b], on = 0;
    if (kind == DQIK_FREE_BALL) return 0;
    int size = kind == DQIK_BALL ? 3 : 1;
    for (int i = at; i < at + size; i++) {
        int here = x[i] <= s->lo[i] + AT_LIMIT || x[i] >= s->hi[i] - AT_LIMIT;
        if (i > at && has_ellipse(s, b)) {
            double normal[2];
            here |= swing_normal(normal, x + at + 1, s->lo + at + 1, s->hi + at + 1, AT_LIMIT);
        }
        on |= here && s->hi[i] > s->lo[i];
    }
    return on;
}

void mark_limits(const dqik_stage *s, const double *x, uint8_t *at_limit) {
    for (int b = 0; b < s->blocks; b++) at_limit[s->block_joint[b]] |= (uint8_t)is_at_limit(s, b, x);
}

/* Whether any joint that a stage moves is on a limit. */
int touches_limits(const dqik_stage *s, const double *x) {
    for (int b = 0; b < s->blocks; b++)
        if (is_at_limit(s, b, x)) return 1;
    return 0;
}
