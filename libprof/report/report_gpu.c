#include <stdio.h>
#include <stdlib.h>

#include "libprof/base/text.h"
#include "libprof/measure/device_layout.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/segments.h"
#include "libprof/measure/shortage.h"
#include "libprof/report/report_pieces.h"
#include "libprof/report/report_said.h"

/* Devices as a whole: their memory, and what it is used for. */

/* By bit of enum seep_allocator_settings, as PyTorch calls them. */
static const char *const settings[] = {"expandable_segments", "garbage_collection_threshold",
                                       "max_split_size_mb", "cudaMallocAsync", "no_memory_caching"};

static json_t *settings_json(unsigned bits)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (bits >> i & 1)
            seep_json_append(list, json_string(settings[i]), &failed);
    }
    return seep_json_whole(list, failed);
}

/* The highest number of bytes of its tensors live at one time; 0 if none were seen. */
static uint64_t tensors_peak(const struct seep_model *m, int device)
{
    for (uint16_t i = 0; i < m->n_spaces; i++) {
        if (m->spaces[i].name.class == SEEP_CLASS_TENSOR && m->spaces[i].name.device == device)
            return m->spaces[i].totals.peak_bytes;
    }
    return 0;
}

static json_t *count_if(bool known, uint64_t n)
{
    return known ? seep_json_count(n) : json_null();
}

static json_t *device_json(const struct seep_model *m, int device,
                           const struct seep_device_memory *d, bool *failed)
{
    const bool looked = d->looked;
    json_t *json = json_object();

    seep_json_set(json, "device", json_integer(device), failed);
    seep_json_set(json, "capacity_bytes", count_if(d->capacity_bytes, d->capacity_bytes), failed);
    seep_json_set(json, "used_bytes", count_if(looked, d->used_bytes), failed);
    seep_json_set(json, "used_peak_bytes", count_if(looked, d->used_peak_bytes), failed);
    seep_json_set(json, "others_bytes", count_if(looked, d->others_bytes), failed);
    seep_json_set(json, "tensors_peak_bytes", count_if(d->reports, tensors_peak(m, device)),
                  failed);
    seep_json_set(json, "reserved_bytes", count_if(d->reports, d->reserved_bytes), failed);
    seep_json_set(json, "drift_bytes", count_if(d->reports, d->drift_bytes), failed);
    seep_json_set(json, "allocator_settings", settings_json(d->settings), failed);
    return json;
}

json_t *seep_json_devices(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (int i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_device_memory d = seep_device_memory_of(m, i);
        if (seep_device_memory_is_known(&d))
            seep_json_append(list, device_json(m, i, &d, &failed), &failed);
    }
    return seep_json_whole(list, failed);
}

/* Layouts: where blocks were in the memory of devices, in sums and, with the option `layouts`, one
 * by one. */

/* The site's id if the report lists the site, else null. */
static json_t *site_or_null(const struct seep_report_pieces *pieces, uint32_t site)
{
    return site && pieces->shown[site - 1] ? seep_json_site_id(site - 1) : json_null();
}

/* Tensors of a segment, as columns: offset, size, site. */
static json_t *tensors_json(const struct seep_report_pieces *pieces,
                            const struct seep_device_layout *layout,
                            const struct seep_layout_segment *segment)
{
    json_t *offsets = json_array(), *bytes = json_array(), *sites = json_array();
    bool failed = false;

    for (size_t i = 0; i < segment->n && !failed; i++) {
        const struct seep_model_layout_block *its = &layout->tensors[segment->first + i];
        seep_json_append(offsets, seep_json_count(its->address - segment->address), &failed);
        seep_json_append(bytes, seep_json_count(its->bytes), &failed);
        seep_json_append(sites, site_or_null(pieces, its->site), &failed);
    }
    return seep_json_whole(
        json_pack("{s:o, s:o, s:o}", "offset", offsets, "bytes", bytes, "site", sites), failed);
}

static json_t *segments_json(const struct seep_report_pieces *pieces,
                             const struct seep_device_layout *layout)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < layout->n_segments && !failed; i++) {
        const struct seep_layout_segment *its = &layout->segments[i];
        char address[24];
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)its->address);
        seep_json_append(list,
                         json_pack("{s:s, s:o, s:o, s:b, s:b, s:o}", "address", address, "bytes",
                                   seep_json_count(its->bytes), "site",
                                   site_or_null(pieces, its->site), "cache", its->is_cache, "small",
                                   its->is_small, "tensors", tensors_json(pieces, layout, its)),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *left_out_json(const struct seep_model_layout *from)
{
    return from->left_out ? json_pack("{s:o, s:o}", "blocks", seep_json_count(from->left_out),
                                      "bytes", seep_json_count(from->left_out_bytes))
                          : json_null();
}

static json_t *layout_json(const struct seep_report_pieces *pieces,
                           const struct seep_device_layout *layout)
{
    static const char *const reasons[] = {[SEEP_LAYOUT_AT_PEAK] = "peak",
                                          [SEEP_LAYOUT_REFUSED] = "refused",
                                          [SEEP_LAYOUT_FAILED] = "failed"};
    const struct seep_model *m = pieces->code->model;
    const struct seep_model_layout *from = layout->from;
    const bool was_asked = from->reason != SEEP_LAYOUT_AT_PEAK;
    const uint64_t since = from->t_ns > m->start_ns ? from->t_ns - m->start_ns : 0;
    json_t *json = json_object();
    bool failed = false;

    seep_json_set(json, "device", seep_json_count(from->device), &failed);
    seep_json_set(json, "pid", seep_json_count(m->processes[from->process].id.pid), &failed);
    seep_json_set(json, "reason", json_string(reasons[from->reason]), &failed);
    seep_json_set(json, "step", json_integer(from->step > 0 ? from->step : 0), &failed);
    seep_json_set(json, "t_s", seep_json_real((double)since / 1e9), &failed);
    seep_json_set(json, "asked_bytes", was_asked ? seep_json_count(from->asked_bytes) : json_null(),
                  &failed);
    seep_json_set(json, "taken_bytes", seep_json_count(layout->taken_bytes), &failed);
    seep_json_set(json, "tensor_bytes", seep_json_count(layout->live_bytes), &failed);
    seep_json_set(json, "other_bytes", seep_json_count(layout->others_bytes), &failed);
    seep_json_set(json, "outside_bytes", seep_json_count(layout->outside_bytes), &failed);
    seep_json_set(json, "free_bytes", seep_json_count(layout->free_bytes), &failed);
    seep_json_set(json, "free_pieces", seep_json_count(layout->n_free), &failed);
    seep_json_set(json, "largest_free_bytes", seep_json_count(layout->largest_free_bytes), &failed);
    seep_json_set(json, "unusable_bytes",
                  was_asked ? seep_json_count(layout->unusable_bytes) : json_null(), &failed);
    seep_json_set(json, "left_out", left_out_json(from), &failed);
    if (pieces->layouts)
        seep_json_set(json, "segments", segments_json(pieces, layout), &failed);
    return seep_json_whole(json, failed);
}

json_t *seep_json_layouts(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    bool *marked = calloc(m->dict.n_stacks + 1, sizeof *marked);
    json_t *list = json_array();
    bool failed = !marked || (m->n_layouts && seep_segments_mark_all(pieces->code, marked));

    for (size_t i = 0; i < m->n_layouts && !failed; i++) {
        struct seep_device_layout layout;
        if (seep_device_layout_make(m, &m->layouts[i], marked, &layout)) {
            failed = true;
            break;
        }
        seep_json_append(list, layout_json(pieces, &layout), &failed);
        seep_device_layout_fini(&layout);
    }
    free(marked);
    return seep_json_whole(list, failed);
}

/* What PyTorch's allocators reported, beside our own books: their blocks, and their sums. */

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

/* What a report says of an out-of-memory besides its evidence: who had the memory, in figures. */

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
