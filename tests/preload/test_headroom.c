/* How near a process is to its memory limits, as far as a test can move it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/store/arena.h"
#include "preload/life/headroom.h"
#include "tests/suite.h"

#define MIB (UINT64_C(1) << 20)

static struct seep_header header;

static struct seep_headroom look(uint64_t limit_address_bytes)
{
    struct seep_headroom room;
    header.limit_address_bytes = limit_address_bytes;
    seep_arena.header = &header;
    seep_headroom_read(&room);
    return room;
}

TEST(what_is_written_to_is_anonymous)
{
    uint64_t before = look(0).anonymous_bytes;
    char *large = malloc(64 * MIB);
    ck_assert_ptr_nonnull(large);
    memset(large, 1, 64 * MIB);
    __asm__ volatile("" : : "r"(large) : "memory"); /* it is not to be left out */
    uint64_t now = look(0).anonymous_bytes;
    ck_assert_uint_ge(now, before + 60 * MIB);
    ck_assert_uint_le(now, before + 80 * MIB);
    free(large);
}

TEST(without_a_near_limit_there_is_room)
{
    ck_assert_uint_gt(look(0).left_bytes, MIB);
}

TEST(the_limit_of_the_address_space_is_the_nearest_where_it_is)
{
    ck_assert_uint_eq(look(1).left_bytes, 0);
    ck_assert_uint_le(look(200 * 1024 * MIB).left_bytes, look(0).left_bytes);
    ck_assert_uint_lt(look(8 * 1024 * MIB).left_bytes, 8 * 1024 * MIB);
}

SUITE("headroom")
