/* Readers stay within what is left before a limit. The limit is this process's own. */
#include "tests/suite.h"
#include "viewer/watch/reader_room.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

static struct seep_reader_room room;
static struct seep_reader_claim *own;

static uint64_t pages_of(const char *fields)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, fields, &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t resident(void)
{
    return pages_of("%*u %lu");
}

static void leave(uint64_t bytes)
{
    const uint64_t most = pages_of("%lu") + bytes;
    const struct rlimit limit = {most, RLIM_INFINITY};

    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

static void set_up(void)
{
    seep_reader_room_open(&room);
    own = seep_reader_room_claim(&room);
    ck_assert_ptr_nonnull(own);
}

static bool takes(uint64_t bytes)
{
    return seep_reader_room_take(&room, own, resident() + bytes, 0);
}

TEST(a_look_that_does_not_fit_is_given_up_with_what_it_needs_and_what_was_left)
{
    leave(90 * MIB);
    ck_assert(takes(70 * MIB));
    ck_assert(!takes(100 * MIB));
    ck_assert_uint_ge(own->need_bytes, 100 * MIB);
    ck_assert_uint_ge(own->left_bytes, 80 * MIB);
    ck_assert_uint_le(own->left_bytes, 90 * MIB);
}

static bool takes_within(struct seep_reader_claim *claim, uint64_t bytes, uint64_t most_bytes)
{
    return seep_reader_room_take(&room, claim, bytes, most_bytes);
}

TEST(the_jobs_own_bound_is_that_of_all_readers_together)
{
    const uint64_t has = resident();

    ck_assert(takes_within(own, has + 100 * MIB, has + 100 * MIB));
    ck_assert_uint_eq(own->left_bytes, 0);
    void *all = mmap(NULL, 120 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_eq(all, MAP_FAILED);
    ck_assert(!takes_within(own, has + 101 * MIB, has + 100 * MIB));
    ck_assert(own->is_by_bound);
    ck_assert_uint_eq(own->left_bytes, has + 100 * MIB);
    ck_assert(!seep_reader_room_has_another(&room, own));
    struct seep_reader_claim *second = seep_reader_room_claim(&room);
    ck_assert_ptr_nonnull(second);
    own->waits = true; /* what it has it keeps */
    ck_assert(!takes_within(second, has + 10 * MIB, has + 100 * MIB));
    own->pid = 0;
    ck_assert(takes_within(second, has + 10 * MIB, has + 100 * MIB));
    ck_assert(seep_reader_room_has_another(&room, second));
}

TEST(without_a_bound_nothing_is_by_it)
{
    ck_assert(takes(1 * MIB));
    ck_assert(!own->is_by_bound);
    leave(90 * MIB);
    ck_assert(!takes(100 * MIB));
    ck_assert(!own->is_by_bound);
}

TEST(a_reader_cannot_take_more_than_was_left_whatever_it_does)
{
    leave(900 * MIB);
    ck_assert(takes(1 * MIB));
    void *all = mmap(NULL, 850 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_eq(all, MAP_FAILED); /* the job is to have an eighth */
    all = mmap(NULL, 700 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(all, MAP_FAILED);
}

TEST(a_second_reader_is_there_only_if_both_fit)
{
    leave(300 * MIB);
    ck_assert(takes(100 * MIB));
    struct seep_reader_claim *second = seep_reader_room_claim(&room);
    ck_assert_ptr_nonnull(second);
    ck_assert_ptr_ne(second, own);
    second->pid = getpid();
    ck_assert_ptr_null(seep_reader_room_claim(&room));
    ck_assert(!seep_reader_room_take(&room, second, resident() + 200 * MIB, 0));
    ck_assert(seep_reader_room_take(&room, second, resident() + 100 * MIB, 0));
    own->waits = true; /* it takes nothing meanwhile */
    ck_assert(seep_reader_room_take(&room, second, resident() + 200 * MIB, 0));
    ck_assert(!seep_reader_room_has_another(&room, second));
    second->pid = 0;
    ck_assert(seep_reader_room_has_another(&room, own));
}

TEST(memory_becomes_short_when_the_job_takes_what_a_reader_needs)
{
    leave(300 * MIB);
    ck_assert(takes(100 * MIB));
    ck_assert(!seep_reader_room_is_short(&room, 1));
    ck_assert_uint_gt(room.due_ns, 1);
    leave(80 * MIB);
    ck_assert(!seep_reader_room_is_short(&room, room.due_ns - 1)); /* it does not look yet */
    ck_assert(seep_reader_room_is_short(&room, room.due_ns));
    ck_assert_uint_ge(own->left_bytes, 70 * MIB);
    own->waits = true;
    ck_assert(!seep_reader_room_is_short(&room, room.due_ns));
    leave(3 * MIB);
    ck_assert(seep_reader_room_is_short(&room, room.due_ns));
}

SUITE("reader_room", .setup = set_up)
