#include "libprof/look/look_holders.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"
#include "libprof/base/json_build.h"
#include "libprof/look/look_holder.h"
#include "libprof/look/taken.h"
#include "libprof/who/find/line_groups.h"
#include "libprof/who/find/process_profile.h"
#include "libprof/who/find/who_holds.h"
#include "libprof/who/graph/py_types.h"
#include "libprof/who/retained/dominators.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/inner.h"
#include "libprof/who/ways/reach.h"
#include "libprof/who/ways/reach_passes.h"
#include "libprof/who/ways/unheld.h"
#include "libprof/who/ways/path.h"
#include "libprof/who/ways/ways.h"

/* In which memory a process's objects are: the host's, by blocks, and that of devices, by the words
 * of the storages of PyTorch's tensors, which are in host memory. */

struct seep_look_storage {
    uint32_t node;
    uint32_t memory; /* index in memories[] of the holders */
    uint64_t bytes;
    const struct seep_storage *storage; /* the survey's */
};

struct seep_look_memories {
    const struct seep_heap *heap;
    struct seep_look_storage *storages; /* [n] by node; storages with the same data are one */
    size_t n, capacity;
    uint64_t *retained[SEEP_LOOK_MEMORIES]; /* of each memory [nodes]; the host's is the
                                             * dominators' own */
};

enum {
    LEAST = 64 << 10, /* fewer bytes are not listed */
    MIN_SHARE = 1000, /* or less than 1/n of all that is in use */
};

/* Of c10::DeviceType: devices with memory of their own. */
static const char *device_name(uint8_t device)
{
    static const char *const names[] = {[1] = "cuda", [6] = "hip",   [12] = "xpu",
                                        [15] = "hpu", [19] = "mtia", [20] = "privateuseone"};

    return device < sizeof names / sizeof *names ? names[device] : NULL;
}

static struct seep_look_memory *memory_of(struct seep_look_holders *holders,
                                          const struct seep_storage *storage)
{
    const uint16_t device = (uint16_t)(storage->device << 8 | storage->number);

    for (size_t m = 1; m < holders->n_memories; m++)
        if (holders->memories[m].device == device)
            return &holders->memories[m];
    if (holders->n_memories == SEEP_LOOK_MEMORIES)
        return NULL;
    struct seep_look_memory *memory = &holders->memories[holders->n_memories++];
    memory->device = device;
    snprintf(memory->name, sizeof memory->name, "%s:%d", device_name(storage->device),
             (int8_t)storage->number);
    return memory;
}

/* What several storages have, as tensors that share memory by CUDA IPC or DLPack, is there once. */
static bool is_new(struct seep_hash_index *seen, const struct seep_look_memories *memories,
                   const struct seep_storage *storage, int *rc)
{
    const uint64_t hash =
        seep_hash_two(storage->data, (uint64_t)(storage->device << 8 | storage->number));
    uint32_t at = seep_hash_begin(seen, hash), i;

    while ((i = seep_hash_next(seen, hash, &at)) != SEEP_HASH_NONE) {
        const struct seep_storage *other = memories->storages[i].storage;
        if (other->data == storage->data && other->device == storage->device &&
            other->number == storage->number)
            return false;
    }
    *rc = seep_hash_add(seen, hash, (uint32_t)memories->n);
    return true;
}

static int find_storages(struct seep_look_memories *found, struct seep_look_holders *holders,
                         struct seep_heap *heap)
{
    const struct seep_survey *survey = heap->survey;
    struct seep_hash_index seen = {0};
    int rc = 0;

    for (size_t i = 0; i < survey->n_storages && !rc; i++) {
        const struct seep_storage *storage = &survey->storages[i].storage;
        if (!device_name(storage->device) || !storage->data || !storage->bytes ||
            !is_new(&seen, found, storage, &rc))
            continue;
        struct seep_look_memory *memory = rc ? NULL : memory_of(holders, storage);
        if (!memory)
            continue;
        if (seep_grow(&found->storages, &found->capacity, found->n + 1, sizeof *found->storages)) {
            rc = -SEEP_ENOMEM;
            continue;
        }
        memory->bytes += storage->bytes;
        found->storages[found->n++] = (struct seep_look_storage){
            survey->storages[i].node, (uint32_t)(memory - holders->memories), storage->bytes,
            storage};
    }
    seep_hash_fini(&seen);
    return rc;
}

static int sum_up(struct seep_look_memories *found, const struct seep_look_holders *holders,
                  const struct seep_dominators *dominators)
{
    found->retained[SEEP_LOOK_HOST] = dominators->retained;
    for (size_t m = 1; m < holders->n_memories; m++) {
        uint64_t *sizes = calloc((size_t)dominators->n_nodes + 1, sizeof *sizes);
        if (!sizes)
            return -SEEP_ENOMEM;
        for (size_t i = 0; i < found->n; i++)
            if (found->storages[i].memory == m &&
                dominators->by[found->storages[i].node] != SEEP_NODE_NONE)
                sizes[found->storages[i].node] = found->storages[i].bytes;
        seep_dominators_sum(dominators, sizes);
        found->retained[m] = sizes;
    }
    return 0;
}

/* Finds them, and sets the holders' memories. A storage without data, as on PyTorch's meta device,
 * has no bytes. Returns 0 or -SEEP_ENOMEM. Allocates; look_memories_fini() in either case.
 * The dominators outlive it. */
static int look_memories_find(struct seep_look_memories *found, struct seep_look_holders *holders,
                              struct seep_heap *heap, const struct seep_dominators *dominators)
{
    *found = (struct seep_look_memories){.heap = heap};
    holders->n_memories = 1;
    holders->memories[SEEP_LOOK_HOST] =
        (struct seep_look_memory){.bytes = heap->survey->roots_bytes};
    for (uint32_t i = 0; i < heap->n_nodes; i++)
        holders->memories[SEEP_LOOK_HOST].bytes += seep_node_bytes(heap, i);
    int rc = find_storages(found, holders, heap);
    for (size_t m = 0; m < holders->n_memories; m++) {
        const uint64_t part = holders->memories[m].bytes / MIN_SHARE;
        holders->memories[m].least = part > LEAST ? part : LEAST;
    }
    return rc ? rc : sum_up(found, holders, dominators);
}

static void look_memories_fini(struct seep_look_memories *found)
{
    for (size_t m = 1; m < SEEP_LOOK_MEMORIES; m++)
        free(found->retained[m]);
    free(found->storages);
    *found = (struct seep_look_memories){0};
}

/* Adds what a node alone has in each memory. */
static void look_memories_add(const struct seep_look_memories *found, uint32_t node,
                              uint64_t bytes[SEEP_LOOK_MEMORIES])
{
    size_t low = 0, high = found->n;

    bytes[SEEP_LOOK_HOST] += found->heap->nodes[node].bytes;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (found->storages[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < found->n && found->storages[low].node == node)
        bytes[found->storages[low].memory] += found->storages[low].bytes;
}

/* The lines of code that made a holder's memory, for a process that runs under seep: its profile
 * knows them for each block of malloc and its kin, not for what Python's allocator of small objects
 * cuts from its pools. */

/* What one line made of one holder. */
struct seep_look_share {
    uint32_t holder, line;
    uint64_t bytes;
};

struct seep_look_lines {
    bool known; /* false: it does not run under seep, or its profile cannot be read */
    struct seep_site_sums sites;
    struct seep_line_groups groups;
    struct seep_look_share *shares; /* [n] by holder, the largest first */
    size_t n, capacity;
    struct seep_hash_index by_pair;
};

static struct seep_look_share *share_of(struct seep_look_lines *l, uint32_t holder, uint32_t line)
{
    const uint64_t pair = seep_hash_two(holder, line);
    uint32_t at = seep_hash_begin(&l->by_pair, pair), i;

    while ((i = seep_hash_next(&l->by_pair, pair, &at)) != SEEP_HASH_NONE)
        if (l->shares[i].holder == holder && l->shares[i].line == line)
            return &l->shares[i];
    if (seep_grow(&l->shares, &l->capacity, l->n + 1, sizeof *l->shares) ||
        seep_hash_add(&l->by_pair, pair, (uint32_t)l->n))
        return NULL;
    l->shares[l->n] = (struct seep_look_share){.holder = holder, .line = line};
    return &l->shares[l->n++];
}

static int count_block(struct seep_look_lines *l, const struct seep_look_holder *list,
                       uint32_t holder, uint32_t line, uint64_t bytes)
{
    for (; holder != SEEP_LOOK_NO_HOLDER; holder = list[holder].within) {
        struct seep_look_share *share = share_of(l, holder, line);
        if (!share)
            return -SEEP_ENOMEM;
        share->bytes += bytes;
    }
    return 0;
}

static int by_holder(const void *a, const void *b)
{
    const struct seep_look_share *x = a, *y = b;

    return x->holder != y->holder ? (x->holder < y->holder ? -1 : 1)
           : x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1)
                                  : (x->line > y->line) - (x->line < y->line);
}

static int count_line(struct seep_look_lines *l, const struct seep_taken *taken,
                      const struct seep_heap *heap, const struct seep_look_holder *list,
                      const uint32_t *holder)
{
    int rc = 0;

    for (uint32_t i = 0; i < heap->n_blocks && !rc; i++) {
        const size_t at = seep_live_set_find(&taken->live, heap->nodes[i].start);
        const uint32_t line =
            at < taken->live.n
                ? l->groups.of_site[seep_site_sums_find(&l->sites, taken->live.blocks[at].site)]
                : SEEP_NO_LINE;
        if (line != SEEP_NO_LINE)
            rc = count_block(l, list, holder[i], line, heap->nodes[i].bytes);
    }
    if (l->n)
        qsort(l->shares, l->n, sizeof *l->shares, by_holder);
    return rc;
}

/* Counts them. list[]: the holders; holder[] has for each node of the heap the index of the one
 * that it belongs to, or SEEP_LOOK_NO_HOLDER. What is within a holder is its own, too. Returns 0 or
 * -SEEP_ENOMEM. Allocates; look_lines_fini() in either case. */
static int look_lines_count(struct seep_look_lines *l, const struct seep_taken *taken,
                            const struct seep_heap *heap, const struct seep_look_holder *list,
                            const uint32_t *holder)
{
    const struct seep_process_profile *its = &taken->profile;
    struct seep_profile *profile = NULL;
    struct seep_error ignored = {0};

    *l = (struct seep_look_lines){0};
    if (!taken->live.n ||
        seep_profile_chain_open(its->folder, its->pid, its->start_ns, &profile, &ignored))
        return 0;
    int rc = 0;
    for (size_t i = 0; i < taken->live.n && !rc; i++)
        rc = seep_site_sums_add(&l->sites, taken->live.blocks[i].site, taken->live.blocks[i].bytes,
                                1);
    if (!rc)
        rc = seep_line_groups_init(&l->groups, profile, &l->sites, NULL, &ignored);
    seep_profile_chain_close(profile);
    l->known = !rc;
    if (rc)
        return rc == -SEEP_ENOMEM ? rc : 0;
    return count_line(l, taken, heap, list, holder);
}

static void look_lines_fini(struct seep_look_lines *l)
{
    seep_line_groups_fini(&l->groups);
    seep_site_sums_fini(&l->sites);
    seep_hash_fini(&l->by_pair);
    free(l->shares);
    *l = (struct seep_look_lines){0};
}

/* [{frame, bytes}] of the holder with that index, of the few lines that made most of it; null where
 * the lines are not known. A new reference, NULL without memory. */
static json_t *look_lines_json(const struct seep_look_lines *l, uint32_t holder)
{
    json_t *list = l->known ? json_array() : json_null();
    bool failed = !list;
    size_t i = 0;

    while (l->known && i < l->n && l->shares[i].holder < holder)
        i++;
    for (size_t k = 0; i < l->n && l->shares[i].holder == holder && k < SEEP_LOOK_LINES; i++, k++) {
        json_t *one =
            json_pack("{s:o, s:o}", "frame", seep_line_groups_frame(&l->groups, l->shares[i].line),
                      "bytes", seep_json_count(l->shares[i].bytes));
        seep_json_append(list, one, &failed);
    }
    return seep_json_whole(list, failed);
}

/* What no root reaches: members of cycles, objects that count a reference too many, and what is
 * lost, each by what it is. */

struct adding {
    struct seep_look_holders *holders;
    struct seep_reach *reach;
    const struct seep_look_memories *memories;
    struct seep_unheld unheld;
    struct seep_look_holder *list; /* [unheld.n] */
};

static int find_groups(struct adding *a)
{
    int rc = seep_cycles_find(a->reach);

    if (!rc && a->holders->all_known)
        rc = seep_references_find(a->reach);
    if (!rc)
        rc = seep_unheld_find(&a->unheld, a->reach);
    if (rc)
        return rc;
    a->list = calloc(a->unheld.n + 1, sizeof *a->list);
    for (size_t i = 0; a->list && i < a->unheld.n; i++)
        a->list[i] = (struct seep_look_holder){.key = a->unheld.list[i].key,
                                               .state = a->unheld.list[i].state,
                                               .within = SEEP_LOOK_NO_HOLDER,
                                               .length = -1,
                                               .bound = -1};
    return a->list ? 0 : -SEEP_ENOMEM;
}

static uint64_t *sum_of(struct seep_look_holders *holders, enum seep_hold_state state)
{
    return state == SEEP_HOLD_CYCLE       ? &holders->cycle_bytes
           : state == SEEP_HOLD_REFERENCE ? &holders->reference_bytes
                                          : &holders->lost_bytes;
}

static void add_node(struct adding *a, uint32_t node)
{
    struct seep_heap *heap = a->reach->heap;
    struct seep_look_holder *group = &a->list[a->unheld.of_node[node]];
    uint64_t bytes[SEEP_LOOK_MEMORIES] = {0}, with, n;

    *sum_of(a->holders, group->state) += seep_node_bytes(heap, node);
    look_memories_add(a->memories, node, bytes);
    for (size_t m = 0; m < a->holders->n_memories; m++)
        group->retained[m] += bytes[m];
    const double share = seep_look_share(a->holders, bytes);
    seep_node_with(heap, node, &with, &n); /* the example that is shown is large by itself */
    group->retained[SEEP_LOOK_HOST] += with;
    group->objects += seep_unheld_is_top(a->reach, node);
    if (share > group->most) {
        group->most = share;
        group->node = node;
    }
}

static int keep_large(struct adding *a, size_t *capacity)
{
    struct seep_look_holders *holders = a->holders;

    for (size_t i = 0; i < a->unheld.n; i++) {
        a->list[i].found = SEEP_LOOK_NO_HOLDER;
        if (!seep_look_is_large(holders, &a->list[i]) ||
            (a->list[i].state == SEEP_HOLD_LOST && !holders->all_known))
            continue;
        if (seep_grow(&holders->list, capacity, holders->n + 1, sizeof *holders->list))
            return -SEEP_ENOMEM;
        a->list[i].found = (uint32_t)holders->n;
        holders->list[holders->n++] = a->list[i];
    }
    return 0;
}

/* Adds one holder a group that is large: cycles by the type of the member that tells of
 * them, references by what counts them, what is lost by its type or class, or by its size; if not
 * all blocks are known, only cycles. Sets the sums, where the rest is lost, and for each of their
 * nodes the index of its holder. Behind it the reach has more roots; the ways that it had before
 * are the same. Returns 0 or -SEEP_ENOMEM. */
static int look_unheld_add(struct seep_look_holders *holders, size_t *capacity,
                           struct seep_reach *reach, const struct seep_look_memories *memories,
                           uint32_t *holder)
{
    struct adding a = {.holders = holders, .reach = reach, .memories = memories};
    const uint32_t *of_node;
    int rc = find_groups(&a);

    of_node = a.unheld.of_node;
    for (uint32_t i = 0; i < reach->heap->n_nodes && !rc; i++)
        if (of_node[i] != SEEP_NO_GROUP)
            add_node(&a, i);
    if (!rc)
        rc = keep_large(&a, capacity);
    for (uint32_t i = 0; i < reach->heap->n_nodes && !rc; i++)
        if (of_node[i] != SEEP_NO_GROUP)
            holder[i] = a.list[of_node[i]].found;
    seep_unheld_fini(&a.unheld);
    free(a.list);
    return rc;
}

enum { MAX_HOLDERS = 256 };

struct search {
    struct seep_look_holders *found;
    struct seep_taken *taken;
    struct seep_heap *heap; /* of what was taken */
    struct seep_reach *reach;
    struct seep_ways ways;
    struct seep_dominators dominators;
    struct seep_look_memories memories;
    struct seep_retainers retainers;
    struct seep_look_lines lines;
    size_t capacity;
};

/* The retainers' own indices are those of the holders, before they are sorted. */
static int take_retainers(struct search *s)
{
    struct seep_look_holders *found = s->found;
    struct seep_retainers *r = &s->retainers;

    found->passed = r->passed;
    found->n_passed = r->n_passed;
    r->passed = NULL;
    if (seep_grow(&found->list, &s->capacity, r->n + 1, sizeof *found->list))
        return -SEEP_ENOMEM;
    for (; found->n < r->n; found->n++) {
        const struct seep_retainer *one = &r->list[found->n];
        struct seep_look_holder *holder = &found->list[found->n];
        *holder = (struct seep_look_holder){.key = one->key,
                                            .state = SEEP_HOLD_HELD,
                                            .objects = one->objects,
                                            .within = one->within,
                                            .length = -1,
                                            .bound = -1,
                                            .node = one->node,
                                            .most = one->most};
        memcpy(holder->retained, one->retained, sizeof holder->retained);
    }
    return 0;
}

static int find_holders(struct search *s)
{
    struct seep_retained_memory memories[SEEP_LOOK_MEMORIES];

    for (size_t m = 0; m < s->found->n_memories; m++)
        memories[m] = (struct seep_retained_memory){.retained = s->memories.retained[m],
                                                    .bytes = s->found->memories[m].bytes,
                                                    .least = s->found->memories[m].least};
    const int rc = seep_retainers_find(&s->retainers, &s->ways, &s->dominators, memories,
                                       s->found->n_memories);
    return rc ? rc : take_retainers(s);
}

/* ---- what is told of them -------------------------------------------------------------------- */

/* Of two with the same share, such as a list and all that is in it, the one with more of its own
 * comes first. */
static int by_share(const void *a, const void *b)
{
    const struct seep_look_holder *x = a, *y = b;
    const uint64_t of_x = x->retained[SEEP_LOOK_HOST], of_y = y->retained[SEEP_LOOK_HOST];

    return x->share < y->share   ? 1
           : x->share > y->share ? -1
           : of_x != of_y        ? (of_x < of_y ? 1 : -1)
           : x->key != y->key    ? (x->key < y->key ? -1 : 1)
                                 : 0;
}

/* `within` holds indices of an order that this sort replaces. */
static int sort_holders(struct search *s)
{
    struct seep_look_holders *found = s->found;
    size_t *place = malloc((found->n + 1) * sizeof *place);

    if (!place)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < found->n; i++) {
        found->list[i].share = seep_look_share(found, found->list[i].retained);
        found->list[i].found = (uint32_t)i;
    }
    if (found->n)
        qsort(found->list, found->n, sizeof *found->list, by_share);
    for (size_t i = 0; i < found->n; i++)
        place[found->list[i].found] = i;
    for (size_t i = 0; i < found->n; i++) {
        struct seep_look_holder *h = &found->list[i];
        if (h->within != SEEP_LOOK_NO_HOLDER)
            h->within =
                place[h->within] < MAX_HOLDERS ? (uint32_t)place[h->within] : SEEP_LOOK_NO_HOLDER;
    }
    found->n = found->n < MAX_HOLDERS ? found->n : MAX_HOLDERS;
    free(place);
    return 0;
}

static int tell(struct search *s, struct seep_look_holder *holder, bool keys)
{
    const struct seep_pytype *type = seep_node_type(s->heap, holder->node);

    holder->made_at = look_lines_json(&s->lines, holder->found);
    if (!holder->made_at)
        return -SEEP_ENOMEM;
    if (type && holder->state != SEEP_HOLD_LOST) {
        if (holder->state == SEEP_HOLD_HELD) {
            holder->length = seep_node_length(s->heap, holder->node);
            holder->bound = seep_way_bound(s->reach, holder->node);
        }
        snprintf(holder->type, sizeof holder->type, "%s", seep_pytype_short(type));
    }
    const int rc = seep_unheld_path(s->reach, holder->state, holder->node, keys, &holder->path);
    if (!rc)
        seep_who_name_global(&s->taken->dump.maps, &holder->path);
    return rc;
}

/* ---- what nobody who is listed holds --------------------------------------------------------- */

struct sum {
    const struct seep_pytype *type; /* NULL: of blocks of C's that belong to no object */
    uint64_t bytes, objects;
};

struct sums {
    struct sum *list;
    size_t n, capacity;
    struct seep_hash_index by_type;
};

static struct sum *sum_of_others(struct sums *s, const struct seep_pytype *type)
{
    const uint64_t hash = (uint64_t)(uintptr_t)type;
    uint32_t at = seep_hash_begin(&s->by_type, hash), i;

    while ((i = seep_hash_next(&s->by_type, hash, &at)) != SEEP_HASH_NONE)
        if (s->list[i].type == type)
            return &s->list[i];
    if (seep_grow(&s->list, &s->capacity, s->n + 1, sizeof *s->list) ||
        seep_hash_add(&s->by_type, hash, (uint32_t)s->n))
        return NULL;
    s->list[s->n] = (struct sum){.type = type};
    return &s->list[s->n++];
}

/* The type of the object that a node is, or is freed with. */
static const struct seep_pytype *type_of(struct seep_reach *reach, const struct seep_dominators *d,
                                         uint32_t node)
{
    const struct seep_pytype *type = NULL;

    for (; node != SEEP_DOMINATED_BY_NONE && node != SEEP_NODE_NONE; node = d->by[node])
        if ((type = seep_node_type(reach->heap, node)))
            break;
    return type;
}

static int count_other(struct sums *s, struct seep_reach *reach, const struct seep_dominators *d,
                       const uint32_t *of_node)
{
    for (uint32_t i = 0; i < d->n_order; i++) {
        const uint32_t node = d->order[i];
        uint64_t with_bytes, with;
        struct sum *sum;
        if (of_node[node] != SEEP_NO_RETAINER || reach->distance[node] == SEEP_UNREACHED)
            continue;
        if (!(sum = sum_of_others(s, type_of(reach, d, node))))
            return -SEEP_ENOMEM;
        seep_node_with(reach->heap, node, &with_bytes, &with);
        sum->bytes += seep_node_bytes(reach->heap, node) + with_bytes;
        sum->objects += seep_node_type(reach->heap, node) != NULL;
    }
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

/* Fills holders->others, the type with most bytes first. `of_node` is that of the retainers; blocks
 * of C's count with the object that they are freed with. Returns 0 or -SEEP_ENOMEM. */
static int find_others(struct seep_look_holders *holders, struct seep_reach *reach,
                       const struct seep_dominators *dominators, const uint32_t *of_node)
{
    struct sums s = {0};
    const int rc = count_other(&s, reach, dominators, of_node);

    if (s.n)
        qsort(s.list, s.n, sizeof *s.list, by_bytes);
    for (size_t i = 0; i < s.n && holders->n_others < SEEP_LOOK_OTHERS; i++) {
        struct seep_look_other *other = &holders->others[holders->n_others++];
        *other = (struct seep_look_other){.bytes = s.list[i].bytes, .objects = s.list[i].objects};
        snprintf(other->type, sizeof other->type, "%s",
                 s.list[i].type ? seep_pytype_short(s.list[i].type) : "");
    }
    seep_hash_fini(&s.by_type);
    free(s.list);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int search(struct search *s)
{
    int rc = seep_reach_run(s->reach);

    if (!rc)
        rc = seep_inner_find(s->reach);
    if (!rc)
        rc = seep_ways_init(&s->ways, s->reach);
    if (!rc)
        rc = seep_dominators_find(&s->dominators, s->reach, true);
    return rc ? rc : look_memories_find(&s->memories, s->found, s->heap, &s->dominators);
}

static void count(struct search *s)
{
    struct seep_look_holders *found = s->found;
    uint64_t bytes, n;

    found->live_bytes = found->memories[SEEP_LOOK_HOST].bytes;
    found->reached_bytes = s->heap->survey->roots_bytes;
    found->nodes = s->heap->n_nodes + s->heap->survey->n_with_roots;
    for (uint32_t i = 0; i < s->heap->n_nodes; i++) {
        seep_node_with(s->heap, i, &bytes, &n);
        found->nodes += n;
        if (s->reach->distance[i] != SEEP_UNREACHED)
            found->reached_bytes += s->heap->nodes[i].bytes + bytes;
    }
}

static int find(struct search *s, bool keys)
{
    int rc = search(s);

    if (!rc) {
        count(s);
        rc = find_holders(s);
    }
    if (!rc)
        rc = look_unheld_add(s->found, &s->capacity, s->reach, &s->memories, s->retainers.of_node);
    if (!rc)
        rc = look_lines_count(&s->lines, s->taken, s->heap, s->found->list, s->retainers.of_node);
    if (!rc)
        rc = find_others(s->found, s->reach, &s->dominators, s->retainers.of_node);
    if (!rc)
        rc = sort_holders(s);
    for (size_t i = 0; i < s->found->n && !rc; i++)
        rc = tell(s, &s->found->list[i], keys);
    return rc;
}

int seep_look_holders_find(struct seep_look_holders *holders, struct seep_taken *taken, bool keys)
{
    struct search *s = calloc(1, sizeof *s);

    *holders = (struct seep_look_holders){.all_known = !taken->allocator[0] && !taken->is_cut &&
                                                       !taken->lacks_memory};
    if (!s)
        return -SEEP_ENOMEM;
    holders->free_bytes = taken->free_bytes;
    s->found = holders;
    s->taken = taken;
    s->heap = &taken->heap;
    s->reach = &taken->reach;
    int rc = find(s, keys);
    look_memories_fini(&s->memories);
    seep_dominators_fini(&s->dominators);
    seep_ways_fini(&s->ways);
    look_lines_fini(&s->lines);
    seep_retainers_fini(&s->retainers);
    free(s);
    return rc;
}

void seep_look_holders_fini(struct seep_look_holders *holders)
{
    for (size_t i = 0; i < holders->n; i++)
        json_decref(holders->list[i].made_at);
    free(holders->list);
    free(holders->passed);
    *holders = (struct seep_look_holders){0};
}
