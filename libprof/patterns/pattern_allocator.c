/* allocator-cache of the host: live memory is flat, but more is taken from the system.
 * pattern_device.c has the counterpart for devices. */
#include "libprof/base/text.h"
#include "libprof/measure/growth.h"
#include "libprof/measure/resident/resident_memory.h"
#include "libprof/patterns/pattern_judge.h"
#include "libprof/thresholds/thresholds.h"

/* Taken from the system and live, at points spread evenly over the judged steps. */
struct taking {
    double taken[SEEP_STATISTICS_MAX], live[SEEP_STATISTICS_MAX];
    size_t n;
    double dx; /* steps between points */
    int32_t from, to;
};

static double live_at_row(const struct seep_model *m, const struct seep_model_process *p,
                          uint32_t row)
{
    uint64_t sum = 0;

    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        if (p->space_of[s] && m->spaces[p->space_of[s] - 1].name.host_like)
            sum += p->live[(size_t)s * p->n_rows + row];
    }
    return (double)sum;
}

/* The rows of a process's timeline that lie in the judged steps; false where they are too few. */
static bool take_rows(const struct seep_case *c, const struct seep_model_process *p,
                      struct taking *t)
{
    uint32_t first = UINT32_MAX, last = 0;

    for (uint32_t i = 0; i < p->n_rows; i++) {
        int32_t step = seep_model_step(c->m, p, p->row_period[i]);
        if (step <= c->span->warm || step > c->span->last || !p->row_anonymous[i])
            continue;
        first = first < i ? first : i;
        last = i;
    }
    if (first == UINT32_MAX || last - first < 2 * SEEP_STATISTICS_MIN)
        return false;
    t->n = last - first + 1 < SEEP_STATISTICS_MAX ? last - first + 1 : SEEP_STATISTICS_MAX;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t row = first + (uint32_t)((uint64_t)(last - first) * i / (t->n - 1));
        t->live[i] = live_at_row(c->m, p, row);
        t->taken[i] = (double)p->row_anonymous[row];
    }
    t->from = seep_model_step(c->m, p, p->row_period[first]);
    t->to = seep_model_step(c->m, p, p->row_period[last]);
    t->dx = (double)(t->to - t->from) / (double)(t->n - 1);
    return t->to - t->from >= 2 * SEEP_T_STEPS;
}

/* Live pages that were never touched count as live but not as taken: what was taken beyond live
 * memory is what an allocator keeps. */
static bool takes_more(const struct taking *t, struct seep_slope *slope)
{
    double waste[SEEP_STATISTICS_MAX];
    struct seep_trend trend;
    struct seep_slope live;
    const double steps = t->to - t->from;

    for (size_t i = 0; i < t->n; i++)
        waste[i] = t->taken[i] > t->live[i] ? t->taken[i] - t->live[i] : 0;
    if (!seep_trend_measure(waste, t->n, t->dx, &trend) ||
        seep_slope_estimate(t->live, 1, t->n, t->dx, &live))
        return false;
    *slope = trend.slope;
    return seep_trend_grows(&trend, steps, SEEP_T_RESIDENT_BYTES, SEEP_T_HALF) &&
           slope->value * steps * SEEP_T_PEAK_SHARE >= t->taken[0] &&
           live.value * SEEP_T_LIVE_FLAT < slope->value;
}

/* What the allocator may keep of a site whose sizes vary: each thread has its own arena. */
static uint64_t may_keep(const struct seep_model *m, const struct seep_model_site *site)
{
    return site->extra ? m->extras[site->extra - 1].max_bytes * site->n_slots : 0;
}

/* The line with ever new sizes of which most may be kept: its sites go to the finding. Nothing is
 * kept of what was never asked for: a list that grows gets new sizes, too, but few bytes. */
static bool find_churn(struct seep_case *c, uint32_t process, double taken, struct seep_finding *f)
{
    const struct seep_model *m = c->m;
    uint64_t most = 0;
    uint32_t frame = 0;

    for (uint32_t i = 0; i < m->n_sites; i++) {
        const struct seep_model_site *site = &m->sites[i];
        if (!seep_site_has_many_sizes(m, site) || may_keep(m, site) <= most ||
            (double)site->totals.allocated_bytes < SEEP_T_HALF * taken ||
            !c->code->lines->is_own[site->stack] || c->code->lines->importing[site->stack] ||
            site->first_step > c->span->judge || site->last_step < c->span->last - 1 ||
            m->spaces[site->space].name.class != SEEP_CLASS_HOST)
            continue;
        for (uint32_t k = site->slots; k; k = m->slots[k - 1].next) {
            if (m->slots[k - 1].process != process)
                continue;
            most = may_keep(m, site);
            frame = c->code->lines->shown[site->stack];
            c->part = (enum seep_part)c->code->lines->part[site->stack];
            c->space = site->space;
        }
    }
    for (uint32_t i = 0; i < m->n_sites && frame; i++) {
        if (seep_site_has_many_sizes(m, &m->sites[i]) &&
            c->code->lines->shown[m->sites[i].stack] == frame)
            f->sites[f->n_sites++] = i;
    }
    c->frame = frame;
    return frame != 0;
}

/* Samples of RSS say that what was taken belongs to no known allocator. */
static bool is_unexplained(const struct seep_case *c, const struct seep_model_process *p,
                           const struct seep_slope *taken)
{
    struct seep_rss rss;

    seep_rss_measure_growth(c->m, c->span, p, &rss);
    return rss.unexplained.growing && rss.unexplained.slope.value > SEEP_T_HALF * taken->value;
}

static bool find_host_cache(struct seep_case *c, struct seep_finding *f)
{
    struct taking t;
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT], low[SEEP_SIZE_TEXT], high[SEEP_SIZE_TEXT];

    for (uint32_t p = 0; p < c->m->n_processes; p++) {
        f->n_sites = 0;
        if (!take_rows(c, &c->m->processes[p], &t) || !takes_more(&t, &f->growth) ||
            is_unexplained(c, &c->m->processes[p], &f->growth))
            continue;
        const double taken = f->growth.value * (t.to - t.from);
        if (!find_churn(c, p, taken, f))
            continue;
        seep_finding_verdict(f, SEEP_PATTERN_ALLOCATOR_CACHE, SEEP_PRESSURE, SEEP_LIKELY);
        f->saving_bytes = (uint64_t)taken;
        seep_finding_note(f,
                          "Memory taken from the system rose from %s to %s over steps %d to %d; "
                          "live memory went from %s to %s",
                          seep_text_size(t.taken[0], one), seep_text_size(t.taken[t.n - 1], other),
                          (int)t.from, (int)t.to, seep_text_size(t.live[0], low),
                          seep_text_size(t.live[t.n - 1], high));
        seep_finding_note(
            f, "This line asks for ever new sizes: freed memory does not fit the next request");
        return true;
    }
    return false;
}

int seep_find_allocator_cache(struct seep_case *c, struct seep_finding *f, bool *found)
{
    if (c->space == c->m->host && c->m->step_source != SEEP_STEP_TIME)
        *found = find_host_cache(c, f);
    return *found ? 0 : seep_case_find_device_cache(c, f, found);
}
