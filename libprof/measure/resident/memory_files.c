#include "libprof/measure/resident/memory_files.h"

#include "libprof/measure/growth.h"
#include "libprof/measure/resident/resident_memory.h"
#include "libprof/thresholds/thresholds.h"

#include <math.h>
#include <string.h>

/* The passes that are judged. */
struct passes {
    size_t n;
    uint64_t first_ns;
    int32_t step[SEEP_SEEN_ROWS];
    double bytes[SEEP_SEEN_ROWS], shared[SEEP_SEEN_ROWS];
};

/* What the job's lines have of shared memory at a time. Named segments lie on the same tmpfs. */
static double shared_at(const struct seep_model *m, uint64_t t_ns)
{
    const char *host = m->processes[m->main].id.host;
    uint64_t sum = 0;

    for (size_t i = 0; i < m->n_processes; i++)
        for (uint16_t s = 0; s < m->n_spaces; s++)
            if (m->spaces[s].name.class == SEEP_CLASS_SHM &&
                strcmp(m->processes[i].id.host, host) == 0)
                sum = seep_sum(sum, seep_process_live_at(&m->processes[i], s, t_ns));
    return (double)sum;
}

/* A pass has a row for each process, all with the same figure. */
static void take_passes(const struct seep_model *m, const struct seep_span *span, struct passes *p)
{
    enum { KIB = 1024 };
    const struct seep_model_process *main = &m->processes[m->main];
    const struct seep_seen *seen = &main->job->seen;
    uint64_t last_ns = 0;

    p->n = 0;
    p->first_ns = 0;
    for (uint32_t i = 0; i < seen->n; i++) {
        const struct seep_seen_row *row = &seen->rows[i];
        const uint64_t t_ns = seep_model_ns(main, row->t_ns);
        const int32_t step = seep_model_step_at(m, t_ns);
        if (t_ns <= last_ns || step <= span->judge || step > span->last)
            continue;
        last_ns = t_ns;
        p->first_ns = p->n ? p->first_ns : t_ns;
        p->step[p->n] = step;
        p->shared[p->n] = shared_at(m, t_ns);
        p->bytes[p->n] = fmax((double)row->files_kib * KIB - p->shared[p->n], 0);
        p->n++;
    }
}

static bool measure(const struct passes *p, double steps, struct seep_trend *trend)
{
    const size_t n = p->n < SEEP_STATISTICS_MAX ? p->n : SEEP_STATISTICS_MAX;
    double y[SEEP_STATISTICS_MAX];

    for (size_t i = 0; i < n; i++)
        y[i] = p->bytes[(p->n - 1) * i / (n - 1)];
    return seep_trend_measure(y, n, steps / (double)(n - 1), trend);
}

/* Of the files that were listed, those that changed last after a time. */
static double changed_since(const struct seep_model *m, uint64_t t_ns)
{
    const struct seep_model_process *main = &m->processes[m->main];
    const struct seep_memory_files *left = &main->job->files;
    const double start = (double)seep_model_ns(main, main->job->started_ns);
    const double each = ((double)seep_model_ns(main, left->listed_ns) - start) / SEEP_MEMORY_SLICES;
    double sum = 0;

    for (int i = 0; i < SEEP_MEMORY_SLICES && each > 0; i++) {
        const double later = (start + each * (i + 1) - (double)t_ns) / each;
        sum += (double)left->slice_bytes[i] * fmin(fmax(later, 0), 1);
    }
    return sum;
}

/* Segments that the job left lie among the files that were listed. Files of the same user's other
 * programs do, too, but not what they wrote. */
static bool is_the_jobs(const struct seep_model *m, const struct passes *p)
{
    const struct seep_memory_files *left = &m->processes[m->main].job->files;
    const size_t end = p->n - 1;
    const double segments = fmax(p->shared[end] - p->shared[0], 0);
    const double least = SEEP_T_HALF * (p->bytes[end] - p->bytes[0]);

    if (left->knows_written && (double)left->written_bytes < least)
        return false;
    if (left->is_cut)
        return (double)left->bytes - segments >= SEEP_T_HALF * (double)left->looked_bytes;
    return changed_since(m, p->first_ns) - segments >= least;
}

struct seep_memory_files_growth seep_memory_files_measure(const struct seep_model *m,
                                                          const struct seep_span *span)
{
    const struct seep_job *job = m->n_processes ? m->processes[m->main].job : NULL;
    struct seep_memory_files_growth g = {0};
    struct seep_trend trend;
    struct passes p;

    if (!job || !job->files.n)
        return g;
    take_passes(m, span, &p);
    const size_t end = p.n - 1;
    if (p.n < SEEP_RSS_MIN_SAMPLES || p.step[end] == p.step[0])
        return g;
    const double steps = (double)p.step[end] - p.step[0];
    if (!measure(&p, steps, &trend))
        return g;
    g.slope = trend.slope;
    g.from = p.step[0];
    g.to = p.step[end];
    g.first = p.bytes[0];
    g.last = p.bytes[end];
    g.grows =
        seep_trend_grows(&trend, steps, SEEP_T_RESIDENT_BYTES, SEEP_T_HALF) && is_the_jobs(m, &p);
    return g;
}
