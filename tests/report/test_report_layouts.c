/* Where blocks lay on a device: from the profile's chains to the report's layouts. */
#include "tests/report_fixture.h"

enum { MIB = 1 << 20, DEVICE = 3, TENSOR = 4 };

static const uint64_t BASE = UINT64_C(0x7f0000000000);
static uint32_t segment_site, tensor_site;

static void begin(void)
{
    setup();
    strcpy(builder_header(&a)->spaces[DEVICE].name, "device:1");
    strcpy(builder_header(&a)->spaces[TENSOR].name, "tensor:1");
    segment_site = builder_site(&a, python_stack(&a, "/home/user/project/train.py", 10), DEVICE, 8,
                                80 * MIB, 0, 0, 5);
    tensor_site = builder_site(&a, python_stack(&a, "/home/user/project/train.py", 20), TENSOR, 8,
                               8 * MIB, 0, 0, 5);
}

static struct seep_layout_piece *piece_at(uint32_t ref)
{
    return builder_at(&a, ref);
}

/* A piece of a chain that failed to give `asked`; the first unless `number` says otherwise. */
static uint32_t piece(uint64_t t_ns, uint32_t number, uint32_t n_pieces)
{
    const uint32_t ref = builder_record(&a, SEEP_CHUNK_LAYOUTS, NULL, SEEP_CHUNK_BYTES, 64);
    struct seep_layout_piece *its = piece_at(ref);

    its->t_ns = its->end_t_ns = t_ns;
    its->asked_bytes = 16 * MIB;
    its->period = 5;
    its->device = 1;
    its->reason = SEEP_LAYOUT_FAILED;
    its->number = number;
    its->n_pieces = n_pieces;
    return ref;
}

static void put(uint32_t ref, enum seep_layout_kind kind, uint64_t offset, uint64_t bytes)
{
    struct seep_layout_piece *its = piece_at(ref);

    its->blocks[its->n_blocks++] = (struct seep_layout_block){
        .address = BASE + offset,
        .bytes = bytes,
        .site = (kind == SEEP_LAYOUT_TENSOR ? tensor_site : segment_site) / 8,
        .kind = kind};
}

static void analyse_layouts(void)
{
    struct seep_profile *p[] = {open_one(&a)};
    struct seep_analysis_options opts = {.all_sites = true, .layouts = true};

    ck_assert_int_eq(
        seep_analyse_profiles(p, 1, builder_job(100, START, 100, 1), &opts, &report, NULL), 0);
}

static size_t n_layouts(void)
{
    return json_array_size(json_object_get(report, "layouts"));
}

static void has(const char *path, uint64_t wanted)
{
    ck_assert_msg((uint64_t)number(path) == wanted, "%s is %.0f, not %llu", path, number(path),
                  (unsigned long long)wanted);
}

/* ---- what lies where ------------------------------------------------------------------------- */

TEST(free_memory_is_what_no_tensor_has_piece_by_piece)
{
    const uint32_t ref = piece(START + 9, 0, 1);
    put(ref, SEEP_LAYOUT_TENSOR, 30 * MIB, 2 * MIB); /* in no order */
    put(ref, SEEP_LAYOUT_SEGMENT, 0, 20 * MIB);
    put(ref, SEEP_LAYOUT_SEGMENT, 20 * MIB, 40 * MIB);
    put(ref, SEEP_LAYOUT_TENSOR, 4 * MIB, 10 * MIB);
    analyse_layouts();
    ck_assert_uint_eq(n_layouts(), 1);
    ck_assert_str_eq(string("layouts/0/reason"), "failed");
    has("layouts/0/device", 1);
    has("layouts/0/asked_bytes", 16 * MIB);
    has("layouts/0/taken_bytes", 60 * MIB);
    has("layouts/0/tensor_bytes", 12 * MIB);
    has("layouts/0/free_bytes", 48 * MIB);
    has("layouts/0/free_pieces", 4);
    has("layouts/0/largest_free_bytes", 28 * MIB);
    has("layouts/0/unusable_bytes", 20 * MIB); /* 4 and 6 before and after the one, 10 */
    has("layouts/0/segments/0/tensors/offset/0", 4 * MIB);
    has("layouts/0/segments/1/tensors/offset/0", 10 * MIB);
    ck_assert_str_eq(string("layouts/0/segments/1/address"), "0x7f0001400000");
    ck_assert(json_is_true(at(report, "layouts/0/segments/0/cache")));
    const char *site = string("layouts/0/segments/0/tensors/site/0");
    size_t i;
    json_t *one;
    json_array_foreach (json_object_get(report, "sites"), i, one) {
        if (strcmp(json_string_value(json_object_get(one, "id")), site) == 0)
            ck_assert_int_eq(json_integer_value(at(one, "stack/0/line")), 20);
    }
}

static const struct {
    uint64_t asked, unusable;
} kinds[] = {
    {MIB / 2, 19 * MIB}, /* of the small segment */
    {MIB, 19 * MIB},
    {MIB + 512, 1 * MIB}, /* of the large one */
    {19 * (uint64_t)MIB, 1 * MIB},
    {19 * (uint64_t)MIB + 512, 20 * MIB}, /* of none */
};

TEST(small_requests_have_segments_of_their_own, .to = N(kinds))
{
    const uint32_t ref = piece(START + 9, 0, 1);
    put(ref, SEEP_LAYOUT_SEGMENT, 0, 2 * MIB);
    put(ref, SEEP_LAYOUT_SEGMENT, 2 * MIB, 20 * MIB);
    put(ref, SEEP_LAYOUT_TENSOR, 0, MIB);
    put(ref, SEEP_LAYOUT_TENSOR, 2 * MIB, MIB);
    piece_at(ref)->asked_bytes = kinds[_i].asked;
    analyse_layouts();
    ck_assert(json_is_true(at(report, "layouts/0/segments/0/small")));
    ck_assert(json_is_false(at(report, "layouts/0/segments/1/small")));
    has("layouts/0/unusable_bytes", kinds[_i].unusable);
}

TEST(parts_that_are_mapped_side_by_side_are_one_segment)
{
    const uint32_t ref = piece(START + 9, 0, 1);
    for (unsigned i = 0; i < 4; i++)
        put(ref, SEEP_LAYOUT_MAPPED, 2 * MIB * i, 2 * MIB);
    put(ref, SEEP_LAYOUT_MAPPED, 10 * MIB, 2 * MIB);
    put(ref, SEEP_LAYOUT_SEGMENT, 12 * MIB, 2 * MIB);
    put(ref, SEEP_LAYOUT_TENSOR, MIB, 6 * MIB); /* over their borders */
    analyse_layouts();
    has("layouts/0/segments/0/bytes", 8 * MIB);
    has("layouts/0/segments/1/bytes", 2 * MIB);
    has("layouts/0/segments/2/bytes", 2 * MIB);
    has("layouts/0/tensor_bytes", 6 * MIB);
    has("layouts/0/free_pieces", 2); /* what nobody's tensor lies in is not known to be a cache */
    has("layouts/0/other_bytes", 4 * MIB);
}

TEST(blocks_that_lie_over_each_other_or_nowhere_are_not_counted_twice)
{
    const uint32_t ref = piece(START + 9, 0, 1);
    put(ref, SEEP_LAYOUT_SEGMENT, 0, 10 * MIB);
    put(ref, SEEP_LAYOUT_SEGMENT, 5 * MIB, 10 * MIB);
    put(ref, SEEP_LAYOUT_TENSOR, 0, 4 * MIB);
    put(ref, SEEP_LAYOUT_TENSOR, 2 * MIB, 4 * MIB);
    put(ref, SEEP_LAYOUT_TENSOR, 8 * MIB, 4 * MIB);  /* beyond the end */
    put(ref, SEEP_LAYOUT_TENSOR, 50 * MIB, 3 * MIB); /* in none */
    put(ref, SEEP_LAYOUT_TENSOR, 60 * MIB, 0);
    put(ref, SEEP_LAYOUT_TENSOR, 0, UINT64_C(1) << 60);
    put(ref, (enum seep_layout_kind)77, 0, MIB);
    piece_at(ref)->blocks[0].site = UINT32_MAX;
    analyse_layouts();
    has("layouts/0/taken_bytes", 10 * MIB);
    has("layouts/0/tensor_bytes", 4 * MIB);
    has("layouts/0/outside_bytes", 7 * MIB);
    has("layouts/0/free_bytes", 6 * MIB);
    has("layouts/0/left_out/blocks", 3);
    ck_assert(json_is_null(at(report, "layouts/0/segments/0/site")));
}

/* ---- chains ---------------------------------------------------------------------------------- */

TEST(the_newest_whole_chain_counts)
{
    const uint32_t older = piece(START + 5, 0, 1), newer = piece(START + 7, 0, 1);
    put(older, SEEP_LAYOUT_SEGMENT, 0, MIB);
    put(newer, SEEP_LAYOUT_SEGMENT, 0, 2 * MIB);
    if (_i)
        piece_at(newer)->end_t_ns = START + 6; /* being written */
    analyse_layouts();
    ck_assert_uint_eq(n_layouts(), 1);
    has("layouts/0/taken_bytes", _i ? MIB : 2 * MIB);
}

TEST(all_pieces_of_a_chain_count)
{
    const uint32_t first = piece(START + 5, 0, 2), second = piece(START + 5, 1, 2);
    piece_at(first)->next = second;
    put(first, SEEP_LAYOUT_SEGMENT, 0, 8 * MIB);
    put(second, SEEP_LAYOUT_TENSOR, MIB, MIB);
    analyse_layouts();
    has("layouts/0/tensor_bytes", MIB);
}

static void of_another_time(struct seep_layout_piece *its)
{
    its->t_ns = its->end_t_ns = START + 6;
}

static void of_another_device(struct seep_layout_piece *its)
{
    its->device = 0;
}

static void of_no_device(struct seep_layout_piece *its)
{
    its->device = 999;
}

static void of_no_reason(struct seep_layout_piece *its)
{
    its->reason = 99;
}

static void of_another_number(struct seep_layout_piece *its)
{
    its->number = 0;
}

static void with_too_many(struct seep_layout_piece *its)
{
    its->n_blocks = UINT32_MAX;
}

static void of_endless_chain(struct seep_layout_piece *its)
{
    its->n_pieces = UINT32_MAX;
}

static void (*const damages[])(struct seep_layout_piece *) = {
    of_another_time,   of_another_device, of_no_device,     of_no_reason,
    of_another_number, with_too_many,     of_endless_chain,
};

TEST(a_chain_that_is_not_whole_is_none, .to = N(damages))
{
    const uint32_t first = piece(START + 5, 0, 2), second = piece(START + 5, 1, 2);
    piece_at(first)->next = second;
    put(first, SEEP_LAYOUT_SEGMENT, 0, 8 * MIB);
    damages[_i](piece_at(second));
    analyse_layouts();
    ck_assert_uint_eq(n_layouts(), 0);
}

TEST(a_chain_that_bites_its_tail_is_none)
{
    const uint32_t first = piece(START + 5, 0, 64);
    piece_at(first)->next = first;
    put(first, SEEP_LAYOUT_SEGMENT, 0, 8 * MIB);
    analyse_layouts();
    ck_assert_uint_eq(n_layouts(), 0);
}

SUITE("layouts", .setup = begin, .teardown = teardown)
