/* What is read of a frozen copy: which lines allocated live memory. The copy is this very process,
 * whose memory it may always read. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libprof/format/snapshot_format.h"
#include "libprof/who/find/examine.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

enum { PARENT = 100, CHILD = 101, PARENT_START = 0x1000, CHILD_START = 0x2000, MOST = 64 };

static char folder[64];
static struct builder parent, child;
static uint32_t site_load, site_load_again, site_cache, site_inherited;
static struct seep_snapshot_block blocks[MOST], maps[MOST];
static struct seep_snapshot copy;
static struct seep_examine_request request;
static struct seep_examine_found found;
static struct seep_error error;
static json_t *document;
static int released;

static uint64_t held_up(void *arg)
{
    (void)arg;
    return 1234;
}

static bool release(void *arg, bool whole)
{
    (void)whole;
    ck_assert_ptr_eq(arg, &released);
    released++;
    return true;
}

static uint32_t index_of(uint32_t ref)
{
    return ref / 8; /* of 64 bytes each; refs are of 8 */
}

static uint32_t site_at(struct builder *b, const char *function, unsigned line, unsigned outer)
{
    uint32_t caller = builder_stack(b, 0, builder_python(b, "/job/train.py", "main", outer));
    uint32_t stack = builder_stack(b, caller, builder_python(b, "/job/data.py", function, line));
    return index_of(builder_site(b, stack, SEEP_SPACE_HOST, 1, 1, 0, 0, 1));
}

static void open_it(void)
{
    strcpy(folder, "/tmp/seep-holders-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    builder_init(&parent, PARENT, PARENT_START);
    site_inherited = site_at(&parent, "inherited", 7, 1);
    builder_seal(&parent);
    builder_init_fork(&child, &parent, "100-1000.seep", CHILD, CHILD_START);
    site_load = site_at(&child, "load", 10, 1);
    site_load_again = site_at(&child, "load", 10, 2); /* from another place, but that line */
    site_cache = site_at(&child, "cache", 20, 1);
    builder_seal(&child);
    ck_assert_int_eq(builder_write(&parent, folder, "100-1000.seep"), 0);
    ck_assert_int_eq(builder_write(&child, folder, "101-2000.seep"), 0);
    copy = (struct seep_snapshot){.magic = SEEP_SNAPSHOT_MAGIC,
                                  .version = SEEP_SNAPSHOT_VERSION,
                                  .python_version = 0x030b0200,
                                  .blocks = (uintptr_t)blocks,
                                  .maps = (uintptr_t)maps,
                                  .step = 64};
    request = (struct seep_examine_request){.folder = folder,
                                            .memory = -1,
                                            .copy = getpid(),
                                            .snapshot = (uintptr_t)&copy,
                                            .pid = CHILD,
                                            .start_ns = CHILD_START,
                                            .process = 1,
                                            .source = "told",
                                            .passes_by = true,
                                            .release = release,
                                            .held_up_ns = held_up,
                                            .arg = &released};
}

static void close_it(void)
{
    char command[128];

    json_decref(document);
    builder_fini(&parent);
    builder_fini(&child);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void block(uint32_t site, uint64_t bytes)
{
    blocks[copy.n_blocks] = (struct seep_snapshot_block){
        .start = 0x10000 + copy.n_blocks * 4096, .bytes = bytes, .site = site};
    copy.n_blocks++;
}

static int examine(void)
{
    return seep_examine(&request, &found, &document, &error);
}

static void expect_line(size_t i, const char *function, int line, int n, int bytes)
{
    const json_t *at = json_array_get(json_object_get(document, "lines"), i);
    const json_t *frame = json_object_get(at, "frame");

    ck_assert_str_eq(json_string_value(json_object_get(frame, "function")), function);
    ck_assert_int_eq(json_integer_value(json_object_get(frame, "line")), line);
    ck_assert_int_eq(json_integer_value(json_object_get(at, "blocks")), n);
    ck_assert_int_eq(json_integer_value(json_object_get(at, "bytes")), bytes);
    ck_assert_str_eq(json_string_value(json_object_get(at, "state")), "unknown");
}

static json_int_t number(const char *key)
{
    return json_integer_value(json_object_get(document, key));
}

TEST(blocks_are_grouped_by_the_line_that_made_them)
{
    block(site_cache, 100);
    block(site_load, 1000);
    block(site_load_again, 2000);
    block(site_cache, 200);
    ck_assert_int_eq(examine(), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "lines")), 2);
    expect_line(0, "load", 10, 2, 3000);
    expect_line(1, "cache", 20, 2, 300);
    ck_assert_int_eq(number("live_bytes"), 3300);
    ck_assert_int_eq(number("nodes"), 4);
    ck_assert_int_eq(number("step"), 64);
    ck_assert_uint_eq(found.step, 64);
    ck_assert_str_eq(json_string_value(json_object_get(document, "python")), "3.11");
}

/* The blocks of this test lie in no heap. */
TEST(samples_count_for_several_but_without_the_other_blocks_nothing_is_lost)
{
    block(site_load, 1000);
    block(site_load, 1000);
    blocks[1].stands_for = 200;
    copy.sampled = 1;
    ck_assert_int_eq(examine(), 0);
    expect_line(0, "load", 10, 201, 201000);
    ck_assert(json_is_true(json_object_get(document, "sampled")));
    ck_assert(json_is_false(json_object_get(document, "complete")));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(document, "why_not")),
                                 "small blocks were sampled, and the others were not found"));
}

TEST(a_copy_of_part_of_the_memory_says_so)
{
    block(site_load, 1000);
    request.passes_by = false;
    request.max_bytes = 1; /* not a page */
    ck_assert_int_eq(examine(), 0);
    ck_assert(json_is_false(json_object_get(document, "complete")));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(document, "why_not")),
                                 "seep copied only part of the process's memory"));
}

TEST(maps_are_among_them)
{
    block(site_cache, 100);
    maps[0] = (struct seep_snapshot_block){.start = 0x100000, .bytes = 8192, .site = site_load};
    copy.n_maps = 1;
    ck_assert_int_eq(examine(), 0);
    expect_line(0, "load", 10, 1, 8192);
    expect_line(1, "cache", 20, 1, 100);
}

/* A library reserves 1 GiB for its allocator: it must not outvote what the line itself keeps. */
TEST(of_a_map_counts_what_was_touched)
{
    block(site_cache, 5000);
    maps[0] = (struct seep_snapshot_block){
        .start = 0x40000000, .bytes = 1 << 30, .site = site_load, .touched_pages = 1};
    copy.n_maps = 1;
    ck_assert_int_eq(examine(), 0);
    expect_line(0, "cache", 20, 1, 5000);
    expect_line(1, "load", 10, 1, 4096);
}

TEST(what_was_inherited_has_its_line_in_the_parents_profile)
{
    block(site_inherited, 500);
    block(site_cache, 100);
    ck_assert_int_eq(examine(), 0);
    expect_line(0, "inherited", 7, 1, 500);
    expect_line(1, "cache", 20, 1, 100);
}

TEST(without_the_parents_profile_that_line_is_not_known)
{
    char path[128];

    snprintf(path, sizeof path, "%s/100-1000.seep", folder);
    ck_assert_int_eq(unlink(path), 0);
    block(site_inherited, 500);
    block(site_cache, 100);
    ck_assert_int_eq(examine(), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "lines")), 1);
    expect_line(0, "cache", 20, 1, 100);
}

TEST(an_empty_copy_is_no_error)
{
    ck_assert_int_eq(examine(), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "lines")), 0);
}

static const uint32_t strange[] = {0, 1, 2, 1919, 1920, 5000, 1u << 24, 1u << 29, UINT32_MAX};

TEST(sites_that_are_none_have_no_line, .to = N(strange))
{
    block(strange[_i], 500);
    block(site_cache, UINT64_MAX);
    block(site_cache, 100);
    ck_assert_int_eq(examine(), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "lines")), 1);
    expect_line(0, "cache", 20, 2, 100);
}

TEST(the_copy_is_let_go_once_whatever_comes_of_it)
{
    ck_assert_int_eq(examine(), 0);
    ck_assert_int_eq(released, 1);
    json_decref(document);
    copy.magic++;
    ck_assert_int_eq(examine(), -SEEP_EIO);
    ck_assert_int_eq(released, 2);
    ck_assert_ptr_null(document);
}

TEST(what_a_copy_says_is_checked)
{
    copy.version++;
    ck_assert_int_eq(examine(), -SEEP_EVERSION);
    copy.version--;
    copy.n_blocks = UINT64_MAX;
    ck_assert_int_eq(examine(), -SEEP_EFORMAT);
    copy.n_blocks = 1;
    copy.n_maps = UINT64_MAX;
    ck_assert_int_eq(examine(), -SEEP_EFORMAT);
    copy.n_maps = 0;
    copy.blocks = UINT64_MAX - 8;
    ck_assert_int_eq(examine(), -SEEP_EIO);
    copy.blocks = 8;
    ck_assert_int_eq(examine(), -SEEP_EIO);
    request.snapshot = 8;
    ck_assert_int_eq(examine(), -SEEP_EIO);
}

TEST(a_process_that_is_gone_cannot_be_read)
{
    request.copy = 0x3fffffff;
    ck_assert_int_eq(examine(), -SEEP_EIO);
}

TEST(without_a_profile_there_is_no_answer)
{
    request.start_ns++;
    ck_assert_int_eq(examine(), -SEEP_EIO);
    ck_assert_int_eq(released, 1);
}

SUITE("holders", .setup = open_it, .teardown = close_it)
