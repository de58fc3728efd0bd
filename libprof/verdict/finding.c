#include "libprof/verdict/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/measure/shortage.h"
#include "libprof/thresholds/thresholds.h"

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

void seep_finding_note(struct seep_finding *f, const char *format, ...)
{
    va_list args;
    char *text;

    if (f->n_evidence >= SEEP_MAX_EVIDENCE)
        return;
    va_start(args, format);
    if (vasprintf(&text, format, args) >= 0)
        f->evidence[f->n_evidence++] = text;
    va_end(args);
}

static char *pace_text(const struct seep_finding *f, const char *unit)
{
    char value[SEEP_SIZE_TEXT], interval[SEEP_INTERVAL_TEXT];

    return seep_text_format("Grows by ≈ %s a %s%s over %s", seep_text_size(f->growth.value, value),
                            unit,
                            seep_text_interval("95 % interval: ", f->growth.value, f->growth.low,
                                               f->growth.high, interval),
                            f->pace_span);
}

void seep_finding_note_pace(struct seep_finding *f, const char *unit, const char *span)
{
    char *text = NULL;

    free(f->pace_span);
    f->pace_span = f->n_evidence < SEEP_MAX_EVIDENCE ? strdup(span) : NULL;
    if (f->pace_span)
        text = pace_text(f, unit);
    if (!text) {
        free(f->pace_span);
        f->pace_span = NULL;
        return;
    }
    f->pace_at = f->n_evidence;
    f->evidence[f->n_evidence++] = text;
}

void seep_finding_renew_pace(struct seep_finding *f, const char *unit)
{
    char *text = f->pace_span ? pace_text(f, unit) : NULL;

    if (!text)
        return;
    free(f->evidence[f->pace_at]);
    f->evidence[f->pace_at] = text;
}

void seep_finding_verdict(struct seep_finding *f, enum seep_pattern pattern,
                          enum seep_severity severity, enum seep_confidence confidence)
{
    f->pattern = pattern;
    f->severity = severity;
    f->confidence = confidence;
}

void seep_finding_keep(struct seep_finding *f, uint32_t site, uint64_t bytes, uint64_t blocks)
{
    f->sites[f->n_sites++] = site;
    f->live_bytes += bytes;
    f->count += blocks;
}

void seep_finding_blank(struct seep_finding *f)
{
    while (f->n_evidence)
        free(f->evidence[--f->n_evidence]);
    free(f->pace_span);
    *f = (struct seep_finding){.sites = f->sites};
}

void seep_finding_fini(struct seep_finding *f)
{
    free(f->sites);
    free(f->processes);
    seep_shortage_free(f->shortage);
    free(f->keeper);
    free(f->title);
    free(f->advice);
    free(f->pace_span);
    for (size_t i = 0; i < f->n_evidence; i++)
        free(f->evidence[i]);
}

void seep_findings_fini(struct seep_findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        seep_finding_fini(&f->list[i]);
    free(f->list);
    *f = (struct seep_findings){0};
}

bool seep_finding_is_among(const struct seep_finding *one, const struct seep_finding *other)
{
    size_t k = 0;

    for (size_t i = 0; i < one->n_processes; i++) {
        while (k < other->n_processes && other->processes[k] < one->processes[i])
            k++;
        if (k == other->n_processes || other->processes[k] != one->processes[i])
            return false;
    }
    return true;
}

bool seep_finding_same_function(const struct seep_model *m, uint32_t frame, uint32_t other)
{
    const struct seep_dict_frame *f = &m->dict.frames[frame], *g = &m->dict.frames[other];

    return f->kind == g->kind && f->source == g->source && f->function == g->function &&
           f->kind == SEEP_FRAME_PYTHON;
}
