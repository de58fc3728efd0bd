/* This file gives findings and large sites of report.json the answer to who holds what they made.
 */
#include "libprof/report/report_pieces.h"

static uint64_t bytes_of(const json_t *holders)
{
    return (uint64_t)json_integer_value(json_object_get(holders, "bytes"));
}

/* Snapshots see the host's memory alone. */
static bool is_seen(const struct seep_report_pieces *pieces, uint16_t space)
{
    const struct seep_space_name *name = &pieces->m->spaces[space].name;

    return json_object_size(pieces->holders->of_frame) &&
           (name->host_like || name->class == SEEP_CLASS_SHM);
}

json_t *seep_json_holders(const struct seep_report_pieces *pieces, uint16_t space, uint32_t frame)
{
    const uint32_t *line_of = pieces->frames->line_of;
    json_t *best = json_null();

    if (!is_seen(pieces, space))
        return best;
    for (uint32_t i = 0; i < pieces->m->dict.n_frames; i++) {
        if (line_of[i] != line_of[frame])
            continue;
        json_t *place = seep_json_look_at(pieces, i);
        json_t *its = place ? seep_holders_of(pieces->holders, place) : NULL;
        json_decref(place);
        if (!its) {
            json_decref(best);
            return NULL;
        }
        json_t *less = bytes_of(its) > bytes_of(best) ? best : its;
        best = less == best ? its : best;
        json_decref(less);
    }
    return best;
}
