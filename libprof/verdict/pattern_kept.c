/* Memory that is kept for good but does not grow without end: gathered until every item was seen,
 * or up to a bound. */
#include "libprof/base/text.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/verdict/prospect.h"
#include "libprof/verdict/work_areas.h"
#include "libprof/who/merge/hops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what has an end of its own ---------------------------------------------------------------
 */

static bool is_staircase(const struct seep_staircase *s, int32_t judged)
{
    return s->climbs && s->jumps >= SEEP_T_AGAIN && s->jumps <= judged / SEEP_T_RARE &&
           s->end - s->start >= SEEP_T_CACHE_BYTES &&
           (double)s->jumped >= SEEP_T_MOST * (double)(s->end - s->start) &&
           (double)s->end >= SEEP_T_STAIR_RISE * (double)s->start && s->least_blocks >= 1 &&
           s->most_blocks - s->least_blocks <= s->least_blocks / SEEP_T_STAIR_BLOCKS;
}

/* What legitimate-growth is about. */
static bool ends_by_itself(const struct seep_case *c)
{
    return c->signs->prospect == SEEP_ENDS_BY_HOLDER ||
           (!c->signs->timed && is_staircase(&c->signs->staircase, c->span->last - c->span->warm));
}

/* ---- aliased-cache: collate writes into what lives on ---------------------------------------- */

/* What a loader's worker made from several items and moved to shared memory. From then on it is the
 * trainer's, and the worker has no use for it. */
static bool is_sent_by_worker(const struct seep_case *c)
{
    return seep_case_space(c)->class == SEEP_CLASS_SHM && c->part == SEEP_PART_LOADER &&
           seep_dictionary_in_worker_loop(&c->m->dict, c->m->sites[c->sites[0]].stack);
}

/* Batches that wait to be fetched are as many from the first steps on. Workers that share out the
 * items anew in each epoch see their last ones only after several. */
static bool is_gathered_beyond_prefetch(const struct seep_case *c)
{
    const struct seep_growth *g = &c->signs->growth;
    const bool filled = !g->growing && g->plateau_gradual &&
                        g->plateau_rise >= SEEP_T_CACHE_BYTES && c->span->epoch_passed &&
                        g->plateau >= (1 - SEEP_T_PLATEAU_OFF) * c->span->epoch_steps;

    return (g->growing && seep_prospect_is_open(c->signs->prospect) && c->signs->enough_steps) ||
           c->signs->fading.fades || filled;
}

/* Whatever holds it in the worker, the line wrote it there. No second pass needs to be seen for
 * that: workers may live for one only. */
static bool judge_sent_and_kept(const struct seep_case *c, struct seep_finding *f)
{
    char each[SEEP_SIZE_TEXT];

    if (!is_sent_by_worker(c) || !is_gathered_beyond_prefetch(c))
        return false;
    seep_case_keep_retaining(c, f);
    if (f->count < SEEP_T_MANY || f->live_bytes < SEEP_T_CACHE_BYTES)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_ALIASED_CACHE, SEEP_RETENTION, SEEP_CERTAIN);
    if (c->signs->growth.growing)
        seep_case_note_growth(c, f);
    f->plateau_step = c->signs->growth.growing ? 0 : c->signs->growth.plateau;
    f->saving_bytes = f->live_bytes;
    seep_finding_note(f,
                      "Loader workers allocated %llu blocks of about %s, sent them to the trainer, "
                      "and still keep them",
                      (unsigned long long)f->count,
                      seep_text_size((double)f->live_bytes / (double)f->count, each));
    return true;
}

/* ---- worker-multiplication: what one worker holds, every worker holds ----------------------- */

/* Workers of one epoch are alive together, then those of the next replace them. */
static uint32_t at_a_time(const struct seep_case *c, const struct seep_worker_signs *w)
{
    const int64_t most = seep_level_highest(&c->signs->growth.level).bytes;
    double each = (double)w->sum_bytes / w->n;
    double n = floor((double)most / each + 0.5);
    return n < 1 ? 1 : n > w->n ? w->n : (uint32_t)n;
}

static void keep_held_sites(const struct seep_case *c, struct seep_finding *f)
{
    struct seep_held main = {0};

    for (size_t i = 0; i < c->n_sites; i++) {
        if (c->signs->sites[i].kept.bytes > main.bytes && !seep_is_work_area(c->m, c->sites[i]))
            main = c->signs->sites[i].kept;
    }
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].kept;
        if (seep_case_is_alike(its, main) && !seep_is_work_area(c->m, c->sites[i]))
            seep_finding_keep(f, c->sites[i], its.bytes, its.blocks);
    }
}

bool seep_is_worker_multiplication(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_worker_signs *w = &c->signs->workers;
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];

    if (w->n < SEEP_T_AGAIN || w->each_bytes < SEEP_T_PEAK_BYTES ||
        w->others_bytes > w->each_bytes || (c->signs->growth.growing && !c->signs->fading.fades) ||
        is_sent_by_worker(c))
        return false;
    uint32_t together = at_a_time(c, w);
    uint64_t mean = w->sum_bytes / w->n, total = mean * together;
    if (together < SEEP_T_AGAIN || !seep_case_is_large(c, total, SEEP_T_WORKER_SHARE))
        return false;
    keep_held_sites(c, f);
    f->live_bytes = total;
    f->count = w->sum_blocks / w->n * together;
    f->saving_bytes = total - mean;
    seep_finding_verdict(f, SEEP_PATTERN_WORKER_MULTIPLICATION, SEEP_RETENTION, SEEP_CERTAIN);
    seep_finding_note(f, "%u loader workers at a time hold their own %s each: %s in total",
                      together, seep_text_size((double)mean, each),
                      seep_text_size((double)total, size));
    seep_finding_note(f, "%u worker processes did so over the whole run", w->n);
    return f->n_sites > 0;
}

/* ---- caches: growth that ends when every item was seen once ------------------------------- */

struct turnover {
    uint64_t kept;      /* blocks that stay at the plateau */
    uint64_t lasting;   /* allocations that were not freed at once */
    int32_t median_age; /* of those freed */
};

static struct turnover turnover_of(const struct seep_case *c, const struct seep_finding *f)
{
    struct turnover t = {0};
    uint64_t ages[SEEP_LIFETIME_BUCKETS] = {0}, aged = 0, below = 0;

    for (size_t i = 0; i < f->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[f->sites[i]];
        uint64_t brief = seep_case_short_frees(c, site);
        t.lasting += site->totals.allocations > brief ? site->totals.allocations - brief : 0;
        for (unsigned b = 2; site->extra && b < SEEP_LIFETIME_BUCKETS; b++) {
            const uint64_t n = seep_frees_of_age(&c->m->extras[site->extra - 1].counts, b);
            ages[b] += n;
            aged += n;
        }
    }
    for (unsigned b = 2; b < SEEP_LIFETIME_BUCKETS && aged; b++) {
        below += ages[b];
        if (2 * below >= aged) {
            t.median_age = (int32_t)seep_lifetime_floor(b);
            break;
        }
    }
    t.kept = f->count;
    return t;
}

/* The last step of the first pass, or of the one with which it began. */
static int32_t pass_end(const struct seep_case *c)
{
    const struct seep_growth *g = &c->signs->growth;

    return g->began_late && g->began_end ? g->began_end : c->span->epoch_steps;
}

/* What the items of a list keep, which are objects of their own, is data wherever the line is.
 */
static bool is_of_items_kept(const struct seep_case *c)
{
    const struct seep_kept_by *k = &c->signs->kept_by;

    return k->in_entries && k->length >= SEEP_T_MANY && !k->grows && !k->bounded;
}

/* Passes over the data are known if a loader reports them; laps may not be passes, unless what
 * fills is data. */
static bool follows_passes(const struct seep_case *c)
{
    return c->span->epoch_passed && (!c->span->by_laps || c->signs->is_data || is_of_items_kept(c));
}

static bool has_cache_plateau(const struct seep_case *c)
{
    const struct seep_growth *g = &c->signs->growth;
    const int32_t epoch = c->span->epoch_steps;

    if (g->growing || g->by_process || !g->plateau_gradual || g->plateau < SEEP_T_MANY)
        return false;
    if (g->plateau_rise < SEEP_T_CACHE_BYTES ||
        g->plateau_rise * SEEP_T_TINY_SHARE < (double)c->space_peak)
        return false;
    /* Ends with the first pass over the data, where that is known. */
    return !c->span->epoch_passed || c->span->by_laps ||
           abs((int)(g->plateau - pass_end(c))) <= epoch * SEEP_T_PLATEAU_OFF;
}

/* A bounded cache is full when it is full; one that is part of the dataset, when the dataset was
 * seen once. A step or two are warm-up, and a level's points may be that far apart. */
static bool ends_with_epoch(const struct seep_case *c)
{
    double off = abs((int)(c->signs->growth.plateau - pass_end(c)));

    return off <= SEEP_T_ALIASED_OFF_EPOCH * c->span->epoch_steps +
                      2.0 * c->span->last / (SEEP_STATISTICS_MAX - 1) + 2;
}

static void note_plateau(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];

    f->plateau_step = c->signs->growth.plateau;
    seep_finding_note(f, "Grew by %s until step %d, then levelled off",
                      seep_text_size(c->signs->growth.plateau_rise, size),
                      (int)c->signs->growth.plateau);
    if (c->span->epoch_passed && c->signs->growth.began_late)
        seep_finding_note(f, "The epoch in which it began ended with step %d", (int)pass_end(c));
    else if (c->span->epoch_passed)
        seep_finding_note(f, "The first epoch ended with step %d", (int)c->span->epoch_steps);
}

static void note_fading(struct seep_finding *f, const struct seep_fading *fading)
{
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    seep_finding_note(
        f, "Each epoch adds less, the first %s, the last %s: only items that are new are kept",
        seep_text_size((double)fading->first, one), seep_text_size((double)fading->last, other));
}

static void note_turnover(struct seep_finding *f, const struct turnover *t)
{
    char each[SEEP_SIZE_TEXT];
    double block = f->count ? (double)f->live_bytes / (double)f->count : 0;

    if (f->pattern == SEEP_PATTERN_LEGITIMATE_GROWTH)
        seep_finding_note(f,
                          "Since then its size is constant while new blocks replace old ones: %llu "
                          "lasting allocations for %llu live blocks",
                          (unsigned long long)t->lasting, (unsigned long long)t->kept);
    else if (f->pattern == SEEP_PATTERN_ALIASED_CACHE)
        seep_finding_note(f,
                          "Later epochs replace old blocks with new ones: %llu lasting allocations "
                          "for %llu live blocks, each replaced after about %d steps",
                          (unsigned long long)t->lasting, (unsigned long long)t->kept,
                          (int)t->median_age);
    else
        seep_finding_note(f, "%llu blocks of about %s, each allocated once and never replaced",
                          (unsigned long long)t->kept, seep_text_size(block, each));
}

/* Keeps the line's sites if they gather items: up to a plateau, or fewer epoch by epoch. False if
 * not. */
static bool gathers(const struct seep_case *c, struct seep_finding *f, struct turnover *t)
{
    const struct seep_fading *fading = &c->signs->fading;

    if (c->signs->is_network ||
        (!has_cache_plateau(c) &&
         (!fading->fades || fading->first < SEEP_T_CACHE_BYTES || c->signs->growth.by_process)))
        return false;
    seep_case_keep_retaining(c, f);
    *t = turnover_of(c, f);
    /* Many small plateaus without a site that stands out are no cache. */
    return t->kept >= SEEP_T_MANY && f->live_bytes >= SEEP_T_CACHE_BYTES / 2;
}

static double turns(const struct turnover *t)
{
    return (double)t->lasting / (double)t->kept;
}

/* Data code is where items are kept, and a cache is full when the first pass over them ends. */
static enum seep_confidence confidence(const struct seep_case *c)
{
    return c->span->epoch_passed && c->signs->is_data   ? SEEP_CERTAIN
           : c->span->epoch_passed || c->signs->is_data ? SEEP_LIKELY
                                                        : SEEP_POSSIBLE;
}

bool seep_is_aliased_cache(const struct seep_case *c, struct seep_finding *f)
{
    struct turnover t;

    if (!ends_by_itself(c) && judge_sent_and_kept(c, f))
        return true;
    seep_finding_blank(f);
    if (c->signs->graphs || ends_by_itself(c) || !has_cache_plateau(c) || !follows_passes(c) ||
        !ends_with_epoch(c) || !gathers(c, f, &t) || turns(&t) < SEEP_T_MADE_ONCE)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_ALIASED_CACHE, SEEP_RETENTION, confidence(c));
    f->saving_bytes = f->live_bytes;
    note_plateau(c, f);
    note_turnover(f, &t);
    return true;
}

/* A cache that stopped growing costs what it costs. It is accused if it is data, or was seen to
 * follow the passes over the data; on a device, if it is large, whatever it is; not if a library
 * keeps it for itself, unless it is large. */
static bool is_worth_accusing(const struct seep_case *c, const struct seep_finding *f)
{
    const bool own = c->code->lines->is_own[c->m->sites[f->sites[0]].stack];
    const bool scarce = !seep_case_space(c)->host_like && f->live_bytes >= SEEP_T_LARGE_BYTES;

    return (c->signs->is_data || follows_passes(c) || scarce) &&
           seep_case_is_large(c, f->live_bytes, own ? SEEP_T_LARGE_SHARE : 1);
}

/* A cache that was seen to be one; false if it is too little to be told. */
static bool is_cache(const struct seep_case *c, enum seep_confidence confidence,
                     struct seep_finding *f)
{
    seep_case_keep_retaining(c, f);
    if (f->count < SEEP_T_MANY || f->live_bytes < SEEP_T_CACHE_BYTES)
        return false;
    const bool large = seep_case_is_large(c, f->live_bytes, SEEP_T_LARGE_SHARE);
    seep_finding_verdict(f, SEEP_PATTERN_FIRST_TOUCH_CACHE, large ? SEEP_RETENTION : SEEP_INFO,
                         confidence);
    f->saving_bytes = f->live_bytes;
    seep_case_note_growth(c, f);
    return true;
}

/* itertools.cycle keeps what it is given until its first pass ends, however long that is. */
static bool judge_cycled(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;

    if (!c->signs->growth.growing || !c->signs->enough_steps || !*k->text ||
        !seep_hops_have_type(k->way, "cycle") || !is_cache(c, SEEP_CERTAIN, f))
        return false;
    seep_finding_note(
        f, "Held by %s, which keeps everything from its first pass: %llu items in the snapshot",
        k->text, (unsigned long long)k->length);
    return true;
}

/* Each item keeps what was made when it was first used. */
static bool judge_items(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;

    if (c->signs->prospect != SEEP_ENDS_BY_ITEMS || c->offset_by_sibling_line ||
        !is_cache(c, SEEP_LIKELY, f))
        return false;
    seep_finding_note(f,
                      "Held by %s: the %llu entries were all there in step %d, and each keeps what "
                      "its first use makes. This ends when all were used",
                      k->text, (unsigned long long)k->length, (int)k->step);
    return true;
}

bool seep_is_first_touch_cache(const struct seep_case *c, struct seep_finding *f)
{
    const bool plateau = has_cache_plateau(c);
    struct turnover t;

    if (judge_cycled(c, f))
        return true;
    seep_finding_blank(f);
    if (judge_items(c, f))
        return true;
    seep_finding_blank(f);
    if (c->signs->graphs || ends_by_itself(c) || !gathers(c, f, &t) ||
        turns(&t) > SEEP_T_MADE_ONCE || turns(&t) < SEEP_T_MOST)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_FIRST_TOUCH_CACHE,
                         is_worth_accusing(c, f) ? SEEP_RETENTION : SEEP_INFO,
                         plateau             ? confidence(c)
                         : c->signs->is_data ? SEEP_LIKELY
                                             : SEEP_POSSIBLE);
    f->saving_bytes = f->live_bytes;
    if (plateau)
        note_plateau(c, f);
    else
        note_fading(f, &c->signs->fading);
    note_turnover(f, &t);
    return true;
}

/* ---- legitimate-growth: its holder says where it ends -----------------------------------------
 */

/* A deque with a maxlen, a cache with a maxsize, an array of fixed size: it is filling, or full. */
static bool judge_bounded(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    const struct seep_growth *g = &c->signs->growth;
    const bool fills = k->length < k->bound && g->slope.value > 0;
    const double to_come = fills ? (double)(k->bound - k->length) * k->entry_bytes : 0;
    char size[SEEP_SIZE_TEXT];

    if (c->signs->prospect != SEEP_ENDS_BY_HOLDER || (!g->growing && !g->plateau_gradual) ||
        c->signs->workers.n >= SEEP_T_AGAIN)
        return false;
    seep_case_keep_retaining(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_LEGITIMATE_GROWTH, SEEP_INFO, SEEP_CERTAIN);
    f->plateau_step = g->growing ? 0 : g->plateau;
    seep_finding_note(f, "Held by %s", k->text);
    seep_finding_note(f, "It has %llu of at most %llu entries, and takes %s when full",
                      (unsigned long long)k->length, (unsigned long long)k->bound,
                      seep_text_size((double)k->bound * k->entry_bytes, size));
    if (fills)
        seep_finding_note(f, "At this pace it is full about %.0f %ss after the snapshot",
                          to_come / g->slope.value, seep_case_unit(c));
    return f->n_sites > 0 && f->live_bytes >= SEEP_T_CACHE_BYTES;
}

/* ---- legitimate-growth: a library keeps it for itself ---------------------------------------- */

static bool judge_library(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_library_cache *cache = c->signs->cache;
    const struct seep_growth *g = &c->signs->growth;

    if (c->signs->prospect != SEEP_ENDS_BY_LIBRARY || (!g->growing && !g->plateau_gradual))
        return false;
    seep_case_keep_retaining(c, f);
    if (!f->n_sites || f->live_bytes < SEEP_T_CACHE_BYTES)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_LEGITIMATE_GROWTH, SEEP_INFO, SEEP_LIKELY);
    f->plateau_step = g->growing ? 0 : g->plateau;
    f->title = seep_text_format("%s fills up", cache->name);
    f->keeper = strdup(cache->name);
    f->advice = strdup(cache->advice);
    seep_finding_note(f,
                      cache->blocks == SEEP_LIBRARY_CACHE_EACH ? "%s has levelled off: %s"
                                                               : "%s has a bound: %s",
                      cache->name, cache->bound);
    seep_finding_note(f, "%s",
                      c->cache ? "Recognised by the functions that allocated it"
                               : "Recognised by its holder: static data of the library");
    return true;
}

/* ---- legitimate-growth: a larger block in the place of an old one, now and then -------------- */

static bool judge_staircase(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_staircase *s = &c->signs->staircase;
    const int32_t judged = c->span->last - c->span->warm;
    struct seep_doublings doublings;
    char from[SEEP_SIZE_TEXT], to[SEEP_SIZE_TEXT];

    if (c->signs->timed || judged < 2 * SEEP_T_STEPS || !is_staircase(s, judged))
        return false;
    /* Stairs that go on to the end may be a history that is joined to itself at each evaluation,
     * whereas parameters and optimizer state are many blocks and not joined in many steps. An array
     * that doubles whenever it is full has had no time for its next jump. */
    const bool ended = !seep_case_may_double(c, &doublings) &&
                       s->last_jump < c->span->last - judged / SEEP_T_ENDED;
    const bool history = c->signs->makers.joins && s->jumps >= SEEP_T_MANY;
    if (!ended && (history || (!c->signs->is_network && s->least_blocks < SEEP_T_STAIR_PARAMETERS)))
        return false;
    seep_case_keep_retaining(c, f);
    seep_finding_verdict(f, SEEP_PATTERN_LEGITIMATE_GROWTH, SEEP_INFO,
                         ended ? SEEP_CERTAIN : SEEP_POSSIBLE);
    f->plateau_step = ended ? s->last_jump : 0;
    seep_finding_note(
        f, "Grew from %s to %s in %d jumps, each time replacing a block with a larger one",
        seep_text_size((double)s->start, from), seep_text_size((double)s->end, to), s->jumps);
    seep_finding_note(f, "The number of blocks stays the same: %lld", (long long)s->most_blocks);
    if (ended)
        seep_finding_note(f, "The last jump was in step %d of %d", (int)s->last_jump,
                          (int)c->m->n_steps);
    return f->n_sites > 0;
}

/* ---- legitimate-growth: it was filled, and is turned over since -------------------------------
 */

static bool judge_full_cache(const struct seep_case *c, struct seep_finding *f)
{
    struct turnover t;

    if (c->signs->timed || !has_cache_plateau(c) || !gathers(c, f, &t) ||
        turns(&t) < SEEP_T_MADE_ONCE)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_LEGITIMATE_GROWTH, SEEP_INFO, SEEP_LIKELY);
    note_plateau(c, f);
    note_turnover(f, &t);
    return true;
}

bool seep_is_legitimate_growth(const struct seep_case *c, struct seep_finding *f)
{
    static bool (*const kinds[])(const struct seep_case *, struct seep_finding *) = {
        judge_bounded, judge_library, judge_staircase, judge_full_cache};

    /* A bound on what is kept is intended; the graph that hangs on it is not. */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !c->signs->graphs; i++) {
        seep_finding_blank(f);
        if (kinds[i](c, f))
            return true;
    }
    return false;
}
