/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of tasks; see solvers/space/tasks/table.py. A new kind needs a file like position.c, a line in the table of
 * tasks.c and a number in solvers/compiled/contract.py. */
#ifndef DQIK_TASKS_H
#define DQIK_TASKS_H

#include "../internal.h"

typedef struct {
    /* The tolerance that applies to the norm of the error, and how it is reported; soft tasks have neither. */
    enum { LENGTH, ANGLE, SOFT } unit;
    /* A frame's targets of all goals, and the doubles of each, which must be finite. */
    const double *(*targets)(const frame_view *frame);
    int target_size;
    /* Weighted error rows, target less current, to `e`. */
    void (*errors)(const work *w, const point *p, const dqik_task *t, double weight, double *e);
    /* Write weighted rows of the Jacobian to the columns of `w->jacobian`, which are 0 before. `w->axes` has the
     * directions of the degrees of freedom. */
    void (*jacobian)(work *w, const point *p, const dqik_task *t, double weight);
    /* Unweighted error from the frame's target [length units or rad]; NULL for soft tasks. */
    double (*report)(const work *w, const point *p, const dqik_task *t, const frame_view *frame);
} task_kind;

extern const task_kind position_task, rotation_task, pole_task;

/* The rows of a task in the column of a degree of freedom. */
static inline double *task_column(work *w, const dqik_task *t, int k) {
    return w->jacobian + (size_t)k * (size_t)w->all + t->row;
}

#endif
