/* A set of refs that grows under its users, with numbers for records. */
#include "libprof/runtime/store/ref_index.h"
#include "tests/suite.h"

enum { MANY = 200000 };

static uint32_t n_hashed;

static uint32_t spread(uint32_t ref)
{
    return ref * UINT32_C(2654435761);
}

static uint32_t hash(uint32_t ref)
{
    n_hashed++;
    return spread(ref);
}

static bool same(uint32_t ref, const void *key)
{
    return ref == *(const uint32_t *)key;
}

static uint32_t find(const struct seep_ref_index *index, uint32_t ref)
{
    return seep_ref_index_find(index, spread(ref), same, &ref);
}

/* Adds `ref`. Returns how many records it took a look at. */
static uint32_t add(struct seep_ref_index *index, uint32_t ref)
{
    n_hashed = 0;
    ck_assert(seep_ref_index_reserve(index, hash));
    seep_ref_index_add(index, spread(ref), ref);
    return n_hashed;
}

TEST(what_was_added_is_found_and_nothing_else)
{
    struct seep_ref_index index = {0};
    ck_assert_uint_eq(find(&index, 1), 0);
    uint32_t missed = 0, made_up = 0;
    for (uint32_t ref = 1; ref <= MANY; ref++) {
        made_up += find(&index, ref) != 0;
        (void)add(&index, ref);
        for (uint32_t old = ref; old; old /= 3) /* in the larger table and the smaller one */
            missed += find(&index, old) != old;
    }
    for (uint32_t ref = 1; ref <= MANY; ref++)
        missed += find(&index, ref) != ref;
    ck_assert_uint_eq(missed, 0);
    ck_assert_uint_eq(made_up, 0);
    ck_assert_uint_eq(index.n, MANY);
}

TEST(none_that_is_added_waits_for_all_that_were)
{
    struct seep_ref_index index = {0};
    uint32_t most = 0;
    for (uint32_t ref = 1; ref <= MANY; ref++) {
        uint32_t n = add(&index, ref);
        most = n > most ? n : most;
    }
    ck_assert_uint_gt(most, 0);
    ck_assert_uint_le(most, 8);
}

TEST(emptied_it_starts_again)
{
    struct seep_ref_index index = {0};
    for (uint32_t end = 1; end < 5000; end = end * 2 + 1) { /* some while a table is taken over */
        for (uint32_t ref = 1; ref <= end; ref++)
            (void)add(&index, ref);
        seep_ref_index_clear(&index);
        ck_assert_uint_eq(index.n, 0);
        for (uint32_t ref = 1; ref <= end; ref++)
            ck_assert_uint_eq(find(&index, ref), 0);
    }
}

/* As a child does that began between two of grow()'s steps. */
TEST(cut_while_it_grows_it_loses_nothing)
{
    struct seep_ref_index index = {0};
    uint32_t ref = 0;
    for (; seep_ref_index_reserve(&index, hash) && !index.old; ref++)
        seep_ref_index_add(&index, spread(ref + 1), ref + 1);
    ck_assert_ptr_nonnull(index.old);
    index.mask = index.old_mask;
    for (uint32_t end = ref + 5000; ref < end;)
        (void)add(&index, ++ref);
    uint32_t missed = 0;
    for (uint32_t r = 1; r <= ref; r++)
        missed += find(&index, r) != r;
    ck_assert_uint_eq(missed, 0);
    ck_assert_uint_eq(index.n, ref);
}

SUITE("ref index")
