/* A set of refs, open-addressed, in private pages; the caller keeps the records, hashes and
 * compares them. A larger table takes over the smaller one's refs a few at a time, with each new
 * ref: in a job with a million stacks, rehashing all at once would delay every thread. Runtime
 * part. Locks: the caller's. Zero-initialised is empty. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_REF_INDEX_H
#define SEEP_LIBPROF_RUNTIME_STORE_REF_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct seep_ref_index {
    uint32_t *refs, *old;    /* old: NULL, or a table that `refs` has not completely taken over */
    uint32_t mask, old_mask; /* capacity − 1, or 0 */
    uint32_t n;
    uint32_t n_taken; /* slots of `old` */
};

typedef uint32_t seep_ref_hash(uint32_t ref);
typedef bool seep_ref_same(uint32_t ref, const void *key);

/* Makes room for one more; false without memory. The load stays below two thirds. */
bool seep_ref_index_reserve(struct seep_ref_index *index, seep_ref_hash *hash);

/* Adds a ref that is not in the set, after a reserve. */
void seep_ref_index_add(struct seep_ref_index *index, uint32_t hash, uint32_t ref);

/* Empties it; its pages stay. */
void seep_ref_index_clear(struct seep_ref_index *index);

static inline uint32_t seep_ref_find_in(const uint32_t *refs, uint32_t mask, uint32_t hash,
                                        seep_ref_same *same, const void *key)
{
    uint32_t ref;
    for (uint32_t at = hash & mask; (ref = refs[at]); at = (at + 1) & mask)
        if (same(ref, key))
            break;
    return ref;
}

/* The ref of the record that equals `key` and has this hash; 0 if there is none. */
static inline uint32_t seep_ref_index_find(const struct seep_ref_index *index, uint32_t hash,
                                           seep_ref_same *same, const void *key)
{
    uint32_t ref = index->refs ? seep_ref_find_in(index->refs, index->mask, hash, same, key) : 0;
    return ref || !index->old ? ref
                              : seep_ref_find_in(index->old, index->old_mask, hash, same, key);
}

#endif
