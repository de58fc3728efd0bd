#include "libprof/judge/diagnosis.h"

#include "libprof/measure/memory_limit.h"
#include "libprof/measure/segments.h"

#include <stdlib.h>
#include <string.h>

/* Lines that never held so much are not looked at. */
enum { MIN_GROUP_BYTES = 64 * 1024 };

struct group {
    uint32_t frame;
    uint16_t space; /* the host's for host and mmap */
    /* A forked worker's stacks go on through the trainer's line that made it. */
    bool in_worker_loop;
    uint32_t n;
    uint64_t peak_bytes; /* upper bound: sum of the sites', each up to MIN_GROUP_BYTES */
    size_t first;        /* in the array of site ids */
};

struct groups {
    struct group *list;
    size_t n, capacity;
    uint32_t *of_site; /* group + 1 */
    uint32_t *sites;   /* ids, by group */
};

/* ---- grouping ---------------------------------------------------------------------------- */

/* host and mmap are one memory to the user of a line. */
static uint16_t space_class(const struct seep_model *m, uint16_t space)
{
    return m->spaces[space].name.host_like ? m->host : space;
}

static int group_site(const struct seep_model *m, const struct seep_stack_lines *frames,
                      uint32_t id, struct groups *g, struct seep_hash_index *index)
{
    const struct seep_model_site *site = &m->sites[id];
    uint32_t frame = frames->look_at[site->stack];
    uint16_t space = space_class(m, site->space);
    bool loop = seep_dictionary_in_worker_loop(&m->dict, site->stack);
    uint64_t hash = seep_hash_two(frame, space * 2u + loop);
    uint32_t at = seep_hash_begin(index, hash), k;

    if (frames->importing[site->stack] || m->dict.frames[frame].pseudo)
        return 0;
    while ((k = seep_hash_next(index, hash, &at)) != SEEP_HASH_NONE) {
        if (g->list[k].frame == frame && g->list[k].space == space &&
            g->list[k].in_worker_loop == loop)
            break;
    }
    if (k == SEEP_HASH_NONE) {
        k = (uint32_t)g->n;
        if (seep_grow(&g->list, &g->capacity, g->n + 1, sizeof *g->list) ||
            seep_hash_add(index, hash, k))
            return -SEEP_ENOMEM;
        g->list[g->n++] = (struct group){.frame = frame, .space = space, .in_worker_loop = loop};
    }
    g->of_site[id] = k + 1;
    g->list[k].n++;
    uint64_t peak = site->totals.peak_bytes;
    g->list[k].peak_bytes += (peak < MIN_GROUP_BYTES ? peak : MIN_GROUP_BYTES) * site->n_slots;
    return 0;
}

static int make_groups(const struct seep_model *m, const struct seep_stack_lines *frames,
                       struct groups *g)
{
    struct seep_hash_index index = {0};
    size_t at = 0;
    int rc = 0;

    g->of_site = calloc(m->n_sites + 1, sizeof *g->of_site);
    g->sites = calloc(m->n_sites + 1, sizeof *g->sites);
    if (!g->of_site || !g->sites)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_sites && !rc; i++)
        rc = group_site(m, frames, i, g, &index);
    seep_hash_fini(&index);
    for (size_t i = 0; i < g->n; i++) {
        g->list[i].first = at;
        at += g->list[i].n;
        g->list[i].n = 0;
    }
    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        if (g->of_site[i]) {
            struct group *group = &g->list[g->of_site[i] - 1];
            g->sites[group->first + group->n++] = i;
        }
    }
    return rc;
}

static void groups_fini(struct groups *g)
{
    free(g->list);
    free(g->of_site);
    free(g->sites);
}

/* ---- one finding ------------------------------------------------------------------------- */

static bool has_workers(const struct seep_case *c)
{
    for (size_t i = 0; i < c->n_sites; i++) {
        for (uint32_t k = c->m->sites[c->sites[i]].slots; k; k = c->m->slots[k - 1].next) {
            if (c->m->processes[c->m->slots[k - 1].process].role == SEEP_ROLE_WORKER)
                return true;
        }
    }
    return false;
}

/* The part of most bytes, and the space that they lie in. */
static void describe_group(struct seep_case *c)
{
    uint64_t by_part[SEEP_N_PARTS] = {0}, best = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        enum seep_part part = (enum seep_part)c->frames->part[site->stack];
        by_part[part] += site->totals.peak_bytes;
        if (by_part[part] > by_part[c->part])
            c->part = part;
        if (site->totals.peak_bytes > best) {
            best = site->totals.peak_bytes;
            c->space = site->space;
            c->parts = c->frames->parts[site->stack];
        }
    }
    c->has_workers = has_workers(c);
    c->space_peak = c->m->spaces[c->space].totals.peak_bytes;
}

static int list_processes(const struct seep_model *m, struct seep_finding *f)
{
    bool *in = calloc(m->n_processes, sizeof *in);

    f->processes = calloc(m->n_processes, sizeof *f->processes);
    if (!in || !f->processes) {
        free(in);
        return -SEEP_ENOMEM;
    }
    for (size_t i = 0; i < f->n_sites; i++) {
        for (uint32_t k = m->sites[f->sites[i]].slots; k; k = m->slots[k - 1].next)
            in[m->slots[k - 1].process] = true;
    }
    for (uint32_t i = 0; i < m->n_processes; i++) {
        if (in[i])
            f->processes[f->n_processes++] = i;
    }
    free(in);
    return 0;
}

static uint64_t level_peak(const struct seep_level *level)
{
    int64_t peak = 0;

    for (size_t i = 0; i < level->n; i++) {
        if (level->points[i].bytes > peak)
            peak = level->points[i].bytes;
    }
    return (uint64_t)peak;
}

/* The first step at which the finding's sites hold something. */
static int32_t first_step(const struct seep_model *m, const struct seep_finding *f)
{
    int32_t first = INT32_MAX;

    for (size_t i = 0; i < f->n_sites; i++) {
        if (m->sites[f->sites[i]].first_step < first)
            first = m->sites[f->sites[i]].first_step;
    }
    return first;
}

static int complete(const struct seep_case *c, struct seep_finding *f)
{
    struct seep_level level = {0};
    int rc = list_processes(c->m, f);

    f->frame = c->frame;
    f->space = c->space;
    f->part = c->part;
    f->first_step = first_step(c->m, f);
    if (!rc)
        rc = seep_level_sum(c->m, f->sites, f->n_sites, SEEP_LEVEL_ALL, &level);
    f->peak_bytes = level_peak(&level);
    if (f->peak_bytes < f->live_bytes)
        f->peak_bytes = f->live_bytes;
    seep_level_fini(&level);
    seep_limit_set(c->m, f);
    return rc;
}

static int add_finding(const struct seep_case *c, struct seep_finding *f, struct seep_findings *out,
                       size_t *capacity)
{
    if (complete(c, f) || seep_grow(&out->list, capacity, out->n + 1, sizeof *out->list)) {
        seep_finding_fini(f);
        return -SEEP_ENOMEM;
    }
    out->list[out->n++] = *f;
    return 0;
}

static bool may_exchange(const struct seep_model *m, const struct group *a, const struct group *b)
{
    return seep_finding_same_function(m, a->frame, b->frame) &&
           m->dict.frames[a->frame].qualname == m->dict.frames[b->frame].qualname &&
           a->space == b->space && a->in_worker_loop == b->in_worker_loop;
}

/* Whether what a line gains, other lines of its function lose: a pool that one line fills, and
 * another puts newer blocks into. */
static int find_exchange(struct seep_case *c, const struct groups *groups, const struct group *of)
{
    struct seep_growth whole = {0};
    uint32_t *sites = malloc((c->m->n_sites + 1) * sizeof *sites);
    size_t n = 0;

    if (!sites)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < groups->n; i++) {
        const struct group *g = &groups->list[i];
        if (!may_exchange(c->m, g, of))
            continue;
        memcpy(sites + n, groups->sites + g->first, g->n * sizeof *sites);
        n += g->n;
    }
    int rc = n > c->n_sites ? seep_growth_measure(c->m, c->span, sites, n, &whole) : 0;
    c->exchanges =
        n > c->n_sites && !rc && !whole.growing && whole.slope.value < 0.3 * c->growth->slope.value;
    seep_growth_fini(&whole);
    free(sites);
    return rc;
}

static int judge_group(struct seep_case *c, const struct groups *groups, const struct group *g,
                       struct seep_growth *growth, struct seep_findings *out, size_t *capacity)
{
    struct seep_finding f = {0};

    describe_group(c);
    if (seep_growth_measure(c->m, c->span, c->sites, c->n_sites, growth))
        return -SEEP_ENOMEM;
    c->growth = growth;
    if (growth->growing && find_exchange(c, groups, g))
        return -SEEP_ENOMEM;
    f.sites = calloc(c->n_sites + 1, sizeof *f.sites);
    if (!f.sites)
        return -SEEP_ENOMEM;
    if (seep_rules_judge(c, &f))
        return add_finding(c, &f, out, capacity);
    seep_finding_fini(&f);
    return 0;
}

static int judge_job(const struct seep_model *m, const struct seep_stack_lines *frames,
                     struct seep_symbols *symbols, struct seep_findings *out, size_t *capacity)
{
    int rc = 0;

    for (unsigned i = 0; i < SEEP_JOB_RULES && !rc; i++) {
        struct seep_case c = {.m = m, .frames = frames, .span = &out->span, .symbols = symbols};
        struct seep_finding f = {.sites = calloc(m->n_sites + 1, sizeof *f.sites)};
        if (!f.sites)
            return -SEEP_ENOMEM;
        if (seep_rules_judge_job(&c, i, &f))
            rc = add_finding(&c, &f, out, capacity);
        else
            seep_finding_fini(&f);
    }
    return rc;
}

/* ---- all of them ------------------------------------------------------------------------- */

int seep_diagnose(const struct seep_model *m, const struct seep_stack_lines *frames,
                  struct seep_symbols *symbols, struct seep_findings *out)
{
    struct groups groups = {0};
    struct seep_growth growth = {0};
    size_t capacity = 0;

    *out = (struct seep_findings){0};
    seep_span_compute(m, &out->span);
    int rc = make_groups(m, frames, &groups);
    for (size_t i = 0; i < groups.n && !rc; i++) {
        const struct group *g = &groups.list[i];
        if (g->peak_bytes < MIN_GROUP_BYTES)
            continue;
        struct seep_case c = {.m = m,
                              .frames = frames,
                              .span = &out->span,
                              .symbols = symbols,
                              .sites = groups.sites + g->first,
                              .n_sites = g->n,
                              .frame = g->frame};
        rc = judge_group(&c, &groups, g, &growth, out, &capacity);
    }
    groups_fini(&groups);
    seep_growth_fini(&growth);
    if (!rc)
        rc = judge_job(m, frames, symbols, out, &capacity);
    if (!rc)
        rc = seep_findings_join(m, out);
    seep_findings_sort(m, out);
    if (!rc)
        rc = seep_segments_join(m, frames, symbols, out);
    seep_findings_cut(m, out);
    for (size_t i = 0; i < out->n && !rc; i++) {
        rc = seep_symbols_resolve(symbols, &out->list[i].frame, 1);
        seep_wording_set(m, frames->kinds, symbols, &out->list[i]);
    }
    return rc;
}
