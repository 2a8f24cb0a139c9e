/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two-bone limbs: their preferred bend, their fold by the law of cosines, and the turn to a pole; see
 * solvers/space/limb.py and poles.py. */
#include "../internal.h"

/* The turn of the middle joint that brings the end to the distance of `wanted` from the root, by the law of cosines in
 * the plane perpendicular to the limb's axis; `present` : by which it is bent. See limb.bends. */
static double fold_angle(
    const dqik_limb *limb, const point *at, const double *end, const double *wanted, double *present
) {
    const double *root = at->p + 3 * limb->upper, *middle = at->p + 3 * limb->lower;
    double upper[3], lower[3], across[3], axis[3];
    times3(axis, at->m + 9 * limb->lower, limb->axis);
    minus3(upper, middle, root);
    minus3(lower, end, middle);
    double none = NO_LENGTH * (norm3(upper) + norm3(lower));
    double along_upper = dot3(axis, upper), along_lower = dot3(axis, lower), height = along_upper + along_lower;
    for (int i = 0; i < 3; i++) upper[i] -= along_upper * axis[i], lower[i] -= along_lower * axis[i];
    cross3(across, upper, lower);
    double bend = atan2(dot3(axis, across), dot3(upper, lower));
    double a = norm3(upper), b = norm3(lower), distance = distance3(wanted, root);
    *present = least(a, b) > none ? bend : 0.0;
    if (!(least(a, b) > none)) return 0.0;
    double d = clamp(sqrt(most(distance * distance - height * height, 0.0)), fabs(a - b), a + b);
    double shorter = (a + b - d) * (a + b + d), longer = (d - fabs(a - b)) * (d + fabs(a - b));
    return 2.0 * atan2(sqrt(most(shorter, 0.0)), sqrt(most(longer, 0.0))) - bend;
}

/* The angle by which the lower joint, with this motion, swings its bone. */
static double swing(const dqik_limb *limb, const point *at, const double *motion, const double *end) {
    double bone[3], own[3], swung[3], across[3];
    minus3(bone, end, at->p + 3 * limb->lower);
    transposed_times3(own, at->m + 9 * limb->lower, bone);
    q_rotate(swung, motion, own);
    cross3(across, own, swung);
    return atan2(norm3(across), dot3(own, swung));
}

/* `bent` is `rotations`, the pose of `at`, with every limb bent by its preferred angle, or further for near targets by
 * the limb's own share; `share` multiplies all bends. Held limbs that are straight have the bend that they need. */
void bend_base(const work *w, const double *rotations, const point *at, double share, double *bent) {
    const dqik_stage *s = w->s;
    memcpy(bent, rotations, sizeof(double) * 4 * (size_t)w->k->joints);
    for (int i = 0; i < s->limbs; i++) {
        const dqik_limb *limb = s->limb + i;
        const double *lower = rotations + 4 * limb->lower, *upper = rotations + 4 * limb->upper;
        double turn[4], v[3], bend;
        const double sine = dot3(lower + 1, limb->axis); /* of half the angle; q and -q are the same rotation */
        const double already = 2.0 * atan2(lower[0] < 0.0 ? -sine : sine, fabs(lower[0]));
        double missing = clamp(limb->kept * limb->bend - already, 0.0, limb->kept * limb->bend);
        if (limb->share > 0.0 || limb->kept < 1.0) {
            const double *end = at->tips + 3 * limb->goal;
            const double more = fold_angle(limb, at, end, w->places + 3 * limb->goal, &bend);
            const double straight = (1.0 - limb->kept) * most(1.0 - swing(limb, at, lower, end) / limb->bend, 0.0);
            missing += limb->share * most(more - missing, 0.0);
            const double needs = least(share / AT_ONCE, 1.0) * straight * (more + bend - fabs(bend));
            missing = most(share * missing, needs);
        } else {
            missing *= share;
        }
        for (int j = 0; j < 3; j++) v[j] = missing * limb->axis[j];
        q_exp(turn, v);
        q_product(bent + 4 * limb->lower, lower, turn);
        for (int j = 0; j < 3; j++) v[j] = -0.5 * missing * limb->upper_axis[j];
        q_exp(turn, v);
        q_product(bent + 4 * limb->upper, upper, turn);
    }
}

/* `folded` is `rotations`, the pose of `base`, with every limb folded to its target's distance and turned to it. */
void fold(const work *w, const double *rotations, const point *base, double swivel, double *folded) {
    const dqik_stage *s = w->s;
    memcpy(folded, rotations, sizeof(double) * 4 * (size_t)w->k->joints);
    for (int i = 0; i < s->limbs; i++) {
        const dqik_limb *limb = s->limb + i;
        const double *tip = base->tips + 3 * limb->goal, *end = limb->end < 0 ? tip : base->p + 3 * limb->end;
        const double *root = base->p + 3 * limb->upper, *middle = base->p + 3 * limb->lower;
        const double *matrix = base->m + 9 * limb->lower;
        double beyond[3], whole[3], wanted[3], own[3], arm[3], turn[4], aim[4], moved[3], from[3], to[3], v[3];
        minus3(beyond, tip, end);
        if (s->asks[limb->goal] & 2 && limb->end >= 0) {
            const dqik_rotation *carry = carry_of(s, limb->goal);
            transposed_times3(own, base->m + 9 * s->goal_joint[limb->goal], beyond);
            q_rotate(beyond, w->turns + 4 * limb->goal, own);
            if (carry) {
                carrying(carry, base->w + 4 * carry->limb, turn);
                q_rotate(beyond, turn, beyond);
            }
            if (carry && carry->follows > WITH_LIMB) { /* the end keeps its turn from the lower bone while it folds */
                for (int j = 0; j < 3; j++) whole[j] = end[j] + beyond[j], beyond[j] = 0.0;
                end = whole;
            }
        }
        minus3(wanted, w->places + 3 * limb->goal, beyond);
        double bend, angle = fold_angle(limb, base, end, wanted, &bend);
        const double needed = angle + bend;
        if (fabs(needed + bend) < AS_NEEDED * needed) angle = -needed - bend; /* it is bent as needed already */
        for (int j = 0; j < 3; j++) v[j] = angle * limb->axis[j];
        q_exp(turn, v);
        q_product(folded + 4 * limb->lower, rotations + 4 * limb->lower, turn);
        minus3(arm, end, middle);
        transposed_times3(own, matrix, arm);
        q_rotate(own, turn, own);
        times3(moved, matrix, own);
        for (int j = 0; j < 3; j++) from[j] = moved[j] + middle[j] - root[j];
        minus3(to, wanted, root);
        q_between(aim, from, to);
        if (swivel != 0.0) {
            double length = most(norm3(to), 1e-12);
            for (int j = 0; j < 3; j++) v[j] = limb->side * swivel * to[j] / length;
            q_exp(turn, v);
            q_product(aim, turn, aim);
        }
        q_log(v, aim);
        transposed_times3(v, base->m + 9 * limb->upper, v);
        q_exp(turn, v);
        /* from the base, as in limb.fold, even if another limb has turned this joint already */
        q_product(folded + 4 * limb->upper, rotations + 4 * limb->upper, turn);
    }
}

/* Whether the angle between middle and pole is more than rounding; see `_has_side` in solvers/space/poles.py. */
int has_side(double length, double off, double pole_off, double whole, double far) {
    const int thin = least(length, off) <= ON_LINE * whole;
    return !(thin || pole_off <= ON_LINE * far || whole <= ON_LINE * far);
}

/* The share of its turn to the pole that a limb gets; see swivel_share in solvers/space/poles.py. */
static double swivel_share(double whole, double length, double distance) {
    const double line = clamp(least(length, distance) / most(whole, 1e-12), 0.0, 1.0);
    return clamp((0.5 * sqrt(1.0 - line * line) - UNBENT) / (BENT_LIMB - UNBENT), 0.0, 1.0);
}

/* Turn a chain, whose root is held, about its line so that its middle points at the pole; see turned_to_pole in
 * solvers/space/tasks/pole.py. `p` is up to date before and after. */
void swivel_to_pole(const work *w, const dqik_pole *pole, double hold, point *p) {
    if (!pole->swivels) return;
    const double *a = p->p + 3 * pole->root, *b = pole->end < 0 ? p->tips + 3 * pole->goal : p->p + 3 * pole->end;
    double m[3] = {0.0, 0.0, 0.0}, line[3], u[3], q[3], c[3], turn[4], v[3];
    for (int i = 0; i < pole->middles; i++)
        for (int j = 0; j < 3; j++) m[j] += p->p[3 * pole->middle[i] + j];
    for (int j = 0; j < 3; j++) m[j] /= pole->middles;
    minus3(line, b, a);
    const double length = norm3(line);
    for (int j = 0; j < 3; j++) line[j] /= most(length, 1e-12);
    minus3(u, m, a);
    minus3(q, w->ends + 3 * pole->goal, a);
    cross3(c, line, u);
    cross3(v, line, q);
    const double whole = norm3(u) + distance3(m, b), thin = most(STRAIGHT_LIMB * whole, SINGLE * norm3(m));
    if (norm3(c) <= thin || !has_side(length, norm3(c), norm3(v), whole, norm3(q))) return;
    const double nearer = distance3(p->tips + 3 * pole->goal, a) - distance3(w->places + 3 * pole->goal, a);
    const double tolerance = w->s->phase[w->s->phases - 1].tolerance;
    const double share = 1.0 - hold * (1.0 - swivel_share(whole, length, length - nearer + tolerance));
    cross3(c, q, u);
    const double phi = atan2(dot3(line, c), dot3(q, u) - dot3(q, line) * dot3(u, line)) - pole->angle;
    for (int j = 0; j < 3; j++) v[j] = -share * phi * line[j];
    transposed_times3(v, p->m + 9 * pole->root, v);
    q_exp(turn, v);
    q_product(p->q + 4 * pole->root, p->q + 4 * pole->root, turn);
    turn_back_inside(w, p, p->x);
    stand(w, p);
}
