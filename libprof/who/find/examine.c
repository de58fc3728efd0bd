#include "libprof/who/find/examine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "libprof/base/hash_index.h"
#include "libprof/base/json_build.h"
#include "libprof/format/address_bits.h"
#include "libprof/who/blocks/glibc_chunks.h"
#include "libprof/who/find/dump.h"
#include "libprof/who/find/line_groups.h"
#include "libprof/who/find/process_profile.h"
#include "libprof/who/find/who_holds.h"

enum {
    MAX_CHUNKS = 5 * 1000 * 1000,
    FEW = 64, /* 1/n of the samples may lie elsewhere */
};

static size_t read_window(void *remote_given, uint64_t address, void *to, size_t n)
{
    struct seep_remote *remote = remote_given;
    const struct seep_memory_piece piece = {address, to, n};

    return remote->gather(remote, &piece, 1);
}

int seep_unrecorded_find(struct seep_block_list *chunks, struct seep_remote *remote)
{
    struct seep_maps maps = {0};
    struct seep_window window = {0};

    *chunks = (struct seep_block_list){.most = MAX_CHUNKS};
    int rc = remote->read_maps(remote, &maps);
    if (!rc)
        rc = seep_window_init(&window, remote->page_bytes, read_window, remote);
    if (!rc)
        seep_glibc_heaps(chunks, &window, &maps);
    seep_window_fini(&window);
    seep_maps_fini(&maps);
    return !rc && chunks->no_memory ? -SEEP_ENOMEM : rc;
}

static bool are_all(const struct seep_block_list *chunks, const struct seep_heap *heap)
{
    size_t missed = 0;

    for (size_t i = 0; i < heap->n_samples; i++)
        missed += seep_block_find(chunks->list, chunks->n, heap->samples[i].start) == chunks->n;
    return !chunks->full && missed <= heap->n_samples / FEW;
}

/* What was recorded comes before its chunk, and so is kept where both are. */
int seep_unrecorded_add(struct seep_block_list *chunks, struct seep_dump *dump,
                        struct seep_heap *heap, bool *whole)
{
    *whole = are_all(chunks, heap);
    int rc = seep_glibc_leave_out_free(chunks, &dump->memory, &dump->maps);

    for (size_t i = 0; i < chunks->n && !rc; i++) {
        chunks->list[i].site = 0;
        rc = seep_graph_add(heap, &chunks->list[i]);
    }
    return rc;
}

/* Measured (tests/e2e/test_reader_memory.py): up to 120 bytes a node, and 8 MiB without any. */
enum {
    BYTES_A_NODE = 136,
    FIXED_BYTES = 12 << 20,
};

uint64_t seep_reading_need(uint64_t n_nodes, uint64_t kept_bytes)
{
    const uint64_t most = UINT64_C(1) << 46; /* no machine has more, and no sum overflows */

    if (n_nodes > most / BYTES_A_NODE || kept_bytes > most)
        return most;
    return FIXED_BYTES + n_nodes * BYTES_A_NODE + kept_bytes;
}

enum { MAX_BLOCKS = 6 * 1000 * 1000, MAX_OWN = 1 << 16, MAX_LINES = 256 };
#define MAX_BYTES (UINT64_C(2) << 30) /* the most that is copied of a process */

/* What is read of one copy. */
struct reading {
    struct seep_remote_process process;
    struct seep_dump dump;
    struct seep_snapshot head;
    struct seep_who who;
    struct seep_snapshot_block
        *large; /* [n_large] blocks that may be raw data, followed by maps: */
    size_t n_large, large_capacity;
    size_t first_map;                /* from here on */
    uint64_t lowest, highest;        /* where blocks lie */
    struct seep_snapshot_range *own; /* [n_own] */
    size_t n_own;
    struct seep_block_list chunks; /* where small blocks are sampled: all, recorded or not */
    uint64_t began_ns, read_ns;
    uint64_t need_bytes; /* that this takes at most, as far as it is known, */
    uint64_t kept_bytes; /* of which these are pages */
    bool barred;
    bool is_surveyed;
    const struct seep_examine_request *request;
    struct seep_who_answers *answers;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int refuse_reading(struct reading *r, struct seep_error *err, const char *what)
{
    r->barred = errno == EPERM || errno == EACCES;
    return seep_error_set(err, SEEP_EIO, "", 0, "%s cannot be read (%s)", what, strerror(errno));
}

static int read_head(struct reading *r, uint64_t address, struct seep_error *err)
{
    struct seep_snapshot *s = &r->head;

    if (seep_copy_memory_read(&r->process.memory, address, s, sizeof *s))
        return refuse_reading(r, err, "the copy");
    if (s->magic != SEEP_SNAPSHOT_MAGIC)
        return seep_error_set(err, SEEP_EIO, "", 0, "this is no copy");
    if (s->version != SEEP_SNAPSHOT_VERSION)
        return seep_error_set(err, SEEP_EVERSION, "", 0, "its version is not known");
    if (s->n_blocks > MAX_BLOCKS || s->n_maps > MAX_BLOCKS - s->n_blocks)
        return seep_error_set(err, SEEP_EFORMAT, "", 0, "it says that it has too many blocks");
    return 0;
}

/* Asked again each time when more is known: a look that does not fit is given up as early as
 * possible. */
static bool is_admitted(struct reading *r, uint64_t n_nodes, uint64_t kept_bytes)
{
    const struct seep_examine_request *request = r->request;
    const uint64_t need = seep_reading_need(
        n_nodes,
        kept_bytes + seep_profile_chain_bytes(request->folder, request->pid, request->start_ns));

    if (need <= r->need_bytes)
        return true;
    r->need_bytes = need;
    return !request->admits || request->admits(request->arg, need, r->head.most_bytes);
}

static int keep_large(struct reading *r, const struct seep_snapshot_block *block)
{
    if (seep_grow(&r->large, &r->large_capacity, r->n_large + 1, sizeof *r->large))
        return -SEEP_ENOMEM;
    r->large[r->n_large++] = *block;
    return 0;
}

static void widen(struct reading *r, const struct seep_snapshot_block *block)
{
    if (block->bytes >> 46 || !seep_is_address(block->start))
        return;
    r->lowest = block->start < r->lowest ? block->start : r->lowest;
    r->highest =
        block->start + block->bytes > r->highest ? block->start + block->bytes : r->highest;
}

static int take_block(struct reading *r, const struct seep_snapshot_block *block)
{
    widen(r, block);
    const int rc = seep_who_add(&r->who, block);
    return rc || block->bytes < SEEP_DUMP_LARGE ? rc : keep_large(r, block);
}

static int take_map(struct reading *r, const struct seep_snapshot_block *map)
{
    widen(r, map);
    return keep_large(r, map);
}

/* A list is read in pieces: it is the longest of all that is read. */
static int read_list(struct reading *r, uint64_t list, uint64_t n,
                     int (*take)(struct reading *, const struct seep_snapshot_block *),
                     struct seep_error *err)
{
    enum { AT_ONCE = 4096 };
    struct seep_snapshot_block *some = malloc(AT_ONCE * sizeof *some);
    int rc = some ? 0 : -SEEP_ENOMEM;

    for (uint64_t done = 0; done < n && !rc;) {
        const size_t now = n - done < AT_ONCE ? (size_t)(n - done) : AT_ONCE;
        if (seep_copy_memory_read(&r->process.memory, list + done * sizeof *some, some,
                                  now * sizeof *some))
            rc = refuse_reading(r, err, "its list of blocks");
        for (size_t i = 0; i < now && !rc; i++)
            rc = take(r, &some[i]);
        done += now;
    }
    free(some);
    return rc;
}

static uint64_t n_blocks(const struct reading *r)
{
    return r->head.n_blocks + r->chunks.n;
}

static int read_chunks(struct reading *r, struct seep_error *err)
{
    const int rc = r->head.sampled ? seep_unrecorded_find(&r->chunks, &r->process.remote) : 0;

    for (size_t i = 0; i < r->chunks.n; i++)
        widen(r, &r->chunks.list[i]);
    return rc == -SEEP_EIO ? refuse_reading(r, err, "what is mapped in the copy") : rc;
}

static int read_blocks(struct reading *r, struct seep_error *err)
{
    if (!is_admitted(r, r->head.n_blocks, 0))
        return -SEEP_ENOMEM;
    r->lowest = UINT64_MAX;
    int rc = read_chunks(r, err);
    if (!rc && !is_admitted(r, n_blocks(r), 0))
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = read_list(r, r->head.blocks, r->head.n_blocks, take_block, err);
    r->first_map = r->n_large;
    return rc ? rc : read_list(r, r->head.maps, r->head.n_maps, take_map, err);
}

static int read_own(struct reading *r)
{
    const size_t n = r->head.n_own < MAX_OWN ? (size_t)r->head.n_own : 0;

    r->own = calloc(n + 1, sizeof *r->own);
    if (!r->own)
        return -SEEP_ENOMEM;
    if (!seep_copy_memory_read(&r->process.memory, r->head.own, r->own, n * sizeof *r->own))
        r->n_own = n;
    return 0;
}

/* Whether the copy has been there, whole, until now. */
static bool is_still_there(struct reading *r)
{
    struct seep_snapshot now;

    return !seep_copy_memory_read(&r->process.memory, r->request->snapshot, &now, sizeof now) &&
           memcmp(&now, &r->head, sizeof now) == 0;
}

static bool admits_pages(void *reading, uint64_t kept_bytes)
{
    struct reading *r = reading;

    r->kept_bytes = kept_bytes;
    return is_admitted(r, n_blocks(r), kept_bytes);
}

static bool admits_nodes(void *reading, uint64_t n_nodes)
{
    struct reading *r = reading;

    return is_admitted(r, n_nodes, r->kept_bytes);
}

static int read_copy(struct reading *r, struct seep_error *err)
{
    const uint64_t most = r->request->max_bytes;
    int rc = read_head(r, r->request->snapshot, err);

    if (!rc)
        rc = read_blocks(r, err);
    if (!rc)
        rc = read_own(r);
    if (rc)
        return rc;
    const struct seep_dump_request request = {
        .blocks = r->large,
        .n_blocks = r->first_map,
        .n_all = r->n_large,
        .lowest = r->lowest,
        .highest = r->highest,
        .recorded = true,
        .own = r->own,
        .n_own = r->n_own,
        .max_bytes = most && most < MAX_BYTES ? most : MAX_BYTES,
        .admits = admits_pages,
        .arg = r,
        .passes_by = r->request->passes_by || (r->head.most_bytes && !r->request->in_place),
    };
    rc = seep_dump_take(&r->dump, &r->process.remote, &request);
    if (rc == -SEEP_EIO)
        return refuse_reading(r, err, "what is mapped in the copy");
    return rc;
}

static int survey(struct reading *r)
{
    bool whole = true;
    const int rc =
        r->head.sampled ? seep_unrecorded_add(&r->chunks, &r->dump, &r->who.heap, &whole) : 0;

    seep_block_list_fini(&r->chunks);
    if (rc)
        return rc;
    r->who.lacks_blocks = !whole;
    r->who.heap.least_address = r->lowest;
    r->who.admits = admits_nodes;
    r->who.arg = r;
    return seep_who_survey(&r->who, &r->dump, &r->head, r->large + r->first_map,
                           r->n_large - r->first_map, r->request->keys);
}

/* What passes by is surveyed while it is there. */
static int take_all(struct reading *r, struct seep_error *err)
{
    int rc = read_copy(r, err);

    if (!rc && r->dump.ranges) {
        rc = survey(r);
        r->is_surveyed = true;
        seep_dump_let_go(&r->dump);
    }
    if (!rc && !is_still_there(r))
        return seep_error_set(err, SEEP_EIO, "", 0, "the copy ended before it was read");
    return rc;
}

/* The copy ends here: everything needed later has been read. */
static bool let_go(struct reading *r, int rc)
{
    r->read_ns = clock_ns(CLOCK_MONOTONIC) - r->began_ns;
    return !r->request->release || r->request->release(r->request->arg, rc == 0);
}

static int ask(struct reading *r, const struct seep_line_groups *g)
{
    uint32_t *lines = malloc((g->n_sites + 1) * sizeof *lines);

    if (!lines)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < g->n_sites; i++)
        lines[i] = g->of_site[i] == SEEP_NO_LINE ? 0 : g->of_site[i] + 1;
    const int rc = seep_who_holds(&r->who, &r->dump.maps, lines, (uint32_t)g->n_lines,
                                  r->request->keys, r->answers);
    free(lines);
    return rc;
}

static json_t *unknown(void)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:[]}", "state", "unknown", "explained_bytes", 0,
                     "lost_bytes", 0, "cycle_bytes", 0, "paths");
}

/* Whether the path's holder also has more of the small objects than all others together: those of
 * Python's own modules are many in a young process. */
static bool fills_arenas(const struct seep_answer_path *path,
                         const struct seep_small_objects *small)
{
    const struct seep_answer_path *most = small->n ? &small->list[0].path : NULL;

    return most && *path->holder_name && strcmp(path->holder_name, most->holder_name) == 0 &&
           path->holder_length == most->holder_length &&
           path->path.root.kind == most->path.root.kind && 2 * most->bytes > small->bytes;
}

/* It is chance which line's request made Python take an arena: small objects of other lines lie in
 * it, too, and this line's objects lie in other arenas. Arenas that the holder's entries may fill
 * do not count among the blocks to be explained. */
static bool are_arenas_of_entries(const struct seep_line_group *line,
                                  const struct seep_answer *answer,
                                  const struct seep_small_objects *small)
{
    enum {
        SMALL_OF_ENTRY = 1024, /* a tuple, some numbers, the heads of arrays */
        TIMES_SMALL = 2,       /* arenas are not full */
    };
    const int64_t length = answer->n_paths ? answer->paths[0].holder_length : 0;

    if (answer->state == SEEP_HOLD_REFERENCE && answer->bytes < line->bytes &&
        line->bytes - answer->bytes <= TIMES_SMALL * answer->small_bytes)
        return true;
    if (length > 0 && answer->bytes < line->bytes && fills_arenas(&answer->paths[0], small) &&
        line->bytes - answer->bytes <= TIMES_SMALL * small->list[0].path.bytes)
        return true;
    return length > 0 && answer->bytes < line->bytes &&
           (line->bytes - answer->bytes) / SMALL_OF_ENTRY < (uint64_t)length;
}

static json_t *line_json(const struct reading *r, const struct seep_line_groups *g, size_t i)
{
    const struct seep_line_group *line = &g->lines[i];
    const struct seep_answer *answer = NULL;
    bool failed = false;

    for (size_t k = 0; k < r->answers->n && !answer; k++)
        if (r->answers->lines[k].line == i + 1)
            answer = &r->answers->lines[k];
    const bool less = answer && are_arenas_of_entries(line, answer, &r->answers->small);
    json_t *json = answer ? seep_who_json(answer) : unknown();
    seep_json_set(json, "frame", seep_line_groups_frame(g, i), &failed);
    seep_json_set(json, "blocks", seep_json_count(less ? answer->blocks : line->blocks), &failed);
    seep_json_set(json, "bytes", seep_json_count(less ? answer->bytes : line->bytes), &failed);
    return seep_json_whole(json, failed);
}

static json_t *lines_json(const struct reading *r, const struct seep_line_groups *g)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < g->n_lines && i < MAX_LINES; i++)
        seep_json_append(list, line_json(r, g, i), &failed);
    return seep_json_whole(list, failed);
}

static json_t *small_holder_json(const struct seep_line_groups *g,
                                 const struct seep_small_holder *holder)
{
    json_t *json = seep_who_path_json(&holder->path);
    bool failed = !json;

    seep_json_set(json, "table",
                  holder->table ? seep_line_groups_frame(g, holder->table - 1) : json_null(),
                  &failed);
    return seep_json_whole(json, failed);
}

static json_t *small_json(const struct seep_small_objects *small, const struct seep_line_groups *g)
{
    json_t *json = json_object(), *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < small->n; i++)
        seep_json_append(list, small_holder_json(g, &small->list[i]), &failed);
    seep_json_set(json, "blocks", seep_json_count(small->blocks), &failed);
    seep_json_set(json, "bytes", seep_json_count(small->bytes), &failed);
    seep_json_set(json, "holders", list, &failed);
    return seep_json_whole(json, failed);
}

static uint64_t peak_bytes(void)
{
    struct rusage usage = {0};

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static json_t *python_json(uint32_t version)
{
    char text[32];

    snprintf(text, sizeof text, "%u.%u", version >> 24, version >> 16 & 0xff);
    return version ? json_string(text) : json_null();
}

static json_t *document(const struct reading *r, const struct seep_examine_request *request,
                        const struct seep_line_groups *g)
{
    bool failed = false;
    uint64_t live = 0;

    for (size_t i = 0; i < g->n_lines; i++)
        live += g->lines[i].bytes < INT64_MAX - live ? g->lines[i].bytes : 0;
    json_t *json =
        json_pack("{s:s, s:i, s:I, s:I, s:I, s:s}", "format", "seep-holders", "version", 1, "pid",
                  (json_int_t)request->pid, "process", (json_int_t)request->process, "step",
                  (json_int_t)r->head.step, "source", request->source);
    seep_json_set(json, "python", python_json(r->head.python_version), &failed);
    seep_json_set(json, "stop_ns",
                  seep_json_count(request->held_up_ns ? request->held_up_ns(request->arg) : 0),
                  &failed);
    seep_json_set(json, "read_ns", seep_json_count(r->read_ns), &failed);
    seep_json_set(json, "nodes", seep_json_count(r->answers->n_nodes), &failed);
    seep_json_set(json, "live_bytes", seep_json_count(live), &failed);
    seep_json_set(json, "sampled", json_boolean(r->head.sampled), &failed);
    seep_json_set(json, "complete", json_boolean(!r->answers->why_not), &failed);
    seep_json_set(json, "why_not",
                  r->answers->why_not ? json_string(r->answers->why_not) : json_null(), &failed);
    seep_json_set(json, "lines", lines_json(r, g), &failed);
    seep_json_set(json, "small_objects", small_json(&r->answers->small, g), &failed);
    seep_json_set(json, "need_bytes", seep_json_count(r->need_bytes), &failed);
    seep_json_set(json, "peak_bytes", seep_json_count(peak_bytes()), &failed);
    seep_json_set(json, "cpu_ns", seep_json_count(clock_ns(CLOCK_PROCESS_CPUTIME_ID)), &failed);
    return seep_json_whole(json, failed);
}

static int analyse(struct reading *r, json_t **out, struct seep_error *err)
{
    const struct seep_examine_request *request = r->request;
    struct seep_profile *profile = NULL;
    struct seep_line_groups groups = {0};
    int rc =
        seep_profile_chain_open(request->folder, request->pid, request->start_ns, &profile, err);

    if (!rc)
        rc = seep_line_groups_init(&groups, profile, &r->who.sites, request->roles_file, err);
    if (!rc)
        rc = ask(r, &groups);
    if (!rc) {
        *out = document(r, request, &groups);
        rc = *out ? 0 : -SEEP_ENOMEM;
    }
    seep_line_groups_fini(&groups);
    seep_profile_chain_close(profile);
    return rc;
}

int seep_examine(const struct seep_examine_request *request, struct seep_examine_found *found,
                 json_t **out, struct seep_error *err)
{
    struct reading r = {.began_ns = clock_ns(CLOCK_MONOTONIC), .request = request};

    *out = NULL;
    r.answers = calloc(1, sizeof *r.answers);
    if (!r.answers)
        return -SEEP_ENOMEM;
    int rc = seep_remote_process_init(&r.process, request->copy);
    r.process.memory.fd = request->memory;
    if (!rc)
        rc = take_all(&r, err);
    seep_remote_process_fini(&r.process);
    const bool wanted = let_go(&r, rc);
    if (wanted && !rc && !r.is_surveyed) {
        rc = survey(&r);
        seep_memory_fini(&r.dump.memory);
    }
    if (wanted && !rc)
        rc = analyse(&r, out, err);
    if (rc == -SEEP_ENOMEM)
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    *found = (struct seep_examine_found){.step = r.head.step, .barred = r.barred};
    seep_who_fini(&r.who);
    seep_dump_fini(&r.dump);
    seep_block_list_fini(&r.chunks);
    free(r.large);
    free(r.own);
    seep_who_answers_fini(r.answers);
    free(r.answers);
    return rc;
}
