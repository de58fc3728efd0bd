/* PyTorch's snapshot and the pickle that it is in. */
#include "libprof/export/pickle.h"
#include "tests/export/formats_fixture.h"

static size_t count(int byte)
{
    size_t n = 0;

    for (size_t i = 0; i < n_text; i++)
        n += (unsigned char)text[i] == byte;
    return n;
}

TEST(integers_are_as_pickle_has_them)
{
    static const struct {
        int64_t n;
        const char *bytes;
        size_t size;
    } table[] = {
        {0, "J\0\0\0\0", 5},
        {-1, "J\xff\xff\xff\xff", 5},
        {INT32_MAX, "J\xff\xff\xff\x7f", 5},
        {(int64_t)INT32_MAX + 1, "\x8a\x08\0\0\0\x80\0\0\0\0", 10},
        {INT64_MIN, "\x8a\x08\0\0\0\0\0\0\0\x80", 10},
    };
    for (size_t i = 0; i < N(table); i++) {
        free(text);
        FILE *out = open_memstream(&text, &n_text);
        seep_pickle_int(out, table[i].n);
        fclose(out);
        ck_assert_uint_eq(n_text, table[i].size);
        ck_assert_mem_eq(text, table[i].bytes, n_text);
    }
}

/* n tensors of a KiB each, beside each other in a segment. */
static void add_layout(const char *reason, int n)
{
    json_t *offsets = json_array(), *bytes = json_array(), *sites = json_array();

    for (int i = 0; i < n; i++) {
        json_array_append_new(offsets, json_integer(i * 1024));
        json_array_append_new(bytes, json_integer(1024));
        json_array_append_new(sites, json_string("S1"));
    }
    json_t *segment =
        json_pack("{s:s, s:i, s:s, s:b, s:b, s:{s:o, s:o, s:o}}", "address", "7f0000000000",
                  "bytes", n * 1024, "site", "S1", "cache", 1, "small", 0, "tensors", "offset",
                  offsets, "bytes", bytes, "site", sites);
    json_t *layouts = json_object_get(report, "layouts");
    if (!layouts)
        json_object_set_new(report, "layouts", layouts = json_array());
    json_array_append_new(layouts, json_pack("{s:i, s:s, s:i, s:[o]}", "device", 0, "reason",
                                             reason, "taken_bytes", n * 1024, "segments", segment));
}

TEST(blocks_come_in_runs_that_a_call_can_take)
{
    add_site(report, "tensor:0", "load", 5, 1);
    add_layout("peak", 2500);
    ck_assert_int_eq(write_as(seep_export_torch_snapshot, SEEP_MEASURE_RETAINED), 0);
    /* An "e" ends a run of items, a "(" begins the next. */
    size_t runs = 0;
    for (size_t i = 0; i + 2 < n_text; i++)
        runs += memcmp(text + i, "ue(", 3) == 0;
    ck_assert_uint_eq(runs, 2);
    ck_assert_uint_ge(count('}'), 2500);
}

TEST(what_failed_goes_before_a_peak)
{
    add_site(report, "tensor:0", "load", 5, 1);
    add_layout("peak", 100);
    add_layout("failed", 50);
    ck_assert_int_eq(write_as(seep_export_torch_snapshot, SEEP_MEASURE_RETAINED), 0);
    ck_assert_uint_lt(count('}'), 100);
}

TEST(only_segments_of_pytorch_have_a_snapshot)
{
    add_site(report, "device:3", "load", 5, 1000);
    ck_assert_int_eq(write_as(seep_export_torch_snapshot, SEEP_MEASURE_RETAINED), -SEEP_ENODATA);
    ck_assert_uint_eq(n_text, 0);
}

SUITE("snapshot", .setup = setup, .teardown = fini)
