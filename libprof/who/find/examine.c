#include "libprof/who/find/examine.h"

#include "libprof/base/json_build.h"
#include "libprof/who/find/dump.h"
#include "libprof/who/find/line_groups.h"
#include "libprof/who/find/profile_chain.h"
#include "libprof/who/find/reading_need.h"
#include "libprof/who/find/who_holds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_BLOCKS = 6 * 1000 * 1000, MOST_OWN = 1 << 16, MOST_LINES = 256 };
#define MOST_BYTES (UINT64_C(2) << 30) /* the most that is copied of a process */

/* What is read of one copy: its blocks, followed by its maps. */
struct reading {
    struct seep_remote_process process;
    struct seep_dump dump;
    struct seep_snapshot head;
    struct seep_snapshot_block *blocks;
    size_t n_blocks;
    struct seep_snapshot_range *own; /* [n_own] */
    size_t n_own;
    uint64_t began_ns, read_ns;
    uint64_t need_bytes; /* that this takes at most, as far as it is known */
    bool barred;
    const struct seep_examine_request *request;
    struct seep_who_answers *who;
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
    if (s->n_blocks > MOST_BLOCKS || s->n_maps > MOST_BLOCKS - s->n_blocks)
        return seep_error_set(err, SEEP_EFORMAT, "", 0, "it says that it has too many blocks");
    return 0;
}

static bool is_admitted(struct reading *r, uint64_t n_nodes, uint64_t kept_bytes)
{
    const struct seep_examine_request *request = r->request;

    r->need_bytes = seep_reading_need(
        n_nodes,
        kept_bytes + seep_profile_chain_bytes(request->folder, request->pid, request->start_ns));
    return !request->admits || request->admits(request->arg, r->need_bytes);
}

static int read_blocks(struct reading *r, struct seep_error *err)
{
    const struct seep_snapshot *s = &r->head;
    struct seep_copy_memory *memory = &r->process.memory;
    const size_t one = sizeof *r->blocks;

    r->n_blocks = s->n_blocks + s->n_maps;
    if (!is_admitted(r, r->n_blocks, 0))
        return -SEEP_ENOMEM;
    r->blocks = calloc(r->n_blocks + 1, one);
    if (!r->blocks)
        return -SEEP_ENOMEM;
    if (seep_copy_memory_read(memory, s->blocks, r->blocks, s->n_blocks * one) ||
        seep_copy_memory_read(memory, s->maps, r->blocks + s->n_blocks, s->n_maps * one))
        return refuse_reading(r, err, "its list of blocks");
    return 0;
}

static int read_own(struct reading *r)
{
    const size_t n = r->head.n_own < MOST_OWN ? (size_t)r->head.n_own : 0;

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
    const struct seep_python_layout *layout = seep_python_layout_find(r->head.python_version);
    const uint64_t n_nodes =
        r->head.n_blocks + seep_reading_count(&r->process.remote, layout,
                                              r->blocks + r->head.n_blocks, r->head.n_maps);

    return is_admitted(r, n_nodes, kept_bytes);
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
        .blocks = r->blocks,
        .n_blocks = r->head.n_blocks,
        .n_all = r->n_blocks,
        .recorded = true,
        .own = r->own,
        .n_own = r->n_own,
        .max_bytes = most && most < MOST_BYTES ? most : MOST_BYTES,
        .admits = admits_pages,
        .arg = r,
    };
    rc = seep_dump_take(&r->dump, &r->process.remote, &request);
    if (rc == -SEEP_EIO)
        return refuse_reading(r, err, "what is mapped in the copy");
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
    uint32_t *lines = malloc((r->n_blocks + 1) * sizeof *lines);
    const struct seep_who_question question = {.dump = &r->dump,
                                               .head = &r->head,
                                               .blocks = r->blocks,
                                               .line_of_block = lines,
                                               .n_lines = (uint32_t)g->n_lines,
                                               .keys = r->request->keys};

    if (!lines)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < r->n_blocks; i++)
        lines[i] = g->of_block[i] == SEEP_NO_LINE ? 0 : g->of_block[i] + 1;
    r->blocks = NULL; /* who_holds has them now */
    return seep_who_holds(&question, r->who);
}

static json_t *unknown(void)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:[]}", "state", "unknown", "explained_bytes", 0,
                     "lost_bytes", 0, "cycle_bytes", 0, "paths");
}

/* It is chance which line's request made Python take an arena: small objects of other lines lie in
 * it, too, and this line's objects lie in other arenas. Arenas that the holder's entries may fill
 * do not count among the blocks to be explained. */
static bool are_arenas_of_entries(const struct seep_line_group *line,
                                  const struct seep_answer *answer)
{
    enum {
        SMALL_OF_ENTRY = 1024, /* a tuple, some numbers, the heads of arrays */
        TIMES_SMALL = 2,       /* arenas are not full */
    };
    const int64_t length = answer->n_paths ? answer->paths[0].holder_length : 0;

    if (answer->state == SEEP_HOLD_REFERENCE && answer->bytes < line->bytes &&
        line->bytes - answer->bytes <= TIMES_SMALL * answer->small_bytes)
        return true;
    return length > 0 && answer->bytes < line->bytes &&
           (line->bytes - answer->bytes) / SMALL_OF_ENTRY < (uint64_t)length;
}

static json_t *line_json(const struct reading *r, const struct seep_line_groups *g, size_t i)
{
    const struct seep_line_group *line = &g->lines[i];
    const struct seep_answer *answer = NULL;
    bool failed = false;

    for (size_t k = 0; k < r->who->n && !answer; k++)
        if (r->who->lines[k].line == i + 1)
            answer = &r->who->lines[k];
    const bool less = answer && are_arenas_of_entries(line, answer);
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

    for (size_t i = 0; i < g->n_lines && i < MOST_LINES; i++)
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
    seep_json_set(json, "stop_ns", seep_json_count(request->stop_ns), &failed);
    seep_json_set(json, "read_ns", seep_json_count(r->read_ns), &failed);
    seep_json_set(json, "nodes", seep_json_count(r->who->n_nodes), &failed);
    seep_json_set(json, "live_bytes", seep_json_count(live), &failed);
    seep_json_set(json, "complete", json_boolean(!r->who->why_not), &failed);
    seep_json_set(json, "why_not", r->who->why_not ? json_string(r->who->why_not) : json_null(),
                  &failed);
    seep_json_set(json, "lines", lines_json(r, g), &failed);
    seep_json_set(json, "small_objects", small_json(&r->who->small, g), &failed);
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
        rc = seep_line_groups_init(&groups, profile, r->blocks, r->n_blocks, request->roles_file,
                                   err);
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
    r.who = calloc(1, sizeof *r.who);
    if (!r.who)
        return -SEEP_ENOMEM;
    int rc = seep_remote_process_init(&r.process, request->copy);
    r.process.memory.fd = request->memory;
    if (!rc)
        rc = read_copy(&r, err);
    seep_remote_process_fini(&r.process);
    if (let_go(&r, rc) && !rc)
        rc = analyse(&r, out, err);
    if (rc == -SEEP_ENOMEM)
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    *found = (struct seep_examine_found){.step = r.head.step, .barred = r.barred};
    seep_dump_fini(&r.dump);
    free(r.blocks);
    free(r.own);
    seep_who_answers_fini(r.who);
    free(r.who);
    return rc;
}
