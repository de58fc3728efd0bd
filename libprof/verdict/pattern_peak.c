/* Memory that is gone at the end of each step, but decides how much the job needs. */
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/space.h"

/* doubling: a buffer that is full makes room for as much again. */

/* What is put in at one pace takes as many steps to fill the last half as all that was before; and
 * nothing has emptied it, but for the end of the work. */
bool seep_case_may_double(const struct seep_case *c, struct seep_doublings *d)
{
    const int32_t judged = c->span->last - c->span->warm;
    const int32_t late = c->span->last - judged / SEEP_T_ENDED;

    *d = seep_doublings_find(&c->signs->growth.level);
    return d->n >= SEEP_T_SERIES && c->span->last - d->last <= d->last &&
           seep_level_at(&c->signs->growth.level, late).bytes >= d->to - d->to / SEEP_T_STAIR_FALL;
}

/* What the line had at its highest, site by site: at the end it may be freed. */
static void keep_highest(const struct seep_case *c, const struct seep_doublings *d,
                         struct seep_finding *f)
{
    for (size_t i = 0; i < c->n_sites; i++)
        if (c->m->sites[c->sites[i]].totals.peak_bytes >= SEEP_T_SHOWN_BYTES)
            seep_finding_keep(f, c->sites[i], c->m->sites[c->sites[i]].totals.peak_bytes, 0);
    f->live_bytes = (uint64_t)d->to;
    f->count = (uint64_t)d->blocks;
}

bool seep_is_doubling(const struct seep_case *c, struct seep_finding *f)
{
    struct seep_doublings d;
    char from[SEEP_SIZE_TEXT], to[SEEP_SIZE_TEXT];

    if (!seep_case_may_double(c, &d) || d.to < SEEP_T_LARGE_BYTES || c->signs->is_network ||
        !seep_case_space(c)->host_like)
        return false;
    keep_highest(c, &d, f);
    if (!f->n_sites)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_DOUBLING, SEEP_PRESSURE, SEEP_POSSIBLE);
    seep_finding_note(f, SEEP_DOUBLING_TEXT, seep_text_size((double)d.from, from),
                      seep_text_size((double)d.to, to), d.n, seep_case_unit(c), (int)d.last,
                      (int)c->span->last);
    return true;
}

static const struct seep_model_extra *extra_of(const struct seep_case *c, uint32_t site)
{
    uint32_t extra = c->m->sites[site].extra;

    return extra ? &c->m->extras[extra - 1] : NULL;
}

static uint64_t frees_of_age(const struct seep_model_extra *e, unsigned from, unsigned to)
{
    uint64_t n = 0;

    for (unsigned b = from; b <= to && b < SEEP_LIFETIME_BUCKETS; b++)
        n += seep_frees_of_age(&e->counts, b);
    return n;
}

/* Whether the site was active in at least this many steps. */
static bool is_active(const struct seep_model_site *site)
{
    return site->last_step - site->first_step >= SEEP_T_STEPS &&
           site->totals.allocations >= 2 * SEEP_T_STEPS;
}

/* ---- collective-buffer: all gradients once more, for the length of a reduction --------------- */

/* Whether the blocks are copies of all gradients: one per step, or one for each dtype or model.
 * Buckets one after the other are the pattern's fix: many, or of the advised size. */
static bool is_flat_copy(const struct seep_model_site *site, uint64_t block_bytes)
{
    double steps = site->last_step - site->first_step + 1;
    double step_bytes =
        (double)site->totals.allocated_bytes / steps / (site->n_slots ? site->n_slots : 1);

    /* A tenth more: a bucket is closed by the gradient that fills it. */
    double least = block_bytes > SEEP_T_BUCKET_BYTES + SEEP_T_BUCKET_BYTES / 10
                       ? SEEP_T_FLAT_COPY
                       : SEEP_T_FLAT_COPY_SMALL;
    return (double)block_bytes > least * step_bytes;
}

bool seep_is_collective_buffer(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];

    if (!((c->parts >> SEEP_PART_COLLECTIVE) & 1))
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        const struct seep_model_extra *e = extra_of(c, c->sites[i]);
        if (!e || !is_active(site) || e->max_bytes < SEEP_T_PEAK_BYTES ||
            e->max_bytes * SEEP_T_PEAK_SHARE <
                c->space_peak / (site->n_slots ? site->n_slots : 1) ||
            !is_flat_copy(site, e->max_bytes))
            continue;
        /* Ranks that take turns in being first see some of each other's steps begin in between. */
        const double frees = (double)site->totals.frees;
        if ((double)frees_of_age(e, 0, 1) < SEEP_T_NEARLY_ALL * frees ||
            (double)frees_of_age(e, 0, 0) < SEEP_T_HALF * frees)
            continue;
        if (!f->n_sites || e->max_bytes > f->saving_bytes)
            f->saving_bytes = e->max_bytes;
        seep_finding_keep(f, c->sites[i], 0, 0);
    }
    if (!f->n_sites)
        return false;
    const struct seep_model_site *site = &c->m->sites[f->sites[0]];
    seep_finding_verdict(f, SEEP_PATTERN_COLLECTIVE_BUFFER, SEEP_PRESSURE, SEEP_LIKELY);
    seep_finding_note(f, "One block of %s is allocated %.1f times a step and freed within the step",
                      seep_text_size((double)f->saving_bytes, size),
                      (double)site->totals.allocations / (double)c->m->n_steps /
                          (site->n_slots ? site->n_slots : 1));
    seep_finding_note(f, "While it is alive it is %.0f %% of the peak of %s",
                      100.0 * (double)f->saving_bytes / (double)c->space_peak,
                      seep_space_words(seep_case_space(c)->text, space));
    return true;
}

/* ---- size-spike: one request far above the site's others ------------------------------------- */

struct spike {
    uint64_t largest, median; /* bytes; the median rounded up to a power of two */
    double share;             /* of requests at least half as large as the largest */
};

/* A network's layers have their own sizes: what comes in every step is no spike. */
static bool find_spike(const struct seep_case *c, uint32_t site, struct spike *s)
{
    const int32_t steps = c->m->sites[site].last_step - c->m->sites[site].first_step + 1;
    const struct seep_model_extra *e = extra_of(c, site);
    uint64_t n = 0, below = 0, large = 0;

    if (!e || !is_active(&c->m->sites[site]) || e->max_bytes < SEEP_T_PEAK_BYTES)
        return false;
    for (unsigned b = 0; b < SEEP_SIZE_BUCKETS; b++)
        n += seep_allocations_of_size(&e->counts, b);
    if (n < 2 * SEEP_T_STEPS)
        return false;
    *s = (struct spike){.largest = e->max_bytes};
    for (unsigned b = 0; b < SEEP_SIZE_BUCKETS; b++) {
        const uint64_t its = seep_allocations_of_size(&e->counts, b);
        below += its;
        if (!s->median && 2 * below >= n)
            s->median = UINT64_C(2) << b;
        if (UINT64_C(2) << b > e->max_bytes / 2)
            large += its;
    }
    s->share = (double)large / (double)n;
    return s->largest >= SEEP_T_SPIKE_TIMES * s->median && s->share <= SEEP_T_SPIKE_RARE &&
           (double)large <= SEEP_T_SPIKE_RARE * steps;
}

bool seep_is_size_spike(const struct seep_case *c, struct seep_finding *f)
{
    struct spike spike = {0}, s;
    char one[SEEP_SIZE_TEXT], usual[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];

    /* By time slices, a program's start on the host looks the same. */
    if (c->signs->timed && seep_case_space(c)->device < 0)
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        if (!find_spike(c, c->sites[i], &s) || s.largest * SEEP_T_PEAK_SHARE < c->space_peak)
            continue;
        if (s.largest > spike.largest)
            spike = s;
        seep_finding_keep(f, c->sites[i], 0, 0);
    }
    if (!f->n_sites)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_SIZE_SPIKE, SEEP_PRESSURE, SEEP_LIKELY);
    f->saving_bytes = spike.largest - spike.median;
    seep_finding_note(f, "The largest request is %s; half of all requests are below %s",
                      seep_text_size((double)spike.largest, one),
                      seep_text_size((double)spike.median, usual));
    seep_finding_note(
        f, "%.1f %% of the requests are about as large; the largest is %.0f %% of the peak of %s",
        100 * spike.share, 100.0 * (double)spike.largest / (double)c->space_peak,
        seep_space_words(seep_case_space(c)->text, space));
    return true;
}
