/* This file writes sites as heapprofd writes its samples: tables of strings, mappings, frames and
 * stacks, then dumps. They are parts of one profile, one packet each; all but the last packet say
 * that the profile continues. */
#include "libprof/export/perfetto_trace.h"
#include "libprof/export/sites.h"
#include "libprof/export/texts.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

typedef Seep__Perfetto__ProfilePacket Profile;
typedef Seep__Perfetto__ProfilePacket__HeapSample Sample;

/* No process has this pid: PID_MAX_LIMIT is 2²². It stands for sites that several processes share,
 * because nothing says how much of them belongs to which process. */
enum { SEVERAL = (1 << 22) + 1 };

/* A site's keys in the dump. */
struct dumped {
    const char *space;
    uint32_t pid;
    uint32_t stack; /* its iid, the number of the site + 1 */
};

struct heap {
    struct seep_trace *trace;
    enum seep_measure measure;
    struct seep_json_stream *sites;
    struct seep_frames frames;
    struct seep_texts strings, files; /* iids are indices + 1 */
    json_t *spaces;                   /* {name: null}: the names outlive the sites */
    uint64_t index;
    struct dumped *dumped;
    size_t n_dumped;
};

/* The site of an iid of a stack; NULL without memory. */
static json_t *site_of(struct heap *h, uint32_t stack)
{
    json_t *site = h->sites->make(h->sites, stack - 1);

    h->trace->failed |= !site;
    return site;
}

static void put(struct heap *h, Profile *profile, bool last)
{
    Seep__Perfetto__TracePacket packet = SEEP__PERFETTO__TRACE_PACKET__INIT;

    profile->index = h->index++;
    profile->continued = !last;
    packet.timestamp = h->trace->end_ns;
    packet.profile_packet = profile;
    seep_trace_put(h->trace, &packet);
}

/* ---- tables: one packet per entry ---------------------------------------------------------- */

static uint64_t put_string(struct heap *h, const char *text)
{
    const size_t before = h->strings.n;
    const uint64_t iid = seep_texts_number(&h->strings, text) + 1;

    if (h->strings.n > before) {
        Seep__Perfetto__InternedString string = SEEP__PERFETTO__INTERNED_STRING__INIT;
        Seep__Perfetto__InternedString *list[] = {&string};
        Profile profile = SEEP__PERFETTO__PROFILE_PACKET__INIT;
        string.iid = iid;
        string.str = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
        profile.strings = list;
        profile.n_strings = 1;
        put(h, &profile, false);
    }
    return iid;
}

/* The file that contains a frame, a library or a file of Python: Perfetto requires one. */
static uint64_t put_mapping(struct heap *h, const json_t *frame)
{
    const char *file = seep_get_text(frame, "module", seep_get_text(frame, "file", "unknown"));
    const size_t before = h->files.n;
    const uint64_t iid = seep_texts_number(&h->files, file) + 1;

    if (h->files.n > before) {
        Seep__Perfetto__Mapping mapping = SEEP__PERFETTO__MAPPING__INIT, *list[] = {&mapping};
        Profile profile = SEEP__PERFETTO__PROFILE_PACKET__INIT;
        uint64_t path = put_string(h, file);
        mapping.iid = iid;
        mapping.path_string_ids = &path;
        mapping.n_path_string_ids = 1;
        profile.mappings = list;
        profile.n_mappings = 1;
        put(h, &profile, false);
    }
    return iid;
}

static void put_frame(struct heap *h, size_t number, const char *cwd)
{
    const json_t *json = h->frames.list[number];
    Seep__Perfetto__Frame frame = SEEP__PERFETTO__FRAME__INIT, *list[] = {&frame};
    Profile profile = SEEP__PERFETTO__PROFILE_PACKET__INIT;
    char *title = seep_frame_title(json, cwd);

    h->trace->failed |= !title;
    frame.iid = number + 1;
    frame.function_name_id = put_string(h, title ? title : "?");
    frame.mapping_id = put_mapping(h, json);
    frame.rel_pc = (uint64_t)seep_count_of(
        json, json_is_string(json_object_get(json, "module")) ? "offset" : "line");
    profile.frames = list;
    profile.n_frames = 1;
    put(h, &profile, false);
    free(title);
}

static void put_stack(struct heap *h, const struct dumped *d)
{
    json_t *site = site_of(h, d->stack);
    const json_t *stack = json_object_get(site, "stack");
    const size_t depth = json_array_size(stack);
    Seep__Perfetto__Callstack callstack = SEEP__PERFETTO__CALLSTACK__INIT, *list[] = {&callstack};
    Profile profile = SEEP__PERFETTO__PROFILE_PACKET__INIT;
    uint64_t *ids = calloc(depth + 1, sizeof *ids);

    h->trace->failed |= !ids;
    for (size_t i = 0; ids && i < depth; i++)
        ids[i] = seep_frames_number(&h->frames, json_array_get(stack, depth - 1 - i)) + 1u;
    callstack.iid = d->stack;
    callstack.frame_ids = ids;
    callstack.n_frame_ids = ids ? depth : 0;
    profile.callstacks = list;
    profile.n_callstacks = 1;
    put(h, &profile, false);
    free(ids);
    json_decref(site);
}

/* ---- dumps: one for each process and space ------------------------------------------------ */

/* Perfetto shows the allocated bytes, and how many of them were not released. */
static bool fill_sample(const struct heap *h, const json_t *site, Sample *sample)
{
    const uint64_t kept = (uint64_t)seep_site_value(
        site, h->measure == SEEP_MEASURE_RETAINED ? SEEP_MEASURE_RETAINED : SEEP_MEASURE_LIVE);
    const uint64_t made = (uint64_t)seep_count_of(site, "allocated_bytes");

    if (h->measure == SEEP_MEASURE_PEAK || h->measure == SEEP_MEASURE_GROWTH) {
        sample->self_max = (uint64_t)seep_site_value(site, h->measure);
        return sample->self_max > 0;
    }
    sample->self_allocated = made > kept ? made : kept;
    sample->self_freed = sample->self_allocated - kept;
    if (h->measure != SEEP_MEASURE_RETAINED) { /* the number of retained blocks is unknown */
        sample->alloc_count = (uint64_t)seep_count_of(site, "allocations");
        sample->free_count = (uint64_t)seep_count_of(site, "frees");
    }
    return sample->self_allocated > 0;
}

static int by_dump(const void *a, const void *b)
{
    const struct dumped *p = a, *q = b;
    const int c =
        p->pid != q->pid ? (p->pid > q->pid) - (p->pid < q->pid) : strcmp(p->space, q->space);

    return c ? c : (p->stack > q->stack) - (p->stack < q->stack);
}

/* Returns how many sites, from `first` on, were dumped together. */
static size_t put_dump(struct heap *h, const struct dumped *first, size_t n)
{
    Seep__Perfetto__ProfilePacket__ProcessHeapSamples dump =
        SEEP__PERFETTO__PROFILE_PACKET__PROCESS_HEAP_SAMPLES__INIT;
    Seep__Perfetto__ProfilePacket__ProcessHeapSamples *list[] = {&dump};
    Profile profile = SEEP__PERFETTO__PROFILE_PACKET__INIT;
    size_t k = 1;

    while (k < n && first[k].pid == first->pid && strcmp(first[k].space, first->space) == 0)
        k++;
    Sample *samples = calloc(k, sizeof *samples), **of = calloc(k, sizeof *of);
    h->trace->failed |= !samples || !of;
    for (size_t i = 0; i < k && samples && of; i++) {
        seep__perfetto__profile_packet__heap_sample__init(&samples[i]);
        samples[i].callstack_id = first[i].stack;
        json_t *site = site_of(h, first[i].stack);
        if (fill_sample(h, site, &samples[i]))
            of[dump.n_samples++] = &samples[i];
        json_decref(site);
    }
    dump.pid = first->pid;
    dump.samples = of;
    dump.from_startup = true;
    dump.timestamp = h->trace->end_ns;
    dump.heap_name = (char *)first->space;
    profile.process_dumps = list;
    profile.n_process_dumps = 1;
    if (dump.n_samples)
        put(h, &profile, false);
    free(samples);
    free(of);
    return k;
}

/* The process of a site, or the pid that stands for several. */
static uint32_t process_of(const json_t *site)
{
    const json_t *pids = json_object_get(site, "processes");
    const json_int_t pid = json_integer_value(json_array_get(pids, 0));

    return json_array_size(pids) == 1 && pid > 0 && pid <= UINT32_MAX ? (uint32_t)pid : SEVERAL;
}

static void name_several(struct heap *h)
{
    Seep__Perfetto__ProcessDescriptor process = SEEP__PERFETTO__PROCESS_DESCRIPTOR__INIT;
    Seep__Perfetto__TrackDescriptor track = SEEP__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Seep__Perfetto__TracePacket packet = SEEP__PERFETTO__TRACE_PACKET__INIT;

    process.pid = SEVERAL;
    process.process_name = (char *)"several processes together";
    track.uuid = UINT64_MAX;
    track.process = &process;
    packet.timestamp = h->trace->end_ns;
    packet.track_descriptor = &track;
    seep_trace_put(h->trace, &packet);
}

/* The name of a site's space, once for all sites of it; NULL without memory. */
static const char *space_of(struct heap *h, const json_t *site)
{
    const char *name = seep_get_text(site, "space", "?");

    if (!json_object_get(h->spaces, name) && json_object_set_new(h->spaces, name, json_null()))
        return NULL;
    return json_object_iter_key(json_object_iter_at(h->spaces, name));
}

static bool collect_sites(struct heap *h)
{
    bool several = false;

    h->spaces = json_object();
    h->dumped = calloc(h->sites->n + 1, sizeof *h->dumped);
    h->trace->failed |= !h->dumped;
    for (uint32_t i = 0; i < h->sites->n && !h->trace->failed; i++) {
        json_t *site = site_of(h, i + 1);
        if (json_array_size(json_object_get(site, "stack"))) {
            struct dumped *d = &h->dumped[h->n_dumped++];
            *d = (struct dumped){space_of(h, site), process_of(site), i + 1};
            h->trace->failed |= !d->space;
            several |= d->pid == SEVERAL;
        }
        json_decref(site);
    }
    return several;
}

void seep_trace_put_heap(struct seep_trace *trace, const json_t *report,
                         struct seep_json_stream *sites, enum seep_measure measure)
{
    struct heap h = {.trace = trace, .measure = measure, .sites = sites};
    bool has_tensors;
    const char *cwd = seep_get_text(json_object_get(report, "job"), "cwd", "");
    Profile last = SEEP__PERFETTO__PROFILE_PACKET__INIT;

    trace->failed |= seep_frames_of_sites(sites, &h.frames, &has_tensors) != 0;
    if (!trace->failed && collect_sites(&h))
        name_several(&h);
    for (size_t i = 0; !trace->failed && i < h.frames.n; i++)
        put_frame(&h, i, cwd);
    for (size_t i = 0; !trace->failed && i < h.n_dumped; i++)
        put_stack(&h, &h.dumped[i]);
    if (h.n_dumped)
        qsort(h.dumped, h.n_dumped, sizeof *h.dumped, by_dump);
    for (size_t i = 0; !trace->failed && i < h.n_dumped;)
        i += put_dump(&h, &h.dumped[i], h.n_dumped - i);
    put(&h, &last, true);
    trace->failed |= h.strings.failed || h.files.failed;
    seep_texts_fini(&h.strings);
    seep_texts_fini(&h.files);
    seep_frames_fini(&h.frames);
    json_decref(h.spaces);
    free(h.dumped);
}
