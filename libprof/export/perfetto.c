/* This file writes a Perfetto trace: each process and the job over time, with steps and epochs;
 * perfetto_heap.c adds the sites. */
#include "libprof/base/text.h"
#include "libprof/export/perfetto_trace.h"
#include "libprof/export/sites.h"
#include "libprof/export/texts.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

typedef Seep__Perfetto__TracePacket Packet;
typedef Seep__Perfetto__TrackDescriptor Track;
typedef Seep__Perfetto__TrackEvent Event;

enum { SEQUENCE = 1, SEQUENCE_BEGINS = 1 };

static void append(ProtobufCBuffer *buffer, size_t n, const uint8_t *bytes)
{
    fwrite(bytes, 1, n, ((struct seep_trace *)(void *)buffer)->out);
}

void seep_trace_put(struct seep_trace *trace, Packet *packet)
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
    seep_trace_put(trace, &packet);
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
    seep_trace_put(t->trace, &packet);
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
    seep_trace_put(trace, &packet);
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
    const char *unit = seep_get_step_unit(json_object_get(report, "job"));
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

int seep_export_perfetto(const json_t *report, struct seep_json_stream *sites,
                         const struct seep_export_options *o, FILE *out)
{
    struct seep_trace trace = {.buffer = {.append = append}, .out = out};
    struct tracks tracks = {.trace = &trace};
    const double started = seep_get_number(json_object_get(report, "job"), "started_unix_s");
    json_t *process;
    size_t i;

    trace.start_ns = trace.end_ns = started > 0 && started < 9e9 ? (uint64_t)(started * 1e9) : 0;
    put_clocks(&trace);
    put_counters(&tracks, 0, json_object_get(report, "timeline"));
    put_marks(&tracks, report);
    json_array_foreach (json_object_get(report, "processes"), i, process)
        put_counters(&tracks, process_track(&tracks, process),
                     json_object_get(process, "timeline"));
    seep_trace_put_heap(&trace, report, sites, o->measure);
    bool failed = trace.failed || tracks.names.failed;
    seep_texts_fini(&tracks.names);
    return failed ? -SEEP_ENOMEM : ferror(out) ? -SEEP_EIO : 0;
}
