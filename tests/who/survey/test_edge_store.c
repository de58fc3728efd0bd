/* Edges, written in few bytes and read back as they were. */
#include "libprof/who/survey/edge_store.h"
#include "libprof/who/survey/survey.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

static struct seep_edge_store store;

static struct seep_edge_cursor open_at(uint32_t place, uint32_t node,
                                       const struct seep_edge_facts *facts)
{
    struct seep_edge_facts its;
    const struct seep_edge_cursor cursor = seep_edge_store_open(&store, place, node, &its);

    ck_assert_mem_eq(&its, facts, sizeof its);
    return cursor;
}

static void expect(struct seep_edge_cursor *cursor, const struct seep_edge *edge)
{
    struct seep_edge read;

    ck_assert(seep_edge_store_next(&store, cursor, &read));
    ck_assert_uint_eq(read.to, edge->to);
    ck_assert_uint_eq(read.marks, edge->marks);
    ck_assert_uint_eq(read.cost, edge->cost);
    ck_assert_uint_eq(read.label, edge->label);
    ck_assert_uint_eq(read.inside, edge->inside);
}

static void expect_end(struct seep_edge_cursor *cursor)
{
    struct seep_edge read;

    ck_assert(!seep_edge_store_next(&store, cursor, &read));
    ck_assert(!seep_edge_store_next(&store, cursor, &read));
}

TEST(edges_are_read_as_they_were_written)
{
    static const struct seep_edge edges[] = {
        {.to = 7, .marks = SEEP_EDGE_EXACT, .cost = 2, .label = 0},
        {.to = 0,
         .marks = SEEP_EDGE_EXACT,
         .cost = 2,
         .label = (uint64_t)SEEP_LABEL_ATTRIBUTE << 56 | 99},
        {.to = UINT32_MAX / 4,
         .marks = 0,
         .cost = 60000,
         .label = (uint64_t)SEEP_LABEL_OFFSET << 56 | 1 << 20},
        {.to = 5,
         .marks = SEEP_EDGE_INNER,
         .cost = 22,
         .label = (uint64_t)SEEP_LABEL_WORD << 56 | 3,
         .inside = UINT64_C(1) << 40},
        {.to = 6, .marks = SEEP_EDGE_EXACT, .cost = 2, .label = (uint64_t)SEEP_LABEL_INDEX << 56},
        {.to = 6,
         .marks = SEEP_EDGE_EXACT,
         .cost = 2,
         .label = (uint64_t)SEEP_LABEL_INDEX << 56 | 1},
        {.to = 6,
         .marks = SEEP_EDGE_EXACT,
         .cost = 2,
         .label = (uint64_t)SEEP_LABEL_INDEX << 56 | 100000},
    };
    static const struct seep_edge_facts facts = {12, 20, 48, 3}, list = {0, -1, 0, 0},
                                        nothing = {-1, -1, 0, 0};

    ck_assert_int_eq(seep_edge_store_init(&store), 0);
    seep_edge_store_begin(&store, 3);
    for (size_t i = 0; i < N(edges); i++)
        seep_edge_store_add(&store, &edges[i]);
    const uint32_t place = seep_edge_store_end(&store, &facts);
    seep_edge_store_begin(&store, 4);
    const uint32_t empty = seep_edge_store_end(&store, &list);
    seep_edge_store_begin(&store, 5);
    ck_assert_uint_eq(seep_edge_store_end(&store, &nothing), 0);
    ck_assert(place && empty && !store.no_memory);

    struct seep_edge_cursor cursor = open_at(place, 3, &facts);
    for (size_t i = 0; i < N(edges); i++)
        expect(&cursor, &edges[i]);
    expect_end(&cursor);
    cursor = open_at(empty, 4, &list);
    expect_end(&cursor);
    seep_edge_store_fini(&store);
}

/* More kinds than have a number: those are written out. */
TEST(any_number_of_kinds_of_edges_can_be_told)
{
    enum { MANY = 3 * SEEP_EDGE_KINDS };

    ck_assert_int_eq(seep_edge_store_init(&store), 0);
    static const struct seep_edge_facts none = {-1, -1, 0, 0};

    seep_edge_store_begin(&store, 0);
    for (uint32_t i = 0; i < MANY; i++)
        seep_edge_store_add(&store, &(struct seep_edge){.to = i, .cost = (uint16_t)i, .label = i});
    const uint32_t place = seep_edge_store_end(&store, &none);
    struct seep_edge_cursor cursor = open_at(place, 0, &none);
    for (uint32_t i = 0; i < MANY; i++)
        expect(&cursor, &(struct seep_edge){.to = i, .cost = (uint16_t)i, .label = i});
    expect_end(&cursor);
    seep_edge_store_fini(&store);
}

/* What made them together lies together, mostly. */
TEST(an_item_of_a_list_takes_three_bytes)
{
    enum { ITEMS = 100000 };

    ck_assert_int_eq(seep_edge_store_init(&store), 0);
    seep_edge_store_begin(&store, 0);
    for (uint32_t i = 0; i < ITEMS; i++)
        seep_edge_store_add(&store,
                            &(struct seep_edge){.to = 5 * i,
                                                .marks = SEEP_EDGE_EXACT,
                                                .cost = 2,
                                                .label = seep_label_of(SEEP_LABEL_INDEX, i)});
    (void)seep_edge_store_end(&store, &(struct seep_edge_facts){ITEMS, -1, 0, 0});
    ck_assert_uint_le(store.n, 3 * ITEMS + 16);
    seep_edge_store_fini(&store);
}

TEST(a_name_is_kept_once_for_each_key_and_cut_after_a_whole_character)
{
    struct seep_names names = {0};
    char text[2 * SEEP_NAMES_LONGEST];

    ck_assert_str_eq(seep_names_text(&names, 0), "");
    ck_assert_uint_eq(seep_names_find(&names, 8), 0);
    const uint32_t one = seep_names_add(&names, 8, "weight");
    const uint32_t same = seep_names_add_same(&names, 16, one);
    const uint32_t empty = seep_names_add(&names, 24, "");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text + SEEP_NAMES_LONGEST - 2, "\xc3\xa9", 2); /* its second byte has no room */
    const uint32_t cut = seep_names_add(&names, 32, text);

    ck_assert_uint_eq(seep_names_find(&names, 8), one);
    ck_assert_uint_eq(seep_names_find(&names, 16), same);
    ck_assert_str_eq(seep_names_text(&names, one), "weight");
    ck_assert_str_eq(seep_names_text(&names, same), "weight");
    ck_assert_str_eq(seep_names_text(&names, empty), "");
    ck_assert_uint_eq(strlen(seep_names_text(&names, cut)), SEEP_NAMES_LONGEST - 2);
    ck_assert_uint_eq(seep_names_key(&names, cut), 32);
    seep_names_fini(&names);
}

TEST(who_makes_up_names_without_end_sees_some_without_a_name)
{
    struct seep_names names = {0};
    uint32_t last = 1;

    for (uint64_t key = 1; last && key < 1 << 21; key++)
        last = seep_names_add(&names, key, "made_up");
    ck_assert_uint_eq(last, 0);
    ck_assert_str_eq(seep_names_text(&names, 1), "made_up");
    seep_names_fini(&names);
}

SUITE("edges and names");
