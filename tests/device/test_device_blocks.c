/* What is recorded of blocks that no malloc made. */
#include "tests/device/recording.h"

static void *const AT = (void *)UINT64_C(0x7f0000200000), *const ELSEWHERE = (void *)0x1000;

static const struct seep_space *space_at(unsigned space)
{
    return &seep_arena.header->spaces[space];
}

static uint64_t dropped(enum seep_drop reason)
{
    return seep_arena.header->dropped[reason];
}

TEST(a_space_is_entered_once_and_found_again)
{
    const unsigned pool = seep_device_blocks_enter("pool"),
                   arena = seep_device_blocks_enter("arena-2");
    ck_assert_uint_ne(pool, 0);
    ck_assert_uint_ne(arena, pool);
    ck_assert_uint_eq(seep_device_blocks_enter("pool"), pool);
    ck_assert_uint_eq(seep_device_blocks_find("arena-2"), arena);
    ck_assert_uint_eq(seep_device_blocks_find("arena"), 0);
    ck_assert_str_eq(space_at(pool)->name, "pool");
}

TEST(a_program_cannot_announce_into_the_spaces_of_the_hooks, .to = 3)
{
    static const char *const names[] = {"host", "mmap", "shm"};
    ck_assert_uint_eq(seep_device_blocks_enter(names[_i]), 0);
    ck_assert_uint_eq(seep_device_blocks_find(names[_i]), 0);
}

TEST(what_is_no_name_enters_no_space, .to = 4)
{
    static const char *const names[] = {"", "two words", "caf\xc3\xa9",
                                        "a-name-that-is-too-long-for-the-profile"};
    ck_assert_uint_eq(seep_device_blocks_enter(names[_i]), 0);
    ck_assert_str_eq(space_at(3)->name, "");
    ck_assert_uint_eq(dropped(SEEP_DROP_NO_SPACE), 0);
}

TEST(a_space_too_many_is_counted)
{
    char name[8];
    for (unsigned i = 3; i < SEEP_MAX_SPACES; i++) {
        snprintf(name, sizeof(name), "pool%u", i);
        ck_assert_uint_eq(seep_device_blocks_enter(name), i);
    }
    ck_assert_uint_eq(dropped(SEEP_DROP_NO_SPACE), 0);
    ck_assert_uint_eq(seep_device_blocks_enter("more"), 0);
    ck_assert_uint_eq(dropped(SEEP_DROP_NO_SPACE), 1);
    ck_assert_uint_eq(seep_device_blocks_enter("pool3"), 3);
}

TEST(spaces_of_devices_are_named_by_their_numbers)
{
    ck_assert_uint_eq(seep_device_blocks_find_of_device("device", 3), 0);
    const unsigned third = seep_device_blocks_of_device("device", 3);
    const unsigned tensors = seep_device_blocks_of_device("tensor", 12);
    ck_assert_str_eq(space_at(third)->name, "device:3");
    ck_assert_str_eq(space_at(tensors)->name, "tensor:12");
    ck_assert_uint_eq(seep_device_blocks_find_of_device("device", 3), third);
    ck_assert_uint_eq(seep_device_blocks_number("device", third), 3);
    ck_assert_uint_eq(seep_device_blocks_number("device", tensors), SEEP_MAX_DEVICES);
    ck_assert_uint_eq(seep_device_blocks_number("tensor", tensors), 12);
    ck_assert_uint_eq(seep_device_blocks_number("device", seep_device_blocks_enter("device:99")),
                      SEEP_MAX_DEVICES);
    ck_assert_uint_eq(seep_device_blocks_number("device", seep_device_blocks_enter("device:1x")),
                      SEEP_MAX_DEVICES);
    ck_assert_uint_eq(seep_device_blocks_number("device", seep_device_blocks_enter("device:")),
                      SEEP_MAX_DEVICES);
}

TEST(a_block_is_live_until_it_goes)
{
    const unsigned space = seep_device_blocks_enter("pool");
    const uint32_t index = recording_site(1, space);
    const struct seep_site *site = seep_site_at(index);
    seep_device_blocks_made(space, AT, 100, index);
    ck_assert_uint_eq(site->allocations, 1);
    ck_assert_uint_eq(site->allocated_bytes, 100);
    ck_assert_uint_eq(site->freed_bytes, 0);
    ck_assert_uint_eq(seep_device_blocks_gone(space, ELSEWHERE), 0);
    ck_assert_uint_eq(seep_device_blocks_gone(space, AT), 100);
    ck_assert_uint_eq(site->frees, 1);
    ck_assert_uint_eq(site->freed_bytes, 100);
    ck_assert_uint_eq(seep_device_blocks_gone(space, AT), 0);
    ck_assert_uint_eq(site->frees, 1);
}

TEST(a_tensor_and_its_segment_lie_at_one_address)
{
    const unsigned device = seep_device_blocks_of_device("device", 0);
    const unsigned tensor = seep_device_blocks_of_device("tensor", 0);
    const uint32_t segment = recording_site(1, device), in_it = recording_site(2, tensor);
    seep_device_blocks_made(SEEP_KEYSPACE_DEVICE, AT, 2 << 20, segment);
    seep_device_blocks_made(tensor, AT, 512, in_it);
    ck_assert_uint_eq(seep_device_blocks_gone(tensor, AT), 512);
    ck_assert_uint_eq(seep_site_at(segment)->frees, 0);
    ck_assert_uint_eq(seep_device_blocks_gone(SEEP_KEYSPACE_DEVICE, AT), 2 << 20);
    ck_assert_uint_eq(seep_site_at(in_it)->frees, 1);
}

TEST(a_block_in_the_place_of_another_says_that_that_one_went)
{
    const unsigned space = seep_device_blocks_enter("pool");
    const uint32_t first = recording_site(1, space), second = recording_site(2, space);
    seep_device_blocks_made(space, AT, 100, first);
    seep_device_blocks_made(space, AT, 30, second);
    ck_assert_uint_eq(seep_site_at(first)->freed_bytes, 100);
    ck_assert_uint_eq(seep_site_at(second)->freed_bytes, 0);
    ck_assert_uint_eq(seep_device_blocks_gone(space, AT), 30);
}

TEST(a_free_that_is_refused_leaves_the_block_where_it_was)
{
    const uint32_t index = recording_site(1, seep_device_blocks_of_device("device", 0));
    const struct seep_site *site = seep_site_at(index);
    struct seep_block block, again;
    seep_device_blocks_made(SEEP_KEYSPACE_DEVICE, AT, 100, index);
    ck_assert(seep_device_blocks_take(SEEP_KEYSPACE_DEVICE, AT, &block));
    ck_assert_uint_eq(block.bytes, 100);
    ck_assert(!seep_device_blocks_take(SEEP_KEYSPACE_DEVICE, AT, &again));
    seep_device_blocks_put_back(SEEP_KEYSPACE_DEVICE, AT, &block);
    ck_assert_uint_eq(site->frees, 0);
    ck_assert_uint_eq(site->allocations, 1);
    ck_assert(seep_device_blocks_take(SEEP_KEYSPACE_DEVICE, AT, &again));
    seep_device_blocks_settle(&again);
    ck_assert_uint_eq(site->frees, 1);
    ck_assert_uint_eq(site->freed_bytes, 100);
}

TEST(a_block_that_no_site_could_be_made_for_is_counted_as_dropped)
{
    uint64_t before = 0, after = 0;
    const unsigned space = seep_device_blocks_enter("pool");
    for (unsigned i = 0; i < SEEP_N_DROPS; i++)
        before += dropped(i);
    seep_device_blocks_made(space, AT, 100, 0);
    for (unsigned i = 0; i < SEEP_N_DROPS; i++)
        after += dropped(i);
    ck_assert_uint_eq(after, before + 1);
    ck_assert_uint_eq(seep_device_blocks_gone(space, AT), 0);
}

TEST(a_reset_takes_what_one_device_had_and_no_more)
{
    static const unsigned keyspaces[] = {SEEP_KEYSPACE_DEVICE, SEEP_KEYSPACE_ARRAY,
                                         SEEP_KEYSPACE_MAPPED};
    const unsigned first = seep_device_blocks_of_device("device", 0);
    const unsigned second = seep_device_blocks_of_device("device", 1),
                   pinned = seep_device_blocks_enter("pinned");
    for (unsigned i = 0; i < 3; i++) {
        seep_device_blocks_made(keyspaces[i], AT, 100, recording_site(1, first));
        seep_device_blocks_made(keyspaces[i], ELSEWHERE, 200, recording_site(2, second));
    }
    seep_device_blocks_made(SEEP_KEYSPACE_PINNED, AT, 300, recording_site(3, pinned));
    seep_device_blocks_clear(first);
    ck_assert_uint_eq(seep_site_at(recording_site(1, first))->freed_bytes, 300);
    ck_assert_uint_eq(seep_site_at(recording_site(2, second))->freed_bytes, 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(seep_device_blocks_gone(keyspaces[i], AT), 0);
        ck_assert_uint_eq(seep_device_blocks_gone(keyspaces[i], ELSEWHERE), 200);
    }
    ck_assert_uint_eq(seep_device_blocks_gone(SEEP_KEYSPACE_PINNED, AT), 300);
}

struct seen {
    unsigned n, keyspace;
    uintptr_t address;
    uint64_t bytes;
};

static void see(unsigned keyspace, uintptr_t address, const struct seep_block *block, void *arg)
{
    struct seen *seen = arg;
    seen->n++;
    seen->keyspace += keyspace;
    seen->address += address;
    seen->bytes += block->bytes;
}

TEST(every_block_of_a_device_is_shown_with_its_shelf_and_address)
{
    const unsigned device = seep_device_blocks_of_device("device", 0);
    const unsigned tensor = seep_device_blocks_of_device("tensor", 0),
                   pinned = seep_device_blocks_enter("pinned");
    struct seen seen = {0};
    seep_device_blocks_made(SEEP_KEYSPACE_MAPPED, AT, 100, recording_site(1, device));
    seep_device_blocks_made(tensor, ELSEWHERE, 10, recording_site(2, tensor));
    seep_device_blocks_made(SEEP_KEYSPACE_PINNED, AT, 1000,
                            recording_site(3, pinned)); /* the host's */
    ck_assert(seep_device_blocks_each(see, &seen));
    ck_assert_uint_eq(seen.n, 2);
    ck_assert_uint_eq(seen.keyspace, SEEP_KEYSPACE_MAPPED + tensor);
    ck_assert_uint_eq(seen.address, (uintptr_t)AT + (uintptr_t)ELSEWHERE);
    ck_assert_uint_eq(seen.bytes, 110);
}

SUITE("books of devices", .setup = recording_begin, .teardown = recording_end)
