/* pprof's profile, read back through protobuf-c's code for the same description. */
#include "tests/export/formats_fixture.h"

#include <pprof.pb-c.h>
#include <zlib.h>

static Seep__Pprof__Profile *profile;

static void read_back(enum seep_measure measure)
{
    static unsigned char bytes[1 << 16];
    z_stream z = {0};

    ck_assert_int_eq(write_as(seep_export_pprof, measure), 0);
    z.next_in = (unsigned char *)text;
    z.avail_in = (unsigned)n_text;
    z.next_out = bytes;
    z.avail_out = sizeof bytes;
    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    profile = seep__pprof__profile__unpack(NULL, z.total_out, bytes);
    ck_assert_ptr_nonnull(profile);
}

static const char *string(int64_t at)
{
    ck_assert_int_lt(at, (int64_t)profile->n_string_table);
    return profile->string_table[at];
}

static const char *function_of(const Seep__Pprof__Line *line)
{
    for (size_t i = 0; i < profile->n_function; i++) {
        if (profile->function[i]->id == line->function_id)
            return string(profile->function[i]->name);
    }
    return NULL;
}

static json_t *native(const char *function, int offset, bool inlined)
{
    return json_pack("{s:s, s:s, s:n, s:n, s:s, s:i, s:b}", "kind", "native", "function", function,
                     "file", "line", "module", "/lib/libx.so", "offset", offset, "inlined",
                     inlined);
}

TEST(inlined_functions_are_lines_of_their_callers_location)
{
    json_t *site = add_site(report, "host", "load", 5, 1000);

    json_object_set_new(site, "stack",
                        json_pack("[o,o,o,o]", native("a", 16, true), native("b", 16, true),
                                  native("c", 16, false), frame("load", "/x.py", 7)));
    read_back(SEEP_MEASURE_PEAK);
    ck_assert_uint_eq(profile->n_location, 2);
    const Seep__Pprof__Location *at = profile->location[0];
    ck_assert_uint_eq(at->n_line, 3);
    ck_assert_str_eq(function_of(at->line[0]), "a");
    ck_assert_str_eq(function_of(at->line[2]), "c");
    ck_assert_uint_eq(at->address, 16);
    ck_assert_uint_eq(profile->location[1]->mapping_id, 0);
    ck_assert_int_eq(profile->location[1]->line[0]->line, 7);
    const Seep__Pprof__Mapping *mapping = profile->mapping[at->mapping_id - 1];
    ck_assert_str_eq(string(mapping->filename), "/lib/libx.so");
    ck_assert_uint_gt(mapping->memory_limit, at->address);
    ck_assert_uint_eq(profile->sample[0]->location_id[0], at->id);
}

TEST(the_measure_is_the_default_type)
{
    add_site(report, "host", "load", 5, 1000);
    read_back(SEEP_MEASURE_PEAK);
    ck_assert_str_eq(string(profile->default_sample_type), "peak_space");
    ck_assert_str_eq(profile->string_table[0], "");
    ck_assert_str_eq(string(profile->sample_type[3]->type), "inuse_space");
    ck_assert_uint_eq(profile->n_sample_type, profile->sample[0]->n_value);
}

TEST(every_process_is_a_label)
{
    json_t *site = add_site(report, "host", "load", 5, 1000);

    json_object_set_new(site, "processes", json_pack("[i,i]", 10, 11));
    read_back(SEEP_MEASURE_PEAK);
    const Seep__Pprof__Sample *sample = profile->sample[0];
    ck_assert_uint_eq(sample->n_label, 4);
    ck_assert_str_eq(string(sample->label[0]->str), "host");
    ck_assert_str_eq(string(sample->label[3]->key), "process");
    ck_assert_str_eq(string(sample->label[3]->str), "11");
}

static int labels_of(const Seep__Pprof__Sample *sample, const char *key, const char *value)
{
    int n = 0;

    for (size_t i = 0; i < sample->n_label; i++)
        n += strcmp(string(sample->label[i]->key), key) == 0 &&
             (!value || strcmp(string(sample->label[i]->str), value) == 0);
    return n;
}

static void add_rank(int pid, const char *host, int rank)
{
    json_array_append_new(json_object_get(report, "processes"),
                          json_pack("{s:i, s:s, s:i, s:s}", "pid", pid, "host", host, "rank", rank,
                                    "job_id", "4711"));
}

TEST(a_sample_has_the_hosts_and_ranks_of_its_processes)
{
    json_t *site = add_site(report, "host", "load", 5, 1000);

    add_rank(20, "node1", 0);
    add_rank(21, "node1", 1);
    json_object_set_new(site, "processes", json_pack("[i,i]", 20, 21));
    read_back(SEEP_MEASURE_PEAK);
    const Seep__Pprof__Sample *sample = profile->sample[0];
    ck_assert_int_eq(labels_of(sample, "host", "node1"), 1);
    ck_assert_int_eq(labels_of(sample, "rank", NULL), 2);
    ck_assert_int_eq(labels_of(sample, "job_id", "4711"), 1);
    ck_assert_str_eq(string(profile->period_type->type), "space");
}

TEST(a_pid_that_two_hosts_have_tells_no_host)
{
    json_t *site = add_site(report, "host", "load", 5, 1000);

    add_rank(20, "node1", 0);
    add_rank(20, "node2", 1);
    json_object_set_new(site, "processes", json_pack("[i]", 20));
    read_back(SEEP_MEASURE_PEAK);
    ck_assert_int_eq(labels_of(profile->sample[0], "process", "20"), 1);
    ck_assert_int_eq(labels_of(profile->sample[0], "host", NULL), 0);
    ck_assert_int_eq(labels_of(profile->sample[0], "rank", NULL), 0);
}

TEST(labels_are_bounded)
{
    json_t *site = add_site(report, "host", "load", 5, 1000), *pids = json_array();

    for (int i = 0; i < 1000; i++) {
        add_rank(100 + i, "node1", i);
        json_array_append_new(pids, json_integer(100 + i));
    }
    json_object_set_new(site, "processes", pids);
    read_back(SEEP_MEASURE_PEAK);
    ck_assert_int_eq(labels_of(profile->sample[0], "process", NULL), 64);
    ck_assert_int_eq(labels_of(profile->sample[0], "rank", NULL), 64);
}

TEST(its_time_is_when_it_was_as_it_says)
{
    json_t *job = json_object_get(report, "job");

    json_object_set_new(job, "started_unix_s", json_real(1000));
    json_object_set_new(job, "duration_s", json_real(20.5));
    add_site(report, "host", "load", 5, 1000);
    read_back(SEEP_MEASURE_LIVE);
    ck_assert_int_eq(profile->time_nanos, 1020500000000);
    ck_assert_int_eq(profile->duration_nanos, 20500000000);
}

static void free_all(void)
{
    if (profile)
        seep__pprof__profile__free_unpacked(profile, NULL);
    fini();
}

SUITE("pprof", .setup = setup, .teardown = free_all)
