/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closest points of two segments; see solvers/space/contacts.py. */
#include "contacts.h"

/* The closest points of segments from p to q and from r to s, of several the first; returns their distance. */
double closest(const double *p, const double *q, const double *r, const double *s, double *a, double *b) {
    double d[3], e[3], between[3], least_square = INFINITY;
    minus3(d, q, p), minus3(e, s, r), minus3(between, p, r);
    const double dd = most(dot3(d, d), CONTACT_LEAST * CONTACT_LEAST), ee = most(dot3(e, e), CONTACT_LEAST * CONTACT_LEAST);
    const double de = dot3(d, e), db = dot3(d, between), eb = dot3(e, between), denominator = dd * ee - de * de;
    const double onto_first = clamp(eb / ee, 0.0, 1.0);
    double inner = 0.0, other = onto_first;
    if (denominator > CONTACT_PARALLEL * dd * ee) {
        const double i = (de * eb - ee * db) / denominator, o = (dd * eb - de * db) / denominator;
        if (i >= 0.0 && i <= 1.0 && o >= 0.0 && o <= 1.0) inner = i, other = o;
    }
    const double shares[5] = {inner, 0.0, 1.0, clamp(-db / dd, 0.0, 1.0), clamp((de - db) / dd, 0.0, 1.0)};
    const double others[5] = {other, onto_first, clamp((eb + de) / ee, 0.0, 1.0), 0.0, 1.0};
    for (int k = 0; k < 5; k++) {
        double one[3], two[3], away[3];
        for (int i = 0; i < 3; i++) one[i] = p[i] + shares[k] * d[i], two[i] = r[i] + others[k] * e[i];
        minus3(away, one, two);
        const double far = dot3(away, away);
        if (far < least_square) {
            least_square = far;
            copy3(a, one), copy3(b, two);
        }
    }
    return sqrt(least_square);
}
