/* Merging digests: any order and any tree gives the same bytes, within the bound. SEEP_TREES is how
 * many trees. */
#include "tests/digest/digest_fixture.h"

enum { LEAVES = 8, TREES = 100 };

static struct seep_digest leaves[LEAVES];

/* A node of 8 ranks with things of its own and things that others have too. */
static void make_leaf(struct seep_digest *d, int node, int n_sites)
{
    ck_assert_int_eq(seep_digest_init(d), 0);
    d->step_shift = (uint32_t)roll(6);
    for (int i = 0; i < n_sites; i++)
        add_site(d, (int)roll(1500), node * 8 + (int)roll(8), UINT64_C(1) << roll(38));
    for (int i = 0; i < 36; i++)
        add_finding(d, (int)roll(400), node * 8 + (int)roll(8), UINT64_C(1) << roll(38));
    for (int i = 0; i < 50; i++) {
        char space[16];
        snprintf(space, sizeof space, "pool%d", (int)roll(150));
        add_space(d, roll(2) ? "host" : space, node * 8, roll(1 << 30));
    }
    for (int i = 0; i < 8; i++)
        add_process(d, node * 8 + i, roll(1 << 20));
    add_process(d, 8 * (int)roll(30000), roll(1 << 20)); /* far away */
    seep_digest_fit(d);
    ck_assert(!d->failed);
}

static void make_leaves(void)
{
    dice = 7;
    for (int i = 0; i < LEAVES; i++)
        make_leaf(&leaves[i], i, 200);
}

static void free_leaves(void)
{
    for (int i = 0; i < LEAVES; i++)
        seep_digest_fini(&leaves[i]);
}

static void copy(struct seep_digest *to, const struct seep_digest *from)
{
    ck_assert_int_eq(seep_digest_init(to), 0);
    ck_assert_int_eq(seep_digest_merge(to, from), 0);
}

/* Merges the leaves in a random order by a random tree. */
static char *merged_at_random(uint32_t levels[3])
{
    struct seep_digest sums[LEAVES];
    const struct seep_digest *parts[LEAVES]; /* leaves, or sums */
    int n = LEAVES, n_sums = 0;

    for (int i = 0; i < n; i++)
        parts[i] = &leaves[i];
    while (n > 1) {
        int a = (int)roll((uint64_t)n), b = (int)roll((uint64_t)n - 1);
        b += b >= a;
        if (parts[a] >= leaves && parts[a] < leaves + LEAVES) {
            copy(&sums[n_sums], parts[a]);
            parts[a] = &sums[n_sums++];
        }
        ck_assert_int_eq(seep_digest_merge((struct seep_digest *)parts[a], parts[b]), 0);
        parts[b] = parts[--n];
    }
    char *bytes = bytes_of(parts[0]);
    levels[0] = parts[0]->site_level;
    levels[1] = parts[0]->finding_level;
    levels[2] = parts[0]->space_level;
    for (int i = 0; i < n_sums; i++)
        seep_digest_fini(&sums[i]);
    return bytes;
}

TEST(any_order_and_any_tree_gives_the_same_bytes)
{
    uint32_t levels[3];
    char *expected = merged_at_random(levels);

    for (int i = 0; i < 3; i++) /* or it would prove little */
        ck_assert_uint_gt(levels[i], 0);
    ck_assert_uint_le(strlen(expected), SEEP_DIGEST_MAX_BYTES);
    const char *more = getenv("SEEP_TREES");
    for (int i = 1; i < (more ? atoi(more) : TREES); i++) {
        char *bytes = merged_at_random(levels);
        ck_assert(strcmp(bytes, expected) == 0);
        free(bytes);
    }
    free(expected);
}

TEST(a_written_digest_read_back_is_the_same)
{
    for (int i = 0; i < LEAVES; i++) {
        struct seep_digest again;
        struct seep_error err = {0};
        char *bytes = bytes_of(&leaves[i]);

        ck_assert_int_eq(seep_digest_from_bytes(&again, bytes, strlen(bytes), "it", &err), 0);
        char *other = bytes_of(&again);
        ck_assert_str_eq(bytes, other);
        seep_digest_fini(&again);
        free(bytes);
        free(other);
    }
}

TEST(nothing_merged_changes_nothing)
{
    struct seep_digest none, one;

    ck_assert_int_eq(seep_digest_init(&none), 0);
    copy(&one, &leaves[0]);
    ck_assert_int_eq(seep_digest_merge(&one, &none), 0);
    char *bytes = bytes_of(&one), *expected = bytes_of(&leaves[0]);
    ck_assert_str_eq(bytes, expected);
    free(bytes);
    free(expected);
    seep_digest_fini(&one);
    seep_digest_fini(&none);
}

TEST(what_is_forgotten_is_in_the_rest)
{
    const unsigned sites = 1u << SEEP_DIGEST_SITES | 1u << SEEP_DIGEST_REST;
    const unsigned findings = 1u << SEEP_DIGEST_FINDINGS | 1u << SEEP_DIGEST_FOLDED;
    uint64_t of_sites = 0, of_findings = 0, of_spaces = 0;
    struct seep_digest all;

    ck_assert_int_eq(seep_digest_init(&all), 0);
    for (int i = 0; i < LEAVES; i++) {
        of_sites += sum_of(&leaves[i], sites);
        of_findings += sum_of(&leaves[i], findings);
        of_spaces += sum_of(&leaves[i], 1u << SEEP_DIGEST_SPACES);
        ck_assert_int_eq(seep_digest_merge(&all, &leaves[i]), 0);
    }
    ck_assert_uint_gt(sum_of(&all, 1u << SEEP_DIGEST_REST), 0);
    ck_assert_uint_gt(sum_of(&all, 1u << SEEP_DIGEST_FOLDED), 0);
    ck_assert_uint_eq(sum_of(&all, sites), of_sites);
    ck_assert_uint_eq(sum_of(&all, findings), of_findings);
    ck_assert_uint_eq(sum_of(&all, 1u << SEEP_DIGEST_SPACES), of_spaces);
    seep_digest_fini(&all);
}

TEST(the_least_important_is_forgotten_first)
{
    struct seep_digest all;

    ck_assert_int_eq(seep_digest_init(&all), 0);
    for (int i = 0; i < LEAVES; i++)
        ck_assert_int_eq(seep_digest_merge(&all, &leaves[i]), 0);
    for (size_t i = 0; i < all.n_rows; i++)
        if (all.rows[i].key.kind == SEEP_DIGEST_SITES)
            ck_assert_uint_ge(all.rows[i].key.bucket, all.site_level);
    seep_digest_fini(&all);
}

TEST(a_digest_of_many_large_things_is_bounded)
{
    struct seep_digest all, one;
    char long_name[1500];

    ck_assert_int_eq(seep_digest_init(&all), 0);
    for (int node = 0; node < 40; node++) {
        ck_assert_int_eq(seep_digest_init(&one), 0);
        for (int i = 0; i < 300; i++) {
            uint32_t frame;
            memset(long_name, 'x', sizeof long_name);
            snprintf(long_name, sizeof long_name,
                     "{\"file\":\"%d_%d%01000d\",\"function\":null,\"kind\":\"python\",\"line\":1}",
                     node, i, 0);
            frame = seep_digest_text(&one, long_name);
            const struct seep_digest_row row = {
                .key = {.kind = SEEP_DIGEST_SITES,
                        .bucket = (uint8_t)roll(60),
                        .subject = seep_digest_text(&one, "host"),
                        .about =
                            seep_digest_stack(&one, &(struct seep_digest_stack){.n = 1}, &frame)},
                .n = 1,
                .max = who_of(&one, node, SEEP_DIGEST_MOST)};
            seep_digest_add_row(&one, &row, NULL, 0);
            add_finding(&one, node * 1000 + i, node, UINT64_C(1) << roll(60));
        }
        seep_digest_fit(&one);
        ck_assert_int_eq(seep_digest_merge(&all, &one), 0);
        seep_digest_fini(&one);
    }
    char *bytes = bytes_of(&all);
    ck_assert_uint_le(strlen(bytes), SEEP_DIGEST_MAX_BYTES);
    ck_assert_uint_ge(strlen(bytes), SEEP_DIGEST_MAX_BYTES / 8); /* and is made use of */
    free(bytes);
    seep_digest_fini(&all);
}

TEST(the_outermost_processes_are_named)
{
    struct seep_digest all, one;

    ck_assert_int_eq(seep_digest_init(&all), 0);
    for (int rank = 0; rank < 500; rank++) {
        ck_assert_int_eq(seep_digest_init(&one), 0);
        add_process(&one, rank, (uint64_t)(1000 + rank * 7919 % 500));
        ck_assert_int_eq(seep_digest_merge(&all, &one), 0);
        seep_digest_fini(&one);
    }
    ck_assert_uint_eq(all.n_tops, 2);
    for (size_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < SEEP_DIGEST_TOPS; k++)
            ck_assert_uint_eq(all.extremes[i].who[k].value,
                              all.extremes[i].low ? 1000 + k : 1499 - k);
    seep_digest_fini(&all);
}

TEST(courses_of_different_lengths_meet_on_one_axis)
{
    struct seep_digest few, many;

    ck_assert_int_eq(seep_digest_init(&few), 0);
    ck_assert_int_eq(seep_digest_init(&many), 0);
    many.step_shift = 3;
    add_site(&few, 1, 0, 1 << 20);
    add_site(&many, 1, 1, 1 << 20);
    ck_assert_int_eq(seep_digest_merge(&few, &many), 0);
    ck_assert_uint_eq(few.step_shift, 3);
    ck_assert_uint_eq(few.n_rows, 1);
    /* The first cell has 8 cells of the finer course and one of the other. */
    ck_assert_uint_eq(few.rows[0].course[0], 1024 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) + 1024);
    ck_assert_uint_eq(few.rows[0].course[4], 1024 * 5);
    seep_digest_fini(&few);
    seep_digest_fini(&many);
}

TEST(a_folder_that_is_in_both_is_noticed)
{
    ck_assert_uint_eq(seep_digest_shared(&leaves[0], &leaves[0]), leaves[0].sources.n);
    ck_assert_uint_eq(seep_digest_shared(&leaves[0], &leaves[1]), 0);
}

SUITE("merging digests", .setup = make_leaves, .teardown = free_leaves, .timeout_s = 600)
