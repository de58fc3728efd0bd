/* What the library stores where pages are larger than a chunk of its file: any machine reads it,
 * and a child maps over nothing of its parent's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libprof/read/profile_read.h"
#include "libprof/runtime/store/intern.h"
#include "libprof/runtime/store/site_table.h"
#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "tests/large_pages.h"
#include "tests/suite.h"

#define PAGE ((uint64_t)seep_os_page_bytes())

enum { MAX_BYTES = 16 << 20, PIECES = 6 }; /* chunks that a parent has */

static char folder[64], parents[96], childs[96];

static void set_up(void)
{
    strcpy(folder, "/tmp/seep-large-pages-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(parents, sizeof parents, "%s/1.seep", folder);
    snprintf(childs, sizeof childs, "%s/2.seep", folder);
}

static void tear_down(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(large_pages_refused, 0);
    ck_assert_int_eq(large_pages_uneven, 0); /* a hole in a page might raise SIGBUS */
}

static void begin(const char *path, uint64_t inherited_end, uint32_t pid)
{
    struct seep_header constants = {
        .max_bytes = MAX_BYTES, .inherited_end = inherited_end, .pid = pid};

    if (pid == 2)
        strcpy(constants.parent_file, "1.seep");
    ck_assert_int_eq(seep_arena_create(path, &constants), 0);
}

static uint32_t put(const char *text)
{
    ck_assert(seep_os_lock(&seep_arena.lock));
    const uint32_t ref = seep_intern_string(text, (uint32_t)strlen(text));
    seep_os_unlock(&seep_arena.lock);
    ck_assert_uint_ne(ref, 0);
    return ref;
}

/* A text of `who` that fills an eighth of a chunk. */
static const char *text_of(char who, uint32_t i)
{
    static char text[4000];

    memset(text, who, sizeof text - 1);
    snprintf(text, 16, "%c%u", who, i);
    text[strlen(text)] = who;
    return text;
}

static void expect_text(struct seep_profile *p, uint32_t ref, char who, uint32_t i)
{
    uint32_t n;
    const char *text = seep_profile_string(p, ref, &n, NULL);

    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(n, strlen(text_of(who, i)));
    ck_assert_mem_eq(text, text_of(who, i), n);
}

static struct seep_profile *opened(const char *path)
{
    struct seep_error err = {0};
    struct seep_profile *p;

    ck_assert_msg(seep_profile_open(path, &p, &err) == 0, "%s", err.text);
    ck_assert_msg(seep_profile_load(p, &err) == 0, "%s", err.text);
    return p;
}

TEST(the_file_says_how_large_pages_are)
{
    begin(parents, SEEP_HEADER_BYTES, 1);
    struct seep_profile *p = opened(parents);
    ck_assert_uint_eq(seep_header_page_bytes(p->header), PAGE);
    p->header->page_bytes = 0; /* an older writer's */
    ck_assert_uint_eq(seep_header_page_bytes(p->header), 4096);
    p->header->page_bytes = 3 << 12;
    ck_assert_uint_eq(seep_header_page_bytes(p->header), 4096);
    p->header->page_bytes = 1 << 30;
    ck_assert_uint_eq(seep_header_page_bytes(p->header), 4096);
    seep_profile_close(p);
}

/* The parent's last chunk ends anywhere in a page. */
TEST(a_child_maps_over_nothing_of_its_parents, .to = PIECES)
{
    enum { EACH = 8 };
    uint32_t refs[PIECES * EACH], own[PIECES * EACH];
    const uint32_t n = (uint32_t)_i * EACH;

    begin(parents, SEEP_HEADER_BYTES, 1);
    for (uint32_t i = 0; i < n; i++)
        refs[i] = put(text_of('p', i));
    const uint64_t used =
        SEEP_HEADER_BYTES + (uint64_t)seep_arena.header->n_chunks * SEEP_CHUNK_BYTES;
    const uint64_t end = seep_arena_end();
    ck_assert_uint_ge(end / PAGE * PAGE, used / PAGE * PAGE);
    ck_assert_uint_ge(end, used);
    ck_assert_uint_lt(end, used + 2 * PAGE + SEEP_CHUNK_BYTES);
    if (PAGE == 4096)
        ck_assert_uint_eq(end, used);

    const pid_t pid = fork();
    if (pid == 0) {
        seep_arena_leave();
        begin(childs, end, 2);
        for (uint32_t i = 0; i < PIECES * EACH; i++)
            own[i] = put(text_of('c', i));
        for (uint32_t i = 0; i < n; i++) {
            const struct seep_string *parents_text = seep_arena_at(refs[i]);
            ck_assert_mem_eq(parents_text->text, text_of('p', i), parents_text->n_bytes);
        }
        struct seep_profile *p = opened(childs);
        ck_assert_uint_eq(p->header->inherited_end, end);
        for (uint32_t i = 0; i < PIECES * EACH; i++)
            expect_text(p, own[i], 'c', i);
        seep_profile_close(p);
        _exit(large_pages_refused || large_pages_uneven);
    }
    int status;
    for (uint32_t i = n; i < PIECES * EACH; i++) /* meanwhile it goes on in its own file */
        refs[i] = put(text_of('p', i));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    struct seep_profile *p = opened(parents);
    for (uint32_t i = 0; i < PIECES * EACH; i++)
        expect_text(p, refs[i], 'p', i);
    seep_profile_close(p);
}

/* A file that receives what was counted before it existed. */
TEST(what_was_counted_without_a_file_moves_into_it, .to = 2)
{
    struct seep_header constants = {
        .max_bytes = MAX_BYTES, .inherited_end = SEEP_HEADER_BYTES, .pid = 1};

    if (_i) {
        begin(parents, SEEP_HEADER_BYTES, 1);
        (void)put(text_of('p', 0));
        constants.inherited_end = seep_arena_end();
        seep_arena_leave();
    }
    ck_assert_int_eq(seep_arena_count(&constants), 0);
    const uint32_t counted = put(text_of('c', 1));
    ck_assert_int_eq(seep_arena_persist(childs, &constants), 0);
    for (uint32_t i = 0; i < 100; i++)
        (void)put(text_of('d', i));
    struct seep_profile *p = opened(childs);
    expect_text(p, counted, 'c', 1);
    seep_profile_close(p);
}

TEST(the_table_of_processes_has_disk_behind_whole_pages)
{
    struct seep_job_request want = {
        .dir = folder, .capacity = sizeof folder, .machine = "here", .host = "", .may_make = true};

    seep_job_open(&want);
    ck_assert_ptr_nonnull(seep_job_map);
    for (uint32_t i = 0; i <= SEEP_PROCESS_PIECE; i++)
        ck_assert_uint_eq(seep_table_take(0), i + 1);
    ck_assert_uint_eq(seep_job_map->n_reserved, 2 * SEEP_PROCESS_PIECE);
}

TEST(a_size_is_rounded_to_pages)
{
    ck_assert_uint_eq((uint64_t)1 << seep_os_page_bits(), PAGE);
    ck_assert_uint_eq(seep_os_page_up(0), 0);
    ck_assert_uint_eq(seep_os_page_up(1), PAGE);
    ck_assert_uint_eq(seep_os_page_up(PAGE), PAGE);
    ck_assert_uint_eq(seep_os_page_down(PAGE - 1), 0);
    ck_assert_uint_eq(seep_os_page_down(2 * PAGE + 1), 2 * PAGE);
    seep_os_page_known = 0; /* the machine's own */
    ck_assert_uint_eq(PAGE, (uint64_t)sysconf(_SC_PAGESIZE));
}

LARGE_PAGES_SETUPS(set_up)
SUITE("large pages", .setups = large_pages_setups, .n_setups = N(large_pages_setups),
      .teardown = tear_down)
