#include "libprof/who/graph/graph.h"

#include "libprof/arch/arch.h"
#include "libprof/format/address_bits.h"

#include <stdlib.h>
#include <string.h>

enum {
    REGION_BITS = 26,
    MIN_BITS = 4, /* no allocator places blocks closer */
    MAX_OUTSIDE = 1 << 17,
    FEW = 3, /* nodes that are read without a branch: most pieces have no more */
};

/* A part of the address space in pieces of equal size, about as many as nodes begin in it. */
struct seep_heap_region {
    uint32_t bits;  /* of a piece's size; 0: no node begins in the region, */
    uint32_t over;  /* and this + 1 lies over its beginning; 0: none */
    uint32_t table; /* place in `tables`: for each piece the first node that begins in it or
                     * behind, and the first behind all */
};

/* Addresses have 48 bits: four passes of a radix sort, of which each moves all nodes once. */
enum { DIGIT_BITS = 12, DIGITS = 4, RADIX = 1 << DIGIT_BITS };
_Static_assert(DIGIT_BITS *DIGITS >= SEEP_ADDRESS_BITS, "all of them");

static uint32_t digit_of(const struct seep_node *node, unsigned digit)
{
    return (uint32_t)(node->start >> digit * DIGIT_BITS) & (RADIX - 1);
}

static void sort_by_digit(const struct seep_node *from, struct seep_node *to, uint32_t n,
                          unsigned digit)
{
    uint32_t at[RADIX] = {0}, sum = 0;

    for (uint32_t i = 0; i < n; i++)
        at[digit_of(&from[i], digit)]++;
    for (size_t d = 0; d < RADIX; d++) {
        const uint32_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[at[digit_of(&from[i], digit)]++] = from[i];
}

/* Sorts nodes by their start; equal ones stay in their order. */
static int sort_nodes(struct seep_node *nodes, uint32_t n)
{
    struct seep_node *other = malloc((n + (size_t)1) * sizeof *other);

    if (!other)
        return -SEEP_ENOMEM;
    for (unsigned digit = 0; digit < DIGITS; digit += 2) {
        sort_by_digit(nodes, other, n, digit);
        sort_by_digit(other, nodes, n, digit + 1);
    }
    free(other);
    return 0;
}

static struct seep_heap_region *region_of(const struct seep_heap *heap, uint64_t address)
{
    return &heap->regions[(address >> REGION_BITS) - heap->first_region];
}

/* Of a region in which the nodes [first, end) begin. */
static int make_table(struct seep_heap *heap, uint32_t first, uint32_t end)
{
    struct seep_heap_region *region = region_of(heap, heap->nodes[first].start);
    const uint64_t start = heap->nodes[first].start >> REGION_BITS << REGION_BITS;
    uint32_t at = first;

    region->bits = REGION_BITS;
    while (region->bits > MIN_BITS && UINT32_C(1) << (REGION_BITS - region->bits) < end - first)
        region->bits--;
    const uint32_t n = UINT32_C(1) << (REGION_BITS - region->bits);
    if (seep_grow(&heap->tables, &heap->table_capacity, heap->n_tables + n + 1,
                  sizeof *heap->tables))
        return -SEEP_ENOMEM;
    region->table = (uint32_t)heap->n_tables;
    for (uint32_t piece = 0; piece <= n; piece++) {
        while (at < end && heap->nodes[at].start < start + ((uint64_t)piece << region->bits))
            at++;
        heap->tables[heap->n_tables++] = at;
    }
    return 0;
}

/* The regions that a node reaches into, but does not begin in. */
static void note_over(struct seep_heap *heap, uint32_t node)
{
    const uint64_t last = (seep_node_end(&heap->nodes[node]) - 1) >> REGION_BITS;

    for (uint64_t r = (heap->nodes[node].start >> REGION_BITS) + 1; r <= last; r++)
        heap->regions[r - heap->first_region].over = node + 1;
}

/* Most regions between the first and the last are empty, and none of these is written. */
static int make_index(struct seep_heap *heap)
{
    int rc = 0;

    heap->first_region = heap->lowest >> REGION_BITS;
    heap->n_regions = (heap->highest >> REGION_BITS) - heap->first_region + 1;
    heap->regions = calloc(heap->n_regions, sizeof *heap->regions);
    if (!heap->regions)
        return -SEEP_ENOMEM;
    for (uint32_t first = 0, end; first < heap->n_blocks && !rc; first = end) {
        const uint64_t region = heap->nodes[first].start >> REGION_BITS;
        for (end = first; end < heap->n_blocks && heap->nodes[end].start >> REGION_BITS == region;)
            end++;
        rc = make_table(heap, first, end);
        note_over(heap, end - 1);
    }
    return rc;
}

static bool is_own(const struct seep_heap *heap, uint64_t address)
{
    for (size_t i = 0; i < heap->n_own; i++)
        if (address >= heap->own[i].start && address < heap->own[i].end)
            return true;
    return false;
}

static int note_sample(struct seep_heap *heap, const struct seep_snapshot_block *block)
{
    const uint32_t n = block->stands_for < UINT16_MAX ? block->stands_for : UINT16_MAX;

    if (n <= 1)
        return 0;
    if (seep_grow(&heap->samples, &heap->sample_capacity, heap->n_samples + 1,
                  sizeof *heap->samples))
        return -SEEP_ENOMEM;
    heap->samples[heap->n_samples++] = (struct seep_sample){block->start, (uint16_t)n};
    return 0;
}

/* Once nodes are found by their address. */
static int place_samples(struct seep_heap *heap)
{
    if (!heap->n_samples)
        return 0;
    heap->stands_for = malloc((heap->n_blocks + (size_t)1) * sizeof *heap->stands_for);
    if (!heap->stands_for)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        heap->stands_for[i] = 1;
    for (size_t i = 0; i < heap->n_samples; i++) {
        const uint32_t node = seep_heap_find(heap, heap->samples[i].start);
        if (node != SEEP_NODE_NONE && heap->nodes[node].start == heap->samples[i].start)
            heap->stands_for[node] = heap->samples[i].stands_for;
    }
    return 0;
}

int seep_graph_add(struct seep_heap *heap, const struct seep_snapshot_block *block)
{
    const uint64_t bytes = block->bytes ? block->bytes : 1;

    if (!seep_is_address(block->start) || bytes >> 46)
        return 0;
    if (heap->n_nodes > UINT32_MAX / 4 ||
        seep_grow(&heap->nodes, &heap->allocated, heap->n_nodes + (size_t)FEW + 1,
                  sizeof *heap->nodes))
        return -SEEP_ENOMEM;
    heap->nodes[heap->n_nodes++] = (struct seep_node){.start = block->start & SEEP_NODE_STARTS,
                                                      .bytes = bytes & SEEP_NODE_SIZES,
                                                      .site = block->site};
    return note_sample(heap, block);
}

int seep_graph_add_map(struct seep_heap *heap, const struct seep_snapshot_block *map)
{
    struct seep_snapshot_block block = *map;

    block.stands_for = 0;
    if (seep_map_counted(map) < map->bytes) {
        if (seep_grow(&heap->touched, &heap->touched_capacity, heap->n_touched + 1,
                      sizeof *heap->touched))
            return -SEEP_ENOMEM;
        heap->touched[heap->n_touched++] = (struct seep_touched){map->start, seep_map_counted(map)};
    }
    return seep_graph_add(heap, &block);
}

static int by_start(const void *a, const void *b)
{
    const struct seep_touched *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

uint64_t seep_node_counted(const struct seep_heap *heap, uint32_t node)
{
    const struct seep_touched wanted = {.start = heap->nodes[node].start};
    const struct seep_touched *its =
        bsearch(&wanted, heap->touched, heap->n_touched, sizeof wanted, by_start);

    return its && its->bytes < heap->nodes[node].bytes ? its->bytes : heap->nodes[node].bytes;
}

static void leave_out_overlapping(struct seep_heap *heap)
{
    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        const struct seep_node *last = heap->n_blocks ? &heap->nodes[heap->n_blocks - 1] : NULL;
        if (!last || seep_node_end(last) <= heap->nodes[i].start)
            heap->nodes[heap->n_blocks++] = heap->nodes[i];
    }
    heap->n_nodes = heap->n_blocks;
}

/* Behind the nodes is room for those outside; what nobody touches takes no memory. */
static int make_room(struct seep_heap *heap)
{
    heap->capacity =
        heap->n_blocks + (heap->most_outside ? heap->most_outside : (uint32_t)MAX_OUTSIDE);
    struct seep_node *nodes =
        realloc(heap->nodes, (heap->capacity + (size_t)FEW) * sizeof *heap->nodes);
    if (!nodes)
        return -SEEP_ENOMEM;
    heap->nodes = nodes;
    memset(nodes + heap->n_blocks, 0, FEW * sizeof *nodes);
    return 0;
}

int seep_graph_end(struct seep_heap *heap)
{
    if (heap->n_nodes && sort_nodes(heap->nodes, heap->n_nodes))
        return -SEEP_ENOMEM;
    if (heap->n_touched)
        qsort(heap->touched, heap->n_touched, sizeof *heap->touched, by_start);
    leave_out_overlapping(heap);
    if (make_room(heap))
        return -SEEP_ENOMEM;
    heap->lowest = heap->n_blocks ? heap->nodes[0].start : 1;
    heap->highest = heap->n_blocks ? seep_node_end(&heap->nodes[heap->n_blocks - 1]) : 1;
    const int rc = make_index(heap);
    return rc ? rc : place_samples(heap);
}

int seep_graph_init(struct seep_heap *heap, const struct seep_snapshot_block *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (seep_graph_add(heap, &blocks[i]))
            return -SEEP_ENOMEM;
    return seep_graph_end(heap);
}

void seep_graph_forget_index(struct seep_heap *heap)
{
    heap->lowest = heap->highest = 0;
    free(heap->regions);
    heap->regions = NULL;
    free(heap->tables);
    heap->tables = NULL;
    seep_hash_fini(&heap->outside);
}

void seep_graph_fini(struct seep_heap *heap)
{
    seep_graph_forget_index(heap);
    free(heap->inner);
    free(heap->nodes);
    free(heap->samples);
    free(heap->touched);
    free(heap->stands_for);
}

/* The table's entry for the piece of the region that the address lies in. */
static const uint32_t *piece_of(const struct seep_heap *heap, const struct seep_heap_region *region,
                                uint64_t address)
{
    return heap->tables + region->table + (address % (UINT64_C(1) << REGION_BITS) >> region->bits);
}

uint32_t seep_heap_find_within(const struct seep_heap *heap, uint64_t address)
{
    const struct seep_heap_region *region = region_of(heap, address);

    if (!region->bits)
        return region->over && address < seep_node_end(&heap->nodes[region->over - 1])
                   ? region->over - 1
                   : SEEP_NODE_NONE;
    const uint32_t *table = piece_of(heap, region, address);
    uint32_t low = table[0], high = table[1];
    while (high - low > FEW) { /* the first node that begins after it */
        uint32_t middle = low + (high - low) / 2;
        if (heap->nodes[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t n_before = 0; /* which of the last ones it is, no processor can foresee */
    for (uint32_t i = 0; i < FEW; i++)
        n_before += (i < high - low) & (heap->nodes[low + i].start <= address);
    low += n_before;
    return low && address < seep_node_end(&heap->nodes[low - 1]) ? low - 1 : SEEP_NODE_NONE;
}

bool seep_heap_expect(const struct seep_heap *heap, uint64_t address)
{
    address = seep_arch_untagged(address);
    if (address - heap->lowest >= heap->highest - heap->lowest)
        return false;
    const struct seep_heap_region *region = region_of(heap, address);
    if (region->bits)
        __builtin_prefetch(piece_of(heap, region, address));
    return region->bits || region->over;
}

void seep_heap_expect_node(const struct seep_heap *heap, uint64_t address)
{
    address = seep_arch_untagged(address);
    if (address - heap->lowest >= heap->highest - heap->lowest)
        return;
    const struct seep_heap_region *region = region_of(heap, address);
    const struct seep_node *next;
    if (!region->bits)
        return;
    next = &heap->nodes[*piece_of(heap, region, address)];
    __builtin_prefetch(next - (next > heap->nodes)); /* mostly one of these two */
    __builtin_prefetch(next);
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
    *seep_heap_recent(heap, address) = (struct seep_outside){address, heap->n_nodes};
    heap->nodes[heap->n_nodes] =
        (struct seep_node){.start = address & SEEP_NODE_STARTS, .kind = SEEP_NODE_PYTHON};
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
        [SEEP_WORD_BUILTINS] = "__builtins__",
        [SEEP_WORD_FUNCTION] = "its function",
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
