#include "libprof/measure/resident/resident_memory.h"

#include "libprof/measure/growth.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>

/* A process's judged samples, one per step. */
struct points {
    size_t n;
    double step[SEEP_RSS_SAMPLES], y[SEEP_RSS_SAMPLES];
};

/* ---- samples ------------------------------------------------------------------------------- */

/* One part of a sample's RSS: the one being judged. */
typedef uint64_t part_of(const struct seep_rss_sample *sample);

static uint64_t unexplained_of(const struct seep_rss_sample *sample)
{
    return sample->unexplained_bytes;
}

static uint64_t heap_free_of(const struct seep_rss_sample *sample)
{
    return sample->heap_free_bytes;
}

static uint64_t maps_of(const struct seep_rss_sample *sample)
{
    return sample->maps_bytes;
}

/* If several samples fall in one step, the last counts. */
static void take_points(const struct seep_model *m, const struct seep_model_process *p,
                        const struct seep_span *span, part_of *part, struct points *points)
{
    uint64_t last_ns = 0;

    points->n = 0;
    for (uint32_t i = 0; i < p->samples.n; i++) {
        const struct seep_rss_sample *s = &p->samples.list[i];
        int32_t step = seep_model_step(m, p, s->period);
        if (s->t_ns <= last_ns || step <= span->warm || step > span->last)
            continue;
        last_ns = s->t_ns;
        if (points->n && points->step[points->n - 1] > step)
            continue;
        points->n -= points->n && (int32_t)points->step[points->n - 1] == step;
        points->step[points->n] = step;
        points->y[points->n++] = (double)part(s);
    }
}

/* ---- growth -------------------------------------------------------------------------------- */

/* A process is sampled more often while it grows, but the statistics need equal distances. */
static void spread_evenly(const struct points *p, double *y)
{
    double from = p->step[0], gap = (p->step[p->n - 1] - from) / (double)(p->n - 1);

    for (size_t i = 0, k = 0; i < p->n; i++) {
        double at = from + gap * (double)i;
        while (k + 2 < p->n && p->step[k + 1] < at)
            k++;
        double share = (at - p->step[k]) / (p->step[k + 1] - p->step[k]);
        share = share < 0 ? 0 : share > 1 ? 1 : share;
        y[i] = p->y[k] + (p->y[k + 1] - p->y[k]) * share;
    }
}

static void measure(const struct points *p, double rss_bytes, struct seep_rss_growth *g)
{
    double y[SEEP_RSS_SAMPLES];
    struct seep_trend trend;

    if (p->n < SEEP_RSS_MIN_SAMPLES)
        return;
    double steps = p->step[p->n - 1] - p->step[0];
    spread_evenly(p, y);
    if (!seep_trend_measure(y, p->n, steps / (double)(p->n - 1), &trend))
        return;
    g->slope = trend.slope;
    g->known = true;
    g->first = p->y[0];
    g->last = p->y[p->n - 1];
    g->growing = seep_trend_grows(&trend, steps, SEEP_T_RESIDENT_BYTES, SEEP_T_HALF) &&
                 trend.slope.value * steps * SEEP_T_NEGLIGIBLE >= rss_bytes;
}

/* Mapped memory live by the end of a step, by the calls recorded. */
static double mapped_at(const struct seep_model *m, const struct seep_model_process *p, double step)
{
    const uint64_t *live = p->live + (size_t)SEEP_SPACE_MMAP * p->n_rows;
    double bytes = 0;

    for (uint32_t i = 0; i < p->n_rows && p->live; i++) {
        if (seep_model_step(m, p, p->row_period[i]) <= step)
            bytes = (double)live[i];
    }
    return bytes;
}

/* A map may be requested all at once and touched bit by bit: RSS grows then, but no line does. */
static void measure_maps(const struct seep_model *m, const struct seep_model_process *p,
                         const struct points *points, double rss_bytes, struct seep_rss_growth *g)
{
    measure(points, rss_bytes, g);
    if (g->growing) {
        double asked =
            mapped_at(m, p, points->step[points->n - 1]) - mapped_at(m, p, points->step[0]);
        g->growing = 2 * asked < g->last - g->first;
    }
}

void seep_rss_measure_growth(const struct seep_model *m, const struct seep_span *span,
                             const struct seep_model_process *p, struct seep_rss *rss)
{
    const double most = (double)p->samples.peak.rss_bytes;
    struct points points;

    *rss = (struct seep_rss){0};
    take_points(m, p, span, heap_free_of, &points);
    measure(&points, most, &rss->heap_free);
    take_points(m, p, span, maps_of, &points);
    measure_maps(m, p, &points, most, &rss->maps);
    take_points(m, p, span, unexplained_of, &points);
    measure(&points, most, &rss->unexplained);
    if (points.n) {
        rss->from = (int32_t)points.step[0];
        rss->to = (int32_t)points.step[points.n - 1];
    }
}

/* ---- the job ------------------------------------------------------------------------------- */

static void add_growth(struct seep_rss_growth *sum, const struct seep_rss_growth *its, double share)
{
    if (!its->known)
        return;
    sum->known = true;
    sum->growing |= its->growing;
    sum->slope.value += its->slope.value * share;
    sum->slope.low += its->slope.low * share;
    sum->slope.high += its->slope.high * share;
    sum->first += its->first;
    sum->last += its->last;
}

/* Processes came and went: each slope is weighted by the share of the judged steps it covers. */
static void add_up_growth(const struct seep_model *m, struct seep_rss_table *t)
{
    struct seep_rss *job = &t->job;

    job->from = INT32_MAX;
    job->to = INT32_MIN;
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_rss *its = &t->of_process[i];
        if (its->peak.known && (its->unexplained.known || its->heap_free.known)) {
            job->from = its->from < job->from ? its->from : job->from;
            job->to = its->to > job->to ? its->to : job->to;
        }
    }
    for (size_t i = 0; i < m->n_processes && job->to > job->from; i++) {
        const struct seep_rss *its = &t->of_process[i];
        double share = ((double)its->to - its->from) / ((double)job->to - job->from);
        add_growth(&job->unexplained, &its->unexplained, share);
        add_growth(&job->heap_free, &its->heap_free, share);
        if (its->maps.growing)
            add_growth(&job->maps, &its->maps, share);
    }
    job->unexplained.growing &= job->unexplained.slope.low > 0;
    job->heap_free.growing &= job->heap_free.slope.low > 0;
    job->maps.growing &= job->maps.slope.low > 0;
}

int seep_rss_measure(const struct seep_model *m, const struct seep_span *span,
                     struct seep_rss_table *out)
{
    *out =
        (struct seep_rss_table){.of_process = calloc(m->n_processes + 1, sizeof *out->of_process)};
    int rc = out->of_process ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < m->n_processes && !rc; i++) {
        seep_rss_measure_growth(m, span, &m->processes[i], &out->of_process[i]);
        out->of_process[i].all = seep_resident_trend(m, span, (uint32_t)i);
        rc = seep_rss_find_instant(m, i, 1, &out->of_process[i].peak);
    }
    if (rc)
        return rc;
    add_up_growth(m, out);
    out->job.all = seep_resident_trend(m, span, SEEP_LEVEL_ALL);
    return seep_rss_find_instant(m, 0, m->n_processes, &out->job.peak);
}

void seep_rss_fini(struct seep_rss_table *table)
{
    free(table->of_process);
    *table = (struct seep_rss_table){0};
}
