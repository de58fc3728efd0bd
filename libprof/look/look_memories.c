#include "libprof/look/look_memories.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/survey/survey.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST = 64 << 10,   /* fewer bytes are not listed */
    LEAST_SHARE = 1000, /* or less than 1/n of all that is in use */
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
    const uint64_t hash = seep_hash_two(storage->data, storage->device << 8 | storage->number);
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

int seep_look_memories_find(struct seep_look_memories *found, struct seep_look_holders *holders,
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
        const uint64_t part = holders->memories[m].bytes / LEAST_SHARE;
        holders->memories[m].least = part > LEAST ? part : LEAST;
    }
    return rc ? rc : sum_up(found, holders, dominators);
}

void seep_look_memories_fini(struct seep_look_memories *found)
{
    for (size_t m = 1; m < SEEP_LOOK_MEMORIES; m++)
        free(found->retained[m]);
    free(found->storages);
    *found = (struct seep_look_memories){0};
}

void seep_look_memories_add(const struct seep_look_memories *found, uint32_t node,
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
