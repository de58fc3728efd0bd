#include "libprof/who/merge/holders_json.h"

#include "libprof/base/json_build.h"
#include "libprof/report_read/report_fields.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAMED = 100, MAX_LENGTHS = 64 };

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- containers -------------------------------------------------------------------------- */

/* At most MAX_LENGTHS of them, the first and the last included. */
static json_t *lengths_json(const struct seep_holders_container *c)
{
    size_t n = c ? c->n_lengths : 0, kept = n < MAX_LENGTHS ? n : MAX_LENGTHS;
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < kept; i++) {
        const struct seep_holders_length *one =
            &c->lengths[kept == n ? i : i * (n - 1) / (kept - 1)];
        seep_json_append(
            list, json_pack("[o, o]", seep_json_count(one->step), seep_json_count(one->length)),
            &failed);
    }
    return seep_json_whole(list, failed);
}

/* Whether it grows (a null: not known), and by how many entries a step. */
static int grows(const struct seep_holders_container *c)
{
    return c && c->pace.known ? c->pace.grows : -1;
}

static struct seep_slope growth_of(const struct seep_holders_container *c)
{
    return c && c->pace.known ? c->pace.slope : SEEP_NO_SLOPE;
}

static json_t *known(const json_t *object, const char *key)
{
    return json_incref(json_object_get(object, key));
}

static json_t *container_json(const struct seep_holders_container *c)
{
    const json_t *its = c->path->holder;
    json_t *pids = json_array();
    bool failed = false;

    for (size_t i = 0; i < c->n_pids; i++)
        seep_json_append(pids, seep_json_count(c->pids[i]), &failed);
    json_t *json = SEEP_REPORT_JSON(
        named_container, .name = known(its, "name"), .type = known(its, "type"),
        .bound = known(its, "bound"), .bound_by = known(its, "bound_by"),
        .text = json_incref(c->path->text), .bytes = c->bytes, .length = lengths_json(c),
        .grows = grows(c), .growth_per_step = growth_of(c), .pids = pids);
    return seep_json_whole(json, failed);
}

/* ---- answers ----------------------------------------------------------------------------- */

/* The path of a line that is the same way as `path`. */
static const struct seep_holders_path *same_way(const struct seep_holders_line *line,
                                                const struct seep_holders_path *path)
{
    for (size_t i = 0; i < line->n_paths; i++) {
        if (strcmp(line->paths[i].way, path->way) == 0)
            return &line->paths[i];
    }
    return NULL;
}

static json_t *known_or_null(const json_t *object, const char *key)
{
    json_t *value = known(object, key);

    return value ? value : json_null();
}

/* A path, with the bytes that it holds in all of answers[0, n). */
static json_t *path_json(const struct seep_holders_path *path,
                         const struct seep_holders_answer *answers, size_t n)
{
    uint64_t blocks = 0, bytes = 0, sole = 0;
    bool sole_known = false;

    for (size_t i = 0; i < n; i++) {
        const struct seep_holders_path *its = same_way(answers[i].line, path);
        blocks = its ? sum(blocks, its->blocks) : blocks;
        bytes = its ? sum(bytes, its->bytes) : bytes;
        sole = its ? sum(sole, its->sole_bytes) : sole;
        sole_known = sole_known || (its && its->sole_known);
    }
    /* What most readers want of the holder the path repeats. */
    return SEEP_REPORT_JSON(
        holder_path, .text = json_incref(path->text), .root = json_incref(path->root),
        .hops = json_incref(path->hops), .blocks = blocks, .bytes = bytes,
        .sole_bytes = seep_count_if(sole_known, sole), .type = known_or_null(path->holder, "type"),
        .length = known_or_null(path->holder, "length"),
        .bound = known_or_null(path->holder, "bound"),
        .holder = path->holder ? json_incref(path->holder) : json_null());
}

static json_t *paths_json(const struct seep_holders_line *main,
                          const struct seep_holders_answer *answers, size_t n)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < main->n_paths; i++)
        seep_json_append(list, path_json(&main->paths[i], answers, n), &failed);
    return seep_json_whole(list, failed);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* The pids of answers[0, n) outside [from, to), ascending, each once. */
static json_t *pids_without(const struct seep_holders_answer *answers, size_t n, size_t from,
                            size_t to)
{
    uint32_t *list = calloc(n + 1, sizeof *list);
    json_t *pids = list ? json_array() : NULL;
    bool failed = false;
    size_t k = 0;

    for (size_t i = 0; list && i < n; i++) {
        if (i < from || i >= to)
            list[k++] = answers[i].of->pid;
    }
    if (k)
        qsort(list, k, sizeof *list, by_number);
    for (size_t i = 0; i < k; i++) {
        if (!i || list[i] != list[i - 1])
            seep_json_append(pids, seep_json_count(list[i]), &failed);
    }
    free(list);
    return seep_json_whole(pids, failed);
}

/* The one of answers[0, n) with most bytes. */
static const struct seep_holders_answer *largest(const struct seep_holders_answer *answers,
                                                 size_t n)
{
    const struct seep_holders_answer *best = &answers[0];

    for (size_t i = 1; i < n; i++) {
        if (answers[i].line->bytes > best->line->bytes)
            best = &answers[i];
    }
    return best;
}

json_t *seep_holders_answer_json(const struct seep_holders_answer *answers, size_t n, size_t from,
                                 size_t to, const struct seep_holders_series *series)
{
    const struct seep_holders_answer *ours = &answers[from], *main = largest(ours, to - from);
    const struct seep_holders_line *line = main->line;
    uint64_t blocks = 0, bytes = 0, explained = 0, lost = 0, cycle = 0, reference = 0;
    uint64_t graph = 0;
    const struct seep_holders_container *first =
        line->n_paths ? seep_holders_series_find(series, &line->paths[0]) : NULL;

    for (size_t i = 0; i < to - from; i++) {
        blocks = sum(blocks, ours[i].line->blocks);
        bytes = sum(bytes, ours[i].line->bytes);
        explained = sum(explained, ours[i].line->explained_bytes);
        lost = sum(lost, ours[i].line->lost_bytes);
        cycle = sum(cycle, ours[i].line->cycle_bytes);
        reference = sum(reference, ours[i].line->reference_bytes);
        graph = sum(graph, ours[i].line->graph_bytes);
    }
    return SEEP_REPORT_JSON(finding_holders, .step = main->of->step, .complete = main->of->complete,
                            .state = seep_holders_states[line->state], .blocks = blocks,
                            .bytes = bytes, .explained_bytes = explained, .lost_bytes = lost,
                            .cycle_bytes = cycle, .reference_bytes = reference,
                            .graph_bytes = graph, .paths = paths_json(line, ours, to - from),
                            .length = lengths_json(first), .grows = grows(first),
                            .growth_per_step = growth_of(first),
                            .pids = pids_without(ours, to - from, 0, 0),
                            .other_pids = pids_without(answers, n, from, to));
}

/* ---- the job ----------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    const struct seep_holders_container *p = *(const struct seep_holders_container *const *)a,
                                        *q = *(const struct seep_holders_container *const *)b;

    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return strcmp(p->path->container, q->path->container);
}

/* The containers that have a name; those that hold most come first. */
static json_t *named_json(const struct seep_holders_series *series)
{
    const struct seep_holders_container **named = calloc(series->n + 1, sizeof *named);
    json_t *list = named ? json_array() : NULL;
    bool failed = false;
    size_t n = 0;

    for (size_t i = 0; named && i < series->n; i++) {
        if (series->list[i].path->has_name)
            named[n++] = &series->list[i];
    }
    if (n)
        qsort(named, n, sizeof *named, by_bytes);
    for (size_t i = 0; i < n && i < MAX_NAMED; i++)
        seep_json_append(list, container_json(named[i]), &failed);
    free(named);
    return seep_json_whole(list, failed);
}

/* Memory that nobody holds, by the last whole snapshot of each process. */
static uint64_t lost_bytes(const struct seep_holders_files *files)
{
    uint64_t lost = 0;

    for (size_t i = 0, last; i < files->n; i = last) {
        const struct seep_holders_snapshot *s = NULL;
        for (last = i;
             last < files->n && !seep_holders_by_process(&files->list[i], &files->list[last]);
             last++)
            s = files->list[last].complete ? &files->list[last] : s;
        for (size_t k = 0; s && k < s->n_lines; k++) {
            if (s->lines[k].state == SEEP_HOLDERS_LOST)
                lost = sum(lost, s->lines[k].lost_bytes);
        }
    }
    return lost;
}

json_t *seep_holders_job_json(const struct seep_holders_files *files,
                              const struct seep_holders_series *series)
{
    double stopped = 0, longest = 0, cpu = 0;

    if (!files->n)
        return json_null();
    for (size_t i = 0; i < files->n; i++) {
        double stop = (double)files->list[i].stop_ns / 1e9;
        stopped += stop;
        longest = stop > longest ? stop : longest;
        cpu += (double)files->list[i].cpu_ns / 1e9;
    }
    return SEEP_REPORT_JSON(job_holders, .snapshots = files->n, .stopped_s = stopped,
                            .longest_stop_s = longest, .reader_cpu_s = cpu,
                            .lost_bytes = lost_bytes(files), .named = named_json(series));
}
