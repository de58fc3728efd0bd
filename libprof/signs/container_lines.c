#include "libprof/signs/container_lines.h"

#include "libprof/signs/work_areas.h"
#include "libprof/thresholds/thresholds.h"

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
