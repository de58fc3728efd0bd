#include "libprof/who/blocks/block_list.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>

void seep_block_add(struct seep_block_list *blocks, enum seep_block_kind kind, uint64_t start,
                    uint64_t bytes)
{
    if (blocks->n == blocks->most) {
        blocks->full = true;
        return;
    }
    if (seep_grow(&blocks->list, &blocks->capacity, blocks->n + 1, sizeof *blocks->list)) {
        blocks->no_memory = true;
        return;
    }
    blocks->list[blocks->n++] =
        (struct seep_snapshot_block){.start = start, .bytes = bytes, .site = kind};
}

static int by_start(const void *a, const void *b)
{
    const struct seep_snapshot_block *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

void seep_block_sort(struct seep_block_list *blocks)
{
    if (blocks->n)
        qsort(blocks->list, blocks->n, sizeof *blocks->list, by_start);
}

size_t seep_block_find(const struct seep_snapshot_block *list, size_t n, uint64_t start)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low].start == start ? low : n;
}

void seep_blocks_join(struct seep_block_list *blocks, enum seep_block_kind kind, uint64_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < blocks->n; i++) {
        const struct seep_snapshot_block *next = &blocks->list[i];
        struct seep_snapshot_block *last = n ? &blocks->list[n - 1] : NULL;
        if (last && last->site == kind && next->site == kind && last->bytes < bytes &&
            last->start + last->bytes == next->start)
            last->bytes += next->bytes;
        else
            blocks->list[n++] = *next;
    }
    blocks->n = n;
}

void seep_block_list_fini(struct seep_block_list *blocks)
{
    free(blocks->list);
    *blocks = (struct seep_block_list){0};
}
