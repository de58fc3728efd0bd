/* The memory of another process, read from outside. It is a child, as a frozen copy is one. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libprof/who/process/copy_memory.h"
#include "tests/suite.h"

#define EXCLUSIVE (UINT64_C(1) << 56) /* of /proc/PID/pagemap: no other process has that page */

#define PAGE  ((size_t)getpagesize())
#define PIECE (3 * PAGE)
enum { N_PAGES = 64, LARGEST_PAGE = 1 << 16 };
static uint8_t to[N_PAGES * LARGEST_PAGE];

static uint8_t *memory;
static pid_t child;
static struct seep_copy_memory from;

static void set_up(void)
{
    memory = mmap(NULL, N_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    madvise(memory, N_PAGES * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < N_PAGES; i++)
        memset(memory + i * PAGE, (int)i + 1, PAGE);
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    seep_copy_memory_init(&from, child);
}

static void tear_down(void)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    seep_copy_memory_fini(&from);
    munmap(memory, N_PAGES * PAGE);
}

static int pages_of_its_own(void)
{
    uint64_t entries[N_PAGES] = {0};
    char path[64];
    int n = 0;

    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(
        pread(fd, entries, sizeof entries, (off_t)((uintptr_t)memory / PAGE * sizeof *entries)),
        sizeof entries);
    close(fd);
    for (int i = 0; i < N_PAGES; i++)
        n += (entries[i] & EXCLUSIVE) != 0;
    return n;
}

static struct seep_memory_piece piece(int page, uint8_t *into)
{
    return (struct seep_memory_piece){(uintptr_t)memory + (uint64_t)page * PAGE, into, PIECE};
}

/* What a fork left shared stays so: whoever made it one's own would take as much memory again. */
TEST(what_is_read_of_a_copy_is_not_copied_for_it)
{
    const struct seep_memory_piece pieces[] = {piece(0, to), piece(40, to + PIECE)};

    ck_assert_int_eq(seep_copy_memory_read(&from, (uintptr_t)memory, to, N_PAGES * PAGE), 0);
    ck_assert_int_eq(memcmp(to, memory, N_PAGES * PAGE), 0);
    ck_assert_uint_eq(seep_copy_memory_gather(&from, pieces, N(pieces)), 2 * PIECE);
    ck_assert_int_eq(pages_of_its_own(), 0);
}

/* The first two lie one behind the other, the last lies before them. */
TEST(pieces_land_where_they_are_to)
{
    const struct seep_memory_piece pieces[] = {piece(10, to + 2 * PIECE), piece(13, to),
                                               piece(4, to + PIECE)};

    ck_assert_uint_eq(seep_copy_memory_gather(&from, pieces, N(pieces)), 3 * PIECE);
    ck_assert_int_eq(memcmp(to + 2 * PIECE, memory + 10 * PAGE, PIECE), 0);
    ck_assert_int_eq(memcmp(to, memory + 13 * PAGE, PIECE), 0);
    ck_assert_int_eq(memcmp(to + PIECE, memory + 4 * PAGE, PIECE), 0);
}

TEST(pieces_end_at_the_first_that_is_not_there)
{
    const struct seep_memory_piece pieces[] = {
        piece(0, to), {PAGE, to + PIECE, PIECE}, piece(4, to + 2 * PIECE)};

    ck_assert_uint_eq(seep_copy_memory_gather(&from, pieces, N(pieces)), PIECE);
}

/* As where /proc is hidden. */
TEST(the_call_serves_where_the_file_cannot_be_had)
{
    const struct seep_memory_piece pieces[] = {piece(7, to), piece(30, to + PIECE)};

    from.no_file = true;
    ck_assert_uint_eq(seep_copy_memory_gather(&from, pieces, N(pieces)), 2 * PIECE);
    ck_assert_int_eq(memcmp(to + PIECE, memory + 30 * PAGE, PIECE), 0);
    ck_assert_int_eq(seep_copy_memory_read(&from, (uintptr_t)memory, to, PAGE), 0);
    ck_assert_int_eq(memcmp(to, memory, PAGE), 0);
}

TEST(one_that_has_ended_has_no_memory)
{
    uint8_t byte;

    ck_assert_int_eq(seep_copy_memory_read(&from, (uintptr_t)memory, &byte, 1), 0);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(seep_copy_memory_read(&from, (uintptr_t)memory, &byte, 1), -SEEP_EIO);
    ck_assert_int_ne(errno, EPERM);
}

SUITE("copy memory", .setup = set_up, .teardown = tear_down)
