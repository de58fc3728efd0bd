/* This file writes a device's memory as PyTorch's memory snapshot, for pytorch.org/memory_viz and
 * torch.cuda._memory_viz: a segment for each device, a block in it for each site. Where blocks lay
 * and in what order they came is not recorded: they follow each other, and the history is empty. */
#include "libprof/document/report_view.h"
#include "libprof/formats/pickle.h"
#include "libprof/formats/sites.h"
#include "libprof/words/space.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_DEVICES = 10000, /* numbers have 4 digits */
    TOGETHER = 1000,      /* items: memory_viz takes each run of them as arguments of one call */
};

static const int64_t SEGMENTS_APART = (int64_t)1 << 44; /* in addresses, below 2⁵³ for a few */

struct snapshot {
    FILE *out;
    const json_t *sites;
    enum seep_measure measure;
    enum seep_space_class class;
    struct seep_frames frames;
    char **names;     /* of frames */
    bool *remembered; /* of frames: is in the pickle by its number */
    int64_t *sizes;   /* of devices */
    int n_devices;
};

/* The device that a site's memory is on, −1 where it is none of the class. */
static int device_of(const struct snapshot *s, const json_t *site)
{
    struct seep_space_name space = seep_space_parse(seep_get_text(site, "space", ""));

    return space.class == s->class && space.device < MOST_DEVICES ? space.device : -1;
}

/* Fills sizes[]; returns whether there is anything. What no address could reach is not. */
static bool sum_devices(struct snapshot *s, enum seep_space_class class)
{
    json_t *site;
    size_t i;

    s->class = class;
    s->n_devices = 0;
    memset(s->sizes, 0, MOST_DEVICES * sizeof *s->sizes);
    json_array_foreach (s->sites, i, site) {
        const int device = device_of(s, site);
        const int64_t size = seep_site_value(site, s->measure);
        if (device < 0 || !size)
            continue;
        if (size > SEGMENTS_APART - s->sizes[device])
            return false;
        s->sizes[device] += size;
        s->n_devices = device >= s->n_devices ? device + 1 : s->n_devices;
    }
    return s->n_devices > 0;
}

/* A frame is in the pickle once; stacks refer to it. */
static void put_frame(struct snapshot *s, const json_t *frame)
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

static void put_block(struct snapshot *s, const json_t *site, int64_t address, int64_t size)
{
    json_t *frame;
    size_t i;

    seep_pickle_dict(s->out);
    seep_pickle_item_int(s->out, "address", address);
    seep_pickle_item_int(s->out, "size", size);
    seep_pickle_item_int(s->out, "requested_size", size);
    seep_pickle_item_text(s->out, "state", "active_allocated");
    seep_pickle_text(s->out, "frames");
    seep_pickle_list(s->out);
    json_array_foreach (json_object_get(site, "stack"), i, frame)
        put_frame(s, frame);
    seep_pickle_list_end(s->out);
    seep_pickle_dict_end(s->out);
}

static void put_blocks(struct snapshot *s, int device, int64_t address)
{
    int in_run = 0;
    json_t *site;
    size_t i;

    seep_pickle_list(s->out);
    json_array_foreach (s->sites, i, site) {
        const int64_t size = seep_site_value(site, s->measure);
        if (!size || device_of(s, site) != device)
            continue;
        if (in_run++ == TOGETHER) {
            seep_pickle_list_more(s->out);
            in_run = 1;
        }
        put_block(s, site, address, size);
        address += size;
    }
    seep_pickle_list_end(s->out);
}

static void put_segment(struct snapshot *s, int device)
{
    static const char *const sizes[] = {"total_size", "allocated_size", "active_size",
                                        "requested_size"};
    const int64_t address = SEGMENTS_APART * (device + 1);

    seep_pickle_dict(s->out);
    seep_pickle_item_int(s->out, "device", device);
    seep_pickle_item_int(s->out, "address", address);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        seep_pickle_item_int(s->out, sizes[i], s->sizes[device]);
    seep_pickle_item_int(s->out, "stream", 0);
    seep_pickle_item_text(s->out, "segment_type", "large");
    seep_pickle_text(s->out, "segment_pool_id");
    seep_pickle_pair(s->out, 0, 0);
    seep_pickle_text(s->out, "is_expandable");
    seep_pickle_bool(s->out, false);
    seep_pickle_text(s->out, "frames");
    seep_pickle_list(s->out);
    seep_pickle_list_end(s->out);
    seep_pickle_text(s->out, "blocks");
    put_blocks(s, device, address);
    seep_pickle_dict_end(s->out);
}

static void put_snapshot(struct snapshot *s)
{
    seep_pickle_begin(s->out);
    seep_pickle_dict(s->out);
    seep_pickle_text(s->out, "segments");
    seep_pickle_list(s->out);
    for (int device = 0; device < s->n_devices; device++) {
        if (s->sizes[device])
            put_segment(s, device);
    }
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
    seep_pickle_dict_end(s->out);
    seep_pickle_dict_end(s->out);
    seep_pickle_end(s->out);
}

static int prepare(struct snapshot *s, const json_t *report)
{
    if (seep_frames_of_sites(report, &s->frames))
        return -SEEP_ENOMEM;
    s->names = calloc(s->frames.n + 1, sizeof *s->names);
    s->remembered = calloc(s->frames.n + 1, sizeof *s->remembered);
    s->sizes = calloc(MOST_DEVICES, sizeof *s->sizes);
    if (!s->names || !s->remembered || !s->sizes)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < s->frames.n; i++) {
        s->names[i] = seep_get_frame_function(s->frames.list[i]);
        if (!s->names[i])
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_format_snapshot(const json_t *report, const struct seep_format_options *o, FILE *out)
{
    struct snapshot s = {
        .out = out, .sites = json_object_get(report, "sites"), .measure = o->measure};
    int rc = prepare(&s, report);

    /* Tensors lie in what the driver gave: one of the two. */
    if (!rc && !sum_devices(&s, SEEP_CLASS_TENSOR) && !sum_devices(&s, SEEP_CLASS_DEVICE))
        rc = -SEEP_ENODATA;
    if (!rc)
        put_snapshot(&s);
    for (size_t i = 0; s.names && i < s.frames.n; i++)
        free(s.names[i]);
    free(s.names);
    free(s.remembered);
    free(s.sizes);
    seep_frames_fini(&s.frames);
    return rc ? rc : ferror(out) ? -SEEP_EIO : 0;
}
