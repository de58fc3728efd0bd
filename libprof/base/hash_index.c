#include "libprof/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

uint64_t seep_hash_two(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) + (b >> 29);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t seep_hash_bytes(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t x = n, word;

    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        x = seep_hash_two(x, word);
    }
    word = 0;
    memcpy(&word, p, n);
    return seep_hash_two(x, word);
}

/* Hashes are mixed: their upper half alone places an entry and distinguishes it from its
 * neighbours. */
static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

uint32_t seep_hash_begin(const struct seep_hash_index *index, uint64_t hash)
{
    return tag_of(hash) & index->mask;
}

uint32_t seep_hash_next(const struct seep_hash_index *index, uint64_t hash, uint32_t *at)
{
    uint32_t tag = tag_of(hash);

    if (!index->entries)
        return SEEP_HASH_NONE;
    for (;;) {
        const struct seep_hash_entry *e = &index->entries[*at];
        if (!e->id_plus_1)
            return SEEP_HASH_NONE;
        *at = (*at + 1) & index->mask;
        if (e->tag == tag)
            return e->id_plus_1 - 1;
    }
}

static int widen(struct seep_hash_index *index)
{
    uint32_t old_size = index->entries ? index->mask + 1 : 0;
    uint32_t size = old_size ? old_size * 2 : 64;

    if (size < old_size)
        return -SEEP_ENOMEM;
    struct seep_hash_entry *entries = calloc(size, sizeof *entries);
    if (!entries)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < old_size; i++) {
        if (!index->entries[i].id_plus_1)
            continue;
        uint32_t at = index->entries[i].tag & (size - 1);
        while (entries[at].id_plus_1)
            at = (at + 1) & (size - 1);
        entries[at] = index->entries[i];
    }
    free(index->entries);
    index->entries = entries;
    index->mask = size - 1;
    return 0;
}

int seep_hash_add(struct seep_hash_index *index, uint64_t hash, uint32_t id)
{
    uint32_t tag = tag_of(hash);

    if (!index->entries || (uint64_t)index->n * 3 >= (uint64_t)(index->mask + UINT64_C(1)) * 2) {
        if (widen(index))
            return -SEEP_ENOMEM;
    }
    uint32_t at = tag & index->mask;
    while (index->entries[at].id_plus_1)
        at = (at + 1) & index->mask;
    index->entries[at] = (struct seep_hash_entry){tag, id + 1};
    index->n++;
    return 0;
}

void seep_hash_fini(struct seep_hash_index *index)
{
    free(index->entries);
    *index = (struct seep_hash_index){0};
}

int seep_grow(void *array, size_t *capacity, size_t need, size_t each)
{
    void *old;
    size_t wanted = *capacity ? *capacity : 64;

    if (need <= *capacity)
        return 0;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2)
            return -SEEP_ENOMEM;
        wanted *= 2;
    }
    if (wanted > SIZE_MAX / each)
        return -SEEP_ENOMEM;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, wanted * each);
    if (!grown)
        return -SEEP_ENOMEM;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return 0;
}
