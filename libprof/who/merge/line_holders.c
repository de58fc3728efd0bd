#include "libprof/who/merge/line_holders.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/json_build.h"
#include "libprof/code/code.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/who/merge/holders_read.h"
#include "libprof/who/merge/hops.h"

/* What grew decides who is asked for it: a line may keep a table for good and lose all that it
 * makes later. */

static double number_of(const json_t *answer, const char *key)
{
    return json_number_value(json_object_get(answer, key));
}

static bool is_held(const json_t *answer)
{
    const char *state = seep_hops_said(answer, "state");

    return strcmp(state, seep_holders_states[SEEP_HOLDERS_HELD]) == 0 ||
           strcmp(state, seep_holders_states[SEEP_HOLDERS_SHARED]) == 0;
}

/* What the line had in the answer's processes before most steps. */
static int measure_before(const struct seep_code *code, uint32_t line, const json_t *answer,
                          double *before)
{
    const struct seep_model *m = code->model;
    struct seep_level level = {0};
    uint32_t *sites = malloc((m->n_sites + (size_t)1) * sizeof *sites);
    const json_t *pid;
    size_t n = 0, i;
    int rc = sites ? 0 : -SEEP_ENOMEM;

    for (uint32_t s = 0; s < m->n_sites && !rc; s++) {
        if (m->spaces[m->sites[s].space].name.host_like &&
            code->lines->shown[m->sites[s].stack] == line)
            sites[n++] = s;
    }
    for (uint32_t p = 0; p < m->n_processes && !rc; p++) {
        json_array_foreach (json_object_get(answer, "pids"), i, pid) {
            if (rc || json_integer_value(pid) != (json_int_t)m->processes[p].id.pid)
                continue;
            rc = seep_level_sum(m, sites, n, p, &level);
            *before += rc ? 0 : (double)seep_level_at(&level, 1).bytes;
        }
    }
    seep_level_fini(&level);
    free(sites);
    return rc;
}

static json_t *as_lost(const json_t *answer)
{
    static const char *const of_holder[] = {"grows", "growth_per_step"};
    json_t *json = json_object();
    bool failed = json_object_update(json, (json_t *)answer) != 0;

    seep_json_set(json, "state", json_string(seep_holders_states[SEEP_HOLDERS_LOST]), &failed);
    seep_json_set(json, "paths", json_array(), &failed);
    seep_json_set(json, "length", json_array(), &failed);
    for (size_t i = 0; i < sizeof of_holder / sizeof *of_holder; i++)
        seep_json_set(json, of_holder[i], json_null(), &failed);
    return seep_json_whole(json, failed);
}

/* Of an answer that names a holder though nobody holds most of the line's memory: if what the line
 * had at the end of step 1 cannot be half of what is lost since, a new answer that says so, else
 * *lost is NULL. `line`: the frame that stands for it. Returns 0 or -SEEP_ENOMEM. */
static int grown_lost(const struct seep_code *code, uint32_t line, const json_t *answer,
                      json_t **lost)
{
    const double all = number_of(answer, "bytes"), nobodys = number_of(answer, "lost_bytes");
    double before = 0;

    *lost = NULL;
    if (!is_held(answer) || !json_is_true(json_object_get(answer, "complete")) ||
        nobodys < SEEP_T_KEPT_LOST * all)
        return 0;
    if (measure_before(code, line, answer, &before))
        return -SEEP_ENOMEM;
    if (all - before < SEEP_T_SHOWN_BYTES || nobodys - before < SEEP_T_HALF * (all - before))
        return 0;
    *lost = as_lost(answer);
    return *lost ? 0 : -SEEP_ENOMEM;
}

static json_int_t bytes_of(const json_t *answer)
{
    return json_integer_value(json_object_get(answer, "bytes"));
}

/* The key of a frame of the dictionary in snapshot files; "" if they cannot name it. */
static char *key_of(const struct seep_dictionary *d, uint32_t frame)
{
    const struct seep_dict_frame *f = &d->frames[frame];
    const char *place = "";

    if (!f->pseudo && f->kind == SEEP_FRAME_PYTHON)
        place = f->where ? seep_dictionary_text(d, f->source) : "";
    else if (!f->pseudo && f->kind == SEEP_FRAME_NATIVE && f->source)
        place = seep_dictionary_text(d, d->modules[f->source].path);
    return seep_holders_place_key(place, f->where);
}

/* Takes the answers again in which what grew is lost, whoever holds the rest. */
static int tell_lost(struct seep_line_holders *lines, const struct seep_code *code)
{
    lines->lost = json_array();
    for (uint32_t i = 0; i < lines->n; i++) {
        json_t *lost = NULL;
        if (lines->of_line[i] && grown_lost(code, i, lines->of_line[i], &lost))
            return -SEEP_ENOMEM;
        if (!lost)
            continue;
        if (json_array_append_new(lines->lost, lost))
            return -SEEP_ENOMEM;
        lines->of_line[i] = lost;
    }
    return lines->lost ? 0 : -SEEP_ENOMEM;
}

int seep_line_holders_init(struct seep_line_holders *lines, const struct seep_holders *holders,
                           const struct seep_code *code)
{
    const struct seep_dictionary *dict = &code->model->dict;

    *lines = (struct seep_line_holders){.small = holders->small.answer ? &holders->small : NULL};
    if (!json_object_size(holders->of_frame) && !lines->small)
        return 0;
    lines->of_line = calloc(dict->n_frames, sizeof(json_t *));
    if (!lines->of_line)
        return -SEEP_ENOMEM;
    lines->n = dict->n_frames;
    for (uint32_t i = 0; i < dict->n_frames; i++) {
        char *key = key_of(dict, i);
        if (!key)
            return -SEEP_ENOMEM;
        json_t *its = *key ? json_object_get(holders->of_frame, key) : NULL;
        json_t **best = &lines->of_line[code->lines->line_of[i]];
        if (its && (!*best || bytes_of(its) > bytes_of(*best)))
            *best = its;
        if (*key && lines->small && strcmp(key, lines->small->table) == 0)
            lines->small_table = code->lines->line_of[i];
        free(key);
    }
    return tell_lost(lines, code);
}

void seep_line_holders_fini(struct seep_line_holders *lines)
{
    free(lines->of_line);
    json_decref(lines->lost);
    *lines = (struct seep_line_holders){0};
}

/* Snapshots see only what lies in the process. */
static bool is_seen(const struct seep_space_name *space)
{
    return space->host_like || space->class == SEEP_CLASS_SHM || space->class == SEEP_CLASS_PINNED;
}

json_t *seep_line_holders_of(const struct seep_line_holders *lines, const struct seep_code *code,
                             uint16_t space, uint32_t frame)
{
    uint32_t line = lines->n ? code->lines->line_of[frame] : 0;

    return line < lines->n && is_seen(&code->model->spaces[space].name) ? lines->of_line[line]
                                                                        : NULL;
}
