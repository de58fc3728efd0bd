#include "libprof/who/find/who_holds.h"

#include "libprof/base/json_build.h"
#include "libprof/code/data_symbols.h"
#include "libprof/who/graph/pymalloc.h"
#include "libprof/who/ways/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_LINE (UINT64_C(64) << 10)

enum {
    MOST_NODES = 5 * 1000 * 1000,
    MOST_RUNS = 4, /* searches for what would be freed: few holders hold most of a heap */
};

struct asked {
    const struct seep_who_question *question;
    struct seep_dump *dump;
    struct seep_snapshot_block *nodes; /* site: the line */
    size_t n;
    uint32_t *lines; /* [n_lines + 1] line i of "site" i */
    struct seep_heap heap;
    struct seep_reach reach;
};

/* That of objects in arenas: behind those of lines. */
static uint32_t small_site(const struct asked *a)
{
    return a->question->n_lines + 1;
}

/* Adds a map, or, if it is an arena of Python's, the objects in it; `count`: only counts them. */
static size_t add_map(struct asked *a, struct seep_snapshot_block map, uint32_t line, bool count)
{
    const struct seep_python_layout *layout = a->heap.python.layout;
    size_t n = layout ? seep_pymalloc_objects(&a->dump->memory, layout, &map, NULL, 0) : 0;

    map.site = n ? small_site(a) : line;
    if (count)
        return n ? n : 1;
    if (n)
        return seep_pymalloc_objects(&a->dump->memory, layout, &map, a->nodes + a->n, n);
    a->nodes[a->n] = map;
    return 1;
}

static int make_nodes(struct asked *a)
{
    const struct seep_who_question *q = a->question;
    const struct seep_snapshot_block *maps = q->blocks + q->head->n_blocks;
    const uint32_t *line_of_map = q->line_of_block + q->head->n_blocks;
    size_t n = (size_t)q->head->n_blocks;

    for (uint64_t i = 0; i < q->head->n_maps; i++)
        n += add_map(a, maps[i], 0, true);
    if (n > MOST_NODES)
        return -SEEP_EINVAL;
    a->nodes = malloc((n + 1) * sizeof *a->nodes);
    if (!a->nodes)
        return -SEEP_ENOMEM;
    for (; a->n < q->head->n_blocks; a->n++) {
        a->nodes[a->n] = q->blocks[a->n];
        a->nodes[a->n].site = q->line_of_block[a->n];
    }
    for (uint64_t i = 0; i < q->head->n_maps; i++)
        a->n += add_map(a, maps[i], line_of_map[i], false);
    return 0;
}

static void free_blocks(const struct seep_who_question *q)
{
    free(q->blocks);
    free(q->line_of_block);
}

static int make_lines(struct asked *a)
{
    a->lines = malloc((a->question->n_lines + 1) * sizeof *a->lines);
    for (uint32_t i = 0; a->lines && i <= a->question->n_lines; i++)
        a->lines[i] = i;
    return a->lines ? 0 : -SEEP_ENOMEM;
}

static int search(struct asked *a)
{
    const struct seep_root_places places = {.stack_pointer = a->question->head->stack_pointer,
                                            .thread_pointer = a->question->head->thread_pointer};
    int rc = seep_heap_init(&a->heap, &a->dump->memory, &a->dump->maps, a->nodes, a->n);

    free(a->nodes); /* the heap has its own */
    a->nodes = NULL;
    if (!rc)
        rc = seep_reach_init(&a->reach, &a->heap, &places);
    if (!rc)
        rc = seep_reach_run(&a->reach);
    return rc ? rc : seep_inner_find(&a->reach);
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

static void name_globals(const struct asked *a, struct seep_who_answers *answers)
{
    for (size_t i = 0; i < answers->small.n; i++)
        seep_who_name_global(&a->dump->maps, &answers->small.list[i].path.path);
    for (size_t i = 0; i < answers->n; i++)
        for (size_t k = 0; k < answers->lines[i].n_paths; k++)
            seep_who_name_global(&a->dump->maps, &answers->lines[i].paths[k].path);
}

static int answer(struct asked *a, struct seep_who_answers *answers)
{
    const struct seep_question question = {.line_of_site = a->lines,
                                           .n_sites = a->question->n_lines + 1u,
                                           .n_lines = a->question->n_lines + 1u,
                                           .small_site = small_site(a),
                                           .most = SEEP_WHO_ANSWERS,
                                           .least = LEAST_LINE,
                                           .most_runs = MOST_RUNS,
                                           .keys = a->question->keys};
    int n = seep_answer_lines(&a->reach, &question, answers->lines);

    if (n < 0)
        return n;
    answers->n = (size_t)n;
    name_globals(a, answers);
    if (answers->why_not)
        return 0;
    if (a->dump->memory.full)
        answers->why_not = "seep copied only part of the process's memory: there is more than seep "
                           "copies, or free memory is short";
    if (a->question->head->python_version && !a->heap.python.layout) {
        answers->why_not = "seep does not know this version of Python";
        answers->n = answers->small.n = 0; /* what its objects hold would look lost */
    }
    return 0;
}

static int ask(struct asked *a, struct seep_who_answers *answers)
{
    const struct seep_snapshot *head = a->question->head;

    a->heap = (struct seep_heap){
        .own = a->dump->own,
        .n_own = a->dump->n_own,
        .python = {.layout = seep_python_layout_find(head->python_version),
                   .runtime = head->python_runtime},
    };
    int rc = make_nodes(a);
    free_blocks(a->question);
    answers->n_nodes = a->n;
    if (!rc)
        rc = make_lines(a);
    if (!rc)
        rc = search(a);
    if (!rc)
        rc = seep_small_objects_find(&answers->small, &a->reach, small_site(a), a->question->keys);
    return rc ? rc : answer(a, answers);
}

int seep_who_holds(const struct seep_who_question *question, struct seep_who_answers *answers)
{
    struct asked a = {.question = question, .dump = question->dump};
    int rc;

    *answers = (struct seep_who_answers){0};
    rc = ask(&a, answers);
    seep_reach_fini(&a.reach);
    seep_heap_fini(&a.heap);
    free(a.nodes);
    free(a.lines);
    if (rc == -SEEP_EINVAL) {
        answers->why_not = "its heap has more than 5 million objects";
        rc = 0;
    }
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
