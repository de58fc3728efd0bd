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

TEST(blocks_come_in_runs_that_a_call_can_take)
{
    for (int i = 0; i < 2500; i++)
        json_object_set_new(add_site(report, "tensor:0", "load", 5, 1), "stack", json_array());
    ck_assert_int_eq(write_as(seep_export_torch_snapshot, SEEP_MEASURE_PEAK), 0);
    /* "]" begins a list, "(e" ends an empty one: two more runs end by an "e" of their own. */
    size_t runs = 0;
    for (size_t i = 0; i + 2 < n_text; i++)
        runs += memcmp(text + i, "ue(", 3) == 0;
    ck_assert_uint_eq(runs, 2);
    ck_assert_uint_ge(count('}'), 2500);
}

TEST(what_no_address_reaches_is_not_written)
{
    json_t *site = add_site(report, "tensor:0", "load", 5, 1);

    json_object_set_new(site, "peak_bytes", json_integer(INT64_MAX));
    ck_assert_int_eq(write_as(seep_export_torch_snapshot, SEEP_MEASURE_PEAK), -SEEP_ENODATA);
    ck_assert_uint_eq(n_text, 0);
}

TEST(only_devices_have_a_snapshot)
{
    add_site(report, "host", "load", 5, 1000);
    add_site(report, "tensor:x", "load", 5, 1000);
    ck_assert_int_eq(write_as(seep_export_torch_snapshot, SEEP_MEASURE_PEAK), -SEEP_ENODATA);
    add_site(report, "device:3", "load", 5, 1000);
    ck_assert_int_eq(write_as(seep_export_torch_snapshot, SEEP_MEASURE_PEAK), 0);
}

SUITE("snapshot", .setup = setup, .teardown = fini)
