/* Findings on what is resident and grows while no line's blocks do: the kernel ends a job by that.
 * And on what it counts against the job though no process has it. */
#include "libprof/base/text.h"
#include "libprof/code/code.h"
#include "libprof/code/packages/library_allocators.h"
#include "libprof/measure/doublings.h"
#include "libprof/measure/growth.h"
#include "libprof/measure/resident/resident_instant.h"
#include "libprof/measure/span.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/finding_list.h"
#include "libprof/verdict/work_areas.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/step_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- whose maps grow ------------------------------------------------------------------------- */

/* A library that has an allocator of its own maps at many places of the job's code, so its maps are
 * judged as one. */
struct grown_map {
    uint32_t site;
    int64_t bytes; /* that it gained */
};

struct grown_maps {
    struct grown_map *list; /* of one library, or one line: most first */
    size_t n;               /* 0: nobody's maps gained so much */
    int64_t bytes;          /* that they gained together */
};

/* Who asked for maps. */
struct owner {
    char package[SEEP_PACKAGE_NAME]; /* "": no library, so */
    uint32_t line;                   /* of the job */
    int64_t gained, has;
};

struct owners {
    struct owner *list;
    size_t n, capacity;
};

static bool is_map(const struct seep_model *m, enum seep_space_class class, uint32_t site)
{
    return m->spaces[m->sites[site].space].name.class == class && !seep_is_arena(m, site);
}

static struct owner owner_of(const struct seep_code *code, uint32_t site)
{
    const uint32_t stack = code->model->sites[site].stack;
    struct owner its = {.line = 0};

    if (!seep_package_that_asked(code, stack, its.package))
        its.line = code->lines->line_of[code->lines->shown[stack]];
    return its;
}

/* NULL: no memory. */
static struct owner *find_owner(struct owners *all, const struct owner *wanted)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].line == wanted->line && !strcmp(all->list[i].package, wanted->package))
            return &all->list[i];
    if (seep_grow(&all->list, &all->capacity, all->n + 1, sizeof *all->list))
        return NULL;
    all->list[all->n] = *wanted;
    return &all->list[all->n++];
}

static int add_up(const struct seep_code *code, enum seep_space_class class, uint32_t process,
                  int32_t from, int32_t to, struct owners *all, struct grown_map *grown)
{
    struct seep_level level = {0};
    int rc = 0;

    for (uint32_t i = 0; i < code->model->n_sites && !rc; i++) {
        if (!is_map(code->model, class, i))
            continue;
        rc = seep_level_sum(code->model, &i, 1, process, &level);
        const int64_t has = rc ? 0 : seep_level_at(&level, to).bytes;
        const struct owner wanted = owner_of(code, i);
        struct owner *its = find_owner(all, &wanted);
        if (!its)
            rc = -SEEP_ENOMEM;
        if (rc)
            break;
        grown[i].bytes = has - seep_level_at(&level, from).bytes;
        its->has += has;
        its->gained += grown[i].bytes;
    }
    seep_level_fini(&level);
    return rc;
}

/* NULL: nobody. *bytes: what it has gained or may have. */
static const struct owner *choose(const struct owners *owners, double all, int64_t *bytes)
{
    const struct owner *gains = NULL, *has = NULL;

    for (size_t i = 0; i < owners->n; i++) {
        const struct owner *its = &owners->list[i];
        if ((double)its->gained >= SEEP_T_HALF * all && (!gains || its->gained > gains->gained))
            gains = its;
        if ((double)its->has >= all && (!has || its->has > has->has))
            has = its;
    }
    *bytes = gains ? gains->gained : (int64_t)all;
    return gains ? gains : has;
}

static int most_first(const void *a, const void *b)
{
    const struct grown_map *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->site > y->site) - (x->site < y->site);
}

/* Leaves in out->list, which has what each site gained, what is the owner's. */
static void keep(const struct seep_code *code, enum seep_space_class class,
                 const struct owner *owner, struct grown_maps *out)
{
    for (uint32_t i = 0; owner && i < code->model->n_sites; i++) {
        if (!is_map(code->model, class, i))
            continue;
        const struct owner its = owner_of(code, i);
        if (its.line == owner->line && strcmp(its.package, owner->package) == 0)
            out->list[out->n++] = (struct grown_map){i, out->list[i].bytes};
    }
    if (out->n)
        qsort(out->list, out->n, sizeof *out->list, most_first);
}

/* The maps of a class (private ones: SEEP_CLASS_MMAP, or SEEP_CLASS_SHM) of the library, or of the
 * line where no library asks, that gained most in a process from one step to another: at least half
 * of `all` bytes. Or, for they may be counted whole from the start, those of whoever has most.
 * Python's own arenas are judged elsewhere. Returns 0 or -SEEP_ENOMEM. Allocates: out->list, to be
 * freed. */
static int grown_maps_find(const struct seep_code *code, enum seep_space_class class,
                           uint32_t process, int32_t from, int32_t to, double all,
                           struct grown_maps *out)
{
    struct owners owners = {0};

    *out = (struct grown_maps){.list = calloc(code->model->n_sites + (size_t)1, sizeof *out->list)};
    int rc = out->list ? add_up(code, class, process, from, to, &owners, out->list) : -SEEP_ENOMEM;
    if (!rc)
        keep(code, class, choose(&owners, all, &out->bytes), out);
    free(owners.list);
    return rc;
}

/* Small blocks that stay keep the free memory of malloc's heap between them from being joined: what
 * is asked for later fits into none of it. */

/* What a line's small blocks gained in the judged steps. */
struct seep_heap_pins {
    uint32_t frame;
    int64_t blocks, bytes; /* 0: no line's became more */
    bool keep_coming;      /* up to the end, and are enough to tell */
    enum seep_part part;
    uint32_t *sites;                 /* [n] of the line, */
    struct seep_level_point *gained; /* [n] and what each gained */
    size_t n;
};

/* What one site of malloc's gained; zeros where its blocks are large, which leave nothing between
 * them. */
static int gained_of(const struct seep_code *code, const struct seep_span *span, uint32_t site,
                     uint32_t process, struct seep_level *level, struct seep_level_point *gained)
{
    const struct seep_model *m = code->model;
    const struct seep_model_site *its = &m->sites[site];

    *gained = (struct seep_level_point){0};
    if (m->spaces[its->space].name.class != SEEP_CLASS_HOST ||
        its->totals.allocations < SEEP_T_MANY)
        return 0;
    if (seep_level_sum(m, &site, 1, process, level))
        return -SEEP_ENOMEM;
    const struct seep_level_point first = seep_level_at(level, span->judge);
    const struct seep_level_point last = seep_level_at(level, span->last);
    if (last.blocks > first.blocks &&
        last.bytes - first.bytes < (last.blocks - first.blocks) * SEEP_T_SMALL_BYTES)
        *gained = (struct seep_level_point){last.step, last.bytes - first.bytes,
                                            last.blocks - first.blocks};
    return 0;
}

/* ---- which line -------------------------------------------------------------------------- */

/* What each site gained, by site; and the line whose blocks became most. */
static int find_line(const struct seep_code *code, const struct seep_span *span, uint32_t process,
                     struct seep_level *level, struct seep_level_point *gained,
                     struct seep_heap_pins *most)
{
    const struct seep_model *m = code->model;
    struct seep_heap_pins *lines = calloc(m->dict.n_frames + (size_t)1, sizeof *lines);
    int rc = lines ? 0 : -SEEP_ENOMEM;

    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        struct seep_heap_pins *line = &lines[code->lines->shown[m->sites[i].stack]];
        rc = gained_of(code, span, i, process, level, &gained[i]);
        line->frame = code->lines->shown[m->sites[i].stack];
        line->part = (enum seep_part)code->lines->part[m->sites[i].stack];
        line->blocks += gained[i].blocks;
        line->bytes += gained[i].bytes;
        if (line->blocks > most->blocks)
            *most = *line;
    }
    free(lines);
    return rc;
}

static int list_pins(const struct seep_code *code, const struct seep_level_point *gained,
                     struct seep_heap_pins *pins)
{
    const struct seep_model *m = code->model;

    pins->sites = calloc(m->n_sites + (size_t)1, sizeof *pins->sites);
    pins->gained = calloc(m->n_sites + (size_t)1, sizeof *pins->gained);
    if (!pins->sites || !pins->gained)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_sites; i++) {
        if (code->lines->shown[m->sites[i].stack] != pins->frame || !gained[i].blocks)
            continue;
        pins->sites[pins->n] = i;
        pins->gained[pins->n++] = gained[i];
    }
    return 0;
}

/* ---- do they keep coming ----------------------------------------------------------------- */

static bool rises(const struct seep_span *span, const struct seep_level *level)
{
    const int32_t steps = span->last - span->judge;
    const size_t n = steps < SEEP_STATISTICS_MAX ? (size_t)steps + 1 : SEEP_STATISTICS_MAX;
    double y[SEEP_STATISTICS_MAX];
    struct seep_trend trend;

    if (steps < SEEP_STATISTICS_MIN)
        return false;
    seep_level_sample(level, span->judge, span->last, n, y);
    return seep_trend_measure(y, n, steps / (double)(n - 1), &trend) &&
           seep_trend_grows(&trend, steps, 0, SEEP_T_RISING);
}

/* The line of a process whose small blocks became most. Returns 0 or -SEEP_ENOMEM; call
 * heap_pins_fini() in either case. */
static int heap_pins_find(const struct seep_code *code, const struct seep_span *span,
                          uint32_t process, struct seep_heap_pins *pins)
{
    struct seep_level_point *gained = calloc(code->model->n_sites + (size_t)1, sizeof *gained);
    struct seep_level level = {0};
    int rc = gained ? 0 : -SEEP_ENOMEM;

    *pins = (struct seep_heap_pins){0};
    if (!rc)
        rc = find_line(code, span, process, &level, gained, pins);
    if (!rc)
        rc = list_pins(code, gained, pins);
    if (!rc)
        rc = seep_level_sum(code->model, pins->sites, pins->n, process, &level);
    /* A model that grew for a while has left holes as well: their pins have stopped coming. */
    pins->keep_coming = !rc && pins->blocks >= SEEP_T_MANY && rises(span, &level);
    seep_level_fini(&level);
    free(gained);
    return rc;
}

static void heap_pins_fini(struct seep_heap_pins *pins)
{
    free(pins->sites);
    free(pins->gained);
}

/* What no finding accounts for. */
struct rest {
    const struct seep_code *code;
    const struct seep_model *m;
    const struct seep_span *span;
    struct seep_slope slope;                    /* bytes a step */
    uint32_t process;                           /* that gained most, */
    const struct seep_rss_sample *first, *last; /* and its samples around what is judged */
    int32_t from, to;                           /* their steps */
};

/* ---- how much -------------------------------------------------------------------------------- */

/* Few maps, of which more and more is resident: their line asked for them long ago. */
static bool is_of_few_maps(const struct seep_model *m, const struct seep_span *span,
                           const struct seep_finding *f)
{
    return m->spaces[f->space].name.class == SEEP_CLASS_MMAP && f->count &&
           f->count * SEEP_MIN_JUDGED <= (uint64_t)(span->last - span->judge) &&
           f->live_bytes / f->count > m->processes[m->main].id.arena_bytes;
}

/* Maps' levels are stairs, one at each sample: they may tell no more than that there is growth; or,
 * where samples are many, what looks like new blocks. Arenas of Python's are counted as they are
 * asked for. */
static bool is_of_levels(const struct seep_model *m, const struct seep_span *span,
                         const struct seep_finding *f)
{
    return f->pattern == SEEP_PATTERN_UNDETERMINED
               ? m->spaces[f->space].name.class == SEEP_CLASS_MMAP && !f->of_arenas
               : f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && is_of_few_maps(m, span, f);
}

static double accounted(const struct rest *r, const struct seep_findings *out)
{
    double slope = 0;

    for (size_t i = 0; i < out->n; i++)
        if (seep_finding_is_on_host(r->m, &out->list[i]) &&
            !is_of_levels(r->m, r->span, &out->list[i]) && out->list[i].growth.value > 0)
            slope += out->list[i].growth.value;
    return slope;
}

static bool is_left(struct rest *r, const struct seep_findings *out)
{
    const double known = accounted(r, out);

    if (!out->resident.grows || known >= SEEP_T_HALF * out->resident.slope.value)
        return false;
    r->slope = out->resident.slope;
    r->slope.value -= known;
    r->slope.low = fmax(r->slope.low - known, 0);
    r->slope.high -= known;
    return true;
}

/* ---- which part ------------------------------------------------------------------------------ */

/* The first sample of a process in the judged steps and the one with most, for at the end it may
 * have given all of it back; if they lie close, as where a process makes hardly an event, the last
 * one from before stands for the first. What a process frees as it tears itself down is no cache.
 */
static bool find_samples(const struct rest *r, uint32_t process, struct rest *its)
{
    const struct seep_model_process *p = &r->m->processes[process];
    const struct seep_rss_sample *before = NULL;

    *its = *r;
    its->process = process;
    its->first = its->last = NULL;
    for (uint32_t i = 0; i < p->samples.n; i++) {
        const struct seep_rss_sample *s = &p->samples.list[i];
        const int32_t step = seep_model_step(r->m, p, s->period);
        if (step <= r->span->warm) {
            before = s;
            continue;
        }
        if (step > seep_rss_last_step(r->m, p))
            break;
        its->first = its->first ? its->first : s;
        its->last = its->last && its->last->rss_bytes > s->rss_bytes ? its->last : s;
    }
    if (!its->last)
        return false;
    its->to = seep_model_step(r->m, p, its->last->period);
    its->from = seep_model_step(r->m, p, its->first->period);
    if (its->to - its->from < SEEP_T_STEPS && before) {
        its->first = before;
        its->from = seep_model_step(r->m, p, before->period);
    }
    return its->to - its->from >= SEEP_T_STEPS;
}

static double gained(uint64_t first, uint64_t last)
{
    return (double)last - (double)first;
}

static double all_gained(const struct rest *r)
{
    return gained(r->first->rss_bytes, r->last->rss_bytes) -
           gained(r->first->seep_bytes, r->last->seep_bytes);
}

/* Of the main process, and they show what grew: one that makes few events has hardly a sample, and
 * the last one after it has given all back. */
static bool has_samples(const struct rest *r)
{
    struct rest its;

    return find_samples(r, r->m->main, &its) &&
           all_gained(&its) >= SEEP_T_HALF * r->slope.value * (its.to - its.from);
}

static bool find_process(struct rest *r)
{
    struct rest most = {0}, its;

    for (uint32_t i = 0; i < r->m->n_processes; i++)
        if (find_samples(r, i, &its) && (!most.first || all_gained(&its) > all_gained(&most)))
            most = its;
    if (!most.first || all_gained(&most) < SEEP_T_RESIDENT_BYTES)
        return false;
    /* What seep's own was between two samples is not known so well. */
    if (all_gained(&most) < gained(most.first->seep_bytes, most.last->seep_bytes))
        return false;
    *r = most;
    return true;
}

static bool is_most(const struct rest *r, uint64_t first, uint64_t last)
{
    return gained(first, last) > SEEP_T_HALF * all_gained(r);
}

/* ---- the finding ----------------------------------------------------------------------------- */

/* In a short run an allocator may still be filling what it keeps, … */
static bool is_long(const struct seep_span *span)
{
    return span->last - span->judge >= SEEP_T_LONG_RUN;
}

/* … and in slices of time. */
enum seep_severity seep_resident_severity(const struct seep_model *m, const struct seep_span *span)
{
    return is_long(span) && m->step_source != SEEP_STEP_TIME ? SEEP_LEAK : SEEP_PRESSURE;
}

static int begin(const struct rest *r, enum seep_pattern pattern, struct seep_finding *f)
{
    *f = (struct seep_finding){.space = r->m->host,
                               .part = SEEP_PART_OTHER,
                               .growth = r->slope,
                               .first_step = r->from,
                               .sites = calloc(r->m->n_sites + 1, sizeof *f->sites),
                               .processes = calloc(1, sizeof *f->processes),
                               .n_processes = 1};
    if (!f->sites || !f->processes)
        return -SEEP_ENOMEM;
    f->processes[0] = r->process;
    seep_finding_verdict(f, pattern, seep_resident_severity(r->m, r->span), SEEP_LIKELY);
    return 0;
}

/* The few bytes of the blocks that cut up much more. */
static bool is_of_pins(const struct seep_finding *f, const struct seep_finding *its)
{
    return f->pattern == SEEP_PATTERN_HEAP_FRAGMENTATION &&
           its->growth.value < SEEP_T_HALF * f->growth.value;
}

/* What the line's blocks look like, as stairs with an end or as a leak of their own, is less than
 * what is known now. */
static void drop_weaker(const struct rest *r, const struct seep_finding *f,
                        struct seep_findings *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < out->n; i++) {
        struct seep_finding *its = &out->list[i];
        const bool is_weaker =
            its->severity == SEEP_INFO || is_of_levels(r->m, r->span, its) || is_of_pins(f, its);
        if (is_weaker && f->frame && its->frame == f->frame)
            seep_finding_fini(its);
        else
            out->list[kept++] = *its;
    }
    out->n = kept;
}

static int add(const struct rest *r, struct seep_finding *f, struct seep_findings *out)
{
    drop_weaker(r, f, out);
    struct seep_finding *list = reallocarray(out->list, out->n + 1, sizeof *list);

    if (!list)
        return -SEEP_ENOMEM;
    f->saving_bytes = (uint64_t)fmax(f->growth.value * (r->span->last - r->span->judge), 0);
    seep_finding_set_limit(r->m, &out->resident, f);
    out->list = list;
    out->list[out->n++] = *f;
    return 0;
}

/* The same on one site's line, of so many bytes. */
static int begin_at(const struct rest *r, enum seep_pattern pattern, uint32_t site, int64_t bytes,
                    struct seep_finding *f)
{
    const uint32_t stack = r->m->sites[site].stack;

    if (begin(r, pattern, f))
        return -SEEP_ENOMEM;
    seep_finding_keep(f, site, (uint64_t)bytes, 1);
    f->space = r->m->sites[site].space;
    f->frame = r->code->lines->shown[stack];
    f->part = (enum seep_part)r->code->lines->part[stack];
    return 0;
}

static void note_part(const struct rest *r, const char *text, uint64_t first, uint64_t last,
                      struct seep_finding *f)
{
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    seep_finding_note(
        f, text, seep_text_size((double)first, one), seep_text_size((double)last, other),
        seep_step_unit(r->m->step_source == SEEP_STEP_TIME), (int)r->from, (int)r->to);
}

/* ---- malloc's free memory -------------------------------------------------------------------- */

static void describe_fragments(const struct rest *r, const struct seep_heap_pins *pins,
                               struct seep_finding *f)
{
    char bytes[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];
    const double blocks = (double)pins->blocks / (r->span->last - r->span->judge);

    note_part(r, SEEP_FRAGMENTS_FREE_TEXT, r->first->heap_free_bytes, r->last->heap_free_bytes, f);
    if (!pins->keep_coming) { /* it may be of an allocator's own ways */
        seep_finding_verdict(f, SEEP_PATTERN_HEAP_FRAGMENTATION, SEEP_PRESSURE, SEEP_POSSIBLE);
        return;
    }
    f->frame = pins->frame;
    f->part = pins->part;
    seep_finding_note(
        f, "This line keeps %.3g blocks of about %s more each %s, and %s stays free around each",
        blocks, seep_text_size((double)pins->bytes / (double)pins->blocks, bytes),
        seep_step_unit(r->m->step_source == SEEP_STEP_TIME),
        seep_text_size(f->growth.value / blocks, each));
    for (size_t i = 0; i < pins->n; i++)
        seep_finding_keep(f, pins->sites[i], 0, (uint64_t)pins->gained[i].blocks);
    f->live_bytes = /* around them */
        (uint64_t)fmax(gained(r->first->heap_free_bytes, r->last->heap_free_bytes), 0);
}

/* A few small blocks come with each large one, as an object with its data: what the line keeps is
 * not what is left of something. */
static bool is_of_large_blocks(const struct rest *r, const struct seep_heap_pins *pins,
                               const struct seep_finding *leak)
{
    const double all = leak->growth.value * (r->span->last - r->span->judge);

    return leak->frame == pins->frame && (double)pins->bytes < SEEP_T_HALF * all &&
           leak->growth.value * SEEP_T_LARGE_SHARE >= r->slope.value;
}

/* The leak that these blocks are of, if that is no small part of it: once it is fixed, nothing is
 * cut up. */
static struct seep_finding *leak_of_pins(const struct rest *r, const struct seep_heap_pins *pins,
                                         struct seep_findings *out)
{
    for (size_t i = 0; i < out->n && pins->keep_coming; i++) {
        struct seep_finding *its = &out->list[i];
        if (its->severity == SEEP_LEAK &&
            (is_of_large_blocks(r, pins, its) ||
             ((its->frame == pins->frame || its->pattern == SEEP_PATTERN_GRAPH_RETENTION) &&
              its->growth.value >= SEEP_T_HALF * r->slope.value)))
            return its;
    }
    return NULL;
}

static int add_fragments(const struct rest *r, struct seep_findings *out)
{
    struct seep_heap_pins pins;
    struct seep_finding f, *leak;

    if (!is_long(r->span)) /* any heap that is filled for the first time looks like that */
        return 0;
    int rc = heap_pins_find(r->code, r->span, r->process, &pins);
    if (!rc && (leak = leak_of_pins(r, &pins, out))) {
        note_part(r, SEEP_FRAGMENTS_FREE_TEXT, r->first->heap_free_bytes, r->last->heap_free_bytes,
                  leak);
    } else if (!rc) {
        rc = begin(r, SEEP_PATTERN_HEAP_FRAGMENTATION, &f);
        if (!rc) {
            describe_fragments(r, &pins, &f);
            rc = add(r, &f, out);
        }
        if (rc)
            seep_finding_fini(&f);
    }
    heap_pins_fini(&pins);
    return rc;
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* At the pace between two samples, over all judged steps. */
static int64_t over_all_steps(const struct rest *r, int64_t bytes)
{
    const double steps = r->span->last - r->span->judge, seen = r->to - r->from;

    return steps > seen ? (int64_t)((double)bytes * steps / seen) : bytes;
}

/* The first is where it is said to be. */
static int begin_at_maps(const struct rest *r, const struct grown_maps *maps,
                         struct seep_finding *f)
{
    int rc = begin_at(r, SEEP_PATTERN_LIBRARY_ALLOCATOR, maps->list[0].site,
                      over_all_steps(r, maps->bytes), f);

    for (size_t i = 1; i < maps->n && !rc; i++)
        if (maps->list[i].bytes > 0)
            seep_finding_keep(f, maps->list[i].site, 0, 1);
    if (!rc)
        note_part(r,
                  "What is resident of the maps that the job requested went from %s to %s over %ss "
                  "%d to %d",
                  r->first->maps_bytes, r->last->maps_bytes, f);
    return rc;
}

/* Each page of a file's private map that is written to stays until the map goes: it has an end, but
 * that is the file's size. */
static int begin_at_file(const struct rest *r, const struct grown_maps *maps,
                         struct seep_finding *f)
{
    if (begin_at(r, SEEP_PATTERN_RESERVATION, maps->list[0].site, maps->bytes, f))
        return -SEEP_ENOMEM;
    f->severity = SEEP_PRESSURE;
    note_part(r,
              "Pages of mapped files that were written to, and so became the process's own, went "
              "from %s to %s over %ss %d to %d",
              r->first->copied_bytes, r->last->copied_bytes, f);
    f->title = strdup("a file is mapped as private: each page of it that is written to becomes "
                      "memory, and stays");
    f->advice = strdup("If the changes may go into the file, map it shared (np.memmap mode 'r+', "
                       "MAP_SHARED): the kernel then writes such pages back. Else copy the part "
                       "that is changed, and drop it; or map the file again now and then.");
    return f->title && f->advice ? 0 : -SEEP_ENOMEM;
}

/* A store that processes share has the map for all of it from the start. A library's is its
 * allocator; of anybody else's the size of the map is the end. */
static int begin_at_shared(const struct rest *r, const struct grown_maps *maps,
                           struct seep_finding *f)
{
    const struct seep_library_allocator *its = NULL;
    const uint32_t site = maps->list[0].site;
    int rc = seep_library_allocator_of_stack(r->code, r->m->sites[site].stack, &its);

    if (!rc)
        rc = begin_at(r, its ? SEEP_PATTERN_LIBRARY_ALLOCATOR : SEEP_PATTERN_RESERVATION, site,
                      over_all_steps(r, maps->bytes), f);
    if (rc)
        return rc;
    f->severity = SEEP_PRESSURE;
    note_part(r,
              "What is resident of shared memory went from %s to %s over %ss %d to %d; its map was "
              "made before",
              r->first->shm_bytes, r->last->shm_bytes, f);
    return 0;
}

static int add_maps(const struct rest *r, enum seep_space_class class, uint64_t first,
                    uint64_t last,
                    int (*begin_at_them)(const struct rest *, const struct grown_maps *,
                                         struct seep_finding *),
                    struct seep_findings *out)
{
    struct grown_maps maps;
    struct seep_finding f = {.frame = 0};
    int rc =
        grown_maps_find(r->code, class, r->process, r->from, r->to, gained(first, last), &maps);

    if (!rc && maps.n) {
        rc = begin_at_them(r, &maps, &f);
        if (!rc)
            rc = add(r, &f, out);
        if (rc)
            seep_finding_fini(&f);
    }
    free(maps.list);
    return rc;
}

/* ---- live blocks that are used bit by bit ---------------------------------------------------- */

static uint64_t largest_block(const struct seep_model *m, const struct seep_model_site *site)
{
    const uint64_t n = site->totals.allocations;

    return site->extra ? m->extras[site->extra - 1].max_bytes
           : n         ? site->totals.allocated_bytes / n
                       : 0;
}

/* The site of malloc's that has most, of those with a block larger than half of what was gained.
 * *bytes 0: there is none. */
static int find_touched(const struct rest *r, uint32_t *most, int64_t *bytes)
{
    const double least = SEEP_T_HALF * r->slope.value * (r->to - r->from);
    struct seep_level level = {0};
    int rc = 0;

    *bytes = 0;
    for (uint32_t i = 0; i < r->m->n_sites && !rc; i++) {
        const struct seep_model_site *site = &r->m->sites[i];
        if (r->m->spaces[site->space].name.class != SEEP_CLASS_HOST ||
            (double)largest_block(r->m, site) < least)
            continue;
        rc = seep_level_sum(r->m, &i, 1, r->process, &level);
        const int64_t its = rc ? 0 : seep_level_at(&level, r->to).bytes;
        if (its > *bytes) {
            *bytes = its;
            *most = i;
        }
    }
    seep_level_fini(&level);
    return rc;
}

/* One that has doubled does so again. */
static int judge_touched(const struct rest *r, uint32_t site, struct seep_finding *f)
{
    struct seep_level level = {0};
    char from[SEEP_SIZE_TEXT], to[SEEP_SIZE_TEXT];
    const int rc = seep_level_sum(r->m, &site, 1, r->process, &level);
    const struct seep_doublings d = rc ? (struct seep_doublings){0} : seep_doublings_find(&level);

    seep_level_fini(&level);
    if (rc || !d.n) {
        f->growth = (struct seep_slope){0}; /* it has an end */
        return rc;
    }
    seep_finding_verdict(f, SEEP_PATTERN_DOUBLING, SEEP_PRESSURE, SEEP_POSSIBLE);
    seep_finding_note(f, SEEP_DOUBLING_TEXT, seep_text_size((double)d.from, from),
                      seep_text_size((double)d.to, to), d.n,
                      seep_step_unit(r->m->step_source == SEEP_STEP_TIME), (int)d.last,
                      (int)r->span->last);
    return 0;
}

/* The line's finding, if its jumps were enough for one: it lacks only the pace. */
static bool add_pace(const struct rest *r, uint32_t site, struct seep_findings *out)
{
    const uint32_t frame = r->code->lines->shown[r->m->sites[site].stack];

    for (size_t i = 0; i < out->n; i++) {
        struct seep_finding *its = &out->list[i];
        if (its->pattern != SEEP_PATTERN_DOUBLING || its->frame != frame)
            continue;
        its->growth = r->slope;
        seep_finding_set_limit(r->m, &out->resident, its);
        return true;
    }
    return false;
}

static int add_touched(const struct rest *r, struct seep_findings *out)
{
    struct seep_finding f;
    uint32_t site = 0;
    int64_t bytes;
    int rc = find_touched(r, &site, &bytes);

    if (rc || !bytes || add_pace(r, site, out))
        return rc;
    rc = begin_at(r, SEEP_PATTERN_RESERVATION, site, bytes, &f);
    f.severity = SEEP_INFO;
    if (!rc && r->first)
        note_part(r,
                  "What is resident of live blocks went from %s to %s over %ss %d to %d; this "
                  "line's had been requested before",
                  r->first->heap_live_bytes, r->last->heap_live_bytes, &f);
    if (!rc)
        rc = judge_touched(r, site, &f);
    if (!rc)
        rc = add(r, &f, out);
    if (rc)
        seep_finding_fini(&f);
    return rc;
}

static int add_part(const struct rest *r, struct seep_findings *out)
{
    if (is_most(r, r->first->heap_free_bytes, r->last->heap_free_bytes))
        return add_fragments(r, out);
    if (is_most(r, r->first->copied_bytes, r->last->copied_bytes))
        return add_maps(r, SEEP_CLASS_MMAP, r->first->maps_bytes, r->last->maps_bytes,
                        begin_at_file, out);
    if (is_most(r, r->first->maps_bytes, r->last->maps_bytes))
        return add_maps(r, SEEP_CLASS_MMAP, r->first->maps_bytes, r->last->maps_bytes,
                        begin_at_maps, out);
    if (is_most(r, r->first->shm_bytes, r->last->shm_bytes))
        return add_maps(r, SEEP_CLASS_SHM, r->first->shm_bytes, r->last->shm_bytes, begin_at_shared,
                        out);
    if (is_most(r, r->first->heap_live_bytes, r->last->heap_live_bytes))
        return add_touched(r, out);
    /* Since before what is judged, files may have been loaded that hide the rest. */
    return r->from <= r->span->warm ? add_touched(r, out) : 0;
}

static int judge_rest(const struct seep_code *code, struct seep_findings *out)
{
    struct rest r = {.code = code, .m = code->model, .span = &out->span};

    if (!is_left(&r, out))
        return 0;
    if (find_process(&r))
        return add_part(&r, out);
    if (has_samples(&r))
        return 0;
    r.process = r.m->main;
    r.from = r.span->judge;
    r.to = r.span->last;
    return add_touched(&r, out);
}

int seep_resident_rest_judge(const struct seep_code *code, struct seep_findings *out)
{
    const int rc = judge_rest(code, out);

    return rc ? rc : seep_memory_files_judge(code->model, out);
}
