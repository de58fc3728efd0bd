#include "libprof/who/graph/graph.h"

#include <stdlib.h>
#include <string.h>

enum {
    REGION_BITS = 26,
    PAGE_BITS = 12,
    REGION_PAGES = 1 << (REGION_BITS - PAGE_BITS),
    MAX_OUTSIDE = 1 << 17,
};

static int by_start(const void *a, const void *b)
{
    const struct seep_node *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static uint32_t *page_table_of(const struct seep_heap *heap, uint32_t *at)
{
    uint32_t *table = malloc((REGION_PAGES + 1) * sizeof *table), page = 0;
    uint64_t region = heap->nodes[*at].start >> REGION_BITS;

    for (; table && *at < heap->n_blocks && heap->nodes[*at].start >> REGION_BITS == region; ++*at)
        while (page <= (heap->nodes[*at].start >> PAGE_BITS) % REGION_PAGES)
            table[page++] = *at;
    while (table && page <= REGION_PAGES)
        table[page++] = *at;
    return table;
}

static int make_index(struct seep_heap *heap)
{
    heap->first_region = heap->lowest >> REGION_BITS;
    heap->n_regions = (heap->highest >> REGION_BITS) - heap->first_region + 1;
    heap->page_tables = calloc(heap->n_regions, sizeof *heap->page_tables);
    heap->region_first = malloc(heap->n_regions * sizeof *heap->region_first);
    if (!heap->page_tables || !heap->region_first)
        return -SEEP_ENOMEM;
    for (uint64_t r = 0, i = 0; r < heap->n_regions; r++) {
        uint32_t at = heap->region_first[r] = (uint32_t)i;
        if (at == heap->n_blocks || heap->starts[at] >> REGION_BITS != heap->first_region + r)
            continue;
        if (!(heap->page_tables[r] = page_table_of(heap, &at)))
            return -SEEP_ENOMEM;
        i = at;
    }
    return 0;
}

static bool is_own(const struct seep_heap *heap, uint64_t address)
{
    for (size_t i = 0; i < heap->n_own; i++)
        if (address >= heap->own[i].start && address < heap->own[i].end)
            return true;
    return false;
}

int seep_graph_init(struct seep_heap *heap, const struct seep_snapshot_block *blocks, size_t n)
{
    uint32_t kept = 0;

    if (n > UINT32_MAX / 4)
        return -SEEP_ENOMEM;
    heap->capacity = (uint32_t)n + (heap->most_outside ? heap->most_outside : MAX_OUTSIDE);
    heap->nodes = calloc(heap->capacity, sizeof *heap->nodes);
    if (!heap->nodes)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = blocks[i].bytes ? blocks[i].bytes : 1;
        if (blocks[i].start >> 47 || bytes >> 46)
            continue;
        heap->nodes[kept++] =
            (struct seep_node){.start = blocks[i].start, .bytes = bytes, .site = blocks[i].site};
    }
    qsort(heap->nodes, kept, sizeof *heap->nodes, by_start);
    for (uint32_t i = 0; i < kept; i++) {
        struct seep_node *last = heap->n_blocks ? &heap->nodes[heap->n_blocks - 1] : NULL;
        if (!last || seep_node_end(last) <= heap->nodes[i].start)
            heap->nodes[heap->n_blocks++] = heap->nodes[i];
    }
    heap->n_nodes = heap->n_blocks;
    heap->starts = malloc((heap->n_blocks + 1u) * sizeof *heap->starts);
    if (!heap->starts)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        heap->starts[i] = heap->nodes[i].start;
    heap->lowest = kept ? heap->nodes[0].start : 1;
    heap->highest = kept ? seep_node_end(&heap->nodes[heap->n_blocks - 1]) : 1;
    return make_index(heap);
}

void seep_graph_fini(struct seep_heap *heap)
{
    for (size_t i = 0; heap->page_tables && i < heap->n_regions; i++)
        free(heap->page_tables[i]);
    free(heap->page_tables);
    free(heap->region_first);
    seep_hash_fini(&heap->outside);
    free(heap->inner);
    free(heap->starts);
    free(heap->nodes);
}

uint32_t seep_heap_find(const struct seep_heap *heap, uint64_t address)
{
    if (address < heap->lowest || address >= heap->highest)
        return SEEP_NODE_NONE;
    uint64_t region = (address >> REGION_BITS) - heap->first_region;
    const uint32_t *table = heap->page_tables[region];
    uint64_t page = (address >> PAGE_BITS) % REGION_PAGES;
    uint32_t low = table ? table[page] : heap->region_first[region];
    uint32_t high = table ? table[page + 1] : low;

    while (low < high) { /* the first node that begins after it */
        uint32_t middle = low + (high - low) / 2;
        if (heap->starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < seep_node_end(&heap->nodes[low - 1]) ? low - 1 : SEEP_NODE_NONE;
}

uint32_t seep_heap_outside(struct seep_heap *heap, uint64_t address, bool make)
{
    const uint64_t hash = seep_hash_two(address, 0);
    uint32_t at = seep_hash_begin(&heap->outside, hash), node;

    while ((node = seep_hash_next(&heap->outside, hash, &at)) != SEEP_HASH_NONE)
        if (heap->nodes[node].start == address)
            return node;
    if (!make || heap->n_nodes >= heap->capacity || is_own(heap, address) ||
        seep_hash_add(&heap->outside, hash, heap->n_nodes))
        return SEEP_NODE_NONE;
    heap->nodes[heap->n_nodes] = (struct seep_node){.start = address, .kind = SEEP_NODE_PYTHON};
    return heap->n_nodes++;
}

const char *seep_label_word_text(enum seep_label_word word)
{
    static const char *const texts[] = {
        [SEEP_WORD_KEY] = "a key",
        [SEEP_WORD_ELEMENT] = "an element",
        [SEEP_WORD_CLOSURE] = "__closure__",
        [SEEP_WORD_DEFAULTS] = "__defaults__",
        [SEEP_WORD_KWDEFAULTS] = "__kwdefaults__",
        [SEEP_WORD_CODE] = "__code__",
        [SEEP_WORD_GLOBALS] = "__globals__",
        [SEEP_WORD_BASES] = "__bases__",
        [SEEP_WORD_CLASS] = "__class__",
        [SEEP_WORD_STATE] = "its C state",
        [SEEP_WORD_CALLBACK] = "its callback",
        [SEEP_WORD_DATA] = "its data",
        [SEEP_WORD_MODULES] = "sys.modules",
        [SEEP_WORD_THREAD] = "threading.local",
        [SEEP_WORD_CACHE] = "its cache",
    };

    return texts[word];
}
