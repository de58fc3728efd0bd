#include "libprof/who/merge/holders_json.h"

#include "libprof/base/json_build.h"

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

static void set_growth(json_t *json, const struct seep_holders_container *c, bool *failed)
{
    bool known = c && c->pace.known;
    const struct seep_slope *slope = known ? &c->pace.slope : NULL;

    seep_json_set(json, "length", lengths_json(c), failed);
    seep_json_set(json, "grows", known ? json_boolean(c->pace.grows) : json_null(), failed);
    seep_json_set(json, "growth_per_step",
                  known ? json_pack("{s:f, s:f, s:f}", "value", slope->value, "low", slope->low,
                                    "high", slope->high)
                        : json_null(),
                  failed);
}

static json_t *container_json(const struct seep_holders_container *c)
{
    static const char *const keys[] = {"name", "type", "bound", "bound_by"};
    json_t *json = json_object(), *pids = json_array();
    bool failed = false;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        seep_json_set(json, keys[i], json_incref(json_object_get(c->path->holder, keys[i])),
                      &failed);
    seep_json_set(json, "text", json_incref(c->path->text), &failed);
    seep_json_set(json, "bytes", seep_json_count(c->bytes), &failed);
    set_growth(json, c, &failed);
    for (size_t i = 0; i < c->n_pids; i++)
        seep_json_append(pids, seep_json_count(c->pids[i]), &failed);
    seep_json_set(json, "pids", pids, &failed);
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

/* A path, with the bytes that it holds in all of answers[0, n). */
static json_t *path_json(const struct seep_holders_path *path,
                         const struct seep_holders_answer *answers, size_t n)
{
    /* Fields of the holder that the path repeats: most readers want these. */
    static const char *const of_holder[] = {"type", "length", "bound"};
    uint64_t blocks = 0, bytes = 0, sole = 0;
    json_t *json = json_object();
    bool failed = false, known = false;

    for (size_t i = 0; i < n; i++) {
        const struct seep_holders_path *its = same_way(answers[i].line, path);
        blocks = its ? sum(blocks, its->blocks) : blocks;
        bytes = its ? sum(bytes, its->bytes) : bytes;
        sole = its ? sum(sole, its->sole_bytes) : sole;
        known = known || (its && its->sole_known);
    }
    seep_json_set(json, "text", json_incref(path->text), &failed);
    seep_json_set(json, "root", json_incref(path->root), &failed);
    seep_json_set(json, "hops", json_incref(path->hops), &failed);
    seep_json_set(json, "blocks", seep_json_count(blocks), &failed);
    seep_json_set(json, "bytes", seep_json_count(bytes), &failed);
    seep_json_set(json, "sole_bytes", known ? seep_json_count(sole) : json_null(), &failed);
    for (size_t i = 0; i < sizeof of_holder / sizeof *of_holder; i++) {
        json_t *value = json_object_get(path->holder, of_holder[i]);
        seep_json_set(json, of_holder[i], value ? json_incref(value) : json_null(), &failed);
    }
    seep_json_set(json, "holder", path->holder ? json_incref(path->holder) : json_null(), &failed);
    return seep_json_whole(json, failed);
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
    json_t *json = json_object();
    bool failed = false;

    for (size_t i = 0; i < to - from; i++) {
        blocks = sum(blocks, ours[i].line->blocks);
        bytes = sum(bytes, ours[i].line->bytes);
        explained = sum(explained, ours[i].line->explained_bytes);
        lost = sum(lost, ours[i].line->lost_bytes);
        cycle = sum(cycle, ours[i].line->cycle_bytes);
        reference = sum(reference, ours[i].line->reference_bytes);
        graph = sum(graph, ours[i].line->graph_bytes);
    }
    seep_json_set(json, "step", seep_json_count(main->of->step), &failed);
    seep_json_set(json, "complete", json_boolean(main->of->complete), &failed);
    seep_json_set(json, "state", json_string(seep_holders_states[line->state]), &failed);
    seep_json_set(json, "blocks", seep_json_count(blocks), &failed);
    seep_json_set(json, "bytes", seep_json_count(bytes), &failed);
    seep_json_set(json, "explained_bytes", seep_json_count(explained), &failed);
    seep_json_set(json, "lost_bytes", seep_json_count(lost), &failed);
    seep_json_set(json, "cycle_bytes", seep_json_count(cycle), &failed);
    seep_json_set(json, "reference_bytes", seep_json_count(reference), &failed);
    seep_json_set(json, "graph_bytes", seep_json_count(graph), &failed);
    seep_json_set(json, "paths", paths_json(line, ours, to - from), &failed);
    set_growth(json, line->n_paths ? seep_holders_series_find(series, &line->paths[0]) : NULL,
               &failed);
    seep_json_set(json, "pids", pids_without(ours, to - from, 0, 0), &failed);
    seep_json_set(json, "other_pids", pids_without(answers, n, from, to), &failed);
    return seep_json_whole(json, failed);
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
    json_t *json = json_object();
    bool failed = false;

    if (!files->n) {
        json_decref(json);
        return json_null();
    }
    for (size_t i = 0; i < files->n; i++) {
        double stop = (double)files->list[i].stop_ns / 1e9;
        stopped += stop;
        longest = stop > longest ? stop : longest;
        cpu += (double)files->list[i].cpu_ns / 1e9;
    }
    seep_json_set(json, "snapshots", seep_json_count(files->n), &failed);
    seep_json_set(json, "stopped_s", json_real(stopped), &failed);
    seep_json_set(json, "longest_stop_s", json_real(longest), &failed);
    seep_json_set(json, "reader_cpu_s", json_real(cpu), &failed);
    seep_json_set(json, "lost_bytes", seep_json_count(lost_bytes(files)), &failed);
    seep_json_set(json, "named", named_json(series), &failed);
    return seep_json_whole(json, failed);
}
