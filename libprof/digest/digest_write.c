#include "libprof/digest/digest_write.h"

#include "libprof/base/json_build.h"
#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_order.h"
#include "libprof/digest/digest_words.h"
#include "libprof/report_read/report_fields.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    const struct seep_digest *d;
    struct seep_digest_order order;
    bool failed;
};

static void set(struct writer *w, json_t *object, const char *key, json_t *value)
{
    seep_json_set(object, key, value, &w->failed);
}

/* What was kept as text, as JSON again. */
static json_t *object_of(const struct writer *w, uint32_t text)
{
    return text ? json_loads(w->d->texts[text], 0, NULL) : json_null();
}

json_t *seep_digest_who_json(const struct seep_digest *d, const struct seep_digest_who *who)
{
    return SEEP_REPORT_JSON(who, .value = who->value, .rank = who->rank,
                            .local_rank = who->local_rank, .host = d->texts[who->host],
                            .pid = who->pid);
}

/* ---- rows -------------------------------------------------------------------------------- */

static json_t *course_json(struct writer *w, const struct seep_digest_row *row)
{
    json_t *list = json_array();
    size_t n = SEEP_DIGEST_COURSE;

    while (n && !row->course[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        seep_json_append(list, seep_json_count(row->course[i]), &w->failed);
    return list;
}

static void add_about(struct writer *w, json_t *json, const struct seep_digest_row *row)
{
    const struct seep_digest *d = w->d;
    const struct seep_digest_about *about = &d->subjects[row->key.about - 1];
    const struct seep_digest_found *found = &d->finding_rows[row->found - 1];

    set(w, json, "severity", json_string(seep_digest_severities[about->severity]));
    set(w, json, "pattern", json_string(seep_pattern_name((enum seep_pattern)about->pattern)));
    set(w, json, "space", json_string(d->texts[about->space]));
    set(w, json, "part", json_string(seep_digest_parts[about->part]));
    set(w, json, "frame",
        about->frame ? seep_json_count(w->order.frame_number[about->frame]) : json_null());
    set(w, json, "growth_sum_millibytes_per_step", seep_json_count(found->growth_sum));
    set(w, json, "growth_most_millibytes_per_step", seep_json_count(found->growth_most));
    set(w, json, "blocks", seep_json_count(found->blocks));
    set(w, json, "first_step", seep_json_count(found->first_step));
    set(w, json, "ranks", seep_json_count(found->ranks));
    set(w, json, "least_rank", seep_json_count_or_null(found->least_rank));
    set(w, json, "most_rank", seep_json_count_or_null(found->most_rank));
    set(w, json, "least_host", json_string(d->texts[found->least_host]));
    set(w, json, "most_host", json_string(d->texts[found->most_host]));
    set(w, json, "example", object_of(w, found->example));
}

static json_t *row_json(struct writer *w, const struct seep_digest_row *row)
{
    const struct seep_digest_kind_row *kind = &seep_digest_kinds[row->key.kind];
    json_t *json = json_object();

    if (row->key.kind == SEEP_DIGEST_FOLDED)
        set(w, json, "severity", json_string(seep_digest_severities[row->key.role]));
    else
        set(w, json, "role", json_string(seep_digest_roles[row->key.role]));
    if (row->key.kind != SEEP_DIGEST_FINDINGS)
        set(w, json, "of", json_string(w->d->texts[row->key.subject]));
    else
        add_about(w, json, row);
    if (row->key.kind == SEEP_DIGEST_SITES)
        set(w, json, "stack", seep_json_count(w->order.stack_number[row->key.about - 1]));
    if (kind->has_buckets)
        set(w, json, "bucket", json_integer(row->key.bucket));
    set(w, json, "n", seep_json_count(row->n));
    set(w, json, "sum", seep_json_count(row->sum));
    set(w, json, "max", seep_digest_who_json(w->d, &row->max));
    if (kind->has_course)
        set(w, json, "course", course_json(w, row));
    return json;
}

static void add_rows(struct writer *w, json_t *json)
{
    size_t i = 0;

    for (int kind = 0; kind < SEEP_N_DIGEST_KINDS; kind++) {
        json_t *list = json_array();
        for (; i < w->d->n_rows && w->d->rows[w->order.rows[i]].key.kind == kind; i++)
            seep_json_append(list, row_json(w, &w->d->rows[w->order.rows[i]]), &w->failed);
        set(w, json, seep_digest_kinds[kind].name, list);
    }
}

/* ---- what rows refer to ------------------------------------------------------------------ */

static json_t *frames_json(struct writer *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->order.n_frames; i++)
        seep_json_append(list, object_of(w, w->order.frames[i]), &w->failed);
    return list;
}

static json_t *stack_json(struct writer *w, const struct seep_digest_stack *stack)
{
    json_t *json = json_object(), *frames = json_array();

    for (size_t i = 0; i < stack->n; i++)
        seep_json_append(frames,
                         seep_json_count(w->order.frame_number[w->d->stack_frames[stack->at + i]]),
                         &w->failed);
    set(w, json, "part", json_string(seep_digest_parts[stack->part]));
    set(w, json, "look_at", seep_json_count_or_null(stack->look_at));
    set(w, json, "frames", frames);
    return json;
}

static json_t *stacks_json(struct writer *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->order.n_stacks; i++)
        seep_json_append(list, stack_json(w, &w->d->stacks[w->order.stacks[i]]), &w->failed);
    return list;
}

/* ---- the rest ---------------------------------------------------------------------------- */

static json_t *tops_json(struct writer *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->d->n_tops; i++) {
        const struct seep_digest_top *top = &w->d->extremes[w->order.extremes[i]];
        json_t *json = json_object(), *whos = json_array();
        for (uint32_t k = 0; k < top->n; k++)
            seep_json_append(whos, seep_digest_who_json(w->d, &top->who[k]), &w->failed);
        set(w, json, "role", json_string(seep_digest_roles[top->role]));
        set(w, json, "of", json_string(w->d->texts[top->subject]));
        set(w, json, "end", json_string(top->low ? "least" : "most"));
        set(w, json, "processes", whos);
        seep_json_append(list, json, &w->failed);
    }
    return list;
}

static json_t *cells_json(struct writer *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->d->n_cells; i++) {
        const struct seep_digest_cell *cell = &w->d->cells[w->order.cells[i]];
        json_t *row = json_array();
        seep_json_append(row, seep_json_count(cell->node), &w->failed);
        seep_json_append(row, seep_json_count(cell->local_rank), &w->failed);
        seep_json_append(row, seep_json_count(cell->n), &w->failed);
        for (int k = 0; k < SEEP_N_DIGEST_MEASURES; k++) {
            seep_json_append(row, seep_json_count(cell->sum[k]), &w->failed);
            seep_json_append(row, seep_json_count(cell->most[k]), &w->failed);
        }
        seep_json_append(list, row, &w->failed);
    }
    return list;
}

json_t *seep_digest_texts_json(const struct seep_digest *d, const struct seep_digest_set *set)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < set->n; i++)
        seep_json_append(list, json_string(d->texts[set->list[i]]), &failed);
    return seep_json_whole(list, failed);
}

static json_t *sources_json(struct writer *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->d->sources.n; i++)
        seep_json_append(list, seep_json_count(w->d->sources.list[i]), &w->failed);
    return list;
}

/* In hex, rank 0 in the lowest bit of the first digit, up to the last rank that is there. */
static json_t *ranks_json(const struct seep_digest *d)
{
    enum { DIGITS = SEEP_DIGEST_RANKS / 4 };
    char *text = malloc(DIGITS + 1);
    size_t n = 0;

    for (size_t i = 0; text && i < DIGITS; i++) {
        const unsigned four = d->ranks[i / 2] >> i % 2 * 4 & 15;
        text[i] = "0123456789abcdef"[four];
        n = four ? i + 1 : n;
    }
    json_t *json = text ? json_stringn(text, n) : NULL;
    free(text);
    return json;
}

static json_t *levels_json(const struct seep_digest *d)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i}", "sites", d->site_level, "findings",
                     d->finding_level, "spaces", d->space_level, "step_shift", d->step_shift,
                     "node_shift", d->node_shift);
}

static json_t *numbers_json(struct writer *w)
{
    json_t *json = json_object();

    for (int i = 0; i < SEEP_N_DIGEST_NUMBERS; i++)
        set(w, json, seep_digest_numbers[i], seep_json_count(w->d->numbers[i]));
    return json;
}

json_t *seep_digest_json(const struct seep_digest *d)
{
    struct writer w = {.d = d};
    json_t *json = seep_digest_order_init(&w.order, d) ? NULL : json_object();

    if (json) {
        set(&w, json, "format", json_string("seep-digest"));
        set(&w, json, "version", json_integer(SEEP_DIGEST_VERSION));
        set(&w, json, "seep", seep_digest_texts_json(d, &d->versions));
        set(&w, json, "commands", seep_digest_texts_json(d, &d->commands));
        set(&w, json, "cwds", seep_digest_texts_json(d, &d->cwds));
        set(&w, json, "job_ids", seep_digest_texts_json(d, &d->job_ids));
        set(&w, json, "step_sources", seep_digest_texts_json(d, &d->step_sources));
        set(&w, json, "numbers", numbers_json(&w));
        set(&w, json, "levels", levels_json(d));
        set(&w, json, "ranks", ranks_json(d));
        set(&w, json, "hosts", seep_digest_texts_json(d, &d->hosts));
        set(&w, json, "sources", sources_json(&w));
        set(&w, json, "frames", frames_json(&w));
        set(&w, json, "stacks", stacks_json(&w));
        add_rows(&w, json);
        set(&w, json, "tops", tops_json(&w));
        set(&w, json, "cells", cells_json(&w));
    }
    seep_digest_order_fini(&w.order);
    return seep_json_whole(json, w.failed);
}
