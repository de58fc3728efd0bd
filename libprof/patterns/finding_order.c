#include "libprof/patterns/finding_order.h"

#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"

#include <math.h>
#include <stdlib.h>

/* Where no limit is known, bytes are compared. */
static double limit_of(const struct seep_model *m, const struct seep_finding *f)
{
    const char *kind;
    const uint64_t own = seep_memory_limit_of_space(m, f->space, 0).bytes;
    const uint64_t limit = own ? own : seep_memory_limit_of(m, &kind);

    return limit ? (double)limit : 1;
}

static double weight_of(const struct seep_model *m, const struct seep_finding *f)
{
    const double keeps = (double)(f->saving_bytes ? f->saving_bytes : f->live_bytes);
    const double adds = fmax(f->growth.value, 0) * m->n_steps;
    const double accused =
        f->severity == SEEP_LEAK || f->severity == SEEP_RETENTION ? SEEP_T_LARGE_SHARE : 1;

    return accused * (keeps + adds) / limit_of(m, f);
}

static int by_weight(const void *a, const void *b, void *model)
{
    const struct seep_finding *p = a, *q = b;
    const double of_p = weight_of(model, p), of_q = weight_of(model, q);

    if ((p->severity == SEEP_INFO) != (q->severity == SEEP_INFO))
        return p->severity == SEEP_INFO ? 1 : -1;
    if (of_p > of_q || of_p < of_q)
        return of_p > of_q ? -1 : 1;
    if (p->severity != q->severity)
        return p->severity < q->severity ? -1 : 1;
    return (p->frame > q->frame) - (p->frame < q->frame);
}

void seep_findings_order(const struct seep_model *m, struct seep_findings *f)
{
    if (f->n)
        qsort_r(f->list, f->n, sizeof *f->list, by_weight, (void *)m);
}
