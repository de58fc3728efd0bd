#include "libprof/measure/device_layout.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *a, const void *b)
{
    const struct seep_model_layout_block *p = a, *q = b;

    if (p->address != q->address)
        return p->address < q->address ? -1 : 1;
    return (p->bytes < q->bytes) - (p->bytes > q->bytes); /* the larger first: it stays */
}

static uint64_t end_of(const struct seep_model_layout_block *block)
{
    return block->address + block->bytes;
}

static bool is_tensor(const struct seep_model_layout_block *block)
{
    return block->kind == SEEP_LAYOUT_TENSOR;
}

/* Copies tensors (or all else) to list[] in order; drops a block that begins within the previous
 * one. */
static size_t choose(const struct seep_model_layout *from, bool tensors,
                     struct seep_model_layout_block *list)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < from->n_blocks; i++) {
        if (is_tensor(&from->blocks[i]) == tensors)
            list[n++] = from->blocks[i];
    }
    if (n)
        qsort(list, n, sizeof *list, by_address);
    for (size_t i = 0; i < n; i++) {
        if (!kept || list[i].address >= end_of(&list[kept - 1]))
            list[kept++] = list[i];
    }
    return kept;
}

/* Adjacent mapped parts are one segment. */
static void join_segments(struct seep_device_layout *its,
                          const struct seep_model_layout_block *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct seep_layout_segment *last =
            its->n_segments ? &its->segments[its->n_segments - 1] : NULL;
        if (last && blocks[i].kind == SEEP_LAYOUT_MAPPED && blocks[i - 1].kind == blocks[i].kind &&
            last->address + last->bytes == blocks[i].address)
            last->bytes += blocks[i].bytes;
        else
            its->segments[its->n_segments++] =
                (struct seep_layout_segment){.address = blocks[i].address,
                                             .bytes = blocks[i].bytes,
                                             .site = blocks[i].site,
                                             .is_small = blocks[i].bytes == SEEP_SMALL_SEGMENT};
    }
}

static bool is_of_use(uint64_t asked, const struct seep_layout_segment *segment, uint64_t bytes)
{
    return bytes >= asked && (!asked || segment->is_small == (asked <= SEEP_SMALL_REQUEST));
}

/* A piece of the cache that no tensor occupies. */
static void add_free(struct seep_device_layout *its, struct seep_layout_segment *segment,
                     uint64_t bytes)
{
    if (!bytes)
        return;
    its->n_free++;
    its->free_bytes += bytes;
    its->unusable_bytes += is_of_use(its->from->asked_bytes, segment, bytes) ? 0 : bytes;
    if (bytes > segment->largest_free_bytes)
        segment->largest_free_bytes = bytes;
    if (bytes > its->largest_free_bytes)
        its->largest_free_bytes = bytes;
}

static void find_free(struct seep_device_layout *its, struct seep_layout_segment *segment)
{
    uint64_t at = segment->address;

    for (size_t i = 0; i < segment->n; i++) {
        const struct seep_model_layout_block *tensor = &its->tensors[segment->first + i];
        add_free(its, segment, tensor->address - at);
        at = end_of(tensor);
    }
    add_free(its, segment, segment->address + segment->bytes - at);
}

static bool is_asked_for_tensors(const struct seep_model *m, uint32_t site, const bool *marked)
{
    return site && marked && marked[m->sites[site - 1].stack];
}

/* Assigns tensors to segments: a tensor lies wholly in one, or counts as outside. */
static void place(struct seep_device_layout *its)
{
    size_t t = 0;

    for (size_t s = 0; s < its->n_segments; s++) {
        struct seep_layout_segment *segment = &its->segments[s];
        const uint64_t end = segment->address + segment->bytes;
        for (; t < its->n_tensors && its->tensors[t].address < segment->address; t++)
            its->outside_bytes += its->tensors[t].bytes;
        segment->first = t;
        for (; t < its->n_tensors && end_of(&its->tensors[t]) <= end; t++)
            segment->live_bytes += its->tensors[t].bytes;
        segment->n = t - segment->first;
    }
    for (; t < its->n_tensors; t++)
        its->outside_bytes += its->tensors[t].bytes;
}

static void add_up(const struct seep_model *m, const bool *marked, struct seep_device_layout *its)
{
    for (size_t s = 0; s < its->n_segments; s++) {
        struct seep_layout_segment *segment = &its->segments[s];
        segment->is_cache = segment->n || is_asked_for_tensors(m, segment->site, marked);
        its->taken_bytes += segment->bytes;
        its->live_bytes += segment->live_bytes;
        if (segment->is_cache)
            find_free(its, segment);
        else
            its->others_bytes += segment->bytes;
    }
}

int seep_device_layout_make(const struct seep_model *m, const struct seep_model_layout *from,
                            const bool *marked, struct seep_device_layout *out)
{
    struct seep_model_layout_block *blocks = calloc(from->n_blocks + 1, sizeof *blocks);

    *out = (struct seep_device_layout){.from = from};
    out->tensors = calloc(from->n_blocks + 1, sizeof *out->tensors);
    out->segments = calloc(from->n_blocks + 1, sizeof *out->segments);
    if (!blocks || !out->tensors || !out->segments) {
        free(blocks);
        seep_device_layout_fini(out);
        return -SEEP_ENOMEM;
    }
    out->n_tensors = choose(from, true, out->tensors);
    join_segments(out, blocks, choose(from, false, blocks));
    place(out);
    add_up(m, marked, out);
    free(blocks);
    return 0;
}

void seep_device_layout_fini(struct seep_device_layout *layout)
{
    free(layout->segments);
    free(layout->tensors);
    memset(layout, 0, sizeof *layout);
}
