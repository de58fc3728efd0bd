#include "libprof/who/graph/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STORAGE_LEAST = 56,
    STORAGE_MOST = 512,
    MANGLED = 400,
    MAX_PARTS = 16,
};
#define LONGEST (UINT64_C(1) << 30) /* longer blocks are reserved memory, or numbers */

/* "3c1010TensorImpl" or "N3c1010TensorImplE": the last two names, each after its length. */
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

/* A vtable is in a file's constant data. Ahead of it are the offset to the object's top and its
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

static const struct seep_vtable *vtable_of(struct seep_heap *heap, uint64_t vtable)
{
    struct seep_vtable *recent = &heap->vtables[(vtable >> 3) % SEEP_HEAP_RECENT];
    char name[128];

    if (recent->address != vtable || !vtable) {
        const bool is_class =
            vtable >= SEEP_MEMORY_PAGE && seep_native_class(heap, vtable, name, sizeof name);
        *recent = (struct seep_vtable){vtable, is_class,
                                       is_class && strcmp(name, "c10::StorageImpl") == 0};
    }
    return recent;
}

bool seep_native_is_vtable(struct seep_heap *heap, uint64_t word)
{
    return vtable_of(heap, word)->is_class;
}

/* c10::StorageImpl: vtable, counts of references, data, deleter, context, device, bytes. The counts
 * are two words, each small; in newer PyTorch one, whose upper half counts weak references and is
 * never 0. */
bool seep_native_storage(struct seep_heap *heap, uint32_t n, struct seep_storage *storage)
{
    enum { COUNTS = 8, DATA = 16, DEVICE = 40, SIZE = 48 };
    const struct seep_node *node = &heap->nodes[n];

    if (node->bytes < STORAGE_LEAST || node->bytes > STORAGE_MOST ||
        !vtable_of(heap, seep_memory_word(heap->memory, node->start))->is_storage)
        return false;
    const uint64_t more = seep_memory_word(heap->memory, node->start + COUNTS) >> 32 ? 0 : 8;
    const uint64_t at = node->start + more;
    const uint64_t bytes = seep_memory_word(heap->memory, at + SIZE);
    const bool is_known = node->bytes >= more + SIZE + 8 && bytes < UINT64_C(1) << 46;
    *storage = (struct seep_storage){
        .data = seep_memory_word(heap->memory, at + DATA),
        .bytes = is_known ? bytes : 0, /* else it is a symbol */
        .device_at = at + DEVICE,
        .device = seep_memory_u8(heap->memory, at + DEVICE),
        .number = seep_memory_u8(heap->memory, at + DEVICE + 1),
    };
    return true;
}

void seep_native_spare(struct seep_heap *heap, const struct seep_storage *storage)
{
    uint32_t n = seep_heap_find(heap, storage->data);

    if (storage->device == SEEP_DEVICE_CPU &&
        (n == SEEP_NODE_NONE || heap->nodes[n].start == storage->data))
        seep_edge_spare(heap, storage->data, storage->bytes);
}

uint64_t seep_native_bytes(struct seep_heap *heap, uint64_t address)
{
    static const struct {
        const char *class;
        uint64_t bytes;
    } known[] = {{"c10::StorageImpl", 64}, {"c10::TensorImpl", 64}, {"autograd::AutogradMeta", 64}};
    char name[128];

    if (seep_native_class(heap, seep_memory_word(heap->memory, address), name, sizeof name))
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(name, known[i].class) == 0)
                return known[i].bytes;
    return 0;
}

static void scan(struct seep_heap *heap, const struct seep_node *node, uint64_t from, uint64_t to)
{
    seep_heap_scan(heap, from, to, node->start, SEEP_COST_NATIVE, SEEP_COST_NATIVE_PYTHON);
}

/* The device takes two bytes; the bytes after it are left over from earlier use, mostly of an
 * address. */
static void walk_storage(struct seep_heap *heap, const struct seep_node *node,
                         const struct seep_storage *storage)
{
    seep_native_spare(heap, storage);
    scan(heap, node, node->start, storage->device_at);
    scan(heap, node, storage->device_at + 8, seep_node_end(node));
}

/* Whatever is found there is believed only where memory seems lost; so the survey cannot wait. */
static void walk_deep(struct seep_heap *heap, const struct seep_node *node)
{
    if (node->bytes > LONGEST)
        return;
    if (node->bytes > heap->deep_left) {
        heap->deep_cut = true;
        return;
    }
    heap->deep_left -= node->bytes;
    heap->marks |= SEEP_EDGE_DEEP;
    scan(heap, node, node->start + SEEP_NATIVE_SCANNED, seep_node_end(node));
    heap->marks &= (uint8_t)~SEEP_EDGE_DEEP;
}

void seep_native_walk(struct seep_heap *heap, uint32_t n)
{
    const struct seep_node *node = &heap->nodes[n];
    struct seep_storage storage;
    uint64_t to = seep_node_end(node);

    if (seep_native_storage(heap, n, &storage)) {
        walk_storage(heap, node, &storage);
        return;
    }
    if (to <= node->start + SEEP_NATIVE_SCANNED) {
        scan(heap, node, node->start, to);
        return;
    }
    scan(heap, node, node->start, node->start + SEEP_NATIVE_SCANNED);
    walk_deep(heap, node);
}
