/* This file writes pprof's profile.proto. Readers join concatenated messages and their lists into
 * one message. So each sample, location and text is written as a profile of its own, and the whole
 * need not fit in memory. */
#include <pprof.pb-c.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "libprof/base/error.h"
#include "libprof/base/text.h"
#include "libprof/export/sites.h"
#include "libprof/export/texts.h"
#include "libprof/report_read/report_view.h"

/* A stream that compresses bytes with gzip and writes them to a file. */

struct seep_gzip {
    z_stream z;
    FILE *out;
    int rc; /* the first error: nothing is written after it */
};

enum { GZIP_WINDOW = 15 + 16 }; /* deflateInit2(): the largest window, and gzip's header */

/* Begins; call gzip_end() whatever happens. Allocates. */
static void gzip_begin(struct seep_gzip *gzip, FILE *out)
{
    memset(gzip, 0, sizeof *gzip);
    gzip->out = out;
    if (deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        gzip->rc = -SEEP_ENOMEM;
}

static void deflate_all(struct seep_gzip *gzip, int flush)
{
    unsigned char made[16384];

    do {
        gzip->z.next_out = made;
        gzip->z.avail_out = sizeof made;
        deflate(&gzip->z, flush);
        const size_t n = sizeof made - gzip->z.avail_out;
        if (fwrite(made, 1, n, gzip->out) != n)
            gzip->rc = -SEEP_EIO;
    } while (!gzip->rc && gzip->z.avail_out == 0);
}

static void gzip_write(struct seep_gzip *gzip, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n && !gzip->rc) {
        const unsigned piece = n < 1u << 30 ? (unsigned)n : 1u << 30;
        gzip->z.next_in = (unsigned char *)p;
        gzip->z.avail_in = piece;
        deflate_all(gzip, Z_NO_FLUSH);
        p += piece;
        n -= piece;
    }
}

/* Writes the rest. Returns 0, -SEEP_ENOMEM or -SEEP_EIO for all that was written. */
static int gzip_end(struct seep_gzip *gzip)
{
    if (!gzip->rc) {
        gzip->z.next_in = NULL;
        gzip->z.avail_in = 0;
        deflate_all(gzip, Z_FINISH);
    }
    deflateEnd(&gzip->z);
    return gzip->rc;
}

typedef Seep__Pprof__Profile Profile;
typedef Seep__Pprof__Location Location;

static const Profile empty = SEEP__PPROF__PROFILE__INIT;

/* As in heap profiles of Go, followed by what only seep knows. */
static const struct {
    const char *type, *unit;
    int measure; /* −1: a number of blocks */
} sample_types[] = {
    {"alloc_objects", "count", -1},
    {"alloc_space", "bytes", SEEP_MEASURE_ALLOCATED},
    {"inuse_objects", "count", -1},
    {"inuse_space", "bytes", SEEP_MEASURE_LIVE},
    {"retained_space", "bytes", SEEP_MEASURE_RETAINED},
    {"peak_space", "bytes", SEEP_MEASURE_PEAK},
    {"growth_space_per_step", "bytes", SEEP_MEASURE_GROWTH},
};
enum { N_TYPES = sizeof sample_types / sizeof *sample_types };

/* pprof adds up all samples of a type, and tensors lie inside memory that the driver gave. So
 * tensors have types of their own, which a job without a GPU lacks. */
static const char TENSOR_PREFIX[] = "tensor_";
enum { MAX_TYPES = 2 * N_TYPES };

/* Of a site: the first of its processes, each with a pid, a host and a rank at most. Stores of
 * profiles keep what they are told for each set of labels. */
enum { MAX_PROCESSES = 64, MAX_LABELS = 3 * MAX_PROCESSES + 3 };

struct pprof {
    ProtobufCBuffer buffer; /* the first: what protobuf-c writes to */
    struct seep_gzip gzip;
    struct seep_frames frames;
    bool *placed; /* of frames: location is written; its id is the frame's number + 1 */
    struct seep_texts texts, functions, modules;
    json_t *by_pid;     /* processes; null where several hosts have the pid */
    const char *job_id; /* NULL: none */
    uint64_t *module_limits;
    size_t limits_capacity;
    int n_types;
    bool failed;
};

static void append(ProtobufCBuffer *buffer, size_t n, const uint8_t *bytes)
{
    struct pprof *p = (struct pprof *)(void *)buffer;

    gzip_write(&p->gzip, bytes, n);
}

static void put(struct pprof *p, const Profile *part)
{
    seep__pprof__profile__pack_to_buffer(part, &p->buffer);
}

static int64_t text(struct pprof *p, const char *of)
{
    return seep_texts_number(&p->texts, of);
}

/* ---- places ------------------------------------------------------------------------------- */

/* The id of a function, which is written on first use. It has no system_name, because pprof would
 * derive its own name from that: "<module>" would become empty. */
static uint64_t function_of(struct pprof *p, const json_t *frame)
{
    const char *file = seep_get_text(frame, "file", "");
    char *name = seep_get_frame_function(frame);
    const size_t before = p->functions.n;
    const uint64_t id = name ? seep_texts_pair(&p->functions, name, file) + 1 : 1;

    if (name && p->functions.n > before) {
        Seep__Pprof__Function function = SEEP__PPROF__FUNCTION__INIT, *list[] = {&function};
        Profile part = empty;
        function.id = id;
        function.name = text(p, name);
        function.filename = text(p, file);
        part.function = list;
        part.n_function = 1;
        put(p, &part);
    }
    p->failed |= !name;
    free(name);
    return id;
}

/* The id of the file of native code that contains the address. Mappings are written last, once
 * their sizes are known. */
static uint64_t module_of(struct pprof *p, const char *module, uint64_t address)
{
    const uint32_t id = seep_texts_number(&p->modules, module);
    const size_t before = p->limits_capacity;

    if (seep_grow(&p->module_limits, &p->limits_capacity, id + 1u, sizeof *p->module_limits)) {
        p->failed = true;
        return 0;
    }
    memset(p->module_limits + before, 0, (p->limits_capacity - before) * sizeof *p->module_limits);
    if (p->module_limits[id] <= address)
        p->module_limits[id] = address + 1;
    return id + 1u;
}

/* Writes a location: its frame, and as long as frames are inlined, the functions they were inlined
 * into. */
static void put_location(struct pprof *p, const json_t *stack, size_t first, size_t n, uint64_t id)
{
    const json_t *frame = json_array_get(stack, first);
    const char *module = seep_get_text(frame, "module", NULL);
    Seep__Pprof__Line *lines = calloc(n, sizeof *lines), **of = calloc(n, sizeof *of);
    Location location = SEEP__PPROF__LOCATION__INIT, *list[] = {&location};
    Profile part = empty;

    p->failed |= !lines || !of;
    for (size_t i = 0; i < n && !p->failed; i++) {
        seep__pprof__line__init(&lines[i]);
        lines[i].function_id = function_of(p, json_array_get(stack, first + i));
        lines[i].line = seep_count_of(json_array_get(stack, first + i), "line");
        of[i] = &lines[i];
    }
    location.id = id;
    location.address = (uint64_t)seep_count_of(frame, "offset");
    if (module)
        location.mapping_id = module_of(p, module, location.address);
    location.line = of;
    location.n_line = n;
    part.location = list;
    part.n_location = 1;
    if (!p->failed)
        put(p, &part);
    free(lines);
    free(of);
}

/* ids[] has room for the whole stack; returns the number of locations. */
static size_t locations_of(struct pprof *p, const json_t *stack, uint64_t *ids)
{
    const size_t depth = json_array_size(stack);
    size_t n_ids = 0;

    for (size_t i = 0, n; i < depth && !p->failed; i += n) {
        const uint32_t frame = seep_frames_number(&p->frames, json_array_get(stack, i));
        for (n = 1; i + n < depth && seep_frame_is_inlined(json_array_get(stack, i + n - 1));)
            n++;
        if (!p->placed[frame])
            put_location(p, stack, i, n, frame + 1u);
        p->placed[frame] = true;
        ids[n_ids++] = frame + 1u;
    }
    return n_ids;
}

/* ---- samples ------------------------------------------------------------------------------ */

static bool fill_values(const json_t *site, int64_t all[MAX_TYPES])
{
    const int64_t made = seep_count_of(site, "allocations"), freed = seep_count_of(site, "frees");
    int64_t *values = seep_site_is_of_tensors(site) ? all + N_TYPES : all;
    bool any = false;

    memset(all, 0, MAX_TYPES * sizeof *all);
    for (int i = 0; i < N_TYPES; i++) {
        if (sample_types[i].measure >= 0)
            values[i] = seep_site_value(site, (enum seep_measure)sample_types[i].measure);
        else
            values[i] = i == 0 ? made : made > freed ? made - freed : 0;
        any |= values[i] != 0;
    }
    return any;
}

/* Sites know their processes by pid alone. Where several hosts have the same, nobody knows whose it
 * is. */
static int index_processes(struct pprof *p, const json_t *report)
{
    json_t *process;
    char pid[24];
    size_t i;

    p->by_pid = json_object();
    if (!p->by_pid)
        return -SEEP_ENOMEM;
    json_array_foreach (json_object_get(report, "processes"), i, process) {
        snprintf(pid, sizeof pid, "%lld",
                 (long long)json_integer_value(json_object_get(process, "pid")));
        const json_t *before = json_object_get(p->by_pid, pid);
        const bool several = before && strcmp(seep_get_text(before, "host", ""),
                                              seep_get_text(process, "host", "")) != 0;
        if (json_object_set_new(p->by_pid, pid, several ? json_null() : json_incref(process)))
            return -SEEP_ENOMEM;
    }
    return 0;
}

struct labels {
    Seep__Pprof__Label list[MAX_LABELS], *of[MAX_LABELS];
    size_t n;
};

/* A value once for each key, as long as there is room. */
static void add_label(struct pprof *p, struct labels *labels, const char *key, const char *value)
{
    const int64_t of = text(p, key), is = text(p, value);

    for (size_t i = 0; i < labels->n; i++) {
        if (labels->list[i].key == of && labels->list[i].str == is)
            return;
    }
    if (labels->n == MAX_LABELS)
        return;
    Seep__Pprof__Label *label = &labels->list[labels->n];
    seep__pprof__label__init(label);
    label->key = of;
    label->str = is;
    labels->of[labels->n++] = label;
}

static void add_labels(struct pprof *p, const json_t *site, struct labels *labels)
{
    char number[24];
    json_t *pid;
    size_t i;

    add_label(p, labels, "space", seep_get_text(site, "space", "?"));
    add_label(p, labels, "role", seep_get_part(site));
    if (p->job_id)
        add_label(p, labels, "job_id", p->job_id);
    json_array_foreach (json_object_get(site, "processes"), i, pid) {
        if (i == MAX_PROCESSES)
            break;
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(pid));
        add_label(p, labels, "process", number);
        const json_t *process = json_object_get(p->by_pid, number);
        const json_t *rank = json_object_get(process, "rank");
        const char *host = seep_get_text(process, "host", NULL);
        if (host)
            add_label(p, labels, "host", host);
        if (json_is_integer(rank)) {
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(rank));
            add_label(p, labels, "rank", number);
        }
    }
}

static void put_site(struct pprof *p, const json_t *site)
{
    const json_t *stack = json_object_get(site, "stack");
    Seep__Pprof__Sample sample = SEEP__PPROF__SAMPLE__INIT, *list[] = {&sample};
    struct labels labels = {.n = 0};
    uint64_t *ids = calloc(json_array_size(stack) + 1, sizeof *ids);
    int64_t values[MAX_TYPES];
    Profile part = empty;

    p->failed |= !ids;
    if (!p->failed && fill_values(site, values)) {
        sample.n_location_id = locations_of(p, stack, ids);
        sample.location_id = ids;
        sample.n_value = (size_t)p->n_types;
        sample.value = values;
        add_labels(p, site, &labels);
        sample.n_label = labels.n;
        sample.label = labels.of;
        part.sample = list;
        part.n_sample = 1;
        put(p, &part);
    }
    free(ids);
}

/* ---- the profile -------------------------------------------------------------------------- */

/* 0 for what no job can have: the sum of two is below 2^63. */
static int64_t nanoseconds(double s)
{
    return s > 0 && s < 4e9 ? (int64_t)(s * 1e9) : 0;
}

static int64_t type_text(struct pprof *p, int type)
{
    char *name = seep_text_format("%s%s", type < N_TYPES ? "" : TENSOR_PREFIX,
                                  sample_types[type % N_TYPES].type);
    const int64_t number = name ? text(p, name) : 0;

    p->failed |= !name;
    free(name);
    return number;
}

static void put_head(struct pprof *p, const struct seep_report_job *job,
                     const struct seep_export_options *o)
{
    Seep__Pprof__ValueType types[MAX_TYPES], *list[MAX_TYPES];
    Seep__Pprof__ValueType period;
    Profile part = empty;
    const int first = o->tensors && p->n_types > N_TYPES ? N_TYPES : 0;
    int64_t comment;

    text(p, ""); /* the first, by the format */
    comment = text(p, "seep " SEEP_VERSION);
    for (int i = 0; i < p->n_types; i++) {
        seep__pprof__value_type__init(&types[i]);
        types[i].type = type_text(p, i);
        types[i].unit = text(p, sample_types[i % N_TYPES].unit);
        list[i] = &types[i];
        if (i >= first && i < first + N_TYPES &&
            sample_types[i % N_TYPES].measure == (int)o->measure)
            part.default_sample_type = types[i].type;
    }
    part.sample_type = list;
    part.n_sample_type = (size_t)p->n_types;
    /* As of Go's heap profiles. All was recorded, or scaled up to that. */
    seep__pprof__value_type__init(&period);
    period.type = text(p, "space");
    period.unit = text(p, "bytes");
    part.period_type = &period;
    part.period = 1;
    /* The time of collection: stores of profiles put side by side what a job had from time to
     * time. */
    part.duration_nanos = nanoseconds(job->duration_s);
    part.time_nanos = nanoseconds(job->started_unix_s) + part.duration_nanos;
    part.comment = &comment;
    part.n_comment = 1;
    put(p, &part);
}

/* Readers take the first mapping as the program. */
static void number_program(struct pprof *p, const json_t *report)
{
    const json_t *process = json_array_get(json_object_get(report, "processes"), 0);
    const char *name = json_string_value(json_array_get(json_object_get(process, "argv"), 0));

    name = seep_get_text(process, "exe", name);
    if (name)
        module_of(p, name, 0);
}

/* Addresses are offsets in the file, so each mapping begins at 0. The flags say that all symbols
 * are known: pprof must not look them up in the files, which may have changed. */
static void put_mappings(struct pprof *p)
{
    for (size_t i = 0; i < p->modules.n && !p->failed; i++) {
        Seep__Pprof__Mapping mapping = SEEP__PPROF__MAPPING__INIT, *list[] = {&mapping};
        Profile part = empty;
        mapping.id = i + 1;
        mapping.memory_limit = p->module_limits[i];
        mapping.filename = text(p, p->modules.list[i]);
        mapping.has_functions = mapping.has_filenames = true;
        mapping.has_line_numbers = mapping.has_inline_frames = true;
        part.mapping = list;
        part.n_mapping = 1;
        put(p, &part);
    }
}

static void put_texts(struct pprof *p)
{
    for (size_t i = 0; i < p->texts.n; i++) {
        Profile part = empty;
        part.string_table = &p->texts.list[i];
        part.n_string_table = 1;
        put(p, &part);
    }
}

int seep_export_pprof(const json_t *report, struct seep_json_stream *sites,
                      const struct seep_export_options *o, FILE *out)
{
    struct pprof p = {.buffer = {.append = append}, .job_id = seep_get_job_id(report)};
    const struct seep_report_job job = seep_get_job(report);
    bool has_tensors;

    gzip_begin(&p.gzip, out);
    p.failed = seep_frames_of_sites(sites, &p.frames, &has_tensors) != 0;
    p.n_types = has_tensors ? MAX_TYPES : N_TYPES;
    p.placed = calloc(p.frames.n + 1, sizeof *p.placed);
    p.failed |= !p.placed || index_processes(&p, report);
    if (!p.failed) {
        put_head(&p, &job, o);
        number_program(&p, report);
    }
    for (size_t i = 0; i < sites->n && !p.failed; i++) {
        json_t *site = sites->make(sites, i);
        p.failed = !site;
        put_site(&p, site);
        json_decref(site);
    }
    put_mappings(&p);
    put_texts(&p);
    int rc = gzip_end(&p.gzip);
    if (p.failed || p.texts.failed || p.functions.failed || p.modules.failed)
        rc = -SEEP_ENOMEM;
    seep_texts_fini(&p.texts);
    seep_texts_fini(&p.functions);
    seep_texts_fini(&p.modules);
    seep_frames_fini(&p.frames);
    json_decref(p.by_pid);
    free(p.placed);
    free(p.module_limits);
    return rc ? rc : ferror(out) ? -SEEP_EIO : 0;
}
