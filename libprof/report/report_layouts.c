/* Layouts: where blocks were in the memory of devices, in sums and, with the option `layouts`, one
 * by one. */
#include "libprof/report/report_pieces.h"

#include "libprof/measure/device_layout.h"
#include "libprof/measure/segments.h"

#include <stdio.h>
#include <stdlib.h>

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
