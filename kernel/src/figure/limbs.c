/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limbs of the natural pose: from the place of the wrist or ankle to the turns of both bones, of the end and of a collar;
 * see solvers/figure/limbs.py, ends.py and collars.py. */
#include "figure.h"

/* Half way from a straight limb to the line along which it reaches for its end, all in the limb's axes, and the part of
 * that line's angle that is left; see `limbs.half_way`. */
static double half_way(const dqik_figure_limb *l, const double *reach, double *middle) {
    const double off = most(hypot(reach[1], reach[2]), LEAST), angle = atan2(off, reach[0]);
    const double part = sin(least(off / (FIGURE_ROOM * l->size * angle), 0.5 * PI)), half = 0.5 * part * angle;
    const double sine = sin(half) / off;
    middle[0] = cos(half), middle[1] = sine * reach[1], middle[2] = sine * reach[2];
    return part;
}

/* The line from the middle joint to the effector of a limb without rotation, whose end is turned: its length, its angle
 * about the hinge, and the turn back to the lower bone; see `LooseEnds.lines`. */
static double line_beyond(const dqik_figure_limb *l, const double *end, double *angle, double *back) {
    double q[4], line[3];
    q_exp(q, end);
    q_rotate(line, q, l->end_tip);
    line[0] += l->length[1];
    const double flat = hypot(line[0], line[1]), length = hypot(flat, line[2]), rise = flat + length, run = flat + line[0];
    const double turn[4] = {rise * run, -line[2] * line[1], line[2] * run, -rise * line[1]};
    memcpy(back, turn, sizeof turn);
    q_normalize(back);
    q_conjugate(q, l->end_frame);
    q_product(back, back, q);
    *angle = atan2(line[1], line[0]);
    return length;
}

/* The bend with which two bones span a distance, softened where the limb is stretched. */
static double corner(double upper, double lower, double distance) {
    const double whole = upper + lower, spare = whole - distance;
    distance = whole - 0.5 * (spare + hypot(spare, FIGURE_SOFT * whole));
    distance = most(distance, fabs(upper - lower) + FIGURE_FOLDED * whole);
    return acos((distance * distance - upper * upper - lower * lower) / (2.0 * upper * lower));
}

/* The turn of a foot about the hinge with which its toes are at a distance from the hip, and its slope by the bend. */
static double ankle(const dqik_figure_limb *l, double distance, double bend, double *slope) {
    const double *tip = l->end_tip, upper = l->length[0], lower = l->length[1];
    const double foot = sqrt(tip[0] * tip[0] + tip[1] * tip[1]), rest = atan2(tip[1], tip[0]);
    const double along = upper * cos(bend), across = upper * sin(bend), x = lower + along;
    const double squared = x * x + across * across, chord = sqrt(squared);
    const double cosine = clamp((distance * distance - squared - dot3(tip, tip)) / (2.0 * chord * foot), -FIGURE_POINTED, FIGURE_POINTED);
    const double fall = lower * across / squared;
    *slope = (x * along + across * across) / squared - (chord / foot + cosine) * fall / sqrt(1.0 - cosine * cosine);
    return atan2(across, x) + acos(cosine) - rest;
}

/* See `limbs.eased`. */
static double eased(double turn) { return FIGURE_MOST_EASED * tanh(turn / FIGURE_MOST_EASED); }

/* Fits a knee's bend and a foot's turn, loose (4), to the toes' distance; see `limbs.fitted`. */
static void ease(const dqik_figure_limb *l, double distance, const double *correction, double *loose) {
    const double turn = loose[2];
    double slope, bend = most(loose[3], FIGURE_LEAST_BEND);
    const double away = ankle(l, distance, bend, &slope) - turn;
    bend -= l->doubt * slope * eased(away) / (1.0 + l->doubt * slope * slope);
    if (correction) bend += correction[3];
    loose[3] = clamp(bend, FIGURE_LEAST_KNEE, FIGURE_MOST_KNEE);
    loose[2] = turn + eased(ankle(l, distance, loose[3], &slope) - turn);
}

/* The turns of both bones of a triangle whose end is at a distance; see `limbs.triangle`.
 *
 * middle: as of `half_way`. hinge: predicted, in the limb's axes. */
static void triangle(const dqik_figure_limb *l, const double *middle, double distance,
                     const double *hinge, const double *end, double *upper_turn, double *lower_turn) {
    double angle = 0.0, back[4], length[2] = {l->length[0], l->length[1]};
    if (!l->turned) length[1] = line_beyond(l, end, &angle, back);
    const double bend = l->bend * (l->eased ? end[3] - angle : corner(length[0], length[1], distance));
    const double inner = 2.0 * dot3(hinge, middle), sine = hinge[1] - inner * middle[1];
    const double cosine = hypot(hinge[2] - inner * middle[2], FIGURE_STEADY), twist[2] = {hypot(sine, cosine) + cosine, -sine};
    for (int part = 0; part < 2; part++) {
        const double *frame = l->bones + 48 * part, other = length[1 - part];
        const double along = length[part] + other * cos(bend), across = (part ? other : -other) * sin(bend);
        const double turn[2] = {hypot(along, across) + along, across};
        double *to = part ? lower_turn : upper_turn;
        memset(to, 0, 4 * sizeof(double));
        for (int i = 0; i < 12; i++, frame += 4)
            for (int b = 0; b < 4; b++) to[b] += middle[i / 4] * twist[i / 2 % 2] * turn[i % 2] * frame[b];
        q_normalize(to);
    }
    if (!l->turned) q_product(lower_turn, lower_turn, back);
}

/* Gives a forearm a share of the turn of its hand about it. */
static void pronate(const dqik_figure_limb *l, double *forearm, double *hand) {
    double by[3], turn[4];
    const double share = 2.0 * FIGURE_PRONATION * hand[0] * dot3(hand + 1, l->along);
    for (int c = 0; c < 3; c++) by[c] = share * l->along[c];
    q_exp(turn, by);
    q_product(forearm, forearm, turn);
    q_relative(hand, turn, hand);
}

/* The turns of a limb's joints, and of the collar of an arm. end: the effector's turn. correction: of the predicted turn
 * of an end without rotation. */
void pose_limb(const dqik_figure *f, int number, const double *trunk, const double *chest, const double *end,
               const double *correction, room *r) {
    const dqik_figure_limb *l = f->limb + number;
    const int arm = number < f->arms, first = 2 + f->arms + number;
    double reach[3], more[6], collar[4] = {1.0, 0.0, 0.0, 0.0}, own_end[4], told[13], out[7], m[9], turned[3];
    for (int i = 0; i < 4; i++) own_end[i] = end[i] * l->mirror[i];
    if (arm) {
        double mirrored[4], by[3];
        q_matrix(m, trunk);
        minus3(reach, r->ends + 3 * number, chest);
        transposed_times3(reach, m, reach);
        minus3(reach, reach, l->shoulder);
        for (int d = 0; d < 2; d++) transposed_times3(more + 3 * d, m, r->lines + 6 * number + 3 * d);
        for (int c = 0; c < 3; c++) reach[c] *= l->sign[c], more[c] *= l->sign[c], more[3 + c] *= l->sign[c];
        for (int i = 0; i < 4; i++) mirrored[i] = trunk[i] * l->mirror[i];
        q_relative(own_end, mirrored, own_end);
        const double raised = clamp(reach[1] / l->size, -1.0, 1.0) - FIGURE_COLLAR_REST;
        by[0] = by[2] = raised, by[1] = clamp(reach[2] / l->size, -1.0, 1.0);
        for (int c = 0; c < 3; c++) by[c] *= l->collar_gain[c];
        q_exp(collar, by);
        for (int c = 0; c < 3; c++) by[c] *= l->collar_share;
        q_exp(r->turns + 4 * (2 + number), by);
        q_rotate(turned, collar, l->collar_line);
        for (int c = 0; c < 3; c++) reach[c] -= turned[c] - l->collar_line[c];
    } else {
        for (int c = 0; c < 3; c++) {
            reach[c] = r->ends[3 * number + c] * l->sign[c] - l->root[c];
            more[c] = r->lines[6 * number + c] * l->sign[c], more[3 + c] = r->lines[6 * number + 3 + c] * l->sign[c];
        }
    }
    double distance = norm3(reach) / l->size;
    for (int c = 0; c < 3; c++) told[c] = reach[c] / l->size, told[4 + c] = told[c] / most(distance, FIGURE_NEAR);
    told[3] = distance;
    memcpy(told + 7, l->placed_arm ? l->beyond : more, 6 * sizeof(double));
    network_answer(&l->network, FIGURE_CLIP, told, r->hidden, out);
    double toes[4], upper[4], lower[4];
    if (l->on_toes) {
        q_exp(toes, out + 3);
        q_rotate(turned, toes, l->toe_line);
        minus3(turned, l->toe_line, turned);
        q_rotate(turned, own_end, turned);
        add3(reach, turned);
    }
    distance = norm3(reach);
    double middle[3], hinge[3];
    transposed_times3(reach, l->axes, reach);
    transposed_times3(hinge, l->axes, out);
    const double part = half_way(l, reach, middle);
    for (int c = 0; c < 3; c++) hinge[c] *= part * part;
    double *loose = r->ends_of_limbs + 4 * number;
    for (int c = 0; c < 4; c++) loose[c] = arm ? 0.0 : out[3 + c];
    if (l->eased) ease(l, distance, correction, loose);
    for (int c = 0; c < 3; c++) loose[c] = (loose[c] + (correction ? correction[c] : 0.0)) * l->end_moves;
    triangle(l, middle, distance, hinge, loose, upper, lower);
    q_relative(r->turns + 4 * first, collar, upper);
    q_relative(r->turns + 4 * (first + f->limbs), upper, lower);
    double *end_turn = r->turns + 4 * (first + 2 * f->limbs);
    if (l->turned) {
        q_relative(end_turn, lower, own_end);
        if (l->on_toes) q_product(end_turn, end_turn, toes);
        if (arm) pronate(l, r->turns + 4 * (first + f->limbs), end_turn);
    } else {
        double back[4], q[4];
        q_conjugate(back, l->end_frame);
        q_exp(q, loose);
        q_product(q, l->end_frame, q);
        q_product(end_turn, q, back);
    }
    if (l->on_toes) q_conjugate(r->turns + 4 * (first + 3 * f->limbs), toes);
}
