/* Where a device's blocks lie, as a reader finds it in the profile. */
#include "libprof/read/profile_read.h"
#include "preload/device/layout.h"
#include "tests/device/recording.h"

enum { SEGMENT = 1, MAPPED, TENSOR, OTHER }; /* stacks of these */
#define MIB UINT64_C(0x100000)

static unsigned device_space, tensor_space;
static struct seep_profile *profile;

static void setup(void)
{
    recording_begin();
    device_space = seep_device_blocks_of_device("device", 0);
    tensor_space = seep_device_blocks_of_device("tensor", 0);
}

static void teardown(void)
{
    seep_profile_close(profile);
    recording_end();
}

static void put(unsigned keyspace, uint64_t at, uint64_t bytes, uint32_t stack, unsigned space)
{
    seep_device_blocks_made(keyspace, (void *)at, bytes, recording_site(stack, space));
}

static void put_segment(uint64_t at, uint64_t bytes)
{
    put(SEEP_KEYSPACE_DEVICE, at, bytes, SEGMENT, device_space);
}

static void put_tensor(uint64_t at, uint64_t bytes)
{
    put(tensor_space, at, bytes, TENSOR, tensor_space);
}

/* The pieces of a reason that a reader finds whole now, by age, oldest first. */
static unsigned read_pieces(enum seep_layout_reason reason,
                            const struct seep_layout_piece *pieces[], unsigned most)
{
    unsigned n = 0;
    seep_profile_close(profile);
    ck_assert_int_eq(seep_profile_open(recording_path, &profile, NULL), 0);
    ck_assert_int_eq(seep_profile_load(profile, NULL), 0);
    for (uint32_t c = profile->first_chunk; c < profile->n_chunks; c++) {
        const uint64_t at = SEEP_HEADER_BYTES + (uint64_t)c * SEEP_CHUNK_BYTES;
        const struct seep_layout_piece *piece =
            seep_profile_at(profile, (uint32_t)(at / 8), SEEP_CHUNK_LAYOUTS, sizeof(*piece), NULL);
        if (!piece || !piece->t_ns || piece->t_ns != piece->end_t_ns || piece->reason != reason)
            continue;
        ck_assert_uint_lt(n, most);
        unsigned k = n++;
        for (; k && pieces[k - 1]->t_ns > piece->t_ns; k--)
            pieces[k] = pieces[k - 1];
        pieces[k] = piece;
    }
    return n;
}

/* The only one. */
static const struct seep_layout_piece *read_piece(enum seep_layout_reason reason)
{
    const struct seep_layout_piece *piece = NULL;
    ck_assert_uint_eq(read_pieces(reason, &piece, 1), 1);
    return piece;
}

static const struct seep_layout_block *block_at(const struct seep_layout_piece *piece, uint64_t at,
                                                enum seep_layout_kind kind)
{
    for (uint32_t i = 0; i < piece->n_blocks; i++)
        if (piece->blocks[i].address == at && piece->blocks[i].kind == (uint32_t)kind)
            return &piece->blocks[i];
    return NULL;
}

TEST(a_failure_leaves_what_lay_on_its_device_and_nothing_else)
{
    const uint64_t at = 0x7f0000000000, map = 0x7e0000000000;
    const unsigned other = seep_device_blocks_of_device("device", 1),
                   pinned = seep_device_blocks_enter("pinned");
    put_segment(at, 2 * MIB);
    put_tensor(at, 512);
    put_tensor(at + 1024, 4096);
    put(SEEP_KEYSPACE_MAPPED, map, 2 * MIB, MAPPED, device_space);
    put(SEEP_KEYSPACE_DEVICE, at + 4 * MIB, MIB, OTHER, other);
    put(SEEP_KEYSPACE_PINNED, map, MIB, OTHER, pinned);
    put(SEEP_KEYSPACE_ARRAY, 7, MIB, OTHER, device_space); /* a handle says not where */
    seep_layout_at_oom(0, SEEP_LAYOUT_FAILED, 16 * MIB);
    const struct seep_layout_piece *piece = read_piece(SEEP_LAYOUT_FAILED);
    ck_assert_uint_eq(piece->n_blocks, 4);
    ck_assert_uint_eq(piece->asked_bytes, 16 * MIB);
    ck_assert_uint_eq(piece->device, 0);
    ck_assert_uint_eq(piece->n_pieces, 1);
    ck_assert_uint_eq(piece->left_out, 0);
    ck_assert_uint_eq(piece->period, *seep_period);
    ck_assert_uint_eq(block_at(piece, at, SEEP_LAYOUT_SEGMENT)->bytes, 2 * MIB);
    ck_assert_uint_eq(block_at(piece, map, SEEP_LAYOUT_MAPPED)->bytes, 2 * MIB);
    ck_assert_uint_eq(block_at(piece, at, SEEP_LAYOUT_TENSOR)->bytes, 512);
    ck_assert_uint_eq(block_at(piece, at + 1024, SEEP_LAYOUT_TENSOR)->site,
                      recording_site(TENSOR, tensor_space));
}

TEST(where_a_device_has_nothing_there_is_no_layout)
{
    const struct seep_layout_piece *piece;
    put_segment(MIB, MIB);
    seep_layout_at_oom(1, SEEP_LAYOUT_REFUSED, MIB);
    seep_layout_at_oom(SEEP_MAX_DEVICES, SEEP_LAYOUT_REFUSED, MIB);
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_REFUSED, &piece, 1), 0);
}

/* A reader may come while the next is being written. */
TEST(the_layout_before_the_last_one_stays_whole)
{
    const struct seep_layout_piece *pieces[2];
    for (uint32_t n = 1; n <= 5; n++) {
        put_tensor(n * MIB, 512);
        seep_layout_at_oom(0, SEEP_LAYOUT_REFUSED, n);
    }
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_REFUSED, pieces, 2), 2);
    ck_assert_uint_eq(pieces[0]->asked_bytes, 4);
    ck_assert_uint_eq(pieces[0]->n_blocks, 4);
    ck_assert_uint_eq(pieces[1]->asked_bytes, 5);
    ck_assert_uint_eq(pieces[1]->n_blocks, 5);
}

TEST(more_blocks_than_a_piece_has_room_for_make_a_chain)
{
    enum { BLOCKS = SEEP_LAYOUT_PIECE_BLOCKS + 100 };
    const struct seep_layout_piece *pieces[2];
    for (uint64_t i = 1; i <= BLOCKS; i++)
        put_tensor(i * 512, 512);
    seep_layout_at_oom(0, SEEP_LAYOUT_FAILED, MIB);
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_FAILED, pieces, 2), 2);
    const bool in_order = pieces[0]->number == 0;
    const struct seep_layout_piece *first = pieces[!in_order], *second = pieces[in_order];
    ck_assert_uint_eq(first->n_pieces, 2);
    ck_assert_uint_eq(second->number, 1);
    ck_assert_uint_eq(first->n_blocks, SEEP_LAYOUT_PIECE_BLOCKS);
    ck_assert_uint_eq(second->n_blocks, 100);
    ck_assert_uint_eq(first->t_ns, second->t_ns);
    for (uint64_t i = 1; i <= BLOCKS; i++)
        ck_assert(block_at(first, i * 512, SEEP_LAYOUT_TENSOR) ||
                  block_at(second, i * 512, SEEP_LAYOUT_TENSOR));
    /* Fewer than before: what is over is out of use. */
    for (uint64_t i = 11; i <= BLOCKS; i++)
        ck_assert_uint_eq(seep_device_blocks_gone(tensor_space, (void *)(i * 512)), 512);
    seep_layout_at_oom(0, SEEP_LAYOUT_FAILED, MIB);
    seep_layout_at_oom(0, SEEP_LAYOUT_FAILED, MIB); /* over the first */
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_FAILED, pieces, 2), 2);
    ck_assert_uint_eq(pieces[0]->n_blocks, 10);
    ck_assert_uint_eq(pieces[1]->n_blocks, 10);
}

/* Sites need the room more. */
TEST(what_a_small_profile_has_no_room_for_is_counted)
{
    enum { BLOCKS = 20 * SEEP_LAYOUT_PIECE_BLOCKS };
    const struct seep_layout_piece *pieces[SEEP_LAYOUT_PIECES];
    uint64_t there = 0;
    recording_end();
    recording_begin_with(SEEP_HEADER_BYTES + 16 * SEEP_CHUNK_BYTES);
    device_space = seep_device_blocks_of_device("device", 0);
    tensor_space = seep_device_blocks_of_device("tensor", 0);
    for (uint64_t i = 1; i <= BLOCKS; i++)
        put_tensor(i * 512, 512);
    seep_layout_at_oom(0, SEEP_LAYOUT_FAILED, MIB);
    const unsigned n = read_pieces(SEEP_LAYOUT_FAILED, pieces, SEEP_LAYOUT_PIECES);
    ck_assert_uint_gt(n, 0);
    for (unsigned i = 0; i < n; i++)
        there += pieces[i]->n_blocks;
    ck_assert_uint_gt(pieces[0]->left_out, 0);
    ck_assert_uint_eq(there + pieces[0]->left_out, BLOCKS);
    ck_assert_uint_eq(pieces[0]->left_out_bytes, UINT64_C(512) * pieces[0]->left_out);
    ck_assert_uint_lt(profile->n_chunks, 16);
}

TEST(a_peak_is_written_when_it_is_notably_higher)
{
    const struct seep_layout_piece *pieces[2];
    put_segment(32 * MIB, 32 * MIB);
    seep_layout_grew(device_space);
    ck_assert_uint_eq(read_piece(SEEP_LAYOUT_AT_PEAK)->n_blocks, 1);
    put_segment(96 * MIB, MIB); /* a 32nd more, and soon */
    seep_layout_grew(device_space);
    ck_assert_uint_eq(read_piece(SEEP_LAYOUT_AT_PEAK)->n_blocks, 1);
    put_segment(128 * MIB, 2 * MIB);
    seep_layout_grew(device_space);
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_AT_PEAK, pieces, 2), 2);
    ck_assert_uint_eq(pieces[1]->n_blocks, 3);
    ck_assert_uint_eq(pieces[1]->asked_bytes, 0);
}

TEST(where_tensors_are_reported_a_peak_waits_for_the_one_it_grew_for)
{
    const struct seep_layout_piece *piece;
    seep_arena.header->devices.tensors[0].reports = 1;
    put_segment(32 * MIB, 32 * MIB);
    seep_layout_grew(device_space);
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_AT_PEAK, &piece, 1), 0);
    put_tensor(32 * MIB, 512);
    seep_layout_settled(1);
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_AT_PEAK, &piece, 1), 0);
    seep_layout_settled(0);
    ck_assert_uint_eq(read_piece(SEEP_LAYOUT_AT_PEAK)->n_blocks, 2);
    ck_assert_uint_eq(seep_layout_due, 0);
}

TEST(a_space_that_is_no_devices_has_no_peak)
{
    const struct seep_layout_piece *piece;
    put(tensor_space, MIB, 32 * MIB, TENSOR, tensor_space);
    seep_layout_grew(tensor_space);
    ck_assert_uint_eq(read_pieces(SEEP_LAYOUT_AT_PEAK, &piece, 1), 0);
}

SUITE("layouts of devices", .setup = setup, .teardown = teardown)
