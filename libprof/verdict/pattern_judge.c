#include "libprof/verdict/pattern_judge.h"

#include "libprof/base/text.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/step_words.h"

static const struct {
    bool (*of_line)(const struct seep_case *, struct seep_finding *);
    int (*of_job)(struct seep_case *, struct seep_finding *, bool *);
} predicates[SEEP_N_PATTERNS] = {
#define SEEP_PREDICATE_LINE(name) .of_line = seep_is_##name
#define SEEP_PREDICATE_JOB(name)  .of_job = seep_find_##name
#define SEEP_PREDICATE_LAST(name) .of_job = NULL
#define SEEP_PATTERN(id, predicate, name, scope, ...)                                              \
    [SEEP_PATTERN_##id] = {SEEP_PREDICATE_##scope(predicate)},
#include "libprof/words/patterns.def"
#undef SEEP_PATTERN
};

static bool lies_in(enum seep_space_class space, enum seep_pattern_spaces wanted)
{
    switch (wanted) {
    case SEEP_SPACES_DEVICE:
        return space == SEEP_CLASS_DEVICE || space == SEEP_CLASS_TENSOR;
    case SEEP_SPACES_PINNED:
        return space == SEEP_CLASS_PINNED;
    case SEEP_SPACES_SHM:
        return space == SEEP_CLASS_SHM;
    case SEEP_SPACES_NOT_SHM:
        return space != SEEP_CLASS_SHM;
    case SEEP_SPACES_ALL:
        break;
    }
    return true;
}

static bool is_cycle(const struct seep_kept_by *k)
{
    return k->known && k->state == SEEP_HOLDERS_CYCLE;
}

/* Who was not seen is taken for the holder that is wanted. */
static bool has_holder(const struct seep_kept_by *k, enum seep_pattern_holder wanted)
{
    switch (wanted) {
    case SEEP_HOLDER_HELD:
        return !seep_kept_by_nobody(k);
    case SEEP_HOLDER_OWNED:
        return !seep_kept_by_nobody(k) && !is_cycle(k);
    case SEEP_HOLDER_ANY:
        break;
    }
    return true;
}

static bool covers_cache(const struct seep_case *c, enum seep_pattern_caches of)
{
    switch (c->signs->prospect) {
    case SEEP_ENDS_BY_LIBRARY:
        return of == SEEP_CACHES_BOUNDED;
    case SEEP_OPEN_LIBRARY_EACH:
        return of == SEEP_CACHES_GROWING;
    default:
        return true;
    }
}

static bool covers_small_objects(const struct seep_case *c, enum seep_pattern_small of)
{
    if (c->signs->prospect == SEEP_OPEN_ARENAS)
        return of == SEEP_SMALL_ARENAS || of == SEEP_SMALL_ALL;
    if (!c->is_small_objects)
        return true;
    return of == SEEP_SMALL_HELD || of == SEEP_SMALL_ALL ||
           (of == SEEP_SMALL_CYCLE && is_cycle(&c->signs->kept_by));
}

static bool may_be(const struct seep_case *c, const struct seep_pattern_row *row)
{
    return row->scope == SEEP_SCOPE_LINE && !(row->axis == SEEP_AXIS_STEPS && c->signs->timed) &&
           lies_in(seep_case_space(c)->class, row->spaces) &&
           has_holder(&c->signs->kept_by, row->holder) && covers_cache(c, row->caches) &&
           covers_small_objects(c, row->small);
}

/* Row by row, from the table's top. */
bool seep_patterns_judge_line(const struct seep_case *c, struct seep_finding *finding)
{
    for (int i = 0; i < SEEP_N_PATTERNS; i++) {
        if (!may_be(c, seep_pattern_row((enum seep_pattern)i)))
            continue;
        seep_finding_blank(finding);
        finding->pattern = (enum seep_pattern)i;
        if (predicates[i].of_line(c, finding))
            return true;
    }
    return false;
}

int seep_patterns_judge_job(struct seep_case *c, enum seep_pattern pattern,
                            struct seep_finding *finding, bool *found)
{
    const struct seep_pattern_row *row = seep_pattern_row(pattern);
    const bool timed = c->m->step_source == SEEP_STEP_TIME;

    *found = false;
    if (row->scope != SEEP_SCOPE_JOB || (row->axis == SEEP_AXIS_STEPS && timed))
        return 0;
    finding->pattern = pattern;
    return predicates[pattern].of_job(c, finding, found);
}

const char *seep_case_unit(const struct seep_case *c)
{
    return seep_step_unit(c->signs->timed);
}

const struct seep_space_name *seep_case_space(const struct seep_case *c)
{
    return &c->m->spaces[c->space].name;
}

bool seep_case_is_alike(struct seep_held one, struct seep_held main)
{
    if (!one.bytes || !one.blocks)
        return false;
    double size = (double)one.bytes / (double)one.blocks;
    double main_size = main.blocks ? (double)main.bytes / (double)main.blocks : 0;
    return one.bytes >= main.bytes / SEEP_T_ALIKE_SHARE ||
           (size >= main_size / SEEP_T_ALIKE_SIZE && size <= main_size * SEEP_T_ALIKE_SIZE);
}

/* RSS of the process that takes most among the case's; 0: unknown. */
static uint64_t resident(const struct seep_case *c)
{
    uint64_t most = 0;

    for (uint32_t p = 0; p < c->m->n_processes; p++) {
        bool has = false;
        for (size_t i = 0; i < c->n_sites && !has; i++) {
            uint32_t k = c->m->sites[c->sites[i]].slots;
            while (k && c->m->slots[k - 1].process != p)
                k = c->m->slots[k - 1].next;
            has = k != 0;
        }
        if (has && c->m->processes[p].rss_peak_bytes > most)
            most = c->m->processes[p].rss_peak_bytes;
    }
    return most;
}

bool seep_case_is_large(const struct seep_case *c, uint64_t bytes, unsigned share)
{
    const struct seep_space_name *space = seep_case_space(c);
    const bool on_device = space->class == SEEP_CLASS_DEVICE || space->class == SEEP_CLASS_TENSOR;
    const char *kind;
    const uint64_t capacity = seep_memory_limit_of_space(c->m, c->space, 0).bytes;
    const uint64_t limit = capacity || on_device ? capacity : seep_memory_limit_of(c->m, &kind);

    if (limit ? bytes * SEEP_T_LIMIT_SHARE >= limit : bytes >= SEEP_T_LARGE_BYTES)
        return true;
    return bytes * share >= c->space_peak &&
           (!space->host_like || bytes * SEEP_T_RSS_SHARE >= resident(c));
}

bool seep_case_has_consequences(const struct seep_case *c, uint64_t bytes)
{
    const char *kind;
    const uint64_t limit = seep_memory_limit_of(c->m, &kind);

    return !seep_case_space(c)->host_like || !limit || bytes * SEEP_T_LIMIT_LEAST >= limit ||
           bytes * SEEP_T_MUCH_OF_RSS >= resident(c);
}

/* What the last steps add lies in the period in which the job ended, together with its teardown:
 * use that period's peak. */
static struct seep_held with_last_step(const struct seep_case *c, uint32_t site,
                                       struct seep_held kept)
{
    const struct seep_model_site *s = &c->m->sites[site];
    uint64_t peak = s->totals.peak_bytes;

    if (s->n_slots != 1 || s->totals.peak_step <= c->span->last || peak <= kept.bytes ||
        !kept.blocks ||
        (double)(peak - kept.bytes) > SEEP_T_LAST_STEP * c->signs->growth.slope.value)
        return kept;
    double block = (double)kept.bytes / (double)kept.blocks;
    kept.blocks += (uint64_t)((double)(peak - kept.bytes) / block + 0.5);
    if (kept.blocks > s->totals.allocations)
        kept.blocks = s->totals.allocations;
    kept.bytes = peak;
    return kept;
}

/* What was added since training began, if there was something before. */
static struct seep_held gained(struct seep_held now, struct seep_held start)
{
    return (struct seep_held){now.bytes > start.bytes ? now.bytes - start.bytes : 0,
                              now.blocks > start.blocks ? now.blocks - start.blocks : now.blocks};
}

/* Where memory grows, what stays the same beside it (a batch, a work area) is no part of it. */
static bool is_retaining(const struct seep_case *c, size_t i)
{
    const struct seep_growth *g = &c->signs->growth;

    return !g->growing || g->by_process || seep_site_grew(&c->signs->sites[i]);
}

void seep_case_keep_retaining(const struct seep_case *c, struct seep_finding *f)
{
    struct seep_held main = {0};
    double all = 0, alike = 0;

    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < c->n_sites; i++) {
            if (!is_retaining(c, i))
                continue;
            struct seep_held now = with_last_step(c, c->sites[i], c->signs->sites[i].kept);
            struct seep_held its = gained(now, c->signs->sites[i].start);
            const bool is_alike = pass > 0 && seep_case_is_alike(its, main);
            if (pass == 0 && its.bytes > main.bytes)
                main = its;
            all += pass == 0 ? (double)its.bytes : 0;
            alike += pass == 1 && is_alike ? (double)its.bytes : 0;
            if (pass == 2 && (is_alike || (its.bytes && alike < SEEP_T_MOST * all)))
                seep_finding_keep(f, c->sites[i], now.bytes, now.blocks);
        }
    }
}

bool seep_site_has_many_sizes(const struct seep_model *m, const struct seep_model_site *site)
{
    return site->extra &&
           __builtin_popcountll(m->extras[site->extra - 1].size_marks) >= SEEP_T_MANY_SIZES;
}

uint64_t seep_case_short_frees(const struct seep_case *c, const struct seep_model_site *site)
{
    if (!site->extra)
        return site->first_step == site->last_step ? site->totals.frees : 0;
    const struct seep_model_extra *e = &c->m->extras[site->extra - 1];
    return seep_frees_of_age(&e->counts, 0) + seep_frees_of_age(&e->counts, 1);
}

static void note_shape(const struct seep_growth *g, struct seep_finding *f)
{
    const char *plateau = g->growing ? "; never levels off" : "";

    if (g->shape.rising == g->shape.windows)
        seep_finding_note(f,
                          "Rises in all %u parts of the run"
                          "%s",
                          g->shape.windows, plateau);
    else
        seep_finding_note(f,
                          "Rises in %u of %u parts of the run"
                          "%s",
                          g->shape.rising, g->shape.windows, plateau);
}

void seep_case_note_growth(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_growth *g = &c->signs->growth;
    const char *unit = seep_case_unit(c);
    char span[SEEP_SPAN_TEXT];

    f->growth = g->slope;
    f->returns = g->by_process && !(g->past_epoch && c->span->epochs_known);
    seep_finding_note_pace(f, unit, seep_text_span(unit, g->from, g->to, span));
    note_shape(g, f);
    if (g->by_process)
        seep_finding_note(f, "Measured within each process: some ended before the job did");
}

bool seep_case_comes_in_bursts(const struct seep_case *c)
{
    const struct seep_sawtooth *s = &c->signs->sawtooth;

    return s->falls >= SEEP_T_SERIES && s->rise > 0 && s->top - s->base >= SEEP_T_CACHE_BYTES &&
           (s->top - s->base) * SEEP_T_NEGLIGIBLE >= (double)c->space_peak &&
           s->rising >= SEEP_T_RISING * s->steps;
}
