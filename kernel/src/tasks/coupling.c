/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks of couplings that give way to goals; see solvers/space/tasks/coupling.py. */
#include "tasks.h"

static void write_errors(const work *w, const point *p, const dqik_task *t, double weight, double *e) {
    const dqik_coupling *data = t->data;
    (void)w;
    *e = weight * (data->factor * p->x[data->leader] + data->offset - p->x[data->own]);
}

static void write_jacobian(work *w, const point *p, const dqik_task *t, double weight) {
    const dqik_coupling *data = t->data;
    (void)p;
    *task_column(w, t, data->own) += weight;
    *task_column(w, t, data->leader) -= weight * data->factor;
}

const task_kind coupling_task = {SOFT, write_errors, write_jacobian, NULL};
