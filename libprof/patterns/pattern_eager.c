/* Memory that is loaded up front and kept for good. */
#include "libprof/base/text.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/patterns/pattern_judge.h"
#include "libprof/patterns/state_use.h"
#include "libprof/signs/work_areas.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/space.h"

#include <math.h>

/* Whether a site's blocks look like items of one kind: of the data's side, whatever their sizes; of
 * others, if they have one size. Only a detail record knows sizes one by one; where the blocks came
 * before it was made, an even division says the same with good odds. */
static bool is_of_items(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_totals *t = &site->totals;
    const struct seep_model_extra *e = site->extra ? &c->m->extras[site->extra - 1] : NULL;

    if (!t->allocations || c->signs->is_data)
        return t->allocations != 0;
    if (e && e->max_bytes)
        return e->max_bytes - e->min_bytes <= e->max_bytes / SEEP_T_ITEM_SPREAD &&
               fabs((double)t->allocated_bytes / (double)t->allocations - (double)e->max_bytes) <=
                   (double)e->max_bytes / SEEP_T_ITEM_SPREAD;
    return t->allocated_bytes % t->allocations == 0;
}

/* A line that calls a trainer makes everything: the network is not data. */
static bool is_eager_site(const struct seep_case *c, size_t i)
{
    const struct seep_model_site *site = &c->m->sites[c->sites[i]];
    const struct seep_held first = c->signs->sites[i].first, last = c->signs->sites[i].last;

    return site->first_step <= 1 && !c->signs->sites[i].is_network && last.blocks &&
           last.bytes == first.bytes && last.blocks == first.blocks &&
           !seep_is_work_area(c->m, c->sites[i]) &&
           (double)site->totals.allocations <= SEEP_T_MADE_ONCE * (double)last.blocks &&
           is_of_items(c, site);
}

/* The line's site that holds the items. What every worker has one of (a buffer, an arena of
 * Python's) is not a series of items, however many workers there are. */
static struct seep_held find_items(const struct seep_case *c)
{
    struct seep_held most = {0};

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].last;
        const uint32_t processes = seep_site_processes(c->m, &c->m->sites[c->sites[i]]);
        if (its.blocks >= (uint64_t)SEEP_T_MANY * processes && its.bytes > most.bytes &&
            is_eager_site(c, i))
            most = its;
    }
    return most;
}

/* What a library pins, as a loader's thread does with batches, goes into a pool that reuses it: it
 * is nobody's items. */
static bool is_pool_of_pinned(const struct seep_case *c)
{
    return seep_case_space(c)->class == SEEP_CLASS_PINNED &&
           !c->code->lines->is_own[c->m->sites[c->sites[0]].stack];
}

/* What is on a device from the start and is not data may be any table, as long as it was made
 * there; data come from the host. */
static bool is_made_there(const struct seep_case *c)
{
    const struct seep_makers *by = &c->signs->makers;

    return !seep_case_space(c)->host_like && !c->signs->is_data && by->named && !by->copies &&
           !by->loads;
}

static void note_little(const struct seep_case *c, struct seep_finding *f)
{
    const char *kind;
    const uint64_t limit = seep_memory_limit_of(c->m, &kind);
    char size[SEEP_SIZE_TEXT];

    seep_finding_note(f, "It takes %.1f %% of %s %s: that matters only if the data set grows",
                      100.0 * (double)f->live_bytes / (double)limit,
                      seep_text_size((double)limit, size), seep_limit_words(kind));
}

bool seep_is_eager_retention(const struct seep_case *c, struct seep_finding *f)
{
    const bool data = c->signs->is_data;

    if (seep_case_judge_loaded(c, f))
        return true;
    seep_finding_blank(f);
    if (c->signs->makers.loads && !seep_case_space(c)->host_like && seep_state_became_parameters(c))
        return false;

    /* Iterations and tasks are counted only from when they were recognised as the job's steps. */
    if (c->span->last < 2 || c->signs->timed || c->signs->is_network ||
        c->m->step_source == SEEP_STEP_LOOP || c->m->step_source == SEEP_STEP_TASK ||
        is_pool_of_pinned(c) || is_made_there(c))
        return false;
    const struct seep_held items = find_items(c);
    if (!items.bytes)
        return seep_case_judge_whole(c, f);
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].last;
        if (is_eager_site(c, i) && seep_case_is_alike(its, items))
            seep_finding_keep(f, c->sites[i], its.bytes, its.blocks);
    }
    if (!seep_case_is_large(c, f->live_bytes, SEEP_T_LARGE_SHARE) ||
        f->live_bytes < SEEP_T_CACHE_BYTES)
        return false;
    const bool matters = seep_case_has_consequences(c, f->live_bytes);
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];
    seep_finding_verdict(f, SEEP_PATTERN_EAGER_RETENTION, matters ? SEEP_RETENTION : SEEP_INFO,
                         data ? SEEP_CERTAIN : SEEP_LIKELY);
    f->saving_bytes = f->live_bytes - f->live_bytes / f->count;
    seep_finding_note(f, "%llu blocks of %s, all allocated before step 1 ended",
                      (unsigned long long)f->count,
                      seep_text_size((double)f->live_bytes / (double)f->count, each));
    seep_finding_note(f, "None was freed and none was added up to step %d", (int)c->span->last);
    seep_finding_note(f, SEEP_KEPT_SHARE_TEXT, seep_text_size((double)f->live_bytes, size),
                      100.0 * (double)f->live_bytes / (double)c->space_peak,
                      seep_space_words(seep_case_space(c)->text, space));
    if (!matters)
        note_little(c, f);
    return true;
}
