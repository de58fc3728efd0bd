#include "libprof/report/report_pieces.h"

#include "libprof/code/frame_json.h"
#include "libprof/code/function_kinds.h"

#include <stdlib.h>
#include <string.h>

json_t *seep_json_argv(const char *argv, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n;) {
        size_t length = strnlen(argv + i, n - i);
        if (json_array_append_new(list, seep_json_text_n(argv + i, length))) {
            json_decref(list);
            return NULL;
        }
        i += (uint32_t)length + 1;
    }
    return list;
}

json_t *seep_json_space(const struct seep_totals *t, const struct seep_lane_growth *growth,
                        uint64_t capacity_bytes)
{
    bool failed = false;
    json_t *slope = growth->known ? seep_json_slope(&growth->slope) : json_null();
    json_t *json = SEEP_REPORT_JSON(
        space, SEEP_REPORT_TOTALS(t), .growth_bytes_per_step = seep_json_made(slope, &failed),
        .retained_bytes = seep_count_if(true, (uint64_t)growth->retained_bytes),
        .capacity_bytes = seep_count_if(capacity_bytes, capacity_bytes));

    return seep_json_whole(json, failed);
}

/* Makes the value of a key the same object in all frames that have it. */
static int share(json_t *texts, json_t *frame, const char *key)
{
    const json_t *its = json_object_get(frame, key);
    json_t *known = json_object_get(texts, json_is_string(its) ? json_string_value(its) : "");

    if (!json_is_string(its))
        return 0;
    return known ? json_object_set(frame, key, known)
                 : json_object_set(texts, json_string_value(its), (json_t *)its);
}

/* The frames of native code that were inlined into one another are a list. A frame alone, of which
 * a report may have a hundred thousand, stands for itself. NULL without memory. */
static json_t *frames_of(const struct seep_report_pieces *pieces, uint32_t id)
{
    static const char *const shared[] = {"kind", "function", "file", "module"};
    json_t *list = seep_frames_json(&pieces->code->model->dict, pieces->code->symbols, id), *frame;
    bool failed = !list;
    size_t i;

    json_array_foreach (list, i, frame) {
        for (size_t k = 0; k < sizeof shared / sizeof *shared; k++)
            failed |= share(pieces->frame_texts, frame, shared[k]) != 0;
    }
    if (failed || json_array_size(list) != 1)
        return seep_json_whole(list, failed);
    frame = json_incref(json_array_get(list, 0));
    json_decref(list);
    return frame;
}

int seep_json_frames_append(const struct seep_report_pieces *pieces, uint32_t frame, json_t *list)
{
    json_t **made = &pieces->frame_json[frame];

    if (!*made)
        *made = frames_of(pieces, frame);
    return json_is_object(*made) ? json_array_append(list, *made) : json_array_extend(list, *made);
}

json_t *seep_json_holders(const struct seep_report_pieces *pieces, uint16_t space, uint32_t frame)
{
    json_t *its = seep_line_holders_of(pieces->line_holders, pieces->code, space, frame);

    return its ? json_incref(its) : json_null();
}

json_t *seep_json_shown(const struct seep_report_pieces *pieces, uint32_t frame)
{
    /* json_copy() silently omits what it has no memory for. */
    json_t *list = json_array(), *copy = json_object();
    bool failed =
        seep_json_frames_append(pieces, frame, list) ||
        json_object_update(copy, json_array_get(list, pieces->code->lines->kinds->named_by[frame]));

    json_decref(list);
    json_object_del(copy, "inlined");
    return seep_json_whole(copy, failed);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

json_t *seep_json_pids(uint32_t *list, size_t n)
{
    json_t *pids = json_array();
    bool failed = false;

    if (n)
        qsort(list, n, sizeof *list, by_number);
    for (size_t i = 0; i < n; i++) {
        if (!i || list[i] != list[i - 1])
            seep_json_append(pids, seep_json_count(list[i]), &failed);
    }
    return seep_json_whole(pids, failed);
}
