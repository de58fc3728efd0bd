#include "libprof/pprof/pprof_profile.h"

#include "libprof/base/hash_index.h"
#include "libprof/torch/packed_file.h"

#include <pprof.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef Seep__Pprof__Profile Profile;
typedef Seep__Pprof__Sample Sample;

enum {
    FIRST_SPACE = SEEP_SPACE_SHM + 1,
    ROWS = 2,
    MAX_FILE_BYTES = 64 << 20,
    ROOM_BYTES = 512 << 20,
    NO_STACK = 8
};

/* No device has more. */
static const int64_t MAX_BYTES = INT64_C(1) << 50;

/* What is written where. */
struct writing {
    const Profile *p;
    int bytes_at, count_at; /* of a sample's values; −1: none */
    struct seep_hash_index locations, functions;
    uint32_t *frames; /* refs, of each line of each location; 0: not written yet */
    size_t *first_of; /* by location: the first of its lines there */
    struct seep_profile_writer w;
    uint64_t live[SEEP_MAX_SPACES];
    uint64_t start_ns;
};

/* ---- texts and numbers -------------------------------------------------------------------- */

static const char *text_of(const Profile *p, int64_t at)
{
    return at >= 0 && (uint64_t)at < p->n_string_table ? p->string_table[at] : "";
}

/* Memory that is live, by the names that its writers give it. */
static bool find_values(struct writing *g)
{
    static const char *const bytes[] = {"space", "inuse_space"};
    static const char *const counts[] = {"allocations", "inuse_objects"};

    g->bytes_at = g->count_at = -1;
    for (size_t i = 0; i < g->p->n_sample_type && i < 16; i++) {
        const char *type = text_of(g->p, g->p->sample_type[i]->type);
        for (size_t k = 0; k < 2; k++) {
            g->bytes_at = strcmp(type, bytes[k]) == 0 ? (int)i : g->bytes_at;
            g->count_at = strcmp(type, counts[k]) == 0 ? (int)i : g->count_at;
        }
    }
    return g->bytes_at >= 0;
}

static uint64_t value_of(const Sample *s, int at)
{
    const int64_t value = at >= 0 && (size_t)at < s->n_value ? s->value[at] : 0;

    return value > 0 && value <= MAX_BYTES ? (uint64_t)value : 0;
}

/* ---- stacks ------------------------------------------------------------------------------- */

static uint64_t location_id(const Profile *p, size_t i)
{
    return p->location[i]->id;
}

static uint64_t function_id(const Profile *p, size_t i)
{
    return p->function[i]->id;
}

typedef uint64_t id_of(const Profile *p, size_t i);

/* The place of an id in its list; SEEP_HASH_NONE: it is not there. */
static uint32_t find_id(const Profile *p, const struct seep_hash_index *index, id_of *of,
                        uint64_t id)
{
    const uint64_t hash = seep_hash_two(id, 0);
    uint32_t at = seep_hash_begin(index, hash), i;

    do
        i = seep_hash_next(index, hash, &at);
    while (i != SEEP_HASH_NONE && of(p, i) != id);
    return i;
}

/* Of two with one id the first counts. */
static int index_ids(const Profile *p, size_t n, id_of *of, struct seep_hash_index *index)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        if (find_id(p, index, of, of(p, i)) == SEEP_HASH_NONE)
            rc = seep_hash_add(index, seep_hash_two(of(p, i), 0), (uint32_t)i);
    return rc;
}

static int place_frames(struct writing *g)
{
    size_t n = 0;

    g->first_of = calloc(g->p->n_location + 1, sizeof *g->first_of);
    for (size_t i = 0; g->first_of && i < g->p->n_location; n += g->p->location[i++]->n_line)
        g->first_of[i] = n;
    g->frames = calloc(n + 1, sizeof *g->frames);
    return g->first_of && g->frames ? 0 : -SEEP_ENOMEM;
}

/* Of a function that is not known: 0. */
static uint32_t write_frame(struct writing *g, size_t location, size_t k)
{
    const Seep__Pprof__Line *its = g->p->location[location]->line[k];
    uint32_t *frame = &g->frames[g->first_of[location] + k];
    const uint32_t at = find_id(g->p, &g->functions, function_id, its->function_id);

    if (!*frame && at != SEEP_HASH_NONE)
        *frame = seep_profile_add_python(
            &g->w, text_of(g->p, g->p->function[at]->filename),
            text_of(g->p, g->p->function[at]->name),
            its->line > 0 && its->line <= INT32_MAX ? (uint32_t)its->line : 0);
    return *frame;
}

/* Callers first, and within a location what was inlined last. */
static uint32_t write_stack(struct writing *g, const Sample *s)
{
    uint32_t node = 0, depth = 0;

    for (size_t i = s->n_location_id; i-- > 0;) {
        const uint32_t at = find_id(g->p, &g->locations, location_id, s->location_id[i]);
        const size_t n_lines = at == SEEP_HASH_NONE ? 0 : g->p->location[at]->n_line;
        for (size_t k = n_lines; k-- > 0 && depth < SEEP_MAX_STACK_DEPTH; depth++) {
            const uint32_t frame = write_frame(g, at, k);
            node = frame ? seep_profile_add_stack(&g->w, node, frame) : node;
        }
    }
    return node ? node : NO_STACK;
}

/* ---- samples ------------------------------------------------------------------------------ */

/* JAX says on which device: "cuda:0"; without a word, or "cpu:0", it is the host. */
static unsigned space_of(const struct writing *g, const Sample *s)
{
    for (size_t i = 0; i < s->n_label; i++) {
        const char *device = text_of(g->p, s->label[i]->str), *colon = strrchr(device, ':');
        if (strcmp(text_of(g->p, s->label[i]->key), "device") != 0 || !colon ||
            strncmp(device, "cpu", 3) == 0)
            continue;
        const unsigned long number = strtoul(colon + 1, NULL, 10);
        return number < SEEP_MAX_DEVICES ? FIRST_SPACE + (unsigned)number : SEEP_SPACE_HOST;
    }
    return SEEP_SPACE_HOST;
}

static void write_sample(struct writing *g, const Sample *s)
{
    const uint64_t bytes = value_of(s, g->bytes_at), count = value_of(s, g->count_at);
    const unsigned space = space_of(g, s);
    const struct seep_site site = {
        .stack = bytes ? write_stack(g, s) : 0,
        .space = (uint8_t)space,
        .slot_plus_1 = 1,
        .allocations = count ? count : 1,
        .allocated_bytes = bytes,
        .peak_bytes = bytes,
    };

    if (!bytes)
        return;
    if (g->live[space] > INT64_MAX - bytes)
        return; /* no memory is that large */
    g->live[space] += bytes;
    (void)seep_profile_add(&g->w, SEEP_CHUNK_SITES, &site, sizeof site);
}

static void write_space(struct writing *g, unsigned space)
{
    uint64_t rows[SEEP_TIMELINE_ROWS] = {g->live[space], g->live[space]};
    const uint32_t timeline = seep_profile_add(&g->w, SEEP_CHUNK_TIMELINES, rows, sizeof rows);
    struct seep_header *h = seep_profile_header(&g->w);

    if (!h)
        return;
    h->spaces[space].live_bytes = h->spaces[space].peak_bytes = g->live[space];
    h->spaces[space].timeline = timeline;
    if (space == SEEP_SPACE_HOST)
        snprintf(h->spaces[space].name, sizeof h->spaces[space].name, "host");
    else
        snprintf(h->spaces[space].name, sizeof h->spaces[space].name, "tensor:%u",
                 space - FIRST_SPACE);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void write_header(struct writing *g, uint32_t number)
{
    struct seep_header *h = seep_profile_header(&g->w);

    if (!h)
        return;
    h->pid = number;
    h->process_plus_1 = 1;
    h->slots[0].tid = number;
    h->rank = -1;
    h->python_support = SEEP_PYTHON_STACKS;
    h->origin = SEEP_ORIGIN_PPROF;
    h->n_timeline = ROWS;
    for (unsigned i = 0; i < ROWS; i++)
        h->timeline[i].t_ns = g->start_ns + i + 1;
    h->last_ns = h->end_ns = g->start_ns + ROWS;
}

static int write_all(struct writing *g, uint32_t number, struct seep_made_profile *profile)
{
    int rc = index_ids(g->p, g->p->n_location, location_id, &g->locations);

    if (!rc)
        rc = index_ids(g->p, g->p->n_function, function_id, &g->functions);
    if (!rc)
        rc = place_frames(g);
    g->start_ns = g->p->time_nanos > 0 ? (uint64_t)g->p->time_nanos : 1;
    seep_profile_begin(&g->w, g->start_ns);
    write_header(g, number);
    for (size_t i = 0; i < g->p->n_sample && !rc; i++)
        write_sample(g, g->p->sample[i]);
    for (unsigned space = 0; space < SEEP_MAX_SPACES; space++)
        if (g->live[space] || space == SEEP_SPACE_HOST)
            write_space(g, space);
    seep_profile_end(&g->w);
    profile->job = seep_profile_job(number, g->start_ns);
    if (rc || g->w.failed || !profile->job) {
        free(profile->job);
        profile->job = NULL;
        return -SEEP_ENOMEM;
    }
    profile->bytes = g->w.bytes;
    profile->n_bytes = g->w.n_bytes;
    g->w.bytes = NULL;
    return 0;
}

/* Few bytes can say that there are very many samples. */
struct room {
    size_t left;
};

static void *take_room(void *data, size_t n)
{
    struct room *room = data;

    if (n > room->left)
        return NULL;
    room->left -= n;
    return malloc(n);
}

static void give_room(void *data, void *at)
{
    (void)data;
    free(at);
}

int seep_pprof_profile_make(const uint8_t *bytes, size_t n, const char *name, uint32_t number,
                            struct seep_made_profile *profile, struct seep_error *err)
{
    struct room room = {.left = ROOM_BYTES};
    ProtobufCAllocator allocator = {take_room, give_room, &room};
    Profile *p = seep__pprof__profile__unpack(&allocator, n, bytes);
    struct writing g = {.p = p};
    int rc;

    *profile = (struct seep_made_profile){0};
    if (!p || !p->n_string_table)
        rc = seep_error_set(err, SEEP_EFORMAT, name, 0,
                            "not a profile in pprof's format, or a very large one");
    else if (!find_values(&g))
        rc = seep_error_set(err, SEEP_EFORMAT, name, 0,
                            "a pprof profile, but not of live memory (space or inuse_space)");
    else
        rc = write_all(&g, number, profile);
    if (rc == -SEEP_ENOMEM)
        seep_error_set(err, SEEP_ENOMEM, name, 0, "no memory for the profile: free some");
    seep_hash_fini(&g.locations);
    seep_hash_fini(&g.functions);
    free(g.frames);
    free(g.first_of);
    seep_profile_writer_fini(&g.w);
    if (p)
        seep__pprof__profile__free_unpacked(p, &allocator);
    return rc;
}

/* ---- files -------------------------------------------------------------------------------- */

/* All of a file, unpacked; NULL with *err. */
static uint8_t *read_all(const char *path, size_t *n, struct seep_error *err)
{
    gzFile file = seep_packed_open(path, err);
    uint8_t *bytes = NULL;
    size_t capacity = 0;
    int got = -1;

    *n = 0;
    if (!file)
        return NULL;
    while (*n < MAX_FILE_BYTES && !seep_grow(&bytes, &capacity, *n + (64 << 10), 1) &&
           (got = gzread(file, bytes + *n, (unsigned)(capacity - *n))) > 0)
        *n += (size_t)got;
    gzclose(file);
    if (got == 0)
        return bytes;
    seep_error_set(err, SEEP_EIO, path, 0, "cannot be read, or is larger than 64 MiB");
    free(bytes);
    return NULL;
}

/* It begins with what its values are, two short numbers of texts: a folder may hold large files of
 * all kinds, which are not read for this. */
bool seep_pprof_is_at(const char *path)
{
    enum { VALUE_TYPE = 0x0a, TYPE = 0x08, UNIT = 0x10, MOST = 22 };
    uint8_t bytes[3] = {0};
    gzFile file = seep_packed_open(path, NULL);
    const int n = file ? gzread(file, bytes, sizeof bytes) : 0;

    if (file)
        gzclose(file);
    return n == sizeof bytes && bytes[0] == VALUE_TYPE && bytes[1] <= MOST &&
           (bytes[2] == TYPE || bytes[2] == UNIT);
}

int seep_pprof_profile_read(const char *path, uint32_t number, struct seep_made_profile *profile,
                            struct seep_error *err)
{
    size_t n;
    uint8_t *bytes = read_all(path, &n, err);

    *profile = (struct seep_made_profile){0};
    if (!bytes)
        return -SEEP_EIO;
    const int rc = seep_pprof_profile_make(bytes, n, path, number, profile, err);
    free(bytes);
    return rc;
}
