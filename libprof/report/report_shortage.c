/* What a report says of an out-of-memory besides its evidence: who had the memory, in figures. */
#include "libprof/report/report_pieces.h"

#include "libprof/measure/shortage.h"

#include <stdio.h>

enum { MOST_LINES = 16 };

static json_t *lines_json(const struct seep_report_pieces *pieces, const struct seep_shortage *s)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < s->n_lines && i < MOST_LINES; i++) {
        const struct seep_shortage_line *line = &s->lines[i];
        seep_json_append(list,
                         json_pack("{s:o, s:o, s:o}", "frame", seep_json_shown(pieces, line->frame),
                                   "kept_bytes", seep_json_count(line->kept_bytes), "step_bytes",
                                   seep_json_count(line->step_bytes)),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *filler_json(const struct seep_shortage *s)
{
    char id[24];

    snprintf(id, sizeof id, "F%u", s->filler);
    return s->filler
               ? json_pack("{s:s, s:o}", "finding", id, "bytes", seep_json_count(s->filled_bytes))
               : json_null();
}

static json_t *count_if(bool known, uint64_t n)
{
    return known ? seep_json_count(n) : json_null();
}

json_t *seep_json_shortage(const struct seep_report_pieces *pieces, const struct seep_shortage *s)
{
    static const char *const causes[] = {
        [SEEP_SHORTAGE_FILLED] = "filled",
        [SEEP_SHORTAGE_FRAGMENTED] = "fragmented",
        [SEEP_SHORTAGE_OTHERS] = "others",
        [SEEP_SHORTAGE_TOO_LARGE] = "too-large",
    };
    const bool looked = s && s->device.capacity_bytes;
    bool failed = false;

    if (!s)
        return json_null();
    json_t *json = json_object();
    seep_json_set(json, "cause", json_string(causes[s->cause]), &failed);
    seep_json_set(json, "filler", filler_json(s), &failed);
    seep_json_set(json, "requests", seep_json_count(s->n_requests), &failed);
    seep_json_set(json, "step", json_integer(s->request->step > 0 ? s->request->step : 0), &failed);
    seep_json_set(json, "asked_bytes", seep_json_count(s->request->asked_bytes), &failed);
    seep_json_set(json, "allocated_bytes", seep_json_count(s->allocated_bytes), &failed);
    seep_json_set(json, "unallocated_bytes",
                  count_if(seep_shortage_has_reserve(s), s->unallocated_bytes), &failed);
    seep_json_set(json, "unallocated_pieces",
                  count_if(s->unallocated_pieces, s->unallocated_pieces), &failed);
    seep_json_set(json, "largest_piece_bytes",
                  count_if(s->unallocated_pieces, s->largest_piece_bytes), &failed);
    seep_json_set(json, "unusable_bytes", count_if(s->unallocated_pieces, s->unusable_bytes),
                  &failed);
    seep_json_set(json, "others_bytes", count_if(looked, s->device.others_bytes), &failed);
    seep_json_set(json, "fits_bytes", count_if(looked, s->free_bytes), &failed);
    seep_json_set(json, "lines", lines_json(pieces, s), &failed);
    return seep_json_whole(json, failed);
}
