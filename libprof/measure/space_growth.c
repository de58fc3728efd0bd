#include "libprof/measure/space_growth.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = SEEP_STATISTICS_MAX, RETAINED_STEPS = 10 };

/* One space of one process, or of the job: first differences of the level, later the level. */
struct lane {
    int32_t from, to; /* steps of the first and last point */
    size_t n;
    double y[POINTS];
};

struct measure {
    const struct seep_model *m;
    const struct seep_span *span;
    int32_t *born;           /* [n_processes] first step with a point */
    struct lane **lanes;     /* [n_processes][n_spaces], NULL where untouched */
    struct lane *sums;       /* [n_spaces] */
    double *variance, *seen; /* [n_spaces] of sampling, see growth.c */
};

static void lane_init(struct lane *lane, int32_t from, int32_t to)
{
    int64_t n = (int64_t)to - from + 1;

    lane->from = from;
    lane->to = to;
    lane->n = n < 2 ? 0 : n < POINTS ? (size_t)n : POINTS;
}

/* The first point at or after a step; n when there is none. Point i is at from + ⌊i·length/(n−1)⌋.
 */
static size_t point_at(const struct lane *lane, int32_t step)
{
    int64_t length = (int64_t)lane->to - lane->from, since = (int64_t)step - lane->from;
    int64_t gaps = (int64_t)lane->n - 1;

    if (lane->n == 0 || since > length)
        return lane->n;
    return since <= 0 ? 0 : (size_t)((since * gaps + length - 1) / length);
}

static void lane_add(struct lane *lane, int32_t step, double bytes)
{
    size_t i = point_at(lane, step);

    if (i < lane->n)
        lane->y[i] += bytes;
}

static void lane_sum(struct lane *lane)
{
    for (size_t i = 1; i < lane->n; i++)
        lane->y[i] += lane->y[i - 1];
}

/* Levels in an untrusted file may be anything. */
static double bounded(uint64_t bytes)
{
    return bytes < (UINT64_C(1) << 48) ? (double)bytes : 0x1p48;
}

static void note_births(struct measure *s)
{
    const struct seep_model *m = s->m;

    for (size_t p = 0; p < m->n_processes; p++)
        s->born[p] = INT32_MAX;
    for (size_t k = 0; k < m->n_slots; k++) {
        const struct seep_model_slot *part = &m->slots[k];
        int32_t *born = &s->born[part->process];
        if (part->n_points && m->points[part->points_at].step < *born)
            *born = m->points[part->points_at].step;
    }
}

static struct lane *lane_of(struct measure *s, uint32_t process, uint16_t space)
{
    struct lane **at = &s->lanes[process * s->m->n_spaces + space];
    int32_t end = s->m->processes[process].end_step, to = s->span->last;
    int32_t from = s->born[process] > s->span->judge ? s->born[process] : s->span->judge;

    if (*at)
        return *at;
    *at = calloc(1, sizeof **at);
    if (*at)
        lane_init(*at, from, end <= to ? end - 1 : to);
    return *at;
}

static int add_part(struct measure *s, const struct seep_model_slot *part, uint16_t space)
{
    struct lane *lane = lane_of(s, part->process, space), *sum = &s->sums[space];
    int32_t end = s->m->processes[part->process].end_step, step = INT32_MIN;
    double bytes = 0;

    if (!lane)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < part->n_points; i++) {
        const struct seep_model_point *p = &s->m->points[part->points_at + i];
        step = p->step;
        lane_add(lane, step, bounded(p->bytes) - bytes);
        lane_add(sum, step, bounded(p->bytes) - bytes);
        bytes = bounded(p->bytes);
    }
    if (end != INT32_MAX)
        lane_add(sum, end > step ? end : step, -bytes);
    return 0;
}

/* For a process whose sites are incomplete: its timeline, which counts everything. */
static int add_timeline(struct measure *s, uint32_t process)
{
    const struct seep_model_process *p = &s->m->processes[process];

    for (int h = 0; h < SEEP_MAX_SPACES; h++) {
        if (!p->space_of[h])
            continue;
        const uint16_t space = (uint16_t)(p->space_of[h] - 1);
        struct lane *lane = lane_of(s, process, space), *sum = &s->sums[space];
        int32_t step = INT32_MIN;
        double bytes = 0;
        if (!lane)
            return -SEEP_ENOMEM;
        for (uint32_t row = 0; row < p->n_rows; row++) {
            const double is = bounded(p->live[(size_t)h * p->n_rows + row]);
            step = seep_model_step(s->m, p, p->row_period[row]);
            lane_add(lane, step, is - bytes);
            lane_add(sum, step, is - bytes);
            bytes = is;
        }
        if (p->end_step != INT32_MAX)
            lane_add(sum, p->end_step > step ? p->end_step : step, -bytes);
    }
    return 0;
}

static bool goes_by_timeline(const struct seep_model_process *p)
{
    return p->live && seep_process_events_without_stacks(p) > 0;
}

static int add_timelines(struct measure *s)
{
    int rc = 0;

    for (uint32_t p = 0; p < s->m->n_processes && !rc; p++) {
        if (goes_by_timeline(&s->m->processes[p]))
            rc = add_timeline(s, p);
    }
    return rc;
}

static int add_sites(struct measure *s)
{
    const struct seep_model *m = s->m;
    int rc = 0;

    for (size_t i = 0; i < m->n_sites && !rc; i++) {
        const struct seep_model_site *site = &m->sites[i];
        for (uint32_t k = site->slots; k && !rc; k = m->slots[k - 1].next) {
            if (!goes_by_timeline(&m->processes[m->slots[k - 1].process]))
                rc = add_part(s, &m->slots[k - 1], site->space);
        }
        s->variance[site->space] += site->sampling_variance;
        s->seen[site->space] += (double)site->totals.allocated_bytes;
    }
    return rc;
}

static void judge(const struct lane *lane, double variance, struct seep_lane_growth *out)
{
    double steps = (double)lane->to - lane->from;

    out->touched = true;
    if (lane->n)
        out->retained_bytes = lane->y[lane->n - 1] > 0 ? lane->y[lane->n - 1] : 0;
    if (lane->n < SEEP_STATISTICS_MIN || steps < SEEP_GROWTH_MIN_STEPS)
        return;
    if (seep_slope_estimate(lane->y, 1, lane->n, steps / (double)(lane->n - 1), &out->slope))
        return;
    double error = sqrt(variance * (fabs(lane->y[0]) + fabs(lane->y[lane->n - 1])));
    out->slope.low -= 2 * error / steps;
    out->slope.high += 2 * error / steps;
    out->known = true;
}

/* The processes' slopes, weighted by the share of time that each was alive. */
static void add_up_lives(const struct measure *s, const struct seep_space_growths *out,
                         size_t space)
{
    struct seep_slope sum = {0, 0, 0};
    double first = INT32_MAX, last = INT32_MIN;
    size_t n = s->m->n_spaces;

    for (size_t p = 0; p < s->m->n_processes; p++) {
        const struct lane *lane = s->lanes[p * n + space];
        const struct seep_lane_growth *g = &out->of_process[p * n + space];
        if (!g->known)
            continue;
        double life = (double)lane->to - lane->from;
        sum.value += g->slope.value * life;
        sum.low += g->slope.low * life;
        sum.high += g->slope.high * life;
        first = fmin(first, lane->from);
        last = fmax(last, lane->to);
    }
    if (last <= first)
        return;
    out->of_space[space].known = true;
    out->of_space[space].slope = (struct seep_slope){
        sum.value / (last - first), sum.low / (last - first), sum.high / (last - first)};
}

static void judge_space(const struct measure *s, struct seep_space_growths *out, size_t space)
{
    const struct seep_model *m = s->m;
    double seen = s->seen[space], variance = seen > 0 ? s->variance[space] / seen : 0;
    bool came_and_went = false;

    for (size_t p = 0; p < m->n_processes; p++) {
        struct lane *lane = s->lanes[p * m->n_spaces + space];
        if (!lane)
            continue;
        lane_sum(lane);
        judge(lane, variance, &out->of_process[p * m->n_spaces + space]);
        came_and_went = came_and_went || (m->processes[p].end_step <= s->span->last &&
                                          m->processes[p].end_step > s->span->judge);
    }
    lane_sum(&s->sums[space]);
    judge(&s->sums[space], variance, &out->of_space[space]);
    if (came_and_went)
        add_up_lives(s, out, space);
}

static int allocate(struct measure *s, struct seep_space_growths *out)
{
    size_t n = s->m->n_spaces + 1, n_processes = s->m->n_processes + 1;

    out->n_spaces = s->m->n_spaces;
    out->of_space = calloc(n, sizeof *out->of_space);
    out->of_process = calloc(n * n_processes, sizeof *out->of_process);
    s->born = calloc(n_processes, sizeof *s->born);
    s->lanes = calloc(n * n_processes, sizeof *s->lanes);
    s->sums = calloc(n, sizeof *s->sums);
    s->variance = calloc(n, sizeof *s->variance);
    s->seen = calloc(n, sizeof *s->seen);
    return out->of_space && out->of_process && s->born && s->lanes && s->sums && s->variance &&
                   s->seen
               ? 0
               : -SEEP_ENOMEM;
}

int seep_space_growths_measure(const struct seep_model *m, const struct seep_span *span,
                               struct seep_space_growths *out)
{
    struct measure s = {.m = m, .span = span};

    *out = (struct seep_space_growths){0};
    int rc = allocate(&s, out);
    if (!rc) {
        note_births(&s);
        for (size_t i = 0; i < m->n_spaces; i++)
            lane_init(&s.sums[i], span->judge, span->last);
        rc = add_sites(&s);
    }
    if (!rc)
        rc = add_timelines(&s);
    for (size_t i = 0; i < m->n_spaces && !rc; i++)
        judge_space(&s, out, i);
    for (size_t i = 0; s.lanes && i < m->n_spaces * m->n_processes; i++)
        free(s.lanes[i]);
    free(s.born);
    free(s.lanes);
    free(s.sums);
    free(s.variance);
    free(s.seen);
    return rc;
}

void seep_space_growths_fini(struct seep_space_growths *growths)
{
    free(growths->of_space);
    free(growths->of_process);
    *growths = (struct seep_space_growths){0};
}

/* Adds what a part held at the ends of the n steps up to `last`. */
static void add_ends(const struct seep_model *m, const struct seep_model_slot *part, int32_t last,
                     int32_t n, double *ends)
{
    const struct seep_model_point *points = m->points + part->points_at;
    int32_t end_step = m->processes[part->process].end_step;
    uint32_t at = part->n_points;

    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t step = last - (n - 1 - i);
        while (at && points[at - 1].step > step)
            at--;
        if (at && step < end_step)
            ends[i] += bounded(points[at - 1].bytes);
    }
}

uint64_t seep_retained_of_site(const struct seep_model *m, const struct seep_span *span,
                               uint32_t site)
{
    double ends[RETAINED_STEPS] = {0}, least;
    int32_t n = (span->last - span->judge) / 4;

    n = n < 1 ? 1 : n > RETAINED_STEPS ? RETAINED_STEPS : n;
    for (uint32_t k = m->sites[site].slots; k; k = m->slots[k - 1].next)
        add_ends(m, &m->slots[k - 1], span->last, n, ends);
    least = ends[0];
    for (int32_t i = 1; i < n; i++)
        least = fmin(least, ends[i]);
    return (uint64_t)least;
}
