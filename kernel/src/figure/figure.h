/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the natural pose: the working memory of a call. */
#ifndef DQIK_FIGURE_H
#define DQIK_FIGURE_H

#include "../contract.h"
#include "../rotation.h"

/* Working memory of a call. */
typedef struct {
    double *q, *p;     /* (J, 4), (J, 3) of the joints in the world */
    double *ends;      /* (E, 3) wrists, ankles, head */
    double *lines;     /* (E, 6) two directions of each */
    double *each;      /* (E, 9) all that is told about each */
    double *features;  /* (n) */
    double *turns;     /* (columns, 4) */
    double *motions;   /* (K, 4) */
    double *places, *orientations; /* (E, 3), (E, 4) of the view */
    double *ends_of_limbs; /* (limbs, 4) turns of ends without rotation, in the axes of the lower bone, and knees' bends */
    double *moved, *corrections; /* (E), (limbs, 4) */
    double *hidden;    /* (first + second) units of a network */
} room;

/* network.c: outputs from inputs, which it scales and clips in place. */
void network_answer(const dqik_network *n, double clip, double *inputs, double *hidden, double *outputs);

/* figure_limb.c */
void pose_limb(const dqik_figure *f, int number, const double *trunk, const double *chest, const double *end,
               const double *correction, room *r);

#endif
