#include "libprof/measure/resident/resident_pace.h"

#include "libprof/measure/growth.h"
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

static double level_at(const struct seep_model *m, uint32_t process, uint64_t t_ns)
{
    if (process == SEEP_LEVEL_ALL)
        return (double)resident_at(m, t_ns).bytes;
    const struct seep_model_process *p = &m->processes[process];
    return (double)(seep_process_rss_at(p, t_ns) - own_at(p, t_ns));
}

/* Of a series. What is there in one row only is in passing, as while a buffer is copied into a
 * larger one. */
struct rows {
    const struct seep_model *m;
    const struct seep_model_process *p;
    double bytes[SEEP_STATISTICS_MAX];
    int32_t step[SEEP_STATISTICS_MAX];
    size_t n;
};

static void take_rows(struct rows *rows, uint32_t process, uint32_t first, uint32_t last)
{
    const struct seep_model_process *p = rows->p;

    rows->n = last - first + 1 < SEEP_STATISTICS_MAX ? last - first + 1 : SEEP_STATISTICS_MAX;
    for (size_t i = 0; i < rows->n; i++) {
        const uint32_t row = first + (uint32_t)((uint64_t)(last - first) * i / (rows->n - 1));
        rows->bytes[i] = level_at(rows->m, process, p->row_t_ns[row]);
        rows->step[i] = seep_model_step(rows->m, p, p->row_period[row]);
        if (row < last)
            rows->bytes[i] = fmin(rows->bytes[i], level_at(rows->m, process, p->row_t_ns[row + 1]));
    }
}

/* Whether the last third has a higher one than those before, by half of what the slope promises. */
static bool beats_itself(const struct rows *rows, double slope)
{
    const double third = (rows->step[rows->n - 1] - rows->step[0]) / 3.0;
    double before = 0, late = 0;

    for (size_t i = 0; i < rows->n; i++) {
        if (rows->step[i] - rows->step[0] <= 2 * third)
            before = fmax(before, rows->bytes[i]);
        else
            late = fmax(late, rows->bytes[i]);
    }
    return late - before >= SEEP_T_HALF * slope * third;
}

struct seep_resident_trend seep_resident_trend(const struct seep_model *m,
                                               const struct seep_span *span, uint32_t process)
{
    struct rows rows = {.m = m, .p = &m->processes[process == SEEP_LEVEL_ALL ? m->main : process]};
    struct seep_resident_trend out = {0};
    struct seep_trend trend;
    uint32_t first = 0, last = 0;

    if (!judged_rows(m, span, rows.p, &first, &last))
        return out;
    take_rows(&rows, process, first, last);
    const double steps = rows.step[rows.n - 1] - rows.step[0];
    out.known = seep_trend_measure(rows.bytes, rows.n, steps / (double)(rows.n - 1), &trend);
    /* An allocator gives pages back at a pause and takes them again: only what passes the highest
     * so far is new. */
    if (!out.known ||
        (trend.shape.fall >= SEEP_T_TREND_FALL && !beats_itself(&rows, trend.slope.value)))
        return out;
    out.slope = trend.slope;
    out.grows = seep_trend_grows(&trend, steps, SEEP_T_RESIDENT_BYTES, SEEP_T_HALF);
    return out;
}
