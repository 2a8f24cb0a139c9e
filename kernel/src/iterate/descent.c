/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outer iteration: Levenberg-Marquardt on the cost of goals and pull; see solvers/iterate/descent.py. */
#include "../internal.h"

static void weigh(const work *w, point *p) {
    double cost = 0.0, far = 0.0;
    for (int i = 0; i < w->all; i++) cost += p->e[i] * p->e[i];
    if (w->pull > 0.0) {
        difference(w, p, p->v);
        for (int k = 0; k < w->n; k++) far += w->weights[k] * p->v[k] * p->v[k];
    }
    p->cost = 0.5 * cost + 0.5 * w->pull * far;
}

/* The solver's step inside the limits, over the unknowns alone where coordinates are coupled. */
static void inner_step(work *w, double *d) {
    step_function *const inner = w->s->solver == DQIK_PGS ? pgs_step : dls_step;
    if (w->s->unknowns)
        take_coupled_step(w, inner, d);
    else
        inner(w, d);
}

/* Levenberg-Marquardt from `w->now`; returns the iterations. */
static int descend(work *w, const dqik_settings *settings) {
    const dqik_stage *s = w->s;
    double damping = settings->damping < 0.0 ? settings->first_damping : most(settings->damping, LEAST_DAMPING);
    const double floor_ = most(most(LEAST_DAMPING, DAMPING_SHARE * settings->pull), settings->damping);
    const int settling = settings->pull > 0.0 || (w->use_soft && w->all > w->rows);
    int stalled = 0, slow = 0, iteration = 0, better = 1;
    double previous = INFINITY, mark = INFINITY, earlier[ABANDON_STEPS]; /* costs of the last steps, in a ring */
    double unserved = INFINITY; /* squared errors of the goals that others yield to, some slow steps ago */
    w->pull = settings->pull, w->reluctance = settings->reluctance, w->weights = settings->weights;
    weigh(w, &w->now);
    for (int i = 0; i < ABANDON_STEPS; i++) earlier[i] = i ? INFINITY : w->now.cost;
    if (!settling && within(w, &w->now, settings->tolerance, settings->rotation_tolerance)) return 0;
    while (iteration < settings->iterations) {
        iteration++;
        if (better) jacobian(w, &w->now); /* after a rejected step it stays */
        if (better && w->pull > 0.0) pull_gradient(w, &w->now, w->gradient);
        w->damping = settings->pull + damping;
        if (s->one_sided)
            take_sided_step(w, inner_step, w->d);
        else
            inner_step(w, w->d);
        take_step(w, &w->tried, &w->now, w->d);
        stand(w, &w->tried);
        weigh(w, &w->tried);
        const double gain = w->now.cost - w->tried.cost;
        better = gain > 0.0;
        const int progress = gain > LEAST_PROGRESS * w->now.cost;
        const double longest = longest_of(w, w->d);
        double modelled = s->one_sided ? sided_decrease(w, w->d) : decrease(w, w->d), far = 0.0;
        for (int k = 0; k < w->n; k++) far += w->reluctance[k] * w->d[k] * w->d[k];
        modelled -= 0.5 * settings->pull * far;
        damping *= !better ? REJECT : gain > GOOD_GAIN * modelled ? SHRINK : gain < POOR_GAIN * modelled ? GROW : 1.0;
        damping = least(most(damping, floor_), MOST_DAMPING);
        if (better) {
            point kept = w->now;
            w->now = w->tried, w->tried = kept;
        }
        stalled = progress ? 0 : stalled + better;
        if (stalled >= 3 || longest < LEAST_STEP) break;
        if (settings->abandons) {
            double *slot = earlier + iteration % ABANDON_STEPS;
            if (w->now.cost > (1.0 - ABANDON_SHARE) * *slot) break;
            *slot = w->now.cost;
        }
        if (iteration % CREEP_STEPS == 0) {
            if (iteration > CREEP_STEPS && w->now.cost > (1.0 - CREEP_SHARE) * mark) break;
            mark = w->now.cost;
        }
        slow = gain > settings->slow_share * w->now.cost ? 0 : slow + better;
        if (settings->serves && better && slow >= settings->slow_steps) {
            if (served_within(w, &w->now, settings->tolerance, settings->rotation_tolerance)) break;
            const int further = slow - settings->slow_steps;
            if (further % UNSERVED_STEPS == 0) {
                const double missed = served_square(w, &w->now);
                if (further && !(missed < UNSERVED_SHARE * unserved)) break;
                unserved = missed;
            }
        }
        if (settings->resigns && slow >= settings->slow_steps &&
            !leading_within(w, &w->now, settings->tolerance, settings->rotation_tolerance))
            break;
        if (!settling) {
            if (within(w, &w->now, settings->tolerance, settings->rotation_tolerance)) break;
        } else if (better) {
            /* if steps go on shrinking by a ratio r, r / (1 - r) of the last one remains */
            if (longest < settings->settle && longest * longest < settings->unsettled * (previous - longest))
                break;
            previous = longest;
        }
    }
    return iteration;
}

/* Iterate from `w->now` until a stopping rule ends it; returns the iterations. */
int minimise(work *w, const dqik_settings *settings) {
    for (int i = w->s->rows; !w->use_soft && i < w->all; i++) w->now.e[i] = 0.0;
    return w->s->sweep && !w->steps ? sweep(w, settings) : descend(w, settings);
}
