/* This file writes the sites of report.json. */
#include "libprof/report/report_pieces.h"

#include "libprof/code/function_kinds.h"
#include "libprof/measure/space_growth.h"
#include "libprof/model/live_level.h"
#include "libprof/who/merge/site_holders.h"

#include <stdio.h>
#include <stdlib.h>

enum { HELD_SITES = 32 }; /* the largest: for them, reports say who holds what their line made */

json_t *seep_json_site_id(uint32_t site)
{
    char id[16];

    snprintf(id, sizeof id, "S%u", site + 1);
    return json_string(id);
}

/* *shown: the index of the frame that the user should look at. */
static json_t *stack_of(const struct seep_report_pieces *pieces, uint32_t stack, json_int_t *shown)
{
    const struct seep_dictionary *d = &pieces->code->model->dict;
    uint32_t wanted = pieces->code->lines->shown[stack];
    json_t *list = json_array();

    *shown = -1;
    for (; stack; stack = d->stacks[stack].parent) {
        uint32_t frame = d->stacks[stack].frame;
        if (*shown < 0 && pieces->code->lines->line_of[frame] == wanted)
            *shown =
                (json_int_t)(json_array_size(list) + pieces->code->lines->kinds->named_by[frame]);
        if (seep_json_frames_append(pieces, frame, list)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The age at which at least `share` of the frees had happened. */
static uint64_t quantile(const struct seep_model_extra *e, uint64_t total, double share)
{
    uint64_t below = 0;

    for (unsigned i = 0; i < SEEP_LIFETIME_BUCKETS; i++) {
        below += seep_frees_of_age(&e->counts, i);
        if ((double)below >= share * (double)total)
            return seep_lifetime_floor(i);
    }
    return e->max_lifetime;
}

/* Ages of freed blocks; null if nothing was freed or no ages were recorded. A site of a few steps
 * has no detail: its ages are known only if all is in one step, where nothing grew older than 0. */
static json_t *lifetimes_of(const struct seep_model *m, const struct seep_model_site *site)
{
    const struct seep_model_extra *e = site->extra ? &m->extras[site->extra - 1] : NULL;
    uint64_t total = 0;

    for (unsigned i = 0; e && i < SEEP_LIFETIME_BUCKETS; i++)
        total += seep_frees_of_age(&e->counts, i);
    bool in_one_step = !e && site->first_step == site->last_step;
    if (!site->totals.frees || (!total && !in_one_step))
        return json_pack("{s:n, s:n, s:n}", "p50", "p99", "max");
    if (in_one_step)
        return json_pack("{s:i, s:i, s:i}", "p50", 0, "p99", 0, "max", 0);
    return json_pack("{s:o, s:o, s:o}", "p50", seep_json_count(quantile(e, total, 0.5)), "p99",
                     seep_json_count(quantile(e, total, 0.99)), "max",
                     seep_json_count(e->max_lifetime));
}

static json_t *pids_of(const struct seep_model *m, const struct seep_model_site *site)
{
    uint32_t n = 0, *list = malloc(((size_t)site->n_slots + 1) * sizeof *list);

    if (!list)
        return NULL;
    for (uint32_t k = site->slots; k && n < site->n_slots; k = m->slots[k - 1].next)
        list[n++] = m->processes[m->slots[k - 1].process].id.pid;
    json_t *pids = seep_json_pids(list, n);
    free(list);
    return pids;
}

static json_t *site_json(const struct seep_report_pieces *pieces, uint32_t id,
                         struct seep_level *level, bool *failed)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_model_site *site = &m->sites[id];
    json_t *json = seep_json_totals(&site->totals);
    struct seep_slope slope = {0, 0, 0};
    json_int_t shown;

    if (seep_growth_of_site(m, &pieces->findings->span, id, level, &slope))
        *failed = true;
    seep_json_set(json, "id", seep_json_site_id(id), failed);
    seep_json_set(json, "space", json_string(m->spaces[site->space].name.text), failed);
    seep_json_set(
        json, "part",
        json_string(seep_part_name((enum seep_part)pieces->code->lines->part[site->stack])),
        failed);
    seep_json_set(json, "stack", stack_of(pieces, site->stack, &shown), failed);
    seep_json_set(json, "look_at", shown >= 0 ? json_integer(shown) : json_null(), failed);
    seep_json_set(json, "growth_bytes_per_step", seep_json_slope(&slope), failed);
    seep_json_set(json, "retained_bytes",
                  seep_json_count(seep_retained_of_site(m, &pieces->findings->span, id)), failed);
    seep_json_set(json, "lifetime_steps", lifetimes_of(m, site), failed);
    seep_json_set(json, "processes", pids_of(m, site), failed);
    if (pieces->series && seep_level_sum(m, &id, 1, SEEP_LEVEL_ALL, level))
        *failed = true;
    if (pieces->series) {
        seep_json_set(json, "series", seep_json_series(level), failed);
        seep_json_set(json, "sizes",
                      seep_json_sizes(site->extra ? &m->extras[site->extra - 1] : NULL), failed);
        seep_json_set(json, "threads", seep_json_site_threads(m, site), failed);
        seep_json_set(json, "lifetimes",
                      seep_json_lifetimes(site->extra ? &m->extras[site->extra - 1] : NULL),
                      failed);
    }
    return json;
}

/* The answer applies only if the snapshot looked at the site's own processes and at its time. */
static void set_holders(const struct seep_report_pieces *pieces, uint32_t id,
                        struct seep_level *level, json_t *json, bool *failed)
{
    const struct seep_model_site *site = &pieces->code->model->sites[id];
    json_t *answer =
        seep_json_holders(pieces, site->space, pieces->code->lines->shown[site->stack]);
    struct seep_site_held held;

    if (seep_site_held_by(pieces->code->model, json_is_object(answer) ? answer : NULL, id, level,
                          &held))
        *failed = true;
    if (!held.known) {
        json_decref(answer);
        answer = json_null();
    }
    seep_json_set(json, "holders", answer, failed);
    seep_json_set(json, "held_bytes", held.known ? seep_json_count(held.bytes) : json_null(),
                  failed);
}

static json_t *make_site(struct seep_json_stream *stream, size_t i)
{
    struct seep_report_sites *sites = (struct seep_report_sites *)stream;
    const uint32_t id = sites->chosen[i];
    bool failed = false;
    json_t *one = site_json(sites->pieces, id, &sites->level, &failed);

    if (i < HELD_SITES)
        set_holders(sites->pieces, id, &sites->level, one, &failed);
    return seep_json_whole(one, failed);
}

void seep_report_sites_init(struct seep_report_sites *sites,
                            const struct seep_report_pieces *pieces, const uint32_t *chosen,
                            size_t n)
{
    *sites =
        (struct seep_report_sites){.stream = {n, make_site}, .pieces = pieces, .chosen = chosen};
}

void seep_report_sites_fini(struct seep_report_sites *sites)
{
    seep_level_fini(&sites->level);
}
