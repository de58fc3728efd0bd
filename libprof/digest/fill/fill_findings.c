/* Findings, by what they are about and by process. */
#include "libprof/digest/fill/fill_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/digest/digest_names.h"

#include <stdlib.h>
#include <string.h>

/* ---- an example -------------------------------------------------------------------------- */

static void copy_fields(const json_t *finding, json_t *to, bool *failed)
{
    static const char *const fields[] = {"title",       "advice",
                                         "confidence",  "confidence_word",
                                         "live_bytes",  "peak_bytes",
                                         "count",       "saving_bytes",
                                         "evidence",    "plateau_step",
                                         "limit_bytes", "steps_to_limit",
                                         "first_step",  "growth_bytes_per_step"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        json_t *value = json_object_get(finding, fields[i]);
        if (value)
            seep_json_set(to, fields[i], json_deep_copy(value), failed);
    }
}

/* Who holds most of it, in words. */
static void add_holder(const json_t *finding, json_t *to, bool *failed)
{
    const json_t *paths = json_object_get(json_object_get(finding, "holders"), "paths");
    const char *text = json_string_value(json_object_get(json_array_get(paths, 0), "text"));

    if (text)
        seep_json_set(to, "held_by", seep_json_text_n(text, strnlen(text, 400)), failed);
}

/* The finding as compact JSON, with less evidence if it is long; 0 if it is too long even so. */
static uint32_t example_of(struct seep_digest_fill *f, const json_t *finding)
{
    json_t *example = json_object();
    uint32_t id = 0;
    char *text = NULL;
    bool failed = false;

    copy_fields(finding, example, &failed);
    add_holder(finding, example, &failed);
    json_t *evidence = json_object_get(example, "evidence");
    do {
        free(text);
        text = failed ? NULL : json_dumps(example, JSON_COMPACT | JSON_SORT_KEYS);
    } while (text && strlen(text) >= SEEP_DIGEST_EXAMPLE_TEXT &&
             !json_array_remove(evidence, json_array_size(evidence) - 1));
    if (!text)
        f->d->failed = true;
    else if (strlen(text) < SEEP_DIGEST_EXAMPLE_TEXT)
        id = seep_digest_text(f->d, text);
    free(text);
    json_decref(example);
    return id;
}

/* ---- contributions ----------------------------------------------------------------------- */

/* What a process has of a finding. The finding's own figures are shared out by what each process's
 * part of its sites does, because each pattern has its own way to count them. */
struct share {
    uint64_t held, rise; /* at the end of the last judged step, and since the first one */
    uint64_t course[SEEP_DIGEST_COURSE];
};

static uint64_t at(const struct seep_level *level, int32_t step)
{
    const int64_t bytes = seep_level_at(level, step).bytes;

    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* A finding without sites is about what no line made: processes have equal parts of it. */
static void share_of(struct seep_digest_fill *f, const struct seep_finding *finding,
                     uint32_t process, struct share *share)
{
    const struct seep_span *span = &f->findings->span;

    *share = (struct share){.held = 1, .rise = 1};
    if (!finding->n_sites)
        return;
    if (seep_level_resident(f->code->model, finding->sites, finding->n_sites, process, &f->level)) {
        f->d->failed = true;
        return;
    }
    const uint64_t low = at(&f->level, span->judge);
    share->held = at(&f->level, span->last);
    share->rise = share->held > low ? share->held - low : 0;
    if (!share->held)
        share->held = (uint64_t)seep_level_highest(&f->level).bytes;
    seep_digest_level_course(f, &f->level, share->course);
}

/* The part of a total: part / all; 0 if there is nothing to go by. */
static uint64_t part_of(uint64_t total, uint64_t part, uint64_t all)
{
    return all ? (uint64_t)((unsigned __int128)total * part / all) : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* `all`: the sums over the finding's processes. */
static void add_share(struct seep_digest_fill *f, const struct seep_finding *finding,
                      struct seep_digest_found found, uint32_t about, uint32_t process,
                      const struct share *share, const struct share *all)
{
    const struct seep_model_process *p = &f->code->model->processes[process];
    const uint64_t total = larger(finding->live_bytes, finding->asked_bytes);
    const uint64_t bytes = part_of(total, share->held, all->held);
    const double growth = finding->growth.value > 0 ? finding->growth.value * 1000 : 0;
    const struct seep_digest_key key = {
        .kind = SEEP_DIGEST_FINDINGS, .bucket = seep_digest_bucket(bytes), .about = about};

    found.growth_sum =
        part_of(growth < 9e18 ? (uint64_t)growth : SEEP_DIGEST_MOST, share->rise, all->rise);
    found.growth_most = found.growth_sum;
    found.blocks = part_of(finding->count, share->held, all->held);
    found.ranks = p->id.rank >= 0;
    found.least_rank = found.most_rank = p->id.rank;
    found.least_host = found.most_host = seep_digest_fill_who(f, process, 0).host;
    if (finding->severity == SEEP_LEAK || finding->severity == SEEP_RETENTION)
        f->growth[process] = seep_digest_sum(f->growth[process], found.growth_sum);
    seep_digest_fill_row(f, key, process, bytes, share->course, &found);
}

static void add_shares(struct seep_digest_fill *f, const struct seep_finding *finding,
                       const struct seep_digest_found *found, uint32_t about,
                       const uint32_t *processes, size_t n)
{
    struct share *shares = calloc(n, sizeof *shares), all = {0};

    f->d->failed |= !shares;
    for (size_t i = 0; i < n && !f->d->failed; i++) {
        share_of(f, finding, processes[i], &shares[i]);
        all.held = seep_digest_sum(all.held, shares[i].held);
        all.rise = seep_digest_sum(all.rise, shares[i].rise);
    }
    for (size_t i = 0; i < n && !f->d->failed; i++)
        add_share(f, finding, *found, about, processes[i], &shares[i], &all);
    free(shares);
}

static void add_finding(struct seep_digest_fill *f, const struct seep_finding *finding,
                        const json_t *json)
{
    const struct seep_model *m = f->code->model;
    const json_t *frame = json_object_get(json, "frame");
    const struct seep_digest_about about = {
        .pattern = (uint8_t)finding->pattern,
        .severity = (uint8_t)finding->severity,
        .part = (uint8_t)finding->part,
        .space = seep_digest_text(f->d, m->spaces[finding->space].name.text),
        .frame = json_is_object(frame) ? seep_digest_fill_frame(f, frame) : 0};
    const struct seep_digest_found found = {
        .first_step = finding->first_step > 0 ? (uint64_t)finding->first_step : 0,
        .example = example_of(f, json)};
    const uint32_t id = seep_digest_about(f->d, &about);

    if (finding->n_processes)
        add_shares(f, finding, &found, id, finding->processes, finding->n_processes);
    else
        add_shares(f, finding, &found, id, &m->main, 1);
}

void seep_digest_fill_findings(struct seep_digest_fill *f)
{
    const json_t *list = json_object_get(f->report, "findings");

    for (size_t i = 0; i < f->findings->n && !f->d->failed; i++)
        add_finding(f, &f->findings->list[i], json_array_get(list, i));
}
