/* allocator-cache: an allocator keeps what the job has freed. On the host live memory is flat, but
 * more is taken from the system; on a device its driver and PyTorch's allocator tell them apart. */
#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/measure/device_layout.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/growth.h"
#include "libprof/measure/resident/resident_memory.h"
#include "libprof/measure/segments.h"
#include "libprof/measure/timeline_rows.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/verdict/prospect.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

#include <stdlib.h>
#include <string.h>

/* ---- the host -------------------------------------------------------------------------------- */

/* Taken from the system and live, at points spread evenly over the judged steps. */
struct taking {
    double taken[SEEP_STATISTICS_MAX], live[SEEP_STATISTICS_MAX];
    size_t n;
    double dx; /* steps between points */
    int32_t from, to;
};

/* The rows of a process's timeline that lie in the judged steps; false where they are too few. */
static bool take_rows(const struct seep_case *c, const struct seep_model_process *p,
                      struct taking *t)
{
    struct seep_timeline_rows rows;
    uint32_t first = UINT32_MAX, last = 0;

    for (uint32_t i = 0; i < p->n_rows; i++) {
        int32_t step = seep_model_step(c->m, p, p->row_period[i]);
        if (step <= c->span->warm || step > c->span->last || !p->row_anonymous[i])
            continue;
        first = first < i ? first : i;
        last = i;
    }
    if (!seep_timeline_rows_spread(first, last, &rows))
        return false;
    t->n = rows.n;
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t row = seep_timeline_rows_at(&rows, i);
        t->live[i] = seep_timeline_host_live(c->m, p, row);
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

/* allocator-cache of a device: what the driver gave grows while what is in use does not; or the
 * device is full and a good part of that is idle; or the idle part is many times what was ever
 * live. */

/* ---- a device, by its rise ------------------------------------------------------------------- */

/* Whether a site asks for varying sizes, or frees and asks again. */
static bool changes(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_model *m = c->m;

    return site->extra && site->last_step > c->span->judge &&
           (site->totals.frees || __builtin_popcountll(m->extras[site->extra - 1].size_marks) > 1);
}

/* Chooses the segments among a device's blocks: sites[0, *n) from here on. None if neither requests
 * nor segments ever change: then whatever was freed always fit again. Returns 0 or -SEEP_ENOMEM. */
static int choose_segments(const struct seep_case *c, const uint32_t *tensors, size_t n_tensors,
                           uint32_t *sites, size_t *n)
{
    const struct seep_model *m = c->m;
    bool *marked = calloc(m->dict.n_stacks + 1, sizeof *marked), vary = false;
    int rc = marked ? seep_segments_mark(c->code, tensors, n_tensors, marked) : -SEEP_ENOMEM;
    size_t kept = 0;

    for (size_t i = 0; i < n_tensors; i++)
        vary |= seep_site_has_many_sizes(m, &m->sites[tensors[i]]);
    for (size_t i = 0; i < *n && !rc; i++) {
        const struct seep_model_site *site = &m->sites[sites[i]];
        if (!marked[site->stack])
            continue;
        vary |= changes(c, site);
        sites[kept++] = sites[i];
    }
    *n = vary ? kept : 0;
    free(marked);
    return rc;
}

/* Finds the line whose sites grow most, by its fastest-growing site. Returns 0 or -SEEP_ENOMEM. */
static int find_growing(const struct seep_case *c, const uint32_t *sites, size_t n, uint32_t *best)
{
    double *grew = calloc(c->m->dict.n_frames + 1, sizeof *grew);
    struct seep_level level = {0};
    int rc = grew ? 0 : -SEEP_ENOMEM;

    *best = sites[0];
    for (size_t i = 0; i < n && !rc; i++) {
        uint32_t line = c->code->lines->shown[c->m->sites[sites[i]].stack];
        rc = seep_level_sum(c->m, &sites[i], 1, SEEP_LEVEL_ALL, &level);
        if (rc)
            break;
        grew[line] += (double)(seep_level_at(&level, c->span->last).bytes -
                               seep_level_at(&level, c->span->judge).bytes);
        if (grew[line] > grew[c->code->lines->shown[c->m->sites[*best].stack]])
            *best = sites[i];
    }
    seep_level_fini(&level);
    free(grew);
    return rc;
}

/* Whether what the driver gave for tensors grows while what is in use does not. Returns 0 or
 * -SEEP_ENOMEM. */
static int outgrows(const struct seep_case *c, const uint32_t *segments, size_t n,
                    const uint32_t *tensors, size_t n_tensors, struct seep_growth *taken,
                    struct seep_slope *in_use, bool *found)
{
    struct seep_growth live = {0};
    int rc = seep_growth_measure(c->m, c->span, segments, n, taken);

    if (!rc && taken->growing)
        rc = seep_growth_measure(c->m, c->span, tensors, n_tensors, &live);
    *found = !rc && taken->growing && !live.growing &&
             live.slope.value * SEEP_T_LIVE_FLAT < taken->slope.value;
    *in_use = live.slope;
    seep_growth_fini(&live);
    return rc;
}

/* The case has no signs yet: this is a pattern of the job. */
static const char *unit_of(const struct seep_case *c)
{
    return seep_step_unit(c->m->step_source == SEEP_STEP_TIME);
}

/* A graph has its own pool, which shares nothing unless it is given another graph's. */
static bool captures_graphs(const struct seep_case *c)
{
    for (uint32_t i = 1; i < c->m->dict.n_frames; i++) {
        if (seep_function_kinds_is(c->code->lines->kinds, i, SEEP_FUNCTION_CAPTURE))
            return true;
    }
    return false;
}

static void advise(const struct seep_case *c, unsigned settings, struct seep_finding *f)
{
    if (!captures_graphs(c)) {
        f->advice = strdup(seep_allocator_advice(settings));
        return;
    }
    seep_finding_note(
        f, "CUDA graphs were captured: each reserves its own memory pool unless it is given one");
    f->advice =
        seep_text_format("Let CUDA graphs share a pool: torch.cuda.graph(g, pool=first.pool()). "
                         "Pad shapes to a few sizes, so that fewer graphs are captured. %s",
                         seep_allocator_advice(settings));
}

static int describe_device(struct seep_case *c, uint16_t space, uint16_t tensors,
                           const struct seep_growth *taken, const struct seep_slope *in_use,
                           struct seep_finding *f)
{
    const struct seep_model *m = c->m;
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT], device[SEEP_SPACE_WORDS],
        in_words[SEEP_SPACE_WORDS];
    uint32_t site;

    if (find_growing(c, f->sites, f->n_sites, &site))
        return -SEEP_ENOMEM;
    f->growth = taken->slope;
    for (size_t i = 0; i < f->n_sites; i++)
        f->live_bytes += seep_totals_live(&m->sites[f->sites[i]].totals);
    f->saving_bytes = (uint64_t)(taken->slope.value * (taken->to - taken->from));
    c->space = space;
    c->frame = c->code->lines->shown[m->sites[site].stack];
    c->part = (enum seep_part)c->code->lines->part[m->sites[site].stack];
    seep_finding_verdict(f, SEEP_PATTERN_ALLOCATOR_CACHE, SEEP_PRESSURE, SEEP_LIKELY);
    const struct seep_device_memory d = seep_device_memory_of(m, m->spaces[space].name.device);
    if (d.reports)
        advise(c, d.settings, f);
    seep_finding_note(f, "Memory taken from %s grows by %s a %s, memory of %s by %s",
                      seep_space_words(m->spaces[space].name.text, device),
                      seep_text_size(taken->slope.value, one), unit_of(c),
                      seep_space_words(m->spaces[tensors].name.text, in_words),
                      seep_text_size(in_use->value, other));
    return 0;
}

static int judge_device(struct seep_case *c, uint16_t space, uint32_t *tensors,
                        struct seep_finding *f, bool *found)
{
    const struct seep_model *m = c->m;
    uint16_t tensor_space;
    struct seep_growth taken = {0};
    struct seep_slope in_use = {0};

    if (!seep_model_tensor_space(m, space, &tensor_space))
        return 0;
    size_t n_tensors = seep_sites_of_space(m, tensor_space, tensors);
    size_t n = n_tensors ? seep_sites_of_space(m, space, f->sites) : 0;
    int rc = n ? choose_segments(c, tensors, n_tensors, f->sites, &n) : 0;
    if (!rc && n)
        rc = outgrows(c, f->sites, n, tensors, n_tensors, &taken, &in_use, found);
    f->n_sites = *found ? n : 0;
    if (!rc && *found)
        rc = describe_device(c, space, tensor_space, &taken, &in_use, f);
    seep_growth_fini(&taken);
    return rc;
}

/* ---- a device, by its level ------------------------------------------------------------------ */

/* The last request that failed on a device: for good, or only at the runtime, after which the
 * allocator gives back what it has reserved and tries again. NULL: none failed. */
static const struct seep_model_oom *refusal(const struct seep_model *m, int device, bool for_good)
{
    const struct seep_model_oom *last = NULL;

    for (size_t i = 0; i < m->n_ooms; i++) {
        const enum seep_oom_source source = m->ooms[i].source;
        const bool is_final = source == SEEP_OOM_BY_ALLOCATOR || source == SEEP_OOM_BY_PROGRAM;
        if ((int)m->ooms[i].device == device &&
            (for_good ? is_final : source == SEEP_OOM_BY_RUNTIME))
            last = &m->ooms[i];
    }
    return last;
}

/* The device that tensors lie in, if the driver's own blocks of it were recorded; else the tensors'
 * space. */
static uint16_t device_space(const struct seep_model *m, uint16_t tensors)
{
    for (uint16_t s = 0; s < m->n_spaces; s++) {
        if (seep_space_is_tensors_of(&m->spaces[tensors].name, &m->spaces[s].name))
            return s;
    }
    return tensors;
}

/* The peak, if what the driver gave was recorded; others' memory on the device is not the
 * allocator's. */
static uint64_t most_reserved(const struct seep_case *c, uint16_t tensors,
                              const struct seep_device_memory *d)
{
    const uint16_t device = device_space(c->m, tensors);
    const struct seep_totals *t = &c->m->spaces[device].totals;
    const uint64_t live = seep_totals_live(t);
    const uint64_t others = live > d->reserved_bytes ? live - d->reserved_bytes : 0;

    if (device == tensors || t->peak_bytes <= others || t->peak_bytes - others < d->reserved_bytes)
        return d->reserved_bytes;
    return t->peak_bytes - others;
}

/* A cache of constant sizes stays at its highest level: that is its purpose, as long as nobody
 * needs the rest. */
static bool is_scarce(const struct seep_device_memory *d, uint64_t reserved, uint64_t idle)
{
    const uint64_t ours = d->used_peak_bytes > reserved ? d->used_peak_bytes : reserved;

    return d->capacity_bytes &&
           (double)seep_sum(ours, d->others_bytes) >=
               SEEP_T_DEVICE_FULL * (double)d->capacity_bytes &&
           (double)idle >= SEEP_T_DEVICE_IDLE * (double)d->capacity_bytes;
}

/* Free memory never fitted the next request: this only ends when the device is full. */
static bool is_many_times(uint64_t idle, uint64_t live)
{
    return idle >= SEEP_T_IDLE_LARGE && idle / SEEP_T_IDLE_TIMES >= live;
}

/* The most that was reserved but never live; 0 if that does not matter, the allocator is set to
 * keep none of it, or an out-of-memory finding covers it. */
static uint64_t idle_bytes(const struct seep_case *c, uint16_t tensors,
                           const struct seep_device_memory *d, uint64_t reserved)
{
    const struct seep_model_space *space = &c->m->spaces[tensors];
    const uint64_t live = space->totals.peak_bytes;
    const uint64_t idle = reserved > live ? reserved - live : 0;

    if (d->drift_bytes > idle || seep_allocator_is_cured(d->settings) ||
        refusal(c->m, space->name.device, true) ||
        !(is_scarce(d, reserved, idle) || is_many_times(idle, live)))
        return 0;
    return idle;
}

/* Sets *line to the line for whose requests the allocator took most of the device; 0 if it has
 * given all back. Returns 0 or -SEEP_ENOMEM. */
static int find_taker(const struct seep_case *c, uint16_t device, uint32_t *line)
{
    const struct seep_model *m = c->m;
    uint64_t *taken = calloc(m->dict.n_frames + 1, sizeof *taken), most = 0;

    *line = 0;
    if (!taken)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_sites; i++) {
        const uint32_t its = c->code->lines->shown[m->sites[i].stack];
        if (m->sites[i].space != device)
            continue;
        taken[its] = seep_sum(taken[its], seep_totals_live(&m->sites[i].totals));
        if (taken[its] > most) {
            most = taken[its];
            *line = its;
        }
    }
    free(taken);
    return 0;
}

/* The line with the largest requests; lines with ever new sizes come first. */
static uint32_t find_largest(const struct seep_case *c, uint16_t tensors)
{
    const struct seep_model *m = c->m;
    bool varies = false;
    uint64_t most = 0;
    uint32_t line = 0;

    for (uint32_t i = 0; i < m->n_sites; i++) {
        const struct seep_model_site *site = &m->sites[i];
        const bool its = seep_site_has_many_sizes(m, site);
        const uint64_t bytes = site->extra ? m->extras[site->extra - 1].max_bytes : 0;
        if (site->space != tensors || its < varies || (its == varies && bytes <= most))
            continue;
        varies = its;
        most = bytes;
        line = c->code->lines->shown[site->stack];
    }
    return line;
}

/* Makes the finding about the line's sites in this space. */
static bool take_line(struct seep_case *c, uint16_t space, uint32_t line, struct seep_finding *f)
{
    const struct seep_model *m = c->m;

    for (uint32_t i = 0; i < m->n_sites && line; i++) {
        if (m->sites[i].space != space || c->code->lines->shown[m->sites[i].stack] != line)
            continue;
        c->space = space;
        c->frame = line;
        c->part = (enum seep_part)c->code->lines->part[m->sites[i].stack];
        const struct seep_totals *t = &m->sites[i].totals;
        seep_finding_keep(f, i, seep_totals_live(t),
                          t->allocations > t->frees ? t->allocations - t->frees : 0);
    }
    return f->n_sites > 0;
}

/* Returns 0 or -SEEP_ENOMEM. */
static int judge_level(struct seep_case *c, uint16_t tensors, struct seep_finding *f, bool *found)
{
    const int device = c->m->spaces[tensors].name.device;
    const struct seep_device_memory d = seep_device_memory_of(c->m, device);
    const uint64_t reserved = most_reserved(c, tensors, &d);
    const uint64_t idle = idle_bytes(c, tensors, &d, reserved);
    const struct seep_model_oom *mended = refusal(c->m, device, false);
    const uint16_t space = device_space(c->m, tensors);
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];
    uint32_t line = 0;

    seep_finding_blank(f);
    if (!idle)
        return 0;
    if (space != tensors && find_taker(c, space, &line))
        return -SEEP_ENOMEM;
    *found = take_line(c, space, line, f) || take_line(c, tensors, find_largest(c, tensors), f);
    if (!*found)
        return 0;
    seep_finding_verdict(f, SEEP_PATTERN_ALLOCATOR_CACHE, SEEP_PRESSURE, SEEP_LIKELY);
    f->saving_bytes = idle;
    f->title =
        seep_text_format("PyTorch reserves %s of GPU %d; at most %s was in use at once",
                         seep_text_size((double)reserved, one), device,
                         seep_text_size((double)c->m->spaces[tensors].totals.peak_bytes, other));
    advise(c, d.settings, f);
    seep_finding_note(f, "%s of that was never in use", seep_text_size((double)idle, one));
    if (mended)
        seep_finding_note(f,
                          "In %s %d GPU %d could not serve a request of %s: PyTorch released "
                          "unused memory and tried again",
                          unit_of(c), (int)mended->step, device,
                          seep_text_size((double)mended->asked_bytes, one));
    if (d.capacity_bytes)
        seep_finding_note(f, "GPU %d has %s: this job used up to %s, other processes %s", device,
                          seep_text_size((double)d.capacity_bytes, all),
                          seep_text_size((double)d.used_peak_bytes, one),
                          seep_text_size((double)d.others_bytes, other));
    return 0;
}

/* ---- a device, by both ----------------------------------------------------------------------- */

/* What is judged for a device is not judged again for its tensors. Its level always counts; its
 * rise only if steps do equal work, or after a long run. */
static int find_of_device(struct seep_case *c, struct seep_finding *f, bool *found)
{
    uint32_t *scratch = malloc((c->m->n_sites + 1) * sizeof *scratch);
    uint16_t tensors;
    int rc = scratch ? 0 : -SEEP_ENOMEM;

    if (!rc && (c->m->step_source != SEEP_STEP_TIME || c->span->last >= SEEP_T_LONG_RUN))
        rc = judge_device(c, c->space, scratch, f, found);

    free(scratch);
    if (!rc && !*found && seep_model_tensor_space(c->m, c->space, &tensors))
        rc = judge_level(c, tensors, f, found);
    return rc;
}

/* The layout with most of a device at its peak, in address order. Returns 0 or -SEEP_ENOMEM; all 0
 * without one. Allocates: seep_device_layout_fini(). */
static int find_peak(const struct seep_case *c, int device, struct seep_device_layout *peak)
{
    const struct seep_model *m = c->m;
    bool *marked = calloc(m->dict.n_stacks + 1, sizeof *marked);
    int rc = marked ? seep_segments_mark_all(c->code, marked) : -SEEP_ENOMEM;

    *peak = (struct seep_device_layout){0};
    for (size_t i = 0; i < m->n_layouts && !rc; i++) {
        const struct seep_model_layout *its = &m->layouts[i];
        struct seep_device_layout layout;
        if ((int)its->device != device || its->reason != SEEP_LAYOUT_AT_PEAK || its->left_out)
            continue;
        rc = seep_device_layout_make(m, its, marked, &layout);
        if (rc)
            break;
        struct seep_device_layout less = layout.taken_bytes > peak->taken_bytes ? *peak : layout;
        *peak = layout.taken_bytes > peak->taken_bytes ? layout : *peak;
        seep_device_layout_fini(&less);
    }
    free(marked);
    return rc;
}

/* How the cache was laid out at the device's peak. Returns 0 or -SEEP_ENOMEM. */
static int note_pieces(const struct seep_case *c, int device, struct seep_finding *f)
{
    struct seep_device_layout peak;
    char all[SEEP_SIZE_TEXT], largest[SEEP_SIZE_TEXT];
    int rc = find_peak(c, device, &peak);

    if (!rc && peak.n_free > 1)
        seep_finding_note(
            f, "In %s %d, %s of the reserved memory was free, in %zu pieces of at most %s",
            unit_of(c), (int)(peak.from->step > 0 ? peak.from->step : 0),
            seep_text_size((double)peak.free_bytes, all), peak.n_free,
            seep_text_size((double)peak.largest_free_bytes, largest));
    seep_device_layout_fini(&peak);
    return rc;
}

static int find_device_cache(struct seep_case *c, struct seep_finding *f, bool *found)
{
    const enum seep_space_class class = seep_case_space(c)->class;
    const int device = seep_case_space(c)->device;
    int rc = 0;

    if (class == SEEP_CLASS_DEVICE)
        rc = find_of_device(c, f, found);
    else if (class == SEEP_CLASS_TENSOR && device_space(c->m, c->space) == c->space)
        rc = judge_level(c, c->space, f, found);
    return rc || !*found ? rc : note_pieces(c, device, f);
}

/* ---- host and devices ------------------------------------------------------------------------ */

int seep_find_allocator_cache(struct seep_case *c, struct seep_finding *f, bool *found)
{
    if (c->space == c->m->host && c->m->step_source != SEEP_STEP_TIME)
        *found = find_host_cache(c, f);
    return *found ? 0 : find_device_cache(c, f, found);
}
