#include "libprof/judge/uncounted_findings.h"

#include "libprof/base/text.h"
#include "libprof/judge/finding_list.h"
#include "libprof/measure/trend.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/line_words.h"
#include "libprof/words/step_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A process's memory without stacks, at evenly spaced points over rows of its timeline. */
struct course {
    double y[SEEP_STATISTICS_MAX];
    size_t n;
    int32_t from, to;
    struct seep_trend trend;
};

static double live_at_row(const struct seep_model *m, const struct seep_model_process *p,
                          uint32_t row)
{
    double sum = 0;

    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        if (p->space_of[s] && m->spaces[p->space_of[s] - 1].name.host_like)
            sum += (double)p->live[(size_t)s * p->n_rows + row];
    }
    return sum;
}

static int sum_with_stacks(const struct seep_model *m, uint32_t process, struct seep_level *level)
{
    uint32_t *sites = malloc((m->n_sites + 1) * sizeof *sites);
    size_t n = 0;

    for (uint32_t i = 0; i < m->n_sites && sites; i++) {
        const uint32_t frame = m->dict.stacks[m->sites[i].stack].frame;
        if (m->spaces[m->sites[i].space].name.host_like && !m->dict.frames[frame].pseudo)
            sites[n++] = i;
    }
    const int rc = sites ? seep_level_sum(m, sites, n, process, level) : -SEEP_ENOMEM;
    free(sites);
    return rc;
}

/* False if there are too few rows in the judged steps. */
static bool follow(const struct seep_model *m, const struct seep_span *span,
                   const struct seep_model_process *p, const struct seep_level *with_stacks,
                   struct course *c)
{
    uint32_t first = UINT32_MAX, last = 0;

    for (uint32_t i = 0; i < p->n_rows && p->live; i++) {
        const int32_t step = seep_model_step(m, p, p->row_period[i]);
        if (step <= span->judge || step > span->last)
            continue;
        first = first < i ? first : i;
        last = i;
    }
    if (first == UINT32_MAX || last - first < 2 * SEEP_STATISTICS_MIN)
        return false;
    c->n = last - first + 1 < SEEP_STATISTICS_MAX ? last - first + 1 : SEEP_STATISTICS_MAX;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t row = first + (uint32_t)((uint64_t)(last - first) * i / (c->n - 1));
        const int32_t step = seep_model_step(m, p, p->row_period[row]);
        c->y[i] = live_at_row(m, p, row) - (double)seep_level_at(with_stacks, step).bytes;
    }
    c->from = seep_model_step(m, p, p->row_period[first]);
    c->to = seep_model_step(m, p, p->row_period[last]);
    return c->to - c->from >= seep_span_steps_needed(m) &&
           seep_trend_measure(c->y, c->n, (double)(c->to - c->from) / (double)(c->n - 1),
                              &c->trend);
}

/* Judged like a total that is spread over many lines. */
static bool grows(const struct seep_model *m, const struct course *c)
{
    const double steps = c->to - c->from;

    return seep_trend_grows(&c->trend, steps, SEEP_T_PEAK_BYTES, SEEP_T_RISING) &&
           c->trend.slope.value * steps * SEEP_T_NEGLIGIBLE >=
               (double)m->spaces[m->host].totals.peak_bytes;
}

static int add_finding(const struct seep_model *m, uint32_t process, const struct course *c,
                       struct seep_findings *out)
{
    const char *unit = seep_step_unit(m->step_source == SEEP_STEP_TIME);
    const double last =
        fmin(fmax(c->y[c->n - 1], 0), 0x1p48); /* a damaged file may have any number here */
    char each[SEEP_SIZE_TEXT], events[SEEP_SIZE_TEXT];
    struct seep_finding f = {
        .pattern = SEEP_PATTERN_UNDETERMINED,
        .severity = SEEP_PRESSURE,
        .confidence = SEEP_POSSIBLE,
        .part = SEEP_PART_OTHER,
        .space = m->host,
        .live_bytes = (uint64_t)last,
        .peak_bytes = (uint64_t)last,
        .growth = c->trend.slope,
        .first_step = c->from,
        .sites = calloc(1, sizeof *f.sites),
        .processes = calloc(1, sizeof *f.processes),
        .n_processes = 1,
    };
    struct seep_finding *list = reallocarray(out->list, out->n + 1, sizeof *list);

    out->list = list ? list : out->list;
    if (!f.sites || !f.processes || !list) {
        seep_finding_fini(&f);
        return -SEEP_ENOMEM;
    }
    f.processes[0] = process;
    seep_finding_set_limit(m, &out->resident, &f);
    f.title = seep_text_format(SEEP_UNCOUNTED_TITLE_TEXT,
                               seep_text_size(c->trend.slope.value, each), unit);
    f.advice = strdup(SEEP_UNCOUNTED_ADVICE_TEXT);
    seep_finding_note(
        &f, SEEP_UNCOUNTED_EVENTS_TEXT,
        seep_text_count(seep_process_events_without_stacks(&m->processes[process]), events));
    out->list[out->n++] = f;
    return 0;
}

int seep_uncounted_judge(const struct seep_model *m, struct seep_findings *out)
{
    struct seep_level level = {0};
    int rc = 0;

    for (uint32_t i = 0; i < m->n_processes && !rc; i++) {
        struct course c = {0};
        if (!seep_process_events_without_stacks(&m->processes[i]))
            continue;
        rc = sum_with_stacks(m, i, &level);
        if (!rc && follow(m, &out->span, &m->processes[i], &level, &c) && grows(m, &c))
            rc = add_finding(m, i, &c, out);
    }
    seep_level_fini(&level);
    return rc;
}
