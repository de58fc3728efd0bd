/* Open-addressed index from a 64-bit hash to small ids; the caller keeps the keys and compares
 * them.
 *
 *   uint32_t at = seep_hash_begin(&index, hash), id;
 *   while ((id = seep_hash_next(&index, hash, &at)) != SEEP_HASH_NONE)
 *       if (same(keys[id], key)) return id;
 *   seep_hash_add(&index, hash, new_id);
 *
 * Processes of one job bring the same keys in much the same order: what follows the one found last
 * is worth a look first, for it lies in the cache and the index does not.
 *
 *   if ((id = seep_hash_expected(&index)) < n && same(keys[id], key)) return
 * seep_hash_found(&index, id);
 *
 * Threads: none may share one. Zero-initialised is empty. Hashes are mixed here, so that untrusted
 * keys fill it evenly enough; an attacker who finds collisions slows the report, nothing more. */
#ifndef SEEP_LIBPROF_BASE_HASH_INDEX_H
#define SEEP_LIBPROF_BASE_HASH_INDEX_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define SEEP_HASH_NONE UINT32_MAX

struct seep_hash_entry {
    uint32_t tag;
    uint32_t id_plus_1;
};

struct seep_hash_index {
    struct seep_hash_entry *entries;
    uint32_t mask; /* size − 1; size 0 when entries is NULL */
    uint32_t n;
    uint32_t expected;
};

static inline uint32_t seep_hash_expected(const struct seep_hash_index *index)
{
    return index->expected;
}

/* Notes that `id` was found (a new one breaks no order), and returns it. */
static inline uint32_t seep_hash_found(struct seep_hash_index *index, uint32_t id)
{
    index->expected = id + 1;
    return id;
}

uint32_t seep_hash_begin(const struct seep_hash_index *index, uint64_t hash);
uint32_t seep_hash_next(const struct seep_hash_index *index, uint64_t hash, uint32_t *at);

/* Returns 0 or -SEEP_ENOMEM. Allocates. */
SEEP_MUST_CHECK int seep_hash_add(struct seep_hash_index *index, uint64_t hash, uint32_t id);
void seep_hash_fini(struct seep_hash_index *index);

uint64_t seep_hash_bytes(const void *bytes, size_t n);
uint64_t seep_hash_two(uint64_t a, uint64_t b);

/* Grows *array to hold `need` elements of `each` bytes, doubling *capacity. New ones are not
 * cleared. Returns 0 or -SEEP_ENOMEM (the array is as before). Allocates. */
SEEP_MUST_CHECK int seep_grow(void *array, size_t *capacity, size_t need, size_t each);

#endif
