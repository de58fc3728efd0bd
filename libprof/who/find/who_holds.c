#include "libprof/who/find/who_holds.h"

#include "libprof/base/json_build.h"
#include "libprof/code/data_symbols.h"
#include "libprof/who/graph/pymalloc.h"
#include "libprof/who/survey/read_cells.h"
#include "libprof/who/ways/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_LINE (UINT64_C(64) << 10)

enum {
    MAX_NODES = 5 * 1000 * 1000,
    MAX_RUNS = 4, /* searches for what would be freed: few holders hold most of a heap */
};

/* The site of objects in arenas, which are no line's. */
#define SMALL UINT32_MAX

int seep_who_add(struct seep_who *who, const struct seep_snapshot_block *block)
{
    const int rc = seep_site_sums_add(&who->sites, block->site, block->bytes,
                                      block->stands_for ? block->stands_for : 1);

    return rc ? rc : seep_graph_add(&who->heap, block);
}

/* Adds a map, or notes that it is an arena of Python's. */
static int add_map(struct seep_who *who, struct seep_dump *dump,
                   const struct seep_snapshot_block *map)
{
    const struct seep_python_layout *layout = who->heap.python.layout;
    const int rc = seep_site_sums_add(&who->sites, map->site, seep_map_counted(map), 1);

    if (rc || !layout || !seep_pymalloc_is_arena(&dump->memory, layout, map))
        return rc ? rc : seep_graph_add_map(&who->heap, map);
    const uint64_t pool = layout->pool_bytes, start = (map->start + pool - 1) / pool * pool;
    return seep_cells_add(&who->cells, start, (map->start + map->bytes - start) / pool * pool);
}

/* What lies in arenas and needs no node of its own goes with its owner. */
static int add_maps(struct seep_who *who, struct seep_dump *dump,
                    const struct seep_snapshot_block *maps, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = add_map(who, dump, &maps[i]);
    who->n_objects = who->heap.n_nodes;
    who->heap.cells_site = SMALL;
    who->cells.most_nodes = MAX_NODES + MAX_NODES / 2;
    if (!rc)
        rc = seep_cells_read(&who->cells, &who->heap);
    if (rc)
        return rc;
    who->heap.cells = &who->cells;
    who->n_objects += who->cells.n_live;
    who->too_many = who->heap.n_nodes > MAX_NODES;
    return who->admits && !who->admits(who->arg, who->heap.n_nodes) ? -SEEP_ENOMEM : 0;
}

static bool has_no_gil(struct seep_heap *heap)
{
    struct seep_python_offsets_head head;

    return heap->python.runtime &&
           seep_memory_read(heap->memory, heap->python.runtime, &head, sizeof head) &&
           seep_python_has_no_gil(&head);
}

static bool has_mimalloc(struct seep_heap *heap)
{
    const struct seep_python *python = &heap->python;

    return python->layout && python->layout->runtime_allocator &&
           seep_python_is_mimalloc(
               seep_memory_u32(heap->memory, python->runtime + python->layout->runtime_allocator));
}

static const char *incomplete(const struct seep_who *who, const struct seep_dump *dump)
{
    if (who->too_many)
        return "its heap has more than 5 million objects";
    if (who->has_no_gil)
        return "Python has no GIL (free-threaded), and seep does not read its objects: run the job "
               "with a Python that has one";
    if (who->has_mimalloc)
        return "Python's objects are mimalloc's (PYTHONMALLOC), which only `seep look` reads";
    if (who->knows_no_python)
        return "seep does not know this version of Python";
    if (who->lacks_blocks)
        return "small blocks were sampled, and the others were not found: malloc is not glibc's, "
               "or a thread was changing its heap";
    return dump->memory.full ? "seep copied only part of the process's memory: there is more than "
                               "seep copies, or free memory is short"
                             : NULL;
}

int seep_who_survey(struct seep_who *who, struct seep_dump *dump, const struct seep_snapshot *head,
                    const struct seep_snapshot_block *maps, size_t n, bool keys)
{
    const struct seep_root_places places = {.stack_pointer = head->stack_pointer,
                                            .thread_pointer = head->thread_pointer};
    struct seep_heap *heap = &who->heap;

    heap->memory = &dump->memory;
    heap->maps = &dump->maps;
    heap->own = dump->own;
    heap->n_own = dump->n_own;
    heap->python = (struct seep_python){.layout = seep_python_layout_find(head->python_version),
                                        .runtime = head->python_runtime};
    who->has_no_gil = has_no_gil(heap);
    who->has_mimalloc = !who->has_no_gil && has_mimalloc(heap);
    if (who->has_no_gil || who->has_mimalloc)
        heap->python.layout = NULL;
    int rc = add_maps(who, dump, maps, n);
    if (!rc && !who->too_many) {
        rc = seep_graph_end(heap);
        if (!rc)
            rc = seep_reach_init(&who->reach, heap, &places, keys);
        seep_graph_forget_index(heap);
    }
    heap->cells = NULL;
    seep_cells_fini(&who->cells);
    who->knows_no_python = head->python_version && !heap->python.layout;
    who->why_not = incomplete(who, dump);
    return rc;
}

void seep_who_fini(struct seep_who *who)
{
    seep_reach_fini(&who->reach);
    seep_heap_fini(&who->heap);
    seep_cells_fini(&who->cells);
    seep_site_sums_fini(&who->sites);
}

void seep_who_name_global(const struct seep_maps *maps, struct seep_path *path)
{
    const struct seep_map *map = path->root.map;
    char symbol[SEEP_HOP_NAME];

    if (path->root_address && map && seep_maps_first(maps, map)->inode &&
        seep_data_symbol(seep_maps_file(maps, map), seep_maps_first(maps, map)->start,
                         path->root_address, symbol, sizeof symbol))
        snprintf(path->root_name, sizeof path->root_name, "%s", symbol);
}

static void name_globals(const struct seep_maps *maps, struct seep_who_answers *answers)
{
    for (size_t i = 0; i < answers->small.n; i++)
        seep_who_name_global(maps, &answers->small.list[i].path.path);
    for (size_t i = 0; i < answers->n; i++)
        for (size_t k = 0; k < answers->lines[i].n_paths; k++)
            seep_who_name_global(maps, &answers->lines[i].paths[k].path);
}

/* From here on the site of a node is its line; that of small objects is behind those of lines. */
static void set_lines(struct seep_who *who, const uint32_t *line_of_site, uint32_t small_site)
{
    struct seep_heap *heap = &who->heap;

    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        struct seep_node *node = &heap->nodes[i];
        const size_t site = node->site == SMALL ? 0 : seep_site_sums_find(&who->sites, node->site);
        node->site = node->site == SMALL   ? small_site
                     : site < who->sites.n ? line_of_site[site]
                                           : 0;
    }
}

static int answer(struct seep_who *who, uint32_t n_lines, bool keys,
                  struct seep_who_answers *answers)
{
    uint32_t *lines = malloc((n_lines + (size_t)1) * sizeof *lines);
    const struct seep_holder_query question = {.line_of_site = lines,
                                               .n_sites = n_lines + (size_t)1,
                                               .n_lines = n_lines + 1u,
                                               .small_site = n_lines + 1u,
                                               .most = SEEP_WHO_ANSWERS,
                                               .least = MIN_LINE,
                                               .most_runs = MAX_RUNS,
                                               .keys = keys};
    int n = -SEEP_ENOMEM;

    for (uint32_t i = 0; lines && i <= n_lines; i++)
        lines[i] = i;
    if (lines)
        n = seep_answer_lines(&who->reach, &question, answers->lines);
    free(lines);
    answers->n = n > 0 ? (size_t)n : 0;
    return n < 0 ? n : 0;
}

int seep_who_holds(struct seep_who *who, const struct seep_maps *maps, const uint32_t *line_of_site,
                   uint32_t n_lines, bool keys, struct seep_who_answers *answers)
{
    *answers = (struct seep_who_answers){.n_nodes = who->n_objects, .why_not = who->why_not};
    if (who->too_many)
        return 0;
    set_lines(who, line_of_site, n_lines + 1);
    int rc = seep_reach_run(&who->reach);
    if (!rc)
        rc = seep_inner_find(&who->reach);
    if (!rc)
        rc = seep_small_objects_find(&answers->small, &who->reach, n_lines + 1, keys);
    if (!rc)
        rc = answer(who, n_lines, keys, answers);
    if (!rc)
        rc = seep_small_objects_add_unheld(&answers->small, &who->reach, n_lines + 1, keys);
    if (!rc)
        name_globals(maps, answers);
    if (who->knows_no_python || who->lacks_blocks)
        answers->n = answers->small.n = 0; /* what they hold would look lost */
    return rc;
}

void seep_who_answers_fini(struct seep_who_answers *answers)
{
    seep_small_objects_fini(&answers->small);
}

static json_t *holder_json(const struct seep_answer_path *p)
{
    const char *by = strcmp(p->holder_type, "deque") == 0 ? "maxlen" : "maxsize";

    if (!p->holder_type[0] && !p->holder_name[0])
        return json_null();
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "hop", (json_int_t)p->holder_hop, "type",
                     seep_json_text_or_null(p->holder_type), "name",
                     seep_json_text_or_null(p->holder_name), "length",
                     seep_json_count_or_null(p->holder_length), "bound",
                     seep_json_count_or_null(p->holder_bound), "bound_by",
                     p->holder_bound >= 0 ? json_string(by) : json_null());
}

json_t *seep_who_path_json(const struct seep_answer_path *p)
{
    json_t *json = seep_path_json(&p->path);
    bool failed = !json;

    seep_json_set(json, "blocks", seep_json_count(p->blocks), &failed);
    seep_json_set(json, "bytes", seep_json_count(p->bytes), &failed);
    seep_json_set(json, "sole_bytes", p->sole_known ? seep_json_count(p->sole_bytes) : json_null(),
                  &failed);
    seep_json_set(json, "holder", holder_json(p), &failed);
    return seep_json_whole(json, failed);
}

/* How much of the line the reported paths lead to. */
static uint64_t explained(const struct seep_answer *answer)
{
    uint64_t most = 0;

    for (size_t i = 0; i < answer->n_paths; i++) {
        const struct seep_answer_path *p = &answer->paths[i];
        most = p->bytes > most ? p->bytes : most;
        most = p->sole_bytes > most ? p->sole_bytes : most;
    }
    return most < answer->bytes ? most : answer->bytes;
}

json_t *seep_who_json(const struct seep_answer *answer)
{
    json_t *json = json_object(), *paths = json_array();
    bool failed = false;

    for (size_t i = 0; i < answer->n_paths; i++)
        seep_json_append(paths, seep_who_path_json(&answer->paths[i]), &failed);
    seep_json_set(json, "state", json_string(seep_hold_state_word(answer->state)), &failed);
    seep_json_set(json, "explained_bytes", seep_json_count(explained(answer)), &failed);
    seep_json_set(json, "lost_bytes", seep_json_count(answer->lost_bytes), &failed);
    seep_json_set(json, "graph_bytes", seep_json_count(answer->graph_bytes), &failed);
    seep_json_set(json, "cycle_bytes", seep_json_count(answer->cycle_bytes), &failed);
    seep_json_set(json, "reference_bytes", seep_json_count(answer->reference_bytes), &failed);
    seep_json_set(json, "paths", paths, &failed);
    return seep_json_whole(json, failed);
}
