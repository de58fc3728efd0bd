#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/model/live_level.h"
#include "libprof/model/model.h"
#include "libprof/model/stack_import.h"
#include "libprof/model/stages/model_stages.h"
#include "libprof/model/stages/process_import.h"

/* A job's profiles may have more sites than fit into memory. Near a bound, those that never held
 * much have no place of their own in the model: they count together, as what is beyond a profile's
 * own bound does. */

/* Of a model's parts. With it a report of 1,000,000 different stacks took 177 MiB in all, a page of
 * two such runs 313 (docs/costs.md). */
#define SEEP_MODEL_MOST_BYTES (UINT64_C(80) << 20)

enum { SEEP_PEAK_SIZES = 64 * 8 }; /* eight to each power of two */

struct seep_small_sites {
    uint64_t most_bytes;
    uint64_t chunks, chunks_done; /* of sites and all that they refer to, in all profiles */
    uint64_t seen[SEEP_PEAK_SIZES], n_seen, n_kept;
    unsigned least; /* size from which on a site has a place */
};

enum { PER_POWER = 8, JUDGED_EACH = 1024 };

static unsigned size_of(uint64_t bytes)
{
    if (bytes < PER_POWER)
        return (unsigned)bytes;
    const unsigned power = 63 - (unsigned)__builtin_clzll(bytes);
    return power * PER_POWER + (unsigned)(bytes >> (power - 3) & (PER_POWER - 1));
}

/* The most that one without a place may have held. */
static uint64_t seep_small_sites_below(const struct seep_small_sites *s)
{
    const unsigned power = s->least / PER_POWER;

    if (s->least < PER_POWER)
        return s->least;
    if (s->least == SEEP_PEAK_SIZES)
        return UINT64_MAX;
    return (uint64_t)(PER_POWER + s->least % PER_POWER) << (power - 3);
}

/* Of a model whose profiles are open, and none is merged. */
static struct seep_small_sites small_sites_of(const struct seep_model *m)
{
    struct seep_small_sites s = {.most_bytes =
                                     m->most_bytes ? m->most_bytes : SEEP_MODEL_MOST_BYTES};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_profile *profile = m->processes[i].profile;
        s.chunks += profile ? profile->n_chunks - profile->first_chunk : 0;
    }
    return s;
}

/* What grows with the sites. */
static uint64_t bytes_of(const struct seep_model *m)
{
    const struct seep_dictionary *d = &m->dict;

    return m->n_sites * sizeof *m->sites + m->n_slots * sizeof *m->slots +
           m->n_extras * sizeof *m->extras + m->n_points * sizeof *m->points +
           d->n_stacks * sizeof *d->stacks + d->n_frames * sizeof *d->frames +
           d->n_strings * sizeof *d->string_at + d->text_bytes;
}

/* From half of the bound on: the sites ahead are like those so far, and as many of the largest are
 * kept as there is room for. What has a place keeps it. */
static void judge(struct seep_small_sites *s, const struct seep_model *m)
{
    const uint64_t used = bytes_of(m), done = s->chunks_done ? s->chunks_done : 1;
    const double ahead = s->chunks > done ? (double)(s->chunks - done) / (double)done : 0;
    const double each = (double)used / (double)(s->n_kept ? s->n_kept : 1);
    double left = (double)s->most_bytes - (double)used;
    unsigned least = SEEP_PEAK_SIZES;

    if (used < s->most_bytes / 2)
        return;
    while (least && left >= 0)
        left -= (double)s->seen[--least] * ahead * each;
    if (left < 0)
        least++;
    s->least = least > s->least ? least : s->least;
}

/* Whether the next site has, by the most that it ever held. */
static bool small_sites_have_place(struct seep_small_sites *s, const struct seep_model *m,
                                   uint64_t peak_bytes)
{
    const unsigned size = size_of(peak_bytes);

    s->seen[size]++;
    if (++s->n_seen % JUDGED_EACH == 0)
        judge(s, m);
    if (size < s->least)
        return false;
    s->n_kept++;
    return true;
}

/* What one space's sites without a place add up to in a process. */
struct folded {
    struct seep_totals totals;
    uint32_t first_period, last_period;
};

/* One process while it is merged. */
struct merging {
    struct seep_model *m;
    struct seep_resolver *resolver;
    struct seep_small_sites *small;
    uint32_t process;
    struct folded folded[SEEP_MAX_SPACES];
};

/* One site record while it is being added. */
struct record {
    const struct seep_site *site;
    const struct seep_detail *detail; /* or NULL */
    uint32_t detail_ref;
    struct seep_profile *detail_in;
    struct seep_totals totals;
    uint32_t process;
};

/* The job's space + 1 for a process's space, 0 if the job has too many. */
static uint16_t job_space(struct seep_model *m, const char *name)
{
    uint16_t space;

    return seep_model_add_space(m, name, &space) ? (uint16_t)(space + 1) : 0;
}

static int add_point(struct seep_model *m, struct seep_model_slot *part, int32_t step,
                     uint64_t blocks, uint64_t bytes)
{
    if (part->n_points && m->points[m->n_points - 1].step >= step) {
        step = m->points[m->n_points - 1].step;
        m->n_points--;
        part->n_points--;
    }
    if (seep_grow(&m->points, &m->points_capacity, m->n_points + 1, sizeof *m->points))
        return -SEEP_ENOMEM;
    m->points[m->n_points++] =
        (struct seep_model_point){step, blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX, bytes};
    part->n_points++;
    return 0;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Before its series a site held little, and we do not know since when. A jump of many such sites at
 * once would look like growth in that step, so they rise evenly from their first event to
 * `period`. */
static int add_rise(struct seep_model *m, struct seep_model_slot *part, const struct record *r,
                    uint32_t period, uint64_t blocks, uint64_t bytes)
{
    enum { STAIRS = 8 };
    const struct seep_model_process *p = &m->processes[r->process];
    const uint32_t first = r->site->first_period;
    const uint64_t span = period > first ? period - first : 0;
    int rc = 0;

    for (uint32_t i = 1; i < STAIRS && span >= SEEP_MANY_PERIODS && bytes && !rc; i++)
        rc = add_point(m, part, seep_model_step(m, p, first + (uint32_t)(span * i / STAIRS)),
                       blocks * i / STAIRS, bytes * i / STAIRS);
    return rc;
}

/* A site without a series was active in a few periods only, or never held much. If its peak is all
 * that it ever allocated, nothing was freed before, and the peak lasted until its last event.
 * Otherwise, if it was never higher after its peak, it grew until then. */
static int add_brief_points(struct seep_model *m, struct seep_model_slot *part,
                            const struct record *r)
{
    const struct seep_model_process *p = &m->processes[r->process];
    const struct seep_site *s = r->site;
    const uint64_t live = seep_totals_live(&r->totals);
    const uint64_t blocks = lesser(seep_totals_live_blocks(&r->totals), UINT32_MAX);
    int rc = 0;

    if (s->first_period != s->last_period && s->peak_bytes == s->allocated_bytes &&
        s->peak_period < s->last_period)
        return add_point(m, part, seep_model_step(m, p, s->peak_period), s->allocations,
                         s->peak_bytes);
    if (s->detail < SEEP_MANY_PERIODS || !live || live > SEEP_WORTH_SERIES_BYTES)
        return 0;
    rc = add_rise(m, part, r, s->peak_period, blocks, live);
    return rc || s->peak_period >= s->last_period
               ? rc
               : add_point(m, part, seep_model_step(m, p, s->peak_period), blocks, live);
}

/* If it held much more when the series began, that came at once. */
static int add_points_before(struct seep_model *m, struct seep_model_slot *part,
                             const struct record *r, const struct seep_point *first)
{
    const uint64_t bytes = first->live_bytes;

    if (!bytes || bytes >= 2 * SEEP_WORTH_SERIES_BYTES)
        return 0;
    return add_rise(m, part, r, first->period, first->live_blocks, bytes);
}

static int add_points(struct seep_model *m, struct seep_model_slot *part, const struct record *r)
{
    const struct seep_model_process *p = &m->processes[r->process];
    const struct seep_point *points = NULL;
    uint32_t n = 0, last = 0;
    int rc = 0;

    part->points_at = m->n_points;
    if (r->detail && r->detail->series)
        points = seep_profile_series(p->profile, r->detail->series, r->detail_ref, &n);
    if (!points)
        rc = add_brief_points(m, part, r);
    else if (n)
        rc = add_points_before(m, part, r, points);
    for (uint32_t i = 0; points && i < n && !rc; i++) {
        if (i && points[i].period <= last)
            continue;
        last = points[i].period;
        /* Counters of several threads are read one by one: below zero means 0. */
        uint64_t bytes = (int64_t)points[i].live_bytes < 0 ? 0 : points[i].live_bytes;
        rc = add_point(m, part, seep_model_step(m, p, last), points[i].live_blocks, bytes);
    }
    return rc ? rc
              : add_point(m, part, seep_model_step(m, p, r->site->last_period),
                          seep_totals_live_blocks(&r->totals), seep_totals_live(&r->totals));
}

static int add_extra(struct seep_model *m, struct seep_model_site *site, const struct record *r)
{
    const struct seep_detail *d = r->detail;
    uint64_t aged = 0;

    if (!site->extra) {
        if (seep_grow(&m->extras, &m->extras_capacity, m->n_extras + 1, sizeof *m->extras))
            return -SEEP_ENOMEM;
        memset(&m->extras[m->n_extras], 0, sizeof *m->extras);
        site->extra = (uint32_t)++m->n_extras;
    }
    struct seep_model_extra *e = &m->extras[site->extra - 1];
    if (d->min_bytes && (!e->min_bytes || d->min_bytes < e->min_bytes))
        e->min_bytes = d->min_bytes;
    if (d->max_bytes > e->max_bytes)
        e->max_bytes = d->max_bytes;
    if (d->max_lifetime > e->max_lifetime)
        e->max_lifetime = d->max_lifetime;
    e->size_marks |= d->size_marks;
    e->inherited_frees += d->inherited_frees;
    e->inherited_freed_bytes += d->inherited_freed_bytes;
    for (int i = 0; i < SEEP_LIFETIME_BUCKETS; i++)
        aged += d->lifetimes[i];
    return seep_site_counts_add(&e->counts, d, r->totals.frees > aged ? r->totals.frees - aged : 0);
}

static struct seep_model_site *find_site(struct seep_model *m, uint32_t stack, uint16_t space)
{
    uint32_t id = seep_hash_expected(&m->site_index);

    if (id < m->n_sites && m->sites[id].stack == stack && m->sites[id].space == space)
        return &m->sites[seep_hash_found(&m->site_index, id)];
    id = seep_model_find_site(m, stack, space);
    if (id != SEEP_HASH_NONE)
        return &m->sites[seep_hash_found(&m->site_index, id)];
    if (seep_grow(&m->sites, &m->sites_capacity, m->n_sites + 1, sizeof *m->sites) ||
        seep_hash_add(&m->site_index, seep_hash_two(stack, space), (uint32_t)m->n_sites))
        return NULL;
    struct seep_model_site *site = &m->sites[m->n_sites++];
    memset(site, 0, sizeof *site);
    site->stack = stack;
    site->space = space;
    site->first_step = INT32_MAX;
    site->last_step = INT32_MIN;
    return site;
}

static int add_part(struct seep_model *m, struct seep_model_site *site, const struct record *r)
{
    if (seep_grow(&m->slots, &m->slots_capacity, m->n_slots + 1, sizeof *m->slots))
        return -SEEP_ENOMEM;
    struct seep_model_slot *part = &m->slots[m->n_slots++];
    *part = (struct seep_model_slot){
        .next = site->slots,
        .process = r->process,
        .thread = r->site->slot_plus_1 <= SEEP_MAX_SLOTS ? r->site->slot_plus_1 : 0,
        .untouched = r->detail ? seep_untouched_256ths(r->detail) : 0,
        .of_malloc = m->spaces[site->space].name.class == SEEP_CLASS_HOST &&
                     !*m->processes[r->process].id.allocator,
        .peak_bytes = r->totals.peak_bytes};
    site->slots = (uint32_t)m->n_slots;
    if (site->n_slots < UINT16_MAX)
        site->n_slots++;
    return add_points(m, part, r);
}

/* Adds the totals of one record to the site's: peaks of several threads or processes need not
 * coincide, so the largest stands until the levels are added up. */
static void add_totals(struct seep_totals *to, const struct seep_totals *t)
{
    to->allocations = seep_sum(to->allocations, t->allocations);
    to->frees = seep_sum(to->frees, t->frees);
    to->allocated_bytes = seep_sum(to->allocated_bytes, t->allocated_bytes);
    to->freed_bytes = seep_sum(to->freed_bytes, t->freed_bytes);
    if (t->peak_bytes > to->peak_bytes) {
        to->peak_bytes = t->peak_bytes;
        to->peak_step = t->peak_step;
    }
}

/* A block of s bytes is taken with probability p = 1 − e^(−s/gap) and then counts as s/p, so each
 * of its bytes contributes s·(1 − p)/p. */
static double sampling_variance(const struct seep_header *h, const struct record *r)
{
    const uint64_t gap = seep_sample_gap(h->sample_bytes, r->site->coarseness);
    const double all = (double)r->totals.allocated_bytes;

    if (!gap || !r->totals.allocations || all <= 0)
        return 0;
    const double size = all / (double)r->totals.allocations;
    return all * size / expm1(size / (double)gap);
}

static int add_record(struct seep_model *m, struct record *r, uint32_t stack, uint16_t space)
{
    const struct seep_model_process *p = &m->processes[r->process];
    struct seep_model_site *site = find_site(m, stack, space);

    if (!site)
        return -SEEP_ENOMEM;
    int32_t first = seep_model_first_step(m, p, r->site->first_period);
    int32_t last = seep_model_step(m, p, r->site->last_period);
    if (first < site->first_step)
        site->first_step = first;
    if (last > site->last_step)
        site->last_step = last;
    add_totals(&site->totals, &r->totals);
    site->sampling_variance += sampling_variance(p->profile->header, r);
    if (r->detail && add_extra(m, site, r))
        return -SEEP_ENOMEM;
    return add_part(m, site, r);
}

/* A detail belongs to one site: if many named the same, it would be read many times over. */
static void find_detail(struct seep_profile *profile, uint32_t site_ref, struct record *r)
{
    uint32_t ref = r->site->detail;

    if ((uint64_t)ref * 8 < SEEP_HEADER_BYTES)
        return;
    const struct seep_detail *detail = seep_profile_at(profile, ref, SEEP_CHUNK_DETAILS,
                                                       sizeof(struct seep_detail), &r->detail_in);
    if (!detail || detail->site != site_ref)
        return;
    r->detail = detail;
    r->detail_ref = ref;
}

static void fold(struct merging *g, const struct record *r)
{
    struct folded *to = &g->folded[r->site->space];

    g->m->n_small_sites++;
    g->m->small_sites_below = seep_small_sites_below(g->small);
    if (!to->totals.allocations || r->site->first_period < to->first_period)
        to->first_period = r->site->first_period;
    if (r->site->last_period > to->last_period)
        to->last_period = r->site->last_period;
    add_totals(&to->totals, &r->totals);
}

static int add_site(struct merging *g, const struct seep_site *s, uint32_t ref)
{
    struct seep_model *m = g->m;
    struct seep_model_process *p = &m->processes[g->process];
    struct record r = {.site = s, .process = g->process};
    int rc = 0;

    if (!s->slot_plus_1 || s->space >= SEEP_MAX_SPACES)
        return 0;
    find_detail(p->profile, ref, &r);
    if (!s->allocations && !s->frees && !(r.detail && r.detail->inherited_frees))
        return 0;
    uint16_t *space = &p->space_of[s->space];
    if (!*space)
        *space = job_space(m, p->profile->header->spaces[s->space].name);
    if (!*space)
        return 0;
    r.totals = (struct seep_totals){
        .allocations = s->allocations,
        .allocated_bytes = s->allocated_bytes,
        .frees = s->frees + (r.detail ? r.detail->remote_frees : 0),
        .freed_bytes = s->freed_bytes + (r.detail ? r.detail->remote_freed_bytes : 0),
        .peak_bytes = s->peak_bytes,
        .peak_step = seep_model_step(m, p, s->peak_period),
    };
    add_totals(&p->spaces[s->space], &r.totals);
    if (!small_sites_have_place(g->small, m, s->peak_bytes))
        fold(g, &r);
    else
        rc = add_record(m, &r, seep_resolve_stack(g->resolver, p->profile, s->stack),
                        (uint16_t)(*space - 1));
    if (r.detail)
        seep_profile_done(r.detail_in, r.detail_ref, sizeof *r.detail);
    return rc;
}

/* They are one site without a stack. */
static int add_folded(struct merging *g)
{
    const struct seep_model_process *p = &g->m->processes[g->process];
    const uint32_t stack = seep_resolve_stack(g->resolver, p->profile, 0);
    int rc = 0;

    for (int i = 0; i < SEEP_MAX_SPACES && !rc; i++) {
        const struct folded *its = &g->folded[i];
        const struct seep_site site = {.first_period = its->first_period,
                                       .last_period = its->last_period};
        struct record r = {.site = &site, .process = g->process, .totals = its->totals};
        if (its->totals.allocations || its->totals.frees)
            rc = add_record(g->m, &r, stack, (uint16_t)(p->space_of[i] - 1));
    }
    return rc;
}

static int add_sites(struct merging *g)
{
    const struct seep_profile *profile = g->m->processes[g->process].profile;

    for (uint32_t c = profile->first_chunk; c < profile->n_chunks; c++) {
        uint64_t at = SEEP_HEADER_BYTES + (uint64_t)c * SEEP_CHUNK_BYTES;
        g->small->chunks_done++;
        if (profile->header->chunk_types[c] != SEEP_CHUNK_SITES || at >= profile->size)
            continue;
        const struct seep_site *sites = (const void *)(profile->base + at);
        for (size_t i = 0; i < SEEP_CHUNK_BYTES / sizeof *sites; i++) {
            if (add_site(g, &sites[i], (uint32_t)(at / 8 + i * sizeof *sites / 8)))
                return -SEEP_ENOMEM;
        }
    }
    return add_folded(g);
}

/* The header knows the exact peak of a space; its sites peak at different times. */
static void set_peaks(struct seep_model *m, struct seep_model_process *p)
{
    for (int i = 0; i < SEEP_MAX_SPACES; i++) {
        const struct seep_space *s = &p->profile->header->spaces[i];
        struct seep_totals *t = &p->spaces[i];
        uint64_t live = seep_totals_live(t);
        if (!p->space_of[i])
            continue;
        t->peak_step = seep_model_step(m, p, s->peak_period);
        /* A hostile or torn peak is bounded by what was ever allocated. */
        t->peak_bytes = s->peak_bytes < t->allocated_bytes ? s->peak_bytes : t->allocated_bytes;
        if (t->peak_bytes < live)
            t->peak_bytes = live;
    }
}

/* What the program announced. A device is one for all processes; a pool of the program's own is
 * each process's. */
static void add_capacities(struct seep_model *m, const struct seep_model_process *p)
{
    for (int i = 0; i < SEEP_MAX_SPACES; i++) {
        const struct seep_space *its = &p->profile->header->spaces[i];
        char name[sizeof its->name];
        uint16_t space;
        snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, its->name);
        if (!its->capacity_bytes || !seep_model_add_space(m, name, &space))
            continue;
        struct seep_model_space *to = &m->spaces[space];
        if (to->name.class == SEEP_CLASS_OTHER)
            to->capacity_bytes = seep_sum(to->capacity_bytes, its->capacity_bytes);
        else if (its->capacity_bytes > to->capacity_bytes)
            to->capacity_bytes = its->capacity_bytes;
    }
}

/* How many still need each profile's contents: the profile itself when its turn comes, and its
 * children. */
static uint32_t *count_users(const struct seep_model *m)
{
    uint32_t *users = calloc(m->n_processes, sizeof *users);

    for (size_t i = 0; users && i < m->n_processes; i++) {
        users[i]++;
        if (m->processes[i].parent)
            users[m->processes[i].parent - 1]++;
    }
    return users;
}

/* Drops a user of process i; without users its profile is closed, which drops a user of its
 * parent. */
static void release(struct seep_model *m, uint32_t *users, size_t i)
{
    while (--users[i] == 0) {
        seep_process_close(&m->processes[i]);
        if (!m->processes[i].parent)
            break;
        i = m->processes[i].parent - 1;
    }
}

/* Parents come first, and stay loaded for their children. */
static int load(struct seep_model *m, struct seep_model_process *p, struct seep_error *err)
{
    struct seep_error why = {0};
    int rc = p->profile ? seep_profile_load(p->profile, &why) : 0;

    if (rc == -SEEP_ENOMEM) {
        if (err && !err->text[0])
            *err = why;
        return rc;
    }
    if (rc)
        seep_model_not_read(m, p->id.file, rc, why.text);
    return 0;
}

static uint32_t python_frame(const struct seep_model *m, struct seep_resolver *resolver,
                             uint32_t ref)
{
    uint32_t frame = ref ? seep_resolve_frame(resolver, m->processes[m->main].profile, ref) : 0;

    return frame && m->dict.frames[frame].kind == SEEP_FRAME_PYTHON ? frame : 0;
}

/* Finds the loops whose iterations are the job's steps and its epochs, by the profile of the
 * process that runs them. */
static void find_loops(struct seep_model *m, struct seep_resolver *resolver)
{
    const struct seep_process *entry = m->processes[m->main].entry;

    if (m->step_source == SEEP_STEP_LOOP)
        m->step_frame = python_frame(m, resolver, entry->step_frame);
    if (m->epoch_source == SEEP_EPOCHS_LOOP)
        m->epoch_frame = python_frame(m, resolver, entry->epoch_frame);
}

int seep_merge(struct seep_model *m, struct seep_error *err)
{
    struct seep_resolver resolver = {.dict = &m->dict};
    struct seep_small_sites small = small_sites_of(m);
    uint32_t *users = count_users(m);
    int rc = users ? 0 : -SEEP_ENOMEM;

    seep_model_begin(m, SEEP_MODEL_MERGED);
    for (uint32_t i = 0; i < m->n_processes && !rc; i++) {
        struct seep_model_process *p = &m->processes[i];
        rc = load(m, p, err);
        if (!rc && p->profile && p->profile->loaded) {
            rc = add_sites(
                &(struct merging){.m = m, .resolver = &resolver, .small = &small, .process = i});
            if (!rc)
                rc = seep_process_import_ooms(m, &resolver, i);
            if (!rc)
                rc = seep_process_import_what_ifs(m, &resolver, i);
            if (!rc)
                rc = seep_process_import_layouts(m, &resolver, i);
            seep_process_import_written(m, &resolver, i);
            set_peaks(m, p);
            add_capacities(m, p);
            if (i == m->main)
                find_loops(m, &resolver);
            p->truncated = p->profile->truncated;
            if (!rc)
                rc = seep_process_import_levels(p);
        }
        release(m, users, i);
    }
    free(users);
    seep_dictionary_seal(&m->dict);
    seep_hash_fini(&m->site_index);
    if (m->dict.failed)
        rc = -SEEP_ENOMEM;
    return rc ? seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory for the merge") : 0;
}
