#include "libprof/who/merge/line_holders.h"

#include "libprof/who/merge/grown_lost.h"

#include <stdlib.h>
#include <string.h>

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
        if (lines->of_line[i] && seep_grown_lost(code, i, lines->of_line[i], &lost))
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
