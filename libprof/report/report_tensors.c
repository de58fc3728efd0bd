/* The books of PyTorch's allocators beside ours: what it said of its blocks, and what it said of
 * their sum. */
#include "libprof/report/report_pieces.h"

#include "libprof/base/text.h"
#include "libprof/report/report_said.h"

#include <stdio.h>

/* The sums over processes; of differences the largest. */
static struct seep_tensor_books books_of(const struct seep_model *m, size_t device)
{
    struct seep_tensor_books sum = {0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_tensor_books *its = &m->processes[i].recording.tensors[device];
        sum.reports = seep_sum(sum.reports, its->reports);
        sum.live_bytes = seep_sum(sum.live_bytes, its->live_bytes);
        sum.allocated_bytes = seep_sum(sum.allocated_bytes, its->allocated_bytes);
        sum.reserved_bytes = seep_sum(sum.reserved_bytes, its->reserved_bytes);
        if (its->drift_bytes > sum.drift_bytes)
            sum.drift_bytes = its->drift_bytes;
    }
    return sum;
}

json_t *seep_json_tensors(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_tensor_books b = books_of(m, i);
        if (b.reports)
            seep_json_append(list,
                             json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "device", (json_int_t)i,
                                       "reports", seep_json_count(b.reports), "live_bytes",
                                       seep_json_count(b.live_bytes), "allocated_bytes",
                                       seep_json_count(b.allocated_bytes), "reserved_bytes",
                                       seep_json_count(b.reserved_bytes), "drift_bytes",
                                       seep_json_count(b.drift_bytes)),
                             &failed);
    }
    return seep_json_whole(list, failed);
}

json_t *seep_json_no_room(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->m;
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_no_room; i++) {
        const struct seep_model_no_room *its = &m->no_room[i];
        const uint32_t frame = its->stack ? pieces->frames->look_at[its->stack] : 0;
        char space[24];
        snprintf(space, sizeof space, "tensor:%u", its->device);
        seep_json_append(list,
                         json_pack("{s:I, s:s, s:I, s:o, s:o, s:o, s:o}", "pid",
                                   (json_int_t)m->processes[its->process].id.pid, "space", space,
                                   "step", (json_int_t)(its->step > 0 ? its->step : 0),
                                   "asked_bytes", seep_json_count(its->asked_bytes),
                                   "allocated_bytes", seep_json_count(its->allocated_bytes),
                                   "reserved_bytes", seep_json_count(its->reserved_bytes), "frame",
                                   frame ? seep_json_look_at(pieces, frame) : json_null()),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

void seep_said_tensors(struct seep_said *said)
{
    for (size_t i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_tensor_books b = books_of(said->pieces->m, i);
        char drift[SEEP_SIZE_TEXT];
        if (b.drift_bytes)
            seep_said_add(
                said,
                "tensor:%zu: the blocks that were seen and PyTorch's own total differed by "
                "up to %s",
                i, seep_text_size((double)b.drift_bytes, drift));
    }
}
