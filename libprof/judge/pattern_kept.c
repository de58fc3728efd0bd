/* Memory that is kept for good, and does not grow without an end: loaded up front, gathered until
 * every item was seen, or held once for each worker. */
#include "libprof/judge/pattern_rules.h"

#include "libprof/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a site's blocks look like items of one kind: of the data's side, whatever their sizes; of
 * others, if they have one size. Only a detail record knows sizes one by one; where the blocks came
 * before it was made, an even division says the same with good odds. */
static bool is_of_items(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_totals *t = &site->totals;
    const struct seep_model_extra *e = site->extra ? &c->m->extras[site->extra - 1] : NULL;

    if (!t->allocations || seep_rule_is_data(c))
        return t->allocations != 0;
    if (e && e->max_bytes)
        return e->max_bytes - e->min_bytes <= e->max_bytes / 4 &&
               fabs((double)t->allocated_bytes / (double)t->allocations - (double)e->max_bytes) <=
                   0.25 * (double)e->max_bytes;
    return t->allocated_bytes % t->allocations == 0;
}

/* ---- eager-retention: everything is loaded before the first step, and stays ----------------- */

static bool is_eager_site(const struct seep_case *c, uint32_t id, uint64_t *bytes, uint64_t *blocks)
{
    const struct seep_model_site *site = &c->m->sites[id];
    uint64_t blocks_at_1, bytes_at_1 = seep_rule_live_at(c, id, 1, &blocks_at_1);

    *bytes = seep_rule_live_at(c, id, c->span->last, blocks);
    return site->first_step <= 1 && *blocks && *bytes == bytes_at_1 && *blocks == blocks_at_1 &&
           (double)site->totals.allocations <= 1.1 * (double)*blocks && is_of_items(c, site);
}

/* Of one line, the site that holds the items. */
static bool find_items(const struct seep_case *c, uint64_t *bytes, uint64_t *blocks)
{
    uint64_t its_bytes, its_blocks;

    *bytes = *blocks = 0;
    for (size_t i = 0; i < c->n_sites; i++) {
        if (is_eager_site(c, c->sites[i], &its_bytes, &its_blocks) &&
            its_blocks >= SEEP_RULE_ITEMS && its_bytes > *bytes) {
            *bytes = its_bytes;
            *blocks = its_blocks;
        }
    }
    return *bytes != 0;
}

bool seep_rule_eager_retention(const struct seep_case *c, struct seep_finding *f)
{
    uint64_t bytes, blocks, main_bytes, main_blocks;

    if (seep_rule_is_timed(c) || c->span->last < 2 || seep_rule_is_network(c))
        return false;
    if (!find_items(c, &main_bytes, &main_blocks))
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        if (is_eager_site(c, c->sites[i], &bytes, &blocks) &&
            seep_rule_is_alike(bytes, blocks, main_bytes, main_blocks))
            seep_rule_keep_site(f, c->sites[i], bytes, blocks);
    }
    bool data = seep_rule_is_data(c);
    bool large =
        f->live_bytes * 10 >= c->space_peak || (data && f->live_bytes >= SEEP_RULE_LARGE_BYTES);
    if (!large || f->live_bytes < SEEP_RULE_CACHE_BYTES)
        return false;
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];
    seep_rule_verdict(f, SEEP_PATTERN_EAGER_RETENTION, SEEP_RETENTION, data ? 0.95 : 0.8);
    f->saving_bytes = f->live_bytes - f->live_bytes / f->count;
    seep_finding_note(f, "%llu blocks of %s, all made before step 1 was over",
                      (unsigned long long)f->count,
                      seep_text_size((double)f->live_bytes / (double)f->count, each));
    seep_finding_note(f, "none was freed up to step %d, none was added", (int)c->span->last);
    seep_finding_note(
        f, "%s, %.0f %% of the peak of %s", seep_text_size((double)f->live_bytes, size),
        100.0 * (double)f->live_bytes / (double)c->space_peak, seep_rule_space(c)->text);
    return true;
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
        uint64_t brief = seep_rule_short_frees(c, site);
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

bool seep_rule_fades(const struct seep_case *c, int64_t *first, int64_t *last)
{
    const struct seep_model *m = c->m;
    int64_t before = 0;
    size_t epochs = 0;

    *first = *last = 0;
    for (size_t e = 0; e + 1 <= m->n_epoch_starts; e++) {
        /* What was there before step 1 was over is no gain of an epoch's. */
        int32_t from = m->epoch_starts[e] > 2 ? m->epoch_starts[e] - 1 : 1;
        int32_t to = e + 1 < m->n_epoch_starts ? m->epoch_starts[e + 1] - 1 : c->span->last;
        if (to - from < c->span->epoch_steps * 9 / 10)
            break;
        int64_t gained = seep_level_at(&c->growth->level, to).bytes -
                         seep_level_at(&c->growth->level, from).bytes;
        if (epochs++ && (double)gained > 0.75 * (double)before)
            return false;
        if (!*first)
            *first = gained;
        *last = before = gained;
    }
    return epochs >= 3 && *first > 0;
}

static bool has_cache_plateau(const struct seep_case *c)
{
    const struct seep_growth *g = c->growth;
    int32_t epoch = c->span->epoch_steps;

    if (g->growing || g->by_process || !g->plateau_gradual || g->plateau < SEEP_RULE_ITEMS)
        return false;
    if (g->plateau_rise < SEEP_RULE_CACHE_BYTES || g->plateau_rise * 100 < (double)c->space_peak)
        return false;
    /* Ends with the first pass over the data, where that is known. */
    return !c->span->epoch_passed || abs((int)(g->plateau - epoch)) <= epoch * 0.4;
}

/* A bounded cache is full when it is full, one that has become part of the dataset when the dataset
 * was seen once. */
static bool ends_with_epoch(const struct seep_case *c)
{
    double off = abs((int)(c->growth->plateau - c->span->epoch_steps));

    return off <= 0.15 * c->span->epoch_steps + 0.02 * c->span->last + 2;
}

static void note_plateau(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];

    f->plateau_step = c->growth->plateau;
    seep_finding_note(f, "grew by %s until step %d, and has kept that since",
                      seep_text_size(c->growth->plateau_rise, size), (int)c->growth->plateau);
    if (c->span->epoch_passed)
        seep_finding_note(f, "the first epoch ended with step %d", (int)c->span->epoch_steps);
}

static void note_fading(struct seep_finding *f, int64_t first, int64_t last)
{
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    seep_finding_note(f, "each epoch adds less, the first %s, the last %s: items not seen before",
                      seep_text_size((double)first, one), seep_text_size((double)last, other));
}

static void note_turnover(struct seep_finding *f, const struct turnover *t)
{
    char each[SEEP_SIZE_TEXT];
    double block = f->count ? (double)f->live_bytes / (double)f->count : 0;

    if (f->pattern == SEEP_PATTERN_ALIASED_CACHE)
        seep_finding_note(f,
                          "later epochs put a new block in the place of an old one: %llu lasting "
                          "allocations for %llu kept blocks, replaced at an age of about %d steps",
                          (unsigned long long)t->lasting, (unsigned long long)t->kept,
                          (int)t->median_age);
    else
        seep_finding_note(f, "%llu blocks of about %s, each made once and never replaced",
                          (unsigned long long)t->kept, seep_text_size(block, each));
}

bool seep_rule_cache(const struct seep_case *c, struct seep_finding *f)
{
    int64_t first = 0, last = 0;
    bool plateau = has_cache_plateau(c);

    if (seep_rule_is_timed(c) || seep_rule_is_network(c))
        return false;
    if (!plateau && (!seep_rule_fades(c, &first, &last) || first < SEEP_RULE_CACHE_BYTES ||
                     c->growth->by_process))
        return false;
    seep_rule_keep_retaining_sites(c, f);
    struct turnover t = turnover_of(c, f);
    /* Many small ends that no site stands out of are no cache. */
    if (t.kept < SEEP_RULE_ITEMS || f->live_bytes < SEEP_RULE_CACHE_BYTES / 2)
        return false;
    double turns = (double)t.lasting / (double)t.kept;
    bool aliased = plateau && turns >= 1.25 && c->span->epoch_passed && ends_with_epoch(c);
    if (!aliased && (turns > 1.15 || turns < 0.8))
        return false; /* below: what is live at a time comes and goes with the steps */
    double sure = (c->span->epoch_passed ? 0.75 : 0.6) + (seep_rule_is_data(c) ? 0.2 : 0);
    seep_rule_verdict(f, aliased ? SEEP_PATTERN_ALIASED_CACHE : SEEP_PATTERN_FIRST_TOUCH_CACHE,
                      SEEP_RETENTION, plateau ? sure : sure - 0.1);
    f->saving_bytes = f->live_bytes;
    if (plateau)
        note_plateau(c, f);
    else
        note_fading(f, first, last);
    note_turnover(f, &t);
    return true;
}

/* ---- worker-multiplication: what one worker holds, every worker holds ----------------------- */

struct workers {
    uint32_t n;          /* loader workers that hold about as much as the one with most */
    uint64_t each_bytes; /* least of them */
    uint64_t sum_bytes, sum_blocks;
    uint64_t others_bytes; /* held by other processes */
};

/* What a process holds as it ends; 0 where most of that came in the second half of its life. */
static uint64_t held_by(const struct seep_case *c, uint32_t process, struct seep_level *level,
                        uint64_t *blocks)
{
    *blocks = 0;
    if (seep_level_sum(c->m, c->sites, c->n_sites, process, level) || !level->n)
        return 0;
    int32_t from = level->points[0].step, end = c->m->processes[process].end_step;
    int32_t to = end > c->span->last ? c->span->last : end - 1;
    if (to <= from)
        return 0;
    struct seep_level_point middle = seep_level_at(level, from + (to - from) / 2);
    struct seep_level_point last = seep_level_at(level, to);
    if (middle.bytes <= 0 || (double)middle.bytes < 0.75 * (double)last.bytes)
        return 0;
    *blocks = last.blocks > 0 ? (uint64_t)last.blocks : 0;
    return last.bytes > 0 ? (uint64_t)last.bytes : 0;
}

static struct workers weigh_workers(const struct seep_case *c)
{
    struct workers w = {0};
    struct seep_level level = {0};
    uint64_t most = 0, blocks;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t p = 0; p < c->m->n_processes; p++) {
            uint64_t held = held_by(c, p, &level, &blocks);
            bool worker = c->m->processes[p].role == SEEP_ROLE_WORKER;
            if (pass == 0 && worker && held > most)
                most = held;
            if (pass == 0 && !worker)
                w.others_bytes += held;
            if (pass == 1 && worker && held * 2 >= most && held) {
                w.each_bytes = !w.n || held < w.each_bytes ? held : w.each_bytes;
                w.n++;
                w.sum_bytes += held;
                w.sum_blocks += blocks;
            }
        }
    }
    seep_level_fini(&level);
    return w;
}

/* Workers of one epoch live together, those of the next take their place. */
static uint32_t at_a_time(const struct seep_case *c, const struct workers *w)
{
    int64_t most = 0;

    for (size_t i = 0; i < c->growth->level.n; i++) {
        if (c->growth->level.points[i].bytes > most)
            most = c->growth->level.points[i].bytes;
    }
    double each = (double)w->sum_bytes / w->n;
    double n = floor((double)most / each + 0.5);
    return n < 1 ? 1 : n > w->n ? w->n : (uint32_t)n;
}

static void keep_held_sites(const struct seep_case *c, struct seep_finding *f)
{
    uint64_t largest = 0, its_blocks = 0, blocks;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < c->n_sites; i++) {
            uint64_t bytes = seep_rule_kept_by(c, c->sites[i], &blocks);
            if (pass == 0 && bytes > largest) {
                largest = bytes;
                its_blocks = blocks;
            }
            if (pass == 1 && seep_rule_is_alike(bytes, blocks, largest, its_blocks))
                seep_rule_keep_site(f, c->sites[i], bytes, blocks);
        }
    }
}

bool seep_rule_worker_multiplication(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];
    int64_t first, last;

    if (seep_rule_is_timed(c) || !c->has_workers ||
        (c->growth->growing && !seep_rule_fades(c, &first, &last)))
        return false;
    struct workers w = weigh_workers(c);
    if (w.n < 2 || w.each_bytes < SEEP_RULE_PEAK_BYTES || w.others_bytes > w.each_bytes)
        return false;
    uint32_t together = at_a_time(c, &w);
    uint64_t mean = w.sum_bytes / w.n, total = mean * together;
    if (together < 2 || (total * 10 < c->space_peak && total < SEEP_RULE_LARGE_BYTES))
        return false;
    keep_held_sites(c, f);
    f->live_bytes = total;
    f->count = w.sum_blocks / w.n * together;
    f->saving_bytes = total - mean;
    seep_rule_verdict(f, SEEP_PATTERN_WORKER_MULTIPLICATION, SEEP_RETENTION, 0.9);
    seep_finding_note(f, "%u loader workers at a time hold %s each, of their own: %s together",
                      together, seep_text_size((double)mean, each),
                      seep_text_size((double)total, size));
    seep_finding_note(f, "%u worker processes in the whole run did so", w.n);
    return f->n_sites > 0;
}
