/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Natural poses of a figure, frame by frame; see solvers/figure/. Nothing here depends on a stage. */
#include "figure.h"

static room room_in(const dqik_figure *f, double *memory) {
    room r;
    const int e = f->effectors;
    r.q = memory;
    r.p = r.q + 4 * f->skeleton.joints;
    r.ends = r.p + 3 * f->skeleton.joints;
    r.lines = r.ends + 3 * e;
    r.each = r.lines + 6 * e;
    r.features = r.each + 9 * e;
    r.turns = r.features + f->features;
    r.motions = r.turns + 4 * f->columns;
    r.places = r.motions + 4 * f->turned;
    r.orientations = r.places + 3 * e;
    r.ends_of_limbs = r.orientations + 4 * e;
    r.moved = r.ends_of_limbs + 4 * e;
    r.corrections = r.moved + e;
    r.hidden = r.corrections + 4 * e;
    return r;
}

/* The translation of a unit dual quaternion. */
static void place_of(double *to, const double *dual) {
    double back[4], moved[4];
    q_conjugate(back, dual);
    q_product(moved, dual + 4, back);
    for (int i = 0; i < 3; i++) to[i] = 2.0 * moved[i + 1];
}

/* Forward kinematics: Q_j = Q_parent link_j motion_j (Kenwright eq. 13, 15). */
static void forward(const dqik_figure *f, const double *rotations, const double *slides, const double *links, room *r) {
    const dqik_skeleton *k = &f->skeleton;
    for (int i = 0; i < k->joints; i++) {
        const int j = k->order[i], above = k->parent[j];
        double own[4], offset[3], slid[3], *q = r->q + 4 * j, *p = r->p + 3 * j;
        q_product(own, links + 8 * j, rotations + 4 * j);
        place_of(offset, links + 8 * j);
        if (above < 0) {
            memcpy(q, own, sizeof own);
            copy3(p, offset);
        } else {
            if (k->detached[j])
                memcpy(q, own, sizeof own);
            else
                q_product(q, r->q + 4 * above, own);
            q_rotate(p, r->q + 4 * above, offset);
            add3(p, r->p + 3 * above);
        }
        if (slides[3 * j] != 0.0 || slides[3 * j + 1] != 0.0 || slides[3 * j + 2] != 0.0) {
            q_rotate(slid, q, slides + 3 * j);
            add3(p, slid);
        }
    }
}

/* -- what is seen from the hips ------------------------------------------------------------------------------------ */

static void hips_from(const dqik_figure *f, const double *links, const room *r, int joint, double *q, double *p) {
    if (f->hips_link >= 0) {
        memcpy(q, links + 8 * f->hips_link, 4 * sizeof(double));
        place_of(p, links + 8 * f->hips_link);
    } else {
        memcpy(q, r->q + 4 * joint, 4 * sizeof(double));
        copy3(p, r->p + 3 * joint);
    }
}

/* Where the hips' axes and the middle of the hip joints are. */
static void hips_frame(const dqik_figure *f, const double *q, const double *p, double *axes, double *centre) {
    double turned[4];
    q_product(axes, q, f->hips_from_rest);
    q_product(turned, q, f->hips_inverse);
    q_rotate(centre, turned, f->hips_offset);
    add3(centre, p);
}

/* An effector in the hips' axes. */
static void see(const dqik_effector *e, const double *axes, const double *centre, const double *position,
                const double *orientation, double *place, double *turn) {
    double away[3], m[9], world[4];
    minus3(away, position, centre);
    q_matrix(m, axes);
    transposed_times3(place, m, away);
    if (e->turned) {
        q_product(world, orientation, e->from_rest);
        q_relative(turn, axes, world);
    } else {
        turn[0] = 1.0, turn[1] = turn[2] = turn[3] = 0.0;
    }
}

/* -- the prior's own pose ------------------------------------------------------------------------------------------ */

static void tell(const dqik_figure *f, const double *places, const double *turns, room *r) {
    for (int i = 0; i < f->effectors; i++) {
        const dqik_effector *e = f->effector + i;
        double m[9], tip[3], *each = r->each + 9 * i;
        q_matrix(m, turns + 4 * i);
        times3(tip, m, e->tip);
        minus3(r->ends + 3 * i, places + 3 * i, tip);
        for (int c = 0; c < 3; c++) each[c] = (r->ends[3 * i + c] - e->root[c]) / e->size;
        for (int d = 0; d < 2; d++)
            for (int c = 0; c < 3; c++)
                r->lines[6 * i + 3 * d + c] = each[3 + 3 * d + c] =
                    m[3 * c] * e->frame[d] + m[3 * c + 1] * e->frame[2 + d] + m[3 * c + 2] * e->frame[4 + d];
    }
    for (int i = 0; i < f->features; i++) r->features[i] = r->each[f->select[i]];
}

static void turn_of_trunk(const dqik_figure *f, const double *features, double *turn) {
    copy3(turn, f->trunk_mean);
    for (int i = 0; i < f->features; i++) {
        const double x = clamp(features[i] * f->trunk_scale[i] + f->trunk_shift[i], -FIGURE_CLIP, FIGURE_CLIP);
        for (int c = 0; c < 3; c++) turn[c] += x * f->trunk_map[3 * i + c];
    }
    for (int c = 0; c < 3; c++) turn[c] = clamp(turn[c], -FIGURE_MOST_TURN, FIGURE_MOST_TURN);
}

/* Where the chest's joint is if the spine's bones share a turn evenly. */
static void place_of_chest(const dqik_figure *f, const double *turn, double *place) {
    const double angle = most(sqrt(dot3(turn, turn)), LEAST);
    double axis[3], sine[3] = {0.0}, versine[3] = {0.0}, across[3];
    copy3(place, f->spine_root);
    for (int c = 0; c < 3; c++) axis[c] = turn[c] / angle;
    for (int i = 0; i < f->lines; i++) {
        const double *line = f->spine_line + 3 * i, s = sin(angle * f->fraction[i]), v = 1.0 - cos(angle * f->fraction[i]);
        for (int c = 0; c < 3; c++) place[c] += line[c], sine[c] += s * line[c], versine[c] += v * line[c];
    }
    cross3(across, axis, versine);
    cross3(across, axis, across);
    cross3(sine, axis, sine);
    add3(place, sine);
    add3(place, across);
}

/* The prior's own motions (K, 4), from the places (E, 3) and turns (E, 4) of the effectors.
 *
 * kept: (3) the chest's turn, where the spine is not free. corrections: (limbs, 4) of predicted ends; NULL: none. */
static void pose(const dqik_figure *f, const double *places, const double *turns, const double *kept,
                 const double *corrections, double share, room *r) {
    double turn[3] = {0.0}, trunk[4], chest[3], part[3];
    tell(f, places, turns, r);
    if (f->has_spine && f->keeps_chest)
        copy3(turn, kept);
    else if (f->spine)
        turn_of_trunk(f, r->features, turn);
    for (int i = 0; i < f->columns; i++) r->turns[4 * i] = 1.0, r->turns[4 * i + 1] = r->turns[4 * i + 2] = r->turns[4 * i + 3] = 0.0;
    if (f->spine) {
        for (int c = 0; c < 3; c++) part[c] = turn[c] / f->spine;
        q_exp(r->turns, part);
    }
    q_exp(trunk, turn);
    if (f->effectors > f->limbs && f->neck) {
        double against[4];
        q_relative(against, trunk, turns + 4 * (f->effectors - 1));
        q_log(part, against);
        for (int c = 0; c < 3; c++) part[c] /= f->neck;
        q_exp(r->turns + 4, part);
    }
    place_of_chest(f, turn, chest);
    for (int i = 0; i < f->limbs; i++) {
        const double *correction = corrections ? corrections + 4 * i : NULL;
        pose_limb(f, i, trunk, chest, turns + 4 * i, correction, r);
    }
    for (int i = 0; i < f->turned; i++) {
        const double *q = r->turns + 4 * f->column[i], *sign = f->mirror + 4 * f->column[i];
        double *motion = r->motions + 4 * i;
        memset(motion, 0, 4 * sizeof(double));
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) motion[b] += q[a] * sign[a] * f->map[16 * i + 4 * a + b];
    }
    if (!f->own_map || share <= 0.0) return;
    for (int i = 0; i < f->turned; i++) {
        double by[3], correction[4];
        const int width = 3 * f->turned;
        copy3(by, f->own_map + width * f->features + 3 * i);
        for (int k = 0; k < f->features; k++) {
            const double x = clamp((r->features[k] - f->own_mean[k]) / f->own_scale[k], -FIGURE_OWN_CLIP, FIGURE_OWN_CLIP);
            for (int c = 0; c < 3; c++) by[c] += x * f->own_map[width * k + 3 * i + c];
        }
        for (int c = 0; c < 3; c++) by[c] *= share;
        q_exp(correction, by);
        q_product(r->motions + 4 * i, r->motions + 4 * i, correction);
    }
}

/* -- the animator's pose and the targets --------------------------------------------------------------------------- */

/* The turn of one of the K joints in the animator's pose, read as a left one. */
static void own_turn(const dqik_figure *f, const dqik_figure_limb *l, int row, const double *back, const double *rotations,
                     double *turn) {
    const double *motion = rotations + 4 * f->joint[row];
    for (int b = 0; b < 4; b++) {
        turn[b] = 0.0;
        for (int a = 0; a < 4; a++) turn[b] += motion[a] * back[4 * a + b];
        turn[b] *= l->mirror[b];
    }
}

/* The turn of the end of a limb without rotation, and its bend, own (4), in the animator's pose. */
static void own_end(const dqik_figure *f, const dqik_figure_limb *l, const double *rotations, double *own) {
    double turn[4], m[9], line[3];
    memset(own, 0, 4 * sizeof(double));
    if (l->own_end >= 0) {
        own_turn(f, l, l->own_end, l->end_back, rotations, turn);
        q_relative(turn, l->end_frame, turn);
        q_product(turn, turn, l->end_frame);
        q_log(own, turn);
    }
    if (l->own_lower >= 0 && l->eased) {
        own_turn(f, l, l->own_lower, l->lower_back, rotations, turn);
        q_matrix(m, turn);
        times3(line, m, l->back + 9);
        times3(m, l->back, line);
        own[3] = atan2(l->bend * m[1], m[0]);
    }
}

/* Differences of these from those predicted, for limbs without rotation: start->ends (limbs, 4). */
static void own_ends(const dqik_figure *f, const double *rotations, dqik_figure_start *start, room *r) {
    memset(start->ends, 0, 4 * sizeof(double) * (size_t)f->limbs);
    double own[4];
    for (int part = 1; part >= 0; part--) { /* the bends first, to which feet are fitted */
        pose(f, start->places, start->turns, start->chest, start->ends, 0.0, r);
        for (int i = 0; i < f->limbs; i++) {
            const dqik_figure_limb *l = f->limb + i;
            double *ends = start->ends + 4 * i, *predicted = r->ends_of_limbs + 4 * i;
            if (l->turned) continue;
            own_end(f, l, rotations, own);
            if (part && l->eased) ends[3] = own[3] - predicted[3];
            if (!part)
                for (int c = 0; c < 3; c++) ends[c] = own[c] - predicted[c];
        }
    }
}

/* An effector that is far out of reach is drawn toward where it is in the animator's pose, at last to it. */
static void keep_in_reach(const dqik_effector *e, const double *own_place, const double *own_turn, double *place,
                          double *turn) {
    const double reach = distance3(place, e->root) / e->size;
    if (reach <= e->reach) return;
    double share = clamp(2.0 - reach / e->reach, 0.0, 1.0);
    share = share * share * (3.0 - 2.0 * share);
    const double sign = turn[0] * own_turn[0] + dot3(turn + 1, own_turn + 1) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++) turn[i] = share * turn[i] + (1.0 - share) * sign * own_turn[i];
    q_normalize(turn);
    for (int c = 0; c < 3; c++) place[c] = own_place[c] + share * (place[c] - own_place[c]);
}

/* How much higher the head is than the lower foot, or than the hips if no foot has a goal. */
static double height_of_head(const dqik_figure *f, const double *places) {
    double low = f->arms < f->limbs ? INFINITY : 0.0;
    for (int i = f->arms; i < f->limbs; i++) low = least(low, places[3 * i + 1]);
    return places[3 * (f->effectors - 1) + 1] - low;
}

/* See `Viewer.way_of_hips`. */
static void way_of_hips(const dqik_figure *f, const dqik_figure_start *start, const room *r, double *way) {
    const double *head = r->places + 3 * (f->effectors - 1), *before = start->places + 3 * (f->effectors - 1);
    const double lowered = most(height_of_head(f, start->places) - height_of_head(f, r->places), 0.0);
    const double length = most(sqrt(dot3(before, before)), LEAST);
    const double back = FIGURE_BACK / hypot(1.0, FIGURE_BACK * lowered / (FIGURE_FURTHEST_BACK * length));
    way[0] = 0.0, way[1] = -1.0 / hypot(1.0, back), way[2] = back * way[1];
    const double along = dot3(head, way), beside = sqrt(most(dot3(head, head) - along * along, 0.0));
    const double room = most(length - beside, 0.0);
    const double far = along + least(sqrt(room * (length + beside)), FIGURE_STEEP * room);
    for (int c = 0; c < 3; c++) way[c] *= clamp(far, 0.0, FIGURE_FURTHEST * lowered);
}

/* How far (E) effectors have moved from the animator's pose, squared: in lengths of the limb, and in half turns. */
static double moved(const dqik_figure *f, const dqik_figure_start *start, const room *r, int i) {
    const double *a = r->orientations + 4 * i, *b = start->turns + 4 * i;
    const double cosine = a[0] * b[0] + dot3(a + 1, b + 1);
    double away[3];
    minus3(away, r->places + 3 * i, start->places + 3 * i);
    return dot3(away, away) / square(f->effector[i].size) + most(1.0 - cosine * cosine, 0.0);
}

/* See `Predictor.ways_of_hands`: how far the hand of an arm goes with hips that go by `way`. */
static void way_of_hand(const dqik_figure *f, const dqik_figure_start *start, const room *r, int i, const double *way,
                        double *own) {
    const dqik_effector *e = f->effector + i;
    double m[9], tip[3], away[3];
    q_matrix(m, r->orientations + 4 * i);
    times3(tip, m, e->tip);
    for (int c = 0; c < 3; c++) away[c] = r->places[3 * i + c] - tip[c] - e->root[c];
    const double before = sqrt(dot3(away, away));
    away[1] -= way[1];
    const double now = sqrt(dot3(away, away)), beyond = most(now - most(before, e->size), 0.0);
    const double unmoved = exp(-moved(f, start, r, i) / square(FIGURE_MOVED));
    for (int c = 0; c < 3; c++) own[c] = -(FIGURE_COMING * unmoved * beyond / most(now, LEAST)) * away[c];
}

/* Whether the animator's pose, seen from its own hips, is the one that `start` is of. */
static int is_same_pose(const dqik_figure *f, const dqik_figure_start *start, const double *rotations, const double *links,
                    double share) {
    const size_t joints = (size_t)f->skeleton.joints;
    if (!start->has_pose || start->share != share) return 0;
    if (memcmp(start->rotations, rotations, 4 * sizeof(double) * joints) != 0) return 0;
    for (size_t j = 0; j < joints; j++)
        if (f->inner[j] && memcmp(start->links + 8 * j, links + 8 * j, 8 * sizeof(double)) != 0) return 0;
    return 1;
}

/* What follows from the animator's pose. */
static void begin(const dqik_figure *f, const double *rotations, const double *translations, const double *links,
                  double share, dqik_figure_start *start) {
    room r = room_in(f, start->memory);
    start->has_pose = 1, start->share = share;
    memcpy(start->rotations, rotations, 4 * sizeof(double) * (size_t)f->skeleton.joints);
    memcpy(start->links, links, 8 * sizeof(double) * (size_t)f->skeleton.joints);
    double q[4], p[3], axes[4], centre[3], tip[3];
    forward(f, rotations, translations, links, &r);
    hips_from(f, links, &r, f->hips_joint, q, p);
    hips_frame(f, q, p, axes, centre);
    for (int i = 0; i < f->effectors; i++) {
        const dqik_effector *e = f->effector + i;
        q_rotate(tip, r.q + 4 * e->joint, e->offset);
        add3(tip, r.p + 3 * e->joint);
        see(e, axes, centre, tip, r.q + 4 * e->joint, start->places + 3 * i, start->turns + 4 * i);
    }
    if (f->keeps_chest) {
        double turned[4];
        q_product(turned, r.q + 4 * f->chest_joint, f->chest_from_rest);
        q_relative(turned, axes, turned);
        q_log(start->chest, turned);
    }
    own_ends(f, rotations, start, &r);
    pose(f, start->places, start->turns, start->chest, start->ends, share, &r);
    for (int i = 0; i < f->effectors; i++) start->fade[i] = 0.0;
    for (int k = 0; k < f->turned; k++) {
        const double *own = rotations + 4 * f->joint[k];
        double apart[4], turned[3];
        q_relative(apart, r.motions + 4 * k, own);
        q_log(start->apart + 3 * k, apart);
        times3(start->bent + 3 * k, f->bend + 9 * k, start->apart + 3 * k);
        minus3(start->apart + 3 * k, start->apart + 3 * k, start->bent + 3 * k);
        q_relative(apart, f->at_rest + 4 * k, own);
        q_log(turned, apart);
        for (int i = 0; i < f->effectors; i++)
            if (f->serves[f->turned * i + k]) start->fade[i] += dot3(turned, turned);
    }
    for (int i = 0; i < f->effectors; i++) {
        const double near = FIGURE_NEAR_POSE + (FIGURE_NEAR_REST - FIGURE_NEAR_POSE) * exp(-start->fade[i] / square(FIGURE_POSED));
        start->fade[i] = -1.0 / square(near);
    }
}

/* See `Prior.shaped`. */
static void base_of_frame(const dqik_figure *f, dqik_figure_start *start, const double *rotations,
                          const double *translations, const double *links, const double *positions,
                          const double *orientations, double amount, double share, double *base, double *moved_to) {
    if (!is_same_pose(f, start, rotations, links, share)) begin(f, rotations, translations, links, share, start);
    room r = room_in(f, start->memory);
    double q[4], p[3], axes[4], centre[3], *distance = r.moved, *ends = r.corrections;
    if (f->hips_goal >= 0) {
        memcpy(q, orientations + 4 * f->hips_goal, sizeof q);
        q_normalize(q);
        q_rotate(p, q, f->hips_point);
        minus3(p, positions + 3 * f->hips_goal, p);
    } else {
        if (f->hips_link < 0) forward(f, rotations, translations, links, &r);
        hips_from(f, links, &r, f->hips_joint, q, p);
    }
    hips_frame(f, q, p, axes, centre);
    for (int i = 0; i < f->effectors; i++) {
        const int goal = f->effector[i].goal;
        memcpy(q, orientations + 4 * goal, sizeof q);
        q_normalize(q);
        double *place = r.places + 3 * i, *turn = r.orientations + 4 * i;
        see(f->effector + i, axes, centre, positions + 3 * goal, q, place, turn);
    }
    if (f->giving && f->hips_goal >= 0) {
        double way[3], own[3], turned[3];
        way_of_hips(f, start, &r, way);
        for (int c = 0; c < 3; c++) way[c] *= f->giving * amount;
        for (int i = 0; i < f->arms; i++) {
            way_of_hand(f, start, &r, i, way, own);
            add3(r.places + 3 * i, own);
            q_rotate(turned, axes, own);
            add3(moved_to + 3 * f->effector[i].goal, turned);
        }
        for (int i = 0; i < f->effectors; i++) minus3(r.places + 3 * i, r.places + 3 * i, way);
        q_rotate(turned, axes, way);
        add3(moved_to + 3 * f->hips_goal, turned);
    }
    for (int i = 0; i < f->effectors; i++) {
        keep_in_reach(f->effector + i, start->places + 3 * i, start->turns + 4 * i, r.places + 3 * i, r.orientations + 4 * i);
        distance[i] = moved(f, start, &r, i);
    }
    for (int i = 0; i < f->limbs; i++)
        for (int c = 0; c < 4; c++)
            ends[4 * i + c] = exp(distance[i] * (start->fade[i] + (c == 3 ? FIGURE_BENDS : 0.0))) * start->ends[4 * i + c];
    pose(f, r.places, r.orientations, start->chest, ends, share, &r);
    int whole = 1;
    for (int k = 0; k < f->turned; k++) whole = whole && amount * f->freedom[k] >= 1.0;
    memcpy(base, rotations, 4 * sizeof(double) * (size_t)f->skeleton.joints);
    for (int k = 0; k < f->turned; k++) {
        double away = 0.0, bent = 0.0, by[3], turn[4], *motion = r.motions + 4 * k;
        for (int i = 0; i < f->effectors; i++)
            if (f->follows[f->turned * i + k]) away += start->fade[i] * distance[i], bent += FIGURE_BENDS * distance[i];
        const double weight = exp(away), weight_of_bend = exp(away + bent);
        for (int c = 0; c < 3; c++) by[c] = weight * start->apart[3 * k + c] + weight_of_bend * start->bent[3 * k + c];
        q_exp(turn, by);
        q_product(motion, motion, turn);
        if (!whole) {
            const double *before = rotations + 4 * f->joint[k];
            q_relative(turn, before, motion);
            q_log(by, turn);
            for (int c = 0; c < 3; c++) by[c] *= amount * f->freedom[k];
            q_exp(turn, by);
            q_product(motion, before, turn);
        }
        memcpy(base + 4 * f->joint[k], motion, 4 * sizeof(double));
    }
}

void dqik_figure_base(const dqik_figure *f, dqik_figure_start *start, int64_t frames, int64_t poses, int64_t linked,
                      int64_t goals, const double *rotations, const double *translations, const double *links,
                      const double *positions, const double *orientations, const double *amounts, double share,
                      double *base, double *moved) {
    const int64_t joints = f->skeleton.joints;
    for (int64_t i = 0; i < frames; i++) {
        const int64_t pose_at = poses > 1 ? i : 0, links_at = linked > 1 ? i : 0;
        base_of_frame(f, start, rotations + 4 * joints * pose_at, translations + 3 * joints * pose_at,
                      links + 8 * joints * links_at, positions + 3 * goals * i, orientations + 4 * goals * i,
                      amounts[i], share, base + 4 * joints * i, moved + 3 * goals * i);
    }
}
