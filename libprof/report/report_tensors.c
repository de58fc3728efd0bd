/* The books of PyTorch's allocators beside ours: what it said of its blocks, and what it said of
 * their sum. */
#include "libprof/report/report_pieces.h"

#include "libprof/base/text.h"
#include "libprof/measure/device_memory.h"
#include "libprof/report/report_said.h"

json_t *seep_json_tensors(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (int i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_device_memory d = seep_device_memory_of(m, i);
        if (d.reports)
            seep_json_append(list,
                             json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "device", (json_int_t)i,
                                       "reports", seep_json_count(d.reports), "live_bytes",
                                       seep_json_count(d.live_bytes), "allocated_bytes",
                                       seep_json_count(d.allocated_bytes), "reserved_bytes",
                                       seep_json_count(d.reserved_bytes), "drift_bytes",
                                       seep_json_count(d.drift_bytes)),
                             &failed);
    }
    return seep_json_whole(list, failed);
}

json_t *seep_json_shortages(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_shortages; i++) {
        const struct seep_model_shortage *its = &m->shortages[i];
        const uint32_t frame = its->stack ? pieces->code->lines->shown[its->stack] : 0;
        seep_json_append(list,
                         json_pack("{s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "pid",
                                   (json_int_t)m->processes[its->process].id.pid, "space",
                                   m->spaces[its->space].name.text, "source",
                                   its->by_runtime ? "runtime" : "allocator", "step",
                                   (json_int_t)(its->step > 0 ? its->step : 0), "asked_bytes",
                                   seep_json_count(its->asked_bytes), "allocated_bytes",
                                   seep_json_count(its->allocated_bytes), "reserved_bytes",
                                   seep_json_count(its->reserved_bytes), "registered_bytes",
                                   seep_json_count(its->registered_bytes), "registers",
                                   its->registers, "frame",
                                   frame ? seep_json_shown(pieces, frame) : json_null()),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

void seep_said_tensors(struct seep_said *said)
{
    for (int i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_device_memory d = seep_device_memory_of(said->pieces->code->model, i);
        char drift[SEEP_SIZE_TEXT];
        if (d.drift_bytes)
            seep_said_add(said,
                          "GPU %d: the tensors that seep saw and PyTorch's own total differed by "
                          "up to %s",
                          i, seep_text_size((double)d.drift_bytes, drift));
    }
}
