#include "libprof/runtime/store/ref_index.h"

#include "libprof/runtime/store/os.h"

/* A seventh of this would suffice to finish before the larger table is full. */
enum { TAKEN_AT_A_TIME = 8, FIRST_CAPACITY = 1024 };

static size_t bytes_of(uint32_t mask)
{
    return ((size_t)mask + 1) * sizeof(uint32_t);
}

void seep_ref_index_add(struct seep_ref_index *index, uint32_t hash, uint32_t ref)
{
    uint32_t at = hash & index->mask;
    while (index->refs[at])
        at = (at + 1) & index->mask;
    index->refs[at] = ref;
    index->n++;
}

static void drop_old(struct seep_ref_index *index)
{
    uint32_t *old = index->old;
    __atomic_store_n(&index->old, NULL, __ATOMIC_RELEASE);
    if (old)
        seep_os_unmap(old, bytes_of(index->old_mask));
}

/* Refs taken over stay in the old table too: looking into both finds them. */
static void take_over(struct seep_ref_index *index, uint32_t n_slots, seep_ref_hash *hash)
{
    for (uint32_t i = 0; i < n_slots && index->n_taken <= index->old_mask; i++) {
        uint32_t ref = index->old[index->n_taken++];
        if (!ref)
            continue;
        seep_ref_index_add(index, hash(ref), ref);
        index->n--; /* it is already counted */
    }
    if (index->n_taken > index->old_mask)
        drop_old(index);
}

static bool grow(struct seep_ref_index *index)
{
    uint32_t capacity = index->mask ? (index->mask + 1) * 2 : FIRST_CAPACITY;
    uint32_t *refs = seep_os_table(bytes_of(capacity - 1));
    if (!refs)
        return false;
    /* A fork may occur between any two of these: the child's values must be within bounds. */
    index->old_mask = index->mask;
    index->n_taken = 0;
    __atomic_store_n(&index->old, index->refs, __ATOMIC_RELEASE);
    __atomic_store_n(&index->refs, refs, __ATOMIC_RELEASE);
    __atomic_store_n(&index->mask, capacity - 1, __ATOMIC_RELEASE);
    return true;
}

bool seep_ref_index_reserve(struct seep_ref_index *index, seep_ref_hash *hash)
{
    if (index->old)
        take_over(index, TAKEN_AT_A_TIME, hash);
    if (index->mask && (index->n + 1) * 3 < index->mask * 2)
        return true;
    if (index->old)
        take_over(index, UINT32_MAX, hash);
    return grow(index);
}

void seep_ref_index_clear(struct seep_ref_index *index)
{
    drop_old(index);
    if (index->refs)
        seep_os_clear(index->refs, bytes_of(index->mask));
    index->n = 0;
}
