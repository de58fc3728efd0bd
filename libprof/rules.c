/* One function a pattern; docs on what tells them apart stand beside each. A further pattern is a
 * further function in the table at the end. */
#include "libprof/diagnose.h"

#include "libprof/text.h"

#include <math.h>
#include <stdlib.h>

enum {
    MIN_ITEMS = 8,               /* blocks that make "one per item" a pattern */
    MIN_SHOWN_BYTES = 64 * 1024, /* growth below is CPython's own housekeeping */
    MIN_CACHE_BYTES = 256 * 1024,
    LARGE_BYTES = 16 * 1024 * 1024, /* worth a word whatever its share */
    MIN_STEPS = 10,
    MIN_TIMED_SLICES = 30,
};

static const unsigned data_roles =
    1u << SEEP_SITE_DATASET | 1u << SEEP_SITE_LOADER | 1u << SEEP_SITE_CAMERA;
static const unsigned network_roles = 1u << SEEP_SITE_MODEL | 1u << SEEP_SITE_OPTIMIZER |
                                      1u << SEEP_SITE_BACKWARD | 1u << SEEP_SITE_CHECKPOINT |
                                      1u << SEEP_SITE_COLLECTIVE;

static bool is_data(const struct seep_case *c)
{
    return (data_roles >> c->role) & 1;
}

static uint64_t live_at(const struct seep_case *c, uint32_t site, int32_t step, uint64_t *blocks)
{
    struct seep_level level = {0};
    struct seep_level_point p = {0};

    if (!seep_level_sum(c->m, &site, 1, SEEP_LEVEL_ALL, &level))
        p = seep_level_at(&level, step);
    seep_level_fini(&level);
    *blocks = p.blocks > 0 ? (uint64_t)p.blocks : 0;
    return p.bytes > 0 ? (uint64_t)p.bytes : 0;
}

/* Whether a site's blocks have one size. Only a detail record knows sizes one by one; where the
 * blocks came before it was made, an even division says the same with good odds. */
static bool equal_sizes(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_totals *t = &site->totals;
    const struct seep_model_extra *e = site->extra ? &c->m->extras[site->extra - 1] : NULL;

    if (!t->allocations)
        return false;
    if (e && e->max_bytes)
        return e->max_bytes - e->min_bytes <= e->max_bytes / 4 &&
               fabs((double)t->allocated_bytes / (double)t->allocations - (double)e->max_bytes) <=
                   0.25 * (double)e->max_bytes;
    return t->allocated_bytes % t->allocations == 0 || is_data(c);
}

static void keep_site(struct seep_finding *f, uint32_t site, uint64_t bytes, uint64_t blocks)
{
    f->sites[f->n_sites++] = site;
    f->live_bytes += bytes;
    f->count += blocks;
}

/* ---- eager-retention: everything is loaded before the first step, and stays ----------------- */

static bool is_eager_site(const struct seep_case *c, uint32_t id, uint64_t *bytes, uint64_t *blocks)
{
    const struct seep_model_site *site = &c->m->sites[id];
    uint64_t blocks_at_1, bytes_at_1 = live_at(c, id, 1, &blocks_at_1);

    *bytes = live_at(c, id, c->span->last, blocks);
    return site->first_step <= 1 && *blocks && *bytes == bytes_at_1 && *blocks == blocks_at_1 &&
           (double)site->totals.allocations <= 1.1 * (double)*blocks && equal_sizes(c, site);
}

/* Of one line, the site that holds the items. */
static bool find_items(const struct seep_case *c, uint64_t *bytes, uint64_t *blocks)
{
    uint64_t its_bytes, its_blocks;

    *bytes = *blocks = 0;
    for (size_t i = 0; i < c->n_sites; i++) {
        if (is_eager_site(c, c->sites[i], &its_bytes, &its_blocks) && its_blocks >= MIN_ITEMS &&
            its_bytes > *bytes) {
            *bytes = its_bytes;
            *blocks = its_blocks;
        }
    }
    return *bytes != 0;
}

/* Whether a site holds the same kind of thing as the line's main one: the objects around the data
 * (headers, storages) are not what is counted, an item made by way of another function is. */
static bool is_alike(uint64_t bytes, uint64_t blocks, uint64_t main_bytes, uint64_t main_blocks)
{
    if (!bytes || !blocks)
        return false;
    double size = (double)bytes / (double)blocks;
    double main_size = main_blocks ? (double)main_bytes / (double)main_blocks : 0;
    return bytes >= main_bytes / 4 || (size >= main_size / 2 && size <= main_size * 2);
}

static bool judge_eager(const struct seep_case *c, struct seep_finding *f)
{
    uint64_t bytes, blocks, main_bytes, main_blocks;

    if (c->m->step_source == SEEP_STEP_TIME || c->span->last < 2 || (c->roles & network_roles))
        return false;
    if (!find_items(c, &main_bytes, &main_blocks))
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        if (is_eager_site(c, c->sites[i], &bytes, &blocks) &&
            is_alike(bytes, blocks, main_bytes, main_blocks))
            keep_site(f, c->sites[i], bytes, blocks);
    }
    bool large =
        f->live_bytes * 10 >= c->space_peak || (is_data(c) && f->live_bytes >= LARGE_BYTES);
    if (!large || f->live_bytes < MIN_CACHE_BYTES)
        return false;
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];
    f->pattern = SEEP_PATTERN_EAGER_RETENTION;
    f->severity = SEEP_RETENTION;
    f->confidence = is_data(c) ? 0.95 : 0.8;
    seep_finding_note(f, "%llu blocks of %s, all made before step 1 was over",
                      (unsigned long long)f->count,
                      seep_text_size((double)f->live_bytes / (double)f->count, each));
    seep_finding_note(f, "none was freed up to step %d, none was added", (int)c->span->last);
    seep_finding_note(
        f, "%s, %.0f %% of the peak of %s", seep_text_size((double)f->live_bytes, size),
        100.0 * (double)f->live_bytes / (double)c->space_peak, c->m->spaces[c->space].name);
    return true;
}

/* ---- caches: growth that ends when every item was seen once ------------------------------- */

/* Frees of a site by age: those of blocks that never outlived the step after their own. */
static uint64_t short_frees(const struct seep_case *c, const struct seep_model_site *site)
{
    if (!site->extra)
        return site->first_step == site->last_step ? site->totals.frees : 0;
    const struct seep_model_extra *e = &c->m->extras[site->extra - 1];
    return e->lifetimes[0] + e->lifetimes[1];
}

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
        uint64_t brief = short_frees(c, site);
        t.lasting += site->totals.allocations > brief ? site->totals.allocations - brief : 0;
        for (int b = 2; site->extra && b < SEEP_LIFETIME_BUCKETS; b++) {
            ages[b] += c->m->extras[site->extra - 1].lifetimes[b];
            aged += c->m->extras[site->extra - 1].lifetimes[b];
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

/* What a site keeps: at the end of the last step; or, where processes ended before, at its most. */
static uint64_t kept_by(const struct seep_case *c, uint32_t site, uint64_t *blocks)
{
    struct seep_level level = {0};
    struct seep_level_point p = {0};

    if (!c->growth->by_process)
        return live_at(c, site, c->growth->to, blocks);
    if (!seep_level_sum(c->m, &site, 1, SEEP_LEVEL_ALL, &level)) {
        for (size_t i = 0; i < level.n; i++) {
            if (level.points[i].bytes > p.bytes)
                p = level.points[i];
        }
    }
    seep_level_fini(&level);
    *blocks = p.blocks > 0 ? (uint64_t)p.blocks : 0;
    return (uint64_t)p.bytes;
}

/* What the last steps add lies in the period that the job ended in, together with its teardown: the
 * peak of that period tells. */
static void add_last_step(const struct seep_case *c, uint32_t site, uint64_t *bytes,
                          uint64_t *blocks)
{
    const struct seep_model_site *s = &c->m->sites[site];
    uint64_t peak = s->totals.peak_bytes;

    if (s->n_parts != 1 || s->totals.peak_step <= c->span->last || peak <= *bytes || !*blocks)
        return;
    if ((double)(peak - *bytes) > 3 * c->growth->slope.value)
        return;
    *blocks += (uint64_t)((double)(peak - *bytes) / ((double)*bytes / (double)*blocks) + 0.5);
    if (*blocks > s->totals.allocations)
        *blocks = s->totals.allocations;
    *bytes = peak;
}

/* The sites that hold the plateau: those with a fair share of what was kept on the way to it. */
static void keep_retaining_sites(const struct seep_case *c, struct seep_finding *f)
{
    uint64_t largest = 0, its_blocks = 0, blocks, before;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < c->n_sites; i++) {
            uint64_t bytes = kept_by(c, c->sites[i], &blocks);
            add_last_step(c, c->sites[i], &bytes, &blocks);
            uint64_t start = live_at(c, c->sites[i], 0, &before);
            uint64_t kept = bytes > start ? bytes - start : 0;
            if (pass == 0 && kept > largest) {
                largest = kept;
                its_blocks = blocks > before ? blocks - before : blocks;
            }
            if (pass == 1 &&
                is_alike(kept, blocks > before ? blocks - before : blocks, largest, its_blocks))
                keep_site(f, c->sites[i], bytes, blocks);
        }
    }
}

static bool has_cache_plateau(const struct seep_case *c)
{
    const struct seep_growth *g = c->growth;
    int32_t epoch = c->span->epoch_steps;

    if (c->m->step_source == SEEP_STEP_TIME || (c->roles & network_roles) || g->growing ||
        g->by_process)
        return false;
    if (!g->plateau_gradual || g->plateau < MIN_ITEMS || g->plateau_rise < MIN_CACHE_BYTES)
        return false;
    if (g->plateau_rise * 100 < (double)c->space_peak)
        return false;
    /* Ends with the first pass over the data, where that is known. */
    return !c->span->epoch_passed || abs((int)(g->plateau - epoch)) <= epoch * 0.4;
}

static bool judge_cache(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];

    if (!has_cache_plateau(c))
        return false;
    keep_retaining_sites(c, f);
    struct turnover t = turnover_of(c, f);
    if (t.kept < MIN_ITEMS)
        return false;
    double turns = (double)t.lasting / (double)t.kept;
    bool aliased = turns >= 1.25 && c->span->epoch_passed;
    if (!aliased && turns > 1.15)
        return false;
    f->pattern = aliased ? SEEP_PATTERN_ALIASED_CACHE : SEEP_PATTERN_FIRST_TOUCH_CACHE;
    f->severity = SEEP_RETENTION;
    f->plateau_step = c->growth->plateau;
    f->confidence = (c->span->epoch_passed ? 0.75 : 0.6) + (is_data(c) ? 0.2 : 0);
    seep_finding_note(f, "grew by %s until step %d, and has kept that since",
                      seep_text_size(c->growth->plateau_rise, size), (int)c->growth->plateau);
    if (c->span->epoch_passed)
        seep_finding_note(f, "the first epoch ended with step %d", (int)c->span->epoch_steps);
    if (aliased)
        seep_finding_note(f,
                          "later epochs put a new block in the place of an old one: %llu lasting "
                          "allocations for %llu kept blocks, replaced at an age of about %d steps",
                          (unsigned long long)t.lasting, (unsigned long long)t.kept,
                          (int)t.median_age);
    else
        seep_finding_note(f, "%llu blocks, each made once and never replaced",
                          (unsigned long long)t.kept);
    return true;
}

/* ---- growth without an end ---------------------------------------------------------------- */

static void note_growth(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_growth *g = c->growth;
    char value[SEEP_SIZE_TEXT], low[SEEP_SIZE_TEXT], high[SEEP_SIZE_TEXT];

    f->growth = g->slope;
    f->returns = g->by_process && !(g->past_epoch && c->span->epochs_known);
    seep_finding_note(f, "grows by %s a step (95 %% interval %s to %s), steps %d to %d",
                      seep_text_size(g->slope.value, value), seep_text_size(g->slope.low, low),
                      seep_text_size(g->slope.high, high), (int)g->from, (int)g->to);
    seep_finding_note(f, "rises in %u of %u windows, no plateau, trend z = %.1f", g->shape.rising,
                      g->shape.windows, g->z);
    if (g->by_process)
        seep_finding_note(f, "measured within each process: some ended before the job did");
}

static bool enough_steps(const struct seep_case *c)
{
    int32_t judged = c->growth->to - c->growth->from;

    return judged >= (c->m->step_source == SEEP_STEP_TIME ? MIN_TIMED_SLICES : MIN_STEPS);
}

static bool judge_unbounded(const struct seep_case *c, struct seep_finding *f)
{
    if (!c->growth->growing || !enough_steps(c))
        return false;
    if (!c->growth->past_epoch)
        return false;
    keep_retaining_sites(c, f);
    f->pattern = SEEP_PATTERN_UNBOUNDED_GROWTH;
    f->severity = SEEP_LEAK;
    f->confidence = c->m->step_source == SEEP_STEP_TIME ? 0.6 : c->span->epoch_passed ? 0.95 : 0.85;
    note_growth(c, f);
    if (c->span->epoch_passed)
        seep_finding_note(f, "goes on after the first epoch (%d steps)", (int)c->span->epoch_steps);
    return f->n_sites > 0;
}

/* Growth that may yet end: too few steps, or none past the first epoch. */
static bool judge_undetermined(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_growth *g = c->growth;
    bool timed = c->m->step_source == SEEP_STEP_TIME;

    if (g->slope.low <= 0 || g->to - g->from < 4)
        return false;
    double total = g->slope.value * (g->to - g->from);
    bool steady =
        g->growing || (g->shape.windows && g->shape.rising >= 0.75 * g->shape.windows &&
                       g->shape.falling == 0 && g->shape.late_share > 0.15 && g->shape.fall < 0.25);
    if (!steady || total < MIN_SHOWN_BYTES)
        return false;
    /* Little data carries only what is large. */
    if (!enough_steps(c) && (total * 50 < (double)c->space_peak || total < MIN_CACHE_BYTES))
        return false;
    if (timed && !c->frames->is_own[c->m->sites[c->sites[0]].stack])
        return false;
    keep_retaining_sites(c, f);
    f->pattern = SEEP_PATTERN_UNDETERMINED;
    f->severity = SEEP_LEAK;
    f->confidence = 0.5;
    note_growth(c, f);
    if (c->span->epochs_known && !c->span->epoch_passed)
        seep_finding_note(f,
                          "the run ended within the first epoch: first-touch-cache, aliased-cache, "
                          "graph-retention and unbounded-growth look alike until then");
    else if (g->by_process)
        seep_finding_note(f, "each process lived for one epoch at most: a cache that fills "
                             "(first-touch-cache, aliased-cache) and unbounded-growth look alike");
    else
        seep_finding_note(f, "only %d %s after the warm-up: a plateau could not show",
                          (int)(g->to - g->from), timed ? "time slices" : "steps");
    return f->n_sites > 0;
}

typedef bool (*judge_fn)(const struct seep_case *, struct seep_finding *);

bool seep_rules_judge(const struct seep_case *c, struct seep_finding *finding)
{
    static const judge_fn rules[] = {judge_eager, judge_cache, judge_unbounded, judge_undetermined};

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        finding->n_sites = 0;
        finding->live_bytes = finding->count = 0;
        if (rules[i](c, finding))
            return true;
    }
    return false;
}
