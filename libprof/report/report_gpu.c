#include <stdio.h>
#include <stdlib.h>

#include "libprof/base/text.h"
#include "libprof/measure/device_layout.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/oom.h"
#include "libprof/measure/segments.h"
#include "libprof/report/report_pieces.h"
#include "libprof/report/report_said.h"
#include "libprof/verdict/what_if.h"

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

static json_t *device_json(const struct seep_model *m, int device,
                           const struct seep_device_memory *d)
{
    return SEEP_REPORT_JSON(device, .device = (uint64_t)device,
                            .capacity_bytes = seep_count_if(d->capacity_bytes, d->capacity_bytes),
                            .used_bytes = seep_count_if(d->looked, d->used_bytes),
                            .used_peak_bytes = seep_count_if(d->looked, d->used_peak_bytes),
                            .others_bytes = seep_count_if(d->looked, d->others_bytes),
                            .tensors_peak_bytes =
                                seep_count_if(d->reports, tensors_peak(m, device)),
                            .reserved_bytes = seep_count_if(d->reports, d->reserved_bytes),
                            .drift_bytes = seep_count_if(d->reports, d->drift_bytes),
                            .allocator_settings = settings_json(d->settings));
}

json_t *seep_json_devices(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (int i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct seep_device_memory d = seep_device_memory_of(m, i);
        if (seep_device_memory_is_known(&d))
            seep_json_append(list, device_json(m, i, &d), &failed);
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
        SEEP_REPORT_JSON(segment_tensors, .offset = offsets, .bytes = bytes, .site = sites),
        failed);
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
                         SEEP_REPORT_JSON(segment, .address = address, .bytes = its->bytes,
                                          .site = site_or_null(pieces, its->site),
                                          .cache = its->is_cache, .small = its->is_small,
                                          .tensors = tensors_json(pieces, layout, its)),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *left_out_json(const struct seep_model_layout *from)
{
    return from->left_out ? SEEP_REPORT_JSON(left_out_blocks, .blocks = from->left_out,
                                             .bytes = from->left_out_bytes)
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
    bool failed = false;
    json_t *json = SEEP_REPORT_JSON(
        layout, .device = from->device, .pid = m->processes[from->process].id.pid,
        .reason = reasons[from->reason], .step = from->step > 0 ? (uint64_t)from->step : 0,
        .t_s = (double)since / 1e9, .asked_bytes = seep_count_if(was_asked, from->asked_bytes),
        .taken_bytes = layout->taken_bytes, .tensor_bytes = layout->live_bytes,
        .other_bytes = layout->others_bytes, .outside_bytes = layout->outside_bytes,
        .free_bytes = layout->free_bytes, .free_pieces = layout->n_free,
        .largest_free_bytes = layout->largest_free_bytes,
        .unusable_bytes = seep_count_if(was_asked, layout->unusable_bytes),
        .left_out = left_out_json(from),
        .segments =
            pieces->layouts ? seep_json_made(segments_json(pieces, layout), &failed) : NULL);
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
            seep_json_append(
                list,
                SEEP_REPORT_JSON(tensor_book, .device = (uint64_t)i, .reports = d.reports,
                                 .live_bytes = d.live_bytes, .allocated_bytes = d.allocated_bytes,
                                 .reserved_bytes = d.reserved_bytes, .drift_bytes = d.drift_bytes),
                &failed);
    }
    return seep_json_whole(list, failed);
}

/* The limit by which the host refused it; null for a device. */
static json_t *bound_json(const struct seep_model_oom *its)
{
    const struct seep_host_bound bound = seep_host_bound_of(its);

    return bound.kind ? SEEP_REPORT_JSON(refusal_limit, .kind = bound.kind, .bytes = bound.bytes,
                                         .used_bytes = bound.used_bytes)
                      : json_null();
}

static const char *source_of(const struct seep_model_oom *its)
{
    switch (its->source) {
    case SEEP_OOM_BY_ALLOCATOR:
        return "allocator";
    case SEEP_OOM_BY_HOST:
        return "host";
    case SEEP_OOM_BY_PROGRAM:
        return "program";
    case SEEP_OOM_BY_RUNTIME:
    case SEEP_OOM_BY_REGISTER:
        break;
    }
    return "runtime";
}

json_t *seep_json_ooms(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_ooms; i++) {
        const struct seep_model_oom *its = &m->ooms[i];
        const uint32_t frame = its->stack ? pieces->code->lines->shown[its->stack] : 0;
        json_t *one = SEEP_REPORT_JSON(
            refusal, .pid = m->processes[its->process].id.pid,
            .space = m->spaces[its->space].name.text, .source = source_of(its),
            .step = its->step > 0 ? (uint64_t)its->step : 0, .asked_bytes = its->asked_bytes,
            .allocated_bytes = its->allocated_bytes, .reserved_bytes = its->reserved_bytes,
            .registered_bytes = its->registered_bytes,
            .registers = its->source == SEEP_OOM_BY_REGISTER,
            .limit = seep_json_made(bound_json(its), &failed),
            .retried = seep_host_refusal_is_probe(m, its),
            .frame = frame ? seep_json_shown(pieces, frame) : json_null());
        seep_json_append(list, one, &failed);
    }
    return seep_json_whole(list, failed);
}

json_t *seep_json_what_ifs(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_what_ifs; i++) {
        const struct seep_model_what_if *one = &m->what_ifs[i];
        char words[SEEP_WHAT_IF_WORDS];
        json_t *json = SEEP_REPORT_JSON(
            what_if, .pid = m->processes[one->process].id.pid, .device = one->its.device,
            .change = seep_what_if_words(&one->its, words),
            .frame = one->frame ? seep_json_shown(pieces, one->frame) : json_null(),
            .peak_bytes = one->its.peak_bytes, .private_bytes = one->its.private_bytes,
            .failed = one->its.failed, .refused = one->its.refused);
        seep_json_append(list, json, &failed);
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

enum { MAX_LINES = 16 };

static json_t *lines_json(const struct seep_report_pieces *pieces, const struct seep_oom *s)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < s->n_lines && i < MAX_LINES; i++) {
        const struct seep_oom_line *line = &s->lines[i];
        seep_json_append(
            list,
            SEEP_REPORT_JSON(shortage_line, .frame = seep_json_shown(pieces, line->frame),
                             .kept_bytes = line->kept_bytes, .step_bytes = line->step_bytes),
            &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *filler_json(const struct seep_oom *s)
{
    char id[24];

    snprintf(id, sizeof id, "F%u", s->filler);
    return s->filler ? SEEP_REPORT_JSON(filler, .finding = id, .bytes = s->filled_bytes)
                     : json_null();
}

json_t *seep_json_oom(const struct seep_report_pieces *pieces, const struct seep_oom *s)
{
    static const char *const causes[] = {
        [SEEP_OOM_FILLED] = "filled",
        [SEEP_OOM_FRAGMENTED] = "fragmented",
        [SEEP_OOM_OTHERS] = "others",
        [SEEP_OOM_TOO_LARGE] = "too-large",
    };

    if (!s)
        return json_null();
    const bool looked = s->device.capacity_bytes, noted = s->unallocated_pieces;
    return SEEP_REPORT_JSON(
        shortage, .cause = causes[s->cause], .filler = filler_json(s), .requests = s->n_requests,
        .step = s->request->step > 0 ? (uint64_t)s->request->step : 0,
        .asked_bytes = s->request->asked_bytes, .allocated_bytes = s->allocated_bytes,
        .unallocated_bytes = seep_count_if(seep_oom_has_reserve(s), s->unallocated_bytes),
        .unallocated_pieces = seep_count_if(noted, s->unallocated_pieces),
        .largest_piece_bytes = seep_count_if(noted, s->largest_piece_bytes),
        .unusable_bytes = seep_count_if(noted, s->unusable_bytes),
        .others_bytes = seep_count_if(looked, s->device.others_bytes),
        .fits_bytes = seep_count_if(looked, s->free_bytes), .lines = lines_json(pieces, s));
}
