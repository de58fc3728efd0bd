#include "libprof/who/graph/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STORAGE_LEAST = 56, /* c10::StorageImpl */
    STORAGE_MOST = 512,
    STORAGE_DATA = 24,
    STORAGE_DEVICE = 48,
    MANGLED = 400,
    MAX_PARTS = 16,
};

/* "3c1010TensorImpl" or "N3c1010TensorImplE": the last two of the lengths and names. */
static bool demangle(const char *mangled, char *to, size_t capacity)
{
    const char *parts[MAX_PARTS], *at = mangled + (*mangled == 'N');
    size_t lengths[MAX_PARTS], n = 0, used = 0;

    while (*at >= '1' && *at <= '9' && n < MAX_PARTS) {
        char *name;
        size_t length = strtoul(at, &name, 10);
        if (length > strlen(name))
            return false;
        parts[n] = name;
        lengths[n++] = length;
        at = name + length;
    }
    for (size_t i = n > 2 ? n - 2 : 0; i < n; i++) {
        int more = snprintf(to + used, capacity - used, "%s%.*s", used ? "::" : "",
                            (int)(lengths[i] < 60 ? lengths[i] : 60), parts[i]);
        if (more < 0 || (size_t)more >= capacity - used)
            return false;
        used += (size_t)more;
    }
    return n > 0;
}

/* A vtable is in the constant data of a file: before it lie the offset to the object's top, and its
 * type_info, whose second word is the mangled name. */
bool seep_native_class(struct seep_heap *heap, uint64_t vtable, char *to, size_t capacity)
{
    struct seep_memory *memory = heap->memory;
    const struct seep_map *map = vtable % 8 ? NULL : seep_maps_at(heap->maps, vtable);
    char mangled[MANGLED];

    to[0] = '\0';
    if (!map || map->kind != SEEP_MAP_FILE || map->executable)
        return false;
    int64_t top = (int64_t)seep_memory_word(memory, vtable - 16);
    uint64_t info = seep_memory_word(memory, vtable - 8);
    if (top > 0 || top < -100000 || !info || info % 8)
        return false;
    uint64_t name = seep_memory_word(memory, info + 8);
    map = seep_maps_at(heap->maps, name);
    if (!map || map->kind != SEEP_MAP_FILE ||
        seep_memory_text(memory, name, mangled, sizeof mangled) < 2)
        return false;
    return demangle(mangled + (*mangled == '*'), to, capacity);
}

static bool is_storage(struct seep_heap *heap, uint64_t vtable)
{
    char name[128];

    return seep_native_class(heap, vtable, name, sizeof name) &&
           strcmp(name, "c10::StorageImpl") == 0;
}

/* A tensor's elements are no addresses. */
static void spare_elements(struct seep_heap *heap, const struct seep_node *storage)
{
    uint64_t data = seep_memory_word(heap->memory, storage->start + STORAGE_DATA);
    uint32_t n = seep_heap_find(heap, data);

    if (n != SEEP_NODE_NONE && heap->nodes[n].kind == SEEP_NODE_UNKNOWN &&
        heap->nodes[n].start == data)
        heap->nodes[n].kind = SEEP_NODE_RAW;
}

static void scan(struct seep_heap *heap, const struct seep_node *node, uint64_t from, uint64_t to)
{
    seep_heap_scan(heap, from, to, node->start, SEEP_COST_NATIVE, SEEP_COST_NATIVE_PYTHON);
}

/* Its device is two bytes: those behind them are of whatever lay there before, mostly an address.
 */
static void walk_storage(struct seep_heap *heap, const struct seep_node *node)
{
    spare_elements(heap, node);
    scan(heap, node, node->start, node->start + STORAGE_DEVICE);
    scan(heap, node, node->start + STORAGE_DEVICE + 8, seep_node_end(node));
}

void seep_native_walk(struct seep_heap *heap, uint32_t n)
{
    const struct seep_node *node = &heap->nodes[n];
    uint64_t to = seep_node_end(node);

    if (node->bytes >= STORAGE_LEAST && node->bytes <= STORAGE_MOST &&
        is_storage(heap, seep_memory_word(heap->memory, node->start))) {
        walk_storage(heap, node);
        return;
    }
    if (to > node->start + SEEP_NATIVE_SCANNED &&
        !(heap->inner && heap->inner[n] & SEEP_INNER_WHOLE))
        to = node->start + SEEP_NATIVE_SCANNED;
    scan(heap, node, node->start, to);
}
