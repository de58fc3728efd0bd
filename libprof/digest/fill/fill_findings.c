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

/* What a process has of a finding. */
struct share {
    uint64_t bytes, blocks; /* kept */
    uint64_t growth;        /* thousandths of bytes a step */
    uint64_t course[SEEP_DIGEST_COURSE];
};

static uint64_t at(const struct seep_level *level, int32_t step)
{
    const int64_t bytes = seep_level_at(level, step).bytes;

    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Growth from the end of the warm-up, if the finding grows. */
static uint64_t growth_of(const struct seep_digest_fill *f, const struct seep_finding *finding)
{
    const struct seep_span *span = &f->findings->span;
    const uint64_t low = at(&f->level, span->judge), high = at(&f->level, span->last);

    if (finding->growth.value <= 0 || high <= low || span->last <= span->judge)
        return 0;
    return (uint64_t)((double)(high - low) * 1000 / (double)(span->last - span->judge));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A finding without sites is about what no line made: processes have equal parts of it. */
static void share_of(struct seep_digest_fill *f, const struct seep_finding *finding,
                     uint32_t process, struct share *share)
{
    const uint64_t n = finding->n_processes ? finding->n_processes : 1;

    *share = (struct share){0};
    if (!finding->n_sites) {
        share->bytes = larger(finding->live_bytes, finding->asked_bytes) / n;
        share->blocks = finding->count / n;
        if (finding->growth.value > 0)
            share->growth = (uint64_t)(finding->growth.value * 1000 / (double)n);
        return;
    }
    if (seep_level_sum(f->code->model, finding->sites, finding->n_sites, process, &f->level)) {
        f->d->failed = true;
        return;
    }
    const int64_t blocks = seep_level_at(&f->level, f->findings->span.last).blocks;
    share->bytes = at(&f->level, f->findings->span.last);
    share->blocks = blocks > 0 ? (uint64_t)blocks : 0;
    if (!share->bytes)
        share->bytes = (uint64_t)seep_level_highest(&f->level).bytes;
    share->bytes = larger(share->bytes, finding->asked_bytes);
    share->growth = growth_of(f, finding);
    seep_digest_level_course(f, &f->level, share->course);
}

static void add_share(struct seep_digest_fill *f, const struct seep_finding *finding,
                      uint32_t about, uint32_t example, uint32_t process)
{
    const struct seep_model_process *p = &f->code->model->processes[process];
    const struct seep_digest_who who = seep_digest_fill_who(f, process, 0);
    struct share share;

    share_of(f, finding, process, &share);
    if (f->d->failed)
        return;
    const struct seep_digest_found found = {
        .growth_sum = share.growth,
        .growth_most = share.growth,
        .blocks = share.blocks,
        .first_step = finding->first_step > 0 ? (uint64_t)finding->first_step : 0,
        .ranks = p->id.rank >= 0,
        .least_rank = p->id.rank,
        .most_rank = p->id.rank,
        .least_host = who.host,
        .most_host = who.host,
        .example = example,
    };
    const struct seep_digest_key key = {
        .kind = SEEP_DIGEST_FINDINGS, .bucket = seep_digest_bucket(share.bytes), .about = about};
    if (finding->severity == SEEP_LEAK || finding->severity == SEEP_RETENTION)
        f->growth[process] = seep_digest_sum(f->growth[process], share.growth);
    seep_digest_fill_row(f, key, process, share.bytes, share.course, &found);
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
    const uint32_t id = seep_digest_about(f->d, &about), example = example_of(f, json);

    for (size_t i = 0; i < finding->n_processes && !f->d->failed; i++)
        add_share(f, finding, id, example, finding->processes[i]);
    if (!finding->n_processes && !f->d->failed)
        add_share(f, finding, id, example, m->main);
}

void seep_digest_fill_findings(struct seep_digest_fill *f)
{
    const json_t *list = json_object_get(f->report, "findings");

    for (size_t i = 0; i < f->findings->n && !f->d->failed; i++)
        add_finding(f, &f->findings->list[i], json_array_get(list, i));
}
