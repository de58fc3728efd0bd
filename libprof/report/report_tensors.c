/* What PyTorch's allocators reported, beside our own books: their blocks, and their sums. */
#include "libprof/report/report_pieces.h"

#include "libprof/base/text.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/host_refusal.h"
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

/* The limit by which the host refused it; null for a device. */
static json_t *bound_json(const struct seep_model_shortage *its)
{
    const struct seep_host_bound bound = seep_host_bound_of(its);

    return bound.kind ? json_pack("{s:s, s:o, s:o}", "kind", bound.kind, "bytes",
                                  seep_json_count(bound.bytes), "used_bytes",
                                  seep_json_count(bound.used_bytes))
                      : json_null();
}

static const char *source_of(const struct seep_model_shortage *its)
{
    switch (its->source) {
    case SEEP_SHORTAGE_BY_ALLOCATOR:
        return "allocator";
    case SEEP_SHORTAGE_BY_HOST:
        return "host";
    case SEEP_SHORTAGE_BY_PROGRAM:
        return "program";
    case SEEP_SHORTAGE_BY_RUNTIME:
    case SEEP_SHORTAGE_BY_REGISTER:
        break;
    }
    return "runtime";
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
                         json_pack("{s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:b, s:o, s:b, s:o}",
                                   "pid", (json_int_t)m->processes[its->process].id.pid, "space",
                                   m->spaces[its->space].name.text, "source", source_of(its),
                                   "step", (json_int_t)(its->step > 0 ? its->step : 0),
                                   "asked_bytes", seep_json_count(its->asked_bytes),
                                   "allocated_bytes", seep_json_count(its->allocated_bytes),
                                   "reserved_bytes", seep_json_count(its->reserved_bytes),
                                   "registered_bytes", seep_json_count(its->registered_bytes),
                                   "registers", its->source == SEEP_SHORTAGE_BY_REGISTER, "limit",
                                   bound_json(its), "retried", seep_host_refusal_is_probe(m, its),
                                   "frame", frame ? seep_json_shown(pieces, frame) : json_null()),
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
