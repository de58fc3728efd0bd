/* This file writes the sites of report.json. */
#include "libprof/report/report_pieces.h"

#include "libprof/code/function_kinds.h"
#include "libprof/measure/space_growth.h"
#include "libprof/model/live_level.h"
#include "libprof/who/merge/site_holders.h"

#include <stdio.h>
#include <stdlib.h>

enum { HELD_SITES = 32 }; /* the largest: for them, reports say who holds what their line made */

const char *seep_report_site_id(uint32_t site, char text[SEEP_SITE_ID_TEXT])
{
    snprintf(text, SEEP_SITE_ID_TEXT, "S%u", site + 1);
    return text;
}

json_t *seep_json_site_id(uint32_t site)
{
    char id[SEEP_SITE_ID_TEXT];

    return json_string(seep_report_site_id(site, id));
}

/* *shown: the index of the frame that the user should look at. */
static json_t *stack_of(const struct seep_report_pieces *pieces, uint32_t stack, int64_t *shown)
{
    const struct seep_dictionary *d = &pieces->code->model->dict;
    uint32_t wanted = pieces->code->lines->shown[stack];
    json_t *list = json_array();

    *shown = -1;
    for (; stack; stack = d->stacks[stack].parent) {
        uint32_t frame = d->stacks[stack].frame;
        if (*shown < 0 && pieces->code->lines->line_of[frame] == wanted)
            *shown = (int64_t)(json_array_size(list) + pieces->code->lines->kinds->named_by[frame]);
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
        return SEEP_REPORT_JSON(ages, .p50 = -1, .p99 = -1, .max = -1);
    if (in_one_step)
        return SEEP_REPORT_JSON(ages, .p50 = 0, .p99 = 0, .max = 0);
    return SEEP_REPORT_JSON(ages, .p50 = seep_count_if(true, quantile(e, total, 0.5)),
                            .p99 = seep_count_if(true, quantile(e, total, 0.99)),
                            .max = seep_count_if(true, e->max_lifetime));
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

/* The answer applies only if the snapshot looked at the site's own processes and at its time. */
static void set_holders(const struct seep_report_pieces *pieces, uint32_t id,
                        struct seep_level *level, struct seep_report_site *its, bool *failed)
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
    its->holders = answer;
    its->held_bytes =
        held.known ? seep_json_made(seep_json_count(held.bytes), failed) : json_null();
}

static void set_series(const struct seep_report_pieces *pieces, uint32_t id,
                       struct seep_level *level, struct seep_report_site *its, bool *failed)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_model_site *site = &m->sites[id];
    const struct seep_model_extra *extra = site->extra ? &m->extras[site->extra - 1] : NULL;

    if (seep_level_sum(m, &id, 1, SEEP_LEVEL_ALL, level))
        *failed = true;
    its->series = seep_json_made(seep_json_series(level), failed);
    its->sizes = seep_json_made(seep_json_sizes(extra), failed);
    its->threads = seep_json_made(seep_json_site_threads(m, site), failed);
    its->lifetimes = seep_json_made(seep_json_lifetimes(extra), failed);
}

static json_t *make_site(struct seep_json_stream *stream, size_t i)
{
    struct seep_report_sites *sites = (struct seep_report_sites *)stream;
    const struct seep_report_pieces *pieces = sites->pieces;
    const struct seep_model *m = pieces->code->model;
    const struct seep_span *span = &pieces->findings->span;
    const uint32_t number = sites->chosen[i];
    const struct seep_model_site *site = &m->sites[number];
    const enum seep_part part = (enum seep_part)pieces->code->lines->part[site->stack];
    char id[SEEP_SITE_ID_TEXT];
    bool failed = false;
    struct seep_report_site its = {.id = seep_report_site_id(number, id),
                                   .space = m->spaces[site->space].name.text,
                                   .part = seep_part_name(part),
                                   SEEP_REPORT_TOTALS(&site->totals),
                                   .retained_bytes = seep_retained_of_site(m, span, number),
                                   .lifetime_steps = lifetimes_of(m, site),
                                   .processes = pids_of(m, site),
                                   .n_processes = -1};

    its.stack = stack_of(pieces, site->stack, &its.look_at);
    if (seep_growth_of_site(m, span, number, &sites->level, &its.growth_bytes_per_step))
        failed = true;
    if (pieces->series)
        set_series(pieces, number, &sites->level, &its, &failed);
    if (i < HELD_SITES)
        set_holders(pieces, number, &sites->level, &its, &failed);
    return seep_json_whole(seep_report_site_json(&its), failed);
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
