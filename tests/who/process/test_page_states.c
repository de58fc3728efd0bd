/* Which pages a process has made its own, and what files tell of the others. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprof/who/process/file_pages.h"
#include "libprof/who/process/page_states.h"
#include "tests/suite.h"

enum { PAGES = 64, MOST = 16 };
#define PAGE    ((size_t)sysconf(_SC_PAGESIZE))
#define PRIVATE (UINT64_C(1) << 63) /* an entry of a page that is there, and of no file */

static struct seep_page_states states;
static uint64_t runs[MOST][2];
static int n_runs;
static char folder[64], path[96];
static uint8_t *mapped;

static int note(void *base, uint64_t start, uint64_t end)
{
    ck_assert_int_lt(n_runs, MOST);
    runs[n_runs][0] = (start - (uintptr_t)base) / PAGE;
    runs[n_runs++][1] = (end - (uintptr_t)base) / PAGE;
    return 0;
}

static int stop(void *base, uint64_t start, uint64_t end)
{
    (void)note(base, start, end);
    return 7;
}

static void write_file(const char *at, char letter)
{
    static char page[64 << 10];
    int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    memset(page, letter, PAGE);
    for (int i = 0; i < PAGES; i++)
        ck_assert_int_eq(write(fd, page, PAGE), (ssize_t)PAGE);
    close(fd);
}

static void set_up(void)
{
    strcpy(folder, "/tmp/seep-pages-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    write_file(path, 'a');
    int fd = open(path, O_RDONLY);
    mapped = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    close(fd);
    n_runs = 0;
    seep_page_states_init(&states, getpid());
}

static void tear_down(void)
{
    seep_page_states_fini(&states);
    unlink(path);
    rmdir(folder);
}

static uint8_t *touched(void)
{
    uint8_t *at =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
    at[3 * PAGE] = at[4 * PAGE] = at[63 * PAGE] = 1;
    return at;
}

static int each(uint8_t *at, bool files_too, seep_page_run_taker *take)
{
    return seep_page_states_each(&states, (uintptr_t)at, (uintptr_t)at + PAGES * PAGE, files_too,
                                 take, at);
}

TEST(runs_of_touched_pages_are_told)
{
    static const uint64_t expected[][2] = {{3, 5}, {63, 64}};

    ck_assert_int_eq(each(touched(), false, note), 0);
    ck_assert_int_eq(n_runs, N(expected));
    ck_assert_mem_eq(runs, expected, sizeof expected);
}

TEST(it_ends_as_who_takes_them_says)
{
    ck_assert_int_eq(each(touched(), false, stop), 7);
    ck_assert_int_eq(n_runs, 1);
}

TEST(no_more_pages_are_looked_at_than_allowed)
{
    states.most_pages = 0;
    ck_assert_int_eq(each(touched(), false, note), 0);
    ck_assert_int_eq(n_runs, 0);
}

TEST(where_the_kernel_does_not_tell_all_are_taken)
{
    seep_page_states_fini(&states);
    ck_assert_int_eq(each(touched(), false, note), 0);
    ck_assert_int_eq(n_runs, 1);
    ck_assert_uint_eq(runs[0][1], PAGES);
}

TEST(of_a_file_only_what_was_changed_is_its_own)
{
    volatile uint8_t seen = mapped[20 * PAGE];

    mapped[10 * PAGE] = 'x';
    ck_assert_uint_eq(seen, 'a');
    ck_assert_int_eq(each(mapped, false, note), 0);
    ck_assert_int_eq(n_runs, 1);
    ck_assert_uint_eq(runs[0][0], 10);
    ck_assert_uint_eq(runs[0][1], 11);
}

/* The kernel of a machine with larger pages has an entry for each of those. */
TEST(runs_are_of_the_machines_pages)
{
    enum { LARGE = 64 << 10 };
    static const uint64_t entries[] = {0, PRIVATE, PRIVATE, 0, PRIVATE};
    const uint64_t first = 100;
    FILE *pagemap = tmpfile();

    ck_assert_int_eq(pwrite(fileno(pagemap), entries, sizeof entries, first * sizeof *entries),
                     sizeof entries);
    seep_page_states_fini(&states);
    states.fd = dup(fileno(pagemap));
    states.page_bytes = LARGE;
    ck_assert_int_eq(seep_page_states_each(&states, first * LARGE, (first + N(entries)) * LARGE,
                                           false, note, (void *)(uintptr_t)(first * LARGE)),
                     0);
    fclose(pagemap);
    ck_assert_int_eq(n_runs, 2);
    ck_assert_uint_eq(runs[0][0] * PAGE, 1 * LARGE);
    ck_assert_uint_eq(runs[0][1] * PAGE, 3 * LARGE);
    ck_assert_uint_eq(runs[1][0] * PAGE, 4 * LARGE);
    ck_assert_uint_eq(runs[1][1] * PAGE, 5 * LARGE);
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct seep_maps maps;
static struct seep_file_pages files;

static size_t read_mapped(char *to, size_t n)
{
    static char text[1 << 20];
    int fd = open("/proc/self/maps", O_RDONLY);
    size_t length = 0;

    for (ssize_t got; (got = read(fd, text + length, sizeof text - length)) > 0;)
        length += (size_t)got;
    close(fd);
    ck_assert_int_eq(seep_maps_parse(&maps, text, length), 0);
    ck_assert_int_eq(seep_file_pages_init(&files, &maps, getpid()), 0);
    size_t done = seep_file_pages_read(&files, (uintptr_t)mapped + PAGE, to, n);
    seep_file_pages_fini(&files);
    seep_maps_fini(&maps);
    return done;
}

TEST(a_file_that_is_still_the_one_that_was_mapped_is_read)
{
    static char to[2 * (64 << 10)];

    ck_assert_uint_eq(read_mapped(to, 2 * PAGE), 2 * PAGE);
    ck_assert_int_eq(to[0], 'a');
    ck_assert_int_eq(to[2 * PAGE - 1], 'a');
}

TEST(one_that_came_in_its_place_is_not_believed)
{
    char to[16] = "", other[96];

    snprintf(other, sizeof other, "%s/other", folder);
    write_file(other, 'b');
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert_uint_eq(read_mapped(to, sizeof to), 0);
}

TEST(nor_is_a_pipe_which_is_not_even_opened)
{
    char to[16] = "";

    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_uint_eq(read_mapped(to, sizeof to), 0);
}

SUITE("page states", .setup = set_up, .teardown = tear_down)
