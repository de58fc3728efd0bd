#include "libprof/verdict/arena_growth.h"
#include "libprof/base/text.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/work_areas.h"
#include "libprof/who/merge/kept_by.h"

#include <stdlib.h>

static int list_arenas(const struct seep_model *m, const struct seep_lines *lines,
                       struct seep_arena_growth *out)
{
    out->sites = malloc((m->n_sites + 1) * sizeof *out->sites);
    for (uint32_t i = 0; i < m->n_sites && out->sites; i++) {
        if (lines->of_site[i] && seep_is_arena(m, i))
            out->sites[out->n_sites++] = i;
    }
    return out->sites ? 0 : -SEEP_ENOMEM;
}

/* What they gained in the watched process, while it was watched; if it was seen only once, since
 * before the first step. */
static int measure(const struct seep_model *m, const struct seep_small_rise *rise,
                   struct seep_arena_growth *out)
{
    const int32_t from = rise->from_step < rise->to_step ? (int32_t)rise->from_step : 0;
    struct seep_level level = {0};
    int rc = 0;

    for (uint32_t p = 0; p < m->n_processes && !rc; p++) {
        if (m->processes[p].id.pid != rise->pid)
            continue;
        rc = seep_level_sum(m, out->sites, out->n_sites, p, &level);
        if (!rc) /* a snapshot's step is the last one that had ended */
            out->gained_bytes += (double)(seep_level_at(&level, (int32_t)rise->to_step + 1).bytes -
                                          seep_level_at(&level, from).bytes);
    }
    seep_level_fini(&level);
    return rc;
}

static int choose_frame(const struct seep_model *m, const struct seep_lines *lines,
                        struct seep_arena_growth *out)
{
    double *bytes = calloc(lines->n + 1, sizeof *bytes), most = -1;

    for (size_t i = 0; i < out->n_sites && bytes; i++) {
        const uint32_t line = lines->of_site[out->sites[i]] - 1;
        bytes[line] += (double)m->sites[out->sites[i]].totals.peak_bytes;
        if (bytes[line] > most) {
            most = bytes[line];
            out->frame = lines->list[line].frame;
        }
    }
    free(bytes);
    return bytes ? 0 : -SEEP_ENOMEM;
}

/* The frame's own sites come first: they stand for all where one is looked at. */
static void put_own_first(const struct seep_lines *lines, struct seep_arena_growth *out)
{
    size_t own = 0;

    for (size_t i = 0; i < out->n_sites; i++) {
        const uint32_t site = out->sites[i];
        if (lines->list[lines->of_site[site] - 1].frame != out->frame)
            continue;
        out->sites[i] = out->sites[own];
        out->sites[own++] = site;
    }
}

int seep_arena_growth_find(const struct seep_code *code, const struct seep_lines *lines,
                           const struct seep_line_holders *holders, struct seep_arena_growth *out)
{
    const struct seep_model *m = code->model;

    *out = (struct seep_arena_growth){.frame = holders->small_table};
    if (!holders->small)
        return 0;
    int rc = list_arenas(m, lines, out);
    if (!rc && out->n_sites)
        rc = measure(m, holders->small, out);
    out->found = !rc && out->gained_bytes >= SEEP_T_SHOWN_BYTES &&
                 (double)holders->small->bytes >= SEEP_T_HALF * out->gained_bytes;
    if (out->found && !out->frame)
        rc = choose_frame(m, lines, out);
    if (out->found)
        put_own_first(lines, out);
    return rc;
}

/* What the objects are to what was seen of them. */
static const char *whose(const json_t *answer)
{
    switch (seep_kept_by_of(answer).state) {
    case SEEP_HOLDERS_LOST:
    case SEEP_HOLDERS_REFERENCE:
        return "nobody holds";
    case SEEP_HOLDERS_CYCLE:
        return "only reference cycles keep alive";
    default:
        return "this holder keeps alive";
    }
}

void seep_arena_growth_note(const struct seep_arena_growth *line,
                            const struct seep_small_rise *rise, struct seep_finding *f)
{
    char its[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];

    seep_text_size((double)rise->bytes, its);
    seep_text_size(line->gained_bytes, all);
    if (rise->from_step < rise->to_step)
        seep_finding_note(f,
                          "From step %u to step %u the arenas of Python's small objects grew by "
                          "%s, and the objects that %s by %s",
                          rise->from_step, rise->to_step, all, whose(rise->answer), its);
    else
        seep_finding_note(f,
                          "Up to step %u the arenas of Python's small objects grew by %s; there "
                          "are %s of objects that %s",
                          rise->to_step, all, its, whose(rise->answer));
}

void seep_arena_growth_fini(struct seep_arena_growth *out)
{
    free(out->sites);
    *out = (struct seep_arena_growth){0};
}

/* ---- the table that grows -------------------------------------------------------------------- */

static bool shares_process(const struct seep_case *c, const struct seep_model_site *site)
{
    for (uint32_t k = site->slots; k; k = c->m->slots[k - 1].next) {
        for (size_t i = 0; i < c->n_sites; i++) {
            for (uint32_t n = c->m->sites[c->sites[i]].slots; n; n = c->m->slots[n - 1].next) {
                if (c->m->slots[n - 1].process == c->m->slots[k - 1].process)
                    return true;
            }
        }
    }
    return false;
}

/* Whether only CPython's own functions are between the line and the allocation. */
static bool is_asked_by_statement(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_dictionary *d = &c->m->dict;
    uint32_t s = site->stack;

    if (!c->code->lines->is_own[s] || c->code->lines->importing[s])
        return false;
    const uint32_t line = c->code->lines->shown[s];
    while (s && d->frames[d->stacks[s].frame].kind == SEEP_FRAME_NATIVE) {
        if (!seep_is_frame_of_python(d, d->stacks[s].frame))
            return false;
        s = d->stacks[s].parent;
    }
    return s && d->stacks[s].frame == line;
}

/* One or a few blocks that were enlarged again and again, the last time late in the run. */
static bool is_table(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_model_extra *e = site->extra ? &c->m->extras[site->extra - 1] : NULL;

    return e && c->m->spaces[site->space].name.class == SEEP_CLASS_HOST &&
           site->totals.allocations >= SEEP_T_TABLE_MADE && e->max_bytes >= SEEP_T_SMALL_BYTES &&
           e->max_bytes >= SEEP_T_TABLE_TIMES * e->min_bytes &&
           site->totals.peak_step >= c->span->last / 2 && is_asked_by_statement(c, site) &&
           shares_process(c, site);
}

/* Whether it is there when the last step ends: few blocks, one of about its largest size. */
static int is_there(const struct seep_case *c, uint32_t site, bool *there)
{
    struct seep_level level = {0};
    const int rc = seep_level_sum(c->m, &site, 1, SEEP_LEVEL_ALL, &level);
    const struct seep_level_point at =
        rc ? (struct seep_level_point){0} : seep_level_at(&level, c->span->last);

    *there = at.blocks >= 1 && at.blocks <= SEEP_T_STAIR_PARAMETERS &&
             2 * (uint64_t)at.bytes >= c->m->extras[c->m->sites[site].extra - 1].max_bytes;
    seep_level_fini(&level);
    return rc;
}

int seep_container_line(const struct seep_case *c, uint32_t *frame)
{
    uint64_t largest = 0, next = 0;
    int rc = 0;

    *frame = 0;
    for (uint32_t i = 0; i < c->m->n_sites && !rc; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        bool there = false;
        if (is_table(c, site))
            rc = is_there(c, i, &there);
        if (!there)
            continue;
        const uint64_t bytes = c->m->extras[site->extra - 1].max_bytes;
        if (bytes > largest) {
            next = largest;
            largest = bytes;
            *frame = c->code->lines->shown[site->stack];
        } else if (bytes > next) {
            next = bytes;
        }
    }
    if (2 * next > largest)
        *frame = 0;
    return rc;
}
