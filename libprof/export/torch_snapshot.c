/* This file writes a device's memory as PyTorch's memory snapshot, for pytorch.org/memory_viz and
 * torch.cuda._memory_viz: the segments and blocks of its allocator when memory ran out, or when
 * most was taken. seep does not record the order of allocations, so the history is empty. */
#include "libprof/base/json_build.h"
#include "libprof/export/pickle.h"
#include "libprof/export/sites.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 1000 }; /* items: memory_viz makes each run the arguments of one call */

struct torch_snapshot {
    FILE *out;
    struct seep_json_stream *sites;
    json_t *layouts;    /* at most one per device */
    json_t *by_id;      /* the numbers of the sites that layouts name; null before they are known */
    bool is_expandable; /* PyTorch's allocator was set to grow its segments */
    struct seep_frames frames;
    bool failed;      /* for lack of memory */
    char **names;     /* of frames */
    bool *remembered; /* of frames: is in the pickle under its number */
    int n_devices;
};

/* A new reference; NULL without memory. */
static json_t *site_at(struct torch_snapshot *s, size_t i)
{
    json_t *site = s->sites->make(s->sites, i);

    s->failed |= !site;
    return site;
}

/* The site that a layout names; NULL if the report has none of that name. */
static json_t *site_of(struct torch_snapshot *s, const char *id)
{
    const json_t *number = json_object_get(s->by_id, id);

    return json_is_integer(number) ? site_at(s, (size_t)json_integer_value(number)) : NULL;
}

/* A frame is in the pickle once; stacks refer to it. */
static void put_frame(struct torch_snapshot *s, const json_t *frame)
{
    const uint32_t number = seep_frames_number(&s->frames, frame);

    if (s->remembered[number]) {
        seep_pickle_again(s->out, number);
        return;
    }
    seep_pickle_dict(s->out);
    seep_pickle_item_text(s->out, "filename",
                          seep_get_text(frame, "file", seep_get_text(frame, "module", "??")));
    seep_pickle_item_int(s->out, "line", seep_count_of(frame, "line"));
    seep_pickle_item_text(s->out, "name", s->names[number]);
    seep_pickle_dict_end(s->out);
    seep_pickle_remember(s->out, number);
    s->remembered[number] = true;
}

static void put_frames(struct torch_snapshot *s, const json_t *site)
{
    json_t *frame;
    size_t i;

    seep_pickle_text(s->out, "frames");
    seep_pickle_list(s->out);
    json_array_foreach (json_object_get(site, "stack"), i, frame)
        put_frame(s, frame);
    seep_pickle_list_end(s->out);
}

/* `site`: NULL if unknown. */
static void put_block(struct torch_snapshot *s, const json_t *site, int64_t address, int64_t size,
                      bool is_free)
{
    seep_pickle_dict(s->out);
    seep_pickle_item_int(s->out, "address", address);
    seep_pickle_item_int(s->out, "size", size);
    seep_pickle_item_int(s->out, "requested_size", is_free ? 0 : size);
    seep_pickle_item_text(s->out, "state", is_free ? "inactive" : "active_allocated");
    put_frames(s, site);
    seep_pickle_dict_end(s->out);
}

/* Lists in runs: see TOGETHER. */
static void next_in_list(struct torch_snapshot *s, int *in_run)
{
    if ((*in_run)++ == TOGETHER) {
        seep_pickle_list_more(s->out);
        *in_run = 1;
    }
}

struct segment {
    int device;
    int64_t address, total, allocated;
    bool is_small;
};

static void begin_segment(struct torch_snapshot *s, const struct segment *its, const json_t *site)
{
    seep_pickle_dict(s->out);
    seep_pickle_item_int(s->out, "device", its->device);
    seep_pickle_item_int(s->out, "address", its->address);
    seep_pickle_item_int(s->out, "total_size", its->total);
    seep_pickle_item_int(s->out, "allocated_size", its->allocated);
    seep_pickle_item_int(s->out, "active_size", its->allocated);
    seep_pickle_item_int(s->out, "requested_size", its->allocated);
    seep_pickle_item_int(s->out, "stream", 0);
    seep_pickle_item_text(s->out, "segment_type", its->is_small ? "small" : "large");
    seep_pickle_text(s->out, "segment_pool_id");
    seep_pickle_pair(s->out, 0, 0);
    seep_pickle_text(s->out, "is_expandable");
    seep_pickle_bool(s->out, s->is_expandable);
    put_frames(s, site);
    seep_pickle_text(s->out, "blocks");
}

static const char *text_at(const json_t *list, size_t i)
{
    const json_t *value = json_array_get(list, i);

    return json_is_string(value) ? json_string_value(value) : "";
}

static int64_t integer_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

/* Tensors, and the free memory between and after them. */
static void put_blocks(struct torch_snapshot *s, const struct segment *its, const json_t *tensors)
{
    const json_t *offsets = json_object_get(tensors, "offset"),
                 *bytes = json_object_get(tensors, "bytes"),
                 *sites = json_object_get(tensors, "site");
    int64_t end = 0;
    int in_run = 0;

    seep_pickle_list(s->out);
    for (size_t i = 0; i <= json_array_size(offsets); i++) {
        const bool is_last = i == json_array_size(offsets);
        const int64_t at = is_last ? its->total : integer_at(offsets, i);
        if (at > end) {
            next_in_list(s, &in_run);
            put_block(s, NULL, its->address + end, at - end, true);
        }
        if (is_last)
            break;
        json_t *site = site_of(s, text_at(sites, i));
        next_in_list(s, &in_run);
        put_block(s, site, its->address + at, integer_at(bytes, i), false);
        json_decref(site);
        end = at + integer_at(bytes, i);
    }
    seep_pickle_list_end(s->out);
}

static void put_segment(struct torch_snapshot *s, int device, const json_t *segment)
{
    const json_t *tensors = json_object_get(segment, "tensors");
    struct segment its = {
        .device = device,
        .address = strtoll(seep_get_text(segment, "address", "0"), NULL, 16),
        .total = seep_count_of(segment, "bytes"),
    };
    json_t *bytes, *site = site_of(s, seep_get_text(segment, "site", ""));
    size_t i;

    json_array_foreach (json_object_get(tensors, "bytes"), i, bytes)
        its.allocated += json_integer_value(bytes);
    its.is_small = json_is_true(json_object_get(segment, "small"));
    begin_segment(s, &its, site);
    json_decref(site);
    put_blocks(s, &its, tensors);
    seep_pickle_dict_end(s->out);
}

static void put_layout(struct torch_snapshot *s, const json_t *layout)
{
    const int device = (int)seep_count_of(layout, "device");
    json_t *segment;
    size_t i;

    json_array_foreach (json_object_get(layout, "segments"), i, segment) {
        if (json_is_true(json_object_get(segment, "cache")))
            put_segment(s, device, segment);
    }
}

static bool has_cache(const json_t *layout)
{
    json_t *segment;
    size_t i;

    json_array_foreach (json_object_get(layout, "segments"), i, segment) {
        if (json_is_true(json_object_get(segment, "cache")))
            return true;
    }
    return false;
}

/* An allocation that failed for good goes before a peak; of several processes, the one that had
 * taken most wins. */
static bool is_better(const json_t *layout, const json_t *than)
{
    const bool failed = strcmp(seep_get_text(layout, "reason", ""), "failed") == 0,
               other_failed = strcmp(seep_get_text(than, "reason", ""), "failed") == 0;

    if (failed != other_failed)
        return failed;
    return seep_count_of(layout, "taken_bytes") > seep_count_of(than, "taken_bytes");
}

/* The best layout of each device. Borrowed layouts, in a new list; NULL without memory. */
static json_t *choose_layouts(const json_t *report, bool *failed)
{
    json_t *by_device = json_object(), *layout;
    char device[24];
    size_t i;

    json_array_foreach (json_object_get(report, "layouts"), i, layout) {
        snprintf(device, sizeof device, "%lld", (long long)seep_count_of(layout, "device"));
        const json_t *other = json_object_get(by_device, device);
        if (has_cache(layout) && (!other || is_better(layout, other)))
            seep_json_set(by_device, device, json_incref(layout), failed);
    }
    return by_device;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void put_snapshot(struct torch_snapshot *s)
{
    const char *key;
    json_t *layout;

    seep_pickle_begin(s->out);
    seep_pickle_dict(s->out);
    seep_pickle_text(s->out, "segments");
    seep_pickle_list(s->out);
    json_object_foreach (s->layouts, key, layout)
        put_layout(s, layout);
    seep_pickle_list_end(s->out);
    seep_pickle_text(s->out, "device_traces");
    seep_pickle_list(s->out);
    for (int device = 0; device < s->n_devices; device++) {
        seep_pickle_list(s->out);
        seep_pickle_list_end(s->out);
    }
    seep_pickle_list_end(s->out);
    seep_pickle_text(s->out, "allocator_settings");
    seep_pickle_dict(s->out);
    seep_pickle_text(s->out, "expandable_segments");
    seep_pickle_bool(s->out, s->is_expandable);
    seep_pickle_dict_end(s->out);
    seep_pickle_dict_end(s->out);
    seep_pickle_end(s->out);
}

static void name_site(struct torch_snapshot *s, const json_t *id, bool *failed)
{
    if (json_is_string(id))
        seep_json_set(s->by_id, json_string_value(id), json_null(), failed);
}

/* Adds the sites that a layout names to by_id. */
static void name_sites(struct torch_snapshot *s, const json_t *layout, bool *failed)
{
    json_t *segment, *id;
    size_t i, k;

    json_array_foreach (json_object_get(layout, "segments"), i, segment) {
        name_site(s, json_object_get(segment, "site"), failed);
        json_array_foreach (json_object_get(json_object_get(segment, "tensors"), "site"), k, id)
            name_site(s, id, failed);
    }
}

/* Finds those sites. */
static void number_sites(struct torch_snapshot *s, bool *failed)
{
    for (size_t i = 0; json_object_size(s->by_id) && i < s->sites->n && !*failed; i++) {
        json_t *site = site_at(s, i);
        const char *id = seep_get_text(site, "id", "");
        *failed |= s->failed;
        if (json_object_get(s->by_id, id))
            seep_json_set(s->by_id, id, json_integer((json_int_t)i), failed);
        json_decref(site);
    }
}

/* Sets layouts and the numbers of devices. */
static int prepare_layouts(struct torch_snapshot *s, const json_t *report)
{
    bool failed = false;
    const char *key;
    json_t *one;

    s->layouts = choose_layouts(report, &failed);
    s->by_id = json_object();
    json_object_foreach (s->layouts, key, one) {
        const int device = (int)seep_count_of(one, "device");
        s->n_devices = device >= s->n_devices ? device + 1 : s->n_devices;
        name_sites(s, one, &failed);
    }
    number_sites(s, &failed);
    return failed || !s->layouts ? -SEEP_ENOMEM : 0;
}

static bool is_expandable(const json_t *report)
{
    json_t *device, *setting;
    size_t i, k;

    json_array_foreach (json_object_get(report, "devices"), i, device) {
        json_array_foreach (json_object_get(device, "allocator_settings"), k, setting) {
            if (json_is_string(setting) &&
                strcmp(json_string_value(setting), "expandable_segments") == 0)
                return true;
        }
    }
    return false;
}

static int prepare(struct torch_snapshot *s, const json_t *report)
{
    bool has_tensors;

    s->is_expandable = is_expandable(report);
    if (seep_frames_of_sites(s->sites, &s->frames, &has_tensors))
        return -SEEP_ENOMEM;
    s->names = calloc(s->frames.n + 1, sizeof *s->names);
    s->remembered = calloc(s->frames.n + 1, sizeof *s->remembered);
    if (!s->names || !s->remembered)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < s->frames.n; i++) {
        s->names[i] = seep_get_frame_function(s->frames.list[i]);
        if (!s->names[i])
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_export_torch_snapshot(const json_t *report, struct seep_json_stream *sites,
                               const struct seep_export_options *o, FILE *out)
{
    struct torch_snapshot s = {.out = out, .sites = sites};
    int rc = prepare(&s, report);

    (void)o;
    rc = rc ? rc : prepare_layouts(&s, report);
    if (!rc && !json_object_size(s.layouts))
        rc = -SEEP_ENODATA;
    if (!rc)
        put_snapshot(&s);
    for (size_t i = 0; s.names && i < s.frames.n; i++)
        free(s.names[i]);
    rc = s.failed ? -SEEP_ENOMEM : rc;
    free(s.names);
    free(s.remembered);
    json_decref(s.layouts);
    json_decref(s.by_id);
    seep_frames_fini(&s.frames);
    return rc ? rc : ferror(out) ? -SEEP_EIO : 0;
}
