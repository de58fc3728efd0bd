/* This file writes a Perfetto trace: each process and the job over time, with steps and epochs;
 * The sites are added below. */
#include <perfetto.pb-c.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/export/export_formats.h"
#include "libprof/export/sites.h"
#include "libprof/export/texts.h"
#include "libprof/report_read/report_view.h"

/* A Perfetto trace while it is written, packet by packet. Only perfetto*.c include it. */

struct seep_trace {
    ProtobufCBuffer buffer; /* the first: what protobuf-c writes to */
    FILE *out;
    uint64_t start_ns; /* when the job began, in Unix time, which serves for all clocks */
    uint64_t end_ns;
    bool failed; /* for lack of memory */
};

typedef Seep__Perfetto__TracePacket Packet;
typedef Seep__Perfetto__TrackDescriptor Track;
typedef Seep__Perfetto__TrackEvent Event;

enum { SEQUENCE = 1, SEQUENCE_BEGINS = 1 };

static void append(ProtobufCBuffer *buffer, size_t n, const uint8_t *bytes)
{
    fwrite(bytes, 1, n, ((struct seep_trace *)(void *)buffer)->out);
}

/* Writes a packet. All packets belong to one sequence. */
static void trace_put(struct seep_trace *trace, Packet *packet)
{
    Seep__Perfetto__Trace of_one = SEEP__PERFETTO__TRACE__INIT;

    packet->trusted_packet_sequence_id = SEQUENCE;
    of_one.packet = &packet;
    of_one.n_packet = 1;
    seep__perfetto__trace__pack_to_buffer(&of_one, &trace->buffer);
}

static void put_clocks(struct seep_trace *trace)
{
    static const uint32_t ids[] = {1, 3, 4, 6};
    enum { N = sizeof ids / sizeof *ids };
    Seep__Perfetto__ClockSnapshot__Clock clocks[N], *list[N];
    Seep__Perfetto__ClockSnapshot snapshot = SEEP__PERFETTO__CLOCK_SNAPSHOT__INIT;
    Packet packet = SEEP__PERFETTO__TRACE_PACKET__INIT;

    for (int i = 0; i < N; i++) {
        seep__perfetto__clock_snapshot__clock__init(&clocks[i]);
        clocks[i].clock_id = ids[i];
        clocks[i].timestamp = trace->start_ns;
        list[i] = &clocks[i];
    }
    snapshot.clocks = list;
    snapshot.n_clocks = N;
    packet.clock_snapshot = &snapshot;
    packet.timestamp = trace->start_ns;
    packet.sequence_flags = SEQUENCE_BEGINS;
    trace_put(trace, &packet);
}

/* ---- tracks ------------------------------------------------------------------------------- */

struct tracks {
    struct seep_trace *trace;
    struct seep_texts names; /* "parent\nname" of described tracks; uuids are indices + 1 */
};

static void put_track(struct tracks *t, Track *track)
{
    Packet packet = SEEP__PERFETTO__TRACE_PACKET__INIT;

    packet.timestamp = t->trace->start_ns;
    packet.track_descriptor = track;
    trace_put(t->trace, &packet);
}

/* The uuid of the track of that name below another, 0 for the job's; describes it on first use. */
static uint64_t track_of(struct tracks *t, uint64_t parent, const char *name, bool counts)
{
    Track track = SEEP__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Seep__Perfetto__CounterDescriptor counter = SEEP__PERFETTO__COUNTER_DESCRIPTOR__INIT;
    const size_t before = t->names.n;
    char key[24];

    snprintf(key, sizeof key, "%llu", (unsigned long long)parent);
    track.uuid = seep_texts_pair(&t->names, key, name) + 1;
    if (t->names.n > before) {
        counter.unit = SEEP__PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES;
        track.parent_uuid = parent;
        track.name = (char *)name;
        track.counter = counts ? &counter : NULL;
        put_track(t, &track);
    }
    return track.uuid;
}

/* The same for a process; after an exec it keeps its track. */
static uint64_t process_track(struct tracks *t, const json_t *process)
{
    const json_t *argv = json_object_get(process, "argv");
    const size_t n_argv = json_array_size(argv), before = t->names.n;
    Track track = SEEP__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Seep__Perfetto__ProcessDescriptor it = SEEP__PERFETTO__PROCESS_DESCRIPTOR__INIT;
    char pid[24], name[64];

    it.pid = (int32_t)(seep_count_of(process, "pid") & INT32_MAX);
    snprintf(pid, sizeof pid, "%d", it.pid);
    track.uuid = seep_texts_pair(&t->names, "pid", pid) + 1;
    if (t->names.n == before)
        return track.uuid;
    if (json_is_integer(json_object_get(process, "rank")))
        snprintf(name, sizeof name, "rank %lld", (long long)seep_count_of(process, "rank"));
    else
        snprintf(name, sizeof name, "%.63s", seep_get_text(process, "role", "process"));
    it.process_name = name;
    it.cmdline = calloc(n_argv + 1, sizeof *it.cmdline);
    t->trace->failed |= !it.cmdline;
    for (size_t i = 0; it.cmdline && i < n_argv; i++) {
        const char *word = json_string_value(json_array_get(argv, i));
        it.cmdline[it.n_cmdline++] = (char *)(word ? word : "");
    }
    track.process = &it;
    put_track(t, &track);
    free(it.cmdline);
    return track.uuid;
}

/* ---- events ------------------------------------------------------------------------------- */

/* Returns whether there is a time at that index. */
static bool time_at(const struct seep_trace *trace, const json_t *times, size_t i, uint64_t *ns)
{
    const json_t *t = json_array_get(times, i);
    const double s = json_number_value(t);

    *ns = trace->start_ns + (s > 0 && s < 9e9 ? (uint64_t)(s * 1e9) : 0);
    return json_is_number(t);
}

static void put_event(struct seep_trace *trace, uint64_t ns, Event *event)
{
    Packet packet = SEEP__PERFETTO__TRACE_PACKET__INIT;

    if (ns > trace->end_ns)
        trace->end_ns = ns;
    packet.timestamp = ns;
    packet.track_event = event;
    trace_put(trace, &packet);
}

static void put_counter(struct seep_trace *trace, uint64_t track, const json_t *times,
                        const json_t *values)
{
    json_t *value;
    uint64_t ns;
    size_t i;

    json_array_foreach (values, i, value) {
        Event event = SEEP__PERFETTO__TRACK_EVENT__INIT;
        event.type = SEEP__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER;
        event.track_uuid = track;
        event.counter_value_field_case =
            SEEP__PERFETTO__TRACK_EVENT__COUNTER_VALUE_FIELD_COUNTER_VALUE;
        event.counter_value = json_integer_value(value);
        if (time_at(trace, times, i, &ns))
            put_event(trace, ns, &event);
    }
}

/* The timeline of the job or of a process. */
static void put_counters(struct tracks *t, uint64_t parent, const json_t *timeline)
{
    const json_t *times = json_object_get(timeline, "t_s");
    const char *space;
    json_t *course;

    if (!json_array_size(times))
        return;
    put_counter(t->trace, track_of(t, parent, "rss", true), times,
                json_object_get(timeline, "rss_bytes"));
    json_object_foreach (json_object_get(timeline, "spaces"), space, course) {
        char *name = seep_text_format("live %s", space);
        if (name)
            put_counter(t->trace, track_of(t, parent, name, true), times,
                        json_object_get(course, "live_bytes"));
        t->trace->failed |= !name;
        free(name);
    }
}

static void put_mark(struct seep_trace *trace, uint64_t track, uint64_t ns, const char *what,
                     long long number)
{
    Event event = SEEP__PERFETTO__TRACK_EVENT__INIT;
    char name[48];

    snprintf(name, sizeof name, "%s %lld", what, number);
    event.type = SEEP__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
    event.track_uuid = track;
    event.name = name;
    put_event(trace, ns, &event);
}

/* Steps and epochs are marked at the sample that first saw them: the report has no other times. */
static void put_marks(struct tracks *t, const json_t *report)
{
    const json_t *timeline = json_object_get(report, "timeline");
    const json_t *times = json_object_get(timeline, "t_s");
    const json_t *epochs = json_object_get(timeline, "epoch_steps");
    const struct seep_report_job job = seep_get_job(report);
    const char *unit = seep_get_step_unit(&job);
    json_int_t last = 0;
    size_t epoch = 0;
    uint64_t ns;

    for (size_t i = 0; time_at(t->trace, times, i, &ns); i++) {
        json_int_t step = json_integer_value(json_array_get(json_object_get(timeline, "step"), i));
        if (step > last && strcmp(unit, "step") == 0)
            put_mark(t->trace, track_of(t, 0, "steps", false), ns, unit, step);
        last = step > last ? step : last;
        size_t begun = epoch;
        while (begun < json_array_size(epochs) &&
               json_integer_value(json_array_get(epochs, begun)) <= step)
            begun++;
        if (begun > epoch)
            put_mark(t->trace, track_of(t, 0, "epochs", false), ns, "epoch", (long long)begun);
        epoch = begun;
    }
}

/* This file writes sites as heapprofd writes its samples: tables of strings, mappings, frames and
 * stacks, then dumps. They are parts of one profile, one packet each; all but the last packet say
 * that the profile continues. */

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
    trace_put(h->trace, &packet);
}

/* ---- tables: one packet per entry -------------------------------------------------------- */

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

/* ---- dumps: one for each process and space ----------------------------------------------- */

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
    trace_put(h->trace, &packet);
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

/* Writes the sites as heap profiles, as at the end of the job: one for each process and space. */
static void trace_put_heap(struct seep_trace *trace, const json_t *report,
                           struct seep_json_stream *sites, enum seep_measure measure)
{
    struct heap h = {.trace = trace, .measure = measure, .sites = sites};
    bool has_tensors;
    const char *cwd = seep_get_job(report).cwd;
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

int seep_export_perfetto(const json_t *report, struct seep_json_stream *sites,
                         const struct seep_export_options *o, FILE *out)
{
    struct seep_trace trace = {.buffer = {.append = append}, .out = out};
    struct tracks tracks = {.trace = &trace};
    const double started = seep_get_job(report).started_unix_s;
    json_t *process;
    size_t i;

    trace.start_ns = trace.end_ns = started > 0 && started < 9e9 ? (uint64_t)(started * 1e9) : 0;
    put_clocks(&trace);
    put_counters(&tracks, 0, json_object_get(report, "timeline"));
    put_marks(&tracks, report);
    json_array_foreach (json_object_get(report, "processes"), i, process)
        put_counters(&tracks, process_track(&tracks, process),
                     json_object_get(process, "timeline"));
    trace_put_heap(&trace, report, sites, o->measure);
    bool failed = trace.failed || tracks.names.failed;
    seep_texts_fini(&tracks.names);
    return failed ? -SEEP_ENOMEM : ferror(out) ? -SEEP_EIO : 0;
}
