#include "libprof/measure/resident/resident_pace.h"

#include "libprof/measure/trend.h"
#include "libprof/thresholds/thresholds.h"

#include <math.h>
#include <string.h>

/* What of the RSS is seep's, evenly from one sample to the next: the profile that it writes, and
 * its tables. */
static uint64_t own_at(const struct seep_model_process *p, uint64_t t)
{
    const uint64_t rss = seep_process_rss_at(p, t);
    uint64_t before_ns = 0, after_ns = UINT64_MAX;
    double before = 0, after = 0;

    for (uint32_t i = 0; i < p->samples.n; i++) {
        const uint64_t its_ns = seep_model_ns(p, p->samples.list[i].t_ns);
        if (its_ns <= t && its_ns >= before_ns) {
            before_ns = its_ns;
            before = (double)p->samples.list[i].seep_bytes;
        } else if (its_ns > t && its_ns < after_ns) {
            after_ns = its_ns;
            after = (double)p->samples.list[i].seep_bytes;
        }
    }
    if (before_ns && after_ns != UINT64_MAX)
        before += (after - before) * (double)(t - before_ns) / (double)(after_ns - before_ns);
    return before < (double)rss ? (uint64_t)before : rss;
}

static struct seep_resident resident_at(const struct seep_model *m, uint64_t t_ns)
{
    const struct seep_model_process *main = &m->processes[m->main];
    struct seep_resident sum = {0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (strcmp(p->id.host, main->id.host) != 0)
            continue;
        const uint64_t own = own_at(p, t_ns);
        sum.bytes = seep_sum(sum.bytes, seep_process_rss_at(p, t_ns) - own);
        sum.own_bytes += own;
    }
    return sum;
}

/* What was taken to get ready may have been given back since. */
static bool is_at_work(const struct seep_model *m, const struct seep_model_process *p, uint32_t row)
{
    return m->step_source == SEEP_STEP_TIME || seep_model_step(m, p, p->row_period[row]) > 0;
}

struct seep_resident seep_resident_at_most(const struct seep_model *m)
{
    const struct seep_model_process *main = &m->processes[m->main];
    const uint64_t end = main->end_ns ? main->end_ns - 1 : 0;
    uint64_t highest = 0, t_ns = end;

    for (uint32_t i = 0; i < main->n_rows; i++) {
        if (main->row_rss[i] < highest || main->row_t_ns[i] > end || !is_at_work(m, main, i))
            continue;
        highest = main->row_rss[i];
        t_ns = main->row_t_ns[i];
    }
    return resident_at(m, t_ns);
}

/* A process's rows in the judged steps: [*first, *last]. */
static bool judged_rows(const struct seep_model *m, const struct seep_span *span,
                        const struct seep_model_process *p, uint32_t *first, uint32_t *last)
{
    bool any = false;

    for (uint32_t i = 0; i < p->n_rows; i++) {
        const int32_t step = seep_model_step(m, p, p->row_period[i]);
        if (step <= span->judge || step > span->last)
            continue;
        *first = any ? *first : i;
        *last = i;
        any = true;
    }
    return any && *last - *first >= 2 * SEEP_STATISTICS_MIN;
}

static uint64_t level_at(const struct seep_model *m, uint32_t process, uint64_t t_ns)
{
    if (process == SEEP_LEVEL_ALL)
        return resident_at(m, t_ns).bytes;
    const struct seep_model_process *p = &m->processes[process];
    return seep_process_rss_at(p, t_ns) - own_at(p, t_ns);
}

/* Whether the last third of the rows has a higher one than those before, by half of what the slope
 * promises. What only goes back to where it has been, as an allocator's pages do after a pause or a
 * trim, takes nothing new. */
static bool beats_itself(const struct seep_model *m, uint32_t process,
                         const struct seep_model_process *p, uint32_t first, uint32_t last,
                         double slope)
{
    const double from = seep_model_step(m, p, p->row_period[first]);
    const double third = (seep_model_step(m, p, p->row_period[last]) - from) / 3;
    double before = 0, late = 0;

    for (uint32_t i = first; i <= last; i++) {
        const double bytes = (double)level_at(m, process, p->row_t_ns[i]);
        if (seep_model_step(m, p, p->row_period[i]) - from <= 2 * third)
            before = fmax(before, bytes);
        else
            late = fmax(late, bytes);
    }
    return late - before >= SEEP_T_HALF * slope * third;
}

struct seep_resident_trend seep_resident_trend(const struct seep_model *m,
                                               const struct seep_span *span, uint32_t process)
{
    const struct seep_model_process *p =
        &m->processes[process == SEEP_LEVEL_ALL ? m->main : process];
    struct seep_resident_trend out = {0};
    double y[SEEP_STATISTICS_MAX];
    struct seep_trend trend;
    uint32_t first = 0, last = 0;

    if (!judged_rows(m, span, p, &first, &last))
        return out;
    const size_t n =
        last - first + 1 < SEEP_STATISTICS_MAX ? last - first + 1 : SEEP_STATISTICS_MAX;
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = first + (uint32_t)((uint64_t)(last - first) * i / (n - 1));
        y[i] = (double)level_at(m, process, p->row_t_ns[row]);
    }
    const double steps =
        seep_model_step(m, p, p->row_period[last]) - seep_model_step(m, p, p->row_period[first]);
    out.known = seep_trend_measure(y, n, steps / (double)(n - 1), &trend);
    if (!out.known || !beats_itself(m, process, p, first, last, trend.slope.value))
        return out;
    out.slope = trend.slope;
    out.grows = seep_trend_grows(&trend, steps, SEEP_T_RESIDENT_BYTES, SEEP_T_HALF);
    return out;
}
